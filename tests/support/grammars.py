"""Other vendors' parsers and engines, as far as PyPI has them: what they say of a script that we print.

ClickHouse and BigQuery are executed (chdb; zetasql, which also checks names and types), Trino is parsed with its
functions and types (trino-sql-validator), and the others are parsed (sqlfluff). The extra `grammars` installs them.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest


def statements(script: str) -> list[str]:
    """The statements of a script."""
    return script.split(";\n\n")


def thinned(script: str) -> str:
    """A script with fewer rows of values, which parsers in Python take long for, and others refuse as too complex."""
    return _MORE_ROWS.sub("", script)


_MORE_ROWS = re.compile(r"(?<=\),)(\n *\(.*\),)+(?=\n *\()")  # all lines but the first and the last


class ClickHouse:
    """A server in this process, with tables of the schema `clinic`."""

    DIALECT = "clickhouse"
    TYPES: Mapping[str, str] = {
        "SMALLINT": "Int16",
        "INTEGER": "Int32",
        "BIGINT": "Int64",
        "HUGEINT": "Int128",
        "REAL": "Float32",
        "DOUBLE PRECISION": "Float64",
        "DECIMAL(5, 1)": "Decimal(5, 1)",
        "DECIMAL(12, 0)": "Decimal(12, 0)",
        "DECIMAL(18, 2)": "Decimal(18, 2)",
        "VARCHAR": "String",
        "BOOLEAN": "Bool",
        "DATE": "Date32",
        "TIMESTAMP": "DateTime64(6)",
    }

    def __init__(self) -> None:
        session = pytest.importorskip("chdb.session", reason="chdb, of the extra `grammars`, is not installed")
        self._session = session.Session()
        self.run("CREATE DATABASE IF NOT EXISTS clinic")

    def create(self, name: str, types: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """Create a table; the types are DuckDB's."""
        columns = ", ".join(f'"{name}" Nullable({self.TYPES[kind]})' for name, kind in types.items())
        self.run(f"CREATE OR REPLACE TABLE clinic.{name} ({columns}) ENGINE = Memory")
        self.run(f"INSERT INTO clinic.{name} VALUES " + ", ".join(map(_row, rows)))

    def run(self, script: str, _: Sequence[str] = ()) -> list[list[str]]:
        """Run every statement of a script; the rows of the last one, as texts."""
        text = ""
        for statement in statements(script):
            text = str(self._session.query(statement, "CSV"))
        return list(csv.reader(io.StringIO(text)))

    def close(self) -> None:
        self._session.close()


def _row(row: Sequence[Any]) -> str:
    return f"({', '.join('NULL' if item is None else _literal(item) for item in row)})"


def _literal(value: Any) -> str:
    """A value as both systems read it."""
    if isinstance(value, bool | int):
        return str(value)
    text = str(value).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{text}'"


