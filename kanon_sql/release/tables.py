"""Tables and views that a release makes: what stands in their way, what proves to be ours, and who may read them.

A comment on each says what it is: `kanon_sql: {…}` in a line of its own. Nothing is ever dropped beside the
target itself whose comment does not name that target.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_hex
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Grant, Rights, Statement, Table, written
from kanon_sql.errors import KanonError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.release.pieces import Piece, timed
from kanon_sql.spec import Target

_MARK = "kanon_sql: "
_RELEASE = "release"  # what the comment on a target says that it is
_Step = Callable[[], object]
_FORMS = {"materialized": "materialized view"}


@dataclass(frozen=True)
class Placement:
    """The place of a target: where its pieces are made, and what was there before, of which rights and comment stay.

    `place`: the target itself where a transaction hides it until its end, else a name that nobody looks at.
    `old`: what is to be replaced, with its form; `made`: the pieces that are there by now.
    """

    engine: Engine
    target: Relation
    place: Relation
    old: dict[Relation, str]
    before: dict[Relation, Rights]
    user_comment: str = ""
    created: list[Piece] = field(default_factory=list)


def check(engine: Engine, target: Target, source: Table) -> Table | None:
    """Refuse a table or view that may not be replaced, or is the source; give the one that will be replaced."""
    place = engine.place(str(target.table))
    _refuse_view_elsewhere(target, place, source)
    existing = engine.existing(place)
    if existing is None:
        return None
    if existing.relation == source.relation:
        raise TargetError(f"the target {target.table} is the source; name another table")
    if not target.overwrite:
        raise TargetError(f"the {existing.form} {target.table} exists already; give `overwrite=True` to replace it")
    if about(engine, existing.relation).get("is") != _RELEASE:
        _refuse_foreign(target, existing)
    return existing


def _refuse_foreign(target: Target, existing: Table) -> None:
    """Refuse to replace what has no comment of a release, unless its name is given once more."""
    if target.replace_foreign_table != target.table:
        raise TargetError(
            f"the {existing.form} {target.table} has no comment of a release by kanon_sql, so `overwrite` does not "
            "replace it; name another target, or give its name once more with `replace_foreign_table`"
        )


def _refuse_view_elsewhere(target: Target, place: Relation, source: Table) -> None:
    """A view that reads a table of another file breaks where the two are not attached together by the same names."""
    if target.form == "view" and place.parts[:-2] != source.relation.parts[:-2]:
        raise TargetError(
            f"a view in {place.parts[0]} could read {written(source.relation)} only where both files are attached by "
            "these names; give `form='table'`, or name a target where the source is"
        )


def check_companions(engine: Engine, target: Target, source: Table, needed: Iterable[Relation]) -> None:
    """Refuse a target that needs a table where another's stands, or its own that may not be replaced."""
    relation = engine.place(str(target.table))
    comments = engine.comments(relation)
    for companion in needed:
        existing = engine.existing(companion)
        if existing is None:
            continue
        needs = f"the {_FORMS.get(target.form, target.form)} {target.table} needs a table {existing.relation.name}"
        if existing.relation == source.relation:
            raise TargetError(f"{needs}, which is the source; name another target")
        ours = _is_companion(relation, comments.get(existing.relation))
        if not (ours and target.overwrite):
            next_step = "give `overwrite=True` to replace it" if ours else "name another target, or rename that table"
            raise TargetError(f"{needs}, which exists already; {next_step}")


