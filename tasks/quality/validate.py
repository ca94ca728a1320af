"""Run a suite over one dataset and read the outcome back: which rows failed which check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas.episode import QualityResult
from tasks.quality.suites import Check, build_suite, great_expectations

SAMPLES = 5


@dataclass(frozen=True)
class Outcome:
    """One check's outcome. `rows` are the numbers of the rows that failed; `observed` is a figure of the whole
    dataset (its number of rows), or ''; `samples` are values that failed."""

    check: Check
    success: bool
    evaluated: int
    rows: tuple[int, ...] = ()
    observed: str = ""
    samples: tuple[str, ...] = ()
    problem: str = ""

    @property
    def failed(self) -> bool:
        """Whether it makes the audit fail: a warning never does."""
        return not self.success and self.check.severity == "error"

    @property
    def unexpected(self) -> int:
        """How many rows failed; 1 for a whole dataset that did."""
        return len(self.rows) if self.rows or self.success else min(1, self.evaluated)

    def result(self, dataset: str) -> QualityResult:
        """Return the record of this outcome."""
        parts = [
            "warning" if not self.success and self.check.severity == "warning" else "",
            self.problem,
            "e.g. " + ", ".join(self.samples) if self.samples else "",
        ]
        return QualityResult(
            dataset=dataset,
            expectation=self.check.name,
            column=", ".join(self.check.columns),
            success=self.success,
            evaluated=self.evaluated,
            unexpected=self.unexpected,
            detail="; ".join(part for part in parts if part),
        )


class Validator:
    """Great Expectations in memory: nothing is written, nothing is loaded from or sent to anywhere."""

    def __init__(self) -> None:
        gx, _ = great_expectations()
        from great_expectations.data_context.types.base import (
            DataContextConfig,
            InMemoryStoreBackendDefaults,
            ProgressBarsConfig,
        )

        # Without the first argument, a folder for GX's own documentation would be left in the temporary one.
        defaults = InMemoryStoreBackendDefaults(init_temp_docs_sites=False)
        config = DataContextConfig(store_backend_defaults=defaults, progress_bars=ProgressBarsConfig(globally=False))
        self._context = gx.get_context(mode="ephemeral", project_config=config)
        self._source = self._context.data_sources.add_pandas("datasets")

    def validate(self, name: str, frame: Any, checks: Sequence[Check]) -> list[Outcome]:
        """Return the outcome of each check over a frame whose index is 0, 1, 2, ..."""
        asset = self._source.add_dataframe_asset(f"{name}-{len(self._source.assets)}")
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": frame})
        answer = batch.validate(
            build_suite(name, checks),
            result_format={
                "result_format": "COMPLETE",
                "include_unexpected_rows": False,
                "return_unexpected_index_query": False,
                "partial_unexpected_count": 0,
            },
        )
        outcomes = {result.expectation_config.meta["check"]: result.to_json_dict() for result in answer.results}
        return [_outcome(check, outcomes[index], len(frame)) for index, check in enumerate(checks)]


def _outcome(check: Check, found: dict[str, Any], rows: int) -> Outcome:
    result = found["result"]
    if "unexpected_index_list" not in result:
        observed = result.get("observed_value", "")
        return Outcome(
            check=check,
            success=found["success"],
            evaluated=rows,
            observed=f"{observed:,} rows" if isinstance(observed, int) else "",
            problem="" if found["success"] else _problem(result, found),
        )
    # Great Expectations counts nulls among the elements, but evaluates a check on values only where there is one.
    missing = result.get("missing_count") or 0
    failed = tuple(sorted(int(row) for row in result["unexpected_index_list"]))
    return Outcome(
        check=check,
        success=found["success"],
        evaluated=int(result["element_count"]) - int(missing),
        rows=failed,
        samples=_samples(result.get("unexpected_list") or ()),
    )


def _problem(result: dict[str, Any], found: dict[str, Any]) -> str:
    mismatched = (result.get("details") or {}).get("mismatched")
    if mismatched:
        return "; ".join(f"{how} columns: {', '.join(map(str, names))}" for how, names in sorted(mismatched.items()))
    if "observed_value" in result:
        return f"found {result['observed_value']}"
    for exception in (found.get("exception_info") or {}).values():
        if isinstance(exception, dict) and exception.get("exception_message"):
            return str(exception["exception_message"]).splitlines()[0][:300]
    return "it could not be evaluated"


def _samples(values: Sequence[Any]) -> tuple[str, ...]:
    """Return up to SAMPLES distinct values as text, in the order of the rows."""
    found: dict[str, None] = {}
    for value in values:
        text = " / ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
        found.setdefault("nothing" if value is None else (text if len(text) <= 80 else text[:77] + "..."))
        if len(found) == SAMPLES:
            break
    return tuple(found)
