"""A model tells requests anew over HTTP: what it drops, adds or gives away goes back to it, then rules do it."""

from __future__ import annotations

from pathlib import Path

import pytest
from author_example import RETELL, REVIEW, SAME, asked, draft_in, gates_of, retelling, writer, written
from chat_server import Scripted, answer, refusal, say
from worlds import shop_database, shop_snapshot, shop_tools

from schemas.episode import Step
from schemas.task import AnswerField, Call, Oracle
from tasks.store import LocalStore, read_dataset
from tasks.synthesis import synthesize
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.author import Author
from tasks.synthesis.author.facts import Facts, retelling_fault, straight
from tasks.synthesis.author.steps import done_twice, field_notes
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.replay import Run

DRAFT = (
    'Find the product "Haze rug". Ship the order with the highest total among those with at most 3 for quantity. '
    'Reply with JSON: "stock", meaning its stock.'
)
FACTS = Facts.of(DRAFT, (AnswerField(name="stock", type="integer"),))
GOOD = 'Please ship the order with the highest total that has a quantity of at most 3. As JSON, "stock" of "Haze rug".'


def rules_alone() -> tuple:
    return synthesize(
        shop_database(), shop_snapshot(), shop_tools(), seed=11, n=1, kinds=("graph",), min_calls=2
    ).tasks  # fmt: skip


@pytest.fixture(scope="module")
def ruled() -> tuple:
    return rules_alone()


def test_a_good_retelling_passes_every_gate_and_names_its_author(tmp_path: Path, ruled: tuple) -> None:
    result, server = written(tmp_path, writer())
    (task,) = result.tasks
    assert task.prompt == f"I would like some help with this. {ruled[0].prompt}"
    assert (task.author, ruled[0].author) == ("openai:scripted", "rules")
    assert (task.oracle, task.expected_answer) == (ruled[0].oracle, ruled[0].expected_answer)
    assert task.kill_rate == 1.0 and task.mutants > 0 and not result.notes
    assert [asked(server, marker) for marker in (REVIEW, RETELL, SAME)] == [1, 1, 1]
    calls = read_dataset(LocalStore(tmp_path), "model_calls")
    assert {call.template for call in calls} == {"reviewer/chain", "author/retell", "reviewer/same"}
    assert {call.role for call in calls} == {"judge", "task_writer"} and {c.env_id for c in calls} == {"env-shop"}


def test_the_same_request_is_told_the_same_way_and_not_paid_again(tmp_path: Path) -> None:
    first, _ = written(tmp_path, writer())
    again, server = written(tmp_path, {})
    assert first.tasks == again.tasks and not server.requests


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda draft: draft.replace("121.78", "a new value"), "121.78"),
        (lambda draft: f'{draft} Do it for customer "Zoe Zander" too.', "Zoe Zander"),
        (lambda draft: f"{draft} Mention it to Zoe as well.", "Zoe"),
        (lambda draft: f"{draft} Use search_products for it.", "search_products"),
        (lambda draft: draft.replace('"customer_tier"', "tier"), "customer_tier"),
    ],
    ids=["dropped number", "invented entity", "invented name", "tool name", "field not asked for"],
)
def test_faults_go_back_with_their_reason_and_then_rules_do_it(tmp_path: Path, ruled: tuple, change, fault) -> None:
    result, server = written(tmp_path, writer(retell=retelling(change)))
    assert result.tasks == ruled
    assert gates_of(result.notes) == ["model_output"] and fault in result.notes[0].reason
    assert asked(server, RETELL) == 3 and asked(server, SAME) == 0
    assert fault in server.requests[-1].body["messages"][-1]["content"]


def test_an_answer_given_away_goes_back(tmp_path: Path, ruled: tuple) -> None:
    hint = f"The tier must be {ruled[0].expected_answer['customer_tier']}."
    result, server = written(tmp_path, writer(retell=retelling(lambda draft: f"{draft} {hint}")))
    assert result.tasks == ruled and "the prompt holds the answer" in result.notes[0].reason
    assert asked(server, RETELL) == 3 and asked(server, SAME) == 0


def test_a_fault_that_is_mended_costs_one_call_more(tmp_path: Path) -> None:
    def mends(body: dict) -> Scripted:
        draft = draft_in(body)
        return answer({"request": f"Hello. {draft}" if len(body["messages"]) > 2 else draft.replace("121.78", "less")})

    result, server = written(tmp_path, writer(retell=mends))
    assert result.tasks[0].author == "openai:scripted" and not result.notes and asked(server, RETELL) == 2


def test_a_reader_who_finds_another_task_sends_it_back(tmp_path: Path, ruled: tuple) -> None:
    differs = answer({"same": False, "difference": "the second asks for the cheapest"})
    result, server = written(tmp_path, writer(same=lambda body: differs))
    assert result.tasks == ruled and "the cheapest" in result.notes[0].reason
    assert asked(server, SAME) == 1, "the same telling is read once"


