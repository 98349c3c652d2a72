"""The verbs of the library: whole, typed, spelled out, and with results that print in a few lines."""

import dataclasses
import inspect
import json
import pydoc
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

import kanon_sql
from kanon_sql.errors import ReleaseWarning, SpecError, TargetError, VerificationError

PEOPLE = pandas.DataFrame(
    {"age": [31, 32, 33, 41, 42, 43] * 5, "zip": ["1200", "1201", "1300"] * 10, "ill": list("xyzxy") * 6}
)
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 10]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "keep": ["ill"],
}
VERBS = [
    "anonymize",
    "anatomize",
    "attack",
    "verify",
    "compare",
    "compile_dbt",
    "explain",
    "search",
    "lattice",
    "report",
    "risk",
    "suggest",
]


def results() -> dict[str, Any]:
    """One result of each verb that needs no target."""
    return {
        "search": kanon_sql.search(PEOPLE, SPEC, k=3),
        "lattice": kanon_sql.lattice(PEOPLE, SPEC, k=3),
        "explain": kanon_sql.explain(PEOPLE, SPEC, k=3),
        "verify": kanon_sql.verify(PEOPLE, quasi_identifiers=["age", "zip"], k=6),
        "risk": kanon_sql.risk(PEOPLE, quasi_identifiers=["age", "zip"], sensitive=["ill"]),
        "compare": kanon_sql.compare(PEOPLE, SPEC, k=3, strategies=["ola", "flash"]),
        "suggest": kanon_sql.suggest(PEOPLE, quasi_identifiers=["age", "zip"]),
        "hierarchy": kanon_sql.hierarchy.build(PEOPLE, "age", {"ranges": [5, 10]}),
    }


@pytest.fixture(scope="module")
def verb_results() -> dict[str, Any]:
    return results()


def test_the_package_lists_its_verbs() -> None:
    assert {*VERBS, "cloak", "hierarchy"} <= set(dir(kanon_sql))
    assert set(dir(kanon_sql)) == set(kanon_sql.__all__)
    for name in kanon_sql.__all__:
        assert getattr(kanon_sql, name) is not None
    assert {"build", "check", "show"} <= set(dir(kanon_sql.hierarchy))


@pytest.mark.parametrize("name", [*VERBS, "cloak"])
def test_help_spells_out_every_option(name: str) -> None:
    verb = getattr(kanon_sql, name)
    parameters = inspect.signature(verb).parameters
    assert not [parameter for parameter in parameters.values() if parameter.kind is inspect.Parameter.VAR_KEYWORD]
    helped = pydoc.render_doc(verb, renderer=pydoc.plaintext)
    for option in parameters:
        assert option in helped
    assert ">>>" in (verb.__doc__ or ""), "a runnable example"


@pytest.mark.parametrize("name", VERBS)
def test_a_misspelled_option_is_named_with_a_suggestion(name: str) -> None:
    with pytest.raises(SpecError, match=r"there is no option 'quasi_identifier'; did you mean 'quasi_identifiers'\?"):
        getattr(kanon_sql, name)(PEOPLE, quasi_identifier=["age"], **({"l": 2} if name == "anatomize" else {}))


@pytest.mark.parametrize("name", ["search", "lattice", "explain", "verify", "risk", "compare", "hierarchy"])
@pytest.mark.slow
def test_a_result_is_small_frozen_and_written(name: str, verb_results: dict[str, Any], tmp_path: Path) -> None:
    result = verb_results[name]
    assert len(str(result).splitlines()) <= 24
    assert len(str(result)) < 2400
    assert len(repr(result)) < 150
    assert "\n" not in repr(result)
    assert "<" in result._repr_html_()
    assert isinstance(result.to_df(), pandas.DataFrame)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(result, dataclasses.fields(result)[0].name, None)
    for ending in (".json", ".csv"):
        path = result.write(tmp_path / f"{name}{ending}")
        assert path.stat().st_size
        with pytest.raises(TargetError, match="exists already"):
            result.write(path)
        result.write(path, overwrite=True)
    assert json.loads((tmp_path / f"{name}.json").read_text()) == json.loads(result.to_json())
    printed = json.loads(result.to_json())
    assert {key: printed[key] for key in result.to_dict()} == json.loads(json.dumps(result.to_dict()))
    with pytest.raises(SpecError, match=r"ends in none of .*\.json"):
        result.write(tmp_path / "result.doc")


