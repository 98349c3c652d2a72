"""The form of a manifest: every key with its type and meaning, as a JSON Schema.

A manifest of `anonymize` has the keys `COMMON` and `GENERALIZED`; one of `cloak` has `COMMON` and `CLOAKED`; one of
`anatomize` has `COMMON` and `EXACT_ANATOMY`. It has keys of `CONDITIONAL` if the release has what they describe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MANIFEST_VERSION = 1  # raised when a key is removed or changes its meaning; new keys do not raise it

Keys = Mapping[str, tuple[dict[str, Any], str]]

_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_NUMBER: dict[str, Any] = {"type": "number"}
_SHARE: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}
_TEXT: dict[str, Any] = {"type": "string"}
_FLAG: dict[str, Any] = {"type": "boolean"}
_NAMES: dict[str, Any] = {"type": "array", "items": _TEXT}


def _or_null(kind: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [kind, {"type": "null"}]}


def _by_name(kind: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": kind}


_FINDING: dict[str, Any] = {
    "type": "object",
    "properties": {"model": _TEXT, "required": {}, "achieved": {}},
    "required": ["model", "required", "achieved"],
}
COMMON: Keys = {
    "manifest_version": ({"const": MANIFEST_VERSION}, "The version of this form."),
    "version": (_TEXT, "The version of kanon_sql."),
    "rows": (_COUNT, "Rows of the source."),
    "released_rows": (_COUNT, "Rows of the release."),
    "verified": (_FLAG, "A separate query checked the release before it became visible."),
    "privacy": (
        {"type": "array", "items": _FINDING, "minItems": 1},
        "The finding of every privacy model: `required`, as configured, and `achieved`, as counted in the release.",
    ),
    "roles": (
        {"type": "object", "properties": {"dropped": _NAMES, "kept": _NAMES}},
        "The columns by their use: `quasi_identifiers`, `sensitive`, `kept`, `dropped`, `identifiers_dropped`, and "
        "for places `location`, `time` and `unit`.",
    ),
    "source": (_TEXT, "The source's name, or `in memory`."),
    "target": ({"type": "object"}, "Where the release is: `file` or `table`, and `as`, its form."),
    "engine": (_TEXT, "The database: duckdb, postgresql or spark."),
    "seconds": (
        _by_name(_NUMBER),
        "The duration of each phase; they add up to `total`. `read`: open the source, check the spec, load hierarchies."
        " `frequency_set`: count the distinct tuples. `search`. `classes`: form the classes of a local recoding and "
        "their labels. `loss`: measure the information loss. `ways_out`. `release`: write. `verify`. `describe`: "
        "compose the manifest. `cloak`: find the boxes of places.",
    ),
    "warnings": (_NAMES, "Warnings for readers of the release."),
}
GENERALIZED: Keys = {
    "suppressed_rows": (_COUNT, "Rows of the source that were suppressed."),
    "masked_rows": (_COUNT, "Of the suppressed rows, those released with `*` in every quasi-identifier (`mask`)."),
    "suppression_limit": ({"anyOf": [_SHARE, _TEXT]}, "The configured limit: a share of the rows, or `N rows`."),
    "distinct_tuples": (_COUNT, "Distinct combinations of quasi-identifiers in the source."),
    "classes": (_COUNT, "Equivalence classes of the release."),
    "smallest_class": (_or_null(_COUNT), "Rows of the smallest class, also with `unit`; null without a class."),
    "average_class": (_or_null(_NUMBER), "Mean rows of a class."),
    "heights": (_by_name(_COUNT), "The top level of each quasi-identifier."),
    "weights": (_by_name(_NUMBER), "The weights of the quasi-identifiers; empty if all are equal."),
    "metric": (_TEXT, "The loss measure that was minimized."),
    "score": (_or_null(_NUMBER), "The loss by that measure. Lower is better."),
    "information_loss": (_by_name(_or_null(_NUMBER)), "The loss by every measure. Lower is better for all of them."),
    "loss_per_attribute": (_by_name(_or_null(_NUMBER)), "The mean loss of a cell, from 0 to 1. Lower is better."),
    "precision_per_attribute": (
        _by_name(_or_null(_NUMBER)),
        "The mean level over the height (1 minus Sweeney's precision), from 0 to 1. Lower is better.",
    ),
    "distortion_per_attribute": (_by_name(_or_null(_NUMBER)), "The weighted hierarchical distance. Lower is better."),
    "modification_per_attribute": (_by_name(_SHARE), "The share of the cells that were changed. Lower is better."),
    "damage": (
        {"type": "array", "items": {"type": "object"}},
        "One entry per quasi-identifier: its cells unchanged, generalized and suppressed, its level and loss. "
        "`entropy_kept` is what is left: higher is better.",
    ),
    "node": (_or_null(_by_name(_COUNT)), "The level of each quasi-identifier; null for local recodings."),
    "shown": (_or_null(_by_name(_TEXT)), "What classes of a local recoding show; null for searches."),
    "lattice_size": (_or_null(_COUNT), "Nodes of the lattice."),
    "nodes_checked": (_or_null(_COUNT), "Nodes that a query of the database tested."),
    "queries": (_or_null(_COUNT), "Queries of the search."),
    "lower_bound": (_or_null(_NUMBER), "A proven lower bound of the score of any node."),
    "gap": (_or_null(_NUMBER), "The score minus the lower bound: how much less another node could lose."),
    "proven_optimal": (_FLAG, "Whether no other node loses less."),
    "search_ended": (_or_null(_TEXT), "`complete`, or what ended it: `time limit`, `patience` or `interrupted`."),
    "found_by": (_or_null(_TEXT), "What found the node: the strategy, or its last resort."),
    "pruned_by": (_or_null(_TEXT), "Which bound ruled nodes out, if the privacy models are not monotone."),
    "chosen_by_values": (_or_null(_FLAG), "Whether only sensitive values ruled out a less general node."),
    "recoding": (_or_null({"type": "object"}), "Facts about a local recoding; null for searches."),
    "nothing_left": (_or_null(_TEXT), "Why the release contains no information, if it contains none."),
    "at_top": (_NAMES, "Quasi-identifiers at their top level."),
    "classification": (
        _by_name(_SHARE),
        "By sensitive column: the share of rows whose value is not the most frequent one of their class.",
    ),
    "strategy": (_TEXT, "The strategy, or `kept` for the node of an earlier release."),
    "seed": ({"type": "integer"}, "The seed of random choices."),
    "columns": (_by_name(_TEXT), "The source's columns and types."),
    "hierarchies": (_by_name(_TEXT), "The SHA-256 of each hierarchy."),
    "hierarchy_rows": (_by_name(_COUNT), "Rows of each hierarchy that was read from a file or table."),
    "node_kept": (_or_null(_FLAG), "Whether the node of an earlier release was kept; null if it was not to be."),
    "sql": ({"type": "object"}, "The statements that counted the source and wrote the release."),
}
CLOAKED: Keys = {
    "units": (_COUNT, "People or devices with a place and a time in the source."),
    "suppressed_rows": (_COUNT, "Rows that were suppressed."),
    "unplaced_rows": (_COUNT, "Rows without a place, a time or a unit."),
    "success_rate": (_SHARE, "The share of the rows that are released."),
    "classes": (_COUNT, "Boxes with their intervals."),
    "smallest_class": (_COUNT, "Units of the smallest."),
    "average_class": (_NUMBER, "Mean rows of a box and interval."),
    "cloak": ({"type": "object"}, "The method and its parameters."),
    "figures": (_by_name(_or_null(_NUMBER)), "Sizes and resolutions of boxes and intervals."),
    "strategy": ({"const": "cloak"}, "Always `cloak`."),
    "seed": ({"type": "integer"}, "The seed of random choices."),
    "sql": ({"type": "object"}, "The statements that wrote the release."),
}
EXACT_ANATOMY: Keys = {
    "release": (_TEXT, "What kind of release it is."),
    "k_anonymous": ({"const": False}, "An anatomy of exact rows is not k-anonymous."),
    "groups": (_COUNT, "Groups of rows."),
    "smallest_group": (_COUNT, "Rows of the smallest."),
    "reproducible": (_FLAG, "Whether a secret makes the groups repeatable."),
    "anatomy": ({"type": "object"}, "The table of sensitive values that belongs to it."),
    "sql": ({"type": "object"}, "The statements that wrote the release."),
}
CONDITIONAL: Keys = {
    "unit": (_TEXT, "The column that tells people apart, if models count people."),
    "people": (_COUNT, "People of the source, with `unit`."),
    "released_people": (_COUNT, "People with at least one row in the release, with `unit`."),
    "suppressed_people": (_COUNT, "People without a row in the release, with `unit`."),
    "risk_of_people": ({"type": "object"}, "The prosecutor risk of people, each by their smallest class, with `unit`."),
    "population": ({"type": "object"}, "The population that models compared with, and its rows or people."),
    "time_zone": (_TEXT, "The time zone of labels of timestamps."),
    "not_atomic": (_TEXT, "What readers might see on an engine without transactions."),
    "perturbation": ({"type": "object"}, "Perturbed columns, and whether a secret makes them repeatable."),
    "minimality": ({"type": "object"}, "What `minimality: mask` redrew."),
    "anatomy": ({"type": "object"}, "The table of sensitive values, if the release is an anatomy."),
    "differencing": ({"type": "object"}, "People identifiable by comparing the release with earlier ones."),
    "deferred": ({"type": "object"}, "Changes since the last release that wait for more changes in their classes."),
    "incremental": (_FLAG, "Whether rows that no class fits yet are held back."),
    "waiting": (_or_null(_TEXT), "The table of held back rows."),
    "waiting_rows": (_COUNT, "Rows in that table."),
    "regions": ({"type": "object"}, "The private file of regions that was written."),
    "node_not_kept_for": (_TEXT, "Why the node of an earlier release was not kept."),
    "nodes_resumed": (_COUNT, "Nodes that a resumed search knew from its trace."),
    "ways_out": ({"type": "array", "items": {"type": "object"}}, "Alternatives for columns at their top level."),
    "run": ({"type": "object"}, "Facts of `kanon run`: reasons, fingerprints and history."),
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
            "required": [*keys],
            "propertyNames": {"enum": sorted({*COMMON, *keys, *CONDITIONAL})},
        }
        for verb, keys in FORMS.items()
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A manifest of kanon_sql",
        "type": "object",
        "properties": {
            name: {**(kind if name in COMMON or name in CONDITIONAL else {}), "description": meaning}
            for name, (kind, meaning) in sorted(meanings.items())
        },
        "required": [*COMMON],
        "anyOf": forms,
    }
