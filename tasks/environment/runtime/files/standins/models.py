"""A stand-in for pydantic's models: what foreign data models of benchmarks use of it, in plain Python.

It is no pydantic: constraints are few, there are no schemas, and what it does not know is not there, so that a foreign
module that needs more fails on import and says what it misses.
"""

from __future__ import annotations

import copy
import datetime
import enum
import json
import sys
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from tasks.environment.runtime.files.standins.convert import Check, ValidationError, convert, limited

__all__ = [
    "AfterValidator", "BaseModel", "BeforeValidator", "ConfigDict", "EmailStr", "Field", "PositiveInt", "PrivateAttr",
    "StrictBool", "StrictInt", "StrictStr", "ValidationError", "computed_field", "field_serializer", "field_validator",
    "model_validator", "validator",
]  # fmt: skip

ConfigDict = dict
EmailStr = StrictStr = str
StrictInt, StrictBool = int, bool
_ABSENT: Any = object()


class FieldInfo:
    """What `Field(...)` says of a field."""

    def __init__(self, default: Any, factory: Callable[[], Any] | None, alias: str | None, limits: dict[str, Any]):
        self.default, self.default_factory, self.alias, self.limits = default, factory, alias, limits
        self.description = limits.get("description")

    def is_required(self) -> bool:
        """Say whether a value must be given."""
        return self.default is _ABSENT and self.default_factory is None

    def make(self) -> Any:
        """Return a fresh default."""
        return self.default_factory() if self.default_factory else copy.deepcopy(self.default)


def Field(default: Any = _ABSENT, *, default_factory: Any = None, alias: str | None = None, **limits: Any) -> Any:
    """Describe a field."""
    return FieldInfo(_ABSENT if default is ... else default, default_factory, alias, limits)


PositiveInt = typing.Annotated[int, FieldInfo(_ABSENT, None, None, {"gt": 0})]


def PrivateAttr(default: Any = None, *, default_factory: Any = None) -> Any:
    """Return the default of a private attribute."""
    return default_factory() if default_factory else default


def BeforeValidator(function: Callable[[Any], Any]) -> Check:
    """Mark a function that sees the value as given."""
    return Check(function, before=True)


def AfterValidator(function: Callable[[Any], Any]) -> Check:
    """Mark a function that sees the converted value."""
    return Check(function, before=False)


def _marked(attribute: str, value: Any) -> Callable[[Any], Any]:
    def mark(function: Any) -> Any:
        setattr(getattr(function, "__func__", function), attribute, value)
        return function

    return mark


def field_validator(*fields: str, mode: str = "after", **_: Any) -> Callable[[Any], Any]:
    """Mark a class method that checks fields."""
    return _marked("__checks__", (fields, mode))


validator = field_validator


def model_validator(*, mode: str) -> Callable[[Any], Any]:
    """Mark a method that checks the whole model."""
    return _marked("__checks_model__", mode)


def field_serializer(*fields: str, **_: Any) -> Callable[[Any], Any]:
    """Mark a method that says how fields are dumped."""
    return _marked("__dumps__", fields)


def computed_field(function: Any = None, **_: Any) -> Any:
    """Mark a property that is dumped as well."""
    if function is None:
        return computed_field
    found = function if isinstance(function, property) else property(function)
    _marked("__computed__", True)(found.fget)
    return found


