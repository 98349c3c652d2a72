"""Scratch tables: none is left, however the work ends, and none is confused with another."""

import gc
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any

import pytest

import kanon_sql
from kanon_sql import anonymize, cloak, queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.plan.observer import Observer
from support.database import MakeTable

LETTERS = {"letter": "VARCHAR"}
_TEMPORARY = {
    "duckdb": "SELECT table_name FROM duckdb_tables() WHERE temporary",
    "postgres": "SELECT relname FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r'",
}


def temporary(engine: Engine) -> set[str]:
    """The temporary tables of the session."""
    return {name for (name,) in engine.rows(_TEMPORARY[engine.dialect])}


def test_a_table_is_created_counted_extended_and_dropped(engine: Engine) -> None:
    with Scratch(engine, "example") as tables:
        letters = tables.load("letters", LETTERS, [["a", "b"]])
        kept = tables.create("kept", "frequency_sets/copy", columns=["letter"], source=letters)
        tables.add(kept, "frequency_sets/copy", columns=["letter"], source=letters)
        assert (tables["kept"], tables.count("kept")) == (kept, 4)
        assert temporary(engine) == {letters.name, kept.name}
        tables.drop(letters)
        assert temporary(engine) == {kept.name}
    assert temporary(engine) == set()


def test_a_table_is_recreated_and_replaces_another(engine: Engine) -> None:
    with Scratch(engine, "example") as tables:
        for letters in (["a"], ["b", "c"]):
            tables.load("letters", LETTERS, [letters])
        tables.create("next", "frequency_sets/copy", columns=["letter"], source=tables["letters"])
        tables.load("letters", LETTERS, [[]])
        tables.rename("next", "letters")
        assert (tables.count("letters"), temporary(engine)) == (2, {tables["letters"].name})
    assert temporary(engine) == set()


class Stop(BaseException):
    """What ends a block."""


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, SourceError])
@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a transaction"])
def test_nothing_is_left_after_an_error(engine: Engine, error: type[BaseException], inside: bool) -> None:
    def work() -> None:
        with Scratch(engine, "example") as tables:
            tables.load("letters", LETTERS, [["a"]])
            raise error("stop")

    with pytest.raises(error):
        _in_a_transaction(engine, work) if inside else work()
    assert temporary(engine) == set()


def test_nothing_is_left_of_a_lost_transaction(engine: Engine) -> None:
    """A statement that fails takes PostgreSQL's transaction with it: the error that is told is still the first."""

    def work() -> None:
        with Scratch(engine, "example") as tables:
            tables.load("letters", LETTERS, [["a"]])
            tables.create_as("broken", "SELECT no_column FROM no_table")

    with pytest.raises(SourceError, match="no_table"):
        _in_a_transaction(engine, work)
    assert temporary(engine) == set()


