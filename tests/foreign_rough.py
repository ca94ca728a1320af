"""Foreign worlds as models write them: one file for all, pages and sorting, free searches, camel case, guards."""

# ruff: noqa: E501 - lines of foreign code stand as they were written

from __future__ import annotations

import json
import random
from typing import Any

from foreign_worlds import World, day, people


def _tool(
    world: World, name: str, description: str, properties: dict[str, Any], required: list[str], body: str
) -> None:
    schema = {"type": "object", "properties": properties, "required": required}
    world.tools.append({"name": name, "description": description, "parameters": schema, "implementation": body})


_HEAD = """import json
import os
from datetime import datetime
from typing import Any, Dict, List, Optional

DB_DIR = os.environ.get("MCP_DB_DIR", "/app/database/project_tracker")
DB_FILE = os.path.join(DB_DIR, "database.json")


def _load() -> Dict[str, Any]:
    with open(DB_FILE, "r", encoding="utf-8") as f:
        return json.load(f)


def _save(db: Dict[str, Any]) -> None:
    with open(DB_FILE, "w", encoding="utf-8") as f:
        json.dump(db, f, indent=2, ensure_ascii=False)


def _error(code: str, message: str) -> Dict[str, Any]:
    return {"success": False, "error": {"code": code, "message": message}}


"""
_TEXT, _INT = {"type": "string"}, {"type": "integer"}


