"""Error messages in the page's own words, with the labels of its fields instead of keys and options."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup, escape

from kanon_sql.page.draft import Draft, DraftColumn
from kanon_sql.report.words import date_letters

# What a key of a spec, or an option of the same name, is called on the page.
FIELDS = {
    "k": "k under Models",
    "unit": "“Counted in” under Models",
    "l_diversity": "l-diversity under Models",
    "t_closeness": "t-closeness under Models",
    "alpha_k": "(α, k)-anonymity under Models",
    "beta_likeness": "β-likeness under Models",
    "delta_disclosure": "δ-disclosure under Models",
    "risk": "the risk limits under Models",
    "suppression_limit": "“Maximum suppression” under Search",
    "time_limit": "“Time limit” under Search",
    "strategy": "the kind of search under Search",
    "metric": "“Loss measure” under Search",
    "quasi_identifiers": "the role “quasi-identifier” under Columns",
    "identifiers": "the role “identifier” under Columns",
    "sensitive": "the role “sensitive” under Columns",
    "keep": "the role “kept” under Columns",
    "hierarchies": "the hierarchy under Hierarchies",
    "hierarchy": "the hierarchy under Hierarchies",
    "max_level": "“Not above level” under Hierarchies",
    "min_level": "“Not below level” under Hierarchies",
    "recipient": "“Recipient” under Release",
    "norms": "“Norms” under Release",
    "output": "the name of the file under Release",
    "into": "the name of the table under Release",
    "overwrite": "“Replace” under Release",
    "encoding": "“Text encoding” under Open",
    "decimal": "“Decimal mark” under Open",
    "date_format": "“Date format” under Open",
    "null": "“Texts that mean: no value” under Open",
    "sheet": "“Sheet” under Open",
    "skip_lines": "“Lines above the names of the columns” under Open",
    "delimiter": "“Between the fields” under Open",
    "columns": "“Columns that are text” under Open",
    "source": "the file or table under Open",
    "priority": "“Priority” under Columns",
    "reasons": "“My reason” under Columns",
}
_SENTENCES = (  # words of the command line and of Python, for which the page has others
    (re.compile(r"search again with `node_else=\"search\"`"), "search again"),
    (re.compile(r"the node ([^;]+) no longer meets"), r"a release at the levels \1 does not meet"),
    (re.compile(r"no node of the lattice meets"), "no combination of levels meets"),
    (re.compile(r"no anonymous node that keeps any row"), "no combination of levels that keeps any row"),
    (
        re.compile(r"measure its distance in order \(`distance: ordered`\)"),
        "choose the variant “By the order of the values” of t-closeness under Models",
    ),
    (re.compile(r"with `kanon report(?: --manifest)?`"), "under Compare"),
    (re.compile(r"(?:measure it|Measure it) under Compare or `kanon attack`"), "measure it under Compare"),
    (re.compile(r"with `kanon verify`"), "again"),
    (re.compile(r",? (?:or|with) `kanon [^`]+`"), ""),
    (re.compile(r"; `kanon [^`]+` [^;.]+"), ""),
    (
        re.compile(r"^quasi_identifiers: give one or more column names.*", re.DOTALL),
        "give at least one column the role “quasi-identifier” under Columns",
    ),
    (
        re.compile(r"use `hierarchies`, a folder with .+?\.csv, or a recipe in the spec(?: \([^)]*\))?"),
        "choose a recipe under Hierarchies",
    ),
    (re.compile(r"name the file in the spec, as in \{hierarchy: FILE\}"), "choose the file under Hierarchies"),
    (
        re.compile(r"create one with `kanon hierarchy build`, or name a recipe in the spec"),
        "choose a recipe under Hierarchies",
    ),
    (re.compile(r"^nothing is left of the quasi-identifiers:"), "Everything is *:"),
    (re.compile(r"^nothing is left:"), "Nothing is left:"),
    (re.compile(r"distinct tuples"), "distinct combinations"),
    (
        re.compile(r"^(.+ is not well-formed CSV): line (\d+), Expected Number of Columns: (\d+) Found: (\d+); .*"),
        r"\1: line \2 has \4 fields instead of \3; correct it, or set “Between the fields” under Open",
    ),
    (re.compile(r"Value with unterminated quote found"), "has a quote that does not end"),
    (
        re.compile(r"put fields that contain a separator in quotes"),
        "put fields that contain a separator in quotes, or set “Lines above the names of the columns” under Open",
    ),
    (
        re.compile(r"^(\S+\.(?:parquet|pq)) cannot be read: .*", re.DOTALL),
        r"\1 is not a complete Parquet file; create it again, or choose another file",
    ),
    (
        re.compile(r"(is not a text file); name a CSV file, or Parquet in a file called \.parquet"),
        r"\1 in UTF-8; name its encoding in “Text encoding” under Open, or choose another file",
    ),
    (
        re.compile(r"a list of edges per level such as \[\[1, 10, 100\], \[10\]\]"),
        "a line of edges per level, such as 1, 10, 100",
    ),
    (re.compile(r"^(there is no .+ column '.+'; there are .+)$"), r"\1; open the data again under Open"),
    (re.compile(r"^([a-z_]+): (?=there is no )"), r"`\1`: "),
    (re.compile(r"; kanon attack compares them\."), "."),
    (
        re.compile(r"^no statement reads (.+?) by itself, .*"),
        r"A statement cannot read \1 directly; choose another system with the name of its table there, or save the "
        "data as Parquet or as CSV in UTF-8",
    ),
    (
        re.compile(
            r"^stopped after (.+? seconds?): (.+?) of (.+?) sets were counted, and the suggestions are based on"
        ),
        r"The analysis stopped after \1, with \2 of \3 combinations of columns counted; the suggestions are based on",
    ),
    (
        re.compile(r"a value is not a date; write it as YYYY-MM-DD, or use a hierarchy file"),
        "a value is not a date; list it in “Texts that mean: no value” under Open, or write it as YYYY-MM-DD",
    ),
    (re.compile(r"--(?=[a-z])"), ""),
    (re.compile(r"\bprivacy\.(?=[a-z_]+)"), ""),
)
_BARE = re.compile(rf"\b({'|'.join(key for key in FIELDS if '_' in key)})\b")
_ATTRIBUTE = re.compile(
    r"^quasi_identifiers\.(?P<column>.+?)\.(?P<key>hierarchy|min_level|max_level|priority|weight)\.?"
)
_DATES = re.compile(r"%[A-Za-z](?:[./: -]*%[A-Za-z])+")
_NAMED = re.compile(r"'([^'\n]+)'|(?<=column )([^\s':,;]+)")
_QUOTED = re.compile(r"`([a-z_]+)(?:(?:=|: )[^`]*)?`")
_CODE = re.compile(r"`([^`]+)`")
_CLASS = re.compile(r"('[^'\n]*')|(?<![-\w])(?<!column )([Cc])lass(es)?(?![-\w])")
_SAME_SCREEN = re.compile(r" under (\w+)(?=(?:, | and | or )“[^”]+” under \1)")
_PERCENT = re.compile(r"(?<=\d) (?=%)")


def in_page_words(text: str) -> str:
    """The message with the labels of the page's fields.

    >>> in_page_words("name the columns to release with `keep`")
    'name the columns to release with the role “kept” under Columns'
    >>> in_page_words("no node of the lattice meets the privacy model; raise suppression_limit, or lower k")
    'no combination of levels meets the privacy model; raise “Maximum suppression” under Search, or lower k'
    >>> in_page_words("line 19 has no date as %d.%m.%Y, as all others are")
    'line 19 has no date as dd.mm.yyyy, as all others are'
    >>> in_page_words("quasi_identifiers.age.hierarchy.ranges: 7 is not a multiple of 5")
    "column 'age', hierarchy: ranges: 7 is not a multiple of 5"
    >>> in_page_words("`encoding`, `date_format` and `decimal` change that")
    '“Text encoding”, “Date format” and “Decimal mark” under Open change that'
    >>> in_page_words("together with 'my class', classes of fewer than 5; label `*`")
    "together with 'my class', groups of fewer than 5; label “*”"
    """
    text = _ATTRIBUTE.sub(_attribute, text)
    text = _DATES.sub(lambda found: date_letters(found[0]), text)
    for found, instead in _SENTENCES:
        text = found.sub(instead, text)
    text = _QUOTED.sub(lambda key: FIELDS.get(key[1], f"“{key[1].replace('_', ' ')}”"), text)
    text = _BARE.sub(lambda key: FIELDS[key[1]], text)
    text = _SAME_SCREEN.sub("", text)
    text = _CLASS.sub(_group, _CODE.sub(r"“\1”", text))
    return _PERCENT.sub("\N{NO-BREAK SPACE}", text)


def _group(found: re.Match[str]) -> str:
    """A class in the page's word; what is in quotes is a name."""
    if found[1]:
        return found[1]
    return f"{'G' if found[2] == 'C' else 'g'}roup{'s' if found[3] else ''}"


