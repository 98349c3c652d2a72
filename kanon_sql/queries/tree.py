"""Fills the queries of `sql/` and prints them in an engine's dialect; only this package imports sqlglot.

A file of `sql/` contains the queries of one subject, headed by lines `-- name: <query>`, and called "subject/query".
They are parsed once. Their holes, `$name`, have five kinds: a value (a number or text), columns (a list of names, or
new names for old ones), a predicate (our own SQL with value holes), a relation (or a query, or an expression, as a
tree), and a comparison of two rows (the cost of their difference, or whether they are equal).
Holes are filled in the syntax tree, so a name or value cannot break out of its place, whatever its text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import sqlglot
from sqlglot import exp

from kanon_sql.errors import SpecError
from kanon_sql.privacy import Predicate
from kanon_sql.queries.class_values import CountedColumn, follows_order, is_value_figure, units
from kanon_sql.queries.classes import ClassAggregates, is_largest
from kanon_sql.relation import Relation
from kanon_sql.resources import folder

_SCRATCH = "kanon scratch"
_SCRATCH_SCHEMAS: dict[str, str | None] = {"duckdb": "temp", "postgres": "pg_temp", "spark": None}
_COLLATED = ("duckdb", "postgres")  # engines whose texts can have individual collations
_BYTES = "C"
_MOST_CONDITIONS = 256  # the number of syntax trees to cache
_MOST_NAMES = 4096  # the number of printed names to cache
_MOST_PRINTED = 512  # the number of printed queries to cache
_FEW_NAMES = 24  # in queries that are cached: others have hundreds, and are printed once


def scratch(name: str) -> Relation:
    """A temporary table of ours: never a user's table of the same name, in any engine.

    >>> text("frequency_sets/row_count", "postgres", relation=scratch("kanon_tuples"))
    'SELECT COUNT(*) AS rows FROM "pg_temp"."kanon_tuples" AS r'
    """
    return Relation(_SCRATCH, name)


def parts(relation: Relation, dialect: str) -> tuple[str, ...]:
    """A relation's name in an engine, for the driver's own quoting."""
    named_parts = (_SCRATCH_SCHEMAS[dialect] if part == _SCRATCH else part for part in relation.parts)
    return tuple(part for part in named_parts if part is not None)


@dataclass(frozen=True)
class Steps:
    """The total cost of the columns in which two rows, by their aliases, differ; or in which a single row is negative.

    Whole numbers with a sum below 2^24 are exact in the 4-byte floats used.
    """

    costs: Mapping[str, int]
    left: str
    right: str | None = None


@dataclass(frozen=True)
class Same:
    """The condition that two rows, by their aliases, are equal in some columns; NULL equals NULL.

    `has_nulls`: whether there is any NULL; PostgreSQL joins by a hash only without.
    """

    names: Sequence[str]
    left: str
    right: str
    has_nulls: bool = True


Bits = tuple[str, int | None]
"""A column, and a mask for its bits; None for all of them."""


def unmasked(columns: Iterable[str]) -> dict[str, Bits]:
    """Columns with all their bits, under their own names."""
    return {name: (name, None) for name in columns}


@dataclass(frozen=True)
class Masked:
    """A relation with masked columns, by their new names, for `per_node`."""

    relation: Relation
    columns: Mapping[str, Bits]

    def text(self, dialect: str) -> str:
        """The query as text, formatted directly rather than printed from a tree: every node needs one."""
        return f"SELECT {', '.join(_of_bits(self.columns, dialect))} FROM {named(self.relation, dialect)} AS f"


@dataclass(frozen=True)
class Crossed:
    """A relation with its rows repeated for several nodes, for `per_node`.

    Its columns are the node's number, the bits that the node selects, and others by their new names.
    """

    relation: Relation
    masks: Mapping[int, Mapping[str, int]]
    others: Mapping[str, Bits]

    @property
    def names(self) -> list[str]:
        """The columns that a node has a mask for."""
        return list(dict.fromkeys(name for masks in self.masks.values() for name in masks))

    def text(self, dialect: str) -> str:
        """The query as text, formatted directly rather than printed from a tree, because there are many of them."""
        names = [_plain(name, dialect) for name in self.names]
        rows = ([node, *(masks.get(name, 0) for name in self.names)] for node, masks in self.masks.items())
        numbers = ("(" + ", ".join(map(str, row)) + ")" for row in rows)
        bits = [f"f.{name} & m.{name} AS {name}" for name in names]
        others = [f"f.{column}" for column in _of_bits(self.others, dialect)]
        return (
            f"SELECT {', '.join(['m.node', *bits, *others])} FROM {named(self.relation, dialect)} AS f "
            f"CROSS JOIN (VALUES {', '.join(numbers)}) AS m({', '.join(['node', *names])})"
        )


Columns = Sequence[str] | Mapping[str, str]
Hole = Relation | Predicate | Columns | Steps | Same | exp.Expr | str | int | float | None


def text(name: str, dialect: str, **holes: Hole) -> str:
    """Print a query of `sql/`, "subject/query", in `dialect`, its holes filled.

    >>> text("frequency_sets/row_count", "postgres", relation=Relation("public", 'odd "name"'))
    'SELECT COUNT(*) AS rows FROM "public"."odd ""name\""" AS r'
    """
    names = sum(len(filling) for filling in holes.values() if isinstance(filling, _COLUMNS))
    if names > _FEW_NAMES or not all(map(_can_be_marked, holes.values())):
        return printed(tree(name, dialect, **holes), dialect)
    marks = _Marks()
    marked = {hole: marks.mark(filling) for hole, filling in holes.items()}
    key = name, dialect, repr(marked)  # `repr` differs for 1, 1.0 and TRUE
    if key not in _PRINTED:
        if len(_PRINTED) >= _MOST_PRINTED:
            _PRINTED.clear()
        _PRINTED[key] = _MARKED.split(printed(tree(name, dialect, **marked), dialect))
    return marks.fill(_PRINTED[key], dialect)


def _can_be_marked(filling: Hole) -> bool:
    """Whether a filling is of names, numbers, TRUE, FALSE or NULL; negative numbers are printed in several ways."""
    if isinstance(filling, (int, float)):
        return 0 <= filling < math.inf
    return filling is None or isinstance(filling, (Relation, Mapping, list, tuple))


class _Marks:
    """Marks in place of names and numbers, so that a query is printed once for all columns of a wide table.

    They depend only on the order and the equality of names: a column can be selected under its own name.
    """

    def __init__(self) -> None:
        self._places: dict[str | Relation, int] = {}
        self._numbers: list[int | float] = []

    def mark(self, filling: Hole) -> Hole:
        """The same kind of filling, with marks."""
        if isinstance(filling, Relation):
            return Relation(self._name(filling))
        if isinstance(filling, Mapping):
            return {self._name(name): self._name(of) for name, of in filling.items()}
        if isinstance(filling, (list, tuple)):
            return [self._name(name) for name in filling]
        if isinstance(filling, (int, float)) and not isinstance(filling, bool):
            self._numbers.append(filling)
            number = _NUMBER_MARK + len(self._numbers) - 1
            return number if isinstance(filling, int) else number + 0.5
        return filling

    def fill(self, pieces: Sequence[str | None], dialect: str) -> str:
        """The text of a query that was split at its marks: text, place of a name or None, place of a number or None."""
        names = [named(of, dialect) if isinstance(of, Relation) else identifier(of, dialect) for of in self._places]
        texts = list(pieces)
        texts[1::3] = [place and names[int(place)] for place in pieces[1::3]]
        texts[2::3] = [place and str(self._numbers[int(place)]) for place in pieces[2::3]]
        return "".join(filter(None, texts))

    def _name(self, name: str | Relation) -> str:
        return f"kanon_mark_{self._places.setdefault(name, len(self._places))}"


def tree(name: str, dialect: str = "", **holes: Hole) -> exp.Query:
    """A query of `sql/` with its holes filled, to use as a part of another; `dialect`: if it has conditions."""
    filled = _fill(_template(name), holes, _has_lists(dialect))
    assert isinstance(filled, exp.Query)
    return filled


def repeated_text(name: str, dialect: str, repeated: Sequence[Mapping[str, Hole]], **holes: Hole) -> str:
    """Print a query in which some holes are filled several times, such as a condition for every model.

    `repeated`: one mapping of these holes per time. The selected items that depend on the holes are repeated with a
    number: `$safe AS safe` becomes `$safe_0 AS safe_0, $safe_1 AS safe_1`, and so does what reads the column `safe`.
    """
    template = _template(name).copy()
    for select in template.find_all(exp.Select):
        items = []
        for item in select.expressions:
            names = {part.name for part in item.find_all(exp.Placeholder, exp.Column)} & repeated[0].keys()
            items += [_numbered(item, number, names) for number in range(len(repeated))] if names else [item]
        select.set("expressions", items)
    for number, fillings in enumerate(repeated):
        holes |= {f"{hole}_{number}": filling for hole, filling in fillings.items()}
    return printed(_fill(template, holes, _has_lists(dialect)), dialect)


def _numbered(item: exp.Expr, number: int, names: Collection[str]) -> exp.Expr:
    """A selected item with a number after these names of holes and columns, and after its own alias."""
    copy = exp.alias_(item.unalias().copy(), f"{item.alias}_{number}")
    for part in list(copy.find_all(exp.Placeholder, exp.Column)):
        if part.name in names:
            new = f"{part.name}_{number}"
            part.set("this", new if isinstance(part, exp.Placeholder) else exp.to_identifier(new))
    return copy


def with_condition(query: exp.Select, condition: Predicate, dialect: str) -> exp.Select:
    """A query of classes, those that meet a condition: `HAVING COALESCE($condition, FALSE)`."""
    meets = exp.func("COALESCE", exp.Placeholder(this="condition"), exp.false())
    filled = _fill(query.having(meets), {"condition": condition}, _has_lists(dialect))
    assert isinstance(filled, exp.Select)
    return filled


PerNode = Callable[[int, Relation | Masked | Crossed, Iterable[str]], str]


def per_node(name: str, dialect: str, **holes: Hole) -> PerNode:
    """Fill a query's holes but `$node`, `$frequency_set` and `$levels`; return a function that fills these.

    `holes` may fill `$levels`, too. A tree is filled and printed only once. The level columns must have plain names
    (letters, digits, underscores).

    >>> query = per_node("node_tests/released_classes", "duckdb", safe=Predicate("SUM(n) >= 2"))
    >>> query(0, Relation("f"), ["age_1", "zip_0"])
    'SELECT "age_1", "zip_0" FROM "f" AS f GROUP BY "age_1", "zip_0" HAVING COALESCE(SUM(n) >= 2, FALSE)'
    """
    marks: dict[str, Hole] = {"node": _NODE_MARK, "levels": [_MARK]}
    found = {hole.name for hole in _template(name).find_all(exp.Placeholder)}
    marked = {hole: mark for hole, mark in marks.items() if hole in found} | holes
    printed = text(name, dialect, **marked, frequency_set=Relation(_RELATION_MARK))
    printed = printed.replace(identifier(_RELATION_MARK, dialect), _RELATION_MARK)
    mark = identifier(_MARK, dialect)
    # A qualifier before a mark is repeated for all columns; the longest first, because one may end like another.
    qualifiers = sorted(set(re.findall(rf"((?:\w+\.)?){re.escape(mark)}", printed)), key=len, reverse=True)

    def fill(node: int, relation: Relation | Masked | Crossed, names: Iterable[str]) -> str:
        plain = [_plain(name, dialect) for name in names]
        source = named(relation, dialect) if isinstance(relation, Relation) else f"({relation.text(dialect)})"
        filled = printed
        for qualifier in qualifiers:
            filled = filled.replace(f"{qualifier}{mark}", ", ".join(f"{qualifier}{name}" for name in plain))
        return filled.replace(_RELATION_MARK, source).replace(_NODE_MARK_TEXT, str(node))

    return fill


def expression(text: str, /, **holes: Hole) -> exp.Expr:
    """An expression of ours with its holes filled, of which it may lack some.

    >>> expression("$value * $times", value=exp.column("age"), times=2).sql()
    'age * 2'
    """
    return _filled(_condition(text), holes)


def sentence(name: str) -> str:
    """The first line of a query's comment in `sql/`.

    >>> sentence("frequency_sets/row_count")
    'Count the rows of a relation, to compare the frequency set and the release with it.'
    """
    subject, query = name.split("/")
    return queries_of(subject)[query].splitlines()[0].removeprefix("-- ")


def pretty(sql: str, dialect: str) -> str:
    """A statement of ours formatted over several lines, for people to read."""
    return sqlglot.parse_one(sql, dialect).sql(dialect=dialect, pretty=True)


def union_all(queries: Sequence[str], of: Mapping[str, str] | None = None) -> str:
    """Combine complete queries of the same columns into one statement; `of`: queries by names that these read them by.

    >>> union_all(["SELECT n FROM few", "SELECT 2 * n FROM few"], {"few": "SELECT 1 AS n"})
    'WITH "few" AS MATERIALIZED (SELECT 1 AS n) SELECT n FROM few UNION ALL SELECT 2 * n FROM few'
    """
    named = ", ".join(f"{identifier(name, 'duckdb')} AS MATERIALIZED ({query})" for name, query in (of or {}).items())
    return (f"WITH {named} " if named else "") + " UNION ALL ".join(queries)


def union(queries: Sequence[exp.Query]) -> exp.Query:
    """Combine the rows of queries, as a tree that they become parts of."""
    return exp.union(*queries, distinct=False, copy=False) if len(queries) > 1 else queries[0]


def over(given: Predicate, window: str, rest_of: tuple[str, str] | None = None) -> Predicate:
    """A condition on a class as one on a window of rows named `window` in the query.

    `rest_of`: two windows whose difference these rows are, from which sums are computed: DuckDB takes twice as long for
    the sum of a frame that begins after the current row.

    >>> over(Predicate("SUM(n) >= $k", {"k": 5}), "left_side").text
    'SUM(n) OVER left_side >= 5'
    >>> over(Predicate("SUM(n) >= $k", {"k": 5}), "right_side", ("whole", "left_side")).text
    '(SUM(n) OVER whole - SUM(n) OVER left_side) >= 5'
    """
    tree = exp.Paren(this=predicate(given))  # a parent, so that a bare aggregate can be replaced like any other
    for aggregate in list(tree.find_all(exp.AggFunc)):
        if rest_of and isinstance(aggregate, exp.Sum):
            whole, before = (_windowed(aggregate, name) for name in rest_of)
            aggregate.replace(exp.paren(exp.Sub(this=whole, expression=before)))
        else:
            aggregate.replace(_windowed(aggregate, window))
    return Predicate(tree.this.sql("duckdb"))


def _windowed(aggregate: exp.Expr, window: str) -> exp.Window:
    return exp.Window(this=aggregate.copy(), alias=exp.to_identifier(window), over="OVER")


def is_null(expression: exp.Expr) -> exp.Expr:
    """Whether something is NULL."""
    return exp.Is(this=expression.copy(), expression=exp.null())


def predicate(given: Predicate, classes: ClassAggregates | None = None) -> exp.Expr:
    """A condition with its values and its aggregates filled in, combined with the conditions in `also`; or a figure.

    `classes`: have them compute the aggregates, and read these.
    """
    counted = _counted(given) if given.counted else None

    def read(text: str, name: str) -> exp.Expr:
        computed = _filled(_in_people(_condition(text), given), given.values)
        return classes.read(computed, counted, name) if classes else computed

    tree = exp.Paren(this=read(given.text, "figure"))  # a parent, so that a bare name can be replaced like any other
    for column in [column for column in tree.find_all(exp.Column) if column.name in given.columns]:
        named = read(given.columns[column.name], column.name)
        column.replace(named if isinstance(named, (exp.AggFunc, exp.Column)) else exp.paren(named))
    condition: exp.Expr = tree.this
    also = [predicate(another, classes) for another in given.also]
    if given.of_figures and also:
        return exp.func("GREATEST", condition, *also)
    return exp.and_(condition, *also) if also else condition


def _condition(text: str) -> exp.Expr:
    return _parsed_once(text).copy()


@lru_cache(_MOST_CONDITIONS)
def _parsed_once(text: str) -> exp.Expr:
    try:
        return sqlglot.parse_one(text, "duckdb")
    except sqlglot.errors.SqlglotError:
        raise SpecError(f"{text!r} is not a condition in SQL; write one such as rows >= $k") from None


def _in_people(condition: exp.Expr, given: Predicate) -> exp.Expr:
    """A condition that counts people instead of rows, where its units are people."""
    tree = exp.Paren(this=condition)  # a parent, as above
    for aggregate in list(tree.find_all(exp.Sum)):
        if given.unit and aggregate == _ROWS:
            aggregate.replace(units(given.unit))
        elif given.population_unit and aggregate == _POPULATION:
            aggregate.replace(units(given.population_unit))
    expression: exp.Expr = tree.this
    return expression


def _counts_values(filling: Hole) -> bool:
    """Whether a hole is filled with a condition that needs figures of the values of a column."""
    if not isinstance(filling, Predicate):
        return False
    names = re.findall(r"\w+", " ".join([filling.text, *filling.columns.values()]))
    return bool(filling.counted and any(map(is_value_figure, names))) or any(map(_counts_values, filling.also))


def _counted(given: Predicate) -> CountedColumn:
    assert given.counted
    reference = table(given.reference.relation) if given.reference else None
    every = follows_order(re.findall(r"\w+", " ".join(given.columns.values())))
    nullable = bool(given.reference and given.reference.nullable)
    return CountedColumn(given.counted, given.unit, every, reference, nullable, given.populated, given.of_kinds)


def _has_lists(dialect: str) -> bool:
    return dialect == "duckdb"


def over_classes(
    given: Predicate, weight: str | None = None, of_class: str = "of_class"
) -> tuple[Predicate, Predicate]:
    """Split an aggregate over classes into an aggregate of a column `of_class`, and the figure of a class in it.

    `weight`: the column with the number of classes that a row represents.

    >>> outer, inner = over_classes(Predicate("MAX(most / rows)", {}, {"most": "MAX(c)", "rows": "SUM(n)"}))
    >>> outer.text, inner.text
    ('MAX(of_class)', 'most / rows')
    """
    aggregate = _condition(given.text)
    if not isinstance(aggregate, (exp.Min, exp.Max, exp.Sum)):
        raise SpecError(f"{given.text!r} is not MIN, MAX or SUM over the classes; write one, such as MAX(most / rows)")
    inner = aggregate.this.sql("duckdb")
    figure: exp.Expr = exp.column(of_class)
    if weight and isinstance(aggregate, exp.Sum):
        figure = figure * exp.column(weight)
    aggregate.set("this", figure)
    return Predicate(aggregate.sql("duckdb")), replace(given, text=inner)


def check_condition(given: Predicate, population: bool = False) -> None:
    """SpecError if a condition uses anything but arithmetic and comparisons of the aggregates that it names.

    `population`: whether an aggregate may count a population's rows.
    """
    aggregates = [_condition(text) for text in given.columns.values()]
    rows = ["n", "population"] if population else ["n"]
    trees = [(_condition(given.text), [*given.columns]), *((aggregate, rows) for aggregate in aggregates)]
    for tree, names in trees:
        for part in tree.walk():
            of_value = names is rows and given.counted and isinstance(part, exp.Column) and is_value_figure(part.name)
            if isinstance(part, exp.Column) and (part.table or part.name not in names) and not of_value:
                may_use = sorted([*names, *(["c"] if names is rows and given.counted else [])])
                raise SpecError(f"{tree.sql()!r} uses {part.sql()!r}; it may use {', '.join(may_use)}")
            if isinstance(part, exp.Placeholder) and part.name not in given.values:
                raise SpecError(f"{tree.sql()!r} uses ${part.name}, which is not among the model's parameters")
            if not isinstance(part, _CONDITION) and not is_largest(part):
                raise SpecError(f"{tree.sql()!r} uses {part.sql()!r}, which a privacy model cannot contain")


_CONDITION = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Placeholder, exp.Boolean, exp.Null),
    *(exp.Binary, exp.Unary, exp.Between, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Cast, exp.DataType),
    *(exp.Sum, exp.Min, exp.Max, exp.Count, exp.Distinct, exp.Star),
    *(exp.Abs, exp.Exp, exp.Greatest, exp.Least, exp.Ln, exp.Log, exp.Pow, exp.Sqrt),
)


def is_not_null(expression: exp.Expr) -> exp.Expr:
    """Whether something is not NULL."""
    return exp.not_(is_null(expression))


def plain_names(columns: Sequence[str]) -> dict[str, str]:
    """Choose plain, short, distinct names for columns, for our own relations; the original name if it qualifies.

    >>> plain_names(["age", "marital-status", "n", "Prénom"])
    {'age': 'age', 'marital-status': 'marital_status', 'n': 'attribute2', 'Prénom': 'pr_nom'}
    """
    names: dict[str, str] = {}
    for index, column in enumerate(columns):
        stem = "".join(c if c.isascii() and c.isalnum() else "_" for c in column.lower()).strip("_")
        # A name equal to another column's original name could be mistaken for that column in a GROUP BY.
        taken = {other.lower() for other in columns if other != column} | set(names.values()) | _RESERVED
        while not (stem and stem[0].isalpha() and len(stem) <= 40) or stem in taken:
            stem = f"attribute{index}" if stem[:9] != "attribute" else f"{stem}x"
        names[column] = stem
    return names


_ROWS, _POPULATION = exp.Sum(this=exp.column("n")), exp.Sum(this=exp.column("population"))
_RESERVED = {"n", "rows", "size", "value", "safe", "node", "classes", "assignment", "content", "row_id", "group_id"}
_RESERVED |= {"key", "digest", "population"}
_RESERVED |= {  # our queries have these with a number at the end, as `place_0`, next to the columns of levels
    "after", "bits", "class", "cost", "first", "group", "high", "label", "last", "leaves", "level", "loss", "low",
    "next", "order", "place", "position", "shown", "spread", "sum", "upper", "lower", "values",
}  # fmt: skip
_MARK = "kanon_columns_here"
_RELATION_MARK = "kanon_relation_here"
_NODE_MARK = 918273645918273645
_NODE_MARK_TEXT = str(_NODE_MARK)
_NUMBER_MARK = 9182736000000
_MARKED = re.compile(r"[\"`]kanon_mark_(\d+)[\"`]|9182736(\d{6})(?:\.5)?")
_PRINTED: dict[tuple[str, str, str], list[str | None]] = {}
_COLUMNS = (Mapping, list, tuple)
_SOURCES = ("from_", "joins", "where", "laterals")
_LISTS = (exp.GroupingSets, exp.Select, exp.Group, exp.Order, exp.Array, exp.Window, exp.Tuple)


@cache
def queries_of(subject: str) -> dict[str, str]:
    """The queries of the file `sql/<subject>.sql` by name, with the comments under their names."""
    _, *queries = (folder("sql") / f"{subject}.sql").read_text(encoding="utf-8").split("\n-- name: ")
    return {name: query.strip() for name, _, query in (query.partition("\n") for query in queries)}


@cache
def _template(name: str) -> exp.Query:
    subject, query = name.split("/")
    lines = queries_of(subject)[query].splitlines()
    return parsed("\n".join(line for line in lines if not line.startswith("--")))


def parsed(query: str) -> exp.Query:
    """A query in DuckDB's words as a tree."""
    tree = sqlglot.parse_one(query, "duckdb")
    assert isinstance(tree, exp.Query)
    return tree


