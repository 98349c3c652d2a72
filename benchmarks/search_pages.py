"""The tables and plots of docs/search-benchmarks.md, from what `benchmarks/search.py` measured.

Needs matplotlib. Run `python benchmarks/search_pages.py`; the text between the page's marks is replaced.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pages import BLUE, GREEN, GREY, ORANGE, Row, axes, fill, save, table

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "search-benchmarks.md"

ARX = {
    (2, 0.0): 218, (2, 0.02): 1045, (5, 0.0): 182, (5, 0.02): 1246,
    (5, 0.05): 1218, (5, 1.0): 4750, (10, 0.02): 1166, (100, 0.02): 521,
}  # fmt: skip
# KGen's own program (Java), as published in its repository and run on the same files: score by columns.
PUBLISHED = {7: 0.835714, 10: 0.865, 15: 0.9156}


def main() -> None:
    """Fill the page and draw its plots."""
    results = json.loads((HERE / "results" / "search.json").read_text())
    parts = {
        "adult": adult(results["adult"]),
        "c2k": proofs(results["c2k"]),
        "kgen": proofs(results["kgen"]),
        "genetic": genetic(results["genetic"], results["kgen"], results["c2k"]),
        "igh": identical(results["igh"]),
        "local": local(results["local"]),
    }
    fill(PAGE, parts)
    plot_proofs(results)
    plot_genetic(results)


def score(row: Row | None) -> str:
    """A score without leading and trailing zeros; empty where there is none."""
    return "" if row is None or row["score"] is None else f"{row['score']:.6f}".lstrip("0").rstrip("0").rstrip(".")


def power(number: float) -> str:
    """A large number as a power of ten.

    >>> power(134_369_280)
    '1.3·10^8'
    """
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa}·10^{int(exponent)}"


def adult(rows: list[Row]) -> list[str]:
    """Nodes that every search checks, those of ARX, and the seconds of the default."""
    by_case = {(row["k"], row["limit"], row["strategy"]): row for row in rows}
    names = ("auto", "certified", "ola", "flash")
    head = ["k", "limit", "score", "ARX", *(f"`{name}`" for name in names), "`auto`, seconds"]
    body = []
    for (k, limit), checks in ARX.items():
        case = [by_case[k, limit, name] for name in names]
        cells = [f"{row['checked']:,}" + ("" if row["proven"] else " (not proven)") for row in case]
        body.append([k, f"{limit:g}", f"{case[0]['score']:.5f}".lstrip("0"), f"{checks:,}", *cells, case[0]["seconds"]])
    return table(head, body)


def proofs(rows: list[Row]) -> list[str]:
    """The certified search by the number of columns."""
    head = ["columns", "nodes", "optimum", "proven", "checked", "queries", "seconds"]
    body = [
        [
            row["columns"], power(row["nodes"]), score(row), "yes" if row["proven"] else f"bound {row['bound']:.4f}",
            f"{row['checked']:,}", f"{row['queries']:,}", f"{row['seconds']:.1f}",
        ]
        for row in rows
    ]  # fmt: skip
    return table(head, body)


def genetic(rows: list[Row], own: list[Row], ours: list[Row]) -> list[str]:
    """Scores of the searches that draw at random, by lattice, columns, evaluations and seed, and the optimum."""
    optimum = {(True, row["columns"]): row for row in own} | {(False, row["columns"]): row for row in ours}
    cases: dict[tuple[bool, int, int], dict[str, list[Row]]] = {}
    for row in rows:
        case = cases.setdefault((row["own"], row["columns"], row["evaluations"]), {})
        case.setdefault(row["strategy"], []).append(row)
    body = []
    for (is_own, columns, evaluations), by in cases.items():
        cells = [" ".join(score(row) for row in by.get(name, [])) for name in ("random", "kgen", "memetic")]
        took = [f"{row['seconds']:.0f}" for row in by["memetic"]]
        best = optimum[is_own, columns]
        lattice = "KGen's" if is_own else "ours"
        body.append([lattice, columns, f"{evaluations:,}", score(best), *cells, f"{' '.join(took)}"])
    head = ["hierarchies", "columns", "evaluations", "proven optimum"]
    return table([*head, "`random`", "`kgen`, by seed", "`memetic`, by seed", "`memetic`, seconds"], body)


def local(rows: list[Row]) -> list[str]:
    """Scores of local search and of the genetic search after as many evaluations, by seed."""
    cases: dict[tuple[str, str, float, int], dict[str, list[Row]]] = {}
    for row in rows:
        case = cases.setdefault((row["table"], row["metric"], row["nodes"], row["evaluations"]), {})
        case.setdefault(row["strategy"], []).append(row)
    body = [
        [name, f"`{metric}`", power(nodes), f"{evaluations:,}"]
        + [" ".join(score(row) for row in by[strategy]) for strategy in ("local_search", "memetic")]
        for (name, metric, nodes, evaluations), by in cases.items()
    ]
    return table(["table", "metric", "nodes", "evaluations", "`local_search`, by seed", "`memetic`, by seed"], body)


def identical(rows: list[Row]) -> list[str]:
    """Nodes checked where all hierarchies are the same."""
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    cases: dict[tuple[str, int, int], dict[str, Row]] = {}
    for row in rows:
        cases.setdefault((row["table"], row["columns"], row["nodes"]), {})[row["strategy"]] = row
    body = []
    for (name, columns, nodes), by in sorted(cases.items()):
        fewer = 1 - by["extended_igh"]["checked"] / by["optimal_igh"]["checked"]
        body.append([name, columns, f"{nodes:,}", *(f"{by[s]['checked']:,}" for s in names), f"{fewer:.1%}"])
    return table(["table", "columns", "nodes", *(f"`{s}`" for s in names), "`extended_igh` fewer"], body)


def plot_proofs(results: dict[str, list[Row]]) -> None:
    """Nodes checked until the optimum is proven, and the size of the lattice, by columns."""
    figure, drawn = _axes("columns", "nodes (logarithmic)")
    for name, colour, label in (("c2k", BLUE, "our hierarchies"), ("kgen", ORANGE, "KGen's hierarchies")):
        columns = [row["columns"] for row in results[name]]
        drawn.plot(columns, [row["nodes"] for row in results[name]], ":", color=colour, label=f"{label}: lattice")
        drawn.plot(columns, [row["checked"] for row in results[name]], "o-", color=colour, label=f"{label}: checked")
    drawn.set_yscale("log")
    drawn.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, "proof", "Nodes of the lattice and nodes checked until the optimum is proven")


def plot_genetic(results: dict[str, list[Row]]) -> None:
    """How far above the proven optimum each search ends, on KGen's lattice after 5,000 evaluations."""
    optimum = {row["columns"]: row["score"] for row in results["kgen"]}
    figure, drawn = _axes("columns", "score, less the proven optimum")
    for name, colour, marker in (("random", GREY, "s"), ("kgen", ORANGE, "^"), ("memetic", BLUE, "o")):
        rows = [r for r in results["genetic"] if r["own"] and r["strategy"] == name and r["evaluations"] == 5_000]
        above = [row["score"] - optimum[row["columns"]] for row in rows]
        drawn.plot([row["columns"] for row in rows], above, marker, color=colour, label=name, alpha=0.8)
    above = [published - optimum[columns] for columns, published in PUBLISHED.items()]
    drawn.plot(list(PUBLISHED), above, "x", color=GREEN, label="KGen's own program")
    drawn.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, "genetic", "Scores after 5,000 evaluations, less the proven optimum, by columns")


def _axes(x: str, y: str) -> tuple[Any, Any]:
    figure, drawn = axes(x, y)
    drawn.set_xticks([5, 7, 10, 15, 20, 25])
    return figure, drawn


if __name__ == "__main__":
    main()
