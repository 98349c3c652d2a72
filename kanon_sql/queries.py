"""`sql/` to text in an engine's dialect: the only module that knows sqlglot.

A query is a file of `sql/`, parsed once. Its holes are `$name`, of four kinds: a value (a number or
text), columns (a list of names, or new names for old ones), a predicate (SQL of ours with value holes of
its own), a relation.
Holes are filled on the tree, so no name or value can leave its place, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import sqlglot
from sqlglot import exp

from kanon_sql.privacy import Predicate
from kanon_sql.resources import folder


@dataclass(frozen=True)
class Relation:
    """A table or view by the parts of its name, unquoted: `Relation("main", "patients")`."""

    parts: tuple[str, ...]

    def __init__(self, *parts: str) -> None:
        object.__setattr__(self, "parts", parts)

    @property
    def name(self) -> str:
        """The last part: the table's own name."""
        return self.parts[-1]

    def sibling(self, name: str) -> Relation:
        """The relation called `name` in the same schema."""
        return Relation(*self.parts[:-1], name)


_SCRATCH = "kanon scratch"
_SCRATCH_SCHEMAS = {"duckdb": "temp", "postgres": "pg_temp"}


def scratch(name: str) -> Relation:
    """A temporary table of ours: never anyone's table of the same name, in whatever engine.

    >>> text("row_count", "postgres", relation=scratch("kanon_tuples"))
    'SELECT COUNT(*) AS rows FROM "pg_temp"."kanon_tuples"'
    """
    return Relation(_SCRATCH, name)


def parts(relation: Relation, dialect: str) -> tuple[str, ...]:
    """A relation's name in an engine, for the driver's own quoting."""
    return tuple(_SCRATCH_SCHEMAS[dialect] if part == _SCRATCH else part for part in relation.parts)


Columns = Sequence[str] | Mapping[str, str]
Hole = Relation | Predicate | Columns | str | int | float | None


def text(name: str, dialect: str, **holes: Hole) -> str:
    """Print the query `sql/<name>.sql` in `dialect`, its holes filled.

    >>> text("row_count", "postgres", relation=Relation("public", 'odd "name"'))
    'SELECT COUNT(*) AS rows FROM "public"."odd ""name\"""'
    """
    return _print(_fill(_template(name), holes), dialect)


PerNode = Callable[[int, Relation, Iterable[str]], str]


def per_node(name: str, dialect: str, **holes: Hole) -> PerNode:
    """Fill a query's holes but `$node`, `$frequency_set` and `$levels`; return the function that fills those.

    Filling and printing a tree costs about a millisecond, as much as a small query itself; here it is
    paid once. The level columns must have plain names (letters, digits, underscores).

    >>> query = per_node("released_classes", "duckdb", safe=Predicate("SUM(n) >= 2"))
    >>> query(0, Relation("f"), ["age_1", "zip_0"])
    'SELECT "age_1", "zip_0" FROM "f" GROUP BY "age_1", "zip_0" HAVING COALESCE(SUM(n) >= 2, FALSE)'
    """
    numbered = {"node": _NODE_MARK} if "node" in _holes(name) else {}
    printed = text(name, dialect, **holes, **numbered, levels=[_MARK], frequency_set=Relation(_RELATION_MARK))
    pieces = printed.replace(_identifier(_RELATION_MARK, dialect), _RELATION_MARK).split(_identifier(_MARK, dialect))

    def fill(node: int, relation: Relation, names: Iterable[str]) -> str:
        levels = ", ".join(_plain(name, dialect) for name in names)
        filled = levels.join(pieces).replace(_RELATION_MARK, _relation(relation, dialect))
        return filled.replace(_NODE_MARK_TEXT, str(node))

    return fill


def sentence(name: str) -> str:
    """What the header of `sql/<name>.sql` says the query does."""
    lines = (folder("sql") / f"{name}.sql").read_text(encoding="utf-8").splitlines()
    return lines[1].removeprefix("-- ")


def pretty(sql: str, dialect: str) -> str:
    """A statement of ours laid out over several lines, for people."""
    return sqlglot.parse_one(sql, dialect).sql(dialect=dialect, pretty=True)


def union_all(queries: Sequence[str]) -> str:
    """Put complete queries of the same columns in one statement."""
    return " UNION ALL ".join(queries)


def create_as(relation: Relation, query: str, dialect: str, form: str = "table", temporary: bool = False) -> str:
    """The statement that makes a table or view of a complete query."""
    kind = f"{'TEMPORARY ' if temporary else ''}{form.upper()}"
    option = _VIEW_OPTIONS.get(dialect, "") if form == "view" else ""
    return f"CREATE {kind} {_print(_table(relation), dialect)}{option} AS {query}"


def drop(relation: Relation, dialect: str, form: str = "table") -> str:
    """The statement that drops a table or view, if it is there."""
    return f"DROP {form.upper()} IF EXISTS {_print(_table(relation), dialect)}"


