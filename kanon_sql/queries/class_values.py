"""Class values: a query that groups by classes, as one that counts each value of a sensitive column in them first.

A condition such as `MAX(c) <= 0.8 * SUM(n)` needs `c`, the rows of a class by the sensitive value. A query whose
condition speaks of it becomes two GROUP BYs: the inner one, `class_values`, by class and value; the outer one, by
class, adds up what the query's own aggregates were. So one text serves models with and without values.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

CLASS_VALUES = "class_values"
_ROWS_OF = "_rows_of"  # and the name of the column whose values are counted
_ADD_UP: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.Sum: exp.Sum,
    exp.Count: exp.Sum,
    exp.Min: exp.Min,
    exp.Max: exp.Max,
}
_INSIDE = ("from_", "joins", "where", "laterals")


def rows_of(counted: str) -> exp.Column:
    """`c`: the rows of one value of a column in a class."""
    return exp.column(f"{_ROWS_OF}{counted}")


def count_values(tree: exp.Expr) -> None:
    """Give every SELECT that speaks of `rows_of` some column its class values, in place."""
    selects: dict[int, tuple[exp.Select, dict[str, None]]] = {}
    for column in tree.find_all(exp.Column):
        select = column.find_ancestor(exp.Select)
        if column.name.startswith(_ROWS_OF) and not column.table and select is not None:
            selects.setdefault(id(select), (select, {}))[1][column.name.removeprefix(_ROWS_OF)] = None
    # The innermost first: what stands around it is copied with it.
    for select, counted in sorted(selects.values(), key=lambda each: -each[0].depth):
        if not _is_split(select):
            _split(select, sorted(counted))


def _is_split(select: exp.Select) -> bool:
    source = select.args.get("from_")
    return source is not None and source.this.alias_or_name == CLASS_VALUES


def _split(select: exp.Select, counted: Sequence[str]) -> None:
    """Make a SELECT with a GROUP BY one over its class values."""
    inner = _Inner(select)
    group = select.args.get("group")
    for key in list(group.expressions) if group else []:
        inner.take_key(key)
    for aggregate in _aggregates(select):
        inner.take(aggregate)
    branches = [inner.branch(name, counted, first=name == counted[0]) for name in counted]
    values: exp.Query = branches[0]
    for branch in branches[1:]:
        values = exp.union(values, branch, distinct=False)
    for part in _INSIDE:
        select.set(part, None)
    select.from_(exp.Subquery(this=values, alias=exp.TableAlias(this=exp.to_identifier(CLASS_VALUES))), copy=False)


def _aggregates(select: exp.Select) -> list[exp.Expr]:
    """The aggregates of a SELECT itself that are not over the rows of values; with FILTER, where they have one."""
    aggregates: list[exp.Expr] = []
    for aggregate in select.find_all(exp.AggFunc):
        whole = aggregate.parent if isinstance(aggregate.parent, exp.Filter) else aggregate
        own = whole.find_ancestor(exp.Select) is select and not isinstance(whole.parent, exp.Window)
        if own and not any(column.name.startswith(_ROWS_OF) for column in aggregate.find_all(exp.Column)):
            aggregates.append(whole)
    return aggregates


class _Inner:
    """What the inner GROUP BY of a SELECT gives: its keys, and its aggregates by value."""

    def __init__(self, select: exp.Select) -> None:
        self._select = select
        self._parts = {part: select.args.get(part) for part in _INSIDE}
        self._keys: list[tuple[str, exp.Expr]] = []
        self._aggregates: dict[exp.Expr, str] = {}

    def take_key(self, key: exp.Expr) -> None:
        """Let the outer query group by a key under a name of the inner one."""
        taken = {name for name, _ in self._keys}
        plain = isinstance(key, exp.Column) and key.name not in taken
        name = key.name if plain else f"_key_{len(self._keys)}"
        self._keys.append((name, key.copy()))
        for same in [each for each in self._select.find_all(type(key)) if each == key]:
            if isinstance(same.find_ancestor(exp.Select, *_SOURCES), exp.Select) and (
                same.find_ancestor(exp.Select) is self._select
            ):
                _replace(same, exp.column(exp.to_identifier(name, quoted=_quoted(key))))

    def take(self, aggregate: exp.Expr) -> None:
        """Let the outer query add up an aggregate of the inner one."""
        function = aggregate.this if isinstance(aggregate, exp.Filter) else aggregate
        outer = _ADD_UP.get(type(function))
        if outer is None or isinstance(function.this, exp.Distinct):
            raise ValueError(f"{function.sql()} cannot be added up over the values of a class")
        name = self._known(aggregate)
        if name is None:
            name = self._aggregates[aggregate.copy()] = self._name(function)
        aggregate.replace(outer(this=_column(name)))

    def _known(self, aggregate: exp.Expr) -> str | None:
        """The name of the same aggregate; a condition's `SUM(n)` is the query's `SUM(f.n)`."""
        same = (name for each, name in self._aggregates.items() if _unqualified(each) == _unqualified(aggregate))
        return self._aggregates.get(aggregate) or (next(same, None) if _is_sum_of_rows(aggregate) else None)

    def _name(self, function: exp.Expr) -> str:
        taken = {*self._aggregates.values(), *(name for name, _ in self._keys)}
        name = function.this.name if isinstance(function.this, exp.Column) else ""
        return name if name and name not in taken else f"_sum_{len(taken)}"

    def branch(self, value: str, counted: Sequence[str], first: bool) -> exp.Select:
        """The rows of each class by the values of one column; what is added up comes from the first branch alone."""
        keys = [_named(key, name) for name, key in self._keys]
        rows = exp.cast(exp.Sum(this=exp.column("n")), "BIGINT")
        none = exp.cast(exp.null(), "BIGINT")
        counts = [exp.alias_(rows if name == value else none.copy(), f"{_ROWS_OF}{name}") for name in counted]
        sums = [
            exp.alias_(aggregate.copy() if first else exp.null(), name, quoted=True)
            for aggregate, name in self._aggregates.items()
        ]
        query = exp.select(*keys, *sums, *counts)
        for part, content in self._parts.items():
            query.set(part, [each.copy() for each in content] if isinstance(content, list) else _copied(content))
        return query.group_by(*(key.copy() for _, key in self._keys), exp.column(value), copy=False)


_SOURCES = (exp.From, exp.Join, exp.Where)


def _replace(same: exp.Expr, column: exp.Column) -> None:
    selected = isinstance(same.parent, exp.Select) and not isinstance(same, exp.Column)
    same.replace(column if not selected else exp.alias_(column, same.output_name or column.name))


def _named(key: exp.Expr, name: str) -> exp.Expr:
    plain = isinstance(key, exp.Column) and key.name == name
    return key.copy() if plain else exp.alias_(key.copy(), name, quoted=True)


def _is_sum_of_rows(aggregate: exp.Expr) -> bool:
    return isinstance(aggregate, exp.Sum) and isinstance(aggregate.this, exp.Column) and aggregate.this.name == "n"


def _unqualified(aggregate: exp.Expr) -> exp.Expr:
    copy = aggregate.copy()
    for column in copy.find_all(exp.Column):
        column.set("table", None)
    return copy


def _quoted(key: exp.Expr) -> bool:
    return isinstance(key, exp.Column) and bool(key.this.args.get("quoted"))


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _copied(content: exp.Expr | None) -> exp.Expr | None:
    return content.copy() if content is not None else None
