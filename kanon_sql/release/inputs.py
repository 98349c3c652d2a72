"""What a release reads: its files and tables, none of which it may replace, whatever is allowed to be overwritten."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.files import files
from kanon_sql.errors import TargetError
from kanon_sql.spec import Spec


def refuse_files(written: Iterable[str | PathLike[str] | None], read: Iterable[Path]) -> None:
    """Refuse to write a file that the run reads."""
    known = [path for path in read if os.path.exists(path)]
    for path in (Path(each) for each in written if each):
        if os.path.exists(path) and any(os.path.samefile(path, each) for each in known):
            raise TargetError(f"{path} is read by this run, as its spec says; name another file to write")


def refuse_table(engine: Engine, spec: Spec, existing: Table) -> None:
    """Refuse a target that is a hierarchy or a population of the spec."""
    tables = [getattr(each, "table", None) for each in _recipes(spec)]
    named: dict[str, list[str | None]] = {"hierarchy": tables, "population": list(_populations(spec))}
    for what, names in named.items():
        found = (engine.find(name) for name in names if name)
        if any(each.relation == existing.relation for each in found if each):
            raise TargetError(f"the target {existing.relation.name} is a {what} of the spec; name another table")


def files_read(spec: Spec) -> Iterator[Path]:
    """The files that a spec names, but for its source."""
    named: list[str | None] = [getattr(each, "file", getattr(each, "taxonomy", None)) for each in _recipes(spec)]
    named += [each.pram.matrix for each in spec.perturb.values() if each.pram]
    named += [spec.secret, spec.regions, *_populations(spec)]
    if spec.hierarchies:
        named += [f"{spec.hierarchies}/{column}.csv" for column in (*spec.quasi_identifiers, *spec.privacy.t_closeness)]
    named += [f"{spec.rules}/*.txt"] if spec.rules else []
    for name in named:
        yield from files(str(name)) if name else ()


def _recipes(spec: Spec) -> Iterator[object]:
    """What generalizes the columns, and what orders them by a hierarchy."""
    yield from (each.hierarchy for each in spec.quasi_identifiers.values())
    yield from (each.hierarchy for each in spec.privacy.t_closeness.values())


def _populations(spec: Spec) -> Iterator[str]:
    """The tables and files of populations that are named and not handed over."""
    models = (*spec.privacy.populated, *spec.privacy.of_release, *spec.models)
    given = [getattr(each, "population", None) for each in models]
    yield from (str(each) for each in given if isinstance(each, (str, PathLike)))
