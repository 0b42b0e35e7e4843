"""The one error type: what went wrong, under which code, and what to do next."""

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
    """An error to be shown to a person or a model; raised where it is known, rendered once at the edge."""

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