def quoted(relation: Relation) -> str:
    """A relation's name as `Engine.place` reads it, whatever is in it."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in relation.parts)


def prepare(engine: Engine, target: Target) -> Placement:
    """Find the place of a target; TargetError if what is there may not be replaced.

    Inside a transaction the target and its companions are dropped, never another table.
    """
    relation = engine.place(str(target.table))
    if not engine.has_transactions:
        bring_back(engine, relation)
    comments = engine.comments(relation)
    companions = (
        [table for table, text in comments.items() if _is_companion(relation, text)] if target.overwrite else []
    )
    there = [table for table in map(engine.existing, (relation, *companions)) if table]
    if there and not target.overwrite:
        raise TargetError(f"the {there[0].form} {relation.name} exists now; give `overwrite=True` to replace it")
    if there and there[0].relation == relation and not _ours(comments.get(relation)):
        _refuse_foreign(target, there[0])
    old = {table.relation: table.form for table in there}
    rights = {table: engine.rights(table) for table in old}
    place = relation if engine.has_transactions else relation.sibling(unused_name(relation, "staged"))
    placement = Placement(engine, relation, place, old, rights, _theirs(comments.get(relation)))
    if engine.has_transactions:
        drop(engine, old)
    return placement


def create(placement: Placement, piece: Piece) -> Statement:
    """Make a piece, the target itself with the comment of the one before; give the statement that did."""
    engine, relation = placement.engine, piece.at(placement.place)
    sql = queries.create_as(relation, piece.query, engine.dialect, piece.form)
    placement.created.append(piece)
    made = timed(piece, sql, lambda: engine.create(relation, piece.query, piece.form, _text(placement, piece)))
    declare_key(engine, relation, piece.key)
    if not piece.released:
        placement.before.pop(piece.at(placement.target), None)
        keep_private(engine, relation)
    return made


def make_private(engine: Engine, relation: Relation, query: str, about: Mapping[str, Any]) -> None:
    """Make a table that is no part of a release, for its owner alone, whatever the default privileges are."""
    engine.create(relation, query, "table", comment(about))
    _set_rights(engine, relation, ())


def finish(placement: Placement) -> None:
    """Give what was made to the owner of the target before, where that can be done, and to all the rights they had."""
    engine, owner = placement.engine, placement.before.get(placement.target, Rights()).owner
    if owner and owner != engine.rights(placement.place).owner:
        engine.set_owner(
            owner, {piece.at(placement.place): _FORMS.get(piece.form, piece.form) for piece in placement.created}
        )
    for piece in placement.created:
        relation, rights = piece.at(placement.place), placement.before.get(piece.at(placement.target))
        if rights:
            columns = {column.name for column in engine.table(relation).columns}
            _set_rights(engine, relation, [grant for grant in rights.grants if grant.column in (None, *columns)])


def discard(placement: Placement) -> None:
    """Drop what was made where no transaction takes it back."""
    drop(placement.engine, {piece.at(placement.place): piece.form for piece in reversed(placement.created)})


def put_in_place(placement: Placement, pieces: Sequence[Piece]) -> None:
    """Give what was staged the target's names, statement by statement; if one fails, all is put back.

    `pieces`: the same for the names of the target, since a view names its companions: it is defined once more.
    """
    engine, undo = placement.engine, list[_Step]()
    replaced = {table.sibling(unused_name(table, "replaced")): form for table, form in placement.old.items()}
    staged = {piece.at(placement.place): piece.form for piece in placement.created}
    gone = staged if not engine.can_rename else {at: form for at, form in staged.items() if form == "view"}
    try:
        for do, back in (*_set_aside(placement, replaced), *_put(placement, pieces)):
            do()
            undo.append(back)
    except BaseException:
        for back in reversed(undo):
            with suppress(KanonError):
                back()
        raise
    if gone:
        finish(replace(placement, place=placement.target))
    with suppress(KanonError):  # the release is there: what stays of the old one has a name that nobody looks at
        drop(engine, {**gone, **replaced})
        drop_leftovers(placement)


def drop_leftovers(placement: Placement) -> None:
    """Drop what runs that were killed left beside the target."""
    drop(placement.engine, _leftovers(placement.engine, placement.target))


def drop(engine: Engine, relations: Mapping[Relation, str]) -> None:
    """Drop relations, each with its form."""
    for relation, form in relations.items():
        engine.run(queries.drop(relation, engine.dialect, form))


def about(engine: Engine, relation: Relation) -> dict[str, Any]:
    """What the comment of ours on a relation says of it; empty if there is none."""
    return _ours(engine.comments(relation).get(relation))


def _leftovers(engine: Engine, target: Relation) -> dict[Relation, str]:
    """What runs that were killed left beside a target, by its name and by a comment of ours, with its form.

    A run that is still at work loses what it staged: it is the later of two, and says that it is gone.
    """
    ours = re.compile(rf"{re.escape(target.name)}__(?:staged|replaced)_[0-9a-f]{{8}}(?:__.*)?")
    left = [table for table, text in engine.comments(target).items() if ours.fullmatch(table.name) and _ours(text)]
    return {table.relation: table.form for table in map(engine.existing, left) if table}


def bring_back(engine: Engine, target: Relation) -> None:
    """Give a release that a killed run had set aside its name again, where nothing has it."""
    left = [(table, form) for table, form in _leftovers(engine, target).items() if "__replaced_" in table.name]
    own = [(table, form) for table, form in left if re.fullmatch(r".*__replaced_[0-9a-f]{8}", table.name)]
    if len(own) == 1 and own[0][1] == "table" and engine.existing(target) is None:
        back, _ = _moved(engine, own[0][0], target, "table")
        back()


def _set_aside(placement: Placement, replaced: Mapping[Relation, str]) -> Iterator[tuple[_Step, _Step]]:
    """The steps that take what is replaced out of the way, each with the one that undoes it."""
    for (old, form), aside in zip(placement.old.items(), replaced, strict=True):
        yield _moved(placement.engine, old, aside, form)


def _put(placement: Placement, pieces: Sequence[Piece]) -> Iterator[tuple[_Step, _Step]]:
    """The steps that put the pieces in place, the target itself last, each with the one that undoes it."""
    engine = placement.engine
    for piece in sorted(pieces, key=lambda piece: not piece.stem):
        staged, final = piece.at(placement.place), piece.at(placement.target)
        if piece.form == "view":
            made = partial(engine.create, final, piece.query, piece.form, _text(placement, piece))
            yield made, partial(drop, engine, {final: piece.form})
        else:
            yield _moved(engine, staged, final, piece.form)


def _moved(engine: Engine, old: Relation, new: Relation, form: str) -> tuple[_Step, _Step]:
    """The step that gives a table or view another name, and the one that gives it back."""
    if engine.can_rename:
        there, back = ((a, b.name, engine.dialect, form) for a, b in ((old, new), (new, old)))
        return partial(engine.run, queries.rename(*there)), partial(engine.run, queries.rename(*back))
    return partial(_copy_away, engine, old, new, form), partial(_copy_away, engine, new, old, form)


def _copy_away(engine: Engine, old: Relation, new: Relation, form: str) -> None:
    """Make a table anew under another name, where an engine has no other way, and then drop the first."""
    parsed = engine.comments(old).get(old, "")
    engine.create(new, queries.select_all(old, engine.dialect), "table", parsed)
    drop(engine, {old: form})


def unused_name(relation: Relation, why: str) -> str:
    return f"{relation.name}__{why}_{token_hex(4)}"


def _text(placement: Placement, piece: Piece) -> str:
    """The comment on a piece: a companion's names its target, and the target keeps what its user said of it."""
    if piece.stem:
        return comment({**piece.about, "of": placement.target.name})
    text = comment({"is": _RELEASE, "as": piece.form, **piece.about})
    return "\n".join(filter(None, [placement.user_comment, text]))


