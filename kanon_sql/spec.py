"""The declaration of a run: what is released from where, at which privacy, written to where.

Every model is frozen and refuses unknown keys. A field's description completes the sentence
"give …" of its error, so a field is said once. Use `load`, `parse` or `merge`: they raise SpecError.
"""

from __future__ import annotations

import os
import re
import reprlib
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    PrivateAttr,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    Tag,
    ValidationError,
    ValidationInfo,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kanon_sql.errors import SpecError
from kanon_sql.loss import METRICS
from kanon_sql.privacy import PrivacyModel, all_of

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

if TYPE_CHECKING:
    Metric: TypeAlias = str
else:
    Metric = Literal[tuple(METRICS)]  # a metric that is added there can be asked for
Form: TypeAlias = Literal["table", "view", "materialized", "anatomy"]
Distribution: TypeAlias = Literal["normal", "laplace", "uniform"]
Show: TypeAlias = Literal[
    "ranges", "labels", "common", "bounds", "mean", "median", "mode", "exact-ranges", "exact-bounds"
]
CloakMethod: TypeAlias = Literal["adaptive", "temporal", "both", "clique"]
Location: TypeAlias = tuple[int | str, ...]


def _as_text(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def names_a_server(database: str) -> bool:
    """Whether a database is named by a URL or by libpq's keywords, and not by a path.

    >>> [names_a_server(name) for name in (" POSTGRESQL://db/x", "host=db password=x", "hospital.duckdb")]
    [True, True, False]
    """
    return _SERVER.match(database) is not None


def speakable(place: str) -> str:
    """A place as an error may print it: not if it could be a connection string, with a password in it.

    >>> speakable("data/people.csv"), speakable("me:secret@db/hospital")
    ('data/people.csv', 'the given name')
    """
    return "the given name" if names_a_server(place) or _USER_IN.search(place) else place


_KEYWORDS = (
    "host|hostaddr|port|dbname|user|password|passfile|service|servicefile|options|application_name|connect_timeout|"
    "client_encoding|sslmode|sslcert|sslkey|sslpassword|sslrootcert|gssencmode|krbsrvname|target_session_attrs|"
    "keepalives|channel_binding|require_auth|load_balance_hosts|fallback_application_name|replication"
)
_SERVER = re.compile(rf"\s*(?:postgres(?:ql)?://|(?:{_KEYWORDS})\s*=)", re.IGNORECASE)
_USER_IN = re.compile(r"@|//[^/]*:|passw|postgres", re.IGNORECASE)


def _in_folder(value: str, info: ValidationInfo) -> str:
    """Resolve a relative path against the spec file's folder, when there is one."""
    if not info.context or "://" in value or value == ":memory:" or names_a_server(value):
        return value
    return str(info.context["folder"] / Path(value).expanduser())


def _in_folder_if_there(value: str, info: ValidationInfo) -> str:
    resolved = _in_folder(value, info)
    return resolved if Path(resolved).is_file() else value


def _no_folder(value: object) -> object:
    text = _as_text(value)
    if isinstance(text, str) and text.endswith(("/", os.sep)):
        raise ValueError(f"{text} ends like a folder; leave out the {text[-1]} at its end, or name a file in it")
    return value


def _not_a_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f"{str(value).lower()} is not a number; give a number")
    return value


def _distinct(value: object) -> object:
    if isinstance(value, list | tuple):
        for column in value:
            if value.count(column) > 1:
                raise ValueError(f"{column!r} is listed twice; keep one of the two")
    return value


def _every_as_list(value: object) -> object:
    return EVERY if value == "*" else value


def _by_column(value: object) -> object:
    """Turn a plain list of columns, or columns without anything beside them, into the full mapping."""
    if isinstance(value, Mapping):
        return {column: {} if attribute is None else attribute for column, attribute in value.items()}
    if isinstance(value, list | tuple) and all(isinstance(column, str) for column in value):
        return {column: {} for column in value}
    return value


