"""Ctrl-C and SIGTERM: a wish to stop soon with what there is so far, or the end of the run."""

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
    """A signal ended the run; `number` is the signal's. Everything is rolled back and tidied up on its way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Interruptible(Protocol):
    """Whatever can stop what it is doing when another thread says so."""

    def interrupt(self) -> None: ...


_working: weakref.WeakSet[Interruptible] = weakref.WeakSet()
_at_once: weakref.WeakSet[Interruptible] = weakref.WeakSet()


def interrupted_by_signals(working: Interruptible, at_once: bool = False) -> None:
    """Have an engine's statements stopped when a signal ends the run: Python itself waits until they are done.

    `at_once`: to interrupt it takes no time, so that the handler of a signal can do it.
    """
    (_at_once if at_once else _working).add(working)


def _interrupt(every: Iterable[Interruptible]) -> None:
    for working in list(every):
        with suppress(Exception):
            working.interrupt()


def run_to_its_end(work: Callable[[], _T]) -> _T:
    """What a piece of work gives; what a signal raises meanwhile is raised when the work is over."""
    given: list[_T] = []
    raised: list[BaseException] = []
    begun, over = threading.Event(), threading.Event()

    def run() -> None:
        begun.wait()  # a signal may come while the thread starts: then nothing is done
        try:
            given.append(work())
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
    for each in (late, *raised):
        if each is not None:
            raise each
    (result,) = given
    return result


@dataclass(frozen=True)
class _Caught:
    """A handler that tells of the first Ctrl-C, those around it too, and leaves the next to the first one of all."""

    tell: Callable[[], None]
    before: Any

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.tell()
        if isinstance(self.before, _Caught):
            self.before(number, frame)
            return
        if isinstance(self.before, Signals):
            self.before.excuse()
        signal.signal(signal.SIGINT, self.before)


@contextmanager
def caught(tell: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C is told and otherwise ignored; a second one ends the run. In other threads nothing is caught.

    Of two such blocks, one in the other, both are told: what is around it is not to go on when the inner one stops.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    catching = _Caught(tell, before)
    signal.signal(signal.SIGINT, catching)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is catching:
            signal.signal(signal.SIGINT, before)


_ENDING = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 2.0  # seconds in which a further signal does not disturb the tidying up
_BETWEEN = 0.05  # seconds between two interruptions: a statement that only begins forgets the first
LINE = "kanon: interrupted; nothing unfinished is left behind"


_leaving = threading.RLock()


@dataclass
class Signals:
    """The signals that end a run: until `tidy` is set at once, since there is nothing to undo; then by `Stopped`."""

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
            self.number, self.raised = number, time.monotonic()
            _interrupt(_at_once)  # DuckDB may call us while threads of its own work on, and would wait for these
            raise Stopped(number)

    def dropped(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Python ignores what is raised in a finalizer: it is raised again a moment later."""
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
        """A signal was taken as a wish to stop soon."""
        self._excused += 1

    def watch(self, arriving: int) -> None:
        """Interrupt what runs, from a thread: the handler has to wait for it."""
        interrupts = 0
        while arrived := os.read(arriving, 64):
            for number in arrived:
                interrupts += number == signal.SIGINT
                ours = signal.getsignal(number) is self  # asked first: what is excused is counted before it changes
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
    """End the process here and now, with one line."""
    with _leaving:  # of two threads the first
        os.write(2, f"{LINE}\n".encode())
        os._exit(128 + number)


@contextmanager
def ended_by_signals() -> Iterator[Signals]:
    """Have Ctrl-C and SIGTERM end the block by `Stopped`, whatever they are taken for on the way.

    Then further ones are ignored for a while, so that the process can end in peace.
    """
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        signals.tidy = True
        yield signals
        return
    # Who starts us in the background may want us not to hear of Ctrl-C.
    before = {number: signal.getsignal(number) for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN}
    arriving, told = os.pipe()
    os.set_blocking(told, False)
    wakeup = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
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
        os.close(told)
        if signals.number is None:
            for number, handler in before.items():
                signal.signal(number, handler)
