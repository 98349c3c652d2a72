"""`sql/` to text in an engine's dialect: the only module that knows sqlglot.

A query is a file of `sql/`, parsed once. Its holes are `$name`, of five kinds: a value (a number or
text), columns (a list of names, or new names for old ones), a predicate (SQL of ours with value holes of
its own), a relation, and steps (what the differences of two rows cost).
Holes are filled on the tree, so no name or value can leave its place, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce

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


@dataclass(frozen=True)
class Steps:
    """What two rows, by their aliases, add up where a column of theirs differs; a row alone, where one is negative.

    Whole numbers with a sum below 2^24 are exact in the 4-byte floats that this is worked out in.
    """

    costs: Mapping[str, int]
    left: str
    right: str | None = None


Columns = Sequence[str] | Mapping[str, str]
Hole = Relation | Predicate | Columns | Steps | str | int | float | None


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


def insert(relation: Relation, query: str, dialect: str) -> str:
    """The statement that adds the rows of a complete query to a table."""
    return f"INSERT INTO {_print(_table(relation), dialect)} {query}"


def rename(relation: Relation, name: str, dialect: str) -> str:
    """The statement that gives a table another name, where there is none of that name."""
    return f"ALTER TABLE {_print(_table(relation), dialect)} RENAME TO {_identifier(name, dialect)}"


def regions(relation: Relation, last: Sequence[int], dialect: str) -> str:
    """The query of what every class was cut to, one row per class: class, low_0, high_0, low_1, …

    `relation`: class, attribute, low, high (NULL: to the end). `last`: each attribute's last position.
    """
    group = _column("class")
    query = exp.select(group).from_(_table(relation), copy=False).group_by(group.copy(), copy=False)
    for j, end in enumerate(last):
        is_j = exp.EQ(this=_column("attribute"), expression=_literal(j))
        for side, most in (("low", 0), ("high", end)):
            found = exp.func("MAX", exp.Case().when(is_j.copy(), _column(side)))
            known = exp.func("COALESCE", found, _literal(most))
            query = query.select(exp.alias_(known, f"{side}_{j}", quoted=True), copy=False)
    return _print(query, dialect)


def over(predicate: Predicate, window: str) -> Predicate:
    """A predicate on a class as one on a window of rows: `window` is the name that the query gives it.

    >>> over(Predicate("SUM(n) >= $k", {"k": 5}), "left_side").text
    'SUM(n) OVER left_side >= $k'
    """
    tree = sqlglot.parse_one(predicate.text, "duckdb")
    for aggregate in list(tree.find_all(exp.AggFunc)):
        whole = aggregate.parent if isinstance(aggregate.parent, exp.Filter) else aggregate
        whole.replace(exp.Window(this=whole.copy(), alias=exp.to_identifier(window), over="OVER"))
    return Predicate(tree.sql("duckdb"), predicate.values)


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


def labelled(
    tuples: Relation,
    recoded: Relation,
    nodes: Relation,
    labels: Relation,
    levels: Sequence[Sequence[str]],
    dialect: str,
) -> str:
    """The query of what every recoded tuple shows: tuple, n, and per attribute label_j, leaves_j, level_j.

    `recoded`: tuple, node; `nodes`: node, level_0, level_1, … per attribute; `labels`: attribute, rule_level, code,
    label, leaves, level; `levels`: per attribute the columns of `tuples` that hold its codes, level by level.
    """
    query = exp.select(exp.column("tuple", table="t"), exp.column("n", table="t")).from_(
        _table(tuples, "t"), copy=False
    )
    for relation, alias, key, other in ((recoded, "r", "tuple", "t"), (nodes, "v", "node", "r")):
        same = exp.EQ(this=exp.column(key, table=alias), expression=exp.column(key, table=other))
        query = query.join(_table(relation, alias), on=same, copy=False)
    for j, columns in enumerate(levels):
        level, code = _column(f"level_{j}", "v"), exp.Case()
        for number, column in enumerate(columns):
            code = code.when(exp.EQ(this=level.copy(), expression=_literal(number)), _column(column, "t"))
        wanted = {"attribute": _literal(j), "rule_level": level, "code": code}
        equal = exp.and_(*(exp.EQ(this=_column(name, f"a{j}"), expression=found) for name, found in wanted.items()))
        query = query.join(_table(labels, f"a{j}"), on=equal, copy=False)
        query = query.select(*(exp.alias_(_column(name, f"a{j}"), f"{name}_{j}", quoted=True) for name in _SHOWN))
    return _print(query, dialect)


_SHOWN = ("label", "leaves", "level")


def readings(classes: Relation, labels: Relation, count: int, dialect: str) -> str:
    """The query of what the labels of classes stand for: class, and per attribute level_j and code_j.

    `classes`: class, label_0 … label_(count - 1); `labels`: attribute, label, level, code. A class with a label that
    nothing stands for is left out.
    """
    query = exp.select(exp.column("class", table="k")).from_(_table(classes, "k"), copy=False)
    for j in range(count):
        same = exp.NullSafeEQ(this=_column("label", f"a{j}"), expression=_column(f"label_{j}", "k"))
        equal = exp.and_(exp.EQ(this=_column("attribute", f"a{j}"), expression=_literal(j)), same)
        query = query.join(_table(labels, f"a{j}"), on=equal, copy=False)
        query = query.select(*(exp.alias_(_column(name, f"a{j}"), f"{name}_{j}") for name in ("level", "code")))
    return _print(query, dialect)


def beside_patterns(tuples: Relation, patterns: Relation, levels: Sequence[Sequence[str]], dialect: str) -> str:
    """The query that puts patterns (pattern, class, level_j, code_j) beside the tuples, in the tuples' columns.

    A pattern has a code in one column of each attribute, that of its level, and no rows (n = 0).
    """
    of_tuples = [*(exp.alias_(exp.null(), name) for name in ("pattern", "class")), exp.column("n")]
    of_patterns = [exp.column("pattern"), exp.column("class"), exp.alias_(exp.Literal.number(0), "n")]
    for j, columns in enumerate(levels):
        for number, column in enumerate(columns):
            here = exp.EQ(this=_column(f"level_{j}"), expression=_literal(number))
            code = exp.Case().when(here, _column(f"code_{j}"))
            of_tuples.append(_column(column))
            of_patterns.append(exp.alias_(code, column, quoted=True))
    first = exp.select(*of_tuples).from_(_table(tuples))
    return _print(exp.union(first, exp.select(*of_patterns).from_(_table(patterns)), distinct=False), dialect)


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


def identified_rows(source: Relation, columns: Mapping[str, str], told_by: Sequence[str], dialect: str) -> str:
    """The query that gives every row of a table a `row_id`, a text that no other row has and that its place has not.

    `columns` (new name: old) are kept; the row is told by its content in the columns `told_by`, and equal rows
    by a number that each of them could have. Plain names (`plain_names`) keep clear of ours.
    """
    number = "MD5(content || '|' || CAST(ROW_NUMBER() OVER (PARTITION BY content ORDER BY content) AS TEXT)) AS row_id"
    return _print(_over_content(source, columns, told_by, "", number), dialect)


def grouped_rows(
    source: Relation, columns: Mapping[str, str], classes: Sequence[str], seed: int | str, dialect: str
) -> str:
    """The query that gives the equivalence classes of a release a `group_id` each: 1, 2, … in the order of a hash.

    `columns` (new name: old) are kept; `classes` are the columns, by their old names, that tell the classes.
    """
    number = "DENSE_RANK() OVER (ORDER BY content) AS group_id"
    return _print(_over_content(source, columns, classes, str(seed), number), dialect)


def _over_content(
    source: Relation, columns: Mapping[str, str], told_by: Sequence[str], prefix: str, number: str
) -> exp.Select:
    content: exp.Expr = exp.Literal.string(prefix)
    for column in told_by:
        content = exp.DPipe(this=content, expression=_told_apart(column))
    kept = [exp.alias_(_column(old), new, quoted=True) for new, old in columns.items()]
    told = exp.select(*kept, exp.alias_(exp.func("MD5", content), "content")).from_(_table(source))
    numbered = sqlglot.parse_one(number, "duckdb")
    return exp.select(*(_column(new) for new in columns), numbered).from_(told.subquery("told"))


def _told_apart(column: str) -> exp.Expr:
    """A column as text that, with others behind it, still tells where it ends, and NULL from all that is not."""
    text: exp.Expr = exp.cast(_column(column), "TEXT")
    for mark, written in (("~", "~~"), ("|", "~p")):
        text = exp.func("REPLACE", text, exp.Literal.string(mark), exp.Literal.string(written))
    known = exp.func("COALESCE", text, exp.Literal.string("~n"))
    return exp.DPipe(this=exp.Literal.string("|"), expression=known)


@dataclass(frozen=True)
class Perturbed:
    """A column of the perturbed source: `column` of the identified rows, or `value` of a relation by `row_id`.

    `type`: the column's own type, in the engine's words, that a perturbed value is given back.
    """

    name: str
    column: str
    type: str
    values: Relation | None = None


def perturbed_rows(rows: Relation, columns: Sequence[Perturbed], dialect: str) -> str:
    """The query that puts perturbed values in the place of the source's; a cell without one is NULL."""
    query = exp.select().from_(_table(rows, "r"))
    for index, found in enumerate(columns):
        if found.values is None:
            shown: exp.Expr = _column(found.column, "r")
        else:
            alias = f"p{index}"
            equal = exp.EQ(this=_column("row_id", alias), expression=_column("row_id", "r"))
            query = query.join(_table(found.values, alias), on=equal, join_type="LEFT")
            shown = exp.Cast(this=_column("value", alias), to=exp.Var(this=found.type))
        query = query.select(exp.alias_(shown, found.name, quoted=True))
    return _print(query, dialect)


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


