"""The history of several released tables: what a run reads before a release and stores with it.

Next to every released table is its history, `<table>__history`: all rows of the kept releases, with digests of their
keys and the first and last release that has them. `kanon_runs` in the same schema has a row per release. Both are
readable for the owner of the release only, and written in its transaction.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import DifferencingError, SourceError, SpecError
from kanon_sql.generalization.lattice import Node
from kanon_sql.linked.check import Joined, LinkedFinding, ValueCheck, ValueFinding, parent_number
from kanon_sql.linked.counted import CodedTable
from kanon_sql.linked.judge import KeptRows
from kanon_sql.linked.links import Link
from kanon_sql.linked.sensitive import UNIT_ID, SensitiveColumn, compared_columns
from kanon_sql.linked.waiting import Chooser, Waiting
from kanon_sql.linked.writer import Writer, secret_of, unchanged
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import OWN_COLUMNS, PARENT, PERSON, ROW, NewKey, Relation, ReleasedTable
from kanon_sql.release import tables
from kanon_sql.release.pieces import HISTORY, Piece, companion
from kanon_sql.spec import LinkedSpec

RUNS = "kanon_runs"
_COMMENT = {"is": "runs"}
_MOST_MOVING = 2_000_000  # rows; after a new search in a large database, nothing can wait in reasonable time
_RUN_TYPES = {
    "number": "BIGINT",
    "at": "VARCHAR",
    "compared_from": "BIGINT",
    "secret": "VARCHAR",
    "inputs": "VARCHAR",
    "released": "VARCHAR",
    "manifest": "VARCHAR",
}


@dataclass(frozen=True)
class LastRun:
    """What the last run stored: its number, the first release that later ones are compared with, and its manifest.

    `secret`: of the digests of keys. `inputs`: checksums by name. `released`: the checksum of the released tables.
    """

    number: int
    at: str
    compared_from: int
    secret: str
    inputs: Mapping[str, str]
    released: str
    manifest: Mapping[str, Any]

    @classmethod
    def read(cls, engine: Engine, schema: Relation) -> LastRun | None:
        """The last run into the schema of a table; None if there was none."""
        place = schema.sibling(RUNS)
        if engine.existing(place) is None:
            return None
        if tables.about(engine, place) != _COMMENT:
            raise SourceError(f"the table {RUNS} was not created by kanon_sql; rename it, or name another schema")
        rows = engine.rows(queries.text("linked_history/last_run", engine.dialect, runs=place))
        if not rows:
            raise SourceError(f"the table {RUNS} has no rows any more; restore it, or name another schema")
        number, at, since, secret, inputs, released, manifest = rows[0]
        return cls(int(number), at, int(since), secret, json.loads(inputs), released, json.loads(manifest))

    def add(self, engine: Engine, schema: Relation) -> None:
        """Store the run in the open transaction."""
        place = schema.sibling(RUNS)
        values = (
            self.number, self.at, self.compared_from, self.secret, json.dumps(dict(self.inputs)), self.released,
            json.dumps(dict(self.manifest)),
        )  # fmt: skip
        with Scratch(engine, "runs") as scratch:
            row = scratch.load("run", _RUN_TYPES, [[value] for value in values])
            text = queries.select_all(row, engine.dialect)
            if engine.existing(place) is None:
                tables.make_private(engine, place, text, _COMMENT)
            else:
                engine.run(queries.insert(place, text, engine.dialect))


def stored_runs(engine: Engine, schema: str, most: int) -> list[tuple[int, str, Mapping[str, Any]]]:
    """The latest runs into a schema, the last one first: number, time and manifest. None without a table of runs."""
    table = engine.find(tables.quoted(Relation(schema, RUNS)))
    if table is None or tables.about(engine, table.relation) != _COMMENT:
        return []
    rows = engine.rows(queries.text("linked_history/latest_runs", engine.dialect, runs=table.relation, most=most))
    return [(int(number), at, json.loads(manifest)) for number, at, manifest in rows]


@dataclass(frozen=True)
class LinkedHistory:
    """The release to be made: its number, the secret of its digests, and the earlier ones that it is compared with.

    `past`: the histories by table, None for a first release. `since`: the first release to compare with; the number
    of the release itself if it is compared with none.
    """

    spec: LinkedSpec
    links: Sequence[Link]
    targets: Mapping[str, Relation]
    number: int
    secret: str
    since: int
    past: Mapping[str, Relation] | None = None

    @cached_property
    def _compared_columns(self) -> list[tuple[SensitiveColumn, int]]:
        """The sensitive columns whose values are compared, with how many must remain possible."""
        return compared_columns(self.spec, self.links)

    @classmethod
    def after(
        cls,
        engine: Engine,
        spec: LinkedSpec,
        links: Sequence[Link],
        targets: Mapping[str, Relation],
        last: LastRun | None,
    ) -> LinkedHistory:
        """The history for the release after the last one; DifferencingError if a table of it is missing."""
        number = last.number + 1 if last else 1
        secret = last.secret if last else secrets.token_hex(32)
        past = {name: companion(target, HISTORY) for name, target in targets.items()}
        lost = [relation.name for relation in past.values() if engine.existing(relation) is None]
        unlimited = spec.differencing_limit == "unlimited"
        if last is None:
            if len(lost) < len(past) and not unlimited:
                raise DifferencingError(
                    f"there are histories of earlier releases, but the table {RUNS} is missing, so that a new release "
                    'cannot be compared with them; restore it, or use `differencing_limit="unlimited"` if no one has '
                    "these releases any more"
                )
            return cls(spec, links, targets, 1, secret, 1)
        if lost and not unlimited:
            raise DifferencingError(
                f"the table {lost[0]} with the earlier releases is missing, so that a new one cannot be compared with "
                'them; restore it, or use `differencing_limit="unlimited"` if no one has these releases any more'
            )
        since = number if unlimited else max(last.compared_from, number - spec.differencing_history)
        return cls(spec, links, targets, number, secret, since, None if lost else past)

    def pieces(
        self,
        writer: Writer,
        counting: Engine,
        node: Node,
        kept: KeptRows,
        about: Mapping[str, Any],
    ) -> tuple[dict[str, list[Piece]], Waiting | None]:
        """The released tables and their histories as queries, and the changes that wait.

        `writer`: with the secret of the digests. `counting`: the engine in which changes are chosen.
        """
        engine, scratch, coded = writer.engine, writer.scratch, writer.tables
        columns = {table.copy.link.name: self._columns(table) for table in coded}
        candidates = self._candidates(writer, node, kept)
        past, waiting = self._past(scratch, candidates, columns), None
        if self.since < self.number:
            waiting = self._waiting(scratch, counting, past, candidates)
        none = scratch.load("none_waits", {"row_key": "VARCHAR"}, [[]])
        new_secret = scratch.load("secret_of_keys", {"secret": "VARCHAR"}, [[secret_of(self.spec)]])
        pieces: dict[str, list[Piece]] = {}
        for table in coded:
            link, name = table.copy.link, table.copy.link.name
            history = scratch.create(
                f"history_{link.number}", "linked_history/continued",
                past=past[name], candidate=candidates[name], waiting=waiting.keys[name] if waiting else none,
                columns=[*OWN_COLUMNS, *columns[name]], number=self.number,
                oldest=self.number - self.spec.differencing_history,
            )  # fmt: skip
            digests = {link.own_key: ROW, link.person: PERSON, link.parent_key: PARENT}
            keys = {key: digests[key] for key in link.keys}
            public = queries.republished(history, keys, columns[name], new_secret, engine.dialect)
            pieces[name] = [
                Piece(name, f"Write the rows of {name} that are released.", public, about=about),
                Piece(
                    HISTORY, f"Store the rows of {name} of all kept releases.",
                    queries.select_all(history, engine.dialect), HISTORY, released=False,
                ),
            ]  # fmt: skip
        return pieces, waiting

    def _columns(self, table: CodedTable) -> list[str]:
        """The released columns of a table without its keys; SpecError if one has a name of ours."""
        names = [*table.copy.quasi_identifiers, *unchanged(table), *self.spec.tables[table.copy.link.name].shift]
        if ours := next((name for name in names if name.lower().startswith("kanon_")), None):
            raise SpecError(f"{table.copy.link.name}.{ours} has a name that histories use; rename it in a view")
        return names

    def _candidates(self, writer: Writer, node: Node, kept: KeptRows) -> dict[str, Relation]:
        """The rows of a release without waiting, described by digests."""
        scratch, coded = writer.scratch, writer.tables
        keys = self._row_keys(scratch, writer.secret, coded)
        main = self.links[0].name
        digests: dict[str, list[NewKey]] = {}
        for table in coded:
            link = table.copy.link
            digests[link.name] = [
                *([NewKey(ROW, keys[link.name], "row_id", "row_id")] if link.own_key else []),
                NewKey(PERSON, keys[main], "unit_id", "unit_id"),
                NewKey(PARENT, keys[link.parent or main], "parent_id", "parent_id"),
            ]
        candidates: dict[str, Relation] = {}
        for table, text in zip(coded, writer.queries(node, kept, digests).values(), strict=True):
            link = table.copy.link
            raw = scratch.create_as(f"released_{link.number}", text)
            labels = table.copy.quasi_identifiers
            others = self._columns(table)[len(labels) :]
            text = queries.described_rows(raw, labels, others, link.own_key is not None, scratch.engine.dialect)
            candidates[link.name] = scratch.create_as(f"candidate_{link.number}", text)
            scratch.drop(raw)
        return candidates

    def _row_keys(self, scratch: Scratch, secret: Relation, coded: Sequence[CodedTable]) -> dict[str, Relation]:
        """The digests of the rows of every table with a key, by table."""
        keys: dict[str, Relation] = {}
        for table in coded:
            link, copy = table.copy.link, table.copy
            if link.own_key is None:
                continue
            holes: dict[str, Any] = {
                "secret": secret,
                "table": link.name,
                "column": [copy.columns[link.own_key]],
                "copy": copy.relation,
            }
            if link.is_main:
                keys[link.name] = scratch.create("digests_0", "linked/random_keys", **holes)
                continue
            people = keys[self.links[0].name]
            parents = keys[link.parent] if link.parent else people
            keys[link.name] = scratch.create(
                f"digests_{link.number}", "linked_history/row_keys", people=people, parents=parents, **holes
            )
        return keys

    def _past(
        self, scratch: Scratch, candidates: dict[str, Relation], columns: Mapping[str, list[str]]
    ) -> dict[str, Relation]:
        """Copies of the histories, which the new release replaces; DifferencingError if its columns are others.

        A label can be a number on one level and text on another. Such columns become text, also in `candidates`.
        """
        engine = scratch.engine
        past: dict[str, Relation] = {}
        for link in self.links:
            candidate, stem = candidates[link.name], f"past_{link.number}"
            names = [*OWN_COLUMNS, *columns[link.name]]
            existing = engine.existing(self.past[link.name]) if self.past else None
            if existing and names == [column.name for column in existing.columns][: len(names)]:
                old = {column.name: column.type for column in existing.columns}
                new = {column.name: column.type for column in engine.table(candidate).columns}
                mixed = {name for name in names if old[name] != new[name]}
                text = queries.with_text_columns(existing.relation, [*old], mixed, engine.dialect)
                past[link.name] = scratch.create_as(stem, text)
                if mixed:
                    text = queries.with_text_columns(candidate, names, mixed, engine.dialect)
                    candidates[link.name] = scratch.create_as(f"{stem}_candidate", text)
                continue
            if existing and self.since < self.number:
                raise DifferencingError(
                    f"{link.name} has other columns than in the last release, so that the two cannot be compared; "
                    'release other columns to another schema, or use `differencing_limit="unlimited"`'
                )
            past[link.name] = scratch.create(
                stem, "linked_history/nothing_released", columns=names, candidate=candidate, number=0
            )
        return past

    def _waiting(
        self,
        scratch: Scratch,
        counting: Engine,
        past: Mapping[str, Relation],
        candidates: Mapping[str, Relation],
    ) -> Waiting | None:
        """The changes that wait; None if the whole release is to be refused instead."""
        k, m = self.spec.privacy.k, self.spec.privacy.m
        if self.spec.differencing == "refuse" or m == "all":
            return None
        with Scratch(counting, "waiting") as here:
            levels = max(link.depth for link in self.links)
            chooser = Chooser(here, scratch.engine, past, candidates, k, m, levels, self._compared_columns)
            if chooser.moving <= _MOST_MOVING:
                chooser.choose(self.earlier(scratch, list(past.values())))
            return chooser.chosen(scratch)

    def earlier(self, scratch: Scratch, histories: Sequence[Relation]) -> list[int]:
        """The earlier releases to compare with, of equal ones the first, newest first."""
        changed = {self.since}
        for history in histories:
            found = scratch.rows("linked_history/changed_releases", history=history)
            changed |= {int(release) for (release,) in found if self.since < int(release) < self.number}
        return sorted(changed, reverse=True)

    def compare(self, engine: Engine) -> list[dict[str, Any]]:
        """Compare the staged release with the earlier ones; DifferencingError if fewer than k people share anything.

        The two releases are put side by side, row by row, and counted with the queries of the check of a release, as
        are the sensitive values that either has.
        """
        if self.since == self.number:
            return []
        histories = {name: companion(target, HISTORY) for name, target in self.targets.items()}
        findings: list[dict[str, Any]] = []
        with Scratch(engine, "compared") as scratch:
            for release in self.earlier(scratch, list(histories.values())):
                joined = self._side_by_side(scratch, histories, release)
                found = list(joined.findings(self.spec.privacy.k, self.spec.privacy.m))
                if rare := next((finding for finding in found if finding.rare), None):
                    raise DifferencingError(self._refusal(release, rare))
                fewest_values: dict[str, int] = {}
                for finding in self._values(joined):
                    if finding.unsafe_combinations:
                        raise DifferencingError(self._refusal_for_values(release, finding))
                    if finding.achieved is not None:
                        fewest = fewest_values.get(finding.column, finding.achieved)
                        fewest_values[finding.column] = int(min(fewest, finding.achieved))
                fewest_people = min(
                    (finding.achieved for finding in found if finding.achieved is not None), default=None
                )
                findings.append({"release": release, "fewest_people": fewest_people, "fewest_values": fewest_values})
        return findings

    def _side_by_side(self, scratch: Scratch, histories: Mapping[str, Relation], release: int) -> Joined:
        """The rows of an earlier release and of the staged one, joined by their digests."""
        compared: list[ReleasedTable] = []
        for link in self.links:
            labels = list(self.spec.tables[link.name].quasi_identifiers)
            values = {
                place: column.column
                for place, (column, _) in enumerate(self._compared_columns)
                if column.table == link.name
            }
            text = queries.side_by_side(
                histories[link.name], labels, values, release, self.number, scratch.engine.dialect
            )
            relation = scratch.create_as(f"side_by_side_{link.number}", text)
            parent = parent_number(link, self.links)
            compared.append(
                ReleasedTable(
                    relation, link.number, queries.compared_labels(labels), ROW, PERSON, parent,
                    PARENT if link.parent else None,
                    {name: name for place in values for name in queries.compared_values(place)}, has_gaps=True,
                )
            )  # fmt: skip
        return Joined.of(scratch, compared)

    def _values(self, joined: Joined) -> Iterator[ValueFinding]:
        """Count the sensitive values of either of two releases that are side by side."""
        for place, (column, least) in enumerate(self._compared_columns):
            only_least = replace(column, models=PrivacyModels((), UNIT_ID), distinct=least)
            for code in queries.compared_values(place):
                yield from ValueCheck(joined, only_least, code).findings(self.spec.privacy.m)

    def _refusal(self, release: int, rare: LinkedFinding) -> str:
        return (
            f"the new release and release {release} together would single out people: fewer than {rare.required:,} "
            f"share what both show of a person's main row and {rare.known_rows} other rows ({rare.rare:,} such "
            "combinations); the last release stays; release less often, use coarser hierarchies, or use "
            '`differencing_limit="unlimited"` if no one has both'
        )

    def _refusal_for_values(self, release: int, few: ValueFinding) -> str:
        return (
            f"the new release and release {release} together would disclose {few.column}: what both show of a person's "
            f"main row and {few.known_rows} other rows leaves {few.achieved:,} of {few.required:,} values possible "
            f"({few.unsafe_combinations:,} such combinations); the last release stays; release less often, use coarser "
            'hierarchies, or use `differencing_limit="unlimited"` if no one has both'
        )
