"""Mondrian against a row-wise one in plain Python, by what no class may be, and by published figures."""

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_sql import anonymize, queries
from kanon_sql import spec as specs
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.frequency_set import build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.privacy import PrivacyModel, all_of, k_anonymity
from kanon_sql.recode.mondrian import Rule, mondrian, mondrian_relaxed
from kanon_sql.recode.task import Clock, Local, Task
from support.data import DATA, needs
from support.data import NINE as ADULT
from support.database import create_table
from support.examples import examples
from support.oracle import Column, Problem, problems

needs_adult = needs("adult/adult.csv", "adult/hierarchies/<column>.csv", "adult/uci/adult.data")
Row = tuple[Any, ...]


# The algorithm's surroundings


def task_of(
    rows: Sequence[Row],
    hierarchies: Sequence[Callable[[Sequence[Any]], Hierarchy]],
    k: int,
    weights: Sequence[float] | None = None,
    show: Sequence[str | None] | None = None,
    types: Sequence[str] | None = None,
) -> Task:
    """A task on a table of columns q0, q1, …; by their type whole numbers if there are any, else text."""
    engine = DuckDB()
    names = [f"q{j}" for j in range(len(hierarchies))]
    found_types = ["BIGINT" if any(isinstance(row[j], int) for row in rows) else "VARCHAR" for j in range(len(names))]
    table = create_table(engine, "people", dict(zip(names, types or found_types, strict=True)), rows)
    frequency_set = build_frequency_set(engine, table, dict(zip(names, hierarchies, strict=True)), Scratch(engine))
    attributes = {name: {"show": how} for name, how in zip(names, show or [None] * len(names), strict=True)}
    spec = specs.parse({"source": "people", "quasi_identifiers": attributes, "privacy": {"k": k}})
    model = all_of(k_anonymity(k))
    judge = Judge(frequency_set, model)
    lattice = Lattice((0,) * len(names), frequency_set.heights)
    weighted = tuple(weights or (1.0,) * len(names))
    return Task(
        frequency_set, model, spec, weighted, Clock(), judge, judge.costs(), lattice, lambda _: frequency_set.heights
    )


def values_of(task: Task) -> list[dict[int, Any]]:
    """Per attribute the value of every level-0 code."""
    return [
        dict(zip(a.hierarchy.codes(0), (*a.hierarchy.values, *a.hierarchy.starred), strict=True))
        for a in task.frequency_set.attributes
    ]


def classes_of(task: Task) -> list[Counter[Row]]:
    """The classes of an assignment: the rows of each, by their values; in order, so that two can be compared."""
    codes = [a.coded.code_column(0) for a in task.frequency_set.attributes]
    query = queries.text("core/copy", "duckdb", columns=[*codes, "n", "class"], source=task.results["assignment"])
    values, classes = values_of(task), defaultdict(Counter)
    for *tuple_codes, n, number in task.engine.rows(query):
        classes[number][tuple(known[code] for known, code in zip(values, tuple_codes, strict=True))] += n
    return in_order(classes.values())


def in_order(classes: Any) -> list[Counter[Row]]:
    return sorted(classes, key=lambda members: sorted(map(repr, members.items())))


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
    rule: Rule

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

FEW = examples(30)
rules = st.builds(Rule, choose=st.sampled_from(["gain", "width"]), median_only=st.booleans(), leftover=st.booleans())
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
def test_strict_is_the_row_wise_algorithm(problem: Problem, rule: Rule, weights: list[float]) -> None:
    task = task_for(problem, weights)
    local = mondrian(task, rule)
    assert (local.split, local.ended) == (False, "complete")
    assert classes_of(task) == Oracle(attributes_of(problem, weights), problem.k, rule).classes(problem.rows)


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
@example(_REST, Rule(choose="width"), [1.0] * 4)
def test_relaxed_is_the_row_wise_algorithm(problem: Problem, rule: Rule, weights: list[float]) -> None:
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
        "core/copy", "duckdb", columns=[*codes, "n", "first", "last"], source=task.results["assignment"]
    )
    places: dict[Row, list[int]] = defaultdict(list)
    for *values, n, first, last in task.engine.rows(query):
        assert last - first + 1 == n
        places[tuple(values)] += range(first, last + 1)
    counts = queries.text("core/copy", "duckdb", columns=[*codes, "n"], source=task.frequency_set.relation)
    for *values, n in task.engine.rows(counts):
        assert sorted(places[tuple(values)]) == list(range(1, n + 1))


