"""The declaration of a run: what is released from where, at which privacy, written to where.

A field's description completes the sentence "give …" of its error, so a field is said once. What does not go together
is in `checks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    PrivateAttr,
    StrictBool,
    StrictFloat,
    StrictInt,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kanon_sql.privacy import PrivacyModel, ReleaseModel
from kanon_sql.spec.algorithms import Budget, Cloak, PrioPrivacy, nested
from kanon_sql.spec.choices import (
    ChangedHierarchies,
    ChangedTypes,
    Distribution,
    Form,
    Formulas,
    Metric,
    NewColumns,
    NodeElse,
    Show,
    SuppressionOrder,
    Unmapped,
)
from kanon_sql.spec.limit import FRACTION_OR_ROWS, SuppressionLimit
from kanon_sql.spec.places import Limits, Session
from kanon_sql.spec.privacy import Privacy
from kanon_sql.spec.reading import TYPES, ColumnReading, Reading, column_type, format_of_dates, known_encoding
from kanon_sql.spec.recipes import RECIPES, Recipe, spelled_out
from kanon_sql.spec.types import (
    LEVEL,
    TRUTH,
    Columns,
    LocalPath,
    Manifest,
    Model,
    Number,
    Source,
    Text,
    Weight,
    by_column,
    distinct,
    no_folder,
)


class Attribute(Model):
    """How one quasi-identifier may be generalized: its hierarchy and the levels allowed."""

    hierarchy: Annotated[Recipe | None, BeforeValidator(spelled_out)] = Field(
        default=None, description=f"a file, the word suppress, or a mapping with one of {', '.join(RECIPES)}"
    )
    min_level: StrictInt = Field(default=0, ge=0, description=LEVEL)
    max_level: StrictInt | None = Field(default=None, ge=0, description=LEVEL)
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


class Noise(Model):
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


class Swap(Model):
    """Values exchanged between rows of near rank; `within` is a fraction of the column's values (Moore 1996)."""

    within: Weight = Field(description="a fraction of the ranks above 0, at most 1")


class Pram(Model):
    """Categories changed at random (PRAM): by a transition matrix, or kept with a probability and else redrawn.

    `matrix`: a CSV file, first column the value, then the probability of each value, all named in the first line.
    """

    matrix: LocalPath | None = Field(default=None, description="the path of a CSV file with a transition matrix")
    keep: Annotated[StrictFloat, Field(ge=0, lt=1)] | None = Field(
        default=None, description="a probability from 0 to below 1, e.g. 0.8"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Pram:
        if (self.matrix is None) == (self.keep is None):
            raise ValueError("give either matrix or keep")
        return self


OPERATORS: dict[str, type[Model]] = {"noise": Noise, "swap": Swap, "pram": Pram}
OPERATOR = f"a mapping with one of {', '.join(OPERATORS)}"


class Perturbation(Model):
    """How the values of one column are perturbed."""

    noise: Noise | None = Field(default=None, description="a mapping such as {scale: 100}")
    swap: Swap | None = Field(default=None, description="a mapping such as {within: 0.05}")
    pram: Pram | None = Field(default=None, description="a mapping such as {keep: 0.8}")

    @model_validator(mode="after")
    def _one_operator(self) -> Perturbation:
        if sum(operator is not None for operator in (self.noise, self.swap, self.pram)) != 1:
            raise ValueError(f"give {OPERATOR}")
        return self


class Target(Model):
    """Where the release is written: a file, or a table or view of the database."""

    file: Annotated[LocalPath, BeforeValidator(no_folder)] | None = Field(
        default=None, description="the path of a file to write"
    )
    table: Text | None = Field(default=None, description="the name of a table to write")
    form: Form = Field(
        default="table",
        validation_alias="as",
        serialization_alias="as",
        description="table, view, materialized or anatomy",
    )
    overwrite: StrictBool = Field(default=False, description=TRUTH)
    formulas: Formulas = Field(default="escape", description=" or ".join(get_args(Formulas)))
    replace_foreign_table: Text | None = Field(default=None, description="the name of the target table once more")

    @property
    def name(self) -> str:
        """The file, or the table, as it was given."""
        return str(self.file or self.table)

    @property
    def stays_a_query(self) -> bool:
        """Whether the release asks its source again: a view whenever it is read, a materialized one when refreshed."""
        return self.form in ("view", "materialized")


def _some_unless_cloaked(value: object, info: ValidationInfo) -> object:
    """A release of places and times generalizes no columns; any other generalizes one at least."""
    if isinstance(value, Mapping) and not value and info.data.get("location", "refused") is None:
        raise PydanticCustomError("too_short", "no quasi-identifier")
    return value


def _people(value: object) -> object:
    counted = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if value is not None and value != "unlimited" and not counted:
        raise PydanticCustomError("people", "no number of people")
    return value


def _every_as_list(value: object) -> object:
    return EVERY if value == "*" else value


def _method_alone(value: object) -> object:
    return {"method": value} if isinstance(value, str) else value


Attributes: TypeAlias = Annotated[
    Mapping[Text, Attribute],
    BeforeValidator(_some_unless_cloaked),
    BeforeValidator(by_column),
    BeforeValidator(distinct),
    AfterValidator(MappingProxyType),
    PlainSerializer(dict, return_type=dict[str, Attribute]),
]
Perturbations: TypeAlias = Annotated[
    Mapping[Text, Perturbation],
    AfterValidator(MappingProxyType),
    PlainSerializer(dict, return_type=dict[str, Perturbation]),
]


Levels: TypeAlias = Annotated[
    Mapping[Text, Annotated[StrictInt, Field(ge=0)]],
    AfterValidator(MappingProxyType),
    PlainSerializer(dict, return_type=dict[str, int]),
]


CLOAK = "cloak"  # the strategy of a spec with a location
EVERY = ("*",)  # what `keep` says for every column, whatever it looks like
_BUDGET = "a mapping such as {evaluations: 5000}"


def _one_as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


_A_FORMAT = "a format such as '%d.%m.%Y' or '%d.%m.%Y %H:%M'"
_MARK = "',' or '.'"
_NULL = "a list of texts that mean that there is no value, such as [N/A]"
DateFormat: TypeAlias = Annotated[Text, AfterValidator(format_of_dates)]
Nulls: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(_one_as_list)]


