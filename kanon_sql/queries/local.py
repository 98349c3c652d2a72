"""The queries of local recodings: classes made of any tuples, what they show, and their release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from kanon_sql.privacy import POPULATION_UNIT, Predicate
from kanon_sql.queries import tree as t
from kanon_sql.queries.pieces import in_pieces
from kanon_sql.queries.release import (
    CLASSES,
    COUNTED,
    RECODED,
    UNMAPPED_CODE,
    beside_population,
    concatenated,
    in_population,
    ordered,
    with_safe_classes,
)
from kanon_sql.queries.written import Statement, WrittenTable, laid_out
from kanon_sql.relation import Relation


@t.remembered
def regions(relation: Relation, last: Sequence[int], dialect: str) -> str:
    """The query of what every class was cut to, one row per class: class, low_0, high_0, low_1, …

    `relation`: class, attribute, low, high (NULL: to the end). `last`: each attribute's last position.
    """
    group = t.column("class")
    query = exp.select(group).from_(t.table(relation), copy=False).group_by(group.copy(), copy=False)
    for j, end in enumerate(last):
        is_j = exp.EQ(this=t.column("attribute"), expression=t.literal(j))
        for side, most in (("low", 0), ("high", end)):
            largest = exp.func("MAX", exp.Case().when(is_j.copy(), t.column(side)))
            known = exp.func("COALESCE", largest, t.literal(most))
            query = query.select(exp.alias_(known, f"{side}_{j}", quoted=True), copy=False)
    return t.printed(query, dialect)


_SHOWN = ("label", "leaves", "level")


@t.remembered
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
        t.table(tuples, "t"), copy=False
    )
    for relation, alias, key, other in ((recoded, "r", "tuple", "t"), (nodes, "v", "node", "r")):
        same = exp.EQ(this=exp.column(key, table=alias), expression=exp.column(key, table=other))
        query = query.join(t.table(relation, alias), on=same, copy=False)
    for j, columns in enumerate(levels):
        level, code = t.column(f"level_{j}", "v"), exp.Case()
        for number, column in enumerate(columns):
            code = code.when(exp.EQ(this=level.copy(), expression=t.literal(number)), t.column(column, "t"))
        wanted = {"attribute": t.literal(j), "rule_level": level, "code": code}
        equal = exp.and_(*(exp.EQ(this=t.column(name, f"a{j}"), expression=value) for name, value in wanted.items()))
        query = query.join(t.table(labels, f"a{j}"), on=equal, copy=False)
        query = query.select(*(exp.alias_(t.column(name, f"a{j}"), f"{name}_{j}", quoted=True) for name in _SHOWN))
    return t.printed(in_pieces(query, [f"a{j}" for j, _ in enumerate(levels)]), dialect)


@t.remembered
def readings(classes: Relation, labels: Relation, count: int, dialect: str) -> str:
    """The query of what the labels of classes stand for: class, and per attribute level_j and code_j.

    `classes`: class, label_0 … label_(count - 1); `labels`: attribute, label, level, code. A class with a label that
    nothing stands for is left out.
    """
    query = exp.select(exp.column("class", table="k")).from_(t.table(classes, "k"), copy=False)
    for j in range(count):
        same = exp.NullSafeEQ(this=t.column("label", f"a{j}"), expression=t.column(f"label_{j}", "k"))
        equal = exp.and_(exp.EQ(this=t.column("attribute", f"a{j}"), expression=t.literal(j)), same)
        query = query.join(t.table(labels, f"a{j}"), on=equal, copy=False)
        query = query.select(*(exp.alias_(t.column(name, f"a{j}"), f"{name}_{j}") for name in ("level", "code")))
    return t.printed(in_pieces(query, [f"a{j}" for j in range(count)]), dialect)


def beside_patterns(tuples: Relation, patterns: Relation, levels: Sequence[Sequence[str]], dialect: str) -> str:
    """The query that puts patterns (pattern, class, level_j, code_j) beside the tuples, in the tuples' columns.

    A pattern has a code in one column of each attribute, that of its level, and no rows (n = 0).
    """
    of_tuples = [*(exp.alias_(exp.null(), name) for name in ("pattern", "class")), exp.column("n")]
    of_patterns = [exp.column("pattern"), exp.column("class"), exp.alias_(exp.Literal.number(0), "n")]
    for j, columns in enumerate(levels):
        for number, column in enumerate(columns):
            here = exp.EQ(this=t.column(f"level_{j}"), expression=t.literal(number))
            code = exp.Case().when(here, t.column(f"code_{j}"))
            of_tuples.append(t.column(column))
            of_patterns.append(exp.alias_(code, column, quoted=True))
    first = exp.select(*of_tuples).from_(t.table(tuples))
    return t.printed(exp.union(first, exp.select(*of_patterns).from_(t.table(patterns)), distinct=False), dialect)


# Local recodings: classes made of any tuples


@dataclass(frozen=True)
class LocalCell:
    """A column of the source in a local release: kept (no mapping), or shown as columns of the classes.

    `key`: the assignment's column of its code. `null`: the code of NULL. `shown`: released name and classes' column.
    `open_type`: the type to release a value in whose own type would tell of others (ENUM).
    """

    name: str
    sortable: bool = True
    mapping: Relation | None = None
    key: str = ""
    null: int | None = None
    shown: tuple[tuple[str, str], ...] = ()
    open_type: str | None = None


@dataclass(frozen=True)
class LocalReleaseQuery:
    """What a release by classes is made of; `sql` prints it.

    `assignment` tells a tuple's class (`split`: of its rows first to last, counted by their sensitive values, then in a
    seeded order), `classes` what it shows. `recount`: keep only classes that are safe on the very rows that the query
    returns. `sensitive`: the source's columns whose values `safe` counts, by the names that it has for them.
    `population`: the table that the source is a sample of, where `safe` counts those of its rows too, or of the people
    that its column `population_unit` tells apart, that are equal to a class's tuples. `values`: the tables that are
    written out, in a statement that stands alone; `read_files`: the query of the files that its source is.
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
    values: tuple[WrittenTable, ...] = ()
    sensitive: Mapping[str, str] = field(default_factory=dict)
    population: Relation | None = None
    population_unit: str | None = None
    read_files: str | None = None

    @property
    def kept(self) -> bool:
        """Whether mapping tables, assignment and classes are a view's own, which others may write to."""
        return self.recount and not self.values

    def sql(self, dialect: str) -> str:
        """The query in a dialect."""
        return t.printed(_local_release(self), dialect)

    def statement(self, dialect: str) -> Statement:
        """The query with its `values`, and those of them that are too long to stand in it."""
        tree = _local_release(self, dialect)
        return Statement(laid_out(tree, dialect), tuple(v for v in self.values if v.is_long(dialect)), dialect)

    def population_sql(self, dialect: str) -> str:
        """The query of the population as the release shows it: what is shown, and `population`, the rows or people."""
        assert self.population is not None
        return t.printed(_shown_local_population(self, self.population), dialect)

    def left_out_sql(self, columns: Sequence[str], dialect: str) -> str:
        """The query of the source's rows that no class holds, with these columns of the source."""
        named = [exp.alias_(t.column(name, "s"), f"k{i}", quoted=True) for i, name in enumerate(columns)]
        coded, _ = _with_codes(exp.select(*named).from_(t.table(self.source, "s"), copy=False), self)
        equal = [
            exp.EQ(this=t.column(cell.key, "a"), expression=t.column(f"c{i}", "r")) for i, cell in enumerate(self.cells)
        ]
        held = exp.select(exp.Literal.number(1)).from_(t.table(self.assignment, "a"), copy=False)
        held = held.where(*equal, t.is_not_null(t.column("class", "a")), copy=False)
        query = exp.select(*(exp.alias_(t.column(f"k{i}", "r"), name, quoted=True) for i, name in enumerate(columns)))
        query = query.from_(in_pieces(coded, _mappings(self)).subquery("r"), copy=False)
        return t.printed(query.where(exp.not_(exp.Exists(this=held)), copy=False), dialect)


