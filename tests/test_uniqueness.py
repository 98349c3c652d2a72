"""Estimators of population uniqueness: against their formulas term by term, and known populations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import comb, exp, isnan, lgamma, log
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_sql.errors import SpecError
from kanon_sql.privacy import Histogram, estimated_uniqueness, population_uniqueness, uniqueness
from support.examples import examples

HISTOGRAMS = st.dictionaries(st.integers(1, 40), st.integers(1, 60), min_size=1, max_size=8).map(
    lambda sizes: sorted(sizes.items())
)
WITH_ONES = HISTOGRAMS.map(lambda classes: [(1, 7), *(class_ for class_ in classes if class_[0] > 1)])
FRACTIONS = st.sampled_from([0.001, 0.05, 0.1, 0.25, 0.5, 0.9])
EXAMPLES = examples(60)


def histogram(sizes: Iterable[int]) -> Histogram:
    return sorted(Counter(size for size in sizes if size).items())


def rows(classes: Histogram) -> int:
    return sum(size * number for size, number in classes)


# Populations


def seated(rows: int, theta: float, alpha: float, draw: Random) -> list[int]:
    """A population by Pitman's formula: everybody begins a class, or joins one, by its size less α."""
    sizes: list[int] = []
    seats: list[int] = []
    for seated in range(rows):
        if draw.random() * (theta + seated) < theta + len(sizes) * alpha:
            seats.append(len(sizes))
            sizes.append(1)
            continue
        while draw.random() * sizes[joined := draw.choice(seats)] < alpha:
            pass  # refused: chosen by its size, and kept by the share that α leaves of it
        sizes[joined] += 1
        seats.append(joined)
    return sizes


def slide_negative_binomial(classes: int, alpha: float, beta: float, draw: Random) -> list[int]:
    """Classes of 1 + X rows, X Poisson with a Gamma(α) mean."""
    return [1 + poisson(draw.gammavariate(alpha, (1 - beta) / beta), draw) for _ in range(classes)]


def poisson(mean: float, draw: Random) -> int:
    events, left = -1, mean
    while left >= 0:
        left -= draw.expovariate(1)
        events += 1
    return events


def sampled(population: list[int], fraction: float, draw: Random) -> Histogram:
    people = [number for number, size in enumerate(population) for _ in range(size)]
    return histogram(Counter(draw.sample(people, round(fraction * len(people)))).values())


def truly_unique(population: list[int]) -> float:
    return population.count(1) / sum(population)


@pytest.mark.parametrize(("theta", "alpha"), [(50, 0.5), (400, 0.25), (2000, 0.0)])
@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.4])
def test_pitman_finds_how_many_are_unique_in_its_populations(theta: float, alpha: float, fraction: float) -> None:
    draw = Random(1)
    population = seated(20_000, theta, alpha, draw)
    estimate = estimated_uniqueness(sampled(population, fraction, draw), fraction, "pitman")
    assert estimate == pytest.approx(truly_unique(population), rel=0.25)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 0.3), (0.5, 0.1), (5, 0.8)])
def test_snb_finds_how_many_are_unique_in_its_populations(alpha: float, beta: float) -> None:
    draw = Random(1)
    population = slide_negative_binomial(8_000, alpha, beta, draw)
    estimate = estimated_uniqueness(sampled(population, 0.5, draw), 0.5, "snb")
    assert estimate == pytest.approx(truly_unique(population), rel=0.15)


@pytest.mark.parametrize("population", [[1, 2, 3, 4] * 2_000, [1] * 900 + [5] * 900])
def test_zayatz_comes_near_in_a_large_sample(population: list[int]) -> None:
    estimate = estimated_uniqueness(sampled(population, 0.9, Random(1)), 0.9, "zayatz")
    assert estimate == pytest.approx(truly_unique(population), rel=0.1)


@pytest.mark.parametrize("estimator", ["dankar", "pitman", "zayatz", "snb"])
def test_data_that_are_the_population_are_not_estimated(estimator: uniqueness.Estimator) -> None:
    assert estimated_uniqueness([(1, 3), (2, 1)], 1.0, estimator) == 3 / 5


