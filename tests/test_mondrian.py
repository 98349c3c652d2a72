"""Mondrian against a row-wise implementation in plain Python, written from the paper's text."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_sql import queries
from kanon_sql.errors import InfeasibleError
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy import PrivacyModel, all_of
from kanon_sql.recode.mondrian import CutRule, mondrian, mondrian_relaxed
from kanon_sql.recode.task import Clock, Local, Task
from support.examples import examples
from support.mondrian import Row, classes_of, in_order, stopped_after_one_round, task_of, values_of
from support.oracle import Column, Problem, problems

# Mondrian row by row, from the paper's text


@dataclass(frozen=True)
class Attribute:
    """A column as the oracle sees it: a line of numbers, or a tree."""

    column: Column
    ordered: bool
    weight: float
    data: Sequence[Any]

    @property
    def most(self) -> int:
        return max(1, len(self.column.leaves) - 1)

    def place(self, value: Any) -> int:
        """NULL first, then the leaves by number, then what is no leaf."""
        if value not in self.column.leaves:
            return len(self.column.leaves)
        return sorted(self.column.leaves, key=lambda leaf: (leaf is not None, leaf or 0)).index(value)

    def odd(self, value: Any) -> bool:
        return value is None or value not in self.column.leaves

    def leaves(self, values: Sequence[Any]) -> int:
        """How many leaves beyond one the values may stand for, shown together."""
        if self.ordered:
            if any(self.odd(value) for value in values) and len(set(values)) > 1:
                return self.most
            return max(map(self.place, values)) - min(map(self.place, values))
        level = self.level(values)
        return self.under(values[0], level) - 1

    def under(self, value: Any, level: int) -> int:
        """The leaves under a value's label; what is no leaf may be any."""
        if value not in self.column.leaves:
            return len(self.column.leaves)
        label = self.column.label(value, level)
        return sum(labels[level] == label for labels in self.column.leaves.values())

    def level(self, values: Sequence[Any]) -> int:
        """The lowest level on which all have one label."""
        levels = range(self.column.height + 1)
        return next(level for level in levels if len({self.column.label(value, level) for value in values}) == 1)

    def width(self, values: Sequence[Any]) -> float:
        if not self.ordered:
            leaves = self.under(values[0], self.level(values))
            return self.weight * (leaves / len(self.column.leaves) if leaves > 1 else 0)
        known = [value for value in self.data if not self.odd(value)]
        width = max(known, default=0) - min(known, default=0) or 1
        if any(map(self.odd, values)) and len(set(values)) > 1:
            return self.weight
        return self.weight * ((max(values) - min(values)) / width if len(set(values)) > 1 else 0)