Text: TypeAlias = Annotated[str, StringConstraints(min_length=1)]
Weight: TypeAlias = Annotated[StrictFloat, Field(gt=0, le=1)]
Columns: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(_distinct)]
Number: TypeAlias = Annotated[Decimal, BeforeValidator(_not_a_boolean)]
LocalPath: TypeAlias = Annotated[Text, BeforeValidator(_as_text), AfterValidator(_in_folder)]
Source: TypeAlias = Annotated[Text, BeforeValidator(_as_text), AfterValidator(_in_folder_if_there)]

_SEPARATOR = "a text such as ',' or ';'"
_TRUTH = "true or false"
_LEVEL = "a whole number of at least 0"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class FileRecipe(_Model):
    """A hierarchy read from a file of `value;level1;…;*`."""

    file: LocalPath = Field(description="the path of a hierarchy file")
    separator: Text | None = Field(default=None, description=_SEPARATOR)
    header: StrictBool = Field(default=False, description=_TRUTH)


class TableRecipe(_Model):
    """A hierarchy held in a table or view of the database: the value, then its levels."""

    table: Text = Field(description="the name of a table or view")


class RangesRecipe(_Model):
    """A hierarchy of number ranges, one width per level, counted from `origin`."""

    ranges: tuple[Annotated[Number, Field(gt=0)], ...] = Field(
        min_length=1, description="a list of range widths above 0"
    )
    top: Number | None = Field(default=None, description="a number")
    bottom: Number | None = Field(default=None, description="a number")
    origin: Number = Field(default=Decimal(0), description="a number")


class RedactRecipe(_Model):
    """A hierarchy that hides `step` more characters per level, from the right or the left."""

    redact: Literal["right", "left"] = Field(description="right or left")
    step: StrictInt = Field(default=1, ge=1, description="a whole number of at least 1")


class DatesRecipe(_Model):
    """A hierarchy of date parts, one per level, the finest first."""

    dates: tuple[Text, ...] = Field(min_length=1, description="a list of date parts such as [month, year]")


class TaxonomyRecipe(_Model):
    """A hierarchy read from a file of child and parent."""

    taxonomy: LocalPath = Field(description="the path of a file of child and parent")
    separator: Text | None = Field(default=None, description=_SEPARATOR)
    header: StrictBool = Field(default=False, description=_TRUTH)


class SuppressRecipe(_Model):
    """A hierarchy of one step, from the value to `*`; written as the word `suppress`."""

    @model_serializer
    def _word(self) -> str:
        return "suppress"


_RECIPES: dict[str, type[_Model]] = {
    "file": FileRecipe,
    "table": TableRecipe,
    "ranges": RangesRecipe,
    "redact": RedactRecipe,
    "dates": DatesRecipe,
    "taxonomy": TaxonomyRecipe,
}


def _spelled_out(value: object) -> object:
    """Turn a bare string into its recipe: the word `suppress`, otherwise a file."""
    if value == "suppress":
        return SuppressRecipe()
    return {"file": value} if isinstance(value, str | os.PathLike) else value


def _kind(value: object) -> str | None:
    """Tell a recipe by the one key that is its own, or by a misspelling of it."""
    if isinstance(value, SuppressRecipe):
        return "suppress"
    if not isinstance(value, Mapping):
        return next((kind for kind, model in _RECIPES.items() if isinstance(value, model)), None)
    named = [kind for kind in _RECIPES if kind in value]
    near = [kind for key in value for kind in get_close_matches(str(key), _RECIPES, n=1)]
    return next(iter(named or near), None) if len(named) < 2 else None


Recipe: TypeAlias = Annotated[
    Annotated[FileRecipe, Tag("file")]
    | Annotated[TableRecipe, Tag("table")]
    | Annotated[RangesRecipe, Tag("ranges")]
    | Annotated[RedactRecipe, Tag("redact")]
    | Annotated[DatesRecipe, Tag("dates")]
    | Annotated[TaxonomyRecipe, Tag("taxonomy")]
    | Annotated[SuppressRecipe, Tag("suppress")],
    Discriminator(_kind),
]


