"""The one road: source, hierarchies, frequency set, search, recoding, release, manifest."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_sql import anatomy, cloak, interrupts, perturb, queries, roles, tables
from kanon_sql import manifest as manifests
from kanon_sql import release as releases
from kanon_sql import spec as specs
from kanon_sql.engine import Engine, Table, refuse_equal_names
from kanon_sql.engines.duckdb import DuckDB, Fingerprint, files, fingerprints
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.fitting import Fit, fits
from kanon_sql.frequency import TUPLES, FrequencySet, build_frequency_set, check_rows, told_apart
from kanon_sql.judge import Judge, may_suppress
from kanon_sql.lattice import Lattice, Node
from kanon_sql.loss import Costs, metric
from kanon_sql.mapping import Place, values_of
from kanon_sql.privacy import PrivacyModel, k_anonymity
from kanon_sql.recode import RECODERS, Clock, Local, Recoder, Rounds, Task
from kanon_sql.recode import show as shows
from kanon_sql.recode.bench import bench, bring_back
from kanon_sql.recode.node import from_node
from kanon_sql.recode.order import relation_of
from kanon_sql.recode.task import ASSIGNMENT, CLASSES, CUTS
from kanon_sql.recoding import HELD, FullDomain, LocalRecoding, Recoding, names_beside
from kanon_sql.roles import Roles
from kanon_sql.search import STRATEGIES, Driver, Outcome, Progress, Step, strategy
from kanon_sql.spec import Spec, Target
from kanon_sql.staging import Staging

if TYPE_CHECKING:
    import pandas

IN_MEMORY = "in memory"  # what a DataFrame or an Arrow table is called in the manifest


@dataclass
class Watch:
    """Whoever wants to see a long run: told of each stage, and of the search or the recoding as it goes."""

    stage: Callable[[str], None] = lambda _: None
    search: Callable[[Progress], None] | None = None
    recode: Callable[[Rounds], None] | None = None


@dataclass(frozen=True)
class Opened:
    """A source that is open: its engine, its table, and the files it is read from, as they were before.

    `roles`: what `settle_roles` made of the columns without a role; the table then has no column that is dropped so.
    """

    engine: Engine
    table: Table
    fingerprints: Mapping[Path, Fingerprint] = field(default_factory=dict)
    owned: bool = True
    roles: Roles = field(default_factory=Roles)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the source is read from, none for a table."""
        return tuple(self.fingerprints)

    def check_unchanged(self, source: str) -> None:
        """Stop a release of files that are others now: what was counted is not what was written."""
        if self.fingerprints and fingerprints(source) != self.fingerprints:
            raise SourceError(
                f"{source} changed while it was read, and nothing was released; run again when nobody writes to it"
            )


@dataclass(frozen=True)
class Counted:
    """All that a search needs: what is asked for, and the source's frequency set."""

    spec: Spec
    source: Opened
    fits: dict[str, Fit]
    frequency_set: FrequencySet
    judge: Judge
    costs: Costs
    lattice: Lattice
    frequency_seconds: float

    @property
    def columns(self) -> list[str]:
        """The quasi-identifiers, in the order of a node's levels."""
        return [attribute.column.name for attribute in self.frequency_set.attributes]


@dataclass(frozen=True)
class Plan(Counted):
    """A finished search: all that is needed to write the release, and to say what it is."""

    outcome: Outcome
    recoding: FullDomain

    @property
    def ended(self) -> str:
        """How the search ended."""
        return self.outcome.ended

    @property
    def search_seconds(self) -> float:
        """What the search took."""
        return self.outcome.seconds


@dataclass(frozen=True)
class LocalPlan(Counted):
    """A finished local recoding: all that is needed to write the release, and to say what it is."""

    recoding: LocalRecoding
    ended: str
    search_seconds: float


@dataclass
class Release:
    """A verified release. `manifest` says what it is, `sql` how it was made, `to_df()` reads it.

    `trace`: every question that the search asked of the data, in order, with its answer.
    """

    manifest: dict[str, Any]
    sql: str
    trace: tuple[Step, ...] = field(repr=False)
    _written: releases.Written = field(repr=False)
    _engine: Engine = field(repr=False)

    def to_df(self) -> pandas.DataFrame:
        """The released rows as a pandas DataFrame."""
        if self._written.path:
            reader = DuckDB()
            found: pandas.DataFrame = reader.frame(reader.read_file(str(self._written.path)).relation)
            return found
        frame: pandas.DataFrame = self._engine.frame(self._written.relation)
        return frame


