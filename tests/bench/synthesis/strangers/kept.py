"""What is only ever counted: a flat, a team, a runner, a shop in Osaka, a laboratory and a household in Cairo."""

from __future__ import annotations

from bench.synthesis.history import History
from bench.synthesis.strangers.story import on, said, story


def flat() -> History:
    return story(
        "flat",
        "en",
        {
            "rent1": on("2026-01-02", "bill.paid", "priya", bill="rent", amount="£1,204.50", payer="Priya"),
            "power1": on("2026-01-19", "bill.paid", "tom", bill="electricity", amount="£96.20", payer="Tom"),
            "water1": said("2026-01-25", "water bill came to £41.80, paid it from the joint account just now"),
            "rent2": on("2026-02-02", "bill.paid", "priya", bill="rent", amount="£1,204.50", payer="Priya"),
            "power2": on("2026-02-18", "bill.paid", "tom", bill="electricity", amount="£88.00", payer="Tom"),
            "power2again": said("2026-02-18", "fyi I paid the electricity for february, £88.00", "tom"),
            "power3": on(
                "2026-03-18", "bill.paid", "tom", key="el-mar", bill="electricity", amount="£71.15", payer="Tom"
            ),
            "power3new": on(
                "2026-03-18", "bill.paid", "tom", key="el-mar", bill="electricity", amount="£77.15", payer="Tom"
            ),
            "hope": said("2026-03-20", "if we get the heat pump electricity should only be about £40 a month lol"),
            "clean1": on("2026-02-07", "chore.done", "tom", chore="bathroom", by="Tom", minutes=35),
            "clean2": on("2026-02-14", "chore.done", "priya", chore="bathroom", by="Priya", minutes=50),
            "clean3": on("2026-02-21", "chore.done", "tom", chore="kitchen", by="Tom", minutes=45),
            "clean4": on("2026-02-28", "chore.done", "tom", chore="bathroom", by="Tom", minutes=40),
            "skipped": on("2026-03-07", "chore.skipped", "priya", chore="bathroom", by="Priya"),
            "boiler1": on("2026-02-11", "note.added", "priya", text="Boiler broke down, no hot water"),
            "boiler2": on("2026-02-16", "note.added", "priya", text="Boiler repaired by the landlord's plumber"),
        },
        (
            "How much have we paid for electricity from January to March 2026?",
            "sum",
            "power1 power2 power3new",
            261.35,
            "GBP",
        ),
        ("How many times did Tom clean the bathroom in February?", "count", "clean1 clean4", 2, ""),
        ("How long was the boiler out of order?", "duration", "boiler1 boiler2", 5, "d"),
        (
            "What was the average electricity bill in the first quarter of 2026?",
            "average",
            "power1 power2 power3new",
            87.1167,
            "GBP",
        ),
        ("How much did we spend on internet in total?", "sum", "", None, ""),
        (
            "Who spent more minutes on chores in February, Tom or Priya?",
            "comparison",
            "clean1 clean2 clean3 clean4",
            "Tom",
            "",
        ),
    )