def create_table(relation: Relation, types: Mapping[str, str], dialect: str) -> str:
    """The statement that makes an empty temporary table; types are the engine's own words."""
    columns = [exp.ColumnDef(this=exp.to_identifier(n, quoted=True), kind=exp.Var(this=t)) for n, t in types.items()]
    return f"CREATE TEMPORARY TABLE {_print(exp.Schema(this=_table(relation), expressions=columns), dialect)}"


def select_all(relation: Relation, dialect: str) -> str:
    """The query that reads a whole relation."""
    return _print(exp.select("*").from_(_table(relation)), dialect)


def insert_lists(relation: Relation, types: Mapping[str, str], dialect: str) -> str:
    """The statement that fills a table from one list parameter per column (DuckDB)."""
    values = ", ".join(f"CAST(UNNEST(?) AS {type_name})" for type_name in types.values())
    return f"INSERT INTO {_print(_table(relation), dialect)} SELECT {values}"


def insert_into(relation: Relation, query: str, dialect: str) -> str:
    """The statement that adds a query's rows to a table of ours."""
    return f"INSERT INTO {_print(_table(relation), dialect)} {query}"


def copy_to(query: str, path: str, file_format: str, dialect: str) -> str:
    """The statement that writes a query's rows to a file (DuckDB)."""
    options = "FORMAT parquet, COMPRESSION zstd" if file_format == "parquet" else "FORMAT csv, HEADER"
    return f"COPY ({query}) TO {_print(_literal(path), dialect)} ({options})"


@dataclass(frozen=True)
class Coded:
    """An attribute whose raw values a mapping table turns into codes: columns value, code_l, label_l, loss_l.

    `nulls`: what NULL becomes, by column of the mapping table; None where the data hold no NULL.
    `loss_levels`: the levels whose loss differs from value to value, so that it needs a column.
    """

    stem: str
    mapping: Relation
    height: int
    loss_levels: tuple[int, ...]
    nulls: Mapping[str, int | str | None] | None = None

    def code_column(self, level: int) -> str:
        """The frequency set's column of this attribute's codes on a level."""
        return f"{self.stem}_{level}"

    def loss_column(self, level: int) -> str:
        """The frequency set's column of n * (leaves under the label - 1)."""
        return f"{self.stem}_{level}_loss"


def frequency_set(tuples: Relation, attributes: Sequence[Coded], dialect: str) -> str:
    """The query that codes the distinct tuples: one integer column per attribute and level, and n."""
    n = exp.column("n", table="t")
    columns: list[exp.Expr] = []
    for index, attribute in enumerate(attributes):
        alias, raw = f"m{index}", _column(attribute.stem, "t")
        for level in range(attribute.height + 1):
            code = _mapped(attribute, raw, alias, f"code_{level}")
            columns.append(exp.alias_(code, attribute.code_column(level), quoted=True))
        for level in attribute.loss_levels:
            loss = exp.Mul(this=n.copy(), expression=_mapped(attribute, raw, alias, f"loss_{level}"))
            columns.append(exp.alias_(loss, attribute.loss_column(level), quoted=True))
    query = exp.select(*columns, n).from_(_table(tuples, "t"), copy=False)
    for index, attribute in enumerate(attributes):
        query = _join_mapping(query, attribute, _column(attribute.stem, "t"), f"m{index}")
    return _print(query, dialect)


def _mapped(attribute: Coded, raw: exp.Expr, alias: str, column: str) -> exp.Expr:
    """A column of the mapping table, or what NULL becomes in it."""
    mapped = _column(column, alias)
    if attribute.nulls is None:
        return mapped
    return exp.Case().when(_is_null(raw), _literal(attribute.nulls[column])).else_(mapped)


def _join_mapping(query: exp.Select, attribute: Coded, raw: exp.Expr, alias: str) -> exp.Select:
    # NULL never joins, and IS NOT DISTINCT FROM would forbid PostgreSQL a hash join.
    equal = exp.EQ(this=_column("value", alias), expression=raw.copy())
    kind = "INNER" if attribute.nulls is None else "LEFT"
    return query.join(_table(attribute.mapping, alias), on=equal, join_type=kind, copy=False)


def _is_null(expression: exp.Expr) -> exp.Expr:
    return exp.Is(this=expression.copy(), expression=exp.null())


@dataclass(frozen=True)
class Cell:
    """A column of the release: kept as it is (no mapping), or recoded through a mapping table.

    `mapping` holds value, `code` and `label` (column names). `label` None keeps the value itself (level 0);
    `constant` makes every cell that label, without a mapping. `null` is the code and label of NULL;
    `unmapped` the label of a value that the mapping does not hold, or holds under the code `starred` (None: NULL).
    `class_column`: the column of the classes relation that holds this cell's codes, None where all are alike.
    """

    name: str
    sortable: bool = True
    mapping: Relation | None = None
    code: str = "code"
    label: str | None = None
    constant: str | None = None
    null: tuple[int, str | None] | None = None
    unmapped: str | None = None
    starred: int | None = None
    class_column: str | None = None
    mask: str | None = None

    @property
    def recoded(self) -> bool:
        """Whether this is a quasi-identifier."""
        return self.mapping is not None or self.constant is not None


