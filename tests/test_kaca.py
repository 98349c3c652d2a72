"""KACA against plain Python on small random tables, its guarantees on any table, and weighted hierarchical distance."""

import importlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from hashlib import md5
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import anonymize, queries
from kanon_sql import spec as specs
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import hierarchical_distances
from kanon_sql.privacy import PrivacyModel, all_of, k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.recode import Clock, Rounds, Task
from kanon_sql.recode.kaca import kaca
from support.counting import EXAMPLES, counted
from support.data import DATA, needs_adult
from support.examples import examples
from support.oracle import Column, Problem, problems

module = importlib.import_module("kanon_sql.recode.kaca")
mondrian = importlib.import_module("kanon_sql.recode.mondrian")
BETAS, WEIGHTS, BLOCKS = (
    st.sampled_from([0.0, 1.0, 2.5]),
    st.sampled_from([1.0, 0.5, 0.07]),
    st.sampled_from([1, 3, 999]),
)


# The paper in plain Python

Cells = tuple[tuple[int, Any], ...]  # per attribute the level and the label on it


@dataclass
class Class:
    """A class: the level of each of its cells, one of its tuples, and how many rows of which tuples it has."""

    levels: tuple[int, ...]
    example: tuple[Any, ...]
    parts: Counter[int]

    @property
    def n(self) -> int:
        return sum(self.parts.values())


class Paper:
    """KACA on a problem's rows; distances in millionths, as rounded sums would not tell what is equally near."""

    def __init__(self, problem: Problem, seed: int, beta: float, weights: Sequence[float], batch: int | None) -> None:
        self.problem, self.seed, self.batch = problem, seed, batch
        self.up_to = [rounded(column, beta, weight) for column, weight in zip(problem.columns, weights, strict=False)]
        ordered = sorted(Counter(map(self.seen, problem.rows)).items())
        self.tuples = [codes for codes, _ in ordered]
        raw = {self.seen(row): row for row in problem.rows}
        bottom = (0,) * len(problem.columns)
        self.classes = {i: Class(bottom, raw[codes], Counter({i: n})) for i, (codes, n) in enumerate(ordered)}

    def seen(self, row: Sequence[Any]) -> tuple[int, ...]:
        """The codes of a row: the place of each value among the leaves, or after them."""
        leaves = [list(column.leaves) for column in self.problem.columns]
        return tuple(of.index(x) if x in of else len(of) for of, x in zip(leaves, row, strict=True))

    def run(self) -> dict[tuple[tuple[int, ...], int], int]:
        """How many rows of which tuple are in which class."""
        number = 0
        while unsafe := [i for i, members in self.classes.items() if members.n < self.problem.k]:
            text = f"{self.seed}|{number}|"
            self.place = {i: (md5(f"{text}{i}".encode()).hexdigest(), i) for i in self.classes}
            seekers = sorted(unsafe, key=self.place.__getitem__)[: self.batch]
            wanted = sorted((self.nearest(i) for i in seekers), key=lambda want: (want[0], self.place[want[1]]))
            self.merge([(i, target) for _, i, target in wanted])
            number += 1
        rows = ((self.tuples[t], i, n) for i, members in self.classes.items() for t, n in members.parts.items())
        return {(codes, i): n for codes, i, n in rows}

    def nearest(self, i: int) -> tuple[int, int, int]:
        others = ((self.distance(i, j), self.place[j], j) for j in self.classes if j != i)
        distance, _, j = min(others)
        return distance, i, j

    def distance(self, i: int, j: int) -> int:
        joint = self.cost(self.closest([self.classes[i], self.classes[j]]))
        return sum(members.n * (joint - self.cost(members.levels)) for members in (self.classes[i], self.classes[j]))

    def cost(self, levels: Sequence[int]) -> int:
        return sum(costs[level] for costs, level in zip(self.up_to, levels, strict=True))

    def closest(self, classes: Sequence[Class]) -> tuple[int, ...]:
        """The levels of the closest common generalization."""
        return tuple(
            next(
                level
                for level in range(max(class_.levels[j] for class_ in classes), column.height + 1)
                if len({column.label(class_.example[j], level) for class_ in classes}) == 1
            )
            for j, column in enumerate(self.problem.columns)
        )

    def merge(self, wanted: Sequence[tuple[int, int]]) -> None:
        """Do those that are the first to touch both their classes, or take a stub where the first took one too."""
        k, sizes = self.problem.k, {i: members.n for i, members in self.classes.items()}
        stubs = {(i, j): sizes[i] + sizes[j] >= 2 * k for i, j in wanted}
        first: dict[int, tuple[int, int]] = {}
        for pair in wanted:
            for end in pair:
                first.setdefault(end, pair)
        joined: dict[int, list[Class]] = {}
        for i, j in wanted:
            leader = first[j]
            follows = leader[1] == j and stubs[leader] and stubs[i, j]
            if first[i] != (i, j) or not (leader == (i, j) or follows):
                continue
            if not stubs[i, j]:
                joined[i] = [self.classes[i], self.classes.pop(j)]
            elif self.classes[j].n - (k - sizes[i]) >= k:
                joined[i] = [self.classes[i], self.stub(self.classes[j], k - sizes[i])]
        for i, members in joined.items():
            self.classes[i] = Class(
                self.closest(members), members[0].example, sum((x.parts for x in members), Counter())
            )
        self.fuse()

    def stub(self, members: Class, rows: int) -> Class:
        """Cut so many rows off a class, those of its smallest tuples first."""
        taken: Counter[int] = Counter()
        line = sorted((n, t) for t, n in members.parts.items())
        for n, t in line:
            taken[t] = min(n, rows - taken.total())
        members.parts -= taken
        return Class(members.levels, members.example, +taken)

    def fuse(self) -> None:
        same: dict[Cells, list[int]] = defaultdict(list)
        for i in sorted(self.classes):
            members = self.classes[i]
            labels = self.problem.labels(members.example, members.levels)
            same[tuple(zip(members.levels, labels, strict=True))].append(i)
        for one, *others in same.values():
            for i in others:
                self.classes[one].parts += self.classes.pop(i).parts


