"""The package's knowledge of its own installation."""

import json
from importlib import metadata
from types import SimpleNamespace

import pytest

from kanon_sql.resources import install_command

COMMIT = "0123abcd"


@pytest.mark.parametrize(
    ("recorded", "command"),
    [
        (None, "pip install 'kanon-sql[excel]'"),
        (
            {"url": "file:///home/me/kanon%20sql", "dir_info": {"editable": True}},
            "pip install -e '/home/me/kanon sql[excel]'",
        ),
        ({"url": "file:///home/me/kanon_sql", "dir_info": {}}, "pip install '/home/me/kanon_sql[excel]'"),
        (
            {"url": "file:///tmp/kanon_sql-0.2.0-py3-none-any.whl", "archive_info": {}},
            "pip install 'kanon-sql[excel] @ file:///tmp/kanon_sql-0.2.0-py3-none-any.whl'",
        ),
        (
            {"url": "https://example.org/kanon.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"pip install 'kanon-sql[excel] @ git+https://example.org/kanon.git@{COMMIT}'",
        ),
    ],
    ids=["an index", "an editable checkout", "a checkout", "a wheel", "a commit"],
)
def test_an_extra_is_installed_from_where_the_package_came_from(
    monkeypatch: pytest.MonkeyPatch, recorded: object, command: str
) -> None:
    text = None if recorded is None else json.dumps(recorded)
    monkeypatch.setattr(metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))
    assert install_command("excel") == command


def test_a_checkout_that_was_never_installed_names_its_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("excel").endswith("[excel]'")
