"""Hierarchy files: build one from a column's values, check one, show one."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from kanon_sql.engines.files import files
from kanon_sql.frequency import fitting
from kanon_sql.generalization import hierarchy as h
from kanon_sql.plan.preflight import check_roles
from kanon_sql.plan.source import IN_MEMORY, column_values, opened
from kanon_sql.release.publish import check_file
from kanon_sql.spec import parse
from kanon_sql.verbs.options import PlaceOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame


@dataclass(frozen=True, repr=False)
class HierarchyTable(Result):
    """A hierarchy: the label of every value on every level. `write` writes a file for the option `hierarchies`."""

    column: str
    hierarchy: h.Hierarchy

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return self.hierarchy.height

    def to_dict(self) -> dict[str, Any]:
        """The hierarchy as a mapping for JSON."""
        return {"column": self.column, "height": self.height, "rows": [list(row) for row in self.hierarchy.rows()]}

    def to_df(self) -> DataFrame:
        """One row per value: the value and its labels."""
        names = [self.column, *(f"level_{level}" for level in range(1, self.height + 1))]
        return frame([list(row) for row in self.hierarchy.rows()], columns=names)

    def _texts(self) -> dict[str, Any]:
        return {**super()._texts(), ".csv": self._csv}

    def _csv(self) -> str:
        text = io.StringIO()
        csv.writer(text, delimiter=";", lineterminator="\n").writerows(self.hierarchy.rows())
        return text.getvalue()

    def _lines(self) -> list[tuple[str, str]]:
        labels = [len(set(self.hierarchy.labels(level))) for level in range(1, self.height + 1)]
        levels = ", ".join(f"{count:,}" for count in labels)
        return [
            ("column", self.column),
            ("values", f"{self.hierarchy.leaf_count:,}"),
            ("levels", f"{self.height} above the values, of {levels} labels"),
        ]


@spelled_out(PlaceOptions)
def build(
    source: Any,
    column: str,
    recipe: Any,
    *,
    connection: Any = None,
    output: str | PathLike[str] | None = None,
    overwrite: bool = False,
    **options: Unpack[PlaceOptions],
) -> HierarchyTable:
    """Build a hierarchy from the values of a column, and write it to the file `output`, if any.

    `source`: a file, a table of the `database` or behind the `connection`, a DataFrame or an Arrow table. `recipe`: as
    in a spec, `{"ranges": [5, 10], "top": 90}`, `{"redact": "right"}`, `{"dates": ["month", "year"]}`,
    `{"taxonomy": "diseases.csv"}`, `{"groups": {"Higher": ["Bachelors", "Masters"]}}` or `"suppress"`.
    Raises KanonError.

    >>> import pandas
    >>> build(pandas.DataFrame({"age": [31, 34, 47]}), "age", {"ranges": [5, 10]}).to_df().values.tolist()
    [['31', '[30, 35)', '[30, 40)', '*'], ['34', '[30, 35)', '[30, 40)', '*'], ['47', '[45, 50)', '[40, 50)', '*']]
    """
    target = None if output is None else Path(output)
    if target:
        check_file(target, overwrite, files(str(source)) if isinstance(source, (str, Path)) else ())
    table = HierarchyTable(column, _fitted(source, taken(PlaceOptions, options), connection, column, recipe))
    if target:
        table.write(target, overwrite=overwrite)
    return table


@spelled_out(PlaceOptions)
def check(
    file: str | PathLike[str],
    source: Any = None,
    column: str | None = None,
    *,
    connection: Any = None,
    separator: str | None = None,
    header: bool = False,
    **options: Unpack[PlaceOptions],
) -> HierarchyTable:
    """Check that a file is a hierarchy and, with a source, that it covers every value of a column.

    `column`: by default the file's name without its ending. HierarchyError names the fault.
    """
    path = Path(file)
    places = taken(PlaceOptions, options)
    if source is None:
        return show(path, separator=separator, header=header)
    recipe = {"file": str(path), "header": header} | ({"separator": separator} if separator else {})
    name = column or path.stem
    return HierarchyTable(name, _fitted(source, places, connection, name, recipe))


def show(file: str | PathLike[str], *, separator: str | None = None, header: bool = False) -> HierarchyTable:
    """Read a hierarchy file; HierarchyError if it is not one."""
    path = Path(file)
    return HierarchyTable(path.stem, fitting.read_hierarchy(path, separator, header))


def _fitted(source: Any, places: dict[str, Any], connection: Any, column: str, recipe: Any) -> h.Hierarchy:
    """The hierarchy of a recipe for the values of a column."""
    spec = parse(
        {
            "source": str(source) if isinstance(source, (str, Path)) else IN_MEMORY,
            **{name: place for name, place in places.items() if place is not None},
            "quasi_identifiers": {column: {"hierarchy": recipe}},
        }
    )
    with opened(source, spec, connection) as data:
        check_roles(spec, data.table)
        hierarchy_source = fitting.hierarchy_sources(spec, data.table, data.engine)[column]
        values = column_values(data, column)
        return h.cover(hierarchy_source.build(values), values, column)
