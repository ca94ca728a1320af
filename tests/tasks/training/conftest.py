"""A small training folder: practice episodes of the shop, its image and its tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from tasks.environment import EnvironmentImage
from tasks.synthesis import practice
from tasks.training import prepare_sft
from tasks.training.images import save_images, save_tasks


@pytest.fixture(scope="session")
def shop():
    """Database, snapshot, tools and forty easy oracle episodes."""
    database, snapshot, tools = shop_database(), shop_snapshot(), shop_tools()
    pairs = practice(database, snapshot, tools, seed=3, n=40, easy=True)
    return database, snapshot, tools, pairs


@pytest.fixture
def folder(shop, tmp_path: Path) -> Path:
    """A folder that holds what SFT and GRPO need, but for a parent policy."""
    database, snapshot, tools, pairs = shop
    counts = prepare_sft(pairs, {database.env_id: tools}, tmp_path)
    assert counts.written == len(pairs) and counts.failed == 0
    save_images([EnvironmentImage.of(database, tools, snapshot)], tmp_path)
    save_tasks([task for task, _ in pairs][:6], tmp_path)
    return tmp_path
