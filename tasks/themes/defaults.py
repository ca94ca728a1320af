"""The embedded default set of source documents: installed packages' own documents, and ours under documents/."""

from __future__ import annotations

from pathlib import Path

from tasks.themes.sources import OWN_PACKAGE, SourceSpec

_SERVICES = {
    "acm": ("root certificates of TLS certificate authorities with validity", "organizations and their countries"),
    "bedrock": ("language models with provider, context window and prices", "providers of language models"),
    "cloudsearch": ("documentation topics and help keywords to search",),
    "codeartifact": ("Python packages with version, summary and licence", "dependencies between packages"),
    "glacier": ("storage services of the cloud with their operations and errors",),
    "location": ("world cities with coordinates, population and time zone", "countries with capital and area"),
    "service-quotas": ("cloud services with their endpoints", "cloud regions and partitions"),
    "translate": ("languages with ISO 639 codes", "scripts with ISO 15924 codes"),
}
"""Services whose topic has open data, and that data in natural words: a service model does not name it."""

_VERSIONS = {"cloudsearch": ("2011-*", "2013-*")}
"""Services of which several API versions are read: near-duplicates, which are merged with a reason."""

_SERVERS = (
    SourceSpec(
        package="playwright",
        command=("{package}/driver/node", "{package}/driver/package/cli.js", "mcp", "--headless"),
        licence="Apache-2.0",
        needs=("browsers with versions", "devices with viewport, screen and user agent", "HTTP status codes"),
    ),
    SourceSpec(
        package="mcp_server_time",
        distribution="mcp-server-time",
        command=("{python}", "-m", "mcp_server_time", "--local-timezone", "UTC"),
        licence="MIT",
        needs=("time zones with their countries and coordinates",),
    ),
)


def default_sources() -> list[SourceSpec]:
    """Return the default specs, sorted by key; our own documents are found in the documents/ folder."""
    services = [
        SourceSpec(
            package="botocore", member=f"data/{name}/{version}/service-2.json*", licence="Apache-2.0", needs=needs
        )
        for name, needs in _SERVICES.items()
        for version in _VERSIONS.get(name, ("*",))
    ]
    folder = Path(__file__).parent / "documents"
    own = [
        SourceSpec(package=OWN_PACKAGE, member=path.relative_to(folder.parent).as_posix(), licence="Apache-2.0")
        for path in folder.rglob("*")
        if path.is_file()
    ]
    return sorted([*services, *_SERVERS, *own], key=lambda spec: spec.key)
