"""Several searches on the same knowledge: in turns, or in step."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from math import inf
from typing import Any

from kanon_sql.strategies.space import Score, Search, Space, Test

Asking = Generator[Test | Score, list[bool], Any]
Requests = dict[Asking, Test | Score]

_NEAR = 16  # tests; a search that is no more of them ahead need not wait for its turn


def in_turns(space: Space, *searches: Search, start: int = 0, patience: float = inf) -> Search:
    """Run several searches on the same knowledge until the first one ends, which has a start of so many tests.

    Each has its share of the tests. A negative start is that of the others, and ends after as many tests without a
    better node as there is `patience`. Tests of searches that are hardly ahead go into the statement of the one whose
    turn it is.
    """
    requests = _begun(searches)
    tested = dict.fromkeys(searches, start) | {searches[0]: 0}
    best, gained = space.best(), start  # where the others were at the last gain
    while searches[0] in requests:
        least = min(tested.values())
        if space.best() < best:
            best, gained = space.best(), least
        if gained + patience <= least < 0:
            tested = dict.fromkeys(searches, 0)
        turn = min(requests, key=tested.__getitem__)
        near = [search for search in requests if tested[search] <= tested[turn] + _NEAR]
        asked = {search: requests.pop(search) for search in _together(requests, turn, near)}
        for search, request in asked.items():
            if isinstance(request, Test):
                tested[search] += request.weight + sum(space.tags.status(node) is None for node in request.nodes)
        requests |= yield from _answered(asked)


def side_by_side(searches: Sequence[Asking]) -> Search:
    """Run several searches in step, so that their tests go into the same statements, and their scores too."""
    requests = _begun(searches)
    while requests:
        requests = yield from _answered(requests)


def _begun(searches: Sequence[Asking]) -> Requests:
    return {search: request for search in searches if (request := next(search, None)) is not None}


def _together(requests: Requests, turn: Asking, near: Sequence[Asking]) -> list[Asking]:
    """Of the searches near a turn those whose tests go with its own; it alone where it wants no plain tests."""
    plain = [place for place in near if isinstance(test := requests[place], Test) and not test.reduction]
    return plain if turn in plain else [turn]


def _answered(asked: Mapping[Asking, Test | Score]) -> Generator[Test | Score, list[bool], Requests]:
    """Ask for what several searches want, all tests at once and then all scores; what they want next."""
    tests = [request for request in asked.values() if isinstance(request, Test)]
    nodes = [node for request in tests for node in request.nodes]
    weight = sum(request.weight for request in tests)
    reduction = all(request.reduction for request in tests)
    answers = iter((yield Test(nodes, reduction, weight=weight)) if nodes or weight else [])
    scores = [request for request in asked.values() if isinstance(request, Score)]
    for how in dict.fromkeys((request.by_class_size, request.all_of_them) for request in scores):
        same = [request for request in scores if (request.by_class_size, request.all_of_them) == how]
        yield Score([node for request in same for node in request.nodes], *how)
    onward: Requests = {}
    for search, request in asked.items():
        count = len(request.nodes) if isinstance(request, Test) else 0
        with suppress(StopIteration):
            onward[search] = search.send(list(islice(answers, count)))
    return onward
