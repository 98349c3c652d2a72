"""Refine against plain Python: a partition into safe classes, no worse than its start, with no better move left."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import queries
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy import PrivacyModel, all_of, k_anonymity
from kanon_sql.recode import RECODERS, Clock, Local
from kanon_sql.recode.refine import UNIT, _halves, _StepSize
from support.data import NINE, adult, needs_adult
from support.database import create_table
from support.examples import examples
from support.oracle import Column, Node, Problem, Row, problems
from support.refining import ONE, small, task_of
from support.survey import survey

Class = list[Row]


def counted(problem: Problem) -> FrequencySet:
    engine = DuckDB()
    texts = [isinstance(next(v for v in column.leaves if v is not None), str) for column in problem.columns]
    types = {f"q{j}": "VARCHAR" if text else "BIGINT" for j, text in enumerate(texts)}
    table = create_table(engine, "people", types, problem.rows)
    builders = {}
    for name, column in zip(types, problem.columns, strict=True):
        leaves, levels = column.levels
        strays = tuple({row[int(name[1:])] for row in problem.rows} - set(leaves))
        hierarchy = Hierarchy(leaves, levels, strays)
        builders[name] = lambda _, built=hierarchy: built
    return build_frequency_set(engine, table, builders, Scratch(engine))


@dataclass
class Recoded:
    """What refine made of a problem, as rows."""

    problem: Problem
    weights: Sequence[Fraction]
    local: Local
    classes: Mapping[Any, Class]
    suppressed: Class

    def cost(self, rows: Class) -> Fraction:
        """The weighted loss of a class, all rows and attributes added up: by its lowest common ancestors."""
        total = Fraction(0)
        for j, (column, weight) in enumerate(zip(self.problem.columns, self.weights, strict=True)):
            values = {row[j] for row in rows}
            level = min(le for le in range(column.height + 1) if len({column.label(v, le) for v in values}) == 1)
            total += weight * column.loss(next(iter(values)), level)
        return total * len(rows)

    @property
    def total(self) -> Fraction:
        return sum(map(self.cost, self.classes.values()), Fraction(0)) + sum(self.weights) * len(self.suppressed)


def recoded(problem: Problem, weights: Sequence[float] = (), **options: Any) -> Recoded:
    frequency_set = counted(problem)
    local = RECODERS["refine"](
        task_of(frequency_set, all_of(k_anonymity(problem.k)), problem.limit, weights, **options)
    )
    codes = [attribute.coded.code_column(0) for attribute in frequency_set.attributes]
    values = [dict(zip(a.hierarchy.codes(0), a.hierarchy.values, strict=False)) for a in frequency_set.attributes]
    assigned = frequency_set.engine.rows(queries.select_all(local.assignment, "duckdb"))
    columns = [column.name for column in frequency_set.engine.table(local.assignment).columns]
    assert columns == [*codes, "n", "class"]
    left = Counter(problem.rows)
    classes: dict[Any, Class] = defaultdict(list)
    for *key, n, number in assigned:
        row = tuple(values[j].get(code, "*") for j, code in enumerate(key))
        for full in [r for r in left if shown(problem, r) == row]:
            assert number is not None
            classes[number] += [full] * left.pop(full)
            n -= len([r for r in problem.rows if r == full])
        assert n == 0
    assert local.split is False
    frequency_set.engine.close()
    given = [Fraction(str(w)) for w in weights] or [Fraction(1)] * len(problem.columns)
    return Recoded(problem, given, local, classes, list(left.elements()))


def shown(problem: Problem, row: Row) -> Row:
    """A row by its level-0 labels; all strays are one."""
    return tuple(v if v in c.leaves else "*" for c, v in zip(problem.columns, row, strict=True))


def start_cost(problem: Problem, node: Node, weights: Sequence[Fraction]) -> Fraction:
    """The weighted loss of a node, all rows and attributes added up, suppressed rows at total loss."""
    released, total = problem.released(node), Fraction(0)
    for row in problem.rows:
        kept = problem.labels(row, node) in released
        for j, (column, weight) in enumerate(zip(problem.columns, weights, strict=True)):
            total += weight * (column.loss(row[j], node[j]) if kept else 1)
    return total


def moves(result: Recoded) -> list[tuple[Row, Fraction]]:
    """Every move of all rows of one tuple to another class, that leaves its class safe or empty, and its gain."""
    gains = []
    for mine, rows in result.classes.items():
        for tuple_ in {shown(result.problem, row) for row in rows}:
            moved = [row for row in rows if shown(result.problem, row) == tuple_]
            rest = [row for row in rows if shown(result.problem, row) != tuple_]
            if rest and len(rest) < result.problem.k:
                continue
            saved = result.cost(rows) - (result.cost(rest) if rest else 0)
            for other, target in result.classes.items():
                if other != mine:
                    gains.append((tuple_, saved - result.cost(target + moved) + result.cost(target)))
    return gains


WEIGHTS = st.lists(st.sampled_from([0.1, 0.5, 1.0]), min_size=4, max_size=4)
FEW = examples(20, phases=(Phase.explicit, Phase.generate))


@FEW
@given(problem=problems(strays=True), weights=WEIGHTS)
def test_a_refinement_is_safe_loses_no_more_than_its_start_and_leaves_no_move(
    problem: Problem, weights: list[float]
) -> None:
    weights = weights[: len(problem.columns)]
    result = recoded(problem, weights)
    check(result)


@pytest.mark.slow
@pytest.mark.nightly
def test_moves_are_applied_until_none_is_left() -> None:
    """Tables large enough for the cover to leave something to mend."""
    column = Column({i: (i, i // 2, i // 4, "*") for i in range(8)})
    applied = 0
    for seed in range(4):
        draw = random.Random(seed)
        rows = [tuple(min(draw.randrange(8), draw.randrange(8)) for _ in range(3)) for _ in range(80)]
        result = recoded(Problem(rows, [column] * 3, 3))
        check(result)
        applied += result.local.facts["moves"]
    assert applied > 0


def check(result: Recoded) -> None:
    """What every complete run promises."""
    problem = result.problem
    slack = Fraction(len(problem.rows) * len(problem.columns), UNIT)  # a cell's loss is rounded to a unit
    assert result.local.ended == "complete"
    assert all(len(rows) >= problem.k for rows in result.classes.values())
    start = tuple(result.local.facts["start"].values())
    assert result.total <= start_cost(problem, start, result.weights) + slack
    most = sum(result.weights) * len(problem.rows)
    assert result.local.facts["loss"] == pytest.approx(float(result.total / most), abs=1e-6)
    assert len(result.suppressed) <= problem.rows_at_risk(start)
    assert len(result.suppressed) < problem.k
    assert [move for move in moves(result) if move[1] > 2 * slack] == []


@FEW
@given(problem=problems(), limit=st.just(0.0))
def test_without_a_suppression_limit_every_row_is_released(problem: Problem, limit: float) -> None:
    problem = Problem(problem.rows, problem.columns, problem.k, limit)
    result = recoded(problem)
    assert not result.suppressed
    assert sum(map(len, result.classes.values())) == len(problem.rows)


@FEW
@given(problem=problems())
def test_a_run_without_time_is_safe_and_loses_no_more_than_its_start(problem: Problem) -> None:
    result = recoded(problem, seconds=0.0)
    assert result.local.ended == "time limit"
    assert all(len(rows) >= problem.k for rows in result.classes.values())
    start = tuple(result.local.facts["start"].values())
    slack = Fraction(len(problem.rows) * len(problem.columns), UNIT)
    assert result.total <= start_cost(problem, start, result.weights) + slack


@given(problem=problems(strays=True))
@examples(10)
def test_the_same_twice(problem: Problem) -> None:
    one, other = recoded(problem), recoded(problem)
    assert sorted(map(sorted_rows, one.classes.values())) == sorted(map(sorted_rows, other.classes.values()))


def sorted_rows(rows: Class) -> list[str]:
    return sorted(map(repr, rows))


TEN = h.from_rows([[str(i), "*"] for i in range(10)], "ten")


def assigned(frequency_set: FrequencySet, local: Local) -> set[frozenset[str]]:
    """The classes of a one-column table, by its values."""
    labels = frequency_set.attributes[0].hierarchy.distinct_labels(0)
    classes = defaultdict(set)
    for code, _, number in frequency_set.engine.rows(queries.select_all(local.assignment, "duckdb")):
        classes[number].add(labels[code])
    return {frozenset(values) for values in classes.values()}


def test_cheapest_cells_first_and_outsiders_join_where_they_cost_least() -> None:
    """The two a stay, c and d meet as cd, and b joins the a: ab costs less than *."""
    frequency_set = small([("a",), ("a",), ("b",), ("c",), ("d",)], [ONE])
    local = RECODERS["refine"](task_of(frequency_set, all_of(k_anonymity(2)), 0.0))
    assert assigned(frequency_set, local) == {frozenset("ab"), frozenset("cd")}
    assert local.facts["loss"] == pytest.approx(1 / 3)
    assert local.facts["start_loss"] == pytest.approx(1 / 3)
    assert local.ended == "complete"


@pytest.mark.slow
def test_a_row_stays_suppressed_where_taking_it_in_would_lose_more() -> None:
    """Eight a, one b without kin: starring all nine loses 9, the suppressed row alone 1."""
    frequency_set = small([("0",)] * 8 + [("1",)], [TEN])
    local = RECODERS["refine"](task_of(frequency_set, all_of(k_anonymity(2)), 0.2))
    assert assigned(frequency_set, local) == {frozenset("0")}
    assert (local.facts["cover_loss"], local.facts["loss"]) == (pytest.approx(1), pytest.approx(1 / 9))
    assert assigned(frequency_set, RECODERS["refine"](task_of(frequency_set, all_of(k_anonymity(2)), 0.0))) == {
        frozenset("01")
    }


def test_a_model_that_no_class_meets_is_refused() -> None:
    frequency_set = small([("a",), ("b",)], [ONE])
    never = all_of(PrivacyModel("never", {}, {"rows": "SUM(n)"}, "NULLIF(rows, rows) > 0", monotone="always"))
    with pytest.raises(InfeasibleError, match="no class meets"):
        RECODERS["refine"](task_of(frequency_set, never, 1.0, start=(0,)))


def test_outsiders_are_assigned_even_without_time_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of them want the one class there is, a round each; after the first the time is up."""
    frequency_set, seconds, rounds = small([("a",)] * 4 + [("b",), ("c",), ("d",)], [ONE]), [0.0], []
    refinement = RECODERS["refine"].recode.__globals__["_Refinement"]
    find_best = refinement._find_best

    def find_and_be_late(run: Any) -> tuple[int, int]:
        rounds.append(run)
        seconds[0] = 100.0
        return find_best(run)

    monkeypatch.setattr(refinement, "_find_best", find_and_be_late)
    clock = Clock(50.0, now=lambda: seconds[0])
    local = RECODERS["refine"](replace(task_of(frequency_set, all_of(k_anonymity(4)), 0.0, start=(2,)), clock=clock))
    assert (len(rounds), local.ended) == (1, "time limit")
    assert assigned(frequency_set, local) == {frozenset("abcd")}


