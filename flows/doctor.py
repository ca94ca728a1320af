"""What this machine offers, and what is missing for what."""

from __future__ import annotations

import importlib.util
import os
import shutil
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
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    if found:
        return _finding("ok", "browser", f"{found} (not needed by the rule-based agents)")
    return _finding("absent", "browser", "no Chromium: only a web-mining researcher needs one (apt install chromium)")


def _models(path: str) -> list[dict[str, Any]]:
    """Return a finding for each role that has a model. Keys are looked for and sent, but never shown."""
    from tasks.models import RolesError, load_roles

    try:
        roles = load_roles(path or None, os.environ, need_keys=False)
    except RolesError as error:
        return [_finding("missing", "models", str(error))]
    if not roles.choices:
        return [_finding("absent", "models", "no role has a model: rules play them all; name models with --models")]
    answers: dict[tuple[str, str], str] = {}
    findings = []
    for role, choice in roles.choices.items():
        endpoint = (choice.base_url or ENDPOINTS.get(choice.provider, ""), roles.key(role))
        if endpoint not in answers:
            answers[endpoint] = _answer(*endpoint)
        variable = choice.api_key_env
        held = f"key in {variable}" if roles.key(role) else f"{variable} is NOT set" if variable else "no key"
        bad = (variable and not roles.key(role)) or answers[endpoint].startswith("does not")
        where = endpoint[0] or "the provider's own endpoint"
        detail = f"{role} = {choice.model}, {held}; {where} {answers[endpoint]}"
        findings.append(_finding("weak" if bad else "ok", "models", detail))
    return findings


ENDPOINTS = {"openai": "https://api.openai.com/v1", "mistralai": "https://api.mistral.ai/v1",
             "groq": "https://api.groq.com/openai/v1", "deepseek": "https://api.deepseek.com/v1",
             "xai": "https://api.x.ai/v1", "together": "https://api.together.xyz/v1"}  # fmt: skip
"""Endpoints that list their models at /models for a bearer key."""

PATIENCE_S = 5.0


def _answer(address: str, key: str) -> str:
    """Return how an endpoint answers when it is asked for its models."""
    if not address:
        return "was not asked: it has no common way to be"
    import httpx

    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        found = httpx.get(f"{address.rstrip('/')}/models", headers=headers, timeout=PATIENCE_S)
    except httpx.HTTPError as error:
        return f"does not answer ({type(error).__name__})"
    if found.status_code in (401, 403):
        return f"does not take the key ({found.status_code})"
    return "answers" if found.is_success else f"answers with status {found.status_code}"


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
