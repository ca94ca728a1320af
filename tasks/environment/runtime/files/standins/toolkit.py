"""A stand-in for what tau2-bench's domains import of it: database, toolkit, tool marks, and a logger that is silent."""

from __future__ import annotations

import enum
import hashlib
import json
import pathlib
import tomllib
from collections.abc import Callable
from typing import Any

from tasks.environment.runtime.files.standins.models import BaseModel

DATA_DIR = pathlib.Path("/app/database")


class BaseModelNoExtra(BaseModel):
    """A model that refuses unknown fields."""

    model_config = {"extra": "forbid"}


def load_file(path: Any, **_: Any) -> Any:
    """Return the data of a JSON, TOML or YAML file, or a text."""
    file = pathlib.Path(path)
    text = file.read_text()
    if file.suffix == ".json":
        return json.loads(text)
    if file.suffix == ".toml":
        return tomllib.loads(text)
    if file.suffix in (".yaml", ".yml"):
        import yaml

        return yaml.safe_load(text)
    return text


def dump_file(path: Any, data: Any, **_: Any) -> None:
    """Write data as JSON."""
    pathlib.Path(path).write_text(json.dumps(data))


def get_dict_hash(value: Any) -> str:
    """Return the hash of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def get_pydantic_hash(model: Any) -> str:
    """Return the hash of a model's fields."""
    return get_dict_hash(model.model_dump(mode="json"))


def update_pydantic_model_with_dict(model: Any, changes: dict[str, Any]) -> Any:
    """Return a model with fields replaced, nested objects merged."""

    def merged(old: Any, new: Any) -> Any:
        if isinstance(old, dict) and isinstance(new, dict):
            return {**old, **{name: merged(old.get(name), item) for name, item in new.items()}}
        return new

    return type(model).model_validate(merged(model.model_dump(), changes))


class DB(BaseModelNoExtra):
    """A domain's database."""

    @classmethod
    def load(cls, path: Any) -> Any:
        """Return the database of a file."""
        return cls.model_validate(load_file(path))

    def dump(self, path: Any, **_: Any) -> None:
        """Write the database."""
        dump_file(path, self.model_dump(mode="json"))

    def get_hash(self) -> str:
        """Return the hash of the whole content."""
        return get_pydantic_hash(self)

    def get_statistics(self) -> dict[str, Any]:
        """Return nothing: domains say what counts."""
        return {}


def get_db_json_schema(db: Any = None) -> dict[str, Any]:
    """Return an empty schema."""
    return {}


class ToolType(enum.StrEnum):
    """What a tool does."""

    READ = "read"
    WRITE = "write"
    THINK = "think"
    GENERIC = "generic"


def is_tool(tool_type: ToolType = ToolType.READ, mutates_state: bool | None = None) -> Callable[[Any], Any]:
    """Mark a method as a tool."""

    def mark(function: Any) -> Any:
        function.__tool__, function.__tool_type__ = True, tool_type
        function.__mutates_state__ = tool_type == ToolType.WRITE if mutates_state is None else mutates_state
        return function

    return mark


is_discoverable_tool = is_tool


class ToolKitBase:
    """The base of toolkits."""

    def __init__(self, db: Any = None, *_: Any, **__: Any) -> None:
        self.db = db

    @property
    def tools(self) -> dict[str, Any]:
        """The tools by name."""
        return {n: getattr(self, n) for n in dir(type(self)) if hasattr(getattr(type(self), n, None), "__tool__")}

    def use_tool(self, tool_name: str, **arguments: Any) -> Any:
        """Call a tool."""
        return self.tools[tool_name](**arguments)

    def has_tool(self, tool_name: str) -> bool:
        """Say whether there is a tool of that name."""
        return tool_name in self.tools

    def get_db_hash(self) -> str:
        """Return the hash of the database."""
        return get_pydantic_hash(self.db)

    def update_db(self, update_data: dict[str, Any] | None = None) -> None:
        """Replace parts of the database."""
        self.db = update_pydantic_model_with_dict(self.db, update_data or {})


class GenericToolKit(ToolKitBase):
    """The base of toolkits with general tools."""


class _Silent:
    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args, **more: None


logger = _Silent()


class Runner:
    """Calls a toolkit's tools over a database file, and writes the file after those that may change it."""

    def __init__(self, toolkit: Any, database: Any, path: str) -> None:
        self._toolkit_class, self._database_class, self._path = toolkit, database, path
        self._text = ""
        self._toolkit: Any = None

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool; what it raises as a refusal becomes an error's object."""
        text = pathlib.Path(self._path).read_text()
        if self._toolkit is None or text != self._text:
            self._toolkit = self._toolkit_class(self._database_class.model_validate(json.loads(text)))
            self._text = text
        tool = getattr(self._toolkit, name)
        try:
            result = tool(**arguments)
        except (ValueError, KeyError, AssertionError) as error:
            self._toolkit = None
            return {"error": {"code": "REFUSED", "message": f"{error}"}}
        if tool.__tool_type__ not in (ToolType.READ, ToolType.THINK):
            self._text = json.dumps(self._toolkit.db.model_dump(mode="json", exclude_unset=True), ensure_ascii=False)
            pathlib.Path(self._path).write_text(self._text)
        return result
