"""All attacks of the hostile suite."""

from __future__ import annotations

import platform

from hostile import database, files, memory, network, patches, processes, protocol, resources
from hostile.attack import Attack

PARTS = (files, memory, network, processes, resources, protocol, patches, database)
ATTACKS: tuple[Attack, ...] = tuple(
    attack for part in PARTS for attack in part.ATTACKS if attack.machine in ("", platform.machine())
)
TRIALS: tuple[tuple[Attack, str], ...] = tuple(
    (attack, kind)
    for attack in ATTACKS
    for kind in ("tool", "script")
    if (attack.code if kind == "tool" else attack.script_for({}))
)
"""Each attack as a "tool" and as a "script"."""
