"""A bundle that is not what was signed is refused, whatever was done to it, with a reason and within bounds."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import deepcopy
from io import BytesIO, RawIOBase
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import export_vectors as made
from conftest import Zaxy
from export_vectors import KEY, MANY, Ed25519, bundle_of, event, subset_of
from exported import bundle_bytes
from faults.crashes import in_child
from zaxy.errors import ZaxyError
from zaxy.eventloom.canonical import encode
from zaxy.memory import Memory
from zaxy.plugins import signing_keys
from zaxy_export import reading, signing, verification
from zaxy_export.bundle import SIGNED_FIELDS, Signer, write_bundle
from zaxy_export.disclosure import disclose
from zaxy_export.entries import MAX_ENTRY_DEPTH
from zaxy_export.importing import import_bundle
from zaxy_export.merkle import max_steps, root_by_proof
from zaxy_export.reading import BundleItem, read_parts
from zaxy_export.selector import EVERYTHING, Selector
from zaxy_export.verification import (
    BUNDLE,
    ENVELOPE,
    SUBSET,
    Verified,
    parts_of_file,
    parts_of_object,
    verify,
    verify_export,
    verify_memory_export_subset,
)

BITS = 5000
SIGNER = Signer(KEY.name, bytes.fromhex(KEY.public_key), lambda message: bytes.fromhex(KEY.sign(message)))
HEADER = (*SIGNED_FIELDS, "signature")
KINDS = (None, True, False, 0, 1, -1, 0.5, 7, "", "x", "00", [], {}, [[]], {"a": 1})
"""Values of every kind that JSON has, none of which stands in the bundle's header where it is put."""
Json = dict[str, Any]


@pytest.fixture(autouse=True, scope="module")
def _algorithms_that_stay_open() -> Iterator[None]:
    """The real ones; finding them anew for each of thousands of signatures would be most of the time."""
    patch = pytest.MonkeyPatch()
    with signing.signing_algorithms() as algorithms:
        for module in (signing, signing_keys):
            patch.setattr(module, "signing_algorithms", lambda: nullcontext(algorithms))
        yield
        patch.undo()


def written(entries: list[Json], session: str = made.SESSION) -> bytes:
    """A signed bundle, by the product."""
    file = BytesIO()
    write_bundle([encode(entry, MAX_ENTRY_DEPTH) for entry in entries], session, SIGNER, file)
    return file.getvalue()


def disclosed(bundle: bytes, **axes: Any) -> bytes:
    file = BytesIO()
    disclose(parts_of_file(BytesIO(bundle)), Selector.of(axes), file)
    return file.getvalue()


WHOLE = written(MANY)
PART = disclosed(WHOLE, grains=["semantic"])
FILES = {"bundle": WHOLE, "subset": PART}
shapes = pytest.mark.parametrize("shape", FILES)


def proven(data: bytes, expected: str | None = None) -> Verified:
    return verify(parts_of_file(BytesIO(data)), expected)


def refusal(data: bytes, expected: str | None = None) -> str:
    """Why a file is refused; it fails the test if it is not, or not in the way in which it should be."""
    with pytest.raises(ZaxyError) as caught:
        proven(data, expected)
    assert caught.value.code in ("conflict", "not_found")
    assert caught.value.remediation
    return caught.value.message


def text_of(bundle: Json, **layout: Any) -> bytes:
    return json.dumps(bundle, **layout).encode()


def refuse_object(bundle: Json, why: str = "") -> None:
    """It is refused as a file, and as an object that a program holds."""
    message = refusal(text_of(bundle))
    assert why in message
    check = verify_memory_export_subset if "disclosed" in bundle else verify_export
    with pytest.raises(ZaxyError):
        check(bundle)


# Good ones first


@shapes
def test_a_bundle_that_nobody_touched_is_good(shape: str) -> None:
    found = proven(FILES[shape], KEY.public_key)
    assert (found.session_id, found.of, found.algorithm) == (made.SESSION, len(MANY), "ed25519")
    assert (found.shape, found.entries, found.pinned) == {
        "bundle": (BUNDLE, len(MANY), True),
        "subset": (SUBSET, 2, True),
    }[shape]
    assert not proven(FILES[shape]).pinned


