"""Cloaking against plain Python: grids, quadtrees, intervals and cliques."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any

import pandas
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.cloak.clique import Message, Stream
from kanon_sql.cloak.grid import halved, sliced, unit_of, whole
from kanon_sql.errors import InfeasibleError
from support.examples import examples

BOX = ["x_min", "x_max", "y_min", "y_max", "t_from", "t_to"]
ROLES = {"location": ["x", "y"], "time": "t", "unit": "unit", "keep": "*"}


@dataclass(frozen=True)
class Point:
    """A row of the source."""

    x: float
    y: float
    t: float
    unit: int


def points(
    size: int = 8, most: int = 30, times: int | st.SearchStrategy[float] = 12, units: int = 6
) -> st.SearchStrategy[list[Point]]:
    """Points on a coarse lattice, so that many share cells, instants and units."""
    axis = st.integers(0, size * 4).map(lambda n: n / 4)
    instant = st.integers(0, times) if isinstance(times, int) else times
    point = st.builds(Point, axis, axis, instant, st.integers(1, units))
    return st.lists(point, min_size=1, max_size=most)


def frame(visits: Sequence[Point], **more: Sequence[Any]) -> pandas.DataFrame:
    """The points as a table, with a number to know the rows by."""
    columns = {name: [getattr(point, name) for point in visits] for name in ("x", "y", "t", "unit")}
    return pandas.DataFrame({**columns, "id": range(len(visits)), **more})


def cloaked(visits: Sequence[Point], k: int, method: dict[str, Any], **more: Any) -> dict[int, tuple[float, ...]]:
    """The released box and interval of every row, by its number."""
    release = kanon_sql.cloak(frame(visits, **more), {**ROLES, "cloak": method}, k=k)
    return boxes(release.to_df())


def boxes(released: pandas.DataFrame) -> dict[int, tuple[float, ...]]:
    return {row["id"]: tuple(row[name] for name in BOX) for row in released.to_dict("records")}


def cloaked_or_none(*arguments: Any, **named: Any) -> dict[int, tuple[float, ...]]:
    """The same, where nothing may come out of it."""
    try:
        return cloaked(*arguments, **named)
    except InfeasibleError:
        return {}


def units(visits: Sequence[Point], rows: Sequence[int]) -> int:
    return len({visits[row].unit for row in rows})


def sharing(released: dict[int, tuple[float, ...]]) -> dict[tuple[float, ...], list[int]]:
    shared = defaultdict(list)
    for row, box in released.items():
        shared[box].append(row)
    return shared


def assert_shared(visits: Sequence[Point], released: dict[int, tuple[float, ...]], k: int) -> None:
    """The promise itself: every box holds its rows, and k different units have exactly it."""
    for (x_min, x_max, y_min, y_max, start, end), rows in sharing(released).items():
        assert units(visits, rows) >= k
        for row in rows:
            point = visits[row]
            assert x_min <= point.x <= x_max
            assert y_min <= point.y <= y_max
            assert start <= point.t <= end


def enough(visits: Sequence[Point], k: int) -> bool:
    return len({point.unit for point in visits}) >= k


# Grids


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.integers(0, 20))
def test_an_axis_covers_all_rows_with_exact_lines_off_the_rows(low: float, span: float, depth: int) -> None:
    high = low + span
    axis = halved(low, high, depth)
    assert axis.start <= low <= high < axis.start + 2**depth * axis.width
    for i in (1, 2**depth // 3, 2**depth - 1, 2**depth):
        assert Fraction(axis.start) + i * Fraction(axis.width) == Fraction(axis.start + i * axis.width), "exact"
    grain = unit_of(low, high)
    assert math.frexp(grain)[0] == 0.5, "a power of two"
    assert (axis.start / grain).is_integer()
    assert (axis.width * 2**depth / grain) in range(1, 18)
    assert halved(low, high, depth, least=4.0).width % 4 == 0


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.sampled_from([0.1, 1.0, 900.0]))
def test_slices_begin_at_multiples_of_their_length(low: float, span: float, width: float) -> None:
    axis = sliced(low, width)
    assert axis.start <= low < axis.start + 2 * width
    assert axis.start / width == pytest.approx(round(axis.start / width))
    one = whole(low, low + span, unit_of(low, low + span))
    assert one.start <= low <= low + span < one.start + one.width


# Adaptive


def quadrant(point: Point, level: int, axes: tuple[Any, Any], depth: int) -> tuple[int, int]:
    x, y = (
        (value - axis.start) // (axis.width * 2 ** (depth - level))
        for value, axis in zip((point.x, point.y), axes, strict=True)
    )
    return int(x), int(y)


def box_of(level: int, cell: tuple[int, int], axes: tuple[Any, Any], depth: int) -> tuple[float, ...]:
    bounds = []
    for axis, number in zip(axes, cell, strict=True):
        width = axis.width * 2 ** (depth - level)
        bounds += [axis.start + number * width, axis.start + (number + 1) * width]
    return tuple(bounds)


def published(visits: Sequence[Point], rows: Sequence[int], k: int, axes: Any, depth: int) -> dict[int, Any]:
    """Gruteser and Grunwald's recursion for every row by itself."""
    answer = {}
    for row in rows:
        inside, level, cell = list(rows), 0, (0, 0)
        if units(visits, inside) < k:
            continue
        while level < depth:
            deeper = quadrant(visits[row], level + 1, axes, depth)
            still = [other for other in inside if quadrant(visits[other], level + 1, axes, depth) == deeper]
            if units(visits, still) < k:
                break
            inside, level, cell = still, level + 1, deeper
        answer[row] = box_of(level, cell, axes, depth)
    return answer


