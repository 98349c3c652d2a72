"""The costs of an attribute's levels for `refine`, and bits by which labels are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, repeat
from operator import ne

from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.queries import SPAN_UNIT, GeneralizationSteps, LabelWord
from kanon_sql.recode.task import Spans

UNIT = 10_000_000  # a cell's loss of 1 as a whole number: sums are exact in any order
KEYS = 2**62  # a sum of one key per attribute must fit 64 bits
_BITS = 62  # in a word, which is a BIGINT
_MOST_LABELS = 31  # of a level with bits
_MOST_WORDS = 8


@dataclass
class LevelCosts:
    """One attribute, with the values that occur in the order of their codes: a file can have many times as many."""

    place: int
    attributes: int
    attribute: Attribute
    weight: float
    span: Spans | None
    codes: Sequence[int] = ()  # of the values that occur
    words: dict[int, dict[int, int]] = field(default_factory=dict)  # by word, by code: bits

    @cached_property
    def top(self) -> int:
        """The cost of the top level; 0 for an attribute with one value."""
        count = self.attribute.hierarchy.leaf_count
        return _cost(self.weight, count, count)

    @cached_property
    def ends(self) -> dict[int, tuple[int, int]]:
        """The ends of every value's span (see `GeneralizationSteps`); a span with a value without a place costs all.

        In the order of the values, since a value further out can be rounded less far.
        """
        if self.span is None or not self.top:
            return {}
        step = self.weight * UNIT / (self.attribute.hierarchy.leaf_count - 1)
        nowhere, top = (0, 4 * self.top), self.top
        found = {
            code: tuple(2 * top + round(end * step) for end in at) if at else nowhere for code, at in self.span.items()
        }
        return {
            code: (place * SPAN_UNIT + low, place * SPAN_UNIT + high)
            for place, (code, (low, high)) in enumerate(found.items())
        }

    def steps(self, tables: Scratch) -> GeneralizationSteps:
        """This attribute, for the queries."""
        levels, costs = tables[f"levels_{self.place}"], tables[f"costs_{self.place}"]
        return GeneralizationSteps(
            self.attribute.coded, levels, costs, not self.top, bool(self.ends), tuple(sorted(self.words))
        )

    def find_values(self, frequency_set: FrequencySet, tables: Scratch) -> None:
        """Look up which values occur."""
        column, tuples = [self.attribute.coded.code_column(0)], frequency_set.relation
        found = {int(code) for code, _ in tables.rows("mappings/column_values", column=column, tuples=tuples)}
        self.codes = [code for code in self._first if code in found]

    def load(self, tables: Scratch) -> None:
        """Load a row per value, and a row per value and level."""
        steps, levels = self.steps(tables), range(self.attribute.hierarchy.height + 1)
        types = {"code": "BIGINT"} | {f"cost_{level}": "BIGINT" for level in levels}
        ends = [self.ends[code] for code in self.codes if steps.spanned]
        if steps.spanned:
            types |= dict.fromkeys(("low", "high"), "BIGINT")
        types |= {f"bits_{word}": "BIGINT" for word in steps.words}
        bits = [[self.words[word].get(code, 0) for code in self.codes] for word in steps.words]
        tables.load(steps.costs, types, [self.codes, *self.costs, *zip(*ends, strict=True), *bits])
        keys = [{label: self._key(level, label) for label in set(self.labels[level])} for level in levels]
        # A label as expensive as the one above it is never better, since that one gathers more values.
        above: list[Sequence[int | None]] = [*self.costs[1:], [None] * len(self.codes)]
        columns: list[list[int]] = [[], [], [], []]
        for level in levels:
            cheaper = list(map(ne, self.costs[level], above[level]))
            labels = map(keys[level].__getitem__, compress(self.labels[level], cheaper))
            codes = compress(self.codes, cheaper)
            costs = compress(self.costs[level], cheaper)
            for column, more in zip(columns, (codes, repeat(level, sum(cheaper)), labels, costs), strict=True):
                column.extend(more)
        types = {"code": "BIGINT", "level": "INTEGER", "key": "BIGINT", "cost": "BIGINT"}
        tables.load(steps.levels, types, columns)

    @cached_property
    def labels(self) -> list[list[int]]:
        """The values' codes, level by level."""
        hierarchy = self.attribute.hierarchy
        of_level = [hierarchy.codes(level) for level in range(hierarchy.height + 1)]
        rows = list(map(self._first.__getitem__, self.codes))
        return [list(map(codes.__getitem__, rows)) for codes in of_level]

    @cached_property
    def costs(self) -> list[list[int]]:
        """The costs of the values' labels, level by level."""
        hierarchy = self.attribute.hierarchy
        leaves = [hierarchy.leaves(level) for level in range(hierarchy.height + 1)]
        costs = []
        for level, labels in enumerate(self.labels):
            of_label = {label: _cost(self.weight, leaves[level][label], hierarchy.leaf_count) for label in set(labels)}
            costs.append(list(map(of_label.__getitem__, labels)))
        if self.ends:
            ends = [self.ends[code] for code in self.codes]
            costs[1:-1] = [_span_costs(labels, ends, self.top, costs[0]) for labels in self.labels[1:-1]]
        return costs

    @cached_property
    def _first(self) -> dict[int, int]:
        """The first row of the hierarchy for every code of a value, in the order of the codes."""
        codes = self.attribute.hierarchy.codes(0)
        first = dict(zip(reversed(codes), reversed(range(len(codes))), strict=True))
        return dict(sorted(first.items()))

    def _key(self, level: int, label: int) -> int:
        """A label's part of a cell's key. Cells with equal keys become one, which costs loss but never safety."""
        digest = hashlib.blake2b(f"{self.place} {level} {label}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % (KEYS // self.attributes)


def give_bits(attributes: Sequence[LevelCosts]) -> list[LabelWord]:
    """Assign bits to labels, in words by the minimum that a class pays for losing one of a word's labels.

    Levels with many labels, and attributes that show spans, get none: their costs are not part of the bound.
    """
    found = []
    for attribute in attributes:
        for level in range(0 if attribute.ends else attribute.attribute.hierarchy.height):
            pairs = zip(attribute.costs[level], attribute.costs[level + 1], strict=True)
            least = min((above - cost for cost, above in pairs), default=0)
            labels = sorted(set(attribute.labels[level]))
            if least > 0 and len(labels) <= _MOST_LABELS:
                found.append((least, attribute, level, labels))
    words: list[LabelWord] = []
    free = 0
    for least, attribute, level, labels in sorted(found, key=lambda entry: -entry[0]):
        if free < len(labels) or words[-1].least > 2 * least:
            if len(words) == _MOST_WORDS:
                break
            words, free = [*words, LabelWord(len(words), least)], _BITS
        number = words[-1].number
        words[-1] = LabelWord(number, least)
        bit = {label: 1 << (free - 1 - place) for place, label in enumerate(labels)}
        free -= len(labels)
        of_codes = attribute.words.setdefault(number, {})
        for code, label in zip(attribute.codes, attribute.labels[level], strict=True):
            of_codes[code] = of_codes.get(code, 0) | bit[label]
    return words


def _cost(weight: float, leaves: int, leaf_count: int) -> int:
    """A label's weighted loss (M - 1) / (|A| - 1), in units."""
    return round(weight * (leaves - 1) / (leaf_count - 1) * UNIT) if leaf_count > 1 else 0


def _span_costs(codes: Sequence[int], ends: Sequence[tuple[int, int]], top: int, alone: Sequence[int]) -> list[int]:
    """The costs of labels shown as spans, by the values that occur; `alone`: the cost of a single value."""
    of_label: dict[int, list[tuple[int, int]]] = {}
    for code, end in zip(codes, ends, strict=True):
        of_label.setdefault(code, []).append(end)
    wide = {code: min(top, max(at)[1] % SPAN_UNIT - min(at)[0] % SPAN_UNIT) for code, at in of_label.items()}
    return [wide[code] if len(of_label[code]) > 1 else single for code, single in zip(codes, alone, strict=True)]
