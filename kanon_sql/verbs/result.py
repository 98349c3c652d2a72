"""The result of a verb: a small frozen object that prints in a few lines, in a notebook as a table."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, ClassVar

from kanon_sql import documents
from kanon_sql.errors import SpecError
from kanon_sql.release.publish import check_file
from kanon_sql.staging import write_file

if TYPE_CHECKING:
    import polars
    import pyarrow
    from pandas import DataFrame as DataFrame
else:
    DataFrame = Any  # pandas is imported for the first data frame

_WIDTH = 110  # characters of a result on one line


class Result(ABC):
    """The interface of every result; a subclass implements `to_df`, `_lines`, and mostly `to_dict`."""

    json_form: ClassVar[str] = ""
    """The name of the documented form of its JSON, as in `kanon schema`; empty for none."""

    def __init_subclass__(cls, json_form: str = "") -> None:
        super().__init_subclass__()
        cls.json_form = json_form or cls.json_form

    def to_dict(self) -> dict[str, Any]:
        """The whole result as a mapping for JSON."""
        return vars(self).copy()

    def to_json(self) -> str:
        """The result as JSON text, as the command prints it with `--json`."""
        if not self.json_form:
            return json.dumps(self.to_dict(), indent=2)
        return documents.text(self.json_form, self.to_dict())

    @abstractmethod
    def to_df(self) -> DataFrame:
        """The main table of the result, as a pandas DataFrame."""

    @abstractmethod
    def _lines(self) -> Sequence[tuple[str, str]]:
        """The printed lines: a heading and its text."""

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write a file and return its path: `.json` for the whole result, `.csv` for the table of `to_df`.

        TargetError if the file exists and must not be replaced, SpecError for another ending.
        """
        target = Path(path)
        texts = self._texts()
        if target.suffix.lower() not in texts:
            raise SpecError(f"{target} ends in none of {', '.join(texts)}; name such a file")
        check_file(target, overwrite, ())
        write_file(target, texts[target.suffix.lower()](), overwrite)
        return target

    def to_arrow(self) -> pyarrow.Table:
        """The table of `to_df` as an Arrow table; needs pyarrow."""
        import pyarrow

        return pyarrow.Table.from_pandas(self.to_df(), preserve_index=False)

    def to_polars(self) -> polars.DataFrame:
        """The table of `to_df` as a polars DataFrame; needs polars and pyarrow."""
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def _texts(self) -> dict[str, Any]:
        """The possible file endings, with the functions that return the text."""
        return {
            ".json": lambda: f"{self.to_json()}\n",
            ".csv": lambda: self.to_df().to_csv(index=False),
        }

    def __repr__(self) -> str:
        first = "; ".join(f"{heading} {text}" for heading, text in self._lines()[:3])
        return f"<{type(self).__name__}: {shorten(first, _WIDTH, placeholder=' …')}>"

    def __str__(self) -> str:
        lines = self._lines()
        width = max(len(heading) for heading, _ in lines)
        return "\n".join(f"{heading:<{width}}  {text}" for heading, text in lines)

    def _repr_html_(self) -> str:
        lines = self._lines()
        rows = "".join(f"<tr><th>{escape(heading)}</th><td>{escape(text)}</td></tr>" for heading, text in lines)
        return f"<table>{rows}</table>"


def frame(rows: Sequence[Any], columns: list[str] | tuple[str, ...] | None = None) -> DataFrame:
    """A pandas DataFrame, for which pandas is imported only now."""
    import pandas

    return pandas.DataFrame(rows, columns=columns)
