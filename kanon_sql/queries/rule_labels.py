"""Computes the labels of rules in SQL: the same labels as in the hierarchy's mapping table.

A value that the recipe would refuse (a number that is not finite, a year without four digits) becomes `*`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import sqlglot
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
            return _filled("CASE WHEN $value = 0 THEN 0 ELSE $value END", value=value) if kind == "float" else value
        case Range():
            return _range(rule, value, kind, exact)
        case Redaction():
            return _redacted(rule, value if kind == "text" else exp.cast(value, "TEXT"))
        case Calendar():
            at_midnight = rule.unit == "hour" and kind == "date"
            return _calendar(_part("midnight" if at_midnight else rule.unit), value)
        case Age():
            return _calendar_of(_age(rule, value), value)
        case Edges():
            return _between(rule.edges, value, exact)
        case Prefix():
            return _prefix(rule, value if kind == "text" else exp.cast(value, "TEXT"))


def _range(rule: Range, value: exp.Expr, kind: str, exact: int | None) -> exp.Expr:
    floored = value if kind == "integer" else exp.func("FLOOR", value)
    whole = value if kind == "integer" and exact is not None else exp.cast(floored, "BIGINT")
    from_origin = whole if not rule.origin else exp.Sub(this=whole.copy(), expression=t.literal(rule.origin))
    numbers = {"whole": whole, "from_origin": from_origin, "width": t.literal(rule.width)}
    low = _filled("$whole - MOD(MOD($from_origin, $width) + $width, $width)", **numbers)
    low, high = _cut(rule, low, exp.Add(this=low.copy(), expression=t.literal(rule.width)))
    label = _filled("'[' || CAST($low AS TEXT) || ', ' || CAST($high AS TEXT) || ')'", low=low, high=high)
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
        case = case.when(exp.GTE(this=value.copy(), expression=t.literal(rule.top)), t.literal(f">= {rule.top}"))
    if rule.bottom is not None:
        case = case.when(exp.LT(this=value.copy(), expression=t.literal(rule.bottom)), t.literal(f"< {rule.bottom}"))
    if label.find(exp.Greatest, exp.Least):  # some systems ignore NULL in these
        return case.when(t.is_not_null(value), label)
    return case.else_(label) if case.args.get("ifs") else label


def _unless_beyond(case: exp.Case, value: exp.Expr, exact: int | None) -> exp.Case:
    """Add a branch to a case: `*` for numbers that might not be exact."""
    if exact is None:
        return case
    beyond = _filled("NOT $value BETWEEN $low AND $high", value=value, low=t.literal(-exact), high=t.literal(exact))
    return case.when(beyond, exp.Literal.string("*"))


def _redacted(rule: Redaction, value: exp.Expr) -> exp.Expr:
    stars = "*" * rule.hidden
    shown = {
        "right": "SUBSTRING($value, 1, LENGTH($value) - $hidden) || $stars",
        "left": "$stars || SUBSTRING($value, $next)",
    }[rule.side]
    case = f"CASE WHEN LENGTH($value) > $hidden THEN {shown} ELSE SUBSTRING($stars, 1, LENGTH($value)) END"
    numbers = {"hidden": t.literal(rule.hidden), "next": t.literal(rule.hidden + 1)}
    return _filled(case, value=value, stars=t.literal(stars), **numbers)


def _prefix(rule: Prefix, value: exp.Expr) -> exp.Expr:
    numbers = {"length": t.literal(rule.length), "pad": t.literal(rule.pad or 0)}
    whole = "CASE WHEN LENGTH($value) < $pad THEN LPAD($value, $pad, '0') ELSE $value END" if rule.pad else "$value"
    return _filled(f"SUBSTRING({whole}, 1, $length) || '*'", value=value, **numbers)


def _between(edges: Sequence[int], value: exp.Expr, exact: int | None) -> exp.Expr:
    case = _unless_beyond(exp.Case(), value, exact)
    labels = [f"< {edges[0]}", *(f"[{low}, {high})" for low, high in pairwise(edges))]
    for edge, label in zip(edges, labels, strict=True):
        case = case.when(exp.LT(this=value.copy(), expression=t.literal(edge)), t.literal(label))
    return case.when(t.is_not_null(value), t.literal(f">= {edges[-1]}"))


_YEAR = "LPAD(CAST(EXTRACT(YEAR FROM $value) AS TEXT), 4, '0')"
_MONTH = f"{_YEAR} || '-' || LPAD(CAST(EXTRACT(MONTH FROM $value) AS TEXT), 2, '0')"
_DAY = f"{_MONTH} || '-' || LPAD(CAST(EXTRACT(DAY FROM $value) AS TEXT), 2, '0')"
_CALENDAR = {
    "hour": f"{_DAY} || ' ' || LPAD(CAST(EXTRACT(HOUR FROM $value) AS TEXT), 2, '0') || ':00'",
    "midnight": f"{_DAY} || ' 00:00'",
    "day": _DAY,
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


def _part(name: str) -> exp.Expr:
    """The label of a calendar unit, with a hole for the date."""
    if name in _CALENDAR:
        return _parsed(_CALENDAR[name])
    of = unit(name)
    years = of.years if of else 1
    return _filled(_BAND, years=t.literal(years), last=t.literal(years - 1))


def _age(rule: Age, value: exp.Expr) -> exp.Expr:
    """The band of an age; with bands of one year the age."""
    as_of = {"year": t.literal(rule.as_of.year), "day": t.literal(rule.as_of.month * 100 + rule.as_of.day)}
    age = exp.paren(_filled(_AGE, value=value, **as_of))
    if rule.band.width > 1:
        return _range(rule.band, age, "integer", None)
    return _ends(rule.band, age, exp.cast(age, "TEXT"), None)


def _calendar(part: exp.Expr, value: exp.Expr) -> exp.Expr:
    return _calendar_of(_with(part, value=value), value)


def _calendar_of(label: exp.Expr, value: exp.Expr) -> exp.Expr:
    # An infinite date has no year, or an infinite one.
    inside = "COALESCE(EXTRACT(YEAR FROM $value) BETWEEN 1 AND 9999, FALSE)"
    return _filled(f"CASE WHEN {inside} THEN $label WHEN $value IS NOT NULL THEN '*' END", label=label, value=value)


def _filled(text: str, /, **holes: exp.Expr) -> exp.Expr:
    """An expression of ours with its holes filled."""
    return _with(_parsed(text), **holes)


def _with(expression: exp.Expr, **holes: exp.Expr) -> exp.Expr:
    """An expression with the named holes filled."""
    tree = exp.Paren(this=expression.copy())
    for hole in list(tree.find_all(exp.Placeholder)):
        if hole.name not in holes:
            continue
        filling = holes[hole.name].copy()
        hole.replace(
            exp.paren(filling) if isinstance(filling, exp.Binary) and isinstance(hole.parent, exp.Binary) else filling
        )
    computed: exp.Expr = tree.this
    return computed


@cache
def _parsed(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, "duckdb")
