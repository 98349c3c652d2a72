"""What is cloaked: the rows of a source as points in space and time, each of a unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Moment, Relation
from kanon_sql.spec import CloakSpec

_NUMBERS = ("integer", "decimal", "float")
_EXACT = 2**53  # whole numbers that a double holds
_TOLERANCES = ("dx", "dy", "dt")
_ROLES = {"identifiers": "identifier", "keep": "kept"}  # of a column, where the key says it otherwise


@dataclass(frozen=True)
class Extent:
    """What there is to cloak; see `sql/cloak_points.sql`."""

    rows: int
    no_place: int
    no_time: int
    no_unit: int
    placed: int
    units: int
    x_low: float
    x_high: float
    y_low: float
    y_high: float
    t_low: float
    t_high: float


@dataclass(frozen=True)
class Cloaking:
    """All that a method of cloaking is given; it works in an embedded DuckDB.

    `points`: row, unit (numbered from 1), x, y, t, moment (the time in its own type), own_k, dx, dy, dt (NULL without
    tolerances), and what is kept. t counts microseconds for timestamps and days for dates; `ticks` of them are one of
    the unit that a spec speaks in. `kept`: the released columns that stay as they are, by their names in `points`.
    """

    tables: Scratch
    spec: CloakSpec
    model: PrivacyModels
    time: Moment
    extent: Extent
    kept: dict[str, str]
    stage: Callable[[str], None]

    @property
    def points(self) -> Relation:
        """The points to cloak."""
        return self.tables["points"]

    @property
    def engine(self) -> Engine:
        """Where the work is done."""
        return self.tables.engine

    @property
    def ticks(self) -> float:
        """Seconds are given for timestamps, and counted in microseconds."""
        return ticks(self.time.kind)

    @property
    def whole(self) -> bool:
        """Whether a time that is released must be a whole number."""
        return self.time.kind in ("timestamp", "date", "integer")


def ticks(kind: str) -> float:
    """How many of what a time is counted in are one of the unit that people give."""
    return 1e6 if kind == "timestamp" else 1.0


def read(
    tables: Scratch, engine: Engine, table: Table, spec: CloakSpec, model: PrivacyModels, stage: Callable[[str], None]
) -> Cloaking:
    """Check the columns, number the rows, and refuse those without a place, a time or a unit.

    `tables`: where the work is done, in the embedded engine of the table or in another one.
    """
    check_columns(table, spec)
    stage("Reading the places")
    here, kept = tables.engine, kept_columns(table, spec)
    source = table
    if here is not engine:
        copied = queries.text("frequency_sets/copy", engine.dialect, columns=_needed(spec, kept), source=table.relation)
        source = here.table(tables.receive("source", engine, copied))
    names = {f"c{index}": name for index, name in enumerate(kept)}
    column = source.column(spec.time)
    assert column is not None
    time = Moment(column.name, column.kind, column.type)
    types = {each.name: each.open_type for each in source.columns}
    rows = queries.cloak_rows(source.relation, names, types, _numbers(spec), spec.unit, time, here.dialect)
    ((*figures,),) = tables.rows("cloak_points/extent", points=tables.create_as("rows", rows))
    extent = Extent(*figures)
    check_extent(extent, spec, time)
    cloaking = Cloaking(tables, spec, model, time, extent, names, stage)
    _make_points(cloaking)
    if spec.cloak.tolerant or spec.cloak.k:
        _check_own(cloaking)
    return cloaking


def kept_columns(table: Table, spec: CloakSpec) -> list[str]:
    """The columns that are released as they are."""
    gone = {*spec.dropped, *spec.location, spec.time}
    return [column.name for column in table.columns if column.name not in gone]


def box_columns(spec: CloakSpec) -> dict[str, str]:
    """The released box and interval: our names of the columns, by those in the release."""
    first, second = spec.location
    return {
        f"{first}_min": "x_min",
        f"{first}_max": "x_max",
        f"{second}_min": "y_min",
        f"{second}_max": "y_max",
        f"{spec.time}_from": "since",
        f"{spec.time}_to": "until",
    }


def check_columns(table: Table, spec: CloakSpec) -> None:
    """Refuse columns that are not there, or not of a kind that can be calculated with, before any work."""
    numeric = (*spec.location, *spec.cloak.columns)
    for key, names in spec.roles.items():
        role = _ROLES.get(key, key)
        for name in names:
            column = table.column(name)
            if column is None:
                known = ", ".join(each.name for each in table.columns)
                near = next(
                    (f"; did you mean {c.name!r}?" for c in table.columns if c.name.lower() == name.lower()), ""
                )
                raise SpecError(f"there is no {role} column {name!r}{near or f'; there are {known}'}")
            if name in numeric and column.kind not in _NUMBERS:
                raise SpecError(f"the {role} column {name!r} holds {column.type}, not numbers; cast it in a view first")
            if role == "time" and column.kind not in (*_NUMBERS, "timestamp", "date"):
                raise SpecError(
                    f"the time column {name!r} holds {column.type}, not timestamps, dates or numbers; "
                    "cast it in a view first"
                )
    released = {name.lower() for name in box_columns(spec)}
    clash = next((name for name in kept_columns(table, spec) if name.lower() in released), None)
    if clash or len(released) < 6:
        raise SpecError(
            f"the release would have two columns called {clash or min(released)!r}; rename one in a view first"
        )


def check_extent(extent: Extent, spec: CloakSpec, time: Moment) -> None:
    """Refuse rows that cannot be placed, and what no cloak can hide."""
    if extent.rows == 0:
        raise SourceError(f"{spec.source} has no rows; there is nothing to cloak")
    missing = {"place": extent.no_place, "time": extent.no_time, "unit": extent.no_unit}
    if spec.cloak.unplaced == "error" and extent.placed < extent.rows:
        said = " and ".join(f"{count:,} rows without a {what}" for what, count in missing.items() if count)
        raise SourceError(
            f"{spec.source} has {said} (NULL, NaN or infinite); leave them out, or suppress them with "
            "cloak: {unplaced: suppress}"
        )
    if spec.privacy.k > extent.units:
        raise SpecError(
            f"k is {spec.privacy.k:,} but there are only {extent.units:,} different {spec.unit!r}, so not even the "
            "whole area can hide one; lower k"
        )
    if time.kind == "integer" and max(abs(extent.t_low), abs(extent.t_high)) > _EXACT:
        raise SpecError(
            f"the times in {time.column!r} exceed 2^53, above which whole numbers are not exact; divide them"
        )


def _needed(spec: CloakSpec, kept: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*kept, *spec.location, spec.time, spec.unit, *spec.cloak.columns]))


def _numbers(spec: CloakSpec) -> dict[str, str]:
    first, second = spec.location
    own = {name: getattr(spec.cloak, name) for name in ("dx", "dy", "dt")} | {"own_k": spec.cloak.k}
    return {"x": first, "y": second} | {name: column for name, column in own.items() if isinstance(column, str)}


def _make_points(cloaking: Cloaking) -> None:
    cloak, made = cloaking.spec.cloak, cloaking.tables
    given = {name: getattr(cloak, name) for name in _TOLERANCES} if cloak.tolerant else {}
    if cloak.tolerant and cloak.dy is None:
        given["dy"] = cloak.dx
    own = {name: _own(name, value, cloaking) for name, value in given.items()}
    own["own_k"] = "own_k" if cloak.k else cloaking.model.k
    numbers = [*dict.fromkeys(["x", "y", *_numbers(cloaking.spec)]), "t"]
    columns = ["moment", *cloaking.kept], numbers
    query = queries.cloak_points(made["rows"], *columns, own, cloaking.ticks, cloaking.model.k, made.engine.dialect)
    made.create_as("points", query)
    made.drop("rows")


def _own(name: str, value: float | str, cloaking: Cloaking) -> str | float:
    """A tolerance as a column of ours, or a number."""
    same = name == "dy" and isinstance(value, str) and cloaking.spec.cloak.dy is None
    return ("dx" if same else name) if isinstance(value, str) else value


def _check_own(cloaking: Cloaking) -> None:
    """Refuse tolerances, and a row's own k, that mean nothing."""
    cloak = cloaking.spec.cloak
    ((negative, whole),) = (
        cloaking.tables.rows("cloak_points/own", points=cloaking.points) if cloak.tolerant else [(0, 0)]
    )
    if negative:
        raise SourceError(f"{negative:,} rows have a negative tolerance or none; correct {', '.join(cloak.columns)}")
    if whole:
        raise SourceError(
            f"{whole:,} rows have a k of their own in {cloak.k!r} that is no whole number of at least 1; correct it"
        )


__all__ = ["Cloaking", "Extent", "read", "replace"]
