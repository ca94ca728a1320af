"""JSON Schemas of a toolkit's methods, read off annotations and docstrings by the syntax tree; nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any

_PLAIN = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object", "Dict": "object",
    "list": "array", "List": "array", "date": "string", "datetime": "string", "Decimal": "number",
}  # fmt: skip
_SEQUENCES = ("List", "list", "Sequence", "Iterable", "Set", "set", "Tuple", "tuple")
_MAPPINGS = ("Dict", "dict", "Mapping", "DefaultDict")
_MOST_DEPTH = 4


def described(doc: str) -> tuple[str, dict[str, str]]:
    """Return (description, parameter -> description) of a docstring with an `Args:` section."""
    parts = re.split(r"\n\s*(Args|Arguments|Parameters|Returns|Raises|Yields|Examples?)\s*:\s*\n", "\n" + doc)
    sections = dict(zip(parts[1::2], parts[2::2], strict=False))
    about: dict[str, str] = {}
    for name in ("Args", "Arguments", "Parameters"):
        for found in re.finditer(r"^\s*(\w+)\s*(?:\([^)]*\))?\s*:\s*(.+)$", sections.get(name, ""), re.MULTILINE):
            about.setdefault(found[1], found[2].strip())
    return " ".join(parts[0].split()), about


class Annotations:
    """The classes and aliases of a domain's modules, to resolve annotations with.

    Attributes:
        bases: class -> names of its bases.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        self._classes: dict[str, ast.ClassDef] = {}
        self._aliases: dict[str, ast.expr] = {}
        for source in sources:
            try:
                body = ast.parse(source).body
            except SyntaxError:
                continue
            for node in body:
                if isinstance(node, ast.ClassDef):
                    self._classes[node.name] = node
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    self._aliases[node.targets[0].id] = node.value
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                    self._aliases[node.target.id] = node.value
        self.bases = {name: {_name(base) for base in node.bases} for name, node in self._classes.items()}

    def parameters(self, method: ast.FunctionDef, about: Mapping[str, str]) -> dict[str, Any]:
        """Return the schema of a method's arguments, `self` aside."""
        given = [*method.args.posonlyargs, *method.args.args][1:]
        defaults: list[ast.expr | None] = [None] * (len(given) - len(method.args.defaults))
        defaults += list(method.args.defaults)
        pairs = [*zip(given, defaults, strict=True)]
        pairs += zip(method.args.kwonlyargs, method.args.kw_defaults, strict=True)
        properties, required = {}, []
        for argument, default in pairs:
            schema = self.schema(argument.annotation)
            if argument.arg in about:
                schema["description"] = about[argument.arg]
            properties[argument.arg] = schema
            if default is None:
                required.append(argument.arg)
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def schema(self, node: ast.expr | None, depth: int = 0) -> dict[str, Any]:
        """Return the schema of an annotation; {} for what is not known."""
        if node is None or depth > _MOST_DEPTH:
            return {}
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return self.schema(ast.parse(node.value, mode="eval").body, depth)
            return {"type": "null"} if node.value is None else {}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union([node.left, node.right], depth)
        if isinstance(node, ast.Subscript):
            return self._generic(_name(node.value), node.slice, depth)
        name = _name(node)
        if name in _PLAIN:
            return {"type": _PLAIN[name]}
        if name in self._aliases:
            return self.schema(self._aliases[name], depth + 1)
        return self._class(name, depth) if name in self._classes else {}

    def _union(self, options: list[ast.expr], depth: int) -> dict[str, Any]:
        schemas = [self.schema(option, depth + 1) for option in options]
        told = [schema for schema in schemas if schema]
        objects = [schema for schema in told if "properties" in schema]
        if objects and all(schema.get("type") in ("object", None) for schema in told):
            return objects[0]  # `Passenger | dict`: what a caller gives is the object
        return told[0] if len(told) == 1 else ({"anyOf": told} if told else {})

    def _generic(self, name: str, inner: ast.expr, depth: int) -> dict[str, Any]:
        parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
        if name == "Optional":
            schema = self.schema(parts[0], depth)
            return {"anyOf": [schema, {"type": "null"}]} if schema else {}
        if name == "Union":
            return self._union(parts, depth)
        if name == "Annotated":
            return self.schema(parts[0], depth)
        if name == "Literal":
            values = [part.value for part in parts if isinstance(part, ast.Constant)]
            kinds = {type(value) for value in values}
            kind = {"type": "string"} if kinds == {str} else {"type": "integer"} if kinds == {int} else {}
            return {**kind, "enum": values}
        if name in _SEQUENCES:
            return {"type": "array", "items": self.schema(parts[0], depth + 1)}
        return {"type": "object"} if name in _MAPPINGS else {}

    def _class(self, name: str, depth: int) -> dict[str, Any]:
        node = self._classes[name]
        if any("Enum" in base for base in self.bases[name]):
            values = [
                item.value.value
                for item in node.body
                if isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant)
            ]
            return {"enum": values} if values else {}
        properties: dict[str, Any] = {}
        required: list[str] = []
        for base in sorted(self.bases[name] & set(self._classes)):
            above = self._class(base, depth + 1)
            properties.update(above.get("properties", {}))
            required += above.get("required", [])
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                properties[item.target.id] = self.schema(item.annotation, depth + 1)
                if not _has_default(item.value):
                    required.append(item.target.id)
        found: dict[str, Any] = {"type": "object"}
        if properties:
            found |= {"properties": properties, "required": list(dict.fromkeys(required))}
        return found


def _has_default(value: ast.expr | None) -> bool:
    if value is None:
        return False
    if isinstance(value, ast.Call) and _name(value.func) == "Field":
        named = {keyword.arg for keyword in value.keywords}
        first = value.args[0] if value.args else None
        given = first is not None and not (isinstance(first, ast.Constant) and first.value is Ellipsis)
        return given or bool(named & {"default", "default_factory"})
    return True


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
