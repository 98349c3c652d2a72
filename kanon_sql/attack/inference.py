"""Inference: guess a person's sensitive value by the most common one among the records that fit.

Source: Article 29 Working Party, Opinion 05/2014 on anonymisation techniques, section 2.2.3; M. Giomi, F. Boenisch,
C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023(2). The
attacker knows all quasi-identifiers of a person in the release, takes the records whose labels cover them, and
guesses their most common value, at random if several are equally common. A guess is right if the source has that value.
The control is the same guess without the person's own record, from the other records alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_sql.attack.matching import Attacked, attack, counted_values
from kanon_sql.attack.material import Attack, Material
from kanon_sql.attack.outcome import Control, Outcome
from kanon_sql.queries import Hole, Relation


def _inference(material: Material) -> Iterator[Outcome]:
    source, tables = material.source, material.tables
    assert source is not None
    columns = material.quasi_identifiers_of(source)
    attacked = attack(material, source, columns)
    control = attack(material, material.control, columns, "control_") if material.control else None
    for column in material.sensitive:
        if column in source.columns and tables.count(attacked.fits):
            outcome = _of_column(material, attacked, column)
            yield outcome.with_control(_on_control(material, control, column)) if control else outcome


def _guesses(material: Material, attacked: Attacked, column: str) -> Relation:
    """The fitting records by value, and which of them is the person's own: target, records, own."""
    holes = {**counted_values(material, column), "fits": attacked.fits, "truths": attacked.truths(column)}
    return material.tables.create("guesses", "attack_attributes/guesses", **holes)


def _on_control(material: Material, control: Attacked, column: str) -> Control:
    """The same guess for people without a record; for people that fit no class, the most common value of all."""
    guesses, attempts = _guesses(material, control, column), control.attempts
    ((fitting, right, _),) = material.tables.rows("attack_attributes/right_guesses", guesses=guesses, left_out=0)
    return Control(attempts, round(right + commonest(material, column) * (attempts - fitting)))


def _of_column(material: Material, people: Attacked, column: str) -> Outcome:
    tables = material.tables
    guesses = _guesses(material, people, column)
    (attacked,), (left_out,) = (
        tables.rows("attack_attributes/right_guesses", guesses=guesses, left_out=own) for own in (0, 1)
    )
    attempts, right, baseline = int(attacked[0]), float(attacked[1]), commonest(material, column)
    everybody = material.attacked(people.people, attempts)
    control = (float(left_out[1]) + baseline * int(left_out[2])) / attempts
    return Outcome(
        "inference",
        f"The most common {column} of the records that fit is the right one for {right / attempts:.1%} of "
        f"{attempts:,} {people.people.who}; without their own record for {control:.1%}, and from the values' shares "
        f"alone for {baseline:.1%}.",
        attempts=attempts,
        successes=round(right),
        affected=round(right / attempts * everybody),
        baseline=baseline,
        control=control,
        column=column,
        counted=people.people.who,
        sampled=attempts < everybody,
        figures={"right": right},
        avoid=f"require l-diversity or t-closeness of {column}, or raise k",
    )


def commonest(material: Material, column: str) -> float:
    """The share of a column's most common value, in rows or people: the best guess without further knowledge."""
    release = material.release
    holes: dict[str, Hole] = {"release": release.relation, "value": release.plain([column])}
    if release.unit:
        of_value = material.tables.rows("attack_attributes/value_people", unit=release.unit, **holes)
    else:
        of_value = material.tables.rows("attack_attributes/value_rows", **holes)
    return max(int(n) for (n,) in of_value) / release.people


INFERENCE = Attack(
    "inference",
    "Guess the most common sensitive value of the records that fit a person.",
    _inference,
    ("sensitive", "source"),
)
