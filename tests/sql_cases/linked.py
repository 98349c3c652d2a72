"""Given and expected rows of `sql/linked`."""

import hashlib
from collections.abc import Sequence
from typing import Any

from kanon_sql.privacy import PEOPLE, Predicate
from kanon_sql.queries import NumberedPlaces, Relation, ReleasedPlaces, Same
from sql_cases.case import Case, Rows, relation

_TYPES = {**dict.fromkeys(["key", "raw", "shown", "text", "secret", "items"], "VARCHAR"), "share": "FLOAT8"}


def _case(name: str, gives: str, expected: Rows, given: dict[str, tuple[str, Rows]], **holes: Any) -> Case:
    """A case whose relations, by the holes they fill, are described by their columns and rows."""
    relations: dict[str, Any] = {}
    for hole, (columns, content) in given.items():
        types = {**_TYPES, "person": "VARCHAR"} if hole == "facts" else _TYPES  # facts have the keys of people
        relations |= relation(f"given_{hole}", columns, *content, **types)
    filled = {hole: Relation(f"given_{hole}") for hole in given}
    query = f"linked/{name}"
    placed = NumberedPlaces().holes_of(query) | ReleasedPlaces().holes_of(query)
    return Case(query, {**placed, **filled, **holes}, gives.split(), expected, relations)


