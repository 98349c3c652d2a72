"""In-database anonymization: k-anonymous releases of a table or file, with proof."""

from kanon_sql.errors import KanonError
from kanon_sql.pipeline import Release, anonymize
from kanon_sql.spec import Spec

__all__ = ["KanonError", "Release", "Spec", "anonymize"]
