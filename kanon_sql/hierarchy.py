"""Hierarchies as files: `kanon_sql.hierarchy.build`, `check` and `show`."""

from kanon_sql.verbs.hierarchies import HierarchyTable, build, check, show

__all__ = ["HierarchyTable", "build", "check", "show"]
