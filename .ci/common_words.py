"""Make the table of common words of the package zaxy-vectors, from the core's table of word frequencies.

Run it from the root of the tree when that table has changed: python3 .ci/common_words.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FROM = ROOT / "zaxy-core/src/zaxy/text/frequencies/words.txt"
TO = ROOT / "plugins/vectors/src/zaxy_vectors/frequencies/words.txt"
OF_ENGLISH, OF_OTHERS = 50, 57
"""The least Zipf frequency, times ten: 50 is once in 10,000 words. Rarer words count whole in any case."""
LINE = re.compile(r"(?P<word>[^A-Z]+)(?P<values>(?:[A-Z]{2}\d\d)+)")


def main() -> None:
    lines = []
    for line in FROM.read_text(encoding="utf-8").splitlines():
        if match := LINE.fullmatch(line):
            values = {code: int(zipf) for code, zipf in re.findall(r"([A-Z]{2})(\d\d)", match["values"])}
            english, others = values.pop("EN", 0), max(values.values(), default=0)
            if zipf := english if english >= OF_ENGLISH else others if others >= OF_OTHERS else 0:
                lines.append(f"{match['word']} {zipf}\n")
    TO.write_text("".join(lines), encoding="utf-8")
    sys.stdout.write(f"{len(lines)} words, {TO.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
