"""Drift: differences between a source and its hierarchies and an earlier release, and the policy for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from kanon_sql.engine import Table
from kanon_sql.errors import SpecError
from kanon_sql.frequency.fitting import hierarchy_sources
from kanon_sql.plan.source import Source
from kanon_sql.recode import RECODERS
from kanon_sql.spec import EVERY, Spec

DriftKind: TypeAlias = Literal["new column", "lost column", "changed type", "changed hierarchy", "grown hierarchy"]


@dataclass(frozen=True)
class Drift:
    """One difference: its kind, the column, and the spec's policy for it.

    `policy`: error, drop (the column), accept, search (recode again), or keep. `text`: a sentence without a full stop
    and without values of the data.
    """

    kind: DriftKind
    column: str
    policy: str
    text: str

    @property
    def stops(self) -> bool:
        """Whether it prevents a release."""
        return self.policy == "error"

    @property
    def way_out(self) -> str:
        """What the user can do about it if it stops a run."""
        return _WAYS_OUT[self.kind]


_WAYS_OUT: dict[str, str] = {
    "new column": 'give it a role in the spec, or leave such columns out with `new_columns="drop"`',
    "changed type": 'see that it still means the same, then use `changed_types="accept"`',
    "changed hierarchy": 'put the old rows back, or search again with `changed_hierarchies="search"`',
}


def drift(manifest: Mapping[str, Any], source: Source, spec: Spec) -> list[Drift]:
    """The differences of an open source, with all its columns, and its hierarchies from a manifest.

    Entries that the manifest of an older version lacks are not compared. Reads the hierarchies, but no rows.
    HierarchyError if a hierarchy cannot be read.
    """
    return [*_columns(manifest, source.table, source.types(), spec), *_hierarchies(manifest, source, spec)]


def without_new(source: Source, drifted: Sequence[Drift]) -> tuple[Source, list[str]]:
    """The source without the new columns that the policy drops, and their names; SpecError if the policy is error."""
    for difference in drifted:
        if difference.stops:
            raise SpecError(f"{difference.text}; {difference.way_out}")
    new = [difference.column for difference in drifted if difference.policy == "drop"]
    remaining = tuple(column for column in source.table.columns if column.name not in new)
    return replace(source, table=replace(source.table, columns=remaining)), new


def _columns(manifest: Mapping[str, Any], table: Table, types: Mapping[str, str], spec: Spec) -> Iterator[Drift]:
    earlier = manifest.get("columns")
    if earlier is None:
        return
    named = {*spec.named, *spec.kept_by_name}
    read = {*spec.named - {*spec.identifiers}, *spec.hidden, *spec.privacy.counted, *spec.kept_by_name}
    for column in table.columns:
        name, now = column.name, types[column.name]
        if name not in earlier and name not in named:
            text = f"the column {name!r} is new: the earlier release did not have it"
            yield Drift("new column", name, spec.new_columns, text)
        elif name in earlier and earlier[name] != now:
            text = f"the column {name!r} is of type {now} now, and was {earlier[name]}"
            # The type does not matter if the column is dropped and no model counts by it.
            unread = name not in read and (name in spec.identifiers or spec.keep != EVERY)
            yield Drift("changed type", name, "accept" if unread else spec.changed_types, text)
    for name in earlier:
        if name not in types:
            yield Drift("lost column", name, "accept", f"the column {name!r} is missing")


def _hierarchies(manifest: Mapping[str, Any], source: Source, spec: Spec) -> Iterator[Drift]:
    digests = manifest.get("hierarchies")
    rows = manifest.get("hierarchy_rows", {})
    if not digests:
        return
    current = hierarchy_sources(spec, source.table, source.engine, allow_ordered=spec.strategy in RECODERS)
    for name, hierarchy in current.items():
        if name not in digests or hierarchy.sha256 == digests[name]:
            continue
        if hierarchy.grew_from(digests[name], rows.get(name)):
            text = f"the hierarchy of {name!r} has new rows behind the old ones"
            yield Drift("grown hierarchy", name, "keep", text)
        else:
            text = f"the hierarchy of {name!r} differs from that of the earlier release"
            yield Drift("changed hierarchy", name, spec.changed_hierarchies, text)
