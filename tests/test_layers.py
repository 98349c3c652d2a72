"""Imports only go down, and every dependency has one package: read from the source, nothing is imported."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick  # every module, not the first alone
TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "kanon_sql"

# From the ground up: a module imports from lower lines only, or from its own room.
RANKS = [
    "errors resources interrupts hints relation database_file",
    "staging generalization demo_data demo_files demo_omop own",
    "privacy",
    "loss",
    "spec queries",
    "engine",
    "engines",
    "frequency",
    "strategies recode cloak",
    "report documents",
    "release",
    "risk attack suggestion",
    "utility",
    "plan",
    "measure",
    "linked",
    "pipeline",
    "verbs",
    "hierarchy",
    "__init__",
    "page",
    "cli dbt",
    "__main__",
]
RANK = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms.split()}

# The rooms that may import a package, now or later in a function.
HOMES = {
    "sqlglot": {"queries"},
    "duckdb": {"engines", "database_file", "demo_data", "demo_files", "demo_omop"},
    "psycopg": {"engines"},
    "typer": {"cli"},
    "rich": {"cli", "verbs"},
    "pydantic": {"spec", "frequency"},
    "yaml": {"spec"},
    "pandas": {"engines", "verbs", "demo_data", "demo_files"},
    "pysat": {"strategies"},
    "numpy": {
        "engines",
        "strategies",
        "frequency",
        "recode",
        "attack",
        "demo_data",
        "demo_files",
        "risk",
        "utility",
        "suggestion",
    },
    "jinja2": {"report", "page"},
    "starlette": {"page"},
    "uvicorn": {"page"},
    "markupsafe": {"report", "page"},
    "markdown_it": {"report"},
    "openpyxl": {"engines"},
    "docx": {"report"},
    "sklearn": {"attack", "utility"},
    "openlineage": {"pipeline"},
    "securesystemslib": {"report"},
    "cryptography": {"report"},
}
MODULES = sorted(PACKAGE.rglob("*.py"))
TEST_FILES = sorted(TESTS.rglob("*.py"))


def room(path: Path) -> str:
    """A module's room: a folder is one, and so is a file beside it."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imported(path: Path) -> list[str]:
    """The modules that a file imports in whatever place: at its top, in a function, or for types alone."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}, line {node.lineno}: a relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_only(path: Path) -> None:
    here = room(path)
    assert here in RANK, f"{here} has no line in RANKS; give it one"
    for name in imported(path):
        package, _, rest = name.partition(".")
        if package == "kanon_sql":
            there = rest.partition(".")[0]
            there = there if there in RANK else "__init__"
            assert RANK[there] < RANK[here] or there == here, f"{here} imports {name}, which is not below it"
        elif package in HOMES:
            assert here in HOMES[package], f"{here} imports {package}, which lives in {HOMES[package]}"


def test_a_strategy_depends_on_levels_and_not_on_a_database() -> None:
    known = {"errors", "interrupts", "generalization", "loss", "own", "strategies"}
    for path in (PACKAGE / "strategies").glob("*.py"):
        named = {name.split(".")[1] for name in imported(path) if name.startswith("kanon_sql.")}
        assert named <= known, path.name


def test_only_the_engines_package_names_an_engine() -> None:
    """An engine says what it can; only `engines` names one, and only its `opening` chooses."""
    classes, dialects = {"DuckDB", "PostgreSQL"}, {"duckdb", "postgres", "postgresql"}
    for path in MODULES:
        if room(path) in ("engines", "queries"):  # these print SQL in a dialect
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            assert named not in classes, f"{path.name}, line {node.lineno}: {named} belongs to kanon_sql/engines"
            if isinstance(node, ast.Compare):
                compared = {item.value for item in ast.walk(node) if isinstance(item, ast.Constant)}
                assert not dialects & compared, f"{path.name}, line {node.lineno}: ask the engine what it can"


def test_no_files_import_each_other_in_a_circle() -> None:
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in MODULES}
    needs: dict[str, set[str]] = {}
    for name, path in names.items():
        longest = {found if found in names else found.rpartition(".")[0] for found in imported(path)}
        needs[name] = {found for found in longest if found in names and found != name}
    TopologicalSorter(needs).prepare()  # CycleError says which files


def test_only_a_scratch_makes_temporary_tables() -> None:
    """So that whoever makes one drops it too; the engines and the publisher have names of their own."""
    own = {"kanon_sql/release/publish.py"}
    for path in MODULES:
        if room(path) in ("engines", "queries") or str(path.relative_to(PACKAGE.parent)) in own:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_scratch = isinstance(node, ast.Attribute) and node.attr == "scratch" and isinstance(node.value, ast.Name)
            assert not (is_scratch and node.value.id == "queries"), f"{path.name}, line {node.lineno}: use a Scratch"


@pytest.mark.parametrize("path", TEST_FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_no_test_imports_a_test(path: Path) -> None:
    """What two test files need is in `support`, so that either can be run, moved or dropped alone."""
    tests = {"conftest", *(other.stem for other in TEST_FILES if other.stem.startswith("test_"))}
    assert not tests & {part for name in imported(path) for part in name.split(".")}, "move it to tests/support"
