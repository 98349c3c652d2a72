"""The options of the commands: options of the verbs, derived from keys of a spec, and options of commands alone."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

from kanon_sql.cli.declare import Argument, Option
from kanon_sql.cli.environment import SESSION, variable
from kanon_sql.errors import SpecError
from kanon_sql.queries import DIALECTS, NAME_CASES
from kanon_sql.spec import (
    KEYWORDS,
    RECIPIENTS,
    SENSITIVE_MODELS,
    SOURCE_TYPES,
    CloakMethod,
    Keyword,
    Metric,
    NormName,
    SearchIn,
    SearchStrategy,
    SensitiveModel,
    keys,
)
from kanon_sql.spec.types import IN_FOLDER, float_or_text, number_or_text
from kanon_sql.verbs.compile_dbt import Mappings
from kanon_sql.verbs.options import PlaceOptions


def names(text: str) -> list[str]:
    """Split a list of columns as CSV does, so that a quoted name can contain a comma.

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
    """Read a number of people; any other word is left for the spec to check.

    >>> limit("3"), limit("unlimited")
    (3, 'unlimited')
    """
    return int(text) if text.isdecimal() else text


def pairs(flag: str, form: str, example: str, read: Callable[[str], Any]) -> Callable[[str], dict[str, Any]]:
    """A parser of a value per column; `read` raises ValueError for an invalid value.

    >>> pairs("--node", "COLUMN=LEVEL", "age=2,zip=1", whole(0))('age=2,"zip, code"=1')
    {'age': 2, 'zip, code': 1}
    """

    def columns_of(text: str) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for part in names(text):
            column, _, value = (word.strip() for word in part.rpartition("="))
            if column in columns:
                raise SpecError(f"{flag}: {column!r} is given twice; keep one of the two")
            try:
                columns[column] = read(value)
            except ValueError:
                columns.pop(column, None)
            if not column or column not in columns:
                raise SpecError(f"{flag}: {part!r} is not {form}; write them as in {example}")
        return columns

    return columns_of


