"""Release tables and views: checks before they are replaced, comments that mark them as ours, and privileges.

The last line of a table's comment identifies it: `kanon_sql: {…}`. Only the target itself and relations whose comment
names that target are ever dropped. In a transaction, a table whose columns stay the same is not dropped: its rows are
replaced, so that views, indexes and everything else that users attached to it stay.
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
from kanon_sql.engine import (
    Attached,
    Column,
    Engine,
    Grant,
    Rights,
    Statement,
    Table,
    TransactionalEngine,
    has_transactions,
    written,
)
from kanon_sql.errors import KanonError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.release.pieces import Piece, companion, timed
from kanon_sql.spec import Target

_MARK = "kanon_sql: "
_RELEASE = "release"  # the "is" entry in the comment on a target
_Step = Callable[[], object]
_FORMS = {"materialized": "materialized view"}


@dataclass(frozen=True)
class Placement:
    """Where a target is written: the place of its pieces, and the relations that they replace.

    `place`: the target itself where a transaction hides it until its end, otherwise an unused name.
    `old`: relation to be replaced -> its form; `before`: -> its owner and privileges, which stay, like `user_comment`.
    `created`: the pieces created so far. `standing`: the tables whose rows are replaced. `attached`: relation -> what
    users had attached to the dropped one, to be created again.
    """

    engine: Engine
    target: Relation
    place: Relation
    old: dict[Relation, str]
    before: dict[Relation, Rights]
    user_comment: str = ""
    created: list[Piece] = field(default_factory=list)
    standing: set[Relation] = field(default_factory=set)
    attached: dict[Relation, list[Attached]] = field(default_factory=dict)


def check(engine: Engine, target: Target, source: Table) -> Table | None:
    """Return the relation that will be replaced, if any; TargetError if it is the source or must not be replaced."""
    place = engine.place(str(target.table))
    refuse_view_elsewhere(target, place, source)
    existing = engine.existing(place)
    if existing is None:
        return None
    if existing.relation == source.relation:
        raise TargetError(f"the target {target.table} is the source; name another table")
    if source.form == "view" and has_transactions(engine) and engine.reads_from(source.relation, existing.relation):
        raise TargetError(
            f"the source is the view {source.relation.name}, which reads the target {target.table}; name another target"
        )
    if not target.overwrite:
        raise TargetError(f"the {existing.form} {target.table} exists already; use `overwrite=True` to replace it")
    if about(engine, existing.relation).get("is") != _RELEASE:
        _refuse_foreign(target, existing)
    return existing


def _refuse_foreign(target: Target, existing: Table) -> None:
    """Refuse to replace a relation without a release comment, unless `replace_foreign_table` confirms its name."""
    if target.replace_foreign_table != target.table:
        raise TargetError(
            f"the {existing.form} {target.table} has no comment of a release by kanon_sql, so `overwrite` does not "
            "replace it; name another target, or repeat its name with `replace_foreign_table`"
        )


def refuse_view_elsewhere(target: Target, place: Relation, source: Table) -> None:
    """Refuse a view on a table of another file: it breaks unless both files are attached by the same names."""
    if target.form == "view" and place.parts[:-2] != source.relation.parts[:-2]:
        raise TargetError(
            f"a view in {place.parts[0]} could read {written(source.relation)} only where both files are attached by "
            "these names; use `form='table'`, or name a target where the source is"
        )


def check_companions(engine: Engine, target: Target, source: Table, needed: Iterable[Relation]) -> None:
    """Refuse a target whose companion table would replace a foreign table, or ours without `overwrite`."""
    relation = engine.place(str(target.table))
    comments = engine.comments(relation)
    for existing in filter(None, map(engine.existing, needed)):
        needs = f"the {_FORMS.get(target.form, target.form)} {target.table} needs a table {existing.relation.name}"
        if existing.relation == source.relation:
            raise TargetError(f"{needs}, which is the source; name another target")
        ours = _is_companion(relation, comments.get(existing.relation))
        if not (ours and target.overwrite):
            next_step = "use `overwrite=True` to replace it" if ours else "name another target, or rename that table"
            raise TargetError(f"{needs}, which exists already; {next_step}")


def quoted(relation: Relation) -> str:
    """A relation's name, quoted so that `Engine.place` reads any characters in it."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in relation.parts)


