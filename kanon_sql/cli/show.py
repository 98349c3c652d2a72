"""What a person sees: tables and a few sentences on standard output, progress on standard error."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from kanon_sql.recode import Rounds
from kanon_sql.report.numbers import count, figure
from kanon_sql.spec import names_a_server
from kanon_sql.strategies import Progress
from kanon_sql.verbs.observer import Observer
from kanon_sql.verbs.released import Release

if TYPE_CHECKING:
    from kanon_sql.generalization.hierarchy import Hierarchy
    from kanon_sql.verbs.compare import Comparison, Found
    from kanon_sql.verbs.explain import Step
    from kanon_sql.verbs.profile import Profile


def _console(stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False)
    console.soft_wrap = not console.is_terminal  # a pipe or file gets whole lines
    return console


out, err = _console(), _console(stderr=True)


@contextmanager
def watching(interrupt: str = "Ctrl-C takes the best so far") -> Iterator[Observer]:
    """Progress on a terminal, with what an interrupt does; silence where nobody watches."""
    if not err.is_terminal:
        yield Observer()
        return
    with err.status("Reading") as status:
        reached = ""

        def stage(text: str) -> None:
            nonlocal reached
            reached = text
            status.update(escape(text))

        def search(progress: Progress) -> None:
            status.update(escape(f"{reached}: {_progress(progress)} ({interrupt})"))

        def recode(rounds: Rounds) -> None:
            status.update(escape(f"{reached}: {_rounds(rounds)}"))

        yield Observer(stage, search, recode)


def _rounds(rounds: Rounds) -> str:
    """Where a local recoding stands."""
    parts = [f"round {rounds.round}", f"{count(rounds.classes)} classes"]
    if rounds.left is not None:
        parts.append(f"{count(rounds.left)} to go")
    parts.append(_duration(rounds.seconds))
    if rounds.seconds_left is not None:
        parts.append(f"{_duration(rounds.seconds_left)} left")
    return ", ".join(parts)


def _progress(progress: Progress) -> str:
    """Where a search stands; what is not known yet is left out."""
    parts = [f"{count(progress.nodes_checked)} of {count(progress.lattice_size)} nodes checked"]
    if progress.node:
        parts += [f"best {figure(progress.score)}", f"bound {figure(progress.bound)}", f"gap {figure(progress.gap)}"]
    elif 0 < progress.bound < inf:
        parts.append(f"bound {figure(progress.bound)}")
    parts.append(_duration(progress.seconds))
    if progress.seconds_left is not None:
        parts.append(f"{_duration(progress.seconds_left)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    """Seconds as long as they are few, then minutes and hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


def warn(warnings: Sequence[str]) -> None:
    """Say on standard error what a careful reader should know."""
    for text in warnings:
        err.print(f"[yellow]note:[/yellow] {escape(text)}")


def release(manifest: dict[str, Any]) -> None:
    """Show what was released: the node or what classes show, its cost, the promise, and where it is."""
    out.print(_node_table(manifest) if manifest["node"] else _shown_table(manifest))
    suppressed = manifest["suppressed_rows"]
    masked = " (shown as *)" if manifest["masked_rows"] else ""
    out.print(
        f"{manifest['released_rows']:,} of {manifest['rows']:,} rows released in {manifest['classes']:,} classes, "
        f"the smallest of {manifest['smallest_class']} rows; {suppressed:,} suppressed{masked}."
    )
    _roles(manifest["roles"])
    score = "" if manifest["score"] is None else f"{manifest['metric']} {manifest['score']:.4f}, "
    out.print(f"{score}{_proof(manifest)}.{_found_by(manifest['found_by'], manifest['strategy'])}")
    out.print(_verified(manifest))
    warn(manifest["warnings"])


def refreshed(manifest: dict[str, Any]) -> None:
    """Show what is in a materialized release now."""
    out.print(
        f"{manifest['released_rows']:,} rows in {manifest['classes']:,} classes, "
        f"the smallest of {manifest['smallest_class'] or 0} rows."
    )
    promise = manifest["privacy"][0]
    out.print(
        f"[green]Verified[/green] in what is there now: {promise['required']}-anonymous. "
        f"It is in materialized view {escape(manifest['target']['table'])}"
    )


