"""The outcome of an attack: its success rate, the chance baseline, and the number of people affected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import hypot, sqrt
from typing import Any

_Z = 1.959964  # for a two-sided interval of 95 %


@dataclass(frozen=True)
class Control:
    """The outcome of an attack on people who are not in the release: guesses, and how many were right."""

    attempts: int
    successes: int

    @property
    def share(self) -> float:
        """The share of the guesses that were right."""
        return self.successes / self.attempts if self.attempts else 0.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attack, in counts and shares only.

    `attempts`, `successes`: guesses, and how many were right. `affected`: how many in the release the attack succeeds
    for; from a sample, an estimate. `counted`: what `affected` counts: people with a unit, otherwise rows, or cells.
    `baseline`: the success rate from the values' shares in the whole table alone. `control`: the success rate for the
    same people without their own record. `on_control`: the outcome on the rows of a control, which then replaces
    `control`. `column`: the guessed sensitive column. `figures`: further figures by name. `sentence`: the result in
    words; `avoid`: a remedy.
    """

    name: str
    sentence: str
    attempts: int
    successes: int
    affected: int
    baseline: float | None = None
    control: float | None = None
    on_control: Control | None = None
    column: str | None = None
    counted: str = "rows"
    sampled: bool = False
    figures: Mapping[str, float | int | None] = field(default_factory=dict)
    avoid: str = ""

    @property
    def share(self) -> float:
        """The share of the guesses that were right."""
        return self.successes / self.attempts if self.attempts else 0.0

    @property
    def beyond(self) -> float | None:
        """The success rate for people who are not in the release; None if it was not measured."""
        return self.on_control.share if self.on_control else self.control

    @property
    def chance(self) -> float:
        """The rate that the share is compared with: the higher of the baseline and the control."""
        return max(self.baseline or 0.0, self.beyond or 0.0)

    @property
    def excess(self) -> float:
        """The share above chance, relative to what chance leaves: 0 for no better than chance, 1 for always right.

        It is 0 if chance is within the interval of the share, or 0 within that of the excess over the control's rows.
        """
        if self.chance >= 1 or (self.chance and interval(self.successes, self.attempts)[0] <= self.chance):
            return 0.0
        if self.on_control and self.above_control[0] <= 0:
            return 0.0
        return max(0.0, (self.share - self.chance) / (1 - self.chance))

    @property
    def above_control(self) -> tuple[float, float]:
        """The 95 % interval of the share above that of the control's rows, with the errors of both propagated.

        Giomi et al., PoPETs 2023(2), section 3.1; (0, 0) if all guesses on the control are right.
        """
        control = self.on_control or Control(0, 0)
        if control.share >= 1:
            return 0.0, 0.0
        (low, high), (least, most) = (interval(outcome.successes, outcome.attempts) for outcome in (self, control))
        left, slope = 1 - control.share, (1 - self.share) / (1 - control.share)
        above = (self.share - control.share) / left
        below_it = hypot(self.share - low, slope * (most - control.share)) / left
        return above - below_it, above + hypot(high - self.share, slope * (control.share - least)) / left

    def with_control(self, control: Control) -> Outcome:
        """The outcome together with that on the rows of a control."""
        sentence = (
            f"{self.sentence} On {control.attempts:,} rows of the control, none of which are in the release, it "
            f"succeeds in {control.share:.1%}."
        )
        return replace(self, on_control=control, sentence=sentence)

    def to_dict(self) -> dict[str, Any]:
        """The outcome for JSON."""
        return {
            "name": self.name,
            "column": self.column,
            "attempts": self.attempts,
            "successes": self.successes,
            "share": self.share,
            "interval": list(interval(self.successes, self.attempts)),
            "baseline": self.baseline,
            "control": self.beyond,
            "excess": self.excess,
            "affected": self.affected,
            "counted": self.counted,
            "sampled": self.sampled,
            "figures": dict(self.figures),
            "sentence": self.sentence,
            "avoid": self.avoid,
            **({"control_rows": self._control_figures(self.on_control)} if self.on_control else {}),
        }

    def _control_figures(self, control: Control) -> dict[str, Any]:
        """The share on the control's rows, and the excess over it, with their intervals."""
        share = control.share
        return {
            "attempts": control.attempts,
            "successes": control.successes,
            "share": share,
            "interval": list(interval(control.successes, control.attempts)),
            "excess": (self.share - share) / (1 - share) if share < 1 else 0.0,
            "excess_interval": list(self.above_control),
            "without_own_record": self.control,
        }


def interval(successes: int, attempts: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, JASA 22(158), 1927).

    >>> [round(end, 4) for end in interval(5, 10)], interval(0, 0)
    ([0.2366, 0.7634], (0.0, 1.0))
    """
    if not attempts:
        return 0.0, 1.0
    share, z2 = successes / attempts, _Z**2
    middle = (share + z2 / (2 * attempts)) / (1 + z2 / attempts)
    half = _Z / (1 + z2 / attempts) * sqrt(share * (1 - share) / attempts + z2 / (4 * attempts**2))
    return 0.0 if not successes else middle - half, 1.0 if successes == attempts else middle + half
