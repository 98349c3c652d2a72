"""A privacy model: what must be true of every released class, and what one verdict tells of other nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any, get_args

from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy.parameters import Monotone, Parameter, required_of
from kanon_sql.privacy.release_model import Alike, Least, ReleaseModel
from kanon_sql.relation import Relation

Groups = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Spread:
    """Columns that count a row's values side by side, so that a class adds them up in one GROUP BY.

    `overall`: the rows of the whole table, by what is counted: each value (`c`), the values up to each (`c_to`), each
    group (`c_1`, …). `columns`: the columns with a row's own. Each holds as many counts as there is room for, the first
    in its lowest bits: none exceeds the `size` of the table, so that sums of such numbers are the sums of all counts.
    """

    columns: Mapping[str, tuple[str, ...]] = field(hash=False)
    overall: Mapping[str, tuple[int, ...]] = field(hash=False)
    size: int

    @property
    def values(self) -> int:
        """How many values the table has."""
        return len(self.overall["c"])

    @property
    def bits(self) -> int:
        """The bits that a count takes."""
        return self.size.bit_length()

    @property
    def in_one(self) -> int:
        """How many counts a whole number of 64 bits holds."""
        return 63 // self.bits


@dataclass(frozen=True)
class Reference:
    """The values of a sensitive column in the whole table, one row each; see `sql/privacy/reference.sql`.

    `nullable`: whether its `value` may be NULL, as the values themselves are; codes are not. `groups`: the rows of a
    hierarchy, each a value and the number of its group on level 1, 2, … `spread`: the columns that count every value of
    the reference, in a relation that has them.
    """

    relation: Relation
    nullable: bool = False
    groups: Groups = ()
    spread: Spread | None = None


@dataclass(frozen=True)
class Predicate:
    """A condition of ours as SQL text, `$name` standing for its values: `Predicate("SUM(n) >= $k", {"k": 5})`.

    `columns`: names in the text that stand for aggregates of a class. `counted`: the column whose values `c` counts
    the rows of, one row per value. `unit`: the column of the people that are counted instead of rows. `reference`: what
    the values of the `counted` column are in the whole table. `populated`: whether rows of a population (n = 0) stand
    among those of the table; `population_unit`: the column of its people, where these are counted. `also`: conditions
    that must hold too, each with names of its own; or `of_figures`, figures of which
    the greatest counts.
    """

    text: str
    values: Mapping[str, Parameter] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    counted: str | None = None
    unit: str | None = None
    reference: Reference | None = None
    populated: bool = False
    population_unit: str | None = None
    also: tuple[Predicate, ...] = ()
    of_figures: bool = False


@dataclass(frozen=True)
class PrivacyModel:
    """A promise about every released equivalence class: what is counted of a class, and when it is safe.

    `columns` names aggregates of a class in SQL, over `n`, the rows that are added up (so `SUM(n)`), and, where
    `sensitive` names a column, over what is known of each of its values in the class, NULL among them:

    - `c`, its rows (`MAX(c)`, `COUNT(c)`, `SUM(c * LN(c))`), and `size`, the rows of all values; `LARGEST(c, 2)` adds
      up those of the two most frequent values;
    - `value`, what it is, and of the whole table `overall_c`, `overall_size` and `overall_values`, how many there are;
    - `c_to` and `overall_c_to`, the rows up to the value by the order of values: then a class has every value of the
      table, those that it lacks with c = 0;
    - with a `hierarchy` of the column, `c_1` and `overall_c_1`, the rows of the value's group on level 1 (2, …), and
      `first_1`, true of one value of each group in the class.

    `safe` is a condition on these names and `$parameters`; unknown counts as unsafe.

    With a `population`, the name of a table or file that the source is a sample of, or the data themselves,
    `SUM(population)` is the rows of the population that a class stands for: those that are generalized to it.
    `every_class` then holds the rows of the population too that no released row stands for, as a class with no rows.

    Where people are counted instead of rows (`all_of(…, unit=…)`), `SUM(n)` is the people of the class, `c` those with
    the value, and `SUM(population)` the people of the population, if it has that column.

    `monotone` says what one node tells of more general ones. `always`: a class stays safe whatever is merged with it.
    `without suppression`: safe classes merged are safe, but an unsafe one may spoil them, so that nodes tell of others
    only where no row may be suppressed. `never`: neither; every node is judged. A model that claims too much gets
    releases that are safe all the same, but not the best ones.

    `achieved`: an aggregate over all classes, of the names in `columns`, that says what a release reaches, such as
    `MAX(most / rows)`. `class_size`: set where a class is safe if and only if it has so many rows; `population_size`:
    where it is if and only if it stands for so many of the population.

    `unavoidable`: of an unsafe class, in the names of `columns`, how many rows have to go at least until what is left
    is safe; where nothing is said, one. A search with suppression prunes by it where safe classes merged are safe:
    however an unsafe class is divided below, so many of its rows stay in unsafe classes.

    >>> PrivacyModel(
    ...     "at most",
    ...     {"share": 0.8},
    ...     columns={"rows": "SUM(n)", "most": "MAX(c)"},
    ...     safe="most <= $share * rows",
    ...     sensitive="salary-class",
    ...     monotone="without suppression",
    ... ).required
    0.8
    """

    name: str
    parameters: Mapping[str, Parameter]
    columns: Mapping[str, str]
    safe: str
    sensitive: str | None = None
    monotone: Monotone = "never"
    achieved: str | None = None
    class_size: int | None = None
    hierarchy: Hierarchy | None = None
    population: Any = field(default=None, compare=False)
    every_class: bool = False
    unavoidable: str | None = None
    population_size: int | None = None

    def __post_init__(self) -> None:
        if self.monotone not in get_args(Monotone):
            raise SpecError(
                f"{self.name}: monotone is {self.monotone!r}; it must be one of {', '.join(get_args(Monotone))}"
            )

    @property
    def compares(self) -> bool:
        """Whether more must be known of a value than its rows in a class, such as its rows in the whole table."""
        return any(_OF_TABLE.fullmatch(word) for word in self._words)

    @property
    def in_order(self) -> bool:
        """Whether the order of the values means something to it."""
        return bool(self._words & {"c_to", "overall_c_to"})

    @property
    def known(self) -> str | None:
        """The condition that all is known of a class's values; SQL would add up what is known, and call it safe."""
        if not self.compares:
            return None
        return "SUM(c) = MAX(size)" if "c_to" in self._words else "COUNT(c) = COUNT(overall_c)"

    @property
    def _words(self) -> set[str]:
        return {word for text in self.columns.values() for word in re.findall(r"\w+", text)}

    @property
    def required(self) -> Any:
        """The model's parameter, or all of them where it has several."""
        return required_of(self.parameters)

    def described(self) -> dict[str, Any]:
        """The model as a mapping for JSON: its fields by name, without a hierarchy, a population by its name alone.

        >>> from kanon_sql.privacy import k_anonymity
        >>> PrivacyModel(**k_anonymity(5).described()) == k_anonymity(5)
        True
        """
        named = None if self.population is None else str(self.population) if self.population_is_named else "in memory"
        return asdict(replace(self, hierarchy=None, population=named))

    @property
    def population_is_named(self) -> bool:
        """Whether the population is a table or a file, and not the data themselves."""
        return isinstance(self.population, (str, PathLike))


_OF_TABLE = re.compile(r"value|overall_\w+|c_to|(c|first)_\d+")


@dataclass(frozen=True)
class Finding:
    """What a check found of one model: `achieved` by the worst class, and how many classes and rows are unsafe.

    `unsafe_classes` is None of a promise that is about rows, not classes.
    """

    model: str
    required: Any
    achieved: float | int | None
    unsafe_classes: int | None
    unsafe_rows: int

    @property
    def holds(self) -> bool:
        """Whether every class is safe by the model, or every row where it is not about classes."""
        return not self.unsafe_rows and not self.unsafe_classes


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
    def asked(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
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
        """What can be asked of a release without its source: people are rows there, and nothing is compared."""
        models = tuple(model for model in self.models if not model.compares and model.population is None)
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
        if model.known and not (reference and reference.spread):  # it counts all values, so that all are known
            columns, safe = columns | {"_known": model.known}, f"_known AND ({safe})"
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
