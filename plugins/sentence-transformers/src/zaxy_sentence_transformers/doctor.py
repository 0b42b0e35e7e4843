"""Rows of the doctor: whether the model can run, how far it has read each session, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zaxy.api import Checkup, Finding, ProviderContext, ZaxyError, install_hint
from zaxy.api.health import ERROR, OK, WARNING
from zaxy_sentence_transformers.cache import cache_size
from zaxy_sentence_transformers.engines import batch_size, choose, nothing_installed
from zaxy_sentence_transformers.loading import MODEL, RERANKER
from zaxy_sentence_transformers.model_folder import DEFAULT_NAME, ModelFolder, find_model, model_missing
from zaxy_sentence_transformers.record import noted
from zaxy_sentence_transformers.rows import SessionRows

LANE_FOLDER = "followers/retrieval_lanes-sentence-transformers"
MAX_SESSIONS = 100
MAX_ROWS = 10


class ModelCheck:
    """It loads no model: what one was like when it last ran is noted."""

    def __init__(self, context: ProviderContext) -> None:
        self._settings = context.settings
        self._user_dir = context.user_dir
        self._lane = context.state_dir.parent.parent / LANE_FOLDER
        self._warn = context.warn

    def check(self, checkup: Checkup) -> Sequence[Finding]:
        rows = [self._model_row(MODEL, "model")]
        if self._settings[RERANKER]:
            rows.append(self._model_row(RERANKER, "reranker"))
        if rows[0].status == OK and not nothing_installed():
            rows += [self._cost_row(), *self._progress_rows(checkup)]
        return rows

    def _model_row(self, env: str, name: str) -> Finding:
        wanted = str(self._settings[env])
        if nothing_installed() and not wanted:
            hint = install_hint("zaxy-sentence-transformers[torch]")
            return Finding(name, OK, f"not in use: nothing that runs a model is installed. To install it: {hint}")
        try:
            batch_size(self._settings)
            model = find_model(wanted)
            if model is None and not self._settings["ZAXY_SENTENCE_DOWNLOAD"]:
                raise model_missing(wanted, env)
            if model is None:
                return Finding(name, OK, f"{wanted or DEFAULT_NAME} is downloaded when it is first needed")
            engine = choose(str(self._settings["ZAXY_SENTENCE_ENGINE"]), model)
        except ZaxyError as error:
            return Finding(name, WARNING if nothing_installed() else ERROR, error.message, error.remediation)
        return self._last_run(model, engine) if name == "model" else Finding(name, OK, f"{model.name} with {engine}")

    def _last_run(self, model: ModelFolder, engine: str) -> Finding:
        seen = noted(self._user_dir)
        if seen.get("model") != model.name:
            return Finding("model", OK, f"{model.name} with {engine}; it has not run yet")
        if failure := seen.get("failure"):
            return Finding("model", ERROR, f"when it was last loaded: {failure}", str(seen.get("remediation", "")))
        about = f"{seen.get('dimension')} numbers for a text, with {seen.get('engine')} on {seen.get('device')}"
        return Finding("model", OK, f"{model.name}: {about}; loaded in {seen.get('seconds')} s")

    def _cost_row(self) -> Finding:
        rate = noted(self._user_dir).get("texts_per_second")
        speed = f"{rate:,} texts a second when it last read many; " if rate else ""
        try:
            count, size = cache_size(self._user_dir, self._warn)
        except ZaxyError as error:
            return Finding("cache", ERROR, error.message, error.remediation)
        limit = self._settings["ZAXY_SENTENCE_CACHE_MB"]
        return Finding("cache", OK, f"{speed}{count:,} vectors in {size / (1 << 20):.1f} of {limit} MiB")

    def _progress_rows(self, checkup: Checkup) -> Sequence[Finding]:
        if not checkup.has_memory:
            return [Finding("progress", OK, "there is no memory yet")]
        with checkup.open_memory() as memory:
            names = memory.sessions()[:MAX_SESSIONS]
            ends = {name: memory.head(name) for name in names}
        behind = list(self._behind(ends))
        rows = [Finding("progress", OK, message) for message in behind[:MAX_ROWS]]
        if len(behind) > MAX_ROWS:
            rows.append(Finding("progress", OK, f"{len(behind) - MAX_ROWS} more sessions are being read"))
        return rows or [Finding("progress", OK, f"{len(names)} sessions are read to their end")]

    def _behind(self, ends: dict[str, int]) -> Iterator[str]:
        for name, end in ends.items():
            rows = SessionRows(self._lane, name, self._warn)
            place = rows.place()
            rows.close()
            seq = place.cursor.seq if place and place.cursor else 0
            if seq < end:
                yield f"{name}: event {seq:,} of {end:,} ({seq / end:.0%}); 'zaxy followers catch-up' goes on"
