"""Given and expected rows of `sql/refine`."""

from kanon_sql.queries import Relation
from sql_cases.case import AT_LEAST_2, UNKNOWN_OF_3, Case

# What `refine` works on: tuples with an id, states that give them a class, cells that they may share.
_TUPLES = {"tuples": (dict.fromkeys(["id", "n", "age_0"], "BIGINT"), [(1, 1, 0), (2, 1, 0), (3, 2, 1)])}
_STATE = {"state": (dict.fromkeys(["id", "n", "class"], "BIGINT"), [(1, 1, 7), (2, 1, 7), (3, 2, 9)])}
_PLACED = {"placed": (dict.fromkeys(["id", "n", "class"], "BIGINT"), [(3, 2, 4), (4, 1, 4)])}
_CELLS = {
    "cells": (
        dict.fromkeys(["id", "n", "key", "cost"], "BIGINT"),
        [(1, 1, 10, 5), (1, 1, 11, 0), (2, 1, 10, 0), (3, 3, 12, 0), (3, 3, 10, 0)],
    )
}
_HALVES = {
    "one": (dict.fromkeys(["id", "n", "key", "cost"], "BIGINT"), [(1, 2, 10, 0), (1, 2, 11, 3), (2, 1, 10, 0)]),
    "other": (dict.fromkeys(["id", "n", "key", "cost"], "BIGINT"), [(1, 2, 100, 1), (1, 2, 200, 4)]),
}
_COSTS = {"costs": (dict.fromkeys(["n", "cost"], "BIGINT"), [(5, 3), (2, 0)])}
_RESTS = {
    "rests": (
        {"dirty": "BOOLEAN", **dict.fromkeys(["id", "class", "n", "cost", "own", "before"], "BIGINT")},
        # of a class of 3 rows at 4 each: the rest costs less, is too small, costs the same
        [(True, 1, 7, 2, 1, 1, 12), (True, 2, 7, 1, 0, 2, 12), (False, 3, 7, 2, 6, 1, 12)],
    ),
    "classes": (
        {"dirty": "BOOLEAN", **dict.fromkeys(["class", "tuples", "n", "cost"], "BIGINT")},
        [(True, 7, 3, 3, 4), (False, 8, 1, 2, 5), (True, 9, 1, 2, 0)],
    ),
    "state": (dict.fromkeys(["id", "n", "class"], "BIGINT"), [(1, 1, 7), (4, 2, 8), (5, 2, 9)]),
}
_GAINS = {
    "gains": (
        dict.fromkeys(["id", "own", "class", "target", "gain"], "BIGINT"),
        # the best for both their classes are 2 (from 5 to 6, which 1 wants too) and 3 (alone)
        [(1, 1, 4, 6, 3), (2, 2, 5, 6, 8), (3, 1, 7, 8, 1)],
    )
}
_OF_STATE, _GAIN_COLUMNS = ("id", "n", "class"), ("id", "own", "class", "target", "gain")

