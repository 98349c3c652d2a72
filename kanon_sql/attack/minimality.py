"""Minimality: if the release is no more general than necessary, less general ones must have been unsafe.

Source: R. Wong, A. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007.

The attacker knows everyone's quasi-identifiers, the hierarchies and the privacy models, and considers every node one
level lower: had it been safe, it would have been released. So some part of some class has too few values, or too many
rows with one. Of all ways to assign a class's sensitive values to its people, only the ones consistent with it remain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from kanon_sql import queries
from kanon_sql.attack.matching import text_key
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.values import Label, as_text, key
from kanon_sql.privacy import Predicate, PrivacyModels, Reference
from kanon_sql.queries import Relation

_WORLDS, _FEWEST, _DRAWN = 400, 5, 1_000_000  # number of worlds: default, minimum, and rows in all worlds together
_INFORMATIVE = 0.01  # minimum probability that all parts are safe; below it, their failure reveals nothing
_MARGIN = 0.05  # sampling error of a probability
_TYPES = {"value": "VARCHAR", "own": "BIGINT", "below": "BIGINT"}


@dataclass(frozen=True)
class _Gain:
    """What the failure of one lower node reveals about a column: for how many people, how many certainly, the most."""

    people: int = 0
    certain: int = 0
    worst: float = 0.0


def _minimality(material: Material) -> Iterator[Outcome]:
    models, source = material.privacy, material.source
    assert source
    attacked = {} if models is None else {c: name for name, c in models.sensitive.items() if c in source.columns}
    for column in material.sensitive:
        if column not in attacked:
            yield _outcome(material, column, [], 0)
    if not attacked or models is None:
        return
    if models.hidden or models.of_release:
        material.note("minimality is tried if every class is judged by its rows, not by people or all classes together")
        return
    yield from _of_models(material, source, models, attacked)


def _of_models(
    material: Material, source: Copy, models: PrivacyModels, attacked: Mapping[str, str]
) -> Iterator[Outcome]:
    shown = shown_levels(material, source)
    if shown is None:
        material.note("minimality is tried on releases with one level per column, with their hierarchies")
        return
    people = placed(material, source, shown, "people")
    rows = placed(material, material.release, shown, "rows", released=True)
    ((others,),) = material.tables.rows("attack_minimality/other_places", placed=people, others=rows)
    if others:
        material.note("minimality is tried if no row was suppressed, so that every class has all of its people")
        return
    worlds = _draw(material, people, rows, models)
    safe = models.with_references(_references(material, models)).safe
    lower = [column for column in shown if column.level]
    gains = [_gains_by(material, source, column, models, safe, worlds) for column in lower]
    for column, name in attacked.items():
        if column in material.sensitive:
            yield _outcome(material, column, [gain[name] for gain in gains if gain], len(lower))


def _draw(material: Material, people: Relation, rows: Relation, models: PrivacyModels) -> int:
    """Draw worlds, in which the people of a class have its values in another order; returns their number."""
    tables, release = material.tables, material.release
    columns = {name: release.columns[column] for name, column in models.sensitive.items()}
    tables.create("slots", "attack_minimality/sensitive_slots", placed=rows, copied=release.relation, columns=columns)
    count = min(_WORLDS, max(_FEWEST, _DRAWN // release.rows))
    worlds = tables.load("worlds", {"world": "BIGINT"}, [list(range(1, count + 1))])
    tables.create("seats", "attack_minimality/seats", placed=people, worlds=worlds, seed=str(material.seed))
    return count


def _references(material: Material, models: PrivacyModels) -> dict[str, Reference]:
    """The values that the models compare classes with: the values of the release, which has all rows."""
    references = {}
    for name in models.compared:
        value = material.release.columns[models.sensitive[name]]
        whole, groups = material.release.relation, models.groups.get(name, ())
        dialect = material.tables.engine.dialect
        query = queries.reference(whole, value, value, Predicate("COUNT(*)"), dialect, groups)
        references[name] = Reference(material.tables.create_as(f"reference{name}", query), True, groups)
    return references


def _gains_by(
    material: Material, source: Copy, lower: MappedColumn, models: PrivacyModels, safe: Predicate, worlds: int
) -> dict[str, _Gain] | None:
    """What the release reveals by not showing one column a level lower; None if that would not have been better."""
    tables, value = material.tables, source.plain([lower.name])
    holes: dict[str, Any] = {"copied": source.relation, "mapping": lower.mapping, "value": value}
    parts = tables.create("parts", "attack_minimality/parts", placed=tables["people"], **holes)
    ((smallest,),) = tables.rows("attack_minimality/smallest_part", parts=parts)
    if int(smallest) < models.k:  # visible without sensitive values
        return dict.fromkeys(models.sensitive, _Gain())
    of = {name: source.columns[column] for name, column in models.sensitive.items()}
    truth: dict[str, Any] = {"parts": parts, "copied": source.relation, "names": list(of.values()), "columns": of}
    tables.create("truth", "attack_minimality/true_values", **truth)
    if not tables.count(tables.create("failing", "attack_minimality/unsafe_parts", counted=tables["truth"], safe=safe)):
        return None
    relations: dict[str, Any] = {"parts": parts, "seats": tables["seats"], "slots": tables["slots"]}
    tables.create("counted", "attack_minimality/world_values", columns=list(of), **relations)
    tables.create("unsafe", "attack_minimality/unsafe_parts", counted=tables["counted"], safe=safe)
    return _posteriors(material, models, worlds)


def _posteriors(material: Material, models: PrivacyModels, worlds: int) -> dict[str, _Gain]:
    """The people whose value becomes more probable, by Bayes' rule with independent classes."""
    tables = material.tables
    failed = {
        home: int(n) / worlds for home, n in tables.rows("attack_minimality/unsafe_worlds", unsafe=tables["unsafe"])
    }
    certain = [home for home, share in failed.items() if share == 1]
    none = 0.0 if certain else exp(sum(log(1 - share) for share in failed.values()))
    if not failed or none < _INFORMATIVE:
        return dict.fromkeys(models.sensitive, _Gain())
    chances = [[*failed], [none / (1 - share) for share in failed.values()]]
    tables.load("chances", {"home": "VARCHAR", "others": "DOUBLE"}, chances)
    return {name: _exposed(material, models, name, none, worlds) for name in models.sensitive}


