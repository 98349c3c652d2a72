"""Given and expected rows of `sql/deferral`."""

import hashlib
from dataclasses import replace
from typing import Any

from kanon_sql.privacy import PEOPLE, Predicate, all_of, k_anonymity, l_diversity
from kanon_sql.queries import Relation, Same
from sql_cases.case import AT_LEAST_2, UNKNOWN_OF_3, Case, Rows, relation

_TYPES = dict.fromkeys(["q0", "q1", "v1", "owner", "key", "since", "_sensitive_0"], "VARCHAR") | {"x": "FLOAT8"}


def _case(name: str, gives: str, expected: Rows, given: dict[str, tuple[str, Rows]], **holes: Any) -> Case:
    """A case whose relations are given as columns and rows, by the holes that they fill."""
    relations: dict[str, Any] = {}
    for hole, (columns, content) in given.items():
        relations |= relation(f"given_{hole}", columns, *content, **_TYPES)
    filled = {hole: Relation(f"given_{hole}") for hole in given}
    return Case(f"deferral/{name}", {**filled, **holes}, gives.split(), expected, relations)


def _key(text: str) -> str:
    """The digest of a row, given as the list of its values."""
    return hashlib.md5(text.encode()).hexdigest()


_ROWS_MOVING, _ROWS_UNMOVING = Predicate("SUM(x.n)"), Predicate("SUM(n)")
_PEOPLE = Predicate("COUNT(DISTINCT owner)")

_CLASSES = ("class q0", [(1, "a"), (2, None)])

