"""Given and expected rows of the queries of `sql/attack` that hold two tables against each other, or places."""

from typing import Any

from kanon_sql.queries import Relation
from sql_cases.case import Case, Rows, relation

_TEXTS = dict.fromkeys(["c0", "c1", "value", "owner", "way", "label", "digest"], "VARCHAR")
_REALS = dict.fromkeys(["x", "y", "t", "x_min", "x_max", "y_min", "y_max", "since", "until", "weight"], "FLOAT8")


def _case(name: str, gives: str, expected: Rows, given: dict[str, tuple[str, Rows]], **holes: Any) -> Case:
    """A case whose relations, by the holes they fill, are told as their columns and rows."""
    relations: dict[str, Any] = {}
    for hole, (columns, content) in given.items():
        relations |= relation(f"given_{hole}", columns, *content, **_TEXTS, **_REALS)
    filled = {hole: Relation(f"given_{hole}") for hole in given}
    return Case(name, {**filled, **holes}, gives.split(), expected, relations)


_ROWS = ("row_id c0 c1 c2", [(1, "b", "x", 7), (2, "a", None, 7), (3, "b", "x", 7), (4, None, "y", 8)])
_NUMBERED = ("row_id class c1 c2", [(1, 2, "x", 7), (2, 1, None, 7), (3, 2, "x", 7), (4, 1, None, 8)])
# Targets 1 and 2 of 3 and 1 people in both releases; 3 in the first alone; 4 may be in two classes of the second.
_PAIRS = (
    "target person first second n",
    [(1, 1, 1, 1, 3), (2, 2, 1, 2, 1), (3, 3, 2, 0, 2), (4, 4, 2, 1, 2), (4, 4, 2, 2, 2)],
)
# Persons 7 and 8 have several rows: 7 is behind two targets.
_OF_PEOPLE = ("target person first second n", [(1, 7, 1, 1, 1), (1, 8, 1, 1, 1), (2, 7, 1, 2, 1), (2, 9, 1, 2, 1)])
_MEMBERS = "target person n"
_CELLS = ("class first second", [(1, 1, 1), (2, 1, 2), (3, 2, 0), (4, 2, 1), (5, 2, 2)])
_IN_CELLS = ("target person class n", [(1, 1, 1, 3), (2, 2, 2, 1), (3, 3, 3, 2), (4, 4, 4, 2), (4, 4, 5, 2)])
_HIDDEN = "target among"
_MOVES = "part person came went stayed appeared vanished"
_POSSIBLE = "target different value"
_VALUES = "class value n"
_GROUPS = ("node part", [(1, 1), (2, 2), (-1, -1), (-2, -2)])
_STAYED = ("part value before after", [(1, "a", 2, 9), (1, "b", 5, 0), (2, "a", 2, 2)])  # two of a group, and all
_CHANGES = (
    "part value before after",
    [
        *[(1, "a", 2, 3), (1, "b", 4, 4)],  # one came
        *[(2, "a", 1, 0), (2, "b", 2, 0)],  # three left
        *[(3, "a", 1, 2), (3, "b", 3, 1), (3, "c", 1, 1)],  # one came and two left
        *[(4, "a", 5, 6)],  # one came to a group of its kind
    ],
)

