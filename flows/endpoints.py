"""Whether the models that are configured could be used: their key variables are set, their endpoints answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tasks.models import Roles, RolesError, load_roles

ENDPOINTS: dict[str, str] = {
    "deepseek": "https://api.deepseek.com/v1",
    "groq": "https://api.groq.com/openai/v1",
    "mistralai": "https://api.mistral.ai/v1",
    "openai": "https://api.openai.com/v1",
    "together": "https://api.together.xyz/v1",
    "xai": "https://api.x.ai/v1",
}
"""Providers' own endpoints that list their models at /models for a bearer key."""

PATIENCE_S = 5.0


def model_states(path: str, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (state, sentence) for each role that has a model; state is ok, weak, absent (no role has one) or missing
    (the configuration cannot be used). A key is sent to its own endpoint, and never shown."""
    try:
        roles = load_roles(path or None, environ, need_keys=False)
    except RolesError as error:
        return [("missing", str(error))]
    if not roles.choices:
        return [("absent", "no role has a model: rules play them all; name models with --models FILE")]
    return list(_states(roles))


def _states(roles: Roles) -> Iterator[tuple[str, str]]:
    answers: dict[tuple[str, str], str] = {}
    for role, choice in roles.choices.items():
        key = roles.key(role)
        endpoint = (choice.base_url or ENDPOINTS.get(choice.provider, ""), key)
        if endpoint not in answers:
            answers[endpoint] = _answer(*endpoint)
        held = "it needs no key"
        if choice.api_key_env:
            held = f"{choice.api_key_env} is {'set' if key else 'NOT set'}"
        bad = (choice.api_key_env and not key) or answers[endpoint].startswith("does not")
        where = endpoint[0] or "its provider's endpoint"
        yield "weak" if bad else "ok", f"{role} = {choice.model}; {held}; {where} {answers[endpoint]}"


def _answer(address: str, key: str) -> str:
    if not address:
        return "was not asked: there is no common way to"
    import httpx

    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        found = httpx.get(f"{address.rstrip('/')}/models", headers=headers, timeout=PATIENCE_S)
    except httpx.HTTPError as error:
        return f"does not answer ({type(error).__name__})"
    if found.status_code in (401, 403):
        return f"does not take the key ({found.status_code})"
    return "answers" if found.is_success else f"answers with status {found.status_code}"
