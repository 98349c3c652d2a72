"""Copies and releases of several tables that refer to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.coding import Coded, join_mapping, mapped
from kanon_sql.queries.places import ReleasedPlaces
from kanon_sql.relation import Relation


@dataclass(frozen=True)
class KeyReference:
    """A column of a table that refers to the rows of a copy, by the copy's column of their key."""

    column: str
    copy: Relation
    key: str


def linked_copy(
    source: Relation,
    columns: Mapping[str, str],
    person: KeyReference | None,
    parent: KeyReference | None,
    dialect: str,
) -> str:
    """The query of a table's rows with their numbers, and those of the person and the row that they refer to.

    `columns`: the columns to copy, by their new names. Without references, every row is a person. In addition:
    row_id, unit_id, parent_id, `orphans` (how many of its references lead nowhere), and `contradicting` (1 if they lead
    to different people).

    >>> linked_copy(Relation("visits"), {"c0": "id"}, KeyReference("pat", Relation("p"), "c0"), None, "duckdb")[:65]
    'SELECT ROW_NUMBER() OVER () AS row_id, person.unit_id AS unit_id,'
    """
    number = exp.Window(this=exp.RowNumber())
    zero = exp.Literal.number(0)
    units = [exp.column("unit_id", alias) for alias, found in (("parent", parent), ("person", person)) if found]
    unit: exp.Expr = exp.func("COALESCE", *units) if len(units) > 1 else units[0] if units else number
    orphans: list[exp.Expr] = [
        _one_if(exp.and_(t.is_null(exp.column("row_id", alias)), ~t.is_null(t.column(found.column, "s"))))
        for alias, found in (("parent", parent), ("person", person))
        if found
    ]
    contradicting = _one_if(units[0].neq(units[1])) if len(units) > 1 else zero
    query = exp.select(
        exp.alias_(number, "row_id"),
        exp.alias_(unit.copy(), "unit_id"),
        exp.alias_(exp.column("row_id", "parent") if parent else exp.cast(exp.null(), "BIGINT"), "parent_id"),
        exp.alias_(sum(orphans[1:], orphans[0]) if orphans else zero, "orphans"),
        exp.alias_(contradicting, "contradicting"),
        *(exp.alias_(t.column(column, "s"), name, quoted=True) for name, column in columns.items()),
    ).from_(t.table(source, "s"))
    for alias, found in (("parent", parent), ("person", person)):
        if found:
            equal = t.column(found.key, alias).eq(t.column(found.column, "s"))
            query = query.join(t.table(found.copy, alias), on=equal, join_type="LEFT")
    return t.printed(query, dialect)


def _one_if(condition: exp.Expr) -> exp.Expr:
    return exp.Case().when(condition, exp.Literal.number(1)).else_(exp.Literal.number(0))


@dataclass(frozen=True)
class NewKey:
    """A released key column: the table of new keys, and the row of the copy whose key it is.

    `of`: row_id, parent_id or unit_id. `column`: of the copy; a key that was NULL stays NULL.
    """

    name: str
    keys: Relation
    of: str
    column: str


@dataclass(frozen=True)
class ReleasedColumn:
    """A released quasi-identifier on a level of its hierarchy: its name, its column in the copy, and its mapping."""

    name: str
    column: str
    coded: Coded
    level: int


@dataclass(frozen=True)
class ShiftedColumn:
    """A date column of a copy that is released with an offset, and whether it has no time of day."""

    column: str
    is_date: bool

    def shifted(self) -> exp.Expr:
        """The date plus the days of the person."""
        raw, days = t.column(self.column, "t"), exp.column("days", "offsets")
        if self.is_date:
            return raw + exp.cast(days, "INTEGER")
        return raw + days * exp.Interval(this=exp.Literal.string("1"), unit=exp.var("DAY"))


