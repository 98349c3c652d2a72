"""Given and expected rows of the queries of `sql/attack` that compare two tables, or places."""

from typing import Any

from kanon_sql.queries import Relation
from sql_cases.case import Case, Rows, relation

_TEXTS = dict.fromkeys(["c0", "c1", "value", "text", "owner", "way", "label", "digest"], "VARCHAR")
_REALS = dict.fromkeys(["x", "y", "t", "x_min", "x_max", "y_min", "y_max", "since", "until", "weight"], "FLOAT8")


def _case(name: str, gives: str, expected: Rows, given: dict[str, tuple[str, Rows]], **holes: Any) -> Case:
    """A case whose relations are given as columns and rows, by the holes that they fill."""
    relations: dict[str, Any] = {}
    for hole, (columns, content) in given.items():
        relations |= relation(f"given_{hole}", columns, *content, **_TEXTS, **_REALS)
    filled = {hole: Relation(f"given_{hole}") for hole in given}
    return Case(name, {**filled, **holes}, gives.split(), expected, relations)


_ROWS = ("row_id c0 c1 c2", [(1, "b", "x", 7), (2, "a", None, 7), (3, "b", "x", 7), (4, None, "y", 8)])
_NUMBERED = ("row_id class c1 c2", [(1, 2, "x", 7), (2, 1, None, 7), (3, 2, "x", 7), (4, 1, None, 8)])
# Release 8 lacks row 11, and has row 12 twice more and row 13 instead; release 7 lacks row 12.
_NUMBERED_ROWS = ("row_key class c1 n", [(11, 1, "a", 2), (12, 1, "b", 1), (13, 2, "a", 0), (14, 3, None, 4)])
_DIFFERENCES = ("release row_key before after", [(8, 11, 0, 2), (8, 12, 3, 1), (8, 13, 5, 0), (7, 12, 0, 1)])
_CLASSES = ("class n", [(1, 3), (2, 0), (3, 4)])
_CHANGED_CLASSES = ("release class before after", [(8, 1, 3, 3), (8, 2, 5, 0), (7, 1, 2, 3)])
_CLASS_VALUES = ("class value n", [(1, "=a", 2), (1, "=b", 1), (3, "", 4)])
# Targets 1 and 2 of 3 and 1 people in both releases; 3 in the first alone; 4 may be in two classes of the second.
_PAIRS = (
    "release target person first second n",
    [(8, 1, 1, 1, 1, 3), (8, 2, 2, 1, 2, 1), (8, 3, 3, 2, 0, 2), (8, 4, 4, 2, 1, 2), (8, 4, 4, 2, 2, 2)],
)
# Persons 7 and 8 have several rows: 7 is behind two targets.
_OF_PEOPLE = (
    "release target person first second n",
    [(8, 1, 7, 1, 1, 1), (8, 1, 8, 1, 1, 1), (8, 2, 7, 1, 2, 1), (8, 2, 9, 1, 2, 1)],
)
_MEMBERS = "target person n"
_CELLS = ("class release first second", [(1, 8, 1, 1), (2, 8, 1, 2), (3, 8, 2, 0), (4, 8, 2, 1), (5, 8, 2, 2)])
_IN_CELLS = (
    "release target person class n",
    [(8, 1, 1, 1, 3), (8, 2, 2, 2, 1), (8, 3, 3, 3, 2), (8, 4, 4, 4, 2), (8, 4, 4, 5, 2)],
)
_HIDDEN = "release target among"
_MOVES = "release part person came went stayed appeared vanished"
_POSSIBLE = "release target different value"
_VALUES = "class value n"
_VALUES_OF_SIDE = "release class value n"
_LIMITS = ("release k", [(7, 9), (8, 3)])
_GROUPS = ("release node part", [(8, 1, 1), (8, 2, 2), (8, -1, -1), (8, -2, -2)])
_CHANGED = "release part value before after"
_CHANGES = (
    _CHANGED,
    [
        (8, 1, "a", 2, 3),  # one came
        *[(8, 2, "a", 1, 0), (8, 2, "b", 2, 0)],  # three left
        *[(8, 3, "a", 1, 2), (8, 3, "b", 3, 1)],  # one came and two left
        (8, 4, "a", 5, 6),  # one came to a group of its kind
    ],
)