@shapes
def test_a_bundle_that_a_program_holds_is_proven_like_its_file(shape: str) -> None:
    """Also with numbers as other parsers hold them: an int where a double was written, and a float for a whole one."""
    check = {"bundle": verify_export, "subset": verify_memory_export_subset}[shape]
    data = disclosed(WHOLE, kinds=["decision.made"]) if shape == "subset" else WHOLE
    assert b"10000000000000000" in data
    assert check(json.loads(data)) == check(json.loads(data, parse_int=float)) == proven(data)
    with pytest.raises(ZaxyError, match="key"):
        check(json.loads(data), expect_public_key=Ed25519(made.OTHER_SEED).public_key)


@shapes
@pytest.mark.parametrize("chunk", [1, 2, 3, 17, 1000, reading.CHUNK_BYTES])
@pytest.mark.parametrize(
    "laid_out",
    [
        lambda data: data,
        lambda data: text_of(json.loads(data), indent=3),
        lambda data: text_of(json.loads(data), sort_keys=True, separators=(",", ":")),
        lambda data: text_of(json.loads(data), ensure_ascii=False),
        lambda data: text_of(dict(reversed(json.loads(data).items()))),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\n\t " + data.replace(b"\n", b" \n\n") + b"\r\n ",
    ],
    ids=["as written", "pretty", "sorted", "one line", "reversed", "CR LF", "spaced"],
)
def test_any_layout_of_a_good_bundle_is_good_wherever_reading_stops_and_goes_on(
    shape: str, chunk: int, laid_out: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CHUNK_BYTES", chunk)
    assert proven(laid_out(FILES[shape])) == proven(FILES[shape])


@pytest.mark.parametrize("indent", [None, 1])
def test_an_entry_of_a_megabyte_full_of_brackets_and_quotes_is_good_in_any_layout(indent: int | None) -> None:
    entries = [event(1, {"text": '{"[}]\\' * 150_000}), event(2, {"text": "\u0001\ud7ff}" * 120_000}), event(3, {})]
    data = written(entries)
    assert proven(data).entries == proven(text_of(json.loads(data), indent=indent)).entries == 3


def test_a_bundle_in_one_line_is_read_piece_by_piece_too() -> None:
    entries = [event(seq, {"text": "x" * 1000}) for seq in range(1, 8001)]
    file = BytesIO(text_of(json.loads(written(entries))))
    parts = read_parts(file)
    for _ in range(500):
        next(parts)
    assert file.tell() < 4 * reading.CHUNK_BYTES < len(file.getbuffer())
    assert sum(isinstance(part, BundleItem) for part in parts) > 7000


# Bits


@shapes
def test_every_single_bit_counts(shape: str) -> None:
    """Unless JSON says the very same with it: hex digits of an escape and the letter of an exponent have two cases."""
    data = FILES[shape]
    expected_value = json.loads(data)
    places = Random(22).sample(range(len(data) * 8), min(BITS, len(data) * 8))
    same = 0
    for place in places:
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        try:
            proven(bytes(changed))
        except ZaxyError as error:
            assert error.code in ("conflict", "not_found"), changed[place // 8 - 20 : place // 8 + 20]
            continue
        assert json.loads(changed) == expected_value, f"bit {place}: {changed[place // 8 - 20 : place // 8 + 20]!r}"
        same += 1
    assert same < 10


@shapes
def test_a_file_that_is_cut_anywhere_is_refused(shape: str) -> None:
    data = FILES[shape].rstrip()
    for end in {*range(0, len(data), 11), *range(len(data) - 200, len(data)), *range(200)}:
        assert "refused" in refusal(data[:end]), end


@shapes
@pytest.mark.parametrize("garbage", [b"x", b"{}", b"\0", b",", b"}", b"\n\n//", b"\xff"])
def test_what_stands_behind_a_bundle_makes_it_bad(shape: str, garbage: bytes) -> None:
    assert "behind its end" in refusal(FILES[shape] + garbage)


@shapes
@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"x", b"[", b"\0", b"\xff\xfe", b","])
def test_what_stands_before_a_bundle_makes_it_bad(shape: str, before: bytes) -> None:
    assert "not valid JSON" in refusal(before + FILES[shape])


# The header


@shapes
@pytest.mark.parametrize("name", HEADER)
def test_a_header_field_that_is_dropped_is_missed(shape: str, name: str) -> None:
    bundle = json.loads(FILES[shape])
    del bundle[name]
    refuse_object(bundle, f"it has no {name}")


@shapes
@pytest.mark.parametrize("name", HEADER)
def test_a_header_field_that_has_any_other_value_is_refused(shape: str, name: str) -> None:
    bundle = json.loads(FILES[shape])
    others = [value for value in KINDS if json.dumps(value) != json.dumps(bundle[name])]
    if isinstance(bundle[name], str):
        others += [bundle[name].upper() + "A", bundle[name][:-1], bundle[name] + "0", f" {bundle[name]}", "\ud800"]
    for value in others:
        if name == "entry_count" and value == len(MANY):
            continue
        refuse_object({**bundle, name: value})


