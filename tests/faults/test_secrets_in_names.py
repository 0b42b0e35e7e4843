"""A secret in a name that is kept as it is (actor, type, key, cause, session) is refused at every door."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from captured import install_adapter, write_seen
from corpus.shape_matrix import rows
from zaxy import Memory
from zaxy.api.models import Draft
from zaxy.errors import ZaxyError
from zaxy.observe.capture import Capture
from zaxy.security.redaction import redact_text
from zaxy.workspace import find_workspace

SESSION = "work-default"
TOKENS = [row.samples[0] for row in rows("seen") if "«" not in row.samples[0]][::12]
PLAIN = [*TOKENS, "mysql://bob:hunter22@db/shop", "password=hunter22"]
IN_TYPES = [text for text in PLAIN if set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-.")]
IN_SESSIONS = [
    text for text in TOKENS if all(letter.isalnum() or letter in "_.-" for letter in text) and len(text) < 129
]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".eventloom").mkdir(parents=True)
    return folder


@pytest.fixture
def memory(work: Path) -> Iterator[Memory]:
    with Memory(find_workspace(str(work))) as opened:
        yield opened


def by_append(memory: Memory, type_: str = "note.taken", session: str = SESSION, **names: str) -> None:
    memory.append(type_, {"text": "hello"}, session=session, **names)


def by_batch(memory: Memory, type_: str = "note.taken", session: str = SESSION, **names: str) -> None:
    actor = names.pop("actor", "bob")
    memory.append_many([Draft("note.taken", "bob", {}), Draft(type_, actor, {"text": "hello"}, **names)], session)


def left_behind(folder: Path, secret: str) -> list[str]:
    """The files with the secret in their name or content, and the logs that have an event."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if secret in path.name or secret.encode() in path.read_bytes()] + [
        path.name for path in files if path.suffix == ".jsonl" and path.stat().st_size
    ]


@pytest.mark.parametrize("door", [by_append, by_batch])
@pytest.mark.parametrize("name", ["actor", "idempotency_key", "caused_by"])
def test_a_secret_in_a_name_is_refused_and_not_repeated(
    memory: Memory, work: Path, door: Callable[..., Any], name: str
) -> None:
    assert len(PLAIN) > 12
    for secret in PLAIN:
        for value in (secret, f"bot {secret}", f"x={secret}"):
            with pytest.raises(ZaxyError) as refused:
                door(memory, **{name: value})
            assert refused.value.code in ("invalid_request", "too_large")
            assert secret not in f"{refused.value.message} {refused.value.remediation}"
            assert left_behind(work, secret) == []


@pytest.mark.parametrize("door", [by_append, by_batch])
def test_a_secret_as_an_event_type_is_refused_and_not_repeated(
    memory: Memory, work: Path, door: Callable[..., Any]
) -> None:
    assert IN_TYPES
    for secret in PLAIN:
        for value in (secret, f"note.{secret}", f"event.{secret}"):
            with pytest.raises(ZaxyError) as refused:
                door(memory, value)
            assert secret not in f"{refused.value.message} {refused.value.remediation}"
            assert left_behind(work, secret) == []


@pytest.mark.parametrize("door", [by_append, by_batch])
def test_a_secret_as_a_new_session_is_refused_and_not_repeated(
    memory: Memory, work: Path, door: Callable[..., Any]
) -> None:
    assert len(IN_SESSIONS) > 4
    for secret in PLAIN:
        with pytest.raises(ZaxyError) as refused:
            door(memory, session=secret)
        assert secret not in f"{refused.value.message} {refused.value.remediation}"
        assert left_behind(work, secret) == []


def test_a_log_that_was_called_like_a_secret_before_can_still_be_used(
    memory: Memory, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = IN_SESSIONS[0]
    with monkeypatch.context() as patched:
        patched.setattr("zaxy.security.redaction.refuse_secrets", lambda names: None)
        by_append(memory, session=secret)
    later = Memory(find_workspace(str(work)))
    by_append(later, session=secret)
    assert [event.type for event in later.replay(secret, limit=10)] == ["note.taken"] * 2


@pytest.mark.parametrize("name", ["actor", "type"])
def test_capture_refuses_an_observation_with_a_secret_in_a_name_and_keeps_the_others(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    install_adapter(tmp_path / "site", f"names{name}")
    secret = IN_TYPES[0]
    write_seen(work, "before", {name: f"note.{secret}", "payload": {}}, "after")
    capture = Capture(find_workspace(str(work)), SESSION, ())
    try:
        found = capture.run()
    finally:
        capture.close()
    assert (found.appended, found.refused) == (2, 1)
    assert "looks like a secret" in found.problems[0]
    log = work / ".eventloom" / f"{SESSION}.jsonl"
    assert secret not in found.problems[0] + log.read_text()


@pytest.mark.needs_package("export")
def test_an_import_refuses_a_bundle_with_a_secret_in_a_name(
    tmp_path: Path, memory: Memory, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from exported import bundle_bytes
    from zaxy_export.selector import EVERYTHING

    (tmp_path / "from").mkdir()
    source = Memory(find_workspace(str(tmp_path / "from")))
    with monkeypatch.context() as patched:
        patched.setattr("zaxy.security.redaction.refuse_secrets", lambda names: None)
        by_append(source, actor=TOKENS[0])
    bundle = BytesIO(bundle_bytes(source, EVERYTHING, SESSION, None, None))
    with pytest.raises(ZaxyError, match="looks like a secret") as refused:
        memory.import_bundle(bundle, SESSION)
    assert TOKENS[0] not in f"{refused.value.message} {refused.value.remediation}"
    assert left_behind(work, TOKENS[0]) == []


@pytest.mark.parametrize("secret", IN_SESSIONS[:2])
@pytest.mark.parametrize("command", ["append", "hook-event"])
def test_commands_refuse_a_session_that_is_a_secret(work: Path, command: str, secret: str) -> None:
    words = {
        "append": ["append", "note.taken", "--payload", "{}", "--session-id", secret],
        "hook-event": ["hook-event", "stop", "--strict", "--session-id", secret],
    }[command]
    done = subprocess.run(
        [sys.executable, "-m", "zaxy", *words], cwd=work, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode in (1, 2)
    assert "looks like a secret" in done.stderr
    assert secret not in done.stdout + done.stderr
    assert left_behind(work, secret) == []


@pytest.mark.parametrize(
    "name",
    [
        "assistant",
        "bob@example.com",
        "claude-code/1.2.3",
        "user:42",
        "сервис",
        "agent-7f3a2b",
        "eventloom://a/events/4",
    ],
)
def test_ordinary_names_are_taken(memory: Memory, name: str) -> None:
    by_append(memory, actor=name, caused_by=name, idempotency_key=f"import:{name}#{'9f3c1a7e' * 8}")
    assert redact_text(name)[1] == []