def _digest(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def _key(secret: str, table: str, value: str) -> str:
    """A key as `linked/random_keys` computes it."""
    return _digest(secret + _digest(secret + table) + value)


_COPIES = [
    # Values that occur several times count once, missing ones by their rows; the column is called like a figure.
    *(
        _case("doubled_keys", "doubled missing", [counted], {"source": ("n", values)}, column=["n"])
        for counted, values in (
            ((2, 2), [(5,), (None,), (5,), (7,), (9,), (5,), (0,), (None,), (9,)]),
            ((0, 1), [(5,), (None,)]),
            ((0, 0), []),
        )
    ),
    *(
        _case("broken_links", "orphans contradicting without_person", [counted], {"copy": copied})
        for counted, copied in (
            (
                (3, 2, 2),
                ("unit_id orphans contradicting", [(1, 0, 0), (None, 2, 0), (None, 0, 0), (2, 1, 1), (3, 0, 1)]),
            ),
            ((0, 0, 0), ("unit_id orphans contradicting", [])),
        )
    ),
    # Equal values have equal keys; NULL has none.
    _case(
        "random_keys",
        "row_id key",
        [
            *[(4, _key("it's", "visits", "a")), (1, _key("it's", "visits", "b"))],
            *[(7, _key("it's", "visits", "a")), (2, None), (3, _key("it's", "visits", ""))],
        ],
        {
            "copy": ("row_id text", [(4, "a"), (1, "b"), (7, "a"), (2, None), (3, "")]),
            "secret": ("secret", [("it's",)]),
        },
        table="visits",
        column=["text"],
    ),
    # The first seven digits of a digest as a number, which the eighth does not change: 16 and 0 modulo 21.
    _case(
        "offsets",
        "unit_id days",
        [
            (4, int("fedcba9", 16) % 21 - 10),
            (9, int("0000010", 16) % 21 - 10),
            (2, -10),
            (1, int("1000000", 16) % 21 - 10),
        ],
        {"keys": ("row_id key", [(4, "fedcba9f"), (9, "00000100"), (2, "0000000f"), (1, "10000000")])},
        width=21,
        most=10,
    ),
    _case(
        "random_keys",
        "row_id key",
        [(4, _key("s", "t", "17")), (1, _key("s", "t", "-2"))],
        {"copy": ("row_id c0", [(4, 17), (1, -2)]), "secret": ("secret", [("s",)])},
        table="t",
        column=["c0"],
    ),
]

_ITEMS = "row_id unit_id class visit item"
_EVENTS = "unit_id class visit item copy event"

_SHOWING = [(1, 10, 1, 10), (2, 10, 1, 10), (3, 11, 2, 13), (4, 11, 2, 7)]  # items of 1, 6, 7, NULL
_SHOWN = [
    # Classes of one are not numbered; NULL is a label like others.
    _case(
        "people",
        "unit_id class",
        [(5, 1), (9, 1), (2, 2), (4, 2), (3, 3), (8, 3), (6, 3)],
        {
            "rows": (
                "row_id a b",
                [
                    *[(7, 0, 0), (5, 1, 0), (3, None, 1), (2, 1, None), (9, 1, 0)],
                    *[(4, 1, None), (8, None, 1), (10, None, None), (6, None, 1)],
                ],
            )
        },
        levels=["a", "b"],
        k=2,
        same=Same(["a", "b"], "r", "classes"),
    ),
    # Person 12, who is not released, counts when the labels are numbered: 5, 7, NULL.
    _case(
        "items",
        _ITEMS,
        [(1, 10, 1, 13, 8), (2, 10, 1, -3, 8), (3, 11, 2, 13, 11), (5, 11, 2, -3, 8)],
        {
            "rows": (
                "row_id unit_id parent_visit child a",
                [
                    (1, 10, 13, 0, 7),
                    (2, 10, None, 0, 7),
                    (3, 11, 13, 0, None),
                    (4, 12, None, 0, 5),
                    (5, 11, None, 0, 7),
                ],
            ),
            "people": ("unit_id class", [(10, 1), (11, 2), (13, 1)]),
        },
        levels=["a"],
        tables=3,
        table=2,
        place=NumberedPlaces(3, 10).of_rows(2, 3, referenced=False, depth=1),
        same=Same(["a"], "r", "numbers"),
    ),
    # Others refer to these rows: each has a place, among the rows of a visit, or of its own.
    _case(
        "items",
        _ITEMS,
        [(1, 10, 1, 1340, 7), (2, 10, 1, 1370, 7), (3, 11, 2, 1000, 10), (5, 11, 2, 1600, 7)],
        {
            "rows": (
                "row_id unit_id parent_visit child a",
                [
                    (1, 10, 1300, 1, 7),
                    (2, 10, 1300, 2, 7),
                    (3, 11, None, 1, None),
                    (4, 12, None, 2, 5),
                    (5, 11, None, 3, 7),
                ],
            ),
            "people": ("unit_id class", [(10, 1), (11, 2), (13, 1)]),
        },
        levels=["a"],
        tables=3,
        table=1,
        place=NumberedPlaces(3, 10).of_rows(1, 3, referenced=True, depth=1),
        same=Same(["a"], "r", "numbers"),
    ),
    # Others refer to these rows, or none; rows 1 and 2 show the same.
    *(
        _case(
            "items",
            _ITEMS,
            [(row, unit, class_, place(row), item) for row, unit, class_, item in _SHOWING],
            {
                "rows": ("row_id unit_id a", [(1, 10, 7), (2, 10, 7), (3, 11, None), (4, 11, 6), (9, 12, 1)]),
                "people": ("unit_id class", [(10, 1), (11, 2)]),
            },
            levels=["a"],
            tables=3,
            table=1,
            place=NumberedPlaces(levels, 10).of_rows(1, 3, referenced, depth=0),
            same=Same(["a"], "r", "numbers"),
        )
        for referenced, levels, place in (
            (True, 1, lambda row: 3 * row + 1),
            (True, 3, lambda row: 300 * row + 100),
            (False, 3, lambda _: -2),
        )
    ),
    # Rows 1 and 5 refer to one row, row 2 to none, and row 3 to one of a person who is not released.
    _case(
        "with_parent",
        "row_id unit_id parent_id a parent_item parent_visit child",
        [
            *[(1, 10, 4, 7, 31, 13, 1), (2, 10, None, 7, -1, None, 1), (3, 11, 9, None, -1, None, 1)],
            *[(5, 12, 4, 8, 31, 13, 2), (4, 12, 6, 8, 0, 19, 1)],
        ],
        {
            "rows": (
                "row_id unit_id parent_id a",
                [(1, 10, 4, 7), (2, 10, None, 7), (3, 11, 9, None), (5, 12, 4, 8), (4, 12, 6, 8)],
            ),
            "parents": ("row_id item visit", [(4, 31, 13), (1, 55, 4), (2, 56, 7), (6, 0, 19)]),
        },
        columns=["row_id", "unit_id", "parent_id", "a"],
        child=NumberedPlaces().number_among("rows"),
    ),
    # Three rows refer to row 4; those without are not counted.
    *(
        _case("most_children", "most", [(most,)], {"rows": ("parent_id", [(parent,) for parent in parents])})
        for most, parents in ((3, [4, 5, 4, 4, None, None, None, None]), (0, [None]), (0, []))
    ),
    _case(
        "equal_rows",
        "unit_id class visit item n first_row",
        [(1, 1, -2, 5, 2, 3), (1, 1, 13, 5, 1, 4), (1, 1, -2, 6, 1, 5), (2, 1, -2, 5, 1, 6)],
        {
            "items": (
                _ITEMS,
                [(8, 1, 1, -2, 5), (3, 1, 1, -2, 5), (4, 1, 1, 13, 5), (5, 1, 1, -2, 6), (6, 2, 1, -2, 5)],
            )
        },
    ),
    # Of three rows alike, two copies; of a single row, one.
    _case(
        "events",
        _EVENTS,
        [
            *[(1, 1, -3, 5, 1, 105), (1, 1, -3, 5, 2, 106), (1, 1, 13, 5, 1, 57)],
            *[(2, 2, -3, 8, 1, 81), (2, 2, -3, 8, 2, 82)],
        ],
        {
            "equal_rows": (
                "unit_id class visit item n first_row",
                [(1, 1, -3, 5, 3, 8), (1, 1, 13, 5, 1, 4), (2, 2, -3, 8, 2, 6)],
            ),
            "copies": ("copy", [(1,), (2,)]),
        },
        tables=3,
        table=2,
    ),
    _case(
        "all_items",
        _ITEMS,
        [(1, 10, 1, -2, 4), (2, 11, 2, 13, 7), (1, 10, 1, -2, 4), (3, 12, 2, 5, 6)],
        {
            "first": (_ITEMS, [(1, 10, 1, -2, 4), (2, 11, 2, 13, 7)]),
            "second": ("item visit class unit_id row_id", [(4, -2, 1, 10, 1), (6, 5, 2, 12, 3)]),
        },
    ),
    _case(
        "all_events",
        _EVENTS,
        [(10, 1, -2, 4, 1, 17), (11, 2, 13, 7, 2, 33), (10, 1, -2, 4, 1, 17), (12, 2, 5, 6, 3, 49)],
        {
            "first": (_EVENTS, [(10, 1, -2, 4, 1, 17), (11, 2, 13, 7, 2, 33)]),
            "second": ("event copy item visit class unit_id", [(17, 1, 4, -2, 1, 10), (49, 3, 6, 5, 2, 12)]),
        },
    ),
    _case("no_events", _EVENTS, [], {"referenced": ("number", [(1,), (2,), (0,)])}),
    # Items are sorted as numbers.
    _case(
        "shown_by_place",
        "unit_id visit items",
        [(1, 13, "9,10"), (1, 16, "9"), (1, -3, "5"), (3, 13, "5,5")],
        {
            "items": (
                "unit_id visit item",
                [(1, 13, 10), (1, 16, 9), (1, 13, 9), (1, -3, 5), (3, 13, 5), (3, 13, 5)],
            )
        },
    ),
    # Descriptions are sorted as texts; places below zero stay.
    _case(
        "shown_by_upper_place",
        "unit_id visit items",
        [(1, 13, "(10),(5,6),(5,6)"), (1, 14, "(5)"), (1, -3, "(5)"), (1, -2, "(8)"), (2, 13, "(5)")],
        {
            "places": (
                "unit_id visit items",
                [
                    *[(1, 1300, "5,6"), (1, 1399, "10"), (1, 1301, "5,6"), (1, 1400, "5"), (1, -3, "5"), (1, -2, "8")],
                    (2, 1350, "5"),
                ],
            )
        },
        base=100,
    ),
    # Visits are sorted as texts; person 2 has no rows, and person 9 is not released.
    _case(
        "everything_shown",
        "unit_id class shown",
        [(1, 1, "5;9;9,10"), (2, 1, ""), (3, 1, "5,5"), (4, 2, "5;5")],
        {
            "people": ("unit_id class", [(1, 1), (2, 1), (3, 1), (4, 2)]),
            "visits": (
                "unit_id visit items",
                [(1, 13, "9,10"), (1, 16, "9"), (1, -3, "5"), (3, 13, "5,5"), (4, 16, "5"), (4, 13, "5"), (9, 13, "5")],
            ),
        },
    ),
    _case(
        "people_with_equal_rows",
        "unit_id class",
        [(1, 1), (2, 1), (5, 2), (6, 2)],
        {
            "shown": (
                "unit_id class shown",
                [(1, 1, "5"), (2, 1, "5"), (3, 1, "5,5"), (4, 2, "5"), (5, 2, ""), (6, 2, ""), (7, 1, "")],
            )
        },
        k=2,
    ),
]

# Person 1 shows item 5 in two rows; in class 2, item 6 is rare that two people of class 1 show.
_SINGLES = ("unit_id class item", [(1, 1, 5), (1, 1, 5), (1, 1, 6), (2, 1, 6), (3, 2, 6), (3, 2, 7), (4, 2, 7)])
# Person 1 shows 5 and 6 in visit 0 only; persons 2 and 3 show one of them in another visit, too; persons 4 and 11 show
# them in different visits, and person 5 both of them in two. The rows of visit -3 refer to none: they are not linked,
# and their copies are several places, while copies in another visit are one. Person 6 has copies of 6 of both kinds.
_NESTED = (
    _EVENTS,
    [
        *[(1, 1, 0, 5, 1, 11), (1, 1, 0, 5, 2, 12), (1, 1, 0, 6, 1, 13)],
        *[(1, 1, -3, 7, 1, 14), (1, 1, -3, 7, 2, 15), (1, 1, -3, 8, 1, 16)],
        *[(2, 1, 16, 5, 1, 21), (2, 1, 19, 6, 1, 22), (2, 1, 16, 6, 1, 23)],
        *[(3, 1, 22, 5, 1, 31), (3, 1, 25, 5, 1, 32), (3, 1, 22, 6, 1, 33)],
        *[(4, 2, 31, 5, 1, 41), (4, 2, 0, 5, 1, 42), (4, 2, 46, 6, 1, 43), (4, 2, 49, 6, 1, 44)],
        *[(5, 2, 34, 5, 1, 51), (5, 2, 34, 6, 1, 52), (5, 2, 37, 6, 1, 53), (5, 2, 37, 5, 1, 54)],
        *[(6, 2, 40, 6, 1, 61), (6, 2, 40, 6, 2, 62), (6, 2, -3, 6, 1, 63), (6, 2, -3, 6, 2, 64), (6, 2, -3, 9, 1, 65)],
        *[(7, 1, -3, 7, 1, 71), (7, 1, -3, 8, 1, 72), (8, 2, 50, 8, 1, 81), (8, 2, 53, 9, 1, 82)],
        *[(9, 2, 56, 7, 1, 91), (9, 2, 56, 8, 1, 92), (10, 2, 59, 7, 1, 101), (10, 2, 59, 8, 1, 102)],
        *[(11, 1, 62, 5, 1, 111), (11, 1, 65, 6, 1, 112)],
    ],
)
_UNIT_ITEMS = (
    "unit_id class item places visit share",
    [
        *[(1, 1, 5, 1, 0, 0.25), (1, 1, 6, 1, 0, 0.25), (1, 1, 7, 2, -3, 0.25), (1, 1, 8, 1, -3, 0.25)],
        *[(2, 1, 5, 1, 16, 0.5), (2, 1, 6, 2, 16, 0.5), (3, 1, 5, 2, 22, 0.5), (3, 1, 6, 1, 22, 0.5)],
        *[(4, 2, 5, 2, 0, 0.5), (4, 2, 6, 2, 46, 0.5), (5, 2, 5, 2, 34, 0.5), (5, 2, 6, 2, 34, 0.5)],
        *[(6, 2, 6, 3, -3, 0.5), (6, 2, 9, 1, -3, 0.5), (7, 1, 7, 1, -3, 0.5), (7, 1, 8, 1, -3, 0.5)],
        *[(8, 2, 8, 1, 50, 0.5), (8, 2, 9, 1, 53, 0.5), (9, 2, 7, 1, 56, 0.5), (9, 2, 8, 1, 56, 0.5)],
        *[(10, 2, 7, 1, 59, 0.5), (10, 2, 8, 1, 59, 0.5), (11, 1, 5, 1, 62, 0.5), (11, 1, 6, 1, 65, 0.5)],
    ],
)
# The pairs that one person has, and those that two or three have, by the remainder of the first item.
_OF_ONE = {
    1: [
        *[(1, 5, 7, 0, 0.25), (1, 5, 8, 0, 0.25), (1, 5, 5, 0, 0.5), (1, 7, 7, 0, 0.25)],
        *[(1, 5, 5, 1, 0), (2, 5, 6, 1, 0)],
    ],
    0: [
        *[(1, 6, 7, 0, 0.25), (1, 6, 8, 0, 0.25), (1, 6, 6, 0, 0.5)],
        *[(2, 6, 9, 0, 0.5), (2, 8, 9, 0, 0.5), (2, 6, 6, 1, 0)],
    ],
}
_OF_MORE = {
    1: [
        *[(1, 5, 6, 0, 1.5), (1, 7, 8, 0, 0.75), (2, 5, 6, 0, 1), (2, 5, 5, 0, 1)],
        *[(1, 5, 6, 1, 0), (2, 7, 8, 1, 0)],
    ],
    0: [(2, 6, 6, 0, 1.5)],
}
# Persons 1 and 2 have the same triple; in that of person 3, the outer rows are linked; person 4 has two rows that show
# 5, of which 6 is linked to one; all rows of person 5 are linked; persons 6 and 7 have copies, 7 only two.
_TRIPLES = (
    _EVENTS,
    [
        *[(1, 1, 13, 5, 1, 11), (1, 1, 13, 6, 1, 12), (1, 1, -3, 7, 1, 13)],
        *[(2, 1, 16, 5, 1, 21), (2, 1, 16, 6, 1, 22), (2, 1, -3, 7, 1, 23)],
        *[(3, 1, 19, 5, 1, 31), (3, 1, 22, 6, 1, 32), (3, 1, 19, 7, 1, 33)],
        *[(4, 1, 28, 5, 1, 41), (4, 1, 31, 5, 1, 42), (4, 1, 31, 6, 1, 43)],
        *[(5, 2, 0, 5, 1, 53), (5, 2, 0, 6, 1, 52), (5, 2, 0, 8, 1, 51)],
        *[(6, 2, 37, 6, 1, 61), (6, 2, -3, 9, 1, 62), (6, 2, -3, 9, 2, 63), (6, 2, -3, 9, 3, 64)],
        *[(7, 2, 40, 5, 1, 71), (7, 2, 43, 5, 1, 72)],
    ],
)

_RARE = [
    _case("rare_singles", "class item people", [(1, 5, 1), (2, 6, 1)], {"events": _SINGLES}, k=2),
    _case("rare_singles", "class item people", [], {"events": _SINGLES}, k=0),  # as for whole people
    _case("frequencies", "class item people", [(1, 5, 1), (1, 6, 2), (2, 6, 1), (2, 7, 2)], {"events": _SINGLES}),
    # What changed is listed several times, and only what is listed counts.
    *(
        _case(
            "rare_changed_singles",
            "class item people",
            rare,
            {"events": _SINGLES, "changed": ("class item", changed)},
            k=2,
        )
        for rare, changed in (
            ([(1, 5, 1)], [(1, 5), (1, 5), (2, 7), (2, 5)]),
            ([(2, 6, 1)], [(2, 6), (1, 6), (2, 6)]),
            ([], []),
        )
    ),
    # Item 7 of class 1 is in no rare pair, nor is item 6 of class 2; item 6 of class 1 is in two.
    _case(
        "frequencies_of_pairs",
        "class item people",
        [(1, 5, 1), (1, 6, 2), (2, 7, 2)],
        {
            "events": ("unit_id class item", [*_SINGLES[1], (1, 1, 7)]),
            "rare": ("class item_1 item_2", [(1, 6, 5), (1, 6, 6), (2, 9, 7)]),
        },
    ),
    _case(
        "units_left_out",
        "unit_id",
        [(1,), (3,)],
        {
            "events": ("unit_id event", [(1, 11), (1, 12), (2, 13), (3, 14)]),
            "left_out": ("event", [(11,), (12,), (14,), (15,)]),
        },
    ),
    # Person 1 stays as counted before; person 2 has two items, one of them in two places; person 3 has no rows now.
    _case(
        "renewed_unit_items",
        _UNIT_ITEMS[0],
        [(1, 1, 5, 9, 13, 1.0), (2, 1, 6, 2, 16, 0.5), (2, 1, 7, 2, -3, 0.5)],
        {
            "unit_items": (
                _UNIT_ITEMS[0],
                [(1, 1, 5, 9, 13, 1.0), (2, 1, 6, 3, 16, 0.25), (2, 1, 8, 1, 16, 0.25), (3, 1, 6, 1, 22, 1.0)],
            ),
            "affected": ("unit_id", [(2,), (3,), (2,)]),
            "events": (
                _EVENTS,
                [
                    *[(1, 1, 13, 5, 1, 11), (2, 1, 19, 6, 1, 22), (2, 1, 16, 6, 1, 23), (2, 1, 16, 6, 2, 24)],
                    *[(2, 1, -3, 7, 1, 25), (2, 1, -3, 7, 2, 26), (4, 1, 13, 5, 1, 41)],
                ],
            ),
        },
    ),
    _case("unit_items", _UNIT_ITEMS[0], _UNIT_ITEMS[1], {"events": _NESTED}),
    *(
        _case(
            "rare_pairs",
            "class item_1 item_2 linked share",
            rare,
            {"unit_items": _UNIT_ITEMS, "events": _NESTED},
            k=k,
            parts=2,
            part=part,
        )
        for part in (0, 1)
        for k, rare in ((2, _OF_ONE[part]), (4, [*_OF_ONE[part], *_OF_MORE[part]]))
    ),
    # Equal shares count both times.
    *(
        _case("least_left_out", "rows", [(rows,)], {"rare": ("share", [(share,) for share in shares])})
        for rows, shares in ((2.75, [0.5, 1.75, 0, 0.5]), (0, []))
    ),
    *(
        _case("rare_triples", "class item_1 item_2 item_3 linked", rare, {"events": _TRIPLES}, k=2, parts=2, part=part)
        for part, rare in (
            (1, [(1, 5, 6, 7, 2), (1, 5, 5, 6, 4), (1, 5, 5, 6, 2), (2, 5, 6, 8, 7), (2, 9, 9, 9, 0)]),
            (0, [(2, 6, 9, 9, 0)]),
        )
    ),
    *(
        _case("pairs", "pairs", [(counted,)], {"rows": ("unit_id", [(unit,) for unit in units])})
        for counted, units in ((8, [1, 3, 1, 2, 1, 3, 1, 2]), (0, []))
    ),
]

_VICTIMS = [
    _case(
        "singles_left_out",
        "event",
        [(11,), (12,), (15,)],
        {
            "events": ("class item event", [(1, 5, 11), (1, 5, 12), (1, 6, 13), (2, 5, 14), (2, 6, 15)]),
            "rare": ("class item people", [(1, 5, 1), (2, 6, 1), (2, 9, 1)]),
        },
    ),
    # By persons: 1 is linked; 2 shows the first twice, and leaves out the second; 3 shows the second twice: both;
    # 4 are equal: the second; 5 is not linked: the first; 6 is linked, in visit 0; 7 all but one copy; 8 and 20 all but
    # the first visit; 9 is a single row; 10 all but the first copy of a visit; 11 has no linked copies; 12 are equal:
    # the second; 13 is not linked; 14 the first; 15 the second. In class 2, other items are rarer: 16 the second;
    # 17 the first; 18 has copies of what is not rare there. 19 has only one of 5, 6 and 8.
    _case(
        "victims_of_pairs",
        "event",
        [(event,) for event in (23, 32, 33, 42, 51, 72, 73, 74, 81, 102, 103, 122, 123, 142, 152, 162, 171, 203)],
        {
            "rare": (
                "class item_1 item_2 linked",
                [
                    *[(1, 5, 6, 0), (1, 5, 7, 0), (1, 6, 8, 0), (1, 9, 9, 0), (2, 6, 8, 0)],
                    *[(1, 5, 8, 1), (1, 5, 9, 1), (1, 6, 7, 1), (1, 10, 10, 1), (2, 5, 7, 1)],
                ],
            ),
            "unit_items": (
                "unit_id class item places visit",
                [
                    *[(1, 1, 5, 1, 13), (1, 1, 6, 1, 13), (2, 1, 5, 2, 16), (2, 1, 6, 1, 16)],
                    *[(3, 1, 5, 1, 22), (3, 1, 6, 2, 22), (4, 1, 5, 1, 31), (4, 1, 7, 1, 28)],
                    *[(5, 1, 6, 1, -3), (5, 1, 8, 1, -3), (6, 1, 6, 1, 0), (6, 1, 8, 1, 0), (6, 1, 10, 1, 0)],
                    *[(7, 1, 9, 3, -3), (8, 1, 9, 2, 0), (8, 1, 5, 1, 69), (8, 1, 10, 1, 69), (9, 1, 9, 1, -3)],
                    *[(10, 1, 10, 2, 0), (11, 1, 10, 2, -3), (12, 1, 5, 1, 75), (12, 1, 8, 1, 75)],
                    *[(13, 1, 5, 1, 78), (13, 1, 8, 1, 81), (14, 1, 6, 1, 84), (14, 1, 7, 1, 84)],
                    *[(15, 1, 5, 1, 87), (15, 1, 9, 1, 87), (16, 2, 6, 1, 50), (16, 2, 8, 1, 53)],
                    *[(17, 2, 5, 1, 59), (17, 2, 7, 1, 59), (18, 2, 9, 2, 90), (18, 2, 10, 1, 96)],
                    *[(19, 1, 6, 1, 99), (19, 1, 10, 1, 102), (19, 1, 4, 1, 105), (20, 1, 9, 2, 63)],
                ],
            ),
            "events": (
                _EVENTS,
                [
                    *[(1, 1, 13, 5, 1, 11), (1, 1, 13, 6, 1, 12)],
                    *[(2, 1, 16, 5, 1, 21), (2, 1, 19, 5, 1, 22), (2, 1, 16, 6, 1, 23)],
                    *[(3, 1, 22, 5, 1, 31), (3, 1, 22, 6, 1, 32), (3, 1, 25, 6, 1, 33)],
                    *[(4, 1, 31, 5, 1, 41), (4, 1, 28, 7, 1, 42), (5, 1, -3, 6, 1, 51), (5, 1, -3, 8, 1, 52)],
                    *[(6, 1, 0, 6, 1, 61), (6, 1, 0, 8, 1, 62), (6, 1, 0, 10, 1, 63)],
                    *[(7, 1, -3, 9, 1, 71), (7, 1, -3, 9, 2, 72), (7, 1, 60, 9, 1, 73), (7, 1, 60, 9, 2, 74)],
                    *[(8, 1, 57, 9, 1, 81), (8, 1, 0, 9, 1, 82), (8, 1, 0, 9, 2, 83)],
                    *[(8, 1, 69, 5, 1, 84), (8, 1, 69, 10, 1, 85), (9, 1, -3, 9, 1, 91)],
                    *[(10, 1, 0, 10, 1, 101), (10, 1, 0, 10, 2, 102), (10, 1, 0, 10, 3, 103), (10, 1, 72, 10, 1, 104)],
                    *[(11, 1, -3, 10, 1, 111), (11, 1, -3, 10, 2, 112)],
                    *[(12, 1, 75, 5, 1, 121), (12, 1, 75, 8, 1, 122), (12, 1, 75, 8, 2, 123)],
                    *[(13, 1, 78, 5, 1, 131), (13, 1, 81, 8, 1, 132), (14, 1, 84, 7, 1, 141), (14, 1, 84, 6, 1, 142)],
                    *[(15, 1, 87, 5, 1, 151), (15, 1, 87, 9, 1, 152), (16, 2, 50, 6, 1, 161), (16, 2, 53, 8, 1, 162)],
                    *[(17, 2, 59, 5, 1, 171), (17, 2, 59, 7, 1, 172)],
                    *[(18, 2, 90, 9, 1, 181), (18, 2, 93, 9, 1, 182), (18, 2, 96, 10, 1, 183), (18, 2, 96, 10, 2, 184)],
                    *[(19, 1, 99, 6, 1, 191), (19, 1, 102, 10, 1, 192), (19, 1, 105, 4, 1, 193)],
                    *[(20, 1, 63, 9, 1, 201), (20, 1, 63, 9, 2, 202), (20, 1, 66, 9, 1, 203)],
                ],
            ),
            "frequencies": (
                "class item people",
                [
                    *[(1, 5, 4), (1, 6, 3), (1, 7, 4), (1, 8, 4), (1, 9, 2), (1, 10, 4)],
                    *[(2, 5, 5), (2, 6, 9), (2, 7, 9), (2, 8, 1), (2, 9, 1), (2, 10, 1)],
                ],
            ),
        },
    ),
    # By persons: 1 all are equal: the third; 2 the second; 3 is linked in another way; 4 the first; 5 the third;
    # 6 the first two are equal: the second; 7 the last two: the third; 8 the outer two: the third;
    # 9 the first, and the third is rarer than the second; 10 copies: all; 11 is of another class;
    # 12 to 14 have two of 5, 6 and 7, and 15 has only two copies.
    _case(
        "victims_of_triples",
        "event",
        [(13,), (22,), (41,), (53,), (62,), (73,), (83,), (91,), (101,), (102,), (103,)],
        {
            "rare": (
                "class item_1 item_2 item_3 linked",
                [
                    *[(1, 5, 6, 7, 0), (1, 5, 8, 9, 1), (1, 8, 9, 9, 0), (1, 5, 6, 9, 7), (1, 8, 10, 11, 0)],
                    *[(1, 5, 9, 12, 0), (1, 12, 13, 14, 0), (1, 8, 15, 16, 0), (1, 17, 17, 17, 0)],
                ],
            ),
            "events": (
                "unit_id class visit item event",
                [
                    *[(1, 1, -3, 5, 11), (1, 1, -3, 6, 12), (1, 1, -3, 7, 13)],
                    *[(2, 1, 13, 5, 21), (2, 1, 13, 8, 22), (2, 1, 16, 9, 23)],
                    *[(3, 1, 19, 5, 31), (3, 1, 22, 8, 32), (3, 1, 22, 9, 33)],
                    *[(4, 1, 25, 8, 41), (4, 1, 28, 9, 42), (4, 1, 31, 9, 43)],
                    *[(5, 1, 0, 5, 51), (5, 1, 0, 6, 52), (5, 1, 0, 9, 53)],
                    *[(6, 1, -3, 8, 61), (6, 1, -3, 10, 62), (6, 1, -3, 11, 63)],
                    *[(7, 1, -3, 5, 71), (7, 1, -3, 9, 72), (7, 1, -3, 12, 73)],
                    *[(8, 1, -3, 12, 81), (8, 1, -3, 13, 82), (8, 1, -3, 14, 83)],
                    *[(9, 1, -3, 8, 91), (9, 1, -3, 15, 92), (9, 1, -3, 16, 93)],
                    *[(10, 1, -3, 17, 101), (10, 1, -3, 17, 102), (10, 1, -3, 17, 103)],
                    *[(11, 2, -3, 5, 111), (11, 2, -3, 6, 112), (11, 2, -3, 7, 113)],
                    *[(12, 1, -3, 6, 121), (12, 1, -3, 7, 122), (12, 1, -3, 18, 123)],
                    *[(13, 1, -3, 5, 131), (13, 1, -3, 7, 132), (13, 1, -3, 18, 133)],
                    *[(14, 1, -3, 5, 141), (14, 1, -3, 6, 142), (14, 1, -3, 18, 143)],
                    *[(15, 1, -3, 17, 151), (15, 1, -3, 17, 152)],
                ],
            ),
            "frequencies": (
                "class item people",
                [
                    *[(1, 5, 4), (1, 6, 4), (1, 7, 4), (1, 8, 2), (1, 9, 3), (1, 10, 2), (1, 11, 5)],
                    *[(1, 12, 3), (1, 13, 5), (1, 14, 3), (1, 15, 5), (1, 16, 4), (1, 17, 1)],
                    *[(2, 5, 1), (2, 6, 1), (2, 7, 1), (2, 8, 9), (2, 9, 9)],
                ],
            ),
        },
    ),
    # Event 11 is a row that others refer to, 22 one that refers to another, and 31 neither.
    *(
        _case(
            "with_children",
            "event",
            [(event,) for event in (11, 13, 22, 31, *children)],
            {
                "victims": ("event", [(11,), (13,), (22,), (31,)]),
                "events": (
                    "visit item event",
                    [(13, 4, 11), (13, 8, 12), (13, 5, 13), (16, 7, 21), (16, 8, 22), (-3, 8, 31), (-3, 5, 32)],
                ),
                "referenced": ("number", referenced),
            },
            tables=3,
            above=NumberedPlaces().at("x", 1),
            below=NumberedPlaces().at("e", 1),
        )
        for referenced, children in (([(1,)], [12]), ([], []))
    ),
    _case(
        "remaining",
        _EVENTS,
        [(1, 1, -3, 5, 2, 12), (2, 2, 13, 6, 1, 21)],
        {
            "events": (_EVENTS, [(1, 1, -3, 5, 1, 11), (1, 1, -3, 5, 2, 12), (2, 2, 13, 6, 1, 21)]),
            "left_out": ("event", [(11,), (99,)]),
        },
    ),
]

_ROWS_OF_PEOPLE = {1: (1, 2, 3, 4, 7, 14, 15, 16, 17, 18, 19), 2: (5, 8, 9, 10, 11), 3: (12, 13), 9: (6,)}
_ROWS_SHOWN = ("row_id unit_id", [(row, unit) for unit, rows in _ROWS_OF_PEOPLE.items() for row in rows])
_ITEMS_SHOWN = (
    "row_id unit_id visit item",
    [
        *[(3, 1, -3, 5), (1, 1, -3, 5), (2, 1, -3, 5), (4, 1, 13, 5), (7, 1, -3, 6), (14, 1, 16, 5), (15, 1, 16, 5)],
        *[(16, 1, -3, 7), (17, 1, -3, 7), (18, 1, -3, 9), (19, 1, -3, 9)],
        *[(5, 2, -3, 5), (8, 2, -3, 5), (9, 2, -3, 8), (10, 2, -3, 8), (11, 2, -3, 8)],
        *[(13, 3, -3, 5), (12, 3, -3, 5)],
    ],
)
_EVENTS_SHOWN = (
    "unit_id visit item event",
    [
        *[(1, -3, 5, 1), (1, -3, 5, 2), (1, 13, 5, 41), (1, -3, 6, 71), (1, 16, 5, 141), (1, 16, 5, 142)],
        *[(1, -3, 7, 161), (1, -3, 7, 162), (1, -3, 9, 181), (1, -3, 9, 182)],
        *[(2, -3, 5, 51), (2, -3, 5, 52), (2, -3, 8, 91), (2, -3, 8, 92), (3, -3, 5, 121), (3, -3, 5, 122)],
    ],
)
_REMAINING = [(event,) for event in (2, 71, 141, 162, 181, 182, 51, 52, 91, 92, 122)]

_LEFT_OUT = [
    # Of ten rows, those of items 5 in class 1 remain, whatever their number.
    *(
        _case(
            "unavoidable",
            "rows",
            [(rows,)],
            {
                "rows": ("row_id", [(row,) for row in range(10)]),
                "equal_rows": ("unit_id class item n", alike),
                "rare": ("class item people", [(1, 6, 1), (2, 5, 1)]),
            },
        )
        for rows, alike in ((6, [(1, 1, 5, 3), (1, 1, 6, 1), (2, 1, 5, 1), (3, 2, 5, 2)]), (10, []))
    ),
    # One of two copies remains of rows 1 to 3, of 12 and 13, 14 and 15, 16 and 17; none of row 4; all of the others. Of
    # rows 9 to 11, there are only two copies. The person of row 6 is not released; without events, only that row is
    # left out.
    *(
        _case(
            "rows_left_out",
            "row_id",
            left_out,
            {
                "rows": _ROWS_SHOWN,
                "people": ("unit_id class", [(1, 1), (2, 1), (3, 1)]),
                "items": _ITEMS_SHOWN,
                "events": events,
                "remaining": ("event", remaining),
            },
        )
        for left_out, events, remaining in (
            ([(row,) for row in (6, 2, 3, 4, 13, 15, 17)], _EVENTS_SHOWN, _REMAINING),
            ([(6,)], (_EVENTS_SHOWN[0], []), []),
        )
    ),
    _case(
        "people_left_out",
        "row_id",
        [(1,), (3,)],
        {
            "rows": ("row_id unit_id", [(1, 2), (2, 1), (3, 5), (5, 3)]),
            "people": ("unit_id class", [(2, 1), (5, 1), (7, 3)]),
        },
    ),
    *(
        _case(
            "losses_left_out",
            "n a_loss b_loss",
            [losses],
            {
                "rows": ("row_id a_loss b_loss", [(1, 1, 10), (2, 2, 20), (3, 4, 40)]),
                "left_out": ("row_id", left_out),
            },
            losses=["a_loss", "b_loss"],
        )
        for losses, left_out in (((2, 5, 50), [(3,), (1,)]), ((0, 0, 0), []))
    ),
]

_FOUND = "combinations rare smallest"
_RELEASED = "class person kind what visit number"
# In class 1, two people have linked rows of kinds 1 and 2, and the third has them in different visits. In class 2, two
# equal rows are linked, or not. In class 3, rows without visits are as unlinked as those of different visits.
# Class 4 repeats a pair of class 1, and one that differs from it in the first row.
_SHARED = [
    *[(1, 1, 1, 5, 100, 1), (1, 1, 2, 5, 100, 2), (1, 1, 2, 7, None, 3)],
    *[(1, 2, 1, 5, 200, 4), (1, 2, 2, 5, 200, 5), (1, 2, 2, 7, None, 6)],
]
_PAIRS = [
    *_SHARED,
    *[(1, 3, 1, 5, 301, 7), (1, 3, 2, 5, 300, 8), (2, 4, 1, 5, 400, 9), (2, 4, 1, 5, 400, 10)],
    *[(2, 5, 1, 5, 500, 11), (2, 5, 1, 5, 501, 12), (2, 5, 1, 6, None, 13), (2, 5, 2, 6, None, 14)],
    *[(3, 6, 1, 5, None, 15), (3, 6, 1, 7, None, 16), (3, 7, 1, 5, 600, 17), (3, 7, 1, 7, 601, 18)],
    *[(4, 8, 1, 5, 800, 19), (4, 8, 2, 5, 801, 20), (4, 9, 1, 9, 900, 21), (4, 9, 2, 5, 901, 22)],
]
# People with three rows (kind, what, visit), which differ in one respect from those of person 9: the class, what a row
# shows, its kind, or which two are linked. The last person has three rows of one kind, which count in one order only.
_BASE = [(1, 5, None), (2, 5, None), (3, 5, None)]
_ROWS_OF_VARIANTS = [
    (4, _BASE),
    (3, [(1, 5, 803), (2, 5, 802), (3, 5, 801)]),
    (3, [(1, 7, None), (2, 5, None), (3, 5, None)]),
    (3, [(1, 5, None), (2, 7, None), (3, 5, None)]),
    (3, [(1, 5, None), (2, 5, None), (3, 7, None)]),
    (3, [(2, 5, None), (2, 5, None), (3, 5, None)]),
    (3, [(1, 5, None), (1, 5, None), (3, 5, None)]),
    (3, [(1, 5, None), (2, 5, None), (4, 5, None)]),
    (3, [(1, 5, 800), (2, 5, 800), (3, 5, None)]),
    (3, [(1, 5, 804), (2, 5, None), (3, 5, 804)]),
    (3, [(1, 5, None), (2, 5, 805), (3, 5, 805)]),
    (3, [(1, 5, None), (1, 7, None), (1, 9, None)]),
]
_VARIANTS = [
    (class_, person, *row, 10 * person + place)
    for person, (class_, rows) in enumerate(_ROWS_OF_VARIANTS, start=8)
    for place, row in enumerate(rows)
]
# Person 3 has the last two rows linked; 4 has two equal rows, of which the third is linked to one; 5 has too few rows;
# 6 and 7 have a row of kind 1 with a higher number than those of kind 2.
_TRIPLES_RELEASED = [
    *_SHARED,
    *[(1, 3, 1, 5, 300, 7), (1, 3, 2, 5, 301, 8), (1, 3, 2, 7, 301, 9)],
    *[(1, 4, 1, 5, 400, 10), (1, 4, 1, 5, 401, 11), (1, 4, 1, 7, 401, 12)],
    *[(1, 5, 1, 5, 500, 13), (1, 5, 1, 5, 501, 14)],
    *[(2, 6, 1, 9, None, 15), (2, 6, 2, 3, None, 16), (2, 6, 2, 3, None, 17)],
    *[(2, 7, 1, 6, None, 18), (2, 7, 2, 1, None, 19), (2, 7, 2, 3, None, 20)],
    *_VARIANTS,
]
# Persons 1 and 2 show the same, 3 in two visits; 4 and 5 have no rows; in class 2, 6 has none, 7 shows what 1 does, and
# 8 and 9 differ from it in a table and in what a row shows; 10 and 11 show the same in another order.
_PERSONS = [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 2), (7, 2), (8, 2), (9, 2), (10, 2), (11, 2)]
_WHOLES = [
    *[(1, 1, 10, 100), (1, 1, 9, 100), (1, 2, 1, None), (2, 2, 1, None), (2, 1, 9, 200), (2, 1, 10, 200)],
    *[(3, 1, 10, 300), (3, 1, 9, 301), (3, 2, 1, None), (7, 1, 9, 700), (7, 1, 10, 700), (7, 2, 1, None)],
    *[(8, 1, 9, 800), (8, 1, 10, 800), (8, 1, 1, None), (9, 1, 9, 900), (9, 1, 11, 900), (9, 2, 1, None)],
    *[(10, 1, 5, 1000), (10, 2, 5, 1000), (11, 2, 5, 1100), (11, 1, 5, 1100)],
]