def _exposed(material: Material, models: PrivacyModels, name: str, none: float, worlds: int) -> _Gain:
    tables = material.tables
    relations = {stem: tables[stem] for stem in ("truth", "counted", "unsafe", "chances")}
    numbers: dict[str, Any] = {
        "worlds": worlds,
        "none": none,
        "margin": _MARGIN,
        "bound": _bound(models, models.sensitive[name]),
    }
    ((people, certain, worst),) = tables.rows("attack_minimality/told_people", value=[name], **relations, **numbers)
    return _Gain(int(people), int(certain), float(worst))


def _bound(models: PrivacyModels, column: str) -> float:
    """The models' bound on the probability of a value: 1 / l, or α; 0 without such a parameter."""
    bounds = [0.0]
    for model in models.models:
        if model.sensitive == column:
            least, most = model.parameters.get("l"), model.parameters.get("alpha")
            bounds += [1 / float(least)] if isinstance(least, (int, float)) else []
            bounds += [float(most)] if isinstance(most, (int, float)) else []
    return max(bounds)


def _outcome(material: Material, column: str, gains: Sequence[_Gain], lower: int) -> Outcome:
    people, rows = max((gain.people for gain in gains), default=0), material.release.rows
    sentence = f"Knowing everyone's quasi-identifiers and the algorithm reveals no person's {column}."
    if people:
        sentence = (
            "An attacker who knows everyone's quasi-identifiers and the algorithm concludes that a less general "
            f"release was unsafe, which makes the {column} of {people:,} of {rows:,} rows more probable than its share "
            "of their class."
        )
    return Outcome(
        "minimality",
        sentence,
        attempts=rows,
        successes=people,
        affected=people,
        column=column,
        figures={
            "lower_nodes": lower,
            "unsafe_lower_nodes": len(gains),
            "certain": max((gain.certain for gain in gains), default=0),
            "worst_gain": max((gain.worst for gain in gains), default=0.0),
        },
        avoid='release with `minimality="mask"`, or raise k until its own optimum meets the models',
    )


