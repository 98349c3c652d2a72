"""The manifest: the record of a run. Aggregates only, never a raw value."""

from __future__ import annotations

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
from kanon_sql.plan.observer import Phases
from kanon_sql.plan.plan import Plan
from kanon_sql.plan.privacy_models import class_by_class
from kanon_sql.plan.problem import Problem
from kanon_sql.privacy import THRESHOLDS, UNIT, Finding
from kanon_sql.recode import RECODERS, joint, quality, squared_errors
from kanon_sql.recode import show as shows
from kanon_sql.release import anatomy, folders, minimality_mask, perturb
from kanon_sql.release.findings import Summary
from kanon_sql.release.full_domain import FullDomain
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.merged import MergedRows
from kanon_sql.release.publish import Published
from kanon_sql.report.numbers import counted as of_size
from kanon_sql.resources import package_version
from kanon_sql.spec import ReleaseSpec, Spec
from kanon_sql.strategies import SearchOutcome
from kanon_sql.verbs.nothing_left import nothing_left

_TELLING = (
    "a less general node failed by its sensitive values alone, so the choice of this one can itself reveal something "
    'about them; try `kanon attack --only minimality`, or release with `minimality="mask"`'
)
_FOLDER = (
    "{engine} writes a folder file by file: while it did so, a reader may have found a part of the files; a run that "
    "is killed at that moment leaves a part of the files, which you must delete"
)


