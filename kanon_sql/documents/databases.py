"""The documents of `kanon database`: a release of several tables, and its check."""

from __future__ import annotations

from kanon_sql.documents.kinds import (
    COUNT,
    FLAG,
    NAMES,
    NUMBER,
    SHARE,
    TEXT,
    WHOLE,
    Keys,
    by_name,
    closed,
    list_of,
    or_null,
)
from kanon_sql.documents.others import SUGGESTED

_ROWS = {"enum": [0, 1, 2, 3, "all"]}
_BACKGROUND = "The number of a person's rows in the other tables that the attacker has"
_COMBINED = (_ROWS, f"{_BACKGROUND}; `all`: every row.")
_M = (_ROWS, f"{_BACKGROUND}, at most.")
_FINDING = closed(
    {
        "known_rows": _COMBINED,
        "required": (COUNT, "The number of people that must share a combination: k."),
        "achieved": (or_null(COUNT), "The fewest people that share one; null without combinations."),
        "combinations": (COUNT, "The combinations that occur."),
        "rare_combinations": (COUNT, "The combinations that fewer than k people share."),
        "satisfied": (FLAG, "Whether no combination is rare."),
    }
)
_VALUE_FINDING = closed(
    {
        "column": (TEXT, "The sensitive column, with its table."),
        "model": (TEXT, "The privacy model."),
        "known_rows": _COMBINED,
        "required": ({}, "The model's parameter, or all of them by name."),
        "achieved": (or_null(NUMBER), "The worst combination's figure; null if none of its people has a value."),
        "combinations": (COUNT, "The combinations that occur."),
        "unsafe_combinations": (COUNT, "Those whose people's values violate the model."),
        "satisfied": (FLAG, "Whether no combination violates the model."),
    }
)
_TABLE = closed(
    {
        "rows": (COUNT, "Rows of the source."),
        "released_rows": (COUNT, "Rows of the release."),
        "target": (TEXT, "The released table or file."),
        "keys": (NAMES, "The columns with new keys."),
        "losses": (
            by_name(SHARE),
            "The mean loss per quasi-identifier, 1 for a row left out; lower is better.",
        ),
        "hierarchies": (by_name(TEXT), "The SHA-256 of every hierarchy's file, table or recipe."),
        "sensitive": (NAMES, "Sensitive columns, which are released unchanged."),
        "shifted": (NAMES, "Dates that are released with an offset per person."),
        "kept": (NAMES, "Columns that are released unchanged."),
        "dropped": (NAMES, "Columns without a role, which are not released."),
        "labels": (by_name(TEXT), "Roles from labels of the table's owner (PostgreSQL)."),
    },
    optional=["labels"],
)
DATABASE: Keys = {
    "unit": (TEXT, "The main table, which has one row per person."),
    "k": (COUNT, "The number of people that must share a combination."),
    "m": _M,
    "form": ({"enum": ["table", "view", "file"]}, "How the tables are released; views are live."),
    "people": (COUNT, "People of the source."),
    "released_people": (COUNT, "People of the release."),
    "tables": (by_name(_TABLE), "The tables by name."),
    "node": (by_name(by_name(WHOLE)), "The level of every quasi-identifier, by table."),
    "metric": (TEXT, "The loss that the search minimized."),
    "score": (NUMBER, "The loss of the release; lower is better."),
    "lower_bound": (NUMBER, "No node has a lower loss."),
    "proven_optimal": (FLAG, "Whether no other node is better."),
    "strategy": (TEXT, "The search."),
    "ended": (TEXT, "How it ended: complete, time limit, or interrupted."),
    "nodes_checked": (COUNT, "The nodes that were tested."),
    "queries": (COUNT, "The statements of the search."),
    "privacy": (
        list_of(_FINDING),
        "Results of checking the released tables, by the number of rows that the attacker has.",
    ),
    "sensitive": (list_of(_VALUE_FINDING), "What the check found about sensitive columns with models."),
    "verified": (FLAG, "Whether the released tables satisfied it."),
    "same_keys_in_every_release": (FLAG, "Whether a secret makes keys the same in every release."),
    "warnings": (NAMES, "Warnings about columns and tables."),
    "seconds": (NUMBER, "Seconds in all."),
}
_WAITING_ROWS = closed(
    {
        "people": (COUNT, "People of whom a row waits."),
        "to_appear": (COUNT, "Rows of the source that are not released yet."),
        "to_leave": (COUNT, "Rows that are still released, although the source does not have them any more."),
        "to_change": (COUNT, "Rows that are released as they were in the last release."),
    }
)
_RUN_MANIFEST: Keys = {
    **DATABASE,
    "number": (COUNT, "The number of the release, from 1."),
    "node_kept": (FLAG, "Whether the node is that of the last release, so that no other one was tested."),
    "waiting": (
        closed(
            {
                "people": (COUNT, "People of whom any change waits."),
                "changed_rows": (COUNT, "Rows that differ from the last release, whether they wait or not."),
                "tables": (by_name(_WAITING_ROWS), "The rows that wait, by table."),
            }
        ),
        "The changes that wait, because they would single people out together with an earlier release.",
    ),
    "compared": (
        list_of(
            closed(
                {
                    "release": (COUNT, "The number of the earlier release; of equal ones, the first."),
                    "fewest_people": (or_null(COUNT), "The fewest people who share what the two releases show."),
                    "fewest_values": (
                        by_name(COUNT),
                        "The fewest values of each sensitive column that the two releases leave possible.",
                    ),
                }
            )
        ),
        "The earlier releases that it was compared with.",
    ),
}
DATABASE_RUN: Keys = {
    "status": ({"enum": ["released", "unchanged", "would release"]}, "What happened."),
    "number": (COUNT, "The number of the newest release."),
    "why": (NAMES, "The reasons for a release."),
    "manifest": (or_null(closed(_RUN_MANIFEST)), "The manifest of a new release; null without one."),
}
DATABASE_CHECK: Keys = {
    "people": (COUNT, "People of the release."),
    "findings": (list_of(_FINDING), "By the number of rows that the attacker has."),
    "sensitive": (list_of(_VALUE_FINDING), "The models of sensitive columns."),
    "broken_keys": (NAMES, "Errors in the keys, in sentences."),
    "satisfied": (FLAG, "Whether the tables satisfy the spec, and their keys fit together."),
}

