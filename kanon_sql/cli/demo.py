"""`kanon demo`: generated people, anonymized with the hierarchies of the package."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from rich.markup import escape

from kanon_sql import demo_files, demo_omop, queries
from kanon_sql.cli import options as o
from kanon_sql.cli.anonymize import show_release
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.output import out, sample, show_result, watching
from kanon_sql.demo_data import write_parquet
from kanon_sql.engine import FileEngine
from kanon_sql.engines.opening import embedded
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.resources import folder
from kanon_sql.verbs.anonymize import anonymize
from kanon_sql.verbs.released import Release

QUASI_IDENTIFIERS = (
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country",
)  # fmt: skip
# Identifying columns, as many as fit into 80 characters before and after.
_COLUMNS_SHOWN = ("person_id", "age", "education", "occupation", "sex", "native-country", "salary-class")

SPEC = """\
# The demo's run as a spec: kanon anonymize --spec release.yml
source: people.parquet
identifiers: [person_id]
quasi_identifiers: [{quasi_identifiers}]
hierarchies: hierarchies
sensitive: [salary-class]
privacy: {{k: {k}}}
suppression_limit: 0.02
metric: loss
strategy: auto
seed: {seed}
target: {{file: people_k{k}.parquet, overwrite: true}}
"""


DIRECTORY = Option("directory", "The folder for the demo's files.", type=Path, default=Path("kanon-demo"))
ROWS = Option("rows", "Number of people to generate.", type=int, default=30_162, limits={"min": 100})
K = replace(o.K, help="Minimum number of rows in a class.", panel=None, default=5, limits={"min": 1})
SEED = replace(o.OPTIONS["seed"], help="The seed of the generated people.", panel=None, default=0)
OMOP = Option(
    "omop",
    "Generate only a database of patients in the OMOP Common Data Model, omop.duckdb: people, visits and conditions.",
    type=bool,
)


@takes(DIRECTORY, ROWS, K, SEED, OMOP, o.JSON)
def demo(directory: Path, rows: int, k: int, seed: int, omop: bool | None, as_json: bool | None) -> None:
    if omop:
        if as_json:
            raise SpecError("--omop makes no release, so that there is nothing for --json; leave one of them out")
        _generate_omop(directory, rows, seed)
        return
    show_result(run(directory, rows, k, seed), as_json, partial(_show, directory=directory))


def run(directory: Path, rows: int, k: int, seed: int) -> Release:
    """Generate the people, write the spec, the hierarchies and the files of the examples in docs/, and run the spec."""
    if k > rows:
        raise SpecError(f"k is {k:,} but there are only {rows:,} people; lower `k`, or generate more with --rows")
    _make_folder(directory, "hierarchies")
    for name in (*QUASI_IDENTIFIERS, "salary-class"):
        content = (folder("hierarchies") / "adult" / f"{name}.csv").read_bytes()
        (directory / "hierarchies" / f"{name}.csv").write_bytes(content)
    spec = directory / "release.yml"
    spec.write_text(SPEC.format(quasi_identifiers=", ".join(QUASI_IDENTIFIERS), k=k, seed=seed), encoding="utf-8")
    with watching() as watch:
        watch.stage(f"Generating {rows:,} people")
        write_parquet(directory / "people.parquet", rows, seed)
        demo_files.write(directory)
        return anonymize(None, spec, observer=watch)


def _generate_omop(directory: Path, people: int, seed: int) -> None:
    """Generate a database in the OMOP Common Data Model, and print commands to try next."""
    path = directory / "omop.duckdb"
    if path.exists():
        raise TargetError(f"{path} exists already; choose another folder with --directory, or delete it")
    _make_folder(directory)
    with watching() as watch:
        watch.stage(f"Generating {people:,} people")
        rows = demo_omop.write(path, people, seed)
    out.print(", ".join(f"{name} {n:,}" for name, n in rows.items()))
    spec = directory / "omop.yml"
    out.print("\n[bold]Next[/bold]")
    for command in (
        f"kanon init --database {quote(str(path))} --preset omop --output {quote(str(spec))}",
        f"kanon database release {quote(str(spec))}",
    ):
        out.print(f"  [cyan]{escape(command)}[/cyan]", soft_wrap=True)


def _make_folder(directory: Path, subfolder: str = "") -> None:
    """Create the demo's folder with a subfolder, or TargetError."""
    try:
        (directory / subfolder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TargetError(
            f"{directory} cannot be the demo's folder ({error.strerror}); choose another with `directory`"
        ) from error


def _show(release: Release, directory: Path) -> None:
    """Print some rows before and after, and commands to try next."""
    reader = embedded()
    manifest = release.manifest
    k = manifest["privacy"][0]["required"]
    before = _some_rows(reader, str(directory / "people.parquet"))
    after = _some_rows(reader, manifest["target"]["file"])
    out.print("[bold]Before[/bold]: generated people with an identifier (some of the columns)")
    sample(*before)
    out.print(f"[bold]After[/bold]: every row looks like at least {k - 1} others")
    sample(*after)
    show_release(release)
    out.print(
        f"Also in {escape(str(directory))}: patients, places and trips, for the examples of the README and docs/."
    )
    released = quote(Path(manifest["target"]["file"]).name)
    columns = ",".join(manifest["node"])
    out.print("\n[bold]Next[/bold]")
    for command, purpose in (
        (f"cd {quote(str(directory))}", "run the commands below in the demo's folder"),
        ("kanon profile people.parquet", "how unique the people are"),
        (f"kanon verify {released} --quasi-identifiers {columns} --k {k}", "check it yourself"),
        ("kanon explain --spec release.yml", "every SQL statement of this run"),
        ("kanon anonymize --spec release.yml --k 20 --output people_stricter.parquet", "a stricter release"),
        ("kanon anonymize --help", "anonymize your own table"),
    ):
        out.print(f"  [cyan]{escape(command)}[/cyan]  # {purpose}", soft_wrap=True)


def _some_rows(reader: FileEngine, path: str) -> tuple[list[str], list[list[Any]]]:
    """The columns of the source or the release that the demo shows, and a random sample of five rows."""
    read = reader.read_file(path)
    rows = reader.rows(f"{queries.select_all(read.relation, reader.dialect)} USING SAMPLE reservoir(5) REPEATABLE (7)")
    shown = [i for i, column in enumerate(read.columns) if column.name in _COLUMNS_SHOWN]
    return [read.columns[i].name for i in shown], [[row[i] for i in shown] for row in rows]
