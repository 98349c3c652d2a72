"""The queries of a release of classes that are already counted: rows are joined with them, and sorted by their place.

Rows are sorted by all released columns. Comparing many texts per row is slow, so classes are numbered in the order of
their labels (their place), and rows are sorted by this number and by the kept columns.

A large release in DuckDB reads the classes from a table, with texts as ENUMs: otherwise most of the time is spent
on sorting texts and looking them up again while a file is written. If the release has few kinds of rows, they
are counted, and only the kinds are sorted and then repeated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.release_query import ReleaseColumn
from kanon_sql.queries.row_order import by_looks, ordered, release_order
from kanon_sql.relation import Relation

_ROWS_AT_A_TIME = 1024  # a row's repetitions per list, which could be as long as the largest class
PLACE = "kanon_place"  # of a class, in the order of labels
SORTED = "kanon_sorted"
_N, _BLOCK = "kanon_n", "kanon_block"


@dataclass(frozen=True)
class ShownColumn:
    """A released column: `inner`, a column of the rows or the classes, or the constant of the source's column `of`."""

    of: ReleaseColumn
    name: str
    inner: str = ""


@dataclass(frozen=True)
class CountedRelease:
    """The parts of a release of counted classes.

    `rows`: the query of the source's rows, with the codes `keys` of their classes and the kept columns. `shown`: the
    query of the classes, by the same keys, with their labels and place. `keys`: the columns of the frequency set by
    those of the codes. `mask`: whether to release rows without a class masked. `split`: whether a class has only the
    rows of a tuple from its `first` to its `last`, by their `place`. `places`: the columns of `shown` to sort by.
    `looked_up`: the expressions of labels that `shown` lacks, by their inner names; `lists`: the relation in which
    they look up what they show for the places of a sorted row.
    """

    source: Relation
    columns: tuple[ShownColumn, ...]
    keys: Mapping[str, str]
    rows: exp.Select
    shown: exp.Select
    mask: bool = False
    shuffle_seed: int | None = None
    split: bool = False
    places: tuple[str, ...] = (PLACE,)
    looked_up: Mapping[str, exp.Expr] = field(default_factory=dict)
    lists: str = ""

    @property
    def masks(self) -> bool:
        """Whether a row can be masked."""
        return self.mask and bool(self.keys)

    @property
    def kept(self) -> list[ShownColumn]:
        """The columns that are released unchanged."""
        return [shown for shown in self.columns if not shown.of.recoded]

    def sql(self, dialect: str) -> str:
        """The release in a dialect, as one query."""
        return t.printed(self._select(exp.Select(), t.fenced(self.rows.copy(), dialect), dialect), dialect)

    def _select(self, query: exp.Select, rows: exp.Select, dialect: str) -> exp.Select:
        joined = self._joined(rows, self.shown.subquery("k"))
        query = query.select(*self._all_shown()).from_(joined.subquery(SORTED))
        order = self._order(dialect)  # in the last step, because Spark loses the order of earlier ones
        return query.order_by(*order) if order else query

    def from_counted(self, query: exp.Select, relation: str, dialect: str) -> exp.Select:
        """Complete a query with the rows of one of its own relations, for a view."""
        rows = exp.select(*map(t.column, [*self.keys, *(shown.inner for shown in self.kept)])).from_(relation)
        if not self.lists:
            return self._select(query, rows, dialect)
        in_order = self._sorted(self._joined(rows, self.shown.subquery("k")).subquery(SORTED))
        query = query.select(*self._all_shown()).from_(in_order.subquery(SORTED))
        return query.join(exp.to_table(self.lists), join_type="CROSS")

    def shown_sql(self) -> str:
        """The query of the classes with their labels and place."""
        return _printed(self.shown)

    def kept_values_sql(self) -> str:
        """The query that estimates how many combinations of kept values the source has."""
        row = exp.Anonymous(this="ROW", expressions=[t.column(shown.name, "s") for shown in self.kept])
        about = exp.Anonymous(this="APPROX_COUNT_DISTINCT", expressions=[row])
        return _printed(exp.select(about).from_(t.table(self.source, "s")))

    def most_kinds_sql(self, frequency_set: Relation, values: int) -> str:
        """The query of an upper bound for the kinds of rows, given the number of combinations of kept values."""
        classes = exp.select(exp.alias_(exp.Sum(this=exp.column("n")), "n")).from_(t.table(frequency_set))
        classes = classes.group_by(*map(t.column, self.keys.values()))
        kinds = exp.Sum(this=exp.func("LEAST", exp.column("n"), t.literal(values)))
        return _printed(exp.select(kinds).from_(classes.subquery("classes")))

    def of_rows_sql(self, classes: Relation) -> str:
        """The query of the kinds of released rows with their numbers, from the rows of the source."""
        columns = [*map(t.column, self.keys), *(t.column(shown.inner) for shown in self.kept)]
        rows = exp.select(*columns, exp.alias_(exp.Count(this=exp.Star()), _N)).from_(self.rows.subquery("s"))
        return _printed(
            self._joined(rows.group_by(*(column.copy() for column in columns)), t.table(classes, "k"), [_N])
        )

    def of_frequency_set_sql(self, frequency_set: Relation, classes: Relation) -> str:
        """The same query from the counted tuples, for a release without kept columns."""
        codes = [exp.alias_(t.column(column), key) for key, column in self.keys.items()]
        counted = exp.Sum(this=exp.column("n"))
        rows = exp.select(*codes, exp.alias_(exp.cast(counted, "BIGINT"), _N)).from_(t.table(frequency_set))
        rows = rows.group_by(*map(t.column, self.keys.values())).having(counted.copy() > 0)
        return _printed(self._joined(rows, t.table(classes, "k"), [_N]))

    def rows_sql(self, classes: Relation, texts: Collection[str]) -> str:
        """The release of the rows of the source, one by one; `texts`: see `repeated_sql`."""
        rows = self._sorted(self._joined(self.rows, t.table(classes, "k")).subquery(SORTED))
        return self._released(rows.subquery(SORTED), texts)

    def repeated_sql(self, kinds: Relation, texts: Collection[str]) -> str:
        """The release of counted kinds of rows; `texts`: the columns that are ENUMs and to be written as text."""
        rows: exp.Expr = self._sorted(t.table(kinds, SORTED)).subquery("kinds")
        n, block = exp.column(_N), exp.column(_BLOCK)
        blocks = exp.IntDiv(this=exp.paren(n + (_ROWS_AT_A_TIME - 1)), expression=t.literal(_ROWS_AT_A_TIME))
        rows = exp.select("*", exp.alias_(_repeated(blocks), _BLOCK)).from_(rows).subquery("blocks")
        rest = exp.func("LEAST", t.literal(_ROWS_AT_A_TIME), n - block * _ROWS_AT_A_TIME)
        rows = exp.select("*", exp.alias_(_repeated(rest), "kanon_row")).from_(rows).subquery(SORTED)
        return self._released(rows, texts)

    def _joined(self, rows: exp.Select, classes: exp.Expr, more: Sequence[str] = ()) -> exp.Select:
        """Rows with the labels and the place of their class: NULL for a row without a class."""
        columns: list[exp.Expr] = [
            exp.alias_(self._opened(shown), shown.inner)
            for shown in self.columns
            if shown.inner and shown.inner not in self.looked_up
        ]
        columns += [t.column(name, "r") for name in more]
        query = exp.select(*(columns or [exp.Literal.number(1)])).from_(rows.subquery("r"))
        if not self.keys:
            return query
        query = query.select(*(t.column(place, "k") for place in self.places))
        equal: list[exp.Expr] = [exp.EQ(this=t.column(key, "k"), expression=t.column(key, "r")) for key in self.keys]
        if self.split:
            number, ends = t.column("place", "r"), [t.column(name, "k") for name in ("first", "last")]
            equal.append(exp.Between(this=number, low=ends[0], high=ends[1]))
        return query.join(classes, on=exp.and_(*equal), join_type="LEFT" if self.mask else "INNER")

    def _sorted(self, rows: exp.Expr) -> exp.Select:
        query, order = exp.select("*").from_(rows), self._order("duckdb")
        return query.order_by(*order) if order else query  # without an order, all rows are equal

    def _order(self, dialect: str) -> list[exp.Expr]:
        """The order of the rows: by the place of their class and the kept columns, or by a seeded hash of it all."""
        if self.shuffle_seed is not None:
            cells = [(self._shown(shown, shown.of.recoded), shown.of) for shown in self.columns]
            order = release_order(cells, self.shuffle_seed)
            return [key for key in order if not isinstance(key, exp.Literal)]
        places = [(t.column(place, SORTED), True) for place in self.places if self.keys]
        kept = [(t.column(shown.inner, SORTED), shown.of) for shown in self.kept]
        by_value = ordered([*places, *((cell, column.sortable) for cell, column in kept)], [], None)
        return [*by_value, *by_looks([(cell, column.kind) for cell, column in kept if not column.plain], dialect)]

    def _released(self, rows: exp.Expr, texts: Collection[str]) -> str:
        return _printed(exp.select(*self._all_shown(texts)).from_(rows))

    def _all_shown(self, texts: Collection[str] = ()) -> list[exp.Expr]:
        return [exp.alias_(self._shown(shown, shown.inner in texts), shown.name, quoted=True) for shown in self.columns]

    def _opened(self, shown: ShownColumn) -> exp.Expr:
        column = t.column(shown.inner, "k" if shown.of.recoded else "r")
        # The labels of a hierarchy already have their released type.
        return column if shown.of.recoded and not shown.of.shown else t.opened(column, shown.of.open_type)

    def _shown(self, column: ShownColumn, as_text: bool) -> exp.Expr:
        """The expression of a released cell."""
        if not column.inner:
            return t.literal(column.of.constant)
        if column.inner in self.looked_up:
            return self.looked_up[column.inner]
        shown: exp.Expr = t.column(column.inner, SORTED)
        shown = exp.cast(shown, "TEXT") if as_text else shown
        if not (self.masks and column.of.recoded and column.of.unmapped):
            return shown
        return exp.Case().when(t.is_null(t.column(PLACE, SORTED)), t.literal(column.of.unmapped)).else_(shown)


