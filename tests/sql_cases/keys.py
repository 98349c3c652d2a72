"""Given and expected rows of `sql/keys`."""

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_VISITS = relation("given_visits", "visit patient", (1, 10), (2, 10), (3, 20), (4, None), (5, 99))
_PATIENTS = relation("given_patients", "id", (10,), (20,), (30,))
_ABOVE = relation("given_above", "stay person", (7, 10), (8, 20), (9, None))
_ROWS = relation(
    "given_rows", "person stay ward", (10, 7, 1), (10, 8, 1), (None, 8, 2), (None, None, 2), (20, None, 2), (30, 9, 2)
)
_ANCESTORS = relation(
    "given_ancestors",
    "ancestor_concept_id descendant_concept_id min_levels_of_separation",
    *[(5, 5, 0), (3, 5, 1), (1, 5, 2), (2, 5, 2), (1, 3, 1), (2, 3, 1), (6, 6, 0), (2, 6, 1), (2, 8, 1), (8, 8, 0)],
)
_CONCEPTS = relation("given_concepts", "concept_id", (5,), (6,))

CASES = [
    Case(
        "keys/figures",
        {"number": 3, "column": ["patient"], "source": Relation("given_visits")},
        ["number", "filled", "different"],
        [(3, 4, 3)],
        _VISITS,
    ),
    # NULL refers to nothing; values count once.
    Case(
        "keys/missing",
        {
            "number": 1,
            "column": ["patient"],
            "source": Relation("given_visits"),
            "key": ["id"],
            "target": Relation("given_patients"),
        },
        ["number", "missing"],
        [(1, 1)],
        {**_VISITS, **_PATIENTS},
    ),
    Case(
        "keys/paths",
        {
            "person": ["person"],
            "parent": ["stay"],
            "source": Relation("given_rows"),
            "key": ["stay"],
            "of": ["person"],
            "parents": Relation("given_above"),
        },
        ["without_person", "contradicting"],
        [(1, 1)],
        {**_ROWS, **_ABOVE},
    ),
    # People count once per value, and rows that lead to nobody do not count.
    Case(
        "keys/people",
        {
            "column": ["ward"],
            "parent": ["stay"],
            "source": Relation("given_rows"),
            "key": ["stay"],
            "of": ["person"],
            "parents": Relation("given_above"),
        },
        ["value", "n"],
        [(1, 2), (2, 1)],
        {**_ROWS, **_ABOVE},
    ),
    # Row 3 refers to no row, and row 4 to one that is missing.
    Case(
        "keys/owners",
        {
            "key": ["id"],
            "parent": ["stay"],
            "source": Relation("given_below"),
            "above": ["stay"],
            "of": ["person"],
            "parents": Relation("given_stays"),
        },
        ["row_key", "person"],
        [(1, 30), (2, 31), (5, 30)],
        {
            **relation("given_below", "id stay", (1, 10), (2, 11), (3, None), (4, 12), (5, 10)),
            **relation("given_stays", "stay person", (10, 30), (11, 31), (13, 32)),
        },
    ),
    # The edges of the concepts and of their ancestors; 2 has both concepts below it, and 8 is above none.
    Case(
        "keys/ancestors",
        {"vocabulary": Relation("given_ancestors"), "concepts": Relation("given_concepts")},
        ["child", "parent", "below"],
        [(5, 3, 1), (3, 1, 1), (3, 2, 2), (6, 2, 2)],
        {**_ANCESTORS, **_CONCEPTS},
    ),
]
