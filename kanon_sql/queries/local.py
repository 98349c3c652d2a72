"""The queries of local recodings: tuples, the cells that cover them, and the classes that they are assigned to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.split_joins import in_pieces
from kanon_sql.relation import Relation


def regions(relation: Relation, last: Sequence[int], dialect: str) -> str:
    """The query of the regions that classes were cut to, one row per class: class, low_0, high_0, low_1, …

    `relation`: class, attribute, low, high (NULL: to the end). `last`: each attribute's last position.
    """
    group = t.column("class")
    query = exp.select(group).from_(t.table(relation), copy=False).group_by(group.copy(), copy=False)
    for j, end in enumerate(last):
        is_j = t.column("attribute").eq(t.literal(j))
        for side, most in (("low", 0), ("high", end)):
            largest = exp.func("MAX", exp.Case().when(is_j.copy(), t.column(side)))
            cut = exp.func("COALESCE", largest, t.literal(most))
            query = query.select(exp.alias_(cut, f"{side}_{j}", quoted=True), copy=False)
    return t.printed(query, dialect)


_SHOWN = ("label", "leaves", "level")


def labelled(
    tuples: Relation,
    recoded: Relation,
    nodes: Relation,
    labels: Relation,
    levels: Sequence[Sequence[str]],
    dialect: str,
) -> str:
    """The query of the labels of every recoded tuple: tuple, n, and per attribute label_j, leaves_j, level_j.

    `recoded`: tuple, node; `nodes`: node, level_0, level_1, … per attribute; `labels`: attribute, rule_level, code,
    label, leaves, level; `levels`: per attribute the columns of its codes in `tuples`, level by level.
    """
    query = exp.select(exp.column("tuple", table="t"), exp.column("n", table="t")).from_(
        t.table(tuples, "t"), copy=False
    )
    for relation, alias, key, other in ((recoded, "r", "tuple", "t"), (nodes, "v", "node", "r")):
        same = exp.column(key, table=alias).eq(exp.column(key, table=other))
        query = query.join(t.table(relation, alias), on=same, copy=False)
    for j, columns in enumerate(levels):
        level, code = t.column(f"level_{j}", "v"), exp.Case()
        for number, column in enumerate(columns):
            code = code.when(level.eq(t.literal(number)), t.column(column, "t"))
        wanted = {"attribute": t.literal(j), "rule_level": level, "code": code}
        equal = exp.and_(*(t.column(name, f"a{j}").eq(value) for name, value in wanted.items()))
        query = query.join(t.table(labels, f"a{j}"), on=equal, copy=False)
        query = query.select(*(exp.alias_(t.column(name, f"a{j}"), f"{name}_{j}", quoted=True) for name in _SHOWN))
    return t.printed(in_pieces(query, [f"a{j}" for j, _ in enumerate(levels)]), dialect)


def readings(classes: Relation, labels: Relation, count: int, dialect: str) -> str:
    """The query of the values that the labels of classes represent: class, and per attribute level_j and code_j.

    `classes`: class, label_0 … label_(count - 1); `labels`: attribute, label, level, code. Leaves out a class with a
    label that represents nothing.
    """
    query = exp.select(exp.column("class", table="k")).from_(t.table(classes, "k"), copy=False)
    for j in range(count):
        same = exp.NullSafeEQ(this=t.column("label", f"a{j}"), expression=t.column(f"label_{j}", "k"))
        equal = exp.and_(t.column("attribute", f"a{j}").eq(t.literal(j)), same)
        query = query.join(t.table(labels, f"a{j}"), on=equal, copy=False)
        query = query.select(*(exp.alias_(t.column(name, f"a{j}"), f"{name}_{j}") for name in ("level", "code")))
    return t.printed(in_pieces(query, [f"a{j}" for j in range(count)]), dialect)


def beside_patterns(tuples: Relation, patterns: Relation, levels: Sequence[Sequence[str]], dialect: str) -> str:
    """The query that adds patterns (pattern, class, level_j, code_j) to the tuples, in the tuples' columns.

    A pattern has a code in only one column per attribute, that of its level, and no rows (n = 0).
    """
    of_tuples = [*(exp.alias_(exp.null(), name) for name in ("pattern", "class")), exp.column("n")]
    of_patterns = [exp.column("pattern"), exp.column("class"), exp.alias_(exp.Literal.number(0), "n")]
    for j, columns in enumerate(levels):
        for number, column in enumerate(columns):
            here = t.column(f"level_{j}").eq(t.literal(number))
            code = exp.Case().when(here, t.column(f"code_{j}"))
            of_tuples.append(t.column(column))
            of_patterns.append(exp.alias_(code, column, quoted=True))
    first = exp.select(*of_tuples).from_(t.table(tuples))
    return t.printed(exp.union(first, exp.select(*of_patterns).from_(t.table(patterns)), distinct=False), dialect)


# Local recodings: classes of any tuples


def assigned(
    frequency_set: Relation, assignment: Relation, keys: Sequence[str], columns: Sequence[str], dialect: str
) -> str:
    """The query of the tuples that are assigned to a class: class, and columns of the frequency set."""
    group = t.column("class", "a")
    query = exp.select(group, *(t.column(name, "f") for name in columns)).from_(t.table(frequency_set, "f"), copy=False)
    same = exp.and_(*(t.column(key, "a").eq(t.column(key, "f")) for key in keys))
    return t.printed(query.join(t.table(assignment, "a"), on=same).where(t.is_not_null(group)), dialect)


def cells_of_node(
    assignment: Relation, keys: Sequence[str], leaves: Sequence[str | int], most: Sequence[int],
    weights: Sequence[float], dialect: str,
) -> str:  # fmt: skip
    """The query of a node's cells: the keys, n, class, per attribute leaves_j, share, and with weights `weighted`.

    `leaves`: a column of the assignment with n times (leaves - 1), or the number of leaves if all cells have the same.
    `most`: the number of all leaves per attribute; `share` is the logarithm of the cell's part of all combinations of
    leaves; `weighted` the same with the attributes' parts raised to the power of their weights.
    """
    query = exp.select(*(t.column(name, "a") for name in (*keys, "n", "class"))).from_(t.table(assignment, "a"))
    return _with_leaves(query, [_leaves(number) for number in leaves], most, weights, dialect)


def _leaves(given: str | int) -> exp.Expr:
    if not isinstance(given, str):
        return t.literal(given)
    return exp.cast(t.column(given, "a") / t.column("n", "a"), "BIGINT") + 1


def cells_of_classes(
    assignment: Relation, classes: Relation, keys: Sequence[str], most: Sequence[int], weights: Sequence[float],
    dialect: str,
) -> str:  # fmt: skip
    """The query of the cells of a local recoding, with the columns of `cells_of_node`."""
    query = exp.select(*(t.column(name, "a") for name in (*keys, "n", "class"))).from_(t.table(assignment, "a"))
    same = t.column("class", "k").eq(t.column("class", "a"))
    leaves = [t.column(f"leaves_{j}", "k") for j, _ in enumerate(most)]
    return _with_leaves(query.join(t.table(classes, "k"), on=same), leaves, most, weights, dialect)


def _with_leaves(
    query: exp.Select, leaves: Sequence[exp.Expr], most: Sequence[int], weights: Sequence[float], dialect: str
) -> str:
    named = (exp.alias_(number.copy(), f"leaves_{j}", quoted=True) for j, number in enumerate(leaves))
    query = query.select(*named, exp.alias_(_log_share(leaves, most), "share"))
    if weights:
        query = query.select(exp.alias_(_log_share(leaves, most, weights), "weighted"))
    return t.printed(query, dialect)


def _log_share(leaves: Sequence[exp.Expr], most: Sequence[int], weights: Sequence[float] = ()) -> exp.Expr:
    """The logarithm of the leaves' part of all combinations, whose product could overflow with many columns."""
    total: exp.Expr = exp.cast(exp.Literal.number(0), "DOUBLE")
    for j, (number, every) in enumerate(zip(leaves, most, strict=True)):
        part: exp.Expr = exp.Ln(this=exp.cast(exp.paren(number), "DOUBLE") / every)
        part = part * weights[j] if weights else part
        total = exp.Add(this=total, expression=part)  # `total + part` would copy the total
    return total


