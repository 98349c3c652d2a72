"""Linkability: whether a release links two tables with half of the quasi-identifiers each.

Source: Article 29 Working Party, Opinion 05/2014 on anonymisation techniques, section 2.2.2; M. Giomi, F. Boenisch,
C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023(2), section
3.3. The attacker has a person's values in both tables, and picks one fitting record of the release for each half. The
attack succeeds if both picks are the same record. The expected number of successes is counted. The halves are the
columns of an auxiliary table and the rest, or every second quasi-identifier. The control is the same without the
person's own record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kanon_sql.attack.matching import attack, classes_of, fitting
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Control, Outcome


def _linkability(material: Material) -> Iterator[Outcome]:
    source, release = material.source, material.release
    assert source is not None
    columns = material.quasi_identifiers_of(source)
    first, second = _halves(material, columns)
    if not first or not second:
        return
    halves = {"both": columns, "one": first, "other": second}
    attempts, same, others = _linked(material, source, halves)
    if attempts:
        everybody = material.attacked(source, int(attempts))
        outcome = Outcome(
            "linkability",
            f"Two tables, one with {', '.join(first)} and one with {', '.join(second)}, lead to the same record for "
            f"{same / attempts:.2%} of {int(attempts):,} {source.who}, if each picks one that fits.",
            attempts=int(attempts),
            successes=round(same),
            affected=round(same / attempts * everybody),
            baseline=1 / release.rows,
            control=float(others) / int(attempts),
            counted=source.who,
            sampled=attempts < everybody,
            figures={"same": float(same)},
            avoid="raise k, or release fewer of these columns together",
        )
        if material.control:  # people that fit no class are not linked
            _, same, _ = _linked(material, material.control, halves)
            outcome = outcome.with_control(Control(min(material.most, material.control.people), round(same)))
        yield outcome


def _linked(material: Material, people: Copy, halves: Mapping[str, tuple[str, ...]]) -> tuple[Any, ...]:
    """How many people fit, and how often both halves lead to one record, with and without the person's own."""
    tables, attacked = material.tables, attack(material, people, halves["both"])
    holes = {"fits": attacked.fits, "classes": classes_of(material, material.release)}
    candidates = {"both": tables.create("both", "attack_linkability/candidates", **holes)}
    for stem in ("one", "other"):
        classes = classes_of(material, material.release, f"{stem}_classes", halves[stem])
        fits = fitting(material, attacked.targets, people, classes, halves[stem], f"{stem}_fits")
        candidates[stem] = tables.create(stem, "attack_linkability/candidates", fits=fits, classes=classes)
    (linked,) = tables.rows("attack_linkability/halves", **candidates)
    return linked


def _halves(material: Material, columns: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of an auxiliary table, and the rest; or every second quasi-identifier."""
    first = {name for name in columns if material.auxiliary and name in material.auxiliary.columns}
    if not 0 < len(first) < len(columns):
        first = set(columns[::2])
    return tuple(name for name in columns if name in first), tuple(name for name in columns if name not in first)


LINKABILITY = Attack(
    "linkability",
    "Pick a record for a person's values in two tables with half of the columns each; both picks can be the same one.",
    _linkability,
    ("source",),
)
