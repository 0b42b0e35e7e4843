"""What the doctor says of the model and of how far it has read."""

from __future__ import annotations

from pathlib import Path

import pytest
from lanes import Place, now
from stand_in import DEFAULTS, WordHashes

from zaxy.api import Checkup, Finding, ProviderContext
from zaxy.memory import Memory
from zaxy_sentence_transformers import doctor, engines
from zaxy_sentence_transformers.loading import SentenceModel
from zaxy_sentence_transformers.record import note


def rows(place: Place, memory: Memory | None = None, **changed: object) -> dict[str, Finding]:
    context = ProviderContext(
        {**place.settings, **changed},
        place.folder / ".eventloom" / "plugins" / "sentence-transformers",
        "workspace",
        place.warnings.append,
        now,
        user_dir=place.user,
    )
    checkup = Checkup(place.folder, memory is not None, lambda: memory)  # type: ignore[arg-type,return-value]
    return {row.name: row for row in doctor.ModelCheck(context).check(checkup)}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.usefixtures("installed")
def test_it_says_what_ran_and_how_fast(place: Place, model: WordHashes) -> None:
    assert "has not run yet" in rows(place)["model"].message
    place.user.mkdir(parents=True)
    SentenceModel(place.settings, place.user).embed(["a text"])
    note(place.user, texts_per_second=36.5)
    found = rows(place)
    assert "64 numbers for a text, with stand-in on cpu" in found["model"].message
    assert found["cache"].message.startswith("36.5 texts a second")


@pytest.mark.usefixtures("installed")
def test_it_says_why_a_model_could_not_be_loaded_and_what_to_do(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.user.mkdir(parents=True)
    (place.folder / "model" / "model.onnx").write_bytes(b"no model at all")
    with pytest.raises(engines.Unavailable):
        SentenceModel(place.settings, place.user).embed(["a text"])
    found = rows(place)["model"]
    assert found.status == "error"
    assert "cannot be loaded" in found.message
    assert found.action


def test_without_an_engine_it_is_not_in_use_unless_a_model_was_chosen(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    found = rows(place, ZAXY_SENTENCE_MODEL="")
    assert [(row.status, "not in use" in row.message) for row in found.values()] == [("ok", True)]
    chosen = rows(place)["model"]
    assert chosen.status == "warning"
    assert "sentence-transformers" in chosen.action


@pytest.mark.usefixtures("installed", "model")
def test_it_says_how_far_each_session_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "user"))
    place = Place(tmp_path)
    with Memory.open(tmp_path) as memory:
        memory.append("note.taken", {"text": "The ferry leaves."}, session="trips")
        found = rows(place, memory)["progress"]
    assert found.message.startswith("trips: event 0 of ")
    assert "catch-up" in found.message


def test_the_settings_of_the_tests_are_those_of_the_manifest() -> None:
    import json

    manifest = json.loads(Path(doctor.__file__).with_name("zaxy-plugin.json").read_text(encoding="utf-8"))
    assert {one["env"]: one["default"] for one in manifest["settings"]} == DEFAULTS
