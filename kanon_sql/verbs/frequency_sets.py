"""Frequency sets from other systems: the query that counts the tuples there, and a search of its result.

No row leaves that system, only the distinct combinations of quasi-identifiers and of the sensitive values that a model
counts, with their numbers of rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, name_readings
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_search
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import Source, opened_source, settle_spec
from kanon_sql.queries import Relation
from kanon_sql.spec import Spec
from kanon_sql.verbs.options import Place, SearchOptions, taken

ROWS = "kanon_rows"  # the column with the number of rows of a tuple


def frequency_set_sql(
    spec: Spec | dict[str, Any] | str | Path,
    *,
    dialect: str = "duckdb",
    table: str | None = None,
    names: str = "exact",
    **options: Any,
) -> str:
    """The query to run in another system: distinct quasi-identifiers and counted values, with numbers of rows.

    Nothing is opened: `table` (default: the spec's source) and the columns belong to that system, in its spelling;
    `names`: as in `compile`, for the columns that are read. The result has the names of the spec. Raises KanonError for
    models that a frequency set cannot serve: of people, of a population.

    >>> print(frequency_set_sql({"source": "PATIENTS", "quasi_identifiers": ["ZIP"]}, dialect="snowflake"))
    SELECT
      "ZIP",
      COUNT(*) AS "kanon_rows"
    FROM "PATIENTS" AS "s"
    GROUP BY
      "ZIP"
    """
    settled = settle_spec(None, spec, taken(SearchOptions, options))
    queries.check_dialect(dialect)
    queries.check_names(names, dialect)
    _check(settled)
    refuse_ages(settled)
    read = (queries.in_case(part, names) for part in name_readings(table or settled.source)[-1])
    columns = {queries.in_case(name, names): name for name in columns_of(settled)}
    return queries.exported_tuples(columns, ROWS, Relation(*read), dialect)


def refuse_ages(spec: Spec) -> None:
    """SpecError for ages at another column's date, which a table elsewhere does not have in place of dates of birth."""
    for name, form in spec.reading.columns.items():
        if form.age_at:
            raise SpecError(
                f"column {name!r} becomes an age while the file is read, and another table has dates of birth there; "
                f"add a column with the age at {form.age_at} to that table, and to the file"
            )


@contextlib.contextmanager
def planned(frequency_set: Place, spec: Spec, observer: Observer, keeps_node: bool = False) -> Iterator[Plan]:
    """The plan of a search on a file of counted tuples, while the file is open; `keeps_node`: see `plan_search`."""
    _check(spec)
    columns = columns_of(spec)
    sensitive = tuple(name for name in spec.sensitive if name in columns)
    searched = spec.model_copy(update={"keep": None, "identifiers": (), "target": None, "sensitive": sensitive})
    with (
        opened_source(str(frequency_set), spec.session.as_it_is.without_tables) as data,
        data.engine.snapshot(),
        data.scratches,
    ):
        counted = _counted(data, str(frequency_set), columns)
        plan = plan_search(counted, searched, observer, keeps_node=keeps_node)
        # The table in the other system also has the columns that are released unchanged, whose types are unknown.
        table = plan.recoding.table
        names = dict.fromkeys((*spec.sensitive, *spec.kept_by_name))
        kept = [Column(name, "", "other") for name in names if table.column(name) is None]
        recoding = replace(plan.recoding, table=replace(table, columns=(*table.columns, *kept)))
        yield replace(plan, problem=replace(plan.problem, spec=spec), recoding=recoding)


def columns_of(spec: Spec) -> list[str]:
    """The columns that a search needs: the quasi-identifiers, and columns whose values a privacy model counts."""
    of_models = [model.sensitive for model in spec.models if model.sensitive is not None]
    return list(dict.fromkeys([*spec.quasi_identifiers, *spec.privacy.counted, *of_models]))


def _check(spec: Spec) -> None:
    for use in ("search", "counted"):
        check_spec(spec, use)


def _counted(data: Source, name: str, columns: list[str]) -> Source:
    """A file of counted tuples as a source; SpecError or SourceError if it is not such a file."""
    found = [column.name for column in data.table.columns]
    for column in (*columns, ROWS):
        if column not in found:
            raise SpecError(
                f"{name} has no column {column!r}, and a frequency set of this spec needs {', '.join(columns)} and "
                f"{ROWS}; export it with the query of `frequency_set_sql`"
            )
    holes: dict[str, queries.Hole] = {"rows": [ROWS], "source": data.table.relation}
    ((wrong,),) = data.engine.rows(queries.text("release/miscounted", data.engine.dialect, **holes))
    if wrong:
        raise SourceError(f"{wrong:,} tuples of {name} have no rows by their column {ROWS}; export it again")
    table = replace(data.table, columns=tuple(c for c in data.table.columns if c.name in columns))
    return replace(data, table=table, counted_by=ROWS)
