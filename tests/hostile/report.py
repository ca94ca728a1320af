"""Run the hostile suite and print what came of it as a table: `PYTHONPATH=.:tests python -m hostile.report`."""

from __future__ import annotations

import statistics
import sys

from hostile.registry import ATTACKS, TRIALS
from hostile.stand import Report, Stand, make_image

MEANS: dict[str, dict[str, bool]] = {"bubblewrap": {}, "fallback": {"bubblewrap": False}}


def run_all(means: dict[str, bool]) -> tuple[str, dict[tuple[str, str], Report]]:
    """Return the name of the sandbox with these means, and (attack's name, kind) -> its report."""
    with Stand(make_image(ATTACKS), **means) as stand:
        return stand.worker.strength.name, {(a.name, kind): stand.run(a, kind) for a, kind in TRIALS}


def _cell(report: Report | None) -> str:
    if report is None:
        return "-"
    return f"{'**BREACH** ' if report.breaches else ''}{report.outcome} {1000 * report.next_seconds:.0f}"


def main() -> None:
    """Print the table as Markdown, and a line of totals for each sandbox."""
    found = {label: run_all(means) for label, means in MEANS.items()}
    heads = [f"{name}, {kind}" for name, _ in found.values() for kind in ("tool", "script")]
    print("| attack | on | " + " | ".join(heads) + " |\n|---|---|" + "---|" * len(heads))
    for attack in ATTACKS:
        cells = [
            _cell(reports.get((attack.name, kind))) for _, reports in found.values() for kind in ("tool", "script")
        ]
        print(f"| {attack.name} | {attack.holds} | " + " | ".join(cells) + " |")
    for name, reports in found.values():
        times = sorted(1000 * report.next_seconds for report in reports.values())
        wrong = [key for key, report in reports.items() if report.breaches]
        print(
            f"\n{name}: {len(reports)} trials, {len(wrong)} breaches; next answer: median"
            f" {statistics.median(times):.1f}, 95 % {times[len(times) * 95 // 100]:.1f}, slowest {times[-1]:.1f} ms"
        )
        for key in wrong:
            print(key, reports[key].breaches, file=sys.stderr)


if __name__ == "__main__":
    main()
