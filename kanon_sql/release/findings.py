"""Findings: the results of separate queries on any relation, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Statement
from kanon_sql.engines.opening import embedded_for
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.privacy import (
    PEOPLE,
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
from kanon_sql.release.kinds import Cells, Kinds, cells_of, of_sizes

_NOT_FOUND = ("homogeneous", "redrawn", "frequent", "of_people", "sizes", "statements")
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
    `sizes`: the size of classes (in people if these are counted), their rows each, and how many classes have both.
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
    sizes: tuple[tuple[int, int, int], ...] = field(default=(), compare=False, repr=False)
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
    cells: Cells | None = None,
) -> Summary:
    """Check whether a relation satisfies the models: it is grouped once, and the models judge its kinds of classes.

    `source`: the whole table that some models compare classes with; by default the relation itself.
    `population`: the engine and query of the population with the relation's labels (the quasi-identifiers and
    `population`, in rows or people); SpecError if a model needs it and it is missing.
    `sensitive`: columns for which classes with a single value are counted. `once`: read the relation only once, for
    views and text files. `cells`: the relation's, with all columns of `counted_columns`, if they are counted already.
    """
    columns = counted_columns(model, sensitive)
    with ExitStack() as stack:
        tables = here = stack.enter_context(Scratch(engine, "findings"))
        if (columns or cells) and not engine.is_embedded:
            near = cells.tables.engine if cells else stack.enter_context(embedded_for(engine))
            here = stack.enter_context(Scratch(near, "findings"))
        if once and model.population is not None:
            every = list(dict.fromkeys([*quasi_identifiers, *columns.values()]))
            relation = tables.create("shown", "frequency_sets/copy", columns=every, source=relation)
        if columns and cells is None:
            cells = cells_of(tables, relation, quasi_identifiers, columns, here, once)
        if cells and cells.tables.engine is engine:
            here = tables
        references = _references(tables, relation, model, source or (engine, relation))
        if cells and cells.codes:
            references = {name: _in_codes(tables, here, each, cells.codes[name]) for name, each in references.items()}
        shown = _population(tables, relation, quasi_identifiers, *population) if population else None
        model = model.with_references(references)
        if cells:
            kinds = Kinds(here, cells)
            sizes, people = kinds.sizes()
            of_values = {
                column: _of_column(kinds, name, column, model, column in sensitive)
                for name, column in columns.items()
                if name != UNIT
            }
        else:
            sizes = [(size, size, classes) for size, classes in _class_sizes(tables, relation, quasi_identifiers)]
            people, of_values = None, {}
        of_size = [each for each in model.models if each.population is None and each.sensitive is None]
        by_size = iter(_judged(here, of_sizes(here, sizes, model.unit is not None), model, of_size) if of_size else ())
        by_value = {column: iter(each.summaries) for column, each in of_values.items()}
        summaries = []
        for privacy_model in model.models:
            if privacy_model.population is not None:
                name, sql = _population_sql(engine, relation, quasi_identifiers, model, privacy_model, shown)
                summaries.append(_of_classes(privacy_model, tables.rows_as(sql, name)))
            else:
                summaries.append(next(by_value.get(privacy_model.sensitive or "", by_size)))
        for release_model in model.of_release:
            counted = _by_size(sizes)
            if release_model.population is not None:
                name, sql = _sizes_sql(engine, relation, quasi_identifiers, model, release_model, shown)
                counted = [
                    (ClassCount(*map(int, row[:3])), int(row[3]), int(row[4])) for row in tables.rows_as(sql, name)
                ]
            summaries.append(_of_release(release_model, counted, people))
        logs = tables.log if here is tables else (*tables.log, *here.log)
    worst = max(summaries, key=lambda summary: summary.unsafe_classes)
    return replace(
        worst,
        findings=tuple(finding for summary in summaries for finding in summary.findings),
        homogeneous=tuple(of_values[column].homogeneous for column in sensitive),
        frequent={column: of_values[column].frequent for column in model.sensitive.values() if column in of_values},
        of_people=people,
        sizes=tuple(sizes),
        statements=logs,
    )


def counted_columns(model: PrivacyModels, sensitive: Sequence[str] = ()) -> dict[str, str]:
    """The columns that models count besides the quasi-identifiers, and sensitive ones, by our names for them."""
    columns = {name: column for name, column in model.sensitive.items() if name != UNIT}
    others = [column for column in dict.fromkeys(sensitive) if column not in columns.values()]
    columns |= {f"_other_{place}": column for place, column in enumerate(others)}
    return columns | ({UNIT: model.unit} if model.unit else {})


@dataclass(frozen=True)
class _OfColumn:
    """The findings of the models of one sensitive column, in their order; `frequent`: see `Summary`."""

    summaries: Sequence[Summary]
    homogeneous: Homogeneous
    frequent: int


def _of_column(kinds: Kinds, name: str, column: str, model: PrivacyModels, with_people: bool) -> _OfColumn:
    models = [each for each in model.models if each.sensitive == column]
    if not models and not model.unit:
        classes, rows, frequent = kinds.homogeneous_classes(name)
        return _OfColumn((), Homogeneous(column, classes, rows, frequent), frequent)
    of_column = kinds.of(name)
    classes, rows, frequent = kinds.homogeneous(of_column)
    people = kinds.people_of_homogeneous(of_column) if model.unit and with_people else None
    summaries = _judged(kinds.tables, of_column.kinds, model, models)
    return _OfColumn(summaries, Homogeneous(column, classes, rows, frequent, people), frequent)


def _judged(
    tables: Scratch, kinds: Relation, model: PrivacyModels, privacy_models: Sequence[PrivacyModel]
) -> list[Summary]:
    """The findings of models on the kinds of classes, by one query, which groups the kinds once for all models."""
    if not privacy_models:
        return []
    model = replace(model, populated=False, population_unit=False)  # in a release there is no one else
    holes: list[dict[str, Hole]] = []
    for number, privacy_model in enumerate(privacy_models):
        safe = replace(model.predicate(privacy_model), unit=PEOPLE if model.unit else None, of_kinds=True)
        achieved = achieved_holes(model, privacy_model, PEOPLE, "weight", f"of_class_{number}", of_kinds=True)
        holes.append({"safe": safe, **achieved})
    name = "release/class_summary"
    (row,) = tables.rows_as(queries.repeated_text(name, tables.engine.dialect, holes, kinds=kinds), name)
    summaries = []
    for number, privacy_model in enumerate(privacy_models):
        # The first three columns are the same for all models, and each of the others is repeated for every model.
        of_model = row[3 + number :: len(privacy_models)]
        summaries.append(_of_classes(privacy_model, [(*row[:3], *of_model)]))
    return summaries


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
    ((total, classes, smallest, unsafe_classes, unsafe_rows, achieved),) = rows
    unsafe = int(unsafe_classes), int(unsafe_rows)
    finding = Finding(model.name, model.required, _figure(achieved), *unsafe)
    return Summary(int(total), int(classes), _figure(smallest), *unsafe, findings=(finding,))


def _of_release(
    model: ReleaseModel, counted: Sequence[tuple[ClassCount, int, int]], people: PeopleByClass | None
) -> Summary:
    """A model of the whole release: the smallest classes count as unsafe, as many as it takes to satisfy the model.

    `counted`: classes of the same sizes, the rows in all of them, and the smallest number of rows of one.
    """
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


def _by_size(sizes: Sequence[tuple[int, int, int]]) -> list[tuple[ClassCount, int, int]]:
    """The classes of each size, without a population, with the rows in all of them and the smallest rows of one."""
    counted = []
    for size, group in groupby(sizes, key=itemgetter(0)):
        of_size = list(group)
        classes = sum(classes for *_, classes in of_size)
        rows = sum(rows * classes for _, rows, classes in of_size)
        counted.append((ClassCount(size, 0, classes), rows, min(rows for _, rows, _ in of_size)))
    return counted


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


def _in_codes(tables: Scratch, here: Scratch, reference: Reference, codes: Relation) -> Reference:
    """A reference with codes as values."""
    engine, relation = tables.engine, reference.relation
    figures = [column.name for column in engine.table(relation).columns if column.name != "value"]
    holes: dict[str, Hole] = {"reference": relation, "codes": codes, "figures": figures}
    query = queries.text("kinds/coded_reference", engine.dialect, **holes)
    return replace(reference, relation=here.receive(f"coded_{relation.name}", engine, query), nullable=False)


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


def _sizes_sql(
    engine: Engine,
    relation: Relation,
    quasi_identifiers: Sequence[str],
    model: PrivacyModels,
    release_model: ReleaseModel,
    population: Relation | None,
) -> tuple[str, str]:
    """The name and text of the query of the classes by their size and that of the population's; `population`: plain."""
    plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
    people = {UNIT: model.unit} if model.unit else {}
    holes: dict[str, Hole] = {
        "release": relation,
        "quasi_identifiers": plain | people,
        "names": list(plain),
        "size": model.size,
    }
    name = "population/release_class_sizes"
    return name, queries.text(name, engine.dialect, **holes, population=_given(population, release_model))


