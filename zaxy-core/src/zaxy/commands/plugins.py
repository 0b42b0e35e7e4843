"""`zaxy plugins show | check`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from zaxy.commands import command, new_app
from zaxy.plugins.check import PluginProblem, check_plugin
from zaxy.plugins.host import PluginHost
from zaxy.plugins.hung import forget_hung
from zaxy.plugins.kit import PACKAGE, how_to_install_kit, part_of_kit
from zaxy.plugins.roster import InstalledPlugin, load_roster
from zaxy.plugins.secret_rows import rows_of
from zaxy.printing import say
from zaxy.settings import Settings, value_text
from zaxy.workspace import stored_settings_here

app = new_app("plugins")

PluginName = Annotated[str, typer.Argument(help="The plugin, or the package that ships it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@command(app, "plugins show")
def show(name: PluginName, as_json: AsJson = False) -> None:
    row = load_roster(Settings(stored=stored_settings_here())).row(name)
    say(json.dumps(_as_dict(row), indent=2, ensure_ascii=False) if as_json else _about(row))


@command(app, "plugins check")
def check(
    name: Annotated[str | None, typer.Argument(help="One plugin, or its package. Default: all of them.")] = None,
    as_json: AsJson = False,
) -> None:
    settings = Settings(stored=stored_settings_here())
    roster = load_roster(settings)
    for row in [roster.row(name)] if name else roster.rows:
        forget_hung(row)
    roster = load_roster(settings)
    rows = [roster.row(name)] if name else list(roster.rows)
    with tempfile.TemporaryDirectory(prefix="zaxy-check-") as scratch:
        host = PluginHost(roster, settings.lenient(), Path(scratch), "plugins-check")
        reported = [finding for row in rows for finding in check_plugin(host, row)]
    findings = [finding for finding in reported if not finding.is_note]
    if as_json:
        report = {
            "ok": not findings,
            "checked": [row.name for row in rows],
            "findings": [finding._asdict() for finding in findings],
            "notes": [finding._asdict() for finding in reported if finding.is_note],
            "calls_tried": part_of_kit("trial") is not None,
        }
        say(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        _print_findings(rows, reported)
    raise typer.Exit(1 if findings else 0)


def _as_dict(row: InstalledPlugin) -> dict[str, object]:
    judged = rows_of(row)
    return {**row.as_dict(), "secret_shapes": {"rows": len(judged.shapes), "refused": len(judged.refused)}}


def _about(row: InstalledPlugin) -> str:
    lines = [f"{row.name} {row.version}, package {row.package}, module {row.module}", f"state: {row.state}"]
    if row.error:
        lines += [f"  {row.stage}: {row.error}", f"  {row.hint}"]
    elif row.hint:
        lines.append(f"  {row.hint}")
    if row.manifest is None:
        return "\n".join(lines)
    lines += [row.manifest.summary, f"plugin API: {row.manifest.api}", "provides:"]
    for provided in row.manifest.provides:
        abilities = f", can {', '.join(provided.capabilities)}" if provided.capabilities else ""
        called = f"zaxy {provided.words}" if provided.words else provided.name
        lines.append(f"  {provided.point}: {called} ({provided.stability}{abilities})")
    if row.manifest.secret_shapes:
        judged = rows_of(row)
        refused = f", {len(judged.refused)} refused: zaxy plugins check {row.name}" if judged.refused else ""
        lines.append(f"secret shapes: {len(judged.shapes)} rows in {row.manifest.secret_shapes}{refused}")
    lines.append("needs: " + (", ".join(row.manifest.needs) or "nothing"))
    lines.append("settings:" if row.manifest.settings else "settings: none")
    for setting in row.manifest.settings:
        secret = ", secret" if setting.secret else ""
        default = "no default" if setting.default is None else f"default {value_text(setting.default)}"
        lines.append(f"  {setting.env} ({setting.kind}{secret}, {default}): {setting.meaning}")
    return "\n".join(lines)


def _print_findings(rows: list[InstalledPlugin], reported: list[PluginProblem]) -> None:
    for row in rows:
        own = [finding for finding in reported if (finding.plugin, finding.package) == (row.name, row.package)]
        wrong = any(not finding.is_note for finding in own)
        verdict = "disabled" if row.state == "disabled" else "broken" if wrong else "ok"
        say(f"{row.name} ({row.package} {row.version}): {verdict}")
        for finding in own:
            say(f"  {finding.stage}: {finding.error}\n    {finding.hint}")
    if part_of_kit("trial") is None:
        say(f"The calls of each provider were not tried: that needs {PACKAGE}. {how_to_install_kit()}")
