"""Make the table of word frequencies that `zaxy.text.word_frequencies` reads, from the data of the package wordfreq.

Run it in an environment of its own, from the root of the tree, when a language is added or the folding of texts
changes:

    python3 -m venv /tmp/wordfreq && /tmp/wordfreq/bin/pip install wordfreq==3.1.1 ./zaxy-core
    /tmp/wordfreq/bin/python .ci/word_frequencies.py
"""

from __future__ import annotations

import gzip
import importlib.util
import itertools
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgpack
from wordfreq import get_frequency_dict

from zaxy.text.tokens import folded

FOLDER = Path(__file__).parents[1] / "zaxy-core/src/zaxy/text/frequencies"
SPACED = "ar ca cs da de el en es fa fi fr hi hu id it lt nb nl pl pt ro ru sh sv ta tr".split()
"""All that both the Snowball stemmer and wordfreq know."""
UNSPACED = "ja ko zh".split()
MIN_ZIPF = 4.6
"""The same for all languages, so that a word which is not listed says as much about one as about another."""
OWN_MIN_ZIPF = {"en": 4.1, "ja": 4.3, "ko": 4.3, "zh": 4.4, "ta": 4.9, "sh in Cyrillic": 5.0}
"""English is asked in the most. Texts without spaces are cut better by more words. Tamil words are long."""
MAX_CHARS = 24

_WORD = re.compile(r"(?:[^\W\d_]|[\u0900-\u0dff\u0e00-\u0eff])+")
_OTHER_SCRIPTS = {"ar": "\u0600-\u06ff", "fa": "\u0600-\u06ff", "el": "\u0370-\u03ff", "ru": "\u0400-\u052f"} | {
    "sh in Cyrillic": "\u0400-\u052f",
    "hi": "\u0900-\u097f",
    "ta": "\u0b80-\u0bff",
    "zh": "\u3400-\u9fff",
    "ja": "\u3040-\u30ff\u3400-\u9fff々",
    "ko": "\uac00-\ud7af",
}
_CYRILLIC = dict(zip("abvgdđežzijklmnoprstćufhcčš", "абвгдђежзијклмнопрстћуфхцчш", strict=True))
_CYRILLIC |= {"lj": "љ", "nj": "њ", "dž": "џ"}
_SERBIAN = re.compile("lj|nj|dž|.")


def main() -> None:
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for language in (*SPACED, *UNSPACED):
        for word, zipf in common_words(language):
            table[word][language] = zipf
    for word, zipf in by_hand():
        table[word]["th"] = zipf
    lines = sorted(f"{word}{values_of(table[word])}\n".encode() for word in table)
    (FOLDER / "words.txt").write_bytes(b"\n" + b"".join(lines))
    sys.stdout.write(f"{len(lines)} words, {sum(map(len, table.values()))} frequencies, {sum(map(len, lines))} bytes\n")


def values_of(zipfs: dict[str, float]) -> str:
    """For each language two capitals, which no folded word has, and two digits: ten times the Zipf frequency."""
    return "".join(f"{language.upper()}{round(10 * zipfs[language])}" for language in sorted(zipfs))


def common_words(language: str) -> Iterator[tuple[str, float]]:
    frequencies = get_frequency_dict(language)
    yield from commonest(frequencies, language)
    if language == "sh":  # wordfreq has it in Latin letters only
        yield from commonest(in_cyrillic(frequencies), "sh in Cyrillic")


def commonest(frequencies: dict[str, float], language: str) -> Iterator[tuple[str, float]]:
    """The words as the index folds and parts them, each with its Zipf frequency: the logarithm per thousand million."""
    counted: Counter[str] = Counter()
    for word, frequency in frequencies.items():
        for part in _WORD.findall(folded(word)):
            if is_in_script(part, language) and not any(map(str.isdigit, part)) and len(part) <= MAX_CHARS:
                counted[part] += frequency
    for word, frequency in counted.items():
        zipf = math.log10(frequency) + 9
        if zipf >= OWN_MIN_ZIPF.get(language, MIN_ZIPF):
            yield from ((form, zipf) for form in (traditional(word) if language == "zh" else [word]))


def is_in_script(word: str, language: str) -> bool:
    letters = _OTHER_SCRIPTS.get(language, "a-z\u00df-\u024f")
    return re.fullmatch(f"[{letters}]+", word) is not None


def in_cyrillic(frequencies: dict[str, float]) -> dict[str, float]:
    forms = {word: "".join(_CYRILLIC.get(part, "?") for part in _SERBIAN.findall(word)) for word in frequencies}
    return {form: frequencies[word] for word, form in forms.items() if "?" not in form}


def traditional(word: str) -> list[str]:
    """A word in simplified characters, and how it may be written in traditional ones."""
    choices = [[character, *_TRADITIONAL.get(character, ())][:3] for character in word]
    return sorted({"".join(form) for form in itertools.product(*choices) if is_one_script(form)} | {word})


def is_one_script(characters: Iterable[str]) -> bool:
    """Whether all characters occur in traditional texts."""
    return all(is_in_big5(character) for character in characters)


def is_in_big5(character: str) -> bool:
    """Whether it is among the five thousand that traditional texts are mostly made of."""
    try:
        return 0xA4 <= character.encode("big5")[0] <= 0xC6
    except UnicodeEncodeError:
        return False


def _traditional_characters() -> dict[str, list[str]]:
    """By simplified character."""
    spec = importlib.util.find_spec("wordfreq")
    assert spec is not None and spec.origin is not None
    packed = Path(spec.origin).with_name("data") / "_chinese_mapping.msgpack.gz"
    simplified: dict[int, str] = msgpack.unpackb(gzip.decompress(packed.read_bytes()), strict_map_key=False)
    found: dict[str, list[str]] = defaultdict(list)
    for code, character in simplified.items():
        if is_in_big5(chr(code)):
            found[character].append(chr(code))
    return found


_TRADITIONAL = _traditional_characters()


def by_hand() -> Iterator[tuple[str, float]]:
    """The Thai words, which wordfreq has none of: those that many sentences have, ordered by how common they are."""
    for line in (FOLDER / "thai.txt").read_text(encoding="utf-8").splitlines():
        zipf, *words = line.split()
        yield from ((folded(word), float(zipf)) for word in words)


if __name__ == "__main__":
    main()
