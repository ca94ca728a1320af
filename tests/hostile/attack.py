"""One attack of the hostile suite: its code, as a tool's and as a script's, and how it must end."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import dataclass
from typing import Any

REFUSED = frozenset({"refused"})
"""The call or the script fails with an error, and the episode goes on."""
HARMLESS = frozenset({"harmless"})
"""The code runs to its end, and nothing outside its own process has changed."""


def either(*outcomes: str) -> frozenset[str]:
    """Return the outcomes any of which will do, because the machine or the moment decides between them."""
    return frozenset(outcomes)


@dataclass(frozen=True)
class Attack:
    """Code that tries to do what the sandbox holds back.

    The code is the body of a function that has `aim`, a dict of what there is to hit (see `stand.Stand.aim`), and in a
    tool `ctx`, in a script `call`. It returns {"breach": what} if it knows that it got through, or {"loot": anything}:
    the stand looks for its secrets in that, and at what may not have happened.

    Attributes:
        name: a few words.
        holds: which of `tasks.sandbox.PROPERTIES` it attacks.
        code: the body, for the tool and, unless `script` is there, for the script.
        ends: outcomes of the tool that are in order: "refused", "harmless" or one of `tasks.sandbox.OUTCOMES`.
        script, script_ends: the same for the script; None: as the tool. "" as code: there is no such script.
        aimed: it hits nothing but what the stand puts up, so that it may be let loose where nothing holds it.
        machine: the processor that it is written for; '' any.
    """

    name: str
    holds: str
    code: str
    ends: frozenset[str] = REFUSED
    script: str | None = None
    script_ends: frozenset[str] | None = None
    aimed: bool = False
    machine: str = ""

    @property
    def slug(self) -> str:
        """The tool's name."""
        return "attack_" + re.sub(r"\W+", "_", self.name.lower()).strip("_")

    @property
    def tool(self) -> str:
        """The tool's module."""
        return f"def {self.slug}(ctx, *, aim: dict) -> dict:\n{_body(self.code)}"

    def script_for(self, aim: dict[str, Any]) -> str:
        """Return the script's module, aimed; '' if there is none."""
        code = self.code if self.script is None else self.script
        if not code:
            return ""
        return f"import json\nAIM = json.loads({json.dumps(aim)!r})\ndef solve(call):\n    aim = AIM\n{_body(code)}"

    def ends_of(self, kind: str) -> frozenset[str]:
        """Return the outcomes in order of the "tool" or the "script"."""
        return self.ends if kind == "tool" or self.script_ends is None else self.script_ends


def _body(code: str) -> str:
    return textwrap.indent(textwrap.dedent(code).strip(), "    ") + "\n    return {'survived': True}\n"
