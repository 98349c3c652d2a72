"""PrioPrivacy against its own description in plain Python, its published tables, and what both forms promise."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations, product
from math import prod
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_sql import anonymize, queries
from kanon_sql import spec as specs
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.privacy import PrivacyModels, all_of, k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.recode import RECODERS, Clock, Local, Rounds, Task, quality, wildcard
from kanon_sql.spec import Spec
from support.data import DATA, needs
from support.database import create_table
from support.examples import examples
from support.oracle import Column, Problem, Row, problems

FEW = examples(40)
needs_published = needs("prioprivacy/adult_9.csv", "prioprivacy/published/", "prioprivacy/rules/", "adult/hierarchies/")
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
    return queries.text("core/copy", frequency_set.engine.dialect, columns=list(columns), source=relation)


@st.composite
def ranked(draw: st.DrawFn, most_columns: int = 3) -> tuple[Problem, list[int]]:
    problem = draw(problems(most_columns=most_columns, fewest_columns=1, most_rows=20))
    return problem, [draw(st.integers(1, 3)) for _ in problem.columns]


def rivals(*more: Row) -> tuple[Problem, list[int]]:
    """The first row can share a group with the second, or with the last, not with both."""
    rows = [("a1", "b1", "c1"), ("a2", "b1", "c2"), *more, ("a1", "b2", "c4")]
    columns = [Column({f"{c}{i}": (f"{c}{i}", f"any {c}", "*") for i in range(1, 5)}) for c in "abc"]
    return Problem(rows, columns, 2), [2, 2, 1]


@pytest.mark.parametrize("order", ["plain", "published"])
@FEW
@given(case=ranked())
@example(case=rivals())  # groups of two rows each: the first set of attributes comes first
@example(case=rivals(("a3", "b1", "c3")))
@example(case=(rivals(("a4", "b2", "c3"), ("a1", "b3", "c3"))[0], [1, 2, 2]))  # the larger group comes second
@pytest.mark.slow
def test_the_wildcard_form_is_the_published_algorithm(embedded: DuckDB, case: Any, order: str) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    spec = spec_of(problem, priorities, wildcard_suppression=True, suppression_order=order)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    expected = dict(zip(problem.rows, Published(problem, priorities, order).out, strict=True))
    assert {row: labels for row, (labels, _) in released(frequency_set, local).items()} == expected


@FEW
@given(case=ranked())
def test_what_the_wildcard_form_says_of_itself_is_true(embedded: DuckDB, case: Any) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    spec = spec_of(problem, priorities, wildcard_suppression=True)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    rows = [labels for labels, n in released(frequency_set, local).values() for _ in range(n)]
    classes = Counter(rows)
    assert sum(classes.values()) == len(problem.rows)
    assert local.facts["string_classes"] == {
        "smallest": min(classes.values()),
        "rows_below": sum(n for n in classes.values() if n < problem.k),
    }
    fits = {row: sum(_fits(row, original, problem.columns) for original in problem.rows) for row in classes}
    assert local.facts["wildcard"] == {"smallest": min(fits.values()), "rows_below": 0}
    assert min(fits.values()) >= problem.k


def _fits(row: Row, original: Row, columns: Sequence[Column]) -> bool:
    """A cell fits as `*`, as the value itself, or as a label that a rule makes of the value."""
    return all(
        cell in ("*", "NULL" if value is None else str(value))
        or any(value in values and cell == label for level in rules_of(column) for values, label in level)
        for cell, value, column in zip(row, original, columns, strict=True)
    )


def _holds(problem: Problem, frequency_set: FrequencySet, local: Local) -> Counter[Row]:
    """What the strict form promises, checked row by row; gives the classes."""
    tuples = released(frequency_set, local)
    assert {row: n for row, (_, n) in tuples.items()} == Counter(problem.rows)
    classes: Counter[Row] = Counter()
    for row, (labels, n) in tuples.items():
        assert _fits(labels, row, problem.columns)
        classes[labels] += n
    assert min(classes.values()) >= problem.k
    return classes


@examples(60)
@given(case=ranked(most_columns=4))
@pytest.mark.slow
def test_every_class_of_the_strict_form_is_safe_and_true(embedded: DuckDB, case: Any) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec_of(problem, priorities)))
    classes = _holds(problem, frequency_set, local)
    assert local.facts["string_classes"] == {"smallest": min(classes.values()), "rows_below": 0}
    if local.facts["absorbed_rows"] == 0:
        counts = Counter(problem.rows)
        for row, (labels, _) in released(frequency_set, local).items():
            assert counts[row] < problem.k or labels == tuple("NULL" if v is None else str(v) for v in row)


@FEW
@given(case=ranked())
@example(case=(Problem([("a",), ("b",), ("b",)], [Column({"a": ("a", "*"), "b": ("b", "*")})], 2), [1]))
@pytest.mark.slow
def test_a_run_out_of_time_ends_safely(embedded: DuckDB, case: Any) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec_of(problem, priorities), clock=Clock(-1.0)))
    _holds(problem, frequency_set, local)
    assert local.ended == "time limit"


@FEW
@given(case=ranked())
def test_the_classes_say_how_many_leaves_and_which_level_their_labels_are(embedded: DuckDB, case: Any) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    task = task_of(frequency_set, spec_of(problem, priorities))
    classes = RECODERS["prioprivacy"](task).classes
    for j, column in enumerate(problem.columns):
        levels = len(column.leaves), column.height
        for label, leaves, level in embedded.rows(
            _select(frequency_set, classes, [f"label_{j}", f"leaves_{j}", f"level_{j}"])
        ):
            ruled = [values for level_rules in rules_of(column) for values, text in level_rules if text == label]
            plain = [{value} for value in column.leaves if label == (None if value is None else str(value))]
            meant = set().union(*ruled, *plain)
            lowest = next(at for at in range(column.height + 1) if len({column.label(v, at) for v in meant}) <= 1)
            assert (leaves, level) == (levels if label == "*" else (len(meant), lowest))


def test_a_tuple_that_is_left_joins_the_class_that_loses_least(embedded: DuckDB) -> None:
    """Two colours of red and blue each, one of green; the fifth row is the only one that is not safe."""
    colours = Column({c: (c, "warm" if c in ("red", "pink") else "cold", "*") for c in ("red", "pink", "blue", "teal")})
    rows = [("red",)] * 2 + [("blue",)] * 2 + [("pink",)]
    problem = Problem(rows, [colours], 2)
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec_of(problem, [1])))
    assert released(frequency_set, local) == {
        ("red",): (("warm",), 2),
        ("pink",): (("warm",), 1),
        ("blue",): (("blue",), 2),
    }
    assert local.facts["absorbed_rows"] == 1


@pytest.mark.slow
def test_the_least_important_attribute_changes_first(embedded: DuckDB) -> None:
    yes_no = Column({v: (v, "*") for v in ("y", "n")})
    problem = Problem([("y", "y"), ("y", "n"), ("n", "y"), ("n", "n")], [yes_no, yes_no], 2)
    frequency_set = counted(embedded, problem)

    def hidden(priorities: Sequence[int | None]) -> set[Row]:
        local = RECODERS["prioprivacy"](task_of(frequency_set, spec_of(problem, priorities)))
        return {tuple(cell == "*" for cell in labels) for labels, _ in released(frequency_set, local).values()}

    assert hidden([1, 2]) == {(False, True)}
    assert hidden([2, 1]) == {(True, False)}
    assert hidden([None, None]) == {(True, False)}
    assert hidden([1, None]) == {(True, False)}, "a column without a priority is as important as the least"
    assert hidden([None, 2]) == {(True, False)}


@pytest.mark.slow
def test_the_example_of_the_paper(embedded: DuckDB) -> None:
    """{*, 20, *} if the domains are what the data show: 2 genders, 2 countries, 1 age."""
    columns = [Column({v: (v, "*") for v in values}) for values in (("f", "m"), ("20",), ("AT", "GR"))]
    problem = Problem([("f", "20", "AT")] * 2 + [("m", "20", "GR")] * 2 + [("m", "20", "AT")], columns, 2)
    spec = spec_of(problem, [1, 2, 3], wildcard_suppression=True)
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    assert released(frequency_set, local)["m", "20", "AT"] == (("*", "20", "*"), 1)
    large = Column({v: (v, "*") for v in ["AT", "GR", *map(str, range(39))]})
    problem = Problem(problem.rows, [*columns[:2], large], 2)
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    assert released(frequency_set, local)["m", "20", "AT"] == (("m", "20", "*"), 1)


@pytest.mark.parametrize(("domain", "hidden"), [("occurring", 0), (2, 0), (41, 2), ("hierarchy", 2), (None, 2)])
def test_a_domain_may_be_said(embedded: DuckDB, domain: int | str | None, hidden: int) -> None:
    """The paper's example, whose countries are 41 by the hierarchy and 2 by the data."""
    columns = [Column({v: (v, "*") for v in values}) for values in (("f", "m"), ("20",))]
    countries = Column({v: (v, "*") for v in ["AT", "GR", *map(str, range(39))]})
    rows = [("f", "20", "AT")] * 2 + [("m", "20", "GR")] * 2 + [("m", "20", "AT")]
    problem = Problem(rows, [*columns, countries], 2)
    frequency_set = counted(embedded, problem)
    asked = {name: {"priority": p} for name, p in zip(problem.names, (1, 2, 3), strict=True)}
    asked[problem.names[2]] |= {} if domain is None else {"domain": domain}
    spec = spec_of(problem, [1, 2, 3]).model_dump() | {"quasi_identifiers": asked, "wildcard_suppression": True}
    local = RECODERS["prioprivacy"](task_of(frequency_set, specs.parse(spec)))
    shown = {0: ("*", "20", "*"), 2: ("m", "20", "*")}[hidden]
    assert released(frequency_set, local)["m", "20", "AT"] == (shown, 1)
    assert local.facts["domains"][problem.names[2]] == (2 if hidden == 0 else 41)


