"""`kanon run`: recreate the releases of a spec file whose inputs have changed, and remember what was released."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Literal

from kanon_sql.engine import Engine
from kanon_sql.engines.opening import open_engine
from kanon_sql.errors import (
    DifferencingError,
    InfeasibleError,
    KanonError,
    ReleaseWarning,
    SourceError,
    SpecError,
    TargetError,
    VerificationError,
)
from kanon_sql.frequency.fitting import digest_of
from kanon_sql.own import digest
from kanon_sql.pipeline.continuing import forget_regions, settled, without_new_columns
from kanon_sql.pipeline.copies import History, Replaced, history_of
from kanon_sql.pipeline.fingerprints import (
    SOURCE_CHANGED,
    Fingerprints,
    fingerprints,
    of_files,
    of_source,
    of_tables,
    of_target,
)
from kanon_sql.pipeline.memory import Audited, Memory, Notes, alone, notes_of
from kanon_sql.pipeline.trail import FileTrail, TableTrail, Trail
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import Source, with_code
from kanon_sql.release import publish
from kanon_sql.spec import CloakSpec, ReleaseSpec, Scheduled, Spec, Target, load_runs, merge
from kanon_sql.staging import PrivateFolder, Staging
from kanon_sql.verbs.anonymize import make_release, releasing
from kanon_sql.verbs.cloak import make_cloaked
from kanon_sql.verbs.released import Release
from kanon_sql.verbs.result import DataFrame, Result, frame

if TYPE_CHECKING:
    from kanon_sql.pipeline.lineage import Events, Lineage

Status = Literal["released", "unchanged", "would release", "refused", "failed"]
_REFUSED = (DifferencingError, InfeasibleError, VerificationError)  # errors caused by the data, not by the spec


@dataclass(frozen=True)
class Ran:
    """What a run did about one release, and why. `error`: why the release was refused or failed.

    `lineage_error`: why a lineage event was not received; this changes nothing about the release. `same_rows`: whether
    the release has exactly the rows of the one before, since all changes wait or do not show.
    """

    name: str
    target: str
    status: Status
    why: tuple[str, ...] = ()
    release: Release | None = field(default=None, repr=False, compare=False)
    error: KanonError | None = None
    lineage_error: str | None = None
    same_rows: bool = False

    @property
    def sentence(self) -> str:
        """The reasons, and whether the release has changed."""
        return "; ".join((*self.why, *(["no row of the release changes"] if self.same_rows else [])))

    def to_dict(self) -> dict[str, Any]:
        """As a mapping for JSON, with the manifest if a release was created."""
        result: dict[str, Any] = {
            "name": self.name,
            "target": self.target,
            "status": self.status,
            "why": list(self.why),
        }
        if self.release:
            result["manifest"] = self.release.manifest
            result["same_rows"] = self.same_rows
        if self.error:
            result["error"] = str(self.error)
        if self.lineage_error:
            result["lineage_error"] = self.lineage_error
        return result


@dataclass(frozen=True, repr=False)
class Runs(Result, json_form="run"):
    """The outcome of every release of a spec file; true if none was refused and none failed."""

    releases: tuple[Ran, ...]

    def __bool__(self) -> bool:
        return self.code == 0

    @property
    def code(self) -> int:
        """The exit code: 0 done or nothing to do, 1 a release was refused because of its data, 2 another error."""
        return max({"failed": 2, "refused": 1}.get(outcome.status, 0) for outcome in self.releases)

    def to_dict(self) -> dict[str, Any]:
        """All outcomes as a mapping for JSON."""
        return {"releases": [outcome.to_dict() for outcome in self.releases]}

    def to_df(self) -> DataFrame:
        """One row per release."""
        rows = [(outcome.name, outcome.target, outcome.status, "; ".join(outcome.why)) for outcome in self.releases]
        return frame(rows, columns=["name", "target", "status", "why"])

    def _lines(self) -> list[tuple[str, str]]:
        return [
            (outcome.name, f"{outcome.status}: {outcome.sentence or outcome.error or ''}") for outcome in self.releases
        ]


def run(
    spec: str | os.PathLike[str],
    *,
    vars: Mapping[str, str] | None = None,
    only: str | Sequence[str] | None = None,
    dry_run: bool = False,
    differencing_limit: int | Literal["unlimited"] | None = None,
    database: str | os.PathLike[str] | None = None,
    attach: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | os.PathLike[str] | None = None,
    lineage: str | os.PathLike[str] | None = None,
    check: bool = True,
    observer: Observer | None = None,
) -> Runs:
    """Recreate the releases of a spec file whose source, spec, hierarchies or target have changed.

    `vars`: values of the spec's variables; they override the environment. `only`: the names of the releases to create
    (default: all). `dry_run`: report what would be released, but
    release nothing. `differencing_limit`, `database`, `attach`, `memory_limit`, `threads`,
    `temp_directory`: override those of every release. `lineage`: the URL of a server, or a file, for OpenLineage events
    about every release that is created, refused or fails; a server that does not answer is a ReleaseWarning.
    `check`: raise the error of the first release that was refused or failed, after all were tried; otherwise the
    result contains it. Raises KanonError before anything is tried if the file itself is wrong.

    >>> run("nightly.yml")  # doctest: +SKIP
    nightly  unchanged: nothing has changed since 2026-03-01T02:00:11+00:00
    """
    path = Path(spec)
    overrides = {
        "differencing_limit": differencing_limit,
        "database": database,
        "attach": attach,
        "memory_limit": memory_limit,
        "threads": threads,
        "temp_directory": temp_directory,
    }
    scheduled = [_prepared(release, overrides, path.parent) for release in load_runs(path, vars)]
    _check_targets(scheduled)
    chosen = _chosen(scheduled, [only] if isinstance(only, str) else only)
    events: Lineage | None = None
    if lineage is not None and not dry_run:
        from kanon_sql.pipeline.lineage import Lineage  # not needed otherwise, so loaded here

        events = Lineage(os.fspath(lineage))
    runs = Runs(tuple(_run_one(release, path, dry_run, observer or Observer(), events) for release in chosen))
    for outcome in runs.releases:
        if outcome.lineage_error:
            warnings.warn(lineage_warning(outcome), ReleaseWarning, stacklevel=2)
    error = next((outcome.error for outcome in runs.releases if outcome.error), None)
    if check and error:
        raise error
    return runs


def _prepared(release: Scheduled, overrides: Mapping[str, Any], folder: Path) -> Scheduled:
    """A release with its overrides and the Python code that its spec names, checked before anything runs."""
    overridden = any(value is not None for value in overrides.values())
    spec = merge(release.spec, **overrides) if overridden else release.spec
    references: Sequence[str] = ()
    if isinstance(spec, Spec):
        references = spec.references
        spec = with_code(spec, [folder])
    check_spec(spec, "anonymize")
    sha256 = release.sha256
    if references:  # a change of the code can change the release, so the checksum includes it
        sha256 = digest_of([sha256, *map(digest, references)])
    return replace(release, spec=spec, sha256=sha256)


def _chosen(scheduled: Sequence[Scheduled], only: Sequence[str] | None) -> list[Scheduled]:
    names = [release.name for release in scheduled]
    for name in only or ():
        if name not in names:
            raise SpecError(f"there is no release {name!r} in the spec; there are {', '.join(names)}")
    return [release for release in scheduled if only is None or release.name in only]


def _check_targets(scheduled: Sequence[Scheduled]) -> None:
    """SpecError if two releases have the same target."""
    if len(scheduled) < 2:
        return
    names: dict[tuple[str, ...], str] = {}
    for release in scheduled:
        first = names.setdefault(_canonical_target(release.spec), release.name)
        if first != release.name:
            raise SpecError(
                f"the releases {first} and {release.name} have one target, {_target(release.spec).name}; "
                "choose different targets for them"
            )


def _canonical_target(spec: ReleaseSpec) -> tuple[str, ...]:
    """The target's file or table in canonical form, equal for two spellings of the same place."""
    target = _target(spec)
    if target.file:
        return (os.path.normcase(os.path.realpath(target.file)),)
    database = str(spec.database)
    if not os.path.isfile(database) and "://" not in database:
        return (database, str(target.table).casefold())
    with closing(open_engine(replace(spec.session, writes=(str(target.table),)))) as engine:
        return (database, *(part.casefold() for part in engine.place(str(target.table)).parts))


