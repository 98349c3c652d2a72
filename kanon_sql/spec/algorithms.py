"""The options of individual algorithms, under the algorithm's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import StrictBool, StrictInt, model_serializer

from kanon_sql.spec.choices import SuppressionOrder
from kanon_sql.spec.keys import spec_key
from kanon_sql.spec.types import LocalPath, Model


class _Options(Model):
    """Options that are written down only where they are given."""

    @model_serializer(mode="wrap")
    def _given(self, dump: Any) -> dict[str, Any]:
        return {name: value for name, value in dump(self).items() if name in self.model_fields_set}


class PrioPrivacy(_Options):
    """The options of `prioprivacy`, explained in `docs/priorities.md`."""

    rules: LocalPath | None = spec_key(
        "The folder with the rule files of prioprivacy, <level>_<column>.txt.",
        takes="the path of a folder with <level>_<column>.txt",
    )
    suppression_order: SuppressionOrder = spec_key("The order in which prioprivacy tries to suppress cells.", "plain")
    wildcard_suppression: StrictBool = spec_key(
        "Let prioprivacy suppress single cells, as published. Classes counted by GROUP BY can then be smaller than k.",
        False,
    )


class Budget(_Options):
    """How many nodes one search may evaluate."""

    evaluations: StrictInt | None = spec_key("Maximum number of nodes that this search evaluates.", ge=1)


FLAT = dict.fromkeys(PrioPrivacy.model_fields, "prioprivacy")  # options that can also be outside their algorithm


def nested(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Move options at the top level under their algorithm; ValueError if an option is in both places.

    >>> nested({"rules": "my_rules", "prioprivacy": {"wildcard_suppression": True}})
    {'prioprivacy': {'wildcard_suppression': True, 'rules': 'my_rules'}}
    """
    spec = {key: value for key, value in mapping.items() if key not in FLAT}
    for key, algorithm in FLAT.items():
        block = {} if spec.get(algorithm) is None else spec[algorithm]
        options = block.model_dump() if isinstance(block, Model) else block
        if mapping.get(key) is None or not isinstance(options, Mapping):  # the field reports that it is not a mapping
            continue
        if key in options:
            raise ValueError(f"{key} is given twice, alone and as {algorithm}.{key}; keep one of the two")
        spec[algorithm] = {**options, key: mapping[key]}
    return spec
