"""The privacy models of a run, from the spec and from Python, and whether its source supports them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from kanon_sql import queries
from kanon_sql.engine import Column, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency.fitting import HierarchySource, hierarchy_source
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.generalization.values import key, read
from kanon_sql.plan.population import is_a_query
from kanon_sql.plan.source import Source, fitted
from kanon_sql.privacy import UNIT, ClassCount, PrivacyModel, PrivacyModels, ReleaseModel, all_of, k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.recode import RECODERS
from kanon_sql.report.numbers import figure, parameters
from kanon_sql.spec import AttributeSpec, SensitiveModel, Spec, TCloseness


def models_of(spec: Spec, source: Source) -> PrivacyModels:
    """All privacy models of a spec, including those passed in Python.

    For a hierarchical distance, reads the values of the column to build its hierarchy.
    """
    if spec.privacy.models:
        raise SpecError(f"privacy.models names {spec.privacy.models[0]}, which is not run here; leave it out")
    of_columns = [model_of(spec, source, column, settings) for _, column, settings in spec.privacy.requirements]
    of_population = [settings.model() for settings in spec.privacy.populated]
    models = all_of(*_k(spec), *of_columns, *of_population, *spec.privacy.of_release, *spec.models, unit=spec.unit)
    # The people of a population can only be counted class by class.
    populated = any(model.population is not None for model in models.of_release)
    return models.of_classes if class_by_class(spec) or (spec.unit and populated) else models


def searched_models(spec: Spec, source: Source) -> PrivacyModels:
    """The privacy models that the search uses: all, except those of sensitive values if these are redrawn afterwards.

    With a unit, models of the whole release become models of every class: a person can be in several classes, and the
    smallest one decides the risk.
    """
    models = models_of(spec, source)
    if spec.unit:
        models = models.of_classes
    return models.before_redrawing if spec.privacy.minimality else models


def class_by_class(spec: Spec) -> bool:
    """Whether classes are built, shown or counted one by one, so that no step sees all of them together."""
    return is_a_query(spec) or spec.strategy in RECODERS or spec.sets_show


def _k(spec: Spec) -> list[PrivacyModel]:
    """k-anonymity with the spec's k, unless other models replace it.

    Models passed in Python replace it if they set a class size, or if the spec's k is 1. The default k does not apply
    together with a risk, a uniqueness or a model of a population: with five rows in every class these would often be
    satisfied without any effect, and a k-map allows rows that are unique in the sample.
    """
    in_python = any(model.class_size for model in spec.models) or (spec.models and spec.privacy.k == 1)
    replaces_default = spec.privacy.of_release or spec.privacy.populated
    default = "k" not in spec.privacy.model_fields_set
    return [] if in_python or (replaces_default and default) else [k_anonymity(spec.privacy.k)]


def uses_hierarchy(settings: SensitiveModel) -> TypeGuard[TCloseness]:
    """Whether the settings of a model require or name a hierarchy of the column's values."""
    return isinstance(settings, TCloseness) and (settings.distance == "hierarchical" or settings.hierarchy is not None)


def model_of(spec: Spec, source: Source, column: str, settings: SensitiveModel) -> PrivacyModel:
    """The model of a sensitive column, with the column's hierarchy if it uses the hierarchical distance."""
    if not uses_hierarchy(settings):
        return settings.model(column)
    origin = value_hierarchy(spec, source, column, settings)
    return settings.model(column, fitted(source, _described(source, column), origin.build))


def value_hierarchy(spec: Spec, source: Source, column: str, settings: TCloseness) -> HierarchySource:
    """The hierarchy of a sensitive column's values, before it is built for those that occur."""
    attribute = AttributeSpec(hierarchy=settings.hierarchy)
    return hierarchy_source(attribute, _described(source, column), spec, source.engine)


def _described(source: Source, column: str) -> Column:
    described = source.table.column(column)
    if described is None:
        raise SpecError(f"{column!r} is in privacy.t_closeness, and there is no such column")
    return described


