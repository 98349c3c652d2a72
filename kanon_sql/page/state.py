"""The state that all windows of a page share: the draft, its frequency set, the running work, and the results."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.page import web
from kanon_sql.page.column_values import EditorState, places
from kanon_sql.page.draft import Draft
from kanon_sql.page.histograms import DraftCounts, counted
from kanon_sql.page.summaries import ColumnSummary, SourceSummary, summarized
from kanon_sql.page.work import Work
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import opened

PATIENCE = 0.5  # seconds that a screen waits for the counts; after that, an event brings them
_PAUSE = 0.25  # seconds between two progress events of a running search
_MOST_UNDONE = 200  # drafts that Undo can return to
_TOGETHER = 1.0  # seconds: changes of the same setting within them, as of a slider, are undone together


@dataclass(frozen=True)
class PageResult:
    """The manifest of a release that was computed from a draft, in a temporary table or written to its target.

    `way`: seconds, score and bound at every improvement. `some`: a few released rows, by `columns` and `rows`.
    `report`: its HTML, if requested. `statement`: of the release, by `dialect`, `table` and `sql`. `explored`: the
    searched lattice, `measures`: risk and utility, as `kanon_sql.page.measures` returns them. `figures`: of its report.
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
    explored: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def written(self) -> bool:
        """Whether the release is in a file or a permanent table."""
        return bool(self.manifest["target"].get("as") != "temporary table")