_CHANGES = [
    _case(
        "appearing_or_vanishing",
        "class choice",
        [
            (1, 1),
            (3, 1),
        ],  # 1 vanishes, 2 keeps a row that never moves, 3 appears, 4 has a row
        {
            "choices": (
                "choice number n",
                [(1, 1, 0), (4, 1, 5), (1, 2, 0), (4, 2, 1), (1, 3, 5), (4, 3, 0), (1, 4, 0), (1, 5, 2), (4, 4, 1)],
            ),
            "rows": ("number class before", [(1, 1, 5), (2, 2, 1), (3, 3, 0), (4, 4, 1), (5, 4, 0)]),
            "unmoved": ("class n", [(2, 3)]),
        },
    ),
    _case(
        "cells",
        "a b n",
        [("m", "y", 2), ("m", None, 1), (None, "y", 1)],
        {"relation": ("q0 v1 owner", [("m", "y", "p"), ("m", None, "p"), (None, "y", None), ("m", "y", None)])},
        names=["a", "b"],
        columns={"a": "q0", "b": "v1"},
        texts={},
    ),
    # Equal numbers with other texts are other rows; engines write zeros in different ways, so these are texts already.
    _case(
        "cells",
        "b b_text n",
        [(1.5, "1.5", 2), (1.5, "1.50", 1), (2.25, "2.25", 1), (None, None, 2)],
        {
            "relation": (
                "x v1",
                [(1.5, "1.5"), (None, None), (1.5, "1.50"), (2.25, "2.25"), (None, None), (1.5, "1.5")],
            )
        },
        names=["b", "b_text"],
        columns={"b": "x"},
        texts={"b_text": "v1"},
    ),
    _case(
        "cells",
        "b b_text n",
        [(1.5, "1.5", 2), (None, None, 1)],
        {"relation": ("x", [(1.5,), (None,), (1.5,)])},
        names=["b", "b_text"],
        columns={"b": "x"},
        texts={"b_text": "x"},
    ),
    _case(
        "renamed",
        "a a_text n",
        [(1.5, "1.5", 1), (1.5, "1.5", 1), (None, None, 1)],
        {"relation": ("x", [(1.5,), (None,), (1.5,)])},
        columns={"a": "x"},
        texts={"a_text": "x"},
    ),
    _case(
        "changed_rows",
        "q0 v1 before after",
        [("a", "x", 2, 3), ("b", "x", 1, 0), ("c", None, 0, 2), (None, None, 3, 1)],
        {
            "before": (
                "q0 v1 n",
                [("a", "x", 2), ("a", None, 1), (None, "x", 1), ("b", "x", 1), (None, None, 3)],
            ),
            "after": (
                "q0 v1 n",
                [("a", "x", 3), ("a", None, 1), (None, "x", 1), ("c", None, 2), (None, None, 1)],
            ),
        },
        columns=["q0", "v1"],
    ),
    _case(
        "changed_classes",
        "class q0 q1",
        [(1, "a", "m"), (2, "a", None), (3, "b", "m"), (4, None, "m")],
        {
            "changed": (
                "q0 q1 v1 before after",
                [
                    *[(None, "m", "x", 1, 2), ("b", "m", "x", 0, 1), ("a", None, "x", 1, 0), ("a", "m", "x", 1, 0)],
                    *[("a", "m", "y", 0, 1), ("a", None, None, 3, 0), (None, "m", None, 0, 1)],
                ],
            )
        },
        labels=["q0", "q1"],
    ),
    _case(
        "rows_of_classes",
        "class v1 n",
        [(1, "x", 2), (2, "y", 1), (2, None, 3)],
        {
            "rows": ("q0 v1 n", [("a", "x", 2), (None, "y", 1), (None, None, 3), ("b", "x", 1)]),
            "classes": _CLASSES,
        },
        columns=["v1", "n"],
        same=Same(["q0"], "rows", "classes"),
    ),
    _case(
        "earlier_rows",
        "release class v1 n",
        [(2, 1, None, 1), (2, 1, "y", 0), (2, 2, None, 5)],
        {
            "earlier": ("class v1 n", [(1, "x", 2), (1, None, 1), (2, "x", 3), (2, None, 5)]),
            "standing": ("class v1 n", [(1, "x", 2), (1, None, 4), (1, "y", 1), (2, "x", 3)]),
        },
        release=2,
        columns=["v1"],
    ),
    _case(
        "no_earlier_rows",
        "release class v1 n",
        [],
        {"standing": ("class v1 n", [(1, "x", 2), (1, None, 4)])},
        columns=["v1"],
    ),
    _case(
        "moving_rows",
        "class v1 before after",
        [(1, "x", 3, 1), (1, "y", 2, 2), (1, "z", 0, 2), (2, None, 2, 3), (2, "w", 0, 0)],
        {
            "standing": (
                "class v1 n",
                [(1, "x", 3), (1, "y", 2), (1, None, 1), (2, "x", 4), (2, None, 2), (3, "x", 1)],
            ),
            "changed": ("class v1 before after", [(1, "x", 3, 1), (1, "z", 0, 2), (2, None, 2, 3)]),
            "earlier": (
                "release class v1 n",
                [(1, 1, "x", 4), (1, 1, "y", 5), (2, 1, "y", 0), (1, 2, "w", 1), (2, 2, None, 1)],
            ),
        },
        columns=["v1"],
        owners=["v1"],
        same=Same(["v1"], "touched", "s"),
    ),
    # In class 1, p alone has a row that changes; in class 2, r has two that an earlier release lacks or has too many.
    _case(
        "moving_rows",
        "class v1 owner before after",
        [
            *[(1, "x", "p", 1, 0), (1, None, "p", 1, 1)],
            *[(2, "z", None, 0, 1), (2, "x", None, 1, 1), (2, "x", "r", 1, 1), (2, None, "r", 0, 0)],
        ],
        {
            "standing": (
                "class v1 owner n",
                [
                    *[(1, "x", "p", 1), (1, None, "p", 1), (1, "x", "q", 1), (1, "x", None, 2), (1, "y", None, 1)],
                    *[(2, "x", "p", 1), (2, "x", "r", 1), (2, None, "s", 1), (2, "x", None, 1)],
                ],
            ),
            "changed": ("class v1 owner before after", [(1, "x", "p", 1, 0), (2, "z", None, 0, 1)]),
            "earlier": ("release class v1 owner n", [(1, 2, "x", "r", 0), (1, 2, None, "r", 1), (2, 2, "x", "r", 2)]),
        },
        columns=["v1", "owner"],
        owners=["owner"],
        same=Same(["owner"], "touched", "s"),
    ),
    # By owners; without owners, every row is alone; without other columns, all rows of a class look the same.
    _case(
        "numbered_rows",
        "number value person class v1 owner before after",
        [
            *[(1, 1, 1, 1, "x", "p", 1, 0), (2, 1, 2, 1, "x", "q", 0, 1), (3, 2, 1, 1, None, "p", 1, 1)],
            *[(4, 3, 1, 2, "x", "p", 0, 1), (5, 3, 3, 2, "x", None, 1, 1)],
        ],
        {
            "moving": (
                "class v1 owner before after",
                [
                    *[(2, "x", None, 1, 1), (1, None, "p", 1, 1), (1, "x", "q", 0, 1), (2, "x", "p", 0, 1)],
                    (1, "x", "p", 1, 0),
                ],
            )
        },
        columns=["v1", "owner"],
        visible=["v1"],
        owners=["owner"],
    ),
    _case(
        "numbered_rows",
        "number value person class v1 before after",
        [(1, 1, 1, 1, "x", 3, 1), (2, 2, 2, 1, None, 0, 2), (3, 3, 3, 2, "x", 1, 1)],
        {"moving": ("class v1 before after", [(2, "x", 1, 1), (1, None, 0, 2), (1, "x", 3, 1)])},
        columns=["v1"],
        visible=["v1"],
        owners=["class", "v1"],
    ),
    _case(
        "numbered_rows",
        "number value person class owner before after",
        [(1, 1, 1, 1, "p", 1, 0), (2, 1, 2, 1, None, 0, 1), (3, 2, 1, 2, "p", 0, 1)],
        {"moving": ("class owner before after", [(2, "p", 0, 1), (1, None, 0, 1), (1, "p", 1, 0)])},
        columns=["owner"],
        visible=["class"],
        owners=["owner"],
    ),
    # Of the earlier releases, only the rows that differ from the current one are given.
    _case(
        "counts",
        "release number n",
        [
            *[(0, 1, 3), (0, 2, 2), (0, 3, 0), (0, 4, 1)],
            *[(1, 1, 5), (1, 2, 2), (1, 3, 0), (1, 4, 1)],
            *[(2, 1, 3), (2, 2, 0), (2, 3, 4), (2, 4, 6)],
        ],
        {
            "rows": ("number class v1 before", [(1, 1, "x", 3), (2, 1, None, 2), (3, 2, "x", 0), (4, 2, None, 1)]),
            "releases": ("release", [(0,), (1,), (2,)]),
            "earlier": ("release class v1 n", [(1, 1, "x", 5), (2, 1, None, 0), (2, 2, "x", 4), (2, 2, None, 6)]),
        },
        same=Same(["v1"], "e", "r"),
    ),
    _case(
        "unmoved_rows",
        "class v1 n",
        [(1, None, 2), (2, "x", 4)],
        {
            "standing": ("class v1 n", [(1, "x", 3), (1, None, 2), (2, "x", 4), (2, None, 1)]),
            "rows": ("number class v1", [(1, 1, "x"), (2, 2, None), (3, 1, "z")]),
        },
        columns=["v1"],
        same=Same(["v1"], "r", "s"),
    ),
    _case(
        "unmoved",
        "class members stayed",
        [(1, 5, 5), (2, 1, 1)],
        {"unmoved": ("class v1 n", [(1, "x", 3), (1, None, 2), (2, None, 1)])},
        members=Predicate("SUM(n)"),
        stayed=Predicate("SUM(n)"),
    ),
    _case(
        "unmoved",
        "class members stayed",
        [(1, 2, 3), (2, 1, 2)],
        {
            "unmoved": (
                "class v1 owner n",
                [
                    *[(1, "x", "p", 2), (1, "y", "p", 1), (1, "x", None, 4), (1, None, "q", 1)],
                    *[(2, "x", None, 1), (2, None, "p", 2)],
                ],
            )
        },
        members=Predicate("COUNT(DISTINCT owner)"),
        stayed=Predicate("COUNT(DISTINCT COALESCE(owner, ''))"),
    ),
]

