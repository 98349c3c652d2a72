"""Tables that are read beside each other: a release, its source, and what else somebody has."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.files import files
from kanon_sql.errors import HierarchyError
from kanon_sql.frequency.fitting import has_hierarchy, hierarchy_source
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.plan.source import IN_MEMORY, Source, opened_source
from kanon_sql.recode.show import shown_names
from kanon_sql.spec import Attribute, ReleaseSpec, Spec


def name_of(given: Any) -> str:
    """What to call a table or data."""
    return str(given) if isinstance(given, (str, Path)) else IN_MEMORY


def opened_beside(
    given: Any, spec: ReleaseSpec, connection: Any, is_source: bool = False
) -> contextlib.AbstractContextManager[Source]:
    """A table or data to read; a file beside tables in a database is read without it.

    `is_source`: whether it is what the spec says how to read.
    """
    alone = not isinstance(given, (str, Path)) or bool(files(str(given)))
    session = spec.session if is_source else spec.session.as_it_is
    return opened_source(given, session.without_tables if alone else session, None if alone else connection)


def shown_columns(name: str, table: Table) -> tuple[str, ...]:
    """The columns of a release that show a quasi-identifier: two where it is shown by its bounds."""
    bounds = shown_names(name, "bounds")
    return bounds if table.column(name) is None and all(map(table.column, bounds)) else (name,)


def known_hierarchy(spec: Spec, engine: Engine, column: Column, values: Sequence[Any]) -> Hierarchy | None:
    """The hierarchy that the spec has of a column, or of its distances, made for some of its values."""
    distance = spec.privacy.t_closeness.get(column.name)
    attribute = spec.quasi_identifiers.get(column.name) or Attribute(hierarchy=distance.hierarchy if distance else None)
    described = spec.model_copy(update={"quasi_identifiers": {column.name: attribute}})
    if not has_hierarchy(described, column.name):
        return None
    try:
        return hierarchy_source(attribute, column, spec, engine).build([each for each in values if each is not None])
    except HierarchyError:  # of none of these values; the labels are read as they are
        return None
