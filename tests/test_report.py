"""The report of a release: its figures against plain counting, its page, and what it must never show."""

import json
import random
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import Release, ReleaseFigures, Report
from kanon_sql.engine import Column, Engine
from kanon_sql.errors import SourceError, SpecError, TargetError
from kanon_sql.report import words
from kanon_sql.report.document import MOST_BYTES, form, glance, page
from kanon_sql.utility import attribute, distribution, rare_rows
from support.command_line import ASK, done, kanon
from support.database import create_table
from support.risk import Counted

K = 5
_draw = random.Random(8)
PEOPLE = pandas.DataFrame(
    {
        "id": [f"p{i}" for i in range(300)],
        "age": [_draw.choice([*range(20, 60), *[88] * 3, 97]) for _ in range(300)],
        "sex": [_draw.choice("fm") for _ in range(300)],
        "ill": [_draw.choice(["flu", "flu", "gout", "acne"]) if i else "rabies" for i in range(300)],
    }
)
SPEC: dict[str, Any] = {
    "identifiers": ["id"],
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [10, 20]}}, "sex": {"hierarchy": "suppress"}},
    "sensitive": ["ill"],
    "privacy": {"k": K},
    "suppression_limit": 0.05,
}
QUICK = ("loss_by_k", "lattice", "attacks")


