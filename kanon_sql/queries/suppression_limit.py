"""The suppression limit of a statement that counts its classes itself: it fails rather than leave out more rows."""

from __future__ import annotations

from sqlglot import exp

from kanon_sql.queries import dialects
from kanon_sql.queries.release import CLASSES

HELD = "kanon_held"
_LEFT_OUT = "kanon_left_out"


def within_limit(
    query: exp.Select,
    key: str,
    source: exp.Select,
    shown: exp.Select,
    limit: float | str,
    dialect: str,
    no_class: exp.Expr | None = None,
) -> exp.Select:
    """A query with `HELD`: the same as `CLASSES`, or a failure if more rows are left out than the limit allows.

    A source without rows fails too. `key`: the column of a row's class. `source`: the counted rows; `shown`: those with
    a class. `no_class`: a value in the type of `key`, by default a number. `HELD` must be on the left of a LEFT JOIN
    with the rows: all its classes have rows, and no system skips reading that side, even if there are no rows.
    """
    released = shown.join(exp.to_table(CLASSES), using=[exp.to_identifier(key)])
    count = exp.Count(this=exp.Star())
    all_rows = source.select(exp.alias_(count, "all_rows"), append=False).subquery("s")
    held_rows = released.select(exp.alias_(count.copy(), "held_rows"), append=False).subquery("h")
    left = exp.column("all_rows", "s") - exp.column("held_rows", "h")
    counted = exp.select(exp.column("all_rows", "s"), exp.alias_(left, "left_out"))
    query = query.with_(_LEFT_OUT, as_=counted.from_(all_rows).join(held_rows, join_type="CROSS"))
    message = exp.select(exp.alias_(_message(limit), "message")).from_(exp.to_table(_LEFT_OUT)).subquery("c")
    fails = dialects.fails_unless_zero(exp.column("message"), dialect)
    none = exp.select(exp.alias_(no_class or exp.Literal.number(0), key)).from_(message).where(fails)
    classes = exp.select(key).from_(exp.to_table(CLASSES))
    return query.with_(HELD, as_=exp.union(classes, none, distinct=False))


def _message(limit: float | str) -> exp.Expr:
    """The error about the rows that are left out, or 0; it includes their number, so no planner fails early."""
    rows, left_out = exp.column("all_rows"), exp.column("left_out")
    if isinstance(limit, str):
        beyond: exp.Expr = left_out > int(limit.split()[0])
    else:
        some = exp.func("NULLIF", rows.copy(), exp.Literal.number(0))  # a system may divide even if there are no rows
        share, most = exp.cast(left_out, "DOUBLE") / some, exp.cast(exp.Literal.number(limit), "DOUBLE")
        beyond = exp.GT(this=share, expression=most)
    none = rows.eq(exp.Literal.number(0))
    of_limit = f" rows would be left out, and the suppression limit is {limit}; compile the release again"
    case = exp.Case().when(none, _text(rows, " rows in the source; there is nothing to release"))
    case = case.when(beyond, _text(left_out, " of ", rows, of_limit))
    return case.else_(exp.Literal.string("0"))


def _text(number: exp.Column, *parts: str | exp.Column) -> exp.Expr:
    text: exp.Expr = exp.cast(number.copy(), "TEXT")
    for part in parts:
        added = exp.Literal.string(part) if isinstance(part, str) else exp.cast(part.copy(), "TEXT")
        text = exp.DPipe(this=text, expression=added)
    return text
