"""Every row of samples in every context: `python -m corpus.shape_matrix` in `tests` prints what was found.

The samples of a row are made up from the forms that their author knew. A fifth of the rows, chosen by a hash of their
names, stands in a file of its own that only this matrix reads.
"""

from __future__ import annotations

import random
import re
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpus.measured import Marked, Measured, total

FILES = {"seen": "samples.txt", "held out": "held_out.txt"}
FILLS = 3
ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "a": ALNUM,
    "b": ALNUM + "+/",
    "d": "123456789",
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "l": string.ascii_lowercase + string.digits,
    "L": string.ascii_letters,
    "t": string.ascii_uppercase + "234567",
    "u": string.ascii_uppercase + string.digits,
    "w": ALNUM + "_-",
}
CONTEXTS = {
    "sentence": "Please use @@ for the deploy, thanks.",
    "KEY=": "SERVICE_CREDENTIAL_A=@@",
    "JSON": '{"name": "svc", "value_a": "@@", "region": "eu"}',
    "header": "X-Service-Auth: @@",
    "URL": "GET https://api.example.com/v1/items?page=2&k=@@ HTTP/1.1",
    "Python": "client = Client('@@', timeout=5)",
    "JavaScript": "const api = new Api(`@@`);",
    "Java": 'private static final String SVC = "@@";',
    "C#": 'var client = new ServiceClient(endpoint, "@@");',
    "Go": 'client := svc.New("@@", svc.WithRegion("eu"))',
    "Rust": 'let client = Client::new(String::from("@@"));',
    "Ruby": "client = Svc::Client.new('@@')",
    "PHP": "$client = new Client(['credentials' => '@@']);",
    "shell": "svcctl login --with '@@' && svcctl deploy",
}


class Row(NamedTuple):
    name: str
    samples: list[str]


def rows(part: str) -> Iterator[Row]:
    """The rows of `seen` or `held out`, with the same samples on every run: some of each documented form."""
    file = Path(__file__).parent / "shapes" / FILES[part]
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, *forms = line.split(" | ")
            rng = random.Random(f"zaxy {name}")
            yield Row(name, [made(form, rng) for form in forms for _ in range(FILLS)])


def made(form: str, rng: random.Random) -> str:
    """A sample: each `{a20}` becomes 20 characters of that alphabet, the last of them a letter or digit."""
    form = form.replace("{}", "").replace("{uuid}", "{h8}-{h4}-4{h3}-{h4}-{h12}")
    return re.sub(r"\{([a-zA-Z])([0-9]+)\}", lambda hole: filled(hole[1], int(hole[2]), rng), form)


def filled(alphabet: str, count: int, rng: random.Random) -> str:
    ends = ALPHABETS["a" if alphabet in "bw" else alphabet]
    return "".join(rng.choice(ALPHABETS[alphabet]) for _ in range(count - 1)) + rng.choice(ends)


def found(context: str, sample: str) -> bool:
    """Whether the secret is gone, and all around it is still there."""
    before, after = CONTEXTS[context].split("@@")
    opened, secret, closed = re.split("[«»]", sample) if "«" in sample else ("", sample, "")
    return Marked([before + opened, closed + after], [secret]).found() == 1


def matrix(part: str) -> dict[str, dict[str, Measured]]:
    """For each row and context, how many samples are found."""
    return {
        row.name: {
            context: Measured(row.name, len(row.samples), sum(found(context, sample) for sample in row.samples))
            for context in CONTEXTS
        }
        for row in rows(part)
    }


def printed(part: str, cells: dict[str, dict[str, Measured]]) -> str:
    lines = [f"{part:22}" + "".join(f"{context[:9]:>10}" for context in CONTEXTS)]
    for name, row in cells.items():
        lines.append(f"{name:22}" + "".join(f"{cell.found}/{cell.cases}".rjust(10) for cell in row.values()))
    everything = [cell for row in cells.values() for cell in row.values()]
    return "\n".join([*lines, str(total(f"{part}: {len(cells)} rows", everything))])


if __name__ == "__main__":
    for part in FILES:
        sys.stdout.write(printed(part, matrix(part)) + "\n\n")
