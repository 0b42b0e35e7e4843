"""A manifest is read whole or refused with the place of the mistake."""

from __future__ import annotations

import json

import pytest

from installed import manifest_of
from zaxy.plugins.manifest import ManifestError, parse_manifest


def read(**changed: object) -> object:
    return parse_manifest(json.dumps(manifest_of("acme", **changed)).encode(), "acme-package")


def test_a_right_manifest_is_read_with_its_defaults() -> None:
    manifest = parse_manifest(
        json.dumps(
            manifest_of(
                "acme",
                settings=[{"env": "ACME_LIMIT", "type": "integer", "default": 5, "meaning": "How many."}],
                needs=["network"],
                homepage="unknown keys are kept in mind",
                provides=[{"point": "export_sinks", "name": "acme", "colour": "blue"}],
            )
        ).encode(),
        "acme-package",
    )
    assert manifest.points == ("export_sinks",)
    assert manifest.provides[0].stability == "experimental"
    assert manifest.settings[0].default == 5
    assert manifest.settings[0].owner == "acme-package"
    assert manifest.needs == ("network",)
    assert manifest.unknown_keys == ("homepage", "provides[0].colour")


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"manifest": 2}, "'manifest' must be 1"),
        ({"manifest": True}, "manifest must be an integer"),
        ({"name": "Acme Notes"}, "name must be a name"),
        ({"summary": ""}, "summary must be a text"),
        ({"api": "0.1"}, "api must be an object"),
        ({"api": {"min": "0.1"}}, "api.max is missing"),
        ({"api": {"min": "0", "max": "0.1"}}, "api.min must be a pair"),
        ({"api": {"min": "0.1", "max": "0.0"}}, "api.min 0.1 is above api.max 0.0"),
        ({"provides": []}, "'provides' is empty"),
        ({"provides": [{"point": "sinks", "name": "x"}]}, "provides[0].point must be one of projection_backends"),
        ({"provides": [{"point": "export_sinks"}]}, "provides[0].name is missing"),
        ({"provides": [{"point": "export_sinks", "name": "x", "stability": "solid"}]}, "provides[0].stability must be"),
        ({"provides": [{"point": "export_sinks", "name": "x"}] * 2}, "provides 'x' twice at export_sinks"),
        ({"settings": [{"env": "acme", "meaning": "x"}]}, "settings[0].env must be the name of an environment"),
        ({"settings": [{"env": "A", "type": "float", "meaning": "x"}]}, "settings[0].type must be one of"),
        ({"settings": [{"env": "A", "type": "integer", "default": "x", "meaning": "x"}]}, "settings[0].default"),
        ({"settings": [{"env": "A", "secret": True, "default": "x", "meaning": "x"}]}, "a secret has none"),
        ({"settings": [{"env": "EVENTLOOM_PATH", "meaning": "x"}]}, "is a setting of the core"),
        ({"needs": ["money"]}, "needs must be one of network, server, secret"),
    ],
)
def test_a_mistake_is_refused_with_its_place(changed: dict[str, object], place: str) -> None:
    with pytest.raises(ManifestError, match=r"zaxy-plugin\.json") as refused:
        read(**changed)
    assert place in str(refused.value)


@pytest.mark.parametrize(
    ("client", "place"),
    [
        ({"name": "other"}, "clients[0].name 'other' is not among its ide_config_writers"),
        ({"preset": "minimal"}, "clients[0].preset must begin with local-"),
        ({"options": [{"flag": "--install", "sets": "path", "help": "x"}]}, "flag must begin with --acme-"),
        ({"options": [{"flag": "acme-x", "sets": "path", "help": "x"}]}, "flag must be an option"),
        ({"options": [{"flag": "--acme-x", "sets": "colour", "help": "x"}]}, "sets must be one of scope, path, trust"),
        ({"hook_json": {"mood": ["x"]}}, "clients[0].hook_json has 'mood'; the fields are"),
        ({"hook_json": {"command": "x"}}, "clients[0].hook_json must be a list"),
    ],
)
def test_a_mistake_in_a_client_is_refused_with_its_place(client: dict[str, object], place: str) -> None:
    provides = [{"point": "ide_config_writers", "name": "acme"}]
    with pytest.raises(ManifestError) as refused:
        read(provides=provides, clients=[{"name": "acme", **client}])
    assert place in str(refused.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_a_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(ManifestError):
        parse_manifest(data, "acme-package")


def test_a_manifest_for_a_later_api_is_not_judged_by_what_this_core_knows() -> None:
    manifest = parse_manifest(
        json.dumps(manifest_of("acme", api={"min": "9.0", "max": "9.1"}, provides="no longer a list")).encode(), "acme"
    )
    assert manifest.api == "9.0 to 9.1"
