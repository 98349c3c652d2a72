"""The rows of a source as points in space and time, each of a unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Moment, Relation
from kanon_sql.spec import CloakSpec

_NUMBERS = ("integer", "decimal", "float")
_EXACT = 2**53  # a double represents whole numbers up to this exactly
_TOLERANCES = ("dx", "dy", "dt")
_ROLES = {"identifiers": "identifier", "keep": "kept"}  # the roles in errors, if they differ from the key


@dataclass(frozen=True)
class Extent:
    """The numbers of rows and units, and the area and time of the points; see `sql/cloak_points.sql`."""

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
    """The input of a method of cloaking, in an embedded DuckDB.

    `points`: row, unit (numbered from 1), x, y, t, moment (the time in its own type), own_k, dx, dy, dt (NULL without
    tolerances), and the kept columns. t counts microseconds for timestamps and days for dates; `ticks` of them are one
    unit of time in a spec. `kept`: the columns that are released unchanged, by their names in `points`.
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
        """The engine that does the work."""
        return self.tables.engine

    @property
    def ticks(self) -> float:
        """The ticks per unit of time in a spec: microseconds per second for timestamps."""
        return 1e6 if self.time.kind == "timestamp" else 1.0

    @property
    def whole(self) -> bool:
        """Whether released times must be whole numbers."""
        return self.time.kind in ("timestamp", "date", "integer")


def read(
    tables: Scratch, engine: Engine, table: Table, spec: CloakSpec, model: PrivacyModels, stage: Callable[[str], None]
) -> Cloaking:
    """Check the columns, number the rows, and raise an error for rows without a place, a time or a unit.

    `tables`: in the embedded engine of the table, or in another one.
    """
    check_columns(table, spec)
    stage("Reading the places")
    here = tables.engine
    kept = kept_columns(table, spec)
    source = table
    if here is not engine:
        needed = [*dict.fromkeys([*kept, *spec.location, spec.time, spec.unit, *spec.cloak.columns])]
        copied = queries.text("frequency_sets/copy", engine.dialect, columns=needed, source=table.relation)
        source = here.table(tables.receive("source", engine, copied))
    names = {f"c{index}": name for index, name in enumerate(kept)}
    column = source.column(spec.time)
    assert column is not None
    time = Moment(column.name, column.kind, column.type)
    types = {column.name: column.open_type for column in source.columns}
    rows = queries.cloak_rows(source.relation, names, types, _numbers(spec), spec.unit, time, here.dialect)
    ((*figures,),) = tables.rows("cloak_points/extent", points=tables.create_as("rows", rows))
    extent = Extent(*figures)
    check_extent(extent, spec, time)
    cloaking = Cloaking(tables, spec, model, time, extent, names, stage)
    _create_points(cloaking)
    if spec.cloak.tolerant or spec.cloak.k:
        _check_own(cloaking)
    return cloaking


def kept_columns(table: Table, spec: CloakSpec) -> list[str]:
    """The columns that are released unchanged."""
    changed = {*spec.dropped, *spec.location, spec.time}
    return [column.name for column in table.columns if column.name not in changed]


def box_columns(spec: CloakSpec) -> dict[str, str]:
    """The released box and interval: our names of the columns, by their names in the release."""
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
    """SpecError for columns that are missing or not numeric, before any work."""
    numeric = (*spec.location, *spec.cloak.columns)
    for key, names in spec.roles.items():
        role = _ROLES.get(key, key)
        for name in names:
            column = table.column(name)
            if column is None:
                existing = ", ".join(column.name for column in table.columns)
                near = next(
                    (f"; did you mean {c.name!r}?" for c in table.columns if c.name.lower() == name.lower()), ""
                )
                raise SpecError(f"there is no {role} column {name!r}{near or f'; there are {existing}'}")
            if name in numeric and column.kind not in _NUMBERS:
                raise SpecError(
                    f"the {role} column {name!r} contains {column.type}, not numbers; cast it in a view first"
                )
            if role == "time" and column.kind not in (*_NUMBERS, "timestamp", "date"):
                raise SpecError(
                    f"the time column {name!r} contains {column.type}, not timestamps, dates or numbers; "
                    "cast it in a view first"
                )
    released = {name.lower() for name in box_columns(spec)}
    clash = next((name for name in kept_columns(table, spec) if name.lower() in released), None)
    if clash or len(released) < 6:
        raise SpecError(
            f"the release would have two columns called {clash or min(released)!r}; rename one in a view first"
        )


def check_extent(extent: Extent, spec: CloakSpec, time: Moment) -> None:
    """Raise an error for rows that cannot be placed, and if k exceeds the units."""
    if extent.rows == 0:
        raise SourceError(f"{spec.source} has no rows; there is nothing to cloak")
    missing = {"place": extent.no_place, "time": extent.no_time, "unit": extent.no_unit}
    if spec.cloak.unplaced == "error" and extent.placed < extent.rows:
        rows = " and ".join(f"{count:,} rows without a {what}" for what, count in missing.items() if count)
        raise SourceError(
            f"{spec.source} has {rows} (NULL, NaN or infinite); leave them out, or suppress them with "
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


def _numbers(spec: CloakSpec) -> dict[str, str]:
    first, second = spec.location
    own = {name: getattr(spec.cloak, name) for name in _TOLERANCES} | {"own_k": spec.cloak.k}
    return {"x": first, "y": second} | {name: column for name, column in own.items() if isinstance(column, str)}


def _create_points(cloaking: Cloaking) -> None:
    cloak, tables = cloaking.spec.cloak, cloaking.tables
    own: dict[str, str | float] = {"own_k": "own_k" if cloak.k else cloaking.model.k}
    if cloak.tolerant:  # each tolerance is a number, or a column, under our name
        values = {name: getattr(cloak, name) for name in _TOLERANCES}
        own |= {name: name if isinstance(value, str) else value for name, value in values.items()}
        if cloak.dy is None:
            own["dy"] = own["dx"]
    kept = ["moment", *cloaking.kept]
    numbers = [*dict.fromkeys(["x", "y", *_numbers(cloaking.spec)]), "t"]
    query = queries.cloak_points(
        tables["rows"], kept, numbers, own, cloaking.ticks, cloaking.model.k, tables.engine.dialect
    )
    tables.create_as("points", query)
    tables.drop("rows")


def _check_own(cloaking: Cloaking) -> None:
    """SourceError for invalid tolerances or values of a row's own k."""
    cloak = cloaking.spec.cloak
    ((negative, whole),) = (
        cloaking.tables.rows("cloak_points/own", points=cloaking.points) if cloak.tolerant else [(0, 0)]
    )
    if negative:
        raise SourceError(f"{negative:,} rows have a negative tolerance or none; correct {', '.join(cloak.columns)}")
    if whole:
        raise SourceError(
            f"{whole:,} rows have a value in {cloak.k!r} that is not a whole number of at least 1; correct it"
        )
