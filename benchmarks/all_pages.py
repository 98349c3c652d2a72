"""The tables and the plot of docs/benchmarks.md, from what `benchmarks/all.py` measured."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import BLUE, GREEN, GREY, ORANGE, Row, axes, fill, save, table

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
GROUP_AND_COPY, SORTED = "bare GROUP BY and copy", "bare copy, sorted"
LOOKS = {
    "auto, whole process": (BLUE, "o-"),
    "auto, its release": (BLUE, "o:"),
    GROUP_AND_COPY: (GREY, "^-"),
    "mondrian, whole process": (ORANGE, "s-"),
    "mondrian, its release": (ORANGE, "s:"),
    SORTED: (GREEN, "v:"),
}
SECONDS = ("frequency_set", "search", "release", "verify", "total")


def main() -> None:
    """Fill the page from the results that are kept, and draw its plot."""
    write(json.loads((HERE / "results" / "all.json").read_text()))


def write(results: Row) -> str:
    """Fill the page, draw the plot, and say so."""
    fill(PAGE, sections(results))
    plot(results["sizes"])
    return f"{PAGE.name} and its plot are written"


def text(results: Row) -> str:
    """All tables one after the other, to be read in a terminal."""
    return "\n".join(line for name, lines in sections(results).items() for line in (f"\n{name}\n", *lines))


def sections(results: Row) -> dict[str, list[str]]:
    """The lines of every table by its mark; only parts that were measured."""
    made = {
        "limits": ("sizes", limits),
        "parts": ("sizes", parts),
        "verbs": ("verbs", verbs),
        "nodes": ("nodes", nodes),
        "strategies": ("strategies", strategies),
        "hard": ("hard", hard),
        "widths": ("widths", widths),
        "recodings": ("recodings", recodings),
        "peers": ("peers", peers),
        "arx": ("arx", arx),
        "tables": ("tables", real),
    }
    filled = {name: make(results[part]) for name, (part, make) in made.items() if part in results}
    return {"about": about(results["about"], results["measured"]), **filled}


def about(run: Row, measured: Mapping[str, str]) -> list[str]:
    """The machine, in a sentence or two, and which parts were measured at another time."""
    this = f"{run['date']}, {run['commit']}"
    others = [f"{part} ({when})" for part, when in measured.items() if when != this]
    older = f" Measured before: {', '.join(others)}." if others else ""
    quick = " **A quick run on small tables: for a look only.**" if run["quick"] else ""
    return [
        f"Measured on {run['date']} at commit {run['commit']}: {run['cores']} cores ({run['processor']}), "
        f"{run['memory']} GB, {run['system']}, Python {run['python']}, DuckDB {run['duckdb']}. "
        f"When it began, {run['load']} processes were running.{older}{quick}"
    ]


def _failed(row: Row) -> str | None:
    """Why there is nothing to show."""
    reason = row.get("failed") or row.get("skipped")
    return None if reason is None else str(reason).replace("|", "/").replace("<", "(").replace(">", ")")[:160]


def seconds(value: float | None) -> str:
    """Seconds, shorter where they are many."""
    if value is None or value >= 10:
        return "" if value is None else f"{value:.0f} s"
    return f"{value:.2f} s" if value >= 0.1 else f"{1e3 * value:.0f} ms"


def share(value: float | None) -> str:
    """A loss or a score, without its leading zero."""
    if value is None:
        return ""
    return f"{value:.4f}".removeprefix("0") if value < 1 else f"{value:.3g}"


def count(value: float | None) -> str:
    """A number with its thousands apart, or as a power where it is large."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value < 1e9 else f"{value / 10 ** (power := int(math.log10(value))):.1f}·10^{power}"


def megabytes(value: float | None) -> str:
    """Memory or disk."""
    return "" if value is None else f"{value:,.0f} MB"


def _of_size(rows: Row) -> Iterator[tuple[int, Row, Row, Row]]:
    """For each size its limits, `auto` and Mondrian."""
    for size in sorted(int(name) for name in rows if name.isdigit()):
        yield size, *(rows.get(f"{size} {what}", {}) for what in ("limits", "auto", "mondrian"))


