"""Privacy models as values: conditions on classes, and what they imply for other nodes. One model per file; no I/O."""

from kanon_sql.privacy.alpha_k import alpha
from kanon_sql.privacy.k_anonymity import k_anonymity
from kanon_sql.privacy.l_diversity import l_diversity
from kanon_sql.privacy.likeness import beta_likeness, delta_disclosure
from kanon_sql.privacy.model import Finding, PrivacyModel
from kanon_sql.privacy.model_set import PEOPLE, POPULATION_UNIT, UNIT, PrivacyModels, all_of
from kanon_sql.privacy.population_models import delta_presence, k_map
from kanon_sql.privacy.predicate import Groups, Predicate, Reference
from kanon_sql.privacy.release_model import ClassCount, Histogram, LeastSize, ReleaseModel
from kanon_sql.privacy.risk_models import (
    THRESHOLDS,
    AnyPrivacyModel,
    PeopleByClass,
    journalist_risk,
    marketer_risk,
    prosecutor_risk,
)
from kanon_sql.privacy.t_closeness import t_closeness
from kanon_sql.privacy.uniqueness import estimated_uniqueness, population_uniqueness

__all__ = [
    "PEOPLE",
    "POPULATION_UNIT",
    "THRESHOLDS",
    "UNIT",
    "AnyPrivacyModel",
    "ClassCount",
    "Finding",
    "Groups",
    "Histogram",
    "LeastSize",
    "PeopleByClass",
    "Predicate",
    "PrivacyModel",
    "PrivacyModels",
    "Reference",
    "ReleaseModel",
    "all_of",
    "alpha",
    "beta_likeness",
    "delta_disclosure",
    "delta_presence",
    "estimated_uniqueness",
    "journalist_risk",
    "k_anonymity",
    "k_map",
    "l_diversity",
    "marketer_risk",
    "population_uniqueness",
    "prosecutor_risk",
    "t_closeness",
]
