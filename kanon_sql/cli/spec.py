"""`kanon spec schema|check`."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.output import out
from kanon_sql.cli.run import VAR
from kanon_sql.cli.schema import OUTPUT, write_schema
from kanon_sql.documents.forms import DATABASE_SPEC, SPEC
from kanon_sql.errors import SpecError
from kanon_sql.linked.links import links_of
from kanon_sql.linked.sensitive import check_models
from kanon_sql.spec import LinkedSpec, ReleaseSpec, load_linked, load_to_check, mapping_of

FILES = Argument("files", "Specs of one release, or of several under `releases`.", type=list[Path], default=...)


TABLES = Option("tables", "The schema of specs of several tables, for kanon database.", type=bool)


@takes(TABLES, OUTPUT, o.OVERWRITE)
def print_schema(tables: bool | None, output: Path | None, overwrite: bool | None) -> None:
    """[bold]kanon spec schema --output spec.schema.json[/bold]

    An editor with a YAML language server then completes and checks a spec that begins with the line
    `# yaml-language-server: $schema=spec.schema.json`."""
    if not write_schema(DATABASE_SPEC if tables else SPEC, output, overwrite):
        return
    out.print(f"{escape(str(output))}: begin a spec with the line")
    out.print(f"# yaml-language-server: $schema={escape(str(output))}", highlight=False)


@takes(FILES, VAR)
def check(files: list[Path], vars: dict[str, str] | None) -> None:
    """Opens no database and no data file. Exit code 0 if every spec is valid, otherwise 2 with the first error."""
    for file in files:
        try:
            if "tables" in mapping_of(file):
                out.print(f"{escape(file.stem)}: {escape(_summary_of_tables(load_linked(file)))}")
                continue
            specs = load_to_check(file, vars)
        except SpecError as error:
            raise error if len(files) == 1 else SpecError(f"{file}: {error}") from None
        for name, spec in specs.items():
            out.print(f"{escape(name)}: {escape(_summary(spec))}")


def _summary(spec: ReleaseSpec) -> str:
    columns = ", ".join(chain(*spec.coarsened.values()))
    target = f", written to {spec.target.name}" if spec.target else ""
    return f"{spec.source}, k = {spec.privacy.k}, by {columns}{target}"


def _summary_of_tables(spec: LinkedSpec) -> str:
    links = links_of(spec)
    check_models(spec)
    names = ", ".join(link.name for link in links)
    into = spec.into
    target = f", written to {into.folder or into.schema_name}" if into else ""
    target += " as views" if into and into.has_views else ""
    return f"{names}, ({spec.privacy.k}, {spec.privacy.m})-anonymity of {spec.main}{target}"


SUBCOMMANDS = {
    "schema": (
        print_schema,
        "Print the JSON Schema of specs, or write it to a file for editors that complete and check them.",
    ),
    "check": (
        check,
        "Check specs, including their variables, exactly as a release reads them, and print a summary of each.",
    ),
}
