"""The options that several commands share: each is declared once, under its name in a spec or a verb."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from kanon_sql.cli.declare import Argument, Option
from kanon_sql.errors import SpecError
from kanon_sql.queries import DIALECTS
from kanon_sql.spec import (
    CLOAK,
    SOURCE_TYPES,
    ChangedHierarchies,
    ChangedTypes,
    CloakMethod,
    Form,
    Formulas,
    LocalStrategy,
    Metric,
    Minimality,
    NewColumns,
    NodeElse,
    SearchIn,
    SearchStrategy,
    Show,
    SuppressionOrder,
    Unmapped,
    limit_of,
)


def names(text: str) -> list[str]:
    """Split a list of columns as CSV does, so that a name may hold a comma in quotes.

    >>> names('age, "zip, code"')
    ['age', 'zip, code']
    """
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]


def sizes(text: str) -> int | list[int]:
    """Read one k, or several.

    >>> sizes("5"), sizes("3, 5")
    (5, [3, 5])
    """
    parts = names(text)
    if not parts or not all(part.isdecimal() for part in parts):
        raise SpecError(f"--k takes whole numbers separated by commas, such as 3,5,10; got {text!r}")
    return int(parts[0]) if len(parts) == 1 else [int(part) for part in parts]


def limit(text: str) -> int | str:
    """Read a number of people, or a word that the spec may know.

    >>> limit("3"), limit("unlimited")
    (3, 'unlimited')
    """
    return int(text) if text.isdecimal() else text


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


def types(text: str) -> dict[str, dict[str, str]]:
    """Read `zip=text,pay=decimal(12.2)` as how columns are read.

    >>> types('zip=text,"total, gross"=decimal(12.2)')
    {'zip': {'type': 'text'}, 'total, gross': {'type': 'decimal(12,2)'}}
    """
    columns: dict[str, dict[str, str]] = {}
    for part in names(text):
        column, equals, kind = (each.strip() for each in part.rpartition("="))
        if not equals or not column or not kind:
            raise SpecError(f"--type: {part!r} is not COLUMN=TYPE; write them as in zip=text,pay=decimal")
        if column in columns:
            raise SpecError(f"--type: {column!r} is given twice; keep one of the two")
        columns[column] = {"type": re.sub(r"\((\d+)\.(\d+)\)", r"(\1,\2)", kind)}
    return columns


def levels(text: str) -> dict[str, int]:
    """Read `age=2,"zip, code"=1` as a node, each column's level.

    >>> levels("age=2,zip=1")
    {'age': 2, 'zip': 1}
    """
    columns: dict[str, int] = {}
    for part in names(text):
        column, equals, level = (each.strip() for each in part.rpartition("="))
        if not equals or not column or not level.isdecimal():
            raise SpecError(f"--node: {part!r} is not COLUMN=LEVEL; write them as in age=2,zip=1")
        if column in columns:
            raise SpecError(f"--node: {column!r} is given twice; keep one of the two")
        columns[column] = int(level)
    return columns


def by_column(flag: str, *keys: str) -> Callable[[list[str]], dict[str, dict[str, Any]]]:
    """How to read what is asked of columns, such as `disease=3:entropy`, as the spec writes it under these keys.

    >>> by_column("--l-diversity", "l", "kind", "c")(["disease=3:recursive:4", "income=2"])
    {'disease': {'l': 3.0, 'kind': 'recursive', 'c': 4.0}, 'income': {'l': 2.0}}
    """
    written = "[:".join(key.upper() for key in keys) + "]" * (len(keys) - 1)

    def read(texts: list[str]) -> dict[str, dict[str, Any]]:
        columns: dict[str, dict[str, Any]] = {}
        for text in texts:
            match = _OF_COLUMN.fullmatch(text.strip())
            if not match:
                raise SpecError(f"{flag} takes COLUMN={written}; got {text!r}")
            column, values = match[1], match[2].split(":", len(keys) - 1)
            if column in columns:
                raise SpecError(f"{flag}: {column!r} is given twice; keep one of the two")
            columns[column] = {k: v if k == "value" else _figure(v) for k, v in zip(keys, values, strict=False)}
        return columns

    return read


def risk(text: str) -> dict[str, Any]:
    """Read `prosecutor:mean=0.05` as the spec writes it.

    >>> risk("prosecutor:highest=0.1:above=0.2:share=0.1")
    {'model': 'prosecutor', 'highest': 0.1, 'above': {'threshold': 0.2, 'share': 0.1}}
    >>> risk("journalist:mean=0.05:population=voters.parquet")
    {'model': 'journalist', 'mean': 0.05, 'population': 'voters.parquet'}
    """
    text, *population = text.split(":population=", 1)
    model, asked = _keyed("--risk", text, ("highest", "mean", "above", "share"), "MODEL:KEY=NUMBER[:KEY=NUMBER…]")
    above = {name: asked.pop(key) for key, name in (("above", "threshold"), ("share", "share")) if key in asked}
    more = ({"above": above} if above else {}) | ({"population": population[0]} if population else {})
    return {"model": model, **asked, **more}


def uniqueness(text: str) -> dict[str, Any]:
    """Read `0.01:fraction=0.1` as the spec writes it.

    >>> uniqueness("0.01:fraction=0.1:estimator=zayatz")
    {'share': 0.01, 'sampling_fraction': 0.1, 'estimator': 'zayatz'}
    """
    form = "SHARE:fraction=NUMBER[:estimator=NAME]"
    share, asked = _keyed("--uniqueness", text, ("fraction", "estimator"), form)
    fraction = {"sampling_fraction": asked.pop("fraction")} if "fraction" in asked else {}
    return {"share": _figure(share), **fraction, **asked}


def _keyed(flag: str, text: str, keys: Sequence[str], form: str) -> tuple[str, dict[str, Any]]:
    """A first word and what follows it, `key=value` each."""
    first, *parts = text.strip().split(":")
    asked: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in keys or key in asked:
            raise SpecError(f"{flag} takes {form}, each KEY of {', '.join(keys)} once; got {text!r}")
        asked[key] = _figure(value)
    return first, asked


_OF_COLUMN = re.compile(r"(.+?)=([-+\d.eE]+(?::.+)?)")


def _figure(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def beside_population(flag: str, *keys: str) -> Callable[[str], dict[str, Any]]:
    """How to read what is asked beside a population, such as `5:voters.parquet`, as the spec writes it.

    >>> beside_population("--delta-presence", "min", "max")("0:0.5:voters.parquet")
    {'min': 0, 'max': 0.5, 'population': 'voters.parquet'}
    """

    def read(text: str) -> dict[str, Any]:
        *numbers, population = text.strip().split(":", len(keys))
        if len(numbers) < len(keys) or not population:
            raise SpecError(f"{flag} takes {':'.join(map(str.upper, keys))}:POPULATION; got {text!r}")
        return {**dict(zip(keys, map(_number, numbers), strict=True)), "population": population}

    return read


def _number(text: str) -> float | str:
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else _figure(text)


def attached(texts: list[str]) -> dict[str, str]:
    """Read files to attach, each by its own name or by the one behind its last colon.

    >>> attached(["data/lake.duckdb", "old.duckdb:archive"])
    {'lake': 'data/lake.duckdb', 'archive': 'old.duckdb'}
    """
    files: dict[str, str] = {}
    for text in texts:
        match = _NAMED.fullmatch(text)
        file, name = (match[1], match[2]) if match else (text, Path(text).stem)
        if name in files:
            raise SpecError(f"--attach: two files are called {name}; name one anew, as in FILE:OTHER")
        files[name] = file
    return files


_NAMED = re.compile(r"(.+):(\w+)")


_DATA, _PRIVACY, _SEARCH, _LOCAL = "Data", "Privacy", "Search", "Local recoding"
_FILES = "Files"
_KEEPING, _TARGET, _OUTPUT, _MACHINE = "Keeping a release on new data", "Target", "Output", "Machine"
_SEARCHES = ", ".join(get_args(SearchStrategy))
_A_SOURCE = "A CSV, Parquet or Excel file or a glob of files; with --database, a table or view."


def _once(name: str, help: str, read: Callable[[str], Any]) -> Option:
    """An option that says one thing: of two, neither is silently left out."""
    option = Option(name, help, _PRIVACY, list[str])

    def only(texts: list[str]) -> Any:
        if len(texts) > 1:
            raise SpecError(f"{option.spelled} is given {len(texts)} times; keep one of them")
        return read(texts[0])

    return replace(option, read=only)


def _of_columns(name: str, help: str, *keys: str, flag: str = "") -> Option:
    """An option that is given once per sensitive column."""
    option = Option(name, f"{help} Repeatable.", _PRIVACY, list[str], flag)
    return replace(option, read=by_column(option.spelled, *keys))


SOURCE = Argument("source", _A_SOURCE)
NEEDED_SOURCE = Argument("source", _A_SOURCE, default=...)
DATABASE = Option("database", "A DuckDB file or postgresql://user@host/database.", _DATA)
ATTACH = Option(
    "attach",
    "A DuckDB file to attach beside --database, by its own name or another: lake.duckdb or lake.duckdb:archive. Its "
    "tables are archive.main.people. It is only read unless --into names it. Repeatable.",
    _DATA,
    list[str],
    read=attached,
)
ENCODING = Option("encoding", "The encoding of a CSV source, such as cp1252; else it is recognized.", _FILES)
DECIMAL = Option(
    "decimal", "The decimal mark of the source's numbers, a comma or a point; else it is recognized.", _FILES
)
DATE_FORMAT = Option("date_format", "How the source writes dates, such as '%d.%m.%Y %H:%M'.", _FILES)
NULL = Option("null", "A text that means that there is no value, such as N/A. Repeatable.", _FILES, list[str])
SHEET = Option("sheet", "The sheet of an Excel file (default: the first that is not hidden).", _FILES)
TYPES = Option(
    "columns",
    f"Types of the source's columns, such as zip=text,pay=decimal: {', '.join(SOURCE_TYPES)}, or decimal(12.2).",
    _FILES,
    flag="--type",
    read=types,
)
MEMORY_LIMIT = Option("memory_limit", "Memory for each embedded DuckDB, such as 2GB; more is spilled.", _MACHINE)
THREADS = Option("threads", "Threads for each embedded DuckDB.", _MACHINE, int, limits={"min": 1})
TEMP_DIRECTORY = Option(
    "temp_directory",
    "The folder to spill to, in a private folder of its own (default: beside --database, else TMPDIR).",
    _MACHINE,
    Path,
)
TIME_ZONE = Option(
    "time_zone",
    "The time zone of the labels of timestamps with a time zone (default: the server's, and UTC in DuckDB).",
    _DATA,
)
SPEC = Option("spec", "A YAML spec of the run; options on the command line override it.", _DATA, Path)
QUASI_IDENTIFIERS = Option("quasi_identifiers", "Columns to generalize, such as age,zip,sex.", _DATA, read=names)
HIERARCHIES = Option("hierarchies", "A folder with one <column>.csv per quasi-identifier.", _DATA, Path)
IDENTIFIERS = Option("identifiers", "Columns to drop.", _DATA, read=names)
SENSITIVE = Option("sensitive", "Sensitive columns, released as they are.", _DATA, read=names)
KEEP = Option(
    "keep",
    "Columns to release as they are; all others without a role are dropped. '*' keeps every column, and warns of what "
    "was found in them.",
    _DATA,
    read=names,
)
LOCATION = Option("location", "The two columns of a place to cloak, such as lat,lon.", _DATA, read=names)
TIME = Option("time", "The column of times to cloak.", _DATA)
UNMAPPED = Option(
    "unmapped",
    "What to do with values that their hierarchy lacks: stop, or generalize them to *.",
    _DATA,
    choices=get_args(Unmapped),
)
CLOAK_BY = Option("cloak", f"How to cloak: {', '.join(get_args(CloakMethod))} (default adaptive).", _SEARCH)
K = Option("k", "Minimum number of rows in a class, or of people with --unit (default 5).", _PRIVACY, int)
UNIT = Option(
    "unit", "The column that tells people or devices apart: these are counted, not rows. It is dropped.", _PRIVACY
)
L_DIVERSITY = _of_columns(
    "l_diversity",
    "Least diversity of a sensitive column in a class: disease=3, disease=3:entropy or disease=3:recursive:4.",
    "l",
    "kind",
    "c",
)
T_CLOSENESS = _of_columns(
    "t_closeness",
    "Largest distance of a sensitive column's values in a class from those of the table: income=0.2, "
    "income=0.2:ordered, or job=0.2:hierarchical by job.csv in --hierarchies.",
    "t",
    "distance",
)
ALPHA = _of_columns(
    "alpha_k",
    "Largest share of a class that has the same sensitive value, or the one named: disease=0.5 or disease=0.5:HIV.",
    "alpha",
    "value",
    flag="--alpha",
)
BETA_LIKENESS = _of_columns(
    "beta_likeness",
    "Largest relative gain of a sensitive value's share in a class over the table's: disease=2 or disease=2:basic.",
    "beta",
    "kind",
)
DELTA_DISCLOSURE = _of_columns(
    "delta_disclosure",
    "Largest logarithm of a sensitive value's share in a class over that of the table, or under: disease=1.",
    "delta",
)
AGAINST = Option(
    "against",
    "The source of the release, for models that compare its classes with the whole table; else they compare with the "
    "release itself. A file, or with --database a table.",
    _DATA,
)
RISK = _once(
    "risk",
    "Largest risk that somebody is found: prosecutor:highest=0.1, prosecutor:mean=0.05, marketer:mean=0.05, "
    "prosecutor:above=0.2:share=0.1 for the share of rows above a risk, or, in a population, the same of the "
    "journalist: journalist:mean=0.05:population=FILE. No k is asked for besides unless you give it.",
    risk,
)
UNIQUENESS = _once(
    "uniqueness",
    "Largest share of the population that is unique, as estimated from the sample that the rows are: "
    "0.01:fraction=0.1, the rows over the population. No k is asked for besides unless you give it.",
    uniqueness,
)
K_MAP = _once(
    "k_map",
    "Least number of rows that a class stands for in a table or file that the source is a sample of: 5:voters.parquet.",
    beside_population("--k-map", "k"),
)
DELTA_PRESENCE = _once(
    "delta_presence",
    "Least and largest share of each class of such a population that is released: 0:0.5:voters.parquet.",
    beside_population("--delta-presence", "min", "max"),
)
SUPPRESSION_LIMIT = Option(
    "suppression_limit",
    "Fraction of the rows that may be suppressed (default 0.02), or a number of them: '20 rows'.",
    _PRIVACY,
    read=limit_of,
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
MINIMALITY = Option(
    "minimality",
    "Choose classes by the quasi-identifiers alone, and redraw the value of --alpha COLUMN=SHARE:VALUE in those that "
    "then have too much of it.",
    _PRIVACY,
    choices=get_args(Minimality),
)
SECRET = Option(
    "secret", "A file with the secret that makes a perturbation, or redrawn values, reproducible.", _PRIVACY, Path
)
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
NODE = Option("node", "Release at this node, such as age=2,zip=1, without a search.", _KEEPING, read=levels)
NODE_FROM = Option(
    "node_from",
    "Release as an earlier release did, by its manifest (JSON): at its node, or in its regions.",
    _KEEPING,
    Path,
)
NODE_ELSE = Option(
    "node_else",
    "What to do where the node no longer meets the models: stop (default), or search again.",
    _KEEPING,
    choices=get_args(NodeElse),
)
REGIONS = Option(
    "regions", "The regions of an earlier local recoding, where its manifest does not name them.", _KEEPING, Path
)
WRITE_REGIONS = Option(
    "write_regions",
    "Write the regions of a local recoding to this Parquet file, for the next release. It holds values of people at "
    "the borders of classes: keep it like the source.",
    _KEEPING,
    Path,
)
NEW_COLUMNS = Option(
    "new_columns",
    "What to do with columns that the earlier release did not know: stop (default), or drop them.",
    _KEEPING,
    choices=get_args(NewColumns),
)
CHANGED_TYPES = Option(
    "changed_types",
    "What to do where a column's type is another than before: stop (default), or accept it.",
    _KEEPING,
    choices=get_args(ChangedTypes),
)
CHANGED_HIERARCHIES = Option(
    "changed_hierarchies",
    "What to do where a hierarchy changed other than by new rows at its end: stop (default), or search again.",
    _KEEPING,
    choices=get_args(ChangedHierarchies),
)
INCREMENTAL = Option(
    "incremental", "Let rows wait that no class holds yet, however many, instead of suppressing them.", _KEEPING, bool
)
WAITING = Option("waiting", "The table for the rows that wait, beside the source; nobody else may read it.", _KEEPING)
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
OVERWRITE = Option("overwrite", "Replace a release or a file that exists.", _TARGET, bool)
REPLACE_FOREIGN_TABLE = Option(
    "replace_foreign_table",
    "The name of the target table once more, to replace a table that is not a release; its rows are lost.",
    _TARGET,
)
FORMULAS = Option(
    "formulas",
    "What to do with texts in a .csv or .tsv file that a spreadsheet would take for formulas: put ' before them "
    "(default), or keep them.",
    _TARGET,
    choices=get_args(Formulas),
)
DIFFERENCING_LIMIT = Option(
    "differencing_limit",
    "Most people that a release and the one it replaces may single out together, or unlimited; above it the old one "
    "stays.",
    _TARGET,
    read=limit,
)
TRACE = Option("trace", "Write every question of the search to this file, as lines of JSON.", _OUTPUT, Path)
RESUME = Option("resume", "Go on with the search of an earlier run, from the trace that it wrote.", _OUTPUT, Path)
WAYS_OUT = Option(
    "ways_out",
    "For each column at its top level, show what a lower `max_level`, a weight, or refine would lose (seconds each).",
    _OUTPUT,
    bool,
)
REPORT = Option(
    "report", "Write a report on the release too: a file that ends in .html, .pdf, .md or .json.", _OUTPUT, Path
)
JSON = Option("as_json", "Print only JSON on standard output.", _OUTPUT, bool, flag="--json")
DIALECT = Option(
    "dialect",
    f"Print the release for this system: {', '.join(DIALECTS)}. Only DuckDB and PostgreSQL have executed it in tests.",
    _OUTPUT,
)
TABLE = Option("table", "The table that the printed statement reads there (default: the source's own name).", _OUTPUT)
FREQUENCY_SET = Option(
    "frequency_set",
    "A Parquet or CSV file of counted tuples to search in place of the source, exported by the query of "
    "--frequency-set-sql.",
    _DATA,
    Path,
)
FREQUENCY_SET_SQL = Option(
    "frequency_set_sql", "Print the query that exports the counted tuples to search. Nothing is opened.", _OUTPUT, bool
)
DBT = Option(
    "dbt",
    "Write a dbt model into this project's models/, its mapping tables into seeds/; for each --dialect, comma between.",
    _TARGET,
    Path,
)
REF = Option("ref", "The dbt model that the written one reads (default: the name of the source's table).", _TARGET)
FAIL_EMPTY = Option("fail_empty", "Exit with 3 if no row is left, or nothing of the quasi-identifiers.", _OUTPUT, bool)
SQL = Option("sql", "Search, then print the release's statement without running it.", _OUTPUT, bool)

KEEPING = (
    *(NODE, NODE_FROM, NODE_ELSE, REGIONS, WRITE_REGIONS),
    *(NEW_COLUMNS, CHANGED_TYPES, CHANGED_HIERARCHIES, INCREMENTAL, WAITING),
)
READING = (ENCODING, DECIMAL, DATE_FORMAT, NULL, SHEET, TYPES)
PLACES = (DATABASE, ATTACH, *READING, MEMORY_LIMIT, THREADS, TEMP_DIRECTORY, TIME_ZONE)
ROLES = (QUASI_IDENTIFIERS, HIERARCHIES, IDENTIFIERS, SENSITIVE)
_OF_VALUES = (L_DIVERSITY, T_CLOSENESS, ALPHA, BETA_LIKENESS, DELTA_DISCLOSURE)
PRIVACY = (K, UNIT, *_OF_VALUES, K_MAP, DELTA_PRESENCE, RISK, UNIQUENESS)
MODEL = (UNMAPPED, *PRIVACY, SUPPRESSION_LIMIT, METRIC, BETA, PRIORITIES)
