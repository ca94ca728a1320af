"""Live MCP servers, by command and by URL: real ones, and commands that hang, crash or speak something else."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.themes import SourceSpec, collect
from tasks.themes.mcp_server import ask_url, list_tools
from tasks.themes.reading import UnreadableSource

SERVER = """
import os, sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("Bike hire", instructions="Hires bikes in " + sys.argv[1])

@server.tool()
def hire_bike(bike_id: str, days: int) -> str:
    "Hire a bike. A blocked bike must not be hired."
    return bike_id

@server.tool()
def return_bike(bike_id: str) -> str:
    "Return a bike."
    return bike_id

if len(sys.argv) > 2:
    server.run(transport="streamable-http", port=int(sys.argv[2]))
else:
    server.run()
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("server") / "bikes.py"
    path.write_text(SERVER)
    return path


@pytest.fixture(scope="module")
def url(script: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(script), "town", str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(400):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def test_a_command_of_the_users_is_a_theme_and_its_secrets_stay_out(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIKE_KEY", "planted-secret")
    found = collect([SourceSpec(command=(sys.executable, str(script), "$BIKE_KEY"))])
    assert [theme.name for theme in found.themes] == ["Bike hire"]
    theme = found.themes[0]
    assert [one.parameters for one in theme.operations] == [("bike_id", "days"), ("bike_id",)]
    assert "$BIKE_KEY" in found.sources[0].uri.replace("%24", "$") and found.sources[0].retrieved_at.endswith("Z")
    assert "planted-secret" not in found.sources[0].model_dump_json()
    assert "hire_bike: A blocked bike must not be hired." in theme.rules


def test_a_server_is_asked_by_its_url(url: str) -> None:
    found = collect([SourceSpec(url=url)])
    assert [(theme.name, len(theme.operations)) for theme in found.themes] == [("Bike hire", 2)]
    assert found.themes[0].source_uri == url and "town" in found.themes[0].description


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit(3)", "run the command by hand"),
        ("import os; os.abort()", "run the command by hand"),
        ("import sys\nfor _ in sys.stdin: print('<html>', flush=True)", "within 2 s"),
        ("import time; time.sleep(60)", "within 2 s"),
    ],
)
def test_commands_that_crash_hang_or_babble_are_refused(program: str, reason: str) -> None:
    with pytest.raises(UnreadableSource, match=reason) as caught:
        list_tools([sys.executable, "-c", program], timeout_s=2)
    assert caught.value.gate == "server_failed" and program not in caught.value.reason


def test_an_address_where_nobody_listens_is_refused() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    with pytest.raises(UnreadableSource, match="MCP server http"):
        ask_url(address, timeout_s=5)


def test_one_broken_command_leaves_the_others(script: Path) -> None:
    specs = [SourceSpec(command=("no-such-program-here",)), SourceSpec(command=(sys.executable, str(script), "x"))]
    found = collect(specs)
    assert len(found.themes) == 1
    assert [(one.gate, one.key) for one in found.rejections] == [("server_failed", "no-such-program-here")]
