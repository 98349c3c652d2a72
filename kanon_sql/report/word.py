"""A form as a Word document: its headings, lists and tables from Markdown, and page numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kanon_sql.errors import TargetError
from kanon_sql.report.forms import TO_FILL, title_of
from kanon_sql.resources import install_command

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LISTS = {"bullet_list_open": "List Bullet", "ordered_list_open": "List Number"}
_MOST_LEVELS = 3  # of the styles for nested lists
_LONG_WORD = 24  # characters, after which a checksum or a path can break in a table
_FONT = "Calibri"
_SIZES = {"text": 10.5, "table": 9, "footer": 8}
_PAGE_WIDTH, _MARGIN = 21.0, 2.0  # cm
_CELL_MARGIN = 40  # above and below a text, in twentieths of a point
_MOST_TOGETHER = 12  # rows of a table that is kept on one page
_MOST_SHARE = 40  # characters that the width of a column is computed from
_LETTER, _AROUND = 0.2, 0.5  # cm of a letter in a table, and of the space around a text


def check_word() -> None:
    """TargetError if the library that writes Word documents is not installed."""
    _library()


def word(markdown: str, title: str = "") -> bytes:
    """A text in Markdown as a .docx file; its title is the first line by default. TargetError without the library."""
    document = _library().Document()
    _set_page(document, title or title_of(markdown))
    lists: list[str] = []
    style: str | None = None
    remaining = iter(MarkdownIt("commonmark", {"html": False}).enable("table").parse(markdown))
    for token in remaining:
        if token.type in _LISTS:
            lists.append(_LISTS[token.type])
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif token.type == "heading_open":
            style = f"Heading {token.tag[1:]}"
        elif token.type == "paragraph_open":
            style = _list_style(lists)
        elif token.type == "inline":
            _write_inline(document.add_paragraph(style=style), token)
        elif token.type == "table_open":
            _add_table(document, list(takewhile(lambda token: token.type != "table_close", remaining)))
        elif token.type in ("fence", "code_block"):
            document.add_paragraph(_plain(token.content))
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _library() -> Any:
    try:
        import docx
    except ModuleNotFoundError:
        raise TargetError(
            f"a .docx file needs python-docx; run: {install_command('docx')}, or write .html, which Word opens"
        ) from None
    return docx


def _set_page(document: Document, title: str) -> None:
    """A4 with the title in the properties, and page numbers in the footer."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Cm, Pt

    document.core_properties.title = _plain(title)
    document.core_properties.author = "kanon_sql"
    document.core_properties.comments = ""
    normal = document.styles["Normal"]
    normal.font.name, normal.font.size = _FONT, Pt(_SIZES["text"])
    section = document.sections[0]
    section.page_width, section.page_height = Cm(_PAGE_WIDTH), Cm(29.7)
    section.left_margin = section.right_margin = Cm(_MARGIN)
    section.top_margin = section.bottom_margin = Cm(_MARGIN)
    document.styles["Footer"].font.size = Pt(_SIZES["footer"])
    paragraph = section.footer.paragraphs[0]
    paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
    runs = [paragraph.add_run(f"{_plain(title)} · page "), paragraph.add_run(), paragraph.add_run(" of ")]
    runs.append(paragraph.add_run())
    _add_field(runs[1], "PAGE")
    _add_field(runs[3], "NUMPAGES")


