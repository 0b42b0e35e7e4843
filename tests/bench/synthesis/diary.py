"""A patient's diary: blood pressure and doses in fields, sleep and weight as facts, walks and headaches in talk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from random import Random
from statistics import mean, median

from bench.synthesis.history import Asked, History, Told, Writer, dated, later, month_of, turn

WORDS = {
    "en": {
        "count": "How often did I have a migraine in April?",
        "sleep": "Sleep, night to {day}",
        "weight": "Weight on the morning of {day}",
        "vitamin": "Vitamin D taken|drops|tablets",
        "operation": "Knee operation",
        "physio": "First physiotherapy for the knee",
        "dose": "Took {mg} mg of ibuprofen on {day}, wrote it down too",
        "no": "{day}: no migraine today, finally",
        "average": "What was my systolic blood pressure on average in May?",
        "sum": "How many mg of ibuprofen did I take in April altogether?",
        "median": "What's the median of my hours of sleep in June?",
        "walked": "How many minutes did I walk in total between 1 and 15 July?",
        "difference": "What's the difference between my highest and my lowest weight?",
        "duration": "How many days after the knee operation was the first physiotherapy?",
        "mixed": "How much vitamin D did I take altogether in June?",
    },
    "de": {
        "count": "Wie oft hatte ich im April Migräne?",
        "sleep": "Schlaf in der Nacht auf den {day}",
        "weight": "Gewicht am Morgen des {day}",
        "vitamin": "Vitamin D genommen|Tropfen|Tabletten",
        "operation": "Knie-OP",
        "physio": "Erste Physiotherapie fürs Knie",
        "dose": "Am {day} {mg} mg Ibuprofen genommen, ist auch eingetragen",
        "no": "{day}: heute endlich mal keine Migräne",
        "average": "Wie hoch war mein systolischer Blutdruck im Mai im Durchschnitt?",
        "sum": "Wie viel mg Ibuprofen habe ich im April insgesamt genommen?",
        "median": "Wie viele Stunden Schlaf hatte ich im Juni im Median?",
        "walked": "Wie viele Minuten bin ich vom 1. bis zum 15. Juli insgesamt spazieren gegangen?",
        "difference": "Wie groß ist der Unterschied zwischen meinem höchsten und meinem niedrigsten Gewicht?",
        "duration": "Wie viele Tage nach der Knie-OP war die erste Physiotherapie?",
        "mixed": "Wie viel Vitamin D habe ich im Juni insgesamt genommen?",
    },
    "es": {
        "count": "¿Cuántas veces tuve migraña en abril?",
        "sleep": "Sueño de la noche del {day}",
        "weight": "Peso en la mañana del {day}",
        "vitamin": "Vitamina D tomada|gotas|comprimidos",
        "operation": "Operación de rodilla",
        "physio": "Primera sesión de fisioterapia de la rodilla",
        "dose": "El {day} me tomé {mg} mg de ibuprofeno, también lo apunté",
        "no": "{day}: hoy por fin sin migraña",
        "average": "¿Cuál fue mi tensión sistólica media en mayo?",
        "sum": "¿Cuántos mg de ibuprofeno tomé en total en abril?",
        "median": "¿Cuál es la mediana de mis horas de sueño en junio?",
        "walked": "¿Cuántos minutos caminé en total entre el 1 y el 15 de julio?",
        "difference": "¿Qué diferencia hay entre mi peso más alto y el más bajo?",
        "duration": "¿Cuántos días después de la operación de rodilla fue la primera fisioterapia?",
        "mixed": "¿Cuánta vitamina D tomé en total en junio?",
    },
}
IBUPROFEN = {"en": "ibuprofen", "de": "Ibuprofen", "es": "ibuprofeno"}
MIGRAINE = {
    "en": ("Migraine again on {day}", "on {day} I had a migraine all afternoon", "{day}: migraine, lay down"),
    "de": ("Am {day} wieder Migräne", "{day}: Migräne, musste mich hinlegen", "Am {day} hatte ich nachmittags Migräne"),
    "es": ("El {day} otra vez migraña", "{day}: migraña, me tuve que acostar", "tuve migraña toda la tarde del {day}"),
}
WALK = {
    "en": ("{day}: walked for {time}", "On {day} I went for a walk of {time}"),
    "de": ("{day}: {time} spazieren gegangen", "Am {day} war ich {time} spazieren"),
    "es": ("{day}: caminé {time}", "El {day} salí a caminar {time}"),
}


def diary(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    operated = writer.day(1)
    began = later(operated, dice.randint(9, 50))
    knee = [
        dated("fact.recorded", began, key="physio", fact=words["physio"]),
        dated("fact.recorded", operated, key="surgery", fact=words["operation"]),
    ]
    aches = [_said(writer, MIGRAINE, day) for day in writer.days(4, dice.randint(3, 6))]
    walks = dict(_walks(writer))
    doses = _doses(writer)
    weights = _weights(writer, words)
    events = [*knee, *aches, *map(turn, walks), *doses, *weights, *_vitamin(writer, words)]
    events += [_said(writer, MIGRAINE, day) for month in (3, 5) for day in writer.days(month, 2)]
    events += [*_pressures(writer), *_sleep(writer, words), *_talk(writer, words, doses)]
    places = writer.scatter(events)
    physio, surgery = places[:2]
    ached = places[2 : 2 + len(aches)]
    walked = [place for place, minutes in zip(places[2 + len(aches) :], walks.values(), strict=False) if minutes]
    writer.tell("fact.recorded", **{**weights[0].payload, "value": dice.randrange(820, 850) / 10})

    pressure = writer.where("measurement.noted", lambda one: month_of(one) == 5)
    taken = writer.where("dose.taken", lambda one: month_of(one) == 4 and one["medicine"] == IBUPROFEN[language])
    nights = writer.where("fact.recorded", lambda one: one["key"].startswith("sleep-") and month_of(one) == 6)
    scales = writer.where("fact.recorded", lambda one: one["key"].startswith("weight-"))
    vitamin = writer.where("fact.recorded", lambda one: one["key"].startswith("vitamin-"))
    kilos = [one["value"] for one in scales.values()]
    asked = (
        Asked(words["average"], "average", tuple(pressure), mean(one["systolic"] for one in pressure.values())),
        Asked(words["sum"], "sum", tuple(taken), sum(one["mg"] for one in taken.values()), "mg"),
        Asked(words["median"], "median", tuple(nights), median(one["value"] for one in nights.values()), "h"),
        Asked(words["walked"], "sum", tuple(walked), sum(walks.values()), "min"),
        Asked(words["difference"], "difference", tuple(scales), max(kilos) - min(kilos), "kg"),
        Asked(words["duration"], "duration", (surgery, physio), (began - operated).days, "d"),
        Asked(words["mixed"], "sum", tuple(vitamin), None),
        Asked(words["count"], "count", tuple(ached), len(ached)),
    )
    return History("diary", language, tuple(writer.told), asked)


def _said(writer: Writer, sentences: Mapping[str, Sequence[str]], day: date) -> Told:
    return turn(writer.dice.choice(sentences[writer.language]).format(day=writer.written(day)))


def _walks(writer: Writer) -> list[tuple[str, int]]:
    """Sentences with their minutes; 0 for those outside the first half of July."""
    days = [*writer.dice.sample(range(2, 16), 4), 17, 24]
    found = []
    for number, day in enumerate(days):
        hours, minutes = number % 3 == 1, writer.dice.randrange(20, 56, 5)
        time = f"1 h {minutes} min" if hours else f"{minutes} min"
        text = WALK[writer.language][number % 2].format(day=writer.written(date(2026, 7, day)), time=time)
        found.append((text, 60 * hours + minutes if day <= 15 else 0))
    return found


def _doses(writer: Writer) -> list[Told]:
    """Of another medicine and in another month as well."""
    ibuprofen = IBUPROFEN[writer.language]
    rows = [(ibuprofen, day) for month, count in ((4, 4), (5, 2)) for day in writer.days(month, count)]
    rows += [("paracetamol" if writer.language != "de" else "Paracetamol", day) for day in writer.days(4, 2)]
    return [
        dated("dose.taken", day, medicine=medicine, mg=writer.dice.choice((200, 400, 600))) for medicine, day in rows
    ]


def _facts(writer: Writer, name: str, fact: str, unit: str, readings: list[tuple[date, float]]) -> list[Told]:
    return [
        dated(
            "fact.recorded",
            day,
            key=f"{name}-{day.isoformat()}",
            fact=fact.format(day=writer.written(day)),
            value=value,
            unit=unit,
        )
        for day, value in readings
    ]


def _weights(writer: Writer, words: dict[str, str]) -> list[Told]:
    """The first is corrected later: it was far too high."""
    values = [99.5, *(value / 10 for value in writer.dice.sample(range(770, 860), 4))]
    days = [writer.day(month) for month in (4, 4, 5, 6, 7)]
    days[:2] = writer.days(4, 2)
    return _facts(writer, "weight", words["weight"], "kg", list(zip(days, values, strict=True)))


def _sleep(writer: Writer, words: dict[str, str]) -> list[Told]:
    days = [*writer.days(5, 3), *writer.days(6, writer.dice.randint(5, 7))]
    readings = [(day, writer.dice.randrange(18, 38) / 4) for day in days]
    return _facts(writer, "sleep", words["sleep"], "h", readings)


def _vitamin(writer: Writer, words: dict[str, str]) -> list[Told]:
    """At home in drops, on the road in tablets."""
    fact, drops, tablets = words["vitamin"].split("|")
    first, second, third = writer.days(6, 3)
    home = [(day, float(writer.dice.randrange(4, 9))) for day in (first, third)]
    return _facts(writer, "vitamin", fact, drops, home) + _facts(writer, "vitamin", fact, tablets, [(second, 2.0)])


def _pressures(writer: Writer) -> list[Told]:
    days = [*writer.days(4, 3), *writer.days(5, 5)]
    return [
        dated(
            "measurement.noted",
            day,
            systolic=writer.dice.randrange(115, 150),
            diastolic=writer.dice.randrange(70, 95),
            pulse=pulse,
        )
        for day, pulse in zip(days, writer.dice.sample(range(55, 100), len(days)), strict=True)
    ]


def _talk(writer: Writer, words: dict[str, str], doses: list[Told]) -> list[Told]:
    known = doses[1].payload
    day = writer.written(date.fromisoformat(known["occurred_at"][:10]))
    no = writer.written(date(2026, 4, 29))
    return [turn(words["dose"].format(mg=known["mg"], day=day)), turn(words["no"].format(day=no))]
