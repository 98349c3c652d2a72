"""Perturbation of columns that are released next to the quasi-identifiers: noise, rank swapping, PRAM.

Random draws come from a hash of a secret key and the row's content, never from the engine's random numbers: the same
rows and secret produce the same release in any order of rows and with any number of threads. The key must be secret:
with it, and a guess of a row, anyone could compute the row's noise. Perturbation is not part of k-anonymity, and has no
guarantees: see docs/perturbation-and-anatomy.md.

Sources: rank swapping, Moore 1996, "Controlled data-swapping techniques for masking public use microdata sets";
PRAM, Gouweleeuw, Kooiman, Willenborg and de Wolf 1998, "Post randomisation for statistical disclosure control".
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from itertools import accumulate, pairwise
from math import ceil, floor, inf, isclose, nextafter
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.queries import Perturbed, Relation
from kanon_sql.release import chance
from kanon_sql.spec import Noise, Perturbation, Pram, Spec, Swap

_NUMBERS = ("integer", "decimal", "float")
_KINDS = {
    "noise": ("integer", "decimal", "float", "date", "timestamp"),
    "swap": ("integer", "decimal", "float", "date", "timestamp", "time", "text", "boolean"),
    "matrix": ("integer", "text", "boolean"),
    "keep": ("integer", "decimal", "float", "date", "timestamp", "time", "text", "boolean"),
}
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "INT": 32, "BIGINT": 64}
_MOST = 10**38 - 1  # of a DECIMAL(38, 0), for integer types with more bits
_DIGITS = re.compile(r"\((\d+)(?:, *(\d+))?\)")


@dataclass(frozen=True)
class Matrix:
    """A transition matrix: `rows[value][target]` is the probability that a value becomes the target."""

    rows: Mapping[str, Mapping[str, float]]
    sha256: str

    def intervals(self) -> list[tuple[str, str, float, float]]:
        """Value, target, and the part of [0, 1) in which a draw changes the value into the target."""
        intervals = []
        for value, chances in self.rows.items():
            likely = {target: chance for target, chance in chances.items() if chance > 0}
            bounds = [0.0, *accumulate([*likely.values()][:-1]), 1.0]  # every draw is before the last bound
            intervals += [(value, target, *part) for target, part in zip(likely, pairwise(bounds), strict=True)]
        return intervals


def check(engine: Engine, table: Table, spec: Spec) -> None:
    """Refuse perturbations that a column does not allow, before any long work."""
    for name, perturbation in spec.perturb.items():
        column = table.column(name)
        if column is None:
            raise SpecError(
                f"there is no column {name!r} to perturb; there are {', '.join(c.name for c in table.columns)}"
            )
        _check_kind(column, perturbation)
        if perturbation.noise:
            _limits(column, perturbation.noise)
        if perturbation.swap:
            present = queries.text("perturb/present", engine.dialect, column=[name], source=table.relation)
            ((values,),) = engine.rows(present)
            _half(name, perturbation.swap, int(values))
        if perturbation.pram and perturbation.pram.matrix:
            _check_matrix(engine, table, column, matrix(perturbation.pram.matrix))
    if spec.perturb:
        chance.secret_of(spec)


@contextmanager
def perturbed_source(engine: Engine, table: Table, spec: Spec) -> Iterator[Table]:
    """The table that replaces the source while the block runs: all columns except identifiers, with perturbed values.

    Without perturbation it is the source itself; otherwise a temporary table, which has raw values, too.
    """
    if not spec.perturb:
        yield table
        return
    with Scratch(engine, "perturb") as tables:
        yield engine.table(_perturb(tables, table, spec))


def _perturb(tables: Scratch, table: Table, spec: Spec) -> Relation:
    dropped = set(spec.dropped) - {*spec.hidden}  # hidden columns are counted again when the release is verified
    kept = [column for column in table.columns if column.name not in dropped]
    plain = queries.plain_names([column.name for column in kept])
    every, dialect = [column.name for column in table.columns], tables.engine.dialect
    names = {new: old for old, new in plain.items()}
    rows = tables.create_as("rows", queries.identified_rows(table.relation, names, every, dialect))
    secret = chance.secret_of(spec)
    values = {
        column.name: _values(tables, column, plain[column.name], spec.perturb[column.name], secret, index)
        for index, column in enumerate(kept)
        if column.name in spec.perturb
    }
    columns = [Perturbed(c.name, plain[c.name], c.type, values.get(c.name)) for c in kept]
    perturbed = tables.create_as("source", queries.perturbed_rows(rows, columns, dialect))
    check_rows(tables, rows, perturbed, "perturbing the table")
    tables.drop(rows, *values.values())
    return perturbed


def described(spec: Spec) -> dict[str, Any]:
    """The manifest's entry: operators and parameters by column, without secrets and values."""
    if not spec.perturb:
        return {}
    columns = {column: _described(perturbation) for column, perturbation in spec.perturb.items()}
    return {"perturbation": {"columns": columns, "reproducible": spec.secret is not None}}


