"""The names that `zaxy` offers: those that a user of `Memory` needs, loaded when they are asked for."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import zaxy
from zaxy import Memory, ZaxyError, errors

SOURCE = Path(zaxy.__file__).read_text(encoding="utf-8")
METHODS = [name for name in vars(Memory) if not name.startswith("_") and name not in ("session",)]
OF_BUNDLES = {"Selector", "Signer", "Written", "Imported", "Progress", "BinaryIO", "ExportSink"}
"""Named by their own packages: zaxy_export, and zaxy.api for who writes sinks."""
PLAIN = {"Any", "Iterable", "Iterator", "JsonObject", "Literal", "Mapping", "None", "Path", "Sequence", "Unpack"}
DETAILS = {"FeedbackDetails", "SkillDetails"}
"""Given as keywords, so nobody has to name them."""


def test_the_public_names_are_those_that_type_checkers_see() -> None:
    declared = [
        alias.asname or alias.name
        for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("zaxy.")
        for alias in node.names
    ]
    renamed = re.findall(r"^    (\w+) = _\w+$", SOURCE, re.MULTILINE)
    named = [name for name in declared if not name.startswith("_")]
    assert sorted([*named, *renamed, "__version__"]) == dir(zaxy)


@pytest.mark.parametrize("name", dir(zaxy))
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(zaxy, name)


def test_a_name_that_is_not_public_is_not_there() -> None:
    with pytest.raises(AttributeError, match="zaxy has no 'Recall'"):
        _ = zaxy.Recall


def test_every_kind_of_error_is_public_and_is_a_zaxy_error() -> None:
    kinds = {name for name, kind in vars(errors).items() if inspect.isclass(kind) and not name.startswith("_")}
    assert kinds - {"ZaxyError"} <= set(dir(zaxy))
    assert all(issubclass(getattr(zaxy, name), ZaxyError) for name in kinds)


@pytest.mark.parametrize("name", METHODS)
def test_all_that_a_method_takes_and_returns_has_a_public_name(name: str) -> None:
    signature = inspect.signature(getattr(Memory, name))
    annotations = [parameter.annotation for parameter in signature.parameters.values() if parameter.name != "self"]
    words = set(re.findall(r"\b[A-Z]\w+", " ".join(map(str, [*annotations, signature.return_annotation]))))
    assert words - PLAIN - OF_BUNDLES - DETAILS <= set(dir(zaxy))


@pytest.mark.parametrize("name", ["__init__", *METHODS])
def test_parameters_after_the_second_are_passed_by_name(name: str) -> None:
    parameters = inspect.signature(getattr(Memory, name)).parameters.values()
    given_by_place = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD and one.name != "self"]
    assert len(given_by_place) <= 2


def test_importing_zaxy_loads_no_other_module_of_it() -> None:
    program = "import sys, zaxy; print(sorted(name for name in sys.modules if name.startswith('zaxy.')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
