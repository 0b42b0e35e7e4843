"""Whatever is sent is either stored exactly or refused in an orderly way, within bounds, and stays in the folder."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from corpus.json_documents import DOCUMENTS
from corpus.naughty import HALVES, NAUGHTY, TEXTS
from faults.sample_logs import SESSION, note, opened
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import admit
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Entry

MAX_MESSAGE_CHARS = 1000
MAX_MEMORY = 100
MAX_SECONDS = 20


@pytest.fixture
def loom(tmp_path: Path) -> Iterator[Eventloom]:
    """The log of a folder of its own; whatever is put anywhere else under the temporary folder is an escape."""
    (tmp_path / "here" / "deeper").mkdir(parents=True)
    opened_loom = opened(tmp_path / "here" / "deeper" / ".eventloom")
    yield opened_loom
    opened_loom.close()
    outside = {path.name for path in tmp_path.rglob("*") if ".eventloom" not in path.parts}
    assert outside == {"here", "deeper"}, "something was written outside the folder"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A relative path that escaped would end up here."""
    elsewhere = tmp_path.with_name(f"{tmp_path.name}-elsewhere")
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    before = set(os.listdir("/tmp")) if os.path.isdir("/tmp") else set()
    yield
    assert os.listdir(elsewhere) == []
    assert "naughty" not in before ^ set(os.listdir("/tmp") if before else ())


def checked(error: ZaxyError, *codes: str) -> None:
    """A refusal that can be shown: the right code, what to do, and no more text than anyone wants to read."""
    assert error.code in (codes or ("invalid_request", "too_large"))
    assert error.remediation
    assert len(error.message) <= MAX_MESSAGE_CHARS
    json.dumps(error.as_dict(), ensure_ascii=False).encode()


def taken(make: Callable[[], Entry], *codes: str) -> Entry | None:
    """The entry, or nothing if it was refused as it should be."""
    try:
        return make()
    except ZaxyError as error:
        checked(error, *codes)
        return None


def stored(loom: Eventloom, entries: list[Entry]) -> list[dict[str, Any]]:
    """The records as another process reads them after all entries were appended at once."""
    loom.append(SESSION, entries)
    fresh = opened(Path(loom.folder))
    report = fresh.verify(SESSION)
    assert (report.ok, report.events) == (True, len(entries))
    return [line.record for line in fresh.read(SESSION)]


def all_taken(values: list[str], make: Callable[[str], Entry]) -> tuple[list[str], list[Entry]]:
    both = [(value, entry) for value in values if (entry := taken(lambda value=value: make(value))) is not None]
    return [value for value, _ in both], [entry for _, entry in both]


def test_there_are_more_than_five_hundred_naughty_strings() -> None:
    assert len(set(NAUGHTY)) == len(NAUGHTY) > 515


def test_a_naughty_payload_value_is_stored_exactly_unless_it_is_no_text(loom: Eventloom) -> None:
    kept, entries = all_taken(NAUGHTY, lambda text: admit("note.taken", "tester", {"text": text, "list": [text]}))
    assert kept == TEXTS
    records = stored(loom, entries)
    assert [record["payload"] for record in records] == [{"text": text, "list": [text]} for text in kept]
    assert [record["redacted"] for record in records if "redacted" in record] == []


def test_a_naughty_payload_key_is_stored_exactly_unless_it_is_no_text(loom: Eventloom) -> None:
    reserved = {"sensitivity"}
    kept, entries = all_taken(NAUGHTY, lambda text: admit("note.taken", "tester", {text: "value", "more": {text: 1}}))
    assert kept == [text for text in TEXTS if text not in reserved]
    assert [r["payload"] for r in stored(loom, entries)] == [{text: "value", "more": {text: 1}} for text in kept]


def test_all_naughty_strings_together_are_stored_exactly_as_keys_and_values(loom: Eventloom) -> None:
    payload = dict(zip(TEXTS, reversed(TEXTS), strict=True))
    assert stored(loom, [note(payload)])[0]["payload"] == payload


def test_a_naughty_actor_is_stored_exactly_or_refused(loom: Eventloom) -> None:
    kept, entries = all_taken(NAUGHTY, lambda text: admit("note.taken", text, {"n": 1}))
    assert len(kept) > 500
    assert not set(kept) & set(HALVES)
    assert [record["actor"] for record in stored(loom, entries)] == kept


