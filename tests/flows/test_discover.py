"""Discovery from registries and commands, its counts, and the taxonomy that a store keeps."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import botocore
import pytest
from registry_server import registry_server

from flows.discover import TAXONOMY, discover_themes, discovery_counts, selected_themes
from flows.errors import Refused
from flows.inputs import check_sources
from schemas.settings import Settings
from schemas.theme import Theme
from tasks.store import open_store, read_dataset
from tasks.taxonomy import dump_taxonomy, fit_taxonomy
from tasks.themes import SourceSpec, collect

ABOUT = "Hires bikes to the people of a city and takes them back when they are done."
CRASHING = f'{sys.executable} -c "raise SystemExit(3)"'


def server(name: str, tools: int = 3) -> dict:
    listed = [{"name": f"{name}_{i}", "description": f"Does {name} {i}."} for i in range(tools)]
    return {"qualifiedName": f"@shop/{name}", "displayName": name, "description": ABOUT, "tools": listed}


def stored(store: Path) -> list[Theme]:
    return read_dataset(open_store(str(store)), "themes", "all")


def test_a_registry_a_command_and_a_folder_make_one_discovery_with_counts(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "mine.json").write_text(json.dumps([server("tram"), server("bell", 1)]))
    (specs / "cut.json").write_text("{")
    with registry_server({"/servers": [{"servers": [server("bike"), server("boat")]}]}) as registry:
        settings = Settings(
            embedded=False,
            specs=(str(specs),),
            registries=(f"{registry.address}/servers",),
            mcp_commands=(CRASHING, f"{sys.executable} -m mcp_server_time --local-timezone UTC"),
        )
        check_sources(settings)
        ids = discover_themes(str(tmp_path / "store"), settings)
    assert len(ids) == 4
    assert {theme.name for theme in stored(tmp_path / "store")} == {"bike", "boat", "tram", "mcp-time"}
    counts = discovery_counts(str(tmp_path / "store"))
    assert counts["refused"] == {"broken_json": 1, "few_operations": 1, "server_failed": 1}
    assert sum(counts["categories"].values()) == 4
    assert [theme.theme_id for theme in selected_themes(str(tmp_path / "store"), settings)] == ids  # all are the user's


def test_a_store_with_a_taxonomy_places_new_themes_by_it_until_it_is_fitted_anew(tmp_path: Path) -> None:
    data = Path(botocore.__file__).parent / "data"
    names = sorted(path.name for path in data.iterdir() if path.is_dir())[::5]
    known = collect([SourceSpec("botocore", f"data/{name}/*/service-2.json*") for name in names]).themes
    taxonomy = fit_taxonomy(known, clusters=20)
    store, spec = tmp_path / "store", tmp_path / "new.json"
    open_store(str(store)).put(TAXONOMY, dump_taxonomy(taxonomy))
    spec.write_text(json.dumps(server("bike")))
    settings = Settings(embedded=False, specs=(str(spec),))
    discover_themes(str(store), settings)
    found = stored(store)
    assert [(theme.category_l1, theme.category_l2) for theme in found] == [
        (reason.category_l1, reason.category_l2) for reason in taxonomy.explain(found)
    ]
    discover_themes(str(store), settings, refit=True)  # one theme is too few for a taxonomy of their own
    assert not open_store(str(store)).exists(TAXONOMY)
    assert stored(store)[0].category_l2 not in {cluster.name for cluster in taxonomy.clusters}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(embedded=False), "--mcp-command"),
        (Settings(registries=("registry.example",)), "no http or https address"),
        (Settings(mcp_urls=("file:///etc/passwd",)), "no http or https address"),
        (Settings(mcp_commands=("python 'open",)), "No closing quotation"),
        (Settings(mcp_commands=(" ",)), "is empty"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_work(settings: Settings, said: str) -> None:
    with pytest.raises(Refused, match=said):
        check_sources(settings)
