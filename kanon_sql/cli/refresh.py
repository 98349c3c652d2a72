"""`kanon refresh`."""

from __future__ import annotations

from typing import Any

from kanon_sql import documents
from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, takes
from kanon_sql.cli.output import out, print_json, promised, smallest_of, verified, warn
from kanon_sql.verbs.refresh import refresh as run

NAME = Argument("name", "The materialized view that anonymize --as materialized created.", default=...)


@takes(NAME, *o.PLACES, o.JSON)
def refresh(name: str, as_json: bool | None, **options: Any) -> None:
    manifest = run(name, **options)
    if as_json:
        print_json(documents.text("refresh", manifest))
    else:
        _show(manifest)


def _show(manifest: dict[str, Any]) -> None:
    """Print the content of a refreshed release, and what was verified."""
    out.print(
        f"{manifest['released_rows']:,} rows in {manifest['classes']:,} classes, "
        f"the smallest of {smallest_of(manifest)}."
    )
    warn(manifest["warnings"])
    name = manifest["target"]["table"]
    out.print(verified(promised(manifest["privacy"]), f"materialized view {name}", in_="the refreshed view"))
