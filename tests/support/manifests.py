"""Checks every manifest of every test against the documented form."""

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kanon_sql.report.manifest_schema import manifest_schema
from kanon_sql.verbs.released import Release

VALIDATOR = Draft202012Validator(manifest_schema())


def problems(manifest: dict[str, Any]) -> list[str]:
    """What in a manifest is not as documented, for each form that it could have."""
    found = list(VALIDATOR.iter_errors(manifest))
    return [cause.message[:200] for error in found for cause in (error.context or [error])]


@pytest.fixture(scope="session", autouse=True)
def _manifests_are_checked() -> Iterator[None]:
    plain = Release.__init__

    def checked(self: Release, manifest: dict[str, Any], *others: Any, **named: Any) -> None:
        assert not problems(manifest), problems(manifest)
        plain(self, manifest, *others, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Release, "__init__", checked)
        yield
