"""Translate the Python spelling of options in errors and notes to the command line's."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from functools import partial

from kanon_sql.cli import options
from kanon_sql.cli.declare import Argument, Option

_SPELLED = re.compile(r"`(\w+)(?:=([^`]*))?`")


def in_flags(text: str) -> str:
    """Replace the options that a text of the library names in backticks by their flags.

    >>> in_flags('use `overwrite=True`, `form="table"` or `keep="*"`; leave out `mask`')
    "use --overwrite, --as table or --keep '*'; leave out --mask"
    >>> in_flags("the column `a` stays as it is")
    'the column `a` stays as it is'
    """
    return _SPELLED.sub(_flag, text)


def in_keys(text: str, taken: Collection[Option]) -> str:
    """The same for a command that takes only some of the options; the others become keys of its spec.

    >>> in_keys('leave it out with `new_columns="drop"`, or use `differencing_limit=3`', [options.DIFFERENCING_LIMIT])
    'leave it out with `new_columns: drop` in the spec, or use --differencing-limit 3'
    """
    return _SPELLED.sub(partial(_key, {option.name for option in taken}), text)


def _key(taken: Collection[str], match: re.Match[str]) -> str:
    option, value = match[1], match[2]
    if option in taken or option not in _OPTIONS:
        return _flag(match)
    if value is None:
        return match[0]
    word = value.strip(_QUOTES)
    return f"`{option}: {word if word.isalnum() else value}` in the spec"


def _flag(match: re.Match[str]) -> str:
    option = _OPTIONS.get(match[1])
    value = match[2]
    if option is None:
        return match[0]
    if value is None or option.type is bool:
        return option.spelled
    return f"{option.spelled} {shlex.quote(value.strip(_QUOTES))}"


_QUOTES = "\"'"
_OPTIONS = {
    option.name: option
    for option in (*vars(options).values(), *options.OPTIONS.values())
    if isinstance(option, Option) and not isinstance(option, Argument)
}