UNMAPPED_CODE = -1


@dataclass(frozen=True)
class ReleaseQuery:
    """What a release is made of; `sql` prints it.

    `classes`: a relation of the classes that may be released, made from the frequency set. Without it the
    query counts the classes itself, on the very rows that it returns, whenever it is run.
    `values`: mapping tables to write out inside the query, so that it stands alone.
    """

    source: Relation
    cells: tuple[Cell, ...]
    safe: Predicate
    classes: Relation | None = None
    mask: bool = False
    shuffle_seed: int | None = None
    values: Mapping[str, Sequence[tuple[object, ...]]] | None = None

    def sql(self, dialect: str) -> str:
        """The query in a dialect."""
        return _print(_release(self), dialect)


_RECODED, _CLASSES = "kanon_recoded", "kanon_classes"


def _release(release: ReleaseQuery) -> exp.Expr:
    cells = list(enumerate(release.cells))
    keyed = [(i, cell) for i, cell in cells if cell.class_column] or [(i, c) for i, c in cells if c.recoded][:1]
    query = exp.select(*(exp.alias_(_column(f"o{i}"), cell.name, quoted=True) for i, cell in cells)).from_(
        exp.to_table(_RECODED)
    )
    if release.classes is None:
        query = query.join(exp.to_table(_CLASSES), using=[exp.to_identifier(f"c{i}") for i, _ in keyed])
    query = query.order_by(*_order(release))
    for name, rows in (release.values or {}).items():
        query = query.with_(exp.to_identifier(name), as_=_values(rows) if rows else _no_values(release, name))
    query = query.with_(_RECODED, as_=_recoded(release, keyed), materialized=release.classes is None or None)
    if release.classes is None:
        codes = [_column(f"c{i}") for i, _ in keyed]
        held = exp.func("COALESCE", _predicate(release.safe), exp.false())
        query = query.with_(_CLASSES, as_=exp.select(*codes).from_(_RECODED).group_by(*codes).having(held))
    return query


def _recoded(release: ReleaseQuery, keyed: Sequence[tuple[int, Cell]]) -> exp.Select:
    """The source's rows with their labels (o0, o1, …), and what tells or counts their class."""
    columns = [exp.alias_(_cell(c, i, release.mask), f"o{i}", quoted=True) for i, c in enumerate(release.cells)]
    if release.classes is None:
        columns += [exp.alias_(_code(cell, i), f"c{i}", quoted=True) for i, cell in keyed]
        columns.append(exp.alias_(exp.Literal.number(1), "n"))
    query = exp.select(*columns).from_(_table(release.source, "s"), copy=False)
    for i, cell in enumerate(release.cells):
        if cell.mapping:
            equal = exp.EQ(this=_column("value", f"m{i}"), expression=_column(cell.name, "s"))
            query = query.join(_table(cell.mapping, f"m{i}"), on=equal, join_type="LEFT", copy=False)
    matches = [exp.EQ(this=_column(c.class_column, "k"), expression=_code(c, i)) for i, c in keyed if c.class_column]
    if release.classes is None or not matches:
        return query
    return query.join(
        _table(release.classes, "k"), on=exp.and_(*matches), join_type="LEFT" if release.mask else "INNER"
    )


def _values(rows: Sequence[tuple[object, ...]]) -> exp.Select:
    """A mapping table written out: value, code and, where there is one, label."""
    names = ["value", "code", "label"][: len(rows[0])]
    return exp.select(*(_column(name) for name in names)).from_(exp.values(rows, alias="v", columns=names))


def _no_values(release: ReleaseQuery, name: str) -> exp.Select:
    """The mapping table of a column that holds NULL alone, of the column's type."""
    column = next(_column(cell.name) for cell in release.cells if cell.mapping and cell.mapping.name == name)
    query = exp.select(exp.alias_(column, "value", quoted=True), exp.alias_(exp.Literal.number(0), "code", quoted=True))
    query = query.select(exp.alias_(exp.Literal.string(""), "label", quoted=True))
    return query.from_(_table(release.source)).where(exp.false())


def _cell(cell: Cell, index: int, masked: bool) -> exp.Expr:
    """What a cell shows."""
    raw = _column(cell.name, "s")
    if not cell.recoded:
        return raw
    if cell.mapping is None:
        return _literal(cell.constant)
    # Equal values may look different (-0, 1.00, a collation that ignores case): all show the mapping's one.
    value = exp.func("COALESCE", _column("value", f"m{index}"), raw.copy())
    shown = value if cell.label is None else _column(cell.label, f"m{index}")
    case = exp.Case().when(_is_null(raw), _literal(cell.null[1] if cell.null else cell.unmapped))
    case = case.when(_is_null(_column("value", f"m{index}")), _literal(cell.unmapped))
    if cell.starred is not None:
        starred = exp.EQ(this=_column(cell.code, f"m{index}"), expression=_literal(cell.starred))
        case = case.when(starred, _literal(cell.unmapped))
    case = case.else_(shown)
    if not masked or cell.class_column is None:
        return case
    return exp.Case().when(_is_null(_column(cell.class_column, "k")), _literal(cell.mask)).else_(case)


