"""The queries of cloaking: points with a time, and their released boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation


@dataclass(frozen=True)
class Moment:
    """A column of times, which cloaking converts to numbers for its calculations.

    Timestamps become microseconds and dates days since 1970-01-01; numbers are unchanged.
    `kind`, `type`: as of `kanon_sql.engine.Column`.
    """

    column: str
    kind: str
    type: str

    @property
    def zoned(self) -> bool:
        """Whether a timestamp has a time zone."""
        return "TIME ZONE" in self.type.upper() or self.type.upper() == "TIMESTAMPTZ"

    def value(self) -> exp.Expr:
        """The time as released: a timestamp is cut to microseconds."""
        column = t.column(self.column, "s")
        return exp.cast(column, "TIMESTAMP") if self.kind == "timestamp" and not self.zoned else column

    def number(self) -> exp.Expr:
        """The number of a time; NULL for one that is not finite."""
        if self.kind not in ("timestamp", "date"):
            return exp.cast(t.column(self.column, "s"), "DOUBLE")
        counted: exp.Expr = exp.func("EPOCH_US", self.value())
        if self.kind == "date":
            # Infinite dates cannot be subtracted.
            counted = exp.IntDiv(this=counted, expression=exp.Literal.number(_MICROSECONDS_A_DAY))
        finite = exp.func("ISFINITE", self.value())
        return exp.cast(exp.Case().when(finite, counted), "DOUBLE")

    def moment(self, number: str) -> exp.Expr:
        """The time of a column of numbers."""
        column = t.column(number, "b")
        if self.kind == "timestamp":
            function = "MAKE_TIMESTAMPTZ" if self.zoned else "MAKE_TIMESTAMP"
            return exp.func(function, exp.cast(column, "BIGINT"))
        if self.kind == "date":
            return exp.paren(_EPOCH + exp.cast(column, "INTEGER"))
        return exp.cast(column, "BIGINT" if self.kind == "integer" else "DOUBLE")


_MICROSECONDS_A_DAY = 86_400_000_000
_EPOCH = exp.cast(exp.Literal.string("1970-01-01"), "DATE")


def cloak_rows(
    source: Relation,
    kept: Mapping[str, str],
    open_types: Mapping[str, str | None],
    numbers: Mapping[str, str],
    unit: str,
    time: Moment,
    dialect: str,
) -> str:
    """The query that numbers the rows to cloak: row, the kept columns, the numbers as DOUBLE, unit, moment, t.

    `kept`, `numbers`: the source's columns by their new names. `open_types`: the types to release kept columns in,
    where their own would reveal other values (ENUM).
    """
    columns = [
        exp.alias_(t.opened(t.column(column, "s"), open_types[column]), name, quoted=True)
        for name, column in kept.items()
    ]
    columns += [
        exp.alias_(exp.cast(t.column(column, "s"), "DOUBLE"), name, quoted=True) for name, column in numbers.items()
    ]
    columns.append(exp.alias_(t.column(unit, "s"), "unit"))
    columns += [exp.alias_(time.value(), "moment"), exp.alias_(time.number(), "t")]
    number = exp.alias_(exp.Window(this=exp.RowNumber()), "row", quoted=True)
    return t.printed(exp.select(number, *columns).from_(t.table(source, "s"), copy=False), dialect)


def cloak_points(
    rows: Relation,
    shown: Sequence[str],
    numbers: Sequence[str],
    own: Mapping[str, str | float],
    ticks: float,
    k: int,
    dialect: str,
) -> str:
    """The query of the points: their units numbered, with individual k and tolerances (a column or a number).

    `shown`, `numbers`: columns of the rows, to release and to calculate with. `own`: own_k, and dx, dy, dt if there
    are tolerances; dt in a unit of `ticks` of the numbers of time. An own k is raised to `k`.
    """
    values: dict[str, exp.Expr] = {
        n: t.column(v, "p") if isinstance(v, str) else exp.cast(t.literal(repr(v)), "DOUBLE") for n, v in own.items()
    }
    if "dt" in values:
        values["dt"] = values["dt"] * exp.cast(t.literal(repr(ticks)), "DOUBLE")
    values = {name: exp.cast(exp.null(), "TINYINT") for name in ("dx", "dy", "dt")} | values
    wanted = values.pop("own_k")
    if not isinstance(own["own_k"], str):
        wanted = exp.cast(t.literal(own["own_k"]), "INTEGER")
    values |= {"requested_k": wanted, "own_k": exp.func("GREATEST", wanted.copy(), t.literal(k))}
    columns: list[exp.Expr] = [t.column(name, "p") for name in ("row", "unit", "x", "y", "t", *shown)]
    columns += [exp.alias_(value, name, quoted=True) for name, value in values.items()]
    numbered = t.tree("cloak_points/points", points=rows, columns=[*numbers, *shown])
    return t.printed(exp.select(*columns).from_(numbered.subquery("p"), copy=False), dialect)


def cloak_boxes(boxes: Relation, time: Moment, dialect: str) -> str:
    """The query of boxes as released: intervals in the time's own type; 0 instead of -0, which looks different."""
    plain: dict[str, exp.Expr] = {
        name: t.column(name, "b") + exp.cast(t.literal(0), "DOUBLE")
        for name in ("x_min", "x_max", "y_min", "y_max", "t_min", "t_max")
    }
    columns = [exp.alias_(value, name, quoted=True) for name, value in plain.items()]
    query = exp.select(t.column("box", "b"), *columns).from_(t.table(boxes, "b"), copy=False).subquery("b")
    ends = [exp.alias_(time.moment("t_min"), "since"), exp.alias_(time.moment("t_max"), "until")]
    return t.printed(exp.select("*", *ends).from_(query, copy=False), dialect)
