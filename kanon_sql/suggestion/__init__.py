"""Suggestions: how a column may be generalized, by its name and its values, when nobody has said it."""

from kanon_sql.suggestion.alike import Counts, counted
from kanon_sql.suggestion.column import Beside, Common, Suggested, merging, suggested

__all__ = ["Beside", "Common", "Counts", "Suggested", "counted", "merging", "suggested"]
