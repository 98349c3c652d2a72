"""The plan of a release: the problem, solved by a search of the lattice or by a local recoding."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from kanon_sql import interrupts
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import metric
from kanon_sql.plan.earlier import node_of, regions_file
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.preflight import Ready, keeping_node, preflight
from kanon_sql.plan.problem import Problem, count
from kanon_sql.plan.source import Source
from kanon_sql.recode import RECODERS, Clock, Local, Recoder, Task
from kanon_sql.recode import show as shows
from kanon_sql.recode.keeping import keep_regions
from kanon_sql.recode.node import from_node
from kanon_sql.recode.regions import Regions, check_regions, regions_of, shown_as_before
from kanon_sql.recode.separate import bring_back, separate_database
from kanon_sql.recode.task import Spans
from kanon_sql.release.full_domain import FullDomain
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.spec import Spec, may_suppress, suppresses
from kanon_sql.strategies import Driver, SearchOutcome, strategy

_INTERRUPTED_SECONDS = 0.2  # for a search that a local recoding starts after an interrupt


_MOST_PLACINGS = 5


@dataclass(frozen=True)
class Kept:
    """Whether the recoding of an earlier release was reused, and if not, why.

    `chosen_by_values`: from the earlier manifest, because a reused node was chosen in that run. `regions_file`: of
    regions that contain all released rows; None if other rows were recoded.
    """

    kept: bool = True
    why_not: str | None = None
    chosen_by_values: bool = False
    regions_file: Path | None = None


@dataclass(frozen=True)
class Plan:
    """A problem and its solution: everything needed to write and describe the release.

    The judge of the problem answers for any node, the one of the recoding for the released classes. `outcome`: of the
    lattice search, None for a local recoding. `ended` and `search_seconds`: how the search or recoding ended, and when.
    `placed`: the recoding with all rows in the regions of an earlier release, which is not safe, for changes that wait.
    `regions`: they placed all rows of a new local recoding; None if the algorithm did.
    """

    problem: Problem
    recoding: FullDomain | LocalRecoding
    ended: str
    search_seconds: float
    outcome: SearchOutcome | None = None
    kept: Kept | None = None
    placed: LocalRecoding | None = None
    regions: Regions | None = None

    def with_cells(self) -> Plan:
        """The plan with the additional figures that metrics of bits and of generalized cells need."""
        costs = self.recoding.judge.with_cells(self.problem.costs)
        return replace(self, problem=replace(self.problem, costs=costs))


def plan_release(
    source: Source, spec: Spec, observer: Observer, search_in: str = "embedded", keep_tuples: bool = False
) -> Plan:
    """Plan a release by a lattice search, by a local recoding, or with the recoding of an earlier release."""
    ready = preflight(spec, source, search_in, releases_it=True)
    if spec.strategy in RECODERS:
        return _recode_or_keep(ready, observer, keep_tuples)
    plan = _search_or_keep(ready, observer, keep_tuples)
    if not spec.sets_show:
        return plan
    observer.phases.begin("classes")
    return shown_by_classes(plan)


def plan_search(
    source: Source, spec: Spec, observer: Observer, search_in: str = "embedded", keeps_node: bool = False
) -> Plan:
    """Check, count and search the lattice, without settling the roles of the other columns.

    `keeps_node`: whether the node that the spec reuses is tested instead.
    """
    ready = preflight(spec, source, search_in)
    return _search_or_keep(keeping_node(ready) if keeps_node else ready, observer)


def _search_or_keep(ready: Ready, observer: Observer, keep_tuples: bool = False) -> Plan:
    """The plan of the best node, or of an earlier release's node if it is still anonymous."""
    spec = ready.spec
    models = ready.models
    earlier = ready.earlier
    searching = strategy(spec.strategy)
    suppressing = suppresses(spec.suppression_limit)
    searching.check(models.monotone_for(suppressing), models.not_monotone(suppressing))
    problem = count(ready, observer, keep_tuples)
    searching.check_hierarchies(problem.lattice, problem.costs)
    kept = None
    if earlier:
        kept = Kept(earlier.why_not is None, earlier.why_not, bool(earlier.manifest.get("chosen_by_values")))
    if earlier and earlier.why_not is None:
        observer.stage("Testing the node")
        observer.phases.begin("search")
        try:
            node = node_of(earlier, spec, problem.frequency_set, problem.lattice)
            allowed = may_suppress(spec.max_suppressed, problem.costs.rows)
            return replace(planned(problem, driver_of(problem, allowed).keep(node)), kept=kept)
        except InfeasibleError as error:
            if spec.node_else == "error":
                raise
            kept = Kept(False, str(error).partition(";")[0])
    observer.stage("Searching the lattice")
    observer.phases.begin("search")
    return replace(planned(problem, search(problem, observer)), kept=kept)