_KEY = closed(
    {
        "column": (TEXT, "The column."),
        "refers_to": (TEXT, "The table that it refers to; `own` if it identifies the rows of this table."),
        "reason": (TEXT, "Why."),
    }
)
_SUGGESTED_TABLE = closed(
    {
        "source": (TEXT, "Its name in the database."),
        "rows": (COUNT, "Its rows."),
        "keys": (list_of(_KEY), "The columns that link it to other tables."),
        "columns": (list_of(SUGGESTED), "The other columns with their roles."),
    }
)
INIT_DATABASE: Keys = {
    "database": (or_null(TEXT), "The database; null for a connection, and for an address with a password."),
    "unit": (TEXT, "The table of the people."),
    "key": (TEXT, "Its key."),
    "reason": (TEXT, "Why it is the table of the people."),
    "k": (COUNT, "The suggested k."),
    "m": _M,
    "suppression_limit": ({"anyOf": [NUMBER, TEXT]}, "The suggested limit: a share of the people, or `N rows`."),
    "into": (TEXT, "The schema of the release."),
    "tables": (by_name(_SUGGESTED_TABLE), "The tables of the release by name, the one of the people first."),
    "left_out": (by_name(TEXT), "The other tables, with the reasons."),
    "notes": (NAMES, "Hints for readers of the spec."),
}

_EXPOSED: Keys = {
    "known_rows": _COMBINED,
    "people": (COUNT, "The people."),
    "singled_out": (COUNT, "Those whom the right rows single out."),
    "below_k": (COUNT, "The people who share a combination with fewer than k people."),
    "highest_risk": (or_null(SHARE), "1 / the fewest people who share a combination; null without people."),
    "mean_risk": (or_null(SHARE), "The mean of the people's highest risks; null without people."),
}
DATABASE_RISK: Keys = {
    "k": (COUNT, "The spec's k."),
    "exposed": (list_of(closed(_EXPOSED)), "By the number of rows that the attacker has."),
}
_MATCHED = closed(
    {
        "known_rows": (COUNT, f"{_BACKGROUND}."),
        "attacked": (COUNT, "People drawn from the source who have so many rows."),
        "matched": (COUNT, "Those whom at least one released person matches."),
        "one_candidate": (COUNT, "Those with one person who matches."),
        "fewest_candidates": (or_null(COUNT), "The fewest people who match; null if no one ever does."),
        "expected_right": (SHARE, "The share of guesses to be right, if the person is among those who match."),
        "chance": (SHARE, "The same without knowing any row."),
    }
)
_GUESSED = closed(
    {
        "column": (TEXT, "The sensitive column, with its table."),
        "known_rows": (COUNT, f"{_BACKGROUND}."),
        "attacked": (COUNT, "People whose value was guessed: the most frequent of those who match."),
        "right": (COUNT, "Right guesses."),
        "interval": ({**list_of(SHARE), "minItems": 2, "maxItems": 2}, "The 95 % interval of their share."),
        "blind": (COUNT, "Right guesses without knowing any row: the most frequent value of the release."),
    }
)
_LEVEL = closed({"level": (COUNT, "The level of the released labels."), "height": (COUNT, "The top level.")})
_SEEN = closed(
    {
        "rows": (COUNT, "Rows of the source."),
        "released_rows": (COUNT, "Rows of the release."),
        "levels": (by_name(_LEVEL), "The levels of the quasi-identifiers, found by their labels."),
    }
)
DATABASE_ATTACK: Keys = {
    "k": (COUNT, "The spec's k."),
    "exposed": (
        list_of(
            closed({**_EXPOSED, "promised": (FLAG, "Whether the spec protects against an attacker with so many rows.")})
        ),
        "The released tables, joined again by their keys.",
    ),
    "people": (list_of(_MATCHED), "Guesses of who people drawn from the source are."),
    "values": (list_of(_GUESSED), "Guesses of sensitive values."),
    "tables": (by_name(_SEEN), "What the attacker sees of the tables."),
}
_REPORTED = closed(
    {
        "unit": (TEXT, "The main table, which has one row per person."),
        "k": (COUNT, "The number of people that must share a combination."),
        "m": _M,
        "roles": (by_name(by_name(NAMES)), "The columns of every table, by role."),
        "target": (TEXT, "The schema or folder of the release."),
        "recipient": (or_null({"enum": ["public", "contract", "secure"]}), "Who receives the tables."),
        "purpose": (or_null(TEXT), "What they are for."),
        "retention": (or_null(TEXT), "How long the recipient may keep them."),
        "review_date": (or_null(TEXT), "When the decision is reviewed."),
        "conditions": (NAMES, "What no figure covers, so that people have to decide it."),
    }
)
DATABASE_REPORT: Keys = {
    "spec": (_REPORTED, "The parts of the spec that the report shows."),
    "verification": (closed(DATABASE_CHECK), "The check of the released tables."),
    "risk": (closed(DATABASE_RISK), "The risk of the source's tables."),
    "attack": (closed(DATABASE_ATTACK), "The attacks on the released tables."),
    "attempts": (COUNT, "How many people were to be drawn from the source."),
}
