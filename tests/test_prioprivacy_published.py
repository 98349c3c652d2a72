"""PrioPrivacy's published tables for Adult, cell by cell, and their quality."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import spec as specs
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.loss import METRICS, Costs, Figures
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.recode import RECODERS, quality
from support.data import DATA, needs
from support.oracle import Row
from support.prioprivacy import released, task_of

needs_published = needs("prioprivacy/adult_9.csv", "prioprivacy/published/", "prioprivacy/rules/", "adult/hierarchies/")

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
        hierarchy = h.convert(h.parse(text, name), table.column(name).kind, name)
        builders[name] = lambda values, built=hierarchy, name=name: h.cover(built, values, name)
    return build_frequency_set(engine, table, builders, Scratch(engine))


@needs_published
@needs_experiments
@pytest.mark.slow
@pytest.mark.sampled
def test_the_published_tables_cell_for_cell(experiment: int, k: int) -> None:
    columns = {name: {"priority": p} for name, p in zip(COLUMNS, PRIORITIES[experiment], strict=True)}
    rules = str(DATA / "prioprivacy" / "rules")
    options = {"wildcard_suppression": True, "suppression_order": "published", "rules": rules}
    spec = specs.parse({"source": "adult", "quasi_identifiers": columns, "privacy": {"k": k}, **options})
    frequency_set = adult(hierarchies=False)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    labels_of = {tuple(map(str, row)): labels for row, (labels, _) in released(frequency_set, local).items()}
    published = read_rows(DATA / "prioprivacy" / "published" / f"experiment{experiment}_k{k}.csv")
    rows = read_rows(DATA / "prioprivacy" / "adult_9.csv")
    assert len(rows) == len(published) == 30_162
    assert [labels_of[row] for row in rows] == published
    below = sum(n for n in Counter(published).values() if n < k)
    assert local.facts["string_classes"] == {"smallest": 1, "rows_below": below}
    assert local.facts["wildcard"]["rows_below"] == 0
    assert local.facts["wildcard"]["smallest"] >= k


@needs_published
@needs_experiments
@pytest.mark.slow
@pytest.mark.sampled
def test_the_published_quality(experiment: int, k: int) -> None:
    frequency_set = adult(hierarchies=True)
    published = read_rows(DATA / "prioprivacy" / "published" / f"experiment{experiment}_k{k}.csv")
    with Scratch(frequency_set.engine) as tables:
        built = _load(tables, frequency_set, read_rows(DATA / "prioprivacy" / "adult_9.csv"), published)
        table, columns = quality.measure(frequency_set.engine, frequency_set.attributes, *built)
        bits = quality.lost_bits(frequency_set, *built)
    expected = {row["attribute"]: row for row in _results("attribute", experiment, k)}
    for name in COLUMNS:
        assert _figures(columns[name]) == pytest.approx(_expected(expected[name]), abs=1e-9)
    costs = Judge(frequency_set, all_of(k_anonymity(k))).with_cells(Costs(30_162, k, (), ()))
    lost = dict(zip(COLUMNS, zip(bits, costs.most_bits, strict=True), strict=True))
    for name, (of, most) in lost.items():
        assert 1 - of / most == pytest.approx(float(expected[name]["n.u. entropy"]), abs=1e-9)
    (row,) = _results("dataset", experiment, k)
    scored = METRICS["entropy"].score(replace(costs, level_losses=costs.level_bits), Figures(None, bits=bits))
    assert 1 - scored == pytest.approx(float(row["n.u. entropy"]), abs=1e-9)
    losses = tuple(1 - columns[name].granularity_kept for name in COLUMNS)
    leaves = tuple(a.hierarchy.leaf_count for a in frequency_set.attributes)
    granularity = METRICS["granularity"].score(
        replace(costs, level_losses=costs.level_bits, leaves=leaves), Figures(None, losses=losses)
    )
    assert 1 - granularity == pytest.approx(float(row["granularity"]), abs=1e-9)
    assert _figures(table) == pytest.approx(_expected(row), abs=1e-9)
    rows = read_rows(DATA / "prioprivacy" / "adult_9.csv")
    before, after = (Counter(Counter(given).values()).items() for given in (rows, published))
    wanted = float(row["discernibility"]), float(row["avg. class size"])
    assert _of_class_sizes(before, after) == pytest.approx(wanted, abs=1e-9)


def _of_class_sizes(before: Iterable[tuple[int, int]], after: Iterable[tuple[int, int]]) -> tuple[float, float]:
    """Discernibility and average class size, normalized between the source's and one class of all rows.

    `before`, `after`: (rows in a class, how many such classes) of the source and of the release.
    """
    (rows, classes, squares), (_, fewer, more) = (
        (sum(n * m for n, m in sizes), sum(m for _, m in sizes), sum(n * n * m for n, m in sizes))
        for sizes in (list(before), list(after))
    )
    discernibility = quality.normalized(more, squares, rows**2)
    return discernibility, quality.normalized(rows / fewer, rows / classes, rows)


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
    shows = {f"label_{j}": "VARCHAR" for j in range(len(names))} | {f"level_{j}": "INTEGER" for j in range(len(names))}
    levels = [
        [_level(a, label) for label in of]
        for a, of in zip(frequency_set.attributes, zip(*classes, strict=True), strict=True)
    ]
    columns = [list(classes.values()), *zip(*classes, strict=True), *levels]
    return assignment, tables.load("classes", {"class": "INTEGER", **shows}, columns)


def _level(attribute: Attribute, label: str) -> int:
    """The lowest level that has a label; a star is the top."""
    hierarchy = attribute.hierarchy
    levels = ([str(label) for label in hierarchy.labels(level)] for level in range(hierarchy.height + 1))
    return next((level for level, labels in enumerate(levels) if label in labels), hierarchy.height)


def _results(of: str, experiment: int, k: int) -> list[dict[str, str]]:
    with open(DATA / "prioprivacy" / "published" / f"results_{of}_level.csv", newline="", encoding="utf-8") as file:
        results = [{key.strip(): value for key, value in row.items()} for row in csv.DictReader(file)]
    wanted = {"k": str(k), "experiment": f"exp{experiment}", "method": "prioprivacy"}
    return [row for row in results if wanted.items() <= row.items()]


def _figures(measured: quality.Quality) -> tuple[float, ...]:
    return measured.entropy_kept, measured.intensity_kept, measured.granularity_kept


def _expected(row: Mapping[str, str]) -> tuple[float, ...]:
    return tuple(float(row[name]) for name in ("n.u. entropy", "gen. intensity", "granularity"))
