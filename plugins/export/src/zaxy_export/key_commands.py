"""`zaxy export-keygen`, `zaxy export-keys show`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from zaxy.api import AsJson, TyperCommand, current_call
from zaxy_export.signing import DEFAULT_ALGORITHM, UNAUDITED, KeyFiles, PublicKey, generate, public_key_of

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


class KeyCommand(TyperCommand):
    app = app


@app.command("export-keygen")
def keygen(
    out_private: Annotated[str, typer.Option("--out-private", help="The private key's file, for you alone.")],
    out_public: Annotated[str, typer.Option("--out-public", help="The public key's file, for those who verify.")],
    *,
    algorithm: Annotated[
        str, typer.Option("--algorithm", help="ed25519, or one of a package: ml-dsa-65 of zaxy-mldsa.")
    ] = DEFAULT_ALGORITHM,
    passphrase_file: Annotated[
        str, typer.Option("--passphrase-file", help="Encrypt the private key with what this file holds.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    _print(generate(KeyFiles(out_private, out_public, algorithm, passphrase_file)), as_json)
    current_call().say(f"notice: {UNAUDITED}", err=True)


@app.command("show")
def show(file: Annotated[str, typer.Argument(help="A public key's PEM file.")], as_json: AsJson = False) -> None:
    _print(public_key_of(file), as_json)


def _print(found: PublicKey, as_json: bool) -> None:
    shown = {"algorithm": found.algorithm, "public_key": found.key.hex()}
    current_call().say(json.dumps(shown) if as_json else f"{found.algorithm} {found.key.hex()}")
