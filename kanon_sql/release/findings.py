"""Findings: the results of separate queries on any relation, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Statement
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.privacy import (
    UNIT,
    ClassCount,
    Finding,
    PeopleByClass,
    Predicate,
    PrivacyModel,
    PrivacyModels,
    Reference,
    ReleaseModel,
)
from kanon_sql.queries import Hole, Relation

_NOT_FOUND = ("homogeneous", "redrawn", "frequent", "of_people", "statements")
_SENT_AS = {"text": "VARCHAR", "integer": "BIGINT"}  # wider types, since a population can have longer values


@dataclass(frozen=True)
class Homogeneous:
    """The classes in which all rows, or all people where the model counts people, have one value of a sensitive column.

    `people`: the people in these classes; None if rows are counted.
    `frequent`: the rows of all classes with the most frequent value of their class.
    """

    column: str
    classes: int
    rows: int
    frequent: int
    people: int | None = None


@dataclass(frozen=True)
class Redrawn:
    """A sensitive column in which values were redrawn for a model of one value.

    `classes`: the redrawn ones, which did not satisfy the model. `alike`, `rows_alike`: all classes without the value,
    and their rows. The rows of `classes` alone are not included, since their number could identify the classes.
    """

    model: PrivacyModel
    classes: int
    alike: int
    rows_alike: int

    @property
    def column(self) -> str:
        """The sensitive column."""
        return str(self.model.sensitive)

    def described(self) -> dict[str, Any]:
        """The manifest's entry: counts, without any that would identify the redrawn classes."""
        counts = {name: value for name, value in vars(self).items() if name != "model"}
        return {"column": self.column, "required": self.model.parameters["alpha"], **counts}