def test_a_table_too_large_to_begin_within_the_limit_keeps_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    frequency_set = small([("a",), ("b",), ("c",), ("d",)] * 2, [ONE])
    monkeypatch.setitem(RECODERS["refine"].recode.__globals__, "_CELL_SECONDS", 20.0)
    clock = Clock(50.0, now=lambda: 0.0)
    local = RECODERS["refine"](replace(task_of(frequency_set, all_of(k_anonymity(4)), 0.0, start=(2,)), clock=clock))
    assert (local.ended, local.facts) == ("time limit", {})
    assert assigned(frequency_set, local) == {frozenset("ab"), frozenset("cd")}


def test_it_ends_by_patience_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first regrouping takes longer than there is patience."""
    frequency_set, seconds, seen = small([("a",), ("b",), ("c",), ("d",)] * 2, [ONE]), [0.0], []
    refinement = RECODERS["refine"].recode.__globals__["_Refinement"]
    regroup = refinement._regroup

    def regroup_slowly(run: Any, clock: Clock) -> bool:
        seconds[0] += 100.0
        return regroup(run, clock)

    monkeypatch.setattr(refinement, "_regroup", regroup_slowly)
    clock = Clock(None, seen.append, now=lambda: seconds[0], patience=60.0)
    local = RECODERS["refine"](replace(task_of(frequency_set, all_of(k_anonymity(4)), 0.0), clock=clock))
    assert local.ended == "patience"
    assert min(map(len, assigned(frequency_set, local))) >= 2
    assert local.facts["moves"] == 0


def test_its_tables_are_dropped_and_the_observer_is_notified() -> None:
    frequency_set, messages = small([("a",), ("b",), ("c",), ("d",)] * 2, [ONE]), []
    RECODERS["refine"](task_of(frequency_set, all_of(k_anonymity(3)), 0.0, watch=messages.append))
    assert [report.left for report in messages][-1] == 0
    left = frequency_set.engine.rows("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'kanon_refine%'")
    assert left == []


def test_only_values_that_occur_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hierarchy file may hold many times as many, and loading them takes longer than all the rest."""
    loaded: dict[str, int] = {}
    load = DuckDB.load_batches

    def counting(self: DuckDB, relation: Any, types: Any, batches: Any) -> None:
        loaded[relation.name] = sum(len(columns[0]) if columns else 0 for columns in batches)
        load(self, relation, types, batches)

    monkeypatch.setattr(DuckDB, "load_batches", counting)
    column = Column({str(n): (str(n), str(n)[0], "*") for n in range(1000)})
    frequency_set = counted(Problem([(str(100 + n % 4),) for n in range(12)], [column], 3))
    RECODERS["refine"](task_of(frequency_set, all_of(k_anonymity(3)), 0.0))
    assert loaded["kanon_refine_costs_0"] == 4
    assert loaded["kanon_refine_levels_0"] == 12