def tracker() -> World:
    """One file with four collections and a counter; paged lists, a free search, partial updates, guards."""
    rng = random.Random("tracker")
    world = World("project_tracker")
    users = [{"id": f"usr_{n}", "name": name, "email": f"u{n}@example.org", "role": rng.choice(["dev", "lead", "qa"])}
             for n, name in enumerate(people(rng, 14), 1)]  # fmt: skip
    projects = [{"id": f"prj_{n}", "title": title, "owner_id": rng.choice(users)["id"], "budget": rng.randint(5, 90) * 500,
                 "tags": rng.sample(["web", "data", "mobile", "infra"], 2)}
                for n, title in enumerate(["Apollo", "Borealis", "Cascade", "Drift", "Everest", "Fathom", "Glacier"], 1)]  # fmt: skip
    tasks = [{"id": f"tsk_{n}", "project_id": rng.choice(projects)["id"], "assignee_id": rng.choice(users)["id"],
              "title": f"{rng.choice(['Fix', 'Write', 'Test', 'Plan'])} item {n}", "priority": rng.choice(["low", "medium", "high"]),
              "status": rng.choice(["todo", "todo", "in_progress", "done"]), "estimate_hours": rng.randint(1, 60),
              "created_at": f"{day(rng, 1)}T09:{n:02d}:00", "completed_at": None}
             for n in range(1, 46)]  # fmt: skip
    comments = [{"id": f"cmt_{n}", "task_id": rng.choice(tasks)["id"], "author_id": rng.choice(users)["id"],
                 "body": f"Remark number {n}"} for n in range(1, 31)]  # fmt: skip
    database = {"users": users, "projects": projects, "tasks": tasks, "comments": comments, "meta": {"next_task": 46}}
    world.extra["database.json"] = json.dumps(database, indent=2)
    world.extra["README.md"] = "# Project tracker\n\nTasks move from todo to in_progress to done.\n"
    for noun, table in (("user", "users"), ("project", "projects"), ("task", "tasks")):
        _tool(world, f"get_{noun}", f"Retrieve a {noun} by its identifier.", {f"{noun}_id": _TEXT}, [f"{noun}_id"], _HEAD + f'''
def get_{noun}({noun}_id: str, **kwargs) -> Dict[str, Any]:
    db = _load()
    found = next((x for x in db["{table}"] if x["id"] == {noun}_id), None)
    if found is None:
        return _error("NOT_FOUND", "{noun} not found: " + str({noun}_id))
    return {{"success": True, "data": found}}
''')  # fmt: skip
    _tool(world, "list_tasks", "List tasks with optional filters, sorting and paging.",
          {"project_id": _TEXT, "assignee_id": _TEXT, "status": {"type": "string", "enum": ["todo", "in_progress", "done"]},
           "priority": _TEXT, "page": {"type": "integer", "default": 1}, "page_size": {"type": "integer", "default": 50}},
          [], _HEAD + '''
def list_tasks(project_id=None, assignee_id=None, status=None, priority=None, page: int = 1, page_size: int = 50, **kwargs):
    db = _load()
    rows = db["tasks"]
    for key, value in (("project_id", project_id), ("assignee_id", assignee_id), ("status", status), ("priority", priority)):
        if value is not None:
            rows = [r for r in rows if r.get(key) == value]
    start = (page - 1) * page_size
    return {"success": True, "data": {"items": rows[start:start + page_size], "total": len(rows), "page": page}}
''')  # fmt: skip
    _tool(world, "search_projects", "Full-text search over projects.", {"query": _TEXT}, ["query"], _HEAD + '''
def search_projects(query: str, **kwargs):
    if not query:
        return _error("INVALID_INPUT", "query is required")
    q = query.lower()
    hits = [p for p in _load()["projects"] if q in p["title"].lower() or any(q in t for t in p["tags"])]
    return {"success": True, "data": hits, "count": len(hits)}
''')  # fmt: skip
    _tool(world, "find_users", "Find users by name or role.", {"name": _TEXT, "role": _TEXT}, [], _HEAD + '''
def find_users(name=None, role=None, **kwargs):
    users = _load()["users"]
    users = [u for u in users if (not name or name.lower() in u["name"].lower()) and (not role or u["role"] == role)]
    return {"success": True, "data": users, "count": len(users)}
''')  # fmt: skip
    _tool(world, "update_task", "Update fields of a task.",
          {"task_id": _TEXT, "title": _TEXT, "priority": {"type": "string", "enum": ["low", "medium", "high"]},
           "estimate_hours": _INT}, ["task_id"], _HEAD + '''
def update_task(task_id: str, title=None, priority=None, estimate_hours=None, **kwargs):
    db = _load()
    for task in db["tasks"]:
        if task["id"] == task_id:
            if title is None and priority is None and estimate_hours is None:
                return _error("INVALID_INPUT", "nothing to update")
            for key, value in (("title", title), ("priority", priority), ("estimate_hours", estimate_hours)):
                if value is not None:
                    task[key] = value
            _save(db)
            return {"success": True, "data": task}
    return _error("NOT_FOUND", "task not found")
''')  # fmt: skip
    _tool(world, "complete_task", "Mark a task in progress as done.", {"task_id": _TEXT}, ["task_id"], _HEAD + '''
def complete_task(task_id: str, **kwargs):
    db = _load()
    task = next((t for t in db["tasks"] if t["id"] == task_id), None)
    if not task:
        return _error("NOT_FOUND", "task not found")
    if task["status"] != "in_progress":
        return _error("INVALID_STATE", "only tasks in progress can be completed")
    task["status"] = "done"
    task["completed_at"] = datetime.utcnow().isoformat()
    _save(db)
    return {"success": True, "message": "Task completed", "data": task}
''')  # fmt: skip
    _tool(world, "assign_task", "Assign a task to a user.", {"task_id": _TEXT, "assignee_id": _TEXT},
          ["task_id", "assignee_id"], _HEAD + '''
def assign_task(task_id: str, assignee_id: str, **kwargs):
    db = _load()
    if not any(u["id"] == assignee_id for u in db["users"]):
        return _error("NOT_FOUND", "user not found")
    for task in db["tasks"]:
        if task["id"] == task_id:
            task["assignee_id"] = assignee_id
            _save(db)
            return {"success": True, "data": task}
    return _error("NOT_FOUND", "task not found")
''')  # fmt: skip
    _tool(world, "create_task", "Create a task in a project.",
          {"project_id": _TEXT, "title": _TEXT, "priority": {"type": "string", "enum": ["low", "medium", "high"]},
           "estimate_hours": _INT}, ["project_id", "title", "priority", "estimate_hours"], _HEAD + '''
def create_task(project_id: str, title: str, priority: str, estimate_hours: int, **kwargs):
    db = _load()
    if not any(p["id"] == project_id for p in db["projects"]):
        return _error("NOT_FOUND", "project not found")
    number = db["meta"]["next_task"]
    db["meta"]["next_task"] = number + 1
    task = {"id": f"tsk_{number}", "project_id": project_id, "assignee_id": None, "title": title, "priority": priority,
            "status": "todo", "estimate_hours": estimate_hours, "created_at": datetime.now().isoformat(timespec="seconds"),
            "completed_at": None}
    db["tasks"].append(task)
    _save(db)
    return {"success": True, "data": task}
''')  # fmt: skip
    _tool(world, "delete_comment", "Delete a comment.", {"comment_id": _TEXT}, ["comment_id"], _HEAD + '''
def delete_comment(comment_id: str, **kwargs):
    db = _load()
    left = [c for c in db["comments"] if c["id"] != comment_id]
    if len(left) == len(db["comments"]):
        return _error("NOT_FOUND", "comment not found")
    db["comments"] = left
    _save(db)
    return {"success": True, "deleted": comment_id}
''')  # fmt: skip
    _tool(world, "get_project_stats", "Statistics of a project.", {"project_id": _TEXT}, ["project_id"], _HEAD + '''
def get_project_stats(project_id: str, **kwargs):
    tasks = [t for t in _load()["tasks"] if t["project_id"] == project_id]
    by_status: Dict[str, int] = {}
    for t in tasks:
        by_status[t["status"]] = by_status.get(t["status"], 0) + 1
    return {"success": True, "data": {"project_id": project_id, "total_tasks": len(tasks), "by_status": by_status,
            "total_hours": sum(t["estimate_hours"] for t in tasks)}}
''')  # fmt: skip
    return world


