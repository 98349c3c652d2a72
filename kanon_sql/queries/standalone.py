"""The standalone statement of a full-domain release, to be read by people and run elsewhere, in any dialect.

The labels of rules are computed from raw values; other labels are looked up in mapping tables, which are written out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from kanon_sql.generalization.label_rules import Itself
from kanon_sql.privacy import POPULATION_UNIT
from kanon_sql.queries import dialects
from kanon_sql.queries import tree as t
from kanon_sql.queries.inlined_tables import PrintedStatement, WrittenTable, laid_out
from kanon_sql.queries.release import CLASSES, RECODED, with_safe_classes
from kanon_sql.queries.release_query import ReleaseQuery, StatementColumn
from kanon_sql.queries.row_order import release_order
from kanon_sql.queries.rule_labels import ruled
from kanon_sql.queries.split_joins import in_pieces
from kanon_sql.queries.suppression_limit import HELD, within_limit
from kanon_sql.relation import Relation


@dataclass(frozen=True, kw_only=True)
class StandaloneQuery(ReleaseQuery):
    """A standalone statement; `statement` prints it."""

    columns: tuple[StatementColumn, ...]

    def statement(self, dialect: str, lasting: bool = False, most: float | None = None) -> PrintedStatement:
        """The query in a dialect, and the mapping tables that are too long to be part of it.

        `lasting`: whether these tables may be permanent, for a system without temporary tables. `most`: the maximum
        number of rows of a table in the query. SpecError if the dialect cannot express the query.
        """
        tables = {cell.name: cell.written for cell in self.columns if cell.written and cell.written.rows}
        long = tuple(table for table in tables.values() if table.is_long(dialect, lasting, most))
        tree = _Printed(self, dialect, long).tree()
        return PrintedStatement(laid_out(tree, dialect), long, dialect, has_values=bool(tables), listed=tuple(tables))


NUMBERED, EVERYBODY, CLASS, APART = "kanon_numbered", "kanon_everybody", "kanon_class", "kanon_apart"


@dataclass(frozen=True)
class _Printed:
    """Builds the tree of a statement."""

    release: StandaloneQuery
    dialect: str
    long: Sequence[WrittenTable]

    def tree(self) -> exp.Select:
        release = self.release
        shown = [_as(t.column(inner), cell.name) for inner, cell in self._named]
        query = exp.select(*shown)
        if release.limit is None:
            query = query.from_(exp.to_table(NUMBERED))
            query = query.join(exp.to_table(CLASSES), using=[exp.to_identifier(CLASS)])
            query = query.where(*self._own())
        else:
            same = exp.EQ(this=exp.column(CLASS, NUMBERED), expression=exp.column(CLASS, HELD))
            on = exp.and_(same, *self._own())
            query = query.from_(exp.to_table(HELD)).join(exp.to_table(NUMBERED), on=on, join_type="LEFT")
        query = query.order_by(*self._order())
        if release.read_files:
            query = query.with_(exp.to_identifier(release.source.name), as_=release.read_files, dialect="duckdb")
        for cell in release.columns:
            if cell.written and cell.written.rows and cell.written not in self.long:
                query = query.with_(exp.to_identifier(cell.written.name), as_=self._values(cell.written))
        query = query.with_(RECODED, as_=self._recoded())
        if release.population is not None:
            query = query.with_(EVERYBODY, as_=self._everybody(release.population))
        twice = dialects.is_executed(self.dialect) or None  # computed once, where the dialect can
        query = query.with_(NUMBERED, as_=self._numbered(), materialized=twice)
        query = with_safe_classes(query, [t.column(CLASS)], RECODED, release.safe, self.dialect, NUMBERED, twice)
        if release.limit is None:
            return query
        rows = exp.select().from_(exp.to_table(NUMBERED)).where(*self._own())
        no_class = exp.Literal.string("") if self._class_is_text else exp.Literal.number(0)
        return within_limit(query, CLASS, rows, rows, release.limit, self.dialect, no_class)

    def _own(self) -> list[exp.Expr]:
        """The condition that a numbered row is not one of the population, if any."""
        own = exp.EQ(this=exp.column("n", NUMBERED), expression=exp.Literal.number(1))
        return [] if self.release.population is None else [own]

    @property
    def _named(self) -> list[tuple[str, StatementColumn]]:
        """The columns with their names within the statement."""
        return list(zip(self._names, self.release.columns, strict=True))

    @property
    def _names(self) -> list[str]:
        """The names of the columns within the statement: the released ones, unless they clash with ours."""
        ours = {"n", "population", POPULATION_UNIT, *self.release.sensitive}
        names = [cell.name.lower() for cell in self.release.columns]
        taken = [name in ours or name.startswith("kanon_") for name in names]
        return [f"kanon_{i}" if taken[i] else cell.name for i, cell in enumerate(self.release.columns)]

    def _recoded(self) -> exp.Select:
        """The rows of the source with their labels, and the columns that models count."""
        shown = [_as(self._shown(i), name) for i, name in enumerate(self._names)]
        counted = [_as(t.column(raw, "s"), name) for name, raw in self.release.sensitive.items()]
        one = exp.alias_(exp.Literal.number(1), "n")
        return self._reading(self.release.source, [*shown, *self._apart(), *counted, one], self.release.columns)

    def _everybody(self, population: Relation) -> exp.Query:
        """The recoded rows, and the rows of the population, which are counted but not released."""
        release, names = self.release, self._names
        flags = [flag.alias for flag in self._apart()]
        own: list[exp.Expr] = [t.column(name) for name in (*names, *flags, *release.sensitive)]
        others = [
            _as(self._shown(i) if cell.recoded else exp.null(), names[i]) for i, cell in enumerate(release.columns)
        ]
        others += [*self._apart(), *(_as(exp.null(), name) for name in release.sensitive)]
        if release.population_unit:
            own.append(_as(exp.null(), POPULATION_UNIT))
            others.append(_as(t.column(release.population_unit, "s"), POPULATION_UNIT))
        own += [exp.column("n"), exp.alias_(exp.Literal.number(0), "population")]
        others += [exp.alias_(exp.Literal.number(n), name) for n, name in enumerate(("n", "population"))]
        recoded = [cell for cell in release.columns if cell.recoded]
        of_population = self._reading(population, others, recoded)
        return exp.union(exp.select(*own).from_(exp.to_table(RECODED)), of_population, distinct=False)

    def _reading(self, relation: Relation, columns: Sequence[exp.Expr], cells: Sequence[StatementColumn]) -> exp.Select:
        """A query of columns of a relation, joined with the mapping tables of cells."""
        query = exp.select(*columns).from_(t.table(relation, "s"), copy=False)
        for i, cell in enumerate(self.release.columns):
            if cell in cells and cell.written and cell.written.rows:
                equal = exp.EQ(this=t.column("value", f"m{i}"), expression=t.column(cell.name, "s"))
                mapping = t.table(Relation(cell.written.name), f"m{i}")
                query = query.join(mapping, on=equal, join_type="LEFT", copy=False)
        return in_pieces(query, [f"m{i}" for i, _ in enumerate(self.release.columns)])

    def _numbered(self) -> exp.Select:
        """The rows with what identifies their class; NULL is treated like any other value."""
        relation = EVERYBODY if self.release.population is not None else RECODED
        star = exp.Column(this=exp.Star(), table=exp.to_identifier("r"))
        return exp.select(star, exp.alias_(self._class(), CLASS)).from_(t.table(Relation(relation), "r"))

    def _class(self) -> exp.Expr:
        """The number of a row's class, or a text of all labels, which a cluster computes in parallel."""
        cells = {name: cell for name, cell in self._named if self._keys(cell)}
        keys = [t.column(name, "r") for name in (*cells, *(flag.alias for flag in self._apart()))]
        if not keys:
            return exp.Literal.number(1)
        if self._class_is_text:
            labels = {name for name, cell in cells.items() if _is_label(cell)}
            texts = [key if key.name in labels else exp.cast(key, "TEXT") for key in keys]
            parts = [t.expression(_WITH_LENGTH, value=text) for text in texts]
            return reduce(lambda before, part: exp.DPipe(this=before, expression=part), parts)
        order = exp.Order(expressions=[exp.Ordered(this=key, nulls_first=False) for key in keys])
        return exp.Window(this=exp.DenseRank(), order=order)

    @property
    def _class_is_text(self) -> bool:
        """Whether a text identifies a class: not if another system might write different values as the same text."""
        keyed = [cell for cell in self.release.columns if self._keys(cell)]
        return bool(keyed) and not dialects.is_executed(self.dialect) and all(map(_is_text, keyed))

    def _keys(self, cell: StatementColumn) -> bool:
        return cell.recoded and cell.constant is None

    def _apart(self) -> list[exp.Expr]:
        """Flags of values without a row in the mapping table, in columns where both they and NULL show NULL."""
        flags = []
        for i, cell in enumerate(self.release.columns):
            if cell.apart:
                lacks = exp.and_(t.is_not_null(t.column(cell.name, "s")), t.is_null(t.column("value", f"m{i}")))
                flag = exp.Case().when(lacks, exp.Literal.number(1)).else_(exp.Literal.number(0))
                flags.append(exp.alias_(flag, f"{APART}_{i}", quoted=True))
        return flags

    def _shown(self, i: int) -> exp.Expr:
        """The expression of a released cell."""
        cell = self.release.columns[i]
        raw = t.column(cell.name, "s")
        if cell.constant is not None:
            return dialects.constant(t.literal(cell.constant), self.dialect)
        if cell.rule is not None:
            value = t.opened(raw, cell.open_type)
            if cell.zone is not None:
                value = exp.AtTimeZone(this=value, zone=exp.Literal.string(cell.zone))
            shown = ruled(cell.rule, value, cell.kind, cell.exact)
        elif cell.written is not None:
            shown = self._looked_up(cell, raw, i)
        else:
            return t.opened(raw, cell.open_type)
        return dialects.trimmed(shown, self.dialect) if cell.kind == "text" else shown

    def _looked_up(self, cell: StatementColumn, raw: exp.Expr, i: int) -> exp.Expr:
        assert cell.written is not None
        if not cell.written.rows:  # only NULL
            return exp.Case().when(t.is_null(raw), t.literal(cell.null_label)).else_(t.literal(cell.unmapped))
        label = t.opened(t.column(cell.written.columns[-1], f"m{i}"), cell.open_type)
        if cell.unmapped is not None:
            label = exp.func("COALESCE", label, t.literal(cell.unmapped))
        if cell.null_label == cell.unmapped:
            return label
        return exp.Case().when(t.is_null(raw), t.literal(cell.null_label)).else_(label)

    def _values(self, table: WrittenTable) -> exp.Select:
        """A mapping table written out; of values that the system treats as equal, only one."""
        query = table.query()
        if dialects.is_executed(self.dialect):
            return query
        value, *label = query.selects
        once = exp.select(value.copy(), *(_as(exp.Min(this=column.copy()), column.name) for column in label))
        return once.from_(query.args["from_"].this).group_by(value.copy())

    def _order(self) -> list[exp.Expr]:
        """Sort by all released columns, quasi-identifiers first, or by a seeded hash of them."""
        cells = [(t.column(name, NUMBERED), cell) for name, cell in self._named]
        return release_order(cells, self.release.shuffle_seed, by_looks=dialects.is_executed(self.dialect))


