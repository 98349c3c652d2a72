"""A long piece of work in a process of its own, and what it has told so far."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PACKAGES = Path(__file__).resolve().parents[2]
MADE = ("made", "some", "report", "statement")  # a release; a few of its rows, and what is written of it


@dataclass
class Work:
    """A request that a worker is busy with. `told` is called after every event, from another thread, and `kept` with
    each thing that the worker has made, by its kind, before the work has ended for anybody else.

    `stage`: what is being done. `now`: where the search or the recoding stands. `way`: seconds, score and bound at
    every improvement. `number`: of the result that it has made, or is about.
    `made`: whether it has made a release. `ended`: done, failed or stopped; then
    `result` says why it failed.
    """

    name: str
    request: Mapping[str, Any]
    told: Callable[[Work], None]
    kept: Callable[[Work, str, Any], None]
    number: int | None = None
    made: bool = False
    stage: str = "Starting"
    now: Mapping[str, Any] = field(default_factory=dict)
    way: list[tuple[float, float | None, float]] = field(default_factory=list)
    ended: str | None = None
    result: Any = None
    stopping: bool = False
    _process: subprocess.Popen[str] | None = None

    def start(self, folder: Path) -> None:
        """Start the worker in a folder, in a group of its own, so that Ctrl-C here does not reach it."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(_modules(folder)), "PYTHONSAFEPATH": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kanon_sql.page.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        assert self._process.stdin
        self._process.stdin.write(json.dumps(self.request, default=str) + "\n")
        self._process.stdin.flush()
        threading.Thread(target=self._follow, args=(self._process,), daemon=True).start()

    def stop(self, keep: bool = True) -> None:
        """Have it take the best so far, or end without a result. A second wish to stop ends it."""
        keep, self.stopping = keep and not self.stopping, True
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT if keep else signal.SIGTERM)

    def close(self) -> None:
        """End it, and wait until it has tidied up."""
        if self._process and self._process.poll() is None:
            self.stop(keep=False)
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()

    def _follow(self, process: subprocess.Popen[str]) -> None:
        """Take in what the worker tells until its end; what is no event is a complaint."""
        complaint = ""
        assert process.stdout
        for line in process.stdout:
            try:
                ((kind, told),) = json.loads(line).items()
            except (ValueError, AttributeError):
                complaint = line.strip() or complaint
                continue
            self._take(kind, told)
            if self.ended is None:
                self.told(self)
        code = process.wait()
        if self.ended is None and self.stopping:  # it had hardly begun
            self._take("stopped", None)
        elif self.ended is None:
            why = complaint or f"its process ended with code {code}"
            self._take("failed", {"text": f"the run ended before it was done: {why}", "infeasible": False})
        self.told(self)

    def _take(self, kind: str, told: Any) -> None:
        if kind == "stage":
            self.stage, self.now = told, {}
        elif kind in ("search", "recode"):
            self.now = told
            point = (told.get("score"), told.get("bound") or 0.0)
            if kind == "search" and (not self.way or self.way[-1][1:] != point):
                self.way.append((told["seconds"], *point))
        elif kind in MADE:
            self.made |= kind == "made"
            self.kept(self, kind, told)
        else:
            self.ended, self.result = kind, told


def _modules(folder: Path) -> list[str]:
    """Where a worker finds its modules: never in the folder of the data, unless this package is in it."""
    if folder.resolve() == _PACKAGES:
        return [path for path in sys.path if path]
    return [path for path in sys.path if path and Path(path).resolve() != folder.resolve()]
