"""The releases of pipelines: an audit trail, read and verified by its checksums."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from kanon_sql import spec as specs
from kanon_sql.engine import Engine
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.pipeline.trail import FIRST, Entry, FileTrail, TableTrail, problems
from kanon_sql.plan.source import opened_engine
from kanon_sql.relation import Relation
from kanon_sql.verbs.options import PlaceOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame

_COLUMNS = ("number", "made_at", "release", "spec", "node", "findings", "singled_out", "checksum")


@dataclass(frozen=True, repr=False)
class Releases(Result, json_form="releases"):
    """The rows of an audit trail; true if all rows are unchanged.

    `broken`: the numbers of the changed rows, with the problem. `head`: the checksum of the last row. A copy of it,
    kept elsewhere, shows whether rows were removed from the end.
    """

    name: str
    entries: tuple[Entry, ...]
    broken: tuple[tuple[int, str], ...]

    def __bool__(self) -> bool:
        return not self.broken

    @property
    def head(self) -> str:
        """The checksum of the last row."""
        return self.entries[-1].checksum if self.entries else FIRST

    def manifest(self, number: int) -> dict[str, Any]:
        """The manifest of a row; SpecError for a missing row, SourceError if it cannot be read."""
        entry = next((entry for entry in self.entries if entry.number == number), None)
        if entry is None:
            raise SpecError(f"{self.name} has no row {number}; it has {len(self.entries):,} rows")
        try:
            return entry.content
        except ValueError:
            raise SourceError(f"row {number} of {self.name} cannot be read; restore it from a copy") from None

    def to_dict(self) -> dict[str, Any]:
        """The rows without their manifests, and the broken ones."""
        return {
            "name": self.name,
            "rows": [{column: getattr(entry, column) for column in _COLUMNS} for entry in self.entries],
            "holds": not self.broken,
            "broken": [{"number": number, "problem": problem} for number, problem in self.broken],
            "head": self.head,
        }

    def to_df(self) -> DataFrame:
        """One row per release."""
        return frame(self.to_dict()["rows"], columns=list(_COLUMNS))

    def _lines(self) -> list[tuple[str, str]]:
        broken = [(f"row {number}", problem) for number, problem in self.broken]
        return [("trail", f"{self.name}, {len(self.entries):,} rows"), *broken, ("head", self.head)]


@spelled_out(PlaceOptions)
def releases(name: str | PathLike[str], *, connection: Any = None, **options: Unpack[PlaceOptions]) -> Releases:
    """Read an audit trail and verify its chain of checksums.

    `name`: a table of the `database`, or behind the `connection` (DuckDB or psycopg), or a `.jsonl` file. A table can
    be in any schema if only one has a table of this name. Nothing is written. Raises KanonError if there is no such
    trail.

    >>> releases("kanon_releases", database="hospital.duckdb")  # doctest: +SKIP
    trail  kanon_releases, 31 rows
    head   5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef
    """
    session = specs.session(**taken(PlaceOptions, options))
    if connection is None and not session.has_tables:
        entries = FileTrail(str(name), Path(name)).entries()
    else:
        with opened_engine(session, connection) as engine:
            entries = TableTrail(str(name), engine, _found(str(name), engine)).entries()
    if not entries:
        raise SourceError(f"there is no audit trail {name}; check its name, or name the `database` that it is in")
    return Releases(str(name), tuple(entries), tuple(problems(entries)))


def _found(name: str, engine: Engine) -> Relation:
    """The table that a name refers to: in the current schema, or else the only table of this name in another one.

    A trail is in the schema of its target. SourceError if there are several.
    """
    found = engine.find(name)
    if found:
        return found.relation
    elsewhere = [relation for relation in engine.relations() if relation.name == name]
    if len(elsewhere) > 1:
        names = " and ".join(sorted(".".join(relation.parts[-2:]) for relation in elsewhere))
        raise SourceError(f"{name} could be {names}; write the name with its schema")
    return elsewhere[0] if elsewhere else engine.place(name)