@pytest.mark.parametrize(
    ("reply", "gate"),
    [(refusal(), "model_refused"), (say('{"request": "broken'), "model_output"), (say("no idea"), "model_output")],
    ids=["refusal", "malformed", "prose"],
)
def test_a_model_that_gives_no_answer_is_stood_in_for(tmp_path: Path, ruled: tuple, reply: Scripted, gate: str) -> None:
    result, _ = written(tmp_path, writer(retell=lambda body: reply))
    assert result.tasks == ruled and gates_of(result.notes) == [gate]
    assert result.stats["rejected"].get(gate) is None, "a step is no candidate"


def test_a_review_that_fails_lets_the_chain_pass_and_says_so(tmp_path: Path) -> None:
    result, _ = written(tmp_path, writer(review=lambda body: refusal()))
    assert result.tasks[0].author == "openai:scripted" and gates_of(result.notes) == ["model_refused"]


def test_chains_that_make_no_sense_are_rejected(tmp_path: Path) -> None:
    no = answer({"sensible": False, "reason": "it ships what it cancels"})
    result, server = written(tmp_path, writer(review=lambda body: no), max_candidates=3)
    assert not result.tasks and asked(server, RETELL) == 0
    told = [row for row in result.rejections if row.gate == "chain_review"]
    assert told and {row.reason for row in told} == {"it ships what it cancels"}


def test_a_cap_on_money_stops_the_models_and_keeps_the_rules(tmp_path: Path, ruled: tuple) -> None:
    result, server = written(tmp_path, writer(), max_cost_usd=0.0001, n=2)
    assert len(result.tasks) == 2 and {task.author for task in result.tasks} == {"rules"}
    assert gates_of(result.notes) == ["model_cost"] and not server.requests


def test_values_may_move_but_not_change() -> None:
    assert retelling_fault(GOOD, FACTS, {"Haze"}.__contains__) == ""
    assert retelling_fault(straight(GOOD.replace('"', "“")), FACTS, set().__contains__) == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD.replace('"Haze rug"', "the rug"), "Haze rug"),
        (GOOD.replace(" 3.", " three."), "3"),
        (f"{GOOD} Do it within 14 days.", "14"),
        (f"{GOOD} Do that for two of them.", "two"),
        (f'{GOOD} Call it "urgent".', "urgent"),
        (f"{GOOD} Send it to Ada.", "Ada"),
        (f"{GOOD} Ada wants it.", "Ada"),
        (f"{GOOD} See www.example.org for more.", "www."),
        (GOOD + '"', "not closed"),
        (GOOD + " really" * 300, "too long"),
    ],
)
def test_what_is_missing_or_added_is_named(text: str, told: str) -> None:
    assert told in retelling_fault(text, FACTS, {"Ada", "Haze"}.__contains__)


def chain(*calls: Call, **answers: str) -> Candidate:
    oracle = Oracle(calls=calls, answer={name: {"$ref": place} for name, place in answers.items()})
    return Candidate(kind="graph", template="chain", prompt="", oracle=oracle, fields=(), skills=())


def test_a_field_is_told_with_its_columns_description_and_unit() -> None:
    database = shop_database()
    tables = [
        table.model_copy(
            update={"columns": tuple(
                column.model_copy(update={"description": "what is to be paid", "unit": "EUR"})
                if (table.name, column.name) == ("orders", "total") else column
                for column in table.columns
            )}
        )
        for table in database.tables
    ]  # fmt: skip
    atlas = Atlas(database.model_copy(update={"tables": tuple(tables)}), shop_snapshot(), list(shop_tools()))
    listed = Call(tool="list_orders", arguments={})
    found = field_notes(chain(listed, sum="0.orders[0].total", name="0.orders[0].order_id"), atlas)
    assert found["sum"] == ": what is to be paid; in EUR"


def test_what_is_done_twice_is_seen_without_a_model() -> None:
    atlas = Atlas(shop_database(), shop_snapshot(), list(shop_tools()))
    read = Step(tool="list_orders", arguments={}, observation={})
    ship = Step(tool="cancel_order", arguments={"order_id": "a"}, observation={})
    other = Step(tool="cancel_order", arguments={"order_id": "b"}, observation={})

    def run(*steps: Step) -> Run:
        return Run(steps=steps, answer={}, changes=())

    assert done_twice(run(read, read, ship, other), atlas) == ""
    assert "cancel_order" in done_twice(run(ship, read, ship), atlas)


def test_front_matter_of_a_document_is_no_part_of_what_it_is_about() -> None:
    front = "Owner: Data Services · Status: approved for build · Last change: 2026-11-12. "
    about = shop_database().model_copy(update={"description": f"{front}A shop: Status: open orders are shipped."})
    author = Author(gateway=None, atlas=Atlas(about, shop_snapshot(), list(shop_tools())))  # type: ignore[arg-type]
    assert author.about.endswith(": A shop: Status: open orders are shipped.") and "Owner" not in author.about


def test_a_value_with_an_underscore_is_asked_for_and_allowed(tmp_path: Path) -> None:
    _, server = written(tmp_path, writer())
    text = next(seen.text for seen in server.requests if RETELL in seen.text)
    assert "except those of the fields and the values of rule 1" in text
    review = next(seen.text for seen in server.requests if REVIEW in seen.text)
    for case in ("the same thing is done twice", "from before or after", "two things of one kind", "as given"):
        assert case in review