def warnings(spec: Spec) -> list[str]:
    """Warnings for readers of a perturbed release."""
    if not spec.perturb:
        return []
    notes = [
        f"perturbed: {', '.join(map(repr, spec.perturb))}; the privacy of the classes does not depend on it, "
        "and single values in these columns are not those of the source"
    ]
    if spec.secret is None:
        notes.append(
            "the perturbation cannot be repeated, and a second release of these rows would let readers average the "
            "two; set a secret to repeat it"
        )
    return notes


# Checks


def _check_kind(column: Column, perturbation: Perturbation) -> None:
    if perturbation.noise:
        operator, title = "noise", "noise"
    elif perturbation.swap:
        operator, title = "swap", "swap"
    elif perturbation.pram and perturbation.pram.matrix:
        operator, title = "matrix", "a PRAM matrix"
    else:
        operator, title = "keep", "PRAM"
    allowed = _KINDS[operator]
    if column.kind not in allowed:
        raise SpecError(f"{column.name!r} is a {column.type}, and {title} takes {', '.join(allowed)}; leave it out")
    if (
        perturbation.noise
        and column.kind not in _NUMBERS
        and (perturbation.noise.bottom, perturbation.noise.top) != (None, None)
    ):
        raise SpecError(f"{column.name!r} is a {column.type}; bottom and top are for numbers, leave them out")


