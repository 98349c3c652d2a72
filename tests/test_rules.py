"""Rule files: their contents, their names, and their errors."""

from pathlib import Path

import pytest

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.recode.rules import ReplacementRule, RulesByLevel, from_hierarchy, read

KINDS = {"city": "text", "age": "integer"}


def written(folder: Path, **files: str) -> RulesByLevel:
    """The rules of `age` in a folder of files; names are the arguments without their first letter."""
    for name, text in files.items():
        (folder / f"{name[1:]}.txt").write_text(text, encoding="utf-8")
    return read(folder, KINDS)["age"]


def test_rules_keep_their_order_and_take_the_type_of_the_column(tmp_path: Path) -> None:
    rules = written(tmp_path, f1_age="31,40 => 31-40\r\n\r\n20,030, => young or unknown\n", f2_age="20,31 => low\n")
    assert rules == (
        (ReplacementRule((31, 40), "31-40"), ReplacementRule((20, 30, None), "young or unknown")),
        (ReplacementRule((20, 31), "low"),),
    )


def test_a_quoted_value_can_contain_a_comma(tmp_path: Path) -> None:
    (tmp_path / "1_city.txt").write_text('"Paris, TX",Austin => Texas\n', encoding="utf-8-sig")
    assert read(tmp_path, KINDS) == {"city": ((ReplacementRule(("Paris, TX", "Austin"), "Texas"),),), "age": ()}


@pytest.mark.parametrize("name", ["1_age.txt", "1_1.txt", "hierarchy_age_1.txt", "hierarchy_1_1.txt"])
def test_a_file_is_named_by_level_and_column(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("20 => low\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("no rules", encoding="utf-8")
    assert read(tmp_path, KINDS)["age"] == ((ReplacementRule((20,), "low"),),)


def test_a_column_name_takes_precedence_over_a_position(tmp_path: Path) -> None:
    (tmp_path / "1_0.txt").write_text("a => b\n", encoding="utf-8")
    assert read(tmp_path, {"age": "text", "0": "text"}) == {"age": (), "0": ((ReplacementRule(("a",), "b"),),)}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("20 => low\n31,20 => high\n", r"1_age.txt, line 2: the value '20' is in line 1 too"),
        ("20,31,20 => low\n", r"1_age.txt, line 1: the value '20' is in line 1 too"),
        ("\n20;31 -> low\n", r"1_age.txt, line 2: there is no `=>`"),
        ("20,31 =>  \n", r"1_age.txt, line 1: there is no label after `=>`"),
        (" => low\n", r"1_age.txt, line 1: there is no value before `=>`"),
        ("20 => *\n", r"1_age.txt, line 1: a rule cannot have the label `\*`"),
        ('20,"31 => low\n', r"1_age.txt, line 1: .*correct the quotes"),
        ("\n", r"1_age.txt contains no rule"),
    ],
)
def test_errors_are_reported_with_file_and_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        written(tmp_path, f1_age=text)


def test_values_of_another_column_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(KanonError, match=r"1_age.txt: none of its values \('Ghent', …\) is of the column's type"):
        written(tmp_path, f1_age="Ghent => BE\n")


def test_two_texts_of_one_number_in_two_rules_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(KanonError, match=r"1_age.txt: 20 has the labels"):
        written(tmp_path, f1_age="20 => low\n020 => high\n")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("1_agee", "'agee', which is not a quasi-identifier; did you mean 'age'"),
        ("1_7", "'7', which is not a quasi-identifier; there are city, age"),
        ("0_age", "level 0, the values themselves"),
        ("2_age", "has rules on level 2 and none on level 1"),
        ("rules", "called neither <level>_<column>.txt nor"),
    ],
)
def test_a_file_that_names_no_level_of_a_column_is_an_error(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / f"{name}.txt").write_text("20 => low\n", encoding="utf-8")
    with pytest.raises(SpecError, match=problem):
        read(tmp_path, KINDS)


def test_two_files_of_one_level_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="are both level 1 of 'age'"):
        written(tmp_path, f1_age="20 => low\n", f1_1="20 => low\n")


def test_a_missing_or_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="there is no folder"):
        read(tmp_path / "none", KINDS)
    with pytest.raises(SpecError, match="has no rule files"):
        read(tmp_path, KINDS)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "1_age.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(SpecError, match=r"1_age\.txt cannot be read: it is not UTF-8"):
        read(tmp_path, KINDS)


def test_the_rules_of_a_hierarchy_hide_nothing() -> None:
    """The labels that the top has too, and NULL for NULL, are no rules."""
    rows = [["39", "30s", "*"], ["31", "30s", "*"], ["?", "*", "*"], ["", "", "*"], ["40", "40s", "*"]]
    rules = from_hierarchy(h.from_rows(rows, "age.csv"))
    assert rules == ((ReplacementRule(("39", "31"), "30s"), ReplacementRule(("40",), "40s")),)
    assert from_hierarchy(recipes.suppress(["a"], "city")) == ()
