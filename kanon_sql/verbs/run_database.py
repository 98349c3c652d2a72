"""Release several tables again when something has changed, compared with the earlier releases."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from kanon_sql.engine import Engine, written
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import DifferencingError, SpecError, TargetError
from kanon_sql.frequency.fitting import hierarchy_source
from kanon_sql.linked.copies import source_of, spec_of
from kanon_sql.linked.history import LastRun, LinkedHistory
from kanon_sql.linked.links import Link
from kanon_sql.linked.release import check_linked, places_of, release_to
from kanon_sql.linked.sensitive import compared_columns
from kanon_sql.linked.waiting import Waiting
from kanon_sql.pipeline.fingerprints import of_table
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.privacy_models import uses_hierarchy, value_hierarchy
from kanon_sql.plan.source import Source, opened_engine
from kanon_sql.queries import Relation
from kanon_sql.spec import LinkedSpec, load_linked
from kanon_sql.spec.fields import Places
from kanon_sql.verbs.database import DatabaseRelease, manifest_of
from kanon_sql.verbs.result import DataFrame, Result, frame

_NOT_OF_THE_RELEASE = (
    *(name for name in Places.model_fields if name != "time_zone"),
    "key_secret",
    "differencing",
    "differencing_limit",
    "differencing_history",
    "differencing_values",
    "deferral_limit",
    "time_limit",
    "recipient",
    "purpose",
    "retention",
    "review_date",
)


@dataclass(frozen=True)
class DatabaseRun(Result, json_form="database-run"):
    """What a run did, and why: `status` is released, unchanged, or would release (of a dry run).

    `release`: the release, if there is one; its manifest has `waiting` and `compared`.
    """

    status: Literal["released", "unchanged", "would release"]
    number: int
    why: tuple[str, ...] = ()
    release: DatabaseRelease | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As a mapping for JSON, with the manifest if a release was made."""
        manifest = self.release.manifest if self.release else None
        return {"status": self.status, "number": self.number, "why": list(self.why), "manifest": manifest}

    def to_df(self) -> DataFrame:
        """One row."""
        return frame([{"status": self.status, "number": self.number, "why": "; ".join(self.why)}])

    def _lines(self) -> Sequence[tuple[str, str]]:
        return [(self.status, "; ".join(self.why))]


class _UndoError(Exception):
    """Ends a dry run, so that its transaction is rolled back."""

    def __init__(self, run: DatabaseRun) -> None:
        super().__init__()
        self.run = run


def run_database(
    spec: LinkedSpec | Mapping[str, Any] | str | Path,
    *,
    connection: Any = None,
    dry_run: bool = False,
    observer: Observer | None = None,
    **overrides: Any,
) -> DatabaseRun:
    """Release several tables into a schema if anything has changed since the last run; otherwise do nothing.

    The new release is compared with the last ones, as many as `differencing_history`: put side by side row by row, each
    two of them must be (k, m)-anonymous, and leave several sensitive values possible for everyone. Changes that do not
    allow this wait (`differencing: defer`). The node of the last release is kept while it is safe. `dry_run`: do
    everything, and undo it. Raises DifferencingError if the release is refused; then nothing has changed.

    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE people AS SELECT range AS id, 20 + range % 4 AS age FROM range(8)")
    >>> spec = {
    ...     "unit": {"people": "id"},
    ...     "tables": {"people": {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [2, 4]}}}}},
    ...     "privacy": {"k": 4, "m": 0},
    ...     "into": {"schema": "anon"},
    ... }
    >>> run_database(spec, connection=connection).status, run_database(spec, connection=connection).status
    ('released', 'unchanged')
    """
    settled = load_linked(spec, **overrides)
    if connection is None and settled.database is None:
        raise SpecError("there is no database; name one with `database`, such as `database: hospital.duckdb`")
    if settled.into is None or settled.into.folder:
        raise SpecError("a run replaces tables of a schema; name one, such as `into: {schema: released}`")
    if settled.into.has_views:
        raise SpecError(
            "a run writes tables, and live views need none; use `as: table` under `into:`, or `kanon database release`"
        )
    writes = (f"{settled.into.schema_name}.{settled.main}",)
    try:
        with opened_engine(replace(settled.session, writes=writes), connection) as engine:
            links = check_linked(engine, settled)
            if settled.differencing_limit != "unlimited":
                compared_columns(settled, links)  # before any long work
            with engine.transaction():
                run = _run(engine, settled, links, observer or Observer())
                if dry_run and run.release:
                    raise _UndoError(replace(run, status="would release"))
                return run
    except _UndoError as end:
        return end.run


