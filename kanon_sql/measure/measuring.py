"""A source and its release beside each other, and what is measured of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.measure.tables import known_hierarchy, shown_columns
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import Source
from kanon_sql.queries import Relation
from kanon_sql.resources import install_command
from kanon_sql.spec import Spec
from kanon_sql.utility import (
    Association,
    Attribute,
    Counts,
    Drawn,
    Learned,
    Marginal,
    Sides,
    attribute,
    coded,
    drawn_rows,
    is_installed,
    learned,
    marginal,
    why_not,
)

_MOST_COLUMNS = 40  # whose pairs are looked at
_UNEXPECTED = 0.05  # of the rows, beside those suppressed
_BOTH = ("source", "release")
Measured = tuple[tuple[Marginal, ...], tuple[Association, ...], Counts | None, tuple[Learned, ...]]


class Measuring:
    """A source and its release, copied beside each other as text, and all that is asked of them.

    `rows`: of each; `targets`: the columns to learn. `notes` and `skipped` grow while it measures.
    """

    def __init__(
        self,
        tables: Scratch,
        spec: Spec,
        both: Mapping[str, Source],
        names: Mapping[str, str],
        targets: Sequence[str],
        observer: Observer,
    ) -> None:
        self.tables, self.spec, self.both, self.names = tables, spec, both, names
        self.targets, self.observer = targets, observer
        self.notes: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.shown = self._shown()
        self._check_named()
        self.copies = {side: self._copied(side) for side in _BOTH}
        self.rows = {side: tables.count(copy) for side, copy in self.copies.items()}
        self._check_rows()

    def measured(self, many: int, most: int) -> Measured:
        """All measures, one after the other: so many count queries, and models of at most so many rows."""
        sides = self.sides()
        marginals = tuple(map(marginal, sides.attributes))
        self.observer.stage("Comparing pairs of columns")
        associations = sides.associations(self._paired())
        worst_first = sorted(associations, key=lambda each: (-each.error, each.columns))
        self.observer.stage("Asking count queries")
        counts = sides.counts(many, self.spec.seed, self.rows["source"])
        if counts is None:
            self.skipped.append(("count queries", "no column has more than one value"))
        return marginals, tuple(worst_first), counts, tuple(self._learned(sides, most))

    def sides(self) -> Sides:
        """Both tables in codes, and what each column's cells stand for."""
        self.observer.stage("Comparing columns")
        attributes = [self._attribute(number, name) for number, name in enumerate(self.shown)]
        return Sides(self.tables, attributes, *(self._coded(side, attributes) for side in _BOTH))

    def _shown(self) -> dict[str, tuple[str, ...]]:
        """The columns that both tables have, each with those that show it in the release."""
        source, release = (self.both[side].table for side in _BOTH)
        shown = {column.name: shown_columns(column.name, release) for column in source.columns}
        both = {name: names for name, names in shown.items() if all(map(release.column, names))}
        if not both:
            raise SourceError(
                f"{self.names['source']} and {self.names['release']} have no column in common; name a source, and a "
                "release of it"
            )
        return both

    def _check_named(self) -> None:
        """SpecError if a column that was named is not in both tables."""
        for name in (*self.spec.quasi_identifiers, *self.spec.sensitive, *self.targets):
            if name not in self.shown:
                where = "release" if self.both["source"].table.column(name) else "source"
                raise SpecError(f"the {where} has no column {name!r}; name columns that both tables have")

    def _copied(self, side: str) -> Relation:
        """A table beside us: the columns that both have, as text, bounds as the range between them."""
        source = self.both[side]
        shown = self.shown if side == "release" else {name: (name,) for name in self.shown}
        ends = [_ends(number, len(names)) for number, names in enumerate(shown.values())]
        texts = {
            plain: name
            for names, plains in zip(shown.values(), ends, strict=True)
            for name, plain in zip(names, plains, strict=True)
        }
        holes: dict[str, Any] = {"source": source.table.relation, "texts": texts, "natives": {}}
        text = queries.text("attack_linkage/copied", source.engine.dialect, **holes)
        copied = self.tables.receive(side, source.engine, text, "attack_linkage/copied")
        for number, plains in enumerate(ends):
            if len(plains) > 1:
                low, high = ({_plain(number): plain} for plain in plains)
                copied = self.tables.make(
                    f"{side}_{number}", "attack_linkage/ranged", copied=copied, low=low, high=high
                )
        return copied

    def _check_rows(self) -> None:
        for side, rows in self.rows.items():
            if rows == 0:
                raise SourceError(f"{self.names[side]} has no rows; there is nothing to measure")
        if self.rows["release"] > self.rows["source"]:
            raise SourceError(
                f"the release has {self.rows['release']:,} rows, and the source only {self.rows['source']:,}; name the "
                "source that the release was made of"
            )

    def _attribute(self, number: int, name: str) -> Attribute:
        column = self.both["source"].table.column(name)
        assert column is not None
        cells = {side: self._cells(side, number) for side in _BOTH}
        hierarchy = partial(known_hierarchy, self.spec, self.both["source"].engine, column)
        made = attribute(column, cells["source"], cells["release"], hierarchy, self._may_be_generalized(name))
        self._check(made)
        return made

    def _cells(self, side: str, number: int) -> list[tuple[str | None, int]]:
        """How a column's cells print, in an order of their own, each with its rows."""
        rows = self.tables.rows("utility/cells", copied=self.copies[side], cell=[_plain(number)])
        return sorted(((cell, int(n)) for cell, n in rows), key=lambda each: (each[0] is None, each[0] or ""))

    def _check(self, made: Attribute) -> None:
        """SourceError if a column says nothing of its source; a note of what of it cannot be read."""
        if made.lost == self.rows["release"]:
            raise SourceError(
                f"no released {made.name} can stand for any that the source has; name the source that the release was "
                "made of"
            )
        if made.unread:
            stand = "any value" if self._may_be_generalized(made.name) else "none"
            self.notes.append(
                f"labels of {made.name} that cannot be read ({made.unread:,}) are taken to stand for {stand}; name the "
                "quasi-identifiers and their hierarchies"
            )

    def _may_be_generalized(self, name: str) -> bool:
        """Whether a label that nobody can read may stand for anything."""
        return name in self.spec.quasi_identifiers

    def _coded(self, side: str, attributes: Sequence[Attribute]) -> Relation:
        plain = [_plain(number) for number in range(len(attributes))]
        codes = [each.source_codes if side == "source" else each.released_codes for each in attributes]
        return coded(self.tables, side, self.copies[side], plain, codes)

    def _paired(self) -> list[int]:
        """The numbers of the columns whose pairs are looked at: those with a role first, where there are too many."""
        roles = [*self.spec.quasi_identifiers, *self.spec.sensitive, *self.targets]
        order = sorted(range(len(self.shown)), key=lambda number: list(self.shown)[number] not in roles)
        if len(order) > _MOST_COLUMNS:
            self.notes.append(f"pairs are compared of {_MOST_COLUMNS} columns only, those with a role first")
        return sorted(order[:_MOST_COLUMNS])

    def _learned(self, sides: Sides, most: int) -> Iterator[Learned]:
        if not self.targets:
            self.skipped.append(("models", "name the columns to predict, or sensitive ones"))
        elif not is_installed():
            self.skipped.append(("models", f"they need scikit-learn; run: {install_command('utility')}"))
        else:
            self.observer.stage("Drawing rows for models")
            drawn = drawn_rows(sides, most, self.spec.seed)
            self._note_unreleased(drawn)
            for name in self.targets:
                yield from self._learned_of(name, sides.attributes, drawn)

    def _note_unreleased(self, drawn: Drawn) -> None:
        """Values that were changed and not generalized cannot be led back to their rows."""
        suppressed = 1 - self.rows["release"] / self.rows["source"]
        if drawn.unreleased > suppressed + _UNEXPECTED:
            self.notes.append(
                f"{drawn.unreleased:.1%} of the rows fit no released row, though {suppressed:.1%} are suppressed: "
                "values were changed, or labels misread; the models of the release are trained without them"
            )

    def _learned_of(self, name: str, attributes: Sequence[Attribute], drawn: Drawn) -> Iterator[Learned]:
        target = list(self.shown).index(name)
        why = why_not(attributes, target, drawn)
        if why:
            self.skipped.append((f"model of {name}", why))
            return
        self.observer.stage(f"Training models of {name}")
        yield learned(attributes, target, drawn, self.spec.seed)


def _plain(number: int) -> str:
    return f"c{number}"


def _ends(number: int, count: int) -> list[str]:
    """The plain names of the columns that show one."""
    return [_plain(number)] if count == 1 else [f"{_plain(number)}_{end}" for end in range(count)]
