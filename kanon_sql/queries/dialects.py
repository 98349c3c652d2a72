"""Dialects that statements are printed in: the dialects of our engines, and others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError

from kanon_sql.errors import SpecError
from kanon_sql.queries import tree as t
from kanon_sql.queries.dialect_types import type_in

NAME_CASES = ("exact", "upper", "lower")
_NEEDS_MAPPING = re.compile(r"[ ,;{}()\n\t=]")  # characters that Delta allows in names only with column mapping
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")

_EXECUTED = ("duckdb", "postgres")
PRINTED = ("snowflake", "bigquery", "databricks", "spark", "redshift", "trino", "athena", "clickhouse")
_NO_BOOLEANS = "a condition is not a value there"
_REFUSED = {
    "tsql": f"its texts are equal whatever their trailing blanks and, mostly, their case, and {_NO_BOOLEANS}",
    "fabric": f"its texts are equal whatever their trailing blanks, and {_NO_BOOLEANS}",
    "mysql": "its texts are equal whatever their case, so that one class would show what tells its rows apart",
    "oracle": f"the empty text is NULL there, and {_NO_BOOLEANS}",
    "teradata": f"its texts are equal whatever their case, and {_NO_BOOLEANS}",
    "sqlite": "it has no LPAD, and its columns hold values of any type",
}
DIALECTS = (*_EXECUTED, *PRINTED)


def check_dialect(dialect: str) -> None:
    """SpecError for a dialect that a release cannot be printed in.

    >>> check_dialect("tsql")
    Traceback (most recent call last):
    kanon_sql.errors.SpecError: a release cannot be printed for tsql: its texts are equal whatever their trailing \
blanks and, mostly, their case, and a condition is not a value there; choose one of duckdb, postgres, snowflake, \
bigquery, databricks, spark, redshift, trino, athena, clickhouse
    """
    if dialect not in DIALECTS:
        why = f"unknown dialect {dialect!r}"
        if dialect in _REFUSED:
            why = f"a release cannot be printed for {dialect}: {_REFUSED[dialect]}"
        raise SpecError(f"{why}; choose one of {', '.join(DIALECTS)}")


def check_names(names: str, dialect: str) -> None:
    """SpecError for a case of names that cannot be printed: in the dialects of our engines, some have no quotes."""
    if names not in NAME_CASES:
        raise SpecError(f"unknown names {names!r}; choose one of {', '.join(NAME_CASES)}")
    if names != "exact" and is_executed(dialect):
        raise SpecError(
            f"names are not changed for {dialect}; leave out `names`, and write them in the spec as they are"
        )


def is_executed(dialect: str) -> bool:
    """Whether one of our engines uses a dialect."""
    return dialect in _EXECUTED


def how_tested(dialect: str) -> str:
    """How tests execute printed statements in a dialect, if not on the system itself; see tests/test_grammars.py."""
    match dialect:
        case "duckdb" | "postgres" | "clickhouse":
            return ""
        case "spark":
            return "tested on Sail"
        case "bigquery":
            return "tested on ZetaSQL, the reference implementation of its SQL"
        case _:
            return "not executed by kanon"


def has_values(dialect: str) -> bool:
    """Whether FROM can read VALUES; otherwise a table within a query takes several lines per row."""
    return dialect not in ("redshift", "clickhouse")


def has_iso_weeks(dialect: str) -> bool:
    """Whether EXTRACT supports ISOYEAR, and its WEEK is that of ISO 8601; other systems have other words for these."""
    return dialect in _EXECUTED


def converts_time_zones(dialect: str) -> bool:
    """Whether AT TIME ZONE shows a timestamp with time zone in a zone, whatever the session's zone is."""
    return dialect not in ("spark", "databricks")


def temporary(name: str, dialect: str) -> tuple[str, ...] | None:
    """Statements before the creation of a temporary table that replaces an earlier one, and the words of the creation.

    None where a system has no temporary tables. No lasting table of the same name is dropped.
    """
    match dialect:
        case "duckdb" | "snowflake" | "bigquery":
            return ("CREATE OR REPLACE TEMPORARY TABLE",)
        case "postgres":
            return f"DROP TABLE IF EXISTS pg_temp.{t.identifier(name, dialect)}", "CREATE TEMPORARY TABLE"
        case "clickhouse":
            return f"DROP TEMPORARY TABLE IF EXISTS {t.identifier(name, dialect)}", "CREATE TEMPORARY TABLE"
        case "redshift":
            return f"DROP TABLE IF EXISTS {temporary_name(name, dialect)}", "CREATE TABLE"
        case _:
            return None


def creates_tables(dialect: str) -> bool:
    """Whether a script can create an empty lasting table; Athena would need a place in S3 for it."""
    return dialect != "athena"


