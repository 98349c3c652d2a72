"""The charts of a report: SVG in the colours of the surrounding page.

Classes: `s` is the source, `r` the release, `m` quiet text, `g` lines. The page has the style sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from kanon_sql.report.numbers import figure
from kanon_sql.report.svg import Element, clean, element, picture, shortened, text_width

Row = Mapping[str, Any]
_WIDE = 720
_SIZE = 11.0  # of the text
TREATMENTS = (("kept", "r"), ("few", "r2"), ("many", "r3"), ("hidden", "h"), ("suppressed", "n"))


def sizes(rows: Sequence[Row], of_source: int | None, of_release: int, k: int, who: str) -> str:
    """Group sizes: the share of rows in every band of sizes, in the source and in the release."""
    shares = [(_part(row["source"], of_source), _part(row["release"], of_release)) for row in rows]
    most = max((share for both in shares for share in both if share is not None), default=1.0) or 1.0
    left = 8.0
    top = 34.0
    high = 150.0
    step = (_WIDE - 16) / max(len(rows), 1)
    wide = min(26.0, step / 2 - 5)
    parts: list[Element] = [_line(left, top + high, _WIDE - 8, top + high)]
    bars: dict[str, list[tuple[float, float, float, float]]] = {"s": [], "r": []}
    for place, (row, both) in enumerate(zip(rows, shares, strict=True)):
        middle = left + (place + 0.5) * step
        if row["least"] == k and place:
            x = middle - step / 2
            parts += [_line(x, 12, x, top + high, "k"), _text(f"k = {k}", x + 5, 20, "a")]
        for name, share, x in zip("sr", both, (middle - wide - 1, middle + 1), strict=True):
            if share:
                tall = high * share / most
                bars[name].append((x, top + high - tall, wide, tall))
                parts.append(
                    _text(_percent(share), x + wide / 2, top + high - tall - 4, "m" if name == "s" else "", "middle")
                )
        parts.append(_text(band(row), middle, top + high + 16, "", "middle"))
    parts.append(_text(f"{who} in the same group", _WIDE / 2, top + high + 34, "m", "middle"))
    parts += [_bars(name, bar) for name, bar in bars.items()]
    text = f"Share of {who} by the size of their group: grey in the source, coloured in the release."
    return picture("sizes", _WIDE, top + high + 42, "Group sizes before and after", text, parts)


def band(row: Row) -> str:
    """The sizes of a band in words: 1, 3–4, 1,000+."""
    least, most = row["least"], row["most"]
    if most is None:
        return f"{least:,}+"
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def columns(rows: Sequence[Row], part: int) -> str:
    """One bar per column: the rows of the source by what happened to their cell."""
    label = 150.0
    wide = _WIDE - 150.0 - 8
    high = 24.0
    parts: list[Element] = []
    for place, row in enumerate(rows):
        y = place * high + 4
        total = row["rows"] or 1
        parts.append(_text(shortened(row["column"], _SIZE, label - 14), label - 10, y + 13, "", "end"))
        parts += _stack(label, y + 2, wide, 14, [(css, row[name] / total) for name, css in TREATMENTS])
    text = "For every column, a bar shows the rows by what happened to their value: kept, generalized or left out."
    return picture(f"columns{part}", _WIDE, len(rows) * high + 4, "What became of each column", text, parts)


def _stack(x: float, y: float, wide: float, high: float, shares: Iterable[tuple[str, float]]) -> list[Element]:
    parts = []
    for css, share in shares:
        if share > 0:
            parts.append(_bars(css, [(x, y, max(share * wide, 0.6), high)]))
            x += share * wide
    return parts


def bins(name: str, column: str, rows: Sequence[Row], of_source: int, of_release: int) -> str:
    """A column's distribution: per bin the release's bar inside the source's, and both shares."""
    shares = [(row["source"] / of_source, row["release"] / max(of_release, 1)) for row in rows]
    most = max((share for both in shares for share in both), default=1.0) or 1.0
    width, label, end, high = 344.0, 124.0, 118.0, 19.0
    of_source_end, of_release_end = width - 64, width - 2  # of the columns of shares, which end there
    wide = width - label - end
    parts: list[Element] = [
        _text("source", of_source_end, 10, "m", "end"),
        _text("release", of_release_end, 10, "m", "end"),
        _bars("s", [(of_source_end - text_width("source", _SIZE) - 10, 3, 6, 6)]),
        _bars("r", [(of_release_end - text_width("release", _SIZE) - 10, 3, 6, 6)]),
    ]
    boxes: dict[str, list[tuple[float, float, float, float]]] = {"s": [], "r": []}
    for place, (row, both) in enumerate(zip(rows, shares, strict=True)):
        y = place * high + 16
        parts.append(_text(shortened(row["label"], _SIZE, label - 8), label - 6, y + 11, "", "end"))
        for css, share, down, thick in zip("sr", both, (1, 5), (14, 6), strict=True):
            if share > 0:
                boxes[css].append((label, y + down, max(share / most * wide, 0.8), thick))
        parts.append(_text(f"{both[0]:.1%}", of_source_end, y + 11, "m", "end"))
        parts.append(_text(f"{both[1]:.1%}", of_release_end, y + 11, "", "end"))
    drawn = [_bars(css, box) for css, box in boxes.items()]
    text = "Shares of the rows, the source's in grey, the release's in colour inside it."
    return picture(name, width, len(rows) * high + 20, f"Distribution of {column}", text, [*drawn, *parts])


