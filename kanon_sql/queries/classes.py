"""Classes: the query of one row per class, with everything that conditions need.

A condition such as `MAX(c) <= 0.8 * SUM(n)` needs `c`, the number of rows per class and sensitive value. So classes are
counted by two GROUP BYs: the inner one by class and value (`class_values`), the outer one by class. The condition
becomes `_most_1 <= 0.8 * _rows_0` of

    SELECT "age", SUM("_rows_0") AS _rows_0, MAX(_c_of_pay) AS _most_1 FROM (…) AS class_values GROUP BY "age"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from kanon_sql.queries.class_values import RANK, CountedColumn, class_values, counts_people, is_value_figure, subquery
from kanon_sql.queries.value_lists import ValueList, can_fold

LARGEST = "LARGEST"  # the function that adds up the rows of the most frequent values
_LISTS = "class_lists"
_ADD_UP: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.Sum: exp.Sum,
    exp.Count: exp.Sum,
    exp.Min: exp.Min,
    exp.Max: exp.Max,
}


class ClassAggregates:
    """Collects aggregates of the classes of some rows, and builds the query that has a column for each of them.

    `rows`: a SELECT without columns. `keys`: the columns whose values a class shares. `has_lists`: whether the engine
    has lists, which can replace window functions, since these take twice as long.
    """

    def __init__(self, rows: exp.Select, keys: Sequence[exp.Column], has_lists: bool) -> None:
        self._rows, self._keys, self._has_lists = rows, keys, has_lists
        self._sums: dict[exp.Expr, tuple[str, exp.Expr]] = {}  # by the same without the name of its table
        self._figures: dict[tuple[exp.Expr, CountedColumn], str] = {}

    def column(self, aggregate: exp.Expr, counted: CountedColumn | None = None, stem: str = "sum") -> exp.Column:
        """The column of an aggregate: of the rows of a class, or of the values of a counted column in it."""
        name = f"_{stem.strip('_')}_{len(self._sums) + len(self._figures)}"
        if counted and _figures_in(aggregate):
            return exp.column(self._figures.setdefault((aggregate.copy(), counted), name))
        _added_up(aggregate, name)  # refuse it here
        return exp.column(self._sums.setdefault(_unqualified(aggregate), (name, aggregate.copy()))[0])

    def read(self, condition: exp.Expr, counted: CountedColumn | None, stem: str) -> exp.Expr:
        """A condition on the columns instead of the aggregates; `stem`: of the names of new columns."""
        tree = exp.Paren(this=condition)  # a parent, so that a bare aggregate can be replaced like any other
        for part in list(tree.find_all(exp.Anonymous)):
            if is_largest(part):
                part.replace(self._largest(*part.expressions))
        for aggregate in list(tree.find_all(exp.AggFunc)):
            aggregate.replace(self.column(aggregate, counted, stem))
        read: exp.Expr = tree.this
        return read

    def _largest(self, c: exp.Expr, count: exp.Expr) -> exp.Expr:
        """The rows of the `count` most frequent values."""
        if self._has_lists:
            return exp.Anonymous(this="LIST_SUM", expressions=[exp.Max(this=c, expressions=[count])])
        among = exp.column(RANK) <= exp.paren(count)
        return exp.Sum(this=exp.Case().when(among, c).else_(exp.Literal.number(0)))

    def query(self) -> exp.Select:
        """The query: the keys by their names, and the columns."""
        sums = dict(self._sums.values())
        names: dict[CountedColumn, dict[str, None]] = {}
        for aggregate, counted in self._figures:
            names.setdefault(counted, {}).update(dict.fromkeys(_figures_in(aggregate)))
        lists = self._lists(names)
        needed = {counted: lists[counted].figures if counted in lists else list(names[counted]) for counted in names}
        keys = [exp.column(exp.to_identifier(key.name, quoted=True)) for key in self._keys]
        columns = [exp.alias_(_added_up(aggregate, name), name) for name, aggregate in sums.items()]
        folded = []
        for (aggregate, counted), name in self._figures.items():
            if counted in lists and _looks_twice(aggregate, counted):
                folded.append(exp.alias_(lists[counted].folded(aggregate), name))
            else:
                columns.append(exp.alias_(_of_columns(aggregate, counted), name))
        of_lists = [column for value_list in lists.values() for column in value_list.columns]
        values = class_values(self._rows, self._keys, sums, needed)
        query = exp.select(*keys, *columns, *of_lists).from_(values, copy=False)
        query = query.group_by(*(key.copy() for key in keys), copy=False) if keys else query
        if not lists:
            return query
        # Results of lists are named columns: several parts of a condition use them, and would compute them again.
        plain = [exp.column(column.alias) for column in columns]
        query = exp.select(*(key.copy() for key in keys), *plain, *folded).from_(subquery(query, _LISTS), copy=False)
        for value_list in lists.values():
            if value_list.counted.every:
                query.join(value_list.table, join_type="CROSS", copy=False)
        return query

    def _lists(self, names: Mapping[CountedColumn, Iterable[str]]) -> dict[CountedColumn, ValueList]:
        """The lists of the columns of which an aggregate needs one, if lists can replace all of these aggregates."""
        twice = [(aggregate, counted) for aggregate, counted in self._figures if _looks_twice(aggregate, counted)]
        if not (self._has_lists and all(can_fold(aggregate) for aggregate, _ in twice)):
            return {}
        columns = dict.fromkeys(counted for _, counted in twice)
        return {counted: ValueList(counted, i, tuple(names[counted])) for i, counted in enumerate(columns)}


def is_largest(part: exp.Expr) -> bool:
    """Whether a part of a condition adds up the rows of the most frequent values."""
    return isinstance(part, exp.Anonymous) and part.name.upper() == LARGEST


def _looks_twice(aggregate: exp.Expr, counted: CountedColumn) -> bool:
    """Whether an aggregate needs more than the value's own row; the most frequent values' rows do not."""
    needs_size = "size" in _figures_in(aggregate) and not counted.of_kinds
    return (counted.every or needs_size) and not aggregate.expressions


def _figures_in(aggregate: exp.Expr) -> list[str]:
    """The figures of values that an aggregate is over."""
    names = (column.name for column in aggregate.find_all(exp.Column))
    return [name for name in names if is_value_figure(name) or name == RANK]


def _of_columns(aggregate: exp.Expr, counted: CountedColumn) -> exp.Expr:
    """An aggregate over the columns of figures."""
    over = aggregate.copy()
    for column in list(over.find_all(exp.Column)):
        column.replace(counted.figure(column.name))
    return over


def _added_up(aggregate: exp.Expr, name: str) -> exp.Expr:
    """The aggregate of a class that adds up a column of those of its values."""
    outer = exp.Max if counts_people(aggregate) else _ADD_UP.get(type(aggregate))
    if outer is None or (outer is not exp.Max and isinstance(aggregate.this, exp.Distinct)):
        raise ValueError(f"{aggregate.sql()} cannot be added up over the values of a class")
    return outer(this=exp.column(exp.to_identifier(name, quoted=True)))


def _unqualified(aggregate: exp.Expr) -> exp.Expr:
    """The same for `SUM(n)`, of a condition, and `SUM(f.n)`, of a query."""
    copy = aggregate.copy()
    if isinstance(copy, exp.Sum) and isinstance(copy.this, exp.Column) and copy.this.name == "n":
        copy.this.set("table", None)
    return copy
