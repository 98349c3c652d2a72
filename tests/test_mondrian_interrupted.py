"""Mondrian, interrupted in the middle of a statement: the rounds before it count."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.errors import KanonError
from kanon_sql.recode.mondrian import _Run
from kanon_sql.recode.task import Task


@pytest.mark.parametrize("interrupted", [0, 1, 2])
def test_what_was_cut_before_an_interruption_is_kept(interrupted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def until_then(name: str) -> Callable[..., Any]:
        plain = getattr(_Run, name)

        def look(*given: Any) -> Any:
            asked.append(name)
            if len(asked) > interrupted:
                raise KanonError("interrupted")
            return plain(*given)

        return look

    @contextmanager
    def working(*_: Any) -> Iterator[None]:
        try:
            yield
        except KanonError as error:
            if str(error) != "interrupted":
                raise

    for name in ("_look", "_look_ahead"):
        monkeypatch.setattr(_Run, name, until_then(name))
    monkeypatch.setattr(Task, "working", working)
    table = pandas.DataFrame({"x": range(200), "y": [n * 7 % 200 for n in range(200)]})
    recipes = {column: {"hierarchy": {"ranges": [10, 50]}} for column in table}
    spec = {"quasi_identifiers": recipes, "time_limit": 600}
    made = kanon_sql.anonymize(table, spec, strategy="mondrian", k=5).manifest
    assert made["verified"]
    assert made["classes"] == 2**interrupted
    assert len(asked) == interrupted + 1
