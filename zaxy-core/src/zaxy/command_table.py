"""The built-in commands: what is typed, a sentence on it, and the module that holds it. Nothing else is imported."""

from __future__ import annotations


class CommandRow:
    """A row of the table. The target is a module, or what a manifest would name, and is then run as that is run.

    Of modules, `hot` names the function of a command that does without typer; the others have its app. One that is
    `hidden` is a second name, which help and completion leave out.
    """

    def __init__(
        self, group: str, words: str, summary: str, target: str, *, hot: str = "", hidden: bool = False
    ) -> None:
        self.group = group
        self.words = words
        self.summary = summary
        self.module, _, self.attribute = target.partition(":")
        self.hot = hot
        self.hidden = hidden


EVERYDAY, HISTORY, SETUP = "Everyday", "History and proof", "Set-up"
PLUGINS, OPERATIONS = "Plugins and contracts", "Operations"
GROUPS = (EVERYDAY, HISTORY, SETUP, PLUGINS, OPERATIONS)
"""The headings of `zaxy --help`, in their order. A command of a package may name one of them as its group."""
FOLLOWERS = "zaxy.commands.followers:FollowersCommands"
LOG = "zaxy.commands.log:LogCommands"
MEMORY = "zaxy.commands.memory:MemoryCommands"
SYNTHESIS = "zaxy.commands.synthesis:SynthesisCommands"
REFS = "zaxy.commands.refs:RefsCommands"
CHECKOUT = "Get what is true now on a question, cited, and whether it is enough to answer."
COMMANDS = (
    CommandRow(
        SETUP, "demo", "Show in a temporary folder what memory does; nothing of yours is touched.", "zaxy.commands.demo"
    ),
    CommandRow(SETUP, "init", "Set up a project: clients, hooks, capture; or take it out again.", "zaxy.commands.init"),
    CommandRow(SETUP, "doctor", "Check everything that memory needs, and fix it.", "zaxy.commands.doctor"),
    CommandRow(
        SETUP, "trust", "Take in a memory that came from elsewhere, such as with a repository.", "zaxy.commands.trust"
    ),
    CommandRow(
        EVERYDAY,
        "remember",
        "Remember a sentence: a decision, a preference, a fact, a task.",
        "zaxy.commands.remember:remember",
    ),
    CommandRow(
        EVERYDAY,
        "ask",
        "Ask what is true now: cited, and whether it is enough to answer.",
        "zaxy.commands.checkout:checkout",
    ),
    CommandRow(EVERYDAY, "append", "Append one event to a session's log.", "zaxy.commands.append:append"),
    CommandRow(HISTORY, "log", "Read what was recorded, newest first.", "zaxy.commands.history:log"),
    CommandRow(
        HISTORY, "types", "List the known types of events, with a sentence on each.", "zaxy.commands.event_types:types"
    ),
    CommandRow(HISTORY, "replay", "Print a session's events from its log, or from a log file.", LOG),
    CommandRow(HISTORY, "tail", "Print the last events of a session, and new ones as they come.", LOG),
    CommandRow(HISTORY, "sessions", "List the sessions of the workspace.", LOG),
    CommandRow(EVERYDAY, "stats", "Show what memory holds, and how many tokens it cost.", "zaxy.commands.stats:stats"),
    CommandRow(HISTORY, "verify", "Prove that a log is whole: every byte, digest, hash and link.", LOG),
    CommandRow(HISTORY, "repair", "Cut what an interrupted writer left, and let a session be written again.", LOG),
    CommandRow(EVERYDAY, "forget", "Erase one event's payload for good; the chain still verifies.", LOG),
    CommandRow(EVERYDAY, "checkout", CHECKOUT, "zaxy.commands.checkout:checkout"),
    CommandRow(
        EVERYDAY, "query", "Ask memory a question: what holds now, or held at a time.", "zaxy.commands.recall:query"
    ),
    CommandRow(
        EVERYDAY,
        "verbatim",
        "Find passages of the log by their words, as they were written.",
        "zaxy.commands.recall:verbatim",
    ),
    CommandRow(
        EVERYDAY,
        "invalidate",
        "End what is held to be true of an entity; history keeps it.",
        "zaxy.commands.recall:invalidate",
    ),
    CommandRow(EVERYDAY, "show", "Open one event, by its number or its citation.", "zaxy.commands.show:show"),
    CommandRow(EVERYDAY, "memory checkout", CHECKOUT, "zaxy.commands.checkout:checkout", hidden=True),
    CommandRow(EVERYDAY, "memory bootstrap", "Print what a session gets at its start.", MEMORY),
    CommandRow(EVERYDAY, "memory capabilities", "Print what memory can do, and how it stands.", MEMORY),
    CommandRow(EVERYDAY, "memory feedback", "Say whether a memory was of use.", MEMORY),
    CommandRow(EVERYDAY, "memory skill", "Record a step in the life of a reusable procedure.", MEMORY),
    CommandRow(EVERYDAY, "memory synthesis-artifact", "Record the composed answer of a checkout.", SYNTHESIS),
    CommandRow(EVERYDAY, "memory synthesis-evidence", "Say what became of one row of a composed answer.", SYNTHESIS),
    CommandRow(
        SETUP,
        "serve",
        "Serve memory to agents over MCP, on stdio or on loopback HTTP.",
        "zaxy.commands.serve",
        hot="run",
    ),
    CommandRow(SETUP, "ide-config", "Print or install the MCP configuration of a client.", "zaxy.commands.ide_config"),
    CommandRow(OPERATIONS, "followers status", "Show how far the followers are behind the log.", FOLLOWERS),
    CommandRow(OPERATIONS, "followers catch-up", "Bring all followers up to the log, also slow ones.", FOLLOWERS),
    CommandRow(OPERATIONS, "followers rebuild", "Rebuild followers from the log as it is.", FOLLOWERS),
    CommandRow(OPERATIONS, "followers verify", "Check every row that the followers hold.", FOLLOWERS),
    CommandRow(OPERATIONS, "followers digest", "Print a hash over all that each follower holds.", FOLLOWERS),
    CommandRow(EVERYDAY, "pause", "Record nothing in a workspace until 'zaxy resume'.", "zaxy.commands.recording"),
    CommandRow(EVERYDAY, "resume", "Record again after 'zaxy pause'.", "zaxy.commands.recording"),
    CommandRow(
        OPERATIONS,
        "hook-event",
        "Record what a client's hook reports; silent, and never in a client's way.",
        "zaxy.commands.hook_event",
        hot="run",
    ),
    CommandRow(
        OPERATIONS,
        "hook-context",
        "Print where the work stands, for the first prompt of a client's session.",
        "zaxy.commands.hook_context",
        hot="run",
    ),
    CommandRow(SETUP, "hooks", "Print or write the hook configuration of a client.", "zaxy.commands.hooks"),
    CommandRow(
        OPERATIONS, "hook-status", "Show which hooks are installed, and what they record.", "zaxy.commands.hook_status"
    ),
    CommandRow(
        OPERATIONS, "capture-soak", "Prove that every kind of observation arrives.", "zaxy.commands.hook_status"
    ),
    CommandRow(
        OPERATIONS,
        "capture start",
        "Watch what clients write, in the background, and record it.",
        "zaxy.commands.capture",
    ),
    CommandRow(
        OPERATIONS,
        "capture status",
        "Show whether the watcher runs, and what it has captured.",
        "zaxy.commands.capture",
    ),
    CommandRow(
        SETUP, "capture once", "Record what clients have written in this project so far.", "zaxy.commands.capture"
    ),
    CommandRow(OPERATIONS, "capture stop", "Stop the watcher, and wait until it has ended.", "zaxy.commands.capture"),
    CommandRow(
        OPERATIONS,
        "capture soak",
        "Prove that every kind of observation arrives.",
        "zaxy.commands.hook_status",
        hidden=True,
    ),
    CommandRow(
        OPERATIONS, "codex-capture", "Record what Codex has written since the last time.", "zaxy.commands.capture"
    ),
    CommandRow(HISTORY, "refs list", "List the refs of a session.", REFS),
    CommandRow(HISTORY, "refs update", "Make a ref name an event.", REFS),
    CommandRow(HISTORY, "refs resolve", "Print the event that a ref names.", REFS),
    CommandRow(
        PLUGINS,
        "plugins list",
        "List the installed plugins, without importing any.",
        "zaxy.commands.plugins_list",
        hot="run",
    ),
    CommandRow(
        PLUGINS,
        "plugins show",
        "Show one plugin: what it provides and needs, and its settings.",
        "zaxy.commands.plugins",
    ),
    CommandRow(
        PLUGINS,
        "plugins check",
        "Import plugins and prove that they do what their manifests say.",
        "zaxy.commands.plugins",
    ),
    CommandRow(
        PLUGINS, "contracts list", "List the published contracts and what is in them.", "zaxy.commands.contracts"
    ),
    CommandRow(
        PLUGINS,
        "contracts check",
        "Compare the live code with the snapshots, or with a pinned contract.",
        "zaxy.commands.contracts",
    ),
    CommandRow(
        PLUGINS, "contracts diff", "Compare two snapshots and tell additions from breaks.", "zaxy.commands.contracts"
    ),
    CommandRow(
        PLUGINS,
        "contracts pin",
        "Write down the part of the contracts that a plugin, a client or a program relies on.",
        "zaxy.commands.contracts",
    ),
    CommandRow(PLUGINS, "contracts snapshot", "Write the live contracts to a folder.", "zaxy.commands.contracts"),
    CommandRow(
        SETUP, "config list", "List every setting, its value and where the value came from.", "zaxy.commands.config"
    ),
    CommandRow(SETUP, "config set", "Keep a setting in the workspace.", "zaxy.commands.config"),
    CommandRow(SETUP, "config unset", "Take a setting out of the workspace.", "zaxy.commands.config"),
    CommandRow(
        SETUP, "completion", "Print a script that completes commands in a shell.", "zaxy.commands.completion", hot="run"
    ),
)
ALIASES = {"plugin": "plugins", "contract": "contracts"}
MEANT = {
    **dict.fromkeys(("search", "find", "recall", "grep"), "query"),
    **dict.fromkeys(("version", "--ver"), "--version"),
    **dict.fromkeys(("add", "note", "save", "record", "store"), "remember"),
    **dict.fromkeys(("delete", "remove", "rm", "erase"), "forget"),
    **dict.fromkeys(("history", "events"), "log"),
    **dict.fromkeys(("get", "open", "cat"), "show"),
    **dict.fromkeys(("setup", "install"), "init"),
    **dict.fromkeys(("status", "health", "check"), "doctor"),
    **dict.fromkeys(("settings", "set"), "config"),
    "question": "ask",
}
"""What people type for a command that has another name."""
