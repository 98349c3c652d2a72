"""Several models that a release satisfies together, and what they ask of a class."""

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
from kanon_sql.privacy.release_model import Alike, Least, ReleaseModel

_ROUNDING = 0.01  # of a row: no error of floating-point figures is as large
UNIT = "_unit"  # the people's column in our relations; no attribute's column begins with an underscore
POPULATION_UNIT = "_population_unit"  # and that of the population's people


@dataclass(frozen=True)
class PrivacyModels:
    """Models that a release satisfies together: a class is safe if every one of them says so.

    `unit`: the column that tells people apart, where people are counted instead of rows. `references`: the values of
    sensitive columns in the whole table, by the columns' names in our relations. `of_release`: models about all
    released classes together. `populated`: whether the rows of a population, which no release has, stand in the
    relation that is asked; `population_unit`: whether with their people. `redrawn`: models that classes are not chosen
    by, since they meet them only after their sensitive values have been redrawn.
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
        """What classes are chosen by where the models of sensitive values are met by redrawing them."""
        redrawn = tuple(model for model in self.models if model.sensitive is not None)
        return replace(self, models=tuple(m for m in self.models if m.sensitive is None), redrawn=redrawn)

    @property
    def after_redrawing(self) -> PrivacyModels:
        """All that a release is held to."""
        return replace(self, models=(*self.models, *self.redrawn), redrawn=()) if self.redrawn else self

    @property
    def every(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
        """All models: those that a class meets by itself first."""
        return *self.models, *self.of_release

    @property
    def requested(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
        """All models but the class sizes that are ours, and stand for those about the whole release."""
        return tuple(model for model in self.every if model.name not in (_CLASS_SIZE, _POPULATION_SIZE))

    @property
    def name(self) -> str:
        """What the models are called together."""
        return " and ".join(model.name for model in self.every)

    @property
    def k(self) -> int:
        """The rows that a class must have, whatever is in them; 1 if no model says."""
        return max((model.class_size or 1 for model in self.models), default=1)

    @property
    def requested_k(self) -> int:
        """The same, without class sizes that stand for models about the whole release."""
        return max((model.class_size or 1 for model in self.requested), default=1)

    @property
    def people(self) -> int:
        """The rows (or people) of a population that a class must stand for; 1 if no model says."""
        return max((model.population_size or 1 for model in self.models), default=1)

    @property
    def k_alone(self) -> bool:
        """Whether nothing but its number of rows makes a class safe."""
        alone = self.unit is None and all(model.class_size is not None for model in self.models)
        return alone and not self.undecided

    @property
    def undecided(self) -> tuple[ReleaseModel, ...]:
        """The models about the whole release that the least size of a class does not imply."""
        sizes = ((model, self.k if model.population is None else self.people) for model in self.of_release)
        return tuple(model for model, size in sizes if model.sufficient_size > size)

    @property
    def size(self) -> Predicate:
        """The size of a class: its rows, or the people in it."""
        return Predicate("SUM(n)", unit=UNIT if self.unit else None)

    @property
    def size_in_population(self) -> Predicate:
        """How many of a population a class stands for: its rows, or its people; 0 where no risk is of a population."""
        if all(model.population is None for model in self.of_release):
            return Predicate("0")
        return Predicate("SUM(population)", population_unit=POPULATION_UNIT if self.population_unit else None)

    @property
    def monotone(self) -> bool:
        """Whether predictive tagging is sound with any suppression limit."""
        return self.monotone_for(suppresses=True)

    def monotone_for(self, suppresses: bool) -> bool:
        """Whether one node's verdict tells of others, where rows may be suppressed or where none may."""
        return not self.not_monotone(suppresses)

    @property
    def _judged(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
        return *self.models, *self.undecided

    def _monotone(self, model: PrivacyModel | ReleaseModel) -> Monotone:
        """What one of the models tells of other nodes; people do not add up where somebody is in several classes."""
        return "never" if self.unit and model.monotone == "without suppression" else model.monotone

    def _those(self, monotone: Monotone) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if self._monotone(model) == monotone)

    @property
    def mergeable(self) -> bool:
        """Whether all nodes above one are anonymous if it is and suppresses no row."""
        return self.monotone_for(suppresses=False)

    @property
    def prunes(self) -> bool:
        """Whether an unsafe class may tell of the nodes below it, see `unavoidable`."""
        return len(self._those("never")) < len(self.models) or self.weighs

    @property
    def weighs(self) -> bool:
        """Whether the sizes of a node's classes tell how many rows all nodes below it have to suppress."""
        alike = not self.unit and all(model.monotone == "always" for model in self.models)
        return alike and any(model.unavoidable for model in self.undecided)

    def unavoidable_rows(self, classes: Sequence[Alike]) -> int:
        """How many rows of these classes all nodes below have to suppress for models about the whole release."""
        known = (model for model in self.undecided if model.unavoidable)
        return max((model.unavoidable(model.histogram(classes)) for model in known if model.unavoidable), default=0)

    def not_monotone(self, suppresses: bool) -> str:
        """Which of the models are not monotone, as a clause; empty if all are."""
        sound = ("always",) if suppresses else ("always", "without suppression")
        odd = [model.name for model in self._judged if self._monotone(model) not in sound]
        where = " where rows may be suppressed" if suppresses else ""
        return f"{' and '.join(odd)} {'is' if len(odd) == 1 else 'are'} not monotone{where}" if odd else ""

    def pruned_by(self, suppresses: bool) -> str | None:
        """What a search rules nodes out by where a model is not monotone; None if all are.

        >>> from kanon_sql.privacy import k_anonymity, l_diversity
        >>> all_of(k_anonymity(5), l_diversity("ill", 2, "entropy"), unit="id").pruned_by(True)[43:]
        'where rows may be suppressed; nodes are ruled out by k-anonymity alone'
        """
        if not (odd := self.not_monotone(suppresses)):
            return None
        if self._those("without suppression") or self.weighs:
            return (
                f"{odd}; a node is ruled out where too many rows stay at risk however the classes above it are divided"
            )
        by = " and ".join(model.name for model in self._those("always"))
        return f"{odd}; {f'nodes are ruled out by {by} alone' if by else 'no node rules out another'}"

    @cached_property
    def sensitive(self) -> Mapping[str, str]:
        """The columns whose values are counted, by the names that they have in our relations; the people's last.

        >>> from kanon_sql.privacy import k_anonymity
        >>> dict(all_of(k_anonymity(5), unit="patient").sensitive)
        {'_unit': 'patient'}
        """
        columns = dict.fromkeys(model.sensitive for model in self.models if model.sensitive is not None)
        # An underscore first: no attribute's column has one.
        named = {f"_sensitive_{i}": column for i, column in enumerate(columns)}
        return MappingProxyType(named | ({UNIT: self.unit} if self.unit else {}))

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that are counted and not released: those of models that say so, and the people's."""
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
        known = {each.sensitive: each.hierarchy for each in self.models if each.hierarchy}
        return {name: _groups(known[column]) for name, column in self.sensitive.items() if column in known}

    def referring(self, references: Mapping[str, Reference]) -> PrivacyModels:
        """The same models, comparing with the whole table as these relations have it."""
        return replace(self, references=MappingProxyType(dict(references)))

    def at_least(self, least: Least) -> PrivacyModels:
        """The same models for classes of so many rows (or people) or more: it is asked of every class.

        >>> from kanon_sql.privacy import marketer_risk
        >>> all_of(marketer_risk(0.05)).at_least(Least(12)).safe.values
        {'size': 12}
        """
        sizes = (_class_size(least.size),) if least.size > self.k else ()
        people = (_population_size(least.people, self.population),) if least.people > self.people else ()
        return replace(self, models=(*self.models, *sizes, *people)) if sizes or people else self

    def least_class_size(self, classes: Sequence[Alike]) -> Least:
        """The least size such that the classes of that size or more meet the models about the whole release.

        Where some go by the rows of a class and some by those of a population, what is left out for the ones may leave
        too many classes at risk by the others: each is asked again, until all hold.
        """
        least, before = Least(), None
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
        """The same models where nobody looks at all classes together: each is so large that it does not matter."""
        least = Least()
        for model in self.of_release:
            least = _raised(least, model, model.sufficient_size)
        return self.at_least(least)

    @property
    def of_release_alone(self) -> PrivacyModels | None:
        """What can be asked of a release without its source: people are rows there, and nothing is compared.

        Of the models that count people those that more rows than people do no harm.
        """
        known = (model for model in self.models if not self.unit or model.monotone == "always")
        models = tuple(m for m in known if not m.compares and m.population is None and m.released)
        # A class has no fewer rows than people, which lowers a risk, but not every estimate.
        asked = (model for model in self.of_release if not self.unit or model.monotone != "never")
        of_release = tuple(model for model in asked if model.population is None)
        return replace(self, models=models, unit=None, of_release=of_release) if models or of_release else None

    @property
    def population(self) -> Any:
        """The population that a class is compared with, None where no model asks for one."""
        return next((model.population for model in self.every if model.population is not None), None)

    @property
    def every_class(self) -> bool:
        """Whether a class of the population that no row of the table is in must be safe too."""
        return any(model.every_class for model in self.models)

    def populating(self, unit: bool) -> PrivacyModels:
        """The same models, asking a relation that has the population's rows too; `unit`: with their people."""
        return replace(self, populated=True, population_unit=unit)

    @property
    def rows_alone(self) -> Predicate:
        """What the models ask of a class's rows, whatever their values: a class that fails this is not safe."""
        asked = [model for model in self.models if model.sensitive is None and model.population is None]
        return PrivacyModels(tuple(asked)).safe if asked else Predicate("SUM(n) >= 1")

    @property
    def always_monotone(self) -> Predicate:
        """What the models ask that are monotone whatever is suppressed: a part of a class is unsafe if the class is."""
        return self._together(self._those("always"))

    @property
    def unavoidable(self) -> Predicate:
        """How many rows of an unsafe class are in unsafe classes however it is divided, by what is no part of that.

        Classes that are safe below, merged, are a safe part of the class, and the rest of it is at risk: so many rows
        at least as have to go until the class is safe.
        """
        figures = [self._unavoidable(model) for model in self._those("without suppression")]
        return Predicate("0", also=tuple(figures), of_figures=True)

    def _unavoidable(self, model: PrivacyModel) -> Predicate:
        safe = self.predicate(model)
        figure = "1" if model.unavoidable is None else f"GREATEST(CEIL({model.unavoidable} - {_ROUNDING}), 1)"
        known = "_known" if "_known" in safe.columns else "TRUE"
        return replace(safe, text=f"CASE WHEN {safe.text} THEN 0 WHEN {known} THEN {figure} ELSE 1 END")

    def needed_of_all(self, model: PrivacyModel, may_suppress: int) -> Predicate | None:
        """What one of the models asks of all rows as one class, without which no release meets it; None if nothing."""
        monotone = self._monotone(model)
        if monotone == "always" or (monotone == "without suppression" and not may_suppress):
            return self.predicate(model)
        if monotone == "never":
            return None
        rows = self._unavoidable(model)
        return replace(rows, text=f"{rows.text} <= {may_suppress}")

    @property
    def safe(self) -> Predicate:
        """The condition on a class that all models make together; one without a row is nothing to release."""
        together = self._together(self.models)
        some = (Predicate("SUM(n) >= 1", populated=True),) if self.populated else ()
        return replace(together, also=(*together.also, *some))

    def _together(self, models: Sequence[PrivacyModel]) -> Predicate:
        first, *others = (self.predicate(model) for model in models or (_class_size(1),))
        return replace(first, also=tuple(others))

    def predicate(self, model: PrivacyModel, text: str | None = None) -> Predicate:
        """What one of the models asks of a class; or another text in its names."""
        counted = next((name for name, column in self.sensitive.items() if column == model.sensitive), None)
        unit = UNIT if self.unit else None
        reference = self.references.get(counted) if counted else None
        columns, safe = dict(model.columns), model.safe
        known = [model.known, model.one_value_each if self.unit else None]
        if conditions := " AND ".join(filter(None, known)):
            columns, safe = columns | {"_known": conditions}, f"_known AND ({safe})"
        people = POPULATION_UNIT if self.population_unit else None
        return Predicate(text or safe, model.parameters, columns, counted, unit, reference, self.populated, people)


