"""PrioPrivacy's task on a problem, and the release of its classes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations, product
from math import prod
from typing import Any

from hypothesis import strategies as st

from kanon_sql import queries
from kanon_sql import spec as specs
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.privacy import PrivacyModels, all_of, k_anonymity
from kanon_sql.recode import Clock, Local, Task
from kanon_sql.spec import Spec
from support.database import create_table
from support.examples import examples
from support.oracle import Column, Problem, Row, problems

FEW = examples(40)
Released = dict[Row, tuple[Row, int]]  # every distinct tuple with its labels as text, and its rows


# The published algorithm, read from its paper and from its program


def rules_of(column: Column) -> list[list[tuple[set[Any], str]]]:
    """Level by level the rules: (values, label), in the order of the leaves; no rule makes what the top is."""
    top = next(iter(column.leaves.values()))[-1]
    levels = []
    for level in range(1, column.height):
        values_of: dict[str, set[Any]] = {}
        for value, labels in column.leaves.items():
            if labels[level] not in ("*", None, top):
                values_of.setdefault(labels[level], set()).add(value)
        levels.append([(values, label) for label, values in values_of.items()])
    return levels


def java_order(sets: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Put the texts into a hash table of Java, one after another; it doubles when it is three quarters full."""
    capacity, table = 16, [[] for _ in range(16)]
    for number, places in enumerate(sets, start=1):
        table[_hash(places) % capacity].append(places)
        if number > capacity * 0.75:
            capacity *= 2
            old, table = table, [[] for _ in range(capacity)]
            for bucket in old:
                for moved in bucket:
                    table[_hash(moved) % capacity].append(moved)
    return [places for bucket in table for places in bucket]


def _hash(places: tuple[int, ...]) -> int:
    text = " ".join(map(str, places))
    code = sum(ord(c) * 31 ** (len(text) - 1 - i) for i, c in enumerate(text)) % 2**32
    return code ^ code // 2**16


class Published:
    """One run, row by row and combination by combination."""

    def __init__(self, problem: Problem, priorities: Sequence[int], order: str) -> None:
        self.rows, self.k, self.order = list(problem.rows), problem.k, order
        self.rules = [rules_of(column) for column in problem.columns]
        self.domains = [len(column.leaves) for column in problem.columns]
        counts = Counter(self.rows)
        self.unsafe = {i for i, row in enumerate(self.rows) if counts[row] < self.k}
        self.out = [tuple("NULL" if v is None else str(v) for v in row) for row in self.rows]
        joined: list[int] = []
        for priority in sorted(set(priorities), reverse=True):
            for j in [j for j, p in enumerate(priorities) if p == priority]:
                joined.append(j)
                self.generalize(sorted(joined))
                self.suppress(joined)
        for i in self.unsafe:
            self.out[i] = ("*",) * len(self.domains)

    def generalize(self, joined: list[int]) -> None:
        level = 1
        while ruled := [j for j in joined if level <= len(self.rules[j])]:
            for size in range(1, len(ruled) + 1):
                chosen = [
                    dict(zip(columns, rules, strict=True))
                    for columns in combinations(ruled, size)
                    for rules in product(*(self.rules[j][level - 1] for j in columns))
                ]
                while self.take_largest(chosen):
                    pass
            level += 1

    def take_largest(self, chosen: list[dict[int, tuple[set[Any], str]]]) -> bool:
        best, size = None, self.k - 1
        for combination in chosen:
            groups = Counter(self.transformed(i, combination) for i in self.unsafe)
            if groups and max(groups.values()) > size:
                best, size, largest = combination, max(groups.values()), groups
        if best is None:
            return False
        for i in [i for i in self.unsafe if largest[self.transformed(i, best)] == size]:
            self.out[i] = tuple(text for _, text in self.transformed(i, best))
            self.unsafe.remove(i)
        return True

    def transformed(self, i: int, combination: Mapping[int, tuple[set[Any], str]]) -> Row:
        cells = []
        for j, value in enumerate(self.rows[i]):
            values, label = combination.get(j, ((), ""))
            cells.append(("label", label) if value in values else ("value", "NULL" if value is None else str(value)))
        return tuple(cells)

    def suppress(self, joined: list[int]) -> None:
        k, done = self.k, {}
        for size in range(1, len(joined) + 1):
            in_order = joined if self.order == "published" else sorted(joined)
            sets = [columns for columns in combinations(in_order, size) if joined[-1] in columns]
            for i in self.unsafe - set(done):
                for hidden in java_order(sets) if self.order == "published" else sets:
                    kept = [j for j in range(len(self.domains)) if j not in hidden]
                    alike = [row for row in self.rows if all(row[j] == self.rows[i][j] for j in kept)]
                    n, domain = len(alike), prod(self.domains[j] for j in hidden)
                    others = len(set(alike) - {self.rows[i]})
                    if n - 1 >= k - 1 and domain > k and (n - 1 < domain - k or domain - others >= k):
                        done[i] = tuple("*" if j in hidden else self.out[i][j] for j in range(len(self.domains)))
                        break
        for i, shown in done.items():
            self.out[i] = shown
            self.unsafe.remove(i)


