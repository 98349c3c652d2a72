"""How a run continues from the previous release: the recoding to reuse, overwriting it, and drift of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from glob import escape
from pathlib import Path
from secrets import token_hex
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.pipeline.memory import notes_of
from kanon_sql.plan.drift import drift, without_new
from kanon_sql.plan.source import Source
from kanon_sql.recode import RECODERS
from kanon_sql.spec import ReleaseSpec, Scheduled, Spec, check

_REGIONS = ".regions.parquet"


def settled(scheduled: Scheduled, before: Mapping[str, Any] | None, path: Path, restores: bool) -> ReleaseSpec:
    """The spec of a run after the release `before`; `restores`: whether it is recreated unchanged."""
    target = scheduled.spec.target
    assert target
    overwrite = target.overwrite or before is not None
    spec = scheduled.spec.model_copy(update={"target": target.model_copy(update={"overwrite": overwrite})})
    if isinstance(spec, Spec):
        spec = _with_regions(spec, notes_of(path, f"{scheduled.key}.{token_hex(4)}{_REGIONS}").with_suffix(""))
        if before is not None and not spec.reuses_earlier and scheduled.node != "search":
            spec = spec.model_copy(update=_reuse(spec, scheduled, before, path))
    if not restores:
        return spec
    if isinstance(spec, Spec):
        return spec.as_restored()
    return spec.model_copy(update={"differencing_limit": "unlimited"})


def _with_regions(spec: Spec, file: Path) -> Spec:
    """The spec with a file for the regions of a local recoding, if its strategy has regions."""
    if spec.strategy not in RECODERS or spec.write_regions:
        return spec
    writing = spec.model_copy(update={"write_regions": str(file)})
    try:
        check(writing, "anonymize")
    except SpecError:
        return spec
    return writing


def _reuse(spec: Spec, scheduled: Scheduled, before: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The options that reuse the node or the regions of the previous release; none if they require a new search."""
    regions = None
    if spec.strategy in RECODERS:
        if before.get("regions"):
            file = notes_of(path, scheduled.key).with_name(Path(before["regions"]["file"]).name)
            regions = file if file.is_file() else None
        available = regions is not None
    else:
        available = before.get("node") is not None
    same_columns = [*before["roles"]["quasi_identifiers"]] == [*spec.quasi_identifiers]
    if scheduled.node == "keep_else_search" and not (available and same_columns):
        return {}
    options = {"node_from": before, "node_else": "error" if scheduled.node == "keep" else "search"}
    return {**options, "regions": str(regions)} if regions else options


def without_new_columns(source: Source, spec: ReleaseSpec, before: Mapping[str, Any] | None) -> Source:
    """The source without new columns that the policy drops; SpecError for drift that the policy refuses.

    Does nothing if a recoding is reused, because planning then makes these checks.
    """
    if before is None or not isinstance(spec, Spec) or spec.reuses_earlier:
        return source
    differences = [difference for difference in drift(before, source, spec) if difference.kind != "changed hierarchy"]
    remaining, _ = without_new(source, differences)
    return remaining


def forget_regions(path: Path, key: str, manifests: Sequence[Mapping[str, Any] | None]) -> None:
    """Delete files of regions that no manifest names, because they contain values of the data."""
    named = {Path(manifest["regions"]["file"]).name for manifest in manifests if manifest and manifest.get("regions")}
    folder = notes_of(path, key).parent
    if folder.is_dir():
        for file in folder.glob(f"{escape(key)}.*{_REGIONS}"):
            if file.name not in named:
                file.unlink(missing_ok=True)
