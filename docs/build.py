"""Build the site from docs/ into build/site, and check it: python docs/build.py (once: pip install '.[docs]').

A link that leads nowhere ends the build, and so does an address that a page would load from elsewhere: fonts, scripts,
pictures. Links for readers may lead elsewhere.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SITE = ROOT / "build" / "site"
FROM_ABOVE = {  # pages of the site that are elsewhere in the repository
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "hierarchies/README.md": "hierarchies-that-come-along.md",
    "dbt/README.md": "dbt-package.md",
    "examples/dbt/README.md": "dbt-example.md",
}
KINDS = ("*.md", "*.svg", "*.png", "*.css", "*.js")
_LINK = re.compile(r"\[([^\[\]]*)\]\((?!\w+:|#)([^)\s#]+)([^)]*)\)")


def main() -> int:
    """Build and check; 1 if something is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        stage(Path(folder))
        command = [Path(sys.executable).with_name("zensical"), "build", "--strict", "-f", f"{folder}/zensical.toml"]
        if subprocess.run(command, cwd=folder).returncode:
            return 1
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.copytree(Path(folder) / "site", SITE)
    cut_off(SITE)
    problems = [*loads(SITE), *dead_ends(SITE), *untold(SITE)]
    print(
        "\n".join(problems) or f"{SITE} is complete: every link leads somewhere, and nothing is loaded from elsewhere"
    )
    return bool(problems)


def stage(folder: Path) -> None:
    """Lay the pages out as the site has them: docs/, and what comes from above under its new name."""
    for kind in KINDS:
        for path in DOCS.rglob(kind):
            put(path, folder / path.relative_to(ROOT))
    for name, page in FROM_ABOVE.items():
        put(ROOT / name, folder / "docs" / page)
    for name in ("zensical.toml", "spelled_out.py"):
        shutil.copy(DOCS / name, folder)
    (folder / "kanon_sql").symlink_to(ROOT / "kanon_sql")


def put(path: Path, target: Path) -> None:
    """Copy a file; the links of a page follow what has moved."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".md":
        target.write_text(with_links(path, path.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        shutil.copy(path, target)


def with_links(path: Path, text: str) -> str:
    """The text of a page, its links led to where the site has what they name; what it has not is named alone."""
    here = place(path).parent

    def led(link: re.Match[str]) -> str:
        end = (path.parent / link[2]).resolve()
        end = end / "README.md" if end.is_dir() else end
        if end.exists() and place(end).parts[0] != "docs":
            return link[1]
        return f"[{link[1]}]({Path(os.path.relpath(place(end), here)).as_posix()}{link[3]})"

    return _LINK.sub(led, text)


def place(path: Path) -> Path:
    """Where the site has a file of the repository."""
    name = path.relative_to(ROOT).as_posix()
    return Path("docs", FROM_ABOVE[name]) if name in FROM_ABOVE else Path(name)


def cut_off(site: Path) -> None:
    """Take the addresses out of the theme's scripts, which would fetch diagrams and galleries that no page has.

    The script that the search of a folder needs is one of ours. The page for what is not found knows no folder.
    """
    (site / "404.html").unlink()
    for path in scripts(site):
        path.write_text(_IN_SCRIPT.sub(r"\1data:,", path.read_text(encoding="utf-8")), encoding="utf-8")
    for path in site.rglob("*.html"):
        ours = os.path.relpath(site / "search-in-a-folder.js", path.parent)
        path.write_text(path.read_text(encoding="utf-8").replace(_WORKERS, ours), encoding="utf-8")


def scripts(site: Path) -> list[Path]:
    """The programs of a site: not the index of its search, which is the pages' own text."""
    return [path for path in site.rglob("*.js") if path.name != "search.js"]


_WORKERS = "https://unpkg.com/iframe-worker/shim"
_NAMES = r"www\.w3\.org/"  # of XML's vocabularies, which are never fetched
_HOST = r"(?:https?|wss?)://|//[\w-]+(?:\.[\w-]+)+(?=[\"'`/])"
_IN_SCRIPT = re.compile(rf"""(["'`])(?:{_HOST})(?!{_NAMES})[^"'`\s]*""")
_IN_STYLE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')]+)""")


class Page(HTMLParser):
    """What a page loads, where its links lead, and the places in it that a link can name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self._inside = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Sort the addresses of an element by what a browser does with them."""
        given = {name: value or "" for name, value in attrs}
        self._inside = tag
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        address = given.get("href", "")
        if tag == "a":
            self.links.append(address)
        elif address and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(address)
        self.loaded += [given[name] for name in ("src", "data", "poster", "action") if name in given]
        self.loaded += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        self.loaded += _IN_STYLE.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Look into the page's own styles and scripts."""
        if self._inside == "style":
            self.loaded += _IN_STYLE.findall(data)
        elif self._inside == "script":
            self.loaded += [found.group()[1:] for found in _IN_SCRIPT.finditer(data)]

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002  (the parser's own)
        """What follows is outside styles and scripts."""
        self._inside = ""


def loads(site: Path) -> Iterator[str]:
    """What would be loaded from elsewhere, each with the file that would."""
    programs = scripts(site)
    for path in sorted(site.rglob("*")):
        found: list[str] = []
        if path.suffix == ".html":
            found = [address for address in Page(path).loaded if _ELSEWHERE.match(address)]
        elif path.suffix in (".css", ".svg"):
            found = _IN_STYLE.findall(path.read_text(encoding="utf-8"))
        elif path in programs:
            found = [address.group()[1:] for address in _IN_SCRIPT.finditer(path.read_text(encoding="utf-8"))]
        for address in found:
            yield f"{path.relative_to(site)} would load {address}"


_ELSEWHERE = re.compile(r"\s*(?:\w+:)?//")


def dead_ends(site: Path) -> Iterator[str]:
    """Links and pictures of pages that lead to no file or no place in it."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for address in dict.fromkeys([*page.links, *page.loaded]):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            end = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            end = end / "index.html" if end.is_dir() else end
            known = pages[end].ids if end in pages else {parts.fragment}
            if not end.exists() or (parts.fragment and unquote(parts.fragment) not in known):
                yield f"{path.relative_to(site)}: {address} leads nowhere"


def untold(site: Path) -> Iterator[str]:
    """Options of `anonymize` that the page of the Python API does not list: griffe alone sees only `**options`."""
    from kanon_sql.verbs.options import AnonymizeOptions

    page = (site / "reference" / "python-api.html").read_text(encoding="utf-8")
    for name in AnonymizeOptions.__annotations__:
        if f"<code>{name}</code></b>" not in page:
            yield f"reference/python-api.html does not list the option {name}"


if __name__ == "__main__":
    sys.exit(main())
