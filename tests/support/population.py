"""Samples of a population, and the models of their classes, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from random import Random
from typing import Any

from hypothesis import strategies as st

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.population import Population
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy import PrivacyModel, PrivacyModels, delta_presence, k_anonymity, k_map, l_diversity
from support.database import create_table
from support.oracle import Node, Problem, Row, problems

_numbers = count()


@dataclass(frozen=True)
class Requirement:
    """What every class is held to: rows, rows of the population, the share of these, different values."""

    k: int = 1
    k_map: int = 1
    least: Fraction = Fraction(0)
    most: Fraction = Fraction(1)
    values: int = 1

    def models(self, population: Any) -> list[PrivacyModel]:
        chosen = [k_map(self.k_map, population), k_anonymity(self.k)]
        if self.least > 0 or self.most < 1:
            chosen.append(delta_presence(float(self.least), float(self.most), population))
        return chosen + ([l_diversity("ill", self.values)] if self.values > 1 else [])

    def is_safe(self, rows: int, people: int, values: int) -> bool:
        share = self.least * people <= rows <= self.most * people
        return rows >= self.k and people >= self.k_map and share and values >= self.values


@dataclass(frozen=True)
class Sampled:
    """A table with an illness in every row, and the rows of the population that are not in it."""

    problem: Problem
    ills: Sequence[str]
    others: Sequence[Row]

    @property
    def people(self) -> list[Row]:
        return [*self.problem.rows, *self.others]

    def classes(self, node: Node) -> dict[Row, tuple[int, int]]:
        """The rows of each class, and those of the population that it stands for."""
        people = Counter(self.problem.labels(row, node) for row in self.people)
        return {item: (rows, people[item]) for item, rows in self.problem.classes(node).items()}

    def unsafe(self, node: Node, requirement: Requirement) -> dict[Row, int]:
        """The classes that may not be released, with their rows; those of the population alone only if they count."""
        label = self.problem.labels
        rows, people = Counter(label(r, node) for r in self.problem.rows), Counter(label(r, node) for r in self.people)
        ills = Counter(
            name for name, _ in {(label(r, node), ill) for r, ill in zip(self.problem.rows, self.ills, strict=True)}
        )
        counted = people if requirement.least else rows
        return {item: rows[item] for item in counted if not requirement.is_safe(rows[item], people[item], ills[item])}

    def at_risk(self, node: Node, requirement: Requirement) -> int:
        """The rows at risk; a class of the population alone counts as one where every class must be safe."""
        return sum(max(rows, 1) for rows in self.unsafe(node, requirement).values())

    def loss(self, node: Node, requirement: Requirement) -> float:
        return self.loss_without(self.unsafe(node, requirement), node)

    def loss_without(self, unsafe: Container[Row], node: Node) -> float:
        """The mean loss over all rows and columns, where the rows of some classes are suppressed."""
        rows = self.problem.rows
        losses = [
            sum(1.0 if self.problem.labels(row, node) in unsafe else float(column.loss(row[j], level)) for row in rows)
            / len(rows)
            for j, (column, level) in enumerate(zip(self.problem.columns, node, strict=True))
        ]
        return sum(losses) / len(losses)


SHARES = [Fraction(1, 4), Fraction(2, 5), Fraction(1, 2), Fraction(3, 4), Fraction(1)]


@st.composite
def samples(draw: st.DrawFn, **options: Any) -> Sampled:
    problem = draw(problems(**{"most_columns": 3, **options}))
    row = st.tuples(*(st.sampled_from(list(column.leaves)) for column in problem.columns))
    others = draw(st.lists(row, max_size=30))
    return Sampled(problem, [draw(st.sampled_from("ab")) for _ in problem.rows], others)


@st.composite
def sampled(draw: st.DrawFn, **options: Any) -> tuple[Sampled, Requirement]:
    least = draw(st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 10), Fraction(3, 10)]))
    most = draw(st.sampled_from([share for share in SHARES if share >= least]))
    requirement = Requirement(
        draw(st.integers(1, 2)), draw(st.integers(1, 8)), least, most if least or most < 1 else Fraction(1)
    )
    return draw(samples(**options)), Requirement(requirement.k, requirement.k_map, least, most, draw(st.integers(1, 2)))


def counted_beside(
    engine: Engine,
    sample: Sampled,
    model: PrivacyModels,
    here: Engine | None = None,
    who: Sequence[int] = (),
    told_apart: bool = False,
) -> FrequencySet:
    """The frequency set of a sample beside its population, in an engine.

    `who`: whose each row is, first those of the sample and then the others; `told_apart`: of the population too.
    """
    problem, number = sample.problem, next(_numbers)
    names = [f"q{j}" for j in range(len(problem.columns))]
    types = ["BIGINT" if isinstance(c.levels[0][0], int) else "VARCHAR" for c in problem.columns]
    columns = dict(zip(names, types, strict=True)) | {"person": "BIGINT"}
    everybody = [(*row, person) for row, person in zip(sample.people, who or range(len(sample.people)), strict=True)]
    rows = [(*row, ill) for row, ill in zip(everybody, sample.ills, strict=False)]
    table = create_table(engine, f"sample {number}", columns | {"ill": "VARCHAR"}, rows)
    people = create_table(engine, f"people {number}", columns, everybody)
    hierarchies = {name: Hierarchy(*c.levels) for name, c in zip(names, problem.columns, strict=True)}
    builders = {name: lambda _, h=hierarchy: h for name, hierarchy in hierarchies.items()}
    beside = Population(engine, people, "person" if told_apart else None)
    try:
        tables = Scratch(here or engine)
        return build_frequency_set(engine, table, builders, tables, sensitive=model.sensitive, sampled_from=beside)
    finally:
        for item in (table, people):
            engine.run(queries.drop(item.relation, engine.dialect))


def people(rows: int, seed: int = 1) -> list[tuple[Any, ...]]:
    draw = Random(seed)
    zips = ["123", "124", "131", "222", None]
    return [(draw.choice([*range(20, 60), None]), draw.choice(zips), draw.choice("xyz")) for _ in range(rows)]
