"""What tells whether anything has changed since a release: checksums of its source, its hierarchies and its target."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.files import files
from kanon_sql.frequency.fitting import hierarchy_sources
from kanon_sql.plan.models import models_of
from kanon_sql.plan.population import opened_population
from kanon_sql.plan.source import Source
from kanon_sql.queries import Relation
from kanon_sql.recode import RECODERS
from kanon_sql.release.pieces import companion, companion_file
from kanon_sql.release.publish import sha256
from kanon_sql.spec import EVERY, ReleaseSpec, Spec, Target


@dataclass(frozen=True)
class Fingerprints:
    """Checksums of all that a release is made from: its spec, its source, and what generalizes each column."""

    spec: str
    source: str
    hierarchies: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """As a manifest has them."""
        return {"spec": self.spec, "source": self.source, "hierarchies": self.hierarchies}

    def changed_since(self, before: dict[str, Any]) -> list[str]:
        """What is not as it was, in words; `before` as a manifest has it."""
        changed = [f"the {what} changed" for what in ("spec", "source") if before[what] != getattr(self, what)]
        known = before["hierarchies"]
        columns = dict.fromkeys((*self.hierarchies, *known))
        others = [name for name in columns if self.hierarchies.get(name) != known.get(name)]
        return changed + [f"the hierarchy of {name} changed" for name in others]


def fingerprints(spec: ReleaseSpec, sha256_of_spec: str, source: Source) -> Fingerprints:
    """Read what a release would be made from: every byte of its files, or every row of its table."""
    read = dict(_of_hierarchies(spec, source)) if isinstance(spec, Spec) else {}
    return Fingerprints(sha256_of_spec, of_source(source, spec), read)


def of_source(source: Source, spec: ReleaseSpec) -> str:
    """The checksum of a source: of its files' bytes, or of the rows of its table by the columns that are used.

    A column that is dropped counts by its name and type alone: what is in it is nowhere in the release.
    """
    if source.files:
        return _digest([[path.name, sha256(path)] for path in sorted(source.files)])
    gone = {*spec.identifiers} - {*spec.hidden}
    used = [column.name for column in source.table.columns if column.name not in gone]
    if spec.keep != EVERY:
        used = [name for name in used if name in {*spec.named, *spec.kept_by_name}]
    return of_table(source.engine, source.table, used)


def of_table(engine: Engine, table: Table, columns: Sequence[str] | None = None) -> str:
    """The checksum of a table: the names and types of its columns in order, and its rows in any order."""
    names = [column.name for column in table.columns] if columns is None else list(columns)
    rows = _rows(engine, table, names) if names else []
    return _digest([[[column.name, column.type] for column in table.columns], names, rows])


def of_target(target: Target, engine: Engine) -> str | None:
    """The checksum of what is released in a place; None if it is not there, and a word where it stays a query."""
    if target.form == "view":
        return _LIVE if engine.existing(engine.place(str(target.table))) else None
    if target.file:
        written = [path for path in _files_of(target) if path.is_file()]
        complete = written and written[0] == Path(target.file)
        return _digest([[path.name, sha256(path)] for path in written]) if complete else None
    return of_tables(target, engine)


def of_tables(target: Target, engine: Engine, staged: Mapping[Relation, Relation] = MappingProxyType({})) -> str | None:
    """The same of tables, or of those that are on their way to their names: target: where it is now."""
    place = engine.place(str(target.table))
    place = staged.get(place, place)
    there = [engine.existing(companion(place, stem)) for stem in _stems(target)]
    return None if None in there else _digest([of_table(engine, table) for table in there if table])


def of_files(target: Target, staged: dict[Path, Path]) -> str:
    """The checksum that a target of files has when those that are on their way have their names: target: file."""
    return _digest([[path.name, sha256(staged[path.absolute()])] for path in _files_of(target)])


_LIVE = "a live view"


def _files_of(target: Target) -> Iterator[Path]:
    for stem in _stems(target):
        yield companion_file(Path(str(target.file)), stem)


def _stems(target: Target) -> tuple[str, ...]:
    """What a target consists of, by what its pieces' names have behind its own."""
    return ("", "sensitive") if target.form == "anatomy" else ("",)


def _rows(engine: Engine, table: Table, columns: Sequence[str]) -> list[Any]:
    text = queries.text("pipeline/fingerprint", engine.dialect, relation=table.relation, columns=columns)
    ((rows, digest),) = engine.rows(text)
    return [int(rows), digest]


def _of_hierarchies(spec: Spec, source: Source) -> Iterator[tuple[str, str]]:
    """The hierarchies, what else is read from files, and the population: each by what it is for."""
    fitted = hierarchy_sources(spec, source.table, source.engine, order_will_do=spec.strategy in RECODERS)
    yield from ((name, each.sha256) for name, each in fitted.items())
    distances = {name: each.hierarchy for name, each in spec.privacy.t_closeness.items() if each.hierarchy}
    named = {f"{name} in t_closeness": getattr(each, "file", None) for name, each in distances.items()}
    named |= {f"{name} in perturb": each.pram.matrix for name, each in spec.perturb.items() if each.pram}
    yield from ((what, sha256(Path(path))) for what, path in named.items() if path and Path(path).is_file())
    if spec.rules:
        yield "rules", _digest([[path.name, sha256(path)] for path in files(f"{spec.rules}/*") if path.is_file()])
    if spec.privacy.populated or spec.privacy.of_release:
        with opened_population(source.engine, spec, models_of(spec, source)) as population:
            if population is not None:
                yield "the population", of_table(population.engine, population.table)


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
