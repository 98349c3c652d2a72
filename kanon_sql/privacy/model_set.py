"""Several models that a release satisfies together, and their condition on a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy.model import PrivacyModel
from kanon_sql.privacy.parameters import Monotone
from kanon_sql.privacy.predicate import Groups, Predicate, Reference
from kanon_sql.privacy.release_model import ClassCount, LeastSize, ReleaseModel

_ROUNDING = 0.01  # of a row: larger than any floating-point error
UNIT = "_unit"  # the unit's column in our relations; attributes' columns never begin with an underscore
POPULATION_UNIT = "_population_unit"  # the same for the population
PEOPLE = "_people"  # in kinds of classes, the column with the people of a class
_CLASS_SIZE, _POPULATION_SIZE = "class size", "class size in the population"


@dataclass(frozen=True)
class PrivacyModels:
    """Models that a release satisfies together: a class is safe if it is safe by all of them.

    `unit`: the column that identifies people, where people are counted instead of rows. `references`: the values of
    sensitive columns in the whole table, by the columns' names in our relations. `of_release`: models about all
    released classes together. `populated`: whether the relation also contains the rows of a population, which are not
    released; `population_unit`: whether with their people. `redrawn`: models that do not affect the choice of classes,
    since classes satisfy them only after redrawing sensitive values.
    """

    models: tuple[PrivacyModel, ...]
    unit: str | None = None
    references: Mapping[str, Reference] = field(default_factory=dict)
    of_release: tuple[ReleaseModel, ...] = ()
    populated: bool = False
    population_unit: bool = False
    redrawn: tuple[PrivacyModel, ...] = ()

    @property
    def before_redrawing(self) -> PrivacyModels:
        """The models that choose classes, where redrawing satisfies the models of sensitive values."""
        redrawn = tuple(model for model in self.models if model.sensitive is not None)
        return replace(self, models=tuple(m for m in self.models if m.sensitive is None), redrawn=redrawn)

    @property
    def after_redrawing(self) -> PrivacyModels:
        """All models that a release must satisfy."""
        return replace(self, models=(*self.models, *self.redrawn), redrawn=()) if self.redrawn else self

    @property
    def every(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
        """All models, models about single classes first."""
        return *self.models, *self.of_release

    @property
    def requested(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
        """All models except our own class sizes, which replace models about the whole release."""
        return tuple(model for model in self.every if model.name not in (_CLASS_SIZE, _POPULATION_SIZE))

    @property
    def name(self) -> str:
        """The names of the models."""
        return " and ".join(model.name for model in self.every)

    @property
    def k(self) -> int:
        """The rows that a class needs at least, whatever their values; 1 if no model requires more."""
        return max((model.class_size or 1 for model in self.models), default=1)

    @property
    def requested_k(self) -> int:
        """The same, without class sizes that replace models about the whole release."""
        return max((model.class_size or 1 for model in self.requested), default=1)

    @property
    def people(self) -> int:
        """The rows (or people) of a population that a class must correspond to; 1 if no model requires more."""
        return max((model.population_size or 1 for model in self.models), default=1)

    @property
    def k_alone(self) -> bool:
        """Whether only the number of its rows decides whether a class is safe."""
        alone = self.unit is None and all(model.class_size is not None for model in self.models)
        return alone and not self.undecided

    @property
    def people_alone(self) -> bool:
        """Whether only the number of its people decides whether a class is safe."""
        alone = self.unit is not None and all(model.class_size is not None for model in self.models)
        return alone and not self.undecided

    @property
    def undecided(self) -> tuple[ReleaseModel, ...]:
        """The models about the whole release that the minimum class size does not imply."""
        sizes = ((model, self.k if model.population is None else self.people) for model in self.of_release)
        return tuple(model for model, size in sizes if model.sufficient_size > size)

    @property
    def size(self) -> Predicate:
        """The size of a class: its rows, or the people in it."""
        return Predicate("SUM(n)", unit=UNIT if self.unit else None)

    @property
    def size_in_population(self) -> Predicate:
        """The rows or people of a population that a class corresponds to; 0 without models of journalist risk."""
        if all(model.population is None for model in self.of_release):
            return Predicate("0")
        return Predicate("SUM(population)", population_unit=POPULATION_UNIT if self.population_unit else None)

    @property
    def monotone(self) -> bool:
        """Whether predictive tagging is sound with any suppression limit."""
        return self.monotone_for(suppresses=True)

    def monotone_for(self, suppresses: bool) -> bool:
        """Whether the verdict on a node implies verdicts on others, with or without suppression."""
        return not self.not_monotone(suppresses)

    def _monotone(self, model: PrivacyModel | ReleaseModel) -> Monotone:
        """How far a model is monotone; people do not add up, since a person can be in several classes."""
        return "never" if self.unit and model.monotone == "without suppression" else model.monotone

    def _with_monotone(self, monotone: Monotone) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if self._monotone(model) == monotone)

    @property
    def mergeable(self) -> bool:
        """Whether all nodes above an anonymous node without suppressed rows are anonymous."""
        return self.monotone_for(suppresses=False)

    @property
    def prunes(self) -> bool:
        """Whether an unsafe class can rule out nodes below it, see `unavoidable`."""
        return len(self._with_monotone("never")) < len(self.models) or self.weighs

    @property
    def weighs(self) -> bool:
        """Whether the sizes of a node's classes bound the rows that all nodes below it have to suppress."""
        monotone = not self.unit and all(model.monotone == "always" for model in self.models)
        return monotone and any(model.unavoidable for model in self.undecided)

    def unavoidable_rows(self, classes: Sequence[ClassCount]) -> int:
        """The rows of these classes that all nodes below have to suppress at least for models about the release."""
        rows = (model.unavoidable(model.histogram(classes)) for model in self.undecided if model.unavoidable)
        return max(rows, default=0)

    def not_monotone(self, suppresses: bool) -> str:
        """A clause that names the models that are not monotone; empty if all are."""
        sound = ("always",) if suppresses else ("always", "without suppression")
        judged: tuple[PrivacyModel | ReleaseModel, ...] = (*self.models, *self.undecided)
        odd = [model.name for model in judged if self._monotone(model) not in sound]
        where = " where rows may be suppressed" if suppresses else ""
        return f"{' and '.join(odd)} {'is' if len(odd) == 1 else 'are'} not monotone{where}" if odd else ""

    def pruned_by(self, suppresses: bool) -> str | None:
        """How a search rules out nodes although a model is not monotone; None if all models are.

        >>> from kanon_sql.privacy import k_anonymity, l_diversity
        >>> all_of(k_anonymity(5), l_diversity("ill", 2, "entropy"), unit="id").pruned_by(True)[43:]
        'where rows may be suppressed; nodes are ruled out by k-anonymity alone'
        """
        if not (odd := self.not_monotone(suppresses)):
            return None
        if self._with_monotone("without suppression") or self.weighs:
            return (
                f"{odd}; a node is ruled out where too many rows stay at risk however the classes above it are divided"
            )
        by = " and ".join(model.name for model in self._with_monotone("always"))
        return f"{odd}; nodes are ruled out by {by} alone" if by else f"{odd}; no node rules out another"

    @cached_property
    def sensitive(self) -> Mapping[str, str]:
        """The columns whose values are counted, by their names in our relations; the unit's last.

        >>> from kanon_sql.privacy import k_anonymity
        >>> dict(all_of(k_anonymity(5), unit="patient").sensitive)
        {'_unit': 'patient'}
        """
        columns = dict.fromkeys(model.sensitive for model in self.models if model.sensitive is not None)
        named = {f"_sensitive_{i}": column for i, column in enumerate(columns)}
        return MappingProxyType(named | ({UNIT: self.unit} if self.unit else {}))

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that are counted but not released: the columns of models with `released=False`, and the unit."""
        columns = (model.sensitive for model in (*self.models, *self.redrawn) if not model.released)
        return tuple(dict.fromkeys((*filter(None, columns), *((self.unit,) if self.unit else ()))))

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns whose values are compared with the whole table, by their names in our relations."""
        compared = {model.sensitive for model in self.models if model.compares}
        return tuple(name for name, column in self.sensitive.items() if column in compared)

    @property
    def groups(self) -> Mapping[str, Groups]:
        """The rows of the hierarchies by which values are compared, by their columns' names in our relations."""
        hierarchies = {model.sensitive: model.hierarchy for model in self.models if model.hierarchy}
        columns = {name: column for name, column in self.sensitive.items() if column in hierarchies}
        return {name: _groups(hierarchies[column]) for name, column in columns.items()}

    def with_references(self, references: Mapping[str, Reference]) -> PrivacyModels:
        """The same models, comparing with the whole table in these relations."""
        return replace(self, references=MappingProxyType(dict(references)))

    def at_least(self, least: LeastSize) -> PrivacyModels:
        """The same models, with a minimum number of rows (or people) for every class.

        >>> from kanon_sql.privacy import marketer_risk
        >>> all_of(marketer_risk(0.05)).at_least(LeastSize(12)).safe.values
        {'size': 12}
        """
        sizes = (_class_size(least.size),) if least.size > self.k else ()
        people = (_population_size(least.people, self.population),) if least.people > self.people else ()
        return replace(self, models=(*self.models, *sizes, *people)) if sizes or people else self

    def least_class_size(self, classes: Sequence[ClassCount]) -> LeastSize:
        """The minimum size of released classes such that they satisfy the models about the whole release.

        Some models can depend on the rows of a class and others on the rows of a population. Suppressing classes for
        the former can violate the latter, so the size is raised until it stays the same for all models.
        """
        least = LeastSize()
        before = None
        while least != before:
            before = least
            for model in self.of_release:
                size = model.least_class_size(model.histogram(least.among(classes)))
                least = _raised(least, model, size)
            if len({model.population is None for model in self.of_release}) < 2:
                break
        return least

    @property
    def of_classes(self) -> PrivacyModels:
        """Models about single classes that imply these: class sizes that satisfy the models about the whole release."""
        least = LeastSize()
        for model in self.of_release:
            least = _raised(least, model, model.sufficient_size)
        return self.at_least(least)

    @property
    def without_source(self) -> PrivacyModels | None:
        """The models that can be checked without the source: they count rows, and compare nothing with the table.

        With a unit, only models that stay necessary conditions when rows are counted instead of people.
        """
        checked = (model for model in self.models if not self.unit or model.monotone == "always")
        models = tuple(m for m in checked if not m.compares and m.population is None and m.released)
        # A class has at least as many rows as people, which lowers a risk, but not every estimate.
        of_all = (model for model in self.of_release if not self.unit or model.monotone != "never")
        of_release = tuple(model for model in of_all if model.population is None)
        return replace(self, models=models, unit=None, of_release=of_release) if models or of_release else None

    @property
    def population(self) -> Any:
        """The population of the models, None without one."""
        return next((model.population for model in self.every if model.population is not None), None)

    @property
    def every_class(self) -> bool:
        """Whether classes of the population without a row in the table must be safe, too."""
        return any(model.every_class for model in self.models)

    def with_population(self, unit: bool) -> PrivacyModels:
        """The same models for a relation that also contains the population's rows; `unit`: with their people."""
        return replace(self, populated=True, population_unit=unit)

    @property
    def rows_alone(self) -> Predicate:
        """The condition on the number of a class's rows; a class that violates it is not safe."""
        models = tuple(model for model in self.models if model.sensitive is None and model.population is None)
        return PrivacyModels(models).safe if models else Predicate("SUM(n) >= 1")

    @property
    def always_monotone(self) -> Predicate:
        """The condition of the models that are always monotone: every part of an unsafe class is unsafe."""
        return self._together(self._with_monotone("always"))

    @property
    def unavoidable(self) -> Predicate:
        """How many rows of an unsafe class are at risk however it is divided, by the models not in `always_monotone`.

        The safe classes below an unsafe class form a safe part of it when merged. So at least as many rows are at risk
        as have to be removed until the class is safe.
        """
        figures = [self._unavoidable(model) for model in self._with_monotone("without suppression")]
        return Predicate("0", also=tuple(figures), of_figures=True)

    def _unavoidable(self, model: PrivacyModel) -> Predicate:
        safe = self.predicate(model)
        figure = "1" if model.unavoidable is None else f"GREATEST(CEIL({model.unavoidable} - {_ROUNDING}), 1)"
        complete = "_known" if "_known" in safe.columns else "TRUE"
        return replace(safe, text=f"CASE WHEN {safe.text} THEN 0 WHEN {complete} THEN {figure} ELSE 1 END")

    def needed_of_all(self, model: PrivacyModel, may_suppress: int) -> Predicate | None:
        """The condition on all rows as one class that every release of the model implies; None without one."""
        monotone = self._monotone(model)
        if monotone == "always" or (monotone == "without suppression" and not may_suppress):
            return self.predicate(model)
        if monotone == "never":
            return None
        rows = self._unavoidable(model)
        return replace(rows, text=f"{rows.text} <= {may_suppress}")

    @property
    def safe(self) -> Predicate:
        """The condition of all models on a class; a class without a released row is not safe."""
        together = self._together(self.models)
        some = (Predicate("SUM(n) >= 1", populated=True),) if self.populated else ()
        return replace(together, also=(*together.also, *some))

    def _together(self, models: Sequence[PrivacyModel]) -> Predicate:
        first, *others = (self.predicate(model) for model in models or (_class_size(1),))
        return replace(first, also=tuple(others))

    def predicate(self, model: PrivacyModel, text: str | None = None) -> Predicate:
        """The condition of one model on a class, or another text that uses its names."""
        counted = next((name for name, column in self.sensitive.items() if column == model.sensitive), None)
        unit = UNIT if self.unit else None
        reference = self.references.get(counted) if counted else None
        columns = dict(model.columns)
        safe = model.safe
        complete = [model.complete, model.one_value_per_person if self.unit else None]
        if conditions := " AND ".join(filter(None, complete)):
            columns = columns | {"_known": conditions}
            safe = f"_known AND ({safe})"
        return Predicate(
            text or safe,
            model.parameters,
            columns,
            counted=counted,
            unit=unit,
            reference=reference,
            populated=self.populated,
            population_unit=POPULATION_UNIT if self.population_unit else None,
        )


