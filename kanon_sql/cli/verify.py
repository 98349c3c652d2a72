"""`kanon verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.output import out, promised, show_result
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.release.publish import sha256
from kanon_sql.report.attestation import Attested, attested
from kanon_sql.report.numbers import counted
from kanon_sql.verbs.options import VerifyOptions
from kanon_sql.verbs.verify import ITSELF, Verification
from kanon_sql.verbs.verify import verify as run

ATTESTATION = Option(
    "attestation",
    "Signed evidence about the file, from `kanon report --attest`: checks its signature and the checksum of the file, "
    "and then, unless options say otherwise, the k of its manifest.",
    "Data",
    Path,
)
PUBLIC_KEY = Option("public_key", "The public key that must have signed the attestation, as PEM.", "Data", Path)


@takes(o.SOURCE, o.SPEC, *o.of(VerifyOptions), o.AGAINST, ATTESTATION, PUBLIC_KEY, o.JSON)
def verify(
    source: str | None,
    spec: Path | None,
    attestation: Path | None,
    public_key: Path | None,
    as_json: bool | None,
    **overrides: Any,
) -> None:
    """With --spec and no source, checks the spec's target. Prints only how many classes fail, and their sizes."""
    if (attestation is None) != (public_key is None):
        raise SpecError("an attestation is checked with a key; use --attestation and --public-key together")
    if attestation and public_key:
        signed = _attested(attestation, public_key, source)
        if not as_json:
            named = f"the file was signed as {escape(signed.name)} by the key {signed.key[:16]}…"
            out.print(f"[green]attested[/green]: {named}")
        models = {finding["model"]: finding["required"] for finding in signed.manifest["privacy"]}
        columns = signed.manifest["roles"].get("quasi_identifiers")
        if spec is None and columns and "k-anonymity" in models:  # the rows are checked again by the signed manifest
            used = {name: value for name, value in overrides.items() if value is not None}
            overrides = {"quasi_identifiers": list(columns), "k": models["k-anonymity"], **used}
    found = run(source, spec, **overrides)
    show_result(found, as_json, _show)
    if not found:
        raise typer.Exit(1)


def _attested(attestation: Path, public_key: Path, source: str | None) -> Attested:
    """The verified attestation about a file; VerificationError if it is about another file."""
    signed = attested(attestation, public_key)
    if source is None:
        raise SpecError("an attestation is about a file; name the file to check")
    try:
        digest = sha256(Path(source))
    except OSError as error:
        raise SpecError(f"{source} cannot be read ({error.strerror}); check the path") from None
    if digest != signed.sha256:
        raise VerificationError(f"{source} is not the file that was signed as {signed.name}; do not rely on it")
    return signed


def _show(found: Verification) -> None:
    """Print whether the models are satisfied, and the sizes of the classes that violate k-anonymity."""
    checked = found.to_dict()
    if "problem" in checked:
        out.print(f"[red]failed[/red]: {escape(in_flags(checked['problem']))}")
        return
    if "people" in checked:
        counts = "people"
        people = f" of {checked['people']:,} people"
        size = checked["smallest_class_of_people"]
    else:
        counts = "rows"
        people = ""
        size = checked["smallest_class"]
    smallest = counted(size or 0, counts)
    classes = f"{checked['rows']:,} rows{people} in {checked['classes']:,} classes, the smallest of {smallest}"
    models = escape(promised(checked["findings"]))
    columns = escape(", ".join(checked["quasi_identifiers"]))
    if checked["holds"]:
        out.print(f"[green]satisfied[/green]: {models} on {columns}; {classes}")
    else:
        out.print(f"[red]not satisfied[/red]: {models} on {columns}; {classes}")
        for finding in checked["findings"]:
            if finding["unsafe_rows"]:
                _show_violation(finding, checked["offending_sizes"], counts)
    compared = checked["compared_with"]
    if compared == ITSELF:
        out.print(
            "The classes were compared with the release itself, which can lack suppressed rows; to compare them with "
            "its source, name it with --against."
        )
    elif compared:
        out.print(f"The classes were compared with {escape(compared)}.")


def _show_violation(finding: dict[str, Any], sizes: list[dict[str, int]], counts: str) -> None:
    """Print the value that a model achieves; for k-anonymity, the sizes of the small classes."""
    rows = f"{counted(finding['unsafe_rows'], 'rows')} in {counted(finding['unsafe_classes'], 'classes')}"
    if finding["model"] != "k-anonymity":
        achieved = "unknown" if finding["achieved"] is None else f"{finding['achieved']:.4g}"
        model = escape(promised([finding]))
        out.print(f"{rows} {'does' if finding['unsafe_rows'] == 1 else 'do'} not meet {model}: {achieved} found")
        return
    out.print(f"{rows} {'is' if finding['unsafe_rows'] == 1 else 'are'} below {finding['required']} {counts}:")
    for size in sizes:
        out.print(f"  {counted(size['classes'], 'classes')} of {counted(size['size'], counts)}")
