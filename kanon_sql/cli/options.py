"""The options that several commands share, by their names in the spec."""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from kanon_sql.errors import SpecError
from kanon_sql.loss import METRICS
from kanon_sql.recode import RECODERS
from kanon_sql.spec import CloakMethod
from kanon_sql.strategies import STRATEGIES


class Form(StrEnum):
    """What `--into` makes."""

    table = "table"
    view = "view"
    materialized = "materialized"
    anatomy = "anatomy"


class Unmapped(StrEnum):
    """What becomes of a value that no hierarchy holds."""

    error = "error"
    top = "top"


class Show(StrEnum):
    """What a class of a local recoding shows of an attribute."""

    ranges = "ranges"
    labels = "labels"
    common = "common"
    bounds = "bounds"
    mean = "mean"
    median = "median"
    mode = "mode"
    exact_ranges = "exact-ranges"
    exact_bounds = "exact-bounds"


class SuppressionOrder(StrEnum):
    """In which order `prioprivacy` tries to suppress cells."""

    plain = "plain"
    published = "published"


class SearchIn(StrEnum):
    """Where a server's frequency set is searched."""

    embedded = "embedded"
    engine = "engine"


def names(text: str | None) -> list[str] | None:
    """Split a list of columns as CSV does, so that a name may hold a comma in quotes."""
    if text is None:
        return None
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]


def said(**options: Any) -> dict[str, Any]:
    """What the command line said, by the spec's flat names; what it did not say stays None."""
    lists = ("quasi_identifiers", "identifiers", "sensitive", "keep", "location")
    plain: dict[str, Any] = {
        key: value.value if isinstance(value, StrEnum) else value for key, value in options.items()
    }
    readers = {**dict.fromkeys(lists, names), "perturb": perturbations}
    return {key: readers[key](value) if key in readers else value for key, value in plain.items()}


def perturbations(text: str | None) -> dict[str, dict[str, dict[str, float]]] | None:
    """Read `salary=noise:100,city=pram:0.8` as the spec writes it."""
    if text is None:
        return None
    parameters = {"noise": "scale", "swap": "within", "pram": "keep"}
    found: dict[str, dict[str, dict[str, float]]] = {}
    for said in names(text) or []:
        column, _, asked = said.rpartition("=")
        operator, _, number = asked.partition(":")
        try:
            found[column] = {operator: {parameters[operator]: float(number)}}
        except (KeyError, ValueError):
            raise SpecError(
                "--perturb takes COLUMN=noise:SCALE, COLUMN=swap:WITHIN and COLUMN=pram:KEEP, comma between; "
                f"got {said!r}"
            ) from None
    return found


def priorities(text: str | None) -> dict[str, int] | None:
    """Read `age=1,"zip, code"=2` as priorities by column."""
    if text is None:
        return None
    found: dict[str, int] = {}
    for part in names(text) or ():
        column, equals, number = part.rpartition("=")
        if not equals or not column or not number.strip().isdecimal() or int(number) < 1:
            raise SpecError(f"--priorities: {part!r} is not COLUMN=NUMBER; write them as in age=1,sex=2, 1 first")
        if column.strip() in found:
            raise SpecError(f"--priorities: {column.strip()!r} is there twice; keep one of the two")
        found[column.strip()] = int(number)
    return found


def yes(flag: bool) -> bool | None:
    """A flag that was not given says nothing, so that the spec's word stands."""
    return True if flag else None


_DATA, _PRIVACY, _SEARCH, _LOCAL = "Data", "Privacy", "Search", "Local recoding"
_TARGET, _OUTPUT = "Target", "Output"

