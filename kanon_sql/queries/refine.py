"""The queries of `refine`, whose columns depend on the attributes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.coding import Coded
from kanon_sql.queries.split_joins import in_pieces
from kanon_sql.relation import Relation

SPAN_UNIT = 2**28  # more than four times the highest cost of a cell


@dataclass(frozen=True)
class GeneralizationSteps:
    """An attribute that `refine` generalizes: its codes in the frequency set, and the costs of its levels.

    `levels`: a relation of `code` (level 0), `level`, `key`, `cost`, one row per value and level. `costs`: the same
    with one row per value, `code, cost_0, cost_1, …`. `free`: all levels cost nothing. `spanned`: a class shows a span
    of the values' order, which costs its width; `costs` then also has `low` and `high`, the ends of a value: modulo
    `SPAN_UNIT` they are the costs up to there, and they are in the order of the values.
    `words`: the numbers of the `LabelWord`s with a column `bits_<number>` in `costs`, the bits of a value's labels.
    """

    coded: Coded
    levels: Relation
    costs: Relation
    free: bool = False
    spanned: bool = False
    words: tuple[int, ...] = ()

    def end(self, name: str, table: str) -> exp.Column:
        """The column of an end of the span (`low`, `high`), or in classes of the next tuple's end (`next_low`, …)."""
        return t.column(f"{self.coded.stem}_{name}", table)

    def code(self, level: int, table: str) -> exp.Column:
        """The column of this attribute's codes on a level."""
        return t.column(self.coded.code_column(level), table)

    def cost(self, level: int, table: str) -> exp.Column:
        """The column of the cost of a level for one row."""
        return t.column(f"{self.coded.stem}_{level}_cost", table)


@dataclass(frozen=True)
class LabelWord:
    """A word with one bit per label: a tuple's has the bits of its labels, a class's those that all its tuples share.

    `least`: the least increase of the cost of one row for every bit that its class loses.
    """

    number: int
    least: int

    @property
    def name(self) -> str:
        """The column in the relations of tuples and of classes."""
        return f"shared_{self.number}"


def refine_tuples(
    frequency_set: Relation, attributes: Sequence[GeneralizationSteps], words: Sequence[LabelWord], dialect: str
) -> str:
    """The query of the tuples that `refine` works on: id, n, and codes and costs per attribute and level.

    Codes are BIGINT here, so that their squares are exact.
    """
    keys = [attribute.code(0, "f") for attribute in attributes]
    number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[key.copy() for key in keys]))
    columns: list[exp.Expr] = [number.as_("id"), t.column("n", "f")]
    query = exp.select().from_(t.table(frequency_set, "f"), copy=False)
    for index, attribute in enumerate(attributes):
        for level in range(attribute.coded.height + 1):
            code = exp.cast(attribute.code(level, "f"), "BIGINT")
            columns.append(code.as_(attribute.coded.code_column(level), quoted=True))
            cost = t.column(f"cost_{level}", f"c{index}")
            columns.append(cost.as_(attribute.cost(level, "t").name, quoted=True))
        for end in _ENDS if attribute.spanned else ():
            columns.append(t.column(end, f"c{index}").as_(attribute.end(end, "t").name, quoted=True))
        equal = t.column("code", f"c{index}").eq(keys[index])
        query = query.join(t.table(attribute.costs, f"c{index}"), on=equal, copy=False)
    for word in words:
        bits = [t.column(f"bits_{word.number}", f"c{i}") for i, a in enumerate(attributes) if word.number in a.words]
        columns.append(_sum(bits).as_(word.name))
    query = query.select(*columns, copy=False)
    return t.printed(in_pieces(query, [f"c{index}" for index, _ in enumerate(attributes)]), dialect)


def refine_generalizations(tuples: Relation, attributes: Sequence[GeneralizationSteps], most: int, dialect: str) -> str:
    """The query of all generalizations of every tuple on some attributes that cost at most `most`.

    Its columns are id, n, `key` (equal for tuples that are equal on all these attributes), `cost`.
    """
    # Nested by attribute: costly ones are dropped early, and the planner need not order twelve joins.
    codes = [attribute.code(0, "t") for attribute in attributes]
    nothing = [exp.cast(t.literal(0), "BIGINT").as_(name) for name in ("key", "cost")]
    query = exp.select(t.column("id", "t"), t.column("n", "t"), *nothing, *codes).from_(
        t.table(tuples, "t"), copy=False
    )
    for index, attribute in enumerate(attributes):
        query = _one_more(query, attribute, [code.name for code in codes[index + 1 :]], most)
    return t.printed(query, dialect)


