"""The report as one HTML page, and as a record in Markdown, from a manifest and figures as plain values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from jinja2 import Environment, FileSystemLoader, Template
from markupsafe import Markup, escape

from kanon_sql.report import charts, words
from kanon_sql.report.evidence import reason_of, sections
from kanon_sql.report.forms import as_html, questions, title_of
from kanon_sql.report.numbers import count, figure, level_text, parameters
from kanon_sql.report.verdict import recipient_in_words
from kanon_sql.report.verdict import verdict as decided

MOST_BYTES = 150_000
Row = Mapping[str, Any]
_FOLDER = Path(__file__).parent / "templates"
_IN_A_PICTURE = 12  # columns, so that it fits on a printed page
_OPINION = {"singling_out": "singling out", "linkability": "linkability", "inference": "inference"}


_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")


@dataclass(frozen=True)
class _Limits:
    """What a page shows at most: columns with a chart, columns in a matrix, characters of the statement; a lattice."""

    columns: int
    paired: int
    statement: int
    lattice: bool = True


_LIMITS = (
    _Limits(40, 14, 6000),
    _Limits(24, 12, 3000),
    _Limits(16, 10, 1000),
    _Limits(12, 8, 500, False),
    _Limits(0, 0, 0, False),
)


def page(figures: Mapping[str, Any], made_on: str) -> str:
    """The whole report, smaller than 150 KB: shortened as far as necessary. `figures`: of `ReleaseFigures`."""
    for limits in _LIMITS:
        text = _template("report.html.j2").render(**_content(figures, limits), made_on=made_on)
        if len(text.encode()) < MOST_BYTES:
            break
    return text


def glance(manifest: Mapping[str, Any]) -> str:
    """The first part of a report, for a notebook; it needs no query."""
    return _template("notebook.html.j2").render(**_of_board(manifest, None))


def form(name: str, figures: Mapping[str, Any], made_on: str) -> str:
    """One of `FORMS` as Markdown, filled from the figures; what people have to add is marked."""
    content = _content(figures, _LIMITS[-1])
    manifest = figures["manifest"]
    text = _template(f"forms/{name}.md.j2").render(
        **content,
        made_on=made_on,
        page_title=content["title"],
        given=manifest.get("declared") or {},
        wp216=questions(manifest, figures),
    )
    return _BLANK_LINES.sub("\n\n", text).strip() + "\n"


def of_database(content: Mapping[str, Any], made_on: str) -> str:
    """The report of several released tables, as Markdown."""
    text = _template("database.md.j2").render(**content, made_on=made_on)
    return _BLANK_LINES.sub("\n\n", text).strip() + "\n"


def as_page(markdown: str, version: str, title: str = "") -> str:
    """A form or a report in Markdown as an HTML page; its title is the first line by default."""
    return _template("form.html.j2").render(
        body=as_html(markdown), page_title=title or title_of(markdown), manifest={"version": version}
    )


@cache
def _template(name: str) -> Template:
    is_html = ".html." in name
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=is_html,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "count": count,
        "figure": _figure,
        "percent": _percent,
        "percent_in_text": words.percent,
        "parameters": parameters,
        "listed": words.listed,
        "md": _markdown,
        "named": words.named,
        "warnings": words.warnings,
        "risk_name": words.risk_name,
        "code": _code,
        "shares": _shares,
        "paired": _of_pairs,
        "by_k": _of_k,
        "chance": _chance,
        "levels": _levels,
        "level": level_text,
        "met": _met,
        "recipient": recipient_in_words,
    }
    return environment.get_template(name)


def _figure(value: float | None) -> str:
    return "–" if value is None else figure(value) if isinstance(value, int | float) else parameters(value)


def _percent(share: float | None) -> str:
    """A share in a table, with one decimal so that the points of a column align."""
    if share is None:
        return "–"
    return "< 0.1%" if 0 < share < 0.0005 else f"{share:z.1%}"


def _code(text: str) -> Markup:
    """A text with its backticks as code, and without a full stop at its end."""
    parts = [escape(part) for part in text.rstrip(".").split("`")]
    return Markup("").join(Markup("<code>{}</code>").format(part) if n % 2 else part for n, part in enumerate(parts))


def _met(met: bool | None) -> Markup:
    """Whether a requirement is met, as a word."""
    css, word = {True: ("yes", "yes"), False: ("no", "no"), None: ("quiet", "open")}[met]
    return Markup('<span class="{}">{}</span>').format(css, word)


def _shares(rows: Sequence[Row], manifest: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """A distribution as a table, in shares of the source's and the release's rows."""
    of = manifest["rows"]
    released = manifest["released_rows"] or 1
    return [(row["label"], _percent(row["source"] / of), _percent(row["release"] / released)) for row in rows]


def _of_pairs(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    return [(" and ".join(row["columns"]), charts.short(row["source"]), charts.short(row["release"])) for row in rows]


def _of_k(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    proven = [row for row in rows if row["score"] is not None]
    lost = ("few" if row["suppressed"] is None else _percent(row["suppressed"]) for row in proven)
    return [(str(row["k"]), _figure(row["score"]), share) for row, share in zip(proven, lost, strict=True)]


def _chance(attack: Row) -> str:
    """The chance rate that an attack's success is compared with: the higher of baseline and control."""
    rates = [rate for rate in (attack["baseline"], attack["control"]) if rate is not None]
    return _percent(max(rates)) if rates else "–"


