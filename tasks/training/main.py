"""The process that trains: `accelerate launch ... -m tasks.training.main WORKDIR/config.json`."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from tasks.training.config import LEASH, TrainingConfig


def _end_with_parent() -> None:
    """End this process when the one that started it has ended, so that no orphan writes beside a resumed training."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os._exit(3)

    if os.environ.get(LEASH):
        threading.Thread(target=watch, daemon=True).start()


def main(argv: list[str]) -> int:
    """Run the training that a configuration file asks for, in the file's folder; resume it if it was begun.

    Returns 0 when finished, 2 for input that cannot be used, with one line on stderr.
    """
    if len(argv) != 1:
        print("usage: python -m tasks.training.main WORKDIR/config.json", file=sys.stderr)
        return 2
    path = Path(argv[0])
    _end_with_parent()
    try:
        config = TrainingConfig.model_validate_json(path.read_bytes())
        if config.method == "sft":
            from tasks.training.sft import train_sft

            train_sft(config, path.parent)
        else:
            from tasks.training.grpo import train_grpo

            train_grpo(config, path.parent)
    except (OSError, ValueError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
