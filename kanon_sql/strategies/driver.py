"""The driver of all strategies: tags, incumbent, proven lower bound, budget, trace, progress."""

from __future__ import annotations

import time
from bisect import insort
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import inf
from typing import TYPE_CHECKING, Literal, Protocol

from kanon_sql import interrupts
from kanon_sql.errors import InfeasibleError, KanonError
from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.loss import METRICS, Costs, Figures, Metric, Part, beats, unsuppressed
from kanon_sql.strategies.attribute_groups import AttributeGroups
from kanon_sql.strategies.proof import Proof
from kanon_sql.strategies.space import Score, Search, Space, Test, TuplesInMemory
from kanon_sql.strategies.tags import DenseTags, SparseTags, Tags, tags_for

if TYPE_CHECKING:
    from kanon_sql.strategies.clauses import Clauses

BATCH = 16  # nodes tested in one statement; measured: larger batches gain little
_FIRST_BATCH = 8  # in the first statement, with a time limit
_BOUND_EVERY = 0.5  # minimum seconds between two readings of the lower bound in a watched search
_BOUND_SHARE = 0.05  # maximum share of a watched search's time for these readings
_BOUND_SECONDS = 0.1  # for one such reading
_LAST_BOUND_SECONDS = 2.0  # for the last, if time permits
_LATE, _LEAST_LATE = 0.05, 1.0  # allowed delay after the limit: this share of it, or seconds, whichever is larger
_MARGIN = 0.3  # the last seconds of that delay, in which nothing new is begun
_TOLD_EVERY = 5.0  # maximum seconds between two reports of the progress, if something looks at the time
_LAST_RESORT = 16  # nodes scored at the end, if none was scored before

FoundBy = Literal["strategy", "lowered", "reduction", "last resort", "kept"]


