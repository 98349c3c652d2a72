"""The picture of a searched lattice, in which every node can be picked: with its figures, to become a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.page.charts import label
from kanon_sql.report.lattice_picture import can_draw_nodes
from kanon_sql.report.svg import Element, element, group, picture, text_width

MOST_LISTED = 60  # nodes of the table
MOST_NODES = 300  # of a large lattice
_COUNTS = ("suppressed", "groups", "smallest")
_HEIGHT, _STEP = 20.0, 52.0
_AXIS, _GAP, _LEAST, _MOST_GAP = 62.0, 10.0, 620.0, 60.0
_WIDE, _HIGH, _LEFT, _LOW = 620.0, 260.0, 46.0, 30.0
_DOT = 5.0
_STATUS = {True: "anonymous", False: "not anonymous", None: "not tested"}


@dataclass(frozen=True)
class ExploredNode:
    """A node: its levels by column, and its figures, as far as they were computed. `safe`: whether it is anonymous."""

    levels: Mapping[str, int]
    safe: bool | None
    suppressed: int | None = None
    detail: float | None = None
    groups: int | None = None
    smallest: int | None = None

    @property
    def key(self) -> str:
        """Its levels as they are written in an address."""
        return ".".join(map(str, self.levels.values()))

    @property
    def status(self) -> str:
        """Whether it is anonymous, in words."""
        return _STATUS[self.safe]


@dataclass(frozen=True)
class Exploration:
    """The explored nodes of a result; `best`: the node that the search found, `picked`: the one to look at."""

    number: int
    columns: Sequence[str]
    nodes: Mapping[Node, ExploredNode]
    lattice: Lattice
    best: Node
    picked: ExploredNode
    rows: int
    may_suppress: int
    small: bool
    samples: Mapping[str, Sequence[str]]

    def labels_of(self, node: ExploredNode) -> Iterator[tuple[str, int, str]]:
        """Per column the level of a node, and how it shows one value."""
        for name, level in node.levels.items():
            sample = self.samples.get(name)
            shown = ""
            if sample and level < len(sample) and sample[level]:
                shown = sample[0] if level == 0 else f"{sample[0]} → {sample[level]}".lstrip()
            yield name, level, shown

    @property
    def listed(self) -> list[ExploredNode]:
        """The anonymous nodes that keep most detail."""
        anonymous = [node for node in self.nodes.values() if node.safe and node.detail is not None]
        return sorted(anonymous, key=lambda node: -(node.detail or 0))[:MOST_LISTED]


def exploration(number: int, explored: Mapping[str, Any], picked: str) -> Exploration | None:
    """The explored lattice of a result; None without one. `picked`: the levels of a node, by default the best.

    KeyError, TypeError or ValueError for a lattice in a file that is not one that was saved.
    """
    if not explored:
        return None
    columns = [str(name) for name in explored["columns"]]
    bottom, top, best = (_node_of(explored[name], columns) for name in ("bottom", "top", "best"))
    nodes = {}
    for found in explored["nodes"]:
        node = _node_of(found["node"], columns)
        safe = None if found["safe"] is None else bool(found["safe"])
        detail = None if found["detail"] is None else float(found["detail"])
        counts = {name: None if found.get(name) is None else int(found[name]) for name in _COUNTS}
        nodes[node] = ExploredNode(dict(zip(columns, node, strict=True)), safe, detail=detail, **counts)
    by_key = {node.key: node for node in nodes.values()}
    return Exploration(
        number,
        columns,
        nodes,
        Lattice(bottom, top),
        best,
        by_key.get(picked, nodes[best]),
        int(explored["rows"]),
        int(explored["may_suppress"]),
        bool(explored["small"]),
        explored["samples"],
    )


def without_values(explored: Mapping[str, Any]) -> dict[str, Any]:
    """An explored lattice to be saved: without the values that show its labels."""
    return {**explored, "samples": {}} if explored else {}


def checked(explored: Mapping[str, Any]) -> dict[str, Any]:
    """An explored lattice of a file, without values; the same errors if it is not one that was saved."""
    found = exploration(0, explored, "")
    if found is None:
        return {}
    lattice = found.lattice
    bounds = list(zip(lattice.bottom, lattice.top, strict=True))
    inside = all(low <= level <= top for node in found.nodes for level, (low, top) in zip(node, bounds, strict=True))
    if not inside or len(explored["nodes"]) > MOST_NODES:
        raise ValueError("nodes")
    if found.small and not can_draw_nodes(lattice):
        raise ValueError("size")
    return without_values(explored)


def _node_of(levels: Sequence[Any], columns: Sequence[str]) -> Node:
    """The levels of a file as a node; ValueError if they are not one per column."""
    if len(levels) != len(columns):
        raise ValueError("levels")
    return tuple(int(level) for level in levels)


def drawn(of: Exploration, address: Callable[[str], str]) -> str:
    """The picture: a small lattice node by node, a large one by what its tested nodes keep and leave out.

    `address`: where the link of a node leads to, by its key.
    """
    picture_of_nodes = _lattice(of, address) if of.small else _scatter(of, address)
    return picture_of_nodes.replace('role="img"', 'role="group"', 1)  # it contains links


def _lattice(of: Exploration, address: Callable[[str], str]) -> str:
    rows = [list(of.lattice.at_height(height)) for height in range(of.lattice.height + 1)]
    box = max(26.0, text_width(_name(of, of.lattice.top), 10) + 12)
    widest = max(map(len, rows))
    pitch = box + min(_MOST_GAP, max(_GAP, (_LEAST - _AXIS) / widest - box))
    width = max(_LEAST, _AXIS + widest * pitch)
    high = (len(rows) - 1) * _STEP + _HEIGHT + 12
    middle = _AXIS + (width - _AXIS) / 2
    places = {
        node: (middle + (place - (len(row) - 1) / 2) * pitch, high - 6 - _HEIGHT / 2 - up * _STEP)
        for up, row in enumerate(rows)
        for place, node in enumerate(row)
    }
    parts: list[Element] = []
    for up, row in enumerate(rows):
        parts.append(label(f"height {sum(of.lattice.bottom) + up}", 0, places[row[0]][1] + 4))
    for node, (x, y) in places.items():
        for upper in of.lattice.successors(node):
            to_x, to_y = places[upper]
            parts.append(element("line", x1=x, y1=y - _HEIGHT / 2, x2=to_x, y2=to_y + _HEIGHT / 2, class_="g"))
    for node, (x, y) in places.items():
        found = of.nodes.get(node)
        if found is not None:
            shape = element(
                "rect", x=x - box / 2, y=y - _HEIGHT / 2, width=box, height=_HEIGHT, rx=4, class_=_css(of, node, found)
            )
            name = label(_name(of, node), x, y + 4, text_anchor="middle")
            parts.append(_link(found, address, [shape, name]))
    text = "Every box is a combination of levels; lines lead to the next higher levels. The table below has the best."
    return picture("lattice", width, high, f"Lattice of {len(of.nodes)} combinations of levels", text, parts)


def _scatter(of: Exploration, address: Callable[[str], str]) -> str:
    """Detail from left to right, rows that are left out from the bottom up."""
    shown = {
        node: found for node, found in of.nodes.items() if found.detail is not None and found.suppressed is not None
    }
    details = [found.detail or 0.0 for found in shown.values()]
    least, most = min(details, default=0.0), max(details, default=1.0)
    suppressed = max([found.suppressed or 0 for found in shown.values()], default=0) or 1
    parts: list[Element] = [
        element("line", x1=_LEFT, y1=_HIGH - _LOW, x2=_WIDE, y2=_HIGH - _LOW, class_="g"),
        element("line", x1=_LEFT, y1=8, x2=_LEFT, y2=_HIGH - _LOW, class_="g"),
        label(f"{suppressed:,}", 0, 14),
        label("0 rows", 0, _HIGH - _LOW + 3),
        label(f"{100 * least:.1f}% of the detail", _LEFT, _HIGH - 12),
        label(f"{100 * most:.1f}%", _WIDE, _HIGH - 12, text_anchor="end"),
    ]
    for node, found in reversed(shown.items()):  # the best one is drawn last
        share = ((found.detail or 0.0) - least) / ((most - least) or 1.0)
        x = _LEFT + 8 + share * (_WIDE - _LEFT - 16)
        y = _HIGH - _LOW - 8 - (found.suppressed or 0) / suppressed * (_HIGH - _LOW - 22)
        radius = _DOT + 2 if node == of.best or found is of.picked else _DOT
        circle = element("circle", cx=x, cy=y, r=radius, class_=_css(of, node, found))
        parts.append(_link(found, address, [circle]))
    text = "Every dot is an anonymous combination of levels: right keeps more detail, low leaves out less."
    return picture("lattice", _WIDE, _HIGH, f"{len(shown)} combinations of levels", text, parts)


def _name(of: Exploration, node: Node) -> str:
    return ("" if max(of.lattice.top) < 10 else ".").join(map(str, node))


def _css(of: Exploration, node: Node, found: ExploredNode) -> str:
    status = {True: "yes", False: "no", None: "open"}[found.safe]
    return " ".join(["node", status, *(["best"] if node == of.best else []), *(["on"] if found is of.picked else [])])


def _link(found: ExploredNode, address: Callable[[str], str], shapes: list[Element]) -> Element:
    words = [", ".join(f"{name} {level}" for name, level in found.levels.items()), found.status]
    if found.detail is not None:
        words.append(f"keeps {100 * found.detail:.1f}%")
    if found.suppressed is not None:
        words.append(f"{found.suppressed:,} rows at risk")
    named = "; ".join(words)
    return element("a", group(named, shapes), href=address(found.key), aria_label=named)
