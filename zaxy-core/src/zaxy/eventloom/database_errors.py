"""What an error says of the SQLite file in which it came up: broken, only busy, or our own mistake."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
SIGNS_OF_EDITS = ("no such ", "malformed JSON", "Could not decode to UTF-8", "invalid fts5 file format")
"""In messages of SQLite and of Python's module, about files that only somebody else can have made so."""
MISTAKES = (sqlite3.ProgrammingError, sqlite3.DataError, sqlite3.NotSupportedError)
"""Of our own code: the file is as good as before."""
SUSPICIOUS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, sqlite3.IntegrityError)
"""What a read or a change meets in rows that no follower writes, or by a mistake in our own code: the first time the
file is built again, and what then comes again at the same place is a mistake."""
CHANGED = "a row was changed by somebody else"
MISSING = "a row is missing"


class Unsealed(Exception):
    """A row does not hold its seal, is missing, or is not what any row of ours can be."""


class Unusable(Exception):
    """What stands in the file's place is not ours, or not of this format."""


def is_broken(error: Exception) -> bool:
    if isinstance(error, (Unusable, Unsealed, UnicodeDecodeError)) or result_code(error) in BROKEN:
        return True
    return isinstance(error, sqlite3.DatabaseError) and str(error).startswith(SIGNS_OF_EDITS)


def reason_of(error: Exception) -> str:
    """What is wrong, in words that quote nothing of what the file holds."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode"):
        return "it has bytes that are no text"
    if isinstance(error, SUSPICIOUS):  # its own message may quote what was recorded
        return f"{type(error).__name__} in {_place_of(error.__traceback__)}"
    return "its schema was changed" if str(error).startswith("malformed database schema") else str(error)


def _place_of(trace: TracebackType | None) -> str:
    """The innermost line of code at which an error came up."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{os.path.basename(trace.tb_frame.f_code.co_filename)}, line {trace.tb_lineno}" if trace else "no line"


def result_code(error: Exception) -> int:
    """SQLite's primary result code; 0 for errors of the Python module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