@shapes
@pytest.mark.parametrize("name", ["purpose", "", "Version", "signature ", "entry", "__proto__", "\u0000"])
def test_a_header_field_that_is_added_is_refused(shape: str, name: str) -> None:
    for value in KINDS:
        refuse_object({**json.loads(FILES[shape]), name: value})


@shapes
def test_a_second_list_of_entries_is_refused_even_if_it_is_empty(shape: str) -> None:
    bundle = json.loads(FILES[shape])
    name, other = ("entries", "disclosed") if shape == "bundle" else ("disclosed", "entries")
    refuse_object({**bundle, other: []}, "both")
    refuse_object({other: [], **bundle}, "both")
    refuse_object({**bundle, name: bundle[name][:1], other: bundle[name][1:]}, "both")


@pytest.mark.parametrize("version", ["zaxy.portable.v0", "zaxy.portable.v2", "zaxy.portable.v1 ", "", "zaxy.export.v1"])
def test_a_bundle_of_another_version_is_refused_also_if_it_is_signed(version: str) -> None:
    bundle = bundle_of(MANY, version=version)
    refuse_object(bundle, "zaxy.portable.v1")
    refuse_object(subset_of(bundle, 1), "zaxy.portable.v1")


def test_an_unsigned_envelope_is_never_good_and_cannot_be_disclosed() -> None:
    file = BytesIO()
    write_bundle([encode(entry, MAX_ENTRY_DEPTH) for entry in MANY], made.SESSION, None, file)
    for shapes_ in ((BUNDLE,), (SUBSET,), (BUNDLE, SUBSET)):
        with pytest.raises(ZaxyError, match="unsigned envelope"):
            verify(parts_of_file(file), None, shapes_)
    with pytest.raises(ZaxyError, match="unsigned envelope"):
        disclose(parts_of_file(file), EVERYTHING, BytesIO())
    with pytest.raises(ZaxyError, match="not signed"):
        verify(parts_of_file(file), KEY.public_key, (ENVELOPE,))
    assert verify(parts_of_file(file), None, (ENVELOPE,)).entries == len(MANY)


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": "zaxy.export.v2"},
        {"schema_version": None},
        {"signed": True},
        {"signed": 0},
        {"session_id": "another"},
        {"session_id": "a/b"},
        {"session_id": None},
        {"entries": [MANY[3], MANY[0]]},
        {"entries": [{**MANY[0], "citation": "eventloom://x"}]},
        {"entries": [{"content": MANY[0]}]},
        {"disclosed": []},
    ],
    ids=lambda change: f"{next(iter(change.items()))!s:.40}",
)
def test_an_envelope_that_is_not_one_is_not_read(change: Json) -> None:
    file = BytesIO()
    write_bundle([encode(entry, MAX_ENTRY_DEPTH) for entry in MANY], made.SESSION, None, file)
    envelope = json.loads(file.getvalue())
    assert verify(parts_of_object(envelope), None, (ENVELOPE,)).session_id == made.SESSION
    for name in change:
        lacking = {field: value for field, value in envelope.items() if field != name}
        for document in ({**envelope, **change}, *([lacking] if name in envelope else [])):
            with pytest.raises(ZaxyError, match="refused"):
                verify(parts_of_file(BytesIO(text_of(document))), None, (ENVELOPE,))


def test_a_subset_is_not_taken_for_a_bundle_nor_a_bundle_for_a_subset() -> None:
    with pytest.raises(ZaxyError, match="disclosed subset") as caught:
        verify_export(json.loads(PART))
    assert "verify-export-subset" in caught.value.remediation
    with pytest.raises(ZaxyError, match="signed bundle"):
        verify_memory_export_subset(json.loads(WHOLE))


# The entries


def items(bundle: bytes) -> list[Any]:
    found: list[Any] = json.loads(bundle)["entries"]
    return found


@pytest.mark.parametrize("at", range(len(MANY)))
def test_an_entry_that_is_dropped_doubled_or_moved_is_noticed(at: int) -> None:
    header, entries = json.loads(WHOLE), items(WHOLE)
    moved = [*entries[:at], *entries[at + 1 :]]
    moved.insert((at + 1) % len(entries), entries[at])
    for changed in (
        [*entries[:at], *entries[at + 1 :]],
        [*entries[:at], entries[at], *entries[at:]],
        moved,
        entries[:at],
        entries[at + 1 :],
    ):
        refuse_object({**header, "entries": changed})