@FEW
@given(problems(strays=True, most_rows=40), weightings, st.sampled_from(["gain", "width"]))
def test_no_class_of_strict_can_be_cut_in_two_safe_sides(problem: Problem, weights: list[float], choose: Any) -> None:
    """Any prefix of an ordered attribute, and any child of the lowest common node, against all the rest."""
    task = task_for(problem, weights)
    mondrian(task, Rule(choose=choose))
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
def test_what_is_not_known_to_be_safe_is_no_class(problem: Problem, recode: Callable[[Task], Local]) -> None:
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


def stopped_after_one_round() -> Clock:
    """What Ctrl-C does in the first round."""
    clock = Clock()
    clock.watch = lambda _: setattr(clock, "interrupted", True)
    return clock


@pytest.mark.parametrize("recode", [mondrian, mondrian_relaxed])
def test_whoever_has_no_time_gets_one_safe_class(recode: Callable[[Task], Local]) -> None:
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
        mondrian(task, Rule(inherited=True, choose="width"))


# The regions that classes were cut to


@pytest.mark.slow
def test_the_region_of_a_class_is_what_it_was_cut_to() -> None:
    """Ages in tens up to 50, of which 10 and 40 occur: the cut is between them; towns by their country."""
    rows = [(10, "Bern"), (10, "Bern"), (40, "Bern"), (40, "Graz"), (40, "Graz")]
    ages = h.from_rows([[str(age), "*"] for age in (0, 10, 20, 40, 50)], "q0")
    towns = h.from_rows([["Bern", "CH", "*"], ["Thun", "CH", "*"], ["Graz", "AT", "*"]], "q1")
    build = [lambda _: h.convert(ages, "integer", "q0"), lambda _: towns]
    by_age, by_town = Rule(choose="width"), Rule(choose="gain")
    for show, rule, expected in (
        ("ranges", by_age, [(0, 1, 0, 2), (2, 4, 0, 2)]),
        ("labels", by_age, [(1, 1, 0, 2), (3, 3, 0, 2)]),
        ("ranges", by_town, [(0, 4, 0, 1), (0, 4, 2, 2)]),
    ):
        task = task_of(rows, build, 2, show=[show, "labels"])
        local = mondrian(task, rule)
        assert local.cuts is not None
        cuts = queries.text("core/copy", "duckdb", columns=["low_0", "high_0", "low_1", "high_1"], source=local.cuts)
        assert sorted(task.engine.rows(cuts)) == expected
    assert mondrian(task_of(rows, build, 2)).cuts is None


# Published examples and figures

PAPER = Rule(choose="width", median_only=True)


def by_order(rows: Sequence[Row], k: int, rule: Rule) -> tuple[Task, Rule]:
    """A task whose columns are all cut by order, and the rule for it; text is in the order of first appearance."""

    def build(j: int) -> Callable[[Sequence[Any]], Hierarchy]:
        values = list(dict.fromkeys(row[j] for row in rows))
        if isinstance(values[0], int):
            return lambda leaves: recipes.suppress(leaves, f"q{j}")
        return lambda _: h.from_rows([[value, "*"] for value in values], f"q{j}")

    columns = range(len(rows[0]))
    task = task_of(rows, [build(j) for j in columns], k)
    return task, replace(rule, ordered=[f"q{j}" for j in columns])


def sizes_of(task: Task) -> list[int]:
    return sorted(members.total() for members in classes_of(task))


def test_the_median_of_six() -> None:
    """1, 2, 3, 3, 4, 5: strict keeps both threes on the left, relaxed deals them, in their first cut."""
    rows = [(value,) for value in (1, 2, 3, 3, 4, 5)]
    task, rule = by_order(rows, 2, PAPER)
    for recode, expected in (
        (mondrian, [[(1,), (2,), (3,), (3,)], [(4,), (5,)]]),
        (mondrian_relaxed, [[(1,), (2,), (3,)], [(3,), (4,), (5,)]]),
    ):
        recode(replace(task, clock=stopped_after_one_round()), rule)
        assert [sorted(members.elements()) for members in classes_of(task)] == expected


EIGHT = [(6, 1), (6, 1), (8, 2), (8, 2), (4, 1), (4, 2), (4, 3), (4, 4)]
NINE = [(6, 1), (8, 1), (8, 1), (8, 1), (8, 1), (4, 1), (4, 2), (4, 3), (4, 4)]


@pytest.mark.parametrize(
    ("rows", "recode", "ncp"),
    [
        (EIGHT, mondrian, 100 / 12),
        (EIGHT, mondrian_relaxed, 100 / 12),
        (NINE, mondrian, 2300 / 108),
        (NINE, mondrian_relaxed, 700 / 54),
    ],
)
def test_small_tables_of_gong(rows: list[Row], recode: Callable[[Task, Rule], Local], ncp: float) -> None:
    """The tables of the tests of Q. Gong's implementation, k = 2, and their normalized certainty penalty in percent."""
    task, rule = by_order(rows, 2, replace(PAPER, inherited=True))
    assert 100 * recode(task, rule).facts["ncp"] == pytest.approx(ncp)


