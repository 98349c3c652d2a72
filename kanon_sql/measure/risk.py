"""The risk in a table, measured: its classes by the models that are asked of them, its columns, and what both tell."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.measure.evidence import evidence_of
from kanon_sql.measure.labelled import Shown
from kanon_sql.measure.whole import Whole, shown, shown_columns
from kanon_sql.plan.models import check_models, check_unit, models_of
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.preflight import check_roles
from kanon_sql.plan.source import Source
from kanon_sql.privacy import Finding, PrivacyModel, PrivacyModels, ReleaseModel, journalist_risk
from kanon_sql.release.findings import Homogeneous, Summary, summarize
from kanon_sql.risk import attribution
from kanon_sql.risk.attribution import Sensitive
from kanon_sql.risk.classes import Classes, classes_of
from kanon_sql.risk.columns import count_columns, to_count
from kanon_sql.risk.identifiers import Contents, contents
from kanon_sql.risk.norms import norms
from kanon_sql.risk.separation import Separations, separations
from kanon_sql.risk.table import TableRisk
from kanon_sql.spec import Spec

Model = PrivacyModel | ReleaseModel
_SET_SECONDS = 30.0  # for small sets of columns; then those counted so far are shown


@dataclass(frozen=True)
class Measuring:
    """What is to be measured of each table. `people_unknown`: rows count, since nobody can tell the people."""

    spec: Spec
    population: Any
    sampling_fraction: float | None
    largest_set: int
    observer: Observer
    notes: list[str]
    people_unknown: bool = False

    def check(self, source: Source, role: str) -> tuple[str, ...]:
        """The columns that make the classes of a table; SpecError if it lacks one that is asked about."""
        names = shown_columns(self.spec, source.table)
        known = [column.name for column in source.table.columns]
        for name in (*names, *self.spec.sensitive):
            if name not in known:
                raise SpecError(f"{role} has no column {name!r}; name columns that it has: {', '.join(known)}")
        odd = next((c for c in source.table.columns if c.name in names and c.kind == "other"), None)
        if odd:
            raise SpecError(
                f"column {odd.name!r} of {role} is of type {odd.type}, which cannot be grouped; cast it to text, or "
                "leave it out of the quasi-identifiers"
            )
        return tuple(names)

    def is_release(self, before: Source, after: Whole, of_spec: bool) -> bool:
        """Whether a table may be a release of the source; a spec's target that is none is noted, another refused."""
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
        """A source and its release: people of both, or rows of both, so that one can be held against the other."""
        before = self.of("the source", name, source)
        after = self.of("the release", release.name, release.source, Whole(name, source), before.classes)
        if before.unit == after.unit:
            return before, after
        by_rows = replace(self, spec=self.spec.model_copy(update={"unit": None}), people_unknown=True)
        return by_rows.of_both(name, source, release)

    def of(
        self, role: str, name: str, source: Source, whole: Whole | None = None, of_whole: Classes | None = None
    ) -> TableRisk:
        """One table, compared with the whole that it was made of, and its classes."""
        asked = self._asked(role, source, whole, self.spec.unit)
        with contextlib.ExitStack() as stack:
            # Who cannot be told, or a population that will not do, is found before anything long is counted.
            asked, released, population = self._shown(stack, role, source, asked, whole)
            stack.enter_context(source.engine.transaction())
            tables = stack.enter_context(Scratch(source.engine, "risk"))
            rows, relation = to_count(tables, source.table)
            if rows == 0:
                raise _empty(name)
            here = replace(source, table=replace(source.table, relation=relation))
            seen, sets = self._columns(role, tables, here, asked.names, rows)
            counted = released if released is not source or asked.needs_all(source) else here
            classes, summary, certain = self._classes(role, counted, asked, whole, population)
        return self._described(role, name, asked, classes, summary, certain, sets, seen, of_whole)

    def _classes(
        self, role: str, source: Source, asked: _Asked, whole: Whole | None, population: Shown | None
    ) -> tuple[Classes, Summary, Mapping[str, int]]:
        """The classes by size, what they are by the models, and where people count whose values are certain."""
        self.observer.stage(f"Counting the classes of {role}")
        check_unit(asked.models, source)
        engine, relation = source.engine, source.table.relation
        classes, sensitive = classes_of(engine, relation, asked.names, asked.models.unit), self.spec.sensitive
        compared = None if whole is None else (whole.source.engine, whole.source.table.relation)
        summary = summarize(engine, relation, asked.names, asked.every, compared, population, sensitive)
        unit = asked.models.unit
        args = (engine, relation, asked.names)
        certain = {each: attribution.certain_people(*args, each, unit) for each in sensitive} if unit else {}
        return classes, summary, certain

    def _described(
        self,
        role: str,
        name: str,
        asked: _Asked,
        classes: Classes,
        summary: Summary,
        certain: Mapping[str, int],
        sets: Separations,
        seen: Contents,
        of_whole: Classes | None,
    ) -> TableRisk:
        found = asked.read(summary)
        return TableRisk(
            name,
            asked.models.unit,
            asked.models.k if any(each.class_size for each in asked.models.models) else None,
            classes,
            tuple(found[id(model)] for model in asked.models.every),
            self._journalist(role, {figure: found[id(model)] for figure, model in asked.journalist.items()}),
            self._uniqueness(classes, of_whole or classes),
            asked.sensitive(found, summary, classes.members, certain, role),
            sets,
            seen,
            norms(classes.smallest, "people" if asked.models.unit else "rows", seen, self.people_unknown),
            self.people_unknown,
        )

    def _journalist(self, role: str, found: Mapping[str, Finding]) -> dict[str, float | None]:
        """The figures of a table, all of whose rows stand for somebody in the population."""
        strangers = max((each.unsafe_rows for each in found.values()), default=0)
        if strangers:
            self.notes.append(
                f"{strangers:,} rows of {role} stand for nobody in the population, so that the journalist's risk is "
                "not known; name the population that the rows were drawn from"
            )
        return {name: None if strangers else each.achieved for name, each in found.items()}

    def _uniqueness(self, classes: Classes, whole: Classes) -> float | None:
        """The share of the population that is unique, of which a release has fewer rows than its source."""
        if self.sampling_fraction is None:
            return None
        return classes.uniqueness(self.sampling_fraction * min(1.0, classes.counted / whole.counted))

    def _asked(self, role: str, source: Source, whole: Whole | None, unit: str | None) -> _Asked:
        """The models that are asked of a table, and those that measure its columns; SpecError if they cannot be."""
        names = self.check(source, role)
        if whole is None:
            check_roles(self.spec.model_copy(update={"quasi_identifiers": dict.fromkeys(names)}), source.table)
        models = models_of(self.spec.model_copy(update={"unit": unit}), whole.source if whole else source)
        columns = [column for column in source.table.columns if column.name in self.spec.sensitive]
        measures = {column.name: attribution.models(column) for column in columns}
        asked = _Asked(names, replace(models, unit=unit), _journalist_models(self.population), measures)
        hidden = whole is not None and replace(asked.models, unit=None).hidden  # which the release does not have
        check_models(replace(asked.every, unit=None), whole.source.table if whole and hidden else source.table)
        _check_one_population(asked.every)
        return asked

    def _shown(
        self, stack: contextlib.ExitStack, role: str, source: Source, asked: _Asked, whole: Whole | None
    ) -> tuple[_Asked, Source, Shown | None]:
        """A table's rows, with their people where these count and can be told, and the population as it shows it."""
        try:
            evidence = None
            if whole and (self.population is None or asked.models.population is not None):
                evidence = stack.enter_context(evidence_of(source, self.spec, asked.names, asked.models))
            asked_of = shown(source, asked.names, self.spec, asked.every, whole, source.written_as, evidence=evidence)
            return asked, *stack.enter_context(asked_of)
        except (SourceError, SpecError) as error:
            if asked.models.unit is None or source.table.column(asked.models.unit):
                raise
            self.notes.append(
                f"rows are counted, not people, who are at more risk if they have several rows in a class: whose the "
                f"rows of {role} are is not known, for {error}"
            )
        return self._shown(stack, role, source, self._asked(role, source, whole, None), whole)

    def _columns(
        self, role: str, tables: Scratch, source: Source, names: Sequence[str], rows: int
    ) -> tuple[Contents, Separations]:
        """What the columns hold, and how far they tell rows apart."""
        engine, relation = source.engine, source.table.relation
        self.observer.stage(f"Counting the columns of {role}")
        counted = count_columns(engine, source.table, relation, rows, lambda *_: None)
        self.observer.stage(f"Looking for identifiers in {role}")
        seen = contents(tables, relation, counted)
        self.observer.stage(f"Counting the sets of columns of {role}")
        of_classes = [one for one in counted if one.name in names]
        sets = separations(tables, relation, of_classes, rows, self.largest_set, _SET_SECONDS)
        if not sets.complete:
            self.notes.append(f"time was up before all small sets of columns of {role} were counted")
        return seen, sets


