"""What is proven of a lattice too large to list: the nodes not ruled out are the models of a set of clauses.

A boolean `reaches[j, l]` says that attribute j is on level l or above. A node that is not anonymous rules out all
below it: some attribute must rise above it, one clause. An incremental SAT solver (python-sat) keeps what it learned
from one question to the next. A chain of booleans adds up the level costs, so that an assumption asks for a node
that costs less than any number.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, lcm

from pysat.solvers import Solver

from kanon_sql.generalization.lattice import Lattice, Node, maximal
from kanon_sql.loss import Costs, LevelParts, Metric
from kanon_sql.strategies.space import beats

_SOLVER = "glucose4"  # of those that can be stopped after a number of conflicts the fastest here
_CONFLICTS = 2_000  # well below a second, then the clock is looked at
_EXACT = 5_000  # whole steps from the bottom to the top, if no cost is rounded
_ROUNDED = 2_000  # and if they are: a chain of booleans as long has to be built
_SMALL = 1_000  # the largest denominator of one level cost
_SAME = 1e-12


class Clauses:
    """The open nodes of a lattice, their cheapest cost, and one of them on demand.

    `pulse` is called now and then in long work, and may raise. `at_risk`: nodes known not to be anonymous, none of
    them below another.
    """

    def __init__(
        self,
        lattice: Lattice,
        metric: Metric,
        costs: Costs,
        pulse: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        at_risk: Sequence[Node] = (),
    ) -> None:
        self._lattice = lattice
        self._finish = metric.finish
        self._bound = metric.bound_of(costs)
        self._pulse, self._clock = pulse, clock
        self._solver = Solver(name=_SOLVER)
        self._open = True  # whether there can be any node left
        self._last = 0  # the last variable
        self._below_limit = self._new()  # assumed while nodes above some limit below the best are of no interest
        self._reaches = self._levels()
        self._costs = whole_costs(metric.parts(costs), lattice)
        self._sums: list[tuple[int, int]] = []  # a cost, and the variable that says it is reached
        self._border = sorted(at_risk, key=lambda node: (-sum(node), node))  # still to be handed over
        self._pending: list[Node] = []
        self._proven = 0  # no open node costs less than the sum with this index
        self._floor = 0.0  # no open node can score less
        self._expensive = inf  # the least that a node can score that was ruled out only because it costs too much

    def rule_out_below(self, node: Node) -> None:
        """A node and all below it are not anonymous."""
        self._pending.append(node)

    def rule_out_above(self, node: Node) -> None:
        """A node and all above it cannot be better than what is known."""
        self._rule_out_above(node, [])

    def _rule_out_above(self, node: Node, unless: list[int]) -> None:
        self._add([*unless, *(-self._reaches[j, level] for j, level in self._steps_to(node))])

    def rule_out(self, node: Node) -> None:
        """One node needs no more thought."""
        lower = [-self._reaches[j, level] for j, level in self._steps_to(node)]
        self._add(lower + self._above(node))

    def candidate(self, limit: float, best: float) -> Node | None:
        """An open node that can score less than both; None if there is none, which proves it.

        `best` never rises from one question to the next, nor does a limit below it.
        """
        limit = min(limit, best)
        self._settle(best)
        lower = [self._below_limit] if limit < best else []
        while (below := self._cheaper_than(limit)) is not None and (solution := self._solve(below + lower)) is not None:
            if beats(self._bound(solution), limit):
                return solution
            # Whole steps took it for cheaper than it is.
            self._rule_out_above(solution, [-given for given in lower])
            if not lower:
                self._expensive = min(self._expensive, self._bound(solution))
        self._floor = max(self._floor, limit)
        return None

    def lower_bound(self, seconds: float = inf) -> float:
        """The least that an open node can score, or less if `seconds` were too few; infinite if none is open.

        What was learned is handed over first, for as many seconds again if need be.
        """
        self._settle(inf, seconds)
        until, step, sums = self._clock() + seconds, 1, self._sums
        while self._proven < len(sums) and self._clock() < until:
            ahead = min(self._proven + step, len(sums))
            held = self._possible([-sums[ahead][1]] if ahead < len(sums) else [])
            if held is False:
                self._proven, step = ahead, 2 * step
            elif step > 1:
                step = 1
            elif held:
                break
        if self._proven == len(sums):
            return self._expensive
        return max(self._floor, min(self._expensive, self._finish(self._costs.value(sums[self._proven][0]))))

    # What the solver is told

    def _levels(self) -> dict[tuple[int, int], int]:
        reaches: dict[tuple[int, int], int] = {}
        for j, (low, high) in enumerate(zip(self._lattice.bottom, self._lattice.top, strict=True)):
            for level in range(low + 1, high + 1):
                reaches[j, level] = self._new()
                if level > low + 1:
                    self._add([-reaches[j, level], reaches[j, level - 1]])
        return reaches

    def _new(self) -> int:
        self._last += 1
        return self._last

    def _add(self, clause: list[int]) -> None:
        if clause:
            self._solver.add_clause(clause)
        else:
            self._open = False

    def _settle(self, best: float, seconds: float = inf) -> None:
        """Hand over what was learned, or what there is time for, and before the first question the costs."""
        if not self._sums:
            self._sums = self._add_up(self._costs, inf if best == inf else self._most(best) + 1)
        self._border += maximal(self._pending)
        self._pending = []
        told, until = 0, self._clock() + seconds
        while told < len(self._border) and self._clock() < until:
            self._add(self._above(self._border[told]))
            told += 1
        self._border = self._border[told:]

    def _above(self, node: Node) -> list[int]:
        return [self._reaches[j, node[j] + 1] for j, high in enumerate(self._lattice.top) if node[j] < high]

    def _steps_to(self, node: Node) -> Iterator[tuple[int, int]]:
        return ((j, level) for j, level in enumerate(node) if level > self._lattice.bottom[j])

    def _add_up(self, costs: WholeCosts, enough: float) -> list[tuple[int, int]]:
        """Attribute by attribute: what has been paid so far and each level's cost give what is paid then.

        Costs of `enough` and more are one: nobody asks for them. Each sum's variable is true if it is reached.
        """
        paid: dict[int, int | None] = {0: None}
        for j, steps in enumerate(costs.steps):
            low = self._lattice.bottom[j]
            sums = sorted({int(min(before + step, enough)) for before in paid for step in steps})
            then = {amount: self._new() if amount > sums[0] else None for amount in sums}
            for before, reached in paid.items():
                for level, step in enumerate(steps, low):
                    if (implied := then[int(min(before + step, enough))]) is not None:
                        conditions = (reached, self._reaches.get((j, level)))
                        self._add([implied, *(-given for given in conditions if given)])
            for less, more in pairwise(filter(None, then.values())):
                self._add([-more, less])
            paid = then
        return [(amount, variable or 0) for amount, variable in paid.items()]

    # What it is asked

    def _most(self, best: float) -> int:
        """The most whole steps that a node may cost that scores less than `best`; -1 if none may."""
        low, high = -1, self._costs.most + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if beats(self._finish(self._costs.value(middle)), best) else (low, middle)
        return low

    def _cheaper_than(self, limit: float) -> list[int] | None:
        """What to assume so that only nodes cheaper than a limit remain; None if none can be."""
        if limit == inf:
            return []
        most = self._most(limit)
        if most < self._sums[0][0]:
            return None
        return next(([-reached] for amount, reached in self._sums if amount > most), [])

    def _solve(self, assumptions: Sequence[int]) -> Node | None:
        while (held := self._possible(assumptions)) is None:
            self._pulse()
        if not held:
            return None
        model = self._solver.get_model()
        node = list(self._lattice.bottom)
        for (j, level), variable in self._reaches.items():
            if variable <= len(model) and model[variable - 1] > 0:  # one that no clause holds is not in the model
                node[j] = max(node[j], level)
        return tuple(node)

    def _possible(self, assumptions: Sequence[int]) -> bool | None:
        if not self._open:
            return False
        self._solver.conf_budget(_CONFLICTS)
        # Else the solver would take Ctrl-C for its own, and leave in the middle of its work.
        held: bool | None = self._solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
        return held


@dataclass(frozen=True)
class WholeCosts:
    """Level costs as whole numbers: `steps[j][i]` for level i above the bottom, `scale` of them are one.

    `value` of a sum of steps is what they cost, or less where they had to be rounded down.
    """

    steps: tuple[tuple[int, ...], ...]
    scale: int
    least: float

    def value(self, total: int) -> float:
        """What a sum of steps is as a sum of level costs, never more than it."""
        return total / self.scale + self.least

    @property
    def most(self) -> int:
        """The steps of the most general node."""
        return sum(step[-1] for step in self.steps)


def whole_costs(parts: LevelParts, lattice: Lattice) -> WholeCosts:
    """Level costs in whole steps: exact where a small common denominator does, else rounded down.

    >>> whole_costs(((0.0, 0.25, 0.5), (0.0, 0.5)), Lattice((0, 0), (2, 1))).steps
    ((0, 1, 2), (0, 2))
    """
    levels = zip(parts, lattice.bottom, lattice.top, strict=True)
    within = [[cost - part[low] for cost in part[low : high + 1]] for part, low, high in levels]
    least = sum(part[low] for part, low in zip(parts, lattice.bottom, strict=True))
    total = sum(part[-1] for part in within)
    fractions = [Fraction(cost).limit_denominator(_SMALL) for part in within for cost in part]
    scale = lcm(*(fraction.denominator for fraction in fractions))
    costs = [cost for part in within for cost in part]
    if scale * total <= _EXACT and all(
        abs(float(fraction) - cost) < _SAME for fraction, cost in zip(fractions, costs, strict=True)
    ):
        return WholeCosts(tuple(tuple(round(cost * scale) for cost in part) for part in within), scale, least)
    scale = max(1, int(_ROUNDED / max(total, _SAME)))
    return WholeCosts(tuple(tuple(int(cost * scale) for cost in part) for part in within), scale, least)
