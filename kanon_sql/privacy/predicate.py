"""A condition on a class, and what it may need to know of the whole table's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.privacy.parameters import Parameter
from kanon_sql.relation import Relation

Groups = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Reference:
    """The values of a sensitive column in the whole table, one row each; see `sql/privacy.sql`.

    `nullable`: whether its `value` may be NULL, as the values themselves are; codes are not. `groups`: the rows of a
    hierarchy, each a value and the number of its group on level 1, 2, …
    """

    relation: Relation
    nullable: bool = False
    groups: Groups = ()


@dataclass(frozen=True)
class Predicate:
    """A condition of ours as SQL text, `$name` standing for its values: `Predicate("SUM(n) >= $k", {"k": 5})`.

    `columns`: names in the text that stand for aggregates of a class. `counted`: the column whose values `c` counts
    the rows of, one row per value. `unit`: the column of the people that are counted instead of rows. `reference`: what
    the values of the `counted` column are in the whole table. `populated`: whether rows of a population (n = 0) stand
    among those of the table; `population_unit`: the column of its people, where these are counted. `also`: conditions
    that must hold too, each with names of its own; or `of_figures`, figures of which
    the greatest counts.
    """

    text: str
    values: Mapping[str, Parameter] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    counted: str | None = None
    unit: str | None = None
    reference: Reference | None = None
    populated: bool = False
    population_unit: str | None = None
    also: tuple[Predicate, ...] = ()
    of_figures: bool = False
