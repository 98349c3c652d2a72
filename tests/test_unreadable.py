"""Sources that are refused: files of a lakehouse table, objects that are not tables, and repeated names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import narwhals
import pandas
import pyarrow
import pyarrow.dataset
import pytest

from kanon_sql import anonymize, attack, profile, risk, suggest, verify
from kanon_sql.errors import KanonError, SourceError

PEOPLE = pandas.DataFrame({"zip": ["12", "12", "21", "21"] * 5, "ill": list("abab") * 5})
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"zip": {"hierarchy": "suppress"}},
    "sensitive": ["ill"],
    "privacy": {"k": 2},
}


# Files of a lakehouse table

TABLES = {
    "Delta": ("_delta_log/00000000000000000000.json", "country=CH"),
    "Iceberg": ("metadata/v2.metadata.json", "data/country=CH"),
    "Hudi": (".hoodie/hoodie.properties", "CH"),
}
VERBS: dict[str, Callable[[str, str], Any]] = {
    "anonymize": lambda table, _: anonymize(table, SPEC),
    "profile": lambda table, _: profile(table),
    "suggest": lambda table, _: suggest(table),
    "verify": lambda table, _: verify(table, quasi_identifiers=["zip"], k=2),
    "verify against": lambda table, file: verify(
        file, quasi_identifiers=["zip"], k=2, against=table, t_closeness={"ill": 0.5}
    ),
    "risk": lambda table, file: risk(file, release=table, quasi_identifiers=["zip"]),
    "attack": lambda table, file: attack(table, source=file, spec=SPEC),
    "population": lambda table, file: anonymize(file, {**SPEC, "privacy": {"k_map": {"k": 2, "population": table}}}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_the_files_of_a_table_are_not_a_table(tmp_path: Path, kind: str) -> None:
    log, place = TABLES[kind]
    folder = tmp_path / "people"
    (folder / place).mkdir(parents=True)
    alone = tmp_path / "people.parquet"
    for file in (folder / place / "part-1.parquet", folder / place / "part-2.parquet", alone):
        PEOPLE.to_parquet(file)
    (tmp_path / "linked").symlink_to(folder / place)
    part = folder / place / "part-1.parquet"
    anonymize(str(part), SPEC)  # while nothing says that it is a table
    (folder / log).parent.mkdir()
    (folder / log).write_text("{}")
    refused = rf"people is a {kind} table, whose files also contain deleted and replaced rows"
    for pattern in (folder / "**/*.parquet", tmp_path / "linked" / "*.parquet"):
        with pytest.raises(SourceError, match=refused):
            anonymize(str(pattern), SPEC)
    for verb in VERBS.values():
        with pytest.raises(SourceError, match=refused):
            verb(str(part), str(alone))
    anonymize(str(alone), SPEC)


# Objects

ARROW = pyarrow.Table.from_pandas(PEOPLE)


class Stream:
    """What has Arrow's stream alone, as many libraries hand data over."""

    def __init__(self, table: pyarrow.Table, times: int = 1_000) -> None:
        self._table, self._times = table, times

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        self._times -= 1
        if self._times < 0:
            raise RuntimeError("it was read")
        return self._table.__arrow_c_stream__(requested_schema)


class DeltaTable:
    """As that of deltalake."""


DeltaTable.__module__ = "deltalake.table"


class Table:
    """As that of pyiceberg."""


Table.__module__ = "pyiceberg.table"
UNREADABLE: dict[str, tuple[Callable[[], Any], str]] = {
    "Delta": (DeltaTable, "a DeltaTable is not a table .*; pass the result of its `to_pyarrow_table"),
    "Iceberg": (type("StaticTable", (Table,), {}), r"a StaticTable is not .*; pass the result of its `scan"),
    "reader": (lambda: ARROW.to_reader(), "a RecordBatchReader is not .*; pass the result of its `read_all"),
    "one stream": (lambda: Stream(ARROW, times=1), "a Stream is not .*; pass a pandas or Polars DataFrame"),
    "lazy": (lambda: narwhals.from_native(duckdb.sql("SELECT 1")), "a LazyFrame is not .*; pass the result of its"),
    "series": (lambda: PEOPLE["zip"], "a Series is not .*; pass the result of its `to_frame"),
    "list": (lambda: [{"zip": "12"}], "a list is not .*; pass `pandas.DataFrame"),
    "dict": (lambda: {"zip": ["12"]}, "a dict is not .*; pass `pandas.DataFrame"),
    "number": (lambda: 5, "a int is not .*; pass a pandas or Polars DataFrame, an Arrow table, the path of a file"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_a_value_that_is_not_a_table_is_named_with_a_remedy(case: str) -> None:
    value, message = UNREADABLE[case]
    for read in (lambda data: anonymize(data, SPEC), profile, lambda data: verify(data, quasi_identifiers=["zip"])):
        with pytest.raises(SourceError, match=f"^{message}"):
            read(value())


def test_data_that_duckdb_can_scan_are_read() -> None:
    with duckdb.connect() as connection:
        for data in (
            PEOPLE,
            PEOPLE[::-1],
            ARROW,
            ARROW.to_batches()[0],
            pyarrow.dataset.dataset(ARROW),
            narwhals.from_native(PEOPLE),
            Stream(ARROW),
            connection.from_arrow(ARROW),
        ):
            release = anonymize(data, SPEC)
            assert sorted(release.to_df()["ill"]) == sorted(PEOPLE["ill"]), type(data)


def test_names_that_differ_only_in_case_are_refused_wherever_they_come_from() -> None:
    twice = pyarrow.table({"zip": ["12"] * 4, "ZIP": ["9"] * 4, "ill": list("abab")})
    for data in (twice, twice.to_batches()[0], Stream(twice), pyarrow.dataset.dataset(twice), twice.to_pandas()):
        with pytest.raises(SourceError, match="the table has the columns 'zip' and 'ZIP', the same but for case"):
            anonymize(data, SPEC)


# Names

LONG = "t" * 300


@pytest.mark.parametrize("name", [LONG, f"{LONG}.csv", f"folder/{LONG}"])
def test_a_name_too_long_for_a_file_is_allowed(tmp_path: Path, name: str) -> None:
    (tmp_path / "spec.yml").write_text(f"source: {name}\nquasi_identifiers: [zip]\nhierarchies: h\n")
    with duckdb.connect() as connection:
        for options in ({}, {"connection": connection}, {"database": str(tmp_path / LONG)}):
            for read in (
                lambda **options: anonymize(name, SPEC, **options),
                lambda **options: profile(name, **options),
            ):
                with pytest.raises(SourceError, match=r"there is no (file|table|database file) "):
                    read(**options)
        with pytest.raises(SourceError, match=r"there is no (file|table) "):
            anonymize(spec=tmp_path / "spec.yml")
    people = PEOPLE.rename(columns={"zip": name})
    with pytest.raises(KanonError, match=r"there is no hierarchy file|outside the folder|cannot be read"):
        anonymize(people, quasi_identifiers=[name], hierarchies=str(tmp_path), k=2)
