"""A model about a whole release: a figure of how many classes of each size there are, and the most that it may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

from kanon_sql.privacy.parameters import Monotone, Parameter, required_of

Histogram: TypeAlias = Sequence[tuple[int, int]]
"""How many classes there are of each size, (size, classes), the smallest first."""
Sizes: TypeAlias = Sequence[tuple[int, ...]]
"""A histogram; of sizes in a population, with the rows (or people) of these classes: (size, classes, rows)."""


class Alike(NamedTuple):
    """How many classes have so many rows (or people) and stand for so many of a population, 0 where there is none."""

    size: int
    people: int
    classes: int


class Least(NamedTuple):
    """The least size of a class, and the least number of a population's rows (or people) that it stands for."""

    size: int = 1
    people: int = 0

    def among(self, classes: Sequence[Alike]) -> list[Alike]:
        """Those of some classes that are as large as that."""
        return [each for each in classes if each.size >= self.size and each.people >= self.people]


@dataclass(frozen=True)
class ReleaseModel:
    """A promise about all released classes together, which no class can meet or break alone.

    `figure`: of the classes, what may be `most` at most; NaN where it cannot be worked out, which is unsafe. It never
    grows when the smallest classes are taken away, so that suppressing these makes a release meet the model in the
    end. `sufficient_size`: a release meets it if all its classes have so many rows (or people), whatever else is true.
    `monotone`: as of a `PrivacyModel`. `unavoidable`: how many rows have to go at least at a node with these classes,
    and at every node below, whose classes are parts of them; None where that cannot be said. With a `population`, as of
    a `PrivacyModel`, the size of a class is how many of the population it stands for.

    >>> from kanon_sql.privacy import prosecutor_risk
    >>> (mean,) = prosecutor_risk(mean=0.25)
    >>> mean.figure([(2, 3), (10, 1)]), mean.sufficient_size
    (0.25, 4)
    """

    name: str
    parameters: Mapping[str, Parameter]
    figure: Callable[[Sizes], float]
    most: float
    sufficient_size: int
    monotone: Monotone = "never"
    unavoidable: Callable[[Sizes], int] | None = None
    population: Any = field(default=None, compare=False)
    sensitive: ClassVar[None] = None
    class_size: ClassVar[None] = None  # none that a release must have

    @property
    def is_risk(self) -> bool:
        """Whether the figure is of the risks of all rows (or people), and not an estimate from the classes."""
        return self.monotone != "never"

    @property
    def required(self) -> Any:
        """The model's parameter, or all of them where it has several."""
        return required_of(self.parameters)

    def size_of(self, alike: Alike) -> int:
        """The size of a class that the model goes by: in the release, or in its population."""
        return alike.size if self.population is None else alike.people

    def histogram(self, classes: Sequence[Alike]) -> Sizes:
        """How many of these classes there are of each size."""
        number, rows = Counter[int](), Counter[int]()
        for each in classes:
            number[self.size_of(each)] += each.classes
            rows[self.size_of(each)] += each.size * each.classes
        if self.population is None:
            return sorted(number.items())
        return [(size, number[size], rows[size]) for size in sorted(number)]

    def holds(self, classes: Sizes) -> bool:
        """Whether a release of these classes meets the model; one of none does."""
        return not classes or self.figure(classes) <= self.most

    def achieved(self, classes: Sizes) -> float | None:
        """The figure of these classes; None where it cannot be worked out, or there are none."""
        figure = self.figure(classes) if classes else float("nan")
        return None if figure != figure else figure

    def least_class_size(self, classes: Sizes) -> int:
        """The least size such that the classes of that size or more meet the model: the others are suppressed.

        >>> from kanon_sql.privacy import prosecutor_risk
        >>> (mean,) = prosecutor_risk(mean=0.25)
        >>> mean.least_class_size([(1, 5), (2, 3), (10, 1)])
        2
        """
        sizes = [size for size, *_ in classes if size < self.sufficient_size]
        first, last = 0, len(sizes)  # what is left from place `last` on meets the model
        while first < last:
            middle = (first + last) // 2
            if self.holds(classes[middle:]):
                last = middle
            else:
                first = middle + 1
        return 1 if last == 0 else sizes[last] if last < len(sizes) else self.sufficient_size
