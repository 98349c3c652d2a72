"""The picture of a searched lattice: its nodes where there is room for each, else a strip for each level."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.report import hasse, strips
from kanon_sql.report.numbers import count, figure
from kanon_sql.report.searched import MARGIN, Searched
from kanon_sql.report.svg import Element, Look, document, picture, rectangle, text, text_width, wrapped
from kanon_sql.spec import limit_text

_NAMED = 12  # columns named in the title; the best node names the others
_LINE = 18


def lattice_svg(searched: Searched) -> str:
    """Draw a searched lattice as SVG: the same search gives the same text.

    Blue nodes are known to be anonymous, orange ones not to be, grey ones are unknown; an outline says that the data
    was asked, none that the status was concluded from another node. A lattice of up to 150 nodes is drawn node by
    node, a larger one level by level.
    """
    draw = hasse.draw if hasse.can_draw(searched.lattice) else strips.draw
    body = draw(searched)
    top, height = heading(searched, body.legend, body.width)
    moved = body.elements(MARGIN, height)
    return document(body.width, height + body.height, title(searched), summary(searched), [*top, *moved])


def in_report(searched: Searched) -> str:
    """The picture of a small lattice without what a page around it says, and without tooltips: they count few rows."""
    body = hasse.draw(searched)
    legend, height = _legend(body.legend, body.width - 2 * MARGIN, 4.0)
    moved = [*legend, *body.elements(MARGIN, height + 12)]
    for element in moved:
        for tooltip in element.findall("title"):
            element.remove(tooltip)
    size = body.width, height + 12 + body.height
    return picture("lattice", *size, title(searched), summary(searched), moved)


def heading(searched: Searched, legend: Sequence[tuple[Look, str]], width: float) -> tuple[list[Element], float]:
    """The title, what was searched and released, and the legend; and where the picture may begin."""
    room, y = width - 2 * MARGIN, float(MARGIN)
    elements = []
    for line in wrapped(title(searched), 16, room):
        y += 22
        elements.append(text(line, MARGIN, y - 6, 16, font_weight="bold"))
    for sentence in summary(searched).split("\n"):
        for line in wrapped(sentence, 12, room):
            y += _LINE
            elements.append(text(line, MARGIN, y - 5))
    drawn_legend, y = _legend(legend, room, y + 12)
    return elements + drawn_legend, y + 12


def title(searched: Searched) -> str:
    """What lattice it is."""
    named = len(searched.columns) <= _NAMED
    columns = ", ".join(searched.columns) if named else f"{len(searched.columns)} quasi-identifiers"
    return f"Lattice of {columns}: {count(searched.lattice.size)} nodes"


def summary(searched: Searched) -> str:
    """How it was searched and what came of it, a line each."""
    outcome = searched.outcome
    tagged = "" if outcome.nodes_tagged is None else f", {count(outcome.nodes_tagged)} tagged"
    ended = "" if outcome.ended == "complete" else f"; ended: {outcome.ended}"
    proof = "proven optimal" if outcome.proven_optimal else f"no node is below {figure(outcome.lower_bound)}"
    limit = limit_text(searched.suppression_limit)
    return (
        f"{searched.asked}, at most {limit} suppressed. "
        f"Strategy {searched.strategy}, metric {searched.metric}: "
        f"{count(outcome.nodes_checked)} nodes checked{tagged}{ended}.\n"
        f"Best: {searched.said(outcome.node)}; {searched.metric} {figure(outcome.score)}, {proof}."
    )


def _legend(items: Sequence[tuple[Look, str]], room: float, y: float) -> tuple[list[Element], float]:
    """Swatches with their words, in as many lines as they need."""
    x, elements = 0.0, []
    for look, words in items:
        width = 28 + text_width(words, 12) + 10
        if x and x + width > room:
            x, y = 0.0, y + 24
        elements += [rectangle(MARGIN + x, y, 20, 14, look), text(words, MARGIN + x + 28, y + 11)]
        x += width
    return elements, y + 24
