"""The few parts of SVG that our pictures are made of."""

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
    """About how wide a text is in DejaVu Sans, the widest of the fonts; rather more than less."""
    return size * sum(map(_letter, text))


def _letter(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.0
    return 0.75 if letter.isupper() else 0.58


def wrapped(text: str, size: float, width: float) -> list[str]:
    """The lines of a text that is not to be wider; a word that is wider alone is broken."""
    lines: list[str] = []
    most = max(1, int(width / size))
    for word in (whole[i : i + most] for whole in text.split() for i in range(0, len(whole), most)):
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def element(name: str, *children: Element, **attributes: object) -> Element:
    """An element; `_` in an attribute's name stands for `-`, and `class_` for `class`."""
    plain = {key.rstrip("_").replace("_", "-"): _written(value) for key, value in attributes.items()}
    made = ElementTree.Element(name, plain)
    made.extend(children)
    return made


def text(content: str, x: float, y: float, size: float = 12, **attributes: object) -> Element:
    """One line of text with its base line at `y`."""
    made = element("text", x=x, y=y, font_size=size, **{"fill": INK, **attributes})
    made.text = clean(content)
    return made


def rectangle(x: float, y: float, width: float, height: float, look: Look) -> Element:
    """A rectangle."""
    made = element("rect", x=x, y=y, width=width, height=height, fill=look.fill)
    if look.radius:
        made.set("rx", _written(look.radius))
    if look.width:
        made.set("stroke", look.stroke)
        made.set("stroke-width", _written(look.width))
    return made


def group(tooltip: str, children: Iterable[Element]) -> Element:
    """Elements that share a tooltip."""
    return element("g", _titled("title", tooltip), *children)


def document(width: float, height: float, title: str, description: str, children: Iterable[Element]) -> str:
    """A whole picture on white, named and described for those who do not see it."""
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
    """A picture inside a page, in the page's colours and font; `name` keeps its title apart from that of others."""
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
    """A text that is not to be wider, with an ellipsis where it is cut off."""
    if text_width(content, size) <= width:
        return content
    while content and text_width(f"{content}…", size) > width:
        content = content[:-1]
    return f"{content.rstrip()}…"


def _titled(name: str, content: str) -> Element:
    made = ElementTree.Element(name)
    made.text = clean(content)
    return made


def clean(content: str) -> str:
    """A column may be called anything; what XML cannot hold is shown as the sign for that."""
    return _NOT_XML.sub("\ufffd", content)


def _written(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
