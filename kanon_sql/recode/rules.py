"""Generalization rules: which original values of a column become which label, level by level.

The form is that of PrioPrivacy (Bampoulidis, Markopoulos, Lupu, WI 2019): a file per level and column, a rule
per line, `v1,v2,… => label`. The values are original values on every level, so levels need not nest, and no rule
hides a value: `*` is for suppression, which needs no rule.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.spec import Spec

_ARROW = " => "
_BY_LEVEL, _BY_ATTRIBUTE = re.compile(r"(\d+)_(.+)\.txt"), re.compile(r"hierarchy_(.+)_(\d+)\.txt")


@dataclass(frozen=True)
class ReplacementRule:
    """`values => label`; None among the values is NULL."""

    values: tuple[Any, ...]
    label: str


RulesByLevel = tuple[tuple[ReplacementRule, ...], ...]
"""The rules of a column: level 1, level 2, …, each in the order of its file."""


def from_hierarchy(hierarchy: Hierarchy) -> RulesByLevel:
    """A rule per label below the top: the leaves under it become it.

    >>> ages = h.from_rows([["39", "30-39", "*"], ["31", "30-39", "*"], ["40", "40-49", "*"]], "age.csv")
    >>> from_hierarchy(ages)
    ((ReplacementRule(values=('39', '31'), label='30-39'), ReplacementRule(values=('40',), label='40-49')),)
    """
    return tuple(_rules_of(hierarchy, level) for level in range(1, hierarchy.height))


def _rules_of(hierarchy: Hierarchy, level: int) -> tuple[ReplacementRule, ...]:
    # A label that the top has too hides the value as much as `*` does, which rules must not do; NULL stays NULL.
    hidden = {STAR, None, *hierarchy.distinct_labels(hierarchy.height)}
    values: dict[str, list[Any]] = {}
    for value, label in zip(hierarchy.values, hierarchy.labels(level), strict=False):
        if label not in hidden:
            values.setdefault(label, []).append(value)
    return tuple(ReplacementRule(tuple(originals), label) for label, originals in values.items())


def read(folder: str | Path, kinds: Mapping[str, str]) -> dict[str, RulesByLevel]:
    """Read the rule files of a folder; `kinds`: the quasi-identifiers and the kind of each one's type.

    A file is called `<level>_<column>.txt`, `<level>_<place>.txt` (the column's place among the quasi-identifiers,
    from 0) or `hierarchy_<column>_<level>.txt`. A column without files has no rules. Raises SpecError, which names
    file and line.
    """
    files: dict[str, dict[int, Path]] = {column: {} for column in kinds}
    for path in _paths(Path(folder)):
        column, level = _meant(path, list(kinds))
        if level in files[column]:
            raise SpecError(f"{path} and {files[column][level].name} are both level {level} of {column!r}; keep one")
        files[column][level] = path
    for column, levels in files.items():
        for below, level in pairwise([0, *sorted(levels)]):
            if level != below + 1:
                raise SpecError(
                    f"{levels[level]}: column {column!r} has rules on level {level} and none on level {below + 1}; "
                    "number its levels 1, 2, … without a gap"
                )
    return {
        column: tuple(_typed(_parsed(levels[level]), kinds[column], levels[level]) for level in sorted(levels))
        for column, levels in files.items()
    }


def _paths(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise SpecError(f"there is no folder {folder} of rule files; check rules")
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        raise SpecError(f"the folder {folder} has no rule files; name them <level>_<column>.txt")
    return paths


def _meant(path: Path, columns: Sequence[str]) -> tuple[str, int]:
    """The column and the level in a file's name."""
    by_level, by_attribute = _BY_LEVEL.fullmatch(path.name), _BY_ATTRIBUTE.fullmatch(path.name)
    if by_level:
        level, name = by_level.groups()
    elif by_attribute:
        name, level = by_attribute.groups()
    else:
        raise SpecError(f"{path} is called neither <level>_<column>.txt nor hierarchy_<column>_<level>.txt; rename it")
    if name not in columns and name.isdecimal() and int(name) < len(columns):
        name = columns[int(name)]
    if name not in columns:
        near = get_close_matches(name, columns, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(columns)}"
        raise SpecError(f"{path} is for {name!r}, which is not a quasi-identifier; {hint}")
    if int(level) == 0:
        raise SpecError(f"{path} is for level 0, the values themselves; number the levels from 1")
    return name, int(level)


def _parsed(path: Path) -> tuple[ReplacementRule, ...]:
    """The rules of a file, their values as text; an empty value is NULL, as in a hierarchy file."""
    rules: list[ReplacementRule] = []
    lines: dict[str, int] = {}
    for number, line in _lines(path):
        rule = _rule(line, f"{path}, line {number}")
        for value in rule.values:
            if value in lines:
                raise SpecError(
                    f"{path}, line {number}: the value {value!r} is in line {lines[value]} too; keep it in one rule"
                )
            lines[value] = number
        rules.append(rule)
    if not rules:
        raise SpecError(f"{path} contains no rule; write v1,v2 => label, or remove the file")
    return tuple(rules)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SpecError(f"{path} cannot be read: {reason}; check the file") from error
    yield from ((number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip())


def _rule(line: str, where: str) -> ReplacementRule:
    values, arrow, label = line.partition(_ARROW if _ARROW in line else _ARROW.rstrip())
    if not arrow:
        raise SpecError(f"{where}: there is no `=>`; write v1,v2 => label")
    if not values.strip():
        raise SpecError(f"{where}: there is no value before `=>`; write v1,v2 => label")
    label = label.strip()
    if not label:
        raise SpecError(f"{where}: there is no label after `=>`; write v1,v2 => label")
    if label == STAR:
        raise SpecError(
            f"{where}: a rule cannot have the label `*`, which means suppressed; remove the rule, or name another label"
        )
    try:
        (originals,) = csv.reader([values], strict=True)
    except csv.Error as error:
        raise SpecError(f"{where}: {error}; correct the quotes there") from None
    return ReplacementRule(tuple(originals), label)


def _typed(rules: tuple[ReplacementRule, ...], kind: str, path: Path) -> tuple[ReplacementRule, ...]:
    """The rules with their values in the column's type; a text that is no such value cannot occur and is left out."""
    rows = [[value, str(number)] for number, rule in enumerate(rules) for value in rule.values]
    hierarchy = h.convert(h.from_rows(rows, str(path)), kind, str(path))
    values: list[list[Any]] = [[] for _ in rules]
    for value, number in zip(hierarchy.values, hierarchy.levels[0], strict=True):
        values[int(number or 0)].append(value)
    return tuple(ReplacementRule(tuple(typed), rule.label) for typed, rule in zip(values, rules, strict=True))


def rules_of(spec: Spec, attributes: Sequence[Attribute]) -> list[RulesByLevel]:
    """The rules of a spec's folder, or of the hierarchies where it names none: per attribute, in their order."""
    if spec.rules is None:
        return [from_hierarchy(attribute.hierarchy) for attribute in attributes]
    rules = read(spec.rules, {attribute.column.name: attribute.column.kind for attribute in attributes})
    return [rules[attribute.column.name] for attribute in attributes]
