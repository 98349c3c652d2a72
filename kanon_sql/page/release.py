"""The screen of the release: its spec, its statement, and the release itself, written with its report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.hints import DROPPED, IDENTIFIER, KEPT, SENSITIVE
from kanon_sql.page import decision
from kanon_sql.page.draft import Draft
from kanon_sql.page.names import FORMS, RELEASES, SPECS, file_in, plain
from kanon_sql.page.state import Page, PageResult
from kanon_sql.page.web import rendered, report_page, shown, stopping
from kanon_sql.queries import DIALECTS
from kanon_sql.release.publish import check_file
from kanon_sql.report import words
from kanon_sql.spec import DECLARED, Spec, as_yaml, completed, in_flow, parse
from kanon_sql.staging import write_file
from kanon_sql.suggestion.spec_file import comment, listed
from kanon_sql.verbs.suggest import has_password

DRAFT = "draft"  # released by default; otherwise a result
REPORTS = {"show": "Show it here", "write": "Show it here, and write it next to the release", "": "None"}
_LISTS = {"identifiers": IDENTIFIER, "sensitive": SENSITIVE, "keep": KEPT}
_WIDEST = 100


@dataclass(frozen=True)
class Candidate:
    """The spec to release: the draft in its current state, or a result's draft with the levels found for it."""

    page: Page
    result: PageResult | None

    @property
    def of(self) -> str:
        """Its name in a form."""
        return str(self.result.number) if self.result else DRAFT

    @property
    def draft(self) -> Draft:
        """The draft to release."""
        return self.result.draft if self.result else self.page.draft

    @property
    def node(self) -> Mapping[str, int] | None:
        """The levels of a result, so that nothing is searched again."""
        return self.result.manifest.get("node") if self.result else None

    @property
    def target(self) -> dict[str, Any]:
        """The target, as a spec in the output folder names it."""
        return dict(self.page.draft.keys["target"])

    def mapping(self) -> dict[str, Any]:
        """The complete spec, with paths relative to the page's folder; the decision is that of the page's draft."""
        spec = {key: value for key, value in self.draft.mapping().items() if key not in DECLARED}
        spec |= {key: value for key, value in self.page.draft.mapping().items() if key in DECLARED}
        if self.node:
            spec = {key: value for key, value in spec.items() if key not in ("node_from", "node_else")}
            spec["node"] = dict(self.node)
        return {**spec, "target": self.target}

    @property
    def stays_here(self) -> bool:
        """Whether files are written to the folder that the spec's paths start in."""
        return self.page.output == self.page.folder.resolve()

    def here(self, path: Path) -> str:
        """The name of a file to write, relative to the page's folder."""
        return path.name if self.stays_here else str(path)

    def text(self) -> str:
        """The spec file for the output folder; SpecError if it is not valid yet."""
        spec = self.mapping()
        parse(spec)
        return spec_text(
            self.draft, spec if self.stays_here else _elsewhere(spec, self.page.folder), self.page.spec_name
        )

    def file(self, name: str, endings: tuple[str, ...]) -> Path:
        """The path of a file to write, in the output folder."""
        return file_in(self.page.output, name, endings, self.mapping(), self.page.folder)


def _candidate(request: Request, of: str | None = None) -> Candidate:
    """What a request names; otherwise the last result of the current draft, or the draft itself."""
    page: Page = request.app.state.page
    of = request.query_params.get("of", "") if of is None else of
    by_number = {str(result.number): result for result in page.results}
    current = [result for result in page.results if result.draft.asks_like(page.draft)]
    current = [result for result in current if not result.written] or current
    if of == DRAFT or (of not in by_number and not current):
        return Candidate(page, None)
    return Candidate(page, by_number.get(of) or current[-1])


def show(request: Request, problem: str = "") -> Response:
    """The choice of a spec to release, its target, and the written releases."""
    candidate = _candidate(request)
    page, target = candidate.page, candidate.target
    text = missing = ""
    try:
        text = candidate.text()
    except KanonError as error:
        missing = str(error)
    database = ' --database "$DATABASE"' if _needs_database(candidate.draft.keys) else ""
    result = candidate.result
    files = [target["file"], _report_name(target)] if "file" in target else []
    asked = request.query_params.get("ask", "").split("/")
    content = {
        "candidate": candidate,
        "figures": list(decision.figures_of(result)) if result else [],
        "verdict": decision.verdict_on(result, page.draft) if result else None,
        "decision": decision,
        "declared": decision.declared(page.draft),
        "asked": [name for name in files if name in asked and (page.output / name).exists()],
        "wanted": request.query_params.get("report", "show"),
        "target": target,
        "text": text,
        "missing": missing,
        "stale": bool(candidate.result and not candidate.draft.asks_like(page.draft)),
        "spec_file": _spec_file(page, text),
        "command": f"kanon anonymize --spec {shlex.quote(page.spec_name)}{database}",
        "needs_database": bool(database),
        "written": [result for result in reversed(page.results) if result.written],
        "table": Path(str(candidate.draft.keys["source"])).stem,
    }
    return rendered(
        request, "release", problem, reports=REPORTS, forms=FORMS, dialects=DIALECTS, words=words, **content
    )