# The level of every column in a full-domain release, and the next lower one


@dataclass(frozen=True)
class MappedColumn:
    """A column of the release: its `level` in the hierarchy. `mapping`: value (a key), own, below, of the people.

    `own` numbers the labels of the level, `below` those of the next lower one; `labels` is the release's mapping.
    """

    name: str
    level: int
    mapping: Relation
    labels: Relation


def shown_levels(material: Material, source: Copy) -> list[MappedColumn] | None:
    """The level of every quasi-identifier; None if a column has labels of several levels, as in local recodings."""
    shown = []
    for number, name in enumerate(material.quasi_identifiers):
        column = _shown(material, source, name, number)
        if column is None:
            return None
        shown.append(column)
    return shown


def placed(
    material: Material, copied: Copy, shown: Sequence[MappedColumn], stem: str, released: bool = False
) -> Relation:
    """The rows of a table by the class that they are in, or would be in: row_id, home (the class)."""
    tables = material.tables
    tables.create(stem, "attack_matching/unplaced", copied=copied.relation)
    for column in shown:
        mapping, value = column.labels if released else column.mapping, copied.plain([column.name])
        holes: dict[str, Any] = {"copied": copied.relation, "mapping": mapping, "value": value}
        tables.create("next", "attack_matching/placed", placed=tables[stem], **holes)
        tables.rename("next", stem)
    return tables[stem]


def _shown(material: Material, source: Copy, name: str, number: int) -> MappedColumn | None:
    tables, release = material.tables, material.release
    labels = {
        label
        for (label,) in tables.rows("attack_matching/labels", classes=release.relation, label=release.plain([name]))
    }
    values = tables.rows("attack_matching/values", targets=source.relation, value=source.plain([name]))
    hierarchy = material.hierarchy(source.column(name), [value for value, _ in values])
    levels = list(_levels(values, hierarchy))
    fitting = [level for level, codes in enumerate(levels) if labels <= set(codes)]
    if not fitting:
        return None
    level, codes = fitting[0], {label: code for code, label in enumerate(sorted(labels, key=str))}
    below = levels[max(level - 1, 0)]
    texts = {label: code for code, label in enumerate(dict.fromkeys(below))}
    pairs = zip(values, levels[level], below, strict=True)
    rows = [(text_key(text), codes[own], texts[under]) for (_, text), own, under in pairs if own in codes]
    own_rows = [(text_key(label), code, 0) for label, code in codes.items()]
    mapping, own_mapping = (
        tables.load(f"{stem}_{number}", _TYPES, list(zip(*found_rows, strict=True)) or [[], [], []])
        for stem, found_rows in (("m", rows), ("l", own_rows))
    )
    return MappedColumn(name, level, mapping, own_mapping)


def _levels(values: Sequence[tuple[Any, ...]], hierarchy: Hierarchy | None) -> Iterator[list[Label]]:
    """The values' labels on every level, as text; without a hierarchy the values themselves, then `*`."""
    yield [text for _, text in values]
    if hierarchy is None:
        yield [STAR for _ in values]
        return
    places = {key(value): place for place, value in enumerate((*hierarchy.values, *hierarchy.starred))}
    for level in range(1, hierarchy.height + 1):
        labels = hierarchy.labels(level)
        found = [labels[places[key(value)]] if key(value) in places else STAR for value, _ in values]
        yield [None if label is None else as_text(label) for label in found]


MINIMALITY = Attack(
    "minimality",
    "Conclude from the algorithm that less general releases were unsafe, and what that reveals of sensitive values.",
    _minimality,
    ("sensitive", "source"),
)
