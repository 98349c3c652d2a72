"""The memory of a pipeline: the manifests of the last two releases, in a file next to the spec or in an audit trail.

Two, because a run that is killed while it places a table may be recorded although its release never became visible;
the target then has the release before it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from kanon_sql.errors import SourceError, TargetError
from kanon_sql.pipeline.copies import Copies, FileCopies
from kanon_sql.pipeline.trail import Trail, canonical, problems
from kanon_sql.release.pieces import FOLDER
from kanon_sql.staging import Staging, locked, make_private


@dataclass(frozen=True)
class Notes:
    """Manifests in a file of mode 0600, with copies next to it."""

    path: Path

    @property
    def copies(self) -> Copies:
        """Files next to the manifests."""
        return FileCopies(self.path.parent, self.path.stem)

    def last(self) -> list[dict[str, Any]]:
        """The manifests of the last two releases, the newer one first; SourceError if the file cannot be read."""
        try:
            manifests: list[dict[str, Any]] = json.loads(self.path.read_bytes())["releases"]
            return [manifest for manifest in manifests if manifest["run"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SourceError(
                f"{self.path}, where the last run noted what it released, cannot be read ({error}); restore it, or "
                "remove it and use `overwrite=True` to start again"
            ) from None

    @contextlib.contextmanager
    def add(self, manifest: Mapping[str, Any], staging: Staging) -> Iterator[None]:
        """Rewrite the file with this manifest and the previous one, when the release becomes visible."""
        with staging.file(self.path, overwrite=True, private=True) as file:
            file.write_text(canonical({"releases": [manifest, *self.last()[:1]]}), encoding="utf-8")
        yield


@dataclass(frozen=True)
class Audited:
    """Manifests in an audit trail that several releases share; name and place identify the release."""

    trail: Trail
    release: str
    place: str

    @property
    def copies(self) -> Copies:
        """A table or files next to the trail."""
        return self.trail.copies(f"{self.release}.{self.place}")

    def last(self) -> list[dict[str, Any]]:
        """The last two manifests of this release; SourceError if any row of the trail was changed."""
        entries = self.trail.entries()
        if broken := problems(entries):
            number, problem = broken[0]
            raise SourceError(
                f"row {number} of the audit trail {self.trail.name} is broken ({problem}), and nothing is built on it; "
                "restore the trail, or begin another with `audit: NAME`"
            )
        manifests = [entry.content for entry in entries if entry.release == self.release]
        return [manifest for manifest in manifests if manifest["run"]["place"] == self.place][:-3:-1]

    @contextlib.contextmanager
    def add(self, manifest: Mapping[str, Any], staging: Staging) -> Iterator[None]:
        """Add a row."""
        with self.trail.append(manifest, staging):
            yield


Memory: TypeAlias = Notes | Audited
"""The manifests of past runs, and the copies of their releases."""


def notes_of(spec: Path, key: str) -> Path:
    """The file in which a run of a spec records what it released.

    >>> notes_of(Path("nightly.yml"), "nightly").as_posix()
    '.kanon/nightly.json'
    """
    return spec.parent / FOLDER / f"{key}.json"


@contextlib.contextmanager
def alone(spec: Path, key: str, name: str, audited: bool = False) -> Iterator[None]:
    """Lock a release for the duration of a run; TargetError if another run has locked it.

    `audited`: whether the trail refuses one of two concurrent runs, so that the lock is not essential.
    """
    lock = notes_of(spec, key).with_suffix(".lock")
    try:
        make_private(lock.parent)
        lock.touch(mode=0o600)
    except OSError as error:
        if audited:
            yield
            return
        raise TargetError(
            f"a run records its releases in {lock.parent}, which cannot be written ({error.strerror}); allow writing "
            "there, or move the spec"
        ) from None
    with locked(lock, 0, f"another run is releasing {name} now; wait until it has ended"):
        yield
