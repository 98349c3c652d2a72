"""In-database anonymization: k-anonymous releases of a table or file, with proof.

>>> import kanon_sql, pandas
>>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"], "ill": list("xyxy")})
>>> release = kanon_sql.anonymize(people, {"quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}}, k=2)
>>> release.to_df()["zip"].tolist()
['1*', '1*', '2*', '2*']
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kanon_sql import hierarchy
    from kanon_sql.documents import json_schema
    from kanon_sql.documents.manifest import manifest_schema
    from kanon_sql.errors import KanonError, ReleaseWarning
    from kanon_sql.plan.observer import Observer
    from kanon_sql.privacy import Finding, PrivacyModel, k_anonymity
    from kanon_sql.resources import package_version
    from kanon_sql.spec import CloakSpec, LinkedSpec, Spec
    from kanon_sql.verbs.anatomize import anatomize
    from kanon_sql.verbs.anonymize import anonymize
    from kanon_sql.verbs.attack import Attacks, attack
    from kanon_sql.verbs.attack_database import DatabaseAttack, DatabaseRisk, attack_database, risk_database
    from kanon_sql.verbs.cloak import cloak
    from kanon_sql.verbs.compare import compare
    from kanon_sql.verbs.comparison import Comparison
    from kanon_sql.verbs.compile_dbt import DbtModel, compile_dbt
    from kanon_sql.verbs.database import (
        DatabaseRelease,
        DatabaseVerification,
        anonymize_database,
        verify_database,
    )
    from kanon_sql.verbs.explain import Explanation, explain
    from kanon_sql.verbs.figures import ReleaseFigures
    from kanon_sql.verbs.frequency_sets import frequency_set_sql
    from kanon_sql.verbs.lattice import LatticePicture, lattice
    from kanon_sql.verbs.profile import Profile, profile
    from kanon_sql.verbs.progress import progress
    from kanon_sql.verbs.refresh import refresh
    from kanon_sql.verbs.released import Release
    from kanon_sql.verbs.releases import Releases, releases
    from kanon_sql.verbs.report import Report, report
    from kanon_sql.verbs.report_database import DatabaseReport, report_database
    from kanon_sql.verbs.risk import Risks, risk
    from kanon_sql.verbs.run import Runs, run
    from kanon_sql.verbs.run_database import DatabaseRun, run_database
    from kanon_sql.verbs.search import Search, search
    from kanon_sql.verbs.statement import Compiled, anonymize_sql, compile
    from kanon_sql.verbs.suggest import Suggestions, suggest
    from kanon_sql.verbs.suggest_database import DatabaseSuggestions, suggest_database
    from kanon_sql.verbs.utility import Utility, utility
    from kanon_sql.verbs.verify import Verification, verify

    __version__ = package_version()

_NAMES: dict[str, tuple[str, ...]] = {
    "documents": ("json_schema",),
    "documents.manifest": ("manifest_schema",),
    "errors": ("KanonError", "ReleaseWarning"),
    "plan.observer": ("Observer",),
    "privacy": ("Finding", "PrivacyModel", "k_anonymity"),
    "spec": ("CloakSpec", "LinkedSpec", "Spec"),
    "verbs.anatomize": ("anatomize",),
    "verbs.anonymize": ("anonymize",),
    "verbs.attack": ("Attacks", "attack"),
    "verbs.attack_database": ("DatabaseAttack", "DatabaseRisk", "attack_database", "risk_database"),
    "verbs.cloak": ("cloak",),
    "verbs.compare": ("compare",),
    "verbs.comparison": ("Comparison",),
    "verbs.compile_dbt": ("DbtModel", "compile_dbt"),
    "verbs.database": ("DatabaseRelease", "DatabaseVerification", "anonymize_database", "verify_database"),
    "verbs.explain": ("Explanation", "explain"),
    "verbs.figures": ("ReleaseFigures",),
    "verbs.frequency_sets": ("frequency_set_sql",),
    "verbs.lattice": ("LatticePicture", "lattice"),
    "verbs.profile": ("Profile", "profile"),
    "verbs.progress": ("progress",),
    "verbs.refresh": ("refresh",),
    "verbs.released": ("Release",),
    "verbs.releases": ("Releases", "releases"),
    "verbs.report": ("Report", "report"),
    "verbs.report_database": ("DatabaseReport", "report_database"),
    "verbs.risk": ("Risks", "risk"),
    "verbs.run": ("Runs", "run"),
    "verbs.run_database": ("DatabaseRun", "run_database"),
    "verbs.search": ("Search", "search"),
    "verbs.statement": ("Compiled", "anonymize_sql", "compile"),
    "verbs.suggest": ("Suggestions", "suggest"),
    "verbs.suggest_database": ("DatabaseSuggestions", "suggest_database"),
    "verbs.utility": ("Utility", "utility"),
    "verbs.verify": ("Verification", "verify"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Attacks",
    "CloakSpec",
    "Comparison",
    "Compiled",
    "DatabaseAttack",
    "DatabaseRelease",
    "DatabaseReport",
    "DatabaseRisk",
    "DatabaseRun",
    "DatabaseSuggestions",
    "DatabaseVerification",
    "DbtModel",
    "Explanation",
    "Finding",
    "KanonError",
    "LatticePicture",
    "LinkedSpec",
    "Observer",
    "PrivacyModel",
    "Profile",
    "Release",
    "ReleaseFigures",
    "ReleaseWarning",
    "Releases",
    "Report",
    "Risks",
    "Runs",
    "Search",
    "Spec",
    "Suggestions",
    "Utility",
    "Verification",
    "anatomize",
    "anonymize",
    "anonymize_database",
    "anonymize_sql",
    "attack",
    "attack_database",
    "cloak",
    "compare",
    "compile",
    "compile_dbt",
    "explain",
    "frequency_set_sql",
    "hierarchy",
    "json_schema",
    "k_anonymity",
    "lattice",
    "manifest_schema",
    "profile",
    "progress",
    "refresh",
    "releases",
    "report",
    "report_database",
    "risk",
    "risk_database",
    "run",
    "run_database",
    "search",
    "suggest",
    "suggest_database",
    "utility",
    "verify",
    "verify_database",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Import names on first use: importing DuckDB and pydantic takes half a second."""
    from importlib import import_module

    if name == "hierarchy":
        return import_module("kanon_sql.hierarchy")
    if name == "__version__":
        return import_module("kanon_sql.resources").package_version()
    if name not in _HOMES:
        raise AttributeError(f"module 'kanon_sql' has no attribute {name!r}")
    return getattr(import_module(f"kanon_sql.{_HOMES[name]}"), name)


class _Package(ModuleType):
    """The package, where the name of a verb stays the function's even if a module of that name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
