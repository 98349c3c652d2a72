"""Every query of `sql/`: its header is true, and given rows become the expected ones on every engine."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
import pyarrow
import pyarrow.parquet
import pytest
import sqlglot
from sqlglot import exp

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation, tree
from kanon_sql.resources import folder
from sql_cases import CASES
from sql_cases.case import AT_LEAST_2, COUNTED, Case

pytestmark = pytest.mark.quick  # every query, not the first alone
VALUES = (int, float, str, type(None))
HEADER = re.compile(
    r"-- [A-Z].*\.\n(-- columns: (?P<columns>.+)\n)?(-- engines: (?P<engines>[\w, ]+)\n)?(?P<body>SELECT[\s\S]+);"
)
# Holes for figures of a class, or of all classes; all other predicates are conditions.
FIGURES = (
    "achieved", "members", "moving", "of_class", "people", "rows", "size", "stayed", "unavoidable", "unmoving",
)  # fmt: skip


@dataclass(frozen=True)
class Query:
    """A query of `sql/`, what is written above it apart from its tree."""

    name: str
    text: str
    engines: str | None

    @property
    def header(self) -> Mapping[str, str]:
        match = HEADER.fullmatch(self.text)
        assert match, f"{self.name}: under its name come a sentence, columns and engines (if needed), SELECT …;"
        return match.groupdict()

    @property
    def body(self) -> str:
        return self.header["body"]

    @cached_property
    def tree(self) -> exp.Expression:
        return sqlglot.parse_one(self.body, "duckdb")

    @property
    def one_engine(self) -> bool:
        """Whether it is for a single engine, whose own words it may use."""
        return "," not in (self.engines or ",")


def _queries() -> Iterator[Query]:
    for path in sorted(folder("sql").glob("*.sql")):
        head = path.read_text(encoding="utf-8").partition("\n-- name: ")[0]
        of_file = re.search(r"^-- engines: (.+)$", head, re.MULTILINE)
        for name, text in tree.queries_of(path.stem).items():
            of_query = re.search(r"^-- engines: (.+)$", text, re.MULTILINE) or of_file
            yield Query(f"{path.stem}/{name}", text, of_query[1] if of_query else None)


QUERIES = {query.name: query for query in _queries()}
every_query = pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)


@every_query
def test_the_header_agrees_with_the_query(query: Query) -> None:
    columns = query.header["columns"]
    for column in query.tree.selects if columns else []:
        assert not column.alias or re.search(rf"\b{column.alias}\b", columns), f"columns: lacks {column.alias}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.query)
def test_unknown_safety_counts_as_unsafe(case: Case) -> None:
    for hole in QUERIES[case.query].tree.find_all(exp.Placeholder):
        if isinstance(case.holes[hole.name], Predicate) and hole.name not in FIGURES:
            unknown_is_unsafe = isinstance(hole.parent, exp.Coalesce) and hole.parent.expressions == [exp.false()]
            assert unknown_is_unsafe, f"write COALESCE(${hole.name}, FALSE)"


@pytest.mark.parametrize("path", sorted(folder("sql").glob("*.sql")), ids=lambda path: path.stem)
def test_a_file_begins_with_its_subject(path: Path) -> None:
    head = path.read_text(encoding="utf-8").partition("\n-- name: ")[0]
    assert re.fullmatch(r"-- [A-Z].+\.\n(-- engines: [\w, ]+\n)?", head)


# What is no SQL elsewhere, or means something else there; with a text that must be found.
BANNED = {
    r"\bGROUP\s+BY\s+ALL\b": "GROUP BY ALL",
    r"\bORDER\s+BY\s+ALL\b": "ORDER BY ALL",
    r"\bEXCLUDE\b": "SELECT * EXCLUDE (a)",
    r"\*\s*REPLACE\b": "SELECT * REPLACE (a AS b)",
    r"\bQUALIFY\b": "QUALIFY ROW_NUMBER() = 1",
    r"\bHASH\s*\(": "hash(a)",
    r"\bHISTOGRAM\b": "histogram(a)",
    r"\bBY\s+NAME\b": "UNION ALL BY NAME",
    r"\bCREATE\s+OR\s+REPLACE\b": "CREATE OR REPLACE TABLE t",
    r"\bANY_VALUE\b|\bFIRST\s*\(|\bARBITRARY\b": "first(a)",
    r"\b(NULLS\s+FIRST|NULLS\s+LAST)\b": "ORDER BY a NULLS LAST",
    r"\bIS\s+(NOT\s+)?DISTINCT\s+FROM\b": "a IS NOT DISTINCT FROM b",
    r"\bCOLUMNS\s*\(": "COLUMNS(*)",
    r"\b(USING\s+)?(TABLE)?SAMPLE\b": "USING SAMPLE 5",
    r"::": "a::INTEGER",
    r"\bRANDOM\s*\(": "random()",
}
STAR = r"(?<!COUNT\()\*\s*(FROM|,|$)|\.\*"


@every_query
def test_only_portable_words(query: Query) -> None:
    banned = BANNED if query.one_engine else {**BANNED, STAR: "SELECT * FROM t"}
    for pattern, example in banned.items():
        assert re.search(pattern, example, re.IGNORECASE)
        assert not re.search(pattern, query.body, re.IGNORECASE), f"{example} is banned"


def misreadable(tree: exp.Expression) -> list[str]:
    """What an engine may take for something else: relations without an alias, columns without a relation.

    Only a last ORDER BY may name a column that the query returns. A predicate speaks of the column `n` of what it is
    asked of, so that a SELECT with a predicate must not call anything `n` that it returns.
    """
    tables = [table.sql("duckdb") for table in tree.find_all(exp.Table) if not table.alias]
    columns = [
        column.sql("duckdb")
        for column in tree.find_all(exp.Column)
        if not column.table and not isinstance(column.this, exp.Placeholder) and not _is_given(column)
    ]
    judged = [hole.find_ancestor(exp.Select) for hole in tree.find_all(exp.Placeholder) if hole.name == "safe"]
    return [*tables, *columns, *("n" for select in judged if select and "n" in select.named_selects)]


def _is_given(column: exp.Column) -> bool:
    ordered = column.parent and column.parent.parent
    if not isinstance(ordered, exp.Order) or not isinstance(ordered.parent, exp.Query):
        return False
    return column.name in ordered.parent.named_selects


@every_query
def test_no_name_can_be_misread(query: Query) -> None:
    if not query.one_engine:
        assert misreadable(query.tree) == []


@pytest.mark.parametrize(
    ("sql", "misread"),
    [
        ("SELECT SUM(f.n) AS size FROM $f AS f GROUP BY $levels HAVING SUM(f.n) > 1 ORDER BY size", []),
        ("SELECT SUM(n) AS n FROM $f AS f HAVING SUM(n) > 1", ["n", "n"]),
        ("SELECT SUM(f.n) AS size FROM $f AS f ORDER BY other", ["other"]),
        ("SELECT RANK() OVER (ORDER BY place) AS place FROM $f AS f", ["place"]),
        ("SELECT f.n FROM $f AS f WHERE f.n IN (SELECT g.n FROM $g)", ["$g"]),
        ("SELECT SUM(f.n) AS n FROM $f AS f HAVING COALESCE($safe, FALSE)", ["n"]),
    ],
)
def test_an_ambiguous_name_is_detected(sql: str, misread: list[str]) -> None:
    assert misreadable(sqlglot.parse_one(sql, "duckdb")) == misread


# Given and expected rows


@pytest.fixture(scope="module")
def one_duckdb() -> Iterator[DuckDB]:
    """A DuckDB for all cases, each of which drops what it made."""
    opened = DuckDB()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def one_postgres(_postgres_server: tuple[str, psycopg.Connection]) -> Iterator[PostgreSQL]:
    """A session for all cases, each of which drops what it made: temporary tables alone."""
    opened = PostgreSQL.open(_postgres_server[0])
    yield opened
    opened.close()


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    """One for all cases, but a fresh one for files, which DuckDB may remember by their names."""
    fixtures = {"duckdb": "one_duckdb", "postgres": "one_postgres", "sail": "sail_views"}
    if request.node.callspec.params["case"].files:
        fixtures = {**fixtures, "duckdb": "embedded"}
    opened: Engine = request.getfixturevalue(fixtures.get(request.param, request.param))
    return opened


def test_every_query_is_recorded() -> None:
    """A pattern that misses a file would test nothing of it, silently."""
    texts = [path.read_text(encoding="utf-8") for path in folder("sql").rglob("*")]
    assert len(QUERIES) == sum(text.count("-- name: ") for text in texts) > 0


def test_every_query_has_given_and_expected_rows() -> None:
    assert sorted(QUERIES) == sorted({case.query for case in CASES})


def test_the_queries_that_do_not_run_on_spark_are_listed() -> None:
    page = (Path(__file__).resolve().parents[1] / "docs" / "engines.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"are not needed on\s+Spark: ([^.]*)\.", page)
    elsewhere = {name for name, query in QUERIES.items() if query.engines and not query.one_engine}
    assert set(re.findall(r"`([\w/]+)`", listed)) == elsewhere


@pytest.mark.spark
@pytest.mark.capability("the queries of sql/, except those listed below")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.query)
@pytest.mark.sampled("sail")
def test_given_rows_become_the_expected_ones(
    engine: Engine, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = QUERIES[case.query]
    if query.engines and engine.name not in query.engines:
        pytest.skip(f"{query.name} is for {query.engines} only")
    monkeypatch.chdir(tmp_path)
    _write(case.files)
    sql, result = queries.text(case.query, engine.dialect, **case.holes), queries.scratch("given_result")
    with ExitStack() as last:
        for name in (*case.relations, result.name):
            last.callback(engine.forget, queries.scratch(name))
        for name, (types, rows) in case.relations.items():
            engine.load_batches(Relation(name), types, [list(zip(*rows, strict=True)) or [[]] * len(types)])
        actual = engine.rows(sql)
        assert sorted(actual, key=repr) == sorted(map(tuple, case.expected), key=repr)
        if query.tree.args.get("order"):
            assert actual == list(case.expected)
        engine.send(sql, engine, result)
        assert [column.name for column in engine.table(result).columns] == list(case.columns)


def _write(files: Mapping[str, Any]) -> None:
    for name, content in files.items():
        if isinstance(content, str):
            Path(name).write_text(content, encoding="utf-8")
        else:
            pyarrow.parquet.write_table(pyarrow.table(content), name)


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if "frequency_set" in case.holes and "levels" in case.holes and case.query != "frequency_sets/rollup"
    ],
    ids=lambda case: case.query,
)
def test_a_query_prepared_per_node_is_the_same_query(engine: Engine, case: Case) -> None:
    per_node = ("node", "frequency_set", "levels")
    fixed = {name: hole for name, hole in case.holes.items() if name not in per_node}
    prepared = queries.per_node(case.query, engine.dialect, **fixed)
    whole = queries.text(case.query, engine.dialect, **case.holes)
    assert prepared(case.holes.get("node", 0), case.holes["frequency_set"], case.holes["levels"]) == whole


@pytest.mark.parametrize("name", ["a b", 'a"', "a; DROP TABLE t", "é", ""])
def test_a_prepared_query_takes_plain_level_names_only(name: str) -> None:
    prepared = queries.per_node("node_tests/released_classes", "duckdb", safe=AT_LEAST_2)
    with pytest.raises(ValueError, match="not a plain column name"):
        prepared(0, COUNTED, [name])


def test_columns_outside_a_list_are_an_error() -> None:
    with pytest.raises(ValueError, match="not in a list"):
        tree._fill(sqlglot.parse_one("SELECT 1 AS one FROM t WHERE $columns = 1", "duckdb"), {"columns": ["a", "b"]})


def test_a_hole_left_open_or_unknown_is_an_error() -> None:
    with pytest.raises(ValueError, match="filled with"):
        queries.text("frequency_sets/row_count", "duckdb")
    with pytest.raises(ValueError, match="filled with"):
        queries.text("frequency_sets/row_count", "duckdb", relation=COUNTED, other=1)
