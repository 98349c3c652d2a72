"""The release of a local recoding, as a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.privacy import POPULATION_UNIT
from kanon_sql.queries import tree as t
from kanon_sql.queries.counted_release import PLACE, CountedRelease, ShownColumn, with_place
from kanon_sql.queries.inlined_tables import PrintedStatement, WrittenTable, laid_out
from kanon_sql.queries.release import (
    CLASSES,
    COUNTED,
    RECODED,
    UNMAPPED_CODE,
    beside_population,
    counted_values,
    in_population,
    population_column,
    unrepeated,
    with_classes_of_people,
    with_safe_classes,
)
from kanon_sql.queries.release_query import ReleaseColumn, ReleaseQuery
from kanon_sql.queries.row_order import concatenated, release_order
from kanon_sql.queries.split_joins import in_pieces
from kanon_sql.queries.suppression_limit import HELD, within_limit
from kanon_sql.relation import Relation


@dataclass(frozen=True, kw_only=True)
class LocalReleaseQuery(ReleaseQuery):
    """The query of a release by classes; `sql` prints it.

    `assignment` has a tuple's class (`split`: of its rows first to last, counted by their sensitive values, then in an
    order by `seed`), `classes` the labels of classes. `hidden`: the counted columns that are never released. `recount`:
    keep only classes that are safe on the rows that the query actually returns. `values`: the tables to write out in a
    standalone statement; `elsewhere`: for a system in which different values might be equal.
    """

    assignment: Relation
    classes: Relation
    split: bool = False
    hidden: tuple[str, ...] = ()
    recount: bool = False
    seed: int = 0
    values: tuple[WrittenTable, ...] = ()
    elsewhere: bool = False

    @property
    def kept(self) -> bool:
        """Whether mapping tables, assignment and classes belong to a view, so that others might write to them."""
        return self.recount and not self.values

    def sql(self, dialect: str) -> str:
        """The query in a dialect."""
        return t.printed(_view(self, dialect), dialect) if self.recount else self.counted(dialect).sql(dialect)

    def statement(self, dialect: str, lasting: bool = False) -> PrintedStatement:
        """The query with its `values`, and those of them that are too long to be part of it."""
        long = tuple(table for table in self.values if table.is_long(dialect, lasting))
        return PrintedStatement(laid_out(_statement(self, dialect, long), dialect), long, dialect, has_values=True)

    def counted(self, dialect: str) -> CountedRelease:
        """The release of classes that are already counted."""
        return _counted_classes(self, dialect)

    def population_sql(self, dialect: str) -> str:
        """The query of the population's classes in the release: the labels, and `population`, the rows or people."""
        assert self.population is not None
        return t.printed(_shown_local_population(self, self.population), dialect)

    def left_out_sql(self, columns: Sequence[str], dialect: str) -> str:
        """The query of the source's rows without a class, with these columns of the source."""
        named = [exp.alias_(t.column(name, "s"), f"k{i}", quoted=True) for i, name in enumerate(columns)]
        coded, _ = _with_codes(exp.select(*named).from_(t.table(self.source, "s"), copy=False), self)
        equal = [
            exp.EQ(this=t.column(cell.key, "a"), expression=t.column(f"c{i}", "r"))
            for i, cell in enumerate(self.columns)
        ]
        assigned = exp.select(exp.Literal.number(1)).from_(t.table(self.assignment, "a"), copy=False)
        assigned = assigned.where(*equal, t.is_not_null(t.column("class", "a")), copy=False)
        query = exp.select(*(exp.alias_(t.column(f"k{i}", "r"), name, quoted=True) for i, name in enumerate(columns)))
        query = query.from_(in_pieces(coded, _mappings(self)).subquery("r"), copy=False)
        return t.printed(query.where(exp.not_(exp.Exists(this=assigned)), copy=False), dialect)


_CODED = "kanon_coded"
_PLACES = ("first", "last")


