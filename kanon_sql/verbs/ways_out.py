"""Ways out for a column that the best node leaves at its top, where it tells nothing: what each of them would lose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency.frequency_set import merge_equal_codes, sampled
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import Figures
from kanon_sql.spec import Spec, check
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.observer import Observer
from kanon_sql.verbs.plan import LocalPlan, Plan, recode, search
from kanon_sql.verbs.problem import Problem, posed_again

SECONDS = 2.0  # for each search, and for the local recoding
HEAVIER = 4  # times the weight of the others


@dataclass(frozen=True)
class WayOut:
    """What could be done for a column at its top, or for all (`column` None): the mean loss then, and the column's own.

    None where nothing meets the model so, or nothing was found in time; `suppressed_rows` as many are left out then.
    """

    column: str | None
    way: str
    loss: float | None = None
    loss_of_column: float | None = None
    suppressed_rows: int | None = None


def at_top(plan: Plan | LocalPlan) -> list[str]:
    """The columns that a node leaves at the top of their hierarchies, where all values are one; a recoding has none."""
    if not isinstance(plan, Plan):
        return []
    pairs = zip(plan.columns, plan.outcome.node, plan.frequency_set.heights, strict=True)
    leaves = dict(zip(plan.columns, plan.costs.leaves, strict=True))
    return [name for name, level, height in pairs if level == height and leaves[name] > 1]


def ways_out(plan: Plan | LocalPlan, observer: Observer) -> list[dict[str, object]]:
    """The ways out for each column at its top, searched for on the frequency set that is there, ready for JSON.

    Each search ends after two seconds with the best that it has, so a way may be better than it says.
    """
    if not isinstance(plan, Plan) or not (names := at_top(plan)):
        return []
    found = [way for name in names for way in (_below_top(plan, name, observer), _heavier(plan, name, observer))]
    return [asdict(way) for way in (*found, *_refined(plan, observer))]


def _below_top(plan: Plan, name: str, observer: Observer) -> WayOut:
    """No node at which the column is at its top."""
    place, top = plan.columns.index(name), list(plan.lattice.top)
    way = f"max_level: {top[place] - 1}"
    if top[place] <= plan.lattice.bottom[place]:
        return WayOut(name, way)
    top[place] -= 1
    return _searched(
        plan, replace(_problem(plan), lattice=Lattice(plan.lattice.bottom, tuple(top))), name, way, observer
    )


def _heavier(plan: Plan, name: str, observer: Observer) -> WayOut:
    """The column weighs more than the others."""
    own = plan.costs.weights or (1.0,) * len(plan.columns)
    weights = tuple(
        weight if each == name else weight / HEAVIER for each, weight in zip(plan.columns, own, strict=True)
    )
    problem = _problem(plan)
    heavier = replace(problem, costs=replace(problem.costs, weights=weights))
    return _searched(plan, heavier, name, f"weight: 1, and {1 / HEAVIER:g} for the others", observer)


def _searched(plan: Plan, problem: Problem, name: str, way: str, observer: Observer) -> WayOut:
    """What is lost at the best node of another problem on the same frequency set, by the release's own weights."""
    observer.stage(f"Looking for a way out: {name}, {way}")
    try:
        node = search(problem, replace(observer, judge=None)).node
    except InfeasibleError:
        return WayOut(name, way)
    finally:
        problem.judge.drop()
    return _told(plan, name, way, plan.judge.losses(node, plan.costs))


def _refined(plan: Plan, observer: Observer) -> Iterator[WayOut]:
    """A local recoding instead, where the spec can have one."""
    spec = _limited(plan.spec, "refine")
    observer.stage("Looking for a way out: refine")
    try:
        check(spec, "anonymize")
        with Scratch(plan.frequency_set.engine, "refined") as tables:
            counted = sampled(plan.frequency_set)
            counted = merge_equal_codes(counted, drop=counted is not plan.frequency_set)
            made = recode(posed_again(_asked(plan), spec, replace(counted, tables=tables)), observer)
            figures = manifests.figures_of(replace(made, costs=made.judge.with_cells(made.costs)))
            yield _told(plan, None, "strategy: refine", figures)
    except (SpecError, InfeasibleError):
        return


def _told(plan: Plan, name: str | None, way: str, figures: Figures) -> WayOut:
    losses = figures.losses or ()
    mean = sum(share * loss for share, loss in zip(plan.costs.shares, losses, strict=True))
    own = None if name is None else losses[plan.columns.index(name)]
    return WayOut(name, way, mean, own, figures.rows_at_risk)


def _problem(plan: Plan) -> Problem:
    """The problem of a plan, with a judge of its own and little time."""
    return posed_again(_asked(plan), _limited(plan.spec, plan.spec.strategy), plan.frequency_set)


def _asked(plan: Plan) -> Problem:
    """The problem alone, without its solution."""
    return Problem(**{each.name: getattr(plan, each.name) for each in fields(Problem)})


def _limited(spec: Spec, strategy: str) -> Spec:
    return spec.model_copy(update={"strategy": strategy, "time_limit": SECONDS, "target": None})
