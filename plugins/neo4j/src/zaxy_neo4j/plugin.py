"""What this package offers to Zaxy: the graph on a Neo4j server."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_projection_backends() -> list[Provider]:
    return [
        Provider(
            "neo4j",
            "zaxy_neo4j.graph:Neo4jGraph",
            "The graph on a Neo4j server, for many processes and machines at once.",
            install_hint="pip install 'neo4j>=6.4,<7'",
        )
    ]
