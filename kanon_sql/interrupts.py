"""Ctrl-C as a wish to stop soon, with what there is so far."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def caught(tell: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C is told and otherwise ignored; a second one ends the run. In other threads nothing is caught."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: Any) -> None:
        tell()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