def search(problem: Problem, observer: Observer, at_risk: Iterable[Node] = ()) -> SearchOutcome:
    """Run the strategy of the spec, with the judge of the problem or the observer's.

    `at_risk`: nodes that are known to leave too many rows at risk.
    """
    driver = driver_of(problem, problem.may_suppress, observer)
    driver.exclude(at_risk)
    return driver.run(strategy(problem.spec.strategy))


def driver_of(problem: Problem, allowed: int, observer: Observer | None = None) -> Driver:
    """The driver of a search, in which nodes can suppress up to `allowed` rows."""
    spec, judge = problem.spec, problem.judge
    limit = strategy(spec.strategy).default_seconds if spec.time_limit is None else spec.time_limit
    return Driver(
        problem.lattice,
        problem.costs,
        metric(spec.metric),
        observer.judge(problem) if observer and observer.judge else judge,
        allowed,
        judge.model.monotone_for(suppresses=allowed > 0),
        limit,
        observer.search if observer else None,
        spec.seed,
        spec.evaluations_of(spec.strategy),
        k_alone=judge.model.k_alone,
        prunes=judge.model.prunes,
        mergeable=judge.model.mergeable,
        counted=judge.counted,
        patience=spec.patience,
    )


def planned(problem: Problem, outcome: SearchOutcome) -> Plan:
    """The plan of a completed search."""
    spec = problem.spec
    source = problem.source
    judge = problem.judge.settled(outcome.node)
    rows_at_risk = outcome.rows_at_risk if judge is problem.judge else None
    if rows_at_risk is None:
        rows_at_risk = judge.rows_at_risk([outcome.node])[0]
    recoding = FullDomain(
        tables=source.scratches[source.engine],
        table=source.table,
        judge=judge,
        node=outcome.node,
        rows_at_risk=rows_at_risk,
        spec=spec,
        rules={name: fitted.rule for name, fitted in problem.hierarchy_sources.items()},
        read_files=source.read_files,
        time_zone=source.time_zone,
    )
    return Plan(problem, recoding, outcome.ended, outcome.seconds, outcome)


def shown_by_classes(plan: Plan) -> Plan:
    """The plan of a search whose classes show what the spec's `show` requests instead of the node's labels."""
    assert isinstance(plan.recoding, FullDomain)
    judge, node = plan.recoding.judge, plan.recoding.node
    problem = replace(plan.problem, judge=judge)
    local = from_node(problem.frequency_set, judge.model, node)
    return replace(plan, problem=problem, recoding=local_recoding(problem, local), outcome=None)


def _recode_or_keep(ready: Ready, observer: Observer, keep_tuples: bool) -> Plan:
    """The plan of a local recoding, or of the regions of an earlier one if they are still anonymous."""
    spec = ready.spec
    earlier = ready.earlier
    regions = ready.regions
    problem = count(ready, observer, keep_tuples)
    observer.stage("Recoding")
    observer.phases.begin("search")
    kept = Kept(False, earlier.why_not) if earlier else None
    if regions:
        regions = check_regions(regions, problem.columns, _display_forms(problem, RECODERS[spec.strategy]))
        try:
            kept = Kept(regions_file=regions_file(earlier) if earlier and spec.defers else None)
            return replace(recode(problem, observer, regions), kept=kept)
        except InfeasibleError as error:
            if spec.node_else == "error":
                raise
            kept = Kept(False, str(error).partition(";")[0])
    plan = replace(recode(problem, observer), kept=kept)
    return _placed_by_regions(plan, observer) if spec.defers and spec.write_regions else plan


def _placed_by_regions(plan: Plan, observer: Observer) -> Plan:
    """Put every row into the class in which later releases will put an equal row, if that is possible.

    Where classes overlap, their regions put some rows into other classes than the algorithm did. If that makes classes
    unsafe, these are recoded, and the regions of the result are tried, a few times.
    """
    problem, first = plan.problem, plan
    recoding_unsafe = replace(problem, spec=problem.spec.model_copy(update={"differencing": "refuse"}))
    for _ in range(_MOST_PLACINGS):
        assert isinstance(plan.recoding, LocalRecoding)
        recoding, tables = plan.recoding, problem.frequency_set.tables
        regions = regions_of(tables, recoding.local, recoding.classes, recoding.orders, recoding.hows)
        try:
            recut = recode(recoding_unsafe, observer, regions)
            assert isinstance(recut.recoding, LocalRecoding)
            if recut.recoding.local.facts["recut_rows"]:
                plan = _described_as(first, recut)
                continue
            placed = recode(problem, observer, regions)
            if placed.placed is None and placed.recoding.rows_at_risk <= recoding.rows_at_risk:
                return _described_as(first, placed, regions)
        except InfeasibleError:  # more rows are outside of all regions than may be suppressed, or no class is safe
            pass
        return replace(recode(problem, observer), kept=first.kept)  # its tables were replaced
    return plan


