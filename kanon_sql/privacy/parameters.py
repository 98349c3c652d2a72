"""The types of parameters and monotonicity that all privacy models share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Monotone = Literal["always", "without suppression", "never"]
Parameter = int | float | str


def required_of(parameters: Mapping[str, Parameter]) -> Any:
    """The requirement of a model: its parameter, or all of them if it has several."""
    values = list(parameters.values())
    return values[0] if len(values) == 1 else dict(parameters)