def _attribute(found: re.Match[str]) -> str:
    """The column and the key that an error of the spec begins with; an option of the recipe follows a period."""
    key = found["key"].replace("_", " ")
    return f"column {found['column']!r}, {key}{': ' if found[0].endswith('.') else ''}"


def sentence_start(text: str, names: Iterable[str] = ()) -> str:
    """The text with a capital letter, unless it begins with k, or the name of a file or of one of these columns.

    >>> sentence_start("choose a file first"), sentence_start("x.csv: no rows"), sentence_start("age is 7", ["age"])
    ('Choose a file first', 'x.csv: no rows', 'age is 7')
    """
    first = text.partition(" ")[0].removesuffix(",")
    return text[:1].upper() + text[1:] if len(first) > 1 and first.isalpha() and first not in names else text


_TYPES = (
    (re.compile(r"VARCHAR|TEXT|CHAR|STRING|NAME"), "text"),
    (re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|INT[248]|LONG|SHORT"), "whole numbers"),
    (re.compile(r"DOUBLE.*|FLOAT[48]?|REAL|DECIMAL.*|NUMERIC.*"), "numbers"),
    (re.compile(r"DATE"), "dates"),
    (re.compile(r"TIMESTAMP.*"), "dates with times"),
    (re.compile(r"TIME.*"), "times"),
    (re.compile(r"BOOL(?:EAN)?"), "true or false"),
)


def type_words(type_name: str) -> str:
    """What a column of a database's type contains, in words; the type itself if it is a rare one.

    >>> type_words("VARCHAR"), type_words("bigint"), type_words("DECIMAL(9,2)"), type_words("UUID")
    ('text', 'whole numbers', 'numbers', 'UUID')
    """
    return next((words for type_, words in _TYPES if type_.fullmatch(type_name.upper())), type_name)


def columns_in(text: str, draft: Draft) -> list[tuple[int, DraftColumn]]:
    """The columns that a message names, in quotes or as its first word, with their places, for links."""
    return [
        (place, column)
        for place, column in enumerate(draft.columns)
        if column.name and (repr(column.name) in text or re.match(rf"{re.escape(column.name)}(?:\.csv)?[:,. ]", text))
    ]


def linked(text: str, columns: Iterable[str], base: str) -> Markup:
    """A text in the page's words, in which the names of columns lead to their rows on the screen of the columns.

    >>> linked("column 'age': <7>", ["zip", "age"], "/t/")
    Markup('column &#39;<a href="/t/columns#column-1"><bdi>age</bdi></a>&#39;: &lt;7&gt;')
    """
    places = {name: place for place, name in enumerate(columns)}
    result, last, words = Markup(), 0, in_page_words(text)
    for found in _NAMED.finditer(words):
        name = found[1] or found[2]
        if name in places:
            start, end = found.span(1 if found[1] else 2)
            link = Markup('<a href="{}columns#column-{}"><bdi>{}</bdi></a>').format(base, places[name], name)
            result += escape(words[last:start]) + link
            last = end
    return result + escape(words[last:])
