"""Findings: what an independent query sees in a relation, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.privacy import PrivacyModel
from kanon_sql.queries import Relation
from kanon_sql.recode.wildcard import Fits


@dataclass(frozen=True)
class Summary:
    """What an independent query found in a relation; see `sql/core/class_summary.sql`.

    `fits`: the other notion of safety, where a star was asked to be a wildcard; see `kanon_sql.recode.wildcard`.
    """

    rows: int
    classes: int
    smallest_class: int | None
    unsafe_classes: int
    unsafe_rows: int
    fits: Fits | None = None

    @property
    def holds(self) -> bool:
        """Whether every class meets the model."""
        return self.unsafe_classes == 0

    @property
    def as_asked(self) -> bool:
        """Whether the release is what was asked for, by the notion that was asked for."""
        return self.fits.holds if self.fits else self.holds


def summarize(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str], model: PrivacyModel) -> Summary:
    """Ask a relation itself whether it meets the model, whoever made it."""
    found = engine.rows(summary_sql(engine, relation, quasi_identifiers, model))
    ((rows, classes, smallest, unsafe_classes, unsafe_rows),) = found
    smallest = None if smallest is None else int(smallest)
    return Summary(int(rows), int(classes), smallest, int(unsafe_classes), int(unsafe_rows))


def summary_sql(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str], model: PrivacyModel) -> str:
    """The query of `summarize`."""
    plain = queries.plain_names(quasi_identifiers)
    return queries.text(
        "core/class_summary",
        engine.dialect,
        release=relation,
        quasi_identifiers={name: column for column, name in plain.items()},
        names=list(plain.values()),
        safe=model.safe,
    )


def class_sizes(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str]) -> list[tuple[int, int]]:
    """How many classes of each size a relation has, the smallest first."""
    query = queries.text(
        "core/class_sizes", engine.dialect, release=relation, quasi_identifiers=list(quasi_identifiers)
    )
    return [(int(size), int(classes)) for size, classes in engine.rows(query)]
