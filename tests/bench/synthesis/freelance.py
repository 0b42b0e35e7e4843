"""A freelance designer: invoices, payments and hours in fields, some hours and journeys only in talk."""

from __future__ import annotations

from datetime import date
from random import Random
from statistics import median

from bench.synthesis.history import Asked, History, Told, Writer, later, month_of, noon, turn

WORDS = {
    "en": {
        "work": "logo drafts|layout|call|corrections",
        "hours": "{day}: {time} for Kessel, layout|Worked {time} for Kessel on {day}",
        "trip": "train to {town} on {day}, {amount}|On {day} the taxi in {town} cost {amount}",
        "again": "invoice to Nordlicht over {amount} is out, dated {day}",
        "draft": "draft for Nordlicht over {amount} for March, not sent, they want to think about it",
        "rate": "Hourly rate for Kessel",
        "sum": "How much did I invoice Nordlicht in the first quarter, leaving out the cancelled invoice?",
        "extreme": "Which client had the most hours in April?",
        "count": "how many invoices did I send in May?",
        "duration": "How many days did Kessel take to pay invoice {number}?",
        "median": "What's the median of my invoices to Atelier Sol?",
        "minutes": "How many minutes did I work for Kessel in June in total?",
        "mixed": "What did I spend on trips in total?",
        "difference": "How many hours more did I work for Atelier Sol in April than in May?",
    },
    "de": {
        "work": "Logoentwürfe|Layout|Telefonat|Korrekturen",
        "hours": "{day}: {time} für Kessel, Layout|Am {day} {time} für Kessel gearbeitet",
        "trip": "Bahn nach {town} am {day}, {amount}|Am {day} hat das Taxi in {town} {amount} gekostet",
        "again": "Rechnung an Nordlicht über {amount} ist raus, Datum {day}",
        "draft": "Entwurf an Nordlicht über {amount} für März, nicht abgeschickt, die überlegen noch",
        "rate": "Stundensatz für Kessel",
        "sum": "Was habe ich Nordlicht im ersten Quartal in Rechnung gestellt, ohne die stornierte Rechnung?",
        "extreme": "Für welchen Kunden habe ich im April die meisten Stunden gearbeitet?",
        "count": "Wie viele Rechnungen habe ich im Mai verschickt?",
        "duration": "Nach wie vielen Tagen hat Kessel die Rechnung {number} bezahlt?",
        "median": "Wie hoch ist der Median meiner Rechnungen an Atelier Sol?",
        "minutes": "Wie viele Minuten habe ich im Juni insgesamt für Kessel gearbeitet?",
        "mixed": "Was habe ich insgesamt für Fahrten ausgegeben?",
        "difference": "Wie viele Stunden habe ich im April mehr für Atelier Sol gearbeitet als im Mai?",
    },
    "es": {
        "work": "bocetos de logo|maquetación|llamada|correcciones",
        "hours": "{day}: {time} para Kessel, maquetación|El {day} trabajé {time} para Kessel",
        "trip": "tren a {town} el {day}, {amount}|El {day} el taxi en {town} costó {amount}",
        "again": "ya salió la factura a Nordlicht de {amount}, con fecha {day}",
        "draft": "borrador para Nordlicht de {amount} para marzo, sin enviar, se lo están pensando",
        "rate": "Tarifa por hora para Kessel",
        "sum": "¿Cuánto le facturé a Nordlicht en el primer trimestre, sin contar la factura anulada?",
        "extreme": "¿Con qué cliente hice más horas en abril?",
        "count": "¿Cuántas facturas envié en mayo?",
        "duration": "¿Cuántos días tardó Kessel en pagar la factura {number}?",
        "median": "¿Cuál es la mediana de mis facturas a Atelier Sol?",
        "minutes": "¿Cuántos minutos trabajé en total para Kessel en junio?",
        "mixed": "¿Cuánto me gasté en viajes en total?",
        "difference": "¿Cuántas horas más trabajé para Atelier Sol en abril que en mayo?",
    },
}
CLIENTS = ("Nordlicht", "Kessel", "Atelier Sol")
SENT = {"Nordlicht": (1, 2, 3, 3, 5), "Kessel": (2, 4, 5), "Atelier Sol": (1, 3, 4, 6)}
"""The months of each client's invoices."""


