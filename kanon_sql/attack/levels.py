"""The level that each column of a full-domain release shows, and what the next lower one would show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.attack.material import Copy, Material
from kanon_sql.engine import Column
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.values import Label, as_text, key
from kanon_sql.queries import Relation

_TYPES = {"value": "VARCHAR", "own": "BIGINT", "below": "BIGINT"}


@dataclass(frozen=True)
class Shown:
    """A column as the release shows it: `level` of its hierarchy. `mapping`: value (a key), own, below, of the people.

    `own` numbers the labels of the level, `below` those of the next lower one; `labels` is the mapping of the release.
    """

    name: str
    level: int
    mapping: Relation
    labels: Relation


def shown_levels(material: Material, source: Copy) -> list[Shown] | None:
    """The level of each quasi-identifier; None where a column shows labels of several, as local recodings do."""
    shown = []
    for number, name in enumerate(material.quasi_identifiers):
        made = _shown(material, source, name, number)
        if made is None:
            return None
        shown.append(made)
    return shown


def placed(material: Material, copied: Copy, shown: Sequence[Shown], stem: str, released: bool = False) -> Relation:
    """The rows of a table by the class that they are in, or would be: row_id, home (its class)."""
    tables = material.tables
    tables.make(stem, "attack_matching/unplaced", copied=copied.relation)
    for column in shown:
        mapping, value = column.labels if released else column.mapping, copied.plain([column.name])
        holes: dict[str, Any] = {"copied": copied.relation, "mapping": mapping, "value": value}
        tables.make("next", "attack_matching/placed", placed=tables[stem], **holes)
        tables.rename("next", stem)
    return tables[stem]


def _shown(material: Material, source: Copy, name: str, number: int) -> Shown | None:
    tables, release = material.tables, material.release
    labels = {
        label
        for (label,) in tables.rows("attack_matching/labels", classes=release.relation, label=release.plain([name]))
    }
    values = tables.rows("attack_matching/values", targets=source.relation, value=source.plain([name]))
    hierarchy = material.hierarchy(Column(name, "", source.kinds[name]), [value for value, _ in values])
    levels = list(_levels(values, hierarchy))
    fitting = [level for level, codes in enumerate(levels) if labels <= set(codes)]
    if not fitting:
        return None
    level, codes = fitting[0], {label: code for code, label in enumerate(sorted(labels, key=str))}
    below = levels[max(level - 1, 0)]
    texts = {label: code for code, label in enumerate(dict.fromkeys(below))}
    pairs = zip(values, levels[level], below, strict=True)
    rows = [(_key(text), codes[own], texts[under]) for (_, text), own, under in pairs if own in codes]
    own_rows = [(_key(label), code, 0) for label, code in codes.items()]
    return Shown(
        name,
        level,
        *(_load(material, f"{stem}_{number}", found_rows) for stem, found_rows in (("m", rows), ("l", own_rows))),
    )


def _levels(values: Sequence[tuple[Any, ...]], hierarchy: Hierarchy | None) -> Iterator[list[Label]]:
    """What each value becomes on every level, as text; without a hierarchy itself, then `*`."""
    yield [text for _, text in values]
    if hierarchy is None:
        yield [STAR for _ in values]
        return
    places = {key(value): place for place, value in enumerate((*hierarchy.values, *hierarchy.starred))}
    for level in range(1, hierarchy.height + 1):
        labels = hierarchy.labels(level)
        found = [labels[places[key(value)]] if key(value) in places else STAR for value, _ in values]
        yield [None if label is None else as_text(label) for label in found]


def _load(material: Material, stem: str, rows: Sequence[tuple[Any, ...]]) -> Relation:
    return material.tables.load(stem, _TYPES, list(zip(*rows, strict=True)) or [[], [], []])


def _key(text: str | None) -> str:
    """What NULL and a text are joined by."""
    return "" if text is None else f"={text}"
