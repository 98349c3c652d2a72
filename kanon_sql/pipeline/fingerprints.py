"""Checksums of a release's source, hierarchies and target, to detect changes since the last run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.files import files
from kanon_sql.frequency.fitting import digest_of, hierarchy_sources
from kanon_sql.plan.population import opened_population
from kanon_sql.plan.privacy_models import models_of, uses_hierarchy, value_hierarchy
from kanon_sql.plan.source import Source
from kanon_sql.queries import Relation
from kanon_sql.recode import RECODERS
from kanon_sql.release.pieces import companion, companion_file
from kanon_sql.release.publish import sha256
from kanon_sql.spec import EVERY, ReleaseSpec, Spec, Target

SOURCE_CHANGED = "the source changed"
_LIVE = "a live view"


@dataclass(frozen=True)
class Fingerprints:
    """Checksums of the input of a release: its spec, its source, and the hierarchies and other files by purpose."""

    spec: str
    source: str
    hierarchies: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """As a manifest has them."""
        return {"spec": self.spec, "source": self.source, "hierarchies": self.hierarchies}

    def changed_since(self, before: dict[str, Any]) -> list[str]:
        """The changes in words; `before`: the fingerprints in an earlier manifest."""
        changes = ["the spec changed"] if before["spec"] != self.spec else []
        changes += [SOURCE_CHANGED] if before["source"] != self.source else []
        earlier = before["hierarchies"]
        for name in dict.fromkeys((*self.hierarchies, *earlier)):
            if self.hierarchies.get(name) != earlier.get(name):
                changes.append(f"the hierarchy of {name} changed")
        return changes


def fingerprints(spec: ReleaseSpec, sha256_of_spec: str, source: Source) -> Fingerprints:
    """Compute the fingerprints of a release, from all bytes of its files or all rows of its table."""
    hierarchies = _of_hierarchies(spec, source) if isinstance(spec, Spec) else {}
    return Fingerprints(sha256_of_spec, of_source(source, spec), hierarchies)


def of_source(source: Source, spec: ReleaseSpec) -> str:
    """The checksum of a source: of the bytes of its files, or of the rows of its table in the columns that are used.

    Of a dropped column only name and type count, because its values do not affect the release.
    """
    if source.files:
        return digest_of([[path.name, sha256(path)] for path in sorted(source.files)])
    dropped = {*spec.identifiers} - {*spec.hidden}
    used = [column.name for column in source.table.columns if column.name not in dropped]
    if spec.keep != EVERY:
        used = [name for name in used if name in {*spec.named, *spec.kept_by_name}]
    return of_table(source.engine, source.table, used)


def of_table(engine: Engine, table: Table, columns: Sequence[str] | None = None) -> str:
    """The checksum of a table: of the names and types of its columns in order, and of its rows in any order."""
    names = [column.name for column in table.columns] if columns is None else list(columns)
    counted = []
    if names:
        text = queries.text("pipeline/fingerprint", engine.dialect, relation=table.relation, columns=names)
        ((rows, digest),) = engine.rows(text)
        counted = [int(rows), digest]
    return digest_of([[[column.name, column.type] for column in table.columns], names, counted])


def of_target(target: Target, engine: Engine) -> str | None:
    """The checksum of a published target: None if it does not exist, a constant for a view."""
    if target.form == "view":
        return _LIVE if engine.existing(engine.place(str(target.table))) else None
    if target.file:
        written = [path for path in _files_of(target) if path.is_file()]
        complete = written and written[0] == Path(target.file)
        return digest_of([[path.name, sha256(path)] for path in written]) if complete else None
    return of_tables(target, engine)


def of_tables(target: Target, engine: Engine, staged: Mapping[Relation, Relation] = MappingProxyType({})) -> str | None:
    """The same for tables; `staged`: for tables that are not in place yet, their current names by target."""
    place = engine.place(str(target.table))
    place = staged.get(place, place)
    digests = []
    for stem in _stems(target):
        table = engine.existing(companion(place, stem))
        if table is None:
            return None
        digests.append(of_table(engine, table))
    return digest_of(digests)


def of_files(target: Target, staged: dict[Path, Path]) -> str:
    """The checksum that a target of files will have; `staged`: the current files by target."""
    return digest_of([[path.name, sha256(staged[path.absolute()])] for path in _files_of(target)])


def _files_of(target: Target) -> Iterator[Path]:
    for stem in _stems(target):
        yield companion_file(Path(str(target.file)), stem)


def _stems(target: Target) -> tuple[str, ...]:
    """The suffixes of a target's parts."""
    return ("", "sensitive") if target.form == "anatomy" else ("",)


def _of_hierarchies(spec: Spec, source: Source) -> dict[str, str]:
    """The checksums of hierarchies, other files of the spec, and the population, by purpose."""
    digests: dict[str, str] = {}
    hierarchies = hierarchy_sources(spec, source.table, source.engine, allow_ordered=spec.strategy in RECODERS)
    for name, hierarchy in hierarchies.items():
        digests[name] = hierarchy.sha256
    for name, closeness in spec.privacy.t_closeness.items():
        if uses_hierarchy(closeness):
            digests[f"{name} in t_closeness"] = value_hierarchy(spec, source, name, closeness).sha256
    named: dict[str, Any] = {}
    for name, perturbation in spec.perturb.items():
        named[f"{name} in perturb"] = perturbation.pram.matrix if perturbation.pram else None
    for purpose, path in named.items():
        if path and Path(path).is_file():
            digests[purpose] = sha256(Path(path))
    if spec.rules:
        rules = [[path.name, sha256(path)] for path in files(f"{spec.rules}/*") if path.is_file()]
        digests["rules"] = digest_of(rules)
    if spec.privacy.populated or spec.privacy.of_release:
        with opened_population(source.engine, spec, models_of(spec, source)) as population:
            if population is not None:
                digests["the population"] = of_table(population.engine, population.table)
    return digests
