"""The manifest of a cloaked release: aggregates only, never a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.cloak import Cloaked
from kanon_sql.cloak.cloaked_release import CloakSummary
from kanon_sql.cloak.points import Cloaking
from kanon_sql.resources import package_version
from kanon_sql.spec import may_suppress


def describe(
    cloaked: Cloaked,
    target: Mapping[str, str],
    engine: str,
    roles: Mapping[str, Any],
    warned: Sequence[str],
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """The manifest as a mapping for JSON.

    `figures`, over the released rows: relative anonymity is the units that share a row's box, by its own k; relative
    resolutions are sqrt(2 dx * 2 dy / area) and 2 dt / length (Gedik and Liu 2008, section 6), if the box is more than
    a point. Areas are in the squared unit of the location's columns; lengths in seconds for timestamps, days for
    dates, else the column's own unit.
    """
    cloaking, summary, (area, length) = cloaked.cloaking, cloaked.summary, cloaked.medians
    spec, extent = cloaking.spec, cloaking.extent
    suppressed = extent.rows - summary.rows
    return {
        "rows": extent.rows,
        "units": extent.units,
        "released_rows": summary.rows,
        "suppressed_rows": suppressed,
        "unplaced_rows": extent.rows - extent.placed,
        "success_rate": summary.rows / extent.rows,
        "classes": summary.classes,
        "smallest_class": summary.smallest,
        "average_class": summary.rows / summary.classes,
        "cloak": spec.cloak.model_dump(exclude_none=True),
        "figures": {
            "relative_anonymity": summary.relative_anonymity,
            "relative_spatial_resolution": summary.relative_space,
            "relative_temporal_resolution": summary.relative_time,
            "mean_area": summary.mean_area,
            "median_area": area,
            "mean_length": summary.mean_length / cloaking.ticks,
            "median_length": length / cloaking.ticks,
        },
        "privacy": _privacy(cloaking, summary, cloaked.inside),
        "verified": True,
        "strategy": "cloak",
        "seed": spec.seed,
        "seconds": seconds,
        "roles": {
            "identifiers_dropped": list(spec.dropped),
            "location": list(spec.location),
            "time": spec.time,
            "unit": spec.unit,
            "sensitive": list(spec.sensitive),
            **roles,
        },
        "source": spec.source,
        "target": dict(target),
        "engine": engine,
        "sql": {"release": cloaked.sql},
        "warnings": [*_warnings(cloaked, suppressed), *warned],
        "version": package_version(),
    }


def _privacy(cloaking: Cloaking, summary: CloakSummary, inside: int | None) -> list[dict[str, Any]]:
    """The guarantee first; in the published form, the achieved value of the stronger one follows."""
    k = cloaking.model.k
    shared = {"model": "units that share a released box and interval", "required": k, "achieved": summary.smallest}
    if inside is None:
        return [shared]
    within = {"model": "units seen inside a released box and interval", "required": k, "achieved": inside}
    return [within, {**shared, "required": None, "short_rows": summary.unsafe_rows}]


def _warnings(cloaked: Cloaked, suppressed: int) -> Sequence[str]:
    warnings = []
    cloaking = cloaked.cloaking
    summary = cloaked.summary
    if cloaked.inside is not None:
        warnings.append(
            f"as published, {summary.unsafe_rows:,} rows have a box and interval that fewer than "
            f"{cloaking.model.k} units share: the release is not k-anonymous; "
            "remove `shared: false` for one that is"
        )
    if suppressed > may_suppress(cloaking.spec.suppression_limit, cloaking.extent.rows):
        warnings.append(
            f"{suppressed:,} of {cloaking.extent.rows:,} rows were suppressed because they could not be cloaked"
        )
    warnings += [
        f"the column {name!r} is released unchanged and distinguishes most units, so the rows of a unit can be linked; "
        "if it is an identifier, name it in identifiers"
        for name in cloaked.identifying
    ]
    return warnings
