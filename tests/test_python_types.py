"""The Python API: results as other tables, releases as sources. Type checkers read `support/typed_user.py`."""

import pickle
from pathlib import Path

import pandas
import polars
import pyarrow
import pytest

import kanon_sql
from kanon_sql.errors import SourceError, SpecError

AGES, ZIPS = [20, 20, 30, 30, 40, 40], ["12", "12", "12", "21", "21", "21"]
PEOPLE = pandas.DataFrame({"age": AGES, "zip": ZIPS, "ill": list("abacab")})
SPEC = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [10, 20]}}, "zip": {"hierarchy": "suppress"}},
    "keep": ["ill"],
}


@pytest.fixture(scope="module")
def release() -> kanon_sql.Release:
    return kanon_sql.anonymize(PEOPLE, SPEC, k=2)


def test_a_release_and_other_results_are_arrow_and_polars_tables(release: kanon_sql.Release) -> None:
    rows = release.to_arrow()
    assert isinstance(rows, pyarrow.Table)
    assert rows.to_pylist() == release.to_df().to_dict("records")
    assert release.to_polars().equals(polars.from_arrow(rows))
    assert release.verify().to_polars().columns == ["size", "classes"]


def test_the_repr_is_one_line(release: kanon_sql.Release) -> None:
    assert repr(release).startswith("<Release: source in memory, 6 rows; release temporary table")
    assert "\n" not in repr(release)
    assert str(release).splitlines()[0] == "source    in memory, 6 rows"


def test_pickling_a_release_is_an_error_with_the_reason(release: kanon_sql.Release) -> None:
    with pytest.raises(TypeError, match=r"pickle `release.manifest` or `release.to_df\(\)` instead"):
        pickle.dumps(release)
    assert pickle.loads(pickle.dumps(release.manifest)) == release.manifest


def test_data_in_the_place_of_the_spec_are_refused() -> None:
    for verb in (kanon_sql.anonymize, kanon_sql.search, kanon_sql.verify, kanon_sql.risk, kanon_sql.compare):
        with pytest.raises(SpecError, match="the spec is a DataFrame; pass the data as the first argument"):
            verb(SPEC, PEOPLE)


@pytest.mark.parametrize("target", [{}, {"output": "out.csv"}, {"output": "out.parquet"}])
def test_verbs_take_a_release_where_they_take_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    released = kanon_sql.anonymize(PEOPLE, SPEC, k=2, **target)
    assert kanon_sql.verify(released) == released.verify()
    assert not kanon_sql.verify(released, quasi_identifiers=["age", "zip"], k=5)
    assert kanon_sql.risk(PEOPLE, release=released).release is not None
    assert kanon_sql.risk(released).source.classes.smallest == released.manifest["smallest_class"]
    assert kanon_sql.profile(released).rows == released.manifest["released_rows"]
    assert kanon_sql.utility(PEOPLE, released).release == released.name
    assert kanon_sql.attack(released, only=["homogeneity"]).outcomes
    with pytest.raises(SourceError, match="the source was in memory; pass the data"):
        kanon_sql.risk(release=released)


def test_figures_of_a_manifest_with_people_match_the_reference() -> None:
    visits = pandas.DataFrame(
        {"who": [row // 3 for row in range(60)], "age": [20 + row // 15 * 10 for row in range(60)]}
    )
    spec = {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [10, 20]}}}, "unit": "who", "keep": []}
    released = kanon_sql.anonymize(visits, spec, k=3)
    sizes = released.to_df().groupby("age").size()
    assert released.manifest["smallest_class"] == sizes.min() == 15, "rows, while the model counts people"
    assert released.manifest["average_class"] == sizes.mean()
    assert released.manifest["privacy"][0]["achieved"] == released.manifest["risk_of_people"]["smallest_class"] == 5
    assert released.manifest["gap"] == released.manifest["score"] - released.manifest["lower_bound"]
    assert kanon_sql.risk(visits, release=released).release.classes.people == 20
    with pytest.raises(SpecError, match="does not have 'who', by which people are counted; pass its source too"):
        kanon_sql.risk(released)
    assert kanon_sql.risk(released, quasi_identifiers=["age"]).source.classes.people is None


def test_progress_is_silent_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with kanon_sql.progress() as observer:
        kanon_sql.anonymize(PEOPLE, SPEC, k=2, observer=observer)
    assert capfd.readouterr() == ("", "")