def _filled(expression: exp.Expr, holes: Mapping[str, Hole]) -> exp.Expr:
    tree = exp.Paren(this=expression)  # a parent, so that a bare hole can be replaced like any other
    found = {hole.name for hole in tree.find_all(exp.Placeholder)}
    filled: exp.Expr = _fill(tree, {name: filling for name, filling in holes.items() if name in found}).this
    return filled


def _fill(template: exp.Expr, holes: dict[str, Hole], has_lists: bool = False) -> exp.Expr:
    tree = template.copy()
    found = list(tree.find_all(exp.Placeholder))
    if {hole.name for hole in found} != set(holes):
        raise ValueError(f"holes {sorted({hole.name for hole in found})} filled with {sorted(holes)}")
    # Conditions on counted values last, together with the others of the same SELECT, whose keys and sums they need.
    of_values = [hole.parent_select for hole in found if _counts_values(holes[hole.name])]
    conditions: dict[int, list[tuple[exp.Expr, Predicate]]] = {id(select): [] for select in of_values}
    # Columns after other holes: their list item, with these in it, is copied for all columns.
    for hole in found:
        filling, select = holes[hole.name], id(hole.parent_select)
        if isinstance(filling, Predicate) and select in conditions:
            conditions[select].append((hole, filling))
        elif not isinstance(filling, _COLUMNS):
            _fill_one(hole, filling)
    while columns := [hole for hole in tree.find_all(exp.Placeholder) if isinstance(holes[hole.name], _COLUMNS)]:
        for hole in columns:
            if (
                hole.root() is tree
            ):  # otherwise it was in a list item that is replaced by copies, filled in the next pass
                _fill_one(hole, holes[hole.name])
    # The innermost SELECT first, because an outer one copies it.
    for of_select in sorted(conditions.values(), key=lambda of_select: -of_select[0][0].depth):
        _read_classes(of_select, has_lists)
    return tree


