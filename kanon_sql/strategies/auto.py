"""The default search: the one that proves the optimum soonest, with others if that might take long."""

from __future__ import annotations

from math import inf

from kanon_sql.strategies.best_first import best_first
from kanon_sql.strategies.certified import certified
from kanon_sql.strategies.datafly import datafly
from kanon_sql.strategies.exhaustive import exhaustive
from kanon_sql.strategies.local_search import improving
from kanon_sql.strategies.memetic import breeding
from kanon_sql.strategies.space import Search, Space
from kanon_sql.strategies.turns import in_turns

_START = 150  # tests; enough for `certified` to come down to a first k-minimal node
_LEAD = 700  # tests; enough to come to a first good node where suppressed rows count
_FAR = 10**10  # nodes; beyond, the proof takes so long where suppressed rows count that good nodes come first
_SMALL = 50_000  # nodes; up to here listing them all saves more tests than clauses do


def auto(space: Space) -> Search:
    """Prove the optimum if time permits; otherwise find a good node and a bound for its distance from the optimum.

    Small lattices are searched best first. Larger ones are searched by `certified`, in turns with `local_search` and
    `memetic`, which find good nodes sooner, on different tables; `datafly` first, which finds a node at once. Where
    suppressed rows count, `local_search` has a lead, and in lattices of over 10^10 nodes `memetic`, as long as nodes
    get better. They continue until the time is over, unless `space.evaluations` limits them. Without a monotone
    privacy model every lattice that can be listed is searched best first, with `local_search` where that takes long;
    and any other, if not even prospects rule out a node, by `local_search` and from the bottom up in turns.
    """
    if not space.listable:
        return _large(space)
    if not space.monotone_model:
        return in_turns(space, best_first(space), improving(space, space.evaluations or inf), start=_LEAD)
    return best_first(space) if space.lattice.size <= _SMALL else _large(space)


def _large(space: Space) -> Search:
    evaluations = space.evaluations or inf
    good = improving(space, evaluations)
    if not space.prunes:
        yield from in_turns(space, exhaustive(space), good)
        space.candidate(inf)  # there is none, which proves the optimum exactly, not only up to the rounding of costs
        return
    yield from datafly(space)  # a node to release after some dozens of tests
    bred = breeding(space, evaluations)
    if space.metric.monotone(space.may_suppress):  # then the best node is k-minimal, and the proof may be near
        good, start = in_turns(space, good, bred), _START
    elif space.lattice.size <= _FAR:
        good, start = in_turns(space, good, bred, start=_LEAD), -_LEAD
    else:
        good, start = in_turns(space, bred, good, start=_LEAD), -2 * _LEAD
    yield from in_turns(space, certified(space), good, start=start, patience=_LEAD)
