"""The release of a recoding: the pieces that it is made of, and how they are verified."""

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
from kanon_sql.queries import Relation, Statement
from kanon_sql.release import findings, minimality, people, private
from kanon_sql.release.findings import Redrawn, Summary
from kanon_sql.release.pieces import Piece, companion
from kanon_sql.release.populated import shown_population
from kanon_sql.release.publish import Published, Staged, publish
from kanon_sql.release.recoding import Recoding, unmodelled
from kanon_sql.spec import Spec, Target
from kanon_sql.staging import Staging

SENTENCE = "Write every row of a safe class with its labels, sorted by what is released."
_COMPANION = "Keep what the view needs, since it counts its classes whenever it is read."


def release(
    recoding: Recoding, target: Target | None, staging: Staging, check: Callable[[Engine, Staged], None] | None = None
) -> Published[Summary]:
    """Publish a recoding where the spec says; VerificationError if what is there does not hold.

    `check`: looks at what is staged once that is known to hold, and raises if it must not become visible.
    """
    started = time.monotonic()
    recoding.prepare()
    query, redrawn = minimality.mask(recoding) if recoding.redrawn else (None, ())
    secret = private.people_secret(recoding, target)
    made_of = partial(pieces, recoding, target, query=query, secret=secret)
    verify = partial(_verify, recoding, redrawn)
    prepared = time.monotonic() - started

    def checked(engine: Engine, staged: Staged) -> Summary:
        summary = verify(engine, staged)
        if check:
            check(engine, staged)
        return summary

    made = publish(recoding.engine, target, made_of, checked, staging)
    statements = (*made.statements, *made.checked.statements)
    return replace(made, statements=statements, write_seconds=made.write_seconds + prepared)


def pieces(
    recoding: Recoding, target: Target | None, place: Relation, query: str | None = None, secret: bytes = b""
) -> list[Piece]:
    """A table or file; or a view, materialized or not, over the source and the tables that it needs.

    `query`: of a table or file, where it is another than the recoding's own. `secret`: of the digests of its people.
    """
    about = promise(recoding.spec, recoding.model, recoding.quasi_identifiers)
    if target and target.form == "materialized":
        limit = recoding.spec.suppression_limit
        about = {**about, "source": list(recoding.table.relation.parts), "suppression_limit": limit}
    if target is None or not target.stays_a_query:
        made = Piece("release", SENTENCE, query or recoding.release_sql(), about=about)
        return [made, *private.pieces(recoding, target, secret)]
    companions = [
        Piece(stem, _COMPANION, query, stem, about={"is": "a table that the view needs"}, released=False, key="value")
        for stem, query in recoding.companions().items()
    ]
    made = Piece("release", SENTENCE, recoding.view_sql(place), form=target.form, about=about)
    return [made, *companions, *private.pieces(recoding, target, secret)]


def target_sql(
    recoding: Recoding,
    target: Target | None,
    dialect: str | None = None,
    source: Relation | None = None,
    printed: queries.Statement | None = None,
) -> str:
    """The release as what stands alone: a statement, and before it those that make what is too long to stand in it.

    `dialect`, `source`: of another system that it is for, and what it reads there; else those of the search.
    `printed`: the statement, where it is printed already.
    """
    printed, engine = printed or statement(recoding, target, dialect, source), recoding.engine
    here = printed.dialect == engine.dialect and source is None
    around = None
    if target and target.table:
        place = _place(recoding, target.table, here)
        if target.form == "materialized" and not here:
            raise SpecError("a materialized view is for PostgreSQL; give `form='view'` or `form='table'`")
        around = queries.create_as(place, printed.query, printed.dialect, target.form)
    elif target and target.file and engine.reads_files and here:
        query, written_as = f"\n{printed.query}\n", file_format(target.file)
        if target.formulas == "escape" and written_as in queries.SEPARATORS:
            texts = [name for name in recoding.columns if _shows_text(recoding, name)]
            query = queries.without_formulas(query, recoding.columns, texts, engine.dialect)
        around = queries.copy_to(query, target.file, written_as, engine.dialect)
    return printed.script(around)


def statement(
    recoding: Recoding, target: Target | None, dialect: str | None = None, source: Relation | None = None
) -> Statement:
    """The query of a release that stands alone; the tables that a view is to read are named after the view.

    A view that is read by others hides the rows of classes that have become too small, and does not fail.
    """
    if not (target and target.table and target.stays_a_query):
        return recoding.standalone(source, dialect)
    printed = recoding.standalone(source, dialect, lasting=True, limited=target.form != "view")
    view = _place(recoding, target.table, printed.dialect == recoding.engine.dialect and source is None)
    return printed.lasting({table.name: companion(view, table.name.removeprefix("kanon_")) for table in printed.tables})


def _place(recoding: Recoding, name: str, here: bool) -> Relation:
    return recoding.engine.place(name) if here else Relation(*name_readings(name)[-1])


def _shows_text(recoding: Recoding, name: str) -> bool:
    """Whether a column of a release may hold texts: labels, or those of its source."""
    column = recoding.table.column(name)
    return column is None or name in recoding.quasi_identifiers or column.kind == "text"


def promise(spec: Spec, model: PrivacyModels, quasi_identifiers: Sequence[str]) -> dict[str, Any]:
    """What the comment on a release says of it, enough to verify it later: no value of the data."""
    of_class = [model.described() for model in model.models]
    asked: dict[str, Any] = {"k": model.k} if model.k_alone else {"privacy": of_class}
    if model.of_release:
        asked["of_release"] = [
            {"name": release_model.name, **release_model.parameters} for release_model in model.of_release
        ]
    said = {**asked, "quasi_identifiers": list(quasi_identifiers)} | ({"unit": model.unit} if model.unit else {})
    return said | ({"wildcard_suppression": True} if spec.wildcard_suppression else {})


def _unsafe(summary: Summary) -> str:
    """What is wrong with a release that does not hold."""
    about_rows = next((finding for finding in summary.findings if finding.unsafe_classes is None), None)
    if about_rows:
        return f"{about_rows.unsafe_rows:,} rows that match too few rows of the source"
    return f"{summary.unsafe_rows:,} rows in {summary.unsafe_classes:,} classes that do not meet the privacy model"


def _verify(recoding: Recoding, redrawn: Sequence[Redrawn], engine: Engine, staged: Staged) -> Summary:
    """Check what was written, independently: its columns, its rows, every class."""
    relation = staged["release"]
    if [column.name for column in engine.table(relation).columns] != recoding.columns:
        raise VerificationError(
            "the written release does not have the planned columns; nothing was released; run again "
            "and report this if it persists"
        )
    if people.without(recoding):
        summary = people.summarize(recoding, engine, relation)
    else:
        source, target = (recoding.engine, recoding.table.relation), recoding.spec.target
        with shown_population(recoding) as population:
            asked = recoding.quasi_identifiers, recoding.model, source, population, unmodelled(recoding)
            summary = findings.summarize(engine, relation, *asked, once=target is not None and target.stays_a_query)
    if other := recoding.other_finding(engine, relation):
        summary = replace(summary, findings=(other,))
    if redrawn:
        masked = minimality.found(engine, relation, recoding.quasi_identifiers, redrawn)
        summary = replace(summary, findings=(*summary.findings, *masked), redrawn=tuple(redrawn))
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