def with_place(classes: exp.Select, labels: Sequence[exp.Expr], texts_in: str | None = None) -> exp.Select:
    """A query of classes with their place: `CAST(DENSE_RANK() OVER (ORDER BY label, …) AS INT) AS kanon_place`.

    Classes with the same labels have the same place. `texts_in`: the dialect, unless the labels are numbers.
    """
    order: list[exp.Expr] = []
    for label in labels:
        order.append(exp.Ordered(this=label.copy(), nulls_first=False))
        if texts_in == "duckdb":  # by bytes too, because labels can be equal by a collation
            in_bytes = exp.func("HEX", exp.cast(label.copy(), "TEXT"))
            order.append(exp.Ordered(this=in_bytes, nulls_first=False))
    rank = exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=exp.Order(expressions=order))
    return classes.select(exp.alias_(exp.cast(rank, "INT"), PLACE))


def label_type(name: str, relation: Relation, column: str) -> str:
    """The statement that creates an ENUM of the texts in a column, in their order."""
    # By bytes too, because different texts can be equal by a collation.
    bytes_of = exp.alias_(exp.Anonymous(this="ENCODE", expressions=[t.column(column)]), "bytes")
    texts = exp.select(bytes_of).distinct().from_(t.table(relation)).where(t.is_not_null(t.column(column)))
    text = exp.Anonymous(this="DECODE", expressions=[exp.column("bytes")])
    query = exp.select(text).from_(texts.subquery("texts")).order_by(text.copy(), exp.column("bytes"))
    return f"CREATE TEMPORARY TYPE {t.identifier(name, 'duckdb')} AS ENUM ({_printed(query)})"


