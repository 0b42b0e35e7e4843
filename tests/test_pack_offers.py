"""Resources and prompts of tool packs, as real clients see them over real pipes, in both eras of the protocol."""

from __future__ import annotations

import base64
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from installed import install, manifest_of
from served import ENVELOPE, ERAS, MODERN, Listening, Server, environment
from zaxy import Memory
from zaxy.api import Identity
from zaxy.serve.application import Application, Request
from zaxy.workspace import find_workspace

PACK = """
import time
from zaxy.api import NotFound, Prompt, PromptArgument, PromptMessage, Resource, ResourceContent, Tool, UnknownTool


class Pack:
    def __init__(self, context):
        pass

    def tools(self):
        return (Tool("acme_note", "Note.", {"type": "object", "properties": {}}),)

    def call(self, tool, arguments, memory, progress):
        return {}

    def resources(self):
        return [
            Resource("recent", "Recent notes", "The latest facts.", "text/markdown"),
            Resource("day/{day}", "Notes of a day"),
            Resource("picture", "A picture", mime_type="image/png"),
            Resource("recent", "Twice"),
            Resource("a b", "A space"),
            Resource("odd{", "Braces"),
            Resource("untitled", ""),
            Resource("kind", "Kind", mime_type="what"),
        ]

    def read(self, path, memory):
        if path == "recent":
            return [ResourceContent(f"{event.payload['text']} {event.citation}") for event in memory.latest()]
        if path.startswith("day/"):
            return [ResourceContent(path, mime_type="text/x-day"), ResourceContent("second")]
        if path == "picture":
            return [ResourceContent(blob=b"\\x89PNG")]
        if path.startswith("of/"):
            return [ResourceContent(event.payload["text"]) for event in memory.latest(path[3:])]
        if path == "write":
            memory.append("fact.recorded", {"text": "from a resource"})
        if path == "raise":
            raise ValueError("/home/ann/hunter2")
        if path == "hang":
            time.sleep(600)
        if path == "large":
            return [ResourceContent("x" * (1 << 20)), ResourceContent("y")]
        if path == "text":
            return "a text"
        if path == "none":
            return []
        if path == "print":
            print("printed by acme")
            return [ResourceContent("done")]
        raise NotFound(f"nothing is at {path}", "Read recent.")

    def prompts(self):
        day = PromptArgument("day", "Which day.", required=True)
        return [
            Prompt("acme_review", "Review a day.", (day, PromptArgument("tone"))),
            Prompt("acme_raise", "It fails."),
            Prompt("acme_odd", "It returns something else."),
            Prompt("acme review", "A space."),
            Prompt("acme_twice", "Arguments.", (day, day)),
            Prompt("acme_review", "Taken."),
        ]

    def prompt(self, name, arguments, memory):
        if name == "acme_raise":
            raise ValueError("/home/ann/hunter2")
        if name == "acme_odd":
            return [PromptMessage("x", role="system")]
        facts = [event.payload["text"] for event in memory.latest()]
        return [PromptMessage(f"Review {arguments['day']}: {facts}"), PromptMessage("I begin.", "assistant")]
"""
FACT = {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": "The cake is in the fridge."}}


def install_pack(site: Path, *capabilities: str, name: str = "acme-notes", source: str = PACK) -> Path:
    package = name.replace("-", "_")
    provided = {"point": "tool_packs", "name": name, "target": f"{package}.pack:Pack", "summary": "Notes."}
    manifest = manifest_of(
        name, api={"min": "0.4", "max": "0.4"}, provides=[{**provided, "capabilities": list(capabilities)}]
    )
    install(site, name, {"pack.py": source}, manifest, f"[zaxy.plugins]\n{name} = {package}\n")
    return site


@pytest.fixture(scope="module", params=ERAS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    site = install_pack(tmp_path_factory.mktemp("site"), "resources", "prompts")
    folder = tmp_path_factory.mktemp("demo")
    with Server(folder, request.param, site, ZAXY_PLUGINS_BUDGET="1") as started:
        started.call("memory_append", **FACT)
        yield started


def read(server: Server, path: str) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = server.request("resources/read", {"uri": f"acme-notes://{path}"})["result"][
        "contents"
    ]
    return contents


def refused(server: Server, method: str, **params: Any) -> dict[str, Any]:
    error: dict[str, Any] = server.request(method, params)["error"]
    return error


def says(server: Server, text: str) -> bool:
    """Whether it stands on standard error, which comes by another pipe than the answers."""
    for _ in range(200):
        if text in server.stderr:
            return True
        time.sleep(0.05)
    return False


def test_resources_have_the_scheme_of_their_plugin_and_templates_are_listed_apart(server: Server) -> None:
    resources = server.request("resources/list", {})["result"]["resources"]
    assert [(one["uri"], one["name"], one["mimeType"]) for one in resources] == [
        ("acme-notes://recent", "Recent notes", "text/markdown"),
        ("acme-notes://picture", "A picture", "image/png"),
    ]
    assert resources[0]["description"] == "The latest facts."
    (template,) = server.request("resources/templates/list", {})["result"]["resourceTemplates"]
    assert template["uriTemplate"] == "acme-notes://day/{day}"


def test_what_cannot_be_listed_is_left_out_with_a_notice(server: Server) -> None:
    server.request("resources/list", {})
    for what, why in (
        ("resource 'recent'", "it is listed twice"),
        ("resource 'a b'", "a path has 1 to 256"),
        ("resource 'odd{'", "the braces of its path do not match"),
        ("resource 'untitled'", "a name has 1 to 128 characters"),
        ("resource 'kind'", "its MIME type is none"),
        ("prompt 'acme review'", "a name has 1 to 48"),
        ("prompt 'acme_twice'", "its arguments need short names"),
        ("prompt 'acme_review'", "its name is taken"),
    ):
        assert says(server, f"the {what} of the pack acme-notes is left out: {why}")


def test_a_resource_is_read_from_the_same_memory(server: Server) -> None:
    (part,) = read(server, "recent")
    assert part["text"].startswith("The cake is in the fridge. eventloom://")
    assert (part["uri"], part["mimeType"]) == ("acme-notes://recent", "text/markdown")


def test_a_template_is_read_by_any_path_that_the_pack_knows(server: Server) -> None:
    first, second = read(server, "day/2026-06-15?cursor=7")
    assert (first["text"], first["mimeType"]) == ("day/2026-06-15?cursor=7", "text/x-day")
    assert second["text"] == "second"


def test_bytes_come_as_base64(server: Server) -> None:
    (part,) = read(server, "picture")
    assert base64.b64decode(part["blob"]) == b"\x89PNG"
    assert part["mimeType"] == "image/png"


def test_what_is_not_there_is_refused_with_the_protocols_own_error(server: Server) -> None:
    for uri in ("acme-notes://nowhere", "other://recent", "recent", "eventloom://demo/events/1#abc"):
        error = refused(server, "resources/read", uri=uri)
        assert error["code"] == -32602
        assert error["data"]["uri"] == uri
        assert error["data"]["error"]["code"] == "not_found"
        assert error["data"]["error"]["remediation"] == "Call resources/list, and read one of those."


def test_reading_a_resource_cannot_write(server: Server) -> None:
    error = refused(server, "resources/read", uri="acme-notes://write")["data"]["error"]
    assert (error["code"], "needs the role writer" in error["message"]) == ("forbidden", True)
    assert "from a resource" not in json.dumps(server.call("memory_query", query="from a resource"))


def test_a_pack_that_breaks_tells_no_details_to_the_client(server: Server) -> None:
    asked = [("resources/read", {"uri": f"acme-notes://{path}"}) for path in ("raise", "text", "none")]
    asked += [("prompts/get", {"name": name}) for name in ("acme_raise", "acme_odd")]
    for method, params in asked:
        error = refused(server, method, **params)
        assert (error["code"], error["data"]["error"]["code"]) == (-32603, "internal_error")
        assert "acme-notes" in error["message"]
        assert "hunter2" not in json.dumps(error)
    assert says(server, "hunter2")


def test_what_is_too_large_is_refused(server: Server) -> None:
    error = refused(server, "resources/read", uri="acme-notes://large")["data"]["error"]
    assert error["code"] == "too_large"
    assert "1,048,577 bytes; at most 1,048,576 are sent" in error["message"]


def test_what_a_pack_prints_does_not_reach_the_client(server: Server) -> None:
    assert read(server, "print")[0]["text"] == "done"
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)


def test_prompts_are_listed_with_their_arguments(server: Server) -> None:
    prompts = server.request("prompts/list", {})["result"]["prompts"]
    assert [one["name"] for one in prompts] == ["acme_review", "acme_raise", "acme_odd"]
    day, tone = prompts[0]["arguments"]
    assert (day["name"], day["description"], day["required"]) == ("day", "Which day.", True)
    assert (tone["name"], tone["required"]) == ("tone", False)


def test_a_prompt_is_made_from_its_arguments_and_memory(server: Server) -> None:
    result = server.request("prompts/get", {"name": "acme_review", "arguments": {"day": "Monday"}})["result"]
    assert result["description"] == "Review a day."
    assert [(one["role"], one["content"]["text"]) for one in result["messages"]] == [
        ("user", "Review Monday: ['The cake is in the fridge.']"),
        ("assistant", "I begin."),
    ]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"name": "acme_review"}, "day is missing"),
        ({"name": "acme_review", "arguments": {"day": "x", "mood": "y"}}, "mood"),
        ({"name": "acme_review", "arguments": {"day": "x" * 10_001}}, "day"),
        ({"name": "nobody"}, "there is no prompt 'nobody'"),
    ],
)
def test_a_prompt_that_is_asked_for_wrongly_says_why(server: Server, params: dict[str, Any], message: str) -> None:
    error = refused(server, "prompts/get", **params)
    assert error["code"] == -32602
    assert message in error["message"]