@pytest.mark.parametrize("strategy", ["mondrian", "auto"])
def test_a_domain_is_for_prioprivacy_alone(strategy: str) -> None:
    table = pandas.DataFrame({"age": [1, 2, 1, 2]})
    asked = {"quasi_identifiers": {"age": {"hierarchy": "suppress", "domain": 74}}, "strategy": strategy}
    with pytest.raises(SpecError, match="the domain of 'age' is for the strategy prioprivacy"):
        anonymize(table, asked, k=2)


@pytest.mark.slow
def test_labels_that_differ_in_blanks_have_a_quality(tmp_path: Path) -> None:
    """Three of four ages become a label of the hierarchy, which the rules write with blanks."""
    (tmp_path / "age.csv").write_text("".join(f"{age};{age // 10}0-{age // 10}9;*\n" for age in range(20, 40)))
    rules = tmp_path / "rules"
    rules.mkdir()
    table = pandas.DataFrame({"age": [20, 21, 22, 30, 30, 30]})
    asked = {"quasi_identifiers": {"age": {"hierarchy": str(tmp_path / "age.csv")}}, "strategy": "prioprivacy"}
    said = []
    for label in ("20-29", "20 - 29", "twenties"):
        (rules / "1_age.txt").write_text(f"20,21,22 => {label}\n")
        said.append(anonymize(table, {**asked, "rules": str(rules)}, k=3).manifest["recoding"]["quality"])
    assert said[0] == said[1] != said[2] is None
    assert said[0]["intensity"] == pytest.approx(1 - 3 / 6 / 2)


