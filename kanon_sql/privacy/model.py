"""A privacy model: what must be true of every released class, and what one verdict tells of other nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import Any, get_args

from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy.parameters import Monotone, Parameter, required_of


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
    the value, `overall_size` the people of the whole table, and `SUM(population)` those of the population. A person
    with several values is in the `c` of each, so that `SUM(c)` can be more than `SUM(n)`, and there is no `size`.
    `one_value`: the condition is about shares that add up to 1, so that a class is unsafe in which a person has several
    values; of a model that compares, also any class of a table with such a person.

    `monotone` says what one node tells of more general ones. `always`: a class stays safe whatever is merged with it.
    `without suppression`: safe classes merged are safe, but an unsafe one may spoil them, so that nodes tell of others
    only where no row may be suppressed. `never`: neither; every node is judged. A model that claims too much gets
    releases that are safe all the same, but not the best ones.

    `achieved`: an aggregate over all classes, of the names in `columns`, that says what a release reaches, such as
    `MAX(most / rows)`. `class_size`: set where a class is safe if and only if it has so many rows; `population_size`:
    where it is if and only if it stands for so many of the population.

    `released`: whether the `sensitive` column is in the release. One that is not is dropped, and counted in the source
    whenever the release is made or verified, as people are.

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
    one_value: bool = False
    released: bool = True

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
    def one_value_each(self) -> str | None:
        """The condition that no person of a class has several values, nor of the whole table if that is compared."""
        if not self.one_value:
            return None
        return "SUM(c) = SUM(n)" + (" AND MAX(overall_pairs) = MAX(overall_size)" if self.compares else "")

    @property
    def reads_size(self) -> bool:
        """Whether `safe` or `achieved` goes by the rows of all values of a class, next to those of each."""
        used = set(re.findall(r"\w+", f"{self.safe} {self.achieved or ''}"))
        return any("size" in re.findall(r"\w+", text) for name, text in self.columns.items() if name in used)

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
