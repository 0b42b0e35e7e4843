"""The same export by every way out: the MCP tool, the commands, Python and the sinks."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from conftest import Zaxy
from exported import SESSION, entries_of, entry_lines, varied_log, write_log
from served import ERAS, LEGACY, Server
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import checked_entry
from zaxy.memory import Memory
from zaxy_export.delivery import new_file
from zaxy_export.selector import Selector
from zaxy_export.signing import KeyFiles, generate
from zaxy_export.tools import MAX_REPLY
from zaxy_export.verification import verify_export, verify_memory_export_subset

SELECTORS: tuple[dict[str, Any], ...] = (
    {},
    {"grains": ["event"]},
    {"grains": ["semantic"], "kinds": ["decision.made", "goal.created"]},
    {"since_seq": 20, "max_seq": 120},
    {"since_time": "2026-06-02", "until_time": "2026-06-03"},
    {"query": "whale oil", "query_limit": 9, "exclude_sensitivities": ["restricted"]},
    {"limit": 7, "kinds": ["fact.recorded"]},
    {
        "grains": ["event", "semantic"],
        "kinds": ["decision.made", "fact.recorded", "goal.created"],
        "since_seq": 3,
        "max_seq": 160,
        "since_time": "2026-05-01",
        "until_time": "2026-06-30",
        "query": "lamp cat",
        "query_limit": 40,
        "exclude_sensitivities": ["confidential"],
        "limit": 12,
    },
)
FLAGS = {
    "grains": "--grains",
    "kinds": "--types",
    "since_seq": "--since",
    "max_seq": "--max-seq",
    "since_time": "--since-time",
    "until_time": "--until-time",
    "query": "--query",
    "query_limit": "--query-limit",
    "exclude_sensitivities": "--exclude-sensitivities",
    "limit": "--limit",
}
posix = pytest.mark.skipif(os.name != "posix", reason="only POSIX has modes, pipes with names and limits of file sizes")
SILENT = {"MCP_LIFECYCLE_CAPTURE_ENABLED": "0"}
"""So that a call leaves no record in the log that the next export would hold."""


def flags_of(axes: dict[str, Any]) -> list[str]:
    words = []
    for name, value in axes.items():
        words += [FLAGS[name], ",".join(value) if isinstance(value, list) else str(value)]
    return words


def canonical_entries(bundle: dict[str, Any]) -> list[bytes]:
    """The canonical bytes of the entries of an envelope that came as JSON of whatever layout."""
    return [rfc8785.dumps(json.loads(json.dumps(entry), parse_int=_integer)) for entry in bundle["entries"]]


def _integer(digits: str) -> int | float:
    return int(digits) if abs(int(digits)) < 2**53 else float(digits)


class Place:
    """A workspace with the generated log and a key pair beside it."""

    def __init__(self, folder: Path, keys: Path) -> None:
        self.folder = folder
        varied_log(folder)
        self.passphrase = "correct horse battery"
        (keys / "phrase").write_text(self.passphrase)
        self.files = KeyFiles(str(keys / "k.pem"), str(keys / "k.pub"), passphrase=str(keys / "phrase"))
        self.public_key = generate(self.files).key.hex()
        self.settings = {
            "MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE": self.files.private,
            "MCP_EXPORT_SIGNING_PUBLIC_KEY_FILE": self.files.public,
            "MCP_EXPORT_SIGNING_PASSPHRASE_FILE": self.files.passphrase,
        }
        self.key_options = [
            *("--private-key", self.files.private, "--public-key", self.files.public),
            *("--algorithm", "ed25519", "--passphrase-file", self.files.passphrase),
        ]

    def expected(self, axes: dict[str, Any]) -> list[bytes]:
        with Memory.open(self.folder) as memory:
            return entries_of(memory, Selector.of(axes))

    def secrets(self) -> list[str]:
        """Pieces of what nobody may see."""
        lines = Path(self.files.private).read_text().splitlines()
        return [self.passphrase, *lines[1:-1]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("surfaces"), tmp_path_factory.mktemp("keys"))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The folder in which `zaxy` runs, with two events of the session `s`."""
    folder = tmp_path / "here"
    folder.mkdir(exist_ok=True)
    with Memory.open(folder) as memory:
        memory.append("decision.made", {"decision": "The lamp burns oil.", "key": "lamp"}, session="s")
        memory.append("goal.created", {"goal": "Light the harbour."}, session="s")
    return folder


