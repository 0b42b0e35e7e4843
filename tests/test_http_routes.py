"""Routes of a package from outside, on a real HTTP server: behind its gate, over its memory, and harmless to others."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from http.client import HTTPConnection, IncompleteRead
from pathlib import Path

import pytest

from conftest import Zaxy
from outside_http import install_pages
from served import Listening

FACT = {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": "The sky is blue."}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    site = tmp_path_factory.mktemp("site")
    install_pages(site)
    with Listening(tmp_path_factory.mktemp("demo"), PYTHONPATH=str(site), ZAXY_HTTP_REQUEST_SECONDS="2") as running:
        running.modern("memory_append", {**FACT, "session_id": "sky"})
        yield running


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Listening]:
    """A server whose plugins have a second for each call."""
    install_pages(tmp_path / "site")
    with Listening(tmp_path / "demo", PYTHONPATH=str(tmp_path / "site"), ZAXY_PLUGINS_BUDGET="1") as running:
        yield running


def get(server: Listening, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    return server.send(b"", headers, "GET", path)


def test_a_route_answers_from_memory_with_citations(server: Listening) -> None:
    status, headers, body = get(server, "/acme/find?q=what+colour+is+the+sky&session=sky")
    assert (status, headers["content-type"]) == (200, "application/json")
    ((content, citation),) = json.loads(body)
    assert "blue" in content
    assert citation.startswith("eventloom://sky/events/1#")


def test_a_route_writes_to_the_same_memory_as_tools(server: Listening) -> None:
    status, _, body = server.send(b"Milk is out.", method="POST", path="/acme/write?session=notes")
    assert status == 201
    found = server.modern("memory_query", {"query": "milk", "session_id": "notes"})
    assert found["results"][0]["citation"] in json.loads(body)["citation"]


def test_what_a_route_is_told_of_a_request(server: Listening) -> None:
    seen = json.loads(server.send(b"{}", {}, "PUT", "/acme/me")[2])
    assert seen == {"name": None, "authorization": "", "peer": "127.0.0.1", "secure": False, "method": "PUT"}


def test_an_answer_is_kept_to_itself_unless_its_route_says_otherwise(server: Listening) -> None:
    _, headers, body = get(server, "/acme/page")
    assert body == b"<p>hello</p>"
    assert headers["x-acme"] == "1"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "default-src 'self'" in headers["content-security-policy"]


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "https://evil.example"}])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_a_route_stands_behind_the_gate(server: Listening, headers: dict[str, str], method: str) -> None:
    status, _, body = server.send(b"x", headers, method, "/acme/write?session=evil")
    assert (status, json.loads(body)["error"]["code"]) == (403, "forbidden")
    assert json.loads(get(server, "/acme/read?session=evil")[2]) == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_request_of_more_than_two_mebibytes_does_not_reach_a_route(server: Listening, method: str) -> None:
    status, _, body = server.send(b"x" * (2 * (1 << 20) + 1), {}, method, "/acme/write?session=large")
    assert (status, json.loads(body)["error"]["code"]) == (413, "too_large")
    assert json.loads(get(server, "/acme/read?session=large")[2]) == []


def test_a_request_that_stalls_is_ended_and_keeps_nobody_waiting(server: Listening) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as stalled:
        head = b"POST /acme/write?session=stalled HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf"
        stalled.sendall(head)
        assert get(server, "/acme/me")[0] == 200
        assert b" 408 " in stalled.recv(4096)
    assert json.loads(get(server, "/acme/read?session=stalled")[2]) == []


def test_what_lies_beside_a_route_is_not_its(server: Listening) -> None:
    assert get(server, "/acmes")[0] == 404
    assert get(server, "/acm")[0] == 404
    assert get(server, "/acme")[0] == 404
    assert json.loads(get(server, "/acme/../mcp")[2])["error"]["message"] == "there is no page /../mcp"


@pytest.mark.parametrize(("path", "status"), [("/acme/refuse", 400), ("/acme/nothing", 404)])
def test_a_route_refuses_with_the_status_of_its_error(server: Listening, path: str, status: int) -> None:
    found, _, body = get(server, path)
    assert found == status
    assert json.loads(body)["error"]["remediation"]


@pytest.mark.parametrize("name", ["raise", "exit", "none", "text", "status", "framing", "split", "chunks", "empty"])
def test_a_route_that_raises_or_answers_nonsense_is_an_error_without_details(server: Listening, name: str) -> None:
    status, headers, body = get(server, f"/acme/{name}")
    error = json.loads(body)["error"]
    assert (status, error["code"]) == (500, "internal_error")
    assert "acme-pages" in error["message"]
    assert "hunter2" not in json.dumps(error)
    assert "set-cookie" not in headers
    assert get(server, "/acme/me")[0] == 200


def test_the_details_are_on_standard_error(server: Listening) -> None:
    get(server, "/acme/raise")
    deadline = time.monotonic() + 60
    while "hunter2" not in "".join(server.told) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "hunter2" in "".join(server.told)


def test_a_route_that_hangs_is_given_up_while_tools_and_others_go_on(impatient: Listening) -> None:
    status, _, body = get(impatient, "/acme/hang")
    assert status == 504
    assert "acme-pages" in json.loads(body)["error"]["message"]
    assert get(impatient, "/acme/me")[0] == 504  # its thread is still busy
    assert impatient.modern("memory_append", FACT)["seq"] == 1


def test_a_stream_follows_the_log_while_others_are_answered(server: Listening) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("GET", "/acme/stream?session=live")
    server.modern("memory_append", {**FACT, "session_id": "live"})
    answer = connection.getresponse()
    assert answer.headers["content-type"] == "text/event-stream"
    assert [answer.readline() for _ in range(2)] == [b"event: appended\n", b"id: 1\n"]
    assert answer.readline().startswith(b"data: eventloom://live/events/1#")
    assert get(server, "/acme/me")[0] == 200
    seq = server.modern("memory_append", {**FACT, "session_id": "live"})["seq"]
    assert [answer.readline() for _ in range(3)][2] == f"id: {seq}\n".encode()
    connection.close()


def test_streams_that_are_left_make_room_for_others(server: Listening) -> None:
    for _ in range(40):
        connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
        connection.request("GET", "/acme/stream?session=sky")
        answer = connection.getresponse()
        while answer.status == 503:  # the server has not noticed yet that the others have gone
            answer.read()
            connection.request("GET", "/acme/stream?session=sky")
            answer = connection.getresponse()
        assert answer.readline() == b"event: appended\n"
        connection.close()


@pytest.mark.parametrize("name", ["breaking", "wrong-chunk"])
def test_a_stream_that_fails_is_cut_off_and_not_finished(server: Listening, name: str) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("GET", f"/acme/{name}")
    with pytest.raises(IncompleteRead) as cut:
        connection.getresponse().read()
    assert cut.value.partial == b"first"
    assert get(server, "/acme/me")[0] == 200


def test_a_stream_that_hangs_is_cut_off_after_its_budget(impatient: Listening) -> None:
    connection = HTTPConnection("127.0.0.1", impatient.port, timeout=120)
    connection.request("GET", "/acme/hanging-chunk")
    with pytest.raises(IncompleteRead):
        connection.getresponse().read()
    assert impatient.modern("memory_append", FACT)["seq"] == 1


def test_a_stream_ends_after_a_while_so_that_its_client_asks_again(tmp_path: Path) -> None:
    install_pages(tmp_path / "site")
    given = {"PYTHONPATH": str(tmp_path / "site"), "ZAXY_HTTP_SESSION_SECONDS": "0.5"}
    with Listening(tmp_path / "demo", **given) as short:
        status, _, body = get(short, "/acme/stream?session=empty")
    assert (status, body) == (200, b"")


def test_a_plugin_is_imported_with_the_first_request_on_its_route(tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    source = f"from zaxy.api import json_response\nopen({str(mark)!r}, 'w').close()\n\n"
    source += "class Pages:\n    def __init__(self, context): pass\n"
    source += "    def answer(self, request, memory): return json_response({})\n"
    install_pages(tmp_path / "site", source=source)
    with Listening(tmp_path / "demo", PYTHONPATH=str(tmp_path / "site")) as running:
        assert running.modern("memory_append", FACT)["seq"] == 1
        assert get(running, "/elsewhere")[0] == 404
        assert not mark.exists()
        assert get(running, "/acme")[0] == 200
        assert mark.exists()


def test_a_plugin_that_cannot_be_imported_costs_only_its_own_route(tmp_path: Path) -> None:
    install_pages(tmp_path / "site", source="import hunter2\n")
    with Listening(tmp_path / "demo", PYTHONPATH=str(tmp_path / "site")) as running:
        for _ in range(2):
            status, _, body = get(running, "/acme")
            assert status == 500
            assert "acme-pages" in json.loads(body)["error"]["message"]
            assert "hunter2" not in json.dumps(json.loads(body)["error"])
        assert running.modern("memory_append", FACT)["seq"] == 1


def test_a_path_that_the_server_or_another_package_has_is_left_out_with_a_line(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install_pages(site, "acme-pages", ("/acme",))
    install_pages(site, "beta-pages", ("/acme/more", "/beta", "/mcp", "/health/beta"))
    with Listening(tmp_path / "demo", PYTHONPATH=str(site)) as running:
        said = "".join(running.told)
        assert json.loads(get(running, "/acme/more")[2])["error"]["message"] == "there is no page /more"
        assert json.loads(get(running, "/beta/x")[2])["error"]["message"] == "there is no page /beta/x"
        assert running.modern("memory_append", FACT)["seq"] == 1
    assert "the route /acme/more of beta-pages is left out: acme-pages has /acme" in said
    assert "ZAXY_PLUGINS_DISABLE=acme-pages" in said
    assert "the route /mcp of beta-pages is left out: /mcp is the server's own" in said
    assert "the route /health/beta of beta-pages is left out" in said


def test_a_disabled_plugin_has_no_routes(tmp_path: Path) -> None:
    install_pages(tmp_path / "site")
    given = {"PYTHONPATH": str(tmp_path / "site"), "ZAXY_PLUGINS_DISABLE": "acme-pages"}
    with Listening(tmp_path / "demo", **given) as running:
        assert get(running, "/acme/me")[0] == 404


@pytest.mark.parametrize(
    "path",
    ["acme", "/", "", "/Acme", "/acme/", "//acme", "/..", "/acme/../mcp", "/.well-known", "/a/b/c/d/e", "/a%2fb", "/é"],
)
def test_a_path_of_another_form_makes_the_manifest_wrong(tmp_path: Path, zaxy: Zaxy, path: str) -> None:
    install_pages(tmp_path / "site", paths=(path,))
    done = zaxy("plugins", "list", PYTHONPATH=str(tmp_path / "site"))
    assert "provides[0].paths has" in done.stdout
    assert "wants a path such as /acme" in done.stdout


def test_a_provider_of_routes_names_a_path_in_its_manifest(tmp_path: Path, zaxy: Zaxy) -> None:
    install_pages(tmp_path / "site", paths=())
    done = zaxy("plugins", "list", PYTHONPATH=str(tmp_path / "site"))
    assert "provides[0].paths is for http_routes, which must have it" in done.stdout
