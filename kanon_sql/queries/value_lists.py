"""Class values in lists: compares values with their class without window functions, in engines that have lists.

`SUM(f(c, size))` over the values of a class needs two passes: one to add up their rows, one for f. A window function
sorts the values by class again; a list keeps them in the class's single row (on Adult 2.5 instead of 3.6 ms per node).
Figures that depend on the order of the values are computed from one list of all values of the table, by the places of
the values that occur in the class: joining all classes with all values takes up to twice as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

CLASS_LISTS = "class_lists"
PLACE = "overall_place"  # a figure of ours: the value's place in the order of the table's values
_SIZE = "size"  # the figure that needs a second pass
_PAIRS = "overall_pairs"  # only where people are counted
_OF_TABLE = ("overall_size", _PAIRS, "overall_values")  # the same for every value
_TABLE, _VALUES = "of_table", "listed"
_LISTED = {"value": "raw", "overall_c": "overall_c", "overall_c_to": "overall_c_to"}  # by the figures' names
_VALUE = "kanon_value"  # an item of a list; an unlikely column name, since a column of the same name would hide it
_OTHER = "kanon_other"  # an item of the same list, within a function of _VALUE
_FOLDS: dict[type[exp.Expr], str] = {
    exp.Sum: "LIST_SUM",
    exp.Max: "LIST_MAX",
    exp.Min: "LIST_MIN",
    exp.Count: "LIST_COUNT",
}


@dataclass(frozen=True)
class CountedColumn:
    """A column whose values are counted: its name, what is counted, and the relation of the table's own figures.

    `unit`: the column of the people that are counted instead of rows. `nullable`: whether NULL can be a value here.
    `every`: whether to include the values that a class lacks, for a model that depends on their order; another model
    on the same column, which counts only values that occur, must not see them.
    `populated`: whether the rows of a population alone (n = 0) are included.
    """

    name: str
    unit: str | None = None
    every: bool = False
    reference: exp.Table | None = None
    nullable: bool = False
    populated: bool = False


def figure(name: str, counted: CountedColumn) -> exp.Column:
    """A figure of one value of a column in a class, such as `c`, its rows."""
    column = exp.column(named_figure(name, counted))
    column.meta["kanon"] = (name, counted)
    return column


def named_figure(name: str, counted: CountedColumn) -> str:
    """The column of a figure."""
    every, people = "_every" if counted.every else "", "_people" if counted.unit else ""
    return f"_{name}_of{every}{people}{counted.name}"


def to_fold(select: exp.Select) -> list[exp.Expr]:
    """The aggregates of a SELECT that need a second pass over the values, if lists can replace all of them."""
    twice = [aggregate for aggregate in own_aggregates(select) if _looks_twice(aggregate)]
    return twice if all(_can_fold(aggregate) for aggregate in twice) else []


def list_figures(names: Iterable[str], counted: CountedColumn) -> list[str]:
    """The figures of a value in its class that the named figures are computed from."""
    if counted.every:
        return ["c", PLACE]
    return list(dict.fromkeys(["c", *(name for name in names if name != _SIZE)]))


def fold(select: exp.Select, aggregates: Sequence[exp.Expr]) -> None:
    """Turn a SELECT over class values into one over classes with lists of their values, in place."""
    if not aggregates:
        return
    names: dict[CountedColumn, dict[str, None]] = {}
    for aggregate in aggregates:
        (counted,) = counted_in(aggregate)
        names.setdefault(counted, {}).update(dict.fromkeys(_names_of(aggregate)))
    classes = _Classes(names)
    for aggregate in aggregates:
        aggregate.replace(classes.fold(classes.folded(aggregate)))
    for other in own_aggregates(select):
        other.replace(classes.column(other))
    group = select.args.get("group")
    keys = [key.copy() for key in group.expressions] if group else []
    query = exp.select(*keys, *classes.columns).group_by(*(key.copy() for key in keys), copy=False)
    query.set("from_", select.args["from_"].copy())
    having = select.args.get("having")
    for part in ("group", "having"):
        select.set(part, None)
    # Results of lists are named columns: several parts of a condition use them, and would compute them again.
    columns = (exp.column(exp.to_identifier(column.alias_or_name, quoted=True)) for column in query.selects)
    folded = exp.select(*columns, *classes.folds).from_(_subquery(query, "classes"), copy=False)
    for number, counted in enumerate(classes.tables):
        listed = _listed(counted, names[counted])
        folded.join(_subquery(listed, f"{_TABLE}_{number}"), join_type="CROSS", copy=False)
    select.from_(_subquery(folded, CLASS_LISTS), copy=False)
    if having:
        select.set("where", exp.Where(this=having.this))


def own_aggregates(select: exp.Select) -> list[exp.Expr]:
    """The outermost aggregates of a SELECT, without its subqueries', with their FILTER."""
    wholes = [
        aggregate.parent if isinstance(aggregate.parent, exp.Filter) else aggregate
        for aggregate in select.find_all(exp.AggFunc)
    ]
    return [
        aggregate
        for aggregate in wholes
        if aggregate.find_ancestor(exp.Select) is select and not isinstance(aggregate.parent, exp.Window)
    ]


