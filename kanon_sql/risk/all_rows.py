"""Figures of sets of columns in all rows of a large table, after the sets were compared in a sample of its rows.

More rows are unique in a sample than in the whole table, because rows with the same values are left out. Here some
combinations of values are chosen instead, by their hash, and all rows with these combinations are counted: what is
extrapolated from them is neither too high nor too low on average. If people have several rows, some people are chosen,
and all people who share their combinations are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Relation, Same
from kanon_sql.risk.people import Unit
from kanon_sql.risk.sets import Names, Sets
from kanon_sql.risk.single_columns import SMALL_CLASS, UNIQUE, ColumnCounts, Gain

_FEW_COMBINATIONS = 50_000  # of a set in the sample; a GROUP BY of all rows is then fast
_CHOSEN_ROWS = 50_000  # at least, for every other set
_CHOSEN_PEOPLE = 20_000  # at least: a share of them is nearly always within a percentage point of that of all


@dataclass(frozen=True)
class _AtRisk:
    """The rows or people that a set of columns makes unique, and those that it puts in small classes."""

    unique: int
    small: int
    estimated: bool = False


def gains_in_all_rows(
    tables: Scratch,
    source: Relation,
    counted: Sequence[ColumnCounts],
    sets: Sets,
    gains: Mapping[str, Gain],
    unit: Unit | None = None,
) -> dict[str, Gain]:
    """The same gains by the figures of all rows, or people; `sets`: with their figures in a sample."""
    if unit:
        return _gains_of_people(tables, source, gains, unit)
    at_risk = {
        Names([column.name]): _AtRisk(column.counts.unique_rows, column.counts.small_rows)
        for column in counted
        if column.counted
    }
    needed = {Names(names) for name, gain in gains.items() for names in (gain.joined, (*gain.joined, name))}
    several = sorted(sorted(names) for names in needed if len(names) > 1)
    few = [names for names in several if sets.figures(names).combinations <= _FEW_COMBINATIONS]
    for names in few:
        at_risk[Names(names)] = _AtRisk(*_counted(tables, source, names))
    at_risk |= _estimated(tables, source, [names for names in several if names not in few], counted[0].rows)
    together = {name: gain for name, gain in gains.items() if gain.joined}
    return dict(gains) | {
        name: _of_all_rows(gain, at_risk[Names(gain.joined)], at_risk[Names((*gain.joined, name))])
        for name, gain in together.items()
    }


def _of_all_rows(gain: Gain, before: _AtRisk, after: _AtRisk) -> Gain:
    estimated = before.estimated or after.estimated
    if gain.of == UNIQUE:
        return replace(gain, before=before.unique, after=after.unique, estimated=estimated)
    return replace(gain, before=before.small, after=after.small, estimated=estimated)


def _gains_of_people(tables: Scratch, source: Relation, gains: Mapping[str, Gain], unit: Unit) -> dict[str, Gain]:
    """The gains among some people, extrapolated to all: their rows are compared with all rows of the table."""
    needed = {Names(names) for name, gain in gains.items() for names in (gain.joined, (*gain.joined, name))}
    columns = sorted(Names().union(*needed))
    one_of = max(1, unit.people // _CHOSEN_PEOPLE)
    query = queries.rows_of_people(source, [*columns, unit.column], unit.column, one_of)
    chosen = tables.create_as("chosen", query)
    at_risk = {Names(): _AtRisk(0, 0)}
    for names in filter(None, needed):
        of_set = sorted(names)
        ((people, unique, small),) = tables.rows(
            "profile/people_at_risk",
            chosen=chosen,
            source=source,
            names=of_set,
            person=[unit.column],
            equal=Same(of_set, "s", "rare"),
            same=Same(of_set, "c", "classes"),
            small=SMALL_CLASS,
        )
        unique, small = (round(unit.people * number / max(1, people)) for number in (unique, small))
        at_risk[names] = _AtRisk(unique, small, estimated=one_of > 1)
    tables.drop(chosen)
    return {
        name: _of_all_rows(gain, at_risk[Names(gain.joined)], at_risk[Names((*gain.joined, name))])
        for name, gain in gains.items()
    }


def _estimated(tables: Scratch, source: Relation, sets: Sequence[Sequence[str]], rows: int) -> dict[Names, _AtRisk]:
    """What sets of columns put at risk, extrapolated from the rows of some combinations."""
    if not sets:
        return {}
    one_of = 1 << max(0, (rows // _CHOSEN_ROWS).bit_length() - 1)
    # The rows for all sets by one read of the source.
    chosen = tables.create_as("combinations", queries.rows_of_combinations(source, sets, one_of))
    at_risk = {}
    for names in sets:
        of_set = tables.view("of_set", queries.rows_of_combinations(chosen, [names], one_of))
        unique_rows, small_rows = (min(rows, one_of * number) for number in _counted(tables, of_set, names))
        at_risk[Names(names)] = _AtRisk(unique_rows, small_rows, estimated=True)
    tables.drop(of_set, chosen)
    return at_risk


def _counted(tables: Scratch, relation: Relation, names: Sequence[str]) -> tuple[int, int]:
    """The unique rows by some columns, and the rows in small classes."""
    ((unique_rows, small_rows),) = tables.rows("profile/small_classes", rows=relation, columns=names, small=SMALL_CLASS)
    return int(unique_rows), int(small_rows)