def temporary_name(name: str, dialect: str) -> str:
    """The name of a temporary table in a statement; on Redshift a # before it makes a table temporary."""
    return f"#{name}" if dialect == "redshift" else printed(exp.to_table(name), dialect)


def replacing(form: str, dialect: str) -> str | None:
    """How a system replaces a table or view: by OR REPLACE, in a transaction, or by a new one that is then renamed.

    None if it cannot.
    """
    match dialect:
        case "postgres" | "redshift":
            return "transaction"
        case "spark" | "trino":
            return "or replace" if form == "view" else "rename"
        case "athena":
            return "or replace" if form == "view" else None
        case _:
            return "or replace"


def replaced_table(name: str, dialect: str) -> tuple[str, ...]:
    """Statements before the creation of a lasting table that replaces an earlier one, and the words of the creation."""
    if replacing("table", dialect) == "or replace":
        return ("CREATE OR REPLACE TABLE",)
    return f"DROP TABLE IF EXISTS {name}", "CREATE TABLE"


def table_options(columns: Collection[str], dialect: str) -> str:
    """What a system needs in the definition of a new table with these columns."""
    if dialect == "clickhouse":
        return "ENGINE = MergeTree ORDER BY tuple()"
    if dialect == "databricks" and any(_NEEDS_MAPPING.search(name) for name in columns):
        return "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    return ""


def with_relations(sql: str, dialect: str, names: Mapping[str, str], around: Callable[[str], str] = str) -> str:
    """Replace the relations of these names, in the FROM and JOIN of a statement, by other texts.

    `around`: applied to the text between them.
    """
    parts, end = [], 0
    for before, token in pairwise(sqlglot.tokenize(sql, dialect)):
        is_name = token.token_type in (sqlglot.TokenType.VAR, sqlglot.TokenType.IDENTIFIER) and token.text in names
        if is_name and before.token_type in (sqlglot.TokenType.FROM, sqlglot.TokenType.JOIN):
            parts += [around(sql[end : token.start]), names[token.text]]
            end = token.end + 1
    return "".join([*parts, around(sql[end:])])


def with_names(sql: str, dialect: str, names: str) -> str:
    """A statement with its names in upper or lower case, as a system stores names that are written without quotes.

    Other names than those are in quotes everywhere, and so unchanged.

    >>> with_names('SELECT "age", "my age" FROM "t"', "snowflake", "upper")
    'SELECT "AGE", "my age" FROM "T"'
    """
    if names == "exact":
        return sql
    parts, end = [], 0
    for token in sqlglot.tokenize(sql, dialect):
        if token.token_type == sqlglot.TokenType.IDENTIFIER:
            quoted = sql[token.start : token.end + 1]
            parts += [sql[end : token.start], quoted[0], in_case(quoted[1:-1], names), quoted[-1]]
            end = token.end + 1
    return "".join([*parts, sql[end:]])


def in_case(name: str, names: str) -> str:
    """A name in upper or lower case, if a system accepts it without quotes."""
    return getattr(name, names)() if names != "exact" and _PLAIN_NAME.fullmatch(name) else name


def trimmed(text: exp.Expr, dialect: str) -> exp.Expr:
    """A text without trailing blanks, where a system ignores these in comparisons but outputs them."""
    return exp.Trim(this=text, position="TRAILING") if dialect == "redshift" else text


def constant(text: exp.Expr, dialect: str) -> exp.Expr:
    """A text, or NULL, as a whole column: Redshift cannot sort a literal, whose type is unknown, without a cast."""
    return exp.cast(text, "TEXT") if dialect == "redshift" else text


def fails_unless_zero(text: exp.Expr, dialect: str) -> exp.Expr:
    """A condition that is false if a text is 0; if the text is words, the statement fails with them as its error.

    To the planner it is a number, so that a system can evaluate it early without failing.
    """
    match dialect:
        case "spark" | "databricks":  # where a cast returns NULL unless `spark.sql.ansi.enabled` is set
            is_zero = exp.EQ(this=text.copy(), expression=exp.Literal.string("0"))
            null = exp.Anonymous(this="ASSERT_TRUE", expressions=[is_zero, text])
            number: exp.Expr = exp.func("COALESCE", null, exp.Literal.number(0))
        case "clickhouse":  # where a cast to a type with NULL returns NULL, and so does toInt32 of such a text
            number = exp.Anonymous(
                this="toInt32", expressions=[exp.Anonymous(this="assumeNotNull", expressions=[text])]
            )
        case _:
            number = exp.cast(text, "INTEGER")
    return exp.EQ(this=number, expression=exp.Literal.number(1))


