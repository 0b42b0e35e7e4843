"""The page on the Python API has every public method with its exact signature, and its program prints what it shows."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import zaxy
from page_examples import python_examples
from zaxy import Memory

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
PUBLIC = [name for name in dir(Memory) if not name.startswith("_") and not inspect.isclass(getattr(Memory, name))]
METHODS = [name for name in PUBLIC if name not in ("session", "is_foreign")]
DESCRIBED_APART = {
    *("Memory", "AsyncMemory", "ModelTools", "AsyncModelTools", "Draft", "Result", "__version__"),
}


def signature(name: str) -> str:
    method = inspect.signature(getattr(Memory, name))
    parts: list[str] = []
    for one in method.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        stars = "**" if one.kind is one.VAR_KEYWORD else ""
        default = "" if one.default is one.empty else f" = {one.default!r}"
        parts.append(f"{stars}{one.name}: {one.annotation}{default}".replace("'", '"'))
    own = ", ".join(part for part in parts if not part.startswith("self:"))
    return f"Memory.{name}({own}) -> {method.return_annotation}"


def test_the_page_has_a_section_for_every_public_name_and_for_nothing_else() -> None:
    assert sorted(re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)) == sorted(PUBLIC)


@pytest.mark.parametrize("name", METHODS)
def test_a_methods_section_shows_its_exact_signature(name: str) -> None:
    section = re.search(rf"^### {name}\n\n```\n(.*?)```\n\n\S", PAGE, re.MULTILINE | re.DOTALL)
    assert section
    shown = re.sub(r"\s+", " ", section[1]).strip().replace("( ", "(").replace(" )", ")")
    assert shown == signature(name)


def test_the_fields_of_what_comes_back_are_named() -> None:
    after = PAGE[PAGE.index("## What comes back") :]
    shown = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", after, re.MULTILINE))
    for name, has in shown.items():
        kind = getattr(zaxy, name)
        fields = getattr(kind, "_fields", None) or getattr(kind, "__dataclass_fields__", ())
        properties = [member for member, value in vars(kind).items() if isinstance(value, property)]
        methods = ["as_dict()"] if hasattr(kind, "as_dict") else []
        assert re.findall(r"`([^`]+)`", has) == [*fields, *properties, *methods]
    errors = {
        name for name in dir(zaxy) if inspect.isclass(kind := getattr(zaxy, name)) and issubclass(kind, Exception)
    }
    assert set(shown) | errors | DESCRIBED_APART == set(dir(zaxy))


def test_the_program_of_the_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    examples = python_examples(PAGE)
    program = "".join(code for code, _ in examples)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("".join(shown for _, shown in examples), "")