class Evaluator(Protocol):
    """Answers about nodes, from the database or, in tests, from a table of verdicts."""

    @property
    def queries(self) -> int:
        """The number of statements so far."""

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        """The rows that every node would suppress."""

    def verdicts(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The rows that every node would suppress, and the rows that every node below it would suppress, too."""

    def losses(self, node: Node, costs: Costs) -> Figures:
        """The rows at risk of a node, and every attribute's mean loss with its rows at risk suppressed."""

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        """The same of several nodes."""

    def cells(self, node: Node, costs: Costs, needs: Collection[Part]) -> Figures:
        """The figures about a node's cells that a metric needs, with its rows at risk suppressed."""

    def classes(self, node: Node) -> Figures:
        """The classes that a node would release."""


@dataclass(frozen=True)
class Progress:
    """The progress of a search; `score` is infinite until a node is found, `bound` the lower bound last proven."""

    seconds: float
    nodes_checked: int
    lattice_size: int
    node: Node | None
    score: float
    bound: float = 0.0
    seconds_left: float | None = None
    stagnant: float = 0.0
    """Seconds since the last better node was found."""

    @property
    def gap(self) -> float:
        """How much better than the best so far another node could still be."""
        return max(0.0, self.score - self.bound)


@dataclass(frozen=True)
class TraceEntry:
    """One line of the trace: a request about a node, and its answer."""

    seconds: float
    asked: str
    node: Node
    rows_at_risk: int | None
    score: float | None


@dataclass(frozen=True)
class SearchOutcome:
    """The end of a search: the node to release, and the proofs.

    `lower_bound`: no node of the lattice scores below it. `gap` is the score less the bound.
    `ended`: complete, time limit, patience, or interrupted. `found_by`: how the node was found. `strategy`: by the
    search; `lowered`: by the driver, below the search's node, with an equal score. If the search found none, the driver
    took the best node tested on the way: `reduction`, a probe of the lattice's reduction; `last resort`, any other,
    possibly the top. `kept`: without a search, and without a proof. `nodes_tagged`: concluded from nodes above or
    below, None if the lattice is too large to count them. `minimal`: the anonymous nodes that were judged, without
    those above another. `tags`: the status of every node.
    """

    node: Node
    score: float
    lower_bound: float
    nodes_checked: int
    queries: int
    seconds: float
    ended: str
    found_by: FoundBy = "strategy"
    trace: tuple[TraceEntry, ...] = field(repr=False, default=())
    nodes_tagged: int | None = None
    minimal: tuple[Node, ...] = field(repr=False, default=())
    tags: Tags | None = field(repr=False, compare=False, default=None)

    @property
    def proven_optimal(self) -> bool:
        """Whether no node of the lattice scores better."""
        return self.found_by != "kept" and not beats(self.lower_bound, self.score)

    @property
    def rows_at_risk(self) -> int | None:
        """The rows that the released node leaves at risk; None if no query counted them."""
        counted = (entry.rows_at_risk for entry in self.trace if entry.node == self.node)
        return next((rows for rows in counted if rows is not None), None)

    def tested_at_risk(self, may_suppress: int) -> list[Node]:
        """The tested nodes that left more rows at risk than this."""
        return [
            entry.node for entry in self.trace if entry.rows_at_risk is not None and entry.rows_at_risk > may_suppress
        ]

    @property
    def gap(self) -> float:
        """How much better than the released node another could still be."""
        return 0.0 if self.proven_optimal else self.score - self.lower_bound


class _BudgetSpent(Exception):  # noqa: N818 - not an error, an end
    """Why the search ends early: interrupted, time limit or patience."""


@dataclass
class Driver:
    """Runs a strategy over a lattice; see `run`."""

    lattice: Lattice
    costs: Costs
    metric: Metric
    judge: Evaluator
    may_suppress: int
    monotone_model: bool = True
    """Whether every verdict implies others about nodes above or below; if not, see `prunes` and `mergeable`."""
    time_limit: float | None = None
    on_progress: Callable[[Progress], None] | None = None
    seed: int = 0
    evaluations: int | None = None
    clock: Callable[[], float] = time.monotonic
    k_alone: bool = True
    """Whether any class of k rows is safe, so that one class of all rows need not be tested."""
    prunes: bool = False
    """Whether the judge's `verdicts` imply others about the nodes below, see `PrivacyModels.prunes`."""
    counted: Callable[[Sequence[int]], TuplesInMemory | None] = lambda _: None
    """The tuples of some attributes in memory, if the judge can load them."""
    mergeable: bool = False
    """Whether merged safe classes are safe, so that all nodes above one without rows at risk are anonymous."""
    patience: float | None = None
    """Seconds without a better node after which the search ends."""

    def __post_init__(self) -> None:
        self._tags = tags_for(self.lattice)
        self._prospects = self._tags if self.monotone_model else tags_for(self.lattice)
        if not self.monotone_model and not self.prunes:
            self._prospects.tag(self.lattice.bottom, True)
        self.costs = replace(self.costs, may_suppress=self.may_suppress)
        self._metric_monotone = self.metric.monotone(self.may_suppress)
        self._bound = self.metric.bound_of(self.costs)
        self._clauses: Clauses | None = None
        self._proof: Proof | None = None
        self._groups: AttributeGroups | None = None
        if isinstance(self._tags, DenseTags) and isinstance(self._prospects, DenseTags):
            self._proof = Proof(self.lattice, self._tags, self._prospects, self.metric, self.costs)
        self._started = self.clock()
        self._interrupted = False
        self._at_risk: dict[Node, int | None] = {}
        self._cheapest: list[tuple[float, Node]] = []  # of the nodes tested and anonymous, for the last resort
        self._probes: set[Node] = set()  # tested for the lattice's reduction
        self._scores: dict[Node, float] = {}
        self._best: tuple[float, Node] = (inf, self.lattice.top)
        self._found_by: FoundBy = "strategy"
        self._until = inf  # the time by which the outcome is due, once the search has ended
        self._pace = self._pace_of_scores = 0.0  # seconds per node in the last statement
        self._class_size = inf  # of the best node, if requested
        self._better_at = self._told_at = 0.0  # the time of the last better node, and of the last progress
        self._trace: list[TraceEntry] = []
        self._proven = (-inf, 0.0)  # the time of the next reading of the lower bound, and the last bound

    def exclude(self, nodes: Iterable[Node]) -> None:
        """Mark nodes that are known to leave too many rows at risk, so that `run` does not test them."""
        for node in nodes:
            self._tags.tag(node, False, alone=not self.monotone_model)

    def run(self, strategy: Callable[[Space], Search]) -> SearchOutcome:
        """Answer a strategy's requests until it ends or time is up; InfeasibleError if no node is anonymous."""
        space = Space(
            self.lattice,
            self._tags,
            self.costs,
            self.metric,
            self.may_suppress,
            best=lambda: self._best[0],
            best_node=lambda: self._best[1],
            score_of=self._scores.get,
            at_risk=self._at_risk.get,
            monotone_model=self.monotone_model,
            prospects=self._prospects,
            prunes=self.monotone_model or self.prunes,
            seed=self.seed,
            evaluations=self.evaluations,
            candidate=self._candidate,
            counted=self.counted,
            listing=self._proof,
        )
        if self.monotone_model:
            self._groups = AttributeGroups(space)
            space.group = self._groups.merged
        search = strategy(space)  # which refuses unsupported models before the first query
        ended = "complete"
        with interrupts.caught(self._interrupt):
            try:
                self._require_top()
                self._converse(search)
                self._prefer_lower()
            except _BudgetSpent as spent:
                ended = str(spent)
            except KanonError:  # of an interrupted statement
                if not self._interrupted or self._best[0] == inf:
                    raise
                ended = "interrupted"
            self._until = self._end()
            if self._best[0] == inf:
                self._score_last_resort()
        score, node = self._best
        return SearchOutcome(
            node,
            score,
            min(score, self._last_bound()),
            len(self._at_risk),
            self.judge.queries,
            self._seconds(),
            ended,
            self._found_by,
            tuple(self._trace),
            self._tags.settled() - len(self._at_risk) if isinstance(self._tags, DenseTags) else None,
            tuple(self._tags.minimal()),
            self._tags,
        )

    def keep(self, node: Node) -> SearchOutcome:
        """Judge and score a single node, to release it without a search; InfeasibleError if it is not anonymous."""
        self._judge([node])
        if not self._tags.status(node):
            raise InfeasibleError(self._not_kept(node))
        figures = self._figures(node)
        score = self._score_of(figures)
        self._note("score", node, figures.rows_at_risk, score)
        bound, trace = min(score, self._bound(self.lattice.bottom)), tuple(self._trace)
        return SearchOutcome(node, score, bound, 1, self.judge.queries, self._seconds(), "complete", "kept", trace)

    def _not_kept(self, node: Node) -> str:
        levels = ", ".join(f"{name} {level}" for name, level in zip(self.costs.columns, node, strict=True))
        return (
            f"the node {levels} no longer meets the privacy model: it leaves {self._at_risk[node]:,} of "
            f"{self.costs.rows:,} rows at risk, and {self.may_suppress:,} may be suppressed; search again with "
            f'`node_else="search"`, raise `suppression_limit`, or {self._ask_less}'
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
        self._spend()  # even if tags answer, since a strategy can request many tagged nodes
        if isinstance(request, Test):
            if request.reduction:
                self._probes.update(request.nodes)
            self._test(request.nodes)
            answers = [bool(self._tags.status(node)) for node in request.nodes]
            if self._groups:
                self._groups.tag(request.nodes, answers)
            return answers
        self._score_all(self._cheapest_first(request.nodes), request.by_class_size, request.all_of_them)
        return []

    def _test(self, nodes: Sequence[Node]) -> None:
        unknown = [node for node in dict.fromkeys(nodes) if self._tags.status(node) is None]
        start = 0
        while start < len(unknown):
            self._spend()
            batch = unknown[start : start + self._at_once(self._pace)]
            left = [node for node in batch if self._tags.status(node) is None] if start else batch
            if left:  # earlier batches can have settled some of these
                self._judge(left)
            start += len(batch)

    def _at_once(self, pace: float) -> int:
        """Nodes per statement: fewer if it would end after the limit."""
        if self.time_limit is None:
            return BATCH
        if pace == 0:  # not measured yet
            return _FIRST_BATCH
        return max(1, min(BATCH, int((self.time_limit - self._seconds()) / pace)))

    def _judge(self, nodes: Sequence[Node]) -> None:
        started = self._seconds()
        counted = self._counted(nodes)
        self._pace = (self._seconds() - started) / len(nodes)
        for node, (at_risk, unavoidable) in zip(nodes, counted, strict=True):
            anonymous = at_risk <= self.may_suppress
            self._tag(node, at_risk, unavoidable)
            self._note("test", node, at_risk, None)
            if anonymous:
                insort(self._cheapest, (self._bound(node), node))
                del self._cheapest[_LAST_RESORT:]
            elif self._clauses:
                self._rule_out(self._clauses, node)

    def _counted(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The rows at risk of every node, and the rows that every node below it leaves at risk, too."""
        if self.prunes and not self.monotone_model:
            return self.judge.verdicts(nodes)
        return [(at_risk, 0) for at_risk in self.judge.rows_at_risk(nodes)]

    def _tag(self, node: Node, at_risk: int, unavoidable: int) -> None:
        if self.monotone_model:
            self._tags.tag(node, at_risk <= self.may_suppress)
            return
        promises = unavoidable <= self.may_suppress
        conclusive = not promises or (at_risk == 0 and self.mergeable)
        self._tags.tag(node, at_risk <= self.may_suppress, alone=not conclusive)
        self._prospects.tag(node, promises)

    def _score_all(self, nodes: Sequence[Node], by_class_size: bool, all_of_them: bool) -> None:
        waiting: list[Node] = []
        for node in dict.fromkeys(nodes):
            bound, best = self._bound(node), self._best[0]
            if not all_of_them and (beats(best, bound) or not (by_class_size or beats(bound, best))):
                break
            if node not in self._scores or (self._groups and self._groups.lack(node)):
                self._spend()
                waiting.append(node)
            if len(waiting) >= self._scored_at_once(all_of_them):
                self._score_several(waiting, by_class_size)
                waiting = []
        self._score_several(waiting, by_class_size)

    def _scored_at_once(self, all_of_them: bool) -> int:
        """Nodes per scoring statement: few at first, since the first scores can rule out others."""
        only_losses = self.metric.question == "losses" and not self.metric.needs_cells
        if not only_losses or self.may_suppress == 0:
            return 1
        return min(self._at_once(self._pace_of_scores), BATCH if all_of_them else 1 + len(self._scores) // 4)

    def _score_several(self, nodes: Sequence[Node], by_class_size: bool) -> None:
        started = self._seconds()
        if len(nodes) == 1:
            self._score(nodes[0], by_class_size)
        elif nodes:
            for figures in self.judge.several_losses(nodes, self.costs):
                self._note_score(figures, by_class_size)
        self._pace_of_scores = (self._seconds() - started) / len(nodes) if nodes else self._pace_of_scores

    def _cheapest_first(self, nodes: Iterable[Node]) -> list[Node]:
        return sorted(filter(self._is_anonymous, nodes), key=lambda node: (self._bound(node), node))

    def _is_anonymous(self, node: Node) -> bool:
        self._spend()  # slow in a large lattice, and strategies request thousands of nodes at once
        return bool(self._tags.status(node))

    def _prefer_lower(self) -> None:
        """Among nodes with equal scores release the lowest, so that no label is starred without a gain."""
        moved = self._best[0] < inf
        while moved:
            moved = False
            for lower in self.lattice.predecessors(self._best[1]):
                if beats(self._bound(lower), self._bound(self._best[1])):
                    continue  # its level costs are lower, so a strategy has considered it if it could win
                self._test([lower])
                if self._tags.status(lower):
                    score = self._score_of(self._figures(lower))
                    if not beats(self._best[0], score):
                        self._best, self._found_by, moved = (score, lower), "lowered", True
                        break

    def _score(self, node: Node, by_class_size: bool = False) -> None:
        self._note_score(self._figures(node), by_class_size)

    def _note_score(self, figures: Figures, by_class_size: bool) -> None:
        node, score = figures.node, self._score_of(figures)
        assert node is not None
        self._scores[node] = score
        self._keep(node, score, by_class_size)
        if self._proof:
            self._proof.scored(node, above_too=self._none_above_is_better(node))
        if self._groups:
            self._groups.score(node, figures)
        if self._clauses:
            self._close(self._clauses, node)
        if figures.rows_at_risk is not None:
            self._note("score", node, figures.rows_at_risk, score)

    def _keep(self, node: Node, score: float, by_class_size: bool) -> None:
        """Keep a node if it is the best so far; among equal ones the one with smaller classes, if requested."""
        if beats(self._best[0], score):
            return
        size = METRICS["average_class_size"].score(self.costs, self.judge.classes(node)) if by_class_size else inf
        if beats(score, self._best[0]) or (size, node) < (self._class_size, self._best[1]):
            self._best, self._class_size, self._better_at = (score, node), size, self._seconds()

    def _score_of(self, figures: Figures) -> float:
        score = self.metric.score(self.costs, figures)
        if self.metric.name not in METRICS:
            self.metric.check(self.costs, figures, score)
        return score

    def _figures(self, node: Node) -> Figures:
        if self.metric.question == "classes":
            classes = self.judge.classes(node)
            if not self.metric.needs_losses and not self.metric.needs_cells:
                return classes
            lost = self.judge.cells(node, self.costs, self.metric.needs)
            return replace(
                classes, losses=lost.losses, starred=lost.starred, bits=lost.bits, generalized=lost.generalized
            )
        if self.metric.question == "losses" and self.may_suppress > 0:
            if self.metric.needs_cells:
                return self.judge.cells(node, self.costs, self.metric.needs)
            return self.judge.losses(node, self.costs)
        return unsuppressed(self.costs, node)

    def _require_top(self) -> None:
        """Raise InfeasibleError if the top is not anonymous; it always is if it only shows `*`."""
        if self.k_alone and self.lattice.top == self.costs.heights and self.costs.rows >= self.costs.k:
            return
        self._judge([self.lattice.top])
        if self._prospects.status(self.lattice.top) is False:
            raise InfeasibleError(
                "no node of the lattice meets the privacy model: even the most general one leaves more than "
                f"{self.may_suppress:,} rows at risk; raise suppression_limit or max_level, or {self._ask_less}"
            )

    @property
    def _ask_less(self) -> str:
        return "lower k" if self.k_alone else "relax the model"

    def _score_last_resort(self) -> None:
        """Score the best anonymous nodes found, or the top, since no node that keeps a row was scored in time."""
        for _, node in list(self._cheapest):
            if self._best[0] == inf or self._left() > 0:
                self._score(node)
        if self._best[0] == inf:
            if self._tags.status(self.lattice.top) is None:
                self._judge([self.lattice.top])
            if self._tags.status(self.lattice.top):
                self._score(self.lattice.top)
        self._found_by = "reduction" if self._best[1] in self._probes else "last resort"
        if self._best[0] == inf:
            raise InfeasibleError(
                "no anonymous node that keeps any row was found; raise the time limit, suppression_limit or "
                f"max_level, or {self._ask_less}"
            )

    def _bound_of_groups(self) -> float:
        return self._groups.lower_bound() if self._groups else self._bound(self.lattice.bottom)

    def _candidate(self, limit: float) -> Node | None:
        self._spend()
        return self._solver().candidate(limit, self._best[0])

    def _last_bound(self) -> float:
        """The lower bound as far as it can be computed in the remaining time."""
        if self._proof:
            return self._proof.lower_bound()
        if self._left() <= 0:
            return self._bound_of_groups()
        return max(self._bound_of_groups(), self._solver(self._left).lower_bound(self._left() / 3))

    def _solver(self, left: Callable[[], float] = lambda: inf) -> Clauses:
        """The solver, with everything learned so far when it is created, or as much as time permits."""
        if self._clauses is None:
            from kanon_sql.strategies.clauses import Clauses  # loads its solver, so only on demand

            border = self._prospects.at_risk.nodes if isinstance(self._prospects, SparseTags) else []
            clauses = self._clauses = Clauses(self.lattice, self.metric, self.costs, self._spend, self.clock, border)
            has_border = bool(border) and self.monotone_model
            at_risk = (node for node in self._at_risk if not has_border and self._tags.status(node) is False)
            for add, nodes in ((self._rule_out, at_risk), (self._close, self._scores)):
                for node in takewhile(lambda _: left() > 0, nodes):
                    add(clauses, node)
        return self._clauses

    def _rule_out(self, clauses: Clauses, node: Node) -> None:
        if self._prospects.status(node) is False:
            clauses.rule_out_below(node)
        else:
            clauses.rule_out(node)

    def _close(self, clauses: Clauses, node: Node) -> None:
        if self._none_above_is_better(node):
            clauses.rule_out_above(node)
        else:
            clauses.rule_out(node)

    def _none_above_is_better(self, node: Node) -> bool:
        """Whether no node above a scored one can score better, which is the case if none of them suppresses rows."""
        merges = self.mergeable and not self.monotone_model and self.metric.bounded
        return self._metric_monotone or (merges and self._at_risk.get(node) == 0)

    def _note(self, request: str, node: Node, at_risk: int | None, score: float | None) -> None:
        self._at_risk[node] = at_risk
        self._trace.append(TraceEntry(self._seconds(), request, node, at_risk, score))
        if self.on_progress:
            seconds = self._seconds()
            self._tell(self.on_progress, seconds, self._bound_for_show(seconds))

    def _tell(self, on_progress: Callable[[Progress], None], seconds: float, bound: float) -> None:
        self._told_at = seconds
        best, winner = self._best
        found = None if best == inf else winner
        left = None if self.time_limit is None else max(0.0, self.time_limit - seconds)
        stagnant = 0.0 if found is None else seconds - self._better_at
        checked, size = len(self._at_risk), self.lattice.size
        on_progress(Progress(seconds, checked, size, found, best, min(best, bound), left, stagnant))

    def _bound_for_show(self, seconds: float) -> float:
        """The lower bound, updated from time to time: on a large lattice it costs more than a test."""
        if self._until == inf and seconds > self._proven[0]:
            if self._proof:
                bound = self._proof.lower_bound()
            else:
                bound = max(self._solver().lower_bound(_BOUND_SECONDS), self._bound_of_groups())
            took = self._seconds() - seconds
            self._proven = (seconds + max(_BOUND_EVERY, took / _BOUND_SHARE), bound)
        return self._proven[1]

    def _spend(self) -> None:
        if self._interrupted:
            raise _BudgetSpent("interrupted")
        seconds = self._seconds()
        if self.time_limit is not None and seconds > self.time_limit:
            raise _BudgetSpent("time limit")
        if self.patience is not None and self._best[0] < inf and seconds - self._better_at > self.patience:
            raise _BudgetSpent("patience")
        if self.on_progress and seconds - self._told_at > _TOLD_EVERY:  # a solver can be busy without any request
            self._tell(self.on_progress, seconds, self._proven[1])

    def _end(self) -> float:
        """The time by which the outcome is due, with a margin for a statement or solver call that is running then."""
        latest = inf if self.time_limit is None else self.time_limit + max(_LATE * self.time_limit, _LEAST_LATE)
        return min(self._seconds() + _LAST_BOUND_SECONDS, latest - _MARGIN)

    def _left(self) -> float:
        return self._until - self._seconds()

    def _seconds(self) -> float:
        return self.clock() - self._started

    def _interrupt(self) -> None:
        self._interrupted = True