_CHOICES = "choice number n"
_MOVES = "choice class release came went stayed"
# Six rows in class 1, of which three are of person 11, and two in class 2.
_ROWS_OF_PEOPLE = (
    "number class person value",
    [
        *[(1, 1, 7, 1), (2, 1, 11, 1), (3, 1, 9, 1), (4, 1, 11, 2), (7, 1, 10, 1), (8, 1, 11, 4)],
        *[(5, 2, 7, 3), (6, 2, 9, 3)],
    ],
)
_NOW = [(1, 2), (2, 0), (3, 0), (4, 1), (5, 1), (6, 0), (7, 0), (8, 0)]
_LATER = [(1, 0), (2, 3), (3, 2), (4, 1), (5, 0), (6, 1), (7, 1), (8, 2)]
_EARLIER = [(1, 0), (2, 0), (3, 0), (4, 3), (5, 1), (6, 1), (7, 0), (8, 0)]
# Class 1 has rows of x and NULL that move, and unmoved ones; class 2 is left empty by choice 4.
_ROWS_OF_VALUES = ("number class v1", [(1, 1, "x"), (2, 1, None), (3, 2, "x")])
_CHOSEN_ROWS = (_CHOICES, [(1, 1, 2), (1, 2, 0), (1, 3, 4), (4, 1, 1), (4, 2, 3), (4, 3, 0)])
_OWNED = (
    "number class v1 owner",
    [(1, 1, "x", "p"), (2, 1, "x", "q"), (3, 1, None, "p"), (4, 1, "x", None), (5, 2, "y", "p")],
)
_CHOSEN_OWNED = (
    _CHOICES,
    [
        *[(1, 1, 2), (1, 2, 1), (1, 3, 1), (1, 4, 3), (1, 5, 1)],
        *[(4, 1, 1), (4, 2, 0), (4, 3, 0), (4, 4, 1), (4, 5, 0)],
    ],
)
_VALUED = {"names": ["_sensitive_0"], "value": {"_sensitive_0": "v1"}}
_OF_PEOPLE = all_of(k_anonymity(2), l_diversity("ill", 2), unit="pid")
_COUNTED, _DIVERSE = (replace(_OF_PEOPLE.predicate(model), unit=PEOPLE) for model in _OF_PEOPLE.models)
_KINDS = (
    "_kind _sensitive_0 n _rows _people",
    [
        *[(11, "x", 2, 4, 2), (11, None, 1, 1, 2)],  # two people, two values
        *[(12, "x", 1, 3, 1), (12, "y", 1, 1, 1)],  # one person with two values
        *[(14, "x", 3, 3, 3), (14, "y", 0, 2, 3)],  # three people with one value; nobody knows whose the other is
        (21, None, 2, 2, 2),
    ],
)

