"""Errors to be shown to a person or a model: what went wrong, of which kind, and what to do next."""

from __future__ import annotations

CODES = {
    "unknown_tool": "There is no tool of that name.",
    "invalid_request": "The request itself is wrong: a value is missing, malformed or out of range.",
    "not_found": "What was asked for is not there.",
    "conflict": "It contradicts what is already there.",
    "forbidden": "It is not allowed here.",
    "too_large": "It exceeds a documented bound.",
    "unavailable": "Something that is needed does not work at the moment.",
    "internal_error": "A defect in Zaxy or in a plugin.",
}


def shown(value: object) -> str:
    """What a caller sent, as a message shows it: short and printable, and no more than its kind if it is no text."""
    return f"{value!r:.80}" if type(value) is str else f"{type(value).__name__} (not a text)"


class ZaxyError(Exception):
    """The base of all errors; raised where it is known, rendered once at the edge."""

    def __init__(self, code: str, message: str, remediation: str) -> None:
        if code not in CODES:
            raise ValueError(f"{code!r} is not an error code; the codes are {', '.join(CODES)}")
        super().__init__(message)
        self.code = code
        self.message = message
        self.remediation = remediation

    def as_dict(self) -> dict[str, dict[str, str]]:
        return {"error": {"code": self.code, "message": self.message, "remediation": self.remediation}}

    @property
    def exit_code(self) -> int:
        """2 when the caller used the command wrongly, 1 when the thing asked for is not so."""
        return 2 if self.code == "invalid_request" else 1


class _OfOneCode(ZaxyError):
    own_code: str

    def __init__(self, message: str, remediation: str) -> None:
        super().__init__(self.own_code, message, remediation)


class UnknownTool(_OfOneCode):
    own_code = "unknown_tool"


class InvalidRequest(_OfOneCode):
    own_code = "invalid_request"


class NotFound(_OfOneCode):
    own_code = "not_found"


class Conflict(_OfOneCode):
    own_code = "conflict"


class CannotImport(Conflict):
    """One of the events to import is not acceptable, and so none was imported."""


class Forbidden(_OfOneCode):
    own_code = "forbidden"


class TooLarge(_OfOneCode):
    own_code = "too_large"


class Unavailable(_OfOneCode):
    own_code = "unavailable"


class InternalError(_OfOneCode):
    own_code = "internal_error"


def error_of(code: str, message: str, remediation: str) -> ZaxyError:
    """The error of a code that came from elsewhere: a server's reply, a plugin."""
    for kind in _OfOneCode.__subclasses__():
        if kind.own_code == code:
            return kind(message, remediation)
    return ZaxyError(code, message, remediation)
