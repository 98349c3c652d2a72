"""The preflight: all checks of a spec against its source that do not need counting, in execution order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.file_source import SOURCE_VIEW
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency.fitting import HierarchySource, hierarchy_sources
from kanon_sql.loss import metric
from kanon_sql.own import Own
from kanon_sql.plan.drift import drift, without_new
from kanon_sql.plan.earlier import Earlier, check_columns, check_kind, earlier_of, regions_file
from kanon_sql.plan.population import check_population
from kanon_sql.plan.privacy_models import check_feasible, check_unit, searched_models
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.recode import RECODERS
from kanon_sql.recode import show as shows
from kanon_sql.recode.regions import Regions, read_regions
from kanon_sql.release import anatomy, as_written, minimality_mask, perturb, tables
from kanon_sql.release import publish as releases
from kanon_sql.release.pieces import companion
from kanon_sql.release.recoding import companion_stems
from kanon_sql.risk import roles
from kanon_sql.risk.exact import exact
from kanon_sql.spec import ReleaseSpec, Spec, Verb, check
from kanon_sql.strategies import STRATEGIES, strategy
from kanon_sql.strategies.igh import not_identical


@dataclass(frozen=True)
class Ready:
    """A spec and a source that passed all checks before counting.

    `source`: with settled roles if it is to be released. `models`: of the search. `here`: the engine to
    search in. `earlier`: the recoding to reuse, with the `regions` of a local one.
    """

    spec: Spec
    source: Source
    models: PrivacyModels
    hierarchy_sources: dict[str, HierarchySource]
    here: Engine
    earlier: Earlier | None = None
    regions: Regions | None = None


def check_spec(spec: ReleaseSpec, verb: Verb) -> None:
    """Run the checks that need only the spec, before anything is opened."""
    available = (*STRATEGIES, *RECODERS)
    if isinstance(spec, Spec) and spec.strategy not in available and not isinstance(spec.strategy, Own):
        raise SpecError(f"{spec.strategy!r} is not a strategy; choose one of {', '.join(available)}")
    check(spec, verb)


def preflight(
    spec: Spec, source: Source, search_in: str = "embedded", *, releases_it: bool = False, compared: Sequence[str] = ()
) -> Ready:
    """Run all checks that do not need counting.

    `releases_it`: whether a release is planned, so that roles are settled and an earlier recoding can be reused.
    `compared`: strategies to compare, instead of the spec's.
    """
    check_roles(spec, source.table)
    earlier = None
    regions = None
    strategies = compared or [spec.strategy]
    if releases_it:
        check_reasons(spec, source.table)
        earlier = earlier_of(spec)
        new: list[str] = []
        if earlier:
            source, new, earlier = _without_drift(source, spec, earlier, earlier.manifest)
        source = settle_roles(source, spec)
        source = replace(source, roles=replace(source.roles, dropped=(*source.roles.dropped, *new)))
    if (releases_it or compared) and (spec.sets_show or any(name in RECODERS for name in strategies)):
        if search_in == "engine" and not source.engine.is_embedded:
            raise SpecError(
                f"a local recoding works in an embedded DuckDB, not in {source.engine.name}; leave out `search_in`"
            )
        shows.check_show(spec, source.table)
    if earlier and earlier.why_not is None and spec.strategy in RECODERS:
        regions = read_regions(regions_file(earlier), spec.session.limits)
    models = searched_models(spec, source)
    all_models = models.after_redrawing
    _check_engine(source.engine, source.table, spec, models, search_in)
    releases.check_target(spec, source.engine, source.table, source.files)
    anatomy.check(source.engine, source.table, spec)
    perturb.check(source.engine, source.table, spec)
    minimality_mask.check(spec)
    check_feasible(all_models, spec, source.table)
    check_unit(models, source)
    as_written.check(source.engine, source.table, spec.target, all_models)
    check_population(spec, models)
    metric(spec.metric)
    # Local recodings do not need a hierarchy for a column with ordered values.
    allow_ordered = all(name in RECODERS for name in strategies)
    hierarchies = hierarchy_sources(spec, source.table, source.engine, allow_ordered=allow_ordered)
    _check_identical(spec, hierarchies)
    if spec.target and spec.target.stays_a_query:
        view = source.engine.place(str(spec.target.table))
        stems = companion_stems(list(hierarchies), spec.strategy in RECODERS or spec.sets_show)
        needed = [companion(view, stem) for stem in stems]
        tables.check_companions(source.engine, spec.target, source.table, needed)
    here = source.engine if source.engine.is_embedded or search_in == "engine" else source.engine.embedded()
    # Two engines with different time zones would assign timestamps to different days.
    zoned = any(column.zoned and column.name in spec.quasi_identifiers for column in source.table.columns)
    if zoned and source.time_zone and here.time_zone().lower() != source.time_zone.lower():
        raise SpecError(
            f"{source.engine.name} has the time zone {source.time_zone!r}, which DuckDB does not support; set one, "
            "such as Europe/Zurich, as `time_zone`"
        )
    return Ready(spec, source, models, hierarchies, here, earlier, regions)


def check_roles(spec: Spec, table: Table) -> None:
    """SpecError if a column of the spec does not exist, with the same capitalization."""
    named = {
        "identifier": spec.identifiers,
        "quasi-identifier": spec.quasi_identifiers,
        "sensitive": spec.sensitive,
        "unit": (spec.unit,) if spec.unit else (),
        "kept": spec.kept_by_name,
    }
    names = [column.name for column in table.columns]
    for role, columns in named.items():
        for column in columns:
            if column not in names:
                near = next((f"; did you mean {name!r}?" for name in names if name.lower() == column.lower()), "")
                raise SpecError(f"there is no {role} column {column!r}{near or '; there are ' + ', '.join(names)}")


def check_reasons(spec: ReleaseSpec, table: Table) -> None:
    """SpecError if a reason is about a column that does not exist."""
    names = [column.name for column in table.columns]
    for column in spec.reasons:
        if column not in names:
            raise SpecError(
                f"`reasons` has {column!r}, which is not a column; there are {', '.join(names)}. The reason for k is "
                "`reason_k`"
            )


def _without_drift(
    source: Source, spec: Spec, earlier: Earlier, manifest: Mapping[str, Any]
) -> tuple[Source, list[str], Earlier]:
    """The source for a reused recoding, without the new columns that the policy drops, these, and the recoding.

    The recoding has the reason not to reuse it if drift requires a search. SpecError for drift that is refused.
    """
    check_columns(earlier, spec)
    check_kind(earlier, spec, spec.strategy in RECODERS)
    drifted = drift(manifest, source, spec)
    remaining, new = without_new(source, drifted)
    why_not = next((difference.text for difference in drifted if difference.policy == "search"), None)
    return remaining, new, replace(earlier, why_not=why_not)


def keeping_node(ready: Ready) -> Ready:
    """The same with the node that the spec reuses, for tuples that were counted elsewhere.

    Only the hierarchies are compared with those of the earlier release: the tuples have fewer columns, of other types.
    """
    earlier = earlier_of(ready.spec)
    if earlier is None:
        return ready
    of_hierarchies = {key: value for key, value in earlier.manifest.items() if key != "columns"}
    return replace(ready, earlier=_without_drift(ready.source, ready.spec, earlier, of_hierarchies)[2])


def settle_roles(source: Source, spec: ReleaseSpec) -> Source:
    """The source without the columns that a release drops for lack of a role, after checks of the columns it keeps."""
    table, settled = roles.settle(source.engine, source.table, spec)
    # Columns that are released unchanged can identify too many people by themselves.
    in_second_table = spec.sensitive if spec.target and spec.target.form == "anatomy" else ()
    perturbed = spec.perturb if isinstance(spec, Spec) else ()
    names = {*spec.sensitive, *settled.kept} - {*perturbed, *in_second_table}
    uncounted = {"other", *source.engine.kinds_kept_only}
    shown = [column.name for column in source.table.columns if column.name in names and column.kind not in uncounted]
    notes = source.notes
    if shown and not source.counted_by:
        with Scratch(source.engine, "exact") as counts:
            found = exact(counts, source.table.relation, shown, spec.unit)
        notes = (*notes, found.warning) if found.too_many else notes
    return replace(source, table=table, roles=settled, columns=source.columns or source.types(), notes=notes)


def _check_engine(engine: Engine, table: Table, spec: Spec, models: PrivacyModels, search_in: str) -> None:
    """Refuse what an engine cannot do, or would do differently from other engines."""
    if search_in == "engine" and not engine.has_temporary_tables and not (spec.target and spec.target.table):
        raise SpecError(
            f"this session of {engine.name} has no temporary tables to search in, and creates tables next to the "
            "target instead; name a table with `into`, or leave out `search_in`"
        )
    needs_temporary_tables = {
        "an anatomy": spec.target is not None and spec.target.form == "anatomy",
        "a perturbation": bool(spec.perturb),
        "a population": models.population is not None,
        "masking against minimality": bool(models.redrawn),
        "a table of rows that wait": spec.waiting is not None,
    }
    needed_by = [name for name, requested in needs_temporary_tables.items() if requested]
    if needed_by and not engine.has_temporary_tables:
        raise SpecError(
            f"{needed_by[0]} needs temporary tables, which this session of {engine.name} does not have; leave it out, "
            "or copy the table to DuckDB or PostgreSQL"
        )
    if spec.target and spec.target.stays_a_query and table.relation == SOURCE_VIEW:
        raise SpecError("a view needs a table below it; load the files into a table, or use `form='table'`")
    compared = {*spec.quasi_identifiers, *spec.sensitive, *([spec.unit] if spec.unit else [])}
    for column in table.columns:
        if column.name in compared and column.type == "VARIANT":
            raise SpecError(
                f"the column {column.name!r} is a VARIANT, whose values have different types and are equal to none; "
                "cast it to another type in a view, such as TEXT, or drop it"
            )
        if column.name in compared and column.kind in engine.kinds_kept_only:
            raise SpecError(
                f"the column {column.name!r} is a {column.type} of {engine.name}, whose values the embedded DuckDB "
                "would compare differently; cast it to another type in a view, such as DATE, TEXT or, on Spark, STRING "
                "or TIMESTAMP_NTZ"
            )


def _check_identical(spec: Spec, hierarchies: Mapping[str, HierarchySource]) -> None:
    """Refuse different hierarchies or levels if the strategy needs one for all, as far as files and tables show."""
    if spec.strategy in RECODERS or not strategy(spec.strategy).one_hierarchy:
        return
    (first, first_fixed), *rest = ((name, source.fixed) for name, source in hierarchies.items())
    for name, fixed in rest:
        if first_fixed and fixed and first_fixed.contradicts(fixed):
            raise not_identical(spec.strategy, "hierarchy", name, first)
        # The bounds of both columns' levels that can be determined before the hierarchies are built.
        columns = spec.quasi_identifiers[first], spec.quasi_identifiers[name]
        height = fixed.height if fixed else 0
        highest = [height if column.max_level is None else min(column.max_level, height) for column in columns]
        if columns[0].min_level != columns[1].min_level or highest[0] != highest[1]:
            raise not_identical(spec.strategy, "min_level and max_level", name, first)