_CODED = "kanon_coded"
_PLACES = ("first", "last")


def _local_release(release: LocalReleaseQuery, dialect: str = "") -> exp.Expr:
    names = [(f"o{i}_{j}", shown[0]) for i, cell in enumerate(release.cells) for j, shown in enumerate(_shows(cell))]
    query = exp.select(*(exp.alias_(t.column(inner, RECODED), name, quoted=True) for inner, name in names))
    query = query.from_(exp.to_table(RECODED))
    if release.recount:
        query = query.join(exp.to_table(CLASSES), using=[exp.to_identifier("class")])
    query = query.order_by(*_local_order(release))
    if release.read_files:
        query = query.with_(exp.to_identifier(release.source.name), as_=release.read_files, dialect="duckdb")
    for table in release.values:
        if not table.is_long(dialect):
            query = query.with_(exp.to_identifier(table.name), as_=table.query())
    query = query.with_(_CODED, as_=_local_coded(release))
    query = query.with_(RECODED, as_=_local_recoded(release), materialized=release.recount or None)
    if release.recount and release.population is not None:
        query = query.with_(COUNTED, as_=_local_counted(release, release.population))
    if release.recount:
        counted = RECODED if release.population is None else COUNTED
        query = with_safe_classes(query, [t.column("class")], _CODED, release.safe, counted)
    return query


