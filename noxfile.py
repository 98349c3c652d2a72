"""One-word tasks: `nox -s quick`, `nox -s lint`. Run `nox --list` for the others."""

import nox

nox.options.sessions = ["lint", "quick"]
nox.options.reuse_existing_virtualenvs = True


@nox.session
def quick(session: nox.Session) -> None:
    """Run the quick tests on DuckDB, in about five minutes on two cores; arguments after -- go to pytest."""
    session.install("-e", ".[test]")
    session.run("pytest", "-n", "auto", "--engines", "duckdb", "-m", "quick", *session.posargs)


@nox.session
def test(session: nox.Session) -> None:
    """Run all tests, on DuckDB, PostgreSQL and Sail."""
    session.install("-e", ".[test]")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check the style and the types."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Write the reference pages, build the site and follow every link."""
    session.install("-e", ".[docs]")
    session.run("python", "docs/references.py")
    session.run("python", "docs/build.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Run the benchmarks; nothing else should run on the machine."""
    session.install("-e", ".[dev]")
    session.run("python", "benchmarks/all.py", *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """Build the wheel and the sdist, and check them as the release workflow does."""
    session.run(".ci/release", *session.posargs, external=True)