def _read_classes(conditions: Sequence[tuple[exp.Expr, Predicate]], has_lists: bool) -> None:
    """Have the SELECT of some conditions read its classes from a query that computes what the conditions need.

    SELECT f.age, SUM(f.n) AS size FROM t AS f GROUP BY f.age HAVING $safe
    SELECT f.age, _sum_0 AS size FROM (SELECT age, … FROM … GROUP BY age) AS f WHERE $safe
    """
    select = conditions[0][0].parent_select
    assert select is not None
    group, having, source = select.args.get("group"), select.args.get("having"), select.args["from_"].this
    keys = group.expressions if group else []
    if not all(isinstance(key, exp.Column) and key.table in ("", source.alias) for key in keys):
        raise ValueError(f"classes are grouped by {keys}; group by columns of the first relation")
    own = (aggregate for aggregate in select.find_all(exp.AggFunc) if aggregate.parent_select is select)
    aggregates, rows = [aggregate for aggregate in own if not isinstance(aggregate.parent, exp.Window)], exp.Select()
    for part in _SOURCES:
        rows.set(part, select.args.get(part))
        select.set(part, None)
    classes = ClassAggregates(rows, keys, has_lists)
    for aggregate in aggregates:
        aggregate.replace(classes.column(aggregate))
    for hole, condition in conditions:
        hole.replace(predicate(condition, classes))
    select.set("group", None)
    select.set("having", None)
    if having:
        select.set("where", exp.Where(this=having.this))
    select.from_(classes.query().subquery(source.alias or "classes", copy=False), copy=False)


