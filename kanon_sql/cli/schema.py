"""`kanon schema`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, takes
from kanon_sql.cli.output import out
from kanon_sql.documents import json_schema
from kanon_sql.documents.forms import DATABASE_SPEC, NAMES, SPEC
from kanon_sql.errors import TargetError

NAME = Argument("name", "What the schema describes.", choices=NAMES, default=...)
OUTPUT = replace(o.OUTPUT, help="The file to write (default: standard output).", panel=None, type=Path)


@takes(NAME, OUTPUT, o.OVERWRITE)
def schema(name: str, output: Path | None, overwrite: bool | None) -> None:
    """[bold]kanon schema risk[/bold]

    The schemas are closed: a key that they do not describe is an error. [bold]spec[/bold] is what a command reads,
    [bold]database-spec[/bold] what [bold]kanon database[/bold] reads, [bold]manifest[/bold] describes a release,
    [bold]error[/bold] is what every command prints with --json if it fails, and the others are named after their
    commands."""
    write_schema(name, output, overwrite)


def write_schema(name: str, output: Path | None, overwrite: bool | None) -> bool:
    """Print a schema, or write it to a file and return True."""
    text = json.dumps(json_schema(name), indent=2, ensure_ascii=False)
    if output is None:
        print(text)
        return False
    if output.exists() and not overwrite:
        raise TargetError(f"{output} exists; use `overwrite` to replace it, or another name")
    output.write_text(f"{text}\n", encoding="utf-8")
    if name not in (SPEC, DATABASE_SPEC):
        out.print(f"Written to {escape(str(output))}")
    return True
