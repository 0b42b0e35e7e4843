"""The vectors of exported memory hold for our code, for the verifier that auditors copy, and for one in JavaScript.

The last was written from docs/export-contract.md alone. All three also read a bundle of a real log.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import export_vectors
import npm_programs
from export_vectors import KEY, SEED
from exported import SESSION, bundle_bytes, varied_log
from zaxy.errors import ZaxyError
from zaxy.eventloom.canonical import NotCanonical, encode
from zaxy.memory import Memory
from zaxy_export import bundle as writing, reference_verifier as reference
from zaxy_export.bundle import Signer, write_bundle
from zaxy_export.disclosure import disclose
from zaxy_export.entries import MAX_ENTRY_DEPTH
from zaxy_export.merkle import GrowingTree, Tree, leaf_hash, root_by_proof
from zaxy_export.reading import parse
from zaxy_export.selector import EVERYTHING, Selector
from zaxy_export.verification import BUNDLE, SUBSET, Verified, parts_of_file, verify

VECTORS = json.loads(export_vectors.FILE.read_bytes())
JAVASCRIPT = Path(__file__).with_name("export_verifier.mjs")
REASONS = {
    "not_json": ("it is not valid JSON", "it ends too early", "there is more text behind its end"),
    "no_canonical_form": (
        *("an entry has no canonical form", "its header has no canonical form", "a value in it has no canonical form"),
    ),
    "wrong_shape": (
        *("it has no version or no entries", "it has both entries and disclosed", "an entry has no content"),
        *("an entry is not an object", "its entries are not a list"),
    ),
    "wrong_version": ("its version is ",),
    "wrong_header": (
        *(f"it has no {name}" for name in (*writing.SIGNED_FIELDS[1:], "signature")),
        *("its algorithm is not", "its session_id is not", "its created_at is not", "its entry_count is not a number"),
        *(f"its {name} is not in hex" for name in ("public_key", "nonce", "merkle_root", "signature")),
    ),
    "wrong_id": ("the id of entry N ",),
    "wrong_count": ("it was signed with ",),
    "wrong_root": ("its entries are not those that were signed",),
    "wrong_entry": ("entry N is malformed", "entry N is not of the schema"),
    "wrong_order": ("entry N is out of order",),
    "wrong_session": ("its entries are from",),
    "wrong_index": ("the indexes of its entries do not ascend",),
    "wrong_proof": ("the proof of an entry is not", "the proof of an entry has more", "entry N is not among"),
    "wrong_key": ("it is signed by another key",),
    "wrong_signature": ("its signature is not that of its key",),
}
"""How our messages begin, by the reasons that the vectors name."""
REFUSED = "the bundle is refused: "


def of(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("vector", [pytest.param(v, id=v["name"]) for v in VECTORS[kind]])


def content(vector: dict[str, Any]) -> bytes:
    return bytes.fromhex(vector["file_hex"]) if "file_hex" in vector else vector["file"].encode()


def reason_of(error: ZaxyError) -> str:
    if error.code == "not_found":
        return "unknown_algorithm"
    assert error.code == "conflict"
    assert error.remediation
    message = re.sub(r"\bentry \d+", "entry N", error.message.removeprefix(REFUSED))
    if message.endswith(" twice"):
        return "duplicate_field"
    found = [reason for reason, beginnings in REASONS.items() if message.startswith(beginnings)]
    assert len(found) == 1, f"{message!r} is of the reasons {found}"
    return found[0]


def proven_fields(found: Verified | dict[str, Any]) -> dict[str, Any]:
    names = ("shape", "entries", "of", "session_id", "algorithm", "public_key", "created_at", "merkle_root")
    return {name: found[name] if isinstance(found, dict) else getattr(found, name) for name in names}


def judged_by_ours(data: bytes, expected: str | None = None) -> dict[str, Any]:
    try:
        return {
            "reason": None,
            "proves": proven_fields(verify(parts_of_file(BytesIO(data)), expected, (BUNDLE, SUBSET))),
        }
    except ZaxyError as error:
        return {"reason": reason_of(error)}


def judged_by_reference(data: bytes, expected: str | None = None) -> dict[str, Any]:
    try:
        return {"reason": None, "proves": proven_fields(reference.verify(data, expected))}
    except reference.Refused as error:
        return {"reason": error.reason}


def judgement(vector: dict[str, Any]) -> dict[str, Any]:
    return {name: vector[name] for name in ("reason", "proves") if name in vector}


@pytest.fixture(scope="module")
def by_javascript() -> dict[str, Any]:
    command = [npm_programs.node().node, str(JAVASCRIPT), "--vectors", str(export_vectors.FILE)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_file_is_what_its_generator_makes() -> None:
    assert export_vectors.FILE.read_text(encoding="utf-8") == export_vectors.rendered(), (
        "vectors do not change: add new ones, and run 'python tests/export_vectors.py'"
    )


@of("canonical")
def test_a_value_has_the_canonical_form_that_the_vector_gives(vector: dict[str, Any]) -> None:
    text = vector["json"].encode()
    if vector["canonical"] is None:
        with pytest.raises(NotCanonical):
            encode(parse(text))
        with pytest.raises(reference.Refused, match="no_canonical_form"):
            reference.canonical(reference.parse(text), 64)
        return
    assert (
        encode(parse(text)).decode() == reference.canonical(reference.parse(text), 64).decode() == vector["canonical"]
    )
    assert sha256(vector["canonical"].encode()).hexdigest() == vector["sha256"]


@of("entries")
def test_an_entry_has_the_id_and_the_leaf_that_the_vector_gives(vector: dict[str, Any]) -> None:
    entry = parse(vector["canonical"].encode())
    assert encode(entry, MAX_ENTRY_DEPTH).decode() == vector["canonical"]
    digest = sha256(encode(entry, MAX_ENTRY_DEPTH))
    assert digest.hexdigest() == vector["id"]
    assert leaf_hash(digest.digest()).hex() == reference.leaf_of(entry).hex() == vector["leaf"]


@of("trees")
def test_a_tree_has_the_root_that_the_vector_gives(vector: dict[str, Any]) -> None:
    leaves = export_vectors.ids(vector["count"])
    tree = GrowingTree()
    for leaf in leaves:
        tree.add(leaf)
    assert tree.root().hex() == reference.root_of(leaves).hex() == vector["root"]


@of("proofs")
def test_a_proof_is_good_or_not_as_the_vector_says(vector: dict[str, Any]) -> None:
    index, count, proof = vector["index"], vector["count"], vector["proof"]
    leaf = export_vectors.ids(count)[index] if vector["good"] else export_vectors.ids(5)[4]
    root = bytes.fromhex(vector["root"])
    assert (root_by_proof(leaf, index, count, proof) == root) is vector["good"]
    assert (reference.root_by_proof(leaf, index, count, proof) == root) is vector["good"]
    if vector["good"]:
        assert [list(step) for step in Tree(b"".join(export_vectors.ids(count))).proof(index)] == proof


@of("files")
def test_a_file_is_judged_as_the_vector_says(vector: dict[str, Any]) -> None:
    assert judged_by_ours(content(vector), vector.get("expect_public_key")) == judgement(vector)


@of("files")
def test_the_reference_verifier_agrees_on_the_file(vector: dict[str, Any]) -> None:
    assert judged_by_reference(content(vector), vector.get("expect_public_key")) == judgement(vector)


def test_the_verifier_in_javascript_agrees_on_all_vectors(by_javascript: dict[str, Any]) -> None:
    assert by_javascript["canonical"] == [vector["canonical"] for vector in VECTORS["canonical"]]
    assert by_javascript["trees"] == [vector["root"] for vector in VECTORS["trees"]]
    assert by_javascript["proofs"] == [vector["good"] for vector in VECTORS["proofs"]]
    assert by_javascript["entries"] == [{"id": v["id"], "leaf": v["leaf"]} for v in VECTORS["entries"]]
    beyond = {}
    for vector, found in zip(VECTORS["files"], by_javascript["files"], strict=True):
        if found["reason"] == "unknown_algorithm" != vector["reason"]:
            beyond[vector["name"]] = json.loads(vector["file"])["algorithm"]
        else:
            assert found == judgement(vector), vector["name"]
    assert set(beyond.values()) <= {"ml-dsa-65"}, "Ed25519 is what every Node has"
    print(f"this Node has no ML-DSA, and left out {', '.join(beyond) or 'nothing'}")


def test_every_reason_has_a_vector() -> None:
    named = {vector["reason"] for vector in VECTORS["files"]}
    assert named == {None, "duplicate_field", "unknown_algorithm", *REASONS}


def test_vectors_of_a_kind_have_names_of_their_own() -> None:
    for kind in ("canonical", "entries", "trees", "proofs", "files"):
        names = [vector["name"] for vector in VECTORS[kind]]
        assert len(set(names)) == len(names), kind


def test_zaxy_writes_a_bundle_and_a_subset_to_the_byte_as_the_vectors_have_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writing, "utc_now", lambda: export_vectors.CREATED_AT)
    monkeypatch.setattr(writing.os, "urandom", lambda size: bytes.fromhex(export_vectors.NONCE)[:size])
    signer = Signer(KEY.name, bytes.fromhex(KEY.public_key), lambda message: bytes.fromhex(KEY.sign(message)))
    whole, part = BytesIO(), BytesIO()
    write_bundle(
        [encode(entry, MAX_ENTRY_DEPTH) for entry in export_vectors.MANY], export_vectors.SESSION, signer, whole
    )
    disclose(parts_of_file(whole), Selector(kinds=("edge:made_decision", "entity:decision")).checked(), part)
    files = {vector["name"]: vector.get("file", "") for vector in VECTORS["files"]}
    assert whole.getvalue().decode() == files["a signed bundle as it is written"]
    made = json.loads(files["the subset of [1, 2, 5] of seven"])
    written = json.loads(part.getvalue())
    assert written == {**made, "disclosed": made["disclosed"][:2]}


# The verifiers on their own, and together on a real log


def test_the_reference_verifier_imports_the_standard_library_and_cryptography_alone() -> None:
    tree = ast.parse(Path(reference.__file__).read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)} | {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    tops = {str(module).partition(".")[0] for module in modules}
    assert tops - sys.stdlib_module_names == {"cryptography"}
    assert not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))


def test_the_verifier_in_javascript_imports_nothing_but_node() -> None:
    lines = [line for line in JAVASCRIPT.read_text(encoding="utf-8").splitlines() if line.startswith("import ")]
    assert [line.partition(' from "')[2] for line in lines] == ['node:crypto";', 'node:fs";']


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, bytes]]:
    """A signed bundle and a subset of a generated log that has everything in it."""
    folder = tmp_path_factory.mktemp("real")
    varied_log(folder)
    signer = Signer(KEY.name, bytes.fromhex(KEY.public_key), lambda message: bytes.fromhex(KEY.sign(message)))
    memory = Memory.open(folder)
    try:
        whole = bundle_bytes(memory, EVERYTHING, SESSION, signer)
        part = bundle_bytes(memory, EVERYTHING, SESSION, signer, Selector(grains=("semantic",), since_seq=40).checked())
    finally:
        memory.close()
    yield {"whole": whole, "part": part}


@pytest.mark.parametrize("shape", ["whole", "part"])
def test_three_verifiers_agree_on_a_bundle_of_a_real_log(real: dict[str, bytes], shape: str, tmp_path: Path) -> None:
    data = real[shape]
    (tmp_path / "bundle.json").write_bytes(data)
    ours = judged_by_ours(data, KEY.public_key)
    assert ours["reason"] is None
    assert ours["proves"]["entries"] > 100
    assert judged_by_reference(data, KEY.public_key) == ours
    assert run_javascript(tmp_path / "bundle.json", KEY.public_key) == (0, ours)
    changed = data.replace(b"harbour", b"harvest", 1)
    (tmp_path / "bundle.json").write_bytes(changed)
    reason = {"whole": "wrong_id", "part": "wrong_proof"}[shape]
    assert judged_by_ours(changed) == judged_by_reference(changed) == {"reason": reason}
    assert run_javascript(tmp_path / "bundle.json") == (1, {"reason": reason})


def run_javascript(file: Path, *expected: str) -> tuple[int, dict[str, Any]]:
    command = [npm_programs.node().node, str(JAVASCRIPT), str(file), *expected]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert not done.stderr
    return done.returncode, json.loads(done.stdout)


def run_reference(*arguments: str, python: tuple[str, ...] = ("-I",)) -> tuple[int, str]:
    command = [sys.executable, *python, str(reference.__file__), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert not done.stderr
    return done.returncode, done.stdout


def test_the_reference_verifier_says_what_it_proved(real: dict[str, bytes], tmp_path: Path) -> None:
    file = tmp_path / "bundle.json"
    file.write_bytes(real["part"])
    proves = judged_by_ours(real["part"])["proves"]
    code, said = run_reference(str(file), "--expect-public-key", KEY.public_key)
    assert code == 0
    assert said.startswith(f"good: {proves['entries']} of {proves['of']} entries of {SESSION}, disclosed subset\n")
    assert said.endswith(f"  {KEY.public_key}\n  which is the expected one\n")
    assert run_reference(str(file))[1].endswith("  which was NOT compared with an expected one\n")
    assert run_reference(str(file), "--expect-public-key", "00")[0] == 1
    assert run_reference(str(tmp_path / "nowhere"))[0] == 1


def test_the_reference_verifier_refuses_a_file_that_is_too_large_to_hold(tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    with file.open("wb") as out:
        out.truncate(reference.MAX_FILE_BYTES + 1)  # takes no room on the disk
    code, said = run_reference(str(file))
    assert code == 1
    assert said.startswith("refused: too_large")


def test_without_cryptography_the_reference_verifier_says_what_to_install(
    real: dict[str, bytes], tmp_path: Path
) -> None:
    file = tmp_path / "bundle.json"
    file.write_bytes(real["whole"])
    code, said = run_reference(str(file), python=("-I", "-S"))  # -S: no packages but the standard library's
    assert code == 1
    assert said == "refused: unknown_algorithm: install the package cryptography, 48 or newer for ml-dsa\n"


def test_the_keys_of_the_vectors_are_the_ones_that_they_name() -> None:
    keys = VECTORS["keys"]
    assert keys["ed25519"]["private_key"] == keys["ml-dsa-65"]["seed"] == SEED.hex()
    assert keys["ed25519"]["public_key"] == KEY.public_key
