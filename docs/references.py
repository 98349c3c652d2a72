"""Generate the reference of the command line, the spec and the manifest from the code: python docs/references.py.

tests/test_references.py checks that the pages are current.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_origin

import typer

from kanon_sql.cli.app import COMMANDS, _root
from kanon_sql.documents.forms import FORMS, schema_of
from kanon_sql.documents.manifest import CLOAKED, COMMON, CONDITIONAL, EXACT_ANATOMY, GENERALIZED
from kanon_sql.spec import KEYWORDS, schema
from kanon_sql.spec.keys import GROUPS

PAGES = Path(__file__).resolve().parent / "reference"
CLI = """\
# The command line

All commands and their options, as in `kanon COMMAND --help`. Options that are not set on the command line are read from the
[spec](spec.md) named by `--spec`; an option overrides the spec. The task pages explain what the commands are for, and
[Python](python-api.md) has the same verbs with the same options. Some options can also come from [environment
variables](../environment.md).

`python docs/references.py` generates this page from the commands.

## Exit codes

| exit code | meaning |
|---|---|
| 0 | done, and all checks passed |
| 1 | done, but a check failed, in `verify`, `run` and `releases verify`, and in `risk` and `attack` with `--fail-above` |
| 2 | an error, which one line on standard error reports with a remedy; nothing was released |
| 3 | done, but all rows are suppressed or the quasi-identifiers no longer distinguish any rows, in `anonymize` and `run` with `--fail-empty` |
| 130, 143 | stopped by Ctrl-C or by SIGTERM; [nothing is left unfinished](../databases.md#interrupted-runs) |
"""  # noqa: E501

SPEC = """\
# The spec

A spec is a YAML file with all options of a release: `kanon anonymize --spec release.yml`, or with a `location`
`kanon cloak --spec trips.yml`. In Python it is a dictionary with the same keys. [`kanon init`](../init.md) suggests one for a table, and `kanon spec check release.yml` checks one without its data.

An editor with a YAML language server completes and checks a spec as you type, if it knows the schema (in Python,
`kanon_sql.spec.schema()`):

```sh
kanon spec schema --output spec.schema.json
```

```yaml
# yaml-language-server: $schema=spec.schema.json
source: people.parquet
quasi_identifiers: [age, education]
```

No key is required in the file, because every key can be set on the command line. A release needs a `source` and
`quasi_identifiers`. To cloak places it needs `location`, `time` and `unit` instead of quasi-identifiers; then the keys of
hierarchies, searches, local recodings, perturbation and privacy models other than `k` are refused. A key without a value is
ignored. Relative paths start from the folder of the spec. In the spec of a [pipeline](../pipeline.md) a value may be a variable, `${NAME}`.

`python docs/references.py` generates this page from the schema.
"""  # noqa: E501


MANIFEST = """\
# The manifest

A manifest describes a release in aggregates; it contains no value of the source.
[Stability](../stability.md#the-manifest) says how it may change. `kanon schema manifest`, or in Python
`kanon_sql.manifest_schema()`, returns this page as a JSON Schema.

`[]` in a key stands for the items of a list, and `*` for a name, of a column or a figure.

`python docs/references.py` generates this page from the schema.
"""
MANIFEST_KEYS = {
    "In every manifest": COMMON,
    "Of `anonymize`": GENERALIZED,
    "Of `cloak`": CLOAKED,
    "Of `anatomize`": EXACT_ANATOMY,
    "Only in some manifests": CONDITIONAL,
}


JSON = """\
# JSON

With `--json` a command prints exactly one document on standard output; notes and progress are on standard error.
Every document has these keys, and those of its form.

| key | type | meaning |
|---|---|---|
| `schema` | text | The name and version of the form, such as `risk/1`. |
| `version` | text | The version of kanon_sql. |

[Stability](../stability.md#json) says how a form may change. `kanon schema risk`, or in Python
`kanon_sql.json_schema("risk")`, returns the JSON Schema (2020-12) of a form. The schemas are closed: no document has a
key that its schema does not describe. In Python, `to_json()` of a result returns the same text, and
`write("risk.json")` writes it.

`anonymize`, `cloak`, `anatomize` and `demo` print a [manifest](manifest.md), and so does `releases show`.

A command that fails with [exit code](cli.md#exit-codes) 2, 130 or 143 prints an `error`, and the same message on
standard error. Only `run` also exits with 2 after it has printed its document, if that contains the error of a release.
Exit codes 1 and 3 are not errors: the document contains the figures that did not pass.

`[]` in a key stands for the items of a list, and `*` for a name, of a column or a figure.

`python docs/references.py` generates this page from the schemas.
"""


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """The generated pages by name."""
    return {"cli.md": cli(), "spec.md": spec(), "manifest.md": manifest(), "json.md": documents()}


def manifest() -> str:
    """The page of the manifest."""
    parts = [MANIFEST]
    for heading, keys in MANIFEST_KEYS.items():
        parts += [f"\n## {heading}\n", "| key | type | meaning |", "|---|---|---|"]
        schema = {"properties": {name: {**kind, "description": meaning} for name, (kind, meaning) in keys.items()}}
        parts += _table(_rows(schema))
    return "\n".join(parts) + "\n"


def documents() -> str:
    """The page of what `--json` prints."""
    parts = [JSON]
    for name, form in FORMS.items():
        schema = schema_of(name)
        parts += [f"\n## {name}\n", f"{form.about} Printed by {form.printed_by}.\n"]
        parts += ["| key | type | meaning |", "|---|---|---|"]
        rows = list(_rows(schema))[2:]  # without `schema` and `version`
        parts += _table(rows)
    return "\n".join(parts) + "\n"


def _table(rows: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    for key, kind in rows:
        yield f"| `{key}` | {_kind(kind)} | {_marked(kind['description'])} |"


def _rows(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key of an object, and of the objects in it, with its type."""
    for name, kind in schema.get("properties", {}).items():
        key = f"{path}{name}"
        yield key, kind
        for within in kind.get("anyOf", [kind]):
            if "items" in within:
                yield from _rows(within["items"], f"{key}[].")
            elif isinstance(within.get("additionalProperties"), dict):
                yield from _rows(within["additionalProperties"], f"{key}.*.")
            else:
                yield from _rows(within, f"{key}.")


def _kind(kind: dict[str, Any]) -> str:
    """The type of a key in a word or two."""
    if "anyOf" in kind:
        return " or ".join(map(_kind, kind["anyOf"]))
    if "const" in kind:
        return f"`{json.dumps(kind['const'])}`"
    if "enum" in kind:
        return " or ".join(f"`{word}`" for word in kind["enum"])
    if "$ref" in kind:
        return "[manifest](manifest.md)"
    if "type" not in kind:
        return "any"
    if kind["type"] == "array" and "items" not in kind:
        return "list"
    if kind["type"] == "array":
        return f"list of {_kind(kind['items'])}s"
    return (
        "share"
        if kind.get("maximum") == 1
        else {"integer": "whole number", "string": "text"}.get(kind["type"], kind["type"])
    )


def cli() -> str:
    """The page of the command line."""
    parts = [CLI, "## Global options\n", "`kanon --help` lists the commands.\n", *_options(_root)]
    for name, summary in COMMANDS.items():
        module = import_module(f"kanon_sql.cli.{name}")
        subcommands: dict[str, tuple[Any, str]] | None = getattr(module, "SUBCOMMANDS", None)
        parts += [f"\n## kanon {name}\n", f"{prose(summary)}\n"]
        if subcommands is None:
            parts += _command(f"kanon {name}", getattr(module, name))
        for subcommand, (function, summary) in (subcommands or {}).items():
            command = f"kanon {name} {subcommand}"
            parts += [f"\n### {command}\n", f"{prose(summary)}\n", *_command(command, function)]
    return "\n".join(parts).rstrip() + "\n"


def _command(name: str, function: Callable[..., None]) -> Iterator[str]:
    """The syntax of a command, the text of its own help, and its options."""
    arguments = [parameter for parameter in _parameters(function) if parameter.is_argument]
    words = [argument.flag.upper() if argument.required else f"[{argument.flag.upper()}]" for argument in arguments]
    yield "\n".join(["```text", " ".join([name, *words, "[OPTIONS]"]), "```", ""])
    for paragraph in inspect.cleandoc(function.__doc__ or "").split("\n\n"):
        if paragraph:
            yield prose(re.sub(r"\[bold\](.*?)\[/bold\]", r"For example `\1`", paragraph.replace("\n", " "))) + "\n"
    yield from _options(function)


class Parameter:
    """One option or argument of a command, from its typer declaration."""

    def __init__(self, declared: inspect.Parameter) -> None:
        self.type, self.info = get_args(declared.annotation)
        self.is_argument = isinstance(self.info, typer.models.ArgumentInfo)
        written = (self.info.default, *(self.info.param_decls or ()))  # typer keeps the first flag as the default
        flags = [flag for flag in written if isinstance(flag, str) and flag.startswith("-")]
        self.flag = ", ".join(flags) or declared.name
        self.required = declared.default is inspect.Parameter.empty
        self.default = None if self.required else declared.default
        self.panel = "Arguments" if self.is_argument else self.info.rich_help_panel or "Options"

    @property
    def row(self) -> Sequence[str]:
        """The cells of its row in the table of its panel."""
        text, default = _with_default(self.info.help or "")
        if self.info.envvar:
            text = f"{text} Environment: `{self.info.envvar}`."
        if self.required:
            default = "required"
        elif not default and self.default not in (None, False):
            default = str(_plain(self.default))
        return f"`{self.flag}`", self.takes, prose(default), prose(text)

    @property
    def takes(self) -> str:
        """The accepted values, in words."""
        kind = self.type
        if _is_union(kind):
            (kind,) = (part for part in get_args(kind) if part is not type(None))
        if get_origin(kind) is list:
            return f"{_KINDS[get_args(kind)[0]]}, repeatable"
        if isinstance(kind, type) and issubclass(kind, Enum):
            return " or ".join(f"`{word.value}`" for word in kind)
        least = f", {self.info.min} or more" if self.info.min is not None and self.info.max is None else ""
        between = f", {self.info.min} to {self.info.max}" if self.info.max is not None else ""
        return _KINDS[kind] + least + between


def _with_default(text: str) -> tuple[str, str]:
    """A text without its default, and the default.

    >>> _with_default("Maximum number of nodes. By default 5000. Repeatable.")
    ('Maximum number of nodes. Repeatable.', '5000')
    """
    found = _DEFAULT.search(text)
    return (_DEFAULT.sub("", text), found[1] or found[2]) if found else (text, "")


_DEFAULT = re.compile(r" \(default:? ([^()]*)\)| By default (.*?)\.(?= |$)")
_KINDS = {str: "text", int: "whole number", float: "number", Path: "path", bool: "switch"}


def _is_union(annotation: Any) -> bool:
    return type(None) in get_args(annotation)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _parameters(function: Callable[..., None]) -> list[Parameter]:
    declared = inspect.signature(function, eval_str=True).parameters.values()
    return [Parameter(parameter) for parameter in declared if parameter.annotation is not typer.Context]


def _options(function: Callable[..., None]) -> Iterator[str]:
    """A table per panel, in the order of the help."""
    panels: dict[str, list[Sequence[str]]] = {}
    for parameter in sorted(_parameters(function), key=lambda parameter: not parameter.is_argument):
        panels.setdefault(parameter.panel, []).append(parameter.row)
    for panel, rows in panels.items():
        yield table((panel.lower(), "takes", "default", "what it does"), rows)


PIPELINES = "Pipelines"  # the keys that no option of a verb sets
PARTS = {  # models that are not below a hierarchy, privacy or perturbation, with their headings
    "AttributeSpec": "Keys of a quasi-identifier",
    "ColumnForm": "Keys of a column of a file",
    "Privacy": "privacy",
    "Target": "target",
    "Cloak": "cloak",
    "PrioPrivacy": "prioprivacy",
    "Budget": "kgen, memetic, local_search, random",
    "Perturbation": "Keys of a perturbed column",
}


def spec() -> str:
    """The page of the spec."""
    whole = schema()
    models = whole["$defs"]
    keys = models["Release"]["properties"] | {
        name: key for name, key in whole["properties"].items() if "$ref" not in key
    }
    parts = [SPEC]
    for title in (*GROUPS, PIPELINES):
        of_group = {name: key for name, key in keys.items() if _group(name) == title}
        parts += [f"## {title}\n", _keys(of_group)]
    for model, title in PARTS.items():
        parts += _part(f"## {title}", models[model])
    parts.append("## Hierarchies\n\nA hierarchy is a file, the word `suppress`, or a mapping with one of these.\n")
    for name in _below(models["AttributeSpec"]["properties"]["hierarchy"]):
        parts += _part(f"### {next(iter(models[name]['properties']))}", models[name])
    parts.append("## Parts of privacy models and of perturbations\n")
    for owner in ("Privacy", "Risk", "Perturbation"):
        for key, declared in models[owner]["properties"].items():
            title = f"### risk.{key}" if owner == "Risk" else f"### {key}"
            for name in _below(declared):
                parts += _part(title, models[name])
    return "\n".join(parts).rstrip() + "\n"


def _group(name: str) -> str:
    """The heading of a key."""
    return KEYWORDS[name].group if name in KEYWORDS else PIPELINES


def _part(title: str, model: dict[str, Any]) -> list[str]:
    """A model under its title."""
    return [f"{title}\n", f"{prose(model['description'])}\n", _keys(model["properties"], model.get("required", ()))]


def _below(declared: dict[str, Any]) -> list[str]:
    """The models that a key can contain."""
    return list(dict.fromkeys(re.findall(r"'#/\$defs/([A-Z]\w+)'", str(declared))))


def _keys(keys: dict[str, Any], required: Sequence[str] = ()) -> str:
    """A table of keys, from their descriptions in the schema, which have three sentences."""
    rows = []
    for name, key in keys.items():
        meaning, _, takes = key["description"].rpartition(" Give ")
        takes, _, default = takes.rstrip(".").partition(". Default: ")
        meaning, default_rule = _with_default(meaning)
        default = "required" if name in required else prose(default or default_rule)
        rows.append((f"`{name}`", prose(takes), default, prose(meaning)))
    return table(("key", "takes", "default", "what it means"), rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def prose(text: str) -> str:
    """A help text as Markdown: flags and mappings as code, and special characters escaped."""
    return "".join(part if code else _marked(part) for part, code in _parts(" ".join(text.split())))


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a text, and whether they are code: text in backticks or in balanced braces."""
    depth, piece, quoted = 0, "", False
    for letter in text:
        if letter == "{" and not depth and not quoted:
            opened = piece.removesuffix("$")
            yield opened, False
            piece = piece[len(opened) :]
        if letter == "`":
            yield (f"{piece}`", True) if quoted else (piece, False)
            piece, quoted = ("", False) if quoted else ("", True)
        depth += (letter == "{") - (letter == "}")
        piece += letter if letter != "`" or quoted else ""
        if letter == "}" and not depth and not quoted:
            yield f"`{piece}`", True
            piece = ""
    yield piece, False


def _marked(text: str) -> str:
    text = re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", text)
    return text.replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    main()