_BY_VISIT = [
    *[(1, 100, "1:9,1:10"), (1, None, "2:1"), (2, None, "2:1"), (2, 200, "1:9,1:10")],
    *[(3, 300, "1:10"), (3, 301, "1:9"), (3, None, "2:1"), (7, 700, "1:9,1:10"), (7, None, "2:1")],
    *[(8, 800, "1:9,1:10"), (8, None, "1:1"), (9, 900, "1:9,1:11"), (9, None, "2:1")],
    *[(10, 1000, "1:5,2:5"), (11, 1100, "1:5,2:5")],
]

_CHECKS = [
    _case(
        "released_by_place",
        "person visit shown",
        _BY_VISIT,
        {"rows": ("person kind what visit", _WHOLES)},
        slots=["visit"],
    ),
    # Of two levels: rows of one visit and several diagnoses, and rows of the visit alone.
    _case(
        "released_by_place",
        "person visit visit_2 shown",
        [(1, 4, 7, "2:5,3:1"), (1, 4, 8, "2:5"), (1, 4, None, "1:6"), (1, None, None, "4:1"), (2, 4, 7, "2:5")],
        {
            "rows": (
                "person kind what visit visit_2",
                [
                    *[(1, 3, 1, 4, 7), (1, 2, 5, 4, 7), (1, 2, 5, 4, 8), (1, 1, 6, 4, None), (1, 4, 1, None, None)],
                    (2, 2, 5, 4, 7),
                ],
            )
        },
        slots=["visit", "visit_2"],
    ),
    _case(
        "released_by_upper_place",
        "person visit shown",
        [(1, 4, "(1:6),(2:5),(2:5,3:1)"), (1, None, "(4:1)"), (2, 4, "(2:5)")],
        {
            "places": (
                "person visit visit_2 shown",
                [(1, 4, 7, "2:5,3:1"), (1, 4, 8, "2:5"), (1, 4, None, "1:6"), (1, None, None, "4:1"), (2, 4, 7, "2:5")],
            )
        },
        slots=["visit"],
    ),
    # A value counts once; NULL identifies nothing, even in a single row.
    *(
        _case("broken_keys", "doubled", [(doubled,)], {"released": ("key", [(key,) for key in keys])}, column=["key"])
        for doubled, keys in ((3, ["a", "c", "a", "b", None, "a", "c"]), (0, ["a", "b", ""]), (0, []))
    ),
    # The reference and the key can have the same name.
    *(
        _case(
            "lost_references",
            "lost",
            [(lost,)],
            {
                "released": ("key", [(key,) for key in ("a", "x", "a", None, "b", "x", "y")]),
                "target": ("key", [(key,) for key in targets]),
            },
            column=["key"],
            key=["key"],
        )
        for lost, targets in ((3, ["a", "b", None, "c"]), (0, ["a", "b", "x", "y", "y"]), (6, []))
    ),
    *(
        _case("smallest_classes", _FOUND, [found], {"people": ("class", [(class_,) for class_ in classes])}, k=k)
        for k, found, classes in (
            (2, (3, 1, 1), [1, 3, 1, 2, 1, 3]),
            (3, (2, 1, 2), [1, 3, 1, 1, 3]),
            (2, (0, 0, None), []),
        )
    ),
    # By the number of the person, not the key; equal rows stay apart; keys without a person are not listed. The codes
    # of rows are carried, not those of people.
    _case(
        "released_rows",
        "class person kind what visit code_1 number",
        [
            *[(2, 1, 2, 3, None, 5, 1), (2, 1, 2, 3, None, 5, 2)],
            *[(1, 2, 1, 1, 9, 0, 3), (1, 2, 1, 2, None, None, 4), (1, 2, 2, 1, 9, 7, 5)],
        ],
        {
            "people": ("key person class code_0", [("p", 2, 1, 1), ("q", 1, 2, 2), ("r", 3, 2, 1)]),
            "facts": (
                "person kind what visit code_1",
                [
                    *[("p", 2, 1, 9, 7), ("q", 2, 3, None, 5), ("p", 1, 2, None, None), ("p", 1, 1, 9, 0)],
                    *[("q", 2, 3, None, 5), ("z", 1, 1, None, 6), (None, 1, 1, None, 6)],
                ],
            ),
        },
        carried=["visit", "code_1"],
    ),
    # A person with several rows of a table counts once in it, and rows whose person is missing count as rows.
    *(
        _case("rows_and_people", "kind rows people", counted, {"facts": ("person kind", facts)})
        for counted, facts in (
            ([(1, 4, 2), (2, 1, 1)], [("a", 1), ("b", 1), ("a", 1), (None, 1), ("a", 2)]),
            ([], []),
        )
    ),
    *(
        _case(
            "smallest_singles",
            _FOUND,
            [found],
            {"rows": ("class person kind what", rows)},
            k=k,
        )
        for k, found, rows in (
            (2, (3, 1, 1), [(1, 1, 1, 5), (1, 1, 1, 5), (1, 2, 1, 5), (1, 1, 2, 5), (1, 2, 2, 5), (2, 3, 1, 5)]),
            (3, (2, 1, 2), [(1, 1, 1, 5), (1, 1, 1, 5), (1, 2, 1, 5), (1, 1, 1, 6), (1, 2, 1, 6), (1, 3, 1, 6)]),
            (2, (0, 0, None), []),
        )
    ),
    *(
        _case("smallest_pairs", _FOUND, [found], {"rows": (_RELEASED, rows)}, k=k, parts=2, part=part)
        for k, part, found, rows in (
            (2, 1, (11, 7, 1), _PAIRS),
            (2, 0, (1, 1, 1), _PAIRS),
            (2, 1, (3, 0, 2), _SHARED),
            (2, 0, (0, 0, None), _SHARED),
        )
    ),
    *(
        _case("smallest_triples", _FOUND, [found], {"rows": (_RELEASED, rows)}, k=k, parts=2, part=part)
        for k, part, found, rows in (
            (2, 1, (17, 16, 1), _TRIPLES_RELEASED),
            (2, 0, (1, 1, 1), _TRIPLES_RELEASED),
            (2, 1, (1, 0, 2), _SHARED),
            (3, 1, (1, 1, 2), _SHARED),
            (2, 0, (0, 0, None), _SHARED),
        )
    ),
    *(
        _case(
            "smallest_wholes",
            _FOUND,
            [found],
            {
                "people": ("person class", [row for row in _PERSONS if row[0] in persons]),
                "visits": ("person visit shown", [row for row in _BY_VISIT if row[0] in persons]),
            },
            k=2,
        )
        for found, persons in (((8, 5, 1), range(1, 12)), ((2, 0, 2), (1, 2, 4, 5)), ((0, 0, None), ()))
    ),
    *(
        _case("pairs_of_people", "pairs", [(counted,)], {"rows": ("person", [(person,) for person in persons])})
        for counted, persons in ((9, [1, 3, 1, 2, 1, 3, 1, 3]), (0, []))
    ),
]

