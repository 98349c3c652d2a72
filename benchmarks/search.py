"""The searches side by side: Adult, Cargo 2000, KGen's own lattice, and tables with identical hierarchies.

Run with KANON_DATA set and nothing else running: `python benchmarks/search.py [adult|c2k|kgen|genetic|igh|local …]`.
Every search is run by `kanon_sql.compare`; the figures go to `benchmarks/results/search.json`, where a part that is run
again replaces only its own; `python benchmarks/search_pages.py` makes the tables and plots of docs/ from them.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pandas
from measure import ADULT_COLUMNS, adult, record

import kanon_sql

RESULTS = Path(__file__).parent / "results" / "search.json"
IGH = ("depth_first", "flash", "optimal_igh", "extended_igh", "certified", "best_first")
ADULT_CASES = ((2, 0.0), (2, 0.02), (5, 0.0), (5, 0.02), (5, 0.05), (5, 1.0), (10, 0.02), (100, 0.02))


def main() -> None:
    """Run the parts that are named, or all of them."""
    record(
        RESULTS,
        {
            "adult": adult_searches,
            "c2k": c2k,
            "kgen": kgen_lattice,
            "genetic": genetic,
            "igh": identical,
            "local": local,
        },
    )


def searched(source: Any, strategies: tuple[str, ...], say: dict[str, Any], **options: Any) -> Iterator[dict[str, Any]]:
    """One row per strategy: the case, and the result of the search."""
    comparison = kanon_sql.compare(source, strategies=strategies, **options)
    for search in comparison.searches:
        yield say | {
            "nodes": comparison.lattice_size,
            "strategy": search.strategy,
            "score": search.score,
            "bound": search.lower_bound,
            "proven": search.proven_optimal,
            "checked": search.nodes_checked,
            "queries": search.queries,
            "seconds": search.seconds and round(search.seconds, 2),
            "ended": search.ended,
            "found_by": search.found_by,
            "refused": search.refused,
        }


def adult_searches() -> Iterator[dict[str, Any]]:
    """ARX's rows: nine quasi-identifiers, its Loss."""
    for k, limit in ADULT_CASES:
        yield from searched(
            adult() / "adult.csv",
            ("auto", "certified", "ola", "flash"),
            {"k": k, "limit": limit},
            quasi_identifiers=list(ADULT_COLUMNS),
            hierarchies=str(adult() / "hierarchies"),
            metric="loss_geometric",
            k=k,
            suppression_limit=limit,
            time_limit=300.0,
        )


def cargo(columns: int, own: bool) -> dict[str, Any]:
    """The first columns of Cargo 2000, with KGen's `own` hierarchies or ours: k = 2, at most 19 rows suppressed."""
    folder = adult().parent / "c2k"
    table = folder / "kgen" / "c2k_first25.csv" if own else folder / "c2k.csv"
    with table.open() as file:
        names = [name for name in next(csv.reader(file)) if name != "nr"][:columns]
    return {
        "source": table,
        "quasi_identifiers": names,
        "hierarchies": str((folder / "kgen" if own else folder) / "hierarchies"),
        "k": 2,
        "suppression_limit": 0.005,
        "metric": "precision",
    }


def c2k() -> Iterator[dict[str, Any]]:
    """The proven optimum of lattices from 10^5 to 10^19 nodes."""
    for columns in (7, 10, 15, 20, 25):
        case = cargo(columns, own=False)
        yield from searched(case.pop("source"), ("certified",), {"columns": columns}, **case, time_limit=600.0)


def kgen_lattice() -> Iterator[dict[str, Any]]:
    """The same on the hierarchies that KGen builds."""
    for columns in (5, 6, 7, 10, 15, 20, 25):
        case = cargo(columns, own=True)
        yield from searched(case.pop("source"), ("certified",), {"columns": columns}, **case, time_limit=600.0)


def genetic() -> Iterator[dict[str, Any]]:
    """Searches that draw: the paper's 5,000 evaluations, and the 19,000 that its program makes."""
    for own, columns, evaluations, seeds in (
        *((True, columns, 5_000, 3) for columns in (7, 10, 15, 20, 25)),
        *((False, columns, 5_000, 1) for columns in (7, 10, 15, 20, 25)),
        *((True, columns, 19_000, 1) for columns in (15, 25)),
    ):
        for seed in range(seeds):
            names = ("random", "kgen", "memetic") if seed == 0 and evaluations == 5_000 else ("kgen", "memetic")
            case = cargo(columns, own) | {"evaluations": evaluations, "seed": seed, "time_limit": 600.0}
            say = {"own": own, "columns": columns, "evaluations": evaluations, "seed": seed}
            yield from searched(case.pop("source"), names, say, **case)


