"""Class values: the rows of every value of a sensitive column in every class, and the other figures of a value.

    SELECT "age", SUM(n) AS "_rows_0", CAST(SUM(n) AS BIGINT) AS _c_of_pay FROM f GROUP BY "age", pay

Figures that compare a class with the whole table need its reference: a relation of one row per value
(`sql/privacy.sql`). Figures that depend on the order of the values also need the values that a class lacks: for these,
all classes are joined with all values. People are counted in a separate GROUP BY, since their counts do not add up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.privacy import PEOPLE, POPULATION_UNIT, UNIT

CLASS_VALUES = "class_values"
PLACE = "overall_place"  # a figure of ours: the value's place in the order of the table's values
RANK = "place"  # a figure of ours: the value's place among those of its class, the most frequent first
_IN_CLASS, _REFERENCE = "in_class", "reference"
_ORDERED = ("c_to", "overall_c_to")
_OVERALL = ("value", "overall_c", "overall_size", "overall_pairs", "overall_values")
_GROUPED = re.compile(r"(c|overall_c|first)_(\d+)")
_OF_TABLE = ("raw", "overall_c", "overall_c_to", "overall_size", "overall_pairs", "overall_values")


@dataclass(frozen=True)
class CountedColumn:
    """A column whose values are counted: its name, the counted expression, and the relation of the table's own figures.

    `unit`: the column of the people that are counted instead of rows. `nullable`: whether NULL can be a value here.
    `every`: whether to include the values that a class lacks, for a model that depends on their order; another model
    on the same column, which counts only values that occur, must not see them.
    `populated`: whether the rows of a population alone (n = 0) are included. `of_kinds`: see `Predicate`.
    """

    name: str
    unit: str | None = None
    every: bool = False
    reference: exp.Table | None = None
    nullable: bool = False
    populated: bool = False
    of_kinds: bool = False

    def figure(self, name: str) -> exp.Column:
        """The column of a figure of one value in a class, such as `c`, its rows."""
        every, people = "_every" if self.every else "", "_people" if self.unit else ""
        return exp.column(f"_{name}_of{every}{people}{self.name}")

    @property
    def table(self) -> exp.Table:
        """The reference."""
        if self.reference is None:
            raise ValueError(f"no reference is given for the values of {self.name}")
        return self.reference.copy()


def is_value_figure(name: str) -> bool:
    """Whether a name is a figure of a value in a class; see `kanon_sql.privacy.PrivacyModel`."""
    return name in ("c", "size") or name in (*_ORDERED, *_OVERALL) or bool(_GROUPED.fullmatch(name))


def follows_order(names: Iterable[str]) -> bool:
    """Whether any of the figures depends on the order of the values."""
    return any(name in _ORDERED for name in names)


def units(unit: str) -> exp.AggFunc:
    """The people of a class, whom kinds of classes have counted already."""
    if unit == PEOPLE:
        return exp.Max(this=_column(unit))
    return exp.Count(this=exp.Distinct(expressions=[_column(unit)]))


def counts_people(aggregate: exp.Expr) -> bool:
    """Whether an aggregate counts people, which cannot be added up over the values of a class."""
    counts = isinstance(aggregate, exp.Count) and isinstance(aggregate.this, exp.Distinct)
    return counts and [column.name for column in aggregate.this.expressions] in ([UNIT], [POPULATION_UNIT])


def class_values(
    rows: exp.Select,
    keys: Sequence[exp.Column],
    sums: Mapping[str, exp.Expr],
    figures: Mapping[CountedColumn, Sequence[str]],
) -> exp.Subquery:
    """The query of the class values: the keys, aggregates of the rows, and a column per figure of a counted column.

    `rows`: a SELECT without columns. The sums are in one row per class, or in several that add up, and else NULL.
    """
    branches = _ClassValues(rows, keys, sums, figures).branches()
    query = exp.union(*branches, distinct=False) if len(branches) > 1 else branches[0]
    return subquery(query, CLASS_VALUES)


@dataclass(frozen=True)
class _ClassValues:
    """Builds the query of the class values from one query per counted column."""

    rows: exp.Select
    keys: Sequence[exp.Column]
    sums: Mapping[str, exp.Expr]
    figures: Mapping[CountedColumn, Sequence[str]]

    def branches(self) -> list[exp.Select]:
        """The rows per class and value, one query per column; only one of the queries has the sums."""
        columns = sorted(self.figures, key=lambda counted: (counted.name, counted.every))
        adding = next((counted for counted in columns if not self._is_dense(counted)), None)
        if any(map(counts_people, self.sums.values())) or any(counted.populated for counted in columns):
            adding = None
        # The first branch has the sums: a UNION takes its types.
        in_order = sorted(columns, key=lambda counted: counted is not adding)
        of_values = [self._of_values(counted, counted is adding) for counted in in_order]
        if adding or (of_values and not self.sums):
            return of_values
        return [self._grouped([*self._sums(True), *self._figures({})]), *of_values]

    def _is_dense(self, counted: CountedColumn) -> bool:
        """Whether all classes are joined with all values; lists compare the places of the values instead."""
        return counted.every and PLACE not in self.figures[counted]

    def _of_values(self, counted: CountedColumn, adding: bool) -> exp.Select:
        """The figures per class and value of one column; with the sums if it is `adding`."""
        # A value that occurs only without a person does not count: its c is NULL, which all aggregates ignore.
        rows: exp.Expr = exp.Sum(this=exp.column("n"))
        if counted.unit:
            people = rows if counted.unit == PEOPLE else units(counted.unit)
            rows = exp.Nullif(this=people, expression=exp.Literal.number(0))
        c, names = exp.cast(rows, "BIGINT"), self.figures[counted]
        if list(names) == ["c"]:
            return self._by_value([*self._sums(adding), *self._figures({(counted, "c"): c})], counted)
        of_value = [exp.alias_(exp.column(counted.name), "_value"), exp.alias_(c, "_c")]
        of_value += [exp.column("_size")] if counted.of_kinds and "size" in names else []
        in_class = subquery(self._by_value([*(self._sums(True) if adding else ()), *of_value], counted), _IN_CLASS)
        keys = [_column(key.name, _IN_CLASS) for key in self.keys]
        values = _ValueFigures(counted, keys)
        is_dense = self._is_dense(counted)
        if is_dense:
            in_class = subquery(_dense(in_class, values), _IN_CLASS)
        figures = self._figures({(counted, name): values.figure(name) for name in names})
        sums = [_column(name) for name in self.sums] if adding else self._sums(False)
        query = exp.select(*keys, *sums, *figures).from_(in_class, copy=False)
        if values.reads_table(names) and not is_dense:
            query = query.join(values.reference, on=values.same_value, join_type="LEFT", copy=False)
        return query

    def _by_value(self, columns: Sequence[exp.Expr], counted: CountedColumn) -> exp.Select:
        """Group by class and value; kinds of classes already are. A population's rows have no value, not even NULL."""
        if counted.of_kinds:
            keys = [key.copy() for key in self.keys]
            return self.rows.copy().select(*keys, *(_of_row(column) for column in columns), copy=False)
        grouped = self._grouped(columns, exp.column(counted.name))
        return grouped.having("SUM(n) > 0", copy=False) if counted.populated else grouped

    def _grouped(self, columns: Sequence[exp.Expr], *more: exp.Column) -> exp.Select:
        query = self.rows.copy().select(*(key.copy() for key in self.keys), *columns, copy=False)
        keys = [*(key.copy() for key in self.keys), *more]
        return query.group_by(*keys, copy=False) if keys else query

    def _sums(self, computed: bool) -> list[exp.Expr]:
        return [
            exp.alias_(aggregate.copy() if computed else exp.null(), name, quoted=True)
            for name, aggregate in self.sums.items()
        ]

    def _figures(self, computed: Mapping[tuple[CountedColumn, str], exp.Expr]) -> list[exp.Expr]:
        """The figures of the values of all columns: the computed ones, and NULL for the others."""
        return [
            exp.alias_(computed.get((counted, name), _null(name)), counted.figure(name).name)
            for counted, names in self.figures.items()
            for name in names
        ]


