"""What the benchmark pages share: Markdown tables, the marks that they are put between, and the look of a plot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parent.parent / "docs" / "images"
Row = dict[str, Any]
BLUE, ORANGE, GREY, GREEN = "#0072b2", "#d55e00", "#7f7f7f", "#009e73"  # the colour-blind can distinguish them too


def fill(page: Path, parts: Mapping[str, Sequence[str]]) -> None:
    """Replace the text between the marks `<!-- name -->` and `<!-- end -->` of a page."""
    text = page.read_text(encoding="utf-8")
    for name, lines in parts.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not mark.search(text):
            raise SystemExit(f"{page.name} has no place for {name}")
        text = mark.sub(lambda match, lines=lines: match[1] + "\n".join(lines) + "\n" + match[2], text)
    page.write_text(text, encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return lines + [f"| {' | '.join(map(str, row))} |" for row in rows]


def axes(x: str, y: str) -> tuple[Any, Any]:
    """A figure and its axes; needs matplotlib, which tables do not."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, drawn = pyplot.subplots(figsize=(7.6, 3.4), layout="constrained")
    drawn.set_xlabel(x)
    drawn.set_ylabel(y)
    drawn.spines[["top", "right"]].set_visible(False)
    return figure, drawn


def save(figure: Any, name: str, title: str) -> None:
    """Write the picture; the same picture gives the same file."""
    import matplotlib

    IMAGES.mkdir(exist_ok=True)
    matplotlib.rcParams["svg.hashsalt"] = name
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None, "Title": title})