class ColumnForm(Model):
    """How one column of a file is read."""

    type: Annotated[Text, BeforeValidator(column_type)] | None = Field(
        default=None, description=f"one of {', '.join(TYPES)}, or decimal(12,2)"
    )
    decimal: Literal[",", "."] | None = Field(default=None, description=_MARK)
    date_format: DateFormat | None = Field(default=None, description=_A_FORMAT)
    null: Nulls = Field(default=(), description=_NULL)


def _type_alone(value: object) -> object:
    return {"type": value} if isinstance(value, str) else value


class Places(Model):
    """Where the tables of a run are, how files are read, and how much of the machine it may take."""

    encoding: Annotated[Text, AfterValidator(known_encoding)] | None = Field(
        default=None, description="an encoding such as utf-8, cp1252 or utf-16"
    )
    decimal: Literal[",", "."] | None = Field(default=None, description=_MARK)
    date_format: DateFormat | None = Field(default=None, description=_A_FORMAT)
    null: Nulls = Field(default=(), description=_NULL)
    sheet: Text | None = Field(default=None, description="the name of a sheet of an Excel file")
    columns: Annotated[
        Mapping[Text, Annotated[ColumnForm, BeforeValidator(_type_alone)]],
        AfterValidator(MappingProxyType),
        PlainSerializer(dict),
    ] = Field(
        default_factory=lambda: MappingProxyType({}), description="a mapping such as {zip: text, pay: {decimal: ','}}"
    )

    database: LocalPath | None = Field(default=None, repr=False, description="a DuckDB file or postgresql://…")
    attach: Annotated[Mapping[Text, LocalPath], AfterValidator(MappingProxyType), PlainSerializer(dict)] = Field(
        default_factory=lambda: MappingProxyType({}),
        repr=False,
        description="names and DuckDB files, such as {lake: lake.duckdb}",
    )
    memory_limit: Annotated[str, Field(pattern=r"(?i)^\s*\d+(\.\d+)?\s*[kmgt]i?b\s*$")] | None = Field(
        default=None, description="a number and a unit, such as 2GB"
    )
    threads: StrictInt | None = Field(default=None, ge=1, description="a whole number of at least 1")
    temp_directory: LocalPath | None = Field(default=None, description="the path of a folder")
    time_zone: Text | None = Field(default=None, description="the name of a time zone, such as Europe/Zurich")

    @property
    def session(self) -> Session:
        """What the run opens, and how much of the machine it may take."""
        limits = Limits(self.memory_limit, self.threads, self.temp_directory, self.time_zone)
        return Session(self.database, self.attach, limits, reading=self.reading)

    @property
    def reading(self) -> Reading:
        """How the files of the source are read."""
        every = ColumnReading(None, self.decimal, self.date_format, self.null)
        columns = {name: ColumnReading(**form.model_dump()) for name, form in self.columns.items()}
        return Reading(self.encoding, self.sheet, every, columns)


