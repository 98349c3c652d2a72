"""A pipeline's step: make again what has changed, hold it against what it replaces, and remember what was done."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Literal

from kanon_sql.engine import Engine
from kanon_sql.engines.opening import open_engine
from kanon_sql.errors import DifferencingError, InfeasibleError, KanonError, SpecError, TargetError, VerificationError
from kanon_sql.own import digest
from kanon_sql.pipeline.continuing import as_known, forget_regions, settled
from kanon_sql.pipeline.copies import History, Past, history_of
from kanon_sql.pipeline.fingerprints import Fingerprints, fingerprints, of_files, of_tables, of_target
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
from kanon_sql.verbs.result import Result

if TYPE_CHECKING:
    import pandas

Status = Literal["released", "unchanged", "would release", "refused", "failed"]
_REFUSED = (DifferencingError, InfeasibleError, VerificationError)  # the data, and not what was asked for


@dataclass(frozen=True)
class Ran:
    """What a run did about one release, and why. `error`: why it did nothing, where that is not what was wanted."""

    name: str
    target: str
    status: Status
    why: tuple[str, ...] = ()
    release: Release | None = field(default=None, repr=False, compare=False)
    error: KanonError | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, with the manifest of a release that was made."""
        said = {"name": self.name, "target": self.target, "status": self.status, "why": list(self.why)}
        made = {"manifest": self.release.manifest} if self.release else {}
        return {**said, **made, **({"error": str(self.error)} if self.error else {})}


@dataclass(frozen=True, repr=False)
class Runs(Result):
    """What a run did about each release of a spec file; true if nothing was refused and nothing failed."""

    releases: tuple[Ran, ...]

    def __bool__(self) -> bool:
        return self.code == 0

    @property
    def code(self) -> int:
        """The exit code: 0 done or nothing to do, 1 a release was refused for what the data are, 2 another error."""
        return max({"failed": 2, "refused": 1}.get(each.status, 0) for each in self.releases)

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {"releases": [each.to_dict() for each in self.releases]}

    def to_df(self) -> pandas.DataFrame:
        """One row per release."""
        import pandas

        rows = [(each.name, each.target, each.status, "; ".join(each.why)) for each in self.releases]
        return pandas.DataFrame(rows, columns=["name", "target", "status", "why"])

    def _lines(self) -> list[tuple[str, str]]:
        return [(each.name, f"{each.status}: {'; '.join(each.why) or each.error or ''}") for each in self.releases]


def run(
    spec: str | os.PathLike[str],
    *,
    vars: Mapping[str, str] | None = None,
    only: str | Sequence[str] | None = None,
    dry_run: bool = False,
    differencing_limit: int | Literal["unlimited"] | None = None,
    check: bool = True,
    observer: Observer | None = None,
) -> Runs:
    """Make the releases of a spec file again where their source, spec, hierarchies or target have changed.

    `vars`: values of the spec's variables, which win over the environment. `only`: the names of the releases to make,
    all unless given. `dry_run`: only say what would be done. `differencing_limit`: wins over the spec's. `check`:
    raise the error of the first release that was refused or failed, once all were tried; else the result has it.
    KanonError if the file itself is wrong; then nothing was tried.

    >>> run("nightly.yml")  # doctest: +SKIP
    nightly  unchanged: nothing has changed since 2026-03-01T02:00:11+00:00
    """
    path = Path(spec)
    scheduled = [_limited(each, differencing_limit, path.parent) for each in load_runs(path, vars)]
    _check_targets(scheduled)
    chosen = _chosen(scheduled, [only] if isinstance(only, str) else only)
    done = Runs(tuple(_tried(each, path, dry_run, observer or Observer()) for each in chosen))
    error = next((each.error for each in done.releases if each.error), None)
    if check and error:
        raise error
    return done


def _limited(each: Scheduled, limit: int | Literal["unlimited"] | None, folder: Path) -> Scheduled:
    spec = each.spec if limit is None else merge(each.spec, differencing_limit=limit)
    references = spec.references if isinstance(spec, Spec) else ()
    spec = with_code(spec, [folder]) if isinstance(spec, Spec) else spec
    check_spec(spec, "anonymize")
    return replace(each, spec=spec, sha256=_with_code(each.sha256, references))


