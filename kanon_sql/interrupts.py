"""Ctrl-C and SIGTERM: a request to stop soon with the results so far, or the end of the run."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn, Protocol, TypeVar

_T = TypeVar("_T")


class Stopped(BaseException):
    """A signal with a `number` ended the run. Everything is rolled back and cleaned up as it propagates."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Interruptible(Protocol):
    """An object whose work another thread can stop."""

    def interrupt(self) -> None: ...


_working: weakref.WeakSet[Interruptible] = weakref.WeakSet()
_at_once: weakref.WeakSet[Interruptible] = weakref.WeakSet()


def interrupted_by_signals(working: Interruptible, at_once: bool = False) -> None:
    """Stop an engine's statements when a signal ends the run; without this, Python waits until they are done.

    `at_once`: interrupting it takes no time, so that a signal handler can do it.
    """
    (_at_once if at_once else _working).add(working)


def _interrupt(every: Iterable[Interruptible]) -> None:
    for working in list(every):
        with suppress(Exception):
            working.interrupt()


def run_to_its_end(work: Callable[[], _T]) -> _T:
    """The result of some work; an exception that a signal raises meanwhile is raised after the work."""
    results: list[_T] = []
    raised: list[BaseException] = []
    begun = threading.Event()
    over = threading.Event()

    def run() -> None:
        begun.wait()  # a signal can arrive while the thread starts: then the work does not begin
        try:
            results.append(work())
        except BaseException as error:
            raised.append(error)
        finally:
            over.set()

    threading.Thread(target=run, daemon=True).start()
    late: BaseException | None = None
    while not over.is_set():
        try:
            begun.set()
            over.wait()
        except BaseException as error:
            late = error
    for exception in (late, *raised):
        if exception is not None:
            raise exception
    (result,) = results
    return result


@dataclass(frozen=True)
class _Caught:
    """A handler that reports the first Ctrl-C, also to enclosing handlers, and then restores the outermost handler."""

    report: Callable[[], None]
    before: Any

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.report()
        if isinstance(self.before, _Caught):
            self.before(number, frame)
            return
        if isinstance(self.before, Signals):
            self.before.excuse()
        signal.signal(signal.SIGINT, self.before)


@contextmanager
def caught(report: Callable[[], None]) -> Iterator[None]:
    """Report the first Ctrl-C and otherwise ignore it; a second one ends the run. Other threads catch nothing.

    Nested blocks report it, too: the outer work must not continue when the inner one stops.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    catching = _Caught(report, before)
    signal.signal(signal.SIGINT, catching)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is catching:
            signal.signal(signal.SIGINT, before)


_ENDING = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 2.0  # seconds in which a further signal does not disturb the cleanup
_BETWEEN = 0.05  # seconds between two interruptions: a statement that is just starting misses the first
LINE = "kanon: interrupted; nothing unfinished is left behind"
_leaving = threading.RLock()


@dataclass
class Signals:
    """The signals that end a run: immediately before `tidy` is set, with nothing to undo; later by `Stopped`."""

    tidy: bool = False
    number: int | None = None
    raised: float | None = None
    over: bool = False
    _excused: int = 0

    def __call__(self, number: int, _: FrameType | None) -> None:
        """Handle a signal, in the main thread."""
        if not self.tidy:
            leave(number)
        if self.raised is None or time.monotonic() - self.raised > _PATIENCE:
            self.number = number
            self.raised = time.monotonic()
            _interrupt(_at_once)  # DuckDB can call this while its own threads work, and would wait for them
            raise Stopped(number)

    def dropped(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Raise the signal again a moment later if it was raised in a finalizer, where Python ignores exceptions."""
        if not isinstance(unraisable.exc_value, Stopped):
            sys.__unraisablehook__(unraisable)
            return
        self.raised = None
        again = threading.Timer(_BETWEEN, self._again, [unraisable.exc_value.number])
        again.daemon = True
        again.start()

    def _again(self, number: int) -> None:
        if not self.over:
            os.kill(os.getpid(), number)

    def excuse(self) -> None:
        """A signal was handled as a request to stop soon."""
        self._excused += 1

    def watch(self, arriving: int) -> None:
        """Interrupt running statements from a thread: the signal handler has to wait for them."""
        interrupts = 0
        while arrived := os.read(arriving, 64):
            for number in arrived:
                interrupts += number == signal.SIGINT
                ours = signal.getsignal(number) is self  # first, since the handler changes after the signal is excused
                if number != signal.SIGINT or (ours and interrupts > self._excused):
                    self._end(number)

    def _end(self, number: int) -> None:
        if not self.tidy:  # deep in an import
            leave(number)
        self.number = number
        while self.raised is None and not self.over:
            _interrupt((*_working, *_at_once))
            time.sleep(_BETWEEN)


def leave(number: int) -> NoReturn:
    """End the process immediately, with one line."""
    with _leaving:  # only the first of two threads
        os.write(2, f"{LINE}\n".encode())
        os._exit(128 + number)


@contextmanager
def ended_by_signals() -> Iterator[Signals]:
    """Ctrl-C and SIGTERM end the block by `Stopped`, even if an engine reports another error.

    Further signals are then ignored for a while, so that the cleanup is not disturbed.
    """
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        signals.tidy = True
        yield signals
        return
    # A parent that starts us in the background can have disabled Ctrl-C.
    before = {number: signal.getsignal(number) for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN}
    arriving, sending = os.pipe()
    os.set_blocking(sending, False)
    wakeup = signal.set_wakeup_fd(sending, warn_on_full_buffer=False)
    for number in before:
        signal.signal(number, signals)
    unraisable, sys.unraisablehook = sys.unraisablehook, signals.dropped
    threading.Thread(target=signals.watch, args=(arriving,), daemon=True).start()
    try:
        yield signals
    except BaseException as error:
        done = isinstance(error, SystemExit) and not error.code
        if signals.number is None or done or isinstance(error, Stopped):
            raise
        raise Stopped(signals.number) from None
    finally:
        signals.over = True
        sys.unraisablehook = unraisable
        signal.set_wakeup_fd(wakeup)
        os.close(sending)
        if signals.number is None:
            for number, handler in before.items():
                signal.signal(number, handler)
