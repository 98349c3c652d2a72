"""Refine: the cheapest cell for every tuple, then moves from class to class, by statements over all tuples at once.

A greedy cover of the tuples by cells of the generalization lattice, in ascending loss. ARX's iterated local recoding
(F. Prasser et al., Software: Practice and Experience 50(7), 2020) searches the whole lattice anew for the rows left
over; here every tuple walks its own generalizations, cheapest first, and one statement takes many of these steps.
Loss is that of V. Iyengar (KDD 2002), weighted, of what the classes show: their lowest common ancestors.
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
from kanon_sql.recode.values import Values, is_safe_as_a_whole

_CELLS = 1_500_000  # generalizations of tuples that a step is to look at
_MOST_PAIRS = 12_000_000  # where even the smallest step would look at more, the cover ends
_STEPS = 60  # the smallest step, as a part of the way from no loss to total loss
_PAIRS = 20_000_000  # tuples times classes compared in one statement, on so many levels of all attributes
_LEVELS = 20
_TARGETS = 8  # classes that a mover is tried in, the best first, where the model must be asked
_STATE = ["id", "n", "class"]
_MOVE = ["id", "own", "class", "target", "gain"]
_OUTSIDERS = 1000  # more than these do not look for a class each, where the model must be asked
_TRIES, _FEWER = 8, 3  # to make many moves that leave all classes safe; so often with fewer of a class, then without
_LEAST_GAIN = 500  # after a regrouping that gains less than such a part of the cost, moves come first
_LEAST_KEPT = 5000  # and one that gains less than this is not kept: all moves would have to be looked for again
_MOMENT = 0.5  # seconds for what must still be done when the time is up
_BATCHES = 4  # such statements before the moves that were found are made,
_FOUND = 32  # or as soon as they are such a part of the classes
_START_SECONDS, _START_PART = 1.0, 1 / 8  # for the node to start from: so long, or such a part of the time
_CUT_PART = 1 / 4  # of the time left, for what the cover leaves


def refine(task: Task) -> Local:
    """Release every row, in classes as cheap as can be found in the time, never at more loss than the start node's.

    Every tuple without a class chooses the cheapest cell, of any lattice node, that enough such tuples share; cells
    that enough of them choose become classes, in ascending order of loss. What is left when that would look at too
    many cells, or when the time runs short, is cut as Mondrian cuts it. Tuples still left, fewer than a class needs,
    join the class where they cost least. If the start node's classes, or all tuples as Mondrian cuts them, lose less in
    the form that is shown (suppressed rows counting 1), the moves begin with them: tuples move from class to class
    while a move lessens the loss and the class left still holds, or is empty. Before that, and after, the tuples that
    classes can do without are cut into classes of their own, where that lessens the loss. A run that ended `complete`
    has no such move of one tuple left.
    InfeasibleError if not even one class would hold.
    """
    with Scratch(task.engine, "refine") as tables, Scratch(task.engine, "cuts") as beside:
        return _Refinement(task, tables, beside).run()


@dataclass
class _Refinement:
    """One run. The state is a relation of the tuples that have a class: id, n, class. It is replaced, never changed."""

    task: Task
    tables: Scratch
    beside: Scratch
    rounds: int = 0
    moves: int = 0
    ended: str | None = None
    covered: bool = False  # whether the cover placed any tuple
    _cost: int = 0  # of the state before the last moves
    regrouped: int = 0
    _all_anew: bool = True  # whether all classes are to be looked at, not those that moves have changed alone
    _cut_ended: str = "complete"  # of the cut of all tuples
    _begun: bool = False  # whether all tuples are in safe classes, as they are from then on
    _found: bool = False  # whether moves have been found that are not made yet
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
        self.suppressed = round(sum(self.task.weights) * UNIT)  # also of a column that has one value alone
        self.keys = [attribute.coded.code_column(0) for attribute in self.attributes]
        self.cuts = Cuts(self.task, self.beside, ranges=any(level.ends for level in self.levels))
        self.climbs: list[GeneralizationSteps] = []
        self.words: list[LabelWord] = []
        exact = self.task.frequency_set.sensitive or not self.task.model.monotone
        self.values = Values(self.tables, self.task.model, self.task.frequency_set) if exact else None
        # Printed once for each of the few tables that a state is in.
        self._classes_query = cache(self._print_classes_query)
        self._rests_query = cache(self._print_rests_query)

    def run(self) -> Local:
        """Start, cover, improve; an interruption leaves what is being done, whatever that is."""
        task, start = self.task, self._find_start()
        cut = self._cut_all()
        with task.working(task.clock.part(None)):
            if self._prepare():
                self._begin(start, cut)
                self._improve()
        if not self._begun:
            return self._unimproved(start, cut)
        return Local(self._keep_assignment(), ended=self.ended or task.clock.ended, facts=self._facts)

    def _begin(self, start: Node, cut: Relation | None) -> None:
        """Put all tuples into safe classes."""
        self._cover()
        self.covered = self.tables.count(self.state) > 0
        if self.covered or not cut:
            self._cut_the_rest()
        else:
            self._take_cut()
        if self._take_in_outsiders():
            self._try_by_rows()
        else:
            self._place_the_rest()
        self._choose_beginning(start, bool(cut))
        self._begun = True

    def _unimproved(self, start: Node, cut: Relation | None) -> Local:
        """What there is where the time was up before anything could be compared: the node, or a cut that is better."""
        ended = "interrupted" if self.task.clock.ended == "interrupted" else "time limit"
        if cut and (self._cut_ended == "complete" or start == self.task.lattice.top):
            before = self.tables["cut_before"]
            made = self.task.results.create(
                "assignment", "frequency_sets/copy", columns=[*self.keys, "n", "class"], source=before
            )
            return Local(made, ended=ended)
        return replace(from_node(self.task.frequency_set, self.task.model, start), ended=ended)

    def _find_start(self) -> Node:
        """The node that a search finds in its short time; the top, which is safe, if it finds none."""
        limit = self.task.clock.limit
        with self.task.working(self.task.clock.last_part(_START_SECONDS)):
            return self.task.optimum(_START_SECONDS if limit is None else min(_START_SECONDS, limit * _START_PART))
        return self.task.lattice.top

    def _cut_all(self) -> Relation | None:
        """Keep all tuples as Mondrian cuts them in the time, in the form that is shown: the assignment, until the next.

        None if not even all of them are safe together.
        """
        frequency_set = self.task.frequency_set
        cut = self.cuts.cut(frequency_set.relation, frequency_set.rows, self.task.clock)
        if cut:
            self.tables.create("cut_before", "frequency_sets/copy", columns=[*self.keys, "n", "class"], source=cut)
        self._cut_ended = self.cuts.ended
        return cut

    def _take_cut(self) -> None:
        """Begin with all tuples as they were cut."""
        self._take(self.tables["cut_before"])

    def _take(self, assignment: Relation) -> None:
        """Begin with the classes of an assignment of all tuples."""
        made = self.tables
        none = made.create("nobody", "refine/none", tuples=made["tuples"])
        every = made.create("open", "refine/open", tuples=made["tuples"], placed=none, keys=self.keys)
        holes: dict[str, Hole] = {"state": none, "open": every, "assignment": assignment}
        made.create(self.spare, "refine/cut", **holes, keys=self.keys, above=0)
        self.state, self.spare = self.spare, self.state

    def _choose_beginning(self, start: Node, cut: bool) -> None:
        """Begin the moves with what the cover made, or with the start node's classes or the cut, if those lose less."""
        begun, covered, clock = self._node_cost(start), self._state_cost(), self.task.clock
        self._cost = covered
        unplaced = bool(self.values and self._find_open())
        if unplaced or covered > begun or not clock.spent:
            self._try(partial(self._take_node, start), anyway=unplaced)
        if self.covered and cut:
            self._facts["cut_loss"] = self._loss(self._try(self._take_cut))
        if not self.tables.count(self.state):
            raise InfeasibleError("no class meets the privacy model, whatever is generalized; lower k")
        names = [attribute.column.name for attribute in self.attributes]
        self._facts |= {"start": dict(zip(names, start, strict=True)), "start_loss": self._loss(begun)}
        self._facts |= {"cover_loss": self._loss(covered), "steps": self.rounds}

    def _try(self, take: Callable[[], None], anyway: bool = False) -> int:
        """Begin with what another start makes instead, if that loses less or `anyway`; what all rows cost there."""
        begun = self.tables.create("begun", "frequency_sets/copy", columns=_STATE, source=self.state)
        take()
        cost = self._state_cost()
        if anyway or (cost < self._cost and self._is_safe(self.state)):
            self._cost = cost
        else:
            self.tables.create(self.state, "frequency_sets/copy", columns=_STATE, source=begun)
        return cost

    # What it costs

    def _node_cost(self, node: Node) -> float:
        """What a node costs all rows, its suppressed ones at total loss."""
        losses = self.task.judge.losses(node, self.task.costs).losses or ()
        return sum(w * loss for w, loss in zip(self.task.weights, losses, strict=True)) * self._rows * UNIT

    def _state_cost(self) -> int:
        """What the state costs all rows, those without a class at total loss."""
        started = time.monotonic()
        self._make_classes()
        self._describing = time.monotonic() - started
        return self._classes_cost()

    def _classes_cost(self) -> int:
        """What the classes that have been described cost all rows, those without one at total loss."""
        ((rows, cost),) = self.tables.rows("refine/cost", classes=self.tables["classes"])
        return int(cost) + (self._rows - int(rows)) * self.suppressed

    def _loss(self, cost: float) -> float:
        """A cost of all rows as the mean loss of a cell."""
        return cost / (self.suppressed * self._rows)

    @property
    def _rows(self) -> int:
        return self.task.frequency_set.rows

    # The cover

    def _prepare(self) -> bool:
        """Load what levels cost, and the tuples with all their codes and costs; whether there was time for it."""
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
        """Give the tuples their cheapest cells, up to a loss that rises from step to step."""
        clock, pace = self.task.clock.part(self._time_to_cut()), self._step_size()
        with self.task.working(clock):
            while not clock.spent and pace.reached < self.total and (tuples := self._find_open()):
                above, most = pace.reached, pace.advance(tuples)
                if most is None:
                    break
                self._step(above, most)

    def _time_to_cut(self) -> float | None:
        """When to leave off the cover: later where all tuples have been cut already, and few will be left."""
        clock = self.task.clock
        if clock.limit is None or self.cuts.ended != "complete":
            return time_to_cut(self.task)
        return clock.limit - (clock.limit - clock.seconds) * _CUT_PART

    def _cut_the_rest(self) -> None:
        """Cut the tuples that have no class yet, if all of them together are one."""
        if not self._find_open():
            return
        tuples = self.tables["open"]
        if assignment := self._cut(tuples, self.task.clock):
            self._advance("refine/cut", open=tuples, assignment=assignment, keys=self.keys, above=KEYS)
        self._tell()

    def _cut(self, tuples: Relation, clock: Clock) -> Relation | None:
        """Put tuples into classes as Mondrian cuts them; None if not even all of them are safe together."""
        ((rows,),) = self.tables.rows("frequency_sets/total_rows", counted=tuples)
        counted = self.values.of(tuples, *self.keys) if self.values else tuples
        return self.cuts.cut(counted, int(rows), clock)

    def _step_size(self) -> _StepSize:
        """The steps of the cover, by the mean cost of each attribute's levels."""
        pairs = zip(self.task.weights, self.task.costs.level_losses, strict=True)
        return _StepSize(self.total, [[weight * loss * UNIT for loss in losses] for weight, losses in pairs])

    def _find_open(self) -> int:
        """List the tuples that have no class, and say how many."""
        made = self.tables
        tuples = made.create("open", "refine/open", tuples=made["tuples"], placed=self.state, keys=self.keys)
        return made.count(tuples)

    def _step(self, above: int, most: int) -> None:
        """Make classes of the cells that cost more than `above`, at most `most`."""
        made = self.tables
        cells, one, other = made["cells"], made["one"], made["other"]
        of_all = _of_every_part(self.task.model).safe
        self.rounds += 1
        for half, indexes in zip((one, other), _halves([a.hierarchy.height for a in self.attributes]), strict=True):
            climbs = [self.climbs[j] for j in indexes]
            self.tables.create_as("cells", queries.refine_generalizations(made["open"], climbs, most, self._dialect))
            self._make_cells(half, of_all)
        made.create(cells, "refine/joined", one=one, other=other, above=above, most=most)
        while True:
            self._make_cells(one, self.task.model.safe)
            choice = made.create("choice", "refine/choice", cells=one)
            placed = self._keep_safe(choice)
            if not made.count(placed):
                break
            self._advance("refine/grown", placed=placed)
            made.create(cells, "refine/open_cells", cells=one, placed=placed)
        self._tell()

    def _make_cells(self, table: Relation, safe: Predicate) -> None:
        """Keep of the generalizations at hand those that enough rows share."""
        cells = self.tables["cells"]
        rows = self.values.of(cells, "key") if self.values else cells
        self.tables.create(table, "refine/cells", generalizations=cells, counted=rows, safe=safe)

    def _keep_safe(self, chosen: Relation, into: str | Relation = "placed") -> Relation:
        """Keep of the classes that tuples chose those that are safe."""
        rows = self.values.of(chosen, "class") if self.values else chosen
        return self.tables.create(into, "refine/safe", chosen=chosen, counted=rows, safe=self.task.model.safe)

    def _take_in_outsiders(self) -> bool:
        """Let the tuples without a class join the class where they cost least, whatever that is; whether all did."""
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
        """Where no class took the tuples in that are left, give up classes until all that have none are safe.

        Without time for that, give up all of them.
        """
        if not is_safe_as_a_whole(self.task):
            return
        given_up = False
        with self.task.working(self.task.clock.last_part(_MOMENT)):
            self._give_up_classes(self._find_room())
            given_up = True
        if not given_up:
            self.tables.create(self.state, "refine/none", tuples=self.tables["tuples"])
        self._cut_the_rest()

    def _find_room(self) -> Relation:
        """Put the classes in order: first those that could take most of the tuples in; or the largest."""
        if not self.values:
            return self.tables.create("room", "joining/ranked", members=self.state, safe=self.task.model.safe)
        self._find_open()
        self._make_classes()
        return self.values.room(self.tables["classes"], self.tables["open"])

    def _give_up_classes(self, room: Relation) -> None:
        """Give up as few classes, in this order, as leave the tuples without a class safe together."""
        low, high = 0, self.tables.count(room)
        while low + 1 < high:
            middle = (low + high) // 2
            self.tables.create(self.spare, "refine/kept", state=self.state, room=room, first=middle)
            low, high = (low, middle) if self._is_rest_safe(self.spare) else (middle, high)
        self._advance("refine/kept", room=room, first=high)

    def _try_by_rows(self) -> None:
        """Recode by rows alone and join what is unsafe: that is better where the model forbids little."""
        clock = self.task.clock
        if not self.values or not self._asks or clock.spent or not self.tables.count(self.state):
            return
        before = self._state_cost()
        part = clock.part(None if clock.limit is None else (clock.seconds + clock.limit) / 2)
        try:
            assignment = recode_by_rows(refine, replace(self.task, clock=part)).assignment
        except InfeasibleError:  # by joining; there are classes already
            return
        self._take(assignment)
        if self._state_cost() >= before:
            self.state, self.spare = self.spare, self.state

    def _is_rest_safe(self, state: Relation) -> bool:
        """Whether all tuples that have no class in a state are a safe class together."""
        made = self.tables
        rest = made.create("open", "refine/open", tuples=made["tuples"], placed=state, keys=self.keys)
        rows = self.values.of(rest) if self.values else rest
        ((safe,),) = made.rows("mondrian/whole", frequency_set=rows, safe=self.task.model.safe)
        return bool(safe)

    def _take_node(self, node: Node) -> None:
        """Begin again with the classes of a node that hold, and what classes its suppressed rows can make.

        Not that where its own classes cost more already than what there is.
        """
        made, levels = self.tables, self.task.frequency_set.level_columns(node)
        choice = made.create("choice", "refine/node", tuples=made["tuples"], columns=levels)
        self._keep_safe(choice, self.spare)
        self.state, self.spare = self.spare, self.state
        self._make_classes()
        ((_, cost),) = made.rows("refine/cost", classes=made["classes"])
        if int(cost) < self._cost or (self.values and self._find_open()):
            self._cut_the_rest()  # as many suppressed rows as a class needs are better off in one

    # The moves

    def _improve(self) -> None:
        """Regroup and move tuples while that lessens the loss, and there is time for that and what comes after it."""
        self._found, limit = False, self.task.clock.limit
        clock = self.task.clock.part(None if limit is None else limit - 3 * self._describing)
        with self.task.working(clock):
            while not clock.spent:
                regrouped = self.regrouped
                while not clock.spent and self._regroup(clock):
                    pass
                if not self._all_anew and self.regrouped == regrouped:
                    break
                self._all_anew = True
                while not clock.spent and self._improved():
                    pass
        if self._found:  # until the time was up
            with self.task.working(self.task.clock.last_part(_MOMENT)):
                self._choose_some()
                self._move()
        self.ended = self.ended or clock.ended

    def _regroup(self, clock: Clock) -> bool:
        """Cut the tuples that classes can do without into classes of their own; whether that gained enough to go on.

        A new class that costs as much as its tuples' leaving saves is given up. The state is replaced only if all of it
        then costs less, and is safe.
        """
        self._make_classes()
        self._found = False
        self._find_movers()
        made, before = self.tables, self._cost
        made.create("loose", "refine/loose", movers=made["movers"], classes=made["classes"], k=self.task.model.k)
        if not made.count(self._loosen()):
            return False
        ((above,),) = made.rows("refine/highest", state=self.state)
        assignment = self._cut(made["open"], clock)
        if assignment is None:
            return False
        holes: dict[str, Hole] = {"state": made["kept"], "open": made["open"], "assignment": assignment}
        regrouped = made.create("regrouped", "refine/cut", **holes, keys=self.keys, above=int(above) + 1)
        self._make_classes(state=regrouped)
        holes = {"regrouped": regrouped, "loose": made["loose"], "classes": made["classes"], "above": int(above)}
        made.create(self.spare, "refine/returned", **holes)
        self._make_classes(state=self.spare)
        cost = self._classes_cost()
        if (before - cost) * _LEAST_KEPT <= before or not self._is_safe(self.spare):
            return False
        self.state, self.spare, self._cost = self.spare, self.state, cost
        self.regrouped += 1
        self._tell()
        return (before - cost) * _LEAST_GAIN > before

    def _loosen(self) -> Relation:
        """Take the loose tuples out of the state, so far as all classes stay safe."""
        made, nobody = self.tables, self.tables.load("unsafe", {"class": "BIGINT"}, [[]])
        made.create("kept", "refine/loosened", state=self.state, loose=made["loose"], unsafe=nobody)
        if made.count(self._find_unsafe(made["kept"])):
            made.create("kept", "refine/loosened", state=self.state, loose=made["loose"], unsafe=made["unsafe"])
        return made.create("open", "refine/open", tuples=made["tuples"], placed=made["kept"], keys=self.keys)

    def _improved(self) -> bool:
        """Make the best moves that have no class in common; only classes that changed are looked at again."""
        self._make_classes(all_of_them=self._all_anew)
        self._all_anew = False
        before, self._cost = self._cost, self._classes_cost()
        if self._cost > before:  # which no sum of exact gains does
            self.state, self.spare, self._cost = self.spare, self.state, before
            return False
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
        """Choose as many of the best moves as can be made at once."""
        if self.values is None or not self._choose_many_moves():
            self._choose_moves()

    def _choose_many_moves(self) -> bool:
        """Let several tuples leave or join one class, as many as leave it safe; False if that is not soon found."""
        made = self.tables
        light = made.create("light", "refine/light", **{name: made[name] for name in ("best", "movers", "classes")})
        leaders = made.create("leaders", "refine/leaders", light=light)
        crowded = made.load("crowded", {"class": "BIGINT"}, [[]])
        made.create("moves", "refine/moves_apart", light=light, leaders=leaders, crowded=crowded)
        for number in range(_TRIES):
            moved = made.create("moved", "refine/moved", state=self.state, moves=made["moves"])
            if not made.count(self._find_unsafe(moved)):
                return made.count("moves") > 0
            if number < _FEWER:
                made.add(crowded, "refine/classes_of", state=made["unsafe"])
                made.create("moves", "refine/moves_apart", light=light, leaders=leaders, crowded=crowded)
            else:
                self._take_back()
        return False

    def _take_back(self) -> None:
        """Leave the moves out after which one of their classes is unsafe."""
        holes = {name: self.tables[name] for name in ("moves", "unsafe")}
        self.tables.create("sound", "refine/sound_moves", state=self.state, **holes)
        self.tables.rename("sound", "moves")

    def _find_unsafe(self, state: Relation) -> Relation:
        """List the classes of a state that are not safe."""
        rows = self.values.of(state, "class") if self.values else state
        return self.tables.create("unsafe", "joining/unsafe", members=rows, safe=self.task.model.safe)

    def _choose_moves(self) -> Relation:
        """The best moves that have no class in common."""
        return self.tables.create("moves", "refine/moves", best=self.tables["best"])

    def _find_movers(self) -> None:
        """List the tuples that their classes can do without, and what leaving saves."""
        classes = self.tables["classes"]
        rests = self.tables.create_as("rests", self._rests_query(self.state))
        rows = self.values.of_rests(rests) if self.values else rests
        holes = {"rests": rests, "counted": rows, "classes": classes, "state": self.state}
        self.tables.create("movers", "refine/movers", **holes, near=self._near, safe=self.task.model.safe)

    @property
    def _near(self) -> int:
        """What the cheapest attribute costs at its top; nothing where too few others would tell the targets apart."""
        if 2 * sum(climb.spanned for climb in self.climbs) > len(self.climbs):
            return 0
        return min((top for top in self.tops if top), default=0)

    def _find_best(self) -> tuple[int, int]:
        """Find the movers' best moves: of all that save little, and of those that save more until enough is seen.

        How many save more, and how many of them were looked at. The first of these are those of classes that changed,
        which are compared with all classes, the others only with those that changed.
        """
        ((far, anew),) = self.tables.rows("refine/far", movers=self.tables["movers"], near=self._near)
        self._add_best(near=self._near)
        self._found = True
        classes, changed = (max(1, self.tables.count(table)) for table in ("classes", "dirty"))
        seen, batches = 0, 0
        while seen < far:
            found = self.tables.count("best")
            if found * _FOUND >= classes or (found and batches >= _BATCHES):
                break
            one_by_one = seen >= anew
            last = far if one_by_one else anew
            first, seen = seen, min(last, seen + max(1, self._pairs // (changed if one_by_one else classes)))
            self._add_best(places=(first + 1, seen + 1), changed=one_by_one)
            batches += 1
        return far, seen

    @property
    def _pairs(self) -> int:
        """How many pairs a statement compares: fewer where many levels have no bits to tell most of them by.

        Several moves of each mover take more room.
        """
        levels = sum(level.attribute.hierarchy.height for level in self.levels if not level.words)
        pairs = _PAIRS * _LEVELS // max(_LEVELS, levels)
        return pairs // 4 if self._asks else pairs

    @property
    def _asks(self) -> bool:
        """Whether a safe class that takes a tuple in may become unsafe, so that the model is asked of every move."""
        return not self.task.model.monotone

    def _add_best(self, near: int | None = None, places: tuple[int, int] | None = None, changed: bool = False) -> None:
        """Find the best move of each of some movers: those that save little, or those in some places.

        `changed`: to classes that changed.
        """
        made, put = self.tables, self.tables.add_as if places else self.tables.create_as
        args = made["movers"], made["tuples"], made["classes"], self.climbs, self.words, self._dialect
        which = near, places, changed
        if self.values and self._asks:
            wanted = made.create_as("wanted", queries.refine_gains(*args, *which, _TARGETS))
            safe = self.values.safe_moves(wanted)
            put("best", made.text("frequency_sets/copy", columns=_MOVE, source=safe))
        else:
            put("best", queries.refine_gains(*args, *which))

    def _move(self) -> bool:
        """Make the chosen moves, but those after which a class would no longer be safe; whether there are any."""
        self.tables.create(self.spare, "refine/moved", state=self.state, moves=self.tables["moves"])
        if not self._is_safe(self.spare):
            self._find_unsafe(self.spare)
            self._take_back()
            self.tables.create(self.spare, "refine/moved", state=self.state, moves=self.tables["moves"])
            if not self.tables.count("moves") or not self._is_safe(self.spare):
                return False
        self.moves += self.tables.count("moves")
        self.state, self.spare = self.spare, self.state
        return True

    def _is_safe(self, state: Relation) -> bool:
        """Whether every class of a state holds."""
        return self.tables.count(self._keep_safe(state)) == self.tables.count(state)

    def _make_classes(self, all_of_them: bool = True, state: Relation | None = None) -> None:
        """Describe the classes of the state: all are to be looked at, or those that have just changed."""
        state = state or self.state
        if all_of_them:
            self.tables.create("dirty", "refine/classes_of", state=state)
        self.tables.create_as("classes", self._classes_query(state))
        if self.values:
            self.values.count_classes(state)

    # The end

    def _keep_assignment(self) -> Relation:
        """Write the assignment, checked once more, and what the run says of itself."""
        if not self._is_safe(self.state):
            raise InfeasibleError("a class does not meet the privacy model; choose another strategy")
        self._facts |= {
            "regrouped": self.regrouped,
            "moves": self.moves,
            "loss": self._loss(self._state_cost()),
        }
        holes = {"tuples": self.tables["tuples"], "state": self.state}
        return self.task.results.create("assignment", "refine/assignment", **holes, keys=self.keys)

    def _tell(self) -> None:
        classes, rows = self._size(self.state)
        self.task.clock.tell(self.rounds + self.moves, classes, self._rows - rows)

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
        """Go on to the state that a query makes of this one."""
        self.tables.create(self.spare, query, state=self.state, **holes)
        self.state, self.spare = self.spare, self.state

    def _size(self, state: Relation) -> tuple[int, int]:
        ((classes, rows),) = self.tables.rows("refine/size", state=state)
        return int(classes), int(rows)


@dataclass
class _StepSize:
    """How far each step of the cover goes: so far that it looks at about so many generalizations of tuples.

    How many nodes cost so much is counted by the attributes' mean costs per level, in bins.
    """

    total: int
    costs: list[list[float]]
    reached: int = -1

    def advance(self, tuples: int) -> int | None:
        """The cost up to which the next step goes; None where even the least step would look at too many cells."""
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
        """How many nodes cost at most 0, 1, 2, … steps."""
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
    """The models that no part of a class meets if the class does not."""
    models = tuple(model for model in model.models if model.monotone == "always")
    return replace(model, models=models or (k_anonymity(1),))


def _halves(heights: Sequence[int]) -> tuple[list[int], list[int]]:
    """The attributes in two halves, whose lattices are about as large."""
    halves: tuple[list[int], list[int]] = [], []
    for j in sorted(range(len(heights)), key=lambda j: -heights[j]):
        min(halves, key=lambda half: prod(heights[i] + 1 for i in half)).append(j)
    return halves
