"""The privacy models of a run: what the spec and the program ask for together, and whether it can be asked here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Table
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency.fitting import hierarchy_source
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.generalization.values import key, read
from kanon_sql.plan.population import is_a_query
from kanon_sql.plan.source import Source, fitted
from kanon_sql.privacy import UNIT, Alike, PrivacyModel, PrivacyModels, ReleaseModel, all_of, k_anonymity
from kanon_sql.recode import RECODERS
from kanon_sql.recode import show as shows
from kanon_sql.report.numbers import figure, parameters
from kanon_sql.spec import Attribute, SensitiveModel, Spec, TCloseness


def models_of(spec: Spec, source: Source) -> PrivacyModels:
    """The privacy models that a spec asks for, and those given in Python; the unit's people are counted, or rows.

    The values of a hierarchical distance's column are read, and its hierarchy is made of them.
    """
    if spec.privacy.models:
        raise SpecError(f"privacy.models names {spec.privacy.models[0]}, which is not run here; leave it out")
    said = [_model(spec, source, column, each) for _, column, each in spec.privacy.asked]
    beside = [each.model() for each in spec.privacy.populated]
    model = all_of(*_k(spec), *said, *beside, *spec.privacy.of_release, *spec.models, unit=spec.unit)
    # Who of a population the classes of somebody stand for is counted class by class.
    by_class = class_by_class(spec) or (spec.unit and any(each.population is not None for each in model.of_release))
    return model.of_classes if by_class else model


def searched_models(spec: Spec, source: Source) -> PrivacyModels:
    """The privacy models that classes are chosen by: all, or none of sensitive values where these are redrawn.

    Somebody may be in several classes, and is at the risk of the smallest: with a unit every class is large enough.
    """
    model = models_of(spec, source).of_classes if spec.unit else models_of(spec, source)
    return model.before_redrawing if spec.privacy.minimality else model


def class_by_class(spec: Spec) -> bool:
    """Whether classes are made, shown or counted one by one, so that nobody looks at all of them together."""
    return is_a_query(spec) or spec.strategy in RECODERS or shows.asked(spec)


def _k(spec: Spec) -> list[PrivacyModel]:
    """The spec's k, unless models given in Python say another, or some say what holds without one.

    A k-map holds without one: it is asked where rows may be alone in the sample.
    """
    said = any(model.class_size for model in spec.models) or (spec.models and spec.privacy.k == 1)
    # Of a risk or a uniqueness nothing would be left to ask where every class had the five rows of nobody's choice.
    others = spec.privacy.of_release or spec.privacy.populated
    unsaid = others and "k" not in spec.privacy.model_fields_set
    return [] if said or unsaid else [k_anonymity(spec.privacy.k)]


def _model(spec: Spec, source: Source, column: str, asked: SensitiveModel) -> PrivacyModel:
    """One model, with the hierarchy of its column where it asks for a distance in it."""
    if not isinstance(asked, TCloseness) or (asked.distance != "hierarchical" and asked.hierarchy is None):
        return asked.model(column)
    described = source.table.column(column)
    if described is None:
        raise SpecError(f"{column!r} is in privacy.t_closeness, and there is no such column")
    made = hierarchy_source(Attribute(hierarchy=asked.hierarchy), described, spec, source.engine)
    return asked.model(column, fitted(source, described, made.build))


def check_models(model: PrivacyModels, table: Table) -> None:
    """SpecError if a model says what no class can be asked, or counts the values of a column that is not there."""
    if model.unit and table.column(model.unit) is None:
        raise SpecError(
            f"people are told apart by {model.unit!r}, and there is no such column; a release does not have it, so its "
            "people are counted when it is made; leave out `unit` to count rows"
        )
    for each in model.models:
        if each.sensitive is not None and table.column(each.sensitive) is None:
            raise SpecError(f"{each.name} counts the values of {each.sensitive!r}, and there is no such column")
        _check_order(each, table)
        asked = model.predicate(each)
        queries.check_condition(asked, population=each.population is not None)
        if each.achieved is not None:
            queries.over_classes(replace(asked, text=each.achieved))
        if model.unit and each.reads_size and not each.one_value:
            raise SpecError(
                f"{each.name} divides by `size`, the rows of all values, and `unit` counts people, who can have "
                "several values; divide by SUM(n), the people of a class, outside of the aggregate"
            )


def check_asked(model: PrivacyModels, spec: Spec, table: Table) -> None:
    """Refuse models that cannot be met or verified by this spec, before any long work."""
    check_models(model, table)
    counted = [each for each in model.models if each.sensitive]
    for column in dict.fromkeys(each.sensitive for each in counted if each.released):
        _check_counted(str(column), spec)
    for each in counted:
        _check_hidden(each, spec)
    if spec.privacy.minimality:
        _check_redrawn(model)
    alone = model.k_alone and not model.of_release
    if not alone and spec.wildcard_suppression:
        raise SpecError(f"a release with wildcards is made for k alone, not for {model.name}; leave out one of them")
    if not alone and spec.target and spec.target.form == "anatomy":
        raise SpecError(f"the groups of an anatomy are made for k alone, not for {model.name}; give `form='table'`")


def _check_redrawn(model: PrivacyModels) -> None:
    """Redrawing takes one value out of classes, so it meets a model of that value, and no other."""
    asked = [each for each in model.models if each.sensitive is not None]
    odd = next((each for each in asked if not each.released or each.parameters.keys() != {"alpha", "value"}), None)
    columns = [each.sensitive for each in asked]
    twice = next((each for each in columns if columns.count(each) > 1), None)
    if odd or twice or not asked:
        why = f"{odd.name} is about all values" if odd else f"{twice!r} has two" if twice else "no model names one"
        raise SpecError(
            f"`minimality` hides one value of a sensitive column, and {why}; ask for one `alpha_k` with a `value` per "
            "column, or leave out `minimality`"
        )


def _check_counted(column: str, spec: Spec) -> None:
    """A column whose values are counted must be in the release as it is, for who checks it counts them again."""
    if column in spec.dropped:
        raise SpecError(
            f"a privacy model counts the values of {column!r}, which is dropped as an identifier, so that nobody "
            "could check the release; keep the column, leave out the model, or give it `released=False` to count it in "
            "the source"
        )
    if column in spec.quasi_identifiers:
        raise SpecError(
            f"a privacy model counts the values of {column!r}, which is a quasi-identifier; name it sensitive instead"
        )
    if column in spec.perturb:
        raise SpecError(
            f"{column!r} is perturbed, so that its released values are not those that the privacy model counts; leave "
            "out the one or the other"
        )


def _check_hidden(model: PrivacyModel, spec: Spec) -> None:
    """A column that is counted and not released cannot be released in another way."""
    column = model.sensitive
    released = (*spec.quasi_identifiers, *spec.sensitive, *spec.kept_by_name, *spec.perturb)
    if not model.released and (column in released or (spec.target and spec.target.form == "anatomy")):
        raise SpecError(
            f"{model.name} counts the values of {column!r} without releasing them, and the spec releases them; leave "
            "the column out of the release, or give the model `released=True`"
        )


def _check_order(model: PrivacyModel, table: Table) -> None:
    """A distance by the order of values needs a column whose values have one that means something."""
    column = table.column(model.sensitive) if model.sensitive and model.in_order else None
    if column and not column.ordered:
        raise SpecError(
            f"{model.name} goes by the order of the values, and {column.type} has none that means something; give a "
            "column of numbers, dates or times, or the distance equal or hierarchical"
        )


def check_unit(model: PrivacyModels, source: Source) -> None:
    """SpecError if it is not known whose some of the rows are: people could not be counted."""
    if model.unit is None:
        return
    engine, relation = source.engine, source.table.relation
    query = queries.text("privacy/unknown_units", engine.dialect, source=relation, unit=[model.unit])
    ((unknown,),) = engine.rows(query)
    if unknown:
        raise SpecError(
            f"{unknown:,} rows have no {model.unit!r}, so that nobody knows how many people they are; leave these rows "
            "out of the source, or give each of them a value"
        )


def check_reachable(model: PrivacyModels, frequency_set: FrequencySet, may_suppress: int) -> None:
    """InfeasibleError if no release can meet a model: all rows together, the most general class, do not.

    That is certain where safe classes merged are safe, so that an unsafe whole has an unsafe class. Where rows may be
    suppressed, more must have to go from the whole than may.
    """
    _check_occurring(model, frequency_set)
    _check_one_value(model, frequency_set)
    for each in model.models:
        needed = model.needed_of_all(each, may_suppress)
        if not needed:
            continue
        asked = model.predicate(each)
        achieved = queries.over_classes(replace(asked, text=each.achieved)) if each.achieved else (None, None)
        holes: dict[str, Any] = {"safe": needed, "achieved": achieved[0], "of_class": achieved[1]}
        relation = frequency_set.relation
        ((unsafe, reached),) = frequency_set.tables.rows("privacy/whole_table", frequency_set=relation, **holes)
        if unsafe:
            suppressed = 0 if each.monotone == "always" else may_suppress
            raise _unreachable(each, frequency_set.rows, reached, suppressed)


def _check_one_value(model: PrivacyModels, frequency_set: FrequencySet) -> None:
    """SpecError if a model needs shares that add up to 1, and people have several values of its column."""
    for each in model.models if model.unit else ():
        if not each.one_value:
            continue
        value = next(name for name, column in model.sensitive.items() if column == each.sensitive)
        holes: dict[str, Any] = {"counted": frequency_set.relation, "unit": [UNIT], "value": [value]}
        ((people,),) = frequency_set.tables.rows("privacy/several_values", **holes)
        if people:
            raise SpecError(
                f"{each.name} is about shares of people that add up to 1, and {people:,} people have several values of "
                f"{each.sensitive!r}; ask for alpha_k, beta_likeness, delta_disclosure or distinct l-diversity, which "
                "count a person with each of their values"
            )


def check_sizes(model: PrivacyModels, rows: int, population: int | None = None) -> None:
    """InfeasibleError if no release can meet a model about all classes: one class of all rows has the least risk."""
    for each in model.of_release:
        whole = each.histogram([Alike(rows, population or 0, 1)])
        if not each.holds(whole):
            raise _unreachable(each, rows, each.achieved(whole))


def _unreachable(
    each: PrivacyModel | ReleaseModel, rows: int, reached: float | None, suppressed: int = 0
) -> InfeasibleError:
    said = "" if reached is None else f", which reach {figure(reached)}"
    helped = f", and the {suppressed:,} that may be suppressed are too few to help" if suppressed else ""
    more = ", or raise `suppression_limit`" if suppressed else ""
    return InfeasibleError(
        f"no release can meet {each.name}, {parameters(each.required)} required: not even all {rows:,} rows in one "
        f"class do{said}{helped}; ask less of a class{more}"
    )


def _check_occurring(model: PrivacyModels, frequency_set: FrequencySet) -> None:
    """SpecError if a model names a value that its column lacks: it would hide nothing."""
    for name, column in model.sensitive.items():
        asked = (each.parameters.get("value") for each in model.models if each.sensitive == column)
        values = {value for value in asked if isinstance(value, str)}
        reference = frequency_set.references.get(name)
        if not values or reference is None:
            continue
        kind = next(each.kind for each in frequency_set.engine.table(reference).columns if each.name == "raw")
        texts = frequency_set.tables.rows("privacy/occurring_texts", reference=reference)
        known = {_key(text, kind) for (text,) in texts if text is not None}
        lacking = {value for value in values if _key(value, kind) not in known}
        if lacking:
            raise SpecError(
                f"alpha of {column!r} names the value {min(lacking)!r}, which does not occur; correct it, or leave it "
                "out to mean every value"
            )


def _key(text: str, kind: str) -> Any:
    """What a text is equal by, as a value of this kind."""
    try:
        return key(read(text, kind))
    except ValueError:
        return text
