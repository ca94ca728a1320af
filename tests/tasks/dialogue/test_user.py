"""The rule-made user tells what it is asked for, under its conditions, and nothing else."""

from __future__ import annotations

from schemas.task import Fact, SimulatedUser
from tasks.dialogue import RuleUser, answers

LIMIT = Fact(
    topic="amount ceiling", says="The ceiling is 300.", holds="How many are there?", mentions=("17",),
)  # fmt: skip
CITY = Fact(topic="wanted city", says='It is "Graz".')
DAY = Fact(topic="least day", says='"2026-01-05".', holds="City first.", after=("wanted city",))
USER = SimulatedUser(facts=(LIMIT, CITY, DAY), unknown="No idea.", patience=6)


def test_a_fact_is_told_when_all_words_of_its_topic_are_asked_for() -> None:
    user = RuleUser(USER)
    assert user.reply("Which CITY is wanted, please?") == 'It is "Graz".'
    assert user.reply("Which city?") == "No idea."
    assert user.reply("") == "No idea."


def test_conditions_hold_a_fact_back() -> None:
    user = RuleUser(USER)
    assert user.reply("amount ceiling?") == "How many are there?"
    assert user.reply("amount ceiling for 170?") == "How many are there?"
    assert user.reply("There are 17. What is the amount ceiling?") == "The ceiling is 300."
    assert user.reply("least day") == "City first."
    assert user.reply("wanted city") == 'It is "Graz".'
    assert user.reply("least day") == '"2026-01-05".'


def test_patience_ends() -> None:
    user = RuleUser(USER)
    replies = [user.reply("wanted city") for _ in range(8)]
    assert replies[:6] == ['It is "Graz".'] * 6 and "no more time" in replies[6]


def test_malformed_questions_are_refused_and_cost_no_patience() -> None:
    user = RuleUser(USER)
    ask = answers(user)
    for arguments in ({}, {"question": 3}, {"question": "wanted city", "more": 1}):
        assert ask(arguments)["error"]["code"] == "INVALID_ARGUMENTS"
    assert user.asked == 0 and ask({"question": "wanted city"}) == {"reply": 'It is "Graz".'}
