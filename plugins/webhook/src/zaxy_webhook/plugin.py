"""What this package offers to Zaxy: the sink that posts a bundle to a web address."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_export_sinks() -> list[Provider]:
    return [Provider("webhook", "zaxy_webhook.sink:Webhook", "Posts a bundle to an http or https address.")]