def test_the_pace_examines_a_bounded_number_of_cells() -> None:
    """The least step is one sixtieth of the way; where even that would look at too many cells, there is none."""
    pace = _StepSize(60_000, [[0.0, 1000.0 * (j + 1), 2000.0 * (j + 1)] for j in range(30)])
    assert [pace.advance(3_000_000) for _ in range(4)] == [0, 1000, 2000, None]
    one = _StepSize(1000, [[0.0, 1000.0]])
    assert [one.advance(10), one.advance(10)] == [0, 1000]


def test_halves_are_about_equal() -> None:
    assert _halves([4, 3, 2, 2, 1, 1]) == ([0, 3, 5], [1, 2, 4])
    assert _halves([2]) == ([0], [])


@needs_adult
@pytest.mark.slow
@pytest.mark.nightly
def test_adult_loses_less_than_by_any_peer() -> None:
    """ARX's local recoding has a granularity of .932, a loss of .068, after 100 steps."""
    frequency_set = adult(*NINE)
    local = RECODERS["refine"](task_of(frequency_set, all_of(k_anonymity(5)), 0.02))
    assigned = frequency_set.engine.rows(queries.select_all(local.assignment, "duckdb"))
    sizes: Counter[int] = Counter()
    for *_, n, number in assigned:
        sizes[number] += n
    assert local.ended == "complete"
    assert (len(assigned), sum(sizes.values()), min(sizes.values())) == (19_502, 30_162, 5)
    assert local.facts["loss"] < 0.051
    assert local.facts["moves"] > 100
    assert local.facts["loss"] < local.facts["cover_loss"] < local.facts["start_loss"]