def _add_field(run: Run, name: str) -> None:
    """A field that the word processor computes."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    for kind in ("begin", "separate", "end"):
        if kind == "separate":
            instruction = OxmlElement("w:instrText")
            instruction.set(qn("xml:space"), "preserve")
            instruction.text = f" {name} "
            run._r.append(instruction)
        mark = OxmlElement("w:fldChar")
        mark.set(qn("w:fldCharType"), kind)
        run._r.append(mark)
        if kind == "separate":
            run.add_text("1")


def _add_table(document: Document, tokens: Sequence[Token]) -> None:
    """A table, whose first row names the columns, or is empty if the rows are labelled."""
    from docx.shared import Cm

    rows: list[list[tuple[Token, str]]] = []
    alignment = ""
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            alignment = str(token.attrGet("style") or "")
        elif token.type == "inline":
            rows[-1].append((token, alignment))
    has_names = any(cell.content for cell, _ in rows[0])
    shown = rows if has_names else rows[1:]
    if not shown:
        return
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    table.autofit = False
    _set_cell_margins(table)
    widths = _widths([[token.content for token, _ in cells] for cells in shown])
    for column, width in zip(table.columns, widths, strict=True):
        column.width = Cm(width)
    for place, cells in enumerate(shown):
        stays = place < len(shown) - 1 and len(shown) <= _MOST_TOGETHER
        _add_row(table, cells, widths, has_names and cells is rows[0], not has_names, stays)
    _add_gap(document)


def _list_style(lists: Sequence[str]) -> str | None:
    """The style of a paragraph in lists: that of the innermost one, at its depth."""
    if not lists:
        return None
    depth = min(len(lists), _MOST_LEVELS)
    return lists[-1] if depth == 1 else f"{lists[-1]} {depth}"


def _widths(rows: Sequence[Sequence[str]]) -> list[float]:
    """The widths of columns in cm: space for the longest word, and the rest by the longest text.

    >>> _widths([["Met", "Source"], ["yes", "the guidance document on the publication of clinical data"]])
    [1.1, 15.9]
    """
    columns = [[_breakable(text) for text in column] for column in zip(*rows, strict=True)]
    words = [max(len(word) for text in column for word in re.split(r"[\s\u200b]", text)) for column in columns]
    longest = [min(max(map(len, column)), _MOST_SHARE) for column in columns]
    least = [_LETTER * word + _AROUND for word in words]
    shares = [max(text - word, 0) for text, word in zip(longest, words, strict=True)]
    whole = _PAGE_WIDTH - 2 * _MARGIN
    rest = max(whole - sum(least), 0.0)
    wide = [low + rest * share / (sum(shares) or 1) for low, share in zip(least, shares, strict=True)]
    return [round(whole * width / sum(wide), 1) for width in wide]


def _set_cell_margins(table: Any) -> None:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    margins = OxmlElement("w:tblCellMar")
    for side in ("top", "bottom"):
        margin = OxmlElement(f"w:{side}")
        margin.set(qn("w:w"), str(_CELL_MARGIN))
        margin.set(qn("w:type"), "dxa")
        margins.append(margin)
    properties = table._tbl.tblPr
    look = properties.find(qn("w:tblLook"))  # the schema has the margins before it
    if look is None:
        properties.append(margins)
    else:
        look.addprevious(margins)


def _add_gap(document: Document) -> None:
    """The paragraph that must follow a table, small enough that it starts no page of its own."""
    from docx.shared import Pt

    form = document.add_paragraph().paragraph_format
    form.space_before, form.space_after, form.line_spacing = Pt(0), Pt(0), Pt(6)


def _add_row(
    table: Any,
    cells: Sequence[tuple[Token, str]],
    widths: Sequence[float],
    is_head: bool,
    is_labelled: bool,
    stays: bool,
) -> None:
    """Add a row, the names of the columns in bold and repeated on every page; one that `stays` is with the next row."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.oxml import OxmlElement
    from docx.shared import Cm, Pt

    row = table.add_row()
    properties = row._tr.get_or_add_trPr()
    properties.append(OxmlElement("w:cantSplit"))
    if is_head:
        properties.append(OxmlElement("w:tblHeader"))
    for place, ((token, alignment), cell) in enumerate(zip(cells, row.cells, strict=True)):
        cell.width = Cm(widths[place])
        paragraph = cell.paragraphs[0]
        paragraph.paragraph_format.space_after = Pt(0)
        paragraph.paragraph_format.keep_with_next = stays or is_head
        if "right" in alignment:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        _write_inline(paragraph, token, breaks_words=True)
        for run in paragraph.runs:
            run.font.size = Pt(_SIZES["table"])
            run.bold = run.bold or is_head or (is_labelled and place == 0)


def _write_inline(paragraph: Paragraph, token: Token, breaks_words: bool = False) -> None:
    """Write the text of a block: bold, italic and code, and what is to be filled in, highlighted."""
    from docx.enum.text import WD_COLOR_INDEX

    bold = italic = False
    whole = "".join(part.content for part in token.children or ())
    to_fill = [found.span() for found in TO_FILL.finditer(whole)]
    start = 0
    for part in token.children or ():
        if part.type in ("strong_open", "strong_close"):
            bold = part.type == "strong_open"
        elif part.type in ("em_open", "em_close"):
            italic = part.type == "em_open"
        elif part.type in ("softbreak", "hardbreak"):
            paragraph.add_run(" ")
        else:
            for text, is_open in _pieces(part.content, start, to_fill):
                run = paragraph.add_run(_breakable(text) if breaks_words else text)
                run.bold, run.italic = bold or None, italic or None
                if part.type == "code_inline":
                    run.font.name = "Consolas"
                if is_open:
                    run.font.highlight_color = WD_COLOR_INDEX.YELLOW
        start += len(part.content)


def _pieces(text: str, start: int, to_fill: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """The pieces of a text, with whether each is left to fill in; `to_fill`: the places of these in the whole text."""
    end = start + len(text)
    cuts = {start, end, *(place for span in to_fill for place in span if start < place < end)}
    for first, last in pairwise(sorted(cuts)):
        is_open = any(low <= first and last <= high for low, high in to_fill)
        yield _plain(text[first - start : last - start]), is_open


def _plain(text: str) -> str:
    """A text without the characters that XML does not have."""
    return _NOT_IN_XML.sub("�", text)


def _breakable(text: str) -> str:
    """A text with places where long words can break, so that a checksum does not widen its column."""
    return re.sub(rf"\S{{{_LONG_WORD}}}(?=\S)", lambda found: f"{found[0]}\u200b", text)
