"""Mappings as YAML for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_yaml(mapping: Mapping[str, Any]) -> str:
    """A mapping as YAML, its keys in their order.

    >>> print(as_yaml({"models": [{"name": "patients", "k": 5}]}), end="")
    models:
    - name: patients
      k: 5
    """
    import yaml

    return yaml.safe_dump(mapping, sort_keys=False, allow_unicode=True, width=100)
