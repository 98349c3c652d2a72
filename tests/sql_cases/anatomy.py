"""Given and expected rows of `sql/anatomy`."""

from collections.abc import Sequence
from typing import Any

from kanon_sql.queries import Relation
from sql_cases.case import Case, Rows

_GROUPED = {
    "grouped": (
        {"group_id": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"},
        [(2, "1*", "flu"), (1, "2*", None), (2, "1*", "flu"), (2, "1*", "acne"), (1, "2*", "flu"), (1, None, None)],
    )
}


def _anatomy(rows: Sequence[Any], counts: Rows, type_name: str = "INTEGER") -> dict[str, Any]:
    return {
        "anatomy rows": ({"group_id": type_name}, [(group,) for group in rows]),
        "counts": ({"group_id": type_name, "count": type_name}, counts),
    }


_DIVERSITY = {"l": 2, "sensitive": Relation("counts")}
_DIVERSE = ["rows", "groups", "smallest_group", "fewest_values", "unsafe_groups", "unsafe_rows"]
_DIVERSE_COUNTS = {
    "counts": (
        {"group_id": "VARCHAR", "count": "VARCHAR"},
        [("1", "1"), ("1", "1"), ("2", "2"), ("2", "1"), ("3", "2")],
    )
}
_OFFENDERS = {"rows": Relation("anatomy rows"), "sensitive": Relation("counts")}

CASES = [
    Case(
        "anatomy/rows",
        {"columns": {"Zip": "zip"}, "sorted": ["zip"], "grouped": Relation("grouped")},
        ["group_id", "Zip"],
        [(1, "2*"), (1, "2*"), (1, None), (2, "1*"), (2, "1*"), (2, "1*")],
        _GROUPED,
    ),
    Case(
        "anatomy/sensitive",
        {"columns": {"Ill": "ill"}, "sensitive": ["ill"], "grouped": Relation("grouped")},
        ["group_id", "Ill", "count"],
        [(1, "flu", 1), (1, None, 2), (2, "acne", 1), (2, "flu", 2)],
        _GROUPED,
    ),
    Case(
        "anatomy/groups",
        {
            "columns": ["ill"],
            "sensitive": ["ill"],
            "groups": 2,
            "rows": Relation("cells"),
            "key": Relation("keys"),
        },
        ["ill", "group_id"],
        [("acne", 1), ("acne", 2), ("flu", 1), (None, 2)],
        {
            "cells": (
                {"row_id": "VARCHAR", "ill": "VARCHAR"},
                [("r0", "flu"), ("r1", None), ("r2", "acne"), ("r3", "acne")],
            ),
            "keys": ({"key": "VARCHAR", "shift": "BIGINT"}, [("k", 0)]),
        },
    ),
    Case("anatomy/diversity", _DIVERSITY, _DIVERSE, [(7, 3, 2, 1, 2, 5)], _DIVERSE_COUNTS),
    Case("anatomy/diversity", {**_DIVERSITY, "l": 1}, _DIVERSE, [(7, 3, 2, 1, 0, 0)], _DIVERSE_COUNTS),
    Case(
        "anatomy/diversity",
        _DIVERSITY,
        _DIVERSE,
        [(0, 0, None, None, 0, 0)],
        {"counts": (_DIVERSE_COUNTS["counts"][0], [])},
    ),
    Case("anatomy/offenders", _OFFENDERS, ["group_id", "surplus"], [], _anatomy([1, 2, 2], [(1, 1), (2, 1), (2, 1)])),
    Case(
        "anatomy/offenders",
        _OFFENDERS,
        ["group_id", "surplus"],
        [(1, 1), (2, -1), (3, 1), (4, -2), (5, 0)],
        _anatomy([1, 1, 2, 3], [(1, 1), (2, 2), (4, 2), (5, 0)]),
    ),
    Case(
        "anatomy/offenders", _OFFENDERS, ["group_id", "surplus"], [(None, 0)], _anatomy([1, None], [(1, 1), (None, 1)])
    ),
    Case(
        "anatomy/offenders",
        _OFFENDERS,
        ["group_id", "surplus"],
        [(2, 1)],
        _anatomy(["1", "2", "2"], [("1", "1"), ("2", "1")], "VARCHAR"),
    ),
]
