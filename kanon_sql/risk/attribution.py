"""Sensitive columns: how much a class reveals of a person's value, measured with the models of releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kanon_sql.engine import Column
from kanon_sql.privacy import Finding, PrivacyModel, l_diversity, t_closeness
from kanon_sql.release.findings import Homogeneous


@dataclass(frozen=True)
class Sensitive:
    """What the classes of a table reveal of one sensitive column; NULL is a value.

    `distinct_l`, `entropy_l`: the lowest diversity of a class. `t_equal`, `t_ordered`: the largest distance of a class
    from the whole table, None for values without an order. `entropy_l` and these are also None if people are counted
    and some have several values: shares do not add up to 1 then. `homogeneous_people`: None if rows count.
    `attribution`: the mean probability of guessing a person's value by the most frequent one of their class, `guess`:
    by that of the whole table; a person in two classes counts twice. `certain`: the people (or rows) in classes where
    the probability is 1.
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
    """Models that every class satisfies, which measure a sensitive column by the worst class."""
    name = column.name
    found = {
        "distinct_l": l_diversity(name, 1),
        "entropy_l": l_diversity(name, 1, "entropy"),
        "t_equal": t_closeness(name, 1),
    }
    if column.ordered:
        found["t_ordered"] = t_closeness(name, 1, "ordered")
    found["right"] = _measure(name, "SUM(most)")
    found["certain"] = _measure(name, "SUM(CASE WHEN most = rows THEN rows ELSE 0 END)")
    found["guess"] = _measure(name, "MAX(CAST(overall AS DOUBLE) / whole)", overall="MAX(overall_c)")
    return found


def _measure(column: str, achieved: str, **more: str) -> PrivacyModel:
    """A figure of all classes, in the form of a model that every class satisfies."""
    columns = {"rows": "SUM(n)", "most": "MAX(c)"}
    if more:
        columns |= {**more, "whole": "MAX(overall_size)"}
    return PrivacyModel(f"attribution of {column}", {}, columns, "rows >= 1", column, achieved=achieved)


def sensitive(column: str, found: Mapping[str, Finding], homogeneous: Homogeneous, members: int) -> Sensitive:
    """The figures of one column from the findings of its models; `members`: the sum of the class sizes."""
    figures: dict[str, Any] = {name: finding.achieved for name, finding in found.items()}
    figures.setdefault("t_ordered", None)
    figures["attribution"] = figures.pop("right") / members
    for name in ("classes", "rows", "people"):
        figures[f"homogeneous_{name}"] = getattr(homogeneous, name)
    if homogeneous.people is not None:
        figures["certain"] = homogeneous.people
    return Sensitive(column, **figures)
