"""Broken plugins of every kind at every point, all installed at once: real commands and servers work on, and name each.

That nothing takes for ever is proven by the time limits of the processes and connections here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import broken_plugins
from broken_plugins import MARKS, imported
from broken_points import BROKEN, SEEN, install, install_all
from served import ERAS, Listening, Server, arguments, environment

LUNCH = "Lunch is at noon."
BUDGET = {"ZAXY_PLUGINS_BUDGET": "2"}
SECONDS = 180
"""For one process, on a machine that has other work too; without a limit on plugins it would take for ever."""


class Place(NamedTuple):
    """A project of a user who has all of them installed."""

    folder: Path

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def env(self) -> dict[str, str]:
        return {"ZAXY_STATE_DIR": str(self.folder / "state"), "HOME": str(self.folder), **BUDGET}

    def zaxy(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "zaxy", *words],
            cwd=self.project,
            env=environment(self.site, **{**self.env, **env}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    def told(self, *words: str) -> dict[str, Any]:
        """What a command prints as JSON; that it is nothing else is part of the proof."""
        found: dict[str, Any] = json.loads(self.zaxy(*words, "--json").stdout)
        return found


def place_in(folder: Path) -> Place:
    place = Place(folder)
    place.project.mkdir(parents=True)
    return place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = place_in(tmp_path_factory.mktemp("broken"))
    install_all(place.site)
    broken_plugins.install_all(place.site)
    noted = place.zaxy("append", "note.taken", "--payload", json.dumps({"text": LUNCH}))
    assert noted.returncode == 0, noted.stderr
    return place


def test_there_are_more_than_thirteen_and_every_new_point_is_among_them() -> None:
    points = {one.point for one in BROKEN.values()}
    assert len(BROKEN) + len(broken_plugins.PACKAGES) > 40
    assert points >= {"commands", "event_types", "http_routes", "http_auth", "doctor_checks", "tool_packs"}


# Commands


@pytest.mark.parametrize("command", ["--help", "--version", "plugins list", "config list", "completion bash"])
def test_a_command_that_needs_no_plugin_works_and_imports_none(place: Place, tmp_path: Path, command: str) -> None:
    ran = place.zaxy(*command.split(), **{MARKS: str(tmp_path)})
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout
    assert imported(tmp_path) == []


def test_the_list_names_what_the_manifests_betray_with_what_to_do(place: Place) -> None:
    rows = {row["name"]: row for row in place.told("plugins", "list")["plugins"]}
    for name, one in BROKEN.items():
        assert (rows[name]["state"] == "failed") == one.betrayed, name
        assert bool(rows[name]["error"] and rows[name]["hint"]) == one.betrayed, name


@pytest.mark.parametrize("family", ["alarm", "siren", "bell", "gong", "horn", "twin"])
def test_an_event_of_a_broken_family_is_appended_and_found_by_its_words(place: Place, family: str) -> None:
    text = f"The {family} rang in Ravensworth."
    done = place.zaxy("append", f"{family}.made", "--payload", json.dumps({"text": text}), "--session-id", family)
    assert done.stdout.startswith(f"eventloom://{family}/events/1#"), done.stderr
    found = place.told("query", f"Where did the {family} ring?", "--session-id", family)
    assert text in found["results"][0]["content"]


@pytest.mark.parametrize(
    ("family", "plugin"),
    [("alarm", "family-raises"), ("siren", "family-hangs"), ("bell", "family-hangs-in-version")],
)
def test_a_reply_names_the_family_whose_rule_gives_nothing(place: Place, family: str, plugin: str) -> None:
    session = f"named-{family}"
    place.zaxy("append", f"{family}.made", "--payload", '{"text": "It rang."}', "--session-id", session)
    assert f"acme-{plugin}" in " ".join(place.told("query", "Did it ring?", "--session-id", session)["notices"])


def test_the_core_s_own_family_stays_its_own(place: Place) -> None:
    refused = place.zaxy("append", "event.made", "--payload", '{"text": "x"}')
    assert refused.returncode == 1
    assert "only Zaxy itself writes event.made" in refused.stderr


@pytest.mark.parametrize("command", ["query", "checkout"])
def test_a_question_is_answered_from_memory_with_citations(place: Place, command: str) -> None:
    answer = place.told(command, "When is lunch?")
    rows = answer["results" if command == "query" else "current_facts"]
    assert LUNCH in rows[0]["content"] and rows[0]["citation"].startswith("eventloom://")
    told = " ".join(answer["notices"])
    for name in ("lane-hangs", "preset-malformed", "secret-row-malformed", "family-reserved", "command-shadows"):
        assert f"acme-{name}" in told


def test_a_malformed_preset_is_no_purpose(place: Place) -> None:
    refused = place.zaxy("checkout", "lunch", "--purpose", "legal")
    assert refused.returncode == 2
    assert "there is no purpose 'legal'" in refused.stderr


def test_a_command_that_raises_is_named_with_its_package_and_what_to_do(place: Place) -> None:
    ran = place.zaxy("acme", "raise")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "'zaxy acme raise' of acme-command-raises raised ValueError: no luck today" in ran.stderr
    assert "ZAXY_PLUGINS_DISABLE=command-raises" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_command_that_exits_at_import_is_an_error_of_its_plugin(place: Place) -> None:
    ran = place.zaxy("acme", "exit")
    assert ran.returncode == 1
    assert "command-exits-at-import (acme-command-exits-at-import)" in ran.stderr
    assert "may not end the process" in ran.stderr


def test_a_command_that_hangs_at_import_is_waited_for_once_and_named_ever_after(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    install("command-hangs-at-import", place.site)
    first, again = place.zaxy("acme", "hang"), place.zaxy("acme", "hang")
    assert (first.returncode, again.returncode) == (1, 2)
    assert "did not come back within 2 s" in first.stderr
    assert "'zaxy acme hang' is of acme-command-hangs-at-import, which is failed" in again.stderr
    assert "it is left out until it changes" in again.stderr
    assert "zaxy plugins check command-hangs-at-import" in again.stderr


def test_a_command_of_a_disabled_plugin_says_so(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    install("command-raises", place.site)
    ran = place.zaxy("acme", "raise", "--loud", ZAXY_PLUGINS_DISABLE="command-raises")
    assert "'zaxy acme raise' is of acme-command-raises, which is disabled" in ran.stderr
    assert "Take it out of ZAXY_PLUGINS_DISABLE" in ran.stderr


def test_what_a_command_s_module_and_its_children_print_is_not_on_stdout(place: Place) -> None:
    ran = place.zaxy("acme", "print")
    assert ran.returncode == 0
    assert ran.stdout == "rubbish\n", "a command prints what it likes, and nobody else does"
    assert ran.stderr.count("rubbish") == 5


# The check and the doctor


CALLED = {name for name in SEEN if SEEN[name] in ("call", "shape")} | {"family-prints"}
"""Those that only a call betrays. The kit makes it; of the doctor's checks the doctor does, whatever is installed."""
CALLED_BY_THE_DOCTOR = {name for name in CALLED if BROKEN[name].point == "doctor_checks"}
HANGING = {"family-hangs-in-version"}
"""It is met before anything of it is called."""


