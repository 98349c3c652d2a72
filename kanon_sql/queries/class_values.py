"""Class values: rewrites a query that groups by classes to count the values of a sensitive column within them first.

A condition such as `MAX(c) <= 0.8 * SUM(n)` needs `c`, the number of rows per class and sensitive value. A query with
such a condition becomes two GROUP BYs: the inner one by class and value, the outer one by class, which adds up the
query's original aggregates. So the same text serves models with and without values.

Conditions that compare a class with the whole table take the table's figures from a reference: a relation of one row
per value (`sql/privacy.sql`). Conditions on the order of the values also need the values that a class lacks: for these,
all classes are joined with all values. People are counted in a separate GROUP BY, since their counts do not add up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.privacy import PEOPLE, POPULATION_UNIT, UNIT
from kanon_sql.queries.value_lists import (
    CLASS_LISTS,
    PLACE,
    CountedColumn,
    counted_in,
    figure,
    fold,
    list_figures,
    named_figure,
    to_fold,
)

CLASS_VALUES = "class_values"
_IN_CLASS, _REFERENCE, _WITHOUT_TABLE = "in_class", "reference", ("c",)
_ADD_UP: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.Sum: exp.Sum,
    exp.Count: exp.Sum,
    exp.Min: exp.Min,
    exp.Max: exp.Max,
}
_INSIDE = ("from_", "joins", "where", "laterals")
LARGEST = "LARGEST"  # the function that adds up the rows of the most frequent values
_ORDERED = ("c_to", "overall_c_to")
_OVERALL = ("value", "overall_c", "overall_size", "overall_pairs", "overall_values")
_GROUPED = re.compile(r"(c|overall_c|first)_(\d+)")


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


def count_values(tree: exp.Expr, has_lists: bool = False) -> None:
    """Rewrite every SELECT that uses figures of values to select from its class values, in place.

    `has_lists`: whether lists can replace window functions, which take twice as long.
    """
    if not any(_is_figure(column) for column in tree.find_all(exp.Column)):
        return
    selects: dict[int, tuple[exp.Select, dict[CountedColumn, dict[str, None]]]] = {}
    _count_largest(tree, has_lists)
    for column in filter(_is_figure, tree.find_all(exp.Column)):
        select = column.find_ancestor(exp.Select)
        if not column.table and select is not None:
            name, counted = column.meta["kanon"]
            selects.setdefault(id(select), (select, {}))[1].setdefault(counted, {})[name] = None
    # The innermost first, because an outer SELECT copies it.
    for select, figures in sorted(selects.values(), key=lambda item: -item[0].depth):
        if _is_split(select):
            continue
        ordered = sorted(figures, key=lambda counted: (counted.name, counted.every))
        folded = to_fold(select) if has_lists else []
        in_lists = {counted for aggregate in folded for counted in counted_in(aggregate)}
        named = {
            counted: list_figures(figures[counted], counted) if counted in in_lists else list(figures[counted])
            for counted in ordered
        }
        _split(select, named)
        fold(select, folded)


def _is_dense(counted: CountedColumn, names: Iterable[str]) -> bool:
    """Whether all classes are joined with all values; lists compare the places of the values in the class instead."""
    return counted.every and PLACE not in names


def _is_figure(column: exp.Expr) -> bool:
    return column.meta_get("kanon") is not None


def _count_largest(tree: exp.Expr, has_lists: bool) -> None:
    for largest in list(tree.find_all(exp.Anonymous)):
        if largest.name.upper() == LARGEST:
            c, count = largest.expressions
            largest.replace(_largest(c, count, has_lists))


def _largest(c: exp.Column, count: exp.Expr, has_lists: bool) -> exp.Expr:
    """The rows of the `count` most frequent values."""
    if has_lists:
        return exp.Anonymous(this="LIST_SUM", expressions=[exp.Max(this=c, expressions=[count])])
    place = figure("place", c.meta["kanon"][1])
    among = exp.Case().when(exp.LTE(this=place, expression=exp.paren(count)), c).else_(exp.Literal.number(0))
    return exp.Sum(this=among)


def _is_split(select: exp.Select) -> bool:
    source = select.args.get("from_")
    return source is not None and source.this.alias_or_name in (CLASS_VALUES, CLASS_LISTS)


def _split(select: exp.Select, figures: Mapping[CountedColumn, Sequence[str]]) -> None:
    """Turn a SELECT with a GROUP BY into one over its class values."""
    inner = _Inner(select, figures)
    group = select.args.get("group")
    for key in list(group.expressions) if group else []:
        inner.take_key(key)
    for aggregate in _aggregates(select):
        inner.take(aggregate)
    first, *others = inner.branches()
    values: exp.Query = first
    for branch in others:
        values = exp.union(values, branch, distinct=False)
    for part in _INSIDE:
        select.set(part, None)
    select.from_(exp.Subquery(this=values, alias=exp.TableAlias(this=exp.to_identifier(CLASS_VALUES))), copy=False)


def _aggregates(select: exp.Select) -> list[exp.Expr]:
    """The aggregates of a SELECT, without its subqueries', that are not over figures of values; with their FILTER."""
    aggregates: list[exp.Expr] = []
    for aggregate in select.find_all(exp.AggFunc):
        whole = aggregate.parent if isinstance(aggregate.parent, exp.Filter) else aggregate
        own = whole.find_ancestor(exp.Select) is select and not isinstance(whole.parent, exp.Window)
        if own and not any("kanon" in column.meta for column in aggregate.find_all(exp.Column)):
            aggregates.append(whole)
    return aggregates