def _fill_one(hole: exp.Expr, filling: Hole) -> None:
    if isinstance(filling, Relation):
        place = hole.parent if isinstance(hole.parent, exp.Table) else hole
        alias = place.args.get("alias")
        place.replace(table(filling, alias.name if alias else None))
    elif isinstance(filling, exp.Query):
        place = hole.find_ancestor(exp.Table) or hole
        place.replace(exp.Subquery(this=filling.copy(), alias=place.args.get("alias")))
    elif isinstance(filling, exp.Expr):
        nested = isinstance(filling, exp.Binary) and isinstance(hole.parent, exp.Binary)
        hole.replace(exp.paren(filling.copy()) if nested else filling.copy())
    elif isinstance(filling, Predicate):
        hole.replace(predicate(filling))
    elif isinstance(filling, Steps):
        hole.replace(_steps(filling))
    elif isinstance(filling, Same):
        is_equal = exp.NullSafeEQ if filling.has_nulls else exp.EQ
        equal = (is_equal(this=column(n, filling.left), expression=column(n, filling.right)) for n in filling.names)
        hole.replace(exp.and_(*equal) if filling.names else exp.true())
    elif isinstance(filling, Mapping):
        _repeat(hole, list(filling.items()))
    elif isinstance(filling, (list, tuple)):
        _repeat(hole, [(name, name) for name in filling])
    else:
        hole.replace(literal(filling))


