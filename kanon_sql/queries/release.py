"""The query of a full-domain release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from sqlglot import exp

from kanon_sql.privacy import POPULATION_UNIT, UNIT, Predicate, Reference
from kanon_sql.queries import tree as t
from kanon_sql.queries.counted_release import PLACE, SORTED, CountedRelease, ShownColumn, with_place
from kanon_sql.queries.reference import reference_tree
from kanon_sql.queries.release_query import ReleaseColumn, ReleaseQuery
from kanon_sql.queries.row_order import concatenated
from kanon_sql.queries.split_joins import in_pieces
from kanon_sql.relation import Relation

UNMAPPED_CODE = -1
_LARGEST = 2**62  # number of classes, in a BIGINT
_LARGEST_INT = 2**31
_Columns = Sequence[tuple[int, ReleaseColumn]]  # with their indexes among all columns of the release


@dataclass(frozen=True, kw_only=True)
class FullDomainQuery(ReleaseQuery):
    """The query of a full-domain release; `sql` prints it.

    `classes`: a relation of the classes that may be released, derived from the frequency set. Without it the query
    counts the classes whenever it is executed. `mask`: whether to release the rows of other classes masked.
    """

    classes: Relation | None = None
    mask: bool = False

    @property
    def kept(self) -> bool:
        """Whether the mapping tables belong to a view, so that others might write to them."""
        return self.classes is None

    def sql(self, dialect: str) -> str:
        """The query in a dialect."""
        return t.printed(_view(self, dialect), dialect) if self.kept else self.counted(dialect).sql(dialect)

    def counted(self, dialect: str) -> CountedRelease:
        """The release of classes that are already counted, or that the query counts first."""
        return _of_classes(self, self.classes or Relation(CLASSES), dialect)


RECODED, CLASSES, COUNTED = "kanon_recoded", "kanon_classes", "kanon_counted"
_LABELS, _LISTS, _PEOPLE = "kanon_labels_", "kanon_lists", "kanon_people"


def _view(release: FullDomainQuery, dialect: str) -> exp.Expr:
    """A view's query, which counts its classes by their codes whenever it is executed."""
    counted = release.counted(dialect)
    query = exp.Select().with_(RECODED, as_=counted.rows, materialized=True)
    if release.population is not None:
        query = query.with_(COUNTED, as_=_counted(release, _keyed(release)))
    counted_in = RECODED if release.population is None else COUNTED
    if release.least_people and release.population is None:
        query = with_classes_of_people(query, list(counted.keys), release.least_people)
    else:
        keys = [t.column(key) for key in counted.keys]
        query = with_safe_classes(query, keys, RECODED, release.safe, dialect, counted_in)
    labelled = [(i, cell) for i, cell in _keyed(release) if cell.mapping]
    if dialect == "duckdb" and labelled and release.shuffle_seed is None:
        query = _with_lists(query, labelled)
        counted = _looking_up(counted, _keyed(release), labelled)
    return counted.from_counted(query, RECODED, dialect)


def _with_lists(query: exp.Select, labelled: _Columns) -> exp.Select:
    """A query with the labels of every column by their codes, and in a list by their places."""
    lists = []
    for i, cell in labelled:
        query = query.with_(f"{_LABELS}{i}", as_=_labels(cell, True, "duckdb"))
        shown = exp.alias_(exp.Min(this=t.column("shown", "l")), "shown")  # equal ones have one place
        by_place = exp.select(shown, t.column(PLACE, "l")).from_(exp.to_table(f"{_LABELS}{i}").as_("l"))
        by_place = by_place.group_by(t.column(PLACE, "l"))
        in_order = exp.Order(this=t.column("shown", "p"), expressions=[exp.Ordered(this=t.column(PLACE, "p"))])
        in_list = exp.select(exp.ArrayAgg(this=in_order)).from_(by_place.subquery("p"))
        lists.append(exp.alias_(in_list.subquery(), f"s{i}"))
    return query.with_(_LISTS, as_=exp.select(*lists), materialized=True)