def _one_more(inner: exp.Select, attribute: GeneralizationSteps, codes: Sequence[str], most: int) -> exp.Select:
    """Add generalizations on one more attribute, without those that cost too much; `codes`: of the next attributes."""
    key, cost = (t.column(name, "t") + t.column(name, "m") for name in ("key", "cost"))
    on = exp.and_(t.column("code", "m").eq(attribute.code(0, "t")), cost <= most)
    kept = [t.column(name, "t") for name in ("id", "n")]
    query = exp.select(*kept, key.as_("key"), cost.as_("cost"), *(t.column(c, "t") for c in codes))
    query.from_(inner.subquery("t", copy=False), copy=False)
    return query.join(t.table(attribute.levels, "m"), on=on, copy=False)


def refine_classes(
    state: Relation,
    tuples: Relation,
    dirty: Relation,
    attributes: Sequence[GeneralizationSteps],
    words: Sequence[LabelWord],
    dialect: str,
) -> str:
    """The query of the classes of a state: class, tuples, n, cost (of one row), dirty, and sums to judge moves by.

    Per attribute and level below the top: the code that all members share, else -1; and the sums of the members'
    codes, squared codes, and costs, from which follows the class without one of them. For a span its ends, and its
    ends without the tuple at them.
    """
    columns: list[exp.Expr] = [t.column("class", "s"), exp.Count(this=exp.Star()).as_("tuples")]
    columns.append(exp.cast(exp.Sum(this=t.column("n", "t")), "BIGINT").as_("n"))
    costs = []
    for attribute in attributes:
        shown, top = exp.Case(), attribute.coded.height
        for level in range(top):
            code, cost = attribute.code(level, "t"), attribute.cost(level, "t")
            name = attribute.coded.code_column(level)
            equal = exp.Min(this=code).eq(exp.Max(this=code))
            shown = shown.when(equal, exp.Min(this=cost))
            columns.append(exp.Case().when(equal, exp.Min(this=code)).else_(t.literal(-1)).as_(name, quoted=True))
            for kind, added in (("sum", code), ("squares", code * code), ("costs", cost)):
                columns.append(exp.Sum(this=added).as_(f"{name}_{kind}", quoted=True))
        last = exp.Min(this=attribute.cost(top, "t"))
        columns.append(last.as_(f"{attribute.coded.code_column(top)}_costs", quoted=True))
        costs.append(shown.else_(last) if top else last)
        if attribute.spanned:
            columns += _ends(attribute)
            single = exp.Min(this=attribute.code(0, "t")).eq(exp.Max(this=attribute.code(0, "t")))
            low, high = exp.Min(this=attribute.end("low", "t")), exp.Max(this=attribute.end("high", "t"))
            costs[-1] = exp.Case().when(single, exp.Min(this=attribute.cost(0, "t"))).else_(_span(low, high, last))
    columns += [exp.BitwiseAndAgg(this=t.column(word.name, "t")).as_(word.name) for word in words]
    columns.append(_sum(costs).as_("cost"))
    among = exp.select(t.column("class")).from_(t.table(dirty))
    columns.append(t.column("class", "s").isin(query=among).as_("dirty"))
    query = exp.select(*columns).from_(t.table(state, "s"), copy=False)
    query.join(t.table(tuples, "t"), on=t.column("id", "t").eq(t.column("id", "s")), copy=False)
    query.group_by(t.column("class", "s"), copy=False)
    return t.printed(query, dialect)


_ENDS = ("low", "high")


def _ends(attribute: GeneralizationSteps) -> list[exp.Expr]:
    """The ends of a class's span, and the next tuples' ends: equal if two tuples have the same end."""
    columns = []
    for end, order in zip(_ENDS, ("ARG_MIN", "ARG_MAX"), strict=True):
        value = attribute.end(end, "t")
        both = exp.func(order, value, value.copy(), t.literal(2))
        for place, name in enumerate((end, f"next_{end}"), start=1):
            found = exp.func("LIST_EXTRACT", both.copy(), t.literal(place))
            columns.append(found.as_(attribute.end(name, "t").name, quoted=True))
    return columns


