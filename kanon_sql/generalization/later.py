"""Sequences that are made when somebody looks into them: of a million labels a search needs the number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from kanon_sql.generalization.values import Value

_UNKNOWN = object()


def is_unmade(items: Sequence[Value]) -> bool:
    """Whether items would have to be made first, if somebody looked into them.

    >>> made = Later(2, lambda: (7, 8))
    >>> is_unmade(made), made[0], is_unmade(made), is_unmade((7, 8))
    (True, 7, False, False)
    """
    return isinstance(items, Later) and items.unmade


class Later(Sequence[Value]):
    """So many items, made once and when they are needed; NULL, if there is one, is the last and known to be.

    Equal to what it makes.

    >>> made = Later(2, lambda: (7, None), last=None)
    >>> len(made), None in made, made.index(None), made == (7, None)
    (2, True, 1, True)
    """

    def __init__(self, length: int, make: Callable[[], Sequence[Value]], last: Any = _UNKNOWN) -> None:
        self._length, self._make, self._last = length, make, last
        self._made: tuple[Value, ...] | None = None

    @property
    def unmade(self) -> bool:
        """Whether nobody has looked into it yet."""
        return self._made is None

    @property
    def _items(self) -> tuple[Value, ...]:
        if self._made is None:
            self._made = tuple(self._make())
        return self._made

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Value]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if self._last is not _UNKNOWN and index in (-1, self._length - 1):
            return self._last
        return self._items[index]

    def __contains__(self, item: object) -> bool:
        return self._last is None if item is None else item in self._items

    def index(self, value: Any, *within: int) -> int:
        """The place of the first such item."""
        known = value is None and self._last is None and not within
        return self._length - 1 if known else self._items.index(value, *within)

    def __add__(self, more: tuple[Value, ...]) -> Sequence[Value]:
        return (*self._items, *more) if more else self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | Later) and self._items == tuple(other)

    def __hash__(self) -> int:
        return hash(self._items)
