"""A small memory of the core alone, off which shapes are read: no plugin and no setting takes part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

from zaxy.errors import ZaxyError
from zaxy.settings import SETTINGS


class NotDescribed(ZaxyError):
    """An item of a contract could not be read off the code."""

    def __init__(self, item: str, error: Exception) -> None:
        super().__init__(
            "unavailable",
            f"{item} cannot be read off the code: {type(error).__name__}: {error}",
            "Install this version of zaxy-core again; if that does not help, it is a defect: please report it.",
        )


@contextmanager
def sample_memory() -> Iterator[Any]:
    """A new memory in a folder of its own, which is deleted afterwards."""
    opened, host = import_module("zaxy.memory").Memory.open, import_module("zaxy.plugins.host").PluginHost
    with without_settings(), TemporaryDirectory() as folder, opened(folder) as memory:
        memory.recall.host = host.of(memory.workspace, announcements=())
        yield memory


@contextmanager
def naming(item: str) -> Iterator[None]:
    """Whatever goes wrong within says of which item."""
    try:
        yield
    except NotDescribed:
        raise
    except Exception as error:
        raise NotDescribed(item, error) from error


@contextmanager
def without_settings() -> Iterator[None]:
    """The process's environment without settings of ours, and with a state folder that is empty."""
    names = {name for setting in SETTINGS for name in (setting.env, f"{setting.env}_FILE")}
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    with TemporaryDirectory() as state:
        os.environ["ZAXY_STATE_DIR"] = state
        try:
            yield
        finally:
            del os.environ["ZAXY_STATE_DIR"]
            os.environ.update(kept)
