"""The classes of a local recoding on new data: rows stay in the region that contains them, the rest is recoded."""

import json
import random
import stat
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

from kanon_sql import anonymize, queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import InfeasibleError, KanonError, SourceError, SpecError
from kanon_sql.recode.keeping import _cells, _grid
from kanon_sql.recode.regions import read_regions, write_regions
from support.command_line import ask, kanon
from support.database import create_table

CITIES = {"Ghent": "BE", "Liège": "BE", "Delft": "NL", "Breda": "NL", "Oslo": "NO"}
TYPES = {"name": "VARCHAR", "age": "INTEGER", "city": "VARCHAR", "ill": "VARCHAR"}
K = 3


def spec(folder: Path, **more: Any) -> dict[str, Any]:
    (folder / "city.csv").write_text("\n".join(f"{city};{country};*" for city, country in CITIES.items()))
    columns = {"age": {"hierarchy": {"ranges": [5, 20]}}, "city": {"hierarchy": str(folder / "city.csv")}}
    common = {"identifiers": ["name"], "quasi_identifiers": columns, "sensitive": ["ill"], "privacy": {"k": K}}
    return {**common, "suppression_limit": 0.0, **more}


def people(seed: int, rows: int) -> list[tuple[Any, ...]]:
    draw = random.Random(seed)
    ages = [draw.choice([draw.randint(18, 60), None]) if i % 9 == 0 else draw.randint(18, 60) for i in range(rows)]
    return [(f"p{i}", age, draw.choice(list(CITIES)), draw.choice("abcd")) for i, age in enumerate(ages)]