# One selector, every surface


@pytest.fixture(scope="module", params=ERAS)
def server(request: pytest.FixtureRequest, place: Place) -> Iterator[Server]:
    with Server(place.folder, request.param, **place.settings, **SILENT) as running:
        yield running


@pytest.mark.parametrize("axes", SELECTORS, ids=lambda axes: "+".join(axes) or "everything")
def test_the_tool_gives_the_entries_that_python_gives(server: Server, place: Place, axes: dict[str, Any]) -> None:
    expected = place.expected(axes)
    assert expected
    bundle = server.call("memory_export", session_id=SESSION, **axes)
    assert {name: bundle[name] for name in bundle if name != "entries"} == {
        "version": "zaxy.export.unsigned.v1",
        "schema_version": "zaxy.export.v1",
        "session_id": SESSION,
        "signed": False,
    }
    assert canonical_entries(bundle) == expected


@pytest.mark.parametrize("axes", SELECTORS, ids=lambda axes: "+".join(axes) or "everything")
def test_the_command_and_the_file_sink_write_the_bytes_that_python_writes(
    zaxy: Zaxy, place: Place, tmp_path: Path, axes: dict[str, Any]
) -> None:
    expected = place.expected(axes)
    pulled, pushed = tmp_path / "pulled.json", tmp_path / "pushed.json"
    options = ["--eventloom-path", str(place.folder / ".eventloom"), "--session-id", SESSION, *flags_of(axes), "--json"]
    done = zaxy("export", "--out", str(pulled), *options)
    assert done.returncode == 0, done.stderr
    assert entry_lines(pulled.read_bytes()) == expected
    summary = json.loads(done.stdout)
    assert summary["sha256"] == sha256(pulled.read_bytes()).hexdigest()
    assert (summary["entries"], summary["size"]) == (len(expected), pulled.stat().st_size)
    done = zaxy("export-push", "--sink", "file", "--dest", str(pushed), *options)
    assert done.returncode == 0, done.stderr
    assert pushed.read_bytes() == pulled.read_bytes()


