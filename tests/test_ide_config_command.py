"""`zaxy ide-config`, as a person or a script runs it, and the server that a client then starts."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from conftest import Zaxy
from zaxy.memory import Memory

JSON_CLIENTS = {
    "claude-code": (".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
}
CLAUDE_CODE = pytest.param("claude-code", marks=pytest.mark.needs_package("claude-code"))
CODEX = pytest.param("codex", marks=pytest.mark.needs_package("codex"))
CLIENTS = [CLAUDE_CODE, "cursor", "vscode", "gemini"]
OF_A_PROJECT = ("EVENTLOOM_PATH", "EVENTLOOM_THREAD", "ZAXY_DOMAIN", "NEO4J_URI", "PROJECTION_BACKEND")
SECRETS = {"MCP_ADMIN_TOKEN": "canary-1", "ANTHROPIC_API_KEY": "canary-2", "NEO4J_PASSWORD": "canary-3"}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


@pytest.fixture
def home(tmp_path: Path) -> str:
    (tmp_path / "home").mkdir()
    return str(tmp_path / "home")


def asked(zaxy: Zaxy, *arguments: str, **env: str) -> dict[str, Any]:
    done = zaxy("ide-config", *arguments, "--json", **env)
    assert done.returncode == 0, done.stderr + done.stdout
    reply = json.loads(done.stdout)
    assert isinstance(reply, dict)
    return reply


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("client", [*CLIENTS, "claude-desktop"])
def test_it_prints_what_to_paste_and_writes_nothing(client: str, zaxy: Zaxy, here: Path) -> None:
    done = zaxy("ide-config", client)
    assert done.returncode == 0, done.stderr
    servers = json.loads(done.stdout)[JSON_CLIENTS.get(client, ("", "mcpServers"))[1]]
    command = servers["zaxy"]["command"]
    assert os.path.isabs(command) and os.access(command, os.X_OK)
    assert servers["zaxy"]["env"] == {
        "EVENTLOOM_PATH": str(here / ".eventloom"),
        "EVENTLOOM_THREAD": "here-default",
        "ZAXY_DOMAIN": "here",
    }
    assert files_of(here) == []


@pytest.mark.parametrize("client", CLIENTS)
def test_install_merges_refuses_a_second_time_and_is_undone_exactly(client: str, zaxy: Zaxy, here: Path) -> None:
    name, root = JSON_CLIENTS[client]
    path = here / name
    path.parent.mkdir(exist_ok=True)
    before = f'\ufeff{{ // mine\r\n\t"{root}": {{\r\n\t\t"other": {{"command": "x"}},\r\n\t}}\r\n}}'.encode()
    path.write_bytes(before)
    assert asked(zaxy, client, "--install")["installed"] is True
    once = path.read_bytes()
    assert b'\t\t\t"command": ' in once and once.count(b"\r\n") == once.count(b"\n")
    again = zaxy("ide-config", client, "--install")
    assert (again.returncode, path.read_bytes()) == (1, once)
    assert "already" in again.stderr and "--force" in again.stderr
    forced = asked(zaxy, client, "--install", "--force", "--domain", "other")
    assert forced["installed"] is True
    assert path.read_bytes() == once.replace(b"here-default", b"other-default").replace(b'"here"', b'"other"')
    assert asked(zaxy, client, "--remove")["removed"] is True
    assert path.read_bytes() == before
    assert asked(zaxy, client, "--remove")["removed"] is False


@pytest.mark.parametrize("client", CLIENTS)
def test_where_install_made_the_file_remove_leaves_nothing(client: str, zaxy: Zaxy, here: Path) -> None:
    assert asked(zaxy, client, "--install")["path"] == str(here / JSON_CLIENTS[client][0])
    assert asked(zaxy, client, "--remove")["deleted"] is True
    assert files_of(here) == []


def secrets_shown(zaxy: Zaxy, client: str) -> bool:
    printed = zaxy("ide-config", client, **SECRETS)
    assert printed.returncode == 0, printed.stderr
    return "canary" in printed.stdout


@pytest.mark.parametrize("client", CLIENTS)
def test_no_secret_of_the_environment_is_written(client: str, zaxy: Zaxy, here: Path) -> None:
    assert not secrets_shown(zaxy, client)
    asked(zaxy, client, "--install", **SECRETS)
    (written,) = [path for path in here.rglob("*") if path.is_file()]
    assert "zaxy" in written.read_text() and "canary" not in written.read_text()


@pytest.mark.parametrize("client", ["claude-desktop", CODEX])
def test_no_secret_of_the_environment_is_printed_where_nothing_is_written(client: str, zaxy: Zaxy) -> None:
    assert not secrets_shown(zaxy, client)


@pytest.mark.needs_package("codex")
def test_no_secret_of_the_environment_is_written_for_the_user(zaxy: Zaxy, home: str) -> None:
    asked(zaxy, "codex", "--install", "--codex-config-scope", "user", HOME=home, CODEX_HOME="", **SECRETS)
    (written,) = [path for path in Path(home).rglob("*") if path.is_file()]
    assert "zaxy" in written.read_text() and "canary" not in written.read_text()


def test_a_malformed_file_is_refused_with_its_place_and_kept(zaxy: Zaxy, here: Path) -> None:
    path = here / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  "mcpServers": {\n    oops\n  }\n}\n')
    done = zaxy("ide-config", "cursor", "--install", "--force")
    assert done.returncode == 1
    assert f"{path}: line 3, column 5: a name in quotes is expected" in done.stderr
    assert path.read_text() == '{\n  "mcpServers": {\n    oops\n  }\n}\n'
    assert files_of(here) == [".cursor", ".cursor/mcp.json"]


# Codex


@pytest.mark.needs_package("codex")
def test_codex_is_told_its_own_command_unless_a_scope_is_named(zaxy: Zaxy, here: Path, home: str) -> None:
    for options in ((), ("--install",), ("--install", "--domain", "zaxy")):
        done = zaxy("ide-config", "codex", *options, HOME=home)
        assert done.returncode == 0
        words = shlex.split(done.stdout)
        assert words[:5] == ["codex", "mcp", "add", "zaxy", "--"]
        assert os.path.isabs(words[5]) and words[-1] == "serve"
    assert files_of(here) == files_of(Path(home)) == []
    assert zaxy("ide-config", "codex", "--remove", HOME=home).returncode == 2


@pytest.mark.needs_package("codex")
def test_codex_project_file_needs_a_trusted_project(zaxy: Zaxy, here: Path, home: str) -> None:
    scope = ("--codex-config-scope", "project")
    refused = zaxy("ide-config", "codex", "--install", *scope, HOME=home)
    assert refused.returncode == 1
    assert "--codex-trusted-project" in refused.stderr
    assert files_of(here) == []
    asked(zaxy, "codex", "--install", *scope, "--codex-trusted-project", HOME=home)
    text = (here / ".codex" / "config.toml").read_text()
    entry = tomllib.loads(text)["mcp_servers"]["zaxy"]
    assert entry["args"][-1:] == ["serve"] and entry["startup_timeout_sec"] == 90
    assert not any(name in text for name in OF_A_PROJECT)
    asked(zaxy, "codex", "--remove", *scope, HOME=home)
    assert files_of(here) == []


@pytest.mark.needs_package("codex")
def test_codex_user_file_is_that_of_codex_home_or_of_the_home_folder(zaxy: Zaxy, home: str, tmp_path: Path) -> None:
    scope = ("--codex-config-scope", "user", "--domain", "zaxy")
    done = zaxy("ide-config", "codex", "--install", *scope, HOME=home, CODEX_HOME="")
    assert "--domain is not written" in done.stderr
    asked(zaxy, "codex", "--install", *scope, HOME=home, CODEX_HOME=str(tmp_path / "codex"))
    texts = [Path(home, ".codex", "config.toml").read_text(), (tmp_path / "codex" / "config.toml").read_text()]
    assert texts[0] == texts[1]
    assert not any(name in texts[0] for name in OF_A_PROJECT)


@pytest.mark.needs_package("codex")
def test_a_shared_configuration_can_be_made_in_the_home_folder_itself(zaxy: Zaxy, home: str) -> None:
    done = zaxy("ide-config", "codex", cwd=Path(home), HOME=home)
    assert (done.returncode, files_of(Path(home))) == (0, [])


# Hermes, whose writer is a package of its own


@pytest.mark.needs_package("hermes")
def test_hermes_file_is_the_one_named_or_that_of_its_home(zaxy: Zaxy, home: str, tmp_path: Path) -> None:
    named = tmp_path / "my.yaml"
    named.write_bytes(b"# mine\r\nmcp_servers:\r\n  other: {url: 'https://h/mcp'}\r\n")
    asked(zaxy, "hermes", "--install", "--hermes-config", str(named), HOME=home)
    assert b"connect_timeout: 90\r\n" in named.read_bytes()
    assert not any(name.encode() in named.read_bytes() for name in OF_A_PROJECT)
    asked(zaxy, "hermes", "--remove", "--hermes-config", str(named), HOME=home)
    assert named.read_bytes() == b"# mine\r\nmcp_servers:\r\n  other: {url: 'https://h/mcp'}\r\n"
    asked(zaxy, "hermes", "--install", HOME=home, HERMES_HOME="")
    asked(zaxy, "hermes", "--install", HOME=home, HERMES_HOME=str(tmp_path / "hermes"))
    assert (tmp_path / "hermes" / "config.yaml").read_bytes() == Path(home, ".hermes", "config.yaml").read_bytes()


# Remote servers


@pytest.mark.parametrize("client", CLIENTS)
def test_a_remote_server_is_told_the_default_session_in_a_header(client: str, zaxy: Zaxy) -> None:
    done = zaxy("ide-config", client, "--url", "https://memory.example/mcp", "--domain", "app")
    entry = json.loads(done.stdout)[JSON_CLIENTS[client][1]]["zaxy"]
    assert entry["headers"] == {"x-zaxy-session-id": "app-default"}
    assert "https://memory.example/mcp" in entry.values()
    assert "command" not in entry and "env" not in entry


@pytest.mark.needs_package("codex")
def test_codex_is_told_a_remote_address_only(zaxy: Zaxy) -> None:
    done = zaxy("ide-config", "codex", "--url", "https://memory.example/mcp")
    assert done.stdout == "codex mcp add zaxy --url https://memory.example/mcp\n"


# Wrong use


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("nobody",), 1, "claude-desktop, "),
        (("claude-desktop", "--install"), 2, "is printed, never written"),
        (("claude-desktop", "--url", "https://h/mcp"), 2, "Connectors"),
        (("cursor", "--install", "--remove"), 2, "exclude each other"),
        pytest.param(("cursor", "--codex-config-scope", "user"), 2, "is about codex", marks=CODEX.marks),
        pytest.param(("cursor", "--codex-trusted-project"), 2, "is about codex", marks=CODEX.marks),
        pytest.param(
            ("cursor", "--hermes-config", "x"), 2, "is about hermes", marks=pytest.mark.needs_package("hermes")
        ),
        pytest.param(("codex", "--codex-config-scope", "team"), 2, "team", marks=CODEX.marks),
        (("cursor", "--url", "https://u:p@h/mcp"), 2, "password"),
        (("cursor", "--url", "ftp://h"), 2, "not the URL"),
    ],
)
def test_wrong_use_is_refused_and_writes_nothing(
    arguments: tuple[str, ...], code: int, told: str, zaxy: Zaxy, here: Path
) -> None:
    done = zaxy("ide-config", *arguments)
    assert done.returncode == code
    assert told in done.stderr
    assert done.stdout == ""
    assert files_of(here) == []


@pytest.fixture
def homeless(here: Path) -> Path:
    """Python finds the home folder in the password database too: one without an entry for this user is stood in for."""
    site = here.parent / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import pathlib\ndef nowhere(cls): raise RuntimeError('no home')\npathlib.Path.home = classmethod(nowhere)\n"
    )
    return site


@pytest.mark.skipif(os.name != "posix", reason="elsewhere the home folder is found in other ways")
def test_a_missing_home_is_not_told_where_it_is_not_needed(zaxy: Zaxy, homeless: Path) -> None:
    assert zaxy("ide-config", "cursor", "--install", site=homeless, HOME="").returncode == 0


@pytest.mark.needs_package("codex")
@pytest.mark.skipif(os.name != "posix", reason="elsewhere the home folder is found in other ways")
def test_a_missing_home_is_told_where_it_is_needed(zaxy: Zaxy, homeless: Path) -> None:
    scope = ("--codex-config-scope", "user")
    needed = zaxy("ide-config", "codex", "--install", *scope, site=homeless, HOME="", CODEX_HOME="")
    assert (needed.returncode, "HOME is not set" in needed.stderr) == (1, True)


# The server that a client starts


@pytest.mark.parametrize("client", [CLAUDE_CODE, "vscode", CODEX])
def test_a_client_that_reads_the_file_reaches_the_memory_of_the_project(
    client: str, zaxy: Zaxy, here: Path, tmp_path: Path
) -> None:
    if client == "codex":
        asked(zaxy, "codex", "--install", "--codex-config-scope", "project", "--codex-trusted-project")
        entry = tomllib.loads((here / ".codex" / "config.toml").read_text())["mcp_servers"]["zaxy"]
        started_in = here
    else:
        asked(zaxy, client, "--install")
        entry = json.loads((here / JSON_CLIENTS[client][0]).read_text())[JSON_CLIENTS[client][1]]["zaxy"]
        started_in = tmp_path  # such clients start servers wherever they like
    parameters = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=entry.get("env"), cwd=started_in
    )
    with start_blocking_portal() as portal:
        talk = Client(stdio_client(parameters))
        with portal.wrap_async_context_manager(talk):
            fact = {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": "the lamp is green"}}
            done = portal.call(talk.call_tool, "memory_append", fact)
            assert not done.is_error
    with Memory.open(here) as memory:
        assert "here-default" in memory.sessions()
        assert "the lamp is green" in memory.verbatim("lamp", "here-default").results[0].content
