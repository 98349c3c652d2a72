"""The queries of `refine`, whose columns depend on the attributes."""

from __future__ import annotations

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
    columns: list[exp.Expr] = [exp.alias_(_row_number(keys), "id"), t.column("n", "f")]
    query = exp.select().from_(t.table(frequency_set, "f"), copy=False)
    for index, attribute in enumerate(attributes):
        for level in range(attribute.coded.height + 1):
            code = exp.cast(attribute.code(level, "f"), "BIGINT")
            columns.append(exp.alias_(code, attribute.coded.code_column(level), quoted=True))
            cost = t.column(f"cost_{level}", f"c{index}")
            columns.append(exp.alias_(cost, attribute.cost(level, "t").name, quoted=True))
        for end in _ENDS if attribute.spanned else ():
            columns.append(exp.alias_(t.column(end, f"c{index}"), attribute.end(end, "t").name, quoted=True))
        equal = exp.EQ(this=t.column("code", f"c{index}"), expression=keys[index].copy())
        query = query.join(t.table(attribute.costs, f"c{index}"), on=equal, copy=False)
    for word in words:
        bits = [t.column(f"bits_{word.number}", f"c{i}") for i, a in enumerate(attributes) if word.number in a.words]
        columns.append(exp.alias_(_sum(bits), word.name))
    query = query.select(*columns, copy=False)
    return t.printed(in_pieces(query, [f"c{index}" for index, _ in enumerate(attributes)]), dialect)


def refine_generalizations(tuples: Relation, attributes: Sequence[GeneralizationSteps], most: int, dialect: str) -> str:
    """The query of all generalizations of every tuple on some attributes that cost at most `most`.

    Its columns are id, n, `key` (equal for tuples that are equal on all these attributes), `cost`.
    """
    # Nested by attribute: costly ones are dropped early, and the planner need not order twelve joins.
    codes = [attribute.code(0, "t") for attribute in attributes]
    nothing = [exp.alias_(exp.cast(t.literal(0), "BIGINT"), name) for name in ("key", "cost")]
    query = exp.select(t.column("id", "t"), t.column("n", "t"), *nothing, *codes).from_(
        t.table(tuples, "t"), copy=False
    )
    for index, attribute in enumerate(attributes):
        query = _one_more(query, attribute, [code.name for code in codes[index + 1 :]], most)
    return t.printed(query, dialect)


def _one_more(inner: exp.Select, attribute: GeneralizationSteps, codes: Sequence[str], most: int) -> exp.Select:
    """Add generalizations on one more attribute, without those that cost too much; `codes`: of the next attributes."""
    key, cost = (exp.Add(this=t.column(name, "t"), expression=t.column(name, "m")) for name in ("key", "cost"))
    conditions = [
        exp.EQ(this=t.column("code", "m"), expression=attribute.code(0, "t")),
        exp.LTE(this=cost.copy(), expression=t.literal(most)),
    ]
    kept = [t.column(name, "t") for name in ("id", "n")]
    query = exp.select(*kept, exp.alias_(key, "key"), exp.alias_(cost, "cost"), *(t.column(c, "t") for c in codes))
    query.from_(inner.subquery("t", copy=False), copy=False)
    return query.join(t.table(attribute.levels, "m"), on=exp.and_(*conditions), copy=False)


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
    columns: list[exp.Expr] = [t.column("class", "s"), exp.alias_(exp.Count(this=exp.Star()), "tuples")]
    columns.append(exp.alias_(exp.cast(exp.Sum(this=t.column("n", "t")), "BIGINT"), "n"))
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
                exp.alias_(exp.Case().when(equal, exp.Min(this=code)).else_(t.literal(-1)), name, quoted=True)
            )
            squares = exp.Mul(this=code, expression=code)
            for kind, added in (("sum", code), ("squares", squares), ("costs", cost)):
                columns.append(exp.alias_(exp.Sum(this=added), f"{name}_{kind}", quoted=True))
        last = exp.Min(this=attribute.cost(top, "t"))
        columns.append(exp.alias_(last, f"{attribute.coded.code_column(top)}_costs", quoted=True))
        costs.append(shown.else_(last) if top else last)
        if attribute.spanned:
            columns += _ends(attribute)
            single = exp.EQ(this=exp.Min(this=attribute.code(0, "t")), expression=exp.Max(this=attribute.code(0, "t")))
            low, high = exp.Min(this=attribute.end("low", "t")), exp.Max(this=attribute.end("high", "t"))
            costs[-1] = exp.Case().when(single, exp.Min(this=attribute.cost(0, "t"))).else_(_span(low, high, last))
    columns += [exp.alias_(exp.BitwiseAndAgg(this=t.column(word.name, "t")), word.name) for word in words]
    among = exp.select(t.column("class")).from_(t.table(dirty))
    columns.append(exp.alias_(_sum(costs), "cost"))
    columns.append(exp.alias_(exp.In(this=t.column("class", "s"), query=exp.Subquery(this=among)), "dirty"))
    equal = exp.EQ(this=t.column("id", "t"), expression=t.column("id", "s"))
    query = exp.select(*columns).from_(t.table(state, "s"), copy=False)
    query.join(t.table(tuples, "t"), on=equal, copy=False).group_by(t.column("class", "s"), copy=False)
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
            columns.append(exp.alias_(found, attribute.end(name, "t").name, quoted=True))
    return columns


