"""A suggested spec of several tables as a file: YAML with the reasons for keys and roles in comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kanon_sql.hints import DROPPED, IDENTIFIER, QUASI_IDENTIFIER
from kanon_sql.spec import in_flow, limit_text
from kanon_sql.suggestion.columns import SuggestedTable
from kanon_sql.suggestion.spec_file import comment, generalized, in_a_line, listed, with_reasons


@dataclass(frozen=True, repr=False)
class DatabaseFile:
    """The contents of the file. `unit`, `key`: the main table and its key; `database`: None if it is not written."""

    database: str | None
    unit: str
    key: str
    reason: str
    tables: tuple[SuggestedTable, ...]
    left_out: Mapping[str, str]
    k: int
    m: int | str
    suppression_limit: float | str
    into: str
    notes: tuple[str, ...] = ()


def database_text(draft: DatabaseFile, name: str) -> str:
    """The text of the spec file of this name."""
    lines = (*_head(draft, name), *_tables(draft), *_privacy(draft))
    return "\n".join(lines) + "\n"


def _head(draft: DatabaseFile, name: str) -> Iterator[str]:
    count = f"{len(draft.tables)} tables" if len(draft.tables) > 1 else "1 table"
    yield from comment(f"Suggested by `kanon init` from {count}. Read it, edit it, then run:")
    yield from comment(f"  kanon database release {name}")
    yield from comment(
        "It was created from the data, like the files in hierarchies/, which contain values: protect both like the "
        "source. Figures are the numbers of labels per level. Columns that this file does not name are dropped."
    )
    for note in draft.notes:
        yield from comment(f"Note: {note}.")
    if draft.database is not None:
        yield f"database: {in_flow(draft.database)}"
    yield ""
    yield from comment(f"The main table, which has one row per person, and its key: {draft.reason}.")
    yield f"unit: {in_flow({draft.unit: draft.key})}"


def _tables(draft: DatabaseFile) -> Iterator[str]:
    yield ""
    yield from comment(
        "Quasi-identifiers are generalized: others may know them, alone or in combination. The search keeps most "
        "detail in the columns with the highest `weight`, by default 1."
    )
    yield "tables:"
    for table in draft.tables:
        yield f"  {in_flow(table.name)}:   # {table.rows:,} {'row' if table.rows == 1 else 'rows'}"
        yield from (f"    {line}" if line else "" for line in _table(table))
    if draft.left_out:
        yield from comment("Not in the release:", "  ")
    for name, reason in draft.left_out.items():
        yield from comment(f"- {in_flow(name)}: {reason}", "  ")


def _table(table: SuggestedTable) -> Iterator[str]:
    quasi_identifiers, identifiers = table.of_role(QUASI_IDENTIFIER), table.of_role(IDENTIFIER)
    if table.source != table.name:
        yield f"source: {in_flow(table.source)}"
    if table.keys:
        yield "keys:"
        for column, refers_to, evidence in table.keys:
            yield f"  {in_flow(column)}: {in_flow(refers_to)}   # {in_a_line(evidence)}"
    if quasi_identifiers:
        yield "quasi_identifiers:"
        for quasi_identifier in quasi_identifiers:
            yield from generalized(quasi_identifier, table.weights.get(quasi_identifier.name))
    if identifiers:
        yield from listed("identifiers", with_reasons(identifiers))
    if not (table.keys or quasi_identifiers or identifiers):
        yield "keep: []"
    for dropped in table.of_role(DROPPED):
        yield from comment(f"- {in_flow(dropped.name)}   # dropped: {in_a_line(dropped.reason)}")


def _privacy(draft: DatabaseFile) -> Iterator[str]:
    yield ""
    if len(draft.tables) > 1:
        yield from comment(
            f"At least {draft.k} people share an attacker's rows of a person: the one in {draft.unit}, and "
            f"{draft.m} of the rows in the other tables; 10 or 20 for the public."
        )
    else:
        yield from comment(f"At least {draft.k} people share a row; 10 or 20 for the public.")
    yield f"privacy: {in_flow({'k': draft.k, 'm': draft.m if len(draft.tables) > 1 else 0})}"
    yield from comment(
        "A column that no attacker knows, and whose values must stay hidden, can be `sensitive` instead of a "
        "quasi-identifier, with a model here, such as l_diversity: {table.column: 2}."
    )
    limit = draft.suppression_limit
    yield f"suppression_limit: {limit}   # at most {limit_text(limit).replace('rows', 'people')} may be left out"
    if len(draft.tables) > 1:
        yield "event_suppression_limit: 0.05   # at most 5 % of the rows of every other table may be left out"
    yield ""
    yield from comment("`overwrite: true` in it lets a later run replace the release.")
    yield f"into: {in_flow({'schema': draft.into})}"
