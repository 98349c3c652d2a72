"""Privacy models as values: what a class must be, and what may be concluded from it. One model per file; no I/O."""

from kanon_sql.privacy.alpha_k import alpha
from kanon_sql.privacy.k_anonymity import k_anonymity
from kanon_sql.privacy.l_diversity import l_diversity
from kanon_sql.privacy.likeness import beta_likeness, delta_disclosure
from kanon_sql.privacy.model import (
    UNIT,
    Finding,
    Groups,
    Predicate,
    PrivacyModel,
    PrivacyModels,
    Reference,
    all_of,
)
from kanon_sql.privacy.t_closeness import t_closeness

__all__ = [
    "UNIT",
    "Finding",
    "Groups",
    "Predicate",
    "PrivacyModel",
    "PrivacyModels",
    "Reference",
    "all_of",
    "alpha",
    "beta_likeness",
    "delta_disclosure",
    "k_anonymity",
    "l_diversity",
    "t_closeness",
]
