"""The privacy part of a spec: k, its unit, and the models of sensitive columns, populations and risks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypedDict

from pydantic import (
    BeforeValidator,
    Field,
    StrictFloat,
    StrictInt,
    WithJsonSchema,
    model_validator,
)

from kanon_sql import privacy as models
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.own import is_reference
from kanon_sql.privacy.l_diversity import Diversity
from kanon_sql.privacy.likeness import Likeness
from kanon_sql.privacy.model import PrivacyModel
from kanon_sql.privacy.release_model import ReleaseModel
from kanon_sql.privacy.t_closeness import Distance
from kanon_sql.privacy.uniqueness import Estimator
from kanon_sql.spec.choices import Minimality
from kanon_sql.spec.keys import spec_key
from kanon_sql.spec.recipes import RECIPES, Recipe, spelled_out
from kanon_sql.spec.types import FROZEN, Model, Source, Text, empty

Share: TypeAlias = Annotated[StrictFloat, Field(gt=0, le=1)]


class SensitiveModel(Model):
    """The requirement of one privacy model on one sensitive column.

    A subclass also declares how the model is written and shown. `short`: the key that a bare number sets. `title`,
    `symbol`, `bound`: on the page, the model's name, its parameter and the meaning of the parameter. `least`: the
    smallest number that requires anything. `example`: values of its flag on the command line. `flag`: that flag, if it
    is not spelled like the key.
    """

    short: ClassVar[str]
    title: ClassVar[str]
    symbol: ClassVar[str]
    bound: ClassVar[str]
    example: ClassVar[str]
    least: ClassVar[int] = 0
    flag: ClassVar[str] = ""

    def model(self, column: str) -> PrivacyModel:
        """The privacy model; SpecError for invalid parameters."""
        raise NotImplementedError


class LDiversity(SensitiveModel):
    """Every class has `l` well-represented values of the column."""

    short = "l"
    title, symbol, least = "l-diversity", "l", 2
    bound = "every class has at least so many different values"
    example = "disease=3, disease=3:entropy or disease=3:recursive:4"
    l: StrictFloat = spec_key("The minimum diversity.", ..., ge=1, allow_inf_nan=False)  # noqa: E741  (the literature's name)
    kind: Diversity = spec_key(
        "How diversity is measured: by distinct values, by entropy, or by recursive (c, l)-diversity.", "distinct"
    )
    c: StrictFloat | None = spec_key(
        "The constant c, which limits how much more frequent the most frequent value is than the rarer ones "
        "(recursive).",
        gt=0,
        allow_inf_nan=False,
    )

    def model(self, column: str) -> PrivacyModel:
        """l-diversity."""
        return models.l_diversity(column, _short(self.l), self.kind, None if self.c is None else _short(self.c))


class TCloseness(SensitiveModel):
    """The values of the column are distributed in every class as in the table, up to a distance of `t`."""

    short = "t"
    title, symbol = "t-closeness", "t"
    bound = "no class is further from the whole table than this, from 0 to 1"
    example = "income=0.2, income=0.2:ordered, or job=0.2:hierarchical with job.csv in --hierarchies"
    t: StrictFloat = spec_key("The maximum distance.", ..., gt=0, le=1)
    distance: Distance = spec_key(
        "How the distance of two values is measured: all equal, by their order, or by a hierarchy.", "equal"
    )
    hierarchy: Annotated[Recipe | None, BeforeValidator(spelled_out)] = spec_key(
        "The hierarchy of the column's values (hierarchical).",
        takes=f"a file, or a mapping with one of {', '.join(RECIPES)}",
    )

    def model(self, column: str, hierarchy: Hierarchy | None = None) -> PrivacyModel:
        """t-closeness."""
        return models.t_closeness(column, _short(self.t), self.distance, hierarchy)


_VALUE = {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "number"}, {"type": "boolean"}]}


def _as_text(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


class AlphaK(SensitiveModel):
    """No value of the column, or not this one, has more than a share `alpha` of any class."""

    short = "alpha"
    title, symbol, flag = "(α, k)-anonymity", "α", "--alpha"
    bound = "no value makes up a larger share of a class, from 0 to 1"
    example = "disease=0.5 or disease=0.5:HIV"
    alpha: StrictFloat = spec_key("The maximum share.", ..., gt=0, le=1)
    value: Annotated[str | None, BeforeValidator(_as_text), WithJsonSchema(_VALUE)] = spec_key(
        "The value that is limited. By default every value.", takes="a value of the column"
    )

    def model(self, column: str) -> PrivacyModel:
        """The α of (α, k)-anonymity."""
        return models.alpha(column, _short(self.alpha), self.value)


class BetaLikeness(SensitiveModel):
    """No value's share of a class exceeds its share of the table by more than `beta` times that share."""

    short = "beta"
    title, symbol = "β-likeness", "β"
    bound = "a value's share of a class exceeds that of the table by no more"
    example = "disease=2 or disease=2:basic"
    beta: StrictFloat = spec_key("The maximum relative gain.", ..., gt=0, allow_inf_nan=False)
    kind: Likeness = spec_key(
        "Whether only beta limits the gain (basic), or also the frequency of the value (enhanced).", "enhanced"
    )

    def model(self, column: str) -> PrivacyModel:
        """β-likeness."""
        return models.beta_likeness(column, _short(self.beta), self.kind)


