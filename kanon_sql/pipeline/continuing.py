"""How a run goes on from the release before: what of it is held, what may be replaced, and what drifted."""

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


def settled(each: Scheduled, before: Mapping[str, Any] | None, path: Path, restores: bool) -> ReleaseSpec:
    """The spec of this run behind the release `before`; `restores`: the same is made again, and compared as a whole."""
    target = each.spec.target
    assert target
    overwrite = target.overwrite or before is not None
    spec = each.spec.model_copy(update={"target": target.model_copy(update={"overwrite": overwrite})})
    if isinstance(spec, Spec):
        spec = _with_regions(spec, notes_of(path, f"{each.key}.{token_hex(4)}{_REGIONS}").with_suffix(""))
        if before is not None and not spec.holds_on and each.node != "search":
            spec = spec.model_copy(update=_held(spec, each, before, path))
    return spec.model_copy(update={"differencing_limit": "unlimited"}) if restores else spec


def _with_regions(spec: Spec, file: Path) -> Spec:
    """Have a local recoding note the regions of its classes, where it has such."""
    if spec.strategy not in RECODERS or spec.write_regions:
        return spec
    noted = spec.model_copy(update={"write_regions": str(file)})
    try:
        check(noted, "anonymize")
    except SpecError:
        return spec
    return noted


def _held(spec: Spec, each: Scheduled, before: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """What holds the node, or the regions, of the release before; nothing where another must be searched for anyway."""
    regions = before.get("regions")
    noted = notes_of(path, each.key).with_name(Path(regions["file"]).name) if regions else None
    local = spec.strategy in RECODERS
    there = noted is not None and noted.is_file() if local else before.get("node") is not None
    same = [*before["roles"]["quasi_identifiers"]] == [*spec.quasi_identifiers]
    if each.node == "keep_else_search" and not (there and same):
        return {}
    held: dict[str, Any] = {"node_from": before, "node_else": "error" if each.node == "keep" else "search"}
    return held | ({"regions": str(noted)} if local and noted and noted.is_file() else {})


def as_known(source: Source, spec: ReleaseSpec, before: Mapping[str, Any] | None) -> Source:
    """The source as far as the release before knew it, where none of that is held; SpecError for what may not be new.

    Where a node is held, that is seen to when it is.
    """
    if before is None or not isinstance(spec, Spec) or spec.holds_on:
        return source
    drifted = [each for each in drift(before, source, spec) if each.kind != "changed hierarchy"]
    known, _ = without_new(source, drifted)
    return known


def forget_regions(path: Path, key: str, known: Sequence[Mapping[str, Any] | None]) -> None:
    """Remove the regions that neither of the last two releases has; they hold values."""
    named = {Path(each["regions"]["file"]).name for each in known if each and each.get("regions")}
    folder = notes_of(path, key).parent
    for file in folder.glob(f"{escape(key)}.*{_REGIONS}") if folder.is_dir() else ():
        if file.name not in named:
            file.unlink(missing_ok=True)
