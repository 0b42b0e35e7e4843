"""What may be looked at while the rules are mended: a choir, a tutor, a bakery, a car, a journey and a practice."""

from __future__ import annotations

from bench.synthesis.history import History
from bench.synthesis.strangers.story import on, said, story


def choir() -> History:
    return story(
        "choir",
        "fr",
        {
            "p1": on("2026-01-13", "repetition.tenue", "luc", lieu="église", presents=24),
            "p2": on("2026-01-20", "repetition.tenue", "luc", lieu="église", presents=19),
            "p3": on("2026-01-27", "repetition.annulee", "luc", lieu="église"),
            "p4": on("2026-02-03", "repetition.tenue", "luc", lieu="salle des fêtes", presents=27),
            "c1": on("2026-02-14", "concert.donne", "luc", ville="Nantes", entrees="812,00 €"),
            "c2": on("2026-03-21", "concert.donne", "luc", ville="Rennes", entrees="1 355,50 €"),
            "c2b": said("2026-03-22", "Super soirée à Rennes hier, 1 355,50 € d'entrées !", "anne"),
            "c3": on("2026-06-20", "concert.prevu", "luc", ville="Brest"),
            "m1": said("2026-01-05", "Paul entre au chœur aujourd'hui", "luc"),
            "m2": said("2026-03-01", "Chloé entre au chœur aujourd'hui", "luc"),
            "m3": said("2026-02-10", "Inès entre au chœur aujourd'hui", "luc"),
        },
        ("Combien de répétitions ont eu lieu en janvier 2026 ?", "count", "p1 p2", 2, ""),
        ("Combien de présents en moyenne aux répétitions à l'église ?", "average", "p1 p2", 21.5, ""),
        ("Combien les concerts ont-ils rapporté au total ?", "sum", "c1 c2", 2167.5, "EUR"),
        ("De combien les entrées de Rennes dépassent-elles celles de Nantes ?", "difference", "c1 c2", 543.5, "EUR"),
    )


def tutor() -> History:
    return story(
        "tutor",
        "ru",
        {
            "u1": on("2026-02-03", "lesson.held", "оля", ученик="Миша", предмет="математика", оплата="1 500,00 ₽"),
            "u2": on("2026-02-10", "lesson.held", "оля", ученик="Миша", предмет="математика", оплата="1 500,00 ₽"),
            "u3": on("2026-02-11", "lesson.held", "оля", ученик="Аня", предмет="физика", оплата="1 800,50 ₽"),
            "u4": on("2026-02-17", "lesson.cancelled", "оля", ученик="Миша", предмет="математика"),
            "u5": on("2026-03-03", "lesson.held", "оля", ученик="Миша", предмет="математика", оплата="1 700,00 ₽"),
            "g1": said("2026-02-28", "Миша получил 4 за контрольную", "оля"),
        },
        ("Сколько уроков провела Оля с Мишей в феврале?", "count", "u1 u2", 2, ""),
        ("Сколько всего Миша заплатил за уроки?", "sum", "u1 u2 u5", 4700, "RUB"),
    )