def releases() -> History:
    return story(
        "releases",
        "de",
        {
            "d1": on(
                "2026-04-02T10:00:00Z",
                "deploy.finished",
                "ci",
                service="konto",
                env="prod",
                duration_s=312,
                result="success",
            ),
            "d2": on(
                "2026-04-07T10:00:00Z",
                "deploy.finished",
                "ci",
                service="konto",
                env="staging",
                duration_s=190,
                result="success",
            ),
            "d3": on(
                "2026-04-09T10:00:00Z",
                "deploy.finished",
                "ci",
                service="konto",
                env="prod",
                duration_s=288,
                result="failure",
            ),
            "d4": on(
                "2026-04-16T10:00:00Z",
                "deploy.finished",
                "ci",
                service="katalog",
                env="prod",
                duration_s=540,
                result="success",
            ),
            "d5": on(
                "2026-04-23T10:00:00Z",
                "deploy.finished",
                "ci",
                service="konto",
                env="prod",
                duration_s=330,
                result="success",
            ),
            "d6": on(
                "2026-05-05T10:00:00Z",
                "deploy.finished",
                "ci",
                service="konto",
                env="prod",
                duration_s=301,
                result="success",
            ),
            "s1": on(
                "2026-04-09T11:20:00Z",
                "incident.closed",
                "pager",
                title="Anmeldung langsam",
                service="konto",
                started_at="2026-04-09T10:05:00Z",
                ended_at="2026-04-09T11:20:00Z",
            ),
            "s2": on(
                "2026-04-28T09:10:00Z",
                "incident.closed",
                "pager",
                title="Suche liefert nichts",
                service="katalog",
                started_at="2026-04-28T08:40:00Z",
                ended_at="2026-04-28T09:10:00Z",
            ),
            "freeze": on("2026-04-20", "decision.made", "mira", decision="Wir frieren das Schema von konto ein"),
            "thaw": on("2026-05-11", "decision.made", "mira", decision="Das Schema von konto ist wieder offen"),
            "maybe": said("2026-04-21", "Überlege, ob wir konto nächste Woche nochmal deployen. Eher nicht.", "jonas"),
            "b1": on("2026-04-03", "build.measured", "ci", paket="app", groesse="12,4 MB"),
            "b2": on("2026-04-17", "build.measured", "ci", paket="app", groesse="13,1 MB"),
            "b3": on("2026-04-30", "build.measured", "ci", paket="app", groesse="980 kB"),
        },
        ("Wie viele erfolgreiche Prod-Deploys von konto gab es im April?", "count", "d1 d5", 2, ""),
        (
            "Wie lange dauerte ein Prod-Deploy von konto im April im Schnitt?",
            "average",
            "d1 d3 d5",
            310,
            "s",
        ),
        ("Welcher Vorfall im April hat am längsten gedauert?", "extreme", "s1 s2", "Anmeldung langsam", ""),
        ("Wie viele Tage war das Schema von konto eingefroren?", "duration", "freeze thaw", 21, "d"),
        ("Wie oft wurde der Dienst rechnung im April deployt?", "count", "", None, ""),
    )


def runner() -> History:
    return story(
        "runner",
        "en",
        {
            "r1": said(
                "2026-04-01", "ok so today was 5.2 km in 31 minutes, legs felt awful, also ate way too much pizza"
            ),
            "r2": said("2026-04-04", "Ran again! 7 km, 42 min. Sarah came with me for the last two"),
            "a2": said("2026-04-04", "Great work! 7 km in 42 minutes is a solid pace.", "assistant", "assistant"),
            "r3": said("2026-04-08", "was going to run 10 km but it rained so I only did 4.8 km, 30 minutes or so"),
            "bike": said("2026-04-10", "cycled 22 km to my mum's place today"),
            "r4": said("2026-04-12", "10k done!!! 10 km in 61 minutes, new personal best over that distance"),
            "plan": said("2026-04-13", "next goal: run a half marathon in October, 21.1 km"),
            "rest": said("2026-04-15", "no run today, knee hurts"),
            "sarah": said("2026-04-16", "Sarah says she ran 15 km yesterday, show-off"),
            "shoe1": said("2026-03-28", "bought new running shoes, 129.90 euros, ouch"),
            "shoe2": said("2026-04-17", "ordered running socks for 18 euros"),
            "physio": said("2026-04-20", "first physio session for the knee today"),
            "again": said("2026-05-04", "physio says the knee is fine, last session done"),
        },
        ("How many kilometres did I run in April in total?", "sum", "r1 r2 r3 r4", 27, "km"),
        ("How many times did I go running in April?", "count", "r1 r2 r3 r4", 4, ""),
        ("What was my longest run?", "extreme", "r1 r2 r3 r4", "10", ""),
        ("How many days lie between my first and my last physio session?", "duration", "physio again", 14, "d"),
        ("How much did I spend on running gear?", "sum", "shoe1 shoe2", 147.9, "EUR"),
        ("How much more did the shoes cost than the socks?", "difference", "shoe1 shoe2", 111.9, "EUR"),
    )


