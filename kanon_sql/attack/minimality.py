"""Minimality: who knows that the release is no more general than it must be knows that a less general one was unsafe.

Source: R. Wong, A. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007.

The attacker has the quasi-identifiers of everybody, the hierarchies and the privacy models, and asks of each node one
level lower: had it been safe, it would have been released; so some part of some class has too few values, or too many
rows of one. Of all ways to give the people of each class its sensitive values only those are left where that is so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from kanon_sql import queries
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.engine import Column
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.values import Label, as_text, key
from kanon_sql.privacy import Predicate, PrivacyModels, Reference
from kanon_sql.queries import Relation

_WORLDS, _FEWEST, _DRAWN = 400, 5, 1_000_000  # of so many people in all
_TOLD = 0.01  # where it is less probable than this that all parts are safe, knowing that they are not tells nothing
_MARGIN = 0.05  # of a probability: what the draws may be off by
_TYPES = {"value": "VARCHAR", "own": "BIGINT", "below": "BIGINT"}


@dataclass(frozen=True)
class _Told:
    """What the failure of one lower node tells of a column: of how many people, for certain of how many, the most."""

    people: int = 0
    certain: int = 0
    worst: float = 0.0


def _minimality(material: Material) -> Iterator[Outcome]:
    models, source = material.privacy, material.source
    assert source
    asked = {} if models is None else {c: name for name, c in models.sensitive.items() if c in source.columns}
    for column in material.sensitive:
        if column not in asked:
            yield _outcome(material, column, [], 0)
    if not asked or models is None:
        return
    if models.hidden or models.of_release:
        material.note("minimality is tried where every class is judged by its rows, not by people or by all classes")
        return
    yield from _of_models(material, source, models, asked)


def _of_models(material: Material, source: Copy, models: PrivacyModels, asked: Mapping[str, str]) -> Iterator[Outcome]:
    shown = shown_levels(material, source)
    if shown is None:
        material.note("minimality is tried on releases that show one level of each column, with their hierarchies")
        return
    people = placed(material, source, shown, "people")
    rows = placed(material, material.release, shown, "rows", released=True)
    ((others,),) = material.tables.rows("attack_minimality/other_places", placed=people, others=rows)
    if others:
        material.note("minimality is tried where no row was suppressed, so that every class has all of its people")
        return
    worlds = _draw(material, people, rows, models)
    safe = models.with_references(_references(material, models)).safe
    lower = [column for column in shown if column.level]
    told = [_told_by(material, source, column, models, safe, worlds) for column in lower]
    for column, name in asked.items():
        if column in material.sensitive:
            yield _outcome(material, column, [finding[name] for finding in told if finding], len(lower))


def _draw(material: Material, people: Relation, rows: Relation, models: PrivacyModels) -> int:
    """Draw worlds: in each, the people of a class have its values in another order. How many."""
    tables, release = material.tables, material.release
    columns = {name: release.columns[column] for name, column in models.sensitive.items()}
    tables.create("slots", "attack_minimality/sensitive_slots", placed=rows, copied=release.relation, columns=columns)
    count = min(_WORLDS, max(_FEWEST, _DRAWN // release.rows))
    worlds = tables.load("worlds", {"world": "BIGINT"}, [list(range(1, count + 1))])
    tables.create("seats", "attack_minimality/seats", placed=people, worlds=worlds, seed=str(material.seed))
    return count


def _references(material: Material, models: PrivacyModels) -> dict[str, Reference]:
    """What the models compare with: the values in the whole release, which has all rows."""
    references = {}
    for name in models.compared:
        value = material.release.columns[models.sensitive[name]]
        whole, groups = material.release.relation, models.groups.get(name, ())
        dialect = material.tables.engine.dialect
        query = queries.reference(whole, value, value, Predicate("COUNT(*)"), dialect, groups)
        references[name] = Reference(material.tables.create_as(f"reference{name}", query), True, groups)
    return references


def _told_by(
    material: Material, source: Copy, lower: Shown, models: PrivacyModels, safe: Predicate, worlds: int
) -> dict[str, _Told] | None:
    """What it tells that the release does not show one column a level lower; None where that was no better."""
    tables, value = material.tables, source.plain([lower.name])
    holes: dict[str, Any] = {"copied": source.relation, "mapping": lower.mapping, "value": value}
    parts = tables.create("parts", "attack_minimality/parts", placed=tables["people"], **holes)
    ((smallest,),) = tables.rows("attack_minimality/smallest_part", parts=parts)
    if int(smallest) < models.k:  # everybody sees that without a sensitive value
        return dict.fromkeys(models.sensitive, _Told())
    of = {name: source.columns[column] for name, column in models.sensitive.items()}
    truth: dict[str, Any] = {"parts": parts, "copied": source.relation, "names": list(of.values()), "columns": of}
    tables.create("truth", "attack_minimality/true_values", **truth)
    if not tables.count(tables.create("failing", "attack_minimality/unsafe_parts", counted=tables["truth"], safe=safe)):
        return None
    relations: dict[str, Any] = {"parts": parts, "seats": tables["seats"], "slots": tables["slots"]}
    tables.create("counted", "attack_minimality/world_values", columns=list(of), **relations)
    tables.create("unsafe", "attack_minimality/unsafe_parts", counted=tables["counted"], safe=safe)
    return _posteriors(material, models, worlds)


def _posteriors(material: Material, models: PrivacyModels, worlds: int) -> dict[str, _Told]:
    """Whose value becomes how much more probable, by Bayes' rule: classes are independent of each other."""
    tables = material.tables
    failed = {
        home: int(n) / worlds for home, n in tables.rows("attack_minimality/unsafe_worlds", unsafe=tables["unsafe"])
    }
    certain = [home for home, share in failed.items() if share == 1]
    none = 0.0 if certain else exp(sum(log(1 - share) for share in failed.values()))
    if not failed or none < _TOLD:
        return dict.fromkeys(models.sensitive, _Told())
    chances = [[*failed], [none / (1 - share) for share in failed.values()]]
    tables.load("chances", {"home": "VARCHAR", "others": "DOUBLE"}, chances)
    return {name: _exposed(material, models, name, none, worlds) for name in models.sensitive}


