"""Population uniqueness: the share of a population that is unique, estimated from a random sample.

Estimated from the sample's class sizes alone; see F. Dankar, K. El Emam, A. Neisa, T. Roffey, "Estimating the
re-identification risk of clinical data sets", BMC Medical Informatics and Decision Making 12:66, 2012.

A sample has s_i classes of i rows, u classes and n rows in all; the population has N = n / fraction.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, inf, lgamma, log, log1p, nan, sqrt
from typing import Literal, TypeAlias, get_args

from kanon_sql.errors import SpecError
from kanon_sql.privacy.release_model import Histogram, ReleaseModel, Sizes

Estimator: TypeAlias = Literal["dankar", "pitman", "zayatz", "snb"]
_SMALL_SAMPLE = 0.1  # up to this sampling fraction Dankar's rule takes Pitman's model
_LARGE = 1e6  # from here on two terms of an asymptotic series are exact to the last digits


def population_uniqueness(share: float, sampling_fraction: float, estimator: Estimator = "dankar") -> ReleaseModel:
    """At most a share of the population is unique by its quasi-identifiers, according to an estimator.

    `sampling_fraction`: the rows of the data over those of the population. A release without an estimate is unsafe. No
    estimator is monotone: merging two classes of several rows can raise the estimate. SpecError for a share not from 0
    to below 1, a fraction not above 0 and at most 1, or another estimator.

    >>> population_uniqueness(0.01, 0.1).sufficient_size
    2
    """
    if not 0 <= share < 1:
        raise SpecError(f"the share of unique people is {share}; it must be from 0 to below 1, such as 0.01")
    if not 0 < sampling_fraction <= 1:
        raise SpecError(
            f"the sampling fraction is {sampling_fraction}; it must be above 0 and at most 1: the rows of the data "
            "over those of the population"
        )
    if estimator not in get_args(Estimator):
        raise SpecError(f"{estimator!r} is not an estimator of uniqueness; choose {', '.join(get_args(Estimator))}")
    parameters = {"share": share, "sampling_fraction": sampling_fraction, "estimator": estimator}

    def unique(classes: Sizes) -> float:
        return estimated_uniqueness([(size, number) for size, number in classes], sampling_fraction, estimator)

    return ReleaseModel("population uniqueness", parameters, unique, share, sufficient_size=2)


def estimated_uniqueness(classes: Histogram, sampling_fraction: float, estimator: Estimator = "dankar") -> float:
    """The share of the population that is unique, 0 to 1; NaN if the estimator finds none.

    0 without a class of one row, since no row of the data is then unique, and exact if the data are the population.

    >>> round(estimated_uniqueness([(1, 40), (2, 20), (3, 10)], 0.1, "zayatz"), 4)
    0.1449
    """
    ones = dict(classes).get(1, 0)
    if ones == 0:
        return 0.0
    if sampling_fraction == 1:
        return ones / _rows(classes)
    share = _ESTIMATORS[estimator](classes, sampling_fraction)
    return 1.0 if share > 1 else share


def _dankar(classes: Histogram, fraction: float) -> float:
    """Dankar's decision rule: Pitman in small samples, otherwise the lesser of SNB and Zayatz."""
    if fraction <= _SMALL_SAMPLE:
        return _pitman(classes, fraction)
    zayatz = _zayatz(classes, fraction)
    snb = _snb(classes, fraction)
    return snb if snb < zayatz else zayatz  # also where SNB has no solution


def _zayatz(classes: Histogram, fraction: float) -> float:
    """L. Zayatz, 1991: Bayes' rule, with the class sizes of the population distributed as in the sample."""
    n = _rows(classes)
    population = n / fraction
    seen_once = sum(number * _seen_once(size, n, population) for size, number in classes)
    ones = dict(classes)[1]
    return ones * (ones * fraction / seen_once) / n


