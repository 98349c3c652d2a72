"""The picture of a searched lattice, read back: every node, line, colour and count of it."""

import re
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_sql.errors import SpecError
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.report import lattice_picture as pictures
from kanon_sql.report.lattice_picture import _STRIP, can_draw_nodes, lattice_svg
from kanon_sql.report.searched import ANONYMOUS, AT_RISK, UNKNOWN, Searched
from kanon_sql.report.svg import INK, text_width, wrapped
from kanon_sql.strategies import STRATEGIES, tags
from support.oracle import Column, Node, Problem, problems
from support.searching import DIGITS, FAST, SPREAD, Run, keeps_a_row

SVG = "{http://www.w3.org/2000/svg}"
FILLS = {True: ANONYMOUS, False: AT_RISK, None: UNKNOWN}
WORDS = {True: "anonymous", False: "not anonymous", None: "unknown"}
Box = tuple[float, float, float, float]


def pictured(run: Run, columns: list[str] | None = None) -> Searched:
    lattice, outcome = run.driver.lattice, run.outcome
    columns = columns or [f"c{i}" for i in range(len(lattice.top))]
    return Searched(
        columns, lattice, outcome, outcome.tags, "ola", run.metric, f"k = {run.problem.k}", run.problem.limit
    )


class Picture:
    """An SVG read back."""

    def __init__(self, searched: Searched) -> None:
        self.text = lattice_svg(searched)
        self.root = ElementTree.fromstring(self.text)
        self.width, self.height = float(self.root.get("width", "")), float(self.root.get("height", ""))

    def all(self, name: str) -> list[ElementTree.Element]:
        return list(self.root.iter(SVG + name))

    @property
    def groups(self) -> list[tuple[str, list[ElementTree.Element]]]:
        """What carries a tooltip: the tooltip, and the parts below it."""
        return [(item[0].text or "", list(item)[1:]) for item in self.all("g")]

    @property
    def words(self) -> list[str]:
        return [item.text or "" for item in self.all("text")]

    def inside(self) -> None:
        """Everything is in the picture, and no two texts on one line touch."""
        lines: dict[str, list[tuple[float, float]]] = {}
        for item in self.all("text"):
            width = text_width(item.text or "", float(item.get("font-size", "")))
            x, y = float(item.get("x", "")), item.get("y", "")
            left = x - {"end": width, "middle": width / 2}.get(item.get("text-anchor", ""), 0)
            assert left >= 0
            assert left + width <= self.width
            assert 0 < float(y) <= self.height
            lines.setdefault(y, []).append((left, left + width))
        for spans in lines.values():
            for one, two in combinations(sorted(spans), 2):
                assert one[1] <= two[0]
        for x, y, width, height in map(box, self.all("rect")):
            assert 0 <= x <= x + width <= self.width + 0.01
            assert 0 <= y <= y + height <= self.height


def box(rectangle: ElementTree.Element) -> Box:
    x, y, width, height = (float(rectangle.get(name, "")) for name in ("x", "y", "width", "height"))
    return x, y, width, height


def apart(one: Box, two: Box) -> bool:
    return one[0] + one[2] < two[0] or two[0] + two[2] < one[0] or one[1] + one[3] < two[1] or two[1] + two[3] < one[1]


def drawn_all() -> st.SearchStrategy[str]:
    return st.sampled_from(["exhaustive", "ola", "best_first"])


# Small lattices, node by node


@FAST
@given(problem=problems(bounded=True), name=drawn_all(), by=st.sampled_from(["loss", "height"]))
def test_every_node_is_drawn_with_its_state_after_the_search(problem: Problem, name: str, by: str) -> None:
    if not keeps_a_row(problem, by) or not can_draw_nodes(Lattice(problem.nodes[0], problem.nodes[-1])):
        return
    run = Run(problem, name, by)
    searched, picture = pictured(run), Picture(pictured(run))
    picture.inside()
    by_tooltip = dict(picture.groups)
    assert len(by_tooltip) == len(problem.nodes)
    checked = {step.node for step in run.outcome.trace}
    boxes = []
    for node in problem.nodes:
        text = f"{searched.node_text(node)}: {WORDS[run.status(node)]}"
        (tooltip,) = (item for item in by_tooltip if item.startswith(text + ","))
        *ring, body, label = by_tooltip[tooltip]
        assert body.get("fill") == FILLS[run.status(node)]
        assert (body.get("stroke") == INK) == (node in checked)
        assert ("checked, " in tooltip and "not checked" not in tooltip) == (node in checked)
        assert bool(ring) == tooltip.endswith(", best") == (node == run.outcome.node)
        assert label.text == "".join(map(str, node))
        if node in checked:
            assert f"checked, {problem.rows_at_risk(node):,} rows at risk" in tooltip
        boxes.append((node, box((ring or [body])[0])))
    for (lower, one), (upper, two) in combinations(boxes, 2):
        assert apart(one, two)
        if sum(lower) != sum(upper):
            assert (one[1] > two[1]) == (sum(lower) < sum(upper)), "more general is further up"


