"""The error that says that the training extra is not installed."""

from __future__ import annotations

import importlib.util


class MissingTraining(RuntimeError):
    """Raised when a policy or a training is asked for on a machine without the training extra."""


def require(*modules: str) -> None:
    """Check that the modules of the training extra can be imported, without importing them.

    Raises:
        MissingTraining: naming what is missing and how to install it.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingTraining(
            f"{', '.join(missing)} not installed: training and trained policies need the training extra; "
            "install it, in the folder of this project, with: pip install '.[train]'"
        )
