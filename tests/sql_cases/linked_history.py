"""Given and expected rows of `sql/linked_history`."""

import hashlib
from typing import Any

from kanon_sql.queries import Relation, ReleasedPlaces
from sql_cases.case import Case, Rows, relation

_TEXTS = (
    *("key", "secret", "text", "zip", "waiting_row", "row_key", "person_key", "parent_key", "labels", "content"),
    *("old_labels", "old_content", "new_labels", "new_content", "at", "inputs", "released", "manifest"),
    *("kanon_row", "kanon_person", "kanon_parent", "kanon_labels", "kanon_content", "value", "ill"),
)
_TYPES = {**dict.fromkeys(_TEXTS, "VARCHAR"), "choice": "BIGINT"}


def _case(name: str, gives: str, expected: Rows, given: dict[str, tuple[str, Rows]], **holes: Any) -> Case:
    """A case whose relations, by the holes they fill, are described by their columns and rows."""
    relations: dict[str, Any] = {}
    for hole, (columns, content) in given.items():
        relations |= relation(f"given_{hole}", columns, *content, **_TYPES)
    filled = {hole: Relation(f"given_{hole}") for hole in given}
    return Case(f"linked_history/{name}", {**filled, **holes}, gives.split(), expected, relations)


def _digest(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def _key(table: str, value: str, person: str, parent: str) -> str:
    """A key as `linked_history/row_keys` computes it, with the secret `it's`."""
    return _digest("it's" + _digest("it's" + table) + f"{value}/{person}/{parent}")


_KEPT = "kanon_row kanon_labels kanon_content waiting_row kanon_first kanon_last"
_STORED = "kanon_row kanon_person kanon_parent kanon_labels kanon_content zip kanon_first kanon_last"
_LISTED = "kind row_key person_key parent_key labels content since until"
_NUMBERED = "kind row_id unit_id parent_id labels content since until"
_CHANGED = "kind row_id unit_id parent_id old_labels old_content new_labels new_content"

_HISTORIES = [
    # Rows 3 to 6 differ from row 1 in the key, the person, and the row that they refer to: another one, or none.
    _case(
        "row_keys",
        "row_id key",
        [
            *[(1, _key("visits", "a", "p4", "q7")), (2, _key("visits", "a", "p4", "q7"))],
            *[(3, _key("visits", "b", "p4", "q7")), (4, _key("visits", "a", "p5", "q7"))],
            *[(5, _key("visits", "a", "p4", "q8")), (6, _key("visits", "a", "p4", "")), (9, None)],
        ],
        {
            "copy": (
                "row_id unit_id parent_id text",
                [
                    *[(1, 4, 7, "a"), (2, 4, 7, "a"), (3, 4, 7, "b"), (4, 5, 7, "a")],
                    *[(5, 4, 8, "a"), (6, 4, None, "a"), (9, 4, 7, None)],
                ],
            ),
            "people": ("row_id key", [(5, "p5"), (4, "p4"), (7, "p7")]),
            "parents": ("row_id key", [(8, "q8"), (7, "q7"), (4, "q4")]),
            "secret": ("secret", [("it's",)]),
        },
        table="visits",
        column=["text"],
    ),
    _case(
        "row_keys",
        "row_id key",
        [(1, _key("it's", "-2", "p4", "")), (2, _key("it's", "17", "p4", "p4"))],
        {
            "copy": ("row_id unit_id parent_id c0", [(1, 4, None, -2), (2, 4, 4, 17)]),
            "people": ("row_id key", [(4, "p4")]),
            "parents": ("row_id key", [(4, "p4")]),
            "secret": ("secret", [("it's",)]),
        },
        table="it's",
        column=["c0"],
    ),
    *(
        _case(
            "nothing_released",
            "kanon_row zip kanon_first kanon_last",
            [],
            {"candidate": ("kanon_row zip", candidates)},
            columns=["kanon_row", "zip"],
            number=0,
        )
        for candidates in ([("r1", "a"), ("r2", None)], [])
    ),
    # Release 5, which is compared with 2 and later ones. By rows: 1 is the same; 2 changes in what is no label, and 16
    # in its labels; 3 would change, and waits; 4 leaves; 5 would leave, and waits; 6 is again what it was in release 2;
    # 7 left before 2, and returns; 8 is new; 9 would be new, and waits; 10 left after 3, would return, and waits; 12
    # shows what 11 did; 13 was last in release 3, 14 in 2, and 15 in 1. A column of the table has a name that the query
    # uses.
    _case(
        "continued",
        _KEPT,
        [
            *[("r1", "L", "A", None, 1, None), ("r2", "L", "A", "x", 3, 4), ("r2", "L", "B", "y", 5, None)],
            *[("r3", "L", "A", "x", 1, None), ("r4", "L", "A", "x", 4, 4), ("r5", "L", "A", "x", 2, None)],
            *[("r6", "L", "A", "x", 1, 2), ("r6", "L", "B", "y", 3, 4), ("r6", "L", "A", "x", 5, None)],
            *[("r7", "L", "A", "x", 5, None), ("r8", "L", "A", None, 5, None), ("r10", "L", "A", "x", 1, 3)],
            *[("r11", "L", "C", "x", 1, 4), ("r12", "L", "C", "x", 5, None), ("r13", "L", "A", "x", 1, 3)],
            *[("r14", "L", "A", "x", 2, 2), ("r16", "L", "A", "x", 1, 4), ("r16", "M", "A", "x", 5, None)],
        ],
        {
            "past": (
                _KEPT,
                [
                    *[("r1", "L", "A", None, 1, None), ("r2", "L", "A", "x", 3, None), ("r3", "L", "A", "x", 1, None)],
                    *[("r4", "L", "A", "x", 4, None), ("r5", "L", "A", "x", 2, None), ("r6", "L", "A", "x", 1, 2)],
                    *[("r6", "L", "B", "y", 3, None), ("r7", "L", "A", "x", 1, 1), ("r10", "L", "A", "x", 1, 3)],
                    *[("r11", "L", "C", "x", 1, None), ("r13", "L", "A", "x", 1, 3), ("r14", "L", "A", "x", 2, 2)],
                    *[("r15", "L", "A", "x", 1, 1), ("r16", "L", "A", "x", 1, None)],
                ],
            ),
            "candidate": (
                "kanon_content kanon_labels waiting_row kanon_row",
                [
                    *[("A", "L", None, "r1"), ("B", "L", "y", "r2"), ("B", "M", "y", "r3"), ("A", "L", "x", "r6")],
                    *[("A", "L", "x", "r7"), ("A", "L", None, "r8"), ("A", "L", "x", "r9"), ("A", "L", "x", "r10")],
                    *[("C", "L", "x", "r12"), ("A", "M", "x", "r16")],
                ],
            ),
            "waiting": ("row_key", [("r3",), ("r5",), ("r9",), ("r10",)]),
        },
        columns=["kanon_row", "kanon_labels", "kanon_content", "waiting_row"],
        number=5,
        oldest=2,
    ),
    # The first release.
    _case(
        "continued",
        "kanon_row kanon_labels kanon_content kanon_first kanon_last",
        [("r1", "", "", 1, None), ("r2", "L", "A", 1, None)],
        {
            "past": ("kanon_row kanon_labels kanon_content kanon_first kanon_last", []),
            "candidate": ("kanon_row kanon_labels kanon_content", [("r1", "", ""), ("r2", "L", "A")]),
            "waiting": ("row_key", []),
        },
        columns=["kanon_row", "kanon_labels", "kanon_content"],
        number=1,
        oldest=-6,
    ),
    # A row that is in releases 2 and 3 appeared in 2, and was gone in 4.
    *(
        _case("changed_releases", "release", changed, {"history": ("kanon_first kanon_last", releases)})
        for changed, releases in (
            ([(1,), (2,), (4,), (7,), (9,)], [(1, None), (2, 3), (1, 3), (4, None), (9, None), (2, 6)]),
            ([(4,)], [(4, None)]),
            ([], []),
        )
    ),
    _case(
        "versions",
        _LISTED,
        [(2, "r1", "p1", "q1", "l1", "c1", 1, 3), (2, "r1", "p1", None, "l1", "c2", 4, None)],
        {
            "past": (
                _STORED,
                [("r1", "p1", "q1", "l1", "c1", "z", 1, 3), ("r1", "p1", None, "l1", "c2", "z", 4, None)],
            )
        },
        kind=2,
    ),
    _case(
        "new_rows",
        _LISTED,
        [(0, "r1", "p1", "q1", "l1", "c1", None, None), (0, "r2", "p1", None, "l1", "c2", None, None)],
        {
            "candidate": (
                "kanon_content kanon_labels kanon_parent kanon_person kanon_row zip",
                [("c1", "l1", "q1", "p1", "r1", "z"), ("c2", "l1", None, "p1", "r2", None)],
            )
        },
        kind=0,
    ),
    # A row that occurs in both is there twice; the second has its columns in another order.
    _case(
        "both_lists",
        _LISTED,
        [
            *[(0, "r1", "p1", None, "l1", "c1", 1, 3), (1, "r2", "p1", "r3", "l2", "c2", 2, None)],
            *[(0, "r1", "p1", None, "l1", "c1", 1, 3), (2, "r4", "p2", None, "l1", "c1", None, None)],
        ],
        {
            "first": (
                _LISTED,
                [(0, "r1", "p1", None, "l1", "c1", 1, 3), (1, "r2", "p1", "r3", "l2", "c2", 2, None)],
            ),
            "second": (
                "until since content labels parent_key person_key row_key kind",
                [(3, 1, "c1", "l1", None, "p1", "r1", 0), (None, None, "c1", "l1", None, "p2", "r4", 2)],
            ),
        },
    ),
    # A key has one number, in however many versions it occurs.
    *(
        _case(
            "numbers",
            "row_key id",
            numbers,
            {"versions": ("row_key content", versions), "candidates": ("row_key content", candidates)},
        )
        for numbers, versions, candidates in (
            (
                [("0a", 1), ("1f", 2), ("a0", 3), ("b", 4)],
                [("b", "B"), ("0a", "A"), ("0a", "B"), ("a0", "A")],
                [("1f", "A"), ("0a", "C"), ("b", "B")],
            ),
            ([("a", 1), ("b", 2)], [], [("b", "A"), ("a", "A")]),
        )
    ),
    # Row r1 is that of a person; r2 refers to no row of another table, and r3 to r2.
    _case(
        "numbered",
        _NUMBERED,
        [
            *[(0, 4, 4, None, "l1", "c1", 1, 3), (0, 4, 4, None, "l1", "c2", 4, None)],
            *[(1, 7, 4, None, "l1", "c1", 2, None), (2, 1, 4, 7, None, None, None, None)],
        ],
        {
            "versions": (
                _LISTED,
                [
                    *[(0, "r1", "r1", None, "l1", "c1", 1, 3), (0, "r1", "r1", None, "l1", "c2", 4, None)],
                    *[(1, "r2", "r1", None, "l1", "c1", 2, None), (2, "r3", "r1", "r2", None, None, None, None)],
                ],
            ),
            "numbers": ("id row_key", [(1, "r3"), (4, "r1"), (7, "r2"), (9, "r4")]),
        },
    ),
]

_CHANGES = [
    # By rows: 1 is the same; 2 changes; 3 leaves; 4 is new; 5 left earlier, and returns; 6 leaves, and showed something
    # else earlier; 7 left earlier.
    _case(
        "changes",
        _CHANGED,
        [
            *[(0, 1, 1, None, "a", "A", "a", "A"), (1, 2, 1, 1, "a", "A", "a", "B")],
            *[(2, 3, 1, 2, "a", "A", None, None), (1, 4, 8, None, None, None, "b", "B")],
            *[(1, 5, 8, 4, None, None, "a", "A"), (1, 6, 9, None, "c", "C", None, None)],
        ],
        {
            "versions": (
                _NUMBERED,
                [
                    *[(0, 1, 1, None, "a", "A", 1, None), (1, 2, 1, 1, "a", "A", 3, None)],
                    *[(2, 3, 1, 2, "a", "A", 1, None), (1, 5, 8, 4, "a", "A", 1, 4)],
                    *[(1, 6, 9, None, "a", "A", 1, 2), (1, 6, 9, None, "c", "C", 3, None)],
                    (1, 7, 9, None, "a", "A", 1, 3),
                ],
            ),
            "candidates": (
                _NUMBERED,
                [
                    *[(0, 1, 1, None, "a", "A", None, None), (1, 2, 1, 1, "a", "B", None, None)],
                    *[(1, 4, 8, None, "b", "B", None, None), (1, 5, 8, 4, "a", "A", None, None)],
                ],
            ),
        },
    ),
    *(
        _case("nothing_waits", "row_id", [], {"changes": ("row_id new_content", rows)})
        for rows in ([(1, "A"), (2, None), (3, "")], [])
    ),
    # Release 3. By rows: 1 is the same in all three; 2 changes; 3 would, and waits; 4 changes in what is no label, and
    # 17 in its labels; 5 is in release 3 for the last time; 6 is not in it yet; 7 is not in it any more, and returns; 8
    # leaves; 9 leaves, too, but was not in release 3; 10 would be new, and 11 would leave, and they wait. Rows from 12
    # on are of other tables: 12 is the same, 13 has changed since release 3, 14 is again what it was there, and 15 is
    # like 5. Rows 18 and 19 have no labels and show nothing else: one is new, and the other leaves.
    _case(
        "compared",
        "version kind row_id unit_id parent_id what moving",
        [
            *[(0, 0, 1, 1, None, 1, 0), (1, 0, 1, 1, None, 1, 0), (0, 0, 2, 2, None, 1, 1), (1, 0, 2, 2, None, 3, 1)],
            *[(0, 0, 3, 3, None, 1, 0), (1, 0, 3, 3, None, 1, 0), (0, 0, 4, 4, None, 1, 1), (1, 0, 4, 4, None, 2, 1)],
            *[(0, 0, 5, 5, None, 4, 0), (1, 0, 5, 5, None, 4, 0), (0, 0, 6, 6, None, 5, 0), (1, 0, 6, 6, None, 5, 0)],
            *[(1, 0, 7, 7, None, 5, 1), (0, 0, 8, 8, None, 1, 1), (1, 0, 8, 8, None, 4, 1), (0, 0, 9, 9, None, 5, 1)],
            *[(0, 0, 11, 11, None, 1, 0), (1, 0, 11, 11, None, 1, 0), (0, 1, 12, 1, 14, 6, 0), (1, 1, 12, 1, 14, 6, 0)],
            *[(0, 1, 13, 2, None, 7, 0), (1, 1, 13, 2, None, 7, 0), (0, 1, 14, 1, None, 9, 1)],
            *[(1, 1, 14, 1, None, 6, 1), (0, 1, 15, 5, 16, 10, 0), (1, 1, 15, 5, 16, 10, 0)],
            *[(0, 1, 17, 2, None, 6, 1), (1, 1, 17, 2, None, 8, 1), (1, 2, 18, 1, 17, 11, 1), (0, 2, 19, 1, 17, 11, 1)],
        ],
        {
            "changes": (
                _CHANGED,
                [
                    *[(0, 1, 1, None, "a", "A", "a", "A"), (0, 2, 2, None, "a", "A", "b", "B")],
                    *[(0, 3, 3, None, "a", "A", "b", "B"), (0, 4, 4, None, "a", "A", "a", "C")],
                    *[(0, 6, 6, None, "a", "A", "a", "A"), (0, 7, 7, None, None, None, "a", "A")],
                    *[(0, 8, 8, None, "a", "A", None, None), (0, 9, 9, None, "a", "A", None, None)],
                    *[(0, 10, 10, None, None, None, "a", "A"), (0, 11, 11, None, "a", "A", None, None)],
                    *[(1, 12, 1, 14, "a", "A", "a", "A"), (1, 13, 2, None, "a", "C", "a", "C")],
                    *[(1, 14, 1, None, "b", "B", "a", "A"), (1, 17, 2, None, "a", "A", "b", "A")],
                    *[(2, 18, 1, 17, None, None, "", ""), (2, 19, 1, 17, "", "", None, None)],
                ],
            ),
            "versions": (
                _NUMBERED,
                [
                    *[(0, row, row, None, "a", "A", 1, None) for row in (1, 2, 3, 4, 8, 11)],
                    *[(0, 5, 5, None, "a", "A", 1, 3), (0, 6, 6, None, "a", "A", 4, None)],
                    *[(0, 7, 7, None, "a", "A", 1, 2), (0, 9, 9, None, "a", "A", 4, None)],
                    *[(1, 12, 1, 14, "b", "B", 1, 2), (1, 12, 1, 14, "a", "A", 3, None)],
                    *[(1, 13, 2, None, "a", "A", 2, 3), (1, 13, 2, None, "a", "C", 4, None)],
                    *[(1, 14, 1, None, "a", "A", 3, 3), (1, 14, 1, None, "b", "B", 4, None)],
                    *[(1, 15, 5, 16, "a", "A", 1, 3), (1, 17, 2, None, "a", "A", 1, None)],
                    (2, 19, 1, 17, "", "", 4, None),
                ],
            ),
            "waiting": ("row_id", [(3,), (10,), (11,)]),
        },
        release=3,
    ),
    # By rows: 1 changes in what is no label, 2 in its labels, 3 is new, 4 leaves, 5 is the same; 6 is new, and 7
    # leaves, without labels and anything else.
    *(
        _case("moving_rows", "moving", [(moving,)], {"changes": (_CHANGED, changes)})
        for moving, changes in (
            (
                6,
                [
                    *[(0, 1, 1, None, "a", "A", "a", "B"), (0, 2, 2, None, "a", "A", "b", "A")],
                    *[(0, 3, 3, None, None, None, "a", "A"), (1, 4, 1, 2, "a", "A", None, None)],
                    *[(1, 5, 1, None, "a", "A", "a", "A"), (2, 6, 1, 4, None, None, "", "")],
                    (2, 7, 1, 4, "", "", None, None),
                ],
            ),
            (0, [(1, 5, 1, None, "a", "A", "a", "A"), (1, 6, 1, None, "", "", "", "")]),
            (0, []),
        )
    ),
]

_COMPARED = "version kind row_id unit_id parent_id what moving"
_CLASSES = "version unit_id class moving"
_CHOSEN = "version unit_id class item row_id visit choice parent moving"
_OCCURRENCE = "version unit_id class item_1 item_2 item_3 linked moving victim"
_WITH_ROWS = f"{_OCCURRENCE} row_1 row_2 row_3"
_COMBINATION = "class item_1 item_2 item_3 linked"
_THOUSAND_BILLIONS = 10**12


def _choice(people: int, row: int) -> int:
    return people * _THOUSAND_BILLIONS + row


# Of person 1, two rows move, in version 0 only.
_MOVERS = [
    *[(0, 1, 4, 5, 10, 10, _choice(2, 10), None, 1), (0, 1, 4, 6, 11, 10, None, 10, 1)],
    *[(1, 1, 4, 6, 12, 12, None, None, 0), (1, 3, 4, 6, 30, 30, _choice(1, 30), None, 1)],
]

_SHOWN = [
    _case(
        "classes",
        _CLASSES,
        [(0, 1, 4, 0), (1, 1, 5, 0), (0, 2, 4, 1)],
        {
            "compared": (
                _COMPARED,
                [
                    *[(0, 0, 1, 1, None, 4, 0), (1, 0, 1, 1, None, 5, 0), (0, 0, 2, 2, None, 4, 1)],
                    *[(0, 1, 3, 1, None, 6, 1), (1, 2, 4, 2, 3, 7, 1)],
                ],
            )
        },
    ),
    # Of class 4, two people show item 5 in version 1, one of them in two rows, and a third in version 0; item 6 is only
    # shown in version 0. Item 5 of class 8 is shown by one.
    _case(
        "chosen_facts",
        _CHOSEN,
        [
            *[(1, 1, 4, 5, 10, 10, _choice(2, 10), None, 1), (1, 1, 4, 5, 11, 10, None, 10, 1)],
            *[(1, 2, 4, 5, 20, 20, None, None, 0), (0, 3, 4, 5, 30, 29, _choice(2, 30), 29, 1)],
            *[(0, 3, 4, 6, 31, 31, _choice(0, 31), None, 1), (1, 4, 8, 5, 40, 40, _choice(1, 40), None, 1)],
            (0, 5, 8, 5, 50, 50, None, None, 1),
        ],
        {
            "facts": (
                "version unit_id class item row_id visit own_moving parent class_moving",
                [
                    *[(1, 1, 4, 5, 10, 10, 1, None, 0), (1, 1, 4, 5, 11, 10, 0, 10, 0)],
                    *[(1, 2, 4, 5, 20, 20, 0, None, 0), (0, 3, 4, 5, 30, 29, 1, 29, 0)],
                    *[(0, 3, 4, 6, 31, 31, 1, None, 0), (1, 4, 8, 5, 40, 40, 1, None, 1)],
                    (0, 5, 8, 5, 50, 50, 0, None, 1),
                ],
            )
        },
        slots=["visit"],
    ),
    # Of person 2, nothing moves.
    _case(
        "facts_of_movers",
        _CHOSEN,
        _MOVERS,
        {"facts": (_CHOSEN, [*_MOVERS, (0, 2, 4, 5, 20, 20, None, None, 0), (1, 2, 4, 6, 20, 20, None, None, 0)])},
        slots=["visit"],
    ),
    # Not chosen are rows of version 0, of item 9 in class 4, and of items 5 and 10 in class 8.
    _case(
        "facts_touched",
        _CHOSEN,
        [
            *[(1, 1, 4, 5, 10, 10, None, None, 0), (1, 2, 4, 5, 20, 20, _choice(2, 20), 19, 1)],
            *[(1, 1, 4, item, 10 + item, 10, None, None, 0) for item in (6, 7, 8)],
            (1, 3, 8, 9, 30, 30, None, None, 0),
        ],
        {
            "facts": (
                _CHOSEN,
                [
                    *[(1, 1, 4, 5, 10, 10, None, None, 0), (1, 2, 4, 5, 20, 20, _choice(2, 20), 19, 1)],
                    *[(1, 1, 4, item, 10 + item, 10, None, None, 0) for item in (6, 7, 8, 9)],
                    *[(1, 3, 8, 9, 30, 30, None, None, 0), (1, 3, 8, 5, 31, 31, None, None, 1)],
                    *[(1, 3, 8, 10, 32, 32, None, None, 1), (0, 1, 4, 5, 10, 10, None, None, 1)],
                ],
            ),
            "touched": (_COMBINATION, [(4, 5, 6, -1, 0), (4, 5, 7, 8, 3), (4, 7, 7, 7, 0), (8, 9, 9, -1, 1)]),
        },
        slots=["visit"],
    ),
]

_OCCURRENCES = [
    _case(
        "occurrences_of_classes",
        _WITH_ROWS,
        [
            *[(0, 1, 4, -1, -1, -1, 0, 1, 1, None, None, None), (1, 1, 5, -1, -1, -1, 0, 1, 1, None, None, None)],
            (1, 2, 5, -1, -1, -1, 0, 0, 2, None, None, None),
        ],
        {"classes": (_CLASSES, [(0, 1, 4, 1), (1, 1, 5, 1), (1, 2, 5, 0)])},
    ),
    # What waits is the row itself, or that which it refers to, or that of the person.
    _case(
        "occurrences_of_rows",
        _WITH_ROWS,
        [
            *[(1, 1, 4, 5, -1, -1, 0, 1, 10, 10, None, None), (0, 1, 4, 6, -1, -1, 0, 1, 10, 11, None, None)],
            *[(1, 1, 4, 6, -1, -1, 0, 1, 12, 12, None, None), (1, 2, 4, 5, -1, -1, 0, 1, 2, 20, None, None)],
            (1, 3, 4, 5, -1, -1, 0, 0, 3, 30, None, None),
        ],
        {
            "facts": (
                _CHOSEN,
                [
                    *[(1, 1, 4, 5, 10, 10, _choice(2, 10), 9, 1), (0, 1, 4, 6, 11, 10, None, 10, 1)],
                    *[(1, 1, 4, 6, 12, 12, _choice(0, 12), None, 1), (1, 2, 4, 5, 20, 20, None, None, 1)],
                    (1, 3, 4, 5, 30, 30, None, None, 0),
                ],
            )
        },
    ),
    # By persons: 1 has an item that fewer show, and a third row that does not move; of 2, the row that one refers to
    # waits, and of 3, the first of two; 4 moves in the main table; 5 shows what equally many show, and two rows of one
    # visit alike; 6 does not move; 7 has one row in each version; of 8, the second row moves.
    _case(
        "occurrences_of_pairs",
        _WITH_ROWS,
        [
            *[(1, 1, 4, 5, 6, -1, 1, 1, 11, 10, 11, None), (1, 1, 4, 5, 6, -1, 0, 1, 10, 10, 12, None)],
            *[(1, 1, 4, 6, 6, -1, 0, 1, 11, 11, 12, None), (1, 2, 4, 5, 6, -1, 0, 1, 29, 21, 20, None)],
            *[(0, 3, 4, 5, 6, -1, 0, 1, 38, 31, 32, None), (1, 4, 8, 7, 9, -1, 0, 1, 4, 41, 40, None)],
            *[(1, 5, 4, 5, 5, -1, 1, 1, 51, 51, 52, None), (1, 5, 4, 5, 6, -1, 0, 1, 51, 51, 53, None)],
            *[(1, 5, 4, 5, 6, -1, 0, 1, 52, 52, 53, None), (1, 6, 4, 5, 6, -1, 0, 0, 6, 60, 61, None)],
            (1, 8, 4, 5, 6, -1, 0, 1, 81, 80, 81, None),
        ],
        {
            "facts": (
                _CHOSEN,
                [
                    *[(1, 1, 4, 5, 10, 10, _choice(2, 10), None, 1), (1, 1, 4, 6, 11, 10, _choice(1, 11), 10, 1)],
                    *[(1, 1, 4, 6, 12, 12, None, None, 0), (1, 2, 4, 6, 20, 20, None, None, 0)],
                    *[(1, 2, 4, 5, 21, 29, None, 29, 1), (0, 3, 4, 5, 31, 39, None, 39, 1)],
                    *[(0, 3, 4, 6, 32, 38, None, 38, 1), (1, 4, 8, 9, 40, 40, None, None, 1)],
                    *[(1, 4, 8, 7, 41, 41, None, None, 1), (1, 5, 4, 5, 52, 50, _choice(2, 52), 50, 1)],
                    *[(1, 5, 4, 5, 51, 50, _choice(2, 51), 50, 1), (1, 5, 4, 6, 53, 53, _choice(2, 53), None, 1)],
                    *[(1, 6, 4, 5, 60, 60, None, None, 0), (1, 6, 4, 6, 61, 61, None, None, 0)],
                    *[(0, 7, 4, 5, 70, 70, None, None, 1), (1, 7, 4, 6, 71, 71, None, None, 1)],
                    *[(1, 8, 4, 5, 80, 80, None, None, 0), (1, 8, 4, 6, 81, 81, _choice(1, 81), None, 1)],
                ],
            )
        },
        **ReleasedPlaces().holes_of("linked_history/occurrences_of_pairs"),
    ),
    # By persons: 1 to 3 have two rows of a visit: the first two, the outer, and the last two; 4 has all three in one; 5
    # shows the first two alike, and the last is of the visit of one of these; 6 shows the last two alike; 7 all three,
    # which move in the main table; 8 has two rows in each version; of 11 to 13, one row moves; 14 has the item that
    # fewest show first.
    _case(
        "occurrences_of_triples",
        _WITH_ROWS,
        [
            *[(1, 1, 4, 5, 6, 7, 1, 1, 12, 10, 11, 12), (0, 2, 4, 5, 6, 7, 2, 1, 20, 20, 21, 22)],
            *[(1, 3, 8, 5, 6, 7, 4, 1, 31, 30, 31, 33), (1, 4, 4, 5, 6, 7, 7, 1, 39, 36, 37, 38)],
            *[(1, 5, 4, 5, 5, 6, 2, 1, 45, 41, 42, 43), (1, 5, 4, 5, 5, 6, 4, 1, 45, 42, 41, 43)],
            *[(1, 6, 4, 5, 6, 6, 0, 0, 6, 60, 61, 62), (1, 6, 4, 5, 6, 6, 0, 0, 6, 60, 62, 61)],
            *[(1, 7, 4, 5, 5, 5, 0, 1, 7, 72, 70, 71), (1, 7, 4, 5, 5, 5, 0, 1, 7, 71, 70, 72)],
            *[(1, 7, 4, 5, 5, 5, 0, 1, 7, 72, 71, 70), (1, 7, 4, 5, 5, 5, 0, 1, 7, 70, 71, 72)],
            *[(1, 7, 4, 5, 5, 5, 0, 1, 7, 71, 72, 70), (1, 7, 4, 5, 5, 5, 0, 1, 7, 70, 72, 71)],
            *[(1, 11, 4, 5, 6, 7, 0, 1, 109, 100, 101, 102), (1, 12, 4, 5, 6, 7, 0, 1, 119, 110, 111, 112)],
            *[(1, 13, 4, 5, 6, 7, 0, 1, 129, 120, 121, 122), (1, 14, 4, 5, 6, 7, 0, 1, 142, 142, 141, 140)],
        ],
        {
            "facts": (
                _CHOSEN,
                [
                    *[(1, 1, 4, 5, 10, 10, _choice(3, 10), None, 1), (1, 1, 4, 6, 11, 10, _choice(2, 11), None, 1)],
                    *[(1, 1, 4, 7, 12, 12, _choice(1, 12), None, 1), (0, 2, 4, 7, 22, 20, None, 20, 1)],
                    *[(0, 2, 4, 6, 21, 21, None, None, 0), (0, 2, 4, 5, 20, 20, _choice(3, 20), None, 1)],
                    *[(1, 3, 8, 5, 30, 30, None, None, 0), (1, 3, 8, 6, 31, 32, _choice(0, 31), 32, 1)],
                    *[(1, 3, 8, 7, 33, 32, None, 32, 1), (1, 4, 4, 5, 36, 39, None, 39, 1)],
                    *[(1, 4, 4, 6, 37, 39, None, 39, 1), (1, 4, 4, 7, 38, 39, None, 39, 1)],
                    *[(1, 5, 4, 5, 41, 45, None, 45, 1), (1, 5, 4, 5, 42, 46, None, 46, 1)],
                    *[(1, 5, 4, 6, 43, 45, None, 45, 1), (1, 6, 4, 5, 60, 60, None, None, 0)],
                    *[(1, 6, 4, 6, 61, 61, None, None, 0), (1, 6, 4, 6, 62, 62, None, None, 0)],
                    *[(1, 7, 4, 5, row, row, None, None, 1) for row in (70, 71, 72)],
                    *[(0, 8, 4, 5, row, row, None, None, 1) for row in (80, 81)],
                    *[(1, 8, 4, 5, row, row, None, None, 1) for row in (82, 83)],
                    *[(1, 11, 4, 5, 100, 109, None, 109, 1), (1, 11, 4, 6, 101, 101, None, None, 0)],
                    *[(1, 11, 4, 7, 102, 102, None, None, 0), (1, 12, 4, 5, 110, 110, None, None, 0)],
                    *[(1, 12, 4, 6, 111, 119, None, 119, 1), (1, 12, 4, 7, 112, 112, None, None, 0)],
                    *[(1, 13, 4, 5, 120, 120, None, None, 0), (1, 13, 4, 6, 121, 121, None, None, 0)],
                    *[(1, 13, 4, 7, 122, 129, None, 129, 1), (1, 14, 4, 5, 142, 142, _choice(1, 142), None, 1)],
                    *[(1, 14, 4, 6, 141, 141, _choice(2, 141), None, 1), (1, 14, 4, 7, 140, 139, None, 139, 1)],
                ],
            )
        },
        **ReleasedPlaces().holes_of("linked_history/occurrences_of_triples"),
    ),
    # A combination in which something moves in either version, once; others differ from it in one column.
    _case(
        "touched",
        _COMBINATION,
        [(4, 5, 6, 7, 1), (4, 5, 6, 8, 1)],
        {
            "occurrences": (
                _OCCURRENCE,
                [
                    *[(1, 1, 4, 5, 6, 7, 1, 1, 10), (1, 2, 4, 5, 6, 7, 1, 1, 20), (1, 3, 4, 5, 6, 7, 1, 0, 30)],
                    *[(0, 1, 4, 5, 6, 8, 1, 1, 10), (1, 1, 8, 5, 6, 7, 1, 0, 10), (1, 1, 4, 4, 6, 7, 1, 0, 10)],
                    *[(1, 1, 4, 5, 5, 7, 1, 0, 10), (0, 1, 4, 5, 6, 9, 1, 0, 10), (1, 1, 4, 5, 6, 7, 0, 0, 10)],
                ],
            )
        },
    ),
    # Persons 1 and 2 share the first combination, which 1 shows twice, and 3 showed only in the earlier version. The
    # others, of person 1 alone, differ from it in one column; nothing moves in those of class 9, with an item 11, and
    # linked by 3. No one shows 5, 6, 8 any more.
    *(
        _case(
            "rare",
            _COMBINATION,
            [*more, (8, 5, 6, 7, 1), (4, 4, 6, 7, 1), (4, 5, 5, 7, 1), (4, 5, 6, 9, 1), (4, 5, 6, 7, 0)],
            {
                "occurrences": (
                    _OCCURRENCE,
                    [
                        *[(1, 1, 4, 5, 6, 7, 1, 1, 10), (1, 1, 4, 5, 6, 7, 1, 1, 11), (1, 2, 4, 5, 6, 7, 1, 0, 20)],
                        *[(0, 3, 4, 5, 6, 7, 1, 1, 30), (0, 3, 4, 5, 6, 8, 1, 1, 30), (1, 1, 8, 5, 6, 7, 1, 1, 10)],
                        *[(1, 1, 4, 4, 6, 7, 1, 1, 10), (1, 1, 4, 5, 5, 7, 1, 1, 10), (1, 1, 4, 5, 6, 9, 1, 1, 10)],
                        *[(1, 1, 4, 5, 6, 7, 0, 0, 10), (1, 1, 9, 5, 6, 7, 1, 0, 10)],
                        *[(1, 1, 4, 11, 6, 7, 1, 0, 10), (1, 1, 4, 5, 11, 7, 1, 0, 10)],
                        *[(1, 1, 4, 5, 6, 11, 1, 0, 10), (1, 1, 4, 5, 6, 7, 3, 0, 10)],
                    ],
                ),
                "touched": (
                    _COMBINATION,
                    [
                        *[(4, 5, 6, 7, 1), (4, 5, 6, 8, 1), (8, 5, 6, 7, 1), (4, 4, 6, 7, 1)],
                        *[(4, 5, 5, 7, 1), (4, 5, 6, 9, 1), (4, 5, 6, 7, 0)],
                    ],
                ),
            },
            k=k,
        )
        for k, more in ((2, []), (3, [(4, 5, 6, 7, 1)]))
    ),
    # Row 10 is chosen in two combinations; 20 does not move; the others, but 60, are of combinations that differ from a
    # rare one in one column.
    _case(
        "victims",
        "row_id",
        [(10,), (30,), (60,)],
        {
            "occurrences": (
                _OCCURRENCE,
                [
                    *[(1, 1, 4, 5, 6, 7, 1, 1, 10), (1, 1, 4, 5, -1, -1, 0, 1, 10), (1, 2, 4, 5, 6, 7, 1, 0, 20)],
                    *[(0, 3, 4, 5, 6, 7, 1, 1, 30), (1, 4, 8, 5, 6, 7, 1, 1, 40), (1, 4, 4, 4, 6, 7, 1, 1, 41)],
                    *[(1, 4, 4, 5, 5, 7, 1, 1, 42), (1, 4, 4, 5, 6, 8, 1, 1, 43), (1, 4, 4, 5, 6, 7, 0, 1, 44)],
                    (0, 6, 4, 5, -1, -1, 0, 1, 60),
                ],
            ),
            "rare": (_COMBINATION, [(4, 5, 6, 7, 1), (4, 5, -1, -1, 0), (9, 5, 6, 7, 1)]),
        },
    ),
]

_SHOWN_VALUES = "place side row_id unit_id value"
_LISTED_VALUES = "place row_key person_key value since until"
_NUMBERED_VALUES = "place row_id unit_id value since until"
_LEAST = "place kind least"
_PEOPLE = "version unit_id class item_1 item_2 item_3 linked"

_VALUES = [
    # Person 1 moves in a row of another table, and 3 in that of the main table.
    _case(
        "classes_of_movers",
        _CLASSES,
        [(0, 1, 4, 0), (1, 1, 5, 0), (0, 3, 4, 1)],
        {
            "classes": (_CLASSES, [(0, 1, 4, 0), (1, 1, 5, 0), (0, 2, 4, 0), (0, 3, 4, 1)]),
            "compared": (
                _COMPARED,
                [
                    *[(0, 0, 1, 1, None, 4, 0), (1, 1, 11, 1, None, 7, 1), (1, 2, 12, 1, 11, 8, 1)],
                    *[(0, 0, 2, 2, None, 4, 0), (0, 0, 3, 3, None, 4, 1)],
                ],
            ),
        },
    ),
    _case(
        "combinations",
        _COMBINATION,
        [(4, 5, 6, 7, 1), (8, 5, 6, 7, 1), (4, 4, 6, 7, 1), (4, 5, 5, 7, 1), (4, 5, 6, 9, 1), (4, 5, 6, 7, 0)],
        {
            "occurrences": (
                _OCCURRENCE,
                [
                    *[(1, 1, 4, 5, 6, 7, 1, 1, 10), (0, 1, 4, 5, 6, 7, 1, 0, 10), (1, 2, 4, 5, 6, 7, 1, 0, 20)],
                    *[(1, 1, 8, 5, 6, 7, 1, 0, 10), (1, 1, 4, 4, 6, 7, 1, 0, 10), (1, 1, 4, 5, 5, 7, 1, 0, 10)],
                    *[(1, 1, 4, 5, 6, 9, 1, 0, 10), (0, 1, 4, 5, 6, 7, 0, 0, 10)],
                ],
            )
        },
    ),
    # NULL differs from every text.
    _case(
        "past_values",
        _LISTED_VALUES,
        [
            *[(3, "r1", "p1", "=flu", 1, 2), (3, "r1", "p1", "-", 3, None)],
            *[(3, "r2", "p1", "=", 1, None), (3, "r3", "p2", "=-", 2, None)],
        ],
        {
            "past": (
                "kanon_last kanon_first ill kanon_row kanon_person kanon_parent",
                [
                    *[(2, 1, "flu", "r1", "p1", None), (None, 3, None, "r1", "p1", None)],
                    *[(None, 1, "", "r2", "p1", "r1"), (None, 2, "-", "r3", "p2", None)],
                ],
            )
        },
        place=3,
        column=["ill"],
    ),
    _case(
        "new_values",
        _LISTED_VALUES,
        [(0, "r1", "p1", "=flu", None, None), (0, "r2", "p2", "-", None, None), (0, "r3", "p2", "=-", None, None)],
        {
            "candidate": (
                "ill kanon_person kanon_row zip",
                [("flu", "p1", "r1", "a"), (None, "p2", "r2", "a"), ("-", "p2", "r3", None)],
            )
        },
        place=0,
        column=["ill"],
    ),
    _case(
        "numbered_values",
        _NUMBERED_VALUES,
        [(0, 4, 4, "=flu", 1, 2), (0, 4, 4, "-", 3, None), (1, 7, 4, "=flu", None, None)],
        {
            "values": (
                _LISTED_VALUES,
                [
                    *[(0, "p1", "p1", "=flu", 1, 2), (0, "p1", "p1", "-", 3, None)],
                    (1, "r2", "p1", "=flu", None, None),
                ],
            ),
            "numbers": ("id row_key", [(1, "r3"), (4, "p1"), (7, "r2")]),
        },
    ),
    # Release 3. By rows: 1 is the same in all; 2 changes, 3 would, and waits; 4 was in release 3 for the last time, 5
    # in 2, and 6 is not in it yet; 7 leaves, and 8 would leave, and waits; 9 is new, and 10 would be, and waits. Row 1
    # has a value of another column.
    _case(
        "values_shown",
        _SHOWN_VALUES,
        [
            *[(0, 0, 1, 1, "=a"), (0, 1, 1, 1, "=a"), (1, 0, 1, 1, "=x"), (1, 1, 1, 1, "=y")],
            *[(0, 0, 2, 1, "=a"), (0, 1, 2, 1, "=b"), (0, 0, 3, 1, "=a"), (0, 1, 3, 1, "=c"), (0, 0, 4, 2, "=a")],
            *[(0, 1, 6, 2, "-"), (0, 0, 7, 2, "=a"), (0, 0, 8, 2, "=a"), (0, 1, 8, 2, "=a"), (0, 1, 9, 2, "=a")],
        ],
        {
            "past": (
                _NUMBERED_VALUES,
                [
                    *[(0, 1, 1, "=a", 1, None), (1, 1, 1, "=x", 1, None), (0, 2, 1, "=a", 3, None)],
                    *[(0, 3, 1, "=a", 1, 4), (0, 3, 1, "=c", 5, None), (0, 4, 2, "=a", 1, 3)],
                    *[(0, 5, 2, "=a", 1, 2), (0, 6, 2, "-", 4, None), (0, 7, 2, "=a", 2, None)],
                    (0, 8, 2, "=a", 1, None),
                ],
            ),
            "candidates": (
                _NUMBERED_VALUES,
                [
                    *[(0, 1, 1, "=a", None, None), (1, 1, 1, "=y", None, None), (0, 2, 1, "=b", None, None)],
                    *[(0, 3, 1, "=d", None, None), (0, 6, 2, "-", None, None), (0, 9, 2, "=a", None, None)],
                    (0, 10, 2, "=a", None, None),
                ],
            ),
            "waiting": ("row_id", [(3,), (8,), (10,)]),
        },
        release=3,
    ),
    # By classes: in 1, persons 1 and 2 have two values of column 0, and twice the same in the earlier release; in 2,
    # person 3 has a value and 4 has none; in 3, person 5 has two values; in 4, 6 and 7 have one value, which 6 has in
    # two rows; in 5, nobody has any; in 6, of column 1 with three values required, there are two, and in 7 a person
    # has none; 8 is of version 0. Of class 9, combinations differ in one column each.
    _case(
        "too_few_values",
        _COMBINATION,
        [
            *[(1, -1, -1, -1, 0), (4, -1, -1, -1, 0), (6, -1, -1, -1, 0)],
            *[(9, 1, 2, 3, 0), (9, 2, 2, 3, 0), (9, 1, 3, 3, 0), (9, 1, 2, 4, 0), (9, 1, 2, 3, 1)],
        ],
        {
            "occurrences": (
                _PEOPLE,
                [
                    *[(1, 1, 1, -1, -1, -1, 0), (1, 2, 1, -1, -1, -1, 0), (1, 2, 1, -1, -1, -1, 0)],
                    *[(1, 3, 2, -1, -1, -1, 0), (1, 4, 2, -1, -1, -1, 0), (1, 5, 3, -1, -1, -1, 0)],
                    *[(1, 6, 4, -1, -1, -1, 0), (1, 7, 4, -1, -1, -1, 0), (1, 8, 5, -1, -1, -1, 0)],
                    *[(1, 9, 6, -1, -1, -1, 0), (1, 10, 6, -1, -1, -1, 0)],
                    *[(1, 9, 7, -1, -1, -1, 0), (1, 10, 7, -1, -1, -1, 0), (1, 11, 7, -1, -1, -1, 0)],
                    *[(0, 6, 8, -1, -1, -1, 0), (0, 8, 4, -1, -1, -1, 0), (0, 5, 4, -1, -1, -1, 0)],
                    *[(1, 6, 9, 1, 2, 3, 0), (1, 7, 9, 2, 2, 3, 0), (1, 6, 9, 1, 3, 3, 0)],
                    *[(1, 7, 9, 1, 2, 4, 0), (1, 6, 9, 1, 2, 3, 1)],
                ],
            ),
            "values": (
                _SHOWN_VALUES,
                [
                    *[(0, 1, 10, 1, "=a"), (0, 1, 20, 2, "=b"), (0, 0, 10, 1, "=a"), (0, 0, 20, 2, "=a")],
                    *[(0, 1, 30, 3, "=a"), (0, 1, 50, 5, "=a"), (0, 1, 51, 5, "-"), (0, 1, 60, 6, "=a")],
                    *[(0, 1, 61, 6, "=a"), (0, 1, 70, 7, "=a"), (1, 1, 90, 9, "=x"), (1, 1, 100, 10, "=y")],
                ],
            ),
            "least": (_LEAST, [(0, 0, 2), (1, 2, 3)]),
        },
    ),
    # By the first item: of 1, rows have two values of column 0, and one of column 1, which needs none; of 2, one value
    # in the earlier release and two in the new one; of 3, two rows of the same item have two values; of 4, the second
    # row; of 5, the third; 6 is of version 0; of 7, the first of two equal rows with another that is linked to one.
    _case(
        "revealing_combinations",
        _COMBINATION,
        [
            *[(1, 2, -1, -1, 0), (1, 4, 9, -1, 0), (1, 5, 8, 9, 0), (1, 7, 7, 9, 2)],
            *[(2, 1, -1, -1, 0), (1, 1, -1, -1, 1)],
        ],
        {
            "occurrences": (
                f"{_PEOPLE} row_1 row_2 row_3",
                [
                    *[(1, 1, 1, 1, -1, -1, 0, 10, None, None), (1, 2, 1, 1, -1, -1, 0, 11, None, None)],
                    *[(1, 1, 1, 2, -1, -1, 0, 20, None, None), (1, 2, 1, 2, -1, -1, 0, 21, None, None)],
                    *[(1, 1, 1, 3, 3, -1, 0, 30, 31, None), (1, 1, 1, 4, 9, -1, 0, 99, 40, None)],
                    *[(1, 1, 1, 5, 8, 9, 0, 99, 99, 50), (0, 1, 1, 6, -1, -1, 0, 40, None, None)],
                    *[(1, 1, 1, 7, 7, 9, 2, 30, 99, 99), (1, 2, 1, 7, 7, 9, 4, 30, 31, 99)],
                    *[(1, 3, 1, 7, 7, 9, 4, 31, 30, 99), (1, 1, 2, 1, -1, -1, 0, 10, None, None)],
                    *[(1, 1, 1, 1, -1, -1, 1, 11, None, None)],
                ],
            ),
            "values": (
                _SHOWN_VALUES,
                [
                    *[(0, 1, 10, 1, "=a"), (0, 1, 11, 2, "-"), (1, 1, 10, 1, "=x"), (1, 1, 11, 2, "=x")],
                    *[(0, 0, 20, 1, "=a"), (0, 0, 21, 2, "=a"), (0, 1, 20, 1, "=a"), (0, 1, 21, 2, "=b")],
                    *[(0, 1, 30, 1, "=a"), (0, 1, 31, 1, "=b"), (0, 1, 40, 1, "=a"), (0, 1, 50, 1, "=a")],
                ],
            ),
            "least": (_LEAST, [(0, 1, 2)]),
        },
    ),
    # Of the first combination, row 10 of person 1 waits; person 2 does not move in it, but in rows 21 and 22 of the
    # tables with values, not in 23, nor in 24 of another table. The others differ from unsafe ones in one column.
    _case(
        "victims_of_values",
        "row_id",
        [(10,), (21,), (22,), (60,)],
        {
            "occurrences": (
                _OCCURRENCE,
                [
                    *[(1, 1, 4, 5, 6, 7, 1, 1, 10), (1, 2, 4, 5, 6, 7, 1, 0, 2), (1, 4, 8, 5, 6, 7, 1, 1, 40)],
                    *[(1, 4, 4, 4, 6, 7, 1, 1, 41), (1, 4, 4, 5, 5, 7, 1, 1, 42), (1, 4, 4, 5, 6, 8, 1, 1, 43)],
                    *[(1, 4, 4, 5, 6, 7, 0, 1, 44), (1, 5, 8, 5, 6, 7, 1, 0, 5), (1, 5, 4, 4, 6, 7, 1, 0, 5)],
                    *[(1, 5, 4, 5, 5, 7, 1, 0, 5), (1, 5, 4, 5, 6, 8, 1, 0, 5), (1, 5, 4, 5, 6, 7, 0, 0, 5)],
                    (0, 6, 4, 5, -1, -1, 0, 1, 60),
                ],
            ),
            "unsafe": (_COMBINATION, [(4, 5, 6, 7, 1), (4, 5, -1, -1, 0)]),
            "compared": (
                _COMPARED,
                [
                    *[(1, 1, 11, 1, None, 9, 1), (0, 1, 21, 2, None, 9, 1), (1, 0, 22, 2, None, 9, 1)],
                    *[(1, 1, 23, 2, None, 9, 0), (1, 2, 24, 2, None, 9, 1), (1, 1, 51, 5, None, 9, 1)],
                ],
            ),
            "least": (_LEAST, [(0, 1, 2), (1, 0, 2)]),
        },
    ),
]

# By rows: 1 changes, and 2 is new, of one table; 3 leaves, and 4 is new, of another; 5 changes in nothing, and 6 is
# new; 7 changes in its labels, and 8 in what is no label.
_WAITING_CHANGES = (
    _CHANGED,
    [
        *[(0, 1, 1, None, "a", "A", "a", "B"), (0, 2, 2, None, None, None, "a", "A")],
        *[(1, 3, 1, None, "a", "A", None, None), (1, 4, 1, 3, None, None, "a", "A")],
        *[(0, 5, 5, None, "a", "A", "a", "A"), (1, 6, 5, None, None, None, "a", "A")],
        *[(1, 7, 1, None, "a", "A", "b", "A"), (1, 8, 1, None, "a", "A", "a", "B")],
    ],
)

_WAITING = [
    *(
        _case("more_waiting", "row_id", both, {"waiting": ("row_id", waiting), "victims": ("row_id", victims)})
        for both, waiting, victims in (
            ([(1,), (2,), (3,)], [(1,), (2,)], [(3,), (2,)]),
            ([(3,)], [], [(3,)]),
            ([(1,)], [(1,)], []),
        )
    ),
    # Waiting to appear: person 1 with all rows; row 21, to which 22 refers, and 23 and 24 do not; row 71 of a new
    # person, who appears with 72, to which 73 refers. Waiting to leave: rows 31 and 33 of person 3, who leaves (32,
    # which refers to 31, leaves nevertheless); row 52, which refers to 51 of person 5; row 61, whose person stays, and
    # the row that it refers to, 62, too. Person 4 waits to change, and gets a new row. Person 8 leaves.
    _case(
        "with_dependents",
        "row_id",
        [(row,) for row in (1, 11, 12, 21, 22, 71, 31, 33, 3, 52, 51, 5, 61, 4)],
        {
            "waiting": ("row_id", [(row,) for row in (1, 21, 71, 31, 33, 52, 61, 4)]),
            "changes": (
                "kind row_id unit_id parent_id old_content new_content",
                [
                    *[(0, 1, 1, None, None, "A"), (1, 11, 1, None, None, "A"), (2, 12, 1, 11, None, "A")],
                    *[(0, 2, 2, None, "A", "A"), (1, 21, 2, None, None, "A"), (2, 22, 2, 21, None, "A")],
                    *[(2, 23, 2, None, None, "A"), (1, 24, 2, None, "A", "B")],
                    *[(0, 7, 7, None, None, "A"), (1, 71, 7, None, None, "A"), (1, 72, 7, None, None, "A")],
                    *[(0, 3, 3, None, "A", None), (1, 31, 3, None, "A", None), (2, 32, 3, 31, "A", None)],
                    *[(0, 5, 5, None, "A", None), (1, 51, 5, None, "A", None), (2, 52, 5, 51, "A", None)],
                    *[(0, 6, 6, None, "A", "A"), (1, 62, 6, None, "A", "B"), (2, 61, 6, 62, "A", None)],
                    *[(2, 73, 7, 72, None, "A"), (1, 33, 3, None, "A", None)],
                    *[(0, 8, 8, None, "A", None), (1, 81, 8, None, "A", None)],
                    *[(0, 4, 4, None, "A", "B"), (1, 41, 4, None, None, "A"), (1, 42, 4, None, "A", None)],
                ],
            ),
        },
    ),
    _case(
        "waiting_keys",
        "row_key",
        [("r3",), ("r4",)],
        {
            "waiting": ("row_id", [(1,), (3,), (4,)]),
            "changes": _WAITING_CHANGES,
            "numbers": ("row_key id", [("r1", 1), ("r2", 2), ("r3", 3), ("r4", 4), ("r6", 6)]),
        },
        kind=1,
    ),
    *(
        _case(
            "waiting_people",
            "kind people to_appear to_leave to_change",
            counted,
            {"waiting": ("row_id", waiting), "changes": _WAITING_CHANGES},
        )
        for counted, waiting in (
            ([(0, 2, 1, 0, 1), (1, 1, 1, 1, 0)], [(1,), (2,), (3,), (4,)]),
            ([(1, 1, 0, 1, 2)], [(3,), (7,), (8,)]),
            ([(0, 1, 0, 0, 0), (1, 2, 2, 0, 0)], [(5,), (4,), (6,)]),
            ([], []),
        )
    ),
    # A person of whom rows of several tables wait counts once.
    *(
        _case(
            "all_waiting_people",
            "people",
            [(people,)],
            {"waiting": ("row_id", waiting), "changes": _WAITING_CHANGES},
        )
        for people, waiting in ((2, [(1,), (3,), (4,), (6,)]), (0, []))
    ),
]

_RUN = "number at compared_from secret inputs released manifest"

_RUNS = [
    # By their numbers, not as text, nor in the order in which they were stored.
    _case(
        "last_run",
        _RUN,
        [(10, "2026-01-02", 3, "s", "{}", "x", "{'a': 1}")],
        {
            "runs": (
                _RUN,
                [
                    *[(9, "2026-01-03", 9, "t", "{}", "y", "{}"), (10, "2026-01-02", 3, "s", "{}", "x", "{'a': 1}")],
                    (2, "2026-01-01", 1, "s", "{}", "x", "{}"),
                ],
            )
        },
    ),
    _case("last_run", _RUN, [], {"runs": (_RUN, [])}),
    _case(
        "latest_runs",
        "number at manifest",
        [(10, "2026-01-02", "{'a': 1}"), (9, "2026-01-03", "{}")],
        {
            "runs": (
                _RUN,
                [
                    (9, "2026-01-03", 9, "t", "{}", "y", "{}"),
                    (10, "2026-01-02", 3, "s", "{}", "x", "{'a': 1}"),
                    (2, "2026-01-01", 1, "s", "{}", "x", "{}"),
                ],
            )
        },
        most=2,
    ),
    _case("latest_runs", "number at manifest", [], {"runs": (_RUN, [])}, most=2),
]

CASES = [*_HISTORIES, *_CHANGES, *_SHOWN, *_OCCURRENCES, *_VALUES, *_WAITING, *_RUNS]