_VERSIONS = [
    _case(
        "attack_versions/known_values",
        "target c1 n",
        [(1, "x", 2), (2, None, 1), (4, "y", 1)],
        {"people": _ROWS},
        columns=["c1"],
    ),
    _case("attack_versions/members", _MEMBERS, [(1, 1, 2), (4, 4, 1)], {"tuples": ("target n", [(1, 2), (4, 1)])}),
    _case(
        "attack_versions/members_of_people",
        _MEMBERS,
        [(1, 7, 1), (1, 8, 1), (4, 7, 1)],
        {"people": ("row_id c0 c2", [(1, "b", 7), (2, "b", 7), (3, "b", 8), (4, None, 7)])},
        columns=["c0"],
        unit=["c2"],
    ),
    _case("attack_versions/cells", _CELLS[0], _CELLS[1], {"pairs": (_PAIRS[0], [*_PAIRS[1], (8, 5, 5, 2, 2, 3)])}),
    _case("attack_versions/in_cells", _IN_CELLS[0], _IN_CELLS[1], {"pairs": _PAIRS, "cells": _CELLS}),
    _case(
        "attack_versions/hidden",
        _HIDDEN,
        [(8, 1, 5), (8, 2, 3), (8, 3, 2), (8, 4, 5)],
        {"fits": _PAIRS},
        **{"class": ["second"]},
    ),
    _case("attack_versions/hidden", _HIDDEN, [(8, 1, 3), (8, 2, 3)], {"fits": _OF_PEOPLE}, **{"class": ["first"]}),
    _case(
        "attack_versions/narrowed",
        "release target",
        [(8, 3)],
        {
            "first": (_HIDDEN, [(8, 1, 9), (8, 2, 2), (8, 3, 3), (7, 3, 8)]),
            "second": (_HIDDEN, [(8, 1, 9), (8, 2, 9), (8, 3, 5), (7, 3, 9)]),
            "both": (_HIDDEN, [(8, 1, 3), (8, 2, 1), (8, 3, 2), (7, 3, 1)]),
            "limits": _LIMITS,
        },
    ),
    _case(
        "attack_versions/company",
        _HIDDEN,
        [(8, 4, 6)],
        {
            "narrowed": ("release target", [(8, 4)]),
            "fits": (_IN_CELLS[0], [*_IN_CELLS[1], (8, 5, 5, 4, 4), (8, 5, 5, 5, 4), (7, 4, 4, 9, 2)]),
        },
    ),
    _case(
        "attack_versions/below",
        "release below alone",
        [(8, 4, 1), (7, 3, 0)],
        {
            "candidates": (_HIDDEN, [(8, 1, 2), (8, 2, 1), (8, 3, 3), (8, 4, 2), (7, 1, 8)]),
            "members": (_MEMBERS, [(1, 1, 3), (2, 2, 1), (3, 3, 2), (4, 2, 1)]),
            "limits": _LIMITS,
        },
    ),
    _case(
        "attack_versions/hidden_in_both",
        "release people",
        [(8, 2)],
        {
            "first": (_HIDDEN, [(8, 1, 3), (8, 2, 2), (8, 3, 3), (8, 4, 9), (7, 1, 8)]),
            "second": (_HIDDEN, [(8, 1, 5), (8, 2, 9), (8, 3, 2), (8, 4, 9), (7, 1, 9)]),
            "members": (_MEMBERS, [(1, 7, 1), (1, 8, 1), (2, 9, 1), (3, 9, 1), (4, 7, 1)]),
            "limits": _LIMITS,
        },
    ),
    _case(
        "attack_versions/value_codes",
        "value text code",
        [("a", "a", 0), ("b", "b", 1), (None, None, 2)],
        {"people": _ROWS},
        value=["c0"],
    ),
    _case(
        "attack_versions/values_by_code",
        "value text",
        [("a", "a"), (None, None)],
        {"codes": ("value text code", [("a", "a", 0), (None, None, 1)])},
    ),
    _case(
        "attack_versions/own_values",
        "target person value n",
        [(1, 1, "['=7']", 2), (2, 2, "['=7']", 1), (4, 4, "['=8']", 1)],
        {"people": _ROWS},
        columns=["c0"],
        values=["c2"],
    ),
    _case(
        "attack_versions/own_values_of_people",
        "target person value n",
        [(1, "x", "['=7']", 1), (2, None, "['=7']", 1), (4, "y", "['=8']", 1)],
        {"people": _ROWS},
        columns=["c0"],
        values=["c2"],
        unit=["c1"],
    ),
    _case(
        "attack_versions/unknown_values",
        "target person value n",
        [(1, 1, None, 3), (2, 2, None, 1)],
        {"members": (_MEMBERS, [(1, 1, 3), (2, 2, 1)])},
    ),
    _case(
        "attack_versions/composed",
        "release people revealed",
        [(8, 9, 4)],
        {
            "own": (
                "target person value n",
                [(1, 1, "a", 3), (1, 2, "b", 1), (2, 3, "a", 5), (3, 4, "c", 7), (4, 5, "c", 1), (1, 2, "a", 1)],
            ),
            "first": (_POSSIBLE, [(8, 1, 2, "a"), (8, 2, 3, "a"), (8, 3, 1, "c"), (8, 4, 2, "a")]),
            "second": (_POSSIBLE, [(8, 1, 2, "a"), (8, 2, 2, "a"), (8, 3, 2, "c"), (8, 4, 2, "a"), (7, 1, 2, "a")]),
            "both": (_POSSIBLE, [(8, 1, 1, "a"), (8, 2, 2, "a"), (8, 3, 1, "c"), (7, 1, 1, "a")]),
        },
    ),
    _case(
        "attack_versions/composed",
        "release people revealed",
        [(8, 3, 3)],
        {
            "own": ("target person value n", [(1, 1, None, 3)]),
            **{hole: (_POSSIBLE, [(8, 1, number, "a")]) for hole, number in (("first", 2), ("second", 2), ("both", 1))},
        },
    ),
    _case(
        "attack_versions/shared_bounds",
        "first second least most different",
        [(1, 1, 3, 3, 2), (1, 2, 1, 1, 1), (2, 1, 1, 1, 1)],
        {
            "overlaps": ("target class", [(1, 1), (1, 2), (2, 1)]),
            "first": (_VALUES, [(1, "a", 2), (1, "b", 2), (2, "b", 1)]),
            "second": (_VALUES, [(1, "a", 1), (1, "b", 3), (2, "a", 1), (2, "c", 1)]),
        },
    ),
    _case(
        "attack_versions/bounded_composed",
        "least most",
        [(2, 3)],
        {
            "bounds": (
                "first second least most different",
                [(1, 1, 2, 3, 1), (1, 2, 1, 1, 1), (2, 1, 0, 1, 1), (3, 1, 5, 5, 2)],
            ),
            "first": (_VALUES, [(1, "a", 2), (1, "b", 2), (2, "b", 1), (3, "a", 3), (3, "b", 3)]),
            "second": (_VALUES, [(1, "a", 1), (1, "c", 2), (2, "a", 1)]),
        },
    ),
    _case(
        "attack_versions/joined_groups",
        "release node part",
        [(8, 1, -2), (8, 2, 2), (8, -1, -1), (8, -2, -2), (7, 3, 3)],
        {
            "groups": (_GROUPS[0], [*_GROUPS[1], (7, 3, 3)]),
            "links": ("release node other", [(8, 1, -2), (8, -2, 1), (7, 3, -2)]),
        },
    ),
    _case(
        "attack_versions/followed_groups",
        "release node part",
        [(8, 1, -3), (8, -2, -3), (8, -3, -3)],
        {"groups": ("release node part", [(8, 1, -2), (8, -2, -3), (8, -3, -3)])},
    ),
    _case("attack_versions/groups_sum", "total", [(0,)], {"groups": _GROUPS}),
    _case(
        "attack_versions/row_counts",
        "row_key n",
        [(5, 2), (6, 1)],
        {"keyed": ("place row_key c0", [(0, 5, "a"), (0, 5, "a"), (0, 6, None)])},
    ),
    _case(
        "attack_versions/bucket_sums",
        "place bucket total",
        [(0, 1, 12), (0, 0, 6), (1, 1, 5)],
        {"keyed": ("place row_key c0", [(0, 5, "a"), (0, 7, "b"), (0, 6, None), (1, 5, "a")])},
        buckets=2,
    ),
    _case(
        "attack_versions/differing_buckets",
        "release bucket",
        [(0, 1), (1, 2), (1, 3)],
        {
            "sums": (
                "place bucket total",
                [(0, 1, 12), (0, 0, 6), (1, 1, 5), (1, 0, 6), (1, 2, 4), (0, 2, 4), (2, 1, 5), (2, 0, 6), (2, 3, 8)],
            )
        },
        releases=2,
    ),
    _case(
        "attack_versions/differing_bucket_counts",
        "release n",
        [(0, 1), (1, 2)],
        {"differing": ("release bucket", [(0, 1), (1, 2), (1, 3)])},
    ),
    _case(
        "attack_versions/steps",
        "release row_key more",
        [(0, 5, 1), (0, 7, -1), (1, 4, 1)],
        {
            "keyed": (
                "place row_key",
                [(0, 5), (0, 7), (0, 9), (0, 6), (1, 5), (1, 5), (1, 9), (1, 8), (2, 5), (2, 8), (2, 4)],
            ),
            "differing": ("release bucket", [(0, 1), (1, 0)]),
        },
        buckets=2,
    ),
    _case(
        "attack_versions/differences",
        "release row_key before after",
        [(0, 5, 3, 2), (0, 7, 0, 1), (1, 9, 1, 0), (1, 5, 3, 2)],
        {
            "releases": ("release", [(0,), (1,)]),
            "steps": ("release row_key more", [(0, 5, 1), (0, 7, -1), (1, 7, 1), (1, 9, 1)]),
            "counted": ("row_key n", [(5, 2), (7, 1), (8, 1)]),
        },
    ),
    _case(
        "attack_versions/older_rows",
        "row_key c0",
        [(7, "b")],
        {
            "keyed": ("row_key c0", [(5, "a"), (7, "b"), (7, "b"), (10, "d")]),
            "differences": ("release row_key before after", [(8, 7, 2, 0), (8, 5, 1, 2), (7, 7, 1, 0)]),
        },
        columns=["c0"],
    ),
    _case(
        "attack_versions/all_rows",
        "row_key c0 n",
        [(5, "a", 1), (5, "a", 1), (7, "b", 0)],
        {"keyed": ("row_key c0", [(5, "a"), (5, "a")]), "older": ("row_key c0", [(7, "b")])},
        columns=["c0"],
    ),
    _case(
        "attack_versions/numbered_rows",
        "row_key class c1 n",
        [(5, 1, "a", 2), (7, 2, None, 0)],
        {"classed": ("row_key class c1 n", [(5, 1, "a", 1), (5, 1, "a", 1), (7, 2, None, 0)])},
        columns=["c1"],
    ),
    _case(
        "attack_versions/classes",
        "class c0 n",
        [(1, "b", 4), (2, None, 0)],
        {"listed": ("row_key c0 c2 n", [(1, "b", 5, 1), (2, None, 5, 0), (3, "b", 6, 3)])},
        labels=["c0"],
    ),
    _case(
        "attack_versions/changed_classes",
        _CHANGED_CLASSES[0],
        _CHANGED_CLASSES[1],
        {"differences": _DIFFERENCES, "numbered": _NUMBERED_ROWS, "classes": _CLASSES},
    ),
    _case("attack_versions/class_values", _VALUES, _CLASS_VALUES[1], {"numbered": _NUMBERED_ROWS}, value=["c1"]),
    _case(
        "attack_versions/changed_values",
        "release class different gained lost",
        [(8, 1, 2, 1, 0), (8, 2, 0, 0, 1), (7, 1, 2, 1, 0)],
        {"differences": _DIFFERENCES, "numbered": _NUMBERED_ROWS, "values": _CLASS_VALUES},
        value=["c1"],
    ),
    _case("attack_versions/smallest_class", "size", [(1,)], {"copy": _ROWS}, labels=["c0"]),
    _case("attack_versions/smallest_class_of_people", "size", [(1,)], {"copy": _ROWS}, labels=["c1"], unit=["c2"]),
    _case("attack_versions/smallest_changed_classes", "release size", [(8, 3), (7, 2)], {"changed": _CHANGED_CLASSES}),
    _case(
        "attack_versions/smallest_changed_classes_of_people",
        "release size",
        [(8, 2), (7, 1)],
        {"values": ("release class different gained lost", [(8, 1, 3, 1, 0), (8, 2, 2, 2, 0), (7, 1, 0, 0, 1)])},
    ),
    _case("attack_versions/classes_of_one", "release class", [(8, 2)], {"changed": _CHANGED_CLASSES}),
    _case(
        "attack_versions/classes_of_few_values",
        "release class",
        [(8, 1), (8, 3)],
        {
            "values": (
                "release class different gained lost",
                [(8, 1, 2, 1, 0), (8, 2, 1, 0, 0), (8, 3, 1, 0, 1), (8, 4, 2, 0, 1)],
            )
        },
    ),
    _case(
        "attack_versions/near_targets",
        "release target",
        [(8, 1), (7, 2)],
        {"suspects": ("release class", [(8, 1), (8, 2), (7, 3)]), "fits": ("target class", [(1, 1), (1, 2), (2, 3)])},
    ),
    _case(
        "attack_versions/near_classes",
        "release class",
        [(8, 1), (8, 2)],
        {"targets": ("release target", [(8, 1), (8, 2)]), "fits": ("target class", [(1, 1), (1, 2), (2, 2), (3, 3)])},
    ),
    _case(
        "attack_versions/all_classes",
        "release class",
        [(7, 1), (7, 2), (8, 1), (8, 2)],
        {"classes": ("class n", [(1, 3), (2, 0)]), "limits": _LIMITS},
    ),
    *(
        _case(
            "attack_versions/fits_of_side",
            "release target class",
            expected,
            {
                "near": ("release class", [(8, 1), (8, 2), (7, 2), (7, 3)]),
                "fits": ("target class", [(5, 1), (5, 2), (6, 3)]),
                "classes": _CLASSES,
                "changed": ("release class before after", [(8, 2, 5, 0), (7, 3, 0, 4)]),
            },
            side=[side],
        )
        for side, expected in (("before", [(8, 5, 1), (8, 5, 2)]), ("after", [(8, 5, 1), (7, 6, 3)]))
    ),
    _case(
        "attack_versions/in_both",
        "release target person first second n",
        [(8, 1, 1, 1, 1, 3), (8, 3, 3, 2, 0, 2), (8, 4, 7, 2, 1, 1), (8, 4, 7, 2, 2, 1), (7, 6, 3, 0, 1, 5)],
        {
            "members": (_MEMBERS, [(1, 1, 3), (3, 3, 2), (4, 7, 1), (5, 5, 9), (6, 3, 5)]),
            "first": ("release target class", [(8, 1, 1), (8, 3, 2), (8, 4, 2)]),
            "second": ("release target class", [(8, 1, 1), (8, 4, 1), (8, 4, 2), (7, 6, 1)]),
        },
    ),
    _case(
        "attack_versions/values",
        "release class value before after",
        [
            (8, 1, "['=a']", 0, 2),
            (8, 1, "['=b']", 3, 1),
            (8, 3, "['']", 4, 4),
            (7, 1, "['=a']", 2, 2),
            (7, 1, "['=b']", 0, 1),
        ],
        {
            "near": ("release class", [(8, 1), (8, 3), (7, 1)]),
            "numbered": _NUMBERED_ROWS,
            "differences": _DIFFERENCES,
        },
        values=["c1"],
    ),
    _case(
        "attack_versions/values_of_side",
        "release class value n",
        [(8, 1, "b", 3)],
        {"values": ("release class value before after", [(8, 1, "a", 0, 2), (8, 1, "b", 3, 1)])},
        side=["before"],
    ),
    _case(
        "attack_versions/common_values",
        "release class value",
        [(8, 1, "a"), (8, 1, "b"), (8, 2, "b")],
        {
            "cells": _CELLS,
            "first": (_VALUES_OF_SIDE, [(8, 1, "a", 2), (8, 1, "b", 1), (7, 2, "b", 1)]),
            "second": (
                _VALUES_OF_SIDE,
                [(8, 1, "a", 9), (8, 1, "b", 1), (8, 2, "b", 1), (8, 2, "c", 1), (7, 1, "b", 1)],
            ),
        },
    ),
    _case(
        "attack_versions/possible_values",
        _POSSIBLE,
        [(8, 1, 2, "a"), (8, 2, 2, "b"), (8, 4, 3, "a")],
        {
            "fits": _PAIRS,
            "values": (
                _VALUES_OF_SIDE,
                [(8, 1, "a", 2), (8, 1, "b", 1), (8, 2, "b", 3), (8, 2, "c", 1), (7, 1, "z", 1)],
            ),
        },
        **{"class": ["second"]},
    ),
    _case(
        "attack_versions/earlier_classes",
        "target c0",
        [(1, "a"), (2, None), (3, "c")],
        {
            "classes": ("class c0 n", [(1, "a", 3), (2, None, 0), (3, "c", 4), (4, "d", 4)]),
            "changed": ("release class before after", [(8, 2, 5, 0), (8, 3, 0, 4), (7, 4, 0, 4), (8, 4, 0, 4)]),
        },
        labels=["c0"],
        releases=2,
    ),
    _case(
        "attack_versions/new_classes",
        "class c0 n",
        [(1, "a", 3)],
        {"classes": ("class c0 n", [(1, "a", 3), (2, None, 0)])},
        labels=["c0"],
    ),
    _case(
        "attack_versions/bounded_below",
        "least most alone",
        [(3, 7, 1)],
        {
            "bounds": (
                "first second least most different",
                [(1, 1, 2, 3, 2), (1, 2, 1, 1, 1), (2, 1, 0, 1, 1), (1, 3, 3, 9, 1)],
            ),
            "first": (_VALUES, [(1, "a", 1), (1, "b", 3), (2, "a", 3)]),
            "second": (_VALUES, [(1, "a", 4), (2, "a", 2), (2, "b", 2), (3, "a", 9)]),
        },
        k=4,
    ),
    _case(
        "attack_versions/crossings",
        "release node other",
        [(8, 2, 3), (7, 1, 3)],
        {
            "overlaps": ("target class", [(1, 1), (1, 3), (2, 3)]),
            "classes": _CLASSES,
            "changed": ("release class before after", [(8, 1, 0, 3), (8, 2, 5, 0)]),
            "limits": _LIMITS,
        },
    ),
    _case(
        "attack_versions/links",
        "release node other",
        [(8, 1, 2), (8, 2, 1)],
        {"crossings": ("release node other", [(8, 1, 2)])},
    ),
    _case(
        "attack_versions/own_groups",
        "release node part",
        [(8, 1, 1), (8, 2, 2)],
        {"links": ("release node other", [(8, 1, 2), (8, 1, 3), (8, 2, 1)])},
    ),
    _case(
        "attack_versions/changed_parts",
        "release class part",
        [(8, 1, 1), (8, 2, 1), (8, 5, 5), (7, 1, 1)],
        {
            "groups": ("release node part", [(8, 1, 1), (8, 2, 1), (8, 3, 3), (8, 4, 3)]),
            "changed": ("release class before after", [(8, 2, 1, 1), (8, 5, 1, 2), (7, 1, 0, 1)]),
        },
    ),
    _case(
        "attack_versions/changes",
        "release part c1 before after",
        [(8, 1, "a", 5, 2), (8, 1, "b", 3, 1), (7, 1, "b", 0, 1)],
        {
            "differences": (_DIFFERENCES[0], [*_DIFFERENCES[1], (8, 14, 2, 4), (8, 15, 2, 0)]),
            "numbered": (_NUMBERED_ROWS[0], [*_NUMBERED_ROWS[1], (15, 4, None, 0)]),
            "parts": ("release class part", [(8, 1, 1), (8, 2, 1), (8, 3, 3), (8, 4, 3), (7, 1, 1)]),
        },
        values=["c1"],
    ),
    _case(
        "attack_versions/people_of_parts",
        "release part owner n",
        [(8, 1, "=7", 3), (8, 1, "=8", 1), (7, 2, "=7", 1)],
        {
            "parts": ("release class part", [(8, 1, 1), (8, 2, 1), (7, 2, 2)]),
            "values": ("class value n", [(1, "=7", 2), (1, "=8", 1), (2, "=7", 1)]),
        },
    ),
    _case(
        "attack_versions/exposed",
        "release appeared vanished exposed alone stayed",
        [(8, 3, 5, 5, 3, 0)],
        {
            "changes": _CHANGES,
            "parts": ("release class part", [(8, number, number) for number in range(1, 5)]),
            "classes": ("class n", [(1, 7), (2, 3), (3, 4), (4, 6)]),
            "limits": _LIMITS,
        },
    ),
    _case(
        "attack_versions/exposed",
        "release appeared vanished exposed alone stayed",
        [(8, 7, 5, 0, 0, 2)],
        {
            "changes": (_CHANGED, [(8, 1, "a", 0, 7), (8, 1, "b", 5, 0)]),
            "parts": ("release class part", [(8, 1, 1), (8, 2, 1), (7, 1, 1)]),
            "classes": ("class n", [(1, 8), (2, 1)]),
            "limits": _LIMITS,
        },
    ),
    _case(
        "attack_versions/certain_parts",
        "release part moved",
        [(8, 1, 1), (8, 5, -2)],
        {
            "changes": (_CHANGED, [*_CHANGES[1], (8, 5, None, 2, 0)]),
            "parts": ("release class part", [(8, number, number) for number in range(1, 6)]),
            "values": (
                "class value n",
                [(1, "=a", 3), (1, "=b", 4), (3, "=a", 2), (3, "=b", 1), (3, "=c", 1), (4, "=a", 6), (5, "=a", 1)],
            ),
        },
        value=["value"],
    ),
    _case(
        "attack_versions/certain",
        "release certain",
        [(8, 3)],
        {"certain": ("release part moved", [(8, 1, 1), (8, 5, -2)])},
    ),
    _case(
        "attack_versions/certain_people",
        "release certain",
        [(8, 2)],
        {
            "certain": ("release part moved", [(8, 1, 1), (8, 5, -2)]),
            "moves": (
                _MOVES,
                [
                    (8, 1, 7, 1, 1, 1, 1, 0),
                    (8, 1, 8, 0, 1, 2, 1, 0),
                    (8, 2, 7, 0, 3, 0, 0, 3),
                    (8, 5, 7, 0, 2, 0, 0, 2),
                ],
            ),
        },
    ),
    _case(
        "attack_versions/moves_of_people",
        _MOVES,
        [(8, 1, "=7", 5, 0, 4, 6, 1), (8, 1, "=8", 1, 0, 0, 6, 1), (8, 1, "=9", 0, 1, 0, 6, 1)],
        {
            "parts": ("release class part", [(8, 1, 1), (8, 2, 1), (8, 3, 3)]),
            "differences": (
                "release row_key before after",
                [(8, 11, 2, 7), (8, 12, 1, 0), (8, 13, 0, 1), (8, 14, 3, 2), (8, 15, 0, 1)],
            ),
            "numbered": (
                "row_key class c1 c2 n",
                [(11, 1, "a", 7, 7), (12, 1, "b", 9, 0), (13, 1, "c", 8, 1), (14, 1, "a", 5, 2), (15, 2, "a", 5, 1)],
            ),
            "changes": (_CHANGED, [(8, 1, "a", 2, 7), (8, 1, "b", 1, 0), (8, 1, "c", 0, 1)]),
            "people": ("release part owner n", [(8, 1, "=7", 9), (8, 1, "=8", 1), (8, 1, "=5", 3), (8, 1, "=4", 1)]),
        },
        values=["c1"],
        unit=["c2"],
    ),
    # One person with five rows; two of whom four rows are new and three leave; as many who come as are seen to.
    *(
        _case(
            "attack_versions/exposed_people",
            "release appeared vanished exposed alone stayed",
            [(8, *expected)],
            {
                "moves": (_MOVES, [(8, 1, person, *move) for person, *move in moves]),
                "people": ("release part owner n", [(8, 1, f"={person}", 1) for person in present]),
                "limits": _LIMITS,
            },
        )
        for expected, moves, present in (
            ((1, 0, 1, 1, 0), [(7, 5, 0, 0, 5, 0), *((n, 0, 0, 1, 5, 0) for n in range(3))], (7, 0, 1, 2)),
            (
                (2, 3, 2, 1, 2),
                [(7, 4, 0, 1, 1, 3), *((n, 0, 1, 0, 1, 3) for n in range(3)), (8, 1, 0, 2, 1, 3)],
                (7, 8),
            ),
            ((3, 0, 0, 0, 1), [(n, 2, 0, 0, 6, 0) for n in range(3)], (0, 1, 2, 3)),
        )
    ),
]

