"""Images travel to another process as files: what comes back is what was written, or an error."""

from __future__ import annotations

import pytest
from worlds import ENV_ID, shop_database, shop_snapshot, shop_tools

from schemas.snapshot import SnapshotRefused
from tasks.environment import EnvironmentImage
from tasks.training.images import load_images, save_images


def test_images_come_back_equal_and_a_changed_snapshot_is_refused(tmp_path):
    image = EnvironmentImage.of(shop_database(), shop_tools(), shop_snapshot())
    save_images([image], tmp_path)
    assert load_images(tmp_path) == {ENV_ID: image}
    place = tmp_path / "images" / f"{ENV_ID}.sqlite"
    place.write_bytes(place.read_bytes()[:-1] + b"x")
    with pytest.raises(SnapshotRefused, match="hashes to"):
        load_images(tmp_path)
