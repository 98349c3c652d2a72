"""What griffe does not see by reading the package: the options of a verb, and that its examples are code."""

import re
from importlib import import_module
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n(?:.+\n?)*)(?:\n?^>>> .*\n(?:.+\n?)*)*", re.MULTILINE)


class SpelledOut(griffe.Extension):
    """Lists the options of a verb below its text, as `kanon_sql.verbs.options.spelled_out` does when it is imported."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """List what `**options` are."""
        if any("spelled_out" in str(decorator.value) for decorator in func.decorators):
            options = import_module("kanon_sql.verbs.options")
            declared = str(func.parameters["options"].annotation).removeprefix("Unpack[").removesuffix("]")
            descriptions = options.described(getattr(options, declared))
            lines = [f"    {name} ({kind}): {sentence}" for name, (kind, sentence) in descriptions.items()]
            heading = "Keyword Args: Options, which override the spec"
            func.docstring.value += "\n\n" + "\n".join([heading, *lines]) + "\n"

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Make blocks of the examples, which Markdown would take for quotations."""
        if obj.docstring:
            text = re.sub(r" +# doctest:.*", "", f"{obj.docstring.value}\n")
            obj.docstring.value = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text).rstrip()