def test_a_search_reports_the_same_as_compare(verb_results: dict[str, Any]) -> None:
    search = {search.strategy: search for search in verb_results["compare"].searches}
    assert search["ola"].node == verb_results["search"].node
    assert verb_results["search"].to_df()["asked"].tolist()
    assert verb_results["lattice"].search.node == verb_results["search"].node


def test_a_check_is_true_or_false(verb_results: dict[str, Any]) -> None:
    assert not verb_results["verify"]
    coarse = PEOPLE.assign(age="*", zip="*")
    assert kanon_sql.verify(coarse, quasi_identifiers=["age", "zip"], k=3)


def test_a_built_hierarchy_is_checked_shown_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    built = kanon_sql.hierarchy.build(PEOPLE, "age", {"ranges": [5, 10]}, output=path)
    assert kanon_sql.hierarchy.check(path, PEOPLE).hierarchy == built.hierarchy
    assert kanon_sql.hierarchy.show(path).height == 3
    spec = {"quasi_identifiers": ["age"], "hierarchies": str(tmp_path), "keep": ["zip", "ill"]}
    assert kanon_sql.search(PEOPLE, spec, k=3).heights == {"age": 3}


TARGETS: list[dict[str, Any]] = [{}, {"output": "out.csv"}, {"output": "out.parquet"}, {"database": "d", "into": "out"}]


@pytest.mark.parametrize("target", TARGETS, ids=["temporary", "csv", "parquet", "table"])
@pytest.mark.sampled
def test_a_release_is_read_verified_and_copied_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    source: Any = PEOPLE
    if "into" in target:
        source = "people.csv"
        PEOPLE.to_csv(source, index=False)
    release = kanon_sql.anonymize(source, SPEC, k=4, **target)
    rows = release.to_df()
    assert len(rows) == release.manifest["released_rows"] > 0
    assert rows.groupby(["age", "zip"]).size().min() >= 4
    assert release.verify()
    assert release.verify().to_dict()["required"] == 4
    for name in ("copy.csv", "copy.parquet"):
        assert kanon_sql.verify(release.write(name), quasi_identifiers=["age", "zip"], k=4)
    assert json.loads(release.write("manifest.json").read_text())["released_rows"] == len(rows)
    with pytest.raises(TargetError, match="exists already"):
        release.write("copy.csv")
    assert len(str(release)) < 2000
    assert "4 required" in str(release)
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.sql = ""  # type: ignore[misc]


def test_a_copy_of_a_release_that_was_changed_is_refused(tmp_path: Path) -> None:
    connection = duckdb.connect()
    connection.register("frame", PEOPLE)
    connection.execute("CREATE TABLE people AS FROM frame")
    release = kanon_sql.anonymize("people", SPEC, k=4, connection=connection, into="released")
    connection.execute("DELETE FROM released WHERE rowid % 2 = 0")
    assert not release.verify() or len(release.to_df()) < release.manifest["released_rows"]
    with pytest.raises(VerificationError, match="rows now"):
        release.write(tmp_path / "copy.csv")
    assert not list(tmp_path.iterdir())


def test_warnings_of_a_release_are_warnings_of_python() -> None:
    with pytest.warns(ReleaseWarning, match="cannot be repeated") as caught:
        release = kanon_sql.anonymize(
            PEOPLE.assign(pay=range(30)), {**SPEC, "keep": ["ill"], "perturb": {"pay": {"noise": {"scale": 3.0}}}}, k=3
        )
    assert [str(item.message) for item in caught] == release.manifest["warnings"]
    assert caught[0].filename == __file__
