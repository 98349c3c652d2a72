"""Names for written files and tables that a browser sends: files of one folder, tables of the open database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError, TargetError
from kanon_sql.page.draft import Draft

RELEASES, SPECS = (".parquet", ".csv"), (".yml", ".yaml")
FORMS = ("table", "view", "materialized")
_LONGEST = 200  # bytes of a name; file systems often allow 255, and staging adds a suffix


def plain(name: str, endings: Sequence[str] = ()) -> str:
    """The name, if it does not refer to another folder; otherwise SpecError.

    >>> plain(" people_anon.parquet ", RELEASES)
    'people_anon.parquet'
    >>> plain("../people.csv", RELEASES)
    Traceback (most recent call last):
    kanon_sql.errors.SpecError: '../people.csv' is not a plain name: it has a '/' in it; choose a name without a folder
    """
    name = name.strip()
    wrong = next((sign for sign in name if sign in "/\\:" or not sign.isprintable()), None)
    if wrong is not None:
        raise SpecError(f"{name!r} is not a plain name: it has a {wrong!r} in it; choose a name without a folder")
    if not name or name.startswith("."):
        reason = "starts with a dot" if name else "is empty"
        raise SpecError(f"{name!r} cannot be written: the name {reason}; choose another")
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        raise SpecError(f"a name of more than {_LONGEST} bytes cannot be written; choose a shorter one")
    if endings and not name.lower().endswith(tuple(endings)):
        raise SpecError(f"{name!r} does not end in {' or '.join(endings)}; name such a file")
    return name


def file_in(folder: Path, name: str, endings: Sequence[str], read: Mapping[str, Any], base: Path) -> Path:
    """The path of a file to write; it must be in the folder itself, and not be read by the spec.

    `folder`: resolved at the start. `read`: the spec's keys, whose paths are relative to `base`. SpecError for a name
    that is not plain, TargetError for a link to another place, or for a file that the spec reads.
    """
    path = folder / plain(name, endings)
    if path.is_symlink() or path.resolve() != folder / path.name:
        raise TargetError(f"{path.name} is a link to another place; remove it, or choose another name")
    for used in paths_read(read, base):
        if used.is_dir() and used.samefile(folder) and path.suffix.lower() == ".csv":
            raise TargetError(f"{path.name} would be one of the hierarchies; choose a name that ends in .parquet")
        if used.exists() and path.exists() and used.samefile(path):
            raise TargetError(f"{path.name} is read for the release itself; choose another name")
    return path


def paths_read(value: Any, base: Path) -> Iterator[Path]:
    """Every file or folder that a spec may name."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in ("target", "temp_directory"):
                yield from paths_read(item, base)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from paths_read(item, base)
    elif isinstance(value, str) and value and "\0" not in value and len(value) < 4096:
        try:
            if (base / value).exists():
                yield base / value
        except OSError:  # not a path
            return


def first_target(draft: Draft, suggested: Mapping[str, Any]) -> dict[str, Any]:
    """The first target: that of the spec, but in the output folder; otherwise the suggested one."""
    target = draft.keys.get("target") or suggested
    if draft.of_table:
        return {"table": str(target.get("table") or suggested.get("table")), "as": target.get("as", "table")}
    name = Path(str(target.get("file") or suggested.get("file"))).name
    return {"file": name if name.lower().endswith(RELEASES) else f"{Path(name).stem}.parquet"}
