"""Rows of the doctor: whether the word vectors are there, and what reads them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from zaxy.api import Checkup, Finding, ProviderContext, Unavailable, install_hint
from zaxy.api.health import ERROR, OK
from zaxy_vectors.weights import DIMENSIONS, SETTING, find_files, read_header

MODEL, NUMPY = "model", "numpy"
REQUIREMENT = "numpy>=2,<3"


class VectorsCheck:
    def __init__(self, context: ProviderContext) -> None:
        self._given = str(context.settings.get(SETTING) or "")

    def check(self, checkup: Checkup) -> Sequence[Finding]:
        return [self._model(), _numpy()]

    def _model(self) -> Finding:
        try:
            files = find_files(self._given)
            tokens = read_header(files.weights).tokens
        except Unavailable as error:
            return Finding(MODEL, ERROR, error.message[:500], error.remediation)
        size = files.weights.stat().st_size / 1_000_000
        message = f"{tokens} tokens of words in {DIMENSIONS} dimensions, {size:.0f} MB, in {files.weights.parent}"
        return Finding(MODEL, OK, message[:500])


def _numpy() -> Finding:
    try:
        found = version("numpy")
    except PackageNotFoundError:
        return Finding(NUMPY, ERROR, "numpy is not installed", install_hint(REQUIREMENT))
    if int(found.split(".")[0]) < 2:
        return Finding(NUMPY, ERROR, f"numpy {found} is too old: it cannot count bits", install_hint(REQUIREMENT))
    return Finding(NUMPY, OK, found)
