"""A shop, tasks with executed oracles and a policy that plays given moves, for the arena's tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from worlds import ENV_ID, shop_database, shop_snapshot, shop_tools

from schemas.environment import Environment
from schemas.task import AgentTask, AnswerField, Call, Oracle, Verifier
from tasks.environment import EnvironmentImage, resolve_references
from tasks.rollout import Answer, View
from tasks.sandbox import SandboxWorker

PENDING = {"status": "pending", "limit": 3}
CANCEL = (
    Call(tool="list_orders", arguments=PENDING),
    Call(tool="get_product", arguments={"product_id": {"$ref": "0.orders[0].product_id"}}),
    Call(tool="cancel_order", arguments={"order_id": {"$ref": "0.orders[0].order_id"}}),
)
SUM_SCRIPT = """
def solve(call):
    orders = call("list_orders", status="pending", limit=3)["orders"]
    if not orders:
        call("list_documents")
    return {"units": sum(order["quantity"] for order in orders), "last": orders[-1]["order_id"]}
"""


@lru_cache
def image() -> EnvironmentImage:
    return EnvironmentImage.of(shop_database(), shop_tools(), shop_snapshot())


def environment(**changes: object) -> Environment:
    record = Environment(
        env_id=ENV_ID, theme_id="theme-shop", name="Shop", category_l1="Communication & General Utilities",
        state="accepted", n_tables=4, n_rows=200, split="train",
    )  # fmt: skip
    return record.model_copy(update=changes)


@lru_cache
def cancel_task() -> AgentTask:
    """Cancel the first pending order; answer the product's name and the order's new status."""
    return _executed("cancel", CANCEL, {"product": {"$ref": "1.name"}, "status": {"$ref": "2.status"}}, ("transition",))


@lru_cache
def sum_task() -> AgentTask:
    """Add up the totals of pending orders."""
    calls = (Call(tool="sum_order_totals", arguments={"status": "pending"}),)
    return _executed("sum", calls, {"value": {"$ref": "0.value"}}, ("aggregate",))


@lru_cache
def program_task() -> AgentTask:
    """Add up the units of the first three pending orders by a script."""
    with SandboxWorker() as worker:
        worker.load(image())
        with worker.episode(seed=0) as episode:
            answer = episode.script(SUM_SCRIPT).answer
    fields = (AnswerField(name="units", type="integer"), AnswerField(name="last", type="string"))
    return AgentTask(
        task_id="task-program", env_id=ENV_ID, kind="program", prompt="How many units are in the first three?",
        tools=tuple(image().tools), oracle=Oracle(script=SUM_SCRIPT), oracle_calls=1, expected_answer=answer,
        verifier=Verifier(answer=fields, expected_answer=answer), template="sum_units", skills=("list", "loop"),
    )  # fmt: skip


def _executed(name: str, calls: tuple[Call, ...], places: dict[str, object], skills: tuple[str, ...]) -> AgentTask:
    with SandboxWorker() as worker:
        worker.load(image())
        outcome = worker.run_episode(calls, seed=0)
    answer = resolve_references(places, [step.observation for step in outcome.steps])
    types = {str: "string", int: "integer", float: "number"}
    fields = tuple(AnswerField(name=key, type=types[type(value)]) for key, value in answer.items())
    return AgentTask(
        task_id=f"task-{name}", env_id=ENV_ID, kind="graph", prompt=f"Do {name}.", tools=tuple(image().tools),
        oracle=Oracle(calls=calls, answer=places), oracle_calls=len(calls), expected_answer=answer,
        verifier=Verifier(answer=fields, expected_answer=answer, expected_changes=tuple(outcome.changes)),
        template=name, skills=skills, writes=bool(outcome.changes),
    )  # fmt: skip


@dataclass
class Scripted:
    """Plays the moves given for a task's prompt, references filled in from its own observations; then answers {}."""

    plans: Mapping[str, Sequence[Call | Answer]]
    policy_id: str = "scripted"

    def moves(self, views: Sequence[View], seeds: Sequence[int]) -> list[Call | Answer]:
        return [self._move(view) for view in views]

    def _move(self, view: View) -> Call | Answer:
        plan = self.plans.get(view.prompt, ())
        if len(view.steps) >= len(plan):
            return Answer({})
        move = plan[len(view.steps)]
        seen = [step.observation for step in view.steps]
        if isinstance(move, Answer):
            return Answer(resolve_references(move.value, seen))
        return Call(tool=move.tool, arguments=resolve_references(move.arguments, seen))


def oracle_policy(*tasks: AgentTask) -> Scripted:
    return Scripted({t.prompt: (*t.oracle.calls, Answer(t.oracle.answer)) for t in tasks}, "oracle")
