"""A model about a whole release: a bound on a figure that depends on the sizes of all classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

from kanon_sql.privacy.parameters import Monotone, Parameter, required_of

Histogram: TypeAlias = Sequence[tuple[int, int]]
"""The number of classes of every size, (size, classes), the smallest first."""
Sizes: TypeAlias = Sequence[tuple[int, ...]]
"""A histogram; for sizes in a population also with the rows (or people) of the classes: (size, classes, rows)."""


class ClassCount(NamedTuple):
    """The number of classes with a size in rows (or people), and a size in the population (0 without one)."""

    size: int
    people: int
    classes: int


class LeastSize(NamedTuple):
    """The minimum size of a class, and the minimum of the population's rows (or people) that it corresponds to."""

    size: int = 1
    people: int = 0

    def among(self, classes: Sequence[ClassCount]) -> list[ClassCount]:
        """The classes that are at least as large."""
        return [count for count in classes if count.size >= self.size and count.people >= self.people]


@dataclass(frozen=True)
class ReleaseModel:
    """A requirement on all released classes together, which no class can satisfy or violate alone.

    `figure`: a figure of the classes that may be at most `most`; NaN, which is unsafe, if it cannot be computed. It
    never grows when the smallest classes are removed, so that suppressing them eventually satisfies the model.
    `sufficient_size`: a release satisfies the model if all its classes have at least so many rows (or people).
    `monotone`: as in `PrivacyModel`. `unavoidable`: the minimum number of rows to suppress at a node with these classes
    and at every node below it, whose classes are parts of them; None without such a bound. With a `population`, as in
    `PrivacyModel`, the size of a class is the number of the population's rows that it corresponds to.

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
    class_size: ClassVar[None] = None  # a class of any size can be released

    @property
    def is_risk(self) -> bool:
        """Whether the figure is a risk of all rows (or people), and not an estimate from the classes."""
        return self.monotone != "never"

    @property
    def required(self) -> Any:
        """The model's parameter, or all of them where it has several."""
        return required_of(self.parameters)

    def size_of(self, count: ClassCount) -> int:
        """The size of the classes: in the release, or in the population of the model."""
        return count.size if self.population is None else count.people

    def histogram(self, classes: Sequence[ClassCount]) -> Sizes:
        """The number of classes of every size."""
        number = Counter[int]()
        rows = Counter[int]()
        for count in classes:
            number[self.size_of(count)] += count.classes
            rows[self.size_of(count)] += count.size * count.classes
        if self.population is None:
            return sorted(number.items())
        return [(size, number[size], rows[size]) for size in sorted(number)]

    def holds(self, classes: Sizes) -> bool:
        """Whether a release of these classes satisfies the model; an empty release does."""
        return not classes or self.figure(classes) <= self.most

    def achieved(self, classes: Sizes) -> float | None:
        """The figure of these classes; None if it cannot be computed, or there are no classes."""
        figure = self.figure(classes) if classes else float("nan")
        return None if figure != figure else figure

    def least_class_size(self, classes: Sizes) -> int:
        """The minimum size such that the classes of at least that size satisfy the model; the others are suppressed.

        >>> from kanon_sql.privacy import prosecutor_risk
        >>> (mean,) = prosecutor_risk(mean=0.25)
        >>> mean.least_class_size([(1, 5), (2, 3), (10, 1)])
        2
        """
        sizes = [size for size, *_ in classes if size < self.sufficient_size]
        first = 0
        last = len(sizes)  # the classes from position `last` on satisfy the model
        while first < last:
            middle = (first + last) // 2
            if self.holds(classes[middle:]):
                last = middle
            else:
                first = middle + 1
        if last == 0:
            return 1
        return sizes[last] if last < len(sizes) else self.sufficient_size