def rounded(column: Column, beta: float, weight: float) -> list[int]:
    """What it costs to rise to each level, in millionths."""
    steps = [1 / (column.height - level) ** beta for level in range(column.height)]
    return [round(10**6 * weight * sum(steps[:level]) / sum(steps)) for level in range(column.height + 1)]


# Ours


def task_of(
    engine: DuckDB,
    problem: Problem,
    seed: int = 0,
    beta: float = 0.0,
    weights: Sequence[float] = (1.0,) * 4,
    **more: Any,
) -> Task:
    frequency_set = counted(engine, problem)
    columns = [attribute.column.name for attribute in frequency_set.attributes]
    options = {"source": "t", "quasi_identifiers": columns, "privacy": {"k": problem.k}, "seed": seed, "beta": beta}
    model = more.pop("model", all_of(k_anonymity(problem.k)))
    judge = Judge(frequency_set, model)
    costs = replace(judge.costs(), beta=beta)
    lattice = Lattice((0,) * len(columns), frequency_set.heights)
    clock = more.pop("clock", Clock())
    weights = tuple(weights[: len(columns)])
    return Task(
        frequency_set,
        model,
        specs.parse(options),
        weights,
        clock,
        judge,
        costs,
        lattice,
        lambda _: frequency_set.heights,
    )


def assigned(task: Task) -> list[tuple[tuple[int, ...], int, int, int, int]]:
    """The assignment: a tuple's codes, n, class, first, last."""
    rows = task.engine.rows(queries.select_all(task.results["assignment"], task.engine.dialect))
    return [(row[:-4], *row[-4:]) for row in rows]


