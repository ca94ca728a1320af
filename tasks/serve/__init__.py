"""Serve environments to any client of the Model Context Protocol: a private episode a session, scored out of its sight.

Importing it imports the protocol's SDK.
"""

from __future__ import annotations

from tasks.serve.http import PATH
from tasks.serve.limits import ServeLimits
from tasks.serve.listen import LOOPBACK, bind, serve_http
from tasks.serve.offer import PROMPT
from tasks.serve.served import Served
from tasks.serve.server import SCORE_METHOD, SessionServer
from tasks.serve.session import Session
from tasks.serve.stdio import serve_stdio

__all__ = [
    "LOOPBACK",
    "PATH",
    "PROMPT",
    "SCORE_METHOD",
    "ServeLimits",
    "Served",
    "Session",
    "SessionServer",
    "bind",
    "serve_http",
    "serve_stdio",
]