def figures_of(aggregate: exp.Expr) -> list[exp.Column]:
    """The figures of values that an aggregate is over."""
    return [column for column in aggregate.find_all(exp.Column) if "kanon" in column.meta]


def counted_in(aggregate: exp.Expr) -> set[CountedColumn]:
    """The columns whose values an aggregate is over."""
    return {column.meta["kanon"][1] for column in figures_of(aggregate)}


def _names_of(aggregate: exp.Expr) -> list[str]:
    return [column.meta["kanon"][0] for column in figures_of(aggregate)]


def _looks_twice(aggregate: exp.Expr) -> bool:
    """Whether an aggregate needs more than the value's own row; the most frequent values' rows do not."""
    if isinstance(aggregate, exp.Max) and aggregate.expressions:
        return False
    return _SIZE in _names_of(aggregate) or any(counted.every for counted in counted_in(aggregate))


def _can_fold(aggregate: exp.Expr) -> bool:
    """Whether an aggregate is over figures of the values of one column."""
    plain = type(aggregate) in _FOLDS and not isinstance(aggregate.this, (exp.Distinct, exp.Star))
    return plain and len(counted_in(aggregate)) == 1


class _Classes:
    """The columns of classes: aggregates of their rows, and lists of the values of columns to fold."""

    def __init__(self, names: Mapping[CountedColumn, Iterable[str]]) -> None:
        self._names = names  # of the figures that aggregates to fold are over
        self.columns: list[exp.Expr] = []
        self.folds: list[exp.Expr] = []
        self.tables: list[CountedColumn] = []  # the columns for which the values of the whole table are listed

    def column(self, aggregate: exp.Expr) -> exp.Expr:
        """The column of an aggregate."""
        return _named(self.columns, aggregate, "_figure")

    def fold(self, folded: exp.Expr) -> exp.Expr:
        """The column of a folded list."""
        return _named(self.folds, folded, "_folded")

    def folded(self, aggregate: exp.Expr) -> exp.Expr:
        """An aggregate as one over a list: of the values in the class, or of all values in the table if ordered."""
        (counted,) = counted_in(aggregate)
        names = set(_names_of(aggregate))
        figures = list_figures(self._names[counted], counted)
        values = self.column(_list({name: figure(name, counted) for name in figures if name not in _OF_TABLE}))
        if counted.every and isinstance(aggregate, exp.Sum) and aggregate.this == figure("c", counted):
            return _rows(values, exp.not_(exp.Is(this=_field(_OTHER, PLACE), expression=exp.null())))
        of_class = self._of_class(counted, values, names)
        function = exp.Paren(this=aggregate.this.copy())
        for column in figures_of(function):
            name = column.meta["kanon"][0]
            column.replace(of_class[name].copy() if name in of_class else _field(_VALUE, name))
        if counted.every and names <= {_SIZE, *_OF_TABLE} and isinstance(aggregate, (exp.Max, exp.Min)):
            return function
        listed = self._of_table(counted, _VALUES) if counted.every else values
        return _over(_FOLDS[type(aggregate)], listed, _VALUE, function.this)

    def _of_class(self, counted: CountedColumn, values: exp.Expr, names: set[str]) -> dict[str, exp.Expr]:
        """The figures that are not fields of a listed value, with the expressions that compute them."""
        of_table = [name for name in _OF_TABLE if name in names]
        if not counted.every:
            figures = {name: self.column(exp.Max(this=figure(name, counted))) for name in of_table}
            return figures | {_SIZE: self.column(exp.Sum(this=figure("c", counted)))}
        place, here = _field(_OTHER, PLACE), _field(_VALUE, "place")
        return {name: self._of_table(counted, name) for name in of_table} | {
            _SIZE: self.column(exp.Sum(this=figure("c", counted))),
            "c": _rows(values, exp.EQ(this=place, expression=here)),
            "c_to": _rows(values, exp.LTE(this=place, expression=here)),
            "value": _field(_VALUE, "raw"),
        }

    def _of_table(self, counted: CountedColumn, name: str) -> exp.Expr:
        """A figure of the whole table, or the list of its values: the same for all classes."""
        if counted not in self.tables:
            self.tables.append(counted)
        return exp.column(name, f"{_TABLE}_{self.tables.index(counted)}")