@dataclass(frozen=True)
class Oracle:
    """Strict Mondrian, one partition after another."""

    attributes: Sequence[Attribute]
    k: int
    rule: CutRule

    def classes(self, rows: Sequence[Row]) -> list[Counter[Row]]:
        return in_order(map(Counter, self.partitions(rows)))

    def partitions(self, rows: Sequence[Row]) -> list[list[Row]]:
        done, left = [], [list(rows)]
        while left:
            rows = left.pop()
            cuts = [(j, parts) for j in range(len(self.attributes)) if (parts := self.cut(j, rows))]
            if not cuts:
                done.append(rows)
                continue
            _, parts = max(cuts, key=lambda cut: (self.worth(rows, *cut), -cut[0]))
            left += parts
        return done

    def worth(self, rows: Sequence[Row], j: int, parts: Sequence[Sequence[Row]]) -> float:
        attribute = self.attributes[j]
        values = [row[j] for row in rows]
        if self.rule.choose == "width":
            return attribute.width(values)
        if attribute.ordered:
            saved = len(rows) * attribute.leaves(values)
            saved -= sum(len(part) * attribute.leaves([row[j] for row in part]) for part in parts)
        else:
            level = attribute.level(values)
            alone = [part for part in parts if attribute.level([row[j] for row in part]) < level]
            whole = attribute.under(values[0], level)
            saved = sum(len(part) * (whole - attribute.under(part[0][j], level - 1)) for part in alone)
        return attribute.weight * saved / attribute.most

    def cut(self, j: int, rows: Sequence[Row]) -> list[list[Row]]:
        """The parts that a partition is cut into by an attribute; none where it cannot be."""
        return self.ordered(j, rows) if self.attributes[j].ordered else self.branches(j, rows)

    def ordered(self, j: int, rows: Sequence[Row]) -> list[list[Row]]:
        attribute = self.attributes[j]
        places = sorted({attribute.place(row[j]) for row in rows})
        cuts = []
        for place, after in pairwise(places):
            left = [row for row in rows if attribute.place(row[j]) <= place]
            right = [row for row in rows if attribute.place(row[j]) > place]
            before = sum(attribute.place(row[j]) < place for row in rows)
            median = len(left) >= len(rows) // 2 > before
            if min(len(left), len(right)) >= self.k and (median or not self.rule.median_only):
                odd = any(attribute.odd(row[j]) for row in rows if attribute.place(row[j]) in (place, after))
                cuts.append((not odd, abs(len(left) - len(right)), place, [left, right]))
        return min(cuts)[-1] if cuts else []

    def branches(self, j: int, rows: Sequence[Row]) -> list[list[Row]]:
        attribute = self.attributes[j]
        level = attribute.level([row[j] for row in rows])
        if level == 0:
            return []
        children = defaultdict(list)
        for row in rows:
            children[attribute.column.label(row[j], level - 1)].append(row)
        labels = [attribute.column.label(leaf, level - 1) for leaf in attribute.column.leaves]
        first = {label: labels.index(label) for label in labels}
        ordered = sorted(children, key=lambda label: (-len(children[label]), -first.get(label, len(labels))))
        safe = [label for label in ordered if len(children[label]) >= self.k]
        too_few = len(rows) - sum(len(children[label]) for label in safe)
        if too_few and not self.rule.leftover:
            return []
        if 0 < too_few < self.k and safe:
            safe.pop()
        # In their order, in which they are dealt.
        rest = [row for row in rows if attribute.column.label(row[j], level - 1) not in safe]
        return [children[label] for label in safe] + ([rest] if rest else []) if safe else []


class RelaxedOracle(Oracle):
    """Rows equal to the median are dealt: the last of them first, to the left, until it is half of all."""

    def ordered(self, j: int, rows: Sequence[Row]) -> list[list[Row]]:
        place = self.attributes[j].place
        half = len(rows) // 2
        median = sorted(place(row[j]) for row in rows)[half - 1]
        left = [row for row in rows if place(row[j]) < median]
        equal = [row for row in rows if place(row[j]) == median]
        right = [row for row in rows if place(row[j]) > median]
        while len(left) < half:
            left.append(equal.pop())
        allowed = half >= self.k and len({row[j] for row in rows}) > 1
        return [left, right + equal] if allowed else []


# Random tables

FEW = examples(15)
rules = st.builds(CutRule, choose=st.sampled_from(["gain", "width"]), median_only=st.booleans(), leftover=st.booleans())
weightings = st.lists(st.sampled_from([1.0, 0.5, 0.3]), min_size=4, max_size=4)


def fitted(column: Column) -> Callable[[Sequence[Any]], Hierarchy]:
    return lambda values: h.cover(Hierarchy(*column.levels), values, "q", unmapped="top")


def numeric(column: Column) -> bool:
    return isinstance(next(iter(column.leaves)), int)


def task_for(problem: Problem, weights: Sequence[float] = (1.0,) * 4, k: int | None = None) -> Task:
    types = ["BIGINT" if numeric(column) else "VARCHAR" for column in problem.columns]
    weights = weights[: len(problem.columns)]
    return task_of(problem.rows, [fitted(c) for c in problem.columns], k or problem.k, weights, types=types)


