"""CPU time of sandboxes, which resource.getrusage does not see."""

from __future__ import annotations

import os

from worlds import shop_database, shop_snapshot, shop_tools

from schemas.task import Call
from tasks.environment import EnvironmentImage
from tasks.sandbox import SandboxWorker
from tasks.sandbox.usage import tree_cpu_s

IMAGE = EnvironmentImage.of(shop_database(), shop_tools(), shop_snapshot())


def test_a_workers_time_grows_with_its_work_and_outlives_it():
    with SandboxWorker() as worker:
        worker.load(IMAGE)
        begun = worker.cpu_s
        worker.run_episodes([([Call(tool="list_orders")] * 40, seed) for seed in range(60)], isolation="environment")
        worked = worker.cpu_s
        assert 0 < begun < worked
    assert worker.cpu_s >= worked


def test_a_process_has_a_time_and_one_that_is_gone_has_none():
    sum(range(3_000_000))
    assert tree_cpu_s(os.getpid()) > 0 and tree_cpu_s(2**22 + 1) == 0.0
