"""Given and expected rows of `sql/mondrian`."""

from typing import Any

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation, numbered_column
from sql_cases.case import AT_LEAST_2, COUNTED, FREQUENCY_SET, NO_ROWS, UNKNOWN_OF_3, Case, Rows

_COUNTS = ("class", "attribute", "code", "n")
# Two partitions of one ordered attribute (0) and one with a hierarchy of three levels (1).
_OPEN = {
    "open": (
        dict.fromkeys(["age_0", "zip_0", "n", "size", "class"], "BIGINT"),
        [(0, 1, 2, 3, 3), (2, 0, 1, 3, 3), (2, 0, 4, None, 5), (2, 0, 2, 2, 6)],
    )
}
_CELL = ("class", "attribute", "position", "number", "n")
_TYPES = {**dict.fromkeys(_CELL, "BIGINT"), "number": "DOUBLE PRECISION"}
_SCALES = {
    "scales": (
        {"attribute": "BIGINT", **dict.fromkeys(["range", "most", "weight"], "DOUBLE PRECISION")},
        [(0, 20.0, 4.0, 1.0), (1, 1.0, 2.0, 0.5)],
    )
}
_PLACE_TYPES = {**dict.fromkeys(["attribute", "code", "position"], "BIGINT"), "number": "DOUBLE PRECISION"}
# Partition 3: ages 10 (2 rows), 11 (3), 20 (1); zip codes 0 (4 rows), 1 and 2 (1 each), of which 0 and 1 are siblings.
_CELLS: dict[str, tuple[dict[str, str], Rows]] = {
    "cells": (
        _TYPES,
        [
            (3, 0, 0, 10.0, 2),
            (3, 0, 1, 11.0, 3),
            (3, 0, 3, 20.0, 1),
            (3, 1, 0, None, 4),
            (3, 1, 1, None, 1),
            (3, 1, 2, None, 1),
        ],
    ),
    **_SCALES,
}
_ODD: dict[str, tuple[dict[str, str], Rows]] = {
    "cells": (
        _TYPES,
        [
            (3, 0, 0, -40.0, 2),
            (3, 0, 1, 10.0, 2),
            (3, 0, 4, 30.0, 2),
        ],
    ),
    **_SCALES,
}
_NODES = {
    "nodes": (
        {
            **dict.fromkeys(["attribute", "position", "level", "node", "low", "high", "leaves"], "BIGINT"),
            "width": "DOUBLE PRECISION",
        },
        [
            *((1, x, 0, x, x, x, 1, 0.0) for x in range(3)),
            (1, 0, 1, 0, 0, 1, 2, 0.75),
            (1, 1, 1, 0, 0, 1, 2, 0.75),
            (1, 2, 1, 1, 2, 2, 1, 0.0),
            *((1, x, 2, 0, 0, 2, 3, 1.0) for x in range(3)),
        ],
    )
}
# Classes 4 and 5 were made in rounds 2 and 3, after which partition 6 is open.
_ROUNDS = {
    "rounds": (
        {**dict.fromkeys(["age_0", "class", "round"], "BIGINT"), "is_open": "BOOLEAN"},
        [(1, 4, 2, False), (2, 4, 2, False), (3, 5, 3, False), (4, 6, 3, True)],
    )
}
_MEDIAN = ("class", "attribute", "allowed", "split", "dealt", "kept", "below", "above", "width", "gain")
_MEDIAN_TYPES = {
    **dict.fromkeys(_MEDIAN, "BIGINT"),
    "allowed": "BOOLEAN",
    "width": "DOUBLE PRECISION",
    "gain": "DOUBLE PRECISION",
}
_BRANCH = ("class", "attribute", "level", "node", "n", "safe", "weight", "most", "width", "saved")
_BRANCH_TYPES = {
    **dict.fromkeys(_BRANCH, "BIGINT"),
    "safe": "BOOLEAN",
    **dict.fromkeys(["weight", "most", "width"], "DOUBLE PRECISION"),
}
_CHOSEN = ("class", "attribute", "split", "dealt", "kept", "below", "above", "level", "spared")
_CHOSEN_TYPES = dict.fromkeys(_CHOSEN, "BIGINT")
_MOVE = ("class", "attribute", "node", "part", "size", "next_class")
_MOVE_TYPES = dict.fromkeys(_MOVE, "BIGINT")


