"""A long story of agents and people at work, and questions about its lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from story import PERSON, Line, Story

from zaxy.commands.doors import call_of
from zaxy_why.answer import answer_on_line
from zaxy_why.place import place_of

HOOKED = ("claude-code", "cursor", "gemini", "codex")
CAPTURED = ("claude-code", "codex")


def written_history(folder: Path, home: Path, seed: int = 1, *, by_hooks: bool = True, git: bool = True) -> Story:
    """Some sixty edits of four files, with commits, people's own edits and renames among them."""
    story = Story(folder, home, seed, git=git)
    random, clients = story.random, HOOKED if by_hooks else CAPTURED
    if by_hooks:
        story.recorded_by_hooks(*HOOKED)
    names = ["src/shop.py", "src/basket.py", "docs/notes.md", "src/prices.py"]
    for number, name in enumerate(names):
        client = clients[number % len(clients)]
        story.ask(f"Write {name}", client, by_hooks=by_hooks)
        story.edit(name, 0, 0, story.fresh(40), client, by_hooks=by_hooks)
    story.commit()
    for turn in range(16):
        client = random.choice(clients)
        if turn % 3 == 0:
            story.begin_conversation()
        story.ask(f"Request {turn}", client, by_hooks=by_hooks)
        for _ in range(random.randint(2, 5)):
            name = random.choice(list(story.files))
            size = len(story.files[name])
            start = random.randrange(size + 1)
            olds = min(random.choice((0, 0, 1, 2, 4)), size - start)
            news = story.fresh(random.choice((0, 1, 2, 3, 6) if olds else (1, 2, 4, 6)))
            story.edit(name, start, olds, news, client, by_hooks=by_hooks)
        if turn % 4 == 1:
            name = max(story.files, key=lambda name: len(story.files[name]))
            story.move_lines(name, random.randrange(len(story.files[name]) - 12), 3, 6, client, by_hooks=by_hooks)
        if random.random() < 0.4:
            _by_hand(story)
        if random.random() < 0.6:
            story.commit()
        elif turn > 2 and turn % 4 != 3:
            story.amend()
        if turn == 7 and git:
            story.commit()
            story.move("src/basket.py", "src/cart.py")
            story.commit()
        if turn == 10 and not by_hooks:
            story.commit()
            story.ask("Call it rates", "codex", by_hooks=False)
            story.rename_by_codex("src/prices.py", "src/rates.py")
            story.commit()
    if not by_hooks:
        story.capture()
    return story


def _by_hand(story: Story) -> None:
    """A person puts lines in, changes some or takes some out; in half of the cases it is a commit of its own."""
    random = story.random
    if random.random() < 0.5:
        story.commit()
    name = random.choice(list(story.files))
    start = random.randrange(len(story.files[name]) - 4)
    if random.random() < 0.3:
        story.format_by_hand(name, start, 4)
        return
    olds, news = random.choice(((0, 2), (0, 5), (1, 1), (2, 1), (3, 0)))
    story.by_hand(name, start, olds, story.fresh(news))
    if random.random() < 0.5:
        story.commit()


def ask(story: Story, count: int, seed: int) -> Iterator[tuple[str, int, Line, dict[str, Any]]]:
    """Ask about lines of the files, agents' and people's: each with who wrote it and the answer."""
    places = [(name, number) for name, lines in story.files.items() for number in range(1, len(lines) + 1)]
    call = call_of("why", (), summary="")
    log = call.open_log(str(story.folder))
    here = os.getcwd()
    os.chdir(story.folder)
    try:
        with call.open_memory(str(story.folder)) as memory:
            for name, number in Random(seed).sample(places, min(count, len(places))):
                place = place_of(f"{name}:{number}", log.folder)
                reply = answer_on_line(place, log, memory=memory, sessions=log.sessions())
                yield name, number, story.files[name][number - 1], reply
    finally:
        os.chdir(here)


__all__ = ["PERSON", "ask", "written_history"]
