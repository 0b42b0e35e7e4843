"""The generated histories: those that the rules are tuned on, and two lots that only report."""

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


def histories(half: str, seed: int = 0) -> list[History]:
    return [
        make(language, Random(f"{SEEDS[half] + seed}-{make.__name__}-{language}"))
        for make in DOMAINS[half]
        for language in LANGUAGES
    ]
