"""Releases by PrioPrivacy: rule files, and a wildcard release that is compared with its source."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from kanon_sql import anonymize, queries
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SpecError
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.recode import wildcard
from kanon_sql.spec import Spec
from support.database import create_table
from support.oracle import Row
from support.prioprivacy import FEW, Published, counted, ranked, spec_of, stands_for


@pytest.fixture
def town(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    rows = [(sex, 20 + i % 7, f"ill {i % 3}") for i, sex in enumerate("fmfmfmmmfffmfmfm")]
    lines = ["sex,age,ill", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "town.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "1_age.txt").write_text("20,21,22 => 20-22\n23,24 => 23-24\n25,26,99 => 25 up\n")
    spec = {
        "quasi_identifiers": {
            "sex": {"hierarchy": "suppress", "priority": 1},
            "age": {"hierarchy": "suppress", "priority": 2},
        },
        "sensitive": ["ill"],
        "privacy": {"k": 2},
        "strategy": "prioprivacy",
        "rules": str(tmp_path / "rules"),
    }
    return tmp_path / "town.csv", spec


def test_a_release_by_rule_files_is_verified(town: tuple[Path, dict[str, Any]]) -> None:
    path, spec = town
    release = anonymize(path, spec)
    frame = release.to_df()
    assert len(frame) == 16
    assert frame.groupby(["sex", "age"]).size().min() >= 2
    assert set(frame["age"]) & {"20-22", "23-24", "25 up"}
    assert release.manifest["verified"]
    assert release.manifest["recoding"]["rules"] == "files"
    assert release.manifest["recoding"]["changed_first"] == ["age", "sex"]


def test_wrong_rules_stop_the_run(town: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    path, spec = town
    (tmp_path / "rules" / "1_sex.txt").write_text("f,m,f => all\n")
    with pytest.raises(SpecError, match=r"1_sex\.txt, line 1: the value 'f' is in line 1 too"):
        anonymize(path, spec, output=str(tmp_path / "out.csv"))
    assert not (tmp_path / "out.csv").exists()


@FEW
@given(case=ranked())
def test_a_written_wildcard_release_is_compared_with_the_source(embedded: DuckDB, case: Any) -> None:
    """As a table of text, under other names; and with a cell that no original row fits."""
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    spec = spec_of(problem, priorities, wildcard_suppression=True)
    rows = Published(problem, priorities, "plain").out
    shown = [tuple(None if cell == "NULL" else cell for cell in row) for row in rows]
    fits = Counter()
    for row, number in Counter(rows).items():
        fits[min(problem.k, max(number, sum(stands_for(row, o, problem.columns) for o in problem.rows)))] += number
    result = _asked(embedded, frequency_set, spec, shown)
    assert result.rows == len(rows)
    assert result.satisfied
    assert (fits[problem.k], result.unsafe_rows) == (len(rows), 0)
    if problem.k > 1:
        wrong = _asked(embedded, frequency_set, spec, [("no such label", *shown[0][1:]), *shown])
        assert (wrong.unsafe_rows, wrong.smallest_fit, wrong.satisfied) == (1, 0, False)


def _asked(engine: DuckDB, frequency_set: FrequencySet, spec: Spec, rows: Sequence[Row]) -> wildcard.Fits:
    names = [f"Q {j}" for j in range(len(rows[0]))]
    before = engine.find("written")
    if before:
        engine.run(queries.drop(before.relation, engine.dialect))
    table = create_table(engine, "written", dict.fromkeys(names, "VARCHAR"), rows)
    return wildcard.of_release(frequency_set, spec, all_of(k_anonymity(spec.privacy.k)), engine, table.relation, names)