def test_the_methods_are_no_tools(server: Server) -> None:
    error = server.call("resources/read", uri="acme-notes://recent")["error"]
    assert error["code"] == "unknown_tool"


def test_each_read_is_recorded_as_a_call_is(server: Server) -> None:
    read(server, "recent")
    for _ in range(200):  # what is recorded is written behind the reply
        page = server.call("memory_replay", include_housekeeping=True, limit=1000, max_tokens=1_000_000)
        records = [row["payload"] for row in page["results"] if row["type"] == "tool.call.completed"]
        if any(record["tool_name"] == "resources/read" for record in records):
            return
        time.sleep(0.05)
    pytest.fail(f"no read is among the records: {records}")


@pytest.mark.parametrize("era", ERAS)
def test_a_pack_that_hangs_is_given_up_after_its_budget(tmp_path: Path, era: str) -> None:
    site = install_pack(tmp_path / "site", "resources")
    with Server(tmp_path / "demo", era, site, ZAXY_PLUGINS_BUDGET="1") as server:
        error = refused(server, "resources/read", uri="acme-notes://hang")
        assert error["data"]["error"]["code"] == "unavailable"
        assert server.call("memory_query", query="x")["results"] == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("declared", ["resources", "prompts"])
def test_only_what_some_pack_declares_is_answered(tmp_path: Path, era: str, declared: str) -> None:
    site = install_pack(tmp_path / "site", declared)
    asked = {"resources": "resources/list", "prompts": "prompts/list"}
    with Server(tmp_path / "demo", era, site) as server:
        for offer, method in asked.items():
            answer = server.request(method, {})
            assert ("result" in answer) == (offer == declared), answer
            assert offer == declared or answer["error"]["code"] == -32601