def _span(low: exp.Expr, high: exp.Expr, top: exp.Expr) -> exp.Expr:
    """The cost of a span: its width, but at most the cost of the top."""
    low, high = (exp.Mod(this=exp.Paren(this=end), expression=t.literal(SPAN_UNIT)) for end in (low, high))
    return exp.func("LEAST", top.copy(), exp.Sub(this=high, expression=low))


def refine_rests(
    state: Relation, tuples: Relation, classes: Relation, attributes: Sequence[GeneralizationSteps], dialect: str
) -> str:
    """The query of the rest of a class without one of its tuples: id, class, dirty, n and cost of the rest.

    `own`: the rows of the tuple, `before`: the cost of all rows of the class with it. A class of one tuple has no rest.
    The m other members share a code if and only if m times the sum of their squares is the square of their sum.
    """
    members = exp.Paren(this=exp.Sub(this=t.column("tuples", "c"), expression=t.literal(1)))
    costs = [_rest_cost(attribute, members) for attribute in attributes]
    rest = exp.Cast(
        this=exp.func("ROUND", exp.Div(this=exp.Paren(this=_sum(costs)), expression=members.copy())), to=_bigint()
    )
    rows = exp.Sub(this=t.column("n", "c"), expression=t.column("n", "t"))
    before = exp.Mul(this=t.column("n", "c"), expression=t.column("cost", "c"))
    columns = [t.column("id", "t"), t.column("class", "s"), t.column("dirty", "c"), exp.alias_(rows, "n")]
    columns += [exp.alias_(rest, "cost"), exp.alias_(t.column("n", "t"), "own"), exp.alias_(before, "before")]
    query = exp.select(*columns).from_(t.table(state, "s"), copy=False)
    same_tuple = exp.EQ(this=t.column("id", "t"), expression=t.column("id", "s"))
    same_class = exp.EQ(this=t.column("class", "c"), expression=t.column("class", "s"))
    query.join(t.table(tuples, "t"), on=same_tuple, copy=False).join(t.table(classes, "c"), on=same_class, copy=False)
    query.where(exp.GT(this=t.column("tuples", "c"), expression=t.literal(1)), copy=False)
    return t.printed(query, dialect)


def _rest_cost(attribute: GeneralizationSteps, members: exp.Expr) -> exp.Expr:
    """The cost of an attribute for the rest of a class, times the number of tuples of the rest."""
    case, top = exp.Case(), attribute.coded.height
    for level in range(1 if attribute.spanned else top):
        name, code = attribute.coded.code_column(level), attribute.code(level, "t")
        added = exp.Paren(this=exp.Sub(this=t.column(f"{name}_sum", "c"), expression=code))
        squares = exp.Paren(
            this=exp.Sub(
                this=t.column(f"{name}_squares", "c"), expression=exp.Mul(this=code.copy(), expression=code.copy())
            )
        )
        equal = exp.EQ(
            this=exp.Mul(this=members.copy(), expression=squares),
            expression=exp.Mul(this=added, expression=added.copy()),
        )
        costs = exp.Sub(this=t.column(f"{name}_costs", "c"), expression=attribute.cost(level, "t"))
        case = case.when(equal, costs)
    most: exp.Expr = t.column(f"{attribute.coded.code_column(top)}_costs", "c")
    if attribute.spanned:
        most = _span(_without(attribute, "low"), _without(attribute, "high"), most)
    last = exp.Mul(this=members.copy(), expression=most)
    return case.else_(last) if top else last


