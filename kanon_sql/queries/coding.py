"""The coding of the distinct tuples: the query of the frequency set."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.split_joins import MOST_JOINS, in_pieces
from kanon_sql.relation import Relation


@dataclass(frozen=True)
class Coded:
    """An attribute whose raw values a mapping table turns into codes: columns value, code_l, label_l, loss_l.

    `nulls`: the codes, labels and losses of NULL, by column of the mapping table; None if the data have no NULL.
    `loss_levels`: the levels whose loss depends on the value, so that they need a column. `by_rules`: the engine built
    the table, with codes in the order of the values, NULL last; labels in Python would have to be built first.
    """

    stem: str
    mapping: Relation
    height: int
    loss_levels: tuple[int, ...]
    nulls: Mapping[str, int | str | None] | None = None
    by_rules: bool = False

    def code_column(self, level: int) -> str:
        """The frequency set's column of this attribute's codes on a level."""
        return f"{self.stem}_{level}"

    def loss_column(self, level: int) -> str:
        """The frequency set's column of n * (leaves under the label - 1)."""
        return f"{self.stem}_{level}_loss"


class CodedColumn(Coded):
    """A column without a hierarchy, whose codes get its name."""

    def code_column(self, _level: int) -> str:
        return self.stem


def tuples(
    columns: Mapping[str, str],
    sensitive: Mapping[str, str],
    source: Relation,
    dialect: str,
    compared: Sequence[str] = (),
    counted_by: str | None = None,
) -> str:
    """The query that counts the distinct tuples of some columns, with the codes of their sensitive values.

    Both mappings: the column of the source by its new name. A sensitive value's code is its rank, as the engine of the
    source orders values, so that equal values have the same code and NULL has one too.
    For those in `compared` the values are also selected, under the name `raw_column`. `counted_by`: the column with
    the number of rows that a row represents.
    """
    if counted_by is None:
        query = t.tree("frequency_sets/tuples", columns=columns, source=source)
    else:
        query = t.tree("frequency_sets/counted_tuples", columns=columns, rows=[counted_by], source=source)
    assert isinstance(query, exp.Select)
    for name, column in sensitive.items():
        rank = exp.Window(this=exp.DenseRank(), order=exp.Order(expressions=[exp.Ordered(this=t.column(column))]))
        query = query.select(exp.alias_(exp.cast(rank, "INTEGER"), name, quoted=True)).group_by(t.column(column))
        if name in compared:
            query = query.select(exp.alias_(t.column(column), raw_column(name), quoted=True))
    return t.printed(query, dialect)


def raw_column(name: str) -> str:
    """The tuples' column of the values whose codes are in another column of theirs."""
    return f"_raw{name}"


