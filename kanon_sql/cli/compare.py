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
from kanon_sql.cli.show import found_by, grid, out, watching
from kanon_sql.report.numbers import count, figure, models
from kanon_sql.spec import LocalStrategy, SearchStrategy, keys, limit_text
from kanon_sql.verbs.compare import compare as run
from kanon_sql.verbs.compared import Comparison, Proven, StrategyResult
from kanon_sql.verbs.options import CompareOptions

_Place = tuple[int | None, tuple[int, ...]]  # k and a node

STRATEGIES = Option(
    "strategies",
    f"Which of {', '.join((*get_args(SearchStrategy), *get_args(LocalStrategy)))} (default all searches but auto).",
    keys.SEARCH,
    read=o.names,
)

SIZES = replace(o.K, help=f"{o.K.help[:-1]}; several are compared: 3,5,10).", type=str, read=o.sizes)
EACH_TIME_LIMIT = replace(
    o.OPTIONS["time_limit"], help="Seconds for each strategy (default 60); counting the rows is not limited."
)


@takes(
    o.SOURCE,
    o.SPEC,
    *o.of(CompareOptions, "k", "keep", "time_limit"),
    SIZES,
    STRATEGIES,
    EACH_TIME_LIMIT,
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
    """Show what each strategy releases, then the searches side by side: what they found and took, and their nodes."""
    made = [each for each in compared.searches if each.refused is None]
    searched = [each for each in made if each.node]
    nodes = _lettered(searched)
    size = f"a lattice of {count(compared.lattice_size)} nodes over {compared.distinct_tuples:,} distinct tuples"
    asked = models((each["model"], each["required"]) for each in compared.privacy)
    limit = f"{limit_text(compared.suppression_limit)} suppressed at most"
    sizes = [each.k for each in compared.by_k[1:]]
    asked += f", then k = {', '.join(map(str, sizes))}" if sizes else ""
    out.print(f"{compared.rows:,} rows, {size}; {escape(asked)}, {limit}, metric {compared.metric}")
    searches = (_found_table, _effort_table) if searched else ()
    of_searches = [table(compared, searched, nodes) for table in searches]
    of_releases = (_releases_table(compared, made), _lost_table(compared, made))
    for table in (*of_releases, *of_searches, *_nodes_tables(compared, searched, nodes)):
        out.print()
        out.print(table)
    out.print()
    for name, (promise, found) in _promises(searched, made).items():
        out.print(f"{escape(name)} promises {escape(promise)}.{found}")
    for each in compared.searches:
        if each.refused is not None:
            out.print(
                f"[yellow]{escape(compared.name_of(each))} was left out:[/yellow] {escape(in_flags(each.refused))}"
            )
    for line in _optima(compared) if searched else ():
        out.print(line)


def _promises(searched: Sequence[StrategyResult], made: Sequence[StrategyResult]) -> dict[str, tuple[str, str]]:
    """What each strategy promises, and who found its nodes where it did not."""
    found = {each.strategy: "" for each in made}
    for each in searched:
        found[each.strategy] = found[each.strategy] or found_by(each.found_by, each.strategy)
    return {each.strategy: (each.promise, found[each.strategy]) for each in made}


def _lettered(searched: Sequence[StrategyResult]) -> dict[_Place, str]:
    """A letter, or two of them, for each different node of each k, in the order of the searches."""
    places = dict.fromkeys(map(_place, searched))
    return dict(zip(places, _letters(), strict=False))


def _letters() -> Iterator[str]:
    alphabet = [chr(ord("A") + i) for i in range(26)]
    yield from alphabet
    yield from (first + second for first in alphabet for second in alphabet)


def _place(search: StrategyResult) -> _Place:
    return search.k, tuple((search.node or {}).values())


def _releases_table(compared: Comparison, made: Sequence[StrategyResult]) -> Table:
    """What each strategy would release: what is lost, what is left out, how great the risk is, and what it took."""
    repeated = any(each.same_as for each in made)
    same = ("same as",) if repeated else ()
    table = _right(*_named(compared), "loss", "entropy", "LOS", "classes", "risk", "mean", "seconds", *same)
    for each in made:
        table.add_row(
            *_name(compared, each),
            *_scores(each, "loss", "entropy"),
            _maybe(each.los),
            _maybe(each.classes),
            *map(_maybe, (each.risk_highest, each.risk_mean)),
            f"{each.seconds:.2f}",
            *((_same(each),) if repeated else ()),
        )
    return table


def _lost_table(compared: Comparison, made: Sequence[StrategyResult]) -> Table:
    """What else is lost, of the columns and of the rows as wholes."""
    table = _right(*_named(compared), *_LOST)
    for each in made:
        table.add_row(*_name(compared, each), *_scores(each, *_LOST))
    return table


_LOST = ("granularity", "ncp", "ambiguity", "divergence")


def _named(compared: Comparison) -> tuple[str, ...]:
    return ("strategy", "k") if len(compared.by_k) > 1 else ("strategy",)


def _name(compared: Comparison, each: StrategyResult) -> tuple[str, ...]:
    """A strategy's name, and its k where there are several."""
    return (escape(each.strategy), str(each.k))[: len(_named(compared))]


def _scores(each: StrategyResult, *names: str) -> list[str]:
    return [_maybe((each.information_loss or {})[name]) for name in names]


def _same(each: StrategyResult) -> str:
    if each.same_as is None:
        return ""
    name, k = each.same_as
    return name if k == each.k else f"{name}, k {k}"


def _right(*headers: str) -> Table:
    """A table whose first column is a name and the others are figures, of which none may lose a digit."""
    return grid(*headers, right=headers[1:])


def _found_table(compared: Comparison, searched: Sequence[StrategyResult], nodes: dict[_Place, str]) -> Table:
    table = _right("strategy", "node", "score", "optimum", "bound", "gap", "ended")
    for each in searched:
        optimum = "proven" if each.proven_optimal else _yes(each.equals_best_proven)
        figures = map(_maybe, (each.score, optimum, each.lower_bound, each.gap))
        table.add_row(escape(compared.name_of(each)), nodes[_place(each)], *figures, each.ended)
    return table


def _yes(equals: bool | None) -> str:
    return {True: "equal", False: "no", None: "unknown"}[equals]


def _effort_table(compared: Comparison, searched: Sequence[StrategyResult], _: dict[_Place, str]) -> Table:
    table = _right("strategy", "checked", "tagged", "queries", "seconds", "LOG", "LOS", "accuracy")
    for each in searched:
        counts = (each.nodes_checked, each.nodes_tagged, each.queries)
        seconds = "" if each.seconds is None else f"{each.seconds:.2f}"
        shares = (each.log, each.los, each.accuracy)
        table.add_row(escape(compared.name_of(each)), *map(_maybe, counts), seconds, *map(_maybe, shares))
    return table


def _maybe(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return count(value) if isinstance(value, int) else figure(value)


def _nodes_tables(
    compared: Comparison, searched: Sequence[StrategyResult], nodes: dict[_Place, str]
) -> Iterator[Table]:
    """The level of each column in each node, what the column loses by it, and the rows suppressed."""
    by_node = {_place(each): each for each in searched}
    for start in range(0, len(nodes), _ABREAST):
        abreast = list(nodes)[start : start + _ABREAST]
        table = _right("quasi-identifier", "of", *(words for node in abreast for words in (nodes[node], "loss")))
        for i, (name, height) in enumerate(compared.heights.items()):
            cells = [words for node in abreast for words in (str(node[1][i]), _loss(by_node[node], name))]
            table.add_row(escape(name), str(height), *cells)
        suppressed = [words for node in abreast for words in (_maybe(by_node[node].suppressed_rows), "")]
        table.add_row("(rows suppressed)", "", *suppressed)
        yield table


def _loss(search: StrategyResult, name: str) -> str:
    return f"{(search.loss_per_attribute or {})[name]:.3f}"


_ABREAST = 5  # nodes


def _optima(compared: Comparison) -> Iterator[str]:
    """What the searches proved, k by k."""
    for each in compared.by_k:
        yield (f"k {each.k}: " if len(compared.by_k) > 1 else "") + _optimum(each)


def _optimum(proven: Proven) -> str:
    if proven.proven_score is None:
        bound = f"; it is not below {figure(proven.lower_bound)}" if proven.lower_bound else ""
        return f"No search proved the optimum{bound}."
    said = f"The optimum is {figure(proven.proven_score)}."
    if not proven.minimal_nodes:
        return said
    known = "all" if proven.minimal_nodes_complete else "the known"
    return f"{said} Accuracy is KGen's, of the anonymous nodes checked to {known} {proven.minimal_nodes:,} k-minimal."