def _groups(hierarchy: Hierarchy) -> Groups:
    levels = range(1, hierarchy.height)
    return tuple(zip(hierarchy.values, *(hierarchy.codes(level) for level in levels), strict=False))


_CLASS_SIZE, _POPULATION_SIZE = "class size", "class size in the population"


def _class_size(size: int) -> PrivacyModel:
    columns, safe = {"rows": "SUM(n)"}, "rows >= $size"
    return PrivacyModel(_CLASS_SIZE, {"size": size}, columns, safe, None, "always", "MIN(rows)", size)


def _population_size(size: int, population: Any) -> PrivacyModel:
    return replace(
        _class_size(size),
        name=_POPULATION_SIZE,
        columns={"rows": "SUM(population)"},
        class_size=None,
        population=population,
        population_size=size,
    )


def _raised(least: Least, model: ReleaseModel, size: int) -> Least:
    """The least sizes of a class where a model asks for this one as well."""
    if model.population is None:
        return least._replace(size=max(least.size, size))
    return least._replace(people=max(least.people, size))


def all_of(
    *given: PrivacyModel | ReleaseModel | tuple[PrivacyModel | ReleaseModel, ...], unit: str | None = None
) -> PrivacyModels:
    """The models together, counting rows or the people that a column tells apart; SpecError if there is none."""
    models = [model for each in given for model in (each if isinstance(each, tuple) else (each,))]
    if not models:
        raise SpecError("no privacy model is asked for; give one, such as k_anonymity(5)")
    for model in models:
        if not isinstance(model, (PrivacyModel, ReleaseModel)):
            raise SpecError(f"{model!r} is not a privacy model; give values such as k_anonymity(5)")
    of_class = tuple(model for model in models if isinstance(model, PrivacyModel))
    return PrivacyModels(of_class, unit, of_release=tuple(m for m in models if isinstance(m, ReleaseModel)))
