"""`kanon database release|run|verify|risk|attack|report`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from kanon_sql import documents
from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.flags import in_keys
from kanon_sql.cli.output import err, grid, out, print_json, verified, warn, watching
from kanon_sql.errors import DifferencingError, InfeasibleError, VerificationError
from kanon_sql.report.numbers import counted
from kanon_sql.spec import check_values
from kanon_sql.verbs.attack_database import attack_database, risk_database
from kanon_sql.verbs.database import anonymize_database, known_rows, limits, verify_database
from kanon_sql.verbs.report_database import check_report_file, report_database
from kanon_sql.verbs.run_database import run_database

SPEC = Argument("spec", "A spec with the tables, their keys, and the people.", type=Path, default=...)
KNOWN = Option(
    "known",
    "Maximum number of a person's rows in the other tables that the attacker has, 0 to 3 (default: m of the spec).",
    "Attacker",
    int,
    limits={"min": 0, "max": 3},
)
ATTEMPTS = Option(
    "attempts", "Number of people to draw from the source.", "Attacker", int, default=2000, limits={"min": 1}
)
REPORT_OUTPUT = Option(
    "output",
    "The file to write: .html, .md or .docx.",
    "Output",
    Path,
    default=Path("report.html"),
)
DRY_RUN = Option("dry_run", "Print what would be released, why, and what would wait; release nothing.", type=bool)
DIFFERENCING_LIMIT = Option(
    "differencing_limit",
    "`unlimited`: compare with no earlier release. Anyone who has one can then single out the people who changed.",
    choices=("unlimited",),
)
_REFUSED = (DifferencingError, InfeasibleError, VerificationError)  # because of the data, not because of the spec
SEED = Option("seed", "Seed for drawing the people and their rows.", "Attacker", int, default=0)
TIME_LIMIT = replace(o.OPTIONS["time_limit"], panel=None)


@takes(SPEC, *o.SESSION_OPTIONS, TIME_LIMIT, o.JSON)
def release(spec: Path, as_json: bool | None, **overrides: Any) -> None:
    """[bold]kanon database release hospital.yml[/bold]"""
    check_values(time_limit=overrides.get("time_limit"))
    with watching() as watch:
        released = anonymize_database(spec, observer=watch, **overrides)
    if as_json:
        print_json(released.to_json())
    else:
        _show(released.manifest)
        _show_targets(released.manifest)
    warn(released.manifest["warnings"])


@takes(SPEC, DRY_RUN, DIFFERENCING_LIMIT, *o.SESSION_OPTIONS, TIME_LIMIT, o.JSON)
def run(spec: Path, dry_run: bool | None, as_json: bool | None, **overrides: Any) -> None:
    """Exit code 0: done, or nothing to do. 1: the release was refused because of its data, and the old one stays."""
    check_values(time_limit=overrides.get("time_limit"))
    try:
        with watching() as watch:
            done = run_database(spec, dry_run=bool(dry_run), observer=watch, **overrides)
    except _REFUSED as error:
        message = in_keys(str(error), [DIFFERENCING_LIMIT])
        if as_json:
            print_json(documents.text("error", {"error": message, "kind": type(error).__name__, "exit_code": 1}))
        err.print(f"kanon: {escape(message)}", highlight=False)
        raise typer.Exit(1) from None
    if as_json:
        print_json(done.to_json())
        return
    why = f": {'; '.join(done.why)}" if done.why else ""
    out.print(f"release {done.number} [bold]{done.status}[/bold]{escape(why)}")
    if done.release:
        _show(done.release.manifest)
        _show_waiting(done.release.manifest)
        if not dry_run:
            _show_targets(done.release.manifest)
        warn(done.release.manifest["warnings"])


def _show_waiting(manifest: dict[str, Any]) -> None:
    """Print the changes that wait, and how many earlier releases were compared."""
    waiting, compared = manifest["waiting"], manifest["compared"]
    if waiting["people"]:
        table = grid("changes that wait", "rows to appear", "to leave", "to change", "people")
        for name, found in waiting["tables"].items():
            numbers = (found[key] for key in ("to_appear", "to_leave", "to_change", "people"))
            table.add_row(escape(name), *(f"{number:,}" for number in numbers))
        out.print(table)
        waits = sum(
            found[key] for found in waiting["tables"].values() for key in ("to_appear", "to_leave", "to_change")
        )
        changed = waiting["changed_rows"]
        out.print(f"Changes of {waiting['people']:,} people wait; {changed - waits:,} of {changed:,} rows change now.")
    if compared:
        fewest = min((found["fewest_people"] for found in compared if found["fewest_people"] is not None), default=0)
        releases = "1 earlier release" if len(compared) == 1 else f"{len(compared):,} earlier releases"
        out.print(f"Compared with {releases}: at least {fewest:,} people share what both show of one of them.")
        for column in compared[0]["fewest_values"]:
            values = min(found["fewest_values"][column] for found in compared if column in found["fewest_values"])
            out.print(f"At least {values:,} values of {escape(column)} remain possible for everyone.")


@takes(SPEC, *o.SESSION_OPTIONS, o.JSON)
def verify(spec: Path, as_json: bool | None, **overrides: Any) -> None:
    checked = verify_database(spec, **overrides)
    if as_json:
        print_json(checked.to_json())
    else:
        _show_findings(checked.findings)
        _show_values(checked.sensitive)
        for sentence in checked.broken_keys:
            out.print(f"[red]broken[/red]: {escape(sentence)}")
        colour, outcome = ("green", "satisfied") if checked.satisfied else ("red", "not satisfied")
        out.print(f"[{colour}]{outcome}[/{colour}]: {checked.people:,} people")
    if not checked.satisfied:
        raise typer.Exit(1)


def _show(manifest: dict[str, Any]) -> None:
    """Print the rows of every table, the levels of its columns, and what the check found."""
    table = grid("table", "released rows", "of", "levels", right=("released rows", "of"))
    for name, found in manifest["tables"].items():
        levels = ", ".join(f"{column} {level}" for column, level in manifest["node"][name].items())
        table.add_row(escape(name), f"{found['released_rows']:,}", f"{found['rows']:,}", escape(levels))
    out.print(table)
    for name, found in manifest["tables"].items():
        if found["dropped"]:
            out.print(f"Dropped from {escape(name)}, since they have no role: {escape(', '.join(found['dropped']))}.")
    _show_findings(manifest["privacy"])
    _show_values(manifest["sensitive"])
    proof = "proven optimal" if manifest["proven_optimal"] else f"no node is better than {manifest['lower_bound']:.4f}"
    if manifest.get("node_kept"):
        proof = "at the node of the last release"
    out.print(f"Loss {manifest['score']:.4f} ({proof}), {counted(manifest['nodes_checked'], 'nodes')} checked.")


def _show_targets(manifest: dict[str, Any]) -> None:
    """Print what was verified, and where the tables are."""
    targets = ", ".join(found["target"] for found in manifest["tables"].values())
    people = f"{manifest['released_people']:,} of {manifest['people']:,} people"
    if "waiting" in manifest:  # some of those released can have left the source
        people = f"{manifest['released_people']:,} people, with {manifest['people']:,} in the source"
    out.print(verified(f"({manifest['k']}, {manifest['m']})-anonymity of {people}", targets, "the released tables"))


def _show_findings(findings: list[dict[str, Any]]) -> None:
    table = grid("attacker has", "at least shared by", "required", "rare combinations", right=("required",))
    for finding in findings:
        shared = "–" if finding["achieved"] is None else f"{finding['achieved']:,} people"
        table.add_row(
            known_rows(finding["known_rows"]), shared, f"{finding['required']:,}", f"{finding['rare_combinations']:,}"
        )
    out.print(table)


def _show_values(findings: list[dict[str, Any]]) -> None:
    """Print what the check found about sensitive columns; nothing without models."""
    if not findings:
        return
    combinations = [known_rows(rows) for rows in dict.fromkeys(found["known_rows"] for found in findings)]
    table = grid("sensitive column", "model", "required", *(f"worst: {name}" for name in combinations))
    by_model: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for found in findings:
        by_model.setdefault((found["column"], found["model"]), []).append(found)
    for (column, model), of_sizes in by_model.items():
        cells = [escape(column), escape(model), escape(limits(of_sizes[0]["required"]))]
        for found in of_sizes:  # the worst combination's figure, and how many violate the model
            worst = "–" if found["achieved"] is None else f"{found['achieved']:.4g}"
            unsafe = found["unsafe_combinations"]
            cells.append(f"[red]{worst}, {unsafe:,} violate it[/red]" if unsafe else worst)
        table.add_row(*cells)
    out.print(table)


@takes(SPEC, KNOWN, *o.SESSION_OPTIONS, o.JSON)
def risk(spec: Path, as_json: bool | None, **options: Any) -> None:
    measured = risk_database(spec, **options)
    if as_json:
        print_json(measured.to_json())
        return
    _show_exposed(measured.exposed, measured.k)
    out.print("In the source, before anything is released. Every person counts with their rarest combination of rows.")


@takes(SPEC, KNOWN, ATTEMPTS, SEED, *o.SESSION_OPTIONS, o.JSON)
def attack(spec: Path, as_json: bool | None, **options: Any) -> None:
    found = attack_database(spec, **options)
    if as_json:
        print_json(found.to_json())
    else:
        out.print(
            "[bold]Released tables joined by their keys[/bold]: every person with their rarest combination of rows"
        )
        _show_exposed(found.exposed, found.k)
        _show_matched(found.people)
        _show_guesses(found.values)
    if found.found:
        warn([f"the spec is violated: fewer than {found.k:,} people share the rows that it protects"])
        raise typer.Exit(1)


@takes(SPEC, REPORT_OUTPUT, o.OVERWRITE, KNOWN, ATTEMPTS, SEED, *o.SESSION_OPTIONS)
def report(spec: Path, output: Path, overwrite: bool | None, **options: Any) -> None:
    """[bold]kanon database report hospital.yml --output report.html[/bold]

    Contains only aggregates: no rows, and no numbers of people of the source below k."""
    check_report_file(output, bool(overwrite))
    found = report_database(spec, **options)
    found.write(output, overwrite=bool(overwrite))
    out.print(f"Report written to {escape(str(output))}")


def _show_exposed(exposed: list[dict[str, Any]], k: int) -> None:
    table = grid("attacker has", "singled out", f"shared by fewer than {k:,}", "of people", "mean risk")
    for found in exposed:
        mean = "–" if found["mean_risk"] is None else f"{found['mean_risk']:.4f}"
        beyond = "" if found.get("promised", True) else " (more than m)"
        name = known_rows(found["known_rows"]) + beyond
        table.add_row(name, f"{found['singled_out']:,}", f"{found['below_k']:,}", f"{found['people']:,}", mean)
    out.print(table)


def _show_matched(people: list[dict[str, Any]]) -> None:
    out.print("[bold]People drawn from the source[/bold]: who in the release has matching rows?")
    table = grid("attacker has", "attacked", "matched", "fewest matches", "right guesses to expect", "by chance")
    for found in people:
        fewest = "–" if found["fewest_candidates"] is None else f"{found['fewest_candidates']:,}"
        shares = f"{found['expected_right']:.2%}", f"{found['chance']:.2%}"
        name = known_rows(found["known_rows"])
        table.add_row(name, f"{found['attacked']:,}", f"{found['matched']:,}", fewest, *shares)
    out.print(table)


def _show_guesses(values: list[dict[str, Any]]) -> None:
    if not values:
        return
    out.print("[bold]Sensitive values[/bold]: the most frequent value of those who match")
    table = grid("sensitive column", "attacker has", "people", "right", "95 % interval", "without knowledge")
    for found in values:
        attacked = max(1, found["attacked"])
        low, high = found["interval"]
        shares = f"{found['right'] / attacked:.1%}", f"{low:.1%} to {high:.1%}", f"{found['blind'] / attacked:.1%}"
        table.add_row(escape(found["column"]), known_rows(found["known_rows"]), f"{found['attacked']:,}", *shares)
    out.print(table)


SUBCOMMANDS = {
    "release": (
        release,
        "Release several tables of the same people together, so that at least k people share a person's row in the "
        "main table and some of the other rows.",
    ),
    "run": (
        run,
        "Release the tables again if anything has changed, compared with the earlier releases: changes that would "
        "single people out wait.",
    ),
    "verify": (
        verify,
        "Check the released tables with separate SQL: exit code 0 if they satisfy the spec, 1 if not.",
    ),
    "risk": (
        risk,
        "Count the people of the source who are singled out by their row in the main table and some other rows.",
    ),
    "attack": (
        attack,
        "Attack the released tables: join them again by their keys, and guess who people are from some of their "
        "rows. Exit code 1 if fewer than k people share what the spec protects.",
    ),
    "report": (
        report,
        "Write a report on the released tables: the check, the risk before and after, and attacks, with a verdict.",
    ),
}
