"""Two releases of people with several rows: whom they single out, by brute force, and the data kept for that."""

import hmac
import random
from hashlib import md5, sha1, sha256
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.errors import DifferencingError
from support.database import create_table
from support.nights import covers_age, covers_zip, people_narrowed, people_singled_out

K = 3
CODES = ["1200", "1201", "1300", "1301"]
DOMAIN = [(age, code) for age in range(20, 60) for code in CODES]
COVERS = (covers_age, covers_zip)
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [10, 20]}}, "zip": {"hierarchy": "zip.csv"}},
    "sensitive": ["ill"],
    "privacy": {"k": K, "unit": "pid"},
    "suppression_limit": 0.6,
    "differencing_limit": 100_000,
    "differencing": "refuse",
}
Visit = tuple[int, int, str, str, int]  # a person, an age, a code, an illness, and a number


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("zip.csv").write_text("".join(f"{code};{code[:2]}**;*\n" for code in CODES))


def visits(draw: random.Random, people: range) -> list[Visit]:
    """Up to five visits of everybody, not all at one age and place."""
    rows = list[Visit]()
    for person in people:
        age, code = draw.randrange(20, 60), draw.choice(CODES)
        for _ in range(draw.choice([1, 1, 2, 5])):
            moved = draw.random() < 0.2
            place = draw.choice(CODES) if moved else code
            rows.append((person, age, place, draw.choice("xy"), person * 10 + len(rows) % 10))
    return rows


def changed(draw: random.Random, rows: list[Visit], number: int) -> list[Visit]:
    """Some people leave, some visits are gone or corrected, and others come."""
    gone = set(draw.sample(sorted({row[0] for row in rows}), 4))
    stayed = [row for row in rows if row[0] not in gone and draw.random() > 0.05]
    corrected = [(*row[:3], "y", row[4]) if draw.random() < 0.05 else row for row in stayed]
    return corrected + visits(draw, range(number, number + draw.choice([1, 4])))


def released(rows: list[Visit], target: str, **how: Any) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    """Anonymize; the manifest, and the rows as text with whose they are, by brute force."""
    names = ["pid", "age", "zip", "ill", "visit"]
    keep = ["visit"] if how.get("strategy") else []
    spec = {**SPEC, "keep": keep, **how}
    if target == "table":
        with duckdb.connect("ward.duckdb") as connection:
            frame = pandas.DataFrame(rows, columns=names)
            connection.execute("CREATE OR REPLACE TABLE ward AS SELECT * FROM frame")
            assert len(frame) == len(rows)
        release = kanon_sql.anonymize("ward", spec, database="ward.duckdb", into="anon", overwrite=True)
    else:
        pandas.DataFrame(rows, columns=names).to_csv("ward.csv", index=False)
        release = kanon_sql.anonymize("ward.csv", spec, columns={"zip": "text"}, output=target, overwrite=True)
    shown = [tuple(map(str, row)) for row in release.to_df().values.tolist()]
    return release.manifest, [*with_people(shown, rows, by_visit=bool(keep))]


def with_people(shown: list[tuple[str, ...]], rows: list[Visit], by_visit: bool) -> Any:
    if by_visit:
        of_visit = {str(row[4]): row[0] for row in rows}
        return [(*row, of_visit[row[-1]]) for row in shown]
    classes = {row[:2] for row in shown}
    created = []
    for person, age, code, ill, _ in rows:
        labels = [class_ for class_ in classes if covers_age(class_[0], age) and covers_zip(class_[1], code)]
        assert len(labels) <= 1
        created += [(*label, ill, person) for label in labels]
    assert sorted(row[:-1] for row in created) == sorted(shown)
    return created


BY_NODE: dict[str, Any] = {"node": {"age": 1, "zip": 1}}
BY_OTHER_NODE: dict[str, Any] = {"node": {"age": 2, "zip": 0}}
BY_CLASSES: dict[str, Any] = {"strategy": "mondrian", "show": "exact-ranges"}


