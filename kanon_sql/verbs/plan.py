"""The plan of a release: the problem, solved by a search of the lattice or by a local recoding."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from functools import partial

from kanon_sql import interrupts
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import metric
from kanon_sql.own import Own
from kanon_sql.recode import RECODERS, Clock, Local, Recoder, Task
from kanon_sql.recode import show as shows
from kanon_sql.recode.keeping import keep_regions
from kanon_sql.recode.node import from_node
from kanon_sql.recode.regions import Regions, check_regions, read_regions, shown_as_before
from kanon_sql.recode.separate import bring_back, separate_database
from kanon_sql.recode.task import Spans
from kanon_sql.release.full_domain import FullDomain
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.spec import CLOAK, Spec, Verb, check, may_suppress, suppresses
from kanon_sql.strategies import STRATEGIES, Driver, Outcome, strategy
from kanon_sql.verbs.drift import drift
from kanon_sql.verbs.earlier import Earlier, check_columns, check_kind, earlier_of, node_of, regions_file
from kanon_sql.verbs.models import searched_models
from kanon_sql.verbs.observer import Observer
from kanon_sql.verbs.problem import Problem, check_roles, count, settle_roles
from kanon_sql.verbs.source import Source

_INTERRUPTED_SECONDS = 0.2  # for the search of an algorithm that is to stop


@dataclass(frozen=True)
class Kept:
    """Whether the recoding of an earlier release was kept, and if not, why.

    `chosen_by_values`: what the earlier manifest says of its node, which nobody chose anew.
    """

    kept: bool = True
    why_not: str | None = None
    chosen_by_values: bool = False


@dataclass(frozen=True)
class Plan(Problem):
    """A finished search: all that is needed to write the release, and to say what it is.

    `tested`: the judge of all nodes; `judge` is settled for the released one. `pruned_by`: what the search ruled nodes
    out by, where a privacy model is not monotone.
    """

    tested: Judge
    outcome: Outcome
    recoding: FullDomain
    pruned_by: str | None
    kept: Kept | None = None

    @property
    def ended(self) -> str:
        """How the search ended."""
        return self.outcome.ended

    @property
    def search_seconds(self) -> float:
        """What the search took."""
        return self.outcome.seconds


@dataclass(frozen=True)
class LocalPlan(Problem):
    """A finished local recoding: all that is needed to write the release, and to say what it is."""

    recoding: LocalRecoding
    ended: str
    search_seconds: float
    kept: Kept | None = None


def check_spec(spec: Spec, verb: Verb) -> None:
    """Refuse what the spec alone can tell, before anything is opened."""
    known = (*STRATEGIES, *RECODERS, CLOAK)
    if spec.strategy not in known and not isinstance(spec.strategy, Own):
        raise SpecError(f"{spec.strategy!r} is not a strategy; choose one of {', '.join(known)}")
    check(spec, verb)


def plan_release(
    source: Source, spec: Spec, observer: Observer, search_in: str = "embedded", keep_tuples: bool = False
) -> Plan | LocalPlan:
    """Everything up to the release, by a search of the lattice, by a local recoding, or as an earlier release."""
    check_roles(spec, source.table)
    earlier = earlier_of(spec)
    source, earlier = _followed(source, spec, earlier) if earlier else (settle_roles(source, spec), None)
    if spec.strategy in RECODERS:
        return make_local_plan(source, spec, observer, search_in, keep_tuples, earlier)
    if shows.asked(spec):
        return _shown_otherwise(source, spec, observer, search_in, keep_tuples, earlier)
    return make_plan(source, spec, observer, search_in, keep_tuples, earlier)


def _followed(source: Source, spec: Spec, earlier: Earlier) -> tuple[Source, Earlier]:
    """The source as far as an earlier release knew it, with its roles; SpecError for what drifted and may not."""
    check_columns(earlier, spec)
    check_kind(earlier, spec, spec.strategy in RECODERS)
    drifted = drift(earlier.manifest, source, spec)
    for each in drifted:
        if each.stops:
            raise SpecError(f"{each.text}; {each.way_out}")
    new = [each.column for each in drifted if each.policy == "drop"]
    known = replace(source.table, columns=tuple(c for c in source.table.columns if c.name not in new))
    settled = settle_roles(replace(source, table=known), spec)
    roles = replace(settled.roles, dropped=(*settled.roles.dropped, *new))
    why_not = next((each.text for each in drifted if each.policy == "search"), None)
    return replace(settled, roles=roles), replace(earlier, why_not=why_not)


def make_plan(
    source: Source,
    spec: Spec,
    observer: Observer,
    search_in: str = "embedded",
    keep_tuples: bool = False,
    earlier: Earlier | None = None,
) -> Plan:
    """Everything up to the release: check, count, search; or in the place of a search the node that is kept."""
    check_roles(spec, source.table)
    models, suppressing = searched_models(spec, source), suppresses(spec.suppression_limit)
    strategy(spec.strategy).check(models.monotone_for(suppressing), models.not_monotone(suppressing))
    problem = count(source, spec, observer, search_in, keep_tuples, models)
    strategy(spec.strategy).check_hierarchies(problem.lattice, problem.costs)
    if earlier is None:
        observer.stage("Searching the lattice")
        return planned(problem, search(problem, observer))
    return _kept_or_searched(problem, observer, earlier)


def _kept_or_searched(problem: Problem, observer: Observer, earlier: Earlier) -> Plan:
    """The plan of the node that is kept, or where that may be of another that is searched for, with the reason."""
    by_values = bool(earlier.manifest.get("chosen_by_values"))
    kept = Kept(earlier.why_not is None, earlier.why_not, by_values)
    if kept.kept:
        observer.stage("Testing the node")
        try:
            return replace(planned(problem, keep_node(problem, earlier)), kept=kept)
        except InfeasibleError as error:
            if problem.spec.node_else == "error":
                raise
            kept = Kept(False, str(error).partition(";")[0])
    observer.stage("Searching the lattice")
    return replace(planned(problem, search(problem, observer)), kept=kept)


def keep_node(problem: Problem, earlier: Earlier) -> Outcome:
    """The node of an earlier release, judged and scored alone; InfeasibleError if it does not hold any more."""
    node = node_of(earlier, problem.spec, problem.frequency_set, problem.lattice)
    return driver_of(problem, may_suppress(problem.spec.may_leave_out, problem.costs.rows)).keep(node)


def planned(problem: Problem, outcome: Outcome) -> Plan:
    """A finished search as a plan of its release."""
    spec, source = problem.spec, problem.source
    pruned_by = problem.judge.model.pruned_by(may_suppress(spec.suppression_limit, problem.costs.rows) > 0)
    tested, problem = problem.judge, replace(problem, judge=problem.judge.settled(outcome.node))
    known = outcome.trace[0].rows_at_risk if outcome.found_by == "kept" and problem.judge is tested else None
    at_risk = problem.judge.rows_at_risk([outcome.node])[0] if known is None else known
    rules = {name: each.rule for name, each in problem.hierarchy_sources.items()}
    args = source.scratches[source.engine], source.table, problem.judge, outcome.node, at_risk, spec
    recoding = FullDomain(*args, rules, source.read_files)
    return Plan(**vars(problem), tested=tested, outcome=outcome, recoding=recoding, pruned_by=pruned_by)


def search(problem: Problem, observer: Observer) -> Outcome:
    """Run the strategy of the spec; its questions go to the judge that was problem with."""
    allowed = may_suppress(problem.spec.suppression_limit, problem.costs.rows)
    return driver_of(problem, allowed, observer).run(strategy(problem.spec.strategy))


def driver_of(problem: Problem, allowed: int, observer: Observer | None = None) -> Driver:
    """What asks the judge of a problem about nodes, of which so many rows may be suppressed."""
    spec, judge = problem.spec, problem.judge
    limit = strategy(spec.strategy).default_seconds if spec.time_limit is None else spec.time_limit
    asked = observer.judge(problem) if observer and observer.judge else judge
    return Driver(
        problem.lattice,
        problem.costs,
        metric(spec.metric),
        asked,
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
    )


def _shown_otherwise(
    source: Source, spec: Spec, observer: Observer, search_in: str, keep_tuples: bool, earlier: Earlier | None
) -> LocalPlan:
    """A search whose classes show something else than the node's labels, such as their mean."""
    check_shown(source, spec, search_in)
    return shown_by_classes(make_plan(source, spec, observer, search_in, keep_tuples, earlier))


