"""A small shop: orders and returns in fields, stock as facts, suppliers in two currencies, vouchers in talk."""

from __future__ import annotations

from datetime import date
from random import Random
from statistics import mean, median

from bench.synthesis.history import Asked, History, Told, Writer, month_of, noon, turn

WORDS = {
    "en": {
        "products": "candles|soap|tea towels",
        "broken": "arrived broken",
        "reasons": "arrived broken|wrong colour|changed their mind",
        "stock": "Stock of {product} at the count on {day}",
        "pieces": "pcs",
        "voucher": "{day}: voucher with {share} % off for a regular|On {day} we gave a discount of {share} %",
        "rent": "the landlord raises the rent by 8 % from {day}",
        "supplier": "Paid the wax supplier {amount} on {day}",
        "repeat": "order {number} from {day}: candles for {amount}, paid straight away",
        "opened": "Stall at the town market applied for",
        "allowed": "Stall at the town market approved",
        "count": "How many orders came in between 5 and 20 October?",
        "sum": "What did we take for candles in May?",
        "returns": "How many returns in June were because something arrived broken?",
        "median": "What was the median order value in June?",
        "comparison": "Did we sell more pieces of soap or of tea towels in June?",
        "difference": "By how many pieces is the stock of soap lower at the count on {second} than on {first}?",
        "average": "How many percent off did we give on average in July?",
        "mixed": "What did we pay the wax supplier altogether?",
    },
    "de": {
        "products": "Kerzen|Seife|Geschirrtücher",
        "broken": "kam kaputt an",
        "reasons": "kam kaputt an|falsche Farbe|gefällt doch nicht",
        "stock": "Bestand {product} bei der Inventur am {day}",
        "pieces": "Stück",
        "voucher": "{day}: {share} % Rabatt für eine Stammkundin|Am {day} haben wir {share} % Rabatt gegeben",
        "rent": "Der Vermieter erhöht die Miete ab {day} um 8 %",
        "supplier": "Wachslieferant am {day} bezahlt: {amount}",
        "repeat": "Bestellung {number} vom {day}: Kerzen für {amount}, gleich bezahlt",
        "opened": "Stand auf dem Stadtmarkt beantragt",
        "allowed": "Stand auf dem Stadtmarkt genehmigt",
        "count": "Wie viele Bestellungen kamen zwischen dem 5. und dem 20. Oktober rein?",
        "sum": "Was haben wir im Mai mit Kerzen eingenommen?",
        "returns": "Wie viele Retouren gab es im Juni, weil etwas kaputt ankam?",
        "median": "Wie hoch war im Juni der Median der Bestellwerte?",
        "comparison": "Wovon haben wir im Juni mehr Stück verkauft, Seife oder Geschirrtücher?",
        "difference": "Um wie viel Stück ist der Bestand an Seife bei der Inventur am {second} kleiner als am {first}?",
        "average": "Wie viel Prozent Rabatt haben wir im Juli im Schnitt gegeben?",
        "mixed": "Wie viel haben wir dem Wachslieferanten insgesamt gezahlt?",
    },
    "es": {
        "products": "velas|jabón|paños de cocina",
        "broken": "llegó roto",
        "reasons": "llegó roto|color equivocado|se arrepintió",
        "stock": "Existencias de {product} en el recuento del {day}",
        "pieces": "uds",
        "voucher": "{day}: vale con un {share} % para una clienta fija|El {day} hicimos un descuento del {share} %",
        "rent": "el casero sube el alquiler un 8 % desde el {day}",
        "supplier": "Pagado al proveedor de cera el {day}: {amount}",
        "repeat": "pedido {number} del {day}: velas por {amount}, pagado al momento",
        "opened": "Puesto en el mercadillo solicitado",
        "allowed": "Puesto en el mercadillo concedido",
        "count": "¿Cuántos pedidos entraron entre el 5 y el 20 de octubre?",
        "sum": "¿Cuánto ingresamos con las velas en mayo?",
        "returns": "¿Cuántas devoluciones hubo en junio porque algo llegó roto?",
        "median": "¿Cuál fue la mediana del importe de los pedidos de junio?",
        "comparison": "¿De qué vendimos más unidades en junio, de jabón o de paños de cocina?",
        "difference": "¿Cuántas unidades menos de jabón había en el recuento del {second} que en el del {first}?",
        "average": "¿Qué porcentaje de descuento hicimos de media en julio?",
        "mixed": "¿Cuánto le hemos pagado en total al proveedor de cera?",
    },
}
COUNTED = (date(2026, 4, 1), date(2026, 7, 1), date(2026, 10, 1))