def test_an_entry_that_is_added_or_swapped_with_one_of_another_bundle_is_noticed() -> None:
    header, entries = json.loads(WHOLE), items(WHOLE)
    stranger = items(written([event(12, {"decision": "something else"})]))[0]
    refuse_object({**header, "entries": [*entries, stranger]}, "was signed with 7 entries")
    refuse_object({**header, "entries": [*entries[:-1], stranger]}, "not those that were signed")
    other = items(written([event(1, {"decision": "do not ship"}), *MANY[1:]]))
    refuse_object({**header, "entries": other}, "not those that were signed")
    refuse_object({**header, "entries": []}, "was signed with 7 entries")


@pytest.mark.parametrize("name", sorted(MANY[0]))
def test_a_field_of_an_entry_counts_whatever_it_becomes(name: str) -> None:
    for value in KINDS:
        for keep_id in (True, False):
            bundle = json.loads(WHOLE)
            if json.dumps(value) == json.dumps(bundle["entries"][0]["content"][name]):
                continue
            bundle["entries"][0]["content"][name] = value
            if not keep_id:
                bundle["entries"][0]["id"] = made.id_of(bundle["entries"][0]["content"]).hex()
            refuse_object(bundle)


def test_entries_of_another_session_are_refused_also_if_they_are_signed() -> None:
    refuse_object(bundle_of(MANY, session_id="another"), "from another session")
    refuse_object(subset_of(bundle_of(MANY, session_id="another"), 2), "from another session")
    mixed = [MANY[0], {**MANY[3], "citation": made.cited(2, "another")}]
    refuse_object(bundle_of(mixed), "from different sessions")


def test_entries_in_the_wrong_order_are_refused_also_if_they_are_signed() -> None:
    for entries in ([MANY[3], MANY[0]], [MANY[1], MANY[0]], [MANY[0], MANY[0]], MANY[::-1]):
        refuse_object(bundle_of(entries), "is out of order")
        refuse_object(subset_of(bundle_of(entries), 0, 1), "is out of order")


@pytest.mark.parametrize(
    "item", [None, 1, "x", [], {}, {"id": "00"}, {"content": {}}, {"content": []}, {"content": None}]
)
def test_what_is_no_entry_is_refused(item: object) -> None:
    for name, data in (("entries", WHOLE), ("disclosed", PART)):
        refuse_object({**json.loads(data), name: [item]})


# The key and the signature


@shapes
def test_the_expected_key_is_compared_whatever_its_case_and_the_space_around_it(shape: str) -> None:
    for expected in (KEY.public_key, KEY.public_key.upper(), f" {KEY.public_key}\n"):
        assert proven(FILES[shape], expected).pinned
    stranger = Ed25519(made.OTHER_SEED).public_key
    assert "another key" in refusal(FILES[shape], stranger)
    assert "another key" in refusal(FILES[shape], KEY.public_key + "00")
    for nonsense in ("", " ", "xyz", "0", "ed25519"):
        with pytest.raises(ZaxyError, match="not hex") as caught:
            proven(FILES[shape], nonsense)
        assert caught.value.code == "invalid_request", "an empty pin does not mean no pin"


@shapes
def test_signatures_of_another_bundle_or_another_key_are_refused(shape: str) -> None:
    bundle = json.loads(FILES[shape])
    signature_of = {"another time": json.loads(written(MANY)), "other entries": json.loads(written(MANY[:3]))}
    for other in signature_of.values():
        refuse_object({**bundle, "signature": other["signature"]}, "signature")
    stranger = Ed25519(made.OTHER_SEED)
    signed = {**bundle, "signature": stranger.sign(made.signed_message(bundle))}
    refuse_object(signed, "signature")
    taken_over = {**bundle, "public_key": stranger.public_key}
    taken_over["signature"] = stranger.sign(made.signed_message(taken_over))
    assert proven(text_of(taken_over)).public_key == stranger.public_key, (
        "anybody can sign, which is why keys are pinned"
    )
    assert "another key" in refusal(text_of(taken_over), KEY.public_key)


def test_an_unknown_algorithm_names_those_that_are_installed() -> None:
    with pytest.raises(ZaxyError) as caught:
        proven(text_of(bundle_of(MANY, algorithm="rot13")))
    assert caught.value.code == "not_found"
    assert "(installed: ed25519, ml-dsa-44, ml-dsa-65, ml-dsa-87)" in caught.value.message


