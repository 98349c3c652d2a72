"""What a verb gives back: a small frozen object that prints in a few lines, in a notebook as a table."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_sql.errors import SpecError
from kanon_sql.release.publish import check_file
from kanon_sql.staging import Staging

if TYPE_CHECKING:
    import pandas


class Result(ABC):
    """What every result can do; a subclass says what it is in `to_dict`, `to_df` and `_lines`."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""

    @abstractmethod
    def to_df(self) -> pandas.DataFrame:
        """The table that it is about, as a pandas DataFrame."""

    @abstractmethod
    def _lines(self) -> Sequence[tuple[str, str]]:
        """What it prints: a word, and what is to be said of it."""

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write it to a file, by the file's ending: `.json` all of it, `.csv` the table of `to_df`; give the path.

        TargetError if the file exists and may not be replaced, SpecError for another ending.
        """
        target = Path(path)
        texts = self._texts()
        if target.suffix.lower() not in texts:
            raise SpecError(f"{target} ends in none of {', '.join(texts)}; name such a file")
        check_file(target, overwrite, ())
        with Staging() as staging:
            with staging.file(target, overwrite) as temporary:
                temporary.write_text(texts[target.suffix.lower()](), encoding="utf-8")
            staging.place()
        return target

    def _texts(self) -> dict[str, Any]:
        """The endings that it can be written with, each with the function that gives the text."""
        return {
            ".json": lambda: json.dumps(self.to_dict(), indent=2) + "\n",
            ".csv": lambda: self.to_df().to_csv(index=False),
        }

    def __repr__(self) -> str:
        width = max(len(word) for word, _ in self._lines())
        return "\n".join(f"{word:<{width}}  {said}" for word, said in self._lines())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(word)}</th><td>{escape(said)}</td></tr>" for word, said in self._lines())
        return f"<table>{rows}</table>"
