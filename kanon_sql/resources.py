"""What travels with the package: its version, and the folders `sql/`, `hierarchies/` and `demo/`."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Return the folder `name` that travels with the package.

    >>> (folder("sql") / "node_tests.sql").exists()
    True
    """
    for base in (_PACKAGE, _PACKAGE.parent):
        if (base / name).is_dir():
            return base / name
    raise FileNotFoundError(f"{name}/ is neither in {_PACKAGE} nor beside it; reinstall kanon-sql")


def package_version() -> str:
    """The installed version; `unknown` in a checkout that was never installed."""
    from importlib.metadata import PackageNotFoundError, version  # loads all that reads e-mail: not for a page of help

    try:
        return version("kanon-sql")
    except PackageNotFoundError:
        return "unknown"
