"""Every file of `sql/` in every dialect that nobody executes here: printed as it was, or refused by name as it was.

A snapshot has a line per file: the beginning of the SHA-256 of what is printed for its first given rows, or why it is
refused. `KANON_RENEW=1 pytest tests/test_printed_files.py` writes them anew; read what changed before you keep it.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from kanon_sql.errors import SpecError
from kanon_sql.queries import dialects, tree
from sql_cases import CASES

SNAPSHOTS = Path(__file__).parent / "snapshots" / "files"
LABEL = "-- sql/ in the words of {}: printed, not executed\n"


@pytest.fixture(scope="module")
def trees() -> dict[str, exp.Query]:
    """Each file with its holes filled as in the first of its cases."""
    holes: dict[str, Mapping[str, Any]] = {}
    for case in CASES:
        holes.setdefault(case.query, case.holes)
    return {name: tree.tree(name, **holes[name]) for name in sorted(holes)}


def line(name: str, query: exp.Query, dialect: str) -> str:
    try:
        said = sha256(dialects.printed(query.copy(), dialect).encode()).hexdigest()[:16]
    except SpecError as error:
        said = " ".join(str(error).partition("; release it")[0].split())
    return f"{name} {said}"


@pytest.mark.parametrize("dialect", dialects.PRINTED)
def test_every_file_is_printed_or_refused_as_it_was(trees: dict[str, exp.Query], dialect: str) -> None:
    lines = [line(name, query, dialect) for name, query in trees.items()]
    kept = SNAPSHOTS / f"{dialect}.txt"
    if os.environ.get("KANON_RENEW"):
        kept.write_text(LABEL.format(dialect) + "".join(f"{each}\n" for each in lines), encoding="utf-8")
    label, *before = kept.read_text(encoding="utf-8").splitlines()
    assert f"{label}\n" == LABEL.format(dialect)
    changed = {each.partition(" ")[0] for each in {*lines} ^ {*before}}
    assert not changed, (
        f"{dialect}: {', '.join(sorted(changed))} are printed, or refused, in another way than they were"
    )


def test_every_file_has_a_line_of_its_own(trees: dict[str, exp.Query]) -> None:
    files = {str(path.relative_to(path.parents[1]).with_suffix("")) for path in _sql()}
    assert files == {*trees}


def _sql() -> list[Path]:
    return sorted((Path(__file__).resolve().parent.parent / "sql").glob("*/*.sql"))


def test_a_print_that_changes_and_a_refusal_that_vanishes_are_seen(trees: dict[str, exp.Query]) -> None:
    (refused,) = (each for each in (SNAPSHOTS / "clickhouse.txt").read_text().splitlines() if "cannot express" in each)
    name = refused.partition(" ")[0]
    assert line(name, trees[name], "clickhouse") == refused
    assert line(name, trees["core/row_count"], "clickhouse") != refused
    changed = trees["core/row_count"].copy()
    changed.set("limit", exp.Limit(expression=exp.Literal.number(1)))
    assert line("core/row_count", changed, "trino") != line("core/row_count", trees["core/row_count"], "trino")
