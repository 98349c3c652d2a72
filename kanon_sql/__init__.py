"""In-database anonymization: k-anonymous releases of a table or file, with proof."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kanon_sql.errors import KanonError
    from kanon_sql.spec import Spec
    from kanon_sql.verbs.anatomize import anatomize
    from kanon_sql.verbs.anonymize import Release, anonymize
    from kanon_sql.verbs.compare import Comparison, compare
    from kanon_sql.verbs.refresh import refresh

__all__ = ["Comparison", "KanonError", "Release", "Spec", "anatomize", "anonymize", "compare", "refresh"]

_HOMES = {
    "Comparison": "verbs.compare",
    "KanonError": "errors",
    "Release": "verbs.anonymize",
    "Spec": "spec",
    "anatomize": "verbs.anatomize",
    "anonymize": "verbs.anonymize",
    "compare": "verbs.compare",
    "refresh": "verbs.refresh",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: DuckDB and pydantic take half a second."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kanon_sql' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"kanon_sql.{_HOMES[name]}"), name)
