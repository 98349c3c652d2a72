"""The screen of the release: the spec and the statement of it, and the release itself, written with its report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.hints import IDENTIFIER, SENSITIVE
from kanon_sql.page.draft import Draft
from kanon_sql.page.names import FORMS, RELEASES, SPECS, file_in, plain
from kanon_sql.page.state import Page, Result
from kanon_sql.page.web import changing, rendered, shown
from kanon_sql.queries import DIALECTS
from kanon_sql.release.publish import check_file
from kanon_sql.report import words
from kanon_sql.spec import Spec, as_yaml, completed, in_flow, parse
from kanon_sql.staging import Staging
from kanon_sql.suggestion.written import comment, listed
from kanon_sql.verbs.suggest import DROPPED, KEPT, has_password

DRAFT = "draft"  # what is released, where it is no result
REPORTS = {"show": "Show it here", "write": "Show it here, and write it beside the release", "": "None"}
_REPORT_POLICY = (  # its page has a style of its own, and nothing that runs or is fetched
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'; sandbox"
)
_LISTS = {"identifiers": IDENTIFIER, "sensitive": SENSITIVE, "keep": KEPT}
_WIDEST = 100


@dataclass(frozen=True)
class Asked:
    """What is to be released: the draft as it is now, or a result's with the levels that were found for it."""

    page: Page
    result: Result | None

    @property
    def of(self) -> str:
        """How a form names it."""
        return str(self.result.number) if self.result else DRAFT

    @property
    def draft(self) -> Draft:
        """The draft that it is made by."""
        return self.result.draft if self.result else self.page.draft

    @property
    def node(self) -> Mapping[str, int] | None:
        """The levels that are kept, so that nothing is searched again."""
        return self.result.manifest.get("node") if self.result else None

    @property
    def target(self) -> dict[str, Any]:
        """Where it goes, as a spec in the folder that is written to says it."""
        return dict(self.page.draft.keys["target"])

    def mapping(self) -> dict[str, Any]:
        """All of it as a spec, whose paths start where the page was opened."""
        said = self.draft.mapping()
        if self.node:
            said = {key: value for key, value in said.items() if key not in ("node_from", "node_else")}
            said["node"] = dict(self.node)
        return {**said, "target": self.target}

    @property
    def stays_here(self) -> bool:
        """Whether what is written is where the paths of the spec start."""
        return self.page.output == self.page.folder.resolve()

    def here(self, path: Path) -> str:
        """A file to write, as whoever works where the page was opened names it."""
        return path.name if self.stays_here else str(path)

    def text(self) -> str:
        """The spec file, for the folder that is written to; SpecError where it is no spec yet."""
        said = self.mapping()
        parse(said)
        return spec_text(
            self.draft, said if self.stays_here else _elsewhere(said, self.page.folder), self.page.spec_name
        )

    def file(self, name: str, endings: tuple[str, ...]) -> Path:
        """A file to write, in the folder for it."""
        return file_in(self.page.output, name, endings, self.mapping(), self.page.folder)


def _asked(request: Request, of: str | None = None) -> Asked:
    """What the address asks for; else the last result of the draft as it is now, or the draft."""
    page: Page = request.app.state.page
    of = request.query_params.get("of", "") if of is None else of
    known = {str(result.number): result for result in page.results}
    alike = [result for result in page.results if result.draft.asks_like(page.draft)]
    alike = [result for result in alike if not result.written] or alike
    if of == DRAFT or (of not in known and not alike):
        return Asked(page, None)
    return Asked(page, known.get(of) or alike[-1])


def show(request: Request, problem: str = "") -> Response:
    """What is released, where to, and what came of it."""
    asked = _asked(request)
    page, target = asked.page, asked.target
    text = missing = ""
    try:
        text = asked.text()
    except KanonError as error:
        missing = str(error)
    database = ' --database "$DATABASE"' if _needs_database(asked.draft.keys) else ""
    content = {
        "asked": asked,
        "target": target,
        "text": text,
        "missing": missing,
        "stale": bool(asked.result and not asked.draft.asks_like(page.draft)),
        "there": [name for name in _files(target) if (page.output / name).exists()],
        "spec_there": _spec_there(page, text),
        "command": f"kanon anonymize --spec {shlex.quote(page.spec_name)}{database}",
        "needs_database": bool(database),
        "written": [result for result in reversed(page.results) if result.written],
        "table": Path(str(asked.draft.keys["source"])).stem,
    }
    return rendered(
        request, "release", problem, reports=REPORTS, forms=FORMS, dialects=DIALECTS, words=words, **content
    )


