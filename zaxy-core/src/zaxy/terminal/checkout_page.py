"""A checkout as a person reads it: the verdict first, then what it rests on, and what to do next."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from zaxy.assemble.judgement import ANSWER as ANSWER_SUM, ANSWER_START, TOPIC, TOPIC_START
from zaxy.assemble.quality import ANSWER, ASK, REFRESH
from zaxy.eventloom.citation import parse_citation
from zaxy.terminal.screen import BOLD, DIM, GREEN, RED, YELLOW, Terminal, plain, source_lines, wrapped


class VerdictLine(NamedTuple):
    """An answerability in plain words."""

    meaning: str
    colour: str


VERDICTS = {
    ANSWER: VerdictLine("Memory answers this", GREEN),
    REFRESH: VerdictLine("Read what is below before you answer", YELLOW),
    ASK: VerdictLine("Memory does not know", RED),
}
OF_EACH_KIND = 2

Reply = Mapping[str, Any]
Lines = list[str]


def checkout_page(reply: Reply, width: int, colour: bool) -> str:
    """`reply` is the object that every surface gives for a checkout."""
    terminal = Terminal(width, colour)
    parts = (
        verdict_lines(reply, terminal),
        fact_lines(reply, terminal),
        _conflicts(reply, terminal),
        _warnings(reply, terminal),
        _related(reply, terminal),
        _working_state(reply, terminal),
        _skills(reply, terminal),
        _next(reply, terminal),
    )
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def verdict_lines(reply: Reply, terminal: Terminal) -> Lines:
    """What the verdict means, how sure it is, and why."""
    quality = reply["quality"]
    verdict = quality["answerability"]
    meaning, colour = VERDICTS[verdict]
    said = f"{meaning}: {verdict}, confidence {quality['confidence']:.2f}."
    lines = [terminal.painted(line, BOLD, colour) for line in wrapped(said, terminal.width)]
    for reason in quality["reasons"]:
        lines += wrapped(plain(reason), terminal.width, "  ")
    return lines


def fact_lines(reply: Reply, terminal: Terminal) -> Lines:
    """Each fact with its source, and how much was left out."""
    lines = list[str]()
    for fact in reply["current_facts"]:
        lines += wrapped(plain(fact["content"]), terminal.width, "  ")
        kind = fact.get("entity_type", "").replace("_", " ")
        by = f"by {plain(fact['actor'])}" if fact.get("actor") else ""
        whose = f"{'foreign ' if fact.get('foreign') else ''}{kind} {by}".strip()
        lines += _source(whose, fact.get("valid_from", ""), fact["citation"], terminal)
        if origin := fact.get("metadata", {}).get("origin_citation"):
            lines.append(terminal.painted(f"    imported from {parse_citation(origin).short}", DIM))
        for seen in fact.get("derived", ()):
            lines += _seen(seen, terminal)
        for before in _replaced_by(reply, fact["citation"]):
            lines += wrapped(f"before: {plain(before['content'])}", terminal.width, "    ", "      ")
            lines.append(terminal.painted(f"      {before['citation']}", DIM))
    left_out = _left_out(reply)
    if left_out:
        lines += [terminal.painted(line, DIM) for line in wrapped(left_out, terminal.width, "  ")]
    return [terminal.painted("Facts" if reply["current_facts"] else "No facts", BOLD), *lines] if lines else []


def _replaced_by(reply: Reply, citation: str) -> list[dict[str, Any]]:
    """What a fact took the place of."""
    return [found for found in reply["evidence"] if found.get("replaced_by") == citation]


def _source(whose: str, time: str, citation: str, terminal: Terminal) -> Lines:
    """Who said it and when, with the citation on the same line where that fits."""
    source = plain(", ".join(filter(None, (whose, f"{time[:10]} {time[11:16]} UTC" if time else ""))))
    return source_lines(source, citation, terminal)


def _seen(row: Mapping[str, Any], terminal: Terminal) -> Lines:
    """What an extractor of a plugin sees in an event."""
    said = f"{plain(row['entity_type'])} {plain(row['entity_name'])}, as the extractor {row['extractor']} sees it"
    return [terminal.painted(line, DIM) for line in wrapped(said, terminal.width, "    ")]


def _left_out(reply: Reply) -> str:
    counted = reply["diagnostics"]
    policy = counted.get("purpose_policy", {})
    reasons = [f"{count} as {reason.replace('_', ' ')}" for reason, count in policy.get("by_reason", {}).items()]
    superseded, repeated = (counted.get(name, 0) for name in ("superseded_contexts_excluded", "duplicates_removed"))
    counts = [
        f"{superseded} superseded" if superseded else "",
        f"{repeated} repeated" if repeated else "",
        f"for the purpose {', '.join(reasons)}" if reasons else "",
    ]
    left_out = "; ".join(filter(None, counts))
    cut_off = "Some of it did not fit: --max-tokens gives it more room." if reply["truncated"] else ""
    return " ".join(filter(None, (f"Left out: {left_out}." if left_out else "", cut_off)))


def _conflicts(reply: Reply, terminal: Terminal) -> Lines:
    lines = list[str]()
    for conflict in reply["conflicts"]:
        lines += wrapped(f"{plain(conflict['about'])}:", terminal.width, "  ")
        for claim in conflict["claims"]:
            lines += wrapped(f"- {plain(claim['content'])}", terminal.width, "  ", "    ")
            lines += _source("", claim["valid_from"], claim["citation"], terminal)
    return [terminal.painted("Conflicts", BOLD, YELLOW), *lines] if lines else []


def _warnings(reply: Reply, terminal: Terminal) -> Lines:
    """Warnings and notices; of two facts that disagree the conflicts tell more."""
    pairs = [[claim["citation"] for claim in conflict["claims"]] for conflict in reply["conflicts"]]
    warned = [said for said in reply["warnings"] if not any(all(cited in said for cited in pair) for pair in pairs)]
    messages = [f"warning: {said}" for said in warned] + [f"notice: {said}" for said in reply["notices"]]
    lines = [line for said in messages for line in wrapped(plain(said), terminal.width, "  ", "    ")]
    return [terminal.painted("Warnings" if warned else "Notices", BOLD, YELLOW), *lines] if lines else []


def _related(reply: Reply, terminal: Terminal) -> Lines:
    """What may bear on the question; worth a look only where the facts are not enough."""
    facts = [fact["citation"] for fact in reply["current_facts"]]
    others = [found for found in reply["evidence"] if found.get("replaced_by") not in facts]
    if reply["quality"]["answerability"] == ANSWER or not others:
        return []
    lines = [terminal.painted("May bear on it", BOLD)]
    for found in others:
        lines += wrapped(plain(found["content"]), terminal.width, "  ")
        if newer := found.get("maybe_replaced_by"):
            lines.append(terminal.painted(f"    perhaps replaced by {newer}", DIM))
        if newer := found.get("replaced_by"):
            lines.append(terminal.painted(f"    was so before {newer}", DIM))
        for seen in found.get("derived", ()):
            lines += _seen(seen, terminal)
        foreign = "foreign " if found.get("foreign") else ""
        lines += _source(f"{foreign}{found.get('event_type', '')}", "", found["citation"], terminal)
    return lines


def _working_state(reply: Reply, terminal: Terminal) -> Lines:
    kinds = {name: items for name, items in reply["working_set"].items() if name != "source_anchors" and items}
    lines = list[str]()
    across = max(map(len, kinds), default=0) + 4
    for name, items in kinds.items():
        for number, item in enumerate(items[:OF_EACH_KIND]):
            start = f"  {'' if number else name}".ljust(across)
            lines += wrapped(plain(item["text"]), terminal.width, start, " " * across)
        if len(items) > OF_EACH_KIND:
            lines.append(f"{' ' * across}and {len(items) - OF_EACH_KIND} more")
    return [terminal.painted("Working state", BOLD), *lines] if lines else []


def _skills(reply: Reply, terminal: Terminal) -> Lines:
    found = reply["diagnostics"].get("skills", {}).get("items", [])
    lines = list[str]()
    for skill in found:
        lines += wrapped(
            f"{plain(skill['skill_id'])} {plain(skill['version'])}, {plain(skill['status'])}", terminal.width, "  "
        )
        for number, step in enumerate(skill["procedure"], 1):
            lines += wrapped(f"{number}. {plain(step)}", terminal.width, "    ", "       ")
        lines += _source("", "", skill["citation"], terminal)
    return [terminal.painted("Skills that apply", BOLD), *lines] if lines else []


def judgement_page(reply: Reply) -> str:
    """The figures that decided, as a table that a person can redo."""
    judged = reply["diagnostics"].get("judgement")
    if judged is None:
        return "The budget was too small for the figures: --max-tokens gives more room."
    rows = [f"{'figure':16} {'value':>7} {'topic':>8} {'answer':>8}"]
    for name, value in judged["figures"].items():
        parts = [f"{value * weights[name]:8.2f}" if name in weights else f"{'':8}" for weights in (TOPIC, ANSWER_SUM)]
        rows.append(f"{name.replace('_', ' '):16} {value:7.2f} {' '.join(parts)}".rstrip())
    rows.append(f"{'start':16} {'':7} {TOPIC_START:8.2f} {ANSWER_START:8.2f}")
    for row, key in (("as a share", ""), ("needed", "_needed")):
        rows.append(f"{row:16} {'':7} {judged[f'topic{key}']:8.2f} {judged[f'answer{key}']:8.2f}")
    missing = ", ".join(map(plain, judged["words_not_found"])) or "none"
    return "\n".join((*rows, f"words that no row has: {missing}"))


def _next(reply: Reply, terminal: Terminal) -> Lines:
    """What to do now, with the commands as they are typed."""
    lines = [terminal.painted("Next", BOLD)]
    for sentence, command in _steps(reply):
        lines += wrapped(sentence, terminal.width, "  ")
        if command:
            lines.append(f"    {command}")
    return lines


def _steps(reply: Reply) -> Iterable[tuple[str, str]]:
    verdict, guidance = reply["quality"]["answerability"], reply["guidance"]
    action = reply["quality"]["required_action"] or {}
    if "reminder" in guidance:
        yield plain(guidance["reminder"]), ""
    if verdict == ASK:
        yield (
            "Ask somebody who knows instead of guessing, then record what they say:",
            command_line("zaxy", "append", "fact.recorded", "--payload", '{"fact": "..."}'),
        )
        return
    if "correct" in guidance:
        yield guidance["correct"], ""
    if action:
        command = "verbatim" if action["tool"] == "memory_verbatim" else "checkout"
        yield "If none of it states the answer, look further:", ""
        for query in action.get("suggested_queries") or [action["query"]]:
            options = _purpose(action.get("purpose")) if command == "checkout" else ()
            yield "", command_line("zaxy", command, plain(query), *options)
    if reply["current_facts"]:
        cited = reply["current_facts"][0]["citation"]
        yield "See the event behind a fact:", command_line("zaxy", "show", cited)
    for payload in guidance.get("feedback", {}).get("payloads", [])[:1]:
        again = guidance.get("next", {}).get("arguments", payload)  # a preset has its name there: a shorter command
        yield "If it helped, say so:", _feedback({**payload, "purpose": again.get("purpose")})


def _feedback(payload: Mapping[str, Any]) -> str:
    name, kind = plain(payload["entity_name"]), payload["entity_type"]
    cited = ("--citation", payload["citation"]) if payload["citation"] != payload["entity_name"] else ()
    options = ("--type", kind, "--feedback", payload["feedback"], *cited)
    return command_line("zaxy", "memory", "feedback", name, *options, *_purpose(payload.get("purpose")))


def _purpose(given: str | Mapping[str, str] | None) -> tuple[str, ...]:
    """The option that gives a purpose: a preset by its name, else an object."""
    if not given:
        return ()
    return ("--purpose", given if isinstance(given, str) else plain(json.dumps(given, ensure_ascii=False)))


def command_line(*words: str) -> str:
    """Words as one types them. Double quotes, where they do: every shell knows them, also those of Windows."""
    return " ".join(_typed(word) for word in words)


def _typed(word: str) -> str:
    quoted = shlex.quote(word)
    return f'"{word}"' if quoted != word and not set(word) & set('"$`\\!%') else quoted