def attributes_of(problem: Problem, weights: Sequence[float] = (1.0,) * 4) -> list[Attribute]:
    return [
        Attribute(column, numeric(column), weights[j], [row[j] for row in problem.rows])
        for j, column in enumerate(problem.columns)
    ]


@FEW
@given(problems(strays=True, most_rows=40), rules, weightings)
@pytest.mark.slow
def test_strict_is_the_row_wise_algorithm(problem: Problem, rule: CutRule, weights: list[float]) -> None:
    task = task_for(problem, weights)
    local = mondrian(task, rule)
    assert (local.split, local.ended) == (False, "complete")
    assert classes_of(task) == Oracle(attributes_of(problem, weights), problem.k, rule).classes(problem.rows)


@FEW
@given(problems(strays=True, most_rows=40), weightings)
def test_rounds_on_arrays_are_the_row_wise_algorithm(problem: Problem, weights: list[float]) -> None:
    task = task_for(problem, weights)
    mondrian(task)
    assert classes_of(task) == Oracle(attributes_of(problem, weights), problem.k, CutRule()).classes(problem.rows)


# A rest of children with 1, 2, 2 and 1 rows, whose rows keep their order when they are dealt afterwards.
_REST = Problem(
    rows=[("a", 0)] * 3 + [("b", 0)] + [("c", 0)] * 2 + [("d", 0)] * 2 + [("e", 1)],
    columns=[
        Column({leaf: (leaf, "*") for leaf in "abcde"}),
        Column({leaf: (leaf, "*") for leaf in (0, 1)}),
    ],
    k=3,
    limit=0.0,
)


@FEW
@given(problems(strays=True, most_rows=40), rules, weightings)
@example(_REST, CutRule(choose="width"), [1.0] * 4)
def test_relaxed_is_the_row_wise_algorithm(problem: Problem, rule: CutRule, weights: list[float]) -> None:
    task = task_for(problem, weights)
    local = mondrian_relaxed(task, rule)
    codes = [{value: code for code, value in known.items()} for known in values_of(task)]
    dealt = sorted(problem.rows, key=lambda row: [code[value] for code, value in zip(codes, row, strict=True)])
    assert (local.split, local.ended) == (True, "complete")
    assert classes_of(task) == RelaxedOracle(attributes_of(problem, weights), problem.k, rule).classes(dealt)
    check_places(task)


def check_places(task: Task) -> None:
    """The parts of a tuple that is split are its rows, each once."""
    codes = [a.coded.code_column(0) for a in task.frequency_set.attributes]
    query = queries.text(
        "frequency_sets/copy", "duckdb", columns=[*codes, "n", "first", "last"], source=task.results["assignment"]
    )
    places: dict[Row, list[int]] = defaultdict(list)
    for *values, n, first, last in task.engine.rows(query):
        assert last - first + 1 == n
        places[tuple(values)] += range(first, last + 1)
    counts = queries.text("frequency_sets/copy", "duckdb", columns=[*codes, "n"], source=task.frequency_set.relation)
    for *values, n in task.engine.rows(counts):
        assert sorted(places[tuple(values)]) == list(range(1, n + 1))


@FEW
@given(problems(strays=True, most_rows=40), weightings, st.sampled_from(["gain", "width"]))
def test_no_class_of_strict_can_be_split_into_two_safe_parts(
    problem: Problem, weights: list[float], choose: Any
) -> None:
    """Any prefix of an ordered attribute, and any child of the lowest common node, against all the rest."""
    task = task_for(problem, weights)
    mondrian(task, CutRule(choose=choose))
    for members in classes_of(task):
        rows = list(members.elements())
        assert len(rows) >= problem.k
        for j, attribute in enumerate(attributes_of(problem, weights)):
            values = [row[j] for row in rows]
            if attribute.ordered:
                sides = [[attribute.place(v) <= attribute.place(cut) for v in values] for cut in values]
            else:
                below = max(0, attribute.level(values) - 1)
                labels = [attribute.column.label(value, below) for value in values]
                sides = [[label == cut for label in labels] for cut in labels]
            assert not any(sum(side) >= problem.k and side.count(False) >= problem.k for side in sides)


