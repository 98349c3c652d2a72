"""The classification metric of sensitive columns, including those of privacy models, by brute force."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engine import Engine
from support.database import create_table

TYPES = dict.fromkeys(["age", "paid", "person", "row"], "INTEGER") | dict.fromkeys(["ill", "ward"], "VARCHAR")
ROWS = [
    (20 + i * 7 % 24, i * i % 7, i // 3, i, None if i % 5 == 0 else "abc"[i * i % 3], "xy"[i % 2]) for i in range(180)
]
MODELS: dict[str, Any] = {
    "l_diversity": {"ill": 2},
    "t_closeness": {"paid": {"t": 0.6, "distance": "ordered"}, "ill": {"t": 0.6}},
}


def most_frequent(rows: Sequence[tuple[Any, ...]], column: int) -> int:
    """Of rows (class, …): those with the most frequent value of their class."""
    classes: dict[Any, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        classes[row[0]][row[column]] += 1
    return sum(max(values.values()) for values in classes.values())


@pytest.mark.slow
def test_every_sensitive_column_has_the_metric_from_the_same_cells(engine: Engine) -> None:
    """By rows, be it that the models count people, as they do here on one of the engines."""
    unit = "person" if engine.name == "duckdb" else None
    create_table(engine, "wards", TYPES, ROWS)
    spec: dict[str, Any] = {
        "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2, 6, 12]}}},
        "sensitive": ["ill", "paid", "ward"],
        "keep": ["row"],
        **({"unit": unit} if unit else {"identifiers": ["person"]}),
    }
    options = {"k": 3, "suppression_limit": 0.2, "into": "wards_3", "connection": engine.connection}
    models = MODELS | ({"t_closeness": {}, "beta_likeness": {"paid": 9, "ill": 9}} if unit else {})  # of several values
    release = kanon_sql.anonymize("wards", spec, **models, **options)
    written = engine.rows("SELECT age, ill, paid, ward FROM wards_3")
    assert 0 < len(written) <= len(ROWS)
    expected = {
        name: 1 - most_frequent(written, place) / len(ROWS) for place, name in enumerate(spec["sensitive"], start=1)
    }
    assert release.manifest["classification"] == pytest.approx(expected)
    assert list(release.manifest["classification"]) == spec["sensitive"]
    options.pop("into")
    times = {step.name: step.times for step in kanon_sql.explain("wards", spec, **models, **options).steps}
    # The release is read once, and its kinds of classes once per column, and once for the models of a column or size.
    read = times["cells" if engine.is_embedded else "numbered_cells"]
    homogeneous = times["homogeneous"] + times.get("homogeneous_classes", 0)  # the latter of columns without a model
    assert (read, homogeneous, times["class_summary"]) == (1, 3, 3)
    engine.run("DROP TABLE wards_3")