_ITEM_ROWS = _UNIT_ITEMS[1]
_EVERY_RARE = [*_OF_ONE[0], *_OF_ONE[1], *_OF_MORE[0], *_OF_MORE[1]]


def _with(items: Sequence[tuple[int, int]], rare: Rows) -> Rows:
    """The pairs with one of some items, which are (class, item)."""
    return [row for row in rare if (row[0], row[1]) in items or (row[0], row[2]) in items]


_CHANGED = [
    _case(
        "changed",
        "class item",
        [(1, 5), (2, 5), (1, 6)],
        {
            "events": (_EVENTS, [(1, 1, 4, 5, 1, 7), (2, 1, 8, 5, 1, 8), (3, 2, 9, 5, 1, 9), (3, 1, 9, 6, 1, 10)]),
            "left_out": ("event", [(7,), (9,), (10,), (8,), (99,)]),
        },
    ),
    # An item that changed twice is listed once, with its class.
    _case(
        "changed_items",
        _UNIT_ITEMS[0],
        [row for row in _ITEM_ROWS if (row[1], row[2]) == (1, 5)],
        {"unit_items": _UNIT_ITEMS, "changed": ("class item", [(1, 5), (1, 5), (7, 6)])},
    ),
    *(
        _case(
            "rare_changed_pairs",
            "class item_1 item_2 linked share",
            _with(items, rare),
            {
                "changed_items": (_UNIT_ITEMS[0], [row for row in _ITEM_ROWS if (row[1], row[2]) in items]),
                "unit_items": _UNIT_ITEMS,
                "events": _NESTED,
            },
            k=k,
        )
        for k, rare in ((2, [*_OF_ONE[0], *_OF_ONE[1]]), (4, _EVERY_RARE))
        for items in (
            [(1, 5)],
            [(1, 6), (2, 7)],
            [(row[1], row[2]) for row in _ITEM_ROWS],
            [],
        )
    ),
]