class _Inner:
    """The columns of a SELECT's inner GROUP BYs: its keys, its aggregates, and the figures of values."""

    def __init__(self, select: exp.Select, figures: Mapping[CountedColumn, Sequence[str]]) -> None:
        self._select = select
        self._figures = figures
        self._parts = {part: select.args.get(part) for part in _INSIDE}
        self._keys: list[tuple[str, exp.Expr]] = []
        self._aggregates: dict[exp.Expr, str] = {}

    def take_key(self, key: exp.Expr) -> None:
        """Have the inner query compute a key, and the outer one group by its name."""
        taken = {name for name, _ in self._keys}
        is_plain = isinstance(key, exp.Column) and key.name not in taken
        name = key.name if is_plain else f"_key_{len(self._keys)}"
        self._keys.append((name, key.copy()))
        for same in [key_there for key_there in self._select.find_all(type(key)) if key_there == key]:
            if isinstance(same.find_ancestor(exp.Select, *_SOURCES), exp.Select) and (
                same.find_ancestor(exp.Select) is self._select
            ):
                _replace(same, exp.column(exp.to_identifier(name, quoted=_quoted(key))))

    def take(self, aggregate: exp.Expr) -> None:
        """Have the inner query compute an aggregate, and the outer one add it up."""
        function = aggregate.this if isinstance(aggregate, exp.Filter) else aggregate
        outer = exp.Max if _is_distinct(function) else _ADD_UP.get(type(function))
        if outer is None or (outer is not exp.Max and isinstance(function.this, exp.Distinct)):
            raise ValueError(f"{function.sql()} cannot be added up over the values of a class")
        name = self._name_of_same(aggregate)
        if name is None:
            name = self._aggregates[aggregate.copy()] = self._name(function)
        aggregate.replace(outer(this=_column(name)))

    def _name_of_same(self, aggregate: exp.Expr) -> str | None:
        """The name of an equal aggregate; a condition's `SUM(n)` equals the query's `SUM(f.n)`."""
        if aggregate in self._aggregates:
            return self._aggregates[aggregate]
        if not _is_sum_of_rows(aggregate):
            return None
        unqualified = _unqualified(aggregate)
        return next((name for taken, name in self._aggregates.items() if _unqualified(taken) == unqualified), None)

    def _name(self, function: exp.Expr) -> str:
        taken = {*self._aggregates.values(), *(name for name, _ in self._keys)}
        name = function.this.name if isinstance(function.this, exp.Column) else ""
        return name if name and name not in taken else f"_sum_{len(taken)}"

    def branches(self) -> list[exp.Select]:
        """The rows per class and value, one query per column; aggregates are computed in one of the queries only."""
        adding = next((counted for counted, names in self._figures.items() if not _is_dense(counted, names)), None)
        counts_people = any(_is_distinct(aggregate) for aggregate in self._aggregates)
        if counts_people or any(counted.populated for counted in self._figures):
            adding = None
        # The first branch has the aggregates: a UNION takes its types.
        own = [] if adding or not self._aggregates else [self._of_classes()]
        in_order = sorted(self._figures.items(), key=lambda item: item[0] is not adding)
        return own + [self._of_values(counted, names, counted is adding) for counted, names in in_order]

    def _of_classes(self) -> exp.Select:
        """The aggregates of each class, where they cannot be added up over values."""
        query = exp.select(*self._named_keys(), *self._sums(True), *self._no_figures())
        return self._grouped(query)

    def _of_values(self, counted: CountedColumn, names: Sequence[str], adding: bool) -> exp.Select:
        """The figures per class and value of one column."""
        # A value that occurs for no known person does not count: its c is NULL, which all aggregates ignore.
        rows: exp.Expr = exp.Sum(this=exp.column("n"))
        if counted.unit:
            people = rows if counted.unit == PEOPLE else units(counted.unit)
            rows = exp.Nullif(this=people, expression=exp.Literal.number(0))
        values = exp.cast(rows, "BIGINT")
        if tuple(names) == _WITHOUT_TABLE:
            query = exp.select(*self._named_keys(), *self._sums(adding), *self._no_figures({(counted, "c"): values}))
            return self._grouped_values(query, counted)
        of_value = exp.alias_(exp.column(counted.name), "_value"), exp.alias_(values, "_c")
        query = exp.select(*self._named_keys(), *(self._sums(True) if adding else ()), *of_value)
        grouped = self._grouped_values(query, counted)
        return self._figured(grouped, counted, names, adding)

    def _figured(self, grouped: exp.Select, counted: CountedColumn, names: Sequence[str], adding: bool) -> exp.Select:
        """The figures of values that need more than the number of rows per class and value."""
        keys = _keys_of(_IN_CLASS, (name for name, _ in self._keys))
        source = _named_subquery(grouped, _IN_CLASS)
        values = _ValueFigures(counted, keys)
        if _is_dense(counted, names):
            source, query = _named_subquery(_dense(source, keys, counted), _IN_CLASS), exp.select()
        figures = {(counted, name): values.figure(name) for name in names}
        query = exp.select(*keys, *self._sums(adding, named=True), *self._no_figures(figures)).from_(source, copy=False)
        if values.reads_table(names) and not _is_dense(counted, names):
            query = query.join(values.reference, on=values.same_value, join_type="LEFT", copy=False)
        return query

    def _grouped_values(self, query: exp.Select, counted: CountedColumn) -> exp.Select:
        """Group by class and value; a population's rows have no value, not even NULL."""
        grouped = self._grouped(query, exp.column(counted.name))
        return grouped.having("SUM(n) > 0", copy=False) if counted.populated else grouped

    def _grouped(self, query: exp.Select, *more: exp.Expr) -> exp.Select:
        for part, content in self._parts.items():
            query.set(
                part, [expression.copy() for expression in content] if isinstance(content, list) else _copied(content)
            )
        keys = [key.copy() for _, key in self._keys]
        return query.group_by(*keys, *more, copy=False) if keys or more else query

    def _named_keys(self) -> list[exp.Expr]:
        return [_named(key, name) for name, key in self._keys]

    def _sums(self, given: bool, named: bool = False) -> list[exp.Expr]:
        """The aggregates: computed, or by their names where a subquery has computed them; NULL unless `given`."""
        return [
            _column(name)
            if given and named
            else exp.alias_(aggregate.copy() if given else exp.null(), name, quoted=True)
            for aggregate, name in self._aggregates.items()
        ]

    def _no_figures(self, given: Mapping[tuple[CountedColumn, str], exp.Expr] = {}) -> list[exp.Expr]:
        """The figures of the values of all columns: the given ones, and NULL for the others."""
        return [
            exp.alias_(given.get((counted, name), _null(name)), named_figure(name, counted))
            for counted, names in self._figures.items()
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
        if self.counted.reference is None:
            raise ValueError(f"no reference is given for the values of {self.counted.name}")
        return exp.alias_(self.counted.reference.copy(), _REFERENCE, table=True)

    @property
    def same_value(self) -> exp.Expr:
        return exp.EQ(this=exp.column("value", _REFERENCE), expression=exp.column("_value", _IN_CLASS))

    def reads_table(self, names: Sequence[str]) -> bool:
        return any(name in (*_OVERALL, PLACE) or _GROUPED.fullmatch(name) for name in names)

    def figure(self, name: str) -> exp.Expr:
        c = exp.column("_c", _IN_CLASS)
        every = self.counted.every
        if name == "c" or (every and name in (*_ORDERED, *_OVERALL)):
            return exp.column(f"_{name}", _IN_CLASS)
        if name == "size":
            return exp.column("_size", _IN_CLASS) if every else _over(exp.Sum(this=c), self.keys)
        if name == "place":
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
        return exp.EQ(this=number, expression=exp.Literal.number(1))

    def overall(self, name: str) -> exp.Expr:
        """A figure of the whole table; looked up separately for NULL, which equals nothing in a join."""
        joined = exp.column(name, _REFERENCE)
        if not self.counted.nullable:
            return joined
        is_null = exp.Is(this=exp.column("value", "r"), expression=exp.null())
        of_null = (
            exp.select(exp.column(name, "r")).from_(exp.alias_(_table(self.counted), "r", table=True)).where(is_null)
        )
        here = exp.Is(this=exp.column("_value", _IN_CLASS), expression=exp.null())
        return exp.Case().when(here, of_null.subquery()).else_(joined)


def _dense(in_class: exp.Subquery, keys: Sequence[exp.Column], counted: CountedColumn) -> exp.Select:
    """All classes with all values of the table: the class's rows of the value, and of the values up to it."""
    figures = _ValueFigures(counted, keys)
    placed = exp.select(*keys, exp.column("_c", _IN_CLASS), exp.alias_(figures.overall("place"), "_place"))
    placed = placed.from_(in_class).join(figures.reference, on=figures.same_value, join_type="LEFT")
    here, there = exp.column("_place", "v"), exp.column("place", _REFERENCE)
    own_keys = _keys_of("v", (key.name for key in keys))
    c, table = exp.column("_c", "v"), [exp.column(name, _REFERENCE) for name in _OF_TABLE]
    at = exp.Case().when(exp.EQ(this=here, expression=there), c).else_(exp.Literal.number(0))
    through = exp.Case().when(exp.LTE(this=here.copy(), expression=there.copy()), c.copy()).else_(exp.Literal.number(0))
    if not counted.unit:
        table = [column for column in table if column.name != "overall_pairs"]
    sums = {"_c": at, "_c_to": through, "_size": c.copy()}
    added = [exp.alias_(exp.cast(exp.Sum(this=rows), "BIGINT"), name) for name, rows in sums.items()]
    query = exp.select(*own_keys, *added)
    query = query.select(
        *(exp.alias_(column, "_value" if column.name == "raw" else f"_{column.name}") for column in table), copy=False
    )
    query = query.from_(_named_subquery(placed, "v"), copy=False)
    query = query.join(figures.reference, join_type="CROSS", copy=False)
    return query.group_by(
        *(key.copy() for key in own_keys), there.copy(), *(column.copy() for column in table), copy=False
    )


def _keys_of(relation: str, names: Iterable[str]) -> list[exp.Column]:
    return [_column(name, relation) for name in names]


_OF_TABLE = ("raw", "overall_c", "overall_c_to", "overall_size", "overall_pairs", "overall_values")
_SOURCES = (exp.From, exp.Join, exp.Where)


def _null(name: str) -> exp.Expr:
    """NULL for a figure: BIGINT, but BOOLEAN for whether a value is the first of its group, and untyped for `value`."""
    return exp.null() if name == "value" else exp.cast(exp.null(), "BOOLEAN" if name.startswith("first") else "BIGINT")


def _over(function: exp.Expr, keys: Sequence[exp.Expr], order: Sequence[exp.Expr] = ()) -> exp.Window:
    ordered = exp.Order(expressions=list(order)) if order else None
    return exp.Window(this=function, partition_by=[key.copy() for key in keys], order=ordered)


def _named_subquery(query: exp.Select, name: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(name)))