def _repeat(hole: exp.Expr, columns: Sequence[tuple[str, str]]) -> None:
    """Repeat the list item around a columns hole for all columns: SUM($c) becomes SUM(a), SUM(b)."""
    item = hole
    while item.parent and not (item.arg_key in ("expressions", "partition_by") and isinstance(item.parent, _LISTS)):
        item = item.parent
    if item.parent is None:
        raise ValueError(f"the columns ${hole.name} are not in a list; select and name them in a subquery")
    selected = isinstance(item.parent, exp.Select)
    items = []
    for name, filling in columns:
        copy = exp.Paren(this=item.copy())  # a parent, so that a bare hole can be replaced like any other
        for same in [p for p in copy.find_all(exp.Placeholder) if p.name == hole.name]:
            same.replace(column(filling))
        filled = copy.this
        named = isinstance(filled, exp.Alias) or (isinstance(filled, exp.Column) and name == filling)
        items.append(exp.alias_(filled, name, quoted=True, copy=False) if selected and not named else filled)
    item.replace(items)


def _steps(steps: Steps) -> exp.Expr:
    # CASE, or anything with NULL, takes two to six times as long over millions of pairs.
    total: exp.Expr = exp.cast(exp.Literal.number(0), "FLOAT")
    for name, cost in steps.costs.items():
        left = column(name, steps.left)
        if steps.right is None:
            differs: exp.Expr = left < 0
        else:
            differs = left.neq(column(name, steps.right))
        total += exp.cast(differs, "FLOAT") * exp.cast(literal(cost), "FLOAT")
    return exp.paren(total)


