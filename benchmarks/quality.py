"""What a release lost, whoever made it, by the same rules: its labels are read as kanon_sql's attacks read them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import duckdb
from measure import Row

import kanon_sql
from kanon_sql.attack.label_readings import covered
from kanon_sql.frequency.fitting import read_hierarchy


def quality(source: Path, release: Path, hierarchies: Path, columns: list[str]) -> Row:
    """Loss, classes, the smallest one by a bare GROUP BY, suppressed rows, and how far marginals and counts are off.

    `loss`: the mean of (M - 1) / (|A| - 1), M the hierarchy's values that a label covers, 1 for a row that is gone.
    """
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW source AS FROM {_reader(source)}")
    connection.execute(f"CREATE VIEW release AS FROM {_reader(release)}")
    names = ", ".join(f'"{column}"' for column in columns)
    ((rows,),) = connection.execute("SELECT count(*) FROM source").fetchall()
    grouped = f"SELECT count(*) AS n FROM release GROUP BY {names}"
    shown, classes, smallest = connection.execute(f"SELECT sum(n), count(*), min(n) FROM ({grouped})").fetchall()[0]
    losses = [_loss(connection, hierarchies / f"{column}.csv", column, rows) for column in columns]
    measured = kanon_sql.utility(
        connection.sql(f"SELECT {names} FROM source").df(),
        connection.sql(f"SELECT {names} FROM release").df(),
        quasi_identifiers=columns,
        hierarchies=str(hierarchies),
    )
    return {
        "loss": sum(losses) / len(losses),
        "classes": classes,
        "smallest": smallest,
        "suppressed": rows - int(shown),
        "marginals": measured.marginal_error,
        "counts": measured.counts and measured.counts.median,
    }


def _reader(path: Path) -> str:
    return f"read_parquet('{path}')" if path.suffix == ".parquet" else f"read_csv('{path}', all_varchar = true)"


def _loss(connection: duckdb.DuckDBPyConnection, file: Path, column: str, rows: int) -> float:
    """The mean over all rows of one column."""
    labels = connection.execute(f'SELECT "{column}"::VARCHAR, count(*) FROM release GROUP BY ALL').fetchall()
    hierarchy = read_hierarchy(file)
    under: dict[str, set[str]] = {"*": set(hierarchy.values)}
    for level in range(hierarchy.height + 1):
        for value, label in zip(hierarchy.values, hierarchy.labels(level), strict=True):
            under.setdefault(str(label), set()).add(str(value))
    sizes = {label: len(values) for label, values in under.items()} | _others(labels, under, hierarchy.values)
    lost = sum(n * (sizes[label] - 1) / (len(hierarchy.values) - 1) for label, n in labels)
    return float((lost + rows - sum(n for _, n in labels)) / rows)


def _others(labels: list[tuple[str, int]], known: Collection[str], leaves: Sequence[object]) -> dict[str, int]:
    """How many leaves each label covers that the hierarchy lacks: ranges and sets."""
    numbers = all(str(leaf).isdigit() for leaf in leaves)
    values = [int(str(leaf)) if numbers else leaf for leaf in leaves]
    unknown = [label for label, _ in labels if label not in known]
    found, unread = covered(unknown, values, "integer" if numbers else "text")
    assert not unread, f"{unread[0]} cannot be read"
    return {label: len(places) for label, places in found.items()}
