"""The table of providers' tokens: every row in every context, nothing that only looks alike, in linear time."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from corpus.lookalikes import lookalikes
from corpus.measured import Measured, total
from corpus.shape_matrix import CONTEXTS, FILES, matrix, printed, rows
from zaxy.security.redaction import redact_text
from zaxy.security.shape_table import MIN_INNER_CHARS, MIN_SHAPE_CHARS, TABLE, Shape, pattern_of, shapes

PAGE = (Path(__file__).parents[1] / "docs" / "redaction.md").read_text(encoding="utf-8")
HELD_OUT_OF = 5
LITERAL_PASSES = 20
"""How many times one pass of a compiled literal over a text the search for secrets may take."""


def tokens(part: str) -> list[str]:
    return [re.sub("[«»]", "", sample) for row in rows(part) for sample in row.samples]


@pytest.mark.parametrize("part", FILES)
def test_every_row_is_found_in_every_context(part: str) -> None:
    cells = matrix(part)
    print(f"\n{printed(part, cells)}")
    assert len(CONTEXTS) >= 12
    by_row = {name: total(name, list(row.values())) for name, row in cells.items()}
    everything = total(part, list(by_row.values()))
    assert everything.found >= 0.98 * everything.cases
    assert [row for row in by_row.values() if row.found < 0.8 * row.cases] == []
    assert f"| {part} | {len(cells)} | {everything.cases:,} | {everything.found:,} |" in PAGE


def test_a_fifth_of_the_rows_is_held_out_by_a_hash_of_their_names() -> None:
    for part in FILES:
        for row in rows(part):
            held_out = int(sha256(row.name.encode()).hexdigest(), 16) % HELD_OUT_OF == 0
            assert held_out == (part == "held out"), row.name


def test_every_row_of_the_table_has_three_samples() -> None:
    every = [token for part in FILES for token in tokens(part)]
    matched = Counter(shape for shape in shapes() for token in every if pattern_of(shape).search(token))
    few = [shape for shape in shapes() if matched[shape] < 3]
    assert [(shape.kind, shape.provider) for shape in few] == []


def test_every_row_of_the_table_is_well_formed() -> None:
    lines = Path(TABLE).read_text(encoding="utf-8").splitlines()
    assert re.search(r"Version [0-9]+ of this table", lines[0])
    for shape in shapes():
        assert shape.form.count("<>") == 1, shape
        assert pattern_of(shape).groups <= 1, shape
        assert all(
            (literal.isascii() and re.search("[A-Za-z0-9]", literal)) or not shape.leads() for literal in shape.literals
        )


def test_no_sample_is_shorter_than_what_the_quick_test_looks_at() -> None:
    for part in FILES:
        for token in tokens(part):
            matching = [shape for shape in shapes() if pattern_of(shape).search(token)]
            needed = min((MIN_SHAPE_CHARS if shape.leads() else MIN_INNER_CHARS for shape in matching), default=0)
            assert max(map(len, token.split())) >= needed, token


def test_a_providers_literal_before_words_or_a_mask_is_no_token() -> None:
    tails = (
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "configuration_of_the_server_and_its_clients",
        "****",
        "your-key-here",
    )
    for shape in shapes():
        for literal in shape.literals if shape.leads() else ():
            for tail in tails:
                assert redact_text(f"see {literal}{tail} for more")[1] == [], shape


def test_what_only_looks_like_a_token_is_left_alone() -> None:
    alarms, texts = Counter[str](), Counter[str]()
    for kind, text in lookalikes():
        texts[kind] += 1
        alarms[kind] += redact_text(text) != (text, [])
    measured = [Measured(kind, texts[kind], alarms[kind]) for kind in texts]
    everything = total("harmless look-alikes", measured)
    print("", *measured, everything, sep="\n")
    assert everything.cases > 1000
    assert everything.found <= 0.005 * everything.cases


@pytest.mark.parametrize("unit", ["token=", "token = ", "key=", "api_key: ", "11", "eyJ", "AQE", "ghp_", "sk-"])
def test_a_text_full_of_names_costs_some_passes_of_a_literal_and_no_more(unit: str) -> None:
    text = unit * ((1 << 19) // len(unit))
    literal = re.compile(re.escape(unit))
    redact_text(text[:4096])  # compiles what is needed
    ratios = []
    for _ in range(4):
        one_pass = min(cpu_time(lambda: sum(1 for _ in literal.finditer(text))) for _ in range(3))
        ratios.append(cpu_time(lambda: redact_text(text)) / one_pass)
        if ratios[-1] <= LITERAL_PASSES:
            break
    print(f"{unit!r}: {min(ratios):.1f} passes")
    assert min(ratios) <= 2 * LITERAL_PASSES  # a wide margin: the machine may be busy


def cpu_time(run: Callable[[], object]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


@pytest.mark.parametrize("shape", shapes(), ids=lambda shape: f"{shape.kind} {shape.literals[0]}")
def test_no_row_of_the_table_takes_more_than_linear_time(shape: Shape) -> None:
    for unit in (shape.literals[0], f"{shape.literals[0]}a1B", f"0a{shape.literals[0]}"):
        whole = (unit * (1 << 15))[: 1 << 15]
        for _ in range(4):
            short, long = time_to_find(shape, whole[: 1 << 13]), time_to_find(shape, whole)
            if long <= 8 * max(short, 0.001):
                break
        else:
            pytest.fail(f"{unit!r}: {short:.4f} s for a quarter, {long:.4f} s for the whole")


def time_to_find(shape: Shape, text: str) -> float:
    return cpu_time(lambda: list(pattern_of(shape).finditer(text)))
