"""Refine: a greedy cover of the tuples by cheap cells, then moves between classes, in statements over all tuples.

The cover takes cells of the generalization lattice in ascending loss. ARX's iterated local recoding (F. Prasser et al.,
Software: Practice and Experience 50(7), 2020) searches the whole lattice again for the rows that are left. Here, every
tuple goes through its own generalizations, cheapest first, and one statement does many of these steps.
The loss is the weighted loss metric of V. Iyengar (KDD 2002), of the labels shown: lowest common ancestors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import accumulate
from math import prod
from typing import Any

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError
from kanon_sql.generalization.lattice import Node
from kanon_sql.privacy import Predicate, PrivacyModels, k_anonymity
from kanon_sql.queries import GeneralizationSteps, Hole, LabelWord, Relation
from kanon_sql.recode.joining import recode_by_rows
from kanon_sql.recode.level_costs import KEYS, UNIT, LevelCosts, give_bits
from kanon_sql.recode.mondrian import Cuts, time_to_cut
from kanon_sql.recode.node import from_node
from kanon_sql.recode.task import Clock, Local, Task
from kanon_sql.recode.value_tests import ValueTests, is_safe_as_a_whole

_CELLS = 1_500_000  # generalizations of tuples per step of the cover, about
_MOST_PAIRS = 12_000_000  # maximum for the smallest step; the cover ends when it would be exceeded
_STEPS = 60  # the smallest step is this fraction of total loss
_PAIRS = 20_000_000  # pairs of tuple and class per statement, with `_LEVELS` levels in all attributes together
_LEVELS = 20
_TARGETS = 8  # candidate classes per mover, the best first, where the model must be evaluated
_STATE = ["id", "n", "class"]
_MOVE = ["id", "own", "class", "target", "gain"]
_OUTSIDERS = 1000  # maximum number of tuples that look for a class where the model must be evaluated
_TRIES, _FEWER = 8, 3  # attempts at a safe set of moves; the first of them take fewer moves per class, then drop moves
_LEAST_GAIN = 500  # regrouping is repeated only if it saves more than 1/500 of the cost
_LEAST_KEPT = 5000  # and discarded if it saves less than 1/5000: all moves would have to be found again
_MOMENT = 0.5  # seconds to finish after the time limit
_CELL_SECONDS = 1e-7  # an estimate: to number the tuples and describe their values, per cell
_BATCHES = 4  # statements before the moves found so far are applied,
_FOUND = 32  # which happens earlier if they are 1/32 of the classes
_START_SECONDS, _START_PART = 1.0, 1 / 8  # maximum time for the start node, absolute and as a fraction
_CUT_PART = 1 / 4  # fraction of the remaining time for what follows the cut of all tuples, or the cover


def refine(task: Task) -> Local:
    """Release every row, in the cheapest classes found in time, at no more loss than the start node's.

    1. Cover: every tuple without a class chooses the cheapest cell, of any lattice node, that enough such tuples share.
       A cell that enough of them choose becomes a class, in ascending order of loss.
    2. When a step would look at too many cells, or time runs short, the remaining tuples are cut as by Mondrian. If
       they are too few for a class, they join the classes where they cost least.
    3. If the start node's classes, or all tuples as Mondrian cuts them, lose less (a suppressed row counts 1), the next
       steps begin with that.
    4. Regroup: tuples that their classes do not need are cut into new classes, if that reduces the loss.
    5. Move: tuples move between classes while that reduces the loss and the class they leave stays safe, or is empty.
       Then regroup again.

    A run that ended `complete` has no move of a single tuple left that would reduce the loss.
    InfeasibleError if all rows together are not safe.
    """
    with Scratch(task.engine, "refine") as tables, Scratch(task.engine, "cuts") as cut_tables:
        return _Refinement(task, tables, cut_tables).run()


@dataclass
class _Refinement:
    """One run. Its state is a relation of the tuples with a class (id, n, class), which is replaced, never changed."""

    task: Task
    tables: Scratch
    cut_tables: Scratch
    rounds: int = 0
    moves: int = 0
    ended: str | None = None
    covered: bool = False  # whether the cover placed any tuple
    _cost: int = 0  # of the state before the last moves
    _moved: bool = False  # whether there were moves since
    regrouped: int = 0
    _all_changed: bool = True  # whether all classes are examined, or only the classes changed by the last moves
    _cut_ended: str = "complete"  # of the cut of all tuples
    _begun: bool = False  # whether all tuples are in safe classes, which stays true from then on
    _found: bool = False  # whether moves have been found and not applied yet
    _describing: float = 0.0
    _facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state, self.spare = self.tables["state_a"], self.tables["state_b"]
        self.attributes = self.task.frequency_set.attributes
        spans = tuple(self.task.spans()) or (None,) * len(self.attributes)
        self.levels = [
            LevelCosts(j, len(self.attributes), attribute, weight, span)
            for j, (attribute, weight, span) in enumerate(zip(self.attributes, self.task.weights, spans, strict=True))
        ]
        self.tops = [level.top for level in self.levels]
        self.total = sum(self.tops)
        self.suppressed = round(sum(self.task.weights) * UNIT)  # also counts columns with a single value
        self.keys = [attribute.coded.code_column(0) for attribute in self.attributes]
        self.cuts = Cuts(self.task, self.cut_tables, ranges=any(level.ends for level in self.levels))
        self.climbs: list[GeneralizationSteps] = []
        self.words: list[LabelWord] = []
        exact = self.task.frequency_set.sensitive or not self.task.model.monotone
        self.values = ValueTests(self.tables, self.task.model, self.task.frequency_set) if exact else None
        # Printed once for every table that a state is stored in.
        self._classes_query = cache(self._print_classes_query)
        self._rests_query = cache(self._print_rests_query)

    def run(self) -> Local:
        """Start, cover, improve. An interruption ends the current step and keeps its state."""
        task, start = self.task, self._find_start()
        cut = self._cut_all()
        if self._can_prepare:
            with task.working(task.clock.overtime()):
                if self._prepare():
                    self._begin(start, cut)
                    self._improve()
        if not self._begun:
            return self._unimproved(start, cut)
        return Local(self._keep_assignment(), ended=self.ended or task.clock.ended, facts=self._facts)

    @property
    def _can_prepare(self) -> bool:
        """Whether the time left is enough to begin, so that a large table does not exceed its limit for nothing."""
        until, cells = self.task.clock.overtime().limit, self.task.frequency_set.tuples * len(self.attributes)
        return until is None or self.task.clock.seconds + cells * _CELL_SECONDS < until

    def _begin(self, start: Node, cut: Relation | None) -> None:
        """Put all tuples into safe classes."""
        self._cover()
        self.covered = self.tables.count(self.state) > 0
        if self.covered or not cut:
            self._cut_the_rest()
        else:
            self._take(self.tables["cut_before"])
        if self._take_in_outsiders():
            self._try_by_rows()
        else:
            self._place_the_rest()
        self._choose_beginning(start, bool(cut))
        self._begun = True
        self.task.clock.better()

    def _unimproved(self, start: Node, cut: Relation | None) -> Local:
        """The result if time ran out before the first state: the start node, or a better cut."""
        ended = "interrupted" if self.task.clock.ended == "interrupted" else "time limit"
        if cut and (self._cut_ended == "complete" or start == self.task.lattice.top):
            assignment = self.task.results.create(
                "assignment",
                "frequency_sets/copy",
                columns=[*self.keys, "n", "class"],
                source=self.tables["cut_before"],
            )
            return Local(assignment, ended=ended)
        return replace(from_node(self.task.frequency_set, self.task.model, start), ended=ended)

    def _find_start(self) -> Node:
        """The node that a short search finds; otherwise the top, which is safe."""
        limit = self.task.clock.limit
        with self.task.working(self.task.clock.last_part(_START_SECONDS)):
            return self.task.optimum(_START_SECONDS if limit is None else min(_START_SECONDS, limit * _START_PART))
        return self.task.lattice.top

    def _cut_all(self) -> Relation | None:
        """Cut all tuples as Mondrian does in the time, and copy the assignment, which the next cut replaces.

        Leaves time to compare the cut with the start node. None if all tuples together are not safe.
        """
        frequency_set, clock = self.task.frequency_set, self.task.clock
        until = None if clock.limit is None else clock.limit - (clock.limit - clock.seconds) * _CUT_PART
        cut = self.cuts.cut(frequency_set.relation, frequency_set.rows, clock.part(until))
        if cut:
            self.tables.create("cut_before", "frequency_sets/copy", columns=[*self.keys, "n", "class"], source=cut)
        self._cut_ended = self.cuts.ended
        return cut

    def _take(self, assignment: Relation) -> None:
        """Replace the state by the classes of an assignment of all tuples."""
        tables = self.tables
        none = tables.create("none", "refine/none", tuples=tables["tuples"])
        every = tables.create("open", "refine/open", tuples=tables["tuples"], placed=none, keys=self.keys)
        holes: dict[str, Hole] = {"state": none, "open": every, "assignment": assignment}
        tables.create(self.spare, "refine/cut", **holes, keys=self.keys, above=0)
        self.state, self.spare = self.spare, self.state

    def _choose_beginning(self, start: Node, cut: bool) -> None:
        """Start the moves from the cover, the start node's classes or the cut of all tuples, whichever loses least."""
        begun, covered, clock = self._node_cost(start), self._state_cost(), self.task.clock
        self._cost = covered
        unplaced = bool(self.values and self._find_open())
        if unplaced or covered > begun or not clock.spent:
            self._try(partial(self._take_node, start), anyway=unplaced)
        if self.covered and cut:
            self._facts["cut_loss"] = self._loss(self._try(partial(self._take, self.tables["cut_before"])))
        if not self.tables.count(self.state):
            raise InfeasibleError("no class meets the privacy model at any level of generalization; lower k")
        names = [attribute.column.name for attribute in self.attributes]
        self._facts |= {"start": dict(zip(names, start, strict=True)), "start_loss": self._loss(begun)}
        self._facts |= {"cover_loss": self._loss(covered), "steps": self.rounds}

    def _try(self, take: Callable[[], None], anyway: bool = False) -> int:
        """Replace the state by that of `take` if it costs less, or `anyway`; return what `take` costs."""
        begun = self.tables.create("begun", "frequency_sets/copy", columns=_STATE, source=self.state)
        take()
        cost = self._state_cost()
        if anyway or (cost < self._cost and self._is_safe(self.state)):
            self._cost = cost
        else:
            self.tables.create(self.state, "frequency_sets/copy", columns=_STATE, source=begun)
        return cost

    # Costs

    def _node_cost(self, node: Node) -> float:
        """The cost of all rows at a node, with total loss for suppressed rows."""
        losses = self.task.judge.losses(node, self.task.costs).losses or ()
        return sum(w * loss for w, loss in zip(self.task.weights, losses, strict=True)) * self._rows * UNIT

    def _state_cost(self) -> int:
        """The cost of all rows in the state, with total loss for rows without a class."""
        started = time.monotonic()
        self._make_classes()
        self._describing = time.monotonic() - started
        return self._classes_cost()

    def _classes_cost(self) -> int:
        """The cost of all rows in the classes last described, with total loss for rows without a class."""
        ((rows, cost),) = self.tables.rows("refine/cost", classes=self.tables["classes"])
        return int(cost) + (self._rows - int(rows)) * self.suppressed

    def _loss(self, cost: float) -> float:
        """The mean loss of a cell, from the cost of all rows."""
        return cost / (self.suppressed * self._rows)

    @property
    def _rows(self) -> int:
        return self.task.frequency_set.rows

    # The cover

    def _prepare(self) -> bool:
        """Load the costs of levels, and the tuples with their codes and costs; False if there was no time for it."""
        with self.task.working(self.task.clock.last_part(_START_SECONDS)):
            for level in self.levels:
                level.find_values(self.task.frequency_set, self.tables)
            self.words = give_bits(self.levels)
            for level in self.levels:
                level.load(self.tables)
            self.climbs = [level.steps(self.tables) for level in self.levels]
            source = self.values.load() if self.values else self.task.frequency_set.relation
            tuples = self.tables.create_as(
                "tuples", queries.refine_tuples(source, self.climbs, self.words, self._dialect)
            )
            self.tables.create(self.state, "refine/none", tuples=tuples)
            return True
        return False

    def _cover(self) -> None:
        """Put the tuples into their cheapest cells, up to a loss that rises with every step."""
        clock = self.task.clock.part(self._time_to_cut())
        pairs = zip(self.task.weights, self.task.costs.level_losses, strict=True)
        # The step sizes of the cover, from the mean cost of every attribute's levels.
        pace = _StepSize(self.total, [[weight * loss * UNIT for loss in losses] for weight, losses in pairs])
        with self.task.working(clock):
            while not clock.spent and pace.reached < self.total and (tuples := self._find_open()):
                above, most = pace.reached, pace.advance(tuples)
                if most is None:
                    break
                self._step(above, most)

    def _time_to_cut(self) -> float | None:
        """When to end the cover: later if the cut of all tuples was complete, since few tuples will be left."""
        clock = self.task.clock
        if clock.limit is None or self.cuts.ended != "complete":
            return time_to_cut(self.task)
        return clock.limit - (clock.limit - clock.seconds) * _CUT_PART

    def _cut_the_rest(self) -> None:
        """Cut the tuples without a class, if they are safe together."""
        if not self._find_open():
            return
        tuples = self.tables["open"]
        if assignment := self._cut(tuples, self.task.clock):
            self._advance("refine/cut", open=tuples, assignment=assignment, keys=self.keys, above=KEYS)
        self._tell()

    def _cut(self, tuples: Relation, clock: Clock) -> Relation | None:
        """Put tuples into classes as Mondrian does; None if they are not safe together."""
        ((rows,),) = self.tables.rows("frequency_sets/total_rows", counted=tuples)
        counted = self.values.of(tuples, *self.keys) if self.values else tuples
        return self.cuts.cut(counted, int(rows), clock)

    def _find_open(self) -> int:
        """List the tuples without a class, and return their number."""
        tables = self.tables
        tuples = tables.create("open", "refine/open", tuples=tables["tuples"], placed=self.state, keys=self.keys)
        return tables.count(tuples)

    def _step(self, above: int, most: int) -> None:
        """Turn cells that cost more than `above` and at most `most` into classes.

        The generalizations of all attributes are joined from those of two halves, each kept only if enough rows share
        it: far fewer pairs than the generalizations of all attributes at once.
        """
        tables = self.tables
        cells, one, other = tables["cells"], tables["one"], tables["other"]
        safe = _of_every_part(self.task.model).safe
        self.rounds += 1
        for half, indexes in zip((one, other), _halves([a.hierarchy.height for a in self.attributes]), strict=True):
            climbs = [self.climbs[j] for j in indexes]
            self.tables.create_as("cells", queries.refine_generalizations(tables["open"], climbs, most, self._dialect))
            self._make_cells(half, safe)
        tables.create(cells, "refine/joined", one=one, other=other, above=above, most=most)
        while True:
            self._make_cells(one, self.task.model.safe)
            choice = tables.create("choice", "refine/choice", cells=one)
            placed = self._keep_safe(choice)
            if not tables.count(placed):
                break
            self._advance("refine/grown", placed=placed)
            tables.create(cells, "refine/open_cells", cells=one, placed=placed)
        self._tell()

    def _make_cells(self, table: Relation, safe: Predicate) -> None:
        """Keep the generalizations that enough rows share."""
        cells = self.tables["cells"]
        rows = self.values.of(cells, "key") if self.values else cells
        self.tables.create(table, "refine/cells", generalizations=cells, counted=rows, safe=safe)

    def _keep_safe(self, chosen: Relation, into: str | Relation = "placed") -> Relation:
        """Keep the safe ones among the classes that tuples chose."""
        rows = self.values.of(chosen, "class") if self.values else chosen
        return self.tables.create(into, "refine/safe", chosen=chosen, counted=rows, safe=self.task.model.safe)

    def _take_in_outsiders(self) -> bool:
        """Let the tuples without a class join the class where they cost least; whether all did."""
        clock = self.task.clock.last_part(_MOMENT)
        with self.task.working(clock):
            while (tuples := self._find_open()) and self.tables.count(self.state):
                if clock.spent or (self.values and (tuples > _OUTSIDERS or self.task.clock.spent)):
                    return False
                self._make_classes()
                most = (self._rows + 1) * self.total + 1
                self.tables.create("movers", "refine/outsiders", open=self.tables["open"], most=most)
                self._find_best()
                moves = self._choose_moves()
                if self.values and not self.tables.count(moves):
                    return False
                self._advance("refine/moved", moves=moves)
            return tuples == 0
        return False

    def _place_the_rest(self) -> None:
        """Dissolve classes until the tuples without one are safe together; without time for that, dissolve all.

        This is needed where no class could take in the remaining tuples.
        """
        if not is_safe_as_a_whole(self.task):
            return
        dissolved = False
        with self.task.working(self.task.clock.last_part(_MOMENT)):
            self._dissolve_classes(self._rank_classes())
            dissolved = True
        if not dissolved:
            self.tables.create(self.state, "refine/none", tuples=self.tables["tuples"])
        self._cut_the_rest()

    def _rank_classes(self) -> Relation:
        """Rank the classes by how many of the tuples without a class they could take in, or by size."""
        if not self.values:
            return self.tables.create("ranked", "joining/ranked", members=self.state, safe=self.task.model.safe)
        self._find_open()
        self._make_classes()
        return self.values.rank(self.tables["classes"], self.tables["open"])

    def _dissolve_classes(self, ranked: Relation) -> None:
        """Dissolve the fewest classes, in this order, that leave the tuples without a class safe together."""
        low, high = 0, self.tables.count(ranked)
        while low + 1 < high:
            middle = (low + high) // 2
            self.tables.create(self.spare, "refine/kept", state=self.state, ranked=ranked, first=middle)
            low, high = (low, middle) if self._is_rest_safe(self.spare) else (middle, high)
        self._advance("refine/kept", ranked=ranked, first=high)

    def _try_by_rows(self) -> None:
        """Recode by rows alone and join unsafe classes, which is better for a model that forbids little."""
        clock = self.task.clock
        if not self.values or self.task.model.monotone or clock.spent or not self.tables.count(self.state):
            return
        before = self._state_cost()
        part = clock.part(None if clock.limit is None else (clock.seconds + clock.limit) / 2)
        try:
            assignment = recode_by_rows(refine, replace(self.task, clock=part)).assignment
        except InfeasibleError:  # the state already has safe classes
            return
        self._take(assignment)
        if self._state_cost() >= before:
            self.state, self.spare = self.spare, self.state

    def _is_rest_safe(self, state: Relation) -> bool:
        """Whether all tuples without a class in a state are safe together."""
        tables = self.tables
        rest = tables.create("open", "refine/open", tuples=tables["tuples"], placed=state, keys=self.keys)
        rows = self.values.of(rest) if self.values else rest
        ((safe,),) = tables.rows("mondrian/whole", frequency_set=rows, safe=self.task.model.safe)
        return bool(safe)

    def _take_node(self, node: Node) -> None:
        """Replace the state by a node's safe classes, and classes of the rows that it suppresses.

        The second step is skipped if the node's classes alone already cost more than the current state.
        """
        tables, levels = self.tables, self.task.frequency_set.level_columns(node)
        choice = tables.create("choice", "refine/node", tuples=tables["tuples"], columns=levels)
        self._keep_safe(choice, self.spare)
        self.state, self.spare = self.spare, self.state
        self._make_classes()
        ((_, cost),) = tables.rows("refine/cost", classes=tables["classes"])
        if int(cost) < self._cost or (self.values and self._find_open()):
            self._cut_the_rest()  # enough suppressed rows for a class are better off in one

    # The moves

    def _improve(self) -> None:
        """Regroup and move tuples while that reduces the loss and leaves time for the steps after it."""
        self._found, limit = False, self.task.clock.limit
        clock = self.task.clock.part(None if limit is None else limit - 3 * self._describing)
        with self.task.working(clock):
            while not clock.spent:
                regrouped = self.regrouped
                while not clock.spent and self._regroup(clock):
                    pass
                if not self._all_changed and self.regrouped == regrouped:
                    break
                self._all_changed = True
                while not clock.spent and self._improve_by_moves():
                    pass
        if self._found:  # until the time was up
            with self.task.working(self.task.clock.last_part(_MOMENT)):
                self._choose_some()
                self._move()
        self.ended = self.ended or clock.ended

    def _regroup(self, clock: Clock) -> bool:
        """Cut the tuples that classes do not need into new classes; whether that saved enough to regroup again.

        A new class that costs as much as its tuples' leaving saves is dissolved. The state is replaced only if the new
        one costs less in total, and is safe.
        """
        self._make_classes()
        self._find_movers()
        tables, before = self.tables, self._cost
        tables.create("loose", "refine/loose", movers=tables["movers"], classes=tables["classes"], k=self.task.model.k)
        if not tables.count(self._loosen()):
            return False
        ((above,),) = tables.rows("refine/highest", state=self.state)
        assignment = self._cut(tables["open"], clock)
        if assignment is None:
            return False
        holes: dict[str, Hole] = {"state": tables["kept"], "open": tables["open"], "assignment": assignment}
        regrouped = tables.create("regrouped", "refine/cut", **holes, keys=self.keys, above=int(above) + 1)
        self._make_classes(state=regrouped)
        holes = {"regrouped": regrouped, "loose": tables["loose"], "classes": tables["classes"], "above": int(above)}
        tables.create(self.spare, "refine/returned", **holes)
        self._make_classes(state=self.spare)
        cost = self._classes_cost()
        if (before - cost) * _LEAST_KEPT <= before or not self._is_safe(self.spare):
            return False
        self.state, self.spare, self._cost, self._moved = self.spare, self.state, cost, False
        self.regrouped += 1
        self.task.clock.better()
        self._tell()
        return (before - cost) * _LEAST_GAIN > before

    def _loosen(self) -> Relation:
        """Take tuples that classes do not need out of the state, as far as all classes stay safe."""
        tables, none = self.tables, self.tables.load("unsafe", {"class": "BIGINT"}, [[]])
        tables.create("kept", "refine/loosened", state=self.state, loose=tables["loose"], unsafe=none)
        if tables.count(self._find_unsafe(tables["kept"])):
            tables.create("kept", "refine/loosened", state=self.state, loose=tables["loose"], unsafe=tables["unsafe"])
        return tables.create("open", "refine/open", tuples=tables["tuples"], placed=tables["kept"], keys=self.keys)

    def _improve_by_moves(self) -> bool:
        """Apply the best moves without common classes; only classes that changed since then are examined next time."""
        self._make_classes(all_of_them=self._all_changed)
        self._all_changed = False
        before, self._cost, self._moved = self._cost, self._classes_cost(), False
        if self._cost > before:  # impossible while gains are exact
            self.state, self.spare, self._cost = self.spare, self.state, before
            return False
        if self._cost < before:
            self.task.clock.better()
        self._tell()
        self._find_movers()
        far, seen = self._find_best()
        if not self.tables.count("best"):
            return False
        self._choose_some()
        holes = {name: self.tables[name] for name in ("best", "moves", "movers")}
        self.tables.create("dirty", "refine/dirty", **holes, seen=seen, far=far)
        moved = self._move()
        self._found = False
        return moved

    def _choose_some(self) -> None:
        """Choose as many of the best moves as possible at once."""
        if self.values is None or not self._choose_many_moves():
            self._choose_moves()

    def _choose_many_moves(self) -> bool:
        """Choose several moves per class, as many as leave it safe; False if none are found in a few attempts."""
        tables = self.tables
        light = tables.create("light", "refine/light", **{name: tables[name] for name in ("best", "movers", "classes")})
        leaders = tables.create("leaders", "refine/leaders", light=light)
        crowded = tables.load("crowded", {"class": "BIGINT"}, [[]])
        tables.create("moves", "refine/moves_apart", light=light, leaders=leaders, crowded=crowded)
        for number in range(_TRIES):
            moved = tables.create("moved", "refine/moved", state=self.state, moves=tables["moves"])
            if not tables.count(self._find_unsafe(moved)):
                return tables.count("moves") > 0
            if number < _FEWER:
                tables.add(crowded, "refine/classes_of", state=tables["unsafe"])
                tables.create("moves", "refine/moves_apart", light=light, leaders=leaders, crowded=crowded)
            else:
                self._drop_unsafe_moves()
        return False

    def _drop_unsafe_moves(self) -> None:
        """Drop the moves after which one of their classes is unsafe."""
        holes = {name: self.tables[name] for name in ("moves", "unsafe")}
        self.tables.create("sound", "refine/sound_moves", state=self.state, **holes)
        self.tables.rename("sound", "moves")

    def _find_unsafe(self, state: Relation) -> Relation:
        """List the unsafe classes of a state."""
        rows = self.values.of(state, "class") if self.values else state
        return self.tables.create("unsafe", "joining/unsafe", members=rows, safe=self.task.model.safe)

    def _choose_moves(self) -> Relation:
        """Choose the best moves that have no class in common."""
        return self.tables.create("moves", "refine/moves", best=self.tables["best"])

    def _find_movers(self) -> None:
        """List the tuples that their classes do not need, and the saving if they leave."""
        classes = self.tables["classes"]
        rests = self.tables.create_as("rests", self._rests_query(self.state))
        rows = self.values.of_rests(rests) if self.values else rests
        holes = {"rests": rests, "counted": rows, "classes": classes, "state": self.state}
        self.tables.create("movers", "refine/movers", **holes, near=self._near, safe=self.task.model.safe)

    @property
    def _near(self) -> int:
        """The cost of the cheapest attribute's top level; 0 where too few other attributes distinguish targets."""
        if 2 * sum(climb.spanned for climb in self.climbs) > len(self.climbs):
            return 0
        return min((top for top in self.tops if top), default=0)

    def _find_best(self) -> tuple[int, int]:
        """Find the best moves of all tuples that save little, and of the others until enough are found.

        Returns how many tuples save more than a little, and how many of these were examined. Those in changed classes
        come first and are compared with all classes; the others only with changed classes.
        """
        ((far, in_changed),) = self.tables.rows("refine/far", movers=self.tables["movers"], near=self._near)
        self._add_best(near=self._near)
        self._found = True
        classes, changed = (max(1, self.tables.count(table)) for table in ("classes", "dirty"))
        seen, batches = 0, 0
        while seen < far:
            found = self.tables.count("best")
            if found * _FOUND >= classes or (found and batches >= _BATCHES):
                break
            one_by_one = seen >= in_changed
            last = far if one_by_one else in_changed
            first, seen = seen, min(last, seen + max(1, self._pairs // (changed if one_by_one else classes)))
            self._add_best(places=(first + 1, seen + 1), changed=one_by_one)
            batches += 1
            self.task.clock.tell_again()
        return far, seen

    @property
    def _pairs(self) -> int:
        """Pairs per statement: fewer where many levels have no bits to rule out most pairs, or with several moves."""
        levels = sum(level.attribute.hierarchy.height for level in self.levels if not level.words)
        pairs = _PAIRS * _LEVELS // max(_LEVELS, levels)
        return pairs if self.task.model.monotone else pairs // 4

    def _add_best(self, near: int | None = None, places: tuple[int, int] | None = None, changed: bool = False) -> None:
        """Find the best move of every tuple that saves little, or of the tuples at some places.

        `changed`: only to classes that changed. A model that is not monotone must be evaluated for every move, since a
        safe class can become unsafe when it takes in a tuple.
        """
        tables, put = self.tables, self.tables.add_as if places else self.tables.create_as
        gains = partial(
            queries.refine_gains,
            tables["movers"],
            tables["tuples"],
            tables["classes"],
            self.climbs,
            self.words,
            self._dialect,
            near,
            places,
            changed,
        )
        if self.values and not self.task.model.monotone:
            safe = self.values.safe_moves(tables.create_as("wanted", gains(_TARGETS)))
            put("best", tables.text("frequency_sets/copy", columns=_MOVE, source=safe))
        else:
            put("best", gains())

    def _move(self) -> bool:
        """Apply the chosen moves, unless a class would be unsafe afterwards; whether any were applied."""
        self.tables.create(self.spare, "refine/moved", state=self.state, moves=self.tables["moves"])
        if not self._is_safe(self.spare):
            self._find_unsafe(self.spare)
            self._drop_unsafe_moves()
            self.tables.create(self.spare, "refine/moved", state=self.state, moves=self.tables["moves"])
            if not self.tables.count("moves") or not self._is_safe(self.spare):
                return False
        self.moves += self.tables.count("moves")
        self.state, self.spare, self._moved = self.spare, self.state, True
        return True

    def _is_safe(self, state: Relation) -> bool:
        """Whether every class of a state is safe."""
        return self.tables.count(self._keep_safe(state)) == self.tables.count(state)

    def _make_classes(self, all_of_them: bool = True, state: Relation | None = None) -> None:
        """Describe the classes of a state, and mark all of them as changed, or only the classes that moves changed."""
        state = state or self.state
        self._found = False  # the moves found so far are between the classes of before
        if all_of_them:
            self.tables.create("dirty", "refine/classes_of", state=state)
        self.tables.create_as("classes", self._classes_query(state))
        if self.values:
            self.values.count_classes(state)

    # The end

    def _keep_assignment(self) -> Relation:
        """Write the assignment after a final check, and the facts of the run."""
        if not self._is_safe(self.state):
            raise InfeasibleError("a class does not meet the privacy model; choose another strategy")
        cost = self._state_cost() if self._moved else self._cost
        self._facts |= {"regrouped": self.regrouped, "moves": self.moves, "loss": self._loss(cost)}
        holes = {"tuples": self.tables["tuples"], "state": self.state}
        return self.task.results.create("assignment", "refine/assignment", **holes, keys=self.keys)

    def _tell(self) -> None:
        ((classes, rows),) = self.tables.rows("refine/size", state=self.state)
        self.task.clock.tell(self.rounds + self.moves, int(classes), self._rows - int(rows))

    # Statements

    def _print_classes_query(self, state: Relation) -> str:
        tuples, dirty = self.tables["tuples"], self.tables["dirty"]
        return queries.refine_classes(state, tuples, dirty, self.climbs, self.words, self._dialect)

    def _print_rests_query(self, state: Relation) -> str:
        tuples, classes = self.tables["tuples"], self.tables["classes"]
        return queries.refine_rests(state, tuples, classes, self.climbs, self._dialect)

    @property
    def _dialect(self) -> str:
        return self.task.engine.dialect

    def _advance(self, query: str, **holes: Hole) -> None:
        """Replace the state by the result of a query on it."""
        self.tables.create(self.spare, query, state=self.state, **holes)
        self.state, self.spare = self.spare, self.state


@dataclass
class _StepSize:
    """The step sizes of the cover: steps that look at about `_CELLS` generalizations of tuples.

    The number of nodes up to a cost is estimated from the attributes' mean costs per level, in bins of a step.
    """

    total: int
    costs: list[list[float]]
    reached: int = -1

    def advance(self, tuples: int) -> int | None:
        """The cost up to which the next step goes; None if even the smallest step would look at too many cells."""
        place = 0 if self.reached < 0 else self.reached // self._step + 1
        if tuples * self._nodes[min(place, _STEPS)] > _MOST_PAIRS:
            return None
        while 0 < place < _STEPS and tuples * self._nodes[place + 1] <= _CELLS:
            place += 1
        self.reached = min(place * self._step, self.total)
        return self.reached

    @property
    def _step(self) -> int:
        return max(1, -(-self.total // _STEPS))

    @cached_property
    def _nodes(self) -> list[int]:
        """The number of nodes that cost at most 0, 1, 2, … steps."""
        counts = [1] + [0] * _STEPS
        for costs in self.costs:
            sums = [0] * (_STEPS + 1)
            for cost in costs:
                shift = round(cost / self._step)
                for place in range(_STEPS + 1 - shift):
                    sums[place + shift] += counts[place]
            counts = sums
        return list(accumulate(counts))


def _of_every_part(model: PrivacyModels) -> PrivacyModels:
    """The models that no part of a class satisfies unless the class does."""
    models = tuple(model for model in model.models if model.monotone == "always")
    return replace(model, models=models or (k_anonymity(1),))


def _halves(heights: Sequence[int]) -> tuple[list[int], list[int]]:
    """The attributes in two halves, with lattices of about equal size."""
    halves: tuple[list[int], list[int]] = [], []
    for j in sorted(range(len(heights)), key=lambda j: -heights[j]):
        min(halves, key=lambda half: prod(heights[i] + 1 for i in half)).append(j)
    return halves
