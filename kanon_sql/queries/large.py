"""The queries of a large release in DuckDB: labels as ENUMs, equal rows counted, sorted once, and repeated.

Rows are sorted by all that is released. To carry texts through that sort, and to look up each of them once more while a
file is written, takes most of the time of a large release. An ENUM is a small number there, and its values stand in the
order of the texts. Where few kinds of rows are released, they are counted, and only the kinds are sorted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.order import ordered
from kanon_sql.relation import Relation

_ROWS_AT_A_TIME = 1024  # that a row is repeated: a list of all would be as long as the largest class
_SORTED, _MASKED, _N, _BLOCK = "kanon_sorted", "kanon_masked", "kanon_n", "kanon_block"


@dataclass(frozen=True)
class LargeCell:
    """A released column: what `column` of the classes shows (`recoded`) or of the rows, or a `constant`.

    `raw`: the source's column, where it is kept. See `Cell` for the rest.
    """

    name: str
    column: str = ""
    raw: str = ""
    recoded: bool = False
    sortable: bool = True
    plain: bool = True
    constant: str | None = None
    mask: str | None = None
    open_type: str | None = None

    @property
    def kept(self) -> bool:
        """Whether it stands in the rows."""
        return bool(self.column) and not self.recoded


@dataclass(frozen=True)
class LargeQuery:
    """What a large release is made of.

    `rows`: the query of the source's rows, with the codes `keys` of their classes and what is kept. `shown`: that of
    the classes, by the same keys, with what they show. `keys`: the columns of the frequency set by those of the codes.
    `mask`: whether rows of no class are released masked.
    """

    source: Relation
    cells: tuple[LargeCell, ...]
    keys: Mapping[str, str]
    rows: exp.Select
    shown: exp.Select
    mask: bool = False
    shuffle_seed: int | None = None

    @property
    def masks(self) -> bool:
        """Whether a row may be masked."""
        return self.mask and bool(self.keys)

    @property
    def kept(self) -> list[LargeCell]:
        """The columns that are released as they are."""
        return [cell for cell in self.cells if cell.kept]

    def shown_sql(self) -> str:
        """The query of the classes, each with what it shows."""
        return _printed(self.shown)

    def kept_values_sql(self) -> str:
        """The query that tells about how many combinations of kept values the source has."""
        row = exp.Anonymous(this="ROW", expressions=[t.column(cell.raw, "s") for cell in self.kept])
        about = exp.Anonymous(this="APPROX_COUNT_DISTINCT", expressions=[row])
        return _printed(exp.select(about).from_(t.table(self.source, "s")))

    def most_kinds_sql(self, frequency_set: Relation, values: int) -> str:
        """The query that tells how many kinds of rows there are at most, with so many combinations of kept values."""
        classes = exp.select(exp.alias_(exp.Sum(this=exp.column("n")), "n")).from_(t.table(frequency_set))
        classes = classes.group_by(*map(t.column, self.keys.values()))
        kinds = exp.Sum(this=exp.func("LEAST", exp.column("n"), t.literal(values)))
        return _printed(exp.select(kinds).from_(classes.subquery("classes")))

    def of_rows_sql(self, classes: Relation) -> str:
        """The query of the kinds of released rows, with how many there are, from the rows of the source."""
        columns = [*map(t.column, self.keys), *(t.column(cell.column) for cell in self.kept)]
        rows = exp.select(*columns, exp.alias_(exp.Count(this=exp.Star()), _N)).from_(self.rows.subquery("s"))
        return _printed(self._joined(rows.group_by(*(column.copy() for column in columns)), classes, [_N]))

    def of_frequency_set_sql(self, frequency_set: Relation, classes: Relation) -> str:
        """The same query where nothing is kept, from the counted tuples."""
        codes = [exp.alias_(t.column(column), key) for key, column in self.keys.items()]
        counted = exp.Sum(this=exp.column("n"))
        rows = exp.select(*codes, exp.alias_(exp.cast(counted, "BIGINT"), _N)).from_(t.table(frequency_set))
        rows = rows.group_by(*map(t.column, self.keys.values())).having(counted.copy() > 0)
        return _printed(self._joined(rows, classes, [_N]))

    def rows_sql(self, classes: Relation, texts: Collection[str]) -> str:
        """The release of the rows of the source, one by one; `texts`: see `repeated_sql`."""
        rows = self._sorted(self._joined(self.rows, classes).subquery("rows"))
        return self._released(rows.subquery(_SORTED), texts)

    def repeated_sql(self, kinds: Relation, texts: Collection[str]) -> str:
        """The release of counted kinds of rows; `texts`: the columns that are ENUMs and to be written as text."""
        rows: exp.Expr = self._sorted(t.table(kinds)).subquery("kinds")
        n, block = exp.column(_N), exp.column(_BLOCK)
        blocks = exp.IntDiv(this=exp.paren(n + (_ROWS_AT_A_TIME - 1)), expression=t.literal(_ROWS_AT_A_TIME))
        rows = exp.select("*", exp.alias_(_repeated(blocks), _BLOCK)).from_(rows).subquery("blocks")
        rest = exp.func("LEAST", t.literal(_ROWS_AT_A_TIME), n - block * _ROWS_AT_A_TIME)
        rows = exp.select("*", exp.alias_(_repeated(rest), "kanon_row")).from_(rows).subquery(_SORTED)
        return self._released(rows, texts)

    def _joined(self, rows: exp.Select, classes: Relation, more: Sequence[str] = ()) -> exp.Select:
        """Rows with what their class shows."""
        columns = [
            exp.alias_(t.opened(t.column(cell.column, "k" if cell.recoded else "r"), cell.open_type), cell.column)
            for cell in self.cells
            if cell.column
        ]
        query = exp.select(*columns, *(t.column(name, "r") for name in more)).from_(rows.subquery("r"))
        if not self.keys:
            return query
        if self.masks:
            query = query.select(exp.alias_(t.is_null(t.column(next(iter(self.keys)), "k")), _MASKED))
        equal = [exp.EQ(this=t.column(key, "k"), expression=t.column(key, "r")) for key in self.keys]
        return query.join(t.table(classes, "k"), on=exp.and_(*equal), join_type="LEFT" if self.mask else "INNER")

    def _sorted(self, rows: exp.Expr) -> exp.Select:
        query, order = exp.select("*").from_(rows), self._order()
        return query.order_by(*order) if order else query  # without any, all rows are the same

    def _order(self) -> list[exp.Expr]:
        """The order of the rows, by the same rules as that of any release."""
        cells = sorted(self.cells, key=lambda cell: not cell.recoded)
        if self.shuffle_seed is not None:
            shown = [(self._shown(cell, cell.recoded), cell.sortable) for cell in cells]
            return [each for each in ordered(shown, [], self.shuffle_seed) if not isinstance(each, exp.Literal)]
        columns = [(t.column(cell.column), cell.sortable) for cell in cells if cell.column]
        if self.masks:  # else a row that shows NULL everywhere might stand among those of no class
            recoded = sum(cell.recoded for cell in cells if cell.column)
            columns.insert(recoded, (t.column(_MASKED), True))
        return ordered(columns, [], None)

    def _released(self, rows: exp.Expr, texts: Collection[str]) -> str:
        shown = (exp.alias_(self._shown(cell, cell.column in texts), cell.name, quoted=True) for cell in self.cells)
        return _printed(exp.select(*shown).from_(rows))

    def _shown(self, cell: LargeCell, as_text: bool) -> exp.Expr:
        """What a cell shows."""
        if not cell.column:
            return t.literal(cell.constant)
        shown: exp.Expr = exp.cast(t.column(cell.column), "TEXT") if as_text else t.column(cell.column)
        if not (self.masks and cell.mask):
            return shown
        return exp.Case().when(t.column(_MASKED), t.literal(cell.mask)).else_(shown)


def label_type(name: str, relation: Relation, column: str) -> str:
    """The statement that makes an ENUM of the texts in a column, in their order."""
    # A collation may hold two texts equal; by their bytes they are two.
    bytes_of = exp.alias_(exp.Anonymous(this="ENCODE", expressions=[t.column(column)]), "bytes")
    texts = exp.select(bytes_of).distinct().from_(t.table(relation)).where(t.is_not_null(t.column(column)))
    text = exp.Anonymous(this="DECODE", expressions=[exp.column("bytes")])
    query = exp.select(text).from_(texts.subquery("texts")).order_by(text.copy(), exp.column("bytes"))
    return f"CREATE TEMPORARY TYPE {t.identifier(name, 'duckdb')} AS ENUM ({_printed(query)})"


def typed_columns(relation: Relation, columns: Sequence[str], types: Mapping[str, str]) -> str:
    """The query of a relation with some columns in these types, by their names."""
    return _printed(exp.select(*(_in_type(name, types.get(name)) for name in columns)).from_(t.table(relation)))


def label_counts(types: Sequence[str]) -> str:
    """The query that tells how many values ENUMs have."""
    every = (exp.Anonymous(this="ENUM_RANGE", expressions=[_cast(exp.null(), name)]) for name in types)
    return _printed(exp.select(*(exp.Anonymous(this="LEN", expressions=[values]) for values in every)))


def text_counts(relation: Relation, columns: Sequence[str]) -> str:
    """The query that tells about how many values columns have."""
    about = (exp.Anonymous(this="APPROX_COUNT_DISTINCT", expressions=[t.column(name)]) for name in columns)
    return _printed(exp.select(*about).from_(t.table(relation)))


def drop_type(name: str) -> str:
    """The statement that drops an ENUM."""
    return f"DROP TYPE {t.identifier(name, 'duckdb')}"


def _in_type(name: str, kind: str | None) -> exp.Expr:
    column = t.column(name)
    return exp.alias_(_cast(column, kind), name, quoted=True) if kind else column


def _cast(value: exp.Expr, kind: str) -> exp.Cast:
    return exp.Cast(this=value, to=exp.Var(this=t.identifier(kind, "duckdb")))


def _repeated(times: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="UNNEST", expressions=[exp.Anonymous(this="RANGE", expressions=[times])])


def _printed(query: exp.Expr) -> str:
    return t.printed(query, "duckdb")
