"""Variables of a spec file: `${NAME}` in a value, filled on YAML's tree, so that no value can become structure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import yaml

from kanon_sql.errors import SpecError

Lookup: TypeAlias = Callable[[str], str]


_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}", re.ASCII)
_TEXT = "tag:yaml.org,2002:str"
_FIGURES = {f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "bool")}


def lookup(overrides: Mapping[str, str], environment: Mapping[str, str], defaults: Mapping[str, object]) -> Lookup:
    """The value of a variable by its name: from the command, otherwise the environment, otherwise the file's `vars`.

    >>> value = lookup({"K": "5"}, {"K": "7", "DAY": "monday"}, {"DAY": "friday"})
    >>> value("K"), value("DAY")
    ('5', 'monday')
    """

    values = {**defaults, **environment, **overrides}

    def value(name: str) -> str:
        found = values.get(name)
        if found is None:
            raise SpecError(
                f"the variable {name} has no value; use --var {name}=VALUE, set it in the environment, or write a "
                "default under `vars` in the spec"
            )
        return str(found).lower() if isinstance(found, bool) else str(found)

    return value


def filled(tree: yaml.Node, value: Lookup, where: str, plain: Callable[[str], str]) -> None:
    """Fill the variables in every value of a tree; SpecError if a key has one.

    A value of one variable without quotes gets the type that `plain` finds, such as a number; any other is text.
    """
    for scalar, is_key in _scalars(tree, set()):
        if "${" not in scalar.value:
            continue
        if is_key:
            raise SpecError(f"{where}: the key {scalar.value!r} has a variable in it; variables are for values only")
        _, opened, odd = _VARIABLE.sub("", scalar.value).partition("${")
        if opened:
            raise SpecError(f"{where}: ${{{odd} is not a variable; write ${{NAME}}, of letters, digits and _")
        alone = scalar.style is None and _VARIABLE.fullmatch(scalar.value)
        scalar.value = _VARIABLE.sub(lambda found: value(found[1]), scalar.value)
        tag = plain(scalar.value) if alone else _TEXT
        scalar.tag = tag if tag in _FIGURES else _TEXT


def _scalars(node: yaml.Node, seen: set[int], is_key: bool = False) -> Iterator[tuple[yaml.ScalarNode, bool]]:
    """The scalars below a node, without repetitions, and whether each is a key."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        yield node, is_key
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item, seen, is_key)
    elif isinstance(node, yaml.MappingNode):
        for key, item in node.value:
            yield from _scalars(key, seen, True)
            yield from _scalars(item, seen, is_key)
