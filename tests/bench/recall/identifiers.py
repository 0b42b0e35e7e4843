"""Two hundred identifiers among siblings that differ in a character or two, with punctuation around them."""

from __future__ import annotations

from bench.recall.dice import Dice
from bench.recall.histories import Happening

IDENTIFIERS = 200
FORMS = (
    "Look at {i}, please, before the others do.",
    "We talked about this ({i}) on Monday.",
    "Somebody wrote '{i}' on the board.",
    "{i}: nobody knows what it was for.",
    "It all began with `{i}`; then came the rest.",
    "Is it [{i}]? I thought so.",
    "After “{i}” the log is silent.",
    "Not again, {i}!",
    "See <{i}> for the story.",
    "The last line says {i}.",
)
QUESTIONS = ("{i}", "What about {i}?", "Where was {i} mentioned?", "Do we know anything on {i}?")
FOLDERS = "src lib app tools server client".split()
PACKAGES = "zaxy billing search export gateway".split()
MODULES = "core cores core_test main models model views index".split()
ENDINGS = "py pyi ts tsx rs go".split()
NOUNS = "LOG CACHE QUEUE INDEX WORKER BATCH".split()
ATTRIBUTES = "LEVEL LEVELS SIZE LIMIT LIMITS PATH PATHS".split()


def _digits(dice: Dice, count: int, among: str = "0123456789") -> str:
    return "".join(dice.pick(among) for _ in range(count))


def _family(dice: Dice, kind: int) -> list[str]:
    """Identifiers of one kind that are easily taken for each other."""
    if kind == 0:
        number = dice.whole(100, 900)
        return [f"ZX-{number:06}", f"ZX-{number + 1:06}", f"ZX-{number:05}", f"ZY-{number:06}", f"ZX-{number * 10:06}"]
    if kind == 1:
        folder, package, ending = dice.pick(FOLDERS), dice.pick(PACKAGES), dice.pick(ENDINGS)
        return [f"{folder}/{package}/{module}.{ending}" for module in dice.some(MODULES, 4)] + [
            f"{package}/{folder}/core.{ending}"
        ]
    if kind == 2:
        number = dice.whole(1000, 8998)
        return [f"E{number}", f"E{number + 1}", f"E{number}1", f"W{number}", f"E0{number}"]
    if kind == 3:
        major, minor, patch = dice.whole(1, 9), dice.whole(10, 30), dice.whole(1, 9)
        versions = (
            (major, minor, patch),
            (major, minor, patch * 10),
            (patch + 9, minor, major),
            (major, minor + 31, patch),
        )
        return [f"v{one}.{two}.{three}" for one, two, three in versions]
    if kind == 4:
        stem = _digits(dice, 10, "0123456789abcdef")
        return [f"{stem}a1", f"{stem}a2", f"{stem}1a", f"b{stem}a"]
    if kind == 5:
        noun = dice.pick(NOUNS)
        return [f"ZAXY_{noun}_{attribute}" for attribute in dice.some(ATTRIBUTES, 4)] + [f"{noun}_ZAXY_LEVEL"]
    host = f"db-{_digits(dice, 2)}"
    return [f"{host}.eu.example.net", f"{host}.us.example.net", f"{host}a.eu.example.net", f"x{host}.eu.example.net"]


def make_identifiers() -> tuple[list[Happening], list[tuple[str, int]]]:
    """The events, and questions each with the one event that must come first."""
    dice = Dice(200)
    known: dict[str, None] = {}
    round_ = 0
    while len(known) < IDENTIFIERS:
        known |= dict.fromkeys(_family(dice, round_ % 7))
        round_ += 1
    chosen = dice.shuffled(list(known)[:IDENTIFIERS])
    events = [Happening("fact.recorded", "assistant", {"fact": dice.pick(FORMS).format(i=one)}) for one in chosen]
    return events, [(dice.pick(QUESTIONS).format(i=one), seq) for seq, one in enumerate(chosen, 1)]