def shown_by_classes(plan: Plan) -> LocalPlan:
    """The same release with each class showing what the spec asks for, in the place of the node's labels."""
    local = from_node(plan.frequency_set, plan.judge.model, plan.outcome.node)
    problem = {each.name: getattr(plan, each.name) for each in fields(Problem)}
    recoding = local_recoding(plan, local)
    ended, seconds = plan.ended, plan.search_seconds
    return LocalPlan(**problem, recoding=recoding, ended=ended, search_seconds=seconds, kept=plan.kept)


def make_local_plan(
    source: Source,
    spec: Spec,
    observer: Observer,
    search_in: str = "embedded",
    keep_tuples: bool = False,
    earlier: Earlier | None = None,
) -> LocalPlan:
    """Everything up to the release of a local recoding: check, count, recode, or keep what regions hold."""
    check_shown(source, spec, search_in)
    keeps = earlier and earlier.why_not is None
    regions = read_regions(regions_file(earlier), spec.session.limits) if earlier and keeps else None
    problem = count(source, spec, observer, search_in, keep_tuples)
    observer.stage("Recoding")
    if earlier is None:
        return recode(problem, observer)
    if regions is None:
        return replace(recode(problem, observer), kept=Kept(False, earlier.why_not))
    return _kept_or_recoded(problem, observer, regions)


