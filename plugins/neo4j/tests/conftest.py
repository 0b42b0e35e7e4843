"""The server that the tests of this plugin share, with a workspace for each state folder in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from servers.neo4j_server import Address, neo4j_address
from zaxy.api import ProviderContext
from zaxy_neo4j.graph import Neo4jGraph
from zaxy_testkit import ProjectionBackendCase

__all__ = ["neo4j_address"]


def graph_of(context: ProviderContext) -> Neo4jGraph:
    """A graph that finds its rows again by its state folder, as one whose rows are in that folder would."""
    return Neo4jGraph(replace(context, workspace_id=str(context.state_dir)))


@pytest.fixture
def case(neo4j_address: Address) -> ProjectionBackendCase:
    return ProjectionBackendCase(graph_of, settings=neo4j_address.settings)