def _target(spec: ReleaseSpec) -> Target:
    assert spec.target  # every release of a pipeline has one: load_runs checks it
    return spec.target


# One release


def _run_one(scheduled: Scheduled, path: Path, dry_run: bool, observer: Observer, lineage: Lineage | None) -> Ran:
    """The outcome of one release, with its error if it was refused or failed."""
    why: list[str] = []
    events = lineage.of(scheduled.key) if lineage else None
    try:
        with nullcontext() if dry_run else alone(path, scheduled.key, scheduled.name, scheduled.audit is not None):
            outcome = _release_if_changed(scheduled, path, dry_run, observer, why, events)
    except _DryRun as tried:
        return tried.outcome
    except KanonError as error:
        status: Status = "refused" if isinstance(error, _REFUSED) else "failed"
        outcome = Ran(scheduled.name, _target(scheduled.spec).name, status, tuple(why), error=error)
        if events:
            events.end(error)
    except BaseException as error:
        if events:
            events.end(error)
        raise
    if events and outcome.release:
        events.complete(outcome.release.manifest, scheduled.spec, outcome.release.place.opened())
    return replace(outcome, lineage_error=events.problem) if events else outcome


def lineage_warning(outcome: Ran) -> str:
    """The warning that lineage events of a release were lost."""
    return (
        f"lineage events of {outcome.name} were not received ({outcome.lineage_error}), so its lineage is incomplete; "
        "the release itself is not affected"
    )


