"""A data project: training runs and failures in fields, sizes of data as facts, graphics cards rented by the hour."""

from __future__ import annotations

from datetime import date
from random import Random
from statistics import mean

from bench.synthesis.history import Asked, History, Told, Writer, later, month_of, noon, turn

WORDS = {
    "en": {
        "frozen": "The churn data set is frozen",
        "release": "Churn model released to production",
        "size": "Rows in the {name} split",
        "gpu": "{day}: rented the A100 for {time}|On {day} the A100 was busy for {time}",
        "booked": "Booked the A100 for 6 h on {day}, then cancelled it",
        "again": "{run} is through, {accuracy} % accuracy on churn",
        "steps": "Cleaned the labels|Removed the duplicates|Balanced the classes",
        "count": "How many runs failed in April?",
        "extreme": "Which model reached the highest accuracy on churn?",
        "lowest": "What is the lowest loss of an mlp run?",
        "average": "What's the average accuracy of the forest runs on churn in May?",
        "sum": "How many hours did we use the A100 in June, all in all?",
        "difference": "By how many rows is the training split larger than the test split?",
        "order": "In what order were the classes balanced, the labels cleaned and the duplicates removed?",
        "duration": "How many days from freezing the churn data set to the release of the model?",
        "splits": "training|test",
    },
    "de": {
        "frozen": "Der Datensatz churn ist eingefroren",
        "release": "Churn-Modell ist produktiv gegangen",
        "size": "Zeilen im {name}-Split",
        "gpu": "{day}: A100 für {time} gemietet|Am {day} lief die A100 {time}",
        "booked": "Die A100 für den {day} für 6 h gebucht und wieder storniert",
        "again": "{run} ist durch, {accuracy} % Genauigkeit auf churn",
        "steps": "Labels bereinigt|Dubletten entfernt|Klassen balanciert",
        "count": "Wie viele Läufe sind im April fehlgeschlagen?",
        "extreme": "Welches Modell hat auf churn die höchste Genauigkeit erreicht?",
        "lowest": "Was ist der niedrigste Loss eines Laufs mit mlp?",
        "average": "Wie genau waren die forest-Läufe auf churn im Mai im Durchschnitt?",
        "sum": "Wie viele Stunden haben wir die A100 im Juni alles in allem genutzt?",
        "difference": "Um wie viele Zeilen ist der Trainings-Split größer als der Test-Split?",
        "order": "In welcher Reihenfolge wurden Klassen balanciert, Labels bereinigt und Dubletten entfernt?",
        "duration": "Wie viele Tage lagen zwischen dem Einfrieren von churn und dem Produktivgang des Churn-Modells?",
        "splits": "Trainings|Test",
    },
    "es": {
        "frozen": "El conjunto de datos churn queda congelado",
        "release": "Modelo de churn puesto en producción",
        "size": "Filas de la partición de {name}",
        "gpu": "{day}: A100 alquilada {time}|El {day} la A100 estuvo ocupada {time}",
        "booked": "Reservé la A100 6 h para el {day} y luego lo cancelé",
        "again": "terminó {run}, {accuracy} % de exactitud en churn",
        "steps": "Etiquetas limpiadas|Duplicados eliminados|Clases equilibradas",
        "count": "¿Cuántas ejecuciones fallaron en abril?",
        "extreme": "¿Qué modelo alcanzó la mayor exactitud en churn?",
        "lowest": "¿Cuál es la pérdida más baja de una ejecución con mlp?",
        "average": "¿Qué exactitud media tuvieron las ejecuciones de forest en churn en mayo?",
        "sum": "¿Cuántas horas usamos la A100 en junio, en total?",
        "difference": "¿Cuántas filas más tiene la partición de entrenamiento que la de prueba?",
        "order": "¿En qué orden se equilibraron las clases, se limpiaron las etiquetas y se eliminaron los duplicados?",
        "duration": "¿Cuántos días pasaron desde que se congeló churn hasta que el modelo entró en producción?",
        "splits": "entrenamiento|prueba",
    },
}
MODELS = ("forest", "mlp", "boost")


