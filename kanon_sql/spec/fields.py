"""The spec of a run: its source, the privacy models and the target.

The text of a field also appears in help texts, the schema and the reference. Conflicts between fields are in `checks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    PrivateAttr,
    StrictBool,
    StrictFloat,
    StrictInt,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kanon_sql.errors import SpecError
from kanon_sql.loss import METRICS
from kanon_sql.loss import Metric as OwnMetric
from kanon_sql.own import Own, is_reference
from kanon_sql.privacy import PrivacyModel, ReleaseModel
from kanon_sql.spec.algorithms import Budget, PrioPrivacy, nested
from kanon_sql.spec.choices import (
    ChangedHierarchies,
    ChangedTypes,
    Distribution,
    Form,
    Formulas,
    LocalStrategy,
    Metric,
    NewColumns,
    NodeElse,
    NormName,
    Recipient,
    SearchStrategy,
    Sensitivity,
    Show,
    SuppressionOrder,
    Unmapped,
)
from kanon_sql.spec.file_options import (
    TYPES,
    ColumnReading,
    Reading,
    column_type,
    format_of_dates,
    valid_delimiter,
    valid_encoding,
)
from kanon_sql.spec.keys import DATA, DECISION, FILES, KEEPING, LOCAL, MACHINE, PRIVACY, SEARCH, TARGET, spec_key
from kanon_sql.spec.privacy import Anonymity, Privacy
from kanon_sql.spec.recipes import RECIPES, FunctionRecipe, Recipe, spelled_out
from kanon_sql.spec.session import Limits, Session
from kanon_sql.spec.suppression_limit import FRACTION_OR_ROWS, SuppressionLimit
from kanon_sql.spec.types import (
    FROZEN,
    Columns,
    LocalPath,
    Manifest,
    Model,
    Number,
    Source,
    Text,
    Weight,
    alone,
    by_column,
    distinct,
    empty,
    no_folder,
)

EVERY = ("*",)  # the value of `keep` for all columns
DECLARED = (
    "recipient", "purpose", "retention", "review_date", "norms", "sensitivity", "accepted_risk", "reasons", "reason_k",
)  # fmt: skip
"""The keys about the decision to release; they do not change the release."""
MOST_SKIPPED = 1000  # lines above the names of the columns
READING = ("encoding", "decimal", "date_format", "null", "sheet", "skip_lines", "delimiter", "columns")


class AttributeSpec(Model):
    """How one quasi-identifier may be generalized: its hierarchy and the allowed levels."""

    hierarchy: Annotated[Recipe | None, BeforeValidator(spelled_out)] = spec_key(
        "The labels of the values, level by level. By default `<column>.csv` in the folder `hierarchies`.",
        takes=f"a file, the word suppress, or a mapping with one of {', '.join(RECIPES)}",
    )
    min_level: StrictInt = spec_key(
        "The lowest level that may be released; from 1 on, the value itself is never shown.", 0, ge=0
    )
    max_level: StrictInt | None = spec_key(
        "The highest level that may be released. By default the top of the hierarchy.", ge=0
    )
    priority: StrictInt | None = spec_key(
        "How important it is that the column stays exact.", takes="a whole number, 1 for the most important", ge=1
    )
    weight: Weight | None = spec_key("How much the column counts in the metric. By default 1, or by the priorities.")
    show: Show | None = spec_key("What a local recoding shows for a class in this column.")
    domain: Annotated[StrictInt, Field(ge=1)] | Literal["occurring", "hierarchy"] | None = spec_key(
        "The number of values that prioprivacy assumes for the column.",
        takes="a number of values of at least 1, occurring, or hierarchy",
    )

    @model_validator(mode="after")
    def _levels_in_order(self) -> AttributeSpec:
        if self.max_level is not None and self.min_level > self.max_level:
            raise ValueError(
                f"min_level {self.min_level} is above max_level {self.max_level}; lower the one or raise the other"
            )
        return self


class Noise(Model):
    """Random numbers added to a column, in its own units; days for dates."""

    scale: StrictFloat = spec_key(
        "The standard deviation (normal), the mean distance (laplace), or the longest distance (uniform), in the "
        "column's own unit; days for dates.",
        ...,
        gt=0,
        allow_inf_nan=False,
    )
    distribution: Distribution = spec_key("The distribution of the numbers.", "normal")
    bottom: Number | None = spec_key("The lower bound: noisy numbers below it are replaced by it.")
    top: Number | None = spec_key("The upper bound: noisy numbers above it are replaced by it.")

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Noise:
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise ValueError(f"bottom {self.bottom} is not below top {self.top}; lower the one or raise the other")
        return self


class Swap(Model):
    """Values exchanged between rows of near rank; `within` is a fraction of the column's values (Moore 1996)."""

    within: Weight = spec_key(
        "Maximum distance between the ranks of exchanged values.",
        ...,
        takes="a fraction of the ranks above 0, at most 1",
    )


