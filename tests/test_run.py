"""`kanon run`: what is recreated and why, what is refused, and what a run leaves behind."""

import json
import os
import random
import stat
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

import kanon_sql
from kanon_sql.errors import DifferencingError, KanonError, SourceError, TargetError
from kanon_sql.pipeline.continuing import forget_regions
from kanon_sql.pipeline.memory import alone
from kanon_sql.spec import Session, load_runs
from support.command_line import ask, kanon
from support.nights import covers_age, covers_zip, narrowed, singled_out

SPEC = """
source: people.csv
identifiers: [name]
quasi_identifiers:
  age: {hierarchy: {ranges: [10, 20]}}
  zip: {hierarchy: {file: zip.csv, separator: ";"}}
keep: [ill]
privacy:
  k: ${K}
vars: {K: 3}
audit: trail
target: {file: anon.csv}
"""
COLUMNS = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"}
PEOPLE = [(f"p{i}", 20 + i % 4 * 10, ["1200", "1300"][i % 2], "xyz"[i % 3]) for i in range(48)]


def write_people(rows: list[Any]) -> None:
    lines = [",".join(map(str, row)) for row in [tuple(COLUMNS), *rows]]
    Path("people.csv").write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a source, a hierarchy and a spec."""
    monkeypatch.chdir(tmp_path)
    write_people(PEOPLE)
    Path("zip.csv").write_text("1200;12**;*\n1300;13**;*\n")
    Path("release.yml").write_text(SPEC)
    return tmp_path


def ran(**how: Any) -> tuple[str, tuple[str, ...]]:
    (done,) = kanon_sql.run("release.yml", **how).releases
    return done.status, done.why


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rewrite(path: str, old: str, new: str) -> None:
    """Change a file without changing its size or its time."""
    file, before = Path(path), os.stat(path)
    text = file.read_text()
    assert old in text
    assert len(old) == len(new)
    file.write_text(text.replace(old, new))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.slow
@pytest.mark.capability("a pipeline step that renews changed releases (`kanon run`)")
def test_unchanged_releases_are_skipped_and_every_change_is_detected(folder: Path) -> None:
    assert ran(dry_run=True) == ("would release", ("there is no release yet",))
    assert not Path(".kanon").exists()
    assert ran() == ("released", ("there is no release yet",))
    os.utime("people.csv")
    first = snapshot(folder)
    status, (why,) = ran()
    assert (status, why[:30]) == ("unchanged", "nothing has changed since 2026" if "2026" in why else why[:30])
    assert snapshot(folder) == first

    changes = {
        "the source changed": lambda: write_people(PEOPLE * 2),
        "the hierarchy of zip changed": lambda: Path("zip.csv").write_text("1200;12**;*\n1300;13**;*\n1400;14**;*\n"),
        "the spec changed": lambda: None,
    }
    for why, change in changes.items():
        change()
        variables = {"K": "4"} if "spec" in why else {}
        assert ran(dry_run=True, vars=variables) == ("would release", (why,))
        assert ran(vars=variables) == ("released", (why,))
    rewrite("people.csv", "1200", "1300")
    assert ran(vars={"K": "4"}, dry_run=True) == ("would release", ("the source changed",))


@pytest.mark.usefixtures("folder")
def test_a_changed_hierarchy_of_sensitive_values_is_detected() -> None:
    closeness = "t_closeness: {ill: {t: 0.9, distance: hierarchical, hierarchy: {taxonomy: ill.csv}}}"
    spec = SPEC.replace("keep: [ill]", "sensitive: [ill]").replace("  k: ${K}", "  k: ${K}\n  " + closeness)
    Path("release.yml").write_text(spec)
    Path("ill.csv").write_text("x;a\ny;a\nz;b\n")
    assert ran()[0] == "released"
    assert ran()[0] == "unchanged"
    Path("ill.csv").write_text("x;a\ny;b\nz;b\n")
    assert ran()[1] == ("the hierarchy of ill in t_closeness changed",)


@pytest.mark.usefixtures("folder")
def test_a_changed_or_removed_target_is_detected() -> None:
    ran()
    published = Path("anon.csv").read_bytes()
    os.remove("anon.csv")
    assert ran() == ("released", ("the target is gone",))
    assert Path("anon.csv").read_bytes() == published
    rewrite("anon.csv", "x", "y")
    with pytest.raises(TargetError, match=r"anon.csv is not what the run of .* released, so it may have another owner"):
        ran()
    Path("release.yml").write_text(SPEC.replace("anon.csv}", "anon.csv, overwrite: true}"))
    with pytest.raises(DifferencingError, match="is not what was released, and the spec changed since"):
        ran()
    assert ran(differencing_limit="unlimited")[0] == "released"
    assert Path("anon.csv").read_bytes() == published
    os.remove("anon.csv")
    write_people(PEOPLE[:-1])
    with pytest.raises(DifferencingError, match=r"anon\.csv is gone, and the source changed since"):
        ran()
    assert not Path("anon.csv").exists()


@pytest.mark.usefixtures("folder")
def test_a_run_that_never_became_visible_is_not_believed() -> None:
    """What a process leaves that is killed between its note and its release."""
    Path("release.yml").write_text(SPEC.replace("audit: trail", ""))
    ran()
    before = Path("anon.csv").read_bytes()
    write_people(PEOPLE * 2)
    ran()
    note = Path(".kanon/release.json")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (note, note.parent)] == [0o600, 0o700]
    assert len(json.loads(note.read_text())["releases"]) == 2
    Path("anon.csv").write_bytes(before)
    assert ran(dry_run=True) == ("would release", ("the source changed",))
    write_people(PEOPLE)
    assert ran()[0] == "unchanged"
    note.write_text("{")
    with pytest.raises(SourceError, match=r"release.json, where the last run noted what it released, cannot be read"):
        ran()


@pytest.mark.usefixtures("folder")
def test_the_chain_of_a_file_breaks_at_the_row_that_was_changed() -> None:
    for number in range(3):
        write_people(PEOPLE * (number + 1))
        ran()
    trail, file = kanon_sql.releases("trail.jsonl"), Path("trail.jsonl")
    assert (bool(trail), [entry.number for entry in trail.entries]) == (True, [1, 2, 3])
    assert trail.manifest(2)["run"]["singled_out"]["people"] == 0
    assert kanon("releases", "verify", "trail.jsonl").code == 0
    assert "sql" not in trail.manifest(1)
    whole, lines = file.read_text(), file.read_text().splitlines(keepends=True)
    second = {
        lines[1].replace('"rows":96', '"rows":97'): "its checksum is not that of its manifest",
        lines[1].replace('"rows":96', '"rows": 96'): "its manifest cannot be read",
        lines[1].replace('"singled_out":0', '"singled_out":1', 1): "singled_out differs from its manifest",
        '"release":"another"'.join(lines[1].rsplit('"release":"release"', 1)): "release differs from its manifest",
        lines[0]: "its number is 1, where 2 comes next",
    }
    for line, problem in second.items():
        assert line != lines[1]
        file.write_text(lines[0] + line + lines[2])
        assert (2 if "number" not in problem else 1, problem) in kanon_sql.releases("trail.jsonl").broken
        assert problem in kanon("releases", "list", "trail.jsonl").out
    file.write_text(lines[0] + lines[2])
    assert kanon_sql.releases("trail.jsonl").broken == ((3, "its number is 3, where 2 comes next"),)
    assert kanon("releases", "verify", "trail.jsonl").code == 1
    file.write_text(whole)
    assert "release" in kanon("releases", "list", "trail.jsonl").out
    assert json.loads(kanon("releases", "show", "trail.jsonl", "3").out)["rows"] == 144


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_several_releases_and_their_exit_codes() -> None:
    own = "releases:\n  fine: {target: {file: fine.csv}}\n  coarse: {target: {file: coarse.csv}, privacy: {k: 6}}\n"
    Path("release.yml").write_text(SPEC.replace("target: {file: anon.csv}\n", f"differencing: refuse\n{own}"))
    assert kanon("run", "release.yml", "--only", "coarse").code == 0
    assert (Path("coarse.csv").exists(), Path("fine.csv").exists()) == (True, False)
    result = json.loads(kanon("run", "release.yml", "--json").out)["releases"]
    assert [item["status"] for item in result] == ["released", "unchanged"]
    write_people([*PEOPLE, ("new", 20, "1200", "x")])
    refused = kanon("run", "release.yml")
    assert (refused.code, refused.out.count("refused")) == (1, 2)
    assert "kanon: fine: fine.csv was left as it was" in refused.err
    assert "--differencing-limit is 0" in refused.err
    os.remove("people.csv")
    assert kanon("run", "release.yml").code == 2


@pytest.mark.usefixtures("folder")
def test_the_second_of_two_concurrent_runs_has_to_wait() -> None:
    with alone(Path("release.yml"), "release", "release"), pytest.raises(TargetError, match="another run is releasing"):
        ran()
    assert ran()[0] == "released"


REFUSED = {
    "privacy:\n  k: ${MISSING}": "the variable MISSING has no value; use --var MISSING=VALUE, set it in",
    "privacy: ${no, such}": "${no, such} is not a variable; write ${NAME}",
    "${K}: 3": "the key '${K}' has a variable in it",
    "privacy: {k: 3}\nvars: [a]": "vars is a mapping of names to defaults",
    "node: hold": "node: give one of keep, search, keep_else_search, or a level for every column, not 'hold'",
    "audit: 5": "audit: give true or false, or the name of a table or file, not 5",
    "differencing_limit: -1": "differencing_limit: give a number of people, 0 or more, or the word unlimited, not -1",
    "differencing_history: 0": "differencing_history: give a number of releases, 1 or more, not 0",
    "node: {age: 9, zip: 0}": "level 9 of 'age' is above the height of its hierarchy",
    "releases: {a: {}, b: {target: {file: ./anon.csv}}}": "the releases a and b have one target, ",
    "database: n.duckdb\nreleases: {a: {target: {table: x}}, b: {target: {table: X}}}": "a and b have one target, X",
    "releases: {a/b: {}}": "'a/b' is not a name of a release",
    "releases: []": "releases: give a mapping of names to specs, not []",
    "releases: {a: {vars: {}}}": "releases.a: vars belongs at the top of the file",
    "releases: {a: {privacy: {k: 0}}}": "releases.a: privacy.k: give a whole number of at least 1, not 0",
    "location: [x, y]\ntime: t\nunit: u": "single out together",
}


@pytest.mark.parametrize("more", REFUSED)
def test_bad_input_is_one_sentence_and_nothing_is_written(folder: Path, more: str) -> None:
    base = {
        "privacy": "privacy:\n  k: ${K}\n", "vars": "vars: {K: 3}\n", "audit": "audit: trail\n",
        "quasi_identifiers": SPEC[SPEC.index("quasi") : SPEC.index("keep")],
        "location": SPEC[SPEC.index("quasi") : SPEC.index("keep")] + "keep: [ill]\n",
    }  # fmt: skip
    text = SPEC
    for key in (line.partition(":")[0] for line in more.splitlines()):
        text = text.replace(base.get(key, ""), "")
    Path("release.yml").write_text(f"{text}{more}\n")
    before = snapshot(folder)
    run = kanon("run", "release.yml")
    assert (run.code, run.err.count("\n")) == (2, 1), run
    assert REFUSED[more] in run.err
    assert {name: text for name, text in snapshot(folder).items() if not name.startswith(".kanon/")} == before


@pytest.mark.usefixtures("folder")
def test_other_mistakes_of_the_command_line() -> None:
    for line, message in {
        "run nowhere.yml": "there is no spec file nowhere.yml",
        "run release.yml --only other": "there is no release 'other' in the spec; there are release",
        "run release.yml --var K": "--var takes NAME=VALUE",
        "run release.yml --var K=1 --var K=2": "--var: K is given twice",
        "anonymize --spec release.yml": "vars is for pipelines; run the file with `kanon run`",
        "releases verify nothing.jsonl": "there is no audit trail nothing.jsonl",
        "releases show people.csv 1": "row 1 of people.csv cannot be read",
    }.items():
        run = kanon(*line.split())
        assert (run.code, run.out, run.err.count("\n")) == (2, "", 1), run
        assert message in run.err


@pytest.mark.usefixtures("folder")
def test_verbs_without_a_release_read_the_spec_of_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    ran()
    assert kanon("verify", "--spec", "release.yml").out.startswith("satisfied: 3-anonymous")
    monkeypatch.setenv("K", "200")
    assert kanon("verify", "--spec", "release.yml").code == 1
    Path("release.yml").write_text(f"{SPEC}node: keep\nreleases: {{one: {{}}}}")
    assert kanon_sql.search(spec="release.yml", k=3).proven_optimal
    Path("release.yml").write_text(f"{SPEC}releases: {{one: {{}}, two: {{target: {{file: two.csv}}}}}}")
    with pytest.raises(KanonError, match=r"release.yml has the releases one, two; name a spec file of one of them"):
        kanon_sql.verify(spec="release.yml")


def test_nothing_is_built_on_a_broken_trail(folder: Path) -> None:
    ran()
    rewrite("trail.jsonl", '"rows":48', '"rows":47')
    write_people(PEOPLE * 2)
    before = snapshot(folder)
    with pytest.raises(SourceError, match=r"row 1 of the audit trail trail.jsonl is broken \(its checksum is not that"):
        ran()
    assert snapshot(folder) == before


@pytest.mark.usefixtures("folder")
def test_a_variable_is_always_a_plain_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "a: b}\nprivacy: {k: 1}")
    Path("release.yml").write_text(SPEC.replace("file: anon.csv", 'file: "${PLACE}/${K}.csv"'))
    (one,) = load_runs(Path("release.yml"), {"K": "5"})
    assert one.spec.target
    assert (one.spec.privacy.k, one.spec.target.file) == (5, "a: b}\nprivacy: {k: 1}/5.csv")
    (other,) = load_runs(Path("release.yml"), {"K": "5", "PLACE": "${K}"})
    assert other.spec.target
    assert other.spec.target.file == "${K}/5.csv"


@pytest.mark.usefixtures("folder")
def test_local_recodings_keep_their_regions() -> None:
    Path("release.yml").write_text(SPEC.replace("audit: trail", "strategy: mondrian"))
    ran()
    (regions,) = Path(".kanon").glob("*.regions.parquet")
    before = {tuple(row) for row in duckdb.sql("SELECT age, zip FROM 'anon.csv'").fetchall()}
    write_people(PEOPLE * 2)
    (done,) = kanon_sql.run("release.yml").releases
    assert done.release
    assert (done.release.manifest["node_kept"], done.release.manifest["differencing"]["people"]) == (True, 0)
    assert {tuple(row) for row in duckdb.sql("SELECT age, zip FROM 'anon.csv'").fetchall()} == before
    assert len([*Path(".kanon").glob("*.regions.parquet")]) == 2
    forget_regions(Path("release.yml"), "release", [done.release.manifest, None])
    assert not regions.exists()
    assert len([*Path(".kanon").glob("*.regions.parquet")]) == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.skipif(os.name != "posix", reason="there are no such modes elsewhere")
def test_notes_are_not_kept_where_other_users_can_change_them() -> None:
    notes = Path(".kanon")
    Path("elsewhere").mkdir()
    notes.symlink_to("elsewhere")
    with pytest.raises(TargetError, match="is a link; replace it by a folder"):
        ran()
    notes.unlink()
    notes.mkdir()
    notes.chmod(0o777)
    with pytest.raises(TargetError, match=r"anybody can write to .*chmod 700"):
        ran()
    assert not Path("anon.csv").exists()
    notes.chmod(0o755)
    assert ran()[0] == "released"


@pytest.mark.slow
def test_a_database_is_run_and_audited_in_one_transaction(database: str, tmp_path: Path) -> None:
    create = "CREATE TABLE sick AS SELECT name, age, zip, disease FROM people"
    ask(database, create)
    spec = f"""
