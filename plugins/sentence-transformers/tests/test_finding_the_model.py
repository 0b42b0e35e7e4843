"""Which model is taken, what is said where there is none, and that nothing is downloaded without leave."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from types import ModuleType

import pytest
from lanes import SESSION, Place, ask, events, feed
from stand_in import WordHashes, model_folder

from zaxy.api import Unavailable, ZaxyError
from zaxy.plugins.host import PluginHost
from zaxy.plugins.roster import load_roster
from zaxy.settings import Settings
from zaxy_sentence_transformers import engines, model_folder as folders
from zaxy_sentence_transformers.model_folder import find_model

NAME = "acme/sentences"


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Hub's cache on this machine, empty, and no network."""

    def refuse(*_: object) -> None:
        raise AssertionError("nothing may be connected to")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def none_packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "PACKAGED", "no_such_package_of_models")


def in_the_hubs_cache(hub: Path, name: str) -> Path:
    kept = hub / f"models--{name.replace('/', '--')}"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("abc")
    return model_folder(kept / "snapshots" / "abc")


def test_a_model_that_was_downloaded_before_is_found_by_its_name(hub: Path) -> None:
    folder = in_the_hubs_cache(hub, NAME)
    assert find_model(NAME) == (NAME, folder)
    assert find_model("acme/others") is None


@pytest.mark.usefixtures("none_packaged")
def test_the_usual_model_is_the_one_that_is_looked_for_without_a_setting(hub: Path) -> None:
    assert find_model("") is None
    folder = in_the_hubs_cache(hub, folders.DEFAULT_NAME)
    assert find_model("") == (folders.DEFAULT_NAME, folder)


@pytest.mark.parametrize("name", ["../../etc", "a/b/c", "..\\x"])
def test_a_name_leads_nowhere_else(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_model(name) is None


@pytest.mark.usefixtures("none_packaged")
@pytest.mark.parametrize("name", ["", NAME])
def test_a_missing_model_is_not_downloaded_and_the_settings_are_named(
    tmp_path: Path, model: WordHashes, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "download", lambda *_: pytest.fail("it was downloaded"))
    lane = Place(tmp_path).lane(ZAXY_SENTENCE_MODEL=name)
    for action in (lambda: lane.cursor(SESSION), lambda: feed(lane, events(["The ferry leaves."]))):
        with pytest.raises(Unavailable, match="is not on this machine") as failure:
            action()
        for word in ("ZAXY_SENTENCE_MODEL", "ZAXY_SENTENCE_DOWNLOAD"):
            assert word in failure.value.remediation
    assert ask(lane, "the ferry") == []
    lane.wipe(SESSION)


def test_with_leave_it_is_downloaded_when_it_is_first_needed(
    tmp_path: Path, hub: Path, model: WordHashes, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, object]] = []

    def snapshot_download(name: str, **options: object) -> None:
        asked.append((name, options["allow_patterns"]))
        in_the_hubs_cache(hub, name)

    library = ModuleType("huggingface_hub")
    library.snapshot_download = snapshot_download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", library)
    monkeypatch.setattr(engines, "find_spec", lambda name: library)
    lane = Place(tmp_path).lane(ZAXY_SENTENCE_MODEL=NAME, ZAXY_SENTENCE_DOWNLOAD=True)
    assert lane.cursor(SESSION) is None
    assert asked == [], "looking how far it is downloads nothing"
    feed(lane, events(["The ferry leaves.", "It rains."]))
    assert [name for name, _ in asked] == [NAME]
    assert not any("py" in pattern or "bin" in pattern for pattern in asked[0][1])  # type: ignore[attr-defined]
    assert ask(lane, "ferry")[0].seq == 1


def test_without_an_engine_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    lane = Place(tmp_path).lane()
    with pytest.raises(Unavailable, match="not installed: torch, sentence_transformers") as failure:
        feed(lane, events(["The ferry leaves."]))
    assert "sentence-transformers" in failure.value.remediation


@pytest.mark.parametrize(
    ("wanted", "installed", "has_onnx", "taken"),
    [
        ("auto", {"onnx", "torch"}, True, "onnx"),
        ("auto", {"onnx", "torch"}, False, "torch"),
        ("auto", {"torch"}, True, "torch"),
        ("torch", {"onnx", "torch"}, True, "torch"),
        ("onnx", {"onnx"}, True, "onnx"),
        ("onnx", {"onnx"}, False, ""),
        ("auto", {"onnx"}, False, ""),
        ("quick", {"onnx"}, True, ""),
    ],
)
def test_the_engine_is_chosen_by_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str, installed: set[str], has_onnx: bool, taken: str
) -> None:
    monkeypatch.setattr(engines, "is_installed", lambda engine: engine in installed)
    folder = model_folder(tmp_path / "model")
    if has_onnx:
        (folder / "model.onnx").write_bytes(b"onnx")
    found = find_model(str(folder))
    assert found is not None
    if taken:
        assert engines.choose(wanted, found) == taken
    else:
        with pytest.raises(ZaxyError):
            engines.choose(wanted, found)


def test_the_identity_tells_models_from_each_other_and_not_from_their_onnx_form(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    found = find_model(str(folder))
    assert found is not None
    first = found.identity("rules")
    (folder / "model.onnx").write_bytes(b"onnx")
    (folder / "README.md").write_text("A model.")
    assert found.identity("rules") == first
    assert found.identity("other rules") != first
    (folder / "model.safetensors").write_bytes(b"sedrow" * 40)
    assert found.identity("rules") != first


@pytest.mark.skipif(not engines.nothing_installed(), reason="what runs a model is installed")
def test_without_an_engine_the_lane_takes_no_part_and_a_notice_says_what_to_install(tmp_path: Path) -> None:
    settings = Settings(environ={})
    host = PluginHost(load_roster(settings), settings, tmp_path, "workspace")
    assert "sentence-transformers" not in [bound.name for bound in host.all("retrieval_lanes")]
    assert ["sentence-transformers[torch]" in notice for notice in host.notices] == [True]
    assert not (tmp_path / "followers" / "retrieval_lanes-sentence-transformers").exists()
    with pytest.raises(ZaxyError, match="needs sentence_transformers") as failure:
        host.get("retrieval_lanes", "sentence-transformers")
    assert "sentence-transformers[torch]" in failure.value.remediation
