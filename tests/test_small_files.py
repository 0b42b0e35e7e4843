"""One reader for the small files that Zaxy keeps: whatever stands in their place, the read ends and takes little."""

from __future__ import annotations

import ast
import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from zaxy.security import small_files
from zaxy.security.small_files import MAX_DEPTH, parsed_json, read_named_file, read_small_file, read_small_json

POSIX = pytest.mark.skipif(os.name != "posix", reason="links, pipes, devices and owners are POSIX")


def nested(depth: int, opening: str = "[", closing: str = "]") -> bytes:
    return (opening * depth + "1" + closing * depth).encode()


def test_a_file_up_to_the_bound_is_read_and_one_byte_more_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for size in (0, 1, 99_999, 100_000):
        path.write_bytes(b"x" * size)
        assert read_small_file(str(path), 100_000) == b"x" * size
        assert read_named_file(str(path), 100_000) == b"x" * size
    path.write_bytes(b"x" * 100_001)
    for read in (read_small_file, read_named_file):
        with pytest.raises(OSError, match="more than 100000 bytes") as failed:
            read(str(path), 100_000)
        assert failed.value.errno == errno.EFBIG


def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    for read in (read_small_file, read_named_file, read_small_json):
        with pytest.raises(FileNotFoundError):
            read(str(tmp_path / "none"))


@POSIX
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "/nowhere", "beside"])
def test_a_link_is_refused_whatever_it_points_to(tmp_path: Path, target: str) -> None:
    (tmp_path / "beside").write_text("{}")
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(OSError, match="it is a link"):
        read_small_json(str(tmp_path / "link"))


@POSIX
def test_a_link_that_takes_the_files_place_at_the_last_moment_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside").write_text("{}")
    (tmp_path / "link").symlink_to("beside")
    monkeypatch.setattr(os.path, "islink", lambda path: False)
    with pytest.raises(OSError):
        read_small_file(str(tmp_path / "link"))


@POSIX
def test_a_pipe_a_socket_a_device_and_a_folder_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "to a device").symlink_to("/dev/zero")
    (tmp_path / "to a pipe").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name in ("pipe", "folder", "socket"):
            with pytest.raises(OSError):
                read_small_file(str(tmp_path / name))
        for name in ("pipe", "folder", "socket", "to a device", "to a pipe"):
            with pytest.raises(OSError):
                read_named_file(str(tmp_path / name))


@POSIX
def test_a_file_that_the_user_named_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("secret")
    assert read_named_file(str(tmp_path / "link")) == b"abc"


@POSIX
@pytest.mark.parametrize(("user", "owner", "read"), [(7, 7, True), (7, 0, True), (0, 7, True), (7, 8, False)])
def test_a_file_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, owner: int, read: bool
) -> None:
    """A test can't always have two users, so what the system says of the user and the file is put in its place."""
    path = tmp_path / "file"
    path.write_bytes(b"{}")
    found = list(os.stat(path))
    found[4] = owner
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(small_files.os, "fstat", lambda fd: os.stat_result(found))
    assert read_named_file(str(path)) == b"{}"
    if read:
        assert read_small_file(str(path)) == b"{}"
    else:
        with pytest.raises(PermissionError, match="belongs to another user"):
            read_small_file(str(path))


@pytest.mark.parametrize("pair", ["[]", ('{"a":', "}")], ids=["lists", "objects"])
def test_json_is_read_up_to_a_depth(pair: tuple[str, str]) -> None:
    opening, closing = pair
    value = parsed_json(nested(MAX_DEPTH, opening, closing))
    for _ in range(MAX_DEPTH):
        value = value[0] if isinstance(value, list) else value["a"]
    assert value == 1
    for depth in (MAX_DEPTH + 1, 900, 100_000):
        with pytest.raises(ValueError, match=f"more than {MAX_DEPTH} deep"):
            parsed_json(nested(depth, opening, closing))