def osaka() -> History:
    return story(
        "osaka",
        "ja",
        {
            "o1": on("2026-03-04", "order.shipped", "店", 商品="急須", 金額="3,980円"),
            "o2": on("2026-03-11", "order.shipped", "店", 商品="湯呑み", 金額="1,200円"),
            "o3": on("2026-03-18", "order.shipped", "店", 商品="急須", 金額="4,280円"),
            "o4": on("2026-03-25", "order.cancelled", "店", 商品="急須", 金額="3,980円"),
            "o5": on("2026-04-02", "order.shipped", "店", 商品="急須", 金額="3,980円"),
            "n1": said("2026-03-20", "来月は急須を50個仕入れる予定です", "店"),
        },
        ("3月に急須はいくつ発送しましたか？", "count", "o1 o3", 2, ""),
        ("3月に発送した急須の合計金額はいくらですか？", "sum", "o1 o3", 8260, "JPY"),
    )


def laboratory() -> History:
    return story(
        "assay",
        "en",
        {
            "y1": on("2026-05-01", "assay.completed", "rig", sample="B7", yield_pct="82.5%", temperature="37 °C"),
            "y2": on("2026-05-02", "assay.completed", "rig", sample="B7", yield_pct="79.0%", temperature="37 °C"),
            "y3": on("2026-05-03", "assay.completed", "rig", sample="B9", yield_pct="91.0%", temperature="42 °C"),
            "y4": on(
                "2026-05-04", "assay.completed", "rig", sample="B7", key="run-4", yield_pct="12.0%", temperature="37 °C"
            ),
            "y4new": on(
                "2026-05-04", "assay.completed", "rig", sample="B7", key="run-4", yield_pct="81.2%", temperature="37 °C"
            ),
            "y5": on(
                "2026-05-05", "assay.completed", "rig", sample="B9", temperature="42 °C", note="spectrometer offline"
            ),
            "y6": on("2026-05-06", "assay.completed", "rig", sample="B9", yield_pct="88.0%", temperature="42 °C"),
            "f1": on("2026-05-03", "assay.failed", "rig", sample="B7", reason="leak"),
            "buy1": on("2026-05-02", "reagent.used", "noor", reagent="ethanol", volume="250 ml"),
            "buy2": on("2026-05-04", "reagent.used", "noor", reagent="ethanol", volume="2 bottles"),
            "buy3": on("2026-05-05", "reagent.used", "noor", reagent="acetone", volume="100 ml"),
            "cal1": on("2026-04-20", "note.added", "noor", text="Centrifuge calibrated"),
            "cal2": on("2026-05-06", "note.added", "noor", text="Pipettes calibrated"),
            "cal3": on("2026-05-01", "note.added", "noor", text="Scale calibrated"),
        },
        ("What is the average yield of sample B7?", "average", "y1 y2 y4new", 80.9, "%"),
        ("What was the mean yield of the B9 assays?", "average", "y3 y5 y6", None, ""),
        ("How many assays of B7 were completed in May?", "count", "y1 y2 y4new", 3, ""),
        ("How much ethanol did we use in total?", "sum", "buy1 buy2", None, ""),
        (
            "Which was calibrated first, the scale, the pipettes or the centrifuge?",
            "extreme",
            "cal1 cal2 cal3",
            "Centrifuge",
            "",
        ),
        ("How much higher is the best B9 yield than the best B7 yield?", "difference", "y1 y3", 8.5, "%"),
    )


def cairo() -> History:
    return story(
        "cairo",
        "ar",
        {
            "m1": on("2026-03-02", "expense.logged", "منى", البند="خضار", المبلغ="١٢٠ جنيه"),
            "m2": on("2026-03-09", "expense.logged", "منى", البند="خضار", المبلغ="٩٥ جنيه"),
            "m3": on("2026-03-16", "expense.logged", "منى", البند="لحم", المبلغ="٤٥٠ جنيه"),
            "m4": on("2026-04-06", "expense.logged", "منى", البند="خضار", المبلغ="١١٠ جنيه"),
            "plan": said("2026-03-20", "أفكر في شراء ثلاجة جديدة بـ ١٨٠٠٠ جنيه", "منى"),
        },
        ("كم أنفقنا على الخضار في مارس؟", "sum", "m1 m2", 215, "EGP"),
        ("كم مرة اشترينا اللحم؟", "count", "m3", 1, ""),
    )


KEPT = (flat, releases, runner, osaka, laboratory, cairo)