def covered(
    frequency_set: Relation, classes: Relation, keys: Sequence[str], positions: Sequence[Relation], most: Sequence[int],
    dialect: str,
) -> str:  # fmt: skip
    """The query of the tuples that classes of a local recoding can represent: tuple, n, mass (NULL if no class can).

    `classes` with leaves_j, first_j and last_j; mass is the class's rows over its part of all combinations of leaves.
    """
    # Values that are not in the hierarchy have the position after the leaves, and are shown as all of them.
    in_leaves = [
        exp.func("LEAST", t.column("position", f"p{j}"), t.literal(leaves - 1)) for j, leaves in enumerate(most)
    ]
    places = [exp.alias_(place, f"place_{j}") for j, place in enumerate(in_leaves)]
    group = [place.this for place in places]
    rows = exp.alias_(exp.func("SUM", t.column("n", "f")), "n")
    in_order = exp.Order(expressions=[place.copy() for place in group])
    number = exp.alias_(exp.Window(this=exp.RowNumber(), order=in_order), "tuple")
    tuples = exp.select(number, rows, *places).from_(t.table(frequency_set, "f"), copy=False)
    for j, (key, relation) in enumerate(zip(keys, positions, strict=True)):
        equal = t.column("code_0", f"p{j}").eq(t.column(key, "f"))
        tuples = tuples.join(t.table(relation, f"p{j}"), on=equal, copy=False)
    tuples = in_pieces(
        tuples.group_by(*(place.copy() for place in group), copy=False), {f"p{j}" for j, _ in enumerate(keys)}
    )
    inside = _inside("first", "last", len(keys))
    share = _log_share([t.column(f"leaves_{j}", "k") for j, _ in enumerate(keys)], most)
    mass = t.column("n", "k") / exp.Exp(this=share)
    query = exp.select(t.column("tuple", "t"), t.column("n", "t"), exp.alias_(mass, "mass"))
    query = query.from_(tuples.subquery("t")).join(t.table(classes, "k"), on=exp.and_(*inside), join_type="LEFT")
    return t.printed(query, dialect)


