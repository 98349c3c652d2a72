"""Statements around a complete query: create, insert, drop, copy.

They are one line of text each: names come from `tree.named` and `tree.identifier`, values from `tree.quoted`, and types
and options are the engine's own words, which a syntax tree would only repeat.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import sqlglot
from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation


def create_as(
    relation: Relation,
    query: str,
    dialect: str,
    form: str = "table",
    temporary: bool = False,
    replace: bool = False,
    options: str = "",
) -> str:
    """The statement that creates a table or view from a complete query; `replace`: if it exists (not PostgreSQL).

    `options`: of the table, in the dialect's own words.
    """
    kind = f"{'OR REPLACE ' if replace else ''}{'TEMPORARY ' if temporary else ''}{_kind(form)}"
    option, fence = _VIEW_FENCES.get(dialect, ("", "")) if form == "view" else ("", "")
    if form == "view" and t.parts(relation, dialect) == ("temp", relation.name):
        relation = Relation("temp", "main", relation.name)  # DuckDB 1 looks for a schema of the name temp
    words = f" {options}" if options else ""
    return f"CREATE {kind} {t.named(relation, dialect)}{option}{words} AS {query}{fence}"


def create_commented(relation: Relation, query: str, dialect: str, comment: str) -> str:
    """The statement that creates a view of a complete query, with a comment (Spark)."""
    return f"CREATE VIEW {t.named(relation, dialect)} COMMENT {t.quoted(comment, dialect)} AS {query}"


def create_empty(relation: Relation, types: Mapping[str, str], dialect: str, comment: str) -> str:
    """The statement that creates an empty permanent table with a comment (Spark)."""
    return f"CREATE TABLE {_defined(relation, types, dialect)} COMMENT {t.quoted(comment, dialect)}"


def insert(relation: Relation, query: str, dialect: str) -> str:
    """The statement that adds the rows of a complete query to a table."""
    return f"INSERT INTO {t.named(relation, dialect)} {query}"


def delete_all(relation: Relation, dialect: str) -> str:
    """The statement that deletes all rows of a table."""
    return f"DELETE FROM {t.named(relation, dialect)}"


def add_and_delete_a_row(relation: Relation, dialect: str) -> tuple[str, str]:
    """The two statements that add a row of NULL to an empty table, and delete it again."""
    name = t.named(relation, dialect)
    return f"INSERT INTO {name} DEFAULT VALUES", f"DELETE FROM {name}"


def delete_others(
    relation: Relation, equal: Mapping[str, str], kept: Mapping[str, Collection[str]], dialect: str
) -> str:
    """The statement that deletes the rows with the values `equal` from a table, except rows with the values `kept`."""
    of = [f"{t.identifier(name, dialect)} = {t.quoted(value, dialect)}" for name, value in equal.items()]
    others = []
    for name, values in kept.items():
        if values:
            listed = ", ".join(t.quoted(value, dialect) for value in values)
            others.append(f"NOT {t.identifier(name, dialect)} IN ({listed})")
    return f"DELETE FROM {t.named(relation, dialect)} WHERE {' AND '.join([*of, *others])}"


def rename(relation: Relation, name: str, dialect: str, form: str = "table") -> str:
    """The statement that renames a table or view; the new name must be free."""
    return f"ALTER {_kind(form)} {t.named(relation, dialect)} RENAME TO {t.identifier(name, dialect)}"


def declare_key(relation: Relation, column: str, dialect: str) -> str:
    """The statement that forbids duplicate values in a column of a table."""
    # PostgreSQL's B-trees cannot index long texts.
    kind = "EXCLUDE USING hash ({} WITH =)" if dialect == "postgres" else "PRIMARY KEY ({})"
    key = kind.format(t.identifier(column, dialect))
    return f"ALTER TABLE {t.named(relation, dialect)} ADD {key}"


def drop(relation: Relation, dialect: str, form: str = "table") -> str:
    """The statement that drops a table or view if it exists."""
    return f"DROP {_kind(form)} IF EXISTS {t.named(relation, dialect)}"


def comment(relation: Relation, text: str, dialect: str, form: str = "table") -> str:
    """The statement that sets the comment of a table or view."""
    return f"COMMENT ON {_kind(form)} {t.named(relation, dialect)} IS {t.quoted(text, dialect)}"


def comment_column(relation: Relation, column: str, text: str, dialect: str) -> str:
    """The statement that sets the comment of a column."""
    of = f"{t.named(relation, dialect)}.{t.identifier(column, dialect)}"
    return f"COMMENT ON COLUMN {of} IS {t.quoted(text, dialect)}"


def grant(
    relation: Relation, privilege: str, grantee: str | None, dialect: str, column: str | None, may_grant: bool
) -> str:
    """The statement that grants a role (None: PUBLIC) a privilege on a table or view, or on a column of it."""
    right = f"{privilege} ({t.identifier(column, dialect)})" if column else privilege
    given = f"GRANT {right} ON TABLE {t.named(relation, dialect)} TO {_role(grantee, dialect)}"
    return f"{given} WITH GRANT OPTION" if may_grant else given


def revoke(relation: Relation, grantee: str | None, dialect: str) -> str:
    """The statement that revokes all privileges on a table or view from a role (None: PUBLIC)."""
    return f"REVOKE ALL ON TABLE {t.named(relation, dialect)} FROM {_role(grantee, dialect)}"


def set_owner(relation: Relation, owner: str, dialect: str, form: str = "table") -> str:
    """The statement that changes the owner of a table or view."""
    return f"ALTER {_kind(form)} {t.named(relation, dialect)} OWNER TO {t.identifier(owner, dialect)}"


def refresh(relation: Relation, dialect: str) -> str:
    """The statement that refreshes a materialized view."""
    return f"REFRESH MATERIALIZED VIEW {t.named(relation, dialect)}"


def attach(path: str, name: str, dialect: str, read_only: bool = True) -> str:
    """The statement that attaches a database file under a name (DuckDB)."""
    option = " (READ_ONLY)" if read_only else ""
    return f"ATTACH {t.quoted(path, dialect)} AS {t.identifier(name, dialect)}{option}"


def use(name: str, dialect: str) -> str:
    """The statement that switches to an attached database (DuckDB)."""
    return f"USE {t.identifier(name, dialect)}"


def _role(name: str | None, dialect: str) -> str:
    return "PUBLIC" if name is None else t.identifier(name, dialect)


def _kind(form: str) -> str:
    """The SQL words for a form."""
    return "MATERIALIZED VIEW" if form == "materialized" else form.upper()


def create_table(relation: Relation, types: Mapping[str, str], dialect: str, replace: bool = False) -> str:
    """The statement that creates an empty temporary table; types are in the engine's own words.

    `replace`: if it exists (DuckDB).
    """
    return f"CREATE {'OR REPLACE ' if replace else ''}TEMPORARY TABLE {_defined(relation, types, dialect)}"


def _defined(relation: Relation, types: Mapping[str, str], dialect: str) -> str:
    """A table's name and its columns with their types."""
    columns = (f"{t.identifier(name, dialect)} {words}" for name, words in types.items())
    return f"{t.named(relation, dialect)} ({', '.join(columns)})"


