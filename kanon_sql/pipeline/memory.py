"""What a run knows of the one before: the manifest of what it released, in a file beside the spec or in an audit trail.

The manifest before that is kept too: a run that is killed while it puts a table in place may be remembered although
its release never appeared, and then the one before is what stands there.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kanon_sql.errors import SourceError, TargetError
from kanon_sql.pipeline.copies import Copies, FileCopies
from kanon_sql.pipeline.trail import Trail, canonical, problems
from kanon_sql.release.pieces import FOLDER
from kanon_sql.staging import Staging, locked, make_private


class Memory(Protocol):
    """Where the manifests of past runs are, and the copies of their releases."""

    @property
    def copies(self) -> Copies:
        """Where the releases before are kept."""

    def last(self) -> list[dict[str, Any]]:
        """The manifests of the last two releases, the newer one first; fewer if there were fewer."""

    def add(self, manifest: Mapping[str, Any], staging: Staging) -> contextlib.AbstractContextManager[None]:
        """Remember a release from the moment on when it is visible; the block lasts until then."""


@dataclass(frozen=True)
class Notes:
    """Manifests in a file of mode 0600, and copies beside it."""

    path: Path

    @property
    def copies(self) -> Copies:
        """Files beside that of the manifests."""
        return FileCopies(self.path.parent, self.path.stem)

    def last(self) -> list[dict[str, Any]]:
        """What the file has; SourceError if it cannot be read."""
        try:
            known: list[dict[str, Any]] = json.loads(self.path.read_bytes())["releases"]
            return [each for each in known if each["run"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SourceError(
                f"{self.path}, where the last run noted what it released, cannot be read ({error}); restore it, or "
                "remove it and give `overwrite=True` to release anew"
            ) from None

    @contextlib.contextmanager
    def add(self, manifest: Mapping[str, Any], staging: Staging) -> Iterator[None]:
        """Write the file anew, with the manifest before."""
        with staging.file(self.path, overwrite=True, private=True) as file:
            file.write_text(canonical({"releases": [manifest, *self.last()[:1]]}), encoding="utf-8")
        yield


@dataclass(frozen=True)
class Audited:
    """Manifests in an audit trail, which is shared by several releases, each with a name and a place."""

    trail: Trail
    release: str
    place: str

    @property
    def copies(self) -> Copies:
        """A table, or files, beside the trail."""
        return self.trail.copies(f"{self.release}.{self.place}")

    def last(self) -> list[dict[str, Any]]:
        """The last rows of this release; SourceError if any row of the trail is not as it was written."""
        entries = self.trail.entries()
        if broken := problems(entries):
            number, problem = broken[0]
            raise SourceError(
                f"row {number} of the audit trail {self.trail.name} is broken ({problem}), and nothing is built on it; "
                "restore the trail, or begin another with `audit: NAME`"
            )
        said = [entry.said for entry in entries if entry.release == self.release]
        return [manifest for manifest in said if manifest["run"]["place"] == self.place][:-3:-1]

    @contextlib.contextmanager
    def add(self, manifest: Mapping[str, Any], staging: Staging) -> Iterator[None]:
        """Add a row."""
        with self.trail.append(manifest, staging):
            yield


def notes_of(spec: Path, key: str) -> Path:
    """The file in which a run of a spec notes what it released.

    >>> notes_of(Path("nightly.yml"), "nightly").as_posix()
    '.kanon/nightly.json'
    """
    return spec.parent / FOLDER / f"{key}.json"


@contextlib.contextmanager
def alone(spec: Path, key: str, name: str, audited: bool = False) -> Iterator[None]:
    """A block that one run of a release is in at a time; TargetError if another one is.

    `audited`: whether the trail lets only one of two add its row, so that there need be no folder beside the spec.
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
            f"a run notes what it released in {lock.parent}, which cannot be written ({error.strerror}); give it the "
            "right to, or move the spec"
        ) from None
    with locked(lock, 0, f"another run is releasing {name} now; wait until it has ended"):
        yield
