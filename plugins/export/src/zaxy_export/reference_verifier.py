"""Verifies a signed bundle or a disclosed subset of memory: one file, written for auditors to read and to copy.

It follows docs/export-contract.md step by step and shares no code with the rest of Zaxy. It needs Python 3.11 and, for
the signature, the package `cryptography`. It holds the whole file, so it is for files up to 512 MiB.

    python reference_verifier.py FILE [--expect-public-key HEX]

Exit code 0: the file is what its key signed. 1: it is not, or this program cannot tell. The first word of the message
is the name of the reason.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from decimal import Decimal
from hashlib import sha256
from typing import Any, NoReturn

VERSION, SCHEMA = "zaxy.portable.v1", "zaxy.export.v1"
MAX_FILE_BYTES = 512 << 20
MAX_WHOLE = 2**53 - 1
MAX_HEADER_DEPTH, MAX_ITEM_DEPTH = 64, 67
MAX_STEPS = 53
HEADER = ("version", "algorithm", "public_key", "session_id", "created_at", "nonce", "anchor", "entry_count")
HEX = ("public_key", "nonce", "merkle_root", "signature")
SOURCES = {"event": "eventloom", "semantic": "extraction"}
SESSION = r"[A-Za-z0-9_.-]{1,128}"
CREATED_AT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|\+00:00)"


class Refused(Exception):
    """The file is not what it claims to be. `reason` is one of the names in the contract."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason


def verify(data: bytes, expected_key: str | None = None) -> dict[str, Any]:
    """What the bytes of a file prove. Bytes that prove nothing are refused."""
    bundle = parse(data)
    lists = [name for name in ("entries", "disclosed") if isinstance(bundle, dict) and name in bundle]
    if not isinstance(bundle, dict):
        raise Refused("not_json", "it is not an object")
    if len(lists) != 1 or not isinstance(bundle[lists[0]], list) or not isinstance(bundle.get("version"), str):
        raise Refused("wrong_shape", "it needs a version, and either entries or disclosed entries")
    if bundle["version"] != VERSION:
        raise Refused("wrong_version", f"this reads {VERSION}")
    items = bundle[lists[0]]
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("content"), dict):
            raise Refused("wrong_shape", "an entry has no content")
        if lists == ["disclosed"] and isinstance(item.get("proof"), list) and len(item["proof"]) > MAX_STEPS:
            raise Refused("wrong_proof", "a proof is longer than any tree allows")
        canonical(item, MAX_ITEM_DEPTH)
    message = signed_message(bundle)
    check_header(bundle)
    (check_whole if lists == ["entries"] else check_subset)(bundle, items)
    check_entries([item["content"] for item in items], bundle["session_id"])
    if expected_key is not None and bundle["public_key"] != expected_key.strip().lower():
        raise Refused("wrong_key", "it was signed by another key than the expected one")
    key, signature = bytes.fromhex(bundle["public_key"]), bytes.fromhex(bundle["signature"])
    if not is_signature(bundle["algorithm"], key, message, signature):
        raise Refused("wrong_signature", "its key did not sign this header")
    return {
        "shape": "signed bundle" if lists == ["entries"] else "disclosed subset",
        "entries": len(items),
        "of": bundle["entry_count"],
        "pinned": expected_key is not None,
        **{name: bundle[name] for name in ("session_id", "algorithm", "public_key", "created_at", "merkle_root")},
    }


# JSON, strictly


