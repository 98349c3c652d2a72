"""Given and expected rows of `sql/series`."""

from typing import Any

from kanon_sql.queries import Relation, Same
from sql_cases.case import Case, Rows, relation

_TYPES = dict.fromkeys(["q0", "v1", "v2", "owner"], "VARCHAR")


def _case(name: str, gives: str, expected: Rows, given: dict[str, tuple[str, Rows]], **holes: Any) -> Case:
    """A case whose relations, by the holes they fill, are given as their columns and rows."""
    relations: dict[str, Any] = {}
    for hole, (columns, content) in given.items():
        relations |= relation(f"given_{hole}", columns, *content, **_TYPES)
    filled = {hole: Relation(f"given_{hole}") for hole in given}
    return Case(f"series/{name}", {**filled, **holes}, gives.split(), expected, relations)


_ROWS = (
    "release class v1 v2 n",
    [
        *[(0, 1, "x", "a", 2), (1, 1, "x", "a", 2), (0, 1, "y", None, 1), (1, 1, "y", None, 3)],
        *[(0, 1, None, "a", 1), (1, 1, None, "a", 1), (0, 2, "x", "a", 2), (1, 2, None, "a", 1)],
    ],
)
_CHANGING = ("number class v1 v2", [(1, 1, "y", None), (2, 2, None, "a"), (3, 2, "x", "a")])
_SETS = "class older newer way v1"