def _report_name(target: Mapping[str, Any]) -> str:
    return f"{Path(target.get('file') or plain(str(target['table']))).stem}.html"


def _spec_file(page: Page, text: str) -> str:
    """Whether the spec file's contents are the same, or other; empty if it does not exist."""
    path = page.output / page.spec_name
    if not path.is_file() or path.is_symlink():
        return ""
    try:
        return "same" if path.read_bytes() == text.encode() else "other"
    except OSError:
        return "other"


def _back(request: Request, of: str | None = None) -> Response:
    return shown(request, "release", of=of or _candidate(request).of)


def choose(request: Request, form: FormData) -> Response:
    """Choose another result to release, or the draft."""
    return _back(request, str(form.get("of", "")))


def where(request: Request, form: FormData) -> Response:
    """Rename the target or the spec file."""
    page: Page = request.app.state.page
    spec_name = plain(str(form.get("spec", page.spec_name)), SPECS)

    def edit(draft: Draft) -> Draft:
        target = dict(draft.keys["target"])
        if "file" in target:
            return draft.with_keys(target={"file": plain(str(form.get("target", target["file"])), RELEASES)})
        form_name = str(form.get("as", target["as"]))
        if form_name not in FORMS:
            raise SpecError(f"{form_name!r} is not a form of a release; choose one of {', '.join(FORMS)}")
        return draft.with_keys(target={"table": plain(str(form.get("target", target["table"]))), "as": form_name})

    page.change(edit)
    if spec_name != page.spec_name:
        page.spec_name = spec_name
        page.windows.tell("changed")
    return _back(request)


def start_measuring(page: Page, result: PageResult) -> None:
    """Start measuring the attacks on a result, and its utility; SpecError while something else runs."""
    spec = {key: value for key, value in Candidate(page, result).mapping().items() if key != "target"}
    request = {"spec": spec, "measure": page.questions}
    page.run(f"Attacks and utility of {result.number}", request, result.draft, result.number)


def measure(request: Request, _: FormData) -> Response:
    """Measure the figures of a result that are missing."""
    candidate = _candidate(request)
    if candidate.result is None:
        raise SpecError("choose a result first: the draft has no figures yet")
    start_measuring(candidate.page, candidate.result)
    return _back(request, candidate.of)


def decide(request: Request, form: FormData) -> Response:
    """Set the recipient, or another field of the decision."""
    request.app.state.page.change(lambda draft: decision.with_declared(draft, form))
    return _back(request)


def write(request: Request, form: FormData) -> Response:
    """Write the release, with its report if requested."""
    candidate = _candidate(request, str(form.get("of", "")))
    replaced = form.getlist("replace")
    page = candidate.page
    target = candidate.target
    report = str(form.get("report", ""))
    name = str(target.get("file") or target.get("table"))
    if candidate.of != str(form.get("of")) or str(form.get("target")) != name:
        raise SpecError("another window has changed the release or its target; review it, and write again")
    target["overwrite"] = name in replaced
    if asked := _to_ask(candidate, report, replaced):
        return shown(request, "release", of=candidate.of, ask="/".join(asked), report=report)
    if "file" in target:
        path = candidate.file(name, RELEASES)
        check_file(path, target["overwrite"], ())
        target["file"] = candidate.here(path)
    spec = {**candidate.mapping(), "target": target}
    parse(spec)
    report_options = _report(candidate, report, replaced) if report in REPORTS and report else None
    page.run(f"Release {name}", {"spec": spec, "report": report_options}, candidate.draft)
    return _back(request, candidate.of)


def _to_ask(candidate: Candidate, report: str, replaced: list[Any]) -> list[str]:
    """The existing files that would be replaced, and that the user has not agreed to."""
    target = candidate.target
    if "file" not in target:
        return []
    names = [str(target["file"]), *([_report_name(target)] if report == "write" else [])]
    found = []
    for name, endings in zip(names, (RELEASES, (".html",)), strict=False):
        path = candidate.file(name, endings)
        if path.exists() and name not in replaced:
            found.append(name)
    return found


def _report(candidate: Candidate, report: str, replaced: list[Any]) -> dict[str, Any]:
    """The file that the report is written to, if any, and whether it may replace an existing one."""
    if report != "write":
        return {"file": None}
    name = _report_name(candidate.target)
    path = candidate.file(name, (".html",))
    check_file(path, name in replaced, ())
    return {"file": candidate.here(path), "overwrite": name in replaced}


