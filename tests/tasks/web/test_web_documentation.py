"""Real documentation of Debian packages, served on loopback and opened in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_sites import serve_folder, virtual_clock

from tasks.store import open_store
from tasks.web import Web, find_chromium, folder_index

_DOC = Path("/usr/share/doc")
_BROWSERS = [
    "",
    pytest.param(None, marks=pytest.mark.skipif(not find_chromium(), reason="no Chromium (apt install chromium)")),
]


def documentation(package: str, folder: str) -> Path:
    """Return a package's folder of pages, or skip."""
    path = _DOC / folder
    if not path.is_dir():
        pytest.skip(f"the Debian package {package} is not installed: apt install {package}")
    return path


def opened(tmp_path, folder, page, browser):
    with serve_folder(folder) as url:
        web = Web(open_store(str(tmp_path)), allow=[url.split("//")[1]], browser=browser, clock=virtual_clock()[0])
        found = web.open_page(f"{url}/{page}")
        assert found.record.via == ("http" if browser == "" else "browser"), found.notes
        return found


@pytest.mark.parametrize("browser", _BROWSERS)
def test_sqlite_s_pages(tmp_path, browser):
    found = opened(tmp_path, documentation("sqlite3-doc", "sqlite3"), "datatype3.html", browser)
    assert found.title == "Datatypes In SQLite"
    affinities = next(table for table in found.tables if any("Affinity" in column.name for column in table.columns))
    assert any("VARCHAR(255)" in str(row) for row in affinities.rows)
    assert len(found.links) > 20


@pytest.mark.parametrize("browser", _BROWSERS)
def test_postgresql_s_pages(tmp_path, browser):
    folder = documentation("postgresql-doc-15", "postgresql-doc-15/html")
    found = opened(tmp_path, folder, "datatype-numeric.html", browser)
    table = next(table for table in found.tables if "Numeric Types" in table.name or "Name" in str(table.columns))
    names = [row[0] for row in table.rows]
    assert names[:4] == ["smallint", "integer", "bigint", "decimal"]
    assert found.next_url.endswith("datatype-money.html")


@pytest.mark.parametrize("browser", _BROWSERS)
def test_the_debian_handbook(tmp_path, browser):
    folder = documentation("debian-handbook", "debian-handbook/html/en-US")
    found = opened(tmp_path, folder, "index.html", browser)
    assert "Debian" in found.title and found.next_url


def test_a_local_index_finds_pages_of_a_folder(tmp_path):
    folder = documentation("sqlite3-doc", "sqlite3")
    few = tmp_path / "few"
    few.mkdir()
    for name in ("datatype3.html", "wal.html", "fts5.html", "json1.html"):
        (few / name).write_bytes((folder / name).read_bytes())
    web = Web(open_store(str(tmp_path / "store")), engine=folder_index(few), folder=few, browser="")
    hits = web.search("write-ahead log checkpoint", 2)
    assert hits[0].url.endswith("/wal.html") and "Write-Ahead" in hits[0].title and hits[0].snippet
    assert "checkpoint" in web.open_page(hits[0].url).text
