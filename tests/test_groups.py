"""Custom groups: the same hierarchy as the equivalent file, in any form, and the same release."""

import random
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import anonymize
from kanon_sql.engine import Engine
from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.hierarchy import from_rows
from kanon_sql.generalization.recipes import groups
from kanon_sql.spec import parse, read_value
from support.command_line import done, kanon
from support.database import create_table
from support.hierarchies import check
from support.specs import load

SCHOOLS = [
    {"School": ["9th", "10th", "HS-grad"], "Higher": ["Bachelors", "Masters"], "Preschool": ["Preschool", ""]},
    {"Any school": ["School", "Preschool"], "Higher": ["Higher"]},
]
FILE = """9th;School;Any school;*
10th;School;Any school;*
HS-grad;School;Any school;*
Bachelors;Higher;Higher;*
Masters;Higher;Higher;*
Preschool;Preschool;Any school;*
;Preschool;Any school;*
"""


def fields(text: str) -> list[list[str]]:
    return [line.split(";") for line in text.splitlines()]


def test_groups_and_an_equivalent_file_define_the_same_hierarchy() -> None:
    assert check(groups(SCHOOLS, "education")) == from_rows(fields(FILE), "education.csv")
    assert groups([{"A": ["a"]}], "x").levels == (("A",), ("*",))
    assert groups([{"A": ["a"]}, {"*": ["A"]}], "x").levels == (("A",), ("*",)), "a `*` of one's own is the top"


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.randoms(use_true_random=False))
def test_any_nested_partition_matches_its_rows(leaves: int, height: int, chance: random.Random) -> None:
    rows = [[f"v{leaf}"] for leaf in range(leaves)]
    levels: list[dict[str, list[str]]] = []
    for level in range(1, height + 1):
        below = list(dict.fromkeys(row[-1] for row in rows))
        label_of = {label: f"{level}-{chance.randrange(len(below))}" for label in below}
        levels.append({label: [band for band in below if label_of[band] == label] for label in label_of.values()})
        rows = [[*row, label_of[row[-1]]] for row in rows]
    hierarchy = check(groups(levels, "x"))
    assert sorted(hierarchy.rows()) == sorted((*row, "*") for row in rows)


@pytest.mark.parametrize(
    ("levels", "problem", "values"),
    [
        ([{}], "level 1 has no groups; write some", ()),
        ([{"A": ["a"], "B": []}], "the group 'B' of level 1 is empty; fill it, or leave it out", ()),
        ([{"A": ["a"], "B": ["b", "a"]}], "a member of 'B' is in 'A' on level 1 too; keep one", ("'a'",)),
        ([{"A": [""], "B": [""]}], "a member of 'B' is in 'A' on level 1 too; keep one", ("NULL",)),
        ([{"*": ["a"]}, {"A": ["*"]}], "a group of level 1 is called `\\*`, as the top is; choose another label", ()),
        ([{"A": ["a"]}, {"B": ["A", "C"]}], "of level 2 have 1 members that are not labels of level 1; name", ("'C'",)),
        (
            [{"A": ["a"], "B": ["b"]}, {"C": ["A"]}],
            "the groups of level 2 lack 1 of the labels of level 1; add them there, or generalize them to `\\*`",
            ("'B'",),
        ),
    ],
)
def test_an_invalid_hierarchy_is_refused(
    levels: Sequence[Mapping[str, Sequence[str]]], problem: str, values: tuple[str, ...]
) -> None:
    with pytest.raises(HierarchyError, match=f"^column 'x': .*{problem}") as caught:
        groups(levels, "x")
    assert caught.value.values == values


def test_a_label_without_a_group_becomes_a_star_if_unmapped_values_do() -> None:
    hierarchy = check(groups([{"A": ["a"], "B": ["b"]}, {"C": ["A"]}, {"D": ["C"]}], "x", "top"))
    assert list(hierarchy.rows()) == [("a", "A", "C", "D", "*"), ("b", "B", "*", "*", "*")]


def recipe(text: str) -> Any:
    spec = parse({"source": "x", "quasi_identifiers": {"x": {"hierarchy": read_value(text)}}})
    return spec.quasi_identifiers["x"].hierarchy


