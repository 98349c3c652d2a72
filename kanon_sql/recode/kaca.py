"""KACA: k-anonymization by clustering in attribute hierarchies, many merges at a time.

Source: J. Li, R. C.-W. Wong, A. W.-C. Fu, J. Pei, Achieving k-anonymity by clustering in attribute hierarchical
structures, DaWaK 2006; Anonymization by local recoding in data with attribute hierarchical taxonomies, TKDE
20(9), 2008. There a class smaller than k, picked by chance, is merged with the class that is nearest to it
(which gives up only a stub if both together have 2 k rows or more), until no class is too small.

Here, in every round, all unsafe classes look for their nearest class. Of the merges they want, all that have no class
in common with a nearer one are done. With `batch=1` one class looks at a time: the paper's order.

Under a model that counts sensitive values (or people), every class that does not meet it must merge. It is tested
together with a few of its nearest classes, and merges with the nearest that makes it safe, or the nearest of all. There
are no stubs then: the values of the rows of a part are undetermined. If a merge can spoil a class, the nearest
often does not help. Then a second recoding by rows alone, with unsafe classes joined afterwards (`recode/joining.py`),
is computed, and the result with less distortion is returned.

When time is up, the tuples of the unsafe classes are cut as Mondrian does. If these are not safe together, their
classes are merged further, or joined to others. A table that is too large to begin with is cut as a whole.

More than 50,000 tuples are first cut into pieces by Mondrian, and classes merge within their piece. When no unsafe
class has another class in its piece, the pieces are united, and classes with equal labels become one. With a time limit
Mondrian first cuts every piece into safe classes. Then classes merge in one group of pieces after another; the pieces
that are not finished when time is up have Mondrian's classes.

The nearest class is exact. Classes are gathered into blocks by their most expensive columns. A lower bound of the
distance between blocks rules out most pairs of classes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, pairwise
from math import floor, log10
from typing import Any

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.judge import Judge
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.queries import Hole, Relation, Steps
from kanon_sql.recode.joining import join_unsafe, recode_by_rows
from kanon_sql.recode.mondrian import cut, time_to_cut
from kanon_sql.recode.task import Clock, Local, Task
from kanon_sql.recode.value_tests import ValueTests, no_safe_classes, refuse_if_unsafe_as_a_whole

_PIECE = "piece"
_WHOLE, _TUPLES = 50_000, 500  # maximum tuples without pieces; maximum tuples in a piece, about
_CLASSES = 10  # of k tuples in the smallest piece
_MOST_BLOCKS = 1000  # a million pairs of blocks take some hundredths of a second
_BLOCKS_IN_PIECE = 250  # with few classes per block, in many pieces
_ALL = 2**31 - 1
_SEEKERS = 4_000  # classes that look for the nearest at a time, with some million candidates
_EXACT = 2**24  # sums of whole numbers below it are exact in 4-byte floats
_NEARLY_ALL = 0.95  # of the time, for merges within groups of pieces
_CELL_SECONDS = 1e-6  # an estimate: to number the tuples, cut them into pieces and write the result, per cell
_MOMENT = 0.5  # seconds for the last merges
_NEAR = 4  # candidates tested for an unsafe class, if the model counts values


def kaca(task: Task, batch: int | None = None) -> Local:
    """Merge unsafe classes with their nearest until all are safe; no row is suppressed.

    `batch`: maximum number of unsafe classes that look for a partner in one round; None: all, 1: as published.
    `facts`: the rounds, and the rows that were cut when time was up. InfeasibleError if one class contains all rows
    and is still unsafe.
    """
    if task.frequency_set.tuples > _WHOLE and task.clock.limit is not None:
        cells = task.frequency_set.tuples * len(task.frequency_set.attributes)
        if cells * _CELL_SECONDS > (task.clock.limit - task.clock.seconds) / 2:
            return _cut_all(task)
    with Scratch(task.engine, "kaca") as tables:
        return _KacaRun(task, tables).merge_all(_ALL if batch is None else batch)


def _cut_all(task: Task) -> Local:
    """Mondrian's classes, for tables so large that the time would be over before the first merge."""
    frequency_set = task.frequency_set
    assignment = cut(task, frequency_set.relation, frequency_set.rows)
    if assignment is None:
        raise no_safe_classes(task)
    ended = task.clock.stopped or "time limit"
    return Local(assignment, ended=ended, facts={"rounds": 0, "cut_rows": frequency_set.rows})


