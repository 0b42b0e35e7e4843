"""The estimate of tokens does not undercount by more than a tenth on English, code and Chinese.

What it is held against: counts that the maker of the tokenizer cl100k has published; and for longer texts, how that
tokenizer splits before it looks anything up. Each piece is one token or more, so the number of pieces is a count that
it never falls below; and an English token has about four letters, one of code about three and a half, one Chinese
character about one and a tenth tokens.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zaxy.token_count import count_tokens

ROOT = Path(__file__).parents[1]
PIECES = re.compile(
    r"'(?:[sdmt]|ll|ve|re)|[^\r\n\w]?[^\W\d_]+|\d{1,3}| ?[^\s\w]+[\r\n]*| ?_+|\s*[\r\n]+|\s+(?!\S)|\s+", re.IGNORECASE
)
PUBLISHED = {
    "tiktoken is great!": 6,
    "antidisestablishmentarianism": 6,
    "2 + 2 = 4": 7,
    "お誕生日おめでとう": 9,
    "Hello, world!": 4,
}
CHINESE = (
    "我们昨天在会议上决定,把数据库从原来的服务器迁移到新的集群。迁移之前需要先备份全部数据,并且通知所有的用户。"
    "如果测试没有通过,就要在当天晚上恢复到旧的版本,第二天再重新安排时间。负责人是王小明,联系电话写在文档的最后一页。"
)


def test_published_counts_are_not_undercut() -> None:
    """By more than one token in a phrase of a few words, by more than a tenth in all of them together."""
    assert all(count_tokens(text) >= published - 1 for text, published in PUBLISHED.items())
    assert sum(map(count_tokens, PUBLISHED)) >= 0.9 * sum(PUBLISHED.values())


ENGLISH = ("README.md", "docs/eventloom.md", "CHANGELOG.md")
CODE = (
    "zaxy-core/src/zaxy/workspace.py",
    "zaxy-core/src/zaxy/eventloom/canonical.py",
    "hatch.toml",
    "tests/conftest.py",
)


@pytest.mark.parametrize(("name", "letters"), [*((n, 4.0) for n in ENGLISH), *((n, 3.5) for n in CODE)])
def test_english_and_code_are_not_undercut_by_more_than_a_tenth(name: str, letters: float) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    reference = max(len(PIECES.findall(text)), len(text) / letters)
    assert 0.9 * reference <= count_tokens(text) <= 2 * reference


def test_chinese_is_not_undercut_by_more_than_a_tenth() -> None:
    reference = 1.1 * len(CHINESE)
    assert 0.9 * reference <= count_tokens(CHINESE) <= 2 * reference


@pytest.mark.parametrize("text", ["\U0001f680" * 20, "\x00\x01", "\ud800", "a" * 100_000, " " * 1000, "\n" * 1000])
def test_any_text_has_a_count(text: str) -> None:
    assert count_tokens(text) >= 1


def test_no_text_is_no_token() -> None:
    assert count_tokens("") == 0