def _population_sql(
    engine: Engine,
    relation: Relation,
    quasi_identifiers: Sequence[str],
    model: PrivacyModels,
    privacy_model: PrivacyModel,
    population: Relation | None,
) -> tuple[str, str]:
    """The name and text of the query of a model that compares classes with a population; `population`: plain."""
    plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
    people = {UNIT: model.unit} if model.unit else {}
    by_rows = replace(model, populated=False, population_unit=False, unit=None)  # people are counted class by class
    holes: dict[str, Hole] = {
        "release": relation,
        "quasi_identifiers": plain | people,
        "names": list(plain),
        "population": _given(population, privacy_model),
        "rows": Predicate("SUM(n)", unit=UNIT if model.unit else None),
        "every_class": privacy_model.every_class,
        "safe": by_rows.predicate(privacy_model),
        **achieved_holes(by_rows, privacy_model),
    }
    name = "population/class_summary"
    return name, queries.text(name, engine.dialect, **holes)


def _given(population: Relation | None, privacy_model: PrivacyModel | ReleaseModel) -> Relation:
    if population is None:
        raise SpecError(
            f"{privacy_model.name} compares a release with a population, "
            "and it is not known how the release shows its values"
        )
    return population


def achieved_holes(
    model: PrivacyModels,
    privacy_model: PrivacyModel,
    unit: str | None = None,
    weight: str | None = None,
    of_class: str = "of_class",
    of_kinds: bool = False,
) -> dict[str, Hole]:
    """The expressions that measure what a release achieves under a model.

    `unit`: the column by which people are counted. `weight`: the column of the classes that a row represents.
    `of_class`: the name of the column with the figure of a class. `of_kinds`: see `Predicate`.
    """
    if privacy_model.achieved is None:
        return {"achieved": None, "of_class": None}
    figure = model.predicate(privacy_model, privacy_model.achieved)
    figure = replace(figure, unit=unit if model.unit else None, of_kinds=of_kinds)
    achieved, inner = queries.over_classes(figure, weight, of_class)
    if model.unit and privacy_model.one_value:  # a person with several values leaves the figure of her class undefined
        inner = replace(inner, text=f"CASE WHEN _known THEN {inner.text} END")
        achieved = replace(achieved, text=f"CASE WHEN COUNT({of_class}) = COUNT(*) THEN {achieved.text} END")
    return {"achieved": achieved, "of_class": inner}


def _figure(value: Any) -> Any:
    """A figure from a query; whole numbers become int."""
    if value is None or isinstance(value, float):
        return value
    return int(value) if value == int(value) else float(value)


def class_sizes(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str]) -> list[tuple[int, int]]:
    """The number of classes of every size, the smallest first."""
    with Scratch(engine, "findings") as tables:
        return _class_sizes(tables, relation, quasi_identifiers)


def _class_sizes(tables: Scratch, relation: Relation, quasi_identifiers: Sequence[str]) -> list[tuple[int, int]]:
    rows = tables.rows("release/class_sizes", release=relation, quasi_identifiers=list(quasi_identifiers))
    return [(int(size), int(classes)) for size, classes in rows]
