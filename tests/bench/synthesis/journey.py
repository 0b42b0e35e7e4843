"""Travels of a family: tickets, nights, parcels, photos, and stations of a journey in a row."""

from __future__ import annotations

from random import Random

from bench.synthesis.history import Asked, History, Writer, later, noon

WORDS = {
    "en": {
        "nights": "Booked {n} nights at the lodge on {day}",
        "bag": "weight suitcase",
        "ticket": "Train ticket {name}",
        "left": "The ferry {name} left the harbour",
        "snack": "Bought {n} pastries at the kiosk on {day}",
        "parcel": "Parcel number {n}",
        "time": "How long was it from the ferry {first} to the ferry {last}?",
        "order": "In which order did the ferries Aurora, Bounty and Corsair leave the harbour?",
        "difference": "How much is the difference between the train ticket Oslo and the train ticket Bergen?",
        "extreme": "Which suitcase weight was the lowest in {month}?",
        "average": "How many nights did we book at the lodge on average?",
        "sum": "How many pastries did we buy in total?",
        "count": "How many tasks are still open?",
        "mixed": "What do the gifts weigh altogether?",
        "gift": "Gift of {n} {unit}",
    },
    "de": {
        "nights": "Am {day} {n} Nächte in der Hütte gebucht",
        "bag": "Gewicht Koffer",
        "ticket": "Fahrkarte {name}",
        "left": "Die Fähre {name} verließ den Hafen",
        "snack": "Am {day} {n} Brezeln am Kiosk gekauft",
        "parcel": "Paket Nummer {n}",
        "time": "Wie lange war es von der Fähre {first} bis zur Fähre {last}?",
        "order": "In welcher Reihenfolge verließen die Fähren Aurora, Bounty und Corsair den Hafen?",
        "difference": "Wie groß ist der Unterschied zwischen der Fahrkarte Oslo und der Fahrkarte Bergen?",
        "extreme": "Welches war das niedrigste Gewicht vom Koffer im {month}?",
        "average": "Wie viele Nächte haben wir durchschnittlich in der Hütte gebucht?",
        "sum": "Wie viele Brezeln haben wir insgesamt gekauft?",
        "count": "Wie viele Aufgaben sind noch offen?",
        "mixed": "Was ist die Summe der Geschenke?",
        "gift": "Geschenke: {n} {unit}",
    },
    "es": {
        "nights": "Reservadas {n} noches en el refugio el {day}",
        "bag": "peso maleta",
        "ticket": "Billete de tren {name}",
        "left": "El ferry {name} salió del puerto",
        "snack": "Compramos {n} empanadas en el quiosco el {day}",
        "parcel": "Paquete número {n}",
        "time": "¿Cuánto tiempo pasó desde el ferry {first} hasta el ferry {last}?",
        "order": "¿En qué orden salieron los ferrys Aurora, Bounty y Corsair del puerto?",
        "difference": "¿Cuál es la diferencia entre el billete de tren Oslo y el billete de tren Bergen?",
        "extreme": "¿Cuál fue el peso más bajo de la maleta en {month}?",
        "average": "¿Cuántas noches reservamos de media en el refugio?",
        "sum": "¿Cuántas empanadas compramos en total?",
        "count": "¿Cuántas tareas siguen abiertas?",
        "mixed": "¿Cuál es la suma de los regalos?",
        "gift": "Regalos: {n} {unit}",
    },
}


def journey(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    ferries = _ferries(writer, words)
    tickets = _tickets(writer, words)
    bags = _bags(writer, words)
    nights, snacks = _said(writer, words, "nights", 7), _said(writer, words, "snack", 8)
    still_open = _parcels(writer, words)
    gifts = _gifts(writer, words)
    (first, one), (second, other) = tickets
    first_name, last_name = (writer.told[place].payload["key"].split()[1] for place in (ferries[0], ferries[2]))
    asked = (
        Asked(words["time"].format(first=first_name, last=last_name), "duration", (ferries[0], ferries[2]), 11, "d"),
        Asked(words["order"], "order", ferries, None, order=True),
        Asked(words["difference"], "difference", (first, second), round(abs(one - other), 2), "EUR"),
        Asked(words["extreme"].format(month=writer.month(4)), "extreme", tuple(bags), min(bags.values()), "kg"),
        Asked(words["average"], "average", tuple(nights), sum(nights.values()) / len(nights)),
        Asked(words["sum"], "sum", tuple(snacks), sum(snacks.values())),
        Asked(words["count"], "count", still_open, len(still_open)),
        Asked(words["mixed"], "sum", gifts, None),
    )
    return History("journey", language, tuple(writer.told), asked)


def _ferries(writer: Writer, words: dict[str, str]) -> tuple[int, ...]:
    start, names = writer.day(6), writer.dice.sample(("Aurora", "Bounty", "Corsair"), 3)
    dated = {name: later(start, days) for name, days in zip(names, (0, 4, 11), strict=True)}
    told = {}
    for name in sorted(dated):
        left = words["left"].format(name=name)
        told[name] = writer.tell("fact.recorded", key=f"ferry {name}", fact=left, occurred_at=noon(dated[name]))
    return tuple(told[name] for name in names)


def _tickets(writer: Writer, words: dict[str, str]) -> list[tuple[int, float]]:
    places = []
    for name in ("Oslo", "Bergen", "Tromsø"):
        for _ in range(2):
            amount = writer.amount(40, 300)
            fields = {"key": f"ticket {name}", "fact": words["ticket"].format(name=name), "amount": amount}
            place = writer.tell("fact.recorded", **fields, unit="EUR")
        places.append((place, amount))
    return places[:2]


def _bags(writer: Writer, words: dict[str, str]) -> dict[int, float]:
    found = {}
    for month in (3, 4):
        for day in writer.days(month, 4):
            weight = writer.dice.randrange(120, 260) / 10
            fields = {"what": words["bag"], "weight_kg": weight, "occurred_at": noon(day)}
            place = writer.tell("scale.read", "scale", **fields)
            found |= {place: weight} if month == 4 else {}
    return found


def _said(writer: Writer, words: dict[str, str], what: str, month: int) -> dict[int, float]:
    found = {}
    for day in writer.days(month, 4):
        number = writer.dice.randint(2, 9)
        found[writer.say(f"{words[what].format(n=number, day=writer.written(day))}.")] = float(number)
    return found


def _parcels(writer: Writer, words: dict[str, str]) -> tuple[int, ...]:
    found = []
    for number in range(1, 9):
        task = {"id": f"parcel-{number}", "task": words["parcel"].format(n=number)}
        place = writer.tell("task.proposed", **task)
        if writer.dice.random() < 0.5:
            writer.tell("task.completed", **task)
        else:
            found.append(place)
    return tuple(found)


def _gifts(writer: Writer, words: dict[str, str]) -> tuple[int, ...]:
    return tuple(
        writer.tell("fact.recorded", key=f"gift-{n}", fact=words["gift"].format(n=4 + n, unit=unit))
        for n, unit in enumerate(("kg", "l", "kg"))
    )
