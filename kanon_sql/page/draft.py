"""The spec in progress on the page, as an immutable value: the role of every column, and the other keys.

Every change returns a new draft, so that two windows and a running search never see one that is half changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import STAR
from kanon_sql.generalization.recipes import grouped
from kanon_sql.hints import DROPPED, IDENTIFIER, KEPT, QUASI_IDENTIFIER, SENSITIVE
from kanon_sql.page.groups import A_STAR
from kanon_sql.spec import DECLARED, Spec, as_yaml, parse
from kanon_sql.suggestion.columns import SuggestedColumn

MOST_LISTED = 5_000  # values of a suggestion that a spec lists
ROLES = (QUASI_IDENTIFIER, IDENTIFIER, SENSITIVE, KEPT, DROPPED)
_FIRST = (
    "source",
    "encoding",
    "decimal",
    "date_format",
    "null",
    "sheet",
    "skip_lines",
    "delimiter",
    "columns",
    "database",
    "hierarchies",
)
CONNECTION = ("database", "attach")  # the keys of a spec for tables
REASONS = "reasons"  # the key of a spec for the reasons of the roles, by column
_ALWAYS = ("quasi_identifiers", "keep")  # an empty `keep` drops every column that is not named


def without_code(spec: Spec) -> Spec:
    """The spec; SpecError if it names code, which anyone who sends a form could choose."""
    if named := [*spec.references, *spec.privacy.models]:
        raise SpecError(f"the page runs no code, and the spec names {named[0]}; leave it out, or use kanon anonymize")
    return spec


@dataclass(frozen=True)
class DraftColumn:
    """A column of the source: its suggestion, its role now, and its options as a quasi-identifier.

    `attribute`: the keys of a quasi-identifier in a spec: hierarchy, min_level, max_level, priority, weight.
    `reason`: the user's reason for the role.
    """

    suggested: SuggestedColumn
    role: str
    attribute: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    @property
    def name(self) -> str:
        """The column's name, which can contain any characters."""
        return self.suggested.name

    @property
    def generalized(self) -> bool:
        """Whether it is a quasi-identifier."""
        return self.role == QUASI_IDENTIFIER

    @property
    def as_suggested(self) -> bool:
        """Whether it has the suggested role, so that the reason of the suggestion applies."""
        return self.role == self.suggested.role

    @property
    def why(self) -> str:
        """The reason for its role: the user's, or that of the suggestion."""
        return self.reason or (self.suggested.reason if self.as_suggested else "")

    def with_key(self, key: str, value: Any) -> DraftColumn:
        """The column with a key of its attribute set, or removed if the value is None."""
        rest = {name: old for name, old in self.attribute.items() if name != key}
        return replace(self, attribute=rest if value is None else {**rest, key: value})


