"""Packed codes: nodes are tested on the bits of a few whole numbers, not on a column per attribute and level.

Every attribute has some bits of a number: the first bits are its label below the top, the next its label below that
one, and so on down to the value. So a mask selects a label on any level, and a node is a mask for all attributes: its
test groups by one or two numbers instead of a column per attribute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Node
from kanon_sql.queries import Bits, Relation

_BITS = 62  # used of a signed number of eight bytes
_MOST_VALUES = 50_000  # of an attribute: their bits are computed value by value
_MOST_TUPLES = 3_000_000  # the packed ones are a copy, of up to a hundred bytes each
_SENTENCE = "Pack the codes of each tuple into the bits of whole numbers, so that a node is a mask."


@dataclass(frozen=True)
class PackedField:
    """The bits of an attribute: the number's column, and per level the mask that selects its label."""

    key: str
    masks: tuple[int, ...]


@dataclass(frozen=True)
class Packed:
    """A frequency set for node tests: its tuples with packed numbers, and the codes of unpacked attributes."""

    frequency_set: FrequencySet
    relation: Relation
    fields: tuple[PackedField | None, ...]

    def columns(self, node: Node) -> dict[str, Bits]:
        """What distinguishes the classes of a node, by name: masked numbers, and codes that are not packed."""
        masks: Counter[str] = Counter()
        codes: dict[str, Bits] = {}
        for j, (field, level) in enumerate(zip(self.fields, node, strict=True)):
            if field:
                masks[field.key] += field.masks[level]
            elif level < self.frequency_set.attributes[j].hierarchy.height:
                codes |= self._code(j, level)
        numbers = {key: (key, mask) for key, mask in masks.items() if mask}
        return {**numbers, **codes} or self._code(0, node[0])

    def masks(self, node: Node) -> dict[str, int] | None:
        """The masks of the numbers that distinguish the classes of a node; None if unpacked codes are needed."""
        columns = self.columns(node)
        masks = {key: mask for key, mask in columns.values() if mask is not None}
        return {key: mask for key, mask in masks.items() if mask} if len(masks) == len(columns) else None

    def labels(self, node: Node) -> dict[str, Bits]:
        """The same with a column per attribute below its top, by the name of its codes."""
        below = [j for j, a in enumerate(self.frequency_set.attributes) if node[j] < a.hierarchy.height] or [0]
        return {name: bits for j in below for name, bits in self._code(j, node[j]).items()}

    def rolled_up(self, levels: Mapping[int, int]) -> tuple[dict[str, Bits], list[str]]:
        """What distinguishes tuples if some attributes are on these levels, and the unpacked codes above."""
        attributes = self.frequency_set.attributes
        node = tuple(levels.get(j, 0) for j in range(len(attributes)))
        masks = {field.key: 0 for field in self.fields if field}
        keys: dict[str, Bits] = {key: (key, mask) for key, mask in masks.items()} | {
            name: bits for name, bits in self.columns(node).items() if name in masks
        }
        higher = []
        for j, attribute in enumerate(attributes):
            if not self.fields[j]:
                keys |= self._code(j, node[j])
                above = range(node[j] + 1, attribute.hierarchy.height + 1)
                higher += [attribute.coded.code_column(level) for level in above]
        return keys, higher

    def _code(self, j: int, level: int) -> dict[str, Bits]:
        name = self.frequency_set.attributes[j].coded.code_column(level)
        field = self.fields[j]
        return {name: (field.key, field.masks[level]) if field else (name, None)}

    def drop(self) -> None:
        """Drop the copy of the tuples."""
        if self.relation != self.frequency_set.relation:
            self.frequency_set.tables.drop(self.relation)


def unpacked(frequency_set: FrequencySet) -> Packed:
    """The frequency set without packed codes."""
    return Packed(frequency_set, frequency_set.relation, (None,) * len(frequency_set.attributes))


def packed(frequency_set: FrequencySet) -> Packed:
    """A copy of the frequency set with packed codes; unpacked if it is too large or no attribute can be packed."""
    layouts = [_layout(attribute.hierarchy) for attribute in frequency_set.attributes]
    fields, bits = _fields(layouts)
    if frequency_set.tuples > _MOST_TUPLES or not any(fields):
        return unpacked(frequency_set)
    tables = frequency_set.tables
    types = {"attribute": "INTEGER", "code": "INTEGER", "bits": "BIGINT"}
    rows = [(j, code, number) for j, numbers in bits.items() for code, number in numbers.items()]
    loaded = tables.load("bits", types, list(map(list, zip(*rows, strict=True))))
    keys: dict[str, dict[int, str]] = {}
    codes = []
    for j, (attribute, field) in enumerate(zip(frequency_set.attributes, fields, strict=True)):
        if field:
            keys.setdefault(field.key, {})[j] = attribute.coded.code_column(0)
        else:
            codes += [attribute.coded.code_column(level) for level in range(attribute.hierarchy.height + 1)]
    columns = [*codes, *frequency_set.distinguishing_columns, *frequency_set.sums]
    query = queries.packed(frequency_set.relation, loaded, keys, columns, tables.engine.dialect)
    relation = tables.create_as(tables.unused("packed"), query, "packed", _SENTENCE)
    tables.drop(loaded)
    return Packed(frequency_set, relation, tuple(fields))


@dataclass(frozen=True)
class _BitLayout:
    """The bits that an attribute needs, from 0 up: the masks by level, and the number of each code on level 0."""

    masks: tuple[int, ...]
    numbers: Mapping[int, int]

    @property
    def width(self) -> int:
        return self.masks[0].bit_length()


def _layout(hierarchy: Hierarchy) -> _BitLayout | None:
    """The bits of an attribute: the labels below every label numbered, from the top down; None if they are too many."""
    if len(hierarchy.codes(0)) > _MOST_VALUES:
        return None
    above = hierarchy.codes(hierarchy.height)
    mask = 0
    masks = [0]
    numbers = [0] * len(above)
    width = 0
    for level in reversed(range(hierarchy.height)):
        codes = hierarchy.codes(level)
        places = _places(codes, above)
        numbers = [number | places[code] << width for number, code in zip(numbers, codes, strict=True)]
        more = max(places.values(), default=0).bit_length()
        mask |= (1 << more) - 1 << width
        width, above = width + more, codes
        masks.insert(0, mask)
    return _BitLayout(tuple(masks), dict(zip(hierarchy.codes(0), numbers, strict=True)))


def _places(codes: Sequence[int], above: Sequence[int]) -> dict[int, int]:
    """The number of every code among the codes with the same code above."""
    found: Counter[int] = Counter()
    places = {}
    for code, parent in dict(zip(codes, above, strict=True)).items():
        places[code] = found[parent]
        found[parent] += 1
    return places


def _fields(layouts: Sequence[_BitLayout | None]) -> tuple[list[PackedField | None], dict[int, dict[int, int]]]:
    """The positions of the attributes' bits: numbers are filled one after the other."""
    fields: list[PackedField | None] = []
    bits: dict[int, dict[int, int]] = {}
    number, used = 0, 0
    for j, layout in enumerate(layouts):
        if layout is None or layout.width > _BITS:
            fields.append(None)
            continue
        if used + layout.width > _BITS:
            number, used = number + 1, 0
        fields.append(PackedField(f"_key_{number}", tuple(mask << used for mask in layout.masks)))
        bits[j] = {code: place << used for code, place in layout.numbers.items()}
        used += layout.width
    return fields, bits
