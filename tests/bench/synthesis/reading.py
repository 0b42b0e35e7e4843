"""A reading group with a shelf of its own: meetings and loans in fields, ratings as facts, pages and fines in talk."""

from __future__ import annotations

from datetime import date
from random import Random
from statistics import mean, median

from bench.synthesis.history import Asked, History, Told, Writer, later, noon, turn

WORDS = {
    "en": {
        "books": "Middlemarch|Beloved|The Trial|Solaris",
        "rating": "{who} gives {book} a rating of {value} out of 10",
        "pages": "{who}: read {pages} pages on {day}|On {day} {who} got through {pages} pages",
        "goal": "Marta wants to read 900 pages in June",
        "fine": "{day}: {amount} fine into the kitty, book returned late|On {day} another fine of {amount} was paid",
        "snack": "On {day} we spent {amount} on biscuits and tea",
        "average": "What is the average rating of Beloved?",
        "extreme": "Which book had the most people at its meeting?",
        "median": "What's the median number of people at our meetings in 2026?",
        "comparison": "Who read more pages in May, Marta or Jonas?",
        "duration": "For how many days did Jonas keep Solaris?",
        "count": "How many books did Jonas borrow in the first half of 2026?",
        "order": "In what order did we talk about Solaris, Beloved, Middlemarch and The Trial?",
        "fines": "How much did we take in fines in April?",
    },
    "de": {
        "books": "Der Zauberberg|Malina|Der Prozess|Solaris",
        "rating": "{who} gibt {book} {value} von 10 Punkten",
        "pages": "{who}: {pages} Seiten gelesen am {day}|Am {day} hat {who} {pages} Seiten geschafft",
        "goal": "Marta will im Juni 900 Seiten lesen",
        "fine": "{day}: {amount} Mahngebühr in die Kasse, Buch kam zu spät|Am {day} kamen {amount} Mahngebühr rein",
        "snack": "Am {day} haben wir {amount} für Kekse und Tee ausgegeben",
        "average": "Wie ist Malina im Schnitt bewertet worden?",
        "extreme": "Bei welchem Buch waren die meisten Leute da?",
        "median": "Wie viele Leute kamen 2026 im Median zu unseren Treffen?",
        "comparison": "Wer hat im Mai mehr Seiten gelesen, Marta oder Jonas?",
        "duration": "Wie viele Tage hatte Jonas Solaris ausgeliehen?",
        "count": "Wie viele Bücher hat Jonas im ersten Halbjahr 2026 ausgeliehen?",
        "order": "In welcher Reihenfolge haben wir Solaris, Malina, Der Zauberberg und Der Prozess besprochen?",
        "fines": "Wie viel haben wir im April an Mahngebühren eingenommen?",
    },
    "es": {
        "books": "Rayuela|Nada|El proceso|Solaris",
        "rating": "{who} le pone a {book} un {value} sobre 10",
        "pages": "{who}: {pages} páginas leídas el {day}|El {day} {who} leyó {pages} páginas",
        "goal": "Marta quiere leer 900 páginas en junio",
        "fine": "{day}: multa de {amount} al bote, libro devuelto tarde|El {day} se pagó otra multa de {amount}",
        "snack": "El {day} nos gastamos {amount} en galletas y té",
        "average": "¿Qué nota media tiene Nada?",
        "extreme": "¿Con qué libro vino más gente a la reunión?",
        "median": "¿Cuál es la mediana de asistentes a nuestras reuniones de 2026?",
        "comparison": "¿Quién leyó más páginas en mayo, Marta o Jonas?",
        "duration": "¿Cuántos días tuvo Jonas prestado Solaris?",
        "count": "¿Cuántos libros sacó prestados Jonas en el primer semestre de 2026?",
        "order": "¿En qué orden comentamos Solaris, Nada, Rayuela y El proceso?",
        "fines": "¿Cuánto ingresamos por multas en abril?",
    },
}
READERS = ("Marta", "Jonas", "Aisha", "Pilar")


