"""Which model plays which role: a TOML file, overridden by environment variables.

    [all]                                  # for every role, unless the role says otherwise
    api_key_env = "MY_KEY"

    [researcher]
    model = "anthropic:claude-sonnet-4-5"

    [coder]
    model = "openai:qwen3-coder"
    base_url = "http://127.0.0.1:8000/v1"

`coder = "openai:gpt-5"` is short for a table with a model alone. The variables AGENTWORLD_MODEL_CODER,
AGENTWORLD_MODEL_CODER_BASE_URL and AGENTWORLD_MODEL_CODER_API_KEY_ENV override the file; AGENTWORLD_MODEL_ALL does so
for every role.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from schemas.models import ROLES, ModelChoice, Role
from tasks.models.errors import RolesError
from tasks.models.providers import KEY_VARIABLES

ALL = "all"
PREFIX = "AGENTWORLD_MODEL_"
_SETTINGS = {"": "model", "_BASE_URL": "base_url", "_API_KEY_ENV": "api_key_env"}
_SHORTEST_SECRET = 8


@dataclass(frozen=True)
class Roles:
    """The models of the roles that have one. The keys stay in the environment that they were read from."""

    choices: Mapping[Role, ModelChoice] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def key(self, role: Role) -> str:
        """Return the key of a role's model, "" where it needs none."""
        return self.environ.get(self.choices[role].api_key_env, "")

    def secrets(self) -> tuple[str, ...]:
        """Return the keys that must never leave the process but as keys, longest first."""
        names = {choice.api_key_env for choice in self.choices.values()} | set(KEY_VARIABLES.values())
        values = {self.environ.get(name, "") for name in names if name}
        return tuple(sorted((v for v in values if len(v) >= _SHORTEST_SECRET), key=len, reverse=True))


def load_roles(path: str | Path | None, environ: Mapping[str, str], *, need_keys: bool = True) -> Roles:
    """Read which model plays which role.

    Args:
        path: the TOML file; None or "" for environment variables alone.
        need_keys: refuse a role whose key variable is not set.

    Raises:
        RolesError: for a file that cannot be read, an unknown role or setting, a malformed model name or address, and
            a key variable that is not set.
    """
    tables = _read(Path(path)) if path else {}
    where = str(path) if path else "the environment"
    for name in [ALL, *ROLES]:
        for suffix, setting in _SETTINGS.items():
            if value := environ.get(f"{PREFIX}{name.upper()}{suffix}"):
                tables.setdefault(name, {})[setting] = value
    shared = tables.pop(ALL, {})
    choices: dict[Role, ModelChoice] = {}
    for role in ROLES:
        values = {**shared, **tables.get(role, {})}
        if "model" in values:
            choices[role] = _choice(role, values, where, environ, need_keys)
        elif role in tables:
            raise RolesError(f'{where}: [{role}] names no model; add model = "provider:name"')
    if tables and not choices:
        raise RolesError(f"{where} names no model for any role")
    return Roles(choices, environ)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RolesError(f"the roles file {path} cannot be read: {error.strerror}; check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RolesError(f"the roles file {path} is no TOML: {error}") from error
    for name, value in found.items():
        if name not in (ALL, *ROLES):
            raise RolesError(f"{path}: there is no role {name!r}; the roles are {', '.join(ROLES)}, and [{ALL}]")
        if not isinstance(value, str | dict):
            raise RolesError(f'{path}: {name} must be a model, as {name} = "openai:gpt-5", or a table')
    return {name: {"model": value} if isinstance(value, str) else value for name, value in found.items()}


def _choice(role: Role, values: dict[str, Any], where: str, environ: Mapping[str, str], need_keys: bool) -> ModelChoice:
    try:
        choice = ModelChoice.model_validate(values)
    except ValidationError as error:
        raise RolesError(f"{where}: {_fault(role, error)}") from None  # the cause would show the value, maybe a key
    usual = KEY_VARIABLES.get(choice.provider, "")
    base_url, variable = choice.base_url, choice.api_key_env
    if choice.provider == "openai" and not base_url:
        base_url = environ.get("OPENAI_BASE_URL", "")
        variable = variable or usual
    if choice.base_url:
        _check_address(role, choice.base_url, where)
    elif not variable:
        variable = usual
    needed = bool(choice.api_key_env) or not base_url
    if need_keys and needed and variable and not environ.get(variable):
        raise RolesError(
            f"{where}: {role} uses {choice.model}, whose key is read from the variable {variable}, which is not set: "
            "set it, or name another one as api_key_env"
        )
    return choice.model_copy(update={"base_url": base_url, "api_key_env": variable})


def _fault(role: Role, error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    name = ".".join(map(str, first["loc"]))
    if name == "model":
        return f'the model of {role} is malformed: write "provider:name", as "openai:gpt-5" or "anthropic:claude-..."'
    if name == "api_key_env":
        return f"the api_key_env of {role} must be the name of a variable, never the key itself"
    if first["type"] == "extra_forbidden":
        hint = "; keys are never written here: name their variable as api_key_env" if "key" in name.lower() else ""
        return f"[{role}] has the unknown setting {name!r}; known are {', '.join(ModelChoice.model_fields)}{hint}"
    return f"[{role}] {name}: {first['msg']}".replace(" :", ":")


def _check_address(role: Role, address: str, where: str) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RolesError(f"{where}: the base_url of {role} must be http://... or https://...")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise RolesError(
            f"{where}: the base_url of {role} holds a name, password or query; keys are never written there: "
            "name their variable as api_key_env"
        )
