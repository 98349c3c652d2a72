"""Tables created with the driver alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL

MakeTable = Callable[[Engine, str, Mapping[str, str], Sequence[Sequence[Any]]], Table]


def create_table(engine: Engine, name: str, types: Mapping[str, str], rows: Sequence[Sequence[Any]] = ()) -> Table:
    """Create a permanent table with the driver alone; `name` is one name, whatever it holds."""
    columns = ", ".join(f"{_quoted(column)} {type_name}" for column, type_name in types.items())
    create = f"CREATE TABLE {_quoted(name)} ({columns})"
    if isinstance(engine, PostgreSQL):
        engine.connection.execute(create)
        with engine.connection.cursor() as cursor, cursor.copy(f"COPY {_quoted(name)} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    elif engine.dialect == "spark":
        _create_in_spark(engine, name, types, rows)
    else:
        assert isinstance(engine, DuckDB)
        engine.connection.execute(create)
        if rows:
            values = ", ".join(f"CAST(UNNEST(?) AS {type_name})" for type_name in types.values())
            lists = [list(column) for column in zip(*rows, strict=True)]
            engine.connection.execute(f"INSERT INTO {_quoted(name)} SELECT {values}", lists)
    table = engine.find(name)
    assert table is not None
    return table


def _create_in_spark(engine: Any, name: str, types: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
    """The same through Spark Connect, whose rows come as Arrow: DuckDB makes that of them."""
    quoted = {column: "`" + column.replace("`", "``") + "`" for column in (name, *types)}
    words = {column: SPARK_TYPES.get(type_name.upper(), type_name) for column, type_name in types.items()}
    columns = ", ".join(f"{quoted[column]} {word}" for column, word in words.items())
    engine.connection.sql(f"CREATE TABLE {quoted[name]} ({columns})")
    if rows:
        with_rows = DuckDB()
        create_table(with_rows, "t", {f"c{i}": word for i, word in enumerate(types.values())}, rows)
        sent = with_rows.connection.sql("FROM t").to_arrow_table()
        engine.connection.createDataFrame(sent).createOrReplaceTempView("made_by_a_test")
        casts = ", ".join(f"CAST(c{i} AS {word})" for i, word in enumerate(words.values()))
        engine.connection.sql(f"INSERT INTO {quoted[name]} SELECT {casts} FROM made_by_a_test")
        engine.connection.catalog.dropTempView("made_by_a_test")


def mark(engine: Engine, name: str, form: str = "table") -> None:
    """Comment on a table or view as on a release of kanon_sql, which may be replaced."""
    engine.run(f"""COMMENT ON {form.upper()} {name} IS 'kanon_sql: {{"is": "release"}}'""")


SPARK_TYPES = {"VARCHAR": "STRING", "TEXT": "STRING", "DOUBLE PRECISION": "DOUBLE", "TIMESTAMP": "TIMESTAMP_NTZ"}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