def select_all(relation: Relation, dialect: str) -> str:
    """The query of all rows of a relation."""
    return f"SELECT * FROM {t.named(relation, dialect)}"


def no_rows(types: Mapping[str, str], dialect: str, source: Relation | None = None) -> str:
    """The query of a table without rows, with columns of these types; a column without a type has the source's.

    >>> no_rows({"age": "INTEGER"}, "duckdb")
    'SELECT CAST(NULL AS INTEGER) AS "age" LIMIT 0'
    >>> no_rows({"age": "TEXT", "days": ""}, "duckdb", Relation("stays"))
    'SELECT CAST(NULL AS TEXT) AS "age", s."days" FROM "stays" AS s LIMIT 0'
    """
    columns = []
    for name, kind in types.items():
        quoted = t.identifier(name, dialect)
        columns.append(f"CAST(NULL AS {kind}) AS {quoted}" if kind else f"s.{quoted}")
    reading = f" FROM {t.named(source, dialect)} AS s" if source and not all(types.values()) else ""
    return f"SELECT {', '.join(columns)}{reading} LIMIT 0"


def with_texts(query: str, columns: Sequence[str], dialect: str) -> str:
    """The query of the rows of another query with some columns cast to text (DuckDB)."""
    texts = (f"CAST({name} AS TEXT) AS {name}" for name in (t.identifier(column, dialect) for column in columns))
    return f"SELECT * REPLACE ({', '.join(texts)}) FROM ({query}) AS q"


