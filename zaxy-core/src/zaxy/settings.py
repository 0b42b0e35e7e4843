"""Every setting in one table, and how a value is found: environment, secret file, the user's own file, workspace,
default.

The hot commands read settings, so this module imports next to nothing.
"""

from __future__ import annotations

import os

from zaxy.errors import InvalidRequest, ZaxyError
from zaxy.security.small_files import read_named_file
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

KINDS = ("string", "integer", "number", "boolean", "path", "list")
TRUE_WORDS = ("1", "true", "yes", "on")
FALSE_WORDS = ("0", "false", "no", "off")
MASK = "********"
FILES_STORE = "jsonl"
"""The built-in event store."""


class Setting(NamedTuple):
    env: str
    kind: str
    default: object
    meaning: str
    secret: bool = False
    environment_only: bool = False
    """Not read from any file, because it decides which files those are."""
    in_workspace: bool = False
    """Whether a workspace's own file may set it: only what can reach no network, key, path, program or gate. A
    workspace may come from elsewhere, or be changed by others who work on the same project."""
    stability: str = "experimental"
    since: str = "0.1"
    owner: str = "zaxy-core"
    bounds: tuple[float, float] | None = None
    """The least and the most that a number may be; its meaning says them too."""


class Value(NamedTuple):
    setting: Setting
    value: object
    source: str
    """Where it came from: `default`, `workspace`, `user`, `environment` or `file <path>`."""
    problem: str = ""
    """Why there is no value, in a listing of all of them."""

    @property
    def shown(self) -> object:
        return MASK if self.setting.secret and self.value is not None else self.value