def _found_by(found_by: str | None, strategy: str) -> str:
    """A sentence that says who found the node, where the strategy did not."""
    return {
        "lowered": f" What {strategy} found was then lowered to a node of the same score.",
        "reduction": f" {strategy} did not find its node: it is a probe of the lattice reduction.",
        "last resort": f" {strategy} did not find its node: it is the best of those tested on the way.",
    }.get(found_by or "", "")


def _roles(roles: dict[str, Any]) -> None:
    """List the columns that are released as they are, and those that are not released."""
    kept = [*(f"{name} (sensitive)" for name in roles["sensitive"]), *roles["kept"]]
    dropped = [*roles["identifiers_dropped"], *roles["dropped"]]
    for said, columns in {"Released as they are": kept, "Dropped": dropped}.items():
        if columns:
            out.print(f"{said}: {escape(', '.join(columns))}.")


def cloaked(manifest: dict[str, Any]) -> None:
    """Show what was cloaked: how many, how fine, the promise, and where it is."""
    figures, promise = manifest["figures"], manifest["privacy"][0]
    out.print(
        f"{manifest['released_rows']:,} of {manifest['rows']:,} rows released in {manifest['classes']:,} boxes, "
        f"shared by {manifest['smallest_class']:,} or more of {manifest['units']:,} units; "
        f"{manifest['suppressed_rows']:,} suppressed."
    )
    _roles(manifest["roles"])
    out.print(f"The median box has an area of {figures['median_area']:.3g} and lasts {figures['median_length']:,.6g}.")
    target = manifest["target"]
    where = target.get("file") or f"{target['as']} {target['table']}"
    out.print(
        f"[green]Verified[/green] in what was written: {promise['required']} {promise['model']}, at least. "
        f"It is in {escape(where)}"
    )
    warn(manifest["warnings"])


def _node_table(manifest: dict[str, Any]) -> Table:
    table = Table("quasi-identifier", "level", "of", "loss", box=None, pad_edge=False)
    for column in ("level", "of", "loss"):
        next(c for c in table.columns if c.header == column).justify = "right"
    for name, level in manifest["node"].items():
        loss = manifest["loss_per_attribute"][name]
        table.add_row(escape(name), str(level), str(manifest["heights"][name]), f"{loss:.3f}")
    return table


def _shown_table(manifest: dict[str, Any]) -> Table:
    table = Table("quasi-identifier", "shows", "unchanged", "loss", box=None, pad_edge=False)
    for column in table.columns[2:]:
        column.justify = "right"
    for name, how in manifest["shown"].items():
        loss, modified = manifest["loss_per_attribute"][name], manifest["modification_per_attribute"][name]
        table.add_row(escape(name), how, f"{1 - modified:.0%}", f"{loss:.3f}")
    return table


def _proof(manifest: dict[str, Any]) -> str:
    if manifest["lattice_size"] is None:
        ended = "" if manifest["search_ended"] == "complete" else f", ended: {manifest['search_ended']}"
        return f"by {manifest['strategy']} ({manifest['seconds']['search']:.1f} s{ended})"
    checked = f"{manifest['nodes_checked']:,} of {count(manifest['lattice_size'])} nodes checked"
    seconds = f"{manifest['seconds']['search']:.1f} s"
    if manifest["proven_optimal"]:
        return f"proven optimal ({checked}, {seconds})"
    return f"not proven optimal: no node is below {manifest['lower_bound']:.4f} ({checked}, {seconds})"


def _verified(manifest: dict[str, Any]) -> str:
    target = manifest["target"]
    where = target.get("file") or f"{target['as']} {target['table']}"
    model = manifest["privacy"][0]
    where += f" and {manifest['anatomy']['sensitive']}" if "anatomy" in manifest else ""
    kept = f"{model['required']}-anonymous"
    if model["model"].startswith("NOT "):
        kept = f"every row fits {model['required']} source rows, each * read as any value; [yellow]not[/yellow] {kept}"
    return f"[green]Verified[/green] in what was written: {kept}. It is in {escape(where)}"


