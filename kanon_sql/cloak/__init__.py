"""Location cloaking: places and times become boxes and intervals that k different units share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kanon_sql.cloak import adaptive as quadrants
from kanon_sql.cloak import temporal as spans
from kanon_sql.cloak.adaptive import adaptive
from kanon_sql.cloak.both import both
from kanon_sql.cloak.clique import clique
from kanon_sql.cloak.describe import describe
from kanon_sql.cloak.points import POINTS, ROWS, SOURCE, Cloaking, read
from kanon_sql.cloak.temporal import temporal
from kanon_sql.cloak.written import CLASSES, RELEASED, judge, refuse_if_suppressed, write
from kanon_sql.engine import Engine, Table
from kanon_sql.privacy import k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.release import publish as releases
from kanon_sql.release.publish import Written
from kanon_sql.spec import CloakMethod, Spec
from kanon_sql.staging import Staging

METHODS: dict[CloakMethod, Callable[[Cloaking], Relation]] = {
    "adaptive": adaptive,
    "temporal": temporal,
    "both": both,
    "clique": clique,
}
_INSIDE: dict[CloakMethod, Callable[[Cloaking, Relation], int]] = {
    "adaptive": quadrants.inside,
    "temporal": spans.inside,
}


def release(
    engine: Engine,
    table: Table,
    files: Sequence[Path],
    spec: Spec,
    staging: Staging,
    stage: Callable[[str], None],
    started: float,
    roles: dict[str, Any],
    warned: Sequence[str],
) -> tuple[Written, dict[str, Any]]:
    """Cloak a table, write the release and verify it; give where it is, and its manifest.

    Every released box and interval is shared, exactly equal, by k different units of the release, unless the spec
    says `shared: false`. The work is done in an embedded DuckDB; a server's rows are fetched first.
    A file is staged, a table there when the transaction ends. Raises KanonError; then nothing was written.
    """
    releases.check_target(spec.target, engine, table, files)
    began = time.monotonic()
    cloaking = read(engine, table, spec, k_anonymity(spec.privacy.k), stage)
    read_seconds, began = time.monotonic() - began, time.monotonic()
    boxes = METHODS[spec.cloak.method](cloaking)
    refuse_if_suppressed(cloaking, boxes)
    inside = None if spec.cloak.shared else _INSIDE[spec.cloak.method](cloaking, boxes)
    seconds = {"read": read_seconds, "cloak": time.monotonic() - began}
    stage("Verifying the boxes")
    summary = judge(cloaking, boxes, inside)
    stage("Writing the release")
    written = write(cloaking, engine, table, summary, staging)
    stage("Describing the release")
    manifest = describe(cloaking, engine, table, roles, warned, summary, written, inside, seconds, started)
    cloaking.drop(boxes, SOURCE, ROWS, POINTS, RELEASED, CLASSES, quadrants.KEYS)
    return written, manifest
