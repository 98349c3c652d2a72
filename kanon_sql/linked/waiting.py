"""Which changes wait, so that no two releases of several tables single out people together.

Whoever has two releases may know of a person what both show: their row of the main table and up to m other rows, each
as it was in the earlier release and as it is in the new one. At least k people must share every such combination, so
the two releases, put side by side row by row, have to be (k, m)-anonymous. That is more than a reader can do, since
keys differ between releases. In each of the two releases, those people, and each of the known rows, must also have
several values of every sensitive column that is compared, and the new release must have as many as l-diversity says.

At first no change waits. Then, as long as fewer than k people share a combination in which something changes, one of
the changes waits: of the rows in it, the one that fewer people show, or else the row of the main table. A row that
waits is released as it was in the last release. If everything waited, the new release would be the last one, which was
compared with all others when it was made; so this ends, at the latest then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.linked.sensitive import SensitiveColumn
from kanon_sql.queries import Hole, Relation, ReleasedPlaces

_NO_RELEASE = 0  # no row is in it, so that the new release is looked at alone
_LEAST_TYPES = {"place": "INTEGER", "kind": "INTEGER", "least": "INTEGER"}
_OCCURRENCES = ("classes", "rows", "pairs", "triples")  # by the number of rows in other tables that are known


@dataclass(frozen=True)
class Waiting:
    """The changes that wait: by table, the keys of the rows, and how many wait to appear, to leave, and to change.

    `people`: of whom anything waits. `moving`: how many rows change.
    """

    people: int
    moving: int
    keys: Mapping[str, Relation]
    counts: Mapping[str, Mapping[str, int]]


class Chooser:
    """Chooses the changes that wait, in an embedded engine.

    `past`, `candidates`: the history and the new rows by table, in `source`. `levels`: the most rows that lie between
    a row and its person. `compared_columns`: the sensitive columns whose values are compared, each with the number of
    values in both releases, and in the new one alone.
    """

    def __init__(
        self,
        here: Scratch,
        source: Engine,
        past: Mapping[str, Relation],
        candidates: Mapping[str, Relation],
        k: int,
        m: int,
        levels: int,
        compared_columns: Sequence[tuple[SensitiveColumn, int]] = (),
    ) -> None:
        self._here = here
        self._k, self._m = k, m
        self._levels, self._places = levels, ReleasedPlaces.on_levels(levels)
        self._columns = compared_columns
        self._tables = list(past)
        versions = self._listed("versions", source, "past", past)
        new = self._listed("new_rows", source, "candidate", candidates)
        self._numbers = here.create("numbers", "linked_history/numbers", versions=versions, candidates=new)
        self._versions = self._numbered("known_versions", versions)
        rows = self._numbered("known_rows", new)
        self._changes = here.create("changes", "linked_history/changes", candidates=rows, versions=self._versions)
        self._waiting = here.create("waiting_0", "linked_history/nothing_waits", changes=self._changes)
        self._turn = 0
        if compared_columns:
            self._past_values = self._valued("past_values", source, "past", past)
            self._new_values = self._valued("new_values", source, "candidate", candidates)
            self._least = self._numbers_of_values("least", [least for _, least in compared_columns])
            self._least_alone = self._numbers_of_values(
                "least_alone", [column.distinct for column, _ in compared_columns]
            )

    def _listed(self, query: str, source: Engine, hole: str, tables: Mapping[str, Relation]) -> Relation:
        """The rows of all tables in one, with the number of the table."""
        here = self._here
        whole: Relation | None = None
        for kind, relation in enumerate(tables.values()):
            text = queries.text(f"linked_history/{query}", source.dialect, kind=kind, **{hole: relation})
            part = here.receive(f"{query}_{kind}", source, text)
            if whole is not None:
                part = here.create(f"all_{query}_{kind}", "linked_history/both_lists", first=whole, second=part)
            whole = part
        assert whole is not None
        return whole

    def _numbered(self, stem: str, rows: Relation) -> Relation:
        return self._here.create(stem, "linked_history/numbered", versions=rows, numbers=self._numbers)

    def _valued(self, query: str, source: Engine, hole: str, tables: Mapping[str, Relation]) -> Relation:
        """The values of all sensitive columns, by the numbers of their rows and people."""
        here = self._here
        parts: list[str] = []
        for place, (column, _) in enumerate(self._columns):
            holes: dict[str, Hole] = {hole: tables[column.table], "column": [column.column]}
            text = queries.text(f"linked_history/{query}", source.dialect, place=place, **holes)
            part = here.receive(f"{query}_{place}", source, text)
            parts.append(queries.select_all(part, here.engine.dialect))
        whole = here.create_as(f"all_{query}", queries.union_all(parts))
        return here.create(query, "linked_history/numbered_values", values=whole, numbers=self._numbers)

    def _numbers_of_values(self, stem: str, least: Sequence[int]) -> Relation:
        """The minimum number of values by sensitive column, with the number of its table."""
        kinds = [column.number for column, _ in self._columns]
        return self._here.load(stem, _LEAST_TYPES, [list(range(len(kinds))), kinds, list(least)])

    def choose(self, releases: Sequence[int]) -> None:
        """Let changes wait until the new release singles out no one together with any of these releases, by number."""
        if self._columns:
            releases = [*releases, _NO_RELEASE]
        turn = -1
        while turn < (turn := self._turn):
            for release in releases:
                for size in range(self._m + 1):
                    self._choose(release, size)

    def _choose(self, release: int, size: int) -> None:
        """Let changes wait until every combination of a size is shared in one pair of releases."""
        while victims := self._victims(release, size):
            self._let_wait(victims)

    def _victims(self, release: int, size: int) -> Relation | None:
        """The rows that have to wait next; None if there are none."""
        here = self._here
        compared = here.create(
            "compared", "linked_history/compared",
            changes=self._changes, versions=self._versions, waiting=self._waiting, release=release,
        )  # fmt: skip
        classes = here.create("classes", "linked_history/classes", compared=compared)
        holes: dict[str, Hole] = {"classes": classes, "compared": compared}
        movers = {"classes": here.create("movers", "linked_history/classes_of_movers", **holes)}
        candidates = {"classes": classes}
        if size:
            text = queries.compared_facts(compared, classes, self._levels, here.engine.dialect)
            facts = here.create_as("facts", text)
            chosen = self._create("chosen_facts", "linked_history/chosen_facts", facts=facts)
            movers = {"facts": self._create("movers", "linked_history/facts_of_movers", facts=chosen)}
        query = f"linked_history/occurrences_of_{_OCCURRENCES[size]}"
        moving = self._create("moving", query, **movers)
        touched = here.create("touched", "linked_history/touched", occurrences=moving)
        combinations = touched
        if self._columns:
            combinations = here.create("combinations", "linked_history/combinations", occurrences=moving)
        if not here.written(combinations):
            return None
        if size:
            holes = {"facts": chosen, "touched": combinations}
            candidates = {"facts": self._create("touching", "linked_history/facts_touched", **holes)}
        counted = self._create("counted", query, **candidates)
        rare = here.create("rare", "linked_history/rare", occurrences=counted, touched=touched, k=self._k)
        victims = here.create("victims", "linked_history/victims", occurrences=moving, rare=rare)
        if here.written(victims):
            return victims
        return self._victims_of_values(release, size, compared, moving, counted) if self._columns else None

    def _create(self, stem: str, query: str, **holes: Hole) -> Relation:
        """A table of rows, or of combinations of these, which belong to others in many ways."""
        return self._here.create(stem, query, **holes, **self._places.holes_of(query))

    def _victims_of_values(
        self, release: int, size: int, compared: Relation, moving: Relation, counted: Relation
    ) -> Relation | None:
        """The rows that have to wait next because of sensitive values; None if there are none."""
        here = self._here
        holes: dict[str, Hole] = {"past": self._past_values, "candidates": self._new_values, "waiting": self._waiting}
        values = here.create("values_shown", "linked_history/values_shown", release=release, **holes)
        least = self._least_alone if release == _NO_RELEASE else self._least
        for query in ("too_few_values", "revealing_combinations") if size else ("too_few_values",):
            holes = {"occurrences": counted, "values": values, "least": least}
            unsafe = here.create("unsafe", f"linked_history/{query}", **holes)
            holes = {"occurrences": moving, "unsafe": unsafe, "compared": compared, "least": least}
            victims = here.create("victims", "linked_history/victims_of_values", **holes)
            if here.written(victims):
                return victims
        return None

    def _let_wait(self, victims: Relation) -> None:
        self._extend("more_waiting", victims=victims)
        rows = -1
        while rows < (rows := self._here.written(self._waiting)):
            self._extend("with_dependents", changes=self._changes)

    def _extend(self, query: str, **holes: Relation) -> None:
        self._turn += 1
        stem = f"waiting_{self._turn % 2}"
        self._waiting = self._here.create(stem, f"linked_history/{query}", waiting=self._waiting, **holes)

    @property
    def moving(self) -> int:
        """How many rows change."""
        ((moving,),) = self._here.rows("linked_history/moving_rows", changes=self._changes)
        return int(moving)

    def chosen(self, target: Scratch) -> Waiting:
        """What waits, with the keys of the rows in another engine."""
        here = self._here
        holes = {"waiting": self._waiting, "changes": self._changes}
        ((people,),) = here.rows("linked_history/all_waiting_people", **holes)
        keys: dict[str, Relation] = {}
        for kind, name in enumerate(self._tables):
            text = here.text("linked_history/waiting_keys", numbers=self._numbers, kind=kind, **holes)
            keys[name] = target.receive(f"waiting_{kind}", here.engine, text)
        counts = {
            self._tables[kind]: {"people": of, "to_appear": appear, "to_leave": leave, "to_change": change}
            for kind, of, appear, leave, change in here.rows("linked_history/waiting_people", **holes)
        }
        return Waiting(int(people), self.moving, keys, counts)
