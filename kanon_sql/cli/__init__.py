"""The command line: parse, one library call, print."""

import atexit
import gc
import os
import signal
import sys
import threading
import warnings
from itertools import pairwise
from typing import Any

from kanon_sql import interrupts
from kanon_sql.cli.said import SAID
from kanon_sql.errors import KanonError, ReleaseWarning, SourceWarning

SHOW_VALUES = "--show-values"  # anywhere on the line


def _refuse_a_split_connection(arguments: list[str]) -> None:
    """A usage error would quote the word with the password."""
    alone = (word for before, word in pairwise(["", *arguments]) if " " not in word and before != "--database")
    if any(word.lower().startswith("password=") for word in alone):
        raise KanonError("the words of a connection string belong together; put quotes around them")


def _refuse_places(arguments: list[str]) -> None:
    """A usage error would not say where the options went."""
    flags = {"--location": "location", "--time": "time", "--cloak": "cloak"}
    found = next((flags[flag] for word in arguments if (flag := word.partition("=")[0]) in flags), None)
    if found and arguments[0] == "anonymize":
        from kanon_sql.spec import CLOAKS

        raise KanonError(CLOAKS.format(option=found))


def _say(error: KanonError, with_values: bool) -> None:
    from kanon_sql.cli.flags import in_flags

    print("kanon:", in_flags(" ".join(str(error).splitlines())), file=sys.stderr)
    if error.values and with_values:
        print("kanon: the data say:", ", ".join(error.values), file=sys.stderr)


def _note(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Say how a file was read as commands say their other notes."""
    if not issubclass(category, SourceWarning):
        _shown_by_python(message, category, *where, **more)
        return
    from kanon_sql.cli.show import warn

    warn([str(message)])
    SAID.add(str(message))


_shown_by_python = warnings.showwarning


def main() -> None:
    """Run `kanon`; a deliberate error is one line on standard error and exit code 2, a signal one and 128 + signal.

    Values of the data follow an error on a line of their own where a person reads it, or asked for them.
    """
    arguments = [word for word in sys.argv[1:] if word != SHOW_VALUES]
    code = 0
    try:
        with interrupts.ended_by_signals() as signals, warnings.catch_warnings():
            warnings.simplefilter("ignore", ReleaseWarning)  # a command prints them as notes
            warnings.simplefilter("always", SourceWarning)
            warnings.showwarning = _note
            SAID.clear()
            from kanon_sql.cli.app import app

            _refuse_a_split_connection(arguments)
            _refuse_places(arguments)
            app(arguments, obj=signals)
    except KanonError as error:
        _say(error, sys.stderr.isatty() or len(arguments) < len(sys.argv[1:]))
        code = 2
    except interrupts.Stopped as stop:
        print(interrupts.LINE, file=sys.stderr, flush=True)
        # All that was open is closed; DuckDB would complain at length of what the interpreter has not got round to.
        sys.stdout.flush()
        os._exit(128 + stop.number)
    sys.exit(code)  # with nothing of the error left to hold


_MANY_OBJECTS = 200_000  # between two looks for cycles; a small run makes fewer, nearly all of which last


def process() -> None:
    """Run `kanon` as a process of its own, which ends without taking apart what the system takes back at once.

    Looking for cycles among all that is imported, and taking it apart at the end, took a seventh of a small run.
    """
    gc.set_threshold(_MANY_OBJECTS)
    try:
        main()
    except SystemExit as end:
        others = [each for each in threading.enumerate() if each is not threading.current_thread()]
        if isinstance(end.code, int) and all(each.daemon for each in others):
            _leave(end.code)
        raise


def _leave(code: int) -> None:
    """End here and now, if all that was printed can be written; else Python says why not."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # there is nothing left to interrupt
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return
    os._exit(code)
