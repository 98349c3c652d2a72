"""A release as a folder of Parquet files that a cluster writes, where nothing can be renamed and nothing deleted.

It is staged and verified as a table, and then written to the folder, once. So a folder is never replaced.
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
    """Refuse a folder that exists, that is no plain path, or that is to be more than rows."""
    folder = engine.place(str(target.table))
    if speakable(folder.name) != folder.name:
        raise SpecError(
            "the path of the folder may have a password or token in it, which the manifest would repeat; tell the "
            "cluster of it in its own settings, and leave it out"
        )
    if _GLOB.search(folder.name):
        raise SpecError(f"the folder {folder.name} would be read as a pattern; name one without * ? [ ] {{ }} or \\")
    if target.form != "table":
        raise SpecError(f"a folder of Parquet files holds rows, and is no {target.form}; leave out `form`")
    if engine.existing(folder):
        raise TargetError(
            f"the folder {folder.name} exists already, and {engine.name} cannot replace a folder without a time at "
            "which it is gone; name another, and delete this one afterwards"
        )


def staging_target(folder: Relation) -> Target:
    """The table of the current schema beside which the release of a folder is staged; it is never made itself."""
    return Target(table=f"kanon_folder_{sha256(folder.name.encode()).hexdigest()[:8]}")


def put_in_place(placement: tables.Placement, folder: Relation) -> None:
    """Have the cluster write what was staged and verified to its folder; TargetError if other rows are there then."""
    engine = placement.engine
    assert writes_folders(engine)
    engine.write_folder(queries.select_all(placement.place, engine.dialect), folder)
    written, staged = (engine.fingerprint(engine.table(place)) for place in (folder, placement.place))
    if written != staged:
        raise TargetError(
            f"the cluster did not write to {folder.name} what was verified; delete that folder, and release again"
        )
    with suppress(KanonError):  # the release is there
        tables.discard(placement)
        tables.drop_leftovers(placement)