@pytest.mark.parametrize("batch", [1, 2, None])
@EXAMPLES
@given(
    problem=problems(strays=True, most_rows=16),
    seed=st.integers(0, 99),
    beta=BETAS,
    weights=st.tuples(*[WEIGHTS] * 4),
    blocks=BLOCKS,
)
def test_the_classes_are_those_of_the_paper(
    embedded: DuckDB, batch: int | None, problem: Problem, seed: int, beta: float, weights: Sequence[float], blocks: int
) -> None:
    task = task_of(embedded, problem, seed, beta, weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_BLOCKS", blocks)
        kaca(task, batch)
    sizes = {(codes, number): n for codes, n, number, _, _ in assigned(task)}
    assert sizes == Paper(problem, seed, beta, weights, batch).run()


@contextmanager
def in_pieces(tuples: int) -> Iterator[list[tuple[tuple[int, ...], int]]]:
    """Have any table cut into pieces of about so many tuples: the codes of each tuple, and its piece."""
    pieces: list[tuple[tuple[int, ...], int]] = []

    def cut(task: Task, relation: Relation, rows: int, within: str | None = None) -> Relation | None:
        assignment = mondrian.cut(task, relation, rows, within)
        if "once" in relation.name and assignment:  # not what is left when the time is up
            found = task.engine.rows(queries.select_all(assignment, task.engine.dialect))
            pieces[:] = [(row[:-2], row[-1]) for row in found]
        return assignment

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WHOLE", 0)
        patch.setattr(module, "_CELL_SECONDS", 0.0)
        patch.setattr(module, "_TUPLES", tuples)
        patch.setattr(module, "_CLASSES", 1)
        patch.setattr(module, "cut", cut)
        yield pieces


@pytest.mark.slow
@examples(12)
@given(problem=problems(most_rows=40, strays=True), seed=st.integers(0, 99), beta=BETAS, tuples=st.sampled_from([2, 8]))
def test_a_piece_is_a_separate_table(embedded: DuckDB, problem: Problem, seed: int, beta: float, tuples: int) -> None:
    task = task_of(embedded, problem, seed, beta)
    with in_pieces(tuples) as pieces:
        local = kaca(task)
    whole, classes = Paper(problem, seed, beta, (1.0,) * 4, None), {}
    numbers = {number for _, number in pieces}
    for piece in numbers or {None}:
        alone = Paper(problem, seed, beta, (1.0,) * 4, None)
        here = {codes for codes, number in pieces if number == piece} or set(alone.tuples)
        assert not pieces or len(here) >= max(tuples // 2, problem.k)
        alone.classes = {i: members for i, members in alone.classes.items() if alone.tuples[i] in here}
        alone.run()
        classes |= alone.classes
    whole.classes = classes
    whole.fuse()
    assert {(codes, number): n for codes, n, number, _, _ in assigned(task)} == whole.run()
    assert local.facts.get("pieces", 1) == max(1, len(numbers))


@examples(12)
@given(
    problem=problems(most_rows=60, strays=True),
    seed=st.integers(0, 9),
    sizes=st.sampled_from([1, 9]),
    model=st.sampled_from(["k", "odd"]),
)
def test_groups_of_pieces_have_the_same_classes_as_all_at_once(
    embedded: DuckDB, problem: Problem, seed: int, sizes: int, model: str
) -> None:
    """The time limit is far away, and only makes the pieces be merged in groups."""
    safe = all_of(k_anonymity(problem.k))
    if model == "odd":  # a union of safe classes can be unsafe
        text = f"NULLIF(rows, {2 * problem.k}) >= {problem.k}"
        safe = all_of(PrivacyModel("odd", {}, {"rows": "SUM(n)"}, text))
    found = []
    for clock in (Clock(), Clock(limit=1e6)):
        task = task_of(embedded, problem, seed, clock=clock, model=safe)
        with in_pieces(4), pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_SEEKERS", sizes)
            try:
                local = kaca(task)
            except InfeasibleError:
                found.append((None, None))
                continue
        found.append((sorted(assigned(task)), dict(local.facts)))
    assert found[0] == found[1]


@examples(12)
@given(
    problem=problems(most_rows=60, strays=True),
    seed=st.integers(0, 9),
    looks=st.integers(0, 400),
)
def test_pieces_without_time_keep_safe_classes(embedded: DuckDB, problem: Problem, seed: int, looks: int) -> None:
    """Every look at this clock takes a second of the limit, so that it ends anywhere."""
    seconds = count()
    clock = Clock(float(looks), now=lambda: float(next(seconds)))
    task = task_of(embedded, problem, seed, clock=clock)
    with in_pieces(4), pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SEEKERS", 1)
        local = kaca(task)
    sizes: Counter[int] = Counter()
    table = queries.text("frequency_sets/copy", "duckdb", columns=["n", "class"], source=local.assignment)
    for n, number in embedded.rows(table):
        sizes[number] += n
    assert (min(sizes.values()) >= problem.k, sizes.total()) == (True, len(problem.rows))
    assert local.facts["cut_rows"] == 0 or local.ended == "time limit"


@EXAMPLES
@given(tuples=st.sampled_from([None, 4]), problem=problems(most_rows=60, strays=True), seed=st.integers(0, 9))
def test_every_row_is_in_a_class_of_k_or_more(
    embedded: DuckDB, tuples: int | None, problem: Problem, seed: int
) -> None:
    task = task_of(embedded, problem, seed)
    with in_pieces(tuples) if tuples else nullcontext():
        local = kaca(task)
    sizes: Counter[int] = Counter()
    places: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
    for codes, n, number, first, last in assigned(task):
        assert n == last - first + 1 > 0
        sizes[number] += n
        places[codes].append((first, last))
    assert min(sizes.values()) >= problem.k
    assert local.split == any(len(parts) > 1 for parts in places.values())
    for codes, rows in Counter(map(Paper(problem, 0, 0.0, (1.0,) * 4, 1).seen, problem.rows)).items():
        line = sorted(places.pop(codes))
        assert (line[0][0], line[-1][1]) == (1, rows)
        assert all(last + 1 == first for (_, last), (first, _) in pairwise(line))
    assert not places


@EXAMPLES
@given(problem=problems(most_rows=30), odd=st.integers(2, 6))
def test_classes_of_unknown_safety_are_merged_further(embedded: DuckDB, problem: Problem, odd: int) -> None:
    safe = "NULLIF(rows, $odd) >= $k"
    model = PrivacyModel("odd", {"odd": odd, "k": problem.k}, {"rows": "SUM(n)"}, safe)
    task = task_of(embedded, problem, model=all_of(model))
    try:
        kaca(task)
    except InfeasibleError:
        assert len(problem.rows) == odd  # one class of all rows is the last that can be tried
        return
    sizes: Counter[int] = Counter()
    for _, n, number, _, _ in assigned(task):
        sizes[number] += n
    assert all(n >= problem.k and n != odd for n in sizes.values())


def test_a_model_that_not_even_all_rows_meet(embedded: DuckDB) -> None:
    leaves = {value: (value, "*") for value in "abc"}
    model = PrivacyModel("odd", {}, {"rows": "SUM(n)"}, "NULLIF(rows, 3) >= 2")
    task = task_of(embedded, Problem([("a",), ("b",), ("c",)], [Column(leaves)], k=2), model=all_of(model))
    with pytest.raises(InfeasibleError, match="all 3 rows together do not meet odd, and no other classes"):
        kaca(task)


def lines(rows: int = 40) -> Problem:
    """One attribute of 40 values in fives, tens, and all; one row of each."""
    leaves = {i: (i, f"f{i // 5}", f"t{i // 10}", "*") for i in range(40)}
    return Problem([(i,) for i in range(rows)], [Column(leaves)], k=2)


def test_a_round_is_reported(embedded: DuckDB) -> None:
    messages: list[Rounds] = []
    kaca(task_of(embedded, lines(), clock=Clock(watch=messages.append)))
    assert [progress.round for progress in messages] == list(range(len(messages)))
    assert (messages[0].classes, messages[0].left, messages[-1].left) == (40, 40, 0)


@pytest.mark.parametrize("rounds", [0, 1, 2])
@examples(12)
@given(tuples=st.sampled_from([None, 4]), problem=problems(most_rows=60, strays=True), seed=st.integers(0, 9))
def test_unsafe_rows_are_cut_when_time_is_up(
    embedded: DuckDB, rounds: int, tuples: int | None, problem: Problem, seed: int
) -> None:
    """After so many rounds, of merges or of cutting into pieces; the first of merges is told before any merge."""
    clock = Clock()
    clock.watch = lambda progress: setattr(clock, "interrupted", progress.round >= rounds)
    task = task_of(embedded, problem, seed, clock=clock)
    with in_pieces(tuples) if tuples else nullcontext():
        local = kaca(task)
    sizes: Counter[int] = Counter()
    for _, n, number, first, last in assigned(task):
        assert n == last - first + 1 > 0
        sizes[number] += n
    assert (min(sizes.values()) >= problem.k, sizes.total()) == (True, len(problem.rows))
    assert local.ended in ("interrupted", "complete")
    assert local.facts["cut_rows"] == 0 or local.ended == "interrupted"


def test_without_time_there_is_still_a_release(embedded: DuckDB) -> None:
    task = task_of(embedded, lines(), clock=Clock(limit=0.0))
    local = kaca(task)
    sizes: Counter[int] = Counter()
    for _, n, number, _, _ in assigned(task):
        sizes[number] += n
    assert (local.ended, local.facts["cut_rows"], sizes.total()) == ("time limit", 40, 40)
    assert min(sizes.values()) >= 2


def test_a_table_too_large_for_its_time_is_cut_as_a_whole(embedded: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_WHOLE", "_CELL_SECONDS"):
        monkeypatch.setattr(module, name, 1)
    task = task_of(embedded, lines(), clock=Clock(limit=9.0))
    local = kaca(task)
    table = queries.text("frequency_sets/copy", "duckdb", columns=["n", "class"], source=local.assignment)
    sizes: Counter[int] = Counter()
    for n, number in embedded.rows(table):
        sizes[number] += n
    assert (local.ended, local.facts, sizes.total()) == ("time limit", {"rounds": 0, "cut_rows": 40}, 40)
    assert 2 <= min(sizes.values()) <= max(sizes.values()) < 40


def test_a_part_too_small_to_cut_joins_a_class_when_time_is_up(embedded: DuckDB) -> None:
    """Five rows are safe, two are fewer than k: every look at this clock costs it a second."""
    leaves = {value: (value, value[0], "*") for value in ("a1", "a2", "b1")}
    problem = Problem([("a1",)] * 5 + [("a2",), ("b1",)], [Column(leaves)], k=3)
    seconds = count()
    task = task_of(embedded, problem, clock=Clock(0.5, now=lambda: float(next(seconds))))
    local = kaca(task)
    assert (local.ended, local.facts["rounds"], local.split) == ("time limit", 0, False)
    table = queries.text("frequency_sets/copy", "duckdb", columns=["n", "class"], source=local.assignment)
    sizes: Counter[int] = Counter()
    for n, number in embedded.rows(table):
        sizes[number] += n
    assert (sizes.total(), min(sizes.values()) >= 3) == (7, True)


def test_it_ends_by_patience_with_safe_classes(embedded: DuckDB) -> None:
    """Some classes are safe from the beginning, and the first round takes longer than there is patience."""
    leaves = {value: (value, value[0], "*") for value in ("a1", "a2", "b1", "b2")}
    problem, seconds = Problem([("a1",)] * 5 + [("a2",)] + [("b1",)] * 2 + [("b2",)] * 2, [Column(leaves)], k=3), [0.0]
    clock = Clock(watch=lambda _: seconds.__setitem__(0, seconds[0] + 100.0), now=lambda: seconds[0], patience=60.0)
    task = task_of(embedded, problem, clock=clock)
    local = kaca(task)
    sizes: Counter[int] = Counter()
    for _, n, number, _, _ in assigned(task):
        sizes[number] += n
    assert (local.ended, local.facts["rounds"], sizes.total()) == ("patience", 0, 10)
    assert min(sizes.values()) >= 3


@pytest.mark.slow
def test_many_rows_search_for_a_class_in_several_passes(embedded: DuckDB) -> None:
    task = task_of(embedded, lines())
    kaca(task)
    expected = sorted(assigned(task))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SEEKERS", 7)
        kaca(task)
    assert sorted(assigned(task)) == expected


def test_a_run_leaves_nothing_but_the_assignment(embedded: DuckDB) -> None:
    kaca(task_of(embedded, lines()))
    left = [name for (name,) in embedded.rows("SELECT table_name FROM duckdb_tables()") if "kaca" in name]
    assert left == []


@pytest.mark.slow
def test_the_seed_decides(embedded: DuckDB) -> None:
    def assigned_by(seed: int) -> list[Any]:
        task = task_of(embedded, lines(), seed)
        kaca(task)
        return sorted(assigned(task))

    assert assigned_by(1) == assigned_by(1)
    assert assigned_by(1) != assigned_by(2)


def test_a_stub_leaves_the_large_class_unchanged(embedded: DuckDB) -> None:
    """Two of three alike rows go with none: k = 2, and one row of another value takes one of four."""
    problem = Problem([("a",)] * 4 + [("b",)], [Column({"a": ("a", "*"), "b": ("b", "*")})], k=2)
    task = task_of(embedded, problem)
    assert kaca(task).split
    assert sorted((codes, n) for codes, n, *_ in assigned(task)) == [((0,), 1), ((0,), 3), ((1,), 1)]


# The distance


@pytest.mark.parametrize(
    ("p", "q", "h", "beta", "expected"),
    [
        (6, 3, 6, 0, 0.6),
        (6, 3, 6, 1, 0.343066),
        (6, 3, 6, 2, 0.145948),
        (2, 1, 2, 0, 1),
        (2, 1, 2, 3, 1),
        (4, 4, 6, 1, 0),
    ],
)
def test_weighted_hierarchical_distance(p: int, q: int, h: int, beta: float, expected: float) -> None:
    """From level p up to level q of h, where 1 is the root, as the paper counts; ours count from the values, 0."""
    distances = hierarchical_distances(h - 1, beta)
    assert distances[h - q] - distances[h - p] == pytest.approx(expected, abs=5e-7)


def test_five_birth_dates_in_tens_are_as_far_as_three_genders() -> None:
    gender, birth = hierarchical_distances(1), hierarchical_distances(5)
    assert 5 * (gender[0] + birth[3]) == pytest.approx(3 * (gender[1] + birth[0]))


# Gender and birth date of six people.
PEOPLE = [("male", "1962-08-13"), ("male", "1967-10-28"), ("male", "1977-01-20")]
PEOPLE += [("female", "1973-09-15"), ("female", "1985-03-15"), ("female", "1986-05-28")]
# From end to end


def test_a_release() -> None:
    people = pandas.DataFrame(
        {"sex": [sex for sex, _ in PEOPLE], "born": pandas.to_datetime([b for _, b in PEOPLE]), "ill": list("abcdef")}
    )
    spec = {
        "quasi_identifiers": {
            "sex": {"hierarchy": "suppress", "weight": 0.1},
            "born": {"hierarchy": {"dates": ["month", "year", "decade"]}},
        }
    }
    release = anonymize(people, spec, strategy="kaca", k=2)
    shown = release.to_df()
    released = Counter(zip(shown["sex"], shown["born"], strict=True))
    assert released == {("male", "1960s"): 2, ("*", "1970s"): 2, ("female", "1980s"): 2}
    assert release.manifest["information_loss"]["modification_rate"] == pytest.approx(8 / 12)
    assert release.manifest["information_loss"]["distortion"] == pytest.approx((0.75 + 0.1 * 2 / 6) / 1.1)
    assert release.manifest["recoding"]["rounds"] > 0


QUASI_IDENTIFIERS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


@pytest.fixture
def adults(tmp_path: Path) -> Path:
    """Every tenth adult."""
    header, *rows = (DATA / "adult" / "adult.csv").read_text().splitlines()
    (tmp_path / "adults.csv").write_text("\n".join([header, *rows[::10]]))
    return tmp_path / "adults.csv"


@needs_adult
@pytest.mark.slow
@pytest.mark.nightly
def test_adult_loses_far_less_than_by_whole_levels(adults: Path) -> None:
    spec = {"quasi_identifiers": QUASI_IDENTIFIERS, "hierarchies": str(DATA / "adult" / "hierarchies")}
    spec |= {"suppression_limit": 0.0, "metric": "distortion"}
    local = anonymize(str(adults), spec, strategy="kaca", k=5).manifest
    whole = anonymize(str(adults), spec, k=5).manifest
    assert (local["smallest_class"] >= 5, local["suppressed_rows"], whole["proven_optimal"]) == (True, 0, True)
    assert local["score"] < whole["score"] / 2


@needs_adult
@pytest.mark.slow
@pytest.mark.nightly
def test_many_merges_at_a_time_lose_no_more_than_one(adults: Path, tmp_path: Path, embedded: DuckDB) -> None:
    rows = adults.read_text().splitlines()[:151]
    (tmp_path / "few.csv").write_text("\n".join(rows))
    names = QUASI_IDENTIFIERS[:4]
    columns = []
    header = rows[0].split(";" if ";" in rows[0] else ",")
    picked = [[row.split(";" if ";" in rows[0] else ",")[header.index(name)] for name in names] for row in rows[1:]]
    for name in names:
        text = (DATA / "adult" / "hierarchies" / f"{name}.csv").read_text().splitlines()
        columns.append(Column({line.split(";")[0]: tuple(line.split(";")) for line in text}))
    problem = Problem([tuple(row) for row in picked], columns, k=5)

    def lost(batch: int | None) -> int:
        task = task_of(embedded, problem, 0)
        kaca(task, batch)
        members: dict[int, list[tuple[tuple[int, ...], int]]] = defaultdict(list)
        for codes, n, number, *_ in assigned(task):
            members[number].append((codes, n))
        paper = Paper(problem, 0, 0.0, (1.0,) * 4, 1)
        leaves = [list(column.leaves) for column in columns]
        total = 0
        for tuples in members.values():
            examples = [tuple(of[code] for of, code in zip(leaves, codes, strict=True)) for codes, _ in tuples]
            classes = [Class((0,) * len(names), example, Counter()) for example in examples]
            total += sum(n for _, n in tuples) * paper.cost(paper.closest(classes))
        return total

    assert lost(None) < 1.1 * lost(1)


@pytest.mark.slow
def test_a_large_table_is_released_when_time_is_up() -> None:
    """In 4 seconds, only some pieces of 60,000 different rows can be merged; the rest has Mondrian's classes."""
    random = np.random.default_rng(5)
    source = pandas.DataFrame({name: random.integers(0, 50, 60_000) for name in "abcd"})
    recipes = {name: {"hierarchy": {"ranges": [5, 25]}} for name in "abcd"}
    release = anonymize(source, {"quasi_identifiers": recipes}, k=5, strategy="kaca", time_limit=4)
    manifest = release.manifest
    assert manifest["verified"]
    assert manifest["released_rows"] == 60_000
    assert 0 < manifest["recoding"]["cut_rows"] < 60_000