def anatomy(manifest: dict[str, Any]) -> None:
    """Show what was released without k-anonymity."""
    model, target = manifest["privacy"][0], manifest["target"]
    out.print(
        f"{manifest['rows']:,} rows released as they are in {manifest['groups']:,} groups, the smallest of "
        f"{manifest['smallest_group']} rows. [yellow]Not k-anonymous[/yellow]."
    )
    _roles(manifest["roles"])
    where = f"{target.get('file') or target['table']} and {manifest['anatomy']['sensitive']}"
    out.print(
        f"[green]Verified[/green] in what was written: no sensitive value has more than 1 / {model['required']} of its "
        f"group. It is in {escape(where)}"
    )
    warn(manifest["warnings"])


def demo(made: Release, directory: Path) -> None:
    """Show before and after, and what to try next."""
    from kanon_sql.engines.duckdb import DuckDB

    reader, manifest = DuckDB(), made.manifest
    before = _some(*reader.sample(str(directory / "people.parquet")))
    after = _some(*reader.sample(manifest["target"]["file"]))
    out.print("[bold]Before[/bold]: people as they were made up, each with an identifier")
    out.print(_sample(*before))
    out.print(f"[bold]After[/bold]: every row now has {manifest['privacy'][0]['required'] - 1} or more like it")
    out.print(_sample(*after))
    release(manifest)
    places = ("release.yml", "people.parquet", "people_stricter.parquet")
    spec, people, stricter = (quote(str(directory / name)) for name in places)
    released = quote(manifest["target"]["file"])
    columns = ",".join(manifest["node"])
    out.print("\n[bold]Next[/bold]")
    for command, purpose in (
        (f"kanon profile {people}", "how unique were they?"),
        (
            f"kanon verify {released} --quasi-identifiers {columns} --k {manifest['privacy'][0]['required']}",
            "check it yourself",
        ),
        (f"kanon explain --spec {spec}", "every SQL statement of this run"),
        (f"kanon anonymize --spec {spec} --k 20 --output {stricter}", "a stricter release"),
        ("kanon anonymize --help", "your own table"),
    ):
        out.print(f"  [cyan]{escape(command)}[/cyan]  # {purpose}", soft_wrap=True)


_SHOWN = ("person_id", "age", "education", "occupation", "sex", "native-country", "salary-class")


def _some(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[list[Any]]]:
    """The demo's telling columns, as many as a terminal of 80 characters holds, before and after alike."""
    kept = [i for i, name in enumerate(columns) if name in _SHOWN]
    return [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]


