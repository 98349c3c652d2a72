"""Copies of tables in one place, so that attacks and comparisons can join them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanon_sql import queries
from kanon_sql.attack import Copy
from kanon_sql.attack.material import GROUP
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.plan.source import Source
from kanon_sql.queries import Hole, Relation
from kanon_sql.release.large import LARGE, text_columns, text_types

OTHER = "other"
_MOST_TEXTS = 20_000  # distinct texts among the first rows of a column that is stored as an ENUM
_WHO = {
    "release": "the release",
    "source": "the source",
    "auxiliary": "the auxiliary table",
    "control": "the control",
    "priors": "the priors",
    "previous": "the previous release",
}


def copied(
    tables: Scratch,
    role: str,
    source: Source,
    plain: Mapping[str, str],
    shown: Mapping[str, tuple[str, ...]],
    unit: str | None,
    location: Sequence[str] = (),
    stored: bool = True,
) -> Copy:
    """Copy a table, with the `plain` names of its columns, and count its rows and people.

    `shown`: the columns that show every quasi-identifier in a release. These become text, two bounds become one range,
    except for boxes. `location`: the columns of the places that boxes contain. `stored`: if False,
    the copy is a view of a table in the same engine, which is read at every use.
    """
    kinds = {column.name: column.kind for column in source.table.columns}
    is_release = role not in ("source", "auxiliary", "control", "priors")
    # Half of an anatomy has its groups, and no quasi-identifier.
    is_half = role.startswith(OTHER) and GROUP in kinds and not any(kinds.keys() & {*names} for names in shown.values())
    if is_half:
        shown = {}
    elif role != "priors":
        needed = shown if is_release else {name: (name,) for name in location or shown}
        check_columns(role, kinds, needed, every=is_release or bool(location))
    texts = [name for names in shown.values() for name in names] if is_release and not location else []
    columns = {name: plain[name] for name in kinds}
    shown_texts = {columns[name]: name for name in texts}
    natives = {copied_as: name for name, copied_as in columns.items() if name not in texts}
    stem = role.replace(" ", "_")
    if stored:
        relation = numbered_rows(tables, stem, source, shown_texts, natives)
    else:
        holes: dict[str, Hole] = {"source": source.table.relation, "texts": shown_texts, "natives": natives}
        relation = tables.view(stem, queries.text("attack_linkage/copied", source.engine.dialect, **holes))
    for name, names in shown.items():
        if is_release and len(names) > 1:
            low, high = (columns.pop(bound) for bound in names)
            columns[name] = plain[name]
            ends = {"low": {plain[name]: low}, "high": {plain[name]: high}}
            ranged = tables.create(f"{stem}_{plain[name]}", "attack_linkage/ranged", copied=relation, **ends)
            if stored:
                tables.drop(relation)
            relation = ranged
    unit_columns = (columns[unit],) if unit in columns else ()
    rows = tables.count(relation)
    people = rows
    if unit_columns:
        ((found,),) = tables.rows("frequency_sets/people", relation=relation, unit=unit_columns)
        people = int(found) or rows
    return Copy(
        _WHO.get(role, role.replace(OTHER, "other release")),
        relation,
        columns,
        kinds,
        rows,
        people,
        unit_columns,
        is_release,
        is_half,
    )


def numbered_rows(
    tables: Scratch, stem: str, source: Source, texts: Mapping[str, str], natives: Mapping[str, str]
) -> Relation:
    """A copy of columns with numbered rows: `texts` as text, `natives` unchanged; plain names -> names in the source.

    Spark would number all rows in a single task, so they are numbered after they have arrived.
    """
    dialect = source.engine.dialect
    holes: dict[str, Hole] = {"source": source.table.relation, "texts": texts, "natives": natives}
    if dialect != "spark":
        query = queries.text("attack_linkage/copied", dialect, **holes)
        return tables.receive(stem, source.engine, query, "attack_linkage/copied")
    query = queries.text("attack_linkage/read_columns", dialect, **holes)
    read = tables.receive(f"{stem}_read", source.engine, query, "attack_linkage/read_columns")
    names = {name: name for name in (*texts, *natives)}
    numbered = tables.create(stem, "attack_linkage/copied", source=read, texts={}, natives=names)
    tables.drop(read)
    return numbered


def encoded(tables: Scratch, copy: Copy, quasi_identifiers: Sequence[str], stored: bool = True) -> Copy:
    """The copy with the texts of a large table as ENUMs, and that of a release with its classes, numbered in its rows.

    Grouping and sorting by ENUMs takes a fraction of the time and memory of texts. `stored`: if False, the copy is a
    view, which is replaced by a table.
    """
    rows, stem = copy.relation, copy.relation.name
    columns = [column.name for column in tables.engine.table(rows).columns]
    texts: list[str] = []
    if copy.rows >= LARGE:  # those with few distinct values in the first rows, except the unit
        texts = [name for name in text_columns(tables, rows) if name not in copy.unit]
    if texts:
        ((*numbers,),) = tables.rows_as(queries.text_counts(rows, texts, LARGE))
        texts = [name for name, number in zip(texts, numbers, strict=True) if number <= _MOST_TEXTS]
    if texts or not stored:
        with text_types(tables, rows, texts) as types:
            text = queries.typed_columns(rows, columns, dict(zip(texts, types, strict=True)))
            typed = tables.create_as(f"{stem}_typed", text)
        tables.drop(rows)
        rows = typed
    classes = None
    if copy.is_release and not copy.is_half:
        labels = copy.plain(quasi_identifiers)
        classes = tables.create(f"{stem}_classes", "attack_matching/classes", release=rows, labels=labels)
        classed = tables.create_as(f"{stem}_classed", queries.classed_rows(rows, columns, classes, labels))
        tables.drop(rows)
        rows = classed
    return replace(copy, relation=rows, classes=classes)


def check_columns(role: str, kinds: Mapping[str, str], needed: Mapping[str, tuple[str, ...]], every: bool) -> None:
    """SpecError if a release lacks a quasi-identifier, or another table all of them."""
    missing = [name for name, names in needed.items() if not set(names) <= kinds.keys()]
    if missing and (every or len(missing) == len(needed)):
        raise SpecError(
            f"{_WHO.get(role, 'another release')} has no column {missing[0]!r}; name quasi-identifiers that it has, "
            "by their names there"
        )
