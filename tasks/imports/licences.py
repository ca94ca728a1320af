"""The licence that a release states in a file of its own."""

from __future__ import annotations

from pathlib import Path

_MARKS = (
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("MIT", ("permission is hereby granted, free of charge",)),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "neither the name")),
    ("CC-BY-NC-4.0", ("attribution-noncommercial 4.0",)),
    ("CC-BY-SA-4.0", ("attribution-sharealike 4.0",)),
    ("CC-BY-4.0", ("attribution 4.0",)),
    ("CC0-1.0", ("cc0 1.0",)),
)


def licence_of(folder: Path) -> str:
    """Return the SPDX expression of the licence file in a folder or in one of the two above; "" if none is known."""
    for place in (folder, *folder.absolute().parents[:2]):
        for file in sorted(place.glob("LICEN[CS]E*")):
            text = file.read_text(errors="replace").lower() if file.is_file() else ""
            for name, marks in _MARKS:
                if all(mark in text for mark in marks):
                    return name
    return ""
