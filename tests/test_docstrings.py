"""The examples in docstrings, of every module."""

import doctest
import importlib
import linecache
import pkgutil

import pytest

import kanon_sql

MODULES = sorted(module.name for module in pkgutil.walk_packages(kanon_sql.__path__, "kanon_sql."))


@pytest.mark.parametrize("name", ["kanon_sql", *(name for name in MODULES if not name.endswith("__main__"))])
def test_the_examples_of_a_module_are_correct(name: str) -> None:
    linecache.clearcache()  # doctest checks all files in it for changes, again for every docstring
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    tests = [test for name in MODULES if "__main__" not in name for test in finder.find(importlib.import_module(name))]
    assert sum(bool(test.examples) for test in tests) >= 70
