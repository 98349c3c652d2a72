"""The root of `kanon`: it lists the commands, and imports the module of a command only when it is called."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from kanon_sql.cli import LOG_LEVEL, QUIET, SHOW_VALUES
from kanon_sql.resources import package_version

if TYPE_CHECKING:
    from collections.abc import Callable

# Every command is in the module of its name; its help is here, so that listing the commands imports none of them.
COMMANDS = {
    "init": "Suggest a spec for a table, or for all tables of a database: the role of every column, and a hierarchy "
    "for every quasi-identifier. Nothing is anonymized.",
    "page": "Serve a page for the browser: set roles, hierarchies and k, watch the search, and compare results.",
    "anonymize": "Create a k-anonymous release of a table or file, and verify the written result.",
    "cloak": "Generalize places and times to boxes and intervals that k people or devices share, and verify the "
    "written result.",
    "database": "Release several tables of the same people together, such as patients, visits and diagnoses, or "
    "check, measure or attack them.",
    "anatomize": "Release rows unchanged, with sensitive values only by group, in a separate table. NOT k-anonymous.",
    "run": "Recreate the releases of a spec that have changed inputs, and compare each with the release that it "
    "replaces. For pipelines.",
    "releases": "Read the audit trail of a pipeline, and verify its chain of checksums.",
    "explain": "Show the SQL of a run: every statement with an explanation, its query plan and its result. Nothing is "
    "written.",
    "compile": "Search, then print the release as SQL for this engine or another system, or write it as a dbt model.",
    "search": "Search a table, or a frequency set exported by another system, for the best node. Nothing is written.",
    "compare": "Run several search strategies on one table, and compare their results, proofs and effort. Nothing is "
    "written.",
    "lattice": "Search the lattice and draw it as SVG: which nodes are anonymous, which were checked, and which is "
    "best.",
    "verify": "Check any table or file for k-anonymity and other privacy models: exit code 0 if it satisfies them, 1 "
    "if not.",
    "attack": "Run known attacks on a release, and report how many people they succeed against.",
    "risk": "Measure the re-identification risk in a table, or in a source and its release.",
    "utility": "Measure the utility of a release: how much its columns, pairs of columns, counts and models differ "
    "from those of its source.",
    "report": "Write a one-page report on a release, for decision makers and experts: guarantees, evidence and "
    "remaining risks.",
    "refresh": "Refill a materialized release from its source, and verify it. If the check fails, the old release "
    "stays.",
    "profile": "Profile a table before anonymizing it: types, distinct counts, and how unique columns and sets of "
    "columns are.",
    "demo": "Generate a census-like table, anonymize it, and show some rows before and after. Nothing is downloaded.",
    "spec": "Check a spec without its data, or print the JSON Schema that editors use to complete and check specs.",
    "schema": "Print the JSON Schema of what a command prints with --json, of a manifest, of an error, or of a spec.",
    "hierarchy": "Build, check and show hierarchies: the labels that replace every value, level by level.",
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
    help="Anonymize tables where they live: search for, write and verify k-anonymous releases in SQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


class LogLevel(StrEnum):
    """The levels of messages on standard error: each includes the levels before it."""

    error = "error"
    warning = "warning"
    info = "info"
    debug = "debug"


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kanon_sql {package_version()}")
        raise typer.Exit


@app.callback()
def _root(
    _print_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    _show_values: Annotated[
        bool,
        typer.Option(
            SHOW_VALUES,
            help="Show values of the data in error messages even in a log or a pipe, as on a terminal. Can be used "
            "anywhere on the command line.",
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            QUIET,
            envvar="KANON_QUIET",
            help="Print only errors and output for other programs: JSON, SQL and schemas. No notes either, "
            "unless --log-level is set; the manifest has them. Can be used anywhere on the command line.",
        ),
    ] = False,
    log_level: Annotated[
        LogLevel | None,
        typer.Option(
            LOG_LEVEL,
            envvar="KANON_LOG_LEVEL",
            help="What to print on standard error: error; warning, also notes; info, also every stage with its time; "
            "debug, also every statement's name, rows and time, without its text (default: warning). Can be used "
            "anywhere on the command line.",
        ),
    ] = None,
) -> None:
    """Global options."""
    from kanon_sql.cli import output

    default = LogLevel.error if quiet else LogLevel.warning
    output.configure(quiet, (log_level or default).value)