_RESERVED = {"n", "rows", "size", "value", "safe", "node", "classes", "content", "row_id", "group_id", "key", "digest"}
# Without it PostgreSQL may run a reader's own function on rows of classes that are then left out.
_VIEW_OPTIONS = {"postgres": " WITH (security_barrier = true)"}
_MARK = "kanon_columns_here"
_RELATION_MARK = "kanon_relation_here"
_NODE_MARK = 918273645918273645
_NODE_MARK_TEXT = str(_NODE_MARK)
_COLUMNS = (Mapping, list, tuple)
_LISTS = (exp.Select, exp.Group, exp.Order, exp.Array)


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
    # Columns last: an item is copied for each of them, with the other holes in it.
    while in_order := sorted(tree.find_all(exp.Placeholder), key=lambda hole: isinstance(holes[hole.name], _COLUMNS)):
        hole = in_order[0]
        _fill_one(hole, holes[hole.name])
    return tree


def _fill_one(hole: exp.Expr, filling: Hole) -> None:
    if isinstance(filling, Relation):
        table = hole.parent if isinstance(hole.parent, exp.Table) else hole
        alias = table.args.get("alias")
        table.replace(_table(filling, alias.name if alias else None))
    elif isinstance(filling, Predicate):
        hole.replace(_predicate(filling))
    elif isinstance(filling, Steps):
        hole.replace(_steps(filling))
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
        for same in [p for p in copy.find_all(exp.Placeholder) if p.name == hole.name]:
            same.replace(_column(column))
        filled = copy.this
        named = isinstance(filled, exp.Alias) or (isinstance(filled, exp.Column) and name == column)
        items.append(exp.alias_(filled, name, quoted=True) if selected and not named else filled)
    item.replace(items)


