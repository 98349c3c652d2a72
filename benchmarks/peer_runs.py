"""One peer on one table, run by the Python of its own environment, which has neither kanon_sql nor the other peers.

`python peer_runs.py PEER TABLE.csv HIERARCHIES COLUMNS K PERCENT OUT.csv`: all columns of TABLE are the COLUMNS
(quasi-identifiers, separated by commas) and `row`, their number. OUT has the same columns, as kanon_sql reads labels:
`[17, 24]` for numbers, `{a, b}` for sets, `*`.
"""

import csv
import logging
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pandas


class Task(NamedTuple):
    """What every peer is given: the table, the folder of its hierarchies, its quasi-identifiers, k, and what may go."""

    table: pandas.DataFrame
    folder: str
    columns: list
    k: int
    percent: float


PEERS = {}


def peer(run):
    """List a function as the peer of its name."""
    PEERS[run.__name__] = run
    return run


def levels(folder, column):
    """A hierarchy file: its lines, each a value and its labels."""
    with (Path(folder) / f"{column}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=";"))


def as_set(values):
    """How a set of values is written."""
    texts = sorted(map(str, values))
    return texts[0] if len(texts) == 1 else "{" + ", ".join(texts) + "}"


def as_range(low, high):
    """How a range of numbers is written, both ends included."""
    return str(low) if low == high else f"[{low}, {high}]"


@peer
def anjana(task):
    """Full-domain, greedy: the column of most values is generalized."""
    from anjana.anonymity import k_anonymity

    columns = {}
    for column in task.columns:
        lines = levels(task.folder, column)
        kind = int if task.table[column].dtype.kind == "i" else str
        columns[column] = {0: [kind(line[0]) for line in lines]}
        for level in range(1, len(lines[0])):
            columns[column][level] = [line[level] for line in lines]
    hierarchies = {
        c: {level: pandas.array(of).to_numpy() for level, of in levels.items()} for c, levels in columns.items()
    }
    return k_anonymity(task.table, ["row"], task.columns, task.k, task.percent, hierarchies)


@peer
def crowds(task):
    """Full-domain: OLA."""
    from crowds.kanonymity import ola
    from crowds.kanonymity.generalizations import GenRule

    rules = {}
    for column in task.columns:
        lines = {line[0]: line for line in levels(task.folder, column)}
        height = len(next(iter(lines.values())))
        # The last level of a rule of theirs is nothing at all, so theirs has one level less of ours.
        steps = [lambda value, of=lines, at=level: of[str(value)][at] if str(value) in of else value
                 for level in range(1, height - 1)]  # fmt: skip
        rules[column] = GenRule(steps)
    release, _ = ola.anonymize(task.table, generalization_rules=rules, k=task.k, max_sup=task.percent)
    return release.fillna("*")


@peer
def anonypy(task):
    """Mondrian, which shows sets and ranges."""
    from anonypy import mondrian

    texts = [column for column in task.columns if task.table[column].dtype.kind not in "if"]
    for column in texts:
        task.table[column] = task.table[column].astype("category")
    partitions = mondrian.Mondrian(task.table, task.columns, None).partition(task.k)
    return _partitioned(task.table, task.columns, texts, partitions)


def _partitioned(table, columns, texts, partitions):
    """What a partition shows: per text the set of its values, per number its range."""
    parts = []
    for index in partitions:
        part = table.loc[index]
        shown = {c: as_set(part[c].unique()) if c in texts else as_range(part[c].min(), part[c].max()) for c in columns}
        parts.append(pandas.DataFrame(shown, index=index))
    return pandas.concat(parts)


@peer
def lighthouse(task):
    """Core Mondrian of Airbnb's Project Lighthouse, with the hierarchies as its trees of texts."""
    from project_lighthouse_anonymize import k_anonymize
    from project_lighthouse_anonymize.gtrees import GTree

    trees = {}
    for column in task.columns:
        if task.table[column].dtype.kind in "if":
            continue
        tree = trees[column] = GTree()
        nodes = {}
        for line in levels(task.folder, column):
            path = list(reversed(line)) if line[-1] == "*" else ["*", *reversed(line)]
            for depth, label in enumerate(path):
                # A label that is the same on two levels is one node of theirs.
                shorter = [
                    label for place, label in enumerate(path[: depth + 1]) if not place or label != path[place - 1]
                ]
                if tuple(shorter) not in nodes:
                    nodes[tuple(shorter)] = tree.create_node(label, parent=nodes.get(tuple(shorter[:-1])))
        tree.add_default_geometric_sizes()
    quiet = logging.getLogger("lighthouse")
    quiet.setLevel(logging.ERROR)
    release, _, _ = k_anonymize(quiet, task.table, task.columns, task.k, trees, "row", parallelism=None)
    return _with_ranges(release, task.table, [column for column in task.columns if column not in trees], task.columns)


def _with_ranges(release, table, numbers, columns):
    """A mean stands for the numbers of its class, from the least to the largest."""
    there = release.merge(table[["row", *numbers]].add_suffix("_was"), left_on="row", right_on="row_was")
    classes = there.groupby(columns, dropna=False)
    for column in numbers:
        low, high = (classes[f"{column}_was"].transform(end) for end in ("min", "max"))
        there[f"{column}_shown"] = [as_range(*ends) for ends in zip(low, high, strict=True)]
    return there.assign(**{column: there[f"{column}_shown"] for column in numbers})


def main():
    """Read, anonymize, write, and say how long the middle took."""
    name, path, folder, columns, k, percent, out = sys.argv[1:]
    table = pandas.read_csv(path)
    columns = columns.split(",")
    started = time.perf_counter()
    release = PEERS[name](Task(table, folder, columns, int(k), float(percent)))
    print(time.perf_counter() - started)
    release[columns].to_csv(out, index=False)


if __name__ == "__main__":
    main()
