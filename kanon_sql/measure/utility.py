"""Measure the utility of a release in comparison with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.measure.copied import numbered_rows
from kanon_sql.measure.tables import known_hierarchy, shown_columns
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import Source
from kanon_sql.resources import install_command
from kanon_sql.spec import Spec
from kanon_sql.utility import (
    Association,
    Learned,
    Marginal,
    QueryErrors,
    SharedColumn,
    Side,
    Sides,
    attribute,
    drawn,
    drawn_rows,
    is_installed,
    learned,
    marginal,
    read_codes,
    why_not,
)

_MOST_COLUMNS = 40  # whose pairs are compared
_TOLERATED = 0.05  # share of rows that match no released row, in addition to suppressed rows
_BOTH = ("source", "release")
Measured = tuple[tuple[Marginal, ...], tuple[Association, ...], QueryErrors | None, tuple[Learned, ...]]


class UtilityMeasurement:
    """A source and its release, and the measures that compare them.

    `rows`: the number of rows by table. `targets`: the columns to predict. The measures add to `notes` and `skipped`.
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
        self.tables = tables
        self.spec = spec
        self.both = both
        self.names = names
        self.targets, self.observer = targets, observer
        self.notes: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.shown = self._shown()
        self.sources = {side: self._side(side) for side in _BOTH}
        self.rows = {side: source.rows for side, source in self.sources.items()}
        self._check_rows()

    def measured(self, query_count: int, training_rows: int) -> Measured:
        """All measures, with this number of count queries, and models trained on at most this number of rows."""
        sides = self.sides()
        marginals = tuple(map(marginal, sides.attributes))
        self.observer.stage("Comparing pairs of columns")
        associations = sides.associations(list(combinations(self._paired(), 2)))
        worst_first = sorted(associations, key=lambda pair: (-pair.error, pair.columns))
        self.observer.stage("Asking count queries")
        drawn_queries = drawn(sides.attributes, query_count, self.spec.seed)
        counts = sides.counts(drawn_queries, self.rows["source"]) if drawn_queries else None
        if counts is None:
            self.skipped.append(("count queries", "no column has more than one value"))
        return marginals, tuple(worst_first), counts, tuple(self._learned(sides, training_rows))

    def sides(self) -> Sides:
        """Both tables with their cells as codes, and the values that the cells of every column cover."""
        self.observer.stage("Comparing columns")
        attributes = [self._attribute(number, name) for number, name in enumerate(self.shown)]
        sizes = [len(attribute.weights) for attribute in attributes]
        of_source = [attribute.source_codes for attribute in attributes]
        of_release = [attribute.released_codes for attribute in attributes]
        source, release = (self.sources[side] for side in _BOTH)
        return Sides(
            attributes,
            read_codes(source.engine, source.table, source.cells, of_source, sizes),
            read_codes(release.engine, release.table, release.cells, of_release, sizes),
        )

    def _shown(self) -> dict[str, tuple[str, ...]]:
        """The columns that both tables have, with the columns that show them in the release.

        SpecError if a column with a role, or one to predict, is not in both tables.
        """
        source, release = (self.both[side].table for side in _BOTH)
        shown = {column.name: shown_columns(column.name, release) for column in source.columns}
        common = {name: names for name, names in shown.items() if all(map(release.column, names))}
        if not common:
            raise SourceError(
                f"{self.names['source']} and {self.names['release']} have no column in common; name a source, and a "
                "release of it"
            )
        for name in (*self.spec.quasi_identifiers, *self.spec.sensitive, *self.targets):
            if name not in common:
                where = "release" if source.column(name) else "source"
                raise SpecError(f"the {where} has no column {name!r}; name columns that both tables have")
        return common

    def _side(self, side: str) -> Side:
        """The rows of a table in an embedded engine: where they are, or a copy of the common columns as text.

        Two columns of bounds become one of ranges.
        """
        source = self.both[side]
        shown = {name: (name,) for name in self.shown} if side == "source" else self.shown
        if source.engine.is_embedded and all(len(names) == 1 for names in shown.values()):
            return Side(source.engine, source.table.relation, [name for (name,) in shown.values()])
        bounds = {_plain(number): names for number, names in enumerate(shown.values()) if len(names) > 1}
        texts = {
            _plain(number): name for number, (name, *_) in enumerate(shown.values()) if _plain(number) not in bounds
        }
        for plain, names in bounds.items():
            texts |= {f"{plain}_{place}": name for place, name in enumerate(names)}
        copied = numbered_rows(self.tables, side, source, texts, {})
        for plain in bounds:
            copied = self.tables.create(
                f"{side}_{plain}",
                "attack_linkage/ranged",
                copied=copied,
                low={plain: f"{plain}_0"},
                high={plain: f"{plain}_1"},
            )
        return Side(self.tables.engine, copied, list(map(_plain, range(len(shown)))))

    def _check_rows(self) -> None:
        for side, rows in self.rows.items():
            if rows == 0:
                raise SourceError(f"{self.names[side]} has no rows; there is nothing to measure")
        if self.rows["release"] > self.rows["source"]:
            raise SourceError(
                f"the release has {self.rows['release']:,} rows, and the source only {self.rows['source']:,}; name the "
                "source of the release"
            )

    def _attribute(self, number: int, name: str) -> SharedColumn:
        """A column of both; SourceError if no label fits a value of the source, a note if labels cannot be read."""
        column = self.both["source"].table.column(name)
        assert column is not None
        cells = {side: source.counted(number) for side, source in self.sources.items()}
        hierarchy = partial(known_hierarchy, self.spec, self.both["source"].engine, column)
        generalized = name in self.spec.quasi_identifiers
        compared = attribute(column, cells["source"], cells["release"], hierarchy, generalized)
        if compared.lost == self.rows["release"]:
            raise SourceError(
                f"no released {compared.name} fits any that the source has; name the source of the release"
            )
        if compared.unread:
            values = "any value" if generalized else "none"
            self.notes.append(
                f"labels of {compared.name} that cannot be read ({compared.unread:,}) are taken for {values}; "
                "name the quasi-identifiers and their hierarchies"
            )
        return compared

    def _paired(self) -> list[int]:
        """The numbers of the columns whose pairs are compared; of too many, columns with a role come first."""
        names = list(self.shown)
        roles = [*self.spec.quasi_identifiers, *self.spec.sensitive, *self.targets]
        order = sorted(range(len(names)), key=lambda number: names[number] not in roles)
        if len(order) > _MOST_COLUMNS:
            self.notes.append(f"pairs are compared of {_MOST_COLUMNS} columns only, those with a role first")
        return sorted(order[:_MOST_COLUMNS])

    def _learned(self, sides: Sides, training_rows: int) -> Iterator[Learned]:
        if not self.targets:
            self.skipped.append(("models", "name the columns to predict, or sensitive ones"))
            return
        if not is_installed():
            self.skipped.append(("models", f"they need scikit-learn; run: {install_command('utility')}"))
            return
        self.observer.stage("Drawing rows for models")
        rows = drawn_rows(sides, training_rows, self.spec.seed)
        suppressed = 1 - self.rows["release"] / self.rows["source"]
        if rows.unreleased > suppressed + _TOLERATED:
            self.notes.append(
                f"{rows.unreleased:.1%} of the rows fit no released row, though {suppressed:.1%} are suppressed: "
                "values were changed, or labels misread; the models of the release are trained without them"
            )
        for name in self.targets:
            target = list(self.shown).index(name)
            reason = why_not(sides.attributes, target, rows)
            if reason:
                self.skipped.append((f"model of {name}", reason))
                continue
            self.observer.stage(f"Training models of {name}")
            yield learned(sides.attributes, target, rows, self.spec.seed)


def _plain(number: int) -> str:
    return f"c{number}"