class DeltaDisclosure(SensitiveModel):
    """The logarithm of a value's share of a class over its share of the table is between -`delta` and `delta`."""

    short = "delta"
    title, symbol = "δ-disclosure", "δ"
    bound = "the logarithm of a share of a class over that of the table"
    example = "disease=1"
    delta: StrictFloat = spec_key("The maximum absolute logarithm.", ..., gt=0, allow_inf_nan=False)

    def model(self, column: str) -> PrivacyModel:
        """δ-disclosure privacy."""
        return models.delta_disclosure(column, _short(self.delta))


class PopulationModel(Model):
    """A privacy model that compares classes with a population, of which the source is a sample."""

    population: Source = spec_key(
        "The table of the population from which the source was sampled, with the quasi-identifiers.",
        ...,
        takes="the name of a table or the path of a file with the quasi-identifiers",
    )

    def model(self) -> PrivacyModel:
        """The privacy model; SpecError for invalid parameters."""
        raise NotImplementedError


class KMap(PopulationModel):
    """Every class corresponds to at least `k` rows of the population."""

    k: StrictInt = spec_key("The minimum number of rows of the population.", ..., ge=1)

    def model(self) -> PrivacyModel:
        """k-map."""
        return models.k_map(self.k, self.population)


class DeltaPresence(PopulationModel):
    """Of the population's rows in every class, a share between `min` and `max` is released."""

    min: StrictFloat = spec_key("The minimum share.", 0.0, takes="a share from 0 to 1", ge=0, le=1)
    max: StrictFloat = spec_key("The maximum share.", 1.0, takes="a share above 0, at most 1", gt=0, le=1)

    @model_validator(mode="after")
    def _requires_something(self) -> DeltaPresence:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}; lower the one or raise the other")
        if self.min == 0 and self.max == 1:
            raise ValueError("a share from 0 to 1 requires nothing; set a min above 0 or a max below 1")
        return self

    def model(self) -> PrivacyModel:
        """δ-presence."""
        return models.delta_presence(_short(self.min), _short(self.max), self.population)


def _short(number: float) -> float:
    """Return 3 for 3.0, so that a requirement is shown as the user wrote it."""
    return int(number) if number == int(number) else number