def _listed(counted: CountedColumn, names: Iterable[str]) -> exp.Select:
    """The query of one row: the list of the values of the whole table, and the table's figures."""
    if counted.reference is None:
        raise ValueError(f"no reference is given for the values of {counted.name}")
    fields = {"place": None} | {_LISTED[name]: None for name in names if name in _LISTED}
    values = exp.ArrayAgg(this=_struct({name: exp.column(name) for name in fields}))
    figures = (exp.alias_(exp.Max(this=exp.column(name)), name) for name in _OF_TABLE if counted.unit or name != _PAIRS)
    return exp.select(exp.alias_(values, _VALUES), *figures).from_(counted.reference.copy())


def _over(fold: str, values: exp.Expr, name: str, function: exp.Expr) -> exp.Expr:
    """Fold the results of a function of the values of a list."""
    function_of_value = exp.Lambda(this=function, expressions=[exp.to_identifier(name)])
    return exp.Anonymous(this=fold, expressions=[exp.Transform(this=values.copy(), expression=function_of_value)])


def _rows(values: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """The rows of the values of a class that meet a condition."""
    among = exp.Case().when(condition, _field(_OTHER, "c")).else_(exp.Literal.number(0))
    return exp.cast(_over("LIST_SUM", values, _OTHER, among), "BIGINT")


def _named(columns: list[exp.Expr], expression: exp.Expr, stem: str) -> exp.Expr:
    """The column of an expression, added to the columns unless already there."""
    same = next((column.alias for column in columns if column.this == expression), None)
    if same is None:
        same = f"{stem}_{len(columns)}"
        columns.append(exp.alias_(expression.copy(), same))
    return exp.column(same)


def _subquery(query: exp.Select, name: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(name)))


def _list(fields: Mapping[str, exp.Expr]) -> exp.Expr:
    """The list of a class's values, with these fields."""
    there = exp.Where(this=exp.not_(exp.Is(this=fields["c"].copy(), expression=exp.null())))
    return exp.Filter(this=exp.ArrayAgg(this=_struct(fields)), expression=there)


def _struct(fields: Mapping[str, exp.Expr]) -> exp.Struct:
    named = (exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in fields.items())
    return exp.Struct(expressions=list(named))


def _field(of: str, name: str) -> exp.Expr:
    return exp.Dot(this=exp.to_identifier(of), expression=exp.to_identifier(name))
