"""The queries of a mapping table computed in SQL by the rules of a recipe, for columns with many values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from kanon_sql.generalization.label_rules import Rule
from kanon_sql.queries import tree as t
from kanon_sql.queries.coding import Coded
from kanon_sql.queries.rule_labels import ruled
from kanon_sql.relation import Relation


def labelled(values: Relation, rules: Sequence[Rule], kind: str, dialect: str) -> str:
    """The query of the values (value, code_0) with their labels by the rules of the levels from 1 on."""
    query = exp.select(t.column("value"), t.column("code_0")).from_(t.table(values))
    for level, rule in enumerate(rules, start=1):
        query = query.select(exp.alias_(ruled(rule, t.column("value"), kind), f"label_{level}", quoted=True))
    return t.printed(query, dialect)


_NUMBERS = {
    "date": "CAST(CAST(m.value AS DATE) - CAST('1970-01-01' AS DATE) AS DOUBLE PRECISION)",
    "timestamp": "EXTRACT(EPOCH FROM CAST(m.value AS TIMESTAMP))",
    "": "CAST(NULL AS DOUBLE PRECISION)",
}


def order(coded: Coded, leaf_count: int, nulls_first: bool, kind: str, place: str, labels: bool, dialect: str) -> str:
    """The query of an attribute's order (see `kanon_sql.recode.order`) from a mapping table with the values in order.

    `nulls_first`: NULL, which has the last code, has the first position. `kind`: of the numbers, empty for values
    without any. `place`: the type of positions. `labels`: with `label_l` and `first_l`.
    """
    position: exp.Expr = t.column("code_0", "m")
    if nulls_first:
        position = exp.Case().when(t.is_null(t.column("value", "m")), t.literal(0)).else_(position + 1)
    position = t.cast_in_words(position, place)
    number = t.expression(_NUMBERS.get(kind, "CAST(m.value AS DOUBLE PRECISION)"))
    columns = {"position": position, "number": number, "value": t.column("value", "m"), "starred": exp.false()}
    query = exp.select().from_(t.table(coded.mapping, "m"), copy=False)
    for level in range(coded.height + 1):
        code, leaves = t.column(f"code_{level}", "m"), t.literal(leaf_count if level == coded.height else 1)
        columns[f"code_{level}"] = code
        columns[f"leaves_{level}"] = t.column(f"loss_{level}", "m") + 1 if level in coded.loss_levels else leaves
        if labels:
            mapping = coded.mapping
            firsts = t.tree("mappings/first_positions", code=[code.name], position=position, mapping=mapping)
            query.join(firsts.subquery(f"f{level}"), on=t.column("code", f"f{level}").eq(code), copy=False)
            columns[f"first_{level}"] = t.column("first", f"f{level}")
        if labels and level:
            columns[f"label_{level}"] = t.column(f"label_{level}", "m")
    return t.printed(query.select(*(exp.alias_(of, name, quoted=True) for name, of in columns.items())), dialect)


def mapping(
    values: Relation,
    levels: Sequence[Relation],
    top: str,
    loss_levels: Sequence[int],
    types: Mapping[str, str],
    nulls: Mapping[str, int | str | None] | None,
    dialect: str,
) -> str:
    """The query of a mapping table: value, code_0 … code_h, label_1 … label_h, loss_l of some levels.

    `values`: the result of `labelled`; `levels`: the results of `mappings/level_labels` for the levels below the top;
    `types`: of the codes and losses, in the engine's words; `nulls`: the row of NULL.
    """
    height = len(levels) + 1
    columns: dict[str, exp.Expr] = {"value": t.column("value", "v"), "code_0": t.column("code_0", "v")}
    columns |= {f"code_{level}": t.column("code", f"l{level}") for level in range(1, height)}
    columns |= {f"code_{height}": exp.Literal.number(0)}
    columns |= {f"label_{level}": t.column(f"label_{level}", "v") for level in range(1, height)}
    columns |= {f"label_{height}": exp.Literal.string(top)}
    for level in loss_levels:
        columns[f"loss_{level}"] = t.column("leaves", f"l{level}") - 1
    typed = {name: t.cast_in_words(of, types[name]) if name in types else of for name, of in columns.items()}
    query = exp.select(*(exp.alias_(of, name, quoted=True) for name, of in typed.items())).from_(t.table(values, "v"))
    for level, relation in enumerate(levels, start=1):
        same = t.column("label", f"l{level}").eq(t.column(f"label_{level}", "v"))
        query = query.join(t.table(relation, f"l{level}"), on=same)
    printed = t.printed(query, dialect)
    if nulls is None:
        return printed
    row = exp.select(*(exp.alias_(t.literal(nulls.get(name)), name, quoted=True) for name in columns))
    return t.union_all([printed, t.printed(row, dialect)])
