"""Themes: real topics, read from MCP specifications, tool documentation and product requirements documents."""

from __future__ import annotations

from tasks.themes.collect import Collection, collect
from tasks.themes.defaults import default_sources
from tasks.themes.duplicates import merge_duplicates
from tasks.themes.filters import keep_suitable
from tasks.themes.sources import SourceSpec

__all__ = ["Collection", "SourceSpec", "collect", "default_sources", "keep_suitable", "merge_duplicates"]
