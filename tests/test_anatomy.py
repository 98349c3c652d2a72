"""Anatomy against plain Python: the separate tables join to the same counts, and an unsafe anatomy is not released."""

import csv
import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import anonymize, queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import InfeasibleError, KanonError, SpecError, TargetError, VerificationError
from kanon_sql.queries import Relation
from kanon_sql.release.pieces import companion_file
from kanon_sql.verbs.anatomize import anatomize
from support.database import create_table
from support.examples import examples

FEW = examples(5)
TYPES = {"name": "VARCHAR", "zip": "VARCHAR", "age": "INTEGER", "Ill Ness": "VARCHAR", "day": "INTEGER"}
Row = tuple[Any, ...]


def people(engine: Engine, illnesses: Sequence[str | None], name: str = "people") -> list[Row]:
    rows = [(f"n{i}", f"{i % 4}{i % 3}", 20 + i % 3, ill, i % 2) for i, ill in enumerate(illnesses)]
    table = engine.find(name)
    if table:
        engine.run(queries.drop(table.relation, engine.dialect))
    create_table(engine, name, TYPES, rows)
    return rows


ILL = ["flu", "flu", "asthma", None, "acne", "flu"] * 8
SPEC = {
    "identifiers": ["name"],
    "quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}, "age": {"hierarchy": "suppress"}},
    "sensitive": ["Ill Ness"],
    "keep": ["day"],
}


def released(engine: Engine, **options: Any) -> Any:
    settings = {**SPEC, "k": 5, "form": "anatomy", "overwrite": True, "strategy": "exhaustive", **options}
    k = settings.pop("k")
    spec = {key: settings.pop(key) for key in list(settings) if key in SPEC}
    return anonymize("people", {**spec, "privacy": {"k": k}}, connection=engine.connection, **settings)


def both_tables(
    engine: Engine, target: str, folder: Path, release: Any
) -> tuple[list[str], list[Row], list[str], list[Row]]:
    """The columns and rows of both tables; numbers of groups and counts as numbers, all else of CSV files as text."""
    shown: list[Any] = []
    for number, name in enumerate(["released", "released__sensitive"]):
        here = engine if target == "table" else DuckDB()
        if target == "table":
            relation = engine.find(name).relation
        else:
            path = folder / f"released{'.sensitive' if number else ''}.{target}"
            assert release.manifest[PLACES[number][0]][PLACES[number][1]] == str(path)
            relation = here.read_written(path, target)
        rows = here.rows(queries.select_all(relation, here.dialect))
        rows = [(int(row[0]), *row[1:-1], int(row[-1])) for row in rows]
        shown += [[column.name for column in here.table(relation).columns], rows]
    return tuple(shown)


PLACES = (("target", "file"), ("anatomy", "sensitive"))


def where(target: str, folder: Path) -> dict[str, Any]:
    return {"into": "released"} if target == "table" else {"output": folder / f"released.{target}"}


@pytest.mark.parametrize("target", ["table", "csv", "parquet"])
@FEW
@given(
    illnesses=st.lists(st.sampled_from(["flu", "acne", "asthma", None]), min_size=12, max_size=40), k=st.integers(1, 6)
)
@pytest.mark.sampled
def test_the_tables_join_to_what_was_released(
    engine: Engine, tmp_path: Path, target: str, illnesses: list[str | None], k: int
) -> None:
    people(engine, illnesses)
    whole = anonymize("people", {**SPEC, "privacy": {"k": k}, "strategy": "exhaustive"}, connection=engine.connection)
    expected = Counter(
        as_text(
            engine.rows(queries.select_all(Relation(*whole.manifest["target"]["table"].split(".")), engine.dialect))
        )
    )
    release = released(engine, k=k, **where(target, tmp_path))
    names, rows, count_names, counts = both_tables(engine, target, tmp_path, release)
    assert (names, count_names) == (["group_id", "zip", "age", "day"], ["group_id", "Ill Ness", "count"])
    assert release.manifest["node"] == whole.manifest["node"]

    groups: dict[Any, set[Row]] = defaultdict(set)
    for group, *labels, _ in rows:
        groups[group].add(tuple(labels))
    assert all(len(labels) == 1 for labels in groups.values()), "a group is one class"
    assert len({labels for (labels,) in groups.values()}) == len(groups), "and a class one group"
    assert sorted(groups) == list(range(1, len(groups) + 1))
    sizes = Counter(group for group, *_ in rows)
    assert min(sizes.values()) >= k
    shown = Counter()
    for group, ill, count in counts:
        ((zip_code, age),) = groups[group]
        shown[as_text([(zip_code, age, ill)])[0]] += count
        sizes[group] -= count
    assert shown == total(expected, lambda row: (row[0], row[1], row[2]))
    assert Counter(as_text([tuple(row[1:]) for row in rows])) == total(expected, lambda row: (row[0], row[1], row[3]))
    assert set(sizes.values()) == {0}
    assert (release.manifest["classes"], release.manifest["anatomy"]["groups"]) == (len(groups), len(groups))
    assert release.manifest["verified"] is True
    assert list(release.to_df().columns) == names