@dataclass(frozen=True)
class _Asked:
    """What is asked of the classes of one table: the models of the spec, and those that measure it, by figure."""

    names: tuple[str, ...]
    models: PrivacyModels
    journalist: Mapping[str, Model]
    measures: Mapping[str, Mapping[str, PrivacyModel]]

    @property
    def every(self) -> PrivacyModels:
        more = [*self.journalist.values(), *(model for each in self.measures.values() for model in each.values())]
        of_class = (model for model in more if isinstance(model, PrivacyModel))
        of_release = (model for model in more if isinstance(model, ReleaseModel))
        models = self.models
        return replace(models, models=(*models.models, *of_class), of_release=(*models.of_release, *of_release))

    def needs_all(self, source: Source) -> bool:
        """Whether a column is asked for that a copy for counting lacks, such as a UUID that tells people apart."""
        needed = self.every.sensitive.values()
        return any(column.kind == "other" and column.name in needed for column in source.table.columns)

    def read(self, summary: Summary) -> Mapping[int, Finding]:
        """The finding of each model, by the model itself: equal ones may be asked twice."""
        return dict(zip(map(id, self.every.every), summary.findings, strict=True))

    def sensitive(
        self, found: Mapping[int, Finding], summary: Summary, members: int, certain: Mapping[str, int], role: str
    ) -> tuple[Sensitive, ...]:
        same = {each.column: each for each in summary.homogeneous}
        made = (
            _sensitive(column, {name: found[id(model)] for name, model in each.items()}, same[column], members, role)
            for column, each in self.measures.items()
        )
        return tuple(replace(each, certain=certain.get(each.column, each.certain)) for each in made)


