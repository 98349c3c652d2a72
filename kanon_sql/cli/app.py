"""The root of `kanon`: it lists the commands, and imports the module of a command only when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from kanon_sql.cli import SHOW_VALUES
from kanon_sql.resources import package_version

if TYPE_CHECKING:
    from collections.abc import Callable

# Every command is in the module of its name; its help is here, so that listing the commands imports none of them.
COMMANDS = {
    "init": "Suggest a spec for a table: what each column is, and a hierarchy for each that others may know. Nothing "
    "is anonymized.",
    "page": "Open a page in the browser to steer it all: roles, hierarchies, k, the search as it goes, results side by "
    "side.",
    "anonymize": "Make a k-anonymous release of a table or file, and verify what was written.",
    "cloak": "Turn places and times into boxes and intervals that k units share, and verify what was written.",
    "anatomize": "Release exact rows, and apart from them the sensitive values of groups of rows. NOT k-anonymous.",
    "run": "Make the releases of a spec again where anything has changed, each held against the one that it replaces; "
    "for pipelines.",
    "releases": "Read the audit trail of a pipeline, and verify its chain of checksums.",
    "explain": "Show a run in SQL: each statement with a sentence, its plan, and what it gave. Nothing is written.",
    "compile": "Search, then print the release as SQL, for this engine or another system, or write it as a dbt model.",
    "search": "Search a table, or a frequency set that another system exported, for the best node. Nothing is written.",
    "compare": "Run several search strategies on one table, and show what each finds, proves and asks of the data. "
    "Nothing is written.",
    "lattice": "Search the lattice and draw it as SVG: which nodes are anonymous, which were checked, which is best.",
    "verify": "Check any table or file: exit code 0 if every class has at least k rows, 1 if not.",
    "attack": "Try what an attacker could do with a release, and say how many people it succeeds with.",
    "risk": "Measure how far people are at risk in a table, or before and after in a source and its release.",
    "utility": "Measure what a release is still good for: how far its columns, pairs of columns, counts and models are "
    "from those of its source.",
    "report": "Report on a release in one page, for whoever decides and for experts: what was promised, by which "
    "figure it holds, what is left.",
    "refresh": "Refill a materialized release from its source, and verify it; if it does not hold, the old one stays.",
    "profile": "Look at a table before anonymizing it: types, distinct counts, and how unique columns and sets of "
    "them are.",
    "demo": "Make up a census-shaped table, anonymize it, and show it before and after. Nothing is downloaded.",
    "spec": "Check a spec without its data, and print the JSON Schema with which an editor completes one.",
    "hierarchy": "Build, check and show hierarchies: what each value becomes, level by level.",
}


def _command_of(name: str, function: Callable[..., None], summary: str) -> Any:
    """A command that calls a function; its help is the summary, followed by the function's docstring."""
    text = f"{summary}\n\n{function.__doc__}" if function.__doc__ else summary
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    single.command(name, help=text)(function)
    return typer.main.get_command(single)


def command(name: str) -> Any:
    """Import a command: the function with its name in its module, or a group of the module's `SUBCOMMANDS`."""
    module = import_module(f"kanon_sql.cli.{name}")
    subcommands = getattr(module, "SUBCOMMANDS", None)
    if subcommands is None:
        return _command_of(name, getattr(module, name), COMMANDS[name])
    group = TyperGroup(name=name, help=COMMANDS[name], no_args_is_help=True, rich_markup_mode="rich")
    for subcommand, (function, summary) in subcommands.items():
        group.add_command(_command_of(subcommand, function, summary))
    return group


class _Commands(TyperGroup):
    """Lists all commands with their summaries, and imports the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        listed = {name: TyperCommand(name, help=summary) for name, summary in COMMANDS.items()}
        super().__init__(**{**attributes, "commands": listed})

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        found = command(name) if name and listed else None
        if ctx.obj:
            ctx.obj.tidy = True  # imports are done; a signal must clean up from now on
        return name, found, rest


app = typer.Typer(
    name="kanon",
    cls=_Commands,
    help="Anonymize a table where it lives: k-anonymous releases, searched, written and verified in SQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kanon_sql {package_version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    _show_values: Annotated[
        bool,
        typer.Option(
            SHOW_VALUES,
            help="Let errors show values of the data in a log or a pipe too, as they do on a terminal; may stand "
            "anywhere on the line.",
        ),
    ] = False,
) -> None:
    """Options before any command."""
