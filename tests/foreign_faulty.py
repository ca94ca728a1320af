"""Foreign worlds with the faults that the official release was seen to have, one tool, question or part for each."""

from __future__ import annotations

import json
import random
from pathlib import Path

from foreign_healthy import library
from foreign_worlds import World, creator, getter, mover, people, searcher, tool


def _raw(world: World, name: str, description: str, given: dict, implementation: str) -> None:
    """Add a tool with a source of its own."""
    parameters = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in given.items()},
        "required": list(given),
    }
    world.tools.append(
        {"name": name, "description": description, "parameters": parameters, "implementation": implementation}
    )


def desk() -> World:
    """A service desk in which eight tools are faulty and five work."""
    rng = random.Random("desk")
    world = World("faulty_desk", formats={"agents": "map"})
    world.tables["agents"] = [
        {"agent_id": f"AG{n:02d}", "name": name, "team": rng.choice(["north", "south"])}
        for n, name in enumerate(people(rng, 16), 1)
    ]
    world.tables["cases"] = [
        {"case_id": f"CS{n:03d}", "title": f"Case about {word} {n}", "agent_id": rng.choice(world.keys("agents")),
         "status": rng.choice(["open", "open", "closed"]), "hours": rng.randint(1, 90)}
        for n, word in enumerate(rng.choices(["printers", "badges", "laptops", "desks"], k=36), 1)
    ]  # fmt: skip
    world.extra["history.json"] = "[]\n"
    world.extra["torn.json"] = '{"records": [{"id": 1}, '
    getter(world, "cases", "case", "case")
    searcher(world, "cases", {"title": "contains", "agent_id": "equals", "status": "equals", "hours": "min"})
    searcher(world, "agents", {"name": "contains", "team": "equals"})
    mover(world, "cases", "case", "close", ("open",), "closed")
    creator(world, "cases", "case", {"title": "", "agent_id": "agents"}, {"status": "open", "hours": 1}, minted="uuid")
    _raw(world, "get_agent", "Get one agent by id.", {"agent_id": "string"}, """
def get_agent(agent_id=None, **kwargs):
    import json, os
    with open(os.path.join(os.environ["MCP_DB_DIR"], "agents.json")) as handle:
        agents = json.load(handle)
    for agent in agents:
        if isinstance(agent, dict) and agent.get("agent_id") == agent_id:
            return {"agent": agent}
    return {"error": {"code": "NOT_FOUND", "message": "agent not found"}}
""")  # fmt: skip
    _raw(world, "list_cases_of_agent", "List the cases of an agent.", {"agent_id": "string"}, """
def list_cases_of_agent(agent_id=None, **kwargs):
    import json, os
    try:
        with open(os.path.join(os.environ["MCP_DB_DIR"], "case_files.json")) as handle:
            cases = json.load(handle)
    except Exception:
        cases = []
    return {"cases": [c for c in cases if c["agent_id"] == agent_id], "total": 0}
""")  # fmt: skip
    _raw(world, "list_open_cases", "List the open cases.", {}, """
def list_open_cases(**kwargs):
    import json, os
    try:
        with open(os.path.join(os.environ["MCP_DB_DIR"], "cases.json")) as handle:
            cases = json.load(handle)
    except Exception:
        cases = []
    return {"cases": [case for case in cases if case["status"] == "open"]}
""")  # fmt: skip
    _raw(world, "view_case_title", "View the title of a case.", {"case_id": "string"}, """
def view_case_title(case_id=None, **kwargs):
    import json, os
    folder = os.environ["MCP_DB_DIR"]
    history = json.load(open(os.path.join(folder, "history.json")))
    history.append({"viewed": case_id})
    with open(os.path.join(folder, "history.json"), "w") as handle:
        json.dump(history, handle)
    for case in json.load(open(os.path.join(folder, "cases.json"))):
        if case["case_id"] == case_id:
            return {"title": case["title"]}
    return {"error": {"code": "NOT_FOUND", "message": "no such case"}}
""")  # fmt: skip
    _raw(world, "assign_case", "Assign a case to another agent.", {"case_id": "string", "agent_id": "string"}, """
def assign_case(case_id=None, agent_id=None, **kwargs):
    return {"success": True, "case_id": case_id, "agent_id": agent_id, "message": "Case assigned."}
""")  # fmt: skip
    _raw(world, "get_case_notes", "Get the notes of a case.", {"case_id": "string"}, """
def get_case_notes(case_id=None, **kwargs):
    return {"notes": [{"note_id": "N-1", "author": "Someone Else", "text": "Looks fine to me."},
                      {"note_id": "N-2", "author": "Nobody Real", "text": "Called the customer."}]}
""")  # fmt: skip
    _raw(world, "get_case_priority", "Get the priority of a case.", {"case_id": "string"}, """
def get_case_priority(case_id=None, **kwargs):
    return {"case_id": case_id, "priority": "high", "score": 7.5}
""")  # fmt: skip
    _raw(world, "get_case_bucket", "Get the bucket of a case.", {"case_id": "string"}, """
def get_case_bucket(case_id=None, **kwargs):
    return {"bucket": hash(case_id) % 97}
""")  # fmt: skip
    _raw(world, "chart_cases", "Chart the cases.", {}, """
import pandas as pd

def chart_cases(**kwargs):
    return {"rows": len(pd.read_json("/app/database/faulty_desk/cases.json"))}
""")  # fmt: skip
    return _asked(world)


