"""The package's version, its origin, and the folders that it contains: `sql/`, `hierarchies/` and `demo/`."""

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

_DISTRIBUTION = "kanon-sql"
_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Return the folder `name` of the package.

    >>> (folder("sql") / "node_tests.sql").exists()
    True
    """
    for base in (_PACKAGE, _PACKAGE.parent):
        if (base / name).is_dir():
            return base / name
    raise FileNotFoundError(f"{name}/ is neither in {_PACKAGE} nor next to it; reinstall kanon-sql")


def package_version() -> str:
    """The installed version; `unknown` in a checkout that was never installed."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and not needed for help

    try:
        return version(_DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"


def install_command(extra: str) -> str:
    """The command that installs the package with an extra, from the same origin.

    Installers record the origin in `direct_url.json` unless it was an index
    (https://packaging.python.org/en/latest/specifications/direct-url/).

    >>> "[postgres]" in install_command("postgres")
    True
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        recorded = json.loads(distribution(_DISTRIBUTION).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:  # a checkout that was never installed
        return f"pip install '{_PACKAGE.parent}[{extra}]'"
    url = recorded.get("url", "")
    if commit := recorded.get("vcs_info", {}).get("commit_id"):
        url = f"{recorded['vcs_info']['vcs']}+{url}@{commit}"
    if "dir_info" in recorded:
        editable = "-e " if recorded["dir_info"].get("editable") else ""
        return f"pip install {editable}'{unquote(urlsplit(url).path)}[{extra}]'"
    return f"pip install '{_DISTRIBUTION}[{extra}] @ {url}'" if url else f"pip install '{_DISTRIBUTION}[{extra}]'"