def _span(low: exp.Expr, high: exp.Expr, top: exp.Expr) -> exp.Expr:
    """The cost of a span: its width, but at most the cost of the top."""
    low, high = (exp.paren(end) % SPAN_UNIT for end in (low, high))
    return exp.func("LEAST", top.copy(), high - low)


def refine_rests(
    state: Relation, tuples: Relation, classes: Relation, attributes: Sequence[GeneralizationSteps], dialect: str
) -> str:
    """The query of the rest of a class without one of its tuples: id, class, dirty, n and cost of the rest.

    `own`: the rows of the tuple, `before`: the cost of all rows of the class with it. A class of one tuple has no rest.
    The m other members share a code if and only if m times the sum of their squares is the square of their sum.
    """
    members = exp.paren(t.column("tuples", "c") - 1)
    costs = _sum([_rest_cost(attribute, members) for attribute in attributes])
    rest = exp.cast(exp.func("ROUND", exp.paren(costs) / members), "BIGINT")
    columns: list[exp.Expr] = [t.column("id", "t"), t.column("class", "s"), t.column("dirty", "c")]
    columns += [(t.column("n", "c") - t.column("n", "t")).as_("n"), rest.as_("cost"), t.column("n", "t").as_("own")]
    columns.append((t.column("n", "c") * t.column("cost", "c")).as_("before"))
    query = exp.select(*columns).from_(t.table(state, "s"), copy=False)
    query.join(t.table(tuples, "t"), on=t.column("id", "t").eq(t.column("id", "s")), copy=False)
    query.join(t.table(classes, "c"), on=t.column("class", "c").eq(t.column("class", "s")), copy=False)
    return t.printed(query.where(t.column("tuples", "c") > 1, copy=False), dialect)


def _rest_cost(attribute: GeneralizationSteps, members: exp.Expr) -> exp.Expr:
    """The cost of an attribute for the rest of a class, times the number of tuples of the rest."""
    case, top = exp.Case(), attribute.coded.height
    for level in range(1 if attribute.spanned else top):
        name, code = attribute.coded.code_column(level), attribute.code(level, "t")
        added = exp.paren(t.column(f"{name}_sum", "c") - code)
        squares = exp.paren(t.column(f"{name}_squares", "c") - code * code)
        case = case.when(
            (members * squares).eq(added * added), t.column(f"{name}_costs", "c") - attribute.cost(level, "t")
        )
    most: exp.Expr = t.column(f"{attribute.coded.code_column(top)}_costs", "c")
    if attribute.spanned:
        most = _span(_without(attribute, "low"), _without(attribute, "high"), most)
    last = members * most
    return case.else_(last) if top else last


def _without(attribute: GeneralizationSteps, end: str) -> exp.Expr:
    """An end of a class's span without one of its tuples."""
    own, other = attribute.end(end, "t"), attribute.end(end, "c")
    return exp.Case().when(own.eq(other), attribute.end(f"next_{end}", "c")).else_(other.copy())


