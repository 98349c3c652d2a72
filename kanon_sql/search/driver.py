"""The one driver of all strategies: tags, incumbent, proven lower bound, budget, trace, progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Protocol

from kanon_sql import interrupts
from kanon_sql.errors import InfeasibleError
from kanon_sql.lattice import Lattice, Node, minimal
from kanon_sql.loss import METRICS, Costs, Figures, Metric, unsuppressed_losses
from kanon_sql.search.proof import Proof
from kanon_sql.search.space import Score, Search, Space, Test, beats
from kanon_sql.search.tags import DenseTags, SparseTags, Tags, tags_for

if TYPE_CHECKING:
    from kanon_sql.search.clauses import Clauses

BATCH = 8  # nodes tested in one statement: measured, more gains little
_BOUND_EVERY = 0.5  # seconds between two readings of the lower bound while a search is watched
_BOUND_SECONDS = 0.1  # for one such reading
_LAST_BOUND_SECONDS = 2.0  # for the last, when the time may be up
_LAST_RESORT = 16  # nodes scored after the time is up, if nothing was scored before


class Judge(Protocol):
    """Whoever can look at the data: the database in earnest, a table of verdicts in a test."""

    queries: int

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        """The rows that each node would suppress."""

    def losses(self, node: Node, costs: Costs) -> Figures:
        """Rows at risk of a node, and each attribute's mean loss with those rows suppressed."""

    def classes(self, node: Node) -> Figures:
        """The classes that a node would release."""


@dataclass(frozen=True)
class Progress:
    """Where a search stands; `score` is infinite while there is no node, `bound` the lower bound last proven."""

    seconds: float
    nodes_checked: int
    lattice_size: int
    node: Node | None
    score: float
    bound: float = 0.0
    seconds_left: float | None = None

    @property
    def gap(self) -> float:
        """How much better than the best so far another node could still be."""
        return max(0.0, self.score - self.bound)


@dataclass(frozen=True)
class Step:
    """One line of the trace: what was asked of the data, and what came back."""

    seconds: float
    asked: str
    node: Node
    rows_at_risk: int | None
    score: float | None


@dataclass(frozen=True)
class Outcome:
    """The end of a search: the node to release, and what is proven of it.

    `lower_bound`: no node of the lattice scores below it. `gap` is the score less the bound.
    `ended`: complete, time limit, or interrupted. `nodes_tagged`: settled by what was judged above or below them,
    None where the lattice is too large to count them. `minimal`: the anonymous nodes judged, without those above
    another of them. `tags`: what is known of every node.
    """

    node: Node
    score: float
    lower_bound: float
    nodes_checked: int
    queries: int
    seconds: float
    ended: str
    trace: tuple[Step, ...] = field(repr=False, default=())
    nodes_tagged: int | None = None
    minimal: tuple[Node, ...] = field(repr=False, default=())
    tags: Tags | None = field(repr=False, compare=False, default=None)

    @property
    def proven_optimal(self) -> bool:
        """Whether no node of the lattice scores better."""
        return not beats(self.lower_bound, self.score)

    @property
    def gap(self) -> float:
        """How much better than the released node another could still be."""
        return 0.0 if self.proven_optimal else self.score - self.lower_bound


class _BudgetSpent(Exception):  # noqa: N818 - not an error, an end
    """The time is up, or the user pressed Ctrl-C."""