def _code(cell: Cell, index: int) -> exp.Expr:
    """The code that tells a cell's class."""
    if cell.mapping is None:
        return exp.Literal.number(0)
    null = _literal(cell.null[0] if cell.null else UNMAPPED_CODE)
    code = exp.func("COALESCE", _column(cell.code, f"m{index}"), _literal(UNMAPPED_CODE))
    return exp.Case().when(_is_null(_column(cell.name, "s")), null).else_(code)


def _order(release: ReleaseQuery) -> list[exp.Expr]:
    """The order of the rows: by all that is released, quasi-identifiers first, or a seeded hash of it."""
    places = sorted(range(len(release.cells)), key=lambda i: not release.cells[i].recoded)
    # By their table too: a released column may be called o1 itself.
    columns: list[tuple[exp.Expr, bool]] = [(_column(f"o{i}", _RECODED), release.cells[i].sortable) for i in places]
    return _ordered(columns, release.shuffle_seed)


def _ordered(columns: Sequence[tuple[exp.Expr, bool]], shuffle_seed: int | None) -> list[exp.Expr]:
    """By the columns, each with whether it can be sorted, or by a seeded hash of them all."""
    by_value = [column if sortable else exp.cast(column, "TEXT") for column, sortable in columns]
    if shuffle_seed is None:
        return by_value
    return [exp.func("MD5", _concatenated(str(shuffle_seed), [column for column, _ in columns])), *by_value]


def _predicate(predicate: Predicate) -> exp.Expr:
    values: dict[str, Hole] = dict(predicate.values)
    return _fill(sqlglot.parse_one(predicate.text, "duckdb"), values)


@dataclass(frozen=True)
class Moment:
    """A column of times, and what cloaking calculates with instead: a number of them.

    Timestamps are counted in microseconds and dates in days since 1970-01-01; numbers are themselves.
    `kind`, `type`: as of `kanon_sql.engine.Column`.
    """

    column: str
    kind: str
    type: str

    @property
    def zoned(self) -> bool:
        """Whether a timestamp knows its time zone."""
        return "TIME ZONE" in self.type.upper() or self.type.upper() == "TIMESTAMPTZ"

    def value(self) -> exp.Expr:
        """The time as it is released: a timestamp without what is below a microsecond."""
        column = _column(self.column, "s")
        return exp.cast(column, "TIMESTAMP") if self.kind == "timestamp" and not self.zoned else column

    def number(self) -> exp.Expr:
        """The number of a time; NULL for one that is not finite."""
        if self.kind not in ("timestamp", "date"):
            return exp.cast(_column(self.column, "s"), "DOUBLE")
        counted: exp.Expr = exp.func("EPOCH_US", self.value())
        if self.kind == "date":
            # Infinite dates cannot be subtracted.
            counted = exp.IntDiv(this=counted, expression=exp.Literal.number(_MICROSECONDS_A_DAY))
        finite = exp.func("ISFINITE", self.value())
        return exp.cast(exp.Case().when(finite, counted), "DOUBLE")

    def moment(self, number: str) -> exp.Expr:
        """The time of a column of numbers."""
        column = _column(number, "b")
        if self.kind == "timestamp":
            make = "MAKE_TIMESTAMPTZ" if self.zoned else "MAKE_TIMESTAMP"
            return exp.func(make, exp.cast(column, "BIGINT"))
        if self.kind == "date":
            return exp.Paren(this=exp.Add(this=_EPOCH.copy(), expression=exp.cast(column, "INTEGER")))
        return exp.cast(column, "BIGINT" if self.kind == "integer" else "DOUBLE")


_MICROSECONDS_A_DAY = 86_400_000_000
_EPOCH = exp.cast(exp.Literal.string("1970-01-01"), "DATE")


def cloak_rows(
    source: Relation, kept: Mapping[str, str], numbers: Mapping[str, str], unit: str, time: Moment, dialect: str
) -> str:
    """The query that numbers the rows to be cloaked: row, the kept columns, the numbers as DOUBLE, unit, moment, t.

    `kept`, `numbers`: the source's columns by their new names.
    """
    columns = [exp.alias_(_column(column, "s"), name, quoted=True) for name, column in kept.items()]
    columns += [
        exp.alias_(exp.cast(_column(column, "s"), "DOUBLE"), name, quoted=True) for name, column in numbers.items()
    ]
    columns.append(exp.alias_(_column(unit, "s"), "unit"))
    columns += [exp.alias_(time.value(), "moment"), exp.alias_(time.number(), "t")]
    number = exp.alias_(exp.Window(this=exp.RowNumber()), "row", quoted=True)
    return _print(exp.select(number, *columns).from_(_table(source, "s"), copy=False), dialect)


