"""Every picture of docs/ is made by docs/pictures.py, and those that need nothing but the package are current."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PICTURES = runpy.run_path(str(ROOT / "docs" / "pictures.py"))


def test_every_picture_is_in_the_list_and_shown() -> None:
    there = {path.name for kind in ("svg", "png") for path in (ROOT / "docs").rglob(f"*.{kind}")}
    assert there == set(PICTURES["PICTURES"])
    shown = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    assert not [name for name in there if f"images/{name}" not in shown]


@pytest.mark.parametrize("name", ["lattice.svg", "cloaking.svg"])
def test_a_picture_is_current(name: str, tmp_path: Path) -> None:
    make = PICTURES["PICTURES"][name]
    make.__globals__["IMAGES"] = tmp_path
    make()
    made = (tmp_path / name).read_text(encoding="utf-8")
    kept = ROOT / "docs" / "images" / name
    assert made == kept.read_text(encoding="utf-8"), f"run python docs/pictures.py {name}"
