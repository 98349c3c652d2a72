"""`kanon report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.output import out, warn, watching
from kanon_sql.errors import SpecError
from kanon_sql.release.publish import check_file
from kanon_sql.report.forms import FORMS
from kanon_sql.staging import write_file
from kanon_sql.verbs.figures import PARTS
from kanon_sql.verbs.options import DecisionOptions
from kanon_sql.verbs.report import FORMATS, check_form, check_report
from kanon_sql.verbs.report import report as run

OUTPUT = Option(
    "output", "The file to write (default: report.html, or report with the ending of the format).", "Output", Path
)
FORMAT = Option(
    "form",
    "html; pdf, which requires Chromium; docx or md, a data protection record; or json, the manifest (default: the "
    "file's ending).",
    "Output",
    flag="--format",
    choices=FORMATS,
)
NAMED_FORM = Option(
    "named_form",
    f"A form instead of the page, filled from the same figures, as .md, .html or .docx: {', '.join(FORMS)}.",
    "Output",
    flag="--form",
    choices=tuple(FORMS),
)
MANIFEST = Option(
    "manifest",
    "The manifest of the release (JSON), as its command prints it with --json. Without it, the search is repeated.",
    "Data",
    Path,
)
ATTEST = Option(
    "attest",
    "A file for signed evidence: the manifest and the checksum of the released file as an in-toto statement, which "
    "`kanon verify --attestation` checks.",
    "Output",
    Path,
)
KEY = Option(
    "key",
    "The private key for --attest, as PEM. If it is encrypted, its password is in KANON_KEY_PASSWORD.",
    "Output",
    Path,
)
WITHOUT = Option("without", f"Parts to leave out: any of {', '.join(PARTS)}.", "Output", read=o.names, default=None)


@takes(
    o.SOURCE,
    *o.PLACES,
    o.SPEC,
    *o.of(DecisionOptions),
    MANIFEST,
    WITHOUT,
    OUTPUT,
    FORMAT,
    NAMED_FORM,
    ATTEST,
    KEY,
    o.OVERWRITE,
)
def report(
    source: str | None,
    spec: Path | None,
    output: Path | None,
    form: str | None,
    named_form: str | None,
    overwrite: bool | None,
    without: list[str] | None,
    attest: Path | None,
    key: Path | None,
    **options: Any,
) -> None:
    """[bold]kanon report --spec release.yml --output report.html[/bold]

    Contains only aggregates: no rows, and no counts of the source below k. It needs no network and no scripts."""
    path = output or Path(f"{named_form or 'report'}.{form or 'html'}")
    if form and path.suffix.lower() != f".{form}":
        raise SpecError(f"{path} does not end in .{form}; name a file that does, or leave out --format")
    if named_form:
        check_form(named_form, path)
    check_report(path, bool(overwrite))
    if (attest is None) != (key is None):
        raise SpecError("an attestation needs a file and a key; use --attest and --key together")
    if attest:
        check_file(attest, bool(overwrite), ())
    without = list(PARTS) if path.suffix.lower() == ".json" else without or []  # JSON is the manifest alone
    with watching() as watch:
        written = run(source, spec, without=without, observer=watch, **options)
        watch.stage("Writing the report")
        signed = written.attestation(key) if attest and key else None
        written.write(path, overwrite=bool(overwrite), form=named_form)
        if attest and signed:
            write_file(attest, signed, bool(overwrite))
    for part, reason in written.figures.missing.items():
        if part not in without:
            warn([f"the report has no {part.replace('_', ' ')}: {reason}"])
    out.print(f"Report written to {escape(str(path))}")
    if attest:
        out.print(f"Attestation written to {escape(str(attest))}")
