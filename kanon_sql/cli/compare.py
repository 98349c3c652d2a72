"""`kanon compare`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.output import found_by, grid, out, show_result, watching
from kanon_sql.report.numbers import count, figure, models
from kanon_sql.spec import LocalStrategy, SearchStrategy, keys, limit_text
from kanon_sql.verbs.compare import compare as run
from kanon_sql.verbs.comparison import Comparison, Proven, StrategyResult
from kanon_sql.verbs.options import CompareOptions

_NODES_PER_TABLE = 5
_MORE_MEASURES = ("granularity", "ncp", "ambiguity", "divergence")

_Place = tuple[int | None, tuple[int, ...]]  # k, and the level of every quasi-identifier

STRATEGIES = Option(
    "strategies",
    f"The strategies to compare: any of {', '.join((*get_args(SearchStrategy), *get_args(LocalStrategy)))} (default: "
    f"all "
    f"searches except auto).",
    keys.SEARCH,
    read=o.names,
)

SIZES = replace(o.K, help=f"{o.K.help} Several values, such as 3,5,10, are compared.", type=str, read=o.sizes)
STRATEGY_TIME_LIMIT = replace(
    o.OPTIONS["time_limit"], help="Seconds per strategy, without the time for counting rows (default 60)."
)


@takes(
    o.SOURCE,
    o.SPEC,
    *o.of(CompareOptions, "k", "keep", "time_limit"),
    SIZES,
    STRATEGIES,
    STRATEGY_TIME_LIMIT,
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
    with watching("Ctrl-C skips to the next") as watch:
        compared = run(source, spec, strategies=strategies, observer=watch, search_in=search_in, **overrides)
    show_result(compared, as_json, _show)


def _show(compared: Comparison) -> None:
    """Print what each strategy would release, then what the searches found, what they took, and their nodes."""
    completed = [result for result in compared.searches if result.refused is None]
    searches = [result for result in completed if result.node]
    # A label (A … Z, AA, AB …) for every distinct pair of k and node, in the order of the searches.
    alphabet = [chr(ord("A") + i) for i in range(26)]
    labels = [*alphabet, *(first + second for first in alphabet for second in alphabet)]
    letters = dict(zip(dict.fromkeys(map(_place, searches)), labels, strict=False))
    out.print(escape(_summary(compared)))
    out.print("In the first two tables lower is better, except for classes.")
    tables = [_releases_table(compared, completed), _losses_table(compared, completed)]
    if searches:
        tables += [_found_table(compared, searches, letters), _effort_table(compared, searches)]
    tables += _nodes_tables(compared, searches, letters)
    for table in tables:
        out.print()
        out.print(table)
    out.print()
    _print_promises(completed)
    for result in compared.searches:
        if result.refused is not None:
            name = compared.name_of(result)
            reason = in_flags(result.refused)
            out.print(f"[yellow]{escape(name)} was left out:[/yellow] {escape(reason)}")
    for proven in compared.by_k if searches else ():
        prefix = f"k {proven.k}: " if len(compared.by_k) > 1 else ""
        out.print(f"{prefix}{_optimum(proven)}")


def _summary(compared: Comparison) -> str:
    size = f"a lattice of {count(compared.lattice_size)} nodes over {compared.distinct_tuples:,} distinct tuples"
    privacy = models((model["model"], model["required"]) for model in compared.privacy)
    if len(compared.by_k) > 1:
        privacy += f", then k = {', '.join(str(proven.k) for proven in compared.by_k[1:])}"
    limit = f"at most {limit_text(compared.suppression_limit)} suppressed"
    return f"{compared.rows:,} rows, {size}; {privacy}, {limit}, metric {compared.metric}"


def _print_promises(completed: Sequence[StrategyResult]) -> None:
    """Print what each strategy promises, and where its node comes from if it did not find the node itself."""
    promises: dict[str, str] = {}
    notes: dict[str, str] = {}
    for result in completed:
        name = result.strategy
        promises[name] = result.promise
        if result.node and not notes.get(name):
            notes[name] = found_by(result.found_by, name)
    for name, promise in promises.items():
        out.print(f"{escape(name)} promises {escape(promise)}.{notes.get(name, '')}")


def _place(search: StrategyResult) -> _Place:
    return search.k, tuple((search.node or {}).values())


def _releases_table(compared: Comparison, completed: Sequence[StrategyResult]) -> Table:
    """What each strategy would release: its loss, the suppressed rows, the risk and the time it took."""
    repeated = any(result.same_as for result in completed)
    headers = [*_name_headers(compared), "loss", "entropy", "LOS", "classes", "risk", "mean", "seconds"]
    table = _figures_table(*headers, *(["same as"] if repeated else []))
    for result in completed:
        cells = [
            *_name_cells(compared, result),
            *_losses(result, "loss", "entropy"),
            _cell(result.los),
            _cell(result.classes),
            _cell(result.risk_highest),
            _cell(result.risk_mean),
            f"{result.seconds:.2f}",
        ]
        same = ""
        if result.same_as:
            name, k = result.same_as
            same = name if k == result.k else f"{name}, k {k}"
        table.add_row(*cells, *([same] if repeated else []))
    return table


def _losses_table(compared: Comparison, completed: Sequence[StrategyResult]) -> Table:
    """The other loss measures, of columns and of whole rows."""
    table = _figures_table(*_name_headers(compared), *_MORE_MEASURES)
    for result in completed:
        table.add_row(*_name_cells(compared, result), *_losses(result, *_MORE_MEASURES))
    return table


def _name_headers(compared: Comparison) -> list[str]:
    return ["strategy", "k"] if len(compared.by_k) > 1 else ["strategy"]


def _name_cells(compared: Comparison, result: StrategyResult) -> list[str]:
    name = escape(result.strategy)
    return [name, str(result.k)] if len(compared.by_k) > 1 else [name]


def _losses(result: StrategyResult, *measures: str) -> list[str]:
    return [_cell((result.information_loss or {})[measure]) for measure in measures]


def _figures_table(*headers: str) -> Table:
    """A table with names in its first column and figures, aligned right, in the others."""
    return grid(*headers, right=headers[1:])


def _found_table(compared: Comparison, searches: Sequence[StrategyResult], letters: dict[_Place, str]) -> Table:
    equal = {True: "equal", False: "no", None: "unknown"}
    table = _figures_table("strategy", "node", "score", "optimum", "bound", "gap", "ended")
    for search in searches:
        table.add_row(
            escape(compared.name_of(search)),
            letters[_place(search)],
            _cell(search.score),
            "proven" if search.proven_optimal else equal[search.equals_best_proven],
            _cell(search.lower_bound),
            _cell(search.gap),
            search.ended,
        )
    return table


def _effort_table(compared: Comparison, searches: Sequence[StrategyResult]) -> Table:
    table = _figures_table("strategy", "checked", "tagged", "queries", "seconds", "LOG", "LOS", "accuracy")
    for search in searches:
        table.add_row(
            escape(compared.name_of(search)),
            _cell(search.nodes_checked),
            _cell(search.nodes_tagged),
            _cell(search.queries),
            "" if search.seconds is None else f"{search.seconds:.2f}",
            _cell(search.log),
            _cell(search.los),
            _cell(search.accuracy),
        )
    return table


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return count(value) if isinstance(value, int) else figure(value)


def _nodes_tables(
    compared: Comparison, searches: Sequence[StrategyResult], letters: dict[_Place, str]
) -> Iterator[Table]:
    """The nodes, a few per table: every column's level and loss, and the number of suppressed rows."""
    by_place = {_place(search): search for search in searches}
    places = list(letters)
    for start in range(0, len(places), _NODES_PER_TABLE):
        shown = places[start : start + _NODES_PER_TABLE]
        headers = ["quasi-identifier", "of"]
        suppressed = ["(rows suppressed)", ""]
        for place in shown:
            headers += [letters[place], "loss"]
            suppressed += [_cell(by_place[place].suppressed_rows), ""]
        table = _figures_table(*headers)
        for i, (column, height) in enumerate(compared.heights.items()):
            cells = [escape(column), str(height)]
            for place in shown:
                loss = (by_place[place].loss_per_attribute or {})[column]
                cells += [str(place[1][i]), f"{loss:.3f}"]
            table.add_row(*cells)
        table.add_row(*suppressed)
        yield table


def _optimum(proven: Proven) -> str:
    if proven.proven_score is None:
        bound = f"; it is not below {figure(proven.lower_bound)}" if proven.lower_bound else ""
        return f"No search proved the optimum{bound}."
    optimum = f"The optimum is {figure(proven.proven_score)}."
    if not proven.minimal_nodes:
        return optimum
    minimal = f"{'all' if proven.minimal_nodes_complete else 'the known'} {proven.minimal_nodes:,} k-minimal nodes"
    return f"{optimum} Accuracy (KGen): how close the anonymous nodes checked come to {minimal}."