def _sample(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    fit = _that_fit([[name, *(_shown(row[i]) for row in rows)] for i, name in enumerate(columns)])
    table = Table(*(escape(columns[i]) for i in fit), box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(escape(_shown(row[i])) for i in fit))
    return table


def _that_fit(columns: Sequence[Sequence[str]]) -> list[int]:
    """The columns that fit side by side: the widest are left out until they do."""
    widths = {i: max(map(len, cells)) + 2 for i, cells in enumerate(columns)}
    while len(widths) > 2 and sum(widths.values()) > out.width:
        del widths[max(widths, key=lambda i: widths[i])]
    return list(widths)


def _shown(cell: Any) -> str:
    return "NULL" if cell is None else str(cell)


def verification(checked: dict[str, Any]) -> None:
    """Say whether a table holds, and the sizes of the classes that do not."""
    if "problem" in checked:
        out.print(f"[red]does not hold[/red]: {escape(checked['problem'])}")
        return
    said = f"{checked['rows']:,} rows in {checked['classes']:,} classes, the smallest of {checked['smallest_class']}"
    if checked["holds"]:
        out.print(f"[green]holds[/green]: {checked['required']}-anonymous on {_listed(checked)}; {said}")
        return
    out.print(f"[red]does not hold[/red]: not {checked['required']}-anonymous on {_listed(checked)}; {said}")
    out.print(
        f"{checked['unsafe_rows']:,} rows in {checked['unsafe_classes']:,} classes are below {checked['required']}:"
    )
    for offence in checked["offending_sizes"]:
        out.print(f"  {offence['classes']:,} classes of {offence['size']}")


def _listed(checked: dict[str, Any]) -> str:
    return escape(", ".join(checked["quasi_identifiers"]))


def comparison(compared: Comparison) -> None:
    """Show the searches side by side: what they found, what it took, the nodes, and what to know of them."""
    searched = [found for found in compared.searches if found.refused is None]
    nodes = _lettered(searched)
    size = f"a lattice of {count(compared.lattice_size)} nodes over {compared.distinct_tuples:,} distinct tuples"
    limit = f"{100 * compared.suppression_limit:.4g} % of the rows suppressed at most"
    out.print(f"{compared.rows:,} rows, {size}; k = {compared.k}, {limit}, metric {compared.metric}")
    for table in (_found_table(searched, nodes), _effort_table(searched), *_nodes_tables(compared, nodes)):
        out.print()
        out.print(table)
    out.print()
    for found in searched:
        out.print(
            f"{escape(found.strategy)} promises {escape(found.promise)}.{_found_by(found.found_by, found.strategy)}"
        )
    for found in compared.searches:
        if found.refused is not None:
            out.print(f"[yellow]{escape(found.strategy)} was left out:[/yellow] {escape(found.refused)}")
    out.print(_optimum(compared))


def _lettered(searched: Sequence[Found]) -> dict[tuple[int, ...], str]:
    """A letter for each different node, in the order of the searches."""
    nodes = dict.fromkeys(tuple((found.node or {}).values()) for found in searched)
    return dict(zip(nodes, (chr(ord("A") + i) for i in range(len(nodes))), strict=True))


def _right(*headers: str) -> Table:
    """A table whose first column is a name and the others are figures, of which none may lose a digit."""
    table = Table(box=None, pad_edge=False)
    for number, header in enumerate(headers):
        table.add_column(header, justify="right" if number else "left", overflow="fold")
    return table


def _found_table(searched: Sequence[Found], nodes: dict[tuple[int, ...], str]) -> Table:
    table = _right("strategy", "node", "score", "optimum", "bound", "gap", "ended")
    for found in searched:
        optimum = "proven" if found.proven_optimal else _yes(found.equals_best_proven)
        figures = map(_maybe, (found.score, optimum, found.lower_bound, found.gap))
        table.add_row(escape(found.strategy), nodes[tuple((found.node or {}).values())], *figures, found.ended)
    return table


def _yes(equals: bool | None) -> str:
    return {True: "equal", False: "no", None: "unknown"}[equals]


def _effort_table(searched: Sequence[Found]) -> Table:
    table = _right("strategy", "checked", "tagged", "queries", "seconds", "LOG", "LOS", "accuracy")
    for found in searched:
        counts = (found.nodes_checked, found.nodes_tagged, found.queries)
        seconds = "" if found.seconds is None else f"{found.seconds:.2f}"
        shares = (found.log, found.los, found.accuracy)
        table.add_row(escape(found.strategy), *map(_maybe, counts), seconds, *map(_maybe, shares))
    return table


def _maybe(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return count(value) if isinstance(value, int) else figure(value)


def _nodes_tables(compared: Comparison, nodes: dict[tuple[int, ...], str]) -> Iterator[Table]:
    """The level of each column in each node, what the column loses by it, and the rows suppressed."""
    found = {tuple(each.node.values()): each for each in compared.searches if each.node}
    for start in range(0, len(nodes), _ABREAST):
        abreast = list(nodes)[start : start + _ABREAST]
        table = _right("quasi-identifier", "of", *(words for node in abreast for words in (nodes[node], "loss")))
        for i, (name, height) in enumerate(compared.heights.items()):
            cells = [words for node in abreast for words in (str(node[i]), _loss(found[node], name))]
            table.add_row(escape(name), str(height), *cells)
        suppressed = [words for node in abreast for words in (_maybe(found[node].suppressed_rows), "")]
        table.add_row("(rows suppressed)", "", *suppressed)
        yield table


def _loss(found: Found, name: str) -> str:
    return f"{(found.loss_per_attribute or {})[name]:.3f}"


_ABREAST = 5  # nodes


def _optimum(compared: Comparison) -> str:
    if compared.proven_score is None:
        bound = f"; it is not below {figure(compared.lower_bound)}" if compared.lower_bound else ""
        return f"No search proved the optimum{bound}."
    said = f"The optimum is {figure(compared.proven_score)}."
    if not compared.minimal_nodes:
        return said
    known = "all" if compared.minimal_nodes_complete else "the known"
    return f"{said} Accuracy is KGen's, of the anonymous nodes checked to {known} {compared.minimal_nodes:,} k-minimal."


def picture(path: Path, summary: str) -> None:
    """Say what was drawn, and where it is."""
    out.print(escape(summary))
    out.print(f"Drawn in {escape(str(path))}")


def steps(found: Sequence[Step]) -> None:
    """Show the statements of a run, one after the other."""
    for number, step in enumerate(found, start=1):
        out.print(f"\n[bold]{number}. {step.name}[/bold] ({step.engine}): {escape(step.sentence)}")
        out.print(
            Syntax(f"{step.sql};", "sql", theme="ansi_dark", background_color="default", word_wrap=out.is_terminal)
        )
        out.print(f"[green]gave[/green] {escape(step.gave)}")
        out.print(escape(step.plan), style="dim")


def hierarchy(found: Hierarchy, name: str, rows: int) -> None:
    """Show a hierarchy: how many labels each level has, and the road of some values."""
    levels = range(found.height + 1)
    out.print(f"{escape(name)}: {found.leaf_count:,} values, height {found.height}")
    counts = Table("level", "labels", "largest label holds", box=None, pad_edge=False)
    for level in levels:
        counts.add_row(
            str(level), f"{len(found.distinct_labels(level)):,}", f"{max(found.leaves(level), default=0):,} values"
        )
    out.print(counts)
    step = max(1, found.leaf_count // rows)
    picked = range(0, found.leaf_count, step)
    out.print(
        _sample(
            [f"level {level}" for level in levels],
            [[found.labels(level)[i] for level in levels] for i in picked][:rows],
        )
    )


def profile(seen: Profile, source: str, database: str | None) -> None:
    """Show what a table's columns and small sets of them give away, and what to do about it."""
    out.print(f"{seen.rows:,} rows, {len(seen.columns)} columns")
    columns = Table("column", "type", "different", "unique rows", "suggested", box=None, pad_edge=False)
    for c in seen.columns:
        counts = ("", "") if c.distinct is None else (f"{c.distinct:,}", _share(c.unique_rows, c.unique_share))
        columns.add_row(escape(c.name), escape(c.type), *counts, c.suggestion)
    out.print(columns)
    out.print("\nWhy:")
    for c in seen.columns:
        if c.reason:
            out.print(f"  {escape(c.name)}: {escape(c.reason)}")
    if seen.suspects:
        out.print("\nA release does not keep these unless you say so with --keep:")
    for suspect in seen.suspects:
        out.print(f"  {escape(suspect.column)}: {escape(suspect.reason)}")
    sets = Table("together", "different", "unique rows", "in classes < 5", box=None, pad_edge=False)
    for found in seen.sets[:_SETS]:
        unique = _share(found.unique_rows, found.unique_share)
        small = _share(found.small_rows, found.small_share)
        sets.add_row(escape(", ".join(found.columns)), f"{found.combinations:,}", unique, small)
    if seen.sets:
        out.print(f"\nThe most identifying of {len(seen.sets):,} small sets:")
        out.print(sets)
    if seen.together:
        unique = _share(seen.together.unique_rows, seen.together.unique_share)
        out.print(f"\nOn all suggested quasi-identifiers together, {unique} of the rows are unique.")
    for note in seen.notes:
        err.print(f"[yellow]note:[/yellow] {escape(note)}")
    if seen.quasi_identifiers:
        out.print("\n[bold]Next[/bold]")
        out.print(f"  [cyan]{escape(_anonymize_command(seen, source, database))}[/cyan]", soft_wrap=True)


_SETS = 10


def _share(rows: int | None, share: float | None) -> str:
    return "" if rows is None or share is None else f"{rows:,} ({share:.1%})"


def _anonymize_command(seen: Profile, source: str, database: str | None) -> str:
    words = ["kanon", "anonymize", source]
    words += ["--database", "postgresql://…" if names_a_server(database) else database] if database else []
    words += ["--identifiers", _columns(seen.identifiers)] if seen.identifiers else []
    words += ["--quasi-identifiers", _columns(seen.quasi_identifiers), "--hierarchies", "FOLDER"]
    words += ["--sensitive", _columns(seen.sensitive)] if seen.sensitive else []
    suspected = {suspect.column for suspect in seen.suspects}
    kept = [name for name in seen.kept if name not in suspected]
    words += ["--keep", _columns(kept)] if seen.kept else []
    return shlex.join([*words, "--output", "release.parquet"])


def _columns(names: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
