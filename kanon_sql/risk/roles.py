"""Roles: which columns a release keeps as they are, which it drops, and which of the kept ones seem to tell who it is.

A column that nobody gave a role is kept, or with `keep` dropped. What is kept is looked at in a part of the rows, in
the engine of the source: counts come out, never a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.hints import IDENTIFIER, name_hint
from kanon_sql.risk.labels import Labelled, contradictions, labelled
from kanon_sql.spec import EVERY, Spec

UNIQUE_SHARE = 0.9  # of a column's values that are different
_SAMPLE = 100_000  # rows that are counted
_FEWEST = 20  # rows below which only names and formats say something
_FORMATS = ("e-mail addresses", "telephone numbers", "IBANs", "network addresses", "UUIDs", "national identity numbers")
_WRITTEN_SO = 0.5  # of a column's values, in one of these formats
FREE_TEXT_DIFFERENT, FREE_TEXT_CHARACTERS, FREE_TEXT_WORDS = 0.5, 20, 4
_LAMBDA, _CORRELATION = 0.9, 0.95
_LEAST_SHARE, _LEAST_WRONG = 0.05, 10  # of the rows that a guess must be made for; that the best blind guess gets wrong
_PAIRED_ROWS, _PAIRED_CELLS = (2_000, 10_000), 4_000_000


@dataclass(frozen=True)
class Suspect:
    """A column that a release would keep as it is, and why it should not, as the end of "the column …"."""

    column: str
    reason: str


@dataclass(frozen=True)
class Roles:
    """What becomes of the columns without a role of their own, and what was found among the kept ones."""

    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    labels: tuple[Labelled, ...] = ()
    contradictions: tuple[str, ...] = ()
    """Where what the table's owner said of a column is not what becomes of it."""

    @property
    def warnings(self) -> list[str]:
        """What a reader of the release should know of the columns that were kept all the same."""
        suspected = (f"the column {s.column!r} is released as it is, and {s.reason}" for s in self.suspects)
        return [*suspected, *self.contradictions]

    def described(self) -> dict[str, Any]:
        """What the manifest says."""
        labels = {each.column: each.role for each in self.labels}
        return {"kept": list(self.kept), "dropped": list(self.dropped), **({"labels": labels} if labels else {})}


def settle(engine: Engine, table: Table, spec: Spec) -> tuple[Table, Roles]:
    """Take the columns out of a table that a release drops unasked, and look at those that it keeps unasked.

    SpecError if a column is kept that nobody named, and that looks as if it told who.
    """
    named = named_columns(spec)
    free = [column for column in table.columns if column.name not in named]
    kept = [column for column in free if spec.keep in (None, EVERY) or column.name in spec.kept_by_name]
    dropped = tuple(column.name for column in free if column not in kept)
    suspected = suspects(engine, table, kept, _quasi_identifiers(table, spec))
    if suspected and spec.keep is None:
        raise SpecError(_refusal(suspected))
    narrow = replace(table, columns=tuple(c for c in table.columns if c.name not in dropped))
    labels, names = labelled(engine, table), tuple(column.name for column in kept)
    contradicted = tuple(contradictions(labels, spec, names))
    return narrow, Roles(names, dropped, tuple(suspected), labels, contradicted)


def named_columns(spec: Spec) -> set[str]:
    """The columns that have a role of their own: dropped, changed, or kept by it."""
    places = (*(spec.location or ()), *filter(None, (spec.time, spec.unit)), *spec.cloak.columns)
    return {*spec.identifiers, *spec.quasi_identifiers, *spec.sensitive, *spec.perturb, *places}


def suspects(engine: Engine, table: Table, kept: Sequence[Column], quasi: Sequence[Column]) -> list[Suspect]:
    """The kept columns that look like identifiers or free text, or that nearly tell a quasi-identifier's value.

    Looks at the first 100,000 rows; of fewer than 20 only names and formats say something. In the table's order,
    each column with the first of its reasons.
    """
    if not kept:
        return []
    said: dict[str, str] = {}
    with Scratch(engine, "kept") as tables:
        look = _Look(tables, table, kept, quasi)
        for reasons in (look.by_name, look.by_format, look.by_difference, look.by_free_text, look.by_determining):
            said = {**dict(reasons([c for c in kept if c.name not in said])), **said}
    return [Suspect(column.name, said[column.name]) for column in kept if column.name in said]