def _local_counted(release: LocalReleaseQuery, population: Relation) -> exp.Query:
    """The rows of the source that are counted, and those of the population that are equal to tuples, by their class."""
    people = t.column(POPULATION_UNIT, "r") if release.population_unit else None
    counted = in_population([t.column("class", "a")], list(release.sensitive), people)
    counted = _equal_to_tuples(counted, release, population, _tuples_of_classes(release))
    return beside_population(["class"], list(release.sensitive), people is not None, counted)


def _equal_to_tuples(
    query: exp.Select, release: LocalReleaseQuery, population: Relation, tuples: exp.Expr
) -> exp.Select:
    """A query of a population's rows, `r`, each beside those of the tuples, `a`, that it is equal to."""
    unit = [t.column(release.population_unit, "s")] if release.population_unit else []
    rows = exp.select(*(exp.alias_(each, POPULATION_UNIT, quoted=True) for each in unit))
    coded, _ = _with_codes(rows.from_(t.table(population, "s"), copy=False), release)
    cells = [(i, cell) for i, cell in enumerate(release.cells) if cell.mapping]
    equal = [exp.EQ(this=t.column(cell.key, "a"), expression=t.column(f"c{i}", "r")) for i, cell in cells]
    query = query.from_(in_pieces(coded, _mappings(release)).subquery("r"), copy=False)
    return query.join(tuples, on=exp.and_(*equal), copy=False)


def _shown_local_population(release: LocalReleaseQuery, population: Relation) -> exp.Select:
    """The rows of the population that are equal to tuples, by what the classes of these show; as the release is read.

    A tuple that is parted counts once where its parts show the same.
    """
    keys = [cell.key for cell in release.cells if cell.mapping]
    shows = {name: column for cell in release.cells for name, column in cell.shown}
    same = exp.EQ(this=t.column("class", "k"), expression=t.column("class", "b"))
    columns = [*(t.column(column, "k") for column in shows.values()), *(t.column(key, "b") for key in keys)]
    assignment = _assignment(release)
    assignment.set("alias", exp.TableAlias(this=exp.to_identifier("b")))
    tuples = exp.select(*columns).distinct().from_(assignment, copy=False)
    classes = _once(release, release.classes, ["class"], list(shows.values()), "k")
    tuples = tuples.join(classes, on=same, copy=False)
    rows: exp.Expr = exp.Count(this=exp.Star())
    if release.population_unit:
        rows = exp.Count(this=exp.Distinct(expressions=[t.column(POPULATION_UNIT, "r")]))
    shown = [exp.alias_(t.column(column, "a"), name, quoted=True) for name, column in shows.items()]
    query = exp.select(*shown, exp.alias_(rows, "population"))
    query = _equal_to_tuples(query, release, population, tuples.subquery("a"))
    return query.group_by(*(t.column(column, "a") for column in shows.values()), copy=False)


def _tuples_of_classes(release: LocalReleaseQuery) -> exp.Expr:
    """The tuples of each class once, though a class may have several parts of one."""
    if not release.split:
        return _assignment(release)
    columns = [t.column(name, "a") for name in ("class", *(cell.key for cell in release.cells if cell.mapping))]
    return exp.select(*columns).distinct().from_(_assignment(release), copy=False).subquery("a")


def _shows(cell: LocalCell) -> tuple[tuple[str, str], ...]:
    return cell.shown or ((cell.name, ""),)