def prepare(engine: Engine, target: Target) -> Placement:
    """Find the place of a target; TargetError if an existing relation must not be replaced.

    In a transaction, other sessions cannot write to the tables that will be replaced from now on.
    """
    relation = engine.place(str(target.table))
    if not engine.has_transactions:
        bring_back(engine, relation)
    comments = engine.comments(relation)
    companions = [table for table, text in comments.items() if target.overwrite and _is_companion(relation, text)]
    present = [table for table in map(engine.existing, (relation, *companions)) if table]
    if present and not target.overwrite:
        raise TargetError(f"the {present[0].form} {relation.name} exists now; use `overwrite=True` to replace it")
    if present and present[0].relation == relation and not _ours(comments.get(relation)):
        _refuse_foreign(target, present[0])
    old = {table.relation: table.form for table in present}
    if has_transactions(engine):
        for table in present:
            if table.form == "table":
                engine.hold(table.relation)
    rights = {table: engine.rights(table) for table in old}
    place = relation if engine.has_transactions else relation.sibling(unused_name(relation, "staged"))
    return Placement(engine, relation, place, old, rights, _user_comment(comments.get(relation)))


def make_room(placement: Placement, pieces: Sequence[Piece], replaced: Iterable[Relation] | None = None) -> None:
    """In a transaction, drop the relations that the pieces replace, except tables that stay and get new rows.

    `replaced`: only these of them. TargetError if the target must be dropped and something depends on it.
    """
    engine = placement.engine
    if not has_transactions(engine):
        return
    by_place = {piece.at(placement.target): piece for piece in pieces}
    for relation in placement.old if replaced is None else replaced:
        form, piece = placement.old[relation], by_place.get(relation)
        # A table with a key of ours is always created anew.
        stays = piece and form == piece.form == "table" and piece.key is None
        if piece and stays and engine.result_types(piece.query) == _types(engine, relation):
            placement.standing.add(relation)
            continue
        if piece and relation == placement.target:
            placement.attached[relation] = _restorable(engine, relation, form, piece)
        drop(engine, {relation: form})


def _types(engine: TransactionalEngine, relation: Relation) -> list[tuple[str, str]]:
    return engine.result_types(queries.select_all(relation, engine.dialect))


def _restorable(engine: TransactionalEngine, relation: Relation, form: str, piece: Piece) -> list[Attached]:
    """The objects attached to a relation, all of which can be created again; otherwise TargetError."""
    same_form = form == _FORMS.get(piece.form, piece.form)
    attached = engine.attached(relation)
    lost = [dependent for dependent in attached if not dependent.statement or (dependent.needs_table and not same_form)]
    if lost:
        raise _in_the_way(relation, _why_dropped(engine, relation, form, piece), lost)
    return attached


def _restore(engine: Engine, relation: Relation, attached: Sequence[Attached]) -> None:
    """Create again what was attached to a replaced relation; TargetError if a column does not exist any more."""
    columns = {column.name for column in engine.table(relation).columns} if attached else set()
    lost = [dependent for dependent in attached if not columns.issuperset(dependent.columns)]
    if lost:
        missing = next(name for name in lost[0].columns if name not in columns)
        raise _in_the_way(relation, f"it does not have the column {missing} any more", lost)
    for dependent in attached:
        engine.run(dependent.statement)


def _in_the_way(relation: Relation, why: str, lost: Sequence[Attached]) -> TargetError:
    depend = _depend([dependent.name for dependent in lost])
    return TargetError(
        f"{relation.name} cannot be replaced: {why}, and {depend} on it; drop what depends on it, and create it again "
        "after the release, or name another target"
    )


def _depend(names: Sequence[str]) -> str:
    """The subject of a sentence with its verb.

    >>> _depend(["the view bi"]), _depend(["the view bi", "the index by_age"])
    ('the view bi depends', 'the view bi and the index by_age depend')
    """
    *others, last = names
    return f"{', '.join(others)} and {last} depend" if others else f"{last} depends"


def _why_dropped(engine: TransactionalEngine, relation: Relation, form: str, piece: Piece) -> str:
    """Why a relation cannot stay, in words."""
    new_form = _FORMS.get(piece.form, piece.form)
    if form != new_form:
        return f"the {form} becomes a {new_form}"
    if form != "table":
        return f"each release creates the {form} again"
    before, after = dict(_types(engine, relation)), dict(engine.result_types(piece.query))
    changes = [f"{name} is missing" for name in before if name not in after]
    changes += [f"{name} is new" for name in after if name not in before]
    for name in before.keys() & after.keys():
        if before[name] != after[name]:
            old, new = (Column(name, kind, "").type_without_values for kind in (before[name], after[name]))
            changes.append(f"{name} changes from {old} to {new}")
    return f"its columns change ({', '.join(sorted(changes)) or 'their order'})"


