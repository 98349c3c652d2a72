"""The tables and plots of docs/recoding-benchmarks.md, from what `benchmarks/recoding.py` measured.

Needs matplotlib. Run `python benchmarks/recoding_pages.py`; the text between the page's marks is replaced.
"""

from __future__ import annotations

import json
from pathlib import Path

from pages import BLUE, GREEN, GREY, ORANGE, Row, axes, fill, save, table

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "recoding-benchmarks.md"
# What others reach on Adult with nine quasi-identifiers and k = 5: seconds, loss.
OTHERS = {"ARX, local, 10 steps": (1.3, 0.094), "ARX, local, 100 steps": (4.2, 0.068), "lighthouse": (33.7, 0.107)}


def main() -> None:
    """Fill the page and draw its plot."""
    results = json.loads((HERE / "results" / "recoding.json").read_text())
    parts = {
        "adult": adult(results["adult"]),
        "refine": refine(results["refine"]),
        "priorities": priorities(results["priorities"]),
    }
    fill(PAGE, parts)
    plot(results)


def number(value: float) -> str:
    """A share without its leading zero."""
    return f"{value:.4f}".lstrip("0")


def adult(rows: list[Row]) -> list[str]:
    """Every strategy, by k."""
    head = [
        "k",
        "strategy",
        "loss",
        "distortion",
        "modified",
        "classes",
        "smallest",
        "suppressed",
        "algorithm",
        "total",
    ]
    body = [
        [
            row["k"], f"`{row['strategy']}`", number(row["loss"]), number(row["distortion"]),
            f"{row['modification_rate']:.1%}", f"{row['classes']:,}", row["smallest"], row["suppressed"],
            f"{row['algorithm']:.2f} s", f"{row['total']:.2f} s",
        ]
        for row in rows
    ]  # fmt: skip
    return table(head, body)


def refine(rows: list[Row]) -> list[str]:
    """Loss by time limit."""
    body = [
        [
            f"`{row['show']}`", f"{row['limit']:g} s", f"{row['algorithm']:.2f} s", number(row["loss"]),
            number(1 - row["loss"]), f"{row['classes']:,}", row["ended"],
        ]
        for row in rows
    ]  # fmt: skip
    return table(["shown", "time limit", "taken", "loss", "granularity", "classes", "ended"], body)


def priorities(rows: list[Row]) -> list[str]:
    """The experiments in both forms."""
    body = [
        [row["experiment"], row["k"], "as published" if row["wildcard"] else "strict", f"{row['seconds']:.1f} s",
         number(row["recoding"]["quality"]["entropy_kept"]), number(row["loss"])]
        for row in rows
    ]  # fmt: skip
    return table(["experiment", "k", "form", "algorithm", "entropy", "loss"], body)


def plot(results: dict[str, list[Row]]) -> None:
    """Loss by seconds on Adult, k = 5."""
    figure, drawn = axes("seconds of the algorithm (logarithmic)", "loss")
    for show, line in (("common", "o-"), ("exact-ranges", "o:")):
        curve = sorted((r for r in results["refine"] if r["show"] == show), key=lambda row: row["algorithm"])
        taken, losses = [row["algorithm"] for row in curve], [row["loss"] for row in curve]
        drawn.plot(taken, losses, line, color=BLUE, label=f"refine, by limit, --show {show}")
    ours = [row for row in results["adult"] if row["k"] == 5 and row["strategy"] not in ("refine", "auto")]
    for row, marker in zip(ours, "sD^v", strict=False):
        drawn.plot(row["algorithm"], row["loss"], marker, color=ORANGE, label=row["strategy"])
    for (name, (seconds, loss)), marker in zip(OTHERS.items(), "x1+", strict=True):
        drawn.plot(seconds, loss, marker, color=GREY if name == "lighthouse" else GREEN, label=name)
    drawn.set_xscale("log")
    drawn.set_xticks([1, 2, 5, 10, 20, 50], labels=["1", "2", "5", "10", "20", "50"])
    drawn.minorticks_off()
    drawn.set_ylim(0, 0.2)  # what refine has after a moment lies above
    drawn.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, "recoding", "Loss on Adult by seconds: local recodings, k = 5, nine quasi-identifiers")


if __name__ == "__main__":
    main()
