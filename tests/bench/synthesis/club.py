"""A handball club: matches in fields, training as percentages in talk, a survey beside it, and one match called off."""

from __future__ import annotations

from datetime import date
from random import Random
from statistics import mean, median

from bench.synthesis.history import Asked, History, Told, Writer, month_of, noon, turn

WORDS = {
    "en": {
        "noise": "the hall floor is being sanded in July|who can drive the minibus on Sunday?",
        "decision": "We order the kit from the local printer",
        "home": "home",
        "away": "away",
        "training": "{day}: {share} % of the squad at training|At training on {day} {share} % turned up",
        "survey": "On {day} 40 % of the parents answered the survey about the kit",
        "said": "what a match against {who} on {day}, {people} spectators!",
        "count": "How many home matches did we play in April?",
        "sum": "How many goals did we score in March and April together?",
        "average": "What was the average attendance at training in March, in percent?",
        "comparison": "Did more spectators come to see us against {one} or against {two}?",
        "difference": "How many more goals did we concede against {one} than against {two}?",
        "order": "In what order did we play {names} and {last}?",
        "duration": "How many days were there between the match against {one} and the one against {two}?",
        "median": "What's the median number of spectators at our matches in March?",
    },
    "de": {
        "noise": "Im Juli wird der Hallenboden abgeschliffen|Wer kann am Sonntag den Bus fahren?",
        "decision": "Die Trikots bestellen wir beim Drucker im Ort",
        "home": "heim",
        "away": "auswärts",
        "training": "{day}: {share} % vom Kader beim Training|Beim Training am {day} waren {share} % da",
        "survey": "Am {day} hatten 40 % der Eltern die Umfrage zu den Trikots beantwortet",
        "said": "Was für ein Spiel gegen {who} am {day}, {people} Zuschauer!",
        "count": "Wie viele Heimspiele hatten wir im April?",
        "sum": "Wie viele Tore haben wir im März und April zusammen geworfen?",
        "average": "Wie viel Prozent waren im März durchschnittlich beim Training?",
        "comparison": "Kamen gegen {one} oder gegen {two} mehr Zuschauer?",
        "difference": "Wie viele Gegentore haben wir gegen {one} mehr kassiert als gegen {two}?",
        "order": "In welcher Reihenfolge haben wir gegen {names} und {last} gespielt?",
        "duration": "Wie viele Tage lagen zwischen dem Spiel gegen {one} und dem gegen {two}?",
        "median": "Wie viele Zuschauer hatten wir im März im Median?",
    },
    "es": {
        "noise": "en julio lijan el suelo del pabellón|¿quién puede llevar la furgoneta el domingo?",
        "decision": "Encargamos las camisetas a la imprenta del barrio",
        "home": "casa",
        "away": "fuera",
        "training": "{day}: {share} % de la plantilla en el entreno|Al entrenamiento del {day} vino el {share} %",
        "survey": "El {day} el 40 % de las familias había contestado la encuesta de las camisetas",
        "said": "¡qué partido contra {who} el {day}, {people} espectadores!",
        "count": "¿Cuántos partidos en casa jugamos en abril?",
        "sum": "¿Cuántos goles marcamos entre marzo y abril?",
        "average": "¿Qué porcentaje de asistencia media hubo en los entrenamientos de marzo?",
        "comparison": "¿Vinieron más espectadores contra {one} o contra {two}?",
        "difference": "¿Cuántos goles más encajamos contra {one} que contra {two}?",
        "order": "¿En qué orden jugamos contra {names} y {last}?",
        "duration": "¿Cuántos días pasaron entre el partido contra {one} y el partido contra {two}?",
        "median": "¿Cuál es la mediana de espectadores en los partidos de marzo?",
    },
}
RIVALS = {
    "en": ("Ashford", "Redhill", "Barton", "Kingsley", "Thornbury", "Melton", "Wexham", "Dunmore", "Harlow", "Oakham"),
    "de": ("Lohfelden", "Bad Orb", "Weiden", "Kirchzell", "Altdorf", "Roßtal", "Melsungen", "Hanau", "Selb", "Ahlen"),
    "es": (
        "Soria",
        "Cangas",
        "Anaitasuna",
        "Puente Genil",
        "Torrevieja",
        "Huesca",
        "Avilés",
        "Nava",
        "Zarautz",
        "Alcobendas",
    ),
}

MEMBERS = ("Ida", "Noa", "Jonas", "Vera", "Paul", "Lucía", "Emil", "Sara")