@FEW
@given(problems(most_rows=40), st.sampled_from([mondrian, mondrian_relaxed]))
def test_rows_of_unknown_safety_do_not_form_a_class(problem: Problem, recode: Callable[[Task], Local]) -> None:
    """A model that says nothing of three rows, and promises nothing of what is merged."""
    task = task_for(problem)
    three = {"three": 3, "two": 2}
    odd = PrivacyModel("not three", three, {"rows": "SUM(n)"}, "NULLIF(rows, $three) >= $two")
    task = replace(task, model=all_of(odd))
    if len(problem.rows) in (1, 3):
        with pytest.raises(InfeasibleError, match="do not meet not three"):
            recode(task)
        return
    recode(task)
    sizes = [members.total() for members in classes_of(task)]
    assert sum(sizes) == len(problem.rows)
    assert not set(sizes) & {1, 3}


@pytest.mark.parametrize("recode", [mondrian, mondrian_relaxed])
def test_without_time_the_result_is_one_safe_class(recode: Callable[[Task], Local]) -> None:
    task = task_of([(i % 7,) for i in range(30)], [lambda values: recipes.suppress(values, "q0")], 3)
    local = recode(replace(task, clock=Clock(0.0)))
    assert local.ended == "time limit"
    assert [members.total() for members in classes_of(task)] == [30]
    assert not task.engine.rows("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'kanon%order%'")
    local = recode(replace(task, clock=stopped_after_one_round()))
    assert (local.ended, local.facts["rounds"]) == ("interrupted", 1)
    assert len(classes_of(task)) == 2


@pytest.mark.parametrize("recode", [mondrian, mondrian_relaxed])
def test_a_table_below_k_is_refused(recode: Callable[[Task], Local]) -> None:
    task = task_of([(1,), (2,)], [lambda values: recipes.suppress(values, "q0")], 3)
    with pytest.raises(InfeasibleError, match="all 2 rows together do not meet k-anonymity"):
        recode(task)


def test_inherited_widths_are_of_ordered_columns() -> None:
    task = task_of([("a",), ("b",)], [lambda values: recipes.suppress(values, "q0")], 1)
    with pytest.raises(ValueError, match="ordered columns only"):
        mondrian(task, CutRule(inherited=True, choose="width"))


# The regions that classes were cut to


@pytest.mark.slow
def test_the_region_of_a_class_is_what_it_was_cut_to() -> None:
    """Ages in tens up to 50, of which 10 and 40 occur: the cut is between them; towns by their country."""
    rows = [(10, "Bern"), (10, "Bern"), (40, "Bern"), (40, "Graz"), (40, "Graz")]
    ages = h.from_rows([[str(age), "*"] for age in (0, 10, 20, 40, 50)], "q0")
    towns = h.from_rows([["Bern", "CH", "*"], ["Thun", "CH", "*"], ["Graz", "AT", "*"]], "q1")
    build = [lambda _: h.convert(ages, "integer", "q0"), lambda _: towns]
    by_age, by_town = CutRule(choose="width"), CutRule(choose="gain")
    for show, rule, expected in (
        ("ranges", by_age, [(0, 1, 0, 2), (2, 4, 0, 2)]),
        ("labels", by_age, [(1, 1, 0, 2), (3, 3, 0, 2)]),
        ("ranges", by_town, [(0, 4, 0, 1), (0, 4, 2, 2)]),
    ):
        task = task_of(rows, build, 2, show=[show, "labels"])
        local = mondrian(task, rule)
        assert local.cuts is not None
        cuts = queries.text(
            "frequency_sets/copy", "duckdb", columns=["low_0", "high_0", "low_1", "high_1"], source=local.cuts
        )
        assert sorted(task.engine.rows(cuts)) == expected
    assert mondrian(task_of(rows, build, 2)).cuts is None