source: sick
database: "{database}"
identifiers: [name]
quasi_identifiers: {{age: {{hierarchy: {{ranges: [20]}}}}, zip: {{hierarchy: suppress}}}}
sensitive: [disease]
privacy: {{k: 3}}
audit: true
differencing: refuse
target: {{table: sick_anon}}
"""
    (tmp_path / "nightly.yml").write_text(spec)
    path = tmp_path / "nightly.yml"
    assert [release.status for release in kanon_sql.run(path).releases] == ["released"]
    assert [release.status for release in kanon_sql.run(path).releases] == ["unchanged"]
    assert not [*(tmp_path / ".kanon").glob("*.json")]
    rows = ask(database, "SELECT * FROM sick_anon")
    ask(database, "INSERT INTO sick VALUES ('new', 36, '02138', 'x'), ('odd', NULL, '90210', NULL)")
    with pytest.raises(DifferencingError, match="would single out 1 person"):
        kanon_sql.run(path)
    assert sorted(map(repr, ask(database, "SELECT * FROM sick_anon"))) == sorted(map(repr, rows))
    overwritten = {"into": "sick_anon", "overwrite": True, "differencing_limit": 0, "differencing": "refuse"}
    plain = {key: value for key, value in vars(load_runs(path)[0].spec).items() if key == "quasi_identifiers"}
    with pytest.raises(DifferencingError, match="would single out 1 person"):
        kanon_sql.anonymize(
            "sick", database=database, identifiers=["name"], sensitive=["disease"], **plain, k=3, **overwritten
        )
    assert [release.status for release in kanon_sql.run(path, differencing_limit=2).releases] == ["released"]
    trail = kanon_sql.releases("kanon_releases", database=database)
    assert (bool(trail), [entry.singled_out for entry in trail.entries]) == (True, [None, 1])
    with pytest.raises(KanonError):  # no two rows follow one
        ask_engine(database, "INSERT INTO kanon_releases SELECT * FROM kanon_releases WHERE number = 2")
    ask(database, "UPDATE kanon_releases SET made_at = '2020' WHERE number = 1")
    assert kanon_sql.releases("kanon_releases", database=database).broken == ((1, "made_at differs from its manifest"),)


def ask_engine(database: str, sql: str) -> None:
    from kanon_sql.engines.opening import open_engine

    engine = open_engine(Session(database, writes=("kanon_releases",)))
    try:
        engine.run(sql)
    finally:
        engine.close()


def test_help_explains_the_exit_codes() -> None:
    assert "1: a release was refused" in " ".join(kanon("run", "--help").out.split())


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_two_nodes_are_compared_as_by_hand() -> None:
    """Other classes than before, suppressed rows, and people who came, left and changed."""
    draw = random.Random(7)
    zips = ["1200", "1201", "1300", "1301", "2400"]
    people = [(f"p{i}", draw.randrange(20, 60), draw.choice(zips), draw.choice("xyz")) for i in range(40)]
    Path("zip.csv").write_text("".join(f"{code};{code[:2]}**;*\n" for code in zips))
    releases = []
    for node in ({"age": 2, "zip": 0}, {"age": 1, "zip": 1}, {"age": 2, "zip": 1}):
        write_people(people)
        spec = {key: value for key, value in yaml.safe_load(SPEC).items() if key not in ("vars", "audit", "privacy")}
        spec |= {"privacy": {"k": 3}, "suppression_limit": 0.5, "node": node}
        release = kanon_sql.anonymize(None, spec, overwrite=True, differencing_limit=1000)
        releases.append([tuple(map(str, row)) for row in release.to_df()[["age", "zip", "ill"]].values.tolist()])
        if len(releases) > 1:
            compare(release.manifest["differencing"], releases[-2:], people, zips)
        people = [*people[3:], *((f"n{i}", draw.randrange(20, 60), draw.choice(zips), "x") for i in range(5))]


def compare(found: dict[str, Any], releases: list[list[Any]], people: list[Any], zips: list[str]) -> None:
    """Hold what was found of two releases against the same in plain Python."""
    domain = [(age, code) for age in range(20, 60) for code in zips]
    arguments = (*releases, domain, (covers_age, covers_zip), 3)
    revealed = narrowed(*releases, [row[1:3] for row in people], (covers_age, covers_zip), 3)
    assert (found["came_left_or_stayed"], found["narrowed"]) == (singled_out(*arguments), revealed)
    assert found["people"] > 0
