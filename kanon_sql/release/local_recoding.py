"""A local recoding: every row gets the labels of its tuple's class."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from functools import cached_property

from kanon_sql import queries
from kanon_sql.engine import Column, Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.privacy import Finding
from kanon_sql.queries import (
    Hole,
    LocalReleaseQuery,
    PrintedStatement,
    Relation,
    ReleaseColumn,
    WrittenTable,
)
from kanon_sql.recode import wildcard
from kanon_sql.recode.order import NODES, Order
from kanon_sql.recode.show import LocalFigures
from kanon_sql.recode.task import Local
from kanon_sql.release.cells import Mapped, class_column, kept_column, no_mapping
from kanon_sql.release.pieces import companion
from kanon_sql.release.recoding import STEMS, Recoding

_MOST_WRITTEN_OUT = 5_000  # tuples in a standalone statement, which takes seconds to format


@dataclass(frozen=True, kw_only=True)
class LocalRecoding(Recoding):
    """Classes of tuples to be released, with their labels in `classes`; `orders` and `hows` per attribute."""

    local: Local
    classes: Relation
    orders: tuple[Order, ...]
    hows: tuple[str, ...]
    figures: LocalFigures

    @property
    def columns(self) -> list[str]:
        return [name for cell in self._cells(no_mapping) for name, _ in cell.shown or ((cell.name, ""),)]

    @property
    def quasi_identifiers(self) -> list[str]:
        return [name for cell in self._cells(no_mapping) for name, _ in cell.shown]

    def other_finding(self, engine: Engine, release: Relation) -> Finding | None:
        """The finding with stars as wildcards, if the spec has these; otherwise None, since equal rows are counted."""
        if not self.spec.wildcard_suppression:
            return None
        frequency_set = self.judge.frequency_set
        # In the order of the hierarchies, not of the columns.
        columns = [a.column.name for a in frequency_set.attributes]
        fits = wildcard.of_release(frequency_set, self.spec, self.model, engine, release, columns)
        return fits.finding(self.model)

    def shown_population(self) -> tuple[Engine, str] | None:
        """The rows of the population that are equal to rows of a class, with the class's labels."""
        frequency_set = self.judge.frequency_set
        if frequency_set.population is None:
            return None
        engine, keys = frequency_set.engine, frequency_set.keys
        rows, columns = frequency_set.relation, [*keys, "population"]
        query = queries.assigned(rows, self.local.assignment, keys, columns, engine.dialect)
        assigned = frequency_set.tables.create_as("assigned", query)
        shown = {name: column for cell in self._cells(no_mapping) for name, column in cell.shown}
        holes: dict[str, Hole] = {"assigned": assigned, "classes": self.classes, "keys": keys, "shown": shown}
        return engine, queries.text("population/shown", engine.dialect, labels=list(shown.values()), **holes)

    def evidence_sql(self) -> str:
        """The query of the labels of every tuple or part of one, once the release is prepared.

        Its columns, in the order of the original names: value_0 … of the source, first and last if tuples are split,
        and shown_0 … of the release.
        """
        attributes = sorted(self.attributes, key=lambda a: a.column.name)
        places = ["first", "last"] if self.local.split else []
        columns = {f"key_{i}": attribute.coded.code_column(0) for i, attribute in enumerate(attributes)}
        columns |= {name: name for name in ("class", *places)}
        tuples = self.tables.create("tuples_0", "frequency_sets/copy", columns=columns, source=self.local.assignment)
        for i, attribute in enumerate(attributes):
            holes: dict[str, Hole] = {"columns": list(columns), "key": [f"key_{i}"], "value": {f"value_{i}": "found"}}
            holes |= {"tuples": tuples, "mapping": attribute.coded.mapping}
            self.tables.create(f"tuples_{i + 1}", "evidence/evidence_values", **holes)
            self.tables.drop(tuples)
            tuples = self.tables[f"tuples_{i + 1}"]
            columns[f"value_{i}"] = ""
        shows = dict(sorted(pair for cell in self._cells(no_mapping) for pair in cell.shown))
        shown = {f"shown_{i}": column for i, column in enumerate(shows.values())}
        values = [f"value_{i}" for i in range(len(attributes))]
        holes = {"values": values, "places": places, "shown": shown, "names": list(shown)}
        return self.tables.text("evidence/evidence", tuples=tuples, classes=self.classes, **holes)

    def prepare(self) -> None:
        """Load the mapping tables, the assignment and the classes into the engine of the source."""
        if self.merged:
            return
        self._load_mappings(self.attributes)
        here = self.judge.frequency_set.engine
        if here is not self.engine:
            for relation in self._relations:
                self.tables.receive(relation, here, queries.select_all(relation, here.dialect))

    def left_out_sql(self) -> str:
        """The query of the source's rows without a class, once the release is prepared."""
        return self._left_out_sql(self.local.assignment)

    def assigned(self) -> Relation:
        """The classes of the tuples."""
        return self.local.assignment

    def levels_shown(self, j: int) -> range:
        """All levels of an attribute whose classes show hierarchy nodes."""
        return range(1, self.attributes[j].hierarchy.height + 1 if self.hows[j] in NODES else 1)

    def labels_shown(self, j: int, released: Set[int]) -> Set[str | None]:  # noqa: ARG002
        """The labels of an attribute in all classes."""
        holes: dict[str, Hole] = {"keys": [f"label_{j}"], "levels": [], "sums": ["n"]}
        rows = self.judge.frequency_set.tables.rows("frequency_sets/rollup", frequency_set=self.classes, **holes)
        return {label for label, _ in rows}

    def _large_sql(self, tables: Scratch) -> str | None:
        return None if self.local.split else super()._large_sql(tables)

    @property
    def _select(self) -> LocalReleaseQuery:
        return self._query(self.table.relation, lambda a: a.coded.mapping, *self._relations)

    @property
    def _relations(self) -> tuple[Relation, Relation]:
        return self.local.assignment, self.classes

    def standalone(
        self,
        source: Relation | None = None,
        dialect: str | None = None,
        lasting: bool = False,
        limited: bool = True,
    ) -> PrintedStatement:
        """The query of a view with its tables written out.

        SpecError if it would be too long, or if another system would return something else.
        """
        dialect = dialect or self.engine.dialect
        elsewhere = source is not None or dialect != self.engine.dialect
        if elsewhere:
            self._check_elsewhere(source)
        tuples = self.judge.frequency_set.tuples
        if tuples > _MOST_WRITTEN_OUT:
            raise SpecError(
                f"the statement would have to list {tuples:,} tuples; release with `into` or `output` instead"
            )
        names = {a.coded.mapping: Relation(f"kanon_{a.coded.stem}") for a in self.attributes}
        relations = Relation("kanon_assignment"), Relation("kanon_local_classes")
        values = [self._written_out(relation, name) for relation, name in zip(self._relations, relations, strict=True)]
        values += [self._written_codes(a, names[a.coded.mapping]) for a in self.attributes]
        read = source or self.engine.lasting(self.table.relation)
        query = self._query(read, lambda a: names[a.coded.mapping], *relations, recount=True, values=tuple(values))
        read_files = self.read_files if source is None else None
        limit = self.spec.suppression_limit if limited else None
        query = replace(query, read_files=read_files, elsewhere=elsewhere, limit=limit)
        return query.statement(dialect, lasting)

    def _check_elsewhere(self, source: Relation | None) -> None:
        self._check_population(source)
        if self.local.split:
            raise SpecError(
                f"{self.spec.strategy} splits equal rows by their order in {self.engine.name}, which another system "
                "need not have; name another strategy, or leave out `dialect` and `table`"
            )

    def _written_out(self, relation: Relation, name: Relation) -> WrittenTable:
        """The assignment or the classes, written out."""
        engine = self.judge.frequency_set.engine
        query, columns = self._copied(relation, engine)
        types = [column.type for column in columns]
        rows = [tuple(map(queries.of_type, row, types)) for row in engine.rows(query)]
        return queries.written_table(name.name, [c.name for c in columns], types, rows, engine.dialect)

    def _written_codes(self, attribute: Attribute, name: Relation) -> WrittenTable:
        """The codes of a column's values, written out, without NULL."""
        column, hierarchy = self._column(attribute), attribute.hierarchy
        coded = zip((*hierarchy.values, *hierarchy.starred), hierarchy.codes(0), strict=True)
        rows = [(self._written(value, column), code) for value, code in coded if value is not None]
        return queries.written_table(
            name.name, ["value", "code_0"], [column.type, "INTEGER"], rows, self.engine.dialect
        )

    def companions(self) -> dict[str, str]:
        coded = [attribute.coded for attribute in self.attributes]
        dialect, codes = self.engine.dialect, ["code_0"]
        queries_of = {
            c.stem: queries.text("mappings/view_mapping", dialect, columns=codes, mapping=c.mapping) for c in coded
        }
        for relation, stem in zip(self._relations, STEMS, strict=True):
            queries_of[stem], _ = self._copied(relation, self.engine)
        return queries_of

    def view_sql(self, view: Relation) -> str:
        return self._view(view).sql(self.engine.dialect)

    def view_population_sql(self, view: Relation) -> str:
        """The query of the population with the view's labels, for any time."""
        return self._view(view).population_sql(self.engine.dialect)

    def _view(self, view: Relation) -> LocalReleaseQuery:
        source = self.engine.lasting(self.table.relation)
        assignment, classes = (companion(view, stem) for stem in STEMS)
        query = self._query(source, lambda a: companion(view, a.coded.stem), assignment, classes, recount=True)
        return replace(query, least_people=self._least_people)

    def _copied(self, relation: Relation, engine: Engine) -> tuple[str, list[Column]]:
        """The part of the assignment or the classes that a standalone release needs: a query and its columns."""
        if relation == self.classes:
            needed = {"class", *(column for cell in self._cells(no_mapping) for _, column in cell.shown)}
        else:
            places = {"first", "last"} if self.local.split else set()
            needed = {"class", *places, *(a.coded.code_column(0) for a in self.attributes)}
        columns = [column for column in engine.table(relation).columns if column.name in needed]
        columns.sort(key=lambda column: column.name != "class")
        names = [column.name for column in columns]
        return queries.text("frequency_sets/copy", engine.dialect, columns=names, source=relation), columns

    def _cells(self, mapping: Mapped) -> list[ReleaseColumn]:
        places = {a.column.name: (j, a) for j, a in enumerate(self.attributes)}
        return [
            class_column(*places[column.name], self.hows[places[column.name][0]], mapping)
            if column.name in places
            else self._kept_cells[column.name]
            for column in self._shown
        ]

    @cached_property
    def _kept_cells(self) -> dict[str, ReleaseColumn]:
        """The columns that are released unchanged."""
        others = {*self.spec.dropped, *(attribute.column.name for attribute in self.attributes)}
        return {c.name: kept_column(c, self._is_plain(c)) for c in self.table.columns if c.name not in others}

    def _query(
        self,
        source: Relation,
        mapping: Mapped,
        assignment: Relation,
        classes: Relation,
        recount: bool = False,
        values: tuple[WrittenTable, ...] = (),
    ) -> LocalReleaseQuery:
        query = LocalReleaseQuery(
            source=source,
            columns=tuple(self._cells(mapping)),
            assignment=assignment,
            classes=classes,
            safe=self.model.safe,
            sensitive=self.model.sensitive,
            split=self.local.split,
            hidden=self.model.hidden,
            recount=recount,
            seed=self.spec.seed,
            shuffle_seed=self.spec.seed if self.spec.shuffle else None,
            values=values,
        )
        population = self._population if recount else {}
        if not population:
            return query
        safe = self.model.with_population(population["population_unit"] is not None).safe
        return replace(query, safe=safe, **population)
