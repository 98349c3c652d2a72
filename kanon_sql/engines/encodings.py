"""The encoding of text files, configured or detected from all bytes. Files not in UTF-8 are read as copies."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kanon_sql.errors import SourceError

_UTF_8 = ("utf-8", "utf-8-sig", "ascii")
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CHUNK = 2**20
_LETTERS = {"utf-8": re.compile("[^\x00-\x7f\udc80-\udcff]"), "other": re.compile("[\udc80-\udcff]")}
_CP1252_HAS_NOT = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))


def is_utf_8(encoding: str) -> bool:
    """Whether an encoding is UTF-8, or a part of it."""
    return codecs.lookup(encoding).name in _UTF_8


def marked(path: Path) -> str | None:
    """The encoding of a file's byte order mark; None without one, or for UTF-8."""
    with open(path, "rb") as file:
        start = file.read(4)
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def recognized(path: Path) -> str:
    """The encoding that all bytes of a file allow, UTF-8 or cp1252; otherwise SourceError.

    A file of both is refused: as cp1252 its UTF-8 would become other letters.
    """
    kept = bytearray()
    first: dict[str, int] = {}
    for line, text in _decoded(path, "utf-8", "surrogateescape"):
        for what, pattern in _LETTERS.items():
            found = pattern.search(text) if what not in first else None
            if found:
                first[what] = line + text.count("\n", 0, found.start())
        kept += bytes(ord(letter) - 0xDC00 for letter in set(_LETTERS["other"].findall(text)))
    if "other" not in first:
        return "utf-8"
    if "utf-8" in first:
        raise SourceError(
            f"{path} is in two encodings: line {first['utf-8']:,} is UTF-8, and line {first['other']:,} is not; "
            "correct it, or set `encoding` to read all lines the same way"
        )
    if undefined := _CP1252_HAS_NOT.intersection(kept):
        raise SourceError(
            f"{path} is neither UTF-8 nor cp1252, which has no byte {min(undefined):02X}; set its `encoding`"
        )
    return "cp1252"


def as_utf_8(
    paths: Sequence[Path], encoding: str | None, folder: Path, skip_lines: int = 0
) -> tuple[list[Path], list[str]]:
    """Private copies of text files in UTF-8, in their order; also returns their other encodings.

    `skip_lines`: the lines at the top of every file that its copy lacks.
    """
    encodings = [encoding or marked(path) or recognized(path) for path in paths]
    copies = [folder / f"{number:05}.csv" for number in range(len(paths))]
    for path, encoding, copy in zip(paths, encodings, copies, strict=True):
        copy.touch(mode=0o600, exist_ok=False)
        copy_as_utf_8(path, encoding, copy, skip_lines)
    return copies, [encoding for encoding in encodings if not is_utf_8(encoding)]


def copy_as_utf_8(path: Path, encoding: str, copy: Path, skip_lines: int = 0) -> None:
    """Copy a text file as UTF-8, in parts, without its first lines; SourceError at a line in another encoding."""
    with open(copy, "w", encoding="utf-8", newline="") as file:
        try:
            for _, text in _decoded(path, encoding, "strict"):
                while skip_lines and text:
                    _, end, text = text.partition("\n")
                    skip_lines -= len(end)
                file.write(text)
        except UnicodeEncodeError:
            raise SourceError(f"{path} has half a letter in it, read as {encoding}; set its `encoding`") from None


def _decoded(path: Path, encoding: str, errors: str) -> Iterator[tuple[int, str]]:
    """The text of a file in parts, with the line number where every part starts."""
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    line = 1
    with open(path, "rb") as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                wrong = line + error.object[: error.start].count(b"\n")
                raise SourceError(
                    f"{path} is not {encoding}: line {wrong:,} has bytes that are not valid in it; set its `encoding`"
                ) from None
            yield line, text.removeprefix("\ufeff") if line == 1 else text
            line += text.count("\n")
            if not chunk:
                return