def _view(release: LocalReleaseQuery, dialect: str) -> exp.Expr:
    """A view's query, which counts its classes whenever it is executed, and looks up the labels of safe ones."""
    labels = {f"o{i}_{j}": column for i, cell in enumerate(release.columns) for j, (_, column) in enumerate(cell.shown)}
    shown = [exp.alias_(t.column(column, "k"), name) for name, column in labels.items()]
    classes = exp.select(t.column("class", "q"), *shown).from_(t.table(Relation(CLASSES), "q"))
    same = exp.EQ(this=t.column("class", "k"), expression=t.column("class", "q"))
    classes = classes.join(_once(release, release.classes, ["class"], list(labels.values()), "k"), on=same)
    counted = CountedRelease(
        source=release.source,
        columns=tuple(column for i, cell in enumerate(release.columns) for column in _shown_columns(i, cell)),
        keys={"class": "class"},
        rows=_local_recoded(release, labelled=False),
        shown=with_place(classes, [t.column(column, "k") for column in labels.values()], dialect),
        shuffle_seed=release.shuffle_seed,
    )
    query = exp.Select().with_(_CODED, as_=t.fenced(_local_coded(release), dialect))
    query = query.with_(RECODED, as_=counted.rows, materialized=True)
    return counted.from_counted(_with_classes(query, release, dialect, True), RECODED, dialect)


def _with_classes(query: exp.Select, release: LocalReleaseQuery, dialect: str, once: bool | None) -> exp.Select:
    """A query with the safe classes of the recoded rows; `once`: whether it computes them only once."""
    if release.least_people and release.population is None:
        return with_classes_of_people(query, ["class"], release.least_people)
    if release.population is not None:
        query = query.with_(COUNTED, as_=_local_counted(release, release.population))
    counted = RECODED if release.population is None else COUNTED
    return with_safe_classes(query, [t.column("class")], _CODED, release.safe, dialect, counted, once)


def _statement(release: LocalReleaseQuery, dialect: str, apart: Sequence[WrittenTable]) -> exp.Expr:
    """A statement that counts its classes, as a tree; `apart`: its values that are separate tables."""
    names = [(f"o{i}_{j}", shown[0]) for i, cell in enumerate(release.columns) for j, shown in enumerate(_shows(cell))]
    query = exp.select(*(exp.alias_(t.column(inner, RECODED), name, quoted=True) for inner, name in names))
    recoded, using = exp.to_table(RECODED), exp.to_identifier("class")
    if release.limit is not None:
        query = query.from_(exp.to_table(HELD)).join(recoded, using=[using], join_type="LEFT")
    else:
        query = query.from_(recoded).join(exp.to_table(CLASSES), using=[using])
    query = query.order_by(*_local_order(release))
    if release.read_files:
        query = query.with_(exp.to_identifier(release.source.name), as_=release.read_files, dialect="duckdb")
    for table in release.values:
        if table not in apart:
            query = query.with_(exp.to_identifier(table.name), as_=table.query())
    query = query.with_(_CODED, as_=t.fenced(_local_coded(release), dialect))
    once = None if release.elsewhere else True  # where the dialect can
    query = query.with_(RECODED, as_=_local_recoded(release), materialized=once)
    query = _with_classes(query, release, dialect, once)
    if release.limit is not None:
        all_rows, shown = (exp.select().from_(exp.to_table(name)) for name in (_CODED, RECODED))
        query = within_limit(query, "class", all_rows, shown, release.limit, dialect)
    return query


def _counted_classes(release: LocalReleaseQuery, dialect: str) -> CountedRelease:
    keyed = [(i, cell) for i, cell in enumerate(release.columns) if cell.mapping]
    labels = {f"o{i}_{j}": t.column(column, "k") for i, cell in keyed for j, (_, column) in enumerate(cell.shown)}
    classes = exp.select(t.column("class", "k"), *(exp.alias_(label, name) for name, label in labels.items()))
    classes = with_place(classes.from_(t.table(release.classes, "k")), list(labels.values()), dialect)
    codes = [exp.alias_(t.column(cell.key, "a"), f"c{i}") for i, cell in keyed]
    ends = [t.column(name, "a") for name in _PLACES] if release.split else []
    shown = exp.select(*codes, *ends, *(t.column(name, "k") for name in (*labels, PLACE)))
    same = exp.EQ(this=t.column("class", "k"), expression=t.column("class", "a"))
    shown = shown.from_(t.table(release.assignment, "a")).join(classes.subquery("k"), on=same)
    return CountedRelease(
        source=release.source,
        columns=tuple(column for i, cell in enumerate(release.columns) for column in _shown_columns(i, cell)),
        keys={f"c{i}": cell.key for i, cell in keyed},
        rows=_local_coded(release),
        shown=shown,
        shuffle_seed=release.shuffle_seed,
        split=release.split,
    )


def _shown_columns(index: int, column: ReleaseColumn) -> list[ShownColumn]:
    if column.mapping is None:
        return [ShownColumn(column, column.name, f"k{index}")]
    return [ShownColumn(column, name, f"o{index}_{j}") for j, (name, _) in enumerate(column.shown)]


