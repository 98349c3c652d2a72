"""The documents of the other commands: pipelines, searches, statements, profiles, suggestions, and errors."""

from __future__ import annotations

from kanon_sql.documents.decision import FINDING_KEYS
from kanon_sql.documents.kinds import (
    ANY,
    COUNT,
    FIGURE,
    FLAG,
    NAMES,
    NUMBER,
    TEXT,
    WHOLE,
    Keys,
    Schema,
    by_name,
    closed,
    list_of,
    or_null,
)

MANIFEST: Schema = {"$ref": "#/$defs/manifest"}
STATUSES = ("released", "unchanged", "would release", "refused", "failed")

_RAN = closed(
    {
        "name": (TEXT, "The name of the release in the spec."),
        "target": (TEXT, "Its file or table."),
        "status": (
            {"enum": list(STATUSES)},
            "`refused`: because of the data, and the old release stays. `failed`: by another error.",
        ),
        "why": (NAMES, "The reasons to release again, or not to."),
        "manifest": (MANIFEST, "The manifest, if the release was created, or would be."),
        "same_rows": (FLAG, "Whether the release has the rows of the one before: all changes wait, or do not show."),
        "error": (TEXT, "Why it was refused or failed, without values of the data."),
        "lineage_error": (TEXT, "Why a lineage event was not received; the release is not affected."),
    },
    optional=["manifest", "same_rows", "error", "lineage_error"],
)
RUN: Keys = {"releases": (list_of(_RAN), "The outcome of every release of the spec.")}

_ROW = closed(
    {
        "number": (WHOLE, "The number of the row."),
        "made_at": (TEXT, "When the run began (ISO 8601)."),
        "release": (TEXT, "The name of the release in its spec."),
        "spec": (TEXT, "The checksum of the spec."),
        "node": (or_null(TEXT), "The node; null for local recodings."),
        "findings": (TEXT, "The findings of the privacy models, as JSON text."),
        "singled_out": (or_null(COUNT), "People identifiable by comparison with earlier releases; null if unknown."),
        "checksum": (TEXT, "The checksum of the row and all rows before it; empty if the row cannot be read."),
    }
)
_BROKEN = closed({"number": (WHOLE, "The number of the row."), "problem": (TEXT, "The problem, in a sentence.")})
RELEASES: Keys = {
    "name": (TEXT, "The audit trail."),
    "rows": (list_of(_ROW), "One row per release, the oldest first."),
    "holds": (FLAG, "Whether all rows are unchanged."),
    "broken": (list_of(_BROKEN), "The rows that are not."),
    "head": (TEXT, "The checksum of the last row."),
}

REFRESH: Keys = {
    "target": (
        closed({"table": (TEXT, "The name of the view."), "as": ({"const": "materialized"}, "Always `materialized`.")}),
        "The refreshed view.",
    ),
    "released_rows": (COUNT, "Its rows."),
    "suppressed_rows": (or_null(WHOLE), "Rows of the source that it lacks; null if the source is not recorded."),
    "classes": (COUNT, "Equivalence classes."),
    "smallest_class": (or_null(COUNT), "Rows of the smallest class."),
    "quasi_identifiers": (NAMES, "The columns by which classes were formed."),
    "privacy": (list_of(closed(FINDING_KEYS)), "The finding of every privacy model."),
    "verified": (FLAG, "Whether all models are satisfied."),
    "seconds": (by_name(NUMBER), "The duration, in `total`."),
    "warnings": (NAMES, "Warnings for readers of the release."),
}

SEARCH: Keys = {
    "source": (TEXT, "The searched table or file."),
    "strategy": (TEXT, "The strategy."),
    "metric": (TEXT, "The loss measure that was minimized."),
    "node": (by_name(COUNT), "The level of each quasi-identifier."),
    "heights": (by_name(COUNT), "The top level of each quasi-identifier."),
    "score": (FIGURE, "The loss of the node. Lower is better."),
    "proven_optimal": (FLAG, "Whether no other node loses less."),
    "rows": (COUNT, "Rows of the source."),
    "rows_at_risk": (COUNT, "Rows that the node suppresses."),
    "lattice_size": (COUNT, "Nodes of the lattice."),
    "pruned_by": (or_null(TEXT), "Which bound ruled nodes out, if the privacy models are not monotone."),
    "sql": (or_null(TEXT), "The statement of the release, with `--dialect`."),
    "lower_bound": (FIGURE, "A proven lower bound of the loss of any node."),
    "gap": (FIGURE, "The loss minus the lower bound."),
    "nodes_checked": (COUNT, "Nodes that a query tested."),
    "nodes_tagged": (COUNT, "Nodes that were decided without a query."),
    "queries": (COUNT, "Queries of the search."),
    "search_ended": (TEXT, "`complete`, or what ended it: `time limit`, `patience` or `interrupted`."),
    "found_by": (TEXT, "What found the node: the strategy, or its last resort."),
    "seconds": (NUMBER, "The duration of the search."),
}

