"""The page shows only values of at least k people, or rows: on the screen of the columns and on that of the data."""

import re
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql.page.summaries import summarized
from support.page import client_of, finished, text_of, work_here

STAYS = """
SELECT i // 2 AS person, ['Bern', 'Basel', 'Chur', 'Zug' || i][1 + least(i % 5, 3)] AS town,
  18 + (i * 7919) % 60 AS age, 900.25 + i * 17.5 AS cost, DATE '2023-03-01' + CAST(i * 2 AS INTEGER) AS day,
  CASE WHEN i % 9 > 0 THEN 'note ' || i % 4 END AS note, ['f', 'm'][1 + i // 2 % 2] AS sex
FROM range(240) AS t(i)
"""


@pytest.fixture
def stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    work_here(monkeypatch)
    duckdb.sql(STAYS).write_parquet("stays.parquet")
    return tmp_path / "stays.parquet"


def ready(client: Any) -> Any:
    """The page, once its values are counted."""
    page = client.app.state.page
    page.summaries().result()
    return page


def people_of(path: Path, column: str, unit: str | None) -> dict[str, int]:
    """The people, or rows, of every value, counted in Python."""
    rows = duckdb.sql(f"SELECT {column}, {unit or 'NULL'} FROM '{path}'").fetchall()
    if unit is None:
        return dict(Counter(str(value) for value, _ in rows))
    return dict(Counter(str(value) for value, _ in set(rows)))


def cells(html: str, region: str) -> list[str]:
    """The values that are shown in the regions with such an id."""
    found = re.findall(rf'id="{region}-\d+".*?</td>', html, re.DOTALL)
    return [unescape(text) for part in found for text in re.findall(r"<bdi>(.*?)</bdi>", part)]


@pytest.mark.parametrize("unit", [None, "person"])
def test_no_value_of_fewer_than_k_is_shown_unless_requested(stays, unit):
    with client_of(stays) as client:
        page = ready(client)
        page.change(lambda draft: draft.with_keys(unit=unit, privacy={"k": 7}))
        ready(client)
        counts = {column.name: people_of(stays, column.name, unit) for column in page.draft.columns}
        rare = {value for column in ("town", "cost", "day") for value, n in counts[column].items() if n < 7}
        html = client.get("columns").text
        seen = cells(html, "samples")
        assert {"Bern", "Basel", "Chur", "f", "m", "note 1"} <= set(seen)
        assert not rare & set(seen)
        for name in ("age", "town", "note", "sex"):
            place = [column.name for column in page.draft.columns].index(name)
            for value in re.findall(r"<bdi>(.*?)</bdi>", html.split(f'id="samples-{place}"')[1].split("</td>")[0]):
                assert counts[name][value] >= 7, (name, value)
        assert not [value for value in rare if f"Zug{value}" in html or f">{value}:" in html]
        data = client.get("data").text
        assert not [value for value in rare if f"<bdi>{value}</bdi>" in data]
        assert "rare value" in data
        page.counted()
        risk = client.get("risk").text
        assert not [value for value in rare if f"<bdi>{value}</bdi>" in risk or f">{value}</text>" in risk]
        assert not [value for value in rare if f": unchanged, {value}<" in risk or f" {value} →" in risk]
        assert "of them rare" in risk
        shown = client.get("columns?rare=yes").text
        assert "Rare values are shown, too" in text_of(shown)
        assert rare & set(cells(shown, "samples"))
        assert re.search("<bdi>Zug[0-9]+</bdi>", client.get("data?rare=yes").text)
        answer = client.post("columns/1?rare=yes", data={"reason": "known to the neighbours"})
        assert str(answer.url).endswith("columns?rare=yes")  # a change does not hide what was requested


@pytest.mark.parametrize("unit", [None, "person"])
def test_intervals_contain_all_rows_and_at_least_k_people(stays, unit):
    with client_of(stays) as client:
        page = client.app.state.page
        page.change(lambda draft: draft.with_keys(unit=unit))
        summary = summarized(page.draft)
        rows = duckdb.sql(f"SELECT cost, day, age, person FROM '{stays}'").fetchall()
        for place, name in enumerate(("cost", "day", "age")):
            column = summary.columns[name]
            for k in (1, 7, 40):
                bars = column.bars(k)
                if unit and k > 20:  # the people of several intervals are counted as those of the largest
                    assert bars == []
                    continue
                assert sum(bar.count for bar in bars) == len(rows), (name, k)
                members: dict[str, set[Any]] = {}
                for number, row in enumerate(rows):
                    members.setdefault(column.intervals_of(k)(row[place]), set()).add(row[3] if unit else number)
                assert min(map(len, members.values())) >= k
                assert set(members) <= {bar.text for bar in bars}
            assert column.bars(10_000) == []


def test_the_same_rows_are_shown_before_and_after(stays):
    with client_of(stays) as client:
        page = ready(client)
        assert "There is no result yet" in text_of(client.get("data").text)
        for place, role in {1: "kept", 2: "quasi-identifier", 3: "dropped", 4: "dropped", 5: "dropped"}.items():
            client.post(f"columns/{place}", data={"role": role})
        page.counted()
        client.post("search/run")
        assert finished(client).ended == "done"
        ready(client)
        html = client.get("data?rare=yes").text
        before, after = html.split('id="of-after"')
        level = page.results[0].manifest["node"]["age"]
        assert level > 0
        ages = re.findall(r'<tr><td class="n">\d+</td>\s*(.*?)</tr>', before, re.DOTALL)
        labels = re.findall(r'<tr><td class="n">\d+</td>\s*(.*?)</tr>', after, re.DOTALL)
        assert len(ages) == len(labels) == 20
        released = 0
        for row, label in zip(ages, labels, strict=True):
            if "suppressed" in label:
                continue
            age, found = row.split("<bdi>")[2].split("<")[0], re.search(r"\[(\d+), (\d+)\)", label)
            if found and age.isdecimal():
                assert int(found[1]) <= int(age) < int(found[2])
                released += 1
        assert released > 0
        assert "person" not in after.split("<tbody>")[0].partition("<thead>")[2]  # a dropped column


def test_the_reason_of_a_role_is_kept_and_the_suggestion_goes(stays):
    with client_of(stays) as client:
        page = ready(client)
        assert text_of(client.get("columns").text).count("Suggested:") == len(page.draft.columns)
        client.post("columns/6", data={"role": "kept"})
        client.post("columns/6", data={"reason": "everybody may know it\n— <b>really</b>"})
        html = client.get("columns").text
        assert text_of(html).count("Suggested:") == len(page.draft.columns) - 1
        assert "everybody may know it — &lt;b&gt;really" in html
        assert page.draft.columns[6].reason == "everybody may know it — <b>really</b>"
        assert page.draft.spec().reasons == {"sex": "everybody may know it — <b>really</b>"}
        assert "everybody may know it" in client.get("release").text
        assert client.post("columns/6", data={"reason": "x" * 501}).status_code == 422
        client.post("columns/6", data={"reason": " "})
        assert page.draft.columns[6].reason == ""
