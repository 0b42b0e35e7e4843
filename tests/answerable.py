"""Thirty things that were recorded, with a question on each, and thirty questions on things that never were."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from bench.recall.histories import Happening, make_history

FILLED_FROM = (7, 8, 9, 10)
"""Seeds of the histories around them; the recall bench tunes on none of these."""


class Recorded(NamedTuple):
    type: str
    payload: dict[str, object]
    question: str
    actor: str = "assistant"


def fact(text: str, question: str, **more: object) -> Recorded:
    return Recorded("fact.recorded", {"fact": text, **more}, question)


def decision(text: str, question: str, **more: object) -> Recorded:
    return Recorded("decision.made", {"decision": text, **more}, question)


def turn(speaker: str, text: str, question: str) -> Recorded:
    return Recorded("transcript.turn", {"role": "user", "speaker": speaker, "content": text}, question, speaker)


RECORDED = (
    fact("The billing service listens on port 8443.", "Which port does the billing service listen on?"),
    fact("Backups of the ledger database run every night at 02:30 UTC.", "When do backups of the ledger database run?"),
    fact("The staging cluster has twelve nodes in Frankfurt.", "How many nodes does the staging cluster have?"),
    fact("Invoices are numbered by country and year.", "How are invoices numbered?"),
    fact(
        "The license server tolerates three days offline.", "How long does the license server tolerate being offline?"
    ),
    fact("Marta is on call for payments in week 37.", "Who is on call for payments in week 37?"),
    fact(
        "The thumbnail worker leaks memory when images exceed 40 megapixels.",
        "When does the thumbnail worker leak memory?",
    ),
    fact("Customer exports are kept for 14 days and then deleted.", "How long are customer exports kept?"),
    fact("The feature flag checkout_v2 is on for ten percent of shops.", "For how many shops is checkout_v2 on?"),
    fact("Password resets expire after twenty minutes.", "When do password resets expire?"),
    decision(
        "Use Postgres advisory locks for the scheduler.", "What do we use for locks in the scheduler?", key="locks"
    ),
    decision("Ship the Android app without tablet support first.", "Do we ship the Android app with tablet support?"),
    decision("The public API returns amounts in minor units.", "In which units does the public API return amounts?"),
    decision("Drop support for Internet Explorer in release 9.", "In which release do we drop Internet Explorer?"),
    decision("All migrations must be reversible.", "Must migrations be reversible?"),
    decision("Logs are shipped with Vector instead of Fluentd.", "With what are logs shipped?", key="log-shipping"),
    decision("We pay the pentest vendor quarterly.", "How often do we pay the pentest vendor?"),
    decision("Rate limits are per token, not per address.", "Are rate limits per token or per address?"),
    Recorded(
        "task.proposed",
        {"task": "Rewrite the onboarding emails in Polish"},
        "Into which language do we rewrite the onboarding emails?",
    ),
    Recorded(
        "task.claimed",
        {"task": "Replace the barcode scanner driver", "owner": "Idris"},
        "Who replaces the barcode scanner driver?",
    ),
    Recorded(
        "issue.diagnosed",
        {"issue": "Webhook retries stop after a 410 response", "cause": "The queue treats 410 as success"},
        "Why do webhook retries stop after a 410 response?",
    ),
    Recorded(
        "user.preference_changed",
        {"user": "Ottoline", "preference": "commit messages in the imperative"},
        "How does Ottoline want commit messages?",
    ),
    Recorded(
        "verification.recorded",
        {"verification": "The restore drill finished in 47 minutes", "status": "passed"},
        "How many minutes did the restore drill take?",
    ),
    Recorded(
        "command.completed",
        {
            "command": "terraform plan -target=module.cdn",
            "exit_code": 1,
            "stderr": "Error: cyclic dependency between cdn and waf",
        },
        "Which error did terraform plan give for module.cdn?",
    ),
    turn(
        "Wilhelmina",
        "The printer on the third floor only takes A5 paper.",
        "Which paper does the printer on the third floor take?",
    ),
    turn(
        "Ottoline",
        "My daughter starts school in September, so no travel then.",
        "When does Ottoline's daughter start school?",
    ),
    turn(
        "Idris",
        "The forklift vendor quoted 18,400 euros for the retrofit.",
        "What did the forklift vendor quote for the retrofit?",
    ),
    turn("Wilhelmina", "Our tax advisor moved to Leipzig last spring.", "Where did our tax advisor move?"),
    turn(
        "Marta",
        "The sandbox credentials rotate on the first Monday of a month.",
        "When do the sandbox credentials rotate?",
    ),
    turn("Idris", "Ticket WH-7731 is about pallets that are counted twice.", "What is ticket WH-7731 about?"),
)

OTHER_TOPICS = (
    "What is the capital of Uzbekistan?",
    "Which quaternion library renders the holograms?",
    "How many zebras graze behind the observatory?",
    "Who composed the anthem for the regatta?",
    "What did Persephone embroider on the tapestry?",
    "When does the submarine surface near Reykjavik?",
    "Which fertilizer do the orchids get?",
    "Is the trombone tuned to 440 hertz?",
    "Where is the treasure of the pirates buried?",
    "How tall is the lighthouse keeper's grandmother?",
    "asdf qwer zxcv uiop",
    "Which yoga pose relieves sciatica?",
    "What colour is the dragon's left wing?",
    "How do you pronounce croissant in Klingon?",
    "Which glacier feeds the fjord?",
)
"""Most of the words occur nowhere."""
OTHER_THINGS = (
    "Which port does the license server listen on?",
    "When do backups of the billing database run?",
    "How many nodes does the production cluster have?",
    "How long are customer invoices kept?",
    "Who is on call for the barcode scanner in week 52?",
    "Why does the scheduler leak memory?",
    "In which release do we drop the Android app?",
    "How often do we pay the tax advisor?",
    "What did the printer vendor quote for the restore drill?",
    "Where did Marta's daughter move?",
    "What is ticket WH-9042 about?",
    "Which error did terraform plan give for module.billing?",
    "How does Idris want the onboarding emails?",
    "When do the license credentials expire?",
    "For how many shops is checkout_v9 on?",
)
"""Words that do occur, put together for things that nobody has said."""


def history(size: int) -> Iterator[Happening]:
    """So many events, the recorded things among them at places that depend on the size alone."""
    random = Random(size)
    filling = chain.from_iterable(make_history(seed).events for seed in FILLED_FROM)
    others = [event._replace(replaces=0) for event in islice(filling, size - len(RECORDED))]
    places = sorted(random.sample(range(size), len(RECORDED)))
    known = dict(zip(places, RECORDED, strict=True))
    rest = iter(others)
    for place in range(size):
        one = known.get(place)
        yield Happening(one.type, one.actor, one.payload) if one else next(rest)
