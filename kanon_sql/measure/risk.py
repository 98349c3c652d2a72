"""Measure the risk in a table: of its classes, by privacy models, and of its columns."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engines.opening import embedded_for
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.measure.evidence import evidence_of
from kanon_sql.measure.fetched import fetched, needs_server
from kanon_sql.measure.known_rows import linking_columns, several_rows
from kanon_sql.measure.labelled import PopulationQuery
from kanon_sql.measure.owners import waiting_changes
from kanon_sql.measure.whole import Whole, shown, shown_columns
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.preflight import check_roles
from kanon_sql.plan.privacy_models import check_models, check_unit, models_of
from kanon_sql.plan.source import Source
from kanon_sql.privacy import AnyPrivacyModel, Finding, PrivacyModel, PrivacyModels, ReleaseModel, journalist_risk
from kanon_sql.privacy.model_set import UNIT
from kanon_sql.release.findings import Homogeneous, Summary, counted_columns, summarize
from kanon_sql.release.kinds import Cells, coded
from kanon_sql.risk import attribution
from kanon_sql.risk.attribution import Sensitive
from kanon_sql.risk.classes import Classes, classes_of
from kanon_sql.risk.identifiers import Contents, examine_columns
from kanon_sql.risk.known_rows import SeveralRows
from kanon_sql.risk.norms import HARBOR, by_default, norms
from kanon_sql.risk.separation import Separations, separations
from kanon_sql.risk.sets import code
from kanon_sql.risk.single_columns import to_count
from kanon_sql.risk.table import TableRisk
from kanon_sql.spec import Spec

_SET_SECONDS = 30.0  # for small sets of columns; after that the sets counted so far are shown


@dataclass(frozen=True)
class RiskMeasurement:
    """The settings of a measurement. `people_unknown`: whether rows are counted because people cannot be."""

    spec: Spec
    population: Any
    sampling_fraction: float | None
    largest_set: int
    observer: Observer
    notes: list[str]
    people_unknown: bool = False

    def check(self, source: Source, role: str) -> tuple[str, ...]:
        """The columns that determine the classes of a table; SpecError if it lacks one, or a sensitive column."""
        names = shown_columns(self.spec, source.table)
        existing = [column.name for column in source.table.columns]
        for name in (*names, *self.spec.sensitive):
            if name not in existing:
                raise SpecError(f"{role} has no column {name!r}; name columns that it has: {', '.join(existing)}")
        for column in source.table.columns:
            if column.name in names and column.kind == "other":
                raise SpecError(
                    f"column {column.name!r} of {role} is of type {column.type}, which cannot be grouped; cast it to "
                    "text, or leave it out of the quasi-identifiers"
                )
        return tuple(names)

    def is_release(self, before: Source, after: Whole, of_spec: bool) -> bool:
        """Whether a table can be a release of the source; if not, a spec's target is noted, any other is an error."""
        try:
            self.check(after.source, "the release")
            _check_rows(before, after)
        except (SpecError, SourceError) as error:
            if not of_spec:
                raise
            self.notes.append(f"{after.name}, the target of the spec, is left out: {error}")
            return False
        return True

    def of_both(self, name: str, source: Source, release: Whole) -> tuple[TableRisk, TableRisk]:
        """Measure a source and its release, both by people or both by rows, so that they can be compared."""
        before = self.of("the source", name, source)
        after = self.of("the release", release.name, release.source, Whole(name, source), before)
        if before.unit == after.unit:
            return before, after
        by_rows = replace(self, spec=self.spec.model_copy(update={"unit": None}), people_unknown=True)
        return by_rows.of_both(name, source, release)

    def of(
        self, role: str, name: str, source: Source, whole: Whole | None = None, before: TableRisk | None = None
    ) -> TableRisk:
        """Measure one table. Of a release, `whole` is its source, and `before` the risk in it."""
        models = self._models(role, source, whole, self.spec.unit)
        with contextlib.ExitStack() as stack:
            # First, so that a problem with the unit or the population is found before any long query.
            models, released, population = self._released(stack, role, source, models, whole)
            stack.enter_context(source.engine.snapshot())
            near = self._near(stack, role, source, models, whole)
            tables = stack.enter_context(Scratch(near.engine, "risk"))
            rows, relation = to_count(tables, near.table)
            if rows == 0:
                raise _empty(name)
            copy = replace(near, table=replace(near.table, relation=relation))
            counted = released if released is not source or models.needs_all(source) else copy
            further = counted_columns(models.every, self.spec.sensitive) if counted is copy else {}
            here = stack.enter_context(Scratch(stack.enter_context(embedded_for(near.engine)), "risk_cells"))
            contents_found, sets, cells = self._columns(role, tables, copy, models.names, rows, further, here)
            if counted is not copy:
                here.drop(cells.relation)
                tables, cells = _coded(stack, counted, models, self.spec.sensitive)
            classes, summary = self._classes(role, counted, models, whole, population, cells)
            known_rows = self._several_rows(role, source, models, whole, classes, tables, cells)
        findings = models.findings(summary)
        # A release is compared with the norms of its source, even if it hides the ZIP codes.
        is_american = bool(contents_found.zips) or bool(before and any(norm.name == HARBOR for norm in before.norms))
        unit = models.requested.unit
        return TableRisk(
            name,
            unit,
            models.requested.k if any(model.class_size for model in models.requested.models) else None,
            classes,
            tuple(findings[id(model)] for model in models.requested.every),
            self._journalist(role, {figure: findings[id(model)] for figure, model in models.journalist.items()}),
            self._uniqueness(classes, before.classes if before else classes),
            models.sensitive(findings, summary, classes.members, role),
            sets,
            contents_found,
            norms(
                classes.smallest,
                "people" if unit else "rows",
                contents_found,
                self.people_unknown,
                self.spec.norms or by_default(is_american),
            ),
            self.people_unknown,
            known_rows,
        )

    def _near(
        self, stack: contextlib.ExitStack, role: str, source: Source, models: _Models, whole: Whole | None
    ) -> Source:
        """The source, or a copy of its table in an embedded engine if its values can be compared there."""
        if source.engine.is_embedded or needs_server(models.every, source.table, whole.source.table if whole else None):
            return source
        self.observer.stage(f"Copying all columns of {role} to this computer")
        return stack.enter_context(fetched(source))

    def _several_rows(
        self,
        role: str,
        source: Source,
        models: _Models,
        whole: Whole | None,
        classes: Classes,
        tables: Scratch,
        cells: Cells,
    ) -> SeveralRows | None:
        """The risk if an attacker knows several rows of a person; None if rows are counted.

        `tables`: the scratch tables in which the cells were coded.
        """
        unit = models.requested.unit
        if unit is None:
            return None
        if classes.people == classes.rows:
            return SeveralRows((), ())
        self.observer.stage(f"Combining the rows of every person of {role}")
        linked_by = linking_columns(source, whole.source if whole else None, models.names, self.spec, unit)
        return several_rows(tables, cells, linked_by)

    def _classes(
        self,
        role: str,
        source: Source,
        models: _Models,
        whole: Whole | None,
        population: PopulationQuery | None,
        cells: Cells,
    ) -> tuple[Classes, Summary]:
        """The classes by size, and the models' figures."""
        self.observer.stage(f"Counting the classes of {role}")
        check_unit(models.requested, source)
        engine, relation = source.engine, source.table.relation
        compared = None if whole is None else (whole.source.engine, whole.source.table.relation)
        sensitive = self.spec.sensitive
        summary = summarize(engine, relation, models.names, models.every, compared, population, sensitive, cells=cells)
        return classes_of(summary), summary

    def _journalist(self, role: str, findings: Mapping[str, Finding]) -> dict[str, float | None]:
        """The journalist's risks by figure; None if some rows do not match any row of the population."""
        strangers = max((finding.unsafe_rows for finding in findings.values()), default=0)
        if strangers:
            self.notes.append(
                f"{strangers:,} rows of {role} match no row of the population, so that the journalist's risk is "
                "unknown; name the population that the rows were drawn from"
            )
        return {figure: None if strangers else finding.achieved for figure, finding in findings.items()}

    def _uniqueness(self, classes: Classes, whole: Classes) -> float | None:
        """The share of the population that is unique; a release is a smaller sample of it than its source."""
        if self.sampling_fraction is None:
            return None
        return classes.uniqueness(self.sampling_fraction * min(1.0, classes.counted / whole.counted))

    def _models(self, role: str, source: Source, whole: Whole | None, unit: str | None) -> _Models:
        """The models to evaluate on a table; SpecError if that is not possible."""
        names = self.check(source, role)
        if whole is None:
            try:
                check_roles(self.spec.model_copy(update={"quasi_identifiers": dict.fromkeys(names)}), source.table)
            except SpecError as error:
                if unit is None or unit.lower() in {column.name.lower() for column in source.table.columns}:
                    raise
                raise SpecError(
                    f"{error}; to count people in a release without it, name its source, with this table as its release"
                ) from None
        requested = models_of(self.spec.model_copy(update={"unit": unit}), whole.source if whole else source)
        columns = [column for column in source.table.columns if column.name in self.spec.sensitive]
        measures = {column.name: attribution.models(column) for column in columns}
        models = _Models(names, replace(requested, unit=unit), _journalist_models(self.population), measures)
        hidden = whole is not None and replace(models.requested, unit=None).hidden  # columns that the release lacks
        check_models(replace(models.every, unit=None), whole.source.table if whole and hidden else source.table)
        _check_one_population(models.every)
        return models

    def _released(
        self, stack: contextlib.ExitStack, role: str, source: Source, models: _Models, whole: Whole | None
    ) -> tuple[_Models, Source, PopulationQuery | None]:
        """A table's rows, together with their unit if the models need it, and the population by the table's labels.

        If the unit of the rows cannot be determined, returns models by rows instead, and adds a note.
        """
        try:
            evidence = None
            if whole and (self.population is None or models.requested.population is not None):
                evidence = stack.enter_context(evidence_of(source, self.spec, models.names, models.requested))
            opened = shown(source, models.names, self.spec, models.every, whole, source.written_as, evidence=evidence)
            return models, *stack.enter_context(opened)
        except (SourceError, SpecError) as error:
            if models.requested.unit is None or source.table.column(models.requested.unit):
                raise
            self.notes.append(
                "rows are counted, not people, who are at higher risk if they have several rows in a class: the people "
                f"of {role} are unknown, because {error}"
            )
        return self._released(stack, role, source, self._models(role, source, whole, None), whole)

    def _columns(
        self,
        role: str,
        tables: Scratch,
        source: Source,
        names: Sequence[str],
        rows: int,
        further: Mapping[str, str],
        here: Scratch,
    ) -> tuple[Contents, Separations, Cells]:
        """Identifiers in the columns, how well columns and small sets distinguish rows, and the cells of the table.

        `further`: the columns of the cells besides the quasi-identifiers.
        """
        relation = source.table.relation
        counted, found = examine_columns(
            tables, source.table, relation, rows, lambda stage: self.observer.stage(f"{stage} in {role}")
        )
        self.observer.stage(f"Counting sets of columns in {role}")
        quasi_identifiers = [column for column in counted if column.name in names]
        cells = code(tables, relation, quasi_identifiers, rows, here, counted, further)
        people = next((column.counts.distinct for column in counted if column.name == further.get(UNIT)), None)
        sets = separations(cells, quasi_identifiers, rows, self.largest_set, _SET_SECONDS, people)
        if not sets.complete:
            self.notes.append(f"time was up before all small sets of columns of {role} were counted")
        return found, sets, cells


