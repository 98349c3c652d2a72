"""The people of a source in blocks: values that the labels of the compared releases do not tell apart count as one.

The classes that fit a person stay the same. A table of nearly distinct rows has about as many combinations of values as
rows, but only about as many blocks of values as a release has classes, and the comparison of releases takes as long as
that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql import queries
from kanon_sql.attack.matching import covered_values, covers_of, fitting, text_key
from kanon_sql.attack.material import Copy, Material
from kanon_sql.queries import Hole, Relation


@dataclass
class People:
    """The people of a source, with the values of their quasi-identifiers; created once for all comparisons.

    `shared`: the quasi-identifiers that the source has, too. `values`: their values and the values' texts, by code, and
    `codes` the same as tables.
    """

    material: Material
    source: Copy
    shared: tuple[str, ...]
    values: Mapping[str, Sequence[tuple[Any, str | None]]]
    codes: Mapping[str, Relation]
    _covered: Mapping[str, Mapping[str | None, Sequence[int]]] = field(default_factory=dict)
    _blocks: Mapping[str, Sequence[int]] = field(default_factory=dict)
    _own: dict[str, Relation] = field(default_factory=dict)

    @classmethod
    def of(cls, material: Material) -> People:
        """Code the values of the source."""
        source, tables = material.source, material.tables
        assert source
        shared = material.quasi_identifiers_of(source)
        values, codes = {}, {}
        for name in shared:
            (plain,) = source.plain([name])
            holes: dict[str, Hole] = {"people": source.relation, "value": [plain]}
            codes[name] = tables.create(f"codes_{plain}", "attack_versions/value_codes", **holes)
            values[name] = [
                (value, text) for value, text in tables.rows("attack_versions/values_by_code", codes=codes[name])
            ]
            material.values_of_copies.setdefault((source.relation.name, plain), [*values[name]])
        return cls(material, source, shared, values, codes)

    def read_labels(self, labels: Mapping[str, Sequence[str | None]]) -> None:
        """Find the values that the labels of the shared columns cover, and note labels that cannot be read."""
        self._covered = {
            name: covered_values(self.material, self.source, name, labels[name], self.values[name])
            for name in self.shared
        }

    def fits(self, classes: Relation) -> Relation:
        """The classes that fit the people, by the labels that were read: target (as in `tuples`), class."""
        tables, blocks, covers = self.material.tables, {}, {}
        for name, places in self._covered.items():
            blocks[name], pairs = blocks_of([*places.values()], len(self.values[name]))
            keys = [text_key(label) for label in places]
            (plain,) = self.source.plain([name])
            covering = [(keys[label], f"={block}") for label, block in pairs]
            covers[name] = covers_of(covering, tables, f"covers_{plain}")
        if blocks != self._blocks:
            self._put(blocks)
        return fitting(self.material, self.tuples, self.copy, classes, self.shared, "people_fits", covers)

    def _put(self, blocks: Mapping[str, Sequence[int]]) -> None:
        source, tables, dialect, by_value = self.source, self.material.tables, self.material.tables.engine.dialect, {}
        for name, of_value in blocks.items():
            (plain,) = source.plain([name])
            types, codes = {"value": "INTEGER", "code": "INTEGER"}, [[*range(len(of_value))], [*of_value]]
            of_code = tables.load("blocks", types, codes)
            query = queries.replaced(self.codes[name], {"code": of_code}, ["value"], dialect)
            by_value[plain] = tables.create_as(f"blocks_{plain}", query)
        others = [plain for name, plain in source.columns.items() if name not in self.shared]
        query = queries.replaced(source.relation, by_value, ["row_id", *others], dialect)
        people, columns = tables.create_as("people_in_blocks", query), source.plain(self.shared)
        tuples = tables.create("tuples", "attack_versions/known_values", people=people, columns=columns)
        if source.unit:
            holes: dict[str, Hole] = {"columns": columns, "unit": source.unit}
            tables.create("members", "attack_versions/members_of_people", people=people, **holes)
        else:
            tables.create("members", "attack_versions/members", tuples=tuples)
        self._blocks = blocks
        self._own.clear()

    @property
    def copy(self) -> Copy:
        """The people in blocks."""
        return replace(self.source, relation=self.material.tables["people_in_blocks"])

    @property
    def tuples(self) -> Relation:
        """The distinct values of the shared columns in blocks: target, the columns, n."""
        return self.material.tables["tuples"]

    @property
    def members(self) -> Relation:
        """The people behind those values: target, person, n. One person can be behind several targets."""
        return self.material.tables["members"]

    def own_values(self, column: str) -> Relation:
        """The values of a sensitive column by target: target, person, value, n; NULL if the source does not have it."""
        tables, source = self.material.tables, self.source
        if column not in source.columns:
            return tables.create("own", "attack_versions/unknown_values", members=self.members)
        if column not in self._own:
            (plain,) = source.plain([column])
            holes: dict[str, Any] = {"columns": source.plain(self.shared), "values": [plain]}
            holes |= {"unit": source.unit} if source.unit else {}
            query = "attack_versions/own_values_of_people" if source.unit else "attack_versions/own_values"
            self._own[column] = tables.create(f"own_{plain}", query, people=self.copy.relation, **holes)
        return self._own[column]


def blocks_of(covered: Sequence[Sequence[int]], values: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Values that the same labels cover are one block: the block of each value, and the pairs of a label and a block.

    `covered`: the places of the values that each label covers.

    >>> blocks_of([[0, 1, 2], [2]], 4)
    ([0, 0, 1, 2], [(0, 0), (0, 1), (1, 1)])
    """
    labels: list[list[int]] = [[] for _ in range(values)]
    for label, places in enumerate(covered):
        for place in places:
            labels[place].append(label)
    blocks: dict[tuple[int, ...], int] = {}
    of_value = [blocks.setdefault(tuple(covering), len(blocks)) for covering in labels]
    return of_value, sorted((label, block) for covering, block in blocks.items() for label in covering)