def insert_lists(relation: Relation, types: Mapping[str, str], dialect: str) -> str:
    """The statement that fills a table from one list parameter per column (DuckDB)."""
    values = ", ".join(f"CAST(UNNEST(?) AS {type_name})" for type_name in types.values())
    return f"INSERT INTO {t.named(relation, dialect)} SELECT {values}"


def no_values(source: Relation, column: str, type_name: str, types: Mapping[str, str], dialect: str) -> str:
    """A query without rows: `value` in the type and collation of a column, and more columns (name: type)."""
    # A cast to its own type keeps a column's collation, and sets the type of an untyped column of NULL.
    columns = [f"CAST({t.identifier(column, dialect)} AS {type_name}) AS {t.identifier('value', dialect)}"]
    for name, kind in types.items():
        words = _WORDS.get(dialect, {}).get(kind, kind)
        columns.append(f"CAST(NULL AS {words}) AS {t.identifier(name, dialect)}")
    return f"SELECT {', '.join(columns)} FROM {t.named(source, dialect)} WHERE FALSE"


def insert_castable(
    values: Relation,
    written: Relation,
    type_name: str,
    columns: Sequence[str],
    dialect: str,
    rows: tuple[int, int] | None = None,
) -> str:
    """The statement that copies the written texts that are valid for a type to the table `values` (PostgreSQL).

    `columns`: those of both tables, after `value`. `rows`: for a server that cannot test whether a text is valid, the
    first row and the one after the last to try; the statement fails if one of them is not.
    """
    valid = valid_texts(written, type_name, columns, dialect, rows)
    names = ", ".join(t.identifier(name, dialect) for name in columns)
    return f"INSERT INTO {t.named(values, dialect)} (value, {names}) {valid}"


def valid_texts(
    written: Relation, type_name: str, columns: Sequence[str], dialect: str, rows: tuple[int, int] | None = None
) -> str:
    """The query of the written texts that are valid for a type, as `value`, and more columns; see `insert_castable`."""
    # A cast would cut a text that is too long; an assignment refuses it.
    value = "text" if type_name.startswith("character") else f"CAST(text AS {type_name})"
    is_valid = f"pg_input_is_valid(text, {t.quoted(type_name, dialect)})"
    where = f"row >= {rows[0]} AND row < {rows[1]}" if rows else f"text IS NULL OR {is_valid}"
    names = ", ".join(t.identifier(name, dialect) for name in columns)
    return f"SELECT {value}, {names} FROM {t.named(written, dialect)} WHERE {where}"


def fingerprint(relation: Relation, columns: Sequence[str], texts: Sequence[str], dialect: str) -> str:
    """The query of a relation's number of rows and the sum of their hashes (Spark).

    `texts`: columns to hash as texts, because their type cannot be hashed.
    """
    names = [t.identifier(name, dialect) for name in (*columns, *texts)]
    every = [*names[: len(columns)], *(f"CAST({name} AS STRING)" for name in names[len(columns) :])]
    # XXHASH64 skips NULL: without `filled`, a value that moves to the next column would not change the hash.
    filled = [f"{name} IS NULL" for name in names]
    hashed = f"CAST(XXHASH64({', '.join([*every, *filled])}) AS DECIMAL(38, 0))"
    return f"SELECT COUNT(*), SUM({hashed}) FROM {t.named(relation, dialect)}"


def castable(written: Relation, type_name: str, columns: Sequence[str], dialect: str) -> str:
    """The query of the written texts that are valid for a type, as `value`, and more columns (DuckDB, Spark)."""
    value = f"TRY_CAST(text AS {type_name})"
    names = ", ".join(t.identifier(name, dialect) for name in columns)
    source = t.named(written, dialect)
    return f"SELECT {value} AS value, {names} FROM {source} WHERE text IS NULL OR {value} IS NOT NULL"