_SHARING = "class item_1 item_2 item_3 linked unit_id"
_SHARERS = "class item_1 item_2 item_3 linked"
_SHARED_VALUES = f"{_SHARERS} _sensitive_0 n valued _people"
_VALUES = "unit_id class visit item value event"
_KNOWN = "unit_id visit item event"
_MATCHED = "class item other_1 other_2 linked value unit_id visit"
# Combinations that differ in one respect: the class, one of three items, or which rows are linked.
_COMBINATION = (1, 5, 6, 7, 0)
_OTHERS = [(2, 5, 6, 7, 0), (1, 8, 6, 7, 0), (1, 5, 8, 7, 0), (1, 5, 6, 8, 0), (1, 5, 6, 7, 3)]

_SHARERS_OF_ROWS = [
    # Copies are listed once.
    _case(
        "sharing_a_class",
        _SHARING,
        [(1, -1, -1, -1, 0, 10), (1, -1, -1, -1, 0, 11), (2, -1, -1, -1, 0, 12)],
        {"people": ("unit_id class", [(10, 1), (11, 1), (12, 2)])},
    ),
    _case(
        "sharing_a_row",
        _SHARING,
        [
            (class_, item, -1, -1, 0, unit)
            for class_, item, unit in ((1, 5, 1), (1, 6, 1), (1, 6, 2), (2, 6, 3), (2, 7, 3), (2, 7, 4))
        ],
        {"events": _SINGLES},
    ),
    # Person 1 has a linked pair in visit 0, and copies that are not linked; 2 has the same pair linked and not; 3 has
    # linked copies; 4 has a single row; 5 has the greater item first.
    *(
        _case(
            "sharing_a_pair",
            _SHARING,
            pairs,
            {
                "events": (
                    "unit_id class visit item event",
                    [
                        *[(1, 1, 0, 5, 11), (1, 1, 0, 6, 12), (1, 1, -3, 7, 13), (1, 1, -3, 7, 14)],
                        *[(2, 1, 16, 5, 21), (2, 1, 19, 6, 22), (2, 1, 16, 6, 23)],
                        *[
                            (3, 2, 22, 5, 31),
                            (3, 2, 22, 5, 32),
                            (4, 2, 25, 9, 41),
                            (5, 2, 28, 8, 51),
                            (5, 2, 31, 3, 52),
                        ],
                    ],
                )
            },
            parts=2,
            part=part,
        )
        for part, pairs in (
            (
                1,
                [
                    *[(1, 5, 6, -1, 1, 1), (1, 5, 7, -1, 0, 1), (1, 7, 7, -1, 0, 1)],
                    *[(1, 5, 6, -1, 0, 2), (1, 5, 6, -1, 1, 2), (2, 5, 5, -1, 1, 3), (2, 3, 8, -1, 0, 5)],
                ],
            ),
            (0, [(1, 6, 7, -1, 0, 1), (1, 6, 6, -1, 0, 2)]),
        )
    ),
    *(
        _case("sharing_a_triple", _SHARING, triples, {"events": _TRIPLES}, parts=2, part=part)
        for part, triples in (
            (
                1,
                [
                    *[(1, 5, 6, 7, 1, 1), (1, 5, 6, 7, 1, 2), (1, 5, 6, 7, 2, 3), (1, 5, 5, 6, 4, 4)],
                    *[(1, 5, 5, 6, 2, 4), (2, 5, 6, 8, 7, 5), (2, 9, 9, 9, 0, 6)],
                ],
            ),
            (0, [(2, 6, 9, 9, 0, 6)]),
        )
    ),
]

