"""The form of a manifest: every key with its type and meaning.

A manifest of `anonymize` has the keys `COMMON` and `GENERALIZED`; one of `cloak` has `COMMON` and `CLOAKED`; one of
`anatomize` has `COMMON` and `EXACT_ANATOMY`. It has keys of `CONDITIONAL` if the release has what they describe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.documents import VERSIONS
from kanon_sql.documents.decision import FINDING_KEYS, VERDICT
from kanon_sql.documents.kinds import (
    ANY,
    COUNT,
    DIALECT,
    FIGURE,
    FLAG,
    NAMES,
    NUMBER,
    SHARE,
    TEXT,
    Keys,
    Schema,
    by_name,
    closed,
    list_of,
    or_null,
)

MANIFEST_VERSION = VERSIONS["manifest"]

_FINDING = closed(
    {**FINDING_KEYS, "short_rows": (COUNT, "Of cloaked places: rows whose box fewer units share.")},
    optional=["short_rows"],
)
_ROLES = closed(
    {
        "quasi_identifiers": (NAMES, "Columns that are generalized."),
        "sensitive": (NAMES, "Sensitive columns, released unchanged."),
        "kept": (NAMES, "Columns without a role that are released unchanged."),
        "dropped": (NAMES, "Columns without a role that are not released."),
        "identifiers_dropped": (NAMES, "Identifiers and the unit, which are not released."),
        "labels": (by_name(TEXT), "The roles that labels for PostgreSQL Anonymizer give to columns."),
        "location": (NAMES, "Of cloaked places: the columns of the place."),
        "time": (TEXT, "Of cloaked places: the column of the time."),
        "unit": (TEXT, "Of cloaked places: the column that identifies people or devices."),
    },
    optional=["quasi_identifiers", "labels", "location", "time", "unit"],
)
_TARGET = closed(
    {
        "file": (TEXT, "The path of the file."),
        "table": (TEXT, "The name of the table, view or materialized view, with its schema."),
        "as": (TEXT, "The form of the release, such as `table`, `view` or `anatomy`."),
    },
    optional=["file", "table", "as"],
)
_SQL = closed(
    {
        "frequency_set": (NAMES, "The statements that counted the source."),
        "release": (TEXT, "The statement that wrote the release."),
    },
    optional=["frequency_set"],
)
_ANATOMY = closed(
    {
        "sensitive": (TEXT, "The table or file of the sensitive values."),
        "checksums": (TEXT, "The file of checksums of both files."),
        "sensitive_columns": (NAMES, "The columns in that table."),
        "groups": (COUNT, "Groups of rows."),
        "sql": (NAMES, "The statements that wrote the two tables."),
    },
    optional=["checksums"],
)
_DAMAGE = closed(
    {
        "column": (TEXT, "The quasi-identifier."),
        "level": (NUMBER, "The level of the node, or the mean level of the cells of a local recoding."),
        "height": (COUNT, "The top level."),
        "weight": (NUMBER, "The weight in means over the columns."),
        "unchanged": (COUNT, "Cells that were released unchanged."),
        "generalized": (COUNT, "Cells that were generalized."),
        "suppressed": (COUNT, "Cells of suppressed rows."),
        "loss": (NUMBER, "The mean loss of a cell, from 0 to 1."),
        "entropy_kept": (FIGURE, "The remaining share of the column's bits; null if it had none."),
        "intensity": (NUMBER, "The mean level over the height, from 0 to 1."),
        "squared_error": (FIGURE, "Of numbers: the error, divided by that of the mean in their place."),
    }
)
_BELOW = closed(
    {
        "smallest": (or_null(COUNT), "Rows of the smallest class."),
        "rows_below": (COUNT, "Rows in classes that do not meet the models."),
    }
)
_RECODING_KEYS: Keys = {
    "node": (by_name(COUNT), "The node that was recoded by."),
    "kept_by": (by_name(COUNT), "The node that decided which rows to suppress."),
    "classes_joined": (COUNT, "Unsafe classes that were joined to others."),
    "kept_classes": (COUNT, "Classes of an earlier release that were reused."),
    "recut_classes": (COUNT, "Classes of an earlier release that were cut again."),
    "placed_rows": (COUNT, "Rows in reused classes."),
    "recut_rows": (COUNT, "Rows in other classes."),
    "placed_by_regions": (FLAG, "Whether the regions alone decided in which class each row is."),
    "ncp": (FIGURE, "Mondrian: the normalized certainty penalty."),
    "rounds": (COUNT, "Mondrian and KACA: rounds of cuts or merges."),
    "statements": (COUNT, "Mondrian: statements that were run."),
    "pieces": (COUNT, "KACA: pieces that a large table was cut into."),
    "cut_rows": (COUNT, "KACA: rows that were cut when time was up."),
    "start": (by_name(COUNT), "refine: the node that it began with."),
    "start_loss": (NUMBER, "refine: the loss of that node."),
    "cut_loss": (NUMBER, "refine: the loss of the cut that it began with."),
    "cover_loss": (NUMBER, "refine: the loss once every tuple had a class."),
    "steps": (COUNT, "refine: rounds of refinement."),
    "regrouped": (COUNT, "refine: groups of classes that were formed again."),
    "moves": (COUNT, "refine: tuples that were moved to other classes."),
    "loss": (NUMBER, "refine: the loss at the end."),
    "changed_first": (NAMES, "PrioPrivacy: the columns in the order in which they were changed."),
    "rules": (TEXT, "PrioPrivacy: whether rules come from `files` or `hierarchies`."),
    "form": (TEXT, "PrioPrivacy: `strict` or `wildcard` matching."),
    "domains": (by_name(COUNT), "PrioPrivacy: the number of values that each column can have."),
    "transformations_tried": (COUNT, "PrioPrivacy: combinations of rules that were tried."),
    "absorbed_rows": (COUNT, "PrioPrivacy: rows that joined a class of others."),
    "string_classes": (_BELOW, "PrioPrivacy: classes of equal rows."),
    "wildcard": (_BELOW, "PrioPrivacy: classes in which each `*` can be any value."),
    "quality": (
        or_null(
            closed(
                {
                    "entropy_kept": (NUMBER, "1 minus the lost share of bits."),
                    "intensity_kept": (NUMBER, "1 minus the mean level over the height."),
                    "granularity_kept": (NUMBER, "1 minus the mean share of values under a label."),
                }
            )
        ),
        "PrioPrivacy: what is left of the detail, from 0 (nothing) to 1 (unchanged). Higher is better for all of them.",
    ),
}
_OPERATION: Schema = {
    "type": "object",
    "properties": {
        "noise": {"type": "object", "description": "Noise: its scale, distribution and bounds."},
        "swap": {"type": "object", "description": "Rank swapping: the share of the rows within which it swaps."},
        "pram": {"type": "object", "description": "PRAM: the probability to keep a value, or its matrix's checksum."},
    },
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": False,
}
_PERTURBATION = closed(
    {
        "columns": (by_name(_OPERATION), "The operator and its parameters by column."),
        "reproducible": (FLAG, "Whether a secret makes it repeatable."),
    }
)
_REDRAWN = closed(
    {
        "column": (TEXT, "The sensitive column."),
        "required": (NUMBER, "The highest share of the value that is allowed."),
        "classes": (COUNT, "Classes in which the value was redrawn."),
        "alike": (COUNT, "All classes without the value."),
        "rows_alike": (COUNT, "Rows in them."),
    }
)
_MINIMALITY = closed(
    {
        "method": (TEXT, "Always `mask`."),
        "columns": (list_of(_REDRAWN), "The sensitive columns."),
        "reproducible": (FLAG, "Whether a secret makes it repeatable."),
    }
)
_ABOVE = closed({"risk": (SHARE, "A threshold."), "people": (COUNT, "People with a higher risk.")})
_RISK_OF_PEOPLE = closed(
    {
        "smallest_class": (or_null(COUNT), "People of the smallest class."),
        "mean": (FIGURE, "The mean prosecutor risk."),
        "above": (list_of(_ABOVE), "People above the thresholds of norms."),
    }
)
_POPULATION = closed(
    {
        "source": (TEXT, "Its name."),
        "people": (COUNT, "Its people, if people are counted."),
        "rows": (COUNT, "Its rows, if rows are counted."),
    },
    optional=["people", "rows"],
)
_WAY_OUT = closed(
    {
        "column": (or_null(TEXT), "The column; null for all columns."),
        "way": (TEXT, "What to change."),
        "loss": (FIGURE, "The mean loss then; null if no release was found."),
        "loss_of_column": (FIGURE, "The loss of the column then."),
        "suppressed_rows": (or_null(COUNT), "The rows suppressed then."),
    }
)
_DEFERRED = closed(
    {
        "counted": ({"enum": ["people", "rows"]}, "What the figures count."),
        "waiting": (COUNT, "People or rows that wait, in all."),
        "arrivals": (COUNT, "Those that are not in the release yet."),
        "departures": (COUNT, "Those that are still in the release."),
        "closed_classes": (COUNT, "Classes left out because they do not satisfy the models any more."),
        "oldest": (or_null(TEXT), "Since when the first has been waiting."),
        "changed_rows": (COUNT, "Rows that the release adds, or leaves out, since the last."),
    }
)
_DIFFERENCING = closed(
    {
        "people": (COUNT, "People or rows that the two releases single out together."),
        "k": (COUNT, "The k that they fall below."),
        "came_left_or_stayed": (COUNT, "Those among them who came, left or stayed alone."),
        "narrowed": (COUNT, "Those among them whose class became too small when both releases are joined."),
        "told": (by_name(COUNT), "By sensitive column: those whose value both releases reveal together."),
        "earlier": (
            closed(
                {
                    "releases": (COUNT, "Earlier releases that were compared, in addition to the last."),
                    "most_people": (COUNT, "The most people whom one of them singles out together with the new one."),
                }
            ),
            "The comparison with the releases before the last.",
        ),
        "values": (
            by_name(
                closed(
                    {
                        "required": (COUNT, "`differencing_values`: how many values must remain possible."),
                        "remaining": (COUNT, "The fewest that remain for anyone after all releases are intersected."),
                    }
                )
            ),
            "By sensitive column: the values that remain possible for everyone.",
        ),
    },
    optional=["values"],
)
_CLOAK = closed(
    {
        "method": (TEXT, "The method."),
        "shared": (FLAG, "Whether k units share exactly the same box and interval."),
        "depth": (COUNT, "How often the area is divided into quadrants."),
        "interval": (NUMBER, "The length of a time slice."),
        "level": (COUNT, "The level of the quadrants that are cells."),
        "cell": (NUMBER, "The side of the squares that are cells."),
        "dx": (ANY, "The largest extent along the first column, or a column of extents."),
        "dy": (ANY, "The same along the second column."),
        "dt": (ANY, "The same in time."),
        "k": (TEXT, "The column with the k of the rows."),
        "search": (TEXT, "Whether a row's clique is searched for its own k, or first for its neighbours' larger one."),
        "unplaced": (TEXT, "What happens to rows without a place, a time or a unit: `error` or `suppress`."),
    },
    optional=["interval", "level", "cell", "dx", "dy", "dt", "k"],
)
_REGIONS = closed(
    {
        "file": (TEXT, "Its path."),
        "sha256": (TEXT, "Its checksum."),
        "classes": (COUNT, "The number of regions."),
    }
)
_RUN = closed(
    {
        "release": (TEXT, "The name of the release in its spec."),
        "place": (TEXT, "The target, independent of the working directory."),
        "at": (TEXT, "When the run began (ISO 8601)."),
        "why": (NAMES, "The reasons to release again."),
        "fingerprints": (
            closed(
                {
                    "spec": (TEXT, "The checksum of the spec."),
                    "source": (TEXT, "The checksum of the source."),
                    "hierarchies": (by_name(TEXT), "The checksums of hierarchies that were read."),
                }
            ),
            "Checksums of the inputs, to recognize changes.",
        ),
        "target": (or_null(TEXT), "The checksum of the release."),
        "replaced": (or_null(TEXT), "The checksum of the release that it replaced."),
        "singled_out": (or_null(_DIFFERENCING), "People identifiable by comparing the release with earlier ones."),
        "history": (
            list_of(
                closed(
                    {
                        "at": (TEXT, "When the run began."),
                        "sha256": (TEXT, "The checksum of the copy."),
                        "regions": (TEXT, "The checksum of the regions that placed its rows, if these did."),
                        "classes": (TEXT, "An identifier of its classes, equal if releases have the same classes."),
                    },
                    optional=["regions", "classes"],
                )
            ),
            "The copies of the last releases, newest first.",
        ),
    },
    optional=["history"],
)
_DECLARED_KEYS: Keys = {
    "recipient": ({"enum": ["public", "contract", "secure"]}, "Who receives the release."),
    "purpose": (TEXT, "What it is for."),
    "retention": (TEXT, "How long the recipient may keep it."),
    "review_date": (TEXT, "When the decision is reviewed (ISO 8601)."),
    "norms": (NAMES, "The norms whose thresholds apply."),
    "sensitivity": ({"enum": ["low", "medium", "high"]}, "How much disclosure would invade privacy."),
    "accepted_risk": (NUMBER, "The controller's own maximum risk."),
    "reasons": (by_name(TEXT), "By column: why it has its role."),
    "reason_k": (TEXT, "Why this k was chosen."),
}
COMMON: Keys = {
    "schema": ({"const": f"manifest/{MANIFEST_VERSION}"}, "The name and version of this form."),
    "manifest_version": ({"const": MANIFEST_VERSION}, "The version of this form."),
    "version": (TEXT, "The version of kanon_sql."),
    "rows": (COUNT, "Rows of the source."),
    "released_rows": (COUNT, "Rows of the release."),
    "verified": (FLAG, "A separate query checked the release before it became visible."),
    "privacy": (
        {**list_of(_FINDING), "minItems": 1},
        "The finding of every privacy model: `required`, as configured, and `achieved`, as counted in the release.",
    ),
    "roles": (
        _ROLES,
        "The columns by their use: `quasi_identifiers`, `sensitive`, `kept`, `dropped`, `identifiers_dropped`, and "
        "for places `location`, `time` and `unit`.",
    ),
    "source": (TEXT, "The source's name, or `in memory`."),
    "target": (_TARGET, "Where the release is: `file` or `table`, and `as`, its form."),
    "engine": (TEXT, "The database: duckdb, postgresql or spark."),
    "seconds": (
        by_name(NUMBER),
        "The duration of each phase; they add up to `total`. `read`: open the source, check the spec, load hierarchies."
        " `frequency_set`: count the distinct tuples. `search`. `classes`: form the classes of a local recoding and "
        "their labels. `loss`: measure the information loss. `ways_out`. `release`: write. `verify`. `describe`: "
        "compose the manifest. `cloak`: find the boxes of places.",
    ),
    "warnings": (NAMES, "Warnings for readers of the release."),
}
GENERALIZED: Keys = {
    "suppressed_rows": (COUNT, "Rows of the source that were suppressed."),
    "masked_rows": (COUNT, "Of the suppressed rows, those released with `*` in every quasi-identifier (`mask`)."),
    "suppression_limit": ({"anyOf": [SHARE, TEXT]}, "The configured limit: a share of the rows, or `N rows`."),
    "distinct_tuples": (COUNT, "Distinct combinations of quasi-identifiers in the source."),
    "classes": (COUNT, "Equivalence classes of the release."),
    "smallest_class": (or_null(COUNT), "Rows of the smallest class, also with `unit`; null without a class."),
    "average_class": (or_null(NUMBER), "Mean rows of a class."),
    "heights": (by_name(COUNT), "The top level of each quasi-identifier."),
    "weights": (by_name(NUMBER), "The weights of the quasi-identifiers; empty if all are equal."),
    "metric": (TEXT, "The loss measure that was minimized."),
    "score": (or_null(NUMBER), "The loss by that measure. Lower is better."),
    "information_loss": (by_name(or_null(NUMBER)), "The loss by every measure. Lower is better for all of them."),
    "loss_per_attribute": (by_name(or_null(NUMBER)), "The mean loss of a cell, from 0 to 1. Lower is better."),
    "precision_per_attribute": (
        by_name(or_null(NUMBER)),
        "The mean level over the height (1 minus Sweeney's precision), from 0 to 1. Lower is better.",
    ),
    "distortion_per_attribute": (by_name(or_null(NUMBER)), "The weighted hierarchical distance. Lower is better."),
    "modification_per_attribute": (by_name(SHARE), "The share of the cells that were changed. Lower is better."),
    "damage": (
        list_of(_DAMAGE),
        "One entry per quasi-identifier: its cells unchanged, generalized and suppressed, its level and loss. "
        "`entropy_kept` is the remaining entropy: higher is better.",
    ),
    "node": (or_null(by_name(COUNT)), "The level of each quasi-identifier; null for local recodings."),
    "shown": (or_null(by_name(TEXT)), "What classes of a local recoding show; null for searches."),
    "lattice_size": (or_null(COUNT), "Nodes of the lattice."),
    "nodes_checked": (or_null(COUNT), "Nodes that a query of the database tested."),
    "queries": (or_null(COUNT), "Queries of the search."),
    "lower_bound": (or_null(NUMBER), "A proven lower bound of the score of any node."),
    "gap": (or_null(NUMBER), "The score minus the lower bound: how much less another node could lose."),
    "proven_optimal": (FLAG, "Whether no other node loses less."),
    "search_ended": (or_null(TEXT), "`complete`, or what ended it: `time limit`, `patience` or `interrupted`."),
    "found_by": (or_null(TEXT), "What found the node: the strategy, or its last resort."),
    "pruned_by": (or_null(TEXT), "Which bound ruled nodes out, if the privacy models are not monotone."),
    "chosen_by_values": (or_null(FLAG), "Whether only sensitive values ruled out a less general node."),
    "recoding": (
        or_null(closed(_RECODING_KEYS, optional=_RECODING_KEYS)),
        "Facts about a local recoding; null for searches.",
    ),
    "nothing_left": (or_null(TEXT), "Why the release contains no information, if it contains none."),
    "at_top": (NAMES, "Quasi-identifiers at their top level."),
    "classification": (
        by_name(SHARE),
        "By sensitive column: the share of rows whose value is not the most frequent one of their class.",
    ),
    "strategy": (TEXT, "The strategy, or `kept` for the node of an earlier release."),
    "seed": ({"type": "integer"}, "The seed of random choices."),
    "columns": (by_name(TEXT), "The source's columns and types."),
    "hierarchies": (by_name(TEXT), "The SHA-256 of each hierarchy."),
    "hierarchy_rows": (by_name(COUNT), "Rows of each hierarchy that was read from a file or table."),
    "node_kept": (or_null(FLAG), "Whether the node of an earlier release was kept; null if it was not to be."),
    "sql": (_SQL, "The statements that counted the source and wrote the release; not in an audit trail."),
}
CLOAKED: Keys = {
    "units": (COUNT, "People or devices with a place and a time in the source."),
    "suppressed_rows": (COUNT, "Rows that were suppressed."),
    "unplaced_rows": (COUNT, "Rows without a place, a time or a unit."),
    "success_rate": (SHARE, "The share of the rows that are released."),
    "classes": (COUNT, "Boxes with their intervals."),
    "smallest_class": (COUNT, "Units of the smallest."),
    "average_class": (NUMBER, "Mean rows of a box and interval."),
    "cloak": (_CLOAK, "The method and its parameters."),
    "figures": (by_name(or_null(NUMBER)), "Sizes and resolutions of boxes and intervals."),
    "strategy": ({"const": "cloak"}, "Always `cloak`."),
    "seed": ({"type": "integer"}, "The seed of random choices."),
    "sql": (_SQL, "The statements that wrote the release; not in an audit trail."),
}
EXACT_ANATOMY: Keys = {
    "release": (TEXT, "What kind of release it is."),
    "k_anonymous": ({"const": False}, "An anatomy of exact rows is not k-anonymous."),
    "groups": (COUNT, "Groups of rows."),
    "smallest_group": (COUNT, "Rows of the smallest."),
    "reproducible": (FLAG, "Whether a secret makes the groups repeatable."),
    "anatomy": (_ANATOMY, "The table of sensitive values that belongs to it."),
    "sql": (_SQL, "The statements that wrote the release; not in an audit trail."),
}
CONDITIONAL: Keys = {
    "unit": (TEXT, "The column that tells people apart, if models count people."),
    "people": (COUNT, "People of the source, with `unit`."),
    "released_people": (COUNT, "People with at least one row in the release, with `unit`."),
    "suppressed_people": (COUNT, "People without a row in the release, with `unit`."),
    "risk_of_people": (_RISK_OF_PEOPLE, "The prosecutor risk of people, each by their smallest class, with `unit`."),
    "population": (_POPULATION, "The population that models compared with, and its rows or people."),
    "time_zone": (TEXT, "The time zone of labels of timestamps."),
    "not_atomic": (TEXT, "What readers might see on an engine without transactions."),
    "perturbation": (_PERTURBATION, "Perturbed columns, and whether a secret makes them repeatable."),
    "minimality": (_MINIMALITY, "What `minimality: mask` redrew."),
    "anatomy": (_ANATOMY, "The table of sensitive values, if the release is an anatomy."),
    "differencing": (_DIFFERENCING, "People identifiable by comparing the release with earlier ones."),
    "deferred": (_DEFERRED, "Changes since the last release that wait for more changes in their classes."),
    "incremental": (FLAG, "Whether rows that no class fits yet are held back."),
    "waiting": (or_null(TEXT), "The table of held back rows."),
    "waiting_rows": (COUNT, "Rows in that table."),
    "regions": (_REGIONS, "The private file of regions that was written."),
    "node_not_kept_for": (TEXT, "Why the node of an earlier release was not kept."),
    "nodes_resumed": (COUNT, "Nodes that a resumed search knew from its trace."),
    "ways_out": (list_of(_WAY_OUT), "Alternatives for columns at their top level."),
    "declared": (
        closed(_DECLARED_KEYS, optional=_DECLARED_KEYS),
        "The recipient, the reasons, and the rest of what people decided about the release.",
    ),
    "verdict": (
        VERDICT,
        "The verdict by the figures of the run, if the recipient is declared; a report measures more.",
    ),
    "run": (_RUN, "Facts of `kanon run`: reasons, fingerprints and history."),
}
FORMS: Mapping[str, Keys] = {"anonymize": GENERALIZED, "cloak": CLOAKED, "anatomize": EXACT_ANATOMY}


def manifest_schema() -> dict[str, Any]:
    """The JSON Schema of the manifests that `anonymize`, `cloak` and `anatomize` return.

    >>> manifest_schema()["properties"]["released_rows"]["description"]
    'Rows of the release.'
    """
    meanings: dict[str, tuple[dict[str, Any], str]] = {}
    for keys in (CONDITIONAL, EXACT_ANATOMY, CLOAKED, GENERALIZED, COMMON):
        meanings |= keys
    forms = [
        {
            "title": verb,
            "properties": {name: kind for name, (kind, _) in keys.items()},
            "required": [name for name in keys if name != "sql"],
            "anyOf": [{"required": ["sql"]}, {"required": ["run"]}],  # an audit trail has no statements
            "propertyNames": {"enum": sorted({*COMMON, *keys, *CONDITIONAL})},
        }
        for verb, keys in FORMS.items()
    ]
    return {
        "$schema": DIALECT,
        "title": "A manifest of kanon_sql",
        "type": "object",
        "properties": {
            name: {**(kind if name in COMMON or name in CONDITIONAL else {}), "description": meaning}
            for name, (kind, meaning) in sorted(meanings.items())
        },
        "required": [*COMMON],
        "additionalProperties": False,
        "anyOf": forms,
    }
