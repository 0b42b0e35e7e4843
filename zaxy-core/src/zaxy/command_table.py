"""The built-in commands: what is typed, a sentence on it, and the module that holds it. Nothing else is imported."""

from __future__ import annotations


class CommandRow:
    """A row of the table. The target is a module, or what a manifest would name, and is then run as that is run.

    Of modules, `hot` names the function of a command that does without typer; the others have its app.
    """

    def __init__(self, words: str, summary: str, target: str, hot: str = "") -> None:
        self.words = words
        self.summary = summary
        self.module, _, self.attribute = target.partition(":")
        self.hot = hot


FOLLOWERS = "zaxy.commands.followers:FollowersCommands"
LOG = "zaxy.commands.log:LogCommands"
MEMORY = "zaxy.commands.memory:MemoryCommands"
SYNTHESIS = "zaxy.commands.synthesis:SynthesisCommands"
REFS = "zaxy.commands.refs:RefsCommands"
CHECKOUT = "Get what is true now on a question, cited, and whether it is enough to answer."
COMMANDS = (
    CommandRow(
        "demo", "Show in a temporary folder what memory does; nothing of yours is touched.", "zaxy.commands.demo"
    ),
    CommandRow("init", "Set up a project: clients, hooks, capture; or take it out again.", "zaxy.commands.init"),
    CommandRow("doctor", "Check everything that memory needs, and fix it.", "zaxy.commands.doctor"),
    CommandRow("trust", "Take in a memory that came from elsewhere, such as with a repository.", "zaxy.commands.trust"),
    CommandRow("append", "Append one event to a session's log.", "zaxy.commands.append:append"),
    CommandRow("replay", "Print a session's events from its log, or from a log file.", LOG),
    CommandRow("tail", "Print the last events of a session, and new ones as they come.", LOG),
    CommandRow("sessions", "List the sessions of the workspace.", LOG),
    CommandRow("stats", "Show what memory holds, and how many tokens it cost.", "zaxy.commands.stats:stats"),
    CommandRow("verify", "Prove that a log is whole: every byte, digest, hash and link.", LOG),
    CommandRow("repair", "Cut what an interrupted writer left, and let a session be written again.", LOG),
    CommandRow("forget", "Erase one event's payload for good; the chain still verifies.", LOG),
    CommandRow("checkout", CHECKOUT, "zaxy.commands.checkout:checkout"),
    CommandRow("query", "Ask memory a question: what holds now, or held at a time.", "zaxy.commands.recall:query"),
    CommandRow(
        "verbatim",
        "Find passages of the log by their words, as they were written.",
        "zaxy.commands.recall:verbatim",
    ),
    CommandRow(
        "invalidate",
        "End what is held to be true of an entity; history keeps it.",
        "zaxy.commands.recall:invalidate",
    ),
    CommandRow("show", "Open the event behind a citation.", "zaxy.commands.show:show"),
    CommandRow("memory checkout", CHECKOUT, "zaxy.commands.checkout:checkout"),
    CommandRow("memory bootstrap", "Print what a session gets at its start.", MEMORY),
    CommandRow("memory capabilities", "Print what memory can do, and how it stands.", MEMORY),
    CommandRow("memory feedback", "Say whether a memory was of use.", MEMORY),
    CommandRow("memory skill", "Record a step in the life of a reusable procedure.", MEMORY),
    CommandRow("memory synthesis-artifact", "Record the composed answer of a checkout.", SYNTHESIS),
    CommandRow("memory synthesis-evidence", "Say what became of one row of a composed answer.", SYNTHESIS),
    CommandRow(
        "serve", "Serve memory to agents over MCP, on stdio or on loopback HTTP.", "zaxy.commands.serve", hot="run"
    ),
    CommandRow("ide-config", "Print or install the MCP configuration of a client.", "zaxy.commands.ide_config"),
    CommandRow("followers status", "Show how far the followers are behind the log.", FOLLOWERS),
    CommandRow("followers catch-up", "Bring all followers up to the log, also slow ones.", FOLLOWERS),
    CommandRow("followers rebuild", "Rebuild followers from the log as it is.", FOLLOWERS),
    CommandRow("followers verify", "Check every row that the followers hold.", FOLLOWERS),
    CommandRow("followers digest", "Print a hash over all that each follower holds.", FOLLOWERS),
    CommandRow("pause", "Record nothing in a workspace until 'zaxy resume'.", "zaxy.commands.recording"),
    CommandRow("resume", "Record again after 'zaxy pause'.", "zaxy.commands.recording"),
    CommandRow(
        "hook-event",
        "Record what a client's hook reports; silent, and never in a client's way.",
        "zaxy.commands.hook_event",
        hot="run",
    ),
    CommandRow(
        "hook-context",
        "Print where the work stands, for the first prompt of a client's session.",
        "zaxy.commands.hook_context",
        hot="run",
    ),
    CommandRow("hooks", "Print or write the hook configuration of a client.", "zaxy.commands.hooks"),
    CommandRow("hook-status", "Show which hooks are installed, and what they record.", "zaxy.commands.hook_status"),
    CommandRow("capture-soak", "Prove that every kind of observation arrives.", "zaxy.commands.hook_status"),
    CommandRow("capture start", "Watch what clients write, in the background, and record it.", "zaxy.commands.capture"),
    CommandRow("capture status", "Show whether the watcher runs, and what it has captured.", "zaxy.commands.capture"),
    CommandRow("capture once", "Record what clients have written in this project so far.", "zaxy.commands.capture"),
    CommandRow("capture stop", "Stop the watcher, and wait until it has ended.", "zaxy.commands.capture"),
    CommandRow("capture soak", "Prove that every kind of observation arrives.", "zaxy.commands.hook_status"),
    CommandRow("codex-capture", "Record what Codex has written since the last time.", "zaxy.commands.capture"),
    CommandRow("refs list", "List the refs of a session.", REFS),
    CommandRow("refs update", "Make a ref name an event.", REFS),
    CommandRow("refs resolve", "Print the event that a ref names.", REFS),
    CommandRow(
        "plugins list",
        "List the installed plugins, without importing any.",
        "zaxy.commands.plugins_list",
        hot="run",
    ),
    CommandRow(
        "plugins show", "Show one plugin: what it provides and needs, and its settings.", "zaxy.commands.plugins"
    ),
    CommandRow(
        "plugins check",
        "Import plugins and prove that they do what their manifests say.",
        "zaxy.commands.plugins",
    ),
    CommandRow("contracts list", "List the published contracts and what is in them.", "zaxy.commands.contracts"),
    CommandRow(
        "contracts check",
        "Compare the live code with the snapshots, or with a pinned contract.",
        "zaxy.commands.contracts",
    ),
    CommandRow("contracts diff", "Compare two snapshots and tell additions from breaks.", "zaxy.commands.contracts"),
    CommandRow(
        "contracts pin",
        "Write down the part of the contracts that a plugin, a client or a program relies on.",
        "zaxy.commands.contracts",
    ),
    CommandRow("contracts snapshot", "Write the live contracts to a folder.", "zaxy.commands.contracts"),
    CommandRow("config list", "List every setting, its value and where the value came from.", "zaxy.commands.config"),
    CommandRow("config set", "Keep a setting in the workspace.", "zaxy.commands.config"),
    CommandRow("config unset", "Take a setting out of the workspace.", "zaxy.commands.config"),
    CommandRow(
        "completion", "Print a script that completes commands in a shell.", "zaxy.commands.completion", hot="run"
    ),
)
ALIASES = {"plugin": "plugins", "contract": "contracts"}
