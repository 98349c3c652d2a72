"""`kanon page`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.output import out, warn, watching
from kanon_sql.errors import SpecError
from kanon_sql.resources import install_command
from kanon_sql.spec import mapping_of

PORT = Option("port", "The port to listen on (default: a free one).", type=int, limits={"min": 1, "max": 65535})
HIERARCHIES = replace(
    o.OPTIONS["hierarchies"],
    help="A folder of hierarchy files to choose from; <column>.csv is preselected.",
    panel=None,
)
BROWSER = Option("browser", "Open the page in the browser.", type=bool)
TIME_LIMIT = Option("time_limit", "Seconds for examining sets of columns.", type=float, default=10.0, limits={"min": 0})
OUTPUT = Option(
    "output", "The folder to write releases, specs and reports to (default: the current folder).", type=Path
)


@takes(o.SOURCE, *o.PLACES, o.SPEC, HIERARCHIES, OUTPUT, PORT, BROWSER, TIME_LIMIT)
def page(
    source: str | None,
    spec: Path | None,
    hierarchies: Path | None,
    output: Path | None,
    port: int | None,
    browser: bool | None,
    time_limit: float,
    **places: Any,
) -> None:
    """[bold]kanon page patients.csv[/bold]

    Without a source, choose a file of this folder or a table of the database on the page. A spec of several tables
    opens a read-only page of its release.

    Only this machine can reach the page, at an address with a secret, and only while the command runs. It shows values
    of the data. Requires the extra `page`."""
    try:
        from kanon_sql.page import serve
        from kanon_sql.page.database import open_database
        from kanon_sql.page.first_draft import open_page
    except ModuleNotFoundError as error:
        raise SpecError(f"{error.name} is not installed; run: {install_command('page')}") from error
    opened: Any
    if spec is not None and "tables" in mapping_of(spec):
        for option, value in (("SOURCE", source), ("--hierarchies", hierarchies), ("--output", output)):
            if value is not None:
                raise SpecError(f"the page of a spec with several tables is read-only; leave out {option}")
        opened = open_database(spec, **places)
    else:
        with watching() as watch:
            opened = open_page(source, spec, watch, time_limit, hierarchies, output, **places)
        warn(opened.notes)

    with TemporaryDirectory(prefix="kanon_page_", ignore_cleanup_errors=True) as folder:

        def announce(address: str) -> None:
            if out.quiet:
                print(address, flush=True)
            out.print(f"Open [bold]{escape(address)}[/bold]\nCtrl-C stops the page.", soft_wrap=True)
            if browser:
                import webbrowser

                webbrowser.open(_redirecting_file(address, Path(folder)))

        serve(opened, port or 0, announce)


def _redirecting_file(address: str, folder: Path) -> str:
    """Write a private file that redirects to the address, and return its URI.

    Any user of the machine can read the arguments of the browser's process, and the address contains a secret.
    """
    file = folder / "page.html"
    file.touch(mode=0o600)
    file.write_text(f'<!doctype html><title>kanon page</title><meta http-equiv="refresh" content="0; url={address}">')
    return file.as_uri()
