"""The process that reads one file: a request and the bytes come in by standard input, the content goes out as JSON."""

from __future__ import annotations

import json
import resource
import sys

from tasks.files.apart import CONTENT
from tasks.files.errors import FileError
from tasks.files.read import read_file
from tasks.files.table import FileLimits


def main() -> None:
    """Read the request, take the limits, read the file, and answer with its content or with why it is refused."""
    request = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    seconds = int(request["seconds"]) or 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limits = FileLimits(**request["limits"])
    try:
        content = read_file(
            data, request["name"], media_type=request["media_type"], charset=request["charset"], limits=limits
        )
    except FileError as error:
        answer = b"refused\n" + json.dumps([error.name, error.reason]).encode()
    else:
        answer = b"read\n" + CONTENT.dump_json(content)
    sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    main()
