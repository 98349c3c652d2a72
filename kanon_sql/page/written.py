"""The text of the spec that a page has made: YAML, with the reason of every role as a comment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

from kanon_sql.hints import IDENTIFIER, SENSITIVE
from kanon_sql.page.draft import Draft
from kanon_sql.spec import as_yaml, completed, in_flow
from kanon_sql.suggestion.written import comment, listed
from kanon_sql.verbs.suggest import DROPPED, KEPT, has_password

_LISTS = {"identifiers": IDENTIFIER, "sensitive": SENSITIVE, "keep": KEPT}
_WIDEST = 100


def text_of(draft: Draft, mapping: Mapping[str, Any], name: str) -> str:
    """The spec file of this name; `mapping`: what it says, of the columns of the draft."""
    return "\n".join(_lines(draft, mapping, name)) + "\n"


def elsewhere(mapping: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """The same mapping with its paths, which start at `base`, as a spec in another folder has them."""
    target = mapping.get("target")
    said = completed({**mapping, "target": None}, base, {}).model_dump(mode="json", by_alias=True, exclude_unset=True)
    known = {key: said[key] for key in mapping if said.get(key) is not None}
    if not {"database", "attach"} & known.keys():
        known["source"] = str(base / mapping["source"])
    return {**known, **({"target": target} if target else {})}


def needs_database(mapping: Mapping[str, Any]) -> bool:
    """Whether the address of the database is not written, since it holds a password."""
    return has_password(str(mapping.get("database", "")))


def _lines(draft: Draft, mapping: Mapping[str, Any], name: str) -> Iterator[str]:
    database = ' --database "$DATABASE"' if needs_database(mapping) else ""
    yield from comment("Made with `kanon page`. Run it in this folder:")
    yield from comment(f"  kanon anonymize --spec {name}{database}")
    yield from comment("Recipes may hold values of the data: keep this file as private as they are.")
    reasons = {column.name: column.suggested.reason for column in draft.columns}
    for key, value in mapping.items():
        if key == "database" and database:
            yield from comment("The address of the database holds a password, and is not written here.")
        elif key == "quasi_identifiers":
            yield "quasi_identifiers:"
            for column, attribute in value.items():
                yield from comment(reasons.get(column, ""), "  ")
                yield from _said(column, attribute, "  ")
        elif key in _LISTS and isinstance(value, list) and value:
            yield from listed(key, [(column, reasons.get(column, "")) for column in value])
        else:
            yield from _said(key, value)
        if key == "keep":
            dropped = [column for column in draft.columns if column.role == DROPPED]
            yield from (f"# - {in_flow(column.name)}   # dropped" for column in dropped)


def _said(key: str, value: Any, before: str = "") -> Iterator[str]:
    """A key and its value on one line, or on several where that would be too long."""
    line = f"{before}{in_flow(key)}: {in_flow(value)}"
    yield line if len(line) <= _WIDEST else indent(as_yaml({key: value}), before).rstrip("\n")
