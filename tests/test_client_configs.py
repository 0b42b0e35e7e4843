"""Clients' configuration files: edited at one place, given back byte for byte, and refused where they must be."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from zaxy.api import ServerEntry, ZaxyError
from zaxy.api.edit import json as json_text, toml as toml_text
from zaxy.clients.claude_desktop import ClaudeDesktop
from zaxy.clients.cursor import CursorClient
from zaxy.clients.editing import EditedFile, install_text, remove_text
from zaxy.clients.entries import checked_url, command_line, project_entry, shared_entry
from zaxy.clients.files import read_file, write_file
from zaxy.clients.gemini import Gemini
from zaxy.clients.vscode import VsCode
from zaxy.workspace import Workspace
from zaxy_claude_code.client import ClaudeCode
from zaxy_codex.client import Codex
from zaxy_testkit import ClientSuite
from zaxy_testkit.checks.ide_config_writers import MOVED, REMOTE, SERVER, ClientCase

SERVERS_JSON = """\
// kept by hand
{
   "theme" : "dark",   /* and stormy */
   "SERVERS": { // tools
      // looks things up
      "search": {"command": "npx", "args": ["-y", "search-mcp"],},

      "zaxy-like": { "url": "https://example.org/mcp" } // a comment with "zaxy": {}
   },
   "last": [1, 2.50, 1e3,],
}
"""
SETTINGS = '{\n\t"ui": {"theme": "x"}\n}\n'
CURSOR_HOOKS = '{\n\t"version": 1,\n\t"hooks": {\n\t\t"stop": [\n\t\t\t{ "command": "./mine.sh" }\n\t\t]\n\t}\n}\n'
GEMINI_HOOKS = '{"theme": "dark", // kept\n  "hooks": {"AfterTool": [{"matcher": "x", "hooks": []}]}}'


class TestClaudeDesktop(ClientSuite):
    @pytest.fixture
    def case(self) -> ClientCase:
        return ClientCase(ClaudeDesktop, "{}", "{")


class TestCursor(ClientSuite):
    @pytest.fixture
    def case(self) -> ClientCase:
        return ClientCase(CursorClient, '{"mcpServers": {}}', '{"mcpServers": {"a" 1}}', CURSOR_HOOKS)


class TestVsCode(ClientSuite):
    @pytest.fixture
    def case(self) -> ClientCase:
        return ClientCase(VsCode, SERVERS_JSON.replace("SERVERS", "servers"), '{"servers": {}} more')


class TestGemini(ClientSuite):
    @pytest.fixture
    def case(self) -> ClientCase:
        return ClientCase(Gemini, SETTINGS, '{"ui": "open}', GEMINI_HOOKS)


# Any file at all


BLANKS = st.lists(
    st.sampled_from(["", " ", "  ", "\t", "\n", "\n  ", "\r\n\t", '// a "b": {\n', "/* c\n} */", "\n\n"]), max_size=2
).map("".join)
NAMES = st.sampled_from(["a", "b", "mcpServers", "zaxy-two", "zaxy.old", 'q"\\', "ü", "", "zaxY", "env"])
SCALARS = st.one_of(
    st.sampled_from(["0", "-1.50", "1e3", "true", "null", '"// no"', '"\\u00e9}"', "{ }", "[]", "[ // x\n]"]),
    st.text(max_size=5).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)).map(json.dumps),
)


@st.composite
def containers(draw: st.DrawFn, values: st.SearchStrategy[str], names: st.SearchStrategy[str] = NAMES) -> str:
    is_object = draw(st.booleans())
    keys = draw(st.lists(names, max_size=4, unique=True))
    rows = []
    for key in keys:
        label = f"{json.dumps(key)}{draw(BLANKS)}:{draw(BLANKS)}" if is_object else ""
        rows.append(f"{draw(BLANKS)}{label}{draw(values)}{draw(BLANKS)}")
    trailing = "," + draw(BLANKS) if rows and draw(st.booleans()) else "" if rows else draw(BLANKS)
    opening, closing = "{}" if is_object else "[]"
    return opening + ",".join(rows) + trailing + closing


@st.composite
def json_files(draw: st.DrawFn) -> str:
    inner = st.recursive(SCALARS, containers, max_leaves=6)
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    rows = []
    for name in names:
        value = draw(containers(inner).filter(lambda text: text[0] == "{") if name == "mcpServers" else inner)
        rows.append(f"{draw(BLANKS)}{json.dumps(name)}{draw(BLANKS)}:{draw(BLANKS)}{value}{draw(BLANKS)}")
    trailing = "," + draw(BLANKS) if rows and draw(st.booleans()) else "" if rows else draw(BLANKS)
    root = "{" + ",".join(rows) + trailing + "}" if draw(st.integers(0, 9)) else ""
    text = draw(BLANKS) + root + draw(BLANKS)
    if draw(st.booleans()):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text


TOML_ROWS = st.sampled_from(
    [
        "",
        "  ",
        "# a comment with [mcp_servers.zaxy]",
        "[mcp_servers]",
        "[mcp_servers.search]",
        '[ mcp_servers . "zaxy-two" ]  # quoted',
        "[mcp_servers.search.env]",
        "[[runs]]",
        "[mcp_servers.'zaxy.old']",
        "  [table]",
        'command = "npx" # [x]',
        "args = [ # [\n  '#',\n  \"]\", ]",
        'long = """\n[mcp_servers.zaxy]\n\\"""" # done',
        "raw = '''\n[mcp_servers.zaxy]''' ",
        "value = nan",
        "when = 1979-05-27T07:32:00Z",
        "inline = { a.b = 1, c = [{d = '}'}] }",
        "mcp_servers.dotted.command = 'x'",
        "ü = 1".replace("ü", '"ü"'),
    ]
)


@st.composite
def toml_files(draw: st.DrawFn) -> str:
    text = "\n".join(draw(st.lists(TOML_ROWS, max_size=8))) + draw(st.sampled_from(["", "\n", "\n\n"]))
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text


def install(client: Any, path: Path, server: ServerEntry, inside: Path | None = None) -> EditedFile:
    return install_text(path, lambda text: client.install(text, server, False), inside)


def remove(client: Any, path: Path, name: str, inside: Path | None = None) -> EditedFile:
    return remove_text(path, lambda text: client.remove(text, name), inside)


def made(writer: type[Any]) -> Any:
    return writer(None)  # it looks at nothing of its context


def expect_given_back(writer: Any, text: str) -> str:
    after: str = writer.install(text, SERVER, False)
    assert any(after.endswith(text[cut:]) and after.startswith(text[:cut]) for cut in range(len(text) + 1))
    assert writer.remove(after, "zaxy") == text
    assert writer.install(after, MOVED, True) == writer.install(text, MOVED, False)
    assert writer.install(text, SERVER, True) == after
    with pytest.raises(ZaxyError) as refused:
        writer.install(after, MOVED, False)
    assert refused.value.code == "conflict"
    return after


@settings(max_examples=600, deadline=None)
@given(json_files())
def test_installing_into_any_json_file_and_removing_gives_back_its_bytes(text: str) -> None:
    writer = made(ClaudeCode)
    before = json_text.parse(text)
    wanted = {} if before is None else dict(before.value)
    after = expect_given_back(writer, text)
    found = json_text.value_at(after, ())
    assert found.pop("mcpServers") == {**wanted.pop("mcpServers", {}), "zaxy": writer.entry(SERVER)}
    assert found == wanted
    if json_text.value_at(text, ("mcpServers", "zaxy-two")) is json_text.MISSING:
        assert_removable_in_any_order(writer, text)


@settings(max_examples=600, deadline=None)
@given(toml_files())
def test_installing_into_any_toml_file_and_removing_gives_back_its_bytes(text: str) -> None:
    writer = made(Codex)
    wanted = toml_text.parse(text)
    after = expect_given_back(writer, text)
    found = toml_text.parse(after)
    assert found["mcp_servers"].pop("zaxy") == writer.entry(SERVER)
    assert found == {"mcp_servers": {}, **wanted}


def assert_removable_in_any_order(writer: Any, text: str) -> None:
    second = ServerEntry("zaxy-two", command="/two")
    both = writer.install(writer.install(text, SERVER, False), second, False)
    assert writer.remove(writer.remove(both, "zaxy"), "zaxy-two") == text
    assert writer.remove(writer.remove(both, "zaxy-two"), "zaxy") == text


@settings(max_examples=300, deadline=None)
@given(json_files(), st.data())
def test_a_json_file_that_was_cut_off_is_refused_or_is_a_whole_one(text: str, data: st.DataObject) -> None:
    cut = text[: data.draw(st.integers(0, len(text)))]
    try:
        after = made(ClaudeCode).install(cut, SERVER, False)
    except ZaxyError as error:
        assert re.match(r"line \d+, column \d+: ", error.message) or error.code == "conflict"
    else:
        assert made(ClaudeCode).remove(after, "zaxy") == cut


# What the files say


@pytest.mark.parametrize(
    ("writer", "text", "place"),
    [
        (ClaudeCode, '{\n  "mcpServers": {\n    "a": 1\n    "b": 2\n  }\n}\n', "line 4, column 5"),
        (ClaudeCode, '{"mcpServers": {"zaxy": {}, "zaxy": {}}}', "line 1, column 29"),
        (ClaudeCode, '{"mcpServers": []}', "line 1, column 16"),
        (ClaudeCode, "[]", "line 1, column 1"),
        (ClaudeCode, '\ufeff{"a": tru}', "line 1, column 7"),
        (ClaudeCode, '{"a": 1} /* open', "line 1, column 10"),
        (ClaudeCode, "[" * 100_000, "line 1, column 202"),
        (Codex, '[a]\nb = "open\n', "line 2"),
        (Codex, "[mcp_servers.zaxy]\n[mcp_servers.zaxy]\n", "line 2"),
        (Codex, "a = " + "[" * 100_000, "nested too deep"),
    ],
)
def test_a_malformed_file_is_refused_with_line_and_column(writer: type[Any], text: str, place: str) -> None:
    for force in (False, True):
        with pytest.raises(ZaxyError, match=place) as refused:
            made(writer).install(text, SERVER, force)
        assert refused.value.code == "unavailable"


def test_servers_in_an_inline_table_are_left_to_the_user() -> None:
    text = "mcp_servers = { search = { command = 'npx' }, zaxy = { command = 'x' } }\n"
    for edit in (lambda: made(Codex).install(text, SERVER, True), lambda: made(Codex).remove(text, "zaxy")):
        with pytest.raises(ZaxyError, match="cannot be edited"):
            edit()


def test_an_entry_that_the_user_wrote_is_removed_with_the_tables_below_it() -> None:
    text = (
        "[mcp_servers.zaxy] # mine\ncommand = 'x'\n\n[mcp_servers.zaxy.env]\nA = 'b'\n\n"
        "# about other\n[other]\nx = 1\n\n[mcp_servers.zaxy.tools]\ny = 1\n"
    )
    assert made(Codex).remove(text, "zaxy") == "# about other\n[other]\nx = 1\n"
    replaced = made(Codex).install(text, SERVER, True)
    assert tomllib.loads(replaced) == {"mcp_servers": {"zaxy": made(Codex).entry(SERVER)}, "other": {"x": 1}}


def test_a_comment_after_an_entry_does_not_swallow_what_follows() -> None:
    text = '{"mcpServers": { // mine\n "zaxy": {}, "b": 1}}'
    assert json_text.value_at(made(CursorClient).remove(text, "zaxy"), ()) == {"mcpServers": {"b": 1}}


@pytest.mark.parametrize(
    ("writer", "wanted"),
    [
        (ClaudeCode, {"type": "stdio", "command": "/z", "args": ["serve"], "env": {"A": "b"}}),
        (ClaudeDesktop, {"command": "/z", "args": ["serve"], "env": {"A": "b"}}),
        (CursorClient, {"command": "/z", "args": ["serve"], "env": {"A": "b"}}),
        (VsCode, {"type": "stdio", "command": "/z", "args": ["serve"], "env": {"A": "b"}}),
        (Gemini, {"command": "/z", "args": ["serve"], "env": {"A": "b"}, "timeout": 90_000}),
        (Codex, {"command": "/z", "args": ["serve"], "env": {"A": "b"}, "startup_timeout_sec": 90}),
    ],
)
def test_the_startup_allowance_is_written_as_each_client_spells_it(writer: type[Any], wanted: dict[str, Any]) -> None:
    assert made(writer).entry(ServerEntry("zaxy", command="/z", args=("serve",), env={"A": "b"})) == wanted


@pytest.mark.parametrize(
    ("writer", "wanted"),
    [
        (ClaudeCode, {"type": "http", "url": REMOTE.url, "headers": {"h": "v"}}),
        (CursorClient, {"url": REMOTE.url, "headers": {"h": "v"}}),
        (VsCode, {"type": "http", "url": REMOTE.url, "headers": {"h": "v"}}),
        (Gemini, {"httpUrl": REMOTE.url, "headers": {"h": "v"}, "timeout": 90_000}),
        (Codex, {"url": REMOTE.url, "http_headers": {"h": "v"}, "startup_timeout_sec": 90}),
    ],
)
def test_a_remote_server_is_written_as_each_client_spells_it(writer: type[Any], wanted: dict[str, Any]) -> None:
    assert made(writer).entry(ServerEntry("zaxy", url=REMOTE.url, headers={"h": "v"})) == wanted


@pytest.mark.parametrize(
    ("writer", "scope", "environ", "wanted"),
    [
        (ClaudeCode, "project", {}, "w/.mcp.json"),
        (CursorClient, "project", {}, "w/.cursor/mcp.json"),
        (VsCode, "project", {}, "w/.vscode/mcp.json"),
        (Gemini, "project", {}, "w/.gemini/settings.json"),
        (Codex, "project", {"CODEX_HOME": "c"}, "w/.codex/config.toml"),
        (Codex, "user", {}, "h/.codex/config.toml"),
        (Codex, "user", {"CODEX_HOME": "c"}, "c/config.toml"),
    ],
)
def test_each_scope_has_the_file_that_the_client_reads(
    writer: type[Any], scope: str, environ: Mapping[str, str], wanted: str
) -> None:
    assert made(writer).target(scope, Path("w"), Path("h"), environ) == Path(wanted)


def test_odd_names_and_values_survive_in_toml() -> None:
    odd = ServerEntry("z.a b", command='C:\\"x"\\ü', args=("a\nb", "\x7f\x00\t"), env={"A.B": "'"})
    text = made(Codex).install("", odd, False)
    assert tomllib.loads(text)["mcp_servers"]["z.a b"] == made(Codex).entry(odd)
    assert made(Codex).remove(text, "z.a b") == ""


# Entries


def test_a_projects_entry_names_its_log_its_domain_and_its_session(tmp_path: Path) -> None:
    workspace = Workspace(str(tmp_path), str(tmp_path / ".eventloom"), "test")
    server = project_entry(workspace, "My App")
    assert server.env == {
        "EVENTLOOM_PATH": str(tmp_path / ".eventloom"),
        "EVENTLOOM_THREAD": "my-app-default",
        "ZAXY_DOMAIN": "my-app",
    }
    assert project_entry(workspace, "app", "https://h/mcp").headers == {"x-zaxy-session-id": "app-default"}


def test_a_shared_entry_names_no_project() -> None:
    assert shared_entry().env == {}
    assert shared_entry("https://h/mcp") == ServerEntry("zaxy", url="https://h/mcp")


def test_the_command_is_an_absolute_path_that_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = command_line()
    assert os.path.isabs(command[0])
    assert os.access(command[0], os.X_OK)
    monkeypatch.setattr("zaxy.clients.entries._script_folders", lambda: [str(tmp_path)])
    assert command_line()[1:] == ("-P", "-m", "zaxy")
    assert os.path.isabs(command_line()[0])


@pytest.mark.parametrize("url", ["https://u:p@h/mcp", "https://u@h/", "https://h/mcp?token=x", "https://h/#t", "h", ""])
def test_a_url_with_a_secret_or_without_a_host_is_refused(url: str) -> None:
    with pytest.raises(ZaxyError):
        checked_url(url)


# Files


FILES = {
    "crlf": b'{\r\n  "a": 1\r\n}',
    "mark": b'\xef\xbb\xbf{"a": 1}\n',
    "empty": b"",
    "comment": b"// nothing yet\n",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_file_comes_back_byte_for_byte_and_its_mode_stays(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_bytes(content)
    path.chmod(0o640)
    done = install(made(ClaudeCode), path, SERVER, inside=tmp_path)
    assert done.before == content
    assert done.after == path.read_bytes() != content
    assert done.backup is not None
    assert done.backup.read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(done.backup.stat().st_mode) == 0o640
    remove(made(ClaudeCode), path, "zaxy", tmp_path)
    assert path.read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == [".mcp.json"]


def test_a_file_that_installing_made_is_deleted_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    assert install(made(CursorClient), path, SERVER, inside=tmp_path).backup is None
    assert remove(made(CursorClient), path, "zaxy", tmp_path).after is None
    assert list(tmp_path.iterdir()) == []


def test_a_refused_file_keeps_its_bytes_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_bytes(b'{"mcpServers": {\xff}}')
    with pytest.raises(ZaxyError, match="is not UTF-8: byte 16") as refused:
        install(made(ClaudeCode), path, SERVER)
    assert str(path) in refused.value.message
    path.write_bytes(b'{"mcpServers": {')
    with pytest.raises(ZaxyError, match=r"\.mcp\.json: line 1, column 17"):
        install(made(ClaudeCode), path, SERVER)
    assert path.read_bytes() == b'{"mcpServers": {'
    assert [entry.name for entry in tmp_path.iterdir()] == [".mcp.json"]


def test_a_link_or_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_text("{}")
    (tmp_path / "link.json").symlink_to(real)
    (tmp_path / "dangling.json").symlink_to(tmp_path / "nowhere.json")
    (tmp_path / "folder.json").mkdir()
    for name, what in (("link", "is a link"), ("dangling", "is a link"), ("folder", "is a folder")):
        with pytest.raises(ZaxyError, match=what):
            install(made(ClaudeCode), tmp_path / f"{name}.json", SERVER)
    assert real.read_text() == "{}"
    assert not (tmp_path / "nowhere.json").exists()


def test_a_link_on_the_way_out_of_the_project_is_refused(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / ".cursor").symlink_to(outside)
    with pytest.raises(ZaxyError, match="is a link"):
        install(made(CursorClient), project / ".cursor" / "mcp.json", SERVER, inside=project)
    (project / ".vscode").write_text("a file")
    with pytest.raises(ZaxyError, match="is not a folder"):
        install(made(VsCode), project / ".vscode" / "mcp.json", SERVER, inside=project)
    assert list(outside.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no numbers of owners")
def test_a_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text("{}")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(ZaxyError, match="belongs to another user"):
        install(made(ClaudeCode), path, SERVER)
    assert path.read_text() == "{}"


def test_a_file_that_changes_while_it_is_edited_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text("{}")

    class Slow(ClaudeCode):
        def install(self, text: str, server: ServerEntry, force: bool) -> str:
            path.write_text('{"theirs": 1}')
            return super().install(text, server, force)

    with pytest.raises(ZaxyError, match="was changed by another program"):
        install(made(Slow), path, SERVER)
    assert path.read_text() == '{"theirs": 1}'
    made_meanwhile = tmp_path / "new.json"
    read = read_file(made_meanwhile)
    made_meanwhile.write_text("theirs")
    with pytest.raises(ZaxyError, match="was changed by another program"):
        write_file(read, "ours")
    assert made_meanwhile.read_text() == "theirs"


def test_a_folder_that_may_not_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    path = folder / ".mcp.json"
    path.write_text("{}")
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):  # the superuser may write anywhere: the system's refusal is stood in for

        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(ZaxyError, match="cannot be written: Permission denied") as refused:
        install(made(ClaudeCode), path, SERVER)
    folder.chmod(0o700)
    assert refused.value.code == "unavailable"
    assert path.read_text() == "{}"
    assert [entry.name for entry in folder.iterdir()] == [".mcp.json"]