def limits(rows: Row) -> list[str]:
    """Bare statements, and ours as multiples of them."""
    head = [
        "rows",
        "distinct tuples",
        "read",
        "group",
        "copy",
        "copy sorted",
        "",
        "wall",
        "CPU",
        "peak memory",
        "spilled",
        "whole / (group + copy)",
        "release / copy",
    ]
    body = []
    for size, bare, *ours in _of_size(rows):
        first = [
            f"{size:,}",
            count(bare.get("tuples")),
            *(seconds(bare.get(name)) for name in ("read", "group", "copy", "sort")),
        ]
        for name, row in zip(("`auto`", "`mondrian`"), ours, strict=True):
            if row:
                body.append([*first, name, *(_process(row)), *_multiples(row, bare)])
    return table(head, body)


def _process(row: Row) -> list[str]:
    if why := _failed(row):
        return [why, "", "", ""]
    return [seconds(row["wall"]), seconds(row["cpu"]), megabytes(row["megabytes"]), megabytes(row["spilled"])]


def _multiples(row: Row, bare: Row) -> list[str]:
    if _failed(row) or "copy" not in bare:
        return ["", ""]
    return [
        f"**{row['wall'] / (bare['group'] + bare['copy']):.1f}**",
        f"**{row['seconds']['release'] / bare['copy']:.1f}**",
    ]


def parts(rows: Row) -> list[str]:
    """Where the time goes, by size, and how it grows."""
    body = []
    for which, place in (("auto", 2), ("mondrian", 3)):
        of = [(row[0], row[place]) for row in _of_size(rows) if row[place] and not _failed(row[place])]
        for size, row in of:
            taken = [seconds(row["seconds"].get(name)) for name in SECONDS]
            counts = [count(row["nodes_checked"]), count(row["queries"]), share(row["loss"])]
            body.append([f"`{which}`", f"{size:,}", *taken, *counts, megabytes(row["megabytes"])])
        if len(of) > 1:
            grown = [exponent([(size, row["seconds"].get(name)) for size, row in of]) for name in SECONDS]
            memory = exponent([(size, row["megabytes"]) for size, row in of])
            body.append([f"`{which}`", "grows as rows to the power of", *grown, "", "", "", memory])
    head = [
        "",
        "rows",
        "frequency set",
        "search",
        "release",
        "check",
        "total",
        "nodes checked",
        "queries",
        "loss",
        "memory",
    ]
    return table(head, body)


def exponent(points: Sequence[tuple[float, float | None]]) -> str:
    """The slope of the logarithms, by least squares: 1 for what grows as the rows do."""
    known = [(math.log(x), math.log(y)) for x, y in points if y]
    if len(known) < 2:
        return ""
    across, up = (sum(axis) / len(known) for axis in zip(*known, strict=True))
    wide = sum((x - across) ** 2 for x, _ in known)
    return f"{sum((x - across) * (y - up) for x, y in known) / wide:.2f}" if wide else ""


def verbs(rows: Row) -> list[str]:
    """Every verb by kind of table: CPU and memory at the largest size, multiples of a GROUP BY, and growth."""
    found: dict[tuple[str, str], dict[int, Row]] = {}
    for name, row in rows.items():
        kind, size, verb = name.split(" ", 2)
        found.setdefault((kind, verb), {})[int(size)] = row
    sizes = sorted({size for by_size in found.values() for size in by_size})
    lines = []
    for (kind, verb), by_size in found.items():
        bare = found[kind, "limits"]
        if verb == "limits":
            continue
        largest = max(by_size)
        row, group = by_size[largest], bare[largest].get("group_cpu")
        cpus = [seconds(by_size.get(size, {}).get("cpu")) for size in sizes]
        if reason := _failed(row):
            lines.append([kind, f"`{verb}`", *cpus, reason, "", ""])
            continue
        multiple = f"**{row['cpu'] / group:.1f}**" if group else "–"
        growth = exponent([(size, by_size[size].get("cpu")) for size in sorted(by_size)[-2:]])
        lines.append([kind, f"`{verb}`", *cpus, multiple, growth, megabytes(row["megabytes"])])
    by_rows = [f"{size:,} rows" for size in sizes]
    return table(
        ["table", "verb", *by_rows, "multiple of a GROUP BY", "grows as rows to the power of", "memory"], lines
    )