class BigQuery:
    """Google's analyzer and reference implementation of BigQuery's SQL, with tables of the schema `clinic`."""

    DIALECT = "bigquery"
    TYPES: Mapping[str, str] = {
        "SMALLINT": "INT64",
        "INTEGER": "INT64",
        "BIGINT": "INT64",
        "HUGEINT": "BIGNUMERIC",
        "REAL": "FLOAT64",
        "DOUBLE PRECISION": "FLOAT64",
        "DECIMAL(5, 1)": "NUMERIC",
        "DECIMAL(12, 0)": "NUMERIC",
        "DECIMAL(18, 2)": "NUMERIC",
        "VARCHAR": "STRING",
        "BOOLEAN": "BOOL",
        "DATE": "DATE",
        "TIMESTAMP": "DATETIME",
    }
    _CREATED = re.compile(r"CREATE (?:OR REPLACE )?(?:TEMPORARY )?TABLE (\S+) \(([^()]*)\)$")
    _INSERTED = re.compile(r"INSERT INTO (\S+) VALUES\s(.*)", re.DOTALL)

    def __init__(self) -> None:
        wasm = pytest.importorskip("zetasql.core.wasm_client", reason="zetasql, of the extra `grammars`, is missing")
        wasm.Config = _cached  # so that only the first process on a machine compiles it, which takes 25 s
        from google.protobuf.message import DecodeError
        from zetasql import api
        from zetasql import types as kinds

        self._api, self._kinds, self._too_deep = api, kinds, DecodeError
        self._language = kinds.LanguageOptions.maximum_features()
        self._types: dict[str, dict[str, str]] = {}
        self._arrays: dict[str, str] = {}

    def create(self, name: str, types: Mapping[str, str], rows: Sequence[Sequence[Any]] = ()) -> None:
        """Create a table; the types are DuckDB's."""
        columns = {column: self.TYPES[kind] for column, kind in types.items()}
        self._types[name] = columns
        self._arrays[f"`clinic`.`{name}`"] = _array(columns, [self._row(row, columns) for row in rows])

    def check(self, script: str) -> None:
        """Analyze every statement of a script; an error if one of them is wrong."""
        tables = dict(self._types)
        for statement in statements(script):
            self._analyze(statement.replace("`clinic`.", ""), tables)
            if created := self._CREATED.match(statement):
                tables[created[1].rpartition(".")[2].strip("`")] = _columns(created[2])

    def run(self, script: str, columns: Sequence[str]) -> list[list[str | None]]:
        """The rows of a script that ends with a query, as texts."""
        *before, query = statements(script)
        relations = dict(self._arrays)
        types = {}
        for statement in before:
            if created := self._CREATED.match(statement):
                types[created[1]] = _columns(created[2])
            if inserted := self._INSERTED.match(statement):
                relations[inserted[1]] = _array(types[inserted[1]], [inserted[2]])
        for name, array in relations.items():
            query = re.sub(rf"(?<=FROM ){name}|(?<=JOIN ){name}", lambda _, array=array: f"UNNEST({array})", query)
        texts = ", ".join(f"CAST(`{name}` AS STRING)" for name in columns)
        query = f"SELECT {texts} FROM (\n{query}\n) AS released"
        builder = self._api.PreparedQuery.builder().set_sql(query).set_analyzer_options(self._options)
        with builder.set_catalog(self._catalog({})).prepare() as prepared:
            return [[cell.string_value for cell in row.cell] for row in prepared.execute().content.table_data.row]

    def close(self) -> None:
        """Nothing to close."""

    def _row(self, row: Sequence[Any], types: Mapping[str, str]) -> str:
        casts = zip(row, types.values(), strict=True)
        values = (item if item is None else f"CAST({_literal(item)} AS {kind})" for item, kind in casts)
        return f"({', '.join('NULL' if value is None else value for value in values)})"

    def _analyze(self, statement: str, tables: Mapping[str, Mapping[str, str]]) -> None:
        analyzer = self._api.Analyzer(self._options, self._catalog(tables))
        # Of a statement without an error it returns a tree, which may be too deep for protobuf to read.
        with suppress(self._too_deep):
            analyzer.analyze_statement(statement)

    @property
    def _options(self) -> Any:
        return self._kinds.AnalyzerOptions(language_options=self._language)

    def _catalog(self, tables: Mapping[str, Mapping[str, str]]) -> Any:
        catalog = self._api.CatalogBuilder("clinic")
        for name, columns in tables.items():
            table = self._api.TableBuilder(name)
            for column, kind in columns.items():
                words = {"FLOAT64": "DOUBLE"}.get(kind, kind)
                table = table.add_column(column, getattr(self._kinds.TypeKind, f"TYPE_{words}"))
            catalog = catalog.add_table(table.build())
        functions = self._kinds.ZetaSQLBuiltinFunctionOptions(language_options=self._language)
        return catalog.with_builtin_functions(functions).build()


def _columns(defined: str) -> dict[str, str]:
    return dict(re.findall(r"`(\w+)` (\w+)", defined))


def _array(types: Mapping[str, str], rows: Sequence[str]) -> str:
    columns = ", ".join(f"`{name}` {kind}" for name, kind in types.items())
    return f"ARRAY<STRUCT<{columns}>>[{', '.join(rows)}]"


def _cached() -> Any:
    import wasmtime

    config = wasmtime.Config()
    config.cache = True
    return config


def trino(script: str) -> None:
    """Parse a script as Trino does; an error also for functions and types that it does not have."""
    validator = pytest.importorskip("trino_sql_validator", reason="trino-sql-validator is not installed")
    found = validator.validate(thinned(script))
    assert found.valid, found.error
    assert not found.warnings, found.warnings


def sqlfluff(script: str, dialect: str) -> None:
    """Parse a script with sqlfluff's grammar of a dialect."""
    linter = pytest.importorskip("sqlfluff", reason="sqlfluff, of the extra `grammars`, is not installed")
    linter.parse(f"{thinned(script)};\n", dialect=dialect)


if __name__ == "__main__":
    BigQuery()._analyze("SELECT 1", {})  # compiles it once