def cloak_points(numbered: Relation, own: Mapping[str, str | float], ticks: float, k: int, dialect: str) -> str:
    """The query of the points with their own k and tolerances, where there are any: each a column or one number.

    `own`: own_k, and dx, dy, dt; dt in what `ticks` of make one unit of people's. Nobody's own k is below `k`.
    """
    values: dict[str, exp.Expr] = {
        n: _column(v, "p") if isinstance(v, str) else exp.cast(_literal(repr(v)), "DOUBLE") for n, v in own.items()
    }
    asked = values.pop("own_k")
    if "dt" in values:
        values["dt"] = exp.Mul(this=values["dt"], expression=exp.cast(_literal(repr(ticks)), "DOUBLE"))
    columns: list[exp.Expr] = [_column(name, "p") for name in ("row", "unit", "x", "y", "t")]
    columns += [exp.alias_(value, name, quoted=True) for name, value in values.items()]
    columns += [exp.alias_(asked, "asked_k"), exp.alias_(exp.func("GREATEST", asked.copy(), _literal(k)), "own_k")]
    return _print(exp.select(*columns).from_(_table(numbered, "p"), copy=False), dialect)


def cloak_released(
    rows: Relation, points: Relation, boxes: Relation, kept: Sequence[str], tolerances: bool, time: Moment, dialect: str
) -> str:
    """The query of the rows with their boxes, the intervals in the time's own type, and all that a check needs."""
    columns: list[exp.Expr] = [_column(name, "s") for name in (*kept, "moment")]
    columns += [_column(name, "p") for name in ("unit", "x", "y", "t", "own_k")]
    none = exp.cast(exp.null(), "DOUBLE")
    columns += [
        _column(name, "p") if tolerances else exp.alias_(none.copy(), name, quoted=True) for name in ("dx", "dy", "dt")
    ]
    columns += [_column(name, "b") for name in ("x_min", "x_max", "y_min", "y_max", "t_min", "t_max")]
    columns += [exp.alias_(time.moment("t_min"), "since"), exp.alias_(time.moment("t_max"), "until")]
    query = exp.select(*columns).from_(_table(boxes, "b"), copy=False)
    for relation, alias in ((points, "p"), (rows, "s")):
        equal = exp.EQ(this=_column("row", "b"), expression=_column("row", alias))
        query = query.join(_table(relation, alias), on=equal, join_type="INNER", copy=False)
    return _print(query, dialect)


# Local recodings: classes made of any tuples


@dataclass(frozen=True)
class LocalCell:
    """A column of the source in a local release: kept (no mapping), or shown as columns of the classes.

    `key`: the assignment's column of its code. `null`: the code of NULL. `shown`: released name and classes' column.
    """

    name: str
    sortable: bool = True
    mapping: Relation | None = None
    key: str = ""
    null: int | None = None
    shown: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class LocalReleaseQuery:
    """What a release by classes is made of; `sql` prints it.

    `assignment` tells a tuple's class (`split`: of its rows first to last, counted in a seeded order), `classes`
    what it shows. `recount`: keep only classes that are safe on the very rows that the query returns.
    """

    source: Relation
    cells: tuple[LocalCell, ...]
    assignment: Relation
    classes: Relation
    safe: Predicate
    split: bool = False
    recount: bool = False
    seed: int = 0
    shuffle: bool = False
    values: Mapping[str, tuple[Sequence[str], Sequence[tuple[object, ...]]]] | None = None

    def sql(self, dialect: str) -> str:
        """The query in a dialect."""
        return _print(_local_release(self), dialect)


_CODED = "kanon_coded"


def _local_release(release: LocalReleaseQuery) -> exp.Expr:
    names = [(f"o{i}_{j}", shown[0]) for i, cell in enumerate(release.cells) for j, shown in enumerate(_shows(cell))]
    query = exp.select(*(exp.alias_(_column(inner, _RECODED), name, quoted=True) for inner, name in names))
    query = query.from_(exp.to_table(_RECODED))
    if release.recount:
        query = query.join(exp.to_table(_CLASSES), using=[exp.to_identifier("class")])
    query = query.order_by(*_local_order(release))
    for name, (columns, rows) in (release.values or {}).items():
        selected = exp.select(*map(_column, columns)).from_(exp.values(list(rows), alias="v", columns=list(columns)))
        query = query.with_(exp.to_identifier(name), as_=selected)
    query = query.with_(_CODED, as_=_local_coded(release))
    query = query.with_(_RECODED, as_=_local_recoded(release), materialized=release.recount or None)
    if release.recount:
        held = exp.func("COALESCE", _predicate(release.safe), exp.false())
        group = _column("class")
        query = query.with_(_CLASSES, as_=exp.select(group).from_(_RECODED).group_by(group.copy()).having(held))
    return query


def _shows(cell: LocalCell) -> tuple[tuple[str, str], ...]:
    return cell.shown or ((cell.name, ""),)