def linked_release(
    copy: Relation,
    left_out: Relation,
    keys: Sequence[NewKey],
    cells: Sequence[ReleasedColumn],
    kept: Mapping[str, str],
    shifted: Mapping[str, ShiftedColumn],
    offsets: Relation | None,
    secret: Relation,
    dialect: str,
) -> str:
    """The query of a released table: new keys, labels, and kept columns, by their names, in an order that is random.

    `left_out`: the rows of the copy that are not released. `kept`, `shifted`: the copy's columns by their released
    names. `offsets`: the days by which the dates of a person are shifted.
    `secret`: a table with the secret that determines the order.
    """
    outputs: list[exp.Expr] = []
    query = exp.select().from_(t.table(copy, "t"))
    for index, key in enumerate(keys):
        alias = f"k{index}"
        present = ~t.is_null(t.column(key.column, "t"))
        new_key = exp.Case().when(present, exp.column("key", alias))
        outputs.append(exp.alias_(new_key, key.name, quoted=True))
        same = exp.column("row_id", alias).eq(exp.column(key.of, "t"))
        query = query.join(t.table(key.keys, alias), on=same, join_type="LEFT")
    for index, cell in enumerate(cells):
        query, shown = _shown(query, cell, f"m{index}")
        outputs.append(exp.alias_(shown.copy(), cell.name, quoted=True))
    outputs += [exp.alias_(t.column(column, "t"), name, quoted=True) for name, column in kept.items()]
    outputs += [exp.alias_(found.shifted(), name, quoted=True) for name, found in shifted.items()]
    if offsets:
        same = exp.column("unit_id", "offsets").eq(exp.column("unit_id", "t"))
        query = query.join(t.table(offsets, "offsets"), on=same, join_type="LEFT")
    query = query.select(*outputs)
    query = query.join(
        t.table(left_out, "x"), on=exp.column("row_id", "x").eq(exp.column("row_id", "t")), join_type="LEFT"
    )
    query = query.join(t.table(secret, "hidden"), join_type="CROSS")
    secret_and_number = exp.DPipe(
        this=exp.column("secret", "hidden"), expression=exp.cast(exp.column("row_id", "t"), "VARCHAR")
    )
    drawn = exp.func("MD5", secret_and_number)
    query = query.where(t.is_null(exp.column("row_id", "x"))).order_by(drawn)
    return t.printed(query, dialect)


@dataclass(frozen=True)
class ReleasedTable:
    """A released table for its check: its columns of keys and labels.

    `person`: its key of people, None if only `parent_key` leads to them. `parent`: the number of the table with that
    key, `own_key`. `codes`: its sensitive columns, by the names of their codes. `has_gaps`: whether NULL in these is no
    value, but means that the row has none.
    """

    relation: Relation
    number: int
    labels: Sequence[str]
    own_key: str | None = None
    person: str | None = None
    parent: int | None = None
    parent_key: str | None = None
    codes: Mapping[str, str] = field(default_factory=dict)
    has_gaps: bool = False


def _code(table: ReleasedTable, code: str) -> exp.Expr:
    """The code of a value of a released column; that of NULL is 0, or NULL if the table has gaps."""
    column = t.column(table.codes[code], "r")
    rank = exp.Window(this=exp.DenseRank(), order=_ordered([column]))
    of_null = exp.null() if table.has_gaps else exp.Literal.number(0)
    return exp.cast(exp.Case().when(t.is_null(column.copy()), of_null).else_(rank), "BIGINT")


def released_people(main: ReleasedTable, dialect: str) -> str:
    """The query of the released people: key, a number, the number of the distinct labels of their rows, and codes."""
    key = t.column(str(main.own_key), "r")
    label = exp.Window(this=exp.DenseRank(), order=_ordered([t.column(name, "r") for name in main.labels]))
    number = exp.Window(this=exp.RowNumber(), order=_ordered([key]))
    query = exp.select(
        exp.alias_(key.copy(), "key"),
        exp.alias_(number, "person"),
        exp.alias_(label if main.labels else exp.Literal.number(1), "class"),
        *(exp.alias_(_code(main, code), code) for code in main.codes),
    )
    return t.printed(query.from_(t.table(main.relation, "r")), dialect)


def _ordered(columns: Sequence[exp.Expr]) -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=column.copy()) for column in columns])


def place_columns(tables: Sequence[ReleasedTable]) -> list[str]:
    """The columns of `released_facts` for the keys of the rows that rows belong to, level by level.

    >>> place_columns([ReleasedTable(Relation("visits"), 1, [])])
    ['visit']
    """
    by_number = {table.number: table for table in tables}
    levels = max(len(_above(table, by_number)) for table in tables)
    return list(ReleasedPlaces.on_levels(levels).slots)


def _above(table: ReleasedTable, by_number: Mapping[int, ReleasedTable]) -> list[ReleasedTable]:
    """The tables that a table refers to, directly or by others, the nearest first."""
    found = []
    while table.parent is not None and table.parent_key:
        table = by_number[table.parent]
        found.append(table)
    return found


