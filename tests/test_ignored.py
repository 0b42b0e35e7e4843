"""`.zaxyignore`: which edits, tools and commands it keeps out, in the same way as git reads such patterns."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from project import Project
from zaxy.errors import Unavailable
from zaxy.observe import path_patterns
from zaxy.observe.ignored import FILE, MAX_BYTES, MAX_LINE_CHARS, Ignored, ignored_by, read_ignored
from zaxy.setup.doctor import DoctorContext
from zaxy.setup.doctor_recording import check_ignored
from zaxy.workspace import find_workspace

ROOT = os.path.abspath(os.path.join(os.sep, "work", "project"))

posix = pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows, and its shells have no backslash")


def keeps(*lines: str, root: str = ROOT) -> Ignored:
    return ignored_by(root, "\n".join(lines).encode())


@pytest.mark.parametrize(
    ("line", "path", "out"),
    [
        (".env", ".env", True),
        (".env", "deep/down/.env", True),
        (".env", ".env.local", False),
        (".env", "x.env", False),
        ("*.pem", "keys/a.pem", True),
        ("*.pem", "keys/a.pem.txt", False),
        ("secrets", "secrets/a/b.txt", True),
        ("secrets/", "a/secrets/b.txt", True),
        ("secrets/", "secrets", False),
        ("/notes.txt", "notes.txt", True),
        ("/notes.txt", "a/notes.txt", False),
        ("a/b.txt", "a/b.txt", True),
        ("a/b.txt", "c/a/b.txt", False),
        ("a/*.txt", "a/b.txt", True),
        ("a/*.txt", "a/b/c.txt", False),
        ("a/**", "a/b/c.txt", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("**/z", "z", True),
        ("**/a/z", "b/a/z", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a?c", "ac", False),
        ("# note", "# note", False),
        (r"\#note", "#note", True),
        (r"\!note", "!note", True),
        (r"a\*c", "a*c", True),
        (r"a\*c", "abc", False),
        (r"\[id\]", "app/[id]/page.tsx", True),
        ("a b ", "a b", True),
        ("a\\ ", "a ", True),
        ("*", "anything/at/all", True),
    ],
)
def test_a_pattern_keeps_out(line: str, path: str, out: bool) -> None:
    ignored = keeps(line)
    assert not ignored.malformed
    assert ignored.path(path) == out
    assert ignored.path(os.path.join(ROOT, *path.split("/"))) == out


def test_the_last_pattern_counts_and_nothing_comes_back_from_a_folder_that_is_out() -> None:
    ignored = keeps("*.log", "!kept.log", "secret/", "!secret/kept.log", "data/*", "!data/open/")
    assert [ignored.path(path) for path in ("a.log", "kept.log", "x/kept.log")] == [True, False, False]
    assert ignored.path("secret/kept.log")
    assert [ignored.path(path) for path in ("data/a", "data/open/a")] == [True, False]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the reference")
def test_git_reads_the_patterns_in_the_same_way(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    rng = random.Random(3)
    names = ("a", "b", "ab", "abc", "a.b", ".c", "**", "*", "a*", "*b", "?", "a?", "**b", "a**b")
    plain = names[:6]
    for _ in range(60):
        lines = []
        for _ in range(rng.randrange(1, 5)):
            parts = "/".join(rng.choices(names, k=rng.randrange(1, 4)))
            lines.append(rng.choice(("", "", "!")) + rng.choice(("", "", "/")) + parts + rng.choice(("", "", "/")))
        paths = ["/".join(rng.choices(plain, k=rng.randrange(1, 5))) for _ in range(40)]
        (tmp_path / ".gitignore").write_text("\n".join(lines) + "\n")
        asked = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "--stdin"]
        done = subprocess.run(asked, input="\n".join(paths), capture_output=True, text=True, check=False)
        ignored = keeps(*lines, root=str(tmp_path))
        assert not ignored.malformed
        assert [path for path in paths if ignored.path(path)] == done.stdout.splitlines(), lines


@posix
def test_a_path_is_found_however_it_is_named(tmp_path: Path) -> None:
    root = tmp_path / "real"
    (root / "secrets").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root)
    (root / "open").symlink_to(root / "secrets")
    for named in (root, tmp_path / "link"):
        ignored = keeps("/secrets/", root=str(named))
        for base in (root, tmp_path / "link"):
            assert ignored.path(str(base / "secrets" / "a"))
            assert ignored.path(str(base / "x" / ".." / "secrets" / "a"))
            assert ignored.path(str(base / "open" / "a"))
        assert ignored.path("a", str(root / "secrets"))
        assert not ignored.path("a", str(root))


def test_names_count_outside_of_the_project_too_and_places_do_not() -> None:
    ignored = keeps("id_rsa", "/secrets/")
    assert ignored.path("~/.ssh/id_rsa")
    assert not ignored.path(os.path.join(os.sep, "secrets", "a"))
    above = keeps("work", "project")
    assert not above.path("a.txt")
    assert not above.command(f"cd {ROOT}; ls {os.path.dirname(ROOT)} . ..")


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "cat ./.env",
        "cat x/.env|grep a",
        'cat ".env"',
        "cat .e'n'v",
        "cp --from=.env x",
        "curl -d @.env http://x",
        "scp .env host:/tmp",
        "scp host:.env /tmp",
        "echo a>.env",
        "echo $(<.env)",
        'bash -lc "cat .env"',
        "bash -c 'cd a && cat .env'",
        "a\ncat .env",
        "ls secrets",
        "ls secrets/",
        "cat secrets/a/b",
        "cat secrets/*",
        f"cat {ROOT}/secrets/x",
        "cat 'my notes/x'",
        pytest.param(r"cat my\ notes/x", marks=posix),
        "bash -c \"cat 'my notes/x'\"",
    ],
)
def test_a_command_that_names_such_a_path_is_out(command: str) -> None:
    assert keeps(".env", "/secrets/", "my notes/").command(command)


@pytest.mark.parametrize("command", ["", "make test", "cat .envrc", "echo environment", "cat a/secrets/x", "ls *"])
def test_a_command_that_names_none_is_not(command: str) -> None:
    assert not keeps(".env", "/secrets/", "my notes/", "*").command(command)


def test_a_command_can_be_kept_out_by_itself() -> None:
    ignored = keeps("command:vault *", "command:*--password*", "command:whoami")
    assert ignored.command("vault read a")
    assert ignored.command("cd x && vault read a/b | jq .")
    assert ignored.command("mysql --password x")
    assert ignored.command(" whoami ")
    assert not ignored.command("echo vault read")
    assert not ignored.command("whoami2")


def test_tools_are_kept_out_by_their_names() -> None:
    ignored = keeps("tool:mcp__slack__*", "tool: WebFetch")
    assert [ignored.tool(name) for name in ("mcp__slack__send", "WebFetch")] == [True, True]
    assert [ignored.tool(name) for name in ("mcp__slac", "WebFetch2", "", "fetch")] == [False] * 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("!", "names no path"),
        ("/", "names no path"),
        ("a//b", "two slashes"),
        ("[a-z].txt", "not known here"),
        ("a\\", "single backslash"),
        ("tool:", "nothing stands behind tool:"),
        ("command:  ", "nothing stands behind command:"),
        ("tools:x", "no kind of line"),
        ("!tool:x", "only a path"),
        ("x" * (MAX_LINE_CHARS + 1), f"more than {MAX_LINE_CHARS}"),
        ("a\0b", "zero byte"),
    ],
)
def test_a_malformed_line_is_named_and_matches_nothing_while_the_others_count(line: str, reason: str) -> None:
    ignored = keeps("# first", line, ".env")
    (problem,) = ignored.malformed
    assert problem.startswith("line 2: ")
    assert reason in problem
    assert (len(ignored.paths), len(ignored.tools), len(ignored.commands)) == (1, 0, 0)
    assert ignored.path(".env")


def test_a_line_that_is_not_utf_8_is_malformed_and_line_ends_of_windows_and_a_byte_order_mark_are_not() -> None:
    ignored = ignored_by(ROOT, b"\xef\xbb\xbf.env\r\n\xff\xfe\r\n*.pem\r\n")
    assert ignored.malformed == ["line 2: it is not UTF-8"]
    assert ignored.path(".env")
    assert ignored.path("a.pem")


def test_where_the_system_folds_case_patterns_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keeps("Secret/").path("Secret/x")
    for folds in (True, False):
        monkeypatch.setattr(path_patterns, "SYSTEM_FOLDS_CASE", folds)
        assert keeps("Secret/").path("SECRET/x") == folds
        assert keeps("Secret/").command("cat SECRET/x") == folds


def test_without_the_file_nothing_is_out_and_one_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    assert not read_ignored(str(tmp_path)).path(".env")
    (tmp_path / FILE).write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(Unavailable, match="nothing is recorded"):
        read_ignored(str(tmp_path))


@pytest.mark.parametrize("text", ["a" * 60_000, "a/" * 30_000, "x " * 30_000, "'" * 60_000, "a*" * 30_000])
def test_a_long_command_is_judged_in_a_time_that_its_length_explains(text: str) -> None:
    ignored = keeps("*a*a*a*b", "**/a/**/b", ".env", "command:*a*a*b")

    def cost(command: str) -> float:
        began = time.process_time()
        ignored.command(f"{command} .env2 b")
        return time.process_time() - began

    cost(text[:1000])
    assert cost(text) < 60 * 60 * max(cost(text[:1000]), 0.0005)


# The real commands


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    return Project(root, home)


def hook(project: Project, trigger: str, said: dict[str, Any]) -> None:
    done = project.run("hook-event", trigger, "--source", "claude-code", "--stdin-json", stdin=json.dumps(said))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def recorded(project: Project) -> list[Any]:
    payloads = [event["payload"] for event in project.events()]
    return [one.get("path") or one.get("tool_name") or one.get("command") or one.get("content") for one in payloads]


def test_a_hook_leaves_out_what_the_project_keeps_out(project: Project) -> None:
    (project.root / FILE).write_text(".env\ntool:mcp__slack__*\n")
    cwd = str(project.root)
    for path in (".env", "app.py"):
        hook(project, "file-edit", {"cwd": cwd, "tool_name": "Edit", "tool_input": {"file_path": f"{cwd}/{path}"}})
    for tool in ("mcp__slack__send", "mcp__jira__open"):
        hook(project, "tool-call", {"cwd": cwd, "tool_name": tool, "tool_input": {"a": 1}})
    for command in ("cat .env", "make test"):
        hook(project, "command", {"cwd": cwd, "tool_name": "Bash", "tool_input": {"command": command}})
    assert recorded(project) == [f"{cwd}/app.py", "mcp__jira__open", "make test"]
    assert not (project.eventloom / "runtime/hook-errors.log").exists()


def test_of_a_patch_only_the_files_are_recorded_that_are_not_kept_out(project: Project) -> None:
    (project.root / FILE).write_text("*.pem\n")
    patch = "*** Begin Patch\n*** Add File: a.pem\n+x\n*** Add File: a.py\n+x\n*** End Patch"
    said = {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    hook(project, "file-edit", said)
    assert recorded(project) == ["a.py"]


def test_a_file_that_a_hook_cannot_read_lets_nothing_be_recorded(project: Project) -> None:
    (project.root / FILE).mkdir()
    hook(project, "command", {"tool_name": "Bash", "tool_input": {"command": "make"}})
    assert not list(project.eventloom.glob("*.jsonl"))
    assert FILE in (project.eventloom / "runtime/hook-errors.log").read_text()


@pytest.mark.needs_package("claude-code")
def test_capture_leaves_out_the_same(project: Project) -> None:
    (project.root / FILE).write_text(".env\ntool:mcp__slack__*\n")
    cwd = str(project.root)
    folder = project.home / ".claude/projects" / "".join(c if c.isalnum() else "-" for c in cwd)
    folder.mkdir(parents=True)
    uses = [
        ("Bash", {"command": "cat .env"}),
        ("Bash", {"command": "make test"}),
        ("Write", {"file_path": f"{cwd}/.env", "content": "x"}),
        ("Write", {"file_path": f"{cwd}/app.py", "content": "x"}),
        ("mcp__slack__send", {"a": 1}),
        ("mcp__jira__open", {"a": 1}),
    ]
    about = {"sessionId": "5f0c", "cwd": cwd, "isSidechain": False, "timestamp": "2026-01-01T10:00:00Z"}
    records = []
    for number, (tool, given) in enumerate(uses):
        use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}
        for role, block in (("assistant", use), ("user", result)):
            message = {"role": role, "content": [block]}
            records.append({**about, "type": role, "uuid": f"{role}{number}", "message": message})
    (folder / "5f0c.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    reply = project.told("capture", "once")
    assert reply["left_out"] == {"ignored": 3}
    assert [Path(str(one)).name for one in recorded(project)] == ["make test", "app.py", "mcp__jira__open"]


def test_the_doctor_names_a_malformed_line_and_counts_the_others(project: Project) -> None:
    (project.root / FILE).write_text(".env\n*.pem\ntool:x\n")
    assert kept_out(project) == [("ok", ".zaxyignore has 2 lines for paths, 1 line for tools")]
    (project.root / FILE).write_text(".env\n[a].txt\n")
    ((status, message),) = kept_out(project)
    assert (status, "line 2" in message) == ("warning", True)


def kept_out(project: Project) -> list[tuple[str, str]]:
    rows = check_ignored(DoctorContext(find_workspace(str(project.root))))
    return [(row.status, row.message) for row in rows]
