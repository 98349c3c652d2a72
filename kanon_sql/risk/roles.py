"""Roles: which columns a release keeps unchanged, which it drops, and which of the kept ones may identify people.

A column without a role is dropped, unless `keep` names it. Kept columns are counted in all rows, in the engine of the
source; the results are counts, never values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.hints import IDENTIFIER, name_hint, names_people
from kanon_sql.risk.security_labels import Labelled, contradictions, labelled
from kanon_sql.spec import EVERY, ReleaseSpec

UNIQUE_SHARE = 0.9  # of a column's values that are different
_SAMPLE = 100_000  # rows on which pairs of columns are counted
_FEWEST = 20  # rows below which only names and formats are evidence
_ANYWHERE = (  # found by `sql/kept_columns.sql` inside a text, so that one row is enough
    *("e-mail addresses", "telephone numbers", "names after a title", "IBANs", "UUIDs", "national identity numbers"),
)
_WRITTEN = ("telephone numbers", "network addresses", "national identity numbers")  # and formats of whole texts
_MOSTLY_WRITTEN = 0.5  # of a column's values, in one of these formats
_LONG_ONCE = 0.01  # of a column's values: long texts that occur once
FREE_TEXT_DIFFERENT, FREE_TEXT_CHARACTERS, FREE_TEXT_WORDS = 0.5, 20, 4
_LAMBDA, _CORRELATION = 0.9, 0.95
_LEAST_SHARE, _LEAST_WRONG = 0.05, 10  # of the rows with a guess; of the rows that the best blind guess gets wrong
_PAIRED_ROWS, _PAIRED_CELLS = (2_000, 10_000), 4_000_000
RoleReasons = Iterator[tuple[str, str]]
_LEAST_NAMED, _ENOUGH_NAMED, _ENOUGH_NAMES = 3, 100, 10


@dataclass(frozen=True)
class Suspect:
    """A column that a release would keep unchanged, and why it should not, as the end of "the column …"."""

    column: str
    reason: str


@dataclass(frozen=True)
class Roles:
    """The columns without a role that are kept or dropped, and suspects among the kept ones."""

    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    labels: tuple[Labelled, ...] = ()
    contradictions: tuple[str, ...] = ()
    """Where the treatment of a column contradicts its labels by the table's owner."""

    @property
    def warnings(self) -> list[str]:
        """Warnings about suspicious columns that are kept."""
        suspected = (f"the column {s.column!r} is released unchanged, and {s.reason}" for s in self.suspects)
        return [*suspected, *self.contradictions]

    def described(self) -> dict[str, Any]:
        """The roles in the manifest."""
        labels = {label.column: label.role for label in self.labels}
        return {"kept": list(self.kept), "dropped": list(self.dropped), **({"labels": labels} if labels else {})}


def settle(engine: Engine, table: Table, spec: ReleaseSpec) -> tuple[Table, Roles]:
    """Remove the columns without a role from a table, except those in `keep`, which are examined."""
    named = spec.named
    free = [column for column in table.columns if column.name not in named]
    kept = [column for column in free if spec.keep == EVERY or column.name in spec.kept_by_name]
    dropped = tuple(column.name for column in free if column not in kept)
    suspected = suspects(engine, table, kept, _quasi_identifiers(table, spec))
    narrow = replace(table, columns=tuple(c for c in table.columns if c.name not in dropped))
    labels, names = labelled(engine, table), tuple(column.name for column in kept)
    contradicted = tuple(contradictions(labels, spec, names))
    return narrow, Roles(names, dropped, tuple(suspected), labels, contradicted)


def suspects(engine: Engine, table: Table, kept: Sequence[Column], quasi: Sequence[Column]) -> list[Suspect]:
    """The kept columns that contain identifiers or free text, or nearly determine a quasi-identifier.

    Counts all rows, except for pairs of columns; with fewer than 20 rows only names and formats are evidence. The
    result is in the table's order, with all reasons per column.
    """
    if not kept:
        return []
    found: dict[str, list[str]] = {column.name: [] for column in kept}
    with Scratch(engine, "kept") as tables:
        evidence = _Evidence(tables, table, kept, quasi)
        for reasons in (evidence.by_name, evidence.by_format, evidence.by_free_text, evidence.by_difference):
            for name, reason in reasons(kept):
                found[name].append(reason)
        for name, reason in evidence.by_determining([column for column in kept if not found[column.name]]):
            found[name] = [reason]
    return [Suspect(name, _joined(reasons)) for name, reasons in found.items() if reasons]


