"""The generated census and its hierarchies."""

import csv
import hashlib
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from kanon_sql import demo_data
from kanon_sql.demo_data import people, write_parquet
from kanon_sql.errors import SpecError, TargetError
from support.data import DATA, needs

ADULT = Path(__file__).parent.parent / "hierarchies" / "adult"
FILES = sorted(ADULT.glob("*.csv"))
COLUMNS = [
    *("person_id", "age", "workclass", "education", "marital-status", "occupation"),
    *("race", "sex", "native-country", "salary-class"),
]
UCI_COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
    "salary-class",
]

# Percent of Adult's 30,162 complete rows, counted from the file itself.
ADULT_PERCENT = {
    "sex": "Male 67.57 Female 32.43",
    "race": "White 85.98 Black 9.34 Asian-Pac-Islander 2.97 Amer-Indian-Eskimo 0.95 Other 0.77",
    "marital-status": "Married-civ-spouse 46.63 Never-married 32.25 Divorced 13.97 Separated 3.11"
    " Widowed 2.74 Married-spouse-absent 1.23 Married-AF-spouse 0.07",
    "education": "HS-grad 32.62 Some-college 22.14 Bachelors 16.72 Masters 5.39 Assoc-voc 4.33 11th 3.47"
    " Assoc-acdm 3.34 10th 2.72 7th-8th 1.85 Prof-school 1.80 9th 1.51 12th 1.25 Doctorate 1.24 5th-6th 0.95"
    " 1st-4th 0.50 Preschool 0.15",
    "occupation": "Prof-specialty 13.39 Craft-repair 13.36 Exec-managerial 13.24 Adm-clerical 12.34 Sales"
    " 11.88 Other-service 10.65 Machine-op-inspct 6.52 Transport-moving 5.21 Handlers-cleaners 4.48"
    " Farming-fishing 3.28 Tech-support 3.02 Protective-serv 2.14 Priv-house-serv 0.47 Armed-Forces 0.03",
    "workclass": "Private 73.89 Self-emp-not-inc 8.29 Local-gov 6.85 State-gov 4.24 Self-emp-inc 3.56"
    " Federal-gov 3.13 Without-pay 0.05",
    "native-country": "United-States 91.19 Mexico 2.02 Philippines 0.62 Germany 0.42 India 0.33",
    "salary-class": "<=50K 75.11 >50K 24.89",
}
AGE_PERCENT = {17: 4.54, 20: 11.62, 25: 12.99, 30: 13.70, 40: 12.35, 50: 8.11, 60: 3.67, 70: 0.81}


@pytest.fixture(scope="module")
def crowd() -> pd.DataFrame:
    return people(100_000)


def share(rows: pd.DataFrame, column: str, *values: str) -> float:
    """Percent of the rows whose column is one of the values."""
    return 100 * float(rows[column].isin(values).mean())


def read_hierarchy(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=";"))


def covered(column: str) -> set[str]:
    return {line[0] for line in read_hierarchy(ADULT / f"{column}.csv")}


# --- the generator


def test_a_seed_always_draws_the_same_people() -> None:
    text = people(20_000, seed=7).to_csv(index=False, lineterminator="\n")
    digest = "fd7ac077bf2d0eaf9efbf1c99bf723327addb50649e7bc2cd9f97fa124bababc"
    assert hashlib.sha256(text.encode()).hexdigest() == digest


def test_the_seed_alone_decides() -> None:
    assert people(500, seed=1).equals(people(500, seed=1))
    same = (people(500, seed=1) == people(500, seed=2)).all(axis=1)
    assert same.mean() < 0.05


def test_a_shorter_table_is_the_beginning_of_a_longer_one(crowd: pd.DataFrame) -> None:
    assert (len(people(0)), people(0).columns.tolist()) == (0, COLUMNS)
    for rows in (1, demo_data.BLOCK - 1, demo_data.BLOCK, demo_data.BLOCK + 1):
        assert people(rows).equals(crowd.head(rows)), rows