def _local_coded(release: LocalReleaseQuery) -> exp.Select:
    """The source's rows: kept columns as k0, k1, …, codes as c0, c1, …, and where tuples are split a number."""
    source = exp.select().from_(t.table(release.source, "s"), copy=False)
    if release.recount:
        counted = [exp.alias_(t.column(raw, "s"), name, quoted=True) for name, raw in release.sensitive.items()]
        source = source.select(exp.alias_(exp.Literal.number(1), "n", quoted=True), *counted, copy=False)
    plain = [(i, cell) for i, cell in enumerate(release.cells) if cell.mapping is None]
    source = source.select(*(exp.alias_(t.column(cell.name, "s"), f"k{i}", quoted=True) for i, cell in plain))
    source, codes = _with_codes(source, release)
    if not release.split:
        return in_pieces(source, _mappings(release))
    number = exp.Window(
        this=exp.RowNumber(), partition_by=[code.copy() for code in codes], order=_order_in_tuple(release)
    )
    return in_pieces(source.select(exp.alias_(number, "place", quoted=True), copy=False), _mappings(release))


def _with_codes(query: exp.Select, release: LocalReleaseQuery) -> tuple[exp.Select, list[exp.Expr]]:
    """A query of the relation `s` with its codes as c0, c1, …, by the mapping tables, and what these are."""
    codes: list[exp.Expr] = []
    for i, cell in enumerate(release.cells):
        if cell.mapping is None:
            continue
        raw = t.column(cell.name, "s")
        equal = exp.EQ(this=t.column("value", f"m{i}"), expression=raw)
        mapping = _once(release, cell.mapping, ["value"], ["code_0"], f"m{i}")
        query = query.join(mapping, on=equal, join_type="LEFT", copy=False)
        known = exp.func("COALESCE", t.column("code_0", f"m{i}"), t.literal(UNMAPPED_CODE))
        null = t.literal(UNMAPPED_CODE if cell.null is None else cell.null)
        codes.append(exp.Case().when(t.is_null(raw), null).else_(known))
        query = query.select(exp.alias_(codes[-1], f"c{i}", quoted=True), copy=False)
    return query, codes


def _mappings(release: LocalReleaseQuery) -> list[str]:
    return [f"m{i}" for i, _ in enumerate(release.cells)]


def _order_in_tuple(release: LocalReleaseQuery) -> exp.Order:
    """The order that the places of a tuple's rows are counted in: by value first, as the sensitive codes are."""
    values = [exp.Ordered(this=t.column(column, "s")) for column in release.sensitive.values()]
    by_hash = exp.func("MD5", concatenated(str(release.seed), [t.column(c.name, "s") for c in release.cells]))
    return exp.Order(expressions=[*values, by_hash])


def _local_recoded(release: LocalReleaseQuery) -> exp.Select:
    """The rows with what they show (o0_0, o1_0, …), their class, and n to count them by."""
    query = exp.select(t.column("class", "k")).from_(exp.alias_(exp.to_table(_CODED), "r", table=True), copy=False)
    equal: list[exp.Expr] = []
    if release.recount:
        query = query.select(*(t.column(name, "r") for name in ("n", *release.sensitive)), copy=False)
    for i, cell in enumerate(release.cells):
        if cell.mapping:
            equal.append(exp.EQ(this=t.column(cell.key, "a"), expression=t.column(f"c{i}", "r")))
        for j, (_, column) in enumerate(_shows(cell)):
            shown = t.column(column, "k") if cell.mapping else t.column(f"k{i}", "r")
            query = query.select(exp.alias_(t.opened(shown, cell.open_type), f"o{i}_{j}", quoted=True), copy=False)
    if release.split:
        within = exp.Between(this=t.column("place", "r"), low=t.column("first", "a"), high=t.column("last", "a"))
        equal.append(within)
    same = exp.EQ(this=t.column("class", "k"), expression=t.column("class", "a"))
    query = query.join(_assignment(release), on=exp.and_(*equal), copy=False)
    shows = [column for cell in release.cells for _, column in cell.shown]
    return query.join(_once(release, release.classes, ["class"], shows, "k"), on=same, copy=False)


def _assignment(release: LocalReleaseQuery) -> exp.Expr:
    keys = [cell.key for cell in release.cells if cell.mapping]
    if release.kept and release.split:
        return t.tree("core/apart", assignment=release.assignment, keys=keys).subquery("a")
    return _once(release, release.assignment, keys, ["class", *_PLACES] if release.split else ["class"], "a")


def _once(
    release: LocalReleaseQuery, relation: Relation, keys: Sequence[str], columns: Sequence[str], alias: str
) -> exp.Expr:
    """A relation that a join takes no row twice from, though others may write to a view's own tables."""
    if not release.kept:
        return t.table(relation, alias)
    return t.tree("core/unrepeated", kept=relation, keys=keys, columns=columns).subquery(alias)