def test_an_algorithm_whose_package_is_not_installed_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with signing.signing_algorithms() as algorithms:
        host = algorithms._host
        rows = tuple(row for row in host.roster.rows if row.name != "mldsa")
        monkeypatch.setattr(host, "roster", host.roster._replace(rows=rows))
        monkeypatch.setattr(host, "_bound", {})
        with pytest.raises(ZaxyError, match=r"installed: ed25519\)") as caught:
            proven(text_of(bundle_of(MANY, algorithm="ml-dsa-65")))
    assert "pip install" in caught.value.remediation and "plugins/mldsa" in caught.value.remediation


# Proofs


def with_items(change: Callable[[list[Any]], object]) -> Json:
    subset = deepcopy(subset_of(bundle_of(MANY), 1, 3, 6))
    change(subset["disclosed"])
    return subset


@pytest.mark.parametrize("index", [-1, -(2**60), 0, 2, 4, 5, 6, 7, 8, 2**31, 2**53 - 1, 2**53, 10**30, "3", 3.5, None])
def test_a_proof_at_another_index_is_refused(index: object) -> None:
    refuse_object(with_items(lambda found: found[1].update(index=index)))


def test_a_proof_that_was_changed_is_refused() -> None:
    def proof(change: Callable[[list[Any]], object]) -> Json:
        return with_items(lambda found: change(found[1]["proof"]))

    other = {"left": "right", "right": "left"}
    for step in range(3):
        refuse_object(proof(lambda steps, step=step: steps[step].__setitem__(1, other[steps[step][1]])))
        refuse_object(proof(lambda steps, step=step: steps[step].__setitem__(0, "0" * 64)))
        refuse_object(proof(lambda steps, step=step: steps[step].__setitem__(0, steps[step][0].upper())))
        refuse_object(proof(lambda steps, step=step: steps.pop(step)))
        refuse_object(proof(lambda steps, step=step: steps.insert(step, steps[step])))
        refuse_object(proof(lambda steps, step=step: steps[step].append("left")))
    for nonsense in KINDS:
        refuse_object(with_items(lambda found, nonsense=nonsense: found[1].update(proof=nonsense)))
        refuse_object(proof(lambda steps, nonsense=nonsense: steps.append(nonsense)))
        refuse_object(proof(lambda steps, nonsense=nonsense: steps[0].__setitem__(0, nonsense)))
        refuse_object(proof(lambda steps, nonsense=nonsense: steps[0].__setitem__(1, nonsense)))
    refuse_object(proof(lambda steps: steps.extend([["0" * 64, "left"]] * 10_000)))


def test_a_proof_of_another_leaf_and_a_leaf_that_comes_twice_are_refused() -> None:
    refuse_object(with_items(lambda found: found[0].update(proof=found[1]["proof"])))
    refuse_object(with_items(lambda found: found[0].update(content=found[1]["content"])))
    refuse_object(with_items(lambda found: found.insert(1, found[1])), "ascend")
    refuse_object(with_items(lambda found: found.append(found[0])), "ascend")
    refuse_object(with_items(list.reverse), "ascend")
    refuse_object({**with_items(list), "entry_count": 8}, "not among those")
    wrong_count = subset_of(bundle_of(MANY, entry_count=64), 1)
    refuse_object(wrong_count, "not among those")


# What different programs would read differently


@shapes
@pytest.mark.parametrize("layout", ["as written", "pretty"])
def test_a_field_that_comes_twice_is_refused_at_every_level(shape: str, layout: str) -> None:
    data = FILES[shape] if layout == "as written" else text_of(json.loads(FILES[shape]), indent=1)
    found = 0
    for at in range(len(data)):
        if data[at : at + 1] != b"{" or data[at : at + 2] == b"{}":
            continue
        start = data.index(b'"', at)
        name = data[start : data.index(b'"', start + 1) + 1]
        escaped = b'"\\u%04x' % name[1] + name[2:]
        for again in (name, escaped):
            assert "twice" in refusal(data[: at + 1] + again + b":null," + data[at + 1 :])
        found += 1
    assert found >= {"bundle": 20, "subset": 6}[shape], "an object at each of the levels"


NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400, "9" * 1_000_000, "1e" + "9" * 5000, "01", "+1"]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{number:.9}")
def test_a_number_that_no_double_holds_is_refused_wherever_it_stands(number: str) -> None:
    whole = written([event(1, {"x": None, "list": [None]})])
    part = disclosed(whole, grains=["event"])
    for data in (whole, part):
        for there in (b'"x":null', b'"valid_to":null', b"[null]", b'"anchor":null'):
            assert there in data
            refusal(data.replace(there, there.replace(b"null", number.encode())))
        refusal(data.replace(b'"content":', b'"unknown":%b,"content":' % number.encode(), 1))
        refusal(data.replace(b"{", b'{"unknown":%b,' % number.encode(), 1))


@shapes
@pytest.mark.parametrize("depth", [68, 200, 1000, 30_000, 500_000])
def test_deep_nesting_is_refused(shape: str, depth: int) -> None:
    data = FILES[shape]
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        nested = opening * depth + b"1" + closing * depth
        refusal(data.replace(b"{", b'{"unknown":%b,' % nested, 1))
        refusal(data.replace(b'{"content":', b'{"a":%b,"content":' % nested, 1))
        refusal(data.replace(b'"properties":{}', b'"properties":{"a":%b}' % nested, 1))
    bundle = json.loads(data)
    value: Any = 1
    for _ in range(min(depth, 5000)):
        value = [value]
    with pytest.raises(ZaxyError):
        verify(parts_of_object({**bundle, "unknown": value}))


