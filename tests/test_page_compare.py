"""Two results side by side: their differences, the figures of their manifests, and the actions on them."""

import re
from pathlib import Path

import duckdb
import pytest

from kanon_sql.report.words import detail, percent
from support.page import PEOPLE, client_of, finished, text_of, work_here


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory):
    """A page with two results: k = 3 by levels, k = 6 group by group, where sex is kept."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        work_here(patch)
        duckdb.sql(PEOPLE).write_parquet("people.parquet")
        with client_of("people.parquet") as client:
            client.post("risk", data={"k": "3"})
            client.post("search/run")
            assert finished(client).ended == "done"
            client.post("risk", data={"k": "6"})
            client.post("search", data={"strategy": "mondrian"})
            client.post("columns/3", data={"role": "kept"})
            client.post("search/run")
            assert finished(client).ended == "done"
            yield client


def rows_of(html: str, table: str) -> dict[str, list[str]]:
    """The rows of a table of the screen, by their heading."""
    (body,) = re.findall(rf'id="{table}".*?<tbody>(.*?)</tbody>', html, re.S)
    rows = [[text_of(cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in body.split("</tr>")]
    return {row[0]: row[1:] for row in rows if row}


def test_different_settings_are_described_in_words(client):
    html = client.get("compare").text
    settings = rows_of(html, "settings")
    assert settings["Strategy"] == ["auto", "mondrian", "≠"]
    assert settings["Models"] == ["k = 3", "k = 6", "≠"]
    assert settings["Role of sex"] == ["quasi-identifier", "kept", "≠"]
    assert settings["Loss measure"] == ["loss", "loss", "same"]
    assert "Role of age" not in settings
    assert "They differ in Strategy, Models and Role of sex." in text_of(html)


def test_the_figures_are_those_of_the_manifests(client):
    one, other = (result.manifest for result in client.app.state.page.results)
    html = client.get("compare").text
    found, columns = rows_of(html, "found"), rows_of(html, "generalized")
    far = other["information_loss"]["loss"] - one["information_loss"]["loss"]
    assert float(found["loss"][2].replace("−", "-")) == pytest.approx(far, abs=6e-5)
    assert rows_of(html, "main-figures")["Groups"][:2] == [str(one["classes"]), str(other["classes"])]
    assert found["Rows of the smallest group"] == [
        str(one["smallest_class"]),
        str(other["smallest_class"]),
        f"+{other['smallest_class'] - one['smallest_class']}",
    ]
    assert found["Combinations tested"][1:] == ["–", "≠"]
    assert columns["zip"][0] == f"level {one['node']['zip']} of {one['heights']['zip']}"
    assert columns["zip"][1].endswith("group by group")
    assert columns["sex"][1] == "not generalized"
    assert "was not found by a search of levels" in text_of(html)


def test_sides_are_chosen_by_the_address_and_kept_by_changes(client):
    chosen = client.post("compare", data={"left": "2", "right": "1"})
    assert chosen.url.query == b"left=2&right=1"
    assert rows_of(chosen.text, "settings")["Strategy"] == ["mondrian", "auto", "≠"]
    renamed = client.post("compare/1/name?left=2&right=1", data={"name": "  by <b>levels</b> "})
    assert renamed.url.query == b"left=2&right=1"
    assert "1. by <b>levels</b>" in re.sub(r" +", " ", text_of(renamed.text))
    refused = client.post("compare/1/name", data={"name": " "})
    assert (refused.status_code, client.app.state.page.result(1).name) == (422, "by <b>levels</b>")
    alone = client.get("compare?left=1&right=1")
    assert "Both sides show the same result" in text_of(alone.text)
    assert client.get("compare?left=99&right=x").status_code == 200


def test_a_few_rows_are_shown_as_they_were_released(client):
    for result in client.app.state.page.results:
        assert result.some["columns"] == list(result.manifest["columns"])[1:]
        assert len(result.some["rows"]) == 10
    text = text_of(client.get("compare").text)
    assert "P1 " not in text  # an identifier
    for row in client.app.state.page.result(1).some["rows"]:
        assert " ".join(row) in text


def test_a_result_brings_its_draft_back(client):
    page = client.app.state.page
    now = page.draft
    html = client.get("compare?left=1&right=2").text
    assert "Computed from an earlier draft." in html
    assert "Computed from the current draft." in html
    client.post("compare/1/draft")
    assert (page.draft.k, [quasi_identifier.name for quasi_identifier in page.draft.quasi_identifiers]) == (
        3,
        ["age", "zip", "sex"],
    )
    assert page.draft.asks_like(page.result(1).draft)
    client.post("compare/2/draft")
    assert page.draft.asks_like(now)


def test_risk_and_utility_come_first(client):
    one, other = (result.manifest for result in client.app.state.page.results)
    page = client.app.state.page
    risks = rows_of(client.get("compare").text, "risks")
    assert list(risks)[:2] == ["Highest risk of being found", "Mean risk"]
    assert risks["Mean risk"][:2] == [percent(each["classes"] / each["released_rows"]) for each in (one, other)]
    assert risks["Attacks above chance"] == ["not measured", "not measured", "–"]
    client.post("compare/ask", data={"column": ["age", "diagnosis"]})
    for wrong in (["nothing"], [], ["age", "zip", "diagnosis"]):
        assert client.post("compare/ask", data={"column": wrong}).status_code == 422
    client.post("compare/1/measure")
    assert finished(client).ended == "done"
    measures = page.result(1).measures
    assert measures["missing"] == {}
    assert measures["exact"] == {"columns": ["sex", "diagnosis"], "unique": 0, "of": 400, "people": False}
    risks = rows_of(client.get("compare").text, "risks")
    (answer,) = measures["questions"]
    assert risks["Error of counts by age and diagnosis"][:2] == [percent(answer["errors"]["median"]), "not measured"]
    attacks = rows_of(client.get("compare").text, "attacks")
    assert "Attack: homogeneity of diagnosis" in attacks
    assert [result.number for result in page.results] == [1, 2]  # measuring adds no result
    client.post("compare/ask", data={"column": ["age", "diagnosis"], "how": "remove"})
    assert page.questions == ()


def test_another_node_of_the_lattice_becomes_a_result(client):
    page = client.app.state.page
    explored = page.result(1).explored
    best = page.result(1).manifest["node"]
    nodes = {tuple(found["node"]): found for found in explored["nodes"]}
    found = nodes[tuple(best.values())]
    assert found["suppressed"] == page.result(1).manifest["suppressed_rows"]
    assert found["detail"] == pytest.approx(detail(page.result(1).manifest))
    assert page.result(2).explored == {}  # a local recoding
    top = tuple(explored["top"])
    html = client.get(f"compare?left=1&right=2&explore=1&node={'.'.join(map(str, top))}").text
    assert "Picked: anonymous" in text_of(html)
    assert "Detail kept 0%" in text_of(html)
    assert client.post("compare/1/pick", data={"node": "9.9.9"}).status_code == 422
    assert client.post("compare/2/pick", data={"node": "0.0.0"}).status_code == 422
    client.post("compare/1/pick", data={"node": ".".join(map(str, top))})
    assert finished(client).ended == "done"
    assert page.results[-1].manifest["node"] == dict(zip(best, top, strict=True))
    client.post(f"compare/{page.results[-1].number}/remove")


def test_a_removed_result_is_deleted_and_its_number_not_reused(client):
    page = client.app.state.page
    html = client.post("compare/2/remove").text
    assert [result.number for result in page.results] == [1]
    assert "Search again" in html
    gone = client.post("compare/2/draft")
    assert gone.status_code == 422
    assert "There is no result 2" in text_of(gone.text)
    client.post("search/run")
    finished(client)
    last = page.results[-1].number
    assert [result.number for result in page.results] == [1, last]
    assert last > 2
    client.post("compare/1/remove")
    client.post(f"compare/{last}/remove")
    assert "There is no result yet" in client.get("compare").text
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["people.parquet"]