def associations(rows: Sequence[Row]) -> str:
    """The matrix of associations between columns: below the diagonal in the source, above it in the release."""
    names = list(dict.fromkeys(name for row in rows for name in row["columns"]))
    by_pair = {tuple(row["columns"]): row for row in rows}
    label = 170.0
    cell = min(44.0, (_WIDE - 180) / len(names))
    high = 24.0
    top = 22.0
    parts: list[Element] = []
    for place, name in enumerate(names):
        y = top + place * high
        parts.append(_text(shortened(name, _SIZE, label - 40), label - 32, y + 16, "", "end"))
        parts.append(_text(str(place + 1), label - 10, y + 16, "m", "end"))
        parts.append(_text(str(place + 1), label + (place + 0.5) * cell, top - 6, "m", "middle"))
        parts.append(_bars("d", [(label + place * cell, y, cell - 1, high - 1)]))
    for i, j in combinations(range(len(names)), 2):
        pair = by_pair[names[i], names[j]]
        parts += _cell(pair["source"], label + i * cell, top + j * high, cell, high)
        parts += _cell(pair["release"], label + j * cell, top + i * high, cell, high)
    text = "Below the diagonal the source, above it the release; the stronger the colour, the stronger the association."
    size = label + len(names) * cell + 4, top + len(names) * high + 4
    return picture("associations", *size, "Associations of columns", text, parts)


def _cell(value: float | None, x: float, y: float, wide: float, high: float) -> list[Element]:
    strength = min(1.0, abs(value or 0.0))
    box = _bars("r", [(x, y, wide - 1, high - 1)])
    box.set("fill-opacity", f"{strength:.2f}".rstrip("0").rstrip(".") or "0")
    css = "w" if strength > 0.55 else "m" if strength < 0.005 else ""
    return [box, _text(short(value), x + (wide - 1) / 2, y + high / 2 + 3.5, css, "middle")]


def short(value: float | None) -> str:
    """A share or correlation with two decimals, without a leading zero.

    >>> short(0.4267), short(-0.05), short(1.0), short(0.001), short(None)
    ('.43', '−.05', '1', '0', '–')
    """
    if value is None:
        return "–"
    if abs(value) < 0.005:
        return "0"
    text = f"{abs(value):.2f}".lstrip("0") if abs(value) < 0.995 else "1"
    return f"−{text}" if value < 0 else text


def by_k(rows: Sequence[Row], metric: str, k: int) -> str:
    """The score and the suppressed share for every k, side by side."""
    panels = (("score", metric, 8.0, 400.0), ("suppressed", "rows left out", 448.0, 264.0))
    parts = [part for name, title, left, wide in panels for part in _of_k(rows, name, title, k, left, wide)]
    text = (
        "On the left the information loss at each k, on the right the share of rows left out; the release's is darker."
    )
    return picture("by-k", _WIDE, 188, "The loss for other k", text, parts)


def _of_k(rows: Sequence[Row], name: str, title: str, k: int, left: float, wide: float) -> list[Element]:
    top = 44.0
    high = 100.0
    step = wide / max(len(rows), 1)
    most = max((row[name] or 0.0 for row in rows), default=1.0) or 1.0
    parts = [_text(title, left, 14, "m"), _line(left, top + high, left + wide, top + high)]
    for place, row in enumerate(rows):
        own = row["k"] == k
        middle = left + (place + 0.5) * step
        tall = high * (row[name] or 0.0) / most
        text = "few" if row[name] is None else _percent(row[name]) if name == "suppressed" else figure(row[name])
        parts.append(_bars("r" if own else "r3", [(middle - 13, top + high - tall, 26, tall)]))
        parts.append(_text(text, middle, top + high - tall - 5, "a" if own else "", "middle"))
        parts.append(_text(f"k = {k}" if own else f"{row['k']}", middle, top + high + 16, "a" if own else "", "middle"))
    return parts


def _part(rows: float | None, of: int | None) -> float | None:
    return None if rows is None or not of else rows / of


def _percent(share: float) -> str:
    """A share for display.

    >>> _percent(0.0213), _percent(0.123), _percent(0.0002), _percent(0)
    ('2.1%', '12%', '<.1%', '0')
    """
    if share <= 0:
        return "0"
    if share < 0.0005:
        return "<.1%"
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


def _bars(css: str, boxes: Sequence[tuple[float, float, float, float]]) -> Element:
    """Rectangles of one style as one path, which makes the SVG short."""
    return element("path", class_=css, d="".join(f"M{x:.1f} {y:.1f}h{w:.1f}v{h:.1f}h-{w:.1f}z" for x, y, w, h in boxes))


def _line(x1: float, y1: float, x2: float, y2: float, css: str = "g") -> Element:
    return element("path", class_=css, d=f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")


def _text(content: str, x: float, y: float, css: str = "", anchor: str = "") -> Element:
    label = element("text", x=x, y=y, **({"class_": css} if css else {}), **({"text_anchor": anchor} if anchor else {}))
    label.text = clean(content)
    return label