_PAIRED = ("way row_id other", [("place", 1, 1), ("place", 2, 2), ("chance", 1, 2)])
_SEEN = ("row_id target value", [(1, 1, "a"), (2, 2, "b"), (3, 3, "c"), (4, 4, "d")])
_HERE = ("row_id c0", [(1, "1*"), (2, None)])
_ORDER = [
    _case("attack_order/drawn_rows", "row_id", [(2,), (1,)], {"copied": _ROWS}, rows=2, seed="0", most=5, part=1.0),
    _case(
        "attack_order/row_pairs",
        "way row_id other",
        [("place", 1, 1), ("place", 3, 3), ("beside", 1, 2), ("beside", 3, 1)],
        {"drawn": ("row_id", [(1,), (3,)]), "shifts": ("way shift", [("place", 0), ("beside", 1)])},
        rows=3,
    ),
    _case(
        "attack_order/ranked_pairs",
        "way row_id other",
        [("sorted", 2, 8)],
        {"ranked": ("place place_there", [(1, 7)])},
    ),
    _case("attack_order/drawn_ids", "row_id", [(3,), (5,)], {"drawn": ("row_id", [(5,), (3,)])}),
    _case(
        "attack_order/rows_of_pairs",
        "row_id c0",
        [(1, "b"), (2, "a")],
        {"copied": _ROWS, "pairs": _PAIRED},
        side=["other"],
        columns=["c0"],
    ),
    _case(
        "attack_order/fitting_pairs",
        "way row_id other",
        [("place", 1, 1), ("place", 2, 2)],
        {
            "pairs": _PAIRED,
            "here": _HERE,
            "there": ("row_id c0", [(1, "11"), (2, None)]),
            "covers": ("label value", [("=1*", "=11"), ("", "")]),
        },
        column=["c0"],
    ),
    _case(
        "attack_order/equal_pairs",
        "way row_id other",
        [("place", 2, 2)],
        {"pairs": _PAIRED, "here": _HERE, "there": ("row_id c0", [(1, "x"), (2, None)])},
        column=["c0"],
    ),
    _case("attack_order/pair_counts", "way n", [("place", 2), ("chance", 1)], {"pairs": _PAIRED}),
    _case(
        "attack_versions/shapes",
        "class value row_id n",
        [(2, "['=x', '=7']", 1, 2), (1, "['', '=7']", 2, 1), (1, "['', '=8']", 4, 1)],
        {"numbered": _NUMBERED},
        values=["c1", "c2"],
    ),
    _case(
        "attack_order/valued_rows",
        "row_id target value",
        [(1, 1, "['=7']"), (2, 2, "['=7']"), (3, 1, "['=7']"), (4, 4, "['=8']")],
        {"people": _ROWS},
        columns=["c0"],
        values=["c2"],
    ),
    _case(
        "attack_order/released_values",
        "row_id class c1 value",
        [(1, 2, "x", "['=x']"), (2, 1, None, "['']"), (3, 2, "x", "['=x']"), (4, 1, None, "['']")],
        {"numbered": _NUMBERED},
        values=["c1"],
    ),
    _case(
        "attack_order/rows_of_fits",
        "row_id c1",
        [(1, "a"), (3, None)],
        {"people": ("row_id c1", [(1, "a"), (2, "b"), (3, None)]), "fits": ("target class", [(1, 1), (1, 2), (3, 1)])},
        columns=["c1"],
    ),
    _case(
        "attack_order/rows_of_classes",
        "row_id class c1",
        [(1, 1, "a"), (3, 1, None)],
        {
            "release": ("row_id class c1", [(1, 1, "a"), (2, 2, "b"), (3, 1, None)]),
            "fits": ("target class", [(1, 1), (3, 1)]),
        },
        kept=["c1"],
    ),
    _case("attack_order/row_count", "rows", [(5,)], {"classes": ("class n", [(1, 2), (2, 3)])}),
    _case(
        "attack_order/settled_classes",
        "class",
        [(1,)],
        {
            "classes": ("class n", [(1, 2), (2, 2), (3, 1), (4, 1)]),
            "people": _SEEN,
            "fits": ("target class", [(1, 1), (2, 1), (3, 2), (4, 3), (4, 4)]),
        },
    ),
    *(
        _case(
            "attack_order/same_places",
            "rows same",
            [(3, same)],
            {
                "whole": ("class", [(1,)]),
                "released": ("row_id class value", [(5, 1, "a"), (4, 1, "b"), (6, 1, "b"), (7, 2, "b")]),
                "people": ("row_id target value", [(1, 1, "b"), (2, 2, "b"), (3, 1, "a"), (4, 3, "b")]),
                "fits": ("target class", [(1, 1), (2, 1), (3, 2)]),
            },
            order=order,
        )
        for order, same in ((["row_id"], 1), (["value"], 1))
    ),
    _case(
        "attack_order/same_by_chance",
        "expected",
        [(1.8 + 1.0,)],
        {
            "whole": ("class", [(1,), (2,)]),
            "shapes": (_VALUES, [(1, "a", 2), (1, "b", 1), (1, "c", 2), (2, "a", 1), (3, "a", 9)]),
        },
    ),
    _case(
        "attack_order/sure_rows",
        "shown class place",
        [(11, 1, 1)],
        {
            "classes": ("class n", [(1, 3), (2, 2), (3, 1)]),
            "people": ("row_id target value", [(1, 1, "a"), (2, 1, "b"), (3, 3, "c"), (4, 3, "d"), (5, 3, "d")]),
            "fits": ("target class", [(1, 1), (3, 2), (3, 3)]),
            "shapes": (
                "class value row_id n",
                [(1, "a", 11, 1), (1, "b", 12, 2), (2, "c", 13, 1), (3, "c", 14, 1), (2, "d", 15, 1)],
            ),
        },
    ),
    _case(
        "attack_order/in_order",
        "neighbours ordered",
        [(3, 2)],
        {
            "sure": ("shown class place", [(1, 1, 5), (2, 1, 7), (3, 1, 6), (4, 2, 1), (9, 2, 2)]),
            "release": ("row_id c0", [(1, "a"), (2, "b"), (3, "c"), (4, "a"), (9, "z")]),
        },
        order=["row_id"],
    ),
]

