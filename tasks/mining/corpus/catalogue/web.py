"""HTTP status codes, media types, and devices and browsers for tests."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tasks.mining.corpus.formats import only, text_of
from tasks.mining.corpus.items import Dataset, Record
from tasks.mining.corpus.packages import STANDARD_LIBRARY
from tasks.mining.corpus.shapes import Values, grouped, remembered

_HTTP = ("http", "status", "web", "browser", "request", "response", "network", "protocol", "test", "page")

_DEVICES = ("browser", "device", "viewport", "screen", "mobile", "emulation", "automation", "test", "playwright")

_BUNDLE = "playwright/driver/package/lib/coreBundle.js"

_BROWSERS = "playwright/driver/package/browsers.json"

_SYSTEM = re.compile(r"(Android|iPhone OS|CPU OS|Windows NT|Mac OS X|Windows Phone|Tizen|BB10|KAIOS)")


@remembered
def _statuses(files: Mapping[str, bytes]) -> Iterator[Record]:
    for match in re.finditer(
        r"^    ([A-Z_]+) = (?:\()?(\d{3}), '([^']+)'(?:,\s*'([^']*)')?", text_of(only(files)), re.M
    ):
        code = int(match[2])
        yield (
            f"HTTPStatus.{match[1]}",
            {
                "code": code,
                "phrase": match[3],
                "about": match[4] or None,
                "class": f"{code // 100}xx",
                "error": code >= 400,
            },
        )


def _status_class(name: str, statuses: list[Values]) -> Values:
    codes = [status["code"] for status in statuses]
    return {"class": name, "count": len(codes), "error": name >= "4"}


@remembered
def _media(files: Mapping[str, bytes]) -> Iterator[Record]:
    source = text_of(only(files))
    for match in re.finditer(r"^\s+'(\.[\w.+-]+)'\s*:\s*'([\w.+-]+/[\w.+-]+)'", source, re.M):
        if source.rfind("common_types", 0, match.start()) < source.rfind("types_map", 0, match.start()):
            yield (
                f"mimetypes.types_map[{match[1]!r}]",
                {
                    "extension": match[1],
                    "media_type": match[2],
                    "family": match[2].split("/")[0],
                },
            )


def _family(name: str, types: list[Values]) -> Values:
    return {"family": name, "count": len(types)}


@remembered
def _devices(files: Mapping[str, bytes]) -> Iterator[Record]:
    source = text_of(files[_BUNDLE])
    start = source.find("deviceDescriptorsSource_default = {")
    if start < 0:
        raise ValueError("holds no device descriptors")
    body = source[source.index("{", start) :]
    text = re.sub(r"^(\s*)(\w+):", r'\1"\2":', body[: body.index("\n    };") + 6], flags=re.M)
    devices: dict[str, Any] = json.loads(text)
    for name, device in devices.items():
        agent = _SYSTEM.search(device["userAgent"])
        yield (
            f"deviceDescriptorsSource[{name!r}]",
            {
                "name": name,
                "browser": device["defaultBrowserType"],
                "width": device["viewport"]["width"],
                "height": device["viewport"]["height"],
                "scale": device["deviceScaleFactor"],
                "mobile": device["isMobile"],
                "touch": device["hasTouch"],
                "landscape": "landscape" in name,
                "system": agent[1] if agent else None,
            },
        )


def _engines(files: Mapping[str, bytes]) -> Iterator[Record]:
    counts = Counter(values["browser"] for _, values in _devices(files))
    for index, browser in enumerate(json.loads(files[_BROWSERS])["browsers"]):
        if "browserVersion" in browser:
            yield (
                f"$.browsers[{index}]",
                {
                    "browser": browser["name"],
                    "version": browser["browserVersion"],
                    "revision": browser["revision"],
                    "default": browser["installByDefault"],
                    "count": counts[browser["name"]],
                },
            )


DATASETS = (
    Dataset(
        name="http_statuses",
        package=STANDARD_LIBRARY,
        path="http/__init__.py",
        load=_statuses,
        title="HTTP status codes",
        description="Status codes of HTTP with phrase, explanation and class.",
        topics=_HTTP,
        noun="http status",
        nouns="http statuses",
        key="status_code",
        label="phrase",
        columns={
            "status_code": ("code", "three-digit code"),
            "phrase": ("phrase", "standard phrase"),
            "status_class": ("class", "class of the code, e.g. 4xx"),
            "is_error": ("error", "whether it says that something failed"),
            "about": ("about", "explanation"),
        },
        transform="read the enumeration HTTPStatus",
    ),
    Dataset(
        name="http_classes",
        package=STANDARD_LIBRARY,
        path="http/__init__.py",
        load=grouped(_statuses, lambda values: values["class"], _status_class),
        title="Classes of HTTP status codes",
        description="The five classes of HTTP status codes.",
        topics=_HTTP,
        noun="status class",
        nouns="status classes",
        key="status_class",
        columns={
            "status_class": ("class", "class of the codes"),
            "status_count": ("count", "codes of the class"),
            "is_error": ("error", "whether its codes say that something failed"),
        },
        transform="derive:group statuses by first digit",
    ),
    Dataset(
        name="media_types",
        package=STANDARD_LIBRARY,
        path="mimetypes.py",
        load=_media,
        title="Internet media types",
        description="File extensions with their internet media type (MIME).",
        topics=(*_HTTP, "mime", "file", "format", "document", "data"),
        noun="file extension",
        nouns="file extensions",
        key="extension",
        columns={
            "extension": ("extension", "file name extension"),
            "media_type": ("media_type", "internet media type"),
            "media_family": ("family", "part before the slash"),
        },
        transform="read the literal types_map",
    ),
    Dataset(
        name="media_families",
        package=STANDARD_LIBRARY,
        path="mimetypes.py",
        load=grouped(_media, lambda values: values["family"], _family),
        title="Families of media types",
        description="Application, audio, image, text and other families of media types.",
        topics=(*_HTTP, "mime", "file", "format"),
        noun="media family",
        nouns="media families",
        key="media_family",
        columns={
            "media_family": ("family", "name of the family"),
            "extension_count": ("count", "extensions of the family"),
        },
        transform="derive:group media types by family",
    ),
    Dataset(
        name="devices",
        package="playwright",
        path="playwright/driver/package/*",
        keep=(_BUNDLE, _BROWSERS).__contains__,
        load=_devices,
        title="Devices for browser tests",
        description="Phones, tablets and desktops that a test browser can imitate, with viewport and engine.",
        topics=_DEVICES,
        noun="device",
        nouns="devices",
        key="device_name",
        columns={
            "device_name": ("name", "name of the device"),
            "browser_name": ("browser", "browser engine that it uses"),
            "operating_system": ("system", "system in the user agent"),
            "viewport_width_pixels": ("width", "width of the page"),
            "viewport_height_pixels": ("height", "height of the page"),
            "scale_factor": ("scale", "physical pixels for a page pixel"),
            "is_mobile": ("mobile", "whether it is a mobile device"),
            "has_touch": ("touch", "whether it has a touch screen"),
            "is_landscape": ("landscape", "whether it is turned sideways"),
        },
        transform="read the device descriptors; derive:operating_system,is_landscape",
    ),
    Dataset(
        name="browsers",
        package="playwright",
        path="playwright/driver/package/*",
        keep=(_BUNDLE, _BROWSERS).__contains__,
        load=_engines,
        title="Browsers for tests with versions",
        description="Browsers that tests run in, with version, revision and the number of devices that use them.",
        topics=(*_DEVICES, "version"),
        noun="browser",
        nouns="browsers",
        key="browser_name",
        columns={
            "browser_name": ("browser", "name of the browser"),
            "browser_version": ("version", "version that tests run in"),
            "revision": ("revision", "revision of the build"),
            "is_default": ("default", "whether it is installed by default"),
            "device_count": ("count", "devices in the source that use it"),
        },
        transform="extract json; derive:device_count",
    ),
)