def _spelled_out(kind: type[SensitiveModel]) -> BeforeValidator:
    """Accept a bare number: `{disease: 3}` means `{disease: {l: 3}}`."""

    def by_column(value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {
            column: settings if isinstance(settings, (Mapping, SensitiveModel)) else {kind.short: settings}
            for column, settings in value.items()
        }

    return BeforeValidator(by_column)


LDiversities: TypeAlias = Annotated[Mapping[Text, LDiversity], _spelled_out(LDiversity), *FROZEN]
TClosenesses: TypeAlias = Annotated[Mapping[Text, TCloseness], _spelled_out(TCloseness), *FROZEN]
AlphaKs: TypeAlias = Annotated[Mapping[Text, AlphaK], _spelled_out(AlphaK), *FROZEN]
BetaLikenesses: TypeAlias = Annotated[Mapping[Text, BetaLikeness], _spelled_out(BetaLikeness), *FROZEN]
DeltaDisclosures: TypeAlias = Annotated[Mapping[Text, DeltaDisclosure], _spelled_out(DeltaDisclosure), *FROZEN]


class Above(Model):
    """At most a `share` of the rows may have a risk above a `threshold`."""

    threshold: Share = spec_key("The threshold of the risk.", ...)
    share: StrictFloat = spec_key("The maximum share of rows with a higher risk.", ..., ge=0, lt=1)


class Risk(Model):
    """The risk of re-identification, by the background knowledge of the attacker."""

    model: Literal["prosecutor", "journalist", "marketer"] = spec_key(
        "The attacker: the prosecutor knows that a person is in the release, the journalist only that the person is in "
        "the population, and the marketer wants to identify as many people as possible.",
        "prosecutor",
    )
    highest: Share | None = spec_key("The maximum risk of any row.")
    mean: Share | None = spec_key("The maximum mean risk of the rows.")
    above: Above | None = spec_key(
        "The share of rows that may have a risk above a threshold.",
        takes="a mapping such as {threshold: 0.2, share: 0.1}",
    )
    population: Source | None = spec_key(
        "The table of the population from which the source was sampled, with the quasi-identifiers.",
        takes="the name of a table or the path of a file",
    )

    @model_validator(mode="after")
    def _of_the_model(self) -> Risk:
        if (self.model == "journalist") != (self.population is not None):
            raise ValueError(
                "the journalist's risk needs a population, and other risks have none; set or leave out population"
            )
        if self.model == "marketer" and (self.mean is None or self.highest is not None or self.above is not None):
            raise ValueError("the marketer's risk is a mean; set mean alone, or the model prosecutor")
        if self.highest is None and self.mean is None and self.above is None:
            raise ValueError("give highest, mean or above")
        return self

    @property
    def models(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
        """The privacy models."""
        if self.model == "marketer" and self.mean is not None:
            return (models.marketer_risk(_short(self.mean)),)
        bounds = {"highest": self.highest, "mean": self.mean}
        bounds |= {"above": self.above.threshold, "share": self.above.share} if self.above else {}
        limits = {name: _short(bound) for name, bound in bounds.items() if bound is not None}
        if self.population is not None:
            return models.journalist_risk(population=self.population, **limits)
        return models.prosecutor_risk(**limits)


class Uniqueness(Model):
    """At most a `share` of the population is unique; the rows are a sample of it."""

    share: StrictFloat = spec_key("The maximum share of the population that is unique.", ..., ge=0, lt=1)
    sampling_fraction: Share = spec_key(
        "The fraction of the population that is in the source.",
        ...,
        takes="the rows over those of the population, above 0 and at most 1",
    )
    estimator: Estimator = spec_key("How uniqueness is estimated from the source.", "dankar")

    @property
    def model(self) -> ReleaseModel:
        """The privacy model."""
        return models.population_uniqueness(_short(self.share), _short(self.sampling_fraction), self.estimator)


def _own_models(value: object) -> object:
    """Privacy models, or references to them in modules."""
    listed = [value] if isinstance(value, (str, PrivacyModel, ReleaseModel)) else value
    for model in listed if isinstance(listed, list | tuple) else [listed]:
        if not (is_reference(model) or isinstance(model, (PrivacyModel, ReleaseModel))):
            raise ValueError("give module:name, or in Python a privacy model")
    return listed


_REFERENCES = {"type": "array", "items": {"type": "string", "pattern": r"^[\w.]+:\w+$"}}


class Anonymity(Model):
    """k-anonymity: the minimum size of a class."""

    k: StrictInt = spec_key("Minimum number of rows in a class, or of people with `unit`.", 5, ge=1)
    unit: Text | None = spec_key(
        "The same as `unit` outside of `privacy`.", takes="the name of the column that identifies people or devices"
    )


class SensitiveModels(Model):
    """The privacy models of sensitive columns, by column."""

    l_diversity: LDiversities = spec_key(
        "Minimum diversity of the values of a sensitive column in every class.",
        takes="a mapping such as {disease: 3} or {disease: {l: 3, kind: entropy}}",
        default_factory=empty,
    )
    t_closeness: TClosenesses = spec_key(
        "Maximum distance between the distribution of a sensitive column in a class and in the whole table.",
        takes="a mapping such as {income: 0.2} or {income: {t: 0.2, distance: ordered}}",
        default_factory=empty,
    )
    alpha_k: AlphaKs = spec_key(
        "Maximum share of a class with the same sensitive value, or with a particular one.",
        takes="a mapping such as {disease: 0.5} or {disease: {alpha: 0.5, value: HIV}}",
        default_factory=empty,
    )
    beta_likeness: BetaLikenesses = spec_key(
        "Maximum relative gain of a sensitive value's share in a class over its share in the table.",
        takes="a mapping such as {disease: 2} or {disease: {beta: 2, kind: basic}}",
        default_factory=empty,
    )
    delta_disclosure: DeltaDisclosures = spec_key(
        "Maximum absolute logarithm of a sensitive value's share in a class divided by its share in the table.",
        takes="a mapping such as {disease: 1.0}",
        default_factory=empty,
    )

    @property
    def requirements(self) -> Iterator[tuple[str, str, SensitiveModel]]:
        """The models of sensitive columns: the key, the column, and the settings."""
        for key in SENSITIVE_MODELS:
            for column, settings in getattr(self, key).items():
                yield key, column, settings


class Privacy(SensitiveModels, Anonymity):
    """The privacy models that the release must satisfy, all of them together."""

    k_map: KMap | None = spec_key(
        "Minimum number of rows that every class has in the population from which the source was sampled.",
        takes="a mapping such as {k: 5, population: voters.parquet}",
    )
    delta_presence: DeltaPresence | None = spec_key(
        "Minimum and maximum share of every class of the population that may be in the source.",
        takes="a mapping such as {max: 0.5, population: voters.parquet}",
    )
    risk: Risk | None = spec_key(
        "Maximum risk that a person is re-identified. `k` then applies only if you set it.",
        takes="a mapping such as {model: prosecutor, mean: 0.05}",
    )
    uniqueness: Uniqueness | None = spec_key(
        "Maximum share of the population that is unique, estimated from the source. `k` then applies "
        "only if you set it.",
        takes="a mapping such as {share: 0.01, sampling_fraction: 0.1}",
    )
    models: Annotated[tuple[Any, ...], BeforeValidator(_own_models), WithJsonSchema(_REFERENCES)] = spec_key(
        "Custom privacy models, from modules that KANON_MODULES allows. `k` then applies only if you set it.",
        (),
        takes="a list such as [my_models:three_hospitals]",
    )
    minimality: Minimality | None = spec_key(
        "Choose classes by the quasi-identifiers alone, and redraw the value named in `alpha_k` where a class has "
        "too much of it."
    )

    @property
    def of_release(self) -> tuple[PrivacyModel | ReleaseModel, ...]:
        """The models of risk and uniqueness, which depend on the sizes of all classes and not on their values."""
        return *(self.risk.models if self.risk else ()), *((self.uniqueness.model,) if self.uniqueness else ())

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns whose values are counted."""
        return tuple(dict.fromkeys(column for _, column, _ in self.requirements))

    @property
    def populated(self) -> tuple[PopulationModel, ...]:
        """The models that compare classes with a population."""
        return tuple(model for model in (self.k_map, self.delta_presence) if model is not None)


class PrivacyModelOptions(TypedDict, total=False):
    """The keywords of verbs for the models of `Privacy`, for type checkers; a test compares them with its fields."""

    unit: str | None
    l_diversity: Mapping[str, Any] | None
    t_closeness: Mapping[str, Any] | None
    alpha_k: Mapping[str, Any] | None
    beta_likeness: Mapping[str, Any] | None
    delta_disclosure: Mapping[str, Any] | None
    k_map: Mapping[str, Any] | None
    delta_presence: Mapping[str, Any] | None
    risk: Mapping[str, Any] | None
    uniqueness: Mapping[str, Any] | None
    models: Sequence[str | PrivacyModel | ReleaseModel] | None
    privacy: Sequence[PrivacyModel | ReleaseModel | tuple[PrivacyModel | ReleaseModel, ...]] | Mapping[str, Any] | None


SENSITIVE_MODELS: dict[str, type[SensitiveModel]] = {
    "l_diversity": LDiversity,
    "t_closeness": TCloseness,
    "alpha_k": AlphaK,
    "beta_likeness": BetaLikeness,
    "delta_disclosure": DeltaDisclosure,
}
