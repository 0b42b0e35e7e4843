"""What this package offers to Zaxy: Hermes Agent as a client."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_ide_config_writers() -> list[Provider]:
    return [Provider("hermes", "zaxy_hermes.client:Hermes", "Hermes Agent: config.yaml of the user.")]
