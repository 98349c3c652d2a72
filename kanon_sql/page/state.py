"""All that the windows of a page share: the draft, what is counted of it, the work that runs, and what came of it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.page import web
from kanon_sql.page.counted import Counted, counted
from kanon_sql.page.draft import Draft
from kanon_sql.page.values import Beside
from kanon_sql.page.work import Work
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import opened

_PAUSE = 0.25  # seconds between two pictures of a running search


@dataclass(frozen=True)
class Result:
    """What came of a draft: the manifest of a release that was made to be looked at, or written.

    `way`: seconds, score and bound at every improvement. `some`: a few released rows, by `columns` and `rows`.
    `report`: its page, where it was asked for. `statement`: of the release, by `dialect`, `table` and `sql`.
    """

    number: int
    name: str
    draft: Draft
    manifest: Mapping[str, Any]
    way: tuple[tuple[float, float | None, float], ...] = ()
    sql: str = ""
    some: Mapping[str, Any] = field(default_factory=lambda: {"columns": (), "rows": ()})
    report: str = ""
    statement: Mapping[str, str] = field(default_factory=dict)

    @property
    def written(self) -> bool:
        """Whether the release is in a file or a table that stays."""
        return bool(self.manifest["target"].get("as") != "temporary table")


@dataclass
class Page:
    """The page: every change goes through it, one at a time. `folder`: where the paths of the spec start.

    `output`: the one that is written to. `beside`: what the screen of hierarchies knows of values. `rows`: of the
    source. `notes`: how it was read, and what was not looked at. `spec_name`: of the file that the spec goes to.
    """

    draft: Draft
    folder: Path
    rows: int
    notes: tuple[str, ...] = ()
    output: Path = field(default_factory=Path.cwd)
    spec_name: str = "release.yml"
    windows: web.Windows = field(default_factory=web.Windows)
    beside: Beside = field(default_factory=Beside)
    work: Work | None = None
    results: list[Result] = field(default_factory=list)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _counted: tuple[Mapping[str, Any], Future[Counted]] | None = None
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    _told: float = 0.0
    _made: int = 0

    @property
    def source(self) -> str:
        """The table, or the file without its folder."""
        named = str(self.draft.keys["source"])
        return named if "database" in self.draft.keys else Path(named).name

    def change(self, edit: Callable[[Draft], Draft]) -> None:
        """Make another draft of the one there is, and tell every window."""
        with self._lock:
            before, self.draft = self.draft, edit(self.draft)
        if self.draft != before:
            self.windows.tell("changed")

    def counting(self) -> Future[Counted]:
        """The frequency set of the draft, or what will be it; every window is told when it is there.

        It is counted once for all drafts of the same columns and hierarchies. Its `result` raises KanonError where it
        cannot be counted.
        """
        with self._lock:
            asked = self.draft.counted_by()
            if self._counted is None or self._counted[0] != asked:
                counting = self._pool.submit(_count, self.draft)
                counting.add_done_callback(lambda _: self.windows.tell("changed"))
                self._counted = asked, counting
            return self._counted[1]

    def counted(self) -> Counted:
        """The frequency set of the draft, once it is there; KanonError where it cannot be counted."""
        return self.counting().result()

    def run(self, name: str, request: Mapping[str, Any], draft: Draft | None = None, number: int | None = None) -> None:
        """Start a worker for a draft, or about the result of a number; SpecError while another is busy."""
        with self._lock:
            if self.work and self.work.ended is None:
                raise SpecError("something is running already; stop it first")
            asked = draft or self.draft
            keep = lambda work, kind, made: self._keep(work, kind, made, asked)  # noqa: E731
            self.work = Work(name, request, self._follow, keep, number)
            self.work.start(self.folder)
        self.windows.tell("changed")

    def stop(self, keep: bool = True) -> None:
        """Have what runs take the best so far, or end without a result, and tell every window."""
        if self.work:
            self.work.stop(keep)
            self.windows.tell("changed")

    def result(self, number: int) -> Result:
        """The result of a number; SpecError if there is none any more."""
        for result in self.results:
            if result.number == number:
                return result
        raise SpecError(f"there is no result {number}; another window may have removed it")

    def renew(self, number: int, **said: Any) -> None:
        """Say something else of a result, or more, and tell every window; SpecError if there is none any more."""
        with self._lock:
            place = self.results.index(self.result(number))
            self.results[place] = replace(self.results[place], **said)
        self.windows.tell("changed")

    def remove(self, number: int) -> None:
        """Forget a result; what was written of it stays."""
        with self._lock:
            self.results.remove(self.result(number))
        self.windows.tell("changed")

    def _keep(self, work: Work, kind: str, made: Any, draft: Draft) -> None:
        """Keep what a worker has made: a release as another result, and what is written of one with it."""
        with self._lock:
            if kind == "made":
                work.number = self._made = self._made + 1
                self.results.append(Result(work.number, work.name, draft, way=tuple(work.way), **made))
                self.windows.tell("changed")
            elif work.number is not None:
                with contextlib.suppress(SpecError):  # removed meanwhile
                    self.renew(work.number, **{kind: made})

    def _follow(self, work: Work) -> None:
        """Show the windows where a worker stands."""
        if work.ended:
            self.windows.tell("changed")
        elif time.monotonic() - self._told > _PAUSE:
            self._told = time.monotonic()
            self.windows.tell("live", web.fragment("running", work=work))

    def close(self) -> None:
        """End what runs."""
        if self.work:
            self.work.close()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _count(draft: Draft) -> Counted:
    if not draft.quasi_identifiers:
        raise SpecError("no column is a quasi-identifier; choose those that others may know, under Columns")
    spec = draft.spec(privacy={"k": 1}, strategy="auto", target=None)
    with opened(None, spec, said=True) as source:
        return counted(source, spec, Observer())