def _with_code(sha256: str, references: Sequence[str]) -> str:
    """The checksum of a spec and of the files of the code that it names, which makes other releases when it changes."""
    content = [sha256, *map(digest, references)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest() if references else sha256


def _chosen(scheduled: Sequence[Scheduled], only: Sequence[str] | None) -> list[Scheduled]:
    names = [each.name for each in scheduled]
    for name in only or ():
        if name not in names:
            raise SpecError(f"there is no release {name!r} in the spec; there are {', '.join(names)}")
    return [each for each in scheduled if only is None or each.name in only]


def _check_targets(scheduled: Sequence[Scheduled]) -> None:
    """SpecError if two releases go to one place."""
    taken: dict[tuple[str, ...], str] = {}
    for each in scheduled if len(scheduled) > 1 else ():
        place = _place(each.spec)
        other = taken.setdefault(place, each.name)
        if other != each.name:
            raise SpecError(
                f"the releases {other} and {each.name} have one target, {_target(each.spec)}; give each its own"
            )


def _place(spec: ReleaseSpec) -> tuple[str, ...]:
    """Where a release goes, in the same words whoever names it."""
    target = spec.target
    assert target
    if target.file:
        return (os.path.normcase(os.path.realpath(target.file)),)
    database = str(spec.database)
    if not os.path.isfile(database) and "://" not in database:
        return (database, str(target.table).casefold())
    with closing(open_engine(replace(spec.session, writes=(str(target.table),)))) as engine:
        return (database, *(part.casefold() for part in engine.place(str(target.table)).parts))


def _target(spec: ReleaseSpec) -> str:
    assert spec.target
    return spec.target.name


# One release


def _tried(each: Scheduled, path: Path, dry_run: bool, observer: Observer) -> Ran:
    target = _target(each.spec)
    try:
        with nullcontext() if dry_run else alone(path, each.key, each.name, each.audit is not None):
            return _one(each, path, dry_run, observer)
    except KanonError as error:
        status: Status = "refused" if isinstance(error, _REFUSED) else "failed"
        return Ran(each.name, target, status, error=error)


def _one(each: Scheduled, path: Path, dry_run: bool, observer: Observer) -> Ran:
    """Look what has changed since the last run, and release anew if anything has."""
    target = _target(each.spec)
    started = datetime.now(UTC)
    with ExitStack() as last, releasing(None, each.spec) as (source, staging):
        observer.stage(f"Looking for changes of {each.name}")
        memory = _memory(each, path, source.engine)
        if not dry_run:
            publish.bring_back(source.engine, each.spec.target)
        found = _look(each, source, memory, Notes(notes_of(path, each.key)))
        if not found.why:
            return Ran(each.name, target, "unchanged", (f"nothing has changed since {found.at}",))
        if dry_run:
            return Ran(each.name, target, "would release", found.why)
        spec = settled(each, found.before, path, found.restores)
        known = as_known(source, spec, found.before)
        folder = last.enter_context(PrivateFolder(Path(gettempdir())))
        history = History(each, memory.copies, source.engine, staging, folder)
        made = _made(known, spec, observer, staging, history.held_against(spec, found.before))
        manifest = _manifest(made, each, found, source, staging, started)
        manifest["run"]["history"] = history.with_this(spec, found.before, manifest["run"]["at"], found.restores)
        last.enter_context(memory.add(manifest, staging))
    forget_regions(path, each.key, [manifest, found.before])
    memory.copies.tidy([one["sha256"] for one in (*manifest["run"]["history"], *history_of(found.before))])
    return Ran(each.name, target, "released", found.why, made)


def _made(source: Source, spec: ReleaseSpec, observer: Observer, staging: Staging, earlier: Sequence[Past]) -> Release:
    if isinstance(spec, CloakSpec):
        return make_cloaked(source, spec, observer, staging)
    assert isinstance(spec, Spec)
    return make_release(source, spec, observer, staging, earlier=earlier)


@dataclass(frozen=True)
class _Found:
    """What a run finds before it does anything.

    `why`: what is to be released for; nothing if all is as it was. `before`: the manifest of the release that stands
    there, or stood. `standing`: the checksum of what stands there. `restores`: whether the same is to be made again.
    """

    prints: Fingerprints
    why: tuple[str, ...]
    before: dict[str, Any] | None
    standing: str | None
    restores: bool = False

    @property
    def at(self) -> str:
        """When the release that stands there was made."""
        return str(self.before["run"]["at"]) if self.before else ""


def _look(each: Scheduled, source: Source, memory: Memory, notes: Memory) -> _Found:
    """Hold what there is against what the last run remembered; `notes`: where it did before a trail was asked for."""
    target = each.spec.target
    assert target
    prints, known = fingerprints(each.spec, each.sha256, source), memory.last() or notes.last()
    standing = of_target(target, source.engine)
    ours = next((one for one in known if standing and one["run"]["target"] == standing), None)
    if ours:
        return _Found(prints, tuple(prints.changed_since(ours["run"]["fingerprints"])), ours, standing)
    if standing and not target.overwrite:
        raise _not_ours(_target(each.spec), known)
    if not known:
        why = "no run has released it before" if standing else "there is no release yet"
        return _Found(prints, (why,), None, standing)
    return _lost(each, prints, known[0], standing)


def _not_ours(target: str, known: Sequence[Mapping[str, Any]]) -> TargetError:
    """Why what stands there is not replaced."""
    said = f"is not what the run of {known[0]['run']['at']} released" if known else "exists, and no run has released it"
    return TargetError(
        f"{target} {said}, so it may be somebody's; name another target, or let the spec say `overwrite: true` under it"
    )


def _lost(each: Scheduled, prints: Fingerprints, before: dict[str, Any], standing: str | None) -> _Found:
    """What was released is not there any more: the same can be made again, another cannot be held against it."""
    target, changed = _target(each.spec), prints.changed_since(before["run"]["fingerprints"])
    what = "is not what was released" if standing else "is gone"
    if changed and each.spec.differencing_limit != "unlimited":
        raise DifferencingError(
            f"{target} {what}, and {' and '.join(changed)} since, so that nobody can say whom a new release and the "
            f"one of {before['run']['at']} single out together; restore that one, or give "
            '`differencing_limit="unlimited"`'
        )
    return _Found(prints, (f"the target {what}", *changed), before, standing, restores=not changed)


def _manifest(
    made: Release, each: Scheduled, found: _Found, source: Source, staging: Staging, started: datetime
) -> dict[str, Any]:
    """What is remembered of a release: its manifest without the statements, which hold labels, and the run."""
    target = each.spec.target
    assert target
    there = _checksum(target, source.engine, staging)
    restored = found.before is None or there == found.before["run"]["target"]
    if found.restores and not restored and each.spec.differencing_limit != "unlimited":
        raise DifferencingError(
            f"{_target(each.spec)} is not there as it was released, and what would be released now is not the same, "
            "so that nobody can say whom the two single out together; restore the old one, or give "
            '`differencing_limit="unlimited"`'
        )
    kept = {key: value for key, value in made.manifest.items() if key not in ("sql", "differencing")}
    run = {
        "release": each.name,
        "place": _place_in(each, source.engine),
        "at": started.isoformat(timespec="seconds"),
        "why": list(found.why),
        "fingerprints": found.prints.to_dict(),
        "target": there,
        "replaced": found.standing,
        "singled_out": made.manifest.get("differencing"),
    }
    return {**kept, "run": run}


def _checksum(target: Target, engine: Engine, staging: Staging) -> str | None:
    """The checksum that the target has from now on."""
    if target.form == "view":
        return of_target(target, engine)
    if target.file:
        return of_files(target, staging.on_their_way)
    return of_tables(target, engine, staging.tables_on_their_way)


def _memory(each: Scheduled, path: Path, engine: Engine) -> Memory:
    """Where this release is remembered."""
    trail = trail_of(each, path, engine)
    return Audited(trail, each.name, _place_in(each, engine)) if trail else Notes(notes_of(path, each.key))


def _place_in(each: Scheduled, engine: Engine) -> str:
    """A target beside its trail, wherever the run is."""
    target = each.spec.target
    assert target
    return Path(target.file).name if target.file else ".".join(engine.place(str(target.table)).parts)


def trail_of(each: Scheduled, path: Path, engine: Engine) -> Trail | None:
    """The audit trail of a release, beside its target, or the spec of `path`; None where none is asked for."""
    target, name = each.spec.target, each.audit
    assert target
    if name is None:
        return None
    if target.file:
        file = Path(target.file).parent / (name if name.endswith(".jsonl") else f"{name}.jsonl")
        return FileTrail(str(file), file)
    if not engine.has_transactions:
        return _beside_spec(name, path, engine)
    place = engine.place(name) if "." in name else engine.place(str(target.table)).sibling(name)
    return TableTrail(name, engine, place)


def _beside_spec(name: str, path: Path, engine: Engine) -> Trail:
    """A trail in a file, where a row of a table would not be there together with its release."""
    if not name.endswith(".jsonl"):
        raise SpecError(
            f"{engine.name} has no transactions, so that an audit table could lack a release, or have one that never "
            f"was; keep the trail in a file beside the spec, with `audit: {name}.jsonl`"
        )
    return FileTrail(name, path.parent / name)
