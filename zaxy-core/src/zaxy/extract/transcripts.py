"""What was said, turn by turn."""

from __future__ import annotations

from zaxy.extract.rule import Rule

RULES = {
    # Two turns may say the same; named by their text, the later one would end the earlier. `name` is the speaker's in
    # the messages of several clients.
    "transcript.turn": Rule(
        "transcript_turn",
        named_by=("key", "id"),
        texts=("summary", "content", "text", "description"),
        keeps=("role", "speaker"),
        teller="speaker",
        relation="said",
    ),
}
