"""Read the official Agent-World release: folders of files, checkpoints with tools, questions (arXiv 2604.18292)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tasks.imports.licences import licence_of
from tasks.imports.schemas import argument_schema
from tasks.imports.world import ForeignTool, ForeignWorld, ImportFailed, Question, snake

SUFFIX = "_step4_checkpoint.json"
_MOST_BYTES = 64 * 1024 * 1024
_NO_DATA = (".pyc", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".zip", ".gz")


def read_release(path: str | Path, licence: str = "") -> Iterator[ForeignWorld]:
    """Yield the worlds of a release in the order of their ids; what is missing or damaged is in their `problems`.

    Args:
        path: a folder that holds, at any depth, `<id>_step4_checkpoint.json` files, the folders `<id>/` and
            `questions/<id>.json`.
        licence: SPDX expression, where the release has no file that says one.

    Raises:
        ImportFailed: if there is neither a checkpoint nor an environment's folder.
    """
    top = Path(path)
    if not top.is_dir():
        raise ImportFailed(f"{top} is no folder; give the folder of a release, which holds <id>/ and <id>{SUFFIX}")
    checkpoints = {file.name.removesuffix(SUFFIX): file for file in sorted(top.rglob(f"*{SUFFIX}"))}
    folders = _folders(top, checkpoints)
    if not checkpoints:
        raise ImportFailed(f"{top} holds no <id>{SUFFIX}: it is no release of Agent-World")
    questions = {file.stem: file for file in sorted(top.rglob("questions/*.json"))}
    stated = licence or licence_of(top)
    for name in sorted({*checkpoints, *folders}):
        yield _world(name, folders.get(name), checkpoints.get(name), questions.get(name), stated)


def _folders(top: Path, checkpoints: Mapping[str, Path]) -> dict[str, Path]:
    """Return id -> folder: those named by a checkpoint, and those beside one that hold data but have none."""
    found: dict[str, Path] = {}
    for name, file in checkpoints.items():
        beside = file.parent / name
        places = [beside] if beside.is_dir() else [p for p in sorted(top.rglob(name)) if p.is_dir()]
        if places:
            found[name] = places[0]
    for parent in sorted({folder.parent for folder in found.values()}):
        for folder in sorted(parent.iterdir()):
            known = folder.name in found or folder.name in ("questions", "checkpoints") or folder.name.startswith(".")
            if folder.is_dir() and not known and folder not in {p.parent for p in found.values()}:
                found[folder.name] = folder
    return found


def _files(folder: Path) -> tuple[dict[str, bytes], list[tuple[str, str, str]]]:
    files: dict[str, bytes] = {}
    problems = []
    total = 0
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if not file.is_file() or file.is_symlink() or file.suffix.lower() in _NO_DATA or "__pycache__" in name:
            continue
        total += file.stat().st_size
        if total > _MOST_BYTES:
            problems.append(("too_large", name, f"the files have more than {_MOST_BYTES >> 20} MiB together"))
            break
        files[name] = file.read_bytes()
    return files, problems


def _load(file: Path | None, what: str, problems: list[tuple[str, str, str]]) -> Any:
    if file is None:
        problems.append((f"no_{what}", what, f"the release has no file of {what} for this environment"))
        return None
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeError, ValueError) as error:
        problems.append((f"broken_{what}", file.name, f"{file.name}: {error}"))
        return None


def _world(
    name: str, folder: Path | None, checkpoint: Path | None, questions: Path | None, licence: str
) -> ForeignWorld:
    problems: list[tuple[str, str, str]] = []
    loaded = _load(checkpoint, "checkpoint", problems) if checkpoint or folder else None
    data = _part(loaded, "data")
    metadata = _part(loaded, "metadata")
    files: dict[str, bytes] = {}
    if folder is None:
        problems.append(("no_files", name, f"there is no folder {name}/ with the environment's files"))
    else:
        files, found = _files(folder)
        problems += found
        if not files and not found:
            problems.append(("no_files", name, f"the folder {name}/ holds no files"))
    problems += [
        ("missing_file", path, f"{path} is in the summary of files but not in the folder {name}/")
        for path in _summary(data)
        if files and path not in files and Path(path).name not in {Path(p).name for p in files}
    ]
    asked = _load(questions, "questions", problems) if loaded is not None else None
    tools = _tools(_part(_part(data, "ToolDesignAgent"), "tool_schemas"), problems) if loaded is not None else ()
    if loaded is not None and not tools:
        problems.append(("no_tools", name, "the checkpoint has no tool with an implementation"))
    return ForeignWorld(
        origin="agent-world",
        folder=name,
        name=str(metadata.get("name") or name).replace("_", " "),
        description=str(metadata.get("description") or ""),
        files=files,
        tools=tools,
        questions=_questions(asked, problems),
        category=_category(metadata.get("taxonomy")),
        problems=tuple(problems),
        uri=(checkpoint or folder or Path(name)).absolute().as_uri(),
        licence=str(metadata.get("license") or metadata.get("licence") or licence or "NOASSERTION"),
    )


def _part(value: Any, name: str) -> Any:
    found = value.get(name) if isinstance(value, dict) else None
    return found if found is not None else {}


def _summary(data: Any) -> list[str]:
    """Return the paths that the checkpoint's summary of files names."""
    summary = _part(_part(data, "DatabaseAgent"), "files_summary")
    rows = list(summary) if isinstance(summary, dict | list) else []
    names = []
    for row in rows:
        found = (row.get("path") or row.get("file") or row.get("name")) if isinstance(row, dict) else row
        if isinstance(found, str) and "." in found:
            names.append(found.removeprefix("./"))
    return names


