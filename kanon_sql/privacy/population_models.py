"""k-map (L. Sweeney, 2002) and δ-presence (M. Nergiz, M. Atzori, C. Clifton, SIGMOD 2007)."""

from __future__ import annotations

from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.privacy.model import PrivacyModel


def k_map(k: int, population: Any) -> PrivacyModel:
    """Every released class corresponds to at least k rows of a population, of which the source is a sample.

    `population`: the name of a table or file with the quasi-identifiers, or the data themselves. SpecError below 1.

    >>> k_map(5, "voters.parquet").safe
    'people >= $k'
    """
    if k < 1:
        raise SpecError(f"k of k-map is {k}; it must be at least 1")
    return PrivacyModel(
        "k-map",
        {"k": k},
        columns={"people": "SUM(population)"},
        safe="people >= $k",
        monotone="always",
        achieved="MIN(people)",
        population_size=k,
        population=required_population(population, "k-map"),
    )


def delta_presence(minimum: float, maximum: float, population: Any) -> PrivacyModel:
    """A share between two bounds of the population's rows of every class is released: membership stays uncertain.

    The share of a class without a released row is 0: with a minimum above 0, every class of the population must be in
    the release, so that no row can be suppressed. SpecError unless 0 <= minimum <= maximum <= 1, and for bounds of 0
    and 1, which require nothing.

    >>> delta_presence(0, 0.5, "voters.parquet").required
    {'min': 0, 'max': 0.5}
    """
    if not 0 <= minimum <= maximum <= 1 or maximum == 0:
        raise SpecError(
            f"the presence is between {minimum} and {maximum}; the bounds must be from 0 to 1, the lower one "
            "first, and the upper one above 0"
        )
    if minimum == 0 and maximum == 1:
        raise SpecError("a presence between 0 and 1 requires nothing; raise the lower bound, or lower the upper one")
    return PrivacyModel(
        "δ-presence",
        {"min": minimum, "max": maximum},
        columns={"rows": "SUM(n)", "people": "SUM(population)"},
        safe="rows >= $min * people AND rows <= $max * people",
        monotone="without suppression",
        achieved=f"{'MAX' if maximum < 1 else 'MIN'}(CAST(rows AS DOUBLE) / NULLIF(people, 0))",
        population=required_population(population, "δ-presence"),
        every_class=minimum > 0,
        unavoidable="rows - $max * people",  # a part of the class corresponds to no more people
    )


def required_population(population: Any, model: str) -> Any:
    """The population of a model; SpecError if it is missing."""
    if population is None or (isinstance(population, str) and not population.strip()):
        raise SpecError(f"{model} needs a population; name a table or a file with the quasi-identifiers")
    return population
