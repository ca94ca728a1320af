"""What a client lists, in the protocol's types: tools with hints, documents as resources, the task as a prompt."""

from __future__ import annotations

import json
from urllib.parse import quote

from mcp import types

from schemas.database import Database, Document
from schemas.task import AgentTask
from schemas.tool import Tool
from tasks.serve.served import Served

PROMPT = "task"
"""The name of the prompt that holds the task."""


def _annotations(tool: Tool, database: Database) -> types.ToolAnnotations:
    """Return the hints. A creation whose action changes no other row only adds; an update that just sets is idempotent.

    Of a tool without a known action the cautious hint is given.
    """
    if not tool.writes:
        return types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    action = next((action for action in database.actions if action.name == tool.action), None)
    elsewhere = action is None or any("." in effect.path for effect in action.effects)
    adds = action is None or any(effect.operation == "add" for effect in action.effects)
    return types.ToolAnnotations(
        read_only_hint=False,
        destructive_hint=tool.kind != "create" or elsewhere,
        idempotent_hint=tool.kind == "update" and not adds,
        open_world_hint=False,
    )


def offered_tool(tool: Tool, database: Database) -> types.Tool:
    """Return a tool with its schema and hints: whether it only reads, and whether it changes what was there."""
    return types.Tool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema=tool.parameters,
        annotations=_annotations(tool, database),
    )


def document_uri(database: Database, document: Document) -> str:
    """Return the URI under which a document is read."""
    return f"agentworld://{quote(database.env_id, safe='')}/documents/{quote(document.name, safe='')}"


def offered_document(database: Database, document: Document) -> types.Resource:
    """Return a document as a resource."""
    return types.Resource(
        uri=document_uri(database, document),
        name=document.name,
        title=document.title,
        description=document.description or None,
        mime_type=document.media_type,
    )


def offered_prompts(served: Served) -> list[types.Prompt]:
    """Return the prompt that holds the task; none if no task is served."""
    if served.task is None:
        return []
    return [types.Prompt(name=PROMPT, title="The task", description=f"What to do in {served.database.name}")]


def task_text(task: AgentTask) -> str:
    """Return a task's prompt, with the form of the answer that it asks for."""
    fields = {field.name: field.type for field in task.verifier.answer}
    return f"{task.prompt}\n\nEnd with one JSON object with exactly these fields as your answer: {json.dumps(fields)}"
