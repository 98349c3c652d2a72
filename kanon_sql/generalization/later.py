"""Sequences that are computed on first access: of a million labels, a search needs only the number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from kanon_sql.generalization.values import Value

_UNKNOWN = object()


class Later(Sequence[Value]):
    """A number of items that are computed once, on first access; a NULL must be the last one and declared as such.

    >>> items = Later(2, lambda: (7, None), last=None)
    >>> len(items), None in items, items.index(None), items == (7, None)
    (2, True, 1, True)
    """

    def __init__(self, length: int, compute: Callable[[], Sequence[Value]], last: Any = _UNKNOWN) -> None:
        self._length = length
        self._compute = compute
        self._last = last
        self._computed: tuple[Value, ...] | None = None

    @property
    def _items(self) -> tuple[Value, ...]:
        if self._computed is None:
            self._computed = tuple(self._compute())
        return self._computed

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

    def __iter__(self) -> Iterator[Value]:
        return iter(self._items)

    def __contains__(self, item: object) -> bool:
        return self._last is None if item is None else item in self._items

    def index(self, value: Any, *within: int) -> int:
        """The position of the first such item."""
        is_last = value is None and self._last is None and not within
        return self._length - 1 if is_last else self._items.index(value, *within)

    def __add__(self, more: tuple[Value, ...]) -> Sequence[Value]:
        return (*self._items, *more) if more else self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | Later) and self._items == tuple(other)

    def __hash__(self) -> int:
        return hash(self._items)
