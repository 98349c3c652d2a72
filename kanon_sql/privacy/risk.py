"""Prosecutor, journalist, marketer risk: K. El Emam, "Guide to the De-Identification of Personal Health Information".

The prosecutor knows that somebody is in the data: the risk of a row is 1 over the size of its class. The journalist
does not, and looks in a population: it is 1 over the size of the class there. The marketer
wants to find as many as possible: the share that is found on average, classes over rows, is the mean of that risk.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.privacy.model import PrivacyModel
from kanon_sql.privacy.population import k_map
from kanon_sql.privacy.release_model import Histogram, ReleaseModel

Model = PrivacyModel | ReleaseModel
_ROUNDING = 1e-9  # in favour of the fewer rows: what is unavoidable must be so


def prosecutor_risk(
    *, highest: float | None = None, mean: float | None = None, above: float | None = None, share: float | None = None
) -> tuple[Model, ...]:
    """The risk of each row, of all rows on average, and the share of rows with a risk `above` a threshold.

    SpecError for a risk that is not above 0 and at most 1, a share not from 0 to below 1, or if nothing is asked for.

    >>> [model.name for model in prosecutor_risk(highest=0.2, mean=0.05)]
    ['highest prosecutor risk', 'mean prosecutor risk']
    """
    if (above is None) != (share is None):
        raise SpecError("a risk above a threshold needs both the threshold and the share of rows that may be above it")
    models: list[Model] = []
    if highest is not None:
        models.append(_highest(_risk("highest prosecutor risk", highest)))
    if mean is not None:
        models.append(_mean("mean prosecutor risk", mean))
    if above is not None and share is not None:
        models.append(_above(_risk("threshold of the prosecutor risk", above), share))
    if not models:
        raise SpecError("a prosecutor risk needs a bound; give highest, mean, or a threshold and a share above it")
    return tuple(models)


def marketer_risk(mean: float) -> ReleaseModel:
    """The share of rows that who matches all of them finds on average; SpecError if it is not in (0, 1].

    >>> marketer_risk(0.05).sufficient_size
    20
    """
    return _mean("marketer risk", mean)


def journalist_risk(highest: float, population: Any) -> PrivacyModel:
    """The risk of each row that is looked for in a population: k-map with k = 1 / highest.

    `population`: as of `k_map`. SpecError for a risk that is not above 0 and at most 1.

    >>> journalist_risk(0.1, "voters.parquet").safe
    'people >= 10'
    """
    return replace(
        k_map(least_size(_risk("highest journalist risk", highest)), population),
        name="highest journalist risk",
        parameters={"highest": highest},
        safe=f"people >= {least_size(highest)}",
        achieved="MAX(CAST(1 AS DOUBLE) / people)",
    )


def least_size(risk: float) -> int:
    """The least size of a class whose risk, 1 / size, is not above a risk.

    >>> least_size(0.1), least_size(0.3), least_size(1)
    (10, 4, 1)
    """
    size = max(1, ceil(1 / risk) - 1)
    return size if 1 / size <= risk else size + 1


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


def _mean(name: str, most: float) -> ReleaseModel:
    # Merging two classes leaves one less of as many rows; suppressing the smallest raises the mean size.
    risk = _risk(name, most)
    return ReleaseModel(
        name,
        {"mean": most},
        _classes_per_row,
        most,
        least_size(risk),
        "without suppression",
        lambda classes: _smallest_too_many(classes, most),
    )


def _smallest_too_many(classes: Histogram, most: float) -> int:
    """The rows of the fewest of the smallest classes without which there are no more classes per row than that.

    So many must go whatever parts of these classes are kept: a part makes one class or more, of no more rows.
    """
    gone, surplus = 0, sum(many for _, many in classes) - most * _rows(classes)
    for size, many in classes:
        gain = 1 - most * size  # of each class that goes
        if gain <= 0:
            break
        number = min(many, max(0, ceil(surplus / gain - _ROUNDING)))
        gone, surplus = gone + number * size, surplus - number * gain
    return gone


def _classes_per_row(classes: Histogram) -> float:
    return sum(number for _, number in classes) / _rows(classes)


def _above(threshold: float, share: float) -> ReleaseModel:
    # Merging makes no class smaller; the smallest classes are those above the threshold, as long as there are any.
    if not 0 <= share < 1:
        raise SpecError(f"the share of rows above a prosecutor risk is {share}; it must be from 0 to below 1")
    size = least_size(threshold)

    def above(classes: Histogram) -> float:
        return _rows([each for each in classes if each[0] < size]) / _rows(classes)

    def unavoidable(classes: Histogram) -> int:
        """The rows above the threshold that the others, all kept, are too few for; parts of a class are no larger."""
        rows = _rows([each for each in classes if each[0] < size])
        return max(0, rows - floor(share / (1 - share) * (_rows(classes) - rows) + _ROUNDING))

    parameters = {"threshold": threshold, "share": share}
    name = "share of rows above a prosecutor risk"
    return ReleaseModel(name, parameters, above, share, size, "without suppression", unavoidable)


def _rows(classes: Histogram) -> int:
    return sum(size * number for size, number in classes)


def _risk(what: str, risk: float) -> float:
    if not 0 < risk <= 1:
        raise SpecError(f"the {what} is {risk}; it must be above 0 and at most 1, such as 0.05")
    return risk
