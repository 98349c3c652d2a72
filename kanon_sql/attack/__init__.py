"""Attacks on releases: one per file, as a value with the attacker's method and a function that tries it.

Attackers have the release and the tables around it. An attack only uses the source to check whether a guess is right.
Everything is counted in an embedded engine, and only counts are returned.
"""

from kanon_sql.attack.attributes import ATTRIBUTES
from kanon_sql.attack.background import BACKGROUND
from kanon_sql.attack.blocks import People
from kanon_sql.attack.downcoding import DOWNCODING
from kanon_sql.attack.homogeneity import HOMOGENEITY
from kanon_sql.attack.inference import INFERENCE
from kanon_sql.attack.linkability import LINKABILITY
from kanon_sql.attack.linkage import LINKAGE
from kanon_sql.attack.material import Attack, Copy, Material, Need
from kanon_sql.attack.minimality import MINIMALITY
from kanon_sql.attack.model_inference import MODEL_INFERENCE
from kanon_sql.attack.outcome import Control, Outcome, interval
from kanon_sql.attack.places import PLACES
from kanon_sql.attack.priors import PRIORS
from kanon_sql.attack.singling_out import SINGLING_OUT
from kanon_sql.attack.skewness import SIMILARITY, SKEWNESS
from kanon_sql.attack.unsorted_matching import ORDER
from kanon_sql.attack.versions import VERSIONS, JointExposure, Versions

ATTACKS: tuple[Attack, ...] = (
    HOMOGENEITY,
    BACKGROUND,
    PRIORS,
    SKEWNESS,
    SIMILARITY,
    MINIMALITY,
    DOWNCODING,
    ATTRIBUTES,
    LINKAGE,
    SINGLING_OUT,
    LINKABILITY,
    INFERENCE,
    MODEL_INFERENCE,
    ORDER,
    VERSIONS,
    PLACES,
)

__all__ = [
    "ATTACKS",
    "Attack",
    "Control",
    "Copy",
    "JointExposure",
    "Material",
    "Need",
    "Outcome",
    "People",
    "Versions",
    "interval",
]
