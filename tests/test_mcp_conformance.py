"""The protocol's own conformance suite against the real server over HTTP, at both revisions."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

import installed
import npm_programs
from conformance.pack import ADDRESSED, ANSWER, ERROR, MANY_KEYWORDS
from served import ERAS, LEGACY, MODERN, listening

HERE = Path(__file__).parent / "conformance"
SUITE = "@modelcontextprotocol/conformance/dist/index.js"
ENTRY = re.compile(r"  - ([\w-]+):([\w$-]+) # (\S.*)")
OFFERED = {
    LEGACY: {
        *("server-initialize", "server-session-lifecycle", "ping", "tools-list", "tools-call-simple-text"),
        *("tools-call-error", "tools-call-with-progress", "server-sse-multiple-streams", "dns-rebinding-protection"),
    },
    MODERN: {
        *("tools-list", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress"),
        *("server-sse-multiple-streams", "dns-rebinding-protection", "http-header-validation"),
        "http-custom-header-server-validation",
    },
}
"""The scenarios about what the server does offer: each of their checks passes."""
Checks = dict[str, list[dict[str, Any]]]

pytestmark = pytest.mark.xdist_group("conformance")  # the suite runs once


class Outcome:
    """What the suite printed and wrote."""

    def __init__(self, done: subprocess.CompletedProcess[str], written: Path) -> None:
        self.code = done.returncode
        self.told = done.stdout + done.stderr
        self.checks: Checks = {}
        for file in written.glob("*/checks.json"):
            scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", file.parent.name)
            self.checks[scenario] = json.loads(file.read_text())

    def failing(self) -> set[tuple[str, str]]:
        return {
            (scenario, check["id"])
            for scenario, checks in self.checks.items()
            for check in checks
            if check["status"] in ("FAILURE", "WARNING")
        }

    def result(self, scenario: str) -> dict[str, Any]:
        """What the tool answered that a scenario called."""
        (check,) = [check for check in self.checks[scenario] if check["id"] == scenario]
        found: dict[str, Any] = check["details"]["result"]
        return found


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that has the suite's tools from a plugin."""
    site = tmp_path_factory.mktemp("site")
    installed.install(
        site,
        "zaxy-conformance",
        {"plugin.py": PLUGIN, "pack.py": (HERE / "pack.py").read_text()},
        installed.manifest_of("conformance", provides=[{"point": "tool_packs", "name": "conformance"}]),
        "[zaxy.plugins]\nconformance = zaxy_conformance.plugin\n",
    )
    with listening(tmp_path_factory.mktemp("demo"), site) as address:
        yield address


PLUGIN = """\
from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_tool_packs():
    return [Provider("conformance", "zaxy_conformance.pack:Pack", "What the conformance suite calls.")]
"""


@pytest.fixture(scope="module")
def outcomes(url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    suite = npm_programs.installed("conformance") / SUITE
    found = {}
    for era in ERAS:
        written = tmp_path_factory.mktemp("results")
        options = ["--url", url, "--requirements", era, "--expected-failures", str(_expected_file(era))]
        command = [npm_programs.node().node, str(suite), "server", *options, "--output-dir", str(written)]
        found[era] = Outcome(subprocess.run(command, capture_output=True, text=True, timeout=120), written)
    return found


def _expected_file(era: str) -> Path:
    return HERE / f"expected-failures-{era}.yml"


def _expected(era: str) -> set[tuple[str, str]]:
    head, *lines = _expected_file(era).read_text().splitlines()
    assert head == "server:"
    entries = [ENTRY.fullmatch(line) for line in lines if not line.startswith("  #")]
    assert all(entries), "every line is `  - scenario:check # reason`"
    return {(entry[1], entry[2]) for entry in entries if entry}


@pytest.mark.parametrize("era", ERAS)
def test_what_fails_is_what_is_expected_to_and_nothing_else(outcomes: dict[str, Outcome], era: str) -> None:
    outcome = outcomes[era]
    assert outcome.failing() == _expected(era)
    assert outcome.code == 0, outcome.told[-3000:]


@pytest.mark.parametrize("era", ERAS)
def test_every_check_of_what_the_server_offers_passes(outcomes: dict[str, Outcome], era: str) -> None:
    for scenario in OFFERED[era]:
        told = {check["status"] for check in outcomes[era].checks[scenario]}
        assert told - {"INFO"} == {"SUCCESS"}, scenario


@pytest.mark.parametrize("era", ERAS)
def test_the_calls_reached_the_tools_of_the_plugin(outcomes: dict[str, Outcome], era: str) -> None:
    """The suite is content with any text, and with any error."""
    assert outcomes[era].result("tools-call-simple-text")["structuredContent"] == ANSWER
    assert outcomes[era].result("tools-call-error")["structuredContent"] == ERROR.as_dict()


@pytest.mark.parametrize("era", ERAS)
def test_a_pack_has_its_schemas_listed_as_they_are(url: str, era: str) -> None:
    """The suite asks this too, but of a tool with digits in its name, which packs may not have."""

    async def listed() -> dict[str, Any]:
        async with Client(streamable_http_client(url), mode="legacy" if era == LEGACY else "auto") as client:
            return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}

    with start_blocking_portal() as portal:
        schemas = portal.call(listed)
    assert schemas["test_many_keywords"] == MANY_KEYWORDS
    assert schemas["test_region_header"] == ADDRESSED