@dataclass(frozen=True)
class Summary:
    """The findings of separate queries on a relation; see `sql/release.sql`.

    `unsafe_classes`, `unsafe_rows`: of the model that most classes violate, where equal rows are a class.
    `findings`: of all requirements. `homogeneous`: for sensitive columns without a model. `frequent`: for those with a
    model, the rows of all classes with the most frequent value of their class. `redrawn`: sensitive columns with
    redrawn values, if any. `of_people`: the people by the size of their smallest class; None if rows are counted.
    `statements`: the queries.
    """

    rows: int
    classes: int
    smallest_class: int | None
    unsafe_classes: int
    unsafe_rows: int
    findings: tuple[Finding, ...] = ()
    homogeneous: tuple[Homogeneous, ...] = ()
    redrawn: tuple[Redrawn, ...] = ()
    frequent: Mapping[str, int] = field(default_factory=dict)
    of_people: PeopleByClass | None = None
    statements: tuple[Statement, ...] = field(default=(), compare=False, repr=False)

    @property
    def people(self) -> int | None:
        """The number of different people in the rows; None if rows are counted."""
        return None if self.of_people is None else self.of_people.number

    @property
    def holds(self) -> bool:
        """Whether all requirements are satisfied."""
        if not self.findings:
            return self.unsafe_classes == 0
        return all(finding.holds for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The findings for JSON."""
        values = {name: value for name, value in asdict(self).items() if name not in _NOT_FOUND}
        if self.of_people is None:
            return values
        smallest = min((size for size, _ in self.of_people.sizes), default=None)
        return {**values, "people": self.people, "smallest_class_of_people": smallest}


def summarize(
    engine: Engine,
    relation: Relation,
    quasi_identifiers: Sequence[str],
    model: PrivacyModels,
    source: tuple[Engine, Relation] | None = None,
    population: tuple[Engine, str] | None = None,
    sensitive: Sequence[str] = (),
    once: bool = False,
) -> Summary:
    """Check whether a relation satisfies the models, with one query per model.

    `source`: the whole table that some models compare classes with; by default the relation itself.
    `population`: the engine and query of the population with the relation's labels (the quasi-identifiers and
    `population`, in rows or people); SpecError if a model needs it and it is missing.
    `sensitive`: columns for which classes with a single value are counted. `once`: read the relation only once, for
    views.
    """
    summaries = []
    with Scratch(engine, "findings") as tables:
        if once and len(model.every) + len(sensitive) + bool(model.unit) > 1:
            columns = list(dict.fromkeys([*quasi_identifiers, *model.sensitive.values(), *sensitive]))
            relation = tables.create("shown", "frequency_sets/copy", columns=columns, source=relation)
        model = model.with_references(_references(tables, relation, model, source or (engine, relation)))
        shown = _population(tables, relation, quasi_identifiers, *population) if population else None
        statements = _summaries_sql(engine, relation, quasi_identifiers, model, shown)
        for privacy_model, (name, sql) in zip(model.models, statements, strict=False):
            summaries.append(_of_classes(privacy_model, tables.rows_as(sql, name)))
        people = people_by_class(engine, relation, quasi_identifiers, model.unit) if model.unit else None
        for release_model, (name, sql) in zip(model.of_release, statements[len(model.models) :], strict=True):
            summaries.append(_of_release(release_model, tables.rows_as(sql, name), people))
        same = tuple(homogeneous(tables, relation, quasi_identifiers, column, model.unit) for column in sensitive)
    worst = max(summaries, key=lambda summary: summary.unsafe_classes)
    every = tuple(finding for summary in summaries for finding in summary.findings)
    frequent = {column: rows for summary in summaries for column, rows in summary.frequent.items()}
    found = replace(worst, findings=every, homogeneous=same, frequent=frequent, of_people=people)
    return replace(found, statements=tables.log)


def people_by_class(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str], unit: str) -> PeopleByClass:
    """The people of a relation, identified by the unit column, by the size of their smallest class."""
    plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
    holes: dict[str, Hole] = {"quasi_identifiers": plain, "names": list(plain), "unit": [unit]}
    rows = engine.rows(queries.text("privacy/people_by_class", engine.dialect, release=relation, **holes))
    return PeopleByClass(tuple((int(size), int(people)) for size, people in rows))


def homogeneous(
    tables: Scratch, relation: Relation, quasi_identifiers: Sequence[str], column: str, unit: str | None
) -> Homogeneous:
    """The classes with a single value of a column; with a unit, the classes in which all people have it."""
    plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
    holes: dict[str, Any] = {"release": relation, "quasi_identifiers": plain, "names": list(plain), "value": [column]}
    ((classes, rows, frequent),) = tables.rows("privacy/homogeneous", **holes)
    if unit is None:
        return Homogeneous(column, int(classes), int(rows), int(frequent))
    ((classes, rows, people),) = tables.rows("privacy/homogeneous_people", **holes, unit=[unit])
    return Homogeneous(column, int(classes), int(rows), int(frequent), int(people))


def _of_classes(model: PrivacyModel, rows: Sequence[tuple[Any, ...]]) -> Summary:
    ((total, classes, smallest, unsafe_classes, unsafe_rows, achieved, *most),) = rows
    unsafe = int(unsafe_classes), int(unsafe_rows)
    finding = Finding(model.name, model.required, _figure(achieved), *unsafe)
    frequent = {model.sensitive: int(most[0] or 0)} if model.sensitive and most else {}
    return Summary(int(total), int(classes), _figure(smallest), *unsafe, findings=(finding,), frequent=frequent)


def _of_release(model: ReleaseModel, rows: Sequence[tuple[Any, ...]], people: PeopleByClass | None) -> Summary:
    """A model of the whole release: the smallest classes count as unsafe, as many as it takes to satisfy the model."""
    counted = [(ClassCount(*map(int, row[:3])), int(row[3]), int(row[4])) for row in rows]
    histogram = model.histogram([sizes for sizes, _, _ in counted])
    if people and model.is_risk and model.population is None:
        histogram = people.histogram
    least = model.least_class_size(histogram)
    if not model.holds([sizes for sizes in histogram if sizes[0] >= least]):
        # `sufficient_size` of the model is wrong: no class is safe.
        least = max(size for size, *_ in histogram) + 1
    unsafe = [group for group in counted if model.size_of(group[0]) < least]
    offenders = sum(sizes.classes for sizes, _, _ in unsafe), sum(size for _, size, _ in unsafe)
    finding = Finding(model.name, model.required, model.achieved(histogram), *offenders)
    smallest = min((size for _, _, size in counted), default=None)
    total = sum(size for _, size, _ in counted)
    return Summary(total, sum(sizes.classes for sizes, _, _ in counted), smallest, *offenders, findings=(finding,))


def _references(
    tables: Scratch, relation: Relation, model: PrivacyModels, source: tuple[Engine, Relation]
) -> dict[str, Reference]:
    """The compared columns' values in the whole table, with the types of the relation."""
    engine, whole = source
    rows = Predicate("SUM(n)", unit=model.unit) if model.unit else Predicate("COUNT(*)")
    references = {}
    for name in model.compared:
        column = model.sensitive[name]
        query = queries.reference(whole, column, column, rows, engine.dialect, model.groups.get(name, ()))
        reference = tables.receive(f"reference{name}", engine, query)
        reference = _in_type_of(tables, relation, column, reference)
        references[name] = Reference(reference, True, model.groups.get(name, ()))
    return references