def _files(target: Mapping[str, Any]) -> list[str]:
    """The names of the files that a release may take: its own, and that of its report."""
    return [target["file"], _report_name(target)] if "file" in target else []


def _report_name(target: Mapping[str, Any]) -> str:
    return f"{Path(target.get('file') or plain(str(target['table']))).stem}.html"


def _spec_there(page: Page, text: str) -> str:
    """What a file with the name of the spec says: the same, or something else; nothing if there is none."""
    path = page.output / page.spec_name
    if not path.is_file() or path.is_symlink():
        return ""
    try:
        return "same" if path.read_bytes() == text.encode() else "other"
    except OSError:
        return "other"


def _back(request: Request, of: str | None = None) -> Response:
    return shown(request, "release", of=of or _asked(request).of)


@changing(show)
def choose(request: Request, form: FormData) -> Response:
    """Another result to release, or the draft."""
    return _back(request, str(form.get("of", "")))


@changing(show)
def where(request: Request, form: FormData) -> Response:
    """Other names for the release and for its spec."""
    page: Page = request.app.state.page
    spec_name = plain(str(form.get("spec", page.spec_name)), SPECS)

    def edit(draft: Draft) -> Draft:
        target = dict(draft.keys["target"])
        if "file" in target:
            return draft.told(target={"file": plain(str(form.get("target", target["file"])), RELEASES)})
        form_asked = str(form.get("as", target["as"]))
        if form_asked not in FORMS:
            raise SpecError(f"{form_asked!r} is no form of a release; choose one of {', '.join(FORMS)}")
        return draft.told(target={"table": plain(str(form.get("target", target["table"]))), "as": form_asked})

    page.change(edit)
    if spec_name != page.spec_name:
        page.spec_name = spec_name
        page.windows.tell("changed")
    return _back(request)


@changing(show)
def write(request: Request, form: FormData) -> Response:
    """Write the release, with its report if that is asked for."""
    asked, replaced = _asked(request, str(form.get("of", ""))), form.getlist("replace")
    page, target, report = asked.page, asked.target, str(form.get("report", ""))
    name = str(target.get("file") or target.get("table"))
    if asked.of != str(form.get("of")) or str(form.get("target")) != name:
        raise SpecError("another window has changed what is written, or where to; look at it, and write again")
    target["overwrite"] = name in replaced
    if "file" in target:
        path = asked.file(name, RELEASES)
        check_file(path, target["overwrite"], ())
        target["file"] = asked.here(path)
    said = {**asked.mapping(), "target": target}
    parse(said)
    request_of = {"spec": said, "report": _report(asked, report, replaced) if report in REPORTS and report else None}
    page.run(f"Release {name}", request_of, asked.draft)
    return _back(request, asked.of)


def _report(asked: Asked, report: str, replaced: list[Any]) -> dict[str, Any]:
    """What is asked of the report: the file that it is written to, and whether that may replace another."""
    if report != "write":
        return {"file": None}
    name = _report_name(asked.target)
    path = asked.file(name, (".html",))
    check_file(path, name in replaced, ())
    return {"file": asked.here(path), "overwrite": name in replaced}


@changing(show)
def stop(request: Request, form: FormData) -> Response:
    """Take the best so far, or end what runs without a result."""
    page: Page = request.app.state.page
    page.stop(keep=form.get("how") != "end")
    return _back(request)


@changing(show)
def write_spec(request: Request, form: FormData) -> Response:
    """Write the spec, for its owner alone to read."""
    asked = _asked(request, str(form.get("of", "")))
    path, text = asked.file(str(form.get("name", "")), SPECS), asked.text()
    overwrite = path.name in form.getlist("replace")
    check_file(path, overwrite, ())
    with Staging() as staging:
        with staging.file(path, overwrite, private=True) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        staging.place()
    asked.page.windows.tell("changed")
    return _back(request, asked.of)


