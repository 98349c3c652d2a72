"""The options that several commands share: each is declared once, under its name in a spec or a verb."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import get_args

from kanon_sql.cli.declare import Argument, Option
from kanon_sql.errors import SpecError
from kanon_sql.spec import (
    CLOAK,
    CloakMethod,
    Form,
    LocalStrategy,
    Metric,
    SearchIn,
    SearchStrategy,
    Show,
    SuppressionOrder,
    Unmapped,
)


def names(text: str) -> list[str]:
    """Split a list of columns as CSV does, so that a name may hold a comma in quotes.

    >>> names('age, "zip, code"')
    ['age', 'zip, code']
    """
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]


def perturbations(text: str) -> dict[str, dict[str, dict[str, float]]]:
    """Read `salary=noise:100,city=pram:0.8` as the spec writes it."""
    parameters = {"noise": "scale", "swap": "within", "pram": "keep"}
    columns: dict[str, dict[str, dict[str, float]]] = {}
    for part in names(text):
        column, _, asked = part.rpartition("=")
        operator, _, number = asked.partition(":")
        try:
            columns[column] = {operator: {parameters[operator]: float(number)}}
        except (KeyError, ValueError):
            raise SpecError(
                "--perturb takes COLUMN=noise:SCALE, COLUMN=swap:WITHIN and COLUMN=pram:KEEP, separated by commas; "
                f"got {part!r}"
            ) from None
    return columns


def priorities(text: str) -> dict[str, int]:
    """Read `age=1,"zip, code"=2` as priorities by column."""
    columns: dict[str, int] = {}
    for part in names(text):
        column, equals, number = part.rpartition("=")
        if not equals or not column or not number.strip().isdecimal() or int(number) < 1:
            raise SpecError(f"--priorities: {part!r} is not COLUMN=NUMBER; write them as in age=1,sex=2, 1 first")
        if column.strip() in columns:
            raise SpecError(f"--priorities: {column.strip()!r} is given twice; keep one of the two")
        columns[column.strip()] = int(number)
    return columns


_DATA, _PRIVACY, _SEARCH, _LOCAL = "Data", "Privacy", "Search", "Local recoding"
_TARGET, _OUTPUT = "Target", "Output"
_SEARCHES = ", ".join(get_args(SearchStrategy))
_A_SOURCE = "A CSV or Parquet file or a glob of files; with --database, a table or view."

SOURCE = Argument("source", _A_SOURCE)
NEEDED_SOURCE = Argument("source", _A_SOURCE, default=...)
DATABASE = Option("database", "A DuckDB file or postgresql://user@host/database.", _DATA)
SPEC = Option("spec", "A YAML spec of the run; options on the command line override it.", _DATA, Path)
QUASI_IDENTIFIERS = Option("quasi_identifiers", "Columns to generalize, such as age,zip,sex.", _DATA, read=names)
HIERARCHIES = Option("hierarchies", "A folder with one <column>.csv per quasi-identifier.", _DATA, Path)
IDENTIFIERS = Option("identifiers", "Columns to drop.", _DATA, read=names)
SENSITIVE = Option("sensitive", "Sensitive columns, released as they are.", _DATA, read=names)
KEEP = Option(
    "keep",
    "Columns to release as they are; all others without a role are then dropped. '*' keeps every column, whatever it "
    "looks like.",
    _DATA,
    read=names,
)
LOCATION = Option("location", "The two columns of a place to cloak, such as lat,lon.", _DATA, read=names)
TIME = Option("time", "The column of times to cloak.", _DATA)
UNIT = Option("unit", "The column that tells people or devices apart: k counts these. It is dropped.", _DATA)
UNMAPPED = Option(
    "unmapped",
    "What to do with values that their hierarchy lacks: stop, or generalize them to *.",
    _DATA,
    choices=get_args(Unmapped),
)
CLOAK_BY = Option("cloak", f"How to cloak: {', '.join(get_args(CloakMethod))} (default adaptive).", _SEARCH)
K = Option("k", "Minimum number of rows in a class (default 5).", _PRIVACY, int)
SUPPRESSION_LIMIT = Option(
    "suppression_limit", "Fraction of the rows that may be suppressed (default 0.02).", _PRIVACY, float
)
MASK = Option("mask", "Show suppressed rows as *, if there are at least k of them.", _PRIVACY, bool)
SHUFFLE = Option("shuffle", "Order the rows by a seeded hash instead of sorting them.", _PRIVACY, bool)
PERTURB = Option(
    "perturb",
    "Add noise, swap ranks or apply PRAM in other columns: pay=noise:100,visit=swap:0.05,city=pram:0.8; bounds, "
    "distributions and matrices need a spec.",
    _PRIVACY,
    read=perturbations,
)
SECRET = Option("secret", "A file with the secret that makes a perturbation reproducible.", _PRIVACY, Path)
METRIC = Option("metric", f"What to minimize: {', '.join(get_args(Metric))} (default loss).", _SEARCH)
STRATEGY = Option("strategy", f"{_SEARCHES} (default auto).", _SEARCH)
ANY_STRATEGY = replace(
    STRATEGY,
    help=f"{_SEARCHES} (default auto); or a local recoding: {', '.join(get_args(LocalStrategy))}; or {CLOAK}, with "
    "--location.",
)
TIME_LIMIT = Option("time_limit", "Seconds for the search; it then ends with the best so far.", _SEARCH, float)
EVALUATIONS = Option(
    "evaluations",
    "Nodes that memetic, local_search, kgen and random may look at (default 5000).",
    _SEARCH,
    int,
    limits={"min": 1},
)
SEED = Option("seed", "The seed of all random choices (default 0).", _SEARCH, int)
SEARCH_IN = Option(
    "search_in",
    "Where to search a server's table: in an embedded DuckDB, or in the server's own engine.",
    _SEARCH,
    choices=get_args(SearchIn),
    default="embedded",
)
SHOW = Option(
    "show",
    "What a class shows: a label, a range, two bounds (rounded outward, or exact), or one value.",
    _LOCAL,
    choices=get_args(Show),
)
BETA = Option("beta", "Weigh steps near a hierarchy's root more, for the metric distortion (default 0).", _LOCAL, float)
PRIORITIES = Option(
    "priorities", "Which columns to keep most exact, as in age=1,sex=2; 1 comes first.", _LOCAL, read=priorities
)
RULES = Option("rules", "A folder with rule files <level>_<column>.txt, for prioprivacy.", _LOCAL, Path)
SUPPRESSION_ORDER = Option(
    "suppression_order",
    "The order in which prioprivacy tries to suppress cells.",
    _LOCAL,
    choices=get_args(SuppressionOrder),
)
WILDCARD_SUPPRESSION = Option(
    "wildcard_suppression",
    "Let prioprivacy suppress single cells, as its paper does: not k-anonymous to GROUP BY.",
    _LOCAL,
    bool,
)
OUTPUT = Option(
    "output", "Write the release to a .parquet, .csv or .tsv file.", _TARGET
)  # a Path drops a folder's slash
INTO = Option("into", "Write the release to a table of the database.", _TARGET)
FORM = Option(
    "form",
    "What to write: a table; a view, which recounts whenever it is read; a materialized view, which kanon refresh "
    "refills (PostgreSQL); or an anatomy, with the sensitive columns apart.",
    _TARGET,
    flag="--as",
    choices=get_args(Form),
)
OVERWRITE = Option("overwrite", "Replace a target that exists.", _TARGET, bool)
TRACE = Option("trace", "Write every question of the search to this file, as lines of JSON.", _OUTPUT, Path)
JSON = Option("as_json", "Print only JSON on standard output.", _OUTPUT, bool, flag="--json")
SQL = Option("sql", "Search, then print the release's statement without running it.", _OUTPUT, bool)

ROLES = (QUASI_IDENTIFIERS, HIERARCHIES, IDENTIFIERS, SENSITIVE)
MODEL = (UNMAPPED, K, SUPPRESSION_LIMIT, METRIC, BETA, PRIORITIES)