def _in_type_of(tables: Scratch, relation: Relation, column: str, reference: Relation) -> Relation:
    """A reference with values as text, if the relation has the column as text, such as a CSV file."""
    here, there = tables.engine.table(relation).column(column), tables.engine.table(reference).column("value")
    if not here or not there or here.kind != "text" or there.kind == "text":
        return reference
    figures = [column.name for column in tables.engine.table(reference).columns if column.name != "value"]
    return tables.create(f"text_{reference.name}", "privacy/reference_texts", reference=reference, figures=figures)


def _population(
    tables: Scratch, relation: Relation, quasi_identifiers: Sequence[str], source: Engine, query: str
) -> Relation:
    """The population with the relation's labels, by plain names; as text where the relation has text."""
    if source is not tables.engine and not (source.is_embedded and tables.engine.is_embedded):
        return _population_in_types(tables, relation, quasi_identifiers, source, query)
    population = tables.receive("population", source, query)
    here, there = tables.engine.table(relation), tables.engine.table(population)
    plain = queries.plain_names(quasi_identifiers)
    texts: dict[str, str] = {}
    others = {"population": queries.population_column(quasi_identifiers)}
    for column, name in plain.items():
        labels, values = here.column(column), there.column(column)
        is_text = labels is not None and values is not None and labels.kind == "text" != values.kind
        (texts if is_text else others)[name] = column
    return tables.create("population_shown", "release/as_texts", relation=population, texts=texts, columns=others)


def _population_in_types(
    tables: Scratch, relation: Relation, quasi_identifiers: Sequence[str], source: Engine, query: str
) -> Relation:
    """The same, from another kind of engine: values are sent as text, and read in the types of this engine."""
    with Scratch(source, "population") as there:
        sent = there.create_as("sent", query)
        names = {"texts": list(quasi_identifiers), "columns": [queries.population_column(quasi_identifiers)]}
        rows = there.rows("release/as_texts", relation=sent, **names)
    table = tables.engine.table(relation)
    columns = {name: table.column(column) for column, name in queries.plain_names(quasi_identifiers).items()}
    types = {name: _SENT_AS.get(column.kind, column.type) for name, column in columns.items() if column}
    return tables.load("population_shown", types | {"population": "BIGINT"}, list(zip(*rows, strict=True)))


def _summaries_sql(
    engine: Engine,
    relation: Relation,
    quasi_identifiers: Sequence[str],
    model: PrivacyModels,
    population: Relation | None = None,
) -> list[tuple[str, str]]:
    """The names and texts of `summarize`'s queries, one per model; models of the whole release come last.

    `population`: with plain names.
    """
    plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
    of_classes = [
        _summary_sql(engine, relation, plain, model, privacy_model, population) for privacy_model in model.models
    ]
    sizes = [
        _sizes_sql(engine, relation, plain, model, release_model, population) for release_model in model.of_release
    ]
    return of_classes + sizes


def _sizes_sql(
    engine: Engine,
    relation: Relation,
    plain: dict[str, str],
    model: PrivacyModels,
    release_model: ReleaseModel,
    population: Relation | None,
) -> tuple[str, str]:
    people = {UNIT: model.unit} if model.unit else {}
    holes: dict[str, Hole] = {
        "release": relation,
        "quasi_identifiers": plain | people,
        "names": list(plain),
        "size": model.size,
    }
    if release_model.population is None:
        name = "privacy/release_class_sizes"
        return name, queries.text(name, engine.dialect, **holes)
    name = "population/release_class_sizes"
    return name, queries.text(name, engine.dialect, **holes, population=_given(population, release_model))


