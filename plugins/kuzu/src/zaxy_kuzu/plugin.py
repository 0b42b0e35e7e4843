"""What this package offers to Zaxy: the graph in a Kuzu database."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_projection_backends() -> list[Provider]:
    return [
        Provider(
            "kuzu",
            "zaxy_kuzu.graph:KuzuGraph",
            "The graph in a Kuzu database, one process at a time.",
            capabilities=("single-process",),
        )
    ]
