"""What type checkers find in a user's program: .ci/run checks this file with mypy and basedpyright.

For both, an ignore comment that is not needed is an error.
"""

# pyright: standard, reportUnnecessaryTypeIgnoreComment=true

from kanon_sql import anonymize
from kanon_sql.loss import Metric

mine = Metric("mine", ("losses",), lambda _, losses: max(losses))


def wanted() -> None:
    """Names of the package, and the user's own functions."""
    anonymize("people", metric="loss", strategy="ola")
    anonymize("people", metric=mine, strategy=lambda _: iter(()))


def misspelled() -> None:
    """Without its comment, every line is an error."""
    anonymize("people", metric="los")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    anonymize("people", strategy="olla")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    anonymize("people", metrik="loss")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
