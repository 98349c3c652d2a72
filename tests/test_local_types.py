"""Local recodings of every type of column: a release, or one sentence with the reason; which cells are modified."""

from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SpecError
from kanon_sql.recode import RECODERS
from kanon_sql.spec import Show
from support.database import MakeTable
from support.examples import examples
from support.local import CITIES, TYPES, spec_of, tables

# Every type: a release, or one sentence

SAFE_CLASSES = {
    "duckdb": {
        "UUID": [f"00000000-0000-0000-0000-00000000000{i}" for i in range(4)],
        "INTERVAL": [f"{i} days" for i in range(4)],
        "BLOB": list("abcd"),
        "TIME": ["01:00:00", "02:30:00", "23:00:00", "24:00:00"],
        "TIMESTAMPTZ": [f"2020-01-0{i} 00:00:00+00" for i in range(1, 5)],
        "BOOLEAN": ["true", "false"] * 2,
        "HUGEINT": [str(2**127 - 1 - i) for i in range(4)],
        "DECIMAL(38,10)": [f"123456789012345678901234567{i}.0123456789" for i in range(4)],
        "TIMESTAMP_NS": [f"2020-01-01 00:00:00.12345678{i}" for i in range(4)],
        "TIMESTAMP": ["infinity", "2020-01-01", "2020-01-02", "-infinity"],
        "DATE": ["5000-01-01", "20000-01-01", "0044-03-15 (BC)", "2020-01-01"],
        "DATE ": ["infinity", "2020-01-01", "2020-01-02", "-infinity"],
        "DOUBLE": ["1.5", "nan", "inf", "-inf"],
        "FLOAT": ["0.1", "nan", "inf", "3.4e38"],
    },
    "postgresql": {
        "uuid": [f"00000000-0000-0000-0000-00000000000{i}" for i in range(4)],
        "interval": [f"{i} days" for i in range(4)],
        "bytea": list("abcd"),
        "time": ["01:00:00", "02:30:00", "23:00:00", "24:00:00"],
        "timetz": [f"0{i}:00:00+01" for i in range(4)],
        "timestamptz": [f"2020-01-0{i} 00:00:00+00" for i in range(1, 5)],
        "boolean": ["true", "false"] * 2,
        "date": ["infinity", "2020-01-01", "2020-01-02", "-infinity"],
        "numeric": ["9", "10", "NaN", "1234567890123456789012345678901234567890.5"],
        "float8": ["1.5", "NaN", "Infinity", "-Infinity"],
    },
}
# A few types side by side in one release: the columns are alike, so that each is released as it would be alone, and the
# lattice of all of them stays small.
SIDE_BY_SIDE = 8
SHOWN: list[tuple[str, str | None, str | None]] = [
    *(("mondrian", None, show) for show in (None, "ranges", "exact-bounds", "mean", "mode")),
    *(("exhaustive", "suppress", show) for show in ("bounds", "mean", "mode")),
    *((strategy, "suppress", None) for strategy in RECODERS),
]
# What shows the values of a server's types: labels of all kinds, and values; ranges by a strategy that cuts.
ON_A_SERVER = [
    *(("mondrian", show) for show in (None, "ranges", "exact-bounds", "mean", "mode")),
    ("exhaustive", "bounds"),
    ("kaca", None),
]


def cannot(engine: Engine, column: str, strategy: str, hierarchy: str | None, show: str | None) -> bool:
    """Whether a column of the table people has no order, and one is needed; or no mean."""
    table = engine.find("people")
    found = table and table.column(column)
    assert found
    if show == "mean":
        return found.kind not in ("integer", "decimal", "float")
    ordered = show in ("ranges", "bounds", "exact-ranges", "exact-bounds", "median")
    return not found.ordered and (ordered or (strategy in RECODERS and hierarchy is None))


@pytest.fixture
def people_of_types(engine: Engine, make_table: MakeTable) -> list[str]:
    """A table of people with a column of every type that an engine has; the names of the columns."""
    held = SAFE_CLASSES[engine.name]
    columns = {f"x{number}": type_name for number, type_name in enumerate(held)}
    values = list(zip(*held.values(), strict=True))
    rows = [(*values[i % 4], i) for i in range(12)] + [(*[None] * len(held), i) for i in (12, 13)]
    make_table(engine, "people", {**columns, "n": "INTEGER"}, rows)
    return [*columns]


