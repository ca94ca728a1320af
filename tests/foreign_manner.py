"""How models write tools for a release: self-contained functions, helpers inside, errors as values."""

# ruff: noqa: E501 - lines of foreign code stand as they were written

from __future__ import annotations

from typing import Any

from foreign_worlds import World

TEXT, INT, NUM, BOOL = ({"type": kind} for kind in ("string", "integer", "number", "boolean"))


def add_tool(
    world: World, name: str, said: str, given: dict[str, Any], needed: list[str], body: str, head: str
) -> None:
    """Add a self-contained function: its helpers stand inside of it, what goes wrong comes back as an error."""
    arguments = ", ".join([*needed, *(f"{one}=None" for one in given if one not in needed), "**kwargs"])
    inner = "\n".join("    " + line if line else "" for line in (head + body).strip("\n").splitlines())
    source = f"def {name}({arguments}):\n{inner}\n"
    schema = {"type": "object", "properties": given, "required": needed, "additionalProperties": False}
    world.tools.append({"name": name, "description": said, "parameters": schema, "implementation": source})


HEAD = """
import json, os, uuid
from datetime import datetime

base = os.environ.get("MCP_DB_DIR") or "."

def load(name):
    path = os.path.join(base, name + ".json")
    if not os.path.exists(path):
        return []
    with open(path, "r", encoding="utf-8") as fh:
        return json.load(fh)

def dump(name, data):
    with open(os.path.join(base, name + ".json"), "w", encoding="utf-8") as fh:
        json.dump(data, fh, indent=2, ensure_ascii=False)

def err(code, message):
    return {"error": {"code": code, "message": message}}

def log(action, ref):
    rows = load("audit_log")
    rows.append({"log_id": "LOG-" + uuid.uuid4().hex[:8], "action": action, "ref": ref, "at": datetime.utcnow().isoformat() + "Z"})
    dump("audit_log", rows)

"""