def with_kit(names: set[str]) -> list[Any]:
    """All that are seen, where those that are named need the kit."""
    kit = [pytest.mark.needs_package("testkit")]
    return [pytest.param(name, marks=kit if name in names else []) for name in SEEN]


@pytest.fixture(scope="module")
def checked(place: Place) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in place.told("plugins", "check")["findings"]:
        found.setdefault(finding["plugin"], []).append(finding)
    return found


@pytest.mark.parametrize("name", with_kit(CALLED))
def test_the_check_finds_it_and_says_what_to_do(checked: dict[str, list[dict[str, Any]]], name: str) -> None:
    (finding,) = checked[name]
    assert (finding["package"], finding["stage"]) == (f"acme-{name}", SEEN[name])
    assert finding["error"] and finding["hint"]


@pytest.mark.needs_package("export", "testkit")
def test_the_check_finds_the_older_kinds_too_and_nothing_in_what_is_sound(
    checked: dict[str, list[dict[str, Any]]],
) -> None:
    assert checked.keys() == SEEN.keys() | broken_plugins.PACKAGES.keys()


@pytest.fixture(scope="module")
def examined(place: Place) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in place.told("doctor")["rows"]}


@pytest.mark.parametrize("name", with_kit(CALLED - {*CALLED_BY_THE_DOCTOR, *HANGING}))
def test_the_doctor_names_it_with_what_to_do(examined: dict[str, dict[str, Any]], name: str) -> None:
    row = examined[name if BROKEN[name].point == "doctor_checks" else f"plugin:{name}"]
    assert row["status"] == "error"
    assert row["message"] and row["action"]


