"""The command line: parse, one library call, print."""

import atexit
import gc
import os
import signal
import sys
import threading
import warnings
from itertools import islice, pairwise
from typing import Any

from kanon_sql import interrupts
from kanon_sql.errors import KanonError, ReleaseWarning, SourceWarning

SHOW_VALUES = "--show-values"  # anywhere on the line, as are the next two
QUIET = "--quiet"
LOG_LEVEL = "--log-level"
JSON_IS_PRINTED = threading.Event()  # a command prints one document with `--json`: its result, or its error
PRINTED_WARNINGS: set[str] = set()  # about the source's files, printed while they were read; manifests repeat them
_MANY_OBJECTS = 200_000  # between two garbage collections; a small run creates fewer, and nearly all of them last

_show_warning = warnings.showwarning


def _refuse_a_split_connection(arguments: list[str]) -> None:
    """Refuse a connection string without quotes: a usage error would print the word with the password."""
    for previous, word in pairwise(["", *arguments]):
        if word.lower().startswith("password=") and " " not in word and previous != "--database":
            raise KanonError("a connection string with spaces needs quotes; put quotes around it")


def _refuse_places(arguments: list[str]) -> None:
    """Refuse the options of `cloak` in `anonymize`: a usage error would not name the command that takes them."""
    flags = {"--location": "location", "--time": "time", "--cloak": "cloak"}
    found = next((flags[flag] for word in arguments if (flag := word.partition("=")[0]) in flags), None)
    if found and arguments[0] == "anonymize":
        from kanon_sql.spec import CLOAKS

        raise KanonError(CLOAKS.format(option=found))


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """The options that can be used anywhere on the line, which the parser expects at its start, and all other words.

    >>> _split(["risk", "--log-level", "info", "people.csv", "--quiet"])
    (['--log-level', 'info', '--quiet'], ['risk', 'people.csv'])
    """
    first: list[str] = []
    others: list[str] = []
    remaining = iter(words)
    for word in remaining:
        if word == QUIET or word.startswith(f"{LOG_LEVEL}="):
            first.append(word)
        elif word == LOG_LEVEL:
            first += [word, *islice(remaining, 1)]
        else:
            others.append(word)
    return first, others


def _print_error(error: KanonError, with_values: bool, arguments: list[str]) -> None:
    from kanon_sql.cli.flags import in_flags

    message = in_flags(" ".join(str(error).splitlines()))
    print("kanon:", message, file=sys.stderr)
    _print_error_document(message, type(error).__name__, exit_code=2, arguments=arguments)
    if error.values and with_values:
        print("kanon: values of the data:", ", ".join(error.values), file=sys.stderr)


def _print_error_document(message: str, kind: str, exit_code: int, arguments: list[str]) -> None:
    """With `--json`, print the error as JSON on standard output, unless the command has printed its document."""
    if "--json" not in arguments or JSON_IS_PRINTED.is_set():
        return
    from kanon_sql import documents

    print(documents.text("error", {"error": message, "kind": kind, "exit_code": exit_code}))


def _note(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Print warnings about how a file was read in the form of a command's other notes."""
    if not issubclass(category, SourceWarning):
        _show_warning(message, category, *where, **more)
        return
    from kanon_sql.cli.output import warn

    warn([str(message)])
    PRINTED_WARNINGS.add(str(message))


def main() -> None:
    """Run `kanon`; a deliberate error is one line on standard error and exit code 2, a signal one and 128 + signal.

    With `--json` an error is also a document on standard output.

    An error's values of the data follow on a separate line, only on a terminal or with `--show-values`.
    """
    global_options, arguments = _split([word for word in sys.argv[1:] if word != SHOW_VALUES])
    code = 0
    try:
        with interrupts.ended_by_signals() as signals, warnings.catch_warnings():
            warnings.simplefilter("ignore", ReleaseWarning)  # a command prints them as notes
            warnings.simplefilter("always", SourceWarning)
            warnings.showwarning = _note
            PRINTED_WARNINGS.clear()
            JSON_IS_PRINTED.clear()
            from kanon_sql.cli.app import app

            _refuse_a_split_connection(arguments)
            _refuse_places(arguments)
            app([*global_options, *arguments], obj=signals)
    except KanonError as error:
        _print_error(error, sys.stderr.isatty() or SHOW_VALUES in sys.argv[1:], arguments)
        code = 2
    except SystemExit as end:
        usage = end.__context__  # typer prints it, and exits
        if usage is not None and hasattr(usage, "format_message"):
            _print_error_document(usage.format_message(), "UsageError", exit_code=2, arguments=arguments)
        raise
    except interrupts.Stopped as stop:
        print(interrupts.LINE, file=sys.stderr, flush=True)
        _print_error_document(interrupts.LINE, "Stopped", exit_code=128 + stop.number, arguments=arguments)
        # Everything is closed by now, but DuckDB would print errors about objects that are not yet garbage collected.
        sys.stdout.flush()
        os._exit(128 + stop.number)
    sys.exit(code)  # outside the except block, so that nothing refers to the error any more


def process() -> None:
    """Run `kanon` as the installed script, and end the process without tearing down the interpreter.

    Garbage collection of the imported modules and their teardown at the end took a seventh of a small run.
    """
    gc.set_threshold(_MANY_OBJECTS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # our matrices are too small for threads
    try:
        main()
    except SystemExit as end:
        threads = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
        if isinstance(end.code, int) and all(thread.daemon for thread in threads):
            _leave(end.code)
        raise


def _leave(code: int) -> None:
    """End the process at once if its output can be flushed; otherwise return, and Python reports the error."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # there is nothing left to interrupt
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return
    os._exit(code)
