"""`kanon anatomize`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.output import out, roles, show_result, took, verdict, verified, warn
from kanon_sql.verbs.anatomize import anatomize as run
from kanon_sql.verbs.options import AnatomizeOptions
from kanon_sql.verbs.released import Release
from kanon_sql.verbs.report import check_report

L = Option("l", "Minimum number of different sensitive values in a group.", type=int, default=..., limits={"min": 2})


@takes(
    o.SOURCE,
    L,
    o.SPEC,
    *o.of(AnatomizeOptions),
    o.REPORT,
    o.JSON,
)
def anatomize(
    source: str | None,
    spec: Path | None,
    l: int,  # noqa: E741
    report: Path | None,
    as_json: bool | None,
    **overrides: Any,
) -> None:
    """Hides which of l values belongs to a row (Anatomy, Xiao and Tao 2006). anonymize --as anatomy hides the row too."""  # noqa: E501
    overwrite = bool(overrides["overwrite"])
    if report:
        check_report(report, overwrite)
    release = run(source, spec, l=l, **overrides)
    if report:
        release.report(report, overwrite=overwrite)
    show_result(release, as_json, _show, release.manifest["warnings"])


def _show(release: Release) -> None:
    """Print what was released, and that it is not k-anonymous."""
    manifest = release.manifest
    model, target = manifest["privacy"][0], manifest["target"]
    out.print(
        f"{manifest['rows']:,} rows released unchanged in {manifest['groups']:,} groups, the smallest of "
        f"{manifest['smallest_group']} rows. [yellow]Not k-anonymous[/yellow]."
    )
    roles(manifest["roles"])
    out.print(f"{took(manifest['seconds'])}.")
    where = f"{target.get('file') or target['table']} and {manifest['anatomy']['sensitive']}"
    out.print(verified(f"no sensitive value has more than 1 / {model['required']} of its group", where))
    verdict(manifest)
    warn(manifest["warnings"])
