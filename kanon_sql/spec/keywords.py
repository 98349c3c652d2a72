"""The options of the verbs in Python and on the command line, with the keys of a spec that they set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic.fields import FieldInfo

from kanon_sql.spec.algorithms import PrioPrivacy
from kanon_sql.spec.cloaking import CloakSpec
from kanon_sql.spec.fields import Spec, Target
from kanon_sql.spec.keys import LOCAL, declared, spec_key
from kanon_sql.spec.privacy import Privacy
from kanon_sql.spec.types import Model

_BLOCKS: Mapping[str, type[Model]] = {"privacy": Privacy, "target": Target, "prioprivacy": PrioPrivacy}
_PRIORITIES: FieldInfo = spec_key(
    "How important it is that columns stay exact.",
    takes="a mapping of columns to whole numbers, 1 for the most important",
    group=LOCAL,
)


@dataclass(frozen=True)
class Keyword:
    """One option: its name in Python, the key that it sets, and the block of the spec that contains the key, if any."""

    name: str
    key: str
    block: str
    field: FieldInfo
    group: str


def _keywords() -> Iterator[Keyword]:
    """Every key of a spec, and the keys of blocks that are options too, in the order of the declarations."""
    group = ""
    places = {name: field for name, field in CloakSpec.model_fields.items() if name not in Spec.model_fields}
    for name, field in {**Spec.model_fields, **places}.items():
        group = declared(field).group or group
        yield Keyword(name, name, "", field, group)
        if name in _BLOCKS:
            for inner, part in _BLOCKS[name].model_fields.items():
                if inner not in Spec.model_fields:
                    key = part.serialization_alias or inner
                    yield Keyword(declared(part).keyword or inner, key, name, part, group)
    yield Keyword("priorities", "priority", "quasi_identifiers", _PRIORITIES, LOCAL)


KEYWORDS: Mapping[str, Keyword] = {keyword.name: keyword for keyword in _keywords()}


def of_block(block: str) -> dict[str, str]:
    """The options that set keys of a block, with these keys.

    >>> of_block("target")["into"], of_block("prioprivacy")["rules"]
    ('table', 'rules')
    """
    return {keyword.name: keyword.key for keyword in KEYWORDS.values() if keyword.block == block}
