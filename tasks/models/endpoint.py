"""One chat model behind LangChain: opened by name, called with timeouts, and tried again when it is worth it."""

from __future__ import annotations

import email.utils
import importlib.util
import queue
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from schemas.models import ModelChoice
from tasks.models.errors import ModelError, RolesError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LONGEST_WAIT_S = 120.0
"""A Retry-After beyond this ends the call; so do pauses between attempts never grow longer."""

GRACE_S = 0.5
"""What the timeout of the whole attempt has beyond that of one read, so that the latter can tell more."""

_WORTH_A_TRY = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
T = TypeVar("T")


class Transient(Exception):
    """A failed attempt that may go better next time. `charged` says that the provider may have charged it."""

    def __init__(self, reason: str, *, wait_s: float | None = None, charged: bool = False) -> None:
        super().__init__(reason)
        self.wait_s, self.charged = wait_s, charged


def open_model(choice: ModelChoice, key: str) -> BaseChatModel:
    """Return LangChain's chat model for a choice; nothing is sent yet.

    Raises:
        RolesError: for an unknown provider, or one whose LangChain package is not installed (naming it).
    """
    from langchain.chat_models import init_chat_model

    settings: dict[str, Any] = {
        "temperature": choice.temperature,
        "max_tokens": choice.max_tokens,
        "timeout": choice.timeout_seconds,
        "max_retries": 0,  # tried again here, where money and limits are watched
    }
    if choice.base_url:
        settings["base_url"] = choice.base_url
    if choice.provider == "openai":
        settings["api_key"] = key or "none"  # else the package would look for a key of its own accord
        settings["use_responses_api"] = False
    elif key:
        settings["api_key"] = key
    try:
        return init_chat_model(choice.name, model_provider=choice.provider, **settings)
    except ImportError as error:
        raise RolesError(f"{choice.model}: {_first_line(error)}") from None
    except ValueError as error:  # pydantic's own error would show the key
        if "nsupported" in str(error) and importlib.util.find_spec(f"langchain_{choice.provider}") is None:
            raise RolesError(
                f"{choice.model}: LangChain knows no provider {choice.provider!r}; an OpenAI-compatible endpoint is "
                'written as model = "openai:NAME" with its base_url'
            ) from None
        raise RolesError(f"{choice.model}: its LangChain package refuses the settings of this role") from None


def attempt(call: Callable[[], T], seconds: float) -> T:
    """Call a model once and sort its failure.

    The packages' own timeouts bound each read; one more here bounds the whole, for an endpoint that trickles.

    Raises:
        Transient: for timeouts, lost connections, 408, 429 and 5xx.
        ModelError: (model_unreachable) for what another try would not mend, as a wrong key or an unknown model.
    """
    ended: queue.SimpleQueue[tuple[T | None, Exception | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            ended.put((call(), None))
        except Exception as error:  # every provider's package has its own kinds
            ended.put((None, error))

    threading.Thread(target=work, daemon=True).start()
    try:
        result, error = ended.get(timeout=seconds + GRACE_S)
    except queue.Empty:
        raise Transient(f"no whole answer within {seconds + GRACE_S:g} s", charged=True) from None
    if error is not None:
        raise _sorted(error, seconds) from None  # the cause may hold headers
    return result  # type: ignore[return-value]


def _sorted(error: Exception, seconds: float) -> Exception:
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(status, int) and status >= 400:
        reason = f"it answered {status}: {_first_line(error)}"
        if status in _WORTH_A_TRY:
            wait_s = _retry_after(getattr(response, "headers", None) or {})
            if wait_s is not None and wait_s > LONGEST_WAIT_S:
                return ModelError("model_unreachable", f"{reason}; it asks to wait {wait_s:.0f} s")
            return Transient(reason, wait_s=wait_s)
        hint = {401: "; check the key's variable (api_key_env)", 403: "; check the key's rights",
                404: "; check the model's name and base_url"}.get(status, "")  # fmt: skip
        return ModelError("model_unreachable", reason + hint)
    if isinstance(error, TimeoutError) or any("Timeout" in name for name in names):
        return Transient(f"no answer within {seconds:g} s", charged=True)
    if isinstance(error, OSError) or any("Connect" in name or "Transport" in name for name in names):
        return Transient(f"the connection failed: {_first_line(error)}")
    return Transient(f"its response cannot be read: {type(error).__name__}: {_first_line(error)}", charged=True)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or as a date."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def with_retries(once: Callable[[], T], choice: ModelChoice, seed: str) -> tuple[T, int]:
    """Call until it succeeds, at most `choice.attempts` times; return the result and the number of attempts.

    Pauses double from `choice.retry_seconds`, with jitter from the seed, or are what Retry-After asks for.

    Raises:
        ModelError: (model_unreachable) after the last attempt, or as `once` raises it.
    """
    from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

    jitter = random.Random(seed)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.wait_s if isinstance(error, Transient) else None
        grown = choice.retry_seconds * 2 ** (state.attempt_number - 1)
        return min(LONGEST_WAIT_S, grown * jitter.uniform(0.5, 1.0) if asked is None else asked)

    retrying = Retrying(
        stop=stop_after_attempt(choice.attempts), wait=wait, retry=retry_if_exception_type(Transient), reraise=True
    )
    try:
        result = retrying(once)
    except Transient as error:
        raise ModelError(
            "model_unreachable", f"{choice.model} failed {choice.attempts} times; at last {error}"
        ) from None
    return result, int(retrying.statistics["attempt_number"])


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:300]