def announced_to_clients(folder: Path, mode: str, site: Path | None, **env: str) -> dict[str, Any]:
    """What the SDK's own client is told when it connects."""
    folder.mkdir(exist_ok=True)
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "zaxy", "serve"], cwd=folder, env=environment(site, **env)
    )

    async def connect() -> dict[str, Any]:
        async with Client(stdio_client(parameters), mode=mode) as client:
            found = client.server_capabilities.model_dump(exclude_none=True, by_alias=True)
            if site is not None and "resources" in found:
                listed = await client.list_resources()
                contents = (await client.read_resource(listed.resources[1].uri)).contents
                assert contents[0].blob == base64.b64encode(b"\x89PNG").decode()  # type: ignore[union-attr]
                prompt = await client.get_prompt("acme_review", {"day": "Monday"})
                assert prompt.messages[1].role == "assistant"
            return found

    return anyio.run(connect)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdks_client_uses_them_and_without_such_a_pack_is_told_what_it_was_always_told(
    tmp_path: Path, mode: str
) -> None:
    site = install_pack(tmp_path / "site", "resources", "prompts")
    demo = tmp_path / "demo"
    offering = announced_to_clients(demo, mode, site)
    assert {"tools", "resources", "prompts"} <= offering.keys()
    bare = announced_to_clients(demo, mode, None)
    assert bare == {"tools": {"listChanged": False}}
    assert announced_to_clients(demo, mode, site, ZAXY_PLUGINS_DISABLE="acme-notes") == bare