@dataclass(frozen=True)
class Draft:
    """A spec in progress. `keys`: its keys except roles. `levels`: the levels shown on the page, by column."""

    columns: tuple[DraftColumn, ...]
    keys: Mapping[str, Any]
    levels: Mapping[str, int] = field(default_factory=dict)

    @property
    def quasi_identifiers(self) -> list[DraftColumn]:
        """The columns that are generalized, in the table's order."""
        return [column for column in self.columns if column.generalized]

    @property
    def of_table(self) -> bool:
        """Whether the source is a table of the page's database, and not a file."""
        return any(key in self.keys for key in CONNECTION)

    @property
    def k(self) -> int:
        """The minimum size of a class."""
        return int(self.keys.get("privacy", {}).get("k", 5))

    def changed(self, place: int, column: DraftColumn) -> Draft:
        """The draft with another column at a position."""
        return replace(self, columns=(*self.columns[:place], column, *self.columns[place + 1 :]))

    def with_keys(self, **keys: Any) -> Draft:
        """The draft with keys of the spec set, or removed if their value is None."""
        merged = {**self.keys, **keys}
        return replace(self, keys={name: value for name, value in merged.items() if value is not None})

    def mapping(self) -> dict[str, Any]:
        """The draft as the contents of a spec file."""
        roles: dict[str, Any] = {
            "identifiers": self._names(IDENTIFIER),
            "quasi_identifiers": {column.name: dict(column.attribute) for column in self.quasi_identifiers},
            "sensitive": self._names(SENSITIVE),
            "keep": self._names(KEPT),
        }
        reasons = {column.name: column.reason for column in self.columns if column.reason}
        if reasons:
            roles[REASONS] = reasons
        places = {name: value for name, value in self.keys.items() if name in _FIRST}
        rest = {name: value for name, value in self.keys.items() if name not in _FIRST}
        return {**places, **{name: names for name, names in roles.items() if names or name in _ALWAYS}, **rest}

    def spec(self, **keys: Any) -> Spec:
        """The draft as a spec, with some keys changed; SpecError if it is not valid."""
        return without_code(parse({**self.mapping(), **keys}))

    def yaml(self) -> str:
        """The text of the spec file."""
        return as_yaml(self.mapping())

    def asks_like(self, other: Draft) -> bool:
        """Whether both describe the same release, wherever it is written."""
        texts = dict.fromkeys(("target", *DECLARED))  # the decision does not change the release
        return self.mapping() | texts == other.mapping() | texts

    def adopting(self, old: Draft) -> Draft:
        """The draft of a source that is read in another way, with the roles and settings of an earlier draft.

        A column of another type gets the suggested hierarchy.
        """
        columns = []
        by_name = {column.name: column for column in old.columns}
        for column in self.columns:
            before = by_name.get(column.name)
            if before is not None:
                same = before.suggested.type == column.suggested.type
                attribute = before.attribute if same else suggested_attribute(column.suggested)
                column = replace(column, role=before.role, reason=before.reason, attribute=attribute)
            columns.append(column)
        kept = {name: value for name, value in old.keys.items() if name not in _FIRST}
        names = {column.name for column in columns}
        kept = {name: value for name, value in kept.items() if name != "unit" or value in names}
        return Draft(tuple(columns), {**self.keys, **kept})

    def differing(self, other: Draft) -> frozenset[str]:
        """The names of the settings that differ, with the columns of those that belong to one."""
        mine, theirs = self.mapping(), other.mapping()
        names = {name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)}
        levels = {**self.levels, **other.levels}
        shown = {f"level {name}" for name in levels if self.levels.get(name) != other.levels.get(name)}
        pairs = zip(self.columns, other.columns, strict=False)
        return frozenset({*names, *shown, *(f"column {mine.name}" for mine, theirs in pairs if mine != theirs)})

    def counted_by(self) -> Mapping[str, Any]:
        """The part of the draft that determines the frequency set."""
        hierarchies = {column.name: column.attribute.get("hierarchy") for column in self.quasi_identifiers}
        keys = {name: self.keys.get(name) for name in (*_FIRST, "attach", "unit", "unmapped")}
        return {**keys, "quasi_identifiers": {name: {"hierarchy": recipe} for name, recipe in hierarchies.items()}}

    def _names(self, role: str) -> list[str]:
        return [column.name for column in self.columns if column.role == role]


@dataclass(frozen=True)
class SavedDraft:
    """A draft in a file: the contents of its spec, the reasons of roles, and the levels that were shown."""

    spec: Mapping[str, Any]
    reasons: Mapping[str, str]
    levels: Mapping[str, int]
    of_table: bool


def as_suggested(columns: Iterable[SuggestedColumn], keys: Mapping[str, Any]) -> Draft:
    """The draft with the roles and hierarchies that the data suggest."""
    return Draft(tuple(DraftColumn(column, column.role, suggested_attribute(column)) for column in columns), keys)


def suggested_attribute(column: SuggestedColumn) -> dict[str, Any]:
    """The suggested options of a quasi-identifier."""
    return {"hierarchy": suggested_recipe(column)}


def suggested_recipe(column: SuggestedColumn) -> Any:
    """The suggested recipe; suggested labels per value become groups."""
    if column.role == QUASI_IDENTIFIER and column.levels and len(column.levels[0]) <= MOST_LISTED:
        values = list(column.levels[0])
        labels = [[A_STAR if level[value] == STAR else level[value] for value in values] for level in column.levels]
        return {"groups": grouped(values, labels)}
    return (column.recipe if column.role == QUASI_IDENTIFIER else None) or "suppress"
