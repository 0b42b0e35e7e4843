"""A kitchen garden: harvests in fields, seed bought in talk, rain as facts, and watering in units that do not add."""

from __future__ import annotations

from datetime import date
from random import Random
from statistics import mean

from bench.synthesis.history import Asked, History, Told, Writer, dated, later, month_of, turn

WORDS = {
    "en": {
        "compost": "On {day} I paid {amount} for compost",
        "tomato": "tomatoes",
        "bean": "beans",
        "squash": "courgettes",
        "potato": "potatoes",
        "house": "greenhouse",
        "rain": "rain in the week from {day}",
        "picked": "we got {kg} kg of tomatoes out of the greenhouse on {day}",
        "plan": "we'd love to reach 50 kg of tomatoes in August next year",
        "sown": "leeks sown|pumpkins planted out|strawberries covered with straw|garlic lifted",
        "sum": "How many kilos of tomatoes did we pick in August?",
        "seed": "How much did we spend on seed in March?",
        "extreme": "What was our biggest single harvest of courgettes?",
        "comparison": "Did we harvest more beans or more courgettes in July?",
        "average": "What was the average weekly rain in June and July?",
        "mixed": "How much did we water the greenhouse altogether?",
        "difference": "How many more kilos of potatoes did we dig up in 2026 than in 2025?",
        "order": "In what order did we do the leeks, the pumpkins, the strawberries and the garlic?",
    },
    "de": {
        "compost": "Am {day} habe ich {amount} für Kompost bezahlt",
        "tomato": "Tomaten",
        "bean": "Bohnen",
        "squash": "Zucchini",
        "potato": "Kartoffeln",
        "house": "Gewächshaus",
        "rain": "Regen in der Woche ab {day}",
        "picked": "Am {day} haben wir {kg} kg Tomaten aus dem Gewächshaus geholt",
        "plan": "Nächstes Jahr wollen wir im August 50 kg Tomaten schaffen",
        "sown": "Lauch ausgesät|Kürbisse ausgepflanzt|Erdbeeren mit Stroh gemulcht|Knoblauch geerntet",
        "sum": "Wie viel Kilo Tomaten haben wir im August geerntet?",
        "seed": "Wie viel haben wir im März für Saatgut ausgegeben?",
        "extreme": "Wie groß war die größte einzelne Zucchini-Ernte?",
        "comparison": "Haben wir im Juli mehr Bohnen oder mehr Zucchini geerntet?",
        "average": "Wie viel Regen fiel im Juni und Juli durchschnittlich pro Woche?",
        "mixed": "Wie viel haben wir das Gewächshaus insgesamt gegossen?",
        "difference": "Wie viel Kilo Kartoffeln haben wir 2026 mehr geerntet als 2025?",
        "order": "In welcher Reihenfolge kamen Lauch, Kürbisse, Erdbeeren und Knoblauch dran?",
    },
    "es": {
        "compost": "El {day} pagué {amount} por compost",
        "tomato": "tomates",
        "bean": "judías",
        "squash": "calabacines",
        "potato": "patatas",
        "house": "invernadero",
        "rain": "lluvia de la semana del {day}",
        "picked": "El {day} sacamos {kg} kg de tomates del invernadero",
        "plan": "el año que viene queremos llegar a 50 kg de tomates en agosto",
        "sown": "puerros sembrados|calabazas trasplantadas|fresas cubiertas con paja|ajos arrancados",
        "sum": "¿Cuántos kilos de tomates cogimos en agosto?",
        "seed": "¿Cuánto nos gastamos en semillas en marzo?",
        "extreme": "¿De cuánto fue la mayor cosecha de calabacines de una sola vez?",
        "comparison": "¿Qué cosechamos más en julio, judías o calabacines?",
        "average": "¿Cuánto llovió de media por semana en junio y julio?",
        "mixed": "¿Cuánto hemos regado el invernadero en total?",
        "difference": "¿Cuántos kilos de patatas más recogimos en 2026 que en 2025?",
        "order": "¿En qué orden hicimos los puerros, las calabazas, las fresas y los ajos?",
    },
}
SEED = {
    "en": (
        "Spent {amount} on seed on {day}",
        "on {day} I bought seed at the market, {amount}",
        "{day}: seed, {amount}",
    ),
    "de": (
        "Am {day} {amount} für Saatgut ausgegeben",
        "Saatgut auf dem Markt gekauft, {amount}, am {day}",
        "{day}: Saatgut, {amount}",
    ),
    "es": (
        "El {day} me gasté {amount} en semillas",
        "{day}: semillas, {amount}",
        "compré semillas en el mercado el {day} por {amount}",
    ),
}


