"""The release of a recoding: its pieces, and their verification."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, name_readings
from kanon_sql.engines.files import file_format
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import PrintedStatement, Relation
from kanon_sql.release import minimality_mask, people_check, private
from kanon_sql.release.findings import Redrawn, Summary
from kanon_sql.release.pieces import Piece, companion
from kanon_sql.release.publish import Published, Staged, publish
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Spec, Target
from kanon_sql.staging import Staging

SENTENCE = "Write every row of a safe class with its labels, sorted by the released values."
_COMPANION = "Keep what the view needs, since it counts its classes whenever it is read."


def release(
    recoding: Recoding, target: Target | None, staging: Staging, check: Callable[[Engine, Staged], None] | None = None
) -> Published[Summary]:
    """Publish a recoding to a target; VerificationError if the written release is not safe.

    `check`: a further check on the verified, staged release, which raises if it must not become visible.
    """
    started = time.monotonic()
    recoding.prepare()
    query, redrawn = minimality_mask.mask(recoding) if recoding.redrawn else (None, ())
    secret = private.people_secret(recoding, target)
    pieces_at = partial(pieces, recoding, target, query=query, secret=secret)
    verify = partial(_verify, recoding, redrawn)
    prepared = time.monotonic() - started

    def checked(engine: Engine, staged: Staged) -> Summary:
        summary = verify(engine, staged)
        if check:
            check(engine, staged)
        return summary

    published = publish(recoding.engine, target, pieces_at, checked, staging)
    statements = (*published.statements, *published.checked.statements)
    return replace(published, statements=statements, write_seconds=published.write_seconds + prepared)


def pieces(
    recoding: Recoding, target: Target | None, place: Relation, query: str | None = None, secret: bytes = b""
) -> list[Piece]:
    """A table or file; or a view, materialized or not, over the source and the tables that it needs.

    `query`: for a table or file, if it is not the recoding's own. `secret`: for the digests of people.
    """
    about = promise(recoding.spec, recoding.model, recoding.quasi_identifiers)
    if target and target.form == "materialized":
        limit = recoding.spec.suppression_limit
        about = {**about, "source": list(recoding.table.relation.parts), "suppression_limit": limit}
    if target is None or not target.stays_a_query:
        rows = Piece(
            "release", SENTENCE, query or recoding.release_sql(), about=about, escaped=recoding.merged is not None
        )
        return [rows, *private.pieces(recoding, target, secret)]
    companions = [
        Piece(stem, _COMPANION, query, stem, about={"is": "a table that the view needs"}, released=False, key="value")
        for stem, query in recoding.companions().items()
    ]
    view = Piece("release", SENTENCE, recoding.view_sql(place), form=target.form, about=about)
    return [view, *companions, *private.pieces(recoding, target, secret)]


def target_sql(
    recoding: Recoding,
    target: Target | None,
    dialect: str | None = None,
    source: Relation | None = None,
    printed: queries.PrintedStatement | None = None,
) -> str:
    """The release as a script: a statement, preceded by those that create tables too long to be part of it.

    `dialect`, `source`: for another system, and its source table; by default those of the search. `printed`: the
    statement, if it was printed already.
    """
    engine = recoding.engine
    printed = printed or statement(recoding, target, dialect, source)
    here = printed.dialect == engine.dialect and source is None
    copy_statement = None
    if target and target.table:
        place = _place(recoding, target.table, here)
        if target.form == "materialized" and not here:
            raise SpecError("a materialized view is for PostgreSQL; use `form='view'` or `form='table'`")
        if target.overwrite:
            _refuse_source(queries.replaced_by_script(printed, place), source or recoding.table.relation)
        return queries.creating(printed, place, target.form, recoding.columns, target.overwrite)
    if target and target.file and engine.reads_files and here:
        query = f"\n{printed.query}\n"
        written_as = file_format(target.file)
        if target.formulas == "escape" and written_as in queries.SEPARATORS:
            # Labels, or text of the source.
            others = [c.name for c in recoding.table.columns if c.kind != "text"]
            texts = [n for n in recoding.columns if n in recoding.quasi_identifiers or n not in others]
            query = queries.without_formulas(query, recoding.columns, texts, engine.dialect)
        copy_statement = queries.copy_to(query, target.file, written_as, engine.dialect)
    return printed.script(copy_statement)


def statement(
    recoding: Recoding, target: Target | None, dialect: str | None = None, source: Relation | None = None
) -> PrintedStatement:
    """The query of a release without our tables; the tables that a view needs get names derived from the view's.

    A view for other readers does not fail: it hides the rows of classes that have become too small.
    """
    if not (target and target.table and target.stays_a_query):
        return recoding.standalone(source, dialect)
    lasting = queries.creates_tables(dialect or recoding.engine.dialect)
    printed = recoding.standalone(source, dialect, lasting=lasting, limited=target.form != "view")
    view = _place(recoding, target.table, printed.dialect == recoding.engine.dialect and source is None)
    return printed.lasting({table.name: companion(view, table.name.removeprefix("kanon_")) for table in printed.tables})


def _refuse_source(replaced: Sequence[Relation], source: Relation) -> None:
    """SpecError if a script that replaces its target, and what belongs to it, might replace its source."""
    name = [part.casefold() for part in source.parts]
    for relation in replaced:
        parts = [part.casefold() for part in relation.parts]
        shared = min(len(parts), len(name))
        if parts[-shared:] == name[-shared:]:
            written = ".".join(relation.parts)
            raise SpecError(f"the script would replace its own source by {written}; choose another name with `into`")


def _place(recoding: Recoding, name: str, here: bool) -> Relation:
    return recoding.engine.place(name) if here else Relation(*name_readings(name)[-1])


def promise(spec: Spec, model: PrivacyModels, quasi_identifiers: Sequence[str]) -> dict[str, Any]:
    """The contents of the comment on a release, by which it can be verified later: no values of the data."""
    of_class = [model.described() for model in model.models]
    contents: dict[str, Any] = {"k": model.k} if model.k_alone else {"privacy": of_class}
    if model.of_release:
        contents["of_release"] = [
            {"name": release_model.name, **release_model.parameters} for release_model in model.of_release
        ]
    contents["quasi_identifiers"] = list(quasi_identifiers)
    if model.unit:
        contents["unit"] = model.unit
    if spec.wildcard_suppression:
        contents["wildcard_suppression"] = True
    return contents


def _unsafe(summary: Summary) -> str:
    """A description of the unsafe part of a release."""
    about_rows = next((finding for finding in summary.findings if finding.unsafe_classes is None), None)
    if about_rows:
        return f"{about_rows.unsafe_rows:,} rows that match too few rows of the source"
    return f"{summary.unsafe_rows:,} rows in {summary.unsafe_classes:,} classes that do not satisfy the privacy model"


def _is_slow_to_read(target: Target | None) -> bool:
    """Whether every query on a release computes it, or parses a text file."""
    if target is None:
        return False
    return target.stays_a_query or (target.file is not None and file_format(target.file) != "parquet")


def _verify(recoding: Recoding, redrawn: Sequence[Redrawn], engine: Engine, staged: Staged) -> Summary:
    """Check the written release with separate queries: its columns, its rows, every class."""
    relation = staged["release"]
    if [column.name for column in engine.table(relation).columns] != recoding.columns:
        raise VerificationError(
            "the written release does not have the planned columns; nothing was released; run again "
            "and report this if it persists"
        )
    if people_check.without(recoding):
        summary = people_check.summarize(recoding, engine, relation)
    else:
        summary = people_check.summary_of(recoding, engine, relation, once=_is_slow_to_read(recoding.spec.target))
    if other := recoding.other_finding(engine, relation):
        summary = replace(summary, findings=(other,))
    if redrawn:
        masked = minimality_mask.found(engine, relation, recoding.quasi_identifiers, redrawn)
        summary = replace(summary, findings=(*summary.findings, *masked), redrawn=tuple(redrawn))
    if not summary.holds and recoding.merged:
        raise VerificationError(
            f"the release with changes that wait would have {_unsafe(summary)}; nothing was released; use "
            "`node='search'` or a coarser node, or release once with `differencing_limit='unlimited'` if no one has "
            "the earlier releases any more"
        )
    if not summary.holds:
        raise VerificationError(
            f"the written release has {_unsafe(summary)}; nothing was released; run again "
            "and report this if it persists"
        )
    if summary.rows != recoding.rows:
        raise VerificationError(
            f"the written release has {summary.rows:,} rows where {recoding.rows:,} were planned; nothing was "
            "released; the source may have changed meanwhile: run again"
        )
    return summary
