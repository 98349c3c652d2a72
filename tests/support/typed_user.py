"""What a type checker finds in a user's program: .ci/run lets mypy check this file, with unused ignores as errors."""

from kanon_sql import anonymize
from kanon_sql.loss import Metric

mine = Metric("mine", ("losses",), lambda _, losses: max(losses))


def wanted() -> None:
    """Names of the package's own, and values of one's own."""
    anonymize("people", metric="loss", strategy="ola")
    anonymize("people", metric=mine, strategy=lambda _: iter(()))


def misspelled() -> None:
    """Each line is an error without its comment."""
    anonymize("people", metric="los")  # type: ignore[arg-type]
    anonymize("people", strategy="olla")  # type: ignore[arg-type]
    anonymize("people", metrik="loss")  # type: ignore[call-arg]
