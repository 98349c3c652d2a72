"""Extensions by users: values under a name, and code that a spec names as `module:name`."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError

ALLOWED = "KANON_MODULES"  # the variable that lists the modules a spec may name, set by the user who runs the program
_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


class Own(str):
    """The name of a user's metric or strategy, with the value; results and files show it like any other name.

    >>> walk = Own("walk", print)
    >>> f"{walk}", walk.value is print
    ('walk', True)
    """

    value: Any

    def __new__(cls, name: str, value: Any) -> Own:
        """A name with its value."""
        own = super().__new__(cls, name)
        own.value = value
        return own

    def __getnewargs__(self) -> tuple[str, Any]:  # type: ignore[override]
        return str(self), self.value


def is_reference(value: object) -> bool:
    """Whether a value names code in a module.

    >>> is_reference("my_rules:bands"), is_reference("ages.csv"), is_reference("postgresql://me@localhost")
    (True, False, False)
    """
    return isinstance(value, str) and _REFERENCE.fullmatch(value) is not None


def imported(reference: str, folders: Iterable[Path]) -> Any:
    """The object that a spec names as `module:name`; SpecError unless the user has allowed the module.

    `folders`: the folders of the spec and the data. Write access to these must not allow to run code, so modules in
    them or in the working directory are refused.
    """
    module, _, name = reference.partition(":")
    if module not in os.environ.get(ALLOWED, "").replace(",", " ").split():
        raise SpecError(
            f"the spec names code, {reference}, which would run with all your rights; if you trust the module, set the "
            f"environment variable {ALLOWED}={module}"
        )
    if module not in sys.modules:
        _refuse_from(module, [*folders, Path.cwd()])
    try:
        found = import_module(module)
    except ImportError as error:
        raise SpecError(
            f"the module of {reference} cannot be imported ({error}); install it, or add its folder to PYTHONPATH"
        ) from error
    if not hasattr(found, name):
        raise SpecError(f"the module {module} has no {name!r}; correct {reference}")
    return getattr(found, name)


def digest(reference: str) -> str:
    """The checksum of an imported module's file, or of its name if it has no file."""
    module = sys.modules[reference.partition(":")[0]]
    file = getattr(module, "__file__", None)
    content = Path(file).read_bytes() if file else reference.encode()
    return hashlib.sha256(content).hexdigest()


def _refuse_from(module: str, folders: Iterable[Path]) -> None:
    """SpecError for a module that would be imported from one of these folders."""
    package = module.partition(".")[0]
    found = PathFinder.find_spec(package)
    places = [*(found.submodule_search_locations or ()), found.origin] if found else []
    homes = {Path(place).resolve().parent for place in places if place}
    for folder in folders:
        if folder.resolve() in homes:
            raise SpecError(
                f"the module {package} is in {folder}, the folder of the data, the spec or this run; move it to a "
                "separate folder, and install it or add that folder to PYTHONPATH"
            )
