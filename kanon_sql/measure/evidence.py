"""The evidence of a local recoding: the labels of the source's tuples, so that the people of a release can be counted.

`kanon_sql.release.private` keeps it with a release. Verification does not trust it: the rows that it shows must be rows
of the source, all different, with labels that fit their values, and exactly the rows of the release.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.measure.tables import known_hierarchy
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Relation
from kanon_sql.recode.show import STATISTICS, how_of, shown_names
from kanon_sql.release.pieces import EVIDENCE, private_file
from kanon_sql.release.tables import companion_of
from kanon_sql.spec import Spec

_WRONG = (
    "the evidence of the release (the labels of the source's tuples) {why}, so that the people of its rows are "
    "unknown; name the source as it was at the time of the release, or release again"
)


@dataclass(frozen=True)
class Evidence:
    """The table with the evidence of a release.

    `quasi_identifiers`: of the source. `shown`: the columns of the release that show them. `parted`: whether the rows
    of a tuple can be in several classes ("parts"). `counted`: the columns that the models count; the rows of a tuple
    were assigned to its parts in their order.
    """

    engine: Engine
    relation: Relation
    quasi_identifiers: tuple[str, ...]
    shown: tuple[str, ...]
    parted: bool
    counted: tuple[str, ...]

    @property
    def values(self) -> list[str]:
        """Its columns with the source's values, in the order of the quasi-identifiers."""
        return [f"value_{i}" for i, _ in enumerate(self.quasi_identifiers)]

    @property
    def labels(self) -> dict[str, str]:
        """Its columns with the labels, by the release's names."""
        return {name: f"shown_{i}" for i, name in enumerate(self.shown)}

    def _shown(self, tables: Scratch, table: Table, counted: Sequence[str], parted: bool) -> tuple[Relation, list[str]]:
        """A relation of the table's rows with number, labels and counted columns, and the names of the latter.

        `tables`: in the table's engine. `parted`: whether every row of a tuple is assigned to one of its parts, in the
        order of the counted columns; otherwise every row is in all of them.
        """
        plain = {name: f"counted_{i}" for i, name in enumerate(counted)}
        columns = dict(zip(self.values, self.quasi_identifiers, strict=True)) | {new: old for old, new in plain.items()}
        source = tables.create("evidence_source", "frequency_sets/copy", columns=columns, source=table.relation)
        order = [*plain.values()] or self.values
        rows = tables.create(
            "evidence_rows",
            "evidence/evidence_rows",
            source=source,
            columns=list(columns),
            values=self.values,
            order=order,
        )
        text = queries.select_all(self.relation, self.engine.dialect)
        received = tables.receive("evidence_received", self.engine, text)
        numbered = [*self.values, *(["first", "last"] if parted else []), *self.labels.values()]
        evidence = tables.create("evidence_known", "evidence/evidence_numbered", evidence=received, columns=numbered)
        tuples = tables.create(
            "evidence_tuples", "evidence/evidence_tuples", rows=rows, evidence=evidence, values=self.values
        )
        shown = tables.create(
            "evidence_shown",
            "evidence/evidence_shown_parts" if parted else "evidence/evidence_shown_whole",
            rows=rows,
            tuples=tuples,
            evidence=evidence,
            shown=list(self.labels.values()),
            counted=list(plain.values()),
        )
        return shown, list(plain.values())

    def people(self, tables: Scratch, table: Table, spec: Spec, counted: Sequence[str]) -> str:
        """The query of the source's rows with their labels, by the release's names, and with the counted columns.

        SourceError if the evidence shows a row more than once, or with a label that does not fit its value.
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
        """The query of a population by the release's labels: these, and `population`, the number of rows or people."""
        shown, plain = self._shown(tables, table, [unit] if unit else [], parted=False)
        return queries.text(
            "evidence/evidence_population",
            tables.engine.dialect,
            shown=shown,
            labels=list(self.labels.values()),
            names=self.labels,
            counted=plain or ["number"],
        )

    def _check_labels(self, tables: Scratch, table: Table, spec: Spec) -> None:
        """SourceError if a label does not fit a value that it is shown for; statistics fit any value."""
        from kanon_sql.attack.label_readings import covered  # loads all attacks, which a release does not need

        for value, name in zip(self.values, self.quasi_identifiers, strict=True):
            labels = [self.labels[label] for label in shown_names(name, "labels") if label in self.labels]
            column = table.column(name)
            if column is None or not labels or how_of(spec, table, name) in STATISTICS:
                continue
            pairs = tables.rows(
                "evidence/evidence_labels", evidence=tables["evidence_known"], value=[value], label=labels
            )
            texts = {found: text for found, text, _ in pairs}
            places = {found: place for place, found in enumerate(texts)}
            fitting, _ = covered(
                {label for *_, label in pairs},
                values=list(texts),
                kind=column.kind,
                hierarchy=known_hierarchy(spec, tables.engine, column, list(texts)),
                texts=list(texts.values()),
            )
            if any(places[found] not in fitting.get(label, ()) for found, _, label in pairs):
                raise SourceError(_WRONG.format(why=f"has labels of {name!r} that are not true of its values"))


@contextlib.contextmanager
def evidence_of(release: Source, spec: Spec, shown: Sequence[str], model: PrivacyModels) -> Iterator[Evidence | None]:
    """Open the evidence kept with a release; None if it is not needed or cannot be read."""
    if not model.hidden and model.population is None:
        yield None
        return
    names = tuple(sorted(spec.quasi_identifiers))
    if not release.files:
        found = companion_of(release.engine, release.table.relation, EVIDENCE)
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
    evidence = Evidence(
        engine,
        table.relation,
        names,
        shown=tuple(sorted(shown)),
        parted=table.column("first") is not None,
        counted=tuple(dict.fromkeys(model.sensitive.values())),
    )
    columns = {column.name for column in table.columns}
    if {*evidence.values, *evidence.labels.values()} != columns - {"first", "last"}:
        raise SourceError(_WRONG.format(why="is of other quasi-identifiers"))
    return evidence
