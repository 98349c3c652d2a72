"""CliqueCloak: messages that tolerate each other leave together, each with a k and tolerances of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from kanon_sql.cloak.boxes import Boxes, numbered
from kanon_sql.cloak.grid import Axis
from kanon_sql.cloak.points import Cloaking

_BATCH = 10_000  # messages whose neighbours are fetched at once
_TRIES = 2_000  # members that one search tries before it lets the message wait


@dataclass(frozen=True)
class Message:
    """A message that waits: its own k, and the time after which it must have left."""

    k: int
    time: float
    deadline: float


@dataclass
class Stream:
    """The messages that wait, and who of them tolerates whom; the engine of CliqueCloak (Gedik and Liu 2005, 2008).

    `largest`: search for the larger ks of the neighbours first (the paper's nbr-k), not for the own k alone
    (local-k). `tries`: members that one search may try before the message goes on waiting.
    """

    messages: Sequence[Message]
    largest: bool = False
    tries: int = _TRIES
    waiting: dict[int, set[int]] = field(default_factory=dict)
    _deadlines: list[tuple[float, int]] = field(default_factory=list)

    def arrive(self, number: int, earlier: Iterable[int]) -> list[int] | None:
        """Let a message come in; give the clique that leaves with it, or None if it waits.

        `earlier`: the messages before it that tolerate it and are tolerated, gone ones too.
        """
        self._expire(self.messages[number].time)
        neighbours = {other for other in earlier if other in self.waiting}
        self.waiting[number] = neighbours
        for other in neighbours:
            self.waiting[other].add(number)
        heappush(self._deadlines, (self.messages[number].deadline, number))
        clique = next(filter(None, (self._search(number, k) for k in self._sizes(number))), None)
        for member in clique or ():
            self._leave(member)
        return clique

    def _expire(self, now: float) -> None:
        while self._deadlines and self._deadlines[0][0] < now:
            _, number = heappop(self._deadlines)
            if number in self.waiting:
                self._leave(number)

    def _leave(self, number: int) -> None:
        for other in self.waiting.pop(number):
            self.waiting[other].discard(number)

    def _sizes(self, number: int) -> list[int]:
        """The sizes of clique to look for."""
        own = self.messages[number].k
        others = {self.messages[other].k for other in self.waiting[number]} if self.largest else set()
        return sorted({own, *(k for k in others if k > own)}, reverse=True)

    def _search(self, number: int, k: int) -> list[int] | None:
        """A clique of k messages, this one among them, none of which asks for more than k."""
        candidates = {other for other in self.waiting[number] if self.messages[other].k <= k}
        while len(candidates) >= k - 1:
            few = {other for other in candidates if len(self.waiting[other] & candidates) < k - 2}
            if not few:
                others = self._extend(candidates, k - 1, [self.tries])
                return None if others is None else [number, *others]
            candidates -= few
        return None

    def _extend(self, candidates: set[int], wanted: int, tries: list[int]) -> list[int] | None:
        """Members out of `candidates` who all tolerate each other; who arrived first is tried first."""
        if wanted == 0:
            return []
        left = set(candidates)
        for member in sorted(candidates):
            if len(left) < wanted or tries[0] <= 0:
                return None
            tries[0] -= 1
            left.discard(member)
            others = self._extend(left & self.waiting[member], wanted - 1, tries)
            if others is not None:
                return [member, *others]
        return None


def clique(cloaking: Cloaking) -> Boxes:
    """Cloak messages by cliques of those that tolerate each other: Gedik and Liu 2005, 2008.

    Two messages of different units are neighbours if each one's point lies in the other's constraint box
    (x ± dx, y ± dy, t ± dt). When a message arrives, its neighbours that wait are searched for a clique of its k
    that holds it and none whose k is larger. All members leave with the smallest box and interval that hold them
    all, which lies in everyone's constraint box. A message that has not left by t + dt is suppressed.

    The neighbours are found in SQL; the stream itself is followed message by message in Python, since who is
    still there depends on all that came before.
    """
    spec = cloaking.spec.cloak
    cloaking.stage("Finding neighbours within the tolerances")
    made, points = cloaking.tables, cloaking.points
    (widths,) = made.rows("cloak_clique/widest", points=points)
    low = (cloaking.extent.x_low, cloaking.extent.y_low, cloaking.extent.t_low)
    holes: dict[str, str] = {}
    for name, start, width in zip("xyt", low, widths, strict=True):
        holes |= Axis(start, float(width) or 1.0).holes(name)
    cells = made.create("cells", "cloak_points/cells", points=points, **holes)
    waiting = made.create("messages", "cloak_clique/messages", points=points)
    messages = [Message(int(k), t, deadline) for k, t, deadline in made.rows("cloak_clique/arrivals", messages=waiting)]
    stream = Stream(messages, spec.search == "nbr-k")
    members: list[int] = []
    cliques: list[int] = []
    for number, earlier in _neighbours(cloaking, len(messages)):
        clique = stream.arrive(number, earlier)
        if clique:
            members += clique
            cliques += [number] * len(clique)
    left = made.load("members", {"arrival": "BIGINT", "clique": "BIGINT"}, [members, cliques])
    given = made.create("given", "cloak_clique/cliques", points=points, messages=waiting, members=left)
    made.drop(cells, waiting, left)
    return numbered(made, given)


def _neighbours(cloaking: Cloaking, messages: int) -> Iterator[tuple[int, Sequence[int]]]:
    """Every message in the order of arrival, with its neighbours before it."""
    for first in range(0, messages, _BATCH):
        last = min(first + _BATCH, messages) - 1
        cloaking.stage(f"Following the messages, {first:,} of {messages:,}")
        made = cloaking.tables
        holes = {"points": cloaking.points, "cells": made["cells"], "messages": made["messages"]}
        neighbours = dict(made.rows("cloak_clique/neighbours", first=first, last=last, **holes))
        for number in range(first, last + 1):
            yield number, neighbours.get(number, ())
