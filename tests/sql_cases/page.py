"""Given and expected rows of `sql/page`."""

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation
from sql_cases.case import FREQUENCY_SET, Case

CASES = [
    Case(
        "page/classes",
        {"frequency_set": Relation("counted"), "levels": ["age_1"], "size": Predicate("SUM(n)")},
        ["age_1", "n", "size"],
        [(0, 4, 4), (1, 4, 4)],
        FREQUENCY_SET,
    ),
    Case(
        "page/label_sizes",
        {"classes": Relation("odd classes"), "label": ["a_1"]},
        ["a_1", "size", "n"],
        [(0, 1, 2), (0, 4, 4), (1, 4, 12)],
        {
            "odd classes": (
                {"a_1": "INTEGER", "b_0": "INTEGER", "n": "BIGINT", "size": "BIGINT"},
                [(0, 0, 1, 1), (0, 1, 1, 1), (0, 2, 4, 4), (1, 0, 8, 4), (1, 1, 4, 4)],
            )
        },
    ),
    Case(
        "page/people_sizes",
        {"frequency_set": Relation("odd people"), "levels": ["age_1"], "unit": ["_unit"]},
        ["size", "people"],
        [(1, 1), (2, 1)],  # x has rows in both classes, y only in the larger one
        {"odd people": ({"age_1": "INTEGER", "_unit": "VARCHAR"}, [(0, "x"), (0, "y"), (0, "y"), (1, "x")])},
    ),
    Case(
        "page/some_rows",
        {"columns": ["c0"], "named": {"c0": "odd name"}, "release": Relation("odd release"), "rows": 2, "stride": 2},
        ["c0"],
        [("30-39",), ("30-39",)],
        {"odd release": ({"odd name": "VARCHAR"}, [("30-39",), ("30-39",), ("30-39",), ("30-39",), ("30-39",)])},
    ),
]
