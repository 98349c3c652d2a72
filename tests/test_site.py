"""The build of the site finds external resources, broken links, and pages missing from the menu."""

import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
BUILD = runpy.run_path(str(DOCS / "build.py"))


def listed(menu: Any) -> list[str]:
    if isinstance(menu, str):
        return [menu]
    return [page for item in (menu.values() if isinstance(menu, dict) else menu) for page in listed(item)]


def test_every_page_is_in_the_menu() -> None:
    """All but the single decisions, which their own page lists."""
    menu = listed(tomllib.loads((DOCS / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"])
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | {*BUILD["FROM_ABOVE"].values()}
    assert set(menu) == {page for page in pages if not re.match(r"decisions/\d", page)}
    assert len(menu) == len(set(menu))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>'),
        ("a.html", '<img src="//cdn.example/x.png">'),
        ("a.html", '<img srcset="a.png 1x, https://cdn.example/x.png 2x">'),
        ("a.html", '<link rel="stylesheet" href="https://fonts.example/css">'),
        ("a.html", '<p style="background: url(https://cdn.example/x.png)">'),
        ("a.html", "<style>@import 'https://fonts.example/css';</style>"),
        ("a.html", '<script>fetch("https://api.example/x")</script>'),
        ("a.css", "@font-face { src: url('https://fonts.example/x.woff2') }"),
        ("a.js", "import('https://cdn.example/mermaid.js')"),
        ("a.js", "load(`https://${host}/api`)"),
        ("a.js", 'load("//cdn.example/x.js")'),
    ],
)
def test_loadable_files_are_found(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    (found,) = BUILD["loads"](tmp_path)
    assert found.startswith(f"{name} would load ")


def test_links_and_plain_text_are_not_counted_as_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="https://example.org">x</a><img src="a.png"><p>url(https://x.example)</p>'
    )
    (tmp_path / "a.js").write_text('svg("http://www.w3.org/2000/svg"); test("//i.test(x)"); // https://x.example')
    assert not [*BUILD["loads"](tmp_path)]


def test_scripts_are_cut_off(tmp_path: Path) -> None:
    (tmp_path / "404.html").write_text("")
    (tmp_path / "a.js").write_text('load("https://cdn.example/mermaid.js"), ns("http://www.w3.org/2000/svg")')
    (tmp_path / "search.js").write_text('var index = "\\"https://example.org\\""')
    BUILD["cut_off"](tmp_path)
    assert (tmp_path / "a.js").read_text() == 'load("data:,"), ns("http://www.w3.org/2000/svg")'
    assert (tmp_path / "search.js").read_text() == 'var index = "\\"https://example.org\\""'


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<h2 id="here">')
    (tmp_path / "a.html").write_text('<a href="b/#here"><a href="b/index.html#gone"><a href="#gone"><img src="no.png">')
    found = [*BUILD["dead_ends"](tmp_path)]
    assert [line.split()[1] for line in found] == ["b/index.html#gone", "#gone", "no.png"]


def test_the_links_of_a_page_follow_what_has_moved() -> None:
    root = DOCS.parent
    led = BUILD["with_links"]
    assert led(DOCS / "dbt.md", "[a](../README.md#set-up), [b](search.md)") == "[a](readme.md#set-up), [b](search.md)"
    assert (
        led(root / "README.md", "[a](docs/init.md), [b](docs/decisions/)") == "[a](init.md), [b](decisions/README.md)"
    )
    assert led(root / "README.md", "[the code](kanon_sql/loss.py)") == "the code"
    assert led(DOCS / "pipelines" / "cron.md", "[a](../../CHANGELOG.md)") == "[a](../changelog.md)"
