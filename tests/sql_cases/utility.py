"""Given and expected rows of `sql/utility`."""

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_COPIED = relation(
    "copied", "c0 c1", *[("1", None), ("1", None), ("2", "x"), (None, "x"), ("1", "x")], c0="VARCHAR", c1="VARCHAR"
)
_TABLE = {"table": Relation("copied")}

CASES = [
    Case("utility/cells", {**_TABLE, "cell": ["c0"]}, ["cell", "n"], [("1", 3), ("2", 1), (None, 1)], _COPIED),
    Case(
        "utility/texts",
        {**_TABLE, "cells": {"a0": "c0"}},
        ["a0"],
        [("1",), ("1",), ("2",), (None,), ("1",)],
        {"copied": ({"c0": "INTEGER"}, ((1,), (1,), (2,), (None,), (1,)))},
    ),
]
