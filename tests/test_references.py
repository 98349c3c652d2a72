"""docs/reference is up to date with the commands, the schema of a spec and the package.

`python docs/references.py`, or `KANON_RENEW=1 pytest tests/test_references.py`, writes the pages anew; read
what changed before you keep it.
"""

import os
import re
import runpy
from pathlib import Path

import pytest

import kanon_sql
from kanon_sql import dbt, errors

DOCS = Path(__file__).resolve().parent.parent / "docs"
REFERENCES = runpy.run_path(str(DOCS / "references.py"))


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    generated: dict[str, str] = REFERENCES["pages"]()
    if os.environ.get("KANON_RENEW"):
        REFERENCES["main"]()
    return generated


@pytest.mark.parametrize("name", ["cli.md", "spec.md", "manifest.md", "json.md"])
def test_a_page_is_current(name: str, pages: dict[str, str]) -> None:
    kept = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert kept == pages[name], "run python docs/references.py"


def test_every_public_name_is_in_the_reference_of_python() -> None:
    documented = set(
        re.findall(r"^::: (\S+)$", (DOCS / "reference" / "python-api.md").read_text(encoding="utf-8"), re.M)
    )
    public = {f"kanon_sql.{name}" for name in kanon_sql.__all__}
    raised = {f"kanon_sql.errors.{name}" for name, item in vars(errors).items() if _is_raised(item)}
    raised -= {f"kanon_sql.errors.{name}" for name in kanon_sql.__all__}
    beside = {"kanon_sql.dbt.release"}
    assert documented == public | raised | beside
    assert dbt.release.__doc__


def _is_raised(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def test_a_mark_in_a_help_text_stays_one() -> None:
    prose = REFERENCES["prose"]
    assert prose("a <column>.csv of * and --k") == r"a &lt;column>.csv of \* and `--k`"
    assert prose("as {a: {b: {c: 1}}}, ${NAME} or `{x}`") == "as `{a: {b: {c: 1}}}`, `${NAME}` or `{x}`"
