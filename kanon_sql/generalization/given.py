"""Hierarchies from Python objects: a finished one, a mapping, a table in memory, or a function of a value."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.hierarchy import Hierarchy, from_rows, nested_levels
from kanon_sql.generalization.values import Value, as_text, ordered, printed

Labels = Callable[[Any], str | Sequence[str]]


def is_hierarchy_like(value: object) -> bool:
    """Whether `hierarchy_from` accepts a value, other than a mapping."""
    return isinstance(value, Hierarchy) or callable(value) or _inner(value) is not None or _rows(value) is not None


def hierarchy_from(value: Any) -> Hierarchy | Labels:
    """The hierarchy of a Python object, or the function that returns the labels of a column's value.

    A mapping maps values to a label, or to a list of labels from the lowest level up; a table in memory has the value
    in its first column and the labels in the others. HierarchyError for invalid rows.

    >>> hierarchy_from({"Bern": ["BE", "CH"], "Graz": ["ST", "AT"]}).levels
    (('BE', 'ST'), ('CH', 'AT'), ('*', '*'))
    """
    if isinstance(value, Hierarchy):
        return value
    inner = _inner(value)
    if inner is not None:
        return inner
    rows = value.items() if isinstance(value, Mapping) else _rows(value)
    if rows is None:
        return value  # type: ignore[no-any-return]
    # NaN is how pandas writes NULL.
    texts = [["" if cell is None or cell != cell else as_text(cell) for cell in _flat(row)] for row in rows]
    return from_rows(texts, "the hierarchy given in Python")


def by_function(values: Iterable[Value], labels: Labels, column: str) -> Hierarchy:
    """The hierarchy of the labels that a function returns for a column's values, from the lowest level up.

    The function is not called for NULL, which stays NULL below the top. HierarchyError if values have different numbers
    of labels, or labels that do not nest.

    >>> by_function([31, 47], lambda age: f"{age // 10}0s", "age").levels
    (('30s', '40s'), ('*', '*'))
    """
    leaves = ordered(values)
    where = f"column {column!r}"
    paths = [_path(labels, value, where) for value in leaves]
    for value, path in zip(leaves, paths, strict=True):
        if not all(isinstance(label, str) and label for label in path) or len(path) != len(paths[0]):
            raise HierarchyError(
                f"{where}: the function of its hierarchy must return the same number of labels for all values, and "
                "they must be texts; correct it",
                [f"{printed(value)}: {path}"],
            )
    return nested_levels(leaves, list(zip_longest(*paths)), where)


def digest(function: Labels) -> str:
    """A digest of a function: of its name, its source, and the plain values in its closure."""
    plain = inspect.unwrap(function)
    try:
        text = inspect.getsource(plain)
    except (OSError, TypeError):
        text = ""
    code = getattr(plain, "__code__", None)
    cells = [cell.cell_contents for cell in getattr(plain, "__closure__", None) or ()]
    values = [repr(value) for value in cells if isinstance(value, str | int | float | tuple | list | dict)]
    named = [getattr(plain, "__module__", ""), getattr(plain, "__qualname__", type(plain).__qualname__)]
    content = [*named, text or repr(code and code.co_code), values]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _path(labels: Labels, value: Value, where: str) -> tuple[Any, ...]:
    try:
        found = labels(value)
        return (found,) if isinstance(found, str) else tuple(found)
    except Exception as error:
        raise HierarchyError(
            f"{where}: the function of its hierarchy fails with {type(error).__name__}; correct it", [printed(value)]
        ) from error


def _inner(value: object) -> Hierarchy | None:
    """The hierarchy in a result of `hierarchy.build`, `check` or `show`."""
    inner = getattr(value, "hierarchy", None)
    return inner if isinstance(inner, Hierarchy) else None


def _rows(value: Any) -> Iterable[Sequence[Any]] | None:
    """The rows of a table in memory: of pandas, Polars or Arrow; None for anything else."""
    if hasattr(value, "itertuples"):
        return value.itertuples(index=False, name=None)  # type: ignore[no-any-return]
    if hasattr(value, "iter_rows"):
        return value.iter_rows()  # type: ignore[no-any-return]
    if hasattr(value, "to_pydict"):
        return zip(*value.to_pydict().values(), strict=True)
    return None


def _flat(row: Sequence[Any]) -> list[Any]:
    """A row of a value and its labels; a mapping can have one label or a list of them."""
    value, *labels = row
    single = len(labels) == 1 and not isinstance(labels[0], str) and isinstance(labels[0], Sequence)
    return [value, *(labels[0] if single else labels)]
