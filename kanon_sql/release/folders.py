"""A release as a folder of Parquet files that a cluster writes, and that cannot be renamed or deleted.

It is staged and verified as a table, and then written to the folder once. So a folder is never replaced.
"""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import sha256

from kanon_sql import queries
from kanon_sql.engine import Engine, folder_named, writes_folders
from kanon_sql.errors import KanonError, SpecError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.release import tables
from kanon_sql.spec import Target, speakable

_GLOB = re.compile(r"[*?\[\]{}\\]")


def named(engine: Engine, target: Target) -> Relation | None:
    """The folder that a target names, on an engine that writes folders."""
    return folder_named(target.table) if target.table and writes_folders(engine) else None


def check(engine: Engine, target: Target) -> None:
    """Refuse a folder that exists or is not a plain path, and a release with more than rows."""
    folder = engine.place(str(target.table))
    if speakable(folder.name) != folder.name:
        raise SpecError(
            "the path of the folder may have a password or token in it, which the manifest would repeat; configure it "
            "on the cluster instead, and leave it out"
        )
    if _GLOB.search(folder.name):
        raise SpecError(f"the folder {folder.name} would be read as a pattern; name one without * ? [ ] {{ }} or \\")
    if target.form != "table":
        raise SpecError(f"a folder of Parquet files has rows, and is not a {target.form}; leave out `form`")
    if engine.existing(folder):
        raise TargetError(
            f"the folder {folder.name} exists already, and {engine.name} cannot replace a folder without an "
            "interruption; name another, and delete this one afterwards"
        )


def staging_target(folder: Relation) -> Target:
    """A target in the current schema, next to which the release of a folder is staged; it is never created itself."""
    return Target(table=f"kanon_folder_{sha256(folder.name.encode()).hexdigest()[:8]}")


def put_in_place(placement: tables.Placement, folder: Relation) -> None:
    """Let the cluster write the verified rows to the folder; TargetError if it then has other rows."""
    engine = placement.engine
    assert writes_folders(engine)
    engine.write_folder(queries.select_all(placement.place, engine.dialect), folder)
    written, staged = (engine.fingerprint(engine.table(place)) for place in (folder, placement.place))
    if written != staged:
        raise TargetError(
            f"the cluster did not write the verified rows to {folder.name}; delete that folder, and release again"
        )
    with suppress(KanonError):  # the release is complete
        tables.discard(placement)
        tables.drop_leftovers(placement)