def whole(least: int) -> Callable[[str], int]:
    """A parser of whole numbers from `least` on."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ValueError
        return int(text)

    return number


def perturbation(text: str) -> dict[str, dict[str, float]]:
    """Read the perturbation of a column; ValueError for anything else.

    >>> perturbation("noise:100")
    {'noise': {'scale': 100.0}}
    """
    operator, _, number = text.partition(":")
    parameters = {"noise": "scale", "swap": "within", "pram": "keep"}
    if operator not in parameters:
        raise ValueError
    return {operator: {parameters[operator]: float(number)}}


def column_type(text: str) -> dict[str, str]:
    """Read the type of a column, with a point in its parentheses, since commas separate columns; ValueError if empty.

    >>> column_type("decimal(12.2)")
    {'type': 'decimal(12,2)'}
    """
    if not text:
        raise ValueError
    return {"type": re.sub(r"\((\d+)\.(\d+)\)", r"(\1,\2)", text)}


def by_column(flag: str, *keys: str) -> Callable[[list[str]], dict[str, dict[str, Any]]]:
    """A parser of the parameters of columns, such as `disease=3:entropy`, to mappings with these keys of the spec.

    >>> by_column("--l-diversity", "l", "kind", "c")(["disease=3:recursive:4", "income=2"])
    {'disease': {'l': 3.0, 'kind': 'recursive', 'c': 4.0}, 'income': {'l': 2.0}}
    """
    form = "[:".join(key.upper() for key in keys) + "]" * (len(keys) - 1)

    def read(texts: list[str]) -> dict[str, dict[str, Any]]:
        columns: dict[str, dict[str, Any]] = {}
        for text in texts:
            match = _OF_COLUMN.fullmatch(text.strip())
            if not match:
                raise SpecError(f"{flag} takes COLUMN={form}; got {text!r}")
            column = match[1]
            values = match[2].split(":", len(keys) - 1)
            if column in columns:
                raise SpecError(f"{flag}: {column!r} is given twice; keep one of the two")
            columns[column] = {k: v if k == "value" else float_or_text(v) for k, v in zip(keys, values, strict=False)}
        return columns

    return read


def risk(text: str) -> dict[str, Any]:
    """Read `prosecutor:mean=0.05` as a mapping of the spec.

    >>> risk("prosecutor:highest=0.1:above=0.2:share=0.1")
    {'model': 'prosecutor', 'highest': 0.1, 'above': {'threshold': 0.2, 'share': 0.1}}
    >>> risk("journalist:mean=0.05:population=voters.parquet")
    {'model': 'journalist', 'mean': 0.05, 'population': 'voters.parquet'}
    """
    text, *population = text.split(":population=", 1)
    model, limits = _keyed("--risk", text, ("highest", "mean", "above", "share"), "MODEL:KEY=NUMBER[:KEY=NUMBER…]")
    above = {name: limits.pop(key) for key, name in (("above", "threshold"), ("share", "share")) if key in limits}
    spec = {"model": model, **limits}
    if above:
        spec["above"] = above
    if population:
        spec["population"] = population[0]
    return spec


def uniqueness(text: str) -> dict[str, Any]:
    """Read `0.01:fraction=0.1` as a mapping of the spec.

    >>> uniqueness("0.01:fraction=0.1:estimator=zayatz")
    {'share': 0.01, 'sampling_fraction': 0.1, 'estimator': 'zayatz'}
    """
    form = "SHARE:fraction=NUMBER[:estimator=NAME]"
    share, values = _keyed("--uniqueness", text, ("fraction", "estimator"), form)
    fraction = {"sampling_fraction": values.pop("fraction")} if "fraction" in values else {}
    return {"share": float_or_text(share), **fraction, **values}


def _keyed(flag: str, text: str, keys: Sequence[str], form: str) -> tuple[str, dict[str, Any]]:
    """The first word, and the values by key of the `key=value` parts after it."""
    first, *parts = text.strip().split(":")
    values: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in keys or key in values:
            raise SpecError(f"{flag} takes {form}, with every KEY of {', '.join(keys)} at most once; got {text!r}")
        values[key] = float_or_text(value)
    return first, values


_OF_COLUMN = re.compile(r"(.+?)=([-+\d.eE]+(?::.+)?)")


def with_population(flag: str, *keys: str) -> Callable[[str], dict[str, Any]]:
    """A parser of a model with its population, such as `5:voters.parquet`, to a mapping with these keys of the spec.

    >>> with_population("--delta-presence", "min", "max")("0:0.5:voters.parquet")
    {'min': 0, 'max': 0.5, 'population': 'voters.parquet'}
    """

    def read(text: str) -> dict[str, Any]:
        *numbers, population = text.strip().split(":", len(keys))
        if len(numbers) < len(keys) or not population:
            raise SpecError(f"{flag} takes {':'.join(map(str.upper, keys))}:POPULATION; got {text!r}")
        return {**dict(zip(keys, map(number_or_text, numbers), strict=True)), "population": population}

    return read


def attached(texts: list[str]) -> dict[str, str]:
    """Read files to attach, by their own names or the name after the last colon.

    >>> attached(["data/lake.duckdb", "old.duckdb:archive"])
    {'lake': 'data/lake.duckdb', 'archive': 'old.duckdb'}
    """
    files: dict[str, str] = {}
    for text in texts:
        match = _NAMED.fullmatch(text)
        file, name = (match[1], match[2]) if match else (text, Path(text).stem)
        if name in files:
            raise SpecError(f"--attach: two files are called {name}; rename one, as in FILE:OTHER")
        files[name] = file
    return files


_NAMED = re.compile(r"(.+):(\w+)")


def reasons(texts: list[str]) -> dict[str, str]:
    """Read the reasons of columns, written as `COLUMN=SENTENCE`.

    >>> reasons(["age=Colleagues know it, or guess it."])
    {'age': 'Colleagues know it, or guess it.'}
    """
    by_name: dict[str, str] = {}
    for text in texts:
        column, equals, sentence = (part.strip() for part in text.partition("="))
        if not (column and equals and sentence):
            raise SpecError(f"--reason takes COLUMN=SENTENCE; got {text!r}")
        if column in by_name:
            raise SpecError(f"--reason: {column!r} is given twice; keep one of the two")
        by_name[column] = sentence
    return by_name


_OUTPUT = "Output"
_A_SOURCE = "A CSV, Parquet or Excel file or a glob of files; with --database, a table or view."
_PERTURBED = "COLUMN=noise:SCALE, COLUMN=swap:WITHIN or COLUMN=pram:KEEP"


@dataclass(frozen=True)
class OptionForm:
    """The form of an option on the command line, apart from the name and type of its key.

    `more`: sentences after the description of the key. `type` and `read`: as in an Option; they replace the type of the
    key. `limited`: whether the limits of a number are checked before anything else.
    """

    more: str = ""
    type: Any = None
    read: Callable[[Any], Any] | None = None
    flag: str = ""
    limited: bool = False


def _once(flag: str, more: str, read: Callable[[str], Any]) -> OptionForm:
    """An option that can be used only once: a second use is an error instead of overriding the first."""

    def only(texts: list[str]) -> Any:
        if len(texts) > 1:
            raise SpecError(f"{flag} is given {len(texts)} times; keep one of them")
        return read(texts[0])

    return OptionForm(more, list[str], only)


def _of_columns(name: str, model: type[SensitiveModel]) -> OptionForm:
    """A privacy model for any number of sensitive columns, with its parameters in the order of the model."""
    flag = model.flag or flag_of(name)
    kinds = {parameter: keys.kind_of(field) for parameter, field in model.model_fields.items()}
    parameters = [parameter for parameter, kind in kinds.items() if kind.words or kind.type in (float, str)]
    return OptionForm(f"For example {model.example}. Repeatable.", list[str], by_column(flag, *parameters), flag)


def flag_of(name: str) -> str:
    """The flag of an option, unless it has a shorter one.

    >>> flag_of("k_map")
    '--k-map'
    """
    return f"--{name.replace('_', '-')}"


FORMS: Mapping[str, OptionForm] = {
    "database": OptionForm("A DuckDB file, or for example postgresql://user@host/database.", str),
    "attach": OptionForm(
        "For example lake.duckdb, or lake.duckdb:archive to name it archive. Repeatable.", list[str], attached
    ),
    "threads": OptionForm(limited=True),
    "skip_lines": OptionForm(limited=True),
    "delimiter": OptionForm("For example ';', or tab.", str),
    "evaluations": OptionForm(limited=True),
    "null": OptionForm("For example N/A. Repeatable.", list[str]),
    "columns": OptionForm(
        f"For example zip=text,pay=decimal. The types are {', '.join(SOURCE_TYPES)}, decimal(12.2), or age at COLUMN.",
        read=pairs("--type", "COLUMN=TYPE", "zip=text,pay=decimal", column_type),
        flag="--type",
    ),
    "quasi_identifiers": OptionForm("For example age,zip,sex.", read=names),
    "location": OptionForm("For example lat,lon.", read=names),
    **{name: _of_columns(name, model) for name, model in SENSITIVE_MODELS.items()},
    "k_map": _once("--k-map", "For example 5:voters.parquet.", with_population("--k-map", "k")),
    "delta_presence": _once(
        "--delta-presence", "For example 0:0.5:voters.parquet.", with_population("--delta-presence", "min", "max")
    ),
    "risk": _once(
        "--risk",
        "For example prosecutor:highest=0.1, prosecutor:mean=0.05, marketer:mean=0.05, prosecutor:above=0.2:share=0.1 "
        "for the share of rows above a risk, or journalist:mean=0.05:population=FILE for a population.",
        risk,
    ),
    "models": OptionForm("For example my_models:three_hospitals.", read=names),
    "uniqueness": _once(
        "--uniqueness",
        "For example 0.01:fraction=0.1, where fraction is the share of the population that is in the source.",
        uniqueness,
    ),
    "suppression_limit": OptionForm("For example 0.02 or '20 rows'.", read=float_or_text),
    "perturb": OptionForm(
        "For example pay=noise:100,visit=swap:0.05,city=pram:0.8; bounds, distributions and matrices need a spec.",
        read=pairs("--perturb", _PERTURBED, "pay=noise:100,city=pram:0.8", perturbation),
    ),
    "cloak": OptionForm(f"One of {', '.join(get_args(CloakMethod))} (default adaptive).", str, flag="--method"),
    "metric": OptionForm(f"One of {', '.join(get_args(Metric))}.", str),
    "priorities": OptionForm(
        "For example age=1,sex=2; 1 is the most important.",
        read=pairs("--priorities", "COLUMN=NUMBER", "age=1,sex=2, 1 first", whole(1)),
    ),
    "node": OptionForm("For example age=2,zip=1.", read=pairs("--node", "COLUMN=LEVEL", "age=2,zip=1", whole(0))),
    "node_from": OptionForm(type=Path),
    "output": OptionForm(type=str),  # a Path drops a folder's slash
    "form": OptionForm(flag="--as"),
    "recipient": OptionForm(f"One of {', '.join(RECIPIENTS)}.", str),
    "review_date": OptionForm("For example 2027-01-31.", str),
    "norms": OptionForm(f"For example gdpr,ema. Any of {', '.join(get_args(NormName))}.", read=names),
    "reasons": OptionForm("For example age='Colleagues know it.' Repeatable.", list[str], reasons, flag="--reason"),
    "differencing_limit": OptionForm("A number of people, or unlimited.", read=limit),
    "differencing_values": OptionForm(
        "For example disease=3.", read=pairs("--differencing-values", "COLUMN=NUMBER", "disease=3", whole(2))
    ),
}


def option(keyword: Keyword, form: OptionForm) -> Option | None:
    """The option of the command line for one in Python; None if its key has no form on the command line."""
    kind = keys.kind_of(keyword.field)
    name = keyword.name
    group = keyword.group or None
    text = _help(keyword, form)
    from_environment = variable(name) if name in SESSION else None
    if form.type or form.read:
        return Option(name, text, group, form.type or str, form.flag, read=form.read, variable=from_environment)
    if kind.type is tuple:
        return Option(name, text, group, read=names)
    if kind.words:
        return Option(name, text, group, flag=form.flag, choices=kind.words)
    if kind.type is str:
        return Option(name, text, group, Path if IN_FOLDER in kind.metadata else str, variable=from_environment)
    if kind.type not in (bool, int, float):
        return None
    limits = {"min": kind.limits["ge"]} if form.limited else {}
    return Option(name, text, group, kind.type, limits=limits, variable=from_environment)


def _help(keyword: Keyword, form: OptionForm) -> str:
    """The description of the key, with flags instead of keywords, and its default."""
    takes = keys.declared(keyword.field).takes
    example = f"Give {takes}." if form == OptionForm() and _SUCH_AS in takes else form.more
    text = _NAMED_OPTION.sub(_spelled, f"{keyword.field.description} {example}".strip())
    default = keys.plain_default(keyword.field).removesuffix(".0")
    return f"{text[:-1]} (default {default})." if default and type(keyword.field.default) in _SHOWN else text


def _spelled(match: re.Match[str]) -> str:
    """The flag of an option in backticks; the text itself if it is not an option."""
    name = match[1]
    flag = FORMS.get(name, OptionForm()).flag or flag_of(name)
    return flag if name in KEYWORDS else match[0]


_SUCH_AS = " such as "
_NAMED_OPTION = re.compile(r"`(\w+)`")
_SHOWN = (int, float, str, Decimal)
_FOUND = {
    name: option(keyword, FORMS.get(name, OptionForm())) for name, keyword in KEYWORDS.items() if name != "source"
}
OPTIONS: Mapping[str, Option] = {name: found for name, found in _FOUND.items() if found}


def of(options: type, *without: str) -> tuple[Option, ...]:
    """The command-line options of a verb, in the order of their groups."""
    taken = [OPTIONS[name] for name in options.__annotations__ if name in OPTIONS and name not in without]
    return tuple(sorted(taken, key=lambda option: keys.GROUPS.index(str(option.panel))))


SOURCE = Argument("source", _A_SOURCE)
NEEDED_SOURCE = Argument("source", _A_SOURCE, default=...)
PLACES = of(PlaceOptions)
SESSION_OPTIONS = tuple(OPTIONS[name] for name in SESSION)
K = OPTIONS["k"]
OUTPUT = OPTIONS["output"]
OVERWRITE = OPTIONS["overwrite"]
DIFFERENCING_LIMIT = OPTIONS["differencing_limit"]
SPEC = Option("spec", "A YAML spec of the run; options on the command line override it.", keys.DATA, Path)
AGAINST = Option(
    "against",
    "The source of the release, a file or with --database a table, for models that compare classes with the whole "
    "table. Without it, they compare with the release itself.",
    keys.DATA,
)
LATTICE_SEARCH = replace(
    OPTIONS["strategy"], help=f"How to search the lattice: {', '.join(get_args(SearchStrategy))} (default auto)."
)
SEARCH_IN = Option(
    "search_in",
    "Where to search a server's table: in an embedded DuckDB, or in the server's own engine.",
    keys.SEARCH,
    choices=get_args(SearchIn),
    default="embedded",
)
TRACE = Option("trace", "Write every step of the search to this file, one JSON object per line.", _OUTPUT, Path)
RESUME = Option("resume", "Resume the search of an earlier run from its trace.", _OUTPUT, Path)
WAYS_OUT = Option(
    "ways_out",
    "For every column at its top level, show the loss with a lower `max_level`, with a weight, or with refine (seconds "
    "each).",
    _OUTPUT,
    bool,
)
REPORT = Option(
    "report",
    "Also write a report on the release, to a file that ends in .html, .pdf, .docx, .md or .json.",
    _OUTPUT,
    Path,
)
JSON = Option("as_json", "Print only JSON on standard output.", _OUTPUT, bool, flag="--json")
DIALECT = Option(
    "dialect",
    f"Print the release for this system: {', '.join(DIALECTS)}. A comment in the statement says how it was tested.",
    _OUTPUT,
)
TABLE = Option("table", "The table that the printed statement reads (default: the source's own name).", _OUTPUT)
NAMES = Option(
    "names",
    "How to print names in --dialect: exactly as in the spec, or in the case in which the system stores names without "
    "quotes: upper on Snowflake.",
    _OUTPUT,
    choices=NAME_CASES,
    default="exact",
)
FREQUENCY_SET = Option(
    "frequency_set",
    "A Parquet or CSV file of counted tuples to search instead of the source, exported by the query of "
    "--frequency-set-sql.",
    keys.DATA,
    Path,
)
FREQUENCY_SET_SQL = Option(
    "frequency_set_sql", "Print the query that exports the counted tuples, without opening the source.", _OUTPUT, bool
)
DBT = Option(
    "dbt",
    "Write a dbt model to models/ of this dbt project, and its mapping tables to seeds/. --dialect can list several "
    "systems, and --into can name a folder, such as marts/patients.",
    keys.TARGET,
    Path,
)
REF = Option(
    "ref", "The dbt model that the written model reads (default: the name of the source's table).", keys.TARGET
)
SEARCH_AGAIN = Option(
    "search_again",
    "Search even if the dbt model exists, instead of keeping its node while that satisfies the privacy models.",
    keys.SEARCH,
    bool,
)
MAPPINGS = Option(
    "mappings",
    "Where a dbt model finds the labels that no expression computes: seed, in seeds if they are more than 200; inline, "
    "always in the query; or table, always in private tables next to the source (default seed).",
    keys.TARGET,
    choices=get_args(Mappings),
)
FAIL_EMPTY = Option(
    "fail_empty",
    "Exit with 3 if all rows are suppressed, or if the quasi-identifiers no longer distinguish any rows.",
    _OUTPUT,
    bool,
)
SQL = Option("sql", "Search, then print the SQL statement of the release without running it.", _OUTPUT, bool)