def test_labels_and_members_are_kept_literally(tmp_path: Path) -> None:
    parsed = recipe("{groups: {no: [yes, NO, 010, 1.50, 2020-05-17, ~, null, 'null', ''], 010: [on]}}").groups
    assert parsed == ({"no": ("yes", "NO", "010", "1.50", "2020-05-17", "", "", "null", ""), "010": ("on",)},)
    (tmp_path / "spec.yml").write_text(
        "source: x\nquasi_identifiers:\n  groups:\n    hierarchy:\n      groups: [{yes: [no, 1e3]}, {1: [yes]}]\n"
    )
    loaded = load(tmp_path / "spec.yml").quasi_identifiers["groups"].hierarchy
    assert loaded == recipe("{groups: [{'yes': ['no', '1e3']}, {'1': ['yes']}]}")
    in_python = {"groups": {1: [1, 2.5, True, None, date(2020, 5, 17)]}}
    hierarchy = (
        parse({"source": "x", "quasi_identifiers": {"x": {"hierarchy": in_python}}}).quasi_identifiers["x"].hierarchy
    )
    assert hierarchy is not None
    assert hierarchy.model_dump() == {"groups": ({"1": ("1", "2.5", "true", "", "2020-05-17")},)}


TYPES = {"age": "BIGINT", "born": "DATE", "paid": "DECIMAL(9, 2)", "job": "VARCHAR"}
ROWS = [(20 + i % 3, date(2000, 1, 1 + i % 2), i % 2 + 0.5, [None, "a", "b"][i % 3]) for i in range(60)]
GROUPED: dict[str, list[dict[str, list[Any]]]] = {
    "age": [{"young": [20, "21"], "old": ["22.0"]}],
    "born": [{"first": ["2000-01-01"], "second": [date(2000, 1, 2), "never"]}],
    "paid": [{"low": ["0.5"], "high": ["1.50"]}],
    "job": [{"none": [""], "some": ["a", "b"]}, {"any": ["none", "some"]}],
}


def test_a_release_by_groups_is_that_by_files(engine: Engine, tmp_path: Path) -> None:
    create_table(engine, "people", TYPES, ROWS)
    for name, levels in GROUPED.items():
        hierarchy = parse({"source": "x", "quasi_identifiers": {"x": {"hierarchy": {"groups": levels}}}})
        by_hand: Any = hierarchy.quasi_identifiers["x"].hierarchy
        rows = groups(by_hand.groups, name).rows()
        (tmp_path / f"{name}.csv").write_text("".join(";".join(row) + "\n" for row in rows))
    by_groups = {name: {"hierarchy": {"groups": levels}, "min_level": 1} for name, levels in GROUPED.items()}
    by_files = {name: {"hierarchy": str(tmp_path / f"{name}.csv"), "min_level": 1} for name in GROUPED}
    texts = []
    for hierarchy in (by_groups, by_files):
        spec = {"source": "people", "quasi_identifiers": hierarchy, "privacy": {"k": 3}}
        release = anonymize("people", spec, connection=engine.connection, into="made", overwrite=True)
        printed = kanon_sql.compile("people", spec, connection=engine.connection).query
        texts.append((sorted(map(str, engine.rows("SELECT * FROM made"))), release.manifest["hierarchies"], printed))
    assert texts[0] == texts[1]
    assert len(set(texts[0][0])) > 1
    assert "'young'" in texts[0][2], "the statement that leaves says the groups"


def test_values_that_no_group_has_stop_the_run_or_become_stars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("job\n" + "a\nb\nc\nd\n" * 5)
    spec = tmp_path / "spec.yml"
    spec.write_text("source: x.csv\nquasi_identifiers: {job: {hierarchy: {groups: {A: [a, b]}}}}\nprivacy: {k: 2}\n")
    with pytest.raises(HierarchyError, match="column 'job': the hierarchy lacks 2 of its values; add them there") as no:
        anonymize("x.csv", spec)
    assert no.value.values == ("'c'", "'d'")
    release = anonymize("x.csv", spec, unmapped="top")
    assert set(release.to_df()["job"]) == {"a", "b", "*"}


def test_groups_are_built_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("job,n\nyes,1\nnone,2\n")
    build = ["hierarchy", "build", "x.csv", "--output", "h.csv", "--overwrite", "--column"]
    done(*build, "job", "--groups", "{either: [yes, none]}")
    assert Path("h.csv").read_text() == "yes;either;*\nnone;either;*\n"
    done(*build, "n", "--groups", "[{low: [1], high: [2]}, {any: [low, high]}]")
    assert Path("h.csv").read_text() == "1;low;any;*\n2;high;any;*\n"
    assert "is not a value" in kanon(*build, "n", "--groups", "{low: [1").err