def test_json_that_is_wide_or_has_brackets_in_its_texts_is_not_deep() -> None:
    assert parsed_json(b"[" + b"[[1]]," * 5000 + b"[[1]]]") == [[[1]]] * 5001
    assert parsed_json(b'["' + b"[" * 5000 + b'"]') == ["[" * 5000]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"\xef\xbb\xbf{}", b"nul", b"[" * 100_000, b"1" * 5000])
def test_what_is_not_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        parsed_json(data)


def test_the_reader_loads_nothing_that_python_has_not_loaded_anyway() -> None:
    program = """if True:
        import __future__, errno, os, stat, sys
        before = set(sys.modules)
        import zaxy.security.small_files
        print(*sorted(set(sys.modules) - before))
    """
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["zaxy", "zaxy.security", "zaxy.security.small_files"]


# Everywhere

TREE = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for root in (TREE / "zaxy-core" / "src" / "zaxy", *(TREE / "plugins").glob("*/src"))
    for path in root.rglob("*.py")
    if not {"templates", "checks"} & set(path.parts)
)
READ_OTHERWISE = {
    "atomic_write.py": "writes, by descriptor",
    "contracts/check.py": "what a person named, and contracts within the package",
    "contracts/pin.py": "a project that a person named",
    "contracts/uses.py": "a project that a person named",
    "file_lock.py": "a lock, by descriptor",
    "observe/watcher.py": "the null device",
    "observe/watcher_process.py": "writes, by descriptor",
    "plugins/discovery.py": "distributions within an archive",
    "plugins/guard.py": "standard streams, by descriptor",
    "plugins/install_hints.py": "notes of the program that installed this copy, within its environment",
    "plugins/roster.py": "within the package",
    "plugins/sources.py": "Python modules that are to be checked",
    "printing.py": "the null device",
    "security/small_files.py": "the reader itself",
    "security/git_index.py": "the beginning of a file of another program",
    "security/shape_rows.py": "within the package",
    "security/shape_table.py": "within the package",
    "serve/stdio.py": "the null device",
    "setup/left_overs.py": "a lock, by descriptor",
    "setup/running_servers.py": "what the system says of processes",
    "terminal/demo.py": "a folder of its own that was just made",
    "text/word_frequencies.py": "within the package",
    "zaxy_claude_code/adapter.py": "session files, in pieces",
    "zaxy_claude_code/session_files.py": "session files, in pieces",
    "zaxy_codex/lines.py": "session files, in pieces",
    "zaxy_export/file_sink.py": "a bundle that was just written",
    "zaxy_export/reference_verifier.py": "runs without this package",
    "zaxy_export/rows.py": "a bundle that was just written",
    "zaxy_kuzu/owner.py": "a lock, by descriptor",
    "zaxy_neo4j/server.py": "a certificate that a person named",
    "zaxy_sentence_transformers/database.py": "makes an empty file",
    "zaxy_testkit/scaffold.py": "within the package",
    "zaxy_vectors/rows.py": "rows of a fixed width, mapped",
    "zaxy_vectors/tokens.py": "within the package",
    "zaxy_vectors/weights.py": "files of a package, or of a folder that its user named",
    "zaxy_webhook/request.py": "a bundle that was just written",
    "zaxy_why/tracing.py": "a source file that a person named",
    "eventloom/disk.py": "the log, in pieces",
    "eventloom/disposable_database.py": "makes an empty file",
}
"""The modules that open files without the one reader, and why."""


def plain_reads(path: Path) -> list[int]:
    """The lines on which a file is opened, or read whole."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            opens = called in ("open", "os.open", "io.open", "json.load", "tomllib.load")
            opens |= called.endswith((".read_text", ".read_bytes", "path.open", "file.open"))
            found += [node.lineno] if opens else []
    return found


def test_no_module_opens_files_without_the_reader_unless_it_says_why() -> None:
    names = {path: "/".join(path.parts[path.parts.index("src") + 1 :]).removeprefix("zaxy/") for path in SOURCES}
    opening = {names[path] for path in SOURCES if plain_reads(path)}
    assert opening - READ_OTHERWISE.keys() == set(), "use zaxy.security.small_files, or say here why not"
    assert READ_OTHERWISE.keys() <= set(names.values()), "a module that is gone need not be listed"
