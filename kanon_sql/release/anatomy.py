"""Anatomy: the quasi-identifiers in one table, the sensitive values in another, joined by the number of a group.

After Xiao and Tao 2006, "Anatomy: simple and effective privacy preservation" (VLDB), with one difference: a group
here is an equivalence class of the recoding. So the quasi-identifiers are k-anonymous as in any other release, and in
addition no row shows which of its group's sensitive values is its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Statement, Table
from kanon_sql.engines.opening import embedded
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.queries import Relation
from kanon_sql.release import findings, tables
from kanon_sql.release import publish as releases
from kanon_sql.release.findings import Summary
from kanon_sql.release.pieces import Piece, companion, companion_file
from kanon_sql.release.publish import CHECKSUMS, Published, Staged, checksums_file, sha256
from kanon_sql.release.recoded import SENTENCE, promise
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Spec, Target
from kanon_sql.staging import Staging

_OURS = ("group_id", "count")
_SENSITIVE = "sensitive"  # the stem of the table or file next to the rows


@dataclass(frozen=True)
class AnatomyTables:
    """The tables of an anatomy: numbered rows, and the columns of both tables.

    `grouped` has a `group_id`; `rows` and `sensitive` map released names to names in `grouped`.
    """

    grouped: Relation
    rows: dict[str, str]
    sensitive: dict[str, str]

    def pieces(self, dialect: str, about: Mapping[str, Any]) -> list[Piece]:
        """Both tables; `about` is for the comment on the rows."""
        rows, counts = list(self.rows.values()), list(self.sensitive.values())
        of_rows = queries.text("anatomy/rows", dialect, columns=self.rows, sorted=rows, grouped=self.grouped)
        of_counts = queries.text(
            "anatomy/sensitive", dialect, columns=self.sensitive, sensitive=counts, grouped=self.grouped
        )
        about_counts = {"is": "the sensitive values of an anatomy"}
        return [
            Piece("rows", queries.sentence("anatomy/rows"), of_rows, about={**about, "half": "rows"}),
            Piece(_SENSITIVE, queries.sentence("anatomy/sensitive"), of_counts, _SENSITIVE, about=about_counts),
        ]

    def verify(self, engine: Engine, staged: Staged) -> None:
        """Check the columns of both tables, and that the tables agree."""
        rows, counts = staged["rows"], staged[_SENSITIVE]
        written = [[column.name for column in engine.table(relation).columns] for relation in (rows, counts)]
        if written != [["group_id", *self.rows], ["group_id", *self.sensitive, "count"]]:
            raise VerificationError(
                "the written anatomy does not have the planned columns; nothing was released; run again "
                "and report this if it persists"
            )
        offenders = engine.rows(queries.text("anatomy/offenders", engine.dialect, rows=rows, sensitive=counts))
        if offenders:
            raise VerificationError(
                f"the two tables of the written anatomy disagree on {len(offenders):,} groups; nothing was released; "
                "run again and report this if it persists"
            )


def check(engine: Engine, table: Table, spec: Spec) -> None:
    """Refuse an anatomy that is not possible, before any long work."""
    target = spec.target
    if target is None or target.form != "anatomy":
        return
    for column in table.columns:
        if column.name.lower() in _OURS and column.name not in spec.identifiers:
            raise SpecError(
                f"an anatomy adds a column {column.name.lower()!r}; rename the source's column of that name"
            )
        if column.name in spec.sensitive and column.kind == "other":
            raise SpecError(
                f"{column.name!r} is a {column.type}, whose values cannot be counted; select its parts in a view first"
            )
    if target.file:
        path = Path(target.file)
        for companion_path in (companion_file(path, _SENSITIVE), checksums_file(path)):
            releases.check_file(companion_path, target.overwrite, ())
    else:
        counts = companion(engine.place(str(target.table)), _SENSITIVE)
        engine.place(tables.quoted(counts))  # an error if the name is too long, since readers need it
        tables.check_companions(engine, target, table, [counts])


def file_problem(path: Path) -> str | None:
    """The problem with an anatomy's two files, by the path of its rows; None for any other file.

    The files are replaced one after the other, so a killed process can leave files of an old and a new release.
    """
    checksums = checksums_file(path)
    if not checksums.is_file():
        return None
    if path.is_file() and embedded().read_file(str(path)).column("group_id") is None:
        return None  # another release with the same name
    try:
        digests = json.loads(checksums.read_bytes())[CHECKSUMS]
        files = {path.with_name(name): digest for name, digest in digests.items()}
        wrong = [file for file, digest in files.items() if not file.is_file() or sha256(file) != digest]
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{checksums} cannot be read; write the anatomy again with `overwrite=True`"
    if not wrong:
        return None
    problems = " and ".join(f"{file} {'has changed' if file.is_file() else 'is missing'}" for file in wrong)
    return f"{problems}: the files do not match {checksums}; write the anatomy again with `overwrite=True`"


def release(recoding: Recoding, target: Target, staging: Staging) -> Published[Summary]:
    """Create the release of a recoding, split it into two tables or files, and publish these."""
    engine, started = recoding.engine, time.monotonic()
    recoding.prepare()
    sql = recoding.release_sql()
    recoding.tables.create_as("whole", sql)
    whole = Statement("release", SENTENCE, sql, time.monotonic() - started)
    anatomy = _split(recoding)
    prepared = time.monotonic() - started

    def verify(reader: Engine, staged: Staged) -> Summary:
        anatomy.verify(reader, staged)
        return _verified(recoding, reader, staged["rows"])

    pieces = anatomy.pieces(engine.dialect, promise(recoding.spec, recoding.model, recoding.quasi_identifiers))
    published = releases.publish(engine, target, lambda _: pieces, verify, staging)
    recoding.tables.drop("whole", anatomy.grouped)
    statements = (whole, *published.statements)
    return replace(published, statements=statements, write_seconds=published.write_seconds + prepared)


def described(spec: Spec, published: Published[Any], dialect: str) -> dict[str, Any]:
    """The manifest's entry on an anatomy; empty for any other release."""
    statements = {statement.name: statement.sql for statement in published.statements}
    if _SENSITIVE not in statements:
        return {}
    path, counts = published.path, companion(published.relation, _SENSITIVE)
    where = str(companion_file(path, _SENSITIVE)) if path else ".".join(queries.parts(counts, dialect))
    return {
        "anatomy": {
            "sensitive": where,
            **({"checksums": str(checksums_file(path))} if path else {}),
            "sensitive_columns": list(spec.sensitive),
            "groups": published.checked.classes,
            "sql": [statements["rows"], statements[_SENSITIVE]],
        }
    }


