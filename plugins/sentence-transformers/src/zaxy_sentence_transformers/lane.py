"""The lane, where something that can run a model is installed. Where nothing is, not even numpy is loaded."""

from __future__ import annotations

from importlib.util import find_spec

ENGINES = (("torch", "sentence_transformers"), ("onnxruntime", "tokenizers"))
"""What runs models: all packages of one of these must be there."""

if not any(all(find_spec(name) for name in names) for names in ENGINES):
    raise ModuleNotFoundError("nothing that runs a model is installed", name=ENGINES[0][-1])

from zaxy_sentence_transformers.follower import SentenceLane as SentenceLane  # noqa: E402