def _seen_once(size: int, n: int, population: float) -> float:
    """The hypergeometric probability that a sample of n contains one row of a class of this size."""
    others = population - n  # of the population, outside the sample
    if size - 1 > others:
        return 0.0
    logarithm = lgamma(population - size + 1) - lgamma(population) + lgamma(others + 1) - lgamma(others - size + 2)
    return size * n / population * exp(logarithm)


def _snb(classes: Histogram, fraction: float) -> float:
    """The slide negative binomial model of G. Chen and S. Keller-McNulty, 1998.

    A class of the population has 1 + X rows, X negative binomial (α, β). α and β are chosen so that the expected s_1
    and s_2 of the sample are the observed ones; of several solutions, the largest estimate counts.
    """
    count = dict(classes)
    kinds = _population_classes(classes, fraction)
    ratio = count.get(2, 0) / count[1]
    if ratio == 0:
        return nan
    model = _SlideNegativeBinomial(fraction, ratio)

    def surplus(y: float) -> float:
        return log(kinds * fraction / count[1]) + model.log_seen_once(y)

    places = [1 / (1 + exp(-step / 10)) for step in range(-250, 251)]
    signs = [(low, high) for low, high in pairwise(places) if surplus(low) * surplus(high) <= 0]
    roots = [_root(surplus, low, high) for low, high in signs]
    return max((kinds * model.unique(root) for root in roots), default=nan) * fraction / _rows(classes)


class _SlideNegativeBinomial:
    """α as a function of y = 1 - β, by the ratio of the expected s_2 and s_1: the positive root of a quadratic."""

    def __init__(self, fraction: float, ratio: float) -> None:
        self._fraction, self._ratio = fraction, ratio

    def _alpha(self, y: float) -> float:
        z = (1 - self._fraction) * y
        x = 1 - z
        a = self._fraction * y * z
        b = self._fraction * y * (1 + x) - 2 * self._ratio * x * z
        c = 2 * self._ratio * x * x
        root = sqrt(b * b + 4 * a * c)
        return 2 * c / (b + root) if b > 0 else (root - b) / (2 * a)

    def log_seen_once(self, y: float) -> float:
        """The logarithm of the expected s_1 over the classes of the population and the fraction."""
        alpha = self._alpha(y)
        z = (1 - self._fraction) * y
        return alpha * log1p(-self._fraction * y / (1 - z)) + log1p(alpha * z / (1 - z))

    def unique(self, y: float) -> float:
        """The share of the population's classes that have one row, β to the α."""
        return exp(self._alpha(y) * log1p(-y))


def _population_classes(classes: Histogram, fraction: float) -> float:
    """The number of classes of the population: Shlosser's estimator, modified by P. Haas and L. Stokes, 1998."""
    q, rest = fraction, 1 - fraction
    seen = sum(i * q * q * (1 - q * q) ** (i - 1) * s for i, s in classes)
    missed = sum(((1 - q * q) ** i - rest**i) * s for i, s in classes)
    unseen = sum(rest**i * s for i, s in classes)
    once = sum(i * q * rest ** (i - 1) * s for i, s in classes)
    return sum(s for _, s in classes) + dict(classes)[1] * (seen / missed) * (unseen / once) ** 2


def _pitman(classes: Histogram, fraction: float) -> float:
    """Pitman's sampling formula, fitted by maximum likelihood as N. Hoshino does, 2001, with 0 <= α < 1.

    The share is the expected number of classes of one row, N (θ+α)(θ+α+1)…(θ+α+N-2) / ((θ+1)…(θ+N-1)), over N;
    Hoshino's Γ(θ+1) / Γ(θ+α) N^α is its limit where θ is small compared with N.
    """
    if classes[-1][0] == 1:
        return 1.0  # all rows differ: the likelihood grows without bound, towards a population of unique rows only
    theta, alpha = _pitman_parameters(classes)
    population = _rows(classes) / fraction
    return exp(_log_gamma_ratio(theta + population, alpha - 1, 0) + _log_gamma_ratio(theta, 1, alpha))


