"""A laboratory measures: values with units in fields and in notes, some corrected, some that cannot be added."""

from __future__ import annotations

from random import Random

from bench.synthesis.history import Asked, History, Writer, later, noon

WORDS = {
    "en": {
        "temperature": "temperature",
        "tank": "north tank",
        "other": "south tank",
        "acid": "acidity",
        "dose": "Dose of the buffer",
        "dosed": "The buffer dose was {amount} {unit} on {day}",
        "calibration": "The spectrometer was calibrated",
        "failure": "The vacuum pump failed",
        "extreme": "What was the highest temperature in the north tank?",
        "average": "What is the average temperature of the south tank in {month}?",
        "count": "How many acidity readings are there for {month}?",
        "mixed": "What is the total of all buffer doses?",
        "duration": "How long was it from the calibrated spectrometer to the failed vacuum pump?",
    },
    "de": {
        "temperature": "Temperatur",
        "tank": "Nordbecken",
        "other": "Südbecken",
        "acid": "Säuregehalt",
        "dose": "Dosis des Puffers",
        "dosed": "Die Pufferdosis war am {day} {amount} {unit}",
        "calibration": "Das Spektrometer wurde kalibriert",
        "failure": "Die Vakuumpumpe fiel aus",
        "extreme": "Was war die höchste Temperatur im Nordbecken?",
        "average": "Wie hoch ist die durchschnittliche Temperatur im Südbecken im {month}?",
        "count": "Wie viele Messungen gibt es im {month} zum Säuregehalt?",
        "mixed": "Wie groß ist die Summe aller Einträge zur Pufferdosis?",
        "duration": "Wie lange dauerte es vom Spektrometer bis zur Vakuumpumpe?",
    },
    "es": {
        "temperature": "temperatura",
        "tank": "tanque norte",
        "other": "tanque sur",
        "acid": "acidez",
        "dose": "Dosis del tampón",
        "dosed": "La dosis de tampón fue de {amount} {unit} el {day}",
        "calibration": "Se calibró el espectrómetro",
        "failure": "Falló la bomba de vacío",
        "extreme": "¿Cuál fue la temperatura más alta en el tanque norte?",
        "average": "¿Cuál es la temperatura media del tanque sur en {month}?",
        "count": "¿Cuántas mediciones de acidez hay en {month}?",
        "mixed": "¿Cuál es la suma de todas las dosis de tampón?",
        "duration": "¿Cuánto tiempo pasó desde el espectrómetro hasta la bomba?",
    },
}


def laboratory(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    started = writer.day(1)
    failed = later(started, dice.randint(10, 40))
    failure = writer.tell("fact.recorded", key="failure", fact=words["failure"], occurred_at=noon(failed))
    north = _temperatures(writer, words, "tank", months=(3, 4))
    south = _temperatures(writer, words, "other", months=(3, 4))
    calibration = writer.tell("fact.recorded", key="start", fact=words["calibration"], occurred_at=noon(started))
    acid = _acidity(writer, words)
    doses = _doses(writer, words)
    all_north = {**north[3], **north[4]}
    april = south[4]
    asked = (
        Asked(words["extreme"], "extreme", tuple(all_north), max(all_north.values()), "°C"),
        Asked(
            words["average"].format(month=writer.month(4)),
            "average",
            tuple(april),
            sum(april.values()) / len(april),
            "°C",
        ),
        Asked(words["count"].format(month=writer.month(4)), "count", acid, len(acid)),
        Asked(words["mixed"], "sum", doses, None),
        Asked(words["duration"], "duration", (calibration, failure), (failed - started).days, "d"),
    )
    return History("laboratory", language, tuple(writer.told), asked)


def _temperatures(
    writer: Writer, words: dict[str, str], where: str, *, months: tuple[int, ...]
) -> dict[int, dict[int, float]]:
    """One of the first month is corrected by its key."""
    found: dict[int, dict[int, float]] = {month: {} for month in months}
    for month in months:
        for number, day in enumerate(writer.days(month, 5)):
            value = writer.dice.randrange(150, 300) / 10
            place = writer.tell(
                "fact.recorded", "probe", **_reading(words, where, f"{month}-{number}", value), occurred_at=noon(day)
            )
            found[month][place] = value
    first = next(iter(found[months[0]]))
    value = writer.dice.randrange(150, 300) / 10
    day = writer.told[first].payload["occurred_at"]
    place = writer.tell("fact.recorded", "probe", **_reading(words, where, f"{months[0]}-0", value), occurred_at=day)
    del found[months[0]][first]
    found[months[0]][place] = value
    return found


def _reading(words: dict[str, str], where: str, number: str, value: float) -> dict[str, object]:
    key = f"{where}-{number}"
    return {"key": key, "fact": f"{words['temperature']} {words[where]}", "value": value, "unit": "°C"}


def _acidity(writer: Writer, words: dict[str, str]) -> tuple[int, ...]:
    """Readings of a type of their own; those of another month do not count."""
    found = []
    for month, count in ((3, 3), (4, writer.dice.randint(4, 8))):
        for day in writer.days(month, count):
            ph = writer.dice.randrange(55, 80) / 10
            place = writer.tell("reading.taken", "probe", property=words["acid"], value=ph, occurred_at=noon(day))
            found += [place] if month == 4 else []
    return tuple(found)


def _doses(writer: Writer, words: dict[str, str]) -> tuple[int, ...]:
    """In sentences, some in millilitres and some in grams."""
    found = []
    for number, day in enumerate(writer.days(5, 4)):
        amount = writer.dice.randrange(10, 90)
        sentence = words["dosed"].format(amount=amount, unit="ml" if number % 2 else "g", day=writer.written(day))
        found.append(writer.tell("fact.recorded", key=f"dose-{number}", fact=sentence))
    return tuple(found)
