"""The default search: the one that proves the optimum soonest, with help where that may take long."""

from __future__ import annotations

from kanon_sql.search.best_first import best_first
from kanon_sql.search.certified import certified
from kanon_sql.search.exhaustive import exhaustive
from kanon_sql.search.memetic import memetic
from kanon_sql.search.space import Search, Space, Test

_SMALL = 50_000  # nodes; up to here listing them all saves more tests than clauses do


def auto(space: Space) -> Search:
    """Prove the optimum where that can be done in the time, else find the best node and how far off it can be.

    Small lattices are searched best first, and so are those that can be listed where a higher node may be better than
    a k-minimal one. All others are searched by `certified`, beside `memetic`, which finds good nodes sooner.
    Without a monotone privacy model, what cannot be listed is taken from the bottom up.
    """
    fast = space.metric.monotone(space.may_suppress)
    if space.listable and (space.lattice.size <= _SMALL or not (fast and space.monotone_model)):
        return best_first(space)
    return in_turns(space, certified(space), memetic(space)) if space.monotone_model else exhaustive(space)


def in_turns(space: Space, *searches: Search) -> Search:
    """Run several searches on the same knowledge, each with its share of the tests, until the first one ends."""
    requests = {search: next(search) for search in searches}
    tested = dict.fromkeys(searches, 0)
    while searches[0] in requests:
        search = min(requests, key=tested.__getitem__)
        request = requests.pop(search)
        if isinstance(request, Test):
            tested[search] += sum(space.tags.status(node) is None for node in request.nodes)
        answers = yield request
        try:
            requests[search] = search.send(answers)
        except StopIteration:
            continue
