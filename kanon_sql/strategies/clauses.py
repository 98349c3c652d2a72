"""Proofs on lattices too large to list: the nodes not ruled out are the models of a set of clauses.

A boolean `reaches[j, l]` means that attribute j is on level l or above. A node that is not anonymous rules out all
below it: some attribute must be above its level, which is one clause. An incremental SAT solver (python-sat) keeps what
it has learned between calls. A chain of booleans adds up the level costs, so that an assumption restricts a call to
nodes that cost less than a given number.
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
from kanon_sql.loss import Costs, LevelParts, Metric, beats

_SOLVER = "glucose4"  # the fastest here of the solvers that can be stopped after a number of conflicts
_CONFLICTS = 2_000  # per call, well below a second; then the clock is checked
_EXACT = 5_000  # maximum whole steps from the bottom to the top, if no cost is rounded
_ROUNDED = 2_000  # and if they are: the length of the chain of booleans
_SMALL = 1_000  # the largest denominator of one level cost
_SAME = 1e-12


class Clauses:
    """The open nodes of a lattice, their cheapest cost, and one of them on demand.

    `pulse` is called from time to time during long work, and can raise. `at_risk`: nodes that are not anonymous, none
    of which is below another.
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
        self._open = True  # whether any node can be left
        self._last = 0  # the last variable
        self._below_limit = self._new()  # assumed while nodes above some limit below the best are of no interest
        self._reaches = self._levels()
        self._costs = whole_costs(metric.parts(costs), lattice)
        self._sums: list[tuple[int, int]] = []  # a cost, and the variable that is true if it is reached
        self._border = sorted(at_risk, key=lambda node: (-sum(node), node))  # not passed to the solver yet
        self._pending: list[Node] = []
        self._proven = 0  # no open node costs less than the sum with this index
        self._floor = 0.0  # no open node can score less
        self._expensive = inf  # lowest bound of the nodes that were ruled out only because they cost too much

    def rule_out_below(self, node: Node) -> None:
        """Rule out a node that is not anonymous, and all below it."""
        self._pending.append(node)

    def rule_out_above(self, node: Node) -> None:
        """Rule out a node and all above it, which cannot be better than the best."""
        self._rule_out_above(node, [])

    def _rule_out_above(self, node: Node, unless: list[int]) -> None:
        self._add([*unless, *(-self._reaches[j, level] for j, level in self._steps_to(node))])

    def rule_out(self, node: Node) -> None:
        """Rule out a single node."""
        lower = [-self._reaches[j, level] for j, level in self._steps_to(node)]
        self._add(lower + self._above(node))

    def candidate(self, limit: float, best: float) -> Node | None:
        """An open node that can score less than both; None if none is left, which proves it.

        `best` never rises between calls, and neither does a limit below it.
        """
        limit = min(limit, best)
        self._settle(best)
        lower = [self._below_limit] if limit < best else []
        while (below := self._cheaper_than(limit)) is not None and (solution := self._solve(below + lower)) is not None:
            if beats(self._bound(solution), limit):
                return solution
            # In whole steps, its cost was rounded down.
            self._rule_out_above(solution, [-variable for variable in lower])
            if not lower:
                self._expensive = min(self._expensive, self._bound(solution))
        self._floor = max(self._floor, limit)
        return None

    def lower_bound(self, seconds: float = inf) -> float:
        """A lower bound of the scores of open nodes, weaker if `seconds` are too few; infinite if none is open.

        What was learned is passed to the solver first, for as many seconds again if needed.
        """
        self._settle(inf, seconds)
        until, step, sums = self._clock() + seconds, 1, self._sums
        while self._proven < len(sums) and self._clock() < until:
            ahead = min(self._proven + step, len(sums))
            possible = self._possible([-sums[ahead][1]] if ahead < len(sums) else [])
            if possible is False:
                self._proven, step = ahead, 2 * step
            elif step > 1:
                step = 1
            elif possible:
                break
        if self._proven == len(sums):
            return self._expensive
        return max(self._floor, min(self._expensive, self._finish(self._costs.value(sums[self._proven][0]))))

    # Clauses

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
        """Pass on what was learned, as far as time permits, and the costs before the first call."""
        if not self._sums:
            self._sums = self._add_up(self._costs, inf if best == inf else self._most(best) + 1)
        self._border += maximal(self._pending)
        self._pending = []
        count, until = 0, self._clock() + seconds
        while count < len(self._border) and self._clock() < until:
            self._add(self._above(self._border[count]))
            count += 1
        self._border = self._border[count:]

    def _above(self, node: Node) -> list[int]:
        return [self._reaches[j, node[j] + 1] for j, high in enumerate(self._lattice.top) if node[j] < high]

    def _steps_to(self, node: Node) -> Iterator[tuple[int, int]]:
        return ((j, level) for j, level in enumerate(node) if level > self._lattice.bottom[j])

    def _add_up(self, costs: WholeCosts, enough: float) -> list[tuple[int, int]]:
        """Add up costs attribute by attribute: the cost so far and a level's cost imply the next sum.

        Costs of `enough` and more are merged, since they are never distinguished. A sum's variable is true if it is
        reached.
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
                        self._add([implied, *(-condition for condition in conditions if condition)])
            for less, more in pairwise(filter(None, then.values())):
                self._add([-more, less])
            paid = then
        return [(amount, variable or 0) for amount, variable in paid.items()]

    # Calls

    def _most(self, best: float) -> int:
        """The maximum cost in whole steps of a node that scores less than `best`; -1 without one."""
        low, high = -1, self._costs.most + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if beats(self._finish(self._costs.value(middle)), best) else (low, middle)
        return low

    def _cheaper_than(self, limit: float) -> list[int] | None:
        """The assumption that leaves only nodes cheaper than a limit; None if there cannot be any."""
        if limit == inf:
            return []
        most = self._most(limit)
        if most < self._sums[0][0]:
            return None
        return next(([-reached] for amount, reached in self._sums if amount > most), [])

    def _solve(self, assumptions: Sequence[int]) -> Node | None:
        while (possible := self._possible(assumptions)) is None:
            self._pulse()
        if not possible:
            return None
        model = self._solver.get_model()
        node = list(self._lattice.bottom)
        for (j, level), variable in self._reaches.items():
            if variable <= len(model) and model[variable - 1] > 0:  # a variable in no clause is not in the model
                node[j] = max(node[j], level)
        return tuple(node)

    def _possible(self, assumptions: Sequence[int]) -> bool | None:
        if not self._open:
            return False
        self._solver.conf_budget(_CONFLICTS)
        # Otherwise the solver would handle Ctrl-C itself, and leave in the middle of its work.
        possible: bool | None = self._solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
        return possible


@dataclass(frozen=True)
class WholeCosts:
    """Level costs as whole numbers: `steps[j][i]` for level i above the bottom, in units of 1 / `scale`.

    `value` of a sum of steps is its cost, or less if costs had to be rounded down.
    """

    steps: tuple[tuple[int, ...], ...]
    scale: int
    least: float

    def value(self, total: int) -> float:
        """The cost of a sum of steps, or a lower bound of it."""
        return total / self.scale + self.least

    @property
    def most(self) -> int:
        """The steps of the most general node."""
        return sum(step[-1] for step in self.steps)


def whole_costs(parts: LevelParts, lattice: Lattice) -> WholeCosts:
    """Level costs in whole steps: exact with a small common denominator, otherwise rounded down.

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
