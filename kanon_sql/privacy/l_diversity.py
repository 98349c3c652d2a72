"""l-diversity: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, ACM TKDD 1(1), 2007."""

from __future__ import annotations

from typing import Literal

from kanon_sql.errors import SpecError
from kanon_sql.privacy.model import PrivacyModel

Diversity = Literal["distinct", "entropy", "recursive"]
TOLERANCE = 1e-9  # of figures with a logarithm: a class of exactly l equal counts has entropy ln l


def l_diversity(column: str, l: float, kind: Diversity = "distinct", c: float | None = None) -> PrivacyModel:
    """Every class has l well-represented values of a sensitive column; SpecError for invalid parameters.

    `distinct`: at least l values. `entropy`: an entropy of at least that of l equally frequent values (definition 4.1).
    `recursive`: the most frequent value has fewer rows than `c` times all from the l-th most frequent on (definition
    4.2). If people are counted, the last two need one value per person.

    >>> l_diversity("illness", 3).safe
    'values >= $l'
    >>> l_diversity("illness", 3, "recursive", c=4).required
    {'l': 3, 'c': 4}
    """
    if l < 1 or (kind != "entropy" and l != int(l)):
        raise SpecError(
            f"l of {column!r} is {l}; it must be {'a number' if kind == 'entropy' else 'whole and'} at least 1"
        )
    if (c is not None) != (kind == "recursive"):
        raise SpecError(f"{column!r}: recursive l-diversity needs `c`, and the other kinds have none")
    if kind == "distinct":
        return _distinct(column, int(l))
    return _entropy(column, l) if kind == "entropy" else _recursive(column, int(l), c or 0.0)


def _distinct(column: str, l: int) -> PrivacyModel:
    return PrivacyModel(
        f"distinct l-diversity of {column}",
        {"l": l},
        columns={"values": "COUNT(c)"},
        safe="values >= $l",
        sensitive=column,
        monotone="always",
        achieved="MIN(values)",
    )


def _entropy(column: str, l: float) -> PrivacyModel:
    # The entropy of a mixture is at least the lesser of its parts' (it is concave).
    entropy = "(LN(rows) - logs / rows)"
    least = f"(LN(CAST($l AS DOUBLE)) - {TOLERANCE:.9f})"
    counts = {"rows": "CAST(SUM(c) AS DOUBLE)", "logs": "SUM(c * LN(CAST(c AS DOUBLE)))"}
    return PrivacyModel(
        f"entropy l-diversity of {column}",
        {"l": l},
        columns=counts | {"most": "CAST(MAX(c) AS DOUBLE)"},
        safe=f"{entropy} >= {least}",
        sensitive=column,
        monotone="without suppression",
        achieved="MIN(EXP(LN(rows) - logs / rows))",
        # Rows times entropy is concave, so its tangent bounds it: removing a row changes it by ln of its value's share.
        unavoidable=f"rows * ({least} - {entropy}) / NULLIF({least} + LN(most / rows), 0)",
        one_value=True,
    )


def _recursive(column: str, l: int, c: float) -> PrivacyModel:
    if c <= 0:
        raise SpecError(f"c of {column!r} is {c}; it must be above 0")
    others = "0" if l == 1 else "LARGEST(c, $l - 1)"
    return PrivacyModel(
        f"recursive (c, l)-diversity of {column}",
        {"l": l, "c": c},
        columns={"rows": "SUM(c)", "most": "MAX(c)", "head": others, "tail": f"SUM(c) - {others}"},
        safe="most < $c * tail",
        sensitive=column,
        monotone="without suppression",
        achieved="MAX(CAST(most AS DOUBLE) / NULLIF(tail, 0))",
        # The tail never grows, and each of the l - 1 most frequent values must come down to c times it.
        unavoidable="CASE WHEN tail = 0 THEN rows ELSE GREATEST(most - $c * tail, head - ($l - 1) * $c * tail) END",
        one_value=True,
    )