class Attribute(_Model):
    """How one quasi-identifier may be generalized: its hierarchy and the levels allowed."""

    hierarchy: Annotated[Recipe | None, BeforeValidator(_spelled_out)] = Field(
        default=None, description=f"a file, the word suppress, or a mapping with one of {', '.join(_RECIPES)}"
    )
    min_level: StrictInt = Field(default=0, ge=0, description=_LEVEL)
    max_level: StrictInt | None = Field(default=None, ge=0, description=_LEVEL)
    priority: StrictInt | None = Field(default=None, ge=1, description="a whole number, 1 for the most important")
    weight: Weight | None = Field(default=None, description="a number above 0, at most 1")
    show: Show | None = Field(default=None, description=f"one of {', '.join(get_args(Show))}")
    domain: Annotated[StrictInt, Field(ge=1)] | Literal["occurring", "hierarchy"] | None = Field(
        default=None, description="a number of values of at least 1, occurring, or hierarchy"
    )

    @model_validator(mode="after")
    def _levels_in_order(self) -> Attribute:
        if self.max_level is not None and self.min_level > self.max_level:
            raise ValueError(
                f"min_level {self.min_level} is above max_level {self.max_level}; lower the one or raise the other"
            )
        return self


class Noise(_Model):
    """Random numbers added to a column, in its own units; days for dates.

    `scale`: the standard deviation (normal), the mean distance (laplace), or the longest distance (uniform).
    `bottom` and `top`: what a noisy number below or above is brought back to.
    """

    scale: StrictFloat = Field(gt=0, allow_inf_nan=False, description="a number above 0")
    distribution: Distribution = Field(default="normal", description=f"one of {', '.join(get_args(Distribution))}")
    bottom: Number | None = Field(default=None, description="a number")
    top: Number | None = Field(default=None, description="a number")

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Noise:
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise ValueError(f"bottom {self.bottom} is not below top {self.top}; lower the one or raise the other")
        return self


class Swap(_Model):
    """Values exchanged between rows of near rank; `within` is a fraction of the column's values (Moore 1996)."""

    within: Weight = Field(description="a fraction of the ranks above 0, at most 1")


