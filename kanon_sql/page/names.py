"""The names that a browser gives to what is written: files of one folder, and tables of the database that is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError, TargetError
from kanon_sql.page.draft import Draft

RELEASES, SPECS = (".parquet", ".csv"), (".yml", ".yaml")
FORMS = ("table", "view", "materialized")
_LONGEST = 200  # bytes of a name; its file system may take 255, and what is staged needs some


def plain(name: str, endings: Sequence[str] = ()) -> str:
    """A name that means no other folder; SpecError for any other.

    >>> plain(" people_anon.parquet ", RELEASES)
    'people_anon.parquet'
    >>> plain("../people.csv", RELEASES)
    Traceback (most recent call last):
    kanon_sql.errors.SpecError: '../people.csv' is no plain name: it has a '/' in it; give a name without a folder
    """
    name = name.strip()
    wrong = next((sign for sign in name if sign in "/\\:" or not sign.isprintable()), None)
    if wrong is not None:
        raise SpecError(f"{name!r} is no plain name: it has a {wrong!r} in it; give a name without a folder")
    if not name or name.startswith("."):
        why = "begins with a point" if name else "is empty"
        raise SpecError(f"{name!r} is no name to write to: it {why}; give another")
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        raise SpecError(f"a name of more than {_LONGEST} bytes cannot be written; choose a shorter one")
    if endings and not name.lower().endswith(tuple(endings)):
        raise SpecError(f"{name!r} ends in none of {', '.join(endings)}; name such a file")
    return name


def file_in(folder: Path, name: str, endings: Sequence[str], read: Mapping[str, Any], base: Path) -> Path:
    """The path of a file to write, which lies in the folder itself and is nothing that a spec reads.

    `folder`: as it was resolved at the start. `read`: the spec's keys, their paths taken from `base`. SpecError for a
    name that is no plain one, TargetError for a link to elsewhere or what the spec reads.
    """
    path = folder / plain(name, endings)
    if path.is_symlink() or path.resolve() != folder / path.name:
        raise TargetError(f"{path.name} is a link to another place; remove it, or give another name")
    for other in _read(read, base):
        if other.is_dir() and other.samefile(folder) and path.suffix.lower() == ".csv":
            raise TargetError(f"{path.name} would be one of the hierarchies; give a name that ends in .parquet")
        if other.exists() and path.exists() and other.samefile(path):
            raise TargetError(f"{path.name} is read for the release itself; give another name")
    return path


def _read(said: Any, base: Path) -> Iterator[Path]:
    """Every file or folder that a spec may name."""
    if isinstance(said, Mapping):
        for key, value in said.items():
            if key not in ("target", "temp_directory"):
                yield from _read(value, base)
    elif isinstance(said, list | tuple):
        for item in said:
            yield from _read(item, base)
    elif isinstance(said, str) and said and "\0" not in said and len(said) < 4096:
        try:
            if (base / said).exists():
                yield base / said
        except OSError:  # no path at all
            return


def first_target(draft: Draft, suggested: Mapping[str, Any]) -> dict[str, Any]:
    """Where a release goes at first: where a spec says, in the folder that is written to, else what is suggested."""
    said = draft.keys.get("target") or suggested
    if "database" in draft.keys or "attach" in draft.keys:
        return {"table": str(said.get("table") or suggested.get("table")), "as": said.get("as", "table")}
    name = Path(str(said.get("file") or suggested.get("file"))).name
    return {"file": name if name.lower().endswith(RELEASES) else f"{Path(name).stem}.parquet"}
