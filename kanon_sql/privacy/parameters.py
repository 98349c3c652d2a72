"""What every privacy model has: parameters, and what one node's verdict tells of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Monotone = Literal["always", "without suppression", "never"]
Parameter = int | float | str


def required_of(parameters: Mapping[str, Parameter]) -> Any:
    """What a model requires: its parameter, or all of them where it has several."""
    values = list(parameters.values())
    return values[0] if len(values) == 1 else dict(parameters)