def _exposed(material: Material, models: PrivacyModels, name: str, none: float, worlds: int) -> _Told:
    tables = material.tables
    relations = {stem: tables[stem] for stem in ("truth", "counted", "unsafe", "chances")}
    numbers: dict[str, Any] = {
        "worlds": worlds,
        "none": none,
        "margin": _MARGIN,
        "bound": _bound(models, models.sensitive[name]),
    }
    ((people, certain, worst),) = tables.rows("attack_minimality/told_people", value=[name], **relations, **numbers)
    return _Told(int(people), int(certain), float(worst))


def _bound(models: PrivacyModels, column: str) -> float:
    """What the models promise of the probability of a value: 1 / l, or α; 0 where they name no such figure."""
    bounds = [0.0]
    for model in models.models:
        if model.sensitive == column:
            least, most = model.parameters.get("l"), model.parameters.get("alpha")
            bounds += [1 / float(least)] if isinstance(least, (int, float)) else []
            bounds += [float(most)] if isinstance(most, (int, float)) else []
    return max(bounds)


def _outcome(material: Material, column: str, told: Sequence[_Told], lower: int) -> Outcome:
    people, rows = max((finding.people for finding in told), default=0), material.release.rows
    what = (
        f"a less general release must have been unsafe, which makes the {column} of {people:,} of {rows:,} rows "
        f"more probable than its share of their class"
        if people
        else f"that nothing less general was released tells nobody's {column}"
    )
    return Outcome(
        "minimality",
        f"To somebody who knows everybody's quasi-identifiers and how the release was made, {what}.",
        attempts=rows,
        successes=people,
        affected=people,
        column=column,
        figures={
            "lower_nodes": lower,
            "unsafe_lower_nodes": len(told),
            "certain": max((finding.certain for finding in told), default=0),
            "worst_gain": max((finding.worst for finding in told), default=0.0),
        },
        avoid='release with `minimality="mask"`, or raise k until its own optimum meets the models',
    )


# The level that each column of a full-domain release shows, and what the next lower one would show


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
    tables.create(stem, "attack_matching/unplaced", copied=copied.relation)
    for column in shown:
        mapping, value = column.labels if released else column.mapping, copied.plain([column.name])
        holes: dict[str, Any] = {"copied": copied.relation, "mapping": mapping, "value": value}
        tables.create("next", "attack_matching/placed", placed=tables[stem], **holes)
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


MINIMALITY = Attack(
    "minimality",
    "Ask why nothing less general was released, and what that tells of the sensitive values.",
    _minimality,
    ("sensitive", "source"),
)
