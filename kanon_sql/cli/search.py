"""`kanon search`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import takes
from kanon_sql.cli.output import out, print_json, watching
from kanon_sql.verbs.options import SearchOptions
from kanon_sql.verbs.search import search as run


@takes(
    o.SOURCE,
    o.SPEC,
    o.FREQUENCY_SET,
    *o.of(SearchOptions, "strategy"),
    o.LATTICE_SEARCH,
    o.SEARCH_IN,
    o.DIALECT,
    o.TABLE,
    o.JSON,
)
def search(source: str | None, spec: Path | None, search_in: Any, as_json: bool | None, **overrides: Any) -> None:
    with watching() as watch:
        found = run(source, spec, observer=watch, search_in=search_in, **overrides)
    if as_json:
        print_json(found.to_json())
    elif found.sql:
        print(f"{found.sql};")
    else:
        out.print(escape(str(found)))
