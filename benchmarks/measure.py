"""What every benchmark here shares: where Adult is, and how a whole process is measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]

ADULT_COLUMNS = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip


def adult() -> Path:
    """The folder of the Adult table and ARX's hierarchies for it."""
    data = os.environ.get("KANON_DATA")
    if not data:
        sys.exit("set KANON_DATA to the folder that holds adult/adult.csv and adult/hierarchies/")
    return Path(data) / "adult"


@dataclass(frozen=True)
class Cost:
    """What one process took: seconds on the wall, seconds of CPU, peak memory in MB."""

    wall: float
    cpu: float
    megabytes: float


def process(*command: str, output: Path = Path(os.devnull)) -> Cost:
    """Run a command to its end in a process of its own, and say what it took; it must succeed.

    `output`: the file for what it prints.
    """
    meter = (
        "import resource, subprocess, sys, time; started = time.monotonic();"
        "done = subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], 'wb')); wall = time.monotonic() - started;"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024); sys.exit(done.returncode)"
    )
    # An installed package is compiled once; a shell that forbids that would compile it in every run.
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", meter, str(output), *command], capture_output=True, text=True, check=False, env=compiled
    )
    if done.returncode:
        sys.exit(done.stderr)
    return Cost(*(float(figure) for figure in done.stdout.split()))


def record(path: Path, parts: Mapping[str, Callable[[], Iterator[Row]]]) -> None:
    """Run the parts that the command line names, or all; what they give goes to a JSON file as soon as it is there."""
    results = json.loads(path.read_text()) if path.exists() else {}
    for name in sys.argv[1:] or list(parts):
        results[name] = []
        for row in parts[name]():
            print(json.dumps(row), flush=True)
            results[name].append(row)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n")
