"""Files as the source of an engine: a view of Parquet files, or of a table loaded from CSV or Excel."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from kanon_sql import queries
from kanon_sql.engine import FileEngine, FilesRead, refuse_equal_names
from kanon_sql.engines.column_formats import Found, Loaded, find_formats, sentence
from kanon_sql.engines.csv_form import LoadedCSV, load_csv, load_form
from kanon_sql.engines.duckdb_errors import explained
from kanon_sql.engines.encodings import as_utf_8, is_utf_8, marked
from kanon_sql.engines.excel import copy_as_csv
from kanon_sql.engines.files import quoted_path, refuse_files_of_tables, source_format
from kanon_sql.engines.headers import EncodingError, parquet_names
from kanon_sql.errors import SourceError
from kanon_sql.queries import Conversion, Relation
from kanon_sql.spec import Limits, Reading
from kanon_sql.staging import PrivateFolder

SOURCE_VIEW = queries.scratch("kanon_source")
LINES = queries.scratch("kanon_lines")  # the rows of CSV files, so that no query parses a file again


@dataclass(frozen=True)
class Reader:
    """Reads files for an engine, as the options in a `Reading` say."""

    engine: FileEngine
    connection: duckdb.DuckDBPyConnection
    limits: Limits

    def read(self, pattern: str, paths: Sequence[Path], reading: Reading) -> FilesRead:
        """Make files the view of the source."""
        refuse_files_of_tables(paths)
        ways = {"parquet": self._parquet, "xlsx": self._excel}
        query, notes = ways.get(source_format(pattern), self._csv)(pattern, paths, reading)
        return FilesRead(self.engine.table(SOURCE_VIEW, "view"), query, tuple(notes))

    def _parquet(self, pattern: str, paths: Sequence[Path], reading: Reading) -> tuple[str | None, Sequence[str]]:
        for path in paths:
            with explained(f"{path} cannot be read"):
                refuse_equal_names(parquet_names(path), str(path))
        query = self.engine.files_sql(pattern)
        self._show(query)
        if not reading.options:
            return query, ()
        types, found = self._find_formats(SOURCE_VIEW, Loaded(pattern, is_text=False), reading)
        query = queries.converted(query, [*types], found.ways, self.engine.dialect, found.ages)
        self._show(query)
        return query, found.stay

    def _csv(self, pattern: str, paths: Sequence[Path], reading: Reading) -> tuple[str | None, Sequence[str]]:
        loaded, encoding = self._loaded_csv(pattern, paths, reading)
        types, found = self._find_formats(LINES, Loaded(pattern, loaded.types, loaded.first_line), reading)
        self._show(queries.converted(LINES, [*types], found.ways, self.engine.dialect, found.ages))
        notes = sentence(pattern, None if reading.encoding else encoding, loaded.separator, found)
        if encoding or reading.skip_lines:
            return None, notes
        if not (found.ways or found.ages or loaded.types or reading.delimiter):
            return self.engine.files_sql(pattern), notes
        return self._converted_sql(pattern, loaded.separator, types, found), notes

    def _loaded_csv(self, pattern: str, paths: Sequence[Path], reading: Reading) -> tuple[LoadedCSV, str | None]:
        """Load CSV files into a table; also returns their encoding if it is not UTF-8."""
        if reading.skip_lines:
            loaded, encodings = self._load_copies(pattern, paths, reading)
            first = loaded.first_line and loaded.first_line + reading.skip_lines
            return replace(loaded, first_line=first), encodings
        maybe_utf_8 = is_utf_8(reading.encoding) if reading.encoding else not any(map(marked, paths))
        if maybe_utf_8:
            try:
                return load_csv(self.connection, pattern, paths, LINES, self.engine.files_sql(pattern), reading), None
            except EncodingError:
                if reading.encoding:
                    raise
        return self._load_copies(pattern, paths, reading)

    def _load_copies(self, pattern: str, paths: Sequence[Path], reading: Reading) -> tuple[LoadedCSV, str]:
        """Load text files from temporary, private copies in UTF-8; also returns their encodings."""
        with PrivateFolder(self._temporary) as folder:
            copies, encodings = as_utf_8(paths, reading.encoding, folder, reading.skip_lines)
            guessing = self.engine.files_sql(str(folder / "*.csv"))
            try:
                loaded = load_csv(self.connection, pattern, copies, LINES, guessing, reading)
            except SourceError as error:
                message = str(error)
                for copy, path in zip(copies, paths, strict=True):
                    message = message.replace(str(copy), str(path))
                raise SourceError(message, error.values) from None
        return loaded, " and ".join(dict.fromkeys(encodings))

    def _converted_sql(self, pattern: str, separator: str | None, types: Mapping[str, str], found: Found) -> str | None:
        """The query that reads the CSV files anywhere as they were read here; None if their separators differ."""
        if separator is None:
            return None
        casts = {name: Conversion(kind) for name, kind in types.items() if kind != "VARCHAR"}
        holes = {"path": quoted_path(pattern), "separator": separator}
        as_text = queries.text("files/read_csv_as_text", self.engine.dialect, **holes)
        return queries.converted(as_text, [*types], {**casts, **found.ways}, self.engine.dialect, found.ages)

    def _excel(self, pattern: str, paths: Sequence[Path], reading: Reading) -> tuple[str | None, Sequence[str]]:
        if len(paths) > 1:
            raise SourceError(f"{pattern} is {len(paths)} Excel files; name one, or save them as CSV or Parquet")
        with PrivateFolder(self._temporary) as folder:
            copy = folder / "sheet.csv"
            form, notes = copy_as_csv(paths[0], reading, copy)
            load_form(self.connection, copy, form, LINES)
        types, found = self._find_formats(LINES, Loaded(pattern, is_text=False), reading)
        self._show(queries.converted(LINES, [*types], found.ways, self.engine.dialect, found.ages))
        return None, [*notes, *sentence(pattern, None, None, found)]

    def _find_formats(self, relation: Relation, loaded: Loaded, reading: Reading) -> tuple[dict[str, str], Found]:
        """The types of a relation of files, and how its columns are read."""
        types = {column.name: column.type for column in self.engine.table(relation).columns}
        return types, find_formats(self.engine, relation, loaded, types, reading)

    @property
    def _temporary(self) -> Path:
        return Path(self.limits.temp_directory or tempfile.gettempdir())

    def _show(self, query: str) -> None:
        """Make a query the view of the source."""
        dialect = self.engine.dialect
        self.engine.run(queries.drop(SOURCE_VIEW, dialect, "view"))
        self.connection.execute(queries.create_as(SOURCE_VIEW, query, dialect, "view", temporary=True))
