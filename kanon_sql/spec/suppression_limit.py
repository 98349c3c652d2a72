"""The suppression limit: a fraction of the rows, or a number of rows such as `20 rows`."""

from __future__ import annotations

import re
from fractions import Fraction
from math import floor
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, StrictFloat
from pydantic_core import PydanticCustomError

_NUMBER_OF_ROWS = r"^[0-9]+ rows?$"
FRACTION_OR_ROWS = "a fraction of the rows from 0 to 1, e.g. 0.02 for 2 %, or a number of rows such as '20 rows'"


def _fraction_or_rows(value: object) -> object:
    """Report one error, where a union would report one per type."""
    if isinstance(value, str):
        valid = re.fullmatch(_NUMBER_OF_ROWS, value) is not None
    else:
        valid = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    if not valid:
        raise PydanticCustomError("suppression_limit", "neither a fraction nor a number of rows")
    return value


SuppressionLimit: TypeAlias = Annotated[
    Annotated[StrictFloat, Field(ge=0, le=1)] | Annotated[str, Field(pattern=_NUMBER_OF_ROWS)],
    BeforeValidator(_fraction_or_rows),
]


def may_suppress(limit: float | str, rows: int) -> int:
    """The number of these rows that a suppression limit allows to suppress.

    A fraction allows the largest number m for which m / rows, as a float, is not above it: 0.29 of 100 rows allows 29,
    and 1 / 7 of seven rows allows one, although the float 1 / 7 is a little less than a seventh.

    >>> may_suppress(0.29, 100), may_suppress(1 / 7, 7), may_suppress("20 rows", 100)
    (29, 1, 20)
    """
    if isinstance(limit, str):
        return min(rows, int(limit.split()[0]))
    allowed = floor(Fraction(limit) * rows)
    return allowed + 1 if allowed < rows and (allowed + 1) / rows <= limit else allowed


def suppresses(limit: float | str) -> bool:
    """Whether a suppression limit allows suppression in a table that is large enough."""
    return limit > 0 if not isinstance(limit, str) else int(limit.split()[0]) > 0


def limit_text(limit: float | str) -> str:
    """A suppression limit in words.

    >>> limit_text(0.02), limit_text("20 rows")
    ('2 % of the rows', '20 rows')
    """
    return limit if isinstance(limit, str) else f"{100 * limit:.4g} % of the rows"
