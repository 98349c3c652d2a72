"""Several searches on the same knowledge: in turns, or in step."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from kanon_sql.strategies.space import Score, Search, Space, Test


def in_turns(space: Space, *searches: Search, start: int = 0) -> Search:
    """Run several searches on the same knowledge until the first one ends, which has a start of so many tests.

    Each has its share of the tests. A negative start is that of the others.
    """
    begun = ((search, next(search, None)) for search in searches)
    requests = {search: request for search, request in begun if request is not None}
    tested = dict.fromkeys(searches, start) | {searches[0]: 0}
    while searches[0] in requests:
        search = min(requests, key=tested.__getitem__)
        request = requests.pop(search)
        if isinstance(request, Test):
            tested[search] += request.weight + sum(space.tags.status(node) is None for node in request.nodes)
        answers = yield request
        try:
            requests[search] = search.send(answers)
        except StopIteration:
            continue


def side_by_side(searches: Sequence[Generator[Test | Score, list[bool], Any]]) -> Search:
    """Run several searches in step, so that their tests go into the same statements."""
    asked = {search: request for search in searches if (request := next(search, None))}
    while asked:
        tests = [request for request in asked.values() if isinstance(request, Test)]
        nodes, weight = [node for test in tests for node in test.nodes], sum(test.weight for test in tests)
        answers = iter((yield Test(nodes, weight=weight)) if nodes or weight else [])
        onward = {}
        for search, request in asked.items():
            if isinstance(request, Score):
                yield request
            count = len(request.nodes) if isinstance(request, Test) else 0
            with suppress(StopIteration):
                onward[search] = search.send(list(islice(answers, count)))
        asked = onward