def _coded(
    stack: contextlib.ExitStack, counted: Source, models: _Models, sensitive: Sequence[str]
) -> tuple[Scratch, Cells]:
    """Code the cells of a table whose columns were not counted; also returns the scratch tables with the codes."""
    tables = stack.enter_context(Scratch(counted.engine, "released"))
    here = stack.enter_context(Scratch(stack.enter_context(embedded_for(counted.engine)), "released_cells"))
    names = {name: column for column, name in queries.plain_names(models.names).items()}
    relation, columns = counted.table.relation, counted_columns(models.every, sensitive)
    rows = tables.count(relation)
    return tables, coded(tables, relation, names, columns, here, rows, in_order=UNIT in columns)


@dataclass(frozen=True)
class _Models:
    """The models to evaluate on the classes of one table, which are formed by the columns `names`.

    `requested`: the models of the spec. `journalist` and `measures`: additional models that only measure, by figure,
    the latter for every sensitive column.
    """

    names: tuple[str, ...]
    requested: PrivacyModels
    journalist: Mapping[str, AnyPrivacyModel]
    measures: Mapping[str, Mapping[str, PrivacyModel]]

    @property
    def every(self) -> PrivacyModels:
        measuring: list[AnyPrivacyModel] = list(self.journalist.values())
        for models in self.measures.values():
            measuring += models.values()
        of_class = [model for model in measuring if isinstance(model, PrivacyModel)]
        of_release = [model for model in measuring if isinstance(model, ReleaseModel)]
        return replace(
            self.requested,
            models=(*self.requested.models, *of_class),
            of_release=(*self.requested.of_release, *of_release),
        )

    def needs_all(self, source: Source) -> bool:
        """Whether a model needs a column that the copy for counting lacks, such as a UUID that identifies people."""
        needed = self.every.sensitive.values()
        return any(column.kind == "other" and column.name in needed for column in source.table.columns)

    def findings(self, summary: Summary) -> Mapping[int, Finding]:
        """The findings by the id of their model, since two models can be equal."""
        return dict(zip(map(id, self.every.every), summary.findings, strict=True))

    def sensitive(
        self, findings: Mapping[int, Finding], summary: Summary, members: int, role: str
    ) -> tuple[Sensitive, ...]:
        """The figures of the sensitive columns."""
        homogeneous = {classes.column: classes for classes in summary.homogeneous}
        figures = []
        for column, models in self.measures.items():
            by_figure = {figure: findings[id(model)] for figure, model in models.items()}
            figures.append(_sensitive(column, by_figure, homogeneous[column], members, role))
        return tuple(figures)


