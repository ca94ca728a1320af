"""What this machine offers, and what is missing for what."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from tasks.store import StoreError, open_store

TRAIN = "in the project's folder run: pip install '.[train]'"


def _finding(state: str, what: str, detail: str, needed: bool = False) -> dict[str, Any]:
    return {"state": state, "what": what, "detail": detail, "needed": needed}


def _sandbox() -> dict[str, Any]:
    from tasks.sandbox import FLOOR, PROPERTIES, sandbox_strength

    strength = sandbox_strength()
    holds = ", ".join(name for name, held in strength.holds.items() if held)
    open_ends = "; ".join(f"{name} ({PROPERTIES[name]})" for name, held in strength.holds.items() if not held)
    detail = f"{strength.name} (level {strength.level}): holds {holds}" + (f"; NOT {open_ends}" if open_ends else "")
    if strength.level < FLOOR:
        return _finding("weak", "sandbox", f"{detail}; code that models wrote is refused: apt install bubblewrap", True)
    return _finding("ok", "sandbox", detail, True)


def _store(uri: str) -> dict[str, Any]:
    try:
        return _finding("ok", "store", f"{open_store(uri).uri} can be written", True)
    except StoreError as error:
        return _finding("missing", "store", str(error), True)


def _training() -> list[dict[str, Any]]:
    from tasks.policies import MissingTraining, require

    try:
        require("torch", "accelerate", "safetensors")
    except MissingTraining:
        return [_finding("missing", "training", f"torch or accelerate is not installed: needed by train, arena and "
                         f"evolve; {TRAIN}")]  # fmt: skip
    import torch

    devices = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] or ["CPU only"]
    return [_finding("ok", "training", f"torch {torch.__version__}, {', '.join(devices)}")]


def _browser() -> dict[str, Any]:
    from tasks.web import find_chromium

    if found := find_chromium():
        return _finding("ok", "browser", f"{found} (a web-mining researcher uses it; the rules need none)")
    detail = "no Chromium: a web-mining researcher then sees pages without their scripts (apt install chromium)"
    return _finding("absent", "browser", detail)


def _models(path: str) -> list[dict[str, Any]]:
    from flows.endpoints import model_states

    return [_finding(state, "models", detail) for state, detail in model_states(path, os.environ)]


def _corpora() -> dict[str, Any]:
    from tasks.mining import open_corpus

    corpus = open_corpus(())
    missing = [rejection.reason for rejection in corpus.rejections]
    detail = f"{len(corpus.items)} items of data in installed packages"
    if missing:
        return _finding("weak", "corpora", f"{detail}; {len(missing)} missing: {missing[0]}")
    return _finding("ok", "corpora", detail, True)


def _prefect() -> dict[str, Any]:
    if importlib.util.find_spec("prefect") is None:
        return _finding("missing", "prefect", "not installed: pip install prefect", True)
    url = os.environ.get("PREFECT_API_URL")
    return _finding("ok", "prefect", f"server {url}" if url else "a temporary local server; `agentworld up` keeps one")


def examine(store: str, models: str = "") -> list[dict[str, Any]]:
    """Return one finding {state: ok | weak | absent | missing, what, detail, needed} for each part of the machine.

    Args:
        models: the file that says which model plays which role.
    """
    return [_store(store), _sandbox(), *_training(), _corpora(), _prefect(), _browser(), *_models(models)]
