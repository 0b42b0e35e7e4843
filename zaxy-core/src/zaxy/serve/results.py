"""A few words on what a tool answered, for the record of calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_SUMMARY_CHARS = 120


def summary_of(answer: Mapping[str, Any]) -> str:
    """A few words on an answer that tell nothing of what it says: for the record of tool calls."""
    error = answer.get("error")
    if isinstance(error, Mapping) and "code" in error:
        return str(error["code"])[:MAX_SUMMARY_CHARS]
    results = answer.get("results")
    if isinstance(results, list):
        return f"{len(results)} results"
    quality = answer.get("quality")
    if isinstance(quality, Mapping) and "answerability" in quality:
        return str(quality["answerability"])[:MAX_SUMMARY_CHARS]
    return f"event {answer['seq']}" if isinstance(answer.get("seq"), int) else "answered"
