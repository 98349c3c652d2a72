"""A long piece of work in a separate process, and its progress so far."""

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
# event kinds: a release, a few of its rows, the lattice around it, its report and statement, what was measured, and the
# state of a release of several tables
OUTPUTS = ("release", "some", "explored", "report", "statement", "measures", "figures", "database")


@dataclass
class Work:
    """A request that a worker process is busy with.

    `on_event` is called after every event, from another thread; `on_output` with every output of the worker and its
    kind, before the work counts as ended.

    `stage`: the current step. `now`: progress of the search or recoding. `way`: seconds, score and bound at every
    improvement. `number`: of the result that it produced, or belongs to. `released`: whether a release exists.
    `ended`: done, failed or stopped; if failed, `result` has the reason.
    """

    name: str
    request: Mapping[str, Any]
    on_event: Callable[[Work], None]
    on_output: Callable[[Work, str, Any], None]
    number: int | None = None
    released: bool = False
    stage: str = "Starting"
    now: Mapping[str, Any] = field(default_factory=dict)
    way: list[tuple[float, float | None, float]] = field(default_factory=list)
    ended: str | None = None
    result: Any = None
    stopping: bool = False
    _process: subprocess.Popen[str] | None = None

    def start(self, folder: Path) -> None:
        """Start the worker in a folder and a separate process group, which Ctrl-C in this terminal does not reach."""
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
        """Stop the worker, with the best result so far or without one. A second call ends it."""
        keep = keep and not self.stopping
        self.stopping = True
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT if keep else signal.SIGTERM)

    def close(self) -> None:
        """End the worker, and wait until it has cleaned up."""
        if self._process and self._process.poll() is None:
            self.stop(keep=False)
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()

    def _follow(self, process: subprocess.Popen[str]) -> None:
        """Read the worker's events until it ends; any other output counts as an error message."""
        complaint = ""
        assert process.stdout
        for line in process.stdout:
            try:
                ((kind, payload),) = json.loads(line).items()
            except (ValueError, AttributeError):
                complaint = line.strip() or complaint
                continue
            self._take(kind, payload)
            if self.ended is None:
                self.on_event(self)
        code = process.wait()
        if self.ended is None and self.stopping:  # stopped before its first event
            self._take("stopped", None)
        elif self.ended is None:
            reason = complaint or f"its process ended with code {code}"
            self._take("failed", {"text": f"the run ended before it was done: {reason}", "infeasible": False})
        self.on_event(self)

    def _take(self, kind: str, payload: Any) -> None:
        if kind == "stage":
            self.stage = payload
            self.now = {}
        elif kind in ("search", "recode"):
            self.now = payload
            point = (payload.get("score"), payload.get("bound") or 0.0)
            if kind == "search" and (not self.way or self.way[-1][1:] != point):
                self.way.append((payload["seconds"], *point))
        elif kind in OUTPUTS:
            self.released |= kind == "release"
            self.on_output(self, kind, payload)
        else:
            self.ended, self.result = kind, payload


def _modules(folder: Path) -> list[str]:
    """The worker's module path, without the folder of the data, unless this package is in that folder."""
    if folder.resolve() == _PACKAGES:
        return [path for path in sys.path if path]
    return [path for path in sys.path if path and Path(path).resolve() != folder.resolve()]