def _looking_up(counted: CountedRelease, keyed: _Columns, labelled: _Columns) -> CountedRelease:
    """The release with a number of places for every class, and with labels that are looked up in a sorted row.

    In DuckDB it costs most to sort rows together with their labels, and joins do not keep an order:

        SELECT s0[MOD(q0, 600) // 100 + 1] AS age, s1[MOD(q0, 100) // 1 + 1] AS zip, o2 AS disease
        FROM (SELECT q0, o2 FROM … ORDER BY q0, o2) AS kanon_sorted CROSS JOIN kanon_lists
    """
    digits, codes = _digits(labelled[::-1], "q"), _digits(keyed)
    numbers: dict[str, exp.Expr] = {}
    looked_up: dict[str, exp.Expr] = {}
    classes = exp.select(*(t.column(key, "q") for key in counted.keys)).from_(exp.to_table(CLASSES).as_("q"))
    for i, _ in labelled:
        digit = digits[i]
        part = digit.of_place(t.column(PLACE, f"m{i}"))
        before = numbers.get(digit.number)
        numbers[digit.number] = exp.Add(this=before, expression=part) if before else part
        place = exp.Add(this=digit.in_number(t.column(digit.number, SORTED)), expression=t.literal(1))
        looked_up[f"s{i}"] = exp.Anonymous(this="LIST_EXTRACT", expressions=[t.column(f"s{i}", _LISTS), place])
        of_class = codes[i].of_number(t.column(codes[i].number, "q"))
        same = exp.EQ(this=codes[i].of_code(t.column("code", f"m{i}")), expression=of_class)
        labels = exp.to_table(f"{_LABELS}{i}").as_(f"m{i}")
        classes = classes.join(labels, on=same, join_type="LEFT", copy=False)
    classes = classes.select(*(exp.alias_(number, name) for name, number in numbers.items()))
    classes = in_pieces(classes, [f"m{i}" for i, _ in labelled])
    places = tuple(reversed([*dict.fromkeys(digit.number for digit in digits.values())]))
    return replace(counted, shown=classes, places=places, looked_up=looked_up, lists=_LISTS)


@dataclass(frozen=True)
class _Digit:
    """The place of a column's codes in a number that identifies a class, as one digit of it; -1 is the digit 0.

    `type`: of the number, the smaller the faster: rows are sorted by it.
    """

    number: str
    weight: int
    base: int
    type: str

    def of_code(self, code: exp.Expr) -> exp.Expr:
        """The digit of a code, times its weight."""
        return self._weighted(exp.Add(this=exp.cast(code, self.type), expression=t.literal(1)))

    def of_place(self, place: exp.Expr) -> exp.Expr:
        """The digit of a place, times its weight; places begin at 1."""
        return self._weighted(exp.Sub(this=exp.cast(place, self.type), expression=t.literal(1)))

    def _weighted(self, digit: exp.Expr) -> exp.Expr:
        return exp.Mul(this=exp.paren(digit), expression=t.literal(self.weight))

    def of_number(self, number: exp.Expr) -> exp.Expr:
        """The digit in a number, times its weight."""
        upper = exp.Mod(this=number, expression=t.literal(self.weight * self.base))
        return exp.Sub(this=upper, expression=exp.Mod(this=number.copy(), expression=t.literal(self.weight)))

    def in_number(self, number: exp.Expr) -> exp.Expr:
        """The digit in a number."""
        upper = exp.Mod(this=number, expression=t.literal(self.weight * self.base))
        return exp.IntDiv(this=upper, expression=t.literal(self.weight))


def _digits(keyed: _Columns, letter: str = "p") -> dict[int, _Digit]:
    """The codes of columns as digits of as few numbers as possible: PostgreSQL sorts all rows to join several keys.

    >>> for digit in _digits([(i, ReleaseColumn("", codes=2**30 - 1)) for i in range(3)]).values():
    ...     print(digit)
    _Digit(number='p0', weight=1, base=1073741824, type='BIGINT')
    _Digit(number='p0', weight=1073741824, base=1073741824, type='BIGINT')
    _Digit(number='p1', weight=1, base=1073741824, type='INT')
    """
    numbers: list[dict[int, int]] = [{}]  # the bases of a number's digits, by the indexes of their columns
    for i, cell in keyed:
        base = cell.codes + 1
        if prod(numbers[-1].values()) * base > _LARGEST:
            numbers.append({})
        numbers[-1][i] = base
    digits: dict[int, _Digit] = {}
    for n, bases in enumerate(numbers):
        type_name = "INT" if prod(bases.values()) < _LARGEST_INT else "BIGINT"
        weight = 1
        for i, base in bases.items():
            digits[i] = _Digit(f"{letter}{n}", weight, base, type_name)
            weight *= base
    return digits


