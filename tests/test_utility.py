"""The utility of a release, against plain Python that spreads every cell; the verb and the command."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from statistics import quantiles
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql import Utility, anonymize, utility
from kanon_sql.engine import Column, Engine
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.plan.observer import Observer
from kanon_sql.resources import install_command
from kanon_sql.utility import attribute
from kanon_sql.utility.counts import SANITY_BOUND, drawn
from support.command_line import done, kanon
from support.data import DATA, needs_adult
from support.database import create_table

CITIES = {"Bern": "CH", "Thun": "CH", "Graz": "AT", "Linz": "AT", "Wien": "AT"}
Row = tuple[Any, ...]
Label = tuple[str | None, frozenset[Any]]  # what is printed, and the values that it may stand for
NAMES = ("age", "zip", "city", "ill", "pay")
KINDS = ("integer", "text", "text", "text", "decimal")


@dataclass(frozen=True)
class Case:
    """A source, and a release of it: per cell the label and, by the one who made it, the values it may stand for."""

    source: list[Row]
    release: list[tuple[Label, ...]]
    seed: int
    hierarchy: Path

    def measured(self, **more: Any) -> Utility:
        columns = list(zip(*self.source, strict=True))
        source = pandas.DataFrame(dict(zip(NAMES, columns, strict=True)))
        source["age"] = pandas.array(columns[0], dtype="Int64")
        shown = [[label for label, _ in row] for row in self.release]
        recipes = {"age": {}, "zip": {}, "city": {"hierarchy": {"taxonomy": str(self.hierarchy)}}}
        options = {"quasi_identifiers": recipes, "seed": self.seed, "queries": 40, **more}
        return utility(source, pandas.DataFrame(shown, columns=NAMES), **options)

    def domain(self, column: int) -> list[Any]:
        """The distinct values of a column, in order where there is one, NULL last."""
        values = {row[column] for row in self.source}
        return [*sorted(values - {None}), *({None} & values)]


def labels(column: int, value: Any, domain: set[Any]) -> list[Label]:
    """What a value may be released as."""
    exact = (None if value is None else str(value), frozenset([value]))
    star: Label = ("*", frozenset(domain))
    if column == 0 and value is not None:
        low = value // 10 * 10
        decade = frozenset(value for value in domain if value is not None and low <= value < low + 10)
        return [exact, (f"[{low}, {low + 10})", decade), (f"{low}-{low + 9}", decade), star]
    if column == 1:
        return [exact, (f"{value[0]}*", frozenset(item for item in domain if item[0] == value[0])), star]
    if column == 2:
        return [exact, (CITIES[value], frozenset(item for item in domain if CITIES[item] == CITIES[value])), star]
    return [exact, star] if column == 0 else [exact]


def case(seed: int, place: Path, local: bool = True) -> Case:
    """Random rows; some are suppressed, and each of the others is released by labels of its own, or all by a node."""
    draw = random.Random(seed)
    ages = [None, *range(20, 20 + draw.randint(1, 25))]
    pays = [draw.randint(1, 40) / 4 for _ in range(6)]
    people = [
        (
            draw.choice(ages),
            draw.choice(["11", "12", "21"]),
            draw.choice([*CITIES]),
            draw.choice("xyz"),
            draw.choice(pays),
        )
        for _ in range(draw.randint(15, 60))
    ]
    domains = [set(values) for values in zip(*people, strict=True)]
    levels = [draw.random() for _ in NAMES]
    released = []
    for row in draw.sample(people, draw.randint(10, len(people))):
        choices = [labels(column, value, domains[column]) for column, value in enumerate(row)]
        picks = [draw.random() if local else level for level in levels]
        released.append(tuple(item[int(pick * len(item))] for item, pick in zip(choices, picks, strict=True)))
    hierarchy = place / "city.csv"
    hierarchy.write_text("".join(f"{city};{country}\n" for city, country in CITIES.items()) + "CH;*\nAT;*\n")
    return Case(people, released, seed, hierarchy)


@pytest.fixture(scope="module", params=range(8), ids=lambda seed: f"seed{seed}")
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return case(request.param, tmp_path_factory.mktemp("utility"), local=request.param % 2 == 0)


@pytest.fixture(scope="module")
def measured(example: Case) -> Utility:
    return example.measured()


# Against plain Python


def spread(release: Sequence[tuple[Label, ...]], columns: Sequence[int]) -> dict[Row, float]:
    """The rows of each combination of values, every released row spread over all that its labels stand for."""
    cells: dict[Row, float] = defaultdict(float)
    for row in release:
        covers = [row[column][1] for column in columns]
        for values in product(*covers):
            share = 1.0
            for cover in covers:
                share /= len(cover)
            cells[values] += share
    return cells


def exactly(source: Sequence[Row], columns: Sequence[int]) -> dict[Row, float]:
    return dict(Counter(tuple(row[column] for column in columns) for row in source))


def test_marginals_are_those_of_plain_python(example: Case, measured: Utility) -> None:
    for column, item in enumerate(measured.marginals):
        one, other = exactly(example.source, [column]), spread(example.release, [column])
        domain = example.domain(column)
        gaps = [one.get((v,), 0) / len(example.source) - other.get((v,), 0) / len(example.release) for v in domain]
        assert item.total_variation == pytest.approx(sum(map(abs, gaps)) / 2, abs=1e-9)
        assert item.generalized == pytest.approx(
            sum(len(row[column][1]) > 1 for row in example.release) / len(example.release)
        )
        assert (item.earth_mover is None) == (KINDS[column] == "text")
        if item.earth_mover is not None:
            assert item.earth_mover == pytest.approx(earth_mover(one, other, domain), abs=1e-9)


def earth_mover(one: dict[Row, float], other: dict[Row, float], domain: Sequence[Any]) -> float:
    """All that passes from each value to the next."""
    known = [value for value in domain if value is not None]
    sums = [sum(item.get((value,), 0) for value in known) for item in (one, other)]
    carried, moved = 0.0, 0.0
    for value in known:
        carried += one.get((value,), 0) / sums[0] - other.get((value,), 0) / sums[1]
        moved += abs(carried)
    return moved / (len(known) - 1) if len(known) > 1 else 0.0


def test_associations_are_those_of_plain_python(example: Case, measured: Utility) -> None:
    found = {association.columns: association for association in measured.associations}
    assert list(found) == [
        item.columns for item in sorted(found.values(), key=lambda item: (-item.error, item.columns))
    ]
    for i, j in combinations(range(len(NAMES)), 2):
        item = found[NAMES[i], NAMES[j]]
        numbers = (i, j) == (0, 4)
        assert item.measure == ("correlation" if numbers else "cramers_v")
        measure: Callable[[dict[Row, float]], float | None] = correlation if numbers else cramers_v
        assert item.source == approximately(measure(exactly(example.source, [i, j])))
        assert item.release == approximately(measure(spread(example.release, [i, j])))


def approximately(figure: float | None) -> Any:
    return None if figure is None else pytest.approx(figure, abs=1e-9)


def correlation(cells: dict[Row, float]) -> float | None:
    known = {pair: n for pair, n in cells.items() if None not in pair}
    total = sum(known.values())
    if not total:
        return None

    def mean(of: Callable[[float, float], float]) -> float:
        return sum(n * of(*pair) for pair, n in known.items()) / total

    x, y = mean(lambda a, _: a), mean(lambda _, b: b)
    spreads = mean(lambda a, _: (a - x) ** 2) * mean(lambda _, b: (b - y) ** 2)
    return mean(lambda a, b: (a - x) * (b - y)) / spreads**0.5 if spreads > 1e-12 else None


def cramers_v(cells: dict[Row, float]) -> float | None:
    """Bergsma 2013."""
    total = sum(cells.values())
    sides: tuple[Counter[Any], Counter[Any]] = (Counter(), Counter())
    for (a, b), n in cells.items():
        sides[0][a] += n  # type: ignore[assignment]
        sides[1][b] += n  # type: ignore[assignment]
    r, c = map(len, sides)
    if min(r, c) < 2:
        return None
    squared = sum(
        (cells.get((a, b), 0) - p * q / total) ** 2 / (p * q / total)
        for a, p in sides[0].items()
        for b, q in sides[1].items()
    )
    corrected = max(0, squared / total - (r - 1) * (c - 1) / (total - 1))
    least = min(r - (r - 1) ** 2 / (total - 1), c - (c - 1) ** 2 / (total - 1)) - 1
    return float((corrected / least) ** 0.5) if least > 0 else None


def test_count_queries_are_those_of_plain_python(example: Case, measured: Utility) -> None:
    counts = measured.counts
    assert counts is not None
    errors, shares = [], []
    domains = [example.domain(column) for column in range(len(NAMES))]
    for query in drawn([of_source(example, column) for column in range(len(NAMES))], 40, example.seed):
        answers = [
            {domains[column][place] for place in groups}
            for column, groups in zip(query.subset, query.groups, strict=True)
        ]
        assert 1 <= len(query.subset) <= 3
        assert all(answers)
        exact, estimate = (
            sum(n for values, n in cells.items() if within(values, answers))
            for cells in (exactly(example.source, query.subset), spread(example.release, query.subset))
        )
        errors.append(abs(exact - estimate) / max(exact, SANITY_BOUND * len(example.source)))
        shares.append(exact / len(example.source))
    assert counts.queries == len(errors) == 40
    assert counts.median == pytest.approx(quantiles(errors, n=2, method="inclusive")[0], abs=1e-8)
    assert counts.percentile_95 == pytest.approx(quantiles(errors, n=20, method="inclusive")[-1], abs=1e-8)
    assert counts.selectivity == pytest.approx(quantiles(shares, n=2, method="inclusive")[0], abs=1e-8)


def within(values: Row, ranges: Sequence[set[Any]]) -> bool:
    return all(value in item for value, item in zip(values, ranges, strict=True))


def of_source(example: Case, column: int) -> Any:
    """A column as the measures see it; each value is a group of its own."""
    counted = Counter(row[column] for row in example.source)
    cells = [(None if value is None else str(value), n) for value, n in counted.items()]
    shared = attribute(Column(NAMES[column], "", KINDS[column]), cells, cells)
    assert shared.groups.tolist() == list(range(len(counted)))
    return shared


# What must come out


PEOPLE = pandas.DataFrame(
    {
        "age": [20 + i * 7 % 30 for i in range(200)],
        "sex": ["f", "m"] * 100,
        "ill": ["flu" if i * 7 % 30 < 12 else "hiv" for i in range(200)],
    }
)
NAMED: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}


def test_a_release_of_the_source_itself_has_no_error() -> None:
    measured = utility(PEOPLE, PEOPLE.sample(frac=1, random_state=1), predict=["ill", "age"], rows=60, **NAMED)
    assert (measured.suppressed, measured.marginal_error, measured.association_error) == (0, 0, 0)
    assert measured.counts is not None
    assert (measured.counts.queries, measured.counts.median, measured.counts.percentile_95) == (1000, 0, 0)
    for model in measured.learned:
        assert model.source == model.release
    assert [model.kind for model in measured.learned] == ["classifier", "regressor"]
    assert (measured.skipped, measured.notes) == ((), ())


def test_a_release_of_stars_reveals_nothing() -> None:
    stars = PEOPLE.assign(age="*", sex="*")
    measured = utility(PEOPLE, stars, **NAMED)
    shares = PEOPLE["age"].value_counts(normalize=True)
    uniform = sum(abs(share - 1 / len(shares)) for share in shares) / 2
    assert measured.marginals[0].total_variation == pytest.approx(uniform)
    assert [marginal.generalized for marginal in measured.marginals] == [1, 1, 0]
    assert {association.columns: association.release for association in measured.associations} == {
        ("age", "sex"): 0,
        ("age", "ill"): 0,
        ("sex", "ill"): 0,
    }
    (model,) = measured.learned
    assert model.source["accuracy"] == 1  # ill follows age
    assert model.release["accuracy"] == model.baseline["accuracy"] == PEOPLE["ill"].value_counts(normalize=True).max()
    assert model.release["balanced_accuracy"] == model.baseline["auc"] == 0.5


def test_no_attacked_person_is_in_the_training_data_of_the_model() -> None:
    """Each has a number of their own, released as it is: who had been learned would be known."""
    draw = random.Random(1)
    people = pandas.DataFrame({"number": range(300), "age": range(300), "ill": [draw.choice("xy") for _ in range(300)]})
    release = people.assign(age=[f"[{i // 3 * 3}, {i // 3 * 3 + 3})" for i in range(300)])
    (model,) = utility(people, release, quasi_identifiers=["age"], sensitive=["ill"]).learned
    assert model.release["accuracy"] is not None
    assert model.release["accuracy"] < 0.62


def test_suppressed_rows_are_excluded_from_marginals_and_missing_from_counts() -> None:
    people = pandas.DataFrame({"sex": ["f", "m"] * 50, "job": ["a", "a", "b", "b"] * 25})
    measured = utility(people, people.iloc[:60], quasi_identifiers=["sex", "job"])
    assert (measured.suppressed, measured.marginal_error) == (0.4, 0)
    assert measured.counts is not None
    assert (measured.counts.median, measured.counts.percentile_95) == pytest.approx((0.4, 0.4), abs=0.05)


def test_bounds_null_for_a_star_and_numbers_that_the_source_lacks() -> None:
    people = pandas.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4], "pay": [10.0, 20.0, 30.0, 40.0]})
    release = pandas.DataFrame(
        {"age_min": [20, 20, 40, 40], "age_max": [30, 30, 50, 50], "size": [1, 2, 3, None], "pay": [11.5, 20, 30, 47]}
    )
    measured = utility(people, release, quasi_identifiers=["age"])
    age, size, pay = measured.marginals
    assert (age.generalized, age.total_variation) == (1, 0)
    assert (size.generalized, size.total_variation) == (0.25, pytest.approx(3 / 16))
    # 11.5 and 47 are no values of the source, but near to some.
    assert (pay.generalized, pay.total_variation, pay.earth_mover) == (0, 0.5, 0)


def test_a_column_of_many_values_is_examined_in_groups() -> None:
    counted = [(str(number / 8), 1 + number % 3) for number in range(1000)]
    shared = attribute(Column("pay", "", "float"), counted, counted)
    assert len(shared.numbers) == 100
    assert max(shared.group_rows) <= 25
    assert shared.group_rows @ shared.numbers == pytest.approx(sum(float(text) * n for text, n in counted))
    names = attribute(Column("name", "", "text"), counted, counted)
    assert len(names.numbers) == 100
    assert sorted(names.group_rows)[:99] == [3.0] * 99


def test_labels_that_cannot_be_read_are_noted() -> None:
    release = PEOPLE.assign(sex="anybody")
    (note,) = utility(PEOPLE, release, predict=[], **NAMED).notes
    assert note.startswith("labels of sex that cannot be read (1) are taken for any value")
    (note,) = utility(PEOPLE, PEOPLE.assign(ill=["gout", *PEOPLE["ill"][1:]]), predict=[], **NAMED).notes
    assert note.startswith("labels of ill that cannot be read (1) are taken for none")


def test_values_that_were_changed_are_noted() -> None:
    swapped = PEOPLE.assign(ill=["hiv" if ill == "flu" else "flu" for ill in PEOPLE["ill"]])
    measured = utility(PEOPLE, swapped, **NAMED)
    assert "100.0% of the rows fit no released row" in measured.notes[0]
    assert measured.skipped == (("model of ill", "it takes 20 rows that were released"),)


# The verb and the command


def test_without_scikit_learn_the_other_measures_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanon_sql.measure.utility.is_installed", lambda: False)
    measured = utility(PEOPLE, PEOPLE, **NAMED)
    assert measured.learned == ()
    assert measured.skipped == (("models", f"they need scikit-learn; run: {install_command('utility')}"),)


@pytest.mark.parametrize(
    ("release", "more", "error", "message"),
    [
        (PEOPLE, {"quasi_identifiers": ["zip"]}, SpecError, "the source has no column 'zip'"),
        (PEOPLE[["sex", "ill"]], {}, SpecError, "the release has no column 'age'"),
        (PEOPLE[["age", "sex"]], {}, SpecError, "the release has no column 'ill'"),
        (PEOPLE, {"predict": "pay"}, SpecError, "the source has no column 'pay'"),
        (pandas.DataFrame({"a": [1]}), {}, SourceError, "have no column in common"),
        (PEOPLE.iloc[:0], {}, SourceError, "has no rows"),
        (pandas.concat([PEOPLE, PEOPLE]), {}, SourceError, "the release has 400 rows, and the source only 200"),
        (PEOPLE.assign(age="[90, 99)"), {}, SourceError, "no released age fits any that the source has"),
        (None, {}, SpecError, "there is no release to measure"),
        (PEOPLE, {"queries": 0}, SpecError, "queries is 0"),
        (PEOPLE, {"sensitiv": ["ill"]}, SpecError, "did you mean 'sensitive'"),
    ],
)
def test_impossible_measurements_are_refused(release: Any, more: Any, error: type[KanonError], message: str) -> None:
    with pytest.raises(error, match=message):
        utility(PEOPLE, release, **{**NAMED, **more})


def test_a_source_without_rows_and_columns_of_one_value() -> None:
    with pytest.raises(SourceError, match="has no rows"):
        utility(PEOPLE.iloc[:0], PEOPLE.iloc[:0], **NAMED)
    one = pandas.DataFrame({"sex": ["f"] * 30})
    measured = utility(one, one, predict="sex", quasi_identifiers=["sex"])
    assert [name for name, _ in measured.skipped] == ["count queries", "model of sex"]
    assert (measured.associations, measured.association_error, measured.counts) == ((), None, None)


def test_tables_of_a_database_are_measured_like_data_in_memory(engine: Engine) -> None:
    days = pandas.date_range("2025-01-01", periods=59)
    source = pandas.DataFrame({"day": days, "pay": [i % 7 / 4 for i in range(59)], "ill": [*"xyz" * 19, "x", "y"]})
    release = source.assign(day=[f"{day:%Y-%m}" for day in days])
    kept = {"pay": "DOUBLE PRECISION", "ill": "VARCHAR"}
    create_table(
        engine, "people", {"day": "DATE", **kept}, [(row.day.date(), row.pay, row.ill) for row in source.itertuples()]
    )
    create_table(engine, "released", {"day": "VARCHAR", **kept}, [*release.itertuples(index=False, name=None)])
    options: dict[str, Any] = {"quasi_identifiers": ["day"], "queries": 50}
    of_tables = utility("people", "released", connection=engine.connection, **options)  # type: ignore[attr-defined]
    in_memory = utility(source, release, **options)
    assert {**of_tables.to_dict(), "source": "", "release": ""} == {**in_memory.to_dict(), "source": "", "release": ""}
    assert of_tables.marginals[0].generalized == 1


def test_the_results_are_a_table_and_json_with_descriptions() -> None:
    stages: list[str] = []
    measured = utility(PEOPLE, PEOPLE.assign(age="*"), observer=Observer(stages.append), **NAMED)
    assert stages[0] == "Reading"
    assert stages[-1] == "Training models of ill"
    frame = measured.to_df()
    assert list(frame.columns) == ["measure", "column", "other", "source", "release", "error"]
    assert set(frame["measure"]) == {
        *("total_variation", "earth_mover", "cramers_v", "count_median", "count_percentile_95"),
        *("accuracy", "balanced_accuracy", "auc"),
    }
    result = json.loads(json.dumps(measured.to_dict()))
    assert result["associations"]["pairs"] == 3
    assert result["models"][0]["column"] == "ill"
    assert "ill: accuracy" in str(measured)
    assert callable(kanon_sql.utility)  # and not the room of that name


@pytest.mark.slow
@pytest.mark.nightly
def test_the_command_measures_what_a_spec_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    Path("release.yml").write_text(
        "source: people.csv\nquasi_identifiers:\n  age: {hierarchy: {ranges: [5, 10]}}\n  sex: {hierarchy: suppress}\n"
        "sensitive: [ill]\nprivacy: {k: 5}\ntarget: {file: released.parquet}\n"
    )
    done("anonymize", "--spec", "release.yml")
    result = json.loads(done("utility", "--spec", "release.yml", "--queries", 50, "--rows", 30, "--json"))
    named = json.loads(
        done(
            "utility",
            "people.csv",
            "released.parquet",
            "--spec",
            "release.yml",
            "--queries",
            50,
            "--rows",
            30,
            "--json",
        )
    )
    assert result["marginals"] == named["marginals"]
    assert result["counts"]["queries"] == 50
    shown = done("utility", "--spec", "release.yml", "--rows", 50)
    assert "200 of 200 rows (0.00% suppressed)" in shown
    assert "total variation" in shown
    assert "1,000 count queries" in shown
    assert "ill       accuracy" in shown
    assert "Not measured: models" in done(
        "utility", "people.csv", "released.parquet", "--quasi-identifiers", "age,sex", "--queries", 5
    )
    refused = kanon("utility", "people.csv", "--quasi-identifiers", "age")
    assert (refused.code, "there is no release to measure" in refused.err) == (2, True)
    Path("spec.yml").write_text("source: people.csv\nquasi_identifiers: [age]\ntarget: {file: missing.csv}\n")
    refused = kanon("utility", "people.csv", "--spec", "spec.yml")
    assert "missing.csv" in refused.err
    assert "it is the target of the spec: name another release after its source" in " ".join(refused.err.split())


# Adult


@needs_adult
@pytest.mark.slow
@pytest.mark.nightly
def test_more_generalization_lowers_the_utility_of_adult() -> None:
    names = ["sex", "age", "race", "education", "occupation"]
    source = str(DATA / "adult" / "adult.csv")
    options = {"quasi_identifiers": names, "hierarchies": DATA / "adult" / "hierarchies", "sensitive": ["salary-class"]}
    release = anonymize(source, k=5, keep=[], **options).to_df()
    measured = utility(source, release, queries=300, rows=2000, **options)
    assert 0.05 < measured.marginal_error < 0.5
    assert measured.counts is not None
    assert 0.05 < measured.counts.median < measured.counts.percentile_95 < 2
    (model,) = measured.learned
    figures = [item["auc"] or 0 for item in (model.source, model.release, model.baseline)]
    assert figures == sorted(figures, reverse=True)
    assert model.baseline["auc"] == 0.5
