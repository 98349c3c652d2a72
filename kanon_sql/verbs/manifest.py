"""The manifest: what a run says of itself. Aggregates only, never a raw value."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isfinite
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import METRICS, Figures, metric
from kanon_sql.measure.damage import damage
from kanon_sql.plan.models import class_by_class
from kanon_sql.plan.plan import Plan
from kanon_sql.plan.problem import Problem
from kanon_sql.privacy import THRESHOLDS, UNIT, Finding
from kanon_sql.recode import RECODERS, errors, joint, quality
from kanon_sql.recode import show as shows
from kanon_sql.release import anatomy, folders, minimality, perturb
from kanon_sql.release.findings import Homogeneous, Summary
from kanon_sql.release.full_domain import FullDomain
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.publish import Published
from kanon_sql.report.numbers import counted as of_size
from kanon_sql.resources import package_version
from kanon_sql.spec import ReleaseSpec, Spec
from kanon_sql.strategies import Outcome
from kanon_sql.verbs.nothing_left import nothing_left


def describe(plan: Plan, costs: Mapping[str, Any], published: Published[Summary], started: float) -> dict[str, Any]:
    """The manifest of a published release, ready for JSON; `costs` as `measure` gave them before. Asks no database."""
    problem = plan.problem
    spec, source, frequency_set = problem.spec, problem.source, problem.frequency_set
    summary, suppressed = published.checked, plan.recoding.rows_at_risk
    return {
        "rows": frequency_set.rows,
        "released_rows": summary.rows,
        "suppressed_rows": suppressed,
        "masked_rows": suppressed if plan.recoding.masks else 0,
        **_people(costs.get("people"), summary),
        "suppression_limit": spec.suppression_limit,
        "distinct_tuples": frequency_set.tuples,
        "classes": summary.classes,
        "smallest_class": summary.smallest_class,
        "average_class": summary.rows / summary.classes if summary.classes else None,
        "heights": dict(zip(problem.columns, frequency_set.heights, strict=True)),
        "weights": dict(zip(problem.columns, problem.costs.weights, strict=False)),
        "metric": spec.metric,
        **costs,
        "classification": classification(plan, summary),
        "strategy": "kept" if _is_kept_node(plan) else spec.strategy,
        "seed": spec.seed,
        "seconds": _seconds(plan, published, started),
        "verified": summary.holds,
        "privacy": [finding(each) for each in summary.findings],
        **({"unit": spec.unit} if spec.unit else {}),
        "roles": {
            "identifiers_dropped": list(spec.dropped),
            "quasi_identifiers": problem.columns,
            "sensitive": list(spec.sensitive),
            **source.roles.described(),
        },
        "source": spec.source,
        **({"population": frequency_set.sampled_from.described()} if frequency_set.sampled_from else {}),
        "target": target_of(spec, published, source.engine.dialect),
        "engine": source.engine.name,
        "columns": dict(source.columns),
        **({"time_zone": source.time_zone} if source.time_zone else {}),
        **not_atomic(source.engine, spec),
        "hierarchies": {name: each.sha256 for name, each in problem.hierarchy_sources.items()},
        "hierarchy_rows": {
            name: each.rows for name, each in problem.hierarchy_sources.items() if each.rows is not None
        },
        **_keeping(plan),
        "sql": {"frequency_set": list(frequency_set.sql), "release": published.sql},
        "warnings": [
            *([costs["nothing_left"]] if costs["nothing_left"] else []),
            *warnings(plan, summary),
            *([_TELLING] if costs["chosen_by_values"] else []),
        ],
        "version": package_version(),
        **perturb.described(spec),
        **minimality.described(summary.redrawn, spec),
        **anatomy.described(spec, published, source.engine.dialect),
    }


def _people(people: int | None, summary: Summary) -> dict[str, Any]:
    """The people of the source, of the release, and those none of whose rows is in it; nothing where rows count.

    `risk_of_people`: the prosecutor's, everybody's by their smallest class: with the column gone only the run can tell.
    """
    seen = summary.of_people
    if people is None or seen is None:
        return {}
    risk: dict[str, Any] = {"smallest_class": min((size for size, _ in seen.sizes), default=None), "mean": seen.mean}
    above = [{"risk": each, "people": seen.above(each)} for each in THRESHOLDS]
    counts = {"people": people, "released_people": seen.number, "suppressed_people": people - seen.number}
    return {**counts, "risk_of_people": {**risk, "above": above}}


def _is_kept_node(plan: Plan) -> bool:
    """Whether nobody searched for the node of a release."""
    return plan.kept is not None and plan.kept.kept and plan.problem.spec.strategy not in RECODERS


def _keeping(plan: Plan) -> dict[str, Any]:
    """What became of the recoding of an earlier release, where one was to be kept, and which rows wait."""
    spec, kept = plan.problem.spec, plan.kept
    said: dict[str, Any] = {"node_kept": None if kept is None else kept.kept}
    if kept and kept.why_not:
        said["node_not_kept_for"] = kept.why_not
    return {**said, "incremental": True, "waiting": spec.waiting} if spec.incremental else said


def classification(plan: Plan, summary: Summary) -> dict[str, float]:
    """The classification metric, by sensitive column: the share of the source's rows that their class does not tell.

    Those are the rows that have another value than the most frequent one of their class, and the suppressed ones
    (V. Iyengar, KDD 2002, section 3.2). It is known of columns that are released as they are.
    """
    frequent = {**summary.frequent, **{each.column: each.frequent for each in summary.homogeneous}}
    rows = plan.problem.frequency_set.rows
    return {column: (rows - frequent[column]) / rows for column in plan.problem.spec.sensitive if column in frequent}


def finding(each: Finding) -> dict[str, Any]:
    """What the manifest says of one model."""
    return {"model": each.model, "required": each.required, "achieved": each.achieved}


def measure(plan: Plan) -> dict[str, Any]:
    """What a search or a recoding made, and what that costs: asked of the frequency set, before the release is."""
    recoding, outcome = plan.recoding, plan.outcome
    if isinstance(recoding, LocalRecoding):
        made = _recoded(plan, recoding)
    else:
        assert outcome
        made = _searched(plan, outcome)
    if plan.problem.spec.unit is None:
        return made
    counted = plan.problem.frequency_set
    ((people,),) = counted.tables.rows("frequency_sets/people", relation=counted.relation, unit=[UNIT])
    return {**made, "people": int(people)}


def _searched(plan: Plan, outcome: Outcome) -> dict[str, Any]:
    """What a search of the lattice found, and what it costs."""
    plan, node, searched = plan.with_cells(), outcome.node, not _is_kept_node(plan)
    problem, judge, figures = plan.problem, plan.recoding.judge, figures_of(plan)
    kept = judge.kept_rows(node)
    with joint.of_node(problem.frequency_set, judge.model.safe, node, problem.costs.weights) as cells:
        of_tuples = {"ambiguity": cells.ambiguity, "divergence": cells.divergence_apart()}
    return {
        "node": dict(zip(problem.columns, node, strict=True)),
        "shown": None,
        "lattice_size": problem.lattice.size,
        "nodes_checked": outcome.nodes_checked,
        "queries": outcome.queries,
        "score": _finite(outcome.score),
        "nothing_left": nothing_left(plan, figures),
        **_costs(problem, figures, node, kept, errors.of_node(judge, node), of_tuples),
        "lower_bound": outcome.lower_bound if searched else None,
        "gap": outcome.gap if searched else None,
        "proven_optimal": outcome.proven_optimal,
        "search_ended": outcome.ended if searched else None,
        "found_by": outcome.found_by,
        "pruned_by": problem.pruned_by,
        "chosen_by_values": plan.kept.chosen_by_values if plan.kept and not searched else _chosen_by_values(plan, node),
        "recoding": None,
    }


def _chosen_by_values(plan: Plan, node: Node) -> bool:
    """Whether some node one level lower lacks nothing but a model of sensitive values."""
    problem, lower = plan.problem, list(plan.problem.lattice.predecessors(node))
    if not lower or not plan.recoding.judge.model.before_redrawing.redrawn:
        return False
    without_values = Judge(problem.frequency_set, problem.judge.model.before_redrawing)
    asked = list(enumerate(product(lower, (without_values, problem.judge))))
    tests = [judge.settled(below).node_test_sql(below, number) for number, (below, judge) in asked]
    at_risk = dict(problem.frequency_set.tables.rows_as(queries.union_all(tests), "node_tests/node_test"))
    without_values.drop()
    pairs = ((at_risk[number], at_risk[number + 1]) for number in range(0, len(asked), 2))
    return any(without <= problem.may_suppress < with_values for without, with_values in pairs)


_TELLING = (
    "a less general node failed by its sensitive values alone, so that the choice of this one may itself tell something"
    ' of them; try `kanon attack --only minimality`, or release with `minimality="mask"`'
)


def _recoded(plan: Plan, recoding: LocalRecoding) -> dict[str, Any]:
    """What a local recoding made, and what it costs; nothing is proven of it but that it holds."""
    plan = plan.with_cells()
    problem, local, figures = plan.problem, recoding.local, figures_of(plan)
    levels = [share * height for share, height in zip(figures.precisions or (), problem.costs.heights, strict=True)]
    far = errors.of_classes(problem.frequency_set, local, recoding.classes, recoding.orders, recoding.hows)
    with joint.of_classes(problem.frequency_set, local, recoding.classes, problem.costs.weights) as cells:
        # Labels of rules may stand for any values.
        divergence = None if local.classes else cells.divergence(recoding.classes, recoding.orders)
        of_tuples = {"ambiguity": cells.ambiguity, "divergence": divergence}
    costs = _costs(problem, figures, levels, recoding.figures.kept, far, of_tuples)
    return {
        "node": None,
        "shown": dict(zip(problem.columns, recoding.hows, strict=True)),
        "lattice_size": None,
        "nodes_checked": None,
        "queries": None,
        "score": costs["information_loss"][problem.spec.metric],
        "nothing_left": nothing_left(plan, figures),
        **costs,
        "lower_bound": None,
        "gap": None,
        "proven_optimal": False,
        "search_ended": None if _is_kept_node(plan) else plan.ended,
        "found_by": "kept" if plan.kept and plan.kept.kept else None,
        "pruned_by": None,
        "chosen_by_values": None,
        "recoding": dict(local.facts),
    }


def figures_of(plan: Plan) -> Figures:
    """All figures of what is to be released, for every metric that it has one by; its costs know their cells."""
    recoding, costs = plan.recoding, plan.problem.costs
    if isinstance(recoding, FullDomain):
        judge, node = recoding.judge, recoding.node
        classes, cells = judge.classes(node), judge.cells(node, costs, ("losses", "bits", "generalized"))
        levels, released = judge.released_levels(node), classes.released_rows or 0
        figures = replace(classes, losses=cells.losses, bits=cells.bits, generalized=cells.generalized)
    else:
        frequency_set, local = plan.problem.frequency_set, recoding.figures
        levels, released = local.levels, local.released_rows
        several = quality.generalized_rows(frequency_set.engine, recoding.classes, len(costs.heights))
        figures = Figures(
            None,
            recoding.rows_at_risk,
            local.losses,
            local.classes,
            local.released_rows,
            local.smallest_class,
            local.squares,
            bits=quality.lost_bits(frequency_set, recoding.local.assignment, recoding.classes),
            generalized=tuple((rows + recoding.rows_at_risk) / costs.rows for rows in several),
        )
    return replace(
        figures,
        precisions=shows.precisions(levels),
        distances=shows.distances(levels, released, costs.rows, costs.distances),
        intensities=shows.distances(levels, released, costs.rows, costs.steps),
    )


def scores(problem: Problem, figures: Figures) -> dict[str, float | None]:
    """The score by every metric; None where a recoding has none, or none that is finite."""
    metrics = {**METRICS, problem.spec.metric: metric(problem.spec.metric)}
    known = {name: each.score_if_known(problem.costs, figures) for name, each in metrics.items()}
    return {name: None if score is None else _finite(score) for name, score in known.items()}


def _costs(
    problem: Problem,
    figures: Figures,
    levels: Sequence[float],
    kept: Sequence[int],
    errors: Sequence[float | None],
    of_tuples: dict[str, float | None],
) -> dict[str, Any]:
    """The metrics of the table and of each attribute; `kept`: rows whose cell is released as it was."""
    costs = problem.costs
    modified = [1 - rows / costs.rows for rows in kept]
    lost = {**scores(problem, figures), "modification_rate": sum(modified) / len(modified), **of_tuples}
    of_attributes = {
        "loss_per_attribute": figures.part("losses", costs),
        "precision_per_attribute": figures.part("precisions", costs),
        "distortion_per_attribute": figures.part("distances", costs),
        "modification_per_attribute": modified,
    }
    return {
        "information_loss": lost,
        **{name: dict(zip(costs.columns, values, strict=True)) for name, values in of_attributes.items()},
        "damage": damage(costs, figures, levels, kept, errors),
    }


def warnings(plan: Plan, summary: Summary) -> list[str]:
    """What a careful reader of the release should know."""
    problem, said = plan.problem, []
    if plan.ended != "complete":
        better = "node may exist, see gap" if isinstance(plan.recoding, FullDomain) else "recoding may exist"
        said.append(f"the search did not end ({plan.ended}): a better {better}")
    if plan.kept and plan.kept.why_not:
        said.append(f"the earlier release could not be kept: {plan.kept.why_not}")
    said += _not_found(plan) + _class_by_class(plan)
    if problem.spec.wildcard_suppression:
        below = summary.unsafe_rows
        said.append(
            f"the release is not k-anonymous if equal rows are counted: {below:,} rows are in smaller classes, and are "
            "safe only if every * is read as any value"
        )
    said += [_said_of(each, summary) for each in summary.homogeneous if each.classes]
    starred = {a.column.name: len(a.hierarchy.starred) for a in problem.frequency_set.attributes if a.hierarchy.starred}
    said += minimality.warnings(summary.redrawn, problem.spec)
    said += perturb.warnings(problem.spec) + anatomy.warnings(problem.spec, problem.source.table)
    said += _of_zones(problem)
    said += [f"{count} values of {name!r} are in no hierarchy and became *" for name, count in starred.items()]
    return said + problem.source.warnings


def _of_zones(problem: Problem) -> list[str]:
    """That the days and hours of a label are those of a time zone that nobody gave."""
    zoned = [a.column.name for a in problem.frequency_set.attributes if a.column.zoned]
    if not zoned or problem.spec.time_zone:
        return []
    return [
        f"the labels of {', '.join(map(repr, zoned))} are of the time zone {problem.source.time_zone}, which is only a "
        "default and gives other days and hours elsewhere; give `time_zone`"
    ]


def _class_by_class(plan: Plan) -> list[str]:
    """That a size of each class stands for models about all of them, where nobody looks at all of them."""
    if not class_by_class(plan.problem.spec) and plan.recoding.judge.model.unit is None:
        return []
    model, counted = plan.recoding.judge.model, "people" if plan.recoding.judge.model.unit else "rows"
    own = [each.name for each in model.of_release if each.population is None]
    others = [each.name for each in model.of_release if each.population is not None]
    sizes = [(f"has {model.k:,} {counted}", own), (f"stands for {model.people:,} of the population", others)]
    return [
        f"every class {size} or more, enough for {' and '.join(names)} whatever the other classes are"
        for size, names in sizes
        if names
    ]


def _said_of(each: Homogeneous, summary: Summary) -> str:
    """That a sensitive value is known of whoever is known to be in a class."""
    whose = "" if each.people is None else f" of {of_size(each.people, 'people')}"
    classes = f"{each.classes:,} of {summary.classes:,} classes"
    return (
        f"in {classes}, with {of_size(each.rows, 'rows')}{whose}, all have the same {each.column!r}, "
        "so k-anonymity does not hide it; ask for a model of it, such as `l_diversity`"
    )


def _not_found(plan: Plan) -> list[str]:
    """That the strategy itself found no node, where that is so."""
    found_by = plan.outcome.found_by if plan.outcome else "strategy"
    if found_by not in ("reduction", "last resort"):
        return []
    taken = "a probe of the lattice reduction" if found_by == "reduction" else "the best node tested on the way"
    name = plan.problem.spec.strategy
    way_out = "give it more time" if name == "auto" else "give it more time or evaluations, or choose auto"
    return [f"{name} found no anonymous node, and {taken} is released; {way_out}"]


def _seconds(plan: Plan, published: Published[Summary], started: float) -> dict[str, float]:
    seconds = {
        "frequency_set": plan.problem.frequency_seconds,
        "search": plan.search_seconds,
        "release": published.write_seconds,
        "verify": published.verify_seconds,
        "total": time.monotonic() - started,
    }
    return {stage: round(value, 4) for stage, value in seconds.items()}


def not_atomic(engine: Engine, spec: Spec) -> dict[str, str]:
    """What a reader, or who is killed, may find between two statements of an engine that has no transactions."""
    if engine.has_transactions or spec.target is None or spec.target.table is None:
        return {}
    if folders.named(engine, spec.target):
        return {"not_atomic": _FOLDER.format(engine=engine.name)}
    found = "no table" if engine.can_rename else "no table, or one that is not filled yet"
    return {
        "not_atomic": f"{engine.name} has no transactions: while the target was put in place, a reader may have found "
        f"{found}; a run that is killed then leaves the old release in a table whose name has __replaced_ in it"
    }


_FOLDER = (
    "{engine} writes a folder file by file: while it did so, a reader may have found a part of the files; a run that "
    "is killed then leaves such a part, to be deleted by hand"
)


def target_of(spec: ReleaseSpec, published: Published[Any], dialect: str) -> dict[str, str]:
    """Where a release is, and in which form."""
    target = spec.target
    if published.path:
        return {"file": str(published.path), **({"as": "anatomy"} if target and target.form == "anatomy" else {})}
    if target and published.folder:
        return {"table": str(target.table), "as": "folder"}
    form = target.form if target else "temporary table"
    return {"table": ".".join(queries.parts(published.relation, dialect)), "as": form}


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