@EXAMPLES
@given(classes=HISTOGRAMS, fraction=FRACTIONS, estimator=st.sampled_from(["dankar", "pitman", "zayatz", "snb"]))
@example(classes=[(1, 1)], fraction=0.1, estimator="pitman")
@example(classes=[(1, 10**6), (2, 1)], fraction=1e-6, estimator="pitman")
@example(classes=[(1, 1), (10**7, 1)], fraction=0.001, estimator="dankar")
@example(classes=[(1, 1), (10**7, 1)], fraction=0.5, estimator="snb")
def test_every_estimate_is_a_share(classes: Histogram, fraction: float, estimator: uniqueness.Estimator) -> None:
    share = estimated_uniqueness(classes, fraction, estimator)
    assert 0 <= share <= 1 or (estimator == "snb" and isnan(share))
    if classes[0][0] > 1:
        assert share == 0


# The formulas, term by term


@EXAMPLES
@given(classes=WITH_ONES, fraction=st.sampled_from([0.1, 0.25, 0.5]))
def test_zayatz_is_bayes_on_hypergeometric_samples(classes: Histogram, fraction: float) -> None:
    n, kinds = rows(classes), sum(number for _, number in classes)
    population = round(n / fraction)
    if population * fraction != n:  # combinations are of whole numbers
        return

    def seen_once(size: int) -> Fraction:
        return Fraction(size * comb(population - size, n - 1), comb(population, n))

    shares = {size: Fraction(number, kinds) for size, number in classes}
    unique = shares[1] * seen_once(1) / sum(share * seen_once(size) for size, share in shares.items())
    expected = dict(classes)[1] * unique * population / n / population
    assert estimated_uniqueness(classes, fraction, "zayatz") == pytest.approx(float(expected), rel=1e-9)


def log_likelihood(classes: Histogram, theta: float, alpha: float) -> float:
    """Pitman's sampling formula without what θ and α do not change."""
    u = sum(number for _, number in classes)
    kinds = sum(log(theta + i * alpha) for i in range(1, u))
    total = sum(log(theta + i) for i in range(1, rows(classes)))
    return kinds - total + sum(number * log(i - alpha) for size, number in classes for i in range(1, size))


@EXAMPLES
@given(classes=WITH_ONES.filter(lambda classes: len(classes) > 1))
@example(classes=[(1, 300), (2, 1)])
@example(classes=[(1, 1), (40, 30)])
def test_no_nearby_parameters_are_likelier(classes: Histogram) -> None:
    theta, alpha = uniqueness._pitman_parameters(classes)
    assert 0 <= alpha < 1
    assert theta > -alpha
    best = log_likelihood(classes, theta, alpha)
    for step in (1e-3, 1e-2, 0.1, 0.5):
        for up, down in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            other = max(0.0, min(1 - 1e-9, alpha + down * step * (1 - alpha)))
            near = (theta + alpha) * (1 + step) ** up - other
            assert log_likelihood(classes, near, other) <= best + 1e-7


def arrangements(left: int, theta: Fraction, alpha: Fraction) -> Iterator[tuple[list[int], Fraction]]:
    """All ways in which so many people are seated by Pitman's rule, each with its probability."""
    if left == 0:
        yield [], Fraction(1)
        return
    for sizes, probability in arrangements(left - 1, theta, alpha):
        begins = Fraction(1) if not sizes else (theta + len(sizes) * alpha) / (theta + left - 1)
        yield [*sizes, 1], probability * begins
        for j, size in enumerate(sizes):
            joins = (size - alpha) / (theta + left - 1)
            yield [*sizes[:j], size + 1, *sizes[j + 1 :]], probability * joins


@pytest.mark.parametrize(("theta", "alpha"), [(Fraction(2), Fraction(1, 4)), (Fraction(-1, 4), Fraction(1, 2))])
def test_the_expected_number_of_unique_people_is_pitmans(theta: Fraction, alpha: Fraction) -> None:
    people = 6
    expected = sum(sizes.count(1) * share for sizes, share in arrangements(people, theta, alpha)) / people
    z, a = float(theta), float(alpha)
    ours = uniqueness._log_gamma_ratio(z + people, a - 1, 0) + uniqueness._log_gamma_ratio(z, 1, a)
    assert exp(ours) == pytest.approx(float(expected))


@pytest.mark.parametrize(("a", "b"), [(-0.5, 0.0), (1.0, 0.3)])
def test_both_forms_of_a_gamma_ratio_agree(a: float, b: float) -> None:
    z = 2 * uniqueness._LARGE
    assert uniqueness._log_gamma_ratio(z, a, b) == pytest.approx(lgamma(z + a) - lgamma(z + b), abs=1e-7)


