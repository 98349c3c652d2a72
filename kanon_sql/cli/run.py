"""`kanon run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.flags import in_keys
from kanon_sql.cli.show import EMPTY, err, out, warn, watching
from kanon_sql.errors import SpecError
from kanon_sql.verbs.report import check_report
from kanon_sql.verbs.run import Ran
from kanon_sql.verbs.run import run as run_all


def _variables(texts: list[str]) -> dict[str, str]:
    """Read `DAY=2026-03-01` for each variable."""
    said: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise SpecError(f"--var takes NAME=VALUE; got {text!r}")
        if name in said:
            raise SpecError(f"--var: {name} is given twice; keep one of the two")
        said[name] = value
    return said


RELEASES = Argument("spec", "A spec of one release, or of several under `releases`.", type=Path, default=...)
VAR = Option("vars", "A variable of the spec, as in DAY=2026-03-01; wins over the environment. Repeatable.", None,
             list[str], "--var", read=_variables)  # fmt: skip
ONLY = Option("only", "The releases to make, such as research,public (default: all).", read=o.names)
DRY_RUN = Option("dry_run", "Say what would be done, and why, without doing it.", type=bool)

REPORTS = Option(
    "reports", "Write a report on each release that is made into this folder, named after it, as .html.", "Output", Path
)


@takes(RELEASES, VAR, ONLY, DRY_RUN, REPORTS, o.DIFFERENCING_LIMIT, o.FAIL_EMPTY, o.JSON)
def run(
    spec: Path,
    dry_run: bool | None,
    reports: Path | None,
    fail_empty: bool | None,
    as_json: bool | None,
    **how: Any,
) -> None:
    """Exit code 0: done, or nothing to do. 1: a release was refused for what the data are, and the old one stays.
    2: any other error. 3, with --fail-empty: a release tells nothing. One release that is refused keeps no other from
    being made."""
    if reports:
        check_report(reports / "release.html", overwrite=True)
    with watching() as watch:
        done = run_all(spec, dry_run=bool(dry_run), check=False, observer=watch, **how)
        for each in done.releases if reports else ():
            if reports and each.release:
                watch.stage(f"Reporting on {each.name}")
                each.release.report(reports / f"{each.name}.html", overwrite=True)
    if as_json:
        print(json.dumps(done.to_dict(), indent=2))
    else:
        for each in done.releases:
            _show(each)
    for each in done.releases:
        if each.error:
            err.print(
                f"kanon: {escape(each.name)}: {escape(in_keys(str(each.error), [o.OPTIONS['differencing_limit']]))}",
                highlight=False,
            )
        if each.release:
            warn(each.release.manifest["warnings"])
    empty = any(each.release and each.release.manifest.get("nothing_left") for each in done.releases)
    raise typer.Exit(EMPTY if fail_empty and empty and not done.code else done.code)


_COLOURS = {"released": "green", "refused": "red", "failed": "red", "would release": "yellow"}


def _show(each: Ran) -> None:
    """A line of what was done about a release, and why."""
    colour = _COLOURS.get(each.status, "dim")
    why = f": {'; '.join(each.why)}" if each.why else ""
    out.print(f"{escape(each.name)} [{colour}]{each.status}[/{colour}]{escape(why)} ({escape(each.target)})")