def _summary_sql(
    engine: Engine,
    relation: Relation,
    plain: dict[str, str],
    model: PrivacyModels,
    privacy_model: PrivacyModel,
    population: Relation | None,
) -> tuple[str, str]:
    model = replace(model, populated=False, population_unit=False)  # in a release there is no one else
    holes: dict[str, Hole] = {
        "release": relation,
        "quasi_identifiers": plain | _counted(model, privacy_model),
        "names": list(plain),
        **_achieved(model, privacy_model),
    }
    if privacy_model.population is None:
        name = "release/class_summary"
        holes |= _frequent(model, privacy_model)
        return name, queries.text(name, engine.dialect, safe=model.predicate(privacy_model), **holes)
    counting: dict[str, Hole] = {
        "population": _given(population, privacy_model),
        "rows": Predicate("SUM(n)", unit=UNIT if model.unit else None),
    }
    by_rows = replace(model, unit=None)  # people are counted below, class by class
    holes |= {
        "every_class": privacy_model.every_class,
        "safe": by_rows.predicate(privacy_model),
        **_achieved(by_rows, privacy_model),
    }
    name = "population/class_summary"
    return name, queries.text(name, engine.dialect, **holes, **counting)


def _given(population: Relation | None, privacy_model: PrivacyModel | ReleaseModel) -> Relation:
    if population is None:
        raise SpecError(
            f"{privacy_model.name} compares a release with a population, "
            "and it is not known how the release shows its values"
        )
    return population


def _counted(model: PrivacyModels, privacy_model: PrivacyModel) -> dict[str, str]:
    """The columns whose values a model counts: its sensitive column, and the unit."""
    return {
        name: column for name, column in model.sensitive.items() if column == privacy_model.sensitive or name == UNIT
    }


def _achieved(model: PrivacyModels, privacy_model: PrivacyModel) -> dict[str, Predicate | None]:
    """The expressions that measure what a release achieves under a model."""
    if privacy_model.achieved is None:
        return {"achieved": None, "of_class": None}
    achieved, of_class = queries.over_classes(model.predicate(privacy_model, privacy_model.achieved))
    if model.unit and privacy_model.one_value:  # a person with several values leaves the figure of her class undefined
        of_class = replace(of_class, text=f"CASE WHEN _known THEN {of_class.text} END")
        achieved = replace(achieved, text=f"CASE WHEN COUNT(of_class) = COUNT(*) THEN {achieved.text} END")
    return {"achieved": achieved, "of_class": of_class}


def _frequent(model: PrivacyModels, privacy_model: PrivacyModel) -> dict[str, Predicate | None]:
    """The expression for the rows with the most frequent value of their class, if a model counts values.

    It counts rows even if the model counts people.
    """
    if privacy_model.sensitive is None:
        return {"frequent": None, "most": None}
    most = replace(model.predicate(privacy_model, "most"), columns={"most": "MAX(c)"}, unit=None)
    return {"frequent": Predicate("SUM(most)"), "most": most}


def _figure(value: Any) -> Any:
    """A figure from a query; whole numbers become int."""
    if value is None or isinstance(value, float):
        return value
    return int(value) if value == int(value) else float(value)


def class_sizes(
    engine: Engine, relation: Relation, quasi_identifiers: Sequence[str], unit: str | None = None
) -> list[tuple[int, int]]:
    """The number of classes of every size, the smallest first; with a unit, sizes count people."""
    if unit is not None:
        plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
        holes: dict[str, Hole] = {"quasi_identifiers": plain | {UNIT: unit}, "names": list(plain)}
        size = Predicate("SUM(n)", unit=UNIT)
        text = queries.text("privacy/release_class_sizes", engine.dialect, release=relation, size=size, **holes)
        return [(int(size), int(classes)) for size, _, classes, *_ in engine.rows(text)]
    query = queries.text(
        "release/class_sizes", engine.dialect, release=relation, quasi_identifiers=list(quasi_identifiers)
    )
    return [(int(size), int(classes)) for size, classes in engine.rows(query)]
