"""The inputs of a release: files and tables that it must not replace, even with `overwrite`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.files import files
from kanon_sql.errors import TargetError
from kanon_sql.spec import ReleaseSpec, Spec


def refuse_files(written: Iterable[str | PathLike[str] | None], read: Iterable[Path]) -> None:
    """Refuse to write a file that the run reads."""
    inputs = [path for path in read if os.path.exists(path)]
    for path in (Path(file) for file in written if file):
        if os.path.exists(path) and any(os.path.samefile(path, other) for other in inputs):
            raise TargetError(f"{path} is read by this run, according to its spec; name another file to write")


def refuse_table(engine: Engine, spec: ReleaseSpec, existing: Table) -> None:
    """Refuse a target that is a hierarchy or a population of the spec."""
    if not isinstance(spec, Spec):
        return
    tables = [getattr(recipe, "table", None) for recipe in _recipes(spec)]
    named: dict[str, list[str | None]] = {"hierarchy": tables, "population": list(_populations(spec))}
    for what, names in named.items():
        found = (engine.find(name) for name in names if name)
        if any(table.relation == existing.relation for table in found if table):
            raise TargetError(f"the target {existing.relation.name} is a {what} of the spec; name another table")


def files_read(spec: ReleaseSpec) -> Iterator[Path]:
    """The files that a spec names, except its source."""
    if not isinstance(spec, Spec):
        return
    named: list[str | None] = [getattr(recipe, "file", getattr(recipe, "taxonomy", None)) for recipe in _recipes(spec)]
    named += [perturbation.pram.matrix for perturbation in spec.perturb.values() if perturbation.pram]
    named += [spec.secret, spec.regions, *_populations(spec)]
    if spec.hierarchies:
        named += [f"{spec.hierarchies}/{column}.csv" for column in (*spec.quasi_identifiers, *spec.privacy.t_closeness)]
    named += [f"{spec.rules}/*.txt"] if spec.rules else []
    for name in named:
        yield from files(str(name)) if name else ()


def _recipes(spec: Spec) -> Iterator[object]:
    """The recipes that generalize columns, or order them by a hierarchy."""
    yield from (quasi_identifier.hierarchy for quasi_identifier in spec.quasi_identifiers.values())
    yield from (measure.hierarchy for measure in spec.privacy.t_closeness.values())


def _populations(spec: Spec) -> Iterator[str]:
    """The names of populations in tables and files, not in memory."""
    models = (*spec.privacy.populated, *spec.privacy.of_release, *spec.models)
    populations = [getattr(model, "population", None) for model in models]
    yield from (str(population) for population in populations if isinstance(population, (str, PathLike)))
