"""A hot command as typer has it, for its help and for what it says to words that are wrong."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from zaxy.commands.hot import Argument, HotCommand
from zaxy.commands.options import Option

KINDS: dict[str, type] = {"": bool, "N": int}


def typer_app(hot: HotCommand, name: str) -> typer.Typer:
    """The app of one command, with the same parameters, which runs the same function."""

    def call(**given: Any) -> None:
        hot.function(**given)

    shown = [_parameter(hot, name, one) for name, one in hot.declared.items()]
    call.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name, help=hot.function.__doc__)(call)
    return app


def _parameter(hot: HotCommand, name: str, declared: Argument | Option) -> Parameter:
    if isinstance(declared, Argument):
        annotation: Any = Annotated[str, typer.Argument(help=declared.help, metavar=name.upper())]
        return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation)
    kind: Any = KINDS.get(declared.value, str)
    default = hot.defaults.get(name, Parameter.empty)
    metavar = declared.value or None
    option = typer.Option(
        declared.name, help=declared.help, min=declared.minimum, max=declared.maximum, metavar=metavar
    )
    annotation = Annotated[kind | None if default is None else kind, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
