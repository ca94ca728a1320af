"""Let a browser show a page that was fetched: its scripts run, what it then shows and hides is read.

The document itself was fetched by us (robots.txt, rate limit, guard, cache) and is handed to the browser; what it loads
besides goes through the page's own guarded proxy. Whatever would lead to another document is not followed but reported.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from tasks.web.chromium import shared_chromium
from tasks.web.errors import WebError
from tasks.web.guard import Guard
from tasks.web.limits import Limits
from tasks.web.proxy import GuardProxy
from tasks.web.request import user_agent

_UNSEEN = ("image", "media", "font", "texttrack", "manifest")
_NOTES = 20


@dataclass(frozen=True)
class Rendered:
    """A page as a browser shows it: its visible text, and its document with a mark on what is hidden.

    `moves` are the addresses that the page tried to go to by itself; `notes` say what it was refused.
    """

    text: str
    html: str
    moves: tuple[str, ...]
    notes: tuple[str, ...]


def render(path: str, guard: Guard, limits: Limits, url: str, document: str) -> Rendered:
    """Show a document in the browser at `path` as the page at `url`.

    Raises:
        WebError: gate `render`, if the browser fails or the page holds it up for longer than it may.
    """
    from playwright.async_api import Error

    proxy = GuardProxy(guard, limits)
    page = _Page(limits, url, document)
    try:
        return shared_chromium(path).call(lambda browser: page.show(browser, proxy), limits.render_seconds + 15)
    except TimeoutError:
        raise WebError(
            "render", url, f"keeps the browser busy for more than {limits.render_seconds:g} seconds"
        ) from None
    except Error as error:
        raise WebError("render", url, f"cannot be shown: {str(error).splitlines()[0][:200]}") from error


def _frame(request: Any) -> Any:
    """Return the frame that a document is asked for, None while a new window has none yet."""
    from playwright.async_api import Error

    try:
        return request.frame
    except Error:
        return None


@cache
def _marker() -> str:
    return (files("tasks.web") / "marker.js").read_text()


class _Page:
    def __init__(self, limits: Limits, url: str, document: str) -> None:
        self._limits, self._url, self._document = limits, url, document
        self._served = False
        self._moves: list[str] = []
        self._notes: list[str] = []
        self._loading: set[Any] = set()

    async def show(self, browser: Any, proxy: GuardProxy) -> Rendered:
        context = None
        try:
            context = await browser.new_context(
                proxy={"server": await proxy.start()},
                user_agent=user_agent(),
                service_workers="block",
                accept_downloads=False,
                locale="en-GB",
                viewport={"width": 1280, "height": 1600},
            )
            await context.route("**/*", self._on_request)
            page = await context.new_page()
            context.on("page", self._on_popup)
            async with asyncio.timeout(self._limits.render_seconds):
                found = await self._read(context, page)
        finally:
            if context is not None:
                with contextlib.suppress(Exception):  # a page that hangs must not keep the next one waiting
                    await asyncio.wait_for(context.close(), 5)
            await proxy.close()
        notes = list(dict.fromkeys(self._notes + proxy.refused))
        return Rendered(found["text"], found["html"], tuple(dict.fromkeys(self._moves)), tuple(notes[:_NOTES]))

    async def _read(self, context: Any, page: Any) -> dict[str, str]:
        patience = self._limits.render_seconds / 4
        loaded = asyncio.Event()
        page.on("domcontentloaded", lambda _: loaded.set())
        page.on("request", lambda request: request.is_navigation_request() or self._loading.add(request))
        for event in ("requestfinished", "requestfailed"):
            page.on(event, lambda request: self._loading.discard(request))
        await page.goto(self._url, wait_until="commit", timeout=self._limits.render_seconds * 1000)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(loaded.wait(), patience)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle(), patience)
        # In a world of its own the reader does not meet what the page's scripts have put in place of the DOM's methods.
        devtools = await context.new_cdp_session(page)
        tree = await devtools.send("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        world = await devtools.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "reader"})
        script = _marker().replace("LIMIT", str(self._limits.text_chars)).replace("PATIENCE", str(int(patience * 1000)))
        answer = await devtools.send(
            "Runtime.evaluate",
            {
                "expression": script,
                "contextId": world["executionContextId"],
                "returnByValue": True,
                "awaitPromise": True,
            },
        )
        if "exceptionDetails" in answer:
            raise WebError("render", self._url, "cannot be read in the browser")
        return json.loads(answer["result"]["value"])

    async def _idle(self) -> None:
        """Return when nothing has been loading for a moment."""
        quiet = 0
        while quiet < 2:
            await asyncio.sleep(0.1)
            quiet = 0 if self._loading else quiet + 1

    async def _on_request(self, route: Any) -> None:
        request = route.request
        if not request.is_navigation_request():
            if request.resource_type in _UNSEEN:
                await route.abort()
            else:
                await route.continue_()
            return
        frame = _frame(request)
        if frame is None:
            await route.abort()  # of another window, which is closed
        elif frame.parent_frame is not None:
            self._notes.append(f"a frame of {request.url[:200]} is not shown: open it as a page")
            await route.abort()
        elif not self._served:
            self._served = True
            headers = {"content-type": "text/html; charset=utf-8"}
            await route.fulfill(status=200, headers=headers, body=self._document.encode("utf-8", "replace"))
        else:
            if request.method == "GET":
                self._moves.append(request.url)
            else:
                self._notes.append(f"the page tried to send a form to {request.url[:200]}, which is not done")
            await route.fulfill(status=204)

    def _on_popup(self, page: Any) -> None:
        self._notes.append("the page tried to open another window")
        asyncio.ensure_future(page.close())