@pytest.mark.parametrize("name", ["sqlite", "log_chain", "write_path", "git", "server"])
def test_the_doctor_looks_at_all_else(examined: dict[str, dict[str, Any]], name: str) -> None:
    assert examined[name]["status"] == "ok"


# The servers


@pytest.mark.parametrize("era", ERAS)
def test_a_stdio_session_goes_on_and_nothing_but_the_protocol_is_on_stdout(place: Place, era: str) -> None:
    fact = {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": "Tea is at four."}}
    with Server(place.project, era, place.site, **place.env) as server:
        assert server.call("memory_append", **fact, session_id=f"tea-{era}")["seq"] == 1
        found = server.call("memory_query", query="When is tea?", session_id=f"tea-{era}")
        assert "Tea is at four." in found["results"][0]["content"]
        listed = server.request("resources/list", {})["result"]["resources"]
        assert [one["uri"] for one in listed] == ["resource-raises://page"]
        assert [one["name"] for one in server.request("prompts/list", {})["result"]["prompts"]] == ["acme_prompt"]
        for method, params, plugin in (
            ("resources/read", {"uri": "resource-raises://page"}, "resource-raises"),
            ("prompts/get", {"name": "acme_prompt"}, "prompt-raises"),
        ):
            error = server.request(method, params)["error"]
            assert plugin in error["message"] and "no luck today" not in json.dumps(error)
        assert LUNCH in json.dumps(server.call("memory_checkout", query="When is lunch?"))
        server.close()
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)
        assert "resources-hang" in server.stderr and "rubbish" not in b"".join(server.lines).decode()


@pytest.fixture(scope="module")
def web(place: Place) -> Iterator[Listening]:
    with Listening(place.project, PYTHONPATH=str(place.site), **place.env) as running:
        yield running


@pytest.mark.parametrize(("path", "status"), [("/raises", 500), ("/hangs", 504), ("/nonsense", 500), ("/exits", 500)])
def test_a_broken_route_is_an_error_that_names_its_package_and_tools_go_on(
    web: Listening, path: str, status: int
) -> None:
    found, _, body = web.send(b"", {}, "GET", path)
    error = json.loads(body)["error"]
    assert found == status
    assert "acme-route-" in error["message"] and error["remediation"]
    assert LUNCH in json.dumps(web.modern("memory_query", {"query": "When is lunch?"}))


def test_a_stream_without_an_end_holds_up_nobody(web: Listening) -> None:
    connection = HTTPConnection("127.0.0.1", web.port, timeout=SECONDS)
    connection.request("GET", "/endless")
    answer = connection.getresponse()
    for _ in range(3):
        assert answer.read(5) == b"more "
        assert LUNCH in json.dumps(web.modern("memory_query", {"query": "When is lunch?"}))
    connection.close()
    assert LUNCH in json.dumps(web.modern("memory_query", {"query": "When is lunch?"}))


def test_a_route_that_claims_a_path_of_the_server_is_left_out_and_said_to_be(web: Listening) -> None:
    assert web.modern("memory_query", {"query": "When is lunch?"})["results"]
    assert "the route /mcp of acme-route-taken is left out: /mcp is the server's own" in "".join(web.told)


@pytest.mark.parametrize("name", ["auth-raises", "auth-hangs", "auth-nonsense"])
def test_an_auth_provider_that_fails_lets_nobody_in(place: Place, name: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    env = {"PYTHONPATH": str(place.site), **place.env, "ZAXY_HTTP_AUTH": name}
    with Listening(place.project, **env) as server:
        for method, path in (("POST", "/mcp"), ("GET", "/raises"), ("GET", "/endless")):
            status, _, body = server.send(call, {"authorization": "Bearer anything"}, method, path)
            assert (status, json.loads(body)["error"]["code"]) == (503, "unavailable")
    assert f"acme-{name}" in "".join(server.told)


def test_a_server_does_not_start_with_an_auth_provider_that_hangs_at_import(place: Place) -> None:
    ran = subprocess.run(
        arguments("--transport", "http", "--port", "0"),
        cwd=place.project,
        env=environment(place.site, **place.env, ZAXY_HTTP_AUTH="auth-hangs-at-import"),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert ran.returncode == 1
    assert "listening" not in ran.stderr
    assert "acme-auth-hangs-at-import" in ran.stderr
