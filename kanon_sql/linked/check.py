"""The independent check of released tables: joined by their released keys, and counted with separate SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.linked.links import Link
from kanon_sql.linked.sensitive import SensitiveColumn
from kanon_sql.privacy import PEOPLE
from kanon_sql.queries import Relation, ReleasedPlaces, ReleasedTable
from kanon_sql.release.findings import achieved_holes
from kanon_sql.spec import LinkedSpec

_PAIRS_AT_ONCE = 20_000_000
NAMES: dict[int | str, str] = {1: "singles", 2: "pairs", 3: "triples", "all": "wholes"}


@dataclass(frozen=True)
class LinkedFinding:
    """What a check found about combinations of a size: how many occur, how many are rare, and the fewest people.

    `known_rows`: the attacker's number of rows in other tables. `achieved`: None if there is no such combination.
    """

    known_rows: int | str
    required: int
    achieved: int | None
    combinations: int
    rare: int

    @property
    def satisfied(self) -> bool:
        """Whether every combination is shared by enough people."""
        return self.rare == 0


@dataclass(frozen=True)
class ValueFinding:
    """What a check found about a sensitive column: the combinations of a size that violate a model, and the worst one.

    `column`: with its table. `achieved`: None if no one who shares a combination has a value.
    """

    column: str
    model: str
    known_rows: int | str
    required: Any
    achieved: float | int | None
    combinations: int
    unsafe_combinations: int

    @property
    def satisfied(self) -> bool:
        """Whether every combination satisfies the model."""
        return self.unsafe_combinations == 0


@dataclass(frozen=True)
class Checked:
    """The findings about released tables, and the errors in their keys, in sentences."""

    people: int
    findings: tuple[LinkedFinding, ...]
    broken: tuple[str, ...] = ()
    values: tuple[ValueFinding, ...] = ()

    @property
    def satisfied(self) -> bool:
        """Whether the tables satisfy all models, and their keys fit together."""
        enough = all(finding.satisfied for finding in self.findings)
        return enough and not self.broken and all(finding.satisfied for finding in self.values)


@dataclass(frozen=True)
class Joined:
    """Released tables, joined by their keys: `people` with their classes, and `rows` of the other tables, if any.

    Both have columns of codes for sensitive values. `parts`: in how many parts pairs are counted, so that they fit in
    memory. `places`: the key columns that tell which rows belong together.
    """

    tables: Scratch
    people: Relation
    rows: Relation | None
    parts: int
    places: ReleasedPlaces

    @classmethod
    def of(cls, tables: Scratch, released: Sequence[ReleasedTable]) -> Joined:
        """Join tables, of which the first is that of the people."""
        dialect = tables.engine.dialect
        main, *others = released
        people = tables.create_as("people", queries.released_people(main, dialect))
        if not others:
            return cls(tables, people, None, 1, ReleasedPlaces())
        facts = tables.create_as("facts", queries.released_facts([main, *others], dialect))
        places = ReleasedPlaces(queries.place_columns(others))
        carried = [*places.slots, *(code for table in others for code in table.codes)]
        rows = tables.create("rows", "linked/released_rows", facts=facts, people=people, carried=carried)
        ((pairs,),) = tables.rows("linked/pairs_of_people", rows=rows)
        return cls(tables, people, rows, 1 + int(pairs) // _PAIRS_AT_ONCE, places)

    def findings(self, k: int, m: int | str) -> Iterator[LinkedFinding]:
        """Count the people who share every combination, by the number of known rows."""
        tables, rows = self.tables, self.rows
        yield _finding(0, k, tables.rows("linked/smallest_classes", people=self.people, k=k))
        if m == 0 or rows is None:
            return
        if m == "all":
            shown = self.places.shown(rows)
            yield _finding("all", k, tables.rows("linked/smallest_wholes", people=self.people, visits=shown, k=k))
            return
        assert isinstance(m, int)
        yield _finding(1, k, tables.rows("linked/smallest_singles", rows=rows, k=k))
        for size, query in ((2, "linked/smallest_pairs"), (3, "linked/smallest_triples")):
            if m >= size:
                holes = self.places.holes_of(query)
                found = [tables.rows(query, rows=rows, k=k, **part, **holes)[0] for part in self.divisions(size)]
                yield _finding(size, k, found)

    def divisions(self, size: int | str) -> list[dict[str, int]]:
        """The parts in which combinations of a size are counted, as holes of their queries."""
        if size not in (2, 3):
            return [{}]
        return [{"parts": self.parts, "part": part} for part in range(self.parts)]

    def sharing(self, size: int | str, division: Mapping[str, int]) -> Relation:
        """The people of every combination of a size: combination, person."""
        if size == 0:
            return self.tables.create("sharing", "linked/people_of_classes", people=self.people)
        assert self.rows is not None
        query = f"linked/people_of_{NAMES[size]}"
        if size == "all":
            return self.tables.create("sharing", query, people=self.people, visits=self.places.shown(self.rows))
        return self.tables.create("sharing", query, rows=self.rows, **division, **self.places.holes_of(query))


def tables_to_join(
    links: Sequence[Link],
    spec: LinkedSpec,
    released: Mapping[str, Relation],
    codes: Mapping[str, Mapping[str, str]],
) -> list[ReleasedTable]:
    """The released tables with their keys and labels. `codes`: by table, its sensitive columns by their codes."""
    return [
        ReleasedTable(
            released[link.name],
            link.number,
            list(spec.tables[link.name].quasi_identifiers),
            link.own_key,
            link.person,
            parent_number(link, links),
            link.parent_key,
            codes[link.name],
        )
        for link in links
    ]


def parent_number(link: Link, links: Sequence[Link]) -> int | None:
    """The number of the table that a table refers to, other than that of the people."""
    return next((other.number for other in links if other.name == link.parent), None)


def rows_and_people(
    engine: Engine, links: Sequence[Link], spec: LinkedSpec, released: Mapping[str, Relation]
) -> dict[str, dict[str, int]]:
    """The rows of every released table, and the people who have any in it."""
    none: dict[str, Mapping[str, str]] = {link.name: {} for link in links}
    with Scratch(engine, "sizes") as tables:
        people = tables.count(released[links[0].name])
        sizes = {link.name: {"rows": 0, "people": 0} for link in links}
        sizes[links[0].name] = {"rows": people, "people": people}
        if len(links) > 1:
            facts = tables.create_as(
                "facts", queries.released_facts(tables_to_join(links, spec, released, none), engine.dialect)
            )
            by_number = {link.number: link.name for link in links}
            for number, rows, owners in tables.rows("linked/rows_and_people", facts=facts):
                sizes[by_number[int(number)]] = {"rows": int(rows), "people": int(owners)}
    return sizes


def check_released(
    engine: Engine,
    links: Sequence[Link],
    spec: LinkedSpec,
    released: Mapping[str, Relation],
    sensitive: Sequence[SensitiveColumn],
) -> Checked:
    """Join released tables by their keys, and count the people who share an attacker's rows of one of them.

    `sensitive`: the columns that models limit, and the values of the source that models compare with.
    """
    codes = {column.name: f"code_{place}" for place, column in enumerate(sensitive)}
    by_table = {
        link.name: {codes[column.name]: column.column for column in sensitive if column.number == link.number}
        for link in links
    }
    with Scratch(engine, "checked") as tables:
        broken = list(_broken(tables, links, released))
        joined = Joined.of(tables, tables_to_join(links, spec, released, by_table))
        count = tables.count(joined.people)
        findings = list(joined.findings(spec.privacy.k, spec.privacy.m))
        values: list[ValueFinding] = []
        for column in sensitive:
            code = codes[column.name]
            in_codes = _with_reference(tables, column, code, released[column.table])
            values += ValueCheck(joined, in_codes, code).findings(spec.privacy.m)
    return Checked(count, tuple(findings), tuple(broken), tuple(values))


def _with_reference(tables: Scratch, column: SensitiveColumn, code: str, released: Relation) -> SensitiveColumn:
    """The column's models with the values of the whole table, as codes of the released values."""
    if column.whole is None:
        return column
    engine, relation = column.whole
    figures = [found.name for found in engine.table(relation).columns if found.name != "value"]
    reference = tables.receive(f"whole_{code}", engine, queries.select_all(relation, engine.dialect))
    listed = tables.create("codes", "linked/released_codes", column=[column.column], released=released)
    holes: dict[str, Any] = {"reference": reference, "codes": listed, "figures": figures}
    return column.with_reference(tables.create(f"coded_{code}", "kinds/coded_reference", **holes))