def test_blocks_differ(crowd: pd.DataFrame) -> None:
    first, second = (crowd.iloc[n : n + 1000].reset_index(drop=True) for n in (0, demo_data.BLOCK))
    assert (first == second).all(axis=1).mean() < 0.05


@pytest.mark.parametrize("chunk", [7_001, 1_000_000])
@pytest.mark.slow
def test_parquet_has_the_same_rows_whatever_the_chunk(tmp_path: Path, chunk: int, crowd: pd.DataFrame) -> None:
    path = tmp_path / "it's people.parquet"
    path.write_text("an older file")
    write_parquet(path, 40_000, chunk=chunk)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    stored = duckdb.read_parquet(str(path))
    assert stored.columns == COLUMNS
    assert stored.fetchall() == list(crowd.head(40_000).itertuples(index=False, name=None))


def test_parquet_without_rows_has_its_columns(tmp_path: Path) -> None:
    write_parquet(tmp_path / "none.parquet", 0)
    stored = duckdb.read_parquet(str(tmp_path / "none.parquet"))
    assert (stored.columns, stored.fetchall()) == (COLUMNS, [])


def test_impossible_releases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="rows is -1"):
        people(-1)
    with pytest.raises(SpecError, match="seed is -2"):
        write_parquet(tmp_path / "p.parquet", 1, seed=-2)
    with pytest.raises(SpecError, match="chunk is 0"):
        write_parquet(tmp_path / "p.parquet", 1, chunk=0)
    with pytest.raises(TargetError, match=r"no directory .*nowhere"):
        write_parquet(tmp_path / "nowhere" / "p.parquet", 1)


def test_columns_and_identifiers(crowd: pd.DataFrame) -> None:
    assert crowd.columns.tolist() == COLUMNS
    assert crowd["age"].dtype == "int64"
    assert (crowd["age"].min(), crowd["age"].max()) == (17, 90)
    assert crowd["person_id"].is_unique
    assert crowd["person_id"].iloc[41] == "P0000042"
    assert not crowd.isna().any(axis=None)


@pytest.mark.parametrize("column", ADULT_PERCENT)
def test_marginals_are_those_of_adult(column: str, crowd: pd.DataFrame) -> None:
    words = ADULT_PERCENT[column].split()
    shares = 100 * crowd[column].value_counts(normalize=True)
    for value, percent in zip(words[::2], words[1::2], strict=True):
        assert shares[value] == pytest.approx(float(percent), abs=1), value


def test_ages_are_those_of_adult(crowd: pd.DataFrame) -> None:
    for start, percent in AGE_PERCENT.items():
        end = start // 5 * 5 + 5
        assert 100 * crowd["age"].between(start, end - 1).mean() == pytest.approx(percent, abs=0.5), start
    assert crowd["age"].mean() == pytest.approx(38.44, abs=0.3)


def test_columns_are_correlated_as_in_reality(crowd: pd.DataFrame) -> None:
    young, old = crowd[crowd["age"] < 25], crowd[crowd["age"] >= 50]
    assert share(young, "marital-status", "Never-married") > 70
    assert share(old, "marital-status", "Never-married") < 10
    assert share(old, "marital-status", "Widowed") > 50 * share(young, "marital-status", "Widowed")
    assert share(crowd[crowd["age"] < 19], "education", "Bachelors", "Masters", "Prof-school", "Doctorate") == 0

    women, men = (crowd[crowd["sex"] == sex] for sex in ("Female", "Male"))
    assert share(women, "occupation", "Adm-clerical") > 3 * share(men, "occupation", "Adm-clerical")
    doctors = crowd[crowd["education"].isin(["Prof-school", "Doctorate"])]
    assert share(doctors, "occupation", "Prof-specialty") > 75
    farmers = crowd[crowd["occupation"] == "Farming-fishing"]
    assert share(farmers, "workclass", "Self-emp-not-inc") > 30

    asians, whites = (crowd[crowd["race"] == race] for race in ("Asian-Pac-Islander", "White"))
    assert share(asians, "native-country", "Philippines", "India", "China") > 30
    assert share(whites, "native-country", "Philippines", "India", "China") < 1