def printed(tree: exp.Expr, dialect: str, **options: Any) -> str:
    """Print a tree as text, with sqlglot's options; the tree is changed, so it cannot be used afterwards.

    Resolves the engine's schema for scratch tables.
    """
    if dialect not in _COLLATED:
        for text in list(tree.find_all(exp.Collate)):
            text.replace(text.this)
    if dialect == "spark":  # it has no MATERIALIZED
        for cte in tree.find_all(exp.CTE):
            cte.set("materialized", None)
        for sets in tree.find_all(exp.GroupingSets):  # Sail requires parentheses
            sets.set(
                "expressions",
                [
                    expression if isinstance(expression, exp.Tuple) else exp.paren(expression)
                    for expression in sets.expressions
                ],
            )
        for window in tree.find_all(exp.Window):  # ROW_NUMBER requires an order
            if isinstance(window.this, exp.RowNumber) and not window.args.get("order"):
                window.set("order", exp.Order(expressions=[exp.Ordered(this=exp.null(), nulls_first=True)]))
    for named in tree.find_all(exp.Table):
        if named.db == _SCRATCH:
            schema = _SCRATCH_SCHEMAS[dialect]
            named.set("db", exp.to_identifier(schema, quoted=True) if schema else None)
    return tree.sql(dialect=dialect, comments=False, copy=False, **options)