def test_a_naughty_cause_is_stored_exactly_or_refused(loom: Eventloom) -> None:
    kept, entries = all_taken(NAUGHTY, lambda text: admit("note.taken", "tester", {"n": 1}, caused_by=text))
    assert [record.get("caused_by", "") for record in stored(loom, entries)] == kept


def test_a_naughty_event_type_is_refused_or_dotted_lower_case_words(loom: Eventloom) -> None:
    for text in NAUGHTY:
        for name in (text, f"note.{text}", f"{text}.taken"):
            entry = taken(lambda name=name: admit(name, "tester", {"n": 1}))
            assert entry is None or not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789_-.")
            assert entry is None or all(name.split("."))


def test_a_naughty_sensitivity_is_refused(loom: Eventloom) -> None:
    for text in filter(None, NAUGHTY):
        assert taken(lambda text=text: admit("note.taken", "tester", {"n": 1}, sensitivity=text)) is None
        assert taken(lambda text=text: admit("note.taken", "tester", {"sensitivity": text})) is None


def test_a_naughty_idempotency_key_finds_its_event_again_or_is_refused(loom: Eventloom) -> None:
    def keyed(text: str) -> Entry:
        return admit("note.taken", "tester", {"n": 1}, idempotency_key=text)

    kept, entries = all_taken([text for text in NAUGHTY if text], keyed)
    assert len(kept) > 500
    assert [record["idempotency_key"] for record in stored(loom, entries)] == kept
    fresh = opened(Path(loom.folder))
    again = fresh.append(SESSION, [keyed(text) for text in kept])
    assert [line.seq for line in again] == list(range(1, len(kept) + 1))
    for text in kept[::10]:
        assert fresh.append(SESSION, [keyed(text)])[0].record["idempotency_key"] == text
    assert fresh.end(SESSION).seq == len(kept)


def test_a_naughty_session_id_is_a_safe_file_name_or_refused(loom: Eventloom) -> None:
    kept: list[str] = []
    for text in NAUGHTY:
        try:
            loom.append(text, [note()])
            kept.append(text)
        except ZaxyError as error:
            clashes = any(text != other and text.casefold() == other.casefold() for other in kept)
            checked(error, "conflict" if clashes else "invalid_request")
        for use in (loom.end, loom.verify, loom.refs, lambda session: list(loom.read(session))):
            try:
                use(text)
            except ZaxyError as error:
                checked(error, "not_found", "invalid_request")
                assert text not in kept
    assert loom.sessions() == sorted(kept)
    files = {name for name in os.listdir(loom.folder) if name.endswith(".jsonl")}
    assert files == {f"{text}.jsonl" for text in kept}
    assert all(text.isascii() and text[0].isalnum() and len(text) <= 128 for text in kept)


def test_a_naughty_ref_names_an_event_or_is_refused(loom: Eventloom) -> None:
    target = loom.append(SESSION, [note()])[0]
    for text in NAUGHTY:
        for name in (text, f"refs/{text}", f"refs/heads/{text}"):
            try:
                loom.set_ref(name, target)
            except ZaxyError as error:
                checked(error)
                with pytest.raises(ZaxyError) as caught:
                    loom.resolve_ref(SESSION, name)
                checked(caught.value)
            else:
                assert loom.resolve_ref(SESSION, name) == target
    assert loom.verify(SESSION).ok


def test_a_naughty_citation_is_refused() -> None:
    for text in NAUGHTY:
        place = "eventloom://work/events/"
        if text.startswith(place):
            continue
        for citation in (text, f"eventloom://{text}", f"{place}{text}", f"{place}1#{text}"):
            with pytest.raises(ZaxyError) as caught:
                parse_citation(citation)
            checked(caught.value)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_json_document_is_stored_exactly_or_refused(loom: Eventloom, name: str) -> None:
    try:
        value = json.loads(DOCUMENTS[name])
    except (ValueError, RecursionError):
        assert not name.startswith("y_")
        return
    if not isinstance(value, dict):
        with pytest.raises(ZaxyError) as caught:
            admit("note.taken", "tester", value)
        checked(caught.value)
    payload = value if isinstance(value, dict) else {"value": value}
    entry = taken(lambda: admit("note.taken", "tester", payload))
    assert (entry is not None) or not name.startswith("y_")
    assert (entry is None) or not name.startswith("n_")
    if entry is not None:
        assert stored(loom, [entry])[0]["payload"] == payload


class Colour(enum.StrEnum):
    RED = "red"


