"""How far a judge agrees with the rules: accuracy and false-positive rate, by items and by whole texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from schemas.judging import JudgeAgreement, JudgeVerdict

ALL = "all"


def agreement(verdicts: Iterable[JudgeVerdict], set_name: str) -> list[JudgeAgreement]:
    """Return a judged set's agreement: for each judge, over all texts and each group of them, by item and by text.

    A text counts as positive if every item of it is met, which is what earns full marks.
    """
    groups: dict[tuple[str, str], list[JudgeVerdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[verdict.judge, ALL].append(verdict)
        groups[verdict.judge, verdict.texts].append(verdict)
    found = []
    for (judge, texts), chosen in sorted(groups.items()):
        whole: dict[tuple[str, str], list[JudgeVerdict]] = defaultdict(list)
        for verdict in chosen:
            whole[verdict.task_id, verdict.text].append(verdict)
        by_text = [(all(v.by_rules for v in own), all(v.by_judge for v in own)) for own in whole.values()]
        failed = sum(bool(own[0].failed) for own in whole.values())
        pairs = [(verdict.by_rules, verdict.by_judge) for verdict in chosen]
        found.append(_row(set_name, judge, texts, "item", pairs, failed))
        found.append(_row(set_name, judge, texts, "text", by_text, failed))
    return found


def _row(
    set_name: str, judge: str, texts: str, level: str, pairs: Sequence[tuple[bool, bool]], failed: int
) -> JudgeAgreement:
    negatives = [mine for ruled, mine in pairs if not ruled]
    positives = [mine for ruled, mine in pairs if ruled]
    return JudgeAgreement(
        set_name=set_name, judge=judge, texts=texts, level=level, n=len(pairs),  # type: ignore[arg-type]
        accuracy=round(sum(ruled == mine for ruled, mine in pairs) / len(pairs), 6),
        negatives=len(negatives), false_positives=sum(negatives),
        false_positive_rate=round(sum(negatives) / len(negatives), 6) if negatives else None,
        positives=len(positives), false_negatives=len(positives) - sum(positives), failed_texts=failed,
    )  # fmt: skip
