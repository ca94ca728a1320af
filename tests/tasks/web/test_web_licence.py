"""Licences as pages state them."""

from __future__ import annotations

import pytest

from tasks.web.licence import find_licence

BY_SA = "https://creativecommons.org/licenses/by-sa/4.0/"


@pytest.mark.parametrize(
    ("page", "spdx"),
    (
        (f'<a rel="license" href="{BY_SA}">x</a>', "CC-BY-SA-4.0"),
        ('<link rel="license" href="https://creativecommons.org/publicdomain/zero/1.0/">', "CC0-1.0"),
        ('<a rel=license href="http://creativecommons.org/licenses/by-nd/3.0/us/deed.en">x</a>', "CC-BY-ND-3.0-US"),
        ('<meta name="dcterms.license" content="https://opendatacommons.org/licenses/odbl/1-0/">', "ODbL-1.0"),
        ('<meta name="license" content="Apache-2.0">', "Apache-2.0"),
        ('<meta name="rights" content="CC BY 4.0">', "CC-BY-4.0"),
        (f'<footer>Text under <a href="{BY_SA}">this</a></footer>', "CC-BY-SA-4.0"),
        (
            '<div id="page-footer">available under the Creative Commons Attribution-ShareAlike License 4.0; more</div>',
            "CC-BY-SA-4.0",
        ),
        ("<p class=copyright>Licensed CC BY-NC 2.5</p>", "CC-BY-NC-2.5"),
        (f'<p>A photo under <a href="{BY_SA}">this licence</a>.</p>', "NOASSERTION"),
        ("<p>CC BY 4.0 is a licence</p>", "NOASSERTION"),
        ('<a rel=license href="/terms">terms</a>', "NOASSERTION"),
        (
            f'<a rel=license href="{BY_SA}">x</a><a rel=license href="https://opensource.org/licenses/MIT">y</a>',
            "NOASSERTION",
        ),
        ('<meta name="license" content="ask us">', "NOASSERTION"),
        ("<footer>All rights reserved</footer>", "NOASSERTION"),
    ),
)  # fmt: skip
def test_statements_of_pages(page, spdx):
    found, evidence = find_licence({}, f"<html><body>{page}</body></html>".encode(), "text/html")
    assert found == spdx
    assert evidence or found == "NOASSERTION"


def test_a_link_header_comes_first():
    headers = {"link": f'<{BY_SA}>; rel="license", </x>; rel=next'}
    page = b'<a rel=license href="https://opensource.org/licenses/MIT">y</a>'
    assert find_licence(headers, page, "text/html") == ("CC-BY-SA-4.0", f"Link header: {BY_SA}")


def test_files_state_none():
    assert find_licence({}, b"a,b\n1,2\n", "text/csv") == ("NOASSERTION", "")
