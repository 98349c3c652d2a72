"""The JSON Schema of every form of document."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.documents import VERSIONS, databases, findings, others
from kanon_sql.documents.kinds import DIALECT, TEXT, Keys, closed
from kanon_sql.documents.manifest import manifest_schema
from kanon_sql.errors import SpecError

SPEC, DATABASE_SPEC = "spec", "database-spec"  # the forms that are read, not printed


@dataclass(frozen=True)
class Form:
    """A form of document.

    `about`: what it describes. `printed_by`: the commands that print it. `optional`: keys that it can lack.
    `alternatives`: sets of optional keys, of which a document has one.
    """

    about: str
    printed_by: str
    keys: Keys
    optional: Collection[str] = ()
    alternatives: Sequence[Collection[str]] = ()


FORMS: Mapping[str, Form] = {
    "run": Form("The outcome of a pipeline.", "`kanon run --json`", others.RUN),
    "releases": Form(
        "An audit trail.", "`kanon releases list --json`, `kanon releases verify --json`", others.RELEASES
    ),
    "refresh": Form("A refreshed release.", "`kanon refresh --json`", others.REFRESH),
    "verify": Form(
        "The findings of a check.",
        "`kanon verify --json`",
        findings.VERIFY,
        optional=[name for name in findings.VERIFY if name not in findings.VERIFY_ALWAYS],
        alternatives=[["problem"], [name for name in findings.VERIFY if name not in findings.VERIFY_SOMETIMES]],
    ),
    "risk": Form("The risk in a table, or in a source and its release.", "`kanon risk --json`", findings.RISK),
    "attack": Form("The results of attacks on a release.", "`kanon attack --json`", findings.ATTACK),
    "utility": Form("The utility of a release.", "`kanon utility --json`", findings.UTILITY),
    "profile": Form("The profile of a table.", "`kanon profile --json`", others.PROFILE),
    "init": Form("A suggested spec.", "`kanon init --json`", others.INIT),
    "init-database": Form(
        "A suggested spec for the tables of a database.", "`kanon init --database --json`", databases.INIT_DATABASE
    ),
    "search": Form("The result of a search.", "`kanon search --json`", others.SEARCH),
    "compare": Form("Strategies side by side.", "`kanon compare --json`", others.COMPARE),
    "compile": Form("A release as SQL.", "`kanon compile --json`", others.COMPILE),
    "explain": Form("The statements of a run.", "`kanon explain --json`", others.EXPLAIN),
    "database": Form("A release of several tables.", "`kanon database release --json`", databases.DATABASE),
    "database-run": Form(
        "A run of a release of several tables.", "`kanon database run --json`", databases.DATABASE_RUN
    ),
    "database-check": Form(
        "The check of several released tables.", "`kanon database verify --json`", databases.DATABASE_CHECK
    ),
    "database-risk": Form(
        "The risk of the tables of a database.", "`kanon database risk --json`", databases.DATABASE_RISK
    ),
    "database-attack": Form(
        "Attacks on several released tables.", "`kanon database attack --json`", databases.DATABASE_ATTACK
    ),
    "database-report": Form(
        "The report of several released tables.", "`report_database(…).to_json()`", databases.DATABASE_REPORT
    ),
    "error": Form("An error.", "every command with `--json`", others.ERROR),
}
NAMES = (SPEC, DATABASE_SPEC, *VERSIONS)


def schema_of(name: str) -> dict[str, Any]:
    """The schema of a form; SpecError for an unknown form."""
    if name == SPEC:
        from kanon_sql.spec import schema

        return schema()
    if name == DATABASE_SPEC:
        from kanon_sql.spec.schema import database_schema

        return database_schema()
    if name == "manifest":
        return manifest_schema()
    if name not in FORMS:
        raise SpecError(f"there is no schema {name!r}; choose among {', '.join(NAMES)}")
    form = FORMS[name]
    header: Keys = {
        "schema": ({"const": f"{name}/{VERSIONS[name]}"}, "The name and version of this form."),
        "version": (TEXT, "The version of kanon_sql."),
    }
    shape = closed({**header, **form.keys}, form.optional)
    found = {"$schema": DIALECT, "title": f"{form.about[:-1]}, by kanon_sql", "description": form.about, **shape}
    if form.alternatives:
        found["anyOf"] = [{"required": list(keys)} for keys in form.alternatives]
    if name == "run":
        found["$defs"] = {"manifest": {key: part for key, part in manifest_schema().items() if key != "$schema"}}
    return found