def printed(tree: exp.Expr, dialect: str, pretty: bool = False) -> str:
    """A tree as text in a dialect; SpecError, naming the dialect, for anything that it cannot express.

    Names are quoted in other dialects than those of our engines, since such a system might treat age as AGE.
    """
    options = {"pretty": pretty, "max_text_width": 100, "identify": not is_executed(dialect)}
    tree = tree.transform(type_in, dialect)
    for rewrite in _WORDS.get(dialect, ()):
        tree = _rewritten(tree, rewrite)
    try:
        return t.printed(tree, dialect, unsupported_level=ErrorLevel.RAISE, **options)
    except UnsupportedError as error:
        raise SpecError(f"{dialect} cannot express this release: {error}; release it from another system") from None


def _rewritten(tree: exp.Expr, rewrite: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """A tree with every part rewritten, inner parts first: `transform` would not look into what it replaced."""
    for node in reversed(list(tree.walk())):
        new = rewrite(node)
        if new is not node and node is not tree:
            node.replace(new)
        elif new is not node:
            tree = new
    return tree


def _with_bytes(node: exp.Expr) -> exp.Expr:
    """Take digests of bytes, because the system has none of texts."""
    if isinstance(node, exp.MD5) and not isinstance(node.this, exp.Encode):
        return exp.MD5(this=exp.Encode(this=node.this, charset=exp.Literal.string("utf-8")))
    return node


def _in_characters(node: exp.Expr) -> exp.Expr:
    """Count characters, not bytes."""
    if isinstance(node, exp.Substring):
        parts = (node.this, node.args["start"], node.args.get("length"))
        return exp.Anonymous(this="substringUTF8", expressions=[part for part in parts if part is not None])
    if isinstance(node, exp.Pad):
        words = "leftPadUTF8" if node.args["is_left"] else "rightPadUTF8"
        return exp.Anonymous(this=words, expressions=[node.this, node.expression, node.args["fill_pattern"]])
    return node


def _with_standard_names(node: exp.Expr) -> exp.Expr:
    """Take names and unmatched rows of a LEFT JOIN as in standard SQL.

    ClickHouse names a column of several tables k.class instead of class, takes n in SUM(n) for an alias of the same
    SELECT, and fills unmatched rows with default values instead of NULL.
    """
    if isinstance(node, exp.Select):
        for column in node.expressions:
            if isinstance(column, exp.Column) and column.table and not column.is_star:
                column.replace(exp.alias_(column.copy(), column.name, quoted=True))
        if node.parent is None:
            settings = ("join_use_nulls", "prefer_column_name_to_alias")
            node.set("settings", [exp.EQ(this=exp.Var(this=name), expression=t.literal(1)) for name in settings])
    return node


def _signed(node: exp.Expr) -> exp.Expr:
    """Count in signed numbers: ClickHouse has no common type of its unsigned counts and signed NULL."""
    counts = (exp.Count, exp.RowNumber, exp.DenseRank)
    of_window = isinstance(node, exp.Window) and isinstance(node.this, counts)
    if of_window or (isinstance(node, counts) and not isinstance(node.parent, exp.Window)):
        return exp.cast(node, "BIGINT")
    return node


def _nulls_last(node: exp.Expr) -> exp.Expr:
    """Sort NULL last without NULLS LAST, which BigQuery refuses in a frame."""
    if isinstance(node, exp.Window) and node.args.get("spec") and node.args.get("order"):
        of = [ordered.this for ordered in node.args["order"].expressions]
        keys = [key for expression in of for key in (t.is_null(expression), expression.copy())]
        node.set("order", exp.Order(expressions=[exp.Ordered(this=key, nulls_first=True) for key in keys]))
    return node


def _typed_rows(node: exp.Expr) -> exp.Expr:
    """Type columns of texts in a table within a query, by a cast in the first row."""
    if isinstance(node, exp.Values):
        rows = [row.expressions for row in node.expressions]
        for column in zip(*rows, strict=True):
            if all(isinstance(cell, exp.Null) or (isinstance(cell, exp.Literal) and cell.is_string) for cell in column):
                column[0].replace(constant(column[0].copy(), "redshift"))
    return node


def _doubled_quotes(node: exp.Expr) -> exp.Expr:
    r"""Write a quote within a text as two, as Redshift's manual does, and not as \'."""
    if isinstance(node, exp.Literal) and node.is_string and "'" in node.this:
        text = node.this.replace("\\", "\\\\").replace("'", "''")
        return exp.Var(this=f"'{text}'")
    return node


_WORDS: dict[str, tuple[Callable[[exp.Expr], exp.Expr], ...]] = {
    "trino": (_with_bytes,),
    "athena": (_with_bytes,),
    "bigquery": (_nulls_last,),
    "redshift": (_typed_rows, _doubled_quotes),
    "clickhouse": (_in_characters, _with_standard_names, _signed),
}