def next_night(rows: list[tuple[Any, ...]], seed: int) -> list[tuple[Any, ...]]:
    """A tenth of the rows is gone, and as many and a few more are new."""
    stays = [row for i, row in enumerate(rows) if i % 10 != seed % 10]
    return [*stays, *(("new", *row[1:]) for row in people(seed + 100, len(rows) // 8))]


def is_in(row: tuple[Any, ...], label: tuple[Any, ...]) -> bool:
    """Whether what a release shows of a row is true of it: plain Python, by what the labels say."""
    (_, age, city, _), (shown, place) = row, label
    if shown == "*":
        fits = True
    elif shown is None or age is None:
        fits = shown is age
    elif shown.startswith("["):
        low, high = shown.strip("[]").split(", ")
        fits = int(low) <= age <= int(high)
    else:
        fits = int(shown) == age
    return fits and place in (city, CITIES[city], "*")


@pytest.mark.parametrize("strategy", ["mondrian", "refine", "mondrian_relaxed"])
@pytest.mark.slow
@pytest.mark.sampled
def test_rows_stay_in_their_regions_and_only_the_rest_is_recoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = spec(tmp_path, strategy=strategy, show="ranges", time_limit=2.0)
    seed = len(strategy)
    before = people(seed, 60)
    first = anonymize(frame(before), settings, write_regions="regions.parquet")
    now = next_night(before, seed)
    second = anonymize(frame(now), settings, node_from=json.loads(json.dumps(first.manifest)))
    assert_kept(first, second, now)


def assert_kept(first: Any, second: Any, now: list[tuple[Any, ...]]) -> None:
    recoding = second.manifest["recoding"]
    old = {tuple(row) for row in labels(first)}
    shown = Counter(labels(second))
    assert second.manifest["node_kept"] is True
    assert sum(shown.values()) == len(now), "every row is released"
    assert min(shown.values()) >= K
    assert recoding["placed_rows"] + recoding["recut_rows"] == len(now)
    assert recoding["kept_classes"] + recoding["recut_classes"] == first.manifest["regions"]["classes"]
    assert sum(shown[label] for label in old) >= recoding["placed_rows"] > 0
    # Who fits one old class alone, together with k or more such rows, shows its labels still.
    fits = {i: [label for label in old if is_in(row, label)] for i, row in enumerate(now)}
    alone = Counter(labels_of[0] for labels_of in fits.values() if len(labels_of) == 1)
    for label, rows in alone.items():
        assert rows < K or shown[label] >= rows
    assert_true(second, now)


def assert_true(release: Any, rows: list[tuple[Any, ...]]) -> None:
    """A matching of rows to labels is more than is needed: each label is true of as many rows as show it, at least."""
    shown = Counter((age, city, ill) for (age, city), ill in zip(labels(release), release.to_df()["ill"], strict=True))
    for (age, city, ill), count in shown.items():
        assert sum(row[3] == ill and is_in(row, (age, city)) for row in rows) >= count


def frame(rows: list[tuple[Any, ...]]) -> pandas.DataFrame:
    table = pandas.DataFrame(rows, columns=list(TYPES))
    return table.assign(age=table["age"].astype("Int64"))


def labels(release: Any) -> list[tuple[Any, ...]]:
    shown = release.to_df()[["age", "city"]].astype(object)
    return list(map(tuple, shown.where(shown.notna(), None).values.tolist()))


def sorted_rows(release: Any) -> list[Any]:
    return sorted(release.to_df().astype(object).values.tolist(), key=repr)


@pytest.mark.parametrize(("strategy", "show"), [("mondrian", "bounds"), ("prioprivacy", None)])
def test_every_form_of_labels_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, show: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = spec(tmp_path, strategy=strategy, **({"show": show} if show else {}))
    first = anonymize(frame(people(8, 60)), settings, write_regions="regions.parquet")
    again = anonymize(frame(people(8, 60)), settings, node_from=first.manifest, write_regions="next.parquet")
    assert sorted_rows(again) == sorted_rows(first)
    assert read_regions(Path("next.parquet")).regions == read_regions(Path("regions.parquet")).regions


@pytest.mark.slow
def test_rows_wait_for_a_class_instead_of_joining_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = spec(tmp_path, strategy="mondrian", incremental=True, waiting="later", target={"table": "kept"})
    Path("spec.yml").write_text(json.dumps({**settings, "source": "people", "database": "people.duckdb"}))
    options = ["anonymize", "--spec", "spec.yml", "--overwrite"]
    with duckdb.connect("people.duckdb") as connection:
        create_table(DuckDB(connection), "people", TYPES, people(9, 60))
    assert "0 rows wait in later." in kanon(*options, "--write-regions", "regions.parquet").out
    first = ask("people.duckdb", "SELECT age, city, ill FROM kept ORDER BY ALL")
    ask("people.duckdb", "INSERT INTO people VALUES ('x', 99, 'Oslo', 'a'), ('y', 98, 'Oslo', 'b')")
    output = kanon(*options, "--regions", "regions.parquet").out
    assert "15 earlier classes kept, 0 recut." in output
    assert "2 rows wait in later." in output
    assert ask("people.duckdb", "SELECT age, city, ill FROM kept ORDER BY ALL") == first, "nobody's labels changed"
    assert ask("people.duckdb", "SELECT name FROM later ORDER BY name") == [("x",), ("y",)]
    ask("people.duckdb", "INSERT INTO people VALUES ('z', 97, 'Oslo', 'c')")
    third = json.loads(kanon(*options, "--regions", "regions.parquet", "--json").out)
    assert (third["waiting_rows"], third["classes"], third["recoding"]["kept_classes"]) == (0, 16, 15)


@pytest.mark.slow
def test_only_the_owner_can_read_regions_which_are_identified_by_their_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings, data = spec(tmp_path, strategy="mondrian"), frame(people(10, 40))
    first = anonymize(data, settings, write_regions="regions.parquet")
    path, manifest = Path("regions.parquet"), first.manifest
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "moved").mkdir()
    path.rename("moved/regions.parquet")
    Path("moved/manifest.json").write_text(json.dumps(manifest))
    assert anonymize(data, settings, node_from="moved/manifest.json").manifest["node_kept"], "found beside the manifest"
    regions = read_regions(Path("moved/regions.parquet"))
    write_regions(replace(regions, regions=regions.regions[1:]), Path("other.parquet"))
    refused: list[tuple[dict[str, Any], type[KanonError], str]] = [
        ({"node_from": manifest}, SourceError, "there is no file of regions regions.parquet"),
        (
            {"node_from": manifest, "regions": "other.parquet"},
            SourceError,
            "are not the regions that the manifest names",
        ),
        ({"regions": "other.parquet", "show": "bounds"}, SpecError, "the regions show 'age' as ranges"),
        ({"regions": "other.parquet", "quasi_identifiers": ["city"]}, SpecError, "the regions are of age, city"),
        ({"regions": "other.parquet", "k": 300}, SpecError, "k is 300"),
        ({"node_from": manifest, "strategy": "auto"}, SpecError, "is a local recoding by mondrian"),
    ]
    before = sorted(tmp_path.rglob("*"))
    for options, kind, text in refused:
        with pytest.raises(kind, match=text):
            anonymize(data, {**settings, "keep": "*"}, output="out.csv", **options)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_without_a_safe_class_everything_is_recoded_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(name, age, "Oslo" if i % 8 < 3 else "Ghent", ill) for i, (name, age, _, ill) in enumerate(people(11, 24))]
    settings = spec(tmp_path, strategy="mondrian", suppression_limit=0.5)
    first = anonymize(frame(rows), settings, write_regions="regions.parquet")
    # More of one value than classes of all rows could hide, but all of it in one city.
    spoilt = [(name, age, city, "a" if city == "Oslo" else "bcd"[i % 3]) for i, (name, age, city, _) in enumerate(rows)]
    model: dict[str, Any] = {"alpha_k": {"ill": {"alpha": 0.35, "value": "a"}}}
    with pytest.raises(InfeasibleError):
        anonymize(frame(spoilt), settings, node_from=first.manifest, **model)
    again = anonymize(frame(spoilt), settings, node_from=first.manifest, node_else="search", **model)
    assert again.manifest["node_kept"] is False
    assert "node_not_kept_for" in again.manifest
    assert 9 <= again.manifest["suppressed_rows"] <= 12


@pytest.mark.parametrize("name", ["place", "low", "code", "position"])
def test_rows_are_kept_whatever_the_name_of_a_column(tmp_path: Path, name: str) -> None:
    """Our own queries have these names with a number behind them, as `place_1`, and a column's first level likewise."""
    draw = random.Random(4)
    rows = pandas.DataFrame([[draw.randint(1, 6), draw.randint(1, 6)] for _ in range(60)], columns=["age", name])
    given = {"quasi_identifiers": {key: {"hierarchy": {"ranges": [2]}} for key in rows.columns}, "strategy": "mondrian"}
    first = anonymize(rows, given, k=K, write_regions=tmp_path / "regions.parquet")
    again = anonymize(rows, given, k=K, node_from=first.manifest)
    assert again.to_df().equals(first.to_df())


def test_a_tuple_is_in_the_first_box_that_contains_it(engine: Engine, make_table: Any) -> None:
    """With the space divided into parts, as without."""
    draw, sizes = random.Random(3), (100, 5, 64)
    tuples = list(dict.fromkeys(tuple(draw.randrange(size) for size in sizes) for _ in range(300)))
    boxes = []
    for _ in range(120):
        lows = [draw.randrange(size) for size in sizes]
        boxes.append([(low, min(size - 1, low + draw.randrange(7))) for low, size in zip(lows, sizes, strict=True)])

    def contains(box: list[tuple[int, int]], one: tuple[int, ...]) -> bool:
        return all(low <= place <= high for place, (low, high) in zip(one, box, strict=True))

    expected = {one: next((n for n, box in enumerate(boxes) if contains(box, one)), None) for one in tuples}
    grid = _grid([tuple(box) for box in boxes], sizes)
    assert len(grid) > 1
    keys, ends = ["a_0", "b_0", "c_0"], [f"{end}_{j}" for j in range(3) for end in ("low", "high")]

    def integers(columns: list[str]) -> dict[str, str]:
        return dict.fromkeys(columns, "INTEGER")

    counted = make_table(engine, "tuples", integers([*keys, "n"]), [(*one, 1) for one in tuples])
    orders = [
        make_table(engine, f"order_{j}", integers(["code_0", "position"]), [(x, x) for x in range(size)])
        for j, size in enumerate(sizes)
    ]
    divided = [
        (place, *(end for range_ in box for end in range_), *cell)
        for place, box in enumerate(boxes)
        for cell in _cells(tuple(box), grid)
    ]
    columns = ["place", *ends, *(f"cell_{j}" for j in grid)]
    table = make_table(engine, "boxes", integers(columns), divided)
    positions = [order.relation for order in orders]
    for of_grid in (grid, None):
        query = queries.placed(counted.relation, table.relation, keys, positions, engine.dialect, of_grid)
        assert {row[:3]: row[4] for row in engine.rows(query)} == expected