def _described_as(first: Plan, plan: Plan, regions: Regions | None = None) -> Plan:
    """A plan with the figures of the algorithm's run, and the regions that placed all rows, if there are such."""
    assert isinstance(first.recoding, LocalRecoding)
    assert isinstance(plan.recoding, LocalRecoding)
    facts = {**first.recoding.local.facts, **({"placed_by_regions": True} if regions else {})}
    recoding = replace(plan.recoding, local=replace(plan.recoding.local, facts=facts))
    return replace(first, recoding=recoding, regions=regions)


def recode(problem: Problem, observer: Observer, regions: Regions | None = None) -> Plan:
    """Run the local recoding of the spec within its time limit, on all tuples or on the tuples outside the regions."""
    spec = problem.spec
    recoder = RECODERS[problem.spec.strategy]
    judge = problem.judge
    started = time.monotonic()
    limit = recoder.default_seconds if spec.time_limit is None else spec.time_limit
    clock = Clock(limit, observer.recode, patience=spec.patience)
    weights = problem.costs.weights or (1.0,) * len(problem.columns)

    def spans() -> tuple[Spans | None, ...]:
        """The span of every quasi-identifier's values, in the form in which classes show them."""
        recipes = [spec.quasi_identifiers[name].hierarchy for name in problem.columns]
        attributes = problem.frequency_set.attributes
        forms = _display_forms(problem, recoder)
        return tuple(map(shows.spans, attributes, forms, recipes))

    with (
        interrupts.caught(clock.interrupt),
        separate_database(problem.frequency_set, problem.source.engine) as moved,
    ):
        moved_problem = replace(problem, frequency_set=moved, judge=Judge(moved, judge.model))

        def optimum(seconds: float | None) -> Node:
            """The best node of a lattice search."""
            seconds = _INTERRUPTED_SECONDS if clock.interrupted else seconds
            limited = spec.model_copy(update={"strategy": "auto", "time_limit": seconds, "patience": None})
            return search(replace(moved_problem, spec=limited), observer).node

        task = Task(
            moved,
            judge.model,
            spec,
            weights,
            clock,
            moved_problem.judge,
            problem.costs,
            problem.lattice,
            optimum,
            spans=spans,
        )
        local = recoder(task) if regions is None else keep_regions(recoder, task, regions)
        local = bring_back(local, moved.engine, problem.frequency_set.tables)
    seconds = time.monotonic() - started  # the time limit does not cover building and releasing the classes
    observer.phases.begin("classes")
    placed = local_recoding(problem, local.placed, recoder, "placed_classes") if local.placed else None
    return Plan(problem, local_recoding(problem, local, recoder), local.ended, seconds, placed=placed)


def local_recoding(
    problem: Problem, local: Local, recoder: Recoder | None = None, stem: str = "local_classes"
) -> LocalRecoding:
    """The recoding of a local algorithm's result, whose classes show what the spec's `show` requests.

    `stem`: the name of the table of classes.
    """
    frequency_set = problem.frequency_set
    spec = problem.spec
    source = problem.source
    forms = ("labels",) * len(problem.columns) if local.classes else _display_forms(problem, recoder)
    orders = shows.load_orders(frequency_set.tables, frequency_set, forms)
    classes = local.classes or shows.make_classes(frequency_set.tables, local, orders, forms, spec, stem)
    if local.kept:
        classes = shown_as_before(frequency_set.tables, classes, orders, forms, local.kept)
    figures = shows.figures(frequency_set.engine, local, classes, orders, forms, frequency_set.rows)
    return LocalRecoding(
        tables=source.scratches[source.engine],
        table=source.table,
        judge=problem.judge,
        local=local,
        classes=classes,
        orders=orders,
        hows=forms,
        figures=figures,
        rows_at_risk=figures.rows - figures.released_rows,
        spec=spec,
        read_files=source.read_files,
    )


def _display_forms(problem: Problem, recoder: Recoder | None) -> tuple[str, ...]:
    """How classes show every quasi-identifier, if the algorithm does not generate the labels itself."""
    spec = problem.spec
    table = problem.source.table
    ranges = recoder is not None and recoder.ranges
    return tuple(shows.how_of(spec, table, name, ranges) for name in problem.columns)
