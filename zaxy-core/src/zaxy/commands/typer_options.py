"""Options that many commands have in common, as typer takes them."""

from __future__ import annotations

from typing import Annotated

import typer

from zaxy.commands.options import EVENTLOOM_PATH, JSON, SESSION_ID, WORKSPACE

AsJson = Annotated[bool, typer.Option(JSON.name, help=JSON.help)]
SessionId = Annotated[str | None, typer.Option(SESSION_ID.name, help=SESSION_ID.help, metavar=SESSION_ID.value)]
WorkspaceFolder = Annotated[str | None, typer.Option(WORKSPACE.name, help=WORKSPACE.help, metavar=WORKSPACE.value)]
EventloomPath = Annotated[
    str | None, typer.Option(EVENTLOOM_PATH.name, help=EVENTLOOM_PATH.help, metavar=EVENTLOOM_PATH.value)
]
