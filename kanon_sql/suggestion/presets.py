"""Presets: standard data models, whose tables and columns need no guessing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kanon_sql.engine import Column
from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Relation

Levels = tuple[Mapping[Any, str], ...]  # the label of each value, per level
LevelsOf = Callable[[Scratch, Mapping[str, Relation], Collection[Any]], Levels]


@dataclass(frozen=True)
class PresetColumn:
    """The role of a column by a preset, and the reason.

    For a quasi-identifier: `recipe` and `why` of its hierarchy, without which it is suggested as usual; `levels_of`:
    its levels, from the values and other tables of the database, if these have them. `weight`: how much it counts in
    the loss that the search minimizes.
    """

    role: str
    reason: str
    recipe: Any = None
    why: str = ""
    levels_of: LevelsOf | None = None
    weight: float | None = None


@dataclass(frozen=True)
class Preset:
    """A data model: its table of people, why tables are left out, and the roles of columns.

    `column`: by the name of the table in small letters, the column, and the table that its rows refer to in addition to
    the people. The functions return None for tables and columns that are not special.
    """

    name: str
    title: str
    unit: str
    left_out: Callable[[str], str | None]
    column: Callable[[str, Column, str | None], PresetColumn | None]
