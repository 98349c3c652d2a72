"""Given and expected rows of `sql/refine`."""

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation
from sql_cases.case import AT_LEAST_2, FREQUENCY_SET, UNKNOWN_OF_3, Case, relation

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
# The rows of tuples, and of classes, by a sensitive value: 1 and 2 are of one class, and have a value in common.
_VALUES = relation("values", "id n zip_0", (1, 1, 5), (2, 1, 5), (2, 2, 6), (3, 2, 6))
_OF_CLASSES = relation("class_values", "class n zip_0", (7, 2, 5), (7, 2, 6), (9, 2, 6))
_TWO_VALUES = Predicate("COUNT(c) >= 2", {}, {}, counted="zip_0")
_WANTED = ("id", "own", "class", "target", "gain")
_LIGHT = relation(
    "light",
    "id own class target gain light_out light_in",
    (1, 1, 4, 6, 9, 1, 0),
    (2, 2, 4, 7, 8, 1, 1),
    (3, 1, 4, 8, 7, 0, 0),
    (4, 1, 5, 7, 3, 0, 1),
    (5, 1, 7, 4, 2, 1, 0),
)
_LEADERS = relation("leaders", "class id light", (4, 1, 1), (5, 4, 0), (6, 1, 0), (7, 2, 1), (8, 3, 0))