class Pram(_Model):
    """Categories changed at random (PRAM): by a transition matrix, or kept with a chance and else drawn anew.

    `matrix`: a CSV file, first column the value, then the chance of each value, all named in the first line.
    """

    matrix: LocalPath | None = Field(default=None, description="the path of a CSV file with a transition matrix")
    keep: Annotated[StrictFloat, Field(ge=0, lt=1)] | None = Field(
        default=None, description="a chance from 0 to below 1, e.g. 0.8"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Pram:
        if (self.matrix is None) == (self.keep is None):
            raise ValueError("give either matrix or keep")
        return self


_OPERATORS: dict[str, type[_Model]] = {"noise": Noise, "swap": Swap, "pram": Pram}
_OPERATOR = f"a mapping with one of {', '.join(_OPERATORS)}"


class Perturbation(_Model):
    """How the values of one column are perturbed."""

    noise: Noise | None = Field(default=None, description="a mapping such as {scale: 100}")
    swap: Swap | None = Field(default=None, description="a mapping such as {within: 0.05}")
    pram: Pram | None = Field(default=None, description="a mapping such as {keep: 0.8}")

    @model_validator(mode="after")
    def _one_operator(self) -> Perturbation:
        if sum(operator is not None for operator in (self.noise, self.swap, self.pram)) != 1:
            raise ValueError(f"give {_OPERATOR}")
        return self


class Privacy(_Model):
    """The privacy model the release must meet."""

    k: StrictInt = Field(default=5, ge=1, description="a whole number of at least 1")


class Target(_Model):
    """Where the release is written: a file, or a table or view of the database."""

    file: Annotated[LocalPath, BeforeValidator(_no_folder)] | None = Field(
        default=None, description="the path of a file to write"
    )
    table: Text | None = Field(default=None, description="the name of a table to write")
    form: Form = Field(
        default="table",
        validation_alias="as",
        serialization_alias="as",
        description="table, view, materialized or anatomy",
    )
    overwrite: StrictBool = Field(default=False, description=_TRUTH)

    @property
    def stays_a_query(self) -> bool:
        """Whether the release asks its source again: a view whenever it is read, a materialized one when refreshed."""
        return self.form in ("view", "materialized")

    @model_validator(mode="after")
    def _one_place(self) -> Target:
        if self.file is not None and self.table is not None:
            raise ValueError("both a file and a table are named; keep one of them")
        if self.stays_a_query and self.table is None:
            raise ValueError("a view needs a name; give it as table")
        if self.file is None and self.table is None:
            raise ValueError("neither a file nor a table is named; give one of them")
        return self


def _some_unless_cloaked(value: object, info: ValidationInfo) -> object:
    """A release of places and times generalizes no columns; any other generalizes one at least."""
    if isinstance(value, Mapping) and not value and info.data.get("location", "refused") is None:
        raise PydanticCustomError("too_short", "no quasi-identifier")
    return value


Tolerance: TypeAlias = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | Text
_TOLERANCE = "a number of at least 0, or the name of a column of such numbers"
_SIZE = "a number above 0"


class Cloak(_Model):
    """How places and times are cloaked; `docs/cloaking.md` says what each method does.

    Lengths of time are in seconds for timestamps, in days for dates, else in the column's own unit; lengths in
    space are in the unit of the location's columns.
    """

    method: CloakMethod = Field(default="adaptive", description=f"one of {', '.join(get_args(CloakMethod))}")
    shared: StrictBool = Field(default=True, description=_TRUTH)
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

    @model_validator(mode="after")
    def _fits_the_method(self) -> Cloak:
        for key, methods in _CLOAK_KEYS.items():
            if getattr(self, key) != type(self).model_fields[key].default and self.method not in methods:
                raise ValueError(f"{key} is for {' and '.join(methods)}, not for {self.method}; leave it out")
        if self.tolerant and (self.dx is None or self.dt is None):
            raise ValueError(f"{self.method} keeps tolerances; give dx (and dy) and dt, numbers or columns")
        if self.tolerant and not self.shared:
            raise ValueError(f"{self.method} has no other form than the shared one; leave shared out")
        if self.level is not None and self.cell is not None:
            raise ValueError("both level and cell say how large a cell is; keep one of them")
        return self


_CLOAK_KEYS: dict[str, tuple[CloakMethod, ...]] = {
    "depth": ("adaptive", "both"),
    "interval": ("adaptive",),
    "level": ("temporal",),
    "cell": ("temporal",),
    **dict.fromkeys(("dx", "dy", "dt"), ("both", "clique")),
    "k": ("clique",),
    "search": ("clique",),
}


def _method_alone(value: object) -> object:
    return {"method": value} if isinstance(value, str) else value


Attributes: TypeAlias = Annotated[
    Mapping[Text, Attribute],
    BeforeValidator(_some_unless_cloaked),
    BeforeValidator(_by_column),
    BeforeValidator(_distinct),
    AfterValidator(MappingProxyType),
    PlainSerializer(dict, return_type=dict[str, Attribute]),
]
Perturbations: TypeAlias = Annotated[
    Mapping[Text, Perturbation],
    AfterValidator(MappingProxyType),
    PlainSerializer(dict, return_type=dict[str, Perturbation]),
]


CLOAK = "cloak"  # the strategy of a spec with a location
EVERY = ("*",)  # what `keep` says for every column, whatever it looks like


class Spec(_Model):
    """All that one run is told; `suppression_limit` is a fraction of the rows, `time_limit` is in seconds."""

    source: Source = Field(description="the name of a table or the path of a file")
    database: LocalPath | None = Field(default=None, repr=False, description="a DuckDB file or postgresql://…")
    identifiers: Columns = Field(default=(), description="a list of column names, as text")
    location: Annotated[Columns, Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="the two columns of a place, such as [lat, lon]"
    )
    time: Text | None = Field(default=None, description="the name of the column of times")
    unit: Text | None = Field(default=None, description="the name of the column that tells people or devices apart")
    cloak: Annotated[Cloak, BeforeValidator(_method_alone)] = Field(
        default=Cloak(), description="a method, or a mapping such as {method: clique, dx: 0.01, dt: 600}"
    )
    quasi_identifiers: Attributes = Field(description="one or more column names, each alone or with {hierarchy: …}")
    hierarchies: LocalPath | None = Field(default=None, description="the path of a folder with <column>.csv")
    sensitive: Columns = Field(default=(), description="a list of column names, as text")
    keep: Annotated[Columns | None, BeforeValidator(_every_as_list)] = Field(
        default=None, description="a list of column names, as text, or '*' for every column"
    )
    privacy: Privacy = Field(default=Privacy(), description="a mapping such as {k: 5}")
    suppression_limit: StrictFloat = Field(
        default=0.02, ge=0, le=1, description="a fraction of the rows from 0 to 1, e.g. 0.02 for 2 %"
    )
    metric: Metric = Field(default="loss", description=f"one of {', '.join(get_args(Metric))}")
    strategy: Text = Field(default="auto", description="the name of a search strategy")
    time_limit: StrictFloat | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="a number of seconds of at least 0"
    )
    evaluations: StrictInt | None = Field(default=None, ge=1, description="a whole number of at least 1")
    seed: StrictInt = Field(default=0, description="a whole number")
    show: Show | None = Field(default=None, description=f"one of {', '.join(get_args(Show))}")
    beta: StrictFloat = Field(default=0.0, ge=0, allow_inf_nan=False, description="a number of at least 0")
    rules: LocalPath | None = Field(default=None, description="the path of a folder with <level>_<column>.txt")
    suppression_order: Literal["plain", "published"] = Field(default="plain", description="plain or published")
    wildcard_suppression: StrictBool = Field(default=False, description=_TRUTH)
    unmapped: Literal["error", "top"] = Field(default="error", description="error or top")
    mask: StrictBool = Field(default=False, description=_TRUTH)
    shuffle: StrictBool = Field(default=False, description=_TRUTH)
    perturb: Perturbations = Field(
        default_factory=dict, validate_default=True, description="a mapping such as {salary: {noise: {scale: 100}}}"
    )
    secret: LocalPath | None = Field(default=None, description="the path of a file that holds a secret")
    target: Target | None = Field(default=None, description="a mapping such as {table: patients_anon, as: view}")
    _models: tuple[PrivacyModel, ...] = PrivateAttr(default=())

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The privacy models given in Python; none where k is all that is asked."""
        return self._models

    def with_models(self, models: Sequence[PrivacyModel]) -> Spec:
        """The same spec with privacy models in the place of k; the columns that they count are sensitive ones."""
        counted = (each.sensitive for each in models if each.sensitive is not None)
        sensitive = tuple(dict.fromkeys((*self.sensitive, *counted)))
        spec = self.model_copy(update={"sensitive": sensitive, "privacy": Privacy(k=all_of(*models).k)})
        spec._models = tuple(models)
        return spec

    @property
    def kept_by_name(self) -> tuple[str, ...]:
        """The columns that `keep` names one by one."""
        return () if self.keep is None or self.keep == EVERY else self.keep

    @model_validator(mode="before")
    @classmethod
    def _nothing_to_generalize(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and value.get("location") and not value.get("quasi_identifiers"):
            return {**value, "quasi_identifiers": {}}
        return value

    @model_validator(mode="after")
    def _cloaked_or_generalized(self) -> Spec:
        if self.location is None:
            said = "time" if self.time else "unit" if self.unit else "cloak" if self.cloak != Cloak() else None
            if said or self.strategy == CLOAK:
                raise ValueError(f"{said or 'strategy cloak'} is for places; give the location too, two columns")
            return self
        if self.time is None or self.unit is None:
            raise ValueError(f"a location needs {'a time' if self.time is None else 'a unit'} too; name its column")
        if self.quasi_identifiers:
            raise ValueError(
                "a location is cloaked and quasi_identifiers are generalized, one of them in a run; generalize first, "
                "or list the columns among the identifiers to drop them"
            )
        if self.strategy not in ("auto", CLOAK):
            raise ValueError(f"the strategy {self.strategy} searches a lattice, which places have not; leave it out")
        if self.mask:
            raise ValueError("a suppressed place has no star to show; leave mask out")
        if self.target and self.target.stays_a_query:
            raise ValueError("a view cannot cloak again whenever it is read; release a table or a file")
        return self

    @model_validator(mode="after")
    def _one_role_each(self) -> Spec:
        seen: dict[str, tuple[str, str]] = {}
        roles: dict[str, tuple[str, ...]] = {
            "location": self.location or (),
            "time": (self.time,) if self.time else (),
            "unit": (self.unit,) if self.unit and self.unit not in self.identifiers else (),
            "cloak": self.cloak.columns,
            "identifiers": self.identifiers,
            "quasi_identifiers": tuple(self.quasi_identifiers),
            "sensitive": self.sensitive,
            "keep": self.kept_by_name,
        }
        for role, columns in roles.items():
            for column in columns:
                other, where = seen.setdefault(column.lower(), (column, role))
                if other != column:
                    raise ValueError(
                        f"{other!r} in {where} and {column!r} in {role} differ only in case; keep one of the two"
                    )
                if where != role:
                    raise ValueError(f"{column!r} is in both {where} and {role}; keep it in one of them")
        return self

    @model_validator(mode="after")
    def _perturbed_are_neither(self) -> Spec:
        roles = {
            "identifiers": "an identifier, which is dropped",
            "quasi_identifiers": "a quasi-identifier",
            "kept_by_name": "kept as it is by keep",
        }
        for column in self.perturb:
            for role, said in roles.items():
                if column.lower() in {other.lower() for other in getattr(self, role)}:
                    raise ValueError(f"{column!r} in perturb is {said}; only the other columns can be perturbed")
        return self


def load(path: str | os.PathLike[str], **overrides: Any) -> Spec:
    """Read a spec file, its relative paths taken from its own folder, with `overrides` as in `merge`.

    What the file leaves out and a run needs (source, quasi_identifiers) may come from the overrides.
    """
    one_of = ("source", "quasi_identifiers", "location", "time", "unit")
    needed = {name: value for name, value in overrides.items() if name in one_of}
    spec = _validated({**_said(needed), **_said(_read(Path(path)))}, folder=Path(path).parent)
    return merge(spec, **overrides)


def parse(mapping: Mapping[str, Any]) -> Spec:
    """Build a spec from its mapping; relative paths are left as they are."""
    if not isinstance(mapping, Mapping):
        raise SpecError(f"a spec is a mapping with keys such as source and privacy, not {reprlib.repr(mapping)}")
    return _validated(_said(mapping))


def merge(spec: Spec | None, **overrides: Any) -> Spec:
    """Lay what the command line said over a spec; None means not said.

    Beside the spec's own keys, the flat names are `k`, `output` (target.file), `into` (target.table),
    `form` (target.as), `overwrite`, and `priorities` (column: priority). Columns listed again keep their recipe.
    A new place to write to does not inherit the permission to overwrite.
    """
    said = {name: value for name, value in overrides.items() if value is not None}
    mapping: dict[str, Any] = {name: getattr(spec, name) for name in spec.model_fields_set} if spec else {}
    if "k" in said:
        mapping["privacy"] = {**mapping.get("privacy", Privacy()).model_dump(), "k": said.pop("k")}
    if "quasi_identifiers" in said and spec:
        said["quasi_identifiers"] = _with_recipes(said["quasi_identifiers"], spec.quasi_identifiers)
    if "priorities" in said:
        columns = said.get("quasi_identifiers", mapping.get("quasi_identifiers", {}))
        said["quasi_identifiers"] = _with_priorities(_by_column(columns), said.pop("priorities"))
    if isinstance(said.get("cloak"), str) and spec:
        kept = spec.cloak.model_dump(exclude_unset=True)
        said["cloak"] = {**kept, "method": said["cloak"]}
    if said.keys() & {"output", "into", "form", "overwrite"}:
        mapping["target"] = _merged_target(mapping.get("target"), said)
    return parse({**mapping, **said})


def _with_recipes(columns: Any, known: Mapping[str, Attribute]) -> Any:
    if isinstance(columns, Mapping | str) or len(set(columns)) < len(columns):
        return columns
    return {column: known.get(column) for column in columns}


def _with_priorities(columns: Any, priorities: Mapping[str, int]) -> Any:
    """Lay priorities over the quasi-identifiers' own; a column that is not one is an error."""
    for column in priorities:
        if column not in columns:
            raise SpecError(f"the priority of {column!r} names no quasi-identifier; there are {', '.join(columns)}")
    said = {
        name: found.model_dump(exclude_unset=True) if isinstance(found, Attribute) else found or {}
        for name, found in columns.items()
    }
    return {
        name: {**found, **({"priority": priorities[name]} if name in priorities else {})}
        for name, found in said.items()
    }