def garden(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    seed = _seed(writer, 3, dice.randint(3, 4))
    watering = _watering(writer, words)
    chores = _chores(writer, words)
    rain = _rain(writer, words)
    crops = _harvests(writer, words)
    other = [turn(text) for text in _seed(writer, 4, 2)] + [turn(words["plan"]), _repeat(writer, words, crops)]
    other += [
        turn(words["compost"].format(day=writer.written(day), amount=writer.money(9))) for day in writer.days(3, 1)
    ]
    places = iter(writer.scatter([*map(turn, seed), *watering, *chores, *rain, *crops, *other]))
    bought = [next(places) for _ in seed]
    watered = [next(places) for _ in watering]
    chored = [next(places) for _ in chores]
    writer.tell("fact.recorded", **{**rain[1].payload, "value": dice.randrange(60, 90) / 2})

    def crop(name: str, *months: int) -> dict[int, float]:
        found = writer.where("harvest.logged", lambda one: one["crop"] == words[name] and month_of(one) in months)
        return {place: one["kg"] for place, one in found.items()}

    tomatoes, squash, beans = crop("tomato", 8), crop("squash", 6, 7, 8), crop("bean", 7)
    july = crop("squash", 7)
    winner = "bean" if sum(beans.values()) > sum(july.values()) else "squash"
    dug = writer.where("harvest.logged", lambda one: one["crop"] == words["potato"])
    now, before = (
        sum(one["kg"] for one in dug.values() if one["occurred_at"][:4] == year) for year in ("2026", "2025")
    )
    wet = writer.where("fact.recorded", lambda one: one["key"].startswith("rain-") and month_of(one) in (6, 7))
    asked = (
        Asked(words["sum"], "sum", tuple(tomatoes), sum(tomatoes.values()), "kg"),
        Asked(words["seed"], "sum", tuple(bought), sum(seed.values()), "EUR"),
        Asked(words["extreme"], "extreme", tuple(squash), max(squash.values()), "kg"),
        Asked(words["comparison"], "comparison", (*beans, *july), words[winner]),
        Asked(words["average"], "average", tuple(wet), mean(one["value"] for one in wet.values()), "mm"),
        Asked(words["mixed"], "sum", tuple(watered), None),
        Asked(words["difference"], "difference", tuple(dug), now - before, "kg"),
        Asked(words["order"], "order", tuple(chored), None, order=True),
    )
    return History("garden", language, tuple(writer.told), asked)


def _seed(writer: Writer, month: int, count: int) -> dict[str, float]:
    """Sentences of people, each with what was paid."""
    found = {}
    for number, day in enumerate(writer.days(month, count)):
        amount = writer.amount(3, 25)
        found[SEED[writer.language][number % 3].format(day=writer.written(day), amount=writer.money(amount))] = amount
    return found


def _watering(writer: Writer, words: dict[str, str]) -> list[Told]:
    """In litres by the can, and in minutes by the hose."""
    amounts = writer.dice.sample(range(10, 60, 5), 4)
    return [
        dated("watering.done", day, place=words["house"], amount=amount, unit="min" if number % 2 else "l")
        for number, (day, amount) in enumerate(zip(writer.days(7, 4), amounts, strict=True))
    ]


def _chores(writer: Writer, words: dict[str, str]) -> list[Told]:
    """In the order in which they were done, which is not that of the question."""
    chores = writer.dice.sample(words["sown"].split("|"), 4)
    while chores == words["sown"].split("|"):
        writer.dice.shuffle(chores)
    return [
        dated("task.completed", writer.day(month), title=chore)
        for month, chore in zip((3, 5, 6, 7), chores, strict=True)
    ]


def _rain(writer: Writer, words: dict[str, str]) -> list[Told]:
    """Of weeks in May, June, July and August."""
    starts = [
        date(2026, 5, 18),
        *(later(date(2026, 6, 1), 7 * week) for week in (0, 1, 2, 4, 5, 6, 7)),
        date(2026, 8, 3),
    ]
    return [
        dated(
            "fact.recorded",
            start,
            key=f"rain-{start.isoformat()}",
            fact=words["rain"].format(day=writer.written(start)),
            value=writer.dice.randrange(0, 59) / 2,
            unit="mm",
        )
        for start in starts
    ]


def _harvests(writer: Writer, words: dict[str, str]) -> list[Told]:
    """Of beans clearly less or clearly more than of courgettes in July; potatoes are more in 2026; no ties."""
    plan = [("tomato", (7, 8, 8, 8, 8, 9)), ("squash", (6, 7, 7, 7, 8)), ("bean", (7, 7, 8)), ("potato", (8, 9))]
    heavy = {"tomato": (10, 60), "squash": (20, 70), "potato": (200, 300)}
    heavy["bean"] = writer.dice.choice(((5, 20), (120, 160)))
    rows = []
    for crop, months in plan:
        weights = writer.dice.sample(range(*heavy[crop]), len(months))
        rows += [(crop, kg / 10, writer.day(month)) for month, kg in zip(months, weights, strict=True)]
    rows += [("potato", kg / 10, writer.day(9, 2025)) for kg in writer.dice.sample(range(80, 180), 2)]
    return [dated("harvest.logged", day, "leo", crop=words[crop], kg=kg) for crop, kg, day in rows]


def _repeat(writer: Writer, words: dict[str, str], crops: list[Told]) -> Told:
    """What a harvest's fields say, said again."""
    day = writer.written(date.fromisoformat(crops[2].payload["occurred_at"][:10]))
    return turn(words["picked"].format(day=day, kg=writer.number(crops[2].payload["kg"])))
