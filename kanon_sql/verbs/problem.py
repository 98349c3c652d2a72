"""The problem of a run: what is asked for, and the frequency set to answer it from."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.reading import SOURCE_VIEW
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.frequency.fitting import HierarchySource, hierarchy_sources
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set, merge_equal_codes, sampled
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import Costs, metric
from kanon_sql.privacy import PrivacyModels
from kanon_sql.recode import RECODERS
from kanon_sql.recode import show as shows
from kanon_sql.release import anatomy, as_written, minimality, perturb, tables
from kanon_sql.release import publish as releases
from kanon_sql.release.pieces import companion
from kanon_sql.release.recoding import companion_stems
from kanon_sql.risk import roles
from kanon_sql.risk.exact import exact
from kanon_sql.spec import Attribute, Spec, may_suppress
from kanon_sql.strategies import strategy
from kanon_sql.strategies.igh import not_identical
from kanon_sql.verbs.models import check_asked, check_reachable, check_sizes, check_unit, searched_models
from kanon_sql.verbs.observer import Observer
from kanon_sql.verbs.population import check_population, check_shares, opened_population
from kanon_sql.verbs.source import Source


@dataclass(frozen=True)
class Problem:
    """All that a search needs: what is asked for, and the source's frequency set."""

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


def count(
    source: Source,
    spec: Spec,
    observer: Observer,
    search_in: str = "embedded",
    keep_tuples: bool = False,
    model: PrivacyModels | None = None,
    order_will_do: bool | None = None,
) -> Problem:
    """Everything up to the search: check what is asked for, and count the distinct tuples.

    `model`: what the spec asks for, where that is worked out. `order_will_do`: whether a column in order needs no
    hierarchy, which is so for local recodings.
    """
    check_roles(spec, source.table)
    model = model or searched_models(spec, source)
    promised = model.after_redrawing
    _check_engine(source.engine, source.table, spec, model, search_in)
    releases.check_target(spec, source.engine, source.table, source.files)
    anatomy.check(source.engine, source.table, spec)
    perturb.check(source.engine, source.table, spec)
    minimality.check(spec)
    check_asked(promised, spec, source.table)
    check_unit(model, source)
    as_written.check(source.engine, source.table, spec.target, promised)
    check_population(spec, model)
    metric(spec.metric)
    order_will_do = spec.strategy in RECODERS if order_will_do is None else order_will_do
    fitted = hierarchy_sources(spec, source.table, source.engine, order_will_do=order_will_do)
    _check_identical(spec, fitted)
    local = spec.strategy in RECODERS or shows.asked(spec)
    if spec.target and spec.target.stays_a_query:
        view = source.engine.place(str(spec.target.table))
        needed = [companion(view, stem) for stem in companion_stems(list(fitted), local)]
        tables.check_companions(source.engine, spec.target, source.table, needed)
    here = source.engine if source.engine.is_embedded or search_in == "engine" else source.engine.embedded()
    _check_time_zone(source, spec, here)
    # A local recoding looks at every value itself.
    builders = {name: fit.build if local else fit.builder for name, fit in fitted.items()}
    made = source.scratches[here]
    if spec.target and not here.has_temporary_tables:
        made.keep_beside(*releases.scratch_beside(here, spec.target))
    with opened_population(source.engine, spec, model) as population:
        observer.stage("Counting the distinct tuples")
        started = time.monotonic()
        frequency_set = build_frequency_set(
            source.engine,
            source.table,
            builders,
            made,
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
    judge = _judge(spec, model, frequency_set)
    costs = replace(judge.costs(), weights=weights_of(spec), beta=spec.beta)
    costs = judge.with_cells(costs) if metric(spec.metric).needs_cells else costs
    return Problem(spec, source, fitted, frequency_set, judge, costs, _bounded(spec, frequency_set), seconds)


def _check_engine(engine: Engine, table: Table, spec: Spec, model: PrivacyModels, search_in: str) -> None:
    """Refuse what an engine cannot do, or would do otherwise than others."""
    if search_in == "engine" and not engine.has_temporary_tables and not (spec.target and spec.target.table):
        raise SpecError(
            f"{engine.name} has no temporary tables to search in, and makes tables beside the target instead; name a "
            "table with `into`, or leave out `search_in`"
        )
    needs = [word for word, asked in _needs_tables(spec, model) if asked]
    if needs and not engine.has_temporary_tables:
        raise SpecError(
            f"{needs[0]} needs temporary tables, which {engine.name} does not have; leave it out, or copy the table to "
            "DuckDB or PostgreSQL"
        )
    if spec.target and spec.target.stays_a_query and table.relation == SOURCE_VIEW:
        raise SpecError("a view needs a table below it; load the files into a table, or give `form='table'`")
    asked = {*spec.quasi_identifiers, *spec.sensitive, *([spec.unit] if spec.unit else [])}
    for column in table.columns:
        if column.name in asked and column.kind in engine.kinds_kept_only:
            raise SpecError(
                f"the column {column.name!r} is a {column.type} of {engine.name}, which cannot be compared where it is "
                "counted as it is there; cast it to another type in a view, such as DATE, TEXT or, on Spark, STRING or "
                "TIMESTAMP_NTZ"
            )


def _check_time_zone(source: Source, spec: Spec, here: Engine) -> None:
    """Refuse labels of moments that two engines would read as other days."""
    zoned = any(column.zoned and column.name in spec.quasi_identifiers for column in source.table.columns)
    if zoned and source.time_zone and here.time_zone().lower() != source.time_zone.lower():
        raise SpecError(
            f"{source.engine.name} has the time zone {source.time_zone!r}, which DuckDB does not know; give one, such "
            "as Europe/Zurich, as `time_zone`"
        )


def _needs_tables(spec: Spec, model: PrivacyModels) -> list[tuple[str, bool]]:
    """What of a spec is made step by step where the source is."""
    anatomy_asked = spec.target is not None and spec.target.form == "anatomy"
    return [
        ("an anatomy", anatomy_asked),
        ("a perturbation", bool(spec.perturb)),
        ("a population", model.population is not None),
        ("masking against minimality", bool(model.redrawn)),
        ("a table of rows that wait", spec.waiting is not None),
    ]


def _judge(spec: Spec, model: PrivacyModels, frequency_set: FrequencySet) -> Judge:
    """The judge of what is asked for, if it can be reached at all."""
    _check_size(spec, model, frequency_set)
    check_shares(spec, model, frequency_set)
    judge = Judge(frequency_set, model)
    check_reachable(judge.model, frequency_set, may_suppress(spec.may_leave_out, frequency_set.rows))
    return judge


def posed_again(problem: Problem, spec: Spec, frequency_set: FrequencySet) -> Problem:
    """The problem of another spec of the same table, whose columns are counted in this frequency set already."""
    judge = _judge(spec, searched_models(spec, problem.source), frequency_set)
    costs = replace(problem.costs, k=judge.model.k, k_of_metric=judge.model.requested_k)
    return replace(problem, spec=spec, frequency_set=frequency_set, judge=judge, costs=costs)


def settle_roles(source: Source, spec: Spec) -> Source:
    """Leave out of the source what a release drops unasked; SpecError if it keeps unasked what should be named."""
    table, settled = roles.settle(source.engine, source.table, spec)
    notes = (*source.notes, *_singled_out(source, spec, settled.kept))
    return replace(source, table=table, roles=settled, columns=source.columns or source.types(), notes=notes)


def _singled_out(source: Source, spec: Spec, kept: Sequence[str]) -> list[str]:
    """The warning that columns which are released unchanged single out too many by themselves."""
    apart = spec.sensitive if spec.target and spec.target.form == "anatomy" else ()
    names = {*spec.sensitive, *kept} - {*spec.perturb, *apart}
    uncounted = {"other", *source.engine.kinds_kept_only}
    shown = [column.name for column in source.table.columns if column.name in names and column.kind not in uncounted]
    if not shown or source.counted_by:
        return []
    with Scratch(source.engine, "exact") as tables:
        found = exact(tables, source.table.relation, shown, spec.unit)
    return [found.warning] if found.too_many else []


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


def check_roles(spec: Spec, table: Table) -> None:
    """Every column that the spec names must be there, in its own capitals."""
    named = {
        "identifier": spec.identifiers,
        "quasi-identifier": spec.quasi_identifiers,
        "sensitive": spec.sensitive,
        "unit": (spec.unit,) if spec.unit else (),
        "kept": spec.kept_by_name,
    }
    known = [column.name for column in table.columns]
    for role, columns in named.items():
        for column in columns:
            if column not in known:
                near = next((f"; did you mean {name!r}?" for name in known if name.lower() == column.lower()), "")
                raise SpecError(f"there is no {role} column {column!r}{near or '; there are ' + ', '.join(known)}")


def _check_size(spec: Spec, model: PrivacyModels, frequency_set: FrequencySet) -> None:
    if frequency_set.rows == 0:
        raise SourceError(f"{spec.source} has no rows; there is nothing to anonymize")
    rows = frequency_set.rows
    check_sizes(model, rows, frequency_set.population)
    if model.k > rows:
        raise SpecError(
            f"k is {model.k:,} but {spec.source} has only {rows:,} rows, so that not even one class could hold them; "
            "lower k"
        )


def _check_identical(spec: Spec, fitted: Mapping[str, HierarchySource]) -> None:
    """Refuse hierarchies or levels that differ where the strategy needs one, as far as files and tables tell."""
    if spec.strategy in RECODERS or not strategy(spec.strategy).one_hierarchy:
        return
    (first, its), *others = ((name, source.fixed) for name, source in fitted.items())
    for name, fixed in others:
        if its and fixed and its.contradicts(fixed):
            raise not_identical(spec.strategy, "hierarchy", name, first)
        if _levels(spec.quasi_identifiers[name], fixed) != _levels(spec.quasi_identifiers[first], fixed):
            raise not_identical(spec.strategy, "min_level and max_level", name, first)


def _levels(asked: Attribute, hierarchy: Hierarchy | None) -> tuple[int, int]:
    """The levels that a column may have, as far as they are known before its hierarchy is."""
    most = asked.max_level
    if hierarchy is None:
        return asked.min_level, 0
    return asked.min_level, hierarchy.height if most is None else min(most, hierarchy.height)


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