def without_formulas(query: str, columns: Sequence[str], texts: Sequence[str], dialect: str) -> str:
    """A query whose texts spreadsheets do not take for formulas: a ' is put before those that would be (DuckDB).

    Numbers are unchanged, also as texts: -, -5.3, +41 44 555 12 34. Different texts stay different.
    """
    if not texts:
        return query
    shown = []
    for name in columns:
        column = t.identifier(name, dialect)
        if name in texts:
            text = f"CAST({column} AS VARCHAR)"
            starts = f"REGEXP_MATCHES({text}, {t.quoted(_FORMULA, dialect)})"
            number = f"REGEXP_MATCHES({text}, {t.quoted(_SIGNED_NUMBER, dialect)})"
            column = f"CASE WHEN {starts} AND NOT {number} THEN '''' || {text} ELSE {text} END AS {column}"
        shown.append(column)
    return f"SELECT {', '.join(shown)} FROM ({query}) AS released"


_FORMULA = r"^'*[=@+\-\t\r\n\x{FF1D}\x{FF20}\x{FF0B}\x{FF0D}]"  # the last four are the first, in full width
_SIGNED_NUMBER = r"^[+-]([0-9.,]*([eE][+-]?[0-9]+)?|[0-9 .,()/:%\x{2212}\x{2013}-]*)$"
SEPARATORS = {"csv": ",", "tsv": "\t"}  # in the text files that we write


def copy_to(query: str, path: str, file_format: str, dialect: str, in_place: bool = False) -> str:
    """The statement that writes a query's rows to a file (DuckDB); `in_place`: overwriting an existing file."""
    options = "FORMAT parquet, COMPRESSION zstd"
    if file_format in SEPARATORS:
        options = f"FORMAT csv, HEADER, DELIM {t.quoted(SEPARATORS[file_format], dialect)}"
    options += ", USE_TMP_FILE FALSE" if in_place else ""
    return f"COPY ({query}) TO {t.quoted(path, dialect)} ({options})"


def load_files(relation: Relation, types: Mapping[str, str], paths: Sequence[str], dialect: str) -> list[str]:
    """The statements that load files into a new table: for DuckDB, or for psql, which reads CSV.

    `types`: of the files' columns in order, by name, in the engine's own words.
    """
    create = f"CREATE TABLE {_defined(relation, types, dialect)}"
    copy, options = (r"\copy", " CSV HEADER") if dialect == "postgres" else ("COPY", "")
    into = f"{copy} {t.named(relation, dialect)} FROM"
    return [create, *(f"{into} {t.quoted(path, dialect)}{options}" for path in paths)]


# Without the first PostgreSQL may run a reader's function on rows of classes that are left out afterwards. Without the
# second it evaluates a reader's leakproof conditions on such rows, and EXPLAIN ANALYZE counts the matches.
_VIEW_FENCES = {"postgres": (" WITH (security_barrier = true)", " OFFSET 0")}
_WORDS = {"spark": {"VARCHAR": "STRING"}}  # the dialect's own type names


def tables_read(statement: str, dialect: str) -> set[str]:
    """The names of the tables and views that a view's definition reads, quoted.

    >>> sorted(tables_read('CREATE VIEW v AS WITH q AS (SELECT * FROM s."B a") SELECT * FROM q, r', "duckdb"))
    ['"r"', '"s"."B a"']
    """
    tree = sqlglot.parse_one(statement, dialect=dialect)
    query = tree.expression if isinstance(tree, exp.Create) else tree
    named = {cte.alias for cte in query.find_all(exp.CTE)}
    tables = [table for table in query.find_all(exp.Table) if table.db or table.name not in named]
    return {".".join(t.identifier(part.name, dialect) for part in table.parts) for table in tables if table.name}


def create_schema(name: str, dialect: str) -> str:
    """The statement that creates a schema, unless it exists."""
    return f"CREATE SCHEMA IF NOT EXISTS {t.identifier(name, dialect)}"
