"""Whatever a built-in can do a package from outside can do: through the command line, over MCP and over HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import outside_package
from served import Listening, Server, environment

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    outside_package.install(tmp_path / "site")
    return tmp_path / "site"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def zaxy(project: Path, site: Path) -> Run:
    def run(*words: str, code: int | None = 0, **env: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "zaxy", *words],
            cwd=project,
            env=environment(site, **env),
            capture_output=True,
            text=True,
        )
        assert code in (None, done.returncode), done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def opened(zaxy: Run) -> str:
    """The citation of a pull request that was recorded by the package's command."""
    zaxy("pulls", "open", "41", "Round invoices half to even", "--file", "billing.py")
    return zaxy("pulls", "open", "42", "Index the archive", "--file", "search.py").stdout.strip()


def test_its_commands_write_events_of_its_family_and_nobody_else_does(zaxy: Run, opened: str) -> None:
    assert (
        zaxy("pulls", "list").stdout
        == "pull request 42: Index the archive\npull request 41: Round invoices half to even\n"
    )
    payload = '{"number": 43, "title": "Mine", "file": ""}'
    refused = zaxy("append", "pulls.request.opened", "--payload", payload, code=1)
    assert "only acme-pulls itself writes pulls.request.opened" in refused.stderr
    assert "Pull request 42: Index the archive" in zaxy("tail").stdout


def test_a_checkout_cites_what_its_extractor_saw_and_names_the_extractor(zaxy: Run, opened: str) -> None:
    reply = json.loads(zaxy("checkout", "what does Ottoline own?", "--json").stdout)
    derived = [(one["entity_name"], one["extractor"]) for fact in reply["current_facts"] for one in fact["derived"]]
    assert ("Ottoline", "acme-owners") in derived
    cited = [fact["citation"] for fact in reply["current_facts"]]
    assert any(opened.startswith(citation) or citation == opened for citation in cited)


def test_its_lane_finds_what_shares_no_word_with_the_question(zaxy: Run, opened: str) -> None:
    rows = json.loads(zaxy("query", "anything about #1?", "--json").stdout)["results"]
    assert [row["source_lane"] for row in rows if row["citation"].split("/events/")[1].startswith("1#")] == [
        "acme-numbers"
    ]
    weightless = json.loads(zaxy("query", "anything about #1?", "--json", ZAXY_LANE_WEIGHTS="acme-numbers=0").stdout)
    assert "acme-numbers" not in [row["source_lane"] for row in weightless["results"]]


def test_its_purpose_and_its_heading_are_known_to_a_checkout(zaxy: Run, opened: str) -> None:
    reply = json.loads(zaxy("checkout", "what is open?", "--purpose", "merging", "--json").stdout)
    assert reply["purpose"]["preset"] == "merging"
    assert "Pull request 42" in json.dumps(reply["working_set"]["pulls"])
    refused = zaxy("checkout", "what is open?", "--purpose", "merging", code=2, ZAXY_PLUGINS_DISABLE="acme-pulls")
    assert "there is no purpose" in refused.stderr


def test_the_doctor_has_its_row(zaxy: Run, opened: str) -> None:
    rows = json.loads(zaxy("doctor", "--json", code=None).stdout)["rows"]  # its other rows are not the package's
    (own,) = [row for row in rows if row["name"] == "acme-pulls:open"]
    assert (own["status"], own["message"], own["action"]) == ("warning", "2 pull requests are open", "zaxy pulls list")


def test_its_tool_and_its_resource_work_over_mcp(zaxy: Run, project: Path, site: Path, opened: str) -> None:
    with Server(project, site=site) as server:
        assert "acme_merge" in [tool["name"] for tool in server.request("tools/list", {})["result"]["tools"]]
        (listed,) = server.request("resources/list", {})["result"]["resources"]
        assert listed["uri"] == "acme-pulls://open"
        read = server.request("resources/read", {"uri": "acme-pulls://open"})["result"]["contents"][0]["text"]
        assert read == "pull request 42\npull request 41"
        merged = server.call("acme_merge", number=41)["citation"]
        assert "/events/" in merged
        read = server.request("resources/read", {"uri": "acme-pulls://open"})["result"]["contents"][0]["text"]
        assert read == "pull request 42"
    assert zaxy("pulls", "list").stdout == "pull request 42: Index the archive\n"


def test_its_route_answers_over_http_behind_the_gate(project: Path, site: Path, opened: str) -> None:
    with Listening(project, PYTHONPATH=str(site)) as server:
        status, _, body = server.send(b"", method="GET", path="/pulls")
        assert (status, [row["name"] for row in json.loads(body)["open"]]) == (
            200,
            ["pull request 42", "pull request 41"],
        )
        status, _, _ = server.send(b"", {"Host": "evil.example"}, "GET", "/pulls")
        assert status in (400, 403, 421)


def test_it_is_pinned_checked_and_removed_without_a_trace(zaxy: Run, project: Path, site: Path, opened: str) -> None:
    assert "acme-pulls (acme-pulls 0.1.0): ok" in zaxy("plugins", "check", "acme-pulls").stdout
    zaxy("contracts", "pin", "acme-pulls", "--output", "pin.json")
    zaxy("contracts", "check", "pin.json")
    facts = json.loads(zaxy("verify", "--json").stdout)
    outside_package.uninstall(site)
    assert "acme" not in zaxy("plugins", "list").stdout + zaxy("--help").stdout
    assert "there is no command 'zaxy pulls list'" in zaxy("pulls", "list", code=2).stderr
    found = json.loads(zaxy("query", "Index the archive", "--json").stdout)
    assert found["results"][0]["citation"] == opened
    assert not found["warnings"] and not found["notices"]
    assert "Ottoline" not in json.dumps(json.loads(zaxy("query", "Ottoline", "--json").stdout)["results"])
    assert json.loads(zaxy("verify", "--json").stdout) == facts
    zaxy("append", "pulls.request.opened", "--payload", '{"number": 1}')