@shapes
@pytest.mark.parametrize("bad", [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\0", b"\n"])
def test_bytes_that_are_not_utf_8_or_not_allowed_in_a_text_are_refused(shape: str, bad: bytes) -> None:
    refusal(FILES[shape].replace(b"agent-1", b"agent" + bad, 1))
    refusal(FILES[shape].replace(b'"ship it"', b'"ship %b"' % bad, 1))


@shapes
def test_half_of_a_surrogate_pair_is_refused(shape: str) -> None:
    for half in (b"\\ud83d", b"\\ude00", b"\\ude00\\ud83d"):
        refusal(FILES[shape].replace(b"ship it", half, 1))
        refusal(FILES[shape].replace(b"{", b'{"x":"%b",' % half, 1))
        refusal(FILES[shape].replace(b"{", b'{"%b":1,' % half, 1))


# Strangers' files


class Endless(RawIOBase):
    """A file that begins like a bundle and then never ends."""

    def __init__(self, begin: bytes, more: Callable[[int], bytes]) -> None:
        self._begin, self._more = begin, more
        self._at = self.given = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset
        return offset

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "nobody asks for all of it"
        data = self._begin[self._at : self._at + size] or self._more(size)
        self._at += len(data)
        self.given += len(data)
        assert self.given < 200 << 20, "it is read for ever"
        return data


def fields(start: Iterator[int]) -> Callable[[int], bytes]:
    return lambda size: b"".join(b'"f%d":0,' % next(start) for _ in range(size // 16 + 1))


ENTRY = WHOLE[: WHOLE.index(b'"ship it"')]
HEAD = WHOLE[: WHOLE.index(b'"entries"')]
PARTED = PART[: PART.index(b'"proof":') + len(b'"proof":')]
ENDLESS = {
    "a number in the header": (HEAD + b'"x":', lambda size: b"1" * size),
    "a number at the start": (b"", lambda size: b"1" * size),
    "a fraction in an entry": (ENTRY + b"0.", lambda size: b"0" * size),
    "a number in an entry": (ENTRY, lambda size: b"9" * size),
    "a text in an entry": (ENTRY + b'"', lambda size: b"x" * size),
    "a text full of escapes": (ENTRY + b'"', lambda size: b'\\"' * (size // 2 + 1)),
    "a text in the header": (HEAD + b'"x":"', lambda size: b"]}" * size),
    "the name of a field": (HEAD + b'"', lambda size: b"x" * size),
    "lists in an entry": (ENTRY, lambda size: b"[" * size),
    "objects in the header": (HEAD + b'"x":', lambda size: b'{"a":' * (size // 5 + 1)),
    "space in the header": (HEAD, lambda size: b" " * size),
    "space at the start": (b"", lambda size: b"\n" * size),
    "space between entries": (WHOLE[: WHOLE.index(b",\n{") + 1], lambda size: b"\r" * size),
    "space behind the end": (WHOLE, lambda size: b"\t" * size),
    "fields of the header": (HEAD, fields(count())),
    "fields of an entry": (ENTRY + b"0,", fields(count())),
    "steps of a proof": (PARTED + b"[", lambda size: b'["00","left"],' * (size // 14 + 1)),
    "zeros": (b"", lambda size: b"\0" * size),
}


def refuse_endless_files() -> None:
    """In a process of its own, whose memory is measured: what became of each file, and how much was held for them."""
    import resource

    def held() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1 << 20)

    proven(WHOLE)
    before, found = held(), {}
    for name, (begin, more) in ENDLESS.items():
        file = Endless(begin, more)
        try:
            verify(lambda file=file: (file.seek(0), read_parts(file))[1])  # type: ignore[misc]
        except ZaxyError as error:
            found[name] = [error.code, file.given]
    print(json.dumps({"files": found, "megabytes": held() - before}))


@pytest.fixture(scope="module")
def endless() -> Json:
    if sys.platform == "win32":
        pytest.skip("Windows has no module resource, with which the memory is measured")
    found: Json = json.loads(in_child(refuse_endless_files, timeout=240))
    return found


@pytest.mark.parametrize("name", ENDLESS)
def test_a_file_that_never_ends_is_refused_after_a_bounded_read(name: str, endless: Json) -> None:
    code, given_ = endless["files"][name]
    assert code == "conflict"
    assert given_ <= 4 * reading.MAX_ITEM_BYTES


def test_files_that_never_end_are_refused_in_bounded_memory(endless: Json) -> None:
    assert endless["megabytes"] < 400


def test_a_long_text_that_never_closes_is_looked_through_once_and_not_again_from_each_quote() -> None:
    assert "ends too early" in refusal(ENTRY + b'"' + b'\\"' * 4_000_000)
    assert "ends too early" in refusal(ENTRY + b'"' + b"\\\\" * 4_000_000)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_no_bytes_at_all_make_verification_fail_in_another_way_than_by_refusing(data: bytes) -> None:
    refusal(data)
    refusal(b'{"version":"zaxy.portable.v1","entries":[' + data)
    refusal(b'{"version":"zaxy.portable.v1","disclosed":[{"content":' + data + b"}]}")


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*HEADER, "entries", "disclosed", "x"]), json_values, st.sampled_from(sorted(FILES)))
def test_no_value_in_a_header_makes_verification_fail_in_another_way(name: str, value: Any, shape: str) -> None:
    bundle = json.loads(FILES[shape])
    same = value == bundle.get(name, ...) or (value == [] and name == "disclosed" and shape == "subset")
    if not same:
        refuse_object({**bundle, name: value})


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["content", "id", "index", "proof", "x"]), min_size=1), st.data())
def test_no_value_in_an_entry_makes_verification_fail_in_another_way(path: list[str], data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(sorted(FILES)))
    bundle = json.loads(FILES[shape])
    at = bundle["entries" if shape == "bundle" else "disclosed"][0]
    for name in path[:-1]:
        at = at[name] if isinstance(at.get(name), dict) else at
    at[path[-1]] = data.draw(json_values)
    try:
        proven(text_of(bundle))
    except ZaxyError as error:
        assert error.code == "conflict"
    else:
        assert bundle != json.loads(FILES[shape])
        bundle["entries" if shape == "bundle" else "disclosed"][0] = {
            name: value for name, value in at.items() if name in ("id", "content", "index", "proof")
        }
        assert proven(text_of(bundle)), "only what stands beside an entry may be anything"


# The commands


def damaged() -> dict[str, tuple[bytes, str]]:
    """Files, each with what is said about it."""
    bundle = json.loads(WHOLE)
    return {
        "changed": (WHOLE.replace(b"ship it", b"sell it", 1), "the id of entry 0 is not the hash of its content"),
        "cut": (WHOLE[:-300], "it ends too early"),
        "longer": (WHOLE + b"x", "there is more text behind its end"),
        "another version": (text_of({**bundle, "version": "zaxy.portable.v2"}), "this reads"),
        "another signature": (text_of({**bundle, "signature": "00" * 64}), "its signature is not that of its key"),
        "dropped": (text_of({**bundle, "entries": bundle["entries"][:-1]}), "with 7 entries and has 6"),
        "not JSON": (b"PK\x03\x04", "it is not valid JSON"),
        "empty": (b"", "it ends too early"),
        "unsigned": (text_of({"version": "zaxy.export.unsigned.v1", "entries": []}), "it is an unsigned envelope"),
    }


@pytest.mark.parametrize("name", damaged())
def test_a_damaged_bundle_ends_every_command_with_1_and_leaves_nothing_behind(
    name: str, zaxy: Zaxy, tmp_path: Path
) -> None:
    data, why = damaged()[name]
    (tmp_path / "bundle.json").write_bytes(data)
    here = tmp_path / "here"
    commands = [
        ["verify-export", "../bundle.json"],
        ["export-disclose", "../bundle.json", "--out", "subset.json"],
    ]
    for command in commands:
        done = zaxy(*command)
        assert (done.returncode, done.stdout) == (1, ""), command
        assert why in done.stderr
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", [name for name in damaged() if name != "unsigned"])
def test_a_damaged_bundle_is_not_imported_at_all(name: str, tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    try:
        with pytest.raises(ZaxyError) as caught:
            memory.import_bundle(BytesIO(damaged()[name][0]), "theirs")
        assert caught.value.code == "conflict"
        assert memory.sessions() == []
    finally:
        memory.close()


def test_a_good_bundle_by_another_key_is_neither_verified_nor_imported(zaxy: Zaxy, tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_bytes(WHOLE)
    (tmp_path / "subset.json").write_bytes(PART)
    stranger = Ed25519(made.OTHER_SEED).public_key
    for command in (["verify-export", "../bundle.json"], ["verify-export-subset", "../subset.json"]):
        assert zaxy(*command, "--expect-public-key", KEY.public_key).returncode == 0
        done = zaxy(*command, "--expect-public-key", stranger)
        assert (done.returncode, done.stdout) == (1, "")
        assert "another key" in done.stderr
    done = zaxy("import", "../bundle.json", "--session", "theirs", "--expect-public-key", stranger)
    assert (done.returncode, done.stdout) == (1, "")
    assert not list((tmp_path / "here").glob("**/*.jsonl"))


def test_a_bundle_is_proven_before_the_first_of_its_events_is_written(tmp_path: Path) -> None:
    """The damage is in the very last entry, behind more events than are appended together."""
    data = written([event(seq, {"n": seq}) for seq in range(1, 1201)])
    at = data.rindex(b'"n":1200')
    changed = data[:at] + b'"n":1201' + data[at + 8 :]
    memory = Memory.open(tmp_path)
    try:
        with pytest.raises(ZaxyError, match="entry 1199"):
            import_bundle(memory, parts_of_file(BytesIO(changed)), session="theirs")
        assert memory.sessions() == []
        assert import_bundle(memory, parts_of_file(BytesIO(data)), session="theirs").new == 1200
        assert proven(bundle_bytes(memory, EVERYTHING, "theirs", SIGNER)).session_id == "theirs"
    finally:
        memory.close()


def _with_long_proof(steps: int, layout: str) -> bytes:
    """A subset whose first proof has that many steps, in one of the ways in which JSON may be laid out."""
    item = {**json.loads(PART)["disclosed"][0], "proof": [["ab" * 32, "left"]] * steps}
    if layout == "a line each":
        lines = PART.split(b"\n")
        return b"\n".join([lines[0], encode(item, MAX_ENTRY_DEPTH + 1) + b",", *lines[2:]])
    if layout == "the proof first":
        item = dict(reversed(item.items()))
    subset = json.loads(PART)
    subset["disclosed"][0] = item
    if layout == "the list first":
        subset = dict(reversed(subset.items()))
    text = json.dumps(subset, indent=1 if layout == "indented" else None)
    return (text.replace('"proof"', r'"pr\u006fof"', 1) if layout == "an escaped name" else text).encode()


LAYOUTS = ("a line each", "one line", "indented", "the proof first", "the list first", "an escaped name")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("steps", [54, 65, 3000, 100_000])
def test_a_proof_that_no_tree_allows_is_refused_before_anything_is_hashed(
    steps: int, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[bytes] = []
    monkeypatch.setattr(verification, "leaf_hash", lambda data: hashed.append(data))
    monkeypatch.setattr(reading, "canonical", lambda value: pytest.fail("its canonical form was made"))
    file = BytesIO(_with_long_proof(steps, layout))
    with pytest.raises(ZaxyError, match="proof"):
        verify(parts_of_file(file))
    assert not hashed
    assert file.tell() <= 2 * reading.CHUNK_BYTES or layout == "an escaped name", "the rest was not read"


@given(st.integers(0, 70), st.integers(1, 2**53 - 1))
def test_no_right_proof_is_longer_than_its_tree_allows(shift: int, count: int) -> None:
    count = max(count >> shift, 1)
    for index in {0, count // 2, count - 1}:
        needed, at, last = 0, index, count - 1
        while last:
            needed += at ^ 1 <= last
            at, last = at >> 1, last >> 1
        assert needed <= max_steps(count) <= reading.MAX_PROOF_STEPS
    assert root_by_proof(bytes(32), 0, count, [("00" * 32, "right")] * (max_steps(count) + 1)) is None
