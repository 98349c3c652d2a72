"""Suggestions for the generalization of columns, by their names and values."""

from kanon_sql.suggestion.column import CoCounts, Common, Suggested, merging, suggested
from kanon_sql.suggestion.grouping import Counts, counted

__all__ = ["CoCounts", "Common", "Counts", "Suggested", "counted", "merging", "suggested"]
