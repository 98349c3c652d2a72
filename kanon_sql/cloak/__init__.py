"""Location cloaking: places and times become boxes and intervals that k different units share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kanon_sql.cloak import adaptive as quadrants
from kanon_sql.cloak import temporal as spans
from kanon_sql.cloak import written
from kanon_sql.cloak.adaptive import adaptive
from kanon_sql.cloak.both import both
from kanon_sql.cloak.boxes import Boxes
from kanon_sql.cloak.clique import clique
from kanon_sql.cloak.describe import describe
from kanon_sql.cloak.points import Cloaking, check_columns, read
from kanon_sql.cloak.temporal import temporal
from kanon_sql.cloak.written import Summary, judge, refuse_if_suppressed
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
    """Rows with their boxes, judged, in an embedded DuckDB: what to release of them, and all that a manifest says.

    `inside`: the fewest units seen inside a box, where that is what is promised. `medians`: of area and length.
    `identifying`: the released columns that tell most units apart.
    """

    cloaking: Cloaking
    table: Table
    summary: Summary
    inside: int | None
    medians: tuple[float, float]
    identifying: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def sql(self) -> str:
        """The query that shows the rows as they are released."""
        return written.release_sql(self.cloaking, self.table)

    def verify(self, engine: Engine, release: Relation) -> Summary:
        """Compare the boxes of a release that was written with those judged; VerificationError if they differ."""
        written.compare(self.cloaking, self.table, engine, release)
        return self.summary


def in_boxes(tables: Scratch, engine: Engine, table: Table, spec: CloakSpec, stage: Callable[[str], None]) -> Cloaked:
    """Put every row of a table into a box and an interval, and judge them; KanonError if that cannot be.

    Every box and interval is shared, exactly equal, by k different units of the release, unless the spec says
    `shared: false`. The work is done in `tables`, of an embedded engine; a server's rows are fetched first, once.
    """
    began = time.monotonic()
    cloaking = read(tables, engine, table, spec, all_of(k_anonymity(spec.privacy.k)), stage)
    read_seconds, began = time.monotonic() - began, time.monotonic()
    boxes = METHODS[spec.cloak.method](cloaking)
    refuse_if_suppressed(cloaking, boxes)
    inside = None if spec.cloak.shared else _INSIDE[spec.cloak.method](cloaking, boxes)
    seconds = {"read": read_seconds, "cloak": time.monotonic() - began}
    stage("Verifying the boxes")
    tables.drop("keys")
    written.place(cloaking, boxes, table)
    summary = judge(cloaking, inside)
    ((area, length),) = tables.rows("cloak_points/medians", classes=tables["classes"])
    alone = tuple(written.identifying(cloaking, summary.rows, table))
    return Cloaked(cloaking, table, summary, inside, (area, length), alone, seconds)


__all__ = ["METHODS", "Cloaked", "Summary", "check_columns", "describe", "in_boxes"]
