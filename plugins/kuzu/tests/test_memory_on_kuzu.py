"""The whole memory on Kuzu: one owner at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from folders import made_folder
from zaxy.memory import Memory

SESSION = "work"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        memory.append("decision.made", {"decision": "Keep the cache in Redis", "key": "cache"}, session=SESSION)
    return tmp_path / "here"


def test_a_second_process_is_told_who_has_the_graph_and_its_appends_still_succeed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAXY_EMBEDDED_ENGINE", "kuzu")

    def zaxy(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "zaxy", *words, "--session-id", SESSION, "--workspace", str(workspace)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    with Memory.open(workspace) as owner:
        assert owner.query("cache", SESSION).results
        asked = zaxy("query", "cache")
        said = asked.stdout + asked.stderr
        assert f"process {os.getpid()}" in said, said
        appended = zaxy("append", "note.taken", "--payload", '{"text": "the kettle is in the hall"}')
        assert (appended.returncode, appended.stderr) == (0, "")
        assert zaxy("verbatim", "kettle").stdout.count("the kettle is in the hall") == 1
        assert "the kettle is in the hall" in owner.query("where is the kettle?", SESSION).results[0].content