def _medians(median: bool, at_least: int) -> dict[str, Any]:
    left, right = (Predicate(f"SUM(n) OVER {side} >= $k", {"k": at_least}) for side in ("left_side", "right_side"))
    relations = {"cells": Relation("cells"), "scales": Relation("scales")}
    return {"median": median, "safe_left": left, "safe_right": right, **relations}


_NO_SIDES = (None,) * 5  # split, dealt, kept, below, above
_NOT_CUT = (3, 0, False, *_NO_SIDES, 0.5, None)


def _chosen(**more: Any) -> dict[str, Any]:
    fixed = {"medians": Relation("medians"), "branches": Relation("branches"), "safe": AT_LEAST_2}
    return {**fixed, "worth": ["gain"], "leftover": True, "merge": True, **more}


def _options(medians: Rows, branches: Rows) -> dict[str, Any]:
    return {"medians": (_MEDIAN_TYPES, medians), "branches": (_BRANCH_TYPES, branches)}


# Children of one node, 3, 2 and 1 rows: the last one is too small, and alone it is too small for a rest.
_CHILDREN = [
    (3, 1, 1, 0, 3, True, 1.0, 2.0, 1.0, 6),
    (3, 1, 1, 4, 2, True, 1.0, 2.0, 1.0, 2),
    (3, 1, 1, 5, 1, False, 1.0, 2.0, 1.0, 1),
]
_FOUR = [*_CHILDREN, (3, 1, 1, 6, 1, False, 1.0, 2.0, 1.0, 1)]

