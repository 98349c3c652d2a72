"""Privacy models as values: a predicate on a class, and what may be concluded from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from kanon_sql.errors import SpecError


@dataclass(frozen=True)
class Predicate:
    """A condition of ours as SQL text, `$name` standing for its values: `Predicate("SUM(n) >= $k", {"k": 5})`."""

    text: str
    values: dict[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class PrivacyModel:
    """A promise about every released equivalence class.

    `safe` is true of a class that may be released, as SQL over the class's counted rows (`n`).
    `monotone`: generalizing never puts more rows at risk, with or without a suppression limit, so
    that one verdict may tag other nodes (predictive tagging).
    """

    name: str
    required: int
    safe: Predicate
    monotone: bool


def k_anonymity(k: int) -> PrivacyModel:
    """Every released row shares its quasi-identifiers with at least k - 1 others (Samarati 2001).

    >>> k_anonymity(5).safe.text
    'SUM(n) >= $k'
    """
    if k < 1:
        raise SpecError(f"k is {k}; it must be at least 1")
    return PrivacyModel("k-anonymity", k, Predicate("SUM(n) >= $k", {"k": k}), monotone=True)