def _steps(steps: Steps) -> exp.Expr:
    # Not CASE, or anything with NULL, which take two to six times as long over millions of pairs.
    total: exp.Expr = exp.cast(exp.Literal.number(0), "FLOAT")
    for name, cost in steps.costs.items():
        column = _column(name, steps.left)
        if steps.right is None:
            found: exp.Expr = exp.LT(this=column, expression=exp.Literal.number(0))
        else:
            found = exp.NEQ(this=column, expression=_column(name, steps.right))
        step = exp.Mul(this=exp.cast(found, "FLOAT"), expression=exp.cast(exp.Literal.number(cost), "FLOAT"))
        total = exp.Add(this=total, expression=step)
    return exp.Paren(this=total)


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


@dataclass(frozen=True)
class Climb:
    """An attribute that `refine` generalizes: its codes in the frequency set, and what each level costs.

    `levels`: a relation of `code` (level 0), `level`, `key`, `cost`, one row per value and level, `bottom` the lowest
    one to use. `costs`: the same with one row per value, `code, cost_0, cost_1, …`. `free`: no level costs anything.
    """

    coded: Coded
    levels: Relation
    costs: Relation
    bottom: int = 0
    free: bool = False

    def code(self, level: int, table: str) -> exp.Column:
        """The column of this attribute's codes on a level."""
        return _column(self.coded.code_column(level), table)

    def cost(self, level: int, table: str) -> exp.Column:
        """The column of what a level costs one row."""
        return _column(f"{self.coded.stem}_{level}_cost", table)