def describe(
    plan: Plan,
    costs: Mapping[str, Any],
    published: Published[Summary],
    phases: Phases,
    merged: MergedRows | None = None,
) -> dict[str, Any]:
    """The manifest of a published release, as a mapping for JSON. Runs no query.

    `costs`: the result of `measure`. `merged`: the released rows, if some changes wait.
    """
    problem = plan.problem
    spec = problem.spec
    source = problem.source
    frequency_set = problem.frequency_set
    summary, suppressed = published.checked, plan.recoding.rows_at_risk
    return {
        "rows": frequency_set.rows,
        "released_rows": summary.rows,
        "suppressed_rows": suppressed,
        "masked_rows": suppressed if plan.recoding.masks else 0,
        **_people(costs.get("people"), merged.shown_people if merged else None, summary),
        "suppression_limit": spec.suppression_limit,
        "distinct_tuples": frequency_set.tuples,
        "classes": summary.classes,
        "smallest_class": summary.smallest_class,
        "average_class": summary.rows / summary.classes if summary.classes else None,
        "heights": dict(zip(problem.columns, frequency_set.heights, strict=True)),
        "weights": dict(zip(problem.columns, problem.costs.weights, strict=False)),
        "metric": spec.metric,
        **costs,
        "classification": {} if merged else classification(plan, summary),
        "strategy": "kept" if _is_kept_node(plan) else spec.strategy,
        "seed": spec.seed,
        "seconds": phases.described(),
        "verified": summary.holds,
        "privacy": [finding_entry(finding) for finding in summary.findings],
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
        "hierarchies": {name: hierarchy.sha256 for name, hierarchy in problem.hierarchy_sources.items()},
        "hierarchy_rows": {
            name: hierarchy.rows for name, hierarchy in problem.hierarchy_sources.items() if hierarchy.rows is not None
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
        **minimality_mask.described(summary.redrawn, spec),
        **anatomy.described(spec, published, source.engine.dialect),
    }


def _people(people: int | None, shown: int | None, summary: Summary) -> dict[str, Any]:
    """The numbers of people in the source, in the release and fully suppressed; empty if rows are counted.

    `shown`: the people whom the recoding would show if no change waited. `risk_of_people`: the prosecutor's risk of
    every person, by their smallest class. Only the run can compute it: the release has no unit column.
    """
    released = summary.of_people
    if people is None or released is None:
        return {}
    return {
        "people": people,
        "released_people": released.number,
        "suppressed_people": people - (released.number if shown is None else shown),
        "risk_of_people": {
            "smallest_class": min((size for size, _ in released.sizes), default=None),
            "mean": released.mean,
            "above": [{"risk": threshold, "people": released.above(threshold)} for threshold in THRESHOLDS],
        },
    }


def _is_kept_node(plan: Plan) -> bool:
    """Whether the node is that of an earlier release, so that no search ran."""
    return plan.kept is not None and plan.kept.kept and plan.problem.spec.strategy not in RECODERS


def _keeping(plan: Plan) -> dict[str, Any]:
    """Whether the recoding of an earlier release was kept, if that was requested, and where waiting rows are."""
    spec, kept = plan.problem.spec, plan.kept
    entries: dict[str, Any] = {"node_kept": None if kept is None else kept.kept}
    if kept and kept.why_not:
        entries["node_not_kept_for"] = kept.why_not
    if spec.incremental:
        entries |= {"incremental": True, "waiting": spec.waiting}
    return entries


def classification(plan: Plan, summary: Summary) -> dict[str, float]:
    """The classification metric per sensitive column: the share of source rows that their class predicts wrongly.

    A class predicts its most frequent value. Rows with another value count, and so do suppressed rows (V. Iyengar,
    KDD 2002, section 3.2). Only for columns that are released unchanged.
    """
    frequent = {**summary.frequent, **{column.column: column.frequent for column in summary.homogeneous}}
    rows = plan.problem.frequency_set.rows
    return {column: (rows - frequent[column]) / rows for column in plan.problem.spec.sensitive if column in frequent}


def finding_entry(finding: Finding) -> dict[str, Any]:
    """The manifest's entry for one model."""
    return {"model": finding.model, "required": finding.required, "achieved": finding.achieved}


def measure(plan: Plan) -> dict[str, Any]:
    """The manifest's entries about the recoding and its loss, computed on the frequency set before the release."""
    recoding, outcome = plan.recoding, plan.outcome
    if isinstance(recoding, LocalRecoding):
        entries = _recoding_entries(plan, recoding)
    else:
        assert outcome
        entries = _search_entries(plan, outcome)
    if plan.problem.spec.unit:
        frequency_set = plan.problem.frequency_set
        ((people,),) = frequency_set.tables.rows("frequency_sets/people", relation=frequency_set.relation, unit=[UNIT])
        entries["people"] = int(people)
    return entries


def _search_entries(plan: Plan, outcome: SearchOutcome) -> dict[str, Any]:
    """The entries for a node of the lattice, found by a search or kept from an earlier release."""
    plan, node, searched = plan.with_cells(), outcome.node, not _is_kept_node(plan)
    problem = plan.problem
    judge = plan.recoding.judge
    figures = figures_of(plan)
    kept = judge.of_classes(node).kept_rows(node)
    with joint.of_classes_of_node(judge, node, problem.costs.weights) as cells:
        of_tuples = {"ambiguity": cells.ambiguity, "divergence": cells.divergence_apart()}
    return {
        "node": dict(zip(problem.columns, node, strict=True)),
        "shown": None,
        "lattice_size": problem.lattice.size,
        "nodes_checked": outcome.nodes_checked,
        "queries": outcome.queries,
        "score": _finite(outcome.score),
        "nothing_left": nothing_left(plan, figures),
        **_costs(problem, figures, node, kept, squared_errors.of_node(judge, node), of_tuples),
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
    """Whether some node one level lower fails only a model of sensitive values.

    Then the choice of the node tells something about these values (the minimality attack).
    """
    problem = plan.problem
    lower = list(plan.problem.lattice.predecessors(node))
    if not lower or not plan.recoding.judge.model.before_redrawing.redrawn:
        return False
    without_values = Judge(problem.frequency_set, problem.judge.model.before_redrawing)
    # Every lower node is tested twice: test 2i without the models of values, test 2i + 1 with them.
    judged = list(product(lower, (without_values, problem.judge)))
    tests = [judge.settled(below).node_test_sql(below, number) for number, (below, judge) in enumerate(judged)]
    at_risk = dict(problem.frequency_set.tables.rows_as(queries.union_all(tests), "node_tests/node_test"))
    without_values.drop()
    return any(at_risk[number] <= problem.may_suppress < at_risk[number + 1] for number in range(0, len(judged), 2))


def _recoding_entries(plan: Plan, recoding: LocalRecoding) -> dict[str, Any]:
    """The entries for a local recoding: it satisfies the models, and nothing is proven about its loss."""
    plan = plan.with_cells()
    problem = plan.problem
    local = recoding.local
    figures = figures_of(plan)
    levels = [share * height for share, height in zip(figures.precisions or (), problem.costs.heights, strict=True)]
    far = squared_errors.of_classes(problem.frequency_set, local, recoding.classes, recoding.orders, recoding.hows)
    with joint.of_classes(problem.frequency_set, local, recoding.classes, problem.costs.weights) as cells:
        # Labels of rules can cover any values.
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
    """All figures that the metrics need; the plan has its cells (`Plan.with_cells`)."""
    recoding, costs = plan.recoding, plan.problem.costs
    if isinstance(recoding, FullDomain):
        node = recoding.node
        judge = recoding.judge.of_classes(node)
        classes = judge.classes(node)
        cells = judge.cells(node, costs, ("losses", "bits", "generalized"))
        levels = judge.released_levels(node)
        released = classes.released_rows or 0
        figures = replace(classes, losses=cells.losses, bits=cells.bits, generalized=cells.generalized)
    else:
        frequency_set, local = plan.problem.frequency_set, recoding.figures
        levels, released = local.levels, local.released_rows
        generalized_rows = quality.generalized_rows(frequency_set.engine, recoding.classes, len(costs.heights))
        figures = Figures(
            None,
            recoding.rows_at_risk,
            local.losses,
            local.classes,
            local.released_rows,
            local.smallest_class,
            local.squares,
            bits=quality.lost_bits(frequency_set, recoding.local.assignment, recoding.classes),
            generalized=tuple((rows + recoding.rows_at_risk) / costs.rows for rows in generalized_rows),
        )
    return replace(
        figures,
        precisions=shows.precisions(levels),
        distances=shows.distances(levels, released, costs.rows, costs.distances),
        intensities=shows.distances(levels, released, costs.rows, costs.steps),
    )


def scores(problem: Problem, figures: Figures) -> dict[str, float | None]:
    """The score by every metric; None if the recoding has no score by a metric, or an infinite one."""
    metrics = {**METRICS, problem.spec.metric: metric(problem.spec.metric)}
    found = {name: by.score_if_known(problem.costs, figures) for name, by in metrics.items()}
    return {name: None if score is None else _finite(score) for name, score in found.items()}


def _costs(
    problem: Problem,
    figures: Figures,
    levels: Sequence[float],
    kept: Sequence[int],
    errors: Sequence[float | None],
    of_tuples: dict[str, float | None],
) -> dict[str, Any]:
    """The losses of the table and per attribute; `kept`: per attribute the rows whose cell is released unchanged."""
    costs = problem.costs
    modified = [1 - rows / costs.rows for rows in kept]
    per_attribute = {
        "loss_per_attribute": figures.part("losses", costs),
        "precision_per_attribute": figures.part("precisions", costs),
        "distortion_per_attribute": figures.part("distances", costs),
        "modification_per_attribute": modified,
    }
    return {
        "information_loss": {
            **scores(problem, figures),
            "modification_rate": sum(modified) / len(modified),
            **of_tuples,
        },
        **{name: dict(zip(costs.columns, values, strict=True)) for name, values in per_attribute.items()},
        "damage": damage(costs, figures, levels, kept, errors),
    }


def warnings(plan: Plan, summary: Summary) -> list[str]:
    """Warnings for readers of the release."""
    problem = plan.problem
    found = []
    if plan.ended != "complete":
        better = "node may exist, see gap" if isinstance(plan.recoding, FullDomain) else "recoding may exist"
        found.append(f"the search did not end ({plan.ended}): a better {better}")
    if plan.kept and plan.kept.why_not:
        found.append(f"the earlier release could not be kept: {plan.kept.why_not}")
    found_by = plan.outcome.found_by if plan.outcome else "strategy"
    if found_by in ("reduction", "last resort"):
        node = "a probe of the lattice reduction" if found_by == "reduction" else "the best node tested on the way"
        name = problem.spec.strategy
        way_out = "allow more time" if name == "auto" else "allow more time or evaluations, or choose auto"
        found.append(f"{name} found no anonymous node, and {node} is released; {way_out}")
    found += _class_by_class(plan)
    if problem.spec.wildcard_suppression:
        found.append(
            f"the release is not k-anonymous if equal rows are counted: {summary.unsafe_rows:,} rows are in smaller "
            "classes, and are safe only if every * is read as any value"
        )
    for column in summary.homogeneous:
        if column.classes:
            whose = "" if column.people is None else f" of {of_size(column.people, 'people')}"
            classes = f"{column.classes:,} of {summary.classes:,} classes"
            found.append(
                f"in {classes}, with {of_size(column.rows, 'rows')}{whose}, all rows have the same {column.column!r}, "
                "which k-anonymity does not hide; add a privacy model for it, such as `l_diversity`"
            )
    found += minimality_mask.warnings(summary.redrawn, problem.spec)
    found += perturb.warnings(problem.spec) + anatomy.warnings(problem.spec, problem.source.table)
    zoned = [a.column.name for a in problem.frequency_set.attributes if a.column.zoned]
    if zoned and not problem.spec.time_zone:
        found.append(
            f"the labels of {', '.join(map(repr, zoned))} are days and hours in the time zone "
            f"{problem.source.time_zone}, a default that may differ on another machine; set `time_zone`"
        )
    for attribute in problem.frequency_set.attributes:
        if starred := attribute.hierarchy.starred:
            found.append(f"{len(starred)} values of {attribute.column.name!r} are in no hierarchy and became *")
    return found + problem.source.warnings


def _class_by_class(plan: Plan) -> list[str]:
    """The note that models of the whole release were replaced by a minimum class size.

    Classes are then checked one by one, and a class size that suffices for such a model is required of all.
    """
    model = plan.recoding.judge.model
    if not class_by_class(plan.problem.spec) and model.unit is None:
        return []
    by_classes = [of_release.name for of_release in model.of_release if of_release.population is None]
    by_population = [of_release.name for of_release in model.of_release if of_release.population is not None]
    counted = "people" if model.unit else "rows"
    sizes = [
        (f"has {model.k:,} {counted}", by_classes),
        (f"represents {model.people:,} of the population", by_population),
    ]
    return [
        f"every class {size} or more, enough for {' and '.join(names)} whatever the other classes are"
        for size, names in sizes
        if names
    ]


def not_atomic(engine: Engine, spec: Spec) -> dict[str, str]:
    """What readers or a killed run may find in the target, on an engine without transactions."""
    if engine.has_transactions or spec.target is None or spec.target.table is None:
        return {}
    if folders.named(engine, spec.target):
        return {"not_atomic": _FOLDER.format(engine=engine.name)}
    found = "no table" if engine.can_rename else "no table, or one that is not filled yet"
    return {
        "not_atomic": f"{engine.name} has no transactions: while the target was put in place, a reader may have found "
        f"{found}; a run that is killed at that moment leaves the old release in a table with __replaced_ in its name"
    }


def target_of(spec: ReleaseSpec, published: Published[Any], dialect: str) -> dict[str, str]:
    """The file or table of a release, and its form."""
    target = spec.target
    if published.path:
        return {"file": str(published.path), **({"as": "anatomy"} if target and target.form == "anatomy" else {})}
    if target and published.folder:
        return {"table": str(target.table), "as": "folder"}
    form = target.form if target else "temporary table"
    return {"table": ".".join(queries.parts(published.relation, dialect)), "as": form}


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