def test_salary_follows_age_education_sex_marriage_and_occupation(crowd: pd.DataFrame) -> None:
    over = crowd.assign(over=crowd["salary-class"] == ">50K")
    by_education = over.groupby("education")["over"].mean()
    assert by_education["10th"] < by_education["HS-grad"] < by_education["Bachelors"] < by_education["Doctorate"]
    by_marriage = over.groupby("marital-status")["over"].mean()
    assert by_marriage["Married-civ-spouse"] > 4 * by_marriage["Never-married"]
    by_sex = over.groupby("sex")["over"].mean()
    assert by_sex["Male"] > 2 * by_sex["Female"]
    by_occupation = over.groupby("occupation")["over"].mean()
    assert by_occupation["Exec-managerial"] > 3 * by_occupation["Handlers-cleaners"]
    assert over[over["age"] < 25]["over"].mean() < over[over["age"].between(40, 59)]["over"].mean() / 5


def test_about_as_many_distinct_people_as_in_adult(crowd: pd.DataFrame) -> None:
    tuples = crowd.head(30_162)[COLUMNS[1:-1]].drop_duplicates()
    assert len(tuples) == pytest.approx(18_109, rel=0.1)


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys, kanon_sql.demo_data; print({'numpy', 'pandas', 'duckdb'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# --- the hierarchies


def test_there_is_a_file_for_every_column() -> None:
    assert {path.stem for path in FILES} == {*COLUMNS[1:], "relationship"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_is_in_arx_form(path: Path) -> None:
    text = path.read_bytes()
    assert b"\r" not in text
    assert b'"' not in text
    assert text.endswith(b"\n")
    lines = read_hierarchy(path)
    assert len({len(line) for line in lines}) == 1
    assert len({line[0] for line in lines}) == len(lines)
    assert all(label == label.strip() != "" for line in lines for label in line)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_level_is_a_function_of_the_level_below(path: Path) -> None:
    levels = list(zip(*read_hierarchy(path), strict=True))
    for fine, coarse in pairwise(levels):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine)), "one label has two parents"
        assert len(set(coarse)) < len(set(fine))
    assert set(levels[-1]) == {"*"}
    assert all("*" not in level for level in levels[:-1])


def test_age_ranges_hold_their_ages() -> None:
    lines = read_hierarchy(ADULT / "age.csv")
    assert [line[0] for line in lines] == [str(age) for age in range(121)]
    for age, *ranges, _ in lines:
        for label in ranges:
            match = re.fullmatch(r"\[(\d+), (\d+)\)", label)
            assert match, label
            assert int(match[1]) <= int(age) < int(match[2])


@pytest.mark.parametrize("column", COLUMNS[1:])
def test_hierarchies_and_people_have_the_same_values(column: str, crowd: pd.DataFrame) -> None:
    values = set(map(str, crowd[column].unique()))
    assert values <= covered(column)
    # What complete rows never hold: unknown, and those who never worked.
    only_in_file = {"?", "Never-worked"} if column != "age" else {str(age) for age in (*range(17), *range(91, 121))}
    assert covered(column) - values <= only_in_file


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of one of the two real Adult files."""
    text = (DATA / "adult" / name).read_text(encoding="utf-8")
    if name == "adult.csv":
        return list(csv.DictReader(text.splitlines(), delimiter=";"))
    return [dict(zip(UCI_COLUMNS, line.split(", "), strict=True)) for line in text.splitlines() if line]


@needs("adult/adult.csv", "adult/uci/adult.data")
@pytest.mark.parametrize(("name", "count"), [("adult.csv", 30_162), ("uci/adult.data", 32_561)])
def test_hierarchies_cover_the_real_adult(name: str, count: int) -> None:
    rows = rows_of(name)
    assert len(rows) == count
    for column in {path.stem for path in FILES} & rows[0].keys():
        assert {row[column] for row in rows} <= covered(column), column
