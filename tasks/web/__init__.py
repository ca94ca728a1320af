"""The web for agents: search, pages and files, politely asked for, guarded, bounded and kept."""

from tasks.web.cache import load_page
from tasks.web.chromium import find_chromium
from tasks.web.engines import Ddgs, Hit, LocalIndex, SearchEngine, Searxng, folder_index
from tasks.web.errors import WebError, WebGate
from tasks.web.guard import Guard
from tasks.web.limits import Clock, Limits
from tasks.web.page import Link, Page
from tasks.web.web import Web

__all__ = [
    "Clock",
    "Ddgs",
    "Guard",
    "Hit",
    "Limits",
    "Link",
    "LocalIndex",
    "Page",
    "SearchEngine",
    "Searxng",
    "Web",
    "WebError",
    "WebGate",
    "find_chromium",
    "folder_index",
    "load_page",
]
