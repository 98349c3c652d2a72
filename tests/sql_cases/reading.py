"""Given and expected rows of `sql/reading`."""

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation
from sql_cases.case import Case

_SOURCE = {"source": Relation("lines"), "column": ["Kosten"]}
_LINES = {
    "lines": (
        {"Kosten": "VARCHAR", "text": "VARCHAR"},
        [("12,50", "a\nb"), (None, "c"), ("1.234,5", "d"), ("N/A", "e\n\n"), ("?", "f"), ("?", "g")],
    )
}
_NO_VALUE = Predicate("value = $null", {"null": "N/A"})
_COMMA = Predicate("value LIKE '%,%'")

CASES = [
    Case("files/some_values", {**_SOURCE, "values": 2}, ["value"], [("12,50",), ("1.234,5",)], _LINES),
    Case(
        "files/readable",
        {**_SOURCE, "missing": _NO_VALUE, "fits": _COMMA},
        ["filled", "fitting", "first_row", "all_equal"],
        [(4, 2, 5, True)],
        _LINES,
    ),
    Case(
        "files/readable",
        {**_SOURCE, "missing": Predicate("FALSE"), "fits": Predicate("NULLIF(value, '?') <> 'N/A'")},
        ["filled", "fitting", "first_row", "all_equal"],
        [(5, 2, 4, False)],  # what nobody knows does not fit
        _LINES,
    ),
    Case(
        "files/digits",
        {**_SOURCE, "missing": _NO_VALUE, "behind": ",([0-9]+)$"},
        ["whole", "fraction"],
        [(4, 2)],
        _LINES,
    ),
    Case(
        "files/line_breaks",
        {"source": Relation("lines"), "column": ["text"], "row": 4},
        ["line_breaks"],
        [(1,)],  # those of the fourth row come behind its beginning
        _LINES,
    ),
    Case(
        "files/read_csv_as_text",
        {"path": "given*.csv", "separator": ";"},
        ["zip", "age"],
        [("02138", "1,50"), ("1", None)],
        files={"given1.csv": "zip;age\n02138;1,50\n1;\n"},
    ),
]
