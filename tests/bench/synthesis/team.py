"""A software team: deployments, outages and reviews in fields, bills as facts, and what people say beside them."""

from __future__ import annotations

from datetime import date
from random import Random
from statistics import mean, median

from bench.synthesis.history import Asked, History, Told, Writer, later, month_of, noon, turn

WORDS = {
    "en": {
        "ok": "succeeded",
        "failed": "failed",
        "bill": "Cloud bill for {month}",
        "decision": "We drop Redis and keep the queue in Postgres",
        "done": "Queue moved to Postgres",
        "noise": "Renewed the certificates",
        "repeat": "heads up, billing was down for {minutes} minutes on {day}, already in the log",
        "off": "the billing maintenance of 90 minutes planned for {day} was called off",
        "plan": "next week we want to deploy search five times if QA agrees",
        "issue": "Search times out under load",
        "count": "How many deployments failed in May?",
        "sum": "how many minutes was billing down in the second quarter of 2026?",
        "median": "What's the median review time in June, in hours?",
        "extreme": "Which service had the longest outage?",
        "difference": "How much more was the cloud bill in June than in March?",
        "duration": "How many days went by from the decision to drop Redis until the queue was moved to Postgres?",
        "average": "How long did a deployment of checkout that succeeded take on average in May?",
    },
    "de": {
        "ok": "erfolgreich",
        "failed": "fehlgeschlagen",
        "bill": "Cloud-Rechnung für {month}",
        "decision": "Wir werfen Redis raus und legen die Queue in Postgres ab",
        "done": "Queue nach Postgres umgezogen",
        "noise": "Zertifikate erneuert",
        "repeat": "Zur Info: billing war am {day} {minutes} Minuten weg, steht schon im Log",
        "off": "Die für den {day} geplante Wartung von billing (90 Minuten) wurde abgeblasen",
        "plan": "Nächste Woche wollen wir search fünfmal deployen, wenn die QA mitspielt",
        "issue": "search läuft unter Last in Timeouts",
        "count": "Wie viele Deployments sind im Mai fehlgeschlagen?",
        "sum": "Wie viele Minuten war billing im zweiten Quartal 2026 insgesamt ausgefallen?",
        "median": "Was ist der Median der Reviewzeiten im Juni, in Stunden?",
        "extreme": "Welcher Service hatte den längsten Ausfall?",
        "difference": "Um wie viel höher war die Cloud-Rechnung für Juni als die für März?",
        "duration": "Wie viele Tage lagen zwischen der Entscheidung gegen Redis und dem Umzug der Queue nach Postgres?",
        "average": "Wie lange hat im Mai ein erfolgreiches Deployment von checkout im Schnitt gedauert?",
    },
    "es": {
        "ok": "correcto",
        "failed": "fallido",
        "bill": "Factura de la nube de {month}",
        "decision": "Quitamos Redis y pasamos la cola a Postgres",
        "done": "Cola migrada a Postgres",
        "noise": "Certificados renovados",
        "repeat": "ojo, billing estuvo caído {minutes} minutos el {day}, ya está en el registro",
        "off": "al final se anuló el mantenimiento de billing de 90 minutos previsto para el {day}",
        "plan": "la semana que viene queremos desplegar search cinco veces, si QA da el visto bueno",
        "issue": "search da timeouts con mucha carga",
        "count": "¿Cuántos despliegues fallidos hubo en mayo?",
        "sum": "¿Cuántos minutos estuvo caído billing en total en el segundo trimestre de 2026?",
        "median": "¿Cuál es la mediana del tiempo de revisión en junio, en horas?",
        "extreme": "¿Qué servicio tuvo la caída más larga?",
        "difference": "¿Cuánto más pagamos de nube en junio que en marzo?",
        "duration": "¿Cuántos días pasaron desde que decidimos quitar Redis hasta migrar la cola a Postgres?",
        "average": "¿Cuánto tardó de media un despliegue correcto de checkout en mayo?",
    },
}
SERVICES = ("billing", "search", "checkout")