@pytest.mark.slow
@pytest.mark.nightly
def test_on_nearly_distinct_rows_it_loses_no_more_than_its_start_and_mondrian(tmp_path: Path) -> None:
    """Sixteen columns: hardly a cell that is cheap is shared, so that nearly all is cut, and then moved."""
    people, spec = survey(tmp_path, 200)
    assert len(people.drop_duplicates()) == 200
    spec |= {"show": "common"}
    cut = kanon_sql.anonymize(people, spec, strategy="mondrian", k=5).manifest["information_loss"]["loss"]
    manifest = kanon_sql.anonymize(people, spec, strategy="refine", k=5).manifest
    assert manifest["search_ended"] == "complete"
    assert manifest["information_loss"]["loss"] < min(cut, manifest["recoding"]["start_loss"])


@pytest.mark.slow
@pytest.mark.nightly
def test_many_columns_whose_levels_change_nothing_do_not_slow_the_search(tmp_path: Path) -> None:
    """Four levels of one label in each of sixteen columns: 4 ** 16 ways to pay nothing for a row."""
    names = [f"c{j}" for j in range(16)]
    for name in names:
        (tmp_path / f"{name}.csv").write_text("".join(f"{v};{v};{v};{v};*\n" for v in "ab"))
    rows = [["ab"[(i >> j % 3) & 1] for j in range(16)] for i in range(8)] * 2
    spec = {"quasi_identifiers": names, "hierarchies": str(tmp_path), "strategy": "refine", "privacy": {"k": 2}}
    release = kanon_sql.anonymize(pandas.DataFrame(rows, columns=names), spec)
    assert (release.manifest["information_loss"]["loss"], release.manifest["classes"]) == (0, 8)
