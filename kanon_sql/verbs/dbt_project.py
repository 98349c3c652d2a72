"""A dbt project: where its files are, the models that it has, and what a compiled model recorded there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from kanon_sql.errors import TargetError
from kanon_sql.spec import read_mapping

_SNAPSHOT = re.compile(r"\{%-?\s*snapshot\s+(\w+)")
_VERSION = re.compile(r"_v\w+$")
_OWN = {"models": "model-paths", "seeds": "seed-paths", "snapshots": "snapshot-paths"}
_ENDINGS = {"models": (".sql", ".py"), "seeds": (".csv", ".parquet"), "snapshots": (".sql",)}


@dataclass(frozen=True)
class DbtProject:
    """The dbt project in a folder; TargetError if the folder contains none."""

    folder: Path

    def __post_init__(self) -> None:
        if not (self.folder / "dbt_project.yml").is_file():
            raise TargetError(f"there is no dbt_project.yml in {self.folder}; name the folder of a dbt project")

    @cached_property
    def _settings(self) -> Mapping[str, Any]:
        return read_mapping(self.folder / "dbt_project.yml")

    def path(self, name: str) -> Path:
        """The path of a file of a compiled model, such as `models/x.sql`, in the folders that the project has set."""
        kind, _, rest = name.partition("/")
        return self.folder / self._folders(kind)[0] / rest if kind in _OWN else self.folder / name

    def check_ref(self, ref: str) -> None:
        """TargetError unless the project or one of its packages has a model, seed or snapshot of this name."""
        package, _, name = ref.rpartition(".")
        packages = {str(self._settings.get("name", "")): self, **self._packages}
        if package and package not in packages:
            raise TargetError(
                f"the dbt project {self.folder} has no package {package}; install it with `dbt deps`, or correct `ref`"
            )
        searched = [packages[package]] if package else list(packages.values())
        names = set()
        for project in searched:
            for found in project._names():
                if found == name:
                    return
                names.add(found)
        near = get_close_matches(name, sorted(names), n=1)
        hint = f"; did you mean {near[0]}?" if near else "; name one of its models with `ref`"
        raise TargetError(f"the dbt project {self.folder} has no model, seed or snapshot {name}{hint}")

    def recorded(self, name: str) -> Mapping[str, Any] | None:
        """What the YAML of a compiled model, such as `models/x.yml`, recorded of its search; None without that."""
        entries = read_mapping(self.path(name)).get("models")
        for meta in entries if isinstance(entries, list) else ():
            for key in ("config", "meta", "kanon"):
                meta = meta.get(key) if isinstance(meta, Mapping) else None
            if isinstance(meta, Mapping) and isinstance(meta.get("node"), Mapping):
                return meta
        return None

    @cached_property
    def _packages(self) -> dict[str, DbtProject]:
        """The installed packages, by their names."""
        installed = self.folder / str(self._settings.get("packages-install-path", "dbt_packages"))
        found = [DbtProject(file.parent) for file in sorted(installed.glob("*/dbt_project.yml"))]
        return {str(package._settings.get("name", package.folder.name)): package for package in found}

    def _folders(self, kind: str) -> list[str]:
        """The folders of models, seeds or snapshots."""
        given = self._settings.get(_OWN[kind])
        return [str(folder) for folder in given] if isinstance(given, list) and given else [kind]

    def _names(self) -> Iterator[str]:
        """The names by which models, seeds and snapshots can be referenced: names of files, then names in files."""
        properties = []
        for kind in _OWN:
            for folder in self._folders(kind):
                for path in (self.folder / folder).rglob("*"):
                    if path.suffix in _ENDINGS[kind]:
                        yield from (path.stem, _VERSION.sub("", path.stem))
                    if path.suffix == ".sql" and kind == "snapshots":
                        yield from _SNAPSHOT.findall(path.read_text(encoding="utf-8", errors="replace"))
                    if path.suffix in (".yml", ".yaml") and kind != "seeds":
                        properties.append(path)
        for path in properties:  # snapshots, and models with versions, whose files can have any name
            declared = read_mapping(path)
            for kind, needed in (("snapshots", "relation"), ("models", "versions")):
                entries = declared.get(kind)
                for entry in entries if isinstance(entries, list) else ():
                    if isinstance(entry, Mapping) and needed in entry:
                        yield str(entry.get("name"))
