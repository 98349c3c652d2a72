"""Names of queries, in place of temporary tables that a session may not create: PostgreSQL's standbys, for example."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

_REFERENCE = re.compile(r'"pg_temp"\."((?:[^"]|"")+)"(\s+AS\b)?')
_WITH = re.compile(r"\s*WITH\s+(RECURSIVE\s+)?", re.IGNORECASE)
_USED = re.compile(r'"kanon_named_(\d+)"')


class NamedQueries:
    """Queries by name. A statement that reads them is completed by a CTE for each of them.

    A name can be defined again by a query that reads it. Every statement computes the queries that it reads anew.

    >>> queries = NamedQueries()
    >>> queries.define("kanon_ages", "SELECT age FROM people")
    >>> queries.define("kanon_ages", 'SELECT DISTINCT age FROM "pg_temp"."kanon_ages" AS a')
    >>> print(queries.complete('SELECT COUNT(*) FROM "pg_temp"."kanon_ages"'))
    WITH "kanon_named_1" AS (SELECT age FROM people),
    "kanon_named_2" AS (SELECT DISTINCT age FROM "kanon_named_1" AS a)
    SELECT COUNT(*) FROM "kanon_named_2" AS "kanon_ages"
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._number_of: dict[str, int] = {}
        self._texts: dict[int, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._number_of

    def define(self, name: str, query: str) -> None:
        """Name a query, which can read other named queries."""
        number = next(self._numbers)
        self._texts[number] = self._resolved(query)
        self._number_of[name] = number

    def forget(self, name: str) -> None:
        """Forget a name, if it exists, and the queries that no other one reads."""
        self._number_of.pop(name, None)
        used = self._read_by(self._number_of.values())
        self._texts = {number: text for number, text in self._texts.items() if number in used}

    def complete(self, statement: str) -> str:
        """A statement that begins with the named queries that it reads."""
        resolved = self._resolved(statement)
        if resolved == statement:
            return statement
        used = sorted(self._read_by(self._numbers_in(resolved)))
        named = ",\n".join(f'"kanon_named_{number}" AS ({self._texts[number]})' for number in used)
        found = _WITH.match(resolved)
        if found is None:
            return f"WITH {named}\n{resolved}"
        return f"WITH {found[1] or ''}{named},\n{resolved[found.end() :]}"

    def _resolved(self, text: str) -> str:
        """A text with the present meaning of every name in it."""

        def meaning(found: re.Match[str]) -> str:
            number = self._number_of.get(found[1].replace('""', '"'))
            if number is None:
                return found[0]
            alias = found[2] or f' AS "{found[1]}"'
            return f'"kanon_named_{number}"{alias}'

        return _REFERENCE.sub(meaning, text)

    def _numbers_in(self, text: str) -> set[int]:
        return {int(number) for number in _USED.findall(text)} & self._texts.keys()

    def _read_by(self, numbers: Iterable[int]) -> set[int]:
        """These numbers, and the numbers of all queries that they read."""
        found, waiting = set[int](), [*numbers]
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += self._numbers_in(self._texts[number])
        return found
