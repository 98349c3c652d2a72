"""The table of docs/engines.md matches the tests that are marked with a capability."""

import ast
from pathlib import Path

import pytest

from support.capabilities import COLLECTED, TABLE, read_table, with_table

TESTS = Path(__file__).resolve().parent


def marked() -> dict[str, set[str]]:
    """The capabilities that marks name, by the file of the tests."""
    found: dict[str, set[str]] = {}
    for path in TESTS.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.capability":
                found.setdefault(path.name, set()).add(ast.literal_eval(node.args[0]))
    return found


def test_the_table_lists_the_capabilities_that_tests_are_marked_with() -> None:
    assert set(read_table(TABLE.read_text(encoding="utf-8"))) == set().union(*marked().values())


def test_the_table_of_engines_matches_their_tests(request: pytest.FixtureRequest) -> None:
    """In a run of all files of such tests, no more and no less; in another, no less."""
    table, collected = read_table(TABLE.read_text(encoding="utf-8")), request.config.stash[COLLECTED]
    documented = {(what, engine) for what, cells in table.items() for engine, cell in cells.items() if cell == "yes"}
    assert collected <= documented, "run pytest -m capability --write-capabilities"
    engines = request.config.getoption("--engines").split(",")
    is_a_part = request.config.getoption("markexpr") not in ("", "capability") or request.config.getoption("keyword")
    if not is_a_part and set(marked()) <= {Path(item.path).name for item in request.session.items}:
        assert {(what, engine) for what, engine in documented if engine in engines} == collected


def test_a_table_is_written_from_what_passed() -> None:
    passed = [("a view", "duckdb"), ("a view", "postgres"), ("grants", "postgres")]
    page = with_table("# Engines\n\n| capability | DuckDB |\n| --- | --- |\n\nMore.\n", passed)
    assert page.startswith("# Engines\n\n| capability | DuckDB | PostgreSQL |\n")
    assert page.endswith("| grants | no | yes |\n\nMore.\n")
    assert read_table(page)["a view"] == {"duckdb": "yes", "postgres": "yes"}
