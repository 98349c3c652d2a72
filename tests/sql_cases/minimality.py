"""Given and expected rows of `sql/minimality`."""

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_TEXT = {"zip": "VARCHAR", "ill": "VARCHAR", "row_id": "VARCHAR", "value": "VARCHAR", "unsafe": "VARCHAR"}
# Of zip 1 two of three have HIV, of zip 2 one of two, of zip 3 none, and of no zip all.
_PAIRS = [
    ("1", "HIV"),
    ("1", "HIV"),
    ("1", "flu"),
    ("2", "HIV"),
    ("2", None),
    ("3", "flu"),
    ("3", "flu"),
    (None, "HIV"),
]
_ROWS = relation("shown", "row_id zip ill", *[(f"r{i}", *pair) for i, pair in enumerate(_PAIRS)], **_TEXT)
_ASKED = {"names": ["zip"], "value": ["ill"], "asked": "HIV", "alpha": 0.5}
_MARKED = [("r0", "HIV", 1, "HIV"), ("r1", "HIV", 1, "HIV"), ("r2", "flu", 0, None), ("r3", "HIV", 1, None)]
_MARKED += [("r4", None, 0, None), ("r5", "flu", 0, None), ("r6", "flu", 0, None), ("r7", "HIV", 1, "HIV")]
_DRAWS = relation("draws", "row_id v", ("r0", 0.1), ("r1", 0.7), ("r7", 0.9), row_id="VARCHAR", v="DOUBLE PRECISION")

CASES = [
    Case(
        "minimality/counts",
        {"release": Relation("shown"), "quasi_identifiers": {"zip": "zip"}, **_ASKED},
        [
            "unsafe_classes",
            "unsafe_rows",
            "lacking",
            "rows_lacking",
            "found",
            "others",
            "largest_unsafe",
            "largest_lacking",
        ],
        [(2, 4, 1, 2, 4, 4, 3, 2)],
        _ROWS,
    ),
    Case(
        "minimality/marked",
        {"rows": Relation("shown"), **_ASKED},
        ["row_id", "value", "found", "unsafe"],
        _MARKED,
        _ROWS,
    ),
    Case(
        "minimality/redrawn",
        {"marked": Relation("marked"), "draws": Relation("draws"), "others": 3},
        ["row_id", "value"],
        [("r0", "a"), ("r1", "b"), ("r2", "a"), ("r3", "HIV"), ("r4", "b"), ("r5", "a"), ("r7", "b")],
        relation(
            "marked",
            "row_id value found unsafe",
            *[("r0", "HIV", 1, "HIV"), ("r1", "HIV", 1, "HIV"), ("r2", "a", 0, None), ("r3", "HIV", 1, None)],
            *[("r4", "b", 0, None), ("r5", "a", 0, None), ("r7", "HIV", 1, "HIV")],
            **_TEXT,
        )
        | _DRAWS,
    ),
]
