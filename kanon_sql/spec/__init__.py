"""The spec of a run: its source, the privacy models and the target.

`load`, `parse` and `merge` build a spec and raise SpecError; `check` raises it for conflicts between options.
"""

from kanon_sql.spec import keys
from kanon_sql.spec.checks import CONFLICTS, Conflict, Verb, check
from kanon_sql.spec.choices import (
    ChangedHierarchies,
    ChangedTypes,
    CloakMethod,
    Form,
    Formulas,
    LocalStrategy,
    Metric,
    Minimality,
    NewColumns,
    NodeElse,
    NormName,
    Recipient,
    SearchIn,
    SearchStrategy,
    Sensitivity,
    Show,
    SuppressionOrder,
    Unmapped,
)
from kanon_sql.spec.cloaking import CloakSpec
from kanon_sql.spec.fields import (
    DECLARED,
    EVERY,
    READING,
    RECIPIENTS,
    AttributeSpec,
    Noise,
    Perturbation,
    Pram,
    ReleaseSpec,
    Spec,
    Swap,
    Target,
    named_strategy,
    recipient_of,
)
from kanon_sql.spec.file_options import TYPES as SOURCE_TYPES
from kanon_sql.spec.file_options import ColumnReading, Reading, age_at, kind_of_file
from kanon_sql.spec.keywords import KEYWORDS, Keyword
from kanon_sql.spec.linked import Into, LinkedSpec, LinkedTable
from kanon_sql.spec.load import (
    CLOAKING,
    CLOAKS,
    check_values,
    completed,
    load_linked,
    loaded,
    mapping_of,
    merge,
    model_of,
    parse,
    parsed,
    session,
    with_needed,
)
from kanon_sql.spec.pipeline import (
    Scheduled,
    load_runs,
    load_to_check,
    loaded_to_read,
    mapping_to_read,
    mappings_in,
)
from kanon_sql.spec.privacy import (
    SENSITIVE_MODELS,
    LDiversity,
    Privacy,
    PrivacyModelOptions,
    SensitiveModel,
    TCloseness,
)
from kanon_sql.spec.recipes import (
    RECIPES,
    AgeRecipe,
    DatesRecipe,
    EdgesRecipe,
    FileRecipe,
    FunctionRecipe,
    GroupsRecipe,
    Known,
    KnownRecipe,
    NetworksRecipe,
    PrefixRecipe,
    RangesRecipe,
    RedactRecipe,
    SuppressRecipe,
    TableRecipe,
    TaxonomyRecipe,
)
from kanon_sql.spec.schema import schema
from kanon_sql.spec.session import Limits, Session, names_a_server, names_spark, speakable
from kanon_sql.spec.suppression_limit import limit_text, may_suppress, suppresses
from kanon_sql.spec.yaml_writer import as_yaml, in_flow, read_mapping, read_value
