"""The histories: those that the rules are tuned on, lots that only report, and the stories of strangers."""

from __future__ import annotations

from random import Random

from bench.synthesis.club import club
from bench.synthesis.diary import diary
from bench.synthesis.freelance import freelance
from bench.synthesis.garden import garden
from bench.synthesis.history import LANGUAGES, History
from bench.synthesis.household import household
from bench.synthesis.journey import journey
from bench.synthesis.laboratory import laboratory
from bench.synthesis.reading import reading
from bench.synthesis.runs import runs
from bench.synthesis.shop import shop
from bench.synthesis.strangers.kept import KEPT as KEPT_STORIES
from bench.synthesis.strangers.looked import LOOKED as LOOKED_STORIES
from bench.synthesis.team import team
from bench.synthesis.training import training
from bench.synthesis.workshop import workshop

TUNE, REPORT, FRESH = "tune", "report", "fresh"
SEEDS = {TUNE: 20260311, REPORT: 77041, FRESH: 239132}
"""Frozen: another seed gives other numbers and dates."""
DOMAINS = {
    TUNE: (household, training, journey, freelance, club, shop, runs),
    REPORT: (laboratory, workshop),
    FRESH: (team, garden, diary, reading),
}
"""A coin said which of the last eight are for tuning, before any was asked."""
LOOKED, KEPT = "strangers, looked at", "strangers, kept"
STORIES = {LOOKED: LOOKED_STORIES, KEPT: KEPT_STORIES}
"""Written by hand before any was asked; a coin said whose misses may be looked at. Nobody looks at the others."""


def histories(half: str, seed: int = 0) -> list[History]:
    if half in STORIES:
        return [make() for make in STORIES[half]]
    return [
        make(language, Random(f"{SEEDS[half] + seed}-{make.__name__}-{language}"))
        for make in DOMAINS[half]
        for language in LANGUAGES
    ]
