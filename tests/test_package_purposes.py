"""Presets for purposes that packages bring: data in their manifests, bounded as the built-in ones are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import installed
from served import ERAS, Server
from zaxy.api import purposes
from zaxy.assemble.purpose import POLICIES, PRESETS
from zaxy.assemble.row_kinds import KIND_WORDS
from zaxy.assemble.suppression import RULES
from zaxy.contracts.packages import plugin_contract
from zaxy.plugins.manifest import parse_manifest
from zaxy.retrieve.profiles import PROFILES

LEGAL: dict[str, Any] = {
    "name": "legal",
    "recall_floor": 20,
    "scoring_profile": "precision",
    "evidence_policy": "gate_evidence_required",
    "suppresses": ["draft"],
    "terms": ["contract", "clause"],
    "emphases": {"decision": 2, "talk": -1.5},
    "floors": {"talk": 0.1},
}
SIGNED = ("append", "decision.made", "--payload", '{"decision": "The contract with Brightwater is signed."}')
QUESTION = "Is the contract with Brightwater signed?"


def install(site: Path, *presets: dict[str, Any], name: str = "acme-law") -> None:
    package = name.replace("-", "_")
    api = {"min": "0.4", "max": "0.4"}
    manifest = installed.manifest_of(name, api=api, provides=[], purposes=list(presets))
    modules = {"__init__.py": "raise RuntimeError('a preset is data: nobody imports it')"}
    installed.install(site, name, modules, manifest, f"[zaxy.plugins]\n{name} = {package}\n")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


@pytest.fixture
def zaxy(tmp_path: Path, site: Path) -> Any:
    project = tmp_path / "project"
    project.mkdir()

    def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PYTHONPATH": str(site), "ZAXY_STATE_DIR": str(tmp_path / "state"), **env}
        return subprocess.run(
            [sys.executable, "-m", "zaxy", *words], cwd=project, env=environ, capture_output=True, text=True
        )

    return run


def plugin_row(zaxy: Any, name: str = "acme-law", **env: str) -> dict[str, Any]:
    rows = json.loads(zaxy("plugins", "list", "--json", **env).stdout)["plugins"]
    found: dict[str, Any] = next(row for row in rows if row["name"] == name)
    return found


def test_what_a_manifest_may_name_is_what_the_code_has() -> None:
    assert tuple(PRESETS) == purposes.BUILT_IN
    assert tuple(PROFILES) == purposes.SCORING_PROFILES
    assert POLICIES == purposes.POLICIES
    assert tuple(RULES) == purposes.SUPPRESSIONS
    assert tuple(KIND_WORDS) == purposes.KINDS


def test_the_bounds_are_the_widest_of_the_built_in_presets() -> None:
    presets = PRESETS.values()
    assert max(one.recall_floor for one in presets) == purposes.MAX_RECALL_FLOOR
    assert max(len(one.terms) for one in presets) == purposes.MAX_TERMS
    assert max(abs(weight) for one in presets for weight in one.weights.values()) == purposes.MAX_WEIGHT
    assert max(floor for one in presets for floor in one.floors.values()) == purposes.MAX_FLOOR


def test_a_checkout_for_a_packages_purpose_obeys_all_of_it_and_imports_nobody(site: Path, zaxy: Any) -> None:
    install(site, LEGAL)
    zaxy(*SIGNED)
    done = zaxy("checkout", QUESTION, "--purpose", "legal", "--json")
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout)
    assert reply["purpose"] == {"preset": "legal", "evidence_policy": "gate_evidence_required"}
    policy = reply["diagnostics"]["purpose_retrieval_policy"]
    assert (policy["recall_floor"], policy["scoring_profile"]) == (20, "precision")
    assert (policy["emphasis_terms"], policy["floors"]) == (["contract", "clause"], {"talk": 0.1})
    assert "no verification or command result that passed" in policy["evidence"]["missing"]
    (row,) = policy["rows"]
    assert (row["action"], 0 < row["by"] <= 2) == ("lifted", True), row
    payload = reply["guidance"]["feedback"]["payloads"][0]
    assert payload["purpose"] == reply["purpose"]


def test_feedback_for_a_packages_purpose_is_taken_as_the_checkout_suggests_it(site: Path, zaxy: Any) -> None:
    install(site, LEGAL)
    zaxy(*SIGNED)
    reply = json.loads(zaxy("checkout", QUESTION, "--purpose", "legal", "--json").stdout)
    payload = reply["guidance"]["feedback"]["payloads"][0]
    purpose = ("--purpose", json.dumps(payload["purpose"]))
    words = ("memory", "feedback", payload["entity_name"], "--type", payload["entity_type"], "--feedback", "used")
    done = zaxy(*words, *purpose)
    assert done.returncode == 0, done.stderr


def test_a_purpose_may_be_an_object_over_a_packages_preset(site: Path, zaxy: Any) -> None:
    install(site, LEGAL)
    zaxy(*SIGNED)
    given = {"preset": "legal", "risk": "high", "evidence_policy": "several_sources_preferred"}
    reply = json.loads(zaxy("checkout", QUESTION, "--purpose", json.dumps(given), "--json").stdout)
    assert reply["purpose"] == given


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_asks_for_it_and_is_shown_which_there_are(site: Path, tmp_path: Path, era: str) -> None:
    install(site, LEGAL)
    with Server(tmp_path / "demo", era, site) as server:
        assert server.call("memory_checkout", query=QUESTION, purpose="legal")["purpose"]["preset"] == "legal"
        error = server.call("memory_checkout", query=QUESTION, purpose="leagl")["error"]
    assert error["message"] == "there is no purpose 'leagl'"
    assert error["remediation"].endswith("research, coordinate, legal.")


def test_the_purpose_of_a_disabled_package_is_unknown(site: Path, zaxy: Any) -> None:
    install(site, LEGAL)
    zaxy(*SIGNED)
    done = zaxy("checkout", QUESTION, "--purpose", "legal", ZAXY_PLUGINS_DISABLE="acme-law")
    assert done.returncode == 2, done.stderr
    assert "there is no purpose 'legal'" in done.stderr
    assert "legal." not in done.stderr


def test_two_packages_with_one_purpose_are_both_refused_until_one_is_preferred(site: Path, zaxy: Any) -> None:
    install(site, LEGAL)
    install(site, {**LEGAL, "recall_floor": 5}, name="acme-court")
    assert plugin_row(zaxy)["error"] == "its purpose 'legal' is also provided by acme-court"
    assert "ZAXY_PLUGINS_PREFER=purposes:legal=acme-law" in plugin_row(zaxy)["hint"]
    zaxy(*SIGNED)
    assert "there is no purpose 'legal'" in zaxy("checkout", QUESTION, "--purpose", "legal").stderr
    chosen = zaxy("checkout", QUESTION, "--purpose", "legal", "--json", ZAXY_PLUGINS_PREFER="purposes:legal=acme-court")
    assert json.loads(chosen.stdout)["diagnostics"]["purpose_retrieval_policy"]["recall_floor"] == 5


def test_the_listing_names_a_packages_purposes(site: Path, zaxy: Any) -> None:
    install(site, LEGAL)
    row = plugin_row(zaxy)
    assert (row["state"], row["purposes"]) == ("ready", ["legal"])
    assert zaxy("plugins", "check", "acme-law").returncode == 0


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"name": "coding"}, "purposes[0].name 'coding' is one of the core's own: general, coding,"),
        ({"name": "Legal"}, "purposes[0].name must be a name"),
        ({"recall_floor": 25}, "recall_floor must be from 1 to 24"),
        ({"recall_floor": 0}, "recall_floor must be from 1 to 24"),
        ({"scoring_profile": "wild"}, "scoring_profile has 'wild'; there are balanced, recall, precision, temporal"),
        ({"evidence_policy": "any"}, "evidence_policy has 'any'; there are cited_current_facts_preferred,"),
        ({"suppresses": ["gossip"]}, "suppresses has 'gossip'; there are uncited_claim,"),
        ({"emphases": {"rumour": 1}}, "emphases has 'rumour'; there are check, change,"),
        ({"emphases": {"fact": 2.5}}, "emphases.fact must be from -2 to 2"),
        ({"emphases": {"fact": True}}, "emphases must be an object of numbers"),
        ({"floors": {"fact": 0.2}}, "floors.fact must be from 0 to 0.15"),
        ({"floors": {"fact": -1}}, "floors.fact must be from 0 to 0.15"),
        ({"terms": list("abcde")}, "terms has 5 words; there may be 4"),
        ({"terms": ["a b"]}, "which is not a word of at most 32 characters"),
    ],
)
def test_a_preset_that_goes_beyond_the_built_in_ones_is_refused_and_the_line_says_what_there_is(
    site: Path, zaxy: Any, changed: dict[str, Any], complaint: str
) -> None:
    install(site, {**LEGAL, **changed})
    row = plugin_row(zaxy)
    assert row["state"] == "failed"
    assert complaint in row["error"], row["error"]


def test_a_package_has_a_purpose_once_and_not_too_many(site: Path, zaxy: Any) -> None:
    install(site, LEGAL, LEGAL)
    install(site, *({**LEGAL, "name": f"legal-{number}"} for number in range(9)), name="acme-many")
    assert "it has the purpose 'legal' twice" in plugin_row(zaxy)["error"]
    assert "purposes has 9 presets; a package has at most 8" in plugin_row(zaxy, "acme-many")["error"]


def test_a_purpose_is_part_of_its_packages_contract() -> None:
    manifest = installed.manifest_of("acme-law", api={"min": "0.4", "max": "0.4"}, provides=[], purposes=[LEGAL])
    items = plugin_contract(parse_manifest(json.dumps(manifest).encode(), "acme-law"), "acme-law")["items"]
    described = json.loads(json.dumps(items["purpose legal"]))
    assert described == items["purpose legal"]
    assert {key: described[key] for key in LEGAL} == LEGAL