def refine_tuples(frequency_set: Relation, attributes: Sequence[Climb], dialect: str) -> str:
    """The query of the tuples that `refine` works on: id, n, and per attribute and level the code and its cost.

    Codes are BIGINT here, so that their squares are exact.
    """
    keys = [attribute.code(0, "f") for attribute in attributes]
    columns: list[exp.Expr] = [exp.alias_(_row_number(keys), "id"), _column("n", "f")]
    query = exp.select().from_(_table(frequency_set, "f"), copy=False)
    for index, attribute in enumerate(attributes):
        for level in range(attribute.coded.height + 1):
            code = exp.cast(attribute.code(level, "f"), "BIGINT")
            columns.append(exp.alias_(code, attribute.coded.code_column(level), quoted=True))
            cost = _column(f"cost_{level}", f"c{index}")
            columns.append(exp.alias_(cost, attribute.cost(level, "t").name, quoted=True))
        equal = exp.EQ(this=_column("code", f"c{index}"), expression=keys[index].copy())
        query = query.join(_table(attribute.costs, f"c{index}"), on=equal, copy=False)
    return _print(query.select(*columns, copy=False), dialect)


def refine_generalizations(tuples: Relation, attributes: Sequence[Climb], most: int, dialect: str) -> str:
    """The query of all generalizations of every tuple on some attributes that cost at most so much.

    Gives id, n, `key` (equal for what is equal on all these attributes), `cost`.
    """
    query = exp.select().from_(_table(tuples, "t"), copy=False)
    keys: list[exp.Expr] = []
    costs: list[exp.Expr] = []
    for index, attribute in enumerate(attributes):
        keys.append(_column("key", f"m{index}"))
        costs.append(_column("cost", f"m{index}"))
        conditions = [
            exp.EQ(this=_column("code", f"m{index}"), expression=attribute.code(0, "t")),
            exp.GTE(this=_column("level", f"m{index}"), expression=_literal(attribute.bottom)),
            exp.LTE(this=_sum(costs), expression=_literal(most)),
        ]
        query = query.join(_table(attribute.levels, f"m{index}"), on=exp.and_(*conditions), copy=False)
    named = [exp.alias_(_sum(keys), "key"), exp.alias_(_sum(costs), "cost")]
    return _print(query.select(_column("id", "t"), _column("n", "t"), *named), dialect)


