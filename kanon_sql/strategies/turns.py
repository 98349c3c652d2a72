"""Several searches on the same knowledge: in turns, or in step."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from math import inf
from typing import Any

from kanon_sql.strategies.space import Score, Search, Space, Test

AnySearch = Generator[Test | Score, list[bool], Any]
Requests = dict[AnySearch, Test | Score]

_NEAR = 16  # tests; a search that is at most this far ahead need not wait for its turn


def in_turns(space: Space, *searches: Search, start: int = 0, patience: float = inf) -> Search:
    """Run several searches on the same knowledge until the first one ends, with a head start of `start` tests.

    Searches get equal shares of the tests. A negative start is a head start of the others, and ends after `patience`
    tests without a better node. Searches that are only a little ahead have their tests executed in the same statement
    as the tests of the search whose turn it is.
    """
    requests = _begun(searches)
    tested = dict.fromkeys(searches, start) | {searches[0]: 0}
    best, gained = space.best(), start  # the number of tests of the last one at the last gain
    while searches[0] in requests:
        least = min(tested.values())
        if space.best() < best:
            best, gained = space.best(), least
        if gained + patience <= least < 0:
            tested = dict.fromkeys(searches, 0)
        turn = min(requests, key=tested.__getitem__)
        near = [search for search in requests if tested[search] <= tested[turn] + _NEAR]
        chosen = {search: requests.pop(search) for search in _together(requests, turn, near)}
        for search, request in chosen.items():
            if isinstance(request, Test):
                tested[search] += request.weight + sum(space.tags.status(node) is None for node in request.nodes)
        requests |= yield from _answered(chosen)


def side_by_side(searches: Sequence[AnySearch]) -> Search:
    """Run several searches in step, so that their tests go into the same statements, and their scores too."""
    requests = _begun(searches)
    while requests:
        requests = yield from _answered(requests)


def _begun(searches: Sequence[AnySearch]) -> Requests:
    return {search: request for search in searches if (request := next(search, None)) is not None}


def _together(requests: Requests, turn: AnySearch, near: Sequence[AnySearch]) -> list[AnySearch]:
    """The searches near a turn whose tests can be combined with its tests; only the turn itself if it has none."""
    plain = [place for place in near if isinstance(test := requests[place], Test) and not test.reduction]
    return plain if turn in plain else [turn]


def _answered(requests: Mapping[AnySearch, Test | Score]) -> Generator[Test | Score, list[bool], Requests]:
    """Yield the requests of several searches, all tests at once and then all scores; return their next requests."""
    tests = [request for request in requests.values() if isinstance(request, Test)]
    nodes = [node for request in tests for node in request.nodes]
    weight = sum(request.weight for request in tests)
    reduction = all(request.reduction for request in tests)
    answers = iter((yield Test(nodes, reduction, weight=weight)) if nodes or weight else [])
    scores = [request for request in requests.values() if isinstance(request, Score)]
    for options in dict.fromkeys((request.by_class_size, request.all_of_them) for request in scores):
        same = [request for request in scores if (request.by_class_size, request.all_of_them) == options]
        yield Score([node for request in same for node in request.nodes], *options)
    onward: Requests = {}
    for search, request in requests.items():
        count = len(request.nodes) if isinstance(request, Test) else 0
        with suppress(StopIteration):
            onward[search] = search.send(list(islice(answers, count)))
    return onward