def compared(seed: str, target: str, *ways: dict[str, Any]) -> int:
    """Two releases, held against each other as by hand; how many people they single out."""
    draw = random.Random(seed)
    rows = visits(draw, range(40))
    _, old = released(rows, target, **ways[0])
    after = changed(draw, rows, 40)
    manifest, new = released(after, target, **ways[-1])
    differencing = manifest["differencing"]
    assert differencing["came_left_or_stayed"] == people_singled_out(old, new, DOMAIN, COVERS, K)
    known = [(age, code, person) for person, age, code, *_ in after]
    assert differencing["narrowed"] == people_narrowed(old, new, known, COVERS, K)
    return int(differencing["people"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "ways"),
    [("table", (BY_NODE, BY_OTHER_NODE)), ("anon.csv", (BY_CLASSES,)), ("anon.parquet", (BY_NODE,))],
)
def test_people_are_counted_as_by_hand(target: str, ways: tuple[dict[str, Any], ...]) -> None:
    assert compared(target, target, *ways) > 0


def written(rows: list[Visit]) -> None:
    pandas.DataFrame(rows, columns=["pid", "age", "zip", "ill", "visit"]).to_csv("ward.csv", index=False)


def crowd(people: range, visits_of_each: int = 1, ill: str = "x") -> list[Visit]:
    return [(person, 25, "1200", ill, 0) for person in people for _ in range(visits_of_each)]


@pytest.mark.slow
def test_one_person_with_many_rows_counts_once() -> None:
    night = {**SPEC, "source": "ward.csv", "columns": {"zip": "text"}, "differencing_limit": 0, "keep": []}
    Path("night.yml").write_text(yaml.safe_dump({**night, "target": {"file": "anon.csv"}}))
    everybody = crowd(range(10), 2)
    written(everybody)
    kanon_sql.run("night.yml")
    written([*everybody, *crowd(range(10, 11), 5)])
    with pytest.raises(
        DifferencingError, match=r"would single out 1 person \(1 that came.*until more people have come"
    ):
        kanon_sql.run("night.yml")
    # Three come and one leaves: as many rows more as two have.
    written([*everybody[2:], *crowd(range(10, 13), 2)])
    with pytest.raises(DifferencingError, match="would single out 3 people"):
        kanon_sql.run("night.yml")
    # Another one comes in the place of that one, and three more: at least three are behind the rows that are new.
    written([*everybody[2:], *crowd(range(10, 14), 2)])
    (release,) = kanon_sql.run("night.yml").releases
    assert release.release
    assert release.release.manifest["differencing"]["people"] == 0
    # Beside the release before, two left.
    written([*everybody[6:], *crowd(range(10, 14), 2)])
    with pytest.raises(DifferencingError, match="together with it the new release would single out 2 people"):
        kanon_sql.run("night.yml")


@pytest.mark.slow
def test_the_people_of_the_rows_are_readable_only_by_the_owner() -> None:
    options = {**SPEC, "source": "ward.csv", "columns": {"zip": "text"}, "keep": [], "differencing_limit": 0}
    written(crowd(range(10), 2))
    kanon_sql.anonymize(None, options, output="anon.csv")
    kept = Path(".kanon/anon.csv.people")
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    before = kept.read_bytes()
    written([*crowd(range(10), 2), *crowd(range(10, 11), 5)])
    with pytest.raises(DifferencingError, match="1 person"):
        kanon_sql.anonymize(None, options, output="anon.csv", overwrite=True)
    assert kept.read_bytes() == before
    assert {path.name: path.stat().st_mode & 0o777 for path in kept.parent.iterdir()} == {
        kept.name: 0o600,
        f"{kept.name}_key": 0o600,
    }
    kept.write_bytes(before.replace(b"x", b"y", 1))
    with pytest.raises(DifferencingError, match="which people its rows are of: those that were kept are of another"):
        kanon_sql.anonymize(None, options, output="anon.csv", overwrite=True)
    kept.unlink()
    with pytest.raises(
        DifferencingError, match=r"its rows are of: there is no file \.kanon/anon\.csv\.people with them"
    ):
        kanon_sql.anonymize(None, options, output="anon.csv", overwrite=True)
    kanon_sql.anonymize(None, options, output="anon.csv", overwrite=True, differencing_limit="unlimited")
    assert kept.exists()
    kanon_sql.anonymize(None, {**options, "differencing_limit": None}, output="anon.csv", overwrite=True)
    assert not kept.exists()


