"""Local recodings side by side: quality and seconds on Adult, and priorities; `all.py` has how they grow with rows.

Run with KANON_DATA set and nothing else running: `python benchmarks/recoding.py [PART …]`, where a part is adult,
refine or priorities. The figures go to `benchmarks/results/recoding.json`, where a part that is run again
replaces only its own; `python benchmarks/recoding_pages.py` makes the tables and plots of docs/ from them.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from measure import ADULT_COLUMNS, Row, adult, record

import kanon_sql

RESULTS = Path(__file__).parent / "results" / "recoding.json"
REFINE_SECONDS = (0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 30.0, 60.0)
STRATEGIES = ("auto", "mondrian", "mondrian_relaxed", "kaca", "prioprivacy", "refine")
# PrioPrivacy's experiments: the columns of each priority, 1 first, in the order of its file.
PRIO_COLUMNS = (
    "sex", "salary-class", "race", "workclass", "marital-status", "occupation", "education", "native-country", "age",
)  # fmt: skip
ONE = ((0, 1), (2,), (3, 4), (5,), (6,), (7,), (8,))
EXPERIMENTS = {
    1: ONE,
    2: ONE[::-1],
    3: tuple((column,) for column in (8, 0, 7, 1, 6, 2, 5, 3, 4)),
    4: tuple((column,) for column in (0, 8, 1, 7, 2, 6, 3, 5, 4)),
}


def main() -> None:
    """Run the parts that are named, or all of them."""
    record(RESULTS, {"adult": strategies, "refine": curve, "priorities": priorities})


def recoded(strategy: str, k: int = 5, **more: Any) -> Row:
    """One release of Adult, nine quasi-identifiers, kept in memory."""
    spec = {"quasi_identifiers": list(ADULT_COLUMNS), "hierarchies": str(adult() / "hierarchies"), **more}
    manifest = kanon_sql.anonymize(str(adult() / "adult.csv"), spec, strategy=strategy, k=k).manifest
    return {
        "strategy": strategy,
        "k": k,
        "loss": manifest["information_loss"]["loss"],
        "distortion": manifest["information_loss"]["distortion"],
        "modification_rate": manifest["information_loss"]["modification_rate"],
        "classes": manifest["classes"],
        "smallest": manifest["smallest_class"],
        "suppressed": manifest["suppressed_rows"],
        "algorithm": manifest["seconds"]["search"],
        "total": manifest["seconds"]["total"],
        "ended": manifest["search_ended"],
        "recoding": manifest["recoding"],
    }


def strategies() -> Iterator[Row]:
    """Every local recoding, and the full-domain optimum."""
    recoded("mondrian")  # whatever is loaded or compiled once
    for k in (5, 2, 10):
        for strategy in STRATEGIES:
            show = {"show": "exact-ranges"} if strategy.startswith("mondrian") else {}  # as others' tools do
            yield recoded(strategy, k, suppression_limit=0.0, **show)
    yield recoded("auto", 5, suppression_limit=0.02)


def curve() -> Iterator[Row]:
    """What refine reaches in so many seconds."""
    for show in ("common", "exact-ranges"):
        for seconds in REFINE_SECONDS:
            yield recoded("refine", time_limit=seconds, show=show) | {"limit": seconds, "show": show}


def priorities() -> Iterator[Row]:
    """PrioPrivacy's four experiments, as published and in the strict form."""
    data = adult().parent / "prioprivacy"
    with tempfile.TemporaryDirectory() as name:
        hyphenated(data / "adult_9.csv", Path(name))
        yield from experiments(data, Path(name))


def hyphenated(table: Path, folder: Path) -> None:
    """ARX's hierarchies with the rule files' spelling (hyphens for blanks), of the values that occur: the domains."""
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    for name in PRIO_COLUMNS:
        occurring = {row[name] for row in rows}
        lines = (adult() / "hierarchies" / f"{name}.csv").read_text(encoding="utf-8").replace(" ", "-").splitlines()
        kept = [line for line in lines if line.split(";")[0] in occurring]
        (folder / f"{name}.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")


def experiments(data: Path, hierarchies: Path) -> Iterator[Row]:
    """Every experiment, k, and form."""
    for number, groups in EXPERIMENTS.items():
        of = {PRIO_COLUMNS[column]: place for place, group in enumerate(groups, 1) for column in group}
        for k in (2, 5, 10):
            for wildcard in (True, False):
                spec = {
                    "quasi_identifiers": {
                        name: {"priority": of[name], "hierarchy": str(hierarchies / f"{name}.csv")}
                        for name in PRIO_COLUMNS
                    },
                    "rules": str(data / "rules"),
                    "suppression_order": "published",
                    "wildcard_suppression": wildcard,
                }
                manifest = kanon_sql.anonymize(str(data / "adult_9.csv"), spec, strategy="prioprivacy", k=k).manifest
                yield {
                    "experiment": number,
                    "k": k,
                    "wildcard": wildcard,
                    "seconds": manifest["seconds"]["search"],
                    "loss": fmean(manifest["loss_per_attribute"].values()),  # without the weights of the priorities
                    "recoding": manifest["recoding"],
                }


if __name__ == "__main__":
    main()