CASES = [
    _case(
        "release_rows",
        "release q0 v1 n",
        [(3, "a", "7", 2), (3, "a", None, 1), (3, None, "7", 1)],
        {"relation": ("q0 x", [("a", 7), (None, 7), ("a", None), ("a", 7)])},
        release=3,
        columns=["q0", "v1"],
        texts={"q0": "q0", "v1": "x"},
    ),
    _case(
        "classes",
        "class q0",
        [(1, "a"), (2, None)],
        {"series": ("q0 v1", [("a", "x"), (None, "x"), ("a", None), (None, "x")])},
        labels=["q0"],
    ),
    _case(
        "classed_rows",
        "release class v1 n",
        [(0, 1, "x", 2), (1, 2, None, 1)],
        {
            "series": ("release q0 v1 n", [(0, "a", "x", 2), (1, None, None, 1), (1, "b", "x", 1)]),
            "classes": ("class q0", [(1, "a"), (2, None)]),
        },
        columns=["v1"],
        same=Same(["q0"], "s", "c"),
    ),
    _case(
        "steady_values",
        "class v1",
        [(1, "x"), (1, None)],
        {"rows": _ROWS},
        columns=["v1", "v2"],
        value=["v1"],
        releases=2,
    ),
    _case(
        "changing_rows",
        "number class v1 v2",
        [(1, 1, "y", None), (2, 2, "x", "a"), (3, 2, None, "a")],
        {"rows": _ROWS},
        columns=["v1", "v2"],
        releases=2,
    ),
    _case(
        "changing_counts",
        "number class v1 release n",
        [
            *[(1, 1, "y", 0, 1), (1, 1, "y", 1, 3), (2, 2, None, 0, 0)],
            *[(2, 2, None, 1, 1), (3, 2, "x", 0, 2), (3, 2, "x", 1, 0)],
        ],
        {"changing": _CHANGING, "rows": _ROWS, "releases": ("release", [(0,), (1,)])},
        value=["v1"],
        same=Same(["v1", "v2"], "r", "c"),
    ),
    _case(
        "changed_pairs",
        "class older newer",
        [(1, 1, 0), (1, 2, 0)],
        {
            "counts": (
                "number class v1 release n",
                [(1, 1, "x", 0, 2), (1, 1, "x", 1, 1), (1, 1, "x", 2, 1), (2, 2, None, 0, 3), (2, 2, None, 1, 3)],
            )
        },
    ),
    # Class 1: x is steady, one y comes and a NULL leaves; in class 2, two rows with x take turns.
    _case(
        "value_sets",
        _SETS,
        [
            *[(1, 0, 0, 0, "x"), (1, 0, 0, 0, "y"), (1, 1, 1, 0, "x"), (1, 1, 1, 0, "y"), (1, 1, 1, 0, None)],
            *[(1, 1, 0, 1, "y"), (1, 1, 0, 2, None), (1, 1, 0, 3, "x"), (1, 1, 0, 3, "y")],
            *[(2, 0, 0, 0, "x"), (2, 1, 1, 0, "x"), (2, 1, 0, 1, "x"), (2, 1, 0, 2, "x")],
        ],
        {
            "counts": (
                "number class v1 release n",
                [
                    *[(1, 1, "y", 1, 1), (1, 1, "y", 0, 2), (2, 1, None, 1, 1), (2, 1, None, 0, 0)],
                    *[(3, 2, "x", 1, 1), (3, 2, "x", 0, 0), (4, 2, "x", 1, 0), (4, 2, "x", 0, 1)],
                ],
            ),
            "pairs": ("class older newer", [(1, 1, 0), (2, 1, 0)]),
            "steady": ("class v1", [(1, "x")]),
            "releases": ("release", [(0,), (1,)]),
        },
        value=["v1"],
    ),
    _case(
        "remaining_values",
        "class v1",
        [(1, "x"), (1, None), (2, "y")],
        {
            "sets": (
                _SETS,
                [
                    *[(1, 0, 0, 0, "x"), (1, 0, 0, 0, None), (1, 1, 1, 0, "x"), (1, 1, 1, 0, None), (1, 1, 1, 0, "y")],
                    *[(1, 1, 0, 2, "x"), (1, 1, 0, 2, None), (2, 0, 0, 0, "y"), (3, 0, 0, 0, "x"), (3, 1, 1, 0, "y")],
                ],
            )
        },
        value=["v1"],
    ),
    *(
        _case(
            "fewest_in_classes",
            "fewest few",
            [expected],
            {"classes": ("class", classes), "remaining": ("class v1", [(1, "x"), (1, None), (2, "y")])},
            least=2,
        )
        for expected, classes in (((0, 2), [(1,), (2,), (3,)]), ((2, 0), [(1,)]), ((None, 0), []))
    ),
    # p moves from 1 to 2, and q only changes how often they are in 1; r comes to two classes.
    _case(
        "movers",
        "owner class",
        [("p", 1), ("p", 2)],
        {
            "counts": (
                "number class owner release n",
                [
                    *[(1, 1, "p", 2, 1), (1, 1, "p", 1, 0), (1, 1, "p", 0, 0)],
                    *[(2, 2, "p", 2, 0), (2, 2, "p", 1, 0), (2, 2, "p", 0, 2)],
                    *[(3, 1, "q", 2, 1), (3, 1, "q", 1, 2), (3, 1, "q", 0, 1)],
                    *[(4, 1, "r", 2, 0), (4, 1, "r", 1, 1), (4, 1, "r", 0, 1)],
                    *[(5, 3, "r", 2, 0), (5, 3, "r", 1, 1), (5, 3, "r", 0, 1)],
                    *[(6, 1, None, 2, 1), (6, 1, None, 1, 0), (6, 1, None, 0, 0)],
                    *[(7, 2, None, 2, 0), (7, 2, None, 1, 1), (7, 2, None, 0, 1)],
                ],
            )
        },
        owner={"owner": "owner"},
    ),
    *(
        _case(
            "fewest_of_movers",
            "fewest few",
            [expected],
            {
                "movers": ("owner class", movers),
                "remaining": ("class v1", [(1, "x"), (1, None), (2, None), (2, "y"), (3, "x"), (3, None)]),
            },
            least=2,
            value=["v1"],
        )
        for expected, movers in (
            ((0, 2), [("p", 1), ("p", 3), ("q", 1), ("q", 2), ("r", 2), ("r", 4)]),
            ((2, 0), [("p", 1), ("p", 3)]),
            ((None, 0), []),
        )
    ),
]