class _Meta(type):
    def __new__(mcs, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        cls = super().__new__(mcs, name, bases, space)
        own = space.get("model_config") or {}
        config = space.get("Config")
        if config is not None:
            own = {k: v for k, v in vars(config).items() if not k.startswith("_")}
        cls.model_config = {**getattr(super(cls, cls), "model_config", {}), **own}
        cls._fields_cache = None
        return cls

    @property
    def model_fields(cls) -> dict[str, FieldInfo]:
        """The fields by name."""
        return {name: info for name, (_, info) in cls._fields().items()}

    def _fields(cls) -> dict[str, tuple[Any, FieldInfo]]:
        if cls._fields_cache is None:
            cls._fields_cache = dict(_collect(cls))
        return cls._fields_cache


def _collect(cls: Any) -> Iterator[tuple[str, tuple[Any, FieldInfo]]]:
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        written = vars(base).get("__annotations__", {})
        fields = {n: k for n, k in written.items() if not n.startswith("_") and "ClassVar" not in str(k)}
        own = types.SimpleNamespace(__annotations__=fields)
        space = {**vars(typing), **vars(sys.modules.get(base.__module__, typing))}
        hints |= typing.get_type_hints(own, globalns=space, localns=space, include_extras=True)
    for name, kind in hints.items():
        if name == "model_config":
            continue
        info = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), _ABSENT)
        if not isinstance(info, FieldInfo):
            inner = [m for m in getattr(kind, "__metadata__", ()) if isinstance(m, FieldInfo)]
            marked = inner[0] if inner else FieldInfo(_ABSENT, None, None, {})
            default = info if info is not _ABSENT else marked.default
            info = FieldInfo(default, marked.default_factory, marked.alias, marked.limits)
        yield name, (kind, info)