def test_a_resource_shows_an_identity_no_session_but_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(install_pack(tmp_path / "site", "resources", name="acme-shared"))
    with Memory.open(tmp_path) as memory:
        for session in ("work", "private"):
            memory.append("fact.recorded", {"text": f"Said in {session}."}, session=session)
    application = Application(find_workspace(str(tmp_path)))

    def answer(path: str) -> Any:
        identity = Identity("bob", "reader", ("work",))
        asked = {"uri": f"acme-shared://{path}"}
        return application.answer(Request("resources/read", asked, identity=identity, is_method=True)).content

    assert answer("of/work")["contents"][0]["text"] == "Said in work."
    assert answer("recent")["contents"][0]["text"].startswith("Said in work.")
    assert answer("of/private")["error"]["code"] == "forbidden"
    application.close(within=60)


def test_they_are_served_over_http_too(tmp_path: Path) -> None:
    site = install_pack(tmp_path / "site", "resources", "prompts")
    with Listening(tmp_path / "demo", PYTHONPATH=str(site)) as server:
        uri = "acme-notes://picture"
        headers = {"mcp-protocol-version": MODERN, "mcp-method": "resources/read", "mcp-name": uri}
        params = {"uri": uri, "_meta": ENVELOPE}
        body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
        status, _, answer = server.send(body, headers)
        assert (status, "blob" in answer.decode()) == (200, True), answer


@pytest.mark.parametrize("name", ["file", "https", "9lives"])
def test_a_plugin_whose_name_is_no_scheme_of_its_own_offers_no_resources(tmp_path: Path, name: str) -> None:
    package = f"acme-{name}"
    source = {"pack.py": PACK}
    target = f"{package.replace('-', '_')}.pack:Pack"
    provided = {"point": "tool_packs", "name": "notes", "target": target, "summary": "Notes."}
    manifest = manifest_of(
        name, api={"min": "0.4", "max": "0.4"}, provides=[{**provided, "capabilities": ["resources"]}]
    )
    install(tmp_path / "site", package, source, manifest, f"[zaxy.plugins]\n{name} = {package.replace('-', '_')}\n")
    with Server(tmp_path / "demo", site=tmp_path / "site") as server:
        assert server.request("resources/list", {})["result"]["resources"] == []
        assert refused(server, "resources/read", uri=f"{name}://recent")["data"]["error"]["code"] == "not_found"
        assert says(server, f"no scheme can be named {name}")