CASES = [
    Case("refine/none", {"tuples": Relation("tuples")}, _OF_STATE, [], _TUPLES),
    Case(
        "refine/open",
        {"tuples": Relation("tuples"), "placed": Relation("placed"), "keys": ["age_0"]},
        ("id", "n", "age_0"),
        [(1, 1, 0), (2, 1, 0)],
        {**_TUPLES, **_PLACED},
    ),
    Case(
        "refine/node",
        {"tuples": Relation("tuples"), "columns": ["age_0"]},
        _OF_STATE,
        [(1, 1, 1), (2, 1, 1), (3, 2, 2)],
        _TUPLES,
    ),
    Case(
        "refine/cells",
        {"generalizations": Relation("cells"), "safe": AT_LEAST_2},
        ("id", "n", "key", "cost"),
        [(1, 1, 10, 5), (2, 1, 10, 0), (3, 3, 12, 0), (3, 3, 10, 0)],
        _CELLS,
    ),
    Case(
        "refine/cells",
        {"generalizations": Relation("cells"), "safe": UNKNOWN_OF_3},
        ("id", "n", "key", "cost"),
        [(1, 1, 10, 5), (1, 1, 11, 0), (2, 1, 10, 0), (3, 3, 10, 0)],
        _CELLS,
    ),
    Case(
        "refine/joined",
        {"one": Relation("one"), "other": Relation("other"), "above": 1, "most": 4},
        ("id", "n", "key", "cost"),
        [(1, 2, 210, 4), (1, 2, 111, 4)],
        _HALVES,
    ),
    Case("refine/choice", {"cells": Relation("cells")}, _OF_STATE, [(1, 1, 11), (2, 1, 10), (3, 3, 10)], _CELLS),
    Case(
        "refine/open_cells",
        {"cells": Relation("cells"), "placed": Relation("placed")},
        ("id", "n", "key", "cost"),
        [(1, 1, 10, 5), (1, 1, 11, 0), (2, 1, 10, 0)],
        {**_CELLS, **_PLACED},
    ),
    Case(
        "refine/safe",
        {"chosen": Relation("placed"), "safe": AT_LEAST_2},
        _OF_STATE,
        [(3, 2, 4), (4, 1, 4)],
        _PLACED,
    ),
    Case("refine/safe", {"chosen": Relation("placed"), "safe": UNKNOWN_OF_3}, _OF_STATE, [], _PLACED),
    Case(
        "refine/grown",
        {"state": Relation("state"), "placed": Relation("placed")},
        _OF_STATE,
        [(1, 1, 7), (2, 1, 7), (3, 2, 9), (3, 2, 4), (4, 1, 4)],
        {**_STATE, **_PLACED},
    ),
    Case(
        "refine/moved",
        {"state": Relation("state"), "moves": Relation("placed")},
        _OF_STATE,
        [(1, 1, 7), (2, 1, 7), (3, 2, 4), (4, 1, 4)],
        {**_STATE, **_PLACED},
    ),
    Case(
        "refine/cut",
        {
            **{name: Relation(name) for name in ("state", "open", "assignment")},
            "keys": ["age_0", "zip_0"],
            "above": 100,
        },
        _OF_STATE,
        [(1, 1, 7), (2, 1, 7), (3, 2, 9), (4, 1, 101), (5, 3, 100)],
        {
            **_STATE,
            "open": (dict.fromkeys(["id", "n", "age_0", "zip_0"], "BIGINT"), [(4, 1, 0, 2), (5, 3, 0, 1)]),
            "assignment": (dict.fromkeys(["age_0", "zip_0", "class"], "BIGINT"), [(0, 1, 0), (0, 2, 1)]),
        },
    ),
    Case("refine/size", {"state": Relation("state")}, ("classes", "rows"), [(2, 4)], _STATE),
    Case("refine/classes_of", {"state": Relation("state")}, ("class",), [(7,), (9,)], _STATE),
    Case("refine/cost", {"classes": Relation("costs")}, ("rows", "cost"), [(7, 15)], _COSTS),
    Case(
        "refine/assignment",
        {"tuples": Relation("tuples"), "state": Relation("state"), "keys": ["age_0"]},
        ("age_0", "n", "class"),
        [(0, 1, 1), (0, 1, 1), (1, 2, 2)],
        {**_TUPLES, **_STATE},
    ),
    Case(
        "refine/movers",
        {**{name: Relation(name) for name in _RESTS}, "near": 10, "safe": AT_LEAST_2},
        ("id", "own", "class", "dirty", "most", "place"),
        [(1, 1, 7, True, 10, 1), (4, 2, 8, False, 10, 2)],
        _RESTS,
    ),
    Case(
        "refine/outsiders",
        {"open": Relation("placed"), "most": 99},
        ("id", "own", "class", "dirty", "most", "place"),
        [(3, 2, -3, True, 99, 1), (4, 1, -4, True, 99, 2)],
        _PLACED,
    ),
    Case(
        "refine/far",
        {"movers": Relation("movers"), "near": 3},
        ("movers",),
        [(1,)],
        {"movers": (dict.fromkeys(["id", "own", "most"], "BIGINT"), [(1, 2, 7), (2, 2, 6), (3, 1, 1)])},
    ),
    Case("refine/moves", {"best": Relation("gains")}, _OF_STATE, [(2, 2, 6), (3, 1, 8)], _GAINS),
    Case(
        "refine/dirty",
        {"best": Relation("gains"), "moves": Relation("placed"), "movers": Relation("movers"), "seen": 1, "far": 3},
        ("class",),
        [(4,), (5,), (7,), (12,), (13,)],
        {
            **_GAINS,
            **_PLACED,
            "movers": (dict.fromkeys(["class", "place"], "BIGINT"), [(11, 1), (12, 2), (13, 3), (14, 4)]),
        },
    ),
]