_PROVEN_KEYS: Keys = {
    "k": (COUNT, "The k."),
    "proven_score": (FIGURE, "The proven optimum; null if no search proved it."),
    "lower_bound": (FIGURE, "The highest lower bound that a search proved."),
    "minimal_nodes": (COUNT, "Nodes that are proven to be k-minimal."),
    "minimal_nodes_complete": (FLAG, "Whether these are all."),
}
_STRATEGY = closed(
    {
        "strategy": (TEXT, "The search or local recoding."),
        "promise": (TEXT, "What it promises, such as an optimum."),
        "refused": (or_null(TEXT), "Why it did not run; then the other keys are null."),
        "k": (or_null(COUNT), "The k."),
        "score": (FIGURE, "The loss. Lower is better."),
        "proven_optimal": (or_null(FLAG), "Whether no other node loses less."),
        "equals_best_proven": (or_null(FLAG), "Whether the loss is the optimum that a search proved."),
        "lower_bound": (FIGURE, "A proven lower bound of the loss of any node."),
        "gap": (FIGURE, "The loss minus the lower bound."),
        "nodes_checked": (or_null(COUNT), "Nodes that a query tested."),
        "nodes_tagged": (or_null(COUNT), "Nodes that were decided without a query."),
        "queries": (or_null(COUNT), "Queries."),
        "seconds": (FIGURE, "The duration."),
        "ended": (or_null(TEXT), "`complete`, or what ended it."),
        "found_by": (or_null(TEXT), "What found the node."),
        "node": (or_null(by_name(COUNT)), "The level of each quasi-identifier; null for local recodings."),
        "suppressed_rows": (or_null(COUNT), "Rows of the source that are suppressed."),
        "log": (FIGURE, "The mean level over the height. Lower is better."),
        "los": (FIGURE, "The suppressed rows over the rows. Lower is better."),
        "loss_per_attribute": (or_null(by_name(FIGURE)), "The mean loss of a cell by column. Lower is better."),
        "accuracy": (FIGURE, "The share of the decided nodes that are k-minimal."),
        "information_loss": (or_null(by_name(FIGURE)), "The loss by every measure. Lower is better for all of them."),
        "classes": (or_null(COUNT), "Equivalence classes."),
        "smallest_class": (or_null(COUNT), "Rows of the smallest class."),
        "risk_highest": (FIGURE, "The highest prosecutor risk."),
        "risk_mean": (FIGURE, "The mean prosecutor risk."),
        "same_as": (or_null({"type": "array"}), "The first earlier result with the same release: its strategy and k."),
    }
)
_REQUIRED = closed({name: FINDING_KEYS[name] for name in ("model", "required")})
COMPARE: Keys = {
    "source": (TEXT, "The table or file."),
    "rows": (COUNT, "Its rows."),
    "distinct_tuples": (COUNT, "Distinct combinations of its quasi-identifiers."),
    "k": (COUNT, "The first k."),
    "privacy": (list_of(_REQUIRED), "The privacy models."),
    "suppression_limit": ({"anyOf": [NUMBER, TEXT]}, "The limit: a share of the rows, or `N rows`."),
    "metric": (TEXT, "The loss measure that was minimized."),
    "heights": (by_name(COUNT), "The top level of each quasi-identifier."),
    "lattice_size": (COUNT, "Nodes of the lattice."),
    "time_limit": (NUMBER, "Seconds per strategy."),
    "seed": (WHOLE, "The seed of random choices."),
    "evaluations": (or_null(COUNT), "Nodes that random strategies could test; null for no limit."),
    "frequency_seconds": (NUMBER, "The duration of counting the source."),
    **{name: (kind, f"For the first k. {meaning}") for name, (kind, meaning) in _PROVEN_KEYS.items() if name != "k"},
    "by_k": (list_of(closed(_PROVEN_KEYS)), "What the searches proved together, by k."),
    "searches": (list_of(_STRATEGY), "The result of every strategy, by k."),
}

COMPILE: Keys = {
    "dialect": (TEXT, "The system that the statements are for."),
    "table": (TEXT, "The table that they read."),
    "mappings": (by_name(COUNT), "The mapping tables that they create, with their rows."),
    "query": (TEXT, "The query alone."),
    "sql": (TEXT, "All statements."),
}

_STEP = closed(
    {
        "name": (TEXT, "The name of the query."),
        "sentence": (TEXT, "What it does."),
        "engine": (TEXT, "The database that ran it."),
        "sql": (TEXT, "Its text, the last time that it ran; empty for a step without a statement."),
        "plan": (TEXT, "Its plan; empty if a table that it reads does not exist any more."),
        "gave": (TEXT, "Its result in words."),
        "times": (COUNT, "How often it ran."),
        "seconds": (NUMBER, "The duration, in all."),
        "rows": (or_null(COUNT), "The rows that it returned or wrote, in all; null if the engine does not say."),
    }
)
EXPLAIN: Keys = {
    "source": (TEXT, "The table or file."),
    "steps": (list_of(_STEP), "The statements of the run in order."),
    "statement": (TEXT, "The release as one statement; empty if it takes several."),
}

