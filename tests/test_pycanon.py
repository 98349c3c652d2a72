"""An independent tool confirms the figures of our checks: pycanon 1.3.6 (Sáinz-Pardo, López García 2022).

It pins numpy and pandas, so it lives in an environment of its own, whose Python KANON_PYCANON names:
`python3 -m venv pycanon && pycanon/bin/pip install pycanon==1.3.6`.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.privacy import (
    PrivacyModel,
    alpha,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    l_diversity,
    t_closeness,
)
from support.data import DATA, needs_adult

PYTHON = os.environ.get("KANON_PYCANON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="KANON_PYCANON names no Python with pycanon")

MEASURES = """
import json, sys
import pandas
from pycanon import anonymity
path, quasi, sensitive, number = json.load(sys.stdin)
data = pandas.read_csv(path, dtype={name: str for name in quasi} | {sensitive: int if number else str})
arguments = data, quasi, [sensitive]
alpha, _ = anonymity.alpha_k_anonymity(*arguments)
print(json.dumps({
    "k": int(anonymity.k_anonymity(data, quasi)),
    "l": int(anonymity.l_diversity(*arguments)),
    "entropy l": int(anonymity.entropy_l_diversity(*arguments)),
    "t": float(anonymity.t_closeness(*arguments)),
    "alpha": float(alpha),
    "beta": float(anonymity.basic_beta_likeness(*arguments)),
    "delta": float(anonymity.delta_disclosure(*arguments)),
}))
"""


def measured(path: Path, quasi: list[str], sensitive: str, number: bool) -> dict[str, float]:
    """What pycanon says of a release."""
    arguments = json.dumps([str(path), quasi, sensitive, number])
    run = subprocess.run([str(PYTHON), "-c", MEASURES], input=arguments, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return figures


def achieved(source: Any, quasi: list[str], sensitive: str, number: bool) -> dict[str, float]:
    """What our own check says of it, whatever is required."""
    models: dict[str, PrivacyModel] = {
        "k": k_anonymity(1),
        "l": l_diversity(sensitive, 1),
        "entropy l": l_diversity(sensitive, 1, "entropy"),
        "t": t_closeness(sensitive, 1, "ordered" if number else "equal"),
        "alpha": alpha(sensitive, 1),
        "beta": beta_likeness(sensitive, 1, "basic"),
        "delta": delta_disclosure(sensitive, 1),
    }
    verified = kanon_sql.verify(source, quasi_identifiers=quasi, privacy=list(models.values()))
    assert verified.summary is not None
    figures = {name: item.achieved for name, item in zip(models, verified.summary.findings, strict=True)}
    assert all(value is not None for value in figures.values())
    return {**figures, "entropy l": int(figures["entropy l"] + 1e-6)}


@pytest.mark.parametrize("number", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled
def test_random_tables_have_the_same_figures(seed: int, number: bool, tmp_path: Path) -> None:
    draw = Random(seed)
    rows = [(f"z{draw.randint(1, 3)}", f"a{draw.randint(1, 2)}", draw.choice([1, 1, 2, 3, 7])) for _ in range(60)]
    table = pandas.DataFrame(rows, columns=["zip", "age", "ill"])
    if not number:
        table["ill"] = "v" + table["ill"].astype(str)
    table.to_csv(tmp_path / "table.csv", index=False)
    arguments = ["zip", "age"], "ill", number
    assert achieved(table, *arguments) == pytest.approx(measured(tmp_path / "table.csv", *arguments), abs=1e-9)


@needs_adult
def test_the_risks_of_adult_are_the_same(tmp_path: Path) -> None:
    quasi, source = ["sex", "race", "marital-status"], DATA / "adult" / "adult.csv"
    table = pandas.read_csv(source, sep=";")
    seen = kanon_sql.risk(table, quasi_identifiers=quasi, sensitive=["occupation"]).source
    (occupation,) = seen.sensitive
    table.to_csv(tmp_path / "adult.csv", index=False)
    theirs = measured(tmp_path / "adult.csv", quasi, "occupation", False)
    assert (seen.classes.smallest, occupation.distinct_l) == (theirs["k"], theirs["l"])
    assert int((occupation.entropy_l or 0) + 1e-6) == theirs["entropy l"]
    assert occupation.t_equal == pytest.approx(theirs["t"], abs=1e-9)


@needs_adult
@pytest.mark.nightly
def test_a_release_of_adult_has_the_same_figures(tmp_path: Path) -> None:
    quasi = ["sex", "age", "race", "education"]
    kanon_sql.anonymize(
        str(DATA / "adult" / "adult.csv"),
        quasi_identifiers=quasi,
        sensitive=["occupation"],
        keep=[],
        hierarchies=str(DATA / "adult" / "hierarchies"),
        privacy=[k_anonymity(5), l_diversity("occupation", 3)],
        output=str(tmp_path / "anon.csv"),
    )
    arguments = quasi, "occupation", False
    ours = achieved(str(tmp_path / "anon.csv"), *arguments)
    assert ours["k"] >= 5
    assert ours["l"] >= 3
    assert ours == pytest.approx(measured(tmp_path / "anon.csv", *arguments), abs=1e-9)