Source = Annotated[
    str | None,
    typer.Argument(help="A CSV or Parquet file (globs too), or with --database a table or view.", show_default=False),
]
NeededSource = Annotated[
    str, typer.Argument(help="A CSV or Parquet file (globs too), or with --database a table or view.")
]
Database = Annotated[
    str | None, typer.Option(help="A DuckDB file or postgresql://user@host/database.", rich_help_panel=_DATA)
]
SpecFile = Annotated[
    Path | None, typer.Option("--spec", help="A YAML file; options given here win over it.", rich_help_panel=_DATA)
]
QuasiIdentifiers = Annotated[
    str | None, typer.Option(help="Columns to generalize, as in age,zip,sex.", rich_help_panel=_DATA)
]
Hierarchies = Annotated[
    Path | None, typer.Option(help="A folder with a <column>.csv per quasi-identifier.", rich_help_panel=_DATA)
]
Identifiers = Annotated[str | None, typer.Option(help="Columns to drop.", rich_help_panel=_DATA)]
Sensitive = Annotated[
    str | None, typer.Option(help="Columns kept as they are, named as sensitive.", rich_help_panel=_DATA)
]
Keep = Annotated[
    str | None,
    typer.Option(
        help="Columns kept as they are; all others without a role are then dropped. '*' keeps every column, whatever "
        "it looks like.",
        rich_help_panel=_DATA,
    ),
]
Location = Annotated[
    str | None, typer.Option(help="Two columns of a place to cloak, as in lat,lon.", rich_help_panel=_DATA)
]
Time = Annotated[str | None, typer.Option(help="The column of times to cloak.", rich_help_panel=_DATA)]
Unit = Annotated[
    str | None, typer.Option(help="The column of people or devices: k counts these; dropped.", rich_help_panel=_DATA)
]
Cloak = Annotated[
    str | None, typer.Option(help=f"{', '.join(get_args(CloakMethod))} (default adaptive).", rich_help_panel=_SEARCH)
]
UnmappedValues = Annotated[
    Unmapped | None,
    typer.Option("--unmapped", help="Values in no hierarchy: stop, or send them to *.", rich_help_panel=_DATA),
]
K = Annotated[
    int | None, typer.Option("--k", help="Rows a class must have at least (default 5).", rich_help_panel=_PRIVACY)
]
SuppressionLimit = Annotated[
    float | None,
    typer.Option(help="Fraction of the rows that may be suppressed (default 0.02).", rich_help_panel=_PRIVACY),
]
Mask = Annotated[
    bool, typer.Option("--mask", help="Show suppressed rows as *, if they are k or more.", rich_help_panel=_PRIVACY)
]
Shuffle = Annotated[
    bool, typer.Option("--shuffle", help="Order rows by seeded hash, not sorted.", rich_help_panel=_PRIVACY)
]
Perturb = Annotated[
    str | None,
    typer.Option(
        help="Noise, rank swapping or PRAM for other columns: pay=noise:100,visit=swap:0.05,city=pram:0.8; "
        "bounds, distributions and matrices in a spec.",
        rich_help_panel=_PRIVACY,
    ),
]
Secret = Annotated[
    Path | None,
    typer.Option(help="A file with the secret that makes the perturbation again.", rich_help_panel=_PRIVACY),
]
Metric = Annotated[str | None, typer.Option(help=f"{', '.join(METRICS)} (default loss).", rich_help_panel=_SEARCH)]
Strategy = Annotated[str | None, typer.Option(help=f"{', '.join(STRATEGIES)} (default auto).", rich_help_panel=_SEARCH)]
AnyStrategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        help=f"{', '.join(STRATEGIES)} (default auto); or a local recoding: {', '.join(RECODERS)}; "
        "or cloak, with --location.",
        rich_help_panel=_SEARCH,
    ),
]
ShowAs = Annotated[
    Show | None,
    typer.Option(
        "--show",
        help="What a class shows: a label, a range, two bounds (rounded outward, or exact), one value.",
        rich_help_panel=_LOCAL,
    ),
]
Beta = Annotated[
    float | None,
    typer.Option(
        help="Weigh steps near the hierarchy's root more, for distortion (default 0).", rich_help_panel=_LOCAL
    ),
]
Priorities = Annotated[
    str | None,
    typer.Option(help="What to keep most exact, as in age=1,sex=2; 1 is first.", rich_help_panel=_LOCAL),
]
Rules = Annotated[
    Path | None, typer.Option(help="A folder with rule files <level>_<column>.txt.", rich_help_panel=_LOCAL)
]
Order = Annotated[
    SuppressionOrder | None,
    typer.Option("--suppression-order", help="In which order prioprivacy tries cells.", rich_help_panel=_LOCAL),
]
Wildcards = Annotated[
    bool,
    typer.Option(
        "--wildcard-suppression",
        help="Let single cells be * as the paper does: not k-anonymous to GROUP BY.",
        rich_help_panel=_LOCAL,
    ),
]
Strategies = Annotated[
    str | None,
    typer.Option(help=f"Of {', '.join(STRATEGIES)} (default all but auto).", rich_help_panel=_SEARCH),
]
EachTimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        help="Seconds for each search or recoding (default 60); counting and release are not limited.",
        rich_help_panel=_SEARCH,
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(help="Seconds for the search; then the best so far is released.", rich_help_panel=_SEARCH),
]
Evaluations = Annotated[
    int | None,
    typer.Option(min=1, help="Nodes that kgen and random may look at (default 5000).", rich_help_panel=_SEARCH),
]
Seed = Annotated[int | None, typer.Option(help="For all that is random (default 0).", rich_help_panel=_SEARCH)]
SearchWhere = Annotated[
    SearchIn,
    typer.Option("--search-in", help="Where a server's table is searched.", rich_help_panel=_SEARCH),
]
Output = Annotated[  # no Path, which would drop the slash of a folder
    str | None, typer.Option(help="Write the release to a .parquet, .csv or .tsv file.", rich_help_panel=_TARGET)
]
Picture = Annotated[Path, typer.Option("--output", help="The .svg file to draw.", rich_help_panel=_TARGET)]
Into = Annotated[
    str | None, typer.Option(help="Write the release into a table of the database.", rich_help_panel=_TARGET)
]
As = Annotated[
    Form | None,
    typer.Option(
        "--as",
        help="A table; a view that recounts whenever it is read; a materialized one, filled anew by kanon refresh "
        "(PostgreSQL); or anatomy: sensitive columns apart.",
        rich_help_panel=_TARGET,
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a target that exists.", rich_help_panel=_TARGET)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON alone on standard output.", rich_help_panel=_OUTPUT)]
