"""The frequency set with sensitive values side by side: a row per tuple again, and a column per value.

What compares a class with the whole table then needs one GROUP BY over fewer rows, not two and a join
(`kanon_sql.queries.value_columns`). It pays for few values: every column of them costs planning, and eight bytes a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import ceil
from typing import Any

from kanon_sql import queries
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.privacy import Predicate, PrivacyModels, Reference, Spread
from kanon_sql.relation import Relation

_MOST_VALUES = 100
_SENTENCE = "Count the rows of each tuple by every sensitive value, side by side."

Counts = Mapping[str, Sequence[tuple[Sequence[int], int]]]
Weights = tuple[str, Mapping[int, int]]
"""By what is counted (`c`, `c_to`, `c_1`, …): the codes of every count, and the rows of the whole table with them."""


def spread(frequency_set: FrequencySet, model: PrivacyModels) -> tuple[FrequencySet, Mapping[str, Reference]]:
    """A frequency set with columns that count the values models compare, and references to these; else as it is."""
    counts = _counts(frequency_set, model) if _may_spread(frequency_set, model) else None
    if counts is None:
        return frequency_set, model.references
    spreads = {name: _spread(name, of_column, frequency_set.rows) for name, of_column in counts.items()}
    weights: dict[str, Weights] = {}
    for name, each in spreads.items():
        for what, columns in each.columns.items():
            in_columns = _weights(counts[name][what], each)
            weights |= {column: (name, of) for column, of in zip(columns, in_columns, strict=True)}
    references = {name: Reference(Relation(name), spread=each) for name, each in spreads.items()}
    return _with_columns(frequency_set, weights), references


def _may_spread(frequency_set: FrequencySet, model: PrivacyModels) -> bool:
    """Whether it pays for one of the models, those by an order or a hierarchy, and all can be asked of columns."""
    dialect, alone = frequency_set.engine.dialect, frequency_set.population is None
    pays = any(each.in_order or each.hierarchy for each in model.models)
    asked = (model.predicate(each) for each in model.models)
    return alone and pays and all(queries.can_spread(each, dialect) for each in asked)


def _counts(frequency_set: FrequencySet, model: PrivacyModels) -> dict[str, Counts] | None:
    """The counts of every sensitive column; None where they are too many, or not all of a value is known."""
    counts = {}
    for name, column in model.sensitive.items():
        values = _values(frequency_set, name)
        if not values or any(each["overall_c"] is None for each in values):
            return None
        in_order = any(each.in_order for each in model.models if each.sensitive == column)
        counts[name] = _of_column(values, in_order)
    return counts


def _values(frequency_set: FrequencySet, name: str) -> list[dict[str, Any]]:
    """The values of a column in their order as a reference has them; none where they are too many."""
    tables, relation = frequency_set.tables, frequency_set.references.get(name)
    if relation is None:
        holes: dict[str, queries.Hole] = {"value": [name], "raw": [name], "rows": Predicate("SUM(n)")}
        relation = tables.make(f"values{name}", "privacy/reference", counted=frequency_set.relation, **holes)
    if tables.count(relation) > _MOST_VALUES:
        return []
    names = [column.name for column in tables.engine.table(relation).columns]
    rows = tables.rows_as(queries.select_all(relation, tables.engine.dialect))
    return sorted((dict(zip(names, row, strict=True)) for row in rows), key=lambda each: int(each["value"]))


def _of_column(values: Sequence[Mapping[str, Any]], in_order: bool) -> Counts:
    codes, rows = [each["value"] for each in values], [each["overall_c"] for each in values]
    counts = {"c": [((code,), many) for code, many in zip(codes, rows, strict=True)]}
    if in_order:
        counts["c_to"] = [(tuple(codes[: i + 1]), many) for i, many in enumerate(accumulate(rows))]
    for level in (name.removeprefix("_group_") for name in values[0] if name.startswith("_group_")):
        groups = {each[f"_group_{level}"]: each[f"_overall_c_{level}"] for each in values}
        members = {
            group: tuple(each["value"] for each in values if each[f"_group_{level}"] == group) for group in groups
        }
        counts[f"c_{level}"] = [(members[group], many) for group, many in groups.items()]
    return counts


def _spread(name: str, counts: Counts, rows: int) -> Spread:
    overall = {what: tuple(many for _, many in each) for what, each in counts.items()}
    in_one = Spread({}, overall, rows).in_one
    named = {
        what: tuple(f"{name}_{what}_{i}" for i in range(ceil(len(each) / in_one))) for what, each in counts.items()
    }
    return Spread(named, overall, rows)


def _weights(counts: Sequence[tuple[Sequence[int], int]], spread: Spread) -> list[dict[int, int]]:
    """What a row of each code adds to every column that holds the counts: 1 in the bits of each that counts it."""
    weights: list[dict[int, int]] = []
    for place, (codes, _) in enumerate(counts):
        if place % spread.in_one == 0:
            weights.append({})
        for code in codes:
            weights[-1][code] = weights[-1].get(code, 0) + (1 << place % spread.in_one * spread.bits)
    return weights


def _with_columns(frequency_set: FrequencySet, weights: Mapping[str, Weights]) -> FrequencySet:
    keys, sums, tables = frequency_set.keys, frequency_set.sums, frequency_set.tables
    coded = (attribute.coded for attribute in frequency_set.attributes)
    higher = [each.code_column(level) for each in coded for level in range(1, each.height + 1)]
    query = queries.spread(frequency_set.relation, keys, higher, sums, weights, tables.engine.dialect)
    relation = tables.make_as("spread", query, "spread", _SENTENCE)
    return replace(frequency_set, relation=relation, sensitive=(), references={}, spread=tuple(weights))
