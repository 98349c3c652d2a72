"""The options of single algorithms, each under its algorithm's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_serializer

from kanon_sql.spec.choices import CloakMethod, SuppressionOrder
from kanon_sql.spec.types import TRUTH, LocalPath, Model, Text

Tolerance: TypeAlias = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | Text
_TOLERANCE = "a number of at least 0, or the name of a column of such numbers"
_SIZE = "a number above 0"


class Cloak(Model):
    """How places and times are cloaked; `docs/cloaking.md` says what each method does.

    Lengths of time are in seconds for timestamps, in days for dates, else in the column's own unit; lengths in
    space are in the unit of the location's columns.
    """

    method: CloakMethod = Field(default="adaptive", description=f"one of {', '.join(get_args(CloakMethod))}")
    shared: StrictBool = Field(default=True, description=TRUTH)
    depth: StrictInt = Field(default=16, ge=1, le=20, description="a whole number from 1 to 20")
    interval: StrictFloat | None = Field(default=None, gt=0, allow_inf_nan=False, description=_SIZE)
    level: StrictInt | None = Field(default=None, ge=0, le=20, description="a whole number from 0 to 20")
    cell: StrictFloat | None = Field(default=None, gt=0, allow_inf_nan=False, description=_SIZE)
    dx: Tolerance | None = Field(default=None, description=_TOLERANCE)
    dy: Tolerance | None = Field(default=None, description=_TOLERANCE)
    dt: Tolerance | None = Field(default=None, description=_TOLERANCE)
    k: Text | None = Field(default=None, description="the name of a column of whole numbers")
    search: Literal["local-k", "nbr-k"] = Field(default="local-k", description="local-k or nbr-k")
    unplaced: Literal["error", "suppress"] = Field(default="error", description="error or suppress")

    @property
    def tolerant(self) -> bool:
        """Whether the method keeps every row inside tolerances."""
        return self.method in ("both", "clique")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold tolerances or the rows' own k; they are not released."""
        return tuple(dict.fromkeys(name for name in (self.dx, self.dy, self.dt, self.k) if isinstance(name, str)))


CLOAK_KEYS: dict[str, tuple[CloakMethod, ...]] = {
    "depth": ("adaptive", "both"),
    "interval": ("adaptive",),
    "level": ("temporal",),
    "cell": ("temporal",),
    **dict.fromkeys(("dx", "dy", "dt"), ("both", "clique")),
    "k": ("clique",),
    "search": ("clique",),
}


class _Options(Model):
    """Options that are written down only where they are given."""

    @model_serializer(mode="wrap")
    def _given(self, dump: Any) -> dict[str, Any]:
        return {name: value for name, value in dump(self).items() if name in self.model_fields_set}


class PrioPrivacy(_Options):
    """What `prioprivacy` alone is told; `docs/priorities.md` says what each option does."""

    rules: LocalPath | None = Field(default=None, description="the path of a folder with <level>_<column>.txt")
    suppression_order: SuppressionOrder = Field(default="plain", description=" or ".join(get_args(SuppressionOrder)))
    wildcard_suppression: StrictBool = Field(default=False, description=TRUTH)


class Budget(_Options):
    """How many nodes one search may look at."""

    evaluations: StrictInt | None = Field(default=None, ge=1, description="a whole number of at least 1")


FLAT = dict.fromkeys(PrioPrivacy.model_fields, "prioprivacy")  # options that may stand outside their algorithm too
BUDGETS = ("kgen", "memetic", "local_search", "random")


def nested(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Put each option that stands alone under its algorithm; ValueError if it is there already.

    >>> nested({"rules": "my_rules", "prioprivacy": {"wildcard_suppression": True}})
    {'prioprivacy': {'wildcard_suppression': True, 'rules': 'my_rules'}}
    """
    spec = {key: value for key, value in mapping.items() if key not in FLAT}
    for key, algorithm in FLAT.items():
        under = _options_of(spec.get(algorithm))
        if mapping.get(key) is not None and under is not None:
            if key in under:
                raise ValueError(f"{key} is given twice, alone and as {algorithm}.{key}; keep one of the two")
            spec[algorithm] = {**under, key: mapping[key]}
    return spec


def _options_of(block: Any) -> dict[str, Any] | None:
    """What is given under an algorithm's name; None if that is no mapping, which its own field refuses."""
    given = block.model_dump() if isinstance(block, Model) else {} if block is None else block
    return dict(given) if isinstance(given, Mapping) else None