def expected_seen(times: int, fraction: float, alpha: float, beta: float) -> float:
    """The share of the population's classes of which a sample has so many rows: summed over their sizes."""
    total = 0.0
    for size in range(max(1, times), 3_000):
        x = size - 1
        of_size = exp(lgamma(alpha + x) - lgamma(alpha) - lgamma(x + 1) + alpha * log(beta) + x * log(1 - beta))
        total += of_size * comb(size, times) * fraction**times * (1 - fraction) ** (size - times)
    return total


@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.8])
@pytest.mark.parametrize(("alpha", "beta"), [(0.4, 0.1), (1.0, 0.5), (6.0, 0.9)])
def test_alpha_of_snb_leads_to_the_expected_counts(fraction: float, alpha: float, beta: float) -> None:
    once, twice = (expected_seen(times, fraction, alpha, beta) for times in (1, 2))
    model = uniqueness._SlideNegativeBinomial(fraction, twice / once)
    assert model._alpha(1 - beta) == pytest.approx(alpha, rel=1e-6)
    assert exp(model.log_seen_once(1 - beta)) * fraction == pytest.approx(once, rel=1e-6)
    assert model.unique(1 - beta) == pytest.approx(beta**alpha)


@EXAMPLES
@given(classes=WITH_ONES, fraction=st.sampled_from([0.1, 0.3, 0.7]))
def test_the_classes_of_the_population_are_shlossers(classes: Histogram, fraction: float) -> None:
    q, p = Fraction(str(fraction)), 1 - Fraction(str(fraction))
    first = sum(i * q**2 * (1 - q**2) ** (i - 1) * s for i, s in classes)
    first /= sum(p**i * ((1 + q) ** i - 1) * s for i, s in classes)
    second = sum(p**i * s for i, s in classes) / sum(i * q * p ** (i - 1) * s for i, s in classes)
    expected = sum(s for _, s in classes) + dict(classes)[1] * first * second**2
    assert uniqueness._population_classes(classes, fraction) == pytest.approx(float(expected))


@EXAMPLES
@given(classes=WITH_ONES, fraction=FRACTIONS)
def test_dankars_rule_chooses_by_the_sampling_fraction(classes: Histogram, fraction: float) -> None:
    chosen = estimated_uniqueness(classes, fraction, "dankar")
    pitman, zayatz, snb = (estimated_uniqueness(classes, fraction, name) for name in ("pitman", "zayatz", "snb"))
    assert chosen == (pitman if fraction <= 0.1 else zayatz if isnan(snb) else min(snb, zayatz))


# What no estimator has


@pytest.mark.parametrize(
    ("estimator", "fraction", "before", "after"),
    [
        ("zayatz", 0.3, [(1, 1), (2, 2)], [(1, 1), (4, 1)]),
        ("pitman", 0.05, [(1, 2), (2, 1), (4, 1)], [(1, 2), (6, 1)]),
        ("dankar", 0.3, [(1, 1), (2, 2)], [(1, 1), (4, 1)]),
        ("snb", 0.3, [(1, 60), (2, 30), (3, 10), (4, 2)], [(1, 60), (2, 30), (3, 8), (4, 2), (6, 1)]),
    ],
)
def test_merging_classes_of_several_rows_can_raise_the_estimate(
    estimator: uniqueness.Estimator, fraction: float, before: Histogram, after: Histogram
) -> None:
    assert rows(before) == rows(after)
    share = estimated_uniqueness(before, fraction, estimator)
    assert estimated_uniqueness(after, fraction, estimator) > share
    assert population_uniqueness(share, fraction, estimator).monotone == "never"


# Bad input


@pytest.mark.parametrize(
    ("share", "fraction", "estimator", "message"),
    [
        (1.0, 0.1, "dankar", "from 0 to below 1"),
        (-0.1, 0.1, "dankar", "from 0 to below 1"),
        (0.1, 0.0, "dankar", "the rows of the data over those of the population"),
        (0.1, 10, "dankar", "above 0 and at most 1"),
        (0.1, 0.1, "hoshino", "choose dankar, pitman, zayatz, snb"),
        (0.1, float("nan"), "dankar", "above 0 and at most 1"),
    ],
)
def test_sources_without_a_possible_estimate_are_refused(
    share: float, fraction: float, estimator: str, message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        population_uniqueness(share, fraction, estimator)  # type: ignore[arg-type]


def test_an_estimate_that_is_not_found_is_unsafe() -> None:
    model = population_uniqueness(0.99, 0.3, "snb")
    classes = [(1, 1), (3, 1)]  # no class of two, so that the two equations have no solution
    assert not model.holds(classes)
    assert model.achieved(classes) is None
    assert model.least_class_size(classes) == 2