def as_text(rows: Sequence[Row]) -> list[Row]:
    return [tuple(None if cell is None else str(cell) for cell in row) for row in rows]


def total(rows: Counter[Row], part: Any) -> Counter[Row]:
    counts: Counter[Row] = Counter()
    for row, times in rows.items():
        counts[part(row)] += times
    return counts


@pytest.mark.parametrize("target", ["table", "csv"])
@pytest.mark.slow
def test_the_order_of_the_rows_reveals_nothing_of_the_values(engine: Engine, tmp_path: Path, target: str) -> None:
    """Only who is how ill differs between the sources; the rows that are shown do not, nor their order."""
    shown = []
    for seed in range(3):
        people(engine, random.Random(seed).sample(ILL, len(ILL)))
        release = released(
            engine, quasi_identifiers=SPEC["quasi_identifiers"], metric="height", **where(target, tmp_path)
        )
        shown.append(both_tables(engine, target, tmp_path, release)[1])
    assert shown[0] == shown[1] == shown[2]
    groups = [row[0] for row in shown[0]]
    assert groups == sorted(groups)


@pytest.mark.slow
def test_groups_are_numbered_by_the_seed(engine: Engine) -> None:
    people(engine, ILL)
    orders = set()
    for seed in range(4):
        released(engine, into="released", seed=seed)
        rows = engine.rows(queries.select_all(engine.find("released").relation, engine.dialect))
        groups = {group: (zip_code, age) for group, zip_code, age, _ in rows}
        orders.add(tuple(groups[group] for group in sorted(groups)))
        assert len(groups) > 2
    assert len(orders) > 1
    assert len({frozenset(order) for order in orders}) == 1


def test_several_sensitive_columns_are_counted_together_and_the_others_reported(engine: Engine) -> None:
    rows = people(engine, ILL)
    release = released(engine, into="released", sensitive=["Ill Ness", "day"], keep=[])
    columns = [column.name for column in engine.find("released__sensitive").columns]
    assert columns == ["group_id", "Ill Ness", "day", "count"]
    counts = engine.rows(queries.select_all(engine.find("released__sensitive").relation, engine.dialect))
    assert total(Counter({row: row[-1] for row in counts}), lambda row: row[1:3]) == Counter(row[3:] for row in rows)
    assert [column.name for column in engine.find("released").columns] == ["group_id", "zip", "age"]
    assert "'Ill Ness', 'day' are counted together: a reader who knows one" in "".join(release.manifest["warnings"])
    other = released(engine, into="released").manifest
    assert other["warnings"][0].startswith("'day' stay in the rows of the anatomy")
    assert "asthma" not in json.dumps(other)
    assert other["anatomy"]["sensitive"].endswith("released__sensitive")


def test_masked_rows_are_a_group_like_any_other(engine: Engine) -> None:
    people(engine, ILL[:46])
    manifest = released(engine, into="released", k=4, suppression_limit=0.5, mask=True, metric="precision").manifest
    rows = engine.rows(queries.select_all(engine.find("released").relation, engine.dialect))
    assert manifest["masked_rows"] > 0
    assert Counter(row[1] for row in rows)["*"] == manifest["masked_rows"]
    assert len({row[0] for row in rows if row[1] == "*"}) == 1
    assert len(rows) == 46 == sum(row[-1] for row in counts_of(engine))


