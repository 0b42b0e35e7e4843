"""When things happen: exchanges are gathered into episodes, episodes and single events into one order of time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bench.recall.conversation import ASIDES, SMALL_TALK
from bench.recall.dice import Dice

START = datetime(2025, 1, 6, tzinfo=UTC)
DAYS = 350
WINDOW = 12
"""Days within which a channel's exchanges may become one episode. What replaces something comes later than that."""
MAX_EPISODE = 6
DAY = 86_400


@dataclass(eq=False, slots=True)
class Planned:
    """An event that has no place yet."""

    type: str
    actor: str
    payload: dict[str, object]
    at: float = 0
    """Seconds since START."""
    replaces: Planned | None = None

    @property
    def moment(self) -> datetime:
        return START + timedelta(seconds=self.at)


@dataclass(slots=True)
class Exchange:
    """Turns that belong together, said in one go."""

    day: float
    channel: str
    turns: list[Planned] = field(default_factory=list)


def turn(speaker: str, text: str) -> Planned:
    role = "assistant" if speaker == "assistant" else "user"
    return Planned(
        "transcript.turn", speaker, {"role": role, "speaker": speaker, "content": text[0].upper() + text[1:]}
    )


class Agenda:
    def __init__(self, dice: Dice, people: list[str]) -> None:
        self._dice = dice
        self._people = people
        self._events: list[Planned] = []
        self._exchanges: list[Exchange] = []

    def note(self, day: float, type_: str, actor: str, payload: dict[str, object]) -> Planned:
        """A single event, some time on that day."""
        event = Planned(type_, actor, payload, self._moment(day))
        self._events.append(event)
        return event

    def talk(self, day: float, channel: str, *lines: tuple[str, str]) -> list[Planned]:
        """An exchange of (speaker, text)."""
        exchange = Exchange(day, channel, [turn(speaker, self._at_length(text)) for speaker, text in lines])
        self._exchanges.append(exchange)
        return exchange.turns

    def in_order(self) -> list[Planned]:
        """All events, oldest first, each with its time."""
        before = 0.0
        for number, episode in enumerate(self._episodes()):
            start = self._moment(episode[0].day)
            if self._dice.chance(0.2) and abs(start - before) < 2 * DAY:
                start = before + self._dice.whole(10, 200)  # two channels talk at the same time
            before = start
            self._hold(episode, number, start)
        order = sorted(self._events, key=lambda event: event.at)
        counts: dict[object, int] = {}
        for event in order:
            event.payload["occurred_at"] = event.moment.strftime("%Y-%m-%dT%H:%M:%S.000000Z")
            if event.type == "transcript.turn":
                source = event.payload["source"]
                event.payload["turn_index"] = counts[source] = counts.get(source, -1) + 1
        return order

    def _moment(self, day: float) -> float:
        day = int(day) - max(0, int(day) % 7 - 4)  # not on weekends: START is a Monday
        return day * DAY + self._dice.whole(8 * 3600, 17 * 3600)

    def _episodes(self) -> list[list[Exchange]]:
        open_ones: dict[str, list[Exchange]] = {}
        episodes = []
        for exchange in sorted(self._exchanges, key=lambda one: one.day):
            episode = open_ones.get(exchange.channel)
            if episode is None or exchange.day - episode[0].day > WINDOW or len(episode) == MAX_EPISODE:
                episode = open_ones[exchange.channel] = []
                episodes.append(episode)
            episode.append(exchange)
        return sorted(episodes, key=lambda episode: episode[0].day)

    def _hold(self, episode: list[Exchange], number: int, start: float) -> None:
        channel = episode[0].channel
        source = f"{channel}/{number}" if channel in ("call", "agent") else channel
        at = start
        for exchange in self._dice.shuffled(episode):
            turns = [self._aside()] if self._dice.chance(0.45) else []
            for one in exchange.turns:
                if one is not exchange.turns[0] and self._dice.chance(0.12):
                    turns.append(self._aside())
                turns.append(one)
            for one in turns:
                at += self._dice.whole(15, 90)
                one.at = at
                one.payload["source"] = source
                self._events.append(one)

    def _at_length(self, text: str) -> str:
        """People rarely say one thing only."""
        if not self._dice.chance(0.6):
            return text
        aside = self._dice.pick(ASIDES)
        return f"{text} {aside}" if self._dice.chance(0.7) else f"{aside} {text}"

    def _aside(self) -> Planned:
        return turn(self._dice.pick(self._people), self._dice.pick(SMALL_TALK))