def shop(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    candle, soap, towel = words["products"].split("|")
    vouchers, paid = _vouchers(writer, words), _paid(writer, words)
    orders, stock = _orders(writer, words), _stock(writer, words)
    stall = [
        Told("task.completed", {"title": words["opened"], "occurred_at": noon(writer.day(2))}),
        Told("decision.made", {"decision": words["allowed"], "occurred_at": noon(writer.day(4))}, "town"),
    ]
    events = [*[turn(text) for text, *_ in vouchers], *paid, *stall, *orders, *stock, *_returns(writer, words)]
    places = writer.scatter([*events, *_talk(writer, words, orders)])
    given = {place: share for place, (_, month, share) in zip(places, vouchers, strict=False) if month == 7}
    suppliers = places[len(vouchers) : len(vouchers) + len(paid)]
    wrong = stock[1].payload
    writer.tell("fact.recorded", **{**wrong, "value": wrong["value"] - dice.randrange(3, 20)})

    def sold(month: int, product: str = "") -> dict[int, dict[str, float]]:
        return writer.where("order.placed", lambda one: month_of(one) == month and product in ("", one["product"]))

    october = [place for place, one in sold(10).items() if "2026-10-05" <= str(one["occurred_at"])[:10] <= "2026-10-20"]
    candles, june = sold(5, candle), sold(6)
    soaps, towels = sold(6, soap), sold(6, towel)
    pieces = [sum(one["quantity"] for one in found.values()) for found in (soaps, towels)]
    more = soap if pieces[0] > pieces[1] else towel
    broken = writer.where("return.received", lambda one: month_of(one) == 6 and one["reason"] == words["broken"])
    counts = writer.where("fact.recorded", lambda one: one["key"] in ("stock-soap-4", "stock-soap-7"))
    less = abs(sum(one["value"] * (-1 if month_of(one) == 7 else 1) for one in counts.values()))
    span = words["difference"].format(first=writer.written(COUNTED[0]), second=writer.written(COUNTED[1]))
    asked = (
        Asked(words["count"], "count", tuple(october), len(october)),
        Asked(words["sum"], "sum", tuple(candles), sum(one["total"] for one in candles.values()), "EUR"),
        Asked(words["median"], "median", tuple(june), median(one["total"] for one in june.values()), "EUR"),
        Asked(words["comparison"], "comparison", (*soaps, *towels), more),
        Asked(span, "difference", tuple(counts), less),
        Asked(words["average"], "average", tuple(given), mean(given.values()), "%"),
        Asked(words["mixed"], "sum", tuple(suppliers), None),
        Asked(words["returns"], "count", tuple(broken), len(broken)),
    )
    return History("shop", language, tuple(writer.told), asked)


def _orders(writer: Writer, words: dict[str, str]) -> list[Told]:
    """In June clearly more soap or clearly more towels; in October before, in and after the days that are asked for."""
    candle, soap, towel = words["products"].split("|")
    many = writer.dice.choice((soap, towel))
    rows = [(candle, date(2026, 4, 30)), *((candle, day) for day in writer.days(5, 3)), (soap, writer.day(5))]
    rows += [(product, day) for product in (soap, towel) for day in writer.days(6, 3)] + [(candle, date(2026, 6, 1))]
    days = [3, 4, *writer.dice.sample(range(6, 20), writer.dice.randint(2, 5)), 20, 21, 26]
    rows += [(writer.dice.choice((candle, soap, towel)), date(2026, 10, day)) for day in days]
    found = []
    for number, (product, day) in enumerate(rows, 501):
        quantity = writer.dice.randint(7, 9) if product == many else writer.dice.randint(1, 5)
        known = {"number": number, "product": product, "quantity": quantity, "total": writer.amount(8, 90)}
        found.append(Told("order.placed", {**known, "currency": "EUR", "occurred_at": noon(day)}, "web"))
    return found


def _stock(writer: Writer, words: dict[str, str]) -> list[Told]:
    """Of soap, less at each count, and of candles."""
    names = {"candle": words["products"].split("|")[0], "soap": words["products"].split("|")[1]}
    high = {4: (150, 200), 7: (80, 120), 10: (20, 50)}
    return [
        Told(
            "fact.recorded",
            {
                "key": f"stock-{name}-{day.month}",
                "fact": words["stock"].format(product=product, day=writer.written(day)),
                "value": writer.dice.randrange(*high[day.month]),
                "unit": words["pieces"],
                "occurred_at": noon(day),
            },
        )
        for name, product in reversed(names.items())
        for day in COUNTED
    ]


def _returns(writer: Writer, words: dict[str, str]) -> list[Told]:
    """In June at least two are broken; so is one in May."""
    reasons = words["reasons"].split("|")
    rows = [(5, 0), (5, 1), (6, 0), (6, 0), (6, 1), (6, 2), (6, writer.dice.randrange(3)), (7, 0)]
    product = words["products"].split("|")[0]
    return [
        Told("return.received", {"product": product, "reason": reasons[why], "occurred_at": noon(writer.day(month))})
        for month, why in rows
    ]


def _vouchers(writer: Writer, words: dict[str, str]) -> list[tuple[str, int, int]]:
    found = []
    for month, count in ((6, 2), (7, writer.dice.randint(3, 4))):
        for number, day in enumerate(writer.days(month, count)):
            text = words["voucher"].split("|")[number % 2]
            share = writer.dice.randrange(5, 45)
            found.append((text.format(day=writer.written(day), share=share), month, share))
    return found


def _paid(writer: Writer, words: dict[str, str]) -> list[Told]:
    """One of three in pounds."""
    amounts = [writer.amount(60, 300) for _ in range(3)]
    texts = [writer.money(amounts[0]), f"{writer.number(amounts[1])} GBP", writer.money(amounts[2])]
    days = [writer.written(writer.day(month)) for month in (3, 5, 8)]
    return [turn(words["supplier"].format(day=day, amount=text)) for day, text in zip(days, texts, strict=True)]


def _talk(writer: Writer, words: dict[str, str], orders: list[Told]) -> list[Told]:
    known = orders[2].payload
    day = writer.written(date.fromisoformat(known["occurred_at"][:10]))
    again = words["repeat"].format(number=known["number"], day=day, amount=writer.money(known["total"]))
    return [turn(again), turn(words["rent"].format(day=writer.written(date(2026, 7, 1))))]
