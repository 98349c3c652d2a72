"""Given and expected rows of `sql/risk`."""

from kanon_sql.queries import Relation
from sql_cases.case import PEOPLE, Case

_VALUES = {"column": ['a "zip"; n'], "source": Relation("odd people")}

CASES = [
    # By their digests: '' is d41d…, x is 9dd4….
    Case("risk/values", {**_VALUES, "most": 9}, ["value", "n"], [("x", 5), ("", 1)], PEOPLE),
    Case("risk/values", {**_VALUES, "most": 1}, ["value", "n"], [("x", 5)], PEOPLE),
    Case(
        "risk/values",
        {"column": ["Age"], "source": Relation("odd people"), "most": 9},
        ["value", "n"],
        [("7", 1), ("40", 4)],
        PEOPLE,
    ),
]