def nodes(rows: Row) -> list[str]:
    """A node's verdict over the bare query."""
    body = [
        [
            row["table"],
            _failed(row) or count(row["tuples"]),
            *(f"{row[name]:.2f} ms" for name in ("bare", "verdict", "by_eight")),
            f"{row['verdict'] / row['bare']:.2f}",
            f"{row['by_eight'] / row['bare']:.2f}",
        ]
        if not _failed(row)
        else [row["table"], _failed(row), *[""] * 5]
        for row in rows.values()
    ]
    return table(["", "tuples", "bare query", "verdict", "by eight", "verdict / bare", "by eight / bare"], body)


def _searched(row: Row) -> list[str]:
    """The result of a search: what it found and proved, and its counts."""
    if why := _failed(row):
        return [why, *[""] * 7]
    proven = "proven" if row["proven_optimal"] else share(row["lower_bound"])
    counts = [count(row["nodes_checked"]), count(row["queries"])]
    return [
        share(row["score"]),
        proven,
        *counts,
        seconds(row["seconds"]["search"]),
        seconds(row["cpu"]),
        megabytes(row["megabytes"]),
        str(row["search_ended"] or ""),
    ]


_SEARCHED = ["score", "bound", "nodes checked", "queries", "search", "CPU", "memory", "ended"]


