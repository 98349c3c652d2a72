"""CliqueCloak: messages that tolerate each other are released together; k and tolerances differ per message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from kanon_sql.cloak.boxes import Boxes, numbered
from kanon_sql.cloak.grid import Axis
from kanon_sql.cloak.points import Cloaking

_BATCH = 10_000  # messages whose neighbours are fetched at once
_TRIES = 2_000  # members that one search tries before the message waits


@dataclass(frozen=True)
class Message:
    """A waiting message: its own k, and the time by which it must be released."""

    k: int
    time: float
    deadline: float


@dataclass
class Stream:
    """The waiting messages, and which of them tolerate each other: the engine of CliqueCloak (Gedik, Liu 2005, 2008).

    `largest`: search for the larger ks of the neighbours first (the paper's nbr-k), not only for the own k (local-k).
    `tries`: members that one search may try before the message continues to wait.
    """

    messages: Sequence[Message]
    largest: bool = False
    tries: int = _TRIES
    waiting: dict[int, set[int]] = field(default_factory=dict)
    _deadlines: list[tuple[float, int]] = field(default_factory=list)

    def arrive(self, number: int, earlier: Iterable[int]) -> list[int] | None:
        """Add a message; returns the clique that is released with it, or None if it waits.

        `earlier`: its earlier neighbours by mutual tolerance, including released and expired ones.
        """
        while self._deadlines and self._deadlines[0][0] < self.messages[number].time:
            _, expired = heappop(self._deadlines)
            if expired in self.waiting:
                self._leave(expired)
        neighbours = {message for message in earlier if message in self.waiting}
        self.waiting[number] = neighbours
        for neighbour in neighbours:
            self.waiting[neighbour].add(number)
        heappush(self._deadlines, (self.messages[number].deadline, number))
        clique = next(filter(None, (self._search(number, k) for k in self._sizes(number))), None)
        for member in clique or ():
            self._leave(member)
        return clique

    def _leave(self, number: int) -> None:
        for neighbour in self.waiting.pop(number):
            self.waiting[neighbour].discard(number)

    def _sizes(self, number: int) -> list[int]:
        """The sizes of cliques to search for."""
        own = self.messages[number].k
        if not self.largest:
            return [own]
        larger = {k for neighbour in self.waiting[number] if (k := self.messages[neighbour].k) > own}
        return sorted({own, *larger}, reverse=True)

    def _search(self, number: int, k: int) -> list[int] | None:
        """A clique of k messages that includes this one, none of which requires more than k."""
        candidates = {message for message in self.waiting[number] if self.messages[message].k <= k}
        while len(candidates) >= k - 1:
            isolated = {message for message in candidates if len(self.waiting[message] & candidates) < k - 2}
            if not isolated:
                members = self._extend(candidates, k - 1, [self.tries])
                return None if members is None else [number, *members]
            candidates -= isolated
        return None

    def _extend(self, candidates: set[int], wanted: int, tries: list[int]) -> list[int] | None:
        """Members of `candidates` that all tolerate each other; earlier messages are tried first."""
        if wanted == 0:
            return []
        left = set(candidates)
        for member in sorted(candidates):
            if len(left) < wanted or tries[0] <= 0:
                return None
            tries[0] -= 1
            left.discard(member)
            members = self._extend(left & self.waiting[member], wanted - 1, tries)
            if members is not None:
                return [member, *members]
        return None


def clique(cloaking: Cloaking) -> Boxes:
    """Cloak messages by cliques of messages that tolerate each other: Gedik and Liu 2005, 2008.

    Two messages of different units are neighbours if both points are within the other's constraint box (x ± dx,
    y ± dy, t ± dt). When a message arrives, its waiting neighbours are searched for a clique of its k that includes it
    and no message with a larger k. All members are released with the smallest box and interval that contain them all,
    which is within all constraint boxes. A message that is not released by t + dt is suppressed.

    SQL finds the neighbours; Python follows the stream message by message, since the waiting messages depend on all
    previous ones.
    """
    spec = cloaking.spec.cloak
    cloaking.stage("Finding neighbours within the tolerances")
    tables, points = cloaking.tables, cloaking.points
    (widths,) = tables.rows("cloak_clique/widest", points=points)
    low = (cloaking.extent.x_low, cloaking.extent.y_low, cloaking.extent.t_low)
    holes: dict[str, str] = {}
    for name, start, width in zip("xyt", low, widths, strict=True):
        holes |= Axis(start, float(width) or 1.0).holes(name)
    cells = tables.create("cells", "cloak_points/cells", points=points, **holes)
    waiting = tables.create("messages", "cloak_clique/messages", points=points)
    messages = [
        Message(int(k), t, deadline) for k, t, deadline in tables.rows("cloak_clique/arrivals", messages=waiting)
    ]
    stream = Stream(messages, spec.search == "nbr-k")
    members: list[int] = []
    cliques: list[int] = []
    for number, earlier in _neighbours(cloaking, len(messages)):
        clique = stream.arrive(number, earlier)
        if clique:
            members += clique
            cliques += [number] * len(clique)
    left = tables.load("members", {"arrival": "BIGINT", "clique": "BIGINT"}, [members, cliques])
    boxed = tables.create("given", "cloak_clique/cliques", points=points, messages=waiting, members=left)
    tables.drop(cells, waiting, left)
    return numbered(tables, boxed)


def _neighbours(cloaking: Cloaking, messages: int) -> Iterator[tuple[int, Sequence[int]]]:
    """Every message in the order of arrival, with its earlier neighbours."""
    for first in range(0, messages, _BATCH):
        last = min(first + _BATCH, messages) - 1
        cloaking.stage(f"Following the messages, {first:,} of {messages:,}")
        tables = cloaking.tables
        holes = {"points": cloaking.points, "cells": tables["cells"], "messages": tables["messages"]}
        neighbours = dict(tables.rows("cloak_clique/neighbours", first=first, last=last, **holes))
        for number in range(first, last + 1):
            yield number, neighbours.get(number, ())
