"""Modules that a snapshot carries for its foreign tools, served from memory by Python's own import."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Mapping, Sequence
from types import CodeType, ModuleType

_MODELS = "tasks.environment.runtime.files.standins.models"
_TOOLKIT = "tasks.environment.runtime.files.standins.toolkit"
STAND_INS = {"pydantic": _MODELS, "loguru": _TOOLKIT} | {
    f"tau2.{name}": _TOOLKIT
    for name in ("environment.db", "environment.toolkit", "utils", "utils.pydantic_utils", "utils.utils")
}
"""Modules that foreign code imports -> the factory's own small ones, which the sandbox can see."""


class Carried(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of a snapshot by name. Their sources are compiled once, before any process is forked.

    Args:
        sources: module name -> source; a name that others begin with is a package.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._code: dict[str, CodeType | Exception] = {}
        for name, source in sources.items():
            try:
                self._code[name] = compile(source, f"/app/{name.replace('.', '/')}.py", "exec", dont_inherit=True)
            except (SyntaxError, ValueError) as error:
                self._code[name] = error
        known = {*self._code, *STAND_INS} if self._code else set(STAND_INS)
        self._packages = {name.rpartition(".")[0] for name in known}
        self._packages |= {name.rpartition(".")[0] for name in self._packages}
        self._names = known | self._packages

    def install(self) -> None:
        """Serve these modules to every import that finds nothing else."""
        sys.meta_path.append(self)

    def remove(self) -> None:
        """Serve them no longer; what has been imported stays."""
        sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a carried module, None for others."""
        if fullname not in self._names or not fullname:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=fullname in self._packages)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Return a stand-in where there is one, else leave it to Python."""
        if spec.name in STAND_INS and spec.name not in self._code:
            from importlib import import_module

            found = import_module(STAND_INS[spec.name])
            module = ModuleType(spec.name)
            module.__dict__.update({k: v for k, v in vars(found).items() if not k.startswith("__")})
            return module
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run a carried module's code."""
        code = self._code.get(module.__name__)
        if isinstance(code, Exception):
            raise ImportError(f"{module.__name__}: {code}") from code
        if code is not None:
            module.__dict__["__file__"] = f"/app/{module.__name__.replace('.', '/')}.py"
            exec(code, module.__dict__)