def refine_gains(
    movers: Relation,
    tuples: Relation,
    classes: Relation,
    attributes: Sequence[GeneralizationSteps],
    words: Sequence[LabelWord],
    dialect: str,
    near: int | None = None,
    places: tuple[int, int] | None = None,
    changed: bool = False,
    targets: int | None = None,
) -> str:
    """The query of the movers' best moves: tuple (id) from its class to `target`, `gain` the decrease of total cost.

    Only moves with a gain; of equally good ones the first target. `targets`: that many moves per mover, the best first.

    The cost of a target that takes a tuple in is that of the top minus the savings of all levels that both share.
    `near`: only movers that save at most this much per row, the lowest cost of an attribute's top; then no attribute of
    the target may rise to its top, and except for spans the target is found by equal codes below it.
    `places`: otherwise the movers from the first place to before the second; a target is considered only if the bits
    that it would lose do not already cost too much. `changed`: only dirty targets.
    """
    shared: list[exp.Expr] = []
    tops: list[exp.Expr] = []
    equals: list[exp.Expr] = []
    for attribute in attributes:
        top = attribute.coded.height
        if attribute.spanned:
            tops.append(_joined_span(attribute))
            continue
        tops.append(attribute.cost(top, "t"))
        for level in range(top):
            equal = attribute.code(level, "d").eq(attribute.code(level, "t"))
            saved = attribute.cost(level + 1, "t") - attribute.cost(level, "t")
            shared.append(exp.Case().when(equal, saved).else_(t.literal(0)))
        equals += [equal.copy()] if top and not attribute.free else []
    taken = exp.paren(exp.paren(_sum(tops)) - exp.paren(_sum(shared)))
    together = exp.paren(t.column("n", "d") + t.column("own", "m"))
    gain = t.column("most", "m") - together * taken + t.column("n", "d") * t.column("cost", "d")
    columns: list[exp.Expr] = [t.column(name, "m") for name in ("id", "own", "class")]
    columns += [t.column("class", "d").as_("target"), gain.as_("gain")]
    is_new: exp.Expr = t.column("dirty", "d")
    if not changed:
        is_new = exp.or_(t.column("dirty", "m"), is_new)
    conditions: list[exp.Expr] = [
        *(equals if near is not None else _lost_bits(words, together)),
        t.column("class", "d").neq(t.column("class", "m")),
        # A class with one more tuple costs no less, so the tuple will cost at least as much as the target's rows now.
        t.column("cost", "d") * t.column("own", "m") < t.column("most", "m"),
        is_new,
    ]
    query = exp.select(*columns).from_(t.table(movers, "m"))
    query = query.join(t.table(tuples, "t"), on=t.column("id", "t").eq(t.column("id", "m")))
    query = query.join(t.table(classes, "d"), on=exp.and_(*conditions)).where(*_movers(near, places))
    pairs = query.subquery("pairs")
    # Aggregated as they come: the pairs with a gain would not fit into memory.
    order = exp.func("ROW", -t.column("gain"), t.column("target"))
    same = [exp.Min(this=t.column(name)).as_(name) for name in ("own", "class")]
    best = [_best(name, order, targets).as_(name) for name in ("target", "gain")]
    return t.printed(exp.select("id", *same, *best).from_(pairs).where(t.column("gain") > 0).group_by("id"), dialect)


def _lost_bits(words: Sequence[LabelWord], together: exp.Expr) -> list[exp.Expr]:
    """The condition that the bits that a target would lose cost less than the mover's leaving saves."""
    if not words:
        return []
    costs = []
    for word in words:
        missing = exp.BitwiseNot(this=t.column(word.name, "t"))
        lost = exp.func("BIT_COUNT", exp.BitwiseAnd(this=t.column(word.name, "d"), expression=missing))
        costs.append(exp.cast(lost, "BIGINT") * word.least)
    least = t.column("cost", "d") * t.column("own", "m")
    return [together * exp.paren(_sum(costs)) + least < t.column("most", "m")]


def _joined_span(attribute: GeneralizationSteps) -> exp.Expr:
    """The cost of a span for a target that takes a tuple in."""
    equal = attribute.code(0, "d").eq(attribute.code(0, "t"))
    low, high = (
        exp.func(widest, attribute.end(end, "d"), attribute.end(end, "t"))
        for end, widest in zip(_ENDS, ("LEAST", "GREATEST"), strict=True)
    )
    span = _span(low, high, attribute.cost(attribute.coded.height, "t"))
    return exp.Case().when(equal, attribute.cost(0, "t")).else_(span)


def _best(name: str, order: exp.Expr, targets: int | None) -> exp.Expr:
    """The target or the gain of a mover's best move; or of its `targets` best moves, in one row per move."""
    if targets is not None:
        return exp.Unnest(expressions=[exp.func("ARG_MIN", t.column(name), order.copy(), t.literal(targets))])
    return exp.Max(this=t.column(name)) if name == "gain" else exp.func("ARG_MIN", t.column(name), order.copy())


def _movers(near: int | None, places: tuple[int, int] | None) -> list[exp.Expr]:
    if near is not None:
        return [t.column("most", "m") <= t.column("own", "m") * near]
    first, end = places or (1, 1)
    place = t.column("place", "m")
    return [place >= first, place < end]


def _sum(terms: Sequence[exp.Expr]) -> exp.Expr:
    return reduce(operator.add, terms or [t.literal(0)])