_SENSITIVE = [
    # The empty text is a value; NULL is the last.
    _case(
        "coded_values",
        "row_id unit_id value raw n",
        [(4, 10, 3, "b", 1), (1, 11, 2, "a", 1), (7, 10, 3, "b", 1), (2, 12, 4, None, 1), (3, 11, 1, "", 1)],
        {
            "rows": (
                "row_id unit_id raw n",
                [(4, 10, "b", 1), (1, 11, "a", 1), (7, 10, "b", 1), (2, 12, None, 1), (3, 11, "", 1)],
            )
        },
    ),
    # Of rows 2, 3, 4 and 8, which are equal, the first is left out, and two are enough. Rows 5 to 9 differ from them in
    # one respect. The person of row 20 is not released.
    _case(
        "kept_values",
        _VALUES,
        [
            *[(1, 1, -3, 5, 1, 44), (1, 1, -3, 5, 1, 56), (1, 1, -3, 5, 2, 68), (1, 1, 13, 5, 1, 80)],
            *[(1, 1, -3, 8, 1, 92), (2, 1, -3, 5, 1, 116), (3, 2, 16, 11, 3, 128)],
        ],
        {
            "items": (
                _ITEMS,
                [
                    *[(8, 1, 1, -3, 5), (3, 1, 1, -3, 5), (4, 1, 1, -3, 5), (2, 1, 1, -3, 5), (5, 1, 1, -3, 5)],
                    *[(6, 1, 1, 13, 5), (7, 1, 1, -3, 8), (9, 2, 1, -3, 5), (10, 3, 2, 16, 11)],
                ],
            ),
            "values": (
                "row_id unit_id value",
                [
                    *[(8, 1, 1), (4, 1, 1), (3, 1, 1), (2, 1, 1), (5, 1, 2), (6, 1, 1), (7, 1, 1), (9, 2, 1)],
                    *[(10, 3, 3), (20, 9, 1)],
                ],
            ),
            "left_out": ("row_id", [(2,), (20,)]),
        },
        tables=3,
        table=2,
        most=2,
    ),
    # Person 1 has a value twice, and another one; 6 has none; 5 is not released.
    _case(
        "holders",
        "unit_id value",
        [(1, 3), (1, 4), (2, 3), (1, -1), (2, -1), (1, 0), (2, 0), (6, 0)],
        {
            "values": ("unit_id value", [(1, 3), (1, 4), (1, 3), (2, 3), (5, 3)]),
            "people": ("unit_id class", [(1, 1), (2, 1), (6, 2)]),
        },
    ),
    # Persons 1, 2, 3 and 5 share a combination, and 3 has no value; 4 alone has the others. Nobody who shares the last
    # combination has a value; person 9 shares none.
    _case(
        "values_of_sharing",
        _SHARED_VALUES,
        [
            *[(*_COMBINATION, 1, 2, 3, 4), (*_COMBINATION, 4, 2, 3, 4)],
            *[(*other, 1, 1, 1, 1) for other in _OTHERS],
        ],
        {
            "sharing": (
                _SHARING,
                [
                    *[(*_COMBINATION, unit) for unit in (1, 2, 3, 5)],
                    *[(*other, 4) for other in _OTHERS],
                    (1, 9, -1, -1, 0, 3),
                ],
            ),
            "holders": (
                "unit_id value",
                [
                    *[(1, 1), (1, 4), (1, -1), (1, 0), (2, 1), (2, -1), (2, 0), (3, 0)],
                    *[(4, 1), (4, -1), (4, 0), (5, 4), (5, -1), (5, 0), (9, 1), (9, -1), (9, 0)],
                ],
            ),
        },
    ),
    # Two values are too few, as is one with people who have none; three or four values are enough, as are two with such
    # people.
    _case(
        "too_uniform",
        _SHARERS,
        [_COMBINATION, *_OTHERS, (4, 5, -1, -1, 0), (5, 5, -1, -1, 0)],
        {
            "shared": (
                _SHARED_VALUES,
                [
                    *[(*found, value, 2, 3, 3) for found in (_COMBINATION, *_OTHERS) for value in (1, 4)],
                    *[(3, 5, -1, -1, 0, value, 1, 3, 3) for value in (1, 2, 4)],
                    *[(3, 7, -1, -1, 0, value, 1, 4, 4) for value in (1, 2, 3, 4)],
                    *[(5, 5, -1, -1, 0, value, 2, 3, 3) for value in (1, 4)],
                    *[(3, 6, -1, -1, 0, 1, 3, 4, 5), (3, 6, -1, -1, 0, 4, 1, 4, 5), (4, 5, -1, -1, 0, 1, 2, 2, 4)],
                ],
            )
        },
        l=3,
    ),
    # A sum of three is unknown, and unsafe.
    *(
        _case(
            "unsafe_combinations",
            _SHARERS,
            unsafe,
            {
                "shared": (
                    _SHARED_VALUES,
                    [
                        *[
                            (*found, value, n, 3, 3)
                            for found in (_COMBINATION, *_OTHERS)
                            for value, n in ((1, 2), (4, 1))
                        ],
                        *[(3, 5, -1, -1, 0, 1, 2, 2, 4), (3, 5, -1, -1, 0, 2, 2, 2, 4), (3, 6, -1, -1, 0, 1, 6, 6, 12)],
                        (3, 7, -1, -1, 0, 1, 7, 7, 12),
                    ],
                )
            },
            safe=safe,
        )
        for unsafe, safe in (
            ([_COMBINATION, *_OTHERS], Predicate("SUM(n) >= $k", {"k": 4})),
            ([_COMBINATION, *_OTHERS], Predicate("NULLIF(SUM(n), $three) > 0", {"three": 3})),
            (  # half of the people may have a value
                [_COMBINATION, *_OTHERS, (3, 7, -1, -1, 0)],
                Predicate(
                    "most <= $alpha * rows",
                    {"alpha": 0.5},
                    {"rows": "SUM(n)", "most": "MAX(c)"},
                    counted="_sensitive_0",
                    unit=PEOPLE,
                ),
            ),
        )
    ),
    # Four people, of whom three have a value.
    _case(
        "reference_of_people",
        "value overall_c overall_size",
        [(1, 2, 4), (2, 1, 4)],
        {
            "reference": ("value overall_c overall_size", [(1, 2, 3), (2, 1, 3)]),
            "people": ("unit_id", [(1,), (2,), (3,), (4,)]),
        },
        figures=["value", "overall_c"],
    ),
    # Person 5 has one value in two rows; 2 and 4 have several, and 3 has none; 9 is not released.
    *(
        _case(
            "not_one_value",
            "people",
            [(counted,)],
            {
                "people": ("unit_id class", [(unit, 1) for unit in people]),
                "values": ("unit_id value", [(5, 3), (5, 3), (2, 3), (2, 4), (4, 3), (4, 5), (4, 6), (9, 3), (9, 4)]),
            },
        )
        for counted, people in ((3, [5, 2, 3, 4]), (0, [5]))
    ),
]