def _by_table(rows: Row) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each table, in order."""
    grouped: dict[str, list[Row]] = {}
    for row in rows.values():
        grouped.setdefault(row.get("table", "left out"), []).append(row)
    yield from grouped.items()


def strategies(rows: Row) -> list[str]:
    """Every strategy, table by table."""
    lines: list[str] = []
    for name, of in _by_table(rows):
        size = next((f", {count(row['lattice_size'])} nodes" for row in of if row.get("lattice_size")), "")
        lines += ["", f"**{name}**{size}, {of[0]['time_limit']:g} s each", ""]
        lines += table(["strategy", *_SEARCHED], [[f"`{row['strategy']}`", *_searched(row)] for row in of])
    return [*lines, ""]


def hard(rows: Row) -> list[str]:
    """What `auto` has by the clock, and how near that is to what it proves."""
    moments = next((list(row["best_after"]) for row in rows.values() if "best_after" in row), [])
    body = [
        [row["table"], _failed(row), *[""] * (len(moments) + 3)]
        if _failed(row)
        else [
            row["table"],
            *(share(row["best_after"][at]) for at in moments),
            share(row["score"]),
            share(row["lower_bound"]),
            f"{row['gap']:.1%}",
            count(row["nodes_checked"]),
        ]
        for row in rows.values()
    ]
    return table(["", *(f"after {at} s" for at in moments), "released", "bound", "gap", "nodes checked"], body)


def widths(rows: Row) -> list[str]:
    """By the number of quasi-identifiers."""
    body = [
        [
            row["table"],
            count(row.get("distinct_tuples")),
            f"`{row['strategy']}`",
            count(row.get("lattice_size")),
            *_searched(row),
        ]
        for row in rows.values()
    ]
    return table(["", "distinct tuples", "strategy", "lattice", *_SEARCHED], body)


def recodings(rows: Row) -> list[str]:
    """Local recodings, table by table."""
    lines: list[str] = []
    for name, of in _by_table(rows):
        lines += ["", f"**{name}**", ""]
        body = [
            [
                f"`{row['strategy']}`",
                _failed(row) or share(row.get("loss")),
                count(row.get("classes")),
                count(row.get("smallest_class")),
                seconds(row.get("seconds", {}).get("search")),
                seconds(row.get("wall")),
                seconds(row.get("cpu")),
                megabytes(row.get("megabytes")),
                row.get("search_ended") or "",
            ]
            for row in of
        ]
        head = ["strategy", "loss", "classes", "smallest", "recoding", "whole process", "CPU", "memory", "ended"]
        lines += table(head, body)
    return [*lines, ""]


def peers(rows: Row) -> list[str]:
    """Ours and theirs by the same rules."""
    body = []
    for name, row in rows.items():
        title = f"`{name}`" + (f": {row['does']}" if "does" in row else "")
        if why := _failed(row):
            body.append([title, why, *[""] * 9])
            continue
        body.append(
            [
                title,
                str(row["columns"]),
                seconds(row["wall"]),
                seconds(row["cpu"]),
                megabytes(row["megabytes"]),
                share(row["loss"]),
                share(row["marginals"]),
                share(row["counts"]),
                count(row["classes"]),
                count(row["smallest"]),
                count(row["suppressed"]),
            ]
        )
    head = ["", "columns", "wall", "CPU", "memory", "loss", "marginals", "counts", "classes", "smallest", "suppressed"]
    return table(head, body)


def arx(rows: Row) -> list[str]:
    """Nodes checked to prove the optimum."""
    head = [
        "k",
        "limit",
        "ARX 3.9.2, published: score",
        "checks",
        "`auto`: score",
        "proven",
        "checks",
        "queries",
        "search",
        "whole process",
        "CPU",
        "memory",
    ]
    body: list[list[Any]] = []
    for row in rows.values():
        first = [row["k"], row["limit"], f"{row['arx_score']:.5f}".lstrip("0"), count(row["arx_checks"])]
        if why := _failed(row):
            body.append([*first, why, *[""] * 7])
        else:
            body.append(
                [
                    *first,
                    f"{row['score']:.5f}".lstrip("0"),
                    "yes" if row["proven_optimal"] else "no",
                    count(row["nodes_checked"]),
                    count(row["queries"]),
                    seconds(row["seconds"]["search"]),
                    *_process(row)[:3],
                ]
            )
    return table(head, body)


def real(rows: Row) -> list[str]:
    """Tables that are not in the repository."""
    body = []
    for name, row in rows.items():
        first = [
            row.get("table", name),
            count(row.get("rows")),
            count(row.get("distinct_tuples")),
            count(row.get("lattice_size")),
        ]
        body.append([*first, f"`{row.get('strategy', name.split()[1])}`", *_searched(row), share(row.get("loss"))])
    return table(["", "rows", "distinct tuples", "lattice", "strategy", *_SEARCHED, "loss"], body)


def _short(rows: int) -> str:
    """30 k or 20 M: whole numbers of neighbouring sizes would run into each other."""
    return f"{rows / 1e6:g} M" if rows >= 1e6 else f"{rows / 1e3:g} k"


def plot(rows: Mapping[str, Row]) -> None:
    """Seconds against rows, both logarithmic."""
    figure, drawn = axes("rows", "seconds")
    lines: dict[str, list[tuple[int, float]]] = {}
    for size, bare, *ours in _of_size(dict(rows)):
        known = (
            {} if not bare or _failed(bare) else {GROUP_AND_COPY: bare["group"] + bare["copy"], SORTED: bare["sort"]}
        )
        for name, row in zip(("auto", "mondrian"), ours, strict=True):
            if row and not _failed(row):
                known |= {f"{name}, whole process": row["wall"], f"{name}, its release": row["seconds"]["release"]}
        for name, value in known.items():
            lines.setdefault(name, []).append((size, value))
    for name, points in sorted(lines.items()):
        colour, line = LOOKS[name]
        drawn.plot(*zip(*points, strict=True), line, color=colour, label=name)
    drawn.set_xscale("log")
    drawn.set_yscale("log")
    drawn.minorticks_off()
    sizes = sorted({size for points in lines.values() for size, _ in points})
    drawn.set_xticks(sizes, labels=[_short(size) for size in sizes])
    drawn.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    drawn.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, "benchmark", "Seconds against rows: releases and the limits of the machine")


if __name__ == "__main__":
    main()
