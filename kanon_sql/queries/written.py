"""Tables written out in a statement, and the statement with those that are too long for it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from kanon_sql.queries import dialects
from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation

MOST_ROWS = 200  # of a table within a query; a longer one has statements of its own
_MOST_LINES = 20  # where every row takes lines
_IN_ONE_INSERT = 1_000
_WIDTH = 110


@dataclass(frozen=True)
class WrittenTable:
    """A table whose rows are written out: its name, its columns with their types, and its rows."""

    name: str
    columns: tuple[str, ...]
    types: tuple[exp.DataType, ...]
    rows: tuple[tuple[object, ...], ...]

    def is_long(self, dialect: str, lasting: bool = False) -> bool:
        """Whether it is too long for a query, and can be created before it: for the session, or `lasting`."""
        most = MOST_ROWS if dialects.has_values(dialect) else _MOST_LINES
        return len(self.rows) > most and (lasting or dialects.temporary(self.name, dialect) is not None)

    def query(self) -> exp.Select:
        """The table as a query of its rows."""
        columns = [exp.column(exp.to_identifier(name, quoted=True)) for name in self.columns]
        return exp.select(*columns).from_(exp.values([*self.rows], alias="v", columns=list(self.columns)))

    def statements(self, dialect: str, place: Relation | None = None) -> Iterator[str]:
        """The statements that make the table and fill it: a lasting one in a place, else one of the session alone."""
        kinds = zip(self.columns, self.types, strict=True)
        defined = [exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=kind.copy()) for name, kind in kinds]
        name = t.table(place) if place else exp.to_table(self.name)
        *before, create = dialects.temporary(self.name, dialect) or () if place is None else ("CREATE TABLE",)
        yield from before
        yield f"{create} {dialects.printed(exp.Schema(this=name.copy(), expressions=defined), dialect)}"
        into = dialects.printed(name, dialect)
        for start in range(0, len(self.rows), _IN_ONE_INSERT):
            rows = _lines(_printed_rows(self.rows[start : start + _IN_ONE_INSERT], dialect), "  ")
            yield f"INSERT INTO {into} VALUES\n{rows}"


def written_table(
    name: str, columns: Sequence[str], types: Sequence[str], rows: Iterable[tuple[object, ...]], dialect: str
) -> WrittenTable:
    """A table to write out, its types by the words of a dialect."""
    kinds = tuple(exp.DataType.build(kind, dialect=dialect, udt=True) for kind in types)
    return WrittenTable(name, tuple(columns), kinds, tuple(rows))


@dataclass(frozen=True)
class Statement:
    """A query, and the tables that it reads besides its source: they are to be created before it runs.

    `has_values`: whether it, or one of these tables, lists values of the data.
    """

    query: str
    tables: tuple[WrittenTable, ...]
    dialect: str
    has_values: bool = False
    places: Mapping[str, Relation] = field(default_factory=dict)

    def lasting(self, places: Mapping[str, Relation]) -> Statement:
        """The same with its tables in places of their own, since a view is to read them; by their names."""
        named = {name: dialects.printed(t.table(place), self.dialect) for name, place in places.items()}
        return replace(self, query=dialects.with_relations(self.query, self.dialect, named), places=places)

    def script(self, query: str | None = None) -> str:
        """All statements, the query itself or one around it at the end, with semicolons between them."""
        before = [
            statement
            for table in self.tables
            for statement in table.statements(self.dialect, self.places.get(table.name))
        ]
        return ";\n\n".join([*before, query or self.query])


def laid_out(tree: exp.Expr, dialect: str) -> str:
    """A statement over several lines, the rows of a table in it several to a line."""
    if not dialects.has_values(dialect) or dialect == "bigquery":  # which writes an array of them
        return dialects.printed(tree, dialect, pretty=True)
    rows = []
    for values in tree.find_all(exp.Values):
        rows.append([dialects.printed(row, dialect) for row in values.expressions])
        values.set("expressions", [exp.Tuple(expressions=[exp.Literal.string(f"kanon_rows_{len(rows) - 1}_here")])])
    text = dialects.printed(tree, dialect, pretty=True)
    return re.sub(_MARKED, lambda found: _lines(rows[int(found[2])], found[1]), text)


_MARKED = re.compile(r"^( *)\('kanon_rows_(\d+)_here'\)", re.MULTILINE)


def _printed_rows(rows: Sequence[Sequence[object]], dialect: str) -> list[str]:
    return [dialects.printed(exp.Tuple(expressions=[exp.convert(value) for value in row]), dialect) for row in rows]


def _lines(rows: Sequence[str], indent: str) -> str:
    """Rows separated by commas, so many on a line as there is room for."""
    lines = [""]
    for row in rows:
        if lines[-1] and len(indent) + len(lines[-1]) + len(row) > _WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{row},"
    return textwrap.indent("\n".join(lines), indent, lambda _: True).rstrip(",")