# Different lists of values have different texts: the length says where a value ends, and no length is "-".
_WITH_LENGTH = "COALESCE(CAST(LENGTH($value) AS TEXT) || ':' || $value, '-')"


def _is_text(cell: StatementColumn) -> bool:
    """Whether a cell is a label, or a value that every system writes in full as text: Snowflake cuts long fractions."""
    return _is_label(cell) or cell.kind in ("text", "integer")


def _is_label(cell: StatementColumn) -> bool:
    """Whether a cell is a label, which is a text, and not an unchanged value of the source."""
    return not (isinstance(cell.rule, Itself) or (cell.written and len(cell.written.columns) == 1))


def _as(expression: exp.Expr, name: str) -> exp.Expr:
    if isinstance(expression, exp.Column) and expression.name == name:
        return expression
    return exp.alias_(expression, name, quoted=True)


def exported_tuples(columns: Mapping[str, str], rows: str, source: Relation, dialect: str) -> str:
    """The query that counts the distinct tuples of columns, for another system: the columns, and `rows`.

    `columns`: their names there, and in the result.
    """
    tree = t.tree("frequency_sets/tuples", columns=list(columns), source=source)
    assert isinstance(tree, exp.Select)
    *plain, counted = tree.selects
    shown = [_as(column, columns[column.name]) for column in plain]
    tree.set("expressions", [*shown, exp.alias_(counted.this, rows, quoted=True)])
    return dialects.printed(tree, dialect, pretty=True)