def _local_order(release: LocalReleaseQuery) -> list[exp.Expr]:
    """The order of the rows: by all that is released, quasi-identifiers first, or a seeded hash of it."""
    places = sorted(range(len(release.cells)), key=lambda i: release.cells[i].mapping is None)
    columns: list[tuple[exp.Expr, bool]] = [
        (t.column(f"o{i}_{j}", RECODED), release.cells[i].sortable)
        for i in places
        for j in range(len(_shows(release.cells[i])))
    ]
    kept = [t.column(f"o{i}_0", RECODED) for i in places if release.cells[i].mapping is None]
    return ordered(columns, kept, release.seed if release.shuffle else None)


@t.remembered
def assigned(
    frequency_set: Relation, assignment: Relation, keys: Sequence[str], columns: Sequence[str], dialect: str
) -> str:
    """The query of the counted tuples that have a class: class, and columns of the frequency set."""
    group = t.column("class", "a")
    query = exp.select(group, *(t.column(name, "f") for name in columns)).from_(t.table(frequency_set, "f"), copy=False)
    same = exp.and_(*(exp.EQ(this=t.column(key, "a"), expression=t.column(key, "f")) for key in keys))
    return t.printed(query.join(t.table(assignment, "a"), on=same).where(t.is_not_null(group)), dialect)


@t.remembered
def cells_of_node(
    assignment: Relation, keys: Sequence[str], leaves: Sequence[str | int], most: Sequence[int],
    weights: Sequence[float], dialect: str,
) -> str:  # fmt: skip
    """The query of a node's cells: the keys, n, class, per attribute leaves_j, share, and with weights `weighted`.

    `leaves`: a column of the assignment with n times (leaves - 1), or the leaves where all its cells have as many.
    `most`: all leaves of each attribute; `share` is the logarithm of the part of all their combinations;
    `weighted` the same with each attribute's part to the power of its weight.
    """
    query = exp.select(*(t.column(name, "a") for name in (*keys, "n", "class"))).from_(t.table(assignment, "a"))
    return _with_leaves(query, [_leaves(each) for each in leaves], most, weights, dialect)


def _leaves(said: str | int) -> exp.Expr:
    if not isinstance(said, str):
        return t.literal(said)
    more = exp.cast(exp.Div(this=t.column(said, "a"), expression=t.column("n", "a")), "BIGINT")
    return exp.Add(this=more, expression=exp.Literal.number(1))


@t.remembered
def cells_of_classes(
    assignment: Relation, classes: Relation, keys: Sequence[str], most: Sequence[int], weights: Sequence[float],
    dialect: str,
) -> str:  # fmt: skip
    """The query of the cells of a local recoding, with the columns of `cells_of_node`."""
    query = exp.select(*(t.column(name, "a") for name in (*keys, "n", "class"))).from_(t.table(assignment, "a"))
    same = exp.EQ(this=t.column("class", "k"), expression=t.column("class", "a"))
    leaves = [t.column(f"leaves_{j}", "k") for j, _ in enumerate(most)]
    return _with_leaves(query.join(t.table(classes, "k"), on=same), leaves, most, weights, dialect)


def _with_leaves(
    query: exp.Select, leaves: Sequence[exp.Expr], most: Sequence[int], weights: Sequence[float], dialect: str
) -> str:
    named = (exp.alias_(each.copy(), f"leaves_{j}", quoted=True) for j, each in enumerate(leaves))
    query = query.select(*named, exp.alias_(_log_share(leaves, most), "share"))
    if weights:
        query = query.select(exp.alias_(_log_share(leaves, most, weights), "weighted"))
    return t.printed(query, dialect)


def _log_share(leaves: Sequence[exp.Expr], most: Sequence[int], weights: Sequence[float] = ()) -> exp.Expr:
    """The logarithm of the part that leaves are of all combinations, which no product could hold of many columns."""
    total: exp.Expr = exp.cast(exp.Literal.number(0), "DOUBLE")
    for j, (each, every) in enumerate(zip(leaves, most, strict=True)):
        share = exp.Div(this=exp.cast(exp.paren(each.copy()), "DOUBLE"), expression=t.literal(every))
        part: exp.Expr = exp.Ln(this=share)
        part = exp.Mul(this=part, expression=t.literal(weights[j])) if weights else part
        total = exp.Add(this=total, expression=part)
    return total


