"""Value lists: compare values with their class without window functions, in engines that have lists.

`SUM(f(c, size))` over the values of a class needs two passes: one to add up their rows, one for f. A window function
sorts the values by class again; a list keeps them in the class's single row (on Adult 2.5 instead of 3.6 ms per node).
Figures that depend on the order of the values are computed from one list of all values of the table, by the places of
the values that occur in the class: joining all classes with all values takes up to twice as long.

    SELECT LIST_SUM(LIST_TRANSFORM(_values_of_list_0, kanon_value -> f(kanon_value.c, _size_of_list_0))) AS _moved_3
    FROM (SELECT …, LIST({'c': _c_of_pay}) AS _values_of_list_0, SUM(_c_of_pay) AS _size_of_list_0 FROM …)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.queries.class_values import PLACE, CountedColumn, subquery

_SIZE = "size"  # the figure that needs a second pass
_PAIRS = "overall_pairs"  # only where people are counted
_OF_TABLE = ("overall_size", _PAIRS, "overall_values")  # the same for every value
_LISTED = {"value": "raw", "overall_c": "overall_c", "overall_c_to": "overall_c_to"}  # by the figures' names
_VALUE = "kanon_value"  # an item of a list; an unlikely column name, since a column of the same name would hide it
_OTHER = "kanon_other"  # an item of the same list, within a function of _VALUE
_FOLDS: dict[type[exp.Expr], str] = {
    exp.Sum: "LIST_SUM",
    exp.Max: "LIST_MAX",
    exp.Min: "LIST_MIN",
    exp.Count: "LIST_COUNT",
}


def can_fold(aggregate: exp.Expr) -> bool:
    """Whether a function of lists can replace an aggregate."""
    return type(aggregate) in _FOLDS and not isinstance(aggregate.this, (exp.Distinct, exp.Star))


@dataclass(frozen=True)
class ValueList:
    """The list of a column's values in each class, and if their order counts, the list of those of the whole table.

    `number`: of the list. `names`: the figures that conditions use.
    """

    counted: CountedColumn
    number: int
    names: tuple[str, ...]

    @property
    def figures(self) -> list[str]:
        """The figures of a value in its class that the list has, or that its columns are computed from."""
        if self.counted.every:
            return ["c", PLACE]
        return list(dict.fromkeys(["c", *(name for name in self.names if name != _SIZE)]))

    @property
    def columns(self) -> list[exp.Expr]:
        """The columns of a class: the list, the rows of its values, and figures that are the same for all of them."""
        c = self.counted.figure("c")
        fields = {name: self.counted.figure(name) for name in self.figures if name not in _OF_TABLE}
        values = exp.Filter(
            this=exp.ArrayAgg(this=_struct(fields)),
            expression=exp.Where(this=exp.not_(exp.Is(this=c, expression=exp.null()))),
        )
        columns = {"values": values, _SIZE: exp.Sum(this=c.copy())}
        if not self.counted.every:
            columns |= {n: exp.Max(this=self.counted.figure(n)) for n in _OF_TABLE if n in self.names}
        return [exp.alias_(column, self._named(name)) for name, column in columns.items()]

    @property
    def table(self) -> exp.Subquery:
        """The query of one row: the list of the values of the whole table, and the table's figures."""
        fields = {"place": exp.column("place")}
        fields |= {_LISTED[name]: exp.column(_LISTED[name]) for name in self.names if name in _LISTED}
        columns: dict[str, exp.Expr] = {"listed": exp.ArrayAgg(this=_struct(fields))}
        columns |= {n: exp.Max(this=exp.column(n)) for n in _OF_TABLE if self.counted.unit or n != _PAIRS}
        query = exp.select(*(exp.alias_(column, name) for name, column in columns.items()))
        return subquery(query.from_(self.counted.table), self._table)

    def folded(self, aggregate: exp.Expr) -> exp.Expr:
        """An aggregate as one over a list: of the values in the class, or of all values of the table if ordered."""
        every, names = self.counted.every, {column.name for column in aggregate.find_all(exp.Column)}
        values, of_class = self._column("values"), {_SIZE: self._column(_SIZE)}
        if every:
            place, here = _field(_OTHER, PLACE), _field(_VALUE, "place")
            if isinstance(aggregate, exp.Sum) and isinstance(aggregate.this, exp.Column) and names == {"c"}:
                return _rows(values, exp.not_(exp.Is(this=place, expression=exp.null())))
            of_class |= {name: exp.column(name, self._table) for name in _OF_TABLE}
            of_class |= {
                "c": _rows(values, place.eq(here)),
                "c_to": _rows(values, place <= here),
                "value": _field(_VALUE, "raw"),
            }
            values = exp.column("listed", self._table)
        else:
            of_class |= {name: self._column(name) for name in _OF_TABLE}
        function = exp.Paren(this=aggregate.this.copy())
        for column in list(function.find_all(exp.Column)):
            column.replace(of_class.get(column.name, _field(_VALUE, column.name)).copy())
        if every and names <= {_SIZE, *_OF_TABLE} and isinstance(aggregate, (exp.Max, exp.Min)):
            return function
        return _over(_FOLDS[type(aggregate)], values, _VALUE, function.this)

    def _column(self, name: str) -> exp.Expr:
        return exp.column(self._named(name))

    def _named(self, name: str) -> str:
        return f"_{name}_of_list_{self.number}"

    @property
    def _table(self) -> str:
        return f"of_table_{self.number}"


def _over(fold: str, values: exp.Expr, name: str, function: exp.Expr) -> exp.Expr:
    """Fold the results of a function of the values of a list."""
    function_of_value = exp.Lambda(this=function, expressions=[exp.to_identifier(name)], colon=True)
    return exp.Anonymous(this=fold, expressions=[exp.Transform(this=values.copy(), expression=function_of_value)])


def _rows(values: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """The rows of the values of a class that meet a condition."""
    among = exp.Case().when(condition, _field(_OTHER, "c")).else_(exp.Literal.number(0))
    return exp.cast(_over("LIST_SUM", values, _OTHER, among), "BIGINT")


def _struct(fields: Mapping[str, exp.Expr]) -> exp.Struct:
    named = (exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in fields.items())
    return exp.Struct(expressions=list(named))


def _field(of: str, name: str) -> exp.Expr:
    return exp.Dot(this=exp.to_identifier(of), expression=exp.to_identifier(name))
