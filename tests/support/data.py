"""Real data, in the folder that KANON_DATA names."""

import os
from functools import cache
from pathlib import Path

import pytest

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.generalization import hierarchy as h

DATA = Path(os.environ.get("KANON_DATA", ""))


def needs(*paths: str) -> pytest.MarkDecorator:
    """A test of real data is skipped where there is none, and fails where KANON_DATA names a folder without it."""
    reason = f"needs {', '.join(paths)}: set KANON_DATA to the folder that holds it"
    return pytest.mark.skipif(not os.environ.get("KANON_DATA"), reason=reason)


needs_adult = needs("adult/adult.csv", "adult/hierarchies/<column>.csv")
NINE = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]


@cache
def adult(*names: str) -> FrequencySet:
    """The frequency set of some columns of Adult; one thread, since a test of its size gains nothing from two."""
    engine, folder = DuckDB(), DATA / "adult"
    engine.run("SET threads = 1")
    table = engine.read_file(str(folder / "adult.csv"))
    texts = {name: (folder / "hierarchies" / f"{name}.csv").read_text(encoding="utf-8") for name in names}
    hierarchies = {name: h.convert(h.parse(text, name), table.column(name).kind, name) for name, text in texts.items()}
    builders = {name: lambda values, f=f, name=name: h.cover(f, values, name) for name, f in hierarchies.items()}
    return build_frequency_set(engine, table, builders, Scratch(engine))
