"""Checks every manifest, printed or remembered, and every JSON document of a test against its documented form."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kanon_sql import documents
from kanon_sql.pipeline.memory import Audited, Notes
from kanon_sql.verbs.released import Release


@cache
def validator(form: str) -> Draft202012Validator:
    """The validator of a form of document."""
    return Draft202012Validator(documents.json_schema(form))


def problems(document: dict[str, Any], form: str = "manifest") -> list[str]:
    """What in a document is not as documented; of a manifest, for each form that it could have."""
    found = list(validator(form).iter_errors(document))
    causes = [cause for error in found for cause in (error.context or [error])]
    return [f"{cause.json_path}: {cause.message[:200]}" for cause in causes]


@pytest.fixture(scope="session", autouse=True)
def _documents_are_checked() -> Iterator[None]:
    plain = Release.__init__

    def checked(self: Release, manifest: dict[str, Any], *others: Any, **named: Any) -> None:
        assert not problems(manifest), problems(manifest)
        plain(self, manifest, *others, **named)

    write, remember = documents.text, {kind: kind.add for kind in (Notes, Audited)}

    def checked_memory(self: Notes | Audited, manifest: dict[str, Any], *others: Any) -> Any:
        assert not problems(manifest), problems(manifest)
        return remember[type(self)](self, manifest, *others)

    def checked_text(name: str, content: Mapping[str, Any]) -> str:
        text = write(name, content)
        document = json.loads(text)
        assert document["schema"] == f"{name}/{documents.VERSIONS[name]}"
        assert not problems(document, name), problems(document, name)
        return text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Release, "__init__", checked)
        patch.setattr(documents, "text", checked_text)
        for kind in remember:
            patch.setattr(kind, "add", checked_memory)
        yield