@dataclass(frozen=True)
class _ValueFigures:
    """Figures of the values in a class, from `in_class` (_value and _c) and the reference (of the whole table).

    All columns are qualified, because a key may have the same name as a figure.
    """

    counted: CountedColumn
    keys: Sequence[exp.Column]

    @property
    def reference(self) -> exp.Expr:
        return exp.alias_(self.counted.table, _REFERENCE, table=True)

    @property
    def same_value(self) -> exp.Expr:
        return exp.column("value", _REFERENCE).eq(exp.column("_value", _IN_CLASS))

    def reads_table(self, names: Sequence[str]) -> bool:
        return any(name in (*_OVERALL, PLACE) or _GROUPED.fullmatch(name) for name in names)

    def figure(self, name: str) -> exp.Expr:
        c = exp.column("_c", _IN_CLASS)
        every = self.counted.every
        if name == "c" or (every and name in (*_ORDERED, *_OVERALL)):
            return exp.column(f"_{name}", _IN_CLASS)
        if name == "size":
            is_known = every or self.counted.of_kinds
            return exp.column("_size", _IN_CLASS) if is_known else _over(exp.Sum(this=c), self.keys)
        if name == RANK:
            return _over(exp.RowNumber(), self.keys, [exp.Ordered(this=c, desc=True)])
        if name == PLACE:
            return self.overall("place")
        if name == "value":
            return self.overall("raw")
        grouped = _GROUPED.fullmatch(name)
        if grouped is None or grouped[1] == "overall_c":
            return self.overall(name if grouped is None else f"_{name}")
        return self._of_group(*grouped.groups())

    def _of_group(self, name: str, level: str) -> exp.Expr:
        """The rows of a class in one group of values, or whether a value represents its group."""
        keys = [*self.keys, self.overall(f"_group_{level}")]
        if name == "c":
            return _over(exp.Sum(this=exp.column("_c", _IN_CLASS)), keys)
        number = _over(exp.RowNumber(), keys, [exp.Ordered(this=exp.column("_value", _IN_CLASS))])
        return number.eq(exp.Literal.number(1))

    def overall(self, name: str) -> exp.Expr:
        """A figure of the whole table; looked up separately for NULL, which equals nothing in a join."""
        joined = exp.column(name, _REFERENCE)
        if not self.counted.nullable:
            return joined
        is_null = exp.Is(this=exp.column("value", "r"), expression=exp.null())
        table = exp.alias_(self.counted.table, "r", table=True)
        of_null = exp.select(exp.column(name, "r")).from_(table).where(is_null)
        here = exp.Is(this=exp.column("_value", _IN_CLASS), expression=exp.null())
        return exp.Case().when(here, of_null.subquery()).else_(joined)