_REVEALING = [
    # Table 2 of four: its rows are those with values.
    _case(
        "known_rows",
        _KNOWN,
        [(1, 13, 5, 53), (2, 16, 7, 93), (1, -3, 6, 40), (3, -3, 10, 56)],
        {
            "events": (
                _EVENTS,
                [(1, 1, 13, 5, 1, 53), (1, 1, -3, 6, 1, 41), (2, 1, 16, 7, 1, 93), (3, 2, -3, 10, 1, 57)],
            ),
            "values": (_VALUES, [(1, 1, -3, 6, 3, 40), (3, 2, -3, 10, 3, 56)]),
        },
        tables=4,
        table=2,
    ),
    # Equal rows are listed once.
    _case(
        "matched_rows",
        _MATCHED,
        [
            *[(1, 5, -1, -1, 0, 3, 1, -3), (1, 5, -1, -1, 0, 4, 1, -3), (1, 5, -1, -1, 0, 3, 1, 13)],
            *[(1, 5, -1, -1, 0, 3, 2, -3), (2, 8, -1, -1, 0, 3, 3, -3)],
        ],
        {
            "values": (
                _VALUES,
                [
                    *[(1, 1, -3, 5, 3, 44), (1, 1, -3, 5, 3, 56), (1, 1, -3, 5, 4, 68), (1, 1, 13, 5, 3, 80)],
                    *[(2, 1, -3, 5, 3, 92), (3, 2, -3, 8, 3, 104)],
                ],
            )
        },
    ),
    # Person 1 has a row in visit 0, linked to copies of another, and two rows that are not linked; 2 has two rows with
    # the same value, one of which is linked to a third row; 4 has a single row.
    *(
        _case(
            "matched_pairs",
            _MATCHED,
            pairs,
            {
                "values": (
                    _VALUES,
                    [
                        *[(1, 1, 0, 5, 3, 44), (1, 1, -3, 8, 4, 56), (1, 1, -3, 8, 6, 68)],
                        *[(2, 1, 13, 5, 2, 92), (2, 1, 16, 5, 2, 104), (3, 2, 19, 5, 7, 116), (4, 1, 25, 5, 3, 128)],
                    ],
                ),
                "known": (
                    _KNOWN,
                    [
                        *[(1, 0, 5, 44), (1, -3, 8, 56), (1, -3, 8, 68), (1, 0, 4, 57), (1, 0, 4, 58)],
                        *[(2, 13, 5, 92), (2, 16, 5, 104), (2, 16, 7, 93), (3, 19, 5, 116), (3, 22, 4, 117)],
                        *[(4, 25, 5, 128), (5, 25, 4, 141)],
                    ],
                ),
            },
            parts=2,
            part=part,
        )
        for part, pairs in (
            (
                1,
                [
                    *[(1, 5, 8, -1, 0, 3, 1, 0), (1, 5, 4, -1, 1, 3, 1, 0)],
                    *[(1, 5, 5, -1, 0, 2, 2, 13), (1, 5, 7, -1, 0, 2, 2, 13)],
                    *[(1, 5, 5, -1, 0, 2, 2, 16), (1, 5, 7, -1, 1, 2, 2, 16), (2, 5, 4, -1, 0, 7, 3, 19)],
                ],
            ),
            (
                0,
                [(1, 8, other, -1, 0, value, 1, -3) for value in (4, 6) for other in (4, 5, 8)],
            ),
        )
    ),
    # Of the three rows of persons 1 to 3, the first two, the outer two, or the last two are linked; 4 has three rows
    # that are not linked, two of which are alike; 5 and 6 have two rows; all three rows of 7 are in visit 0.
    *(
        _case(
            "matched_triples",
            _MATCHED,
            triples,
            {
                "values": (
                    _VALUES,
                    [
                        *[(1, 1, 13, 5, 3, 44), (2, 1, 16, 5, 3, 92), (3, 1, 22, 5, 3, 116)],
                        *[(4, 2, -3, 5, 3, 128), (4, 2, -3, 8, 6, 140), (4, 2, -3, 8, 9, 152)],
                        *[(5, 1, 31, 5, 3, 164), (6, 1, 34, 5, 3, 176), (7, 1, 0, 3, 4, 188)],
                    ],
                ),
                "known": (
                    _KNOWN,
                    [
                        *[
                            (1, 13, 5, 44),
                            (1, 13, 4, 57),
                            (1, 37, 7, 69),
                            (2, 16, 5, 92),
                            (2, 19, 4, 93),
                            (2, 16, 7, 94),
                        ],
                        *[(3, 22, 5, 116), (3, 10, 4, 118), (3, 10, 7, 117)],
                        *[(4, -3, 5, 128), (4, -3, 8, 140), (4, -3, 8, 152)],
                        *[(5, 31, 5, 164), (5, 31, 4, 165), (6, 34, 5, 176), (6, 37, 7, 177)],
                        *[(7, 0, 3, 188), (7, 0, 4, 189), (7, 0, 7, 190)],
                    ],
                ),
            },
            parts=2,
            part=part,
        )
        for part, triples in (
            (
                1,
                [
                    *[(1, 5, 4, 7, 1, 3, 1, 13), (1, 5, 4, 7, 2, 3, 2, 16), (1, 5, 4, 7, 4, 3, 3, 22)],
                    *[(2, 5, 8, 8, 0, 3, 4, -3), (1, 3, 4, 7, 7, 4, 7, 0)],
                ],
            ),
            (0, [(2, 8, 5, 8, 0, 6, 4, -3), (2, 8, 5, 8, 0, 9, 4, -3)]),
        )
    ),
    # Persons 1 and 2 have different values, as have 9 to 11; the others show something else, in one respect: 3 and 4
    # have one value, and 7 reveals it in two ways.
    _case(
        "revealing",
        "unit_id visit item class",
        [(3, 19, 5, 2), (4, 22, 5, 2), (5, 25, 8, 1), (6, 28, 5, 1), (7, 31, 5, 1), (8, 34, 5, 1)],
        {
            "matched": (
                _MATCHED,
                [
                    *[(1, 5, 4, 7, 0, 3, 1, 13), (1, 5, 4, 7, 0, 6, 2, 16)],
                    *[(2, 5, 4, 7, 0, 3, 3, 19), (2, 5, 4, 7, 0, 3, 4, 22), (1, 8, 4, 7, 0, 3, 5, 25)],
                    *[(1, 5, 6, 7, 0, 3, 6, 28), (1, 5, 4, 7, 1, 3, 7, 31), (1, 5, 4, 7, 2, 3, 7, 31)],
                    *[(1, 5, 4, 9, 0, 3, 8, 34), (4, 5, 4, 7, 0, 3, 9, 37), (4, 5, 4, 7, 0, 4, 10, 40)],
                    (4, 5, 4, 7, 0, 6, 11, 43),
                ],
            )
        },
        l=2,
    ),
    # All copies of a row.
    _case(
        "revealing_left_out",
        "event",
        [(105,), (106,), (45,)],
        {
            "events": (
                _EVENTS,
                [
                    *[(1, 1, -3, 5, 1, 105), (1, 1, -3, 5, 2, 106), (1, 1, 13, 5, 1, 57), (1, 1, -3, 8, 1, 69)],
                    *[(1, 1, -3, 4, 1, 94), (2, 1, -3, 5, 1, 81), (3, 2, -3, 8, 1, 45)],
                ],
            ),
            "revealing": ("unit_id visit item class", [(1, -3, 5, 1), (3, -3, 8, 2), (9, -3, 5, 1)]),
        },
    ),
    _case(
        "unsafe_rows_left_out",
        "event",
        [(11,), (12,), (15,)],
        {
            "events": ("class item event", [(1, 5, 11), (1, 5, 12), (1, 6, 13), (2, 5, 14), (2, 8, 15), (1, 8, 16)]),
            "unsafe": (_SHARERS, [(1, 5, -1, -1, 0), (2, 8, -1, -1, 0), (2, 9, -1, -1, 0)]),
        },
    ),
    _case(
        "people_without",
        "unit_id class",
        [(12, 2), (14, 2)],
        {
            "people": ("unit_id class", [(10, 1), (11, 1), (12, 2), (13, 3), (14, 2)]),
            "unsafe": ("class item_1", [(1, 5), (1, 6), (3, 5), (12, 5)]),
        },
    ),
    _case(
        "events_of_people",
        _EVENTS,
        [(10, 1, -3, 5, 1, 11), (10, 1, -3, 5, 2, 12)],
        {
            "events": (_EVENTS, [(10, 1, -3, 5, 1, 11), (10, 1, -3, 5, 2, 12), (11, 1, 13, 6, 1, 21)]),
            "people": ("unit_id class", [(10, 1), (13, 1)]),
        },
    ),
    # By the class, then by what rows show; persons 7 and 8 are not released.
    _case(
        "wholes",
        "unit_id class",
        [(1, 1), (2, 1), (4, 3), (5, 2), (6, 2)],
        {
            "shown": (
                "unit_id class shown",
                [(1, 1, "5"), (2, 1, "5"), (4, 2, "5"), (5, 2, ""), (6, 2, ""), (7, 1, ""), (8, 1, "7")],
            ),
            "people": ("unit_id class", [(1, 1), (2, 1), (4, 2), (5, 2), (6, 2)]),
        },
    ),
    _case(
        "items_of_wholes",
        _ITEMS,
        [(1, 10, 7, -3, 5), (2, 10, 7, 13, 8), (3, 11, 8, -3, 5)],
        {
            "items": (_ITEMS, [(1, 10, 1, -3, 5), (2, 10, 1, 13, 8), (3, 11, 1, -3, 5), (4, 12, 2, -3, 5)]),
            "wholes": ("unit_id class", [(10, 7), (11, 8), (13, 9)]),
        },
    ),
]

# The rows of a released table 2 and their codes, together with one other row, by persons: 1 and 2 have different
# values, as have 3 and 11, whose rows are not linked; 4 to 7 show something else, in one respect: the class, or what
# one row shows. The values of 4 and 10 are equal. Both rows of 8 have values. 9 has a single row. 12 has a third
# value of what 1 and 2 show.
_CODED = "class person kind what visit number code_0"
_DIFFERENT_PAIRS = [
    *[(1, 1, 2, 5, 100, 1, 3), (1, 1, 1, 5, 100, 2, None), (1, 2, 2, 5, 200, 3, 4), (1, 2, 1, 5, 200, 4, None)],
]
_CODED_PAIRS = [
    *_DIFFERENT_PAIRS,
    *[(1, 3, 2, 5, 301, 5, 3), (1, 3, 1, 5, 300, 6, None), (3, 4, 2, 5, 400, 7, 3), (3, 4, 1, 5, 400, 8, None)],
    *[(1, 5, 2, 7, 500, 9, 3), (1, 5, 1, 5, 500, 10, None), (1, 6, 2, 5, 600, 11, 3), (1, 6, 1, 8, 600, 12, None)],
    *[(1, 7, 2, 5, 700, 13, 3), (1, 7, 3, 5, 700, 14, None), (1, 8, 2, 6, None, 15, 3), (1, 8, 2, 9, None, 16, 5)],
    *[(1, 9, 2, 11, 900, 17, 3), (3, 10, 2, 5, 1000, 18, 3), (3, 10, 1, 5, 1000, 19, None)],
    *[(1, 11, 2, 5, None, 20, 4), (1, 11, 1, 5, None, 21, None)],
    *[(1, 12, 2, 5, 1200, 22, 6), (1, 12, 1, 5, 1200, 23, None)],
]
# The same for two other rows. Persons 1 and 2 have different values, and 3 to 9 show something else, in one respect:
# the class, what the row shows, what another one shows, its table, or which two of three rows are linked. Two rows of
# 10 have values, and 11 has only two rows; 12 has the same value as 3, and 13 and 14 have more values
# of what 1 and 2 show.
_ROWS_WITH_VALUES = [
    (1, [(2, 5, 103, 3), (1, 5, 102, None), (3, 5, 101, None)]),
    (1, [(2, 5, 201, 4), (1, 5, 202, None), (3, 5, 203, None)]),
    (3, [(2, 5, None, 3), (1, 5, None, None), (3, 5, None, None)]),
    (1, [(2, 7, None, 3), (1, 5, None, None), (3, 5, None, None)]),
    (1, [(2, 5, None, 3), (1, 7, None, None), (3, 5, None, None)]),
    (1, [(2, 5, None, 3), (4, 5, None, None), (3, 5, None, None)]),
    (1, [(2, 5, 700, 3), (1, 5, 700, None), (3, 5, None, None)]),
    (1, [(2, 5, None, 3), (1, 5, 800, None), (3, 5, 800, None)]),
    (1, [(2, 5, 900, 3), (1, 5, None, None), (3, 5, 900, None)]),
    (1, [(2, 6, None, 3), (2, 9, None, 5), (1, 5, None, None)]),
    (1, [(2, 5, None, 3), (1, 5, None, None)]),
    (3, [(2, 5, None, 3), (1, 5, None, None), (3, 5, None, None)]),
    (1, [(2, 5, None, 6), (1, 5, None, None), (3, 5, None, None)]),
    (1, [(2, 5, None, 7), (1, 5, None, None), (3, 5, None, None)]),
]
_CODED_TRIPLES = [
    (class_, person, kind, what, visit, 10 * person + place, code)
    for person, (class_, rows) in enumerate(_ROWS_WITH_VALUES, start=1)
    for place, (kind, what, visit, code) in enumerate(rows)
]
_OF_CODES = {"code": ["code_0"], "kind": 2}

