"""Small files are written by one writer, which syncs them and puts them in place whole: a walk over the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TREE = Path(__file__).parents[1]
CORE = TREE / "zaxy-core" / "src"
OTHERWISE = {
    "zaxy/atomic_write.py": "it is the writer",
    "zaxy/file_lock.py": "a lock that holds nothing",
    "zaxy/eventloom/disk.py": "the log itself, and lines for people, which grow at their end",
    "zaxy/eventloom/disposable_database.py": "the empty file that SQLite then writes, and moving a broken one aside",
    "zaxy/clients/files.py": "what the writer is to do in the end, once more compared with what was read",
    "zaxy/plugins/guard.py": "this process's own standard output",
    "zaxy/serve/stdio.py": "nothing, in the place of a stream that is closed",
    "zaxy/printing.py": "nothing, in the place of a stream that is closed or full",
    "zaxy/observe/watcher.py": "nothing, in the place of a stream that is closed",
    "zaxy/observe/watcher_process.py": "what a process that is started says while it starts, opened by the log's disk",
    "zaxy_testkit/checks/overheard.py": "a stream of this process, which leads into a temporary file",
    "zaxy_kuzu/owner.py": "a lock that says who holds it, and so cannot be replaced",
    "zaxy_kuzu/graph.py": "an empty mark that a database is being opened, in nobody's place",
    "zaxy_kuzu/engine.py": "moving a broken database aside",
    "zaxy_vectors/rows.py": "rows behind those that are committed, as the log is written",
    "zaxy_sentence_transformers/database.py": "an empty file for SQLite, and moving a broken one aside",
}
"""Who writes otherwise, and why."""
METHODS = {"write_text", "write_bytes", "touch", "copyfile", "copy", "copy2", "move", "rename", "fdopen", "ftruncate"}
OF_MODULES = {"replace": "os", "renames": "os", "mkfifo": "os", "mknod": "os"}
WRITING_FLAGS = re.compile(r"\bO_(WRONLY|RDWR|CREAT|TRUNC|APPEND)\b")
WRITING_MODE = re.compile(r"^[rwaxbt+]*[wax+][rwaxbt+]*$")


def sources() -> list[Path]:
    plugins = (TREE / "plugins").glob("*/src")
    found = (path for root in (CORE, *plugins) for path in root.rglob("*.py"))
    return sorted(path for path in found if "templates" not in path.parts)


def name_of(path: Path) -> str:
    return path.as_posix().split("/src/", 1)[1]


def plain_writes(source: str) -> Iterator[str]:
    """Calls that write, replace or make a file by themselves; names that a call's flags come from are looked up."""
    tree = ast.parse(source)
    constants = {
        target.id: ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _writes(node, constants):
            yield f"{node.lineno}: {ast.unparse(node)[:80]}"


def _writes(call: ast.Call, constants: dict[str, str]) -> bool:
    function = ast.unparse(call.func)
    name = function.rpartition(".")[2]
    if function == "os.open":
        flags = ast.unparse(call.args[1]) if len(call.args) > 1 else ""
        known = " ".join([flags, *(constants.get(word, "") for word in re.findall(r"\w+", flags))])
        return bool(WRITING_FLAGS.search(known))
    if name == "open" and function in ("open", "io.open"):
        return _mode_writes(call, 1)
    if name == "open" and not function.startswith(("os.", "DISK", "self.")):
        return _mode_writes(call, 0)
    if name in OF_MODULES:
        return function == f"{OF_MODULES[name]}.{name}"
    return name in METHODS and not function.startswith("self.") and _is_of_files(name, call)


def _is_of_files(name: str, call: ast.Call) -> bool:
    """`copy()` of a digest or a dictionary takes nothing."""
    return name not in ("copy", "move") or len(call.args) >= 2


def _mode_writes(call: ast.Call, position: int) -> bool:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[position : position + 1]
    return bool(given) and isinstance(given[0], ast.Constant) and bool(WRITING_MODE.match(str(given[0].value)))


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_a_module_writes_files_by_the_one_writer_or_says_why_not(path: Path) -> None:
    found = list(plain_writes(path.read_text(encoding="utf-8")))
    assert not found or name_of(path) in OTHERWISE, "use zaxy.atomic_write"


def test_who_writes_otherwise_still_does() -> None:
    by_name = {name_of(path): path for path in sources()}
    assert [name for name in OTHERWISE if not list(plain_writes(by_name[name].read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    "source",
    [
        "open('x', 'w')",
        "open(fd, mode='ab')",
        "open(p, 'r+b')",
        "Path(p).open('x')",
        "p.write_text(t)",
        "(a / b).write_bytes(t)",
        "os.open(p, os.O_RDWR | os.O_CREAT, 0o600)",
        "F = os.O_WRONLY\nos.open(p, F)",
        "os.replace(a, b)",
        "shutil.copyfile(a, b)",
        "path.rename(other)",
    ],
)
def test_the_walk_sees_each_way_to_write(source: str) -> None:
    assert list(plain_writes(source))


@pytest.mark.parametrize(
    "source",
    ["open(p)", "open(p, 'rb')", "os.open(p, os.O_RDONLY)", "a.replace('b', 'c')", "digest.copy()", "Path(p).open()"],
)
def test_the_walk_takes_no_reading_for_a_write(source: str) -> None:
    assert not list(plain_writes(source))
