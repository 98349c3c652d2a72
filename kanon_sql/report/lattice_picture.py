"""The picture of a searched lattice.

A small one is drawn node by node, as a Hasse diagram: levels from the bottom up, a line for each step of one attribute.
A large one is drawn level by level: a strip with the status of the level's nodes, and the counts next to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.report.numbers import count, figure
from kanon_sql.report.searched import ANONYMOUS, AT_RISK, MARGIN, UNKNOWN, Body, Searched
from kanon_sql.report.svg import (
    INK,
    Element,
    Look,
    document,
    element,
    group,
    picture,
    rectangle,
    text,
    text_width,
    wrapped,
)
from kanon_sql.spec import limit_text
from kanon_sql.strategies.levels import NodesOfHeight, level_sizes

_NAMED = 12  # columns named in the title; the best node names the others
_LINE = 18
MOST_NODES = 150  # with more nodes, the lines cannot be followed
_WIDEST = 24  # nodes side by side
_SIZE, _BOX, _ROW_STEP, _AXIS = 11, 22, 66, 70
_GAP, _WIDEST_GAP = 16, 60
_LEAST_WIDTH = 740
_FILLS = {True: ANONYMOUS, False: AT_RISK, None: UNKNOWN}
_WORDS = {True: "anonymous", False: "not anonymous", None: "unknown"}
_EDGE = "#bdbdbd"
_STRIP = 340
_HEIGHT_AT, _SIZE_AT, _STRIP_AT, _WIDTH = 66, 150, 166, 960
_COUNTS_AT = (624, 716, 816, 912)  # where the counts end, to the right of the strip
_CHECKED = 4  # height of the dark bar for checked nodes


def lattice_svg(searched: Searched) -> str:
    """Draw a searched lattice as SVG: the same search returns the same text.

    Blue nodes are anonymous, orange ones are not, grey ones are unknown. Outlined nodes were tested on the data; the
    status of others was concluded from other nodes. A lattice of up to 150 nodes is drawn node by node, a larger one
    level by level.
    """
    draw = _draw_nodes if can_draw_nodes(searched.lattice) else _draw_levels
    body = draw(searched)
    top, height = heading(searched, body.legend, body.width)
    moved = body.elements(MARGIN, height)
    return document(body.width, height + body.height, title(searched), summary(searched), [*top, *moved])


def in_report(searched: Searched) -> str:
    """The picture of a small lattice, without title and summary, and without tooltips, which can show small counts."""
    body = _draw_nodes(searched)
    legend, height = _legend(body.legend, body.width - 2 * MARGIN, 4.0)
    moved = [*legend, *body.elements(MARGIN, height + 12)]
    for shape in moved:
        for tooltip in shape.findall("title"):
            shape.remove(tooltip)
    size = body.width, height + 12 + body.height
    return picture("lattice", *size, title(searched), summary(searched), moved)


def heading(searched: Searched, legend: Sequence[tuple[Look, str]], width: float) -> tuple[list[Element], float]:
    """The title, the summary and the legend; and the position of the picture below them."""
    width = width - 2 * MARGIN
    y = float(MARGIN)
    elements = []
    for line in wrapped(title(searched), 16, width):
        y += 22
        elements.append(text(line, MARGIN, y - 6, 16, font_weight="bold"))
    for sentence in summary(searched).split("\n"):
        for line in wrapped(sentence, 12, width):
            y += _LINE
            elements.append(text(line, MARGIN, y - 5))
    drawn_legend, y = _legend(legend, width, y + 12)
    return elements + drawn_legend, y + 12


def title(searched: Searched) -> str:
    """The columns and the number of nodes."""
    named = len(searched.columns) <= _NAMED
    columns = ", ".join(searched.columns) if named else f"{len(searched.columns)} quasi-identifiers"
    return f"Lattice of {columns}: {count(searched.lattice.size)} nodes"


def summary(searched: Searched) -> str:
    """The settings of the search and its result, in one line each."""
    outcome = searched.outcome
    tagged = "" if outcome.nodes_tagged is None else f", {count(outcome.nodes_tagged)} tagged"
    ended = "" if outcome.ended == "complete" else f"; ended: {outcome.ended}"
    proof = "proven optimal" if outcome.proven_optimal else f"no node is below {figure(outcome.lower_bound)}"
    limit = limit_text(searched.suppression_limit)
    return (
        f"{searched.asked}, at most {limit} suppressed. "
        f"Strategy {searched.strategy}, metric {searched.metric}: "
        f"{count(outcome.nodes_checked)} nodes checked{tagged}{ended}.\n"
        f"Best: {searched.node_text(outcome.node)}; {searched.metric} {figure(outcome.score)}, {proof}."
    )


def _legend(items: Sequence[tuple[Look, str]], space: float, y: float) -> tuple[list[Element], float]:
    """Swatches with their texts, wrapped to the width."""
    x = 0.0
    elements = []
    for look, words in items:
        width = 28 + text_width(words, 12) + 10
        if x and x + width > space:
            x, y = 0.0, y + 24
        elements += [rectangle(MARGIN + x, y, 20, 14, look), text(words, MARGIN + x + 28, y + 11)]
        x += width
    return elements, y + 24


# A small lattice node by node


def can_draw_nodes(lattice: Lattice) -> bool:
    """Whether a lattice is small enough to be drawn node by node."""
    return lattice.size <= MOST_NODES and max(level_sizes(lattice)) <= _WIDEST


def _draw_nodes(searched: Searched) -> Body:
    """The nodes and the lines between them."""
    layout = _Layout.of(searched.lattice)

    def elements(x: float, y: float) -> list[Element]:
        parts = []
        lowest = sum(layout.lattice.bottom)
        for up, middle in enumerate(sorted({place[1] for place in layout.places.values()}, reverse=True)):
            parts.append(text(f"height {lowest + up}", x, y + middle + 4, _SIZE, fill="#555555"))
        for node, (left, low) in layout.places.items():
            for upper in layout.lattice.successors(node):
                right, high = layout.places[upper]
                ends = {"x1": x + left, "y1": y + low - _BOX / 2, "x2": x + right, "y2": y + high + _BOX / 2}
                parts.append(element("line", **ends, stroke=_EDGE, stroke_width=0.9))
        return parts + [_node(searched, layout, node, x, y) for node in layout.places]

    return Body(layout.width + 2 * MARGIN, layout.height + MARGIN, _legend_of_nodes(searched), elements)


@dataclass(frozen=True)
class _Layout:
    """The centre of every node, and the size of boxes."""

    lattice: Lattice
    places: dict[Node, tuple[float, float]]
    box: float
    width: float
    height: float

    @classmethod
    def of(cls, lattice: Lattice) -> _Layout:
        box = text_width(_node_label(lattice, lattice.top), _SIZE) + 14
        # Lexicographic order has about as few crossings as sorting by barycentres, within some percent.
        rows = [list(lattice.at_height(height)) for height in range(lattice.height + 1)]
        widest = max(map(len, rows))
        pitch = box + min(_WIDEST_GAP, max(_GAP, (_LEAST_WIDTH - _AXIS) / widest - box))
        width = max(_LEAST_WIDTH, _AXIS + widest * pitch)
        middle = _AXIS + (width - _AXIS) / 2
        height = len(rows) * _ROW_STEP - (_ROW_STEP - _BOX)
        places = {
            node: (middle + (i - (len(row) - 1) / 2) * pitch, height - _BOX / 2 - up * _ROW_STEP)
            for up, row in enumerate(rows)
            for i, node in enumerate(row)
        }
        return cls(lattice, places, box, width, height + 8)


def _node_label(lattice: Lattice, node: Node) -> str:
    """The levels next to each other, separated by points if the lattice has two-digit levels."""
    return ("" if max(lattice.top) < 10 else ".").join(map(str, node))


def _node(searched: Searched, layout: _Layout, node: Node, x: float, y: float) -> Element:
    middle, height = layout.places[node]
    left = x + middle - layout.box / 2
    top = y + height - _BOX / 2
    wide = layout.box
    best = node == searched.outcome.node
    checked = node in searched.rows_at_risk
    parts = []
    if best:
        parts.append(rectangle(left - 5, top - 5, wide + 10, _BOX + 10, Look("#ffffff", INK, 2.5, 7)))
    look = Look(_FILLS[searched.tags.status(node)], INK, 1.8 if checked else 0.0, 4)
    parts.append(rectangle(left, top, wide, _BOX, look))
    weight = {"font_weight": "bold"} if best else {}
    parts.append(
        text(_node_label(searched.lattice, node), x + middle, y + height + 4, _SIZE, text_anchor="middle", **weight)
    )
    return group(_node_tooltip(searched, node), parts)


def _node_tooltip(searched: Searched, node: Node) -> str:
    status = _WORDS[searched.tags.status(node)]
    if node in searched.rows_at_risk:
        rows = searched.rows_at_risk[node]
        test = "checked" if rows is None else f"checked, {rows:,} rows at risk"
    else:
        test = "tagged" if status != "unknown" else "not checked"
    best = ", best" if node == searched.outcome.node else ""
    return f"{searched.node_text(node)}: {status}, {test}{best}"


def _legend_of_nodes(searched: Searched) -> list[tuple[Look, str]]:
    safe, at_risk = (sum(getattr(level, name) for level in searched.levels) for name in ("anonymous", "at_risk"))
    unknown = searched.lattice.size - safe - at_risk
    outlined = sum(level.checked for level in searched.levels)
    return [
        (Look(ANONYMOUS, radius=3), f"anonymous: {safe}"),
        (Look(AT_RISK, radius=3), f"not anonymous: {at_risk}"),
        (Look(UNKNOWN, radius=3), f"unknown: {unknown}"),
        (Look("#ffffff", INK, 1.8, 3), f"outlined: checked, {outlined}"),
        (Look("#ffffff", INK, 3.0, 6), f"ringed: best, {_node_label(searched.lattice, searched.outcome.node)}"),
    ]


# A large lattice level by level


def _draw_levels(searched: Searched) -> Body:
    """A row per level, from the top."""
    rows = searched.levels[::-1]
    step, size = (24, 11.0) if len(rows) <= 40 else (16, 9.5)
    counted = rows[0].counted
    most = max(level.checked for level in rows) or 1
    best = sum(searched.outcome.node)

    def elements(x: float, y: float) -> list[Element]:
        shown = "share of the level's nodes" if counted else f"nodes checked (the longest bar: {most:,})"
        parts = list(_level_head(shown, x, y + 12, counted))
        for number, level in enumerate(rows):
            top = y + 24 + number * step
            bar = _status_bar(level, x, top, step - 6) if counted else _checked_bar(level, most, x, top, step - 6)
            words = _level_words(level, x, top + step / 2 + 1, size, level.height == best)
            parts.append(group(_level_tooltip(level), [*bar, *words]))
        return parts

    return Body(_WIDTH, 24 + len(rows) * step + MARGIN, _legend_of_levels(searched, counted), elements)


def _level_head(shown: str, x: float, y: float, counted: bool) -> Iterator[Element]:
    yield text("height", x + _HEIGHT_AT, y, 11, text_anchor="end", font_weight="bold")
    yield text("nodes", x + _SIZE_AT, y, 11, text_anchor="end", font_weight="bold")
    yield text(shown, x + _STRIP_AT, y, 11, font_weight="bold")
    names = ("not anonymous", "unknown" if counted else "", "anonymous", "checked")
    for name, end in zip(names, _COUNTS_AT, strict=True):
        yield text(name, x + end, y, 11, text_anchor="end", font_weight="bold")


def _status_bar(level: NodesOfHeight, x: float, y: float, high: float) -> Iterator[Element]:
    """The level's nodes by status, with the checked ones underlined."""
    scale, left = _STRIP / level.size, x + _STRIP_AT
    for nodes, checked, fill in (
        (level.at_risk, level.checked_at_risk, AT_RISK),
        (level.unknown, 0, UNKNOWN),
        (level.anonymous, level.checked_anonymous, ANONYMOUS),
    ):
        if nodes:
            yield rectangle(left, y, nodes * scale, high, Look(fill))
        if checked:
            yield rectangle(left, y + high - _CHECKED, max(1.0, checked * scale), _CHECKED, Look(INK))
        left += nodes * scale


