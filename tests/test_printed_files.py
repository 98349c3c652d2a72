"""Every query of `sql/` in every dialect without execution tests: printed, or refused for a known reason.

A snapshot has a line per query that is refused, with the reason. `KANON_RENEW=1 pytest tests/test_printed_files.py`
writes them anew; read what changed before you keep it. How releases are printed is in tests/test_dialects.py.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from kanon_sql.errors import SpecError
from kanon_sql.queries import dialects, tree
from sql_cases import CASES

SNAPSHOTS = Path(__file__).parent / "snapshots" / "refused"


@pytest.fixture(scope="module")
def trees() -> dict[str, exp.Query]:
    """Every query with its holes filled as in the first of its cases."""
    holes: dict[str, Mapping[str, Any]] = {}
    for case in CASES:
        holes.setdefault(case.query, case.holes)
    return {name: tree.tree(name, **holes[name]) for name in sorted(holes)}


def refusal(query: exp.Query, dialect: str) -> str | None:
    """Why a query cannot be printed in a dialect; None if it can."""
    try:
        dialects.printed(query.copy(), dialect)
    except SpecError as error:
        return " ".join(str(error).partition("; release it")[0].split())
    return None


@pytest.mark.parametrize("dialect", dialects.PRINTED)
@pytest.mark.sampled
def test_every_query_is_printed_or_refused_as_it_was(trees: dict[str, exp.Query], dialect: str) -> None:
    refused = [f"{name} {why}" for name, query in trees.items() if (why := refusal(query, dialect))]
    snapshot = SNAPSHOTS / f"{dialect}.txt"
    if os.environ.get("KANON_RENEW"):
        snapshot.write_text("".join(f"{line}\n" for line in refused), encoding="utf-8")
    assert refused == snapshot.read_text(encoding="utf-8").splitlines()
