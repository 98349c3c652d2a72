"""Prosecutor, journalist, marketer risk: K. El Emam, "Guide to the De-Identification of Personal Health Information".

The prosecutor knows that a person is in the data: the risk of a row is 1 over the size of its class. The journalist
does not, and searches a population: the risk is 1 over the size of the class there. The marketer wants to identify as
many people as possible: the expected share, classes over rows, is the mean of the prosecutor's risk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, fsum, isclose, nan
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.privacy.model import PrivacyModel
from kanon_sql.privacy.population_models import required_population
from kanon_sql.privacy.release_model import ReleaseModel, Sizes

AnyPrivacyModel = PrivacyModel | ReleaseModel
THRESHOLDS = (0.05, 0.09, 0.2, 0.33, 0.5)  # of a risk, commonly used by norms
_ROUNDING = 1e-9  # rounds down: a bound on unavoidable rows must not be too high


def prosecutor_risk(
    *, highest: float | None = None, mean: float | None = None, above: float | None = None, share: float | None = None
) -> tuple[AnyPrivacyModel, ...]:
    """The risk of each row, of all rows on average, and the share of rows with a risk `above` a threshold.

    SpecError for a risk that is not above 0 and at most 1, a share not from 0 to below 1, or without any bound.

    >>> [model.name for model in prosecutor_risk(highest=0.2, mean=0.05)]
    ['highest prosecutor risk', 'mean prosecutor risk']
    """
    return _risks("prosecutor", _highest, _mean, highest, mean, above, share)


def marketer_risk(mean: float) -> ReleaseModel:
    """The expected share of rows that an attacker who matches all of them identifies; SpecError if not in (0, 1].

    >>> marketer_risk(0.05).sufficient_size
    20
    """
    return _mean("marketer risk", mean)


def journalist_risk(
    highest: float | None = None,
    population: Any = None,
    *,
    mean: float | None = None,
    above: float | None = None,
    share: float | None = None,
) -> tuple[AnyPrivacyModel, ...]:
    """The same risks for rows that are searched in a population; the highest is k-map with k = 1 / highest.

    The mean is over the rows, or over the rows of the population in released classes, whichever is larger.
    `population`: as in `k_map`. SpecError as in `prosecutor_risk`.

    >>> [model.name for model in journalist_risk(0.1, "voters.parquet", mean=0.05)]
    ['highest journalist risk', 'mean journalist risk']
    """
    models = _risks("journalist", _highest_in_population, _mean_in_population, highest, mean, above, share)
    population = required_population(population, "the journalist's risk")
    return tuple(replace(model, population=population) for model in models)


def least_size(risk: float) -> int:
    """The minimum size of a class whose risk, 1 / size, does not exceed a risk.

    >>> least_size(0.1), least_size(0.3), least_size(1)
    (10, 4, 1)
    """
    size = max(1, ceil(1 / risk) - 1)
    return size if 1 / size <= risk else size + 1


@dataclass(frozen=True)
class PeopleByClass:
    """The number of people by the size of the smallest class that they are in.

    >>> people = PeopleByClass(((2, 4), (10, 20)))
    >>> people.number, people.above(0.2), people.mean
    (24, 4, 0.16666666666666666)
    """

    sizes: Sequence[tuple[int, int]]

    @property
    def number(self) -> int:
        """The number of people."""
        return sum(people for _, people in self.sizes)

    @property
    def mean(self) -> float:
        """The prosecutor's mean risk, where a person has the risk of their smallest class; 0 without people."""
        return fsum(people / size for size, people in self.sizes) / self.number if self.sizes else 0.0

    @property
    def histogram(self) -> Sequence[tuple[Any, ...]]:
        """The sizes with fractions of classes: 3 people whose smallest class has size 4 are 3/4 of a class.

        A figure of these counts every person once, at the risk of their smallest class.
        """
        return [(size, Fraction(people, size)) for size, people in self.sizes]

    def above(self, risk: float) -> int:
        """The people with a prosecutor's risk above a threshold."""
        return self.between(1, least_size(risk) - 1)

    def between(self, least: int, most: int | None) -> int:
        """The people whose smallest class has a size between two; `most` None means no bound."""
        return sum(people for size, people in self.sizes if size >= least and (most is None or size <= most))


def _risks(
    who: str,
    of_highest: Callable[[float], AnyPrivacyModel],
    of_mean: Callable[[str, float], AnyPrivacyModel],
    highest: float | None,
    mean: float | None,
    above: float | None,
    share: float | None,
) -> tuple[AnyPrivacyModel, ...]:
    if (above is None) != (share is None):
        raise SpecError("a risk above a threshold needs both the threshold and the share of rows that may be above it")
    models: list[AnyPrivacyModel] = []
    if highest is not None:
        models.append(of_highest(_risk(f"highest {who} risk", highest)))
    if mean is not None:
        models.append(of_mean(f"mean {who} risk", mean))
    if above is not None and share is not None:
        models.append(_above(who, _risk(f"threshold of the {who} risk", above), share))
    if not models:
        raise SpecError(f"a {who} risk needs a bound; set highest, mean, or a threshold and a share above it")
    return tuple(models)


