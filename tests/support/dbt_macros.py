"""The SQL of the dbt package's tests as dbt renders it, without dbt: stand-ins replace dbt's own functions."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from kanon_sql.engine import Engine

PACKAGE = Path(__file__).resolve().parents[2] / "dbt"


class _ReturnedError(Exception):
    """What a macro gives back: dbt's `return` ends it so."""


class CompilerError(Exception):
    """What dbt says of a package that is asked for what it cannot do."""


class Package:
    """The macros and tests of `dbt/`, rendered for an engine."""

    def __init__(self, engine: Engine, execute: bool = True) -> None:
        self._engine = engine
        files = sorted([*PACKAGE.glob("macros/*.sql"), *PACKAGE.glob("tests/generic/*.sql")])
        text = "\n".join(file.read_text(encoding="utf-8") for file in files)
        text = re.sub(r"{% test (\w+)\(", r"{% macro test_\1(", text).replace("{% endtest %}", "{% endmacro %}")
        environment = jinja2.Environment(extensions=["jinja2.ext.do"], undefined=jinja2.StrictUndefined)
        environment.globals |= {
            "kanon": self,
            "adapter": self,
            "exceptions": self,
            "dbt": self,
            "execute": execute,
            "return": _give_back,
            "get_columns_in_query": self._columns,
        }
        self._module = environment.from_string(text).module

    def sql(self, test: str, model: str, **arguments: Any) -> str:
        """The query of a test of a model, as SQL names that."""
        return str(getattr(self, f"test_{test}")(model, **arguments))

    def offenders(self, test: str, model: str, **arguments: Any) -> list[tuple[Any, ...]]:
        """What a test finds."""
        return self._engine.rows(self.sql(test, model, **arguments))

    def __getattr__(self, name: str) -> Any:
        macro = getattr(self._module, name)

        def called(*given: Any, **named: Any) -> Any:
            try:
                return macro(*given, **named)
            except _ReturnedError as back:
                return back.args[0]

        return called

    def dispatch(self, name: str, _: str) -> Any:
        own = f"{self._engine.dialect}__{name}"
        return getattr(self, own if hasattr(self._module, own) else f"default__{name}")

    def quote(self, name: str) -> str:
        return f'"{name}"'

    def type_string(self) -> str:
        return "text"

    def escape_single_quotes(self, text: str) -> str:
        return text.replace("'", "''")

    def raise_compiler_error(self, message: str) -> None:
        raise CompilerError(message)

    def _columns(self, query: str) -> Sequence[str]:
        name = f"dbt_columns_{abs(hash(query))}"
        self._engine.run(f"CREATE TEMPORARY TABLE {name} AS SELECT * FROM ({query}) AS q LIMIT 0")
        found = self._engine.find(name)
        assert found is not None
        self._engine.run(f"DROP TABLE {name}")
        return [column.name for column in found.columns]


def _give_back(value: Any) -> None:
    raise _ReturnedError(value)
