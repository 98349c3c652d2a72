"""A small lattice node by node: levels from the bottom up, a line for each step of one attribute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.report.searched import ANONYMOUS, AT_RISK, MARGIN, UNKNOWN, Body, Searched
from kanon_sql.report.svg import INK, Element, Look, element, group, rectangle, text, text_width
from kanon_sql.strategies.levels import level_sizes

MOST = 150  # nodes; with more the lines are a web that nobody can follow
_WIDEST = 24  # nodes side by side
_SIZE, _BOX, _STEP, _AXIS = 11, 22, 66, 70
_GAP, _WIDEST_GAP = 16, 60
_LEAST_WIDTH = 740
_FILLS = {True: ANONYMOUS, False: AT_RISK, None: UNKNOWN}
_WORDS = {True: "anonymous", False: "not anonymous", None: "unknown"}
_EDGE = "#bdbdbd"


def can_draw(lattice: Lattice) -> bool:
    """Whether a lattice's nodes can be told apart in a picture."""
    return lattice.size <= MOST and max(level_sizes(lattice)) <= _WIDEST


def draw(searched: Searched) -> Body:
    """The nodes and the lines between them."""
    layout = _Layout.of(searched.lattice)

    def elements(x: float, y: float) -> list[Element]:
        parts = [*_axis(layout, x, y), *_edges(layout, x, y)]
        return parts + [_node(searched, layout, node, x, y) for node in layout.places]

    return Body(layout.width + 2 * MARGIN, layout.height + MARGIN, _legend(searched), elements)


@dataclass(frozen=True)
class _Layout:
    """Where each node's middle is, and how large a box is."""

    lattice: Lattice
    places: dict[Node, tuple[float, float]]
    box: float
    width: float
    height: float

    @classmethod
    def of(cls, lattice: Lattice) -> _Layout:
        box = text_width(_label(lattice, lattice.top), _SIZE) + 14
        # In lexicographic order as few lines cross as after sorting by barycentres: within some percent.
        rows = [list(lattice.at_height(height)) for height in range(lattice.height + 1)]
        widest = max(map(len, rows))
        pitch = box + min(_WIDEST_GAP, max(_GAP, (_LEAST_WIDTH - _AXIS) / widest - box))
        width = max(_LEAST_WIDTH, _AXIS + widest * pitch)
        middle = _AXIS + (width - _AXIS) / 2
        height = len(rows) * _STEP - (_STEP - _BOX)
        places = {
            node: (middle + (i - (len(row) - 1) / 2) * pitch, height - _BOX / 2 - up * _STEP)
            for up, row in enumerate(rows)
            for i, node in enumerate(row)
        }
        return cls(lattice, places, box, width, height + 8)


def _label(lattice: Lattice, node: Node) -> str:
    """The levels side by side, with points between them where one of the lattice has two digits."""
    return ("" if max(lattice.top) < 10 else ".").join(map(str, node))


def _axis(layout: _Layout, x: float, y: float) -> Iterator[Element]:
    lowest = sum(layout.lattice.bottom)
    for up, middle in enumerate(sorted({place[1] for place in layout.places.values()}, reverse=True)):
        yield text(f"height {lowest + up}", x, y + middle + 4, _SIZE, fill="#555555")


def _edges(layout: _Layout, x: float, y: float) -> Iterator[Element]:
    for node, (left, low) in layout.places.items():
        for upper in layout.lattice.successors(node):
            right, high = layout.places[upper]
            ends = {"x1": x + left, "y1": y + low - _BOX / 2, "x2": x + right, "y2": y + high + _BOX / 2}
            yield element("line", **ends, stroke=_EDGE, stroke_width=0.9)


def _node(searched: Searched, layout: _Layout, node: Node, x: float, y: float) -> Element:
    middle, height = layout.places[node]
    left, top, wide = x + middle - layout.box / 2, y + height - _BOX / 2, layout.box
    best, checked = node == searched.outcome.node, node in searched.rows_at_risk
    parts = []
    if best:
        parts.append(rectangle(left - 5, top - 5, wide + 10, _BOX + 10, Look("#ffffff", INK, 2.5, 7)))
    look = Look(_FILLS[searched.tags.status(node)], INK, 1.8 if checked else 0.0, 4)
    parts.append(rectangle(left, top, wide, _BOX, look))
    weight = {"font_weight": "bold"} if best else {}
    parts.append(
        text(_label(searched.lattice, node), x + middle, y + height + 4, _SIZE, text_anchor="middle", **weight)
    )
    return group(_tooltip(searched, node), parts)


def _tooltip(searched: Searched, node: Node) -> str:
    status = _WORDS[searched.tags.status(node)]
    if node in searched.rows_at_risk:
        rows = searched.rows_at_risk[node]
        known = "checked" if rows is None else f"checked, {rows:,} rows at risk"
    else:
        known = "tagged" if status != "unknown" else "not checked"
    best = ", best" if node == searched.outcome.node else ""
    return f"{searched.said(node)}: {status}, {known}{best}"


def _legend(searched: Searched) -> list[tuple[Look, str]]:
    safe, at_risk = (sum(getattr(level, name) for level in searched.levels) for name in ("anonymous", "at_risk"))
    unknown = searched.lattice.size - safe - at_risk
    outlined = sum(level.checked for level in searched.levels)
    return [
        (Look(ANONYMOUS, radius=3), f"anonymous: {safe}"),
        (Look(AT_RISK, radius=3), f"not anonymous: {at_risk}"),
        (Look(UNKNOWN, radius=3), f"unknown: {unknown}"),
        (Look("#ffffff", INK, 1.8, 3), f"outlined: checked, {outlined}"),
        (Look("#ffffff", INK, 3.0, 6), f"ringed: best, {_label(searched.lattice, searched.outcome.node)}"),
    ]