@pytest.mark.parametrize("how", ["bounds", "mean"])
def test_an_anatomy_can_show_values_instead_of_labels(engine: Engine, how: str) -> None:
    rows = people(engine, ILL)
    attributes = {
        "zip": {"hierarchy": {"redact": "right"}, "min_level": 1},
        "age": {"hierarchy": {"ranges": [2]}, "min_level": 1, "show": how},
    }
    pram = {"Ill Ness": {"pram": {"keep": 0.5}}}
    release = released(engine, into="released", quasi_identifiers=attributes, k=4, perturb=pram)
    columns = [column.name for column in engine.find("released").columns]
    assert columns == ["group_id", "zip", *{"bounds": ["age_min", "age_max"], "mean": ["age"]}[how], "day"]
    shown = engine.rows(queries.select_all(engine.find("released").relation, engine.dialect))
    assert len({row[:-1] for row in shown}) == len({row[0] for row in shown}) == release.manifest["classes"] > 2
    ages = {"bounds": {(20, 21), (22, 22)}, "mean": {(20.5,), (22.0,)}}[how]
    assert {tuple(map(float, row[2:-1])) for row in shown} == ages
    assert sum(row[-1] for row in counts_of(engine)) == len(shown) == len(rows)


def counts_of(engine: Engine) -> list[Row]:
    return engine.rows(queries.select_all(engine.find("released__sensitive").relation, engine.dialect))


# Refusals, and leftovers


ERRORS = [
    (
        {"sensitive": []},
        SpecError,
        "an anatomy keeps the sensitive columns apart, and none is named; name them with `sensitive`",
    ),
    ({"into": "people"}, TargetError, "is the source"),
]


@pytest.mark.parametrize(("options", "error", "message"), ERRORS)
def test_impossible_anatomies_are_refused(
    engine: Engine, options: dict[str, Any], error: type[KanonError], message: str
) -> None:
    people(engine, ILL)
    with pytest.raises(error, match=message):
        released(engine, **{"into": "released", **options})
    assert engine.find("released") is None


@pytest.mark.parametrize("name", ["group_id", "Count"])
def test_names_that_the_tables_need_are_refused(engine: Engine, name: str) -> None:
    create_table(engine, "people", {"zip": "VARCHAR", name: "VARCHAR"}, [("1", "a")] * 6)
    options = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "sensitive": [name]}
    with pytest.raises(SpecError, match=f"an anatomy adds a column '{name.lower()}'; rename"):
        anonymize("people", options, connection=engine.connection, into="released", form="anatomy")


@pytest.mark.parametrize(
    "beside", ["CREATE TABLE {} AS SELECT 1 AS precious", "CREATE VIEW {} AS SELECT 1 AS precious"]
)
def test_the_second_table_never_replaces_a_foreign_table(engine: Engine, beside: str) -> None:
    people(engine, ILL)
    engine.run(beside.format("released__sensitive"))
    for overwrite in (True, None):
        with pytest.raises(TargetError, match="released__sensitive, which exists already; name another target"):
            released(engine, into="released", overwrite=overwrite)
    assert engine.rows("SELECT precious FROM released__sensitive") == [(1,)]


def test_the_second_table_must_not_be_the_source(engine: Engine) -> None:
    people(engine, ILL, "released__sensitive")
    with pytest.raises(TargetError, match="needs a table released__sensitive, which is the source"):
        anonymize("released__sensitive", SPEC, connection=engine.connection, into="released", form="anatomy")


@pytest.mark.slow
def test_an_anatomy_is_replaced_only_on_request(engine: Engine, tmp_path: Path) -> None:
    people(engine, ILL)
    for target in ("table", "csv"):
        released(engine, **where(target, tmp_path), overwrite=None)
        for _ in range(2):
            released(engine, **where(target, tmp_path))
    if engine.find("released"):
        engine.run(queries.drop(engine.find("released").relation, engine.dialect))
    (tmp_path / "released.csv").unlink()
    with pytest.raises(TargetError, match="released__sensitive, which exists already; use `overwrite=True`"):
        released(engine, into="released", overwrite=None)
    with pytest.raises(TargetError, match=r"released\.sensitive\.csv exists already; use `overwrite=True`"):
        released(engine, output=tmp_path / "released.csv", overwrite=None)


