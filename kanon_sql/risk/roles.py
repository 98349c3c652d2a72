"""Roles: which columns a release keeps unchanged, which it drops, and which of the kept ones may identify people.

A column without a role is dropped, unless `keep` names it. Kept columns are counted in all rows, in the engine of the
source; the results are counts, never values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.hints import IDENTIFIER, identifies_people, name_hint, names_people
from kanon_sql.queries import Relation
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
_KEY_KINDS = ("text", "integer", "decimal")
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
    repeated: tuple[str, ...] = ()
    """Columns that seem to identify people, who then have several rows, although rows are counted."""

    @property
    def warnings(self) -> list[str]:
        """Warnings about suspicious columns that are kept, and about people that are not counted."""
        suspected = (f"the column {s.column!r} is released unchanged, and {s.reason}" for s in self.suspects)
        repeated = (
            f"rows are counted, but values of {name!r} occur in several rows; if they are people, set `unit` to "
            f"{name}: otherwise a class of k rows can have fewer than k people"
            for name in self.repeated
        )
        return [*suspected, *self.contradictions, *repeated]

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
    coarsened = {spec.unit, *chain(*spec.coarsened.values())}  # a kept column must not determine their values
    suspected = suspects(engine, table, kept, [column for column in table.columns if column.name in coarsened])
    narrow = replace(table, columns=tuple(c for c in table.columns if c.name not in dropped))
    labels, names = labelled(engine, table), tuple(column.name for column in kept)
    contradicted = tuple(contradictions(labels, spec, names))
    return narrow, Roles(names, dropped, tuple(suspected), labels, contradicted, _repeated(engine, table, spec))


def _repeated(engine: Engine, table: Table, spec: ReleaseSpec) -> tuple[str, ...]:
    """The columns named like keys of people whose values occur in several rows, if the spec has no unit.

    Only their first rows are read.
    """
    if spec.unit:
        return ()
    no_keys = {*spec.sensitive, *chain(*spec.coarsened.values())}
    keys = [
        column
        for column in table.columns
        if column.name not in no_keys and column.kind in _KEY_KINDS and identifies_people(column.name)
    ]
    with Scratch(engine, "people") as tables:
        holes: dict[str, Any] = {"source": table.relation, "most": _SAMPLE}
        repeated = {key.name: tables.rows("profile/repeated_values", column=[key.name], **holes) for key in keys}
    return tuple(name for name, ((values,),) in repeated.items() if values > 1)


def suspects(engine: Engine, table: Table, kept: Sequence[Column], quasi: Sequence[Column]) -> list[Suspect]:
    """The kept columns that contain identifiers or free text, or nearly determine a quasi-identifier.

    Counts all rows, except for pairs of columns; with fewer than 20 rows only names and formats are evidence. The
    result is in the table's order, with all reasons per column.
    """
    if not kept:
        return []
    with Scratch(engine, "kept") as tables:
        rows = tables.count(table.relation)
        counts = _counted(tables, table, kept)
        found = {column.name: list(_reasons(column, counts[column.name], rows)) for column in kept}
        free = [column for column in kept if not found[column.name] and column.kind != "other"]
        free = [column for column in free if counts[column.name].different > 1]
        if rows >= _FEWEST and free and any(column.kind != "other" for column in quasi):
            for column, determined in _determining(tables, table, rows, free, kept, quasi):
                found[column.name] = [f"nearly determines {determined.name!r}"]
    return [Suspect(name, _joined(reasons)) for name, reasons in found.items() if reasons]


def _joined(reasons: Sequence[str]) -> str:
    *others, last = reasons
    return f"{', '.join(others)}, and {last}" if others else last


@dataclass(frozen=True)
class _Counts:
    """The rows with a value and the different values of a column.

    Of texts also the result of `sql/kept_columns.sql`: rows by formats inside them, of whole texts, and by length.
    """

    filled: int
    different: int
    inside: Sequence[int] = (0,) * len(_ANYWHERE)
    whole: Sequence[int] = (0,) * len(_WRITTEN)
    long: int = 0
    once: int = 0

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


def _counted(tables: Scratch, table: Table, kept: Sequence[Column]) -> dict[str, _Counts]:
    """The counts of all rows: of columns that are compared as text in one query, of the others in another."""
    texts = [column for column in kept if not _sorted_by_value(column)]
    others = [column for column in kept if _sorted_by_value(column)]
    least = {"characters": FREE_TEXT_CHARACTERS, "words": FREE_TEXT_WORDS}
    inside = len(_ANYWHERE)
    counts: dict[str, _Counts] = {}
    for query, columns, holes in (("kept_texts", texts, least), ("kept_figures", others, {})):
        counting = [
            tables.text(f"kept_columns/{query}", number=number, column=[column.name], source=table.relation, **holes)
            for number, column in enumerate(columns)
        ]
        for number, *found in tables.rows_as(queries.union_all(counting)) if counting else ():
            filled, different, *more = map(int, found)
            of_texts = (more[:inside], more[inside:-2], more[-2], more[-1]) if columns is texts else ()
            counts[columns[number].name] = _Counts(filled, different, *of_texts)
    return counts


def _reasons(column: Column, counts: _Counts, rows: int) -> Iterator[str]:
    """The reasons against keeping a column, by its name and its values alone."""
    if named_identifier(column, counts.different, rows):
        yield "is an identifier by its name"
    if counts.different > 1:
        yield from (f"contains {what} in {_rows(count)}" for what, count in counts.formats)
    if counts.is_free:
        yield f"is free text in {_rows(counts.long)}"
    if counts.filled >= _FEWEST and counts.different >= UNIQUE_SHARE * counts.filled:
        yield f"differs in nearly every row ({counts.different:,} values in {_rows(counts.filled)})"


def _determining(
    tables: Scratch, table: Table, rows: int, free: Sequence[Column], kept: Sequence[Column], quasi: Sequence[Column]
) -> Iterator[tuple[Column, Column]]:
    """The pairs of a `free` column, which no other reason is against, and a quasi-identifier that it determines."""
    plain = queries.plain_names([column.name for column in (*kept, *quasi)])
    sampled = _sample(tables, table, rows, plain, len(quasi))
    compared = [column for column in quasi if column.kind != "other"]
    texts = [
        tables.text("kept_columns/kept_cells", number=number, column=[plain[column.name]], sampled=sampled)
        for number, column in enumerate((*free, *compared))
    ]
    cells = tables.create_as("cells", queries.union_all(texts))
    enough = max(_FEWEST, _LEAST_SHARE * min(rows, _PAIRED_ROWS[1]))
    for number, column in enumerate(compared, start=len(free)):
        for index, *figures in tables.rows("kept_columns/kept_pairs", cells=cells, kept=len(free), quasi=number):
            paired, right, most = map(int, figures)
            wrong = paired - most
            if paired >= enough and wrong >= _LEAST_WRONG and paired - right <= (1 - _LAMBDA) * wrong:
                yield free[index], column
    # Numbers, dates or times that rise or fall together:
    for index, number, paired, correlation in tables.rows("kept_columns/kept_ranks", cells=cells, kept=len(free)):
        pair = free[index], compared[number - len(free)]
        ordered = all(column.ordered for column in pair)
        if ordered and int(paired) >= enough and abs(correlation or 0) >= _CORRELATION:
            yield pair


def _sample(tables: Scratch, table: Table, rows: int, plain: Mapping[str, str], of_quasi: int) -> Relation:
    """The sample of rows on which pairs are counted, with plain names; more pairs of columns mean fewer rows."""
    columns = [column for column in table.columns if column.name in plain]
    natives = {plain[column.name]: column.name for column in columns if _sorted_by_value(column)}
    texts = {plain[column.name]: column.name for column in columns if not _sorted_by_value(column)}
    pairs = max(1, (len(columns) - of_quasi) * of_quasi)
    fewest, most = _PAIRED_ROWS
    wanted = max(fewest, min(most, _PAIRED_CELLS // pairs))
    return tables.create(
        "sample",
        "kept_columns/kept_sample",
        source=table.relation,
        columns={**natives, **texts},
        natives=list(natives),
        texts=list(texts),
        most=_SAMPLE,
        stride=max(1, ceil(min(rows, _SAMPLE) / wanted)),
    )


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


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
