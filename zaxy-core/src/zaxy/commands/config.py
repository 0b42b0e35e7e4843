"""`zaxy config list | set | unset`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from zaxy.commands import command, new_app
from zaxy.errors import ZaxyError
from zaxy.plugins.roster import take_roll
from zaxy.settings import Setting, Settings, Value, parse
from zaxy.workspace import find_workspace, stored_settings_here

app = new_app("config")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(help="The setting, by its environment variable.")]


@command(app, "config list")
def list_settings(as_json: AsJson = False) -> None:
    values = _settings().all()
    if as_json:
        typer.echo(json.dumps({"settings": [_described(value) for value in values]}, indent=2, ensure_ascii=False))
        return
    width = max(len(value.setting.env) for value in values)
    for value in values:
        shown = "-" if value.value in (None, ()) else _text(value.shown)
        typer.echo(f"{value.setting.env.ljust(width)}  {shown}  [{value.source}]")
        typer.echo(f"{' ' * width}  {value.setting.meaning} ({value.setting.kind}, {value.setting.owner})")


@command(app, "config set")
def set_value(
    name: Name,
    value: Annotated[str, typer.Argument(help="The value; lists are separated by commas.")],
    as_json: AsJson = False,
) -> None:
    setting = _storable(name)
    workspace = find_workspace()
    parsed = parse(setting, value)
    workspace.store_setting(name, list(parsed) if isinstance(parsed, tuple) else parsed)
    _confirm(name, as_json, f"{name} is {_text(parsed)} in {workspace.root}")


@command(app, "config unset")
def unset(name: Name, as_json: AsJson = False) -> None:
    _storable(name)
    workspace = find_workspace()
    if name not in workspace.stored_settings():
        raise ZaxyError(
            "not_found", f"{workspace.root} does not keep {name}", "'zaxy config list' shows what it keeps."
        )
    workspace.store_setting(name, None)
    _confirm(name, as_json, f"{name} is no longer kept in {workspace.root}")


def _settings() -> Settings:
    """The core's settings and those that installed plugins declare."""
    stored = stored_settings_here()
    rows = take_roll(Settings(stored=stored)).rows
    declared = [setting for row in rows if row.manifest for setting in row.manifest.settings]
    return Settings(stored=stored, declared=declared)


def _storable(name: str) -> Setting:
    setting = _settings().known(name)
    if setting.secret or setting.environment_only:
        reason = "is a secret" if setting.secret else "decides which workspace is used"
        fix = f"Set it in the environment{f', or point {name}_FILE at a file' if setting.secret else ''}."
        raise ZaxyError("forbidden", f"{name} {reason}, so the workspace does not keep it", fix)
    return setting


def _confirm(name: str, as_json: bool, message: str) -> None:
    typer.echo(json.dumps(_described(_settings().find(name)), indent=2, ensure_ascii=False) if as_json else message)


def _described(value: Value) -> dict[str, object]:
    setting = value.setting
    return {
        "env": setting.env,
        "type": setting.kind,
        "value": value.shown,
        "default": setting.default,
        "source": value.source,
        "secret": setting.secret,
        "stability": setting.stability,
        "owner": setting.owner,
        "meaning": setting.meaning,
    }


def _text(value: object) -> str:
    return (
        ",".join(value) if isinstance(value, tuple) else str(value).lower() if isinstance(value, bool) else str(value)
    )
