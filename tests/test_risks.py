"""The risks of a table against plain counting, and against `verify` on the same classes."""

from __future__ import annotations

import json
from math import exp, log
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.privacy import estimated_uniqueness
from kanon_sql.risk import single_columns
from kanon_sql.risk.table import TableRisk
from kanon_sql.verbs.risk import FIGURES
from support.data import DATA, needs_adult
from support.database import create_table
from support.models import equal_distance, ordered_distance
from support.risk import Counted, histogram, people_alone, separated

QUASI = ["zip", "age", "sex"]
TYPES = {"id": "INTEGER", "zip": "VARCHAR", "age": "INTEGER", "sex": "VARCHAR", "ill": "VARCHAR", "pay": "INTEGER"}
BANDS = [(1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, None)]


def drawn(seed: int, rows: int = 60) -> list[dict[str, Any]]:
    """A table with NULLs, in which somebody may have several rows, also in several classes."""
    draw = Random(seed)
    return [
        {
            "id": draw.randint(1, rows // 2),
            "zip": draw.choice(["0213*", "0214*", None]),
            "age": draw.choice([30, 40, None]),
            "sex": draw.choice(["f", "f", "f", "m"]),
            "ill": draw.choice(["flu", "flu", "gout", None]),
            "pay": draw.choice([1, 2, 2, 9]),
        }
        for _ in range(rows)
    ]


def create(engine: Engine, name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    create_table(engine, name, TYPES, [tuple(row.values()) for row in rows])
    return rows


def measured(engine: Engine, source: Any = "t", **options: Any) -> kanon_sql.Risks:
    settings: dict[str, Any] = {"quasi_identifiers": QUASI, "sensitive": ["ill"], "connection": engine.connection}
    return kanon_sql.risk(source, **{**settings, **options})


def frame(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    return pandas.DataFrame(rows).astype({"age": "Int64"})


def assert_classes_are(seen: TableRisk, expected: Counted) -> None:
    classes, sizes = seen.classes, expected.sizes
    assert (classes.rows, classes.people, classes.number) == (len(expected.rows), expected.people, len(sizes))
    assert [(b.least, b.most) for b in classes.bands] == BANDS
    assert [(b.classes, b.rows, b.people) for b in classes.bands] == [expected.band(*band) for band in BANDS]
    assert (classes.highest, classes.mean) == (1 / min(sizes), pytest.approx(float(expected.mean)))
    above = [expected.above(band.risk) for band in classes.above]
    assert [(band.rows, band.people) for band in classes.above] == [(rows, people) for rows, people, _ in above]
    assert [band.share for band in classes.above] == [pytest.approx(float(share)) for *_, share in above]
    unsafe = [class_ for class_ in expected.classes if expected.size(class_) < 5]
    (finding,) = seen.findings
    assert (seen.k, finding.achieved) == (5, min(sizes))
    assert (finding.unsafe_classes, finding.unsafe_rows) == (len(unsafe), sum(map(len, unsafe)))


# Figures


@pytest.mark.parametrize("unit", [None, "id"])
def test_the_figures_are_those_of_plain_counting(engine: Engine, unit: str | None) -> None:
    rows = create(engine, "t", drawn(1))
    expected = Counted(rows, QUASI, unit)
    seen = measured(engine, unit=unit).source
    assert_classes_are(seen, expected)
    for item in seen.sensitive:
        same = item.homogeneous_classes, item.homogeneous_rows, item.homogeneous_people
        assert same == expected.homogeneous(item.column)
        assert item.attribution == pytest.approx(expected.attribution(item.column))
        assert item.certain == expected.certain(item.column)
        assert item.distinct_l == min(map(len, expected.of_values(item.column)))
    for separation in (*seen.separations.columns, *seen.separations.sets):
        figures = separation.distinction, separation.separation, separation.unique_rows
        assert figures == pytest.approx(separated(rows, separation.columns))
    for alone in seen.separations.columns:
        others = [name for name in QUASI if name not in alone.columns]
        assert alone.unique_without == separated(rows, others)[2]
        assert alone.unique_people_without == (people_alone(rows, others, unit) if unit else None)
    assert seen.separations.unique_rows == separated(rows, QUASI)[2]
    for separation in (*seen.separations.columns, *seen.separations.sets):
        assert separation.unique_people == (people_alone(rows, separation.columns, unit) if unit else None)
    assert seen.separations.unique_people == (people_alone(rows, QUASI, unit) if unit else None)


def test_diversity_and_closeness_are_those_of_plain_counting(engine: Engine) -> None:
    rows = create(engine, "t", [{**row, "ill": row["ill"] or "none"} for row in drawn(4)])
    expected = Counted(rows, QUASI)
    ill, pay = measured(engine, sensitive=["ill", "pay"]).source.sensitive
    for item in (ill, pay):
        table, classes = expected.values(rows, item.column), expected.of_values(item.column)
        entropies = [-sum(n / c.total() * log(n / c.total()) for n in c.values()) for c in classes]
        assert item.entropy_l == pytest.approx(exp(min(entropies)))
        assert item.t_equal == pytest.approx(float(max(equal_distance(c, table) for c in classes)))
        assert item.guess == pytest.approx(max(table.values()) / len(rows))
    assert ill.t_ordered is None
    pays = expected.values(rows, "pay")
    worst = max(ordered_distance(c, pays) for c in expected.of_values("pay"))
    assert pay.t_ordered == pytest.approx(float(worst))


@pytest.mark.parametrize("unit", [None, "id"])
def test_the_figures_are_those_of_verify(unit: str | None) -> None:
    people = frame(drawn(5))
    options: dict[str, Any] = {"unit": unit, "l_diversity": {"ill": {"l": 2, "kind": "entropy"}}, "k": 3}
    options["t_closeness"] = {"pay": {"t": 0.3, "distance": "ordered"}}
    options["risk"] = {"model": "prosecutor", "mean": 0.2, "above": {"threshold": 0.2, "share": 0.1}}
    verified = kanon_sql.verify(people, quasi_identifiers=QUASI, **options).summary
    seen = kanon_sql.risk(people, quasi_identifiers=QUASI, sensitive=["ill", "pay"], **options).source
    assert verified is not None
    assert seen.findings == verified.findings
    assert seen.holds is verified.holds is False
    _, entropy, distance, mean, above = (finding.achieved for finding in verified.findings)
    assert (seen.sensitive[0].entropy_l, seen.sensitive[1].t_ordered) == (entropy, distance)
    assert (distance is None) == bool(unit)  # somebody has several values, if in no one class
    if unit is None:  # the models count somebody in each of their classes, and the figures everybody once
        assert (seen.classes.mean, seen.classes.above[2].share) == (mean, above)


def test_the_figures_of_sweeneys_table() -> None:
    """L. Sweeney, "k-anonymity: a model for protecting privacy", 2002, figure 2: 2-anonymous, and no more."""
    kinds = {
        ("Black", 1965, "m", "0214*"): 2,
        ("Black", 1965, "f", "0213*"): 2,
        ("Black", 1964, "f", "0213*"): 2,
        ("White", 1964, "m", "0213*"): 3,
        ("White", 1967, "m", "0213*"): 2,
    }
    rows = [kind for kind, n in kinds.items() for _ in range(n)]
    table = pandas.DataFrame(rows, columns=["race", "birth", "sex", "zip"])
    seen = kanon_sql.risk(table, quasi_identifiers=list(table), k=2).source
    assert (seen.holds, seen.classes.smallest, seen.classes.highest) == (True, 2, 0.5)
    assert seen.classes.mean == pytest.approx(5 / 11)
    assert {band.risk: band.rows for band in seen.classes.above} == {0.05: 11, 0.09: 11, 0.2: 11, 0.33: 11, 0.5: 0}
    assert seen.separations.unique_rows == 0


def test_uniqueness_is_the_estimate_of_the_class_sizes() -> None:
    rows = drawn(6)
    seen = kanon_sql.risk(frame(rows), quasi_identifiers=QUASI, sampling_fraction=0.3)
    assert seen.figure("uniqueness") == estimated_uniqueness(histogram(Counted(rows, QUASI).sizes), 0.3)


def test_a_release_is_a_smaller_sample_of_the_same_population() -> None:
    rows = drawn(6)
    kept = rows[:45]
    seen = kanon_sql.risk(frame(rows), quasi_identifiers=QUASI, sampling_fraction=0.4, release=frame(kept))
    assert seen.figure("uniqueness") == pytest.approx(estimated_uniqueness(histogram(Counted(kept, QUASI).sizes), 0.3))


def test_the_journalist_looks_in_the_population(engine: Engine) -> None:
    people = create(engine, "people", drawn(7, 200))
    sample = create(engine, "t", people[::4])
    around = {
        key: len(class_) for class_ in Counted(people, QUASI).classes for key in [tuple(class_[0][n] for n in QUASI)]
    }
    seen = measured(engine, population="people", sensitive=[])
    sizes = [around[tuple(row[name] for name in QUASI)] for row in sample]
    assert seen.figure("journalist") == pytest.approx(1 / min(sizes))
    # The larger of the mean over the rows, and that over those of the population whom they stand for.
    classes = {tuple(row[name] for name in QUASI) for row in sample}
    means = sum(1 / size for size in sizes) / len(sizes), len(classes) / sum(around[class_] for class_ in classes)
    assert seen.source.journalist["mean"] == pytest.approx(max(means))
    assert seen.figure() == 1 / min(Counted(sample, QUASI).sizes) > seen.figure("journalist")


def test_the_journalist_risk_of_people_outside_the_population_is_unknown() -> None:
    people, sample = [row for row in drawn(7, 200) if (row["age"], row["sex"]) != (30, "m")], drawn(8)
    seen = kanon_sql.risk(frame(sample), quasi_identifiers=QUASI, population=frame(people))
    strangers = sum((row["age"], row["sex"]) == (30, "m") for row in sample)
    assert seen.source.journalist == {"highest": None, "mean": None}
    assert len(people) > strangers > 0
    assert seen.notes[0].startswith(f"{strangers} rows of the source match no row of the population")


def test_people_are_distinguished_by_a_column_that_the_copy_of_a_slow_view_lacks(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.run("CREATE TABLE people (id UUID, zip VARCHAR(9))")
    one, other = (f"123e4567-e89b-12d3-a456-42661417400{digit}" for digit in (0, 1))
    for person, code in ((one, "1"), (one, "1"), (other, "1"), (other, "2")):
        engine.run(f"INSERT INTO people VALUES ('{person}', '{code}')")
    engine.run("CREATE VIEW seen AS SELECT * FROM people")
    monkeypatch.setattr(single_columns, "_SLOW_VIEW", 0.0)
    seen = measured(engine, "seen", quasi_identifiers=["zip"], sensitive=[], unit="id").source
    assert [(item.size, item.classes, item.rows) for item in seen.classes.by_size] == [(1, 1, 1), (2, 1, 3)]


# A source and its release


def test_a_release_is_shown_next_to_its_source(engine: Engine) -> None:
    rows = create(engine, "t", drawn(8))
    kept = create(engine, "released", [row for row in rows if row["sex"] == "f"])
    seen = measured(engine, release="released")
    assert seen.suppressed_rows == len(rows) - len(kept) > 0
    assert seen.release is not None
    assert_classes_are(seen.source, Counted(rows, QUASI))
    assert_classes_are(seen.release, Counted(kept, QUASI))
    assert seen.figure("mean") == seen.release.classes.mean
    closeness = {"t_closeness": {"ill": 0.3}, "quasi_identifiers": QUASI, "connection": engine.connection}
    verified = kanon_sql.verify("released", against="t", **closeness).summary
    assert verified is not None
    assert seen.release.sensitive[0].t_equal == verified.findings[1].achieved
    assert seen.release.sensitive[0].t_equal != measured(engine, "released").source.sensitive[0].t_equal


def test_a_release_that_shows_bounds_has_the_classes_of_its_bounds() -> None:
    source = pandas.DataFrame({"age": [30, 34, 50, 58], "ill": list("xyxx")})
    release = pandas.DataFrame({"age_min": [30, 30, 50, 50], "age_max": [34, 34, 58, 58], "ill": list("xyxx")})
    seen = kanon_sql.risk(source, {"quasi_identifiers": {"age": {"show": "bounds"}}}, release=release)
    assert seen.release is not None
    assert (seen.source.classes.smallest, seen.release.classes.smallest) == (1, 2)


def test_the_people_of_a_release_are_those_of_its_source(engine: Engine) -> None:
    rows = create(engine, "t", drawn(9))
    kept = [row for row in rows if row["age"] != 40]
    create(engine, "released", kept)
    engine.run('ALTER TABLE released DROP COLUMN "id"')
    seen = measured(engine, release="released", unit="id")
    assert seen.notes == ()
    assert seen.release is not None
    assert_classes_are(seen.release, Counted(kept, QUASI, "id"))
    (ill,) = seen.release.sensitive
    assert ill.homogeneous_people == Counted(kept, QUASI, "id").homogeneous("ill")[2]


def test_a_release_without_identifiable_people_is_counted_in_rows_with_a_note() -> None:
    """So is its source: a table has one unit."""
    rows = drawn(9)
    released = [{**row, "zip": "02***"} for row in rows]
    people = frame(released).drop(columns="id")
    seen = kanon_sql.risk(frame(rows), quasi_identifiers=QUASI, release=people, unit="id")
    assert seen.release is not None
    assert_classes_are(seen.source, Counted(rows, QUASI))
    assert_classes_are(seen.release, Counted(released, QUASI))
    (note,) = seen.notes
    assert note.startswith("rows are counted, not people")
    assert (seen.source.people_unknown, seen.release.people_unknown) == (True, True)
    assert {norm.met for norm in seen.release.norms if norm.rule in ("highest risk", "smallest group")} <= {False, None}


@needs_adult
def test_the_figures_of_adult() -> None:
    quasi = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
    seen = kanon_sql.risk(str(DATA / "adult" / "adult.csv"), quasi_identifiers=quasi, sensitive=["occupation"])
    classes, (occupation,) = seen.source.classes, seen.source.sensitive
    assert (classes.rows, classes.number, classes.smallest) == (30162, 12458, 1)
    assert [band.rows for band in classes.bands] == [8841, 3130, 3382, 4037, 2913, 7859]
    assert [band.rows for band in classes.above] == [22303, 19874, 15353, 14029, 8841]
    assert (occupation.homogeneous_classes, occupation.certain) == (9391, 10098)
    assert occupation.attribution == pytest.approx(0.5968768649)
    age, *_ = seen.source.separations.columns
    assert (age.columns, age.distinction, age.unique_without) == (("age",), pytest.approx(72 / 30162), 1980)
    assert age.separation == pytest.approx(0.9781172561)
    assert seen.source.contents.identifiers == ()
    (ages,) = seen.source.contents.ages
    assert (ages.rows, ages.values) == (35, 1)


# What it gives


def test_the_verb_stays_a_verb_next_to_the_package_of_its_name() -> None:
    from kanon_sql.risk.single_columns import SMALL_CLASS

    people = pandas.DataFrame({"zip": ["1", "1", "2"], "ill": list("xyx")})
    for _ in range(2):
        assert kanon_sql.risk(people, quasi_identifiers=["zip"]).figure() == 1
    assert SMALL_CLASS == 5


def test_the_result_is_aggregates_in_every_form(tmp_path: Path) -> None:
    rows = drawn(10)
    for row in rows:
        row["zip"], row["ill"] = f"canary{row['zip']}", f"canary{row['ill']}"
    seen = kanon_sql.risk(frame(rows), quasi_identifiers=QUASI, sensitive=["ill"], release=frame(rows[:50]))
    text = json.dumps(seen.to_dict())
    assert json.loads(text)["suppressed_rows"] == 10
    assert set(json.loads(text)["source"]) >= {"verdict", "class_sizes", "prosecutor", "norms", "identifiers"}
    assert "canary" not in text + str(seen) + seen.to_df().to_csv()
    assert list(seen.to_df()["rows"]) == [60, 50]
    assert seen.write(tmp_path / "risk.json").read_text() == seen.to_json() + "\n"


def test_an_observer_receives_the_stages() -> None:
    messages: list[str] = []
    kanon_sql.risk(frame(drawn(1)), quasi_identifiers=QUASI, observer=kanon_sql.Observer(stage=messages.append))
    assert messages[0] == "Reading"
    assert "Counting the classes of the source" in messages


# What does not go


def of_frame(rows: list[dict[str, Any]], **options: Any) -> kanon_sql.Risks:
    return kanon_sql.risk(frame(rows), **{"quasi_identifiers": QUASI, "sensitive": ["ill"], **options})


def test_missing_requirements_are_named() -> None:
    rows = drawn(11)
    lacking = frame(rows).drop(columns="sex")
    with pytest.raises(SpecError, match="the release has no column 'sex'; name columns that it has: id, zip"):
        of_frame(rows, release=lacking)
    with pytest.raises(SpecError, match="the source has no column 'sex'"):
        kanon_sql.risk(lacking, quasi_identifiers=QUASI)
    with pytest.raises(SpecError, match="the release has no column 'ill'"):
        of_frame(rows, release=frame(rows).drop(columns="ill"))
    with pytest.raises(SpecError, match=r"no unit column 'person'; there are .*; to count .*, name its source"):
        of_frame(rows, unit="person")
    with pytest.raises(SpecError, match=r"no unit column 'ID'; did you mean 'id'\?$"):
        of_frame(rows, unit="ID")
    with pytest.raises(SourceError, match="the population has no column 'sex'"):
        of_frame(rows, population=lacking)


def test_a_release_of_another_table_is_refused() -> None:
    rows = drawn(12)
    with pytest.raises(SourceError, match="the release has 61 rows and the source 60"):
        of_frame(rows, release=frame([*rows, rows[0]]))
    with pytest.raises(SourceError, match="the release has values of 'ill' that the source lacks"):
        of_frame(rows, release=frame([{**row, "ill": "plague"} for row in rows]))


def test_a_table_without_rows_is_an_error(engine: Engine) -> None:
    create(engine, "t", drawn(13))
    create(engine, "empty", [])
    with pytest.raises(SourceError, match="empty has no rows; there is nothing to measure"):
        measured(engine, "empty", sensitive=[])
    with pytest.raises(SourceError, match="empty has no rows"):
        measured(engine, release="empty", sensitive=[])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling_fraction": 2}, "the sampling fraction is 2"),
        ({"largest_set": 0}, "largest_set is 0"),
        ({"l_diverse": {}}, "did you mean 'l_diversity'"),
        ({"quasi_identifiers": None}, "quasi_identifiers"),
    ],
)
def test_senseless_options_are_an_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        kanon_sql.risk(frame(drawn(1)), **{"quasi_identifiers": QUASI, **options})


def test_an_unavailable_figure_names_what_it_needs() -> None:
    seen = kanon_sql.risk(frame(drawn(1)), quasi_identifiers=QUASI)
    for name in ("journalist", "attribution", "uniqueness"):
        assert name in FIGURES
        with pytest.raises(SpecError, match=f"the figure '{name}' is not available here; "):
            seen.figure(name)
    with pytest.raises(SpecError, match="no figure 'luck' of risk; choose among highest, mean"):
        seen.figure("luck")


def test_two_populations_are_one_too_many() -> None:
    rows = drawn(1)
    with pytest.raises(SpecError, match="different populations"):
        of_frame(rows, population=frame(rows), k_map={"k": 2, "population": "voters.parquet"})


def test_a_quasi_identifier_can_have_the_name_of_a_part_of_a_query() -> None:
    rows = [{"x": i % 3, "c": i % 2, "ill": "abc"[i % 5 % 3]} for i in range(30)]
    named, plain = (
        kanon_sql.risk(
            pandas.DataFrame(rows).rename(columns=names), quasi_identifiers=requested, sensitive=["ill"]
        ).source
        for names, requested in (({}, ["x", "c"]), ({"x": "age", "c": "sex"}, ["age", "sex"]))
    )
    assert named.sensitive == plain.sensitive
    assert named.classes == plain.classes