def _inside(low: str, high: str, count: int) -> list[exp.Expr]:
    """The conditions that the places of a tuple, `t`, are in the ranges of a class or box, `k`."""
    return [
        exp.Between(
            this=t.column(f"place_{j}", "t"), low=t.column(f"{low}_{j}", "k"), high=t.column(f"{high}_{j}", "k")
        )
        for j in range(count)
    ]


def placed(
    tuples: Relation,
    boxes: Relation,
    keys: Sequence[str],
    positions: Sequence[Relation],
    dialect: str,
    grid: Mapping[int, int] | None = None,
) -> str:
    """The query that assigns tuples to the first box that contains them: the keys, n, place (NULL: not in any).

    `tuples`: the keys and n; `boxes`: place, and per attribute low_j and high_j, in the positions of its order. `grid`:
    attributes by which the space is divided into parts of so many positions; `boxes` then has a row for every part that
    a box reaches into, with cell_j, so that a tuple is compared only with the boxes of its own part.
    """
    query = exp.select(*(t.column(name, "f") for name in (*keys, "n"))).from_(t.table(tuples, "f"), copy=False)
    for j, (key, relation) in enumerate(zip(keys, positions, strict=True)):
        equal = t.column("code_0", f"p{j}").eq(t.column(key, "f"))
        query = query.join(t.table(relation, f"p{j}"), on=equal, copy=False)
        query = query.select(exp.alias_(t.column("position", f"p{j}"), f"place_{j}", quoted=True), copy=False)
    inside = _inside("low", "high", len(keys))
    for j, width in (grid or {}).items():
        part = exp.IntDiv(this=t.column(f"place_{j}", "t"), expression=exp.Literal.number(width))
        inside.append(part.eq(t.column(f"cell_{j}", "k")))
    first = exp.alias_(exp.func("MIN", t.column("place", "k")), "place", quoted=True)
    tuple_columns = [t.column(name, "t") for name in (*keys, "n")]
    pieces = in_pieces(query, [f"p{j}" for j, _ in enumerate(keys)])
    chosen = exp.select(*tuple_columns, first).from_(pieces.subquery("t"), copy=False)
    chosen = chosen.join(t.table(boxes, "k"), on=exp.and_(*inside), join_type="LEFT", copy=False)
    return t.printed(chosen.group_by(*(column.copy() for column in tuple_columns), copy=False), dialect)


def nearest(name: str, distances: Mapping[str, t.Hole], dialect: str, **holes: t.Hole) -> str:
    """The query `name` with the distances computed in it; `distances`: the holes of `kaca/distances`."""
    return t.text(name, dialect, distances=t.tree("kaca/distances", dialect, **distances), **holes)