def _table(counted: CountedColumn) -> exp.Table:
    assert counted.reference is not None
    return counted.reference.copy()


def _replace(same: exp.Expr, column: exp.Column) -> None:
    selected = isinstance(same.parent, exp.Select) and not isinstance(same, exp.Column)
    same.replace(column if not selected else exp.alias_(column, same.output_name or column.name))


def _named(key: exp.Expr, name: str) -> exp.Expr:
    plain = isinstance(key, exp.Column) and key.name == name
    return key.copy() if plain else exp.alias_(key.copy(), name, quoted=True)


def _is_sum_of_rows(aggregate: exp.Expr) -> bool:
    return isinstance(aggregate, exp.Sum) and isinstance(aggregate.this, exp.Column) and aggregate.this.name == "n"


def _is_distinct(aggregate: exp.Expr) -> bool:
    """Whether an aggregate counts people."""
    counts = isinstance(aggregate, exp.Count) and isinstance(aggregate.this, exp.Distinct)
    return counts and [column.name for column in aggregate.this.expressions] in ([UNIT], [POPULATION_UNIT])


def _unqualified(aggregate: exp.Expr) -> exp.Expr:
    copy = aggregate.copy()
    for column in copy.find_all(exp.Column):
        column.set("table", None)
    return copy


def _quoted(key: exp.Expr) -> bool:
    return isinstance(key, exp.Column) and bool(key.this.args.get("quoted"))


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def _copied(content: exp.Expr | None) -> exp.Expr | None:
    return content.copy() if content is not None else None