@FAST
@given(problem=problems(bounded=True))
@example(problem=SPREAD)
def test_every_step_of_one_attribute_is_a_line(problem: Problem) -> None:
    lattice = Lattice(problem.nodes[0], problem.nodes[-1])
    if not keeps_a_row(problem, "height") or not can_draw_nodes(lattice):
        return
    picture = Picture(pictured(Run(problem, "exhaustive", "height")))
    middles = {middle(parts[-1]): node_of(tooltip) for tooltip, parts in picture.groups}
    lines = Counter()
    for line in picture.all("line"):
        x1, x2, y1, y2 = (float(line.get(name, "")) for name in ("x1", "x2", "y1", "y2"))
        ends = [nearest(middles, x, y) for x, y in ((x1, y1), (x2, y2))]
        lines[(ends[0], ends[1])] += 1
    assert lines == Counter((node, upper) for node in problem.nodes for upper in lattice.successors(node))


def middle(label: ElementTree.Element) -> tuple[float, float]:
    return float(label.get("x", "")), float(label.get("y", "")) - 4


def node_of(tooltip: str) -> Node:
    return tuple(int(level) for level in re.findall(r"c\d+ (\d+)", tooltip))


def nearest(middles: dict[tuple[float, float], Node], x: float, y: float) -> Node:
    """The node whose box ends where a line does: right above or below its middle."""
    ((_, node),) = ((at, node) for at, node in middles.items() if abs(at[0] - x) < 0.02 and abs(at[1] - y) <= 12)
    return node


def test_the_heading_states_the_search_and_its_result() -> None:
    run = Run(SPREAD, "exhaustive", "loss")
    picture = Picture(pictured(run, ["one", "two", "three"]))
    outcome, shown = run.outcome, " ".join(picture.words)
    node = ", ".join(f"{name} {level}" for name, level in zip(("one", "two", "three"), outcome.node, strict=True))
    assert "Lattice of one, two, three: 64 nodes" in shown
    assert f"k = 3, at most 25 % of the rows suppressed. Strategy ola, metric loss: {outcome.nodes_checked} " in shown
    assert f"Best: {node}; loss {outcome.score:.4f}, proven optimal." in shown
    known = Counter(run.status(node) for node in SPREAD.nodes)
    for word, status in (("anonymous", True), ("not anonymous", False), ("unknown", None)):
        assert f"{word}: {known[status]}" in picture.words
    assert f"outlined: checked, {outcome.nodes_checked}" in picture.words
    title, description = picture.root[0], picture.root[1]
    assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
    assert picture.root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert picture.root.get("role") == "img"
    assert title.text == "Lattice of one, two, three: 64 nodes"


def test_a_search_out_of_time_does_not_claim_a_proof() -> None:
    run = Run(SPREAD, "exhaustive", "loss", stop_after=1)
    shown = " ".join(Picture(pictured(run)).words)
    assert "ended: time limit. Best:" in shown
    assert f"no node is below {run.outcome.lower_bound:.4f}" in shown
    assert "proven" not in shown


def test_any_name_is_only_a_name() -> None:
    names = ['<b>&"\x01\ud800', "an uncommonly long name " * 9, "WIDE_" * 40]
    picture = Picture(pictured(Run(SPREAD, "ola", "loss"), names))
    picture.inside()
    assert picture.words[0].startswith('Lattice of <b>&"\ufffd\ufffd, an uncommonly')
    assert "an uncommonly long name 0" not in picture.words, "wrapped"
    picture.text.encode()


def test_levels_of_two_digits_are_distinguished() -> None:
    tall = {str(i): (str(i), *(f"{i // 2}'{level}" for level in range(10)), "*") for i in range(4)}
    problem = Problem([(str(i % 4), str(i % 3)) for i in range(12)], [Column(tall), Column(tall)], 2)
    run = Run(problem, "exhaustive", "height")
    labels = {parts[-1].text for _, parts in Picture(pictured(run)).groups}
    assert labels == {f"{a}.{b}" for a in range(12) for b in range(12)}


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_same_search_gives_the_same_picture(name: str) -> None:
    columns = [Column(DIGITS)] * 3
    problem = Problem(SPREAD.rows, columns, 3, 0.25)
    try:
        texts = [lattice_svg(pictured(Run(problem, name, "loss", seed=4, evaluations=60))) for _ in range(2)]
    except SpecError as error:  # a strategy for lattices of another kind
        pytest.skip(f"runs where the strategy does: {error}")
    assert texts[0] == texts[1]