_BOX = "class x_min x_max y_min y_max since until n"
_BOXES = (_BOX, [(1, 0, 2, 0, 2, 0, 9, 3), (2, 2, 4, 0, 2, 0, 9, 5), (3, 8, 9, 8, 9, 0, 9, 2)])
_GUESSES = (
    "target class owner n weight among",
    [(1, 1, "a", 4, 0.5, 8), (1, 2, "a", 4, 0.5, 8), (2, 3, "b", 1, 1.0, 1)],
)
_PLACES = [
    _case(
        "attack_cloaks/boxes",
        _BOX,
        [(1, 0, 1, 0, 1, 0, 5, 2), (2, 0, 2, 0, 1, 0, 5, 1)],
        {
            "release": (
                "row_id x y t x_min y_min x_max",
                [(1, 0, 1, 0, 1, 0, 5), (2, 0, 2, 0, 1, 0, 5), (3, 0, 1, 0, 1, 0, 5)],
            )
        },
        **dict(zip(_BOX.split()[1:7], [["x"], ["y"], ["t"], ["x_min"], ["y_min"], ["x_max"]], strict=True)),
    ),
    _case("attack_cloaks/drawn_boxes", _BOX, [_BOXES[1][2], _BOXES[1][1]], {"boxes": _BOXES}, seed="0", most=2),
    _case(
        "attack_cloaks/owned_boxes",
        "class owner n weight",
        [(2, "a", 5, 5)],
        {
            "boxes": _BOXES,
            "people": (
                "row_id owner x y",
                [(1, "a", 1, 1), (2, "b", 1, 1), (3, "a", 2, 2), (4, "a", 3, 1), (5, None, 1, 1)],
            ),
        },
        owner=["owner"],
        x=["x"],
        y=["y"],
    ),
    _case(
        "attack_cloaks/drawn_observations",
        "target owner x y t",
        [(3, "c", 1, 2, 3), (2, "b", 1, 2, 3)],
        {"people": ("row_id owner x y t", [(i, "abc"[i - 1], 1, 2, 3) for i in (1, 2, 3)])},
        owner=["owner"],
        x=["x"],
        y=["y"],
        t=["t"],
        seed="0",
        most=2,
    ),
    _case(
        "attack_cloaks/observed_boxes",
        "target class owner n weight among",
        [(1, 1, "a", 3, 0.375, 8), (1, 2, "a", 5, 0.625, 8)],
        {"boxes": _BOXES, "observations": ("target owner x y t", [(1, "a", 2, 1, 5), (2, "b", 1, 1, 10)])},
    ),
    _case(
        "attack_cloaks/present",
        "class owner n",
        [(2, "a", 2), (2, "b", 1)],
        {
            "boxes": _BOXES,
            "guesses": ("class owner", [(2, "a"), (3, "b")]),
            "source": (
                "row_id owner x y t",
                [(1, "a", 3, 1, 1), (2, "a", 4, 2, 9), (3, "b", 3, 0, 0), (4, "b", 3, 0, 10), (5, "c", 1, 1, 1)],
            ),
        },
        owner=["owner"],
        x=["x"],
        y=["y"],
        t=["t"],
    ),
    _case("attack_cloaks/place_guesses", "attempts successes people", [(2.0, 1.25, 2)], {"guesses": _GUESSES}),
    _case(
        "attack_cloaks/checked_guesses",
        "attempts successes people",
        [(2.0, 0.375, 2)],
        {"guesses": _GUESSES, "present": ("class owner n", [(1, "a", 3), (1, "b", 1), (2, "b", 4), (3, "c", 1)])},
    ),
    _case("attack_cloaks/observed", "below alone", [(1, 1)], {"guesses": _GUESSES}, k=5),
]

CASES = [*_VERSIONS, *_ORDER, *_PLACES]