def _journalist_models(population: Any) -> Mapping[str, Model]:
    """The models that measure the journalist's risks in a population; none without one."""
    if population is None:
        return {}
    return dict(zip(("highest", "mean"), journalist_risk(1, population, mean=1), strict=True))


def _check_one_population(every: PrivacyModels) -> None:
    asked = [each.population for each in every.every if each.population is not None]
    if len({str(each) if isinstance(each, (str, Path)) else id(each) for each in asked}) > 1:
        raise SpecError(
            "a privacy model and `population` name two populations, and one is counted; name the same in both"
        )


def _sensitive(column: str, found: Mapping[str, Finding], same: Homogeneous, members: int, role: str) -> Sensitive:
    # Every class is safe by this figure, unless it has a value that the whole table lacks.
    if found["guess"].unsafe_classes:
        raise SourceError(
            f"{role} has values of {column!r} that the source lacks; name the source that the release was made of, or "
            "leave out a column that was changed"
        )
    return attribution.sensitive(column, found, same, members)


def _check_rows(before: Source, after: Whole) -> None:
    """SourceError if what is called a release has no rows, or more than what is called its source."""
    rows, released = (_rows(each) for each in (before, after.source))
    if released == 0:
        raise _empty(after.name)
    if released > rows:
        raise SourceError(
            f"the release has {released:,} rows and the source {rows:,}; name the source that the release was made of"
        )


def _empty(name: str) -> SourceError:
    return SourceError(f"{name} has no rows; there is nobody at risk")


def _rows(source: Source) -> int:
    with Scratch(source.engine, "risk") as tables:
        return tables.count(source.table.relation)
