"""The source is read once for its distinct tuples, and once for the release; CSV is parsed twice before.

Where columns are released unchanged, it is read once more, to count who is unique by them.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import anonymize, cloak, compare, explain, profile, risk, search, verify
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import KanonError, SourceError
from kanon_sql.verbs.anatomize import anatomize
from support.database import create_table

TYPES = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR", "x": "DOUBLE PRECISION"}
TYPES |= {"y": "DOUBLE PRECISION", "at": "INTEGER"}
ILL = ("flu", "asthma", "acne")
ROWS = [(f"p{i}", 20 + i % 4, f"z{i % 3}{i % 2}", ILL[i % 3], 7 + i % 5 / 10, 46.5, 1000 + i) for i in range(120)]
HIERARCHIES = {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": {"redact": "right"}}}
SPEC: dict[str, Any] = {"identifiers": ["name", "x", "y", "at"], "quasi_identifiers": HIERARCHIES, "sensitive": ["ill"]}
CLOAK = {"identifiers": ["age", "zip"], "sensitive": ["ill"], "location": ["x", "y"], "time": "at", "unit": "name"}
SOURCE = "raw people"
_READS_NOTHING = (
    "SELECT current_database()",
    "DESCRIBE",
    "EXPLAIN",
    "CREATE VIEW",
    "COMMENT",
    "DROP",
    "GRANT",
    "REVOKE",
    "ALTER",
)
_NO_ROWS = ("LIMIT 0", "WHERE FALSE")


class Recorded:
    """The statements that an engine was given."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.statements: list[str] = []
        names = ("rows", "run", "write_file") if isinstance(engine, DuckDB) else ("rows", "run", "_copy_out")
        for class_ in type(engine).__mro__:  # a test's own PostgreSQL has methods of its own, a run's has none
            for name in set(names) & set(vars(class_)):
                monkeypatch.setattr(class_, name, self._recording(vars(class_)[name]))

    def _recording(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(engine: Engine, sql: str, *given: Any, **more: Any) -> Any:
            self.statements.append(sql)
            return method(engine, sql, *given, **more)

        return recorded

    def reads(self, *names: str) -> list[str]:
        """The statements that read rows of a relation of one of these names."""
        statements = [sql for sql in self.statements if any(f'"{name}"' in sql for name in names)]
        return [
            sql for sql in statements if not sql.startswith(_READS_NOTHING) and not any(no in sql for no in _NO_ROWS)
        ]


@pytest.fixture
def people(engine: Engine) -> Engine:
    create_table(engine, SOURCE, TYPES, ROWS)
    return engine


RUNS: dict[str, tuple[int, dict[str, Any]]] = {
    "full-domain into a table": (3, {"into": "released"}),
    "full-domain into a file": (3, {"output": "released.parquet"}),
    "full-domain kept": (3, {}),
    "full-domain as a view": (3, {"into": "released", "form": "view"}),
    "full-domain as an anatomy": (2, {"into": "released", "form": "anatomy"}),
    "local into a table": (3, {"into": "released", "strategy": "mondrian"}),
    "local into a file": (3, {"output": "released.csv", "strategy": "mondrian"}),
    "local as a view": (3, {"into": "released", "form": "view", "strategy": "mondrian"}),
    "perturbed": (2, {"into": "released", "perturb": {"ill": {"pram": {"keep": 0.8}}}, "sensitive": []}),
    "microaggregated": (3, {"into": "released", "show": "median"}),
    "cloaked into a table": (2, {"into": "released", "cloak": {"interval": 1000}}),
    "cloaked into a file": (2, {"output": "released.csv", "cloak": {"interval": 1000}}),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.sampled
def test_a_table_is_read_once_for_its_tuples_once_for_unchanged_columns_and_once_for_the_release(
    people: Engine, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, options = RUNS[run]
    verb, spec = (cloak, CLOAK) if "cloak" in options else (anonymize, SPEC)
    if "output" in options:
        options = {**options, "output": tmp_path / options["output"]}
    recorded = Recorded(people, monkeypatch)
    verb(SOURCE, spec, connection=people.connection, **{"k": 3, **options})
    # A view is read through its own name, when it is verified; a table is not the source any more.
    shown = ("released",) if options.get("form") == "view" else ()
    reads = recorded.reads(SOURCE, *shown)
    assert len(reads) == expected, reads


@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
def test_explain_runs_no_statement_that_a_release_does_not_run(
    people: Engine, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    recorded = Recorded(people, monkeypatch)

    def ran(verb: Callable[..., Any]) -> Counter[str]:
        recorded.statements.clear()
        verb(SOURCE, SPEC, connection=people.connection, k=3, strategy=strategy)
        assert len(recorded.reads(SOURCE)) == 3
        reads = [sql for sql in recorded.statements if not sql.startswith(_READS_NOTHING)]
        reads = [sql for sql in reads if not sql.endswith("AS texts")]  # of collations, for the statement that is shown
        return Counter(re.sub(r"kanon_\d+", "kanon", sql) for sql in reads)  # a name that is taken gets a number

    explained = ran(explain)
    assert list(explained - ran(anonymize)) == []


def test_explain_shows_the_log_of_the_run(people: Engine) -> None:
    steps = {step.name: step for step in explain(SOURCE, SPEC, connection=people.connection, k=3).steps}
    searched = search(SOURCE, SPEC, connection=people.connection, k=3).outcome
    assert (steps["node_test"].rows or 0) >= searched.nodes_checked >= steps["node_test"].times - 1 > 0
    assert (steps["tuples"].engine, steps["node_test"].engine) == (people.name, "duckdb")
    assert (steps["release"].rows, steps["class_summary"].times) == (120, 1)
    assert all(step.seconds > 0 for step in steps.values())


@pytest.mark.parametrize(("query", "reads"), [("SELECT * FROM stays", 3), ("SELECT * FROM 'people.csv'", 4)])
def test_a_view_is_counted_at_the_end_if_it_reads_files(
    embedded: DuckDB, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, query: str, reads: int
) -> None:
    monkeypatch.chdir(tmp_path)
    create_table(embedded, "stays", TYPES, ROWS)
    embedded.run("COPY stays TO 'people.csv'")
    embedded.run(f'CREATE VIEW "{SOURCE}" AS {query}')
    recorded = Recorded(embedded, monkeypatch)
    anonymize(SOURCE, SPEC, connection=embedded.connection, k=3, into="released")
    assert len(recorded.reads(SOURCE)) == reads


def test_an_exact_anatomy_reads_the_source_once(people: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = Recorded(people, monkeypatch)
    anatomize(SOURCE, SPEC, l=3, connection=people.connection, into="released")
    assert len(recorded.reads(SOURCE)) == 1


@pytest.mark.parametrize(("keep", "more"), [(None, 0), ("*", 4)])
def test_only_kept_columns_are_examined(
    people: Engine, monkeypatch: pytest.MonkeyPatch, keep: str | None, more: int
) -> None:
    """Their rows, values and texts are counted, and pairs of columns in a bounded sample."""
    recorded, spec = Recorded(people, monkeypatch), {**SPEC, "sensitive": [], "keep": keep}
    anonymize(SOURCE, spec, connection=people.connection, k=3, into="released")
    assert len(recorded.reads(SOURCE)) == 2 + more
    assert len([sql for sql in recorded.reads(SOURCE) if "LIMIT 100000" in sql]) == (1 if keep else 0)


def test_risk_reads_a_table_on_a_server_for_its_size_and_its_rows(
    postgres: PostgreSQL, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(postgres, SOURCE, TYPES, ROWS)
    recorded = Recorded(postgres, monkeypatch)
    risk(SOURCE, {**SPEC, "privacy": {"t_closeness": {"ill": 0.2}}}, connection=postgres.connection)
    size, rows = recorded.reads(SOURCE)
    assert "COUNT(*)" in size
    assert "GROUP BY" not in rows


def test_only_reading_statements_are_counted(postgres: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    create_table(postgres, SOURCE, TYPES, ROWS)
    recorded = Recorded(postgres, monkeypatch)
    postgres.rows(f'SELECT COUNT(*) FROM "{SOURCE}"')
    postgres.run(f'CREATE TEMPORARY TABLE copied AS SELECT * FROM "{SOURCE}"')
    postgres.rows(f'SELECT * FROM "{SOURCE}" LIMIT 0')
    assert len(recorded.reads(SOURCE)) == 2


_COUNTERS = Path("/proc/self/io")  # what Linux counts of a process


def bytes_read() -> int:
    """The bytes that this process has read from files until now."""
    return int(_COUNTERS.read_text().split()[1])


def write_people(path: Path, separator: str = ",") -> Path:
    """Some 3 MB of rows, so that whatever else a run reads is small against them."""
    lines = [",".join(TYPES)]
    lines += [f"{i:099},{20 + i % 4},{i % 3:04},{ILL[i % 3]},{i / 8},46.5,2020-01-0{1 + i % 5}" for i in range(24_000)]
    path.write_text("\n".join(lines).replace(",", separator))
    return path


@pytest.mark.skipif(not _COUNTERS.exists(), reason="needs Linux, which counts what a process reads")
@pytest.mark.parametrize("run", ["full-domain into a file", "full-domain kept", "local into a file", "perturbed"])
@pytest.mark.parametrize(("name", "separator"), [("people.csv", ","), ("people.tsv", "\t"), ("part*.csv", ";")])
@pytest.mark.sampled
def test_a_csv_file_is_parsed_twice(tmp_path: Path, run: str, name: str, separator: str) -> None:
    for part in "12" if "*" in name else "1":
        write_people(tmp_path / name.replace("*", part), separator)
    size = sum(path.stat().st_size for path in tmp_path.glob(name))
    options = {key: value for key, value in RUNS[run][1].items() if key not in ("into", "output")}
    before = bytes_read()
    anonymize(str(tmp_path / name), SPEC, k=3, **options)
    assert 1.9 < (bytes_read() - before) / size < 2.3


ODD: dict[str, tuple[float, list[Callable[[str], str]]]] = {
    "hashes": (2, [lambda text: text.replace("flu", "#flu").replace("\n0", "\n#0")]),
    "single quotes": (2, [lambda text: re.sub("flu|name", r"'\g<0>'", text)]),
    "backslashes": (2, [lambda text: text.replace("flu", r'"the \"flu\""')]),
    "blank lines": (2, [lambda text: f"\n \n{text}"]),
    "a name that is missing": (2, [lambda text: text.replace("name", "")]),
    "files of different separators": (2, [str, lambda text: text.replace(",", ";")]),
    "files of different quotes": (2, [str, lambda text: re.sub("flu|name", r"'\g<0>'", text)]),
    "files of different columns": (
        2,
        [str, lambda text: re.sub("$", ",", text, flags=re.M).replace("at,", "at,more", 1)],
    ),
    # DuckDB alone knows that a column is empty in one file, and no text.
    "files of different types": (3, [str, lambda text: re.sub(r"46[.]5", "", text)]),
}


@pytest.mark.skipif(not _COUNTERS.exists(), reason="needs Linux, which counts what a process reads")
@pytest.mark.parametrize("case", ODD)
def test_an_odd_csv_file_is_parsed_twice(embedded: DuckDB, tmp_path: Path, case: str) -> None:
    parses, ways = ODD[case]
    for number, write in enumerate(ways):
        path = write_people(tmp_path / f"{number}.csv")
        path.write_text(write(path.read_text()))
    size = sum(path.stat().st_size for path in tmp_path.glob("*.csv"))
    before = bytes_read()
    table = embedded.read_file(str(tmp_path / "*.csv"))
    assert parses - 0.1 < (bytes_read() - before) / size < parses + 0.3
    assert embedded.rows(f"SELECT COUNT(*) FROM {table.relation.name}") == [(24_000 * len(ways),)]
    assert {"age": "BIGINT", "y": "DOUBLE", "at": "DATE"}.items() <= {c.name: c.type for c in table.columns}.items()


@pytest.mark.parametrize("text", ["a,b\n'x,1\ny',2\n", "a;b\nx;1\n's-Hage;2\nAlma';3\nz;4\n"])
def test_apostrophes_do_not_join_two_rows(embedded: DuckDB, tmp_path: Path, text: str) -> None:
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(SourceError, match=r"has (2|4) rows by its lines, and (1|3) as DuckDB reads it; write it again"):
        embedded.read_file(str(tmp_path / "people.csv"))
    assert embedded.rows("SELECT table_name FROM information_schema.tables") == []


def test_rows_below_a_title_are_not_left_out(embedded: DuckDB, tmp_path: Path) -> None:
    for name in "12":
        (tmp_path / f"{name}.csv").write_text("name\nx\ny\nz|1\nu|2\n")
    with pytest.raises(SourceError, match="has 8 rows by its lines, and 2 as DuckDB reads it"):
        embedded.read_file(str(tmp_path / "*.csv"))


@pytest.mark.skipif(not _COUNTERS.exists(), reason="needs Linux, which counts what a process reads")
@pytest.mark.parametrize("verb", [profile, verify, compare])
@pytest.mark.sampled
def test_every_verb_parses_a_csv_file_twice(tmp_path: Path, verb: Callable[..., Any]) -> None:
    path = write_people(tmp_path / "people.csv")
    before = bytes_read()
    verb(path, *([] if verb is profile else [SPEC]), **({} if verb is profile else {"k": 3}))
    assert 1.9 < (bytes_read() - before) / path.stat().st_size < 2.3


@pytest.mark.parametrize("rows", ["1,2\n", "1,2\n1,2,3\n", "# none\n1,2\n"])
@pytest.mark.parametrize("failing", [False, True])
def test_no_file_table_is_left_in_the_connection_of_a_program(
    embedded: DuckDB, tmp_path: Path, rows: str, failing: bool
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,zip\n" + rows * 40)
    spec = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, "keep": "*"}
    with suppress(KanonError):
        anonymize(path, spec, k=10_000 if failing else 2, connection=embedded.connection, output=tmp_path / "out.csv")
    assert embedded.rows("SELECT table_name FROM information_schema.tables") == []


@pytest.mark.parametrize(
    ("text", "types", "rows"),
    [
        (",age\n0,1\n", {"column0": "BIGINT", "age": "BIGINT"}, [(0, 1)]),
        ("zip;age\r\n02138;1\r\nNL1;\r\n", {"zip": "VARCHAR", "age": "BIGINT"}, [("02138", 1), ("NL1", None)]),
        ("born,at\n31/01/2020,x\n", {"born": "DATE", "at": "VARCHAR"}, [(date(2020, 1, 31), "x")]),
        ("a,b\n1,\n", {"a": "BIGINT", "b": "VARCHAR"}, [(1, None)]),
        ('a,b\n"x, ""y""\nz",1\n', {"a": "VARCHAR", "b": "BIGINT"}, [('x, "y"\nz', 1)]),
        ("\n\na,b\n1,2\n", {"a": "BIGINT", "b": "BIGINT"}, [(1, 2)]),
        ("a,b\n'x','y'\n", {"a": "VARCHAR", "b": "VARCHAR"}, [("x", "y")]),
        ("a,b\n'x, it''s',1\n", {"a": "VARCHAR", "b": "BIGINT"}, [("x, it's", 1)]),
        ('a,b\n"x \\"y\\"",1\n', {"a": "VARCHAR", "b": "BIGINT"}, [('x "y"', 1)]),
        ("\n \n\na,b\n1,2\n", {"a": "BIGINT", "b": "BIGINT"}, [(1, 2)]),
    ],
)
def test_a_csv_file_is_loaded_as_the_sniffer_reads_it(
    embedded: DuckDB, tmp_path: Path, text: str, types: dict[str, str], rows: list[Any]
) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(text.encode())
    table = embedded.read_file(str(path))
    path.unlink()
    assert {column.name: column.type for column in table.columns} == types
    assert embedded.rows(f"FROM {table.relation.name}") == rows


HASHES = {
    "in the middle": "room,beds\n1,2\n#3,4\n5,6\n",
    "in the first row": "room,beds\n#1,2\n3,4\n",
    "in the last row": "room,beds\n1,2\n#3,4",
    "in every row": "room,beds\n#1,2\n#3,4\n",
    "in the header": "#room,beds\n1,2\n3,4\n",
    "in the header and a row": "#room,beds\n1,2\n#3,4\n",
    "in quotes": 'room,beds\n1,2\n"#3",4\n5,"6"\n',
    "in a quoted field of two lines": 'room,beds\n1,2\n"3\n#,4",4\n5,6\n',
    "before an empty field": "room;beds\n1;2\n#;\n5;6\n",
    "in the only column": "room\n1\n#3\n5\n",
    "with a blank before it": "room\tbeds\n1\t2\n #3\t4\n# 5\t6\n",
    "behind 30,000 rows": "room,beds\n" + "1,2\n" * 30_000 + "#3,4\n",
    "with other quotes": "room,beds\n'1',2\n#3,4\n",
    "below blank lines": "\n\nroom,beds\n1,2\n#3,4\n",
    "of windows": "room,beds\r\n1,2\r\n#3,4\r\n5,6\r\n",
}


def rows_written(text: str) -> list[list[str]]:
    """The rows of CSV below its header, as Python reads them."""
    separator, quote = next(mark for mark in "\t;," if mark in text or mark == ","), "'" if "'" in text else '"'
    return [row for row in csv.reader(StringIO(text), delimiter=separator, quotechar=quote) if row][1:]


def cells(rows: Iterable[Sequence[Any]]) -> list[list[str]]:
    """What is in each row, in whatever order."""
    return sorted(sorted(str(cell).strip() for cell in row if cell not in (None, "")) for row in rows)


@pytest.mark.parametrize("case", HASHES)
@pytest.mark.parametrize("name", ["rooms.csv", "room*.csv"])
def test_a_row_that_starts_with_a_hash_is_not_a_comment(embedded: DuckDB, tmp_path: Path, case: str, name: str) -> None:
    (tmp_path / name.replace("*", "1")).write_bytes(HASHES[case].encode())
    written = rows_written(HASHES[case])
    if "*" in name:
        (tmp_path / "room2.csv").write_text("room,beds\n7,8\n")
        written.append(["7", "8"])
    table = embedded.read_file(str(tmp_path / name))
    query = f"FROM {table.relation.name}"
    assert cells(embedded.rows(query)) == cells(written)
    printed = f"WITH {table.relation.name} AS ({embedded.files_sql(str(tmp_path / name))}) {query}"
    assert cells(DuckDB().rows(printed)) == cells(written)


def test_a_row_that_starts_with_a_hash_is_released(tmp_path: Path) -> None:
    rows = [f"{'#' * (i % 5 == 0)}{i % 3},{20 + i % 4}" for i in range(60)]
    (tmp_path / "rooms.csv").write_text("\n".join(["room,age", *rows]))
    spec = {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [10]}}}, "sensitive": ["room"]}
    manifest = anonymize(tmp_path / "rooms.csv", spec, k=2, output=tmp_path / "out.csv").manifest
    assert (manifest["rows"], manifest["released_rows"]) == (60, 60)
    released = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert sorted(line.partition(",")[0].strip('"') for line in released) == sorted(row.split(",")[0] for row in rows)


def test_files_of_different_columns_and_types_are_joined_by_name(embedded: DuckDB, tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("zip,age\n02138,1\n")
    (tmp_path / "2.csv").write_text("age;zip\n2;NL1\n")
    table = embedded.read_file(str(tmp_path / "*.csv"))
    assert embedded.rows(f"FROM {table.relation.name} ORDER BY age") == [("02138", 1), ("NL1", 2)]
