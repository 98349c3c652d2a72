"""One release of several tables: copies, coded rows, search, released tables, and their check, in one transaction."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, written
from kanon_sql.engines.opening import embedded_for
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import DifferencingError, InfeasibleError, SpecError, TargetError, VerificationError
from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.linked.check import Checked, check_released
from kanon_sql.linked.copies import TableCopy, copied
from kanon_sql.linked.counted import CodedTable, coded
from kanon_sql.linked.files import file_of, read_files, read_once
from kanon_sql.linked.history import LinkedHistory
from kanon_sql.linked.judge import LinkedJudge, SuppressionLimits
from kanon_sql.linked.links import Link, links_of
from kanon_sql.linked.sensitive import (
    SensitiveColumn,
    Valued,
    check_models,
    compared_with_source,
    sensitive_columns,
    valued,
)
from kanon_sql.linked.views import LiveViews
from kanon_sql.linked.waiting import Waiting
from kanon_sql.linked.writer import Writer, secret_of
from kanon_sql.loss import metric
from kanon_sql.plan.observer import Observer
from kanon_sql.queries import Relation
from kanon_sql.release.pieces import HISTORY, Piece, companion
from kanon_sql.release.publish import publish_together, write_file
from kanon_sql.release.tables import check_companions, quoted, refuse_view_elsewhere
from kanon_sql.spec import Into, LinkedSpec, Target, may_suppress
from kanon_sql.staging import PrivateFolder, Staging
from kanon_sql.strategies import Driver, SearchOutcome, strategy
from kanon_sql.strategies.specialize import specialize_first

_DEFAULT_SECONDS = 300.0  # one test of a node takes seconds to a minute in large databases


@dataclass(frozen=True)
class LinkedRelease:
    """Everything about a release of several tables before it is described."""

    links: Sequence[Link]
    tables: Sequence[CodedTable]
    judge: LinkedJudge
    outcome: SearchOutcome
    checked: Checked
    names: Mapping[str, str]
    warnings: Sequence[str]
    waiting: Waiting | None = None
    compared: Sequence[Mapping[str, Any]] = ()


def release_tables(engine: Engine, spec: LinkedSpec, observer: Observer) -> LinkedRelease:
    """Release the tables of a spec from an open database; nothing becomes visible if anything fails."""
    links = check_linked(engine, spec)
    to_files = spec.into is not None and spec.into.folder is not None
    with engine.snapshot() if to_files else engine.transaction():
        targets = places_of(engine, spec, links)
        for target in () if to_files else targets.values():
            if engine.existing(companion(target, HISTORY)):
                raise TargetError(
                    f"{target.name} was released by `kanon database run`, which keeps its history; run it again, or "
                    "name another schema"
                )
        return release_to(engine, spec, links, targets, observer)


def check_linked(engine: Engine, spec: LinkedSpec) -> list[Link]:
    """The links of a spec that can be released with this engine; otherwise SpecError, before any long work."""
    links = links_of(spec)
    if spec.into is None:
        raise SpecError("there is no target; name a schema or a folder with `into`, such as `into: {schema: released}`")
    if not engine.has_transactions or not engine.has_temporary_tables:
        raise SpecError(
            f"several tables are released in one transaction, which {engine.name} does not have; use DuckDB or "
            "PostgreSQL"
        )
    check_models(spec)
    _check_strategy(spec)
    if spec.into.folder:
        _check_folder(Path(spec.into.folder))
    return links


def release_to(
    engine: Engine,
    spec: LinkedSpec,
    links: Sequence[Link],
    targets: Mapping[str, Relation],
    observer: Observer,
    history: LinkedHistory | None = None,
    node: Mapping[str, Mapping[str, int]] | None = None,
) -> LinkedRelease:
    """Release the tables to their places in the open transaction.

    `history`: of a release that is compared with earlier ones. `node`: a node to keep if it is safe.
    """
    into = spec.into
    assert into is not None
    secret = history.secret if history else secret_of(spec)
    with Scratch(engine, "copies") as scratch, embedded_for(engine) as counting:
        observer.stage("Copying the tables")
        copies = copied(engine, scratch, spec, links)
        observer.stage("Counting the rows")
        with Scratch(counting, "linked") as here:
            tables = [coded(engine, here, copies[link.name], spec) for link in links]
            columns = sensitive_columns(engine, spec, links, copies)
            values = [
                valued(engine, here, copies[column.table], column, tables[0].relation, place)
                for place, column in enumerate(columns)
            ]
            judge = _judge(tables, here, spec, values)
            observer.stage("Searching the lattice")
            outcome = _kept_or_found(judge, spec, observer, node)
            observer.stage("Writing the tables")
            kept = judge.kept(outcome.node)
            about = {"k": spec.privacy.k, "m": spec.privacy.m, "tables": [link.name for link in links]}
            hidden = scratch.load("secret", {"secret": "VARCHAR"}, [[secret]])
            writer = Writer(engine, scratch, tables, hidden, spec)
            waiting = None
            pieces: Mapping[str, Sequence[Piece]]
            if into.has_views:
                pieces = LiveViews(engine, scratch, tables, hidden, spec, targets).pieces(outcome.node, about)
                _check_views(engine, tables, targets, pieces, into)
            elif history:
                pieces, waiting = history.pieces(writer, counting, outcome.node, kept, about)
            else:
                pieces = {name: [piece] for name, piece in writer.pieces(outcome.node, kept, about).items()}
            columns = compared_with_source(scratch, copies, columns)
            compared: Sequence[Mapping[str, Any]] = ()
            if into.folder:
                checked = _to_folder(engine, spec, links, pieces, columns, observer)
            else:
                checked, compared = _to_schema(
                    engine, spec, links, pieces, targets, columns, observer, history, waiting
                )
        warnings = _warnings(engine, spec, copies)
    names = {name: target.name if into.folder else written(engine.lasting(target)) for name, target in targets.items()}
    return LinkedRelease(links, tables, judge, outcome, checked, names, warnings, waiting, compared)


def _check_strategy(spec: LinkedSpec) -> None:
    monotone = _is_strict(spec)
    chosen = strategy(spec.strategy)
    if chosen.one_hierarchy:
        raise SpecError(f"{spec.strategy} needs one hierarchy for all columns; use auto")
    chosen.check(monotone, "rows may be left out; set both suppression limits to 0")


def _is_strict(spec: LinkedSpec) -> bool:
    return not may_suppress(spec.suppression_limit, 10**9) and not may_suppress(spec.event_suppression_limit, 10**9)


def _judge(tables: Sequence[CodedTable], here: Scratch, spec: LinkedSpec, values: Sequence[Valued]) -> LinkedJudge:
    main, *events = [table.copy for table in tables]
    if spec.privacy.k > main.rows:
        raise SpecError(f"k is {spec.privacy.k:,} but {main.link.name} has only {main.rows:,} people; lower k")
    limits = SuppressionLimits(
        may_suppress(spec.suppression_limit, main.rows),
        (0, *(may_suppress(spec.event_suppression_limit, copy.rows) for copy in events)),
    )
    weights = [
        table.copy.spec.quasi_identifiers[attribute.column.name].weight or 1.0
        for table in tables
        for attribute in table.attributes
    ]
    if not weights:
        raise SpecError("no table has quasi-identifiers; name the columns that others may know")
    whole_items = spec.into is not None and spec.into.has_views
    return LinkedJudge(tables, here, spec.privacy.k, spec.privacy.m, limits, weights, values, whole_items)


def _kept_or_found(
    judge: LinkedJudge, spec: LinkedSpec, observer: Observer, levels: Mapping[str, Mapping[str, int]] | None
) -> SearchOutcome:
    """The node of the last release if it has the same columns and is safe, otherwise the best that a search finds."""
    lattice = judge.lattice()
    if levels and [*_columns_of(levels)] == judge.columns:
        node = tuple(level for of_table in levels.values() for level in of_table.values())
        within = all(low <= level <= top for low, level, top in zip(lattice.bottom, node, lattice.top, strict=True))
        if within and judge.verdict(node).left_out is not None:
            outcome = _search(judge, spec, observer, Lattice(node, node))
            return replace(outcome, found_by="kept", lower_bound=0.0)  # no other node was tested
    if levels and spec.node == "keep":
        raise InfeasibleError("the node of the last release is no longer safe; use `node: keep_else_search`")
    return _search(judge, spec, observer, lattice)


def _columns_of(levels: Mapping[str, Mapping[str, int]]) -> list[str]:
    return [f"{table}.{column}" for table, of_table in levels.items() for column in of_table]


def _search(judge: LinkedJudge, spec: LinkedSpec, observer: Observer, lattice: Lattice) -> SearchOutcome:
    costs, allowed = judge.costs(), judge.may_suppress
    verdict = judge.verdict(lattice.top)
    if verdict.left_out is None:
        raise InfeasibleError(_why_infeasible(judge, spec, verdict.unavoidable))
    chosen = strategy(spec.strategy)
    limit = _DEFAULT_SECONDS if spec.time_limit is None else spec.time_limit
    driver = Driver(
        lattice,
        costs,
        metric(spec.metric),
        judge,
        allowed,
        monotone_model=allowed == 0 and judge.monotone,
        time_limit=limit,
        on_progress=observer.search,
        seed=spec.seed,
        prunes=True,
        mergeable=judge.monotone,
    )
    return driver.run(specialize_first if spec.strategy == "auto" else chosen)


def _why_infeasible(judge: LinkedJudge, spec: LinkedSpec, unavoidable: Sequence[int]) -> str:
    people, *rows = unavoidable
    m = spec.privacy.m
    found = [f"{n:,} rows of {table.copy.link.name}" for n, table in zip(rows, judge.tables[1:], strict=True) if n]
    if people > judge.limits.people:
        found.insert(0, f"{people:,} people")
    need = " and ".join(found) or "more people or rows than allowed"
    return (
        f"even if all columns are generalized as far as allowed, {need} must be left out so that {spec.privacy.k:,} "
        f"people share a row of the main table and {m} other rows of a person{_and_models(judge)}; raise "
        "`suppression_limit` (people), `event_suppression_limit` (rows) or `max_level`, or lower k or m"
    )


def _and_models(judge: LinkedJudge) -> str:
    names = [found.column.name for found in judge.revealing.valued]
    return f" whose values satisfy the models of {' and '.join(names)}" if names else ""


def places_of(engine: Engine, spec: LinkedSpec, links: Sequence[Link]) -> dict[str, Relation]:
    """Where the tables are written, by name; for files, names that only describe them."""
    into = spec.into
    assert into is not None
    if into.folder:
        return {link.name: Relation(str(file_of(Path(into.folder), link.name))) for link in links}
    schema = str(into.schema_name)
    engine.run(queries.create_schema(schema, engine.dialect))
    targets = {link.name: engine.place(quoted(Relation(schema, link.name))) for link in links}
    found = [engine.find(spec.tables[link.name].source or link.name) for link in links]
    sources = {source.relation for source in found if source}
    for name, target in targets.items():
        existing = engine.existing(target)
        if existing and existing.relation in sources:
            raise TargetError(f"{name} in the schema {schema} is a source of this release; name another schema")
    return targets


def _to_schema(
    engine: Engine,
    spec: LinkedSpec,
    links: Sequence[Link],
    pieces: Mapping[str, Sequence[Piece]],
    targets: Mapping[str, Relation],
    columns: Sequence[SensitiveColumn],
    observer: Observer,
    history: LinkedHistory | None,
    waiting: Waiting | None,
) -> tuple[Checked, Sequence[Mapping[str, Any]]]:
    """Create the tables in the transaction that is open, and check them; VerificationError undoes everything."""
    assert spec.into is not None
    overwrite = spec.into.overwrite or (history is not None and history.number > 1)
    with Staging() as staging:
        written_to = [Target(table=quoted(targets[link.name]), overwrite=overwrite) for link in links]
        publish_together(engine, [(target, pieces[link.name]) for target, link in zip(written_to, links, strict=True)])
        observer.stage("Checking the tables")
        with read_once(engine, targets, in_transaction=True) as released:
            checked = check_released(engine, links, spec, released, columns)
        if waiting and waiting.people:
            _require_with_waiting(checked)
        _require(checked, spec)
        compared: Sequence[Mapping[str, Any]] = ()
        if history:
            observer.stage("Comparing with earlier releases")
            compared = history.compare(engine)
        staging.place()
    return checked, compared


def _check_views(
    engine: Engine,
    tables: Sequence[CodedTable],
    targets: Mapping[str, Relation],
    pieces: Mapping[str, Sequence[Piece]],
    into: Into,
) -> None:
    """TargetError if a view would read another database file, or a companion table would replace a foreign table."""
    for table in tables:
        name = table.copy.link.name
        target = Target(table=quoted(targets[name]), form="view", overwrite=into.overwrite)
        refuse_view_elsewhere(target, targets[name], table.copy.source)
        needed = [piece.at(targets[name]) for piece in pieces[name] if piece.stem]
        check_companions(engine, target, table.copy.source, needed)


def _to_folder(
    engine: Engine,
    spec: LinkedSpec,
    links: Sequence[Link],
    pieces: Mapping[str, Sequence[Piece]],
    columns: Sequence[SensitiveColumn],
    observer: Observer,
) -> Checked:
    """Write the files to a private folder, check them as a reader sees them, and rename the folder."""
    assert spec.into is not None
    final = Path(str(spec.into.folder)).absolute()
    with PrivateFolder(final.parent) as private:
        folder = private / "release"
        folder.mkdir()
        files = {link.name: file_of(folder, link.name) for link in links}
        for name, file in files.items():
            write_file(engine, pieces[name][0], file, "parquet")
        observer.stage("Checking the tables")
        with read_files(engine, files) as (reader, released):
            checked = check_released(reader, links, spec, released, columns)
        _require(checked, spec)
        try:
            os.rename(folder, final)
        except OSError as error:
            raise TargetError(f"{final} cannot be created ({error.strerror}); name another folder") from None
    return checked


def _check_folder(folder: Path) -> None:
    if folder.exists() or folder.is_symlink():
        raise TargetError(f"{folder} exists already, and a folder is never replaced; name a new one")
    if not folder.absolute().parent.is_dir():
        raise TargetError(f"there is no folder {folder.parent} for {folder.name}; make it first")


def _require_with_waiting(checked: Checked) -> None:
    """DifferencingError if rows that wait, and are released as they were, violate a model of sensitive columns."""
    if violated := next((found for found in checked.values if found.unsafe_combinations), None):
        raise DifferencingError(
            f"{violated.column}: with rows that stay as they were in the last release, "
            f"{violated.unsafe_combinations:,} combinations would violate {violated.model}; the last release stays; "
            "set a weaker limit, or use coarser hierarchies, or "
            '`differencing_limit="unlimited"` if no one has earlier releases'
        )


def _require(checked: Checked, spec: LinkedSpec) -> None:
    """VerificationError if the tables that were just written do not satisfy the spec."""
    if checked.satisfied:
        return
    found = [
        *checked.broken,
        *(_rare(finding.rare, finding.known_rows, spec) for finding in checked.findings if finding.rare),
        *(
            f"{found.unsafe_combinations:,} combinations violate {found.model}"
            for found in checked.values
            if found.unsafe_combinations
        ),
    ]
    raise VerificationError(f"{'; '.join(found)}; nothing was released, please report it")


def _rare(rare: int, known_rows: int | str, spec: LinkedSpec) -> str:
    combinations = f"{rare:,} combinations of a person and {known_rows} of their rows"
    return f"{combinations} belong to fewer than {spec.privacy.k:,} people"


def _warnings(engine: Engine, spec: LinkedSpec, copies: Mapping[str, TableCopy]) -> list[str]:
    with_model = {(table, column) for table, column, _ in spec.requirements}
    warnings = []
    if spec.into and spec.into.has_views:
        warnings.append(
            "two reads of the views are two releases with the same keys, and anyone can compare them to find out what "
            "changed"
        )
    for copy in copies.values():
        warnings += [
            f"{copy.link.name}: {warning}" for warning in (*copy.roles.warnings, *engine.hidden(copy.source.relation))
        ]
        without = [column for column in copy.spec.sensitive if (copy.link.name, column) not in with_model]
        if without:
            warnings.append(
                f"{copy.link.name}: no privacy model limits {', '.join(without)}; if all people who share a "
                "combination have the same value, it is disclosed; add l_diversity or alpha_k"
            )
        if shifted := spec.tables[copy.link.name].shift:
            warnings.append(
                f"{copy.link.name}: {', '.join(shifted)} released with an offset per person, which is not anonymity; "
                "anyone with one date of a person can compute their other dates"
            )
        if copy.roles.kept:
            warnings.append(
                f"{copy.link.name}: {', '.join(copy.roles.kept)} released unchanged; a rare value of these "
                "columns can belong to fewer than k people"
            )
    return warnings


def levels_of(tables: Sequence[CodedTable], node: Node) -> dict[str, dict[str, int]]:
    """The levels of a node, by table and column."""
    levels = iter(node)
    return {table.copy.link.name: {a.column.name: next(levels) for a in table.attributes} for table in tables}