def _local_coded(release: LocalReleaseQuery) -> exp.Select:
    """The source's rows: kept columns as k0, k1, …, codes as c0, c1, …, and where tuples are split a number."""
    source = exp.select().from_(_table(release.source, "s"), copy=False)
    codes = []
    for i, cell in enumerate(release.cells):
        if cell.mapping is None:
            source = source.select(exp.alias_(_column(cell.name, "s"), f"k{i}", quoted=True), copy=False)
            continue
        raw = _column(cell.name, "s")
        equal = exp.EQ(this=_column("value", f"m{i}"), expression=raw)
        source = source.join(_table(cell.mapping, f"m{i}"), on=equal, join_type="LEFT", copy=False)
        known = exp.func("COALESCE", _column("code_0", f"m{i}"), _literal(UNMAPPED_CODE))
        null = _literal(UNMAPPED_CODE if cell.null is None else cell.null)
        code = exp.Case().when(_is_null(raw), null).else_(known)
        codes.append(code)
        source = source.select(exp.alias_(code, f"c{i}", quoted=True), copy=False)
    if not release.split:
        return source
    by_hash = exp.func("MD5", _concatenated(str(release.seed), [_column(c.name, "s") for c in release.cells]))
    number = exp.Window(
        this=exp.RowNumber(), partition_by=[code.copy() for code in codes], order=exp.Order(expressions=[by_hash])
    )
    return source.select(exp.alias_(number, "place", quoted=True), copy=False)


def _local_recoded(release: LocalReleaseQuery) -> exp.Select:
    """The rows with what they show (o0_0, o1_0, …), their class, and n to count them by."""
    query = exp.select(_column("class", "k"), exp.alias_(exp.Literal.number(1), "n", quoted=True))
    query = query.from_(exp.alias_(exp.to_table(_CODED), "r", table=True), copy=False)
    equal: list[exp.Expr] = []
    for i, cell in enumerate(release.cells):
        if cell.mapping:
            equal.append(exp.EQ(this=_column(cell.key, "a"), expression=_column(f"c{i}", "r")))
        for j, (_, column) in enumerate(_shows(cell)):
            shown = _column(column, "k") if cell.mapping else _column(f"k{i}", "r")
            query = query.select(exp.alias_(shown, f"o{i}_{j}", quoted=True), copy=False)
    if release.split:
        within = exp.Between(this=_column("place", "r"), low=_column("first", "a"), high=_column("last", "a"))
        equal.append(within)
    same = exp.EQ(this=_column("class", "k"), expression=_column("class", "a"))
    query = query.join(_table(release.assignment, "a"), on=exp.and_(*equal), copy=False)
    return query.join(_table(release.classes, "k"), on=same, copy=False)


def _local_order(release: LocalReleaseQuery) -> list[exp.Expr]:
    """The order of the rows: by all that is released, quasi-identifiers first, or a seeded hash of it."""
    places = sorted(range(len(release.cells)), key=lambda i: release.cells[i].mapping is None)
    columns: list[tuple[exp.Expr, bool]] = [
        (_column(f"o{i}_{j}", _RECODED), release.cells[i].sortable)
        for i in places
        for j in range(len(_shows(release.cells[i])))
    ]
    return _ordered(columns, release.seed if release.shuffle else None)


def _concatenated(start: str, columns: Sequence[exp.Expr]) -> exp.Expr:
    """A text of the start and all columns, one after the other."""
    text: exp.Expr = exp.Literal.string(start)
    for column in columns:
        part = exp.func("COALESCE", exp.cast(column.copy(), "TEXT"), exp.Literal.string(""))
        text = exp.DPipe(this=exp.DPipe(this=text, expression=exp.Literal.string("|")), expression=part)
    return text


def members(assignment: Relation, key: str, positions: Relation, dialect: str) -> str:
    """The query of one attribute's values in every class: class, position, n."""
    place, group = _column("position", "p"), _column("class", "a")
    rows = exp.alias_(exp.func("SUM", _column("n", "a")), "n", quoted=True)
    query = exp.select(group, place, rows).from_(_table(assignment, "a"), copy=False)
    query = query.join(_table(positions, "p"), on=exp.EQ(this=_column("code_0", "p"), expression=_column(key, "a")))
    return _print(query.where(_is_not_null(group)).group_by(group.copy(), place.copy()), dialect)


def boxes(assignment: Relation, keys: Sequence[str], positions: Sequence[Relation], dialect: str) -> str:
    """The query of the range of positions that every class fills: class, n, low_0, high_0, low_1, …

    `keys`: the columns of the assignment that hold each attribute's level-0 code.
    """
    group = _column("class", "a")
    query = exp.select(group, exp.alias_(exp.func("SUM", _column("n", "a")), "n", quoted=True))
    query = query.from_(_table(assignment, "a"), copy=False)
    for j, (key, relation) in enumerate(zip(keys, positions, strict=True)):
        place = _column("position", f"p{j}")
        query = query.select(
            exp.alias_(exp.func("MIN", place), f"low_{j}", quoted=True),
            exp.alias_(exp.func("MAX", place.copy()), f"high_{j}", quoted=True),
            copy=False,
        )
        equal = exp.EQ(this=_column("code_0", f"p{j}"), expression=_column(key, "a"))
        query = query.join(_table(relation, f"p{j}"), on=equal, copy=False)
    return _print(query.where(_is_not_null(group)).group_by(group.copy()), dialect)


