"""Harmless texts that look like secrets: hashes, ids, pictures, versions, paths, minified code. The same every run."""

from __future__ import annotations

import base64
import random
import uuid
from collections.abc import Callable, Iterator

HEX = "0123456789abcdef"
WORDS = "follow graph index session reader writer cursor batch event loom recall lane checkout plugin settings".split()


def hexes(rng: random.Random, count: int) -> str:
    return "".join(rng.choice(HEX) for _ in range(count))


def blob(rng: random.Random, count: int) -> str:
    return base64.b64encode(rng.randbytes(count)).decode()


def id_of(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def word(rng: random.Random) -> str:
    return rng.choice(WORDS)


KINDS: dict[str, Callable[[random.Random], str]] = {
    "git commit": lambda r: f"commit {hexes(r, 40)} fixes the {word(r)}",
    "short commit": lambda r: f"{hexes(r, 7)}..{hexes(r, 7)} main -> origin/main",
    "commit in a URL": lambda r: f"https://example.com/acme/shop/commit/{hexes(r, 40)}#diff-{hexes(r, 64)}",
    "sha256": lambda r: f"sha256:{hexes(r, 64)}  dist/{word(r)}-1.2.{r.randrange(40)}.tar.gz",
    "image digest": lambda r: f"registry.example.com/{word(r)}/app@sha256:{hexes(r, 64)}",
    "md5": lambda r: f"{hexes(r, 32)}  {word(r)}.iso",
    "etag": lambda r: f'ETag: W/"{hexes(r, 32)}-{r.randrange(9)}"',
    "integrity": lambda r: f'"integrity": "sha512-{blob(r, 64)}"',
    "uuid": lambda r: f"request {id_of(r)} took {r.randrange(900)} ms",
    "uuid in a path": lambda r: f"/v1/items/{id_of(r)}/parts?page=2",
    "ulid": lambda r: "01J" + "".join(r.choice("0123456789ABCDEFGHJKMNPQRSTVWXYZ") for _ in range(23)),
    "trace": lambda r: f"traceparent: 00-{hexes(r, 32)}-{hexes(r, 16)}-01",
    "picture": lambda r: f"![x](data:image/png;base64,{blob(r, 300)})",
    "zeros": lambda r: base64.b64encode(r.randbytes(40) + bytes(90) + r.randbytes(40)).decode(),
    "font": lambda r: f"src:url(data:font/woff2;base64,{blob(r, 240)})format('woff2')",
    "version": lambda r: f"{word(r)}-{r.randrange(9)}.{r.randrange(40)}.0-rc.{r.randrange(9)}+build.{hexes(r, 8)}",
    "lock file": lambda r: f'"{word(r)}@npm:^{r.randrange(9)}.0.1": checksum 10/{hexes(r, 64)}',
    "path": lambda r: f"/srv/{word(r)}/{hexes(r, 2)}/{hexes(r, 38)}/{word(r)}_test_{r.randrange(99)}.py",
    "module": lambda r: "-".join(word(r) for _ in range(5)) + f"-{hexes(r, 9)}-{hexes(r, 5)}",
    "camel": lambda r: "".join(word(r).capitalize() for _ in range(4)) + "FactoryTest",
    "minified": lambda r: f"!function(e,t){{var n=e.{word(r)};return n?t.call(e,{hexes(r, 4)!r}):void 0}}",
    "css": lambda r: f".{word(r)}__{word(r)}--{hexes(r, 5)}{{color:#{hexes(r, 6)};margin:0 auto}}",
    "timestamp": lambda r: f"2026-05-{r.randrange(10, 28)}T10:15:00.{r.randrange(10**5, 10**6)}Z {word(r)} done",
    "address": lambda r: f"fe80::{hexes(r, 4)}:{hexes(r, 4)} lladdr 02:42:ac:{hexes(r, 2)}:00:{hexes(r, 2)}",
    "public key": lambda r: f"ssh-ed25519 {blob(r, 51)} bob@example.com",
    "event id": lambda r: f"eventloom://agent-1/events/{r.randrange(900)}#{hexes(r, 64)} evt_7_{hexes(r, 8)}",
}


def lookalikes(per_kind: int = 60) -> Iterator[tuple[str, str]]:
    """Texts with their kinds."""
    rng = random.Random("zaxy lookalikes")
    for kind, make in KINDS.items():
        for _ in range(per_kind):
            yield kind, make(rng)
