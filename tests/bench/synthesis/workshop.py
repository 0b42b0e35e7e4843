"""A workshop's work: tasks that somebody finished, hours, invoices with replaced versions, releases in a row."""

from __future__ import annotations

from random import Random

from bench.synthesis.history import Asked, History, Writer, later, noon

NAMES = ("Mira", "Tomas")
WORDS = {
    "en": {
        "task": "Repair gearbox number {n}",
        "hours": "Hours on the boiler",
        "said": "Mira worked {h} hours on the compressor on {day}.",
        "invoice": "Invoice {n} for sheet metal",
        "release": "Delivery {name} left the yard",
        "count": "How many tasks has Mira completed?",
        "sum": "How many hours of work went into the boiler in {month}?",
        "difference": "What is the difference between the sheet metal invoice A and the sheet metal invoice B?",
        "average": "How many hours on average did the compressor take?",
        "order": "In what order did the deliveries Kestrel, Osprey and Merlin leave?",
    },
    "de": {
        "task": "Getriebe Nummer {n} reparieren",
        "hours": "Stunden am Kessel",
        "said": "Mira hat am {day} {h} Stunden am Kompressor gearbeitet.",
        "invoice": "Rechnung {n} für Blech",
        "release": "Lieferung {name} verließ den Hof",
        "count": "Wie viele Aufgaben hat Mira erledigt?",
        "sum": "Wie viele Stunden flossen im {month} in den Kessel?",
        "difference": "Was ist der Unterschied zwischen der Blech-Rechnung A und der Blech-Rechnung B?",
        "average": "Wie viele Stunden waren es im Durchschnitt am Kompressor?",
        "order": "In welcher Reihenfolge gingen die Lieferungen Kestrel, Osprey und Merlin raus?",
    },
    "es": {
        "task": "Reparar el engranaje número {n}",
        "hours": "Horas en la caldera",
        "said": "Mira trabajó {h} horas en el compresor el {day}.",
        "invoice": "Factura {n} de chapa",
        "release": "La entrega {name} salió del patio",
        "count": "¿Cuántas tareas ha completado Mira?",
        "sum": "¿Cuántas horas se dedicaron a la caldera en {month}?",
        "difference": "¿Cuál es la diferencia entre la factura A de chapa y la factura B de chapa?",
        "average": "¿Cuántas horas de media llevó el compresor?",
        "order": "¿En qué orden salieron las entregas Kestrel, Osprey y Merlin?",
    },
}


def workshop(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    done = _tasks(writer, words)
    boiler = _hours(writer, words)
    compressor = _said_hours(writer, words)
    first, second = _invoices(writer, words)
    deliveries = _deliveries(writer, words)
    asked = (
        Asked(words["count"], "count", done, len(done)),
        Asked(words["sum"].format(month=writer.month(7)), "sum", tuple(boiler), sum(boiler.values()), "h"),
        Asked(words["difference"], "difference", (first[0], second[0]), round(abs(first[1] - second[1]), 2), "EUR"),
        Asked(words["average"], "average", tuple(compressor), sum(compressor.values()) / len(compressor), "h"),
        Asked(words["order"], "order", deliveries, None, order=True),
    )
    return History("workshop", language, tuple(writer.told), asked)


def _tasks(writer: Writer, words: dict[str, str]) -> tuple[int, ...]:
    """All are proposed; some Mira completes, some Tomas, and some nobody."""
    found = []
    for number in range(1, 13):
        task = {"id": f"job-{number}", "task": words["task"].format(n=number)}
        writer.tell("task.proposed", "foreman", **task)
        who = writer.dice.choice((*NAMES, "")) if number > 3 else NAMES[number % 2]
        if who:
            place = writer.tell("task.completed", who, **task)
            found += [place] if who == "Mira" else []
    return tuple(found)


def _hours(writer: Writer, words: dict[str, str]) -> dict[int, float]:
    found = {}
    for month in (6, 7):
        for day in writer.days(month, 4):
            hours = writer.dice.randrange(2, 18) / 2
            place = writer.tell(
                "work.logged",
                writer.dice.choice(NAMES),
                note=words["hours"],
                duration_hours=hours,
                occurred_at=noon(day),
            )
            found |= {place: hours} if month == 7 else {}
    return found


def _said_hours(writer: Writer, words: dict[str, str]) -> dict[int, float]:
    found = {}
    for day in writer.days(5, 3):
        hours = writer.dice.randint(2, 9)
        found[writer.say(words["said"].format(h=hours, day=writer.written(day)))] = float(hours)
    return found


def _invoices(writer: Writer, words: dict[str, str]) -> list[tuple[int, float]]:
    """Each is replaced once; only the later version counts."""
    places = []
    for name in "AB":
        for _ in range(2):
            amount = writer.amount(100, 900)
            fields = {
                "key": f"invoice-{name}",
                "fact": words["invoice"].format(n=name),
                "amount": amount,
                "unit": "EUR",
            }
            place = writer.tell("fact.recorded", **fields)
        places.append((place, amount))
    return places


def _deliveries(writer: Writer, words: dict[str, str]) -> tuple[int, ...]:
    start = writer.day(3)
    dated = [
        (later(start, days), name)
        for days, name in zip((0, 9, 21), writer.dice.sample(("Kestrel", "Osprey", "Merlin"), 3), strict=True)
    ]
    told = {}
    for day, name in sorted(dated, key=lambda one: one[1]):
        told[name] = writer.tell(
            "fact.recorded", key=name, fact=words["release"].format(name=name), occurred_at=noon(day)
        )
    return tuple(told[name] for _, name in dated)
