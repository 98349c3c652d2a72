"""Given and expected rows of `sql/risk`."""

from kanon_sql.queries import Relation
from sql_cases.case import PEOPLE, Case, relation

_VALUES = {"values": Relation("counted")}
_TEXTS = {"counted": ({"value": "VARCHAR", "n": "INTEGER"}, [("", 1), ("x", 5), (None, 1)])}

CASES = [
    # By their digests: '' is d41d…, x is 9dd4…; 7 is 8f14…, 40 is d645….
    Case("risk/values", {**_VALUES, "most": 9}, ["value", "n"], [("x", 5), ("", 1)], _TEXTS),
    Case("risk/values", {**_VALUES, "most": 1}, ["value", "n"], [("x", 5)], _TEXTS),
    Case(
        "risk/values",
        {**_VALUES, "most": 9},
        ["value", "n"],
        [("7", 1), ("40", 4)],
        relation("counted", "value n", (40, 4), (7, 1), (None, 2)),
    ),
    Case(
        "risk/exact_rows",
        {"columns": ["Age", 'a "zip"; n'], "source": Relation("odd people")},
        ["singled_out", "counted"],
        [(3, 7)],
        PEOPLE,
    ),
    Case(
        "risk/exact_people",
        {"unit": ["Age"], "columns": {"v": 'a "zip"; n'}, "values": ["v"], "source": Relation("odd people")},
        ["singled_out", "counted"],
        [(1, 2)],
        PEOPLE,
    ),
    Case(
        "risk/constant_columns",
        {
            "key": ["p"],
            "columns": {"c_0": 'a "b"', "c_1": "c", "c_2": "d"},
            "values": {"c_0": "c_0", "c_1": "c_1", "c_2": "c_2"},
            "source": Relation("rows"),
        },
        ["repeated", "c_0", "c_1", "c_2"],
        [(2, 2, 1, 2)],
        {
            "rows": (
                {"p": "VARCHAR", 'a "b"': "INTEGER", "c": "VARCHAR", "d": "INTEGER"},
                [
                    *[
                        ("x", 1, "u", None),
                        ("x", 1, "v", None),
                        ("y", 2, "u", 4),
                        ("y", None, "u", 4),
                        ("z", 3, "w", 5),
                    ],
                    *[(None, 7, "w", 5), (None, 8, "w", 6)],
                ],
            )
        },
    ),
]
