"""The options of single algorithms, each under its algorithm's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_serializer

from kanon_sql.spec.choices import CloakMethod, SuppressionOrder
from kanon_sql.spec.keys import spec_key
from kanon_sql.spec.types import LocalPath, Model, Text

Tolerance: TypeAlias = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | Text
_TOLERANCE = "a number of at least 0, or the name of a column of such numbers"


class Cloak(Model):
    """How places and times are cloaked; `docs/cloaking.md` says what each method does.

    Lengths of time are in seconds for timestamps, in days for dates, else in the column's own unit; lengths in
    space are in the unit of the location's columns.
    """

    method: CloakMethod = spec_key("How to cloak.", "adaptive")
    shared: StrictBool = spec_key("Whether k units share exactly the same box and interval.", True)
    depth: StrictInt = spec_key("How many times the area is divided into quadrants (adaptive, both).", 16, ge=1, le=20)
    interval: StrictFloat | None = spec_key(
        "The length of a slice of time (adaptive). By default all of the time.", gt=0, allow_inf_nan=False
    )
    level: StrictInt | None = spec_key(
        "The quadrants that are the cells (temporal): 8 if neither this nor `cell` is given.", ge=0, le=20
    )
    cell: StrictFloat | None = spec_key(
        "The side of the squares that are the cells (temporal).", gt=0, allow_inf_nan=False
    )
    dx: Tolerance | None = spec_key(
        f"How far a box may reach from its row along the first column (both, clique). Give {_TOLERANCE}."
    )
    dy: Tolerance | None = spec_key(
        f"The same along the second column. By default the same as `dx`. Give {_TOLERANCE}."
    )
    dt: Tolerance | None = spec_key(
        f"How far an interval may reach from its row in time (both, clique). Give {_TOLERANCE}."
    )
    k: Text | None = spec_key(
        "The column with the k that each row asks for (clique). Give the name of a column of whole numbers."
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

    rules: LocalPath | None = spec_key(
        "The folder of the rule files of prioprivacy, <level>_<column>.txt. "
        "Give the path of a folder with <level>_<column>.txt."
    )
    suppression_order: SuppressionOrder = spec_key("The order in which prioprivacy tries to suppress cells.", "plain")
    wildcard_suppression: StrictBool = spec_key(
        "Let prioprivacy suppress single cells, as published. The release is not k-anonymous to GROUP BY.", False
    )


class Budget(_Options):
    """How many nodes one search may look at."""

    evaluations: StrictInt | None = spec_key("How many nodes this search may look at.", ge=1)


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
