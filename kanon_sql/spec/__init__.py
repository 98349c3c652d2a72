"""The declaration of a run: what is released from where, at which privacy, written to where.

`load`, `parse` and `merge` make a spec and raise SpecError; `check` says whether what it asks for goes together.
"""

from kanon_sql.spec.algorithms import Budget, Cloak, PrioPrivacy
from kanon_sql.spec.checks import CONFLICTS, Conflict, Verb, check
from kanon_sql.spec.choices import (
    ChangedHierarchies,
    ChangedTypes,
    CloakMethod,
    Distribution,
    Form,
    LocalStrategy,
    Metric,
    Minimality,
    NewColumns,
    NodeElse,
    SearchIn,
    SearchStrategy,
    Show,
    SuppressionOrder,
    Unmapped,
)
from kanon_sql.spec.fields import (
    CLOAK,
    EVERY,
    Attribute,
    Noise,
    Perturbation,
    Pram,
    Spec,
    Swap,
    Target,
)
from kanon_sql.spec.load import load, merge, parse
from kanon_sql.spec.pipeline import AUDIT, Held, Scheduled, load_runs, load_to_read
from kanon_sql.spec.places import names_a_server, speakable
from kanon_sql.spec.load import load, merge, parse, session
from kanon_sql.spec.pipeline import AUDIT, Held, Scheduled, load_runs
from kanon_sql.spec.places import Limits, Session, names_a_server, speakable
from kanon_sql.spec.privacy import (
    POPULATION_MODELS,
    RELEASE_MODELS,
    SENSITIVE_MODELS,
    Privacy,
    SensitiveModel,
    TCloseness,
)
from kanon_sql.spec.recipes import (
    DatesRecipe,
    FileRecipe,
    RangesRecipe,
    Recipe,
    RedactRecipe,
    SuppressRecipe,
    TableRecipe,
    TaxonomyRecipe,
)
from kanon_sql.spec.written import as_yaml

__all__ = [
    "AUDIT",
    "CLOAK",
    "CONFLICTS",
    "EVERY",
    "POPULATION_MODELS",
    "RELEASE_MODELS",
    "SENSITIVE_MODELS",
    "Attribute",
    "Budget",
    "ChangedHierarchies",
    "ChangedTypes",
    "Cloak",
    "CloakMethod",
    "Conflict",
    "DatesRecipe",
    "Distribution",
    "FileRecipe",
    "Form",
    "Held",
    "Limits",
    "LocalStrategy",
    "Metric",
    "Minimality",
    "NewColumns",
    "NodeElse",
    "Noise",
    "Perturbation",
    "Pram",
    "PrioPrivacy",
    "Privacy",
    "RangesRecipe",
    "Recipe",
    "RedactRecipe",
    "Scheduled",
    "SearchIn",
    "SearchStrategy",
    "SensitiveModel",
    "Session",
    "Show",
    "Spec",
    "SuppressRecipe",
    "SuppressionOrder",
    "Swap",
    "TCloseness",
    "TableRecipe",
    "Target",
    "TaxonomyRecipe",
    "Unmapped",
    "Verb",
    "as_yaml",
    "check",
    "load",
    "load_runs",
    "load_to_read",
    "merge",
    "names_a_server",
    "parse",
    "session",
    "speakable",
]
