"""The one error of the file readers."""

from __future__ import annotations


class FileError(Exception):
    """A file that cannot be read: its name, what is wrong, and what to do where that is known."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(f"{name} {reason}")
