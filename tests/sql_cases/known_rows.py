"""Given and expected rows of `sql/known_rows`."""

from kanon_sql.queries import Relation, Same
from sql_cases.case import Case, relation

_PEOPLE = relation("people", "value n code_0", (1, 2, 10), (2, 3, 20), (3, 2, 30), (4, 1, 40), (None, 9, 50))
# Persons 1 and 2 have two rows in class 1, person 3 one; in class 2 are persons 1 and 3.
_MEMBERSHIPS = relation("memberships", "class unit n", (1, 1, 2), (1, 2, 2), (1, 3, 1), (2, 1, 1), (2, 3, 1))
_SLOTS = relation("slots", "slot class nth people members", (1, 1, 2, 2, 3), (2, 2, 1, 2, 2), (3, 1, 1, 3, 3))
_KNOWN = relation(
    "slots_of_people",
    "unit slot class nth members",
    *[(1, 1, 1, 2, 3), (1, 2, 2, 1, 2), (1, 3, 1, 1, 3), (2, 1, 1, 2, 3), (2, 3, 1, 1, 3)],
    *[(3, 2, 2, 1, 2), (3, 3, 1, 1, 3)],
)
_CHOSEN = relation("chosen", "unit rows person", (1, 3, 1), (2, 2, 2))
_CLASSES = {"classes": ({"zip": "INTEGER", "class": "INTEGER"}, [(7, 1), (8, 2)])}
_CELLS = relation("cells", "zip _unit n", (7, 1, 2), (8, 1, 1), (7, 2, 1), (7, 2, 3), (9, 3, 1), (8, None, 1))
_TARGETS = relation(
    "targets", "person slot class nth partly", (1, 1, 1, 2, 0), (1, 2, 2, 1, 0), (1, 3, 1, 1, 0), (3, 2, 2, 1, 1)
)
_COMBINED = relation("combined", "person a b", (1, 1, 3), (1, 2, 3), (2, 1, 3), (3, 2, 3))
_COSTS = relation("costs", "a b c person work", (1, 3, 2, 1, 4), (2, 3, 1, 3, 6))
_CANDIDATES = relation("candidates", "a b people", (1, 3, 2), (2, 3, 1))
_NAMES = (
    *("people", "cells", "chosen", "classes", "memberships", "slots", "slots_of_people"),
    *("targets", "combined", "costs", "candidates"),
)
_RELATIONS = {name: Relation(name) for name in _NAMES}


def _holes(*names: str) -> dict[str, Relation]:
    return {name: _RELATIONS[name] for name in names}


CASES = [
    Case("known_rows/people_with_rows", _holes("people"), ["two", "three"], [(3, 1)], _PEOPLE),
    # By their digests, 2 is c81e…, 1 is c4ca…, 3 is eccb….
    Case(
        "known_rows/chosen",
        {**_holes("people"), "most": 1},
        ["unit", "rows", "person"],
        [(10, 2, 1), (20, 3, 2)],
        _PEOPLE,
    ),
    Case(
        "known_rows/classes",
        {**_holes("cells", "chosen"), "names": ["zip"]},
        ["zip", "class"],
        [(7, 1), (8, 2)],
        {**_CELLS, **_CHOSEN},
    ),
    Case(
        "known_rows/memberships",
        {**_holes("cells", "classes"), "same": Same(["zip"], "cells", "found")},
        ["class", "unit", "n"],
        [(1, 1, 2), (1, 2, 3), (2, 1, 1)],
        {**_CELLS, **_CLASSES},
    ),
    Case(
        "known_rows/slots",
        _holes("memberships"),
        ["slot", "class", "nth", "people", "members"],
        [(1, 1, 2, 2, 3), (2, 2, 1, 2, 2), (3, 1, 1, 3, 3)],
        _MEMBERSHIPS,
    ),
    Case(
        "known_rows/slots_of_people",
        _holes("memberships", "slots"),
        ["unit", "slot", "class", "nth", "members"],
        _KNOWN["slots_of_people"][1],
        {**_MEMBERSHIPS, **_SLOTS},
    ),
    Case(
        "known_rows/targets",
        {**_holes("chosen", "slots_of_people"), "rows": 2, "most_people": 2, "most_slots": 2},
        ["person", "slot", "class", "nth", "partly"],
        [(1, 2, 2, 1, 1), (1, 3, 1, 1, 1), (2, 1, 1, 2, 0), (2, 3, 1, 1, 0)],
        {**_CHOSEN, **_KNOWN},
    ),
    Case("known_rows/pairs", _holes("targets"), ["person", "a", "b"], [(1, 1, 3), (1, 2, 3)], _TARGETS),
    Case("known_rows/triples", _holes("targets"), ["person", "a", "b", "c"], [(1, 1, 2, 3)], _TARGETS),
    Case(
        "known_rows/costs",
        {**_holes("combined", "slots"), "names": ["a", "b"]},
        ["a", "b", "person", "work"],
        [(1, 3, 1, 4), (2, 3, 1, 4)],
        {**_COMBINED, **_SLOTS},
    ),
    Case("known_rows/first_too_far", {**_holes("costs"), "most_work": 5}, ["person"], [(3,)], _COSTS),
    Case(
        "known_rows/candidates_of_pairs",
        {**_holes("costs", "slots_of_people"), "before": 3},
        ["a", "b", "people"],
        [(1, 3, 2)],
        {**_COSTS, **_KNOWN},
    ),
    Case(
        "known_rows/candidates_of_triples",
        {**_holes("costs", "slots_of_people"), "before": 3},
        ["a", "b", "c", "people"],
        [(1, 3, 2, 1)],
        {**_COSTS, **_KNOWN},
    ),
    Case(
        "known_rows/worst",
        {**_holes("combined", "candidates"), "same": Same(["a", "b"], "k", "found"), "before": 3},
        ["candidates", "people"],
        [(1, 1), (2, 1)],
        {**_COMBINED, **_CANDIDATES},
    ),
    Case("known_rows/partly", {**_holes("targets"), "before": 4}, ["people"], [(1,)], _TARGETS),
    # 5 is of persons 1 and 2, 6 of person 1 in two rows, 7 of person 1 and somebody unknown.
    Case(
        "known_rows/repeated_values",
        {"column": ["v"], "unit": ["who"], "source": Relation("visits")},
        ["shared", "repeated"],
        [(1, 1)],
        relation("visits", "v who", (5, 1), (5, 2), (6, 1), (6, 1), (7, 1), (7, None), (None, 1)),
    ),
]