def _merged_target(target: Target | None, said: dict[str, Any]) -> dict[str, Any]:
    """Take the target's flat names out of `said` and lay them over the target there was."""
    names = {"output": "file", "into": "table", "form": "as", "overwrite": "overwrite"}
    asked = {key: _as_text(said.pop(name)) for name, key in names.items() if name in said}
    kept = target.model_dump(by_alias=True, exclude_unset=True) if target else {}
    if any(asked.get(place, kept.get(place)) != kept.get(place) for place in ("file", "table")):
        kept = {"as": kept["as"]} if "as" in kept and ("table" in asked or kept["as"] == "anatomy") else {}
    return {**kept, **asked}


def _read(path: Path) -> Mapping[str, Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Refuse a key written twice, of which YAML would silently drop the first."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            first = {key.value: key for key in reversed(keys)}
            for key in keys:
                if first[key.value] is not key:
                    problem = f"the key {key.value!r} is there twice"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            return super().construct_mapping(node, deep)

        def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
            """Refuse 010, which is 8 in YAML and 10 to most people."""
            if _LEADING_ZERO.fullmatch(node.value):
                problem = f"{node.value} begins with a zero, and YAML would take it for octal; leave the zero out"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
            return super().construct_yaml_int(node)

    Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_yaml_int)
    try:
        mapping = yaml.load(path.read_bytes(), Loader)
    except FileNotFoundError:
        raise SpecError(f"there is no spec file {path}; check the path") from None
    except OSError as error:
        raise SpecError(f"the spec file {path} cannot be read ({error.strerror}); check the path") from error
    except RecursionError:
        raise SpecError(f"{path} is nested too deeply to be a spec; correct it") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or getattr(error, "reason", "unreadable")
        raise SpecError(f"{where}: this is not YAML a spec can use ({problem}); correct it") from error
    if not isinstance(mapping, Mapping):
        raise SpecError(f"{path} is not a mapping; write keys such as 'source: patients' in it")
    return mapping


