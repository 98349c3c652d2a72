"""The queries of the labels of a local recoding's classes, from the boxes around their tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.split_joins import in_pieces
from kanon_sql.relation import Relation


def members(assignment: Relation, key: str, positions: Relation, dialect: str) -> str:
    """The query of one attribute's values in every class: class, position, n."""
    place, group = t.column("position", "p"), t.column("class", "a")
    rows = exp.alias_(exp.func("SUM", t.column("n", "a")), "n", quoted=True)
    query = exp.select(group, place, rows).from_(t.table(assignment, "a"), copy=False)
    query = query.join(t.table(positions, "p"), on=t.column("code_0", "p").eq(t.column(key, "a")))
    return t.printed(query.where(t.is_not_null(group)).group_by(group.copy(), place.copy()), dialect)


def boxes(assignment: Relation, keys: Sequence[str], positions: Sequence[Relation], dialect: str) -> str:
    """The query of the range of positions that every class fills: class, n, low_0, high_0, low_1, …

    `keys`: the columns of the assignment with the attributes' codes on level 0.
    """
    group = t.column("class", "a")
    query = exp.select(group, exp.alias_(exp.func("SUM", t.column("n", "a")), "n", quoted=True))
    query = query.from_(t.table(assignment, "a"), copy=False)
    for j, (key, relation) in enumerate(zip(keys, positions, strict=True)):
        place = t.column("position", f"p{j}")
        query = query.select(
            exp.alias_(exp.func("MIN", place), f"low_{j}", quoted=True),
            exp.alias_(exp.func("MAX", place.copy()), f"high_{j}", quoted=True),
            copy=False,
        )
        equal = t.column("code_0", f"p{j}").eq(t.column(key, "a"))
        query = query.join(t.table(relation, f"p{j}"), on=equal, copy=False)
    query.where(t.is_not_null(group), copy=False).group_by(group.copy(), copy=False)
    return t.printed(in_pieces(query, [f"p{j}" for j, _ in enumerate(keys)]), dialect)


@dataclass(frozen=True)
class DisplayForm:
    """How the classes of a local recoding show one attribute; see `kanon_sql.recode.show` for the words of `how`.

    `positions`: the relation of its order. `nested`: hierarchy nodes are ranges of positions. `cut`: the label
    is that of the region cut to. `statistic`: a relation of class and shown, where `how` is one. `bounds`: for ranges
    and bounds, a relation of position, lower, upper, first_position, last_position (see `kanon_sql.recode.rounding`).
    """

    how: str
    positions: Relation
    height: int
    leaf_count: int
    nested: bool = True
    statistic: Relation | None = None
    bounds: Relation | None = None


def _reached(boxes: Relation, shown: Mapping[int, DisplayForm]) -> exp.Expr:
    """The boxes as `b`, extended to the ends of their ranges and bounds, with lower_j and upper_j."""
    if not any(attribute.bounds for attribute in shown.values()):
        return t.table(boxes, "b")
    query = exp.select(t.column("class", "b"), t.column("n", "b")).from_(t.table(boxes, "b"), copy=False)
    for j, attribute in shown.items():
        for end, bound, reached in (("low", "lower", "first_position"), ("high", "upper", "last_position")):
            place: exp.Expr = t.column(f"{end}_{j}", "b")
            if attribute.bounds:
                alias = f"{bound}{j}"
                here = t.column("position", alias).eq(place)
                query = query.join(t.table(attribute.bounds, alias), on=here, copy=False)
                query = query.select(exp.alias_(t.column(bound, alias), f"{bound}_{j}", quoted=True), copy=False)
                alone = t.column(f"low_{j}", "b").eq(t.column(f"high_{j}", "b"))
                place = exp.Case().when(alone, place).else_(t.column(reached, alias))
            query = query.select(exp.alias_(place, f"{end}_{j}", quoted=True), copy=False)
    joined = [f"{bound}{j}" for j, attribute in shown.items() if attribute.bounds for bound in ("lower", "upper")]
    return in_pieces(query, joined).subquery("b", copy=False)


def local_classes(boxes: Relation, cuts: Relation | None, shown: Mapping[int, DisplayForm], dialect: str) -> str:
    """The query of released classes: class, n, and per attribute label_j (high_j), leaves_j, level_j, first_j, last_j.

    `shown`: by the number of the attribute. The last two columns are the positions of the first and the last leaf that
    a cell can represent.
    """
    query = exp.select(t.column("class", "b"), t.column("n", "b")).from_(_reached(boxes, shown), copy=False)
    if cuts:
        query = query.join(t.table(cuts, "c"), on=t.column("class", "c").eq(t.column("class", "b")), copy=False)
    for j, attribute in shown.items():
        region = "c" if attribute.how == "labels" and cuts else "b"
        for end in ("low", "high"):
            place = t.column("position", f"{end}{j}").eq(t.column(f"{end}_{j}", region))
            query = query.join(t.table(attribute.positions, f"{end}{j}"), on=place, copy=False)
        if attribute.statistic:
            same = t.column("class", f"s{j}").eq(t.column("class", "b"))
            query = query.join(t.table(attribute.statistic, f"s{j}"), on=same, copy=False)
        query = query.select(*_shown(attribute, j), copy=False)
    joined = [f"{alias}{j}" for j in shown for alias in ("low", "high", "s")]
    return t.printed(in_pieces(query, joined), dialect)


