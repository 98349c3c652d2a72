"""Mappings as YAML for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError


def as_yaml(mapping: Mapping[str, Any]) -> str:
    """A mapping as YAML, its keys in their order.

    >>> print(as_yaml({"models": [{"name": "patients", "k": 5}]}), end="")
    models:
    - name: patients
      k: 5
    """
    import yaml

    return yaml.safe_dump(mapping, sort_keys=False, allow_unicode=True, width=100)


def in_flow(value: Any) -> str:
    """A value as YAML on one line, to be written after a key.

    >>> in_flow({"ranges": [5, 10], "top": 90}), in_flow("a: b"), in_flow("yes")
    ('{ranges: [5, 10], top: 90}', "'a: b'", "'yes'")
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Keep a text with line breaks in it on its line."""

    def quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')

    Dumper.add_representer(str, quoted)
    text: str = yaml.dump(
        value, Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=True, width=float("inf")
    )
    return text.removesuffix("\n...\n").strip()


def read_mapping(path: Path) -> Mapping[str, Any]:
    """The mapping in a YAML file of another program; empty if the file is missing or not plain YAML."""
    import yaml

    try:
        content = yaml.safe_load(path.read_bytes())
    except (OSError, yaml.YAMLError):
        return {}
    return content if isinstance(content, Mapping) else {}


def read_value(text: str) -> Any:
    """A value from one line of YAML; SpecError for invalid YAML.

    >>> read_value("{ranges: [5, 10]}")
    {'ranges': [5, 10]}
    """
    import yaml

    from kanon_sql.spec.loader import Loader

    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError:
        raise SpecError(f"{text!r} is not a value; write it as in a spec, such as {{ranges: [5, 10]}}") from None
