"""What a package index shows of the README has no link that only holds beside the project's files."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
DESCRIBED: Any = runpy.run_path(str(PROJECT / "website" / "long_description.py"))["described"]


@pytest.mark.parametrize(
    ("text", "without", "with_base"),
    [
        ("see [the terms](docs/terms.md)", "see the terms", "see [the terms](https://h/b/docs/terms.md)"),
        ("![a picture](docs/a.svg) here", " here", "![a picture](https://h/b/docs/a.svg) here"),
        ("[`a[0]`](x.md#part)", "`a[0]`", "[`a[0]`](https://h/b/x.md#part)"),
        ("[site](https://o.org/a) [top](#top)", None, None),
        ("```python\nrows[0](x)\n```\n", None, None),
    ],
)
def test_links_into_the_project_lead_on_or_are_words(text: str, without: str | None, with_base: str | None) -> None:
    """What leads elsewhere, and programs, stay as they are."""
    assert DESCRIBED(text, "") == (without or text)
    assert DESCRIBED(text, "https://h/b/") == (with_base or text)


def test_readme_has_no_other_links() -> None:
    """As it is packed."""
    text = DESCRIBED((PROJECT / "README.md").read_text(encoding="utf-8"), "")

    assert re.findall(r"\]\((?!https:)[^)]*\)", text) == []
    assert text.startswith("# gradsan\n")