_DECISIONS = [
    # Row 1 loses two, row 3 stays; rows 2 and 4 are new, and of a person who waits in one of the cases.
    *(
        _case(
            "choices",
            "choice number n",
            [
                *[(1, 1, 1), (2, 1, 3), (3, 1, 1), (4, 1, 3)],
                *[(1, 2, new), (2, 2, new), (3, 2, 0), (4, 2, 0)],
                *[(1, 3, 1), (2, 3, 1), (3, 3, 1), (4, 3, 1)],
                *[(1, 4, 4 - new), (2, 4, 4), (3, 4, 4 - new), (4, 4, 4)],
                *[(1, 5, 3), (4, 5, 0)],  # a class with arrivals only
            ],
            {
                "rows": (
                    "number person class before after",
                    [(1, 7, 1, 3, 1), (2, 8, 1, 0, 2), (3, 9, 1, 1, 1), (4, 8, 1, 4, 2), (5, 6, 2, 0, 3)],
                ),
                "waiting": ("person", waiting),
            },
        )
        for new, waiting in ((2, []), (0, [(8,)]))
    ),
    _case(
        "moves",
        _MOVES,
        [
            *[(1, 1, 0, 5, 4, 2), (1, 2, 0, 0, 0, 2), (1, 1, 1, 2, 4, 5), (1, 2, 1, 2, 0, 0)],
            *[(3, 1, 0, 0, 0, 6), (3, 2, 0, 0, 0, 2), (3, 1, 1, 3, 6, 3), (3, 2, 1, 2, 0, 0)],
        ],
        {
            "choices": (
                _CHOICES,
                [
                    *[(1, 1, 1), (1, 2, 4), (1, 3, 2), (1, 4, 2), (1, 5, 0)],
                    *[(3, 1, 3), (3, 2, 0), (3, 3, 2), (3, 4, 1), (3, 5, 2)],
                    (4, 1, 9),  # none, which is not compared
                ],
            ),
            "rows": ("number class", [(1, 1), (2, 1), (3, 2), (4, 1), (5, 1)]),
            "counts": (
                "release number n",
                [
                    *[(0, 1, 3), (0, 2, 0), (0, 3, 2), (0, 4, 1), (0, 5, 2)],
                    *[(1, 1, 0), (1, 2, 5), (1, 3, 0), (1, 4, 1), (1, 5, 3)],
                ],
            ),
        },
    ),
    # By all changes, value 1 grows by 4 and value 4 by 2: with 5 and 2 rows, persons 11 and 9 suffice, without 10.
    # That 7 leaves class 1 is not seen, nor that 9 replaces 7 in class 2. Since release 1, value 1 has grown by 6,
    # which also takes 10, and value 2 has lost two rows of 11; class 2 has lost a row. All changes restore release 2.
    _case(
        "moves_of_people",
        _MOVES,
        [
            *[(1, 1, 0, 2, 0, 1), (1, 2, 0, 0, 0, 0), (1, 1, 1, 3, 1, 1), (1, 2, 1, 0, 1, 1)],
            *[(3, 1, 0, 0, 0, 2), (3, 2, 0, 0, 0, 1), (3, 1, 1, 1, 1, 1), (3, 2, 1, 0, 1, 1)],
            *[(1, 1, 2, 0, 0, 3), (1, 2, 2, 0, 0, 1), (3, 1, 2, 0, 2, 1), (3, 2, 2, 0, 0, 0)],
        ],
        {
            "choices": (_CHOICES, [*((1, *row) for row in _LATER), *((3, *row) for row in _NOW), (4, 1, 9)]),
            "rows": _ROWS_OF_PEOPLE,
            "counts": (
                "release number n",
                [(release, *row) for release, rows in enumerate((_NOW, _EARLIER, _LATER)) for row in rows],
            ),
        },
    ),
    _case(
        "hidden_moves",
        "class choice",
        [(1, 1), (1, 4), (2, 1), (2, 4), (3, 3)],
        {
            "moves": (
                _MOVES,
                [
                    *[(1, 1, 0, 3, 0, 1), (1, 1, 1, 0, 0, 1)],  # three stay, with the two unmoved ones
                    *[(2, 1, 0, 3, 0, 0), (2, 1, 1, 3, 0, 5)],  # only two stay since release 0
                    *[(3, 1, 0, 0, 4, 5), (3, 1, 1, 2, 0, 5)],  # two have come since release 1
                    *[(4, 1, 0, 0, 0, 0), (4, 1, 1, 0, 0, 0)],  # nothing happens
                    *[(1, 2, 0, 3, 3, 0), (1, 2, 1, 3, 0, 0)],  # nobody stays
                    *[(2, 2, 0, 5, 1, 9), (2, 2, 1, 0, 0, 9)],  # one has left
                    *[(3, 2, 0, 0, 3, 2), (3, 2, 1, 0, 3, 3)],  # two stay
                    *[(4, 2, 0, 0, 0, 1), (4, 2, 1, 0, 0, 2)],
                    *[(1, 3, 0, 2, 2, 5), (2, 3, 0, 3, 3, 1), (3, 3, 0, 3, 3, 3)],  # as many come as leave
                ],
            ),
            "unmoved": ("class stayed", [(1, 2)]),
        },
        k=3,
    ),
    _case(
        "kinds",
        "_kind _sensitive_0 n _rows _people _weight",
        [
            *[(11, "x", 2, 2, 8, 1), (11, None, 5, 5, 8, 1), (11, "y", 1, 1, 8, 1)],
            *[(14, "x", 1, 1, 10, 1), (14, None, 8, 8, 10, 1), (14, "y", 1, 1, 10, 1)],
            (21, "x", 4, 4, 4, 1),
        ],
        {
            "choices": _CHOSEN_ROWS,
            "rows": _ROWS_OF_VALUES,
            "unmoved": ("class v1 n", [(1, None, 5), (1, "y", 1)]),
            "sizes": ("_kind members", [(11, 8), (14, 10), (21, 4)]),
        },
        moving=_ROWS_MOVING,
        unmoving=_ROWS_UNMOVING,
        **_VALUED,
    ),
    _case(
        "kinds",
        "_kind n _rows _people _weight",
        [(11, 8, 8, 8, 1), (14, 10, 10, 10, 1), (21, 4, 4, 4, 1)],
        {
            "choices": _CHOSEN_ROWS,
            "rows": _ROWS_OF_VALUES,
            "unmoved": ("class v1 n", [(1, None, 5), (1, "y", 1)]),
            "sizes": ("_kind members", [(11, 8), (14, 10), (21, 4)]),
        },
        moving=_ROWS_MOVING,
        unmoving=_ROWS_UNMOVING,
        names=[],
        value=[],
    ),
    _case(
        "kinds",
        "_kind _sensitive_0 n _rows _people _weight",
        [
            *[(11, "x", 3, 9, 3, 1), (11, None, 2, 2, 3, 1), (14, "x", 2, 5, 2, 1), (14, None, 1, 1, 2, 1)],
            (21, "y", 1, 1, 1, 1),
        ],
        {
            "choices": _CHOSEN_OWNED,
            "rows": _OWNED,
            "unmoved": ("class v1 owner n", [(1, "x", "r", 2), (1, "x", None, 1), (1, None, "r", 1)]),
            "sizes": ("_kind members", [(11, 3), (14, 2), (21, 1)]),
        },
        moving=_PEOPLE,
        unmoving=_PEOPLE,
        **_VALUED,
    ),
    _case(
        "sizes",
        "_kind members",
        [(11, 8), (14, 10), (21, 4)],
        {"choices": _CHOSEN_ROWS, "rows": _ROWS_OF_VALUES, "unmoved": ("class members", [(1, 6)])},
        moving=_ROWS_MOVING,
    ),
    _case(
        "sizes",
        "_kind members",
        [(11, 3), (14, 2), (21, 1)],
        {"choices": _CHOSEN_OWNED, "rows": _OWNED, "unmoved": ("class members", [(1, 1)])},
        moving=_PEOPLE,
    ),
    *(
        _case("unsafe", "_kind", [(kind,) for kind in kinds], {"kinds": _KINDS}, safe=safe)
        for safe, kinds in (
            (UNKNOWN_OF_3, [11, 14]),
            (_COUNTED, [12]),
            (_DIVERSE, [14, 21]),
        )
    ),
    _case("unsafe", "_kind", [(31,)], {"kinds": ("_kind n", [(11, 1), (11, 1), (31, 1), (34, 2)])}, safe=AT_LEAST_2),
    _case(
        "unmoved_values",
        "class v1 n",
        [(1, "x", 3), (1, None, 4), (2, None, 1)],
        {
            "unmoved": (
                "class v1 owner n",
                [(1, "x", "p", 2), (1, "x", "q", 1), (1, None, "p", 3), (1, None, None, 1), (2, None, "p", 1)],
            )
        },
        value=["v1"],
    ),
    # Class 1 has no unmoved value. By choice 1 it has x and y: only x is among the x and NULL of now, and only y among
    # the y and NULL of release 1; by choice 4 only NULL is in common with release 1; by choice 3 it has x alone anyway.
    # Class 2 has unmoved rows of NULL and one of NULL that moves, the only value of the class by choice 3. In class 4
    # NULL, unmoved and moving, is all that stays with x for y. Classes 3 and 5 had only one value before.
    _case(
        "revealing",
        "class choice",
        [(1, 1), (1, 4), (2, 1), (2, 4), (4, 1)],
        {
            "choices": (
                _CHOICES,
                [
                    *[(1, 1, 2), (1, 2, 1), (1, 3, 0), (1, 4, 3), (1, 5, 0), (1, 6, 1)],
                    *[(2, 1, 2), (2, 2, 1), (2, 3, 3), (2, 4, 3), (2, 5, 2), (2, 6, 1)],
                    *[(3, 1, 1), (3, 2, 0), (3, 3, 0), (3, 4, 0), (3, 5, 0), (3, 6, 1)],
                    *[(4, 1, 1), (4, 2, 0), (4, 3, 3), (4, 4, 0), (4, 5, 2), (4, 6, 0)],
                    *[(1, 7, 1), (1, 8, 1), (1, 9, 1), (1, 10, 1), (1, 11, 0), (1, 12, 1), (1, 13, 1)],
                ],
            ),
            "rows": (
                "number class v1",
                [
                    *[(1, 1, "x"), (2, 1, "y"), (3, 1, None), (4, 2, "x"), (5, 2, "y"), (6, 2, None)],
                    *[(7, 3, "x"), (8, 3, "y"), (9, 4, None), (10, 4, "x"), (11, 4, "y"), (12, 5, None), (13, 5, "x")],
                ],
            ),
            "counts": (
                "release number n",
                [
                    *[(0, 1, 1), (0, 2, 0), (0, 3, 3), (0, 4, 0), (0, 5, 2), (0, 6, 0)],
                    *[(0, 7, 2), (0, 8, 0), (0, 9, 1), (0, 10, 0), (0, 11, 3), (0, 12, 2), (0, 13, 0)],
                    *[(1, 1, 0), (1, 2, 5), (1, 3, 2), (1, 4, 1), (1, 5, 0), (1, 6, 0)],
                    *[(1, 7, 1), (1, 8, 1), (1, 9, 0), (1, 10, 1), (1, 11, 0), (1, 12, 0), (1, 13, 4)],
                ],
            ),
            "unmoved_values": ("class v1 n", [(2, None, 4), (4, None, 2), (5, None, 1)]),
        },
        value=["v1"],
        same=Same(["v1"], "unmoved", "v"),
    ),
    # Only arrivals in class 1, where 7 would leave; all changes in class 2, where 10 waits; class 3 is closed.
    _case(
        "waiting_people",
        "person",
        [(7,), (10,)],
        {
            "rows": (
                "number person class before after",
                [
                    *[(1, 7, 1, 1, 0), (2, 8, 1, 0, 1), (3, 9, 1, 1, 1)],
                    *[(4, 7, 2, 0, 2), (5, 10, 2, 0, 1), (6, 10, 2, 3, 0), (7, 11, 3, 1, 0)],
                ],
            ),
            "decided": ("class choice", [(1, 2), (2, 1), (3, 5)]),
            "choices": (
                _CHOICES,
                [
                    *[(1, 1, 0), (1, 2, 1), (1, 3, 1), (1, 4, 2), (1, 5, 0), (1, 6, 3), (1, 7, 0)],
                    *[(2, 1, 1), (2, 2, 1), (2, 3, 1), (2, 4, 2), (2, 5, 0), (2, 6, 3), (2, 7, 1)],
                    *[(4, 1, 1), (4, 2, 0), (4, 3, 1), (4, 4, 0), (4, 5, 0), (4, 6, 3), (4, 7, 1)],
                ],
            ),
        },
    ),
]