def _kept_or_recoded(problem: Problem, observer: Observer, regions: Regions) -> LocalPlan:
    """The plan of the regions that are kept, or where that may be of all rows recoded anew, with the reason."""
    regions = check_regions(regions, problem.columns, _hows(problem, RECODERS[problem.spec.strategy]))
    try:
        return replace(recode(problem, observer, regions), kept=Kept())
    except InfeasibleError as error:
        if problem.spec.node_else == "error":
            raise
        return replace(recode(problem, observer), kept=Kept(False, str(error).partition(";")[0]))


def recode(problem: Problem, observer: Observer, regions: Regions | None = None) -> LocalPlan:
    """Run the local recoding of the spec on what is counted, or what no region holds, within its time limit."""
    spec, source, recoder = problem.spec, problem.source, RECODERS[problem.spec.strategy]
    started = time.monotonic()
    limit = recoder.default_seconds if spec.time_limit is None else spec.time_limit
    clock = Clock(limit, observer.recode)
    with interrupts.caught(clock.interrupt), separate_database(problem.frequency_set, source.engine) as moved:
        beside = replace(problem, frequency_set=moved, judge=Judge(moved, problem.judge.model))
        task = replace(_task(beside, clock, observer), spans=partial(_spans, problem, recoder))
        local = recoder(task) if regions is None else keep_regions(recoder, task, regions)
        local = bring_back(local, moved.engine, problem.frequency_set.tables)
    seconds = time.monotonic() - started  # what the limit is for; making and releasing the classes comes after it
    recoding = local_recoding(problem, local, recoder)
    return LocalPlan(**vars(problem), recoding=recoding, ended=local.ended, search_seconds=seconds)


def local_recoding(problem: Problem, local: Local, recoder: Recoder | None = None) -> LocalRecoding:
    """Make the classes of a local algorithm's assignment show what the spec asks for."""
    frequency_set, spec, table = problem.frequency_set, problem.spec, problem.source.table
    hows = ("labels",) * len(problem.columns) if local.classes else _hows(problem, recoder)
    orders = shows.load_orders(frequency_set.tables, frequency_set, hows)
    classes = local.classes or shows.make_classes(frequency_set.tables, local, orders, hows, spec)
    if local.kept:
        classes = shown_as_before(frequency_set.tables, classes, orders, hows, local.kept)
    figures = shows.figures(frequency_set.engine, local, classes, orders, hows, frequency_set.rows)
    tables = problem.source.scratches[problem.source.engine]
    read_files = problem.source.read_files
    return LocalRecoding(
        tables, table, problem.judge, local, classes, orders, hows, figures, spec, read_files=read_files
    )


def _spans(problem: Problem, recoder: Recoder) -> tuple[Spans | None, ...]:
    """How far each quasi-identifier's values reach, in the form that their classes show."""
    attributes, hows = problem.frequency_set.attributes, _hows(problem, recoder)
    recipes = [problem.spec.quasi_identifiers[name].hierarchy for name in problem.columns]
    return tuple(shows.spans(*each) for each in zip(attributes, hows, recipes, strict=True))


def _hows(problem: Problem, recoder: Recoder | None) -> tuple[str, ...]:
    """How classes show each quasi-identifier, where the algorithm does not make labels of its own."""
    spec, table, ranges = problem.spec, problem.source.table, recoder is not None and recoder.ranges
    return tuple(shows.how_of(spec, table, name, ranges) for name in problem.columns)


def _task(problem: Problem, clock: Clock, observer: Observer) -> Task:
    def optimum(seconds: float | None) -> Node:
        if clock.interrupted:
            seconds = _INTERRUPTED_SECONDS
        limited = problem.spec.model_copy(update={"strategy": "auto", "time_limit": seconds})
        return search(replace(problem, spec=limited), observer).node

    weights = problem.costs.weights or (1.0,) * len(problem.columns)
    args = problem.judge, problem.costs, problem.lattice
    return Task(problem.frequency_set, problem.judge.model, problem.spec, weights, clock, *args, optimum)


def check_shown(source: Source, spec: Spec, search_in: str) -> None:
    """Refuse what a release by classes cannot do."""
    if search_in == "engine" and not source.engine.is_embedded:
        raise SpecError(
            f"a local recoding works in an embedded DuckDB, not in {source.engine.name}; leave out `search_in`"
        )
    shows.check_show(spec, source.table)
