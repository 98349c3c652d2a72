"""A privacy model: a condition on every released class, and what the verdict on a node implies for others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import Any, get_args

from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy.parameters import Monotone, Parameter, required_of

_OF_TABLE = re.compile(r"value|overall_\w+|c_to|(c|first)_\d+")


@dataclass(frozen=True)
class PrivacyModel:
    """A requirement on every released equivalence class: the aggregates of a class, and when it is safe.

    `columns` names aggregates of a class in SQL. They use `n`, the rows that are added up (so `SUM(n)`), and, if
    `sensitive` names a column, one row per value of it in the class, NULL included, with these columns:

    - `c`, its rows (`MAX(c)`, `COUNT(c)`, `SUM(c * LN(c))`), and `size`, the rows of all values; `LARGEST(c, 2)` adds
      up the rows of the two most frequent values;
    - `value`, the value itself, and for the whole table `overall_c`, `overall_size` and `overall_values`, the number of
      different values;
    - `c_to` and `overall_c_to`, the rows up to the value in the order of values: then a class has every value of the
      table, missing ones with c = 0;
    - with a `hierarchy` of the column, `c_1` and `overall_c_1`, the rows of the value's group on level 1 (2, …), and
      `first_1`, true for one value of every group in the class.

    `safe` is a condition on these names and `$parameters`; unknown counts as unsafe.

    With a `population`, of which the source is a sample (the name of a table or file, or the data themselves),
    `SUM(population)` is the number of the population's rows that are generalized to the class. With `every_class`, the
    condition also applies to rows of the population that share no class with a released row: a class with n = 0.

    Where people are counted instead of rows (`all_of(…, unit=…)`), `SUM(n)` is the people of the class, `c` those with
    the value, `overall_size` the people of the whole table, and `SUM(population)` those of the population. A person
    with several values counts in the `c` of every one, so that `SUM(c)` can exceed `SUM(n)`, and there is no `size`.
    `one_value`: the condition is about shares that add up to 1, so that a class with a person of several values is
    unsafe; for a model that compares, also every class of a table with such a person.

    `monotone` is what the verdict on a node implies for more general nodes. `always`: a class stays safe whatever is
    merged with it. `without suppression`: the union of safe classes is safe, but merging with an unsafe one can make it
    unsafe, so that verdicts carry over only if no row can be suppressed. `never`: neither; every node is tested. If a
    model claims too much, its releases are still safe, but not optimal.

    `achieved`: an aggregate over all classes, in the names of `columns`, of the value that a release achieves, such as
    `MAX(most / rows)`. `class_size`: set if a class is safe if and only if it has so many rows; `population_size`:
    set if it is safe if and only if it corresponds to so many rows of the population.

    `released`: whether the `sensitive` column is in the release. If not, it is dropped, and counted in the source
    whenever the release is written or verified, as people are.

    `unavoidable`: the minimum number of rows to remove from an unsafe class until it is safe, in the names of
    `columns`; by default one. A search with suppression prunes by it if the union of safe classes is safe: however an
    unsafe class is divided below, so many of its rows stay in unsafe classes.

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
        """Whether the model uses more than the rows of values in a class, such as their rows in the whole table."""
        return any(_OF_TABLE.fullmatch(word) for word in self._words)

    @property
    def in_order(self) -> bool:
        """Whether the model uses the order of the values."""
        return bool(self._words & {"c_to", "overall_c_to"})

    @property
    def complete(self) -> str | None:
        """The condition that a class has all figures of its values; SQL sums ignore NULL, and the class seems safe."""
        if not self.compares:
            return None
        return "SUM(c) = MAX(size)" if "c_to" in self._words else "COUNT(c) = COUNT(overall_c)"

    @property
    def one_value_per_person(self) -> str | None:
        """The condition that no person of a class has several values; of the whole table, if the model compares."""
        if not self.one_value:
            return None
        return "SUM(c) = SUM(n)" + (" AND MAX(overall_pairs) = MAX(overall_size)" if self.compares else "")

    @property
    def reads_size(self) -> bool:
        """Whether `safe` or `achieved` uses `size`, the rows of all values of a class."""
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
        population = None
        if self.population is not None:
            population = str(self.population) if self.population_is_named else "in memory"
        return asdict(replace(self, hierarchy=None, population=population))

    @property
    def population_is_named(self) -> bool:
        """Whether the population is the name of a table or file, not the data themselves."""
        return isinstance(self.population, (str, PathLike))


@dataclass(frozen=True)
class Finding:
    """The result of checking one model: the value `achieved` by the worst class, and the unsafe classes and rows.

    `unsafe_classes` is None for a requirement on rows, not classes.
    """

    model: str
    required: Any
    achieved: float | int | None
    unsafe_classes: int | None
    unsafe_rows: int

    @property
    def holds(self) -> bool:
        """Whether the model is satisfied: no class is unsafe, or no row, if the model is not about classes."""
        return not self.unsafe_rows and not self.unsafe_classes