@t.remembered
def covered(
    frequency_set: Relation, classes: Relation, keys: Sequence[str], positions: Sequence[Relation], most: Sequence[int],
    dialect: str,
) -> str:  # fmt: skip
    """The query of which tuples the classes of a local recoding may stand for: tuple, n, mass; mass NULL of none.

    `classes` with leaves_j, first_j and last_j; mass is the class's rows over its part of all combinations of leaves.
    """
    # What no hierarchy holds has the place behind the leaves, and is shown as all of them.
    held = [exp.func("LEAST", t.column("position", f"p{j}"), t.literal(every - 1)) for j, every in enumerate(most)]
    places = [exp.alias_(place, f"place_{j}") for j, place in enumerate(held)]
    group = [place.this for place in places]
    rows = exp.alias_(exp.func("SUM", t.column("n", "f")), "n")
    in_order = exp.Order(expressions=[place.copy() for place in group])
    number = exp.alias_(exp.Window(this=exp.RowNumber(), order=in_order), "tuple")
    tuples = exp.select(number, rows, *places).from_(t.table(frequency_set, "f"), copy=False)
    for j, (key, relation) in enumerate(zip(keys, positions, strict=True)):
        equal = exp.EQ(this=t.column("code_0", f"p{j}"), expression=t.column(key, "f"))
        tuples = tuples.join(t.table(relation, f"p{j}"), on=equal, copy=False)
    tuples = in_pieces(
        tuples.group_by(*(each.copy() for each in group), copy=False), {f"p{j}" for j, _ in enumerate(keys)}
    )
    inside = _inside("first", "last", len(keys))
    share = _log_share([t.column(f"leaves_{j}", "k") for j, _ in enumerate(keys)], most)
    mass = exp.Div(this=t.column("n", "k"), expression=exp.Exp(this=share))
    query = exp.select(t.column("tuple", "t"), t.column("n", "t"), exp.alias_(mass, "mass"))
    query = query.from_(tuples.subquery("t")).join(t.table(classes, "k"), on=exp.and_(*inside), join_type="LEFT")
    return t.printed(query, dialect)


def _inside(low: str, high: str, count: int) -> list[exp.Expr]:
    """The conditions that the places of a tuple, `t`, are in the ranges of positions of a class or box, `k`."""
    return [
        exp.Between(
            this=t.column(f"place_{j}", "t"), low=t.column(f"{low}_{j}", "k"), high=t.column(f"{high}_{j}", "k")
        )
        for j in range(count)
    ]


@t.remembered
def placed(tuples: Relation, boxes: Relation, keys: Sequence[str], positions: Sequence[Relation], dialect: str) -> str:
    """The query that puts every tuple into the first box that holds it: the keys, n, place (NULL: none does).

    `tuples`: the keys and n; `boxes`: place, and per attribute low_j and high_j, in the positions of its order.
    """
    query = exp.select(*(t.column(name, "f") for name in (*keys, "n"))).from_(t.table(tuples, "f"), copy=False)
    for j, (key, relation) in enumerate(zip(keys, positions, strict=True)):
        equal = exp.EQ(this=t.column("code_0", f"p{j}"), expression=t.column(key, "f"))
        query = query.join(t.table(relation, f"p{j}"), on=equal, copy=False)
        query = query.select(exp.alias_(t.column("position", f"p{j}"), f"place_{j}", quoted=True), copy=False)
    inside = _inside("low", "high", len(keys))
    first = exp.alias_(exp.func("MIN", t.column("place", "k")), "place", quoted=True)
    known = [t.column(name, "t") for name in (*keys, "n")]
    pieces = in_pieces(query, [f"p{j}" for j, _ in enumerate(keys)])
    chosen = exp.select(*known, first).from_(pieces.subquery("t"), copy=False)
    chosen = chosen.join(t.table(boxes, "k"), on=exp.and_(*inside), join_type="LEFT", copy=False)
    return t.printed(chosen.group_by(*(each.copy() for each in known), copy=False), dialect)


def nearest(name: str, distances: Mapping[str, t.Hole], dialect: str, **holes: t.Hole) -> str:
    """The query `name` of distances that it works out itself; `distances`: the holes of `kaca/distances`."""
    query, made = t.tree(name, distances=_DISTANCES, **holes), t.tree("kaca/distances", **distances)
    for each in [each for each in query.find_all(exp.Table) if each.name == _DISTANCES.name]:
        each.replace(made.subquery(each.alias))
    return t.printed(query, dialect)