def runs(language: str, dice: Random) -> History:
    writer, words = Writer(language, dice), WORDS[language]
    frozen, gpu = writer.day(3), _gpu(writer, words)
    released = later(frozen, dice.randint(30, 90))
    ends = [
        Told("decision.made", {"decision": words["frozen"], "occurred_at": noon(frozen)}),
        Told("task.completed", {"title": words["release"], "occurred_at": noon(released)}),
    ]
    finished, steps, sizes = _finished(writer), _steps(writer, words), _sizes(writer, words)
    fields = [*ends, *steps, *finished, *_failed(writer), *sizes]
    known = next(one.payload for one in finished if one.payload["dataset"] == "churn" and month_of(one.payload) == 5)
    again = words["again"].format(run=known["run"], accuracy=writer.number(known["accuracy"]))
    booked = words["booked"].format(day=writer.written(date(2026, 6, 28)))
    places = writer.scatter([*[turn(text) for text, *_ in gpu], *fields, turn(again), turn(booked)])
    writer.tell("fact.recorded", **{**sizes[0].payload, "value": sizes[0].payload["value"] - dice.randrange(100, 900)})
    rented = {place: minutes for place, (_, month, minutes) in zip(places, gpu, strict=False) if month == 6}
    start, end, *stepped = places[len(gpu) :][:5]

    failed = writer.where("run.failed", lambda one: month_of(one) == 4)
    churn = writer.where("run.finished", lambda one: one["dataset"] == "churn")
    forest = {p: one["accuracy"] for p, one in churn.items() if one["model"] == "forest" and month_of(one) == 5}
    mlp = writer.where("run.finished", lambda one: one["model"] == "mlp")
    split = writer.where("fact.recorded", lambda one: one["key"] in ("rows-0", "rows-1"))
    train, test = (next(one["value"] for one in split.values() if one["key"] == key) for key in ("rows-0", "rows-1"))
    best = max(churn.values(), key=lambda one: one["accuracy"])["model"]
    asked = (
        Asked(words["count"], "count", tuple(failed), len(failed)),
        Asked(words["extreme"], "extreme", tuple(churn), best),
        Asked(words["lowest"], "extreme", tuple(mlp), min(one["loss"] for one in mlp.values())),
        Asked(words["average"], "average", tuple(forest), mean(forest.values())),
        Asked(words["sum"], "sum", tuple(rented), sum(rented.values()) / 60, "h"),
        Asked(words["difference"], "difference", tuple(split), train - test),
        Asked(words["order"], "order", tuple(stepped), None, order=True),
        Asked(words["duration"], "duration", (start, end), (released - frozen).days, "d"),
    )
    return History("runs", language, tuple(writer.told), asked)


def _finished(writer: Writer) -> list[Told]:
    """Of three models on two sets of data, in April and May; on the other set they are all better."""
    rows = [(model, month, "churn") for model in MODELS for month in (4, 5, 5)]
    rows += [("forest", 5, "churn"), ("forest", 5, "sales"), ("mlp", 5, "sales"), ("boost", 4, "sales")]
    scores = writer.dice.sample(range(7800, 9100), len(rows))
    losses = writer.dice.sample(range(15, 90), len(rows))
    return [
        Told(
            "run.finished",
            {
                "run": f"r-{100 + number}",
                "model": model,
                "dataset": dataset,
                "accuracy": (score + (800 if dataset == "sales" else 0)) / 100,
                "loss": losses[number] / 100,
                "duration_minutes": writer.dice.randint(12, 170),
                "occurred_at": noon(writer.day(month)),
            },
            "trainer",
        )
        for number, ((model, month, dataset), score) in enumerate(zip(rows, scores, strict=True))
    ]


def _failed(writer: Writer) -> list[Told]:
    days = [*writer.days(3, 1), *writer.days(4, writer.dice.randint(2, 5)), *writer.days(5, 2)]
    return [
        Told(
            "run.failed",
            {
                "run": f"f-{number}",
                "model": writer.dice.choice(MODELS),
                "reason": "out of memory",
                "occurred_at": noon(day),
            },
            "trainer",
        )
        for number, day in enumerate(days)
    ]


def _steps(writer: Writer, words: dict[str, str]) -> list[Told]:
    """In the order of their days, by chance; not that of the question."""
    steps = words["steps"].split("|")
    order = writer.dice.sample(steps, 3)
    while order == [steps[2], steps[0], steps[1]]:
        writer.dice.shuffle(order)
    return [
        Told("task.completed", {"title": step, "occurred_at": noon(day)})
        for step, day in zip(order, writer.days(2, 3), strict=True)
    ]


def _sizes(writer: Writer, words: dict[str, str]) -> list[Told]:
    sizes = (writer.dice.randrange(40_000, 60_000), writer.dice.randrange(8_000, 12_000))
    names = words["splits"].split("|")
    return [
        Told("fact.recorded", {"key": f"rows-{number}", "fact": words["size"].format(name=name), "value": size})
        for number, (name, size) in enumerate(zip(names, sizes, strict=True))
    ]


def _gpu(writer: Writer, words: dict[str, str]) -> list[tuple[str, int, int]]:
    """Sentences with their month and minutes: some of them in hours, some in minutes."""
    found = []
    for month, count in ((5, 2), (6, 5)):
        for number, day in enumerate(writer.days(month, count)):
            amount = writer.dice.randint(2, 9) if number % 2 else writer.dice.randrange(30, 120, 15)
            text = words["gpu"].split("|")[number // 2 % 2]
            time = f"{amount} h" if number % 2 else f"{amount} min"
            minutes = amount * 60 if number % 2 else amount
            found.append((text.format(day=writer.written(day), time=time), month, minutes))
    return found
