"""The evidence of a local recoding: a table, shown as the release says of its tuples, so that its rows can be counted.

It is what `kanon_sql.release.private` keeps with a release. Nothing in it is believed: the rows that it shows must be
rows of the source, each once, with labels that are true of them, and the very rows of the release.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.measure.tables import known_hierarchy
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Hole, Relation
from kanon_sql.recode.show import STATISTICS, how_of, shown_names
from kanon_sql.release import tables as release_tables
from kanon_sql.release.pieces import EVIDENCE, companion, private_file
from kanon_sql.spec import Spec

_WRONG = (
    "the evidence of the release, which says what each tuple of its source is shown as, {why}, so that nobody knows "
    "whose its rows are; give the source as it was then, or release again"
)


@dataclass(frozen=True)
class Evidence:
    """Where the evidence of a release is, by the columns that it is of: quasi-identifiers, and what shows them.

    `counted`: what the models count, in whose order the rows of a tuple were dealt to its parts.
    """

    engine: Engine
    relation: Relation
    quasi_identifiers: tuple[str, ...]
    shown: tuple[str, ...]
    parted: bool
    counted: tuple[str, ...]

    @property
    def values(self) -> list[str]:
        """Its columns of the source's values, in the order of the quasi-identifiers."""
        return [f"value_{i}" for i, _ in enumerate(self.quasi_identifiers)]

    @property
    def labels(self) -> dict[str, str]:
        """Its columns of what is shown, by the release's names."""
        return {name: f"shown_{i}" for i, name in enumerate(self.shown)}

    def _shown(self, tables: Scratch, table: Table, counted: Sequence[str], parted: bool) -> tuple[Relation, list[str]]:
        """The rows of a table as the release shows them: number, what is shown and counted; and the latter's names.

        `tables`: where the table is. `parted`: whether a tuple's rows are dealt to its parts, in the order of what is
        counted; else each is in all of them.
        """
        plain = {name: f"counted_{i}" for i, name in enumerate(counted)}
        columns = dict(zip(self.values, self.quasi_identifiers, strict=True)) | {new: old for old, new in plain.items()}
        source = tables.make("evidence_source", "frequency_sets/copy", columns=columns, source=table.relation)
        order = [*plain.values()] or self.values
        holes: dict[str, Hole] = {"columns": list(columns), "values": self.values, "order": order}
        rows = tables.make("evidence_rows", "evidence/evidence_rows", source=source, **holes)
        text = queries.select_all(self.relation, self.engine.dialect)
        received = tables.receive("evidence_received", self.engine, text)
        known = [*self.values, *(["first", "last"] if parted else []), *self.labels.values()]
        evidence = tables.make("evidence_known", "evidence/evidence_numbered", evidence=received, columns=known)
        holes = {"rows": rows, "evidence": evidence, "values": self.values}
        tuples = tables.make("evidence_tuples", "evidence/evidence_tuples", **holes)
        query = "evidence/evidence_shown_parts" if parted else "evidence/evidence_shown_whole"
        holes = {"shown": list(self.labels.values()), "counted": list(plain.values())}
        shown = tables.make("evidence_shown", query, rows=rows, tuples=tuples, evidence=evidence, **holes)
        return shown, list(plain.values())

    def people(self, tables: Scratch, table: Table, spec: Spec, counted: Sequence[str]) -> str:
        """The query of the rows of a source, by the names that they have in the release, with what is counted of them.

        SourceError if the evidence shows a row more than once, or with a label that is not true of it.
        """
        counted = list(dict.fromkeys([*self.counted, *counted]))
        shown, plain = self._shown(tables, table, counted, self.parted)
        ((repeated,),) = tables.rows("evidence/evidence_repeated", shown=shown)
        if repeated:
            raise SourceError(_WRONG.format(why="shows rows more than once"))
        self._check_labels(tables, table, spec)
        columns = {**self.labels, **dict(zip(counted, plain, strict=True))}
        return queries.text("frequency_sets/copy", tables.engine.dialect, source=shown, columns=columns)

    def population(self, tables: Scratch, table: Table, unit: str | None) -> str:
        """The query of a population as the release shows it: what is shown, and `population`, its rows or people."""
        shown, plain = self._shown(tables, table, [unit] if unit else [], parted=False)
        holes: dict[str, Any] = {"labels": list(self.labels.values()), "names": self.labels}
        holes["counted"] = plain or ["number"]
        return queries.text("evidence/evidence_population", tables.engine.dialect, shown=shown, **holes)

    def _check_labels(self, tables: Scratch, table: Table, spec: Spec) -> None:
        """SourceError if a label cannot stand for a value that it is shown for; a statistic tells nothing."""
        from kanon_sql.attack.labels import covered  # loads all attacks, which a release does not need

        for value, name in zip(self.values, self.quasi_identifiers, strict=True):
            labels = [self.labels[label] for label in shown_names(name, "labels") if label in self.labels]
            column = table.column(name)
            if column is None or not labels or how_of(spec, table, name) in STATISTICS:
                continue
            holes: dict[str, Hole] = {"evidence": tables["evidence_known"], "value": [value], "label": labels}
            pairs = tables.rows("evidence/evidence_labels", **holes)
            texts = {found: text for found, text, _ in pairs}
            places = {found: place for place, found in enumerate(texts)}
            hierarchy = known_hierarchy(spec, tables.engine, column, list(texts))
            asked = {label for *_, label in pairs}, list(texts), column.kind, hierarchy, list(texts.values())
            may_be, _ = covered(*asked)
            if any(places[found] not in may_be.get(label, ()) for found, _, label in pairs):
                raise SourceError(_WRONG.format(why=f"has labels of {name!r} that are not true of its values"))


@contextlib.contextmanager
def evidence_of(release: Source, spec: Spec, shown: Sequence[str], model: PrivacyModels) -> Iterator[Evidence | None]:
    """The evidence that was kept with a release, where it is; None if none is needed, was kept, or may be read."""
    if not model.hidden and model.population is None:
        yield None
        return
    names = tuple(sorted(spec.quasi_identifiers))
    if not release.files:
        there = companion(release.table.relation, EVIDENCE)
        found = release.engine.existing(there)
        if found and release_tables.about(release.engine, there).get("of") != release.table.relation.name:
            found = None
        yield _evidence(release.engine, found, names, shown, model) if found else None
        return
    file = private_file(release.files[0], EVIDENCE)
    if len(release.files) > 1 or not os.access(file, os.R_OK):
        yield None
        return
    with contextlib.closing(release.engine.embedded()) as reader:
        yield _evidence(reader, reader.table(reader.read_written(file, "parquet")), names, shown, model)


def _evidence(
    engine: Engine, table: Table, names: tuple[str, ...], shown: Sequence[str], model: PrivacyModels
) -> Evidence:
    parted, counted = table.column("first") is not None, tuple(dict.fromkeys(model.sensitive.values()))
    found = Evidence(engine, table.relation, names, tuple(sorted(shown)), parted, counted)
    columns = {column.name for column in table.columns}
    if {*found.values, *found.labels.values()} != columns - {"first", "last"}:
        raise SourceError(_WRONG.format(why="is of other quasi-identifiers"))
    return found
