"""A YAML loader for specs: values that people and YAML read differently are texts, or errors."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import Any

import yaml


class Loader(yaml.SafeLoader):
    """Read the keys `null` and `no` as texts, and raise an error for a repeated key.

    YAML would silently drop the first of two equal keys. Labels and members of `groups` are texts.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        first = {key.value: key for key in reversed(keys)}
        for key in keys:
            if first[key.value] is not key:
                problem = f"the key {key.value!r} is repeated"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            if key.tag in _WORDS:
                key.tag = _TEXT
        for word in _of_groups(node):
            word.tag = _TEXT
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Raise an error for 010, which is 8 in YAML and 10 to most people."""
        if _LEADING_ZERO.fullmatch(node.value):
            problem = f"{node.value} begins with a zero, which YAML reads as octal; leave out the zero"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        return super().construct_yaml_int(node)


Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_yaml_int)

_TEXT, _NULL = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null"
_WORDS = {_NULL, "tag:yaml.org,2002:bool"}
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")


def _of_groups(node: yaml.MappingNode) -> Iterator[yaml.ScalarNode]:
    """The labels and members of `groups` in a mapping, except null members."""
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value == "groups":
            for level in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                yield from _of_level(level)


def _of_level(level: yaml.Node) -> Iterator[yaml.ScalarNode]:
    for label, members in level.value if isinstance(level, yaml.MappingNode) else ():
        if isinstance(members, yaml.SequenceNode):
            yield from (
                member for member in members.value if isinstance(member, yaml.ScalarNode) and member.tag != _NULL
            )
            if isinstance(label, yaml.ScalarNode):
                yield label
