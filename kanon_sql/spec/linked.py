"""The spec of a release of several tables whose rows belong to the same people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, model_validator

from kanon_sql.spec.fields import AttributeSpec, Decision, LeastValues
from kanon_sql.spec.keys import DATA, PRIVACY, SEARCH, TARGET, spec_key
from kanon_sql.spec.privacy import SensitiveModel, SensitiveModels
from kanon_sql.spec.suppression_limit import FRACTION_OR_ROWS, SuppressionLimit
from kanon_sql.spec.types import Columns, LocalPath, Model, Source, Text, by_column, empty

OWN = "own"  # the value of `keys` for the column that identifies the rows of its own table
_MOST_TABLES = 20

Keys: TypeAlias = Annotated[Mapping[Text, Text], AfterValidator(MappingProxyType)]
LinkedAttributes: TypeAlias = Annotated[
    Mapping[Text, AttributeSpec], BeforeValidator(by_column), AfterValidator(MappingProxyType)
]


class LinkedTable(Model):
    """One of the tables: its keys, and the roles of its columns."""

    source: Source | None = spec_key("The table or file to read. By default the table of this name.", takes="a name")
    keys: Keys = spec_key(
        "The columns that link tables: `own` for the column that identifies the rows of this table, otherwise the name "
        "of the table that the column refers to.",
        takes="a mapping such as {visit_id: own, patient_id: patients}",
        default_factory=dict,
    )
    quasi_identifiers: LinkedAttributes = spec_key(
        "The columns that others may know, with their hierarchies.",
        takes="a mapping such as {age: {hierarchy: {ranges: [10]}}}",
        default_factory=dict,
    )
    identifiers: Columns = spec_key("The columns to drop because they identify people.", (), takes="a list of columns")
    sensitive: Columns = spec_key(
        "The columns whose values are released unchanged and must not be disclosed, see the models in `privacy`.",
        (),
        takes="a list of columns",
    )
    keep: Columns = spec_key("Other columns to release unchanged.", (), takes="a list of columns")
    shift: Columns = spec_key(
        "Dates to release with a random offset of the person, the same for all of their dates in all tables. Anyone "
        "with one of the dates can compute the others: this alone is not anonymization.",
        (),
        takes="a list of columns with dates",
    )

    @model_validator(mode="after")
    def _dates_have_one_role(self) -> LinkedTable:
        others = ("keys", "quasi_identifiers", "identifiers", "sensitive", "keep")
        for column in self.shift:
            if role := next((name for name in others if column in getattr(self, name)), None):
                raise ValueError(f"{column!r} is in both `shift` and `{role}`; keep it in one of them")
        return self

    @property
    def own_key(self) -> str | None:
        """The column that identifies the rows of this table, if any."""
        return next((column for column, refers_to in self.keys.items() if refers_to == OWN), None)

    @property
    def references(self) -> dict[str, str]:
        """The columns that refer to other tables, with these tables."""
        return {column: refers_to for column, refers_to in self.keys.items() if refers_to != OWN}


class LinkedPrivacy(SensitiveModels):
    """What the releases must satisfy together; sensitive columns are named with their table: `diagnoses.severity`."""

    k: StrictInt = spec_key(
        "Minimum number of people that share an attacker's background knowledge of one of them.", ..., ge=1
    )
    m: Literal[0, 1, 2, 3, "all"] = spec_key(
        "The number of a person's rows in the other tables that an attacker may know, in addition to the row in "
        "the main table; `all`: every row.",
        2,
        takes="0, 1, 2, 3 or all",
    )


class Into(Model):
    """Where the tables are written: a schema of the database, or a folder of Parquet files."""

    schema_name: Text | None = spec_key(
        "The schema for the released tables, which have the names of their sources.",
        takes="the name of a schema",
        validation_alias="schema",
        serialization_alias="schema",
    )
    folder: LocalPath | None = spec_key("A new folder for one Parquet file per table.", takes="the path of a folder")
    form: Literal["table", "view"] = spec_key(
        "`table`, or `view`: live views that count the people of every combination whenever they are read. Views are "
        "for a schema, and for m = 0, 1, 2 or 3.",
        "table",
        validation_alias="as",
        serialization_alias="as",
    )
    overwrite: StrictBool = spec_key("Replace the tables of an earlier release.", False)

    @model_validator(mode="after")
    def _one_of_two(self) -> Into:
        if (self.schema_name is None) == (self.folder is None):
            raise ValueError("give either schema or folder")
        if self.folder and self.overwrite:
            raise ValueError("a folder is never replaced; name a new one, or leave out overwrite")
        if self.folder and self.form == "view":
            raise ValueError("views are in a schema of the database; name one with schema")
        return self

    @property
    def has_views(self) -> bool:
        """Whether the released tables are live views."""
        return self.form == "view"


class LinkedSpec(Decision):
    """The spec of a release of several tables: the people, the tables with their links, privacy, and the target."""

    unit: Annotated[Mapping[Text, Text], AfterValidator(MappingProxyType)] = spec_key(
        "The main table, which has one row per person, and the column that identifies the people.",
        ...,
        takes="a mapping of one table to one column, such as {patients: patient_id}",
        group=DATA,
        min_length=1,
        max_length=1,
    )
    tables: Annotated[Mapping[Text, LinkedTable], AfterValidator(MappingProxyType)] = spec_key(
        "The tables to release, by name.", ..., takes="a mapping of tables", min_length=1, max_length=_MOST_TABLES
    )
    hierarchies: LocalPath | None = spec_key(
        "A folder with a file `<column>.csv` for each column without a recipe.", takes="the path of a folder"
    )
    privacy: LinkedPrivacy = spec_key(
        "The privacy model, (k, m)-anonymity of people.", ..., takes="a mapping such as {k: 5, m: 2}", group=PRIVACY
    )
    suppression_limit: SuppressionLimit = spec_key(
        "Maximum number of people to leave out.", 0.01, takes=FRACTION_OR_ROWS.replace("rows", "people")
    )
    event_suppression_limit: SuppressionLimit = spec_key(
        "Maximum number of rows to leave out of each of the other tables; people stay if their rows are left out.",
        0.05,
        takes=FRACTION_OR_ROWS,
    )
    shift_days: StrictInt = spec_key("The largest offset of dates in `shift`, in days.", 183, ge=1)
    strategy: Text = spec_key("The search algorithm.", "auto", takes="the name of a search", group=SEARCH)
    metric: Literal["loss", "precision", "height"] = spec_key(
        "The loss that the search minimizes: a mean over all quasi-identifiers of all tables.", "loss"
    )
    time_limit: Annotated[float, Field(gt=0)] | None = spec_key(
        "Seconds for the search. By default 300.", takes="a number above 0"
    )
    seed: StrictInt = spec_key("The seed of random choices in the search.", 0)
    into: Into | None = spec_key(
        "Where to write the released tables.", takes="a mapping such as {schema: hospital_anon}", group=TARGET
    )
    key_secret: LocalPath | None = spec_key(
        "A file with a secret that makes new keys the same in every release. Releases can then be joined, so each must "
        "be judged together with the others. By default keys are random, and differ between releases.",
        takes="the path of a file with a secret",
    )
    node: Literal["keep_else_search", "keep", "search"] = spec_key(
        "What `kanon database run` reuses of the last release: its node, while that is safe.", "keep_else_search"
    )
    differencing: Literal["defer", "refuse"] = spec_key(
        "What happens in `kanon database run` to changes that would single people out together with an earlier "
        "release: they wait until enough others change with them, or the whole release is refused.",
        "defer",
    )
    differencing_limit: Literal["unlimited"] | None = spec_key(
        "`unlimited`: compare a release with no earlier one, because no one has these any more.",
        takes="the word unlimited",
    )
    differencing_history: StrictInt = spec_key(
        "With how many of the last releases `kanon database run` compares a new one.", 30, ge=1
    )
    differencing_values: LeastValues = spec_key(
        "Minimum number of values of a sensitive column that two releases together leave possible for everyone, by "
        "default 2 for every column with `l_diversity`.",
        takes="a mapping such as {diagnoses.severity: 3}",
        default_factory=empty,
    )
    deferral_limit: StrictFloat = spec_key(
        "Maximum number of people of whom anything may wait, as a fraction of those in the release; above it, the old "
        "release stays.",
        0.1,
        takes="a fraction from 0 to 1, e.g. 0.1 for 10 %",
        ge=0,
        le=1,
    )

    @model_validator(mode="after")
    def _sensitive_columns_of_tables(self) -> LinkedSpec:
        for key, name, _ in self.privacy.requirements:
            if not any(name.startswith(f"{table}.") for table in self.tables):
                raise ValueError(f"{key} of {name!r} names no table; write table.column, such as {self.main}.{name}")
        return self

    @model_validator(mode="after")
    def _views_count_few_rows(self) -> LinkedSpec:
        if self.into is None or not self.into.has_views:
            return self
        if self.privacy.m == "all":
            raise ValueError("views cannot compare all rows of people (`m: all`); set m to 0, 1, 2 or 3")
        if any(self.privacy.requirements):
            raise ValueError(
                "views do not limit sensitive columns by privacy models; release tables (`as: table`), or drop these "
                "columns"
            )
        return self

    @model_validator(mode="after")
    def _compared_values_are_diverse(self) -> LinkedSpec:
        for name, least in self.differencing_values.items():
            settings = self.privacy.l_diversity.get(name)
            if settings is None or settings.kind != "distinct" or settings.l < least:
                raise ValueError(
                    f"`differencing_values` needs {least} values of {name!r} in every combination; set `l_diversity` "
                    f"of the column to {least} or more"
                )
        return self

    @property
    def requirements(self) -> Iterator[tuple[str, str, SensitiveModel]]:
        """The models of sensitive columns: the table, the column, and the settings."""
        for _, name, settings in self.privacy.requirements:
            table = max((table for table in self.tables if name.startswith(f"{table}.")), key=len)
            yield table, name.removeprefix(f"{table}."), settings

    def sensitive_of(self, table: str) -> list[str]:
        """The sensitive columns of a table: the named ones, and the ones with a model."""
        with_model = (column for other, column, _ in self.requirements if other == table)
        return list(dict.fromkeys([*self.tables[table].sensitive, *with_model]))

    @property
    def main(self) -> str:
        """The table with one row per person."""
        return next(iter(self.unit))

    @property
    def person_key(self) -> str:
        """The main table's column that identifies the people."""
        return self.unit[self.main]