def reciprocal(visits: Sequence[Point], rows: Sequence[int], k: int, axes: Any, depth: int) -> dict[int, Any]:
    """The bottom-up form by recursion: classes are [level, cell, rows]; those without k units wait for the parent."""

    def morton(cell: tuple[int, int]) -> int:
        return sum((cell[0] >> b & 1) << (2 * b + 1) | (cell[1] >> b & 1) << (2 * b) for b in range(depth))

    def visit(level: int, cell: tuple[int, int], inside: list[int]) -> tuple[list[int], list[list[Any]]]:
        waiting, classes = inside, []
        if level < depth:
            below = defaultdict(list)
            for row in inside:
                below[quadrant(visits[row], level + 1, axes, depth)].append(row)
            parts = [visit(level + 1, child, some) for child, some in below.items()]
            waiting = [row for left, _ in parts for row in left]
            classes = [item for _, some in parts for item in some]
        if units(visits, waiting) >= k:
            return [], [*classes, [level, cell, waiting]]
        if waiting and classes:
            added = {i: len(c[2]) * (1 - 0.25 ** (c[0] - level)) for i, c in enumerate(classes)}
            best = min(added, key=lambda i: (added[i], -classes[i][0], morton(classes[i][1])))
            if added[best] <= 3 * len(waiting) or level == 0:
                pulled = classes.pop(best)
                return [], [*classes, [level, cell, waiting + pulled[2]]]
        return waiting, classes

    _, classes = visit(0, (0, 0), list(rows))
    return {row: box_of(level, cell, axes, depth) for level, cell, some in classes for row in some}