TAMPERINGS = {
    "a sensitive value is lost": (
        "anatomy/sensitive",
        lambda sql: f"{sql} LIMIT 3",
        "disagree on",
    ),
    "a row is lost": ("anatomy/rows", lambda sql: f"{sql} LIMIT 47", "do not meet|disagree on"),
    "the value stays": ("anatomy/rows", lambda sql: f"SELECT 'flu' AS ill, q.* FROM ({sql}) AS q", "planned columns"),
    "groups are joined": (
        "anatomy/rows",
        lambda sql: sql.replace("SELECT g.group_id", "SELECT 1 AS group_id"),
        "disagree on|groups for",
    ),
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
@pytest.mark.parametrize("target", ["table", "csv", "parquet"])
@pytest.mark.sampled
def test_an_anatomy_that_is_not_as_promised_is_not_released(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, tampering: str
) -> None:
    people(engine, ILL)
    file, tamper, message = TAMPERINGS[tampering]
    text = queries.text
    changed = []

    def tampered(name: str, dialect: str, **holes: Any) -> str:
        sql = text(name, dialect, **holes)
        if name == file:
            changed.append(tamper(sql))
            assert changed[-1] != sql
            return changed[-1]
        return sql

    monkeypatch.setattr(queries, "text", tampered)
    before = everything(engine)
    with pytest.raises(VerificationError, match=message):
        released(engine, **where(target, tmp_path))
    assert changed
    assert list(tmp_path.iterdir()) == []
    assert everything(engine) == before


def everything(engine: Engine) -> list[Row]:
    return engine.rows("SELECT table_schema, table_name, table_type FROM information_schema.tables ORDER BY 1, 2, 3")


@pytest.mark.parametrize("target", ["table", "csv"])
def test_groups_that_are_not_classes_are_not_released(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Two classes in one group would be verified by neither the tables alone nor k alone."""
    people(engine, ILL)
    grouped = queries.grouped_rows

    def coarser(*args: Any) -> str:
        return grouped(*args).replace("DENSE_RANK() OVER (ORDER BY content)", "1")

    monkeypatch.setattr(queries, "grouped_rows", coarser)
    with pytest.raises(
        VerificationError, match=r"in 1 groups and .* 48 rows, and one group for each class, were planned"
    ):
        released(engine, **where(target, tmp_path))
    assert engine.find("released") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["table", "csv"])
def test_only_both_tables_are_left(engine: Engine, tmp_path: Path, target: str) -> None:
    people(engine, ILL)
    before = everything(engine)
    released(engine, **where(target, tmp_path))
    new = {name for _, name, _ in set(everything(engine)) - set(before)}
    assert new == ({"released", "released__sensitive"} if target == "table" else set())
    files = {"released.csv", "released.sensitive.csv", "released.csv.anatomy.json"} if target == "csv" else set()
    assert {path.name for path in tmp_path.iterdir()} == files


def test_perturbed_values_can_be_in_an_anatomy(engine: Engine) -> None:
    people(engine, ILL)
    release = released(engine, into="released", perturb={"Ill Ness": {"pram": {"keep": 0.5}}})
    assert release.manifest["perturbation"]["columns"] == {"Ill Ness": {"pram": {"keep": 0.5}}}
    assert release.manifest["anatomy"]["sensitive_columns"] == ["Ill Ness"]


# The original: exact rows in groups of different values


def exact(engine: Engine, l: int, more: dict[str, Any] | None = None, **options: Any) -> Any:  # noqa: E741
    return anatomize(
        "people", {**SPEC, **(more or {})}, l=l, connection=engine.connection, **{"overwrite": True, **options}
    )


@pytest.mark.parametrize("target", ["table", "csv", "parquet"])
@FEW
@given(
    illnesses=st.lists(st.sampled_from(["flu", "acne", "asthma", "gout", None]), min_size=1, max_size=40),
    l=st.integers(2, 5),
)
def test_no_group_has_a_value_twice(
    engine: Engine,
    tmp_path: Path,
    target: str,
    illnesses: list[str | None],
    l: int,  # noqa: E741
) -> None:
    rows = people(engine, illnesses)
    if max(Counter(illnesses).values()) * l > len(rows):
        with pytest.raises(
            InfeasibleError, match=f"more than 1 / {l}: it cannot be hidden among {l} different values; lower l"
        ):
            exact(engine, l, **where(target, tmp_path))
        return
    release = exact(engine, l, **where(target, tmp_path))
    names, shown, _, counts = both_tables(engine, target, tmp_path, release)
    assert names == ["group_id", "zip", "age", "day"]
    assert Counter(as_text([row[1:] for row in shown])) == Counter(as_text([(r[1], r[2], r[4]) for r in rows]))
    groups = Counter(row[0] for row in shown)
    values = Counter(row[0] for row in counts)
    assert groups == values, "as many rows as different values in every group"
    assert {row[2] for row in counts} == {1}
    assert len(groups) == len(rows) // l
    assert min(groups.values()) >= l
    assert Counter(row[1] for row in counts) == Counter(illnesses)
    assert (release.manifest["groups"], release.manifest["smallest_group"]) == (len(groups), min(groups.values()))


def test_a_released_anatomy_of_exact_rows_is_never_called_k_anonymous(engine: Engine) -> None:
    people(engine, ["flu", "acne", "gout"] * 8)
    manifest = exact(engine, 3, into="released").manifest
    assert manifest["release"] == "Anatomy: 3-diverse groups of exact rows, NOT k-anonymous"
    assert manifest["k_anonymous"] is False
    assert manifest["privacy"] == [{"model": "anatomy-l-diversity", "required": 3, "achieved": 3}]
    assert "k-anonymity" not in json.dumps(manifest)
    assert "who knows them finds the person's row" in manifest["warnings"][0]


@pytest.mark.slow
def test_the_groups_are_random_by_a_secret(engine: Engine, tmp_path: Path) -> None:
    rows = people(engine, ["flu", "acne", "gout"] * 30)
    (tmp_path / "secret.txt").write_text("a secret of more than sixteen characters")
    groupings = []
    for number in range(4):
        if number > 1:
            table = engine.find("people")
            engine.run(queries.drop(table.relation, engine.dialect))
            create_table(engine, "people", TYPES, random.Random(number).sample(rows, len(rows)))
        exact(engine, 3, into="released", **({"secret": str(tmp_path / "secret.txt")} if number else {}))
        groupings.append(engine.rows(queries.select_all(engine.find("released").relation, engine.dialect)))
    assert groupings[0] != groupings[1] == groupings[2] == groupings[3]
    exact(engine, 3, into="released")
    again = engine.rows(queries.select_all(engine.find("released").relation, engine.dialect))
    assert again != groupings[0]


ASKED = [
    ({"l": 1}, "l is 1; it must be at least 2"),
    ({"into": None}, "there is no target|neither a file nor a table"),
    (
        {"sensitive": ["Ill Ness", "day"], "keep": []},
        "has one sensitive column, and the spec names 2",
    ),
    ({"k": 5}, "there is no option 'k'"),
    ({"more": {"privacy": {"k": 5}}}, 'not k-anonymous; leave out `k`, or use anonymize with `form="anatomy"`'),
    ({"more": {"perturb": {"day": {"noise": {"scale": 1}}}, "keep": []}}, "leave out `perturb`"),
    ({"sensitive": ["illness"]}, "there is no sensitive column 'illness'"),
]


@pytest.mark.parametrize(("options", "message"), ASKED)
def test_impossible_exact_anatomies_are_refused(engine: Engine, options: dict[str, Any], message: str) -> None:
    people(engine, ["flu", "acne", "gout"] * 8)
    with pytest.raises(SpecError, match=message):
        exact(engine, **{"l": 3, "into": "released", **options})
    assert engine.find("released") is None


@pytest.mark.parametrize("target", ["table", "csv"])
def test_groups_that_are_not_diverse_are_not_released(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    people(engine, ["flu", "acne", "gout"] * 8)
    text = queries.text

    def unsorted(name: str, dialect: str, **holes: Any) -> str:
        sql = text(name, dialect, **holes)
        return sql.replace("% 8 + 1", "/ 3 + 1") if name == "anatomy/groups" else sql

    monkeypatch.setattr(queries, "text", unsorted)
    with pytest.raises(VerificationError, match="of them not 3-diverse"):
        exact(engine, 3, **where(target, tmp_path))
    assert engine.find("released") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["key", "digest", "row_id", "group", "content"])
def test_odd_names_are_ordinary_columns(engine: Engine, name: str) -> None:
    create_table(engine, "people", {name: "INTEGER", "s x": "INTEGER"}, [(i, i % 4) for i in range(20)])
    options = {"quasi_identifiers": [name], "sensitive": ["s x"]}
    anatomize("people", options, l=2, connection=engine.connection, into="released")
    rows = engine.rows(queries.select_all(engine.find("released").relation, engine.dialect))
    assert sorted(row[1] for row in rows) == list(range(20))


def test_the_tables_of_a_csv_file_are_read_directly(tmp_path: Path) -> None:
    assert companion_file(tmp_path / "a.b.csv", "sensitive").name == "a.b.sensitive.csv"
    path = tmp_path / "people.csv"
    path.write_text("q,ill\n" + "1,flu\n2,acne\n" * 5)
    anatomize(path, {"quasi_identifiers": ["q"], "sensitive": ["ill"]}, l=2, output=tmp_path / "anon.csv")
    with (tmp_path / "anon.sensitive.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["group_id", "ill", "count"]
    assert sorted(rows) == sorted([[str(g), ill, "1"] for g in range(1, 6) for ill in ("flu", "acne")])