@pytest.mark.parametrize(("strategy", "hierarchy", "show"), SHOWN)
@pytest.mark.slow
@pytest.mark.sampled
def test_every_type_is_released_or_refused_in_a_sentence(
    engine: Engine, people_of_types: list[str], strategy: str, hierarchy: str | None, show: str | None
) -> None:
    if engine.name == "postgresql" and (strategy, show) not in ON_A_SERVER:
        pytest.skip("its types are read and written alike for all strategies, which run in an embedded DuckDB")
    attribute = {**({"hierarchy": hierarchy} if hierarchy else {}), **({"show": show} if show else {})}

    def released(columns: list[str]) -> dict[str, Any]:
        spec = {
            "source": "people",
            "quasi_identifiers": dict.fromkeys(columns, attribute),
            "identifiers": [column for column in people_of_types if column not in columns],
            "privacy": {"k": 3},
        }
        return kanon_sql.anonymize(None, spec, connection=engine.connection, strategy=strategy).manifest  # type: ignore[attr-defined]

    refused = [column for column in people_of_types if cannot(engine, column, strategy, hierarchy, show)]
    for column in refused:
        with pytest.raises(SpecError, match=r"show common, mode or labels|no order to cut by"):
            released([column])
    taken = [column for column in people_of_types if column not in refused]
    for start in range(0, len(taken), SIDE_BY_SIDE):
        release = released(taken[start : start + SIDE_BY_SIDE])
        assert release["verified"]
        assert release["released_rows"] >= 12


def test_the_mean_of_nan_is_nan(embedded: DuckDB, make_table: MakeTable) -> None:
    make_table(embedded, "people", {"x": "DOUBLE"}, [("nan",)] * 3 + [("1.5",)] * 2 + [("2.5",)])
    spec = {
        "source": "people",
        "quasi_identifiers": {"x": {"show": "mean"}},
        "strategy": "mondrian",
        "privacy": {"k": 3},
    }
    release = kanon_sql.anonymize(None, spec, connection=embedded.connection)
    assert Counter(str(x) for (x,) in embedded.rows("SELECT x FROM kanon_release_1")) == {"nan": 3, str(5.5 / 3): 3}
    assert release.manifest["modification_per_attribute"] == {"x": 0.5}


# Unchanged cells


@pytest.mark.parametrize("name", ["exhaustive", *sorted(RECODERS)])
@examples(12)
@given(rows=tables, k=st.integers(1, 3), show=st.sampled_from([None, *get_args(Show)]))
def test_modified_cells_are_the_changed_ones(
    tmp_path: Path, name: str, rows: list[Any], k: int, show: str | None
) -> None:
    rows = [(age, None if city == "*" else city) for age, city in rows]
    if len(rows) < k:
        return
    table = pandas.DataFrame([(f"p{i}", *row, i) for i, row in enumerate(rows)], columns=[*TYPES]).astype(
        {"age": "Int64"}
    )
    spec = spec_of(tmp_path, k, strategy=name, unmapped="top", source="x", metric="distortion", suppression_limit=0.3)
    if show and name != "prioprivacy":
        spec["quasi_identifiers"]["age"]["show"] = show
    release = kanon_sql.anonymize(table, spec)
    frame = release.to_df().astype(object)
    same, far = Counter({"age": 0, "city": 0}), Counter({"age": 0, "city": 0})
    for *ages, city, place in frame.where(frame.notna(), None).itertuples(index=False):
        source = rows[place]
        whole = all(as_was(source[0], age) for age in ages) and "*" not in ages
        same["age"] += whole
        same["city"] += as_was(source[1], city) and city != "*"
        far["city"] += source[1] is not None and source[1] not in CITIES
    manifest = release.manifest
    for column in ("age", "city"):
        assert manifest["modification_per_attribute"][column] == pytest.approx(1 - same[column] / len(rows))
    gone = (far["city"] + manifest["suppressed_rows"]) / len(rows)
    assert manifest["distortion_per_attribute"]["city"] >= gone - 1e-9
    assert manifest["score"] == pytest.approx(manifest["information_loss"]["distortion"])
    if manifest["node"] and manifest["node"]["city"] == 0:
        assert manifest["distortion_per_attribute"]["city"] == pytest.approx(gone)


def as_was(value: Any, shown: Any) -> bool:
    return value is None if shown is None else value is not None and (shown == value or str(shown) == str(value))