def _tools(schemas: Any, problems: list[tuple[str, str, str]]) -> tuple[ForeignTool, ...]:
    rows = list(schemas.values()) if isinstance(schemas, dict) else schemas
    tools: list[ForeignTool] = []
    taken: Counter[str] = Counter()
    for number, row in enumerate(rows if isinstance(rows, list) else []):
        inner = row.get("function") if isinstance(row, dict) and isinstance(row.get("function"), dict) else row
        name = inner.get("name") if isinstance(inner, dict) else None
        source = (inner.get("implementation") or row.get("implementation")) if isinstance(inner, dict) else None
        if not isinstance(name, str) or not name or not isinstance(source, str) or not source.strip():
            key = name if isinstance(name, str) and name else f"tool {number}"
            problems.append(("tool_without_code", key, f"{key}: it has no name or no implementation"))
            continue
        native = snake(name)
        taken[native] += 1
        tools.append(
            ForeignTool(
                name=native if taken[native] == 1 else f"{native}_{taken[native]}",
                original=name,
                description=str(inner.get("description") or name),
                parameters=argument_schema(inner.get("parameters") or inner.get("input_schema")),
                source=source,
            )
        )
    return tuple(tools)


def _questions(asked: Any, problems: list[tuple[str, str, str]]) -> tuple[Question, ...]:
    rows = asked.get("tasks") if isinstance(asked, dict) else asked
    found = []
    for number, row in enumerate(rows if isinstance(rows, list) else []):
        rubric = _part(row, "grading_rubric")
        chain = _part(rubric, "verified_tool_chain") or _part(row, "verified_tool_chain")
        if not isinstance(row, dict) or not isinstance(row.get("task"), str):
            problems.append(("broken_question", f"question {number}", f"question {number} has no text"))
            continue
        calls = [step for step in (chain if isinstance(chain, list) else []) if isinstance(step, dict)]
        steps = tuple(
            (str(step.get("tool") or step.get("name") or ""), dict(step.get("args") or step.get("arguments") or {}))
            for step in calls
            if isinstance(step.get("args") or step.get("arguments") or {}, dict)
        )
        found.append(Question(number, row["task"], row.get("reference_answer"), steps))
    return tuple(found)


def _category(taxonomy: Any) -> tuple[str, str, str]:
    if isinstance(taxonomy, dict):
        levels = [str(value) for _, value in sorted(taxonomy.items()) if isinstance(value, str)]
    elif isinstance(taxonomy, list):
        levels = [str(value) for value in taxonomy]
    else:
        levels = [taxonomy] if isinstance(taxonomy, str) else []
    padded = [*levels, "", "", ""]
    return padded[0], padded[1], padded[2]
