"""What a session of a served environment may use."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tasks.sandbox import Limits

_CPU_S = 60.0


@dataclass(frozen=True)
class ServeLimits:
    """Limits of one session, and of how many there are at once. All are positive.

    Attributes:
        calls: tool calls and document reads that a session may make.
        call_s: seconds that one of them may take; one that takes longer loses the episode.
        session_s: seconds that a session may last.
        idle_s: seconds without a request after which an HTTP session ends. (A stdio session ends with its client.)
        sessions: sessions that may be live at once; over HTTP only, stdio serves one.
        output_chars: characters of one observation's JSON.

    Raises:
        ValueError: if a limit is not positive.
    """

    calls: int = 500
    call_s: float = 5.0
    session_s: float = 3600.0
    idle_s: float = 900.0
    sessions: int = 16
    output_chars: int = 200_000

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ValueError(f"the limit {field.name} must be positive, not {getattr(self, field.name)}")

    @property
    def sandbox(self) -> Limits:
        """What the sandbox is told."""
        return Limits(wall_s=self.call_s, cpu_s=max(_CPU_S, self.call_s), output_bytes=self.output_chars)