def refine_classes(
    state: Relation, tuples: Relation, dirty: Relation, attributes: Sequence[Climb], dialect: str
) -> str:
    """The query of the classes of a state: class, tuples, n, cost (of one row), dirty, and what moves are judged by.

    Per attribute and level below the top: the code that all members share, else -1; and the sums over the members
    of code, squared code, and cost, from which follows what the class would be without one of them.
    """
    columns: list[exp.Expr] = [_column("class", "s"), exp.alias_(exp.Count(this=exp.Star()), "tuples")]
    columns.append(exp.alias_(exp.cast(exp.Sum(this=_column("n", "t")), "BIGINT"), "n"))
    costs = []
    for attribute in attributes:
        shown, top = exp.Case(), attribute.coded.height
        for level in range(top):
            code, cost, name = (
                attribute.code(level, "t"),
                attribute.cost(level, "t"),
                attribute.coded.code_column(level),
            )
            equal = exp.EQ(this=exp.Min(this=code), expression=exp.Max(this=code))
            shown = shown.when(equal, exp.Min(this=cost))
            columns.append(
                exp.alias_(exp.Case().when(equal, exp.Min(this=code)).else_(_literal(-1)), name, quoted=True)
            )
            squares = exp.Mul(this=code, expression=code)
            for kind, added in (("sum", code), ("squares", squares), ("costs", cost)):
                columns.append(exp.alias_(exp.Sum(this=added), f"{name}_{kind}", quoted=True))
        last = exp.Min(this=attribute.cost(top, "t"))
        columns.append(exp.alias_(last, f"{attribute.coded.code_column(top)}_costs", quoted=True))
        costs.append(shown.else_(last) if top else last)
    among = exp.select(_column("class")).from_(_table(dirty))
    columns.append(exp.alias_(_sum(costs), "cost"))
    columns.append(exp.alias_(exp.In(this=_column("class", "s"), query=exp.Subquery(this=among)), "dirty"))
    equal = exp.EQ(this=_column("id", "t"), expression=_column("id", "s"))
    query = exp.select(*columns).from_(_table(state, "s")).join(_table(tuples, "t"), on=equal)
    return _print(query.group_by(_column("class", "s")), dialect)


def refine_rests(
    state: Relation, tuples: Relation, classes: Relation, attributes: Sequence[Climb], dialect: str
) -> str:
    """The query of what every class would be without each of its tuples: id, class, dirty, n and cost of the rest.

    `own`: the rows of the tuple, `before`: the cost of all rows of the class with it. A class of one tuple has no rest.
    That all other members share a code follows from its sums: (m * sum of squares) is the square of the sum just then.
    """
    members = exp.Paren(this=exp.Sub(this=_column("tuples", "c"), expression=_literal(1)))
    costs = [_rest_cost(attribute, members) for attribute in attributes]
    rest = exp.Cast(
        this=exp.func("ROUND", exp.Div(this=exp.Paren(this=_sum(costs)), expression=members.copy())), to=_bigint()
    )
    rows = exp.Sub(this=_column("n", "c"), expression=_column("n", "t"))
    before = exp.Mul(this=_column("n", "c"), expression=_column("cost", "c"))
    columns = [_column("id", "t"), _column("class", "s"), _column("dirty", "c"), exp.alias_(rows, "n")]
    columns += [exp.alias_(rest, "cost"), exp.alias_(_column("n", "t"), "own"), exp.alias_(before, "before")]
    query = exp.select(*columns).from_(_table(state, "s"))
    query = query.join(_table(tuples, "t"), on=exp.EQ(this=_column("id", "t"), expression=_column("id", "s")))
    query = query.join(_table(classes, "c"), on=exp.EQ(this=_column("class", "c"), expression=_column("class", "s")))
    return _print(query.where(exp.GT(this=_column("tuples", "c"), expression=_literal(1))), dialect)


def _rest_cost(attribute: Climb, members: exp.Expr) -> exp.Expr:
    """What an attribute costs the rest of a class, times the tuples of the rest."""
    case, top = exp.Case(), attribute.coded.height
    for level in range(top):
        name, code = attribute.coded.code_column(level), attribute.code(level, "t")
        added = exp.Paren(this=exp.Sub(this=_column(f"{name}_sum", "c"), expression=code))
        squares = exp.Paren(
            this=exp.Sub(
                this=_column(f"{name}_squares", "c"), expression=exp.Mul(this=code.copy(), expression=code.copy())
            )
        )
        equal = exp.EQ(
            this=exp.Mul(this=members.copy(), expression=squares),
            expression=exp.Mul(this=added, expression=added.copy()),
        )
        costs = exp.Sub(this=_column(f"{name}_costs", "c"), expression=attribute.cost(level, "t"))
        case = case.when(equal, costs)
    last = exp.Mul(this=members.copy(), expression=_column(f"{attribute.coded.code_column(top)}_costs", "c"))
    return case.else_(last) if top else last


