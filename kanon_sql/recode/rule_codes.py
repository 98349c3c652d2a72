"""The tuples under rules: every distinct tuple, with codes for its values on every level of rules.

An attribute has a column of codes per level. Level 0 is the value; level l is the label from the rules of level l
(the value itself if no rule covers it); the level above the last is suppression, with one code for all values. So a
transformation is one level per attribute, and its groups are one GROUP BY.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.lattice import Node
from kanon_sql.queries import Coded, Relation
from kanon_sql.recode.rules import RulesByLevel


@dataclass(frozen=True)
class Coding:
    """The relation of tuples (tuple, n, `<stem>_<level>` …), and in `labels` the label of every code.

    `labels` has attribute, rule_level, code, label, leaves (of the hierarchy, covered by the label) and level
    (of the hierarchy, the lowest that covers these leaves). `heights[j]` is the level that suppresses.
    """

    engine: Engine
    attributes: tuple[Attribute, ...]
    heights: Node
    tuples: Relation
    labels: Relation

    def columns(self, level: int = 0) -> list[str]:
        """The columns of one level of all attributes."""
        return [f"{attribute.coded.stem}_{level}" for attribute in self.attributes]

    def of(self, node: Node) -> list[str]:
        """The columns that distinguish a transformation's groups; suppressed ones do not."""
        pairs = list(zip(self.attributes, node, self.heights, strict=True))
        distinguishing = [f"{a.coded.stem}_{level}" for a, level, height in pairs if level < height]
        return distinguishing or [f"{self.attributes[0].coded.stem}_{node[0]}"]

    @cached_property
    def all_columns(self) -> list[list[str]]:
        """Per attribute its columns, level by level."""
        pairs = zip(self.attributes, self.heights, strict=True)
        return [[f"{a.coded.stem}_{level}" for level in range(height + 1)] for a, height in pairs]


def code(frequency_set: FrequencySet, rules: Sequence[RulesByLevel], tables: Scratch) -> Coding:
    """Code the tuples, as scratch tables in the frequency set's engine; `rules` per attribute, in its order."""
    attributes = frequency_set.attributes
    coding = Coding(
        frequency_set.engine,
        attributes,
        tuple(len(levels) + 1 for levels in rules),
        tables["rule_tuples"],
        tables["rule_labels"],
    )
    codings = [
        _AttributeCoding(a.hierarchy, levels, _value_texts(tables, a))
        for a, levels in zip(attributes, rules, strict=True)
    ]
    codes = {a.coded.stem: a.coded.code_column(0) for a in attributes}
    keys = tables.create("rule_keys", "prioprivacy/rule_keys", columns=codes, frequency_set=frequency_set.relation)
    coded = []
    for stem, height, rule in zip(codes, coding.heights, codings, strict=True):
        values, levels = list(rule.texts), range(height + 1)
        types = dict.fromkeys(["value", *(f"code_{level}" for level in levels)], "INTEGER")
        columns = [[rule.code(value, level) for value in values] for level in levels]
        coded.append(Coded(stem, tables.load(f"rules_{stem}", types, [values, *columns]), height, ()))
    all_codes = tables.create_as("rule_codes", queries.frequency_set(keys, coded, tables.engine.dialect))
    every = [column for columns in coding.all_columns for column in columns]
    tables.create(coding.tuples, "prioprivacy/numbered_tuples", columns=every, tuples=all_codes)
    tables.drop(keys, all_codes, *(attribute.mapping for attribute in coded))
    labels = [(j, *label) for j, rule in enumerate(codings) for label in rule.labels()]
    types = dict.fromkeys(("attribute", "rule_level", "code"), "INTEGER") | {"label": "VARCHAR"}
    types |= {"leaves": "INTEGER", "level": "INTEGER"}
    tables.load(coding.labels, types, list(zip(*labels, strict=True)))
    return coding


def _value_texts(tables: Scratch, attribute: Attribute) -> dict[int, str | None]:
    """The text of every value; values in no hierarchy share one code, and `*`."""
    texts = dict(tables.rows("prioprivacy/rule_values", mapping=attribute.coded.mapping))
    if attribute.hierarchy.starred:
        texts[attribute.hierarchy.codes(0)[-1]] = STAR
    return texts


class _AttributeCoding:
    """One attribute's values (by their code), rules and labels."""

    def __init__(self, hierarchy: Hierarchy, levels: RulesByLevel, texts: dict[int, str | None]) -> None:
        self.hierarchy, self.levels, self.texts = hierarchy, levels, texts
        code_of = dict(zip(hierarchy.values, hierarchy.codes(0), strict=False))
        self.members = [
            [frozenset(code_of[value] for value in rule.values if value in code_of) for rule in rules]
            for rules in levels
        ]
        self._rule_of = [{code: i for i, codes in enumerate(rules) for code in codes} for rules in self.members]

    def code(self, value: int, level: int) -> int:
        """The code of a value on a level; below 0 for the value itself, if no rule covers it."""
        if level == 0:
            return value
        if level > len(self.levels):
            return 0
        return self._rule_of[level - 1].get(value, -1 - value)

    def labels(self) -> list[tuple[int, int, str | None, int, int]]:
        """Level of rules, code, label, leaves and level of the hierarchy, for every possible code."""
        shown: dict[tuple[int, int], tuple[str | None, frozenset[int]]] = {}
        for level in range(len(self.levels) + 1):
            for value, text in self.texts.items():
                shown[level, value if level == 0 else -1 - value] = (text, frozenset([value]))
        for level, (rules, members) in enumerate(zip(self.levels, self.members, strict=True), start=1):
            for i, (rule, codes) in enumerate(zip(rules, members, strict=True)):
                shown[level, i] = (rule.label, codes)
        meant: dict[str | None, frozenset[int]] = {}
        for text, codes in shown.values():  # a label of two rules covers the values of both
            meant[text] = meant.get(text, frozenset()) | codes
        everything = (STAR, self.hierarchy.leaf_count, self.hierarchy.height)
        labels = [
            (level, code, *(everything if text == STAR else (text, *self._described(meant[text]))))
            for (level, code), (text, _) in shown.items()
        ]
        return [*labels, (len(self.levels) + 1, 0, *everything)]

    def _described(self, codes: frozenset[int]) -> tuple[int, int]:
        """The number of leaves, and the lowest level of the hierarchy on which all these values have one label."""
        leaves = sum(self.hierarchy.leaves(0)[code] for code in codes)
        level = next(level for level, labels in enumerate(self._labels) if len({labels[code] for code in codes}) <= 1)
        return min(leaves, self.hierarchy.leaf_count), level

    @cached_property
    def _labels(self) -> list[dict[int, int]]:
        """Level by level, the label of every value."""
        base = self.hierarchy.codes(0)
        levels = range(self.hierarchy.height + 1)
        return [dict(zip(base, self.hierarchy.codes(level), strict=True)) for level in levels]