class _KacaRun:
    """One run of KACA: its scratch tables, and their columns."""

    def __init__(self, task: Task, tables: Scratch) -> None:
        self.task, self.tables = task, tables
        self.attributes = task.frequency_set.attributes
        self.costs = _costs(task)
        self.codes = list(self.costs)
        self.values = [attribute.coded.code_column(0) for attribute in self.attributes]
        self.block = [_PIECE]
        self.pieces, self.grouped = 1, False
        self.parts = self.generalized = tables["tuples"]
        self.unsafe = task.frequency_set.tuples
        self.sensitive = ValueTests(tables, task.model, task.frequency_set) if task.frequency_set.sensitive else None

    def merge_all(self, most: int) -> Local:
        """Merge until all classes are safe or time is up; at most `most` look for a partner in one round."""
        clock, rounds, left = self.task.clock.part(time_to_cut(self.task)), 0, 0
        self.start()
        pieces = {"pieces": self.pieces} if self.pieces > 1 else {}
        if clock.limit is not None and self.pieces > 1 and most == _ALL and self._cut_pieces():
            if not self.sensitive:  # nothing else has to be cut in the end
                clock = self.task.clock.part(_NEARLY_ALL * (self.task.clock.limit or 0))
            rounds, left = self._merge_groups(clock)
        if not left:  # otherwise no time remains
            rounds = self._merge_rounds(clock, most, rounds)
        if self.pieces > 1:
            self._open_pieces()
        ended = clock.ended if self.unsafe else "complete"
        cut = self.cut_what_is_unsafe()
        if cut is None and not self.sensitive:  # fewer rows than a class needs, so it mostly takes few rounds
            rounds = self._merge_rounds(self.task.clock.last_part(_MOMENT), _ALL, rounds)
        local = self.finish(ended, {"rounds": rounds, "cut_rows": left + (cut or 0), **pieces})
        if not self.sensitive:
            return local if cut is not None or not self.unsafe else join_unsafe(local, self.task)
        joined = join_unsafe(local, self.task)  # also the final check of all classes
        return joined if self.task.model.monotone or self.task.clock.spent else self.choose(joined)

    def _merge_rounds(self, clock: Clock, most: int, rounds: int) -> int:
        """Merge while there is time; `rounds` and the result are the numbers of rounds before and after."""
        with self.task.working(clock):
            while self.describe(rounds) and not clock.spent:
                self.find_nearest(most)
                self.merge()
                rounds += 1
        return rounds

    def _cut_pieces(self) -> bool:
        """Let Mondrian cut the unsafe tuples of every piece into classes, for the pieces that get no time.

        If they are not safe together, it cuts all tuples of the piece. Returns False if these are not safe either.
        """
        tables, safe, above = self.tables, self.task.model.safe, self.task.frequency_set.tuples
        holes: dict[str, Hole] = {"tuples": tables["tuples"], "values": self.values, "above": above}
        unsafe = whole = tables.create("unsafe_tuples", "joining/unsafe", members=self._count(), safe=safe)
        for _ in range(2):
            pieces = self._make("in_pieces", unsafe=unsafe, whole=whole, **holes)
            counted = self._by_value(pieces, "class")
            whole = tables.create("unsafe_pieces", "joining/unsafe", members=counted, safe=safe)
            if not tables.count(whole):
                break
        else:
            return False
        ((rows,),) = tables.rows("frequency_sets/total_rows", counted=pieces)
        if rows and (assignment := cut(self.task, counted, int(rows), "class")):
            members = self._make("members", tuples=pieces, assignment=assignment, values=self.values)
            self._make("cut_members", tuples=tables["tuples"], members=members)
        return bool(rows)

    def _merge_groups(self, clock: Clock) -> tuple[int, int]:
        """Merge in one group of pieces after another; returns the rounds, and the cut rows of pieces that got no time.

        A group gets as many pieces as take half of the time left. Pieces that get no time keep the classes that they
        were cut into.
        """
        tables, block, after, most, size, cut_rows = self.tables, self.block, -1, 0, _SEEKERS, 0
        waiting = [(int(piece), int(n)) for piece, n in tables.rows("kaca/piece_sizes", tuples=tables["tuples"])]
        self._keep(tables.create, self._group(after, after), tables["group"])
        self.grouped = True
        while waiting and not clock.spent:
            started, sums = clock.seconds, list(accumulate(n for _, n in waiting))
            pieces = bisect_left(sums, min(size, sums[-1])) + 1
            last, self.unsafe, self.block = waiting[pieces - 1][0], sums[pieces - 1], list(block)
            self.parts = self.generalized = self._group(after, last)
            rounds = self._merge_rounds(clock, _ALL, 0)
            if self.unsafe:
                break
            self._keep(tables.add, self.parts, self.generalized)
            seconds, left = clock.seconds - started, (clock.limit or 0) - clock.seconds
            size = max(_SEEKERS, int(sums[pieces - 1] * left / 2 / max(seconds, 0.001)))
            waiting, after, most = waiting[pieces:], last, max(most, rounds)
        if waiting:
            rest, members = self._group(after, _ALL), tables["cut_members"]
            generalized = self._make("generalized", classes=rest, links=members, codes=self.codes)
            parts = self._make("in_classes", tuples=rest, members=members)
            self._keep(tables.add, parts, generalized)
            ((cut_rows,),) = tables.rows("kaca/cut_rows", parts=parts, above=self.task.frequency_set.tuples)
        self.parts, self.generalized, self.block = tables["kept_parts"], tables["kept_generalized"], block
        self.unsafe, self.grouped = sum(n for _, n in waiting), False
        return most, int(cut_rows)

    def _group(self, after: int, last: int) -> Relation:
        """The tuples of some pieces, which are the first classes."""
        columns = ["tuple", "class", *self.codes, *self.values, "n"]
        return self._make(
            "group", columns=list(dict.fromkeys(columns)), tuples=self.tables["tuples"], after=after, last=last
        )

    def _keep(self, put: Callable[..., object], parts: Relation, generalized: Relation) -> None:
        """Create or extend the tables of the classes of finished pieces."""
        put("kept_parts", "frequency_sets/copy", columns=["tuple", "class", "n"], source=parts)
        put("kept_generalized", "frequency_sets/copy", columns=["class", *self.codes], source=generalized)

    def start(self) -> None:
        """Number the tuples, which are the first classes, and choose the columns of the blocks."""
        if self.sensitive and self.task.model.monotone_for(suppresses=False):
            refuse_if_unsafe_as_a_whole(self.task)
        levels = [column for column in self.codes if column not in (_PIECE, *self.values)]
        source = self.sensitive.load() if self.sensitive else self.task.frequency_set.relation
        tuples = self._make("tuples", frequency_set=source, values=self.values, codes=levels)
        if self.task.frequency_set.tuples > _WHOLE:
            self._cut_into_pieces(self.tables.count(tuples), [*self.values, *levels])
        for column in sorted(self.codes[1:], key=self._mean_step, reverse=True):
            if self._count_blocks([*self.block, column]) <= self._most_blocks:
                self.block.append(column)

    def _cut_into_pieces(self, tuples: int, columns: Sequence[str]) -> None:
        """Let Mondrian cut the tuples into pieces, in at most half of the time."""
        tables, task, clock = self.tables, self.task, self.task.clock
        once = self._make("once", tuples=tables["tuples"], values=self.values)
        counted = replace(task.frequency_set, relation=once, rows=tuples, sensitive=(), population=None)
        model = all_of(k_anonymity(max(_TUPLES // 2, _CLASSES * task.model.k)))
        part = clock.part(None if clock.limit is None else clock.seconds + (clock.limit - clock.seconds) / 2)
        coarse = replace(task, frequency_set=counted, model=model, judge=Judge(counted, model), clock=part)
        if (assignment := cut(coarse, once, tuples)) is None:
            return
        members = self._make("members", tuples=tables["tuples"], assignment=assignment, values=self.values)
        tables.create("pieced", "kaca/pieces", tuples=tables["tuples"], members=members, columns=columns)
        tables.rename("pieced", "tuples")
        ((self.pieces,),) = tables.rows("frequency_sets/distinct_count", columns=[_PIECE], relation=tables["tuples"])

    def _open_pieces(self) -> None:
        """Unite the pieces; classes with equal labels become one, as for readers of the release."""
        tables, codes = self.tables, [code for code in self.codes if code != _PIECE]
        same = self._make("same", generalized=self.generalized, codes=codes)
        opened = tables.create(self._other_generalized(), "kaca/opened", generalized=self.generalized, codes=codes)
        parts = tables.create(self._other_parts(), "kaca/fused", parts=self.parts, same=same)
        self.generalized, self.parts, self.pieces = opened, parts, 1

    def describe(self, number: int) -> int:
        """Describe the current classes; returns how many are unsafe. InfeasibleError if one contains all rows."""
        while len(self.block) > 1 and self._count_blocks(self.block) > self._most_blocks:
            self.block.pop()
        self._make(
            "classes",
            generalized=self.generalized,
            counted=self._count(),
            codes=self.codes,
            by=self.block,
            own=Steps(self.costs, "g"),
            safe=self.task.model.safe,
            salt=f"{self.task.spec.seed}|{number}",
        )
        ((classes, unsafe, alone),) = self.tables.rows("kaca/unsafe", classes=self.tables["classes"])
        if int(unsafe) < self.unsafe:
            self.task.clock.better()
        self.unsafe = int(unsafe)
        self.task.clock.tell(number, int(classes), self.unsafe)
        if unsafe and classes == 1:
            raise no_safe_classes(self.task)
        if unsafe == alone and self.pieces > 1 and not self.grouped:
            self._open_pieces()
            return self.describe(number)
        return self.unsafe

    def find_nearest(self, most: int) -> None:
        """Find the nearest class of up to `most` unsafe classes, in batches."""
        costs = {column: self.costs[column] for column in self.block}
        self._make("blocks", classes=self.tables["classes"], columns=self.block, own=Steps(costs, "c"))
        self._add_nearest(self.tables.create_as, 0, min(most, _SEEKERS))
        for after in range(_SEEKERS, min(most, self.unsafe), _SEEKERS):
            self._add_nearest(self.tables.add_as, after, min(most - after, _SEEKERS))

    def _add_nearest(self, put: Callable[[str, str], object], after: int, most: int) -> None:
        """Find the nearest classes of a batch, or the first of the nearest few that makes the class safe."""
        tables, dialect = self.tables, self.task.engine.dialect
        distances = self._find_candidates(after, most)
        if not self.sensitive:
            put("nearest", queries.nearest("kaca/nearest", distances, dialect))
            return
        pairs = tables.create_as("pairs", queries.nearest("kaca/pairs", distances, dialect, most=_NEAR))
        columns = ["n", *self.sensitive.columns]
        members = tables.create(
            "members", "joining/pair_members", pairs=pairs, members=self.sensitive.of_classes, columns=columns
        )
        unsafe = tables.create("unsafe_pairs", "joining/unsafe", members=members, safe=self.task.model.safe)
        put("nearest", tables.text("kaca/chosen", pairs=pairs, unsafe=unsafe))

    def _find_candidates(self, after: int, most: int) -> dict[str, Hole]:
        """Find candidates for the nearest classes of a batch; returns the holes of a distance query."""
        costs, tables = {column: self.costs[column] for column in self.block}, self.tables
        rest = {column: cost for column, cost in self.costs.items() if column not in costs}
        seekers, pairs, bounds = tables["seekers"], tables["block_pairs"], tables["bounds"]
        both = Steps(costs, "a", "b")
        self._make("seekers", classes=tables["classes"], codes=self.codes, after=after, most=most)
        near = tables["classes"]
        if self.pieces > 1:  # otherwise every batch would read all classes
            near = self._make("near", classes=near, seekers=seekers, codes=self.codes)
        holes: dict[str, Hole] = {"classes": near, "between": Steps(rest, "a", "b")}
        self._make("block_pairs", blocks=tables["blocks"], seekers=seekers, columns=self.block, between=both)
        self._make("bounds", seekers=seekers, pairs=pairs, **holes)
        self._make("candidates", seekers=seekers, bounds=bounds, pairs=pairs)
        return {"seekers": seekers, "candidates": tables["candidates"], **holes}

    def merge(self) -> None:
        """Do the merges that have no class in common."""
        tables, k = self.tables, 0 if self.sensitive else self.task.model.k
        self._make("turns", nearest=tables["nearest"], classes=tables["classes"], k=k)
        self._make("firsts", turns=tables["turns"])
        self._make("merges", turns=tables["turns"], firsts=tables["firsts"], k=k)
        self._make("links", classes=tables["classes"], merges=tables["merges"])
        generalized = self._other_generalized()
        holes = {"classes": tables["classes"], "links": tables["links"]}
        tables.create(generalized, "kaca/generalized", **holes, codes=self.codes)
        self._make("same", generalized=generalized, codes=self.codes)
        parts = tables.create(
            self._other_parts(), "kaca/parts", parts=self.parts, links=tables["links"], same=tables["same"]
        )
        self.generalized, self.parts = generalized, parts

    def _other_generalized(self) -> Relation:
        """The table for the next description of the classes, while the current one is read."""
        return self.tables["regeneralized" if self.generalized == self.tables["generalized"] else "generalized"]

    def _other_parts(self) -> Relation:
        """The table for the next parts, while the current ones are read."""
        return self.tables["moved" if self.parts == self.tables["parts"] else "parts"]

    def cut_what_is_unsafe(self) -> int | None:
        """Cut the tuples of all unsafe classes; returns their rows, or None if they are not safe together."""
        tables, safe, counted = self.tables, self.task.model.safe, self._count()
        holes: dict[str, Hole] = {"parts": self.parts, "counted": counted, "values": self.values, "safe": safe}
        rest = self._make("rest", tuples=tables["tuples"], **holes)
        ((rows,),) = tables.rows("frequency_sets/total_rows", counted=rest)
        if not rows:
            return 0
        if (assignment := cut(self.task, self._by_value(rest), int(rows))) is None:
            return None
        above = self.task.frequency_set.tuples
        self.parts = tables.create(
            self._other_parts(), "kaca/cut", rest=rest, assignment=assignment, above=above, **holes
        )
        return int(rows)

    def _count(self) -> Relation:
        """The rows of every class, by everything that the model counts."""
        if not self.sensitive:
            return self.parts
        self.sensitive.count_classes(self._make("numbered", tuples=self.parts, columns=["class"]))
        return self.sensitive.of_classes

    def _by_value(self, tuples: Relation, *more: str) -> Relation:
        """The rows of some tuples, by everything that the model counts, with more columns of theirs."""
        if not self.sensitive:
            return tuples
        columns = [*self.values, *more]
        numbered = self._make("numbered", tuples=tuples, columns=columns)
        return self.sensitive.of(numbered, *columns)

    def finish(self, ended: str, facts: dict[str, Any]) -> Local:
        """The assignment, and how the run went."""
        holes: dict[str, Hole] = {"tuples": self.tables["tuples"], "parts": self.parts, "values": self.values}
        assignment = self.task.results.create("assignment", "kaca/assignment", **holes)
        split = self.tables.count(self.parts) > self.tables.count("tuples")
        return Local(assignment, split=split, ended=ended, facts=facts)

    def choose(self, merged: Local) -> Local:
        """The given result, or the classes by rows alone with unsafe ones joined, whichever has less distortion."""
        columns = [*self.values, "n", "class"]
        kept = self.tables.create("kept", "frequency_sets/copy", columns=columns, source=merged.assignment)
        with suppress(InfeasibleError):
            joined = recode_by_rows(kaca, self.task)
            if self._distortion(joined.assignment) < self._distortion(kept):
                return joined
        self.task.results.create(merged.assignment, "frequency_sets/copy", columns=columns, source=kept)
        return merged

    def _distortion(self, assignment: Relation) -> float:
        """The total distortion of an assignment of whole tuples, in the unit of `costs`."""
        tuples = self.tables["tuples"]
        members = self._make("members", tuples=tuples, assignment=assignment, values=self.values)
        generalized = self._make("generalized", classes=tuples, links=members, codes=self.codes)
        holes: dict[str, Hole] = {"generalized": generalized, "own": Steps(self.costs, "g")}
        ((distortion,),) = self.tables.rows("kaca/distortion", assignment=assignment, **holes)
        return float(distortion)

    @property
    def _most_blocks(self) -> int:
        """The maximum number of blocks in a piece."""
        return _MOST_BLOCKS if self.pieces == 1 else min(_MOST_BLOCKS, _BLOCKS_IN_PIECE)

    def _mean_step(self, column: str) -> float:
        """What a column contributes on average to the distance of two rows."""
        counts = self.tables.rows("mappings/column_values", column=[column], tuples=self.tables["tuples"])
        rows = [float(n) for _, n in counts]
        total = sum(rows)
        return self.costs[column] * (1.0 - sum((n / total) ** 2 for n in rows))

    def _count_blocks(self, columns: Sequence[str]) -> int:
        ((blocks,),) = self.tables.rows("kaca/block_count", generalized=self.generalized, columns=list(columns))
        return int(blocks)

    def _make(self, table: str, **holes: Hole) -> Relation:
        """Create a scratch table by the query of the same name."""
        return self.tables.create(table, f"kaca/{table}", **holes)


def _costs(task: Task) -> dict[str, int]:
    """The cost of rising above every code column: the step's distance times the weight, as a whole number.

    The first column is the piece of the table, which merges never leave, so that a column always exists.
    """
    # The whole number for a distance of 1: as large as possible while sums are exact.
    unit = int(10 ** floor(log10(_EXACT / (sum(task.weights) + len(task.weights) / 1000))))
    costs = {_PIECE: 0}
    for attribute, weight, distances in zip(
        task.frequency_set.attributes, task.weights, task.costs.distances, strict=True
    ):
        whole = [round(unit * weight * distance) for distance in distances]
        for level, (low, high) in enumerate(pairwise(whole)):
            costs[attribute.coded.code_column(level)] = high - low
    return costs
