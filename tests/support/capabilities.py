"""The capabilities of every engine, by the tests marked with them: `@pytest.mark.capability("a live view")`.

`pytest -m capability --write-capabilities` runs these tests on the engines of `--engines`, and writes the table of
docs/engines.md from what passed. A line of the table has a word for each engine: yes if all such tests passed on it,
else no.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path

import pytest

TABLE = Path(__file__).resolve().parents[2] / "docs" / "engines.md"
COLLECTED = pytest.StashKey[set[tuple[str, str]]]()
PASSED = pytest.StashKey[dict[tuple[str, str], bool]]()
ENGINES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "sail": "Spark SQL (Sail)"}
# The fixtures of one engine alone.
FIXTURES = {
    "postgres": "postgres", "postgres_dsn": "postgres", "sessions": "postgres", "sail": "sail", "cluster": "sail",
}  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-capabilities", action="store_true", help="write docs/engines.md from what passed")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COLLECTED], config.stash[PASSED] = set(), {}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[COLLECTED] |= {reported for item in items for reported in said_by(item)}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember of every such test whether it passed; one that was skipped shows nothing."""
    report = yield
    passed = item.config.stash[PASSED]
    if report.failed or (report.passed and report.when == "call"):
        for reported in said_by(item):
            passed[reported] = passed.get(reported, True) and report.passed
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--write-capabilities"):
        passed = {reported for reported, did in session.config.stash[PASSED].items() if did}
        TABLE.write_text(with_table(TABLE.read_text(encoding="utf-8"), passed), encoding="utf-8")


def said_by(item: pytest.Item) -> list[tuple[str, str]]:
    """The capability and the engine that a test shows: the engine of its mark, or that of its fixtures."""
    names, given = getattr(item, "fixturenames", ()), getattr(item, "callspec", None)
    alone = next((engine for name, engine in FIXTURES.items() if name in names), "duckdb")
    engine = given.params.get("engine", alone) if given else alone
    return [(str(mark.args[0]), str(engine)) for mark in item.iter_markers("capability")]


def with_table(page: str, passed: Iterable[tuple[str, str]]) -> str:
    """The page with the table of passed tests in the place of its own; capabilities without a test are left out."""
    table, known = defaultdict[str, set[str]](set), {engine for _, engine in passed}
    for what, engine in passed:
        table[what].add(engine)
    engines = [engine for engine in ENGINES if engine in known]
    head = ["capability", *(ENGINES[engine] for engine in engines)]
    rows = [[what, *("yes" if engine in table[what] else "no" for engine in engines)] for what in sorted(table)]
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    before, _, rest = page.partition("| capability")
    after = rest[rest.index("\n\n") :] if "\n\n" in rest else "\n"
    return before + "\n".join(lines) + after


def read_table(page: str) -> Mapping[str, dict[str, str]]:
    """The words of the table by capability and engine."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]
    head, _, *rows = lines
    names = {shown: engine for engine, shown in ENGINES.items()}
    return {what: {names[name]: cell for name, cell in zip(head[1:], cells, strict=True)} for what, *cells in rows}