def _groups(hierarchy: Hierarchy) -> Groups:
    levels = range(1, hierarchy.height)
    return tuple(zip(hierarchy.values, *(hierarchy.codes(level) for level in levels), strict=False))


def _class_size(size: int) -> PrivacyModel:
    return PrivacyModel(
        _CLASS_SIZE,
        {"size": size},
        columns={"rows": "SUM(n)"},
        safe="rows >= $size",
        monotone="always",
        achieved="MIN(rows)",
        class_size=size,
    )


def _population_size(size: int, population: Any) -> PrivacyModel:
    return replace(
        _class_size(size),
        name=_POPULATION_SIZE,
        columns={"rows": "SUM(population)"},
        class_size=None,
        population=population,
        population_size=size,
    )


def _raised(least: LeastSize, model: ReleaseModel, size: int) -> LeastSize:
    """The least sizes, raised to the size that a model requires."""
    if model.population is None:
        return least._replace(size=max(least.size, size))
    return least._replace(people=max(least.people, size))


def all_of(
    *models_or_tuples: PrivacyModel | ReleaseModel | tuple[PrivacyModel | ReleaseModel, ...], unit: str | None = None
) -> PrivacyModels:
    """The models together, counting rows or the people in a column; SpecError without a model."""
    models: list[PrivacyModel | ReleaseModel] = []
    for item in models_or_tuples:
        models += item if isinstance(item, tuple) else (item,)
    if not models:
        raise SpecError("there is no privacy model; add one, such as k_anonymity(5)")
    for model in models:
        if not isinstance(model, (PrivacyModel, ReleaseModel)):
            raise SpecError(f"{model!r} is not a privacy model; use values such as k_anonymity(5)")
    of_class = tuple(model for model in models if isinstance(model, PrivacyModel))
    return PrivacyModels(of_class, unit, of_release=tuple(m for m in models if isinstance(m, ReleaseModel)))
