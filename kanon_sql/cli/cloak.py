"""`kanon cloak`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import takes
from kanon_sql.cli.output import out, roles, show_result, took, verdict, verified, warn, watching
from kanon_sql.errors import SpecError
from kanon_sql.plan.source import settle
from kanon_sql.spec import CloakSpec
from kanon_sql.verbs.cloak import cloak as run
from kanon_sql.verbs.options import CloakOptions
from kanon_sql.verbs.released import Release


@takes(
    o.SOURCE,
    o.SPEC,
    *o.of(CloakOptions),
    o.REPORT,
    o.JSON,
)
def cloak(source: str | None, spec: Path | None, report: Path | None, as_json: bool | None, **overrides: Any) -> None:
    """[bold]kanon cloak trips.parquet --location lat,lon --time ts --unit taxi --k 5 --output cloaked.parquet[/bold]"""
    settled = settle(CloakSpec, source, spec, overrides, releases=True)
    if settled.target is None:
        raise SpecError('there is no target; use `output="FILE.parquet"`, or `into="TABLE"`')
    with watching("Ctrl-C stops it") as watch:
        release = run(source, settled, observer=watch, report=report)
    show_result(release, as_json, _show, release.manifest["warnings"])


def _show(release: Release) -> None:
    """Print what was cloaked: the numbers of rows and boxes, their size, the privacy model, and the target."""
    manifest = release.manifest
    figures = manifest["figures"]
    model = manifest["privacy"][0]
    target = manifest["target"]
    out.print(
        f"{manifest['released_rows']:,} of {manifest['rows']:,} rows released in {manifest['classes']:,} boxes, "
        f"shared by {manifest['smallest_class']:,} or more of {manifest['units']:,} units; "
        f"{manifest['suppressed_rows']:,} suppressed."
    )
    roles(manifest["roles"])
    out.print(f"The median box has an area of {figures['median_area']:.3g} and lasts {figures['median_length']:,.6g}.")
    out.print(f"{took(manifest['seconds'])}.")
    where = target.get("file") or f"{target['as']} {target['table']}"
    out.print(verified(f"at least {model['required']} {model['model']}", where))
    verdict(manifest)
    warn(manifest["warnings"])