_FINAL = "class v1 before after final"
_FINAL_ROWS = (
    _FINAL,
    [
        *[(1, "x", 3, 1, 3), (1, None, 0, 2, 0), (1, "y", 4, 4, 4)],
        *[(2, "x", 1, 1, 1), (2, None, 0, 3, 2), (2, "", 0, 1, 0)],
    ],
)
_ODD = 'a "zip"; n'
_NAMED = {"labels": ["q0"], "others": ["v1"], "columns": {_ODD: "q0", "ill": "v1"}}


def _repeated(name: str, expected: Rows) -> Case:
    """A case of rows that wait or stay, by the names of a release."""
    case = _case(name, "", expected, {"final": _FINAL_ROWS, "classes": _CLASSES}, **_NAMED)
    return replace(case, columns=[_ODD, "ill"])


_RELEASES = [
    # Only arrivals in class 1, all changes in class 2, and class 3 is closed.
    _case(
        "final_rows",
        _FINAL,
        [
            *[(1, "x", 3, 1, 3), (1, None, 0, 2, 2), (2, "x", 1, 4, 4)],
            *[(3, None, 2, 1, 0), (3, "y", 2, 2, 0), (3, "x", 1, 1, 0)],
        ],
        {
            "rows": (
                "number class v1 before after",
                [(1, 1, "x", 3, 1), (2, 1, None, 0, 2), (3, 2, "x", 1, 4), (4, 3, None, 2, 1)],
            ),
            "decided": ("class choice", [(1, 2), (2, 1), (3, 5)]),
            "choices": (
                _CHOICES,
                [(1, 1, 1), (1, 2, 2), (1, 3, 4), (1, 4, 1), (2, 1, 3), (2, 2, 2), (2, 3, 4), (2, 4, 2)],
            ),
            "unmoved": ("class v1 n", [(1, "y", 7), (2, None, 1), (3, "y", 2), (3, "x", 1)]),
        },
        columns=["v1"],
    ),
    _case("released_changes", "rows", [(3,)], {"final": ("before after final", [(3, 1, 3), (0, 2, 2), (2, 5, 1)])}),
    _repeated("waiting_rows", [("a", None), ("a", None), (None, None), (None, "")]),
    _repeated("standing_rows", [("a", "x"), ("a", "x")]),
    _case("no_rows", "v1 q0", [], {"fresh": ("q0 v1 n", [("a", "x", 1), (None, None, 2)])}, columns=["v1", "q0"]),
    # A row that waits once and stays once is there as often as before.
    _case(
        "merged_rows",
        "q0 v1",
        [("a", "x"), ("a", "x"), ("a", None), (None, "x"), ("b", None), ("b", None)],
        {
            "fresh": ("v1 q0", [("x", "a"), ("x", "a"), (None, "a"), (None, "a"), ("x", None), (None, None)]),
            "waiting": ("q0 v1", [("a", "x"), ("a", None), (None, None)]),
            "standing": ("v1 q0", [("x", "a"), (None, "b"), (None, "b")]),
        },
        columns=["q0", "v1"],
        texts={},
    ),
    # Two rows of 0.0 that wait leave no row of -0.0 out.
    _case(
        "merged_rows",
        "q0 x",
        [("a", -0.0), ("a", -0.0), ("a", 1.5), ("b", 0.0), (None, None)],
        {
            "fresh": ("q0 x", [("a", 0.0), ("a", -0.0), ("a", 1.5), ("a", 1.5), (None, None), (None, None)]),
            "waiting": ("x q0", [(0.0, "a"), (0.0, "a"), (1.5, "a"), (None, None)]),
            "standing": ("q0 x", [("b", 0.0), ("a", -0.0)]),
        },
        columns=["q0", "x"],
        texts={"x_text": "x"},
    ),
    _case(
        "shown_rows",
        "v1 q0",
        [("x", "a"), ("y", "a"), ("y", "a"), (None, "a"), ("x", "b"), ("w", None), (None, None)],
        {
            "merged": (
                "q0 v1",
                [
                    *[(None, None), ("a", "y"), ("b", "x"), ("a", None), (None, "w"), ("a", "x")],
                    ("a", "y"),
                ],
            )
        },
        columns=["v1", "q0"],
        order=["q0", "v1"],
    ),
    # p waits with an arrival and a departure, q and s with an arrival, and somebody unknown with a departure.
    _case(
        "waiting_owners",
        "key since arrivals departures",
        [("p", "t1", 1, 1), ("q", "t9", 1, 0), (None, "t9", 0, 1), ("s", "t2", 1, 0)],
        {
            "final": (
                "class v1 owner before after final",
                [
                    *[(1, "x", "p", 1, 0, 1), (1, "y", "p", 0, 1, 0), (2, "x", "p", 1, 1, 1), (2, "x", "q", 0, 3, 0)],
                    *[(1, "x", "r", 1, 1, 1), (1, "y", "r", 0, 2, 2), (2, None, None, 2, 1, 2), (2, "x", "s", 1, 1, 0)],
                ],
            ),
            "classes": _CLASSES,
            "earlier": ("key since", [("p", "t1"), ("r", "t0"), ("s", "t2")]),
        },
        now="t9",
    ),
    _case(
        "waiting_kinds",
        "key since arrivals departures",
        [
            *[(_key("['=a', '=x']"), "t9", 0, 2), (_key("['=a', '']"), "t1", 2, 0)],
            *[(_key("['', '']"), "t9", 1, 0), (_key("['', '=']"), "t2", 1, 0)],
        ],
        {
            "final": _FINAL_ROWS,
            "classes": _CLASSES,
            "earlier": (
                "key since",
                [(_key("['=a', '']"), "t1"), (_key("['', '=']"), "t2"), (_key("['=a', '=y']"), "t0")],
            ),
        },
        labels=["q0"],
        others=["v1"],
        now="t9",
    ),
    *(
        _case(
            "waiting_counts",
            "waiting arrivals departures oldest",
            [expected],
            {"keys": ("key since arrivals departures", keys)},
        )
        for expected, keys in (
            ((3, 2, 2, "t1"), [("p", "t2", 1, 1), ("q", "t1", 1, 0), (None, "t3", 0, 1)]),
            ((5, 2, 3, "t1"), [("k", "t1", 2, 0), ("l", "t2", 0, 3)]),
            ((0, 0, 0, None), []),
        )
    ),
]

