"""What a command is given in a file or on standard input, in the place of an argument."""

from __future__ import annotations

import sys

from zaxy.errors import InvalidRequest, NotFound

MAX_BYTES = 32 << 20
BOM = "\ufeff"


def given_text(text: str) -> str:
    """The text itself, that of a file for `@file`, what is piped in for `-`. A byte order mark is passed over."""
    if text == "-":
        stream = getattr(sys.stdin, "buffer", None)
        data = stream.read() if stream is not None else sys.stdin.read().encode()
    elif text.startswith("@"):
        from zaxy.security.small_files import read_named_file

        try:
            data = read_named_file(text[1:], MAX_BYTES)
        except OSError as error:
            raise NotFound(
                f"{text[1:]} cannot be read: {error.strerror or error}", "Name a file behind the @."
            ) from None
    else:
        return text
    try:
        return str(data, "utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequest("what was given is not UTF-8 text", "Save it as UTF-8 and try again.") from None
