"""Tables and views that a release makes: what stands in their way, what proves to be ours, and who may read them.

A comment on each says what it is: `kanon_sql: {…}` in a line of its own. Beside a target nothing is ever dropped
whose comment does not name that target.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Grant, Rights, Table
from kanon_sql.errors import TargetError
from kanon_sql.queries import Relation
from kanon_sql.spec import Target

_MARK = "kanon_sql: "


@dataclass(frozen=True)
class Room:
    """A place made free for a target: what was there before, of which the rights and the user's comment are kept."""

    engine: Engine
    relation: Relation
    before: dict[Relation, Rights]
    said: str = ""
    made: dict[Relation, str] = field(default_factory=dict)  # with its form


def check(engine: Engine, target: Target, source: Table) -> None:
    """Refuse a table or view that exists, or is the source."""
    found = engine.existing(engine.place(str(target.table)))
    if found is None:
        return
    if found.relation == source.relation:
        raise TargetError(f"the target {target.table} is the source; name another table")
    if not target.overwrite:
        raise TargetError(f"the {found.form} {target.table} exists already; give --overwrite to replace it")


def check_beside(engine: Engine, target: Target, source: Table, needed: Iterable[Relation]) -> None:
    """Refuse a target that needs a table where another's stands, or its own that may not be replaced."""
    relation = engine.place(str(target.table))
    comments = engine.comments(relation)
    for beside in needed:
        found = engine.existing(beside)
        if found is None:
            continue
        needs = f"the {_FORMS.get(target.form, target.form)} {target.table} needs a table {found.relation.name}"
        if found.relation == source.relation:
            raise TargetError(f"{needs}, which is the source; name another target")
        ours = _is_beside(relation, comments.get(found.relation))
        if not (ours and target.overwrite):
            next_step = "give --overwrite to replace it" if ours else "name another target, or rename that table"
            raise TargetError(f"{needs}, which exists already; {next_step}")


def quoted(relation: Relation) -> str:
    """A relation's name as `Engine.place` reads it, whatever is in it."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in relation.parts)


def make_room(engine: Engine, target: Target) -> Room:
    """Drop the target that is overwritten, and what was made beside it; never another table."""
    relation = engine.place(str(target.table))
    comments, dropped = engine.comments(relation), {}
    beside = [each for each, text in comments.items() if _is_beside(relation, text)] if target.overwrite else []
    for each in (relation, *beside):
        found = engine.existing(each)
        if found and not target.overwrite:
            raise TargetError(f"the {found.form} {each.name} exists now; give --overwrite to replace it")
        if found:
            dropped[each] = engine.rights(each)
            engine.run(queries.drop(each, engine.dialect, found.form))
    return Room(engine, relation, dropped, _theirs(comments.get(relation)))


def make(room: Room, query: str, form: str, about: Mapping[str, Any]) -> str:
    """Make the target itself, with the comment of the one before; give the statement that did."""
    text = _comment({"is": "release", "as": form, **about})
    return _make(room, room.relation, query, form, "\n".join(filter(None, [room.said, text])))


def make_beside(room: Room, relation: Relation, query: str, what: str, released: bool = False) -> str:
    """Make a table beside the target, which only the owner may read unless it is released; give the statement."""
    sql = _make(room, relation, query, "table", _comment({"is": what, "of": room.relation.name}))
    if not released:
        room.before.pop(relation, None)
        _set_rights(room.engine, relation, ())  # default privileges may have given some
    return sql


def finish(room: Room) -> None:
    """Give what was made to the owner of the target before, where that can be done, and to all the rights they had."""
    engine, before = room.engine, room.before.get(room.relation, Rights())
    if before.owner and before.owner != engine.rights(room.relation).owner:
        engine.set_owner(before.owner, room.made)
    for relation in room.before.keys() & room.made.keys():
        columns = {column.name for column in engine.table(relation).columns}
        _set_rights(engine, relation, [g for g in room.before[relation].grants if g.column in (None, *columns)])


def about(engine: Engine, relation: Relation) -> dict[str, Any]:
    """What the comment of ours on a relation says of it; empty if there is none."""
    return _ours(engine.comments(relation).get(relation))


def _make(room: Room, relation: Relation, query: str, form: str, text: str) -> str:
    engine = room.engine
    sql = queries.create_as(relation, query, engine.dialect, form)
    engine.run(sql)
    room.made[relation] = _FORMS.get(form, form)
    engine.run(queries.comment(relation, text, engine.dialect, form))
    return sql


def _set_rights(engine: Engine, relation: Relation, wanted: Iterable[Grant]) -> None:
    """Give these rights to others, and take all that they have beyond them."""
    for grantee in {grant.grantee for grant in engine.rights(relation).grants}:
        engine.run(queries.revoke(relation, grantee, engine.dialect))
    for grant in wanted:
        engine.run(
            queries.grant(relation, grant.privilege, grant.grantee, engine.dialect, grant.column, grant.may_grant)
        )


def _comment(says: Mapping[str, Any]) -> str:
    return f"{_MARK}{json.dumps(says, ensure_ascii=False)}"


def _ours(comment: str | None) -> dict[str, Any]:
    """What the last line of a comment says, if it is ours."""
    last = (comment or "").rpartition("\n")[2]
    if not last.startswith(_MARK):
        return {}
    try:
        found = json.loads(last.removeprefix(_MARK))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _theirs(comment: str | None) -> str:
    """A comment without what is ours in it."""
    return (comment or "").rpartition("\n")[0] if _ours(comment) else comment or ""


def _is_beside(target: Relation, comment: str | None) -> bool:
    return _ours(comment).get("of") == target.name


_FORMS = {"materialized": "materialized view"}
