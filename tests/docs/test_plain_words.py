"""The pages use plain words: what docstrings and comments may not say, prose may not say either."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from test_words import EVERYWHERE, PHRASES

TREE = Path(__file__).parents[2]
PLACES = ("*.md", "docs/**/*.md", "zaxy-core/*.md", "plugins/*/*.md", ".github/**/*.md")
PAGES = sorted(page for place in PLACES for page in TREE.glob(place))
BETTER = {**EVERYWHERE, **PHRASES}
WORDS = {words: re.compile(r"\b" + words.replace(" ", r"\s+") + r"\b", re.IGNORECASE) for words in BETTER}
CODE = re.compile(r"^ *```.*?^ *```$|`[^`]*`|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
"""Fenced blocks, code marks and the targets of links are not prose."""


def shown(page: Path) -> str:
    return str(page.relative_to(TREE))


def line_of(found: re.Match[str]) -> int:
    return found.string[: found.start()].count("\n") + 1


def stumbles(text: str) -> list[str]:
    prose = CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    return [
        f"line {line_of(found)}: instead of {found[0]!r} say {BETTER[words]}"
        for words, pattern in WORDS.items()
        for found in pattern.finditer(prose)
    ]


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_a_page_uses_plain_words(page: Path) -> None:
    assert stumbles(page.read_text(encoding="utf-8")) == []


def test_a_word_is_found_in_prose_with_its_line_and_not_in_code() -> None:
    text = "# Title\n\nBuild it `anew`, see [a page](told.md):\n\n```\nanew\n```\n\nThere are so\nmany. Mend it.\n"
    assert stumbles(text) == [
        f"line 10: instead of 'Mend' say {BETTER['mend']}",
        f"line 9: instead of 'so\\nmany' say {BETTER['so many']}",
    ]
