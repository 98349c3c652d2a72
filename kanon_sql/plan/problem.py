"""The problem of a run: its requirements, and the frequency set to check them on."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from kanon_sql.errors import SourceError, SpecError
from kanon_sql.frequency.fitting import HierarchySource
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set, merge_equal_codes, sampled
from kanon_sql.frequency.judge import Judge
from kanon_sql.frequency.ruled import Ruled
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import Costs, metric
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.population import check_shares, opened_population
from kanon_sql.plan.preflight import Ready
from kanon_sql.plan.privacy_models import check_reachable, check_sizes, searched_models
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.recode import RECODERS
from kanon_sql.release import publish as releases
from kanon_sql.spec import Spec, may_suppress


@dataclass(frozen=True)
class Problem:
    """Everything that a search needs: the spec and the source's frequency set."""

    spec: Spec
    source: Source
    hierarchy_sources: dict[str, HierarchySource]
    frequency_set: FrequencySet
    judge: Judge
    costs: Costs
    lattice: Lattice
    frequency_seconds: float

    @property
    def columns(self) -> list[str]:
        """The quasi-identifiers, in the order of a node's levels."""
        return [attribute.column.name for attribute in self.frequency_set.attributes]

    @property
    def may_suppress(self) -> int:
        """Maximum number of rows to suppress."""
        return may_suppress(self.spec.suppression_limit, self.costs.rows)

    @property
    def pruned_by(self) -> str | None:
        """How a search rules out nodes if a privacy model is not monotone; None if all are."""
        return self.judge.model.pruned_by(self.may_suppress > 0)


def count(ready: Ready, observer: Observer, keep_tuples: bool = False) -> Problem:
    """Count the distinct tuples of a source, and compute the losses of their levels."""
    spec = ready.spec
    source = ready.source
    model = ready.models
    here = ready.here
    local = spec.strategy in RECODERS or spec.sets_show
    builders = {name: fit.builder for name, fit in ready.hierarchy_sources.items()}
    for name, build in builders.items():
        if local and isinstance(build, Ruled) and not build.follows_order:
            builders[name] = build.build  # a local recoding needs an order in which a label's values follow each other
    scratch = source.scratches[here]
    if spec.target and not here.has_temporary_tables:
        scratch.keep_lasting(*releases.scratch_place(here, spec.target))
    with opened_population(source.engine, spec, model) as population:
        observer.stage("Counting the distinct tuples")
        observer.phases.begin("frequency_set")
        started = time.monotonic()
        frequency_set = build_frequency_set(
            source.engine,
            source.table,
            builders,
            scratch,
            keep_tuples,
            spec.unmapped,
            model.sensitive,
            model.compared,
            model.groups,
            population,
            source.counted_by,
        )
    if local:
        frequency_set = merge_equal_codes(sampled(frequency_set))
    seconds = time.monotonic() - started
    observer.phases.begin("loss")
    judge = _judge(spec, model, frequency_set)
    costs = replace(judge.costs(), weights=weights_of(spec), beta=spec.beta)
    costs = judge.with_cells(costs) if metric(spec.metric).needs_cells else costs
    lattice = _bounded(spec, frequency_set)
    return Problem(spec, source, ready.hierarchy_sources, frequency_set, judge, costs, lattice, seconds)


def posed_again(problem: Problem, spec: Spec, frequency_set: FrequencySet) -> Problem:
    """The problem of another spec for the same table, with a frequency set that has all its columns."""
    judge = _judge(spec, searched_models(spec, problem.source), frequency_set)
    costs = replace(problem.costs, k=judge.model.k, k_of_metric=judge.model.requested_k)
    return replace(problem, spec=spec, frequency_set=frequency_set, judge=judge, costs=costs)


def _judge(spec: Spec, model: PrivacyModels, frequency_set: FrequencySet) -> Judge:
    """The judge of a problem, after checking that a release can satisfy its models at all."""
    rows = frequency_set.rows
    if rows == 0:
        raise SourceError(f"{spec.source} has no rows; there is nothing to anonymize")
    check_sizes(model, rows, frequency_set.population)
    if model.k > rows:
        raise SpecError(
            f"k is {model.k:,} but {spec.source} has only {rows:,} rows, too few for a single class; lower k"
        )
    check_shares(spec, model, frequency_set)
    judge = Judge(frequency_set, model)
    check_reachable(judge.model, frequency_set, may_suppress(spec.max_suppressed, rows))
    return judge


def weights_of(spec: Spec) -> tuple[float, ...]:
    """One weight per quasi-identifier: its `weight`, or (P - p + 1) / P for priority p of 1 to P; empty without any.

    The formula is from PrioPrivacy's evaluation, with the importance of an attribute as its weight. An attribute
    without a priority counts as least important if others have one.
    """
    attributes = spec.quasi_identifiers.values()
    if not any(attribute.weight or attribute.priority for attribute in attributes):
        return ()
    last = max((attribute.priority for attribute in attributes if attribute.priority), default=1)
    return tuple(attribute.weight or (last - (attribute.priority or last) + 1) / last for attribute in attributes)


def _bounded(spec: Spec, frequency_set: FrequencySet) -> Lattice:
    """The lattice between each attribute's min_level and max_level."""
    bottom = []
    top = []
    for attribute in frequency_set.attributes:
        bounds, height = spec.quasi_identifiers[attribute.column.name], attribute.hierarchy.height
        if bounds.min_level > height:
            raise SpecError(
                f"min_level of {attribute.column.name!r} is {bounds.min_level}, above the height of its hierarchy, "
                f"{height}; lower it"
            )
        bottom.append(bounds.min_level)
        top.append(height if bounds.max_level is None else min(bounds.max_level, height))
    return Lattice(tuple(bottom), tuple(top))