@dataclass(frozen=True)
class ValueCheck:
    """Checks the models of one sensitive column. `code`: the column with the codes of its values."""

    joined: Joined
    column: SensitiveColumn
    code: str

    def findings(self, m: int | str) -> list[ValueFinding]:
        """A finding per model and number of rows that the attacker has."""
        rows = self.joined.people if self.column.number == 0 else self.joined.rows
        holders = self.joined.tables.create("holders", "linked/released_holders", code=[self.code], rows=rows)
        sizes: Sequence[int | str] = [0] if self.joined.rows is None else ["all"] if m == "all" else range(int(m) + 1)
        found = []
        for size in sizes:
            summaries: dict[str, list[Sequence[Any]]] = {}
            for division in self.joined.divisions(size):
                sharing = self.joined.sharing(size, division)
                for model, summary in self._summaries(size, sharing, holders, division):
                    summaries.setdefault(model, []).append(summary)
            found += [self._finding(model, size, of_parts) for model, of_parts in summaries.items()]
        return found

    def _summaries(
        self, size: int | str, sharing: Relation, holders: Relation, divided: Mapping[str, int]
    ) -> Iterator[tuple[str, Sequence[Any]]]:
        """For every model: the combinations, those that violate it, and the worst figure."""
        tables = self.joined.tables
        if self.column.distinct:
            diversity = f"distinct l-diversity of {self.column.column}"
            few = {"l": self.column.distinct}
            (found,) = tables.rows("linked/fewest_values", sharing=sharing, holders=holders, **few)
            yield diversity, found
            if size != 0 and self.column.number:
                number: dict[str, Any] = {"code": [self.code], "kind": self.column.number}
                whole: Mapping[str, Any] = {"sharing": sharing} if size == "all" else divided
                query = f"linked/fewest_values_of_{NAMES[size]}"
                placed = self.joined.places.holes_of(query)
                (found,) = tables.rows(query, rows=self.joined.rows, **number, **whole, **few, **placed)
                yield diversity, found
        if self.column.models.models:
            kinds = tables.create("kinds", "linked/values_of_people", sharing=sharing, holders=holders)
            for model in self.column.models.models:
                holes = achieved_holes(self.column.models, model, PEOPLE, "weight")
                (found,) = tables.rows("release/class_summary", kinds=kinds, safe=self.column.predicate(model), **holes)
                _, combinations, _, unsafe, _, achieved = found
                yield model.name, (combinations, unsafe, achieved)

    def _finding(self, name: str, known_rows: int | str, summaries: Sequence[Sequence[Any]]) -> ValueFinding:
        model = next((model for model in self.column.models.models if model.name == name), None)
        required = self.column.distinct if model is None else model.required
        figures = [float(row[2]) for row in summaries if row[2] is not None]
        lowest = model is None or (model.achieved or "").startswith("MIN")
        worst = (min if lowest else max)(figures, default=None)
        if worst is not None and model is None:
            worst = int(worst)
        combinations, unsafe = (sum(int(row[place]) for row in summaries) for place in (0, 1))
        return ValueFinding(self.column.name, name, known_rows, required, worst, combinations, unsafe)