def in_bytes(text: exp.Expr) -> exp.Expr:
    """A text compared by its bytes, whatever its collation: texts of two collations cannot be combined."""
    return exp.Collate(this=text, expression=exp.to_identifier(_BYTES, quoted=True))


def fenced(query: exp.Select, dialect: str) -> exp.Select:
    """A query that is planned separately, where PostgreSQL's planner would move joins into or out of it badly."""
    return query.offset(0, copy=False) if dialect == "postgres" else query


def table(relation: Relation, alias: str | None = None) -> exp.Table:
    """A relation to select from."""
    *path, name = (exp.to_identifier(part, quoted=True) for part in relation.parts)
    schema = path[-1] if path else None
    catalog = path[-2] if len(path) > 1 else None
    named = exp.Table(this=name, db=schema, catalog=catalog)
    if alias:
        named.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return named


@cache
def is_scratch(relation: Relation) -> bool:
    """Whether a relation is one of ours that ends with the session."""
    return relation.parts[0] == _SCRATCH


@lru_cache(_MOST_NAMES)
def named(relation: Relation, dialect: str) -> str:
    """A relation's name as text."""
    return printed(table(relation), dialect)


def type_in_words(words: str) -> exp.DataType:
    """A type in the engine's own words, which are printed unchanged."""
    return exp.DataType(this=exp.DType.USERDEFINED, kind=words)


