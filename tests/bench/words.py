"""What words say in their languages: the size of the table, its cost, and how often languages and names are right.

Times are CPU times: the best of some rounds in this process, and of new processes for what is done once.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))
from questions_by_language import NAMES, NAMES_WRITTEN_LATER, QUESTIONS, WORDS_CUT_BY_HAND, listed, seen, unseen
from zaxy.text.tokens import folded
from zaxy.text.word_frequencies import TABLE
from zaxy.text.word_weights import language_of, weighed_words

ROUNDS = 7
EVERYDAY = "de fr es it pt nl sv da pl ru tr cs".split()
ONCE = """
import time, zaxy.memory
start = time.process_time()
import zaxy.text.word_weights
imported = time.process_time()
zaxy.text.word_weights.language_of("Which port?")
print(1000 * (imported - start), 1000 * (time.process_time() - imported))
"""


def main() -> None:
    _print("size of the table", f"{TABLE.stat().st_size / 1000:.0f} KB")
    with TemporaryDirectory() as bytecode:
        once = [[float(part) for part in _output(ONCE, bytecode).split()] for _ in range(ROUNDS)]
    _print("importing the modules", f"{min(row[0] for row in once):.1f} ms")
    _print("loading the table, and a first question", f"{min(row[1] for row in once):.1f} ms")
    everything = [text for texts in QUESTIONS.values() for text in listed(texts)]
    _print("the words of a question", f"{_milliseconds(everything):.2f} ms")
    for title, choice in (("looked at", seen), ("not looked at", unseen)):
        _print(f"language, of questions {title}", _share(list(_guesses(QUESTIONS, choice))))
        everyday = {language: QUESTIONS[language] for language in EVERYDAY}
        _print(f"  in {len(EVERYDAY)} languages of Europe", _share(list(_guesses(everyday, choice))))
        _print(f"names, of texts {title}", _names(NAMES, choice))
    _print("names, of texts written later", _names(NAMES_WRITTEN_LATER, listed))
    for language, texts in WORDS_CUT_BY_HAND.items():
        _print(f"borders of words, {language}", _borders(listed(texts)))


def _print(what: str, value: str) -> None:
    sys.stdout.write(f"{what:42} {value}\n")


def _output(source: str, bytecode: str) -> str:
    """What a new process prints, with bytecode cached as it is after an ordinary installation."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", source]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def _milliseconds(texts: list[str]) -> float:
    """Of one text, the best of some rounds through all."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for text in texts:
            weighed_words(text)
        times.append(time.process_time() - start)
    return 1000 * min(times) / len(texts)


def _guesses(questions: Mapping[str, str], choice: Callable[[str], list[str]]) -> Iterator[bool]:
    for language, texts in questions.items():
        yield from (language_of(text) == language for text in choice(texts))


def _share(right: list[bool]) -> str:
    return f"{sum(right)} of {len(right)}, {sum(right) / len(right):.0%}"


def _names(texts: Mapping[str, str], choice: Callable[[str], list[str]]) -> str:
    found = wanted = wrong = 0
    for text in [text for of_language in texts.values() for text in choice(of_language)]:
        expected = re.findall(r"\[(.*?)\]", text)
        names = [word.text for word in weighed_words(re.sub(r"[\[\]]", "", text)) if word.is_name]
        found += len(set(names) & set(expected))
        wrong += len(set(names) - set(expected))
        wanted += len(expected)
    return f"{found} of {wanted} found, {wrong} wrong"


def _borders(texts: list[str]) -> str:
    """How many of the places where a person cuts are found, and how many others."""
    found = wanted = wrong = 0
    for text in texts:
        expected = _ends([folded(word) for word in text.split()])
        ends = _ends([word.text for word in weighed_words(text.replace(" ", ""))])
        found += len(ends & expected)
        wrong += len(ends - expected)
        wanted += len(expected)
    return f"{found} of {wanted} found, {wrong} wrong"


def _ends(words: list[str]) -> set[int]:
    """Where words end, but for the last one."""
    return set(accumulate(map(len, words[:-1])))


if __name__ == "__main__":
    main()
