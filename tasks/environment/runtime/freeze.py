"""Freeze the standard clocks and seed the standard sources of chance, so that foreign code replays too."""

from __future__ import annotations

import calendar
import datetime
import os
import random
import sqlite3
import time
import uuid
from collections.abc import Callable
from typing import Any

_real_datetime, _real_date, _RealRandom = datetime.datetime, datetime.date, random.Random
_real = {
    name: getattr(time, name)
    for name in (
        "time",
        "time_ns",
        "gmtime",
        "localtime",
        "strftime",
        "ctime",
        "monotonic",
        "monotonic_ns",
        "perf_counter",
        "perf_counter_ns",
        "clock_gettime",
        "clock_gettime_ns",
    )
}
_seed_random = random.seed


class _State:
    """What the patched functions read: the episode's time and its stream of chance."""

    now: Callable[[], float] = staticmethod(_real["time"])
    ticks = 0
    seed = 0
    stream: random.Random | None = None


def _stream() -> random.Random:
    """Return the stream of chance; it is seeded when first looked at, since few episodes do."""
    if _State.stream is None:
        _State.stream = _RealRandom(f"chance-{_State.seed}")
    return _State.stream


def _tick() -> int:
    """Return nanoseconds that pass with each look only: one microsecond a look, the same in every replay."""
    _State.ticks += 1000
    return _State.ticks


class _DatetimeMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _real_datetime)


class _DateMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _real_date)


class _Datetime(_real_datetime, metaclass=_DatetimeMeta):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _Datetime:
        return cls.fromtimestamp(_State.now(), tz or datetime.UTC).replace(tzinfo=tz)

    @classmethod
    def utcnow(cls) -> _Datetime:
        return cls.now()

    @classmethod
    def today(cls) -> _Datetime:
        return cls.now()


class _Date(_real_date, metaclass=_DateMeta):
    @classmethod
    def today(cls) -> _Date:
        now = _Datetime.now()
        return cls(now.year, now.month, now.day)


class _Random(_RealRandom):
    def __init__(self, x: Any = None) -> None:
        super().__init__(_stream().getrandbits(64) if x is None else x)

    def seed(self, a: Any = None, version: int = 2) -> None:
        super().seed(_stream().getrandbits(64) if a is None else a, version)


def _random_bytes(size: int) -> bytes:
    return _stream().randbytes(size)


def _patch_clock() -> None:
    time.time = lambda: _State.now()
    time.time_ns = lambda: int(_State.now() * 1_000_000_000)
    time.gmtime = lambda secs=None: _real["gmtime"](_State.now() if secs is None else secs)
    time.localtime = lambda secs=None: _real["localtime"](_State.now() if secs is None else secs)
    time.strftime = lambda form, t=None: _real["strftime"](form, time.gmtime() if t is None else t)
    time.ctime = lambda secs=None: _real["ctime"](_State.now() if secs is None else secs)
    time.clock_gettime = lambda clock: _State.now()
    time.clock_gettime_ns = lambda clock: time.time_ns()
    datetime.datetime, datetime.date = _Datetime, _Date
    sqlite3.register_adapter(_Datetime, lambda value: value.isoformat(" "))
    sqlite3.register_adapter(_Date, lambda value: value.isoformat())


def _patch_ticks() -> None:
    for name in ("monotonic_ns", "perf_counter_ns", "process_time_ns", "thread_time_ns"):
        setattr(time, name, _tick)
    for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, lambda: _tick() / 1_000_000_000)


def _patch_chance() -> None:
    os.urandom = _random_bytes
    random._urandom = _random_bytes
    random.Random = _Random
    random.seed = lambda a=None, version=2: _seed_random(_stream().getrandbits(64) if a is None else a, version)
    uuid.uuid1 = lambda node=None, clock_seq=None: uuid.uuid4()


def shift_clock(seconds: float) -> None:
    """Let the process see the wall clock shifted; `freeze` hides even that. For tests of determinism."""
    _State.now = staticmethod(lambda: _real["time"]() + seconds)
    _patch_clock()


def freeze(start_time: str) -> None:
    """Stop the standard clocks at a time (ISO 8601, taken as UTC) and make chance a stream that `seed` restarts.

    Patched are the clocks of time, datetime, os.urandom, random, secrets and uuid; what C code reads by itself is not.
    """
    moment = float(calendar.timegm(_real_datetime.fromisoformat(start_time).timetuple()))
    _State.now = staticmethod(lambda: moment)
    _patch_clock()
    _patch_ticks()
    _patch_chance()


def now() -> float:
    """Return the present time as the process sees it, in seconds since 1970."""
    return _State.now()


def seed(number: int) -> None:
    """Restart the stream of chance and the ticks for an episode."""
    _State.seed, _State.stream, _State.ticks = number, None, 0
    _seed_random(0x9E3779B97F4A7C15 * (number + 1))  # whole numbers seed fastest; this one is no other stream's seed