def _run(engine: Engine, spec: LinkedSpec, links: Sequence[Link], observer: Observer) -> DatabaseRun:
    """Release in the open transaction, if anything has changed."""
    started = time.monotonic()
    targets = places_of(engine, spec, links)
    main = targets[spec.main]
    last = LastRun.read(engine, main)
    observer.stage("Looking for changes")
    inputs = _inputs(engine, spec, links)
    why = _changes(engine, spec, targets, last, inputs)
    if last and not why:
        return DatabaseRun("unchanged", last.number)
    history = LinkedHistory.after(engine, spec, links, targets, last)
    node = last.manifest["node"] if last and spec.node != "search" else None
    released = release_to(engine, spec, links, targets, observer, history, node)
    without_keys = [
        f"{link.name}: no key identifies its rows, so that a changed row is compared as one that leaves and one that "
        "arrives; name its key as `own` in `keys`"
        for link in links
        if link.own_key is None
    ]
    waiting = released.waiting or Waiting(0, 0, {}, {})
    none = {"people": 0, "to_appear": 0, "to_leave": 0, "to_change": 0}
    manifest = manifest_of(spec, released, time.monotonic() - started)
    manifest |= {
        "number": history.number,
        "node_kept": released.outcome.found_by == "kept",
        "waiting": {
            "people": waiting.people,
            "changed_rows": waiting.moving,
            "tables": {name: dict(waiting.counts.get(name, none)) for name in spec.tables},
        },
        "compared": list(released.compared),
        "warnings": [*released.warnings, *without_keys],
    }
    with Scratch(engine, "counted") as scratch:
        for name, target in targets.items():  # rows that wait are released as they were, or not yet
            manifest["tables"][name]["released_rows"] = scratch.count(target)
    people = manifest["released_people"] = manifest["tables"][spec.main]["released_rows"]
    if waiting.people > spec.deferral_limit * people:
        raise DifferencingError(
            f"changes of {waiting.people:,} people would wait, more than {spec.deferral_limit:.0%} of the {people:,} "
            "in the release (`deferral_limit`); the last release stays; use coarser hierarchies or a lower m, or "
            '`differencing_limit="unlimited"` if no one has earlier releases'
        )
    stored = LastRun(
        number=history.number,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        compared_from=history.since,
        secret=history.secret,
        inputs=inputs,
        released=_checksum(engine, targets),
        manifest=manifest,
    )
    stored.add(engine, main)
    release = DatabaseRelease(manifest, dict(released.names))
    return DatabaseRun("released", history.number, tuple(why), release)


def _changes(
    engine: Engine, spec: LinkedSpec, targets: Mapping[str, Relation], last: LastRun | None, inputs: Mapping[str, str]
) -> list[str]:
    """Why a release is due, in words; TargetError if its tables belong to someone else."""
    assert spec.into is not None
    missing = [name for name, target in targets.items() if engine.existing(target) is None]
    if last is None:
        if len(missing) < len(targets) and not spec.into.overwrite:
            name = next(name for name in targets if name not in missing)
            raise TargetError(
                f"{written(targets[name])} exists already, and no run has created it; name another schema, or use "
                "`overwrite: true` under `into:` to replace it"
            )
        return ["there is no release yet"]
    names = dict.fromkeys([*inputs, *last.inputs])
    why = [f"{name} changed" for name in names if inputs.get(name) != last.inputs.get(name)]
    if missing:
        return [*why, *(f"{name} was missing" for name in missing)]
    if _checksum(engine, targets) != last.released:
        if not spec.into.overwrite:
            raise TargetError(
                f"the tables in {spec.into.schema_name} were changed after the last run, and are not replaced; use "
                "`overwrite: true` under `into:`, or name another schema"
            )
        why.append("the released tables were changed")
    return why


def _inputs(engine: Engine, spec: LinkedSpec, links: Sequence[Link]) -> dict[str, str]:
    """The checksums of the inputs of a release, by names for messages."""
    kept = spec.model_dump(exclude={*_NOT_OF_THE_RELEASE}, exclude_unset=True, by_alias=True, warnings=False)
    content = json.dumps(kept, sort_keys=True, default=_plain)
    inputs = {"the spec": hashlib.sha256(content.encode()).hexdigest()}
    for link in links:
        own = spec_of(spec, link)
        source = source_of(engine, own, link)
        table = spec.tables[link.name]
        used = {*link.keys, *table.quasi_identifiers, *own.sensitive, *table.keep, *table.shift}
        present = [column for column in source.columns if column.name in used]
        inputs[f"the source of {link.name}"] = of_table(engine, source, [column.name for column in present])
        for column in present:
            name = f"{link.name}.{column.name}"
            if attribute := own.quasi_identifiers.get(column.name):
                hierarchy = hierarchy_source(attribute, column, own, engine)
                inputs[f"the hierarchy of {name}"] = hierarchy.sha256
            closeness = spec.privacy.t_closeness.get(name)
            if closeness and uses_hierarchy(closeness):
                hierarchy = value_hierarchy(own, Source(engine, source), column.name, closeness)
                inputs[f"the hierarchy of {name} in t_closeness"] = hierarchy.sha256
    return inputs


def _plain(value: object) -> object:
    """A value of a spec for JSON."""
    return dict(value) if isinstance(value, Mapping) else str(value)


def _checksum(engine: Engine, targets: Mapping[str, Relation]) -> str:
    """The checksum of the released tables."""
    digests = [of_table(engine, engine.table(target)) for target in targets.values()]
    return hashlib.sha256("".join(digests).encode()).hexdigest()
