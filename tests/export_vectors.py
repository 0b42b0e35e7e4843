"""Makes contracts/vectors/export-v1.json without any code of Zaxy: `python tests/export_vectors.py` writes the file.

Keys, nonce and times are fixed. ML-DSA signatures are not: one that stands in the file and is good is kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey

FILE = Path(__file__).parents[1] / "contracts" / "vectors" / "export-v1.json"
ABOUT = (
    "Test vectors of exported memory: zaxy.export.v1, zaxy.portable.v1. docs/export-contract.md explains them. "
    "The private keys are public: trust nothing that they signed."
)
SEED = bytes(range(32))
"""The private key of both algorithms."""
OTHER_SEED = bytes(range(32, 64))
NONCE = "00112233445566778899aabbccddeeff"
CREATED_AT = "2026-06-15T12:00:00.000000Z"
SESSION = "agent-1"
NOT_SIGNED = ("entries", "disclosed", "signature")
Json = dict[str, Any]


# What is signed, and how


def canonical(value: Any) -> bytes:
    return rfc8785.dumps(value)


def id_of(entry: Json) -> bytes:
    return sha256(canonical(entry)).digest()


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\0" + data).digest()


def tree_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, as it is written there."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = _split(len(leaves))
    return sha256(b"\1" + tree_root(leaves[:split]) + tree_root(leaves[split:])).digest()


def tree_proof(index: int, leaves: list[bytes]) -> list[list[str]]:
    """PATH of RFC 6962, section 2.1.1, with the side of each sibling."""
    if len(leaves) == 1:
        return []
    split = _split(len(leaves))
    if index < split:
        return [*tree_proof(index, leaves[:split]), [tree_root(leaves[split:]).hex(), "right"]]
    return [*tree_proof(index - split, leaves[split:]), [tree_root(leaves[:split]).hex(), "left"]]


def _split(count: int) -> int:
    """The largest power of two below the count."""
    return 1 << (count - 1).bit_length() - 1


def signed_message(header: Json) -> bytes:
    bound = {name: value for name, value in header.items() if name not in NOT_SIGNED}
    return b"zaxy.portable.v1\n" + canonical(bound)


class Ed25519:
    name = "ed25519"

    def __init__(self, seed: bytes = SEED) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public_key = self._key.public_key().public_bytes_raw().hex()

    def sign(self, message: bytes) -> str:
        return self._key.sign(message).hex()


class MlDsa65:
    name = "ml-dsa-65"

    def __init__(self, kept: list[str]) -> None:
        self._key = MLDSA65PrivateKey.from_seed_bytes(SEED)
        self._kept = kept
        self.public_key = self._key.public_key().public_bytes_raw().hex()

    def sign(self, message: bytes) -> str:
        for signature in self._kept:
            try:
                self._key.public_key().verify(bytes.fromhex(signature), message)
            except (ValueError, InvalidSignature):
                continue
            return signature
        self._kept.append(self._key.sign(message).hex())
        return self._kept[-1]


Key = Ed25519 | MlDsa65
KEY = Ed25519()


def bundle_of(entries: list[Json], key: Key = KEY, **header: Any) -> Json:
    """A bundle that is right, unless the header that is given is not: that is signed as it is."""
    root = tree_root([leaf_hash(id_of(entry)) for entry in entries]).hex()
    made = {
        "version": "zaxy.portable.v1",
        "algorithm": key.name,
        "public_key": key.public_key,
        "session_id": SESSION,
        "created_at": CREATED_AT,
        "nonce": NONCE,
        "anchor": None,
        "entries": [{"content": entry, "id": id_of(entry).hex()} for entry in entries],
        "entry_count": len(entries),
        "merkle_root": root,
        **header,
    }
    return {**made, "signature": key.sign(signed_message(made))}


def subset_of(bundle: Json, *indexes: int) -> Json:
    entries = [item["content"] for item in bundle["entries"]]
    leaves = [leaf_hash(id_of(entry)) for entry in entries]
    disclosed = [{"content": entries[at], "index": at, "proof": tree_proof(at, leaves)} for at in indexes]
    return {**{name: value for name, value in bundle.items() if name != "entries"}, "disclosed": disclosed}


# The entries


def cited(seq: int, session: str = SESSION) -> str:
    return f"eventloom://{session}/events/{seq}#{sha256(f'event {seq}'.encode()).hexdigest()}"


def event(seq: int, payload: Any, **content: Any) -> Json:
    said = {"type": "decision.made", "actor": "assistant", "thread": SESSION, "payload": payload, **content}
    return entry(seq, "event", said["type"], "eventloom", said)


def entry(seq: int, grain: str, kind: str, source: str, content: Json) -> Json:
    return {
        "schema_version": "zaxy.export.v1",
        "grain": grain,
        "kind": kind,
        "citation": cited(seq),
        "seq": seq,
        "valid_from": "2026-06-15T00:00:00.000000Z",
        "valid_to": None,
        "source": source,
        "content": content,
    }


SHIP = event(1, {"decision": "ship it"})
SHIP_ENTITY = entry(
    *(1, "semantic", "entity:decision", "extraction"),
    {"name": "ship it", "entity_type": "decision", "summary": "ship it", "properties": {}},
)
SHIP_EDGE = {
    **entry(
        *(1, "semantic", "edge:made_decision", "extraction"),
        {
            "source": "actor:assistant",
            "target": "decision:ship it",
            "relation_type": "made_decision",
            "confidence": 0.75,
            "inferred": True,
            "inference_method": "rule",
            "evidence": "ship it",
        },
    ),
    "valid_to": "2026-06-16T00:00:00.000000Z",
}
ODD = event(2, {"\ufb33": 1, "😀": 2, "floats": [0.1, 1e21, 1e16, 5e-324, -0.0], "text": 'é"\\\u0007\n'})
SECRET = event(4, {"decision": "sell"}, sensitivity="restricted")
ERASED = event(7, None, erased=True)


def nested(levels: int) -> Json:
    return {"in": nested(levels - 1)} if levels > 1 else {}


DEEP = event(9, nested(64))
FEW = [SHIP, SHIP_ENTITY, SECRET]
MANY = [SHIP, SHIP_ENTITY, SHIP_EDGE, ODD, SECRET, ERASED, DEEP]


# The vectors


def vectors(kept: list[str]) -> Json:
    return {
        "about": ABOUT,
        "format": 1,
        "keys": {
            "ed25519": {"private_key": SEED.hex(), "public_key": KEY.public_key},
            "ml-dsa-65": {"seed": SEED.hex(), "public_key": MlDsa65(kept).public_key},
        },
        "canonical": list(_canonical()),
        "entries": [_entry_vector(*named) for named in _named_entries()],
        "trees": [{"name": f"{n} leaves", "count": n, "root": tree_root(ids(n)).hex()} for n in TREES],
        "proofs": list(_proofs()),
        "files": [*_good_files(kept), *_bad_files(kept)],
    }


TREES = (*range(10), 15, 16, 17, 31, 33, 64, 65, 70, 100, 1000, 1025)


def ids(count: int) -> list[bytes]:
    """The leaves of a tree: the id of entry n is here the SHA-256 of n in decimal digits."""
    return [leaf_hash(sha256(str(number).encode()).digest()) for number in range(count)]


def _canonical() -> Iterator[Json]:
    bad_texts = (
        ("keys sort by UTF-16 code units", '{"\\ufb33":1,"\\ud83d\\ude00":2,"a":3,"\\u20ac":4,"":5}'),
        ("numbers as doubles", "[1.0, 1E0, -0, -0.0, 1e16, 10000000000000000, 9007199254740993, 1e21, 1e-6, 1e-7]"),
        ("the smallest and the largest double", "[5e-324, 1.7976931348623157e308, 4.50, 333333333.33333329]"),
        (
            "what is escaped, and what is not",
            '"\\u0000\\u001f\\b\\t\\n\\f\\r\\u0022\\u005c\\u002f\\u007f\\u00e9\\u2028"',
        ),
        ("space is left out", ' { "b" : [ true , false , null ] , "a" : { } } '),
        ("a number that no double holds has none", "[1e999]"),
        ("nor has an integer that no double holds", "1" + "0" * 400),
        ("half of a surrogate pair has none", '"\\ud83d"'),
    )
    for name, text in bad_texts:
        value = json.loads(text, parse_int=float)
        try:
            data = canonical(value)
        except (rfc8785.CanonicalizationError, UnicodeEncodeError):
            yield {"name": name, "json": text, "canonical": None, "sha256": None}
            continue
        yield {"name": name, "json": text, "canonical": data.decode(), "sha256": sha256(data).hexdigest()}


def _named_entries() -> list[tuple[str, Json]]:
    return [
        ("an event", SHIP),
        ("an entity", SHIP_ENTITY),
        ("an edge that ended", SHIP_EDGE),
        ("an event with numbers, keys and texts that are hard to write", ODD),
        ("an event that is not internal", SECRET),
        ("an erased event", ERASED),
        ("an event whose payload is nested 64 deep", DEEP),
    ]


def _entry_vector(name: str, content: Json) -> Json:
    leaf = leaf_hash(id_of(content)).hex()
    return {"name": name, "canonical": canonical(content).decode(), "id": id_of(content).hex(), "leaf": leaf}


def _proofs() -> Iterator[Json]:
    def vector(name: str, index: int, count: int, of: int, proof: Any, good: bool) -> Json:
        root = tree_root(ids(of)).hex()
        return {"name": name, "index": index, "count": count, "root": root, "proof": proof, "good": good}

    places = [(at, count) for count in range(1, 10) for at in range(count)]
    places += [(0, 70), (63, 70), (64, 70), (69, 70), (0, 1025), (512, 1025), (1023, 1025), (1024, 1025)]
    for at, count in places:
        yield vector(f"leaf {at} of {count}", at, count, count, tree_proof(at, ids(count)), True)
    right = tree_proof(4, ids(7))
    for name, at, count, proof in (
        ("at another index", 5, 7, right),
        ("at an index beyond the count", 7, 7, right),
        ("at a huge index", 2**53 - 1, 7, right),
        ("at a negative index", -1, 7, right),
        ("for a smaller count", 4, 5, right),
        ("for a larger count", 4, 9, right),
        ("for no leaves", 4, 0, right),
        ("for one leaf, without any step", 4, 1, []),
        ("without its last step", 4, 7, right[:-1]),
        ("with a step more", 4, 7, [*right, right[-1]]),
        ("without any step", 4, 7, []),
        ("with a sibling on the other side", 4, 7, [[right[0][0], "left"], *right[1:]]),
        ("with a side that there is not", 4, 7, [[right[0][0], "Right"], *right[1:]]),
        ("with another sibling", 4, 7, [["0" * 64, "right"], *right[1:]]),
        ("in the reverse order", 4, 7, right[::-1]),
        ("of another leaf", 4, 7, tree_proof(6, ids(7))),
    ):
        yield vector(f"the proof of leaf 4 of 7 {name}", at, count, 7, proof, False)


def _text(bundle: Json, **layout: Any) -> str:
    return json.dumps(bundle, ensure_ascii=False, **({"separators": (",", ":")} | layout))


def _in_lines(bundle: Json) -> str:
    """As Zaxy writes it: an entry to a line."""
    name = "entries" if "entries" in bundle else "disclosed"
    items = ",\n".join(canonical(item).decode() for item in bundle[name])
    return _text({**bundle, name: []}).replace(f'"{name}":[]', f'"{name}":[\n{items}\n]') + "\n"


def _good_files(kept: list[str]) -> Iterator[Json]:
    many, few = bundle_of(MANY), bundle_of(FEW)

    def good(name: str, bundle: Json, text: str = "", expected: str = "") -> Json:
        items = bundle.get("entries", bundle.get("disclosed"))
        proven_fields = ("session_id", "algorithm", "public_key", "created_at", "merkle_root")
        proves = {
            "shape": "signed bundle" if "entries" in bundle else "disclosed subset",
            "entries": len(items or ()),
            "of": bundle["entry_count"],
            **{field: bundle[field] for field in proven_fields},
        }
        pin = {"expect_public_key": expected} if expected else {}
        return {"name": name, "file": text or _in_lines(bundle), **pin, "reason": None, "proves": proves}

    yield good("a signed bundle as it is written", many)
    yield good("with the expected key", few, expected=KEY.public_key)
    yield good("with the expected key in upper case", few, expected=KEY.public_key.upper())
    yield good("printed over many lines", few, _text(few, indent=2, separators=None))
    yield good("in one line, with sorted keys", many, _text(many, sort_keys=True))
    yield good("with the entries before the version", few, _text(dict(sorted(few.items(), reverse=True))))
    yield good("with every character beyond ASCII escaped", many, json.dumps(many))
    yield good("with an escape that need not be one", few, _in_lines(few).replace("ship it", "\\u0073hip it"))
    yield good("with whole numbers written as 1.0 and 3E0", few, _whole_numbers_written_otherwise(few))
    yield good("with CR LF and space behind it", few, _in_lines(few).replace("\n", "\r\n") + " \t\n")
    yield good("of no entries", bundle_of([]))
    yield good("of one entry", bundle_of([SHIP]))
    yield good("with a field in its header that nobody knows", bundle_of(FEW, purpose={"of": ["audit", 0.5]}))
    yield good("with an anchor", bundle_of(FEW, anchor={"kind": "some", "proof": "00"}))
    yield good("with +00:00 for Z", bundle_of(FEW, created_at="2026-06-15T12:00:00+00:00"))
    yield good("with the greatest seq", bundle_of([event(2**53 - 1, {})]))
    yield good("with a field in an entry that nobody knows", bundle_of([{**SHIP, "weight": 1.5}]))
    beside = deepcopy(few)
    beside["entries"][0]["note"] = "not signed"
    yield good("with a field beside an id, which is not signed", beside)
    for indexes in ((0,), (3,), (6,), (1, 2, 5), tuple(range(7)), ()):
        yield good(f"the subset of {list(indexes)} of seven", subset_of(many, *indexes))
    yield good("the subset of an only entry", subset_of(bundle_of([SHIP]), 0))
    yield good("a subset printed over many lines", subset_of(many, 2, 4), _text(subset_of(many, 2, 4), indent=1))
    beside = subset_of(many, 3)
    beside["disclosed"][0]["note"] = "not signed"
    yield good("a subset with a field beside a proof, which is not signed", beside)
    quantum = bundle_of(FEW, MlDsa65(kept))
    yield good("a bundle that is signed with ml-dsa-65", quantum)
    yield good("a subset that is signed with ml-dsa-65", subset_of(quantum, 1), expected=quantum["public_key"])


def _whole_numbers_written_otherwise(bundle: Json) -> str:
    text = _in_lines(bundle)
    for written, otherwise in (('"seq":1,', '"seq":1.0,'), ('"entry_count":3', '"entry_count":3E0')):
        assert written in text
        text = text.replace(written, otherwise)
    return text


def _bad_files(kept: list[str]) -> Iterator[Json]:
    few = bundle_of(FEW)
    subset = subset_of(bundle_of(MANY), 1, 3)
    text = _in_lines(few)

    def bad(reason: str, name: str, file: Json | str | bytes, expected: str = "") -> Json:
        data = file if isinstance(file, bytes) else (file if isinstance(file, str) else _in_lines(file)).encode()
        pin = {"expect_public_key": expected} if expected else {}
        try:
            return {"name": name, "file": data.decode(), **pin, "reason": reason}
        except UnicodeDecodeError:
            return {"name": name, "file_hex": data.hex(), **pin, "reason": reason}

    def changed(bundle: Json, change: Callable[[Json], object]) -> Json:
        copy = deepcopy(bundle)
        change(copy)
        return copy

    def items(bundle: Json, change: Callable[[list[Any]], object]) -> Json:
        return changed(bundle, lambda copy: change(copy["entries" if "entries" in copy else "disclosed"]))

    # JSON
    yield bad("not_json", "nothing", "")
    yield bad("not_json", "a list", "[]")
    yield bad("not_json", "cut in its last entry", text[: text.rindex('"citation"') + 40])
    yield bad("not_json", "cut before its last brace", text.rstrip()[:-1])
    yield bad("not_json", "something behind it", text + "{}")
    yield bad("not_json", "a byte order mark", "\ufeff" + text)
    yield bad("not_json", "bytes that are not UTF-8", text.encode().replace(b"ship it", b"ship \xff"))
    yield bad("not_json", "NaN", text.replace('"ship it"', "NaN", 1))
    yield bad("not_json", "a number with a leading zero", text.replace('"entry_count":3', '"entry_count":03'))
    yield bad("not_json", "a comma behind the last entry", text.replace("\n]", ",\n]"))
    yield bad("not_json", "a line end in a text", text.replace("ship it", "ship\nit", 1))
    yield bad("duplicate_field", "a header field twice", text.replace("{", f'{{"nonce":"{NONCE}",', 1))
    yield bad("duplicate_field", "the entries twice", text.replace("{", '{"entries":[],', 1))
    yield bad("duplicate_field", "an id twice", text.replace('"id":', '"id":"00","id":', 1))
    yield bad("duplicate_field", "a field of an entry twice", text.replace('"grain":', '"grain":"event","grain":', 1))
    yield bad(
        "duplicate_field",
        "twice in a payload, once escaped",
        text.replace('{"decision"', '{"\\u0064ecision":0,"decision"', 1),
    )
    yield bad("no_canonical_form", "1e999 in an entry", text.replace('"ship it"', "1e999", 1))
    yield bad("no_canonical_form", "an integer of 400 digits in an entry", text.replace('"ship it"', "9" * 400, 1))
    empty = _in_lines(bundle_of([event(1, {"x": None})]))
    yield bad("no_canonical_form", "1e999 where null was signed", empty.replace('"x":null', '"x":1e999'))
    yield bad("no_canonical_form", "half of a surrogate pair in an entry", text.replace('"ship it"', '"\\ud83d"', 1))
    yield bad("no_canonical_form", "1e999 in the header", text.replace("{", '{"x":1e999,', 1))
    yield bad("no_canonical_form", "half of a surrogate pair in the header", text.replace("{", '{"x":"\\udead",', 1))
    lists = "[" * 64 + "]" * 64
    yield bad("no_canonical_form", "a header that is nested 65 deep", text.replace("{", f'{{"x":{lists},', 1))
    yield bad("no_canonical_form", "a payload that is nested 65 deep", bundle_of([event(9, nested(65))]))

    # The shape
    yield bad("wrong_shape", "an empty object", "{}")
    yield bad("wrong_shape", "no version", changed(few, lambda b: b.pop("version")))
    yield bad("wrong_shape", "a version that is a number", _text({**few, "version": 1}))
    yield bad("wrong_shape", "no entries", _text({name: few[name] for name in few if name != "entries"}))
    yield bad("wrong_shape", "entries that are an object", _text({**few, "entries": {}}))
    yield bad("wrong_shape", "entries and disclosed ones", _text({**few, "disclosed": []}))
    halves = {**few, "entries": few["entries"][:2], "disclosed": few["entries"][2:]}
    yield bad("wrong_shape", "entries that go on in a second list", _text(halves))
    yield bad("wrong_shape", "an entry that is a text", _text({**few, "entries": ["x"]}))
    yield bad("wrong_shape", "an item without content", items(few, lambda entries: entries[1].pop("content")))
    yield bad("wrong_shape", "a disclosed item without content", items(subset, lambda d: d[0].pop("content")))
    yield bad("wrong_version", "a newer version", bundle_of(FEW, version="zaxy.portable.v2"))
    yield bad("wrong_version", "the version in upper case", bundle_of(FEW, version="ZAXY.PORTABLE.V1"))
    disclosed = {"version": "zaxy.export.unsigned.v1", "disclosed": subset["disclosed"]}
    yield bad("wrong_version", "a subset of an unsigned envelope", {**subset, **disclosed})

    # The header
    for name in ("algorithm", "public_key", "session_id", "created_at", "nonce", "anchor", "entry_count"):
        yield bad("wrong_header", f"no {name}", changed(few, lambda b, name=name: b.pop(name)))
    yield bad("wrong_header", "no merkle_root", changed(few, lambda b: b.pop("merkle_root")))
    yield bad("wrong_header", "no signature", changed(few, lambda b: b.pop("signature")))
    yield bad("wrong_header", "a subset without its anchor", changed(subset, lambda b: b.pop("anchor")))
    yield bad("wrong_header", "a root in upper case", bundle_of(FEW, merkle_root=few["merkle_root"].upper()))
    yield bad("wrong_header", "a key in upper case", bundle_of(FEW, public_key=KEY.public_key.upper()))
    yield bad("wrong_header", "a signature in upper case", {**few, "signature": few["signature"].upper()})
    yield bad("wrong_header", "half a byte in the nonce", bundle_of(FEW, nonce=NONCE[:-1]))
    yield bad("wrong_header", "an entry_count that is a text", bundle_of(FEW, entry_count="3"))
    yield bad("wrong_header", "an entry_count below zero", bundle_of(FEW, entry_count=-3))
    yield bad("wrong_header", "an entry_count that is true", bundle_of([SHIP], entry_count=True))
    yield bad("wrong_header", "an entry_count of 3.5", bundle_of(FEW, entry_count=3.5))
    yield bad("wrong_header", "an algorithm that is null", bundle_of(FEW, algorithm=None))
    yield bad("wrong_header", "a session_id that is none", bundle_of([], session_id="a/../b"))
    yield bad("wrong_header", "a session_id with a control character", bundle_of([], session_id="a\u001b[2J"))
    yield bad("wrong_header", "a created_at that is a date", bundle_of(FEW, created_at="2026-06-15"))
    yield bad("wrong_header", "a created_at that is not in UTC", bundle_of(FEW, created_at="2026-06-15T12:00:00+02:00"))

    # The entries
    yield bad("wrong_id", "a content that was changed", text.replace("ship it", "sell it", 1))
    yield bad("wrong_id", "an id that was changed", items(few, lambda entries: entries[0].update(id="0" * 64)))
    yield bad("wrong_id", "an id in upper case", items(few, lambda e: e[0].update(id=e[0]["id"].upper())))
    yield bad("wrong_id", "no id", items(few, lambda entries: entries[0].pop("id")))
    yield bad("wrong_id", "ids that were swapped", items(few, _swap_ids))
    yield bad("wrong_count", "an entry dropped", items(few, lambda entries: entries.pop()))
    yield bad("wrong_count", "an entry added", _with_entries([*FEW, ERASED]))
    yield bad("wrong_count", "an entry doubled", _with_entries([SHIP, SHIP_ENTITY, SHIP_ENTITY, SECRET]))
    yield bad("wrong_count", "an entry_count that was signed wrongly", bundle_of(FEW, entry_count=4))
    yield bad("wrong_count", "the greatest entry_count", bundle_of(FEW, entry_count=2**53 - 1))
    yield bad("wrong_root", "an entry of another bundle", _with_entries([SHIP, SHIP_ENTITY, ERASED]))
    yield bad("wrong_root", "a root that was signed wrongly", bundle_of(FEW, merkle_root="0" * 64))
    yield bad("wrong_root", "a root that is too short", bundle_of(FEW, merkle_root="00"))
    yield bad("wrong_root", "the root of no entries that is not that of nothing", bundle_of([], merkle_root="0" * 64))
    for name, change in _malformed().items():
        yield bad("wrong_entry", f"an entry with {name}", bundle_of([{**SHIP, **change}]))
    for name in sorted(SHIP):
        lacking = {field: value for field, value in SHIP.items() if field != name}
        yield bad("wrong_entry", f"an entry without {name}", bundle_of([lacking]))
    other = {**SHIP_ENTITY, "citation": cited(1)[:-1] + "0"}
    yield bad("wrong_entry", "two events of one seq", bundle_of([SHIP, other]))
    yield bad("wrong_order", "entries against the order of seq", bundle_of([SECRET, SHIP]))
    yield bad("wrong_order", "an event behind what was extracted from it", bundle_of([SHIP_ENTITY, SHIP]))
    yield bad("wrong_order", "an event twice", bundle_of([SHIP, SHIP]))
    yield bad("wrong_session", "entries of another session", bundle_of(FEW, session_id="agent-2"))
    foreign = {**SECRET, "citation": cited(4, "agent-2")}
    yield bad("wrong_session", "an entry of another session", bundle_of([SHIP, foreign]))
    yield bad("wrong_session", "a subset of another session", subset_of(bundle_of(FEW, session_id="agent-2"), 1))

    # The proofs
    for name, index in (("another index", 4), ("another index in the same subtree", 2)):
        yield bad("wrong_proof", name, items(subset, lambda d, index=index: d[1].update(index=index)))
    for name, value in _bad_indexes().items():
        yield bad(
            "wrong_index", f"an index that is {name}", items(subset, lambda d, value=value: d[1].update(index=value))
        )
    yield bad("wrong_index", "no index", items(subset, lambda d: d[0].pop("index")))
    yield bad("wrong_index", "an entry disclosed twice", items(subset, lambda d: d.insert(0, d[0])))
    yield bad("wrong_index", "entries in the reverse order", items(subset, lambda d: d.reverse()))
    for name, change in _bad_proofs().items():
        yield bad("wrong_proof", f"a proof {name}", items(subset, lambda d, change=change: change(d[0])))
    yield bad("wrong_proof", "the proof of another leaf", items(subset, lambda d: d[0].update(proof=d[1]["proof"])))
    yield bad("wrong_proof", "a content that was not signed", items(subset, lambda d: d[0].update(content=SHIP)))
    yield bad("wrong_proof", "a subset with another count", {**subset, "entry_count": 15})
    yield bad("wrong_proof", "a subset with another root", {**subset, "merkle_root": "0" * 64})

    # The signature
    stranger = Ed25519(OTHER_SEED)
    yield bad("wrong_key", "another key than the expected one", few, stranger.public_key)
    yield bad("wrong_key", "a subset by another key than the expected one", subset, stranger.public_key)
    yield bad("wrong_signature", "the key of somebody else", {**few, "public_key": stranger.public_key})
    yield bad("wrong_signature", "the signature of another bundle", {**few, "signature": bundle_of(MANY)["signature"]})
    yield bad("wrong_signature", "no bytes of a signature", {**few, "signature": ""})
    yield bad("wrong_signature", "a signature that is too long", {**few, "signature": few["signature"] + "00"})
    yield bad("wrong_signature", "a key that is too short", bundle_of(FEW, public_key="00"))
    yield bad("wrong_signature", "another created_at", {**few, "created_at": "2026-06-16T12:00:00.000000Z"})
    yield bad("wrong_signature", "another nonce", {**few, "nonce": "f" * 32})
    yield bad("wrong_signature", "another anchor", {**few, "anchor": {}})
    yield bad("wrong_signature", "a header field that was added", {**few, "purpose": "audit"})
    signed_more = bundle_of(FEW, purpose="audit")
    yield bad("wrong_signature", "an unknown field that was dropped", changed(signed_more, lambda b: b.pop("purpose")))
    yield bad("wrong_signature", "a subset with another nonce", {**subset, "nonce": "f" * 32})
    raw = KEY.sign(signed_message(few).partition(b"\n")[2])
    yield bad("wrong_signature", "a signature over the header without the version before it", {**few, "signature": raw})
    quantum = bundle_of(FEW, MlDsa65(kept))
    yield bad("wrong_signature", "ml-dsa-65 and another nonce", {**quantum, "nonce": "f" * 32})
    yield bad("unknown_algorithm", "an algorithm that there is not", bundle_of(FEW, algorithm="rot13"))
    yield bad("unknown_algorithm", "ed25519 in upper case", bundle_of(FEW, algorithm="Ed25519"))


def _with_entries(entries: list[Json]) -> Json:
    """The header that was signed for a few, with other entries."""
    return {**bundle_of(FEW), "entries": bundle_of(entries)["entries"]}


def _swap_ids(entries: list[Any]) -> None:
    entries[0]["id"], entries[1]["id"] = entries[1]["id"], entries[0]["id"]


def _malformed() -> dict[str, Json]:
    return {
        "another schema": {"schema_version": "zaxy.export.v2"},
        "an unknown grain": {"grain": "rumour", "source": ""},
        "the source of the other grain": {"source": "extraction"},
        "a kind that is null": {"kind": None},
        "a seq of 0": {"seq": 0, "citation": cited(0)},
        "a seq beyond the greatest": {"seq": 2.0**53, "citation": cited(2**53)},
        "a seq that is a text": {"seq": "1"},
        "a seq that is true": {"seq": True},
        "a seq of 1.5": {"seq": 1.5},
        "a citation of another seq": {"citation": cited(2)},
        "a short citation": {"citation": cited(1)[:-52]},
        "a citation in upper case": {"citation": cited(1)[:-64] + cited(1)[-64:].upper()},
        "a citation that is null": {"citation": None},
        "a content that is a list": {"content": []},
        "a valid_from that is a number": {"valid_from": 0},
        "a valid_to that is false": {"valid_to": False},
    }


def _bad_indexes() -> dict[str, Any]:
    return {"negative": -1, "the count": 7, "huge": 2.0**53, "a text": "3", "true": True, "null": None, "3.5": 3.5}


def _bad_proofs() -> dict[str, Callable[[Json], object]]:
    def steps(change: Callable[[list[Any]], object]) -> Callable[[Json], object]:
        return lambda item: change(item["proof"])

    return {
        "that is not there": lambda item: item.pop("proof"),
        "that is a text": lambda item: item.update(proof="00"),
        "without its last step": steps(lambda proof: proof.pop()),
        "without its first step": steps(lambda proof: proof.pop(0)),
        "with a step more": steps(lambda proof: proof.append(proof[-1])),
        "with a thousand steps": steps(lambda proof: proof.extend([proof[-1]] * 1000)),
        "with the other side": steps(lambda proof: proof[0].__setitem__(1, "right")),
        "with no side": steps(lambda proof: proof[0].pop()),
        "with a side that is null": steps(lambda proof: proof[0].__setitem__(1, None)),
        "with a hash in upper case": steps(lambda proof: proof[0].__setitem__(0, proof[0][0].upper())),
        "with a short hash": steps(lambda proof: proof[0].__setitem__(0, proof[0][0][:-2])),
        "with a step that is a text": steps(lambda proof: proof.__setitem__(0, "left")),
        "in the reverse order": steps(lambda proof: proof.reverse()),
    }


def kept_signatures() -> list[str]:
    """ML-DSA signatures of the file that is there, if there is one."""
    try:
        files = json.loads(FILE.read_bytes())["files"]
    except FileNotFoundError:
        return []
    found = []
    for vector in files:
        if vector["reason"] is None and '"ml-dsa-65"' in vector["file"]:
            found.append(json.loads(vector["file"])["signature"])
    return found


def rendered() -> str:
    return json.dumps(vectors(kept_signatures()), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(rendered(), encoding="utf-8")
    sys.stdout.write(f"{FILE} has {len(vectors(kept_signatures())['files'])} files\n")