def refine_gains(
    movers: Relation,
    tuples: Relation,
    classes: Relation,
    attributes: Sequence[Climb],
    dialect: str,
    near: int | None = None,
    places: tuple[int, int] | None = None,
) -> str:
    """The query of the moves that gain: tuple (id) from its class to `target`, `gain` what all rows then cost less.

    The cost of a target that takes a tuple in is that of the top less, for every level that both share, what the
    level saves. `near`: only movers that save at most so much per row, the least that an attribute costs at its top;
    then no attribute of the target may rise to its top, and the target is found by equal codes below it.
    `places`: else, the movers from one place up to another, the last left out.
    """
    shared: list[exp.Expr] = []
    tops: list[exp.Expr] = []
    equals: list[exp.Expr] = []
    for attribute in attributes:
        top = attribute.coded.height
        tops.append(attribute.cost(top, "t"))
        for level in range(top):
            equal = exp.EQ(this=attribute.code(level, "d"), expression=attribute.code(level, "t"))
            saved = exp.Sub(this=attribute.cost(level + 1, "t"), expression=attribute.cost(level, "t"))
            shared.append(exp.Case().when(equal, saved).else_(_literal(0)))
        equals += [equal.copy()] if top and not attribute.free else []
    taken = exp.Paren(this=exp.Sub(this=_sum(tops), expression=exp.Paren(this=_sum(shared))))
    together = exp.Paren(this=exp.Add(this=_column("n", "d"), expression=_column("own", "m")))
    after = exp.Mul(this=together, expression=taken)
    before = exp.Mul(this=_column("n", "d"), expression=_column("cost", "d"))
    gain = exp.Add(this=exp.Sub(this=_column("most", "m"), expression=after), expression=before)
    columns: list[exp.Expr] = [_column(name, "m") for name in ("id", "own", "class")]
    columns += [exp.alias_(_column("class", "d"), "target"), exp.alias_(gain, "gain")]
    # A class costs no less with one tuple more, so the tuple itself would cost at least what its new class does.
    least = exp.Mul(this=_column("cost", "d"), expression=_column("own", "m"))
    conditions: list[exp.Expr] = [
        *(equals if near is not None else []),
        exp.NEQ(this=_column("class", "d"), expression=_column("class", "m")),
        exp.LT(this=least, expression=_column("most", "m")),
        exp.Paren(this=exp.Or(this=_column("dirty", "m"), expression=_column("dirty", "d"))),
    ]
    query = exp.select(*columns).from_(_table(movers, "m"))
    query = query.join(_table(tuples, "t"), on=exp.EQ(this=_column("id", "t"), expression=_column("id", "m")))
    query = query.join(_table(classes, "d"), on=exp.and_(*conditions)).where(*_movers(near, places))
    pairs = exp.select("id", "own", "class", "target", "gain").from_(query.subquery("pairs"))
    return _print(pairs.where(exp.GT(this=_column("gain"), expression=_literal(0))), dialect)


def _movers(near: int | None, places: tuple[int, int] | None) -> list[exp.Expr]:
    if near is not None:
        most = exp.Mul(this=_column("own", "m"), expression=_literal(near))
        return [exp.LTE(this=_column("most", "m"), expression=most)]
    first, end = places or (1, 1)
    place = _column("place", "m")
    return [exp.GTE(this=place, expression=_literal(first)), exp.LT(this=place.copy(), expression=_literal(end))]


def _sum(terms: Sequence[exp.Expr]) -> exp.Expr:
    copies = [term.copy() for term in terms] or [_literal(0)]
    return reduce(lambda total, term: exp.Add(this=total, expression=term), copies)


def _row_number(keys: Sequence[exp.Expr]) -> exp.Expr:
    return exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[key.copy() for key in keys]))


def _bigint() -> exp.DataType:
    return exp.DataType.build("BIGINT")
