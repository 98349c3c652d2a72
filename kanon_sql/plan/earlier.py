"""Reusing the node or the regions of an earlier release, from its manifest, for new data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from kanon_sql.errors import SourceError, SpecError
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.release.publish import sha256
from kanon_sql.spec import RedactRecipe, Spec


@dataclass(frozen=True)
class Earlier:
    """The recoding to reuse, from a manifest or from the spec itself.

    `levels`: of the node, by column; None for a local recoding. `manifest`: empty if the spec has the node or the
    regions. `folder`: of the manifest, which can contain its other files. `why_not`: the reason not to reuse it.
    """

    levels: Mapping[str, int] | None = None
    regions: Path | None = None
    manifest: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()
    why_not: str | None = None


def earlier_of(spec: Spec) -> Earlier | None:
    """The recoding that a spec reuses, None if it reuses none. SpecError or SourceError if that cannot be read."""
    if not spec.reuses_earlier:
        return None
    regions = None if spec.regions is None else Path(spec.regions)
    if spec.node_from is None:
        return Earlier(spec.node, regions)
    manifest = read_manifest(spec.node_from)
    if "quasi_identifiers" not in manifest.get("roles", {}):
        raise SpecError("`node_from` is not the manifest of a release; name the JSON file that `anonymize` printed")
    levels = manifest.get("node") or (manifest.get("recoding") or {}).get("node")
    folder = Path(spec.node_from).parent if isinstance(spec.node_from, str) else Path()
    return Earlier(levels, regions, manifest, folder)


def read_manifest(source: str | PathLike[str] | Mapping[str, Any]) -> Mapping[str, Any]:
    """Read a manifest from its JSON file, or return one that is read already; SourceError if that fails."""
    if isinstance(source, Mapping):
        return source
    path = Path(source)
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise SourceError(f"the manifest {path} cannot be read ({error.strerror}); check the path") from None
    except ValueError:
        raise SourceError(f"the manifest {path} is not JSON; name the manifest of the earlier release") from None
    if not isinstance(manifest, dict):
        raise SourceError(f"the manifest {path} is not a mapping; name the manifest of the earlier release")
    return manifest


def check_kind(earlier: Earlier, spec: Spec, local: bool) -> None:
    """Refuse to reuse a node with a local recoding, or regions with a lattice search."""
    made_by = earlier.manifest.get("strategy", "a local recoding")
    if local and earlier.regions is None and not earlier.manifest.get("regions"):
        raise SpecError(
            "the manifest names no regions that a local recoding could keep; release once more with `write_regions`, "
            "or name them with `regions`"
        )
    if not local and earlier.levels is None:
        raise SpecError(
            f"the earlier release is a local recoding by {made_by}, which has no node, and the strategy is "
            f'{spec.strategy}; use `strategy="{made_by}"`, or leave out `node_from`'
        )


def regions_file(earlier: Earlier) -> Path:
    """The file of an earlier release's regions; SourceError if it is missing, or differs from the manifest's."""
    named = earlier.manifest.get("regions") or {}
    path = earlier.regions or Path(str(named.get("file")))
    if earlier.regions is None and not path.is_file():
        path = earlier.folder / path.name
    if not path.is_file():
        raise SourceError(f"there is no file of regions {path}; name it with `regions`, or leave out `node_from`")
    if named and sha256(path) != named.get("sha256"):
        raise SourceError(
            f"the regions in {path} are not the regions that the manifest names; name the right file, or leave out "
            "`node_from` and recode again"
        )
    return path


def check_columns(earlier: Earlier, spec: Spec) -> None:
    """Refuse quasi-identifiers that differ from the node or the earlier release."""
    earlier_columns = earlier.manifest["roles"]["quasi_identifiers"] if earlier.manifest else earlier.levels
    if earlier_columns is None:
        return
    whose = "the earlier release" if earlier.manifest else "the node"
    more = next((name for name in earlier_columns if name not in spec.quasi_identifiers), None)
    less = next((name for name in spec.quasi_identifiers if name not in earlier_columns), None)
    if more is not None:
        raise SpecError(f"{whose} has {more!r}, which is not a quasi-identifier now; add it, or recode again")
    if less is not None:
        raise SpecError(f"{whose} has no level of {less!r}, a quasi-identifier now; leave it out, or recode again")


def node_of(earlier: Earlier, spec: Spec, frequency_set: FrequencySet, lattice: Lattice) -> Node:
    """The node to reuse, in the frequency set's order; SpecError if it is not in the lattice any more."""
    assert earlier.levels is not None
    heights = earlier.manifest.get("heights", {})
    node = []
    for attribute, low, high in zip(frequency_set.attributes, lattice.bottom, lattice.top, strict=True):
        name, height = attribute.column.name, attribute.hierarchy.height
        level = int(earlier.levels[name])
        # The height of redaction depends on the longest value: a fully redacted column stays fully redacted.
        if level == heights.get(name) and isinstance(spec.quasi_identifiers[name].hierarchy, RedactRecipe):
            level = height
        if level > height:
            raise SpecError(
                f"the node does not exist any more: level {level} of {name!r} is above the height of its hierarchy, "
                f"{height}; name a lower level, or search again without it"
            )
        if not low <= level <= high:
            raise SpecError(
                f"level {level} of {name!r} is not between its min_level and max_level, {low} and {high}; change "
                "these, or search again without it"
            )
        node.append(level)
    return tuple(node)