def anonymize(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    connection: Any = None,
    watch: Watch | None = None,
    search_in: str = "embedded",
    trace: Path | None = None,
    **overrides: Any,
) -> Release:
    """Anonymize a table, write the release where the spec says, and verify it there.

    `source`: the path of a CSV or Parquet file (a glob too), the name of a table in the spec's `database`
    or behind `connection` (DuckDB or psycopg), a pandas DataFrame, or an Arrow table; left out, the spec's
    own. `spec`: a `Spec`, a mapping of the same shape, or the path of a YAML file; keyword arguments win
    over it (`k=5`, `quasi_identifiers=["age"]`, `hierarchies="folder"`, `into="patients_anon"`, …).
    Without a target the release is kept in a temporary table. `search_in`: where a server's frequency set
    is searched, `embedded` (DuckDB beside us) or `engine`. `trace`: a file for every question of the search, as lines
    of JSON. Raises KanonError; then nothing was written.

    >>> import pandas
    >>> people = pandas.DataFrame({"name": list("abcd"), "zip": ["12", "13", "21", "22"], "ill": list("xyxy")})
    >>> spec = {"identifiers": ["name"], "quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}}
    >>> release = anonymize(people, spec, k=2)
    >>> release.to_df().values.tolist()
    [['1*', 'x'], ['1*', 'y'], ['2*', 'x'], ['2*', 'y']]
    >>> release.manifest["node"], release.manifest["proven_optimal"]
    ({'zip': 1}, True)
    """
    watch = watch or Watch()
    settled = settle_spec(source, spec, overrides)
    started = time.monotonic()
    with releasing(source, settled, connection, keep=settled.target is None) as (found, staging):
        made = _made(found, settled, watch, search_in, staging, started)
        if trace:
            with staging.file(trace, settled.target is not None and settled.target.overwrite) as path:
                path.write_text("".join(f"{json.dumps(asdict(step))}\n" for step in made.trace), encoding="utf-8")
        return made


@contextlib.contextmanager
def releasing(source: Any, spec: Spec, connection: Any = None, keep: bool = False) -> Iterator[tuple[Opened, Staging]]:
    """Open the source for one release, all of which becomes visible at the end of the block, or nothing.

    Files are placed when the source is read and closed. A table is there when the transaction ends, and files beside
    it just before.
    """
    with Staging() as staging:
        with opened(source, spec, connection, keep) as found, found.engine.transaction():
            try:
                yield found, staging
            except KanonError:
                found.check_unchanged(spec.source)  # else it is no wonder that something does not fit
                raise
            found.check_unchanged(spec.source)
            if spec.target and spec.target.table:
                staging.place()
        staging.place()


def _made(found: Opened, spec: Spec, watch: Watch, search_in: str, staging: Staging, started: float) -> Release:
    if spec.location:
        return _cloaked(found, spec, staging, watch, started)
    plan = plan_release(found, spec, watch, search_in)
    watch.stage("Writing the release")
    shown = perturb.perturbed_source(found.engine, plan.source.table, spec)
    written = _write(replace(plan.recoding, table=shown), spec.target, staging)
    watch.stage("Describing the release")
    described = manifests.describe(plan, written, started)
    if found.table.form == "view" and not found.files and isinstance(found.engine, DuckDB):
        check_rows(found.engine, found.table, plan.frequency_set)  # the view may read files, of any other database too
    tidy(plan)
    trace = plan.outcome.trace if isinstance(plan, Plan) else ()
    return Release(described, written.sql, trace, written, found.engine)


def _write(recoding: Recoding, target: Target | None, staging: Staging) -> releases.Written:
    if target and target.form == "anatomy":
        return anatomy.write(recoding, target, staging)
    return releases.write(recoding, target, staging)


def _cloaked(found: Opened, spec: Spec, staging: Staging, watch: Watch, started: float) -> Release:
    written, described = cloak.release(found.engine, found.table, found.files, spec, staging, watch.stage, started)
    return Release(described, written.sql, (), written, found.engine)


