"""Attack a release, with the background knowledge that an attacker may have."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from kanon_sql.attack import ATTACKS, Attack, Copy, Material, Outcome
from kanon_sql.attack.control import check_control
from kanon_sql.attack.material import NEEDS
from kanon_sql.cloak.points import box_columns
from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.measure.copied import OTHER, copied, encoded
from kanon_sql.measure.fetched import in_same_engine
from kanon_sql.measure.tables import known_hierarchy, opened_for_comparison, shown_columns
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.privacy_models import models_of
from kanon_sql.plan.source import IN_MEMORY, Source, name_of, settle_either, spec_of_release
from kanon_sql.recode.show import STATISTICS, how_of
from kanon_sql.spec import CloakSpec, ReleaseSpec, Spec
from kanon_sql.verbs.options import AttackOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame


@dataclass(frozen=True, repr=False)
class Attacks(Result, json_form="attack"):
    """The results of attacks on a release: counts and shares, never a person's value.

    `skipped`: the attacks that could not be tried, with the data they need. `notes`: limits of the results.
    """

    release: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> float:
        """The largest share of right guesses above chance."""
        return max((outcome.excess for outcome in self.outcomes), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """All results as a mapping for JSON."""
        return {
            "release": self.release,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "attacks": [outcome.to_dict() for outcome in self.outcomes],
            "skipped": [{"name": name, "needs": needs} for name, needs in self.skipped],
            "notes": list(self.notes),
        }

    def to_df(self) -> DataFrame:
        """One row per attack and column."""
        counts = ("affected", "counted", "attempts", "successes")
        names = ("name", "column", *counts, "share", "baseline", "control", "excess")
        rows = [[outcome.to_dict()[name] for name in names] for outcome in self.outcomes]
        return frame(rows, columns=names)

    def _lines(self) -> list[tuple[str, str]]:
        return [
            ("release", f"{self.release}, by {', '.join(self.quasi_identifiers)}"),
            *((outcome.name, outcome.sentence) for outcome in self.outcomes),
            *(("skipped", f"{name}: needs {needs}") for name, needs in self.skipped),
            *(("note", note) for note in self.notes),
        ]


@spelled_out(AttackOptions)
def attack(
    release: Any = None,
    *others: Any,
    source: Any = None,
    auxiliary: Any = None,
    control: Any = None,
    priors: Any = None,
    previous: Any = None,
    spec: ReleaseSpec | dict[str, Any] | str | Path | None = None,
    only: str | Sequence[str] | None = None,
    attempts: int = 2000,
    connection: Any = None,
    observer: Observer | None = None,
    **options: Unpack[AttackOptions],
) -> Attacks:
    """Attack a release as a recipient could, and count the people for whom an attack succeeds.

    `release`, `others`: releases of the same table, as files, tables, DataFrames, Arrow tables or `Release`, which has
    its spec (default: the spec's target). `source`: the original table, to check the guesses (default: the spec's
    source). `auxiliary`: a table of people that an attacker may have. `control`: people who are not in the release but
    come from the same population, attacked for comparison. `priors`: the `share` of sensitive values among similar
    people, by other columns. `previous`: an earlier release of the same table. Without `sensitive`, every released
    column that is not a quasi-identifier is attacked. `only`: the names of the attacks to try, or of their outcomes.
    `attempts`: maximum number of people to attack, if an attack samples them. Nothing is written; raises KanonError.

    >>> import pandas
    >>> release = pandas.DataFrame({"zip": ["1*", "1*", "2*", "2*"], "ill": list("xxyz")})
    >>> attacks = attack(release, quasi_identifiers=["zip"], sensitive=["ill"], only=["homogeneity"])
    >>> [(outcome.name, outcome.affected) for outcome in attacks.outcomes]
    [('homogeneity', 2)]
    """
    observer = observer or Observer()
    chosen = _chosen([only] if isinstance(only, str) else only)
    if attempts < 1:
        raise SpecError(f"attempts is {attempts}; set the number of people to attack, 1 or more")
    if spec is None and "quasi_identifiers" not in options:
        spec = spec_of_release(release)
    if spec is None:  # an attacker need not have the source
        settled = settle_either(IN_MEMORY if source is None else source, None, taken(AttackOptions, options))
    else:
        spec = {"source": IN_MEMORY, **spec} if isinstance(spec, dict) else spec
        settled = settle_either(source, spec, taken(AttackOptions, options))
    if release is None:
        if settled.target is None:
            raise SpecError("there is no release to attack; name one, or a spec with a target")
        release = settled.target.name
    data = {
        "release": release,
        **{f"{OTHER} {number}": other for number, other in enumerate(others, start=1)},
        "source": source if source is not None or settled.source == IN_MEMORY else settled.source,
        "auxiliary": auxiliary,
        "control": control,
        "priors": priors,
        "previous": previous,
    }
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(contextlib.closing(embedded(settled.session.limits)))
        tables = stack.enter_context(Scratch(here, "attack"))
        observer.stage("Reading")
        opened = {
            role: stack.enter_context(opened_for_comparison(table, settled, connection, is_source=role == "source"))
            for role, table in data.items()
            if table is not None
        }
        notes: list[str] = []
        material = _material(tables, opened, settled, attempts, notes.append)
        check_control(material)
        return _attacked(material, chosen, name_of(data["release"]), notes, observer)


def _chosen(only: Sequence[str] | None) -> tuple[Attack, ...]:
    """The attacks with one of these names, or with an outcome of that name; None for all attacks."""
    if only is None:
        return ATTACKS
    attacks = {name: attack for attack in ATTACKS for name in (attack.name, *attack.outcomes)}
    for name in only:
        if name not in attacks:
            names = ", ".join(attack.name for attack in ATTACKS)
            raise SpecError(f"there is no attack {name!r}; choose among {names}, or what they find")
    return tuple(dict.fromkeys(attacks[name] for name in only))


def _material(
    tables: Scratch, opened: Mapping[str, Source], settled: ReleaseSpec, attempts: int, note: Callable[[str], None]
) -> Material:
    """The data of the attacker, copied to an embedded DuckDB."""
    places = settled if isinstance(settled, CloakSpec) else None
    spec = places.of_columns() if places else settled
    assert isinstance(spec, Spec)
    release = opened["release"].table
    location = places.location if places else ()
    columns = dict.fromkeys(column.name for source in opened.values() for column in source.table.columns)
    plain = {name: f"c{number}" for number, name in enumerate((*columns, *spec.quasi_identifiers))}
    names = box_columns(places) if places else spec.quasi_identifiers
    shown = {name: shown_columns(name, release) for name in names}
    copies = {}
    for role, source in _without_unused(opened, spec, location).items():
        file = None if location else in_same_engine(tables, role, source)
        copy = copied(tables, role, file or source, plain, shown, spec.unit, location, stored=file is None)
        copies[role] = encoded(tables, copy, tuple(shown), stored=file is None)
    halves = [copy for copy in copies.values() if copy.is_half]
    _check_named(spec, copies)
    attacked = copies["release"].columns
    sensitive = tuple(name for name in spec.sensitive if name in attacked)
    if not sensitive:  # all except the quasi-identifiers
        not_attacked = {*shown, spec.unit, *(name for half in halves for name in half.columns)}
        sensitive = tuple(name for name in attacked if name not in not_attacked)
    return Material(
        tables,
        release=copies["release"],
        quasi_identifiers=tuple(shown),
        sensitive=sensitive,
        location=location,
        time=places.time if places else None,
        source=copies.get("source"),
        auxiliary=copies.get("auxiliary"),
        control=copies.get("control"),
        priors=copies.get("priors"),
        previous=copies.get("previous"),
        others=tuple(copy for role, copy in copies.items() if role.startswith(OTHER) and copy not in halves),
        half=next(iter(halves), None),
        unit=spec.unit,
        k=spec.privacy.k,
        privacy=models_of(spec, opened["source"]) if "source" in opened else None,
        most=attempts,
        seed=spec.seed,
        hierarchy=partial(known_hierarchy, spec, opened["release"].engine),
        averaged=tuple(name for name in spec.quasi_identifiers if how_of(spec, release, name) in STATISTICS),
        note=note,
        shared=tables,
    )


def _without_unused(opened: Mapping[str, Source], spec: Spec, location: Sequence[str]) -> dict[str, Source]:
    """The tables; tables of people lack the columns that no attack reads.

    Cloaked places, a control and priors can require any column.
    """
    people = {"source", "auxiliary"} & opened.keys()
    if location or "control" in opened or "priors" in opened:
        return dict(opened)
    releases = [source for role, source in opened.items() if role not in people]
    shown = [column.name for release in releases for column in release.table.columns]
    used = {*spec.quasi_identifiers, spec.unit, *shown}
    found = dict(opened)
    for role in people:
        table = opened[role].table
        columns = tuple(column for column in table.columns if column.name in used)
        found[role] = replace(opened[role], table=replace(table, columns=columns))
    return found


def _check_named(spec: Spec, copies: Mapping[str, Copy]) -> None:
    """SpecError if the release lacks a sensitive column, or all tables lack the unit column."""
    released = {name for copy in copies.values() if copy is copies["release"] or copy.is_half for name in copy.columns}
    for name in spec.sensitive:
        if name not in released:
            raise SpecError(
                f"the release has no column {name!r}; name sensitive columns that it has, or none for all that are no "
                "quasi-identifiers"
            )
    people = [copies[role] for role in ("source", "auxiliary") if role in copies]
    if spec.unit and people and not any(spec.unit in copy.columns for copy in (copies["release"], *people)):
        raise SpecError(f"no table has a column {spec.unit!r}; set `unit` to the column that identifies people")


def _attacked(material: Material, chosen: Sequence[Attack], name: str, notes: list[str], observer: Observer) -> Attacks:
    """The outcomes of all attacks that can be tried, and the data that the others need."""
    if material.release.rows == 0:
        raise SourceError(f"{name} has no rows; there is nothing to attack")
    outcomes: list[Outcome] = []
    skipped = []
    for attack in chosen:
        missing = [NEEDS[need] for need in material.missing(attack.needs)]
        if missing:
            skipped.append((attack.name, " and ".join(missing)))
            continue
        observer.stage(f"Trying {attack.name}")
        with Scratch(material.tables.engine, attack.name) as tables:
            outcomes.extend(attack.run(replace(material, tables=tables)))
    return Attacks(
        release=name,
        quasi_identifiers=material.quasi_identifiers,
        sensitive=material.sensitive,
        outcomes=tuple(outcomes),
        skipped=tuple(skipped),
        notes=tuple(dict.fromkeys(notes)),
    )
