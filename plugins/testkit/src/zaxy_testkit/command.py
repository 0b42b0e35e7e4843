"""`zaxy plugins new`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from zaxy.api import POINTS, TyperCommand, current_call
from zaxy.contracts.check import contract_text
from zaxy.contracts.pin import CONTRACT_FILE, pin_of_files
from zaxy.plugins.install_hints import install_command
from zaxy_testkit.scaffold import plugin_files, write_files

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class NewPlugin(TyperCommand):
    app = app


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="The plugin's name, such as acme-notes; it names the package too.")],
    point: Annotated[str, typer.Option("--point", help=f"The extension point: {', '.join(POINTS)}.")],
    output: Annotated[
        Path | None, typer.Option("--out", "--output", help="The folder to write. Default: ./NAME")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a new plugin package whose tests pass."""
    say = current_call().say
    folder = output or Path(name)
    files = plugin_files(name, point)
    files[CONTRACT_FILE] = contract_text(pin_of_files(name, files))
    write_files(folder, files)
    if as_json:
        say(json.dumps({"folder": str(folder), "files": list(files)}, indent=2))
        return
    say(f"wrote {folder}:")
    for file in files:
        say(f"  {file}")
    install = install_command("'.[test]'", editable=True)
    say(f"next: cd {folder} && {install} && pytest")
