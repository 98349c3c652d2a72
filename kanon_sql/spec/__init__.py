"""The declaration of a run: what is released from where, at which privacy, written to where.

`load`, `parse` and `merge` make a spec and raise SpecError; `check` says whether what it asks for goes together.
"""

from kanon_sql.spec.algorithms import Budget, Cloak, PrioPrivacy
from kanon_sql.spec.checks import CONFLICTS, Conflict, Verb, check
from kanon_sql.spec.choices import (
    CloakMethod,
    Distribution,
    Form,
    LocalStrategy,
    Metric,
    Minimality,
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
from kanon_sql.spec.places import names_a_server, speakable
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
    "CLOAK",
    "CONFLICTS",
    "EVERY",
    "POPULATION_MODELS",
    "RELEASE_MODELS",
    "SENSITIVE_MODELS",
    "Attribute",
    "Budget",
    "Cloak",
    "CloakMethod",
    "Conflict",
    "DatesRecipe",
    "Distribution",
    "FileRecipe",
    "Form",
    "LocalStrategy",
    "Metric",
    "Minimality",
    "Noise",
    "Perturbation",
    "Pram",
    "PrioPrivacy",
    "Privacy",
    "RangesRecipe",
    "Recipe",
    "RedactRecipe",
    "SearchIn",
    "SearchStrategy",
    "SensitiveModel",
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
    "merge",
    "names_a_server",
    "parse",
    "speakable",
]
