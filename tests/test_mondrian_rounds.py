"""Several rounds of Mondrian in one statement, and rounds on arrays, give the result of one statement per round."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency import code_arrays
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.recode import partitions
from kanon_sql.recode.mondrian import CutRule, _MondrianRun
from kanon_sql.recode.partitions import Partitions
from kanon_sql.recode.task import Clock, Local, Task
from support.mondrian import Row, classes_of, task_of

pytestmark = pytest.mark.quick
_TOWNS = [("Bern", "CH", "*"), ("Thun", "CH", "*"), ("Graz", "AT", "*"), ("Linz", "AT", "*"), ("Rome", "IT", "*")]


def towns(_: Sequence[object]) -> Hierarchy:
    return h.from_rows([list(town) for town in _TOWNS], "q1")


def ages(values: Sequence[object]) -> Hierarchy:
    return recipes.suppress(values, "q0")


def people(rows: int = 400) -> Task:
    random = Random(4)
    drawn = [(random.randrange(60), random.choice(_TOWNS)[0], random.choice("mf")) for _ in range(rows)]
    sexes = [["m", "*"], ["f", "*"]]
    return task_of(drawn, [ages, towns, lambda _: h.from_rows(sexes, "q2")], 5)


def recoded(
    task: Task, at_once: int, relaxed: bool = False, most_queries: int = 24
) -> tuple[Local, list[Counter[Row]]]:
    limits = {"in_memory": 0, "at_once": at_once * task.frequency_set.tuples, "most_queries": most_queries}
    with Scratch(task.engine, "mondrian") as tables:
        local = _MondrianRun(task, CutRule(), relaxed, tables, **limits).local()
    return local, classes_of(task)


def recoded_in_memory(task: Task) -> tuple[Local, list[Counter[Row]]]:
    with Scratch(task.engine, "mondrian") as tables:
        run = _MondrianRun(task, CutRule(), False, tables)
        assert run._fits_in_memory
        return run.local(), classes_of(task)


@pytest.mark.parametrize("relaxed", [False, True])
def test_the_same_number_of_rounds_gives_the_same_classes(relaxed: bool) -> None:
    task = people()
    one_by_one, classes = recoded(task, 1, relaxed)
    assert one_by_one.facts["rounds"] > 4
    for at_once in (2, 3, 100):
        local, same = recoded(task, at_once, relaxed)
        assert same == classes
        assert (local.facts["rounds"], local.facts["ncp"]) == (one_by_one.facts["rounds"], one_by_one.facts["ncp"])
        assert local.facts["statements"] < one_by_one.facts["statements"]


@pytest.mark.parametrize("in_memory", [0, 10**6])
def test_classes_within_partitions_have_no_lower_numbers_than_these(in_memory: int) -> None:
    """KACA numbers the pieces of a table above its tuples, so that a class and a tuple never have the same number."""
    task = people()
    towns_column = task.frequency_set.attributes[1].coded.code_column(0)
    with Scratch(task.engine, "mondrian") as tables:
        every = queries.select_all(task.frequency_set.relation, "duckdb")
        pieces = tables.create_as("pieces", f"SELECT *, {towns_column} + 1000 AS piece FROM ({every})")
        task = replace(task, frequency_set=replace(task.frequency_set, relation=pieces))
        run = _MondrianRun(task, CutRule(), False, tables, in_memory=in_memory)
        run.cut("piece")
        copy = queries.select_all(run.assignment, "duckdb")
        found = task.engine.rows(f"SELECT {towns_column}, class, SUM(n) FROM ({copy}) GROUP BY ALL")
    sizes: Counter[int] = Counter()
    for _, number, n in found:
        sizes[number] += n
    assert min(sizes) >= 1000
    assert min(sizes.values()) >= 5
    assert len({(town, number) for town, number, _ in found}) == len(sizes) > len(_TOWNS)


@pytest.mark.parametrize("at_once", [1, 100])
def test_values_counted_together_give_the_same_classes(at_once: int) -> None:
    task = people()
    local, classes = recoded(task, at_once)
    together, same = recoded(task, at_once, most_queries=0)
    assert same == classes
    assert together.facts["ncp"] == local.facts["ncp"]


def test_with_a_time_limit_no_more_rounds_are_at_stake_than_are_done() -> None:
    messages: list[tuple[int, int]] = []
    clock = Clock(600.0, lambda built: messages.append((built.round, built.classes)))
    local, classes = recoded(replace(people(), clock=clock), 100)
    done = [round_ for round_, _ in messages]
    assert done[:4] == [1, 2, 4, min(8, done[-1])]
    assert (done[-1], messages[-1][1]) == (local.facts["rounds"], len(classes))


def dates() -> Task:
    """Dates that are not in the order of their numbers: those without end have the highest one."""
    random = Random(7)
    odd = ["infinity", "-infinity"]
    days = [random.choice(odd) if random.random() < 0.3 else f"2024-01-{random.randint(1, 28):02}" for _ in range(200)]
    rows = [(day, random.choice(_TOWNS)[0]) for day in days]
    return task_of(
        rows, [lambda values: recipes.suppress(values, "q0"), towns], 4, [0.5, 1.0], types=["DATE", "VARCHAR"]
    )


def codes() -> Task:
    """Many columns, of as many values as one another and of others, and tuples of several rows."""
    random = Random(8)
    drawn = [tuple(int(random.triangular(0, most)) for most in (3, 3, 200, 3, 9, 150)) for _ in range(150)]
    suppressed = [lambda values, name=f"q{j}": recipes.suppress(values, name) for j in range(6)]
    shown = [None, "common", None, None, "common", "common"]
    return task_of(drawn + drawn[:50] * 3, suppressed, 3, show=shown)


@pytest.mark.parametrize("build", [people, dates, codes])
def test_rounds_on_arrays_give_the_same_classes(build: Callable[[], Task], monkeypatch: pytest.MonkeyPatch) -> None:
    task = build()
    local, classes = recoded(task, 1)
    assert len(classes) > 10
    for dense, cells in ((4, 1 << 22), (0, 1 << 22), (4, 1)):
        monkeypatch.setattr(code_arrays, "_DENSE", dense)
        monkeypatch.setattr(partitions, "_CELLS", cells)
        in_memory, same = recoded_in_memory(task)
        assert same == classes
        assert (in_memory.facts["rounds"], in_memory.facts["ncp"]) == (local.facts["rounds"], local.facts["ncp"])


@pytest.mark.parametrize("seed", range(12))
def test_rounds_on_arrays_count_people_as_the_queries_do(seed: int) -> None:
    random = Random(seed)
    most = random.choice([1, 2, 3, 60])  # rows of a person, who often has the same values in them
    drawn, owners = [], []
    for person in range(300):
        own = (random.randrange(30), random.choice(_TOWNS)[0], random.choice("mf"))
        for _ in range(random.randint(1, most)):
            other = (random.randrange(30), random.choice(_TOWNS)[0], random.choice("mf"))
            drawn.append(tuple(random.choice(pair) for pair in zip(own, other, strict=True)))
            owners.append(person)
    sexes = [["m", "*"], ["f", "*"]]
    k = random.choice([2, 3, 7])
    show = random.choice([None, [None, "common", None]])
    task = task_of(drawn, [ages, towns, lambda _: h.from_rows(sexes, "q2")], k, owners=owners, show=show)
    local, classes = recoded(task, 1)
    in_memory, same = recoded_in_memory(task)
    assert same == classes
    assert (in_memory.facts["rounds"], in_memory.facts["ncp"]) == (local.facts["rounds"], local.facts["ncp"])
    people_of: dict[Row, set[int]] = {}
    for row, owner in zip(drawn, owners, strict=True):
        people_of.setdefault(row, set()).add(owner)
    assert len(classes) > 3
    assert min(len(set().union(*(people_of[row] for row in members))) for members in classes) >= k


def test_rounds_on_arrays_end_at_a_time_limit() -> None:
    task, clock = people(), Clock(600.0)
    clock.watch = lambda built: setattr(clock, "limit", 0.0 if built.round == 3 else 600.0)
    local, classes = recoded_in_memory(replace(task, clock=clock))
    assert (local.ended, local.facts["rounds"]) == ("time limit", 3)
    assert 1 < len(classes) < len(recoded_in_memory(task)[1])
    assert min(members.total() for members in classes) >= 5


def test_a_round_on_arrays_that_would_end_after_the_limit_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = [0.0]
    cut = Partitions.cut

    def slow(partitions: Partitions) -> None:
        cut(partitions)
        seconds[0] += 2.0

    monkeypatch.setattr(Partitions, "cut", slow)
    found, _ = recoded_in_memory(replace(people(), clock=Clock(5.0, now=lambda: seconds[0])))
    assert (found.facts["rounds"], found.ended, seconds[0]) == (2, "time limit", 4.0)