def _joined(reasons: Sequence[str]) -> str:
    *others, last = reasons
    return f"{', '.join(others)}, and {last}" if others else last


@dataclass(frozen=True)
class _Texts:
    """The result of `sql/kept_columns.sql`: rows by formats inside their texts, of whole texts, and by length."""

    filled: int
    different: int
    inside: Sequence[int]
    whole: Sequence[int]
    long: int
    once: int

    @property
    def formats(self) -> Iterator[tuple[str, int]]:
        rows = dict(zip(_ANYWHERE, self.inside, strict=True))
        for what, count in zip(_WRITTEN, self.whole, strict=True):
            if count >= _MOSTLY_WRITTEN * self.filled:
                rows[what] = max(count, rows.get(what, 0))
        yield from ((what, count) for what, count in rows.items() if count)

    @property
    def is_free(self) -> bool:
        """Whether many long texts are not repeated labels."""
        repeated = self.different < FREE_TEXT_DIFFERENT * self.filled or self.long < FREE_TEXT_DIFFERENT * self.filled
        return self.long >= _FEWEST and (not repeated or self.once >= max(_FEWEST, _LONG_ONCE * self.filled))


class _Evidence:
    """Reasons against keeping columns, from counts of all rows and of pairs in a sample."""

    def __init__(self, tables: Scratch, table: Table, kept: Sequence[Column], quasi: Sequence[Column]) -> None:
        self._tables, self._table, self._quasi = tables, table, list(quasi)
        self._plain = queries.plain_names([column.name for column in (*kept, *quasi)])
        self.rows = tables.count(table.relation)
        self._texts = self._texts_of([column for column in kept if not _sorted_by_value(column)])
        figures = self._figures_of([column for column in kept if _sorted_by_value(column)])
        figures |= {name: (texts.filled, texts.different) for name, texts in self._texts.items()}
        self._filled = {name: filled for name, (filled, _) in figures.items()}
        self._different = {name: different for name, (_, different) in figures.items()}
        self._sampled = False

    def by_name(self, columns: Sequence[Column]) -> RoleReasons:
        for column in columns:
            if named_identifier(column, self._different[column.name], self.rows):
                yield column.name, "is an identifier by its name"

    def by_format(self, columns: Sequence[Column]) -> RoleReasons:
        for column in columns:
            texts = self._texts.get(column.name)
            if texts and texts.different > 1:
                for what, count in texts.formats:
                    yield column.name, f"contains {what} in {_rows(count)}"

    def by_free_text(self, columns: Sequence[Column]) -> RoleReasons:
        for column in columns:
            texts = self._texts.get(column.name)
            if texts and texts.is_free:
                yield column.name, f"is free text in {_rows(texts.long)}"

    def by_difference(self, columns: Sequence[Column]) -> RoleReasons:
        for column in columns:
            filled, different = self._filled[column.name], self._different[column.name]
            if filled >= _FEWEST and different >= UNIQUE_SHARE * filled:
                yield column.name, f"differs in nearly every row ({different:,} values in {_rows(filled)})"

    def by_determining(self, columns: Sequence[Column]) -> RoleReasons:
        kept = [column for column in columns if column.kind != "other" and self._different[column.name] > 1]
        quasi = [column for column in self._quasi if column.kind != "other"]
        if self.rows < _FEWEST or not kept or not quasi:
            return
        self._create_cells(kept, quasi)
        for column, determined in (*self._guessed(kept, quasi), *self._ranked(kept, quasi)):
            yield column.name, f"nearly determines {determined.name!r}"

    def _figures_of(self, columns: Sequence[Column]) -> dict[str, tuple[int, int]]:
        """The rows with a value, and the different values, of columns that are compared by value."""
        rows = self._counted("kept_columns/kept_figures", columns)
        return {name: (filled, different) for name, (filled, different) in rows.items()}

    def _texts_of(self, columns: Sequence[Column]) -> dict[str, _Texts]:
        """The same and further counts for columns that are compared as text."""
        least = {"characters": FREE_TEXT_CHARACTERS, "words": FREE_TEXT_WORDS}
        rows = self._counted("kept_columns/kept_texts", columns, **least)
        written = 2 + len(_ANYWHERE)
        return {
            name: _Texts(counts[0], counts[1], counts[2:written], counts[written:-2], counts[-2], counts[-1])
            for name, counts in rows.items()
        }

    def _counted(self, query: str, columns: Sequence[Column], **holes: int) -> dict[str, list[int]]:
        """The counts of a query over all rows, by column."""
        texts = [
            self._tables.text(query, number=number, column=[column.name], source=self._table.relation, **holes)
            for number, column in enumerate(columns)
        ]
        rows = self._tables.rows_as(queries.union_all(texts)) if texts else []
        return {columns[number].name: [int(count) for count in counts] for number, *counts in rows}

    def _split(self, columns: Sequence[Column]) -> tuple[dict[str, str], dict[str, str]]:
        """Plain names (new: old) of the columns that are compared by value, and of columns compared as text."""
        named = {self._plain[c.name]: c for c in columns}
        natives = {plain: c.name for plain, c in named.items() if _sorted_by_value(c)}
        return natives, {plain: c.name for plain, c in named.items() if plain not in natives}

    def _sample(self) -> None:
        """Create the sample of rows on which pairs are counted; more pairs of columns mean fewer rows."""
        if self._sampled:
            return
        columns = [column for column in self._table.columns if column.name in self._plain]
        natives, texts = self._split(columns)
        pairs = max(1, (len(columns) - len(self._quasi)) * len(self._quasi))
        fewest, most = _PAIRED_ROWS
        wanted = max(fewest, min(most, _PAIRED_CELLS // pairs))
        self._tables.create(
            "sample",
            "kept_columns/kept_sample",
            source=self._table.relation,
            columns={**natives, **texts},
            natives=list(natives),
            texts=list(texts),
            most=_SAMPLE,
            stride=max(1, ceil(min(self.rows, _SAMPLE) / wanted)),
        )
        self._sampled = True

    def _create_cells(self, kept: Sequence[Column], quasi: Sequence[Column]) -> None:
        self._sample()
        sampled = self._tables["sample"]
        cells = [
            self._tables.text(
                "kept_columns/kept_cells", number=number, column=[self._plain[column.name]], sampled=sampled
            )
            for number, column in enumerate((*kept, *quasi))
        ]
        self._tables.create_as("cells", queries.union_all(cells))

    def _guessed(self, kept: Sequence[Column], quasi: Sequence[Column]) -> Iterator[tuple[Column, Column]]:
        """The pairs in which the kept value determines the value of the quasi-identifier."""
        for number, column in enumerate(quasi, start=len(kept)):
            for index, *figures in self._tables.rows(
                "kept_columns/kept_pairs", cells=self._tables["cells"], kept=len(kept), quasi=number
            ):
                rows, right, most = map(int, figures)
                wrong = rows - most
                if self._enough_pairs(rows) and wrong >= _LEAST_WRONG and rows - right <= (1 - _LAMBDA) * wrong:
                    yield kept[index], column

    def _ranked(self, kept: Sequence[Column], quasi: Sequence[Column]) -> Iterator[tuple[Column, Column]]:
        """The pairs of numbers, dates or times that rise or fall together."""
        for index, number, rows, correlation in self._tables.rows(
            "kept_columns/kept_ranks", cells=self._tables["cells"], kept=len(kept)
        ):
            pair = kept[index], quasi[number - len(kept)]
            ordered = all(column.ordered for column in pair)
            if ordered and self._enough_pairs(int(rows)) and abs(correlation or 0) >= _CORRELATION:
                yield pair

    def _enough_pairs(self, rows: int) -> bool:
        return rows >= max(_FEWEST, _LEAST_SHARE * min(self.rows, _PAIRED_ROWS[1]))


def named_identifier(column: Column, different: int, rows: int, fractions: bool = False) -> bool:
    """Whether a column has an identifier's name and enough different values.

    >>> phone = Column("phone", "VARCHAR", "text")
    >>> named_identifier(phone, different=300, rows=400), named_identifier(phone, different=2, rows=400)
    (True, False)
    """
    has_kind = column.kind in ("text", "integer", "decimal", "float") and not fractions
    enough = _ENOUGH_NAMES if names_people(column.name) else _ENOUGH_NAMED
    has_values = different >= max(_LEAST_NAMED, min(enough, rows / 50))
    return has_kind and has_values and name_hint(column.name) == IDENTIFIER


def _sorted_by_value(column: Column) -> bool:
    return column.ordered or column.kind == "boolean"


def _quasi_identifiers(table: Table, spec: ReleaseSpec) -> list[Column]:
    """The columns whose values a kept one must not determine."""
    names = {spec.unit, *chain(*spec.coarsened.values())}
    return [column for column in table.columns if column.name in names]


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
