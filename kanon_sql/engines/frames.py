"""Data that a program hands over, a DataFrame or an Arrow table, as a view in DuckDB."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import duckdb

from kanon_sql.engines.duckdb_errors import said_by
from kanon_sql.errors import SourceError


def check_readable(data: Any) -> None:
    """SourceError for an object that DuckDB cannot scan as often as needed."""
    if _known(data) or (_is_stream(data) and _can_be_read_once(data)):
        raise unreadable(data)


def names(data: Any) -> list[str]:
    """The names of the columns, as text."""
    if _is_stream(data):
        return list(_stream(data).schema.names)
    of_schema = getattr(getattr(data, "schema", None), "names", None)  # of Arrow's tables, batches and data sets
    named = of_schema if isinstance(of_schema, list) else getattr(data, "columns", ())
    return [str(name) for name in named]


def show(connection: duckdb.DuckDBPyConnection, name: str, data: Any) -> None:
    """Register data; SourceError if it is no table.

    As a copy: a relation of another connection, and a DataFrame whose values are stored backwards, as `frame[::-1]` has
    them.
    """
    try:
        _register(connection, name, data)
    except duckdb.InvalidInputException:
        raise unreadable(data) from None
    except (duckdb.Error, TypeError) as error:
        said, values = said_by(error) if isinstance(error, duckdb.Error) else ("it is no table", ())
        raise SourceError(f"a {type(data).__name__} cannot be read as a table: {said}", values) from None


def unreadable(data: Any) -> SourceError:
    """The error of an object that DuckDB cannot scan, or not twice, with what to give instead of it.

    >>> print(unreadable(["a", "b"]))
    a list is not a table that can be read; give `pandas.DataFrame(…)` of it
    """
    return SourceError(f"a {type(data).__name__} is not a table that can be read; give {_known(data) or _ANY}")


def _known(data: Any) -> str | None:
    kinds = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(data).__mro__]
    return next((_WAYS_OUT[kind] for kind in kinds if kind in _WAYS_OUT), None)


_ANY = "a pandas or Polars DataFrame, an Arrow table, the path of a file, or the name of a table"
_WAYS_OUT = {
    ("deltalake", "DeltaTable"): "what its `to_pyarrow_table()` returns",
    ("pyiceberg", "Table"): "what its `scan().to_arrow()` returns",
    ("narwhals", "LazyFrame"): "what its `collect()` returns",
    ("polars", "LazyFrame"): "what its `collect()` returns",
    ("pyspark", "DataFrame"): "the name of the table, and the session as `connection`",
    ("pandas", "Series"): "what its `to_frame()` returns",
    ("polars", "Series"): "what its `to_frame()` returns",
    ("pyarrow", "RecordBatchReader"): "what its `read_all()` returns",
    ("kanon_sql", "Release"): "what its `to_df()` returns, or the file or table that it is in",
    ("builtins", "list"): "`pandas.DataFrame(…)` of it",
    ("builtins", "dict"): "`pandas.DataFrame(…)` of it",
}


def _register(connection: duckdb.DuckDBPyConnection, name: str, data: Any) -> None:
    try:
        connection.register(name, data)
    except duckdb.Error:
        if isinstance(data, duckdb.DuckDBPyRelation):  # of another connection
            connection.register(name, data.to_arrow_table())
        elif hasattr(data, "iloc"):
            connection.register(name, data.copy())
        else:
            raise


def _is_stream(data: Any) -> bool:
    """Whether an object is nothing but a stream of Arrow's, of which pyarrow can tell more."""
    told = any(hasattr(data, name) for name in ("schema", "columns", "column_names"))
    return hasattr(data, "__arrow_c_stream__") and not told and find_spec("pyarrow") is not None


def _can_be_read_once(data: Any) -> bool:
    """Whether a stream is gone when it was read, or is none of rows."""
    try:
        _stream(data), _stream(data)
    except Exception:  # of whatever library it is
        return True
    return False


def _stream(data: Any) -> Any:
    import pyarrow

    return pyarrow.RecordBatchReader.from_stream(data)