def test_nothing_is_left_of_an_interrupted_release(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C may come when the engine has made a table, and before it says so."""
    run = engine.run

    def interrupted(sql: str) -> int | None:
        written = run(sql)
        if sql.startswith("CREATE"):
            raise KeyboardInterrupt
        return written

    monkeypatch.setattr(engine, "run", interrupted)
    with pytest.raises(KeyboardInterrupt), Scratch(engine, "example") as tables:
        tables.create_as("one", "SELECT 1 AS a")
    assert temporary(engine) == set()


def test_a_failed_drop_does_not_prevent_the_others(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    run = engine.run

    def refused(sql: str) -> int | None:
        if sql.startswith("DROP") and "second" in sql:
            raise SourceError("refused")
        return run(sql)

    tables = Scratch(engine, "example")
    for stem in ("first", "second", "third"):
        tables.load(stem, LETTERS, [["a"]])
    monkeypatch.setattr(engine, "run", refused)
    with pytest.raises(SourceError, match="refused"):
        tables.close()
    assert temporary(engine) == {tables["second"].name}
    monkeypatch.undo()
    engine.run(queries.drop(tables["second"], engine.dialect))


def test_two_scratches_of_one_session_never_share_a_table(engine: Engine) -> None:
    with Scratch(engine, "example") as outer:
        outer.load("letters", LETTERS, [["a"]])
        with Scratch(engine, "example") as inner:
            inner.load("letters", LETTERS, [["b", "c"]])
            assert (outer.count("letters"), inner.count("letters")) == (1, 2)
        assert outer.count("letters") == 1
    assert temporary(engine) == set()


def test_names_are_the_same_from_run_to_run(engine: Engine) -> None:
    """So that the texts of queries are kept, and a printed statement is what it was."""
    gc.collect()
    with Scratch(engine, "example") as first:
        name = first["letters"]
    with Scratch(engine, "example") as second:
        assert second["letters"] == name
        del first
        gc.collect()  # an earlier one that goes away does not give the name to a third
        assert Scratch(engine, "example")["letters"] != name


def test_a_table_of_another_scratch_can_be_passed_as_a_relation(engine: Engine) -> None:
    with Scratch(engine, "results") as results:
        with Scratch(engine, "example") as tables:
            letters = tables.load("letters", LETTERS, [["a"]])
            kept = results.receive("kept", engine, queries.select_all(letters, engine.dialect))
        assert (results.count(kept), temporary(engine)) == (1, {kept.name})
    assert temporary(engine) == set()


def test_the_log_lists_what_was_run(engine: Engine) -> None:
    with Scratch(engine, "example") as tables:
        letters = tables.load("letters", LETTERS, [["a", "b"]])
        tables.create("kept", "frequency_sets/copy", columns=["letter"], source=letters)
        tables.rows("frequency_sets/row_count", relation=letters)
        tables.rows("frequency_sets/row_count", relation=letters)
    logged = {statement.name: (statement.rows, statement.times) for statement in tables.log}
    dropped = 2 if engine.name == "duckdb" else 3  # DuckDB replaces what may have been left there
    assert logged == {
        "load": (2, 1),
        "frequency_sets/copy": (2, 1),
        "frequency_sets/row_count": (2, 2),
        "drop": (None, dropped),
    }
    assert tables.statements == sum(times for _, times in logged.values()) - 1  # values are no statement
    assert {statement.engine for statement in tables.log} == {engine.name}
    (copy,) = (statement for statement in tables.log if statement.name == "frequency_sets/copy")
    assert copy.sentence == queries.sentence("frequency_sets/copy")
    assert copy.sql.startswith("CREATE OR REPLACE TEMPORARY TABLE" if dropped == 2 else "CREATE TEMPORARY TABLE")
    assert copy.seconds > 0


def test_a_query_s_text_is_filled_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    filled = []
    fill = queries.text

    def counting(name: str, dialect: str, **holes: queries.Hole) -> str:
        filled.append(name)
        return fill(name, dialect, **holes)

    monkeypatch.setattr(queries, "text", counting)
    with Scratch(engine, "example") as tables:
        tables.load("letters", LETTERS, [["a"]])
        assert [tables.count("letters") for _ in range(3)] == [1, 1, 1]
    assert filled == ["frequency_sets/row_count"]


def test_texts_of_equal_holes_of_other_types_differ(engine: Engine) -> None:
    with Scratch(engine, "example") as tables:
        texts = [tables.text("risk/values", values=tables["letters"], most=most) for most in (1, 1.0, True)]
    assert len(set(texts)) == 3


@pytest.mark.parametrize("transacts", [False, True])
def test_an_empty_table_takes_many_rows_outside_a_transaction(embedded: DuckDB, transacts: bool) -> None:
    with ExitStack() as stack:
        stack.enter_context(embedded.transaction())
        beside = stack.enter_context(closing(embedded.embedded()))
        if transacts:
            stack.enter_context(beside.transaction())
        _fill_empty_tables(beside)


def test_an_engine_prepares_empty_tables_only(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[queries.Relation] = []
    monkeypatch.setattr(engine, "before_adding", prepared.append)
    with Scratch(engine, "example") as tables, Scratch(engine, "other") as others:
        letters = tables.load("letters", LETTERS, [["a", "b"]])
        text = queries.select_all(letters, engine.dialect)
        none = f"{text} LIMIT 0"
        empty, renamed, full = tables.create_as("empty", none), tables.create_as("old", none), tables["full"]
        tables.rename("old", "renamed")
        tables.create_as("full", text)
        numbers = []
        for added in (none, text, none, text):
            for relation in (empty, tables["renamed"], full):
                tables.add_as(relation, added)
            numbers.append([tables.written(relation) for relation in (empty, tables["renamed"], full)])
        others.add_as(tables.create_as(renamed, none), text)  # which belongs to the first scratch
    assert numbers == [[0, 0, 2], [2, 2, 4], [2, 2, 4], [4, 4, 6]]
    assert prepared == [empty, tables["renamed"]] * 2 + [renamed]


@pytest.mark.parametrize("rows", [[], ["a"]])
def test_duckdb_prepares_a_table_that_turns_out_to_be_empty(
    embedded: DuckDB, rows: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Scratch(embedded, "example") as tables:
        letters = tables.load("letters", LETTERS, [["a", "b"]])
        loaded = tables.load("loaded", LETTERS, [rows])  # whose number of rows the engine does not report
        added, run, statements = queries.select_all(letters, "duckdb"), embedded.run, list[str]()
        monkeypatch.setattr(embedded, "run", lambda sql: statements.append(sql) or run(sql))
        tables.add_as(loaded, added)
        assert len(statements) == (1 if rows else 3)
        assert tables.count(loaded) == len(rows) + 2


def test_an_empty_table_takes_many_rows_in_a_transaction(engine: Engine) -> None:
    with engine.transaction():
        _fill_empty_tables(engine)


def _fill_empty_tables(engine: Engine) -> None:
    def name(relation: queries.Relation) -> str:
        return ".".join(f'"{part}"' for part in queries.parts(relation, engine.dialect))

    with Scratch(engine, "example") as tables:
        letters = name(tables.load("letters", LETTERS, [["a"] * 500]))
        none, many = f"SELECT letter FROM {letters} LIMIT 0", f"SELECT x.letter FROM {letters} AS x, {letters} AS y"
        for table in ("made", "added"):
            tables.create_as(table, none)
        tables.add_as("added", none)
        for table in ("made", "added"):
            tables.add_as(table, many)
            tables.add_as(table, none)
            by_letter = f"SELECT letter, COUNT(*) FROM {name(tables[table])} GROUP BY letter"
            assert engine.rows(by_letter) == [("a", 250_000)]


def _in_a_transaction(engine: Engine, work: Callable[[], None]) -> None:
    with engine.transaction():
        work()


ROWS = [(20 + i % 7, f"z{i % 3}{i % 2}", "ab"[i % 2], f"u{i % 9}", i % 5 / 2, 1.5 * (i % 4), i) for i in range(60)]
TYPES = {"age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR", "unit": "VARCHAR"}
TYPES |= {"x": "DOUBLE PRECISION", "y": "DOUBLE PRECISION", "t": "INTEGER"}
PEOPLE = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
    "identifiers": ["unit", "x", "y", "t"],
    "privacy": {"k": 3},
}
PLACES = {"location": ["x", "y"], "time": "t", "unit": "unit", "keep": "*", "privacy": {"k": 2}}
SPECS = {
    **{name: PEOPLE | {"strategy": name} for name in ("ola", "refine", "mondrian", "prioprivacy", "kaca")},
    "means": PEOPLE | {"strategy": "ola", "show": "mode"},
    "perturbed": PEOPLE | {"strategy": "ola", "perturb": {"ill": {"pram": {"keep": 0.5}}}},
    "view": PEOPLE | {"strategy": "mondrian", "form": "view"},
    "places": PLACES,
}
LAST_STAGE = "Describing the release"
FIRST_STAGE = {kind: "Reading the places" if kind == "places" else "Counting the distinct tuples" for kind in SPECS}


def release(engine: Engine, kind: str, stage: Callable[[str], None]) -> None:
    """Release `people` into a table by a kind of recoding, on the engine's connection."""
    form = {"form": SPECS[kind]["form"]} if "form" in SPECS[kind] else {}
    spec = {name: reported for name, reported in SPECS[kind].items() if name != "form"}
    more: dict[str, Any] = {"into": "released", "overwrite": True, **form}
    verb = cloak if kind == "places" else anonymize
    verb("people", spec, connection=engine.connection, observer=Observer(stage), **more)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.sampled
def test_a_release_leaves_nothing_in_the_session_of_the_caller(
    engine: Engine, make_table: MakeTable, kind: str
) -> None:
    make_table(engine, "people", TYPES, ROWS)
    before = temporary(engine)
    release(engine, kind, lambda _: None)
    assert temporary(engine) == before


FAILING = [
    *((kind, KeyboardInterrupt) for kind in SPECS),
    *((kind, SourceError) for kind in ("ola", "refine", "places")),
]


@pytest.mark.parametrize(("kind", "error"), FAILING)
@pytest.mark.sampled
def test_a_release_that_fails_leaves_nothing_in_the_session(
    engine: Engine, make_table: MakeTable, kind: str, error: type[BaseException]
) -> None:
    # A server hears of neither, but of a rollback: there each recoding fails in one of the two ways.
    if not engine.is_embedded and (error is SourceError) == [*SPECS].index(kind) % 2:
        pytest.skip("on a server each recoding fails in one way")
    make_table(engine, "people", TYPES, ROWS)
    before = temporary(engine)
    for last in (FIRST_STAGE[kind], "Writing the release", LAST_STAGE):

        def stop(stage: str, last: str = last) -> None:
            if stage == last:
                raise error(stage)

        with pytest.raises(error, match=last):
            release(engine, kind, stop)
        assert temporary(engine) == before


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.sampled
def test_a_release_whose_transaction_is_lost_leaves_nothing(engine: Engine, make_table: MakeTable, kind: str) -> None:
    make_table(engine, "people", TYPES, ROWS)
    before = temporary(engine)

    def lose(stage: str) -> None:
        if stage == LAST_STAGE:
            engine.rows("SELECT no_column FROM no_table")

    with pytest.raises(SourceError, match="no_table"):
        release(engine, kind, lose)
    assert temporary(engine) == before


@pytest.mark.parametrize("verb", ["search", "lattice", "compare", "explain", "anonymize_sql", "profile"])
@pytest.mark.sampled("postgres", "sail")
def test_a_verb_that_writes_nothing_leaves_nothing(engine: Engine, make_table: MakeTable, verb: str) -> None:
    """Its transaction is kept, not rolled back, so that what it made would stay."""
    make_table(engine, "people", TYPES, ROWS)
    before = temporary(engine)
    options = {} if verb == "profile" else {"spec": {**PEOPLE, "keep": "*"}}
    assert getattr(kanon_sql, verb)("people", connection=engine.connection, **options)  # type: ignore[attr-defined]
    assert temporary(engine) == before
