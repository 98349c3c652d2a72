"""`kanon compare`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.show import found_by, out, watching
from kanon_sql.report.numbers import count, figure, models
from kanon_sql.spec import SearchStrategy
from kanon_sql.verbs.compare import Comparison, StrategyResult
from kanon_sql.verbs.compare import compare as run

STRATEGIES = Option(
    "strategies",
    f"Which of {', '.join(get_args(SearchStrategy))} (default all but auto).",
    o.METRIC.panel,
    read=o.names,
)
EACH_TIME_LIMIT = replace(o.TIME_LIMIT, help="Seconds for each search (default 60); counting the rows is not limited.")


@takes(
    o.SOURCE,
    o.DATABASE,
    o.SPEC,
    *o.ROLES,
    *o.MODEL,
    STRATEGIES,
    EACH_TIME_LIMIT,
    o.EVALUATIONS,
    o.SEED,
    o.SEARCH_IN,
    o.JSON,
)
def compare(
    source: str | None,
    spec: Path | None,
    strategies: list[str] | None,
    search_in: Any,
    as_json: bool | None,
    **overrides: Any,
) -> None:
    with watching("Ctrl-C goes on to the next") as watch:
        compared = run(source, spec, strategies=strategies, observer=watch, search_in=search_in, **overrides)
    if as_json:
        print(json.dumps(compared.to_dict(), indent=2))
    else:
        _show(compared)


def _show(compared: Comparison) -> None:
    """Show the searches side by side: what they found, what it took, the nodes, and what to know of them."""
    searched = [each for each in compared.searches if each.refused is None]
    nodes = _lettered(searched)
    size = f"a lattice of {count(compared.lattice_size)} nodes over {compared.distinct_tuples:,} distinct tuples"
    asked = models((each["model"], each["required"]) for each in compared.privacy)
    limit = f"{100 * compared.suppression_limit:.4g} % of the rows suppressed at most"
    out.print(f"{compared.rows:,} rows, {size}; {escape(asked)}, {limit}, metric {compared.metric}")
    for table in (_found_table(searched, nodes), _effort_table(searched), *_nodes_tables(compared, nodes)):
        out.print()
        out.print(table)
    out.print()
    for each in searched:
        out.print(f"{escape(each.strategy)} promises {escape(each.promise)}.{found_by(each.found_by, each.strategy)}")
    for each in compared.searches:
        if each.refused is not None:
            out.print(f"[yellow]{escape(each.strategy)} was left out:[/yellow] {escape(in_flags(each.refused))}")
    out.print(_optimum(compared))


def _lettered(searched: Sequence[StrategyResult]) -> dict[tuple[int, ...], str]:
    """A letter for each different node, in the order of the searches."""
    nodes = dict.fromkeys(tuple((each.node or {}).values()) for each in searched)
    return dict(zip(nodes, (chr(ord("A") + i) for i in range(len(nodes))), strict=True))


def _right(*headers: str) -> Table:
    """A table whose first column is a name and the others are figures, of which none may lose a digit."""
    table = Table(box=None, pad_edge=False)
    for number, header in enumerate(headers):
        table.add_column(header, justify="right" if number else "left", overflow="fold")
    return table


def _found_table(searched: Sequence[StrategyResult], nodes: dict[tuple[int, ...], str]) -> Table:
    table = _right("strategy", "node", "score", "optimum", "bound", "gap", "ended")
    for each in searched:
        optimum = "proven" if each.proven_optimal else _yes(each.equals_best_proven)
        figures = map(_maybe, (each.score, optimum, each.lower_bound, each.gap))
        table.add_row(escape(each.strategy), nodes[tuple((each.node or {}).values())], *figures, each.ended)
    return table


def _yes(equals: bool | None) -> str:
    return {True: "equal", False: "no", None: "unknown"}[equals]


def _effort_table(searched: Sequence[StrategyResult]) -> Table:
    table = _right("strategy", "checked", "tagged", "queries", "seconds", "LOG", "LOS", "accuracy")
    for each in searched:
        counts = (each.nodes_checked, each.nodes_tagged, each.queries)
        seconds = "" if each.seconds is None else f"{each.seconds:.2f}"
        shares = (each.log, each.los, each.accuracy)
        table.add_row(escape(each.strategy), *map(_maybe, counts), seconds, *map(_maybe, shares))
    return table


def _maybe(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return count(value) if isinstance(value, int) else figure(value)


def _nodes_tables(compared: Comparison, nodes: dict[tuple[int, ...], str]) -> Iterator[Table]:
    """The level of each column in each node, what the column loses by it, and the rows suppressed."""
    by_node = {tuple(each.node.values()): each for each in compared.searches if each.node}
    for start in range(0, len(nodes), _ABREAST):
        abreast = list(nodes)[start : start + _ABREAST]
        table = _right("quasi-identifier", "of", *(words for node in abreast for words in (nodes[node], "loss")))
        for i, (name, height) in enumerate(compared.heights.items()):
            cells = [words for node in abreast for words in (str(node[i]), _loss(by_node[node], name))]
            table.add_row(escape(name), str(height), *cells)
        suppressed = [words for node in abreast for words in (_maybe(by_node[node].suppressed_rows), "")]
        table.add_row("(rows suppressed)", "", *suppressed)
        yield table


def _loss(search: StrategyResult, name: str) -> str:
    return f"{(search.loss_per_attribute or {})[name]:.3f}"


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
