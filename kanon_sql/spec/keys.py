"""How a key of a spec is declared: once, on the field of its model, for errors, help texts, the schema and the docs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import Field
from pydantic.fields import FieldInfo

DATA, FILES, MACHINE = "Data", "Files", "Machine"
PRIVACY, SEARCH, LOCAL = "Privacy", "Search", "Local recoding"
PLACES = "Places and times"
KEEPING, TARGET = "Keeping a release on new data", "Target"
DECISION = "Recipient and reasons"
GROUPS = (
    DATA,
    FILES,
    PLACES,
    PRIVACY,
    SEARCH,
    LOCAL,
    KEEPING,
    TARGET,
    DECISION,
    MACHINE,
)  # in the order of help texts and reference
_NUMBERS = {int: "a whole number", float: "a number", Decimal: "a number"}


def spec_key(
    text: str, default: Any = None, *, takes: str = "", group: str = "", keyword: str = "", **limits: Any
) -> Any:
    """The field of a key; the default `...` means that the key is required.

    `text`: the meaning of the key. `takes`: its values, if its type does not imply them; help texts and errors write
    "give" before it. `group`: the heading in help texts and the reference for this key and the keys below it.
    `keyword`: the name of the option, if it differs from the key. `limits` are passed to pydantic's Field.
    """
    declared = Declared(takes, group, keyword)
    if "default_factory" not in limits:
        limits["default"] = default
    return Field(description=text, json_schema_extra=declared, **limits)


@dataclass(frozen=True)
class Declared:
    """What `spec_key` declares in addition to pydantic's Field; it adds nothing to the JSON Schema by itself."""

    takes: str
    group: str
    keyword: str

    def __call__(self, schema: dict[str, Any]) -> None:
        pass


def declared(field: FieldInfo) -> Declared:
    """The declaration of a field by `spec_key`."""
    assert isinstance(field.json_schema_extra, Declared)
    return field.json_schema_extra


@dataclass(frozen=True)
class FieldType:
    """The type of a field without None: `words` of a Literal, and the metadata of pydantic, such as limits."""

    type: Any
    words: tuple[str, ...]
    metadata: tuple[Any, ...]

    @property
    def limits(self) -> dict[str, Any]:
        """The limits of a number, such as {'ge': 1}."""
        names = ("ge", "gt", "le", "lt")
        return {name: getattr(bound, name) for bound in self.metadata for name in names if hasattr(bound, name)}


def kind_of(field: FieldInfo) -> FieldType:
    """The type of a field, unwrapped from Optional and Annotated."""
    annotation = field.annotation
    metadata = list(field.metadata)
    while True:
        options = [option for option in get_args(annotation) if option is not NoneType]
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            for item in more:
                metadata += item.metadata if isinstance(item, FieldInfo) else [item]
        elif NoneType in get_args(annotation) and len(options) == 1:
            annotation = options[0]
        else:
            words = tuple(options) if get_origin(annotation) is Literal else ()
            return FieldType(get_origin(annotation) or annotation, words, tuple(metadata))


def takes(field: FieldInfo) -> str:
    """The values of a field, as declared or derived from its type.

    >>> from kanon_sql.spec.fields import Noise
    >>> takes(Noise.model_fields["distribution"]), takes(Noise.model_fields["scale"])
    ('one of normal, laplace, uniform', 'a number above 0')
    """
    kind = kind_of(field)
    if declared(field).takes:
        return declared(field).takes
    if kind.words:
        return " or ".join(kind.words) if len(kind.words) < 3 else f"one of {', '.join(kind.words)}"
    if kind.type is bool:
        return "true or false"
    return _NUMBERS[kind.type] + _bounds(**kind.limits)


def described(field: FieldInfo) -> str:
    """The meaning of a key, its values and its default.

    >>> from kanon_sql.spec.fields import Swap
    >>> described(Swap.model_fields["within"])
    'Maximum distance between the ranks of exchanged values. Give a fraction of the ranks above 0, at most 1.'
    """
    default = plain_default(field)
    return f"{field.description} Give {takes(field)}." + (f" Default: {default}." if default else "")


def plain_default(field: FieldInfo) -> str:
    """The default of a field as text; empty without a default or if it follows from a rule."""
    default = [*field.default] if isinstance(field.default, tuple) else field.default
    if isinstance(default, bool):
        return str(default).lower()
    plain = default != [] and isinstance(default, str | int | float | Decimal | list)
    return str(default) if plain else ""


def _bounds(ge: Any = None, gt: Any = None, le: Any = None, lt: Any = None) -> str:
    """The limits of a number in words."""
    if ge is not None and le is not None:
        return f" from {ge} to {le}"
    least = "" if ge is None else f" of at least {ge}"
    least += "" if gt is None else f" above {gt}"
    most = "" if le is None else f", at most {le}"
    most += "" if lt is None else f", below {lt}"
    return least + (most if least else most.removeprefix(","))
