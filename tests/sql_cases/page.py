"""Given and expected rows of `sql/page`."""

from datetime import date

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation
from sql_cases.case import FREQUENCY_SET, Case

_VISITS = {"odd visits": ({"odd age": "INTEGER", "person": "INTEGER"}, [(40, 1), (40, 1), (40, 2), (None, 3), (7, 3)])}
_COUNTED = {"value": "INTEGER", "n": "BIGINT", "size": "BIGINT"}
_AGES = {"ages": (_COUNTED, [(40, 3, 2), (7, 1, 1), (47, 4, 4), (-3, 1, 1), (None, 2, 2)])}
CASES = [
    Case(
        "page/value_counts",
        {"column": ["odd age"], "source": Relation("odd visits")},
        ["value", "n", "size"],
        [(40, 3, 3), (None, 1, 1), (7, 1, 1)],
        _VISITS,
    ),
    Case(
        "page/value_people",
        {"column": ["odd age"], "unit": ["person"], "source": Relation("odd visits")},
        ["value", "n", "size"],
        [(40, 3, 2), (None, 1, 1), (7, 1, 1)],
        _VISITS,
    ),
    Case(
        "page/frequent_values",
        {"values": Relation("ages"), "most": 2},
        ["value", "n", "size"],
        [(47, 4, 4), (40, 3, 2)],
        _AGES,
    ),
    Case(
        "page/value_sizes",
        {"values": Relation("ages")},
        ["size", "labels", "n"],
        [(2, 2, 5), (1, 2, 2), (4, 1, 4)],
        _AGES,
    ),
    Case(
        "page/spread",
        {"values": Relation("ages")},
        ["mean", "mean_square"],
        [(4.0, 25.0)],
        {"ages": (_COUNTED, [(1, 1, 1), (3, 2, 2), (9, 1, 1), (None, 7, 1)])},
    ),
    Case(
        "page/number_bins",
        {"values": Relation("ages"), "width": 10},
        ["value", "n", "size", "bin"],
        [(40, 3, 2, 4), (7, 1, 1, 0), (47, 4, 4, 4), (-3, 1, 1, -1)],
        _AGES,
    ),
    Case(
        "page/month_bins",
        {"values": Relation("days")},
        ["value", "n", "size", "bin"],
        [(date(2024, 2, 29), 2, 2, 24289), (date(2024, 3, 1), 1, 1, 24290)],
        {"days": ({**_COUNTED, "value": "DATE"}, [("2024-02-29", 2, 2), ("2024-03-01", 1, 1), (None, 5, 5)])},
    ),
    Case(
        "page/bin_rows",
        {"bins": Relation("bins")},
        ["bin", "n", "size"],
        [(4, 7, 7), (0, 1, 1)],
        {"bins": ({**_COUNTED, "bin": "INTEGER"}, [(40, 3, 2, 4), (47, 4, 4, 4), (7, 1, 1, 0)])},
    ),
    Case(
        "page/bin_people",
        {"column": ["odd age"], "unit": ["person"], "source": Relation("odd visits"), "bins": Relation("bins")},
        ["bin", "n", "size"],
        [(4, 3, 2), (0, 1, 1)],
        {**_VISITS, "bins": ({**_COUNTED, "bin": "INTEGER"}, [(40, 3, 2, 4), (7, 1, 1, 0)])},
    ),
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
