"""Columns named like those of internal queries; `support.names` tries all words of `sql/`, and more calls."""

from pathlib import Path
from typing import Any

import pytest

from support.names import fill, problems

# The names that once were taken for ours somewhere, and such as nearly every query has: six are quasi-identifiers, two
# are sensitive, the others are kept or tell people apart.
COUNTED = ["place", "people", "class_rows", "kanon_population", "population", "alike"]
COUNTED += ["raw", "class", "found", "label", "shift", "n"]
COMPARED = ["place", "raw", "overall_c", "overall_size", "level", "label"]
COMPARED += ["overall_values", "class", "leaves", "value", "unit", "own"]
CALLS = {
    "duckdb": [(COUNTED, ["population of people", "minimality", "exact"]), (COMPARED, ["shares"])],
    "postgres": [(COUNTED, ["population of people", "minimality", "exact"]), (COMPARED, ["distances", "prioprivacy"])],
}


@pytest.mark.slow
@pytest.mark.parametrize("tried", [0, 1], ids=["counted", "compared"])
@pytest.mark.sampled
def test_a_column_can_have_an_internal_name(tried: int, engine: Any, tmp_path: Path) -> None:
    names, calls = CALLS[engine.dialect][tried]
    fill(engine, names)
    assert [*problems(names, tmp_path, calls, connection=engine.connection)] == []