def _keys(release: FullDomainQuery, keyed: _Columns) -> dict[str, exp.Expr]:
    """What identifies a row's class, by name: the codes of its columns, or in a view their numbers."""
    if not release.kept:
        return {f"c{i}": code_of(cell, i) for i, cell in keyed}
    return numbers_of_codes(keyed)


def numbers_of_codes(keyed: _Columns) -> dict[str, exp.Expr]:
    """The codes of columns in as few numbers as possible, by their names."""
    keys: dict[str, exp.Expr] = {}
    for (i, cell), digit in zip(keyed, _digits(keyed).values(), strict=True):
        part = digit.of_code(code_of(cell, i))
        before = keys.get(digit.number)
        keys[digit.number] = exp.Add(this=before, expression=part) if before else part
    return keys


def _keyed(release: FullDomainQuery) -> _Columns:
    """The columns whose codes identify a class; a view, which counts by them, has at least one."""
    cells = list(enumerate(release.columns))
    keyed = [(i, cell) for i, cell in cells if cell.key]
    return keyed or [(i, cell) for i, cell in cells if cell.recoded and release.kept][:1]


def _of_classes(release: FullDomainQuery, classes: Relation, dialect: str) -> CountedRelease:
    cells, keyed = list(enumerate(release.columns)), _keyed(release)
    kept = [(i, cell) for i, cell in cells if not cell.recoded]
    rows = _recoded(release, keyed, shown=kept)
    keys = {name: name for name in _keys(release, keyed)} if release.kept else {f"c{i}": c.key for i, c in keyed}
    large = tuple(_shown_column(i, cell) for i, cell in cells)
    shown = _labelled(classes, keys, keyed, release.kept, dialect)
    return CountedRelease(release.source, large, keys, rows, shown, release.mask, release.shuffle_seed)


def _shown_column(index: int, cell: ReleaseColumn) -> ShownColumn:
    if not cell.recoded:
        return ShownColumn(cell, cell.name, f"o{index}")
    if not cell.key:
        return ShownColumn(cell, cell.name)
    return ShownColumn(cell, cell.name, f"s{index}")


def _labelled(classes: Relation, keys: Mapping[str, str], keyed: _Columns, of_view: bool, dialect: str) -> exp.Select:
    """The classes by their codes, c0, c1, …, with their labels, s0, s1, …, and the place of these.

    `keys`: the columns of the classes by those of the codes.
    """
    codes = [exp.alias_(t.column(column, "q"), code) for code, column in keys.items()]
    labelled = [(i, cell) for i, cell in keyed if cell.mapping]
    labels = [exp.alias_(t.column("shown", f"m{i}"), f"s{i}") for i, _ in labelled]
    query = exp.select(*codes, *labels).from_(t.table(classes, "q"))
    if labelled:  # by the places of single labels, which are fewer than those of all classes
        query = with_place(query, [t.column(PLACE, f"m{i}") for i, _ in labelled])
    else:
        query = query.select(exp.alias_(exp.Literal.number(1), PLACE))
    digits = _digits(keyed) if of_view else {}
    for i, cell in labelled:
        code: exp.Expr = t.column("code", f"m{i}")
        of_class: exp.Expr = t.column(cell.key, "q")
        if of_view:
            code, of_class = digits[i].of_code(code), digits[i].of_number(t.column(digits[i].number, "q"))
        same = exp.EQ(this=code, expression=of_class)
        labels_of_cell = _labels(cell, of_view, dialect).subquery(f"m{i}")
        # Of an inner join of several PostgreSQL expects hardly any rows, and loops over all of them.
        query = query.join(labels_of_cell, on=same, join_type="LEFT" if of_view else "INNER", copy=False)
    return in_pieces(query, [f"m{i}" for i, _ in labelled])


def _labels(cell: ReleaseColumn, of_view: bool, dialect: str) -> exp.Select:
    """The labels of a cell's codes, and their place."""
    return with_place(labels_of_codes(cell, of_view), [t.column("shown", "l")], dialect)