_DISTANCES = Relation("kaca_distances")


@t.remembered
def members(assignment: Relation, key: str, positions: Relation, dialect: str) -> str:
    """The query of one attribute's values in every class: class, position, n."""
    place, group = t.column("position", "p"), t.column("class", "a")
    rows = exp.alias_(exp.func("SUM", t.column("n", "a")), "n", quoted=True)
    query = exp.select(group, place, rows).from_(t.table(assignment, "a"), copy=False)
    query = query.join(t.table(positions, "p"), on=exp.EQ(this=t.column("code_0", "p"), expression=t.column(key, "a")))
    return t.printed(query.where(t.is_not_null(group)).group_by(group.copy(), place.copy()), dialect)


@t.remembered
def boxes(assignment: Relation, keys: Sequence[str], positions: Sequence[Relation], dialect: str) -> str:
    """The query of the range of positions that every class fills: class, n, low_0, high_0, low_1, …

    `keys`: the columns of the assignment that hold each attribute's level-0 code.
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
        equal = exp.EQ(this=t.column("code_0", f"p{j}"), expression=t.column(key, "a"))
        query = query.join(t.table(relation, f"p{j}"), on=equal, copy=False)
    query = query.where(t.is_not_null(group)).group_by(group.copy())
    return t.printed(in_pieces(query, [f"p{j}" for j, _ in enumerate(keys)]), dialect)


@dataclass(frozen=True)
class Shown:
    """How the classes of a local recoding show one attribute; see `kanon_sql.recode.show` for the words of `how`.

    `positions`: its order's relation. `nested`: every hierarchy node is one range of positions. `cut`: the label
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


def _reached(boxes: Relation, shown: Sequence[Shown]) -> exp.Expr:
    """The boxes as `b`, those of ranges and bounds as far as these reach, with their lower_j and upper_j."""
    if not any(each.bounds for each in shown):
        return t.table(boxes, "b")
    query = exp.select(t.column("class", "b"), t.column("n", "b")).from_(t.table(boxes, "b"), copy=False)
    for j, each in enumerate(shown):
        for end, bound, reached in (("low", "lower", "first_position"), ("high", "upper", "last_position")):
            place: exp.Expr = t.column(f"{end}_{j}", "b")
            if each.bounds:
                alias = f"{bound}{j}"
                here = exp.EQ(this=t.column("position", alias), expression=place.copy())
                query = query.join(t.table(each.bounds, alias), on=here, copy=False)
                query = query.select(exp.alias_(t.column(bound, alias), f"{bound}_{j}", quoted=True), copy=False)
                alone = exp.EQ(this=t.column(f"low_{j}", "b"), expression=t.column(f"high_{j}", "b"))
                place = exp.Case().when(alone, place).else_(t.column(reached, alias))
            query = query.select(exp.alias_(place, f"{end}_{j}", quoted=True), copy=False)
    joined = [f"{bound}{j}" for j, each in enumerate(shown) if each.bounds for bound in ("lower", "upper")]
    return in_pieces(query, joined).subquery("b", copy=False)


@t.remembered
def local_classes(boxes: Relation, cuts: Relation | None, shown: Sequence[Shown], dialect: str) -> str:
    """The query of released classes: class, n, and per attribute label_j (high_j), leaves_j, level_j, first_j, last_j.

    The last two are the first and the last position of the leaves that a cell may stand for.
    """
    query = exp.select(t.column("class", "b"), t.column("n", "b")).from_(_reached(boxes, shown), copy=False)
    if cuts:
        query = query.join(
            t.table(cuts, "c"), on=exp.EQ(this=t.column("class", "c"), expression=t.column("class", "b")), copy=False
        )
    for j, each in enumerate(shown):
        region = "c" if each.how == "labels" and cuts else "b"
        for end in ("low", "high"):
            place = exp.EQ(this=t.column("position", f"{end}{j}"), expression=t.column(f"{end}_{j}", region))
            query = query.join(t.table(each.positions, f"{end}{j}"), on=place, copy=False)
        if each.statistic:
            same = exp.EQ(this=t.column("class", f"s{j}"), expression=t.column("class", "b"))
            query = query.join(t.table(each.statistic, f"s{j}"), on=same, copy=False)
        query = query.select(*_shown(each, j), copy=False)
    joined = [f"{alias}{j}" for j, _ in enumerate(shown) for alias in ("low", "high", "s")]
    return t.printed(in_pieces(query, joined), dialect)


