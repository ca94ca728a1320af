"""What the headers of an answer say about its body."""

from __future__ import annotations

from email.message import Message
from email.utils import collapse_rfc2231_value
from urllib.parse import unquote, urlsplit

from tasks.files.names import safe_name


def content_type(headers: dict[str, str]) -> tuple[str, str]:
    """Return media type and charset, both in lower case, '' where the server does not say."""
    message = Message()
    message["content-type"] = headers.get("content-type", "") or "application/octet-stream"
    charset = message.get_param("charset", "")
    said = "content-type" in headers
    return (message.get_content_type() if said else ""), str(charset).strip("'\" ").lower()


def file_name(headers: dict[str, str], url: str) -> str:
    """Return a harmless file name from Content-Disposition, else from the address, else ''."""
    message = Message()
    message["content-disposition"] = headers.get("content-disposition", "")
    named = message.get_param("filename", "", "content-disposition")
    name = collapse_rfc2231_value(named) if named else unquote(urlsplit(url).path.rpartition("/")[2])
    return safe_name(name, "") if name else ""