# What the package makes of the same


def counted(engine: DuckDB, problem: Problem) -> FrequencySet:
    existing = engine.find("people")
    if existing:
        engine.run(queries.drop(existing.relation, engine.dialect))
    types = {name: _type(column) for name, column in zip(problem.names, problem.columns, strict=True)}
    table = create_table(engine, "people", types, problem.rows)
    builders = {
        name: partial(h.cover, Hierarchy(*column.levels), column=name)
        for name, column in zip(problem.names, problem.columns, strict=True)
    }
    return build_frequency_set(engine, table, builders, Scratch(engine))


def _type(column: Column) -> str:
    return "BIGINT" if any(isinstance(value, int) for value in column.leaves) else "VARCHAR"


def spec_of(problem: Problem, priorities: Sequence[int | None], **more: Any) -> Spec:
    columns = {
        name: {} if priority is None else {"priority": priority}
        for name, priority in zip(problem.names, priorities, strict=True)
    }
    return specs.parse({"source": "people", "quasi_identifiers": columns, "privacy": {"k": problem.k}, **more})


def task_of(
    frequency_set: FrequencySet, spec: Spec, model: PrivacyModels | None = None, clock: Clock | None = None
) -> Task:
    model = model or all_of(k_anonymity(spec.privacy.k))
    judge = Judge(frequency_set, model)
    lattice = Lattice((0,) * len(frequency_set.heights), frequency_set.heights)
    weights = (1.0,) * len(frequency_set.heights)
    return Task(
        frequency_set, model, spec, weights, clock or Clock(), judge, judge.costs(), lattice, lambda _: lattice.top
    )


def released(frequency_set: FrequencySet, local: Local) -> Released:
    """Every distinct tuple with its labels, NULL as text, straight from the two relations."""
    assert local.classes is not None
    places = range(len(frequency_set.attributes))
    shown = {
        row[0]: tuple("NULL" if label is None else label for label in row[1:])
        for row in frequency_set.engine.rows(
            _select(frequency_set, local.classes, ["class", *(f"label_{j}" for j in places)])
        )
    }
    values = [dict(zip(a.hierarchy.codes(0), a.hierarchy.values, strict=False)) for a in frequency_set.attributes]
    columns = [a.coded.code_column(0) for a in frequency_set.attributes]
    rows = frequency_set.engine.rows(_select(frequency_set, local.assignment, [*columns, "class", "n"]))
    return {tuple(values[j][code] for j, code in enumerate(codes)): (shown[number], n) for *codes, number, n in rows}


def _select(frequency_set: FrequencySet, relation: queries.Relation, columns: Sequence[str]) -> str:
    return queries.text("frequency_sets/copy", frequency_set.engine.dialect, columns=list(columns), source=relation)


@st.composite
def ranked(draw: st.DrawFn, most_columns: int = 3) -> tuple[Problem, list[int]]:
    problem = draw(problems(most_columns=most_columns, fewest_columns=1, most_rows=20))
    return problem, [draw(st.integers(1, 3)) for _ in problem.columns]


def stands_for(row: Row, original: Row, columns: Sequence[Column]) -> bool:
    """A cell fits as `*`, as the value itself, or as a label that a rule makes of the value."""
    return all(
        cell in ("*", "NULL" if value is None else str(value))
        or any(value in values and cell == label for level in rules_of(column) for values, label in level)
        for cell, value, column in zip(row, original, columns, strict=True)
    )
