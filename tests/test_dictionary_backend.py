"""The example of docs/plugins/projection_backends.md: a dictionary, and no rule of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.dictionary_backend import DictionaryBackend
from zaxy_testkit.checks import Check, Workbench, checks_of
from zaxy_testkit.checks.projection_backends import POINT, ProjectionBackendCase

CHECKS = [pytest.param(known, id=known.name) for known in checks_of(POINT)]


@pytest.mark.parametrize("known", CHECKS)
def test_a_dictionary_passes_the_check(known: Check, tmp_path: Path) -> None:
    known.run(ProjectionBackendCase(DictionaryBackend), Workbench(tmp_path))
