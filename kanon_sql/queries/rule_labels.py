"""Computes the labels of rules in SQL: the same labels as in the hierarchy's mapping table.

A value that the recipe would refuse (a number that is not finite, a year without four digits) becomes `*`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import exp

from kanon_sql.generalization.calendar import unit
from kanon_sql.generalization.label_rules import MOST, Age, Calendar, Edges, Itself, Prefix, Range, Redaction, Rule
from kanon_sql.queries import tree as t

# Up to here whole numbers are exact in a float, the floor of a float is that of its decimal text, and the ranges of an
# integer end within its type.
EXACT, EXACT_SINGLE = MOST, 2**24


def ruled(rule: Rule, value: exp.Expr, kind: str, exact: int | None = None) -> exp.Expr:
    """The label of a value of a column of this kind.

    `exact`: the largest absolute value of a number, beyond which it becomes `*`; None for integers of few bits.
    """
    match rule:
        case Itself():
            # -0 equals 0 to the engine, but looks different.
            zero = "CASE WHEN $value = 0 THEN 0 ELSE $value END"
            return t.expression(zero, value=value) if kind == "float" else value
        case Range():
            return _range(rule, value, kind, exact)
        case Redaction():
            return _redacted(rule, value if kind == "text" else exp.cast(value, "TEXT"))
        case Calendar():
            at_midnight = rule.unit == "hour" and kind == "date"
            return _calendar("midnight" if at_midnight else rule.unit, value)
        case Age():
            return _of_date(_age(rule, value), value)
        case Edges():
            return _between(rule.edges, value, exact)
        case Prefix():
            return _prefix(rule, value if kind == "text" else exp.cast(value, "TEXT"))


def _range(rule: Range, value: exp.Expr, kind: str, exact: int | None) -> exp.Expr:
    floored = value if kind == "integer" else exp.func("FLOOR", value)
    whole = value if kind == "integer" and exact is not None else exp.cast(floored, "BIGINT")
    from_origin = whole if not rule.origin else whole - rule.origin
    floor = "$whole - MOD(MOD($from_origin, $width) + $width, $width)"
    low = t.expression(floor, whole=whole, from_origin=from_origin, width=rule.width)
    low, high = _cut(rule, low, exp.Add(this=low.copy(), expression=t.literal(rule.width)))
    label = t.expression("'[' || CAST($low AS TEXT) || ', ' || CAST($high AS TEXT) || ')'", low=low, high=high)
    return _ends(rule, value, label, exact)


def _cut(rule: Range, low: exp.Expr, high: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """The ends of a range, cut at the bottom and the top unless these are ends of ranges anyway."""
    if rule.bottom is not None and (rule.bottom - rule.origin) % rule.width:
        low = exp.func("GREATEST", low, t.literal(rule.bottom))
    if rule.top is not None and (rule.top - rule.origin) % rule.width:
        high = exp.func("LEAST", high, t.literal(rule.top))
    return low, high


def _ends(rule: Range, value: exp.Expr, label: exp.Expr, exact: int | None) -> exp.Expr:
    case = _unless_beyond(exp.Case(), value, exact)
    if rule.top is not None:
        case = case.when(value >= rule.top, t.literal(f">= {rule.top}"))
    if rule.bottom is not None:
        case = case.when(value < rule.bottom, t.literal(f"< {rule.bottom}"))
    if label.find(exp.Greatest, exp.Least):  # some systems ignore NULL in these
        return case.when(t.is_not_null(value), label)
    return case.else_(label) if case.args.get("ifs") else label


def _unless_beyond(case: exp.Case, value: exp.Expr, exact: int | None) -> exp.Case:
    """Add a branch to a case: `*` for numbers that might not be exact."""
    if exact is None:
        return case
    beyond = t.expression("NOT $value BETWEEN $low AND $high", value=value, low=-exact, high=exact)
    return case.when(beyond, exp.Literal.string("*"))


def _redacted(rule: Redaction, value: exp.Expr) -> exp.Expr:
    stars = "*" * rule.hidden
    shown = {
        "right": "SUBSTRING($value, 1, LENGTH($value) - $hidden) || $stars",
        "left": "$stars || SUBSTRING($value, $next)",
    }[rule.side]
    case = f"CASE WHEN LENGTH($value) > $hidden THEN {shown} ELSE SUBSTRING($stars, 1, LENGTH($value)) END"
    return t.expression(case, value=value, stars=stars, hidden=rule.hidden, next=rule.hidden + 1)


def _prefix(rule: Prefix, value: exp.Expr) -> exp.Expr:
    whole = "CASE WHEN LENGTH($value) < $pad THEN LPAD($value, $pad, '0') ELSE $value END" if rule.pad else "$value"
    return t.expression(f"SUBSTRING({whole}, 1, $length) || '*'", value=value, length=rule.length, pad=rule.pad)


def _between(edges: Sequence[int], value: exp.Expr, exact: int | None) -> exp.Expr:
    case = _unless_beyond(exp.Case(), value, exact)
    labels = [f"< {edges[0]}", *(f"[{low}, {high})" for low, high in pairwise(edges))]
    for edge, label in zip(edges, labels, strict=True):
        case = case.when(value < edge, t.literal(label))
    return case.when(t.is_not_null(value), t.literal(f">= {edges[-1]}"))


_YEAR = "LPAD(CAST(EXTRACT(YEAR FROM $value) AS TEXT), 4, '0')"
_MONTH = f"{_YEAR} || '-' || LPAD(CAST(EXTRACT(MONTH FROM $value) AS TEXT), 2, '0')"
_DAY = f"{_MONTH} || '-' || LPAD(CAST(EXTRACT(DAY FROM $value) AS TEXT), 2, '0')"
_CALENDAR = {
    "hour": f"{_DAY} || ' ' || LPAD(CAST(EXTRACT(HOUR FROM $value) AS TEXT), 2, '0') || ':00'",
    "midnight": f"{_DAY} || ' 00:00'",
    "day": _DAY,
    "week": "LPAD(CAST(EXTRACT(ISOYEAR FROM $value) AS TEXT), 4, '0') || '-W' "
    "|| LPAD(CAST(EXTRACT(WEEK FROM $value) AS TEXT), 2, '0')",  # of DuckDB and PostgreSQL
    "month": _MONTH,
    "quarter": f"{_YEAR} || '-Q' || CAST(EXTRACT(QUARTER FROM $value) AS TEXT)",
    "year": _YEAR,
    "decade": f"SUBSTRING({_YEAR}, 1, 3) || '0s'",
    "century": f"SUBSTRING({_YEAR}, 1, 2) || '00-' || SUBSTRING({_YEAR}, 1, 2) || '99'",
}
_FIRST = "CAST(EXTRACT(YEAR FROM $value) AS BIGINT) - MOD(CAST(EXTRACT(YEAR FROM $value) AS BIGINT), $years)"
_BAND = f"LPAD(CAST({_FIRST} AS TEXT), 4, '0') || '-' || LPAD(CAST({_FIRST} + $last AS TEXT), 4, '0')"
_AGE = (
    "$year - CAST(EXTRACT(YEAR FROM $value) AS BIGINT) - CASE WHEN EXTRACT(MONTH FROM $value) * 100 "
    "+ EXTRACT(DAY FROM $value) > $day THEN 1 ELSE 0 END"
)


def _age(rule: Age, value: exp.Expr) -> exp.Expr:
    """The band of an age; with bands of one year the age."""
    day = rule.as_of.month * 100 + rule.as_of.day
    age = exp.paren(t.expression(_AGE, value=value, year=rule.as_of.year, day=day))
    if rule.band.width > 1:
        return _range(rule.band, age, "integer", None)
    return _ends(rule.band, age, exp.cast(age, "TEXT"), None)


def _calendar(name: str, value: exp.Expr) -> exp.Expr:
    """The label of a date by a calendar unit."""
    of = unit(name)
    years = of.years if of else 1
    return _of_date(t.expression(_CALENDAR.get(name, _BAND), value=value, years=years, last=years - 1), value)


def _of_date(label: exp.Expr, value: exp.Expr) -> exp.Expr:
    # An infinite date has no year, or an infinite one.
    inside = "COALESCE(EXTRACT(YEAR FROM $value) BETWEEN 1 AND 9999, FALSE)"
    case = f"CASE WHEN {inside} THEN $label WHEN $value IS NOT NULL THEN '*' END"
    return t.expression(case, label=label, value=value)
