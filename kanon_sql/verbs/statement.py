"""The SQL statement of a release, to review before a run or to run elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import name_readings
from kanon_sql.errors import SourceError, SpecError, StatementWarning
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_release
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import IN_MEMORY, Source, opened, settle_spec
from kanon_sql.queries import Relation
from kanon_sql.release.recoded import statement, target_sql
from kanon_sql.report.numbers import models
from kanon_sql.resources import package_version
from kanon_sql.spec import SearchIn, Spec
from kanon_sql.verbs import frequency_sets
from kanon_sql.verbs.options import AnonymizeOptions, Place, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame


@dataclass(frozen=True, repr=False)
class Compiled(Result, json_form="compile"):
    """A release as SQL. `sql`: the whole script, with comments and the statements that create mapping tables.

    `query`: only the query. It reads `table` and the `mappings`, if there are any: tables of values and their labels.
    """

    sql: str
    query: str
    mappings: tuple[queries.WrittenTable, ...]
    dialect: str
    table: str

    def to_dict(self) -> dict[str, Any]:
        """The release as a mapping for JSON; only the numbers of rows of the mapping tables."""
        return {
            "dialect": self.dialect,
            "table": self.table,
            "mappings": {mapping.name: len(mapping.rows) for mapping in self.mappings},
            "query": self.query,
            "sql": self.sql,
        }

    def to_df(self) -> DataFrame:
        """One row per mapping table."""
        rows = [(mapping.name, len(mapping.rows)) for mapping in self.mappings]
        return frame(rows, columns=["mapping", "rows"])

    def _lines(self) -> list[tuple[str, str]]:
        mappings = ", ".join(f"{mapping.name} ({len(mapping.rows):,} rows)" for mapping in self.mappings)
        lines = f"{self.sql.count(chr(10)) + 1:,} lines for {self.dialect}, {len(self.sql.encode()):,} bytes"
        return [("sql", lines), ("reads", self.table), *([("mappings", mappings)] if mappings else [])]

    def _texts(self) -> dict[str, Any]:
        return {".sql": lambda: f"{self.sql};\n", **super()._texts()}


@spelled_out(AnonymizeOptions)
def anonymize_sql(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    dialect: str | None = None,
    **options: Unpack[AnonymizeOptions],
) -> str:
    """Search, and return the release as one self-contained SQL statement; nothing is written.

    `source`, `spec` and options: as in `anonymize`; `dialect`: as in `compile`. A hierarchy of more than 200
    values that cannot be written as an expression becomes a table, created by preceding statements. Raises KanonError,
    also for a release that takes more than one statement: masked, perturbed, an anatomy, or with wildcards.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"]})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}}
    >>> "GROUP BY" in anonymize_sql(people, {"quasi_identifiers": recipes}, k=2)
    True
    """
    settled = settle_spec(source, spec, taken(AnonymizeOptions, options))
    if dialect is not None:
        found = compile(source, settled, connection=connection, observer=observer, search_in=search_in, dialect=dialect)
        return found.sql
    check_spec(settled, "sql")
    written = _overwriting(settled).as_standalone()
    with opened(source, written, connection) as data, data.engine.snapshot(), data.scratches:
        _check_readable(data, settled)
        plan = plan_release(data, written, observer or Observer(), search_in)
        printed = statement(plan.recoding, settled.target)
        warn_of(plan, printed)
        return target_sql(plan.recoding, settled.target, printed=printed)


@spelled_out(AnonymizeOptions)
def compile(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    dialect: str | None = None,
    table: str | None = None,
    frequency_set: Place | None = None,
    names: str = "exact",
    **options: Unpack[AnonymizeOptions],
) -> Compiled:
    """Search, and return the release as SQL for this engine or for another system; nothing is written.

    `source`, `spec` and options: as in `anonymize`. `dialect`: that of the other system, `snowflake`, `bigquery`,
    …; it was not executed there. `table`: the table to read there (default: the source's name). `frequency_set`: a
    Parquet or CSV file with the result of `frequency_set_sql`, searched instead of the source. `names`: `upper` or
    `lower` for a system that stores its names in that case, if they were created without quotes. Raises KanonError,
    also for a release that one statement, the dialect or a frequency set cannot express.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"]})
    >>> spec = {"quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}, "privacy": {"k": 2}}
    >>> release = compile(people, spec, dialect="bigquery", table="hospital.people")
    >>> "FROM `hospital`.`people` AS `s`" in release.query
    True
    """
    settled = settle_spec(source, spec, taken(AnonymizeOptions, options))
    observer = observer or Observer()
    check_spec(settled, "sql")
    if dialect is not None:
        queries.check_dialect(dialect)
        queries.check_names(names, dialect)
    elif names != "exact":
        raise SpecError("`names` is for another system; name it with `dialect`")
    # The target of a statement for another system is not in this database, so it is not checked here.
    elsewhere = any(option is not None for option in (dialect, table, frequency_set))
    to_plan = settled.model_copy(update={"target": None}) if elsewhere else _overwriting(settled)
    to_plan = to_plan.as_standalone()
    if frequency_set is not None:
        with frequency_sets.planned(frequency_set, to_plan, observer, keeps_node=True) as plan:
            return of_plan(plan, settled, dialect, table, names)
    with opened(source, to_plan, connection) as data, data.engine.snapshot(), data.scratches:
        if table is None:
            _check_readable(data, settled)
        return of_plan(plan_release(data, to_plan, observer, search_in), settled, dialect, table, names)


def _check_readable(source: Source, spec: Spec) -> None:
    """SourceError for files that a SQL statement cannot read."""
    if source.files and source.read_files is None:
        raise SourceError(
            f"no statement reads {spec.source} by itself, an Excel file, text in another encoding than UTF-8, or with "
            "lines above the names; save it as Parquet or as CSV in UTF-8, or load it into a table"
        )


def of_plan(
    plan: Plan, spec: Spec, dialect: str | None = None, table: str | None = None, names: str = "exact"
) -> Compiled:
    """A plan's release as SQL, for the engine of the source or for another system."""
    recoding, source = plan.recoding, None
    if plan.problem.source.counted_by or table or dialect not in (None, recoding.engine.dialect):
        frequency_sets.refuse_ages(spec)
        is_table = plan.problem.source.counted_by or not (plan.problem.source.files or spec.source == IN_MEMORY)
        if not (table or is_table):
            raise SpecError(
                f"{spec.source} is not a table that another system could read; set `table` to its name there"
            )
        source = Relation(*name_readings(table or spec.source)[-1])
    printed = statement(recoding, spec.target, dialect, source)
    warn_of(plan, printed)
    script = target_sql(recoding, spec.target, dialect, source, printed)
    script = queries.with_names(script, printed.dialect, names)
    lines = list(_header(plan))
    if source is not None:
        how_tested = queries.how_tested(printed.dialect)
        lines.append(f"printed for {printed.dialect}{f', {how_tested}' if how_tested else ''}")
        lines.append(queries.size_in_words(script, printed.dialect))
        if printed.dialect == "snowflake" and names == "exact":
            lines.append(
                "names are as in the spec; if Snowflake reports an invalid identifier, print them with --names upper"
            )
    header = "\n".join(f"-- {' '.join(line.split())}" for line in lines)
    sql = f"{header}\n{script}"
    queries.check_size(sql, printed.dialect, printed.tables)
    query = queries.with_names(printed.query, printed.dialect, names)
    tables = tuple(replace(written, name=queries.in_case(written.name, names)) for written in printed.tables)
    return Compiled(sql, query, tables, printed.dialect, table or spec.source)


def warn_of(plan: Plan, *printed: queries.PrintedStatement) -> None:
    """Warn about columns that are not in the release, and about values of the data in printed statements.

    A recipe without an expression lists the values that occur. Values that are added later become `*`.
    """
    if dropped := plan.problem.source.roles.dropped:
        text = f"dropped, no role: {', '.join(dropped)}; keep them with `keep`"
        warnings.warn(text, StatementWarning, stacklevel=4)
    if any(statement.has_values for statement in printed):
        text = "the statement lists the values of its hierarchies, and so of the data: keep it as private as the source"
        warnings.warn(text, StatementWarning, stacklevel=4)
    listed = dict.fromkeys(name for statement in printed for name in statement.listed)
    built = [name for name in listed if plan.problem.hierarchy_sources[name].fixed is None]
    if built:
        text = (
            f"the recipe of {', '.join(map(repr, built))} is not an expression, so the statement lists the values that "
            "occur. A value that is added later becomes *, which marks the rows of newcomers: use a hierarchy file "
            "with every possible value or another recipe, or compile again whenever the source has new values"
        )
        warnings.warn(text, StatementWarning, stacklevel=4)


def _header(plan: Plan) -> Iterator[str]:
    """The comments above a statement."""
    privacy = models((model.name, model.required) for model in plan.recoding.judge.model.requested)
    yield f"{plan.problem.spec.source}, released by kanon_sql {package_version()}: {privacy}"
    if plan.outcome:
        levels = (f"{name} {level}" for name, level in zip(plan.problem.columns, plan.outcome.node, strict=True))
        proven = "proven optimal" if plan.outcome.proven_optimal else f"no node is below {plan.outcome.lower_bound:.4f}"
        if plan.outcome.found_by == "kept":
            proven = "not searched"
        yield f"levels: {', '.join(levels)}; {plan.problem.spec.metric} {plan.outcome.score:.4f}, {proven}"


def _overwriting(spec: Spec) -> Spec:
    """The spec with a target that can be overwritten: nothing is written, so an existing target does not matter."""
    target = spec.target.model_copy(update={"overwrite": True}) if spec.target else None
    return spec.model_copy(update={"target": target})
