"""Class values in columns: where a relation counts every value side by side, a class needs one GROUP BY, not two.

`SUM(f(c, overall_c))` over the values of a class becomes one over a list of counts, which the sums of a few columns
hold (`kanon_sql.privacy.Spread`), beside a list of the table's own. A value that a class lacks is counted all the same,
with no rows; it is left out, but where the order of the values is followed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from kanon_sql.privacy import Spread
from kanon_sql.queries.value_lists import Classes, figures_of, names_of

_FOLDS: dict[type[exp.Expr], str] = {
    exp.Sum: "LIST_SUM",
    exp.Max: "LIST_MAX",
    exp.Min: "LIST_MIN",
    exp.Count: "LIST_COUNT",
}
_NUMBER, _PLACE = "x", "i"  # of a function over a list
_OF_CLASS = ("size", "overall_size", "overall_values")  # the same for every value


def can_spread(aggregate: exp.Expr) -> bool:
    """Whether an aggregate over figures of values can be one over the columns that count them."""
    names = {name for name in names_of(aggregate) if name not in _OF_CLASS}
    if not names:
        return isinstance(aggregate, (exp.Max, exp.Min))
    if _is_largest(aggregate):
        return True
    known = type(aggregate) in _FOLDS and not isinstance(aggregate.this, exp.Distinct)
    return known and names <= {*_named(_counts(names)), *_first(_counts(names))} and names >= {*_first(_counts(names))}


def spread(aggregate: exp.Expr, classes: Classes) -> exp.Expr:
    """An aggregate over figures of values as what is known of the classes."""
    (counted,) = {column.meta["kanon"][1] for column in figures_of(aggregate)}
    size = classes.column(exp.cast(exp.Sum(this=exp.column("n")), "BIGINT"))
    overall = {name: exp.Literal.number(getattr(counted.spread, name[8:])) for name in _OF_CLASS[1:]}
    names = names_of(aggregate)
    if set(names) <= {*_OF_CLASS}:
        return exp.Paren(this=_filled(aggregate.this, {"size": size, **overall}))
    if isinstance(aggregate, exp.Sum) and names == ["c"] and aggregate.this in figures_of(aggregate):
        return size
    counts = _counts(names)
    held = _Held(counted.spread, counts, classes)
    if _is_largest(aggregate):
        return _most(held.each(held.count), aggregate.expressions[0])
    known = {counts: held.count, f"overall_{counts}": held.overall, "size": size, **overall}
    function = _filled(aggregate.this, known | dict.fromkeys(_first(counts), exp.true()))
    if not counted.every:
        function = exp.Case().when(exp.GT(this=held.count, expression=exp.Literal.number(0)), function)
    return classes.fold(exp.Anonymous(this=_FOLDS[type(aggregate)], expressions=[held.each(function)]))


class _Held:
    """The counts that columns hold, as a list: the number that holds each, and which of its bits."""

    def __init__(self, spread: Spread, counts: str, classes: Classes) -> None:
        self._spread, self._overall = spread, spread.overall[counts]
        sums = [exp.Sum(this=exp.column(exp.to_identifier(name, quoted=True))) for name in spread.columns[counts]]
        self._numbers = [classes.column(exp.cast(each, "BIGINT")) for each in sums]

    @property
    def count(self) -> exp.Expr:
        """One count."""
        shifts = [place % self._spread.in_one * self._spread.bits for place in range(len(self._overall))]
        shifted = exp.BitwiseRightShift(this=exp.column(_NUMBER), expression=_at_place(shifts))
        low = exp.Literal.number((1 << self._spread.bits) - 1)
        return exp.Paren(this=exp.BitwiseAnd(this=exp.Paren(this=shifted), expression=low))

    @property
    def overall(self) -> exp.Expr:
        """The table's own."""
        return _at_place(self._overall)

    def each(self, function: exp.Expr) -> exp.Expr:
        """The list of what a function gives of every count."""
        numbers = [self._numbers[place // self._spread.in_one].copy() for place in range(len(self._overall))]
        names = [exp.to_identifier(_NUMBER), exp.to_identifier(_PLACE)]
        return exp.Transform(this=_list(numbers), expression=exp.Lambda(this=function, expressions=names))


def _counts(names: Collection[str]) -> str:
    """What the columns count that an aggregate is over: `c`, `c_to`, or `c_1`, …"""
    counts = (name.removeprefix("overall_") for name in names if name.startswith(("c", "overall_c")))
    return max(counts, key=len, default="")


def _named(counts: str) -> Sequence[str]:
    return counts, f"overall_{counts}"


def _first(counts: str) -> Sequence[str]:
    """The figure that is true of one value of a group: columns of groups count each group once."""
    return (f"first_{counts[2:]}",) if counts[2:].isdigit() else ()


def _is_largest(aggregate: exp.Expr) -> bool:
    return isinstance(aggregate, exp.Max) and bool(aggregate.expressions)


def _at_place(numbers: Sequence[int]) -> exp.Expr:
    listed = _list([exp.Literal.number(each) for each in numbers])
    return exp.Anonymous(this="LIST_EXTRACT", expressions=[listed, exp.column(_PLACE)])


def _list(items: Sequence[exp.Expr]) -> exp.Array:
    return exp.Array(expressions=list(items))


def _most(values: exp.Expr, many: exp.Expr) -> exp.Expr:
    """So many of the largest numbers of a list."""
    in_order = exp.Anonymous(this="LIST_REVERSE_SORT", expressions=[values])
    return exp.Anonymous(this="LIST_SLICE", expressions=[in_order, exp.Literal.number(1), many.copy()])


def _filled(function: exp.Expr, known: dict[str, exp.Expr]) -> exp.Expr:
    """A function of a value's figures, these in their places."""
    filled = exp.Paren(this=function.copy())
    for column in figures_of(filled):
        column.replace(known[column.meta["kanon"][0]].copy())
    return filled
