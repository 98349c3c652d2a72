"""In-database anonymization: k-anonymous releases of a table or file, with proof."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kanon_sql.comparison import Comparison, compare
    from kanon_sql.errors import KanonError
    from kanon_sql.exact_anatomy import anatomize
    from kanon_sql.pipeline import Release, anonymize
    from kanon_sql.refreshing import refresh
    from kanon_sql.spec import Spec

__all__ = ["Comparison", "KanonError", "Release", "Spec", "anatomize", "anonymize", "compare", "refresh"]

_HOMES = {
    "Comparison": "comparison",
    "KanonError": "errors",
    "Release": "pipeline",
    "Spec": "spec",
    "anatomize": "exact_anatomy",
    "anonymize": "pipeline",
    "compare": "comparison",
    "refresh": "refreshing",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: DuckDB and pydantic take half a second."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kanon_sql' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"kanon_sql.{_HOMES[name]}"), name)
