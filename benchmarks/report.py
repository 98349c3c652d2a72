"""Two pictures of a report on the demo's release, for docs/report.md: the same SVG, with the page's style in it.

python docs/pictures.py report-sizes.svg
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from kanon_sql.cli.demo import run
from kanon_sql.report import charts, document

STYLE = Path(document.__file__).parent / "templates" / "style.css"
_OWN = (":root", "svg", "@media (prefers")


def draw(folder: Path) -> None:
    """Make the demo's release, measure it, and write a picture of its class sizes and one of its columns."""
    with TemporaryDirectory() as demo:
        release = run(Path(demo), 30_162, 5, 0)
        figures = release.figures(without=["loss_by_k", "lattice", "attacks"])
        rows, released = release.manifest["rows"], release.manifest["released_rows"]
    sizes = charts.sizes(figures.class_sizes, rows, released, 5, "rows")
    for name, picture in (("sizes", sizes), ("columns", charts.columns(figures.columns, 0))):
        (folder / f"report-{name}.svg").write_text(alone(picture), encoding="utf-8")


def alone(picture: str) -> str:
    """A picture as a file of its own: with a name space, and what the page's style says of pictures."""
    lines = [line for line in STYLE.read_text(encoding="utf-8").splitlines() if line.startswith(_OWN)]
    style = f"<style>{''.join(lines)}</style>"
    root = picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return re.sub(r">", f">{style}", root, count=1) + "\n"
