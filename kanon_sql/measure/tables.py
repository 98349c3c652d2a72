"""Tables that are compared: a release, its source, and the tables of an attacker."""

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
from kanon_sql.plan.source import Source, opened_source
from kanon_sql.recode.show import shown_names
from kanon_sql.spec import AttributeSpec, ReleaseSpec, Spec


def opened_for_comparison(
    table: Any, spec: ReleaseSpec, connection: Any, is_source: bool = False
) -> contextlib.AbstractContextManager[Source]:
    """Open a table or data for reading; files and data in memory are read without the spec's database.

    `is_source`: whether the spec's options for reading files apply.
    """
    without_database = not isinstance(table, (str, Path)) or bool(files(str(table)))
    session = spec.session if is_source else spec.session.as_it_is
    if without_database:
        return opened_source(table, session.without_tables)
    return opened_source(table, session, connection)


def shown_columns(name: str, table: Table) -> tuple[str, ...]:
    """The columns of a release that show a quasi-identifier: two if it is shown by its bounds."""
    bounds = shown_names(name, "bounds")
    return bounds if table.column(name) is None and all(map(table.column, bounds)) else (name,)


def known_hierarchy(spec: Spec, engine: Engine, column: Column, values: Sequence[Any]) -> Hierarchy | None:
    """The hierarchy that the spec has for a column, or for its t-closeness, built for some values."""
    distance = spec.privacy.t_closeness.get(column.name)
    attribute = spec.quasi_identifiers.get(column.name) or AttributeSpec(
        hierarchy=distance.hierarchy if distance else None
    )
    described = spec.model_copy(update={"quasi_identifiers": {column.name: attribute}})
    if not has_hierarchy(described, column.name):
        return None
    try:
        return hierarchy_source(attribute, column, spec, engine).build([value for value in values if value is not None])
    except HierarchyError:  # it does not fit these values, so the labels are read without it
        return None
