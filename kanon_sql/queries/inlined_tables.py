"""Tables written out in a statement, and statements for tables that are too long for that."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from kanon_sql.queries import dialects
from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation

MOST_ROWS = 200  # of a table within a query; longer ones are created by separate statements
_MOST_LINES = 20  # in dialects that need several lines per row
_IN_ONE_INSERT = 1_000
_WIDTH = 110


@dataclass(frozen=True)
class WrittenTable:
    """A table whose rows are written out: its name, its columns with their types, and its rows."""

    name: str
    columns: tuple[str, ...]
    types: tuple[exp.DataType, ...]
    rows: tuple[tuple[object, ...], ...]

    def is_long(self, dialect: str, lasting: bool = False, most: float | None = None) -> bool:
        """Whether it is too long for a query, and can be created before it: temporary or, if `lasting`, permanent.

        `most`: the number of rows that a query may list, by default as many as people read.
        """
        if most is None:
            most = MOST_ROWS if dialects.has_values(dialect) else _MOST_LINES
        return len(self.rows) > most and (lasting or dialects.temporary(self.name, dialect) is not None)

    def query(self) -> exp.Select:
        """The table as a query of its rows."""
        columns = [exp.column(exp.to_identifier(name, quoted=True)) for name in self.columns]
        return exp.select(*columns).from_(exp.values([*self.rows], alias="v", columns=list(self.columns)))

    def statements(self, dialect: str, place: Relation | None = None, replace: bool = False) -> Iterator[str]:
        """The statements that create and fill the table: permanent if `place` is given, otherwise temporary.

        `replace`: an earlier permanent one; a temporary one is always replaced.
        """
        kinds = zip(self.columns, self.types, strict=True)
        defined = [exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=kind.copy()) for name, kind in kinds]
        columns = dialects.printed(exp.Schema(expressions=defined), dialect)
        if place is None:
            into = dialects.temporary_name(self.name, dialect)
            *before, create = dialects.temporary(self.name, dialect) or ()
            options = ""
        else:
            into = dialects.printed(t.table(place), dialect)
            *before, create = dialects.replaced_table(into, dialect) if replace else ("CREATE TABLE",)
            options = dialects.table_options(self.columns, dialect)
        yield from before
        yield " ".join(filter(None, (create, into, columns, options)))
        for start in range(0, len(self.rows), _IN_ONE_INSERT):
            some = self.rows[start : start + _IN_ONE_INSERT]
            tuples = [exp.Tuple(expressions=list(map(exp.convert, row))) for row in some]
            rows = _lines([dialects.printed(row, dialect) for row in tuples], "  ")
            yield f"INSERT INTO {into} VALUES\n{rows}"


def written_table(
    name: str, columns: Sequence[str], types: Sequence[str], rows: Iterable[tuple[object, ...]], dialect: str
) -> WrittenTable:
    """A table to write out, with types in the words of a dialect."""
    kinds = tuple(exp.DataType.build(kind, dialect=dialect, udt=True) for kind in types)
    return WrittenTable(name, tuple(columns), kinds, tuple(rows))


@dataclass(frozen=True)
class PrintedStatement:
    """A query, and the tables except its source that must be created before it runs.

    `has_values`: whether it, or one of these tables, lists values of the data. `listed`: the columns whose values are
    looked up in a mapping table, so that values that are added later have no label.
    """

    query: str
    tables: tuple[WrittenTable, ...]
    dialect: str
    has_values: bool = False
    listed: tuple[str, ...] = ()
    places: Mapping[str, Relation] = field(default_factory=dict)

    def lasting(self, places: Mapping[str, Relation]) -> PrintedStatement:
        """The statement with its tables created at these places, by their names, because a view will read them."""
        named = {name: dialects.printed(t.table(place), self.dialect) for name, place in places.items()}
        return replace(self, query=dialects.with_relations(self.query, self.dialect, named), places=places)

    def script(self, query: str | None = None, replace: bool = False) -> str:
        """All statements, separated by semicolons; the last one is the query or a given one around it.

        `replace`: earlier tables at the places of these.
        """
        before: list[str] = []
        for table in self.tables:
            before += table.statements(self.dialect, self.places.get(table.name), replace)
        last = query or self.query
        if self.dialect == "redshift":  # whose temporary tables have other names
            names = [table.name for table in self.tables if table.name not in self.places]
            temporary = {name: dialects.temporary_name(name, self.dialect) for name in names}
            last = dialects.with_relations(last, self.dialect, temporary)
        return ";\n\n".join([*before, last])


def laid_out(tree: exp.Expr, dialect: str) -> str:
    """A statement over several lines, with several rows of a written table per line."""
    if not dialects.has_values(dialect) or dialect == "bigquery":  # BigQuery writes an array of the rows
        return dialects.printed(tree, dialect, pretty=True)
    rows = []
    for values in tree.find_all(exp.Values):
        rows.append([dialects.printed(row, dialect) for row in values.expressions])
        values.set("expressions", [exp.Tuple(expressions=[exp.Literal.string(f"kanon_rows_{len(rows) - 1}_here")])])
    text = dialects.printed(tree, dialect, pretty=True)
    return re.sub(_MARKED, lambda found: _lines(rows[int(found[2])], found[1]), text)


_MARKED = re.compile(r"^( *)\('kanon_rows_(\d+)_here'\)", re.MULTILINE)


def _lines(rows: Sequence[str], indent: str) -> str:
    """Rows separated by commas, as many per line as fit."""
    lines = [""]
    for row in rows:
        if lines[-1] and len(indent) + len(lines[-1]) + len(row) > _WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{row},"
    return textwrap.indent("\n".join(lines), indent, lambda _: True).rstrip(",")
