"""The spec of a run that cloaks places and times; `docs/cloaking.md` explains the methods."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt, model_validator

from kanon_sql.spec.choices import CloakMethod
from kanon_sql.spec.fields import ReleaseSpec, Spec, Target
from kanon_sql.spec.keys import DATA, PLACES, TARGET, spec_key
from kanon_sql.spec.privacy import Privacy
from kanon_sql.spec.types import Columns, Model, Text, alone

_OF_METHODS: dict[str, tuple[CloakMethod, ...]] = {
    "depth": ("adaptive", "both"),
    "interval": ("adaptive",),
    "level": ("temporal",),
    "cell": ("temporal",),
    **dict.fromkeys(("dx", "dy", "dt"), ("both", "clique")),
    "k": ("clique",),
    "search": ("clique",),
}
Tolerance: TypeAlias = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | Text
_TOLERANCE = "a number of at least 0, or the name of a column of such numbers"


class Cloak(Model):
    """How places and times are cloaked; `docs/cloaking.md` explains the methods.

    Lengths of time are in seconds for timestamps, in days for dates, else in the column's own unit; lengths in
    space are in the unit of the location's columns.
    """

    method: CloakMethod = spec_key("The cloaking method.", "adaptive")
    shared: StrictBool = spec_key("Whether k units share exactly the same box and interval.", True)
    depth: StrictInt = spec_key("How many times the area is divided into quadrants (adaptive, both).", 16, ge=1, le=20)
    interval: StrictFloat | None = spec_key(
        "The length of a time slice (adaptive). By default the whole period.", gt=0, allow_inf_nan=False
    )
    level: StrictInt | None = spec_key(
        "The level of the quadrants that are used as cells (temporal); 8 if neither this nor `cell` is set.",
        ge=0,
        le=20,
    )
    cell: StrictFloat | None = spec_key(
        "The side length of the squares that are used as cells (temporal).", gt=0, allow_inf_nan=False
    )
    dx: Tolerance | None = spec_key(
        "Maximum extent of a box from its row along the first column (both, clique).", takes=_TOLERANCE
    )
    dy: Tolerance | None = spec_key("The same along the second column. By default the same as `dx`.", takes=_TOLERANCE)
    dt: Tolerance | None = spec_key(
        "Maximum extent of an interval from its row in time (both, clique).", takes=_TOLERANCE
    )
    k: Text | None = spec_key(
        "The column with the k of the rows (clique).", takes="the name of a column of whole numbers"
    )
    search: Literal["local-k", "nbr-k"] = spec_key(
        "Whether a row's clique is searched for its own k, or first for its neighbours' larger one (clique).", "local-k"
    )
    unplaced: Literal["error", "suppress"] = spec_key(
        "What to do with rows without a place, a time or a unit: stop, or leave them out.", "error"
    )

    @property
    def tolerant(self) -> bool:
        """Whether the method keeps every row inside tolerances."""
        return self.method in ("both", "clique")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns with tolerances or the rows' own k; they are not released."""
        return tuple(dict.fromkeys(name for name in (self.dx, self.dy, self.dt, self.k) if isinstance(name, str)))

    @model_validator(mode="after")
    def _of_its_method(self) -> Cloak:
        fields = type(self).model_fields
        for key, methods in _OF_METHODS.items():
            if getattr(self, key) != fields[key].default and self.method not in methods:
                raise ValueError(f"{key} is for {' and '.join(methods)}, not for {self.method}; leave it out")
        if self.tolerant and None in (self.dx, self.dt):
            raise ValueError(f"{self.method} keeps tolerances; set dx (and dy) and dt, numbers or columns")
        if self.tolerant and not self.shared:
            raise ValueError(f"{self.method} always shares boxes; leave out shared")
        if None not in (self.level, self.cell):
            raise ValueError("level and cell both set the size of a cell; keep one of them")
        return self


def _plain_form(target: Target | None) -> Target | None:
    if target and target.form != "table":
        raise ValueError(f"places are released as a table or a file, not as {target.form}; leave out `form`")
    return target


class CloakSpec(ReleaseSpec):
    """The options of a run that cloaks places and times."""

    location: Annotated[Columns, Field(min_length=2, max_length=2)] = spec_key(
        "The two columns of the places to cloak.",
        ...,
        takes="the two columns of a place, such as [lat, lon]",
        group=PLACES,
    )
    time: Text = spec_key("The column of times to cloak.", ..., takes="the name of the column of times")
    cloak: Annotated[Cloak, alone("method")] = spec_key(
        "The method for cloaking places and times.",
        Cloak(),
        takes="a method, or a mapping such as {method: clique, dx: 0.01, dt: 600}",
    )
    unit: Text = spec_key(
        "The column that identifies people or devices.",
        ...,
        takes="the name of the column that identifies people or devices",
        group=DATA,
    )
    target: Annotated[Target | None, AfterValidator(_plain_form)] = spec_key(
        "Where the release is written.", takes="a mapping such as {table: trips_anon}", group=TARGET
    )

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that are not released: identifiers, the unit, and the rows' own tolerances and k."""
        return tuple(dict.fromkeys((*super().dropped, *self.cloak.columns)))

    @property
    def coarsened(self) -> dict[str, tuple[str, ...]]:
        """The columns of places and times."""
        return {"location": self.location, "time": (self.time,)}

    def of_columns(self) -> Spec:
        """The spec of the other columns without quasi-identifiers, for measures and attacks."""
        shared = {name: getattr(self, name) for name in ReleaseSpec.model_fields}
        return Spec.model_construct(**shared | {"quasi_identifiers": {}, "privacy": Privacy(k=self.privacy.k)})

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """The columns that the spec names, including columns of the rows' own tolerances and k."""
        return {**super().roles, "cloak": self.cloak.columns}
