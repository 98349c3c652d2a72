"""From how Python spells an option to how the command line does, in what an error or a note says."""

from __future__ import annotations

import re
import shlex

from kanon_sql.cli import options
from kanon_sql.cli.declare import Argument, Option

_SPELLED = re.compile(r"`(\w+)(?:=([^`]*))?`")


def in_flags(text: str) -> str:
    """Make flags of the options that a text of the library names in backticks.

    >>> in_flags('give `overwrite=True`, `form="table"` or `keep="*"`; leave out `mask`')
    "give --overwrite, --as table or --keep '*'; leave out --mask"
    >>> in_flags("the column `a` stays as it is")
    'the column `a` stays as it is'
    """
    return _SPELLED.sub(_flag, text)


def _flag(match: re.Match[str]) -> str:
    option, value = _OPTIONS.get(match[1]), match[2]
    if option is None:
        return match[0]
    if value is None or option.type is bool:
        return option.spelled
    return f"{option.spelled} {shlex.quote(value.strip(_QUOTES))}"


_QUOTES = "\"'"
_OPTIONS = {
    option.name: option
    for option in vars(options).values()
    if isinstance(option, Option) and not isinstance(option, Argument)
}