def _local_counted(release: LocalReleaseQuery, population: Relation) -> exp.Query:
    """The counted rows of the source, and the population's rows that equal tuples, by their class."""
    people = t.column(POPULATION_UNIT, "r") if release.population_unit else None
    counted = in_population([t.column("class", "a")], list(release.sensitive), people)
    counted = _equal_to_tuples(counted, release, population, _tuples_of_classes(release))
    return beside_population(["class"], list(release.sensitive), people is not None, counted)


def _equal_to_tuples(
    query: exp.Select, release: LocalReleaseQuery, population: Relation, tuples: exp.Expr
) -> exp.Select:
    """A query of a population's rows, `r`, joined with the tuples, `a`, that they equal."""
    unit = [t.column(release.population_unit, "s")] if release.population_unit else []
    rows = exp.select(*(exp.alias_(column, POPULATION_UNIT, quoted=True) for column in unit))
    coded, _ = _with_codes(rows.from_(t.table(population, "s"), copy=False), release)
    cells = [(i, cell) for i, cell in enumerate(release.columns) if cell.mapping]
    equal = [exp.EQ(this=t.column(cell.key, "a"), expression=t.column(f"c{i}", "r")) for i, cell in cells]
    query = query.from_(in_pieces(coded, _mappings(release)).subquery("r"), copy=False)
    return query.join(tuples, on=exp.and_(*equal), copy=False)


def _shown_local_population(release: LocalReleaseQuery, population: Relation) -> exp.Select:
    """The rows of the population that equal tuples, by the labels of the tuples' classes, as a reader would count them.

    A tuple in several parts counts once where its parts have the same labels.
    """
    keys = [cell.key for cell in release.columns if cell.mapping]
    shows = {name: column for cell in release.columns for name, column in cell.shown}
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
    query = exp.select(*shown, exp.alias_(rows, population_column(shows)))
    query = _equal_to_tuples(query, release, population, tuples.subquery("a"))
    return query.group_by(*(t.column(column, "a") for column in shows.values()), copy=False)


def _tuples_of_classes(release: LocalReleaseQuery) -> exp.Expr:
    """The tuples of classes without repetitions, though a class may have several parts of a tuple."""
    if not release.split:
        return _assignment(release)
    columns = [t.column(name, "a") for name in ("class", *(cell.key for cell in release.columns if cell.mapping))]
    return exp.select(*columns).distinct().from_(_assignment(release), copy=False).subquery("a")


def _shows(cell: ReleaseColumn) -> tuple[tuple[str, str], ...]:
    return cell.shown or ((cell.name, ""),)


def _local_coded(release: LocalReleaseQuery) -> exp.Select:
    """The source's rows: kept columns as k0, k1, …, codes as c0, c1, …, and a number if tuples are split."""
    source = exp.select().from_(t.table(release.source, "s"), copy=False)
    if release.recount:
        one = exp.alias_(exp.Literal.number(1), "n", quoted=True)
        source = source.select(one, *counted_values(release), copy=False)
    plain = [(i, cell) for i, cell in enumerate(release.columns) if cell.mapping is None]
    source = source.select(*(exp.alias_(t.column(cell.name, "s"), f"k{i}", quoted=True) for i, cell in plain))
    source, codes = _with_codes(source, release)
    if not release.split:
        return in_pieces(source, _mappings(release))
    number = exp.Window(
        this=exp.RowNumber(), partition_by=[code.copy() for code in codes], order=_order_in_tuple(release)
    )
    return in_pieces(source.select(exp.alias_(number, "place", quoted=True), copy=False), _mappings(release))


def _with_codes(query: exp.Select, release: LocalReleaseQuery) -> tuple[exp.Select, list[exp.Expr]]:
    """A query of the relation `s` with its codes as c0, c1, …, from the mapping tables, and the codes' expressions."""
    codes: list[exp.Expr] = []
    for i, cell in enumerate(release.columns):
        if cell.mapping is None:
            continue
        raw = t.column(cell.name, "s")
        equal = exp.EQ(this=t.column("value", f"m{i}"), expression=raw)
        mapping = _once(release, cell.mapping, ["value"], ["code_0"], f"m{i}", release.elsewhere)
        query = query.join(mapping, on=equal, join_type="LEFT", copy=False)
        mapped = exp.func("COALESCE", t.column("code_0", f"m{i}"), t.literal(UNMAPPED_CODE))
        null = t.literal(UNMAPPED_CODE if cell.null is None else cell.null[0])
        codes.append(exp.Case().when(t.is_null(raw), null).else_(mapped))
        query = query.select(exp.alias_(codes[-1], f"c{i}", quoted=True), copy=False)
    return query, codes


