"""What tokens cost: the roles file's prices, else the dated table of genai-prices (read offline), else unknown."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from schemas.models import ModelChoice
from tasks.models.providers import PRICED_AS

UNKNOWN = "unknown"


class Price(NamedTuple):
    """US dollars, None if no price is known, and where they are from."""

    usd: float | None
    source: str


@lru_cache(maxsize=1)
def table_version() -> str:
    """Return the name of the price table: the package and its version, which dates it."""
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')}"


def price_of(choice: ModelChoice, prompt_tokens: int, completion_tokens: int, cache_read_tokens: int = 0) -> Price:
    """Return what so many tokens of a model cost.

    An endpoint that the user names is looked up by its address, so that a model of the same name elsewhere does not
    pass for the provider's own.

    Args:
        prompt_tokens: all tokens read, those included that the provider had in its own cache (`cache_read_tokens`).
    """
    if choice.input_usd_per_million is not None and choice.output_usd_per_million is not None:
        usd = prompt_tokens * choice.input_usd_per_million + completion_tokens * choice.output_usd_per_million
        return Price(usd / 1e6, "roles file")
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=prompt_tokens, output_tokens=completion_tokens, cache_read_tokens=cache_read_tokens or None
    )
    try:
        if choice.base_url:
            found = calc_price(usage, choice.name, provider_api_url=choice.base_url)
        elif choice.provider in PRICED_AS:
            found = calc_price(usage, choice.name, provider_id=PRICED_AS[choice.provider])
        else:
            return Price(None, UNKNOWN)
    except (LookupError, ValueError):
        return Price(None, UNKNOWN)
    return Price(float(Decimal(found.total_price)), table_version())
