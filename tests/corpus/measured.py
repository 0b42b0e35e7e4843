"""How many secrets are found, and how often something else is taken for one: `python -m corpus.measured` in `tests`."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpus.secrets import HEX, PRIVATE_KEYS, PROVIDERS, aws_secret, chars, joined, positives, slack_path, strong
from zaxy.security.redaction import redact_text

CORPUS = Path(__file__).parent
CUT = "\n---8<---\n"
MADE = {
    **{kind: makes[0] for kind, makes in PROVIDERS.items()},
    "aws_secret": aws_secret,
    "azure": joined(chars(HEX, 86), "=="),
    "hex32": chars(HEX, 32),
    "hex40": chars(HEX, 40),
    "password": strong,
    "pem": PRIVATE_KEYS[0],
    "private_key": PRIVATE_KEYS[7],
    "slack_path": slack_path,
    "sonar": joined("sq", "u_", chars(HEX, 40)),
}
"""What `«@name»` stands for in a text: no provider's key may stand in a file in one piece."""


class Measured(NamedTuple):
    corpus: str
    cases: int
    found: int

    def __str__(self) -> str:
        return f"{self.corpus:42} {self.cases:7} {self.found:7} {self.found / self.cases:9.2%}"


class Marked(NamedTuple):
    """A text with secrets: what stands around them, one piece more than there are secrets, and they."""

    around: list[str]
    secrets: list[str]

    @property
    def text(self) -> str:
        return "".join(a + b for a, b in zip(self.around, [*self.secrets, ""], strict=True))

    def found(self) -> int:
        """How many secrets are gone. If anything around them is gone or changed, none counts."""
        text, _ = redact_text(self.text)
        gaps = [rf"(?:(\[redacted:\w+\])|{re.escape(secret)})" for secret in self.secrets]
        pattern = "".join(re.escape(a) + b for a, b in zip(self.around, [*gaps, ""], strict=True))
        kept = re.fullmatch(pattern, text)
        return sum(gap is not None for gap in kept.groups()) if kept else 0


def marked_texts(file: str, cut: str) -> Iterator[Marked]:
    """The texts of a file in which each secret is marked `«like this»`: the same ones on every run."""
    rng = random.Random(f"zaxy {file}")
    for text in (CORPUS / file).read_text(encoding="utf-8").rstrip("\n").split(cut):
        pieces = re.split("«(.*?)»", text)
        yield Marked(pieces[::2], [MADE[s[1:]](rng) if s.startswith("@") else s for s in pieces[1::2]])


def made_up(half: str) -> list[Marked]:
    return [Marked([case.before, case.after], [case.secret]) for case in positives(half)]


WITH_SECRETS = {
    "made-up secrets, tuning half": made_up("tuning"),
    "made-up secrets, report half": made_up("report"),
    "freely written sentences": list(marked_texts("freely_written.txt", "\n")),
    "excerpts of sessions": list(marked_texts("excerpts_with_secrets.txt", CUT)),
    "sentences in other languages, tuning half": list(marked_texts("languages_with_secrets.txt", "\n")),
    "sentences in other languages, report half": list(marked_texts("languages_for_report.txt", "\n")),
    "code and commands, tuning half": list(marked_texts("code_with_secrets.txt", "\n")),
    "code and commands, report half": list(marked_texts("code_for_report.txt", "\n")),
}


def recall() -> list[Measured]:
    return [
        Measured(name, sum(len(text.secrets) for text in texts), sum(text.found() for text in texts))
        for name, texts in WITH_SECRETS.items()
    ]


def recall_by_kind(half: str) -> list[Measured]:
    cases, found = Counter[str](), Counter[str]()
    for case in positives(half):
        cases[case.kind] += 1
        found[case.kind] += Marked([case.before, case.after], [case.secret]).found()
    return [Measured(kind, cases[kind], found[kind]) for kind in cases]


def texts_without_secrets(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    return text.split(CUT) if CUT in text else text.splitlines()


def false_alarms() -> tuple[list[Measured], list[str]]:
    """For each file, and the texts in which something was taken for a secret."""
    rows, wrong = [], list[str]()
    for file in sorted((CORPUS / "negatives").glob("*.txt")):
        texts = texts_without_secrets(file)
        alarms = [text for text in texts if redact_text(text) != (text, [])]
        rows.append(Measured(file.name, len(texts), len(alarms)))
        wrong += alarms
    return rows, wrong


def total(name: str, rows: list[Measured]) -> Measured:
    return Measured(name, sum(row.cases for row in rows), sum(row.found for row in rows))


def table() -> str:
    found, (alarms, _) = recall(), false_alarms()
    return "\n".join(
        [
            f"{'with secrets':42} {'cases':>7} {'found':>7} {'recall':>9}",
            *map(str, [*found, total("all", found)]),
            "",
            f"{'without secrets':42} {'texts':>7} {'alarms':>7} {'rate':>9}",
            *map(str, [*alarms, total("all", alarms)]),
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
    for marked in (marked for texts in WITH_SECRETS.values() for marked in texts):
        if marked.found() < len(marked.secrets):
            sys.stdout.write(f"not found: {marked.text[:200]!r}\n")
    for text in false_alarms()[1]:
        sys.stdout.write(f"false alarm: {text[:200]!r}\n")