@dataclass
class Driver:
    """Runs a strategy over a lattice; see `run`."""

    lattice: Lattice
    costs: Costs
    metric: Metric
    judge: Judge
    may_suppress: int
    monotone_model: bool = True
    time_limit: float | None = None
    on_progress: Callable[[Progress], None] | None = None
    seed: int = 0
    evaluations: int | None = None

    def __post_init__(self) -> None:
        self._tags = tags_for(self.lattice, self.monotone_model)
        self._metric_monotone = self.metric.monotone(self.may_suppress)
        self._bound = self.metric.bound_of(self.costs)
        self._clauses: Clauses | None = None
        self._proof: Proof | None = None
        if isinstance(self._tags, DenseTags):
            self._proof = Proof(self.lattice, self._tags, self.metric, self.costs)
        self._started = time.monotonic()
        self._interrupted = False
        self._at_risk: dict[Node, int | None] = {}
        self._anonymous: list[Node] = []
        self._scored: set[Node] = set()
        self._best: tuple[float, Node] = (inf, self.lattice.top)
        self._class_size = inf  # of the best node, where it was asked for
        self._trace: list[Step] = []
        self._proven = (-inf, 0.0)  # when the lower bound was last read, and what it was

    def run(self, strategy: Callable[[Space], Search]) -> Outcome:
        """Let the strategy ask until it ends or the budget is spent; InfeasibleError if no node will do."""
        space = Space(
            self.lattice,
            self._tags,
            self.costs,
            self.metric,
            self.may_suppress,
            best=lambda: self._best[0],
            at_risk=self._at_risk.get,
            monotone_model=self.monotone_model,
            seed=self.seed,
            evaluations=self.evaluations,
            candidate=self._candidate,
            listing=self._proof,
        )
        search = strategy(space)  # refuses what it cannot do before the data is asked
        ended = "complete"
        with interrupts.caught(self._interrupt):
            try:
                self._require_top()
                self._converse(search)
                self._prefer_lower()
            except _BudgetSpent:
                ended = "interrupted" if self._interrupted else "time limit"
            if self._best[0] == inf:
                self._score_last_resort()
        score, node = self._best
        return Outcome(
            node,
            score,
            min(score, self._lower_bound(_LAST_BOUND_SECONDS)),
            len(self._at_risk),
            self.judge.queries,
            self._seconds(),
            ended,
            tuple(self._trace),
            self._tags.settled() - len(self._at_risk) if isinstance(self._tags, DenseTags) else None,
            tuple(minimal(self._anonymous)),
            self._tags,
        )

    def _converse(self, search: Search) -> None:
        try:
            request = next(search)
            while True:
                request = search.send(self._answer(request))
        except StopIteration:
            return
        finally:
            search.close()

    def _answer(self, request: Test | Score) -> list[bool]:
        self._spend()  # also where tags answer: a strategy may walk long among nodes that are settled
        if isinstance(request, Test):
            self._test(request.nodes)
            return [bool(self._tags.status(node)) for node in request.nodes]
        self._score_all(self._cheapest_first(request.nodes), request.by_class_size)
        return []

    def _test(self, nodes: Sequence[Node]) -> None:
        unknown = [node for node in dict.fromkeys(nodes) if self._tags.status(node) is None]
        for start in range(0, len(unknown), BATCH):
            self._spend()
            batch = unknown[start : start + BATCH]
            if start:  # those before may have settled some of these
                batch = [node for node in batch if self._tags.status(node) is None]
            if batch:
                self._judge(batch)

    def _judge(self, nodes: Sequence[Node]) -> None:
        for node, at_risk in zip(nodes, self.judge.rows_at_risk(nodes), strict=True):
            anonymous = at_risk <= self.may_suppress
            self._tags.tag(node, anonymous)
            self._note("test", node, at_risk, None)
            if anonymous:
                self._anonymous.append(node)
            elif self._clauses:
                self._rule_out(self._clauses, node)

    def _score_all(self, nodes: Sequence[Node], by_class_size: bool) -> None:
        for node in nodes:
            bound, best = self._bound(node), self._best[0]
            if beats(best, bound) or not (by_class_size or beats(bound, best)):
                return
            if node not in self._scored:
                self._spend()
                self._score(node, by_class_size)

    def _cheapest_first(self, nodes: Iterable[Node]) -> list[Node]:
        anonymous = (node for node in nodes if self._tags.status(node))
        return sorted(anonymous, key=lambda node: (self._bound(node), node))

    def _prefer_lower(self) -> None:
        """Of nodes that score the same, release the lowest: no label is starred where that gains nothing."""
        moved = self._best[0] < inf
        while moved:
            moved = False
            for lower in self.lattice.predecessors(self._best[1]):
                if beats(self._bound(lower), self._bound(self._best[1])):
                    continue  # its level costs are less, so a strategy that could win by it has looked at it
                self._test([lower])
                if self._tags.status(lower):
                    score = self.metric.score(self.costs, self._figures(lower))
                    if not beats(self._best[0], score):
                        self._best, moved = (score, lower), True
                        break

    def _score(self, node: Node, by_class_size: bool = False) -> None:
        figures = self._figures(node)
        score = self.metric.score(self.costs, figures)
        self._scored.add(node)
        self._keep(node, score, by_class_size)
        if self._proof:
            self._proof.scored(node, above_too=self._metric_monotone)
        if self._clauses:
            self._close(self._clauses, node)
        if figures.rows_at_risk is not None:
            self._note("score", node, figures.rows_at_risk, score)

    def _keep(self, node: Node, score: float, by_class_size: bool) -> None:
        """Keep a node if it is the best so far; of equal ones that with the smaller classes, where asked for."""
        if beats(self._best[0], score):
            return
        size = METRICS["average_class_size"].score(self.costs, self.judge.classes(node)) if by_class_size else inf
        if beats(score, self._best[0]) or (size, node) < (self._class_size, self._best[1]):
            self._best, self._class_size = (score, node), size

    def _figures(self, node: Node) -> Figures:
        if self.metric.needs == "classes":
            return self.judge.classes(node)
        if self.metric.needs == "losses" and self.may_suppress > 0:
            return self.judge.losses(node, self.costs)
        return Figures(node, None, unsuppressed_losses(self.costs, node))

    def _require_top(self) -> None:
        """Nothing can hold if the most general node does not; where it is `*` all over, it holds."""
        if self.lattice.top == self.costs.heights and self.costs.rows >= self.costs.k:
            return
        self._judge([self.lattice.top])
        if self.monotone_model and self._tags.status(self.lattice.top) is False:
            raise InfeasibleError(
                "no node of the lattice meets the privacy model: even the most general one leaves more than "
                f"{self.may_suppress:,} rows at risk; raise suppression_limit or max_level, or lower k"
            )

    def _score_last_resort(self) -> None:
        """No node that keeps a row was scored in time: take the best known to be anonymous, else the top."""
        for node in self._cheapest_first(self._anonymous)[:_LAST_RESORT]:
            self._score(node)
        if self._best[0] == inf:
            if self._tags.status(self.lattice.top) is None:
                self._judge([self.lattice.top])
            if self._tags.status(self.lattice.top):
                self._score(self.lattice.top)
        if self._best[0] == inf:
            raise InfeasibleError(
                "no node was found that is anonymous and keeps a row; raise the time limit, suppression_limit or "
                "max_level, or lower k"
            )

    def _lower_bound(self, seconds: float = inf) -> float:
        return self._proof.lower_bound() if self._proof else self._solver().lower_bound(seconds)

    def _candidate(self, limit: float) -> Node | None:
        self._spend()
        return self._solver().candidate(limit, self._best[0])

    def _solver(self) -> Clauses:
        """The clauses, told of all that is known when they are first asked for."""
        if self._clauses is None:
            from kanon_sql.search.clauses import Clauses  # its solver is loaded by who needs it

            self._clauses = Clauses(self.lattice, self.metric, self.costs, self._spend)
            for node in self._known_at_risk():
                self._rule_out(self._clauses, node)
            for node in self._scored:
                self._close(self._clauses, node)
        return self._clauses

    def _known_at_risk(self) -> Iterable[Node]:
        if self.monotone_model and isinstance(self._tags, SparseTags):
            return self._tags.at_risk.nodes
        return [node for node in self._at_risk if self._tags.status(node) is False]

    def _rule_out(self, clauses: Clauses, node: Node) -> None:
        if self.monotone_model:
            clauses.rule_out_below(node)
        else:
            clauses.rule_out(node)

    def _close(self, clauses: Clauses, node: Node) -> None:
        if self._metric_monotone:
            clauses.rule_out_above(node)
        else:
            clauses.rule_out(node)

    def _note(self, asked: str, node: Node, at_risk: int | None, score: float | None) -> None:
        self._at_risk[node] = at_risk
        self._trace.append(Step(self._seconds(), asked, node, at_risk, score))
        if self.on_progress:
            best, winner = self._best
            known = None if best == inf else winner
            seconds = self._seconds()
            left = None if self.time_limit is None else max(0.0, self.time_limit - seconds)
            bound = min(best, self._bound_for_show(seconds))
            self.on_progress(Progress(seconds, len(self._at_risk), self.lattice.size, known, best, bound, left))

    def _bound_for_show(self, seconds: float) -> float:
        """The lower bound, read now and then: on a large lattice that costs more than a test."""
        if seconds - self._proven[0] > _BOUND_EVERY:
            self._proven = (seconds, self._lower_bound(_BOUND_SECONDS))
        return self._proven[1]

    def _spend(self) -> None:
        late = self.time_limit is not None and self._seconds() > self.time_limit
        if self._interrupted or late:
            raise _BudgetSpent

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _interrupt(self) -> None:
        self._interrupted = True
