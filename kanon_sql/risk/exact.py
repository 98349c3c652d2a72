"""Columns that a release shows unchanged: how many rows or people they identify together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Relation
from kanon_sql.risk.single_columns import listed, percent

MOST_UNIQUE = 0.01  # of the rows or people that unchanged columns may identify without a warning


@dataclass(frozen=True)
class Exact:
    """Columns that are released unchanged, and the number of people or rows that are unique by their values."""

    columns: tuple[str, ...]
    singled_out: int
    counted: int
    by_people: bool

    @property
    def too_many(self) -> bool:
        """Whether more people or rows are unique than allowed."""
        return self.singled_out > MOST_UNIQUE * self.counted

    @property
    def warning(self) -> str:
        """The warning about the release."""
        share = percent(self.singled_out, self.counted)
        whom = "people" if self.by_people else "rows"
        together = f"together in {listed(self.columns)}" if len(self.columns) > 1 else f"in {self.columns[0]!r}"
        return (
            f"{share} of the {whom} have values that no other has {together}, which a release shows unchanged: anyone "
            "who knows these values finds the row; generalize such columns with `quasi_identifiers`, or drop them"
        )


def exact(tables: Scratch, source: Relation, columns: Sequence[str], unit: str | None) -> Exact:
    """Count the unique people or rows by the values of some columns, in one query on the source; NULL is a value."""
    if not columns:
        return Exact((), 0, 0, unit is not None)
    if unit is None:
        found = tables.rows("risk/exact_rows", columns=list(columns), source=source)
    else:
        named = {f"value_{place}": name for place, name in enumerate(columns)}
        found = tables.rows("risk/exact_people", unit=[unit], columns=named, values=list(named), source=source)
    ((singled_out, counted),) = found
    return Exact(tuple(columns), int(singled_out or 0), int(counted or 0), unit is not None)
