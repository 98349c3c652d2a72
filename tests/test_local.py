"""The releases of local recodings: any classes of any algorithm, and the labels that they show."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from statistics import median_low
from typing import Any

import duckdb
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SourceError, SpecError, VerificationError
from kanon_sql.recode import RECODERS, Clock, Local, Recoder, Task
from support.database import MakeTable
from support.examples import examples
from support.local import AGES, CITIES, TYPES, spec_of, tables
from support.survey import survey


@dataclass
class Given:
    """A recoder of the test's own: the class of every tuple's rows, in the order of the tuples' codes."""

    classes: dict[tuple[Any, Any], list[int | None]] = field(default_factory=dict)
    split: bool = False

    def __call__(self, task: Task) -> Local:
        age, city = task.frequency_set.attributes
        parts = [
            (*self._codes(task, key), first, first + n - 1, n, number)
            for key, of_rows in self.classes.items()
            for number, first, n in runs(of_rows)
        ]
        names = [age.coded.code_column(0), city.coded.code_column(0), "first", "last", "n", "class"]
        types = dict.fromkeys(names, "INTEGER")
        assignment = task.results.load("assignment", types, list(zip(*parts, strict=True)))
        return Local(assignment, split=self.split)

    def _codes(self, task: Task, key: tuple[Any, Any]) -> list[int]:
        return [
            attribute.hierarchy.codes(0)[attribute.hierarchy.values.index(value)]
            for attribute, value in zip(task.frequency_set.attributes, key, strict=True)
        ]


def runs(classes: Sequence[int | None]) -> list[tuple[int | None, int, int]]:
    """Equal classes that stand together: which, from which place (1 up), how many."""
    counts = sorted(Counter(classes).items(), key=repr)
    firsts = accumulate((n for _, n in counts), initial=1)
    return [(number, first, n) for (number, n), first in zip(counts, firsts, strict=False)]


@pytest.fixture
def recoder() -> Iterator[Given]:
    given_classes = Given()
    RECODERS["given"] = Recoder("given", given_classes, "what the test says", ranges=True)
    yield given_classes
    del RECODERS["given"]


def common(values: set[Any], labels: Callable[[Any], Sequence[str | None]]) -> str | None:
    """The lowest common ancestor of some values."""
    return next(of[0] for of in (list(level) for level in zip(*map(labels, values), strict=True)) if len(set(of)) == 1)


def of_age(age: int | None) -> Sequence[str | None]:
    return (None, "unknown", "*") if age is None else (str(age), f"{age // 10}0s", "*")


def of_city(city: str | None) -> Sequence[str | None]:
    return (None, "unknown", "*") if city is None else (city, CITIES[city], "*")