def freelance(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    invoices = _invoices(writer)
    cancelled, paid = _by(invoices, "Nordlicht")[1].payload, _by(invoices, "Kessel")[0].payload
    days = dice.randint(8, 45)
    payment = noon(later(date.fromisoformat(paid["occurred_at"][:10]), days))
    june, trips = _june(writer, words), _trips(writer, words)
    after = noon(later(date.fromisoformat(cancelled["occurred_at"][:10]), 2))
    spoken = [*[turn(text) for text, _ in june], *map(turn, trips), *_talk(writer, words, invoices)]
    places = writer.scatter([*spoken, *_hours(writer, words), *invoices])
    writer.tell("invoice.cancelled", number=cancelled["number"], client="Nordlicht", occurred_at=after)
    pay = {"number": paid["number"], "client": "Kessel", "amount": paid["amount"], "currency": "EUR"}
    paying = writer.tell("payment.received", "bank", **pay, occurred_at=payment)

    def sent(months: tuple[int, ...], client: str = "") -> dict[int, float]:
        found = writer.where(
            "invoice.sent",
            lambda one: (
                month_of(one) in months and client in ("", one["client"]) and one["number"] != cancelled["number"]
            ),
        )
        return {place: one["amount"] for place, one in found.items()}

    def hours(client: str, month: int) -> dict[int, float]:
        found = writer.where("hours.logged", lambda one: one["client"] == client and month_of(one) == month)
        return {place: one["hours"] for place, one in found.items()}

    april = {client: hours(client, 4) for client in CLIENTS}
    busy = max(CLIENTS, key=lambda client: sum(april[client].values()))
    sol, before = hours("Atelier Sol", 5), april["Atelier Sol"]
    first, may, all_sol = sent((1, 2, 3), "Nordlicht"), sent((5,)), sent((1, 3, 4, 6), "Atelier Sol")
    opened = next(place for place, one in enumerate(writer.told) if one.payload == paid)
    asked = (
        Asked(words["sum"], "sum", tuple(first), sum(first.values()), "EUR"),
        Asked(words["extreme"], "extreme", tuple(place for found in april.values() for place in found), busy),
        Asked(words["count"], "count", tuple(may), len(may)),
        Asked(words["duration"].format(number=paid["number"]), "duration", (opened, paying), days, "d"),
        Asked(words["median"], "median", tuple(all_sol), median(all_sol.values()), "EUR"),
        Asked(words["minutes"], "sum", tuple(places[: len(june)]), sum(minutes for _, minutes in june), "min"),
        Asked(words["mixed"], "sum", tuple(places[len(june) : len(june) + len(trips)]), None),
        Asked(words["difference"], "difference", (*before, *sol), sum(before.values()) - sum(sol.values()), "h"),
    )
    return History("freelance", language, tuple(writer.told), asked)


def _by(invoices: list[Told], client: str) -> list[Told]:
    return [one for one in invoices if one.payload["client"] == client]


def _invoices(writer: Writer) -> list[Told]:
    """In the order of their dates, with numbers that follow each other; no two are of one amount."""
    plan = [(client, month) for client, months in SENT.items() for month in months]
    plan += [("Kessel", 5)] * writer.dice.randint(0, 2)
    rows = sorted((writer.day(month), client) for client, month in plan)
    amounts = writer.dice.sample(range(300, 2400, 10), len(rows))
    return [
        Told(
            "invoice.sent",
            {
                "number": f"2026-{number:03}",
                "client": client,
                "amount": float(amount),
                "currency": "EUR",
                "occurred_at": noon(day),
            },
        )
        for number, ((day, client), amount) in enumerate(zip(rows, amounts, strict=True), 7)
    ]


def _hours(writer: Writer, words: dict[str, str]) -> list[Told]:
    """In April Kessel has the longest day, and Atelier Sol the most hours; in May it is less."""
    work = words["work"].split("|")
    plan = {("Kessel", 4): [9.5, 2.0], ("Nordlicht", 4): [3.5, 1.75], ("Nordlicht", 3): [8.0, 7.0, 6.5, 8.0, 5.0]}
    plan["Atelier Sol", 4] = [writer.dice.randrange(12, 30) / 4 for _ in range(5)]
    plan["Atelier Sol", 5] = [writer.dice.randrange(4, 12) / 4 for _ in range(3)]
    return [
        Told(
            "hours.logged", {"client": who, "hours": hours, "task": writer.dice.choice(work), "occurred_at": noon(day)}
        )
        for (who, month), counts in plan.items()
        for hours, day in zip(counts, writer.days(month, len(counts)), strict=True)
    ]


def _june(writer: Writer, words: dict[str, str]) -> list[tuple[str, int]]:
    """Sentences about June with their minutes, some in hours and minutes."""
    found = []
    for number, day in enumerate(writer.days(6, writer.dice.randint(3, 5))):
        hours, minutes = (0, 1, 2)[number % 3], writer.dice.randrange(15, 60, 5)
        time = f"{hours} h {minutes} min" if hours else f"{minutes} min"
        text = words["hours"].split("|")[number % 2].format(day=writer.written(day), time=time)
        found.append((text, 60 * hours + minutes))
    return found


def _trips(writer: Writer, words: dict[str, str]) -> list[str]:
    """One in francs, the others in euros."""
    sentences = words["trip"].split("|")
    found = []
    for number, (town, day) in enumerate(zip(("Köln", "Basel", "Lyon"), writer.days(5, 3), strict=True)):
        amount = writer.amount(15, 120)
        text = f"{writer.number(amount)} CHF" if town == "Basel" else writer.money(amount)
        found.append(sentences[number % 2].format(town=town, day=writer.written(day), amount=text))
    return found


def _talk(writer: Writer, words: dict[str, str], invoices: list[Told]) -> list[Told]:
    """An invoice said again, one that was never sent, and what an hour costs."""
    known = _by(invoices, "Nordlicht")[2].payload
    day = writer.written(date.fromisoformat(known["occurred_at"][:10]))
    return [
        turn(words["again"].format(amount=writer.money(known["amount"]), day=day)),
        turn(words["draft"].format(amount=writer.money(1250))),
        Told("fact.recorded", {"key": "rate-kessel", "fact": words["rate"], "value": 85, "unit": "EUR"}),
    ]
