"""`zaxy config list | set | unset`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from zaxy.commands import command, new_app
from zaxy.errors import Forbidden, InvalidRequest, NotFound, ZaxyError
from zaxy.plugins.roster import install_advice, load_roster, package_of
from zaxy.printing import say, say_wrapped
from zaxy.settings import Setting, Settings, Value, parse, value_text
from zaxy.workspace import find_workspace, store_for_all, stored_settings_here

app = new_app("config")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(help="The setting, by its environment variable.")]
ForAll = Annotated[bool, typer.Option("--user", help="For all workspaces of this user, and not just for this one.")]


@command(app, "config list")
def list_settings(as_json: AsJson = False) -> None:
    values = _settings().all()
    if as_json:
        say(json.dumps({"settings": [_described(value) for value in values]}, indent=2, ensure_ascii=False))
    else:
        width = max(len(value.setting.env) for value in values)
        for value in values:
            shown = value.problem or ("-" if value.value in (None, ()) else value_text(value.shown))
            say_wrapped(f"{value.setting.env.ljust(width)}  {shown}  [{value.source}]")
            say_wrapped(f"    {value.setting.meaning} ({value.setting.kind}, {value.setting.owner})")
    raise typer.Exit(1 if any(value.problem for value in values) else 0)


@command(app, "config set")
def set_value(
    name: Name,
    value: Annotated[str, typer.Argument(help="The value; lists are separated by commas.")],
    user: ForAll = False,
    as_json: AsJson = False,
) -> None:
    setting = _storable(name)
    parsed = parse(setting, value)
    where = _store(name, list(parsed) if isinstance(parsed, tuple) else parsed, user)
    now = _settings().find(name)
    if as_json:
        say(json.dumps(_described(now), indent=2, ensure_ascii=False))
        return
    overridden = "" if now.value == parsed else f"; the {now.source} overrides it with {value_text(now.shown)}"
    say(f"{name} is {value_text(parsed)} in {where}{overridden}")


@command(app, "config unset")
def unset(name: Name, user: ForAll = False, as_json: AsJson = False) -> None:
    stored = stored_settings_here()
    if name not in (stored.everywhere if user else {**stored.workspace, **stored.here}):
        where = "your settings for all workspaces do" if user else f"{find_workspace().root} does"
        raise NotFound(f"{where} not keep {name}", "'zaxy config list' shows what is kept.")
    where = _store(name, None, user)
    kept = {"env": name, "kept": False}
    say(json.dumps(kept) if as_json else f"{name} is no longer kept in {where}")


def _store(name: str, value: object, user: bool) -> str:
    """Keep a value, and say where it holds."""
    if user:
        store_for_all(name, value)
        return "all your workspaces"
    workspace = find_workspace()
    workspace.store_setting(name, value)
    return workspace.root


def _settings() -> Settings:
    """The core's settings and those that installed plugins declare."""
    stored = stored_settings_here()
    try:
        rows = load_roster(Settings(stored=stored)).rows
    except ZaxyError:
        rows = ()  # a setting about plugins is wrong, and this command must still show it
    declared = [setting for row in rows if row.manifest for setting in row.manifest.settings]
    return Settings(stored=stored, declared=declared)


def _known(name: str) -> Setting:
    try:
        return _settings().known(name)
    except InvalidRequest:
        if package := package_of(name):
            raise InvalidRequest(
                f"{name} is a setting of {package}, which is not installed", install_advice(name)
            ) from None
        raise


def _storable(name: str) -> Setting:
    setting = _known(name)
    if setting.secret or setting.environment_only:
        reason = "is a secret" if setting.secret else "decides which workspace is used"
        fix = f"Set it in the environment{f', or point {name}_FILE at a file' if setting.secret else ''}."
        raise Forbidden(f"{name} {reason}, so the workspace does not keep it", fix)
    return setting


def _described(value: Value) -> dict[str, object]:
    setting = value.setting
    return {
        "env": setting.env,
        "type": setting.kind,
        "value": value.shown,
        "default": setting.default,
        "source": value.source,
        "problem": value.problem,
        "secret": setting.secret,
        "workspace": setting.in_workspace,
        "stability": setting.stability,
        "owner": setting.owner,
        "meaning": setting.meaning,
    }