def team(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    outages = _outages(writer)
    bills = _bills(writer, words)
    decided = writer.day(2)
    moved = later(decided, dice.randint(20, 60))
    decision = Told("decision.made", {"decision": words["decision"], "occurred_at": noon(decided)})
    done = Told("task.completed", {"title": words["done"], "occurred_at": noon(moved)})
    events = [decision, done, *outages, *bills, *_deployments(writer, words), *_reviews(writer)]
    events += _talk(writer, words, outages)
    start, end = writer.scatter(events)[:2]
    march = bills[2].payload
    writer.tell("fact.recorded", **{**march, "value": march["value"] + dice.randrange(5, 30)})

    failed = writer.where("deployment.finished", lambda one: month_of(one) == 5 and one["status"] == words["failed"])
    smooth = writer.where(
        "deployment.finished",
        lambda one: month_of(one) == 5 and one["status"] == words["ok"] and one["service"] == "checkout",
    )
    down = writer.where("incident.resolved", lambda one: month_of(one) in (4, 5, 6) and one["service"] == "billing")
    reviews = writer.where("review.completed", lambda one: month_of(one) == 6)
    long = writer.where("incident.resolved", lambda one: True)
    top = max(long.values(), key=lambda one: one["downtime_minutes"])["service"]
    cost = writer.where("fact.recorded", lambda one: one["key"] in ("cloud-2026-03", "cloud-2026-06"))
    by_key = {one["key"]: one["value"] for one in cost.values()}
    more = by_key["cloud-2026-06"] - by_key["cloud-2026-03"]
    asked = (
        Asked(words["count"], "count", tuple(failed), len(failed)),
        Asked(words["sum"], "sum", tuple(down), sum(one["downtime_minutes"] for one in down.values()), "min"),
        Asked(words["median"], "median", tuple(reviews), median(one["hours"] for one in reviews.values()), "h"),
        Asked(words["extreme"], "extreme", tuple(long), top),
        Asked(words["difference"], "difference", tuple(cost), more, "USD"),
        Asked(words["duration"], "duration", (start, end), (moved - decided).days, "d"),
        Asked(
            words["average"], "average", tuple(smooth), mean(one["duration_minutes"] for one in smooth.values()), "min"
        ),
    )
    return History("team", language, tuple(writer.told), asked)


def _outages(writer: Writer) -> list[Told]:
    """Of billing one before, three in and one after the second quarter; no two are of one length."""
    when = [("billing", month) for month in (3, 4, 5, 6, 7)] + [("search", 4), ("checkout", 5), ("search", 6)]
    lengths = writer.dice.sample(range(6, 88), len(when))
    return [
        Told(
            "incident.resolved",
            {
                "id": f"INC-{40 + number}",
                "service": service,
                "downtime_minutes": minutes,
                "occurred_at": noon(writer.day(month)),
            },
            "pager",
        )
        for number, ((service, month), minutes) in enumerate(zip(when, lengths, strict=True))
    ]


def _bills(writer: Writer, words: dict[str, str]) -> list[Told]:
    """January to June; June is far the dearest."""
    values = [writer.dice.randrange(300, 420) for _ in range(5)] + [writer.dice.randrange(520, 700)]
    return [
        Told(
            "fact.recorded",
            {
                "key": f"cloud-2026-{month:02}",
                "fact": words["bill"].format(month=writer.month(month)),
                "value": value,
                "unit": "USD",
                "occurred_at": noon(writer.day(month).replace(day=28)),
            },
        )
        for month, value in enumerate(values, 1)
    ]


def _deployments(writer: Writer, words: dict[str, str]) -> list[Told]:
    """Each service fails at least once a month, and succeeds at least twice."""
    return [
        Told(
            "deployment.finished",
            {
                "service": service,
                "status": words["failed"] if number == 0 or (number == 3 and service != "checkout") else words["ok"],
                "duration_minutes": writer.dice.randint(4, 40),
                "occurred_at": noon(day),
            },
            "ci",
        )
        for month in (4, 5)
        for service in SERVICES
        for number, day in enumerate(writer.days(month, writer.dice.randint(3, 4)))
    ]


def _reviews(writer: Writer) -> list[Told]:
    days = [*writer.days(5, 3), *writer.days(6, writer.dice.randint(4, 7))]
    return [
        Told(
            "review.completed",
            {"pull_request": 300 + number, "hours": writer.dice.randrange(2, 60) / 4, "occurred_at": noon(day)},
        )
        for number, day in enumerate(days)
    ]


def _talk(writer: Writer, words: dict[str, str], outages: list[Told]) -> list[Told]:
    known = outages[2].payload
    day = date.fromisoformat(known["occurred_at"][:10])
    repeat = words["repeat"].format(minutes=known["downtime_minutes"], day=writer.written(day))
    return [
        turn(repeat),
        turn(words["off"].format(day=writer.written(date(2026, 5, 28)))),
        turn(words["plan"]),
        Told("issue.diagnosed", {"issue": words["issue"], "occurred_at": noon(writer.day(4))}),
        Told("task.completed", {"title": words["noise"], "occurred_at": noon(writer.day(3))}),
    ]
