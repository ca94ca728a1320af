"""What the attacks are aimed at: secrets, files, listeners and a process, put up outside the sandbox and watched."""

from __future__ import annotations

import ctypes
import os
import secrets
import select
import shutil
import socket
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

_SLEEPER = "import sys, time\nsys.stdout.write('up')\nsys.stdout.flush()\ntime.sleep(600)"


class Traps:
    """Targets outside the sandbox. Use it by `with`; `breaches` says what has been hit since it was last asked."""

    def __init__(self) -> None:
        self.secrets = {name: f"{name}-{secrets.token_hex(8)}" for name in ("FILE", "ENVIRONMENT", "MEMORY", "ROW")}
        self.folder = Path(tempfile.mkdtemp(prefix="traps-"))
        (self.folder / "secret").write_text(self.secrets["FILE"])
        (self.folder / "watched").mkdir()
        (self.folder / "watched" / "canary").write_text("as it was")
        with sqlite3.connect(self.folder / "database") as connection:
            connection.execute("CREATE TABLE t (x TEXT)")
            connection.execute("INSERT INTO t VALUES (?)", (self.secrets["ROW"],))
        connection.close()
        self._memory = ctypes.create_string_buffer(self.secrets["MEMORY"].encode())
        self._listeners = {
            "port": socket.create_server(("127.0.0.1", 0)),
            "udp": socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "unix": socket.socket(socket.AF_UNIX),
            "abstract": socket.socket(socket.AF_UNIX),
        }
        self._listeners["udp"].bind(("127.0.0.1", 0))
        self._listeners["unix"].bind(str(self.folder / "socket"))
        self._abstract = "traps-" + secrets.token_hex(6)
        self._listeners["abstract"].bind("\0" + self._abstract)
        for name in ("unix", "abstract"):
            self._listeners[name].listen()
        self.canary = self._sleeper()
        self._before = self._listing()

    def _sleeper(self) -> subprocess.Popen[bytes]:
        environment = {"TRAP": self.secrets["ENVIRONMENT"]}
        process = subprocess.Popen([sys.executable, "-c", _SLEEPER], env=environment, stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.read(2) == b"up"
        return process

    def __enter__(self) -> Traps:
        return self

    def __exit__(self, *_: object) -> None:
        self.canary.kill()
        self.canary.wait()
        for listener in self._listeners.values():
            listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def aim(self) -> dict[str, Any]:
        """Where the targets are; none of the secrets is in it."""
        return {
            "secret_file": str(self.folder / "secret"),
            "database": str(self.folder / "database"),
            "folder": str(self.folder / "watched"),
            "repository": str(Path(__file__).resolve().parents[2]),
            "site_packages": sysconfig.get_paths()["purelib"],
            "home": str(Path.home()),
            "host": os.uname().nodename,
            "pid": os.getpid(),
            "canary": self.canary.pid,
            "address": ctypes.addressof(self._memory),
            "size": len(self._memory.value),
            "port": self._listeners["port"].getsockname()[1],
            "udp": self._listeners["udp"].getsockname()[1],
            "unix": str(self.folder / "socket"),
            "abstract": self._abstract,
        }

    def _listing(self) -> dict[str, Any]:
        found = {}
        for path in sorted((self.folder / "watched").rglob("*")):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[path.name] = (status.st_mode, status.st_uid, status.st_nlink, int(status.st_mtime), content)
        return found

    def breaches(self) -> list[str]:
        """Return what has been hit, and put it up again."""
        hit = []
        ready, _, _ = select.select(list(self._listeners.values()), [], [], 0)
        for name, listener in self._listeners.items():
            if listener in ready:
                hit.append(f"the listener {name!r} was reached")
                if name == "udp":
                    listener.recv(4096)
                else:
                    listener.accept()[0].close()
        if self.canary.poll() is not None:
            hit.append(f"the process outside ended with {self.canary.returncode}")
            self.canary = self._sleeper()
        after = self._listing()
        if after != self._before:
            hit.append(f"the folder outside changed: {sorted(after)}")
            shutil.rmtree(self.folder / "watched")
            (self.folder / "watched").mkdir()
            (self.folder / "watched" / "canary").write_text("as it was")
            self._before = self._listing()
        return hit