def bakery() -> History:
    return story(
        "bakery",
        "es",
        {
            "s1": on("2026-05-04", "venta.cerrada", "caja", producto="hogaza", cantidad=34, importe="119,00 €"),
            "s2": on("2026-05-05", "venta.cerrada", "caja", producto="hogaza", cantidad=28, importe="98,00 €"),
            "s3": on("2026-05-05", "venta.cerrada", "caja", producto="croissant", cantidad=60, importe="84,00 €"),
            "s4": on("2026-05-06", "venta.cerrada", "caja", producto="hogaza", cantidad=41, importe="143,50 €"),
            "s5": on("2026-06-01", "venta.cerrada", "caja", producto="hogaza", cantidad=30, importe="1.105,00 €"),
            "back": on("2026-05-06", "devolucion.hecha", "caja", producto="hogaza", cantidad=2, importe="7,00 €"),
            "h1": on("2026-05-02", "harina.recibida", "marta", tipo="trigo", peso="25 kg", proveedor="Molino Sol"),
            "h2": on("2026-05-16", "harina.recibida", "marta", tipo="trigo", peso="50 kg", proveedor="Molino Sol"),
            "h3": on("2026-05-16", "harina.recibida", "marta", tipo="centeno", peso="2 sacos", proveedor="Molino Sol"),
            "h4": on("2026-05-23", "harina.recibida", "marta", tipo="centeno", peso="10 kg", proveedor="La Espiga"),
            "oven1": said("2026-05-08", "El horno se ha estropeado esta mañana, cerramos", "marta"),
            "oven2": said("2026-05-11", "¡Horno arreglado! Mañana abrimos", "marta"),
            "idea": said("2026-05-12", "Estoy pensando en pedir 100 kg de trigo para junio, ya veremos", "marta"),
        },
        ("¿Cuántas hogazas vendimos en mayo?", "sum", "s1 s2 s4", 103, ""),
        ("¿Cuántos kilos de trigo recibimos en mayo en total?", "sum", "h1 h2", 75, "kg"),
        ("¿Cuánto centeno recibimos en total en mayo?", "sum", "h3 h4", None, ""),
        ("¿Cuánto duró la avería del horno?", "duration", "oven1 oven2", 3, "d"),
        ("¿Qué día de mayo vendimos más hogazas?", "extreme", "s1 s2 s4", "2026-05-06", ""),
    )


def car() -> History:
    return story(
        "car",
        "de",
        {
            "t1": said("2026-01-10", "Getankt: 41,3 Liter für 72,28 €, Stand 84.120 km", "uwe"),
            "t2": said("2026-01-29", "Wieder getankt, 38,0 l, 65,40 €. Tacho 84.690", "uwe"),
            "t3": said("2026-02-14", "Heute 44,7 Liter getankt, 79,05 €", "uwe"),
            "t3b": said("2026-02-14", "Notiert: 44,7 Liter für 79,05 €.", "assistant", "assistant"),
            "dream": said("2026-02-15", "Wenn Benzin auf 2 € steigt, zahl ich 90 € pro Tankfüllung...", "uwe"),
            "k1": on("2026-01-20", "reparatur.bezahlt", "uwe", teil="Bremsen", betrag="1.480,90 €"),
            "k2": on("2026-02-20", "reparatur.bezahlt", "uwe", teil="Auspuff", betrag="612,00 €"),
            "k3": on("2026-03-02", "reparatur.bezahlt", "uwe", teil="Wischer", betrag="24,50 €"),
            "offer": on("2026-03-03", "angebot.erhalten", "werkstatt", teil="Kupplung", betrag="1.900,00 €"),
            "w1": said("2026-03-05", "Auto in die Werkstatt gebracht", "uwe"),
            "w2": said("2026-03-09", "Auto aus der Werkstatt abgeholt, läuft wieder", "uwe"),
        },
        ("Wie viel habe ich bisher insgesamt für Reparaturen bezahlt?", "sum", "k1 k2 k3", 2117.4, "EUR"),
        ("Wie viele Liter habe ich im Januar getankt?", "sum", "t1 t2", 79.3, "l"),
        ("Welche Reparatur war die teuerste?", "extreme", "k1 k2 k3", "Bremsen", ""),
        ("Wie viele Tage war das Auto in der Werkstatt?", "duration", "w1 w2", 4, "d"),
        ("Was kostete einmal Tanken im Durchschnitt?", "average", "t1 t2 t3", 72.2433, "EUR"),
    )


