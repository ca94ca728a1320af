"""What a reader gets out of one source document, and how it says that it cannot."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.theme import Operation, ThemeKind
from tasks.themes.text import unique

MAX_OPERATIONS = 1000
MAX_RULES = 60


class UnreadableSource(ValueError):
    """A source that yields no theme: `gate` is the check that said no, `reason` what is wrong and what to do."""

    def __init__(self, gate: str, reason: str) -> None:
        super().__init__(reason)
        self.gate = gate
        self.reason = reason


@dataclass(frozen=True)
class Reading:
    """A document's content in the terms of a theme.

    `licence` is what the document itself states (SPDX), `api` what names the API in all its versions, `api_version` the
    version that this document describes; each is "" where the document does not say.
    """

    kind: ThemeKind
    name: str
    description: str
    operations: tuple[Operation, ...]
    needs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    licence: str = ""
    api: str = ""
    api_version: str = ""

    def __post_init__(self) -> None:
        """Raise UnreadableSource unless the document has a name and at least one operation."""
        if not self.name.strip():
            raise UnreadableSource("no_name", "the document has no title or name: give it one")
        if not self.operations:
            raise UnreadableSource("no_operations", "it describes no operation: nothing could be built from it")
        if len(self.operations) > MAX_OPERATIONS:
            raise UnreadableSource(
                "too_many_operations",
                f"the document has {len(self.operations)} operations, more than {MAX_OPERATIONS}: split it by topic",
            )


def rule_lines(rules: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return "operation: sentence" lines, a sentence that stands under several operations once, at most MAX_RULES."""
    seen: dict[str, str] = {}
    for operation, sentence in rules:
        seen.setdefault(sentence, operation)
    lines = (f"{operation}: {sentence}" if operation else sentence for sentence, operation in seen.items())
    return unique(lines)[:MAX_RULES]
