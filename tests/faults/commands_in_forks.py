"""Commands of `zaxy` run in forks of one process that has imported them: a start costs little, and a hang is seen."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from zaxy.__main__ import main
from zaxy.command_table import COMMANDS

PATIENCE = 240.0
"""Seconds after which a command hangs, however busy the machine is."""
HUNG = -9


class Outcome(NamedTuple):
    code: int
    text: str

    @property
    def fine(self) -> bool:
        """Whether it has ended, and said in a sentence what is wrong if something is."""
        return self.code in (0, 1, 2) and "Traceback" not in self.text and "internal_error" not in self.text


def import_commands() -> None:
    """So that no fork has to."""
    from importlib import import_module

    for command in COMMANDS:
        import_module(command.module)
    import_module("zaxy.memory")
    import_module("zaxy.assemble.checkout")


def run(words: Sequence[str], folder: Path, *, environ: Mapping[str, str], stdin: bytes = b"") -> Outcome:
    """What a command says and how it ends, in a folder."""
    said, feed = Path(f"{folder}.said"), Path(f"{folder}.stdin")
    feed.write_bytes(stdin)
    pid = os.fork()
    if not pid:
        _become(words, folder, environ=environ, said=said, feed=feed)
    deadline = time.monotonic() + PATIENCE
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            code = HUNG
            break
        time.sleep(0.005)
    return Outcome(code, said.read_text("utf-8", "replace"))


def _become(words: Sequence[str], folder: Path, *, environ: Mapping[str, str], said: Path, feed: Path) -> None:
    code = 99
    try:
        os.chdir(folder)
        os.environ.update(environ)
        out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(feed, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.stdin, sys.stdout, sys.stderr = (open(fd, mode, encoding="utf-8") for fd, mode in enumerate("rww"))  # noqa: SIM115
        code = main(list(words))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
