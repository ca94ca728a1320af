"""One Chromium a process, driven from a thread of its own, so that callers may be in any thread or event loop."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from tasks.web.errors import WebError

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps",
    "--disable-domain-reliability", "--disable-dev-shm-usage", "--no-pings", "--mute-audio",
    # WebRTC would send datagrams past the proxy.
    "--force-webrtc-ip-handling-policy", "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Chromium itself resolves nothing; the proxies of its pages do.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--js-flags=--max-old-space-size=512",
)  # fmt: skip
_NOWHERE = "http://127.0.0.1:1"
_START_SECONDS = 90.0

T = TypeVar("T")


def find_chromium() -> str:
    """Return the path of a Chromium or Chrome on this machine, or of one that Playwright has installed, or ''."""
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    root = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    found = sorted(root.glob("chromium-*/chrome-linux*/chrome"))
    return str(found[-1]) if found else ""


class Chromium:
    """A running browser. Pages get a context of their own each; what they share is the process only."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="chromium", daemon=True)
        self._thread.start()
        self._folder = tempfile.TemporaryDirectory(prefix="agentworld-browser-")
        self._playwright: Any = None
        self._browser: Any = None

    def call(self, work: Callable[[Any], Coroutine[Any, Any, T]], seconds: float) -> T:
        """Run a coroutine over the browser in its thread and return what it returns.

        Raises:
            WebError: gate `render`, if the browser cannot be started or does not finish in time.
        """
        future = asyncio.run_coroutine_threadsafe(self._call(work, seconds), self._loop)
        return future.result()

    async def _call(self, work: Callable[[Any], Coroutine[Any, Any, T]], seconds: float) -> T:
        from playwright.async_api import Error

        try:
            browser = await asyncio.wait_for(self._started(), _START_SECONDS)
        except (Error, OSError, TimeoutError) as error:
            reason = str(error).splitlines()[0][:200] if str(error) else "it does not start in time"
            raise WebError("render", self._path, f"cannot be started as a browser: {reason}") from error
        return await asyncio.wait_for(work(browser), seconds)

    async def _started(self) -> Any:
        if self._browser is not None and self._browser.is_connected():
            return self._browser
        from playwright.async_api import async_playwright

        if self._playwright is None:
            self._playwright = await async_playwright().start()
        home = self._folder.name
        self._browser = await self._playwright.chromium.launch(
            executable_path=self._path,
            args=list(_FLAGS),
            chromium_sandbox=os.geteuid() != 0,  # Chromium's own sandbox does not work for root
            env={"HOME": home, "TMPDIR": home, "PATH": os.defpath, "LANG": "C.UTF-8"},
            downloads_path=home,
            proxy={"server": _NOWHERE},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
        return self._browser

    def close(self) -> None:
        """End the browser and its thread."""
        with contextlib.suppress(Exception):  # at exit nothing can be done about a browser that is gone
            asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._folder.cleanup()

    async def _stop(self) -> None:
        if self._browser is not None:
            await self._browser.close()
        if self._playwright is not None:
            await self._playwright.stop()


_shared: dict[tuple[int, str], Chromium] = {}
_lock = threading.Lock()


def shared_chromium(path: str) -> Chromium:
    """Return this process's browser of that path; it is started with its first page and ended with the process."""
    key = (os.getpid(), path)
    with _lock:
        if key not in _shared:
            _shared[key] = Chromium(path)
            atexit.register(_shared[key].close)
        return _shared[key]