_COLUMN = closed(
    {
        "name": (TEXT, "The column."),
        "type": (TEXT, "Its type in the database."),
        "kind": (TEXT, "The kind of its values, such as integer or date."),
        "distinct": (or_null(COUNT), "Different values, with NULL as one; null if the type cannot be grouped."),
        "null_rows": (or_null(COUNT), "Rows without a value."),
        "unique_rows": (or_null(COUNT), "Rows with a value that occurs once."),
        "unique_share": (FIGURE, "Their share."),
        "unique_people": (
            or_null(COUNT),
            "People with a value that no other person has, if people have several rows; of combined columns.",
        ),
        "smallest_class": (or_null(COUNT), "Rows of the rarest value."),
        "largest_class": (or_null(COUNT), "Rows of the most frequent value."),
        "suggestion": (TEXT, "`identifier`, `quasi-identifier` or empty."),
        "reason": (TEXT, "Why."),
        "dates": (FLAG, "Whether most values are dates."),
    }
)
_SET = closed(
    {
        "columns": (NAMES, "The columns."),
        "combinations": (COUNT, "Their distinct combinations."),
        "unique_rows": (COUNT, "Rows that are unique by them."),
        "unique_share": (NUMBER, "Their share."),
        "small_rows": (COUNT, "Rows in classes smaller than 5."),
        "small_share": (NUMBER, "Their share."),
        "unique_people": (
            or_null(COUNT),
            "People with a row that no other person's row equals, if people have several rows.",
        ),
        "small_people": (or_null(COUNT), "People with a row that the rows of fewer than 5 people equal."),
    }
)
_UNIT = closed(
    {
        "column": (TEXT, "The column."),
        "people": (COUNT, "Its different values."),
        "constant": (NAMES, "Columns that have one value per person."),
    }
)
_SUSPECT = closed({"column": (TEXT, "The column."), "reason": (TEXT, "Why it should not be kept.")})
PROFILE: Keys = {
    "rows": (COUNT, "Rows of the table."),
    "columns": (list_of(_COLUMN), "Its columns."),
    "combined": (NAMES, "The columns that sets consist of."),
    "sets": (list_of(_SET), "Sets of columns, the most identifying first."),
    "possible_sets": (COUNT, "Sets that could be counted."),
    "identifiers": (NAMES, "Columns that identify people."),
    "quasi_identifiers": (NAMES, "Suggested quasi-identifiers."),
    "sensitive": (NAMES, "Columns whose names suggest sensitive values."),
    "kept": (NAMES, "All other columns."),
    "suspects": (list_of(_SUSPECT), "Columns among them that seem to identify people."),
    "together": (or_null(_SET), "All suggested quasi-identifiers as one set."),
    "unit": (or_null(_UNIT), "The column that identifies people, if some have several rows."),
    "complete": (FLAG, "Whether the time limit sufficed."),
    "notes": (NAMES, "Limits of the figures."),
    "seconds": (NUMBER, "The duration."),
}

SUGGESTED = closed(
    {
        "name": (TEXT, "The column."),
        "type": (TEXT, "Its type in the database."),
        "role": (
            {"enum": ["identifier", "quasi-identifier", "sensitive", "kept", "dropped"]},
            "The suggested role.",
        ),
        "reason": (TEXT, "Why this role."),
        "recipe": (ANY, "The recipe of its hierarchy, as in a spec; null if it is written to a file."),
        "why": (TEXT, "Why this hierarchy."),
        "labels": (list_of(COUNT), "The number of labels on each level, values first."),
    }
)
INIT: Keys = {
    "source": (TEXT, "The table or file."),
    "database": (or_null(TEXT), "The database; null for none, and for an address with a password."),
    "rows": (COUNT, "Rows of the table."),
    "unit": (or_null(TEXT), "The column that identifies people, if they have several rows."),
    "k": (COUNT, "The suggested k."),
    "suppression_limit": ({"anyOf": [NUMBER, TEXT]}, "The suggested limit: a share of the rows, or `N rows`."),
    "columns": (list_of(SUGGESTED), "The columns with their roles."),
    "notes": (NAMES, "Hints for readers of the spec."),
}

ERROR: Keys = {
    "error": (TEXT, "The message, as on standard error: the fact and the remedy, without values of the data."),
    "kind": (
        TEXT,
        "The name of the exception in `kanon_sql.errors`, such as `SpecError`, `SourceError`, `TargetError`, "
        "`InfeasibleError`, `VerificationError` or `DifferencingError`; `UsageError` for a command that cannot be "
        "read; `Stopped` for Ctrl-C or SIGTERM.",
    ),
    "exit_code": (COUNT, "The exit code of the command: 2, or for `Stopped` 130 or 143."),
}