SETTINGS = (
    Setting(
        "EVENTLOOM_PATH",
        "path",
        None,
        "The folder that holds the log. Default: `.eventloom` in the workspace.",
        environment_only=True,
    ),
    Setting(
        "EVENTLOOM_THREAD",
        "string",
        None,
        "The session that is used when none is named. Default: the domain and `-default`.",
        in_workspace=True,
    ),
    Setting(
        "ZAXY_STATE_DIR",
        "path",
        None,
        "The folder for what is the user's and not a workspace's, such as the key that followers are sealed with. "
        "Default: `zaxy` where this system keeps such things.",
        environment_only=True,
    ),
    Setting(
        "ZAXY_DOMAIN",
        "string",
        None,
        "Keeps the default sessions of projects apart. Default: made from the folder's name when its memory began.",
        in_workspace=True,
    ),
    Setting(
        "ZAXY_EVENT_STORE",
        "string",
        FILES_STORE,
        "Where the log is kept: `jsonl`, the files of the workspace, or the name of an installed store.",
    ),
    Setting(
        "PROJECTION_BACKEND",
        "string",
        "embedded",
        "The graph store: `embedded` for the workspace's in-process engine, or the name of an installed one.",
    ),
    Setting(
        "ZAXY_EMBEDDED_ENGINE",
        "string",
        "sqlite",
        "The engine that `embedded` means: `sqlite`, built in, or that of an installed package, such as `kuzu`.",
        in_workspace=True,
    ),
    Setting(
        "ZAXY_PLUGINS_DISABLE",
        "list",
        (),
        "Plugins (or the packages that ship them) that must not be imported, separated by commas.",
    ),
    Setting(
        "ZAXY_PLUGINS_PREFER",
        "list",
        (),
        "Which package wins where two provide the same name: `point:name=package`, separated by commas.",
    ),
    Setting(
        "ZAXY_PLUGINS_STRICT",
        "boolean",
        False,
        "Raise when any installed plugin is broken, instead of working on without it.",
        in_workspace=True,
    ),
    Setting(
        "ZAXY_PLUGINS_BUDGET",
        "number",
        10.0,
        "Seconds that a plugin may take to import, to be made, or to answer a call that has no budget of its own.",
        in_workspace=True,
    ),
    Setting(
        "ZAXY_LANES",
        "list",
        (),
        "The lanes of plugins that take part, such as `vectors`, or `none`. Default: all that are installed.",
        in_workspace=True,
    ),
    Setting(
        "ZAXY_LANE_WEIGHTS",
        "list",
        (),
        "How much lanes of plugins count, from 0 (not asked) to 1: `lane=weight`, separated by commas.",
    ),
    Setting(
        "ZAXY_ENV",
        "string",
        "development",
        "`production` asks for the admin token where history is read or ended, and for authentication on a network.",
    ),
    Setting(
        "ZAXY_TOOL_PROFILE",
        "string",
        "core",
        "Which tools the MCP server lists: `core`, `coordinate`, `full` or `compact`. All can be called always.",
        in_workspace=True,
    ),
    Setting(
        "ZAXY_MAX_CALLS_PER_MINUTE",
        "integer",
        6000,
        "How many tool calls the MCP server takes in a minute, of all its clients together.",
    ),
    Setting(
        "ZAXY_HTTP_AUTH",
        "string",
        None,
        "The installed provider that decides who may use the server over HTTP. Default: every program of this machine.",
    ),
    Setting(
        "ZAXY_HTTP_ALLOWED_ORIGINS",
        "list",
        (),
        "Origins besides loopback ones that may call the server over HTTP, separated by commas.",
    ),
    Setting(
        "ZAXY_HTTP_REQUIRE_ORIGIN",
        "boolean",
        False,
        "Refuse HTTP requests without an Origin header, which programs other than browsers send.",
    ),
    Setting(
        "ZAXY_HTTP_MAX_CONNECTIONS",
        "integer",
        256,
        "Connections that the HTTP server holds at a time, 4 to 10,000. For one more, the one that is idle longest is "
        "closed.",
        bounds=(4, 10_000),
    ),
    Setting(
        "ZAXY_HTTP_MAX_SESSIONS",
        "integer",
        1000,
        "Sessions of HTTP clients at a time, 1 to 100,000. For one more, the one that is unused longest is ended.",
        bounds=(1, 100_000),
    ),
    Setting(
        "ZAXY_HTTP_REQUEST_SECONDS",
        "number",
        20.0,
        "Seconds within which an HTTP request must arrive whole, headers and body, and its reply be read on: 0.1 to "
        "3,600.",
        bounds=(0.1, 3600),
    ),
    Setting(
        "ZAXY_HTTP_SESSION_SECONDS",
        "number",
        1800.0,
        "Seconds without a request or an open stream after which a session of an HTTP client is ended: 0.1 to 604,800.",
        bounds=(0.1, 604_800),
    ),
    Setting(
        "MCP_LIFECYCLE_CAPTURE_ENABLED",
        "boolean",
        True,
        "Record each tool call (its name, status and argument names) and the end of a server's session.",
        in_workspace=True,
    ),
    Setting(
        "MCP_ADMIN_TOKEN",
        "string",
        None,
        "The token that `memory_replay`, `memory_invalidate` and `memory_export` need where it is set, and always in "
        "production.",
        secret=True,
    ),
)


class Stored(NamedTuple):
    """What files say of settings."""

    workspace: Mapping[str, object] = {}
    """In the workspace's own file, which may set only some of them."""
    here: Mapping[str, object] = {}
    """In the user's own file, for this workspace."""
    everywhere: Mapping[str, object] = {}
    """In the user's own file, for all workspaces."""

    def found(self, setting: Setting) -> tuple[object, str] | None:
        """The value and who keeps it, nearest first; None where nobody does."""
        if setting.secret or setting.environment_only:
            return None
        if setting.env in self.here:
            return self.here[setting.env], "user"
        if setting.in_workspace and setting.env in self.workspace:
            return self.workspace[setting.env], "workspace"
        return (self.everywhere[setting.env], "user") if setting.env in self.everywhere else None

    def kept(self, env: str) -> object:
        """What is kept of a setting for this workspace; None where nothing is."""
        return self.here.get(env, self.workspace.get(env) if may_be_in_workspace(env) else None)

    def changed(self, changes: Mapping[str, object]) -> Stored:
        """The same as if the user had set these here; None takes one out."""
        kept = {env: value for env, value in {**self.here, **changes}.items() if value is not None}
        left = {env: value for env, value in self.workspace.items() if env not in changes}
        return self._replace(here=kept, workspace=left)