class Spec(Places):
    """All that one run is told; `suppression_limit` is a fraction or a number of rows, `time_limit` is in seconds."""

    source: Source = Field(description="the name of a table or the path of a file")
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
    privacy: Privacy = Field(default_factory=Privacy, description="a mapping such as {k: 5}")
    suppression_limit: SuppressionLimit = Field(default=0.02, description=FRACTION_OR_ROWS)
    metric: Metric = Field(default="loss", description=f"one of {', '.join(get_args(Metric))}")
    strategy: Text = Field(default="auto", description="the name of a search strategy")
    time_limit: StrictFloat | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="a number of seconds of at least 0"
    )
    evaluations: StrictInt | None = Field(default=None, ge=1, description="a whole number of at least 1")
    seed: StrictInt = Field(default=0, description="a whole number")
    show: Show | None = Field(default=None, description=f"one of {', '.join(get_args(Show))}")
    beta: StrictFloat = Field(default=0.0, ge=0, allow_inf_nan=False, description="a number of at least 0")
    prioprivacy: PrioPrivacy = Field(default=PrioPrivacy(), description="a mapping such as {rules: my_rules}")
    kgen: Budget = Field(default=Budget(), description=_BUDGET)
    memetic: Budget = Field(default=Budget(), description=_BUDGET)
    local_search: Budget = Field(default=Budget(), description=_BUDGET)
    random: Budget = Field(default=Budget(), description=_BUDGET)
    node: Levels | None = Field(
        default=None, description="a mapping of every quasi-identifier to a level of at least 0"
    )
    node_from: Manifest | None = Field(default=None, repr=False, description="the manifest of an earlier release")
    node_else: NodeElse = Field(default="error", description=" or ".join(get_args(NodeElse)))
    regions: LocalPath | None = Field(default=None, description="the path of a file of regions")
    write_regions: LocalPath | None = Field(default=None, description="the path of a Parquet file to write")
    unmapped: Unmapped = Field(default="error", description=" or ".join(get_args(Unmapped)))
    new_columns: NewColumns = Field(default="error", description=" or ".join(get_args(NewColumns)))
    changed_types: ChangedTypes = Field(default="error", description=" or ".join(get_args(ChangedTypes)))
    changed_hierarchies: ChangedHierarchies = Field(
        default="error", description=" or ".join(get_args(ChangedHierarchies))
    )
    incremental: StrictBool = Field(default=False, description=TRUTH)
    waiting: Text | None = Field(default=None, description="the name of a table for the rows that wait")
    mask: StrictBool = Field(default=False, description=TRUTH)
    shuffle: StrictBool = Field(default=False, description=TRUTH)
    perturb: Perturbations = Field(
        default_factory=dict, validate_default=True, description="a mapping such as {salary: {noise: {scale: 100}}}"
    )
    secret: LocalPath | None = Field(default=None, description="the path of a file that holds a secret")
    target: Target | None = Field(default=None, description="a mapping such as {table: patients_anon, as: view}")
    differencing_limit: Annotated[int | Literal["unlimited"] | None, PlainValidator(_people)] = Field(
        default=None, description="a number of people, 0 or more, or the word unlimited"
    )
    _models: tuple[PrivacyModel | ReleaseModel, ...] = PrivateAttr(default=())
    _stands_alone: bool = PrivateAttr(default=False)

    @property
    def models(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
        """The privacy models given in Python, which hold besides those of `privacy`."""
        return self._models

    def with_models(self, models: Sequence[PrivacyModel | ReleaseModel]) -> Spec:
        """The same spec with privacy models given in Python; the columns that they count are sensitive ones.

        Their k takes the place of the spec's; if they have none, only a k that the spec says holds beside them.
        """
        k = max((each.class_size or 0 for each in models), default=0)
        said = self.privacy.k if "k" in self.privacy.model_fields_set else 1
        spec = self.with_sensitive(*(each.sensitive for each in models if each.sensitive is not None))
        spec = spec.model_copy(update={"privacy": self.privacy.model_copy(update={"k": k or said})})
        spec._models = tuple(models)
        return spec

    @property
    def stands_alone(self) -> bool:
        """Whether the release is one statement to be printed, and run by somebody else."""
        return self._stands_alone

    def standing_alone(self) -> Spec:
        """The same spec of a statement that stands alone."""
        spec = self.model_copy()
        spec._stands_alone = True
        return spec

    def with_sensitive(self, *columns: str) -> Spec:
        """The same spec with more sensitive columns."""
        return self.model_copy(update={"sensitive": tuple(dict.fromkeys((*self.sensitive, *columns)))})

    @property
    def kept_by_name(self) -> tuple[str, ...]:
        """The columns that `keep` names one by one."""
        return () if self.keep is None or self.keep == EVERY else self.keep

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that no release has: those that identify, and the one that tells people apart."""
        return tuple(dict.fromkeys((*self.identifiers, *((self.unit,) if self.unit else ()))))

    @property
    def holds_on(self) -> bool:
        """Whether the recoding of an earlier release is to be kept."""
        return self.node is not None or self.node_from is not None or self.regions is not None

    @property
    def may_leave_out(self) -> float | str:
        """The limit of the rows that a release may lack: where they wait for an earlier node's classes, any."""
        return 1.0 if self.incremental and self.holds_on else self.suppression_limit

    @property
    def rules(self) -> str | None:
        """The folder of PrioPrivacy's rule files."""
        return self.prioprivacy.rules

    @property
    def suppression_order(self) -> SuppressionOrder:
        """The order in which PrioPrivacy tries to suppress cells."""
        return self.prioprivacy.suppression_order

    @property
    def wildcard_suppression(self) -> bool:
        """Whether PrioPrivacy may hide single cells, which is not k-anonymous."""
        return self.prioprivacy.wildcard_suppression

    def evaluations_of(self, strategy: str) -> int | None:
        """How many nodes a strategy may look at: its own number, else that of all."""
        budget = getattr(self, strategy, None)
        return (budget.evaluations if isinstance(budget, Budget) else None) or self.evaluations

    @model_validator(mode="before")
    @classmethod
    def _as_it_is_kept(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        spec = _with_reading(nested(value))
        if spec.get("location") and not spec.get("quasi_identifiers"):
            spec["quasi_identifiers"] = {}
        return with_unit(spec)


READING = ("encoding", "decimal", "date_format", "null", "sheet", "columns")


def _with_reading(spec: dict[str, Any]) -> dict[str, Any]:
    """Put how a source is read where a spec keeps it, beside the source; ValueError if it is there already.

    >>> _with_reading({"source": {"file": "x.csv", "encoding": "cp1252"}})
    {'source': 'x.csv', 'encoding': 'cp1252'}
    """
    said = spec.get("source")
    if not isinstance(said, Mapping):
        return spec
    if unknown := [key for key in said if key not in ("file", *READING)]:
        raise ValueError(f"source.{unknown[0]} is not a key of a spec; the keys there are file, {', '.join(READING)}")
    if twice := [key for key in READING if key in said and key in spec]:
        raise ValueError(f"{twice[0]} is given twice, in source and beside it; keep one")
    return {**spec, "source": said.get("file"), **{key: said[key] for key in READING if key in said}}


def with_unit(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Put the unit of `privacy` where a spec keeps it, beside it; ValueError if another one is there already.

    >>> with_unit({"privacy": {"k": 5, "unit": "person_id"}})
    {'privacy': {'k': 5}, 'unit': 'person_id'}
    """
    spec, block = dict(mapping), mapping.get("privacy")
    said = block.model_dump(exclude_unset=True) if isinstance(block, Privacy) else block
    if not isinstance(said, Mapping) or not isinstance(said.get("unit"), str):
        return spec
    if spec.get("unit") not in (None, said["unit"]):
        raise ValueError(f"unit is given twice, {spec['unit']!r} alone and {said['unit']!r} in privacy; keep one")
    return {**spec, "privacy": {key: value for key, value in said.items() if key != "unit"}, "unit": said["unit"]}
