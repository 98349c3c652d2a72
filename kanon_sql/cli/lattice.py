"""`kanon lattice`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import takes
from kanon_sql.cli.output import out, watching
from kanon_sql.errors import SpecError
from kanon_sql.release.publish import check_file
from kanon_sql.verbs.lattice import lattice as run
from kanon_sql.verbs.options import SearchOptions

PICTURE = replace(o.OUTPUT, help="The .svg file to draw.", type=Path, default=Path("lattice.svg"))


@takes(
    o.SOURCE,
    o.SPEC,
    *o.of(SearchOptions, "keep", "strategy"),
    o.LATTICE_SEARCH,
    o.SEARCH_IN,
    PICTURE,
    o.OVERWRITE,
)
def lattice(
    source: str | None, spec: Path | None, search_in: Any, output: Path, overwrite: bool | None, **overrides: Any
) -> None:
    if output.suffix.lower() != ".svg":
        raise SpecError(f"the lattice is drawn as SVG, but {output} does not end in .svg; choose a name that does")
    check_file(output, bool(overwrite), ())
    with watching() as watch:
        picture = run(source, spec, observer=watch, search_in=search_in, **overrides)
    picture.write(output, overwrite=bool(overwrite))
    out.print(escape(picture.summary))
    out.print(f"Drawn to {escape(str(output))}")