def tidy(counted: Counted) -> None:
    """Leave nothing of ours in a session that goes on, but the release."""
    counted.judge.drop()
    perturb.drop(counted.source.engine)
    found = counted.frequency_set
    for engine in {id(e): e for e in (counted.source.engine, found.engine)}.values():
        ours = (HELD, ASSIGNMENT, CLASSES, CUTS, found.relation)
        mappings = (attribute.coded.mapping for attribute in found.attributes)
        orders = (relation_of(attribute) for attribute in found.attributes)
        for relation in (*ours, *mappings, *orders):
            engine.run(queries.drop(relation, engine.dialect))


def settle_spec(source: Any, spec: Spec | dict[str, Any] | str | Path | None, overrides: dict[str, Any]) -> Spec:
    """Join what the spec, the source and the keyword arguments say."""
    named = str(source) if isinstance(source, (str, Path)) else None if source is None else IN_MEMORY
    if isinstance(spec, (str, Path)):
        return specs.load(spec, source=named, **overrides)
    if isinstance(spec, Spec):
        return specs.merge(spec, source=named, **overrides)
    return specs.merge(specs.parse({"source": named, **(spec or {})}) if spec else None, source=named, **overrides)


def opened_source(source: str, database: str | None) -> contextlib.AbstractContextManager[Opened]:
    """Open a source of which nothing but its place is known."""
    # A spec needs a quasi-identifier; this one is never asked for.
    return opened(source, specs.parse({"source": source, "database": database, "quasi_identifiers": ["-"]}))


def column_values(found: Opened, column: str) -> list[Any]:
    """The distinct values of one column, as a hierarchy is made of them."""
    engine, found_column = found.engine, found.table.column(column)
    if found_column is None:
        raise SpecError(f"there is no column {column!r} in {found.table.relation.name}")
    engine.send(
        queries.text("core/tuples", engine.dialect, columns=[column], source=found.table.relation), engine, TUPLES
    )
    values = values_of(Place(engine, TUPLES, found_column))
    engine.run(queries.drop(TUPLES, engine.dialect))
    return values


def model_of(spec: Spec) -> PrivacyModel:
    """The privacy model that a spec asks for."""
    return k_anonymity(spec.privacy.k)


@contextlib.contextmanager
def opened(source: Any, spec: Spec, connection: Any = None, keep: bool = False) -> Iterator[Opened]:
    """Open the source; what was opened here is closed again, unless it is to be kept and all went well."""
    found = open_source(source, spec, connection)
    try:
        yield found
    except BaseException:
        keep = False
        raise
    finally:
        if found.owned and not keep:
            found.engine.close()


def open_source(source: Any, spec: Spec, connection: Any = None) -> Opened:
    """Find the data that a spec names, or that a program hands over."""
    if source is not None and not isinstance(source, (str, Path)):
        memory = DuckDB()
        return Opened(memory, memory.register(source))
    if connection is not None:
        return _find(engine_of(connection), spec, owned=False)
    engine = open_engine(spec)
    try:
        return _find(engine, spec, owned=True)
    except BaseException:
        engine.close()
        raise


def _find(engine: Engine, spec: Spec, owned: bool) -> Opened:
    table = engine.find(spec.source)
    if table is None and _is_file(spec.source):
        if not isinstance(engine, DuckDB):
            raise SpecError(f"{spec.source} is a file, which {engine.name} cannot read; load it into a table first")
        if spec.target and spec.target.stays_a_query:
            raise SpecError("a view needs a table below it; load the file into the database, or give --as table")
        before = fingerprints(spec.source)
        return Opened(engine, engine.read_file(spec.source), before, owned)
    if table is None:
        raise SourceError(
            f"there is no table {specs.speakable(spec.source)} in the database; check its name, or its schema"
        )
    refuse_equal_names([column.name for column in table.columns], spec.source)
    return Opened(engine, table, owned=owned)