def _named(*names: str) -> dict[str, Relation]:
    return {name: Relation(name) for name in names}


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
        {"generalizations": Relation("cells"), "counted": Relation("cells"), "safe": AT_LEAST_2},
        ("id", "n", "key", "cost"),
        [(1, 1, 10, 5), (2, 1, 10, 0), (3, 3, 12, 0), (3, 3, 10, 0)],
        _CELLS,
    ),
    Case(
        "refine/cells",
        {"generalizations": Relation("cells"), "counted": Relation("cells"), "safe": UNKNOWN_OF_3},
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
        {"chosen": Relation("placed"), "counted": Relation("placed"), "safe": AT_LEAST_2},
        _OF_STATE,
        [(3, 2, 4), (4, 1, 4)],
        _PLACED,
    ),
    Case(
        "refine/safe",
        {"chosen": Relation("placed"), "counted": Relation("placed"), "safe": UNKNOWN_OF_3},
        _OF_STATE,
        [],
        _PLACED,
    ),
    Case(
        "refine/safe",
        {"chosen": Relation("state"), "counted": Relation("class_values"), "safe": _TWO_VALUES},
        _OF_STATE,
        [(1, 1, 7), (2, 1, 7)],
        {**_STATE, **_OF_CLASSES},
    ),
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
        {**{name: Relation(name) for name in _RESTS}, "counted": Relation("rests"), "near": 10, "safe": AT_LEAST_2},
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
        ("movers", "dirty"),
        [(2, 1)],
        relation(
            "movers",
            "id own most dirty",
            (1, 2, 7, True),
            (2, 2, 6, True),
            (3, 1, 1, False),
            (4, 1, 4, False),
            dirty="BOOLEAN",
        ),
    ),
    Case(
        "refine/loose",
        {**_named("movers", "classes"), "k": 3},
        ("id", "class", "most", "place"),
        # of class 7 two of one row can go, but not three; of class 8 the one that saves most per row, as always
        [(2, 7, 9, 1), (1, 7, 8, 2), (4, 8, 7, 1)],
        {
            **relation(
                "movers", "id own class most", (1, 1, 7, 8), (2, 1, 7, 9), (3, 1, 7, 7), (4, 3, 8, 7), (5, 4, 8, 8)
            ),
            **relation("classes", "class n", (7, 5), (8, 3)),
        },
    ),
    Case(
        "refine/loosened",
        _named("state", "loose", "unsafe"),
        _OF_STATE,
        [(3, 1, 7), (5, 2, 9)],
        {
            **relation("state", "id n class", (1, 1, 7), (2, 1, 7), (3, 1, 7), (4, 1, 9), (5, 2, 9)),
            **relation("loose", "id class place", (1, 7, 1), (2, 7, 2), (4, 9, 1), (5, 9, 2)),
            **relation("unsafe", "class", (9,)),
        },
    ),
    Case("refine/highest", _named("state"), ("class",), [(9,)], _STATE),
    Case(
        "refine/returned",
        {**_named("regrouped", "loose", "classes"), "above": 9},
        _OF_STATE,
        # class 10 costs less than its two tuples save, 11 as much as its own one does; 5 had no class before
        [(1, 1, 10), (2, 1, 10), (3, 2, 8), (4, 1, 9)],
        {
            **relation("regrouped", "id n class", (1, 1, 10), (2, 1, 10), (3, 2, 11), (4, 1, 9), (5, 1, 11)),
            **relation("loose", "id class most place", (1, 7, 5, 1), (2, 8, 5, 1), (3, 8, 6, 1)),
            **relation("classes", "class n cost", (9, 1, 0), (10, 2, 4), (11, 3, 2)),
        },
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
    Case(
        "refine/values",
        {"frequency_set": Relation("counted"), "keys": ["age_0"], "sensitive": ["zip_0"]},
        ("id", "n", "zip_0"),
        [(1, 1, 0), (1, 2, 1), (2, 1, 1), (3, 4, 0)],
        FREQUENCY_SET,
    ),
    Case(
        "refine/placed_values",
        {**_named("placed", "values"), "columns": ["class", "zip_0"]},
        ("n", "class", "zip_0"),
        [(2, 4, 6)],
        {**_PLACED, **_VALUES},
    ),
    Case(
        "refine/class_values",
        {**_named("state", "values"), "sensitive": ["zip_0"]},
        ("class", "n", "zip_0"),
        [(7, 2, 5), (7, 2, 6), (9, 2, 6)],
        {**_STATE, **_VALUES},
    ),
    Case(
        "refine/leavers",
        {**_named("rests", "class_values"), "most": 3},
        ("id", "class"),
        [(2, 7)],  # the second saves 12, the first 10, the third nothing; each asks for two rows
        {"rests": _RESTS["rests"], **_OF_CLASSES},
    ),
    Case(
        "refine/rest_values",
        {**_named("leavers", "class_values", "values"), "sensitive": ["zip_0"]},
        ("id", "n", "zip_0"),
        [(1, 1, 5), (1, 2, 6), (2, 1, 5)],  # without tuple 2 nobody of its class has the value 6
        {**relation("leavers", "id class", (1, 7), (2, 7)), **_OF_CLASSES, **_VALUES},
    ),
    Case(
        "refine/pairs",
        {**_named("wanted", "class_values"), "most": 3},
        ("pair", *_WANTED),
        [(1, 2, 3, 8, 7, 6), (2, 1, 1, 8, 9, 5)],
        {**relation("wanted", " ".join(_WANTED), (1, 1, 8, 9, 5), (1, 1, 8, 7, 4), (2, 3, 8, 7, 6)), **_OF_CLASSES},
    ),
    Case(
        "refine/pair_values",
        {**_named("pairs", "class_values", "values"), "sensitive": ["zip_0"]},
        ("pair", "n", "zip_0"),
        [(4, 2, 6), (4, 1, 5)],
        {**relation("pairs", "pair id target", (4, 1, 9)), **_OF_CLASSES, **_VALUES},
    ),
    Case(
        "refine/safe_pairs",
        {**_named("pairs", "pair_values"), "safe": _TWO_VALUES},
        _WANTED,
        [(1, 1, 8, 7, 4)],
        {
            **relation(
                "pairs", f"pair {' '.join(_WANTED)}", (1, 1, 1, 8, 9, 5), (2, 1, 1, 8, 7, 4), (3, 1, 1, 8, 6, 3)
            ),
            **relation("pair_values", "pair n zip_0", (1, 3, 5), (2, 1, 5), (2, 1, 6), (3, 1, 5), (3, 1, 6)),
        },
    ),
    Case(
        "refine/sound_moves",
        _named("moves", "state", "unsafe"),
        _OF_STATE,
        [(3, 2, 7)],  # 1 would go into a class that is then unsafe, 2 leaves one
        {
            **relation("moves", "id n class", (1, 1, 9), (2, 1, 7), (3, 2, 7)),
            **relation("state", "id n class", (1, 1, 7), (2, 1, 8), (3, 2, 6)),
            **relation("unsafe", "class", (9,), (8,)),
        },
    ),
    Case(
        "refine/light",
        _named("best", "movers", "classes"),
        (*_WANTED, "light_out", "light_in"),
        [(1, 1, 4, 6, 3, 0, 0), (2, 2, 4, 6, 10, 1, 1)],
        {
            **relation("best", " ".join(_WANTED), (1, 1, 4, 6, 3), (2, 2, 4, 6, 10)),
            **relation("movers", "id most", (1, 12), (2, 20)),
            **relation("classes", "class cost", (4, 10), (6, 5)),
        },
    ),
    Case("refine/leaders", {"light": Relation("light")}, ("class", "id", "light"), _LEADERS["leaders"][1], _LIGHT),
    Case(
        "refine/moves_apart",
        _named("light", "leaders", "crowded"),
        _OF_STATE,
        [(1, 1, 6), (2, 2, 7), (4, 1, 7)],  # 3 would change what 4 costs, and 5 does not join it at the same cost
        {**_LIGHT, **_LEADERS, **relation("crowded", "class")},
    ),
    Case(
        "refine/moves_apart",
        _named("light", "leaders", "crowded"),
        _OF_STATE,
        [(1, 1, 6), (2, 2, 7)],
        {**_LIGHT, **_LEADERS, **relation("crowded", "class", *[(7,)] * 3)},
    ),
    Case(
        "refine/joinable_rows",
        {**_named("classes", "class_values", "open", "values"), "sensitive": ["zip_0"]},
        ("class", "times", "n", "zip_0"),
        [
            (9, 1, 2, 6),
            (9, 2, 2, 6),
            (9, 4, 2, 6),
            (9, 8, 2, 6),
            (9, 4, 1, 5),
            (9, 8, 1, 5),
            (9, 4, 2, 6),
            (9, 8, 2, 6),
        ],
        {  # the outsider has three rows, which are too many for one and a half times two
            **relation("classes", "class n", (9, 2)),
            **relation("class_values", "class n zip_0", (9, 2, 6)),
            **relation("open", "id n", (2, 3)),
            **_VALUES,
        },
    ),
    Case(
        "refine/ranked",
        {**_named("classes", "joinable_rows"), "safe": _TWO_VALUES},
        ("class", "place"),
        [(3, 1), (2, 2), (1, 3)],
        {
            **relation("classes", "class cost", (1, 5), (2, 6), (3, 1)),
            **relation("joinable_rows", "class times n zip_0", (3, 1, 1, 5), (3, 1, 1, 6), (2, 1, 1, 5)),
        },
    ),
    Case(
        "refine/kept",
        {**_named("state", "ranked"), "first": 1},
        _OF_STATE,
        [(3, 2, 9)],
        {**_STATE, **relation("ranked", "class place", (7, 1), (9, 2))},
    ),
]