def _pitman_parameters(classes: Histogram) -> tuple[float, float]:
    """θ and α of maximum likelihood, found by maximizing over α with the best θ for every α."""

    def slope(alpha: float) -> float:
        return _slope_of_alpha(classes, _theta(classes, alpha), alpha)

    alpha = 0.0 if slope(0.0) <= 0 else _root(slope, 0.0, 1 - 1e-12)
    return _theta(classes, alpha), alpha


def _theta(classes: Histogram, alpha: float) -> float:
    """The θ above -α that maximizes the likelihood for an α."""
    u = sum(number for _, number in classes)
    n = _rows(classes)

    def slope(logarithm: float) -> float:
        above = exp(logarithm)  # θ + α
        # Times θ + α: without it, both ends are too flat or too steep for interpolation.
        return above * (_sum_of_steps(above, alpha, u - 1) - _sum_of_inverses(above + 1 - alpha, n - 1))

    low, high = -1.0, 1.0
    while slope(low) < 0:
        low -= 2
    while slope(high) > 0:
        high += 2
    return exp(_root(slope, low, high)) - alpha


def _slope_of_alpha(classes: Histogram, theta: float, alpha: float) -> float:
    """The derivative of the log-likelihood with respect to α."""
    u = sum(number for _, number in classes)
    if alpha == 0:
        first = u * (u - 1) / 2 / theta
    else:
        first = (u - 1 - theta * _sum_of_steps(theta + alpha, alpha, u - 1)) / alpha
    return first - sum(number * _sum_of_inverses(1 - alpha, size - 1) for size, number in classes)


def _sum_of_steps(start: float, step: float, terms: int) -> float:
    """1 / start + 1 / (start + step) + …"""
    return terms / start if step == 0 else _sum_of_inverses(start / step, terms) / step


def _sum_of_inverses(start: float, terms: int) -> float:
    """1 / start + 1 / (start + 1) + …: a difference of digammas.

    >>> round(_sum_of_inverses(1, 4), 12) == round(1 + 1 / 2 + 1 / 3 + 1 / 4, 12)
    True
    """
    total = 0.0
    while start < 10 and terms > 0:
        total += 1 / start
        start, terms = start + 1, terms - 1
    return total + log1p(terms / start) + _digamma_rest(start + terms) - _digamma_rest(start) if terms else total


def _digamma_rest(x: float) -> float:
    """The digamma of x minus its logarithm."""
    y = 1 / (x * x)
    return -0.5 / x - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y / 240)))


def _log_gamma_ratio(z: float, a: float, b: float) -> float:
    """The logarithm of Γ(z + a) / Γ(z + b), for an a and a b near 0."""
    if z < _LARGE:
        return lgamma(z + a) - lgamma(z + b)
    return (a - b) * log(z) + log1p((a - b) * (a + b - 1) / (2 * z))


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """The root of f between two points: by the secant (Illinois), or by bisection where that converges too slowly."""
    at_low = f(low)
    at_high = f(high)
    width = inf
    last = 0
    for _ in range(200):
        if at_low == 0 or abs(high - low) <= 1e-13 * max(abs(low), abs(high)):
            return low
        if at_high == 0:
            return high
        halve = abs(high - low) > width / 2
        width = abs(high - low)
        middle = (low + high) / 2 if halve else low - at_low * (high - low) / (at_high - at_low)
        at_middle = f(middle)
        if (at_middle < 0) == (at_low < 0):
            low = middle
            at_low = at_middle
            at_high = at_high / 2 if last < 0 else at_high
            last = -1
        else:
            high = middle
            at_high = at_middle
            at_low = at_low / 2 if last > 0 else at_low
            last = 1
    return (low + high) / 2


def _rows(classes: Histogram) -> int:
    return sum(size * number for size, number in classes)


_ESTIMATORS: dict[str, Callable[[Histogram, float], float]] = {
    "dankar": _dankar,
    "pitman": _pitman,
    "zayatz": _zayatz,
    "snb": _snb,
}