CASES = [
    Case(
        "mondrian/unsafe_cuts",
        {"moves": Relation("moves"), "next": Relation("next"), "safe": AT_LEAST_2},
        ["class", "attribute"],
        [(0, 1)],
        {
            "moves": (
                dict.fromkeys(["class", "attribute", "next_class"], "INTEGER"),
                [(0, 1, 5), (0, 1, 6), (0, 1, 6), (1, 0, 7)],
            ),
            "next": (dict.fromkeys(["class", "n"], "INTEGER"), [(5, 1), (5, 1), (6, 1), (7, 2)]),
        },
    ),
    Case(
        "mondrian/other_cuts",
        {"cuts": Relation("cuts"), "unsafe": Relation("unsafe")},
        ["class", "attribute", "split"],
        [(0, 2, 7), (1, 1, None)],
        {
            "cuts": (
                dict.fromkeys(["class", "attribute", "split"], "INTEGER"),
                [(0, 1, 4), (0, 2, 7), (1, 1, None)],
            ),
            "unsafe": (dict.fromkeys(["class", "attribute"], "INTEGER"), [(0, 1), (2, 2)]),
        },
    ),
    Case("mondrian/whole", {"frequency_set": COUNTED, "safe": AT_LEAST_2}, ["safe"], [(True,)], FREQUENCY_SET),
    Case("mondrian/whole", {"frequency_set": COUNTED, "safe": AT_LEAST_2}, ["safe"], [(False,)], NO_ROWS),
    Case(
        "mondrian/start",
        {"columns": ["age_0", "zip_0"], "class": 0, "frequency_set": COUNTED},
        ["age_0", "zip_0", "n", "size", "class"],
        [(0, 0, 1, None, 0), (0, 1, 2, None, 0), (1, 1, 1, None, 0), (2, 0, 4, None, 0)],
        FREQUENCY_SET,
    ),
    Case(
        "mondrian/start",
        {"columns": ["age_0"], "class": ["zip_0"], "frequency_set": COUNTED},
        ["age_0", "n", "size", "class"],
        [(0, 1, None, 0), (0, 2, None, 1), (1, 1, None, 1), (2, 4, None, 0)],
        FREQUENCY_SET,
    ),
    Case(
        "mondrian/deal_start",
        {"columns": ["age_0", "zip_0"], "order": ["zip_0", "age_0"], "frequency_set": COUNTED},
        ["age_0", "zip_0", "n", "first", "last", "place", "size", "class"],
        [
            (0, 0, 1, 1, 1, 1, None, 0),
            (2, 0, 4, 1, 4, 2, None, 0),
            (0, 1, 2, 1, 2, 3, None, 0),
            (1, 1, 1, 1, 1, 4, None, 0),
        ],
        FREQUENCY_SET,
    ),
    # Age 0 has values 3 (2 rows) and 5 (1 row), age 1 has value 3; they are dealt by value first here.
    Case(
        "mondrian/deal_values_start",
        {
            "columns": ["age_0", "ill", "home"],
            "codes": ["age_0"],
            "values": ["ill", "home"],
            "order": ["home", "age_0", "ill"],
            "frequency_set": Relation("valued"),
        },
        ["age_0", "ill", "home", "n", "first", "last", "place", "size", "class"],
        [(0, 5, 1, 1, 3, 3, 1, None, 0), (0, 3, 2, 2, 1, 2, 2, None, 0), (1, 3, 2, 4, 1, 4, 3, None, 0)],
        {
            "valued": (
                dict.fromkeys(["age_0", "ill", "home", "n"], "INTEGER"),
                [(0, 5, 1, 1), (1, 3, 2, 4), (0, 3, 2, 2)],
            )
        },
    ),
    # Rows 1 to 3 and 6 of a tuple are in one class, 4 and 5 in another; the other tuple is whole.
    Case(
        "mondrian/merged_parts",
        {"codes": ["age_0"], "assignment": Relation("assigned")},
        ["age_0", "n", "first", "last", "class"],
        [(0, 3, 1, 3, 7), (0, 1, 6, 6, 7), (0, 2, 4, 5, 8), (1, 3, 1, 3, 7)],
        {
            "assigned": (
                dict.fromkeys(["age_0", "n", "first", "last", "class"], "INTEGER"),
                [
                    *((0, 2, 1, 2, 7), (0, 1, 3, 3, 7), (0, 1, 4, 4, 8), (0, 1, 5, 5, 8), (0, 1, 6, 6, 7)),
                    *((1, 1, 3, 3, 7), (1, 2, 1, 2, 7)),
                ],
            )
        },
    ),
    # Age 40 occurs and 30 does not; NULL lies below, a value in no hierarchy above, two ranges away.
    *(
        Case(
            "mondrian/places",
            {
                "attribute": 1,
                "weight": 1,
                "most": 3,
                "code": ["age_0"],
                "number": ["number"],
                "ordered": ordered,
                "frequency_set": COUNTED,
                "positions": Relation("positions"),
            },
            ["attribute", "code", "position", "number", "range", "most", "weight"],
            [
                (1, 0, 1, 20.0 if ordered else None, 20.0, 3.0, 1.0),
                (1, 2, 3, 40.0 if ordered else None, 20.0, 3.0, 1.0),
                (1, 3, 0, -20.0 if ordered else None, 20.0, 3.0, 1.0),
                (1, 4, 4, 80.0 if ordered else None, 20.0, 3.0, 1.0),
            ],
            {
                "positions": (
                    {
                        "position": "INTEGER",
                        "number": "DOUBLE PRECISION",
                        "value": "INTEGER",
                        "starred": "BOOLEAN",
                        "code_0": "INTEGER",
                    },
                    [
                        (0, None, None, False, 3),
                        (1, 20.0, 20, False, 0),
                        (2, 30.0, 30, False, 1),
                        (3, 40.0, 40, False, 2),
                        (4, None, None, True, 4),
                    ],
                ),
                "counted": ({"age_0": "INTEGER", "n": "INTEGER"}, [(0, 1), (0, 1), (2, 1), (3, 1), (4, 1)]),
            },
        )
        for ordered in (True, False)
    ),
    Case(
        "mondrian/nodes",
        {
            "attribute": 1,
            "level": 1,
            "count": 4,
            "code": ["code_1"],
            "leaves": ["leaves_1"],
            "positions": Relation("positions"),
        },
        ["attribute", "position", "level", "node", "low", "high", "leaves", "width"],
        [(1, 0, 1, 7, 0, 1, 2, 0.5), (1, 1, 1, 7, 0, 1, 2, 0.5), (1, 2, 1, 8, 2, 2, 1, 0.0)],
        {
            "positions": (
                dict.fromkeys(["position", "code_1", "leaves_1"], "INTEGER"),
                [(0, 7, 2), (1, 7, 2), (2, 8, 1)],
            )
        },
    ),
    Case(
        "mondrian/counted",
        {"attribute": 1, "code": ["zip_0"], "open": Relation("open"), "least": 3},
        _COUNTS,
        [(3, 1, 0, 1), (3, 1, 1, 2), (5, 1, 0, 4)],
        _OPEN,
    ),
    Case(
        "mondrian/listed",
        {"codes": ["age_0", "zip_0"], "open": Relation("open"), "least": 3},
        ["class", "n", "codes"],
        [(3, 2, [0, 1]), (3, 1, [2, 0]), (5, 4, [2, 0])],
        _OPEN,
    ),
    Case(
        "mondrian/counted_together",
        {"attributes": 2, "listed": Relation("listed")},
        _COUNTS,
        [(3, 0, 0, 3), (3, 1, 1, 1), (3, 1, 0, 2), (5, 0, 2, 4), (5, 1, 0, 4)],
        {
            "listed": (
                {"class": "BIGINT", "n": "BIGINT", "codes": "INTEGER[]"},
                [(3, 1, [0, 1]), (3, 2, [0, 0]), (5, 4, [2, 0])],
            )
        },
    ),
    Case(
        "mondrian/cells",
        {"counted": Relation("counted"), "places": Relation("places")},
        _CELL,
        [
            (3, 0, 4, 20.0, 2),
            (5, 0, 6, 29.0, 4),
            (3, 1, 0, None, 2),
        ],
        {
            "counted": (dict.fromkeys(_COUNTS, "BIGINT"), [(3, 0, 0, 2), (5, 0, 2, 4), (3, 1, 1, 2)]),
            "places": (_PLACE_TYPES, [(0, 0, 4, 20.0), (0, 2, 6, 29.0), (1, 1, 0, None)]),
        },
    ),
    # With k = 2 the median cut, 2 | 4 rows or 5 | 1: half of six is three, which the second value reaches.
    Case("mondrian/medians", _medians(False, 2), _MEDIAN, [(3, 0, True, 0, None, None, 2, 4, 0.5, 2.5)], _CELLS),
    Case("mondrian/medians", _medians(True, 2), _MEDIAN, [_NOT_CUT], _CELLS),
    Case("mondrian/medians", _medians(True, 1), _MEDIAN, [(3, 0, True, 1, None, None, 5, 1, 0.5, 3.25)], _CELLS),
    Case("mondrian/medians", _medians(False, 4), _MEDIAN, [_NOT_CUT], _CELLS),
    # The sums of a partition begin after those of the partitions before it.
    Case(
        "mondrian/medians",
        _medians(False, 2),
        _MEDIAN,
        [(3, 0, True, 0, None, None, 2, 4, 0.5, 2.5), (4, 0, True, 1, None, None, 2, 2, 0.25, 1.0)],
        {
            **_CELLS,
            "cells": (_TYPES, [*_CELLS["cells"][1], (4, 0, 1, 11.0, 2), (4, 0, 2, 16.0, 2), (5, 0, 3, 20.0, 9)]),
        },
    ),
    # NULL is parted from the numbers first; with them it may be anything.
    Case("mondrian/medians", _medians(False, 2), _MEDIAN, [(3, 0, True, 0, None, None, 2, 4, 1.0, 3.0)], _ODD),
    Case(
        "mondrian/halves",
        {"cells": Relation("cells"), "scales": Relation("scales"), "safe": AT_LEAST_2},
        _MEDIAN,
        [(3, 0, True, 1, 1, 2, 3, 3, 0.5, 2.25)],
        _CELLS,
    ),
    Case(
        "mondrian/halves",
        {"cells": Relation("cells"), "scales": Relation("scales"), "safe": UNKNOWN_OF_3},
        _MEDIAN,
        [(3, 0, False, 1, 1, 2, 3, 3, 0.5, 2.25)],
        _CELLS,
    ),
    Case(
        "mondrian/inherited",
        {"medians": Relation("medians"), "widths": Relation("widths")},
        (*_MEDIAN, "own"),
        [(3, 0, True, 5, None, None, 3, 4, 0.75, 2.5, 0.5), (3, 1, True, 6, None, None, 2, 5, 0.25, 2.5, 0.25)],
        {
            **_options([(3, 0, True, 5, None, None, 3, 4, 0.5, 2.5), (3, 1, True, 6, None, None, 2, 5, 0.25, 2.5)], []),
            "widths": (
                {"class": "BIGINT", "attribute": "BIGINT", "width": "DOUBLE PRECISION"},
                [(3, 0, 0.75), (4, 1, 1.0)],
            ),
        },
    ),
    # Attribute 1 was cut; 0 was tried before it, 2 was not.
    Case(
        "mondrian/widths",
        {"medians": Relation("medians"), "chosen": Relation("chosen"), "moves": Relation("moves")},
        ["class", "attribute", "width"],
        [(8, 0, 0.125), (8, 2, 0.25), (9, 0, 0.125), (9, 2, 0.25)],
        {
            "medians": (
                {"class": "BIGINT", "attribute": "BIGINT", "width": "DOUBLE PRECISION", "own": "DOUBLE PRECISION"},
                [(3, 0, 0.5, 0.125), (3, 1, 0.5, 0.5), (3, 2, 0.25, 0.0625)],
            ),
            "chosen": (_CHOSEN_TYPES, [(3, 1, 4, None, None, 4, 3, None, None)]),
            "moves": (_MOVE_TYPES, [(3, 1, 0, 0, 4, 8), (3, 1, 1, 1, 3, 9)]),
        },
    ),
    Case(
        "mondrian/branches",
        {**{x: Relation(x) for x in ("cells", "nodes", "scales")}, "safe": AT_LEAST_2},
        _BRANCH,
        [(3, 1, 1, 0, 5, True, 0.5, 2.0, 0.5, 5), (3, 1, 1, 1, 1, False, 0.5, 2.0, 0.5, 2)],
        {**_CELLS, **_NODES},
    ),
    # The small child takes the smallest safe one along, or the two small ones are safe together.
    Case("mondrian/chosen", _chosen(), _CHOSEN, [(3, 1, *_NO_SIDES, 1, 4)], _options([], _CHILDREN)),
    Case("mondrian/chosen", _chosen(), _CHOSEN, [(3, 1, *_NO_SIDES, 1, None)], _options([], _FOUR)),
    Case("mondrian/chosen", _chosen(leftover=False), _CHOSEN, [], _options([], _FOUR)),
    Case("mondrian/chosen", _chosen(merge=False), _CHOSEN, [], _options([], _CHILDREN)),
    Case("mondrian/chosen", _chosen(), _CHOSEN, [], _options([], _CHILDREN[2:])),
    # By gain, 3.0 against 4.0 and as much; by width; and never what is not allowed.
    *(
        Case(
            "mondrian/chosen",
            _chosen(worth=[worth]),
            _CHOSEN,
            [(3, *expected)],
            _options([(3, 0, True, 7, 2, 1, 3, 4, 0.5, gain), (3, 2, False, *_NO_SIDES, 1.0, 9.0)], _FOUR),
        )
        for worth, gain, expected in (
            ("gain", 3.0, (1, *_NO_SIDES, 1, None)),
            ("gain", 4.0, (0, 7, 2, 1, 3, 4, None, None)),
            ("width", 9.0, (1, *_NO_SIDES, 1, None)),
        )
    ),
    # The largest class is 6. Node 0 is a partition of its own, the small node 1 and the spared node 2 one together.
    Case(
        "mondrian/moves",
        {name: Relation(name) for name in ("open", "chosen", "branches")},
        _MOVE,
        [(3, 1, 0, 0, 5, 8), (3, 1, 1, -1, 3, 7), (3, 1, 2, -1, 3, 7), (4, 0, 0, 0, 2, 9), (4, 0, 1, 1, 4, 10)],
        {
            **_OPEN,
            "chosen": (_CHOSEN_TYPES, [(3, 1, *_NO_SIDES, 1, 2), (4, 0, 1, None, None, 2, 4, None, None)]),
            "branches": (
                _BRANCH_TYPES,
                [
                    (3, 1, 1, 0, 5, True, 0.5, 2.0, 0.5, 5),
                    (3, 1, 1, 1, 1, False, 0.5, 2.0, 0.5, 2),
                    (3, 1, 1, 2, 2, True, 0.5, 2.0, 0.5, 2),
                ],
            ),
        },
    ),
    *(
        Case(
            "mondrian/next",
            {
                "columns": ["age_0", "zip_0"],
                "code": numbered_column(["age_0", "zip_0"], "attribute", "h"),
                **{x: Relation(x) for x in ("open", "chosen", "moves", "places", "nodes")},
            },
            ["age_0", "zip_0", "n", "size", "class"],
            [(0, 1, 2, 2, 9), (2, 0, 1, 1, 8)],
            {
                **_OPEN,
                **_NODES,
                "places": (_PLACE_TYPES, [(0, 0, 5, 9.0), (0, 2, 4, 7.0), (1, 0, 0, None), (1, 1, 2, None)]),
                "chosen": (_CHOSEN_TYPES, [chosen]),
                "moves": (_MOVE_TYPES, [(3, chosen[1], 0, 0, 1, 8), (3, chosen[1], 1, 1, 2, 9)]),
            },
        )
        for chosen in ((3, 1, *_NO_SIDES, 1, None), (3, 0, 4, None, None, 1, 2, None, None))
    ),
    Case(
        "mondrian/closed",
        {"columns": ["age_0", "n", "class"], "open": Relation("open"), "chosen": Relation("chosen")},
        ["age_0", "n", "class"],
        [(2, 4, 5), (2, 2, 6)],
        {**_OPEN, "chosen": (_CHOSEN_TYPES, [(3, 1, *_NO_SIDES, 0, None)])},
    ),
    # Age 2 is dealt: of its five rows, the last place first, one goes left and four stay; place 1 goes left anyway.
    Case(
        "mondrian/deal",
        {
            "columns": ["age_0"],
            "code": numbered_column(["age_0"], "attribute", "h"),
            **{x: Relation(x) for x in ("open", "chosen", "moves", "places", "nodes")},
        },
        ["age_0", "n", "first", "last", "place", "size", "class"],
        [(1, 2, 1, 2, 1, 3, 8), (2, 1, 4, 4, 2, 3, 8), (2, 2, 1, 2, 1, 4, 9), (2, 2, 5, 6, 2, 4, 9)],
        {
            "open": (
                dict.fromkeys(["age_0", "n", "first", "last", "place", "class"], "BIGINT"),
                [(1, 2, 1, 2, 1, 3), (2, 2, 1, 2, 2, 3), (2, 3, 4, 6, 3, 3)],
            ),
            **_NODES,
            "places": (_PLACE_TYPES, [(0, 1, 5, 9.0), (0, 2, 6, 10.0)]),
            "chosen": (_CHOSEN_TYPES, [(3, 0, 6, 1, 4, 3, 4, None, None)]),
            "moves": (_MOVE_TYPES, [(3, 0, 0, 0, 3, 8), (3, 0, 1, 1, 4, 9)]),
        },
    ),
    Case(
        "mondrian/grown",
        {"moves": Relation("moves")},
        ["cut", "parts"],
        [(1, 2)],
        {"moves": (_MOVE_TYPES, [(3, 1, 0, -1, 4, 8), (3, 1, 2, -1, 4, 8), (3, 1, 4, 4, 1, 9)])},
    ),
    Case(
        "mondrian/progress",
        {"rounds": Relation("rounds")},
        ["completed", "classes", "open_ones"],
        [(3, 2, 1)],
        _ROUNDS,
    ),
    Case(
        "mondrian/after_rounds",
        {"columns": ["age_0", "class"], "open": False, "rounds": Relation("rounds")},
        ["age_0", "class"],
        [(1, 4), (2, 4), (3, 5)],
        _ROUNDS,
    ),
    Case(
        "mondrian/scales",
        {"places": Relation("places")},
        ["attribute", "range", "most", "weight"],
        [(0, 20.0, 4.0, 1.0), (1, 1.0, 2.0, 0.5)],
        {
            "places": (_SCALES["scales"][0], [(0, 20.0, 4.0, 1.0), (0, 20.0, 4.0, 1.0), (1, 1.0, 2.0, 0.5)]),
        },
    ),
    Case(
        "mondrian/sides_of_boxes",
        {"attribute": 1, "low": ["low_1"], "high": ["high_1"], "boxes": Relation("boxes")},
        ["attribute", "low", "high", "n"],
        [(1, 0, 2, 5), (1, 1, 2, 4)],
        {
            "boxes": (
                dict.fromkeys(["class", "n", "low_1", "high_1"], "BIGINT"),
                [(3, 2, 0, 2), (4, 4, 1, 2), (5, 3, 0, 2)],
            )
        },
    ),
    # Six rows of half the range, and six below the top, with four rows of one value.
    Case(
        "mondrian/ncp",
        {name: Relation(name) for name in ("sides_of_boxes", "places", "scales", "nodes")},
        ["penalty"],
        [(9.0,)],
        {
            "sides_of_boxes": (
                dict.fromkeys(["attribute", "low", "high", "n"], "BIGINT"),
                [(0, 0, 3, 6), (1, 0, 2, 6), (0, 0, 0, 4), (1, 0, 0, 4)],
            ),
            "places": (
                _PLACE_TYPES,
                [(0, 7, 0, 10.0), (0, 9, 3, 20.0), (1, 0, 0, None), (1, 1, 1, None), (1, 2, 2, None)],
            ),
            **_SCALES,
            **_NODES,
        },
    ),
    # An ordered attribute cut after position 1, one whose median 1 was dealt, and a tree whose first child parted.
    *(
        Case(
            "mondrian/sides",
            {"moves": Relation("moves"), "chosen": Relation("chosen"), "nodes": Relation("nodes")},
            ["class", "parent", "attribute", "low", "high"],
            expected,
            {"moves": (_MOVE_TYPES, moves), "chosen": (_CHOSEN_TYPES, [chosen]), **_NODES},
        )
        for chosen, moves, expected in (
            (
                (3, 0, 1, None, None, 5, 1, None, None),
                [(3, 0, 0, 0, 5, 8), (3, 0, 1, 1, 1, 9)],
                [(8, 3, 0, None, 1), (9, 3, 0, 2, None)],
            ),
            (
                (3, 0, 1, 2, 1, 4, 2, None, None),
                [(3, 0, 0, 0, 4, 8), (3, 0, 1, 1, 2, 9)],
                [(8, 3, 0, None, 1), (9, 3, 0, 1, None)],
            ),
            (
                (3, 1, *_NO_SIDES, 1, None),
                [(3, 1, 0, 0, 5, 8), (3, 1, 1, -1, 1, 9)],
                [(8, 3, 1, 0, 1), (9, 3, 1, None, None)],
            ),
        )
    ),
    Case(
        "mondrian/regions",
        {"assignment": Relation("assignment"), "sides": Relation("sides")},
        ["class", "attribute", "low", "high"],
        [(2, 0, 2, None), (3, 0, 1, 1), (3, None, None, None), (2, None, None, None)],
        {
            "assignment": ({"class": "BIGINT"}, [(3,), (3,), (2,)]),
            "sides": (
                dict.fromkeys(["class", "parent", "attribute", "low", "high"], "BIGINT"),
                [(1, 0, 0, None, 1), (2, 0, 0, 2, None), (3, 1, 0, 1, None)],
            ),
        },
    ),
]
