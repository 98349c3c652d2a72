"""Columns at their top level, and the ways out, compared with separate searches; and `kanon init --interactive`."""

import os
import pty
import random
import sys
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql.spec import Spec
from support.command_line import done

RANDOM = random.Random(3)
ROWS = [
    {"age": RANDOM.randrange(90), "zip": f"{RANDOM.randrange(100):02}", "sex": RANDOM.choice("mf"), "ill": "x"}
    for _ in range(300)
]
PEOPLE = pandas.DataFrame(ROWS)
SPEC: dict[str, Any] = {
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [10, 50]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "sex": {"hierarchy": "suppress"},
    },
    "keep": ["ill"],
    "privacy": {"k": 9},
    "suppression_limit": 0.0,
}


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    return kanon_sql.anonymize(PEOPLE, SPEC, ways_out=True).manifest


def test_a_column_at_its_top_is_named(manifest: dict[str, Any]) -> None:
    heights = {"age": 3, "zip": 2, "sex": 1}
    assert manifest["at_top"] == [name for name, level in manifest["node"].items() if level == heights[name]] != []
    plain = kanon_sql.anonymize(PEOPLE, SPEC).manifest
    assert plain["at_top"] == manifest["at_top"]
    assert "ways_out" not in plain, "each takes a search"


@pytest.mark.nightly
def test_the_ways_out_lose_what_such_a_release_loses(manifest: dict[str, Any]) -> None:
    """Every search of this lattice is exhaustive, so that its node is the one that a release with that setting has."""
    ways = {(item["column"], item["way"].split(":")[0]): item for item in manifest["ways_out"]}
    for name in manifest["at_top"]:
        lower = {**SPEC["quasi_identifiers"], name: {**SPEC["quasi_identifiers"][name]}}
        lower[name]["max_level"] = manifest["heights"][name] - 1
        built = kanon_sql.anonymize(PEOPLE, {**SPEC, "quasi_identifiers": lower}).manifest
        way = ways[name, "max_level"]
        assert way["loss"] == pytest.approx(built["information_loss"]["loss"])
        assert way["loss_of_column"] == pytest.approx(built["loss_per_attribute"][name])
        assert way["suppressed_rows"] == built["suppressed_rows"]
        weights = {
            other: {**recipe, "weight": 1.0 if other == name else 0.25}
            for other, recipe in SPEC["quasi_identifiers"].items()
        }
        heavier = kanon_sql.anonymize(PEOPLE, {**SPEC, "quasi_identifiers": weights}).manifest["loss_per_attribute"]
        assert ways[name, "weight"]["loss"] == pytest.approx(sum(heavier.values()) / len(heavier))
    refined = kanon_sql.anonymize(PEOPLE, SPEC, strategy="refine").manifest["information_loss"]["loss"]
    assert ways[None, "strategy"]["loss"] == pytest.approx(refined, abs=0.02)


def test_an_infeasible_way_out_is_reported() -> None:
    spec = {**SPEC, "quasi_identifiers": {"age": {"hierarchy": "suppress"}}}
    (below, *_), *_ = [kanon_sql.anonymize(PEOPLE, {**spec, "keep": []}, ways_out=True).manifest["ways_out"]]
    assert (below["column"], below["way"], below["loss"]) == ("age", "max_level: 0", None)


def test_the_command_line_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    Path("s.yml").write_text(yaml.safe_dump({**SPEC, "source": "people.csv"}))
    output = done("anonymize", "--spec", "s.yml", "--output", "a.csv")
    assert "At the top level, where all values have the same label: " in output
    assert "--ways-out" in output
    output = done("anonymize", "--spec", "s.yml", "--output", "b.csv", "--ways-out")
    assert "strategy: refine" in output
    assert "max_level: " in output


def test_init_asks_about_every_column_on_a_terminal(tmp_path: Path) -> None:
    """In a pseudo-terminal: a recipe that does not nest is refused, another is taken, a role changed."""
    PEOPLE.assign(visits=[number % 7 for number in range(300)]).to_csv(tmp_path / "people.csv", index=False)
    answers = ["{ranges: [10, 15]}", "{ranges: [10, 30], top: 80}", "", "", "", "s", "", "", ""]
    words = ["-m", "kanon_sql", "init", "people.csv", "--interactive", "--quasi-identifiers", "age,zip,sex,visits"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
        os.execv(sys.executable, [sys.executable, *words])
    os.write(terminal, "".join(f"{answer}\n" for answer in answers).encode())
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # it has ended
            break
    _, status = os.waitpid(pid, 0)
    screen = shown.decode()
    assert status == 0, screen
    assert "15 is not a multiple of 10" in " ".join(screen.split())
    assert "largest classes" in screen
    spec = yaml.safe_load((tmp_path / "release.yml").read_text(encoding="utf-8"))
    assert spec["quasi_identifiers"]["age"] == {"hierarchy": {"ranges": [10, 30], "top": 80}}
    assert Spec.model_validate(spec)