def _levels(manifest: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [(name, str(level), str(manifest["heights"][name])) for name, level in manifest["node"].items()]


def _markdown(value: object) -> str:
    """A text for Markdown on one line, with all special characters escaped."""
    plain = " ".join(str(value).split())
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>#|!&~" else letter for letter in plain)


def _of_board(manifest: Mapping[str, Any], figures: Mapping[str, Any] | None) -> dict[str, Any]:
    """The contents of the first part."""
    target = manifest["target"]
    where = target.get("file") or target.get("table") or "a temporary table"
    return {
        "manifest": manifest,
        "title": PurePath(str(where)).name,
        "where": where,
        "promised": words.promised(manifest),
        "evidence": words.evidence(manifest),
        "left": words.left(manifest, figures),
        "losses": words.losses(manifest),
        "verdict": decided(manifest, figures).to_dict(),
        "declared": words.declared(manifest),
        "measured": (measured := words.measured_risk(manifest, figures)),
        "tiles": _tiles(manifest, measured),
        "who": words.who(manifest),
    }


def _tiles(manifest: Mapping[str, Any], measured: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The key figures: name, figure, and what to compare it with."""
    k = next((finding["required"] for finding in manifest["privacy"] if finding["model"] == "k-anonymity"), None)
    smallest = words.smallest_group(manifest)
    who = words.who(manifest)
    highest = measured["highest"]
    kept = words.detail(manifest)
    tiles = [
        ("Highest risk found", words.percent(highest), measured["about"].lower()) if highest else None,
        ("Smallest group", f"{count(smallest)} {who}", f"{k:,} required" if k else "by the quasi-identifiers")
        if smallest
        else None,
        _released(manifest),
        ("Detail kept", words.percent(kept), "mean of the columns") if kept is not None else None,
    ]
    return [tile for tile in tiles if tile]


def _released(manifest: Mapping[str, Any]) -> tuple[str, str, str]:
    rows, released = manifest["rows"], manifest["released_rows"]
    if rows is None:
        return "Rows released", count(released), "of a source that does not exist any more"
    if deferred := manifest.get("deferred"):  # some released rows are not in the source any more
        waiting = f"{count(deferred['waiting'])} {deferred['counted']} wait"
        return "Rows released", count(released), f"{count(rows)} in the source; {waiting}"
    of_people = ""
    if people := manifest.get("people"):
        of_people = f" rows, {count(manifest['released_people'])} of {count(people)} people"
    return "Rows released", words.percent(released / rows), f"{count(released)} of {count(rows)}{of_people}"


def _content(figures: Mapping[str, Any], limits: _Limits) -> dict[str, Any]:
    """The values for the templates."""
    manifest = figures["manifest"]
    of_column = {column["column"]: column for column in manifest.get("damage") or ()}
    statement = str((manifest.get("sql") or {}).get("release") or "")
    return {
        **_of_board(manifest, figures),
        "figures": figures,
        "missing": figures["missing"],
        "sections": sections(manifest, figures),
        "reasons": {name: reason_of(name, manifest) for name in _all_columns(manifest)},
        "least": figures["least"],
        "few": f"fewer than {figures['least']:,}",
        "bands": [
            (charts.band(row), *("–" if row[name] is None else count(row[name]) for name in ("source", "release")))
            for row in figures["class_sizes"]
        ],
        "roles": _roles(manifest, of_column),
        "norms": [*figures["norms"], *_opinion(figures["attacks"])],
        "pictures": _pictures(figures, limits),
        "attack_words": words.ATTACKS,
        "not_promised": words.not_promised(manifest),
        "statement": statement[: limits.statement],
        "cut": max(0, len(statement) - limits.statement),
    }


def _all_columns(manifest: Mapping[str, Any]) -> list[str]:
    """All columns with a role, dropped ones included."""
    roles = manifest["roles"]
    lists = ("sensitive", "kept", "dropped", "identifiers_dropped")
    return [*words.quasi_identifiers(manifest), *(name for role in lists for name in roles.get(role) or ())]


def _roles(manifest: Mapping[str, Any], of_column: Mapping[str, Row]) -> list[tuple[str, str, str]]:
    """Columns, their roles, and how they were changed; columns without a row are listed below the table."""
    named = words.quasi_identifiers(manifest)
    sensitive = manifest["roles"].get("sensitive") or []
    perturbed = [name for name in (manifest.get("perturbation") or {}).get("columns", {}) if name not in sensitive]
    quasi = [(name, "quasi-identifier", _technique(name, manifest, of_column)) for name in named]
    return [
        *quasi,
        *((name, "sensitive", words.perturbed(name, manifest) or "unchanged") for name in sensitive),
        *((name, "other", words.perturbed(name, manifest) or "") for name in perturbed if name not in named),
    ]


def _technique(name: str, manifest: Mapping[str, Any], of_column: Mapping[str, Row]) -> str:
    if manifest.get("cloak"):
        return f"cloaked by {manifest['cloak']['method']}"
    return words.technique(name, manifest, of_column.get(name)) if of_column else "unchanged"


def _opinion(attacks: Sequence[Row]) -> list[dict[str, Any]]:
    """Results on the three risks of the Working Party's opinion, which sets no figures."""
    tried = [attack for attack in attacks if attack["attack"] in _OPINION]
    return [
        {
            "name": "WP216",
            "rule": _OPINION[attack["attack"]] + (f" of {attack['column']}" if attack["column"] else ""),
            "asked": "not possible; no figure is set",
            "found": "of few people" if attack["excess"] is None else f"{_percent(attack['excess'])} above chance",
            "met": None,
        }
        for attack in tried
    ]


def _pictures(figures: Mapping[str, Any], limits: _Limits) -> dict[str, Any]:
    """The charts of a page; charts of columns include the rows that they show."""
    manifest = figures["manifest"]
    k = figures["k"]
    rows = manifest["rows"]
    released = manifest["released_rows"]
    totals = rows, released  # that class sizes are shares of
    if figures["counted"] != "rows":
        bands = figures["class_sizes"]
        totals = manifest.get("people"), manifest.get("released_people") or sum(band["release"] for band in bands)
    proven = [entry for entry in figures["loss_by_k"] if entry["score"] is not None]
    by_column: dict[str, list[Row]] = {}
    for bar in figures["distributions"]:
        by_column.setdefault(bar["column"], []).append(bar)
    shown = [(name, bars) for name, bars in by_column.items() if len(bars) > 1][: limits.columns]
    names = dict.fromkeys(name for pair in figures["associations"] for name in pair["columns"])
    paired = {*list(names)[: limits.paired]}
    pairs = [pair for pair in figures["associations"] if paired.issuperset(pair["columns"])]
    columns = figures["columns"]
    lattice = figures["lattice"] if limits.lattice else None
    return {
        "sizes": _drawn(figures["class_sizes"], lambda bands: charts.sizes(bands, *totals, k, figures["counted"])),
        "columns": [
            Markup(charts.columns(columns[start : start + _IN_A_PICTURE], start))
            for start in range(0, len(columns), _IN_A_PICTURE)
        ],
        "distributions": [
            (name, Markup(charts.bins(f"bins{n}", name, bars, rows, released)), bars)
            for n, (name, bars) in enumerate(shown)
        ],
        "undrawn": [name for name in by_column if name not in dict(shown)],
        "associations": _drawn(pairs, charts.associations),
        "pairs": pairs,
        "by_k": _drawn(
            proven if len(proven) > 1 else [],
            lambda entries: charts.by_k(entries, f"{manifest['metric']} (information loss)", k),
        ),
        "lattice": Markup(lattice) if lattice else None,
    }


def _drawn(rows: Sequence[Row], draw: Callable[[Sequence[Row]], str]) -> Markup | None:
    return Markup(draw(rows)) if rows else None
