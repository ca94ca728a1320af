"""Read files of complicated kinds in a process of its own, so that a file made to exhaust its reader harms only that.

Parsers of PDF, workbooks, Parquet, SQLite and archives are large, partly not memory safe, and have no bound on time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict

from pydantic import TypeAdapter

from tasks.files.errors import FileError
from tasks.files.kinds import kind_of
from tasks.files.read import FileContent, read_file
from tasks.files.table import FileLimits

SIMPLE = frozenset(("csv", "tsv", "json", "ndjson", "html", "text", "xml"))
"""Kinds that are read in time and memory that grow with their size, and so need no process."""

CONTENT = TypeAdapter(FileContent)


def read_file_apart(
    data: bytes,
    name: str,
    *,
    media_type: str = "",
    charset: str = "",
    limits: FileLimits | None = None,
    seconds: float = 60.0,
    memory: int = 3 * 2**30,
) -> FileContent:
    """Read a file as `read_file` does, in at most `seconds` and `memory` bytes, without this process's environment.

    Raises:
        FileError: as `read_file`, and if the reader takes more time or memory than that.
    """
    limits = limits or FileLimits()
    if len(data) > limits.bytes or kind_of(data, name, media_type) in SIMPLE:
        return read_file(data, name, media_type=media_type, charset=charset, limits=limits)
    request = {"name": name, "media_type": media_type, "charset": charset, "limits": asdict(limits),
               "seconds": seconds, "memory": memory}  # fmt: skip
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "tasks.files.child"],
            input=json.dumps(request).encode() + b"\n" + data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"},
            cwd="/",
            timeout=seconds + 10,
        )
    except subprocess.TimeoutExpired:
        raise FileError(name, f"takes longer than {seconds:g} seconds to read") from None
    if done.returncode or not done.stdout:
        raise FileError(name, f"breaks its reader, or needs more than {seconds:g} s or {memory >> 20} MiB")
    kind, _, answer = done.stdout.partition(b"\n")
    if kind == b"refused":
        raise FileError(*json.loads(answer))
    return CONTENT.validate_json(answer)
