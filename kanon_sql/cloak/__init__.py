"""Location cloaking: places and times become boxes and intervals that k different units share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kanon_sql.cloak import adaptive as quadrants
from kanon_sql.cloak import cloaked_release
from kanon_sql.cloak import temporal as spans
from kanon_sql.cloak.adaptive import adaptive
from kanon_sql.cloak.both import both
from kanon_sql.cloak.boxes import Boxes
from kanon_sql.cloak.clique import clique
from kanon_sql.cloak.cloaked_release import CloakSummary, judge, refuse_if_suppressed
from kanon_sql.cloak.points import Cloaking, check_columns, read
from kanon_sql.cloak.temporal import temporal
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.spec import CloakMethod, CloakSpec

METHODS: dict[CloakMethod, Callable[[Cloaking], Boxes]] = {
    "adaptive": adaptive,
    "temporal": temporal,
    "both": both,
    "clique": clique,
}
_INSIDE: dict[CloakMethod, Callable[[Cloaking, Boxes], int]] = {
    "adaptive": quadrants.inside,
    "temporal": spans.inside,
}


@dataclass(frozen=True)
class Cloaked:
    """Rows with their verified boxes in an embedded DuckDB, and the figures for the manifest.

    `inside`: the fewest units seen inside a box, for the published form. `medians`: of area and length.
    `identifying`: the released columns that distinguish most units.
    """

    cloaking: Cloaking
    table: Table
    summary: CloakSummary
    inside: int | None
    medians: tuple[float, float]
    identifying: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def sql(self) -> str:
        """The query of the released rows."""
        return cloaked_release.release_sql(self.cloaking, self.table)

    def verify(self, engine: Engine, release: Relation) -> CloakSummary:
        """Compare the boxes of a written release with the verified ones; VerificationError if they differ."""
        cloaked_release.compare(self.cloaking, self.table, engine, release)
        return self.summary


def in_boxes(tables: Scratch, engine: Engine, table: Table, spec: CloakSpec, stage: Callable[[str], None]) -> Cloaked:
    """Cloak every row of a table by a box and an interval, and verify them; KanonError if that is not possible.

    Every box and interval is shared, exactly equal, by k different units of the release, unless the spec sets
    `shared: false`. The work is done in `tables`, in an embedded engine; a server's rows are first fetched once.
    """
    began = time.monotonic()
    cloaking = read(tables, engine, table, spec, all_of(k_anonymity(spec.privacy.k)), stage)
    read_seconds = time.monotonic() - began
    began = time.monotonic()
    boxes = METHODS[spec.cloak.method](cloaking)
    refuse_if_suppressed(cloaking, boxes)
    inside = None if spec.cloak.shared else _INSIDE[spec.cloak.method](cloaking, boxes)
    seconds = {"read": read_seconds, "cloak": time.monotonic() - began}
    stage("Verifying the boxes")
    tables.drop("keys")
    cloaked_release.place(cloaking, boxes, table)
    summary = judge(cloaking, inside)
    ((area, length),) = tables.rows("cloak_points/medians", classes=tables["classes"])
    identifying = tuple(cloaked_release.identifying(cloaking, summary.rows, table))
    return Cloaked(cloaking, table, summary, inside, (area, length), identifying, seconds)


__all__ = ["METHODS", "CloakSummary", "Cloaked", "check_columns", "in_boxes"]