def cast_in_words(value: exp.Expr, words: str) -> exp.Cast:
    """A value cast to a type in the engine's own words."""
    return exp.Cast(this=value, to=type_in_words(words))


def cast_to(value: exp.Expr, type_name: str) -> exp.Cast:
    """A value cast to a type of that name, such as an ENUM (DuckDB)."""
    return cast_in_words(value, identifier(type_name, "duckdb"))


def column(name: str, table: str | None = None) -> exp.Column:
    """A column, qualified by a table's alias if given."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table, copy=False)


def literal(value: object) -> exp.Expr:
    """A number, text, date, NULL, …"""
    return exp.convert(value)


def opened(expression: exp.Expr, type_name: str | None) -> exp.Expr:
    """An expression cast to a type of DuckDB's, if one is given."""
    return expression if type_name is None else exp.cast(expression, exp.DataType.build(type_name, dialect="duckdb"))


def typed(text: str, type_name: str, dialect: str) -> exp.Expr:
    """A text as a value of a type, by the engine's name of the type."""
    return exp.cast(exp.Literal.string(text), exp.DataType.build(type_name, dialect=dialect, udt=True))


def _of_bits(columns: Mapping[str, Bits], dialect: str) -> Iterable[str]:
    for name, (of, mask) in columns.items():
        bits = _plain(of, dialect) if mask is None else f"{_plain(of, dialect)} & {mask}"
        yield _plain(name, dialect) if (name, mask) == (of, None) else f"{bits} AS {_plain(name, dialect)}"


@cache
def _plain(name: str, dialect: str) -> str:
    if not (name.isascii() and name.replace("_", "a").isalnum()):
        raise ValueError(f"not a plain column name: {name!r}")
    return identifier(name, dialect)


def quoted(value: object, dialect: str) -> str:
    """A text or number as a literal."""
    return printed(literal(value), dialect)


@cache
def identifier(name: str, dialect: str) -> str:
    """A name in quotes."""
    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)