class BaseModel(metaclass=_Meta):
    """A record of typed fields."""

    __model__ = True
    model_config: ClassVar[dict[str, Any]] = {}

    def __init__(self, /, **data: Any) -> None:
        cls = type(self)
        given = _checked_before(cls, data)
        values: dict[str, Any] = {}
        fields = cls._fields()
        for name, (kind, info) in fields.items():
            source = info.alias if info.alias in given else name
            if source in given:
                value = _field(cls, name, kind, info, given[source])
            elif info.is_required():
                raise ValidationError(f"{cls.__name__}.{name}: a value is required")
            else:
                value = info.make()
            values[name] = value
        known = {*fields, *(info.alias for _, info in fields.values())}
        more = {name: value for name, value in given.items() if name not in known}
        extra = cls.model_config.get("extra", "ignore")
        if more and extra == "forbid":
            raise ValidationError(f"{cls.__name__}: unknown fields {sorted(more)}")
        object.__setattr__(self, "__dict__", {**values, **(more if extra == "allow" else {})})
        given_names = {n for n, (_, i) in fields.items() if n in given or i.alias in given}
        object.__setattr__(self, "__fields_set", given_names | (set(more) if extra == "allow" else set()))
        for check in _methods(cls, "__checks_model__"):
            if getattr(check, "__checks_model__") == "after":  # noqa: B009 - the name would be mangled
                check(self)
        if hasattr(self, "model_post_init"):
            self.model_post_init(None)

    @property
    def model_fields_set(self) -> set[str]:
        """The fields that were given or assigned."""
        return self.__dict__["__fields_set"]

    def __setattr__(self, name: str, value: Any) -> None:
        fields = type(self)._fields()
        config = type(self).model_config
        if name in fields and config.get("validate_assignment"):
            value = _field(type(self), name, *fields[name], value)
        if config.get("frozen") and name in fields:
            raise ValidationError(f"{type(self).__name__} is frozen")
        own = getattr(type(self), name, None)
        if isinstance(own, property) and own.fset:
            own.fset(self, value)
            return
        if name not in fields and not name.startswith("_") and config.get("extra") != "allow":
            raise ValueError(f"{type(self).__name__!r} object has no field {name!r}")
        self.__dict__[name] = value
        if not name.startswith("_"):
            self.model_fields_set.add(name)

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and _shown(self) == _shown(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in _shown(self).items())})"

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(_shown(self).items())

    @classmethod
    def model_validate(cls, value: Any, **_: Any) -> Any:
        """Return a model from an object's fields."""
        if isinstance(value, cls):
            return value
        if isinstance(value, BaseModel):
            value = _shown(value)
        if not isinstance(value, dict):
            raise ValidationError(f"{cls.__name__}: an object expected, got {type(value).__name__}")
        return cls(**{str(k): v for k, v in value.items()})

    parse_obj = model_validate

    @classmethod
    def model_validate_json(cls, text: str, **_: Any) -> Any:
        """Return a model from a JSON text."""
        return cls.model_validate(json.loads(text))

    @classmethod
    def model_construct(cls, **values: Any) -> Any:
        """Return a model without checking its values."""
        made = cls.__new__(cls)
        defaults = {n: i.make() for n, (_, i) in cls._fields().items() if n not in values and not i.is_required()}
        object.__setattr__(made, "__dict__", {**defaults, **values, "__fields_set": set(values)})
        return made

    def model_dump(
        self, *, mode: str = "python", include: Any = None, exclude: Any = None, exclude_none: bool = False,
        exclude_unset: bool = False, exclude_defaults: bool = False, by_alias: bool = False, **_: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Return the fields as a dict, models inside too."""
        options = {"mode": mode, "exclude_none": exclude_none, "exclude_unset": exclude_unset,
                   "exclude_defaults": exclude_defaults, "by_alias": by_alias}  # fmt: skip
        fields = type(self)._fields()
        found = {}
        for name, value in _shown(self).items():
            info = fields[name][1] if name in fields else None
            if (include is not None and name not in include) or (exclude is not None and name in exclude):
                continue
            if (exclude_none and value is None) or (exclude_unset and name not in self.model_fields_set):
                continue
            if exclude_defaults and info is not None and not info.is_required() and info.make() == value:
                continue
            found[info.alias if by_alias and info and info.alias else name] = _dumped(value, options)
        for name in dir(type(self)):
            own = getattr(type(self), name, None)
            if isinstance(own, property) and getattr(own.fget, "__computed__", False):
                found[name] = _dumped(getattr(self, name), options)
        for method in _methods(type(self), "__dumps__"):
            for name in method.__dumps__:
                if name in found:
                    found[name] = method(self, getattr(self, name))
        return found

    dict = model_dump

    def model_dump_json(self, *, indent: int | None = None, **options: Any) -> str:
        """Return the fields as a JSON text."""
        separators = None if indent else (",", ":")
        dumped = self.model_dump(mode="json", **options)
        return json.dumps(dumped, indent=indent, separators=separators, ensure_ascii=False)

    json = model_dump_json

    def model_copy(self, *, update: typing.Mapping[str, Any] | None = None, deep: bool = False) -> Any:
        """Return a copy with some fields replaced, unchecked."""
        made = copy.deepcopy(self) if deep else copy.copy(self)
        made.__dict__["__fields_set"] = set(self.model_fields_set) | set(update or {})
        made.__dict__.update(update or {})
        return made

    copy = model_copy

    def __copy__(self) -> Any:
        made = type(self).__new__(type(self))
        object.__setattr__(made, "__dict__", {**self.__dict__, "__fields_set": set(self.model_fields_set)})
        return made


def _shown(model: Any) -> dict[str, Any]:
    return {name: value for name, value in model.__dict__.items() if not name.startswith("_")}


def _methods(cls: type, mark: str) -> list[Any]:
    """Return the functions of a class that carry a mark, those of its bases first."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            function = getattr(value, "__func__", value)
            if callable(function) and hasattr(function, mark):
                found[name] = function
    return list(found.values())


def _checked_before(cls: Any, data: dict[str, Any]) -> dict[str, Any]:
    for check in _methods(cls, "__checks_model__"):
        if getattr(check, "__checks_model__") == "before":  # noqa: B009
            data = check(cls, data)
    return data


def _field(cls: Any, name: str, kind: Any, info: FieldInfo, value: Any) -> Any:
    checks = [c for c in _methods(cls, "__checks__") if name in c.__checks__[0] or "*" in c.__checks__[0]]
    for check in checks:
        if check.__checks__[1] == "before":
            value = check(cls, value)
    value = convert(kind, value, f"{cls.__name__}.{name}")
    limited(info.limits, value, f"{cls.__name__}.{name}")
    for check in checks:
        if check.__checks__[1] == "after":
            value = check(cls, value)
    return value


def _dumped(value: Any, options: dict[str, Any]) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(**options)
    if isinstance(value, dict):
        return {_dumped(k, options): _dumped(v, options) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [_dumped(item, options) for item in value]
        return items if options["mode"] == "json" or isinstance(value, list) else type(value)(items)
    if options["mode"] != "json":
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
