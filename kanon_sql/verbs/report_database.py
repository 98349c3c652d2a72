"""The report of a release of several tables: Markdown, a page, or a Word document, filled from measured figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.release.publish import check_file
from kanon_sql.report import document
from kanon_sql.report.thresholds import thresholds_for
from kanon_sql.report.word import check_word, word
from kanon_sql.resources import package_version
from kanon_sql.spec import RECIPIENTS, LinkedSpec, load_linked
from kanon_sql.staging import write_file
from kanon_sql.verbs.attack_database import ATTEMPTS, attack_database, risk_database
from kanon_sql.verbs.database import known_rows, limits, verify_database
from kanon_sql.verbs.result import DataFrame, Result, frame

FORMATS = (".html", ".md", ".docx")
_TITLE = "Release of several tables"


@dataclass(frozen=True, repr=False)
class DatabaseReport(Result, json_form="database-report"):
    """The report of a release of several tables; `figures` has what it is filled from. `write` writes it to a file."""

    figures: dict[str, Any]

    @property
    def markdown(self) -> str:
        """The report in Markdown; what people have to add is marked."""
        return document.of_database(self._content(), date.today().isoformat())

    @property
    def html(self) -> str:
        """The same as a page without scripts and external resources."""
        return document.as_page(self.markdown, package_version(), _TITLE)

    def to_dict(self) -> dict[str, Any]:
        """The figures."""
        return dict(self.figures)

    def to_df(self) -> DataFrame:
        """One row per number of rows that the attacker has."""
        return frame(self.figures["attack"]["exposed"])

    def write(self, path: str | PathLike[str], *, overwrite: bool = False, **_: Any) -> Path:
        """Write `.html`, `.md` or `.docx`; the file's ending decides.

        TargetError if the file exists and must not be replaced, or python-docx is missing; SpecError for other endings.
        """
        target = Path(path)
        check_report_file(target, overwrite)
        if target.suffix.lower() == ".docx":
            content = word(self.markdown, _TITLE)
        else:
            content = (self.html if target.suffix.lower() == ".html" else self.markdown).encode()
        write_file(target, content, overwrite)
        return target

    def _lines(self) -> Sequence[tuple[str, str]]:
        found = self.figures["verification"]
        return [("people", f"{found['people']:,}"), ("satisfied", "yes" if found["satisfied"] else "no")]

    def _content(self) -> dict[str, Any]:
        """The figures by the names of the template."""
        spec, verified, attack = self.figures["spec"], self.figures["verification"], self.figures["attack"]
        before = {row["known_rows"]: row for row in self.figures["risk"]["exposed"]}
        achieved = [finding["achieved"] for finding in verified["findings"] if finding["achieved"] is not None]
        smallest = min(achieved, default=None)
        tables = attack["tables"]
        found_by_attack = any(row["promised"] and row["below_k"] for row in attack["exposed"])
        keeps = verified["satisfied"] and not found_by_attack
        thresholds = [
            {
                "recipient": recipient,
                "name": threshold.name,
                "required": threshold.required,
                "met": None if smallest is None else threshold.met(smallest),
                "source": threshold.source,
            }
            for recipient in ([spec["recipient"]] if spec["recipient"] else RECIPIENTS)
            for threshold in thresholds_for(recipient, [], None, None)
        ]
        exposed = []
        for row in attack["exposed"]:
            singled_out = "not measured"
            if found := before.get(row["known_rows"]):
                singled_out = f"{_not_small(found['singled_out'], spec['k'])} of {found['people']:,}"
            exposed.append({**_in_words(row), "before": singled_out})
        return {
            **spec,
            "version": package_version(),
            "outcome": _outcome(spec["recipient"], keeps, thresholds, spec["conditions"]),
            "keeps": keeps,
            "smallest": smallest,
            "broken_keys": verified["broken_keys"],
            "findings": [_in_words(row) for row in verified["findings"]],
            "sensitive": [{**_in_words(row), "limits": limits(row["required"])} for row in verified["sensitive"]],
            "exposed": exposed,
            "guesses": [_in_words(row) for row in attack["people"]],
            "values": [
                {**_in_words(row), **{f"{name}_shown": _not_small(row[name], spec["k"]) for name in ("right", "blind")}}
                for row in attack["values"]
            ],
            "attempts": self.figures["attempts"],
            "people": tables[spec["unit"]]["rows"],
            "released_people": tables[spec["unit"]]["released_rows"],
            "tables": [
                {"name": name, **table, "columns": _columns(spec, name, table)} for name, table in tables.items()
            ],
            "thresholds": thresholds,
        }


def report_database(
    spec: LinkedSpec | Mapping[str, Any] | str | Path,
    *,
    connection: Any = None,
    known: int | None = None,
    attempts: int = ATTEMPTS,
    seed: int = 0,
    **overrides: Any,
) -> DatabaseReport:
    """Report on the released tables of a spec: the check, the risk before and after, and attacks.

    Needs the source and the release. The keywords are those of `attack_database`. Raises SpecError and SourceError.
    """
    settled = load_linked(spec, **overrides)
    verified = verify_database(settled, connection=connection)
    risk = risk_database(settled, connection=connection, known=known)
    attack = attack_database(settled, connection=connection, known=known, attempts=attempts, seed=seed)
    return DatabaseReport(
        {
            "spec": _described(settled),
            "verification": verified.to_dict(),
            "risk": risk.to_dict(),
            "attack": attack.to_dict(),
            "attempts": attempts,
        }
    )


def check_report_file(path: Path, overwrite: bool) -> None:
    """SpecError or TargetError if a report cannot be written there, before anything is measured."""
    if path.suffix.lower() not in FORMATS:
        raise SpecError(f"{path} ends in none of {', '.join(FORMATS)}; name a file that does")
    check_file(path, overwrite, ())
    if path.suffix.lower() == ".docx":
        check_word()


def _described(spec: LinkedSpec) -> dict[str, Any]:
    """What the report needs of the spec: names, never values."""
    assert spec.into is not None
    roles = {
        name: {
            "keys": list(table.keys) or [spec.person_key] * (name == spec.main),
            "quasi_identifiers": list(table.quasi_identifiers),
            "sensitive": spec.sensitive_of(name),
            "shifted": list(table.shift),
            "kept": [column for column in table.keep if column not in spec.sensitive_of(name)],
            "identifiers": list(table.identifiers),
        }
        for name, table in spec.tables.items()
    }
    target = str(spec.into.folder or spec.into.schema_name)
    return {
        "unit": spec.main,
        "k": spec.privacy.k,
        "m": spec.privacy.m,
        "roles": roles,
        "target": target,
        "recipient": spec.recipient,
        "purpose": spec.purpose,
        "retention": spec.retention,
        "review_date": spec.review_date,
        "conditions": list(_conditions(spec)),
    }


def _conditions(spec: LinkedSpec) -> Iterator[str]:
    """What no figure of the report covers, so that people have to decide it."""
    with_model = {(table, column) for table, column, _ in spec.requirements}
    for name, table in spec.tables.items():
        if table.keep:
            columns = ", ".join(table.keep)
            yield f"Make sure that others cannot know {columns} of {name}: released unchanged, and not counted."
        if table.shift:
            columns = ", ".join(table.shift)
            yield f"Make sure that others know none of a person's {columns} of {name}: one date reveals all of them."
        if bare := [column for column in spec.sensitive_of(name) if (name, column) not in with_model]:
            columns = ", ".join(bare)
            yield f"Accept that {columns} of {name} can become known: no model limits what people have in common."
    if spec.key_secret is not None:
        yield "Make sure that no one has several releases: a person has the same key in each of them."


def _outcome(
    recipient: str | None, keeps: bool, thresholds: Sequence[Mapping[str, Any]], conditions: Sequence[str]
) -> str:
    """The verdict in words, as in the report of a single table."""
    if not keeps:
        return "not releasable: the tables do not satisfy the spec"
    if recipient is None:
        return "not decided: name the recipient"
    if not all(threshold["met"] for threshold in thresholds):
        return "not releasable: a threshold for the recipient is not met"
    return "releasable under conditions" if conditions else "releasable"


def _in_words(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "known_in_words": known_rows(row["known_rows"])}


def _not_small(people: int, k: int) -> str:
    """A number of people of the source; a report shows no numbers below k except 0."""
    return f"fewer than {k:,}" if 0 < people < k else f"{people:,}"


def _columns(spec: Mapping[str, Any], name: str, table: Mapping[str, Any]) -> list[dict[str, str]]:
    """The columns of a table with their roles, and what the release does with them."""
    roles = spec["roles"][name]
    rows = [(column, "key", "replaced by a random key") for column in roles["keys"]]
    rows += [(column, "quasi-identifier", _level(table["levels"].get(column))) for column in roles["quasi_identifiers"]]
    rows += [(column, "sensitive", "unchanged") for column in roles["sensitive"]]
    rows += [(column, "date", "an offset of days per person") for column in roles["shifted"]]
    rows += [(column, "kept", "unchanged") for column in roles["kept"]]
    rows += [(column, "identifier", "dropped") for column in roles["identifiers"]]
    return [{"name": column, "role": role, "change": change} for column, role, change in rows]


def _level(found: Mapping[str, int] | None) -> str:
    if found is None:
        return "not measured"
    if not found["level"]:
        return "unchanged"
    return f"level {found['level']} of {found['height']}" + (", hidden" if found["level"] == found["height"] else "")
