"""The preflight: every check of a spec against its source that needs no counting, in the order in which it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.reading import SOURCE_VIEW
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency.fitting import HierarchySource, hierarchy_sources
from kanon_sql.loss import metric
from kanon_sql.own import Own
from kanon_sql.plan.drift import drift, without_new
from kanon_sql.plan.earlier import Earlier, check_columns, check_kind, earlier_of, regions_file
from kanon_sql.plan.models import check_asked, check_unit, searched_models
from kanon_sql.plan.population import check_population
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.recode import RECODERS
from kanon_sql.recode import show as shows
from kanon_sql.recode.regions import Regions, read_regions
from kanon_sql.release import anatomy, as_written, minimality, perturb, tables
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
    """A spec and a source that go together, as far as can be known before anything is counted.

    `source`: with its roles, where it is to be released. `models`: what classes are chosen by. `here`: the engine to
    search in. `earlier`: the release whose recoding is kept, and `regions` those of a local recoding.
    """

    spec: Spec
    source: Source
    models: PrivacyModels
    hierarchy_sources: dict[str, HierarchySource]
    here: Engine
    earlier: Earlier | None = None
    regions: Regions | None = None


def check_spec(spec: ReleaseSpec, verb: Verb) -> None:
    """Refuse what the spec alone can tell, before anything is opened."""
    known = (*STRATEGIES, *RECODERS)
    if isinstance(spec, Spec) and spec.strategy not in known and not isinstance(spec.strategy, Own):
        raise SpecError(f"{spec.strategy!r} is not a strategy; choose one of {', '.join(known)}")
    check(spec, verb)


def preflight(
    spec: Spec, source: Source, search_in: str = "embedded", *, releases_it: bool = False, compared: Sequence[str] = ()
) -> Ready:
    """Make every check that needs no counting.

    `releases_it`: whether a release is planned, so that columns get their roles and an earlier release may be kept.
    `compared`: strategies that are to be run side by side, in the place of the spec's own.
    """
    check_roles(spec, source.table)
    earlier, regions, strategies = None, None, compared or [spec.strategy]
    if releases_it:
        earlier = earlier_of(spec)
        source, earlier = _followed(source, spec, earlier) if earlier else (settle_roles(source, spec), None)
    if (releases_it or compared) and (shows.asked(spec) or any(name in RECODERS for name in strategies)):
        if search_in == "engine" and not source.engine.is_embedded:
            raise SpecError(
                f"a local recoding works in an embedded DuckDB, not in {source.engine.name}; leave out `search_in`"
            )
        shows.check_show(spec, source.table)
    if earlier and earlier.why_not is None and spec.strategy in RECODERS:
        regions = read_regions(regions_file(earlier), spec.session.limits)
    models = searched_models(spec, source)
    promised = models.after_redrawing
    _check_engine(source.engine, source.table, spec, models, search_in)
    releases.check_target(spec, source.engine, source.table, source.files)
    anatomy.check(source.engine, source.table, spec)
    perturb.check(source.engine, source.table, spec)
    minimality.check(spec)
    check_asked(promised, spec, source.table)
    check_unit(models, source)
    as_written.check(source.engine, source.table, spec.target, promised)
    check_population(spec, models)
    metric(spec.metric)
    # A column in order needs no hierarchy for a local recoding.
    order_will_do = all(name in RECODERS for name in strategies)
    fitted = hierarchy_sources(spec, source.table, source.engine, order_will_do=order_will_do)
    _check_identical(spec, fitted)
    if spec.target and spec.target.stays_a_query:
        view = source.engine.place(str(spec.target.table))
        stems = companion_stems(list(fitted), spec.strategy in RECODERS or shows.asked(spec))
        needed = [companion(view, stem) for stem in stems]
        tables.check_companions(source.engine, spec.target, source.table, needed)
    here = source.engine if source.engine.is_embedded or search_in == "engine" else source.engine.embedded()
    # Labels of moments would be other days where two engines read them by other clocks.
    zoned = any(column.zoned and column.name in spec.quasi_identifiers for column in source.table.columns)
    if zoned and source.time_zone and here.time_zone().lower() != source.time_zone.lower():
        raise SpecError(
            f"{source.engine.name} has the time zone {source.time_zone!r}, which DuckDB does not know; give one, such "
            "as Europe/Zurich, as `time_zone`"
        )
    return Ready(spec, source, models, fitted, here, earlier, regions)


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


def _followed(source: Source, spec: Spec, earlier: Earlier) -> tuple[Source, Earlier]:
    """The source as far as an earlier release knew it, with its roles; SpecError for what drifted and may not."""
    check_columns(earlier, spec)
    check_kind(earlier, spec, spec.strategy in RECODERS)
    drifted = drift(earlier.manifest, source, spec)
    known, new = without_new(source, drifted)
    settled = settle_roles(known, spec)
    dropped = replace(settled.roles, dropped=(*settled.roles.dropped, *new))
    why_not = next((difference.text for difference in drifted if difference.policy == "search"), None)
    return replace(settled, roles=dropped), replace(earlier, why_not=why_not)


def settle_roles(source: Source, spec: ReleaseSpec) -> Source:
    """Leave out of the source what a release drops unasked; SpecError if it keeps unasked what should be named."""
    table, settled = roles.settle(source.engine, source.table, spec)
    # Columns that are released unchanged may single out too many people by themselves.
    apart = spec.sensitive if spec.target and spec.target.form == "anatomy" else ()
    perturbed = spec.perturb if isinstance(spec, Spec) else ()
    names = {*spec.sensitive, *settled.kept} - {*perturbed, *apart}
    uncounted = {"other", *source.engine.kinds_kept_only}
    shown = [column.name for column in source.table.columns if column.name in names and column.kind not in uncounted]
    notes = source.notes
    if shown and not source.counted_by:
        with Scratch(source.engine, "exact") as counts:
            found = exact(counts, source.table.relation, shown, spec.unit)
        notes = (*notes, found.warning) if found.too_many else notes
    return replace(source, table=table, roles=settled, columns=source.columns or source.types(), notes=notes)


def _check_engine(engine: Engine, table: Table, spec: Spec, model: PrivacyModels, search_in: str) -> None:
    """Refuse what an engine cannot do, or would do otherwise than others."""
    if search_in == "engine" and not engine.has_temporary_tables and not (spec.target and spec.target.table):
        raise SpecError(
            f"{engine.name} has no temporary tables to search in, and makes tables beside the target instead; name a "
            "table with `into`, or leave out `search_in`"
        )
    made_step_by_step = {
        "an anatomy": spec.target is not None and spec.target.form == "anatomy",
        "a perturbation": bool(spec.perturb),
        "a population": model.population is not None,
        "masking against minimality": bool(model.redrawn),
        "a table of rows that wait": spec.waiting is not None,
    }
    needs = [name for name, wanted in made_step_by_step.items() if wanted]
    if needs and not engine.has_temporary_tables:
        raise SpecError(
            f"{needs[0]} needs temporary tables, which {engine.name} does not have; leave it out, or copy the table to "
            "DuckDB or PostgreSQL"
        )
    if spec.target and spec.target.stays_a_query and table.relation == SOURCE_VIEW:
        raise SpecError("a view needs a table below it; load the files into a table, or give `form='table'`")
    compared = {*spec.quasi_identifiers, *spec.sensitive, *([spec.unit] if spec.unit else [])}
    for column in table.columns:
        if column.name in compared and column.kind in engine.kinds_kept_only:
            raise SpecError(
                f"the column {column.name!r} is a {column.type} of {engine.name}, which cannot be compared where it is "
                "counted as it is there; cast it to another type in a view, such as DATE, TEXT or, on Spark, STRING or "
                "TIMESTAMP_NTZ"
            )


def _check_identical(spec: Spec, fitted: Mapping[str, HierarchySource]) -> None:
    """Refuse hierarchies or levels that differ where the strategy needs one, as far as files and tables tell."""
    if spec.strategy in RECODERS or not strategy(spec.strategy).one_hierarchy:
        return
    (first, its), *others = ((name, source.fixed) for name, source in fitted.items())
    for name, fixed in others:
        if its and fixed and its.contradicts(fixed):
            raise not_identical(spec.strategy, "hierarchy", name, first)
        # The levels that each may have, as far as they are known before its hierarchy is.
        columns = spec.quasi_identifiers[first], spec.quasi_identifiers[name]
        height = fixed.height if fixed else 0
        highest = [height if column.max_level is None else min(column.max_level, height) for column in columns]
        if columns[0].min_level != columns[1].min_level or highest[0] != highest[1]:
            raise not_identical(spec.strategy, "min_level and max_level", name, first)
