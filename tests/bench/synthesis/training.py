"""Somebody trains: distances and durations in fields and in talk, and a few dated events."""

from __future__ import annotations

from random import Random

from bench.synthesis.history import Asked, History, Writer, later, noon

WORDS = {
    "en": {
        "run": "run",
        "swim": "swimming",
        "ride": "ride",
        "swam": "Swimming for {minutes} minutes on {day}",
        "ridden": "Today's ride was {km} km long.",
        "checkup": "The checkup with the sports doctor took place",
        "race": "The spring race took place",
        "shoes": "The new running shoes arrived",
        "distance": "How many kilometers did I run in {month}?",
        "count": "How many runs were there in {month}?",
        "average": "How many minutes of swimming was it on average?",
        "between": "How many days passed between the checkup and the spring race?",
        "order": "In which order came the spring race, the running shoes and the checkup?",
    },
    "de": {
        "run": "Lauf",
        "swim": "Schwimmen",
        "ride": "Radtour",
        "swam": "{minutes} Minuten Schwimmen am {day}",
        "ridden": "Die heutige Radtour war {km} km lang.",
        "checkup": "Die Untersuchung beim Sportarzt fand statt",
        "race": "Der Frühlingslauf fand statt",
        "shoes": "Die neuen Laufschuhe kamen an",
        "distance": "Wie viele Kilometer hatte jeder Lauf im {month} zusammen?",
        "count": "Wie oft gab es im {month} einen Lauf?",
        "average": "Wie viele Minuten Schwimmen waren es im Durchschnitt?",
        "between": "Wie viele Tage lagen zwischen der Untersuchung und dem Frühlingslauf?",
        "order": "In welcher Reihenfolge kamen Frühlingslauf, Laufschuhe und Untersuchung?",
    },
    "es": {
        "run": "carrera",
        "swim": "natación",
        "ride": "ruta",
        "swam": "{minutes} minutos de natación el {day}",
        "ridden": "La ruta de hoy fue de {km} km.",
        "checkup": "El reconocimiento con el médico deportivo tuvo lugar",
        "race": "El maratón de primavera tuvo lugar",
        "shoes": "Llegaron las zapatillas nuevas",
        "distance": "¿Cuántos kilómetros de carrera hice en {month}?",
        "count": "¿Cuántas veces hubo carrera en {month}?",
        "average": "¿Cuántos minutos de natación fueron de media?",
        "between": "¿Cuántos días pasaron entre el reconocimiento y el maratón?",
        "order": "¿En qué orden llegaron el maratón, las zapatillas y el reconocimiento?",
    },
}


def training(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    checkup_day = writer.day(2)
    race_day = later(checkup_day, dice.randint(30, 60))
    shoes_day = later(checkup_day, dice.randint(5, 25))
    race = writer.tell("fact.recorded", key="race", fact=words["race"], occurred_at=noon(race_day))
    runs = {month: _runs(writer, words, month) for month in (4, 5)}
    checkup = writer.tell("fact.recorded", key="checkup", fact=words["checkup"], occurred_at=noon(checkup_day))
    swims = _swims(writer, words)
    shoes = writer.tell("fact.recorded", key="shoes", fact=words["shoes"], occurred_at=noon(shoes_day))
    for _ in range(2):
        writer.say(words["ridden"].format(km=dice.randint(20, 60)))
    may = writer.month(5)
    asked = (
        Asked(words["distance"].format(month=may), "sum", tuple(runs[5]), round(sum(runs[5].values()), 2), "km"),
        Asked(words["count"].format(month=may), "count", tuple(runs[5]), len(runs[5])),
        Asked(words["average"], "average", tuple(swims), sum(swims.values()) / len(swims), "min"),
        Asked(words["between"], "duration", (checkup, race), (race_day - checkup_day).days, "d"),
        Asked(words["order"], "order", (checkup, shoes, race), None, order=True),
    )
    return History("training", language, tuple(writer.told), asked)


def _runs(writer: Writer, words: dict[str, str], month: int) -> dict[int, float]:
    found = {}
    for day in writer.days(month, writer.dice.randint(4, 7)):
        distance = writer.dice.randrange(30, 160) / 10
        place = writer.tell(
            "workout.logged",
            "watch",
            activity=words["run"],
            distance_km=distance,
            duration_minutes=round(distance * 6),
            occurred_at=noon(day),
        )
        found[place] = distance
    return found


def _swims(writer: Writer, words: dict[str, str]) -> dict[int, float]:
    found = {}
    for number, day in enumerate(writer.days(6, 5)):
        minutes = writer.dice.randrange(20, 70, 5)
        sentence = words["swam"].format(minutes=minutes, day=writer.written(day))
        place = (
            writer.say(f"{sentence}.")
            if number % 2
            else writer.tell("fact.recorded", key=f"swim-{number}", fact=sentence)
        )
        found[place] = float(minutes)
    return found