def check_models(models: PrivacyModels, table: Table) -> None:
    """SpecError if a condition cannot be evaluated on classes, or a column of a model is missing."""
    if models.unit and table.column(models.unit) is None:
        raise SpecError(
            f"`unit` is {models.unit!r}, but there is no such column; releases lack it too, since their people are "
            "counted before it is dropped; leave out `unit` to count rows"
        )
    for model in models.models:
        if model.sensitive is not None and table.column(model.sensitive) is None:
            raise SpecError(f"{model.name} counts the values of {model.sensitive!r}, and there is no such column")
        check_order(model, table)
        predicate = models.predicate(model)
        queries.check_condition(predicate, population=model.population is not None)
        if model.achieved is not None:
            queries.over_classes(replace(predicate, text=model.achieved))
        if models.unit and model.reads_size and not model.one_value:
            raise SpecError(
                f"{model.name} divides by `size`, the rows of all values, and `unit` counts people, who can have "
                "several values; divide by SUM(n), the people of a class, outside of the aggregate"
            )


def check_feasible(models: PrivacyModels, spec: Spec, table: Table) -> None:
    """Refuse models that this spec can never satisfy or verify, before any long query."""
    check_models(models, table)
    of_columns = [model for model in models.models if model.sensitive]
    for column in dict.fromkeys(str(model.sensitive) for model in of_columns if model.released):
        _check_released(column, spec)
    for model in of_columns:
        _check_not_released(model, spec)
    if spec.privacy.minimality:
        _check_redrawn(models)
    if models.k_alone and not models.of_release:
        return
    if spec.wildcard_suppression:
        raise SpecError(f"wildcard suppression supports only k, not {models.name}; leave out one of the two")
    if spec.target and spec.target.form == "anatomy":
        raise SpecError(f"the groups of an anatomy support only k, not {models.name}; use `form='table'`")


def _check_redrawn(models: PrivacyModels) -> None:
    """Redrawing hides one value of a column, so the only model it can satisfy is an `alpha_k` of that value."""
    problem = "" if any(model.sensitive for model in models.models) else "no model names one"
    columns: set[str] = set()
    for model in models.models:
        if model.sensitive is None:
            continue
        if not model.released or model.parameters.keys() != {"alpha", "value"}:
            problem = f"{model.name} is about all values"
            break
        if model.sensitive in columns:
            problem = problem or f"{model.sensitive!r} has two"
        columns.add(model.sensitive)
    if problem:
        raise SpecError(
            f"`minimality` hides one value of a sensitive column, and {problem}; set one `alpha_k` with a `value` "
            "per column, or leave out `minimality`"
        )


def _check_released(column: str, spec: Spec) -> None:
    """A column whose values a model counts must be released unchanged, so that verification can count them again."""
    if column in spec.dropped:
        raise SpecError(
            f"a privacy model counts the values of {column!r}, which is dropped as an identifier, so the "
            "release could not be verified; keep the column, leave out the model, or set its `released=False` to count "
            "it in the source"
        )
    if column in spec.quasi_identifiers:
        raise SpecError(
            f"a privacy model counts the values of {column!r}, which is a quasi-identifier; name it sensitive instead"
        )
    if column in spec.perturb:
        raise SpecError(
            f"{column!r} is perturbed, but the privacy model counts its original values; leave out the one or the other"
        )


def _check_not_released(model: PrivacyModel, spec: Spec) -> None:
    """A column that a model counts without releasing it must not be released for another reason."""
    column = model.sensitive
    released = (*spec.quasi_identifiers, *spec.sensitive, *spec.kept_by_name, *spec.perturb)
    if not model.released and (column in released or (spec.target and spec.target.form == "anatomy")):
        raise SpecError(
            f"{model.name} counts the values of {column!r} without releasing them, and the spec releases them; leave "
            "the column out of the release, or set the model's `released=True`"
        )


def check_order(model: PrivacyModel, table: Table) -> None:
    """An ordered distance needs a column whose values have a meaningful order."""
    column = table.column(model.sensitive) if model.sensitive and model.in_order else None
    if column and not column.ordered:
        raise SpecError(
            f"{model.name} needs ordered values, and the order of {column.type} has no meaning; choose a column of "
            "numbers, dates or times, or the distance equal or hierarchical"
        )


