"""Given and expected rows of `sql/perturb`."""

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import pytest

from kanon_sql.queries import Relation
from sql_cases.case import PEOPLE, Case, Rows

# MD5('kr') is dcf0d7d2cd120bf4…: the first eight digits make u, the next eight v.
_U, _V = (0xDCF0D7D2 + 0.5) / 2**32, (0xCD120BF4 + 0.5) / 2**32
_DRAWN = dict.fromkeys(["u", "v", "normal", "laplace", "uniform"], "DOUBLE PRECISION")


def _drawn(value_type: str, *rows: Sequence[Any]) -> Mapping[str, tuple[Mapping[str, str], Rows]]:
    """Draws as perturb_draws gives them, all chance of a row being the one number given; u and v apart."""
    full = [(row_id, value, u, v, u, u, u) for row_id, value, u, v in rows]
    return {"draws": ({"row_id": "VARCHAR", "value": value_type, **_DRAWN}, full)}


def _noise(scale: float, **bounds: str | None) -> dict[str, Any]:
    return {"scale": scale, "draw": ["laplace"], "draws": Relation("draws"), **bounds}


_SWAPPED = [(f"r{i}", 10 * i, 0.5, v) for i, v in enumerate([0.9, 0.1, 0.2, 0.8, 0.5, 0.5, 0.3])]

CASES = [
    Case(
        "perturb/draws",
        {"column": ["x"], "rows": Relation("cells"), "key": Relation("keys")},
        ["row_id", "value", "u", "v", "normal", "laplace", "uniform"],
        [
            (
                "r",
                7,
                _U,
                _V,
                pytest.approx(math.sqrt(-2 * math.log(_U)) * math.cos(2 * math.pi * _V)),
                pytest.approx(-math.log(2 * (1 - _U))),
                pytest.approx(2 * _U - 1),
            )
        ],
        {
            "cells": ({"row_id": "VARCHAR", "x": "INTEGER"}, [("r", 7), ("s", None)]),
            "keys": ({"key": "VARCHAR", "shift": "BIGINT"}, [("k", 0)]),
        },
    ),
    Case(
        "perturb/number",
        _noise(10.0, bottom=None, top="4.5"),
        ["row_id", "value"],
        [("a", -8.5), ("b", 3.75), ("c", 4.5)],
        _drawn("DOUBLE PRECISION", ("a", 1.5, -1.0, 0), ("b", 1.25, 0.25, 0), ("c", 1.5, 1.0, 0)),
    ),
    Case(
        "perturb/number",
        _noise(10.0, bottom="-8", top=None),
        ["row_id", "value"],
        [("a", -8), ("c", 11.5)],
        _drawn("DOUBLE PRECISION", ("a", 1.5, -1.0, 0), ("c", 1.5, 1.0, 0)),
    ),
    Case(
        "perturb/whole",
        _noise(10.0, bottom="-5", top="4611686018427387910"),
        ["row_id", "value"],
        [("a", -5), ("b", 3), ("c", 4611686018427387907), ("d", 4611686018427387910)],
        _drawn("BIGINT", ("a", 1, -1.0, 0), ("b", 1, 0.21, 0), ("c", 2**62 + 1, 0.2, 0), ("d", 2**62, 1.0, 0)),
    ),
    Case(
        "perturb/date",
        _noise(3.0),
        ["row_id", "value"],
        [("a", date(2020, 2, 26)), ("b", date(2020, 3, 1))],
        _drawn("DATE", ("a", date(2020, 2, 29), -1.0, 0), ("b", date(2020, 2, 29), 0.4, 0)),
    ),
    Case(
        "perturb/timestamp",
        _noise(3.0),
        ["row_id", "value"],
        [("a", datetime(2020, 2, 26, 7)), ("b", datetime(2020, 2, 29, 7, 0, 1))],
        _drawn(
            "TIMESTAMP", ("a", datetime(2020, 2, 29, 7), -1.0, 0), ("b", datetime(2020, 2, 29, 7), 1.2 / 86400 / 3, 0)
        ),
    ),
    Case(
        "perturb/swap",
        # Ranks from 3 on in blocks of 4: {0}, {10, 20 | 30, 40}, {50 | 60}; the lower by v 10, 20, the upper 40, 30.
        {"half": 2, "draws": Relation("draws"), "key": Relation("keys")},
        ["row_id", "value"],
        [("r0", 0), ("r1", 40), ("r2", 30), ("r3", 20), ("r4", 10), ("r5", 60), ("r6", 50)],
        {**_drawn("INTEGER", *_SWAPPED), "keys": ({"key": "VARCHAR", "shift": "BIGINT"}, [("k", 3)])},
    ),
    Case(
        "perturb/swap",
        # Ranks in blocks of 6: {0, 10, 20 | 30, 40, 50}, {60}; by v 10, 20, 0 and 40, 50, 30.
        {"half": 3, "draws": Relation("draws"), "key": Relation("keys")},
        ["row_id", "value"],
        [("r0", 30), ("r1", 40), ("r2", 50), ("r3", 0), ("r4", 10), ("r5", 20), ("r6", 60)],
        {**_drawn("INTEGER", *_SWAPPED), "keys": ({"key": "VARCHAR", "shift": "BIGINT"}, [("k", 0)])},
    ),
    Case(
        "perturb/redraw",
        {"keep": 0.5, "draws": Relation("draws")},
        ["row_id", "value"],
        [("a", "x"), ("b", "x"), ("c", "z")],
        _drawn("VARCHAR", ("a", "x", 0.4, 0.9), ("b", "z", 0.5, 0.3), ("c", "x", 0.6, 0.7)),
    ),
    Case(
        "perturb/transition",
        {"draws": Relation("draws"), "matrix": Relation("matrix")},
        ["row_id", "value"],
        [("a", "1"), ("b", "2"), ("c", "2")],
        {
            **_drawn("INTEGER", ("a", 1, 0.2, 0), ("b", 1, 0.25, 0), ("c", 2, 0.9, 0), ("d", 3, 0.9, 0)),
            "matrix": (
                {"value": "VARCHAR", "target": "VARCHAR", "low": "DOUBLE PRECISION", "high": "DOUBLE PRECISION"},
                [("1", "1", 0, 0.25), ("1", "2", 0.25, 1), ("2", "2", 0, 1)],
            ),
        },
    ),
    Case("perturb/present", {"column": ["Age"], "source": Relation("odd people")}, ["present"], [(5,)], PEOPLE),
]
