"""Providers of other packages, for a package that uses them: each call goes through the host, and is guarded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from zaxy.plugins.host import PluginHost
from zaxy.plugins.roster import load_roster
from zaxy.settings import Settings

if TYPE_CHECKING:
    from zaxy.api.points import ExportSink, SigningAlgorithm
    from zaxy.plugins.host import BoundProvider

SINKS, ALGORITHMS = "export_sinks", "signing_algorithms"
SECONDS_TO_DELIVER = 900.0
"""The limit for a sink that does not limit itself."""


class GuardedProvider:
    """A provider with the methods of its own class. None of them hangs, prints or ends the process."""

    def __init__(self, bound: BoundProvider, seconds: Mapping[str, float]) -> None:
        """`seconds`: the limits of methods that may take longer than others."""
        self._bound = bound
        self._seconds = seconds

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_") or not hasattr(type(self._bound.instance), method):
            raise AttributeError(f"{self._bound.name} has no method {method!r}")
        return partial(self._bound.call, method, budget=self._seconds.get(method))


class SigningAlgorithms:
    """The algorithms that are installed."""

    def __init__(self, host: PluginHost) -> None:
        self._host = host

    @property
    def names(self) -> list[str]:
        return self._host.names(ALGORITHMS)

    def get(self, name: str) -> SigningAlgorithm:
        """The algorithm of that name. One that is not installed is an error that says how to get it."""
        return cast("SigningAlgorithm", GuardedProvider(self._host.get(ALGORITHMS, name), {}))


@contextmanager
def signing_algorithms() -> Iterator[SigningAlgorithms]:
    """All installed algorithms. They keep no state, so no workspace is needed."""
    settings = Settings()
    with TemporaryDirectory(prefix="zaxy-keys-") as folder:
        yield SigningAlgorithms(PluginHost(load_roster(settings), settings, Path(folder), ""))


def export_sink(host: PluginHost, name: str) -> ExportSink:
    return cast("ExportSink", GuardedProvider(host.get(SINKS, name), {"deliver": SECONDS_TO_DELIVER}))