class Page(HTMLParser):
    """What is in a page: its tags with their attributes, its text, and per figure the tags in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.figures: list[Counter[str]] = []
        self._inside = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "figure":
            self._inside += 1
            self.figures.append(Counter())
        if self._inside:
            self.figures[-1][tag] += 1

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag == "figure"

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def release() -> Release:
    return kanon_sql.anonymize(PEOPLE, SPEC)


@pytest.fixture(scope="module")
def report(release: Release) -> Report:
    return release.report()


# The figures


def test_the_figures_are_those_of_plain_counting(release: Release, report: Report) -> None:
    figures, shown = report.figures, release.to_df()
    assert not figures.missing
    for name, frame in (("source", PEOPLE), ("release", shown)):
        sizes = frame.groupby(["age", "sex"])["ill"].transform("size")
        for band in figures.class_sizes:
            within = (sizes >= band["least"]) & (sizes <= (band["most"] or 10**9))
            assert band[name] == pytest.approx(within.sum(), abs=(K - 1) / 2 if name == "source" else 0)
    risk = {figure["figure"]: figure for figure in figures.risk}
    assert risk["mean"]["source"] == pytest.approx(PEOPLE.groupby(["age", "sex"]).ngroups / 300)
    assert risk["highest"]["release"] == 1 / shown.groupby(["age", "sex"]).size().min()
    rare = PEOPLE.groupby("age")["ill"].transform("size") < K
    (age, sex) = figures.columns
    assert age["at_risk"] == pytest.approx(rare.sum(), abs=(K - 1) / 2)
    assert (sex["kept"], sex["hidden"], sex["suppressed"]) == (len(shown), 0, 300 - len(shown))
    assert age["few"] + age["many"] == len(shown)
    assert age["loss"] == release.manifest["loss_per_attribute"]["age"]
    (one,) = (association for association in figures.associations if association["columns"] == ["sex", "ill"])
    measured = kanon_sql.utility(PEOPLE, shown, quasi_identifiers=["age", "sex"], queries=1, predict=[])
    (other,) = (association for association in measured.associations if association.columns == ("sex", "ill"))
    assert (one["source"], one["release"]) == (other.source, other.release)


def test_a_distribution_has_computed_bins_or_released_labels(release: Release, report: Report) -> None:
    frame = report.figures.to_df("distributions")
    ages = frame[frame["column"] == "age"]
    for label, counted in zip(ages["label"], ages["source"], strict=True):
        low, high = _range(label)
        assert counted == pytest.approx(PEOPLE["age"].between(low, high).sum(), abs=(K - 1) / 2)
    assert set(frame[frame["column"] == "sex"]["label"]) == {"f", "m"}
    ill = frame[frame["column"] == "ill"].set_index("label")["source"]
    assert "rabies" not in ill.index
    assert ill["flu"] == pytest.approx((PEOPLE["ill"] == "flu").sum(), abs=(K - 1) / 2)
    released = {*release.to_df()["ill"], *release.to_df()["sex"], *release.to_df()["age"]}
    assert set(frame[frame["column"] != "age"]["label"]) <= released | {"other values"}


def _range(label: str) -> tuple[float, float]:
    numbers = [int(item) for item in re.findall(r"\d+", label)]
    if label.startswith("under"):
        return -1, numbers[0] - 1
    return (numbers[0], 10**9) if label.endswith("more") else (numbers[0], numbers[1])


def test_the_loss_for_another_k_is_that_of_a_release_with_it(report: Report) -> None:
    costs = {loss["k"]: loss for loss in report.figures.loss_by_k}
    assert list(costs) == [3, 5, 10, 20, 50]
    assert [k for k, item in costs.items() if item["released"]] == [K]
    other = kanon_sql.search(PEOPLE, SPEC, k=20)
    assert costs[20]["score"] == other.score
    assert costs[20]["suppressed"] == pytest.approx(other.rows_at_risk / 300, abs=(K - 1) / 2 / 300)


def test_a_heuristic_release_is_not_compared_with_another_k() -> None:
    """What a local recoding finds in two seconds tells of the time, and less is lost with a larger k by luck."""
    figures = kanon_sql.anonymize(PEOPLE, SPEC, strategy="mondrian").figures(
        without=("attacks", "lattice", "risk", "columns")
    )
    assert figures.loss_by_k == ()
    assert "not proven to lose least" in figures.missing["loss_by_k"]


def test_unproven_values_for_other_k_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanon_sql.verbs.figures.SECONDS", 0.0)
    figures = kanon_sql.anonymize(PEOPLE, SPEC).figures(without=("attacks", "lattice", "risk", "columns"))
    known = {loss["k"]: loss["score"] for loss in figures.loss_by_k if loss["score"] is not None}
    assert K in known
    assert len(known) < len(figures.loss_by_k)
    assert all("no optimum was proven" in loss["refused"] for loss in figures.loss_by_k if loss["k"] not in known)


# The verdict


def test_the_verdict_is_the_worst_of_all_that_was_measured() -> None:
    """A kept column singles everybody out, whatever the groups are; the page begins with that."""
    spec = {**SPEC, "identifiers": [], "keep": ["id"]}
    report = kanon_sql.anonymize(PEOPLE, spec).report(without=("loss_by_k", "lattice", "columns"))
    text = "".join(Page(report.html).texts)
    assert "Highest risk found: 100%." in text
    assert (
        text.index("Not releasable, for the public: ") < text.index("Highest risk found") < text.index("Smallest group")
    )
    verdict = words.measured_risk(report.figures.manifest, report.figures.to_dict())
    assert (verdict["highest"], verdict["about"], verdict["unmeasured"]) == (1.0, "Released columns together", [])
    assert verdict["reason"] == "100% of the rows are unique by one released column."
    assert "**Highest risk found: 100%.**" in report.record


TRIED = {"column": "ill", "counted": "rows", "baseline": 0.1, "control": None, "attempts": 300}


@pytest.mark.parametrize(
    ("attack", "share", "excess", "highest", "about"),
    [
        ("singling_out", 0.01, 0.0, 1.0, "Released columns together"),
        ("singling_out", 0.0, 0.0, 0.2, "Quasi-identifiers"),
        ("homogeneity", None, None, 1.0, "Sensitive values"),
        ("inference", 0.6, 0.5, 0.6, "Sensitive values"),
        ("inference", 0.6, 0.0, 0.2, "Quasi-identifiers"),
        ("linkability", 0.3, 0.2, 0.3, "Linking"),
    ],
)
def test_the_worst_measure_is_the_verdict(
    release: Release, attack: str, share: float | None, excess: float | None, highest: float, about: str
) -> None:
    hits = share is None or share > 0
    risk = [{"figure": "highest", "source": 1.0, "release": 0.2}]
    tried = {**TRIED, "attack": attack, "share": share, "excess": excess, "hits": hits}
    verdict = words.measured_risk(release.manifest, {"risk": risk, "attacks": [tried]})
    assert (verdict["highest"], verdict["about"]) == (highest, about)


def test_unmeasured_parts_are_named_and_excluded_from_the_verdict(release: Release) -> None:
    verdict = words.measured_risk(release.manifest, None)
    assert verdict["unmeasured"] == ["released columns together", "sensitive values", "linking"]
    assert "Not measured, so the risk could be higher" in "".join(Page(glance(release.manifest)).texts)


# People


VISITS = PEOPLE.assign(id=[f"p{i // 3 if i % 5 else 0}" for i in range(300)])


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
def test_every_figure_counts_people_if_a_unit_is_set(strategy: str) -> None:
    """Of a local recoding they are those of the run that made it: nobody can tell them later."""
    spec = {**SPEC, "identifiers": [], "unit": "id", "sensitive": ["ill"], "keep": ["visit"]}
    rows = VISITS.assign(visit=range(300))
    release = kanon_sql.anonymize(rows, spec, strategy=strategy)
    shown = release.to_df()
    shown["id"] = [rows["id"][int(visit)] for visit in shown["visit"]]
    counted = Counted(shown.astype(str).to_dict("records"), ["age", "sex"], "id")
    manifest, everybody = release.manifest, VISITS["id"].nunique()
    assert (manifest["people"], manifest["released_people"]) == (everybody, counted.people)
    assert manifest["suppressed_people"] == everybody - shown["id"].nunique()
    assert manifest["risk_of_people"]["mean"] == pytest.approx(float(counted.mean))
    assert manifest["risk_of_people"]["smallest_class"] == min(counted.sizes) >= K
    for band in manifest["risk_of_people"]["above"]:
        assert band["people"] == counted.above(band["risk"])[1]
    figures = release.figures(source=rows, without=(*QUICK, "columns"))
    risk = {figure["figure"]: figure["release"] for figure in figures.risk}
    assert (figures.counted, risk["highest"]) == ("people", 1 / min(counted.sizes))
    assert risk["mean"] == pytest.approx(float(counted.mean))
    assert risk["above 0.09"] == pytest.approx(float(counted.above(0.09)[2]))
    before = Counted(rows.to_dict("records"), ["age", "sex"], "id")
    assert {figure["figure"]: figure["source"] for figure in figures.risk}["mean"] == pytest.approx(float(before.mean))
    assert sum(size_["release"] for size_ in figures.class_sizes) in (0, counted.people)
    assert all((size_["source"] or 0) <= everybody for size_ in figures.class_sizes)
    assert {norm["found"] for norm in figures.norms} == {
        f"{1 / min(counted.sizes):.4f}, a group of {min(counted.sizes)} people"
    }


def test_without_a_unit_nothing_is_called_people(release: Release, report: Report) -> None:
    assert not {"people", "released_people", "risk_of_people"} & release.manifest.keys()
    assert report.figures.counted == "rows"
    assert {attack["counted"] for attack in report.figures.attacks} == {"rows"}
    assert kanon_sql.risk(PEOPLE, SPEC).source.classes.people is None


def counts_of_the_source(figures: ReleaseFigures) -> list[int]:
    named = [item["source"] for item in (*figures.class_sizes, *figures.distributions)]
    return [item for item in [*named, *(row["at_risk"] for row in figures.columns)] if item is not None]


def test_no_count_of_the_source_is_small(report: Report) -> None:
    counts = counts_of_the_source(report.figures)
    assert len(counts) > 15
    costs = [loss["suppressed"] for loss in report.figures.loss_by_k if not loss["released"]]
    counts += [round(cost * 300) for cost in costs if cost is not None]
    assert all(count == 0 or (count >= K and count % K == 0) for count in counts)
    page = Page(report.html)
    assert not any("rabies" in text for text in page.texts)
    assert not any(item in "".join(page.texts) for item in ("p17", "rows at risk"))


@settings(max_examples=20)
@example(cells=dict.fromkeys([None, *range(-5, 6)], 1), least=3, kind="integer")
@given(
    cells=st.dictionaries(st.integers(-500, 500) | st.none(), st.integers(1, 9), min_size=1, max_size=60),
    least=st.integers(3, 12),
    kind=st.sampled_from(["integer", "text", "date"]),
)
def test_no_bin_represents_few_rows(cells: dict[int | None, int], least: int, kind: str) -> None:
    def label_of(value: int | None) -> str | None:
        day = None if value is None else np.datetime64("2020-01-01") + value
        return str(day) if kind == "date" and day is not None else None if value is None else str(value)

    source = [(label_of(value), n) for value, n in cells.items()]
    read = attribute(Column("c", "T", kind), source, source)
    bins = distribution(read, least)
    assert all(item.source == 0 or item.source >= least for item in bins)
    assert sum(item.source for item in bins) <= sum(cells.values())
    filled = [n for value, n in cells.items() if value is not None]
    if sum(filled) >= least * 2 and kind != "text":
        assert bins or len(filled) < 12
    assert rare_rows(read, least) == sum(n for n in cells.values() if n < least)


@pytest.mark.slow
def test_people_are_counted_if_a_person_has_several_rows() -> None:
    """A person with ten rows makes no bin of ten people."""
    people = PEOPLE.assign(id=[f"p{i // 10}" for i in range(300)])
    spec = {
        **SPEC,
        "identifiers": [],
        "unit": "id",
        "quasi_identifiers": {"sex": {"hierarchy": "suppress"}},
        "keep": [],
    }
    figures = kanon_sql.anonymize(people, spec).figures(without=QUICK)
    assert figures.least == K * 10
    for label, frame in people.groupby("ill"):
        shown = [row for row in figures.distributions if row["label"] == label]
        assert not shown or frame["id"].nunique() >= K


# The page


def test_the_page_is_one_file_that_needs_nothing_else(report: Report) -> None:
    html = report.html
    assert len(html.encode()) < MOST_BYTES == 150_000
    page = Page(html)
    assert not {"script", "img", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert not [
        name for _, attributes in page.tags for name in attributes if name in ("src", "href") or name[:2] == "on"
    ]
    assert "http" not in html
    assert "url(" not in html
    assert "@import" not in html
    assert "prefers-color-scheme:dark" in html
    assert "@media print" in html


def test_every_picture_is_named_described_and_a_table_too(report: Report) -> None:
    page = Page(report.html)
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(pictures) >= 7
    assert len(ids) == len(set(ids))
    for picture in pictures:
        assert picture["role"] == "img"
        assert all(name in ids for name in (picture["aria-labelledby"] or "").split())
    assert all(figure["table"] and figure["svg"] for figure in page.figures)


@pytest.mark.slow
def test_names_and_values_of_columns_are_treated_as_text() -> None:
    odd = "<script>alert(1)</script>"
    names = [odd, "\"x\" & 'y' {{ 7 * 7 }} | `a` *b*", "s|e\nn"]
    values = [["</svg><img src=x onerror=y>", "a&b"], ["{% raw %}", "\x01"], ["<b>", "[x](y)"]]
    rows = {name: [_draw.choice(item) for _ in range(200)] for name, item in zip(names, values, strict=True)}
    recipes = {name: {"hierarchy": "suppress"} for name in names[:2]}
    released = kanon_sql.anonymize(pandas.DataFrame(rows), quasi_identifiers=recipes, sensitive=names[2:], k=3)
    report = released.report(without=QUICK)
    page = Page(report.html)
    assert not {"script", "img", "b"} & {tag for tag, _ in page.tags[page.tags.index(("body", {})) :]} - {"b"}
    printed = "".join(page.texts)
    assert all(text in printed for text in (odd, "{{ 7 * 7 }}", "</svg><img src=x onerror=y>", "{% raw %}"))
    shown = Page(released._repr_html_())
    assert "script" not in {tag for tag, _ in shown.tags}
    assert "\\<script\\>" in report.record
    assert not re.search(r"(?<!\\)<", report.record)
    assert all(line.count(" | ") == 3 for line in report.record.splitlines() if "quasi-identifier |" in line)


def test_a_wide_table_still_fits(report: Report) -> None:
    """Of a hundred columns with long names less is shown, and what is left out is said."""
    figures = report.figures.to_dict()
    names = [f"{'a column with a long name, ' * 5}{i}" for i in range(100)]
    wide = {
        **figures,
        "columns": [{**figures["columns"][0], "column": name} for name in names],
        "distributions": [{**row, "column": name} for name in names for row in figures["distributions"][:8]],
        "manifest": {**figures["manifest"], "roles": {**figures["manifest"]["roles"], "quasi_identifiers": names}},
    }
    text = page(wide, "2026-01-01")
    assert len(text.encode()) < MOST_BYTES
    assert "more columns" in text
    assert "lack of space" in text


def test_the_first_part_is_shown_in_a_notebook_without_queries(release: Release) -> None:
    shown = glance(release.manifest)
    assert shown == release._repr_html_()
    text = "".join(Page(shown).texts)
    assert "Every row of the release looks like at least 4 others in age and sex" in text
    assert "98" in text or "100%" in text


# Where the tables are, and where they are no more


def table_of(engine: Engine) -> Any:
    """The people as a table, and the connection to it."""
    types = {"id": "VARCHAR", "age": "BIGINT", "sex": "VARCHAR", "ill": "VARCHAR"}
    create_table(engine, "people", types, [*PEOPLE.itertuples(index=False, name=None)])
    return engine.connection  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_release_in_a_database_is_reported_on(engine: Engine, report: Report) -> None:
    options: dict[str, Any] = {"spec": {**SPEC, "target": {"table": "released"}}, "connection": table_of(engine)}
    kanon_sql.anonymize("people", **options)
    figures = kanon_sql.report("people", **options, without=QUICK).figures
    assert {*figures.missing} == {*QUICK}
    assert figures.class_sizes == report.figures.class_sizes
    assert figures.columns == report.figures.columns


def test_a_release_on_a_separate_connection_is_reported_on(postgres: Engine, postgres_dsn: str, report: Report) -> None:
    table_of(postgres)
    spec = {**SPEC, "database": postgres_dsn, "source": "people", "target": {"table": "released"}}
    figures = kanon_sql.anonymize(None, spec).figures(without=[*QUICK, "columns"])
    assert figures.class_sizes == report.figures.class_sizes
    assert postgres_dsn not in json.dumps(figures.to_dict())


def test_a_view_is_reported_on(embedded: Engine, report: Report) -> None:
    spec = {**SPEC, "target": {"table": "released", "as": "view"}}
    released = kanon_sql.anonymize("people", spec, connection=table_of(embedded))
    assert released.figures(without=[*QUICK, "risk"]).distributions == report.figures.distributions


@pytest.mark.slow
def test_figures_that_need_the_source_report_that_it_is_missing(tmp_path: Path) -> None:
    source, target = tmp_path / "people.csv", tmp_path / "release.csv"
    PEOPLE.to_csv(source, index=False)
    spec = {**SPEC, "source": str(source), "target": {"file": str(target)}}
    released = kanon_sql.anonymize(None, spec)
    source.unlink()
    with_manifest = released.report()
    assert {*with_manifest.figures.missing} == {"source", "columns", "loss_by_k", "lattice", "attacks"}
    assert with_manifest.figures.class_sizes[-1]["source"] is None
    assert "rows (" in " ".join(Page(with_manifest.html).texts)
    alone = kanon_sql.report(None, spec)
    assert "there is no file" in alone.figures.missing["source"]
    assert "of a source that does not exist any more" in alone.html
    assert alone.figures.risk[0]["release"] == released.manifest["smallest_class"]
    assert "Source" in alone.record
    target.unlink()
    with pytest.raises(SourceError, match=r"the release cannot be read: .* create it first"):
        kanon_sql.report(None, spec)


@pytest.mark.slow
def test_a_release_of_other_data_gets_no_levels_of_this_plan(tmp_path: Path) -> None:
    target = tmp_path / "release.csv"
    kanon_sql.anonymize(PEOPLE[:200], SPEC, output=target)
    report = kanon_sql.report(PEOPLE, {**SPEC, "target": {"file": str(target)}}, without=QUICK)
    assert "losses and the search are not reported" in report.to_dict()["warnings"][0]
    assert [column["level"] for column in report.figures.columns] == [None, None]
    assert "losses and the search are not reported" in report.html


def test_releases_of_other_kinds_are_reported_on_by_their_manifest(tmp_path: Path) -> None:
    people = PEOPLE.assign(sex=["f", "m"] * 150)
    roles = {"quasi_identifiers": ["age"], "sensitive": ["sex"], "identifiers": ["id"], "keep": []}
    exact = kanon_sql.anatomize(people, roles, l=2, output=tmp_path / "exact.csv")
    trips = pandas.DataFrame({"taxi": [*range(20)] * 5, "lat": range(100), "lon": range(100), "at": range(100)})
    options = {"location": ["lat", "lon"], "time": "at", "unit": "taxi", "cloak": {"method": "adaptive"}}
    cloaked = kanon_sql.cloak(trips, options, k=3)
    for release in (exact, cloaked):
        figures = ReleaseFigures(release.manifest, 3, 3, missing={"risk": "not tried"}).to_dict()
        assert "Guarantees" in page(figures, "2026-01-01")
        assert "## Remaining risk" in form("record", figures, "2026-01-01")
        assert "Release" in release._repr_html_() or "Rows released" in release._repr_html_()


# Files and commands


@pytest.mark.slow
def test_a_report_is_written_with_a_release_and_by_itself(folder: Path) -> None:
    done("anonymize", "people.csv", *ASK, "--k", "3", "--output", "release.csv", "--report", "with.json")
    assert json.loads((folder / "with.json").read_text())["target"] == {"file": "release.csv"}
    (folder / "release.yml").write_text(
        "source: people.csv\nidentifiers: [name]\nquasi_identifiers: [age, zip]\nhierarchies: h\nsensitive: [disease]\n"
        "privacy: {k: 3}\ntarget: {file: release.csv}\n"
    )
    less = ["--without", ",".join(QUICK)]
    run = kanon("report", "--spec", "release.yml", *less)
    assert (run.code, run.out) == (0, "Report written to report.html\n")
    assert run.err == ""
    done("report", "--spec", "release.yml", "--format", "json")
    manifest = json.loads((folder / "report.json").read_text())
    assert manifest["smallest_class"] >= 3
    assert "VALUES" not in manifest["sql"]["release"]
    leaves = {line.partition(";")[0] for path in (folder / "h").iterdir() for line in path.read_text().splitlines()}
    shown = (folder / "report.html").read_text()
    assert not [value for value in leaves if f"'{value}'" in manifest["sql"]["release"] or f"'{value}'" in shown]
    (folder / "other.json").write_text(json.dumps({**manifest, "released_rows": 7}))
    done("report", "--spec", "release.yml", *less, "--manifest", "other.json", "--output", "other.md")
    assert "the manifest is that of another release: it has 7 rows" in (folder / "other.md").read_text()


@pytest.mark.slow
def test_a_pipeline_and_an_anatomy_are_reported_on_too(folder: Path) -> None:
    (folder / "nightly.yml").write_text(
        "identifiers: [name]\nhierarchies: h\nkeep: []\nquasi_identifiers: [age]\nsource: people.csv\n"
        "releases:\n  nightly_5: {privacy: {k: 5}, target: {file: a.csv}}\n"
    )
    run = kanon("run", "nightly.yml", "--reports", "none")
    assert run.code == 2
    assert "there is no folder none" in run.err
    (folder / "reports").mkdir()
    done("run", "nightly.yml", "--reports", "reports")
    (page,) = (folder / "reports").iterdir()
    assert page.name == "nightly_5.html"
    roles = ["--identifiers", "name", "--quasi-identifiers", "age", "--sensitive", "disease", "--keep", "zip"]
    done("anatomize", "people.csv", *roles, "--l", "2", "--output", "exact.csv", "--report", "exact.json")
    assert json.loads((folder / "exact.json").read_text())["k_anonymous"] is False


def test_an_unwritable_target_is_refused_before_any_work(folder: Path, release: Release) -> None:
    (folder / "there.html").write_text("")
    for arguments, message in (
        (["--output", "report.doc"], "ends in .html, .pdf, .docx, .md, .json"),
        (["--output", "there.html"], "exists already; use --overwrite"),
        (["--output", "report.html", "--format", "md"], "does not end in .md"),
        (["--without", "everything"], "there is no part 'everything'"),
    ):
        run = kanon("report", "people.csv", "--spec", "none.yml", *arguments)
        assert run.code == 2
        assert message in run.err or "none.yml" in run.err
    with pytest.raises(SpecError, match="there is no part 'everything' to leave out"):
        release.figures(without=["everything"])
    with pytest.raises(SpecError, match="there is no figure 'cells'; choose among"):
        ReleaseFigures({}, 3, 3).to_df("cells")
    with pytest.raises(SpecError, match="a report ends in"):
        kanon_sql.anonymize(PEOPLE, SPEC, output="x.csv", report=Path("x.csv"))
    assert not (folder / "x.csv").exists()


def test_a_pdf_is_printed_by_an_installed_browser(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="none of chromium, chromium-browser, google-chrome is on the PATH; install"):
        report.write(tmp_path / "report.pdf")
    browser = tmp_path / "google-chrome"
    browser.write_text(
        '#!/bin/sh\nfor word; do case "$word" in --print-to-pdf=*) echo "%PDF $*" > "${word#*=}";; esac; done\n'
    )
    browser.chmod(0o755)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    printed = report.write(tmp_path / "report.pdf").read_text()
    assert printed.startswith("%PDF --headless")
    assert "--no-sandbox" not in printed
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert "--no-sandbox" in report.write(tmp_path / "report.pdf", overwrite=True).read_text()
    browser.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(TargetError, match="could not print the report"):
        report.write(tmp_path / "other.pdf")


def test_the_first_page_names_the_worst_columns_and_counts_the_others() -> None:
    of = {"attack": "homogeneity", "counted": "rows"}
    tried = [{**of, "share": share / 10, "column": f"c{share}"} for share in range(6)]
    *named, more = words._homogeneous(tried)
    assert [sentence.partition("%")[0] for sentence in named] == ["50", "40", "30"]
    assert more == "2 more columns have such groups, too; see Attacks."


@pytest.mark.slow
@pytest.mark.parametrize("unit", [None, "id"])
def test_a_report_by_its_spec_warns_as_the_run_did_but_without_lines_and_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str | None
) -> None:
    """Classes of one illness are named again; what a file's lines look like is for the owner of the source."""
    monkeypatch.chdir(tmp_path)
    rows = [(f"p{i // 2}", 20 + i // 20 * 10, "flu" if i < 60 else "xyz"[i % 3], "2024-01-01") for i in range(120)]
    table = pandas.DataFrame(rows, columns=["id", "age", "ill", "day"])
    table.loc[17, "day"] = "unknown"
    table.to_csv("ward.csv", index=False)
    spec: dict[str, Any] = {"source": "ward.csv", "quasi_identifiers": {"age": {"hierarchy": {"ranges": [10, 20]}}}}
    spec |= {"sensitive": ["ill"], "keep": ["day"], "target": {"file": "anon.csv"}}
    spec |= {"privacy": {"k": 5, **({"unit": unit} if unit else {})}} | ({} if unit else {"identifiers": ["id"]})
    released = kanon_sql.anonymize(None, spec)
    (same,) = (warning for warning in released.manifest["warnings"] if "all rows have the same 'ill'" in warning)
    assert same.startswith(f"in 3 of 6 classes, with 60 rows{' of 30 people' if unit else ''},")
    assert any("line 19 has no date" in warning for warning in released.manifest["warnings"])
    seen = kanon_sql.report(None, spec, without=QUICK)
    assert same in seen.figures.manifest["warnings"]
    for text in (seen.html, seen.record):
        assert "3 of 6 classes" in text
        assert "olumn day stays text" in text
        assert "line 19" not in text
        assert "119" not in text
    assert "All figures count rows." in seen.html


# The decision, and the evidence for it


def test_the_page_begins_with_the_verdict_and_each_question_of_a_board_is_answered_or_not_measured(
    tmp_path: Path,
) -> None:
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    spec: dict[str, Any] = {
        **SPEC,
        "keep": ["id"],
        "identifiers": [],
        "recipient": "contract",
        "purpose": "A study of <b>falls</b>.",
        "reasons": {"age": "Colleagues know it."},
        "reason_k": "As in the last release.",
        "target": {"file": str(tmp_path / "release.csv")},
    }
    release = kanon_sql.anonymize(tmp_path / "people.csv", spec)
    assert release.manifest["declared"]["reasons"] == {"age": "Colleagues know it."}
    assert release.manifest["verdict"]["outcome"] == "releasable under conditions"
    report = release.report(without=QUICK)
    figures = report.figures
    assert report.to_dict()["verdict"]["outcome"] == "not releasable", "everybody is unique by a kept column"
    by_columns = {(*row["columns"], row["with_quasi_identifiers"]): row for row in figures.exact}
    assert by_columns["id", False]["share"] == 1.0
    assert by_columns["ill", False]["unique"] == (release.to_df()["ill"].value_counts().min() == 1)
    assert by_columns["ill", "id", True]["share"] == 1.0
    text = "".join(Page(report.html).texts)
    assert text.index("Not releasable for a partner under contract") < text.index("Smallest group")
    for words_ in ("Colleagues know it.", "As in the last release", "A study of <b>falls</b>", figures.sha256 or "-"):
        assert words_ in text
    answers = text[text.index("Questions that boards ask") :]
    for question in ("Membership", "Risk in the population", "Several rows of one person", "Attacks"):
        assert "Not measured." in answers[answers.index(question) :][:120], question


def test_uniqueness_of_people_is_counted_in_the_source_and_rounded() -> None:
    """Two rows of everybody: no row is unique in the release, but one person is, too few to be counted in a report."""
    visits = pandas.concat([PEOPLE, PEOPLE])
    spec = {**SPEC, "identifiers": [], "unit": "id", "recipient": "public"}
    report = kanon_sql.anonymize(visits, spec).report(source=visits, without=QUICK)
    row = report.figures.exact[0]
    assert (row["columns"], row["of"], row["unique"], row["share"]) == (["ill"], "people", True, None)
    text = "".join(Page(report.html).texts)
    assert "some people are unique, too few" in text.lower()
    (known,) = (report.figures.several_rows or {})["known"]
    assert (known["rows"], known["complete"], known["measured"]) == (2, True, None)
    assert "An attacker who has two rows of a person, by the groups that they are in: none" in text
    assert "No column of the release shows which rows belong to one person." in text
    assert "none of the people with two rows or more is the only one" in report.form("iso27559")
    assert "No column shows which rows belong to one person." in report.form("wp216")
