"""Create the pictures of docs/images: python docs/pictures.py [NAME …], by default all of them.

Plots need matplotlib and read benchmarks/results; screens need a Chromium. Every picture in the folder must be created
here: tests/test_pictures.py compares this list with the folder.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode
from urllib.request import urlopen

import kanon_sql
from kanon_sql.demo_data import write_parquet
from kanon_sql.resources import folder

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
sys.path.append(str(ROOT / "benchmarks"))


def lattice() -> None:
    """Age, sex and race of two thousand fictional people: fewer nodes than a page is wide."""
    with TemporaryDirectory() as here:
        people = Path(here) / "people.parquet"
        write_parquet(people, 2000)
        picture = kanon_sql.lattice(
            people,
            quasi_identifiers={"age": {"max_level": 3}, "sex": None, "race": None},
            hierarchies=folder("hierarchies") / "adult",
            k=5,
        )
        picture.write(IMAGES / "lattice.svg", overwrite=True)


def cloaking() -> None:
    """Boxes as published and shared."""
    from cloaking import picture

    picture(IMAGES / "cloaking.svg")


def report() -> None:
    """Two pictures of the report on the demo."""
    from report import draw

    draw(IMAGES)


def searches() -> None:
    """The plots of the benchmark of searches, and its tables."""
    import search_pages

    search_pages.main()


def recodings() -> None:
    """The plot of the benchmark of local recodings, and its tables."""
    import recoding_pages

    recoding_pages.main()


def benchmark() -> None:
    """The plot of the benchmark, and its tables."""
    import all_pages

    all_pages.main()


def screen(address: str, name: str, width: int = 1100, tall: int | None = None) -> None:
    """What a headless Chromium shows of a page, whole or so `tall`, in docs/images; whoever calls this serves it."""
    from playwright.sync_api import sync_playwright

    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit(f"{name} needs Chromium; install it, or name the other pictures")
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        window = opened.new_page(viewport={"width": width, "height": tall or 600})
        window.goto(address)
        window.wait_for_selector("main h1")
        window.wait_for_timeout(1500)  # until what it counts is there
        window.screenshot(path=IMAGES / name, full_page=tall is None)
        opened.close()


def page() -> None:
    """Screens of `kanon page` on the demo's people: columns, a hierarchy, the risk at some levels, two results."""
    with TemporaryDirectory() as here:
        write_parquet(Path(here) / "people.parquet", 30_162)
        command = [sys.executable, str(ROOT / "cli.py"), "page", "people.parquet"]
        with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            address = next(word for word in server.stdout.readline().split() if word.startswith("http"))
            screen(f"{address}columns", "page-columns.png", width=1440)
            screen(f"{address}hierarchies/3", "page-hierarchies.png", width=1440, tall=1240)
            levels = urlencode({"k": 5, "level-1": 2, "level-3": 1, "level-8": 1}).encode()
            urlopen(f"{address}risk", levels).close()
            screen(f"{address}risk", "page-risk.png")
            for k in (5, 20):
                urlopen(f"{address}risk", urlencode({"k": k}).encode()).close()
                urlopen(f"{address}search/run", b"").close()
                while b"Stop, and take" in urlopen(f"{address}search").read():
                    time.sleep(0.5)
            screen(f"{address}compare", "page-compare.png", tall=980)
            screen(f"{address}data", "page-data.png", width=1440, tall=900)
            server.terminate()


# A screen is created like any other picture: a function opens the page and calls `screen`, and is listed with its file.
PICTURES: dict[str, Callable[[], None]] = {
    "lattice.svg": lattice,
    "cloaking.svg": cloaking,
    "report-sizes.svg": report,
    "report-columns.svg": report,
    "proof.svg": searches,
    "genetic.svg": searches,
    "recoding.svg": recodings,
    "benchmark.svg": benchmark,
    "page-columns.png": page,
    "page-hierarchies.png": page,
    "page-risk.png": page,
    "page-compare.png": page,
    "page-data.png": page,
}


def main() -> None:
    """Create the named pictures, or all; a function with several pictures runs once."""
    named = sys.argv[1:] or [*PICTURES]
    if unknown := [name for name in named if name not in PICTURES]:
        raise SystemExit(f"there is no picture {unknown[0]}; there are {', '.join(PICTURES)}")
    for make in dict.fromkeys(PICTURES[name] for name in named):
        make()


if __name__ == "__main__":
    main()
