"""Sensitive values as read back from a file, where equal ones can differ, and different ones can be equal."""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.files import file_format
from kanon_sql.errors import SpecError
from kanon_sql.privacy import PrivacyModels
from kanon_sql.release.publish import as_in_a_file
from kanon_sql.spec import Target


def check(engine: Engine, table: Table, target: Target | None, model: PrivacyModels) -> None:
    """SpecError if a sensitive column compared by models has other values in the file to be released.

    Classes are judged by the values of the source, and verified by those of the file.
    """
    if target is None or target.file is None:
        return
    written_as = file_format(target.file)
    names = [model.sensitive[name] for name in model.compared]
    names += [model.sensitive for model in model.models if model.sensitive and "value" in model.parameters]
    for name in dict.fromkeys(names):
        parted, joined, escaped = _mixed(engine, table, name, written_as, escaped=target.formulas == "escape")
        if escaped and written_as in queries.SEPARATORS and target.formulas == "escape":
            raise SpecError(
                f"column {name!r} has {escaped:,} values that a spreadsheet would take for formulas, which have a ' "
                f"before them in a {written_as} file, so that a privacy model that knows the values would not find "
                "them there; use `formulas='keep'`, or release Parquet or a table"
            )
        if parted:
            how = f"are equal in the source and differ in a {written_as} file ({parted:,})"
            view = "writes equal values in one way, by LOWER or ROUND, say"
        elif joined:
            how = f"differ in the source and are equal in a {written_as} file ({joined:,})"
            view = "casts the column to text"
        else:
            continue
        raise SpecError(
            f"column {name!r} has values that {how}, so that a privacy model that compares its classes with the whole "
            f"table would compare other values; release a table, or read a view that {view}"
        )


def _mixed(engine: Engine, table: Table, name: str, written_as: str, escaped: bool) -> tuple[int, int, int]:
    """How many values become several in a file, how many in the file merge several, and how many are escaped there."""
    query = queries.text("privacy/written_values", engine.dialect, source=table.relation, value=[name])
    with as_in_a_file(engine, query, written_as, escaped) as (reader, written):
        (counts,) = reader.rows(queries.text("privacy/mixed_values", reader.dialect, written=written))
    parted, joined, changed = map(int, counts)
    return parted, joined, changed
