"""Text between `<private>` and `</private>` is taken out, however it is written and wherever it stands."""

from __future__ import annotations

import random
import time

import pytest

from zaxy.errors import InvalidRequest
from zaxy.eventloom.admission import admit
from zaxy.security.private_text import MARK, is_all_private, without_private
from zaxy.security.redaction import redact

OPENING = (
    *("<private>", "<PRIVATE>", "<Private>", "< private >", "<private\n>", "<private/>", "<private />"),
    *('<private reason="mine">', "<private a=1\n b='2'>", "<\tprivate\t>", "<private\u00a0>"),
)
ENDING = ("</private>", "</PRIVATE>", "</ private>", "< / private >", "</private\n>", "</private x>")
HIDDEN = "hidden7words"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>x</private> b", "a [private] b"),
        ("a <private>x\n\ny</private>\nb", "a [private]\nb"),
        ("a <private>x b", "a [private]"),
        ("x</private> b", "[private] b"),
        ("a <private>x</private> b <private>y</private> c", "a [private] b [private] c"),
        ("a <private>x <private>y</private> z</private> b", "a [private] b"),
        ("a <private>x <private>y</private> z", "a [private]"),
        ("a <private>x</private> y</private> b", "[private] b"),
        ("ssh -i <private key> host", "ssh -i <private key> host"),
        ("a <private key>x</private> b", "a [private] b"),
        ("a <private>x <private key> y</private> b", "a [private] b"),
        ("<private key> a <private>x</private> b", "<private key> a [private] b"),
        (
            "class A: private; <privates> <private-key> </privacy>",
            "class A: private; <privates> <private-key> </privacy>",
        ),
        ("<private", "<private"),
        ("", ""),
    ],
)
def test_what_is_left_of_a_text(text: str, left: str) -> None:
    assert without_private(text) == left


@pytest.mark.parametrize("ending", ENDING)
@pytest.mark.parametrize("opening", OPENING)
def test_a_tag_counts_however_it_is_written(opening: str, ending: str) -> None:
    assert without_private(f"before {opening}{HIDDEN}{ending} behind") == f"before {MARK} behind"
    assert without_private(f"before {opening}{HIDDEN}") == f"before {MARK}"


def test_whatever_is_around_private_parts_nothing_of_them_is_left_and_the_rest_is() -> None:
    rng = random.Random(7)
    public_words = ("word", "a < b", "<b>", "</b>", "private", "\n", "é", "\\u003c", "</", "<")
    for _ in range(3000):
        text, expected = "", ""
        for number in range(rng.randrange(1, 6)):
            public = " ".join(rng.choices(public_words, k=rng.randrange(4)))
            depth = rng.randrange(1, 4)
            inner = HIDDEN
            for _ in range(depth):
                more = rng.choice(["", " <private key> ", "\n", " <b> "])
                inner = f"{rng.choice(OPENING)}{HIDDEN}{more}{inner}{HIDDEN}{rng.choice(ENDING)}"
            text += f"{number} {public} {inner}"
            expected += f"{number} {public} {MARK}"
        assert without_private(text) == expected, text
        cut = text[: rng.randrange(len(text))]
        assert HIDDEN not in without_private(cut), cut
        assert without_private(expected) is expected


def test_of_the_end_of_a_text_nothing_is_left_that_stands_before_an_ending() -> None:
    text = f"public <private>{HIDDEN} and more of it</private> behind"
    for start in range(text.index(HIDDEN), text.index("</private>")):
        assert without_private(text[start:]) == f"{MARK} behind"


@pytest.mark.parametrize("text", ["<private>x</private>", " <private>x", "x</private>\n", f"{MARK}\n<private>", MARK])
def test_a_text_may_be_all_private(text: str) -> None:
    assert is_all_private(text)


@pytest.mark.parametrize("text", ["", "a <private>x</private>", "<private key>", "<private>x</private>."])
def test_a_text_with_other_words_is_not_all_private(text: str) -> None:
    assert not is_all_private(text)


@pytest.mark.parametrize(
    "unit", ["<private ", "<private>", "</private>", "< ", "<" + " " * 50, "<private x ", "private", "<private key>"]
)
def test_the_search_is_linear(unit: str) -> None:
    def cost(size: int) -> float:
        text = unit * (size // len(unit))
        began = time.process_time()
        without_private(text)
        return time.process_time() - began

    cost(1 << 16)
    assert cost(1 << 20) < 64 * max(cost(1 << 16), 0.001)


def test_no_part_of_a_payload_keeps_private_text() -> None:
    payload = {
        "text": f"a <private>{HIDDEN}</private>",
        f"key <private>{HIDDEN}</private>": 1,
        "rows": [{"deep": [f"<private>{HIDDEN}", 3, None, True]}, ("x", f"{HIDDEN}</private>")],
        "password": f"<private>{HIDDEN}</private>",
        "other": "stays",
    }
    clean, found = redact(payload)
    assert HIDDEN not in repr(clean)
    assert (clean["text"], clean["other"], found) == (f"a {MARK}", "stays", [])
    assert HIDDEN in payload["text"]


def test_two_keys_that_differ_only_in_what_is_private_stay_two() -> None:
    clean, _ = redact({"<private>a</private>": 1, "<private>b</private>": 2})
    assert sorted(clean.values(), key=str) == [1, 2]


def test_a_secret_beside_private_text_is_taken_out_too() -> None:
    clean, found = redact({"text": "the password is hunter2 <private>x</private> DB_PASSWORD=s3cr3t-9x"})
    assert "hunter2" not in str(clean) and "s3cr3t" not in str(clean) and MARK in str(clean["text"])
    assert {one.kind for one in found} == {"password"}


def test_an_event_is_admitted_without_what_is_private() -> None:
    entry = admit("note.taken", "user", {"text": f"a <private>{HIDDEN}</private>"})
    assert entry.payload == {"text": f"a {MARK}"}
    assert HIDDEN.encode() not in entry.canonical_payload
    assert "redacted" not in entry.fields


@pytest.mark.parametrize("name", ["actor", "caused_by", "idempotency_key"])
def test_a_name_with_private_text_is_refused_and_not_repeated(name: str) -> None:
    names = {"actor": "user", name: f"<private>{HIDDEN}</private>"}
    with pytest.raises(InvalidRequest) as refused:
        admit("note.taken", payload={}, **names)
    assert HIDDEN not in str(refused.value.as_dict())