@dataclass
class Page:
    """The page. Every change goes through it, one at a time.

    `folder`: base of the spec's paths; `output`: folder for written files. `editor`: state of the hierarchies screen.
    `questions`: pairs of columns whose cross tables matter to the user.
    `rows`: of the source. `notes`: how it was read, and what was not analysed. `spec_name`: name of the spec file.
    `connection`: the keys of a spec for its database, if the page has one. `hierarchies`: the folder with their files.
    `time_limit`: seconds for the analysis of a source. `saved_name`: of the saved work, without its ending.
    `past`, `future`: the drafts that Undo and Redo return to.
    """

    draft: Draft
    folder: Path
    rows: int
    notes: tuple[str, ...] = ()
    output: Path = field(default_factory=Path.cwd)
    spec_name: str = "release.yml"
    connection: Mapping[str, Any] = field(default_factory=dict)
    hierarchies: Path | None = None
    time_limit: float | None = 10.0
    saved_name: str = ""
    windows: web.Windows = field(default_factory=web.Windows)
    editor: EditorState = field(default_factory=EditorState)
    work: Work | None = None
    results: list[PageResult] = field(default_factory=list)
    questions: tuple[tuple[str, ...], ...] = ()
    past: list[Draft] = field(default_factory=list)
    future: list[Draft] = field(default_factory=list)
    _opening: threading.Lock = field(default_factory=threading.Lock)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _counted: tuple[Mapping[str, Any], Future[DraftCounts]] | None = None
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2))
    _summaries: tuple[Mapping[str, Any], Future[SourceSummary]] | None = None
    _last_change: tuple[frozenset[str], float] = (frozenset(), 0.0)
    _last_event: float = 0.0
    _last_number: int = 0

    @property
    def source(self) -> str:
        """The table, or the file without its folder; empty if nothing is open."""
        named = str(self.draft.keys.get("source", ""))
        return named if "database" in self.draft.keys else Path(named).name

    @property
    def opened(self) -> bool:
        """Whether a source is open."""
        return bool(self.draft.columns)

    @property
    def first_screen(self) -> str:
        """The screen that the address of the page leads to."""
        return "columns" if self.opened else "start"

    @contextlib.contextmanager
    def opening(self) -> Iterator[None]:
        """Open a source in the block; SpecError while another one is opened, or work is running."""
        if self.work and self.work.ended is None:
            raise SpecError("something is running; stop it before you open other data")
        if not self._opening.acquire(blocking=False):
            raise SpecError("another window is opening data; wait until it is done")
        try:
            yield
        finally:
            self._opening.release()

    def put(self, draft: Draft, rows: int, notes: tuple[str, ...], results: Sequence[PageResult]) -> None:
        """Show another source, with its results, in all windows."""
        with self._lock:
            self.draft, self.rows, self.notes, self.results = draft, rows, notes, list(results)
            self.editor, self.work = EditorState(), None
            self.past, self.future, self.questions = [], [], ()
            self._counted = self._summaries = None
            self._last_number = max([self._last_number, *(result.number for result in results)])
            self.counting()
            self.summaries()
        self.windows.tell("changed")

    def change(self, edit: Callable[[Draft], Draft]) -> None:
        """Edit the draft, and notify every window if it changed."""
        with self._lock:
            before = self.draft
            self.draft = edit(self.draft)
            if self.draft != before:
                self._remember(before)
                if self.work and self.work.ended == "failed":  # the reason might not apply to this draft
                    self.work = None
        if self.draft != before:
            self.windows.tell("changed")

    def _remember(self, before: Draft) -> None:
        """Let Undo return to a draft, unless the last change was of the same setting a moment ago."""
        changed, now = before.differing(self.draft), time.monotonic()
        settings, last = self._last_change
        if changed != settings or now - last > _TOGETHER or not self.past:
            self.past = [*self.past[1 - _MOST_UNDONE :], before]
        self._last_change = changed, now
        self.future = []

    def undo(self, back: bool = True) -> None:
        """Return to the previous draft, or to the one that was undone last; SpecError if there is none."""
        with self._lock:
            drafts, others = (self.past, self.future) if back else (self.future, self.past)
            if not drafts:
                raise SpecError(f"there is nothing to {'undo' if back else 'redo'}")
            others.append(self.draft)
            self.draft = drafts.pop()
            self._last_change = frozenset(), 0.0
            self.editor.rejected.clear()
            self.editor.messages.clear()
        self.windows.tell("changed")

    def summaries(self) -> Future[SourceSummary]:
        """The contents of the columns, as a future; every window is notified when they are counted."""
        with self._lock:
            key = {**places(self.draft), "unit": self.draft.keys.get("unit")}
            if self._summaries is None or self._summaries[0] != key:
                counting = self._pool.submit(summarized, self.draft)
                counting.add_done_callback(lambda _: self.windows.tell("changed"))
                self._summaries = key, counting
            return self._summaries[1]

    def counted_columns(self, timeout: float = PATIENCE) -> Mapping[str, ColumnSummary]:
        """The contents of the columns; empty while they are counted, or if that fails."""
        try:
            return self.summaries().result(timeout).columns
        except (TimeoutError, KanonError):
            return {}

    def counting(self) -> Future[DraftCounts]:
        """The draft's frequency set, as a future; every window is notified when it is ready.

        It is counted once for all drafts with the same columns and hierarchies. Its `result` raises KanonError if
        counting fails.
        """
        with self._lock:
            key = self.draft.counted_by()
            if self._counted is None or self._counted[0] != key:
                counting = self._pool.submit(_count, self.draft)
                counting.add_done_callback(lambda _: self.windows.tell("changed"))
                self._counted = key, counting
            return self._counted[1]

    def counted(self) -> DraftCounts:
        """Wait for the draft's frequency set; KanonError if counting fails."""
        return self.counting().result()

    def run(self, name: str, request: Mapping[str, Any], draft: Draft | None = None, number: int | None = None) -> None:
        """Start a worker for a draft, or for the result with a number; SpecError while another worker runs."""
        with self._lock:
            if self.work and self.work.ended is None:
                raise SpecError("something is running already; stop it first")
            running = draft or self.draft
            keep = lambda work, kind, output: self._keep(work, kind, output, running)  # noqa: E731
            self.work = Work(name, request, self._follow, keep, number)
            self.work.start(self.folder)
        self.windows.tell("changed")

    def stop(self, keep: bool = True) -> None:
        """Stop the worker, with the best result so far or without one, and notify every window."""
        if self.work:
            self.work.stop(keep)
            self.windows.tell("changed")

    def result(self, number: int) -> PageResult:
        """The result with a number; SpecError if it does not exist any more."""
        for result in self.results:
            if result.number == number:
                return result
        raise SpecError(f"there is no result {number}; another window may have removed it")

    def update(self, number: int, **changes: Any) -> None:
        """Change fields of a result, and notify every window; SpecError if it does not exist any more."""
        with self._lock:
            place = self.results.index(self.result(number))
            self.results[place] = replace(self.results[place], **changes)
        self.windows.tell("changed")

    def remove(self, number: int) -> None:
        """Remove a result from the page; files and tables written from it stay."""
        with self._lock:
            self.results.remove(self.result(number))
        self.windows.tell("changed")

    def _keep(self, work: Work, kind: str, output: Any, draft: Draft) -> None:
        """Store a worker's output: a release as a new result, anything else in its result."""
        with self._lock:
            if kind == "release":
                work.number = self._last_number = self._last_number + 1
                self.results.append(PageResult(work.number, work.name, draft, way=tuple(work.way), **output))
                self.windows.tell("changed")
            elif work.number is not None:
                with contextlib.suppress(SpecError):  # removed meanwhile
                    self.update(work.number, **{kind: output})

    def _follow(self, work: Work) -> None:
        """Notify the windows of a worker's progress."""
        if work.ended:
            self.windows.tell("changed")
        elif time.monotonic() - self._last_event > _PAUSE:
            self._last_event = time.monotonic()
            self.windows.tell("live", web.fragment("running", work=work))

    def begin(self) -> None:
        """Start counting what the first screens need."""
        if self.opened:
            self.counting()
            self.summaries()

    def close(self) -> None:
        """End the worker, if any."""
        if self.work:
            self.work.close()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _count(draft: Draft) -> DraftCounts:
    if not draft.quasi_identifiers:
        raise SpecError("no column is a quasi-identifier; under Columns, choose the columns that others might know")
    spec = draft.spec(privacy={"k": 1}, strategy="auto", target=None)
    with opened(None, spec, warns=False) as source:
        return counted(source, spec, Observer())
