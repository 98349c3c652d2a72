"""Refine by the loss of the shown values, in every form: never worse than Mondrian, a node, or its own cover."""

import random
import time
from pathlib import Path
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.errors import KanonError
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.recode import RECODERS
from support.refining import ONE, small, task_of
from support.survey import survey

FORMS = ("common", "labels", "ranges", "median")


def table(folder: Path, rows: int, columns: int, seed: int) -> tuple[pandas.DataFrame, dict[str, Any]]:
    """Numbers with gaps and NULLs: the nodes of every second hierarchy are split by their order."""
    draw = random.Random(seed)
    built: dict[str, list[int | None]] = {}
    for j in range(columns):
        values = sorted(draw.sample(range(40), draw.randrange(3, 12)))
        half = len(values) // 2
        groups = [i % 2 if j % 2 else int(i >= half) for i in range(len(values))]
        lines = [f"{v};{'ab'[group]};*\n" for v, group in zip(values, groups, strict=True)]
        (folder / f"q{j}.csv").write_text("".join(lines) + ";none;*\n")
        built[f"q{j}"] = [draw.choice([*values, *values, None]) for _ in range(rows)]
    people = pandas.DataFrame({name: pandas.array(of, dtype="Int64") for name, of in built.items()})
    return people, {"quasi_identifiers": list(built), "hierarchies": str(folder)}


def manifest_of(people: pandas.DataFrame, spec: dict[str, Any], strategy: str, **more: Any) -> Any:
    return kanon_sql.anonymize(people, spec, strategy=strategy, k=3, **more).manifest


@pytest.mark.parametrize("show", FORMS)
@pytest.mark.sampled
def test_the_loss_is_that_of_the_shown_values_and_no_worse_than_the_start(show: str, tmp_path: Path) -> None:
    rows, columns = (40, 3) if show in FORMS[::2] else (60, 7)
    people, spec = table(tmp_path, rows, columns, seed=len(show))
    spec |= {"show": show}
    refined, cut = manifest_of(people, spec, "refine"), manifest_of(people, spec, "mondrian")
    recoding, loss = refined["recoding"], refined["information_loss"]["loss"]
    assert refined["verified"]
    assert recoding["loss"] == pytest.approx(loss, abs=1e-6)
    starts = [recoding["cover_loss"], recoding.get("cut_loss", 1.0), cut["information_loss"]["loss"]]
    assert loss <= min(starts) + 1e-6
    if show in ("common", "labels"):
        assert loss <= recoding["start_loss"] + 1e-6


@pytest.mark.parametrize("strategy", ["refine", "mondrian"])
def test_nodes_that_the_order_of_numbers_splits_are_shown_where_nodes_are(strategy: str, tmp_path: Path) -> None:
    (tmp_path / "code.csv").write_text("1;odd;*\n2;even;*\n3;odd;*\n4;even;*\n")
    people = pandas.DataFrame({"code": [1, 3, 2, 4]})
    spec = {"quasi_identifiers": ["code"], "hierarchies": str(tmp_path), "show": "common"}
    release = kanon_sql.anonymize(people, spec, strategy=strategy, k=2)
    assert sorted(release.to_df()["code"]) == ["even", "even", "odd", "odd"]


@pytest.mark.nightly
def test_wide_and_nearly_all_distinct_is_no_worse_than_mondrian_or_a_node(tmp_path: Path) -> None:
    people, spec = survey(tmp_path, 150, columns=16)
    assert len(people.drop_duplicates()) == 150
    spec |= {"show": "common"}
    refined, cut = manifest_of(people, spec, "refine", time_limit=60.0), manifest_of(people, spec, "mondrian")
    loss = refined["information_loss"]["loss"]
    assert loss <= min(cut["information_loss"]["loss"], refined["recoding"]["start_loss"])


def test_moves_found_before_the_time_limit_are_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    """The statement that is interrupted comes after one that found a move: c is better off with d."""
    frequency_set = small([("a",)] * 3 + [("c",)] + [("d",)] * 3, [ONE])
    task = task_of(frequency_set, all_of(k_anonymity(2)), 0.0, start=(2,))
    run = RECODERS["refine"].recode.__globals__["_Refinement"]

    def find_and_be_late(self: Any) -> tuple[int, int]:
        found = find_best(self)
        if self._cost and self.tables.count("best"):
            task.clock.interrupt()
            time.sleep(0.2)  # until whoever looks at the clock has seen it
            raise KanonError("interrupted")
        return found

    def begin_badly(self: Any, *_: Any) -> None:
        self.tables.create("choice", "refine/node", tuples=self.tables["tuples"], columns=self.keys)
        columns = {"columns": ["id", "n", "class"], "source": self.tables["choice"]}
        self.tables.create(self.state, "frequency_sets/copy", **columns)
        self.tables.load("moves", {"id": "BIGINT", "n": "BIGINT", "class": "BIGINT"}, [[2], [1], [1]])
        self._advance("refine/moved", moves=self.tables["moves"])
        self._cost = self._state_cost()

    find_best = run._find_best
    monkeypatch.setattr(run, "_find_best", find_and_be_late)
    monkeypatch.setattr(run, "_choose_beginning", begin_badly)
    local = RECODERS["refine"](task)
    assert (local.ended, local.facts["moves"], local.facts["loss"]) == (
        "interrupted",
        1,
        pytest.approx(4 * (1 / 3) / 7),
    )


@pytest.mark.parametrize("cut_ended", ["complete", "time limit"])
def test_without_time_to_prepare_the_cut_is_released_or_the_start_node(
    monkeypatch: pytest.MonkeyPatch, cut_ended: str
) -> None:
    frequency_set = small([("a",)] * 3 + [("c",)] + [("d",)] * 3, [ONE])
    task = task_of(frequency_set, all_of(k_anonymity(2)), 0.5, start=(0,))
    run = RECODERS["refine"].recode.__globals__["_Refinement"]

    def be_late(self: Any) -> bool:
        self._cut_ended = cut_ended
        task.clock.interrupt()
        return False

    monkeypatch.setattr(run, "_prepare", be_late)
    local = RECODERS["refine"](task)
    classes = f"SELECT SUM(n) FROM {local.assignment.name} WHERE class IS NOT NULL GROUP BY class"
    assert local.ended == "interrupted"
    assert sorted(n for (n,) in frequency_set.engine.rows(classes)) == ([3, 4] if cut_ended == "complete" else [3, 3])