_RELEASED_VALUES = [
    _case(
        "released_codes",
        "value code_0",
        [("", 1), ("a", 2), ("b", 3), (None, 0)],
        {"released": ("text", [("b",), ("a",), (None,), ("b",), ("",), ("a",), (None,)])},
        column=["text"],
    ),
    # NULL is the value 0; rows of other tables have no code.
    _case(
        "released_holders",
        "person value",
        [(1, 3), (1, 0), (2, 3)],
        {"rows": ("person code_1 code_0", [(1, 5, 3), (1, 6, 3), (1, 7, 0), (2, 5, 3), (2, 5, None), (3, 5, None)])},
        code=["code_0"],
    ),
    _case(
        "people_of_classes",
        "combination person",
        [(1, 4), (1, 5), (2, 6)],
        {"people": ("person class", [(4, 1), (5, 1), (6, 2)])},
    ),
    _case(
        "people_of_singles",
        "combination person",
        [(1, 1), (1, 2), (2, 4), (3, 1), (3, 2), (4, 3)],
        {
            "rows": (
                "class person kind what",
                [(1, 1, 1, 5), (1, 1, 1, 5), (1, 2, 1, 5), (1, 1, 2, 5), (1, 2, 2, 5), (2, 3, 1, 5), (1, 4, 1, 9)],
            )
        },
    ),
    # The persons of every combination, in the order of the combinations.
    *(
        _case(
            f"people_of_{size}",
            "combination person",
            [(combination, person) for combination, persons in enumerate(sharing, start=1) for person in persons],
            {"rows": (_RELEASED, rows)},
            parts=2,
            part=part,
        )
        for size, rows, part, sharing in (
            ("pairs", _PAIRS, 1, [[3], [1, 2], [1, 2], [1, 2], [5], [4], [5], [5], [6, 7], [8], [9]]),
            ("pairs", _PAIRS, 0, [[5]]),
            (
                "triples",
                _TRIPLES_RELEASED,
                1,
                [[4], [4], [1, 2], [3], [6], [14], [19], [9], [16], [17], [18], [12], [15], [11], [10], [13], [8]],
            ),
            ("triples", _TRIPLES_RELEASED, 0, [[7]]),
        )
    ),
    _case(
        "people_of_wholes",
        "combination person",
        [(1, 3), (2, 1), (2, 2), (3, 4), (3, 5), (4, 8), (5, 10), (5, 11), (6, 7), (7, 9), (8, 6)],
        {"people": ("person class", _PERSONS), "visits": ("person visit shown", _BY_VISIT)},
    ),
    # Of three people, two have a value, and one of them another one; person 4 has none, and 9 shares nothing.
    _case(
        "values_of_people",
        "_kind _sensitive_0 n _people _rows _weight",
        [(1, 3, 2, 3, 3, 1), (1, 4, 1, 3, 3, 1), (2, 3, 1, 1, 1, 1), (2, 4, 1, 1, 1, 1)],
        {
            "sharing": ("combination person", [(1, 1), (1, 2), (1, 3), (2, 1), (3, 4)]),
            "holders": ("person value", [(1, 3), (1, 4), (2, 3), (9, 3)]),
        },
    ),
    # The first combination has two values and a person without one; the second has two values; the third has one, of
    # two people; nobody who shares the fourth has a value; the fifth has one value and a person without one.
    *(
        _case(
            "fewest_values",
            _FOUND,
            [found],
            {
                "sharing": ("combination person", sharing),
                "holders": ("person value", [(1, 3), (1, 4), (2, 3), (5, 3), (9, 3)]),
            },
            l=least,
        )
        for least, found, sharing in (
            (2, (4, 1, 1), [(1, 1), (1, 2), (1, 3), (2, 1), (3, 2), (3, 5), (4, 3), (5, 2), (5, 3)]),
            (3, (4, 3, 1), [(1, 1), (1, 2), (1, 3), (2, 1), (3, 2), (3, 5), (4, 3), (5, 2), (5, 3)]),
            (3, (1, 0, 3), [(1, 1), (1, 2), (1, 3)]),
            (2, (1, 1, 1), [(3, 2), (3, 5)]),
            (2, (0, 0, None), [(4, 3)]),
        )
    ),
    # NULL is a value. What shows 7 has one value in two rows; tables 1 and 3 have no values.
    *(
        _case(
            "fewest_values_of_singles",
            _FOUND,
            [found],
            {"rows": ("class kind what code_0", rows)},
            **_OF_CODES,
            l=2,
        )
        for found, rows in (
            (
                (4, 2, 1),
                [
                    *[(1, 2, 5, 3), (1, 2, 5, 3), (1, 2, 5, 4), (1, 2, 5, 6), (1, 2, 7, 3), (1, 2, 7, 3)],
                    *[(2, 2, 5, 3), (2, 2, 5, 0), (3, 2, 5, 3), (1, 1, 5, None), (4, 1, 5, None), (4, 3, 5, None)],
                ],
            ),
            ((1, 0, 2), [(2, 2, 5, 3), (2, 2, 5, 0)]),
            ((0, 0, None), [(3, 1, 5, None)]),
        )
    ),
    *(
        _case(
            f"fewest_values_of_{size}", _FOUND, [found], {"rows": (_CODED, rows)}, **_OF_CODES, l=2, parts=2, part=part
        )
        for size, part, found, rows in (
            ("pairs", 1, (7, 5, 1), _CODED_PAIRS),
            ("pairs", 0, (1, 1, 1), _CODED_PAIRS),
            ("pairs", 1, (1, 0, 2), _DIFFERENT_PAIRS),
            ("pairs", 0, (0, 0, None), _DIFFERENT_PAIRS),
            # The other two rows count in both orders.
            ("triples", 1, (9, 8, 1), _CODED_TRIPLES),
            ("triples", 0, (1, 1, 1), _CODED_TRIPLES),
            ("triples", 1, (1, 0, 2), [row for row in _CODED_TRIPLES if row[1] in (1, 2)]),
            ("triples", 0, (0, 0, None), [row for row in _CODED_TRIPLES if row[1] in (1, 2)]),
        )
    ),
    *(
        _case(
            "fewest_values_of_wholes",
            _FOUND,
            [found],
            {
                "rows": (
                    "person kind what code_0",
                    [
                        *[(1, 2, 5, 3), (2, 2, 5, 4), (1, 2, 7, 3), (3, 2, 5, 3), (3, 2, 8, 3), (5, 2, 5, 3)],
                        *[(5, 2, 8, 3), (6, 2, 5, 3), (7, 2, 5, 4), (8, 2, 5, 6)],
                        *[(1, 1, 9, None), (4, 1, 5, None), (1, 3, 9, None)],
                    ],
                ),
                "sharing": ("combination person", sharing),
            },
            **_OF_CODES,
            l=2,
        )
        for found, sharing in (
            ((5, 3, 1), [(1, 1), (1, 2), (2, 3), (2, 5), (3, 4), (4, 6), (4, 7), (4, 8)]),
            ((0, 0, None), [(3, 4)]),
        )
    ),
]

# Items 5 and 6 are as frequent, 7 is rarer; class 2 has other frequencies.
_FREQUENT = [(1, 5, 3), (1, 6, 3), (1, 7, 2), (1, 8, 9), (2, 5, 1), (2, 6, 2), (2, 7, 9)]
_WHOLE_ITEMS = [
    # A row of visit 4 and two of visit 6 show the same; row 3 refers to none, and rows 8 and 9 are not of both tables.
    _case(
        "parents_of_items",
        "item parent_item",
        [(7, 31), (7, 0), (8, 31)],
        {
            "items": ("row_id item", [(1, 7), (2, 7), (3, 10), (4, 8), (5, 7), (8, 11)]),
            "rows": ("row_id parent_item", [(1, 31), (2, 0), (3, -1), (4, 31), (5, 31), (9, 31)]),
        },
    ),
    _case(
        "all_parents",
        "item parent_item",
        [(7, 31), (8, 4), (7, 31), (9, 7)],
        {
            "first": ("item parent_item", [(7, 31), (8, 4)]),
            "second": ("parent_item item", [(31, 7), (7, 9)]),
        },
    ),
    # Of items that are as frequent, the second goes; of an item twice, the item; pairs in two ways count once.
    _case(
        "items_of_pairs",
        "class item",
        [(1, 6), (1, 7), (2, 5)],
        {
            "rare": (
                "class item_1 item_2 linked",
                [(1, 5, 6, 0), (1, 6, 8, 0), (1, 7, 8, 0), (1, 7, 8, 1), (1, 7, 7, 0), (2, 5, 6, 0)],
            ),
            "frequencies": ("class item people", _FREQUENT),
        },
    ),
    # The rarest goes, wherever it is; the last of those that are as frequent.
    *(
        _case(
            "items_of_triples",
            "class item",
            [(class_, item)],
            {
                "rare": ("class item_1 item_2 item_3 linked", [(class_, *items, 0), (class_, *items, 3)]),
                "frequencies": ("class item people", _FREQUENT),
            },
        )
        for class_, items, item in (
            (1, (5, 6, 8), 6),
            (1, (5, 8, 6), 6),
            (1, (8, 5, 6), 6),
            (1, (8, 6, 5), 5),
            (1, (7, 8, 6), 7),
            (1, (8, 7, 6), 7),
            (1, (8, 6, 7), 7),
            (1, (5, 8, 8), 5),
            (2, (5, 6, 7), 5),
            (1, (6, 6, 8), 6),
        )
    ),
    # Rows that refer to 5 show 7 and 8, and those that refer to 7, one level below, are not looked for.
    _case(
        "items_with_children",
        "class item",
        [(1, 5), (1, 7), (1, 8), (2, 5), (2, 7), (2, 8), (1, 6)],
        {
            "items": ("class item", [(1, 5), (2, 5), (1, 6), (1, 8)]),
            "parents": ("item parent_item", [(7, 5), (8, 5), (9, 7), (10, 11)]),
        },
    ),
    _case(
        "without_items",
        _EVENTS,
        [(1, 1, -3, 6, 2, 12), (2, 2, 13, 5, 1, 21)],
        {
            "events": (_EVENTS, [(1, 1, -3, 5, 1, 11), (1, 1, -3, 6, 2, 12), (2, 2, 13, 5, 1, 21)]),
            "left_out": ("class item", [(1, 5), (2, 6), (3, 5)]),
        },
    ),
    # Rows without a key, with that of another row, of no person, of two, or that refer to a missing row.
    _case(
        "sound_rows",
        "row_id unit_id key",
        [(1, 10, "a"), (2, 10, "b")],
        {
            "copy": (
                "row_id unit_id key orphans contradicting",
                [
                    *[(1, 10, "a", 0, 0), (2, 10, "b", 0, 0), (3, 10, None, 0, 0), (4, None, "d", 0, 0)],
                    *[(5, 11, "e", 0, 1), (6, 11, "f", 1, 0), (7, 11, "g", 0, 0), (8, 12, "g", 0, 0)],
                    *[(9, 12, "h", 0, 0), (10, 12, "h", 1, 0), (11, None, None, 0, 0)],
                ],
            )
        },
        columns=["row_id", "unit_id", "key"],
        key=["key"],
    ),
    # Three rows refer to row 4, two to row 5; the rows that refer to none are not counted together.
    _case(
        "with_few_siblings",
        "row_id parent_id",
        [(4, 5), (5, 5), (6, None), (7, None), (8, None)],
        {
            "rows": (
                "row_id parent_id",
                [(1, 4), (2, 4), (3, 4), (4, 5), (5, 5), (6, None), (7, None), (8, None)],
            )
        },
        columns=["row_id", "parent_id"],
        most=2,
    ),
    _case(
        "items_that_remain",
        "class item",
        [(1, 5), (2, 5), (1, 6)],
        {"events": (_EVENTS, [(1, 1, -3, 5, 1, 11), (1, 1, -3, 5, 2, 12), (2, 2, 13, 5, 1, 21), (3, 1, 13, 6, 1, 31)])},
    ),
    _case(
        "rows_of_items",
        "row_id",
        [(1,), (2,)],
        {
            "items": ("row_id class item", [(1, 1, 5), (2, 1, 5), (3, 1, 6), (4, 2, 5), (5, 2, 6)]),
            "remaining": ("class item", [(1, 5), (3, 6), (2, 7)]),
        },
    ),
    _case(
        "rows_of_people",
        "row_id",
        [(1,), (3,)],
        {
            "rows": ("row_id unit_id", [(1, 10), (2, 11), (3, 10), (4, 12)]),
            "people": ("unit_id class", [(10, 1), (13, 2)]),
        },
    ),
]

CASES = [
    *_CHANGED,
    *_COPIES,
    *_SHOWN,
    *_RARE,
    *_VICTIMS,
    *_LEFT_OUT,
    *_CHECKS,
    *_SHARERS_OF_ROWS,
    *_SENSITIVE,
    *_REVEALING,
    *_RELEASED_VALUES,
    *_WHOLE_ITEMS,
]