_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")


def _said(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the known keys that are there without a value."""
    return {key: value for key, value in mapping.items() if value is not None or key not in Spec.model_fields}


def _validated(mapping: dict[str, Any], folder: Path | None = None) -> Spec:
    try:
        return Spec.model_validate(mapping, context={"folder": folder} if folder else None)
    except ValidationError as error:
        raise SpecError(_explained(error)) from None


_UNKNOWN = ("extra_forbidden", "invalid_key")


def _explained(error: ValidationError) -> str:
    """Say the first error in one sentence, unknown keys before what they leave missing."""
    details = sorted(error.errors(), key=lambda detail: detail["type"] not in _UNKNOWN)
    first, *rest = (_path(_location(detail)) for detail in details)
    others = set(rest) - {first}
    more = f" (and {len(others)} more)" if others else ""
    return _sentence(details[0]) + more


def _location(detail: ErrorDetails) -> Location:
    """Give the error's place, with a key that is not text spelled as it was written."""
    location = detail["loc"]
    return (*location[:-1], str(detail["input"])) if detail["type"] == "invalid_key" else location


def _sentence(detail: ErrorDetails) -> str:
    location = _location(detail)
    path = _path(location)
    model, key = _owner(location)
    if detail["type"] in _UNKNOWN:
        return f"{path} is not a key of a spec; {_suggestion(model, key)}"
    if detail["type"] == "value_error":
        return ": ".join([*filter(None, [path]), str(detail["ctx"]["error"])])
    wanted = _keys(model)[key].description if key else _WHOLE[model]
    if detail["type"] == "missing":
        return f"{path} is missing; give {wanted}"
    given = "" if key == "database" else f", not {reprlib.repr(detail['input'])}"
    return f"{path}: give {wanted}{given}"


_WHOLE: dict[type[_Model], str] = {Attribute: "{hierarchy: …} or nothing", Perturbation: _OPERATOR}


def _path(location: Location) -> str:
    """Write a place in the spec as its keys, without pydantic's recipe tags, key marks and list positions."""
    match location:
        case ("quasi_identifiers" | "perturb" as whole, _, "[key]"):
            location = (whole,)
        case ("quasi_identifiers", column, "hierarchy", _, *rest):
            location = ("quasi_identifiers", column, "hierarchy", *rest)
        case ("cloak", str(key), *_):
            location = ("cloak", key)
    return ".".join(str(part) for part in location if not isinstance(part, int))


def _owner(location: Location) -> tuple[type[_Model], str]:
    """Find the model and the key of it that a place in the spec belongs to."""
    match location:
        case ("quasi_identifiers", _, "hierarchy", str(kind), key, *_):
            return _RECIPES[kind], str(key)
        case ("quasi_identifiers", _):
            return Attribute, ""
        case ("quasi_identifiers", _, key, *_) if key != "[key]":
            return Attribute, str(key)
        case ("perturb", _, str(operator), key, *_) if operator in _OPERATORS:
            return _OPERATORS[operator], str(key)
        case ("perturb", _):
            return Perturbation, ""
        case ("perturb", _, key, *_) if key != "[key]":
            return Perturbation, str(key)
        case ("privacy", key, *_):
            return Privacy, str(key)
        case ("target", key, *_):
            return Target, str(key)
        case ("cloak", key, *_):
            return Cloak, str(key)
    return Spec, str(next(iter(location), ""))


def _keys(model: type[_Model]) -> dict[str, FieldInfo]:
    """List a model's keys as they are written in a spec."""
    return {str(field.validation_alias or name): field for name, field in model.model_fields.items()}


def _suggestion(model: type[_Model], key: str) -> str:
    parts: dict[str, type[_Model]] = {"privacy": Privacy, "target": Target, "cloak": Cloak} if model is Spec else {}
    key = key.lower()
    deeper = [f"{part}.{key}" for part, inner in parts.items() if key in _keys(inner)]
    near = deeper or get_close_matches(key, _keys(model), n=1)
    return f"did you mean {near[0]!r}?" if near else f"the keys there are {', '.join(_keys(model))}"