def create(placement: Placement, piece: Piece) -> Statement:
    """Create a piece with its comment, and return the statement; a target keeps its user's comment."""
    engine, relation = placement.engine, piece.at(placement.place)
    placement.created.append(piece)
    if has_transactions(engine) and relation in placement.standing:
        sql = queries.insert(relation, piece.query, engine.dialect)
        statement = timed(piece, sql, lambda: engine.refill(relation, piece.query, _comment(placement, piece)))
    else:
        sql = queries.create_as(relation, piece.query, engine.dialect, piece.form)
        comment = _comment(placement, piece)
        statement = timed(piece, sql, lambda: engine.create(relation, piece.query, piece.form, comment))
        _restore(engine, relation, placement.attached.get(relation, ()))
    declare_key(engine, relation, piece.key)
    if not piece.released:
        placement.before.pop(piece.at(placement.target), None)
        keep_private(engine, relation)
    return statement


def make_private(engine: Engine, relation: Relation, query: str, about: Mapping[str, Any]) -> None:
    """Create a table next to a release that only its owner can read, whatever the default privileges are."""
    engine.create(relation, query, "table", comment(about))
    _set_rights(engine, relation, ())


def finish(placement: Placement) -> None:
    """Restore the owner of the replaced target, where possible, and all privileges that were granted on it.

    Tables that stayed still have them.
    """
    engine, owner = placement.engine, placement.before.get(placement.target, Rights()).owner
    created = [piece for piece in placement.created if piece.at(placement.place) not in placement.standing]
    forms = {piece.at(placement.place): _FORMS.get(piece.form, piece.form) for piece in created}
    others = {relation: form for relation, form in forms.items() if owner and owner != engine.rights(relation).owner}
    if owner and others:
        engine.set_owner(owner, others)
    for piece in created:
        relation, rights = piece.at(placement.place), placement.before.get(piece.at(placement.target))
        if rights:
            columns = {column.name for column in engine.table(relation).columns}
            _set_rights(engine, relation, [grant for grant in rights.grants if grant.column in (None, *columns)])


def discard(placement: Placement) -> None:
    """Drop the created pieces where no transaction rolls them back."""
    drop(placement.engine, {piece.at(placement.place): piece.form for piece in reversed(placement.created)})


def put_in_place(placement: Placement, pieces: Sequence[Piece]) -> None:
    """Rename the staged relations to the target's names, statement by statement; undo all of it if one fails.

    `pieces`: as built for the target's names: a view contains its companions' names, so it is created again.
    """
    engine, undo = placement.engine, list[_Step]()
    replaced = {table.sibling(unused_name(table, "replaced")): form for table, form in placement.old.items()}
    staged = {piece.at(placement.place): piece.form for piece in placement.created}
    copied = staged if not engine.can_rename else {at: form for at, form in staged.items() if form == "view"}
    try:
        out_of_the_way = (
            _renaming(engine, old, aside, form)
            for (old, form), aside in zip(placement.old.items(), replaced, strict=True)
        )
        for do, back in (*out_of_the_way, *_put(placement, pieces)):
            do()
            undo.append(back)
    except BaseException:
        for back in reversed(undo):
            with suppress(KanonError):
                back()
        raise
    if copied:
        finish(replace(placement, place=placement.target))
    with suppress(KanonError):  # the release is complete; a leftover has an unused name
        drop(engine, {**copied, **replaced})
        drop_leftovers(placement)


def drop_leftovers(placement: Placement) -> None:
    """Drop the tables that killed runs left next to the target."""
    drop(placement.engine, _leftovers(placement.engine, placement.target))


def drop(engine: Engine, relations: Mapping[Relation, str]) -> None:
    """Drop relations, given with their forms."""
    for relation, form in relations.items():
        engine.run(queries.drop(relation, engine.dialect, form))


def about(engine: Engine, relation: Relation) -> dict[str, Any]:
    """The contents of kanon_sql's comment on a relation; empty without one."""
    return _ours(engine.comments(relation).get(relation))


def companion_of(engine: Engine, release: Relation, stem: str) -> Table | None:
    """The companion table of a release, if there is one and its comment names the release."""
    place = companion(release, stem)
    table = engine.existing(place)
    return table if table and about(engine, place).get("of") == release.name else None


