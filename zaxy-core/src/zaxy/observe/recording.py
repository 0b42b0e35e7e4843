"""Who records what a client does, its hooks or capture, since when; and when recording was paused.

It stands in a small file beside the log, which each hook and each pass of capture reads. What happened counts by the
time at which it happened, so a pass that comes late leaves out what a hook recorded, and what nobody was to record.
"""

from __future__ import annotations

import os

from zaxy.errors import Conflict, InvalidRequest, Unavailable, ZaxyError
from zaxy.security.small_files import read_small_json
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

FILE, LOCK = "recording.json", ".recording.lock"
FORMAT = 1
HOOKS, CAPTURE = "hooks", "capture"
RECORDERS = (HOOKS, CAPTURE)


class Choice(NamedTuple):
    recorder: str
    since: str


class Pause(NamedTuple):
    since: str
    until: str
    """Empty while it lasts."""


class Recording(NamedTuple):
    """Times are as the log writes them, so they compare as texts."""

    choices: Mapping[str, Sequence[Choice]]
    """By client, the oldest first."""
    pauses: Sequence[Pause]

    def recorder(self, client: str, at: str) -> str:
        """Who records what a client did at a time; empty where nobody has chosen."""
        choices = self.choices.get(client, ())
        chosen = [choice.recorder for choice in choices if choice.since <= at]
        # What was before hooks were there is in the client's own files alone.
        return chosen[-1] if chosen else CAPTURE if choices else ""

    def recorder_now(self, client: str) -> str:
        choices = self.choices.get(client, ())
        return choices[-1].recorder if choices else ""

    @property
    def captures_now(self) -> bool:
        """Whether capture is chosen for a client."""
        return any(self.recorder_now(client) == CAPTURE for client in self.choices)

    def was_paused(self, at: str) -> bool:
        return any(pause.since <= at and (not pause.until or at < pause.until) for pause in self.pauses)

    @property
    def paused_since(self) -> str:
        """When the pause began that lasts; empty where there is none."""
        return next((pause.since for pause in self.pauses if not pause.until), "")


NOTHING = Recording({}, ())


def to_the_second(at: str) -> str:
    """A time as people read it."""
    return f"{at[:19]}Z"


def refusal(since: str) -> Conflict:
    """The answer to a writer during a pause."""
    return Conflict(
        f"recording is paused here since {to_the_second(since)}, so nothing was recorded",
        "'zaxy resume' goes on with it.",
    )


def why_not_recorded(eventloom: str) -> ZaxyError | None:
    """Why an agent may not write now; None where it may."""
    try:
        since = read_recording(eventloom).paused_since
    except ZaxyError as error:
        return error
    return refusal(since) if since else None


def read_recording(eventloom: str) -> Recording:
    """What the file says; nothing is chosen and nothing paused where there is none."""
    path = os.path.join(eventloom, FILE)
    try:
        kept = read_small_json(path)
        if kept["format"] != FORMAT:
            raise ValueError(f"it is not of format {FORMAT}")
        choices = {str(client): [Choice(*map(str, row)) for row in rows] for client, rows in kept["recorders"].items()}
        return Recording(choices, [Pause(*map(str, row)) for row in kept["paused"]])
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unusable(path, str(error) or "it is malformed") from None


def choose_recorder(eventloom: str, client: str, recorder: str) -> bool:
    """Let one of the two record a client from now on; whether that is new."""
    from zaxy.eventloom.log import utc_now

    if recorder not in RECORDERS:
        raise InvalidRequest(f"{recorder!r:.40} is no recorder", f"Choose one of {', '.join(RECORDERS)}.")
    if read_recording(eventloom).recorder_now(client) == recorder:
        return False

    def chosen(recording: Recording) -> Recording:
        if recording.recorder_now(client) == recorder:
            return recording
        choices = [*recording.choices.get(client, ()), Choice(recorder, utc_now())]
        return recording._replace(choices={**recording.choices, client: choices})

    _change(eventloom, chosen)
    return True


def pause(eventloom: str) -> str:
    """Record nothing from now on; since when that is so."""
    from zaxy.eventloom.log import utc_now

    def paused(recording: Recording) -> Recording:
        if recording.paused_since:
            return recording
        return recording._replace(pauses=[*recording.pauses, Pause(utc_now(), "")])

    return _change(eventloom, paused).paused_since


def resume(eventloom: str) -> Pause | None:
    """Record again; the pause that has ended, or None where there was none."""
    from zaxy.eventloom.log import utc_now

    if not read_recording(eventloom).paused_since:
        return None

    def resumed(recording: Recording) -> Recording:
        now = utc_now()
        return recording._replace(pauses=[one if one.until else one._replace(until=now) for one in recording.pauses])

    return _change(eventloom, resumed).pauses[-1]


def _change(eventloom: str, change: Callable[[Recording], Recording]) -> Recording:
    """Of two processes that change it at once, neither undoes what the other did."""
    import json

    from zaxy.atomic_write import atomic_write
    from zaxy.file_lock import locked
    from zaxy.security.paths import own_folder, unusable_folder

    own_folder(eventloom, create=True)
    with locked(os.path.join(eventloom, LOCK)):
        before = read_recording(eventloom)
        after = change(before)
        if after != before:
            try:
                atomic_write(os.path.join(eventloom, FILE), (json.dumps(_as_dict(after), indent=2) + "\n").encode())
            except OSError as error:
                raise unusable_folder(eventloom, error) from None
    return after


def _as_dict(recording: Recording) -> dict[str, Any]:
    choices = {client: [list(choice) for choice in rows] for client, rows in recording.choices.items()}
    return {"format": FORMAT, "recorders": choices, "paused": [list(pause) for pause in recording.pauses]}


def _unusable(path: str, reason: str) -> Unavailable:
    return Unavailable(
        f"{path} cannot be used: {reason}",
        "Fix it, or remove it: then nothing is paused, and 'zaxy init' chooses again who records.",
    )