def typed_columns(relation: Relation, columns: Sequence[str], types: Mapping[str, str]) -> str:
    """The query of a relation with some columns cast to types, by their names."""
    typed = {name: exp.alias_(t.cast_to(t.column(name), kind), name, quoted=True) for name, kind in types.items()}
    return _printed(exp.select(*(typed.get(name) or t.column(name) for name in columns)).from_(t.table(relation)))


def classed_rows(rows: Relation, columns: Sequence[str], classes: Relation, labels: Sequence[str]) -> str:
    """The query of rows with the number of the class that has their labels."""
    same = [exp.NullSafeEQ(this=t.column(name, "k"), expression=t.column(name, "r")) for name in labels]
    selected = [*(t.column(name, "r") for name in columns), exp.column("class", table="k")]
    query = exp.select(*selected).from_(t.table(rows, "r"))
    return _printed(query.join(t.table(classes, "k"), on=exp.and_(*same)))


def label_counts(types: Sequence[str]) -> str:
    """The query that counts the values of ENUMs."""
    values_of_types = (exp.Anonymous(this="ENUM_RANGE", expressions=[t.cast_to(exp.null(), name)]) for name in types)
    return _printed(exp.select(*(exp.Anonymous(this="LEN", expressions=[values]) for values in values_of_types)))


def text_counts(relation: Relation, columns: Sequence[str], first: int | None = None) -> str:
    """The query that estimates the number of distinct values of columns, of the first rows if their number is given."""
    about = (exp.Anonymous(this="APPROX_COUNT_DISTINCT", expressions=[t.column(name)]) for name in columns)
    if first is None:
        return _printed(exp.select(*about).from_(t.table(relation)))
    rows = exp.select(*map(t.column, columns)).from_(t.table(relation)).limit(first)
    return _printed(exp.select(*about).from_(rows.subquery("r")))


def drop_type(name: str) -> str:
    """The statement that drops an ENUM."""
    return f"DROP TYPE {t.identifier(name, 'duckdb')}"


def _repeated(times: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="UNNEST", expressions=[exp.Anonymous(this="RANGE", expressions=[times])])


def _printed(query: exp.Expr) -> str:
    return t.printed(query, "duckdb")
