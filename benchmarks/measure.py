"""What every benchmark here shares: where Adult is, and how a whole process is measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    """What one process took: seconds on the wall and of CPU, peak memory in MB, and in MB what it spilled at most.

    `code`: its exit code. `killed`: whether its time was over. `errors`: its standard error.
    """

    wall: float
    cpu: float
    megabytes: float
    spilled: float = 0.0
    code: int = 0
    killed: bool = False
    errors: str = ""


def metered(command: Sequence[str], seconds: float = 0, output: Path = Path(os.devnull), spill: str = "") -> Cost:
    """Run a command in a separate process, to its end or for so many `seconds`; returns its time and memory.

    `output`: the file for what it prints. `spill`: the folder that it spills to.
    """
    # An installed package is compiled once; a shell that forbids that would compile it in every run.
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    meter = [sys.executable, "-S", "-E", str(Path(__file__).with_name("meter.py")), str(seconds), spill, str(output)]
    done = subprocess.run([*meter, *command], capture_output=True, text=True, check=False, env=compiled)
    if done.returncode:
        raise SystemExit(done.stderr)
    return Cost(**json.loads(done.stdout), errors=done.stderr)


def process(*command: str, output: Path = Path(os.devnull)) -> Cost:
    """Run a command that must succeed in a separate process; returns its time and memory."""
    cost = metered(command, output=output)
    if cost.code:
        sys.exit(cost.errors)
    return cost


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