@dataclass(frozen=True)
class Shown:
    """How the classes of a local recoding show one attribute; see `kanon_sql.recode.show` for the words of `how`.

    `positions`: its order's relation. `nested`: every hierarchy node is one range of positions. `cut`: the label
    is that of the region cut to. `statistic`: a relation of class and shown, where `how` is one.
    """

    how: str
    positions: Relation
    height: int
    leaf_count: int
    nested: bool = True
    statistic: Relation | None = None


def local_classes(boxes: Relation, cuts: Relation | None, shown: Sequence[Shown], dialect: str) -> str:
    """The query of released classes: class, n, and per attribute label_j (high_j), leaves_j, level_j."""
    query = exp.select(_column("class", "b"), _column("n", "b")).from_(_table(boxes, "b"), copy=False)
    if cuts:
        query = query.join(
            _table(cuts, "c"), on=exp.EQ(this=_column("class", "c"), expression=_column("class", "b")), copy=False
        )
    for j, each in enumerate(shown):
        region = "c" if each.how == "labels" and cuts else "b"
        for end in ("low", "high"):
            place = exp.EQ(this=_column("position", f"{end}{j}"), expression=_column(f"{end}_{j}", region))
            query = query.join(_table(each.positions, f"{end}{j}"), on=place, copy=False)
        if each.statistic:
            same = exp.EQ(this=_column("class", f"s{j}"), expression=_column("class", "b"))
            query = query.join(_table(each.statistic, f"s{j}"), on=same, copy=False)
        query = query.select(*_shown(each, j), copy=False)
    return _print(query, dialect)


_RANGES = ("ranges", "bounds", "mean", "median", "mode")


def _shown(each: Shown, j: int) -> list[exp.Expr]:
    low, high = f"low{j}", f"high{j}"
    single = exp.EQ(this=_column("position", low), expression=_column("position", high))
    # NULL is the first position and what no hierarchy holds is the last: with others they make no range.
    odd = exp.or_(_is_null(_column("value", low)), _is_null(_column("value", high)))
    ranged = each.how in _RANGES
    columns = [exp.alias_(_label(each, j, single, odd), f"label_{j}", quoted=True)]
    if each.how == "bounds":
        upper = exp.Case().when(exp.and_(odd.copy(), exp.not_(single.copy())), exp.null())
        columns.append(exp.alias_(upper.else_(_column("value", high)), f"high_{j}", quoted=True))
    width = exp.Add(
        this=exp.Sub(this=_column("position", high), expression=_column("position", low)),
        expression=exp.Literal.number(1),
    )
    spread = exp.Case().when(single.copy(), _column("leaves_0", low)).when(odd.copy(), _literal(each.leaf_count))
    leaves = spread.else_(width) if ranged else _common(each, j, lambda level: _column(f"leaves_{level}", low))
    levels = _common(each, j, lambda level: _literal(level))
    return [*columns, exp.alias_(leaves, f"leaves_{j}", quoted=True), exp.alias_(levels, f"level_{j}", quoted=True)]


def _label(each: Shown, j: int, single: exp.Expr, odd: exp.Expr) -> exp.Expr:
    low, high = f"low{j}", f"high{j}"
    if each.statistic:
        return _column("shown", f"s{j}")
    if each.how == "bounds":
        return exp.Case().when(exp.and_(odd.copy(), exp.not_(single.copy())), exp.null()).else_(_column("value", low))
    if each.how != "ranges":
        return _common(each, j, lambda level: _column(f"label_{level}", low) if level else _value_text(low))
    text: exp.Expr = exp.Literal.string("[")
    for part in (_value_text(low), exp.Literal.string(", "), _value_text(high), exp.Literal.string("]")):
        text = exp.DPipe(this=text, expression=part)
    star = exp.Literal.string("*")
    return exp.Case().when(single.copy(), _value_text(low)).when(odd.copy(), star).else_(text)


def _value_text(alias: str) -> exp.Expr:
    text = exp.cast(_column("value", alias), "TEXT")
    return exp.Case().when(_column("starred", alias), exp.Literal.string("*")).else_(text)


def _common(each: Shown, j: int, of: Callable[[int], exp.Expr]) -> exp.Expr:
    """Something of the lowest level on which both ends of the range have one label; the top where nodes are torn."""
    case = exp.Case()
    for level in range(each.height) if each.nested else range(1):
        equal = exp.EQ(this=_column(f"code_{level}", f"low{j}"), expression=_column(f"code_{level}", f"high{j}"))
        case = case.when(equal, of(level))
    return case.else_(of(each.height))


