"""Read domains of tau2-bench (arXiv 2506.07982): a data model, a toolkit class, a database, a policy and tasks."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.environment.runtime.files.modules import STAND_INS
from tasks.imports.annotations import Annotations, described
from tasks.imports.carried import imported, is_standard
from tasks.imports.licences import licence_of
from tasks.imports.world import ForeignTool, ForeignWorld, ImportFailed, Question, snake

_MARKS = ("is_tool", "is_discoverable_tool")
_SKIPPED = ("environment", "tasks", "create_tasks", "user_simulator")
_STUB = '''from tau2_runner import runner


def {name}(**arguments):
    """{doc}"""
    return runner.call({name!r}, arguments)
'''
_RUNNER = """from tau2.environment.toolkit import Runner
from {tools} import {toolkit}
from {model} import {database}

runner = Runner({toolkit}, {database}, "/app/database/{domain}/db.json")
"""


def read_domains(path: str | Path, licence: str = "") -> Iterator[ForeignWorld]:
    """Yield the domains below a folder in the order of their names.

    A domain is a folder with `tools.py`; its database, policy and tasks lie beside it, or, as in the benchmark's own
    repository, in a folder of the same name below `data/`.

    Raises:
        ImportFailed: if there is none.
    """
    top = Path(path)
    if not top.is_dir():
        raise ImportFailed(f"{top} is no folder; give tau2-bench's repository or a folder of domains")
    found = sorted(file.parent for file in top.rglob("tools.py") if _has_toolkit(file))
    if not found:
        raise ImportFailed(f"{top} holds no domain: no tools.py whose toolkit has methods marked by @is_tool")
    stated = licence or licence_of(top)
    for folder in found:
        yield _domain(top, folder, stated)


def _has_toolkit(file: Path) -> bool:
    return any(mark in file.read_text(errors="replace") for mark in _MARKS)


def _data_folder(top: Path, folder: Path) -> Path:
    """Return where a domain's database lies."""
    if any(folder.glob("db.*")):
        return folder
    for place in sorted(top.rglob(folder.name)):
        if place.is_dir() and place != folder and any(place.glob("db.*")):
            return place
    return folder


def _read(file: Path, problems: list[tuple[str, str, str]]) -> Any:
    try:
        text = file.read_text()
        return tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        problems.append(("broken_file", file.name, f"{file.name}: {error}"))
        return None


def _domain(top: Path, folder: Path, licence: str) -> ForeignWorld:
    name, problems = folder.name, []
    data = _data_folder(top, folder)
    files: dict[str, bytes] = {}
    database = next(iter(sorted(data.glob("db.json")) + sorted(data.glob("db.toml"))), None)
    loaded = _read(database, problems) if database is not None else None
    if loaded is None:
        problems.append(("no_database", name, f"there is no readable db.json or db.toml in {data}"))
    else:
        files["db.json"] = json.dumps(loaded, default=str, ensure_ascii=False).encode()
    policies = sorted(data.glob("*policy*.md"))
    files.update({file.name: file.read_bytes() for file in policies} if files else {})
    code, package = _modules(folder, top), _package(folder)
    tools, runner = _tools(folder, code, package, problems)
    if runner:
        code["tau2_runner"] = runner
    tasks = _read(data / "tasks.json", problems) if (data / "tasks.json").is_file() else None
    if tasks is None:
        problems.append(("no_questions", name, f"there is no readable tasks.json in {data}"))
    first = policies[0].read_text(errors="replace").strip().splitlines() if policies else []
    return ForeignWorld(
        origin="tau2",
        folder=name,
        name=name.replace("_", " "),
        description=next((line.strip("# ") for line in first if line.strip("# ")), f"The domain {name}."),
        files=files,
        tools=tools,
        questions=tuple(_questions(tasks)),
        code=code,
        problems=tuple(problems),
        uri=folder.absolute().as_uri(),
        licence=licence or "NOASSERTION",
    )


def _package(folder: Path) -> str:
    """Return the name that a domain's modules have: by their place below `src`, else as tau2's own."""
    parts = folder.absolute().parts
    if "tau2" in parts:
        return ".".join(parts[len(parts) - parts[::-1].index("tau2") - 1 :])
    return f"tau2.domains.{folder.name}"


def _modules(folder: Path, top: Path) -> dict[str, str]:
    """Return module name -> source of a domain and of what it imports from the folder that was given."""
    package = _package(folder)
    code = {
        f"{package}.{file.stem}": file.read_text(errors="replace")
        for file in sorted(folder.glob("*.py"))
        if file.stem not in (*_SKIPPED, "__init__")
    }
    bare = {file.stem for file in folder.glob("*.py")}
    waiting = list(code.values())
    while waiting:
        for name in imported(waiting.pop()):
            if name in code or name in STAND_INS or is_standard(name):
                continue
            source = None
            if name in bare:
                source = folder / f"{name}.py"
            elif name.startswith("tau2."):
                places = [p for p in sorted(top.rglob(f"{name.rpartition('.')[2]}.py")) if _named(p, name)]
                source = places[0] if places else None
            if source is not None and source.is_file():
                code[name] = source.read_text(errors="replace")
                waiting.append(code[name])
    return code