def noted(file: str = ".kanon/anon.csv.people") -> set[str]:
    return {*pandas.read_csv(file, dtype=str)["pid"]}


@pytest.mark.slow
def test_the_people_of_the_rows_cannot_be_found_by_guessing_numbers() -> None:
    options = {**SPEC, "source": "ward.csv", "columns": {"zip": "text"}, "keep": [], "differencing_limit": 0}
    written(crowd(range(10), 2))
    kanon_sql.anonymize(None, options, output="anon.csv")
    first, key = noted(), Path(".kanon/anon.csv.people_key")
    tried = {form(str(number).encode()).hexdigest() for number in range(100) for form in (md5, sha1, sha256)}
    assert len(first) == 10
    assert not {digest.partition("-")[2] for digest in first} & tried
    secret = bytes.fromhex(duckdb.read_parquet(str(key)).fetchall()[0][0])
    inner, outer = (hmac.new(secret, f"people|{item}".encode(), sha256).hexdigest() for item in ("inner", "outer"))
    own = {md5((outer + md5(f"{inner}{i}".encode()).hexdigest()).encode()).hexdigest() for i in range(10)}
    assert {digest.partition("-")[2] for digest in first} == own
    # The next release has the same key; one without it, or of before there were keys, cannot be compared.
    kanon_sql.anonymize(None, options, output="anon.csv", overwrite=True)
    assert noted() == first
    kept = key.read_bytes()
    key.unlink()
    with pytest.raises(DifferencingError, match="recorded with another key"):
        kanon_sql.anonymize(None, options, output="anon.csv", overwrite=True)
    assert not key.exists()
    key.write_bytes(kept)
    kanon_sql.anonymize(None, options, output="anon.csv", overwrite=True)
    assert noted() == first
    # With a secret of the spec no key is kept.
    Path("secret.txt").write_text("0123456789abcdef" * 2)
    options["secret"] = "secret.txt"
    with pytest.raises(DifferencingError, match="recorded with another key"):
        kanon_sql.anonymize(None, options, output="anon.csv", overwrite=True)
    kanon_sql.anonymize(None, {**options, "differencing_limit": "unlimited"}, output="anon.csv", overwrite=True)
    assert not key.exists()
    assert len(noted() - first) == 10
    kanon_sql.anonymize(None, options, output="anon.csv", overwrite=True)


@pytest.mark.slow
def test_a_table_keeps_its_people_in_a_separate_table(engine: Engine) -> None:
    types = {"pid": "INTEGER", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"}
    options: dict[str, Any] = {**SPEC, "keep": [], "differencing_limit": 0}
    connection = engine.connection  # type: ignore[attr-defined]

    def release(rows: list[Visit]) -> Any:
        engine.run("DROP TABLE IF EXISTS ward")
        create_table(engine, "ward", types, [row[:4] for row in rows])
        return kanon_sql.anonymize("ward", options, connection=connection, into="anon", overwrite=True)

    release(crowd(range(10), 2))
    with pytest.raises(DifferencingError, match="1 person"):
        release([*crowd(range(10), 2), *crowd(range(10, 11), 5)])
    result = release([*crowd(range(10), 2), *crowd(range(10, 13), 5)])
    assert result.manifest["differencing"]["people"] == 0
    kept = engine.rows('SELECT COUNT(*), COUNT(DISTINCT pid) FROM "anon__people"')
    assert kept == [(35, 13)]
    assert engine.rows('SELECT COUNT(*), LENGTH(MIN(secret)) FROM "anon__people_key"') == [(1, 64)]
    for private in ("anon__people", "anon__people_key"):
        assert not engine.rights(engine.place(private)).grants
    engine.run("UPDATE anon SET ill = 'y'")
    with pytest.raises(DifferencingError, match="those that were kept are of another release"):
        release(crowd(range(10), 2))