def test_whoever_watches_sees_the_rows_left_become_fewer(embedded: DuckDB) -> None:
    column = Column({str(i): (str(i), str(i // 4), "*") for i in range(8)})
    problem = Problem([(str(i),) for i in range(8)], [column], 2)
    seen: list[Rounds] = []
    RECODERS["prioprivacy"](task_of(counted(embedded, problem), spec_of(problem, [1]), clock=Clock(None, seen.append)))
    assert [(rounds.classes, rounds.left) for rounds in seen] == [(2, 0)]


def test_nothing_of_it_is_left_but_the_result(embedded: DuckDB) -> None:
    column = Column({v: (v, "*") for v in "ab"})
    problem = Problem([("a",), ("b",), ("b",)], [column], 2)
    frequency_set = counted(embedded, problem)
    before = _temporary(embedded)
    task = task_of(frequency_set, spec_of(problem, [1]))
    local = RECODERS["prioprivacy"](task)
    assert _temporary(embedded) - before == {local.assignment.name, local.classes.name}
    task.results.close()
    made = {local.assignment.name, local.classes.name, frequency_set.relation.name}
    assert not made & _temporary(embedded)


def _temporary(engine: DuckDB) -> set[str]:
    return {name for (name,) in engine.rows("SELECT table_name FROM duckdb_tables() WHERE temporary")}


# Through the whole road


@pytest.fixture
def town(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    rows = [(sex, 20 + i % 7, f"ill {i % 3}") for i, sex in enumerate("fmfmfmmmfffmfmfm")]
    lines = ["sex,age,ill", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "town.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "1_age.txt").write_text("20,21,22 => 20-22\n23,24 => 23-24\n25,26,99 => 25 up\n")
    spec = {
        "quasi_identifiers": {
            "sex": {"hierarchy": "suppress", "priority": 1},
            "age": {"hierarchy": "suppress", "priority": 2},
        },
        "sensitive": ["ill"],
        "privacy": {"k": 2},
        "strategy": "prioprivacy",
        "rules": str(tmp_path / "rules"),
    }
    return tmp_path / "town.csv", spec


def test_a_release_by_rule_files_is_verified(town: tuple[Path, dict[str, Any]]) -> None:
    path, spec = town
    release = anonymize(path, spec)
    frame = release.to_df()
    assert len(frame) == 16
    assert frame.groupby(["sex", "age"]).size().min() >= 2
    assert set(frame["age"]) & {"20-22", "23-24", "25 up"}
    assert release.manifest["verified"]
    assert release.manifest["recoding"]["rules"] == "files"
    assert release.manifest["recoding"]["changed_first"] == ["age", "sex"]


def test_wrong_rules_stop_the_run(town: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    path, spec = town
    (tmp_path / "rules" / "1_sex.txt").write_text("f,m,f => all\n")
    with pytest.raises(SpecError, match=r"1_sex\.txt, line 1: the value 'f' is in line 1 too"):
        anonymize(path, spec, output=str(tmp_path / "out.csv"))
    assert not (tmp_path / "out.csv").exists()


@FEW
@given(case=ranked())
def test_a_written_wildcard_release_is_held_against_the_source(embedded: DuckDB, case: Any) -> None:
    """As a table of text, under other names; and with a cell that no original row fits."""
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    spec = spec_of(problem, priorities, wildcard_suppression=True)
    rows = Published(problem, priorities, "plain").out
    shown = [tuple(None if cell == "NULL" else cell for cell in row) for row in rows]
    fits = Counter()
    for row, number in Counter(rows).items():
        fits[min(problem.k, max(number, sum(_fits(row, o, problem.columns) for o in problem.rows)))] += number
    result = _asked(embedded, frequency_set, spec, shown)
    assert result.rows == len(rows)
    assert result.holds
    assert (fits[problem.k], result.unsafe_rows) == (len(rows), 0)
    if problem.k > 1:
        wrong = _asked(embedded, frequency_set, spec, [("no such label", *shown[0][1:]), *shown])
        assert (wrong.unsafe_rows, wrong.smallest_fit, wrong.holds) == (1, 0, False)


def _asked(engine: DuckDB, frequency_set: FrequencySet, spec: Spec, rows: Sequence[Row]) -> wildcard.Fits:
    names = [f"Q {j}" for j in range(len(rows[0]))]
    before = engine.find("written")
    if before:
        engine.run(queries.drop(before.relation, engine.dialect))
    table = create_table(engine, "written", dict.fromkeys(names, "VARCHAR"), rows)
    return wildcard.of_release(frequency_set, spec, all_of(k_anonymity(spec.privacy.k)), engine, table.relation, names)


# Known answers

COLUMNS = ["sex", "salary-class", "race", "workclass", "marital-status", "occupation"]
COLUMNS += ["education", "native-country", "age"]
PRIORITIES = {1: (1, 1, 2, 3, 3, 4, 5, 6, 7), 2: (7, 7, 6, 5, 5, 4, 3, 2, 1)}
needs_experiments = pytest.mark.parametrize(("experiment", "k"), [(1, 2), (1, 5), (2, 2), (2, 5)])


def read_rows(path: Path) -> list[Row]:
    with open(path, newline="", encoding="utf-8") as file:
        return [tuple(row) for row in csv.reader(file, delimiter=";")][1:]


def adult(hierarchies: bool) -> FrequencySet:
    engine = DuckDB()
    table = engine.read_file(str(DATA / "prioprivacy" / "adult_9.csv"))
    builders: dict[str, Any] = {name: lambda values, name=name: recipes.suppress(values, name) for name in COLUMNS}
    for name in COLUMNS if hierarchies else []:
        # The published labels have a hyphen for every blank.
        text = (DATA / "adult" / "hierarchies" / f"{name}.csv").read_text(encoding="utf-8").replace(" ", "-")
        made = h.convert(h.parse(text, name), table.column(name).kind, name)
        builders[name] = lambda values, made=made, name=name: h.cover(made, values, name)
    return build_frequency_set(engine, table, builders, Scratch(engine))


@needs_published
@needs_experiments
@pytest.mark.slow
def test_the_published_tables_cell_for_cell(experiment: int, k: int) -> None:
    columns = {name: {"priority": p} for name, p in zip(COLUMNS, PRIORITIES[experiment], strict=True)}
    rules = str(DATA / "prioprivacy" / "rules")
    options = {"wildcard_suppression": True, "suppression_order": "published", "rules": rules}
    spec = specs.parse({"source": "adult", "quasi_identifiers": columns, "privacy": {"k": k}, **options})
    frequency_set = adult(hierarchies=False)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    made = {tuple(map(str, row)): labels for row, (labels, _) in released(frequency_set, local).items()}
    published = read_rows(DATA / "prioprivacy" / "published" / f"experiment{experiment}_k{k}.csv")
    rows = read_rows(DATA / "prioprivacy" / "adult_9.csv")
    assert len(rows) == len(published) == 30_162
    assert [made[row] for row in rows] == published
    below = sum(n for n in Counter(published).values() if n < k)
    assert local.facts["string_classes"] == {"smallest": 1, "rows_below": below}
    assert local.facts["wildcard"]["rows_below"] == 0
    assert local.facts["wildcard"]["smallest"] >= k


@needs_published
@needs_experiments
@pytest.mark.slow
def test_the_published_quality(experiment: int, k: int) -> None:
    frequency_set = adult(hierarchies=True)
    published = read_rows(DATA / "prioprivacy" / "published" / f"experiment{experiment}_k{k}.csv")
    with Scratch(frequency_set.engine) as tables:
        made = _load(tables, frequency_set, read_rows(DATA / "prioprivacy" / "adult_9.csv"), published)
        table, columns = quality.measure(frequency_set.engine, frequency_set.attributes, *made)
    expected = {row["attribute"]: row for row in _results("attribute", experiment, k)}
    for name in COLUMNS:
        assert _figures(columns[name]) == pytest.approx(_expected(expected[name]), abs=1e-9)
    (row,) = _results("dataset", experiment, k)
    assert _figures(table) == pytest.approx(_expected(row), abs=1e-9)
    rows = read_rows(DATA / "prioprivacy" / "adult_9.csv")
    before, after = (Counter(Counter(given).values()).items() for given in (rows, published))
    wanted = float(row["discernibility"]), float(row["avg. class size"])
    assert quality.of_class_sizes(before, after) == pytest.approx(wanted, abs=1e-9)


def _load(
    tables: Scratch, frequency_set: FrequencySet, rows: Sequence[Row], shown: Sequence[Row]
) -> tuple[Relation, Relation]:
    """An assignment and classes of rows and what they show."""
    classes = {labels: number for number, labels in enumerate(sorted(set(shown)))}
    codes = [
        dict(zip(map(str, a.hierarchy.values), a.hierarchy.codes(0), strict=False)) for a in frequency_set.attributes
    ]
    cells = [[of[row[j]] for row in rows] for j, of in enumerate(codes)]
    names = [a.coded.code_column(0) for a in frequency_set.attributes]
    types = dict.fromkeys([*names, "n", "class"], "INTEGER")
    columns = [*cells, [1] * len(rows), [classes[labels] for labels in shown]]
    assignment = tables.load("assignment", types, columns)
    labels = {"class": "INTEGER", **{f"label_{j}": "VARCHAR" for j in range(len(names))}}
    return assignment, tables.load("classes", labels, [list(classes.values()), *zip(*classes, strict=True)])


def _results(of: str, experiment: int, k: int) -> list[dict[str, str]]:
    with open(DATA / "prioprivacy" / "published" / f"results_{of}_level.csv", newline="", encoding="utf-8") as file:
        results = [{key.strip(): value for key, value in row.items()} for row in csv.DictReader(file)]
    wanted = {"k": str(k), "experiment": f"exp{experiment}", "method": "prioprivacy"}
    return [row for row in results if wanted.items() <= row.items()]


def _figures(measured: quality.Quality) -> tuple[float, ...]:
    return measured.entropy, measured.intensity, measured.granularity


def _expected(row: Mapping[str, str]) -> tuple[float, ...]:
    return tuple(float(row[name]) for name in ("n.u. entropy", "gen. intensity", "granularity"))