def _mappings(release: LocalReleaseQuery) -> list[str]:
    return [f"m{i}" for i, _ in enumerate(release.columns)]


def _order_in_tuple(release: LocalReleaseQuery) -> exp.Order:
    """The order in which the places of a tuple's rows are counted: by value first, like the sensitive codes.

    Releases that count people need no other order: people are among the values.
    """
    values = [exp.Ordered(this=t.column(column, "s")) for column in release.sensitive.values()]
    shown = [t.column(c.name, "s") for c in release.columns if c.name not in release.hidden]
    by_hash = exp.func("MD5", concatenated(str(release.seed), shown))
    return exp.Order(expressions=[*values, by_hash])


def _local_recoded(release: LocalReleaseQuery, labelled: bool = True) -> exp.Select:
    """The rows with their class, and n to count them by.

    `labelled`: with the labels of classes, and columns unchanged, as o0_0, o1_0, …; otherwise the latter as k0, k1, ….
    """
    query = exp.select(t.column("class", "k" if labelled else "a"))
    query = query.select(*(t.column(name, "r") for name in ("n", *release.sensitive)), copy=False)
    query = query.from_(exp.alias_(exp.to_table(_CODED), "r", table=True), copy=False)
    equal: list[exp.Expr] = []
    for i, cell in enumerate(release.columns):
        if cell.mapping:
            equal.append(exp.EQ(this=t.column(cell.key, "a"), expression=t.column(f"c{i}", "r")))
        elif not labelled:
            query = query.select(t.column(f"k{i}", "r"), copy=False)
        for j, (_, column) in enumerate(_shows(cell) if labelled else ()):
            shown = t.column(column, "k") if cell.mapping else t.column(f"k{i}", "r")
            query = query.select(exp.alias_(t.opened(shown, cell.open_type), f"o{i}_{j}", quoted=True), copy=False)
    if release.split:
        within = exp.Between(this=t.column("place", "r"), low=t.column("first", "a"), high=t.column("last", "a"))
        equal.append(within)
    query = query.join(_assignment(release), on=exp.and_(*equal), copy=False)
    if not labelled:
        return query
    same = exp.EQ(this=t.column("class", "k"), expression=t.column("class", "a"))
    shows = [column for cell in release.columns for _, column in cell.shown]
    return query.join(_once(release, release.classes, ["class"], shows, "k"), on=same, copy=False)


def _assignment(release: LocalReleaseQuery) -> exp.Expr:
    keys = [cell.key for cell in release.columns if cell.mapping]
    if release.kept and release.split:
        return t.tree("local_release/apart", assignment=release.assignment, keys=keys).subquery("a")
    return _once(release, release.assignment, keys, ["class", *_PLACES] if release.split else ["class"], "a")


def _once(
    release: LocalReleaseQuery,
    relation: Relation,
    keys: Sequence[str],
    columns: Sequence[str],
    alias: str,
    doubtful: bool = False,
) -> exp.Expr:
    """A relation of which a join takes no row twice, even if others write to a view's tables.

    `doubtful`: rows might be repeated anyway, because their keys are equal in another system.
    """
    if not (release.kept or doubtful):
        return t.table(relation, alias)
    if release.kept:
        return unrepeated(relation, keys, columns).subquery(alias)
    # Without a window, since BigQuery has no partitions by floating-point numbers.
    only = [exp.alias_(exp.Min(this=t.column(name)), name, quoted=True) for name in columns]
    values = [t.column(name) for name in keys]
    once = exp.Count(this=exp.Star()).eq(exp.Literal.number(1))
    query = exp.select(*values, *only).from_(t.table(relation)).group_by(*values).having(once)
    return query.subquery(alias)


def _local_order(release: LocalReleaseQuery) -> list[exp.Expr]:
    """The order of the rows: by all released columns, quasi-identifiers first, or by a seeded hash of them."""
    cells: list[tuple[exp.Expr, ReleaseColumn]] = [
        (t.column(f"o{i}_{j}", RECODED), column)
        for i, column in enumerate(release.columns)
        for j, _ in enumerate(_shows(column))
    ]
    return release_order(cells, release.shuffle_seed, by_looks=not release.elsewhere)