def frequency_set(
    tuples: Relation,
    attributes: Sequence[Coded],
    dialect: str,
    sensitive: Sequence[str] = (),
    loss_types: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The query that codes the distinct tuples: one integer column per attribute and level, losses, and n.

    `loss_types`: the engine's types of the losses, by the stems of attributes; otherwise those of n.
    """
    return _coded(t.table(tuples, "t"), attributes, dialect, sensitive, loss_types)


def coded_tuples(
    relation: Relation, columns: Mapping[str, str], attributes: Sequence[CodedColumn], dialect: str
) -> str:
    """The query that counts the distinct tuples of a relation as codes: one integer column per attribute, and n.

    `columns`: of the relation, by the stems of the attributes.
    """
    if len(attributes) > MOST_JOINS:
        tuples = t.tree("kinds/cells", columns=columns, relation=relation)
        assert isinstance(tuples, exp.Select)
        return _coded(tuples.subquery("t"), attributes, dialect)
    # Codes before counting: integers take half as long to group as texts and dates.
    coded = _coded_rows(t.tree("frequency_sets/copy", columns=columns, source=relation), attributes)
    codes = [t.column(attribute.stem, "r") for attribute in attributes]
    counted = exp.select(*codes, exp.alias_(exp.Count(this=exp.Star()), "n")).from_(coded.subquery("r"), copy=False)
    return t.printed(counted.group_by(*(code.copy() for code in codes)), dialect)


def _coded(
    tuples: exp.Expr,
    attributes: Sequence[Coded],
    dialect: str,
    kept: Sequence[str] = (),
    loss_types: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The query of the codes, losses and `kept` columns of tuples with the alias t."""
    n = exp.column("n", table="t")
    columns: list[exp.Expr] = [t.column(name, "t") for name in kept]
    for index, attribute in enumerate(attributes):
        alias, raw = f"m{index}", t.column(attribute.stem, "t")
        for level in range(attribute.height + 1):
            code = mapped(attribute, raw, alias, f"code_{level}")
            columns.append(exp.alias_(code, attribute.code_column(level), quoted=True))
        for level in attribute.loss_levels:
            loss: exp.Expr = n * mapped(attribute, raw, alias, f"loss_{level}")
            if attribute.stem in loss_types:
                loss = t.cast_in_words(loss, loss_types[attribute.stem])
            columns.append(exp.alias_(loss, attribute.loss_column(level), quoted=True))
    query = exp.select(*columns, n).from_(tuples, copy=False)
    for index, attribute in enumerate(attributes):
        query = join_mapping(query, attribute, t.column(attribute.stem, "t"), f"m{index}")
    return t.printed(in_pieces(query, [f"m{index}" for index in range(len(attributes))]), dialect)


def coded_cells(table: Relation, cells: Mapping[str, str], attributes: Sequence[Coded], dialect: str) -> str:
    """The query of a table's rows as the codes of their cells as text: a column per attribute.

    `cells`: the columns by the attributes' stems. Every attribute has one level.
    """
    query = _coded_rows(t.tree("utility/texts", table=table, cells=cells), attributes)
    return t.printed(in_pieces(query, [f"m{index}" for index in range(len(attributes))]), dialect)


def numbered_codes(table: Relation, attributes: Sequence[CodedColumn], dialect: str) -> str:
    """The query of a table's rows with their row_id and the codes of the columns with the attributes' names."""
    names = ["row_id", *(attribute.stem for attribute in attributes)]
    query = _coded_rows(t.tree("frequency_sets/copy", columns=names, source=table), attributes)
    query.select(t.column("row_id", "t"), copy=False)
    return t.printed(in_pieces(query, [f"m{index}" for index in range(len(attributes))]), dialect)


def _coded_rows(rows: exp.Query, attributes: Sequence[Coded]) -> exp.Select:
    """The rows of a query as codes on level 0."""
    query = exp.select().from_(rows.subquery("t"), copy=False)
    for index, attribute in enumerate(attributes):
        raw, alias = t.column(attribute.stem, "t"), f"m{index}"
        query.select(_as(mapped(attribute, raw, alias, "code_0"), attribute.code_column(0)), copy=False)
        query = join_mapping(query, attribute, raw, alias)
    return query


def packed(
    frequency_set: Relation,
    bits: Relation,
    keys: Mapping[str, Mapping[int, str]],
    columns: Sequence[str],
    dialect: str,
) -> str:
    """The query of a frequency set with the bits of attributes' codes added up to numbers, and some columns of it.

    `bits`: columns attribute, code, bits. `keys`: by the number's name the attributes and the columns of their codes.
    """
    query = exp.select(*(t.column(name, "f") for name in columns)).from_(t.table(frequency_set, "f"))
    aliases = []
    for key, attributes in keys.items():
        number: list[exp.Expr] = [exp.column("bits", f"b{j}") for j in attributes]
        query.select(_as(exp.cast(reduce(operator.add, number), "BIGINT"), key), copy=False)
        for j, code in attributes.items():
            alias = f"b{j}"
            of_attribute = exp.column("attribute", alias).eq(j)
            same = exp.column("code", alias).eq(t.column(code, "f"))
            query.join(t.table(bits, alias), on=exp.and_(of_attribute, same), copy=False)
            aliases.append(alias)
    return t.printed(in_pieces(query, aliases), dialect)


def with_population(
    frequency_set: Relation,
    population: Relation,
    levels: Sequence[str],
    losses: Sequence[str],
    sensitive: Sequence[str],
    dialect: str,
    unit: str | None = None,
) -> str:
    """The query of the coded tuples of a table and its population: n of the table, `population` of its population.

    Columns that only the table has are NULL for the population; `unit`: the column of the population's people, NULL
    for the table.
    """
    zero, null = exp.Literal.number(0), exp.null()
    people = [unit] if unit else []
    counted = [t.column(name, "f") for name in (*levels, *losses, *sensitive)]
    own = exp.select(*counted, *(_as(null, name) for name in people), exp.column("n", "f"), _as(zero, "population"))
    nothing = [*(_as(zero, name) for name in losses), *(_as(null, name) for name in sensitive)]
    added = [*(t.column(name, "p") for name in people), _as(zero, "n"), _as(exp.column("n", "p"), "population")]
    others = exp.select(*(t.column(name, "p") for name in levels), *nothing, *added)
    of_table, of_population = own.from_(t.table(frequency_set, "f")), others.from_(t.table(population, "p"))
    return t.printed(exp.union(of_table, of_population, distinct=False), dialect)


def _as(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(expression.copy(), name, quoted=True)


def mapped(attribute: Coded, raw: exp.Expr, alias: str, column: str) -> exp.Expr:
    """A column of the mapping table, with the value for NULL."""
    mapped = t.column(column, alias)
    if attribute.nulls is None:
        return mapped
    return exp.Case().when(t.is_null(raw), t.literal(attribute.nulls[column])).else_(mapped)


def join_mapping(query: exp.Select, attribute: Coded, raw: exp.Expr, alias: str) -> exp.Select:
    """The query with a mapping table joined by a raw value."""
    # NULL never joins, and IS NOT DISTINCT FROM would forbid PostgreSQL a hash join.
    equal = t.column("value", alias).eq(raw)
    kind = "INNER" if attribute.nulls is None else "LEFT"
    return query.join(t.table(attribute.mapping, alias), on=equal, join_type=kind, copy=False)
