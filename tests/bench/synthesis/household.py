"""A household's money: receipts in fields, in types of its own, in notes and in talk."""

from __future__ import annotations

from random import Random

from bench.synthesis.history import Asked, History, Writer, noon

WORDS = {
    "en": {
        "fuel": "fuel",
        "food": "groceries",
        "books": "books",
        "power": "electricity",
        "note": "Paid {amount} EUR for {what} on {day}",
        "said": "I paid {amount} euros for {what} on {day}.",
        "receipt": "Receipt for {what}",
        "plan": "We want to spend less on {what} next year.",
        "asks": "How much was the {what}?",
        "sum": "How much did we spend on {what} in {month}?",
        "total": "How much have we paid for {what} in total?",
        "average": "What did we pay for {what} on average?",
        "extreme": "What is the highest amount that we paid for {what}?",
        "compare": "Did we spend more on {what} or on {other} in {month}?",
    },
    "de": {
        "fuel": "Benzin",
        "food": "Lebensmittel",
        "books": "Bücher",
        "power": "Strom",
        "note": "{amount} EUR für {what} bezahlt am {day}",
        "said": "Ich habe am {day} {amount} Euro für {what} bezahlt.",
        "receipt": "Quittung für {what}",
        "plan": "Wir wollen nächstes Jahr weniger für {what} ausgeben.",
        "asks": "Wie teuer war {what}?",
        "sum": "Wie viel haben wir im {month} für {what} ausgegeben?",
        "total": "Wie viel haben wir insgesamt für {what} bezahlt?",
        "average": "Was haben wir im Durchschnitt für {what} bezahlt?",
        "extreme": "Was ist der höchste Betrag, den wir für {what} bezahlt haben?",
        "compare": "Haben wir im {month} mehr für {what} oder für {other} ausgegeben?",
    },
    "es": {
        "fuel": "gasolina",
        "food": "comida",
        "books": "libros",
        "power": "electricidad",
        "note": "Pagados {amount} EUR por {what} el {day}",
        "said": "Pagué {amount} euros por {what} el {day}.",
        "receipt": "Recibo de {what}",
        "plan": "El año que viene queremos gastar menos en {what}.",
        "asks": "¿Cuánto costó la {what}?",
        "sum": "¿Cuánto gastamos en {what} en {month}?",
        "total": "¿Cuánto hemos pagado en total por {what}?",
        "average": "¿Cuánto pagamos de media por {what}?",
        "extreme": "¿Cuál es el importe más alto que pagamos por {what}?",
        "compare": "¿Gastamos más en {what} o en {other} en {month}?",
    },
}


def household(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    fuel = {month: _fuel(writer, words, month) for month in (3, 4)}
    food = {month: _food(writer, words, month) for month in (3, 4)}
    books, power = _books(writer, words), _power(writer, words)
    writer.say(words["plan"].format(what=words["fuel"]))
    writer.say(words["asks"].format(what=words["power"]))
    march = writer.month(3)
    every_fuel = {place: amount for of_month in fuel.values() for place, amount in of_month.items()}
    more = max((sum(fuel[3].values()), words["fuel"]), (sum(food[3].values()), words["food"]))[1]
    asked = (
        Asked(words["sum"].format(what=words["fuel"], month=march), "sum", tuple(fuel[3]), _sum(fuel[3]), "EUR"),
        Asked(words["total"].format(what=words["books"]), "sum", tuple(books), _sum(books), "EUR"),
        Asked(words["average"].format(what=words["power"]), "average", tuple(power), _average(power), "EUR"),
        Asked(
            words["extreme"].format(what=words["fuel"]), "extreme", tuple(every_fuel), max(every_fuel.values()), "EUR"
        ),
        Asked(
            words["compare"].format(what=words["fuel"], other=words["food"], month=march),
            "comparison",
            (*fuel[3], *food[3]),
            more,
        ),
    )
    return History("household", language, tuple(writer.told), asked)


def _fuel(writer: Writer, words: dict[str, str], month: int) -> dict[int, float]:
    """In a type of its own, with fields."""
    found = {}
    for day in writer.days(month, 4):
        amount = writer.amount(30, 80)
        place = writer.tell(
            "expense.recorded", category=words["fuel"], amount=amount, currency="EUR", occurred_at=noon(day)
        )
        found[place] = amount
    return found


def _food(writer: Writer, words: dict[str, str], month: int) -> dict[int, float]:
    found = {}
    for day in writer.days(month, 5):
        amount = writer.amount(10, 60)
        place = writer.tell(
            "expense.recorded", category=words["food"], amount=amount, currency="EUR", occurred_at=noon(day)
        )
        found[place] = amount
    return found


def _books(writer: Writer, words: dict[str, str]) -> dict[int, float]:
    """Facts with keys; one is corrected, and only the correction counts."""
    found = {}
    receipt = words["receipt"].format(what=words["books"])
    for number, day in enumerate(writer.days(5, 5), 1):
        place = writer.tell("fact.recorded", **_receipt(writer, f"books-{number}", receipt), occurred_at=noon(day))
        found[place] = writer.told[place].payload["amount"]
    wrong = next(iter(found))
    fields = _receipt(writer, "books-1", receipt)
    place = writer.tell("fact.recorded", **fields, occurred_at=writer.told[wrong].payload["occurred_at"])
    del found[wrong]
    return {**found, place: fields["amount"]}


def _receipt(writer: Writer, key: str, fact: str) -> dict[str, object]:
    return {"key": key, "fact": f"{fact} {key}", "amount": writer.amount(8, 40), "unit": "EUR"}


def _power(writer: Writer, words: dict[str, str]) -> dict[int, float]:
    """In sentences: some noted, some said, one said twice."""
    found = {}
    for number, day in enumerate(writer.days(6, 4)):
        amount = writer.amount(1000, 2000) if number == 1 else writer.amount(60, 120)
        said = {"amount": writer.number(amount), "what": words["power"], "day": writer.written(day)}
        if number % 2:
            place = writer.tell("fact.recorded", key=f"power-{number}", fact=words["note"].format(**said))
        else:
            place = writer.say(words["said"].format(**said))
        found[place] = amount
    first = next(iter(found))
    writer.say(writer.told[first].payload["content"])
    return found


def _sum(found: dict[int, float]) -> float:
    return round(sum(found.values()), 2)


def _average(found: dict[int, float]) -> float:
    return round(sum(found.values()) / len(found), 2)
