"""The number of random examples per property."""

from typing import Any

from hypothesis import HealthCheck, settings


def examples(count: int, **more: Any) -> settings:
    """So many examples, in a quick run a share of them; an engine may serve all examples of a test."""
    share = settings.default.max_examples / 100  # a hundred is what hypothesis itself would try
    return settings(
        max_examples=max(1, round(count * share)), suppress_health_check=[HealthCheck.function_scoped_fixture], **more
    )


def few(count: int) -> int:
    """How many examples to run of an expensive property: half as many where every run has the same ones."""
    return -(-count // 2) if settings.default.derandomize else count