@cache
def gong_adult() -> list[Row]:
    """Adult's complete rows as Q. Gong takes them: eight columns, two of them numbers."""
    with open(DATA / "adult" / "uci" / "adult.data", encoding="utf-8") as file:
        rows = [[field.strip() for field in row] for row in csv.reader(file) if len(row) == 15]
    columns, numbers = (0, 1, 4, 5, 6, 8, 9, 13), (0, 4)
    return [tuple(int(row[i]) if i in numbers else row[i] for i in columns) for row in rows if "?" not in row]


@needs_adult
@pytest.mark.parametrize(
    ("k", "ncp", "classes"),
    [
        (2, 4.9732, 7213),
        (5, 8.3025, 3271),
        (10, 11.2435, 1795),
        (25, 16.3493, 776),
        (50, 22.1577, 402),
        (100, 30.0858, 205),
    ],
)
@pytest.mark.slow
def test_strict_on_adult_is_as_gong_found(k: int, ncp: float, classes: int) -> None:
    task, rule = by_order(gong_adult(), k, replace(PAPER, inherited=True))
    assert 100 * mondrian(task, rule).facts["ncp"] == pytest.approx(ncp, abs=5e-5)
    sizes = sizes_of(task)
    assert len(sizes) == classes
    assert sizes[0] >= k
    assert k != 10 or sum(size**2 for size in sizes) == 673_672


@needs_adult
@pytest.mark.parametrize(
    ("columns", "ncp"),
    [(1, 0.4677), (2, 15.5207), (3, 18.1250), (4, 15.0652), (5, 12.3774), (6, 11.2588), (7, 11.6840)],
)
@pytest.mark.slow
def test_strict_on_the_first_columns_of_adult_is_as_gong_found(columns: int, ncp: float) -> None:
    task, rule = by_order([row[:columns] for row in gong_adult()], 10, replace(PAPER, inherited=True))
    assert 100 * mondrian(task, rule).facts["ncp"] == pytest.approx(ncp, abs=5e-5)
    assert columns > 1 or len(sizes_of(task)) == 58


@needs_adult
@pytest.mark.parametrize(
    ("k", "ncp", "classes"),
    [
        (2, 3.5434, 13735),
        (5, 10.6394, 4096),
        (10, 15.8470, 2048),
        (25, 22.3183, 1024),
        (50, 30.0727, 512),
        (100, 38.9408, 256),
    ],
)
@pytest.mark.slow
def test_relaxed_on_adult_is_as_gong_found(k: int, ncp: float, classes: int) -> None:
    """Which of the rows equal to the median go where depends on the order of the file, so here every row is a tuple."""
    rows = gong_adult()
    task, rule = by_order(rows, k, replace(PAPER, inherited=True, dealt_in=["row"]))
    attributes = task.frequency_set.attributes
    codes = [dict(zip(a.hierarchy.values, a.hierarchy.codes(0), strict=True)) for a in attributes]
    columns = {a.coded.code_column(0): [codes[j][row[j]] for row in rows] for j, a in enumerate(attributes)}
    columns |= {"n": [1] * len(rows), "row": list(range(len(rows)))}
    each = queries.scratch("each_row")
    task.engine.load(each, dict.fromkeys(columns, "BIGINT"), list(columns.values()))
    task = replace(task, frequency_set=replace(task.frequency_set, relation=each))
    assert 100 * mondrian_relaxed(task, rule).facts["ncp"] == pytest.approx(ncp, abs=5e-5)
    assert len(sizes_of(task)) == classes


@needs_adult
@pytest.mark.parametrize(("strategy", "most"), [("mondrian", 0.0511), ("mondrian_relaxed", 0.0505)])
@pytest.mark.slow
def test_adult_loses_half_of_what_a_median_cut_in_every_attribute_does(strategy: str, most: float) -> None:
    release = anonymize(
        DATA / "adult" / "adult.csv",
        quasi_identifiers=ADULT,
        hierarchies=DATA / "adult" / "hierarchies",
        k=5,
        strategy=strategy,
        show="exact-ranges",
    )
    manifest = release.manifest
    assert manifest["verified"]
    assert manifest["suppressed_rows"] == 0
    assert manifest["smallest_class"] >= 5
    assert manifest["information_loss"]["loss"] <= most