class _DryRun(Exception):  # noqa: N818
    """Ends a run that was only tried: everything that it staged is removed."""

    def __init__(self, outcome: Ran) -> None:
        super().__init__(outcome.name)
        self.outcome = outcome


def _release_if_changed(
    scheduled: Scheduled, path: Path, dry_run: bool, observer: Observer, why: list[str], events: Events | None
) -> Ran:
    """Look for changes since the last run, and release again if there are any; `why` receives the reasons."""
    name, target = scheduled.name, _target(scheduled.spec).name
    started = datetime.now(UTC)
    with ExitStack() as last, releasing(None, scheduled.spec) as (source, staging):
        observer.stage(f"Looking for changes of {name}")
        notes = Notes(notes_of(path, scheduled.key))
        memory: Memory = notes
        if trail := trail_of(scheduled, path, source.engine):
            memory = Audited(trail, scheduled.name, _trail_place(_target(scheduled.spec), source.engine))
        if not dry_run:
            publish.bring_back(source.engine, scheduled.spec.target)
        state = _state(scheduled, source, memory, notes)
        why += state.why
        if not state.why:
            return Ran(name, target, "unchanged", (f"nothing has changed since {state.at}",))
        if events:
            events.start(source, scheduled.spec)
        _check_repeatable(source, scheduled.spec, state.prints)
        spec = settled(scheduled, state.before, path, state.restores)
        folder = last.enter_context(PrivateFolder(Path(gettempdir())))
        history = History(scheduled, memory.copies, source.engine, staging, folder)
        to_release = without_new_columns(source, spec, state.before)
        earlier = history.to_compare(spec, state.before)
        restored = history.newest(state.before) if state.restores else None
        if isinstance(spec, CloakSpec):
            release = make_cloaked(to_release, spec, observer, staging)
        else:
            assert isinstance(spec, Spec)
            replaced = Replaced.of(spec, state.before)
            release = make_release(
                to_release, spec, observer, staging, earlier=earlier, restored=restored, replaced=replaced
            )
        manifest = _manifest(release, scheduled, state, source, staging, started)
        facts, deferred = manifest["run"], manifest.get("deferred")
        # The bytes of a file can differ although it has the rows of the release that it replaced.
        same_rows = facts["target"] == facts["replaced"] is not None
        same_rows = same_rows or (deferred is not None and not deferred["changed_rows"])
        if dry_run:
            raise _DryRun(Ran(name, target, "would release", state.why, release, same_rows=same_rows))
        manifest["run"]["history"] = history.with_new(spec, state.before, manifest, state.restores)
        last.enter_context(memory.add(manifest, staging))
    forget_regions(path, scheduled.key, [manifest, state.before])
    memory.copies.tidy([past["sha256"] for past in (*manifest["run"]["history"], *history_of(state.before))])
    return Ran(name, target, "released", state.why, release, same_rows=same_rows)


@dataclass(frozen=True)
class _State:
    """The state of a release before the run.

    `why`: the reasons to release again, none if nothing has changed. `before`: the manifest of the release in the
    target, or of the last one if the target was deleted or changed. `standing`: the checksum of the current target.
    `restores`: whether the last release must come out again unchanged.
    """

    prints: Fingerprints
    why: tuple[str, ...]
    before: dict[str, Any] | None
    standing: str | None
    restores: bool = False

    @property
    def at(self) -> str:
        """When the last release was created."""
        return str(self.before["run"]["at"]) if self.before else ""


def _state(scheduled: Scheduled, source: Source, memory: Memory, notes: Memory) -> _State:
    """Compare source, spec and target with the last run's manifest; `notes`: its place before there was a trail."""
    target = _target(scheduled.spec)
    prints = fingerprints(scheduled.spec, scheduled.sha256, source)
    manifests = memory.last() or notes.last()
    standing = of_target(target, source.engine)
    current = next((manifest for manifest in manifests if standing and manifest["run"]["target"] == standing), None)
    if current:
        return _State(prints, tuple(_changes(prints, current, source)), current, standing)
    if standing and not target.overwrite:
        raise _not_ours(target.name, manifests)
    if not manifests:
        why = "no run has released it before" if standing else "there is no release yet"
        return _State(prints, (why,), None, standing)
    return _lost(scheduled, prints, manifests[0], standing, _changes(prints, manifests[0], source))


