"""The code of the benchmark: the generator, the meter, the rules of quality, and the generated page."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.demo_data import people, write_parquet

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
import all as benchmark
import all_pages
import answers
import measure
import peers
from jobs import Table, limits, released
from quality import quality
from tables import HIERARCHIES


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        answers.write(tmp_path / name, 1_000, 5, seed=seed)
    one, again, other = ((tmp_path / name).read_bytes() for name in ("one", "again", "other"))
    assert one == again != other


def test_answers_are_as_diverse_as_requested_and_compatible() -> None:
    (much,), (little,) = answers.blocks(2_000, 16), answers.blocks(2_000, 16, doubt=answers.LITTLE)
    assert len(much.drop_duplicates()) > 1_900 > 400 > len(little.drop_duplicates())
    assert [much[name].nunique() for name in much] == [answers.scale(column) for column in range(16)]
    assert much.corr().to_numpy().min() > 0.3


def test_the_first_rows_are_the_same_however_many_columns_of_a_block_follow() -> None:
    first, *_ = answers.blocks(300_000, 2)
    assert len(first) == 250_000
    assert sum(len(block) for block in answers.blocks(300_000, 2)) == 300_000


def test_their_recipes_are_a_spec() -> None:
    (table,) = answers.blocks(200, 4)
    manifest = kanon_sql.anonymize(table, {"quasi_identifiers": answers.recipes(4)}, k=5).manifest
    assert [*manifest["heights"].values()] == [2, 2, 3, 3]


def test_the_meter_sees_memory_spill_and_the_end(tmp_path: Path) -> None:
    code = f"import pathlib, time; b = bytearray(80_000_000); p = pathlib.Path({str(tmp_path)!r}, 'x')"
    code += "; p.write_bytes(bytes(3_000_000)); time.sleep(0.2); p.unlink()"
    cost = measure.metered([sys.executable, "-c", code], spill=str(tmp_path))
    assert cost.code == 0
    assert not cost.killed
    assert cost.spilled == pytest.approx(3.0)
    assert cost.megabytes > 80
    assert 0 < cost.cpu < 60


def test_a_job_over_its_time_is_killed_and_reported(tmp_path: Path) -> None:
    cost = measure.metered([sys.executable, "-c", "import time; time.sleep(60)"], seconds=0.2)
    assert cost.killed
    assert cost.wall < 30
    table = Table(tmp_path / "none.parquet", "none", 0, {"quasi_identifiers": ["a"]})
    assert "none.parquet" in released(table, "auto", 60)["failed"]


def test_quality_is_the_manifests_own_loss_and_the_group_by_of_the_file(tmp_path: Path) -> None:
    columns = ["age", "sex", "marital-status"]
    source, release = tmp_path / "people.parquet", tmp_path / "release.parquet"
    write_parquet(source, 300)
    manifest = kanon_sql.anonymize(
        source,
        quasi_identifiers=columns,
        hierarchies=str(HIERARCHIES),
        keep=[],
        k=5,
        strategy="mondrian",
        output=release,
    ).manifest
    measured = quality(source, release, HIERARCHIES, columns)
    assert measured["loss"] == pytest.approx(manifest["information_loss"]["loss"])
    assert (measured["classes"], measured["smallest"]) == (manifest["classes"], manifest["smallest_class"])
    assert measured["suppressed"] == 0


def test_sets_and_ranges_of_peers_are_read(tmp_path: Path) -> None:
    people(20)[["age", "sex"]].to_csv(tmp_path / "source.csv", index=False)
    (tmp_path / "release.csv").write_text("age,sex\n" + '"[20, 39]","{Female, Male}"\n' * 10)
    measured = quality(tmp_path / "source.csv", tmp_path / "release.csv", HIERARCHIES, ["age", "sex"])
    leaves = len((HIERARCHIES / "age.csv").read_text().splitlines())
    assert measured["loss"] == pytest.approx((10 * (19 / (leaves - 1) + 1) + 10 * 2) / 20 / 2)
    assert (measured["smallest"], measured["suppressed"]) == (10, 10)


def test_a_missing_peer_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        return type("Done", (), {"returncode": 1, "stderr": f"one\nERROR: nothing for {tmp_path}\n"})

    monkeypatch.setattr(peers.subprocess, "run", refused)
    table = Table(tmp_path / "people.parquet", "people", 0, {"quasi_identifiers": ["age"]})
    row = peers.peer_run(peers.PEERS[0], table, tmp_path, HIERARCHIES, 1)
    assert row["failed"] == "ERROR: nothing for …"
    assert "ERROR: nothing for …" in "\n".join(all_pages.peers({"anjana": row}))


def test_a_stopped_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def part(_: Any) -> Any:
        for name in ("one", "two"):
            yield name, lambda name=name: done.append(name) or {"wall": 1.0}

    def broken(_: Any) -> Any:
        yield "one", lambda: {"wall": 2.0}
        yield "two", lambda: 1 / 0

    results, run = tmp_path / "all.json", benchmark.Run(tmp_path, (30,))
    monkeypatch.setitem(benchmark.PARTS, "nodes", broken)
    with pytest.raises(ZeroDivisionError):
        benchmark.measure(run, ["nodes"], results, resume=False)
    monkeypatch.setitem(benchmark.PARTS, "nodes", part)
    assert benchmark.measure(run, ["nodes"], results, resume=True)["nodes"]["one"] == {"wall": 2.0}
    assert done == ["two"]
    assert json.loads(results.read_text())["nodes"]["two"] == {"wall": 1.0}
    benchmark.measure(run, ["nodes"], results, resume=False)
    assert done == ["two", "one", "two"]


def test_requests_to_spark_are_logged_by_methods_that_it_has() -> None:
    pytest.importorskip("pyspark")
    import spark

    with spark.watched(set()) as log:
        assert log == []


def test_growth_is_the_slope_of_the_logarithms() -> None:
    assert all_pages.exponent([(10, 3.0), (100, 30.0), (1000, 300.0)]) == "1.00"
    assert all_pages.exponent([(10, 1.0), (1000, 10.0), (5, None)]) == "0.50"
    assert all_pages.exponent([(10, 1.0)]) == ""


@pytest.mark.nightly
def test_the_page_has_a_place_for_every_table_and_multiples_of_the_limits(tmp_path: Path) -> None:
    source = tmp_path / "people.parquet"
    write_parquet(source, 300)
    spec = {
        "quasi_identifiers": ["age", "sex"],
        "hierarchies": str(HIERARCHIES),
        "identifiers": ["person_id"],
        "keep": [],
    }
    table = Table(source, "people", 300, spec)
    bare, row = limits(table, tmp_path, 60), released(table, "auto", 60)
    assert bare["tuples"] == row["distinct_tuples"]
    results = {
        "about": benchmark.about(benchmark.Run(tmp_path, (300,))), "measured": {},
        "sizes": {"300": {}, "300 limits": bare, "300 auto": row, "300 mondrian": {"failed": "killed after 1 s"}},
    }  # fmt: skip
    sections = all_pages.sections(results)
    whole = f"**{row['wall'] / (bare['group'] + bare['copy']):.1f}**"
    assert whole in sections["limits"][2]
    assert "killed after 1 s" in sections["limits"][3]
    page = all_pages.PAGE.read_text(encoding="utf-8")
    every = {*all_pages.sections({**results, **{part: {} for part in benchmark.PARTS if part != "sizes"}})}
    assert all(f"<!-- {name} -->" in page for name in every)
