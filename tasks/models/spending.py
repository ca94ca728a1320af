"""Money spent on models, and a cap on it that holds over all processes that share a store.

An amount is an object whose key says it (in millionths of a dollar), so that one listing gives the sum:
`model_spend/paid/<id>=<amount>` and, while a call is under way, `model_spend/held/<id>=<amount>=<until>`, at what the
call may cost at worst. What a process that died had held stays held: the provider may have charged it.
"""

from __future__ import annotations

import contextlib
import math
import random
import time
import uuid
from collections.abc import Iterator
from typing import NamedTuple

from tasks.models.errors import ModelError
from tasks.store import Store

PAID, HELD = "model_spend/paid/", "model_spend/held/"
_POLL_S = (0.05, 2.0)
_ROUNDING = 1e-9


class Spent(NamedTuple):
    """US dollars: paid, held by calls that are under way or never ended, and of those the part that may come free."""

    paid: float
    held: float
    pending: float


def spent(store: Store) -> Spent:
    """Return what the store's model calls have cost so far."""
    now = time.time()
    # held first: what is settled in between, put under paid and then no longer held, is counted twice and never missed
    held = [(_amount(key), float(key.rpartition("=")[2])) for key in store.list(HELD)]
    paid = sum(_amount(key) for key in store.list(PAID))
    pending = sum(amount for amount, until in held if until > now)
    return Spent(paid / 1e6, sum(amount for amount, _ in held) / 1e6, pending / 1e6)


def _amount(key: str) -> int:
    return int(key.split("=")[1])


def _micro(usd: float) -> int:
    return math.ceil(usd * 1e6 - 1e-6)


class Bill:
    """One attempt's money: `settle` it at what it cost. An attempt that ends by an error of the provider's is free,
    unless `keep` was called because it may have been charged."""

    def __init__(self) -> None:
        self.usd: float | None = None
        self.kept = False

    def settle(self, usd: float | None) -> None:
        """Say what the attempt cost; None if no price is known."""
        self.usd = usd

    def keep(self) -> None:
        """Count the attempt at its worst: it may have been charged, and no one says how much."""
        self.kept = True


class Spending:
    """Holds, pays and gives back money under an optional cap (US dollars, over all that the store has ever spent)."""

    def __init__(self, store: Store, cap_usd: float | None = None) -> None:
        self._store, self._cap = store, cap_usd

    @contextlib.contextmanager
    def bill(self, worst_usd: float | None, seconds: float, what: str) -> Iterator[Bill]:
        """Hold the worst case of an attempt while the block runs, and pay what it settles at.

        Where only other calls that are under way stand in the way, it waits for them, up to `seconds`.

        Args:
            worst_usd: what the attempt may cost at most; None if no price is known.
            seconds: how long it may take.
            what: the model, for messages.

        Raises:
            ModelError: (model_cost) if the cap would be passed, or if there is a cap and no price is known.
        """
        bill, name = Bill(), uuid.uuid4().hex
        held = self._hold(name, worst_usd, seconds, what)
        try:
            yield bill
        finally:
            amount = (worst_usd or 0.0) if bill.kept else (bill.usd or 0.0)
            if amount:
                self._store.put(f"{PAID}{name}={_micro(amount)}", b"")
            if held:
                self._store.delete(held)

    def _hold(self, name: str, worst_usd: float | None, seconds: float, what: str) -> str:
        if self._cap is None:
            return ""
        if worst_usd is None:
            raise ModelError(
                "model_cost",
                f"the price of {what} is unknown, so the cap of {self._cap:g} USD cannot be kept: give "
                "input_usd_per_million and output_usd_per_million in the roles file (0 for a model of your own)",
            )
        pauses, pause, until = random.Random(name), _POLL_S[0], time.monotonic() + seconds
        while True:
            total = spent(self._store)
            if total.paid + total.held + worst_usd <= self._cap + _ROUNDING:
                key = f"{HELD}{name}={_micro(worst_usd)}={math.ceil(time.time() + 2 * seconds)}"
                self._store.put(key, b"")
                # written before it is summed: of two that hold at once, at least one sees the other
                again = spent(self._store)
                if again.paid + again.held <= self._cap + _ROUNDING:
                    return key
                self._store.delete(key)
            elif total.paid + total.held - total.pending + worst_usd > self._cap + _ROUNDING:
                raise self._reached(total, worst_usd, what)
            if time.monotonic() > until:
                raise self._reached(total, worst_usd, what)
            time.sleep(pause * pauses.uniform(0.5, 1.0))
            pause = min(2 * pause, _POLL_S[1])

    def _reached(self, total: Spent, worst_usd: float, what: str) -> ModelError:
        return ModelError(
            "model_cost",
            f"the cap of {self._cap:g} USD: {total.paid:.4f} are paid, {total.held:.4f} held by other calls, and a "
            f"call of {what} may cost {worst_usd:.4f}; raise --max-cost to go on",
        )
