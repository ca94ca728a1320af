"""Oracle calls in the order of their mention."""

from __future__ import annotations

from itertools import pairwise

from worlds import shop_database, shop_tools

from schemas.episode import Step
from tasks.training.order import in_order_of_mention

TOOLS = {tool.name: tool for tool in shop_tools()}


def step(tool: str, observation: dict, **arguments: object) -> Step:
    """Return a step."""
    return Step(tool=tool, arguments=arguments, observation=observation)


ADA = step("find_customers", {"customers": [{"customer_id": "cus-1"}]}, name="Ada")
BELA = step("find_customers", {"customers": [{"customer_id": "cus-2"}]}, name="Bela")
ORDERS = step("list_orders", {"orders": [{"order_id": "ord-9"}]}, customer_id="cus-2")
CANCEL = step("cancel_order", {"order_id": "ord-9"}, order_id="ord-9")


def test_independent_lookups_follow_the_prompt() -> None:
    prompt = 'Cancel the order of "Bela". What is the city of "Ada"?'
    assert in_order_of_mention(prompt, [ADA, BELA, ORDERS, CANCEL], TOOLS) == (BELA, ORDERS, CANCEL, ADA)


def test_what_an_argument_comes_from_stays_before() -> None:
    prompt = 'Look up "Ada", then cancel the order of "Bela".'
    assert in_order_of_mention(prompt, [BELA, ORDERS, CANCEL, ADA], TOOLS) == (ADA, BELA, ORDERS, CANCEL)


def test_reads_do_not_cross_writes_to_their_tables() -> None:
    late = step("list_orders", {"orders": []}, customer_id="cus-7")
    prompt = "List the orders of cus-7 after cancelling ord-9."
    assert in_order_of_mention(prompt, [CANCEL, late], TOOLS) == (CANCEL, late)


def test_practice_keeps_its_steps(shop) -> None:
    _, _, _, pairs = shop
    for task, trajectory in pairs:
        ordered = in_order_of_mention(task.prompt, trajectory.steps, TOOLS)
        assert sorted(map(repr, ordered)) == sorted(map(repr, trajectory.steps))
        writes = [s for s in ordered if TOOLS[s.tool].writes]
        assert writes == [s for s in trajectory.steps if TOOLS[s.tool].writes]
        assert all(a is not b for a, b in pairwise(ordered))
    assert shop_database().env_id == pairs[0][0].env_id
