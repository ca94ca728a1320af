"""What a tool's name says that it does."""

from __future__ import annotations

import re

_READS = """
get list search find read view show fetch lookup look count sum check query retrieve browse describe compare calculate
compute estimate preview analyze analyse summarize filter verify validate inspect track report stats rank explain detect
aggregate monitor average total
"""
_WRITES = """
create add insert update set edit change modify delete remove cancel book reserve send post submit assign move approve
reject close open start finish complete register schedule reschedule place return exchange pay refund transfer archive
publish mark enable disable activate deactivate upload save write record log apply issue revoke renew suspend reinstate
resolve escalate merge tag untag subscribe unsubscribe rename restore checkout release draw win lose store hang pick
void execute process make put import sync grant reset confirm accept decline
"""
READS, WRITES = frozenset(_READS.split()), frozenset(_WRITES.split())
LOG_NAMES = re.compile(
    r"(^|[_\-/.])(logs?|audit|quotas?|usage|rate_?limits?|telemetry|metrics|access|activity)([_\-/.]|$)"
)


def verb(name: str) -> str:
    """Return the verb of a tool's native name: the first of its words that is one, else the first word."""
    parts = name.split("_")
    return next((part for part in parts if part in READS or part in WRITES), parts[0])


def sounds_reading(name: str, declared: str = "") -> bool:
    """Say whether a tool should leave the state alone, by what the release declares or by its name."""
    return declared == "read" or (not declared and verb(name) in READS)


def sounds_writing(name: str, declared: str = "") -> bool:
    """Say whether a tool should change the state, by what the release declares or by its name."""
    return declared == "write" or (not declared and verb(name) in WRITES)