_RANGES = ("ranges", "bounds", "mean", "median", "mode")


def _shown(each: Shown, j: int) -> list[exp.Expr]:
    low, high = f"low{j}", f"high{j}"
    single = exp.EQ(this=t.column("position", low), expression=t.column("position", high))
    # NULL is the first position, and NaN and what no hierarchy holds are the last: with others they make no range.
    unordered = exp.or_(*(t.is_null(end) for end in _ends(each, j)))
    not_a_range = exp.and_(unordered, exp.not_(single))
    columns = [exp.alias_(_label(each, j, single, not_a_range), f"label_{j}", quoted=True)]
    if each.how == "bounds":
        columns.append(exp.alias_(_bound(each, j, 1, single, not_a_range), f"high_{j}", quoted=True))
    leaves, levels = _common(each, j, lambda level: t.column(f"leaves_{level}", low)), _common(each, j, t.literal)
    first = _common(each, j, lambda level: t.column(f"first_{level}", low))
    last: exp.Expr = exp.Sub(this=exp.Add(this=first.copy(), expression=leaves.copy()), expression=t.literal(1))
    whole: exp.Expr = t.column("starred", high)
    if each.how in _RANGES:
        width = exp.Sub(this=t.column("position", high), expression=t.column("position", low))
        spread = (
            exp.Case()
            .when(single.copy(), t.column("leaves_0", low))
            .when(not_a_range.copy(), t.literal(each.leaf_count))
        )
        leaves = spread.else_(exp.Add(this=width, expression=exp.Literal.number(1)))
        first, last = t.column("position", low), t.column("position", high)
        whole = exp.or_(whole, not_a_range.copy())
    levels = exp.Case().when(whole.copy(), t.literal(each.height)).else_(levels)
    first = exp.Case().when(whole.copy(), t.literal(0)).else_(first)
    last = exp.Case().when(whole.copy(), t.literal(each.leaf_count - 1)).else_(last)
    named = {"leaves": leaves, "level": levels, "first": first, "last": last}
    return [*columns, *(exp.alias_(of, f"{name}_{j}", quoted=True) for name, of in named.items())]


def _ends(each: Shown, j: int) -> tuple[exp.Expr, exp.Expr]:
    """The smallest and the largest value that a class shows."""
    if each.bounds:
        return t.column(f"lower_{j}", "b"), t.column(f"upper_{j}", "b")
    return t.column("value", f"low{j}"), t.column("value", f"high{j}")


def _bound(each: Shown, j: int, end: int, single: exp.Expr, not_a_range: exp.Expr) -> exp.Expr:
    case = exp.Case().when(single.copy(), t.column("value", f"low{j}")).when(not_a_range.copy(), exp.null())
    return case.else_(_ends(each, j)[end])


def _label(each: Shown, j: int, single: exp.Expr, not_a_range: exp.Expr) -> exp.Expr:
    low = f"low{j}"
    if each.statistic:
        return t.column("shown", f"s{j}")
    if each.how == "bounds":
        return _bound(each, j, 0, single, not_a_range)
    if each.how != "ranges":
        return _common(each, j, lambda level: t.column(f"label_{level}", low) if level else _value_text(low))
    text: exp.Expr = exp.Literal.string("[")
    lower, upper = (exp.cast(end, "TEXT") for end in _ends(each, j))
    for part in (lower, exp.Literal.string(", "), upper, exp.Literal.string("]")):
        text = exp.DPipe(this=text, expression=part)
    star = exp.Literal.string("*")
    return exp.Case().when(single.copy(), _value_text(low)).when(not_a_range.copy(), star).else_(text)


def _value_text(alias: str) -> exp.Expr:
    text = exp.cast(t.column("value", alias), "TEXT")
    return exp.Case().when(t.column("starred", alias), exp.Literal.string("*")).else_(text)


def _common(each: Shown, j: int, of: Callable[[int], exp.Expr]) -> exp.Expr:
    """Something of the lowest level on which both ends of the range have one label; the top where nodes are split."""
    case = exp.Case()
    for level in range(each.height) if each.nested else range(1):
        equal = exp.EQ(this=t.column(f"code_{level}", f"low{j}"), expression=t.column(f"code_{level}", f"high{j}"))
        case = case.when(equal, of(level))
    return case.else_(of(each.height))
