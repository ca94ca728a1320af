"""Have a judge score texts whose verdicts the rules know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.base import content_hash
from schemas.environment import Rejection
from schemas.judging import JudgeVerdict
from schemas.task import AgentTask
from tasks.environment import score_rubric
from tasks.models import Gateway, ModelError
from tasks.synthesis.judging.score import judge_text
from tasks.synthesis.judging.texts import Note
from tasks.synthesis.trust import STAGE


@dataclass(frozen=True)
class JudgedSet:
    """The verdicts on all items of all texts, by rules and by the judge, and the texts that it gave no verdict on."""

    verdicts: tuple[JudgeVerdict, ...]
    rejections: tuple[Rejection, ...]


def judge_notes(gateway: Gateway, notes: Iterable[tuple[AgentTask, Sequence[Note]]]) -> JudgedSet:
    """Let the model of the role judge score each note of each rubric task.

    A text on which the judge fails counts as one that meets no item: it gets nothing. When the cap on money is
    reached, the texts that are left are not judged and not counted.
    """
    verdicts: list[JudgeVerdict] = []
    rejections: list[Rejection] = []
    judge = gateway.model_id("judge").partition(" ")[0]
    for task, texts in notes:
        for note in texts:
            given, failed = {}, ""
            try:
                given = judge_text(gateway, task, note.text)
            except ModelError as error:
                failed = error.gate
                key = f"{task.task_id}/{note.kind}"
                reason = f"judge: {error.reason}"
                rejections.append(Rejection(stage=STAGE, key=key, gate=error.gate, reason=reason, env_id=task.env_id))
                if failed == "model_cost":
                    return JudgedSet(tuple(verdicts), tuple(rejections))
            ruled = score_rubric(task.rubric, note.text)
            for item in task.rubric:
                mine = given.get(item.name)
                verdicts.append(
                    JudgeVerdict(
                        verdict_id="verdict-" + content_hash([judge, task.task_id, note.text, item.name])[:16],
                        env_id=task.env_id, task_id=task.task_id, judge=judge, texts=note.group, text_kind=note.kind,
                        text=note.text, item=item.name, item_kind=item.kind, by_rules=ruled[item.name],
                        by_judge=mine.met if mine else False, evidence=mine.evidence if mine else "", failed=failed,
                    )
                )  # fmt: skip
    return JudgedSet(tuple(verdicts), tuple(rejections))
