"""The parts of SVG that our charts need."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import east_asian_width
from xml.etree import ElementTree

FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
INK = "#222222"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Element = ElementTree.Element


@dataclass(frozen=True)
class Look:
    """How a rectangle is painted."""

    fill: str
    stroke: str = "none"
    width: float = 0.0
    radius: float = 0.0


def text_width(text: str, size: float) -> float:
    """The approximate width of a text in DejaVu Sans, the widest of the fonts; too wide rather than too narrow."""
    return size * sum(map(_letter, text))


def _letter(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.0
    return 0.75 if letter.isupper() else 0.58


def wrapped(text: str, size: float, width: float) -> list[str]:
    """A text in lines of at most this width; a wider word is broken."""
    lines: list[str] = []
    most = max(1, int(width / size))
    for word in (whole[i : i + most] for whole in text.split() for i in range(0, len(whole), most)):
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def element(name: str, *children: Element, **attributes: object) -> Element:
    """An element; in attribute names, `_` becomes `-`, and `class_` becomes `class`."""
    plain = {key.rstrip("_").replace("_", "-"): _written(value) for key, value in attributes.items()}
    created = ElementTree.Element(name, plain)
    created.extend(children)
    return created


def text(content: str, x: float, y: float, size: float = 12, **attributes: object) -> Element:
    """A line of text with its baseline at `y`."""
    created = element("text", x=x, y=y, font_size=size, **{"fill": INK, **attributes})
    created.text = clean(content)
    return created


def rectangle(x: float, y: float, width: float, height: float, look: Look) -> Element:
    """A rectangle."""
    created = element("rect", x=x, y=y, width=width, height=height, fill=look.fill)
    if look.radius:
        created.set("rx", _written(look.radius))
    if look.width:
        created.set("stroke", look.stroke)
        created.set("stroke-width", _written(look.width))
    return created


def group(tooltip: str, children: Iterable[Element]) -> Element:
    """Elements with a common tooltip."""
    return element("g", _titled("title", tooltip), *children)


def document(width: float, height: float, title: str, description: str, children: Iterable[Element]) -> str:
    """A whole picture on white, with a title and description for screen readers."""
    named = _titled("title", title), _titled("desc", description)
    for title_element, name in zip(named, ("title", "description"), strict=True):
        title_element.set("id", name)
    paper = rectangle(0, 0, width, height, Look("#ffffff"))
    root = element(
        "svg",
        *named,
        paper,
        *children,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {_written(width)} {_written(height)}",
        role="img",
        aria_labelledby="title description",
        font_family=FONT,
    )
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def picture(name: str, width: float, height: float, title: str, description: str, children: Iterable[Element]) -> str:
    """A picture inside a page, in the page's colours and font; `name` is a prefix that makes its ids unique."""
    named = _titled("title", title), _titled("desc", description)
    for title_element, part in zip(named, ("title", "desc"), strict=True):
        title_element.set("id", f"{name}-{part}")
    root = element(
        "svg",
        *named,
        *children,
        viewBox=f"0 0 {_written(width)} {_written(height)}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )
    return ElementTree.tostring(root, encoding="unicode")


def shortened(content: str, size: float, width: float) -> str:
    """A text of at most this width, with an ellipsis if it is cut off."""
    if text_width(content, size) <= width:
        return content
    while content and text_width(f"{content}…", size) > width:
        content = content[:-1]
    return f"{content.rstrip()}…"


def _titled(name: str, content: str) -> Element:
    created = ElementTree.Element(name)
    created.text = clean(content)
    return created


def clean(content: str) -> str:
    """Text for XML: column names can contain any characters, and characters that XML excludes are replaced."""
    return _NOT_XML.sub("\ufffd", content)


def _written(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