class Received:
    """A web server on loopback that keeps what is posted to it."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        received = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.headers.append(dict(self.headers))
                received.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def received() -> Iterator[Received]:
    pytest.importorskip("zaxy_webhook", reason="zaxy-webhook is not installed, so nothing can be posted")
    found = Received()
    yield found
    found.close()


def test_the_webhook_gets_the_same_entries_and_its_token_comes_from_a_file(
    zaxy: Zaxy, place: Place, tmp_path: Path, received: Received
) -> None:
    token = tmp_path / "token"
    token.write_text("t0ken-of-the-hook\n")
    token.chmod(0o600)
    for axes in (SELECTORS[0], SELECTORS[-1]):
        done = zaxy(
            *("export-push", "--sink", "webhook", "--dest", received.url, "--auth-token-file", str(token)),
            *("--eventloom-path", str(place.folder / ".eventloom"), "--session-id", SESSION, *flags_of(axes)),
            ZAXY_WEBHOOK_ALLOW="127.0.0.1",
        )
        assert done.returncode == 0, done.stderr
        assert entry_lines(received.bodies[-1]) == place.expected(axes)
        assert received.headers[-1]["Authorization"] == "Bearer t0ken-of-the-hook"
        assert "t0ken" not in done.stdout + done.stderr


def test_a_destination_is_refused_before_anything_is_built(zaxy: Zaxy, small: Path, received: Received) -> None:
    done = zaxy("export-push", "--sink", "webhook", "--dest", received.url, "--session-id", "s")
    assert done.returncode == 1
    assert "ZAXY_WEBHOOK_ALLOW" in done.stderr
    assert not received.bodies
    done = zaxy("export-push", "--sink", "file", "--dest", "missing/folder/x.json", "--session-id", "s")
    assert done.returncode == 1
    assert "there is no folder" in done.stderr
    done = zaxy("export-push", "--sink", "pigeon", "--dest", "x", "--session-id", "s")
    assert done.returncode == 1
    assert "'pigeon' (installed: file" in done.stderr
    assert [path.name for path in small.iterdir()] == [".eventloom"]


def test_a_signed_bundle_is_pushed_as_it_is_pulled(
    zaxy: Zaxy, place: Place, tmp_path: Path, received: Received
) -> None:
    options = ["--eventloom-path", str(place.folder / ".eventloom"), "--session-id", SESSION, *place.key_options]
    done = zaxy("export-push", "--sink", "webhook", "--dest", received.url, *options, ZAXY_WEBHOOK_ALLOW="127.0.0.1")
    assert done.returncode == 0, done.stderr
    pushed = json.loads(received.bodies[-1])
    assert verify_export(pushed, place.public_key).pinned
    done = zaxy("export", "--out", str(tmp_path / "b.json"), *options)
    assert done.returncode == 0, done.stderr
    pulled = json.loads((tmp_path / "b.json").read_bytes())
    assert pushed["entries"] == pulled["entries"]
    assert pushed["merkle_root"] == pulled["merkle_root"]


# The tool


def test_the_tool_signs_with_the_key_of_the_server_and_discloses(server: Server, place: Place) -> None:
    bundle = server.call("memory_export", session_id=SESSION, sign=True)
    found = verify_export(bundle, place.public_key)
    assert found.entries == len(place.expected({}))
    subset = server.call(
        "memory_export",
        session_id=SESSION,
        max_seq=100,
        disclose={"grains": ["semantic"], "kinds": ["entity:goal"], "since_seq": 10},
    )
    proven = verify_memory_export_subset(subset, place.public_key)
    assert proven.of == len(place.expected({"max_seq": 100}))
    kinds = {(one["content"]["kind"], one["content"]["seq"] > 10) for one in subset["disclosed"]}
    assert kinds == {("entity:goal", True)}
    assert "entries" not in subset
    assert "entry_count" in subset
    assert subset["anchor"] is None


def test_the_tool_of_a_server_without_keys_says_what_to_do(tmp_path: Path) -> None:
    with Server(tmp_path / "here", **SILENT) as running:
        running.call("memory_append", event_type="note.taken", actor="ada", payload={"text": "x"}, session_id="s")
        for given in ({"sign": True}, {"disclose": {}}):
            error = running.call("memory_export", session_id="s", **given)["error"]
            assert error["code"] == "unavailable"
            assert "MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE" in error["remediation"]
        assert running.call("memory_export", session_id="s")["signed"] is False


@pytest.mark.parametrize(
    "given",
    [
        {"private_key": "-----BEGIN PRIVATE KEY-----hunter2"},
        {"private_key_file": "/tmp/hunter2"},
        {"passphrase": "hunter2"},
        {"algorithm": "hunter2"},
        {"sign": "yes"},
        {"disclose": {"query": "whale"}},
        {"disclose": {"limit": 5}},
        {"disclose": {"exclude_sensitivities": ["restricted"]}},
        {"disclose": {"private_key": "hunter2"}},
        {"grains": ["events"]},
        {"grains": []},
        {"kinds": "goal.created"},
        {"since_seq": -1},
        {"max_seq": 0},
        {"since_seq": 7, "max_seq": 7},
        {"since_time": "yesterday"},
        {"until_time": "2026-13-01"},
        {"query_limit": 101},
        {"query": 5},
        {"exclude_sensitivities": ["cosmic"]},
        {"limit": 0},
    ],
    ids=lambda given: json.dumps(given)[:50],
)
def test_the_tool_refuses_keys_and_what_a_selector_has_not(server: Server, given: dict[str, Any]) -> None:
    before = len(server.lines)
    error = server.call("memory_export", session_id=SESSION, **given)["error"]
    assert error["code"] == "invalid_request"
    assert error["remediation"]
    assert b"hunter2" not in b"".join(server.lines[before:])


def test_the_schema_of_the_tool_has_the_selector_and_nothing_of_a_key(place: Place) -> None:
    with Server(
        place.folder, ZAXY_TOOL_PROFILE="full", ZAXY_ENV="production", MCP_ADMIN_TOKEN="t", **SILENT
    ) as running:
        tools = running.request("tools/list", {})["result"]["tools"]
    (tool,) = (tool for tool in tools if tool["name"] == "memory_export")
    schema = tool["inputSchema"]
    assert set(schema["properties"]) == {"session_id", *FLAGS, "sign", "disclose", "admin_token"}
    entry_axes = {"grains", "kinds", "since_seq", "max_seq", "since_time", "until_time"}
    assert set(schema["properties"]["disclose"]["properties"]) == entry_axes
    assert schema["additionalProperties"] is schema["properties"]["disclose"]["additionalProperties"] is False


def test_a_bundle_is_pushed_by_a_command_and_by_no_tool(place: Place) -> None:
    """A push is done when its command ends: what an agent can call sends nothing anywhere."""
    with Server(place.folder, ZAXY_TOOL_PROFILE="full", **SILENT) as running:
        listed = [tool["name"] for tool in running.request("tools/list", {})["result"]["tools"]]
    assert [name for name in listed if "export" in name or "push" in name] == ["memory_export"]


def test_the_tool_needs_the_admin_token_in_production(place: Place) -> None:
    token = "s3cret-of-the-admin"
    with Server(place.folder, ZAXY_ENV="production", MCP_ADMIN_TOKEN=token, **place.settings, **SILENT) as running:
        for wrong in ({}, {"admin_token": token[:-1]}, {"admin_token": "é"}, {"admin_token": ""}):
            for asked in ({}, {"sign": True}, {"disclose": {}}):
                reply = running.call("memory_export", session_id=SESSION, max_seq=2, **asked, **wrong)
                assert set(reply) == {"error"}
                assert reply["error"]["code"] == "forbidden"
        reply = running.call("memory_export", session_id=SESSION, max_seq=2, sign=True, admin_token=token)
        assert verify_export(reply, place.public_key)
        running.close()
        assert token.encode() not in b"".join(running.lines)
        assert token not in running.stderr


def test_in_production_without_an_admin_token_nobody_exports(place: Place) -> None:
    with Server(place.folder, ZAXY_ENV="production", **SILENT) as running:
        for given in ({}, {"admin_token": "x"}, {"admin_token": ""}):
            error = running.call("memory_export", session_id=SESSION, **given)["error"]
            assert error["code"] == "forbidden"
            assert "MCP_ADMIN_TOKEN" in error["remediation"]


def test_the_tool_gives_one_session_and_no_other(tmp_path: Path) -> None:
    with Server(tmp_path / "here", **SILENT) as running:
        for session, text in (("one", "swordfish"), ("two", "herring")):
            payload = {"text": text}
            running.call("memory_append", event_type="note.taken", actor="ada", payload=payload, session_id=session)
        one = json.dumps(running.call("memory_export", session_id="one"))
        assert "swordfish" in one
        assert "herring" not in one
        error = running.call("memory_export", session_id="three")["error"]
        assert error["code"] == "not_found"
        assert running.call("memory_export", session_id="../one")["error"]["code"] in ("invalid_request", "not_found")


def test_a_bundle_that_is_too_large_for_a_reply_is_refused_with_advice_and_part_of_it_is_given(tmp_path: Path) -> None:
    filling = checked_entry("note.taken", "ada", {"text": "x" * 50_000})
    write_log(tmp_path / "here", [filling] * (MAX_REPLY // 50_000 + 10), step=timedelta(seconds=1))
    with Server(tmp_path / "here", **SILENT) as running:
        error = running.call("memory_export", session_id=SESSION, grains=["event"])["error"]
        assert error["code"] == "too_large"
        assert "zaxy export --out" in error["remediation"]
        ranges = re.findall(r"since_seq (\d+) and max_seq (\d+)", error["remediation"])
        pages = [
            running.call("memory_export", session_id=SESSION, grains=["event"], since_seq=int(since), max_seq=int(last))
            for since, last in ranges
        ]
        events = MAX_REPLY // 50_000 + 10
        seqs = [entry["seq"] for page in pages for entry in page["entries"]]
        assert seqs == list(range(1, events + 1)), "the parts that it names are the whole, in order"
        page = running.call("memory_export", session_id=SESSION, grains=["event"], since_seq=10, max_seq=20)
        assert [entry["seq"] for entry in page["entries"]] == list(range(11, 21))


def test_other_calls_are_answered_while_an_export_runs(tmp_path: Path, place: Place) -> None:
    goal = checked_entry("goal.created", "ada", {"goal": "Light the harbour. " * 40})
    write_log(tmp_path / "here", (goal for _ in range(15_000)), step=timedelta(seconds=1))
    with Server(tmp_path / "here", **place.settings, **SILENT) as running:
        given = {"event_type": "note.taken", "actor": "ada", "payload": {"text": "x"}, "session_id": "other"}
        running.call("memory_append", **given)
        asked = {"session_id": SESSION, "disclose": {"max_seq": 1}}
        export = running.ask("tools/call", {"name": "memory_export", "arguments": asked})
        order = [running.ask("tools/call", {"name": "memory_append", "arguments": given}) for _ in range(5)]
        answers = [running.receive(within=90) for _ in range(6)]
        assert [answer["id"] for answer in answers] == [*sorted(order), export] or (
            answers[-1]["id"] == export and {answer["id"] for answer in answers[:-1]} == set(order)
        )
        subset = answers[-1]["result"]["structuredContent"]
        assert verify_memory_export_subset(subset, place.public_key).of > 15_000


def test_nothing_of_a_key_is_in_a_reply_in_stderr_or_in_the_log(tmp_path: Path, place: Place) -> None:
    folder = tmp_path / "here"
    with Server(folder, LEGACY, **place.settings) as running:  # with the record of tool calls
        running.call("memory_append", event_type="note.taken", actor="ada", payload={"text": "x"}, session_id="s")
        running.call("memory_export", session_id="s", sign=True)
        running.call("memory_export", session_id="s", disclose={})
        running.call("memory_export", session_id="s", sign=True, private_key=Path(place.files.private).read_text())
        running.close()
        seen = b"".join(running.lines).decode() + running.stderr
    wrong = {**place.settings, "MCP_EXPORT_SIGNING_PASSPHRASE_FILE": place.files.public}
    with Server(folder, LEGACY, **wrong) as running:
        assert running.call("memory_export", session_id="s", sign=True)["error"]["code"] == "invalid_request"
        running.close()
        seen += b"".join(running.lines).decode() + running.stderr
    for path in folder.rglob("*"):
        seen += path.read_bytes().decode(errors="replace") if path.is_file() else ""
    assert "tool.call.completed" in seen
    for secret in place.secrets():
        assert secret not in seen


# Without `cryptography`


@pytest.fixture
def without_cryptography(tmp_path: Path) -> Path:
    """A folder that, on the path, makes `cryptography` look as if it were not installed.

    Only commands can be without it: the server's own library needs it.
    """
    site = tmp_path / "site"
    (site / "cryptography").mkdir(parents=True)
    missing = 'raise ModuleNotFoundError("No module named cryptography", name="cryptography")\n'
    (site / "cryptography" / "__init__.py").write_text(missing)
    return site


def test_without_cryptography_unsigned_exports_work_and_signed_ones_say_what_to_install(
    zaxy: Zaxy, small: Path, place: Place, without_cryptography: Path
) -> None:
    site = without_cryptography
    done = zaxy("export", "--out", "b.json", "--session-id", "s", site=site)
    assert done.returncode == 0, done.stderr
    assert json.loads((small / "b.json").read_bytes())["entries"]
    assert zaxy("import", "b.json", "--session", "t", site=site).returncode == 0
    signed = small / "signed.json"
    options = ("--session-id", "s", *place.key_options)
    assert zaxy("export", "--out", str(signed), *options).returncode == 0
    for words in (
        ("export", "--out", "c.json", *options),
        ("export-keygen", "--out-private", "k.pem", "--out-public", "k.pub"),
        ("verify-export", str(signed)),
        ("import", str(signed), "--session", "u"),
    ):
        done = zaxy(*words, site=site)
        assert done.returncode == 1, words
        assert "export[signing]" in done.stderr, words
    assert sorted(path.name for path in small.iterdir()) == [".eventloom", "b.json", "signed.json"]


# The command


def test_every_option_of_the_command_counts(zaxy: Zaxy, place: Place, tmp_path: Path) -> None:
    axes = SELECTORS[-1]
    done = zaxy(
        *("export", "--out", str(tmp_path / "b.json"), "--eventloom-path", str(place.folder / ".eventloom")),
        *("--session-id", SESSION, *flags_of(axes), *place.key_options, "--json"),
    )
    assert done.returncode == 0, done.stderr
    assert "EXPERIMENTAL and UNAUDITED" in done.stderr
    summary = json.loads(done.stdout)
    assert (summary["signed"], summary["public_key"], summary["session_id"]) == (True, place.public_key, SESSION)
    bundle = json.loads((tmp_path / "b.json").read_bytes())
    assert summary["merkle_root"] == bundle["merkle_root"]
    contents = {"entries": [item["content"] for item in bundle["entries"]]}
    assert canonical_entries(contents) == place.expected(axes)
    for secret in place.secrets():
        assert secret not in done.stdout + done.stderr


def test_a_bundle_goes_its_whole_way_by_commands(zaxy: Zaxy, small: Path, place: Place) -> None:
    assert zaxy("export", "--out", "b.json", "--session-id", "s", *place.key_options).returncode == 0
    done = zaxy("verify-export", "b.json", "--expect-public-key", place.public_key)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "good")
    assert "not pinned" not in done.stderr
    assert "not pinned" in zaxy("verify-export", "b.json").stderr
    done = zaxy("verify-export", "b.json", "--expect-public-key", "00" * 32)
    assert done.returncode == 1
    assert "another key" in done.stderr
    done = zaxy(
        "export-disclose", "b.json", "--grains", "event", "--kinds", "goal.created", "--out", "s.json", "--json"
    )
    assert json.loads(done.stdout)["disclosed"] == 1
    done = zaxy("verify-export-subset", "s.json", "--expect-public-key", place.public_key, "--json")
    assert done.returncode == 0
    summary = json.loads(done.stdout)
    assert (summary["ok"], summary["entries"], summary["pinned"]) == (True, 1, True)
    assert b"burns oil" not in (small / "s.json").read_bytes()
    assert zaxy("verify-export", "s.json").returncode == 1
    assert zaxy("verify-export-subset", "b.json").returncode == 1
    before = sorted(small.iterdir())
    assert zaxy("export-disclose", "b.json", "--kinds", "no.such", "--out", "n.json").returncode == 1
    assert zaxy("export", "--out", "u.json", "--session-id", "s").returncode == 0
    done = zaxy("export-disclose", "u.json", "--out", "n.json")
    assert done.returncode == 1
    assert "unsigned envelope" in done.stderr
    assert sorted(small.iterdir()) == sorted([*before, small / "u.json"])


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--grains", "events"), 2, "grains has 'events'"),
        (("--types", ","), 2, "kinds is an empty list"),
        (("--since", "-1"), 2, "--since"),
        (("--max-seq", "0"), 2, "--max-seq"),
        (("--since", "2", "--max-seq", "2"), 2, "max_seq is not after since_seq"),
        (("--since-time", "soon"), 2, "'soon' is not a date"),
        (("--until-time", "2026-02-30"), 2, "is not a date"),
        (("--query-limit", "101"), 2, "--query-limit"),
        (("--limit", "0"), 2, "--limit"),
        (("--exclude-sensitivities", "cosmic"), 2, "exclude_sensitivities has 'cosmic'"),
        (("--private-key", "k.pem"), 2, "--public-key"),
        (("--public-key", "k.pub"), 2, "--private-key"),
        (("--algorithm", "ml-dsa-65"), 2, "no key to sign with"),
        (("--passphrase-file", "x"), 2, "no key to sign with"),
        (("--private-key", "k.pem", "--public-key", "k.pub"), 1, "k.pem cannot be read"),
        (("--session-id", "elsewhere"), 1, "there is no session elsewhere"),
        (("--eventloom-path", "nowhere"), 1, "nothing is recorded"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_use_is_told_and_nothing_is_written(
    zaxy: Zaxy, small: Path, options: tuple[str, ...], code: int, said: str
) -> None:
    session = () if "--session-id" in options else ("--session-id", "s")
    done = zaxy("export", "--out", "b.json", *session, *options)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert [path.name for path in small.iterdir()] == [".eventloom"]


def test_an_error_is_json_where_json_is_asked_for(zaxy: Zaxy, small: Path) -> None:
    done = zaxy("export", "--out", "missing/folder/b.json", "--session-id", "s", "--json")
    assert done.returncode == 1
    error = json.loads(done.stderr or done.stdout)["error"]
    assert error["code"] == "not_found"
    assert not (small / "missing").exists()


@pytest.mark.parametrize(
    ("out", "said"), [("missing/folder/b.json", "there is no folder"), ("folder", "is a folder"), ("", "not a path")]
)
def test_a_destination_that_cannot_be_is_told_and_nothing_is_made(zaxy: Zaxy, small: Path, out: str, said: str) -> None:
    (small / "folder").mkdir()
    done = zaxy("export", "--out", out, "--session-id", "s")
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert sorted(path.name for path in small.iterdir()) == [".eventloom", "folder"]
    assert not list((small / "folder").iterdir())


def test_a_bundle_goes_through_pipes_as_it_would_through_a_file(small: Path) -> None:
    def piped(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([sys.executable, "-m", "zaxy", *words], cwd=small, input=given, capture_output=True)

    written = piped("export", "--out", "-", "--session-id", "s")
    assert piped("export", "--out", "b.json", "--session-id", "s").returncode == 0
    bundle = json.loads((small / "b.json").read_bytes())
    assert json.loads(written.stdout)["entries"] == bundle["entries"]
    assert b"of s in standard output" in written.stderr
    taken = piped("import", "-", "--session-id", "copy", given=written.stdout)
    assert taken.returncode == 0, taken.stderr
    assert b"imported into copy" in taken.stdout
    assert sorted(path.name for path in small.iterdir()) == [".eventloom", "b.json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export", "--out", "-", "--session-id", "s", "--json"), "Leave out --json"),
        (("export", "--out", "-", "--session-id", "elsewhere"), "there is no session elsewhere"),
        (("verify-export", "-"), "it ends too early"),
        (("export-push", "--sink", "file", "--dest", "-", "--session-id", "s"), "Run 'zaxy export --out -'"),
    ],
)
def test_nothing_of_a_bundle_is_printed_where_it_cannot_be_whole(
    zaxy: Zaxy, small: Path, words: tuple[str, ...], said: str
) -> None:
    done = zaxy(*words)
    assert done.returncode in (1, 2)
    assert said in done.stderr + done.stdout
    assert "entries" not in done.stdout
    assert [path.name for path in small.iterdir()] == [".eventloom"]


@posix
def test_a_bundle_from_a_closed_standard_input_is_one_that_ends_too_early(small: Path) -> None:
    line = f"exec {shlex.quote(sys.executable)} -m zaxy verify-export - <&-"
    done = subprocess.run(["sh", "-c", line], cwd=small, capture_output=True, text=True)
    assert done.returncode == 1
    assert "it ends too early" in done.stderr


@posix
def test_what_is_not_an_ordinary_file_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    before = sorted(tmp_path.iterdir())
    for name in ("pipe", "link", "dangling"):
        with pytest.raises(ZaxyError) as refused, new_file(tmp_path / name):
            raise AssertionError("it was let through")
        assert refused.value.code == "invalid_request"
    with pytest.raises(ZaxyError) as refused, new_file("/dev/null"):
        raise AssertionError("it was let through")
    assert "ordinary file" in refused.value.message
    assert sorted(tmp_path.iterdir()) == before
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert (tmp_path / "target").read_text() == "mine"


def test_two_exports_to_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    out = tmp_path / "b.json"
    with new_file(out) as one, new_file(out) as other:
        one.write(b"one")
        other.write(b"other")
    assert out.read_bytes() == b"one"
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


@posix
def test_a_bundle_is_for_its_owner_alone_also_over_an_older_file(zaxy: Zaxy, small: Path, place: Place) -> None:
    out = small / "b.json"
    out.write_text("old")
    out.chmod(0o666)
    for words in (("export", "--out"), ("export-push", "--sink", "file", "--dest")):
        assert zaxy(*words, "b.json", "--session-id", "s", *place.key_options).returncode == 0
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
        out.chmod(0o666)
    assert zaxy("export-disclose", "b.json", "--out", "d.json").returncode == 0
    assert stat.S_IMODE((small / "d.json").stat().st_mode) == 0o600


@posix
@pytest.mark.parametrize("words", [("export", "--out"), ("export-push", "--sink", "file", "--dest")])
def test_a_full_disk_leaves_the_older_file_and_nothing_else(small: Path, words: tuple[str, ...]) -> None:
    with Memory.open(small) as memory:
        memory.append("note.taken", {"text": "x" * 200_000}, session="s")
    (small / "b.json").write_text("old")
    before = sorted(small.iterdir())
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536));"
        "from zaxy.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words, "b.json", "--session-id", "s"],
        cwd=small,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(small.iterdir()) == before
    assert (small / "b.json").read_text() == "old"