class Loud(str):
    def __repr__(self) -> str:
        raise RuntimeError("this text has no representation")


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("this object has no representation")


def in_itself(empty: Any) -> Any:
    empty.append(empty) if isinstance(empty, list) else empty.update(me=empty)
    return empty


UNFIT: dict[str, Any] = {
    "not a number": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "2^53": 2**53,
    "minus 2^53": -(2**53),
    "an integer of 1,000 digits": 10**1000,
    "an integer of 5,000 digits": 10**5000,
    "bytes": b"bytes",
    "a bytearray": bytearray(b"bytes"),
    "a set": {1},
    "a frozenset": frozenset((1,)),
    "an object": object(),
    "an object without a representation": Silent(),
    "a class": int,
    "a function": len,
    "a complex number": 1j,
    "a decimal": Decimal("1.5"),
    "a fraction": Fraction(1, 2),
    "a generator": (n for n in range(3)),
    "a range": range(3),
    "a path": Path("x"),
    "a number for a key": {1: "a"},
    "nothing for a key": {None: "a"},
    "a tuple for a key": {(1, 2): "a"},
    "bytes for a key": {b"a": "a"},
    "an integer of 5,000 digits for a key": {10**5000: "a"},
    "an object without a representation for a key": {Silent(): "a"},
    "a mapping that is no dict": UserDict(a=1),
    "a list in itself": in_itself([]),
    "an object in itself": in_itself({}),
    "an ordered object in itself": in_itself(OrderedDict()),
    "a lone surrogate": "a\ud800b",
    "a lone surrogate in a key": {"a\udfffb": 1},
    "an unfit value under a lone surrogate": {"a\ud800b": float("nan")},
    "an unfit value under a long key": {"k" * 100_000: float("nan")},
    "an unfit value under a key of control characters": {"\0\x1b[2J": float("nan")},
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_json_cannot_hold_is_refused_wherever_it_stands(name: str) -> None:
    value = UNFIT[name]
    for payload in ({"a": value}, {"a": [value]}, {"a": {"b": [1, {"c": value}]}}, {"text": "password=", "a": value}):
        assert taken(lambda payload=payload: admit("note.taken", "tester", payload)) is None


@pytest.mark.parametrize("name", UNFIT)
def test_what_is_no_text_is_refused_wherever_a_text_is_asked_for(loom: Eventloom, name: str) -> None:
    value = UNFIT[name]
    target = loom.append(SESSION, [note()])[0]
    for use in (
        lambda: admit("note.taken", "tester", value),
        lambda: admit(value, "tester", {}),
        lambda: admit("note.taken", value, {}),
        lambda: admit("note.taken", "tester", {}, sensitivity=value),
        lambda: admit("note.taken", "tester", {}, caused_by=value),
        lambda: admit("note.taken", "tester", {}, idempotency_key=value),
        lambda: loom.append(value, [note()]),
        lambda: loom.verify(value),
        lambda: list(loom.read(value)),
        lambda: loom.set_ref(value, target),
        lambda: loom.resolve_ref(SESSION, value),
    ):
        with pytest.raises(ZaxyError) as caught:
            use()
        checked(caught.value)


@pytest.mark.parametrize("value", [Colour.RED, Loud("text"), True, OrderedDict(a=1), (1, 2)], ids=type)
def test_what_is_nearly_json_is_stored_as_json_or_refused(loom: Eventloom, value: Any) -> None:
    entry = taken(lambda: admit("note.taken", "tester", {"a": value}))
    if entry is not None:
        assert stored(loom, [entry])[0]["payload"] == {"a": list(value) if isinstance(value, tuple) else value}


def test_a_payload_of_exactly_the_largest_size_is_taken_and_one_byte_more_is_not(loom: Eventloom) -> None:
    room = (1 << 20) - len('{"text":""}')
    for text in ("x" * room, "é" * (room // 2), "\0" * (room // 6), "\U0001f600" * (room // 4)):
        assert stored(opened(Path(loom.folder) / str(ord(text[0]))), [admit("note.taken", "tester", {"text": text})])
        with pytest.raises(ZaxyError) as caught:
            admit("note.taken", "tester", {"text": text + "x" * 6})
        assert caught.value.code == "too_large"


def test_what_is_noted_of_redactions_does_not_outgrow_the_payload_by_far(loom: Eventloom) -> None:
    """Each place is named by a path, and a path may be nearly as long as the payload."""
    secrets = {f"n{n}": "gh" + f"p_{n:02d}aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3" for n in range(100)}
    payload: dict[str, Any] = secrets
    for _ in range(20):
        payload = {"k" * 10_000: payload}
    entry = taken(lambda: admit("note.taken", "tester", payload))
    assert entry is None or len(loom.append(SESSION, [entry])[0].data) < 4 << 20


HUGE = {
    "10 MB of one letter": "{'text': 'x' * 10_000_000}",
    "10 MB of words": "{'text': 'lorem ipsum dolor ' * 560_000}",
    "10 MB of two-byte letters": "{'text': 'é' * 5_000_000}",
    "10 MB of emoji": "{'text': '\\U0001f600' * 2_500_000}",
    "10 MB that must be escaped": "{'text': '\\0' * 10_000_000}",
    "10 MB of quotes": "{'text': '\"' * 10_000_000}",
    "a key of 10 MB": "{'x' * 10_000_000: 1}",
    "an unfit value under a key of 10 MB": "{'x' * 10_000_000: float('nan')}",
    "1,000,000 keys": "{str(n): n for n in range(1_000_000)}",
    "1,500,000 integers": "{'list': list(range(1_500_000))}",
    "300,000 fractions": "{'list': [n / 7 for n in range(300_000)]}",
    "300,000 texts": "{'list': ['some text, and quite a bit of it %d' % n for n in range(300_000)]}",
    "200,000 small objects": "{'list': [{'a': n} for n in range(200_000)]}",
    "3,000,000 empty lists": "{'list': [[]] * 3_000_000}",
    "lists 10,000 deep": "{'list': wrapped(lambda inner: [inner], 10_000)}",
    "objects 10,000 deep": "wrapped(lambda inner: {'a': inner}, 10_000)",
    "lists and objects 100,000 deep": "{'list': wrapped(lambda inner: [{'a': inner}], 50_000)}",
    "2^40 objects, each of them twice in the next": "wrapped(lambda inner: {'a': inner, 'b': inner}, 40)",
    "2^60 lists, each of them twice in the next": "{'list': wrapped(lambda inner: [inner, inner], 60)}",
}
CHILD = """
import json, os, signal, sys, time
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import admit

def wrapped(wrap, times):
    value = {"end": 1}
    for _ in range(times):
        value = wrap(value)
    return value

def megabytes(field):
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith(field)).split()[1]) / 1024

def measure(expression):
    payload = eval(expression)
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    before, began = megabytes("VmRSS"), time.monotonic()
    try:
        admit("note.taken", "tester", payload)
        outcome = "taken"
    except ZaxyError as error:
        outcome = error.code if len(error.message) <= 1000 else "a message without bounds"
    except BaseException as error:
        outcome = repr(error)[:200]
    return outcome, megabytes("VmHWM") - before, time.monotonic() - began

admit("note.taken", "tester", {"text": "password=hunter2 and so on"})
for name, expression in json.loads(sys.argv[1]).items():
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(20)
        os.write(writing, json.dumps(measure(expression)).encode())
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    said = os.read(reading, 10_000)
    os.close(reading)
    print(json.dumps([name, *(json.loads(said) if said else [f"died with status {status}", 0, 0])]), flush=True)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="peak memory is measured through /proc")
def test_a_huge_payload_is_refused_within_bounds_of_memory_and_time() -> None:
    child = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(HUGE)], capture_output=True, text=True, timeout=250, check=True
    )
    rows = [json.loads(line) for line in child.stdout.splitlines()]
    print(*(f"{name}: {outcome}, +{grew:.0f} MB, {took:.2f} s" for name, outcome, grew, took in rows), sep="\n")
    assert [name for name, *_ in rows] == list(HUGE)
    assert [row for row in rows if row[1] not in ("too_large", "invalid_request")] == []
    assert [row for row in rows if row[2] >= MAX_MEMORY] == []
    assert [row for row in rows if row[3] >= MAX_SECONDS] == []


def test_many_refusals_leave_no_memory_behind() -> None:
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("memory is measured through /proc")

    def resident() -> float:
        return int(next(row for row in status.read_text().splitlines() if row.startswith("VmRSS")).split()[1]) / 1024

    before = resident()
    for _ in range(3):
        for payload in ({"text": "x" * 1_100_000}, {"a": float("nan"), "text": "y" * 200_000}, {"list": [0] * 600_000}):
            assert taken(lambda payload=payload: admit("note.taken", "tester", payload)) is None
    assert resident() - before < MAX_MEMORY