def journey() -> History:
    return story(
        "andes",
        "en",
        {
            "leg1": on(
                "2026-02-03", "leg.travelled", "kim", start="Lima", end="Cusco", mode="plane", distance="586 km"
            ),
            "leg2": on("2026-02-06", "leg.travelled", "kim", start="Cusco", end="Puno", mode="bus", distance="389 km"),
            "leg3": on(
                "2026-02-09", "leg.travelled", "kim", start="Puno", end="La Paz", mode="bus", distance="165 miles"
            ),
            "leg4": on(
                "2026-02-13", "leg.travelled", "kim", start="La Paz", end="Uyuni", mode="train", distance="540 km"
            ),
            "h1": said("2026-02-03", "checked in at Hostal Andino in Cusco, 45 dollars a night for 3 nights", "kim"),
            "h2": said("2026-02-06", "Puno: hotel is $38 a night, staying 3 nights", "kim"),
            "e1": on("2026-02-04", "expense.logged", "kim", what="Machu Picchu ticket", cost=152, currency="PEN"),
            "e2": on("2026-02-04", "expense.logged", "kim", what="lunch", cost=31.5, currency="PEN"),
            "e3": on("2026-02-07", "expense.logged", "kim", what="lunch", cost=24, currency="PEN"),
            "e4": on("2026-02-10", "expense.logged", "kim", what="lunch", cost=60, currency="BOB"),
            "e5": on("2026-02-05", "expense.logged", "sam", what="lunch", cost=28, currency="PEN"),
            "sick": said("2026-02-08", "sam is sick, altitude probably. no lunch for us today", "kim"),
        },
        ("How many bus rides did we take?", "count", "leg2 leg3", 2, ""),
        ("How much did Kim spend on lunch altogether?", "sum", "e2 e3 e4", None, ""),
        ("How much did Kim spend on lunch in Peruvian soles?", "sum", "e2 e3", 55.5, "PEN"),
        ("How many days were there between leaving Lima and arriving in Uyuni?", "duration", "leg1 leg4", 10, "d"),
        ("In which order did we visit Puno, Uyuni, Cusco and La Paz?", "order", "leg1 leg2 leg3 leg4", None, ""),
        ("What was the average price of a hotel night in Chile?", "average", "", None, ""),
    )


def practice() -> History:
    return story(
        "practice",
        "fr",
        {
            "v1": on("2026-03-03", "consultation.terminee", "dr", patient="Mme Roux", motif="vaccin", duree_min=10),
            "v2": on("2026-03-05", "consultation.terminee", "dr", patient="M. Petit", motif="tension", duree_min=25),
            "v3": on("2026-03-12", "consultation.terminee", "dr", patient="Léa Roux", motif="vaccin", duree_min=12),
            "v4": on("2026-03-19", "consultation.annulee", "dr", patient="M. Blanc", motif="vaccin"),
            "v5": on("2026-03-26", "consultation.terminee", "dr", patient="M. Petit", motif="tension", duree_min=15),
            "v6": on("2026-04-02", "consultation.terminee", "dr", patient="M. Blanc", motif="vaccin", duree_min=11),
            "t1": said("2026-03-05", "Tension de M. Petit ce matin : 16,2", "dr"),
            "t2": said("2026-03-12", "M. Petit a appelé, tension prise à la maison : 15,1", "dr"),
            "t3": said("2026-03-26", "Tension de M. Petit aujourd'hui : 14,0", "dr"),
            "t4": said("2026-03-26", "Tension de Mme Roux : 12,5, rien à signaler", "dr"),
            "f1": on("2026-03-09", "facture.payee", "compta", objet="gants", montant="1 042,50 €"),
            "f2": on("2026-03-30", "facture.payee", "compta", objet="gants", montant="57,50 €"),
            "f3": on("2026-03-31", "facture.payee", "compta", objet="chauffage", montant="310,00 €"),
        },
        ("Combien de vaccins avons-nous faits en mars 2026 ?", "count", "v1 v3", 2, ""),
        ("Combien avons-nous payé en tout pour les gants ?", "sum", "f1 f2", 1100, "EUR"),
        ("Quelle est la tension moyenne de M. Petit en mars ?", "average", "t1 t2 t3", 15.1, ""),
        ("Combien de jours entre la première et la dernière consultation de M. Petit ?", "duration", "v2 v5", 21, "d"),
    )


LOOKED = (choir, tutor, bakery, car, journey, practice)
