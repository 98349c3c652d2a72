"""Anatomy: the quasi-identifiers in one table, the sensitive values in another, joined by the number of a group.

After Xiao and Tao 2006, "Anatomy: simple and effective privacy preservation" (VLDB), with one difference: a group
here is an equivalence class of the recoding. So the quasi-identifiers are k-anonymous as in any other release, and
beyond that no row tells which of its group's sensitive values is its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.duckdb import DuckDB, file_format
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.queries import Relation
from kanon_sql.release import publish as releases
from kanon_sql.release import tables
from kanon_sql.release.publish import Summary, Written
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Spec, Target
from kanon_sql.staging import Staging

GROUPED, _ROWS, _COUNTS = (queries.scratch(f"kanon_anatomy_{name}") for name in ("grouped", "rows", "counts"))
_OURS = ("group_id", "count")
_HALVES = "sha256"  # the key of the file that names both halves


@dataclass(frozen=True)
class WrittenAnatomy(Written):
    """A verified anatomy: `Written` tells of the rows, `beside` is where the sensitive values are."""

    beside: str = ""
    statements: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnatomyTables:
    """What an anatomy is made of: numbered rows, and the columns of both halves by their names in `grouped`.

    `grouped` has a `group_id`; the columns are told as released name: name in `grouped`.
    """

    grouped: Relation
    rows: dict[str, str]
    sensitive: dict[str, str]

    def statements(self, dialect: str) -> tuple[str, str]:
        """The queries of both halves."""
        rows, sensitive = list(self.rows.values()), list(self.sensitive.values())
        return (
            queries.text("anatomy/rows", dialect, columns=self.rows, sorted=rows, grouped=self.grouped),
            queries.text(
                "anatomy/sensitive", dialect, columns=self.sensitive, sensitive=sensitive, grouped=self.grouped
            ),
        )


# Says what is in both halves, or raises a VerificationError.
Verify = Callable[[Engine, Relation, Relation], Summary]


def check(engine: Engine, table: Table, spec: Spec) -> None:
    """Refuse an anatomy that cannot be made, before any long work."""
    target = spec.target
    if target is None or target.form != "anatomy":
        return
    if not spec.sensitive:
        raise SpecError("an anatomy keeps the sensitive columns apart, and none is named; give --sensitive")
    for column in table.columns:
        if column.name.lower() in _OURS and column.name not in spec.identifiers:
            raise SpecError(f"an anatomy has a column {column.name.lower()!r} of its own; rename that of the source")
        if column.name in spec.sensitive and column.kind == "other":
            raise SpecError(f"{column.name!r} is a {column.type}, whose values cannot be counted; select what is in it")
    if target.file:
        for beside in (sensitive_path(Path(target.file)), halves_path(Path(target.file))):
            releases.check_file(beside, target.overwrite, ())
    else:
        counts = _sensitive_table(engine.place(str(target.table)))
        engine.place(tables.quoted(counts))  # which must not be cut, since it is told
        tables.check_beside(engine, target, table, [counts])


def sensitive_path(path: Path) -> Path:
    """Where the sensitive values go, beside a file of rows.

    >>> sensitive_path(Path("anon.parquet")).name
    'anon.sensitive.parquet'
    """
    return path.with_name(f"{path.stem}.sensitive{path.suffix}")


def halves_path(path: Path) -> Path:
    """The file that names both halves beside a file of rows, so that no half is taken for another's.

    >>> halves_path(Path("anon.parquet")).name
    'anon.parquet.anatomy.json'
    """
    return path.parent / f"{path.name}.anatomy.json"


def torn(path: Path) -> str | None:
    """What is wrong with the halves of an anatomy in files, by its file of rows; None of any other file.

    The halves are replaced one after the other, so that a process that is killed may leave the half of one release
    beside that of another.
    """
    named = halves_path(path)
    if not named.is_file() or (path.is_file() and not _has_groups(path)):
        return None
    try:
        halves = {path.with_name(name): sha256 for name, sha256 in json.loads(named.read_bytes())[_HALVES].items()}
        wrong = [half for half, sha256 in halves.items() if not half.is_file() or _sha256(half) != sha256]
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{named} cannot be read; write the anatomy anew, with --overwrite"
    if not wrong:
        return None
    names = " and ".join(f"{half} is {'another file' if half.is_file() else 'missing'}" for half in wrong)
    return f"{names}, where {named} names the halves of the anatomy; write it anew, with --overwrite"


def _has_groups(path: Path) -> bool:
    """Whether a file could be a half, and not a release of another kind that took its name."""
    return DuckDB().read_file(str(path)).column("group_id") is not None


def write(recoding: Recoding, target: Target, staging: Staging) -> WrittenAnatomy:
    """Make the release, take it apart into two tables or files, and verify what was written."""
    engine, whole = recoding.engine, releases.keep(recoding)
    started = time.monotonic()
    halves = _take_apart(recoding, whole.relation)

    def verify(reader: Engine, rows: Relation, _: Relation) -> Summary:
        return _verified(recoding, reader, rows)

    about = releases.promise(recoding.spec, recoding.quasi_identifiers)
    found = separate(engine, target, halves, verify, whole.sql, about, staging)
    engine.run(queries.drop(whole.relation, engine.dialect))
    return replace(
        found,
        write_seconds=whole.write_seconds + time.monotonic() - started - found.verify_seconds,
        verify_seconds=whole.verify_seconds + found.verify_seconds,
    )


def separate(
    engine: Engine,
    target: Target,
    halves: AnatomyTables,
    verify: Verify,
    sql: str,
    about: Mapping[str, Any],
    staging: Staging,
) -> WrittenAnatomy:
    """Write both halves, verify them, and drop the relation that they are made of; `about` is for a comment."""
    if target.file:
        found = _write_files(engine, target, halves, verify, sql, staging)
    else:
        found = _write_tables(engine, target, halves, verify, sql, about)
    engine.run(queries.drop(halves.grouped, engine.dialect))
    return found


def check_halves(engine: Engine, rows: Relation, counts: Relation, halves: AnatomyTables) -> None:
    """Check what is true of every anatomy: the columns of both halves, and that the halves fit together."""
    found = [[column.name for column in engine.table(relation).columns] for relation in (rows, counts)]
    if found != [["group_id", *halves.rows], ["group_id", *halves.sensitive, "count"]]:
        raise VerificationError("the written anatomy has other columns than planned; nothing was released")
    offenders = engine.rows(queries.text("anatomy/offenders", engine.dialect, rows=rows, sensitive=counts))
    if offenders:
        raise VerificationError(
            f"the halves of the written anatomy disagree on {len(offenders):,} groups; nothing was released, run "
            "again and report this if it stays"
        )


def described(spec: Spec, written: Written) -> dict[str, Any]:
    """What the manifest says of an anatomy beyond what it says of any release."""
    if not isinstance(written, WrittenAnatomy):
        return {}
    return {
        "anatomy": {
            "sensitive": str(written.beside),
            **({"checksums": str(halves_path(written.path))} if written.path else {}),
            "sensitive_columns": list(spec.sensitive),
            "groups": written.summary.classes,
            "sql": list(written.statements),
        }
    }


def warnings(spec: Spec, table: Table) -> list[str]:
    """What a reader of an anatomy should know."""
    if spec.target is None or spec.target.form != "anatomy":
        return []
    handled = {*spec.identifiers, *spec.quasi_identifiers, *spec.sensitive}
    others = [repr(column.name) for column in table.columns if column.name not in handled]
    said = []
    if others:
        said.append(
            f"{', '.join(others)} stand in the rows of the anatomy: who can tell a sensitive value from them "
            "joins what was taken apart; name them in sensitive, or in identifiers to drop them"
        )
    if len(spec.sensitive) > 1:
        said.append(
            f"{', '.join(map(repr, spec.sensitive))} are counted together: who knows the one of a person may learn "
            "the others"
        )
    return said


# What is done


def _take_apart(recoding: Recoding, whole: Relation) -> AnatomyTables:
    """Number the classes of a release, and say what each half shows of it."""
    engine, spec = recoding.engine, recoding.spec
    columns = [column.name for column in engine.table(whole).columns]
    plain = queries.plain_names(columns)
    renamed = {new: old for old, new in plain.items()}
    engine.send(
        queries.grouped_rows(whole, renamed, recoding.quasi_identifiers, spec.seed, engine.dialect), engine, GROUPED
    )
    return halves_of(GROUPED, plain, spec.sensitive)


def halves_of(grouped: Relation, plain: Mapping[str, str], sensitive: Collection[str]) -> AnatomyTables:
    """Both halves of numbered rows, whose columns (released name: name in `grouped`) are `plain`."""
    rows = {name: own for name, own in plain.items() if name not in sensitive}
    return AnatomyTables(grouped, rows, {name: own for name, own in plain.items() if name in sensitive})


def _write_tables(
    engine: Engine, target: Target, halves: AnatomyTables, verify: Verify, sql: str, about: Mapping[str, Any]
) -> WrittenAnatomy:
    started = time.monotonic()
    room = tables.make_room(engine, target)
    rows, counts = room.relation, _sensitive_table(room.relation)
    of_rows, of_counts = halves.statements(engine.dialect)
    statements = (
        tables.make(room, of_rows, "table", {**about, "half": "rows"}),
        tables.make_beside(room, counts, of_counts, "the sensitive values of an anatomy", released=True),
    )
    tables.finish(room)
    written = time.monotonic()
    check_halves(engine, rows, counts, halves)
    summary = verify(engine, rows, counts)
    seconds = written - started, time.monotonic() - written
    beside = ".".join(queries.parts(counts, engine.dialect))
    return WrittenAnatomy(sql, summary, *seconds, rows, beside=beside, statements=statements)


def _write_files(
    engine: Engine, target: Target, halves: AnatomyTables, verify: Verify, sql: str, staging: Staging
) -> WrittenAnatomy:
    started, path = time.monotonic(), Path(str(target.file))
    written_as, beside = file_format(path.name), sensitive_path(path)
    here = engine if isinstance(engine, DuckDB) else DuckDB()
    if here is not engine:
        engine.send(queries.select_all(halves.grouped, engine.dialect), here, halves.grouped)
    statements = halves.statements(here.dialect)
    # What is staged last is placed first: a row is never there before its other half, and what tells both.
    with staging.file(path, target.overwrite) as rows, staging.file(beside, target.overwrite) as counts:
        here.write_file(statements[0], rows, written_as)
        here.write_file(statements[1], counts, written_as)
        written = time.monotonic()
        reader = DuckDB()
        for file, relation in ((rows, _ROWS), (counts, _COUNTS)):
            found = reader.read_written(file, written_as)
            reader.send(queries.select_all(found, reader.dialect), reader, relation)
        check_halves(reader, _ROWS, _COUNTS, halves)
        summary = verify(reader, _ROWS, _COUNTS)
        with staging.file(halves_path(path), target.overwrite) as named:
            named.write_text(_named({path: rows, beside: counts}), encoding="utf-8")
    seconds = written - started, time.monotonic() - written
    return WrittenAnatomy(sql, summary, *seconds, _ROWS, path, beside=str(beside), statements=statements)


def _named(files: Mapping[Path, Path]) -> str:
    """The names of both files, and the SHA-256 of what is in them."""
    return json.dumps({_HALVES: {path.name: _sha256(file) for path, file in files.items()}}, indent=2) + "\n"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _sensitive_table(rows: Relation) -> Relation:
    return rows.sibling(f"{rows.name}__sensitive")


def _verified(recoding: Recoding, engine: Engine, rows: Relation) -> Summary:
    """Check the rows as a stranger would: every class, every group, and that the groups are the classes."""
    model, names = recoding.model, recoding.quasi_identifiers
    classes, groups, both = (
        releases.summarize(engine, rows, columns, model) for columns in (names, ["group_id"], ["group_id", *names])
    )
    if not (classes.holds and groups.holds and both.holds):
        raise VerificationError(
            f"the written anatomy has {classes.unsafe_rows:,} rows in classes and {groups.unsafe_rows:,} in groups "
            "that do not meet the privacy model; nothing was released, run again and report this if it stays"
        )
    if not classes.classes == groups.classes == both.classes or classes.rows != recoding.rows:
        raise VerificationError(
            f"the written anatomy has {classes.rows:,} rows in {groups.classes:,} groups for {recoding.rows:,} planned "
            f"ones in {classes.classes:,} classes; nothing was released, run again and report this if it stays"
        )
    return classes
