"""A condition on a class, and the values of the whole table that it can refer to."""

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

    `nullable`: whether its `value` can be NULL, as values can; codes cannot. `groups`: the rows of a hierarchy: a value
    and the number of its group on level 1, 2, …
    """

    relation: Relation
    nullable: bool = False
    groups: Groups = ()


@dataclass(frozen=True)
class Predicate:
    """A condition of ours as SQL text, `$name` standing for its values: `Predicate("SUM(n) >= $k", {"k": 5})`.

    `columns`: the names of a class's aggregates in the text. `counted`: the column whose values have one row with
    their count `c`. `unit`: the column of the people that are counted instead of rows. `reference`: the values of the
    `counted` column in the whole table. `populated`: whether the table also contains rows of a population (n = 0);
    `population_unit`: the column of its people, if these are counted. `also`: further conditions, with separate names;
    or with `of_figures`, figures of which the greatest counts. `of_kinds`: whether the rows are kinds of classes
    (`sql/kinds.sql`), which have one row per value, and `_size`.
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
    of_kinds: bool = False