def download(request: Request) -> Response:
    """The spec as a file for the browser to keep."""
    asked = _asked(request)
    try:
        text = asked.text()
    except KanonError as error:
        return show(request, str(error))
    kept = {"Content-Disposition": 'attachment; filename="release.yml"'}
    return PlainTextResponse(text, headers=kept, media_type="application/yaml")


@changing(show)
def statement(request: Request, form: FormData) -> Response:
    """Print the statement of a result, for the engine here or for another system."""
    asked = _asked(request, str(form.get("of", "")))
    if asked.result is None:
        raise SpecError("choose a result first: a statement has its levels in it")
    dialect, table = str(form.get("dialect", "")), str(form.get("table", "")).strip()
    spec = {key: value for key, value in asked.mapping().items() if key != "target"}
    printed = {"dialect": dialect or None, "table": (table or None) if dialect else None}
    name = f"Statement of {asked.result.number}"
    asked.page.run(name, {"spec": spec, "statement": printed}, asked.draft, asked.result.number)
    return _back(request, asked.of)


def report(request: Request) -> Response:
    """The report of a release, alone, as its own page has it."""
    try:
        result = request.app.state.page.result(request.path_params["number"])
    except KanonError as error:
        return PlainTextResponse(str(error), status_code=404)
    if not result.report:
        return PlainTextResponse("there is no report of it", status_code=404)
    return HTMLResponse(result.report, headers={"Content-Security-Policy": _REPORT_POLICY})


# The text of the spec: YAML, with the reason of every role as a comment


def spec_text(draft: Draft, mapping: Mapping[str, Any], name: str) -> str:
    """The spec file of this name; `mapping`: what it says, of the columns of the draft."""
    return "\n".join(_lines(draft, mapping, name)) + "\n"


def _elsewhere(mapping: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """The same mapping with its paths, which start at `base`, as a spec in another folder has them."""
    target = mapping.get("target")
    spec = completed({**mapping, "target": None}, base, Spec, {})
    said = spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    known = {key: said[key] for key in mapping if said.get(key) is not None}
    if not {"database", "attach"} & known.keys():
        known["source"] = str(base / mapping["source"])
    return {**known, **({"target": target} if target else {})}


def _needs_database(mapping: Mapping[str, Any]) -> bool:
    """Whether the address of the database is not written, since it holds a password."""
    return has_password(str(mapping.get("database", "")))


def _lines(draft: Draft, mapping: Mapping[str, Any], name: str) -> Iterator[str]:
    database = ' --database "$DATABASE"' if _needs_database(mapping) else ""
    yield from comment("Made with `kanon page`. Run it in this folder:")
    yield from comment(f"  kanon anonymize --spec {name}{database}")
    yield from comment("Recipes may hold values of the data: keep this file as private as they are.")
    reasons = {column.name: column.suggested.reason for column in draft.columns}
    for key, value in mapping.items():
        if key == "database" and database:
            yield from comment("The address of the database holds a password, and is not written here.")
        elif key == "quasi_identifiers":
            yield "quasi_identifiers:"
            for column, attribute in value.items():
                yield from comment(reasons.get(column, ""), "  ")
                yield from _said(column, attribute, "  ")
        elif key in _LISTS and isinstance(value, list) and value:
            yield from listed(key, [(column, reasons.get(column, "")) for column in value])
        else:
            yield from _said(key, value)
        if key == "keep":
            dropped = [column for column in draft.columns if column.role == DROPPED]
            yield from (f"# - {in_flow(column.name)}   # dropped" for column in dropped)


def _said(key: str, value: Any, before: str = "") -> Iterator[str]:
    """A key and its value on one line, or on several where that would be too long."""
    line = f"{before}{in_flow(key)}: {in_flow(value)}"
    yield line if len(line) <= _WIDEST else indent(as_yaml({key: value}), before).rstrip("\n")


ROUTES = [
    Route("/release", show),
    Route("/release", choose, methods=["POST"]),
    Route("/release/where", where, methods=["POST"]),
    Route("/release/write", write, methods=["POST"]),
    Route("/release/stop", stop, methods=["POST"]),
    Route("/release/spec", download),
    Route("/release/spec", write_spec, methods=["POST"]),
    Route("/release/statement", statement, methods=["POST"]),
    Route("/release/report/{number:int}", report),
]