def _is_not_null(expression: exp.Expr) -> exp.Expr:
    return exp.not_(_is_null(expression))


def plain_names(columns: Sequence[str]) -> dict[str, str]:
    """Give every column a plain, short, distinct name for our own relations; its own where that is one.

    >>> plain_names(["age", "marital-status", "n", "Prénom"])
    {'age': 'age', 'marital-status': 'marital_status', 'n': 'attribute2', 'Prénom': 'pr_nom'}
    """
    names: dict[str, str] = {}
    for index, column in enumerate(columns):
        stem = "".join(c if c.isascii() and c.isalnum() else "_" for c in column.lower()).strip("_")
        # A name of ours that is another column's own could be taken for it in a GROUP BY.
        taken = {other.lower() for other in columns if other != column} | set(names.values()) | _RESERVED
        while not (stem and stem[0].isalpha() and len(stem) <= 40) or stem in taken:
            stem = f"attribute{index}" if stem[:9] != "attribute" else f"{stem}x"
        names[column] = stem
    return names


_RESERVED = {"n", "rows", "size", "value", "safe", "node", "classes"}
# Without it PostgreSQL may run a reader's own function on rows of classes that are then left out.
_VIEW_OPTIONS = {"postgres": " WITH (security_barrier = true)"}
_MARK = "kanon_columns_here"
_RELATION_MARK = "kanon_relation_here"
_NODE_MARK = 918273645918273645
_NODE_MARK_TEXT = str(_NODE_MARK)
_LISTS = (exp.Select, exp.Group, exp.Order)


@cache
def _template(name: str) -> exp.Expr:
    body = (folder("sql") / f"{name}.sql").read_text(encoding="utf-8")
    return sqlglot.parse_one("\n".join(line for line in body.splitlines() if not line.startswith("--")), "duckdb")


def _holes(name: str) -> set[str]:
    return {hole.name for hole in _template(name).find_all(exp.Placeholder)}


def _fill(template: exp.Expr, holes: dict[str, Hole]) -> exp.Expr:
    tree = template.copy()
    open_holes = {hole.name for hole in tree.find_all(exp.Placeholder)}
    if open_holes != set(holes):
        raise ValueError(f"holes {sorted(open_holes)} filled with {sorted(holes)}")
    for hole in list(tree.find_all(exp.Placeholder)):
        _fill_one(hole, holes[hole.name])
    return tree


def _fill_one(hole: exp.Expr, filling: Hole) -> None:
    if isinstance(filling, Relation):
        table = hole.parent if isinstance(hole.parent, exp.Table) else hole
        alias = table.args.get("alias")
        table.replace(_table(filling, alias.name if alias else None))
    elif isinstance(filling, Predicate):
        hole.replace(_predicate(filling))
    elif isinstance(filling, Mapping):
        _repeat(hole, list(filling.items()))
    elif isinstance(filling, (list, tuple)):
        _repeat(hole, [(column, column) for column in filling])
    else:
        hole.replace(_literal(filling))


def _repeat(hole: exp.Expr, columns: Sequence[tuple[str, str]]) -> None:
    """Repeat the list item that a columns hole stands in, once per column: SUM($c) gives SUM(a), SUM(b)."""
    item = hole
    while item.parent and not (item.arg_key == "expressions" and isinstance(item.parent, _LISTS)):
        item = item.parent
    selected = isinstance(item.parent, exp.Select)
    items = []
    for name, column in columns:
        copy = exp.Paren(this=item.copy())  # a parent, so that a bare hole can be replaced like any other
        next(p for p in copy.find_all(exp.Placeholder) if p.name == hole.name).replace(_column(column))
        filled = copy.this
        named = isinstance(filled, exp.Alias) or (isinstance(filled, exp.Column) and name == column)
        items.append(exp.alias_(filled, name, quoted=True) if selected and not named else filled)
    item.replace(items)


def _print(tree: exp.Expr, dialect: str) -> str:
    for table in tree.find_all(exp.Table):
        if table.db == _SCRATCH:
            table.set("db", exp.to_identifier(_SCRATCH_SCHEMAS[dialect], quoted=True))
    return tree.sql(dialect=dialect, comments=False)


def _table(relation: Relation, alias: str | None = None) -> exp.Table:
    *path, name = (exp.to_identifier(part, quoted=True) for part in relation.parts)
    schema = path[-1] if path else None
    catalog = path[-2] if len(path) > 1 else None
    table = exp.Table(this=name, db=schema, catalog=catalog)
    if alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return table


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def _literal(value: object) -> exp.Expr:
    return exp.convert(value)


@cache
def _relation(relation: Relation, dialect: str) -> str:
    return _print(_table(relation), dialect)


@cache
def _plain(name: str, dialect: str) -> str:
    if not (name.isascii() and name.replace("_", "a").isalnum()):
        raise ValueError(f"not a plain column name: {name!r}")
    return _identifier(name, dialect)


@cache
def _identifier(name: str, dialect: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)