def released_facts(tables: Sequence[ReleasedTable], dialect: str) -> str:
    """The query that lists what every row of released tables shows: person, kind, what, visit, visit_2, ….

    `kind`: the table. `what` numbers its distinct labels, together with those of the rows that a row refers to.
    `visit` is the key of the topmost of these rows, or its own, and `visit_2` that of the row below, for rows that
    belong to one. The codes of sensitive values are NULL in rows of other tables. The first table is that of the
    people, which is not listed.
    """
    codes = [code for table in tables[1:] for code in table.codes]
    by_number = {table.number: table for table in tables}
    columns = place_columns(tables[1:])
    parts = []
    for table in tables[1:]:
        query = exp.select().from_(t.table(table.relation, "r"))
        order: list[exp.Expr] = [t.column(name, "r") for name in table.labels]
        people: list[exp.Expr] = [t.column(table.person, "r")] if table.person else []
        keys: list[exp.Expr] = []  # of the rows that a row refers to, the nearest first
        below, alias = table, "r"
        for level, other in enumerate(_above(table, by_number), start=1):
            key, upper = t.column(str(below.parent_key), alias), "q" if level == 1 else f"q{level}"
            equal = t.column(str(other.own_key), upper).eq(key.copy())
            query = query.join(t.table(other.relation, upper), on=equal, join_type="LEFT")
            is_linked = _one_if(~t.is_null(key.copy()))
            order = [is_linked, *order, *(t.column(name, upper) for name in other.labels)]
            people += [t.column(other.person, upper)] if other.person else []
            keys.append(key)
            below, alias = other, upper
        rank = exp.Window(this=exp.DenseRank(), order=_ordered(order))
        what = rank if order else exp.Literal.number(1)
        none = exp.cast(exp.null(), "VARCHAR")
        own = t.column(table.own_key, "r") if table.own_key else none
        # From the top: a row without a row above it is at the top itself.
        path = [*reversed(keys), own]
        slots: list[exp.Expr] = [exp.func("COALESCE", *(key.copy() for key in path))]
        slots += [path[level].copy() if level < len(path) else none.copy() for level in range(1, len(columns))]
        parts.append(
            query.select(
                exp.alias_(exp.func("COALESCE", *people) if len(people) > 1 else people[0], "person"),
                exp.alias_(exp.Literal.number(table.number), "kind"),
                exp.alias_(exp.cast(what, "BIGINT"), "what"),
                *(exp.alias_(slot, column) for slot, column in zip(slots, columns, strict=True)),
                *(
                    exp.alias_(
                        _code(table, code) if code in table.codes else exp.cast(exp.null(), "BIGINT"),
                        code,
                    )
                    for code in codes
                ),
            )
        )
    return t.printed(t.union(parts), dialect)


def linked_rows(copy: Relation, columns: Mapping[str, str], dialect: str) -> str:
    """The query of a copy's rows with their links and some columns, by their new names, to be coded."""
    links = [exp.column(name, "t") for name in ("row_id", "unit_id", "parent_id")]
    cells = [exp.alias_(t.column(column, "t"), name, quoted=True) for name, column in columns.items()]
    n = exp.alias_(exp.Literal.number(1), "n")
    return t.printed(exp.select(*links, *cells, n).from_(t.table(copy, "t")), dialect)


@dataclass(frozen=True)
class KnownKey:
    """A key column of known rows: its name, the table whose rows it identifies, and the copy's columns.

    `of`: row_id, parent_id or unit_id. `column`: the key itself; where it is NULL, so is the known key.
    """

    name: str
    table: str
    of: str
    column: str


def known_rows(
    copy: Relation, keys: Sequence[KnownKey], cells: Sequence[ReleasedColumn], kept: Mapping[str, str], dialect: str
) -> str:
    """The query of a copy's rows as an attacker knows them who knows the release's levels: keys, labels, kept columns.

    Keys begin with `source:`, so that they differ from released ones. All columns are text, by their released names.
    """
    outputs: list[exp.Expr] = []
    for key in keys:
        start = exp.Literal.string(f"source:{key.table}:")
        number = exp.DPipe(this=start, expression=exp.cast(exp.column(key.of, "t"), "VARCHAR"))
        known = exp.Case().when(~t.is_null(t.column(key.column, "t")), number)
        outputs.append(exp.alias_(known, key.name, quoted=True))
    query = exp.select().from_(t.table(copy, "t"))
    for index, cell in enumerate(cells):
        alias = f"m{index}"
        query, shown = _shown(query, cell, alias)
        outputs.append(exp.alias_(exp.cast(shown, "VARCHAR"), cell.name, quoted=True))
    outputs += [
        exp.alias_(exp.cast(t.column(column, "t"), "VARCHAR"), name, quoted=True) for name, column in kept.items()
    ]
    return t.printed(query.select(*outputs), dialect)


def labels_at(copy: Relation, cell: ReleasedColumn, dialect: str) -> str:
    """The query of the labels of a copy's column on a level, each once, as text."""
    query, shown = _shown(exp.select().from_(t.table(copy, "t")), cell, "m")
    return t.printed(query.select(exp.alias_(exp.cast(shown, "VARCHAR"), "label")).distinct(), dialect)


def as_texts(relation: Relation, columns: Sequence[str], dialect: str) -> str:
    """The query of columns of a relation, as text."""
    texts = [exp.alias_(exp.cast(t.column(name, "r"), "VARCHAR"), name, quoted=True) for name in columns]
    return t.printed(exp.select(*texts).from_(t.table(relation, "r")), dialect)


def _shown(query: exp.Select, cell: ReleasedColumn, alias: str) -> tuple[exp.Select, exp.Expr]:
    """A query that joins the mapping of a cell if it needs one, and what the cell shows."""
    raw = t.column(cell.column, "t")
    if cell.level == 0:
        return query, raw
    return join_mapping(query, cell.coded, raw, alias), mapped(cell.coded, raw, alias, f"label_{cell.level}")