def _journalist_models(population: Any) -> Mapping[str, AnyPrivacyModel]:
    """The models that measure the journalist's risks in a population; none without one."""
    if population is None:
        return {}
    return dict(zip(("highest", "mean"), journalist_risk(1, population, mean=1), strict=True))


def _check_one_population(every: PrivacyModels) -> None:
    named = [model.population for model in every.every if model.population is not None]
    different = {str(population) if isinstance(population, (str, Path)) else id(population) for population in named}
    if len(different) > 1:
        raise SpecError("a privacy model and `population` name different populations; name the same one in both")


def _sensitive(
    column: str, findings: Mapping[str, Finding], homogeneous: Homogeneous, members: int, role: str
) -> Sensitive:
    # Every class is safe by this model, unless it has a value that the whole table lacks.
    if findings["guess"].unsafe_classes:
        raise SourceError(
            f"{role} has values of {column!r} that the source lacks; name the source of the release, or "
            "leave out a column that was changed"
        )
    return attribution.sensitive(column, findings, homogeneous, members)


def _check_rows(before: Source, after: Whole) -> None:
    """SourceError if the release has no rows, or more than its source."""
    rows = _rows(before)
    released = _rows(after.source)
    if released == 0:
        raise _empty(after.name)
    if released > rows and waiting_changes(after.source, None) is None:
        raise SourceError(f"the release has {released:,} rows and the source {rows:,}; name the source of the release")


def _empty(name: str) -> SourceError:
    return SourceError(f"{name} has no rows; there is nothing to measure")


def _rows(source: Source) -> int:
    with Scratch(source.engine, "risk") as tables:
        return tables.count(source.table.relation)