def _leftovers(engine: Engine, target: Relation) -> dict[Relation, str]:
    """Relation -> form of tables that killed runs left next to a target, found by name and comment.

    If another run is still at work, its staged tables are dropped, too: that run then fails and reports it.
    """
    ours = re.compile(rf"{re.escape(target.name)}__(?:staged|replaced)_[0-9a-f]{{8}}(?:__.*)?")
    left = [table for table, text in engine.comments(target).items() if ours.fullmatch(table.name) and _ours(text)]
    return {table.relation: table.form for table in map(engine.existing, left) if table}


def bring_back(engine: Engine, target: Relation) -> None:
    """Restore the name of a release that a killed run had set aside, if the name is free."""
    left = [(table, form) for table, form in _leftovers(engine, target).items() if "__replaced_" in table.name]
    own = [(table, form) for table, form in left if re.fullmatch(r".*__replaced_[0-9a-f]{8}", table.name)]
    if len(own) == 1 and own[0][1] == "table" and engine.existing(target) is None:
        rename, _ = _renaming(engine, own[0][0], target, "table")
        rename()


def _put(placement: Placement, pieces: Sequence[Piece]) -> Iterator[tuple[_Step, _Step]]:
    """Pairs of steps that put the pieces in place, the target itself last, and that undo it."""
    engine = placement.engine
    for piece in sorted(pieces, key=lambda piece: not piece.stem):
        staged, final = piece.at(placement.place), piece.at(placement.target)
        if piece.form == "view":
            create_view = partial(engine.create, final, piece.query, piece.form, _comment(placement, piece))
            yield create_view, partial(drop, engine, {final: piece.form})
        else:
            yield _renaming(engine, staged, final, piece.form)


def _renaming(engine: Engine, old: Relation, new: Relation, form: str) -> tuple[_Step, _Step]:
    """The step that renames a table or view, and the one that undoes it."""
    return partial(_rename, engine, old, new, form), partial(_rename, engine, new, old, form)


def _rename(engine: Engine, old: Relation, new: Relation, form: str) -> None:
    """Rename a table or view; copy it where the engine cannot rename."""
    if engine.can_rename:
        engine.run(queries.rename(old, new.name, engine.dialect, form))
        return
    engine.create(new, queries.select_all(old, engine.dialect), "table", engine.comments(old).get(old, ""))
    drop(engine, {old: form})


def unused_name(relation: Relation, why: str) -> str:
    return f"{relation.name}__{why}_{token_hex(4)}"


def _comment(placement: Placement, piece: Piece) -> str:
    """The comment on a piece: a companion's names its target, and a target keeps its user's comment."""
    if piece.stem:
        return comment({**piece.about, "of": placement.target.name})
    text = comment({"is": _RELEASE, "as": piece.form, **piece.about})
    return "\n".join(filter(None, [placement.user_comment, text]))


def declare_key(engine: Engine, relation: Relation, key: str | None) -> None:
    """Declare a key on a column, where the engine has keys for its type, so that no value occurs twice."""
    column = engine.table(relation).column(key) if key and engine.has_keys else None
    if column and column.kind != "other":
        engine.run(queries.declare_key(relation, column.name, engine.dialect))


def keep_private(engine: Engine, relation: Relation) -> None:
    """Revoke all privileges on a new table that default privileges may have granted to others."""
    _set_rights(engine, relation, ())


def _set_rights(engine: Engine, relation: Relation, wanted: Iterable[Grant]) -> None:
    """Grant exactly these privileges to others."""
    for grantee in {grant.grantee for grant in engine.rights(relation).grants}:
        engine.run(queries.revoke(relation, grantee, engine.dialect))
    for grant in wanted:
        engine.run(
            queries.grant(relation, grant.privilege, grant.grantee, engine.dialect, grant.column, grant.may_grant)
        )


def comment(about: Mapping[str, Any]) -> str:
    return f"{_MARK}{json.dumps(about, ensure_ascii=False)}"


def _ours(comment: str | None) -> dict[str, Any]:
    """The contents of a comment's last line, if kanon_sql wrote it."""
    last = (comment or "").rpartition("\n")[2]
    if not last.startswith(_MARK):
        return {}
    try:
        parsed = json.loads(last.removeprefix(_MARK))
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _user_comment(comment: str | None) -> str:
    """A comment without the line that kanon_sql wrote."""
    return (comment or "").rpartition("\n")[0] if _ours(comment) else comment or ""


def _is_companion(target: Relation, comment: str | None) -> bool:
    return _ours(comment).get("of") == target.name