def open_engine(spec: Spec) -> Engine:
    """Open the database of a spec: PostgreSQL by its URL, else a DuckDB file, else one in memory."""
    if spec.database is None:
        if not _is_file(spec.source):
            raise SourceError(f"there is no file {specs.speakable(spec.source)}; for a table give --database")
        if spec.target and spec.target.table:
            raise SpecError(f"the table {spec.target.table} needs a database; give --database, or a file by --output")
        return DuckDB()
    if specs.names_a_server(spec.database):
        from kanon_sql.engines.postgres import PostgreSQL

        return PostgreSQL.open(spec.database)
    if specs.speakable(spec.database) != spec.database and not Path(spec.database).exists():
        raise SpecError(
            "the given database is neither a DuckDB file nor a PostgreSQL server; name the one by its path, the other "
            "as postgresql://user:password@host:port/database"
        )
    into_new = spec.target is not None and spec.target.table is not None and _is_file(spec.source)
    return DuckDB.open(spec.database, create=into_new)


def engine_of(connection: Any) -> Engine:
    """Wrap a connection of the caller's, which stays open."""
    if type(connection).__module__.split(".")[0] == "psycopg":
        from kanon_sql.engines.postgres import PostgreSQL

        return PostgreSQL(connection)
    return DuckDB(connection)


def _is_file(source: str) -> bool:
    return bool(files(source)) or Path(source).suffix.lower() in (".csv", ".parquet", ".pq", ".tsv")


def plan_release(
    found: Opened, spec: Spec, watch: Watch, search_in: str = "embedded", keep_tuples: bool = False
) -> Plan | LocalPlan:
    """Everything up to the release, by a search of the lattice or by a local recoding."""
    if spec.strategy != "prioprivacy" and (spec.wildcard_suppression or spec.rules):
        asked = "--wildcard-suppression" if spec.wildcard_suppression else "--rules"
        raise SpecError(
            f"{asked} is for --strategy prioprivacy, and the strategy is {spec.strategy}; leave out the one"
        )
    sized = next((name for name, asked in spec.quasi_identifiers.items() if asked.domain is not None), None)
    if sized is not None and spec.strategy != "prioprivacy":
        raise SpecError(
            f"the domain of {sized!r} is for --strategy prioprivacy, and the strategy is {spec.strategy}; leave it out"
        )
    if spec.strategy not in (*STRATEGIES, *RECODERS):
        raise SpecError(
            f"{spec.strategy!r} is not a strategy; choose one of {', '.join((*STRATEGIES, *RECODERS, 'cloak'))}"
        )
    check_roles(spec, found.table)
    found = settle_roles(found, spec)
    if spec.strategy in RECODERS:
        return make_local_plan(found, spec, watch, search_in, keep_tuples)
    if shows.asked(spec):
        return _shown_otherwise(found, spec, watch, search_in, keep_tuples)
    return make_plan(found, spec, watch, search_in, keep_tuples)


def settle_roles(found: Opened, spec: Spec) -> Opened:
    """Leave out of the source what a release drops unasked; SpecError if it keeps unasked what should be named."""
    table, settled = roles.settle(found.engine, found.table, spec)
    return replace(found, table=table, roles=settled)


def _shown_otherwise(found: Opened, spec: Spec, watch: Watch, search_in: str, keep_tuples: bool) -> LocalPlan:
    """A search whose classes show something else than the node's labels, such as their mean."""
    _check_shown(found, spec, search_in)
    plan = make_plan(found, spec, watch, search_in, keep_tuples)
    local = from_node(plan.frequency_set, plan.judge.model, plan.outcome.node)
    counted = {each.name: getattr(plan, each.name) for each in fields(Counted)}
    recoding = local_recoding(plan, local)
    return LocalPlan(**counted, recoding=recoding, ended=plan.ended, search_seconds=plan.search_seconds)


def make_local_plan(
    found: Opened, spec: Spec, watch: Watch, search_in: str = "embedded", keep_tuples: bool = False
) -> LocalPlan:
    """Everything up to the release of a local recoding: check, count, recode."""
    recoder = RECODERS[spec.strategy]
    _check_local(found, spec, search_in)
    counted = count(found, spec, watch, search_in, keep_tuples)
    watch.stage("Recoding")
    started = time.monotonic()
    limit = recoder.default_seconds if spec.time_limit is None else spec.time_limit
    clock = Clock(limit, watch.recode)
    with interrupts.caught(clock.interrupt), bench(counted.frequency_set, found.engine) as moved:
        beside = replace(counted, frequency_set=moved, judge=Judge(moved, counted.judge.model))
        local = recoder(_task(beside, clock, watch))
        bring_back(local, moved.engine, counted.frequency_set.engine)
    seconds = time.monotonic() - started  # what the limit is for; making and releasing the classes comes after it
    recoding = local_recoding(counted, local, recoder)
    return LocalPlan(**vars(counted), recoding=recoding, ended=local.ended, search_seconds=seconds)