def reading(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    books = words["books"].split("|")
    pages, fines = _pages(writer, words), _fines(writer, words)
    ratings, (meetings, talked) = _ratings(writer, words, books), _meetings(writer, books)
    events = [*[turn(text) for text, *_ in pages], *[turn(text) for text, *_ in fines], *ratings, *meetings]
    events += [*_loans(writer, books), turn(words["goal"])]
    events.append(turn(words["snack"].format(day=writer.written(writer.day(4)), amount=writer.money(8.4))))
    places = writer.scatter(events)
    mine = {
        who: {p: n for p, (_, by, month, n) in zip(places, pages, strict=False) if (by, month) == (who, 5)}
        for who in READERS[:2]
    }
    fined = {p: n for p, (_, month, n) in zip(places[len(pages) :], fines, strict=False) if month == 4}
    wrong = next(one for one in ratings if one.payload["subject"] == books[1]).payload
    better = 10 if wrong["value"] < 8 else 5
    fact = words["rating"].format(who=wrong["reader"], book=books[1], value=better)
    writer.tell("fact.recorded", **{**wrong, "fact": fact, "value": better})

    rated = writer.where("fact.recorded", lambda one: one["subject"] == books[1])
    met = writer.where("meeting.held", lambda one: one["occurred_at"] > "2026")
    all_met = writer.where("meeting.held", lambda one: True)
    full = max(all_met.values(), key=lambda one: one["people"])["book"]
    taken = writer.where("loan.started", lambda one: one["reader"] == "Jonas")
    lent = [place for place, one in taken.items() if one["occurred_at"] < "2026-07"]
    out = writer.where("loan.started", lambda one: (one["reader"], one["book"]) == ("Jonas", "Solaris"))
    back = writer.where("loan.returned", lambda one: (one["reader"], one["book"]) == ("Jonas", "Solaris"))
    ends = [date.fromisoformat(one["occurred_at"][:10]) for one in (*out.values(), *back.values())]
    ours = [place for place, one in all_met.items() if one["book"] in books]
    ordered = sorted(ours, key=lambda place: talked[all_met[place]["book"]])
    marta, jonas = (sum(mine[who].values()) for who in READERS[:2])
    asked = (
        Asked(words["average"], "average", tuple(rated), mean(one["value"] for one in rated.values())),
        Asked(words["extreme"], "extreme", tuple(all_met), full),
        Asked(words["median"], "median", tuple(met), median(one["people"] for one in met.values())),
        Asked(
            words["comparison"], "comparison", (*mine["Marta"], *mine["Jonas"]), "Marta" if marta > jonas else "Jonas"
        ),
        Asked(words["duration"], "duration", (*out, *back), (ends[1] - ends[0]).days, "d"),
        Asked(words["count"], "count", tuple(lent), len(lent)),
        Asked(words["order"], "order", tuple(ordered), None, order=True),
        Asked(words["fines"], "sum", tuple(fined), sum(fined.values()), "EUR"),
    )
    return History("reading", language, tuple(writer.told), asked)


def _pages(writer: Writer, words: dict[str, str]) -> list[tuple[str, str, int, int]]:
    """Who read how much in which month; one of the two reads clearly more in May."""
    keen = writer.dice.choice(READERS[:2])
    found = []
    for who in READERS[:2]:
        for month, count in ((4, 2), (5, 4)):
            for number, day in enumerate(writer.days(month, count)):
                read = writer.dice.randrange(60, 110) if who == keen else writer.dice.randrange(12, 55)
                sentence = words["pages"].split("|")[number % 2]
                found.append((sentence.format(who=who, pages=read, day=writer.written(day)), who, month, read))
    return found


def _fines(writer: Writer, words: dict[str, str]) -> list[tuple[str, int, float]]:
    found = []
    for month, count in ((4, 3), (5, 2)):
        for number, day in enumerate(writer.days(month, count)):
            amount = writer.amount(1, 6)
            sentence = words["fine"].split("|")[number % 2]
            found.append((sentence.format(day=writer.written(day), amount=writer.money(amount)), month, amount))
    return found


def _ratings(writer: Writer, words: dict[str, str], books: list[str]) -> list[Told]:
    """Of two books, by each reader."""
    found = []
    for number, book in enumerate(books[1:3]):
        for who in READERS:
            value = writer.dice.randint(3, 9)
            fact = words["rating"].format(who=who, book=book, value=value)
            known = {"key": f"rating-{number}-{who}", "subject": book, "reader": who, "fact": fact, "value": value}
            found.append(Told("fact.recorded", known, who.lower()))
    return found


def _meetings(writer: Writer, books: list[str]) -> tuple[list[Told], dict[str, int]]:
    """One for each book and two older ones, with the month of each; each with another number of people."""
    shelf = writer.dice.sample(books, 4)
    while shelf == [books[3], books[1], books[0], books[2]]:
        writer.dice.shuffle(shelf)
    months = dict(zip(shelf, (1, 3, 4, 6), strict=True))
    people = writer.dice.sample(range(4, 19), 6)
    days = [(book, writer.day(month)) for book, month in months.items()]
    days += [("Emma", writer.day(10, 2025)), ("Dracula", writer.day(12, 2025))]
    held = [
        Told("meeting.held", {"book": book, "people": count, "occurred_at": noon(day)})
        for (book, day), count in zip(days, people, strict=True)
    ]
    return held, months


def _loans(writer: Writer, books: list[str]) -> list[Told]:
    """Jonas takes some in the first half of the year, some later, and brings one back; so does Marta."""
    rows = [("Jonas", "Solaris", writer.day(2)), ("Marta", books[0], writer.day(2)), ("Marta", books[2], writer.day(4))]
    rows += [("Jonas", book, writer.day(month)) for book, month in (("Emma", 5), ("Dracula", 7), (books[1], 9))]
    rows += [("Jonas", books[0], writer.day(6))] if writer.dice.random() < 0.5 else []
    found = [
        Told("loan.started", {"reader": who, "book": book, "occurred_at": noon(day)}, "shelf")
        for who, book, day in rows
    ]
    returned = [(*row[:2], later(row[2], writer.dice.randint(10, 70))) for row in rows[:2]]
    found += [
        Told("loan.returned", {"reader": who, "book": book, "occurred_at": noon(day)}, "shelf")
        for who, book, day in returned
    ]
    return found
