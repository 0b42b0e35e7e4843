"""Harmless texts that look like secrets: hashes, ids, pictures, versions, paths, minified code. Made up, the same every run."""

from __future__ import annotations

import base64
import random
import uuid
from collections.abc import Iterator

HEX = "0123456789abcdef"
WORDS = "follow graph index session reader writer cursor batch event loom recall lane checkout plugin settings".split()


def hexes(rng: random.Random, count: int) -> str:
    return "".join(rng.choice(HEX) for _ in range(count))


def lookalikes(per_kind: int = 60) -> Iterator[tuple[str, str]]:
    """Texts with their kinds."""
    rng = random.Random("zaxy lookalikes")
    makes = {
        "git commit": lambda: f"commit {hexes(rng, 40)} fixes the {rng.choice(WORDS)}",
        "short commit": lambda: f"{hexes(rng, 7)}..{hexes(rng, 7)} main -> origin/main",
        "commit in a URL": lambda: f"https://example.com/acme/shop/commit/{hexes(rng, 40)}#diff-{hexes(rng, 64)}",
        "sha256": lambda: f"sha256:{hexes(rng, 64)}  dist/{rng.choice(WORDS)}-1.2.{rng.randrange(40)}.tar.gz",
        "image digest": lambda: f"registry.example.com/{rng.choice(WORDS)}/app@sha256:{hexes(rng, 64)}",
        "md5": lambda: f"{hexes(rng, 32)}  {rng.choice(WORDS)}.iso",
        "etag": lambda: f'ETag: W/"{hexes(rng, 32)}-{rng.randrange(9)}"',
        "integrity": lambda: f'"integrity": "sha512-{base64.b64encode(rng.randbytes(64)).decode()}"',
        "uuid": lambda: f"request {uuid.UUID(int=rng.getrandbits(128), version=4)} took {rng.randrange(900)} ms",
        "uuid in a path": lambda: f"/v1/items/{uuid.UUID(int=rng.getrandbits(128), version=4)}/parts?page=2",
        "ulid": lambda: "01J" + "".join(rng.choice("0123456789ABCDEFGHJKMNPQRSTVWXYZ") for _ in range(23)),
        "trace": lambda: f"traceparent: 00-{hexes(rng, 32)}-{hexes(rng, 16)}-01",
        "picture": lambda: f"![x](data:image/png;base64,{base64.b64encode(rng.randbytes(300)).decode()})",
        "zeros": lambda: base64.b64encode(rng.randbytes(40) + bytes(90) + rng.randbytes(40)).decode(),
        "font": lambda: f"src:url(data:font/woff2;base64,{base64.b64encode(rng.randbytes(240)).decode()})format('woff2')",
        "version": lambda: f"{rng.choice(WORDS)}-{rng.randrange(9)}.{rng.randrange(40)}.0-rc.{rng.randrange(9)}+build.{hexes(rng, 8)}",
        "lock file": lambda: f'"{rng.choice(WORDS)}@npm:^{rng.randrange(9)}.0.1": checksum 10/{hexes(rng, 64)}',
        "path": lambda: f"/srv/{rng.choice(WORDS)}/{hexes(rng, 2)}/{hexes(rng, 38)}/{rng.choice(WORDS)}_test_{rng.randrange(99)}.py",
        "module": lambda: "-".join(rng.choice(WORDS) for _ in range(5)) + f"-{hexes(rng, 9)}-{hexes(rng, 5)}",
        "camel": lambda: "".join(rng.choice(WORDS).capitalize() for _ in range(4)) + "FactoryTest",
        "minified": lambda: f"!function(e,t){{var n=e.{rng.choice(WORDS)},r=t[{rng.randrange(99)}];return n?r.call(e,{hexes(rng, 4)!r}):void 0}}",
        "css": lambda: f".{rng.choice(WORDS)}__{rng.choice(WORDS)}--{hexes(rng, 5)}{{color:#{hexes(rng, 6)};margin:0 auto}}",
        "timestamp": lambda: f"2026-05-{rng.randrange(10, 28)}T10:{rng.randrange(10, 59)}:00.{rng.randrange(10**5, 10**6)}Z {rng.choice(WORDS)} done",
        "address": lambda: f"fe80::{hexes(rng, 4)}:{hexes(rng, 4)}:{hexes(rng, 4)} lladdr 02:42:ac:{hexes(rng, 2)}:00:{hexes(rng, 2)}",
        "public key": lambda: f"ssh-ed25519 {base64.b64encode(rng.randbytes(51)).decode()} bob@example.com",
        "event id": lambda: f"eventloom://agent-1/events/{rng.randrange(900)}#{hexes(rng, 64)} evt_{rng.randrange(99)}_{hexes(rng, 8)}",
    }  # fmt: skip
    for kind, make in makes.items():
        for _ in range(per_kind):
            yield kind, make()
