"""Given and expected rows of `sql/pipeline`."""

from collections.abc import Sequence
from hashlib import md5
from typing import Any

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_ROWS: list[tuple[Any, ...]] = [(1, "a"), (None, ""), (1, "a"), (12, None), (1, "2:b"), (None, "-")]


def _fingerprint(rows: Sequence[Sequence[Any]]) -> str:
    """The same in plain Python: the rows' checksums in order, folded by their first four letters."""
    lines = sorted(_md5(",".join("-" if cell is None else f"{len(str(cell))}:{cell}" for cell in row)) for row in rows)
    parts = dict.fromkeys(line[:4] for line in lines)
    return _md5("".join(_md5("".join(line for line in lines if line[:4] == part)) for part in parts))


def _md5(text: str) -> str:
    return md5(text.encode()).hexdigest()


def _fingerprinted(rows: Sequence[Sequence[Any]], expected: tuple[Any, ...]) -> Case:
    return Case(
        "pipeline/fingerprint",
        {"relation": Relation("patients"), "columns": ["a", "b c"]},
        ["rows", "digest"],
        [expected],
        _table(rows),
    )


def _table(rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    return {"patients": ({"a": "INTEGER", "b c": "VARCHAR", "d": "INTEGER"}, [(*row, n) for n, row in enumerate(rows)])}


_COLUMNS = ["number", "made_at", "release", "spec", "node", "findings", "fingerprints", "singled_out", "manifest"]
_COLUMNS += ["previous", "checksum"]
_ROW: dict[str, Any] = {**dict.fromkeys(_COLUMNS, "it's"), "number": 1, "singled_out": None, "node": None}

CASES = [
    _fingerprinted(_ROWS, (6, _fingerprint(_ROWS))),
    _fingerprinted(_ROWS[::-1], (6, _fingerprint(_ROWS))),
    _fingerprinted([], (0, None)),
    Case("pipeline/trail_row", _ROW, _COLUMNS, [tuple(_ROW.values())]),
    Case(
        "pipeline/copy",
        {"copies": Relation("copies"), "target": "it's", "sha256": "x"},
        ["content"],
        [("a",), ("b",)],
        {
            "copies": (
                {"target": "VARCHAR", "sha256": "VARCHAR", "part": "BIGINT", "content": "VARCHAR"},
                [("it's", "x", 1, "b"), ("it's", "x", 0, "a"), ("it's", "y", 0, "c"), ("another", "x", 0, "d")],
            )
        },
    ),
    Case(
        "pipeline/trail",
        {"trail": Relation("trail"), "columns": ["number", "checksum"]},
        ["number", "checksum"],
        [(1, "x"), (2, "y"), (10, "a")],
        relation("trail", "checksum number", ("y", 2), ("a", 10), ("x", 1), checksum="VARCHAR"),
    ),
    Case(
        "pipeline/people",
        {"shown": Relation("shown"), "key": Relation("key"), "columns": ["a"], "unit": ["p"]},
        ["a", "p"],
        [(1, f"k-{_md5('out' + _md5('in7'))}"), (2, f"k-{_md5('out' + _md5('in7'))}")],
        relation("shown", "a p", (1, 7), (2, 7))
        | relation(
            "key",
            "id inner_key outer_key",
            ("k", "in", "out"),
            **dict.fromkeys(["id", "inner_key", "outer_key"], "VARCHAR"),
        ),
    ),
    Case(
        "pipeline/people_keys",
        {"people": Relation("people"), "unit": ["p"]},
        ["id"],
        [("12345678-",), ("0123456789"[:9],)],
        relation("people", "p", ("12345678-9",), ("12345678-8",), ("0123456789",), p="VARCHAR"),
    ),
]
