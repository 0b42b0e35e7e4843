"""A terminal that a person would sit at, in tmux: what is typed goes to a real program, and its screen can be read."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

SECONDS = 180
BETWEEN_LOOKS = 0.1
MARKS = ("❯", "›", ">")
"""What stands before the line that is chosen."""


class Terminal:
    def __init__(self, folder: Path, environ: Mapping[str, str], socket: Path, *, columns: int = 110, rows: int = 50):
        self._commands = 0
        self._tmux = ("tmux", "-S", str(socket), "-f", "/dev/null")
        size = ("-x", str(columns), "-y", str(rows))
        variables = [f"{name}={value}" for name, value in environ.items()]
        self._run("new-session", "-d", *size, "-c", str(folder), "env", "-i", *variables, "sh")
        self.wait_for("$", "#")

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._run("kill-server")

    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    def keys(self, *names: str) -> None:
        self._run("send-keys", *names)

    def wait_for(self, *texts: str) -> str:
        """The screen, as soon as one of the texts stands on it."""
        until = time.monotonic() + SECONDS
        while not any(text in (screen := self.screen()) for text in texts):
            assert time.monotonic() < until, f"none of {texts} came; on the screen stands\n{screen}"
            time.sleep(BETWEEN_LOOKS)
        return screen

    def choose(self, option: str) -> None:
        """Go down a list to an option, and take it: what is pressed before the program listens is lost."""
        until = time.monotonic() + SECONDS
        while not any(option in line and line.lstrip()[:1] in MARKS for line in self.wait_for(option).splitlines()):
            assert time.monotonic() < until, f"{option!r} cannot be chosen\n{self.screen()}"
            self.keys("Down")
            time.sleep(3 * BETWEEN_LOOKS)
        self.keys("Enter")

    def say(self, words: str) -> None:
        """Type words and send them, once the program has shown them: some take what comes at once for pasted text."""
        self._run("send-keys", "-l", words)
        self.wait_for(words[-30:])
        self.keys("Enter")

    def say_until(self, words: str, text: str, dialog: str) -> None:
        """Say the same again where a program is not ready to answer with a text yet; a dialog is closed before that."""
        until = time.monotonic() + SECONDS
        self.say(words)
        while text not in self.screen():
            assert time.monotonic() < until, f"{words} never gave {text!r}\n{self.screen()}"
            time.sleep(20 * BETWEEN_LOOKS)
            if text not in self.screen():
                self.close(dialog)
                self.say(words)

    def close(self, dialog: str) -> None:
        """Press Escape until a text is gone from the screen."""
        until = time.monotonic() + SECONDS
        while dialog in self.screen():
            assert time.monotonic() < until, f"{dialog!r} stays\n{self.screen()}"
            self.keys("Escape")
            time.sleep(5 * BETWEEN_LOOKS)

    def command(self, line: str) -> str:
        """Run a command of the shell on an empty screen, once the shell reads again; the screen when it has ended."""
        until = time.monotonic() + SECONDS
        while (runs := self._run("display-message", "-p", "#{pane_current_command}").strip()) != "sh":
            assert time.monotonic() < until, f"{runs} does not end\n{self.screen()}"
            time.sleep(BETWEEN_LOOKS)
        self._commands += 1
        mark = f"end-{self._commands}-of-"  # of another command's end there may still be something on the screen
        self._run("send-keys", "-l", f"clear; {line}; echo {mark}$?")
        self.keys("Enter")
        screen = self.wait_for(*(f"{mark}{code}" for code in (0, 1, 2)))
        assert f"{mark}0" in screen, screen
        return screen

    def _run(self, *words: str) -> str:
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, done.stderr
        return done.stdout
