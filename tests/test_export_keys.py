"""Keys: how they are made, shown and refused, and that every algorithm signs what others can verify."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from conftest import Zaxy
from exported import bundle_bytes
from zaxy.errors import ZaxyError
from zaxy.memory import Memory
from zaxy.plugins import roster
from zaxy_export.disclosure import disclose
from zaxy_export.selector import EVERYTHING, Selector
from zaxy_export.signing import KeyFiles, configured, generate, public_key_of, read_token, signer_of
from zaxy_export.verification import (
    BUNDLE,
    SUBSET,
    parts_of_file,
    verify,
    verify_export,
    verify_memory_export_subset,
)

ALGORITHMS = ("ed25519", "ml-dsa-44", "ml-dsa-65", "ml-dsa-87")
SIZES = {"ed25519": 32, "ml-dsa-44": 1312, "ml-dsa-65": 1952, "ml-dsa-87": 2592}
posix = pytest.mark.skipif(os.name != "posix", reason="only POSIX files have modes")


def files_in(folder: Path, algorithm: str = "ed25519", passphrase: str = "", name: str = "key") -> KeyFiles:
    return KeyFiles(str(folder / f"{name}.pem"), str(folder / f"{name}.pub"), algorithm, passphrase)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        opened.append("decision.made", {"decision": "The lamp burns oil."}, session="s")
        opened.append("goal.created", {"goal": "Light the harbour."}, session="s")
        yield opened


def mode_of(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


# Making them


@posix
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_a_private_key_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        files = files_in(tmp_path)
        generate(files)
    finally:
        os.umask(before)
    assert mode_of(files.private) == 0o600
    assert mode_of(files.public) == 0o644


@pytest.mark.parametrize("there", ["key.pem", "key.pub"])
def test_no_file_is_ever_written_over(tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine")
    with pytest.raises(ZaxyError) as refused:
        generate(files_in(tmp_path))
    assert refused.value.code == "conflict"
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "mine"


@posix
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "key.pem").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ZaxyError) as refused:
        generate(files_in(tmp_path))
    assert refused.value.code == "conflict"
    assert not (tmp_path / "elsewhere").exists()


def test_where_the_public_key_cannot_be_written_no_private_key_stays(tmp_path: Path) -> None:
    with pytest.raises(ZaxyError) as refused:
        generate(KeyFiles(str(tmp_path / "key.pem"), str(tmp_path / "missing" / "key.pub")))
    assert refused.value.code == "unavailable"
    assert not list(tmp_path.iterdir())


@posix
def test_a_full_disk_leaves_no_half_of_a_key(tmp_path: Path) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, limits[1]))
    try:
        with pytest.raises(ZaxyError) as refused:
            generate(files_in(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert refused.value.code == "unavailable"
    assert not list(tmp_path.iterdir())


def test_two_keys_are_never_the_same(tmp_path: Path) -> None:
    assert generate(files_in(tmp_path, name="a")).key != generate(files_in(tmp_path, name="b")).key


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_passphrase_seals_the_private_key(tmp_path: Path, memory: Memory, algorithm: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("correct horse\n")
    files = files_in(tmp_path, algorithm, str(secret))
    generate(files)
    assert b"ENCRYPTED PRIVATE KEY" in Path(files.private).read_bytes()
    with signer_of(files) as signer:
        assert verify_export(json.loads(bundle_bytes(memory, session="s", signer=signer)))
    secret.write_text("wrong horse\n")
    for given in (files, files._replace(passphrase="")):
        with pytest.raises(ZaxyError) as refused, signer_of(given):
            pass
        assert refused.value.code == "invalid_request"
        assert "horse" not in f"{refused.value.message} {refused.value.remediation}"


@pytest.mark.parametrize("content", ["", "\n", "\r\n"])
def test_an_empty_passphrase_file_is_refused_and_no_key_made(tmp_path: Path, content: str) -> None:
    (tmp_path / "secret").write_text(content)
    with pytest.raises(ZaxyError) as refused:
        generate(files_in(tmp_path, passphrase=str(tmp_path / "secret")))
    assert "is empty" in refused.value.message
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_passphrase_file_that_is_missing_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(ZaxyError) as refused:
        generate(files_in(tmp_path, passphrase=str(tmp_path / "secret")))
    assert refused.value.code == "not_found"
    assert not list(tmp_path.iterdir())


def test_an_unknown_algorithm_lists_those_that_are_installed(zaxy: Zaxy, tmp_path: Path) -> None:
    done = zaxy("export-keygen", "--out-private", "k.pem", "--out-public", "k.pub", "--algorithm", "rsa")
    assert done.returncode == 1
    for algorithm in ALGORITHMS:
        assert algorithm in done.stderr
    assert not list((tmp_path / "here").iterdir())


def test_an_algorithm_of_a_package_that_is_not_there_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = [row for row in roster.announced() if row.package != "zaxy-mldsa"]
    monkeypatch.setattr(roster, "announced", lambda: without)
    with pytest.raises(ZaxyError) as refused:
        generate(files_in(tmp_path, "ml-dsa-65"))
    assert "installed: ed25519)" in refused.value.message
    assert "pip install" in refused.value.remediation and "plugins/mldsa" in refused.value.remediation
    assert not list(tmp_path.iterdir())


# Showing them


@pytest.mark.parametrize("algorithm", ["ed25519", "ml-dsa-65"])
def test_the_commands_make_keys_and_show_the_public_one(zaxy: Zaxy, tmp_path: Path, algorithm: str) -> None:
    here = tmp_path / "here"
    made = zaxy(
        *("export-keygen", "--out-private", "k.pem", "--out-public", "k.pub", "--algorithm", algorithm, "--json")
    )
    assert made.returncode == 0, made.stderr
    assert "EXPERIMENTAL and UNAUDITED" in made.stderr
    printed = json.loads(made.stdout)
    assert printed["algorithm"] == algorithm
    assert len(printed["public_key"]) == 2 * SIZES[algorithm]
    shown = zaxy("export-keys", "show", "k.pub")
    assert shown.stdout == f"{algorithm} {printed['public_key']}\n"
    assert json.loads(zaxy("export-keys", "show", "k.pub", "--json").stdout) == printed
    private = zaxy("export-keys", "show", "k.pem")
    assert private.returncode == 2
    assert "never shown" in private.stderr
    secret = "".join((here / "k.pem").read_text().splitlines()[1:-1])
    for done in (made, shown, private):
        assert secret[:40] not in done.stdout + done.stderr
    again = zaxy("export-keygen", "--out-private", "k.pem", "--out-public", "k2.pub")
    assert again.returncode == 1
    assert not (here / "k2.pub").exists()


@pytest.mark.parametrize(
    ("content", "code"), [(b"hello", "conflict"), (b"", "conflict"), (b"x" * 100_000, "too_large")]
)
def test_a_file_that_is_no_public_key_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    (tmp_path / "k.pub").write_bytes(content)
    with pytest.raises(ZaxyError) as refused:
        public_key_of(str(tmp_path / "k.pub"))
    assert refused.value.code == code


def test_a_sealed_private_key_is_shown_to_nobody_either(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("correct horse")
    files = files_in(tmp_path, passphrase=str(tmp_path / "secret"))
    generate(files)
    with pytest.raises(ZaxyError) as refused:
        public_key_of(files.private)
    assert "is a private key" in refused.value.message


# Using them


def test_keys_that_do_not_belong_together_are_refused_before_anything_is_signed(tmp_path: Path) -> None:
    one, other = files_in(tmp_path, name="one"), files_in(tmp_path, name="other")
    generate(one)
    generate(other)
    with pytest.raises(ZaxyError) as refused, signer_of(one._replace(public=other.public)):
        raise AssertionError("it was let through")
    assert refused.value.code == "conflict"
    assert "does not belong to" in refused.value.message


def test_keys_of_two_algorithms_are_refused(tmp_path: Path) -> None:
    one, other = files_in(tmp_path, name="one"), files_in(tmp_path, "ml-dsa-65", name="other")
    generate(one)
    generate(other)
    for mixed in (
        one._replace(public=other.public),
        other._replace(public=one.public),
        one._replace(algorithm="ml-dsa-65"),
    ):
        with pytest.raises(ZaxyError) as refused, signer_of(mixed):
            raise AssertionError("it was let through")
        assert refused.value.code == "invalid_request"


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620])
def test_a_private_key_that_others_can_get_at_is_refused(tmp_path: Path, mode: int) -> None:
    files = files_in(tmp_path)
    generate(files)
    os.chmod(files.private, mode)
    with pytest.raises(ZaxyError) as refused, signer_of(files):
        raise AssertionError("it was let through")
    assert refused.value.code == "forbidden"
    assert "chmod 600" in refused.value.remediation


@posix
def test_a_token_that_others_can_get_at_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("t0ken\n")
    path.chmod(0o644)
    with pytest.raises(ZaxyError) as refused:
        read_token(str(path))
    assert refused.value.code == "forbidden"
    path.chmod(0o600)
    assert read_token(str(path)) == "t0ken"


@pytest.mark.parametrize("content", ["", "\n", "a\nb\n", "tök"])
def test_a_token_file_without_one_plain_token_is_refused_without_showing_it(tmp_path: Path, content: str) -> None:
    path = tmp_path / "token"
    path.write_bytes(content.encode())
    path.chmod(0o600)
    with pytest.raises(ZaxyError) as refused:
        read_token(str(path))
    assert "holds no token" in refused.value.message
    assert "tök" not in refused.value.message


def test_a_key_file_that_is_missing_is_said_to_be(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    generate(files)
    for gone in (files._replace(private=f"{files.private}.x"), files._replace(public=f"{files.public}.x")):
        with pytest.raises(ZaxyError) as refused, signer_of(gone):
            raise AssertionError("it was let through")
        assert refused.value.code == "not_found"


def test_a_server_without_keys_says_how_to_give_it_some() -> None:
    with pytest.raises(ZaxyError) as refused:
        configured({})
    assert refused.value.code == "unavailable"
    assert "MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE" in refused.value.remediation
    assert "zaxy export-keygen" in refused.value.remediation


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_signs_verifies_and_discloses(tmp_path: Path, memory: Memory, algorithm: str) -> None:
    files = files_in(tmp_path, algorithm)
    key = generate(files).key
    assert len(key) == SIZES[algorithm]
    assert public_key_of(files.public) == (algorithm, key)
    with signer_of(files) as signer:
        whole = BytesIO(bundle_bytes(memory, EVERYTHING, "s", signer))
        at_once = bundle_bytes(memory, EVERYTHING, "s", signer, Selector(kinds=("goal.created",)))
    bundle = json.loads(whole.getvalue())
    assert (bundle["algorithm"], bundle["public_key"]) == (algorithm, key.hex())
    assert bundle["anchor"] is None
    found = verify(parts_of_file(whole), key.hex(), (BUNDLE,))
    assert (found.entries, found.of, found.pinned) == (len(bundle["entries"]), len(bundle["entries"]), True)
    assert verify_export(bundle, key.hex().upper()) == found
    subset = BytesIO()
    disclose(parts_of_file(whole), Selector(kinds=("goal.created",)), subset)
    proven = verify(parts_of_file(subset), key.hex(), (SUBSET,))
    assert (proven.entries, proven.of) == (1, found.of)
    assert b"burns oil" not in subset.getvalue() + at_once
    assert verify_memory_export_subset(json.loads(at_once), key.hex()).entries == 1
    with pytest.raises(ZaxyError):
        verify_export({**bundle, "session_id": "t"})
    with pytest.raises(ZaxyError):
        verify_export(bundle, generate(files_in(tmp_path, algorithm, name="other")).key.hex())


def test_the_root_is_the_same_in_every_bundle_and_nonce_and_signature_are_not(tmp_path: Path, memory: Memory) -> None:
    files = files_in(tmp_path)
    generate(files)
    with signer_of(files) as signer:
        one, other = (json.loads(bundle_bytes(memory, session="s", signer=signer)) for _ in range(2))
    assert one["merkle_root"] == other["merkle_root"]
    assert one["entries"] == other["entries"]
    assert one["nonce"] != other["nonce"]
    assert one["signature"] != other["signature"]