def _changes(prints: Fingerprints, before: Mapping[str, Any], source: Source) -> list[str]:
    """The changes since the run of a manifest, in words.

    Another time zone changes the checksum of the same moments; whether they changed as well is unknown then.
    """
    changes = prints.changed_since(before["run"]["fingerprints"])
    old, new = before.get("time_zone"), source.time_zone
    if SOURCE_CHANGED not in changes or not old or not new or old == new:
        return changes  # without moments that count, the time zone does not matter
    return [*(change for change in changes if change != SOURCE_CHANGED), f"the time zone changed from {old} to {new}"]


def _check_repeatable(source: Source, spec: ReleaseSpec, prints: Fingerprints) -> None:
    """SourceError for a view that contains other rows when it is read again.

    Every run would take it for changed, and the release would differ from the rows that were counted for it.
    """
    if source.files or source.table.form != "view" or of_source(source, spec) == prints.source:
        return
    raise SourceError(
        f"the view {source.table.relation.name} contained other rows when it was read again, so that no run can tell "
        "whether it changed: functions such as random(), now(), mode(), any_value() or string_agg() without order do "
        "that, and so does LIMIT without an order; add an order, or make a table of the view"
    )


def _not_ours(target: str, manifests: Sequence[Mapping[str, Any]]) -> TargetError:
    """The error for a target that no run wrote, or that was changed since."""
    if manifests:
        fact = f"is not what the run of {manifests[0]['run']['at']} released"
    else:
        fact = "exists, and no run has released it"
    return TargetError(
        f"{target} {fact}, so it may have another owner; name another target, or set `overwrite: true` in `target`"
    )


def _lost(
    scheduled: Scheduled, prints: Fingerprints, before: dict[str, Any], standing: str | None, changed: Sequence[str]
) -> _State:
    """The state after the target was deleted or changed; `changed`: what else has changed since, in words.

    Without its file or table, the last release cannot be compared with a different one. It can only be recreated
    unchanged, which takes an unchanged source and spec.
    """
    target = _target(scheduled.spec).name
    fact = "is not what was released" if standing else "is gone"
    if changed and scheduled.spec.differencing_limit != "unlimited":
        raise DifferencingError(
            f"{target} {fact}, and {' and '.join(changed)} since, so a new release cannot be compared with that of "
            f"{before['run']['at']} to count the people whom both single out together; restore the old one, or set "
            '`differencing_limit="unlimited"`'
        )
    return _State(prints, (f"the target {fact}", *changed), before, standing, restores=not changed)


def _manifest(
    release: Release, scheduled: Scheduled, state: _State, source: Source, staging: Staging, started: datetime
) -> dict[str, Any]:
    """The manifest to remember: that of the release without its SQL, which contains labels, plus facts of the run."""
    target = _target(scheduled.spec)
    if target.form == "view":
        checksum = of_target(target, source.engine)
    elif target.file:
        checksum = of_files(target, staging.staged_files)
    else:
        checksum = of_tables(target, source.engine, staging.staged_tables)
    restored = state.before is None or checksum == state.before["run"]["target"]
    if state.restores and not restored and scheduled.spec.differencing_limit != "unlimited":
        raise DifferencingError(
            f"{target.name} is not what was released, and a new release would differ from it, so the two cannot be "
            "compared to count the people whom both single out together; restore the old one, or set "
            '`differencing_limit="unlimited"`'
        )
    manifest = {key: value for key, value in release.manifest.items() if key not in ("sql", "differencing")}
    run = {
        "release": scheduled.name,
        "place": _trail_place(target, source.engine),
        "at": started.isoformat(timespec="seconds"),
        "why": list(state.why),
        "fingerprints": state.prints.to_dict(),
        "target": checksum,
        "replaced": state.standing,
        "singled_out": release.manifest.get("differencing"),
    }
    return {**manifest, "run": run}


def _trail_place(target: Target, engine: Engine) -> str:
    """The name of a target in its audit trail; it does not depend on the working directory."""
    return Path(target.file).name if target.file else ".".join(engine.place(str(target.table)).parts)


def trail_of(scheduled: Scheduled, path: Path, engine: Engine) -> Trail | None:
    """The audit trail of a release, next to its target or to the spec at `path`; None if none is configured."""
    target, name = _target(scheduled.spec), scheduled.audit
    if name is None:
        return None
    if target.file:
        file = Path(target.file).parent / (name if name.endswith(".jsonl") else f"{name}.jsonl")
        return FileTrail(str(file), file)
    if engine.has_transactions:
        place = engine.place(name) if "." in name else engine.place(str(target.table)).sibling(name)
        return TableTrail(name, engine, place)
    if not name.endswith(".jsonl"):
        raise SpecError(
            f"{engine.name} has no transactions, so an audit table could lack a release, or list one that was never "
            f"published; keep the trail in a file next to the spec, with `audit: {name}.jsonl`"
        )
    return FileTrail(name, path.parent / name)