def local_recoding(counted: Counted, local: Local, recoder: Recoder | None = None) -> LocalRecoding:
    """Make the classes of a local algorithm's assignment show what the spec asks for."""
    found, spec, table = counted.frequency_set, counted.spec, counted.source.table
    orders = shows.load_orders(found.engine, found)
    ranges = recoder is not None and recoder.ranges
    hows = tuple("labels" if local.classes else shows.how_of(spec, table, name, ranges) for name in counted.columns)
    if local.classes is None:
        shows.make_classes(found.engine, local, orders, hows, spec)
    figures = shows.figures(found.engine, local, orders, hows, found.rows)
    return LocalRecoding(counted.source.engine, table, counted.judge, local, orders, hows, figures, spec)


def _task(counted: Counted, clock: Clock, watch: Watch) -> Task:
    def optimum(seconds: float | None) -> Node:
        limited = counted.spec.model_copy(update={"strategy": "auto", "time_limit": seconds})
        return search(replace(counted, spec=limited), watch).node

    weights = counted.costs.weights or (1.0,) * len(counted.columns)
    args = counted.judge, counted.costs, counted.lattice
    return Task(counted.frequency_set, counted.judge.model, counted.spec, weights, clock, *args, optimum)


def _check_local(found: Opened, spec: Spec, search_in: str) -> None:
    """Refuse what a local recoding cannot promise, before any long work."""
    _check_shown(found, spec, search_in)
    if spec.wildcard_suppression and spec.target and spec.target.form != "table":
        form = spec.target.form
        raise SpecError(f"a release with wildcards has no classes that an {form} could keep; give --as table")
    for name, asked in spec.quasi_identifiers.items():
        if asked.min_level or asked.max_level is not None:
            raise SpecError(
                f"{spec.strategy} knows no levels, so min_level and max_level of {name!r} cannot hold; leave them out"
            )


def _check_shown(found: Opened, spec: Spec, search_in: str) -> None:
    """Refuse what a release by classes cannot do."""
    if search_in == "engine" and not isinstance(found.engine, DuckDB):
        raise SpecError(f"a local recoding works in DuckDB, beside {found.engine.name}; leave out --search-in engine")
    if spec.mask:
        raise SpecError("a local recoding has no node whose masked rows could be shown as *; leave out --mask")
    shows.check_show(spec, found.table)


def make_plan(found: Opened, spec: Spec, watch: Watch, search_in: str = "embedded", keep_tuples: bool = False) -> Plan:
    """Everything up to the release: check, count, search."""
    if spec.strategy in RECODERS:
        raise SpecError(f"{spec.strategy} is a local recoding, which has no lattice to look at; name a search strategy")
    if not spec.location:
        strategy(spec.strategy).check(model_of(spec).monotone)
    counted = count(found, spec, watch, search_in, keep_tuples)
    watch.stage("Searching the lattice")
    outcome = search(counted, watch)
    at_risk = counted.judge.rows_at_risk([outcome.node])[0]
    recoding = FullDomain(found.engine, found.table, counted.judge, outcome.node, at_risk, spec)
    return Plan(**vars(counted), outcome=outcome, recoding=recoding)