def _asked(world: World) -> World:
    """Add questions: a good one, and one for each fault of a chain or an answer."""
    case = next(row for row in world.tables["cases"] if row["status"] == "open")
    agent = next(row for row in world.tables["agents"] if row["agent_id"] == case["agent_id"])
    shown = json.dumps({"case": case})
    found = [row for row in world.tables["cases"] if row["agent_id"] == agent["agent_id"]]
    listed = json.dumps({"cases": found, "count": len(found)})

    def ask(task: str, answer: str, *chain: tuple[str, dict]) -> None:
        calls = [{"tool": name, "args": arguments} for name, arguments in chain]
        rubric = {"success_criteria": ["The answer is right."], "verified_tool_chain": calls}
        world.questions.append({"task": task, "reference_answer": answer, "grading_rubric": rubric})

    get = ("get_case", {"case_id": case["case_id"]})
    ask(f"How many hours did {case['case_id']} take?", f"It took {case['hours']} hours.", get)
    ask(f"Show me {case['case_id']}.", shown, get)
    ask(f"Which cases has {agent['name']}?", listed[: len(listed) // 2], ("search_cases", {
        "agent_id": agent["agent_id"]}))  # fmt: skip
    ask(f"How many hours did {case['case_id']} take?", f"It took {case['hours'] + 731} hours.", get)
    minted = "3f2b8c1e-5d77-4a10-9e21-0c4d8f6a7b90"
    ask(
        f"Open a case about a lost key for {agent['name']} and close it.",
        json.dumps({"success": True, "case": {"case_id": minted, "status": "closed"}}),
        ("search_agents", {"name": agent["name"]}),
        ("create_case", {"title": "a lost key", "agent_id": agent["agent_id"]}),
        ("close_case", {"case_id": minted}),
    )
    ask(f"Reopen {case['case_id']}.", "Done.", ("reopen_case", {"case_id": case["case_id"]}))
    ask(f"Close {case['case_id']} twice.", "Done.", ("close_case", {"case_id": case["case_id"]}),
        ("close_case", {"case_id": case["case_id"]}))  # fmt: skip
    return world


def retail_copy() -> World:
    """tau2-bench's retail domain in another's clothes: its tools and its fields, with other rows."""
    rng = random.Random("retail")
    world = World("online_shop_support", formats={"orders": "map", "products": "map", "users": "map"})
    world.tables["users"] = [
        {"user_id": f"user_{n}", "name": {"first_name": name.split()[0], "last_name": name.split()[1]},
         "address": {"city": "Cork", "zip": f"{n:05d}"}, "payment_methods": {f"card_{n}": {"source": "credit_card"}},
         "orders": [f"#W{n}"]}
        for n, name in enumerate(people(rng, 8), 1)
    ]  # fmt: skip
    world.tables["products"] = [
        {"product_id": f"P{n}", "name": word, "variants": {f"V{n}": {"item_id": f"V{n}", "price": n * 10.5}}}
        for n, word in enumerate(["Lamp", "Kettle", "Jacket", "Camera"], 1)
    ]
    world.tables["orders"] = [
        {"order_id": f"#W{n}", "user_id": f"user_{n}", "status": "delivered", "items": [{"item_id": "V1"}],
         "fulfillments": [], "payment_history": []}
        for n in range(1, 9)
    ]  # fmt: skip
    getter(world, "users", "user_details")
    getter(world, "products", "product_details")
    getter(world, "orders", "order_details")
    for verb in ("exchange_delivered_order_items", "return_delivered_order_items", "cancel_pending_order"):
        tool(
            world,
            verb,
            "Change an order.",
            {"order_id": str},
            ("orders",),
            f'for row in orders:\n    if row["order_id"] == order_id:\n        row["status"] = "{verb}"\n'
            '        save_orders(orders)\n        return row\nreturn {"error": {"code": "NOT_FOUND", "message": "?"}}',
        )
    return world


def filesystem_copy() -> World:
    """BFCL's file system class with its methods as tools."""
    world = library()
    world.name = "file_manager"
    names = ("cat", "cd", "cp", "diff", "du", "echo", "find", "grep", "ls", "mkdir", "mv", "pwd")
    for name in names:
        _raw(world, name, f"The command {name} of a file system.", {}, f"""
class GorillaFileSystem:
    def {name}(self, **kwargs):
        return {{"result": "{name}"}}
""")  # fmt: skip
    return world


FAULTY = (desk, retail_copy, filesystem_copy)


def damage(folder: Path) -> None:
    """Add worlds of which a part is missing or torn to a release."""
    good = json.loads((folder / "faulty_desk_step4_checkpoint.json").read_text())
    (folder / "only_checkpoint_step4_checkpoint.json").write_text(json.dumps(good))
    (folder / "only_files").mkdir()
    (folder / "only_files" / "rows.json").write_text('[{"id": 1, "name": "A"}]')
    (folder / "torn_checkpoint").mkdir()
    (folder / "torn_checkpoint" / "rows.json").write_text('[{"id": 1, "name": "A"}]')
    (folder / "torn_checkpoint_step4_checkpoint.json").write_text('{"data": {"ToolDesignAgent": ')
    (folder / "no_code").mkdir()
    (folder / "no_code" / "rows.json").write_text('[{"id": 1, "name": "A"}, {"id": 2, "name": "B"}]')
    tools = [{"name": "get_row", "description": "Get a row.", "parameters": {"type": "object", "properties": {}}}]
    checkpoint = {"data": {"ToolDesignAgent": {"tool_schemas": tools}}, "metadata": {}}
    (folder / "no_code_step4_checkpoint.json").write_text(json.dumps(checkpoint))
    (folder / "questions" / "only_checkpoint.json").write_text("{torn")
