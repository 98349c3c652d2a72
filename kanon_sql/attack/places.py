"""Cloaked places: guess the sender from a box by whose place is in it, or by who was seen there.

Source: M. Gruteser, D. Grunwald, "Anonymous usage of location-based services through spatial and temporal cloaking",
MobiSys 2003, section 3 (restricted space identification, observation identification).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.queries import Relation

_AVOID = "require a larger k, and keep `shared` boxes, in which every row has k possible senders"
_BOX = ("x_min", "x_max", "y_min", "y_max", "since", "until")


def _by_place(material: Material) -> Iterator[Outcome]:
    people = material.auxiliary
    assert people
    columns = dict(zip(_BOX, ([name] for name in material.release.plain(material.quasi_identifiers)), strict=True))
    boxes = material.tables.create("boxes", "attack_cloaks/boxes", release=material.release.relation, **columns)
    yield _restricted_space(material, people, boxes)
    if material.time in people.columns:
        yield _observation(material, people, boxes)
    else:
        material.note(
            f"the auxiliary table has no column {material.time!r}, so it does not show who was seen when; "
            "observation identification was not tried"
        )


def _restricted_space(material: Material, people: Copy, boxes: Relation) -> Outcome:
    """Guess that all rows of a box with the place of a single owner are that owner's."""
    tables = material.tables
    tried = tables.create(
        "tried", "attack_cloaks/drawn_boxes", boxes=boxes, seed=str(material.seed), most=material.most
    )
    where = _columns(material, people, "owner", "x", "y")
    guesses = tables.create("guesses", "attack_cloaks/owned_boxes", boxes=tried, people=people.relation, **where)
    owned, count = tables.count(guesses), tables.count(boxes)
    outcome = _guessed(material, boxes, guesses, "restricted_space")
    return replace(
        outcome,
        sentence=f"{owned:,} of {min(count, material.most):,} boxes contain the place of a single owner; guessing that "
        f"their rows are that owner's is right for {outcome.share:.1%}.",
        sampled=count > material.most,
        figures={**outcome.figures, "boxes": owned},
    )


def _observation(material: Material, people: Copy, boxes: Relation) -> Outcome:
    """Guess that a row whose box and interval contain an observation is of the observed person."""
    tables, seed = material.tables, str(material.seed)
    where = _columns(material, people, "owner", "x", "y", "t")
    seen = tables.create(
        "seen", "attack_cloaks/drawn_observations", people=people.relation, seed=seed, most=material.most, **where
    )
    guesses = tables.create("guesses", "attack_cloaks/observed_boxes", observations=seen, boxes=boxes)
    ((below, alone),) = tables.rows("attack_cloaks/observed", guesses=guesses, k=material.k or 2)
    outcome = _guessed(material, boxes, guesses, "observation")
    return replace(
        outcome,
        sentence=f"{outcome.attempts:,} of {tables.count(seen):,} observations are in a released box and interval, "
        f"{int(alone):,} of them with a single candidate row; guessing the row is right for "
        f"{outcome.share:.1%}.",
        sampled=people.rows > material.most,
        figures={**outcome.figures, "below_k": int(below), "alone": int(alone)},
    )


def _guessed(material: Material, boxes: Relation, guesses: Relation, name: str) -> Outcome:
    """The number of right guesses: checked with the source, or assuming that one row of every box is the sender's.

    The chance baseline is what k guarantees: one in k.
    """
    tables, source = material.tables, material.source
    if source and material.unit in source.columns:
        where: dict[str, Any] = _columns(material, source, "owner", "x", "y", "t")
        present = tables.create(
            "present", "attack_cloaks/present", boxes=boxes, guesses=guesses, source=source.relation, **where
        )
        (row,) = tables.rows("attack_cloaks/checked_guesses", guesses=guesses, present=present)
    else:
        (row,) = tables.rows("attack_cloaks/place_guesses", guesses=guesses)
    attempts, successes, people = (round(figure) for figure in row)
    chance = 1 / material.k if material.k else None
    outcome = Outcome(name, "", attempts, successes, 0, chance, figures={"k": material.k}, avoid=_AVOID)
    counted = "people" if material.unit in (material.auxiliary or material.release).columns else "rows"
    return replace(outcome, affected=round(outcome.share * people) if outcome.excess else 0, counted=counted)


def _columns(material: Material, copy: Copy, *wanted: str) -> dict[str, list[str]]:
    """The columns of a table with the owner, place and time; without an owner column, every row is another owner."""
    x, y = material.location
    names = {"owner": material.unit, "x": x, "y": y, "t": material.time}
    return {column: [copy.columns.get(names[column] or "", "row_id")] for column in wanted}


PLACES = Attack(
    "places",
    "Guess the sender from a cloaked box by whose place is in it, and by who was seen there at that time.",
    _by_place,
    ("cloaked", "auxiliary"),
    ("restricted_space", "observation"),
)
