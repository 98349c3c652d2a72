"""Privacy models as values: what a class must be, and what may be concluded from it. One model per file; no I/O."""

from kanon_sql.privacy.k_anonymity import k_anonymity
from kanon_sql.privacy.model import Finding, Predicate, PrivacyModel, PrivacyModels, all_of

__all__ = ["Finding", "Predicate", "PrivacyModel", "PrivacyModels", "all_of", "k_anonymity"]
