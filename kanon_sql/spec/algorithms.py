"""The options of single algorithms, each under its algorithm's name."""

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
    """What `prioprivacy` alone is told; `docs/priorities.md` says what each option does."""

    rules: LocalPath | None = spec_key(
        "The folder of the rule files of prioprivacy, <level>_<column>.txt. "
        "Give the path of a folder with <level>_<column>.txt."
    )
    suppression_order: SuppressionOrder = spec_key("The order in which prioprivacy tries to suppress cells.", "plain")
    wildcard_suppression: StrictBool = spec_key(
        "Let prioprivacy suppress single cells, as published. The release is not k-anonymous to GROUP BY.", False
    )


class Budget(_Options):
    """How many nodes one search may look at."""

    evaluations: StrictInt | None = spec_key("How many nodes this search may look at.", ge=1)


FLAT = dict.fromkeys(PrioPrivacy.model_fields, "prioprivacy")  # options that may stand outside their algorithm too


def nested(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Put each option that stands alone under its algorithm; ValueError if it is there already.

    >>> nested({"rules": "my_rules", "prioprivacy": {"wildcard_suppression": True}})
    {'prioprivacy': {'wildcard_suppression': True, 'rules': 'my_rules'}}
    """
    spec = {key: value for key, value in mapping.items() if key not in FLAT}
    for key, algorithm in FLAT.items():
        under = _options_of(spec.get(algorithm))
        if mapping.get(key) is not None and under is not None:
            if key in under:
                raise ValueError(f"{key} is given twice, alone and as {algorithm}.{key}; keep one of the two")
            spec[algorithm] = {**under, key: mapping[key]}
    return spec


def _options_of(block: Any) -> dict[str, Any] | None:
    """What is given under an algorithm's name; None if that is no mapping, which its own field refuses."""
    given = block.model_dump() if isinstance(block, Model) else {} if block is None else block
    return dict(given) if isinstance(given, Mapping) else None
