"""Some random cases; docs/how-it-is-tested.md names the command for any number of them."""

import pytest

from support import fuzz


@pytest.mark.parametrize("part", range(2))
@pytest.mark.slow
@pytest.mark.sampled
def test_every_random_release_is_as_described(part: int) -> None:
    ends = list(fuzz.runs("duckdb", part * 10, 10, 1))
    assert [problem for _, end, problem in ends if end == "wrong"] == []
    assert sum(end == "released" for _, end, _ in ends) > 0.5 * len(ends)


@pytest.mark.slow
def test_ambiguous_matches_of_classes_in_the_population() -> None:
    # A file does not keep the zone of a time; a row is deleted below a view; a value without a leaf is not NULL.
    ends = [fuzz.run(("duckdb", seed)) for seed in (50391, 50806, 50825)]
    assert [end[1:] for end in ends] == [("released", "")] * 3


@pytest.mark.parametrize("part", range(2))
@pytest.mark.slow
@pytest.mark.sampled
def test_every_random_release_of_a_server_is_as_described(
    part: int, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KANON_POSTGRES_DSN", postgres_dsn)
    ends = list(fuzz.runs("postgres", part * 6, 6, 1))
    assert [problem for _, end, problem in ends if end == "wrong"] == []
    assert sum(end == "released" for _, end, _ in ends) >= 2  # of so few cases, half can be refused