def _half(name: str, swap: Swap, values: int) -> int:
    """Half the number of ranks in a block, so that any two of its ranks are `within` the range."""
    reach = floor(swap.within * values)
    if values > 0 and reach < 1:
        raise SpecError(
            f"perturb.{name}.swap.within: {swap.within} of {values:,} values is less than one rank; "
            f"give {1 / values:.2g} or more"
        )
    return max(1, (reach + 1) // 2)


def matrix(path: str) -> Matrix:
    """Read a transition matrix; SpecError with the line for invalid contents.

    The first line names the values after an empty or any first cell; every other line is a value and its probabilities.
    """
    try:
        content = Path(path).read_bytes()
        header, *lines = [row for row in csv.reader(content.decode("utf-8-sig").splitlines(), strict=True) if row]
    except OSError as error:
        raise SpecError(f"the matrix {path} cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise SpecError(f"the matrix {path} is not UTF-8 text; save it as UTF-8") from error
    except (csv.Error, ValueError) as error:
        raise SpecError(f"the matrix {path} is not CSV with a first line of values; correct it") from error
    targets = header[1:]
    rows: dict[str, dict[str, float]] = {}
    for number, (value, *cells) in enumerate(lines, start=2):
        where = f"the matrix {path}, row {number}"
        if value in rows:
            raise SpecError(f"{where}: its value already has a row; keep one of the two")
        rows[value] = dict(zip(targets, _probabilities(where, cells, len(targets)), strict=True))
    if len(set(targets)) < len(targets) or set(targets) != set(rows):
        raise SpecError(
            f"the matrix {path} does not name the same values in its first line and below it; name each once in both"
        )
    return Matrix(rows, sha256(content).hexdigest())


def _probabilities(where: str, cells: list[str], expected: int) -> list[float]:
    if len(cells) != expected:
        raise SpecError(
            f"{where}: {len(cells)} probabilities for the {expected} values of the first line; write one for each"
        )
    try:
        probabilities = [float(cell) for cell in cells]
    except ValueError:
        raise SpecError(f"{where}: a probability is not a number; write numbers from 0 to 1") from None
    if not all(0 <= probability <= 1 for probability in probabilities):
        raise SpecError(f"{where}: a probability is below 0 or above 1; write numbers from 0 to 1")
    if not isclose(sum(probabilities), 1, abs_tol=1e-9):
        raise SpecError(f"{where}: the probabilities add up to {sum(probabilities):.9g}; they must add up to 1")
    return probabilities


def _check_matrix(engine: Engine, table: Table, column: Column, transitions: Matrix) -> None:
    query = queries.text("frequency_sets/tuples", engine.dialect, columns={"value": column.name}, source=table.relation)
    text = {value: _as_text(value) for value, _ in engine.rows(query) if value is not None}
    missing = [value for value in text.values() if value not in transitions.rows]
    if missing:
        raise SpecError(
            f"perturb.{column.name}.pram.matrix has no line for {len(missing)} of the {len(text)} values of the "
            "column; give each a line and a place in the first line"
        )
    form = {"integer": _is_integer, "boolean": {"true", "false"}.__contains__}.get(column.kind)
    if form and not all(map(form, transitions.rows)):
        raise SpecError(
            f"perturb.{column.name}.pram.matrix names values that are not of type {column.type}; remove them"
        )


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text == str(int(text))


# Operators


def _values(
    tables: Scratch, column: Column, plain: str, perturbation: Perturbation, secret: bytes, index: int
) -> Relation:
    """The perturbed values of one column by row_id, in a separate relation."""
    purpose, stem = _purpose(column.name, perturbation), f"values_{index}"
    key = chance.make_key(tables, secret, purpose)
    draws = tables.create("draws", "perturb/draws", column=[plain], rows=tables["rows"], key=key)
    if perturbation.noise:
        values = _add_noise(tables, stem, column, perturbation.noise)
    elif perturbation.swap:
        half = _half(column.name, perturbation.swap, tables.count(draws))
        key = chance.make_key(tables, secret, purpose, 2 * half)
        values = tables.create(stem, "perturb/swap", half=half, draws=draws, key=key)
    else:
        assert perturbation.pram
        values = _redraw(tables, stem, perturbation.pram)
    check_rows(tables, draws, values, f"perturbing {column.name!r}")
    tables.drop(key, draws, "matrix")
    return values


def _purpose(column: str, perturbation: Perturbation) -> str:
    """The purpose of a draw: the column and its perturbation.

    A single draw z at two scales would reveal the value: x + 100 z and x + 50 z. So another scale uses another draw.
    """
    return json.dumps(["perturb", column, _described(perturbation)], sort_keys=True)


def _add_noise(tables: Scratch, stem: str, column: Column, noise: Noise) -> Relation:
    holes: dict[str, Any] = {"scale": noise.scale, "draw": [noise.distribution], "draws": tables["draws"]}
    if column.kind in ("date", "timestamp"):
        return tables.create(stem, f"perturb/{column.kind}", **holes)
    query = "perturb/whole" if column.kind == "integer" else "perturb/number"
    return tables.create(stem, query, **_limits(column, noise), **holes)


def _limits(column: Column, noise: Noise) -> dict[str, str | None]:
    """The minimum and maximum of a noisy value, as text; empty for dates and timestamps."""
    if column.kind in ("date", "timestamp"):
        return {}
    bottom, top = _whole(column, noise) if column.kind == "integer" else _bounds(column, noise)
    return {"bottom": None if bottom is None else str(bottom), "top": None if top is None else str(top)}


def _whole(column: Column, noise: Noise) -> tuple[int, int]:
    """The minimum and maximum of a noisy integer: the requested bounds, within those of its type."""
    type_name = column.type.upper()
    bits, signed = _BITS.get(type_name.removeprefix("U")), not type_name.startswith("U")
    top = (2 ** (bits - signed) - 1) if bits else _MOST
    bottom = 0 if not signed else -top - 1 if bits else -_MOST
    if noise.bottom is not None:
        bottom = max(bottom, ceil(noise.bottom))
    if noise.top is not None:
        top = min(top, floor(noise.top))
    if bottom > top:
        raise SpecError(f"perturb.{column.name}.noise: no {column.type} is between bottom and top; widen the range")
    return bottom, top


def _bounds(column: Column, noise: Noise) -> tuple[float | None, float | None]:
    """The minimum and maximum of a noisy number: the requested bounds, within the digits of its type."""
    declared = _DIGITS.search(column.type) if column.kind == "decimal" else None
    most = inf
    if declared:
        digits, places = (int(part or 0) for part in declared.groups())
        whole = 10.0 ** (digits - places)
        most = min(whole - 10.0**-places, nextafter(whole, 0))
    bottom = max(-most, -inf if noise.bottom is None else float(noise.bottom))
    top = min(most, inf if noise.top is None else float(noise.top))
    if bottom > top:
        raise SpecError(f"perturb.{column.name}.noise: no {column.type} is between bottom and top; widen the range")
    return (None if bottom == -inf else bottom), (None if top == inf else top)


def _redraw(tables: Scratch, stem: str, pram: Pram) -> Relation:
    if pram.keep is not None:
        return tables.create(stem, "perturb/redraw", keep=pram.keep, draws=tables["draws"])
    assert pram.matrix
    types = {"value": "VARCHAR", "target": "VARCHAR", "low": "DOUBLE PRECISION", "high": "DOUBLE PRECISION"}
    probabilities = tables.load("matrix", types, list(zip(*matrix(pram.matrix).intervals(), strict=True)))
    return tables.create(stem, "perturb/transition", draws=tables["draws"], matrix=probabilities)


def _described(perturbation: Perturbation) -> dict[str, Any]:
    if perturbation.pram and perturbation.pram.matrix:
        transitions = matrix(perturbation.pram.matrix)
        return {"pram": {"matrix": {"values": len(transitions.rows), "sha256": transitions.sha256}}}
    ((operator, parameters),) = perturbation.model_dump(exclude_none=True).items()
    return {operator: {name: float(v) if isinstance(v, Decimal) else v for name, v in parameters.items()}}


def check_rows(tables: Scratch, before: Relation, after: Relation, doing: str) -> None:
    """VerificationError if a step has changed the number of rows; `doing`: what it does."""
    rows, left = tables.count(before), tables.count(after)
    if rows != left:
        raise VerificationError(f"{doing} turned {rows:,} rows into {left:,}; nothing was released; report this")