def _finding(known_rows: int | str, k: int, found: Sequence[Sequence[Any]]) -> LinkedFinding:
    smallest = min((int(row[2]) for row in found if row[2] is not None), default=None)
    return LinkedFinding(known_rows, k, smallest, sum(int(row[0]) for row in found), sum(int(row[1]) for row in found))


def _broken(tables: Scratch, links: Sequence[Link], released: Mapping[str, Relation]) -> Any:
    """Sentences about released keys that occur twice, or lead nowhere."""
    own_keys = {link.name: str(link.own_key) for link in links}
    main = links[0].name
    for link in links:
        relation = released[link.name]
        if link.own_key:
            ((doubled,),) = tables.rows("linked/broken_keys", column=[link.own_key], released=relation)
            if doubled:
                yield f"{doubled:,} values of {link.name}.{link.own_key} are in several rows"
        for column, target in ((link.person, main), (link.parent_key, link.parent)):
            if column and target:
                holes: dict[str, Any] = {
                    "released": relation,
                    "column": [column],
                    "target": released[target],
                    "key": [own_keys[target]],
                }
                ((lost,),) = tables.rows("linked/lost_references", **holes)
                if lost:
                    yield f"{lost:,} rows of {link.name} refer by {column} to rows of {target} that do not exist"
