"""What the command line tells a user in one line."""

from __future__ import annotations


class Refused(Exception):
    """What the user asked for cannot be done; the message says what, where and what to do."""