def labels_of_codes(cell: ReleaseColumn, of_view: bool) -> exp.Select:
    """The labels of a cell's codes: code, shown.

    `of_view`: others might write to the mapping table, and rows might have values that it lacks.
    """
    assert cell.mapping is not None
    mapping: exp.Expr = t.table(cell.mapping, "m")
    name = cell.label or "value"
    if of_view:
        mapping, name = t.tree("mappings/view_labels", mapping=cell.mapping, shown=[name]).subquery("m"), "shown"
    label, code = t.column(name, "m"), t.column(cell.code, "m")
    shown = label if cell.label else t.opened(label, cell.open_type)
    if cell.starred is not None:
        starred = exp.EQ(this=code.copy(), expression=t.literal(cell.starred))
        shown = exp.Case().when(starred, t.literal(cell.unmapped)).else_(shown)
    # Labels that are equal by a collation are distinct here: every code has one.
    labels: exp.Query = exp.select(exp.alias_(code, "code"), exp.alias_(shown, "shown")).distinct().from_(mapping)
    others = dict([cell.null] if cell.null else [])
    if of_view:
        others = {UNMAPPED_CODE: cell.unmapped, **others}
        ours = exp.Between(this=code.copy(), low=t.literal(0), high=t.literal(cell.codes - 1))
        labels = labels.where(exp.not_(code.copy().isin(*others)), ours)
    for of_code in others.items():
        other = (exp.alias_(t.literal(value), name) for value, name in zip(of_code, ("code", "shown"), strict=True))
        labels = exp.union(labels, exp.select(*other))
    return exp.select(t.column("code", "l"), t.column("shown", "l")).from_(labels.subquery("l"))


def _counted(release: FullDomainQuery, keyed: _Columns) -> exp.Query:
    """The counted rows of the source, and those of the population, by the codes of their classes."""
    keys = _keys(release, keyed)
    codes: list[exp.Expr] = [exp.alias_(key, name, quoted=True) for name, key in keys.items()]
    unit = release.population_unit
    assert release.population is not None
    query = in_population(codes, list(release.sensitive), t.column(unit, "s") if unit else None)
    query = join_mappings(query.from_(t.table(release.population, "s"), copy=False), keyed, release.kept)
    others = in_pieces(query, [f"m{i}" for i, _ in keyed])
    return beside_population(list(keys), list(release.sensitive), unit is not None, others)


def beside_population(keys: Sequence[str], sensitive: Sequence[str], people: bool, population: exp.Select) -> exp.Query:
    """The recoded rows of the source, with n, and those of its population; `people`: with the population's people."""
    counted = [t.column(name) for name in (*keys, *sensitive)]
    unit = [exp.alias_(exp.null(), POPULATION_UNIT, quoted=True)] if people else []
    zero = exp.alias_(exp.Literal.number(0), "population")
    own = exp.select(*counted, *unit, exp.column("n"), zero).from_(exp.to_table(RECODED))
    return exp.union(own, population, distinct=False)


def in_population(keys: Sequence[exp.Expr], sensitive: Sequence[str], unit: exp.Expr | None) -> exp.Select:
    """Select a population's rows, which count as no rows of the source and have no sensitive value."""
    columns = [*keys, *(exp.alias_(exp.null(), name, quoted=True) for name in sensitive)]
    columns += [exp.alias_(unit, POPULATION_UNIT, quoted=True)] if unit else []
    return exp.select(
        *columns, *(exp.alias_(exp.Literal.number(n), name) for n, name in enumerate(("n", "population")))
    )


def population_column(columns: Iterable[str]) -> str:
    """A name for the count of a population that no column has.

    >>> population_column(["age", "Kanon_Population"])
    'kanon_population_'
    """
    name, taken = "kanon_population", {column.lower() for column in columns}
    while name in taken:
        name += "_"
    return name


def shown_population(
    tuples: Relation, cells: Mapping[str, ReleaseColumn], counted: Sequence[str], rows: Predicate, dialect: str
) -> str:
    """The query of a population's counted tuples as a release shows them: its columns, and `population_column`.

    `cells`: by the names of the release's columns, named like the columns of the tuples that they come from.
    `rows`: the aggregate of the tuples' columns in `counted` that yields the rows of the population.
    """
    release = FullDomainQuery(source=tuples, columns=tuple(cells.values()), safe=rows, classes=tuples)
    keys = [t.column(f"o{i}") for i, _ in enumerate(cells)]
    shown = [exp.alias_(key, name, quoted=True) for key, name in zip(keys, cells, strict=True)]
    query = exp.select(*shown, exp.alias_(exp.cast(t.predicate(rows), "BIGINT"), population_column(cells)))
    query = query.from_(_recoded(release, [], counted).subquery(RECODED), copy=False)
    return t.printed(query.group_by(*(key.copy() for key in keys), copy=False), dialect)