def _named(file: Path, module: str) -> bool:
    return file.with_suffix("").as_posix().endswith(module.replace(".", "/"))


def _marked(function: ast.FunctionDef) -> tuple[bool, str]:
    """Return (whether a method is a tool, "read", "write", "generic" or "think")."""
    for mark in function.decorator_list:
        called = mark.func if isinstance(mark, ast.Call) else mark
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in _MARKS:
            kinds = [node.attr.lower() for node in ast.walk(mark) if isinstance(node, ast.Attribute)]
            kind = next((k for k in kinds if k in ("read", "write", "generic", "think")), "read")
            return True, kind
    return False, ""


def _tools(
    folder: Path, code: Mapping[str, str], package: str, problems: list[tuple[str, str, str]]
) -> tuple[tuple[ForeignTool, ...], str]:
    """Return (tools, the source of the module that runs them) of the toolkit class with most tools."""
    module = f"{package}.tools"
    try:
        tree = ast.parse(code[module])
    except SyntaxError as error:
        problems.append(("broken_code", "tools.py", f"tools.py: {error}"))
        return (), ""
    best: tuple[ast.ClassDef, list[tuple[ast.FunctionDef, str]]] | None = None
    for owner in [node for node in tree.body if isinstance(node, ast.ClassDef)]:
        methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
        found = [(method, _marked(method)[1]) for method in methods if _marked(method)[0]]
        if best is None or len(found) > len(best[1]):
            best = (owner, found)
    if best is None or not best[1]:
        problems.append(("no_tools", "tools.py", "tools.py has no class with methods marked by @is_tool"))
        return (), ""
    owner, methods = best
    annotations = Annotations([source for name, source in code.items() if name.rpartition(".")[0] == package])
    database = _database_class(owner, annotations)
    model = next((n for n in sorted(code) if f"class {database}(" in code[n]), "")
    if not model:
        problems.append(("no_database_class", "tools.py", f"no module defines the database class {database!r}"))
        return (), ""
    text = _RUNNER.format(
        tools=module, toolkit=owner.name, model=model, database=database, domain=folder.name
    )  # the same paths as every foreign tool's
    tools = []
    for method, declared in methods:
        doc, about = described(ast.get_docstring(method) or method.name)
        tools.append(
            ForeignTool(
                name=snake(method.name),
                original=method.name,
                description=doc,
                parameters=annotations.parameters(method, about),
                source=_STUB.format(name=snake(method.name), doc=doc.replace("\\", "").replace('"', "'")[:300]),
                declared=declared,
            )
        )
    return tuple(tools), text


def _database_class(owner: ast.ClassDef, annotations: Annotations) -> str:
    """Return the class of a toolkit's `db`: by its annotation, else the one that is derived from DB."""
    for node in owner.body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "db":
            return ast.unparse(node.annotation).strip("'\"").rpartition(".")[2]
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            for argument in node.args.args[1:]:
                if argument.arg == "db" and argument.annotation is not None:
                    return ast.unparse(argument.annotation).strip("'\"").rpartition(".")[2]
    return next((name for name, bases in annotations.bases.items() if "DB" in bases), "DB")


def _questions(tasks: Any) -> Iterator[Question]:
    rows = tasks.get("tasks") if isinstance(tasks, dict) else tasks
    for number, row in enumerate(rows if isinstance(rows, list) else []):
        if not isinstance(row, dict):
            continue
        scenario = row.get("user_scenario") or {}
        told = scenario.get("instructions", scenario) if isinstance(scenario, dict) else scenario
        text = told if isinstance(told, str) else "\n".join(f"{k}: {v}" for k, v in dict(told).items() if v)
        wanted = row.get("evaluation_criteria") or {}
        actions = [a for a in wanted.get("actions") or [] if isinstance(a, dict)]
        chain = tuple(
            (str(a.get("name")), dict(a.get("arguments") or a.get("kwargs") or {}))
            for a in actions
            if a.get("requestor") != "user"
        )
        informed = tuple(map(str, wanted.get("communicate_info") or []))
        yield Question(
            number,
            text or str(row.get("id", number)),
            " ".join(informed),
            chain,
            informed,
            _unfit(row, wanted, actions),
        )


def _unfit(row: Mapping[str, Any], wanted: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]) -> str:
    """Return why a task cannot be judged by its agent's actions from the database alone."""
    initial = row.get("initial_state") or {}
    if any(initial.get(name) for name in ("initialization_data", "initialization_actions", "message_history")):
        return "it begins in a state of its own (initial_state), not in that of the domain's database"
    if any(action.get("requestor") == "user" for action in actions):
        return "the person who asks must act as well, with tools of their own"
    if wanted.get("env_assertions"):
        return "it is judged by assertions (env_assertions) that are code of the benchmark"
    if "NL_ASSERTION" in (wanted.get("reward_basis") or ()):
        return "it is judged by statements in plain language (NL_ASSERTION), which takes a model"
    return ""
