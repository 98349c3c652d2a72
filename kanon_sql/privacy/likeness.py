"""β-likeness (J. Cao, P. Karras, PVLDB 5(11), 2012) and δ-disclosure privacy (J. Brickell, V. Shmatikov, KDD 2008)."""

from __future__ import annotations

from typing import Literal

from kanon_sql.errors import SpecError
from kanon_sql.privacy.l_diversity import TOLERANCE
from kanon_sql.privacy.model import PrivacyModel

Likeness = Literal["basic", "enhanced"]
# For a value: its share of the table, and its rows in the class per row in the table; for a class: the table's rows per
# row of the class. A value's share of the class over its share of the table is the product of the last two.
_SHARE = "(CAST(overall_c AS DOUBLE) / overall_size)"
_RATE = "CAST(c AS DOUBLE) / overall_c"
_SCALE = "CAST(MAX(overall_size) AS DOUBLE) / SUM(n)"
# x rows with too frequent values are removed until their share (… - x) / (rows - x) is the allowed one.
_ROWS_TO_REMOVE = "rows * beyond / NULLIF(1 - allowed, 0)"
_GAIN = "GREATEST(LN(rate * scale), -LN(least * scale))"


def beta_likeness(column: str, beta: float, kind: Likeness = "enhanced") -> PrivacyModel:
    """No value's share of a class exceeds its share q of the whole table by more than β times q.

    `enhanced`: nor by more than -ln q times q, so that a frequent value does not become nearly certain (definition 3).
    SpecError if β is not above 0.

    >>> beta_likeness("illness", 1.5, "basic").required
    1.5
    """
    if beta <= 0:
        raise SpecError(f"beta of {column!r} is {beta}; it must be above 0")
    most = "$beta" if kind == "basic" else f"LEAST($beta, -LN({_SHARE}))"
    columns = {"rate": f"MAX({_RATE})", "over": f"MAX({_RATE} / (1 + {most}))", "scale": _SCALE}
    columns |= _too_frequent(f"{_SHARE} * (1 + {most}) * (1 + {TOLERANCE:.9f})")
    return PrivacyModel(
        f"{kind} β-likeness of {column}",
        {"beta": beta},
        columns=columns,
        safe=f"over * scale <= 1 + {TOLERANCE:.9f}",
        sensitive=column,
        monotone="without suppression",
        achieved="MAX(rate * scale - 1)",
        unavoidable=_ROWS_TO_REMOVE,
    )


def delta_disclosure(column: str, delta: float) -> PrivacyModel:
    """The logarithm of a value's share of a class over its share of the whole table is between -δ and δ.

    A value that the class lacks has a share of 0 there, whose logarithm has no bound: every class has every value of
    the table. SpecError if δ is not above 0.

    >>> delta_disclosure("illness", 1.0).sensitive
    'illness'
    """
    if delta <= 0:
        raise SpecError(f"delta of {column!r} is {delta}; it must be above 0")
    figures = {"rate": f"MAX({_RATE})", "least": f"MIN({_RATE})", "scale": _SCALE}
    figures |= _too_frequent(f"{_SHARE} * EXP($delta)")
    return PrivacyModel(
        f"δ-disclosure privacy of {column}",
        {"delta": delta},
        columns={"present": "COUNT(c)", "of_table": "MAX(overall_values)", **figures},
        safe=f"present = of_table AND {_GAIN} < $delta",
        sensitive=column,
        monotone="without suppression",
        achieved=f"MAX({_GAIN})",
        # A value that a class lacks is missing in every part of it; a value that is too rare reaches its share when the
        # other rows are removed.
        unavoidable="CASE WHEN present < of_table THEN rows "
        f"ELSE GREATEST({_ROWS_TO_REMOVE}, rows * (1 - least * scale * EXP($delta))) END",
    )


def _too_frequent(allowed: str) -> dict[str, str]:
    """The rows, the total excess share of the values that are too frequent, and their total allowed share."""
    beyond = f"CAST(c AS DOUBLE) / size - {allowed}"
    sums = {"beyond": f"CASE WHEN {beyond} > 0 THEN {beyond} ELSE 0 END"}
    sums["allowed"] = f"CASE WHEN {beyond} > 0 THEN {allowed} ELSE 0 END"
    return {"rows": "SUM(c)"} | {name: f"SUM({text})" for name, text in sums.items()}