def declare_key(engine: Engine, relation: Relation, key: str | None) -> None:
    """Let the engine itself keep a value from being in a column twice, where it has a key for the type."""
    column = engine.table(relation).column(key) if key and engine.has_keys else None
    if column and column.kind != "other":
        engine.run(queries.declare_key(relation, column.name, engine.dialect))


def keep_private(engine: Engine, relation: Relation) -> None:
    """Take all rights that others have to a new table, which default privileges may have given."""
    _set_rights(engine, relation, ())


def _set_rights(engine: Engine, relation: Relation, wanted: Iterable[Grant]) -> None:
    """Give these rights to others, and take all that they have beyond them."""
    for grantee in {grant.grantee for grant in engine.rights(relation).grants}:
        engine.run(queries.revoke(relation, grantee, engine.dialect))
    for grant in wanted:
        engine.run(
            queries.grant(relation, grant.privilege, grant.grantee, engine.dialect, grant.column, grant.may_grant)
        )


def comment(about: Mapping[str, Any]) -> str:
    return f"{_MARK}{json.dumps(about, ensure_ascii=False)}"


def _ours(comment: str | None) -> dict[str, Any]:
    """What the last line of a comment says, if it is ours."""
    last = (comment or "").rpartition("\n")[2]
    if not last.startswith(_MARK):
        return {}
    try:
        parsed = json.loads(last.removeprefix(_MARK))
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _theirs(comment: str | None) -> str:
    """A comment without what is ours in it."""
    return (comment or "").rpartition("\n")[0] if _ours(comment) else comment or ""


def _is_companion(target: Relation, comment: str | None) -> bool:
    return _ours(comment).get("of") == target.name
