"""What a saved file contains: a draft, and results with their drafts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SavedDraft:
    """A draft in a file: the contents of its spec, the reasons of roles, and the levels that were shown."""

    spec: Mapping[str, Any]
    reasons: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    of_table: bool = False


@dataclass(frozen=True)
class SavedWork:
    """A draft with results, which have drafts as well."""

    draft: SavedDraft
    results: tuple[tuple[Mapping[str, Any], SavedDraft], ...] = ()