def club(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    training, matches = _training(writer, words), _matches(writer, words)
    places = writer.scatter(
        [*[turn(text) for text, *_ in training], *matches, *_talk(writer, words, matches), *_fees(writer)]
    )
    off = {"opponent": RIVALS[language][-1], "venue": words["home"], "occurred_at": noon(date(2026, 4, 28))}
    writer.tell("match.cancelled", **off)
    present = {place: share for place, (_, month, share) in zip(places, training, strict=False) if month == 3}
    season = writer.where("match.played", lambda one: True)
    spring = {place: one["goals_for"] for place, one in season.items() if month_of(one) in (3, 4)}
    march = {place: one["spectators"] for place, one in season.items() if month_of(one) == 3}
    home = [place for place, one in season.items() if month_of(one) == 4 and one["venue"] == words["home"]]
    places = dice.sample(sorted(season), 8)
    more = max(places[:2], key=lambda place: season[place]["spectators"])
    worse = sorted(places[2:4], key=lambda place: -season[place]["goals_against"])
    conceded = [season[place]["goals_against"] for place in worse]
    apart = sorted(places[4:6], key=lambda place: season[place]["occurred_at"])
    first, second = (date.fromisoformat(season[place]["occurred_at"][:10]) for place in apart)
    row = sorted(places[5:8], key=lambda place: season[place]["occurred_at"])

    def versus(key: str, *found: int) -> str:
        one, two = (season[place]["opponent"] for place in found)
        return words[key].format(one=one, two=two)

    names = [season[place]["opponent"] for place in (row[2], row[0], row[1])]
    order = words["order"].format(names=", ".join(names[:2]), last=names[2])
    asked = (
        Asked(words["count"], "count", tuple(home), len(home)),
        Asked(words["sum"], "sum", tuple(spring), sum(spring.values())),
        Asked(words["median"], "median", tuple(march), median(march.values())),
        Asked(words["average"], "average", tuple(present), mean(present.values()), "%"),
        Asked(versus("comparison", *places[:2]), "comparison", tuple(places[:2]), season[more]["opponent"]),
        Asked(versus("difference", *worse), "difference", tuple(worse), conceded[0] - conceded[1]),
        Asked(order, "order", tuple(row), None, order=True),
        Asked(versus("duration", *apart), "duration", tuple(apart), (second - first).days, "d"),
    )
    return History("club", language, tuple(writer.told), asked)


def _matches(writer: Writer, words: dict[str, str]) -> list[Told]:
    """One against each opponent but the last, on days and before crowds that differ, with goals against that differ."""
    rivals = writer.dice.sample(RIVALS[writer.language][:-1], 9)
    days = [day for month, count in ((2, 2), (3, 3), (4, 3), (5, 1)) for day in writer.days(month, count)]
    crowds, conceded = (writer.dice.sample(range(*span), 9) for span in ((80, 900), (15, 38)))
    home = {2, 3, 5, 6, writer.dice.choice((7, 8))}
    return [
        Told(
            "match.played",
            {
                "opponent": rival,
                "venue": words["home"] if number in home else words["away"],
                "goals_for": writer.dice.randint(16, 36),
                "goals_against": conceded[number],
                "spectators": crowds[number],
                "occurred_at": noon(day),
            },
            "kim",
        )
        for number, (rival, day) in enumerate(zip(rivals, days, strict=True))
    ]


def _training(writer: Writer, words: dict[str, str]) -> list[tuple[str, int, int]]:
    """Sentences with their month and percentage."""
    found = []
    for month, count in ((2, 3), (3, 5), (4, 3)):
        for number, day in enumerate(writer.days(month, count)):
            share = writer.dice.randint(45, 98)
            text = words["training"].split("|")[number % 2].format(day=writer.written(day), share=share)
            found.append((text, month, share))
    return found


def _fees(writer: Writer) -> list[Told]:
    """What members have paid: nobody asks."""
    return [
        Told("fee.paid", {"member": name, "amount": amount, "currency": "EUR", "occurred_at": noon(writer.day(month))})
        for name, amount, month in zip(
            MEMBERS, (60, 60, 90, 60, 120, 90, 60, 90), (1, 1, 2, 3, 3, 4, 4, 5), strict=True
        )
    ]


def _talk(writer: Writer, words: dict[str, str], matches: list[Told]) -> list[Told]:
    """A match said again, a percentage of others, and matters of the club."""
    known = matches[3].payload
    day = writer.written(date.fromisoformat(known["occurred_at"][:10]))
    people = writer.number(known["spectators"])
    return [
        turn(words["said"].format(who=known["opponent"], day=day, people=people)),
        turn(words["survey"].format(day=writer.written(date(2026, 3, 28)))),
        *[turn(text) for text in words["noise"].split("|")],
        Told("decision.made", {"decision": words["decision"], "occurred_at": noon(date(2026, 3, 9))}, "kim"),
    ]