NOTHING_STORED = Stored()


def may_be_in_workspace(env: str) -> bool:
    """Whether a workspace's own file may set a setting of the core."""
    return any(setting.env == env and setting.in_workspace for setting in SETTINGS)


def _looked_up(env: str) -> Any:
    """A setting of the core as an attribute of `Settings`: parsing it gave it the type that its kind has."""
    return property(lambda settings: settings[env])


class Settings:
    """The values of known settings, each with its source.

    `stored` is what files say; `declared` are the settings of installed plugins. A setting of the core is an
    attribute too, named as its variable without `ZAXY_` or `MCP_`. It is looked up each time it is read.
    """

    eventloom_path: str | None = _looked_up("EVENTLOOM_PATH")
    eventloom_thread: str | None = _looked_up("EVENTLOOM_THREAD")
    state_dir: str | None = _looked_up("ZAXY_STATE_DIR")
    domain: str | None = _looked_up("ZAXY_DOMAIN")
    event_store: str = _looked_up("ZAXY_EVENT_STORE")
    projection_backend: str = _looked_up("PROJECTION_BACKEND")
    embedded_engine: str = _looked_up("ZAXY_EMBEDDED_ENGINE")
    plugins_disable: tuple[str, ...] = _looked_up("ZAXY_PLUGINS_DISABLE")
    plugins_prefer: tuple[str, ...] = _looked_up("ZAXY_PLUGINS_PREFER")
    plugins_strict: bool = _looked_up("ZAXY_PLUGINS_STRICT")
    plugins_budget: float = _looked_up("ZAXY_PLUGINS_BUDGET")
    lanes: tuple[str, ...] = _looked_up("ZAXY_LANES")
    lane_weights: tuple[str, ...] = _looked_up("ZAXY_LANE_WEIGHTS")
    env: str = _looked_up("ZAXY_ENV")
    tool_profile: str = _looked_up("ZAXY_TOOL_PROFILE")
    max_calls_per_minute: int = _looked_up("ZAXY_MAX_CALLS_PER_MINUTE")
    http_auth: str | None = _looked_up("ZAXY_HTTP_AUTH")
    http_allowed_origins: tuple[str, ...] = _looked_up("ZAXY_HTTP_ALLOWED_ORIGINS")
    http_require_origin: bool = _looked_up("ZAXY_HTTP_REQUIRE_ORIGIN")
    http_max_connections: int = _looked_up("ZAXY_HTTP_MAX_CONNECTIONS")
    http_max_sessions: int = _looked_up("ZAXY_HTTP_MAX_SESSIONS")
    http_request_seconds: float = _looked_up("ZAXY_HTTP_REQUEST_SECONDS")
    http_session_seconds: float = _looked_up("ZAXY_HTTP_SESSION_SECONDS")
    lifecycle_capture_enabled: bool = _looked_up("MCP_LIFECYCLE_CAPTURE_ENABLED")
    admin_token: str | None = _looked_up("MCP_ADMIN_TOKEN")

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        stored: Stored = NOTHING_STORED,
        declared: Iterable[Setting] = (),
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._stored = stored
        self._known = {setting.env: setting for setting in (*declared, *SETTINGS)}

    def __getitem__(self, env: str) -> object:
        return self.find(env).value

    def find(self, env: str) -> Value:
        return self.resolve(self.known(env))

    def known(self, env: str) -> Setting:
        if env in self._known:
            return self._known[env]
        raise InvalidRequest(
            f"{env} is not a setting of Zaxy or of an installed plugin",
            "Run 'zaxy config list' to see them all.",
        )

    def all(self) -> list[Value]:
        """Every setting, also those whose value is wrong: these carry the problem instead."""
        return [self._listed(setting) for setting in sorted(self._known.values(), key=_listing_order)]

    def _listed(self, setting: Setting) -> Value:
        try:
            return self.resolve(setting)
        except ZaxyError as error:
            found = self._stored.found(setting)
            source = "environment" if self._environ.get(setting.env) or not found else found[1]
            return Value(setting, None, source, error.message)

    def lenient(self) -> Settings:
        """The same, without strictness: for the command that looks for what is broken."""
        copy = Settings({**self._environ, "ZAXY_PLUGINS_STRICT": "0"}, self._stored)
        copy._known = self._known
        return copy

    def resolve(self, setting: Setting) -> Value:
        direct = self._environ.get(setting.env)
        named_file = self._environ.get(setting.env + "_FILE") if setting.secret else None
        if direct and named_file:
            raise InvalidRequest(
                f"{setting.env} and {setting.env}_FILE are both set",
                f"Unset {setting.env}: a secret in a file does not show in process listings.",
            )
        if named_file:
            return Value(setting, _not_empty(setting, _read_secret(setting, named_file)), f"file {named_file}")
        if direct:
            given = _not_empty(setting, direct) if setting.secret else parse(setting, direct)
            return Value(setting, given, "environment")
        found = self._stored.found(setting)
        if found:
            return Value(setting, parse(setting, found[0]), found[1])
        default = setting.default
        return Value(setting, parse(setting, default) if isinstance(default, str) else default, "default")