def parse(data: bytes) -> Any:
    """JSON that cannot be read in two ways: UTF-8, no field twice, and every number is a double."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(found := dict(pairs)) < len(pairs):
            raise Refused("duplicate_field", "an object has a field twice")
        return found

    def number(text: str) -> int | float:
        double = float(text)
        return int(double) if abs(double) <= MAX_WHOLE and double.is_integer() else double

    def no_constant(text: str) -> NoReturn:
        raise ValueError(text)

    try:
        return json.loads(
            data.decode(), object_pairs_hook=unique, parse_int=number, parse_float=number, parse_constant=no_constant
        )
    except (ValueError, RecursionError):
        raise Refused("not_json", "it is not JSON in UTF-8") from None


def canonical(value: Any, max_depth: int) -> bytes:
    """The canonical bytes of a value (RFC 8785). `max_depth`: how deep objects and lists may be nested."""
    try:
        return "".join(written(value, max_depth)).encode()
    except UnicodeEncodeError:
        raise Refused("no_canonical_form", "a text has half of a surrogate pair") from None


def written(value: Any, levels: int) -> list[str]:
    if value is None or isinstance(value, bool):
        return ["null" if value is None else str(value).lower()]
    if isinstance(value, str):
        return [json.dumps(value, ensure_ascii=False)]
    if isinstance(value, int | float):
        return [written_number(value)]
    if not levels:
        raise Refused("no_canonical_form", "it is nested too deep")
    if isinstance(value, list):
        items = ["".join(written(item, levels - 1)) for item in value]
        return ["[", ",".join(items), "]"]
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    fields = [json.dumps(key, ensure_ascii=False) + ":" + "".join(written(value[key], levels - 1)) for key in keys]
    return ["{", ",".join(fields), "}"]


def written_number(value: int | float) -> str:
    """A double as ECMAScript prints it: the fewest digits that read back as the same double, as in `repr`."""
    if value - value != 0:
        raise Refused("no_canonical_form", "a number is beyond what a double holds")
    if isinstance(value, int):
        return str(value)
    negative, figures, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits, point = "".join(map(str, figures)), len(figures) + int(exponent)
    if 0 < point <= 21:
        text = digits.ljust(point, "0")[:point] + ("." + digits[point:] if len(digits) > point else "")
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        text = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{point - 1:+d}"
    return "-" * negative + text


# The header and the signature


def signed_message(bundle: dict[str, Any]) -> bytes:
    bound = {name: value for name, value in bundle.items() if name not in ("entries", "disclosed", "signature")}
    return VERSION.encode() + b"\n" + canonical(bound, MAX_HEADER_DEPTH)


def check_header(bundle: dict[str, Any]) -> None:
    absent = [name for name in (*HEADER, "merkle_root", "signature") if name not in bundle]
    texts = [isinstance(bundle.get(name), str) for name in ("algorithm", "session_id", "created_at", *HEX)]
    count = bundle.get("entry_count")
    if absent or not all(texts) or type(count) is not int or not 0 <= count <= MAX_WHOLE:
        raise Refused("wrong_header", "a field is missing or of the wrong kind")
    if not all(re.fullmatch("([0-9a-f]{2})*", bundle[name]) for name in HEX):
        raise Refused("wrong_header", "a key, a hash or a signature is not in lower-case hex")
    if not re.fullmatch(SESSION, bundle["session_id"]) or not re.fullmatch(CREATED_AT, bundle["created_at"]):
        raise Refused("wrong_header", "session_id or created_at is malformed")


def is_signature(algorithm: str, key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric import ed25519

        if algorithm == "ed25519":
            kind: Any = ed25519.Ed25519PublicKey
        elif algorithm in ("ml-dsa-44", "ml-dsa-65", "ml-dsa-87"):
            from cryptography.hazmat.primitives.asymmetric import mldsa

            kind = getattr(mldsa, f"MLDSA{algorithm[-2:]}PublicKey")
        else:
            raise Refused("unknown_algorithm", "this knows ed25519, ml-dsa-44, ml-dsa-65 and ml-dsa-87")
    except (ImportError, AttributeError):
        raise Refused("unknown_algorithm", "install the package cryptography, 48 or newer for ml-dsa") from None
    try:
        kind.from_public_bytes(key).verify(signature, message)
    except UnsupportedAlgorithm:
        raise Refused("unknown_algorithm", "this build of cryptography does not have it") from None
    except (InvalidSignature, ValueError):
        return False
    return True


# The entries and their tree (RFC 6962)


def leaf_of(content: dict[str, Any]) -> bytes:
    """The leaf is the hash of an entry's id, and the id is the SHA-256 of its canonical bytes."""
    return sha256(b"\x00" + sha256(canonical(content, MAX_ITEM_DEPTH)).digest()).digest()


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def root_of(level: list[bytes]) -> bytes:
    while len(level) > 1:
        promoted = level[-1:] if len(level) % 2 else []
        level = [node(*pair) for pair in zip(level[::2], level[1::2], strict=False)] + promoted
    return level[0] if level else sha256().digest()