def with_safe_classes(
    query: exp.Select,
    keys: Sequence[exp.Expr],
    rows: str,
    safe: Predicate,
    dialect: str,
    counted_in: str = RECODED,
    materialized: bool | None = None,
) -> exp.Select:
    """A query with the safe classes among its own rows, and the references that they are compared with."""
    for name, condition in compared(safe).items():
        groups = condition.reference.groups if condition.reference else ()
        counted = Predicate("SUM(n)", unit=condition.unit)
        of_table = reference_tree(Relation(rows), name, name, counted, dialect, groups)
        query = query.with_(f"{REFERENCE}{name}", as_=of_table)
    classes = t.with_condition(exp.select(*keys).from_(counted_in).group_by(*keys), _referring(safe), dialect)
    return query.with_(CLASSES, as_=classes, materialized=materialized)


_MOST_DIGITS = 62  # bits of a BIGINT
_FEW_PEOPLE = 20  # more of them rarely have different digits
_HASHED = "CASE WHEN NOT $unit IS NULL THEN HASH($unit) END"
_DIFFERENT_DIGITS = f"BIT_COUNT(BIT_OR(CAST(1 AS BIGINT) << CAST($unit % {_MOST_DIGITS} AS BIGINT)))"


def counted_values(release: ReleaseQuery) -> list[exp.Expr]:
    """The values of the source that models count, by their own names; hashes of people that are counted by them."""
    values: dict[str, exp.Expr] = {name: t.column(raw, "s") for name, raw in release.sensitive.items()}
    if release.least_people and release.population is None:
        values[UNIT] = t.expression(_HASHED, unit=values[UNIT])
    return [exp.alias_(value, name, quoted=True) for name, value in values.items()]


def with_classes_of_people(query: exp.Select, keys: Sequence[str], least: int) -> exp.Select:
    """A query with the classes among its own rows that have enough people, counted by hashes in DuckDB.

    People whose hashes end in different digits are different. So most classes need no set of their people:

        kanon_people AS (SELECT p0, BIT_COUNT(BIT_OR(1 << _unit % 62)) >= 5 AS sure FROM kanon_recoded GROUP BY p0 …),
        kanon_classes AS (SELECT p0 FROM kanon_people WHERE sure
          UNION ALL SELECT p0 FROM kanon_recoded JOIN … NOT sure … GROUP BY p0 HAVING COUNT(DISTINCT _unit) >= 5)

    Two people with the same hash count as one, so that a class never seems to have more people than it has.
    """
    enough = exp.GTE(this=exp.Count(this=exp.Distinct(expressions=[t.column(UNIT, "r")])), expression=t.literal(least))
    of_rows = [t.column(key, "r") for key in keys]
    rows = exp.select(*of_rows).from_(exp.to_table(RECODED).as_("r")).group_by(*of_rows)
    counted = rows.having(enough)
    if least > _FEW_PEOPLE:
        return query.with_(CLASSES, as_=counted)
    digits = t.expression(f"COALESCE({_DIFFERENT_DIGITS} >= $least, FALSE)", unit=t.column(UNIT, "r"), least=least)
    enough_rows = exp.GTE(this=exp.Count(this=exp.Star()), expression=t.literal(least))
    people = rows.select(exp.alias_(digits, "sure")).having(enough_rows)
    query = query.with_(_PEOPLE, as_=people, materialized=True)
    sure, unsure = t.column("sure", "q"), exp.not_(t.column("sure", "q"))
    of_people = exp.to_table(_PEOPLE).as_("q")
    of_sure = exp.select(*(t.column(key, "q") for key in keys)).from_(of_people).where(sure)
    same = [exp.EQ(this=t.column(key, "q"), expression=t.column(key, "r")) for key in keys]
    of_others = counted.join(of_people.copy(), on=exp.and_(*same, unsure))
    return query.with_(CLASSES, as_=exp.union(of_sure, of_others, distinct=False))


REFERENCE = "kanon_reference"


def compared(safe: Predicate) -> dict[str, Predicate]:
    """The conditions that compare a class with the whole table, by the column whose values they count."""
    return {
        condition.counted: condition for condition in (safe, *safe.also) if condition.reference and condition.counted
    }


def _referring(safe: Predicate) -> Predicate:
    """A condition whose references are those in the query itself."""
    here = Reference(Relation(f"{REFERENCE}{safe.counted}"), nullable=True) if safe.reference else None
    return replace(safe, reference=here, also=tuple(map(_referring, safe.also)))


