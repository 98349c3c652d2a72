"""How an option is declared, and how a command takes options by naming them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any

import typer


@dataclass(frozen=True)
class Option:
    """One option of the command line: its name in a spec or verb, what it takes, and what its help says.

    `name`: the keyword that the library takes; the flag is made of it unless one is given. `choices`: the words that
    it may be. `read`: from its text to what the library takes. `default`: None is not passed on as a word of the
    user's, so that a spec's word stands; ... where it has to be given. `limits`: least and most of a number.
    """

    name: str
    help: str
    panel: str | None = None
    type: Any = str
    flag: str = ""
    choices: tuple[str, ...] = ()
    read: Callable[[Any], Any] | None = None
    default: Any = None
    limits: dict[str, Any] = field(default_factory=dict)

    @property
    def spelled(self) -> str:
        """The flag as it is typed."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    def parameter(self) -> inspect.Parameter:
        """The option as a parameter of a typer command."""
        info = typer.Option(self.spelled, help=self.help, rich_help_panel=self.panel, **self.limits)
        return self._parameter(info)

    def value(self, given: Any) -> Any:
        """What the library is told: nothing of a switch that was not given."""
        plain = given.value if isinstance(given, Enum) else given
        if self.type is bool:
            return True if plain else None
        if plain == []:  # of an option that may be given several times
            return None
        return self.read(plain) if self.read and plain is not None else plain

    def _parameter(self, info: Any) -> inspect.Parameter:
        plain: Any = _words(self.choices) if self.choices else self.type
        default = False if self.type is bool else self.default
        if default is ...:
            default, annotation = inspect.Parameter.empty, Annotated[plain, info]
        else:
            annotation = Annotated[plain | None if default is None else plain, info]
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _words(choices: tuple[str, ...]) -> Any:
    """An enumeration of words, which typer reads in every version."""
    return Enum("Words", [(word, word) for word in choices], type=str)


@dataclass(frozen=True)
class Argument(Option):
    """A word of the command line that stands without a flag."""

    @property
    def spelled(self) -> str:
        """The argument as the usage line shows it."""
        return self.name

    def parameter(self) -> inspect.Parameter:
        """The argument as a parameter of a typer command."""
        return self._parameter(typer.Argument(help=self.help, show_default=False))


def takes(*options: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that it takes; it gets the value of each by the option's name.

    What a command has no parameter of its own for arrives in its `**overrides`, ready for a verb of the library.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            function(**{option.name: option.value(given[option.name]) for option in options})

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = {}
        signature = inspect.Signature([option.parameter() for option in options])
        command.__signature__ = signature  # type: ignore[attr-defined]
        return command

    return decorate