def _dense(in_class: exp.Subquery, figures: _ValueFigures) -> exp.Select:
    """All classes with all values of the table: the class's rows of the value, and of the values up to it."""
    placed = exp.select(*figures.keys, exp.column("_c", _IN_CLASS), exp.alias_(figures.overall("place"), "_place"))
    placed = placed.from_(in_class).join(figures.reference, on=figures.same_value, join_type="LEFT")
    here, there = exp.column("_place", "v"), exp.column("place", _REFERENCE)
    own_keys = [_column(key.name, "v") for key in figures.keys]
    c, table = exp.column("_c", "v"), [exp.column(name, _REFERENCE) for name in _OF_TABLE]
    at = exp.Case().when(here.eq(there), c).else_(exp.Literal.number(0))
    through = exp.Case().when(here <= there, c.copy()).else_(exp.Literal.number(0))
    if not figures.counted.unit:
        table = [column for column in table if column.name != "overall_pairs"]
    sums = {"_c": at, "_c_to": through, "_size": c.copy()}
    added = [exp.alias_(exp.cast(exp.Sum(this=rows), "BIGINT"), name) for name, rows in sums.items()]
    query = exp.select(*own_keys, *added)
    query = query.select(
        *(exp.alias_(column, "_value" if column.name == "raw" else f"_{column.name}") for column in table), copy=False
    )
    query = query.from_(subquery(placed, "v"), copy=False)
    query = query.join(figures.reference, join_type="CROSS", copy=False)
    return query.group_by(
        *(key.copy() for key in own_keys), there.copy(), *(column.copy() for column in table), copy=False
    )


def _of_row(column: exp.Expr) -> exp.Expr:
    """A selected column with the aggregates of one row: `SUM(n) AS rows` becomes `n AS rows`."""
    tree = exp.Paren(this=column.copy())  # a parent, so that a bare aggregate can be replaced like any other
    for aggregate in list(tree.find_all(exp.AggFunc)):
        if not isinstance(aggregate, exp.Count):
            aggregate.replace(aggregate.this)
        elif isinstance(aggregate.this, exp.Star):
            aggregate.replace(exp.Literal.number(1))
        else:
            is_null = exp.Is(this=aggregate.this, expression=exp.null())
            aggregate.replace(exp.Case().when(is_null, exp.Literal.number(0)).else_(exp.Literal.number(1)))
    of_row: exp.Expr = tree.this
    return of_row


def subquery(query: exp.Query, name: str) -> exp.Subquery:
    """A query to select from."""
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(name)))


def _null(name: str) -> exp.Expr:
    """NULL for a figure: BIGINT, but BOOLEAN for whether a value is the first of its group, and untyped for `value`."""
    return exp.null() if name == "value" else exp.cast(exp.null(), "BOOLEAN" if name.startswith("first") else "BIGINT")


def _over(function: exp.Expr, keys: Sequence[exp.Expr], order: Sequence[exp.Expr] = ()) -> exp.Window:
    ordered = exp.Order(expressions=list(order)) if order else None
    return exp.Window(this=function, partition_by=[key.copy() for key in keys], order=ordered)


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=table)
