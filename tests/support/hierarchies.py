"""Properties of every hierarchy."""

from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.values import Value


def same(left: Value, right: Value) -> bool:
    return left is right or left == right or (left != left and right != right)


def check(hierarchy: Hierarchy) -> Hierarchy:
    """The promises of every hierarchy, pair by pair."""
    count, rows = len(hierarchy.values), len(hierarchy.values) + len(hierarchy.starred)
    assert hierarchy.height == len(hierarchy.levels) >= 1
    assert hierarchy.leaf_count == (max(count, 2) if hierarchy.starred else count)
    assert len(set(hierarchy.codes(hierarchy.height))) <= 1
    for level in range(hierarchy.height + 1):
        labels, codes = hierarchy.labels(level), hierarchy.codes(level)
        assert len(labels) == len(codes) == rows
        assert list(dict.fromkeys(codes)) == list(range(len(hierarchy.distinct_labels(level))))
        assert all(same(hierarchy.distinct_labels(level)[c], x) for c, x in zip(codes, labels, strict=True))
        pairs = [(i, j) for i in range(rows) for j in range(i)]
        assert all((codes[i] == codes[j]) == same(labels[i], labels[j]) for i, j in pairs)
        assert hierarchy.leaves(level) == tuple(leaves_under(hierarchy, codes))
        if level < hierarchy.height:
            above = hierarchy.codes(level + 1)
            assert all(above[i] == above[j] for i, j in pairs if codes[i] == codes[j])
        if not hierarchy.starred:
            assert sum(hierarchy.leaves(level)) == count
    return hierarchy


def leaves_under(hierarchy: Hierarchy, codes: tuple[int, ...]) -> list[int]:
    starred = set(codes[len(hierarchy.values) :])
    under = [codes[: len(hierarchy.values)].count(code) for code in range(len(set(codes)))]
    return [hierarchy.leaf_count if code in starred else leaves for code, leaves in enumerate(under)]


def columns(hierarchy: Hierarchy) -> dict[Value, tuple[Value, ...]]:
    return {value: labels for value, *labels in zip(hierarchy.values, *hierarchy.levels, strict=True)}
