"""Every sample of a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import kvstore

MODULES = ["kvstore"] + [
    module.name for module in pkgutil.walk_packages(kvstore.__path__, "kvstore.")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_samples_of_a_module_run(name: str, tmp_path: Path) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs={"directory": tmp_path}).failed == 0


def test_there_are_samples() -> None:
    finder = doctest.DocTestFinder()
    assert sum(len(test.examples) for test in finder.find(kvstore)) >= 2