def _recoded(
    release: FullDomainQuery,
    keyed: _Columns,
    also: Sequence[str] = (),
    shown: _Columns | None = None,
) -> exp.Select:
    """The source's rows with their labels (o0, o1, …), the columns to identify or count classes, and columns unchanged.

    `shown`: the cells to select the labels of, if not all.
    """
    cells = enumerate(release.columns) if shown is None else shown
    columns = [exp.alias_(_cell(c, i), f"o{i}", quoted=True) for i, c in cells]
    columns += [t.column(name, "s") for name in also]
    columns += [exp.alias_(key, name, quoted=True) for name, key in _keys(release, keyed).items()]
    if release.classes is None:
        columns += counted_values(release)
        columns.append(exp.alias_(exp.Literal.number(1), "n"))
    query = exp.select(*(columns or [exp.Literal.number(1)])).from_(t.table(release.source, "s"), copy=False)
    query = join_mappings(query, list(enumerate(release.columns)), release.kept)
    return in_pieces(query, [f"m{i}" for i, _ in enumerate(release.columns)])


def join_mappings(query: exp.Select, cells: _Columns, of_view: bool) -> exp.Select:
    """Join the mapping tables of cells to the relation `s`; `of_view`: others might write to these tables."""
    for i, cell in cells:
        if cell.mapping:
            equal = exp.EQ(this=t.column("value", f"m{i}"), expression=t.column(cell.name, "s"))
            mapping: exp.Expr = t.table(cell.mapping, f"m{i}")
            if of_view:
                of_ours = exp.Between(this=t.column(cell.code), low=t.literal(0), high=t.literal(cell.codes - 1))
                once = unrepeated(cell.mapping, ["value"], [cell.code]).where(of_ours)
                mapping = once.subquery(f"m{i}")
            query = query.join(mapping, on=equal, join_type="LEFT", copy=False)
    return query


def unrepeated(relation: Relation, keys: Sequence[str], columns: Sequence[str]) -> exp.Select:
    """The rows of a relation that a join takes only once, though others might write to a view's tables."""
    query = t.tree("local_release/unrepeated", kept=relation, keys=keys, columns=columns)
    assert isinstance(query, exp.Select)
    return query


def _cell(cell: ReleaseColumn, index: int) -> exp.Expr:
    """The expression of a released cell."""
    raw = t.column(cell.name, "s")
    if not cell.recoded:
        return t.opened(raw, cell.open_type)
    if cell.mapping is None:
        return t.literal(cell.constant)
    case = exp.Case().when(t.is_null(raw), t.literal(cell.null_label))
    case = case.when(t.is_null(t.column("value", f"m{index}")), t.literal(cell.unmapped))
    if cell.starred is not None:
        starred = exp.EQ(this=t.column(cell.code, f"m{index}"), expression=t.literal(cell.starred))
        case = case.when(starred, t.literal(cell.unmapped))
    if cell.label:
        return case.else_(t.column(cell.label, f"m{index}"))
    # Equal values may look different (-0, 1.00, a collation that ignores case): show the mapping's value for all.
    return case.else_(t.opened(t.column("value", f"m{index}"), cell.open_type))


def code_of(cell: ReleaseColumn, index: int) -> exp.Expr:
    """The code that identifies a cell's class; `index`: that of its mapping, which is joined as `m<index>`."""
    if cell.mapping is None:
        return exp.Literal.number(0)
    null = t.literal(cell.null[0] if cell.null else UNMAPPED_CODE)
    code = exp.func("COALESCE", t.column(cell.code, f"m{index}"), t.literal(UNMAPPED_CODE))
    return exp.Case().when(t.is_null(t.column(cell.name, "s")), null).else_(code)


def of_type(value: object, type_name: str) -> object:
    """A value to write out in a query; a single-precision one with its type, since 0.7 would be another number."""
    single = isinstance(value, float) and type_name.upper() in ("FLOAT", "REAL")
    return exp.cast(t.literal(value), "FLOAT") if single else value


def contents(relation: Relation, columns: Sequence[str], dialect: str) -> str:
    """The query of the rows of a relation as one text each, `content`."""
    content = exp.alias_(concatenated("", [t.column(name, "r") for name in columns]), "content")
    return t.printed(exp.select(content).from_(t.table(relation, "r")), dialect)
