"""Try what an attacker would: on a release, with what else they may have."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql.attack import ATTACKS, Attack, Copy, Material, Outcome
from kanon_sql.attack.control import check_control
from kanon_sql.attack.material import NEEDS
from kanon_sql.cloak.points import box_columns
from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.measure.copied import OTHER, copied
from kanon_sql.measure.tables import known_hierarchy, name_of, opened_beside, shown_columns
from kanon_sql.plan.models import models_of
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import IN_MEMORY, Source, settle_either
from kanon_sql.recode.show import STATISTICS, how_of
from kanon_sql.spec import CloakSpec, ReleaseSpec, Spec
from kanon_sql.verbs.options import AttackOptions, spelled_out, taken
from kanon_sql.verbs.result import Result

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Attacks(Result):
    """What came of the attacks on a release: counts and shares, never a value of anybody.

    `skipped`: the attacks that could not be tried, each with what it needs. `notes`: what limits the others.
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
        """All of it, ready for JSON."""
        return {
            "release": self.release,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "attacks": [outcome.to_dict() for outcome in self.outcomes],
            "skipped": [{"name": name, "needs": needs} for name, needs in self.skipped],
            "notes": list(self.notes),
        }

    def to_df(self) -> pandas.DataFrame:
        """One row per attack and column."""
        import pandas

        counts = ("affected", "counted", "attempts", "successes")
        names = ("name", "column", *counts, "share", "baseline", "control", "excess")
        return pandas.DataFrame([[each.to_dict()[name] for name in names] for each in self.outcomes], columns=names)

    def _lines(self) -> list[tuple[str, str]]:
        return [
            ("release", f"{self.release}, by {', '.join(self.quasi_identifiers)}"),
            *((each.name, each.sentence) for each in self.outcomes),
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
    """Try the attacks on a release that somebody could try who has it, and say how many people they succeed with.

    `release`, `others`: releases of one table, each a file, a table, a DataFrame or an Arrow table; left out, the
    spec's target. `source`: the table that they were made of, which tells whether a guess is right; with a spec,
    its source. `auxiliary`: a table of people that an attacker may have. `control`: people like those of the source
    who are not in the release, attacked beside them. `priors`: the `share` of sensitive values among people like
    somebody, by other columns of theirs. `previous`: an earlier release of the same table. Without `sensitive`,
    every released column that is no quasi-identifier is attacked. `only`: the names of the attacks to try, or of
    what they find. `attempts`: people to attack at most, where an attack draws some. Nothing is written; raises
    KanonError.

    >>> import pandas
    >>> release = pandas.DataFrame({"zip": ["1*", "1*", "2*", "2*"], "ill": list("xxyz")})
    >>> tried = attack(release, quasi_identifiers=["zip"], sensitive=["ill"], only=["homogeneity"])
    >>> [(each.name, each.affected) for each in tried.outcomes]
    [('homogeneity', 2)]
    """
    observer = observer or Observer()
    chosen = _chosen([only] if isinstance(only, str) else only)
    if attempts < 1:
        raise SpecError(f"attempts is {attempts}; give how many people are to be attacked, 1 or more")
    settled = _settled(source, spec, taken(AttackOptions, options))
    named = {
        "release": _target(settled) if release is None else release,
        **{f"other {number}": each for number, each in enumerate(others, start=1)},
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
            role: stack.enter_context(opened_beside(each, settled, connection, is_source=role == "source"))
            for role, each in named.items()
            if each is not None
        }
        notes: list[str] = []
        material = _material(tables, opened, settled, attempts, notes.append)
        check_control(material)
        return _tried(material, chosen, name_of(named["release"]), notes, observer)


def _settled(source: Any, spec: ReleaseSpec | dict[str, Any] | str | Path | None, given: dict[str, Any]) -> ReleaseSpec:
    """What is said of the release; an attacker need not have its source, nor a mapping name one."""
    if spec is None:
        return settle_either(IN_MEMORY if source is None else source, None, given)
    return settle_either(source, {"source": IN_MEMORY, **spec} if isinstance(spec, dict) else spec, given)


def _chosen(only: Sequence[str] | None) -> tuple[Attack, ...]:
    """The attacks of these names, or that find what has such a name; all unless given."""
    if only is None:
        return ATTACKS
    known = {name: each for each in ATTACKS for name in (each.name, *each.outcomes)}
    for name in only:
        if name not in known:
            names = ", ".join(each.name for each in ATTACKS)
            raise SpecError(f"there is no attack {name!r}; choose among {names}, or what they find")
    return tuple(dict.fromkeys(known[name] for name in only))


def _target(spec: ReleaseSpec) -> str:
    """What the spec's run wrote."""
    if spec.target is None:
        raise SpecError("there is no release to attack; name one, or a spec with a target")
    return spec.target.name


def _material(
    tables: Scratch, opened: Mapping[str, Source], settled: ReleaseSpec, attempts: int, note: Callable[[str], None]
) -> Material:
    """What an attacker has, copied beside us."""
    places = settled if isinstance(settled, CloakSpec) else None
    spec = places.of_columns() if places else settled
    assert isinstance(spec, Spec)
    release, location = opened["release"].table, places.location if places else ()
    columns = dict.fromkeys(column.name for each in opened.values() for column in each.table.columns)
    plain = {name: f"c{number}" for number, name in enumerate((*columns, *spec.quasi_identifiers))}
    names = box_columns(places) if places else spec.quasi_identifiers
    shown = {name: shown_columns(name, release) for name in names}
    copies = {role: copied(tables, role, each, plain, shown, spec.unit, location) for role, each in opened.items()}
    halves = [copy for copy in copies.values() if copy.is_half]
    _check_named(spec, copies)
    return Material(
        tables,
        copies["release"],
        tuple(shown),
        _sensitive(spec, copies["release"], halves, shown),
        location,
        places.time if places else None,
        copies.get("source"),
        copies.get("auxiliary"),
        copies.get("control"),
        copies.get("priors"),
        copies.get("previous"),
        tuple(copy for role, copy in copies.items() if role.startswith(OTHER) and copy not in halves),
        next(iter(halves), None),
        spec.unit,
        spec.privacy.k,
        models_of(spec, opened["source"]) if "source" in opened else None,
        attempts,
        spec.seed,
        partial(known_hierarchy, spec, opened["release"].engine),
        tuple(name for name in spec.quasi_identifiers if how_of(spec, release, name) in STATISTICS),
        note,
    )


def _check_named(spec: Spec, copies: Mapping[str, Copy]) -> None:
    """SpecError if the release lacks a sensitive column, or all tables the column that tells people apart."""
    released = {name for copy in copies.values() if copy is copies["release"] or copy.is_half for name in copy.columns}
    for name in spec.sensitive:
        if name not in released:
            raise SpecError(
                f"the release has no column {name!r}; name sensitive columns that it has, or none for all that are no "
                "quasi-identifiers"
            )
    people = [copies[role] for role in ("source", "auxiliary") if role in copies]
    if spec.unit and people and not any(spec.unit in copy.columns for copy in (copies["release"], *people)):
        raise SpecError(f"no table has a column {spec.unit!r}; name as `unit` the column that tells people apart")


def _sensitive(spec: Spec, release: Copy, halves: Sequence[Copy], shown: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of a release that are attacked: all that are no quasi-identifiers, where none is named."""
    others = {*shown, spec.unit, *(name for half in halves for name in half.columns)}
    named = [name for name in spec.sensitive if name in release.columns]
    return tuple(named) or tuple(name for name in release.columns if name not in others)


def _tried(material: Material, chosen: Sequence[Attack], name: str, notes: list[str], observer: Observer) -> Attacks:
    """All attacks that can be tried, and the others with what they need."""
    if material.release.rows == 0:
        raise SourceError(f"{name} has no rows; there is nobody to attack")
    outcomes: list[Outcome] = []
    skipped = []
    for each in chosen:
        missing = [NEEDS[need] for need in material.missing(each.needs)]
        if missing:
            skipped.append((each.name, " and ".join(missing)))
            continue
        observer.stage(f"Trying {each.name}")
        with Scratch(material.tables.engine, each.name) as own:
            outcomes.extend(each.run(replace(material, tables=own)))
    said = tuple(dict.fromkeys(notes))
    return Attacks(name, material.quasi_identifiers, material.sensitive, tuple(outcomes), tuple(skipped), said)
