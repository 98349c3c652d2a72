"""β-likeness (J. Cao, P. Karras, PVLDB 5(11), 2012) and δ-disclosure privacy (J. Brickell, V. Shmatikov, KDD 2008)."""

from __future__ import annotations

from typing import Literal

from kanon_sql.errors import SpecError
from kanon_sql.privacy.l_diversity import TOLERANCE
from kanon_sql.privacy.model import PrivacyModel

Likeness = Literal["basic", "enhanced"]
_SHARE = "(CAST(overall_c AS DOUBLE) / overall_size)"
_RATIO = f"(CAST(c AS DOUBLE) / size / {_SHARE})"


def beta_likeness(column: str, beta: float, kind: Likeness = "enhanced") -> PrivacyModel:
    """No value's share of a class exceeds its share q of the whole table by more than β times q.

    `enhanced`: nor by more than -ln q times q, so that a frequent value does not come near to certainty (definition 3).
    SpecError if β is not above 0.

    >>> beta_likeness("illness", 1.5, "basic").required
    1.5
    """
    if beta <= 0:
        raise SpecError(f"beta of {column!r} is {beta}; it must be above 0")
    most = "$beta" if kind == "basic" else f"LEAST($beta, -LN({_SHARE}))"
    return PrivacyModel(
        f"{kind} β-likeness of {column}",
        {"beta": beta},
        columns={"gain": f"MAX({_RATIO} - 1)", "excess": f"MAX({_RATIO} - 1 - {most})"},
        safe=f"excess <= {TOLERANCE:.9f}",
        sensitive=column,
        monotone="without suppression",
        achieved="MAX(gain)",
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
    return PrivacyModel(
        f"δ-disclosure privacy of {column}",
        {"delta": delta},
        columns={"present": "COUNT(c)", "of_table": "MAX(overall_values)", "gain": f"MAX(ABS(LN({_RATIO})))"},
        safe="present = of_table AND gain < $delta",
        sensitive=column,
        monotone="without suppression",
        achieved="MAX(gain)",
    )