_VERSIONS = [
    _case(
        "attack_versions/numbered",
        "row_id class c1 c2",
        [(1, 2, "x", 7), (2, 1, None, 7), (3, 2, "x", 7)],
        {"release": (_ROWS[0], _ROWS[1][:3])},
        labels=["c0"],
        kept=["c1", "c2"],
    ),
    _case(
        "attack_versions/known_values",
        "target c1 n",
        [(1, "x", 2), (2, None, 1), (4, "y", 1)],
        {"people": _ROWS},
        columns=["c1"],
    ),
    _case(
        "attack_versions/class_targets",
        "target c0",
        [(1, "1*"), (2, None)],
        {"classes": ("class c0 n", [(1, "1*", 3), (2, None, 4)])},
        labels=["c0"],
    ),
    _case(
        "attack_versions/in_both",
        "target person first second n",
        [(1, 1, 1, 1, 3), (3, 3, 2, 0, 2), (4, 4, 2, 1, 2), (4, 4, 2, 2, 2), (6, 3, 0, 1, 5)],
        {
            "members": (_MEMBERS, [(1, 1, 3), (3, 3, 2), (4, 4, 2), (5, 5, 9), (6, 3, 5)]),
            "first": ("target class", [(1, 1), (3, 2), (4, 2)]),
            "second": ("target class", [(1, 1), (4, 1), (4, 2), (6, 1)]),
        },
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
    _case("attack_versions/cells", _CELLS[0], _CELLS[1], {"pairs": (_PAIRS[0], [*_PAIRS[1], (5, 5, 2, 2, 3)])}),
    _case("attack_versions/in_cells", _IN_CELLS[0], _IN_CELLS[1], {"pairs": _PAIRS, "cells": _CELLS}),
    _case(
        "attack_versions/hidden", _HIDDEN, [(1, 5), (2, 3), (3, 2), (4, 5)], {"fits": _PAIRS}, **{"class": ["second"]}
    ),
    _case("attack_versions/hidden", _HIDDEN, [(1, 3), (2, 3)], {"fits": _OF_PEOPLE}, **{"class": ["first"]}),
    _case(
        "attack_versions/narrowed",
        "target",
        [(3,)],
        {
            "first": (_HIDDEN, [(1, 9), (2, 3), (3, 4)]),
            "second": (_HIDDEN, [(1, 9), (2, 9), (3, 5)]),
            "both": (_HIDDEN, [(1, 4), (2, 1), (3, 3)]),
        },
        k=4,
    ),
    _case(
        "attack_versions/company",
        _HIDDEN,
        [(4, 6)],
        {"narrowed": ("target", [(4,)]), "fits": (_IN_CELLS[0], [*_IN_CELLS[1], (5, 5, 4, 4), (5, 5, 5, 4)])},
    ),
    _case(
        "attack_versions/below",
        "below alone",
        [(4, 1)],
        {
            "candidates": (_HIDDEN, [(1, 3), (2, 1), (3, 4), (4, 2)]),
            "members": (_MEMBERS, [(1, 1, 3), (2, 2, 1), (3, 3, 2), (4, 2, 1)]),
        },
        k=4,
    ),
    _case(
        "attack_versions/hidden_in_both",
        "people",
        [(2,)],
        {
            "first": (_HIDDEN, [(1, 4), (2, 3), (3, 4), (4, 9)]),
            "second": (_HIDDEN, [(1, 5), (2, 9), (3, 3), (4, 9)]),
            "members": (_MEMBERS, [(1, 7, 1), (1, 8, 1), (2, 9, 1), (3, 9, 1), (4, 7, 1)]),
        },
        k=4,
    ),
    _case(
        "attack_versions/smallest_class",
        "people",
        [(1,)],
        {"release": ("c0 c2", [("a", 1), ("a", 2), ("b", 3), ("b", 3)])},
        labels=["c0"],
        unit=["c2"],
    ),
    _case(
        "attack_versions/common_values",
        "class value",
        [(1, "a"), (1, "b"), (2, "b")],
        {
            "cells": _CELLS,
            "first": (_VALUES, [(1, "a", 2), (1, "b", 1)]),
            "second": (_VALUES, [(1, "a", 9), (1, "b", 1), (2, "b", 1), (2, "c", 1)]),
        },
    ),
    _case(
        "attack_versions/possible_values",
        _POSSIBLE,
        [(1, 2, "a"), (2, 2, "b"), (4, 3, "a")],
        {"fits": _PAIRS, "values": (_VALUES, [(1, "a", 2), (1, "b", 1), (2, "b", 3), (2, "c", 1)])},
        **{"class": ["second"]},
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
        "attack_versions/believed_values",
        "target person value n",
        [(1, 1, "a", 3)],
        {"members": (_MEMBERS, [(1, 1, 3), (2, 2, 1)]), "both": (_POSSIBLE, [(1, 1, "a")])},
    ),
    _case(
        "attack_versions/composed",
        "people told",
        [(9, 4)],
        {
            "own": (
                "target person value n",
                [(1, 1, "a", 3), (1, 2, "b", 1), (2, 3, "a", 5), (3, 4, "c", 7), (4, 5, "c", 1), (1, 2, "a", 1)],
            ),
            "first": (_POSSIBLE, [(1, 2, "a"), (2, 3, "a"), (3, 1, "c"), (4, 2, "a")]),
            "second": (_POSSIBLE, [(1, 2, "a"), (2, 2, "a"), (3, 2, "c"), (4, 2, "a")]),
            "both": (_POSSIBLE, [(1, 1, "a"), (2, 2, "a"), (3, 1, "c")]),
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
        "attack_versions/bounded_below",
        "least most alone",
        [(3, 7, 1)],
        {
            "bounds": (
                "first second least most different",
                [(1, 1, 2, 3, 2), (1, 2, 1, 1, 1), (2, 1, 0, 1, 1), (1, 3, 3, 9, 1)],
            ),
            "first": ("class n", [(1, 4), (2, 3)]),
            "second": ("class n", [(1, 4), (2, 4), (3, 9)]),
        },
        k=4,
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
    _case("attack_versions/links", "node other", [(1, -2), (-2, 1)], {"overlaps": ("target class", [(1, 2)])}),
    _case(
        "attack_versions/own_groups",
        "node part",
        _GROUPS[1],
        {"first": ("class", [(1,), (2,)]), "second": ("class", [(1,), (2,)])},
    ),
    _case(
        "attack_versions/joined_groups",
        "node part",
        [(1, -2), (2, 2), (-1, -1), (-2, -2)],
        {"groups": _GROUPS, "links": ("node other", [(1, -2), (-2, 1)])},
    ),
    _case(
        "attack_versions/followed_groups",
        "node part",
        [(1, -3), (-2, -3), (-3, -3)],
        {"groups": ("node part", [(1, -2), (-2, -3), (-3, -3)])},
    ),
    _case("attack_versions/groups_sum", "total", [(0,)], {"groups": _GROUPS}),
    _case(
        "attack_versions/changes",
        "part value before after",
        [(-1, "a", 3, 1), (-1, "b", 0, 2), (2, "a", 4, 0)],
        {
            "groups": ("node part", [(1, -1), (2, 2), (-1, -1)]),
            "before": (_VALUES, [(1, "a", 3), (2, "a", 4)]),
            "after": (_VALUES, [(1, "a", 1), (1, "b", 2)]),
        },
    ),
    _case(
        "attack_versions/exposed",
        "appeared vanished exposed alone stayed",
        [(3, 5, 5, 3, 0)],
        {"changes": _CHANGES},
        k=3,
    ),
    _case(
        "attack_versions/exposed",
        "appeared vanished exposed alone stayed",
        [(7, 5, 0, 0, 2)],
        {"changes": _STAYED},
        k=3,
    ),
    _case("attack_versions/certain", "certain", [(1,)], {"changes": _CHANGES}),
    _case(
        "attack_versions/certain_people",
        "certain",
        [(1,)],
        {"changes": _CHANGES, "moves": (_MOVES, [(1, 7, 1, 0, 1, 1, 0), (1, 8, 0, 0, 2, 1, 0), (2, 7, 0, 3, 0, 0, 3)])},
    ),
    _case(
        "attack_versions/shapes_of_people",
        "class value person n",
        [(2, "['=x']", 7, 2), (1, "['']", 7, 1), (1, "['']", 8, 1)],
        {"numbered": _NUMBERED},
        values=["c1"],
        unit=["c2"],
    ),
    _case(
        "attack_versions/moves_of_people",
        _MOVES,
        [(1, 7, 5, 0, 2, 6, 1), (1, 8, 1, 0, 0, 6, 1), (1, 9, 0, 1, 0, 6, 1)],
        {
            "groups": ("node part", [(1, 1), (-1, 1)]),
            "before": ("class value person n", [(1, "a", 7, 2), (1, "b", 9, 1)]),
            "after": ("class value person n", [(1, "a", 7, 7), (1, "c", 8, 1)]),
            "changes": ("part value before after", [(1, "a", 2, 7), (1, "b", 1, 0), (1, "c", 0, 1)]),
        },
    ),
    # One person with five rows; two of whom four rows are new and three leave; as many who come as are seen to.
    *(
        _case(
            "attack_versions/exposed_people",
            "appeared vanished exposed alone stayed",
            [expected],
            {"moves": (_MOVES, moves)},
            k=3,
        )
        for expected, moves in (
            ((1, 0, 1, 1, 0), [(1, 7, 5, 0, 0, 5, 0), *((1, n, 0, 0, 1, 5, 0) for n in range(3))]),
            (
                (2, 3, 2, 1, 2),
                [(1, 7, 4, 0, 1, 1, 3), *((1, n, 0, 1, 0, 1, 3) for n in range(3)), (1, 8, 1, 0, 2, 1, 3)],
            ),
            ((3, 0, 0, 0, 0), [(1, n, 2, 0, 0, 6, 0) for n in range(3)]),
        )
    ),
]

_PAIRED = ("way row_id other", [("place", 1, 1), ("place", 2, 2), ("chance", 1, 2)])
_SEEN = ("row_id target value", [(1, 1, "a"), (2, 2, "b"), (3, 3, "c"), (4, 4, "d")])
_HERE = ("row_id c0", [(1, "1*"), (2, None)])
_ORDER = [
    _case("attack_order/drawn_rows", "row_id", [(2,), (1,)], {"copied": _ROWS}, rows=2, seed="0", most=5),
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
        {
            "drawn": ("row_id", [(1,)]),
            "copied": ("row_id c0", [(1, "b"), (2, "a")]),
            "other": ("row_id c1", [(8, "x"), (9, "y")]),
        },
        columns=["c0"],
        columns_there=["c1"],
    ),
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
