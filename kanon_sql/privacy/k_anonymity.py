"""k-anonymity."""

from __future__ import annotations

from kanon_sql.errors import SpecError
from kanon_sql.privacy.model import PrivacyModel


def k_anonymity(k: int) -> PrivacyModel:
    """Every released row shares its quasi-identifiers with at least k - 1 others (Samarati 2001); SpecError below 1.

    >>> k_anonymity(5).safe
    'rows >= $k'
    """
    if k < 1:
        raise SpecError(f"k is {k}; it must be at least 1")
    return PrivacyModel(
        "k-anonymity",
        {"k": k},
        columns={"rows": "SUM(n)"},
        safe="rows >= $k",
        monotone="always",
        achieved="MIN(rows)",
        class_size=k,
    )