def parse(setting: Setting, given: object) -> object:
    """The typed value of what was given as text (environment) or as JSON (a file)."""
    text = given.strip() if isinstance(given, str) else given
    if setting.kind == "list":
        items = text.split(",") if isinstance(text, str) else text
        if isinstance(items, list | tuple) and all(isinstance(item, str) for item in items):
            return tuple(item.strip() for item in items if item.strip())
    elif setting.kind == "boolean":
        if isinstance(text, bool):
            return text
        if isinstance(text, str) and text.lower() in TRUE_WORDS + FALSE_WORDS:
            return text.lower() in TRUE_WORDS
    elif setting.kind in ("integer", "number"):
        number = _number(setting.kind, text)
        if number is not None:
            return _within_bounds(setting, number)
    elif isinstance(text, str):
        return os.path.expanduser(text) if setting.kind == "path" else text
    shown = MASK if setting.secret else repr(given)
    article = "an" if setting.kind == "integer" else "a"
    one_of = f"one of {', '.join(TRUE_WORDS + FALSE_WORDS)}"
    wanted = one_of if setting.kind == "boolean" else f"{article} {setting.kind}"
    raise InvalidRequest(
        f"{setting.env} is {shown}, which is not {wanted}",
        f"Set {setting.env} to {wanted}, or unset it. 'zaxy config list' shows what it means.",
    )


def value_text(value: object) -> str:
    """A value as people would type it."""
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(kind: str, text: object) -> int | float | None:
    if isinstance(text, bool):
        return None
    try:
        number = float(text) if kind == "number" else int(text)  # type: ignore[arg-type, call-overload]
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(text, float) and number != text:
        return None
    return number if number == number and abs(number) != float("inf") else None


def _within_bounds(setting: Setting, number: float) -> float:
    if setting.bounds is None or setting.bounds[0] <= number <= setting.bounds[1]:
        return number
    lowest, highest = setting.bounds
    raise InvalidRequest(
        f"{setting.env} is {number}, and must be from {lowest:,} to {highest:,}",
        f"Set {setting.env} within these bounds, or unset it. 'zaxy config list' shows what it means.",
    )


def _not_empty(setting: Setting, given: str) -> object:
    """The value of a secret. One of nothing but spaces would protect nothing while it seems to."""
    if given.strip():
        return parse(setting, given)
    raise InvalidRequest(
        f"{setting.env} is set, and empty",
        f"Put the secret into {setting.env} or into the file that {setting.env}_FILE names, or unset both.",
    )


def _read_secret(setting: Setting, path: str) -> str:
    try:
        return read_named_file(path).decode("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidRequest(
            f"{setting.env}_FILE names {path}, which cannot be read: {reason}",
            f"Point {setting.env}_FILE at a readable file that holds only the secret.",
        ) from None


def _listing_order(setting: Setting) -> tuple[bool, str, str]:
    return (setting.owner != "zaxy-core", setting.owner, setting.env)
