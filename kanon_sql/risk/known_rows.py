"""The risk if an attacker has several rows of a person: how many people have rows in all of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql.privacy import THRESHOLDS
from kanon_sql.privacy.risk_models import least_size


@dataclass(frozen=True)
class PeopleAboveRisk:
    """The measured people whose risk is above a threshold, and their share of the measured people."""

    risk: float
    people: int
    share: float


@dataclass(frozen=True)
class KnownRows:
    """The risk if an attacker has a number of rows of a person, `rows`: one divided by the candidates.

    The candidates are the people who have rows in all classes of these rows, as many in each class as the attacker has.
    Every person counts with those of their rows that leave the fewest candidates. `people`: those who have enough rows.
    `measured`: how many of them were measured, all or a random sample. `partly`: how many of these have more rows than
    were combined, so that their risk can be higher. `singled_out`: measured people with no other candidate, with
    their `share` and its 95 % interval, None if all people were measured.
    `highest`, `mean`: the risk; like `share`, None if no person could be measured.
    """

    rows: int
    people: int
    measured: int
    partly: int
    singled_out: int
    share: float | None
    interval: tuple[float, float] | None
    highest: float | None
    mean: float | None
    above: tuple[PeopleAboveRisk, ...]

    @property
    def is_sample(self) -> bool:
        """Whether a sample of the people was measured."""
        return self.measured < self.people


@dataclass(frozen=True)
class SeveralRows:
    """The risk if an attacker has two, or three, rows of a person; only if people have as many.

    `linked_by`: the columns of the table by which anybody can tell that rows belong to one person, such as a key.
    Without any, the table alone does not show who the candidates are, and the risk is an upper limit.
    """

    linked_by: tuple[str, ...]
    known: tuple[KnownRows, ...]


NOTHING_KNOWN = SeveralRows((), ())


def known_rows(
    rows: int,
    people: int,
    partly: int,
    candidates: Sequence[tuple[int, int]],
    interval: tuple[float, float] | None,
) -> KnownRows:
    """The figures of the people by the number of their candidates: (candidates, people)."""
    measured = sum(n for _, n in candidates)
    singled_out = sum(n for size, n in candidates if size == 1)
    above = []
    for risk in THRESHOLDS if measured else ():
        found = sum(n for size, n in candidates if size < least_size(risk))
        above.append(PeopleAboveRisk(risk, found, found / measured))
    return KnownRows(
        rows=rows,
        people=people,
        measured=measured,
        partly=partly,
        singled_out=singled_out,
        share=singled_out / measured if measured else None,
        interval=interval,
        highest=1 / min(size for size, _ in candidates) if measured else None,
        mean=sum(n / size for size, n in candidates) / measured if measured else None,
        above=tuple(above),
    )