_OLD_SETS, _NEW_SETS = "class older newer way v1", "class choice older way v1"
_LOOKS = ("class shown v1 release n", [(1, 1, "x", 0, 2), (1, 1, "x", 1, 1), (1, 2, None, 0, 0), (1, 2, None, 1, 1)])
_COMMON_VALUES = [
    _case(
        "shown_counts",
        "class shown v1 release n",
        [(1, 1, "x", 0, 3), (1, 1, "x", 1, 1), (1, 2, None, 0, 0), (1, 2, None, 1, 4)],
        {
            "rows": ("number class value v1", [(1, 1, 1, "x"), (2, 1, 1, "x"), (3, 1, 2, None)]),
            "counts": (
                "release number n",
                [(0, 1, 1), (0, 2, 2), (0, 3, 0), (1, 1, 0), (1, 2, 1), (1, 3, 4)],
            ),
        },
        value=["v1"],
    ),
    _case(
        "changed_pairs",
        "class older newer",
        [(1, 1, 0), (1, 2, 0)],
        {
            "shown": (
                "class shown v1 release n",
                [(1, 1, "x", 0, 2), (1, 1, "x", 1, 1), (1, 1, "x", 2, 1), (2, 2, None, 0, 3), (2, 2, None, 1, 3)],
            )
        },
    ),
    # One x comes and a NULL goes; y never moves, and both y and x stay.
    _case(
        "earlier_values",
        _OLD_SETS,
        [
            *[(1, 0, 0, 0, "x"), (1, 0, 0, 0, "y"), (1, 1, 1, 0, "x"), (1, 1, 1, 0, "y"), (1, 1, 1, 0, None)],
            *[(1, 1, 0, 1, "x"), (1, 1, 0, 2, None), (1, 1, 0, 3, "x"), (1, 1, 0, 3, "y")],
        ],
        {
            "shown": _LOOKS,
            "unmoved": ("class v1 n", [(1, "y", 3)]),
            "releases": ("release", [(0,), (1,)]),
            "pairs": ("class older newer", [(1, 1, 0)]),
        },
        value=["v1"],
    ),
    _case(
        "earlier_common_values",
        "class v1",
        [(1, None), (2, "y")],
        {
            "sets": (
                _OLD_SETS,
                [
                    *[(1, 0, 0, 0, "x"), (1, 0, 0, 0, None), (1, 1, 0, 2, None), (2, 0, 0, 0, "y"), (3, 0, 0, 0, "x")],
                    *[(3, 1, 1, 0, "y")],
                ],
            )
        },
        value=["v1"],
    ),
    # By choice 1 a NULL comes, and by choice 4 nothing changes since release 0.
    _case(
        "compared_counts",
        "class choice v1 older before after",
        [
            *[(1, 1, "x", 0, 2, 2), (1, 1, "x", 1, 1, 2), (1, 1, None, 0, 0, 1), (1, 1, None, 1, 1, 1)],
            *[(1, 4, "x", 0, 2, 2), (1, 4, "x", 1, 1, 2), (1, 4, None, 0, 0, 0), (1, 4, None, 1, 1, 0)],
        ],
        {
            "choices": (_CHOICES, [(1, 1, 2), (1, 2, 1), (4, 1, 2), (4, 2, 0)]),
            "rows": ("number class value v1", [(1, 1, 1, "x"), (2, 1, 2, None)]),
            "shown": _LOOKS,
        },
        value=["v1"],
    ),
    _case(
        "values_by_choice",
        _NEW_SETS,
        [
            *[(1, 1, -1, 0, "x"), (1, 1, -1, 0, None), (1, 1, -1, 0, "y"), (1, 4, -1, 0, "x"), (1, 4, -1, 0, "y")],
            *[(1, 1, 0, 1, None), (1, 1, 1, 1, "x"), (1, 4, 1, 1, "x"), (1, 4, 1, 2, None)],
            *[(1, 1, 0, 3, "x"), (1, 1, 0, 3, "y"), (1, 1, 1, 3, "x"), (1, 1, 1, 3, "y"), (1, 1, 1, 3, None)],
            *[(1, 4, 1, 3, "x"), (1, 4, 1, 3, "y"), (1, 1, -1, 4, "z"), (1, 4, -1, 4, "z")],
        ],
        {
            "compared": (
                "class choice v1 older before after",
                [
                    *[(1, 1, "x", 0, 2, 2), (1, 1, "x", 1, 1, 2), (1, 1, None, 0, 0, 1), (1, 1, None, 1, 1, 1)],
                    *[(1, 4, "x", 0, 2, 2), (1, 4, "x", 1, 1, 2), (1, 4, None, 0, 0, 0), (1, 4, None, 1, 1, 0)],
                ],
            ),
            "unmoved": ("class v1 n", [(1, "y", 3)]),
            "common": ("class v1", [(1, "z"), (9, "z")]),
        },
        value=["v1"],
    ),
    # Class 2 has earlier sets without a common value, and class 3 has no earlier sets.
    _case(
        "common_values",
        "class choice v1",
        [(1, 1, "x"), (1, 1, None), (1, 4, "x"), (3, 1, "y")],
        {
            "sets": (
                _NEW_SETS,
                [
                    *[(1, 1, -1, 0, "x"), (1, 1, -1, 0, None), (1, 1, 0, 1, None), (1, 1, 0, 1, "x")],
                    *[(1, 1, -1, 4, "x"), (1, 1, -1, 4, None), (1, 4, -1, 0, "x"), (1, 4, -1, 4, "x")],
                    *[(1, 4, -1, 4, "y")],
                    *[(2, 1, -1, 0, "x"), (3, 1, -1, 0, "y")],
                ],
            ),
            "earlier": (_OLD_SETS, [(1, 0, 0, 0, "x"), (1, 1, 1, 0, "x"), (2, 0, 0, 0, "x"), (2, 1, 1, 0, "y")]),
        },
        value=["v1"],
    ),
    _case(
        "few_common_values",
        "class choice",
        [(1, 2), (2, 1)],
        {
            "sets": (
                _NEW_SETS,
                [(1, 1, -1, 0, "x"), (1, 2, -1, 0, "x"), (2, 1, 0, 1, "x"), (2, 4, -1, 0, "x"), (3, 1, -1, 4, "x")],
            ),
            "common": ("class choice v1", [(1, 1, "x"), (1, 1, None), (1, 2, "x")]),
        },
        least=2,
    ),
    # p moved before, q moves now, r comes to two classes, and s leaves a class that is closed and came to another.
    _case(
        "movers",
        "person class choice changes",
        [(1, 1, 1, 0), (1, 2, 4, 0), (2, 1, 1, 1), (2, 2, 4, 1), (4, 2, 4, 0), (4, 3, 5, 1)],
        {
            "rows": (
                "number person class owner",
                [
                    *[(1, 1, 1, "p"), (2, 1, 2, "p"), (3, 2, 1, "q"), (4, 2, 2, "q"), (5, 3, 1, "r"), (6, 3, 2, "r")],
                    *[(7, 4, 2, "s"), (8, 4, 3, "s"), (9, 5, 1, None), (10, 5, 2, None)],
                ],
            ),
            "counts": (
                "release number n",
                [
                    *[
                        (1, 1, 1),
                        (0, 1, 0),
                        (1, 2, 0),
                        (0, 2, 1),
                        (1, 3, 1),
                        (0, 3, 1),
                        (1, 4, 0),
                        (0, 4, 0),
                        (1, 5, 0),
                    ],
                    *[(0, 5, 1), (1, 6, 0), (0, 6, 1), (1, 7, 0), (0, 7, 1), (1, 8, 2), (0, 8, 2)],
                    *[(1, 9, 1), (0, 9, 0), (1, 10, 0), (0, 10, 1)],
                ],
            ),
            "decided": ("class choice", [(1, 1), (2, 4), (3, 5)]),
            "choices": (
                _CHOICES,
                [(1, 1, 0), (4, 2, 1), (1, 3, 0), (4, 4, 1), (1, 5, 1), (4, 6, 1), (4, 7, 1), (1, 9, 0), (4, 10, 1)],
            ),
        },
    ),
    _case(
        "exposed_movers",
        "person class changes",
        [(2, 1, 1), (2, 2, 0), (3, 1, 0), (3, 3, 0)],
        {
            "movers": (
                "person class choice changes",
                [(1, 1, 1, 1), (1, 4, 5, 0), (2, 1, 1, 1), (2, 2, 1, 0), (3, 1, 1, 0), (3, 3, 1, 0)],
            ),
            "common": (
                "class choice v1",
                [(1, 1, "x"), (1, 1, None), (2, 1, "x"), (2, 1, "y"), (4, 4, "x"), (4, 4, None), (4, 1, "x")],
            ),
        },
        value=["v1"],
        least=2,
    ),
]

CASES = [*_CHANGES, *_DECISIONS, *_RELEASES, *_COMMON_VALUES]