def home() -> World:
    """Camel case, nested states, an object by room; a class that all tools share; no labels."""
    rng = random.Random("home")
    world = World("smart_home")
    rooms = {f"room{n}": {"roomId": f"room{n}", "roomName": name, "floor": rng.randint(0, 2)}
             for n, name in enumerate(["Kitchen", "Study", "Attic", "Cellar", "Hall", "Nursery"], 1)}  # fmt: skip
    devices = [{"deviceId": f"dev{n:02d}", "roomId": rng.choice(list(rooms)), "deviceType": rng.choice(["lamp", "blind", "heater"]),
                "state": {"power": rng.choice(["on", "off"]), "level": rng.randint(0, 100)}, "watts": rng.randint(3, 2000)}
               for n in range(1, 31)]  # fmt: skip
    scenes = [{"sceneId": f"scn{n}", "sceneName": name, "active": rng.random() < 0.5, "deviceIds": [d["deviceId"] for d in rng.sample(devices, 3)]}
              for n, name in enumerate(["Morning", "Evening", "Movie", "Away", "Party"], 1)]  # fmt: skip
    world.extra |= {
        "rooms.json": json.dumps(rooms),
        "devices.json": json.dumps({"devices": devices}),
        "scenes.json": json.dumps(scenes),
    }
    shared = """
class HomeStore:
    BASE = "/app/database/smart_home"

    def read(self, name):
        import json
        with open(f"{self.BASE}/{name}.json") as f:
            return json.load(f)

    def write(self, name, data):
        import json
        with open(f"{self.BASE}/{name}.json", "w") as f:
            json.dump(data, f)


store = HomeStore()

"""
    _tool(world, "getRoom", "Get a room.", {"roomId": _TEXT}, ["roomId"], shared + '''
def getRoom(roomId, **kw):
    room = store.read("rooms").get(roomId)
    return {"room": room} if room else {"error": "room not found"}
''')  # fmt: skip
    _tool(world, "findRooms", "Find rooms by name or floor.", {"roomName": _TEXT, "floor": _INT}, [], shared + '''
def findRooms(roomName=None, floor=None, **kw):
    rooms = [r for r in store.read("rooms").values() if (roomName is None or r["roomName"] == roomName) and (floor is None or r["floor"] == floor)]
    return {"rooms": rooms}
''')  # fmt: skip
    _tool(world, "getDevice", "Get a device.", {"deviceId": _TEXT}, ["deviceId"], shared + '''
def getDevice(deviceId, **kw):
    for d in store.read("devices")["devices"]:
        if d["deviceId"] == deviceId:
            return d
    return {"error": "device not found"}
''')  # fmt: skip
    _tool(world, "listDevices", "List devices.", {"roomId": _TEXT, "deviceType": _TEXT, "maxWatts": _INT}, [], shared + '''
def listDevices(roomId=None, deviceType=None, maxWatts=None, **kw):
    rows = store.read("devices")["devices"]
    rows = [d for d in rows if roomId in (None, d["roomId"]) and deviceType in (None, d["deviceType"]) and (maxWatts is None or d["watts"] <= maxWatts)]
    return {"devices": rows, "total": len(rows)}
''')  # fmt: skip
    _tool(world, "setDevicePower", "Switch a device on or off.", {"deviceId": _TEXT, "power": {"type": "string", "enum": ["on", "off"]}},
          ["deviceId", "power"], shared + '''
def setDevicePower(deviceId, power, **kw):
    data = store.read("devices")
    for d in data["devices"]:
        if d["deviceId"] == deviceId:
            d["state"]["power"] = power
            store.write("devices", data)
            return {"deviceId": deviceId, "power": power, "status": "ok"}
    return {"error": "device not found"}
''')  # fmt: skip
    _tool(world, "activateScene", "Activate a scene.", {"sceneId": _TEXT}, ["sceneId"], shared + '''
def activateScene(sceneId, **kw):
    scenes = store.read("scenes")
    for s in scenes:
        if s["sceneId"] == sceneId:
            if s["active"]:
                return {"error": "already active"}
            s["active"] = True
            store.write("scenes", scenes)
            return {"scene": s}
    return {"error": "scene not found"}
''')  # fmt: skip
    _tool(world, "listScenes", "List scenes.", {"active": {"type": "boolean"}}, [], shared + '''
def listScenes(active=None, **kw):
    return {"scenes": [s for s in store.read("scenes") if active is None or s["active"] == active]}
''')  # fmt: skip
    return world


ROUGH = (tracker, home)