def _without(attribute: GeneralizationSteps, end: str) -> exp.Expr:
    """An end of a class's span without one of its tuples."""
    own, other = attribute.end(end, "t"), attribute.end(end, "c")
    equal = exp.EQ(this=own, expression=other)
    return exp.Case().when(equal, attribute.end(f"next_{end}", "c")).else_(other.copy())


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
            equal = exp.EQ(this=attribute.code(level, "d"), expression=attribute.code(level, "t"))
            saved = exp.Sub(this=attribute.cost(level + 1, "t"), expression=attribute.cost(level, "t"))
            shared.append(exp.Case().when(equal, saved).else_(t.literal(0)))
        equals += [equal.copy()] if top and not attribute.free else []
    taken = exp.Paren(this=exp.Sub(this=_sum(tops), expression=exp.Paren(this=_sum(shared))))
    together = exp.Paren(this=exp.Add(this=t.column("n", "d"), expression=t.column("own", "m")))
    after = exp.Mul(this=together, expression=taken)
    before = exp.Mul(this=t.column("n", "d"), expression=t.column("cost", "d"))
    gain = exp.Add(this=exp.Sub(this=t.column("most", "m"), expression=after), expression=before)
    columns: list[exp.Expr] = [t.column(name, "m") for name in ("id", "own", "class")]
    columns += [exp.alias_(t.column("class", "d"), "target"), exp.alias_(gain, "gain")]
    # A class with one more tuple costs no less, so the tuple will cost at least as much as the target's rows do now.
    least = exp.Mul(this=t.column("cost", "d"), expression=t.column("own", "m"))
    is_new: exp.Expr = t.column("dirty", "d")
    if not changed:
        is_new = exp.Paren(this=exp.Or(this=t.column("dirty", "m"), expression=is_new))
    conditions: list[exp.Expr] = [
        *(equals if near is not None else _lost_bits(words, together)),
        exp.NEQ(this=t.column("class", "d"), expression=t.column("class", "m")),
        exp.LT(this=least, expression=t.column("most", "m")),
        is_new,
    ]
    query = exp.select(*columns).from_(t.table(movers, "m"))
    query = query.join(t.table(tuples, "t"), on=exp.EQ(this=t.column("id", "t"), expression=t.column("id", "m")))
    query = query.join(t.table(classes, "d"), on=exp.and_(*conditions)).where(*_movers(near, places))
    pairs = query.subquery("pairs")
    gains = exp.GT(this=t.column("gain"), expression=t.literal(0))
    # Aggregated as they come: the pairs with a gain would not fit into memory.
    order = exp.func("ROW", exp.Neg(this=t.column("gain")), t.column("target"))
    same = [exp.alias_(exp.Min(this=t.column(name)), name) for name in ("own", "class")]
    best = [exp.alias_(_best(name, order, targets), name) for name in ("target", "gain")]
    return t.printed(exp.select("id", *same, *best).from_(pairs).where(gains).group_by("id"), dialect)


def _lost_bits(words: Sequence[LabelWord], together: exp.Expr) -> list[exp.Expr]:
    """The condition that the bits that a target would lose cost less than the mover's leaving saves."""
    if not words:
        return []
    costs = []
    for word in words:
        missing = exp.BitwiseNot(this=t.column(word.name, "t"))
        lost = exp.func("BIT_COUNT", exp.BitwiseAnd(this=t.column(word.name, "d"), expression=missing))
        costs.append(exp.Mul(this=exp.cast(lost, "BIGINT"), expression=t.literal(word.least)))
    more = exp.Mul(this=together.copy(), expression=exp.Paren(this=_sum(costs)))
    least = exp.Mul(this=t.column("cost", "d"), expression=t.column("own", "m"))
    return [exp.LT(this=exp.Add(this=more, expression=least), expression=t.column("most", "m"))]


def _joined_span(attribute: GeneralizationSteps) -> exp.Expr:
    """The cost of a span for a target that takes a tuple in."""
    equal = exp.EQ(this=attribute.code(0, "d"), expression=attribute.code(0, "t"))
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
        most = exp.Mul(this=t.column("own", "m"), expression=t.literal(near))
        return [exp.LTE(this=t.column("most", "m"), expression=most)]
    first, end = places or (1, 1)
    place = t.column("place", "m")
    return [exp.GTE(this=place, expression=t.literal(first)), exp.LT(this=place.copy(), expression=t.literal(end))]


def _sum(terms: Sequence[exp.Expr]) -> exp.Expr:
    copies = [term.copy() for term in terms] or [t.literal(0)]
    return reduce(lambda total, term: exp.Add(this=total, expression=term), copies)


def _row_number(keys: Sequence[exp.Expr]) -> exp.Expr:
    return exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[key.copy() for key in keys]))


def _bigint() -> exp.DataType:
    return exp.DataType.build("BIGINT")
