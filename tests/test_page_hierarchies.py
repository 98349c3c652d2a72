"""The screen of the hierarchies: forms of recipes, custom groups, files; by requests, and once in a real browser."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.generalization.recipes import groups
from kanon_sql.page import compare
from kanon_sql.page.draft import Draft, DraftColumn
from kanon_sql.page.first_draft import open_page
from kanon_sql.page.groups import ByHand
from kanon_sql.page.hierarchies import MOST_UPLOADED
from kanon_sql.page.recipes import KINDS
from kanon_sql.spec import as_yaml
from kanon_sql.suggestion.columns import SuggestedColumn
from support.browser import NEEDS_CHROMIUM, clean, window
from support.page import client_of, served, text_of

PEOPLE = """
SELECT 20 + (i * 7919) % 50 AS age,
  DATE '1950-01-01' + ((i * 97) % 20000)::INTEGER AS born, 1000 + (i * 31) % 90 AS zip,
  '10.0.' || i % 9 || '.' || i % 5 AS host, ['NL', 'DE', 'PE', 'JP'][1 + i % 4] AS country,
  [NULL, 'cook', 'nurse', 'smith', 'clerk', '<b>boss</b>'][1 + i % 6] AS job, i % 2 = 0 AS student
FROM range(240) AS t(i)
"""
COLUMNS = ("age", "born", "zip", "host", "country", "job", "student")
AGE, BORN, ZIP, HOST, COUNTRY, JOB, STUDENT = range(7)


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    duckdb.sql(PEOPLE).write_parquet("people.parquet")
    quasi_identifiers = ", ".join(f"{name}: {{hierarchy: suppress}}" for name in COLUMNS)
    Path("people.yml").write_text(
        f"source: people.parquet\nquasi_identifiers: {{{quasi_identifiers}}}\nprivacy: {{k: 5}}\n"
    )
    return tmp_path


@pytest.fixture
def client() -> Iterator[Any]:
    with client_of(None, "people.yml", time_limit=0.2) as opened:
        yield opened


def recipe(client: Any, place: int) -> Any:
    return client.app.state.page.draft.columns[place].attribute["hierarchy"]


def post(client: Any, place: int, change: str, code: int = 200, **form: Any) -> str:
    answer = client.post(f"hierarchies/{place}/{change}", data=form)
    assert answer.status_code == code, text_of(answer.text)
    return text_of(answer.text)


FORMS: list[tuple[int, str, dict[str, str], Any]] = [
    (AGE, "ranges", {"ranges": "5, 10", "top": "60", "bottom": ""}, {"ranges": [5, 10], "top": 60}),
    (AGE, "ranges", {"ranges": "2.5, 5"}, {"ranges": [2.5, 5]}),
    (AGE, "edges", {"edges": "30, 40, 60\n40\n"}, {"edges": [[30, 40, 60], [40]]}),
    (BORN, "dates", {"dates": "month, 5 years"}, {"dates": ["month", "5 years"]}),
    (BORN, "age", {"age": "2026-01-01", "bands": "1, 10"}, {"age": "2026-01-01", "bands": [1, 10]}),
    (ZIP, "redact", {"redact": "left", "step": "2"}, {"redact": "left", "step": 2}),
    (ZIP, "prefix", {"prefix": "3, 1", "pad": "5"}, {"prefix": [3, 1], "pad": 5}),
    (HOST, "networks", {"networks": "24, 16"}, {"networks": [24, 16]}),
    (COUNTRY, "known", {"known": "countries"}, {"known": "countries"}),
    (JOB, "suppress", {}, "suppress"),
]


def test_every_form_creates_its_recipe_and_shows_a_preview(client: Any) -> None:
    for place, kind, fields, expected in FORMS:
        shown = post(client, place, "recipe", kind=kind, **fields)
        assert recipe(client, place) == expected
        hierarchy = kanon_sql.hierarchy.build("people.parquet", COLUMNS[place], expected).hierarchy
        preview = client.app.state.page.editor.fitted(client.app.state.page.draft, COLUMNS[place], expected)
        assert sorted(preview.rows()) == sorted(hierarchy.rows())
        assert hierarchy.labels(1)[0] is None or " Preview Level" in shown
        again = client.get(f"hierarchies/{place}?as={kind}").text
        assert all(
            f'value="{text}"' in again for key, text in fields.items() if key in ("top", "pad", "ranges") and text
        )
    client.app.state.page.draft.spec()
    assert client.app.state.page.counted().rows == 240


def test_every_kind_of_recipe_has_a_screen_before_it_is_used(client: Any) -> None:
    for place in (AGE, BORN, JOB):
        for kind in KINDS:
            answer = client.get(f"hierarchies/{place}?as={kind}")
            assert answer.status_code == 200
            assert KINDS[kind].what in text_of(answer.text)
        assert recipe(client, place) == "suppress"
    assert "Preview, if you use it" in client.get(f"hierarchies/{AGE}?as=ranges").text


REFUSED = [
    (AGE, {"kind": "ranges", "ranges": "5, 12"}, "ranges", "The width 12 is not a multiple of 5"),
    (AGE, {"kind": "ranges", "ranges": ""}, "ranges", "Give a list of range widths above 0"),
    (AGE, {"kind": "ranges", "ranges": "5", "top": "old"}, "top", "Give a number, not &#39;old&#39;"),
    (JOB, {"kind": "ranges", "ranges": "5"}, "ranges", "A value is not a finite number"),
    (BORN, {"kind": "dates", "dates": "moon"}, "dates", "The units are moon; choose among hour"),
    (BORN, {"kind": "age", "age": "soon"}, "age", "Give the date at which the age is counted"),
    (ZIP, {"kind": "redact", "redact": "up"}, "redact", "Give right or left"),
    (ZIP, {"kind": "prefix", "prefix": "1, 3"}, "prefix", "write them from long to short"),
    (HOST, {"kind": "networks", "networks": "99"}, "networks", "Give a list of bits"),
]


def test_refused_input_stays_with_the_reason_next_to_it(client: Any) -> None:
    before = client.app.state.page.draft
    for place, fields, field, problem in REFUSED:
        answer = client.post(f"hierarchies/{place}/recipe", data=fields)
        assert answer.status_code == 422
        for html in (answer.text, client.get(f"hierarchies/{place}?as={fields['kind']}").text):
            beside = html.partition(f'id="wrong-{field}" data-live class="wrong">')[2].partition("</span>")[0]
            assert problem in beside
            assert all(f'value="{text}"' in html or text in ("", "up") for text in fields.values())
    assert client.app.state.page.draft is before


def test_the_suggestion_is_restored(client: Any) -> None:
    column = client.app.state.page.draft.columns[AGE].suggested
    post(client, AGE, "recipe", kind="ranges", ranges="7")
    post(client, AGE, "suggested")
    assert recipe(client, AGE) == (column.recipe or recipe(client, AGE))
    assert "ranges" in recipe(client, AGE) or "edges" in recipe(client, AGE)
    post(client, COUNTRY, "suggested")
    assert recipe(client, COUNTRY) == {"known": "countries"}


def test_levels_are_bounded_and_the_preview_counts_rows(client: Any) -> None:
    post(client, AGE, "recipe", kind="ranges", ranges="1, 5, 10, 50")
    post(client, AGE, "levels", min_level="1", max_level="4")
    assert client.app.state.page.draft.spec().quasi_identifiers["age"].max_level == 4
    assert "choose a range of levels" in post(client, AGE, "levels", 422, min_level="3", max_level="2")
    client.post("risk", data={"k": "6"})
    shown = post(client, AGE, "recipe", kind="ranges", ranges="25")
    assert client.app.state.page.draft.columns[AGE].attribute == {"hierarchy": {"ranges": [25]}, "min_level": 1}
    ages = [20 + (i * 7919) % 50 for i in range(240)]
    alone = sum(ages.count(age) < 6 for age in ages)
    assert 0 < alone < 241
    assert f"0 {len(set(ages))} {alone} Rows by label" in shown
    sizes = [sum(low <= age < low + 25 for age in ages) for low in (0, 25, 50)]
    assert f"[25, 50) {sizes[1]}" in shown


def test_groups_are_created_moved_renamed_and_deleted(client: Any) -> None:
    post(client, JOB, "start", how="nothing")
    assert "Created the group ill with 2 items" in post(
        client, JOB, "groups", do="new", level=1, label="ill", chip=["cook", "nurse"]
    )
    post(client, JOB, "groups", do="new", level=1, label="hand")
    assert "hand" not in str(recipe(client, JOB)), "an empty group is not in the spec"
    assert "Label of the group hand" in client.get(f"hierarchies/{JOB}").text, "but on the page"
    post(client, JOB, "groups", do="move", level=1, to="hand", chip=["smith", ""])
    post(client, JOB, "groups", do="rename", level=1, old="ill", label=" well  fed ")
    post(client, JOB, "groups", do="taller", level=1)
    post(client, JOB, "groups", do="new", level=2, label="all", chip=["well fed", "hand"])
    post(client, JOB, "groups", do="rename", level=1, old="hand", label="unknown")
    assert recipe(client, JOB)["groups"] == [
        {"well fed": ["cook", "nurse"], "unknown": ["smith", ""], "<b>boss</b>": ["<b>boss</b>"], "clerk": ["clerk"]},
        {"all": ["well fed", "unknown"], "<b>boss</b>": ["<b>boss</b>"], "clerk": ["clerk"]},
    ]
    post(client, JOB, "groups", drop="well fed", level=1)
    post(client, JOB, "groups", do="lower", level=2)
    assert recipe(client, JOB)["groups"] == [
        {"unknown": ["smith", ""], **{job: [job] for job in ("<b>boss</b>", "clerk", "cook", "nurse")}}
    ]
    for form, problem in [
        ({"do": "move", "to": "unknown"}, "Nothing is chosen; tick what to move first"),
        ({"do": "move", "to": "gone", "chip": "cook"}, "The group 'gone' does not exist any more"),
        ({"do": "new", "label": " "}, "The group needs a label; write one"),
        ({"do": "new", "label": "*"}, "is the label of the top"),
        ({"do": "new", "label": "unknown"}, "There is a group 'unknown' on level 1"),
        ({"do": "new", "label": "cook", "chip": "nurse"}, "'cook' cannot be a group of one"),
        ({"do": "up"}, "Invalid form"),
    ]:
        assert problem in post(client, JOB, "groups", 422, level=1, **form)
    found = client.post(f"hierarchies/{JOB}/find", data={"find": "COO"}).text
    assert found.count("data-chip") - found.count("data-chip hidden") == 1


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_groups_stay_a_hierarchy_of_all_values_after_every_move(chance: random.Random) -> None:
    """The oracle: the group of each chip in a plain dict per level."""
    values = [f"v{i}" for i in range(7)]
    edited = ByHand(dict.fromkeys(values, 2))
    home: list[dict[str, str]] = [{}]
    for step in range(25):
        level = chance.randint(1, len(edited.levels))
        there = [chip.text for chip in edited.chips(level)]
        assert sum(chip.rows for chip in edited.chips(level)) == 14
        chosen = chance.sample(there, chance.randint(1, len(there)))
        labels = sorted(edited.levels[level - 1])
        match chance.choice(["new", "move", "out", "drop", "taller"]):
            case "new":
                edited = edited.added(level, f"g{step}", chosen)
                home[level - 1] |= dict.fromkeys(chosen, f"g{step}")
            case "move" if labels:
                edited = edited.moved(level, chosen, labels[0])
                home[level - 1] |= dict.fromkeys(chosen, labels[0])
            case "out":
                edited = edited.moved(level, chosen, "")
                home[level - 1] = {text: at for text, at in home[level - 1].items() if text not in chosen}
            case "drop" if labels:
                edited = edited.dropped(level, labels[-1])
                home[level - 1] = {text: at for text, at in home[level - 1].items() if at != labels[-1]}
            case "taller" if len(home) < 3:
                edited, home = edited.taller(), [*home, {}]
        for row in groups(edited.recipe()["groups"], "x").rows():
            expected = [row[0]]
            for of in home:
                expected.append(of.get(expected[-1], expected[-1]))
            assert list(row) == [*expected, "*"]


def test_groups_start_from_the_current_recipe(client: Any) -> None:
    post(client, AGE, "recipe", kind="ranges", ranges="25, 50")
    before = client.app.state.page.editor.fitted(client.app.state.page.draft, "age", {"ranges": [25, 50]})
    post(client, AGE, "start", how="now")
    after = kanon_sql.hierarchy.build("people.parquet", "age", recipe(client, AGE)).hierarchy
    assert sorted(before.rows()) == sorted(after.rows())
    post(client, COUNTRY, "start", how="suggestion")
    assert recipe(client, COUNTRY)["groups"][1]["Europe"] == ["Western Europe"]
    assert post(client, COUNTRY, "start", 422, how="magic").count("Start from one of")
    duckdb.sql("SELECT 'v' || i AS code, '' AS nothing FROM range(600) AS t(i)").write_parquet("many.parquet")
    both = {name: {"hierarchy": "suppress"} for name in ("code", "nothing")}
    Path("many.yml").write_text(as_yaml({"source": "many.parquet", "quasi_identifiers": both, "privacy": {"k": 2}}))
    with client_of(None, "many.yml", time_limit=0.1) as many:
        assert "too many to move by hand, 500 at most" in post(many, 0, "start", 422, how="nothing")
        assert "the empty text, which groups cannot distinguish from NULL" in post(many, 1, "start", 422, how="nothing")


TREE = "cook;food\nnurse;care\nfood;work\ncare;work\nsmith;work\nclerk;work\n<b>boss</b>;work\n"
LINES = "cook;food;*\nnurse;care;*\nsmith;craft;*\nclerk;office;*\n<b>boss</b>;office;*\n"


def test_an_uploaded_file_is_checked_and_becomes_groups(client: Any, people: Path) -> None:
    def sent(content: bytes, name: str = "jobs.csv", code: int = 200, form: str = "levels") -> str:
        answer = client.post(f"hierarchies/{JOB}/file", files={"upload": (name, content)}, data={"form": form})
        assert answer.status_code == code
        assert "<img" not in answer.text
        return text_of(answer.text)

    assert "Taken from the file jobs.csv: 5 values" in sent(LINES.encode())
    assert recipe(client, JOB)["groups"][0]["office"] == ["clerk", "<b>boss</b>"]
    assert "Taken from the file tree.csv" in sent(TREE.encode(), "tree.csv", form="tree")
    assert recipe(client, JOB)["groups"][0]["food"] == ["cook"]
    before = client.app.state.page.draft
    for content, problem in [
        (b"cook;food\nnurse\n", "line 2: 1 fields found, 2 expected"),
        (b"\xff\xfe\x00", "is not UTF-8 text; save it as UTF-8"),
        (b"", "there are no rows"),
        (b"cook;*;all\nnurse;care;all\n", "a group of level 1 is called “*”"),
        (
            b"cook;food\n",
            "('<b>boss</b>', 'clerk', 'nurse', 'smith').",
        ),
        (b"x" * (MOST_UPLOADED + 1), "has more than 4 MiB; start the page with a folder of hierarchy files"),
        ("".join(f"{i};x\n" for i in range(20_001)).encode(), "20,001 values, at most 20,000"),
    ]:
        assert problem in sent(content, '"><img src=x>.csv', 422)
    assert "Choose a file first" in post(client, JOB, "file", 422)
    assert client.app.state.page.draft is before
    assert sorted(path.name for path in people.iterdir()) == ["people.parquet", "people.yml"], "no file is kept"


def test_only_listed_files_of_the_folder_are_opened(people: Path) -> None:
    (people / "h").mkdir()
    (people / "h" / "job.csv").write_text(LINES)
    (people / "h" / "tree.csv").write_text(TREE)
    (people / "secret.csv").write_text(LINES)
    with client_of(None, "people.yml", time_limit=0.2, hierarchies="h") as client:
        assert recipe(client, JOB) == {"file": str(Path("h/job.csv"))}, "a column takes the file of its name"
        assert "job.csv" in client.get(f"hierarchies/{JOB}").text
        post(client, JOB, "recipe", kind="taxonomy", taxonomy="tree.csv")
        assert recipe(client, JOB) == {"taxonomy": str(Path("h/tree.csv"))}
        post(client, JOB, "recipe", kind="file", file="job.csv", separator=";")
        before = client.app.state.page.draft
        for name in (
            "../secret.csv",
            str(people / "secret.csv"),
            "h/job.csv/../../secret.csv",
            "secret.csv",
            "/etc/passwd",
        ):
            for kind in ("file", "taxonomy"):
                shown = post(client, JOB, "recipe", 422, kind=kind, **{kind: name})
                assert "Choose one of the files in the list" in shown
        assert "files are not opened from here" in post(client, JOB, "recipe", 422, kind="table", table="h/job.csv")
        assert client.app.state.page.draft is before
    with pytest.raises(SpecError, match="nowhere is not a folder of hierarchies; name one"):
        open_page(None, "people.yml", time_limit=0.1, hierarchies="nowhere")


def test_a_table_of_the_database_is_a_hierarchy() -> None:
    with duckdb.connect("people.duckdb") as database:
        database.sql(f"CREATE TABLE people AS {PEOPLE}")
        database.sql(
            "CREATE TABLE levels AS SELECT * FROM (VALUES ('NL', 'EU'), ('DE', 'EU'), ('PE', 'SA'), ('JP', 'AS'))"
        )
    options = {
        "source": "people",
        "database": "people.duckdb",
        "quasi_identifiers": {"country": {"hierarchy": "suppress"}},
    }
    Path("db.yml").write_text(as_yaml({**options, "privacy": {"k": 5}}))
    with client_of(None, "db.yml", time_limit=0.2) as client:
        post(client, COUNTRY, "recipe", kind="table", table="levels")
        assert recipe(client, COUNTRY) == {"table": "levels"}
        assert "names the table gone, which does not exist" in post(
            client, COUNTRY, "recipe", 422, kind="table", table="gone"
        )


def test_hostile_names_and_values_are_text() -> None:
    hostile = ["<script>alert(1)</script>", '"><img src=x>', "{{ 7 * 7 }}", "\u202etxet", "x" * 300, " ", "*"]
    frame = duckdb.sql("SELECT i AS n FROM range(84) AS t(i)").df()
    for place, name in enumerate(hostile):
        frame[name] = [hostile[(i + place) % 7] for i in frame["n"]]
    duckdb.from_df(frame).write_parquet("hostile.parquet")
    options = {"source": "hostile.parquet", "quasi_identifiers": {name: {"hierarchy": "suppress"} for name in hostile}}
    Path("hostile.yml").write_text(as_yaml({**options, "privacy": {"k": 2}}))
    with client_of(None, "hostile.yml", time_limit=0.2) as client:
        for place in range(1, 8):
            post(client, place, "start", how="nothing")
            html = client.get(f"hierarchies/{place}").text
            assert "<script>alert" not in html
            assert "<img" not in html
            assert "{{ 7 * 7 }}" in text_of(html)
            assert "<bdi>&#39; &#39;</bdi>" in html, "a blank value is in quotes"
        client.app.state.page.draft.spec()
        assert client.app.state.page.counted().rows == 84


def test_a_long_list_of_values_is_cut_where_two_results_are_compared() -> None:
    column = SuggestedColumn("zip", "VARCHAR", "quasi-identifier", "")
    listed = [{"groups": [{"all": [f"{i}" for i in range(many)]}]} for many in (500, 499)]
    left, right = (Draft((DraftColumn(column, column.role, {"hierarchy": item}),), {}) for item in listed)
    (line,) = compare._roles(left, right)
    assert (line.name, line.differs) == ("hierarchy of zip", "≠")
    assert line.left == line.right
    assert line.left.endswith("…")
    assert len(line.left) < 250


def test_an_unknown_column_is_reported(client: Any) -> None:
    client.post(f"columns/{JOB}", data={"role": "kept"})
    for place in (JOB, 99):
        assert "That column is not a quasi-identifier; choose another" in text_of(
            client.get(f"hierarchies/{place}").text
        )
        assert "That column is not a quasi-identifier" in post(client, place, "recipe", 422, kind="suppress")


def test_files_are_opened_by_two_threads_at_once() -> None:
    """The page counts in the background while somebody asks for values."""
    with ThreadPoolExecutor(4) as pool:
        looked = [
            pool.submit(lambda: kanon_sql.hierarchy.build("people.parquet", "age", "suppress")) for _ in range(24)
        ]
        assert {item.result().hierarchy.leaf_count for item in looked} == {50}


@pytest.mark.slow
@NEEDS_CHROMIUM
@pytest.mark.nightly
def test_groups_are_created_by_mouse_and_by_keyboard(browser: Any) -> None:
    page = open_page(None, "people.yml", time_limit=0.2)
    job = lambda: page.draft.columns[JOB].attribute["hierarchy"]  # noqa: E731
    with served(page) as address:
        opened = window(browser, f"{address}hierarchies/{JOB}?as=groups", height=1400)
        opened.click("#start-nothing")
        opened.fill("#label-1", "hand")
        opened.press("#label-1", "Enter")
        opened.wait_for_selector("[data-drop=hand]")
        opened.locator(".chip", has_text="smith").drag_to(opened.locator("[data-drop=hand]"))
        opened.wait_for_selector("[data-drop=hand] >> text=smith")
        assert opened.inner_text("#message") == "Moved smith to hand."
        assert job()["groups"][0]["hand"] == ["smith"]
        keyboard = opened.keyboard

        def tab_to(selector: str) -> None:
            for _ in range(60):
                if opened.evaluate("(s) => document.activeElement.matches(s)", selector):
                    return
                keyboard.press("Tab")
            raise AssertionError(selector)

        opened.goto(f"{address}hierarchies/{JOB}")
        for name in ("cook", "nurse"):
            tab_to(f'input[value="{name}"]')
            keyboard.press("Space")
        keyboard.press("m")
        assert opened.evaluate("document.activeElement.id") == "to-1"
        keyboard.press("h")
        tab_to("#move-1")
        keyboard.press("Enter")
        opened.wait_for_selector("[data-drop=hand] >> text=cook")
        assert opened.inner_text("#message") == "Moved 2 items to hand."
        assert opened.evaluate("document.activeElement.id") == "move-1", "the focus stays where it was"
        assert set(job()["groups"][0]["hand"]) == {"smith", "cook", "nurse"}
        assert opened.locator("[data-chip] :checked").count() == 0
        tab_to("#name-1-1")
        keyboard.press("Control+a")
        keyboard.type("work")
        keyboard.press("Tab")
        opened.wait_for_selector("[data-drop=work]")
        keyboard.press("Enter")  # the button behind the label deletes the group
        opened.wait_for_selector("[data-drop=work]", state="detached")
        assert job() == {"groups": [{group: [group] for group in job()["groups"][0]}]}
        clean(opened)
