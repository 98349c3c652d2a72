"""Sensitive columns: how much of somebody's value their class tells, by the models that releases are held to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine
from kanon_sql.privacy import Finding, PrivacyModel, l_diversity, t_closeness
from kanon_sql.queries import Relation
from kanon_sql.release.findings import Homogeneous


@dataclass(frozen=True)
class Sensitive:
    """What the classes of a table tell of one sensitive column; NULL is a value.

    `distinct_l`, `entropy_l`: the worst class's diversity. `t_equal`, `t_ordered`: the largest distance of a class from
    the whole table, None for values without an order. `entropy_l` and these are None too where people are counted and
    some have several values: their shares do not add up to 1. `homogeneous_people`: None where rows count.
    `attribution`: the mean probability of guessing somebody's value by the most frequent one of their class, `guess`:
    by that of the whole table; where people count, somebody in two classes counts in each. `certain`: the people (or
    rows) that are in a class that makes it 1.
    """

    column: str
    distinct_l: int | None
    entropy_l: float | None
    t_equal: float | None
    t_ordered: float | None
    homogeneous_classes: int
    homogeneous_rows: int
    homogeneous_people: int | None
    attribution: float
    guess: float
    certain: int


def models(column: Column) -> Mapping[str, PrivacyModel]:
    """The models that measure a sensitive column; each holds of every class, and tells what the worst one is."""
    return dict(_models(column.name, column.ordered))


def _models(column: str, ordered: bool) -> Iterator[tuple[str, PrivacyModel]]:
    yield "distinct_l", l_diversity(column, 1)
    yield "entropy_l", l_diversity(column, 1, "entropy")
    yield "t_equal", t_closeness(column, 1)
    if ordered:
        yield "t_ordered", t_closeness(column, 1, "ordered")
    yield "right", _measure(column, "SUM(most)")
    yield "certain", _measure(column, "SUM(CASE WHEN most = rows THEN rows ELSE 0 END)")
    yield "guess", _measure(column, "MAX(CAST(overall AS DOUBLE) / whole)", overall="MAX(overall_c)")


def _measure(column: str, achieved: str, **more: str) -> PrivacyModel:
    """A figure of all classes, in the form of a model that holds of each of them."""
    columns = {"rows": "SUM(n)", "most": "MAX(c)"}
    if more:
        columns |= {**more, "whole": "MAX(overall_size)"}
    return PrivacyModel(f"attribution of {column}", {}, columns, "rows >= 1", column, achieved=achieved)


def certain_people(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str], column: str, unit: str) -> int:
    """How many people are in a class in which one value of a column is everybody's."""
    plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
    holes: dict[str, Any] = {"quasi_identifiers": plain, "names": list(plain), "value": [column], "unit": [unit]}
    ((people,),) = engine.rows(queries.text("risk/certain_people", engine.dialect, release=relation, **holes))
    return int(people)


def sensitive(column: str, found: Mapping[str, Finding], homogeneous: Homogeneous, members: int) -> Sensitive:
    """What the findings of the models of one column come to, in classes of so many members (people or rows)."""
    figures: dict[str, Any] = {name: finding.achieved for name, finding in found.items()}
    figures.setdefault("t_ordered", None)
    figures["attribution"] = figures.pop("right") / members
    for name in ("classes", "rows", "people"):
        figures[f"homogeneous_{name}"] = getattr(homogeneous, name)
    return Sensitive(column, **figures)
