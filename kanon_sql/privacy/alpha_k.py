"""(α, k)-anonymity: R. Wong, J. Li, A. Fu, K. Wang, KDD 2006. Its k is a separate model, `k_anonymity`."""

from __future__ import annotations

from kanon_sql.errors import SpecError
from kanon_sql.privacy.model import PrivacyModel


def alpha(column: str, alpha: float, value: str | None = None) -> PrivacyModel:
    """No value of a sensitive column (or only the named one) has more than a share α of any class's rows (people).

    SpecError if α is not in (0, 1].

    >>> alpha("illness", 0.5).safe
    'most <= $alpha * rows'
    """
    if not 0 < alpha <= 1:
        raise SpecError(f"alpha of {column!r} is {alpha}; it must be above 0 and at most 1")
    count = "c" if value is None else "CASE WHEN value = $value THEN c ELSE 0 END"
    subject = column if value is None else f"{column} = {value}"
    return PrivacyModel(
        f"α of {subject}",
        {"alpha": alpha} | ({} if value is None else {"value": value}),
        columns={"rows": "SUM(n)", "most": f"MAX({count})"},
        safe="most <= $alpha * rows",
        sensitive=column,
        monotone="without suppression",
        achieved="MAX(CAST(most AS DOUBLE) / rows)",
        # Of the value's rows x must go so that most - x <= α (rows - x).
        unavoidable="(most - $alpha * rows) / NULLIF(1 - CAST($alpha AS DOUBLE), 0)",
    )