def root_by_proof(leaf: bytes, index: int, count: int, proof: list[Any]) -> bytes | None:
    """The index and the count decide which sides there must be, so that a proof fits one place."""
    if not 0 <= index < count:
        return None
    steps, last = list(proof), count - 1
    while last > 0:
        if index % 2 or index < last:
            if not steps or steps[0][1] != ("left" if index % 2 else "right"):
                return None
            sibling = bytes.fromhex(steps.pop(0)[0])
            leaf = node(sibling, leaf) if index % 2 else node(leaf, sibling)
        index, last = index // 2, last // 2
    return None if steps else leaf


def check_whole(bundle: dict[str, Any], items: list[Any]) -> None:
    for item in items:
        if item.get("id") != sha256(canonical(item["content"], MAX_ITEM_DEPTH)).hexdigest():
            raise Refused("wrong_id", "the id of an entry is not the hash of its content")
    if bundle["entry_count"] != len(items):
        raise Refused("wrong_count", "there are not as many entries as were signed")
    if bundle["merkle_root"] != root_of([leaf_of(item["content"]) for item in items]).hex():
        raise Refused("wrong_root", "these are not the entries that were signed")


def check_subset(bundle: dict[str, Any], items: list[Any]) -> None:
    count, before = bundle["entry_count"], -1
    for item in items:
        index, proof = item.get("index"), item.get("proof")
        levels = max(count - 1, 0).bit_length()
        if not isinstance(proof, list) or len(proof) > levels or not all(map(is_step, proof)):
            raise Refused("wrong_proof", "a proof is not a list of hashes with their sides")
        if type(index) is not int or not before < index < count:
            raise Refused("wrong_index", "the indexes do not ascend within the count")
        found = root_by_proof(leaf_of(item["content"]), index, count, proof)
        if found is None or found.hex() != bundle["merkle_root"]:
            raise Refused("wrong_proof", "an entry is not what was signed at its place")
        before = index


def is_step(step: Any) -> bool:
    return isinstance(step, list) and len(step) == 2 and is_hash(step[0])


def is_hash(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def check_entries(entries: list[dict[str, Any]], session: str) -> None:
    last_place: tuple[int, bool] = (0, False)
    last_citation = ""
    for entry in entries:
        seq, grain, citation = (entry.get(name, "") for name in ("seq", "grain", "citation"))
        if (
            entry.get("schema_version") != SCHEMA
            or not (type(seq) is int and 0 < seq <= MAX_WHOLE)
            or not all(isinstance(text, str) for text in (grain, citation, entry.get("kind")))
            or not all(isinstance(entry.get(name, 0), str | None) for name in ("valid_from", "valid_to"))
            or not (grain in SOURCES and entry.get("source") == SOURCES[grain])
            or not isinstance(entry.get("content"), dict)
            or not is_hash(citation.rpartition("#")[2])
        ):
            raise Refused("wrong_entry", "an entry lacks a field, or has one of the wrong kind")
        if not citation.startswith(f"eventloom://{session}/events/"):
            raise Refused("wrong_session", "an entry is from another session")
        if citation.partition("#")[0] != f"eventloom://{session}/events/{seq}":
            raise Refused("wrong_entry", "an entry cites another event than its seq says")
        place = (seq, grain != "event")
        if seq == last_place[0] and citation != last_citation:
            raise Refused("wrong_entry", "two entries of one seq cite different events")
        if place < last_place or (place == last_place and grain == "event"):
            raise Refused("wrong_order", "the entries do not ascend, the event before what was extracted from it")
        last_place, last_citation = place, citation


def main() -> int:
    parser = argparse.ArgumentParser(description="Verify a signed bundle or a disclosed subset of memory.")
    parser.add_argument("file")
    parser.add_argument("--expect-public-key", metavar="HEX", help="the signer's key; any other is refused")
    given = parser.parse_args()
    try:
        with open(given.file, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise Refused("too_large", f"it has more than {MAX_FILE_BYTES} bytes; use 'zaxy verify-export'")
        found = verify(data, given.expect_public_key)
    except (OSError, Refused) as why:
        print(f"refused: {why}")
        return 1
    print(f"good: {found['entries']} of {found['of']} entries of {found['session_id']}, {found['shape']}")
    print(f"  signed at {found['created_at']}, as the signer says, by the {found['algorithm']} key")
    print(f"  {found['public_key']}")
    print("  which is the expected one" if found["pinned"] else "  which was NOT compared with an expected one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
