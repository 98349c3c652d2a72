"""Ways out for a column that the best node leaves at its top, where it tells nothing: what each of them would lose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency.frequency_set import merge_equal_codes, sampled
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import Figures
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, recode, search
from kanon_sql.plan.problem import posed_again
from kanon_sql.spec import check
from kanon_sql.verbs import manifest as manifests

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


def at_top(plan: Plan) -> list[str]:
    """The columns that a node leaves at the top of their hierarchies, where all values are one; a recoding has none."""
    if plan.outcome is None:
        return []
    problem = plan.problem
    columns = zip(problem.columns, plan.outcome.node, problem.costs.heights, problem.costs.leaves, strict=True)
    return [name for name, level, height, leaves in columns if level == height and leaves > 1]


def ways_out(plan: Plan, observer: Observer) -> list[dict[str, object]]:
    """The ways out for each column at its top, searched for on the frequency set that is there, ready for JSON.

    Each search ends after two seconds with the best that it has, so a way may be better than it says.
    """
    names, problem, found = at_top(plan), plan.problem, []
    for name in names:
        # No node at which the column is at its top.
        place, bottom, top = problem.columns.index(name), problem.lattice.bottom, list(problem.lattice.top)
        top[place] -= 1
        way = f"max_level: {top[place]}"
        if top[place] < bottom[place]:
            found.append(WayOut(name, way))
        else:
            found.append(_searched(plan, name, way, observer, lattice=Lattice(bottom, tuple(top))))
        # The column weighs more than the others.
        own = dict(zip(problem.columns, problem.costs.weights or (1.0,) * len(problem.columns), strict=True))
        weights = tuple(weight if other == name else weight / HEAVIER for other, weight in own.items())
        found.append(_searched(plan, name, f"weight: 1, and {1 / HEAVIER:g} for the others", observer, weights=weights))
    if names:
        found.extend(_refined(plan, observer))
    return [asdict(way) for way in found]


def _searched(
    plan: Plan,
    name: str,
    way: str,
    observer: Observer,
    lattice: Lattice | None = None,
    weights: tuple[float, ...] | None = None,
) -> WayOut:
    """What is lost at the best node of another lattice or by other weights, by the release's own weights."""
    given = plan.problem
    spec = given.spec.model_copy(update={"time_limit": SECONDS, "target": None})
    problem = posed_again(given, spec, given.frequency_set)
    costs = replace(problem.costs, weights=problem.costs.weights if weights is None else weights)
    observer.stage(f"Looking for a way out: {name}, {way}")
    try:
        changed = replace(problem, lattice=lattice or problem.lattice, costs=costs)
        node = search(changed, replace(observer, judge=None)).node
    except InfeasibleError:
        return WayOut(name, way)
    finally:
        problem.judge.drop()
    return _told(plan, name, way, plan.recoding.judge.losses(node, given.costs))


def _refined(plan: Plan, observer: Observer) -> Iterator[WayOut]:
    """A local recoding instead, where the spec can have one."""
    problem = plan.problem
    spec = problem.spec.model_copy(update={"strategy": "refine", "time_limit": SECONDS, "target": None})
    observer.stage("Looking for a way out: refine")
    try:
        check(spec, "anonymize")
        with Scratch(problem.frequency_set.engine, "refined") as tables:
            counted = sampled(problem.frequency_set)
            counted = merge_equal_codes(counted, drop=counted is not problem.frequency_set)
            refined = recode(posed_again(problem, spec, replace(counted, tables=tables)), observer)
            yield _told(plan, None, "strategy: refine", manifests.figures_of(refined.with_cells()))
    except (SpecError, InfeasibleError):
        return


def _told(plan: Plan, name: str | None, way: str, figures: Figures) -> WayOut:
    costs, losses = plan.problem.costs, figures.losses or ()
    mean = sum(share * loss for share, loss in zip(costs.shares, losses, strict=True))
    own = None if name is None else losses[plan.problem.columns.index(name)]
    return WayOut(name, way, mean, own, figures.rows_at_risk)