def count(found: Opened, spec: Spec, watch: Watch, search_in: str = "embedded", keep_tuples: bool = False) -> Counted:
    """Everything up to the search: check what is asked for, and count the distinct tuples."""
    if spec.location:
        raise SpecError(
            "places are cloaked without a lattice, so that there is none to show; give kanon anonymize alone"
        )
    check_roles(spec, found.table)
    releases.check_target(spec.target, found.engine, found.table, found.files)
    anatomy.check(found.engine, found.table, spec)
    perturb.check(found.engine, found.table, spec)
    metric(spec.metric)
    if spec.mask and spec.target and spec.target.stays_a_query:
        raise SpecError("a view drops rows instead of masking them; give --as table with --mask")
    fitted = fits(spec, found.table, found.engine, order_will_do=spec.strategy in RECODERS)
    local = spec.strategy in RECODERS or shows.asked(spec)
    if spec.target and spec.target.stays_a_query:
        view = found.engine.place(str(spec.target.table))
        tables.check_beside(found.engine, spec.target, found.table, names_beside(view, list(fitted), local))
    watch.stage("Counting the distinct tuples")
    started = time.monotonic()
    here = found.engine if isinstance(found.engine, DuckDB) or search_in == "engine" else DuckDB()
    builders = {name: fit.build for name, fit in fitted.items()}
    frequency_set = build_frequency_set(found.engine, found.table, builders, here, keep_tuples, spec.unmapped)
    if local:
        frequency_set = told_apart(frequency_set)
    seconds = time.monotonic() - started
    _check_size(spec, frequency_set)
    judge = Judge(frequency_set, model_of(spec))
    costs = replace(judge.costs(), weights=weights_of(spec), beta=spec.beta)
    return Counted(spec, found, fitted, frequency_set, judge, costs, _bounded(spec, frequency_set), seconds)


def weights_of(spec: Spec) -> tuple[float, ...]:
    """One weight per quasi-identifier: its own, or (P - p + 1) / P of its priority p of 1 to P; empty if none is said.

    Of PrioPrivacy's comparison (the importance of an attribute as a weight). An attribute without a priority, where
    others have one, is among the least important.
    """
    asked = spec.quasi_identifiers.values()
    if not any(a.weight or a.priority for a in asked):
        return ()
    last = max((a.priority for a in asked if a.priority), default=1)
    return tuple(a.weight or (last - (a.priority or last) + 1) / last for a in asked)


def search(counted: Counted, watch: Watch) -> Outcome:
    """Run the strategy of the spec; its questions go to the judge that was counted with."""
    spec, costs, judge = counted.spec, counted.costs, counted.judge
    chosen = strategy(spec.strategy)
    limit = chosen.default_seconds if spec.time_limit is None else spec.time_limit
    driver = Driver(
        counted.lattice,
        costs,
        metric(spec.metric),
        judge,
        may_suppress(spec.suppression_limit, costs.rows),
        judge.model.monotone,
        limit,
        watch.search,
        spec.seed,
        spec.evaluations,
    )
    return driver.run(chosen)


def check_roles(spec: Spec, table: Table) -> None:
    """Every column that the spec names must be there, in its own capitals."""
    named = {
        "identifier": spec.identifiers,
        "quasi-identifier": spec.quasi_identifiers,
        "sensitive": spec.sensitive,
        "kept": spec.kept_by_name,
    }
    known = [column.name for column in table.columns]
    for role, columns in named.items():
        for column in columns:
            if column not in known:
                near = next((f"; did you mean {name!r}?" for name in known if name.lower() == column.lower()), "")
                raise SpecError(f"there is no {role} column {column!r}{near or '; there are ' + ', '.join(known)}")


def _check_size(spec: Spec, frequency_set: FrequencySet) -> None:
    if frequency_set.rows == 0:
        raise SourceError(f"{spec.source} has no rows; there is nothing to anonymize")
    if spec.privacy.k > frequency_set.rows:
        raise SpecError(
            f"k is {spec.privacy.k:,} but {spec.source} has only {frequency_set.rows:,} rows, so that not even "
            "one class could hold them; lower k"
        )


def _bounded(spec: Spec, frequency_set: FrequencySet) -> Lattice:
    """The lattice between each attribute's min_level and max_level."""
    bottom, top = [], []
    for attribute in frequency_set.attributes:
        asked, height = spec.quasi_identifiers[attribute.column.name], attribute.hierarchy.height
        if asked.min_level > height:
            raise SpecError(
                f"min_level of {attribute.column.name!r} is {asked.min_level}, above the height of its hierarchy, "
                f"{height}; lower it"
            )
        bottom.append(asked.min_level)
        top.append(height if asked.max_level is None else min(asked.max_level, height))
    return Lattice(tuple(bottom), tuple(top))