def _checked_bar(level: NodesOfHeight, most: int, x: float, y: float, high: float) -> Iterator[Element]:
    """The level's checked nodes by status, since all nodes together are too many for shares."""
    scale, left = _STRIP / most, x + _STRIP_AT
    yield rectangle(left, y, _STRIP, high, Look("#f7f7f7"))
    for nodes, fill in ((level.checked_at_risk, AT_RISK), (level.checked_anonymous, ANONYMOUS)):
        if nodes:
            yield rectangle(left, y, nodes * scale, high, Look(fill))
        left += nodes * scale


def _level_words(level: NodesOfHeight, x: float, y: float, size: float, best: bool) -> Iterator[Element]:
    weight = {"font_weight": "bold"} if best else {}
    if best:
        tip = f"{x:.2f},{y - size:.2f} {x + 9:.2f},{y - size / 2:.2f} {x:.2f},{y:.2f}"
        yield element("polygon", points=tip, fill=INK)
    counts = (level.at_risk, level.unknown if level.counted else 0, level.anonymous, level.checked)
    shown = [count(number) if number or level.counted else "" for number in counts]
    words = (str(level.height), count(level.size), *shown)
    for word, end in zip(words, (_HEIGHT_AT, _SIZE_AT, *_COUNTS_AT), strict=True):
        if word:
            yield text(word, x + end, y, size, text_anchor="end", **weight)


def _level_tooltip(level: NodesOfHeight) -> str:
    tagged = f"{count(level.at_risk)} not anonymous, {count(level.anonymous)} anonymous"
    unknown = f", {count(level.unknown)} unknown" if level.counted else " among the checked ones"
    return f"height {level.height}: {count(level.size)} nodes, {count(level.checked)} checked; {tagged}{unknown}"


def _legend_of_levels(searched: Searched, counted: bool) -> list[tuple[Look, str]]:
    safe, at_risk, checked = (
        sum(getattr(level, name) for level in searched.levels) for name in ("anonymous", "at_risk", "checked")
    )
    items = [(Look(AT_RISK), f"not anonymous: {count(at_risk)}"), (Look(ANONYMOUS), f"anonymous: {count(safe)}")]
    if counted:
        unknown = searched.lattice.size - safe - at_risk
        items.insert(1, (Look(UNKNOWN), f"unknown: {count(unknown)}"))
        items.append((Look(INK), f"underlined: checked, {count(checked)}"))
    return items