class Pram(Model):
    """Categories changed at random (PRAM): by a transition matrix, or redrawn unless kept with a probability."""

    matrix: LocalPath | None = spec_key(
        "The transition matrix: on every line a value, then the probability of every value; the first line names them.",
        takes="the path of a CSV file with a transition matrix",
    )
    keep: Annotated[StrictFloat, Field(ge=0, lt=1)] | None = spec_key(
        "The probability that a value stays; otherwise it is redrawn.",
        takes="a probability from 0 to below 1, e.g. 0.8",
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

    noise: Noise | None = spec_key("Add random numbers.", takes="a mapping such as {scale: 100}")
    swap: Swap | None = spec_key("Exchange values between rows of near rank.", takes="a mapping such as {within: 0.05}")
    pram: Pram | None = spec_key("Change categories at random.", takes="a mapping such as {keep: 0.8}")

    @model_validator(mode="after")
    def _one_operator(self) -> Perturbation:
        if sum(operator is not None for operator in (self.noise, self.swap, self.pram)) != 1:
            raise ValueError(f"give {OPERATOR}")
        return self


class Target(Model):
    """Where the release is written: a file, or a table or view of the database."""

    file: Annotated[LocalPath, BeforeValidator(no_folder)] | None = spec_key(
        "The file to write, in the format that its ending names: .parquet, .csv or .tsv.",
        takes="the path of a file to write",
        keyword="output",
    )
    table: Text | None = spec_key("The table or view to write.", takes="the name of a table to write", keyword="into")
    form: Form = spec_key(
        "What to write: a table; a view, which recomputes the release whenever it is read; a materialized view, which "
        "`kanon "
        "refresh` refills (PostgreSQL); or an anatomy, with the sensitive columns in a separate table.",
        "table",
        keyword="form",
        validation_alias="as",
        serialization_alias="as",
    )
    overwrite: StrictBool = spec_key("Replace an existing release or file.", False)
    formulas: Formulas = spec_key(
        "What to do with texts in a .csv or .tsv file that a spreadsheet would read as formulas: put ' before them, or "
        "keep them.",
        "escape",
    )
    replace_foreign_table: Text | None = spec_key(
        "Repeat the name of the target table here to replace a table that is not a release. Its rows are lost.",
        takes="the name of the target table again",
    )

    @property
    def name(self) -> str:
        """The file or the table, as the user wrote it."""
        return str(self.file or self.table)

    @property
    def stays_a_query(self) -> bool:
        """Whether the release queries its source again: a view when read, a materialized view when refreshed."""
        return self.form in ("view", "materialized")


def _people(value: object) -> object:
    counted = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if value is not None and value != "unlimited" and not counted:
        raise PydanticCustomError("people", "no number of people")
    return value


def _every_as_list(value: object) -> object:
    return EVERY if value == "*" else value


def _own_metric(value: object, built_in: ValidatorFunctionWrapHandler) -> object:
    """A user's metric, or a reference to one in a module; otherwise the name of a built-in metric."""
    if isinstance(value, Own) or is_reference(value):
        return value
    if not isinstance(value, OwnMetric):
        return built_in(value)
    if METRICS.get(value.name) is value:
        return value.name
    if value.name in METRICS:
        raise SpecError(f"{value.name} is a metric already; choose another name for yours")
    return Own(value.name, value)


def named_strategy(value: Any) -> Any:
    """The name of a strategy; a user's own, a generator function or a `Strategy`, becomes an `Own`.

    >>> named_strategy("ola"), named_strategy(lambda space: iter(()))
    ('ola', '<lambda>')
    """
    if isinstance(value, str) or not callable(value):
        return value
    name = str(getattr(value, "name", None) or getattr(value, "__name__", type(value).__name__))
    if name in (*get_args(SearchStrategy), *get_args(LocalStrategy)):
        raise SpecError(f"{name} is a strategy already; choose another name for yours")
    return Own(name, value)


def _own_strategy(value: object, built_in: ValidatorFunctionWrapHandler) -> object:
    name = named_strategy(value)
    return name if isinstance(name, Own) else built_in(name)


NamedMetric: TypeAlias = Annotated[Metric, WrapValidator(_own_metric)]
NamedStrategy: TypeAlias = Annotated[Text, WrapValidator(_own_strategy)]


Attributes: TypeAlias = Annotated[
    Annotated[Mapping[Text, AttributeSpec], Field(min_length=1)],
    BeforeValidator(by_column),
    BeforeValidator(distinct),
    *FROZEN,
]
Perturbations: TypeAlias = Annotated[Mapping[Text, Perturbation], *FROZEN]
Levels: TypeAlias = Annotated[Mapping[Text, Annotated[StrictInt, Field(ge=0)]], *FROZEN]
LeastValues: TypeAlias = Annotated[Mapping[Text, Annotated[StrictInt, Field(ge=2)]], *FROZEN]

_NAMES = "a list of column names, as text"
_FORMAT = "a format such as '%d.%m.%Y' or '%d.%m.%Y %H:%M'"
_NULL = "a list of texts that stand for a missing value, such as [N/A]"
_DECIMAL = partial(spec_key, "The decimal mark of the numbers. Detected by default.", takes="',' or '.'")
_DATE_FORMAT = partial(spec_key, "The format of dates and times. Detected by default.", takes=_FORMAT)
_MISSING = partial(spec_key, "Texts that stand for a missing value.", (), takes=_NULL)


RECIPIENTS: Mapping[str, str] = {
    "public": "the public",
    "contract": "partner under contract",
    "secure": "secure environment",
}
"""The recipients of a release, by the words of a spec."""


def recipient_of(value: object) -> object:
    """The word for a recipient, if the value is its long form.

    >>> recipient_of("secure environment"), recipient_of("public")
    ('secure', 'public')
    """
    return {long: short for short, long in RECIPIENTS.items()}.get(value, value) if isinstance(value, str) else value


def date_as_text(value: object) -> object:
    """A date as ISO text; ValueError for a text that is not a date."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str):
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            raise PydanticCustomError("date", "no date") from None
    return value


def _one_as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


DateFormat: TypeAlias = Annotated[Text, AfterValidator(format_of_dates)]
Nulls: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(_one_as_list)]


class ColumnForm(Model):
    """How one column of a file is read."""

    type: Annotated[Text, BeforeValidator(column_type)] | None = spec_key(
        "The type of the column; `age at Eintritt` for the age at the date in that column, from dates of birth.",
        takes=f"one of {', '.join(TYPES)}, decimal(12,2), or age at COLUMN",
    )
    decimal: Literal[",", "."] | None = _DECIMAL()
    date_format: DateFormat | None = _DATE_FORMAT()
    null: Nulls = _MISSING()


class Places(Model):
    """Where the tables of a run are, how files are read, and the limits of memory and threads."""

    encoding: Annotated[Text, AfterValidator(valid_encoding)] | None = spec_key(
        "The encoding of a CSV source. Detected by default.",
        takes="an encoding such as utf-8, cp1252 or utf-16",
        group=FILES,
    )
    decimal: Literal[",", "."] | None = _DECIMAL()
    date_format: DateFormat | None = _DATE_FORMAT()
    null: Nulls = _MISSING()
    sheet: Text | None = spec_key(
        "The sheet of an Excel source. By default the first one that is not hidden.",
        takes="the name of a sheet of an Excel file",
    )
    skip_lines: Annotated[StrictInt, Field(ge=1, le=MOST_SKIPPED)] | None = spec_key(
        "Lines above the names of the columns, such as a title, in a CSV or Excel source.",
    )
    delimiter: Annotated[Text, AfterValidator(valid_delimiter)] | None = spec_key(
        "The character between the fields of a CSV source. Detected by default.",
        takes="one character such as ';', or tab",
    )
    columns: Annotated[Mapping[Text, Annotated[ColumnForm, alone("type")]], *FROZEN] = spec_key(
        "How individual columns of a file are read.",
        takes="a mapping such as {zip: text, pay: {decimal: ','}}",
        default_factory=empty,
    )

    database: LocalPath | None = spec_key(
        "The database of the source and of the release.",
        takes="a DuckDB file or postgresql://…",
        group=DATA,
        repr=False,
    )
    attach: Annotated[Mapping[Text, LocalPath], *FROZEN] = spec_key(
        "DuckDB files to attach to the database; their tables are NAME.main.TABLE. They are opened read-only unless "
        "`into` names one.",
        takes="names and DuckDB files, such as {lake: lake.duckdb}",
        default_factory=empty,
        repr=False,
    )
    memory_limit: Annotated[str, Field(pattern=r"(?i)^\s*\d+(\.\d+)?\s*[kmgt]i?b\s*$")] | None = spec_key(
        "Memory for each embedded DuckDB; what exceeds it is spilled to disk.",
        takes="a number and a unit such as 2GB",
        group=MACHINE,
    )
    threads: StrictInt | None = spec_key("Threads for each embedded DuckDB.", ge=1)
    temp_directory: LocalPath | None = spec_key(
        "The folder for spilled data, in a private subfolder. By default next to the database, else TMPDIR.",
        takes="the path of a folder",
    )
    time_zone: Text | None = spec_key(
        "The time zone in which labels of timestamps with a time zone are shown. By default that of the server, or UTC "
        "in DuckDB.",
        takes="the name of a time zone such as Europe/Zurich",
        group=DATA,
    )

    @property
    def session(self) -> Session:
        """The database and files that the run opens, and its limits."""
        limits = Limits(self.memory_limit, self.threads, self.temp_directory, self.time_zone)
        return Session(self.database, self.attach, limits, reading=self.reading)

    @property
    def reading(self) -> Reading:
        """How the files of the source are read."""
        every = ColumnReading(None, self.decimal, self.date_format, self.null)
        columns = {name: ColumnReading(**form.model_dump()) for name, form in self.columns.items()}
        return Reading(self.encoding, self.sheet, every, columns, self.skip_lines or 0, self.delimiter)


class Decision(Places):
    """Who receives the release of one table or several, and what for: decisions that do not change the release."""

    recipient: Annotated[Recipient | None, BeforeValidator(recipient_of)] = spec_key(
        "Who receives the release: the public, a partner under contract, or a secure environment. It sets the "
        "thresholds of the report's verdict.",
        takes=f"one of {', '.join(RECIPIENTS)}, or one of {', '.join(RECIPIENTS.values())}",
        group=DECISION,
    )
    purpose: Text | None = spec_key("What the release is for, for its report.", takes="a sentence")
    retention: Text | None = spec_key(
        "How long the recipient may keep the release, for its report.", takes="a text such as until 31 December 2030"
    )
    review_date: Annotated[Text | None, BeforeValidator(date_as_text)] = spec_key(
        "When the decision to release is reviewed, for the report.", takes="a date such as 2027-01-31"
    )


def _budget(strategy: str) -> Any:
    """The key with the options of a strategy whose number of evaluations is limited."""
    text = f"Options of the strategy {strategy}."
    takes = "a mapping such as {evaluations: 5000}"
    return spec_key(text, Budget(), takes=takes, group=SEARCH)


class ReleaseSpec(Decision):
    """The options of every release: its source, the roles of its columns, k, and its target."""

    source: Source = spec_key(
        "The source: a CSV, Parquet or Excel file, a glob of files, or a table or view of the "
        "database. Or a mapping of `file` and how the file is read.",
        ...,
        takes="the name of a table or the path of a file",
        group=DATA,
    )
    identifiers: Columns = spec_key("Columns that identify a person directly; they are dropped.", (), takes=_NAMES)
    unit: Text | None = spec_key(
        "The column that identifies people or devices, which are then counted instead of rows. It is dropped.",
        takes="the name of the column that identifies people or devices",
    )
    sensitive: Columns = spec_key(
        "Columns with values that must not be linked to a person; they are released unchanged.", (), takes=_NAMES
    )
    keep: Annotated[Columns | None, BeforeValidator(_every_as_list)] = spec_key(
        "Other columns to release unchanged. Columns without a role are dropped; '*' keeps every column, "
        "with warnings about their contents.",
        takes="a list of column names, as text, or '*' for every column",
    )
    privacy: Anonymity = spec_key(
        "The minimum size of a class.",
        takes="a mapping such as {k: 5}",
        group=PRIVACY,
        default_factory=Anonymity,
    )
    suppression_limit: SuppressionLimit = spec_key(
        "Maximum fraction or number of rows to suppress. It counts rows even with `unit`.",
        0.02,
        takes=FRACTION_OR_ROWS,
    )
    shuffle: StrictBool = spec_key("Order the rows by a seeded hash instead of sorting them.", False)
    seed: StrictInt = spec_key("The seed of all random choices.", 0, group=SEARCH)
    target: Target | None = spec_key(
        "Where the release is written.", takes="a mapping such as {table: patients_anon, as: view}", group=TARGET
    )
    differencing_limit: Annotated[int | Literal["unlimited"] | None, PlainValidator(_people)] = spec_key(
        "Maximum number of people who can be singled out by comparing the release with the one it replaces; above it, "
        "the old release stays. In a pipeline 0 by default.",
        takes="a number of people, 0 or more, or the word unlimited",
    )
    norms: Annotated[tuple[NormName, ...], BeforeValidator(distinct)] = spec_key(
        "The norms whose thresholds apply. By default those for the recipient.",
        (),
        takes=f"a list of {', '.join(get_args(NormName))}",
        group=DECISION,
    )
    sensitivity: Sensitivity | None = spec_key(
        "How much disclosure would invade privacy, for norms with a threshold for each degree (ipc). By default high."
    )
    accepted_risk: StrictFloat | None = spec_key(
        "Your own threshold: the maximum risk that a person is re-identified. Without `norms`, it replaces theirs.",
        gt=0,
        le=1,
    )
    reasons: Annotated[Mapping[Text, Text], *FROZEN] = spec_key(
        "Why columns have their roles, for the report.",
        takes="a mapping such as {age: Colleagues know it.}",
        default_factory=empty,
    )
    reason_k: Text | None = spec_key("Why this k was chosen, for the report.", takes="a sentence")

    @property
    def kept_by_name(self) -> tuple[str, ...]:
        """The columns that `keep` names one by one."""
        return () if self.keep is None or self.keep == EVERY else self.keep

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that are counted but not released, such as the unit."""
        return (self.unit,) if self.unit else ()

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that are not released: the identifiers, and the columns that are only counted."""
        return tuple(dict.fromkeys((*self.identifiers, *self.hidden)))

    @property
    def coarsened(self) -> dict[str, tuple[str, ...]]:
        """The columns that the release shows less precisely, by the key that names them."""
        raise NotImplementedError

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """The columns that the spec names, by key; a unit that is also an identifier appears as an identifier only."""
        return {
            "unit": (self.unit,) if self.unit and self.unit not in self.identifiers else (),
            "identifiers": self.identifiers,
            **self.coarsened,
            "sensitive": self.sensitive,
            "keep": self.kept_by_name,
        }

    @property
    def named(self) -> set[str]:
        """The columns with a role other than `keep`."""
        return {column for key, columns in self.roles.items() if key != "keep" for column in columns}

    @property
    def tables_written(self) -> tuple[str, ...]:
        """The tables that the release writes to the database."""
        return (self.target.table,) if self.target and self.target.table else ()

    @property
    def declared(self) -> dict[str, Any]:
        """The recipient, the reasons and the rest of what people decided about the release, as far as it is set."""
        values = {name: getattr(self, name) for name in DECLARED}
        plain = {**values, "norms": list(values["norms"]), "reasons": dict(values["reasons"])}
        return {name: value for name, value in plain.items() if value not in (None, [], {})}

    def with_sensitive(self, *columns: str) -> Self:
        """The same spec with more sensitive columns."""
        return self.model_copy(update={"sensitive": tuple(dict.fromkeys((*self.sensitive, *columns)))})

    @model_validator(mode="before")
    @classmethod
    def _nested_keys(cls, value: Any) -> Any:
        return with_unit(_with_reading(dict(value))) if isinstance(value, Mapping) else value


class Spec(ReleaseSpec):
    """The options of a run that generalizes quasi-identifiers."""

    quasi_identifiers: Attributes = spec_key(
        "Columns that can identify a person in combination; they are generalized.",
        ...,
        takes="one or more column names, each alone or with {hierarchy: …}",
        group=DATA,
    )
    hierarchies: LocalPath | None = spec_key(
        "A folder with a <column>.csv for every quasi-identifier without a hierarchy in the spec. In Python also a "
        "mapping of columns to hierarchies.",
        takes="the path of a folder with <column>.csv",
    )
    privacy: Privacy = spec_key(
        "The privacy models that the release must satisfy, all of them together.",
        takes="a mapping such as {k: 5}",
        group=PRIVACY,
        default_factory=Privacy,
    )
    metric: NamedMetric = spec_key("The measure of information loss to minimize.", "loss", group=SEARCH)
    strategy: NamedStrategy = spec_key(
        f"How to find a recoding. A search of the lattice: {', '.join(get_args(SearchStrategy))}. A local "
        f"recoding: {', '.join(get_args(LocalStrategy))}.",
        "auto",
        takes="the name of a search strategy",
    )
    time_limit: StrictFloat | None = spec_key(
        "Seconds for the search, which then ends with the best node so far. No limit by default.",
        takes="a number of seconds of at least 0",
        ge=0,
        allow_inf_nan=False,
    )
    patience: StrictFloat | None = spec_key(
        "Seconds without a better release after which a search, refine or kaca ends with the best so far. No limit by "
        "default.",
        takes="a number of seconds above 0",
        gt=0,
        allow_inf_nan=False,
    )
    evaluations: StrictInt | None = spec_key(
        "Maximum number of nodes that memetic, local_search, kgen and random evaluate. By default 5000.", ge=1
    )
    show: Show | None = spec_key(
        "What a local recoding shows for a class: a label, a range, two bounds (rounded outward, or exact), or one "
        "value.",
        group=LOCAL,
    )
    beta: StrictFloat = spec_key(
        "How much more the metric distortion weighs steps near the root of a hierarchy.",
        0.0,
        ge=0,
        allow_inf_nan=False,
    )
    prioprivacy: PrioPrivacy = spec_key(
        "Options of the strategy prioprivacy.", PrioPrivacy(), takes="a mapping such as {rules: my_rules}"
    )
    kgen: Budget = _budget("kgen")
    memetic: Budget = _budget("memetic")
    local_search: Budget = _budget("local_search")
    random: Budget = _budget("random")
    node: Levels | None = spec_key(
        "The node to release at, without a search. In the spec of a pipeline also keep, search or keep_else_search, "
        "which set whether the previous node is reused.",
        takes="a mapping of every quasi-identifier to a level of at least 0",
        group=KEEPING,
    )
    node_from: Manifest | None = spec_key(
        "The manifest (JSON) of an earlier release whose node or regions are reused.",
        takes="the manifest of an earlier release",
        repr=False,
    )
    node_else: NodeElse = spec_key(
        "What to do if an earlier node no longer satisfies the privacy models: stop, or search again.", "error"
    )
    regions: LocalPath | None = spec_key(
        "The file of regions of an earlier local recoding, if its manifest does not name it.",
        takes="the path of a file of regions",
    )
    write_regions: LocalPath | None = spec_key(
        "Where to write the regions of a local recoding, for the next release. They contain values of people: protect "
        "the file like the source.",
        takes="the path of a Parquet file to write",
    )
    unmapped: Unmapped = spec_key(
        "What to do with values that are missing from their hierarchy: stop, or generalize them to *.",
        "error",
        group=DATA,
    )
    new_columns: NewColumns = spec_key(
        "What to do with columns that the earlier release did not have: stop, or drop them.", "error", group=KEEPING
    )
    changed_types: ChangedTypes = spec_key(
        "What to do if the type of a column has changed: stop, or accept it.", "error"
    )
    changed_hierarchies: ChangedHierarchies = spec_key(
        "What to do if a hierarchy has changed, except for new rows at its end: stop, or search again.", "error"
    )
    incremental: StrictBool = spec_key(
        "Hold back rows that no class fits yet, however many, instead of suppressing them.", False
    )
    waiting: Text | None = spec_key(
        "The table for the rows that are held back, in the database of the source. No other user may read it.",
        takes="the name of a table for waiting rows",
    )
    differencing: Literal["defer", "refuse"] = spec_key(
        "What happens to changes that would single people out together with an earlier release: they wait until enough "
        "others change with them, or the whole release is refused.",
        "defer",
    )
    differencing_values: LeastValues = spec_key(
        "Minimum number of values of a sensitive column that remain possible for everyone after all compared releases "
        "are intersected. It needs `l_diversity` of the column, and changes that do not allow it wait.",
        takes="a mapping such as {disease: 3}",
        default_factory=empty,
    )
    deferral_limit: StrictFloat = spec_key(
        "Maximum number of people (rows, without a `unit`) who may wait, as a fraction of those in the release; above "
        "it, the old release stays.",
        0.1,
        takes="a fraction from 0 to 1, e.g. 0.1 for 10 %",
        ge=0,
        le=1,
    )
    deferral_days: StrictInt | None = spec_key(
        "Maximum number of days that anyone may wait; beyond it, the old release stays.", ge=0
    )
    mask: StrictBool = spec_key(
        "Show suppressed rows as * instead of leaving them out, if there are at least k of them.", False, group=PRIVACY
    )
    perturb: Perturbations = spec_key(
        "Other columns to change at random: add noise, swap ranks or apply PRAM.",
        takes="a mapping such as {salary: {noise: {scale: 100}}}",
        default_factory=empty,
    )
    secret: LocalPath | None = spec_key(
        "A file with a secret that makes perturbed and redrawn values reproducible.",
        takes="the path of a file with a secret",
    )
    _models: tuple[PrivacyModel | ReleaseModel, ...] = PrivateAttr(default=())
    _standalone: bool = PrivateAttr(default=False)
    _defers: bool = PrivateAttr(default=False)

    @property
    def models(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
        """The privacy models passed in Python, in addition to `privacy`."""
        return self._models

    def with_models(self, models: Sequence[PrivacyModel | ReleaseModel]) -> Spec:
        """The same spec with privacy models passed in Python; the columns that they count become sensitive.

        Their k replaces the spec's. If they have none, k applies only if the spec sets it.
        """
        k = max((model.class_size or 0 for model in models), default=0)
        k_of_spec = self.privacy.k if "k" in self.privacy.model_fields_set else 1
        counted = [model for model in models if isinstance(model, PrivacyModel) and model.sensitive is not None]
        spec = self.with_sensitive(*(str(model.sensitive) for model in counted if model.released))
        spec = spec.model_copy(update={"privacy": self.privacy.model_copy(update={"k": k or k_of_spec})})
        spec._models = tuple(models)
        return spec

    @property
    def references(self) -> tuple[str, ...]:
        """The code that the spec names as `module:name` and that is not imported yet."""
        recipes: list[Any] = [attribute.hierarchy for attribute in self.quasi_identifiers.values()]
        recipes += [model.hierarchy for model in self.privacy.t_closeness.values()]
        functions = [recipe.function for recipe in recipes if isinstance(recipe, FunctionRecipe)]
        named = (self.metric, self.strategy, *self.privacy.models, *functions)
        return tuple(name for name in named if is_reference(name) and not isinstance(name, Own))

    @property
    def standalone(self) -> bool:
        """Whether the release is printed as one statement, to be run elsewhere."""
        return self._standalone

    def as_standalone(self) -> Spec:
        """The same spec for a standalone statement."""
        spec = self.model_copy()
        spec._standalone = True
        return spec

    @property
    def coarsened(self) -> dict[str, tuple[str, ...]]:
        """The quasi-identifiers."""
        return {"quasi_identifiers": tuple(self.quasi_identifiers)}

    @property
    def named(self) -> set[str]:
        """The columns with a role other than `keep`, perturbed ones included."""
        return {*super().named, *self.perturb, *self.hidden}

    @property
    def tables_written(self) -> tuple[str, ...]:
        """The target's table, and the table of waiting rows."""
        return (*super().tables_written, *((self.waiting,) if self.waiting else ()))

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that are counted but not released: the unit, and the columns of models with `released=False`."""
        models = [model for model in self.models if isinstance(model, PrivacyModel) and not model.released]
        return tuple(dict.fromkeys((*super().hidden, *filter(None, (model.sensitive for model in models)))))

    def showing_all(self) -> Spec:
        """The same spec, with the hidden columns released."""
        identifiers = tuple(column for column in self.identifiers if column not in self.hidden)
        spec = self.model_copy(update={"unit": None, "identifiers": identifiers})
        spec._models = ()
        return spec

    @property
    def reuses_earlier(self) -> bool:
        """Whether the recoding of an earlier release is reused."""
        return self.node is not None or self.node_from is not None or self.regions is not None

    @property
    def defers(self) -> bool:
        """Whether changes that would single people out wait, so that reused classes must keep their labels."""
        return self.differencing == "defer" and (self._defers or isinstance(self.differencing_limit, int))

    @property
    def sets_show(self) -> bool:
        """Whether it sets what classes show, for any column."""
        return self.show is not None or any(attribute.show for attribute in self.quasi_identifiers.values())

    def as_restored(self) -> Spec:
        """The same spec for a release that is recreated: it is compared with no other, and the same changes wait."""
        spec = self.model_copy(update={"differencing_limit": "unlimited"})
        spec._defers = self.defers
        return spec

    @property
    def max_suppressed(self) -> float | str:
        """The suppression limit; no limit where rows wait for the classes of an earlier node."""
        return 1.0 if self.incremental and self.reuses_earlier else self.suppression_limit

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
        """Whether PrioPrivacy may suppress single cells, which is not k-anonymous."""
        return self.prioprivacy.wildcard_suppression

    def evaluations_of(self, strategy: str) -> int | None:
        """How many nodes a strategy may evaluate: its own limit, otherwise the common one."""
        budget = getattr(self, strategy, None)
        return (budget.evaluations if isinstance(budget, Budget) else None) or self.evaluations

    @model_validator(mode="before")
    @classmethod
    def _under_its_algorithm(cls, value: Any) -> Any:
        return with_hierarchies(nested(value)) if isinstance(value, Mapping) else value


def _with_reading(spec: dict[str, Any]) -> dict[str, Any]:
    """Move the reading options from `source` to the top level; ValueError if an option is in both places.

    >>> _with_reading({"source": {"file": "x.csv", "encoding": "cp1252"}})
    {'source': 'x.csv', 'encoding': 'cp1252'}
    """
    source = spec.get("source")
    if not isinstance(source, Mapping):
        return spec
    if unknown := [key for key in source if key not in ("file", *READING)]:
        raise ValueError(f"source.{unknown[0]} is not a key of a spec; the keys there are file, {', '.join(READING)}")
    if twice := [key for key in READING if key in source and key in spec]:
        raise ValueError(f"{twice[0]} is given twice, inside and outside of source; keep one")
    return {**spec, "source": source.get("file"), **{key: source[key] for key in READING if key in source}}


def with_hierarchies(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Move hierarchies by column into the quasi-identifiers; SpecError if a column is not a quasi-identifier.

    >>> with_hierarchies({"quasi_identifiers": ["sex"], "hierarchies": {"sex": "suppress"}})
    {'quasi_identifiers': {'sex': {'hierarchy': 'suppress'}}}
    """
    hierarchies = spec.get("hierarchies")
    columns = by_column(spec.get("quasi_identifiers", {}))
    if not isinstance(hierarchies, Mapping) or not isinstance(columns, Mapping):
        return dict(spec)
    for name in hierarchies:
        if name not in columns:
            raise SpecError(
                f"`hierarchies` has {name!r}, which is not a quasi-identifier; name it in `quasi_identifiers`"
            )
    attributes = {name: {**_keys_set(columns[name]), "hierarchy": hierarchies[name]} for name in hierarchies}
    others = {key: value for key, value in spec.items() if key != "hierarchies"}
    return {**others, "quasi_identifiers": {**columns, **attributes}}


def _keys_set(attribute: Any) -> Mapping[str, Any]:
    if isinstance(attribute, AttributeSpec):
        return {key: getattr(attribute, key) for key in attribute.model_fields_set}
    return attribute or {}


def with_unit(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Move the unit from `privacy` to the top level; ValueError if that has another unit.

    >>> with_unit({"privacy": {"k": 5, "unit": "person_id"}})
    {'privacy': {'k': 5}, 'unit': 'person_id'}
    """
    spec = dict(mapping)
    block = mapping.get("privacy")
    privacy = block.model_dump(exclude_unset=True) if isinstance(block, Anonymity) else block
    if not isinstance(privacy, Mapping) or not isinstance(privacy.get("unit"), str):
        return spec
    if spec.get("unit") not in (None, privacy["unit"]):
        raise ValueError(f"unit is given twice, {spec['unit']!r} alone and {privacy['unit']!r} in privacy; keep one")
    return {**spec, "privacy": {key: privacy[key] for key in privacy if key != "unit"}, "unit": privacy["unit"]}


BUDGETS = tuple(name for name, field in Spec.model_fields.items() if field.annotation is Budget)