def _highest(risk: float) -> PrivacyModel:
    size = least_size(risk)
    return PrivacyModel(
        "highest prosecutor risk",
        {"highest": risk},
        columns={"rows": "SUM(n)"},
        safe=f"rows >= {size}",
        monotone="always",
        achieved="MAX(CAST(1 AS DOUBLE) / rows)",
        class_size=size,
    )


def _highest_in_population(risk: float) -> PrivacyModel:
    size = least_size(risk)
    return PrivacyModel(
        "highest journalist risk",
        {"highest": risk},
        columns={"people": "SUM(population)"},
        safe=f"people >= {size}",
        monotone="always",
        achieved="MAX(CAST(1 AS DOUBLE) / NULLIF(people, 0))",
        population_size=size,
    )


def _mean(name: str, most: float) -> ReleaseModel:
    # Merging two classes leaves one class less for the same rows; suppressing the smallest raises the mean size.
    risk = _risk(name, most)

    def unavoidable(classes: Sizes) -> int:
        """The rows of the smallest classes, as few as have to be removed to bring classes per row down to the bound.

        This also bounds nodes below: a part of a class forms at least one class, with at most as many rows.
        """
        return _fewest_rows((1 - most * size, size, number) for size, number in classes)

    parameters = {"mean": most}
    return ReleaseModel(name, parameters, _classes_per_row, most, least_size(risk), "without suppression", unavoidable)


def _mean_in_population(name: str, most: float) -> ReleaseModel:
    # Merging two classes leaves one class less and raises no risk; more people of the population raise none either.
    risk = _risk(name, most)

    def mean(classes: Sizes) -> float:
        if classes[0][0] == 0:
            return nan  # a class without anyone in the population
        return max(_classes_per_row([(size, number) for size, number, *_ in classes]), _mean_of_rows(classes, most))

    def unavoidable(classes: Sizes) -> int:
        """The rows at the highest risk, as few as have to be removed to bring the mean down to the bound.

        This also bounds nodes below: a part of a class corresponds to at most as many of the population.
        """
        return _fewest_rows((1 / size - most, 1, rows) for size, _, rows in classes)

    return ReleaseModel(name, {"mean": most}, mean, most, least_size(risk), "without suppression", unavoidable)


def _fewest_rows(surpluses: Iterable[tuple[float, int, int]]) -> int:
    """The rows to remove until the total surplus is 0; the surpluses are (surplus of a part, its rows, equal parts)."""
    parts = list(surpluses)
    removed = 0
    left = fsum(surplus * number for surplus, _, number in parts)
    for surplus, rows, number in parts:
        if surplus <= 0:
            break
        needed = min(number, max(0, ceil(left / surplus - _ROUNDING)))
        removed += needed * rows
        left -= needed * surplus
    return removed


def _classes_per_row(classes: Sizes) -> float:
    return float(sum(number for _, number in classes) / _rows(classes))


def _mean_of_rows(classes: Sizes, most: float) -> float:
    """The mean of 1 / size over rows; exact where rounding could decide whether it exceeds `most`."""
    mean = fsum(rows / size for size, _, rows in classes) / _rows(classes)
    exact = isclose(mean, most, rel_tol=_ROUNDING)
    return float(sum(Fraction(rows, size) for size, _, rows in classes) / _rows(classes)) if exact else mean


def _above(who: str, threshold: float, share: float) -> ReleaseModel:
    # Merging makes no class smaller; classes above the threshold are the smallest ones.
    if not 0 <= share < 1:
        raise SpecError(f"the share of rows above a {who} risk is {share}; it must be from 0 to below 1")
    size = least_size(threshold)

    def above(classes: Sizes) -> float:
        return float(_rows([item for item in classes if item[0] < size]) / _rows(classes))

    def unavoidable(classes: Sizes) -> int:
        """The rows above the threshold that exceed their share if all others stay; a part of a class is no larger."""
        rows = _rows([item for item in classes if item[0] < size])
        return max(0, rows - floor(share / (1 - share) * (_rows(classes) - rows) + _ROUNDING))

    parameters = {"threshold": threshold, "share": share}
    name = f"share of rows above a {who} risk"
    return ReleaseModel(name, parameters, above, share, size, "without suppression", unavoidable)


def _rows(classes: Sizes) -> int:
    """The released rows in these classes."""
    return sum(rows[0] if rows else size * number for size, number, *rows in classes)


def _risk(what: str, risk: float) -> float:
    if not 0 < risk <= 1:
        raise SpecError(f"the {what} is {risk}; it must be above 0 and at most 1, such as 0.05")
    return risk