# Large lattices, level by level


@FAST
@given(problem=problems(bounded=True), name=drawn_all(), by=st.sampled_from(["loss", "height"]))
def test_a_strip_shows_the_shares_of_its_level(problem: Problem, name: str, by: str) -> None:
    if not keeps_a_row(problem, by):
        return
    run = Run(problem, name, by)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "MOST_NODES", 0)
        picture = Picture(pictured(run))
    picture.inside()
    checked = {step.node for step in run.outcome.trace}
    heights = range(sum(problem.nodes[-1]), sum(problem.nodes[0]) - 1, -1)
    for height, (tooltip, parts) in zip(heights, picture.groups, strict=True):
        nodes = [node for node in problem.nodes if sum(node) == height]
        known = Counter(run.status(node) for node in nodes)
        statuses = Counter(run.status(node) for node in nodes if node in checked)
        bars = Counter({part.get("fill"): box(part)[2] for part in parts if part.get("fill") in FILLS.values()})
        dark = [box(part)[2] for part in parts if part.tag == f"{SVG}rect" and part.get("fill") == INK]
        scale = _STRIP / len(nodes)
        for status, fill in FILLS.items():
            assert bars[fill] == pytest.approx(known[status] * scale, abs=0.01)
        assert dark == pytest.approx([statuses[s] * scale for s in (False, True) if statuses[s]], abs=0.01)
        numbers = [part.text for part in parts if part.tag == f"{SVG}text"]
        counts = [known[False], known[None], known[True], statuses.total()]
        assert numbers == [str(number) for number in (height, len(nodes), *counts)]
        assert f"height {height}: {len(nodes)} nodes, {statuses.total()} checked" in tooltip
        marked = any(part.tag == f"{SVG}polygon" for part in parts)
        assert marked == (height == sum(run.outcome.node))


@FAST
@given(problem=problems(bounded=True), name=st.sampled_from(["exhaustive", "ola"]))
def test_a_lattice_too_large_to_list_shows_the_checked_nodes(problem: Problem, name: str) -> None:
    if not keeps_a_row(problem, "height"):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags, "DENSE_LIMIT", 0)
        patch.setattr(pictures, "MOST_NODES", 0)
        run = Run(problem, name, "height")
        picture = Picture(pictured(run))
    picture.inside()
    statuses = Counter((sum(node), run.status(node)) for node in {step.node for step in run.outcome.trace})
    most = max((statuses[height, True] + statuses[height, False] for height, _ in statuses), default=1)
    heights = range(sum(problem.nodes[-1]), sum(problem.nodes[0]) - 1, -1)
    for height, (_, parts) in zip(heights, picture.groups, strict=True):
        bars = Counter({part.get("fill"): box(part)[2] for part in parts if part.tag == f"{SVG}rect"})
        for status in (True, False):
            assert bars[FILLS[status]] == pytest.approx(statuses[height, status] * _STRIP / most, abs=0.01)
    assert not any(word.startswith("unknown: ") for word in picture.words)


def test_a_huge_lattice_fits_its_picture() -> None:
    """Twenty-five columns of four levels each: 1.1e+15 nodes on 76 levels."""
    columns = [Column({v: (v, v, f"{v}'", "*") for v in "ab"})] * 25
    rows = [tuple("ab"[(i >> j) % 2] for j in range(25)) for i in range(64)]
    problem = Problem(rows, columns, 4)
    object.__setattr__(problem, "nodes", [(0,) * 25, (3,) * 25])
    run = Run(problem, "ola", "height", stop_after=40)
    picture = Picture(pictured(run))
    picture.inside()
    assert picture.words[0] == "Lattice of 25 quasi-identifiers: 1.1e+15 nodes"
    assert len(picture.groups) == 76


# The parts


@given(text=st.text(alphabet="ab WÄ漢 ", max_size=200), width=st.integers(40, 400))
def test_no_line_exceeds_the_maximum_width(text: str, width: int) -> None:
    lines = wrapped(text, 12, width)
    assert all(text_width(line, 12) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(text.split())


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_is_readable_and_the_colours_differ_in_grey_too() -> None:
    """WCAG 2's contrast: 4.5 for text; and the two verdicts differ in lightness, not in hue alone."""
    assert all(contrast(INK, fill) >= 4.5 for fill in (*FILLS.values(), "#ffffff"))
    assert contrast("#555555", "#ffffff") >= 4.5
    assert contrast(ANONYMOUS, AT_RISK) >= 1.5
