"""Declarations of options, and the decorator that adds them to a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any

import typer

from kanon_sql.cli.environment import without_weaker

_CONTEXT = "context"


@dataclass(frozen=True)
class Option:
    """An option of the command line.

    `name`: the keyword of the library; the flag is derived from it unless `flag` is set. `choices`: the allowed words.
    `read`: converts the text to the value that the library takes. `default`: with None, an option that is not used
    leaves the spec's value unchanged; ... makes the option required. `limits`: `min` and `max` of a number.
    `variable`: the environment variable that is read if neither the command line nor the spec sets the option.
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
    variable: str | None = None

    @property
    def spelled(self) -> str:
        """The flag as it is typed."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    def parameter(self) -> inspect.Parameter:
        """The option as a parameter of a typer command."""
        info = typer.Option(
            self.spelled, help=self.help, rich_help_panel=self.panel, envvar=self.variable, **self.limits
        )
        return self._parameter(info)

    def value(self, parsed: Any) -> Any:
        """The value for the library, from the one that typer parsed; None if the option was not used."""
        plain = parsed.value if isinstance(parsed, Enum) else parsed
        if self.type is bool:
            return True if plain else None
        if plain == []:  # a repeatable option that was not used
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
    """The words as an enumeration, which every version of typer supports."""
    return Enum("Words", [(word, word) for word in choices], type=str)


@dataclass(frozen=True)
class Argument(Option):
    """A positional argument of the command line."""

    @property
    def spelled(self) -> str:
        """The argument as the usage line shows it."""
        return self.name

    def parameter(self) -> inspect.Parameter:
        """The argument as a parameter of a typer command."""
        return self._parameter(typer.Argument(help=self.help, show_default=False))


def _from_environment(context: typer.Context, options: Sequence[Option]) -> set[str]:
    """The names of the options whose value comes from the environment."""
    names = [option.name for option in options if option.variable]
    sources = {name: context.get_parameter_source(name) for name in names}
    return {name for name, source in sources.items() if source is not None and source.name == "ENVIRONMENT"}


def takes(*options: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare the options of a command, which receives their values as keyword arguments.

    Options without a parameter of the command arrive in its `**overrides`, ready for a verb of the library.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        def command(**parsed: Any) -> None:
            values = {option.name: option.value(parsed[option.name]) for option in options}
            from_environment = _from_environment(parsed[_CONTEXT], options)
            function(**without_weaker(values, from_environment) if from_environment else values)

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = {}
        context = inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        signature = inspect.Signature([context, *(option.parameter() for option in options)])
        command.__signature__ = signature  # type: ignore[attr-defined]
        return command

    return decorate