def write_spec(request: Request, form: FormData) -> Response:
    """Write the spec file, readable only for its owner."""
    candidate = _candidate(request, str(form.get("of", "")))
    path = candidate.file(str(form.get("name", "")), SPECS)
    text = candidate.text()
    overwrite = path.name in form.getlist("replace")
    check_file(path, overwrite, ())
    write_file(path, text, overwrite, private=True)
    candidate.page.windows.tell("changed")
    return _back(request, candidate.of)


def download(request: Request) -> Response:
    """The spec as a download."""
    candidate = _candidate(request)
    try:
        text = candidate.text()
    except KanonError as error:
        return show(request, str(error))
    headers = {"Content-Disposition": 'attachment; filename="release.yml"'}
    return PlainTextResponse(text, headers=headers, media_type="application/yaml")


def statement(request: Request, form: FormData) -> Response:
    """Print the statement of a result, for the engine here or for another system."""
    candidate = _candidate(request, str(form.get("of", "")))
    if candidate.result is None:
        raise SpecError("choose a result first: the statement contains its levels")
    dialect = str(form.get("dialect", ""))
    table = str(form.get("table", "")).strip()
    spec = {key: value for key, value in candidate.mapping().items() if key != "target"}
    printed = {"dialect": dialect or None, "table": (table or None) if dialect else None}
    name = f"Statement of {candidate.result.number}"
    candidate.page.run(name, {"spec": spec, "statement": printed}, candidate.draft, candidate.result.number)
    return _back(request, candidate.of)


def report(request: Request) -> Response:
    """The report of a release, as a separate page."""
    try:
        result = request.app.state.page.result(request.path_params["number"])
    except KanonError as error:
        return PlainTextResponse(str(error), status_code=404)
    if not result.report:
        return PlainTextResponse("there is no report of it", status_code=404)
    return report_page(request, result.report, f"report-{result.number}.html")


# The text of the spec: YAML, with the reason of every role as a comment


def spec_text(draft: Draft, mapping: Mapping[str, Any], name: str) -> str:
    """The text of a spec file with this name; `mapping`: its contents, with the columns of the draft."""
    return "\n".join(_lines(draft, mapping, name)) + "\n"


def _elsewhere(mapping: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """The mapping for a spec in another folder: its paths, which are relative to `base`, become absolute."""
    target = mapping.get("target")
    spec = completed({**mapping, "target": None}, base, Spec, {})
    values = spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    moved = {key: values[key] for key in mapping if values.get(key) is not None}
    if not {"database", "attach"} & moved.keys():
        moved["source"] = str(base / mapping["source"])
    return {**moved, **({"target": target} if target else {})}


def _needs_database(mapping: Mapping[str, Any]) -> bool:
    """Whether the database's address contains a password, so that it is not written."""
    return has_password(str(mapping.get("database", "")))


def _lines(draft: Draft, mapping: Mapping[str, Any], name: str) -> Iterator[str]:
    database = ' --database "$DATABASE"' if _needs_database(mapping) else ""
    yield from comment("Made with `kanon page`. Run it in this folder:")
    yield from comment(f"  kanon anonymize --spec {name}{database}")
    yield from comment("Recipes may contain values of the data: keep this file as private as the data.")
    reasons = {column.name: column.why for column in draft.columns}
    for key, value in mapping.items():
        if key == "database" and database:
            yield from comment("The address of the database contains a password, and is not written here.")
        elif key == "quasi_identifiers":
            yield "quasi_identifiers:"
            for column, attribute in value.items():
                yield from comment(reasons.get(column, ""), "  ")
                yield from _entry(column, attribute, "  ")
        elif key in _LISTS and isinstance(value, list) and value:
            yield from listed(key, [(column, reasons.get(column, "")) for column in value])
        else:
            yield from _entry(key, value)
        if key == "keep":
            dropped = [column for column in draft.columns if column.role == DROPPED]
            yield from (f"# - {in_flow(column.name)}   # dropped" for column in dropped)


def _entry(key: str, value: Any, before: str = "") -> Iterator[str]:
    """A key and its value on one line, or on several if they are too long."""
    line = f"{before}{in_flow(key)}: {in_flow(value)}"
    yield line if len(line) <= _WIDEST else indent(as_yaml({key: value}), before).rstrip("\n")


PAGES = {"/release": show, "/release/spec": download, "/release/report/{number:int}": report}
CHANGES = {
    "/release": choose,
    "/release/where": where,
    "/release/decision": decide,
    "/release/measure": measure,
    "/release/write": write,
    "/release/stop": stopping(_back),
    "/release/spec": write_spec,
    "/release/statement": statement,
}