def check_unit(models: PrivacyModels, source: Source) -> None:
    """SpecError if rows have NULL as their unit: their people cannot be counted."""
    if models.unit is None:
        return
    engine, relation = source.engine, source.table.relation
    query = queries.text("privacy/unknown_units", engine.dialect, source=relation, unit=[models.unit])
    ((unknown,),) = engine.rows(query)
    if unknown:
        raise SpecError(
            f"{unknown:,} rows have no {models.unit!r}, so the number of people is unknown; leave these rows out of "
            "the source, or give each of them a value"
        )


def check_reachable(models: PrivacyModels, frequency_set: FrequencySet, may_suppress: int) -> None:
    """InfeasibleError if no release can satisfy a model, because the most general class, of all rows, does not.

    The conclusion needs a model for which merged safe classes are safe: if the class of all rows is unsafe, then so is
    a class of every release. If rows can be suppressed, more rows than allowed must need suppression in that class.
    """
    check_occurring(models, frequency_set.tables, frequency_set.references)
    _check_one_value(models, frequency_set)
    for model in models.models:
        needed = models.needed_of_all(model, may_suppress)
        if not needed:
            continue
        achieved, of_class = None, None
        if model.achieved:
            achieved, of_class = queries.over_classes(replace(models.predicate(model), text=model.achieved))
        ((unsafe, reached),) = frequency_set.tables.rows(
            "privacy/whole_table",
            frequency_set=frequency_set.relation,
            safe=needed,
            achieved=achieved,
            of_class=of_class,
        )
        if unsafe:
            suppressed = 0 if model.monotone == "always" else may_suppress
            raise _unreachable(model, frequency_set.rows, reached, suppressed)


def _check_one_value(models: PrivacyModels, frequency_set: FrequencySet) -> None:
    """SpecError if a model needs shares that add up to 1, and people have several values of its column."""
    if not models.unit:
        return
    for model in models.models:
        if not model.one_value:
            continue
        value = next(name for name, column in models.sensitive.items() if column == model.sensitive)
        ((people,),) = frequency_set.tables.rows(
            "privacy/several_values", counted=frequency_set.relation, unit=[UNIT], value=[value]
        )
        if people:
            raise SpecError(
                f"{model.name} is about shares of people that add up to 1, and {people:,} people have several values "
                f"of {model.sensitive!r}; use alpha_k, beta_likeness, delta_disclosure or distinct l-diversity, "
                "which count a person with each of their values"
            )


def check_sizes(models: PrivacyModels, rows: int, population: int | None = None) -> None:
    """InfeasibleError if no release can satisfy a model of the whole release: one class of all rows has least risk."""
    for model in models.of_release:
        whole = model.histogram([ClassCount(rows, population or 0, 1)])
        if not model.holds(whole):
            raise _unreachable(model, rows, model.achieved(whole))


def _unreachable(
    model: PrivacyModel | ReleaseModel, rows: int, reached: float | None, suppressed: int = 0
) -> InfeasibleError:
    achieved = "" if reached is None else f", which reach {figure(reached)}"
    too_few = f", and the {suppressed:,} that may be suppressed are too few to help" if suppressed else ""
    more = ", or raise `suppression_limit`" if suppressed else ""
    return InfeasibleError(
        f"no release can meet {model.name}, {parameters(model.required)} required: not even all {rows:,} rows in one "
        f"class do{achieved}{too_few}; relax the model{more}"
    )


def check_occurring(models: PrivacyModels, tables: Scratch, references: Mapping[str, Relation]) -> None:
    """SpecError if a model names a value that its column lacks: it would hide nothing."""
    for name, column in models.sensitive.items():
        named = [model.parameters.get("value") for model in models.models if model.sensitive == column]
        values = {value for value in named if isinstance(value, str)}
        reference = references.get(name)
        if not values or reference is None:
            continue
        columns = tables.engine.table(reference).columns
        kind = next(described.kind for described in columns if described.name == "raw")
        texts = tables.rows("privacy/occurring_texts", reference=reference)
        occurring = {_key(text, kind) for (text,) in texts if text is not None}
        missing = {value for value in values if _key(value, kind) not in occurring}
        if missing:
            raise SpecError(
                f"alpha of {column!r} names the value {min(missing)!r}, which does not occur; correct it, or leave it "
                "out to mean every value"
            )


def _key(text: str, kind: str) -> Any:
    """The key by which values of this kind are compared; the text itself if it is not such a value."""
    try:
        return key(read(text, kind))
    except ValueError:
        return text
