"""What a rule makes of a value, worked out in SQL: the same label that the hierarchy's mapping table gives.

A value that the recipe would refuse (a number that is not finite, a year that has not four digits) becomes `*`.
"""

from __future__ import annotations

from functools import cache

import sqlglot
from sqlglot import exp

from kanon_sql.generalization.rules import MOST, Calendar, Itself, Range, Redaction, Rule
from kanon_sql.queries import tree as t

# So far from 0 the whole numbers are exact in a float, and what its decimals say and what it is have one floor; and no
# range of an integer ends beyond its type.
EXACT, EXACT_SINGLE = MOST, 2**24


def ruled(rule: Rule, value: exp.Expr, kind: str, exact: int | None = None) -> exp.Expr:
    """The label of a value of a column of this kind.

    `exact`: how far from 0 a number may be, what is beyond it becoming `*`; None for integers of few bits, all of which
    may.
    """
    match rule:
        case Itself():
            # -0 is 0 to the engine, and looks different.
            return _filled("CASE WHEN $value = 0 THEN 0 ELSE $value END", value=value) if kind == "float" else value
        case Range():
            return _range(rule, value, kind, exact)
        case Redaction():
            return _redacted(rule, value if kind == "text" else exp.cast(value, "TEXT"))
        case Calendar():
            return _calendar(rule.unit, value)


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
    """The ends of a range, cut at the bottom and at the top where these are no ends of ranges themselves."""
    if rule.bottom is not None and (rule.bottom - rule.origin) % rule.width:
        low = exp.func("GREATEST", low, t.literal(rule.bottom))
    if rule.top is not None and (rule.top - rule.origin) % rule.width:
        high = exp.func("LEAST", high, t.literal(rule.top))
    return low, high


def _ends(rule: Range, value: exp.Expr, label: exp.Expr, exact: int | None) -> exp.Expr:
    case = exp.Case()
    if exact is not None:
        beyond = _filled("NOT $value BETWEEN $low AND $high", value=value, low=t.literal(-exact), high=t.literal(exact))
        case = case.when(beyond, exp.Literal.string("*"))
    if rule.top is not None:
        case = case.when(exp.GTE(this=value.copy(), expression=t.literal(rule.top)), t.literal(f">= {rule.top}"))
    if rule.bottom is not None:
        case = case.when(exp.LT(this=value.copy(), expression=t.literal(rule.bottom)), t.literal(f"< {rule.bottom}"))
    if label.find(exp.Greatest, exp.Least):  # of which some leave NULL out
        return case.when(t.is_not_null(value), label)
    return case.else_(label) if case.args.get("ifs") else label


def _redacted(rule: Redaction, value: exp.Expr) -> exp.Expr:
    stars = "*" * rule.hidden
    shown = {
        "right": "SUBSTRING($value, 1, LENGTH($value) - $hidden) || $stars",
        "left": "$stars || SUBSTRING($value, $next)",
    }[rule.side]
    case = f"CASE WHEN LENGTH($value) > $hidden THEN {shown} ELSE SUBSTRING($stars, 1, LENGTH($value)) END"
    numbers = {"hidden": t.literal(rule.hidden), "next": t.literal(rule.hidden + 1)}
    return _filled(case, value=value, stars=t.literal(stars), **numbers)


_YEAR = "LPAD(CAST(EXTRACT(YEAR FROM $value) AS TEXT), 4, '0')"
_MONTH = f"{_YEAR} || '-' || LPAD(CAST(EXTRACT(MONTH FROM $value) AS TEXT), 2, '0')"
_CALENDAR = {
    "day": f"{_MONTH} || '-' || LPAD(CAST(EXTRACT(DAY FROM $value) AS TEXT), 2, '0')",
    "month": _MONTH,
    "quarter": f"{_YEAR} || '-Q' || CAST(EXTRACT(QUARTER FROM $value) AS TEXT)",
    "year": _YEAR,
    "decade": f"SUBSTRING({_YEAR}, 1, 3) || '0s'",
    "century": f"SUBSTRING({_YEAR}, 1, 2) || '00-' || SUBSTRING({_YEAR}, 1, 2) || '99'",
}


def _calendar(unit: str, value: exp.Expr) -> exp.Expr:
    # An infinite date has no year, or an infinite one.
    inside = "COALESCE(EXTRACT(YEAR FROM $value) BETWEEN 1 AND 9999, FALSE)"
    return _filled(f"CASE WHEN {inside} THEN {_CALENDAR[unit]} WHEN $value IS NOT NULL THEN '*' END", value=value)


def _filled(text: str, /, **holes: exp.Expr) -> exp.Expr:
    """An expression of ours with others in its holes."""
    tree = exp.Paren(this=_parsed(text).copy())
    for hole in list(tree.find_all(exp.Placeholder)):
        filling = holes[hole.name].copy()
        hole.replace(
            exp.paren(filling) if isinstance(filling, exp.Binary) and isinstance(hole.parent, exp.Binary) else filling
        )
    made: exp.Expr = tree.this
    return made


@cache
def _parsed(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, "duckdb")