def identical() -> Iterator[dict[str, Any]]:
    """Identical hierarchies of three levels, k = 5, nothing suppressed: 3^7 to 3^10 nodes."""
    options = {"k": 5, "suppression_limit": 0.0, "metric": "precision", "time_limit": 60.0}
    for columns in (7, 8, 9, 10):
        for name, table in (("Jester", jester(columns)), ("taxi", taxi(columns))):
            with tempfile.TemporaryDirectory() as folder:
                path = halves(Path(folder), table, *((-10, 10) if name == "Jester" else (0, 5)))
                spec = {"quasi_identifiers": {column: {"hierarchy": {"file": path}} for column in table.columns}}
                yield from searched(table, IGH, {"table": name, "columns": columns}, spec=spec, **options)


def local() -> Iterator[dict[str, Any]]:
    """Local search and the genetic search after equally many evaluations, where suppressed rows count and where not."""
    for name, case, evaluations, seeds in (
        ("Adult, 9 columns", arx("adult"), 273, 3),
        ("cup98, 8 columns", arx("cup98"), 150, 3),
        ("creditcard, 24 columns", arx("creditcard"), 4_834, 1),
        ("synthetic, 16 columns", distinct(), 1_500, 2),
        ("Cargo 2000, 25 columns", cargo(25, own=False), 7_000, 2),
    ):
        source = case.pop("source")
        for seed in range(seeds):
            budget = {"evaluations": evaluations, "seed": seed, "time_limit": 3600.0}
            say = {"table": name, "metric": case["metric"], "evaluations": evaluations, "seed": seed}
            yield from searched(source, ("local_search", "memetic"), say, **case, **budget)


def arx(name: str) -> dict[str, Any]:
    """A whole table as ARX's benchmarks have it, with their hierarchies: k = 5, 2 % suppressed at most, its Loss."""
    folder = adult().parent / name
    with (folder / f"{name}.csv").open() as file:
        columns = next(csv.reader(file, delimiter=";"))
    return {
        "source": folder / f"{name}.csv",
        "quasi_identifiers": columns,
        "hierarchies": str(folder / "hierarchies"),
        "k": 5,
        "suppression_limit": 0.02,
        "metric": "loss_geometric",
    }


def distinct(columns: int = 16, draws: int = 61_000) -> dict[str, Any]:
    """Synthetic answers on scales of 3 to 7 values, of people who agree with much or little: nearly all rows differ."""
    draw = numpy.random.default_rng(27)
    scales = numpy.array([3 + j % 5 for j in range(columns)])
    mood = draw.normal(0.5, 0.18, draws)[:, None]
    share = mood + draw.normal(0, 0.16, (draws, columns))
    answers = numpy.clip((share * scales).astype(int), 0, scales - 1)
    table = pandas.DataFrame(answers, columns=[f"answer_{j + 1}" for j in range(columns)]).drop_duplicates()
    recipes = {
        name: {"hierarchy": {"ranges": [2] if scale < 5 else [2, 4]}}
        for name, scale in zip(table.columns, scales, strict=True)
    }
    return {
        "source": table,
        "spec": {"quasi_identifiers": recipes},
        "k": 5,
        "suppression_limit": 0.1,
        "metric": "loss_geometric",
    }


def jester(columns: int) -> pandas.DataFrame:
    """Ratings of the jokes that most people rated, -10 to 10, rounded to whole numbers."""
    ratings = pandas.read_csv(adult().parent / "jester" / "Jester5k_wide.csv").drop(columns="user")
    rated = ratings.columns[ratings.notna().sum().argsort(kind="stable")[::-1][:columns]]
    return ratings[rated].dropna().round().astype(int)


def taxi(columns: int, rows: int = 5_000) -> pandas.DataFrame:
    """Synthetic scores from 0 to 5 as in the paper's tables: people give similar scores to everything."""
    draw = numpy.random.default_rng(2021)
    mood = draw.normal(3.2, 1.0, rows)[:, None]
    scores = numpy.clip(numpy.rint(mood + draw.normal(0, 0.8, (rows, columns))), 0, 5).astype(int)
    return pandas.DataFrame(scores, columns=[f"score_{j + 1}" for j in range(columns)])


def halves(folder: Path, table: pandas.DataFrame, low: int, high: int) -> str:
    """The one hierarchy of all columns as a file: the value, the half of the scale, the whole of it."""
    assert low <= table.min().min() <= table.max().max() <= high
    middle = (low + high + 1) // 2
    with (folder / "scale.csv").open("w", newline="") as file:
        for value in range(low, high + 1):
            half = f"{low}..{middle - 1}" if value < middle else f"{middle}..{high}"
            csv.writer(file).writerow([value, half, "*"])
    return file.name


if __name__ == "__main__":
    main()
