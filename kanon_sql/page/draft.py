"""The spec that somebody is making on the page: what each column is, and the other keys, as a value that never changes.

Every change gives another draft, so that two windows and a running search never see one that is half changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import STAR
from kanon_sql.generalization.recipes import grouped
from kanon_sql.hints import IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE
from kanon_sql.page.groups import A_STAR
from kanon_sql.spec import Spec, as_yaml, parse
from kanon_sql.verbs.suggest import DROPPED, KEPT, SuggestedColumn

MOST_LISTED = 5_000  # values of a suggestion that a spec lists
ROLES = (QUASI_IDENTIFIER, IDENTIFIER, SENSITIVE, KEPT, DROPPED)
_FIRST = ("source", "encoding", "decimal", "date_format", "null", "sheet", "columns", "database", "hierarchies")
_ALWAYS = ("quasi_identifiers", "keep")  # an empty `keep` drops what is not named


def without_code(spec: Spec) -> Spec:
    """The spec; SpecError if it names code, which whoever sends a form could choose."""
    if named := [*spec.references, *spec.privacy.models]:
        raise SpecError(f"the page runs no code, and the spec names {named[0]}; leave it out, or use kanon anonymize")
    return spec


@dataclass(frozen=True)
class DraftColumn:
    """A column of the source: what was suggested, its role now, and as a quasi-identifier what a spec says of it.

    `attribute`: the keys of a quasi-identifier, as a spec has them: hierarchy, min_level, max_level, priority, weight.
    """

    suggested: SuggestedColumn
    role: str
    attribute: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The column's name, which may hold anything."""
        return self.suggested.name

    @property
    def generalized(self) -> bool:
        """Whether it is a quasi-identifier."""
        return self.role == QUASI_IDENTIFIER

    def told(self, key: str, value: Any) -> DraftColumn:
        """The column with a key of its attribute, or without it where the value is None."""
        kept = {name: old for name, old in self.attribute.items() if name != key}
        return replace(self, attribute=kept if value is None else {**kept, key: value})


@dataclass(frozen=True)
class Draft:
    """A spec in the making. `keys`: those of the spec but roles. `levels`: those that the page shows, by column."""

    columns: tuple[DraftColumn, ...]
    keys: Mapping[str, Any]
    levels: Mapping[str, int] = field(default_factory=dict)

    @property
    def quasi_identifiers(self) -> list[DraftColumn]:
        """The columns that are generalized, in the table's order."""
        return [column for column in self.columns if column.generalized]

    @property
    def k(self) -> int:
        """The least size of a class."""
        return int(self.keys.get("privacy", {}).get("k", 5))

    def changed(self, place: int, column: DraftColumn) -> Draft:
        """The draft with another column in a place."""
        return replace(self, columns=(*self.columns[:place], column, *self.columns[place + 1 :]))

    def told(self, **keys: Any) -> Draft:
        """The draft with keys of the spec, without those that are None."""
        merged = {**self.keys, **keys}
        return replace(self, keys={name: value for name, value in merged.items() if value is not None})

    def mapping(self) -> dict[str, Any]:
        """The draft as a spec file has it."""
        roles = {
            "identifiers": self._names(IDENTIFIER),
            "quasi_identifiers": {column.name: dict(column.attribute) for column in self.quasi_identifiers},
            "sensitive": self._names(SENSITIVE),
            "keep": self._names(KEPT),
        }
        places = {name: value for name, value in self.keys.items() if name in _FIRST}
        rest = {name: value for name, value in self.keys.items() if name not in _FIRST}
        return {**places, **{name: names for name, names in roles.items() if names or name in _ALWAYS}, **rest}

    def spec(self, **keys: Any) -> Spec:
        """The draft as a spec, with other keys; SpecError where it is none."""
        return without_code(parse({**self.mapping(), **keys}))

    def yaml(self) -> str:
        """The text of the spec file."""
        return as_yaml(self.mapping())

    def asks_like(self, other: Draft) -> bool:
        """Whether both ask for the same release, wherever it is written."""
        return self.mapping() | {"target": None} == other.mapping() | {"target": None}

    def counted_by(self) -> Mapping[str, Any]:
        """What the frequency set is made of."""
        hierarchies = {column.name: column.attribute.get("hierarchy") for column in self.quasi_identifiers}
        kept = {name: self.keys.get(name) for name in ("source", "database", "unit", "unmapped", "hierarchies")}
        return {**kept, "quasi_identifiers": {name: {"hierarchy": made} for name, made in hierarchies.items()}}

    def _names(self, role: str) -> list[str]:
        return [column.name for column in self.columns if column.role == role]


def as_suggested(columns: Iterable[SuggestedColumn], keys: Mapping[str, Any]) -> Draft:
    """The draft of what the data suggest."""
    return Draft(tuple(DraftColumn(column, column.role, suggested_attribute(column)) for column in columns), keys)


def suggested_attribute(column: SuggestedColumn) -> dict[str, Any]:
    """What a spec says of a quasi-identifier as it is suggested."""
    return {"hierarchy": suggested_recipe(column)}


def suggested_recipe(column: SuggestedColumn) -> Any:
    """The recipe that is suggested; where the suggestion is a list of values, as groups."""
    if column.role == QUASI_IDENTIFIER and column.levels and len(column.levels[0]) <= MOST_LISTED:
        values = list(column.levels[0])
        labels = [[A_STAR if level[value] == STAR else level[value] for value in values] for level in column.levels]
        return {"groups": grouped(values, labels)}
    return (column.recipe if column.role == QUASI_IDENTIFIER else None) or "suppress"