def joined_classes(parts: Mapping[Relation, Sequence[str]], dialect: str) -> str:
    """The query of released classes from parts with the columns of some attributes each; `parts`: their columns."""
    relations = [t.table(relation, f"p{place}") for place, relation in enumerate(parts)]
    query = exp.select("p0.class", "p0.n").from_(relations[0], copy=False)
    for relation in relations[1:]:
        query.join(relation, on=f"{relation.alias}.class = p0.class", copy=False)
    for relation, columns in zip(relations, parts.values(), strict=True):
        query.select(*(t.column(name, relation.alias) for name in columns), copy=False)
    return t.printed(query, dialect)


_RANGES = ("ranges", "bounds", "mean", "median", "mode")


def _shown(attribute: DisplayForm, j: int) -> list[exp.Expr]:
    low, high = f"low{j}", f"high{j}"
    single = t.column("position", low).eq(t.column("position", high))
    # NULL has the first position, NaN and values outside the hierarchy the last ones: these form no range with others.
    unordered = exp.or_(*(t.is_null(end) for end in _ends(attribute, j)))
    not_a_range = exp.and_(unordered, exp.not_(single))
    columns = [exp.alias_(_label(attribute, j, single, not_a_range), f"label_{j}", quoted=True)]
    if attribute.how == "bounds":
        columns.append(exp.alias_(_bound(attribute, j, 1, single, not_a_range), f"high_{j}", quoted=True))
    leaves, levels = (
        _common(attribute, j, lambda level: t.column(f"leaves_{level}", low)),
        _common(attribute, j, t.literal),
    )
    first = _common(attribute, j, lambda level: t.column(f"first_{level}", low))
    last: exp.Expr = first + leaves - 1
    whole: exp.Expr = t.column("starred", high)
    if attribute.how in _RANGES:
        width = t.column("position", high) - t.column("position", low)
        spread = (
            exp.Case()
            .when(single.copy(), t.column("leaves_0", low))
            .when(not_a_range.copy(), t.literal(attribute.leaf_count))
        )
        leaves = spread.else_(width + 1)
        first, last = t.column("position", low), t.column("position", high)
        whole = exp.or_(whole, not_a_range.copy())
    levels = exp.Case().when(whole.copy(), t.literal(attribute.height)).else_(levels)
    first = exp.Case().when(whole.copy(), t.literal(0)).else_(first)
    last = exp.Case().when(whole.copy(), t.literal(attribute.leaf_count - 1)).else_(last)
    named = {"leaves": leaves, "level": levels, "first": first, "last": last}
    return [*columns, *(exp.alias_(of, f"{name}_{j}", quoted=True) for name, of in named.items())]


def _ends(attribute: DisplayForm, j: int) -> tuple[exp.Expr, exp.Expr]:
    """The smallest and the largest shown value of a class."""
    if attribute.bounds:
        return t.column(f"lower_{j}", "b"), t.column(f"upper_{j}", "b")
    return t.column("value", f"low{j}"), t.column("value", f"high{j}")


def _bound(attribute: DisplayForm, j: int, end: int, single: exp.Expr, not_a_range: exp.Expr) -> exp.Expr:
    case = exp.Case().when(single.copy(), t.column("value", f"low{j}")).when(not_a_range.copy(), exp.null())
    return case.else_(_ends(attribute, j)[end])


def _label(attribute: DisplayForm, j: int, single: exp.Expr, not_a_range: exp.Expr) -> exp.Expr:
    low = f"low{j}"
    if attribute.statistic:
        return t.column("shown", f"s{j}")
    if attribute.how == "bounds":
        return _bound(attribute, j, 0, single, not_a_range)
    if attribute.how != "ranges":
        return _common(attribute, j, lambda level: t.column(f"label_{level}", low) if level else _value_text(low))
    text: exp.Expr = exp.Literal.string("[")
    lower, upper = (exp.cast(end, "TEXT") for end in _ends(attribute, j))
    for part in (lower, exp.Literal.string(", "), upper, exp.Literal.string("]")):
        text = exp.DPipe(this=text, expression=part)
    star = exp.Literal.string("*")
    return exp.Case().when(single.copy(), _value_text(low)).when(not_a_range.copy(), star).else_(text)


def _value_text(alias: str) -> exp.Expr:
    text = exp.cast(t.column("value", alias), "TEXT")
    return exp.Case().when(t.column("starred", alias), exp.Literal.string("*")).else_(text)


def _common(attribute: DisplayForm, j: int, of: Callable[[int], exp.Expr]) -> exp.Expr:
    """An expression for the lowest level on which both ends have the same label; the top if nodes are not nested."""
    case = exp.Case()
    for level in range(attribute.height) if attribute.nested else range(1):
        equal = t.column(f"code_{level}", f"low{j}").eq(t.column(f"code_{level}", f"high{j}"))
        case = case.when(equal, of(level))
    return case.else_(of(attribute.height))
