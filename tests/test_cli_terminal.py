"""A search on a terminal: its progress, and what Ctrl-C does."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest

from kanon_sql.demo_data import write_parquet
from kanon_sql.strategies import Progress
from kanon_sql.verbs.progress import progress_line
from support.command_line import kanon

ROOT = Path(__file__).resolve().parent.parent
ADULT = ROOT / "hierarchies" / "adult"
ADULT_COLUMNS = "age,workclass,education,marital-status,occupation,race,sex,native-country"


# Watching


def progress(**known: Any) -> Progress:
    """A search that just began, but for what is known of it."""
    start: dict[str, Any] = {"seconds": 1.26, "nodes_checked": 8, "lattice_size": 12960, "node": None, "score": inf}
    return Progress(**{**start, **known})


@pytest.mark.parametrize(
    ("seen", "shown"),
    [
        (progress(), "8 of 12,960 nodes checked, 1 s"),
        (progress(bound=inf), "8 of 12,960 nodes checked, 1 s"),
        (progress(bound=0.25, seconds_left=58.7), "8 of 12,960 nodes checked, bound 0.2500, 1 s, 59 s left"),
        (
            progress(nodes_checked=12345, node=(1, 2), score=0.5, bound=0.25, seconds=3700.0),
            "12,345 of 12,960 nodes checked, best 0.5000, bound 0.2500, gap 0.2500, 62 min",
        ),
        (
            progress(lattice_size=16 * 10**18, node=(1,), score=55170356.0, bound=0.0, seconds_left=54000.0),
            "8 of 1.6e+19 nodes checked, best 55,170,356, bound 0, gap 55,170,356, 1 s, 15.0 h left",
        ),
    ],
)
def test_progress_shows_the_known_figures(seen: Progress, shown: str) -> None:
    assert progress_line(seen) == shown


@pytest.mark.slow
@pytest.mark.nightly
def test_a_search_is_watched_on_a_terminal(tmp_path: Path) -> None:
    """Strategy by strategy, with the best so far, what is proven, and the time left; none of it on standard output."""
    write_parquet(tmp_path / "people.parquet", 2000)
    options = ["--identifiers", "person_id", "--quasi-identifiers", ADULT_COLUMNS, "--hierarchies", str(ADULT)]
    line = [sys.executable, "-m", "kanon_sql", "compare", "people.parquet", *options, "--strategies", "auto,exhaustive"]
    ours, theirs = pty.openpty()
    wide = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    process = subprocess.Popen(
        [*line, "--time-limit", "4", "--json"], stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=tmp_path, env=wide
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while more := os.read(ours, 4096):
            shown += more
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0
    assert [search["strategy"] for search in json.loads(out)["searches"]] == ["auto", "exhaustive"]
    text = shown.decode(errors="replace")
    figure = r"\d(\.\d+|e-\d+)?"
    assert re.search(
        rf"auto, 1 of 2: [\d,]+ of [\d,]+ nodes checked, best {figure}, bound {figure}, gap {figure}, \d s, \d s left "
        r"\(Ctrl-C skips to the next\)",
        text,
    )
    assert re.search(r"exhaustive, 2 of 2: [\d,]+ of [\d,]+ nodes checked", text)
    assert "inf" not in text
    assert "nan" not in text


# Ctrl-C


@pytest.fixture
def searching(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Callable[[], str]]]:
    """A long search on a terminal, and the function that reads the rest of what the terminal shows."""
    write_parquet(tmp_path / "people.parquet", 2000)
    options = ["--identifiers", "person_id", "--quasi-identifiers", ADULT_COLUMNS, "--hierarchies", str(ADULT)]
    line = [sys.executable, "-m", "kanon_sql", "anonymize", "people.parquet", *options, "--strategy", "exhaustive"]
    ours, theirs = pty.openpty()
    target = ["--overwrite", "--output", "anon.parquet"]
    process = subprocess.Popen([*line, *target], stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=tmp_path)
    os.close(theirs)

    def rest(until: str = "") -> str:
        shown = b""
        while not until or until.encode() not in shown:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
        return shown.decode(errors="replace")

    try:
        assert "nodes checked" in rest("nodes checked")
        yield process, rest
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.usefixtures("terminal")
@pytest.mark.slow
def test_ctrl_c_releases_the_best_so_far(searching: Any, tmp_path: Path) -> None:
    process, rest = searching
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "not proven optimal" in out
    assert "the search did not end (interrupted)" in " ".join(rest().split())
    assert kanon("verify", tmp_path / "anon.parquet", "--quasi-identifiers", ADULT_COLUMNS, "--k", 5).code == 0


@pytest.mark.usefixtures("terminal")
@pytest.mark.slow
def test_a_second_ctrl_c_leaves_everything_unchanged(searching: Any, tmp_path: Path) -> None:
    (tmp_path / "anon.parquet").write_text("old")
    process, _ = searching
    process.send_signal(signal.SIGSTOP)  # so that both arrive in the search
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGCONT)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
    assert process.returncode not in (0, 2)
    assert {path.name: path.read_bytes()[:3] for path in tmp_path.iterdir()} == {
        "people.parquet": b"PAR",
        "anon.parquet": b"old",
    }
