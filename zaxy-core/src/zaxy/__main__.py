"""The `zaxy` command: a static table of commands, of which only the one asked for is imported.

Help, version and the listing of plugins answer from this module and a few light ones. Importing typer costs
more than everything else here together, so it happens only behind the other commands.
"""

from __future__ import annotations

import atexit
import gc
import sys

from zaxy import __version__
from zaxy.errors import InternalError, InvalidRequest, ZaxyError
from zaxy.printing import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Command:
    """A row of the table. `hot` names the function of a command that does without typer; the others have its app."""

    def __init__(self, words: str, summary: str, module: str, hot: str = "") -> None:
        self.words = words
        self.summary = summary
        self.module = module
        self.hot = hot


CHECKOUT = "Get what is true now on a question, cited, and whether it is enough to answer."
COMMANDS = (
    Command("demo", "Show in a temporary folder what memory does; nothing of yours is touched.", "zaxy.commands.demo"),
    Command("init", "Set up a project: clients, hooks, capture; or take it out again.", "zaxy.commands.init"),
    Command("doctor", "Check everything that memory needs, and fix it.", "zaxy.commands.doctor"),
    Command("trust", "Take in a memory that came from elsewhere, such as with a repository.", "zaxy.commands.trust"),
    Command("append", "Append one event to a session's log.", "zaxy.commands.append", hot="append"),
    Command("replay", "Print a session's events from its log, or from a log file.", "zaxy.commands.log"),
    Command("tail", "Print the last events of a session, and new ones as they come.", "zaxy.commands.log"),
    Command("sessions", "List the sessions of the workspace.", "zaxy.commands.log"),
    Command("verify", "Prove that a log is whole: every byte, digest, hash and link.", "zaxy.commands.log"),
    Command("repair", "Cut what an interrupted writer left, and let a session be written again.", "zaxy.commands.log"),
    Command("forget", "Erase one event's payload for good; the chain still verifies.", "zaxy.commands.log"),
    Command("checkout", CHECKOUT, "zaxy.commands.checkout", hot="checkout"),
    Command("query", "Ask memory a question: what holds now, or held at a time.", "zaxy.commands.recall", hot="query"),
    Command(
        "verbatim",
        "Find passages of the log by their words, as they were written.",
        "zaxy.commands.recall",
        hot="verbatim",
    ),
    Command(
        "invalidate",
        "End what is held to be true of an entity; history keeps it.",
        "zaxy.commands.recall",
        hot="invalidate",
    ),
    Command("show", "Open the event behind a citation.", "zaxy.commands.show", hot="show"),
    Command("memory checkout", CHECKOUT, "zaxy.commands.checkout", hot="memory_checkout"),
    Command("memory bootstrap", "Print what a session gets at its start.", "zaxy.commands.memory"),
    Command("memory capabilities", "Print what memory can do, and how it stands.", "zaxy.commands.memory"),
    Command("memory feedback", "Say whether a memory was of use.", "zaxy.commands.memory"),
    Command("memory skill", "Record a step in the life of a reusable procedure.", "zaxy.commands.memory"),
    Command(
        "serve", "Serve memory to agents over MCP, on stdio or on loopback HTTP.", "zaxy.commands.serve", hot="run"
    ),
    Command("ide-config", "Print or install the MCP configuration of a client.", "zaxy.commands.ide_config"),
    Command("followers status", "Show how far the followers are behind the log.", "zaxy.commands.followers"),
    Command("followers rebuild", "Rebuild followers from the log as it is.", "zaxy.commands.followers"),
    Command("followers verify", "Check every row that the followers hold.", "zaxy.commands.followers"),
    Command("followers digest", "Print a hash over all that each follower holds.", "zaxy.commands.followers"),
    Command(
        "hook-event",
        "Record what a client's hook reports; silent, and never in a client's way.",
        "zaxy.commands.hook_event",
        hot="run",
    ),
    Command("hooks", "Print or write the hook configuration of a client.", "zaxy.commands.hooks"),
    Command("hook-status", "Show which hooks are installed, and what they record.", "zaxy.commands.hook_status"),
    Command("capture-soak", "Prove that every kind of observation arrives.", "zaxy.commands.hook_status"),
    Command("capture start", "Watch what clients write, in the background, and record it.", "zaxy.commands.capture"),
    Command("capture status", "Show whether the watcher runs, and what it has captured.", "zaxy.commands.capture"),
    Command("capture stop", "Stop the watcher, and wait until it has ended.", "zaxy.commands.capture"),
    Command("capture soak", "Prove that every kind of observation arrives.", "zaxy.commands.hook_status"),
    Command("codex-capture", "Record what Codex has written since the last time.", "zaxy.commands.capture"),
    Command("export", "Write memory to a file that others can verify, signed if you like.", "zaxy.commands.export"),
    Command("export-push", "Deliver the same bundle to a sink: a file, a webhook.", "zaxy.commands.export"),
    Command("export-disclose", "Take entries out of a signed bundle, each with its proof.", "zaxy.commands.export"),
    Command("verify-export", "Prove a signed bundle, and say whose it is.", "zaxy.commands.export"),
    Command("verify-export-subset", "Prove the entries that were disclosed of a bundle.", "zaxy.commands.export"),
    Command("import", "Append a bundle's events; each keeps the citation that it had.", "zaxy.commands.export"),
    Command("export-keygen", "Make a key pair to sign exports with.", "zaxy.commands.export_keys"),
    Command("export-keys show", "Print the public key in a file, for those who verify.", "zaxy.commands.export_keys"),
    Command("refs list", "List the refs of a session.", "zaxy.commands.refs"),
    Command("refs update", "Make a ref name an event.", "zaxy.commands.refs"),
    Command("refs resolve", "Print the event that a ref names.", "zaxy.commands.refs"),
    Command(
        "plugins list",
        "List the installed plugins, without importing any.",
        "zaxy.commands.plugins_list",
        hot="run",
    ),
    Command("plugins show", "Show one plugin: what it provides and needs, and its settings.", "zaxy.commands.plugins"),
    Command(
        "plugins check",
        "Import plugins and prove that they do what their manifests say.",
        "zaxy.commands.plugins",
    ),
    Command("plugins new", "Write a new plugin package whose tests pass.", "zaxy.commands.plugins"),
    Command("contracts list", "List the published contracts and what is in them.", "zaxy.commands.contracts"),
    Command(
        "contracts check",
        "Compare the live code with the snapshots, or with a pinned contract.",
        "zaxy.commands.contracts",
    ),
    Command("contracts diff", "Compare two snapshots and tell additions from breaks.", "zaxy.commands.contracts"),
    Command(
        "contracts pin",
        "Write down the part of the contract that a plugin relies on.",
        "zaxy.commands.contracts",
    ),
    Command("contracts snapshot", "Write the live contracts to a folder.", "zaxy.commands.contracts"),
    Command("config list", "List every setting, its value and where the value came from.", "zaxy.commands.config"),
    Command("config set", "Keep a setting in the workspace.", "zaxy.commands.config"),
    Command("config unset", "Take a setting out of the workspace.", "zaxy.commands.config"),
)
ALIASES = {"plugin": "plugins", "contract": "contracts"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 the thing asked for is not so, 2 wrong usage."""
    # Python looks for cycles once more as it ends. Nothing is left to be found, and looking costs as much as it does
    # to start Python.
    atexit.register(gc.freeze)
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in ALIASES:
        words[0] = ALIASES[words[0]]
    try:
        return _dispatch(words)
    except ZaxyError as error:
        return _report(error, as_json="--json" in words)
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is left to tell, and closing stdout again would raise.
        sys.stdout = None
        return 0
    except Exception as error:
        import traceback

        say(traceback.format_exc(), err=True, end="")
        defect = InternalError(f"{type(error).__name__}: {error}", "This is a defect: please report it.")
        return _report(defect, as_json="--json" in words)
    except KeyboardInterrupt:
        say("interrupted", err=True)
        return 1


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("--help", "-h", "help"):
        say(_help(words[1:2]))
        return 0
    if words[0] in ("--version", "-V"):
        say(f"zaxy {__version__}")
        return 0
    if any(command.words.startswith(f"{words[0]} ") for command in COMMANDS) and (
        len(words) == 1 or words[1].startswith("-")
    ):
        say(_help(words[:1]))
        return 0 if words[1:2] in (["--help"], ["-h"]) else 2
    for command in COMMANDS:
        typed = command.words.split()
        if words[: len(typed)] == typed:
            if command.hot:
                return _function(command.module, command.hot)(words[len(typed) :])
            return _function("zaxy.commands", "run_app")(command.module, words)
    raise _unknown(words)


def _function(module: str, name: str) -> Callable[..., int]:
    from importlib import import_module

    function: Callable[..., int] = getattr(import_module(module), name)
    return function


def _help(words: Sequence[str] = ()) -> str:
    shown = [command for command in COMMANDS if not words or command.words.split()[0] == words[0]]
    if not shown:
        raise _unknown(list(words))
    width = max(len(command.words) for command in shown)
    rows = "\n".join(f"  {command.words.ljust(width)}  {command.summary}" for command in shown)
    return (
        "usage: zaxy COMMAND [OPTIONS]\n\n"
        "Memory for AI agents that can be trusted because it can be checked.\n\n"
        f"commands:\n{rows}\n\n"
        "options:\n"
        "  -h, --help     show this help; 'zaxy COMMAND --help' explains one command\n"
        "  -V, --version  show the version"
    )


def _unknown(words: list[str]) -> ZaxyError:
    from difflib import get_close_matches

    # What follows the command's words (options, arguments) is not part of the name that was mistyped.
    names = [word for word in words[:2] if not word.startswith("-")]
    typed = " ".join(names)
    known = [command.words for command in COMMANDS]
    first_words = dict.fromkeys([*known, *(words.split()[0] for words in known)])
    near = get_close_matches(typed, known if len(names) > 1 else first_words, n=1, cutoff=0.5)
    if not near and names:
        near = get_close_matches(names[0], first_words, n=1, cutoff=0.5)
    hint = f"Did you mean 'zaxy {near[0]}'? " if near else ""
    return InvalidRequest(
        f"there is no command 'zaxy {typed or words[0]}'",
        f"{hint}'zaxy --help' lists the commands.",
    )


def _report(error: ZaxyError, as_json: bool) -> int:
    if as_json:
        import json

        say(json.dumps(error.as_dict(), indent=2, ensure_ascii=False))
    else:
        say(f"zaxy: {error.message}\n  {error.remediation}", err=True)
    return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
