"""The clauses of open nodes against brute force on lattices small enough to list."""

import os
import signal
import subprocess
from itertools import product
from math import inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.generalization.lattice import Lattice, below
from kanon_sql.loss import Costs, metric
from kanon_sql.strategies import clauses as module
from kanon_sql.strategies import tags
from kanon_sql.strategies.clauses import Clauses, whole_costs
from kanon_sql.strategies.space import Search, Test
from kanon_sql.strategies.turns import side_by_side
from support.oracle import Node, Problem, problems
from support.searching import FAST, Run, costs_of, keeps_a_row, lattice_of, metrics

SIZES = st.sampled_from([(5_000, 2_000), (0, 2_000), (0, 4)])  # exact, rounded, rounded so that little is left


WAYS = [
    (Clauses.rule_out_below, below),
    (Clauses.rule_out_above, lambda other, node: below(node, other)),
    (Clauses.rule_out, lambda other, node: other == node),
]


def bounds(problem: Problem, by: str) -> dict[Node, float]:
    bound = metric(by).bound_of(costs_of(problem))
    return {node: bound(node) for node in problem.nodes}


@FAST
@given(problem=problems(bounded=True), by=metrics, sizes=SIZES, data=st.data())
def test_open_nodes_are_those_not_ruled_out(
    problem: Problem, by: str, sizes: tuple[int, int], data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_EXACT", sizes[0])
        patch.setattr(module, "_ROUNDED", sizes[1])
        clauses = Clauses(lattice_of(problem), metric(by), costs_of(problem), lambda: None)
        cost, left = bounds(problem, by), set(problem.nodes)
        best = data.draw(st.sampled_from([inf, *cost.values()]))
        limits = data.draw(st.lists(st.sampled_from([inf, *cost.values()]), max_size=6))
        for limit in sorted(limits, reverse=True):
            node = data.draw(st.sampled_from(problem.nodes))
            rule_out, gone = data.draw(st.sampled_from(WAYS))
            rule_out(clauses, node)
            left = {other for other in left if not gone(other, node)}
            answer = clauses.candidate(limit, best)
            cheap = {other for other in left if cost[other] < min(limit, best) - 1e-9}
            assert (answer in left and cost[answer] < min(limit, best)) if answer else not cheap
        assert not left or clauses.lower_bound() <= min(cost[node] for node in left) + 1e-9
        if sizes[0] and by in ("precision", "height") and best == inf:
            assert clauses.lower_bound() == pytest.approx(min((cost[node] for node in left), default=inf))


@FAST
@given(problem=problems(bounded=True), by=metrics, sizes=SIZES)
def test_bounds_by_whole_steps_never_exceed_the_loss_of_a_node(
    problem: Problem, by: str, sizes: tuple[int, int]
) -> None:
    lattice = lattice_of(problem)
    parts = metric(by).parts(costs_of(problem))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_EXACT", sizes[0])
        patch.setattr(module, "_ROUNDED", sizes[1])
        whole = whole_costs(parts, lattice)
    for node in problem.nodes:
        steps = sum(step[level - low] for step, level, low in zip(whole.steps, node, lattice.bottom, strict=True))
        cost = sum(part[level] for part, level in zip(parts, node, strict=True))
        assert whole.value(steps) <= cost + 1e-9
        if by in ("precision", "height") and sizes[0]:
            assert whole.value(steps) == pytest.approx(cost)


@FAST
@given(problem=problems(bounded=True), by=metrics, sizes=SIZES, dense=st.booleans())
def test_certified_proves_the_optimum_however_costs_are_rounded(
    problem: Problem, by: str, sizes: tuple[int, int], dense: bool
) -> None:
    if not keeps_a_row(problem, by):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_EXACT", sizes[0])
        patch.setattr(module, "_ROUNDED", sizes[1])
        if not dense:
            patch.setattr(tags, "DENSE_LIMIT", 0)
        run = Run(problem, "certified", by)
    run.check()
    assert run.is_optimal()
    assert run.outcome.proven_optimal


def test_a_bound_in_a_lattice_too_large_to_list() -> None:
    """30 attributes of 6 levels: 2 * 10^23 nodes. At least one of the first two must rise to level 3."""
    lattice = Lattice((0,) * 30, (5,) * 30)
    costs = Costs(100, 2, ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0),) * 30, ((9, 8, 7, 6, 5, 1),) * 30)
    clauses = Clauses(lattice, metric("precision"), costs, lambda: None)
    assert clauses.lower_bound() == 0
    clauses.rule_out_below((2, 2, *(5,) * 28))
    assert clauses.lower_bound() == pytest.approx(3 / 150)
    clauses.rule_out_below((5, 2, 2, *(5,) * 27))
    clauses.rule_out_below((2, 5, 2, *(5,) * 27))
    assert clauses.lower_bound() == pytest.approx(6 / 150)
    node = clauses.candidate(7 / 150, inf)
    assert node is not None
    assert sum(node) == 6
    assert sum(level >= 3 for level in node[:3]) == 2
    assert clauses.candidate(6 / 150, inf) is None


@pytest.mark.parametrize("lanes", [0, 1, 3])
def test_lanes_share_their_statements(lanes: int) -> None:
    requests: list[list[Node]] = []

    def lane(number: int) -> Search:
        for step in range(number + 1):
            (answer,) = yield Test([(number, step)])
            assert answer == (step % 2 == 0)

    search = side_by_side([lane(number) for number in range(lanes)])
    request = next(search, None)
    while request is not None:
        requests.append(list(request.nodes))
        try:
            request = search.send([step % 2 == 0 for _, step in request.nodes])
        except StopIteration:
            break
    assert requests == [[(n, step) for n in range(lanes) if step <= n] for step in range(lanes)]
    assert {node for nodes in requests for node in nodes} == {
        (n, s) for n, s in product(range(lanes), repeat=2) if s <= n
    }


@pytest.mark.usefixtures("terminal")
@pytest.mark.slow
def test_ctrl_c_in_the_solver_is_handled() -> None:
    """python-sat would take the signal itself, leave in the middle of its work and raise an error of its own."""
    draw, lattice = Random(1), Lattice((0,) * 30, (5,) * 30)
    costs = Costs(100, 2, ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0),) * 30, ((9, 8, 7, 6, 5, 1),) * 30)
    clauses = Clauses(lattice, metric("precision"), costs, lambda: None)
    for _ in range(3_000):
        few = draw.sample(range(30), 4)
        clauses.rule_out_below(tuple(draw.randint(1, 4) if j in few else 5 for j in range(30)))
    presses: list[int] = []
    signal.signal(signal.SIGINT, lambda *_: presses.append(1))
    # Another process presses: while the solver runs, no other thread of this one might.
    pressing = subprocess.Popen(["sh", "-c", f"while sleep 0.01; do kill -INT {os.getpid()}; done"])
    try:
        bound = clauses.lower_bound(1.0)
    finally:
        pressing.kill()
        pressing.wait()
    assert presses
    assert bound > 0