def ends(ages: Sequence[int], how: str) -> tuple[int, int]:
    """The bounds of a class: of one age itself, of several the first and the last leaf of their tens in the file."""
    low, high = min(ages), max(ages)
    if how.startswith("exact") or low == high:
        return low, high
    return min(a for a in AGES if a // 10 == low // 10), max(a for a in AGES if a // 10 == high // 10)


def shown(ages: Sequence[int | None], how: str) -> tuple[Any, ...]:
    """What a class of these ages shows."""
    known = [age for age in ages if age is not None]
    mixed = len(set(ages)) > 1 and len(known) < len(ages)
    if how == "common":
        return (common(set(ages), of_age),)
    if how.endswith("ranges"):
        low, high = ends(known, how) if known else (None, None)
        text = str(low) if low is not None and low == high else f"[{low}, {high}]"
        return ("*" if mixed else None if low is None else text,)
    if how.endswith("bounds"):
        return (None, None) if len(known) < len(ages) else ends(known, how)
    if how == "mean":
        return (None if len(known) < len(ages) else float(Fraction(sum(known), len(known))),)
    order = sorted(ages, key=lambda age: (age is not None, age or 0))
    if how == "median":
        return (median_low([(age is not None, age or 0, age) for age in order])[2],)
    most = Counter(order).most_common()
    return (next(age for age in order if dict(most)[age] == most[0][1]),)


people = st.lists(
    st.tuples(st.sampled_from([*AGES, None]), st.sampled_from([*CITIES, None]), st.sampled_from(["flu", "cold", None])),
    min_size=2,
    max_size=14,
)


def partition(rows: Sequence[Any], picks: Sequence[int], split: bool) -> dict[tuple[Any, Any], list[int | None]]:
    """A class for every row of every tuple; all rows of one tuple have one class where tuples are not split."""
    classes: dict[tuple[Any, Any], list[int | None]] = defaultdict(list)
    for (age, city, _), pick in zip(rows, picks, strict=False):
        whole = classes[age, city][:1] if not split else []
        classes[age, city] += whole or [pick]
    return dict(classes)


@pytest.mark.parametrize(
    "how", ["common", "ranges", "bounds", "exact-ranges", "exact-bounds", "mean", "median", "mode"]
)
@examples(15)
@given(rows=people, picks=st.lists(st.integers(0, 2), min_size=14, max_size=14), split=st.booleans())
def test_classes_show_what_they_should(
    recoder: Given, tmp_path: Path, how: str, rows: list[Any], picks: list[int], split: bool
) -> None:
    recoder.classes, recoder.split = partition(rows, picks, split), split
    table = pandas.DataFrame([("x", *row) for row in rows], columns=list(TYPES)).astype({"age": "Int64"})
    spec = spec_of(tmp_path, 1, source=None, show=how)
    release = kanon_sql.anonymize(table, {k: v for k, v in spec.items() if v is not None})
    ages: dict[Any, list[Any]] = defaultdict(list)
    cities: dict[Any, list[Any]] = defaultdict(list)
    for (age, city), of_rows in recoder.classes.items():
        for number in of_rows:
            ages[number].append(age)
            cities[number].append(city)
    expected = Counter(
        (*shown(ages[number], how), mode_of(cities[number]) if how == "mode" else common(set(cities[number]), of_city))
        for of_rows in recoder.classes.values()
        for number in of_rows
    )
    frame = release.to_df().drop(columns=["ill"]).astype(object)
    frame = frame.where(frame.notna(), None)
    released = Counter(tuple(row) for row in frame.itertuples(index=False))
    assert released == expected
    assert release.manifest["classes"] == len(expected)
    assert Counter(release.to_df()["ill"].astype(object).where(release.to_df()["ill"].notna(), None)) == Counter(
        ill for *_, ill in rows
    )


# The cities as their hierarchy orders them: countries stay together, in the order of their first city; then NULL.
IN_ORDER = ["Breda", "Delft", "Ghent", "Liège", "Oslo", None]


def mode_of(cities: Sequence[str | None]) -> str | None:
    """The most frequent city, the first of those that tie."""
    counts = Counter(cities)
    return max(IN_ORDER, key=lambda city: counts[city])


# Where it is written

ROWS = [
    ("a", 20, "Ghent", "flu"),
    ("b", 21, "Liège", "cold"),
    ("c", 20, "Ghent", "flu"),
    ("d", 47, None, "cold"),
    ("e", 47, "Oslo", "flu"),
    ("f", None, "Oslo", None),
    ("g", 47, "Oslo", "cold"),
    ("h", 47, "Oslo", "flu"),
]
CLASSES_OF = {(20, "Ghent"): [0, 0], (21, "Liège"): [0], (47, None): [1], (47, "Oslo"): [1, 1, 2], (None, "Oslo"): [2]}
RELEASED = Counter({("[20, 29]", "BE"): 3, ("47", "*"): 3, ("*", "Oslo"): 2})


def released(rows: Sequence[Sequence[Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row[:2]) for row in rows)


@pytest.mark.spark
@pytest.mark.parametrize("form", ["table", "view"])
def test_a_table_or_view_of_classes(
    engine: Engine, make_table: MakeTable, recoder: Given, tmp_path: Path, form: str
) -> None:
    make_table(engine, "people", TYPES, ROWS)
    recoder.classes, recoder.split = CLASSES_OF, True
    spec = spec_of(tmp_path, 2, target={"table": "anon", "as": form})
    release = kanon_sql.anonymize(None, spec, connection=engine.connection)  # type: ignore[attr-defined]
    rows = engine.rows("SELECT age, city, ill FROM anon")
    assert released(rows) == RELEASED
    assert Counter(ill for *_, ill in rows) == Counter(ill for *_, ill in ROWS)
    assert (release.manifest["verified"], release.manifest["smallest_class"], release.manifest["suppressed_rows"]) == (
        True,
        2,
        0,
    )
    assert (release.manifest["node"], release.manifest["shown"]) == (None, {"age": "ranges", "city": "common"})


@pytest.mark.slow
def test_a_view_of_classes_counts_again(engine: Engine, make_table: MakeTable, recoder: Given, tmp_path: Path) -> None:
    make_table(engine, "people", TYPES, ROWS)
    recoder.classes, recoder.split = CLASSES_OF, True
    target = {"table": "anon", "as": "view"}
    kanon_sql.anonymize(None, spec_of(tmp_path, 2, target=target), connection=engine.connection)  # type: ignore[attr-defined]
    engine.run("DELETE FROM people WHERE name IN ('f', 'b', 'c')")
    assert released(engine.rows("SELECT age, city, ill FROM anon")) == Counter({("47", "*"): 3})
    engine.run("INSERT INTO people VALUES ('z', 20, 'Ghent', 'x'), ('y', 30, 'Ghent', 'x'), ('y', 20, 'Rome', 'x')")
    assert released(engine.rows("SELECT age, city, ill FROM anon")) == Counter({("47", "*"): 3, ("[20, 29]", "BE"): 2})
    engine.run("DELETE FROM people WHERE city = 'Rome'")
    again = spec_of(tmp_path, 2, target={**target, "overwrite": True})
    recoder.classes = {(20, "Ghent"): [0, 0], (47, None): [0], (47, "Oslo"): [0, 0, 0], (30, "Ghent"): [None]}
    kanon_sql.anonymize(None, again, connection=engine.connection)  # type: ignore[attr-defined]
    assert released(engine.rows("SELECT age, city, ill FROM anon")) == Counter({("[20, 47]", "*"): 6})


def test_the_statement_is_standalone(engine: Engine, make_table: MakeTable, recoder: Given, tmp_path: Path) -> None:
    from kanon_sql.plan.observer import Observer
    from kanon_sql.plan.plan import plan_release
    from kanon_sql.plan.source import opened, settle_spec
    from kanon_sql.release import recoded

    make_table(engine, "people", TYPES, ROWS)
    recoder.classes, recoder.split = CLASSES_OF, True
    settled = settle_spec(None, spec_of(tmp_path, 2), {})
    with opened(None, settled, engine.connection) as source, source.scratches:  # type: ignore[attr-defined]
        plan = plan_release(source, settled, Observer())
        statement = recoded.target_sql(plan.recoding, None)
    assert "kanon_map" not in statement
    assert released(engine.rows(f"SELECT age, city FROM ({statement}) AS release")) == RELEASED


def test_a_file_of_bounds(recoder: Given, tmp_path: Path) -> None:
    recoder.classes, recoder.split = CLASSES_OF, True
    table, out = pandas.DataFrame(ROWS, columns=list(TYPES)).astype({"age": "Int64"}), tmp_path / "out.parquet"
    spec = {**spec_of(tmp_path, 2, target={"file": str(out)}), "source": "x"}
    spec["quasi_identifiers"]["age"]["show"] = "bounds"
    kanon_sql.anonymize(table, spec)
    connection = duckdb.connect()
    written = connection.read_parquet(str(out))
    assert written.columns == ["age_min", "age_max", "city", "ill"]
    assert [str(item) for item in written.types[:2]] == ["BIGINT", "BIGINT"]
    assert Counter(written.project("age_min, age_max, city").fetchall()) == Counter(
        {(20, 29, "BE"): 3, (47, 47, "*"): 3, (None, None, "Oslo"): 2}
    )


def test_an_unsafe_class_is_never_written(
    engine: Engine, make_table: MakeTable, recoder: Given, tmp_path: Path
) -> None:
    make_table(engine, "people", TYPES, ROWS)
    recoder.classes, recoder.split = CLASSES_OF, True
    spec = spec_of(tmp_path, 3, target={"table": "anon"})
    with pytest.raises(VerificationError, match="2 rows in 1 classes that do not satisfy"):
        kanon_sql.anonymize(None, spec, connection=engine.connection)  # type: ignore[attr-defined]
    assert engine.find("anon") is None


def test_a_tuple_without_a_class_is_suppressed(
    embedded: DuckDB, make_table: MakeTable, recoder: Given, tmp_path: Path
) -> None:
    make_table(embedded, "people", TYPES, ROWS)
    recoder.classes, recoder.split = {**CLASSES_OF, (47, None): [None], (None, "Oslo"): [None]}, False
    recoder.classes[47, "Oslo"] = [1, 1, 1]
    release = kanon_sql.anonymize(None, spec_of(tmp_path, 2), connection=embedded.connection)
    manifest = release.manifest
    assert released(release.to_df().to_numpy().tolist()) == Counter({("[20, 29]", "BE"): 3, ("47", "Oslo"): 3})
    assert (manifest["suppressed_rows"], manifest["released_rows"]) == (2, 6)
    # Of eight rows three of age and of city are unchanged (47, Oslo), and two are suppressed.
    assert manifest["modification_per_attribute"] == {"age": 5 / 8, "city": 5 / 8}
    assert manifest["distortion_per_attribute"] == {"age": pytest.approx(3.5 / 8), "city": pytest.approx(3.5 / 8)}
    assert manifest["loss_per_attribute"] == {
        "age": pytest.approx((3 * 2 / 6 + 2) / 8),
        "city": pytest.approx((3 / 5 + 2) / 8),
    }
    assert embedded.rows("SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'kanon%'") == [
        ("kanon_release_1",)
    ]


# What a search found, shown otherwise


def test_a_node_can_show_means(tmp_path: Path) -> None:
    table = pandas.DataFrame([row for row in ROWS if row[1] is not None], columns=list(TYPES)).astype({"age": int})
    spec = spec_of(tmp_path, 2, strategy="exhaustive", suppression_limit=0.0, source="x")
    spec["quasi_identifiers"]["age"]["show"] = "mean"
    release = kanon_sql.anonymize(table, spec)
    assert release.manifest["recoding"]["node"] == {"age": 1, "city": 2}
    assert released(release.to_df().to_numpy().tolist()) == Counter({(61 / 3, "BE"): 3, (47.0, "*"): 4})


@pytest.mark.parametrize("name", sorted(RECODERS))
@examples(15)
@given(rows=tables, k=st.integers(1, 4), show=st.sampled_from([None, "common", "ranges", "bounds", "exact-ranges"]))
def test_every_row_is_released_under_labels_that_cover_it(
    tmp_path: Path, name: str, rows: list[Any], k: int, show: str | None
) -> None:
    if len(rows) < k:
        return
    table = pandas.DataFrame([(f"p{i}", *row, i) for i, row in enumerate(rows)], columns=[*TYPES]).astype(
        {"age": "Int64"}
    )
    spec = spec_of(tmp_path, k, strategy=name, unmapped="top", source="x")
    if show and name != "prioprivacy":  # which has labels of its own
        spec["quasi_identifiers"]["age"]["show"] = show
    release = kanon_sql.anonymize(table, spec)
    frame = release.to_df().astype(object)
    released = [tuple(None if pandas.isna(cell) else cell for cell in row) for row in frame.itertuples(index=False)]
    assert len(released) == len(rows) - release.manifest["suppressed_rows"]
    assert min(Counter(row[:-1] for row in released).values(), default=k) >= k
    assert len({row[-1] for row in released}) == len(released)
    for *ages, city, place in released:
        age, original = rows[place]
        assert city in of_any_city(original)
        assert covers(ages, age)


@pytest.mark.capability("local recodings, computed in an embedded DuckDB")
@pytest.mark.spark(form=["table"])
@pytest.mark.parametrize("name", sorted(RECODERS))
@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.slow
@pytest.mark.sampled
def test_every_strategy_releases_inside_the_database(
    engine: Engine, make_table: MakeTable, tmp_path: Path, name: str, form: str
) -> None:
    rows = [(f"p{i}", AGES[i * i % 5], list(CITIES)[i * 7 % 4], "ab"[i % 2]) for i in range(40)]
    make_table(engine, "people", TYPES, rows)
    spec = spec_of(tmp_path, 3, strategy=name, target={"table": "anon", "as": form})
    release = kanon_sql.anonymize(None, spec, connection=engine.connection)  # type: ignore[attr-defined]
    rows_shown = engine.rows("SELECT age, city, ill FROM anon")
    assert release.manifest["verified"]
    assert len(rows_shown) == 40 - release.manifest["suppressed_rows"] > 0
    assert min(released(rows_shown).values()) == release.manifest["smallest_class"] >= 3


@pytest.mark.slow
def test_columns_can_be_named_like_internal_tables(engine: Engine, make_table: MakeTable) -> None:
    rows = [(i * i % 5, i % 2, i % 3, i) for i in range(30)]
    names = ["assignment", "classes", "class", "first"]
    make_table(engine, "people", dict.fromkeys(names, "INTEGER"), rows)
    spec = {"source": "people", "quasi_identifiers": names[:3], "keep": "*", "target": {"table": "anon", "as": "view"}}
    kanon_sql.anonymize(None, spec, connection=engine.connection, strategy="mondrian", k=4)  # type: ignore[attr-defined]
    released = engine.rows('SELECT assignment, classes, "class", "first" FROM anon')
    assert sorted(row[-1] for row in released) == list(range(30))
    assert min(Counter(row[:-1] for row in released).values()) >= 4


def of_any_city(city: str | None) -> Sequence[str | None]:
    return of_city(city) if city is None or city in CITIES else ("*",)


def covers(shown: Sequence[Any], age: int | None) -> bool:
    """Whether what is shown of an age may stand for it: a label, a range, or two bounds."""
    if len(shown) == 2:
        return shown == [None, None] or (age is not None and shown[0] <= age <= shown[1])
    (label,) = shown
    if label is None or not label.startswith("["):
        return label in of_age(age)
    low, high = map(int, label.strip("[]").split(","))
    return age is not None and low <= age <= high


# What cannot be


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"mask": True}, "no node whose masked rows"),
        (
            {"quasi_identifiers": {"age": {"min_level": 1}, "city": {}}},
            "has no levels, so min_level and max_level of 'age'",
        ),
        ({"quasi_identifiers": {"age": {"show": "mean"}, "city": {"show": "ranges"}}}, "'city' is of type .*no ranges"),
        ({"quasi_identifiers": {"age": {"show": "bounds"}}, "keep": ["age_min"]}, "'age_min' exists already"),
        ({"quasi_identifiers": {"age": {}, "ill": {}}, "sensitive": []}, "'ill' has no hierarchy, and .* has no order"),
    ],
)
@pytest.mark.usefixtures("recoder")
def test_impossible_requests_are_reported_before_any_work(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    table = pandas.DataFrame(ROWS, columns=list(TYPES)).assign(age_min=1)
    with pytest.raises(SpecError, match=message):
        kanon_sql.anonymize(table, {**spec_of(tmp_path, 2, source="x"), **more})


def test_a_number_needs_no_hierarchy(recoder: Given, tmp_path: Path) -> None:
    table = pandas.DataFrame(ROWS, columns=list(TYPES)).astype({"age": "Int64"})
    recoder.classes, recoder.split = CLASSES_OF, True
    spec = spec_of(tmp_path, 2, source="x")
    spec["quasi_identifiers"]["age"] = {"show": "exact-ranges"}
    release = kanon_sql.anonymize(table, spec)
    exact = {("[20, 21]" if age == "[20, 29]" else age, city): n for (age, city), n in RELEASED.items()}
    assert released(release.to_df().to_numpy().tolist()) == exact


# Weights


def test_priorities_become_weights() -> None:
    from kanon_sql import spec
    from kanon_sql.plan.problem import weights_of

    settings = spec.parse(
        {
            "source": "t",
            "quasi_identifiers": {"a": {"priority": 1}, "b": {"priority": 3}, "c": {}, "d": {"weight": 0.5}},
        }
    )
    assert weights_of(settings) == (1.0, pytest.approx(1 / 3), pytest.approx(1 / 3), 0.5)
    assert weights_of(spec.parse({"source": "t", "quasi_identifiers": ["a", "b"]})) == ()


def test_a_weight_moves_the_optimum() -> None:
    rows = [(a, b) for a in ("x1", "x2") for b in ("y1", "y2")]
    table = pandas.DataFrame(rows, columns=["a", "b"])
    recipes = {"a": {"hierarchy": "suppress"}, "b": {"hierarchy": "suppress"}}
    for important, other in (("a", "b"), ("b", "a")):
        manifest = kanon_sql.anonymize(
            table, {"quasi_identifiers": recipes}, k=2, suppression_limit=0.0, priorities={important: 1, other: 2}
        ).manifest
        assert manifest["node"] == {important: 0, other: 1}
        assert manifest["score"] == pytest.approx(1 / 3)
        assert manifest["weights"] == {important: 1.0, other: 0.5}


def test_a_priority_of_no_column_is_an_error() -> None:
    with pytest.raises(SpecError, match="the priority of 'c' names no quasi-identifier; there are a, b"):
        kanon_sql.anonymize(pandas.DataFrame({"a": [1], "b": [2]}), quasi_identifiers=["a", "b"], priorities={"c": 1})


# The end of the time


def test_a_statement_running_at_the_time_limit_is_interrupted() -> None:
    """Hours of work in one statement end at once; what was there before still is, and work goes on."""
    engine = DuckDB()
    engine.run("CREATE TEMPORARY TABLE made AS SELECT 1 AS x")
    clock = Clock(0.05)
    began: list[str] = []
    task = _Timed(engine, clock)
    with Task.working(task):  # type: ignore[arg-type]
        began.append("the long one")
        engine.run("CREATE TEMPORARY TABLE lost AS SELECT a.range FROM range(10000000) AS a, range(10000000) AS b")
        began.append("what comes after it")
    assert (began, clock.ended) == (["the long one"], "time limit")
    assert engine.rows("SELECT table_name FROM duckdb_tables()") == [("made",)]


def test_an_error_is_not_taken_for_the_end_of_the_time() -> None:
    task = _Timed(DuckDB(), Clock(60.0))
    with pytest.raises(SourceError, match="no_such_table"), Task.working(task):  # type: ignore[arg-type]
        task.engine.run("FROM no_such_table")


@pytest.mark.parametrize("name", sorted(RECODERS))
@pytest.mark.slow
@pytest.mark.sampled
def test_nearly_distinct_rows_with_hardly_any_time(name: str, tmp_path: Path) -> None:
    """Inside the run's transaction, and under a small limit of memory."""
    people, spec = survey(tmp_path, 3_000)
    connection = duckdb.connect()
    connection.execute("SET memory_limit = '500MB'")
    connection.execute("CREATE TABLE people AS FROM people")
    release = kanon_sql.anonymize("people", {**spec, "time_limit": 0.1}, connection=connection, strategy=name, k=5)
    assert (release.manifest["verified"], release.manifest["released_rows"]) == (True, 3_000)
    assert release.manifest["search_ended"] == "time limit"
    assert connection.execute("SELECT COUNT(*) FROM people").fetchone() == (len(people),)


@dataclass
class _Timed:
    """What `Task.working` needs of a task."""

    engine: DuckDB
    clock: Clock
    _clocks: list[Clock] = field(default_factory=list)
