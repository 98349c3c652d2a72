"""The allowed words of fields, arguments and options."""

from __future__ import annotations

from typing import Literal, TypeAlias

Metric: TypeAlias = Literal[
    "precision", "height", "loss", "loss_geometric", "discernibility", "distortion", "intensity", "entropy",
    "granularity", "ncp", "average_class_size",
]  # fmt: skip
Recipient: TypeAlias = Literal["public", "contract", "secure"]
Sensitivity: TypeAlias = Literal["low", "medium", "high"]
NormName: TypeAlias = Literal["gdpr", "ema", "health_canada", "ipc", "pdpc", "hipaa", "cms", "ehds", "statistics"]
Form: TypeAlias = Literal["table", "view", "materialized", "anatomy"]
Formulas: TypeAlias = Literal["escape", "keep"]
Distribution: TypeAlias = Literal["normal", "laplace", "uniform"]
Show: TypeAlias = Literal[
    "ranges", "labels", "common", "bounds", "mean", "median", "mode", "exact-ranges", "exact-bounds"
]
CloakMethod: TypeAlias = Literal["adaptive", "temporal", "both", "clique"]
Minimality: TypeAlias = Literal["mask"]
Unmapped: TypeAlias = Literal["error", "top"]
NodeElse: TypeAlias = Literal["error", "search"]
NewColumns: TypeAlias = Literal["error", "drop"]
ChangedTypes: TypeAlias = Literal["error", "accept"]
ChangedHierarchies: TypeAlias = Literal["error", "search"]
SuppressionOrder: TypeAlias = Literal["plain", "published"]
SearchIn: TypeAlias = Literal["embedded", "engine"]
SearchStrategy: TypeAlias = Literal[
    "auto", "best_first", "certified", "exhaustive", "depth_first", "flash", "ola", "incognito", "samarati",
    "optimal_igh", "extended_igh", "datafly", "memetic", "local_search", "kgen", "random",
]  # fmt: skip
LocalStrategy: TypeAlias = Literal["refine", "mondrian", "mondrian_relaxed", "prioprivacy", "kaca"]