Reasons = Iterator[tuple[str, str]]


class _Look:
    """A part of the rows, and what its counts say of the kept columns."""

    def __init__(self, tables: Scratch, table: Table, kept: Sequence[Column], quasi: Sequence[Column]) -> None:
        self._tables, self._table, self._kept, self._quasi = tables, table, kept, list(quasi)
        self._plain = queries.plain_names([column.name for column in (*kept, *quasi)])
        self.rows, self._filled, self._different = self._figures()
        self._sampled = False

    def by_name(self, columns: Sequence[Column]) -> Reasons:
        for column in columns:
            if named_identifier(column, self._different[column.name], self.rows):
                yield column.name, "is an identifier by its name"

    def by_format(self, columns: Sequence[Column]) -> Reasons:
        for column in columns:
            values, *written, _, _ = self._texts.get(column.name, (0, 0, 0))
            for what, count in zip(_FORMATS, written, strict=False):
                if self._different[column.name] > 1 and 0 < _WRITTEN_SO * values <= count:
                    yield column.name, f"holds {what}"

    def by_difference(self, columns: Sequence[Column]) -> Reasons:
        for column in columns:
            if self._enough(column) and self._different[column.name] >= UNIQUE_SHARE * self._filled[column.name]:
                yield column.name, "differs in nearly every row"

    def by_free_text(self, columns: Sequence[Column]) -> Reasons:
        for column in columns:
            *_, characters, words = self._texts.get(column.name, (0, 0))
            different = self._different[column.name] >= FREE_TEXT_DIFFERENT * self._filled[column.name]
            if self._enough(column) and different and characters >= FREE_TEXT_CHARACTERS and words >= FREE_TEXT_WORDS:
                yield column.name, "is free text"

    def by_determining(self, columns: Sequence[Column]) -> Reasons:
        able = [column for column in columns if column.kind != "other" and self._different[column.name] > 1]
        told = [column for column in self._quasi if column.kind != "other"]
        if self.rows < _FEWEST or not able or not told:
            return
        self._make_cells(able, told)
        for kept, quasi in (*self._guessed(able, told), *self._ranked(able, told)):
            yield kept.name, f"nearly determines {quasi.name!r}"

    def _enough(self, column: Column) -> bool:
        return self._filled[column.name] >= _FEWEST

    def _figures(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """The rows looked at, and by column the values and the different ones among them."""
        natives, texts = self._split(self._kept)
        named = {name: name for name in (*natives, *texts)}
        ((rows, *counts),) = self._tables.rows(
            "core/kept_figures",
            source=self._table.relation,
            natives=natives,
            texts=texts,
            held=named,
            different={f"different_{name}": plain for name, plain in named.items()},
            most=_SAMPLE,
        )
        names = [*natives.values(), *texts.values()]
        held, different = ([int(count) for count in counts[half * len(names) :][: len(names)]] for half in (0, 1))
        return int(rows), dict(zip(names, held, strict=True)), dict(zip(names, different, strict=True))

    def _split(self, columns: Sequence[Column]) -> tuple[dict[str, str], dict[str, str]]:
        """Plain names (new: old) of the columns that are compared as they are, and of those compared as text."""
        named = {self._plain[c.name]: c for c in columns}
        natives = {plain: c.name for plain, c in named.items() if _sorted_by_value(c)}
        return natives, {plain: c.name for plain, c in named.items() if plain not in natives}

    def _sample(self) -> None:
        """Make the rows that formats and pairs are counted on: the fewer the more columns there are to pair."""
        if self._sampled:
            return
        columns = [column for column in self._table.columns if column.name in self._plain]
        natives, texts = self._split(columns)
        pairs = max(1, (len(columns) - len(self._quasi)) * len(self._quasi))
        fewest, most = _PAIRED_ROWS
        wanted = max(fewest, min(most, _PAIRED_CELLS // pairs))
        self._tables.make(
            "sample",
            "core/kept_sample",
            source=self._table.relation,
            columns={**natives, **texts},
            natives=list(natives),
            texts=list(texts),
            most=_SAMPLE,
            stride=max(1, ceil(self.rows / wanted)),
        )
        self._sampled = True

    @cached_property
    def _texts(self) -> Mapping[str, tuple[float, ...]]:
        """What `sql/core/kept_texts.sql` gives, by the kept columns that are compared as text."""
        _, texts = self._split(self._kept)
        if not texts:
            return {}
        self._sample()
        each = [
            self._tables.text("core/kept_texts", number=number, column=[plain], sampled=self._tables["sample"])
            for number, plain in enumerate(texts)
        ]
        figures_of = {number: figures for number, *figures in self._tables.rows_as(queries.union_all(each))}
        return {name: tuple(float(figure or 0) for figure in figures_of[i]) for i, name in enumerate(texts.values())}

    def _make_cells(self, kept: Sequence[Column], quasi: Sequence[Column]) -> None:
        self._sample()
        sampled = self._tables["sample"]
        cells = [
            self._tables.text("core/kept_cells", number=number, column=[self._plain[column.name]], sampled=sampled)
            for number, column in enumerate((*kept, *quasi))
        ]
        self._tables.make_as("cells", queries.union_all(cells))

    def _guessed(self, kept: Sequence[Column], quasi: Sequence[Column]) -> Iterator[tuple[Column, Column]]:
        """The pairs in which the kept value says which value of the quasi-identifier stands beside it."""
        for number, column in enumerate(quasi, start=len(kept)):
            for index, *figures in self._tables.rows(
                "core/kept_pairs", cells=self._tables["cells"], kept=len(kept), quasi=number
            ):
                rows, told, most = map(int, figures)
                wrong = rows - most
                if self._enough_pairs(rows) and wrong >= _LEAST_WRONG and rows - told <= (1 - _LAMBDA) * wrong:
                    yield kept[index], column

    def _ranked(self, kept: Sequence[Column], quasi: Sequence[Column]) -> Iterator[tuple[Column, Column]]:
        """The pairs of numbers, dates or times that rise or fall together."""
        for index, number, rows, correlation in self._tables.rows(
            "core/kept_ranks", cells=self._tables["cells"], kept=len(kept)
        ):
            pair = kept[index], quasi[number - len(kept)]
            ordered = all(column.ordered for column in pair)
            if ordered and self._enough_pairs(int(rows)) and abs(correlation or 0) >= _CORRELATION:
                yield pair

    def _enough_pairs(self, rows: int) -> bool:
        return rows >= max(_FEWEST, _LEAST_SHARE * min(self.rows, _PAIRED_ROWS[1]))


def named_identifier(column: Column, different: int, rows: int, fractions: bool = False) -> bool:
    """Whether a column has an identifier's name, and values enough to be one.

    >>> phone = Column("phone", "VARCHAR", "text")
    >>> named_identifier(phone, different=300, rows=400), named_identifier(phone, different=2, rows=400)
    (True, False)
    """
    able = column.kind in ("text", "integer", "decimal", "float") and not fractions
    many = different >= max(_LEAST_NAMED, min(_ENOUGH_NAMED, rows / 50))
    return able and many and name_hint(column.name) == IDENTIFIER


_LEAST_NAMED, _ENOUGH_NAMED = 3, 100


def _sorted_by_value(column: Column) -> bool:
    return column.ordered or column.kind == "boolean"


def _quasi_identifiers(table: Table, spec: Spec) -> list[Column]:
    """The columns whose values a kept one must not tell."""
    names = {*spec.quasi_identifiers, *(spec.location or ()), *filter(None, (spec.time, spec.unit))}
    return [column for column in table.columns if column.name in names]


def _refusal(suspected: Sequence[Suspect]) -> str:
    said = "; ".join(f"{suspect.column!r} {suspect.reason}" for suspect in suspected)
    one = len(suspected) == 1
    return (
        f"{'a column' if one else f'{len(suspected)} columns'} without a role would be released as "
        f"{'it is' if one else 'they are'}: {said}. Drop {'it' if one else 'them'} with `identifiers`, generalize "
        f"{'it' if one else 'them'} with `quasi_identifiers`, or name the columns to keep with `keep` (`keep='*'` for "
        "every column)"
    )