def warnings(spec: Spec, table: Table) -> list[str]:
    """Warnings for readers of an anatomy."""
    if spec.target is None or spec.target.form != "anatomy":
        return []
    handled = {*spec.identifiers, *spec.quasi_identifiers, *spec.sensitive}
    others = [repr(column.name) for column in table.columns if column.name not in handled]
    notes = []
    if others:
        notes.append(
            f"{', '.join(others)} stay in the rows of the anatomy: anyone who can infer a sensitive value from them "
            "can join the two tables again; name them in sensitive, or in identifiers to drop them"
        )
    if len(spec.sensitive) > 1:
        notes.append(
            f"{', '.join(map(repr, spec.sensitive))} are counted together: a reader who knows one of a person's values "
            "can learn the others; to prevent this, name one column as sensitive and drop the others"
        )
    return notes


# Steps


def _split(recoding: Recoding) -> AnatomyTables:
    """Number the classes of a release, and assign its columns to the two tables."""
    tables, spec = recoding.tables, recoding.spec
    plain = queries.plain_names(recoding.columns)
    renamed = {new: old for old, new in plain.items()}
    whole, dialect = tables["whole"], tables.engine.dialect
    query = queries.grouped_rows(whole, renamed, recoding.quasi_identifiers, spec.seed, dialect)
    return tables_of(tables.create_as("grouped", query), plain, spec.sensitive)


def tables_of(grouped: Relation, plain: Mapping[str, str], sensitive: Collection[str]) -> AnatomyTables:
    """The tables of numbered rows, whose columns (released name -> name in `grouped`) are `plain`."""
    rows = {name: own for name, own in plain.items() if name not in sensitive}
    return AnatomyTables(grouped, rows, {name: own for name, own in plain.items() if name in sensitive})


def _verified(recoding: Recoding, engine: Engine, rows: Relation) -> Summary:
    """Check the rows with separate queries: every class, every group, and that groups and classes are the same."""
    model, names = recoding.model, recoding.quasi_identifiers
    classes, groups, both = (
        findings.summarize(engine, rows, columns, model) for columns in (names, ["group_id"], ["group_id", *names])
    )
    if not (classes.holds and groups.holds and both.holds):
        raise VerificationError(
            f"the written anatomy has {classes.unsafe_rows:,} rows in classes and {groups.unsafe_rows:,} in groups "
            "that do not satisfy the privacy model; nothing was released; run again "
            "and report this if it persists"
        )
    if not classes.classes == groups.classes == both.classes or classes.rows != recoding.rows:
        raise VerificationError(
            f"the written anatomy has {classes.rows:,} rows in {groups.classes:,} groups and {classes.classes:,} "
            f"classes; {recoding.rows:,} rows, and one group for each class, were planned; nothing was released; run "
            "again and report this if it persists"
        )
    return classes