def by_slice(visits: Sequence[Point], interval: int | None) -> dict[tuple[int, int], list[int]]:
    slices = defaultdict(list)
    low, high = min(p.t for p in visits), max(p.t for p in visits)
    for row, point in enumerate(visits):
        if interval:
            slices[point.t // interval * interval, (point.t // interval + 1) * interval].append(row)
        else:
            unit = max(1, unit_of(low, high))
            slices[low // unit * unit, (high // unit + 1) * unit].append(row)
    return slices


@pytest.mark.parametrize(("shared", "reference"), [(True, reciprocal), (False, published)])
@given(points(), st.integers(1, 4), st.integers(1, 5), st.sampled_from([None, 4]))
@examples(12)
def test_adaptive_cloaking_is_the_recursion(
    shared: bool,
    reference: Callable[..., dict[int, Any]],
    visits: list[Point],
    k: int,
    depth: int,
    interval: int | None,
) -> None:
    if not enough(visits, k):
        return
    axes = tuple(halved(min(v), max(v), depth) for v in zip(*((p.x, p.y) for p in visits), strict=True))
    expected = {
        row: (*box, *span)
        for span, rows in by_slice(visits, interval).items()
        for row, box in reference(visits, rows, k, axes, depth).items()
    }
    method = {"depth": depth, "shared": shared, **({"interval": interval} if interval else {})}
    released = cloaked_or_none(visits, k, method)
    assert released == expected
    if shared:
        assert_shared(visits, released, k)


@pytest.mark.slow
def test_an_outlier_is_not_alone_in_its_box() -> None:
    """Three units close together and one far off: as published the far one has the whole area to itself."""
    visits = [Point(0, 0, 0, 1), Point(0.1, 0, 0, 2), Point(0, 0.1, 0, 3), Point(8, 8, 0, 4)]
    one = sharing(cloaked(visits, 2, {"shared": False}))
    assert [3] in one.values()
    both = sharing(cloaked(visits, 2, {}))
    assert [len(rows) for rows in both.values()] == [4]


def test_the_published_form_describes_itself() -> None:
    visits = [Point(0, 0, 0, 1), Point(0.1, 0, 0, 2), Point(0, 0.1, 0, 3), Point(8, 8, 0, 4)]
    release = kanon_sql.cloak(frame(visits).drop(columns="id"), {**ROLES, "cloak": {"shared": False}}, k=2)
    inside, shared = release.manifest["privacy"]
    assert (inside["model"], inside["required"], inside["achieved"]) == (
        "units seen inside a released box and interval",
        2,
        3,
    )
    assert (shared["required"], shared["achieved"], shared["short_rows"]) == (None, 1, 1)
    assert "not k-anonymous" in release.manifest["warnings"][0]


# Temporal


def cells(visits: Sequence[Point], size: float) -> dict[tuple[float, float], list[int]]:
    grouped = defaultdict(list)
    for row, point in enumerate(visits):
        grouped[point.x // size, point.y // size].append(row)
    return grouped


def batches(visits: Sequence[Point], rows: Sequence[int], k: int) -> dict[int, tuple[int, int]]:
    """Hold rows back until k units have come, one instant after another; the rest joins the last batch."""
    done: list[list[int]] = []
    held: list[int] = []
    for instant in sorted({visits[row].t for row in rows}):
        held += [row for row in rows if visits[row].t == instant]
        if units(visits, held) >= k:
            done.append(held)
            held = []
    if not done:
        return {}
    done[-1] += held
    return {row: (min(visits[r].t for r in b), max(visits[r].t for r in b)) for b in done for row in b}


def shortest(visits: Sequence[Point], rows: Sequence[int], k: int) -> dict[int, float]:
    """The length of the shortest interval around a row with k units in it, by trying all."""
    instants = sorted({visits[row].t for row in rows})
    answer = {}
    for row in rows:
        lengths = [
            end - start
            for start in instants
            for end in instants
            if start <= visits[row].t <= end
            and units(visits, [other for other in rows if start <= visits[other].t <= end]) >= k
        ]
        if lengths:
            answer[row] = min(lengths)
    return answer


@given(points(size=2), st.integers(1, 4))
@examples(12)
def test_temporal_cloaking_waits_for_k_units(visits: list[Point], k: int) -> None:
    if not enough(visits, k):
        return
    released = cloaked_or_none(visits, k, {"method": "temporal", "cell": 1.0})
    assert_shared(visits, released, k)
    expected = {row: span for rows in cells(visits, 1.0).values() for row, span in batches(visits, rows, k).items()}
    assert {row: box[4:] for row, box in released.items()} == expected
    assert all(box[0] == visits[row].x // 1 and box[1] == box[0] + 1 for row, box in released.items())


# Tenths that no double holds, whose differences are rounded, and any others.
TENTHS = st.integers(-200, 200).map(lambda n: n / 10)
TIMES = [12, TENTHS, st.floats(-1e3, 1e3)]


@pytest.mark.parametrize("times", TIMES, ids=["whole", "tenths", "floats"])
@given(data=st.data(), k=st.integers(1, 4))
@examples(12)
def test_the_shortest_interval_is_the_shortest(times: Any, data: Any, k: int) -> None:
    visits = data.draw(points(size=2, times=times))
    if not enough(visits, k):
        return
    released = cloaked_or_none(visits, k, {"method": "temporal", "cell": 1.0, "shared": False})
    expected = {
        row: length for rows in cells(visits, 1.0).values() for row, length in shortest(visits, rows, k).items()
    }
    assert {row: box[5] - box[4] for row, box in released.items()} == expected
    for row, box in released.items():
        assert box[4] <= visits[row].t <= box[5]
        inside = [
            other
            for other, point in enumerate(visits)
            if (point.x // 1, point.y // 1) == (box[0], box[2]) and box[4] <= point.t <= box[5]
        ]
        assert units(visits, inside) >= k


@given(points(size=2, times=TENTHS), st.integers(2, 4))
@example([Point(0, 0, 0.1, 1), Point(0, 0, 1.1, 2)], 2)
@examples(12)
def test_decimal_times_are_seen_in_their_own_intervals(visits: list[Point], k: int) -> None:
    if not enough(visits, k):
        return
    source = frame(visits, at=[Decimal(str(point.t)) for point in visits]).drop(columns="t")
    method = {"method": "temporal", "cell": 1.0, "shared": False}
    expected = [len(shortest(visits, rows, k)) for rows in cells(visits, 1.0).values()]
    try:
        release = kanon_sql.cloak(source, {**ROLES, "time": "at", "cloak": method}, k=k)
    except InfeasibleError:
        assert sum(expected) == 0
    else:
        assert release.manifest["released_rows"] == sum(expected)
        assert release.manifest["privacy"][0]["achieved"] >= k


# Both, and cliques

TOLERANCES = st.tuples(st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from([0.5, 2.0]), st.sampled_from([0, 2, 5]))


def inside_tolerances(point: Point, box: tuple[float, ...], tolerance: tuple[float, float, float]) -> bool:
    centre = (point.x, point.y, point.t)
    return all(
        value - box[2 * axis] <= most and box[2 * axis + 1] - value <= most
        for axis, (value, most) in enumerate(zip(centre, tolerance, strict=True))
    )


def meetings(visits: Sequence[Point], k: int, tolerances: Sequence[Any], depth: int) -> dict[int, tuple[float, ...]]:
    """All pairs of grids, the smallest cells first; k willing units that still wait take their cell."""
    values = list(zip(*((p.x, p.y, p.t) for p in visits), strict=True))
    axes = [halved(min(v), max(v), depth, 1.0 if i == 2 else 0.0) for i, v in enumerate(values)]
    released: dict[int, tuple[float, ...]] = {}
    levels = [(s, t) for s in range(depth + 1) for t in range(depth + 1)]
    for space, time in sorted(levels, key=lambda pair: (-(2 * pair[0] + pair[1]), -pair[0])):
        willing = defaultdict(list)
        for row, point in enumerate(visits):
            box: list[float] = []
            for axis, value, level in zip(axes, (point.x, point.y, point.t), (space, space, time), strict=True):
                width = axis.width * 2 ** (depth - level)
                low = axis.start + (value - axis.start) // width * width
                box += [low, low + width]
            if row not in released and inside_tolerances(point, tuple(box), tolerances[row]):
                willing[tuple(box)].append(row)
        for box_, rows in willing.items():
            if units(visits, rows) >= k:
                released |= dict.fromkeys(rows, box_)
    return released


@given(st.data(), points(size=3, times=8), st.integers(1, 3), st.integers(1, 4))
@examples(12)
def test_both_meets_inside_everyones_tolerances(data: Any, visits: list[Point], k: int, depth: int) -> None:
    if not enough(visits, k):
        return
    tolerances = data.draw(st.lists(TOLERANCES, min_size=len(visits), max_size=len(visits)))
    columns = {name: [float(t[i]) for t in tolerances] for i, name in enumerate(("wide", "high", "late"))}
    method = {"method": "both", "dx": "wide", "dy": "high", "dt": "late", "depth": depth}
    released = cloaked_or_none(visits, k, method, **columns)
    assert_shared(visits, released, k)
    assert all(inside_tolerances(visits[row], box, tolerances[row]) for row, box in released.items())
    assert released == meetings(visits, k, tolerances, depth)


@pytest.mark.parametrize("search", ["local-k", "nbr-k"])
@given(st.data(), points(size=2, times=8), st.integers(1, 2))
@examples(12)
def test_cliques_respect_every_senders_tolerances(search: str, data: Any, visits: list[Point], k: int) -> None:
    if not enough(visits, k):
        return
    tolerances = data.draw(st.lists(TOLERANCES, min_size=len(visits), max_size=len(visits)))
    own = data.draw(st.lists(st.integers(1, 4), min_size=len(visits), max_size=len(visits)))
    columns = {name: [float(t[i]) for t in tolerances] for i, name in enumerate(("wide", "high", "late"))}
    method = {"method": "clique", "dx": "wide", "dy": "high", "dt": "late", "k": "mine", "search": search}
    released = cloaked_or_none(visits, k, method, **columns, mine=own)
    assert_shared(visits, released, k)
    for box, rows in sharing(released).items():
        for row in rows:
            assert units(visits, rows) >= max(own[row], k)
            assert inside_tolerances(visits[row], box, tolerances[row])
            assert box[5] <= visits[row].t + tolerances[row][2], "gone by the deadline"
    expected = streamed(visits, [max(mine, k) for mine in own], tolerances, search)
    assert set(released) == expected


def streamed(visits: Sequence[Point], own: Sequence[int], tolerances: Sequence[Any], search: str) -> set[int]:
    """The paper's stream with a brute-force search: the first clique in the order of arrival that there is."""
    order = sorted(range(len(visits)), key=lambda row: (visits[row].t, row))
    place = {row: i for i, row in enumerate(order)}
    waiting: set[int] = set()
    gone: set[int] = set()

    def near(a: int, b: int) -> bool:
        gaps = (abs(visits[a].x - visits[b].x), abs(visits[a].y - visits[b].y), abs(visits[a].t - visits[b].t))
        tolerated = all(gap <= min(tolerances[a][i], tolerances[b][i]) for i, gap in enumerate(gaps))
        return tolerated and visits[a].unit != visits[b].unit

    for row in order:
        waiting = {w for w in waiting if visits[w].t + tolerances[w][2] >= visits[row].t}
        friends = sorted((w for w in waiting if near(row, w)), key=place.__getitem__)
        larger = {own[w] for w in friends if own[w] > own[row]} if search == "nbr-k" else set()
        waiting.add(row)
        for size in sorted({own[row], *larger}, reverse=True):
            some = (m for m in combinations([w for w in friends if own[w] <= size], size - 1))
            clique = next((m for m in some if all(near(a, b) for a, b in combinations(m, 2))), None)
            if clique is not None:
                gone |= {row, *clique}
                waiting -= {row, *clique}
                break
    return gone


def test_a_late_neighbour_finds_no_waiting_message() -> None:
    stream = Stream([Message(2, 0, 5), Message(2, 6, 9), Message(2, 7, 9)])
    assert stream.arrive(0, []) is None
    assert stream.arrive(1, [0]) is None, "who waited has gone at its deadline"
    assert stream.arrive(2, [0, 1]) == [2, 1]
    assert not stream.waiting


def test_a_search_gives_up_and_the_message_waits() -> None:
    """Four that tolerate each other, but a search that may try one member only."""
    stream = Stream([Message(4, 0, 5)] * 4, tries=1)
    assert [stream.arrive(i, range(i)) for i in range(4)] == [None] * 4
    assert len(stream.waiting) == 4
