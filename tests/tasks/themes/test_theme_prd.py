"""A requirements document as people write it, without a section named after workflows."""

from __future__ import annotations

import pytest

from tasks.themes.prd import is_prd, read_prd

DESK = """# Parameter desk

## Summary
Changes of parameters, with a record.

## Data
1. Clusters with their owners.

## {heading}
- Search and read error codes by code, class or name; list those of a class.
- File a change request for a parameter on a cluster, with a reason.
- As a lead, I want to approve a request.

## Rules
1. An auditor cannot change anything at all.
"""


@pytest.mark.parametrize("heading", ["What users can do", "Key features", "User stories", "Functional requirements"])
def test_a_natural_requirements_document_is_read(heading: str):
    text = DESK.format(heading=heading)
    assert is_prd(text)
    found = read_prd(text)
    assert [one.name for one in found.operations] == [
        "search_and_read_error_codes", "file_change_request", "approve_request"
    ]  # fmt: skip
    assert found.needs == ("Clusters with their owners",)
    assert found.rules == ("An auditor cannot change anything at all.",)


def test_a_text_that_says_nothing_of_what_is_done_is_none():
    assert not is_prd("# Notes\n\n## Data\n- Clusters.\n\n## How it went\nWell.\n")
